/* lower_matrix_core.c - mma on matrix cores: the `fast` mode (xl_options.mma_fast).
 *
 * Fragments are moved into the operands of WMMA or MFMA by the maps of fragment_map.h, and back. The instruction gets no
 * accumulator but that of an earlier step: c is added afterwards in f32 (or as an integer), where PTX has it. Results differ
 * from every exact model by the rounding of AMD's sums; infinities and NaN are kept, NaN is canonical.
 *
 * fp8: gfx12 and gfx950 take the OCP formats as they are. Elsewhere e4m3 and e5m2 become f16 (gfx90a: bf16, since its f16 products take
 * subnormals for zero), which is exact. gfx942 has FNUZ formats: an e4m3 there means half its value, so a product is multiplied by
 * 4; minus zero, which would be NaN, becomes zero, and NaN, which would be 240, becomes FNUZ's NaN. e5m2 has infinities
 * that FNUZ lacks and goes by way of f16.
 *
 * gfx9: a warp is half a wavefront and operands of one lie in lanes of both, so all of this runs with every lane on; lanes that do not
 * execute give zeros. Where some do not, that takes LLVM's strict whole-wave mode, in a function of its own, since it saves each register
 * that it touches for the lanes that are off. PTX makes all lanes of a warp execute an mma together, so that WMMA, which needs a full
 * EXEC, gets it.
 */
#include <stdio.h>
#include <string.h>
#include "translator/fragment_map.h"
#include "translator/l_llvm.h"

typedef enum change { KEEP, TO_F16, TO_BF16, TO_FNUZ, CUT_TF32 } change;
/* How an operand's words are handed over. */
typedef enum shape { HALVES, SHORTS, WORDS, LONG, FLOATS } shape;

typedef struct core_row {
    const char *target;        /* prefix of the names of processors */
    const char *a, *b;         /* types of the mma; "fp8": e4m3 or e5m2, "i8": s8 or u8, "i4": s4 or u4 */
    xl_core core;
    uint8_t words;             /* of 16 bytes of a row each, that one instruction takes: 1 or 2 */
    bool apart;                /* … from one 16 bytes whose elements became twice as wide */
    change change;
    shape shape;
    const char *intrinsic;     /* without "llvm.amdgcn."; a `%` stands for fp8 or bf8 of M, then N */
} core_row;

static const core_row core_rows[] = {
    {"gfx11", "f16", "f16", XL_CORE_WMMA11, 2, false, KEEP, HALVES, "wmma.f32.16x16x16.f16"},
    {"gfx11", "bf16", "bf16", XL_CORE_WMMA11, 2, false, KEEP, SHORTS, "wmma.f32.16x16x16.bf16"},
    {"gfx11", "fp8", "fp8", XL_CORE_WMMA11, 2, true, TO_F16, HALVES, "wmma.f32.16x16x16.f16"},
    {"gfx11", "i8", "i8", XL_CORE_WMMA11, 1, false, KEEP, WORDS, "wmma.i32.16x16x16.iu8"},
    {"gfx12", "f16", "f16", XL_CORE_WMMA12, 2, false, KEEP, HALVES, "wmma.f32.16x16x16.f16"},
    {"gfx12", "bf16", "bf16", XL_CORE_WMMA12, 2, false, KEEP, SHORTS, "wmma.f32.16x16x16.bf16"},
    {"gfx12", "fp8", "fp8", XL_CORE_WMMA12, 1, false, KEEP, WORDS, "wmma.f32.16x16x16.%.%"},
    {"gfx12", "i8", "i8", XL_CORE_WMMA12, 1, false, KEEP, WORDS, "wmma.i32.16x16x16.iu8"},
    {"gfx12", "i4", "i4", XL_CORE_WMMA12, 1, false, KEEP, WORDS, "wmma.i32.16x16x32.iu4"},
    {"gfx90a", "fp8", "fp8", XL_CORE_MFMA, 2, true, TO_BF16, SHORTS, "mfma.f32.16x16x16bf16.1k"},
    {"gfx90a", "s8", "s8", XL_CORE_MFMA, 1, false, KEEP, WORDS, "mfma.i32.16x16x16i8"},
    {"gfx90a", "tf32", "tf32", XL_CORE_MFMA, 1, false, CUT_TF32, FLOATS, "mfma.f32.16x16x4f32"},
    {"gfx942", "e4m3", "e4m3", XL_CORE_MFMA, 2, false, TO_FNUZ, LONG, "mfma.f32.16x16x32.fp8.fp8"},
    {"gfx942", "fp8", "fp8", XL_CORE_MFMA, 2, true, TO_F16, HALVES, "mfma.f32.16x16x16f16"},
    {"gfx942", "tf32", "tf32", XL_CORE_MFMA, 2, false, KEEP, FLOATS, "mfma.f32.16x16x8.xf32"},
    {"gfx950", "fp8", "fp8", XL_CORE_MFMA, 2, false, KEEP, LONG, "mfma.f32.16x16x32.%.%"},
    {"gfx950", "tf32", "tf32", XL_CORE_MFMA, 1, false, CUT_TF32, FLOATS, "mfma.f32.16x16x4f32"},
    {"gfx9", "s8", "s8", XL_CORE_MFMA, 2, false, KEEP, LONG, "mfma.i32.16x16x32.i8"},
    {"gfx9", "f16", "f16", XL_CORE_MFMA, 2, false, KEEP, HALVES, "mfma.f32.16x16x16f16"},
    {"gfx9", "bf16", "bf16", XL_CORE_MFMA, 2, false, KEEP, SHORTS, "mfma.f32.16x16x16bf16.1k"},
};

