/* advice.c - what programs said about managed memory (cuMemAdvise, cuMemPrefetchAsync), kept for those who ask: nothing else comes of it. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"

enum { HOST_BIT = 63, NO_DEVICE = -2, HOST = -1 };

typedef struct said { cu_location preferred, prefetched; uint64_t accessed_by; bool read_mostly; } said;   /* a type of 0 is no place */
typedef struct piece { uint64_t from, to; said said; } piece;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* all of this file */
static piece *pieces;                  /* sorted, apart */
static size_t npieces;
static _Atomic bool any;

static bool same(const said *a, const said *b)
{
    return memcmp(&a->preferred, &b->preferred, sizeof a->preferred) == 0 && memcmp(&a->prefetched, &b->prefetched, sizeof a->prefetched) == 0 &&
           a->accessed_by == b->accessed_by && a->read_mostly == b->read_mostly;
}

static void append(piece *list, size_t *n, uint64_t from, uint64_t to, const said *said)
{
    if (from >= to)
        return;
    if (*n && list[*n - 1].to == from && same(&list[*n - 1].said, said))
        list[*n - 1].to = to;
    else
        list[(*n)++] = (piece){from, to, *said};
}

static void change(said *s, int32_t advice, cu_location where)
{
    const uint64_t bit = 1ull << (where.type == CUABI_CU_MEM_LOCATION_TYPE_DEVICE ? where.id : HOST_BIT);
    switch (advice) {
    case DR_PREFETCHED: s->prefetched = where; break;
    case CUABI_CU_MEM_ADVISE_SET_READ_MOSTLY: s->read_mostly = true; break;
    case CUABI_CU_MEM_ADVISE_UNSET_READ_MOSTLY: s->read_mostly = false; break;
    case CUABI_CU_MEM_ADVISE_SET_PREFERRED_LOCATION: s->preferred = where; break;
    case CUABI_CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: s->preferred = (cu_location){0, 0}; break;
    case CUABI_CU_MEM_ADVISE_SET_ACCESSED_BY: s->accessed_by |= bit; break;
    default: s->accessed_by &= ~bit; break;
    }
}

/* A new list in which [from, to) has been changed, or (advice 0) left out. */
static cu_result rewrite(uint64_t from, uint64_t to, int32_t advice, cu_location where)
{
    piece *list = malloc((2 * npieces + 3) * sizeof *list);
    size_t n = 0;
    uint64_t at = from;                /* up to which the range has been written */
    if (!list)
        return DR_ERROR(OUT_OF_MEMORY);
    for (size_t i = 0; i <= npieces; i++) {
        const piece none = {to, to, {{0, 0}, {0, 0}, 0, false}}, *p = i < npieces ? &pieces[i] : &none;
        const uint64_t first = p->from > from ? p->from : from, last = p->to < to ? p->to : to;
        said fresh = none.said, old = p->said;
        append(list, &n, p->from, p->to < from ? p->to : from, &p->said);
        if (p->to > from && advice) {
            change(&fresh, advice, where);
            append(list, &n, at, first < to ? first : to, &fresh);
            change(&old, advice, where);
            append(list, &n, first, last, &old);
            at = last > at ? last : at;
        }
        append(list, &n, p->from > to ? p->from : to, p->to, &p->said);
    }
    free(pieces);
    pieces = list;
    npieces = n;
    atomic_store(&any, n != 0);
    return CUABI_SUCCESS;
}

cu_result dr_advice_set(uint64_t address, uint64_t bytes, int32_t advice, cu_location where)
{
    pthread_mutex_lock(&lock);
    cu_result result = rewrite(address, address + bytes, advice, where);
    pthread_mutex_unlock(&lock);
    return result;
}

void dr_advice_forget(uint64_t address, uint64_t bytes)
{
    if (!atomic_load(&any))
        return;
    pthread_mutex_lock(&lock);
    rewrite(address, address + bytes, 0, (cu_location){0, 0});
    pthread_mutex_unlock(&lock);
}

/* What holds for all of [from, to). */
static said common(uint64_t from, uint64_t to)
{
    said all = {{0, 0}, {0, 0}, UINT64_MAX, true};
    uint64_t at = from;
    for (size_t i = 0; i < npieces; i++) {
        const said *s = &pieces[i].said;
        if (pieces[i].to <= from || pieces[i].from >= to)
            continue;
        bool first = at == from && pieces[i].from <= from;
        if (pieces[i].from > at)
            break;
        all.read_mostly &= s->read_mostly;
        all.accessed_by &= s->accessed_by;
        if (first || memcmp(&all.preferred, &s->preferred, sizeof all.preferred) != 0)
            all.preferred = first ? s->preferred : (cu_location){0, 0};
        if (first || memcmp(&all.prefetched, &s->prefetched, sizeof all.prefetched) != 0)
            all.prefetched = first ? s->prefetched : (cu_location){0, 0};
        at = pieces[i].to;
    }
    return at >= to ? all : (said){{0, 0}, {0, 0}, 0, false};
}

/* As the attributes have it that know devices and the host alone. */
static int32_t device_of(cu_location where)
{
    return where.type == CUABI_CU_MEM_LOCATION_TYPE_DEVICE ? where.id : where.type ? HOST : NO_DEVICE;
}

static void list_devices(int32_t *out, size_t room, uint64_t devices)
{
    for (size_t i = 0; i < room; i++) {
        int bit = devices ? __builtin_ctzll(devices) : -1;
        out[i] = bit < 0 ? NO_DEVICE : bit == HOST_BIT ? HOST : bit;
        devices &= devices - (devices != 0);
    }
}

cu_result dr_advice_get(void *data, size_t size, int32_t attribute, uint64_t address, uint64_t bytes)
{
    DR_NEED(data && size && size % 4 == 0 && attribute >= CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY &&
            attribute <= CUABI_CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID);
    DR_NEED(size == 4 || attribute == CUABI_CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY);
    pthread_mutex_lock(&lock);
    const said s = common(address, address + bytes);
    pthread_mutex_unlock(&lock);
    switch (attribute) {
    case CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *(int32_t *)data = s.read_mostly; break;
    case CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: *(int32_t *)data = device_of(s.preferred); break;
    case CUABI_CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: list_devices(data, size / 4, s.accessed_by); break;
    case CUABI_CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: *(int32_t *)data = device_of(s.prefetched); break;
    case CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *(int32_t *)data = s.preferred.type; break;
    case CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *(int32_t *)data = s.preferred.id; break;
    case CUABI_CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *(int32_t *)data = s.prefetched.type; break;
    default: *(int32_t *)data = s.prefetched.id; break;
    }
    return CUABI_SUCCESS;
}
