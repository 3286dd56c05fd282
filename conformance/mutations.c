/* mutations.c - see mutations.h.
 *
 * A mutation of a meaning replaces its handler on the CPU device: by the handler of another meaning with the same
 * operands (a dropped modifier, a wrong type), or by one that spoils what the right handler reads or gives. A mutation of an operation,
 * which devices write themselves, gives the device another instruction in place of a case's own: any device can be tried so.
 */
#include "conformance/mutations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/cpu.h"
#include "runtime/device.h"

typedef uint32_t word __attribute__((may_alias));
typedef uint16_t half __attribute__((may_alias));

/* The handler that the spoilers below wrap. One mutation is planted at a time. */
static cpu_meaning_fn original;

/* ------------------------------------------------------------ spoilers: r + o[i] is element i's slot (ptx/lib/README.md) */

/* Lane 17 is one too large. */
static void add_one_in_a_lane(char *r, const uint32_t *o)
{
    original(r, o);
    ((word *)(r + o[0]))[17]++;
}

static void swap_neighbours(char *r, const uint32_t *o)
{
    original(r, o);
    word *d = (word *)(r + o[0]);
    for (int i = 0; i < 32; i += 2) {
        word t = d[i];
        d[i] = d[i + 1];
        d[i + 1] = t;
    }
}

static void swap_halves(char *r, const uint32_t *o)
{
    original(r, o);
    word *d = (word *)(r + o[0]);
    for (int i = 0; i < 32; i++)
        d[i] = d[i] >> 16 | d[i] << 16;
}

/* -0 becomes +0. */
static void lose_minus_zero(char *r, const uint32_t *o)
{
    original(r, o);
    word *d = (word *)(r + o[0]);
    for (int i = 0; i < 32; i++)
        if (d[i] == 0x80000000)
            d[i] = 0;
}

/* Another NaN than the ISA's. */
static void other_nan(char *r, const uint32_t *o)
{
    original(r, o);
    word *d = (word *)(r + o[0]);
    for (int i = 0; i < 32; i++)
        if ((d[i] & 0x7fffffff) > 0x7f800000)
            d[i] = 0x7fc00000;
}

/* Runs the handler over a changed source; `o` names the slot, which is restored. */
static void with_source(char *r, const uint32_t *o, uint32_t element, void (*change)(word *))
{
    word kept[32], *s = (word *)(r + o[element]);
    memcpy(kept, s, sizeof kept);
    change(s);
    original(r, o);
    if (o[element] != o[0])
        memcpy(s, kept, sizeof kept);
}

static void increment(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i]++;
}

static void keep_low_half(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] &= 0xffff;
}

static void clear_words(word *s) { memset(s, 0, 128); }

static void clear_low_bit(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] &= ~1u;
}

static void shift_by_one_more(char *r, const uint32_t *o) { with_source(r, o, 2, increment); }
static void half_the_mask(char *r, const uint32_t *o) { with_source(r, o, 2, keep_low_half); }
static void half_the_shuffle_mask(char *r, const uint32_t *o) { with_source(r, o, 3, increment); }
static void drop_last_bit_of_addend(char *r, const uint32_t *o) { with_source(r, o, 3, clear_low_bit); }

/* A hidden carry that is never set; predicates are one word of lane bits. */
static void no_carry(char *r, const uint32_t *o)
{
    word *carry = (word *)(r + o[3]), kept = *carry;
    *carry = 0;
    original(r, o);
    if (o[3] != o[4])
        *carry = kept;
}

/* mma_m16n8k32 with f16 results: d0 d1 a0…a3 b0 b1 c0 c1 model. */
static void drop_k_step(char *r, const uint32_t *o) { with_source(r, o, 5, clear_words); }

static void permute_rows(char *r, const uint32_t *o)
{
    uint32_t changed[11];
    memcpy(changed, o, sizeof changed);
    changed[0] = o[1];
    changed[1] = o[0];
    original(r, changed);
}

static void swap_columns(char *r, const uint32_t *o)
{
    uint32_t changed[11];
    memcpy(changed, o, sizeof changed);
    changed[6] = o[7];
    changed[7] = o[6];
    original(r, changed);
}

