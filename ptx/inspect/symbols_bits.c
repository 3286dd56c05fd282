/* symbols_bits.c - masks, shifts and divisions of sums, so that what compilers make of index arithmetic becomes sums again. */
#include "ptx/inspect/symbols.h"

static uint32_t trailing_zeros(int64_t v)
{
    return v ? (uint32_t)__builtin_ctzll((uint64_t)v) : 64;
}

/* Bits from `from` up to the highest one of `high`. */
static uint64_t bits_between(uint32_t from, int64_t high)
{
    if (from >= 64 || high <= 0)           /* bits of what is not negative */
        return 0;
    uint32_t top = 64 - (uint32_t)__builtin_clzll((uint64_t)high);
    uint64_t below = top >= 64 ? UINT64_MAX : (UINT64_C(1) << top) - 1;
    return below & ~((UINT64_C(1) << from) - 1);
}

static uint64_t bits_above(uint32_t from)
{
    return from >= 64 ? 0 : ~((UINT64_C(1) << from) - 1);
}

/* Bits that a part of a sum may have set; in two's complement where it may be negative. */
static uint64_t bits_of_term(const pti_symbols *s, const pti_term *t)
{
    __int128 high = t->factor;
    uint32_t zeros = trailing_zeros(t->factor);
    if (t->factor < 0)
        return bits_above(zeros);
    const pti_atom *only = &s->atoms[t->atoms[0]];
    if (t->natoms == 1 && only->bits && (t->factor & (t->factor - 1)) == 0)
        return only->bits << zeros;
    if (t->natoms == 1 && only->bits)
        zeros += trailing_zeros((int64_t)only->bits);
    for (uint32_t a = 0; a < t->natoms; a++) {
        const pti_atom *atom = &s->atoms[t->atoms[a]];
        if (atom->low < 0 || atom->high == INT64_MAX || high > INT64_MAX)
            return bits_above(zeros);
        high *= atom->high;
    }
    return high > INT64_MAX ? bits_above(zeros) : bits_between(zeros, (int64_t)high);
}

/* Bits that a sum may have set: where no two parts share one nothing is carried, else everything above may be. */
uint64_t pti_bits_of(const pti_symbols *s, pti_poly a)
{
    const pti_sum *p = &s->sums[a];
    if (p->bits)
        return p->bits;
    uint64_t bits = p->constant < 0 ? bits_above(trailing_zeros(p->constant)) : (uint64_t)p->constant;
    for (uint32_t i = 0; i < p->nterms; i++) {
        uint64_t more = bits_of_term(s, &p->terms[i]);
        uint64_t shared = bits & more;
        bits |= more | (shared ? bits_above(trailing_zeros((int64_t)shared)) : 0);
    }
    return p->low >= 0 && p->high != INT64_MAX ? bits & bits_between(0, p->high) : bits;
}

/* 2^n where n < 63. */
static int64_t power(uint32_t n)
{
    return (int64_t)1 << n;
}

/* The parts of a that 2^n does not divide; the constant's remainder is not negative. */
static pti_poly remainder_part(pti_symbols *s, pti_poly a, uint32_t n)
{
    pti_sum p = s->sums[a];
    pti_term out[PTI_MAX_TERMS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p.nterms; i++)
        if (trailing_zeros(p.terms[i].factor) < n)
            out[count++] = p.terms[i];
    return pti_sum_of(s, p.constant & (power(n) - 1), out, count);
}

/* The largest number that divides all parts; 0 for the constant 0. */
static uint64_t content(const pti_symbols *s, pti_poly a)
{
    const pti_sum *p = &s->sums[a];
    uint64_t g = (uint64_t)(p->constant < 0 ? -(__int128)p->constant : p->constant);
    for (uint32_t i = 0; i < p->nterms; i++) {
        uint64_t f = (uint64_t)(p->terms[i].factor < 0 ? -(__int128)p->terms[i].factor : p->terms[i].factor);
        while (f) {
            uint64_t r = g % f;
            g = f;
            f = r;
        }
    }
    return g;
}

/* a / d where d divides all parts. */
static pti_poly divided(pti_symbols *s, pti_poly a, int64_t d)
{
    pti_sum p = s->sums[a];
    pti_term out[PTI_MAX_TERMS];
    for (uint32_t i = 0; i < p.nterms; i++) {
        out[i] = p.terms[i];
        out[i].factor /= d;
    }
    return pti_sum_of(s, p.constant / d, out, p.nterms);
}

static bool within(const pti_symbols *s, pti_poly a, int64_t low, int64_t high)
{
    return s->sums[a].low >= low && s->sums[a].high <= high && s->sums[a].high != INT64_MAX && s->sums[a].low != INT64_MIN;
}

