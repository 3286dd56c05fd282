/* ref_special.h - reference of the approximate functions: the real function by MPFR, rounded once, and the ISA's special values. */
#ifndef REF_SPECIAL_H
#define REF_SPECIAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One lane; b is the second operand of div. False when the meaning is unknown. Packed types are not taken: their halves are. */
bool ref_special_eval(const char *meaning, uint64_t a, uint64_t b, uint64_t *d);

#ifdef __cplusplus
}
#endif
#endif
