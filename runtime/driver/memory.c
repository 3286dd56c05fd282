/* memory.c - allocations of all kinds, and the table that tells what an address is.
 *
 * On devices whose addresses are this process's own, pinned, mapped and managed memory is device memory that the host uses directly.
 * Others give such memory when asked for it (alloc_shared), or else pinned memory is plain host memory that the device does not see, and
 * there is no managed memory.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/limits.h"

enum { PAGE = 4096 };

static struct {
    pthread_rwlock_t lock;
    dr_range *at;                  /* sorted by base */
    size_t count, capacity;
    uint64_t last_id;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* ------------------------------------------------------------ the table */

/* Index of the first range whose base is above the address. */
static size_t above(uint64_t address)
{
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table.at[middle].base > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

bool dr_range_find(uint64_t address, dr_range *out)
{
    pthread_rwlock_rdlock(&table.lock);
    size_t i = above(address);
    bool found = i && address - table.at[i - 1].base < table.at[i - 1].bytes;
    if (found)
        *out = table.at[i - 1];
    pthread_rwlock_unlock(&table.lock);
    return found;
}

void dr_range_bounds(uint64_t *low, uint64_t *high)
{
    pthread_rwlock_rdlock(&table.lock);
    *low = table.count ? table.at[0].base : 0;
    *high = table.count ? table.at[table.count - 1].base + table.at[table.count - 1].bytes : 0;
    pthread_rwlock_unlock(&table.lock);
}

static bool overlaps(uint64_t base, uint64_t bytes)
{
    size_t i = above(base);
    return (i && base - table.at[i - 1].base < table.at[i - 1].bytes) || (i < table.count && table.at[i].base - base < bytes);
}

static bool room_for(size_t more)
{
    if (table.count + more <= table.capacity)
        return true;
    size_t capacity = table.capacity ? 2 * table.capacity : 256;
    while (capacity < table.count + more)
        capacity *= 2;
    dr_range *grown = realloc(table.at, capacity * sizeof *grown);
    if (!grown)
        return false;
    table.at = grown;
    table.capacity = capacity;
    return true;
}

/* Under the lock, with room. */
static void insert(const dr_range *range)
{
    size_t i = above(range->base);
    memmove(&table.at[i + 1], &table.at[i], (table.count - i) * sizeof *table.at);
    table.at[i] = *range;
    table.at[i].id = ++table.last_id;
    table.count++;
}

cu_result dr_range_add(const dr_range *range)
{
    cu_result result = CUABI_SUCCESS;
    pthread_rwlock_wrlock(&table.lock);
    if (overlaps(range->base, range->bytes))
        result = DR_ERROR(HOST_MEMORY_ALREADY_REGISTERED);
    else if (!room_for(1))
        result = DR_ERROR(OUT_OF_MEMORY);
    else
        insert(range);
    pthread_rwlock_unlock(&table.lock);
    return result;
}

cu_result dr_range_replace(uint64_t low, uint64_t bytes, const dr_range *ranges, size_t count)
{
    pthread_rwlock_wrlock(&table.lock);
    bool room = room_for(count);
    if (room) {
        size_t first = low ? above(low - 1) : 0, last = above(low + bytes - 1);
        memmove(&table.at[first], &table.at[last], (table.count - last) * sizeof *table.at);
        table.count -= last - first;
        for (size_t i = 0; i < count; i++)
            insert(&ranges[i]);
    }
    pthread_rwlock_unlock(&table.lock);
    return room ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
}

void dr_range_set_pool(uint64_t base, dr_pool *pool)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t i = above(base);
    if (i && table.at[i - 1].base == base)
        table.at[i - 1].pool = pool;
    pthread_rwlock_unlock(&table.lock);
}

void dr_range_set_graph(uint64_t base)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t i = above(base);
    if (i && table.at[i - 1].base == base)
        table.at[i - 1].of_graph = true;
    pthread_rwlock_unlock(&table.lock);
}

bool dr_range_claim(uint64_t base, bool claim)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t i = above(base);
    bool changes = i && table.at[i - 1].base == base && table.at[i - 1].freeing != claim;
    if (changes)
        table.at[i - 1].freeing = claim;
    pthread_rwlock_unlock(&table.lock);
    return changes;
}

