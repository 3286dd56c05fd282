/* ref_internal.h - shared by the reference's families: names cut into words, types, MPFR with a format's range. */
#ifndef REF_INTERNAL_H
#define REF_INTERNAL_H

#include <stdint.h>
#define MPFR_USE_INTMAX_T
#include <mpfr.h>
#include "reference.h"

enum { REF_MAX_WORDS = 12, REF_WORD = 16 };

/* "setp_lt_and_ftz_f32" as words. */
typedef struct ref_name {
    int count;
    char word[REF_MAX_WORDS][REF_WORD];
} ref_name;

bool ref_has(const ref_name *name, const char *word);
/* Word `from_end` places from the last one; "" when there is none. */
const char *ref_last(const ref_name *name, int from_end);
bool ref_is(const ref_name *name, int i, const char *word);

/* u32 -> 'u', 32; f16x2 -> 'f', 16, lanes 2; bf16 -> 'B'. Class 0 for a word that is no type. */
typedef struct ref_type { char class; int bits, lanes; } ref_type;
ref_type ref_parse_type(const char *word);

uint64_t ref_mask(int bits);
int64_t ref_sext(uint64_t x, int bits);
/* The value of an integer operand of a type, in 128 bits. */
__int128 ref_integer(uint64_t x, ref_type t);

/* The rounding that the name has, REF_RN without one. */
ref_rounding ref_name_rounding(const ref_name *name);
mpfr_rnd_t ref_mpfr_rounding(ref_rounding r);
/* Brings r, which has the precision of f and came out of an operation with this ternary value, into the range of f. */
uint64_t ref_finish(const ref_format *f, mpfr_t r, int ternary, mpfr_rnd_t rounding);
/* Scratch numbers: ref_number(0) ... (3) hold any double exactly; ref_result has the precision of f. */
mpfr_ptr ref_number(int i);
mpfr_ptr ref_result(const ref_format *f);

bool ref_is_nan(const ref_format *f, uint64_t code);
uint64_t ref_sign_bit(const ref_format *f);
uint64_t ref_flush(const ref_format *f, uint64_t code);        /* subnormals to zero */
uint64_t ref_saturate(const ref_format *f, uint64_t code);     /* [+0, 1], NaN to +0 */
uint64_t ref_relu(const ref_format *f, uint64_t code);         /* negative numbers and -0 to +0 */
uint64_t ref_satfinite(const ref_format *f, uint64_t code);    /* infinities to the largest number */

/* The families; false when the name is none of theirs. */
bool ref_int(const ref_name *name, const uint64_t *src, uint64_t *dst);
bool ref_logic(const ref_name *name, const uint64_t *src, uint64_t *dst);
bool ref_move(const ref_name *name, const uint64_t *src, uint64_t *dst);
bool ref_float(const ref_name *name, const uint64_t *src, uint64_t *dst);
bool ref_half(const ref_name *name, const uint64_t *src, uint64_t *dst);
bool ref_cvt(const ref_name *name, const uint64_t *src, uint64_t *dst);
bool ref_compare(const ref_name *name, const uint64_t *src, uint64_t *dst);
bool ref_video(const ref_name *name, const uint64_t *src, uint64_t *dst);

#endif
