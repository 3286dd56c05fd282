/* inputs.c - the values that a case is tried with. */
#include "conformance/conform.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). */
uint64_t conform_next(conform_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t conform_below(conform_random *r, uint32_t limit)
{
    return (uint32_t)((conform_next(r) >> 32) * limit >> 32);
}

conform_shape conform_shape_of(ptx_type type)
{
    const char *name = ptx_type_name(type), *x = strchr(name, 'x');
    int total = (int)ptx_type_bits(type), count = x ? atoi(x + 1) : 1;
    int stem = (int)(x ? (size_t)(x - name) : strlen(name));
    conform_shape s = {total / count, total / count, count, name[0] == 's', NULL};
    s.format = name[0] == 'u' ? NULL : ref_find_format(name, stem);
    if (s.format)
        s.bits = s.format->exponent + s.format->fraction + 1;
    if (type == PTX_TYPE_TF32) {         /* 19 bits in the upper part of a register, and any below: a plain 32-bit pattern */
        s.format = NULL;
        s.bits = s.step;
    }
    return s;
}

static uint64_t mask_of(int bits)
{
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

static uint32_t add(uint64_t *out, uint32_t n, uint64_t value, uint64_t mask)
{
    value &= mask;
    for (uint32_t i = 0; i < n; i++)
        if (out[i] == value)
            return n;
    out[n] = value;
    return n + 1;
}

static uint32_t float_specials(const ref_format *f, uint64_t mask, uint64_t *out)
{
    const uint64_t step = 1ull << f->fraction, one = (uint64_t)f->bias << f->fraction, top = mask ^ mask >> 1;
    const uint64_t values[] = {0, 1, step - 1, step, one - 1, one, one + 1, one + step / 2, one + 2 * step, one - step,
                               f->largest, f->largest - 1, f->largest + 1, f->largest + 2};
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        n = add(out, n, values[i], mask);
        n = add(out, n, values[i] | top, mask);
    }
    if (f->nan)
        n = add(out, n, f->nan, mask);
    return add(out, n, mask, mask);      /* a NaN with all bits, where the format has NaNs */
}

uint32_t conform_specials(const conform_shape *s, uint64_t out[CONFORM_MAX_SPECIALS])
{
    static const uint16_t small[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 100, 255, 256};
    const uint64_t mask = mask_of(s->bits), top = mask ^ mask >> 1;
    if (s->format)
        return float_specials(s->format, mask, out);
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        n = add(out, n, small[i], mask);
    const uint64_t edges[] = {top, top - 1, top + 1, mask, mask - 1, mask / 3};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        n = add(out, n, edges[i], mask);
    return n;
}

/* One unit of the last place beside what lies in the middle of two numbers of a smaller format: where rounding twice goes wrong. */
static uint64_t beside_tie(const ref_format *f, uint64_t any, conform_random *r)
{
    static const int fractions[] = {1, 2, 3, 7, 10, 23};
    const int kept = fractions[conform_below(r, sizeof fractions / sizeof *fractions)] + 1, cut = f->fraction > kept ? f->fraction - kept : 0;
    const uint64_t exponent = (uint64_t)(f->bias - 6 + (int)conform_below(r, 13)) << f->fraction;
    const uint64_t tie = (any & ~(mask_of(f->exponent) << f->fraction) & ~mask_of(cut)) | exponent | 1ull << cut;
    return conform_next(r) & 1 ? tie + 1 : tie - 1;
}

static uint64_t number(const conform_shape *s, conform_random *r)
{
    const uint64_t mask = mask_of(s->bits), any = conform_next(r) & mask;
    const ref_format *f = s->format;
    uint64_t specials[CONFORM_MAX_SPECIALS];
    switch (conform_below(r, 9)) {
    case 0: return specials[conform_below(r, conform_specials(s, specials))];
    case 1: case 2: return any;
    case 3: case 4:
        if (!f)
            return any >> conform_below(r, (uint32_t)s->bits);
        /* Around 1: sums meet, products stay in range. */
        return ((any & ~(mask_of(f->exponent) << f->fraction)) |
                (uint64_t)(f->bias - 6 + (int)conform_below(r, 13)) << f->fraction) & mask;
    case 5:
        if (f)
            return beside_tie(f, any, r) & mask;
        /* fall through */
    default:
        if (!f)
            return (conform_next(r) & 1 ? any : ~(any >> conform_below(r, (uint32_t)s->bits))) & mask;
        /* Few significant bits give ties and exact results. */
        return any & ~mask_of((int)conform_below(r, (uint32_t)f->fraction + 1)) &
               ~(conform_next(r) & 1 ? 3ull << (f->fraction + f->exponent - 2) : 0);
    }
}

uint64_t conform_value(const conform_shape *s, conform_random *r)
{
    uint64_t v = 0;
    for (int i = 0; i < s->count; i++)
        v |= number(s, r) << (i * s->step);
    return v;
}

/* ------------------------------------------------------------ a case's inputs */

static bool is_predicate(const conform_inputs *in, uint32_t k)
{
    return in->c->elems[in->sources[k]].type == PTX_TYPE_PRED;
}

static uint32_t width_of(const conform_inputs *in, uint32_t k)
{
    return is_predicate(in, k) ? 1 : (uint32_t)(in->shape[k].bits * in->shape[k].count);
}

void conform_inputs_start(conform_inputs *in, const conform_case *c, uint64_t random, bool all, uint64_t seed)
{
    memset(in, 0, sizeof *in);
    in->c = c;
    in->random = random;
    in->r.state = seed;
    for (const char *p = c->name; *p; p++)           /* cases differ even under one seed */
        in->r.state = in->r.state * 31 + (uint8_t)*p;
    uint32_t bits = 0, numbers = 0;
    for (uint32_t e = 0; e < c->nelems; e++) {
        if (c->elems[e].role != ISA_ROLE_SRC)
            continue;
        in->sources[in->nsources] = e;
        in->shape[in->nsources] = conform_shape_of(c->elems[e].type);
        bits += width_of(in, in->nsources);
        numbers += !is_predicate(in, in->nsources);
        in->nsources++;
    }
    if (bits == 0 || c->kind != CONFORM_LANE)
        return;
    if (bits <= 16 || (all && bits <= 32)) {
        in->exhaustive = 1ull << bits;
        in->random = 0;
        in->dense = numbers == in->nsources && (numbers == 1 || (numbers == 2 && in->shape[0].count == 1)) &&
                    in->shape[0].bits == in->shape[0].step;
        in->first_mask = mask_of(in->shape[0].bits * in->shape[0].count);
        return;
    }
    /* A single packed operand: all values in each half while the other holds something else. */
    if (numbers == 1 && in->nsources == 1 && in->shape[0].bits <= 16) {
        in->exhaustive = 1ull << in->shape[0].bits;
        in->by_parts = true;
    }
    /* What cannot be tried completely has more of the rest in a long run. */
    in->crossed_limit = all ? 1u << 18 : 8192;
    if (all && in->random < 1u << 18)
        in->random = 1u << 18;
    in->crossed = 1;
    uint64_t specials[CONFORM_MAX_SPECIALS];
    for (uint32_t k = 0; k < in->nsources; k++)
        in->crossed *= is_predicate(in, k) ? 2 : conform_specials(&in->shape[k], specials);
}

static uint64_t crossed_count(const conform_inputs *in)
{
    return in->crossed < in->crossed_limit ? in->crossed : in->crossed_limit;
}

uint64_t conform_inputs_total(const conform_inputs *in)
{
    return in->exhaustive + crossed_count(in) + in->random;
}

/* All bits of the operands as one number. */
static void take_all(const conform_inputs *in, uint64_t index, uint64_t *out)
{
    if (in->by_parts) {                              /* one packed operand, half by half */
        const conform_shape *s = &in->shape[0];
        out[0] = 0;
        for (int i = 0; i < s->count; i++)
            out[0] |= ((index + (uint64_t)i * (s->bits > 8 ? 0x5a5b : 0x4f)) & mask_of(s->bits)) << (i * s->step);
        return;
    }
    for (uint32_t k = 0; k < in->nsources; k++) {
        const conform_shape *s = &in->shape[k];
        if (s->bits == s->step && !is_predicate(in, k)) {
            const int width = s->bits * s->count;
            out[k] = index & mask_of(width);
            index = width < 64 ? index >> width : 0;
            continue;
        }
        out[k] = 0;
        for (int i = 0; i < (is_predicate(in, k) ? 1 : s->count); i++) {
            const int width = is_predicate(in, k) ? 1 : s->bits;
            out[k] |= (index & mask_of(width)) << (i * s->step);
            index >>= width;
        }
    }
}

/* Special values against each other; the other numbers of a packed operand hold something else. */
static void take_crossed(conform_inputs *in, uint64_t index, uint64_t *out)
{
    if (in->crossed > in->crossed_limit)             /* spread over the whole product; the step has no small factors */
        index = (uint64_t)((unsigned __int128)index * in->crossed / in->crossed_limit) + index % 7;
    uint64_t pick = index % in->crossed;
    for (uint32_t k = 0; k < in->nsources; k++) {
        uint64_t specials[CONFORM_MAX_SPECIALS];
        const conform_shape *s = &in->shape[k];
        const uint32_t n = is_predicate(in, k) ? 2 : conform_specials(s, specials);
        const uint64_t which = pick % n;
        pick /= n;
        if (is_predicate(in, k)) {
            out[k] = which;
            continue;
        }
        const int place = (int)(index % (uint64_t)s->count);
        out[k] = conform_value(s, &in->r) & ~(mask_of(s->bits) << (place * s->step));
        out[k] |= specials[which] << (place * s->step);
    }
}

static void take_random(conform_inputs *in, uint64_t *out)
{
    for (uint32_t k = 0; k < in->nsources; k++)
        out[k] = is_predicate(in, k) ? conform_next(&in->r) & 1 : conform_value(&in->shape[k], &in->r);
}

void conform_inputs_at(const conform_inputs *in, uint64_t index, uint64_t *sources, uint32_t n)
{
    uint64_t one[ISA_MAX_ELEMS];
    if (in->dense) {                                 /* two or more billion times */
        sources[0] = index & in->first_mask;
        if (in->nsources == 2)
            sources[n] = index >> in->shape[0].bits;
        return;
    }
    take_all(in, index, one);
    for (uint32_t k = 0; k < in->nsources; k++)
        sources[(size_t)k * n] = one[k];
}

uint32_t conform_inputs_next(conform_inputs *in, uint64_t *sources, uint32_t n)
{
    const uint64_t total = conform_inputs_total(in), left = total - in->at;
    const uint32_t fresh = left < n ? (uint32_t)left : n;
    uint64_t one[ISA_MAX_ELEMS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (i < fresh) {
            if (in->at < in->exhaustive)
                take_all(in, in->at, one);
            else if (in->at < in->exhaustive + crossed_count(in))
                take_crossed(in, in->at - in->exhaustive, one);
            else
                take_random(in, one);
            in->at++;
        }
        for (uint32_t k = 0; k < in->nsources; k++)
            sources[(size_t)k * n + i] = one[k];
    }
    return fresh;
}
