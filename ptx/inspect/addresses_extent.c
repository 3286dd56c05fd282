/* addresses_extent.c - patterns and slots of accesses, and which bytes of a base the threads of a block touch. */
#include "ptx/inspect/addresses_internal.h"
#include "ptx/inspect/flow_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MAPPED = 1 << 24 };
static const uint64_t most_work = UINT64_C(1) << 28;       /* bytes times threads */

/* What an access sorts by; built once, so that sorting needs no context. */
typedef struct key { uint32_t base, form, way, bytes, access; int64_t constant; } key;

typedef struct measurer {
    pti_symbols *s;
    pti_loops *loops;
    pti_addresses *a;
    key *keys;
    int64_t *values;
    uint64_t *set;
    uint64_t work;
} measurer;

static int compare_keys(const void *x, const void *y)
{
    const key *a = x, *b = y;
    if (a->base != b->base)
        return a->base < b->base ? -1 : 1;
    if (a->form != b->form)
        return a->form < b->form ? -1 : 1;
    if (a->way != b->way)
        return a->way < b->way ? -1 : 1;
    if (a->constant != b->constant)
        return a->constant < b->constant ? -1 : 1;
    return a->access < b->access ? -1 : a->access > b->access;
}

static uint32_t way_of(const pti_access *a)
{
    return (uint32_t)a->reads | (uint32_t)a->writes << 1;
}

static bool sort_accesses(measurer *m)
{
    pti_addresses *a = m->a;
    m->keys = calloc((size_t)a->count + 1, sizeof *m->keys);
    a->by_base = pti_take(&a->arena, a->count, sizeof *a->by_base);
    if (!m->keys || !a->by_base)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const pti_access *x = &a->list[i];
        m->keys[i] = (key){x->base, pti_without_constant(m->s, x->offset), way_of(x), x->bytes, i, m->s->sums[x->offset].constant};
    }
    if (m->s->failed)
        return false;
    qsort(m->keys, a->count, sizeof *m->keys, compare_keys);
    for (uint32_t i = 0; i < a->count; i++)
        a->by_base[i] = m->keys[i].access;
    return true;
}

/* ------------------------------------------------------------ patterns */

/* The one distance of sorted constants, equal ones aside. */
static int64_t step_of(const key *k, uint32_t n)
{
    int64_t step = 0;
    for (uint32_t i = 1; i < n; i++) {
        int64_t d = (int64_t)((uint64_t)k[i].constant - (uint64_t)k[i - 1].constant);
        if (d == 0)
            continue;
        if (step && d != step)
            return 0;
        step = d;
    }
    return step;
}

static void add_pattern(measurer *m, uint32_t from, uint32_t end)
{
    pti_addresses *a = m->a;
    const key *k = &m->keys[from];
    pti_pattern *p = &a->patterns[a->npatterns];
    *p = (pti_pattern){.base = k->base, .form = k->form, .reads = k->way & 1, .writes = k->way >> 1, .bytes = k->bytes, .first = from,
                       .count = end - from, .least = k->constant, .most = m->keys[end - 1].constant, .step = step_of(k, end - from)};
    for (uint32_t i = from; i < end; i++) {
        a->list[m->keys[i].access].pattern = a->npatterns;
        p->bytes = m->keys[i].bytes == p->bytes ? p->bytes : 0;
    }
    a->npatterns++;
}

static bool find_patterns(measurer *m)
{
    pti_addresses *a = m->a;
    a->patterns = pti_take(&a->arena, a->count, sizeof *a->patterns);
    if (!a->patterns)
        return false;
    for (uint32_t i = 0, end; i < a->count; i = end) {
        pti_base_info *b = &a->bases[m->keys[i].base];
        for (end = i; end < a->count && m->keys[end].base == m->keys[i].base && m->keys[end].form == m->keys[i].form &&
                      m->keys[end].way == m->keys[i].way;)
            end++;
        if (b->count == 0) {
            b->first = i;
            b->first_pattern = a->npatterns;
        }
        b->count += end - i;
        b->npatterns++;
        add_pattern(m, i, end);
    }
    return true;
}

/* ------------------------------------------------------------ slots */

typedef struct slot { uint32_t form; uint32_t bytes; int64_t at; } slot;

