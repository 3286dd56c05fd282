/* mma_inputs.c - matrices that tell rounding models apart. */
#include "conformance/conform.h"

#include <string.h>
#include "conformance/mma_inputs.h"

/* Random matrices of one character, as a warp's fragments. Independent operands of every bit pattern would nearly always
 * hold a NaN; so each product has a theme. */
typedef enum theme { ANY_FINITE, NEAR_ONE, HUGE_AND_TINY, CANCELLING, SUBNORMAL, SPECIAL, FEW_BITS, LOW_A, LOW_B, LOW_ALL, THEMES } theme;

static const char *format_name(ref_mma_type t)
{
    switch (t) {
    case REF_E4M3: return "e4m3";
    case REF_E5M2: return "e5m2";
    case REF_F16: return "f16";
    case REF_BF16: return "bf16";
    case REF_TF32: return "tf32";
    case REF_F32: return "f32";
    case REF_F64: return "f64";
    case REF_E3M2: return "e3m2";
    case REF_E2M3: return "e2m3";
    case REF_E2M1: case REF_E2M1X2: return "e2m1";
    default: return NULL;
    }
}

static int integer_bits(ref_mma_type t)
{
    return t == REF_S32 ? 32 : t == REF_U8 || t == REF_S8 ? 8 : t == REF_B1 ? 1 : 4;
}

static uint64_t integer(ref_mma_type t, theme m, conform_random *r)
{
    const int bits = integer_bits(t);
    const uint64_t mask = (1ull << bits) - 1, any = conform_next(r) & mask, top = mask ^ mask >> 1;
    if (m == HUGE_AND_TINY || m == SPECIAL)          /* extremes: sums overflow where they can */
        return conform_next(r) & 1 ? top - (conform_next(r) & 1) : mask * (conform_next(r) & 1);
    return m == NEAR_ONE ? any >> conform_below(r, (uint32_t)bits) : any;
}

/* A finite code with an exponent field from `low` to `high` (clipped to the format). */
static uint64_t with_exponent(const ref_format *f, int low, int high, conform_random *r)
{
    const int most = (int)(f->largest >> f->fraction);
    low = low < 0 ? 0 : low > most ? most : low;
    high = high < low ? low : high > most ? most : high;
    const uint64_t field = (uint64_t)(low + (int)conform_below(r, (uint32_t)(high - low + 1)));
    uint64_t code = field << f->fraction | (conform_next(r) & ((1ull << f->fraction) - 1));
    if (code > f->largest)
        code = f->largest;
    return code | (conform_next(r) & 1) << (f->exponent + f->fraction);
}

static uint64_t floating(const ref_format *f, theme m, ref_mma_matrix which, conform_random *r)
{
    const bool addend = which == REF_MATRIX_C;
    const int bias = f->bias, most = (int)(f->largest >> f->fraction);
    switch (m) {
    case NEAR_ONE: return with_exponent(f, bias - 2, bias + 2, r);
    case HUGE_AND_TINY: return conform_below(r, 12) ? with_exponent(f, 0, bias / 2, r) : with_exponent(f, most - 3, most, r);
    case CANCELLING: return addend ? with_exponent(f, bias + 2, bias + 9, r) : with_exponent(f, bias - 1, bias + 3, r);
    case SUBNORMAL: return with_exponent(f, 0, conform_below(r, 4) ? 1 : bias, r);
    case SPECIAL:
        if (conform_below(r, 100))
            return with_exponent(f, bias - 3, bias + 3, r);
        return conform_next(r) & ((2ull << (f->exponent + f->fraction)) - 1);
    case FEW_BITS: return with_exponent(f, bias - 4, bias + 4, r) & ~((1ull << (f->fraction - f->fraction / 3)) - 1);
    /* The least exponents, on both sides of the least normal number, meet all others: that of a subnormal decides what is cut. */
    case LOW_A: case LOW_B: case LOW_ALL:
        if (addend || m == LOW_ALL || which == (m == LOW_A ? REF_MATRIX_A : REF_MATRIX_B))
            return with_exponent(f, 0, 2, r);
        return with_exponent(f, 0, most, r);
    default: return with_exponent(f, 0, most, r);
    }
}

