/* fold.h - values that are constants: through moves, packing, unpacking, and conversions between floating types. */
#ifndef PTX_INSPECT_FOLD_H
#define PTX_INSPECT_FOLD_H

#include "ptx/inspect/opcodes.h"
#include "ptx/inspect/phases.h"

/* The bits that a register holds as `value`; false when they are not known from the text alone. */
bool pti_fold(const pti_flow *flow, const pti_opcodes *opcodes, uint32_t value, uint64_t *bits);
/* Likewise of an operand of instruction `insn`. */
bool pti_fold_operand(const pti_flow *flow, const pti_opcodes *opcodes, uint32_t insn, const ptx_value *v, uint64_t *bits);

/* Bits as a number of a floating or integer type; of packed types both halves must be alike. False for other types. */
bool pti_number(uint64_t bits, ptx_type type, double *out);

/* The fewest digits from which the number can be read back, as an f32 where the type is f32. */
const char *pti_number_text(double v, ptx_type type, char buffer[32]);

/* The type that an opcode computes in: of "fma.rn.f16x2" f16x2. */
ptx_type pti_opcode_type(const char *opcode);

#endif
