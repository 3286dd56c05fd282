/* valu_scale.c - gfx950's conversions with a scale: v_cvt_scalef32_….
 *
 * The scale is the exponent of an f32 source: a small number stands for its value times 2^(exponent - 127). Results are
 * rounded once, to nearest even or stochastically; small formats saturate where they have no infinity or NaN. After each number of
 * a stochastic conversion the random word steps as v_prng_b32 does (AMD "Instinct CDNA4 Instruction Set Architecture").
 */
#include <math.h>
#include "runtime/sim/valu.h"

typedef enum scale_wide { WIDE_F32, WIDE_F16, WIDE_BF16 } scale_wide;

/* What an instruction does: n numbers between a wide and a small format. */
typedef struct scale_form {
    const sim_small *small;
    scale_wide wide;
    uint8_t n;
    bool to_small, stochastic, two;      /* two: the wide numbers come alternately from two sources */
} scale_form;

enum { SCALE_TWO = 1 << 8, SCALE_STOCHASTIC = 1 << 9, SCALE_TO_SMALL = 1 << 10, SCALE_WIDE_SHIFT = 12, SCALE_SMALL_SHIFT = 16 };
enum { SMALL_FP8, SMALL_BF8, SMALL_FP6, SMALL_BF6, SMALL_FP4 };

static scale_form form_of(const sim_insn *i)
{
    static const sim_small *const formats[] = { &SIM_FP8_OCP, &SIM_BF8_OCP, &SIM_FP6, &SIM_BF6, &SIM_FP4 };
    const uint32_t a = i->op->aux;
    return (scale_form){ formats[a >> SCALE_SMALL_SHIFT & 7], (scale_wide)(a >> SCALE_WIDE_SHIFT & 3), (uint8_t)a, a & SCALE_TO_SMALL,
                         a & SCALE_STOCHASTIC, a & SCALE_TWO };
}

/* ------------------------------------------------------------ numbers in registers of one lane */

enum { SCALE_WORDS = 32 };

static uint32_t take(const uint32_t *words, uint32_t bit, uint32_t bits)
{
    const uint64_t two = words[bit / 32] | (bit % 32 + bits > 32 ? (uint64_t)words[bit / 32 + 1] << 32 : 0);
    return (uint32_t)(two >> bit % 32) & (bits == 32 ? ~0u : (1u << bits) - 1);
}

static void place(uint32_t *words, uint32_t bit, uint32_t bits, uint32_t value)
{
    for (uint32_t k = 0; k < bits; k++, bit++)
        words[bit / 32] = (words[bit / 32] & ~(1u << bit % 32)) | (value >> k & 1) << bit % 32;
}

static double wide_value(uint32_t x, scale_wide wide)
{
    return (double)(wide == WIDE_F32 ? sim_float(x) : wide == WIDE_F16 ? f16_to_f32(x) : bf16_to_f32(x));
}

static uint32_t wide_bits(const sim_wave *w, double x, scale_wide wide)
{
    if (wide == WIDE_F32) return sim_float_bits((float)x);
    return wide == WIDE_F16 ? f16_round(x, ROUND_NEAREST_EVEN, mode_fp16_clamp(w)) : bf16_round(x, ROUND_NEAREST_EVEN);
}

/* ------------------------------------------------------------ one lane */

typedef struct scale_lane {
    uint32_t a[SCALE_WORDS + 1], b[SCALE_WORDS + 1], d[SCALE_WORDS + 1];
    uint32_t random;
    int exponent;                        /* the scale is 2^exponent */
} scale_lane;

static void lane_to_small(const sim_wave *w, const scale_form *f, scale_lane *x, uint32_t to)
{
    const uint32_t bits = f->wide == WIDE_F32 ? 32 : 16;
    for (uint32_t k = 0; k < f->n; k++) {
        const uint32_t *from = f->two && (k & 1) ? x->b : x->a;
        const double value = wide_value(take(from, (f->two ? k / 2 : k) * bits, bits), f->wide);
        place(x->d, to + k * f->small->bits, f->small->bits,
              sim_small_from(ldexp(value, -x->exponent), f->small, f->stochastic, x->random, mode_fp16_clamp(w)));
        x->random = x->random << 1 ^ (x->random >> 31 ? 197u : 0);
    }
}

