/* matrix.c - execution of WMMA, SWMMAC, MFMA and SMFMAC instructions.
 *
 * Operands are taken apart into matrices, multiplied element by element, and put back; nothing is written before everything
 * has been read. MFMA ignores EXEC (MI300 document, "Matrix Arithmetic Instructions"); a WMMA under an EXEC that is
 * not all ones stops the launch, since RDNA's documents do not say what it gives.
 */
#include <math.h>
#include "runtime/sim/matrix.h"

/* Bits of an element; `operand` may be a constant, which every element then is. */
static uint64_t element(sim_wave *w, const sim_operand *o, matrix_place p, uint32_t bits)
{
    if (o->kind == SIM_OP_CONST) return o->value;
    const uint32_t reg = p.bit / 32, shift = p.bit % 32;
    uint64_t v = sim_row(w, o, reg)[p.lane];
    if (shift + bits > 32) v |= (uint64_t)sim_row(w, o, reg + 1)[p.lane] << 32;
    v >>= shift;
    return bits == 64 ? v : v & (((uint64_t)1 << bits) - 1);
}

static void put_element(sim_wave *w, const sim_operand *o, matrix_place p, uint32_t bits, uint64_t v)
{
    uint32_t *row = sim_row(w, o, p.bit / 32);
    if (bits == 64) {
        row[p.lane] = (uint32_t)v;
        sim_row(w, o, p.bit / 32 + 1)[p.lane] = (uint32_t)(v >> 32);
        return;
    }
    const uint32_t mask = bits == 32 ? 0xffffffff : (1u << bits) - 1;
    row[p.lane] = (row[p.lane] & ~(mask << p.bit % 32)) | ((uint32_t)v & mask) << p.bit % 32;
}

/* ------------------------------------------------------------ operands */

typedef struct job {
    sim_wave *w;
    const sim_insn *i;
    const sim_matrix *s;
    matrix_type a, b;                    /* actual types */
    uint32_t ks;                         /* products in a dot product: half of K where A is sparse */
    const sim_operand *c;
} job;

static const matrix_type f8f6f4_types[] = {M_FP8, M_BF8, M_FP6, M_BF6, M_FP4};

static matrix_type actual_type(sim_wave *w, matrix_type type, uint32_t code)
{
    if (type != M_F8F6F4) return type;
    if (code >= sizeof f8f6f4_types / sizeof *f8f6f4_types) sim_fault(w, SIM_UNSUPPORTED, -1, "unknown matrix format %u", code);
    return f8f6f4_types[code];
}

/* Block of A that block `block` multiplies: cbsz joins 2^cbsz blocks, which all take the one that abid names. */
static uint32_t block_of_a(const job *j, uint32_t block)
{
    if (!j->s->broadcast || !j->i->cbsz) return block;
    return (block >> j->i->cbsz << j->i->cbsz) + j->i->abid;
}

/* Lane whose part of B a lane's place takes (MI300 document, "BLGP"). */
static uint32_t lane_of_b(const job *j, uint32_t lane)
{
    if (!j->s->broadcast) return lane;
    switch (j->i->blgp) {
    case 1: return lane % 32;
    case 2: return lane % 32 + 32;
    case 3: return (lane + 16) % 64;
    case 4: case 5: case 6: case 7: return lane % 16 + (j->i->blgp - 4u) * 16;
    default: return lane;
    }
}

static uint64_t bits_a(const job *j, uint32_t row, uint32_t k, uint32_t block)
{
    const matrix_place p = sim_matrix_place_a(j->s, j->a, j->w->lanes, row, k, block_of_a(j, block));
    return element(j->w, &j->i->operands[1], p, sim_matrix_bits(j->a));
}

static uint64_t bits_b(const job *j, uint32_t k, uint32_t column, uint32_t block)
{
    matrix_place p = sim_matrix_place_b(j->s, j->b, j->w->lanes, k, column, block);
    p.lane = lane_of_b(j, p.lane);
    return element(j->w, &j->i->operands[2], p, sim_matrix_bits(j->b));
}

/* gfx11 keeps 16-bit C and D in one half of each register; op_sel says which. */
static matrix_place place_cd(const job *j, uint32_t row, uint32_t column, uint32_t block)
{
    matrix_place p = sim_matrix_place_d(j->s, j->w->lanes, row, column, block);
    if (j->s->family == MATRIX_WMMA11 && sim_matrix_bits(j->s->d) == 16 && j->i->op_sel & 4) p.bit += 16;
    return p;
}

static uint64_t bits_c(const job *j, uint32_t row, uint32_t column, uint32_t block)
{
    return element(j->w, j->c, place_cd(j, row, column, block), sim_matrix_bits(j->s->d));
}

