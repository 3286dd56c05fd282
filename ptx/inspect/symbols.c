/* symbols.c - atoms and sums, each kept once; adding and multiplying them. */
#include "ptx/inspect/symbols_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KEPT = 1 << 22 };             /* atoms, and sums */

/* ------------------------------------------------------------ ranges; without a bound is INT64_MIN, INT64_MAX */

static int64_t saturated(__int128 v)
{
    return v < INT64_MIN ? INT64_MIN : v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static bool is_open(int64_t v)
{
    return v == INT64_MIN || v == INT64_MAX;
}

static int64_t add_bounds(int64_t a, int64_t b)
{
    return is_open(a) ? a : is_open(b) ? b : saturated((__int128)a + b);
}

static int64_t multiply_bounds(int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return 0;
    if (is_open(a) || is_open(b))
        return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    return saturated((__int128)a * b);
}

static void multiply_range(int64_t *low, int64_t *high, int64_t low2, int64_t high2)
{
    int64_t corners[4] = {multiply_bounds(*low, low2), multiply_bounds(*low, high2), multiply_bounds(*high, low2),
                          multiply_bounds(*high, high2)};
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (int i = 0; i < 4; i++) {
        *low = corners[i] < *low ? corners[i] : *low;
        *high = corners[i] > *high ? corners[i] : *high;
    }
}

/* ------------------------------------------------------------ hashing */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t hash_of_atom(const pti_atom *a)
{
    uint64_t h = mix(a->kind, a->type);
    h = mix(mix(h, a->number), (uintptr_t)a->variable);
    return mix(mix(mix(h, a->arg[0]), a->arg[1]), a->arg[2]);
}

static bool same_atom(const pti_atom *a, const pti_atom *b)
{
    return a->kind == b->kind && a->type == b->type && a->number == b->number && a->variable == b->variable &&
           memcmp(a->arg, b->arg, sizeof a->arg) == 0;
}

static uint64_t hash_of_sum(int64_t constant, const pti_term *terms, uint32_t n)
{
    uint64_t h = mix(n, (uint64_t)constant);
    for (uint32_t i = 0; i < n; i++) {
        h = mix(h, (uint64_t)terms[i].factor);
        for (uint32_t a = 0; a < terms[i].natoms; a++)
            h = mix(h, terms[i].atoms[a]);
    }
    return h;
}

static int compare_atoms(const pti_term *a, const pti_term *b)
{
    for (uint32_t i = 0; i < a->natoms && i < b->natoms; i++)
        if (a->atoms[i] != b->atoms[i])
            return a->atoms[i] < b->atoms[i] ? -1 : 1;
    return (int)a->natoms - (int)b->natoms;
}

static bool same_terms(const pti_term *a, const pti_term *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].factor != b[i].factor || compare_atoms(&a[i], &b[i]) != 0)
            return false;
    return true;
}

/* Room for one more; the tables are twice as large as the lists. */
static bool grow(pti_symbols *s, void **list, uint32_t *room, uint32_t used, size_t size)
{
    if (used < *room)
        return true;
    size_t more = *room ? (size_t)*room * 2 : 1024;
    void *moved = more <= MOST_KEPT ? realloc(*list, more * size) : NULL;
    if (!moved) {
        s->limited = more > MOST_KEPT;
        s->failed = true;
        return false;
    }
    *list = moved;
    *room = (uint32_t)more;
    return true;
}

static bool rehash(pti_symbols *s)
{
    if (s->hash_size > s->natoms && s->hash_size > s->nsums)
        return true;
    uint32_t size = s->hash_size ? s->hash_size * 4 : 4096;
    uint32_t *atoms = malloc(size * sizeof *atoms), *sums = malloc(size * sizeof *sums);
    if (!atoms || !sums) {
        free(atoms);
        free(sums);
        s->failed = true;
        return false;
    }
    memset(atoms, 0xff, size * sizeof *atoms);
    memset(sums, 0xff, size * sizeof *sums);
    free(s->atom_hash);
    free(s->sum_hash);
    s->atom_hash = atoms;
    s->sum_hash = sums;
    s->hash_size = size;
    for (uint32_t i = 0; i < s->natoms; i++) {
        uint32_t *place = &atoms[hash_of_atom(&s->atoms[i]) & (size - 1)];
        s->atoms[i].next = *place;
        *place = i;
    }
    for (uint32_t i = 0; i < s->nsums; i++) {
        uint32_t *place = &sums[hash_of_sum(s->sums[i].constant, s->sums[i].terms, s->sums[i].nterms) & (size - 1)];
        s->sums[i].next = *place;
        *place = i;
    }
    return true;
}