static void lane_to_wide(const sim_wave *w, const scale_form *f, scale_lane *x, uint32_t from, uint32_t to)
{
    const uint32_t bits = f->wide == WIDE_F32 ? 32 : 16;
    for (uint32_t k = 0; k < f->n; k++) {
        const double value = (double)sim_small_to_f32(take(x->a, from + k * f->small->bits, f->small->bits), f->small);
        place(x->d, to + k * bits, bits, wide_bits(w, ldexp(value, x->exponent), f->wide));
    }
}

/* ------------------------------------------------------------ the instruction */

static void read_words(sim_wave *w, const sim_operand *o, uint32_t lane, uint32_t *words)
{
    for (uint32_t k = 0; k < o->count && k < SCALE_WORDS; k++)
        words[k] = o->kind == SIM_OP_VGPR || o->kind == SIM_OP_AGPR ? sim_row(w, o, k)[lane] : k ? 0 : sim_read_s32(w, o);
    if (o->count == 1 && o->abs) words[0] &= 0x7fffffffu;
    if (o->count == 1 && o->neg) words[0] ^= 0x80000000u;
}

/* Where op_sel puts the small side: a byte or half of a register. Everything else starts at bit 0. */
static uint32_t small_position(const sim_insn *i, const scale_form *f)
{
    const uint32_t bits = f->n * f->small->bits;
    if (f->n >= 16) return 0;
    if (bits == 8) return (f->to_small ? i->op_sel >> 2 & 3 : i->op_sel & 3) * 8;
    return (f->to_small ? i->op_sel >> (i->noperands - 1) & 1 : i->op_sel & 1) * 16;
}

static void run_scale(sim_wave *w, const sim_insn *i)
{
    const scale_form f = form_of(i);
    const uint32_t scale = i->noperands - 1, at = small_position(i, &f);
    /* A single half goes where op_sel's bit for the result says. */
    const uint32_t to = !f.to_small && f.n == 1 && f.wide != WIDE_F32 && (i->op_sel >> 2 & 1) ? 16 : 0;
    const sim_operand *d = &i->operands[0];
    for (uint64_t m = valu_exec(w, i); m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctzll(m);
        uint32_t word[SCALE_WORDS + 1];
        scale_lane x = { .random = 0 };
        read_words(w, &i->operands[1], l, x.a);
        if (f.two) read_words(w, &i->operands[2], l, x.b);
        if (f.stochastic) {
            read_words(w, &i->operands[2], l, word);
            x.random = word[0];
        }
        read_words(w, &i->operands[scale], l, word);
        x.exponent = (int)(word[0] >> 23 & 0xff) - 127;
        for (uint32_t k = 0; k < d->count && k < SCALE_WORDS; k++)
            x.d[k] = sim_row(w, d, k)[l];
        if (f.to_small) lane_to_small(w, &f, &x, at);
        else lane_to_wide(w, &f, &x, at, to);
        for (uint32_t k = 0; k < d->count && k < SCALE_WORDS; k++)
            sim_row(w, d, k)[l] = x.d[k];
    }
}

/* ------------------------------------------------------------ table */

#define AUX(small, wide, n) ((n) | (uint32_t)(wide) << SCALE_WIDE_SHIFT | (uint32_t)(small) << SCALE_SMALL_SHIFT)
#define SCALE(name, aux, ...) { "v_cvt_scalef32_" name, run_scale, SIM_CLASS_VALU, { __VA_ARGS__ }, aux, SIM_GFX9, SIM_GFX9 },
#define FOR_WIDE(X, ...) X("f32", WIDE_F32, __VA_ARGS__) X("f16", WIDE_F16, __VA_ARGS__) X("bf16", WIDE_BF16, __VA_ARGS__)

