/* ref_wmma.c - see ref_wmma.h. PTX ISA, "Warp-level Matrix Storage" and "wmma.load": the layout says which index runs fastest, and the stride is
 * the distance between rows (or columns) in elements.
 */
#include "ref_wmma.h"

#include <stdio.h>
#include <string.h>

enum { MOST_K = 256 };

static const struct { const char *name; int bits; } types[] = {
    [REF_E4M3] = {"e4m3", 8}, [REF_E5M2] = {"e5m2", 8}, [REF_F16] = {"f16", 16}, [REF_BF16] = {"bf16", 16}, [REF_TF32] = {"tf32", 32},
    [REF_F32] = {"f32", 32}, [REF_F64] = {"f64", 64}, [REF_U8] = {"u8", 8}, [REF_S8] = {"s8", 8}, [REF_U4] = {"u4", 4}, [REF_S4] = {"s4", 4},
    [REF_B1] = {"b1", 1}, [REF_S32] = {"s32", 32}};

const char *ref_mma_type_name(ref_mma_type t) { return types[t].name; }
int ref_mma_type_bits(ref_mma_type t) { return types[t].bits; }

static bool find_type(const char *word, ref_mma_type *out)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].name && !strcmp(types[i].name, word)) {
            *out = (ref_mma_type)i;
            return true;
        }
    return false;
}

bool ref_wmma_shape_of(const char *meaning, ref_mma_shape *out)
{
    char text[128], *rest, *word;
    ref_mma_type t[4];
    int n = 0;
    ref_mma_shape s = {0};
    if (strlen(meaning) >= sizeof text || sscanf(meaning, "wmma_m%dn%dk%d_", &s.m, &s.n, &s.k) != 3 || s.k > MOST_K)
        return false;
    strcpy(text, meaning);
    word = strtok_r(text, "_", &rest);
    word = strtok_r(NULL, "_", &rest);
    while ((word = strtok_r(NULL, "_", &rest)) != NULL) {
        if (!strcmp(word, "satfinite")) s.satfinite = true;
        else if (!strcmp(word, "and")) s.and_popc = true;
        else if (!strcmp(word, "rz")) s.rounding = REF_RZ;
        else if (!strcmp(word, "rm")) s.rounding = REF_RM;
        else if (!strcmp(word, "rp")) s.rounding = REF_RP;
        else if (strcmp(word, "xor") != 0 && strcmp(word, "popc") != 0 && strcmp(word, "rn") != 0 && (n == 4 || !find_type(word, &t[n++])))
            return false;
    }
    if (n == 2) {
        s.a = s.b = REF_F16;
        s.d = t[0];
        s.c = t[1];
    } else if (n == 4) {
        s.d = t[0];
        s.a = t[1];
        s.b = t[2];
        s.c = t[3];
    } else
        return false;
    *out = s;
    return true;
}

static size_t bit_of(const ref_wmma_matrix *m, int row, int column)
{
    const int line = m->row_major ? row : column, at = m->row_major ? column : row;
    return 8 * m->offset + ((size_t)line * (size_t)m->stride + (size_t)at) * (size_t)types[m->type].bits;
}

size_t ref_wmma_bytes(const ref_wmma_matrix *m)
{
    return (bit_of(m, m->rows - 1, m->columns - 1) + (size_t)types[m->type].bits + 7) / 8 - m->offset;
}

uint64_t ref_wmma_get(const ref_wmma_matrix *m, const uint8_t *memory, int row, int column)
{
    const size_t bit = bit_of(m, row, column);
    const int bits = types[m->type].bits;
    uint64_t v = 0;
    memcpy(&v, memory + bit / 8, bits < 8 ? 1 : (size_t)bits / 8);
    return bits < 8 ? v >> bit % 8 & ((1u << bits) - 1) : v;
}

void ref_wmma_put(const ref_wmma_matrix *m, uint8_t *memory, int row, int column, uint64_t value)
{
    const size_t bit = bit_of(m, row, column);
    const int bits = types[m->type].bits;
    if (bits < 8) {
        const unsigned mask = ((1u << bits) - 1) << bit % 8;
        memory[bit / 8] = (uint8_t)((memory[bit / 8] & ~mask) | ((unsigned)value << bit % 8 & mask));
    } else
        memcpy(memory + bit / 8, &value, (size_t)bits / 8);
}

uint64_t ref_wmma_element(const ref_mma_shape *s, const ref_wmma_matrix *a, const ref_wmma_matrix *b, const ref_wmma_matrix *c, const uint8_t *memory,
                          int row, int column, ref_mma_model model)
{
    uint64_t x[MOST_K], y[MOST_K];
    for (int k = 0; k < s->k; k++) {
        x[k] = ref_wmma_get(a, memory, row, k);
        y[k] = ref_wmma_get(b, memory, k, column);
    }
    return ref_mma_element(s, x, y, ref_wmma_get(c, memory, row, column), model);
}
