/* matrix.c - fragments of matrices in memory: ldmatrix, stmatrix, wmma.load, wmma.store. */
#include <string.h>
#include "ptx/lib/matrix_layout.h"
#include "ptx/lib/wmma_layout.h"
#include "runtime/cpu/memory.h"

typedef uint16_t m2 __attribute__((may_alias));
typedef uint32_t m4 __attribute__((may_alias));

/* ldmatrix m8n8 b16 (PTX ISA, "Warp-level matrix load instruction: ldmatrix"): lane 8j + k has the address of
 * row k of matrix j, 16 bytes; lane l gets elements 2(l%4), 2(l%4)+1 of row l/4, or of column l/4 with .trans. */
void cpu_op_load_matrix(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_matrix *x = i->extra;
    char *r = w->frame->r;
    uint32_t rows = x->count == 4 ? UINT32_MAX : (1u << 8 * x->count) - 1, values[4][CPU_LANES];
    cpu_addresses(w, i, &x->place, 0, 16, 16, mask & rows);
    for (uint32_t j = 0; j < x->count; j++) {
        const uint64_t *row = w->addresses + 8 * j;
        for (uint32_t l = 0; l < CPU_LANES; l++)
            if (!x->transposed)
                values[j][l] = ((const m4 *)(uintptr_t)row[l / 4])[l % 4];
            else {
                const m2 *low = (const m2 *)(uintptr_t)row[2 * (l % 4)], *high = (const m2 *)(uintptr_t)row[2 * (l % 4) + 1];
                values[j][l] = low[l / 4] | (uint32_t)high[l / 4] << 16;
            }
    }
    for (uint32_t j = 0; j < x->count; j++)
        memcpy(r + i->o[1 + j], values[j], sizeof values[j]);
}

void cpu_op_store_matrix(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_matrix *x = i->extra;
    const char *r = w->frame->r;
    uint32_t rows = x->count == 4 ? UINT32_MAX : (1u << 8 * x->count) - 1;
    cpu_addresses(w, i, &x->place, 0, 16, 16, mask & rows);
    for (uint32_t j = 0; j < x->count; j++) {
        const uint64_t *row = w->addresses + 8 * j;
        const m4 *value = (const m4 *)(r + i->o[1 + j]);
        for (uint32_t l = 0; l < CPU_LANES; l++)
            if (!x->transposed)
                ((m4 *)(uintptr_t)row[l / 4])[l % 4] = value[l];
            else {
                ((m2 *)(uintptr_t)row[2 * (l % 4)])[l / 4] = (uint16_t)value[l];
                ((m2 *)(uintptr_t)row[2 * (l % 4) + 1])[l / 4] = (uint16_t)(value[l] >> 16);
            }
    }
}

/* ------------------------------------------------------------ matrices of bytes */

/* Lanes whose addresses count: 16 rows in two registers, or 8 in one. */
static uint32_t row_lanes(const cpu_matrix *x)
{
    uint32_t rows = 8u * x->count;
    return rows >= 32 ? UINT32_MAX : (1u << rows) - 1;
}

/* Element `column` of a row, 4, 6 or 8 bits; none is cut by the end of its row of 16 bytes. */
static uint32_t row_element(const char *row, uint32_t column, uint32_t bits)
{
    uint32_t bit = column * bits, byte = bit / 8;
    uint32_t pair = (uint8_t)row[byte] | (byte < 15 ? (uint32_t)(uint8_t)row[byte + 1] << 8 : 0);
    return pair >> bit % 8 & ((1u << bits) - 1);
}

void cpu_op_load_bytes_matrix(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_matrix *x = i->extra;
    uint32_t values[4][CPU_LANES] = {{0}};
    cpu_addresses(w, i, &x->place, 0, 16, 16, mask & row_lanes(x));
    for (uint32_t j = 0; j < x->count; j++)
        for (uint32_t l = 0; l < CPU_LANES; l++)
            for (uint32_t e = 0; e < 4; e++) {
                pxl_matrix_place p = pxl_matrix_at(x->shape, l, j, e);
                values[j][l] |= row_element((const char *)(uintptr_t)w->addresses[p.lane], p.column, x->bits) << 8 * e;
            }
    for (uint32_t j = 0; j < x->count; j++)
        memcpy(w->frame->r + i->o[1 + j], values[j], sizeof values[j]);
}

