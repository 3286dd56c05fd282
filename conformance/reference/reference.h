/* reference.h - what every arithmetic instruction should give: one lane at a time, slowly, in plain C.
 *
 * Shares nothing with ptx/lib. Integers are computed over 64 and 128 bits, floats by MPFR in the
 * precision and exponent range of the result. Where the ISA leaves a result open the choice is stated
 * in the reference of that family, in the words of the PTX ISA where it has some.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Evaluates the meaning of that name (isa_meaning_name) for one lane. src holds the sources and the immediates in
 * the order of the signature, dst the destinations; raw bits, a predicate is 0 or 1, a 128-bit
 * element is two entries, low first. False when there is no reference of that name. */
bool ref_eval(const char *meaning, const uint64_t *src, uint64_t *dst);

/* Any thread may call the reference; one that did gives its scratch memory back before it ends. */
void ref_thread_end(void);

/* A binary floating format. `finite` formats have no infinity: their top exponent holds numbers; of these e4m3
 * keeps the all-ones code for NaN, the others have none. */
typedef struct ref_format {
    const char *name;
    int exponent, fraction; /* bits */
    int bias;
    bool finite;
    uint64_t nan;           /* canonical NaN, 0 when there is none */
    uint64_t largest;       /* code of the largest number */
} ref_format;

/* By name ("f32", "bf16", "e4m3", ...), NULL when unknown. */
const ref_format *ref_find_format(const char *name, int length);

typedef enum ref_rounding { REF_RN, REF_RZ, REF_RM, REF_RP, REF_RNA } ref_rounding;

/* The number that a code stands for; NaN and infinities included. Exact for all formats up to f64. */
double ref_value(const ref_format *f, uint64_t code);

/* Two ways of rounding x to a format. Overflow goes to infinity or the largest number as the rounding says, in
 * finite formats to the largest number; NaN to the canonical NaN, or the largest number. */
uint64_t ref_round_by_mpfr(const ref_format *f, double x, ref_rounding rounding);   /* not REF_RNA */
/* Looks among all codes of a format of at most 16 bits, and takes the nearest (or the one on the rounding's side). */
uint64_t ref_round_by_search(const ref_format *f, double x, ref_rounding rounding);

#ifdef __cplusplus
}
#endif
#endif