uint64_t conform_mma_element(ref_mma_type t, int m, ref_mma_matrix which, conform_random *r)
{
    const char *name = format_name(t);
    if (!name)
        return integer(t, (theme)m, r);
    const ref_format *f = ref_find_format(name, (int)strlen(name));
    uint64_t code = floating(f, (theme)m, which, r);
    /* tf32 uses the upper 19 bits of a register, and ignores the others: some of them are set. */
    if (t == REF_TF32)
        return code << 13 | (conform_next(r) & 0x1fff);
    /* What pads a byte is not looked at either. */
    if (t == REF_E2M1)
        return code << 2 | (conform_next(r) & 0xc3);
    return t == REF_E3M2 || t == REF_E2M3 ? code | (conform_next(r) & 0xc0) : code;
}

int conform_mma_themes(void)
{
    return THEMES;
}

static int element_bits(ref_mma_type t)
{
    switch (t) {
    case REF_E4M3: case REF_E5M2: case REF_E3M2: case REF_E2M3: case REF_E2M1: return 8;
    case REF_E2M1X2: return 4;
    case REF_F16: case REF_BF16: return 16;
    case REF_TF32: case REF_F32: return 32;
    case REF_F64: return 64;
    default: return integer_bits(t);
    }
}

static uint32_t fill(const ref_mma_shape *s, ref_mma_matrix which, ref_mma_type type, int m, conform_random *r,
                     uint64_t (*registers)[CONFORM_LANES])
{
    const uint32_t n = (uint32_t)ref_mma_registers(s, which, false), per = (uint32_t)ref_mma_per_register(s, which, false);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t lane = 0; lane < CONFORM_LANES; lane++) {
            registers[k][lane] = 0;
            for (uint32_t i = 0; i < per; i++)
                registers[k][lane] |= conform_mma_element(type, m, which, r) << (i * (uint32_t)element_bits(type));
        }
    return n;
}

/* Metadata that the ISA gives a meaning, with `ordered` only rising indices. */
static uint32_t metadata(const ref_mma_shape *s, bool ordered, conform_random *r)
{
    static const uint8_t rising[] = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};
    uint32_t word = 0;
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t pair = rising[conform_below(r, 6)], chosen = s->a == REF_TF32 ? (conform_next(r) & 1 ? 0xe : 0x4) : pair;
        const bool turn = !ordered && s->a != REF_TF32 && conform_next(r) & 1;
        word |= (turn ? chosen >> 2 | (chosen & 3) << 2 : chosen) << 4 * i;
    }
    return word;
}

/* Scales near one another, so that a product does not drown the others; wild ones, NaN among them, in two of the themes. */
static uint32_t scales(const ref_mma_shape *s, int m, conform_random *r)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t near = s->ue4m3 ? 0x30 + conform_below(r, 16) : 120 + conform_below(r, 14), any = (uint32_t)conform_next(r) & 255;
        const uint32_t finite = any == 255 || (s->ue4m3 && any == 127) ? 1 : any;
        const uint32_t wild = m == SPECIAL && conform_below(r, 200) == 0 ? 255 : finite;
        word |= (m == SPECIAL || m == HUGE_AND_TINY || conform_below(r, 40) == 0 ? wild : near) << 8 * i;
    }
    return word;
}

static void fill_selectors(const ref_mma_shape *s, conform_random *r, bool a, uint64_t (*registers)[CONFORM_LANES])
{
    const uint32_t byte = s->scales == 1 ? conform_below(r, 4) : s->scales == 2 ? 2 * conform_below(r, 2) : 0, thread = conform_below(r, a ? 2 : 4);
    for (uint32_t lane = 0; lane < CONFORM_LANES; lane++) {
        registers[0][lane] = byte;
        registers[1][lane] = thread;
    }
}

void conform_mma_warp(const ref_mma_shape *s, int m, bool ordered, conform_random *r, uint64_t (*registers)[CONFORM_LANES])
{
    registers += fill(s, REF_MATRIX_A, s->a, m, r, registers);
    registers += fill(s, REF_MATRIX_B, s->b, m, r, registers);
    registers += fill(s, REF_MATRIX_C, s->c, m, r, registers);
    for (uint32_t lane = 0; s->sparse && lane < CONFORM_LANES; lane++)
        registers[0][lane] = metadata(s, ordered, r);
    registers += s->sparse;
    for (int side = 0; side < 2 && s->scales; side++) {
        for (uint32_t lane = 0; lane < CONFORM_LANES; lane++)
            registers[0][lane] = scales(s, m, r);
        fill_selectors(s, r, side == 0, registers + 1);
        registers += 3;
    }
}