/* Takes the range that begins at `base` out of the table, if `wanted` says so. */
static bool take(uint64_t base, bool (*wanted)(const dr_range *range, void *user), void *user, dr_range *out)
{
    pthread_rwlock_wrlock(&table.lock);
    size_t i = above(base);
    bool found = i && table.at[i - 1].base == base && (!wanted || wanted(&table.at[i - 1], user));
    if (found) {
        *out = table.at[i - 1];
        memmove(&table.at[i - 1], &table.at[i], (table.count - i) * sizeof *table.at);
        table.count--;
    }
    pthread_rwlock_unlock(&table.lock);
    return found;
}

void dr_range_remove(uint64_t base)
{
    dr_range gone;
    if (take(base, NULL, NULL, &gone))
        dr_advice_forget(gone.base, gone.bytes);
}

/* ------------------------------------------------------------ making and freeing */

static pxb_status alloc_on(dr_device *d, uint64_t bytes, dr_memory_kind kind, uint64_t *out)
{
    const bool shared = kind != DR_MEMORY_DEVICE && d->device->ops->alloc_shared;
    pxb_device view;
    if (d->concurrent) {
        dr_device_view(d, dr_thread_errors(), &view);
        return d->device->ops->alloc(&view, bytes, out);
    }
    pthread_mutex_lock(&d->lock);
    pxb_status status = shared ? d->device->ops->alloc_shared(d->device, bytes, kind == DR_MEMORY_MANAGED, out)
                               : pxb_memory_alloc(d->device, bytes, out);
    if (status)
        dr_fail_pxb(d->pxb, status, "allocation");
    pthread_mutex_unlock(&d->lock);
    return status;
}

static void free_on(dr_device *d, uint64_t address)
{
    pxb_device view;
    if (d->concurrent) {
        dr_device_view(d, dr_thread_errors(), &view);
        d->device->ops->free(&view, address);
        return;
    }
    pthread_mutex_lock(&d->lock);
    pxb_memory_free(d->device, address);
    pthread_mutex_unlock(&d->lock);
}

/* Pages of the host, for a device that cannot give memory that both see. */
static uint64_t host_pages(uint64_t bytes)
{
    void *p = NULL;
    return posix_memalign(&p, PAGE, bytes) == 0 ? (uint64_t)(uintptr_t)p : 0;
}

bool dr_memory_reserve(dr_device *d, uint64_t bytes)
{
    uint64_t used = atomic_load(&d->memory_used);
    do {
        if (bytes > d->memory_bytes || used > d->memory_bytes - bytes)
            return false;
    } while (!atomic_compare_exchange_weak(&d->memory_used, &used, used + bytes));
    return true;
}

static void release(const dr_range *r)
{
    dr_ipc_forget(r->base);
    dr_advice_forget(r->base, r->bytes);
    if (r->kind == DR_MEMORY_HOST && !r->on_device)
        free((void *)(uintptr_t)r->base);
    else if (r->kind != DR_MEMORY_REGISTERED && r->kind != DR_MEMORY_VARIABLE)
        free_on(r->device, r->base);
    if (r->kind != DR_MEMORY_REGISTERED && r->kind != DR_MEMORY_VARIABLE)
        atomic_fetch_sub(&r->device->memory_used, r->bytes);
}

cu_result dr_memory_new(dr_context *c, uint64_t bytes, dr_memory_kind kind, uint32_t flags, bool hidden, uint64_t *out)
{
    dr_device *d = c->device;
    *out = 0;
    if (bytes == 0)
        return DR_ERROR(INVALID_VALUE);
    if (kind == DR_MEMORY_MANAGED && !d->shares_memory)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "managed memory: the host cannot reach the memory of \"%s\"", d->choice);
    if (!dr_memory_reserve(d, bytes))
        return dr_fail(DR_ERROR(OUT_OF_MEMORY), "no room for %llu bytes on \"%s\"", (unsigned long long)bytes, d->choice);
    bool plain = kind == DR_MEMORY_HOST && !d->shares_memory;
    /* Whole pages for what the host uses: programs pass such memory to read(2) and to alignments of their own. */
    uint64_t whole = kind == DR_MEMORY_DEVICE ? bytes : (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (plain)
        *out = host_pages(whole);
    else if (alloc_on(d, whole, kind, out))
        *out = 0;
    dr_range range = {.base = *out, .bytes = bytes, .kind = kind, .flags = flags, .context = c, .device = d, .hidden = hidden,
                      .on_device = !plain};
    cu_result result = *out ? dr_range_add(&range) : DR_ERROR(OUT_OF_MEMORY);
    if (result) {
        if (*out)
            release(&range);
        else
            atomic_fetch_sub(&d->memory_used, bytes);
        *out = 0;
    }
    return result;
}