static void wrong_model(char *r, const uint32_t *o)
{
    uint32_t changed[11];
    memcpy(changed, o, sizeof changed);
    changed[10] = PXB_MMA_IEEE;
    original(r, changed);
}

/* Sparse with 19 elements: the selector is before the model. */
static void other_threads_metadata(char *r, const uint32_t *o)
{
    uint32_t changed[19];
    memcpy(changed, o, sizeof changed);
    changed[17] ^= 1;
    original(r, changed);
}

/* mma_mxf8f6f4_m16n8k32: four of d, a and c, two of b, then scales of A and of B, each with two selectors. */
static void exchange_scales(char *r, const uint32_t *o)
{
    uint32_t changed[21];
    memcpy(changed, o, sizeof changed);
    changed[14] = o[17];
    changed[17] = o[14];
    original(r, changed);
}

/* lop3: the table's last bit flipped. */
static void wrong_table(char *r, const uint32_t *o)
{
    uint32_t changed[5];
    memcpy(changed, o, sizeof changed);
    changed[4] ^= 1;
    original(r, changed);
}

/* wmma of f32 accumulators: eight registers of each matrix, then the model. */
static void wrong_wmma_model(char *r, const uint32_t *o)
{
    uint32_t changed[33];
    memcpy(changed, o, sizeof changed);
    changed[32] = PXB_MMA_IEEE;
    original(r, changed);
}

/* tex.v4: the last component. */
static void lose_fourth(char *r, const uint32_t *o)
{
    original(r, o);
    memset(r + o[3], 0, 128);
}

static void add_four(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] += 4;
}

/* Behind the handle: x of suld (which has a result), y of sust. */
static void next_texel(char *r, const uint32_t *o) { with_source(r, o, 2, add_four); }
static void next_row(char *r, const uint32_t *o) { with_source(r, o, 2, increment); }

/* The layer of an array; a coordinate that loses its sign; a level of detail without its fraction. */
static void next_layer(char *r, const uint32_t *o) { with_source(r, o, 5, increment); }

static void clear_signs(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] &= 0x7fffffff;
}

static void cut_to_power_of_two(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] &= 0xff800000;
}

static void x_without_sign(char *r, const uint32_t *o) { with_source(r, o, 5, clear_signs); }
static void z_without_sign(char *r, const uint32_t *o) { with_source(r, o, 7, clear_signs); }
static void level_without_fraction(char *r, const uint32_t *o) { with_source(r, o, 7, cut_to_power_of_two); }

/* Of tex.grad.2d: handle, x, y, the two gradients, lanes. */
static void first_gradient_twice(char *r, const uint32_t *o)
{
    uint32_t changed[12];
    memcpy(changed, o, sizeof changed);
    changed[9] = o[7];
    changed[10] = o[8];
    original(r, changed);
}

/* Of a mma_sp like that of other_threads_metadata: the two indices of each chunk. */
static void exchange_indices(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] = (s[i] & 0x33333333) << 2 | (s[i] >> 2 & 0x33333333);
}

static void wrong_order_of_metadata(char *r, const uint32_t *o) { with_source(r, o, 16, exchange_indices); }

/* Of the scaled products like that of exchange_scales. Selectors are halves: the words are those of two lanes. */
static void clear_halves(word *s) { memset(s, 0, 64); }

static void rotate_bytes(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] = s[i] << 8 | s[i] >> 24;
}

static void first_byte_of_scales(char *r, const uint32_t *o) { with_source(r, o, 15, clear_halves); }
static void first_thread_of_scales(char *r, const uint32_t *o) { with_source(r, o, 16, clear_halves); }
static void neighbours_scale(char *r, const uint32_t *o) { with_source(r, o, 14, rotate_bytes); }

static void copy_lower_half(char *r, const uint32_t *o)
{
    original(r, o);
    word *d = (word *)(r + o[0]);
    for (int i = 0; i < 32; i++)
        d[i] = (d[i] & 0xffff) * 0x10001u;
}

