/* mutations.h - wrong lowerings, planted one at a time, to show that the conformance run finds them. */
#ifndef CONFORM_MUTATIONS_H
#define CONFORM_MUTATIONS_H

#include "conformance/conform.h"

typedef struct conform_mutation_result {
    const char *name, *meaning;
    bool found;
    char found_by[CONFORM_NAME];         /* the case that failed */
    char message[400];
} conform_mutation_result;

uint32_t conform_mutation_count(void);
/* Plants mutation `index` in the CPU device and runs the cases of its meaning with the options of the quick run. */
pxb_status conform_mutation_run(pxb_context *ctx, uint32_t index, conform_mutation_result *out);

#endif
