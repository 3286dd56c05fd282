/* f64_exact.h - f64 operations under every rounding, on integers in the lanes.
 *
 * A finite number other than zero is sign, exponent and a 64-bit significand whose
 * bit 63 is set: value = significand * 2^(exponent - 1086), where exponent is the biased one of
 * f64. Bit 0 of a significand may be sticky: "something non-zero was cut off". Correct for
 * subnormal operands and results, overflow and the sign of zero, under each rounding.
 */
#ifndef PXL_F64_EXACT_H
#define PXL_F64_EXACT_H

#include "float_bits.h"

/* Left shift that makes bit 63 of x (not zero) set; x by value is shifted. */
PXL_INLINE L_s64 u64_normalise(L_u64 *x)
{
    L_s64 shift = SPLAT(L_s64, 0);
    L_u64 v = *x;
    for (int step = 32; step; step >>= 1) {
        L_u64 high = v >> (64 - step);
        shift = SEL(high == 0, shift + step, shift);
        v = SEL(high == 0, v << step, v);
    }
    *x = v;
    return shift;
}

/* x >> n for any n >= 0; what is cut off is or-ed into bit 0. */
PXL_INLINE L_u64 u64_shift_right_sticky(L_u64 x, L_s64 n)
{
    L_s64 k = SEL(n > 63, SPLAT(L_s64, 63), n);
    L_u64 cut = x >> as_u64(k), sticky = SEL((cut << as_u64(k)) != x, SPLAT(L_u64, 1), SPLAT(L_u64, 0));
    return SEL(n > 63, SEL(x != 0, SPLAT(L_u64, 1), SPLAT(L_u64, 0)), cut | sticky);
}