/* ------------------------------------------------------------ sums */

static void range_of_term(const pti_symbols *s, const pti_term *t, int64_t *low, int64_t *high)
{
    *low = *high = t->factor;
    for (uint32_t a = 0; a < t->natoms; a++)
        multiply_range(low, high, s->atoms[t->atoms[a]].low, s->atoms[t->atoms[a]].high);
}

static void finish_sum(pti_symbols *s, pti_sum *sum)
{
    sum->low = sum->high = sum->constant;
    sum->depends = 0;
    for (uint32_t i = 0; i < sum->nterms; i++) {
        int64_t low, high;
        range_of_term(s, &sum->terms[i], &low, &high);
        sum->low = add_bounds(sum->low, low);
        sum->high = add_bounds(sum->high, high);
        for (uint32_t a = 0; a < sum->terms[i].natoms; a++)
            sum->depends |= s->atoms[sum->terms[i].atoms[a]].depends;
    }
    pti_compute_sum(s, sum);
}

/* 0, the constant 0, when memory is exhausted. */
pti_poly pti_sum_of(pti_symbols *s, int64_t constant, const pti_term *terms, uint32_t n)
{
    if (!rehash(s) || !grow(s, (void **)&s->sums, &s->room_sums, s->nsums, sizeof *s->sums))
        return 0;
    uint32_t *place = &s->sum_hash[hash_of_sum(constant, terms, n) & (s->hash_size - 1)];
    for (uint32_t i = *place; i != PTI_NONE; i = s->sums[i].next)
        if (s->sums[i].constant == constant && s->sums[i].nterms == n && same_terms(s->sums[i].terms, terms, n))
            return i;
    pti_term *copy = ptx_arena_alloc(&s->arena, (n + 1) * sizeof *copy, _Alignof(pti_term));
    if (!copy) {
        s->failed = true;
        return 0;
    }
    if (n)
        for (uint32_t i = 0; i < n; i++)
        copy[i] = terms[i];
    s->sums[s->nsums] = (pti_sum){.constant = constant, .nterms = n, .terms = copy, .next = *place};
    finish_sum(s, &s->sums[s->nsums]);
    return *place = s->nsums++;
}

pti_poly pti_constant(pti_symbols *s, int64_t c)
{
    return pti_sum_of(s, c, NULL, 0);
}

bool pti_is_constant(const pti_symbols *s, pti_poly a, int64_t *c)
{
    *c = s->sums[a].constant;
    return s->sums[a].nterms == 0;
}

uint32_t pti_single_atom(const pti_symbols *s, pti_poly a)
{
    const pti_sum *p = &s->sums[a];
    bool single = p->nterms == 1 && p->constant == 0 && p->terms[0].factor == 1 && p->terms[0].natoms == 1;
    return single ? p->terms[0].atoms[0] : PTI_NONE;
}

pti_poly pti_without_constant(pti_symbols *s, pti_poly a)
{
    pti_sum p = s->sums[a];
    return pti_sum_of(s, 0, p.terms, p.nterms);
}

pti_poly pti_atom_poly(pti_symbols *s, pti_atom a)
{
    uint32_t room = s->room_atoms;     /* the two lists grow together */
    if (!rehash(s) || !grow(s, (void **)&s->values, &room, s->natoms, sizeof *s->values) ||
        !grow(s, (void **)&s->atoms, &s->room_atoms, s->natoms, sizeof *s->atoms))
        return 0;
    uint32_t *place = &s->atom_hash[hash_of_atom(&a) & (s->hash_size - 1)], i = *place;
    while (i != PTI_NONE && !same_atom(&s->atoms[i], &a))
        i = s->atoms[i].next;
    if (i == PTI_NONE) {
        for (int k = 0; k < 3; k++)
            a.depends |= a.arg[k] == PTI_NONE ? 0 : s->sums[a.arg[k]].depends;
        a.next = *place;
        i = *place = s->natoms;
        s->atoms[s->natoms++] = a;
        pti_compute_atom(s, i);
    }
    pti_term t = {1, 1, {i}};
    return pti_sum_of(s, 0, &t, 1);
}