static void clear_sign_of_selectors(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] &= ~0x8888u;
}

static void keep_five_bits(word *s)
{
    for (int i = 0; i < 32; i++)
        s[i] &= 31;
}

static void no_replicated_signs(char *r, const uint32_t *o) { with_source(r, o, 3, clear_sign_of_selectors); }
static void shift_wraps(char *r, const uint32_t *o) { with_source(r, o, 2, keep_five_bits); }
static void no_random_bits(char *r, const uint32_t *o) { with_source(r, o, 3, clear_words); }

/* By way of f32. */
static void round_twice(char *r, const uint32_t *o)
{
    double kept[32], *s = (double *)(r + o[1]);
    memcpy(kept, s, sizeof kept);
    for (int i = 0; i < 32; i++)
        s[i] = (double)(float)s[i];
    original(r, o);
    memcpy(s, kept, sizeof kept);
}

/* ------------------------------------------------------------ the list */

typedef struct mutation {
    const char *name, *meaning;
    const char *instead;                 /* another meaning, or NULL */
    cpu_meaning_fn spoiler;
} mutation;

static const mutation mutations[] = {
    {"dropped .sat", "add_rn_sat_f32", "add_rn_f32", NULL},
    {"dropped .sat of an integer sum", "add_sat_s32", "add_s32", NULL},
    {"dropped .ftz", "mul_rn_ftz_f32", "mul_rn_f32", NULL},
    {"flush that nobody asked for", "add_rn_f32", "add_rn_ftz_f32", NULL},
    {"rounding up for rounding to nearest", "add_rn_f64", "add_rp_f64", NULL},
    {"rounding to nearest for rounding down", "fma_rm_f32", "fma_rn_f32", NULL},
    {"rounding to nearest for rounding to zero", "cvt_rz_f16_f32", "cvt_rn_f16_f32", NULL},
    {"ties to even for truncation to an integer", "cvt_rzi_s32_f32", "cvt_rni_s32_f32", NULL},
    {"dropped .relu", "fma_rn_relu_f16", "fma_rn_f16", NULL},
    {"dropped .relu of an fp8 conversion", "cvt_rn_satfinite_relu_e4m3x2_f32", "cvt_rn_satfinite_e4m3x2_f32", NULL},
    {"e5m2 for e4m3", "cvt_rn_satfinite_e4m3x2_f16x2", "cvt_rn_satfinite_e5m2x2_f16x2", NULL},
    {"NaN lost by minimum", "min_nan_f32", "min_f32", NULL},
    {"NaN won by maximum", "max_f32", "max_nan_f32", NULL},
    {"another NaN", "add_rn_ftz_f32", NULL, other_nan},
    {"minus zero lost", "neg_f32", NULL, lose_minus_zero},
    {"logical for arithmetic shift", "shr_s32", "shr_u32", NULL},
    {"a shift by one too many", "shl_b32", NULL, shift_by_one_more},
    {"wrap for clamp of a funnel shift", "shf_l_clamp_b32", "shf_l_wrap_b32", NULL},
    {"signed for unsigned high product", "mul_hi_u32", "mul_hi_s32", NULL},
    {"unsigned for signed quotient", "div_s32", "div_u32", NULL},
    {"bit field not sign-extended", "bfe_s32", "bfe_u32", NULL},
    {"carry forgotten", "addc_cc_u32", NULL, no_carry},
    {"one too many in one lane", "popc_b32", NULL, add_one_in_a_lane},
    {"a logic table with a wrong bit", "lop3_b32", NULL, wrong_table},
    {"byte permutation in another mode", "prmt_f4e_b32", "prmt_b4e_b32", NULL},
    {"unsigned for signed bytes", "dp4a_s32_s32", "dp4a_s32_u32", NULL},
    {"addend's last bit lost", "dp4a_u32_u32", NULL, drop_last_bit_of_addend},
    {"dropped .sat of a video instruction", "vadd_s32_s32_s32_sat", "vadd_s32_s32_s32", NULL},
    {"less for less or equal", "setp_le_f32", "setp_lt_f32", NULL},
    {"ordered for unordered comparison", "setp_ltu_f32", "setp_lt_f32", NULL},
    {"halves exchanged", "add_rn_f16x2", NULL, swap_halves},
    {"fused for separate rounding", "mul_rn_bf16x2", "mul_rn_f16x2", NULL},
    {"neighbouring lanes exchanged", "movmatrix_m8n8_trans_b16", NULL, swap_neighbours},
    {"shuffle down for up", "shfl_up_b32", "shfl_down_b32", NULL},
    {"a shuffle's clamp off by one", "shfl_down_b32", NULL, half_the_shuffle_mask},
    {"any for all", "vote_all_pred", "vote_any_pred", NULL},
    {"half of the mask ignored", "redux_add_s32", NULL, half_the_mask},
    {"signed for unsigned reduction", "redux_min_u32", "redux_min_s32", NULL},
    {"sine for cosine", "cos_approx_f32", "sin_approx_f32", NULL},
    {"dropped .ftz of an approximate function", "rcp_approx_ftz_f32", "rcp_approx_f32", NULL},
    {"a k-step dropped", "mma_m16n8k32_f16_e4m3_e4m3_f16", NULL, drop_k_step},
    {"rows permuted", "mma_m16n8k32_f16_e4m3_e4m3_f16", NULL, permute_rows},
    {"columns of B exchanged", "mma_m16n8k32_f16_e4m3_e4m3_f16", NULL, swap_columns},
    {"another accumulation model", "mma_m16n8k32_f16_e4m3_e5m2_f16", NULL, wrong_model},
    {"B's type for A", "mma_m16n8k32_f16_e4m3_e5m2_f16", "mma_m16n8k32_f16_e5m2_e5m2_f16", NULL},
    {"dropped .satfinite", "mma_m16n8k32_satfinite_s32_s8_s8_s32", "mma_m16n8k32_s32_s8_s8_s32", NULL},
    {"metadata of the other threads", "mma_sp_m16n8k32_f32_f16_f16_f32", NULL, other_threads_metadata},
    {"e2m3 for e3m2", "mma_f8f6f4_m16n8k32_f16_e3m2_e2m1_f16", "mma_f8f6f4_m16n8k32_f16_e2m3_e2m1_f16", NULL},
    {"scales of A and B exchanged", "mma_mxf8f6f4_m16n8k32_f32_e4m3_e2m3_f32_ue8m0", NULL, exchange_scales},
    {"scales without significands", "mma_mxf4nvf4_m16n8k64_4x_f32_e2m1_e2m1_f32_ue4m3", "mma_mxf4nvf4_m16n8k64_4x_f32_e2m1_e2m1_f32_ue8m0", NULL},
    {"another accumulation model of wmma", "wmma_m16n16k16_f32_f32", NULL, wrong_wmma_model},
    {"halves of a wmma result exchanged", "wmma_m16n16k16_f16_f16", NULL, swap_halves},
    {"saturation that nobody asked for", "wmma_m16n16k16_s32_s8_s8_s32", "wmma_m16n16k16_satfinite_s32_s8_s8_s32", NULL},
    {"neighbouring lanes' samples exchanged", "tex_2d_v4_f32_f32", NULL, swap_neighbours},
    {"the fourth component lost", "tex_3d_v4_f32_f32", NULL, lose_fourth},
    {"height for width", "txq_width_b32", "txq_height_b32", NULL},
    {"a surface load of the next texel", "suld_b_b32", NULL, next_texel},
    {"a surface store one row too low", "sust_b_b8", NULL, next_row},
    {"f16 for bf16 of a packed sum", "fma_rn_bf16x2", "fma_rn_f16x2", NULL},
    {"upper half a copy of the lower", "fma_rn_f16x2", NULL, copy_lower_half},
    {"dropped .ftz of halves", "mul_rn_ftz_f16x2", "mul_rn_f16x2", NULL},
    {"rounded twice", "cvt_rn_f16_f64", NULL, round_twice},
    {"ties to even for ties away", "cvt_rna_tf32_f32", "cvt_rn_tf32_f32", NULL},
    {"a scale rounded down for up", "cvt_rp_ue8m0x2_f32", "cvt_rz_ue8m0x2_f32", NULL},
    {"random bits ignored", "cvt_rs_f16x2_f32", NULL, no_random_bits},
    {"NaN lost by a reduction", "redux_min_nan_f32", "redux_min_f32", NULL},
    {"sign of a maximum not of both", "max_xorsign_abs_f32", "max_f32", NULL},
    {"a shift that wraps", "shr_u32", NULL, shift_wraps},
    {"signs not replicated by a byte permutation", "prmt_b32", NULL, no_replicated_signs},
    {"position for shift amount", "bfind_shiftamt_u32", "bfind_u32", NULL},
    {"lower for upper halves", "dp2a_hi_u32_u32", "dp2a_lo_u32_u32", NULL},
    {"dropped .sat of packed video bytes", "vadd4_s32_s32_s32_sat", "vadd4_s32_s32_s32", NULL},
    {"sparse indices exchanged", "mma_sp_m16n8k32_f32_f16_f16_f32", NULL, wrong_order_of_metadata},
    {"byte selector of scales ignored", "mma_mxf8f6f4_m16n8k32_f32_e4m3_e2m3_f32_ue8m0", NULL, first_byte_of_scales},
    {"thread selector of scales ignored", "mma_mxf8f6f4_m16n8k32_f32_e4m3_e2m3_f32_ue8m0", NULL, first_thread_of_scales},
    {"scales of the next group", "mma_mxf4nvf4_m16n8k64_4x_f32_e2m1_e2m1_f32_ue4m3", NULL, neighbours_scale},
    {"dropped .satfinite of wmma", "wmma_m16n16k16_satfinite_f16_f16", "wmma_m16n16k16_f16_f16", NULL},
    {"rounding to nearest for rounding to zero of a matrix product", "wmma_m8n8k4_rz_f64_f64_f64_f64", "wmma_m8n8k4_rn_f64_f64_f64_f64", NULL},
    {"a coordinate without its sign", "tex_2d_v4_f32_f32", NULL, x_without_sign},
    {"the next layer", "tex_a2d_v4_f32_f32", NULL, next_layer},
    {"the opposite face of a cube", "tex_cube_v4_f32_f32", NULL, z_without_sign},
    {"level of detail without its fraction", "tex_level_2d_v4_f32_f32", NULL, level_without_fraction},
    {"the second gradient ignored", "tex_grad_2d_v4_f32_f32", NULL, first_gradient_twice},
};

