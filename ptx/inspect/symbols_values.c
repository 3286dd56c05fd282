/* symbols_values.c - formulas that depend on the thread alone, computed for each thread as they are made. Their ranges are exact then. */
#include "ptx/inspect/symbols_internal.h"

static const uint64_t most_work = UINT64_C(1) << 26;       /* formulas times threads; about half a GiB for atoms alone */

static bool special_of(const pti_symbols *s, const pti_atom *a, int64_t *out)
{
    const uint32_t *block = s->launch.block;
    for (uint32_t i = 0; i < s->nthreads; i++) {
        if (a->number == PTX_SR_LANEID)
            out[i] = i % 32;
        else if (a->number == PTX_SR_TID_X && block[0])
            out[i] = i % block[0];
        else if (a->number == PTX_SR_TID_Y && block[0])
            out[i] = i / block[0] % block[1];
        else if (a->number == PTX_SR_TID_Z && block[0])
            out[i] = i / block[0] / block[1];
        else
            return false;
    }
    return true;
}

static bool on_thread_alone(uint32_t depends)
{
    return !(depends & ~(uint32_t)(PTI_ON_LANE | PTI_ON_THREAD));
}

static bool evaluate_terms(const pti_symbols *s, const pti_sum *sum, int64_t *out)
{
    for (uint32_t i = 0; i < s->nthreads; i++)
        out[i] = sum->constant;
    for (uint32_t k = 0; k < sum->nterms; k++) {
        const pti_term *term = &sum->terms[k];
        for (uint32_t a = 0; a < term->natoms; a++)
            if (!s->values[term->atoms[a]])
                return false;
        for (uint32_t i = 0; i < s->nthreads; i++) {
            uint64_t product = (uint64_t)term->factor;
            for (uint32_t a = 0; a < term->natoms; a++)
                product *= (uint64_t)s->values[term->atoms[a]][i];
            out[i] = (int64_t)((uint64_t)out[i] + product);
        }
    }
    return true;
}

bool pti_evaluate(const pti_symbols *s, pti_poly p, int64_t *out)
{
    return s->nthreads && on_thread_alone(s->sums[p].depends) && evaluate_terms(s, &s->sums[p], out);
}

static bool compare(int64_t a, int64_t b, uint32_t how)
{
    switch (how) {
    case PTI_EQ: return a == b;
    case PTI_NE: return a != b;
    case PTI_LT: return a < b;
    case PTI_LE: return a <= b;
    case PTI_GT: return a > b;
    default: return a >= b;
    }
}

static uint64_t bits_in(ptx_type type)
{
    uint32_t n = ptx_type_bits(type);
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static int64_t sign_extended(int64_t v, ptx_type type)
{
    uint32_t shift = 64 - ptx_type_bits(type);
    return (int64_t)((uint64_t)v << shift) >> shift;
}

int64_t pti_operate(const pti_atom *a, int64_t x, int64_t y, int64_t z)
{
    switch (a->kind) {
    case PTI_ATOM_CUT: return sign_extended(x, a->type);
    case PTI_ATOM_LOW_BITS: return x & (int64_t)((UINT64_C(1) << a->number) - 1);
    case PTI_ATOM_SHIFT: return x >> a->number;
    case PTI_ATOM_QUOTIENT: return x / a->number;
    case PTI_ATOM_PRODUCT: return (int64_t)((uint64_t)x * (uint64_t)y);
    case PTI_ATOM_MIN: return x < y ? x : y;
    case PTI_ATOM_MAX: return x > y ? x : y;
    case PTI_ATOM_SELECT: return x ? y : z;
    case PTI_ATOM_COMPARE: return compare(x, y, a->number);
    case PTI_ATOM_AND: return (int64_t)((uint64_t)(x & y) & bits_in(a->type));
    case PTI_ATOM_OR: return (int64_t)((uint64_t)(x | y) & bits_in(a->type));
    default: return (int64_t)((uint64_t)(x ^ y) & bits_in(a->type));       /* XOR */
    }
}

bool pti_is_operation(pti_atom_kind kind)
{
    return kind >= PTI_ATOM_CUT && kind <= PTI_ATOM_XOR;
}

static void exact_range(const int64_t *values, uint32_t n, int64_t *low, int64_t *high, uint64_t *bits)
{
    *low = *high = values[0];
    *bits = 0;
    for (uint32_t i = 0; i < n; i++) {
        *low = values[i] < *low ? values[i] : *low;
        *high = values[i] > *high ? values[i] : *high;
        *bits |= (uint64_t)values[i];
    }
}

void pti_compute_atom(pti_symbols *s, uint32_t atom)
{
    pti_atom *a = &s->atoms[atom];
    int64_t *in[3] = {s->scratch, s->scratch + s->nthreads, s->scratch + 2 * (size_t)s->nthreads};
    s->values[atom] = NULL;
    if (!s->nthreads || !on_thread_alone(a->depends) || s->work > most_work || !(pti_is_operation(a->kind) || a->kind == PTI_ATOM_SPECIAL))
        return;
    for (int k = 0; k < 3 && a->arg[k] != PTI_NONE; k++)
        if (!evaluate_terms(s, &s->sums[a->arg[k]], in[k]))
            return;
    int64_t *out = ptx_arena_alloc(&s->arena, s->nthreads * sizeof *out, sizeof *out);
    s->work += s->nthreads;
    s->failed |= !out;
    if (!out || (a->kind == PTI_ATOM_SPECIAL && !special_of(s, a, out)))
        return;
    for (uint32_t i = 0; pti_is_operation(a->kind) && i < s->nthreads; i++)
        out[i] = pti_operate(a, in[0][i], a->arg[1] == PTI_NONE ? 0 : in[1][i], a->arg[2] == PTI_NONE ? 0 : in[2][i]);
    exact_range(out, s->nthreads, &a->low, &a->high, &a->bits);
    s->values[atom] = out;
}

void pti_compute_sum(pti_symbols *s, pti_sum *sum)
{
    int64_t *values = s->scratch + 3 * (size_t)s->nthreads;
    bool may_wrap = sum->low == INT64_MIN || sum->high == INT64_MAX;      /* modulo 2^64: stays without a bound */
    if (!s->nthreads || sum->nterms == 0 || !on_thread_alone(sum->depends) || s->work > most_work || may_wrap)
        return;
    s->work += s->nthreads;
    if (evaluate_terms(s, sum, values))
        exact_range(values, s->nthreads, &sum->low, &sum->high, &sum->bits);
}