/* ------------------------------------------------------------ which mma */

/* mma_m16n8k32_satfinite_s32_s8_u8_s32 taken apart. */
typedef struct mma_name { char shape[12], d[8], a[8], b[8]; bool satfinite; } mma_name;

static bool take(const char **s, char *out, size_t size)
{
    const size_t n = strcspn(*s, "_");
    if (!n || n >= size) return false;
    memcpy(out, *s, n);
    out[n] = 0;
    *s += n + ((*s)[n] == '_');
    return true;
}

static bool parse_name(const char *meaning, mma_name *m)
{
    const char *s = meaning + strlen("mma_");
    if (strncmp(meaning, "mma_m16n8k", 10) || !take(&s, m->shape, sizeof m->shape)) return false;
    m->satfinite = !strncmp(s, "satfinite_", 10);
    if (m->satfinite) s += 10;
    return take(&s, m->d, sizeof m->d) && take(&s, m->a, sizeof m->a) && take(&s, m->b, sizeof m->b);
}

static bool type_fits(const char *row, const char *type)
{
    if (!strcmp(row, "fp8")) return !strcmp(type, "e4m3") || !strcmp(type, "e5m2");
    if (!strcmp(row, "i8")) return !strcmp(type, "s8") || !strcmp(type, "u8");
    if (!strcmp(row, "i4")) return !strcmp(type, "s4") || !strcmp(type, "u4");
    return !strcmp(row, type);
}

static const core_row *find_row(const char *target, const mma_name *m)
{
    for (size_t k = 0; k < sizeof core_rows / sizeof *core_rows; k++) {
        const core_row *r = &core_rows[k];
        if (!strncmp(target, r->target, strlen(r->target)) && type_fits(r->a, m->a) && type_fits(r->b, m->b)) return r;
    }
    return NULL;
}

const char *xl_matrix_core(const char *target, const char *meaning)
{
    mma_name m;
    const core_row *r = parse_name(meaning, &m) ? find_row(target, &m) : NULL;
    return r ? r->intrinsic : NULL;
}

static void note(const char *target, const char *meaning, char *text, size_t size)
{
    char line[160];
    const char *core = xl_matrix_core(target, meaning);
    const int n = snprintf(line, sizeof line, "%s: %s\n", meaning, core ? core : "exact");
    const size_t used = strlen(text);
    if (n > 0 && used + (size_t)n < size && !strstr(text, line)) memcpy(text + used, line, (size_t)n + 1);
}

void xl_mma_notes(const ptx_module *module, const char *target, char *text, size_t size)
{
    *text = 0;
    for (uint32_t i = 0; i < module->nfunctions; i++)
        for (uint32_t k = 0; k < module->functions[i]->ninsns; k++) {
            const ptx_insn *insn = &module->functions[i]->insns[k];
            if (insn->form && !strcmp(insn->form->family, "mma") && insn->meaning) note(target, isa_meaning_names[insn->meaning], text, size);
        }
}