/* Another instruction in the text of one case. */
typedef struct substitution {
    const char *name, *of, *from, *to;
} substitution;

static const substitution substitutions[] = {
    {"zero for sign extension of a load", "ld.global.s8", "ld.global.s8", "ld.global.u8"},
    {"no wrap of an incremented counter", "atom.inc.u32 to global", "atom.inc.u32", "atom.add.u32"},
    {"no wrap of a decremented counter", "atom.dec.u32 to shared", "atom.dec.u32", "atom.inc.u32"},
    {"signed for unsigned minimum in memory", "atom.min.u32 to global", "atom.min.u32", "atom.min.s32"},
    {"zeros for the edge of a surface", "suld.b.1d.b32.clamp", ".clamp", ".zero"},
    {"a store at the edge for none", "sust.b.2d.b32.zero", ".zero", ".clamp"},
    {"dropped .trans of a matrix load", "ldmatrix.x4.trans (snippet)", ".trans", ""},
    {"a matrix stored transposed", "stmatrix.x2 (snippet)", "stmatrix.sync.aligned.m8n8.x2", "stmatrix.sync.aligned.m8n8.x2.trans"},
    {"columns for rows of a wmma load", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "wmma.load.a.sync.aligned.row", "wmma.load.a.sync.aligned.col"},
    {"no zeros behind what is copied", "cp.async.zfill (snippet)", ", 16, 8;", ", 16, 16;"},
    {"the other phase of an mbarrier", "mbarrier.parity (snippet)", "%a;", "%n;"},
    {"any for all threads of a block", "bar.red (snippet)", "bar.red.and.pred", "bar.red.or.pred"},
    {"local for global memory", "isspacep (snippet)", "isspacep.global", "isspacep.local"},
};