void cpu_op_store_bytes_matrix(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_matrix *x = i->extra;
    cpu_addresses(w, i, &x->place, 0, 16, 16, mask & row_lanes(x));
    for (uint32_t j = 0; j < x->count; j++) {
        const m4 *value = (const m4 *)(w->frame->r + i->o[1 + j]);
        for (uint32_t l = 0; l < CPU_LANES; l++)
            for (uint32_t e = 0; e < 4; e++) {
                pxl_matrix_place p = pxl_matrix_at(x->shape, l, j, e);
                ((char *)(uintptr_t)w->addresses[p.lane])[p.column] = (char)(value[l] >> 8 * e);
            }
    }
}

/* ------------------------------------------------------------ wmma */

static uint64_t read_bits(const char *at, uint32_t bit, uint32_t bits)
{
    uint64_t v = 0;
    if (bits < 8)
        return (uint8_t)*at >> bit & ((1u << bits) - 1);
    memcpy(&v, at, bits / 8);
    return v;
}

static void write_bits(char *at, uint32_t bits, uint64_t v)
{
    memcpy(at, &v, bits / 8);
}

/* The matrix begins where the first executing lane says; all say the same (PTX ISA: else undefined). */
void cpu_op_fragment(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_fragment *x = i->extra;
    const pxl_wmma_shape shape = {x->m, x->n, x->k, x->bits, x->matrix};
    char *r = w->frame->r;
    uint32_t first = (uint32_t)__builtin_ctz(mask), e = pxl_wmma_elements(shape);
    uint32_t rows = x->matrix == 'b' ? x->k : x->m, columns = x->matrix == 'a' ? x->k : x->n;
    uint64_t stride = x->has_stride ? cpu_get(r + i->o[1], CPU_CLASS_32, first) : x->columns ? rows : columns;
    /* One access to the first element and one to the last find what lies outside. */
    uint32_t bytes = x->bits < 8 ? 1 : x->bits / 8;
    cpu_addresses(w, i, &x->place, 0, bytes, bytes, mask);
    uint64_t base = w->addresses[first];
    uint64_t low = w->arena, limit = w->arena_limit;
    if (base - w->shared_base < w->shared_bytes) {
        low = w->shared_base;
        limit = w->shared_bytes - 1;
    }
    uint64_t lines = x->columns ? columns : rows, line = x->columns ? rows : columns;
    uint64_t end = base + ((lines - 1) * stride + line) * x->bits / 8 - 1;
    if (end - low > limit) {
        w->addresses[first] = end;
        cpu_raise_address(w, i, 1u << first);
    }
    w->access_bytes = (uint32_t)(end - base) + 1;
    if (w->check && x->place.window == CPU_W_GENERIC)
        cpu_check_exact(w, i, end - base + 1, 1u << first);
    for (uint32_t lane = 0; lane < CPU_LANES; lane++) {
        w->addresses[lane] = base;
        for (uint32_t k = 0; k < x->count; k++) {
            char *slot = r + i->o[2 + k];
            uint64_t value = x->store ? cpu_get(slot, (cpu_class)x->class, lane) : 0;
            for (uint32_t n = 0; n < e; n++) {
                pxl_wmma_place p = pxl_wmma_at(shape, lane, k, n);
                uint64_t index = x->columns ? p.column * stride + p.row : p.row * stride + p.column, bit = index * x->bits;
                char *at = (char *)(uintptr_t)(base + bit / 8);
                if (x->store)
                    write_bits(at, x->bits, value >> n * x->bits);
                else
                    value |= read_bits(at, bit % 8, x->bits) << n * x->bits;
            }
            if (!x->store)
                cpu_put(slot, (cpu_class)x->class, lane, value);
        }
    }
}