/* Row of B that meets the stored element k of a sparse A's row: one of the four that its pair chooses from. */
static uint32_t row_of_b(const job *j, uint32_t row, uint32_t k)
{
    if (!j->s->sparse) return k;
    matrix_place p = sim_matrix_place_index(j->s, j->w->lanes, row, k);
    const uint32_t set = j->s->family == MATRIX_MFMA ? (j->i->cbsz ? 0 : j->i->abid) : j->i->index_key;
    p.bit = (p.bit + set * sim_matrix_index_bits(j->s, j->w->lanes)) % 32;
    return k / 2 * 4 + (uint32_t)element(j->w, &j->i->operands[3], p, 2);
}

/* ------------------------------------------------------------ floats */

enum { MOST = 32 * 64 };                 /* elements of the largest operand; 16 × 128 is as many */

/* E8M0 factor of a row and 32 neighbouring k: a byte of a register that op_sel and op_sel_hi pick. */
static matrix_number block_scaled(const job *j, uint32_t source, matrix_number x, uint32_t row, uint32_t rows, uint32_t k)
{
    if (!j->s->scaled) return x;
    const uint32_t byte = (j->i->op_sel >> source & 1) | (j->i->op_sel_hi >> source & 1) << 1;
    const sim_operand *o = &j->i->operands[4 + source];
    const matrix_place p = {k / 32 * rows + row, byte * 8};
    const uint32_t scale = o->kind == SIM_OP_SGPR ? sim_read_s32(j->w, o) >> p.bit & 0xff : (uint32_t)element(j->w, o, p, 8) & 0xff;
    if (scale == 255) return sim_matrix_decode(M_F32, false, 0x7fc00000);
    return sim_matrix_scale(x, (int32_t)scale - 127);
}

/* neg_lo negates even k and neg_hi odd ones, the halves of a register, of a WMMA's 16-bit operand. */
static uint32_t negated(const job *j, uint32_t source, uint32_t k, uint32_t bits)
{
    if (j->s->family == MATRIX_MFMA || sim_matrix_bits(j->s->a) != 16) return bits;
    return (k % 2 ? j->i->neg_hi : j->i->neg_lo) >> source & 1 ? bits ^ 0x8000 : bits;
}

static float float_c(const job *j, uint32_t row, uint32_t column, uint32_t block)
{
    const uint32_t bits = (uint32_t)bits_c(j, row, column, block);
    float c = sim_matrix_decode(j->s->d, false, bits).value;
    if (j->s->d == M_F32) memcpy(&c, &bits, sizeof c);
    if (j->s->family == MATRIX_MFMA) return c;
    if (j->i->neg_hi & 4) c = fabsf(c);
    return j->i->neg_lo & 4 ? -c : c;
}

static uint64_t float_bits(const job *j, float d)
{
    uint32_t bits;
    memcpy(&bits, &d, sizeof bits);
    return j->s->d == M_F32 ? bits : sim_matrix_narrow(j->s->d, d);
}

static void multiply_floats(const job *j, uint32_t block, uint64_t *out)
{
    const sim_matrix *s = j->s;
    const bool fnuz = j->w->target->fnuz;
    const matrix_rule rule = sim_matrix_rule(s, j->w->target);
    matrix_number a[128], b[MOST], column[128];
    for (uint32_t n = 0; n < s->n; n++)
        for (uint32_t k = 0; k < s->k; k++) {
            const matrix_number x = sim_matrix_decode(j->b, fnuz, negated(j, 1, k, (uint32_t)bits_b(j, k, n, block)));
            b[n * s->k + k] = block_scaled(j, 1, x, n, s->n, k);
        }
    for (uint32_t m = 0; m < s->m; m++) {
        uint32_t rows[128];
        for (uint32_t k = 0; k < j->ks; k++) {
            const matrix_number x = sim_matrix_decode(j->a, fnuz, negated(j, 0, k, (uint32_t)bits_a(j, m, k, block)));
            a[k] = block_scaled(j, 0, x, m, s->m, k);
            rows[k] = row_of_b(j, m, k);
        }
        for (uint32_t n = 0; n < s->n; n++) {
            for (uint32_t k = 0; k < j->ks && s->sparse; k++) column[k] = b[n * s->k + rows[k]];
            out[m * s->n + n] = float_bits(j, sim_matrix_dot(rule, a, s->sparse ? column : &b[n * s->k], j->ks, float_c(j, m, n, block)));
        }
    }
}

/* ------------------------------------------------------------ f64 and integers */