static bool not_a_variable(const dr_range *r, void *hidden)
{
    return r->kind != DR_MEMORY_VARIABLE && r->kind != DR_MEMORY_REGISTERED && r->kind != DR_MEMORY_MAPPED && r->hidden == *(bool *)hidden;
}

cu_result dr_memory_free(uint64_t address, bool hidden)
{
    dr_range range;
    if (!take(address, not_a_variable, &hidden, &range))
        return DR_ERROR(INVALID_VALUE);
    release(&range);
    return CUABI_SUCCESS;
}

void dr_memory_leave(dr_context *c)
{
    for (;;) {
        dr_range range = {0};
        pthread_rwlock_wrlock(&table.lock);
        for (size_t i = table.count; i-- && !range.base;)
            if (table.at[i].context == c) {
                range = table.at[i];
                memmove(&table.at[i], &table.at[i + 1], (table.count - i - 1) * sizeof *table.at);
                table.count--;
            }
        pthread_rwlock_unlock(&table.lock);
        if (!range.base)
            return;
        if (range.kind == DR_MEMORY_REGISTERED && range.on_device)
            dr_host_map(range.device, range.base, range.bytes, false);
        release(&range);
    }
}

/* ------------------------------------------------------------ device memory */

cu_result impl_cuMemAlloc_v2(cu_address *address, size_t bytes)
{
    DR_NEED(address);
    DR_USE_UNCAPTURED(c);
    return dr_memory_new(c, bytes, DR_MEMORY_DEVICE, 0, false, address);
}

cu_result impl_cuMemAllocPitch_v2(cu_address *address, size_t *pitch, size_t width_in_bytes, size_t height, uint32_t element_size_bytes)
{
    DR_NEED(address && pitch && width_in_bytes && height);
    DR_NEED(element_size_bytes == 4 || element_size_bytes == 8 || element_size_bytes == 16);
    DR_USE_UNCAPTURED(c);
    if (width_in_bytes > DR_MAX_PITCH || height > UINT64_MAX / 2 / (width_in_bytes + DR_PITCH_ALIGNMENT))
        return DR_ERROR(INVALID_VALUE);
    size_t row = (width_in_bytes + DR_PITCH_ALIGNMENT - 1) & ~(size_t)(DR_PITCH_ALIGNMENT - 1);
    cu_result result = dr_memory_new(c, row * height, DR_MEMORY_DEVICE, 0, false, address);
    if (!result)
        *pitch = row;
    return result;
}

cu_result impl_cuMemFree_v2(cu_address address)
{
    DR_USE_UNCAPTURED(c);
    dr_range range;
    if (address == 0)
        return CUABI_SUCCESS;
    if (!dr_range_find(address, &range) || range.base != address || range.kind == DR_MEMORY_HOST || range.kind == DR_MEMORY_MAPPED || range.freeing)
        return DR_ERROR(INVALID_VALUE);
    /* What still runs may use it: cuMemFree waits. */
    cu_result result = dr_context_wait(range.context);
    if (result && range.context == c)
        return result;
    if (range.of_graph)
        return CUABI_SUCCESS;
    return range.pool ? dr_pool_free_now(&range) : dr_memory_free(address, false);
}

cu_result impl_cuMemGetInfo_v2(size_t *free, size_t *total)
{
    DR_NEED(free && total);
    DR_USE(c);
    uint64_t used = atomic_load(&c->device->memory_used), all = c->device->memory_bytes, left = all > used ? all - used : 0;
    if (c->device->host_addresses) {
        /* Pages that others have taken are not to be had. */
        uint64_t available = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
        left = left < available ? left : available;
    }
    *free = left;
    *total = all;
    return CUABI_SUCCESS;
}

