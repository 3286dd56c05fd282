/* vmad.h - vmad, a multiply-add of parts of registers with an exact intermediate result of 128 bits, high:low
 * (PTX ISA, "Scalar Video Instructions: vmad"). Part of video.c.
 *
 * Of a and b the product is negated, when one of them is; .po ("plus one") takes no negations.
 * .sat saturates the exact scaled value, also where that needs more than 64 bits.
 */
#ifndef PXL_VMAD_H
#define PXL_VMAD_H

#include "lane.h"

/* A selector's flag: the operand is written with a minus. Those of a and b negate the product. */
enum { SELECT_MINUS = 16 };

PXL_INLINE void vmad(L_u32 *d, L_s64 a, uint32_t asel, L_s64 b, uint32_t bsel, L_u32 c, uint32_t csel, bool is_unsigned, bool plus_one, bool sat, uint32_t scale)
{
    bool minus_product = ((asel ^ bsel) & SELECT_MINUS) != 0, minus_c = (csel & SELECT_MINUS) != 0;
    bool signed_final = !is_unsigned || minus_product || minus_c;
    L_u64 low = as_u64(a) * as_u64(b), high = is_unsigned ? SPLAT(L_u64, 0) : as_u64(as_s64(low) >> 63);
    uint64_t flip = minus_product ? ~0ull : 0, one = plus_one || minus_product || minus_c;
    low = low ^ flip;
    high = high ^ flip;
    L_u32 c32 = minus_c && !minus_product ? ~c : c;
    L_u64 c_low = signed_final ? as_u64(CONVERT(L_s64, as_s32(c32))) : CONVERT(L_u64, c32);
    L_u64 c_high = signed_final ? as_u64(as_s64(c_low) >> 63) : SPLAT(L_u64, 0);
    L_u64 sum = low + c_low, total = sum + one, unit = SPLAT(L_u64, 1), none = SPLAT(L_u64, 0);
    high = high + c_high + SEL(sum < low, unit, none) + SEL(total < sum, unit, none);
    L_u64 result = scale ? (total >> scale) | (high << (64 - scale)) : total;
    if (sat && signed_final) {
        L_s64 top = as_s64(high) >> (int64_t)scale, value = as_s64(result);
        L_s64 beyond = SEL(top < 0, SPLAT(L_s64, INT32_MIN), SPLAT(L_s64, INT32_MAX));
        result = as_u64(SEL(top == value >> 63, clamp_s64(value, INT32_MIN, INT32_MAX), beyond));
    } else if (sat) {
        result = SEL(result > 0xffffffffu, SPLAT(L_u64, 0xffffffffu), result);
    }
    *d = CONVERT(L_u32, result);
}

#define VMAD_SHARED(A, B) \
    PXL_SHARED void vmad_of_##A##_##B(L_u32 *d, const L_u32 *a, uint32_t asel, const L_u32 *b, uint32_t bsel, const L_u32 *c, uint32_t csel, bool po, bool sat, uint32_t scale) \
    { \
        vmad(d, part_##A(*a, asel & 15), asel, part_##B(*b, bsel & 15), bsel, *c, csel, !SIGNED_##A && !SIGNED_##B, po, sat, scale); \
    }
VMAD_SHARED(u32, u32) VMAD_SHARED(u32, s32) VMAD_SHARED(s32, u32) VMAD_SHARED(s32, s32)

#define VMAD_FORM(D, A, B, mods, po, sat, scale) \
    PXL_INLINE void vmad_##D##_##A##_##B##mods(L_u32 *d, const L_u32 *a, uint32_t asel, const L_u32 *b, uint32_t bsel, const L_u32 *c, uint32_t csel) \
    { \
        vmad_of_##A##_##B(d, a, asel, b, bsel, c, csel, po, sat, scale); \
    }
#define VMAD_SCALES(D, A, B, mods, po, sat) \
    VMAD_FORM(D, A, B, mods, po, sat, 0) VMAD_FORM(D, A, B, mods##_shr7, po, sat, 7) VMAD_FORM(D, A, B, mods##_shr15, po, sat, 15)
#define VMAD(D, A, B, unused) \
    VMAD_SCALES(D, A, B, , 0, 0) VMAD_SCALES(D, A, B, _po, 1, 0) VMAD_SCALES(D, A, B, _sat, 0, 1) VMAD_SCALES(D, A, B, _po_sat, 1, 1)
VIDEO_TYPES(VMAD, )

#endif
