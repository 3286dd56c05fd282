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
/* Meanings can be replaced on the CPU device alone; another instruction can be given to any device (NULL: cpu). */
bool conform_mutation_is_for(uint32_t index, const char *device);
/* Plants mutation `index` and runs the cases of its meaning, or its case, with the options of the quick run. */
pxb_status conform_mutation_run(pxb_context *ctx, uint32_t index, const char *device, conform_mutation_result *out);

#endif