cu_result impl_cuMemGetAddressRange_v2(cu_address *base, size_t *size, cu_address address)
{
    DR_USE(c);
    dr_range range;
    if (!dr_range_find(address, &range) || range.hidden || range.kind == DR_MEMORY_REGISTERED)
        return DR_ERROR(NOT_FOUND);
    if (base)
        *base = range.base;
    if (size)
        *size = range.bytes;
    return CUABI_SUCCESS;
}

cu_result impl_cuMemAllocManaged(cu_address *address, size_t bytes, uint32_t flags)
{
    DR_NEED(address);
    if (flags != CUABI_CU_MEM_ATTACH_GLOBAL && flags != CUABI_CU_MEM_ATTACH_HOST)
        return DR_ERROR(INVALID_VALUE);
    DR_USE_UNCAPTURED(c);
    return dr_memory_new(c, bytes, DR_MEMORY_MANAGED, flags, false, address);
}

/* ------------------------------------------------------------ pinned memory of the host */

cu_result impl_cuMemHostAlloc(void **pointer, size_t bytes, uint32_t flags)
{
    DR_NEED(pointer && (flags & ~7u) == 0);
    DR_USE_UNCAPTURED(c);
    uint64_t address;
    cu_result result = dr_memory_new(c, bytes, DR_MEMORY_HOST, flags, false, &address);
    *pointer = (void *)(uintptr_t)address;
    return result;
}

cu_result impl_cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    return impl_cuMemHostAlloc(pointer, bytes, 0);
}

cu_result impl_cuMemFreeHost(void *pointer)
{
    DR_USE_UNCAPTURED(c);
    dr_range range;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!pointer)
        return CUABI_SUCCESS;
    if (!dr_range_find(address, &range) || range.base != address || range.kind != DR_MEMORY_HOST)
        return DR_ERROR(INVALID_VALUE);
    dr_context_wait(range.context);
    return dr_memory_free(address, false);
}

cu_result impl_cuMemHostGetDevicePointer_v2(cu_address *address, void *pointer, uint32_t flags)
{
    DR_NEED(address && pointer && flags == 0);
    DR_USE(c);
    dr_range range;
    if (!dr_range_find((uint64_t)(uintptr_t)pointer, &range) ||
        (range.kind != DR_MEMORY_HOST && range.kind != DR_MEMORY_REGISTERED && range.kind != DR_MEMORY_MANAGED))
        return DR_ERROR(INVALID_VALUE);
    if (!range.on_device)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "mapped memory: \"%s\" does not see memory of the host", range.device->choice);
    *address = (uint64_t)(uintptr_t)pointer;
    return CUABI_SUCCESS;
}

cu_result impl_cuMemHostGetFlags(uint32_t *flags, void *pointer)
{
    DR_NEED(flags && pointer);
    DR_USE(c);
    dr_range range;
    if (!dr_range_find((uint64_t)(uintptr_t)pointer, &range) || range.kind != DR_MEMORY_HOST)
        return DR_ERROR(INVALID_VALUE);
    *flags = range.flags | CUABI_CU_MEMHOSTALLOC_DEVICEMAP;
    return CUABI_SUCCESS;
}

bool dr_host_map(dr_device *d, uint64_t address, uint64_t bytes, bool map)
{
    const rt_device_ops *ops = d->device->ops;
    pxb_device view;
    dr_device_view(d, dr_thread_errors(), &view);
    if (!ops->map_host)
        return false;
    if (!d->concurrent)
        pthread_mutex_lock(&d->lock);
    pxb_status status = ops->map_host(&view, address, bytes, map);
    if (!d->concurrent)
        pthread_mutex_unlock(&d->lock);
    return dr_fail_pxb(dr_thread_errors(), status, "registered memory") == CUABI_SUCCESS;
}

cu_result impl_cuMemHostRegister_v2(void *pointer, size_t bytesize, uint32_t flags)
{
    DR_NEED(pointer && bytesize && (flags & ~15u) == 0);
    DR_USE_UNCAPTURED(c);
    uint64_t base = (uint64_t)(uintptr_t)pointer;
    if (bytesize > UINT64_MAX - base)
        return DR_ERROR(INVALID_VALUE);
    if (flags & CUABI_CU_MEMHOSTREGISTER_IOMEMORY)
        return DR_ERROR(NOT_SUPPORTED);
    dr_range range = {.base = base, .bytes = bytesize, .kind = DR_MEMORY_REGISTERED, .flags = flags, .context = c, .device = c->device,
                      .on_device = c->device->device->ops->map_host != NULL};
    cu_result result = dr_range_add(&range);
    if (!result && range.on_device && !dr_host_map(c->device, base, bytesize, true)) {
        dr_range_remove(base);
        result = DR_ERROR(OUT_OF_MEMORY);
    }
    return result;
}

