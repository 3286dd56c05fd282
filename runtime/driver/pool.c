/* pool.c - memory in the order of streams: cuMemAllocAsync, cuMemFreeAsync, and the pools that they come from.
 *
 * An allocation is there at once, which no program can tell from one that is there in time; a free takes its turn in the stream. Pools
 * keep accounts and give everything back as soon as it is free.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/graph.h"

struct dr_pool {
    dr_object head;
    dr_device *device;
    cu_pool_props props;
    bool standard;                     /* the device's own, which nobody may destroy */
    int32_t reuse[4];
    _Atomic uint64_t used, high, threshold;
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static dr_pool *make_pool(dr_device *d)
{
    dr_pool *p = dr_object_new(DR_POOL, sizeof *p);
    if (!p)
        return NULL;
    p->device = d;
    p->reuse[1] = p->reuse[2] = p->reuse[3] = 1;
    p->props.allocation_type = 1;      /* pinned, as all device memory is */
    p->props.location = (cu_location){CUABI_CU_MEM_LOCATION_TYPE_DEVICE, d->ordinal};
    return p;
}

/* The default pool, made when somebody first wants one. */
static dr_pool *default_pool(dr_device *d)
{
    pthread_mutex_lock(&pool_lock);
    if (!d->default_pool) {
        d->default_pool = make_pool(d);
        if (d->default_pool)
            d->default_pool->standard = true;
    }
    if (!d->current_pool)
        d->current_pool = d->default_pool;
    pthread_mutex_unlock(&pool_lock);
    return d->default_pool;
}

static cu_result alloc(dr_context *c, dr_pool *p, size_t bytes, cu_address *address)
{
    cu_result result = dr_memory_new(c, bytes, DR_MEMORY_DEVICE, 0, false, address);
    if (result)
        return result;
    dr_range_set_pool(*address, p);
    uint64_t used = atomic_fetch_add(&p->used, bytes) + bytes, high = atomic_load(&p->high);
    while (used > high && !atomic_compare_exchange_weak(&p->high, &high, used)) {}
    return CUABI_SUCCESS;
}

/* The pool is remembered by its ranges, which outlive its handle: nothing is counted in a dead one. */
static void account(const dr_range *r)
{
    if (r->pool && dr_object_of(r->pool, DR_POOL))
        atomic_fetch_sub(&r->pool->used, r->bytes);
}

cu_result dr_pool_free_now(const dr_range *range)
{
    cu_result result = dr_memory_free(range->base, false);
    if (!result)
        account(range);
    return result;
}

cu_result dr_pool_free_done(uint64_t address)
{
    dr_range range;
    if (!dr_range_find(address, &range) || range.base != address)
        return DR_ERROR(INVALID_VALUE);
    return range.of_graph ? CUABI_SUCCESS : dr_pool_free_now(&range);
}

static cu_result alloc_async(cu_address *address, size_t bytes, dr_pool *p, cu_stream handle)
{
    DR_NEED(address && bytes);
    DR_USE(c);
    dr_stream *s;
    cu_result result = dr_stream_of(c, handle, &s);
    if (result)
        return result;
    if (!p && default_pool(s->context->device))
        p = s->context->device->current_pool;
    if (!p)
        return DR_ERROR(OUT_OF_MEMORY);
    if (p->device != s->context->device)
        return DR_ERROR(INVALID_VALUE);
    return dr_stream_captured(s) ? dr_capture_alloc(s, bytes, address) : alloc(s->context, p, bytes, address);
}

cu_result impl_cuMemAllocAsync(cu_address *address, size_t bytes, cu_stream stream)
{
    return alloc_async(address, bytes, NULL, stream);
}

cu_result impl_cuMemAllocFromPoolAsync(cu_address *address, size_t bytes, cu_pool pool, cu_stream stream)
{
    dr_pool *p = dr_object_of(pool, DR_POOL);
    return p ? alloc_async(address, bytes, p, stream) : DR_ERROR(INVALID_VALUE);
}

cu_result impl_cuMemFreeAsync(cu_address address, cu_stream stream)
{
    DR_USE(c);
    dr_range range;
    dr_stream *s;
    cu_result result = dr_stream_of(c, stream, &s);
    if (result)
        return result;
    if (!address || !dr_range_find(address, &range) || range.base != address || range.kind != DR_MEMORY_DEVICE || range.hidden)
        return DR_ERROR(INVALID_VALUE);
    dr_work work = {.kind = DR_WORK_FREE, .of.address = address};
    if (dr_stream_captured(s) || range.of_graph)
        return dr_stream_submit(s, &work, NULL, NULL);
    if (!dr_range_claim(address, true))
        return DR_ERROR(INVALID_VALUE);
    result = dr_stream_submit(s, &work, NULL, NULL);
    if (result)
        dr_range_claim(address, false);
    return result;
}

/* ------------------------------------------------------------ pools */

#define USE_POOL(p, handle)                                                                                            \
    dr_pool *p = dr_object_of(handle, DR_POOL);                                                                        \
    if (!p)                                                                                                            \
    return dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE)

cu_result impl_cuMemPoolCreate(cu_pool *pool, const cu_pool_props *pool_props)
{
    DR_NEED(pool && pool_props);
    if (dr_ready())
        return dr_ready();
    dr_device *d = dr_device_at(pool_props->location.id);
    if (pool_props->location.type != CUABI_CU_MEM_LOCATION_TYPE_DEVICE || pool_props->handle_types)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "pools of host memory, and pools for other processes");
    if (!d)
        return DR_ERROR(INVALID_VALUE);
    dr_pool *p = make_pool(d);
    if (!p)
        return DR_ERROR(OUT_OF_MEMORY);
    p->props = *pool_props;
    *pool = p;
    return CUABI_SUCCESS;
}