enum { MEANINGS = sizeof mutations / sizeof *mutations, SUBSTITUTIONS = sizeof substitutions / sizeof *substitutions };

uint32_t conform_mutation_count(void)
{
    return MEANINGS + SUBSTITUTIONS;
}

/* ------------------------------------------------------------ planting */

static pxb_status plant(void *user, pxb_device *device)
{
    const mutation *m = user;
    cpu_device *cpu = rt_device_cpu_engine(device);
    const uint32_t id = isa_meaning_id(m->meaning), other = m->instead ? isa_meaning_id(m->instead) : 0;
    if (!cpu || !id || (m->instead && !other))
        return rt_fail(device->context, PXB_INTERNAL, "mutation \"%s\" names an unknown meaning", m->name);
    original = cpu_meaning(cpu, id);
    if (!cpu_replace_meaning(cpu, id, other ? cpu_meaning(cpu, other) : m->spoiler))
        return rt_no_memory(device->context);
    return PXB_OK;
}

static bool substitute(void *user, char **text)
{
    const substitution *x = user;
    /* The name of the case stands before. */
    char *entry = strstr(*text, ".visible .entry"), *at = entry ? strstr(entry, x->from) : NULL, *more = at ? malloc(strlen(*text) + strlen(x->to) + 1) : NULL;
    if (!more)
        return false;
    const size_t before = (size_t)(at - *text);
    memcpy(more, *text, before);
    strcpy(stpcpy(more + before, x->to), at + strlen(x->from));
    free(*text);
    *text = more;
    return true;
}