/* ------------------------------------------------------------ operands */

typedef struct job {
    xl_emitter *x;
    const core_row *row;
    mma_name name;
    uint32_t slabs;            /* 16 bytes of a row each */
    LLVMValueRef v_lane;       /* in the wavefront */
    LLVMValueRef a[4], b[2], c[4];
    LLVMTypeRef result;        /* vector type of the instruction's result */
    bool integer, whole_wave;  /* lanes may be off and have to take part */
} job;

static LLVMTypeRef vector(const job *j, LLVMTypeRef element, uint32_t n) { (void)j; return n == 1 ? element : LLVMVectorType(element, n); }

static LLVMValueRef zero(const job *j) { return l_i32(j->x, 0); }

/* Bits of the source's lane from the reader's, as a byte address for ds_bpermute. */
static LLVMValueRef source_address(const job *j, const xl_fragment_map *map, uint32_t slot, uint32_t x)
{
    LLVMValueRef v = l_i32(j->x, xl_fragment_bits(map->lane, 6, 0, slot, x) * 4);
    for (uint32_t k = 0; k < 6; k++) {
        if (map->lane[k] < XL_L0 || map->lane[k] > XL_L5) continue;
        LLVMValueRef v_bit = l_and(j->x, l_lshr(j->x, j->v_lane, l_i32(j->x, map->lane[k] - XL_L0)), l_i32(j->x, 1));
        v = l_or(j->x, v, l_shl(j->x, v_bit, l_i32(j->x, k + 2)));
    }
    return v;
}

static LLVMValueRef lane_bit(const job *j, uint32_t k)
{
    return l_icmp(j->x, LLVMIntNE, l_and(j->x, j->v_lane, l_i32(j->x, 1u << k)), zero(j));
}

static LLVMValueRef permute(const job *j, LLVMValueRef v_address, LLVMValueRef v)
{
    if (LLVMIsAConstantInt(v)) return v;
    return l_intrinsic(j->x, "llvm.amdgcn.ds.bpermute", NULL, 0, (LLVMValueRef[]){v_address, v}, 2);
}

/* The word that the reader of a slot gets; at most one bit of the register depends on the lane. */
static LLVMValueRef gather(const job *j, xl_part part, LLVMValueRef *registers, uint32_t slot, uint32_t x)
{
    const xl_fragment_map *map = &xl_fragment_maps[j->row->core][part];
    LLVMValueRef v_address = source_address(j, map, slot, x);
    const uint32_t fixed = xl_fragment_bits(map->reg, 3, 0, slot, x);
    uint32_t k = 0;
    while (k < 3 && (map->reg[k] < XL_L0 || map->reg[k] > XL_L5)) k++;
    if (k == 3) return permute(j, v_address, registers[fixed]);
    LLVMValueRef v_off = registers[fixed], v_on = registers[fixed | 1u << k];
    /* if the lane that is read can tell, it chooses what it offers */
    for (uint32_t at = 0; at < 6; at++)
        if (map->lane[at] == map->reg[k]) return permute(j, v_address, l_select(j->x, lane_bit(j, at), v_on, v_off));
    return l_select(j->x, lane_bit(j, map->reg[k] - XL_L0), permute(j, v_address, v_on), permute(j, v_address, v_off));
}

static LLVMValueRef pack(const job *j, LLVMValueRef *words, uint32_t n)
{
    const xl_emitter *x = j->x;
    LLVMTypeRef t_words = vector(j, l_int(x, 32), n), want = t_words;
    LLVMValueRef v = n == 1 ? words[0] : LLVMGetUndef(t_words);
    for (uint32_t k = 0; k < n && n > 1; k++) v = LLVMBuildInsertElement(x->b, v, words[k], l_i32(x, k), "");
    switch (j->row->shape) {
    case HALVES: want = vector(j, LLVMHalfTypeInContext(x->context), 2 * n); break;
    case SHORTS: want = vector(j, l_int(x, 16), 2 * n); break;
    case WORDS: break;
    case LONG: want = l_int(x, 64); break;
    case FLOATS: want = vector(j, LLVMFloatTypeInContext(x->context), n); break;
    }
    return l_bitcast(x, v, want);
}

