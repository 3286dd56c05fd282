/* ref_mma_number.c - see ref_mma_number.h. */
#include "ref_mma_number.h"

#include <string.h>

enum { LIMBS = REF_FIXED_LIMBS, POINT = REF_FIXED_POINT };

/* The significand has at most 32 bits. */
ref_fixed ref_fixed_of(bool negative, uint64_t significand, int exponent)
{
    ref_fixed f;
    memset(&f, 0, sizeof f);
    f.negative = negative;
    const int at = exponent + POINT;
    const uint64_t shifted = significand << at % 32;
    f.limb[at / 32] = (uint32_t)shifted;
    f.limb[at / 32 + 1] = (uint32_t)(shifted >> 32);
    return f;
}
static int fixed_compare(const ref_fixed *a, const ref_fixed *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}
void ref_fixed_add(ref_fixed *sum, const ref_fixed *x)
{
    if (sum->negative == x->negative) {
        uint64_t carry = 0;
        for (int i = 0; i < LIMBS; i++) {
            carry += (uint64_t)sum->limb[i] + x->limb[i];
            sum->limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
        return;
    }
    const bool smaller = fixed_compare(sum, x) < 0;
    const ref_fixed big = smaller ? *x : *sum, small = smaller ? *sum : *x;
    int64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        const int64_t v = (int64_t)big.limb[i] - small.limb[i] - borrow;
        borrow = v < 0;
        sum->limb[i] = (uint32_t)v;
    }
    sum->negative = big.negative;
}
void ref_fixed_cut_below(ref_fixed *f, int exponent)
{
    const int bits = exponent + POINT;
    for (int i = 0; i < LIMBS && i * 32 < bits; i++)
        f->limb[i] &= bits >= i * 32 + 32 ? 0 : 0xffffffffu << (bits - i * 32);
}
/* Exponent of the leading bit; false when zero. */
static bool fixed_leading(const ref_fixed *f, int *exponent)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        for (int bit = 31; f->limb[i] && bit >= 0; bit--)
            if (f->limb[i] >> bit & 1) {
                *exponent = i * 32 + bit - POINT;
                return true;
            }
    return false;
}
static int fixed_bit(const ref_fixed *f, int exponent)
{
    const int bit = exponent + POINT;
    return bit < 0 ? 0 : (int)(f->limb[bit / 32] >> bit % 32 & 1);
}

/* Encodes with `fraction` fraction bits and exponent range of `xbits` bits; rounds to nearest even or cuts. */
uint32_t ref_fixed_encode(const ref_fixed *f, int fraction, int xbits, bool nearest)
{
    const int bias = (1 << (xbits - 1)) - 1;
    const uint32_t sign = f->negative ? 1u << (fraction + xbits) : 0;
    int lead;
    if (!fixed_leading(f, &lead))
        return 0;
    const int low = (lead < 1 - bias ? 1 - bias : lead) - fraction;    /* weight of the last place */
    uint64_t m = 0;
    for (int e = lead; e >= low; e--)
        m = m << 1 | (uint64_t)fixed_bit(f, e);
    if (nearest && fixed_bit(f, low - 1)) {
        bool more = m & 1;
        for (int e = low - 2; e >= -POINT && !more; e--)
            more = fixed_bit(f, e);
        m += more;
    }
    int field = low + fraction + bias;                                   /* as if normal */
    if (m >> (fraction + 1)) {
        m >>= 1;
        field++;
    }
    if (!(m >> fraction))
        field = 0;                                                         /* subnormal */
    if (field >= 2 * bias + 1)
        return sign | (uint32_t)(2 * bias + 1) << fraction;
    return sign | (uint32_t)field << fraction | (uint32_t)(m & ((1ull << fraction) - 1));
}

/* ------------------------------------------------------------ operands */

ref_operand ref_operand_of(ref_mma_type type, uint64_t bits)
{
    int fraction, xbits;
    switch (type) {
    case REF_E4M3: fraction = 3; xbits = 4; break;
    case REF_E5M2: fraction = 2; xbits = 5; break;
    case REF_F16:  fraction = 10; xbits = 5; break;
    case REF_BF16: fraction = 7; xbits = 8; break;
    case REF_TF32: fraction = 10; xbits = 8; bits >>= 13; break;
    case REF_E3M2: fraction = 2; xbits = 3; break;
    case REF_E2M3: fraction = 3; xbits = 2; break;
    case REF_E2M1: fraction = 1; xbits = 2; bits >>= 2; break;        /* in the middle of its byte */
    case REF_E2M1X2: fraction = 1; xbits = 2; break;
    default:       fraction = 23; xbits = 8; break;
    }
    const int field = (int)(bits >> fraction & ((1u << xbits) - 1)), bias = (1 << (xbits - 1)) - 1;
    const uint64_t part = bits & ((1ull << fraction) - 1);
    ref_operand o;
    memset(&o, 0, sizeof o);
    o.negative = bits >> (fraction + xbits) & 1;
    if (type == REF_E4M3) {
        o.nan = (bits & 0x7f) == 0x7f;
    } else if (field == 2 * bias + 1 && type < REF_E3M2) {
        o.nan = part != 0;
        o.inf = part == 0;
    }
    o.significand = field == 0 ? part : part + (1ull << fraction);
    o.exponent = field == 0 ? 1 - bias : field - bias;
    o.scale = o.exponent - fraction;
    return o;
}
bool ref_operand_is_zero(ref_operand o) { return !o.nan && !o.inf && o.significand == 0; }