pti_poly pti_low_bits(pti_symbols *s, pti_poly a, uint32_t n)
{
    if (n >= 63)
        return a;
    a = remainder_part(s, a, n);
    if (within(s, a, 0, power(n) - 1))
        return a;
    if (n == 1 && within(s, a, 1, 2))
        return pti_add(s, pti_constant(s, 2), pti_scale(s, a, -1));
    uint32_t zeros = trailing_zeros((int64_t)content(s, a));
    if (zeros)
        return pti_scale(s, pti_low_bits(s, divided(s, a, power(zeros)), n - zeros), power(zeros));
    uint32_t atom = pti_single_atom(s, a);
    if (atom != PTI_NONE && s->atoms[atom].kind == PTI_ATOM_LOW_BITS)      /* of more bits: else it would be within */
        return pti_low_bits(s, s->atoms[atom].arg[0], n);
    return pti_atom_poly(s, (pti_atom){.kind = PTI_ATOM_LOW_BITS, .number = n, .arg = {a, PTI_NONE, PTI_NONE},
                                       .low = 0, .high = power(n) - 1});
}

/* ------------------------------------------------------------ division */

static pti_poly quotient_atom(pti_symbols *s, pti_poly a, uint32_t d)
{
    int64_t high = s->sums[a].high;
    return pti_atom_poly(s, (pti_atom){.kind = PTI_ATOM_QUOTIENT, .number = d, .arg = {a, PTI_NONE, PTI_NONE}, .low = 0,
                                       .high = high == INT64_MAX ? high : high / d});
}

pti_poly pti_divide(pti_symbols *s, pti_poly a, uint32_t d)
{
    int64_t c;
    if (pti_is_constant(s, a, &c) && c >= 0)
        return pti_constant(s, c / d);
    return within(s, a, 0, d - 1) ? pti_constant(s, 0) : quotient_atom(s, a, d);
}

/* g * x >> n is x / d for 0 <= x <= N when g * d = 2^n + e and 0 <= e * N < 2^n (Granlund and Montgomery 1994). */
static bool as_quotient(pti_symbols *s, pti_poly a, uint32_t n, pti_poly *out)
{
    uint64_t g = content(s, a);
    if (g < 3 || g >= (UINT64_C(1) << 40) || n > 62)
        return false;
    pti_poly x = divided(s, a, (int64_t)g);
    uint64_t d = ((uint64_t)power(n) + g - 1) / g;
    __int128 e = (__int128)g * d - power(n);
    if (!within(s, x, 0, INT64_MAX / (int64_t)g) || d < 2 || d > UINT32_MAX || e * s->sums[x].high >= power(n))
        return false;
    *out = pti_divide(s, x, (uint32_t)d);
    return true;
}

static pti_poly shift_atom(pti_symbols *s, pti_poly a, uint32_t n)
{
    uint32_t atom = pti_single_atom(s, a);
    if (atom != PTI_NONE && s->atoms[atom].kind == PTI_ATOM_SHIFT && s->atoms[atom].number + n < 63)
        return shift_atom(s, s->atoms[atom].arg[0], s->atoms[atom].number + n);
    const pti_sum *p = &s->sums[a];
    return pti_atom_poly(s, (pti_atom){.kind = PTI_ATOM_SHIFT, .number = n, .arg = {a, PTI_NONE, PTI_NONE},
                                       .low = p->low == INT64_MIN ? p->low : p->low >> n,
                                       .high = p->high == INT64_MAX ? p->high : p->high >> n});
}

pti_poly pti_shift_right(pti_symbols *s, pti_poly a, uint32_t n)
{
    if (n == 0)
        return a;
    if (n >= 63)
        return within(s, a, 0, INT64_MAX - 1) ? pti_constant(s, 0) : shift_atom(s, a, 63);
    uint32_t a_zeros = trailing_zeros((int64_t)content(s, a));
    if (a_zeros >= n)
        return divided(s, a, power(n));
    pti_poly product = divided(s, a, power(a_zeros)), quotient;
    if (as_quotient(s, product, n - a_zeros, &quotient))
        return quotient;
    pti_poly rest = remainder_part(s, a, n), whole = divided(s, pti_add(s, a, pti_scale(s, rest, -1)), power(n));
    if (within(s, rest, 0, power(n) - 1))
        return whole;
    uint32_t zeros = trailing_zeros((int64_t)content(s, rest));   /* < n: rest is not 0 */
    rest = divided(s, rest, power(zeros));
    if (n - zeros == 1 && within(s, rest, 1, 2))
        return pti_add(s, whole, pti_add(s, rest, pti_constant(s, -1)));
    if (!as_quotient(s, rest, n - zeros, &quotient))
        quotient = shift_atom(s, rest, n - zeros);
    return pti_add(s, whole, quotient);
}

/* ------------------------------------------------------------ logic */

