/* torture_run.c - random programs on devices against the interpreter, and the reduction of one that differs. */
#include "conformance/torture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/internal.h"
#include "runtime/module.h"

enum { MAX_DEVICES = 8, TIMEOUT_MS = 60000 };

typedef struct bench {
    pxb_context *ctx;
    const torture_options *options;
    conform_list list;
    pxb_device *devices[MAX_DEVICES];
    bool check[MAX_DEVICES];
    pxb_address memory[MAX_DEVICES];
    torture_data *expected, *got;
} bench;

/* The CPU device at its lowest instruction-set level, which only the environment can ask for. */
static pxb_status open_lowest(bench *b, pxb_device **out)
{
#if defined(__x86_64__)
    static const char lowest[] = "v2", variable[] = "PTXBRIDGE_CPU_LEVEL";
    const char *set = getenv(variable);
    char *before = set ? strdup(set) : NULL;
    if ((set && !before) || setenv(variable, lowest, 1))
        return rt_no_memory(b->ctx);
    const pxb_status status = pxb_device_open(b->ctx, "cpu", out);
    if (before)
        setenv(variable, before, 1);
    else
        unsetenv(variable);
    free(before);
    return status;
#else
    return pxb_device_open(b->ctx, "cpu", out);      /* it has one */
#endif
}

/* "cpu:check" is the CPU device with exact bounds checking. */
static pxb_status open_devices(bench *b)
{
    const torture_options *o = b->options;
    if (o->ndevices > MAX_DEVICES)
        return rt_fail(b->ctx, PXB_BAD_ARGUMENT, "at most %d devices", MAX_DEVICES);
    for (uint32_t i = 0; i < o->ndevices; i++) {
        b->check[i] = strcmp(o->devices[i], "cpu:check") == 0;
        pxb_status status = !strcmp(o->devices[i], "cpu:lowest") ? open_lowest(b, &b->devices[i])
                                                                 : pxb_device_open(b->ctx, b->check[i] ? "cpu" : o->devices[i], &b->devices[i]);
        if (!status)
            status = pxb_memory_alloc(b->devices[i], sizeof(torture_data), &b->memory[i]);
        if (status)
            return status;
    }
    return PXB_OK;
}

static void close_devices(bench *b)
{
    for (uint32_t i = 0; i < b->options->ndevices && i < MAX_DEVICES; i++) {
        if (b->memory[i])
            pxb_memory_free(b->devices[i], b->memory[i]);
        pxb_device_close(b->devices[i]);
    }
}

static pxb_status run_on(bench *b, uint32_t device, pxb_module *module, uint64_t seed)
{
    pxb_kernel *kernel;
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    o.grid[0] = TORTURE_BLOCKS;
    o.block[0] = TORTURE_BLOCK;
    o.check = b->check[device];
    o.timeout_ms = TIMEOUT_MS;
    torture_fill(seed, b->got);
    const pxb_address at = b->memory[device], results = at + offsetof(torture_data, results), cells = at + offsetof(torture_data, cells);
    pxb_status status = pxb_kernel_get(b->devices[device], module, "torture", &kernel);
    if (!status)
        status = pxb_memory_write(b->devices[device], at, b->got, sizeof *b->got);
    if (!status)
        status = pxb_launch(kernel, &o, (const void *[]){&at, &results, &cells}, 3);
    return status ? status : pxb_memory_read(b->devices[device], b->got, at, sizeof *b->got);
}

static void slot_name(uint32_t slot, char out[16])
{
    static const struct { char letter; uint32_t count; } pools[] = {
        {'p', TORTURE_PREDS}, {'h', TORTURE_HALVES}, {'w', TORTURE_WORDS}, {'d', TORTURE_WIDES}};
    uint32_t k = 0;
    while (slot >= pools[k].count)
        slot -= pools[k++].count;
    snprintf(out, 16, "%%%c%u", pools[k].letter, slot);
}

/* The first difference of b->got from b->expected; false when there is none. */
static bool differs(const bench *b, char *message, size_t size)
{
    for (uint32_t k = 0; k < TORTURE_SLOTS * TORTURE_THREADS; k++)
        if (b->got->results[k] != b->expected->results[k]) {
            char name[16];
            slot_name(k / TORTURE_THREADS, name);
            snprintf(message, size, "%s of thread %u of block %u is 0x%" PRIx64 ", not 0x%" PRIx64, name, k % TORTURE_THREADS % TORTURE_BLOCK,
                     k % TORTURE_THREADS / TORTURE_BLOCK, b->got->results[k], b->expected->results[k]);
            return true;
        }
    for (uint32_t k = 0; k < TORTURE_CELLS; k++)
        if (b->got->cells[k] != b->expected->cells[k]) {
            snprintf(message, size, "cell %u is 0x%x, not 0x%x", k, b->got->cells[k], b->expected->cells[k]);
            return true;
        }
    return false;
}