/* M or N for instruction x; `registers` as the map counts them. */
static LLVMValueRef operand(const job *j, xl_part part, LLVMValueRef *registers, uint32_t x)
{
    LLVMValueRef words[8];
    const uint32_t n = xl_fragment_maps[j->row->core][part].slots / 2u * j->row->words;
    for (uint32_t slot = 0; slot < n; slot++) words[slot] = gather(j, part, registers, slot, x);
    return pack(j, words, n);
}

/* ------------------------------------------------------------ formats */

/* Two fp8, the lower or the upper of a word, as two f16 or bf16. */
static LLVMValueRef widen(const job *j, LLVMValueRef v, const char *type, uint32_t upper)
{
    xl_emitter *x = j->x;
    char name[48];
    snprintf(name, sizeof name, "pxl_cvt_rn_f16x2_%sx2", type);
    LLVMValueRef v_pair = l_trunc(x, l_lshr(x, v, l_i32(x, 16 * upper)), 16);
    v = xl_call_helper(x, name, &v_pair, 1);
    if (j->row->change != TO_BF16) return v;
    /* exact: five bits of significand at most; a NaN keeps its quiet bit */
    LLVMTypeRef t_halves = LLVMVectorType(LLVMHalfTypeInContext(x->context), 2), t_floats = LLVMVectorType(LLVMFloatTypeInContext(x->context), 2);
    LLVMValueRef v_bits = l_bitcast(x, LLVMBuildFPExt(x->b, l_bitcast(x, v, t_halves), t_floats, ""), LLVMVectorType(l_int(x, 32), 2));
    return l_or(x, l_lshr(x, l_element(x, v_bits, 0), l_i32(x, 16)), l_and(x, l_element(x, v_bits, 1), l_i32(x, 0xffff0000)));
}

/* 0x80 in every byte of v that equals one of the bytes of `pattern`, 0 elsewhere. */
static LLVMValueRef bytes_equal(const xl_emitter *x, LLVMValueRef v, uint32_t pattern)
{
    LLVMValueRef v_low = l_i32(x, 0x7f7f7f7f), v_differ = l_xor(x, v, l_i32(x, pattern));
    LLVMValueRef v_any = l_or(x, l_add(x, l_and(x, v_differ, v_low), v_low), v_differ);
    return l_and(x, l_not(x, v_any), l_i32(x, 0x80808080));
}

/* e4m3 to FNUZ of half the value: −0 (0x80) to 0, NaN (0x7f, 0xff) to 0x80. */
static LLVMValueRef to_fnuz(const xl_emitter *x, LLVMValueRef v)
{
    LLVMValueRef v_zero = bytes_equal(x, v, 0x80808080);
    LLVMValueRef v_nan = bytes_equal(x, l_and(x, v, l_i32(x, 0x7f7f7f7f)), 0x7f7f7f7f);
    LLVMValueRef v_all = l_mul(x, l_lshr(x, v_nan, l_i32(x, 7)), l_i32(x, 0xff));        /* 0xff in NaN bytes */
    return l_or(x, l_and(x, l_xor(x, v, v_zero), l_not(x, v_all)), v_nan);
}

static LLVMValueRef changed(const job *j, LLVMValueRef v)
{
    if (j->row->change == TO_FNUZ) return to_fnuz(j->x, v);
    if (j->row->change == CUT_TF32) return l_and(j->x, v, l_i32(j->x, 0xffffe000));
    return v;
}

/* Zeros where lanes do not execute. */
static LLVMValueRef inactive_zero(const job *j, LLVMValueRef v)
{
    LLVMTypeRef t = l_int(j->x, 32);
    if (!j->whole_wave || LLVMIsAConstantInt(v)) return v;
    return l_intrinsic(j->x, "llvm.amdgcn.set.inactive", &t, 1, (LLVMValueRef[]){v, zero(j)}, 2);
}

/* The word that step s takes of the row half b (A) or the column (B), at z. */
static LLVMValueRef word_of(const job *j, LLVMValueRef *registers, uint32_t stride, uint32_t b, const char *type, uint32_t step, uint32_t z)
{
    if (j->row->apart) return inactive_zero(j, widen(j, registers[b + stride * step], type, z));
    const uint32_t slab = step * j->row->words + z;
    return slab < j->slabs ? inactive_zero(j, changed(j, registers[b + stride * slab])) : zero(j);
}

