/* shared_bytes.c - which warps touch which byte. */
#include "ptx/inspect/shared_internal.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t most_work = UINT64_C(1) << 28;

bool pti_open_map(pti_byte_map *map)
{
    map->bytes = calloc((size_t)map->size + 1, sizeof *map->bytes);
    map->values = malloc(PTI_MAX_THREADS * sizeof *map->values);
    map->set = malloc(PTI_MAX_THREADS / 64 * sizeof *map->set);
    map->uncertain = calloc((size_t)map->a->count + 1, 1);
    map->low = map->high = 0;
    return map->bytes && map->values && map->set && map->uncertain;
}

void pti_close_map(pti_byte_map *map)
{
    free(map->bytes);
    free(map->uncertain);
    free(map->values);
    free(map->set);
}

void pti_clear_map(pti_byte_map *map)
{
    memset(map->bytes + map->low, 0, (size_t)(map->high - map->low) * sizeof *map->bytes);
    map->work += (uint64_t)(map->high - map->low);
    map->low = map->high = 0;
}

bool pti_map_is_spent(const pti_byte_map *map)
{
    return map->work > most_work;
}

int64_t pti_shared_offset(const pti_symbols *s, const pti_addresses *a, const pti_access *x)
{
    return (int64_t)s->atoms[a->bases[x->base].atom].variable->offset;
}

typedef struct visit {
    pti_byte_map *map;
    uint32_t access, warp;
    int64_t at;
    pti_on_conflict found;
    void *user;
} visit;

/* Strong operations are no race among themselves, though a barrier between them may well matter. */
static bool hold(const visit *v, const uint32_t who[2], const uint8_t warp[2], bool race)
{
    for (int i = 0; i < 2 && who[i]; i++)
        if (warp[i] != v->warp && !(race && v->map->a->list[who[i] - 1].strong && v->map->a->list[v->access].strong) &&
            !v->found(v->user, who[i] - 1, v->access, v->at, warp[i], v->warp))
            return false;
    return true;
}

static void enter(const visit *v, uint32_t who[2], uint8_t warp[2])
{
    int i = who[0] == 0 ? 0 : warp[0] == v->warp ? 2 : who[1] == 0 ? 1 : 2;
    if (i == 2)
        return;
    who[i] = v->access + 1;
    warp[i] = (uint8_t)v->warp;
}

static bool visit_byte(const visit *v, bool entering)
{
    const pti_access *x = &v->map->a->list[v->access];
    pti_byte *b = &v->map->bytes[v->at];
    bool go_on = true;
    if (v->found)
        go_on = hold(v, b->writer, b->writer_warp, entering) && (!x->writes || hold(v, b->reader, b->reader_warp, entering));
    if (entering && x->writes)
        enter(v, b->writer, b->writer_warp);
    if (entering && x->reads)
        enter(v, b->reader, b->reader_warp);
    return go_on;
}

/* The bytes of one point: what is found there, and whether to go on. */
static bool visit_threads(pti_byte_map *map, visit *v, int64_t base, bool entering)
{
    const pti_access *x = &map->a->list[v->access];
    for (uint32_t t = 0; t < map->s->nthreads; t++) {
        if (!(map->set[t / 64] >> t % 64 & 1))
            continue;
        v->warp = pti_warp_of(t);
        for (uint32_t k = 0; k < x->bytes; k++) {
            v->at = base + map->values[t] + k;
            if (v->at < 0 || v->at >= map->size)
                continue;              /* an overrun, told by itself */
            map->low = map->low == map->high || v->at < map->low ? v->at : map->low;
            map->high = v->at + 1 > map->high ? v->at + 1 : map->high;
            if (!visit_byte(v, entering))
                return false;
        }
    }
    return true;
}

void pti_map_access(pti_byte_map *map, uint32_t access, const pti_given *given, bool entering, pti_on_conflict found, void *user)
{
    const pti_access *x = &map->a->list[access];
    int64_t base = pti_shared_offset(map->s, map->a, x);
    bool go_on = true;
    pti_turns turns;
    if (!x->computed || x->low == x->high || pti_map_is_spent(map) || !pti_begin_turns(map->loops, x->insn, x->offset, given, &turns))
        return;
    visit v = {.map = map, .access = access, .found = found, .user = user};
    while (pti_next_turn(&turns, map->values, map->set)) {
        map->work += (uint64_t)map->s->nthreads * (8 + x->bytes);
        map->uncertain[access] = turns.uncertain;
        go_on = go_on && !pti_map_is_spent(map) && visit_threads(map, &v, base, entering);
    }
    if (turns.failed)
        map->work = UINT64_MAX;        /* nothing can be said then */
}

void pti_ranges_of_map(const pti_byte_map *map, bool written, pti_ranges *out)
{
    bool before = false;
    *out = (pti_ranges){0};
    for (int64_t i = map->low; i < map->high; i++) {
        bool touched = written ? map->bytes[i].writer[0] != 0 : map->bytes[i].reader[0] != 0;
        out->bytes += touched;
        if (touched && !before && out->count++ < PTI_MAX_RANGES)
            out->list[out->count - 1].from = i;
        if (touched && out->count <= PTI_MAX_RANGES)
            out->list[out->count - 1].to = i + 1;
        before = touched;
    }
}
