/* bounds.h - how far approximate functions may be from the real function (PTX ISA, the clause of each instruction). */
#ifndef CONFORM_BOUNDS_H
#define CONFORM_BOUNDS_H

#include "conformance/conform.h"

/* A result is within bounds when its error is at most `ulp` units of the last place, or `relative` of the true
 * value, or `absolute`; 0: no such bound. */
typedef struct conform_bound {
    const char *prefix;      /* of the meaning's name */
    double ulp, relative, absolute;
    bool everywhere;         /* our own devices keep the bound only, and are not correctly rounded */
} conform_bound;

/* NULL when the instruction is exact. */
const conform_bound *conform_bound_of(const char *meaning);

/* Distance of two results of element `e` in units of the last place; infinity when one of them is NaN. The larger one of a packed result. */
double conform_ulps(const conform_case *c, uint32_t e, uint64_t got, uint64_t want);
/* Whether `got` is allowed where the correctly rounded result is `want`. Special values must be equal. */
bool conform_within(const conform_bound *b, const conform_case *c, uint32_t e, uint64_t got, uint64_t want);

#endif