/* The low halves and cross products of a 64-bit square of 32-bit limbs. */
PXL_INLINE void u64_multiply_wide(L_u64 a, L_u64 b, L_u64 *high, L_u64 *low)
{
    L_u64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    L_u64 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    L_u64 middle = (p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu);
    *low = (middle << 32) | (p00 & 0xffffffffu);
    *high = p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

/* Splits |x|, finite and not zero, into a normalised significand and its exponent. */
PXL_INLINE L_u64 f64_unpack(L_f64 x, L_s64 *exponent)
{
    L_u64 bits = as_u64(x) & ~F64_SIGN;
    L_s64 e = as_s64(bits >> 52);
    L_u64 significand = (bits & 0xfffffffffffffull) | SEL(e != 0, SPLAT(L_u64, 1ull << 52), SPLAT(L_u64, 0));
    significand = SEL(significand == 0, SPLAT(L_u64, 1), significand); /* any value: zeros are treated by the caller */
    L_s64 shift = u64_normalise(&significand);
    *exponent = SEL(e != 0, e, SPLAT(L_s64, 1)) + 11 - shift;
    return significand;
}

/* Rounds and packs; sign is F64_SIGN or 0. */
PXL_INLINE L_f64 f64_pack(L_u64 sign, L_s64 exponent, L_u64 significand, enum pxl_rounding rounding)
{
    L_s64 deficit = SEL(exponent < 1, 1 - exponent, SPLAT(L_s64, 0));
    L_u64 s = u64_shift_right_sticky(significand, deficit);
    L_u64 q = s >> 11, rest = s & 0x7ff, up = SPLAT(L_u64, 0);
    if (rounding == PXL_rn)
        up = SEL(rest + (q & 1) > 0x400, SPLAT(L_u64, 1), up);
    if (rounding == PXL_rm)
        up = SEL((rest != 0) & (sign != 0), SPLAT(L_u64, 1), up);
    if (rounding == PXL_rp)
        up = SEL((rest != 0) & (sign == 0), SPLAT(L_u64, 1), up);
    L_s64 e = SEL(exponent < 1, SPLAT(L_s64, 1), exponent);
    L_u64 bits = (as_u64(e - 1) << 52) + q + up;
    L_u64 limit = SPLAT(L_u64, F64_INF);
    if (rounding == PXL_rz)
        limit = limit - 1;
    if (rounding == PXL_rm)
        limit = SEL(sign != 0, limit, limit - 1);
    if (rounding == PXL_rp)
        limit = SEL(sign == 0, limit, limit - 1);
    bits = SEL((e > 2046) | (bits > limit), limit, bits);
    return as_f64(sign | bits);
}

#define F64_FINITE(x) ((as_u64(x) & F64_INF) != F64_INF)
#define F64_ZERO(x) ((as_u64(x) & ~F64_SIGN) == 0)

/* a * b + c with one rounding. */
PXL_SHARED void f64_fma_shared(L_f64 *d, const L_f64 *pa, const L_f64 *pb, const L_f64 *pc, enum pxl_rounding rounding)
{
    L_f64 a = *pa, b = *pb, c = *pc;
    L_s64 ea, eb, ec;
    L_u64 sa = f64_unpack(a, &ea), sb = f64_unpack(b, &eb), sc = f64_unpack(c, &ec);
    L_u64 sign_p = (as_u64(a) ^ as_u64(b)) & F64_SIGN, sign_c = as_u64(c) & F64_SIGN;

    /* Both terms as 128 bits with bit 126 or 125 on top, x = (high:low) * 2^e. */
    L_u64 p_high, p_low, c_high = sc >> 1, c_low = sc << 63;
    u64_multiply_wide(sa, sb, &p_high, &p_low);
    p_low = (p_high << 63) | (p_low >> 1); /* the 22 low bits of the product are zero */
    p_high = p_high >> 1;
    L_s64 ep = ea + eb - 1022; /* weight of bit 126 as a biased exponent */
    ec = SEL(F64_ZERO(c), SPLAT(L_s64, -100000), ec);
    c_high = SEL(F64_ZERO(c), SPLAT(L_u64, 0), c_high);
    c_low = SEL(F64_ZERO(c), SPLAT(L_u64, 0), c_low);

    /* The term of the lesser exponent is shifted right. */
    L_s64 apart = ep - ec;
    L_u64 big_high = SEL(apart >= 0, p_high, c_high), big_low = SEL(apart >= 0, p_low, c_low);
    L_u64 small_high = SEL(apart >= 0, c_high, p_high), small_low = SEL(apart >= 0, c_low, p_low);
    L_s64 e = SEL(apart >= 0, ep, ec), n = SEL(apart >= 0, apart, -apart);
    L_u64 sign = SEL(apart >= 0, sign_p, sign_c), differ = sign_p ^ sign_c;
    n = SEL(n > 127, SPLAT(L_s64, 127), n);
    L_s64 m = n & 63;
    L_u64 shifted_low = (small_low >> as_u64(m)) | SEL(m == 0, SPLAT(L_u64, 0), small_high << as_u64((64 - m) & 63));
    L_u64 shifted_high = small_high >> as_u64(m);
    L_u64 lost = SEL(m == 0, SPLAT(L_u64, 0), small_low << as_u64((64 - m) & 63));
    lost = SEL(n >= 64, lost | shifted_low, lost);
    shifted_low = SEL(n >= 64, shifted_high, shifted_low);
    shifted_high = SEL(n >= 64, SPLAT(L_u64, 0), shifted_high);
    shifted_low |= SEL(lost != 0, SPLAT(L_u64, 1), SPLAT(L_u64, 0));

    /* Sum or difference of the magnitudes. */
    L_u64 sum_low = big_low + shifted_low, sum_high = big_high + shifted_high + SEL(sum_low < big_low, SPLAT(L_u64, 1), SPLAT(L_u64, 0));
    L_u64 dif_low = big_low - shifted_low, dif_high = big_high - shifted_high - SEL(big_low < shifted_low, SPLAT(L_u64, 1), SPLAT(L_u64, 0));
    L_u64 negative = SEL(as_s64(dif_high) < 0, SPLAT(L_u64, F64_SIGN), SPLAT(L_u64, 0));
    L_u64 neg_low = SPLAT(L_u64, 0) - dif_low, neg_high = SPLAT(L_u64, 0) - dif_high - SEL(dif_low != 0, SPLAT(L_u64, 1), SPLAT(L_u64, 0));
    dif_low = SEL(negative != 0, neg_low, dif_low);
    dif_high = SEL(negative != 0, neg_high, dif_high);
    L_u64 high = SEL(differ != 0, dif_high, sum_high), low = SEL(differ != 0, dif_low, sum_low);
    sign = SEL(differ != 0, sign ^ negative, sign);

    /* Normalise to bit 63 of a single word with a sticky bit. */
    L_u64 cancelled = SEL((high | low) == 0, SPLAT(L_u64, 1), SPLAT(L_u64, 0));
    e = SEL(high == 0, e - 64, e);
    L_u64 top = SEL(high == 0, low, high), below = SEL(high == 0, SPLAT(L_u64, 0), low);
    top = SEL(top == 0, SPLAT(L_u64, 1), top);
    L_u64 normal = top;
    L_s64 shift = u64_normalise(&normal);
    normal |= SEL(shift == 0, SPLAT(L_u64, 0), below >> as_u64((64 - shift) & 63));
    L_u64 tail = below << as_u64(shift);
    normal |= SEL(tail != 0, SPLAT(L_u64, 1), SPLAT(L_u64, 0));
    L_f64 r = f64_pack(sign, e + 1 - shift, normal, rounding);

    L_u64 zero_sign = rounding == PXL_rm ? (sign_p | sign_c) : (sign_p & sign_c);
    r = SEL(cancelled != 0, as_f64(zero_sign), r);
    /* a zero product leaves c, or a signed zero; infinities and NaNs are right in plain arithmetic */
    L_f64 plain = a * b;
    r = SEL(F64_ZERO(a) | F64_ZERO(b), SEL(F64_ZERO(c), as_f64(zero_sign), c), r);
    *d = SEL(F64_FINITE(a) & F64_FINITE(b), SEL(F64_FINITE(c), r, c), plain + c);
}

PXL_INLINE L_f64 f64_fma_exact(L_f64 a, L_f64 b, L_f64 c, enum pxl_rounding rounding)
{
    L_f64 r;
    f64_fma_shared(&r, &a, &b, &c, rounding);
    return r;
}

/* a / b: the quotient of significands in hardware, which need only be within one unit of the last place, set right by
 * the remainder, which fits 64 bits. */
PXL_INLINE L_f64 f64_div_exact(L_f64 a, L_f64 b, enum pxl_rounding rounding)
{
    L_s64 ea, eb;
    L_u64 ma = f64_unpack(a, &ea) >> 11, mb = f64_unpack(b, &eb) >> 11, sign = (as_u64(a) ^ as_u64(b)) & F64_SIGN;
    ea = SEL(ma < mb, ea - 1, ea);
    ma = SEL(ma < mb, ma << 1, ma); /* now the quotient is in [1, 2) */
    L_u64 one = SPLAT(L_u64, 0x3ffull << 52), fraction = SPLAT(L_u64, (1ull << 52) - 1);
    L_f64 fa = as_f64(SEL((ma >> 53) != 0, (one + (1ull << 52)) | ((ma >> 1) & fraction), one | (ma & fraction)));
    /* ma may have 54 bits: its last bit is then 0, for it was just doubled */
    L_f64 fb = as_f64(one | (mb & fraction));
    L_u64 q = as_u64(fa / fb) - (one - (1ull << 52)), zero = SPLAT(L_u64, 0), unit = SPLAT(L_u64, 1); /* 2 and just below 1 included */
    L_s64 rest = as_s64((ma << 52) - q * mb);
    L_u64 down = SEL(rest < 0, unit, zero), up = SEL(rest >= as_s64(mb), unit, zero);
    q = q - down + up;
    L_u64 left = as_u64(rest) + SEL(down != 0, mb, zero) - SEL(up != 0, mb, zero); /* in [0, mb): q is the quotient cut off */
    L_u64 half = SEL((left << 1) >= mb, SPLAT(L_u64, 1u << 10), zero), sticky = SEL((left != 0) & ((left << 1) != mb), unit, zero);
    L_f64 r = f64_pack(sign, ea - eb + 1023, (q << 11) + half + sticky, rounding);
    L_f64 plain = a / b;
    return SEL(F64_FINITE(a) & F64_FINITE(b) & (as_s64(as_u64(a) << 1) != 0) & (as_s64(as_u64(b) << 1) != 0), r, plain);
}

PXL_INLINE L_f64 f64_sqrt_exact(L_f64 a, enum pxl_rounding rounding)
{
    L_s64 e;
    L_u64 m = f64_unpack(a, &e) >> 11, one = SPLAT(L_u64, 0x3ffull << 52), fraction = SPLAT(L_u64, (1ull << 52) - 1);
    L_u64 odd = as_u64(e + 1) & 1; /* the exponent less 1023 is odd */
    L_f64 x = as_f64((one + (odd << 52)) | (m & fraction));
    L_u64 s = (as_u64(__builtin_elementwise_sqrt(x)) & fraction) | (1ull << 52);
    L_s64 rest = as_s64(((m << odd) << 52) - s * s);
    L_u64 significand = (s << 11) + SEL(rest > 0, SPLAT(L_u64, 1), SPLAT(L_u64, 0)) - SEL(rest < 0, SPLAT(L_u64, 1), SPLAT(L_u64, 0));
    L_s64 half = ((e - as_s64(odd) - 1023 + 4096) >> 1) - 2048;
    L_f64 r = f64_pack(SPLAT(L_u64, 0), half + 1023, significand, rounding);
    L_f64 plain = f64_sqrt_nearest(a);
    return SEL((a > SPLAT(L_f64, 0)) & F64_FINITE(a), r, plain);
}

PXL_INLINE L_f64 f64_fma(L_f64 a, L_f64 b, L_f64 c, enum pxl_rounding rounding)
{
#if defined(__FMA__) || defined(__AMDGCN__) || defined(__aarch64__)
    if (rounding == PXL_rn)
        return __builtin_elementwise_fma(a, b, c);
#endif
    return f64_fma_exact(a, b, c, rounding);
}

PXL_INLINE L_f64 f64_add(L_f64 a, L_f64 b, enum pxl_rounding rounding)
{
    return rounding == PXL_rn ? a + b : f64_fma_exact(a, SPLAT(L_f64, 1), b, rounding);
}

PXL_INLINE L_f64 f64_sub(L_f64 a, L_f64 b, enum pxl_rounding rounding)
{
    return rounding == PXL_rn ? a - b : f64_fma_exact(b, SPLAT(L_f64, -1), a, rounding);
}

/* The addend of a product is the zero of its sign, which changes nothing, not even a zero's sign. */
PXL_INLINE L_f64 f64_mul(L_f64 a, L_f64 b, enum pxl_rounding rounding)
{
    L_f64 zero = as_f64((as_u64(a) ^ as_u64(b)) & F64_SIGN);
    return rounding == PXL_rn ? a * b : f64_fma_exact(a, b, zero, rounding);
}

/* On AMD a division is made of the hardware's estimate of 1 / b, Newton's steps and a last correction, which rounds correctly for every
 * divisor but one whose significand is all ones (P. W. Markstein, "Computation of elementary functions on the IBM RISC
 * System/6000 processor", IBM J. Res. Dev. 34, 1990). */
PXL_INLINE L_f64 f64_div(L_f64 a, L_f64 b, enum pxl_rounding rounding)
{
#if defined(__AMDGCN__)
    if (rounding == PXL_rn && (~as_u64(b) & 0xfffffffffffffull) == 0)
        return f64_div_exact(a, b, PXL_rn);
#endif
    return rounding == PXL_rn ? a / b : f64_div_exact(a, b, rounding);
}

PXL_INLINE L_f64 f64_sqrt(L_f64 a, enum pxl_rounding rounding)
{
    return rounding == PXL_rn ? f64_sqrt_nearest(a) : f64_sqrt_exact(a, rounding);
}

#endif
