/* state.c - a run that can be resumed. */
#include "conformance/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The state file begins with what the results depend on, and has a line "passed inputs digest swept ulp at name" for each case
 * that passed; failures are tried again. */
void conform_state_head(const conform_options *o, char *out, size_t size)
{
    int n = snprintf(out, size, "ptxbridge conform %s device %s random %" PRIu64 " exhaustive %d seed %" PRIu64 " models", pxb_version(),
                     o->device ? o->device : "cpu", o->random, o->exhaustive, o->seed);
    for (uint32_t i = 0; o->models && i < o->nmodels && n < (int)size; i++)
        n += snprintf(out + n, size - (size_t)n, " %s", pxb_mma_model_name(o->models[i]));
}

/* False: the file is of another run. */
bool conform_take_over(const conform_options *o, conform_result *results, uint32_t count, bool *done, bool *is_new)
{
    FILE *f = o->state ? fopen(o->state, "r") : NULL;
    char head[512], line[512], name[CONFORM_NAME];
    conform_state_head(o, head, sizeof head);
    *is_new = true;
    bool same = true;
    if (f && fgets(line, sizeof line, f)) {
        *is_new = false;
        line[strcspn(line, "\n")] = 0;
        same = strcmp(line, head) == 0;
    }
    while (f && same && fgets(line, sizeof line, f)) {
        conform_result r = {0};
        int swept, at = 0;
        if (!strchr(line, '\n') || sscanf(line, "passed %" SCNu64 " %" SCNx64 " %d %lf %" SCNx64 " %n", &r.inputs, &r.digest, &swept, &r.largest_ulp,
                                          &r.largest_at, &at) != 5 || !at)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line + at, "\n"), line + at);
        for (uint32_t i = 0; i < count; i++)
            if (!done[i] && !strcmp(results[i].c->name, name)) {
                r.c = results[i].c;
                r.swept = swept;
                results[i] = r;
                done[i] = true;
                break;
            }
    }
    if (f)
        fclose(f);
    return same;
}

void conform_keep(FILE *f, const conform_result *results, uint32_t count)
{
    for (uint32_t i = 0; f && i < count; i++)
        if (results[i].verdict == CONFORM_PASSED)
            fprintf(f, "passed %" PRIu64 " %" PRIx64 " %d %.17g %" PRIx64 " %s\n", results[i].inputs, results[i].digest, results[i].swept,
                    results[i].largest_ulp, results[i].largest_at, results[i].c->name);
    if (f)
        fflush(f);
}
