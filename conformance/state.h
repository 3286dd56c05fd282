/* state.h - the file of finished cases from which a run is resumed. */
#ifndef CONFORM_STATE_H
#define CONFORM_STATE_H

#include <stdio.h>
#include "conformance/conform.h"

/* The first line of the file: what the results depend on. */
void conform_state_head(const conform_options *o, char *out, size_t size);
/* Takes results from the file and sets done[i]. False: the file is of another run. *is_new: it has no first line yet. */
bool conform_take_over(const conform_options *o, conform_result *results, uint32_t count, bool *done, bool *is_new);
/* Appends those of `count` results that passed. */
void conform_keep(FILE *f, const conform_result *results, uint32_t count);

#endif