cu_result impl_cuMemPoolDestroy(cu_pool pool)
{
    USE_POOL(p, pool);
    if (p->standard)
        return DR_ERROR(INVALID_VALUE);
    pthread_mutex_lock(&pool_lock);
    if (p->device->current_pool == p)
        p->device->current_pool = p->device->default_pool;
    pthread_mutex_unlock(&pool_lock);
    dr_object_free(p, DR_POOL);
    return CUABI_SUCCESS;
}

cu_result impl_cuMemPoolTrimTo(cu_pool pool, size_t min_bytes_to_keep)
{
    USE_POOL(p, pool);
    (void)min_bytes_to_keep;           /* nothing is kept */
    return CUABI_SUCCESS;
}

cu_result impl_cuMemPoolSetAttribute(cu_pool pool, int32_t attr, void *value)
{
    DR_NEED(value);
    USE_POOL(p, pool);
    switch (attr) {
    case 1: case 2: case 3: p->reuse[attr] = *(int32_t *)value != 0; return CUABI_SUCCESS;
    case CUABI_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: p->threshold = *(uint64_t *)value; return CUABI_SUCCESS;
    case 6: case CUABI_CU_MEMPOOL_ATTR_USED_MEM_HIGH:      /* high-water marks can be put back to 0 */
        if (*(uint64_t *)value)
            return DR_ERROR(INVALID_VALUE);
        p->high = atomic_load(&p->used);
        return CUABI_SUCCESS;
    }
    return DR_ERROR(INVALID_VALUE);
}

cu_result impl_cuMemPoolGetAttribute(cu_pool pool, int32_t attr, void *value)
{
    DR_NEED(value);
    USE_POOL(p, pool);
    switch (attr) {
    case 1: case 2: case 3: *(int32_t *)value = p->reuse[attr]; return CUABI_SUCCESS;
    case CUABI_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = p->threshold; return CUABI_SUCCESS;
    case CUABI_CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CUABI_CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = p->used; return CUABI_SUCCESS;
    case 6:
    case CUABI_CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(uint64_t *)value = p->high; return CUABI_SUCCESS;
    }
    return DR_ERROR(INVALID_VALUE);
}

/* A device's memory is its own: other devices do not reach it. */
cu_result impl_cuMemPoolSetAccess(cu_pool pool, const cu_access_desc *map, size_t count)
{
    DR_NEED(map || !count);
    USE_POOL(p, pool);
    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != CUABI_CU_MEM_LOCATION_TYPE_DEVICE || !dr_device_at(map[i].location.id))
            return DR_ERROR(INVALID_VALUE);
        if (map[i].location.id != p->device->ordinal && map[i].flags)
            return DR_ERROR(PEER_ACCESS_UNSUPPORTED);
        if (map[i].location.id == p->device->ordinal && map[i].flags != 3)
            return DR_ERROR(INVALID_VALUE);
    }
    return CUABI_SUCCESS;
}

cu_result impl_cuMemPoolGetAccess(int32_t *flags, cu_pool mem_pool, cu_location *location)
{
    DR_NEED(flags && location);
    USE_POOL(p, mem_pool);
    *flags = location->type == CUABI_CU_MEM_LOCATION_TYPE_DEVICE && location->id == p->device->ordinal ? 3 : 0;
    return CUABI_SUCCESS;
}

static cu_result pool_of(cu_device device, bool current, cu_pool *out)
{
    DR_NEED(out);
    if (dr_ready())
        return dr_ready();
    dr_device *d = dr_device_at(device);
    if (!d)
        return DR_ERROR(INVALID_DEVICE);
    if (!default_pool(d))
        return DR_ERROR(OUT_OF_MEMORY);
    *out = current ? d->current_pool : d->default_pool;
    return CUABI_SUCCESS;
}

cu_result impl_cuDeviceGetDefaultMemPool(cu_pool *pool, cu_device device)
{
    return pool_of(device, false, pool);
}

cu_result impl_cuDeviceGetMemPool(cu_pool *pool, cu_device device)
{
    return pool_of(device, true, pool);
}

cu_result impl_cuDeviceSetMemPool(cu_device device, cu_pool pool)
{
    USE_POOL(p, pool);
    dr_device *d = dr_device_at(device);
    if (!d || p->device != d)
        return d ? DR_ERROR(INVALID_VALUE) : DR_ERROR(INVALID_DEVICE);
    default_pool(d);
    d->current_pool = p;
    return CUABI_SUCCESS;
}

/* The same by location and kind of allocation. */
static bool is_device_memory(const cu_location *location, int32_t type)
{
    return location && location->type == CUABI_CU_MEM_LOCATION_TYPE_DEVICE && type == 1;
}

cu_result impl_cuMemGetDefaultMemPool(cu_pool *pool, cu_location *location, int32_t type)
{
    return is_device_memory(location, type) ? pool_of(location->id, false, pool) : DR_ERROR(NOT_SUPPORTED);
}

cu_result impl_cuMemGetMemPool(cu_pool *pool, cu_location *location, int32_t type)
{
    return is_device_memory(location, type) ? pool_of(location->id, true, pool) : DR_ERROR(NOT_SUPPORTED);
}

cu_result impl_cuMemSetMemPool(cu_location *location, int32_t type, cu_pool pool)
{
    return is_device_memory(location, type) ? impl_cuDeviceSetMemPool(location->id, pool) : DR_ERROR(NOT_SUPPORTED);
}