/* ------------------------------------------------------------ instructions */

static void intrinsic_name(const job *j, char *out, size_t size)
{
    const char *types[2] = {j->name.b, j->name.a};
    size_t used = (size_t)snprintf(out, size, "llvm.amdgcn.");
    uint32_t k = 0;
    for (const char *s = j->row->intrinsic; *s && used + 4 < size; s++) {
        if (*s == '%') used += (size_t)snprintf(out + used, size - used, "%s", !strcmp(types[k++], "e5m2") ? "bf8" : "fp8");
        else out[used++] = *s;
        out[used] = 0;
    }
}

static LLVMValueRef multiply(const job *j, LLVMValueRef v_m, LLVMValueRef v_n, LLVMValueRef v_sum)
{
    xl_emitter *x = j->x;
    char name[80];
    intrinsic_name(j, name, sizeof name);
    LLVMTypeRef overloads[2] = {j->result, LLVMTypeOf(v_m)};
    LLVMValueRef v_0 = zero(j);
    if (j->row->core == XL_CORE_MFMA) return l_intrinsic(x, name, NULL, 0, (LLVMValueRef[]){v_m, v_n, v_sum, v_0, v_0, v_0}, 6);
    if (!j->integer) return l_intrinsic(x, name, overloads, 2, (LLVMValueRef[]){v_m, v_n, v_sum}, 3);
    LLVMValueRef v_msigned = l_i1(x, j->name.b[0] == 's'), v_nsigned = l_i1(x, j->name.a[0] == 's');
    return l_intrinsic(x, name, overloads, 2, (LLVMValueRef[]){v_msigned, v_m, v_nsigned, v_n, v_sum, l_i1(x, false)}, 6);
}

/* Sums of products in PTX's places, as bits. */
static void products(const job *j, LLVMValueRef d[4])
{
    xl_emitter *x = j->x;
    const bool mfma = j->row->core == XL_CORE_MFMA;
    const uint32_t steps = j->row->apart ? j->slabs : (j->slabs + j->row->words - 1u) / j->row->words, size = mfma ? 4 : 8;
    LLVMValueRef v_sum[2] = {LLVMConstNull(j->result), LLVMConstNull(j->result)};
    for (uint32_t step = 0; step < steps; step++) {
        LLVMValueRef n[4], m[2];
        for (uint32_t z = 0; z < j->row->words; z++) {
            m[z] = word_of(j, (LLVMValueRef *)j->b, 1, 0, j->name.b, step, z);
            for (uint32_t b = 0; b < 2; b++) n[b + 2 * z] = word_of(j, (LLVMValueRef *)j->a, 2, b, j->name.a, step, z);
        }
        LLVMValueRef v_m = operand(j, XL_PART_M, m, 0);
        for (uint32_t k = 0; k < (mfma ? 2 : 1); k++) v_sum[k] = multiply(j, v_m, operand(j, XL_PART_N, n, k), v_sum[k]);
    }
    LLVMValueRef results[2][8];
    for (uint32_t k = 0; k < (mfma ? 2 : 1); k++)
        for (uint32_t r = 0; r < size; r++) results[k][r] = l_bitcast(x, l_element(x, v_sum[k], r), l_int(x, 32));
    for (uint32_t k = 0; k < 4; k++) d[k] = mfma ? gather(j, XL_PART_D, results[k / 2], k % 2, k / 2) : gather(j, XL_PART_D, results[0], k, 0);
}

static LLVMValueRef whole_wave(const job *j, LLVMValueRef v)
{
    LLVMTypeRef t = l_int(j->x, 32);
    return j->whole_wave ? l_intrinsic(j->x, "llvm.amdgcn.strict.wwm", &t, 1, &v, 1) : v;
}

static LLVMValueRef wave_lane(const job *j)
{
    LLVMValueRef v = l_intrinsic(j->x, "llvm.amdgcn.mbcnt.lo", NULL, 0, (LLVMValueRef[]){l_i32(j->x, ~0u), zero(j)}, 2);
    return j->x->wave == 32 ? v : l_intrinsic(j->x, "llvm.amdgcn.mbcnt.hi", NULL, 0, (LLVMValueRef[]){l_i32(j->x, ~0u), v}, 2);
}