/* The cases of one meaning or, where there is none, of one name, out of all. */
static bool cases_of(const char *meaning, const char *name, conform_list *out)
{
    char why[100];
    uint32_t n = 0;
    if (!conform_expand(NULL, out, why, sizeof why))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        if (!strcmp(meaning ? out->cases[i].meaning : out->cases[i].name, meaning ? meaning : name))
            out->cases[n++] = out->cases[i];
    out->count = n;
    return true;
}

bool conform_mutation_is_for(uint32_t index, const char *device)
{
    return index >= MEANINGS || !device || !strcmp(device, "cpu");
}

pxb_status conform_mutation_run(pxb_context *ctx, uint32_t index, const char *device, conform_mutation_result *out)
{
    const bool planted = index < MEANINGS;
    mutation m = planted ? mutations[index] : (mutation){0};
    substitution x = planted ? (substitution){0} : substitutions[index - MEANINGS];
    conform_options options = {.device = device, .prepare = planted ? plant : NULL, .prepare_user = &m, .rewrite = planted ? NULL : substitute, .rewrite_user = &x};
    conform_list list;
    uint32_t count = 0;
    memset(out, 0, sizeof *out);
    out->name = planted ? m.name : x.name;
    out->meaning = planted ? m.meaning : x.of;
    if (!cases_of(m.meaning, x.of, &list))
        return rt_no_memory(ctx);
    conform_result *results = calloc(list.count + 1, sizeof *results);
    pxb_status status = !results ? rt_no_memory(ctx) : list.count ? conform_run(ctx, &list, &options, results, &count)
                      : rt_fail(ctx, PXB_INTERNAL, "mutation \"%s\" is of a case that there is not", out->name);
    for (uint32_t i = 0; !status && i < count && !out->found; i++)
        if (results[i].verdict == CONFORM_FAILED) {
            out->found = true;
            snprintf(out->found_by, sizeof out->found_by, "%s", results[i].c->name);
            snprintf(out->message, sizeof out->message, "%s", results[i].message);
        } else if (results[i].verdict == CONFORM_BROKEN) {
            status = rt_fail(ctx, PXB_INTERNAL, "mutation \"%s\" cannot be run: %s", out->name, results[i].message);
        }
    free(results);
    conform_free(&list);
    return status;
}