#define TO_WIDE_1(wname, W, sname, S) SCALE(wname "_" sname, AUX(S, W, 1), T_WIDE, T_B32, T_F32)
#define TO_WIDE_2(wname, W, sname, S) SCALE("pk_" wname "_" sname, AUX(S, W, 2), T_WIDE, T_B32, T_F32)
#define TO_WIDE_32(wname, W, sname, S) SCALE("pk32_" wname "_" sname, AUX(S, W, 32), T_WIDE, T_WIDE, T_F32)
/* Of f32 the pair comes from two sources. */
#define TO_SMALL_2(sname, S)                                                                                          \
    SCALE("pk_" sname "_f32", AUX(S, WIDE_F32, 2) | SCALE_TO_SMALL | SCALE_TWO, T_B32, T_F32, T_F32, T_F32)           \
    SCALE("pk_" sname "_f16", AUX(S, WIDE_F16, 2) | SCALE_TO_SMALL, T_B32, T_PK_F16, T_F32)                           \
    SCALE("pk_" sname "_bf16", AUX(S, WIDE_BF16, 2) | SCALE_TO_SMALL, T_B32, T_PK_BF16, T_F32)
#define STOCHASTIC_1(wname, W, sname, S) SCALE("sr_" sname "_" wname, AUX(S, W, 1) | SCALE_TO_SMALL | SCALE_STOCHASTIC, T_B32, T_B32, T_B32, T_F32)
#define STOCHASTIC_2(wname, W, sname, S) SCALE("sr_pk_" sname "_" wname, AUX(S, W, 2) | SCALE_TO_SMALL | SCALE_STOCHASTIC, T_B32, T_WIDE, T_B32, T_F32)
#define STOCHASTIC_32(wname, W, sname, S) SCALE("sr_pk32_" sname "_" wname, AUX(S, W, 32) | SCALE_TO_SMALL | SCALE_STOCHASTIC, T_WIDE, T_WIDE, T_B32, T_F32)
#define TO_SMALL_32(sname, S)                                                                                         \
    SCALE("2xpk16_" sname "_f32", AUX(S, WIDE_F32, 32) | SCALE_TO_SMALL | SCALE_TWO, T_WIDE, T_WIDE, T_WIDE, T_F32)   \
    SCALE("pk32_" sname "_f16", AUX(S, WIDE_F16, 32) | SCALE_TO_SMALL, T_WIDE, T_WIDE, T_F32)                         \
    SCALE("pk32_" sname "_bf16", AUX(S, WIDE_BF16, 32) | SCALE_TO_SMALL, T_WIDE, T_WIDE, T_F32)

const sim_op sim_valu_scale_ops[] = {
    FOR_WIDE(TO_WIDE_1, "fp8", SMALL_FP8) FOR_WIDE(TO_WIDE_1, "bf8", SMALL_BF8)
    FOR_WIDE(TO_WIDE_2, "fp8", SMALL_FP8) FOR_WIDE(TO_WIDE_2, "bf8", SMALL_BF8) FOR_WIDE(TO_WIDE_2, "fp4", SMALL_FP4)
    FOR_WIDE(TO_WIDE_32, "fp6", SMALL_FP6) FOR_WIDE(TO_WIDE_32, "bf6", SMALL_BF6)
    TO_SMALL_2("fp8", SMALL_FP8) TO_SMALL_2("bf8", SMALL_BF8) TO_SMALL_2("fp4", SMALL_FP4)
    TO_SMALL_32("fp6", SMALL_FP6) TO_SMALL_32("bf6", SMALL_BF6)
    FOR_WIDE(STOCHASTIC_1, "fp8", SMALL_FP8) FOR_WIDE(STOCHASTIC_1, "bf8", SMALL_BF8)
    FOR_WIDE(STOCHASTIC_2, "fp4", SMALL_FP4)
    FOR_WIDE(STOCHASTIC_32, "fp6", SMALL_FP6) FOR_WIDE(STOCHASTIC_32, "bf6", SMALL_BF6)
    { 0 },
};