/* ------------------------------------------------------------ c and the result */

static LLVMValueRef canonical(const xl_emitter *x, LLVMValueRef v, unsigned bits, uint32_t nan)
{
    LLVMValueRef v_nan = LLVMBuildFCmp(x->b, LLVMRealUNO, v, v, "");
    return l_select(x, v_nan, l_const(x, bits, nan), l_bitcast(x, v, l_int(x, bits)));
}

/* c + product, as bits of D's type. `c` is an i32, or the f16 in an i16. */
static LLVMValueRef finish(const job *j, LLVMValueRef v_product, LLVMValueRef c)
{
    xl_emitter *x = j->x;
    LLVMTypeRef t_float = LLVMFloatTypeInContext(x->context), t_half = LLVMHalfTypeInContext(x->context), t_int = l_int(x, 32);
    if (j->integer) return j->name.satfinite ? l_intrinsic(x, "llvm.sadd.sat", &t_int, 1, (LLVMValueRef[]){v_product, c}, 2) : l_add(x, v_product, c);
    const bool half = !strcmp(j->name.d, "f16");
    LLVMValueRef v = l_bitcast(x, v_product, t_float);
    if (j->row->change == TO_FNUZ) v = LLVMBuildFMul(x->b, v, LLVMConstReal(t_float, 4), "");
    LLVMValueRef v_c = half ? LLVMBuildFPExt(x->b, l_bitcast(x, c, t_half), t_float, "") : l_bitcast(x, c, t_float);
    v = LLVMBuildFAdd(x->b, v, v_c, "");
    return half ? canonical(x, LLVMBuildFPTrunc(x->b, v, t_half, ""), 16, 0x7fff) : canonical(x, v, 32, 0x7fffffff);
}

/* D's registers, returned as an array. */
static void finish_all(const job *j, LLVMValueRef d[4], uint32_t nd)
{
    xl_emitter *x = j->x;
    LLVMValueRef v[4], v_all = LLVMGetUndef(LLVMArrayType2(l_int(x, 32), nd));
    for (uint32_t k = 0; k < 4; k++) {
        LLVMValueRef c = nd == 4 ? j->c[k] : l_trunc(x, l_lshr(x, j->c[k / 2], l_i32(x, 16 * (k % 2))), 16);
        v[k] = finish(j, whole_wave(j, d[k]), c);
    }
    for (uint32_t k = 0; k < nd; k++) {
        LLVMValueRef v_one = nd == 4 ? v[k] : l_or(x, l_zext(x, v[2 * k], 32), l_shl(x, l_zext(x, v[2 * k + 1], 32), l_i32(x, 16)));
        v_all = LLVMBuildInsertValue(x->b, v_all, v_one, k, "");
    }
    LLVMBuildRet(x->b, v_all);
}

/* ------------------------------------------------------------ one function for each kind of mma */