/* Runs one program everywhere. Returns the index of the device that differs, -1: none, -2: the program itself is at fault (message says how). */
static int run_program(bench *b, const torture_program *p, char *message, size_t size, uint64_t *instructions)
{
    char *text = torture_text(p);
    pxb_module *module = NULL;
    int answer = -1;
    if (!text || pxb_module_load_text(b->ctx, text, strlen(text), "torture.ptx", &module) != PXB_OK) {
        snprintf(message, size, "%s", text ? pxb_last_error(b->ctx)->message : "out of memory");
        free(text);
        return -2;
    }
    torture_fill(p->seed, b->expected);
    if (!torture_interpret(module->ptx, &b->list, b->expected, message, size))
        answer = -2;
    for (uint32_t i = 0; answer == -1 && i < b->options->ndevices; i++) {
        if (run_on(b, i, module, p->seed)) {
            snprintf(message, size, "%s", pxb_last_error(b->ctx)->message);
            answer = (int)i;
        } else if (differs(b, message, size)) {
            answer = (int)i;
        }
    }
    if (instructions && answer != -2)
        *instructions += module->ptx->statements;
    pxb_module_free(module);
    free(text);
    return answer;
}

/* ------------------------------------------------------------ reduction */

/* Leaves out items from `first` to `last`; structure goes with its partner. Returns false when nothing new is left out. */
static bool leave_out(torture_program *p, uint32_t first, uint32_t last, bool *kept)
{
    bool changed = false;
    for (uint32_t i = 0; i < p->count; i++)
        kept[i] = p->items[i].left_out;
    for (uint32_t i = first; i < last; i++) {
        torture_item *item = &p->items[i];
        if (item->left_out || item->kind == TORTURE_END_IF || item->kind == TORTURE_END_LOOP)
            continue;
        item->left_out = changed = true;
        if (item->kind != TORTURE_IF && item->kind != TORTURE_LOOP)
            continue;
        /* The marks go, what is between them stays, save else and break. */
        p->items[item->partner].left_out = true;
        for (uint32_t k = i; k < item->partner; k++)
            if ((p->items[k].kind == TORTURE_ELSE || p->items[k].kind == TORTURE_BREAK) && p->items[k].number == item->number)
                p->items[k].left_out = true;
    }
    return changed;
}

static void restore(torture_program *p, const bool *kept)
{
    for (uint32_t i = 0; i < p->count; i++)
        p->items[i].left_out = kept[i];
}

/* Ever smaller parts are left out as long as the same device still differs. */
static void reduce_program(bench *b, torture_program *p, int device, char *message, size_t size)
{
    bool *kept = malloc(p->count + 1);
    char now[500];
    for (uint32_t part = p->count; kept && part > 0; part /= 2)
        for (uint32_t first = 0; first < p->count; first += part) {
            const uint32_t last = first + part < p->count ? first + part : p->count;
            if (!leave_out(p, first, last, kept))
                continue;
            if (run_program(b, p, now, sizeof now, NULL) == device)
                snprintf(message, size, "%s", now);
            else
                restore(p, kept);
        }
    free(kept);
}

static pxb_status run_all(bench *b, torture_report *out)
{
    for (uint32_t i = 0; i < b->options->programs && !out->failed; i++) {
        torture_program p;
        if (b->options->progress)
            b->options->progress(b->options->progress_user, "program", i, b->options->programs);
        if (!torture_generate(&b->list, b->options->seed + i, &p))
            return rt_no_memory(b->ctx);
        const int device = run_program(b, &p, out->message, sizeof out->message, &out->instructions);
        out->programs++;
        if (device >= 0)
            reduce_program(b, &p, device, out->message, sizeof out->message);
        if (device != -1) {
            out->failed = true;
            out->seed = p.seed;
            snprintf(out->device, sizeof out->device, "%s", device < 0 ? "the generator" : b->options->devices[device]);
            out->text = torture_text(&p);
        }
        torture_free(&p);
    }
    return PXB_OK;
}

pxb_status torture_run(pxb_context *ctx, const torture_options *options, torture_report *out)
{
    char why[200];
    bench b = {.ctx = ctx, .options = options, .expected = malloc(sizeof(torture_data)), .got = malloc(sizeof(torture_data))};
    memset(out, 0, sizeof *out);
    pxb_status status = b.expected && b.got ? PXB_OK : rt_no_memory(ctx);
    if (!status)
        status = conform_expand(NULL, &b.list, why, sizeof why) ? open_devices(&b) : rt_fail(ctx, PXB_INTERNAL, "%s", why);
    if (!status)
        status = run_all(&b, out);
    close_devices(&b);
    conform_free(&b.list);
    free(b.expected);
    free(b.got);
    return status;
}