static int64_t wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrap_multiply(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* A formula that has grown past use is one opaque atom: the sum in brackets, as a product with 1. */
static pti_poly bracket(pti_symbols *s, pti_poly a, pti_poly b, pti_atom_kind kind)
{
    pti_atom atom = {.kind = kind, .type = PTX_TYPE_S64, .arg = {a, b, PTI_NONE}, .low = INT64_MIN, .high = INT64_MAX};
    return pti_atom_poly(s, atom);
}

pti_poly pti_add(pti_symbols *s, pti_poly a, pti_poly b)
{
    pti_term out[2 * PTI_MAX_TERMS];
    pti_sum x = s->sums[a], y = s->sums[b];
    uint32_t n = 0, i = 0, j = 0;
    while (i < x.nterms || j < y.nterms) {
        int order = i == x.nterms ? 1 : j == y.nterms ? -1 : compare_atoms(&x.terms[i], &y.terms[j]);
        out[n] = order <= 0 ? x.terms[i] : y.terms[j];
        if (order == 0)
            out[n].factor = wrap_add(x.terms[i].factor, y.terms[j].factor);
        i += order <= 0;
        j += order >= 0;
        n += out[n].factor != 0;
    }
    if (n > PTI_MAX_TERMS) {           /* the longer one becomes an atom */
        pti_poly one = pti_constant(s, 1);
        return x.nterms < y.nterms ? pti_add(s, a, bracket(s, b, one, PTI_ATOM_PRODUCT))
                                   : pti_add(s, bracket(s, a, one, PTI_ATOM_PRODUCT), b);
    }
    return pti_sum_of(s, wrap_add(x.constant, y.constant), out, n);
}

pti_poly pti_scale(pti_symbols *s, pti_poly a, int64_t factor)
{
    pti_term out[PTI_MAX_TERMS];
    pti_sum x = s->sums[a];
    uint32_t n = 0;
    for (uint32_t i = 0; i < x.nterms; i++) {
        out[n] = x.terms[i];
        out[n].factor = wrap_multiply(out[n].factor, factor);
        n += out[n].factor != 0;
    }
    return pti_sum_of(s, wrap_multiply(x.constant, factor), out, n);
}

/* False when the degree is too high. */
static bool multiply_terms(const pti_term *x, const pti_term *y, pti_term *out)
{
    out->factor = wrap_multiply(x->factor, y->factor);
    out->natoms = 0;
    if (x->natoms + y->natoms > PTI_MAX_DEGREE)
        return false;
    for (uint32_t i = 0, j = 0; i < x->natoms || j < y->natoms;) {
        bool left = j == y->natoms || (i < x->natoms && x->atoms[i] <= y->atoms[j]);
        out->atoms[out->natoms++] = left ? x->atoms[i++] : y->atoms[j++];
    }
    return true;
}

pti_poly pti_multiply(pti_symbols *s, pti_poly a, pti_poly b)
{
    int64_t c;
    if (pti_is_constant(s, a, &c))
        return pti_scale(s, b, c);
    if (pti_is_constant(s, b, &c))
        return pti_scale(s, a, c);
    pti_sum x = s->sums[a], y = s->sums[b];
    if (x.nterms * y.nterms > PTI_MAX_TERMS)
        return bracket(s, a, b, PTI_ATOM_PRODUCT);
    pti_poly sum = pti_add(s, pti_scale(s, pti_without_constant(s, a), y.constant), pti_scale(s, b, x.constant));
    for (uint32_t i = 0; i < x.nterms; i++)
        for (uint32_t j = 0; j < y.nterms; j++) {
            pti_term t;
            if (!multiply_terms(&x.terms[i], &y.terms[j], &t))
                return bracket(s, a, b, PTI_ATOM_PRODUCT);
            sum = pti_add(s, sum, pti_sum_of(s, 0, &t, t.factor != 0));
        }
    return sum;
}

void pti_free_symbols(pti_symbols *s)
{
    free(s->atoms);
    free(s->sums);
    free(s->values);
    free(s->scratch);
    free(s->atom_hash);
    free(s->sum_hash);
    ptx_arena_free(&s->arena);
    *s = (pti_symbols){0};
}