/* A kernel may have hundreds of mma; in line, their code takes LLVM minutes. */
static LLVMValueRef new_function(const xl_emitter *x, const char *name, LLVMTypeRef type)
{
    LLVMValueRef fn = LLVMAddFunction(x->llvm, name, type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    l_enum_attribute(x, fn, LLVMAttributeFunctionIndex, "noinline", 0);
    l_enum_attribute(x, fn, LLVMAttributeFunctionIndex, "convergent", 0);
    l_enum_attribute(x, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    return fn;
}

static void core_body(job *j, LLVMValueRef fn, uint32_t nd, bool whole_wave)
{
    uint32_t at = 0;
    LLVMValueRef d[4];
    for (uint32_t k = 0; k < 2 * j->slabs; k++) j->a[k] = LLVMGetParam(fn, at++);
    for (uint32_t k = 0; k < j->slabs; k++) j->b[k] = LLVMGetParam(fn, at++);
    for (uint32_t k = 0; k < nd; k++) j->c[k] = LLVMGetParam(fn, at++);
    j->whole_wave = whole_wave;
    j->v_lane = wave_lane(j);
    products(j, d);
    finish_all(j, d, nd);
}

/* Leaves the function for one that does the same in whole-wave mode, unless all lanes are here. A tail call: what it saves is its own. */
static void leave_in_part(const job *j, LLVMValueRef fn, LLVMTypeRef type, LLVMValueRef part)
{
    xl_emitter *x = j->x;
    LLVMTypeRef i64 = l_int(x, 64);
    LLVMValueRef v_true = l_i1(x, true), args[16];
    LLVMBasicBlockRef b_part = l_block(x, "part"), b_all = l_block(x, "all");
    LLVMValueRef v_lanes = l_intrinsic(x, "llvm.amdgcn.ballot", &i64, 1, &v_true, 1);
    l_cond_br(x, l_icmp(x, LLVMIntEQ, v_lanes, l_i64(x, ~(uint64_t)0)), b_all, b_part);
    l_here(x, b_part);
    LLVMGetParams(fn, args);
    LLVMValueRef v = LLVMBuildCall2(x->b, type, part, args, LLVMCountParams(fn), "");
    LLVMSetTailCall(v, true);
    LLVMBuildRet(x->b, v);
    l_here(x, b_all);
}

static LLVMValueRef core_function(job *j, const char *meaning, uint32_t nd, LLVMTypeRef *type)
{
    xl_emitter *x = j->x;
    char name[96], part_name[104];
    LLVMTypeRef params[16];
    const uint32_t count = 3 * j->slabs + nd;
    for (uint32_t k = 0; k < count; k++) params[k] = l_int(x, 32);
    *type = LLVMFunctionType(LLVMArrayType2(l_int(x, 32), nd), params, count, false);
    snprintf(name, sizeof name, "pxb_core_%s", meaning);
    snprintf(part_name, sizeof part_name, "%s_part", name);
    LLVMValueRef fn = LLVMGetNamedFunction(x->llvm, name), outer = x->fn;
    if (fn) return fn;
    LLVMBasicBlockRef b_outer = LLVMGetInsertBlock(x->b);
    LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(x->b);
    LLVMSetCurrentDebugLocation2(x->b, NULL);
    LLVMValueRef part = NULL;
    if (j->row->core == XL_CORE_MFMA) {
        x->fn = part = new_function(x, part_name, *type);
        l_here(x, l_block(x, ""));
        core_body(j, part, nd, true);
    }
    x->fn = fn = new_function(x, name, *type);
    l_here(x, l_block(x, ""));
    if (part) leave_in_part(j, fn, *type, part);
    core_body(j, fn, nd, false);
    x->fn = outer;
    l_here(x, b_outer);
    LLVMSetCurrentDebugLocation2(x->b, line);
    return fn;
}

bool xl_lower_matrix_core(xl_emitter *x, const char *meaning, const isa_elem *signature, const ptx_value *values, uint32_t n)
{
    job j = {.x = x};
    if (!parse_name(meaning, &j.name) || !(j.row = find_row(x->options->target, &j.name))) return false;
    uint32_t nd = 0, nsource = 0;
    for (uint32_t i = 0; i < n; i++) {
        nd += signature[i].role == ISA_ROLE_DST;
        nsource += signature[i].role == ISA_ROLE_SRC;
    }
    j.slabs = (nsource - nd) / 3;
    if ((nd != 2 && nd != 4) || nsource != nd + 3 * j.slabs || !j.slabs || j.slabs > 2)
        xl_fail(x, PTX_REASON_UNSUPPORTED, "internal: operands of '%s' do not fit its shape", meaning);
    j.integer = j.name.d[0] == 's';
    j.result = LLVMVectorType(j.integer ? l_int(x, 32) : LLVMFloatTypeInContext(x->context), j.row->core == XL_CORE_MFMA ? 4 : 8);
    LLVMTypeRef type;
    LLVMValueRef fn = core_function(&j, meaning, nd, &type), args[16];
    const uint32_t count = 3 * j.slabs + nd;
    for (uint32_t k = 0; k < count; k++) args[k] = xl_read_bits(x, &values[nd + k], 32);
    LLVMValueRef v = LLVMBuildCall2(x->b, type, fn, args, count, "");
    for (uint32_t k = 0; k < nd; k++)
        if (values[k].kind == PTX_VALUE_REG) xl_write(x, &values[k], l_extract(x, v, k));
    return true;
}
