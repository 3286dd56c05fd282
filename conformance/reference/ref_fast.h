/* ref_fast.h - the reference for tables of billions of inputs: the results of ref_eval and ref_special_eval, without MPFR where they are certain.
 *
 * Three ways, each of which knows when it is not certain:
 * - A real function of an f32 number: the C library's function in double, whose error is a few units of 2^-53, widened to 2^-44. When both ends
 *   round to the same f32, that is the result (Ziv's test).
 * - One IEEE operation: in double, with its error as a second double, which makes the sum rounded to odd. Rounding that once more to at most 51 bits
 *   is correct in every direction (Boldo and Melquiond, "Emulation of a FMA and correctly-rounded sums", 2008).
 * - One packed operand of two halves: a table of each half, made by the slow reference.
 */
#ifndef REF_FAST_H
#define REF_FAST_H

#include <stdbool.h>
#include <stdint.h>
#include "reference.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ref_fast_kind { REF_FAST_FUNCTION, REF_FAST_OPERATION, REF_FAST_HALVES } ref_fast_kind;

typedef struct ref_fast {
    ref_fast_kind kind;
    double (*function)(double);
    char operation;              /* + - * / s: 1 / x is a division */
    const ref_format *format;
    ref_rounding rounding;
    bool ftz;
    uint64_t sign, infinity;     /* codes of the format */
    double *values;              /* of all codes of a 16-bit format, flushed; NULL for a wider one */
    uint64_t *halves[2];         /* results of each half, exclusive or with that of zero */
    uint64_t zero;
} ref_fast;

/* `slow` evaluates sources of the kind that the meaning has. False: there is no fast way (or no memory). */
bool ref_fast_start(ref_fast *f, const char *meaning, void (*slow)(void *user, const uint64_t *src, uint64_t *dst), void *user);
void ref_fast_end(ref_fast *f);
/* False: not certain, the slow reference has to say. May be called by several threads. */
bool ref_fast_eval(const ref_fast *f, const uint64_t *src, uint64_t *dst);

#ifdef __cplusplus
}
#endif
#endif
