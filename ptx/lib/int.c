/* int.c - integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic Instructions").
 *
 * Arithmetic wraps unless the instruction saturates. Division or remainder by zero is
 * unspecified in PTX; NVIDIA's code sequences and ptxas' constant folding give all
 * ones for both, at every width and signedness, and so do these.
 */
#include "lane.h"
#include "int_bits.h"

/* ---- add, sub, neg, abs, min, max, sad ---- */

/* T: the type; U: the unsigned type of its size, in which sums wrap. */
#define INT_ADD(T, U) \
    PXL_INLINE void add_##T(L_##T *d, const L_##T *a, const L_##T *b) { *d = (L_##T)(L_##U)((L_##U)*a + (L_##U)*b); } \
    PXL_INLINE void sub_##T(L_##T *d, const L_##T *a, const L_##T *b) { *d = (L_##T)(L_##U)((L_##U)*a - (L_##U)*b); } \
    PXL_INLINE void min_##T(L_##T *d, const L_##T *a, const L_##T *b) { *d = SEL(*a < *b, *a, *b); } \
    PXL_INLINE void max_##T(L_##T *d, const L_##T *a, const L_##T *b) { *d = SEL(*a > *b, *a, *b); } \
    PXL_INLINE void sad_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_##T *c) \
    { \
        L_##U x = (L_##U)*a, y = (L_##U)*b; \
        L_##U apart = SEL(*a < *b, (L_##U)(y - x), (L_##U)(x - y)); \
        *d = (L_##T)(L_##U)((L_##U)*c + apart); \
    }
INT_ADD(u16, u16) INT_ADD(s16, u16) INT_ADD(u32, u32) INT_ADD(s32, u32) INT_ADD(u64, u64) INT_ADD(s64, u64)

#define INT_SIGNED(S, U) \
    PXL_INLINE void neg_##S(L_##S *d, const L_##S *a) { *d = (L_##S)(L_##U)(SPLAT(L_##U, 0) - (L_##U)*a); } \
    PXL_INLINE void abs_##S(L_##S *d, const L_##S *a) \
    { \
        L_##U x = (L_##U)*a; \
        *d = (L_##S)SEL(*a < 0, (L_##U)(SPLAT(L_##U, 0) - x), x); \
    }
INT_SIGNED(s16, u16) INT_SIGNED(s32, u32) INT_SIGNED(s64, u64)

PXL_INLINE void add_sat_s32(L_s32 *d, const L_s32 *a, const L_s32 *b) { *d = __builtin_elementwise_add_sat(*a, *b); }
PXL_INLINE void sub_sat_s32(L_s32 *d, const L_s32 *a, const L_s32 *b) { *d = __builtin_elementwise_sub_sat(*a, *b); }

PXL_INLINE void min_relu_s32(L_s32 *d, const L_s32 *a, const L_s32 *b)
{
    L_s32 r = SEL(*a < *b, *a, *b);
    *d = SEL(r < 0, SPLAT(L_s32, 0), r);
}

PXL_INLINE void max_relu_s32(L_s32 *d, const L_s32 *a, const L_s32 *b)
{
    L_s32 r = SEL(*a > *b, *a, *b);
    *d = SEL(r < 0, SPLAT(L_s32, 0), r);
}

/* ---- two 16-bit numbers in a register: the halves are neighbouring 16-bit lanes ---- */

#define INT_HALVES(name, T, expression) \
    PXL_INLINE void name(L_u32 *d, const L_u32 *pa, const L_u32 *pb) \
    { \
        P_##T a = AS_P_##T(*pa), b = AS_P_##T(*pb); \
        P_##T r = expression; \
        *d = P_AS_u32((P_u16)r); \
    }
INT_HALVES(add_u16x2, u16, a + b)
INT_HALVES(add_s16x2, u16, a + b)
INT_HALVES(sub_u16x2, u16, a - b)
INT_HALVES(sub_s16x2, u16, a - b)
INT_HALVES(min_u16x2, u16, a < b ? a : b)
INT_HALVES(max_u16x2, u16, a > b ? a : b)
INT_HALVES(min_s16x2, s16, a < b ? a : b)
INT_HALVES(max_s16x2, s16, a > b ? a : b)
INT_HALVES(min_relu_s16x2, s16, __builtin_elementwise_max(__builtin_elementwise_min(a, b), (P_s16)0))
INT_HALVES(max_relu_s16x2, s16, __builtin_elementwise_max(__builtin_elementwise_max(a, b), (P_s16)0))

/* ---- products ---- */

#define INT_PRODUCT_LOW(T, U) \
    PXL_INLINE void mul_lo_##T(L_##T *d, const L_##T *a, const L_##T *b) { *d = (L_##T)(L_##U)(WRAP_##U(*a) * WRAP_##U(*b)); } \
    PXL_INLINE void mad_lo_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_##T *c) \
    { \
        *d = (L_##T)(L_##U)(WRAP_##U(*a) * WRAP_##U(*b) + WRAP_##U(*c)); \
    }
INT_PRODUCT_LOW(u16, u16) INT_PRODUCT_LOW(s16, u16) INT_PRODUCT_LOW(u32, u32)
INT_PRODUCT_LOW(s32, u32) INT_PRODUCT_LOW(u64, u64) INT_PRODUCT_LOW(s64, u64)

/* T * T in W, the type of twice the width. */
#define INT_PRODUCT_WIDE(T, W, UW, bits) \
    PXL_INLINE L_##W wide_##T(L_##T a, L_##T b) { return CONVERT(L_##W, a) * CONVERT(L_##W, b); } \
    PXL_INLINE L_##T high_##T(L_##T a, L_##T b) { return CONVERT(L_##T, wide_##T(a, b) >> bits); } \
    PXL_INLINE void mul_wide_##T(L_##W *d, const L_##T *a, const L_##T *b) { *d = wide_##T(*a, *b); } \
    PXL_INLINE void mad_wide_##T(L_##W *d, const L_##T *a, const L_##T *b, const L_##W *c) \
    { \
        *d = (L_##W)((L_##UW)wide_##T(*a, *b) + (L_##UW)*c); \
    }
INT_PRODUCT_WIDE(u16, u32, u32, 16) INT_PRODUCT_WIDE(s16, s32, u32, 16)
INT_PRODUCT_WIDE(u32, u64, u64, 32) INT_PRODUCT_WIDE(s32, s64, u64, 32)

PXL_INLINE L_u64 high_u64(L_u64 a, L_u64 b) { return u64_high_product(a, b); }
/* Signed from unsigned: each negative factor has added 2^64 times the other. */
PXL_INLINE L_s64 high_s64(L_s64 a, L_s64 b)
{
    L_u64 r = u64_high_product(as_u64(a), as_u64(b));
    r -= SEL(a < 0, as_u64(b), SPLAT(L_u64, 0));
    r -= SEL(b < 0, as_u64(a), SPLAT(L_u64, 0));
    return as_s64(r);
}

#define INT_PRODUCT_HIGH(T, U) \
    PXL_INLINE void mul_hi_##T(L_##T *d, const L_##T *a, const L_##T *b) { *d = high_##T(*a, *b); } \
    PXL_INLINE void mad_hi_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_##T *c) \
    { \
        *d = (L_##T)(L_##U)((L_##U)high_##T(*a, *b) + (L_##U)*c); \
    }
INT_PRODUCT_HIGH(u16, u16) INT_PRODUCT_HIGH(s16, u16) INT_PRODUCT_HIGH(u32, u32)
INT_PRODUCT_HIGH(s32, u32) INT_PRODUCT_HIGH(u64, u64) INT_PRODUCT_HIGH(s64, u64)

PXL_INLINE void mad_hi_sat_s32(L_s32 *d, const L_s32 *a, const L_s32 *b, const L_s32 *c)
{
    *d = __builtin_elementwise_add_sat(high_s32(*a, *b), *c);
}

/* The 24 low bits of each factor; .hi is bits 47 to 16 of the product. */
PXL_INLINE L_u64 product24_u32(L_u32 a, L_u32 b) { return wide_u32(a & 0xffffffu, b & 0xffffffu); }
PXL_INLINE L_s64 product24_s32(L_s32 a, L_s32 b)
{
    return wide_s32(as_s32(as_u32(a) << 8) >> 8, as_s32(as_u32(b) << 8) >> 8);
}

#define INT_PRODUCT24(T) \
    PXL_INLINE void mul24_lo_##T(L_##T *d, const L_##T *a, const L_##T *b) { *d = CONVERT(L_##T, product24_##T(*a, *b)); } \
    PXL_INLINE void mul24_hi_##T(L_##T *d, const L_##T *a, const L_##T *b) { *d = CONVERT(L_##T, product24_##T(*a, *b) >> 16); } \
    PXL_INLINE void mad24_lo_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_##T *c) \
    { \
        *d = (L_##T)((L_u32)CONVERT(L_##T, product24_##T(*a, *b)) + (L_u32)*c); \
    } \
    PXL_INLINE void mad24_hi_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_##T *c) \
    { \
        *d = (L_##T)((L_u32)CONVERT(L_##T, product24_##T(*a, *b) >> 16) + (L_u32)*c); \
    }
INT_PRODUCT24(u32) INT_PRODUCT24(s32)

PXL_INLINE void mad24_hi_sat_s32(L_s32 *d, const L_s32 *a, const L_s32 *b, const L_s32 *c)
{
    *d = __builtin_elementwise_add_sat(CONVERT(L_s32, product24_s32(*a, *b) >> 16), *c);
}

/* ---- carries: CC.CF is an element of its own ----
 *
 * A difference leaves the carry of x + ~y + 1 there, that is, 1 where nothing was borrowed, and subc takes 1 for "no borrow". The
 * ISA's "borrow-out" and "a - (b + CC.CF)" cannot be told from that in a chain of subtractions, but where addc or madc reads what
 * sub.cc left, or subc what add.cc left: ptxas 13.0 folds sub.cc 1, 2 and addc 0, 0 to 0, and code for sm_75 and
 * sm_90 passes the carry of IADD3 on as it is.
 */

/* x + y + carry-in, x + ~y + carry-in; *carry is set where the sum left the type. */
#define INT_CARRY_CORE(U) \
    PXL_INLINE L_##U plus_##U(L_##U x, L_##U y, L_##U carry_in, L_pred *carry) \
    { \
        L_##U t = x + y, r = t + carry_in; \
        *carry = PRED(t < x) | PRED(r < t); \
        return r; \
    } \
    PXL_INLINE L_##U minus_##U(L_##U x, L_##U y, L_##U carry_in, L_pred *carry) \
    { \
        L_##U borrow = 1 - carry_in, t = x - y, r = t - borrow; \
        *carry = PRED(x >= y) & PRED(t >= borrow); \
        return r; \
    }
INT_CARRY_CORE(u32) INT_CARRY_CORE(u64)

#define FLAG_u32(p) SEL(COND32(p), SPLAT(L_u32, 1), SPLAT(L_u32, 0))
#define FLAG_u64(p) SEL(COND64(p), SPLAT(L_u64, 1), SPLAT(L_u64, 0))

#define INT_CARRY(T, U) \
    PXL_INLINE void add_cc_##T(L_##T *d, const L_##T *a, const L_##T *b, L_pred *out) \
    { \
        *d = (L_##T)plus_##U((L_##U)*a, (L_##U)*b, SPLAT(L_##U, 0), out); \
    } \
    PXL_INLINE void sub_cc_##T(L_##T *d, const L_##T *a, const L_##T *b, L_pred *out) \
    { \
        *d = (L_##T)minus_##U((L_##U)*a, (L_##U)*b, SPLAT(L_##U, 1), out); \
    } \
    PXL_INLINE void addc_cc_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_pred *in, L_pred *out) \
    { \
        *d = (L_##T)plus_##U((L_##U)*a, (L_##U)*b, FLAG_##U(*in), out); \
    } \
    PXL_INLINE void subc_cc_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_pred *in, L_pred *out) \
    { \
        *d = (L_##T)minus_##U((L_##U)*a, (L_##U)*b, FLAG_##U(*in), out); \
    } \
    PXL_INLINE void addc_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_pred *in) { L_pred out; addc_cc_##T(d, a, b, in, &out); } \
    PXL_INLINE void subc_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_pred *in) { L_pred out; subc_cc_##T(d, a, b, in, &out); } \
    INT_CARRY_MAD(lo, low, T, U) INT_CARRY_MAD(hi, high, T, U)

/* mad.cc and madc: the carry is that of adding c (and the carry-in) to the half of the product. */
#define INT_CARRY_MAD(half, part, T, U) \
    PXL_INLINE void mad_##half##_cc_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_##T *c, L_pred *out) \
    { \
        *d = (L_##T)plus_##U((L_##U)part##_##T(*a, *b), (L_##U)*c, SPLAT(L_##U, 0), out); \
    } \
    PXL_INLINE void madc_##half##_cc_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_##T *c, const L_pred *in, L_pred *out) \
    { \
        *d = (L_##T)plus_##U((L_##U)part##_##T(*a, *b), (L_##U)*c, FLAG_##U(*in), out); \
    } \
    PXL_INLINE void madc_##half##_##T(L_##T *d, const L_##T *a, const L_##T *b, const L_##T *c, const L_pred *in) \
    { \
        L_pred out; \
        madc_##half##_cc_##T(d, a, b, c, in, &out); \
    }
PXL_INLINE L_u32 low_u32(L_u32 a, L_u32 b) { return a * b; }
PXL_INLINE L_u32 low_s32(L_s32 a, L_s32 b) { return as_u32(a) * as_u32(b); }
PXL_INLINE L_u64 low_u64(L_u64 a, L_u64 b) { return a * b; }
PXL_INLINE L_u64 low_s64(L_s64 a, L_s64 b) { return as_u64(a) * as_u64(b); }
INT_CARRY(u32, u32) INT_CARRY(s32, u32) INT_CARRY(u64, u64) INT_CARRY(s64, u64)

/* ---- division ---- */

/* Quotients of magnitudes; a zero divisor is replaced by one here and dealt with after. */
#define INT_DIV_UNSIGNED(U) \
    PXL_INLINE void div_##U(L_##U *d, const L_##U *a, const L_##U *b) \
    { \
        L_##U zero = SPLAT(L_##U, 0), by = SEL(*b == 0, SPLAT(L_##U, 1), *b); \
        *d = SEL(*b == 0, (L_##U)(zero - 1), quotient_##U(*a, by)); \
    } \
    PXL_INLINE void rem_##U(L_##U *d, const L_##U *a, const L_##U *b) \
    { \
        L_##U zero = SPLAT(L_##U, 0), by = SEL(*b == 0, SPLAT(L_##U, 1), *b), q = quotient_##U(*a, by); \
        *d = SEL(*b == 0, (L_##U)(zero - 1), (L_##U)(*a - WRAP_##U(q) * by)); \
    }
INT_DIV_UNSIGNED(u16) INT_DIV_UNSIGNED(u32) INT_DIV_UNSIGNED(u64)

/* Quotients are cut toward zero and the remainder has the sign of a. The least
 * number divided by -1 wraps to itself, remainder 0. */
#define INT_DIV_SIGNED(S, U) \
    PXL_INLINE L_##U size_##S(L_##S x) { return SEL(x < 0, (L_##U)(SPLAT(L_##U, 0) - (L_##U)x), (L_##U)x); } \
    PXL_INLINE void div_##S(L_##S *d, const L_##S *a, const L_##S *b) \
    { \
        L_##U zero = SPLAT(L_##U, 0), by = SEL(*b == 0, SPLAT(L_##U, 1), size_##S(*b)), q = quotient_##U(size_##S(*a), by); \
        L_##S signs = *a ^ *b; \
        q = SEL(signs < 0, (L_##U)(zero - q), q); \
        *d = (L_##S)SEL(*b == 0, (L_##U)(zero - 1), q); \
    } \
    PXL_INLINE void rem_##S(L_##S *d, const L_##S *a, const L_##S *b) \
    { \
        L_##U zero = SPLAT(L_##U, 0), x = size_##S(*a), by = SEL(*b == 0, SPLAT(L_##U, 1), size_##S(*b)), q = quotient_##U(x, by); \
        L_##U r = x - WRAP_##U(q) * by; \
        r = SEL(*a < 0, (L_##U)(zero - r), r); \
        *d = (L_##S)SEL(*b == 0, (L_##U)(zero - 1), r); \
    }
INT_DIV_SIGNED(s16, u16) INT_DIV_SIGNED(s32, u32) INT_DIV_SIGNED(s64, u64)

/* ---- bits ---- */

#define INT_COUNT(size) \
    PXL_INLINE void popc_b##size(L_u32 *d, const L_u##size *a) { *d = CONVERT(L_u32, __builtin_elementwise_popcount(*a)); } \
    PXL_INLINE void clz_b##size(L_u32 *d, const L_u##size *a) { *d = CONVERT(L_u32, leading_zeros_u##size(*a)); } \
    PXL_INLINE void brev_b##size(L_u##size *d, const L_u##size *a) { *d = __builtin_elementwise_bitreverse(*a); }
INT_COUNT(32) INT_COUNT(64)

/* The place of the most significant bit that is no sign bit, all ones when there is none. */
#define INT_BFIND(T, size, x_of_a) \
    PXL_INLINE void bfind_##T(L_u32 *d, const L_##T *a) \
    { \
        L_u32 zeros = CONVERT(L_u32, leading_zeros_u##size(x_of_a)); \
        *d = SPLAT(L_u32, size - 1) - zeros; \
    } \
    PXL_INLINE void bfind_shiftamt_##T(L_u32 *d, const L_##T *a) \
    { \
        L_u32 zeros = CONVERT(L_u32, leading_zeros_u##size(x_of_a)); \
        *d = SEL(zeros == size, SPLAT(L_u32, 0xffffffffu), zeros); \
    }
INT_BFIND(u32, 32, *a)
INT_BFIND(u64, 64, *a)
INT_BFIND(s32, 32, as_u32(*a ^ (*a >> 31)))
INT_BFIND(s64, 64, as_u64(*a ^ (*a >> 63)))

/* Steps from bit to bit; a base above 31 is undefined in PTX and finds nothing here. */
PXL_INLINE uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    if (base > 31)
        return 0xffffffffu;
    if (offset == 0)
        return (mask >> base & 1) ? base : 0xffffffffu;
    uint32_t wanted = offset > 0 ? (uint32_t)offset : 0u - (uint32_t)offset;
    for (uint32_t position = base; position < 32; position = offset > 0 ? position + 1 : position - 1)
        if ((mask >> position & 1) && --wanted == 0)
            return position;
    return 0xffffffffu;
}

PXL_INLINE void fns_b32(L_u32 *d, const L_u32 *mask, const L_u32 *base, const L_s32 *offset)
{
    L_u32 r = SPLAT(L_u32, 0);
    FOR_LANES(i) LANE(r, i) = find_nth_set(LANE(*mask, i), LANE(*base, i), LANE(*offset, i));
    *d = r;
}

/* Field from bit pos = b & 0xff of length c & 0xff; what lies beyond the top bit is the field's sign. */
#define INT_BFE(size) \
    PXL_INLINE void bfe_u##size(L_u##size *d, const L_u##size *a, const L_u32 *b, const L_u32 *c) \
    { \
        L_u##size pos = CONVERT(L_u##size, *b & 0xff), len = CONVERT(L_u##size, *c & 0xff); \
        *d = shift_right_u##size(*a, pos) & low_mask_u##size(len); \
    } \
    PXL_INLINE void bfe_s##size(L_s##size *d, const L_s##size *a, const L_u32 *b, const L_u32 *c) \
    { \
        L_u##size pos = CONVERT(L_u##size, *b & 0xff), len = CONVERT(L_u##size, *c & 0xff); \
        L_u##size top = SEL(pos + len - 1 > size - 1, SPLAT(L_u##size, size - 1), pos + len - 1); \
        L_u##size x = as_u##size(*a), mask = low_mask_u##size(SEL(top >= pos, top - pos + 1, SPLAT(L_u##size, 0))); \
        L_u##size field = shift_right_u##size(x, pos) & mask; \
        L_u##size sign = SPLAT(L_u##size, 0) - ((x >> (top & (size - 1))) & 1); \
        L_u##size r = field | (sign & ~mask); \
        *d = as_s##size(SEL(len == 0, SPLAT(L_u##size, 0), r)); \
    } \
    PXL_INLINE void bfi_b##size(L_u##size *d, const L_u##size *a, const L_u##size *b, const L_u32 *c, const L_u32 *e) \
    { \
        L_u##size pos = CONVERT(L_u##size, *c & 0xff), len = CONVERT(L_u##size, *e & 0xff); \
        L_u##size mask = shift_left_u##size(low_mask_u##size(len), pos); \
        *d = (*b & ~mask) | (shift_left_u##size(*a, pos) & mask); \
    }
INT_BFE(32) INT_BFE(64)

/* N = 0 gives 0. N above 31 leaves a in .clamp, and counts modulo 32 in .wrap. */
#define INT_SZEXT(mode, too_large) \
    PXL_INLINE void szext_##mode##_u32(L_u32 *d, const L_u32 *a, const L_u32 *b) \
    { \
        L_u32 n = *b; \
        L_u32 mask = low_mask_u32(n & 31); \
        *d = SEL(too_large, *a, *a & mask); \
    } \
    PXL_INLINE void szext_##mode##_s32(L_s32 *d, const L_s32 *a, const L_u32 *b) \
    { \
        L_u32 n = *b; \
        L_u32 left = (32 - (n & 31)) & 31; \
        L_s32 field = as_s32(as_u32(*a) << left) >> as_s32(left); \
        *d = SEL(too_large, *a, SEL((n & 31) == 0, SPLAT(L_s32, 0), field)); \
    }
INT_SZEXT(clamp, n > 31) INT_SZEXT(wrap, n != n)

PXL_INLINE void bmsk_clamp_b32(L_u32 *d, const L_u32 *a, const L_u32 *b)
{
    *d = shift_left_u32(low_mask_u32(*b), *a);
}

PXL_INLINE void bmsk_wrap_b32(L_u32 *d, const L_u32 *a, const L_u32 *b)
{
    *d = low_mask_u32(*b & 31) << (*a & 31);
}

/* ---- dot products of bytes ---- */

#define BYTE_u32(x, i) ((L_u32)((x) >> (8 * (i))) & 0xff)
#define BYTE_s32(x, i) ((L_u32)((L_s32)((x) << (24 - 8 * (i))) >> 24))
#define HALF_u32(x, i) ((L_u32)((x) >> (16 * (i))) & 0xffff)
#define HALF_s32(x, i) ((L_u32)((L_s32)((x) << (16 - 16 * (i))) >> 16))

#define INT_DOT(A, B, C) \
    PXL_INLINE void dp4a_##A##_##B(L_##C *d, const L_##A *pa, const L_##B *pb, const L_##C *c) \
    { \
        L_u32 a = (L_u32)*pa, b = (L_u32)*pb, r = (L_u32)*c; \
        for (int i = 0; i < 4; i++) \
            r += BYTE_##A(a, i) * BYTE_##B(b, i); \
        *d = (L_##C)r; \
    } \
    PXL_INLINE void dp2a_lo_##A##_##B(L_##C *d, const L_##A *pa, const L_##B *pb, const L_##C *c) \
    { \
        L_u32 a = (L_u32)*pa, b = (L_u32)*pb; \
        *d = (L_##C)((L_u32)*c + HALF_##A(a, 0) * BYTE_##B(b, 0) + HALF_##A(a, 1) * BYTE_##B(b, 1)); \
    } \
    PXL_INLINE void dp2a_hi_##A##_##B(L_##C *d, const L_##A *pa, const L_##B *pb, const L_##C *c) \
    { \
        L_u32 a = (L_u32)*pa, b = (L_u32)*pb; \
        *d = (L_##C)((L_u32)*c + HALF_##A(a, 0) * BYTE_##B(b, 2) + HALF_##A(a, 1) * BYTE_##B(b, 3)); \
    }
INT_DOT(u32, u32, u32) INT_DOT(u32, s32, s32) INT_DOT(s32, u32, s32) INT_DOT(s32, s32, s32)

#include "gen/isa_wrap_int.h"