static uint64_t all_bits(ptx_type type)
{
    uint32_t n = ptx_type_bits(type);
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

static pti_poly logic_atom(pti_symbols *s, pti_atom_kind kind, pti_poly a, pti_poly b, ptx_type type)
{
    if (a > b) {
        pti_poly t = a;
        a = b;
        b = t;
    }
    uint64_t x = pti_bits_of(s, a) & all_bits(type), y = pti_bits_of(s, b) & all_bits(type);
    uint64_t bits = kind == PTI_ATOM_AND ? x & y : x | y;
    int64_t high = bits > INT64_MAX ? INT64_MAX : (int64_t)bits_between(0, (int64_t)bits);
    return pti_atom_poly(s, (pti_atom){.kind = kind, .type = type, .arg = {a, b, PTI_NONE},
                                       .low = bits > INT64_MAX ? INT64_MIN : 0, .high = high});
}

pti_poly pti_mask(pti_symbols *s, pti_poly a, uint64_t mask, ptx_type type)
{
    mask &= all_bits(type);
    uint64_t bits = pti_bits_of(s, a);
    if (mask == 0 || (bits & mask) == 0)
        return pti_constant(s, 0);
    if (mask == all_bits(type) || (bits & ~mask) == 0)
        return a;
    uint32_t from = trailing_zeros((int64_t)mask), count = (uint32_t)__builtin_popcountll(mask);
    if (((mask >> from) & ((mask >> from) + 1)) != 0)        /* not one run of bits */
        return logic_atom(s, PTI_ATOM_AND, a, pti_constant(s, (int64_t)mask), type);
    pti_poly field = pti_shift_right(s, a, from);
    if (from + count < ptx_type_bits(type))
        field = pti_low_bits(s, field, count);
    return pti_scale(s, field, power(from));
}

pti_poly pti_or(pti_symbols *s, pti_poly a, pti_poly b, ptx_type type)
{
    if (a == b)
        return a;
    return (pti_bits_of(s, a) & pti_bits_of(s, b) & all_bits(type)) == 0 ? pti_add(s, a, b) : logic_atom(s, PTI_ATOM_OR, a, b, type);
}

pti_poly pti_xor(pti_symbols *s, pti_poly a, pti_poly b, ptx_type type)
{
    int64_t c, ones = (int64_t)(all_bits(type));
    if (a == b)
        return pti_constant(s, 0);
    if (pti_is_constant(s, b, &c) && (c == -1 || c == ones))     /* not */
        return pti_add(s, pti_constant(s, -1), pti_scale(s, a, -1));
    return (pti_bits_of(s, a) & pti_bits_of(s, b) & all_bits(type)) == 0 ? pti_add(s, a, b) : logic_atom(s, PTI_ATOM_XOR, a, b, type);
}

pti_poly pti_and(pti_symbols *s, pti_poly a, pti_poly b, ptx_type type)
{
    int64_t c;
    if (pti_is_constant(s, b, &c))
        return pti_mask(s, a, (uint64_t)c, type);
    if (pti_is_constant(s, a, &c))
        return pti_mask(s, b, (uint64_t)c, type);
    return a == b ? a : logic_atom(s, PTI_ATOM_AND, a, b, type);
}

/* ------------------------------------------------------------ ranges of types */

bool pti_fits(const pti_symbols *s, pti_poly a, ptx_type type)
{
    uint32_t n = ptx_type_bits(type);
    bool is_signed = ptx_type_class(type) == 's';
    if (n >= 64)
        return is_signed ? s->sums[a].low != INT64_MIN && s->sums[a].high != INT64_MAX : within(s, a, 0, INT64_MAX - 1);
    return within(s, a, is_signed ? -power(n - 1) : 0, is_signed ? power(n - 1) - 1 : power(n) - 1);
}

pti_poly pti_cut(pti_symbols *s, pti_poly a, ptx_type type, bool *assumed)
{
    int64_t c;
    uint32_t n = ptx_type_bits(type);
    if (pti_fits(s, a, type))
        return a;
    if (n < 64 && pti_is_constant(s, a, &c)) {
        uint64_t low = (uint64_t)c & all_bits(type);
        bool negative = ptx_type_class(type) == 's' && low >> (n - 1) & 1;
        return pti_constant(s, (int64_t)(negative ? low | ~all_bits(type) : low));
    }
    if (s->sums[a].depends & ~(uint32_t)(PTI_ON_LANE | PTI_ON_THREAD)) {
        *assumed = true;
        return a;
    }
    if (n >= 64)                       /* values are kept in 64 bits with a sign */
        return PTI_NONE;
    if (ptx_type_class(type) != 's')
        return pti_low_bits(s, a, n);
    return pti_atom_poly(s, (pti_atom){.kind = PTI_ATOM_CUT, .type = type, .arg = {a, PTI_NONE, PTI_NONE},
                                       .low = -power(n - 1), .high = power(n - 1) - 1});
}