static double f64_of(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* On gfx942 the bits of blgp negate A, B and C. */
static double f64_negated(const job *j, uint32_t source, uint64_t bits)
{
    const double d = f64_of(bits);
    return (j->i->neg_lo | j->i->blgp) >> source & 1 ? -d : d;
}

static void multiply_doubles(const job *j, uint32_t block, uint64_t *out)
{
    for (uint32_t m = 0; m < j->s->m; m++)
        for (uint32_t n = 0; n < j->s->n; n++) {
            double sum = f64_negated(j, 2, bits_c(j, m, n, block));
            for (uint32_t k = 0; k < j->ks; k++) sum = fma(f64_negated(j, 0, bits_a(j, m, k, block)), f64_negated(j, 1, bits_b(j, k, n, block)), sum);
            memcpy(&out[m * j->s->n + n], &sum, sizeof sum);
        }
}

static int32_t integer(const job *j, uint32_t source, matrix_type type, uint64_t v)
{
    const bool is_signed = type == M_I8 || j->i->neg_lo >> source & 1;
    const uint32_t bits = sim_matrix_bits(type);
    return is_signed && v >> (bits - 1) ? (int32_t)v - (1 << bits) : (int32_t)v;
}

static void multiply_integers(const job *j, uint32_t block, uint64_t *out)
{
    for (uint32_t m = 0; m < j->s->m; m++)
        for (uint32_t n = 0; n < j->s->n; n++) {
            int64_t sum = (int32_t)bits_c(j, m, n, block);
            for (uint32_t k = 0; k < j->ks; k++)
                sum += (int64_t)integer(j, 0, j->a, bits_a(j, m, k, block)) * integer(j, 1, j->b, bits_b(j, row_of_b(j, m, k), n, block));
            if (j->i->clamp && sum > INT32_MAX) sum = INT32_MAX;
            if (j->i->clamp && sum < INT32_MIN) sum = INT32_MIN;
            out[m * j->s->n + n] = (uint32_t)sum;
        }
}

/* ------------------------------------------------------------ the instruction */

/* gfx11 wants A and B in every group of 16 lanes alike. Hardware would not notice if they are not; we do. */
static void check_copies(const job *j, const sim_operand *o, matrix_type type)
{
    if (o->kind == SIM_OP_CONST) return;
    for (uint32_t k = 0; k < 16 * sim_matrix_bits(type) / 32; k++) {
        const uint32_t *row = sim_row(j->w, o, k);
        for (uint32_t lane = 16; lane < j->w->lanes; lane++)
            if (row[lane] != row[lane % 16]) sim_fault(j->w, SIM_UNSUPPORTED, (int32_t)lane, "WMMA operand differs from its copy in lane %u", lane % 16);
    }
}

static void check(const job *j)
{
    const uint64_t all = j->w->lanes == 64 ? ~(uint64_t)0 : 0xffffffff;
    if (j->s->family != MATRIX_MFMA && sim_exec(j->w) != all)
        sim_fault(j->w, SIM_UNSUPPORTED, -1, "matrix instruction under an EXEC that is not all ones");
    if (j->s->family == MATRIX_MFMA && j->w->lanes != 64) sim_fault(j->w, SIM_UNSUPPORTED, -1, "MFMA needs wave64");
    if (j->s->family == MATRIX_WMMA11) {
        check_copies(j, &j->i->operands[1], j->a);
        check_copies(j, &j->i->operands[2], j->b);
    }
    if (j->s->broadcast && ((1u << j->i->cbsz) > j->s->blocks || j->i->abid >= 1u << j->i->cbsz) && (j->i->cbsz || j->i->abid))
        sim_fault(j->w, SIM_UNSUPPORTED, -1, "cbsz and abid do not fit %u blocks", j->s->blocks);
}

void sim_matrix_run(sim_wave *w, const sim_insn *i)
{
    const sim_matrix *s = sim_matrix_of(i);
    job j = {.w = w, .i = i, .s = s, .ks = s->sparse ? s->k / 2u : s->k, .c = &i->operands[s->sparse ? 0 : 3]};
    j.a = actual_type(w, s->a, i->cbsz);
    j.b = actual_type(w, s->b, i->blgp);
    check(&j);
    uint64_t out[16 * 16 * 8];           /* two blocks of 32 × 32 */
    for (uint32_t block = 0; block < s->blocks; block++) {
        uint64_t *at = out + block * s->m * s->n;
        if (s->d == M_F64) multiply_doubles(&j, block, at);
        else if (s->d == M_I32) multiply_integers(&j, block, at);
        else multiply_floats(&j, block, at);
    }
    for (uint32_t block = 0; block < s->blocks; block++)
        for (uint32_t m = 0; m < s->m; m++)
            for (uint32_t n = 0; n < s->n; n++)
                put_element(w, &i->operands[0], place_cd(&j, m, n, block), sim_matrix_bits(s->d), out[(block * s->m + m) * s->n + n]);
}