static int compare_slots(const void *x, const void *y)
{
    const slot *a = x, *b = y;
    if (a->form != b->form)
        return a->form < b->form ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool count_slots(measurer *m, pti_base_info *b)
{
    size_t n = 0, room = 0;
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        room += m->a->list[m->a->by_base[i]].words;
    slot *slots = malloc((room + 1) * sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const pti_access *x = &m->a->list[m->a->by_base[i]];
        for (uint32_t w = 0; w < x->words; w++) {
            uint32_t bytes = x->bytes / x->words;
            slots[n++] = (slot){m->keys[i].form, bytes, (int64_t)((uint64_t)m->keys[i].constant + (uint64_t)w * bytes)};
        }
    }
    qsort(slots, n, sizeof *slots, compare_slots);
    for (size_t i = 0; i < n; i++)
        b->slots += i == 0 || compare_slots(&slots[i], &slots[i - 1]) != 0;
    free(slots);
    return true;
}

/* ------------------------------------------------------------ extents */

/* What lies further off than any object is not measured: ends and differences of offsets stay in 64 bits. */
static const int64_t most_offset = INT64_C(1) << 61;

/* Begins to go through the offsets of an access; false when they are not known or would take too long. */
static bool begin(measurer *m, const pti_access *a, pti_turns *turns)
{
    return m->loops && a->bytes && m->work <= most_work && pti_begin_turns(m->loops, a->insn, a->offset, NULL, turns);
}

static bool next(measurer *m, const pti_access *a, pti_turns *turns)
{
    m->work += (uint64_t)m->s->nthreads * (8 + a->bytes);
    return pti_next_turn(turns, m->values, m->set);
}

static bool is_in(const uint64_t *set, uint32_t thread)
{
    return set[thread / 64] >> thread % 64 & 1;
}

/* ldmatrix takes its rows' addresses from the first 8, 16 or 32 lanes. */
static uint32_t lanes_used(const ptx_insn *insn)
{
    const char *n = insn->operation && strstr(insn->operation, "matrix") ? isa_choice(insn->form, &insn->tuple, "num") : NULL;
    return n ? (uint32_t)(n[1] - '0') * 8 : 32;
}

static void measure_access(measurer *m, pti_access *a)
{
    pti_base_info *b = &m->a->bases[a->base];
    b->nreads += a->reads;
    b->nwrites += a->writes;
    pti_turns turns;
    uint32_t lanes = lanes_used(&m->s->flow->function->insns[a->insn]);
    bool any = false, far = false, begun = begin(m, a, &turns);
    while (begun && next(m, a, &turns))
        for (uint32_t i = 0; i < m->s->nthreads; i++) {
            if (!is_in(m->set, i) || i % 32 >= lanes)
                continue;
            if (m->values[i] > most_offset || m->values[i] < -most_offset) {
                far = true;
                continue;
            }
            a->low = !any || m->values[i] < a->low ? m->values[i] : a->low;
            a->high = !any || m->values[i] + a->bytes > a->high ? m->values[i] + a->bytes : a->high;
            any = true;
        }
    a->computed = begun && !turns.failed && !far;
    a->uncertain = a->computed && turns.uncertain;
    if (!a->computed) {
        a->low = a->high = 0;
        b->nopen++;
        b->open_on |= m->s->sums[a->offset].depends;
        return;
    }
    if (!any)
        return;
    bool first = b->low == b->high;
    b->low = first || a->low < b->low ? a->low : b->low;
    b->high = first || a->high > b->high ? a->high : b->high;
}

/* For each byte: the last instruction that touches it, + 1; its top bit when there are several. */
static void map_access(measurer *m, const pti_access *a, uint32_t number, uint32_t *map, int64_t low)
{
    pti_turns turns;
    if (!a->computed || a->low == a->high || !begin(m, a, &turns))
        return;
    uint32_t lanes = lanes_used(&m->s->flow->function->insns[a->insn]), several = UINT32_C(1) << 31;
    while (next(m, a, &turns))
        for (uint32_t i = 0; i < m->s->nthreads; i++)
            for (uint32_t k = 0; is_in(m->set, i) && i % 32 < lanes && k < a->bytes; k++) {
                uint32_t *byte = &map[m->values[i] - low + k];
                *byte = (*byte & several) | (*byte && (*byte & ~several) != number ? several : 0) | number;
            }
}

static void count_bytes(pti_base_info *b, const uint32_t *map)
{
    uint64_t size = (uint64_t)(b->high - b->low);
    for (uint64_t i = 0, gap = 0; i < size; i++) {
        b->touched += map[i] != 0;
        b->repeated += map[i] >> 31;
        gap = map[i] ? 0 : gap + 1;
        b->gap_bytes += map[i] == 0;
        if (gap == 1 && b->ngaps++ < PTI_MAX_GAPS)
            b->gaps[b->ngaps - 1].from = b->low + (int64_t)i;
        if (gap && b->ngaps <= PTI_MAX_GAPS)
            b->gaps[b->ngaps - 1].to = b->low + (int64_t)i + 1;
    }
}

static bool map_base(measurer *m, pti_base_info *b)
{
    if (b->low == b->high || (uint64_t)b->high - (uint64_t)b->low > MOST_MAPPED || m->work > most_work)
        return true;
    uint32_t *map = calloc((size_t)(b->high - b->low), sizeof *map);
    if (!map)
        return false;
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        map_access(m, &m->a->list[m->a->by_base[i]], m->a->by_base[i] + 1, map, b->low);
    count_bytes(b, map);
    b->mapped = m->work <= most_work;
    free(map);
    return true;
}

static bool measure(measurer *m)
{
    pti_addresses *a = m->a;
    m->values = malloc(PTI_MAX_THREADS * sizeof *m->values);
    m->set = malloc(PTI_MAX_THREADS / 64 * sizeof *m->set);
    if (!m->values || !m->set || !sort_accesses(m) || !find_patterns(m))
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        measure_access(m, &a->list[i]);
    for (uint32_t b = 0; b < a->nbases; b++)
        if (!count_slots(m, &a->bases[b]) || !map_base(m, &a->bases[b]))
            return false;
    return true;
}

pti_status pti_measure_addresses(pti_symbols *s, pti_loops *loops, pti_addresses *a)
{
    measurer m = {.s = s, .loops = loops, .a = a};
    bool done = measure(&m);
    free(m.keys);
    free(m.values);
    free(m.set);
    return done ? PTI_OK : PTI_MEMORY;
}
