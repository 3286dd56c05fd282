/* formula.h - a value as a formula of one element: "x·(0.5 + y·(0.41 − 0.08·|y|)), y = clamp(x, −2, 2)".
 *
 * Moves, packing of halves and conversions between floating types are passed through: a formula says what is computed, not where it
 * is rounded. Constants are shown with the value that they have after the conversions applied to them.
 */
#ifndef PTX_INSPECT_FORMULA_H
#define PTX_INSPECT_FORMULA_H

#include "ptx/inspect/fold.h"

enum { PTI_FORMULA_TEXT = 512 };

typedef struct pti_formula {
    char text[PTI_FORMULA_TEXT];
    uint32_t leaf;                 /* the value that x is, PTI_NONE when there is none */
    uint32_t nnodes, nfloats;      /* operations, and those that are not on bits */
    uint32_t nconstants;
    bool clamps, bends;            /* has minima and maxima with constants; is not linear in x */
} pti_formula;

/* The formula of half `half` (0; 1: the upper one of two packed) of a value. False when it depends on more than one element that is not
 * computed from others (the D of an mma, something loaded), or has more than some forty operations. */
bool pti_find_formula(const pti_flow *flow, const pti_phases *phases, const pti_opcodes *opcodes, uint32_t value, uint32_t half,
                      pti_formula *out);

#endif