static bool is_registered(const dr_range *r, void *unused)
{
    (void)unused;
    return r->kind == DR_MEMORY_REGISTERED;
}

cu_result impl_cuMemHostUnregister(void *pointer)
{
    DR_NEED(pointer);
    DR_USE_UNCAPTURED(c);
    dr_range range;
    if (!take((uint64_t)(uintptr_t)pointer, is_registered, NULL, &range))
        return DR_ERROR(HOST_MEMORY_NOT_REGISTERED);
    dr_context_wait(range.context);
    if (range.on_device)
        dr_host_map(range.device, range.base, range.bytes, false);
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ pointers */

/* One attribute of an address; `known` false: memory that this library has nothing to do with. */
static cu_result attribute_of(void *data, int32_t attribute, uint64_t address, const dr_range *r, bool known)
{
    bool host = r->kind == DR_MEMORY_HOST || r->kind == DR_MEMORY_REGISTERED;
    switch (attribute) {
    case CUABI_CU_POINTER_ATTRIBUTE_CONTEXT:
        *(cu_context *)data = known ? r->context : NULL;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(uint32_t *)data = !known ? 0 : host ? CUABI_CU_MEMORYTYPE_HOST : CUABI_CU_MEMORYTYPE_DEVICE;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(cu_address *)data = known && (!host || r->on_device) ? address : 0;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = known && (host || r->kind == DR_MEMORY_MANAGED) ? (void *)(uintptr_t)address : NULL;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(int *)data = 0;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CUABI_CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(uint64_t *)data = known ? r->id : 0;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(uint32_t *)data = known && (r->kind == DR_MEMORY_MANAGED || (r->kind == DR_MEMORY_VARIABLE && r->flags));
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = known ? r->device->ordinal : -2;      /* CU_DEVICE_INVALID */
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CUABI_CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(uint64_t *)data = known ? r->base : 0;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CUABI_CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)data = known ? r->bytes : 0;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_MAPPED:
        *(uint32_t *)data = known && (!host || r->on_device);
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(uint64_t *)data = 0;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(uint32_t *)data = known && r->kind == DR_MEMORY_DEVICE && !r->pool && !r->of_graph && r->device->device->ops->share;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(uint32_t *)data = 0;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(uint32_t *)data = !known ? 0 : r->read_only ? 1 : 3;
        return CUABI_SUCCESS;
    case CUABI_CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(cu_pool *)data = known ? r->pool : NULL;
        return CUABI_SUCCESS;
    }
    return DR_ERROR(INVALID_VALUE);
}

cu_result impl_cuPointerGetAttribute(void *data, int32_t attribute, cu_address address)
{
    DR_NEED(data);
    DR_USE(c);
    dr_range range = {0};
    if (!dr_range_find(address, &range) || range.hidden)
        return DR_ERROR(INVALID_VALUE);
    return attribute_of(data, attribute, address, &range, true);
}

cu_result impl_cuPointerGetAttributes(uint32_t num_attributes, int32_t *attributes, void **data, cu_address address)
{
    DR_NEED(num_attributes && attributes && data);
    DR_USE(c);
    dr_range range = {0};
    bool known = dr_range_find(address, &range) && !range.hidden;
    for (uint32_t i = 0; i < num_attributes; i++) {
        DR_NEED(data[i]);
        cu_result result = attribute_of(data[i], attributes[i], address, &range, known);
        if (result)
            return result;
    }
    return CUABI_SUCCESS;
}

/* SYNC_MEMOPS is the only one that can be set, and copies of such memory are in order here anyway. */
cu_result impl_cuPointerSetAttribute(const void *value, int32_t attribute, cu_address address)
{
    DR_NEED(value && attribute == CUABI_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    DR_USE(c);
    dr_range range;
    return dr_range_find(address, &range) ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}
