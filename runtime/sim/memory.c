/* memory.c - the arena of a device: allocations with exact bounds, and the checked accesses of waves.
 *
 * Every allocation begins on a page of its own and is followed by at least one page that belongs to nobody, so that a small
 * overrun never meets a neighbour. Bounds are exact to the byte: they are compared in software.
 * A wave keeps the allocation that it met last; the table is only asked when an address lies elsewhere.
 * Memory of the process that the host lets kernels use is in a list of its own, which is asked last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "runtime/sim/state.h"

enum { PAGE = 4096 };

/* ------------------------------------------------------------ the table */

bool sim_memory_open(sim_memory *m, uint64_t bytes)
{
    *m = (sim_memory){.arena_bytes = bytes & ~(uint64_t)(PAGE - 1)};
    void *arena = mmap(NULL, m->arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) return false;
    m->arena = arena;
    if (!pthread_rwlock_init(&m->lock, NULL)) return true;
    munmap(arena, m->arena_bytes);
    return false;
}

void sim_memory_close(sim_memory *m)
{
    munmap(m->arena, m->arena_bytes);
    free(m->ranges);
    free(m->host);
    pthread_rwlock_destroy(&m->lock);
}

/* Index of the first range whose base is above `address`. */
static uint32_t range_after(const sim_memory *m, uint64_t address)
{
    uint32_t low = 0, high = m->nranges;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (m->ranges[middle].base <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool insert_range(sim_memory *m, uint32_t at, sim_block_range r)
{
    if (m->nranges == m->capacity) {
        uint32_t capacity = m->capacity ? m->capacity * 2 : 64;
        sim_block_range *grown = realloc(m->ranges, capacity * sizeof *grown);
        if (!grown) return false;
        m->ranges = grown;
        m->capacity = capacity;
    }
    memmove(m->ranges + at + 1, m->ranges + at, (m->nranges - at) * sizeof *m->ranges);
    m->ranges[at] = r;
    m->nranges++;
    return true;
}

/* First fit. The pages may have been used before; giving them back makes them zero. */
static uint64_t take_locked(sim_memory *m, uint64_t bytes, sim_range_kind kind)
{
    if (!bytes || bytes > m->arena_bytes) return 0;
    uint64_t room = (bytes + 2 * PAGE - 1) & ~(uint64_t)(PAGE - 1), at = (uint64_t)(uintptr_t)m->arena + PAGE;
    uint64_t end = (uint64_t)(uintptr_t)m->arena + m->arena_bytes;
    uint32_t k = 0;
    for (; k < m->nranges && m->ranges[k].base - at < room; k++)
        at = m->ranges[k].base + m->ranges[k].room;
    if (end - at < room || !insert_range(m, k, (sim_block_range){at, bytes, room, kind})) return 0;
    if (madvise((void *)(uintptr_t)at, room, MADV_DONTNEED)) memset((void *)(uintptr_t)at, 0, bytes);
    m->used += bytes;
    return at;
}

uint64_t sim_memory_take(sim_memory *m, uint64_t bytes, sim_range_kind kind)
{
    pthread_rwlock_wrlock(&m->lock);
    uint64_t at = take_locked(m, bytes, kind);
    pthread_rwlock_unlock(&m->lock);
    return at;
}

bool sim_memory_give(sim_memory *m, uint64_t base, sim_range_kind kind)
{
    pthread_rwlock_wrlock(&m->lock);
    uint32_t k = range_after(m, base);
    bool found = k && m->ranges[k - 1].base == base && m->ranges[k - 1].kind == kind;
    if (found) {
        madvise((void *)(uintptr_t)base, m->ranges[k - 1].room, MADV_DONTNEED);
        m->used -= m->ranges[k - 1].bytes;
        memmove(m->ranges + k - 1, m->ranges + k, (m->nranges - k) * sizeof *m->ranges);
        m->nranges--;
    }
    pthread_rwlock_unlock(&m->lock);
    return found;
}

static bool find_locked(const sim_memory *m, uint64_t address, sim_block_range *out)
{
    uint32_t k = range_after(m, address);
    bool found = k && address - m->ranges[k - 1].base < m->ranges[k - 1].bytes;
    if (found) *out = m->ranges[k - 1];
    for (k = 0; k < m->nhost && !found; k++) {
        found = address - m->host[k].base < m->host[k].bytes;
        if (found) *out = m->host[k];
    }
    return found;
}

bool sim_memory_find(sim_memory *m, uint64_t address, sim_block_range *out)
{
    pthread_rwlock_rdlock(&m->lock);
    bool found = find_locked(m, address, out);
    pthread_rwlock_unlock(&m->lock);
    return found;
}

/* ------------------------------------------------------------ the host's side */

uint64_t sim_alloc(sim_device *device, uint64_t bytes)
{
    return device ? sim_memory_take(&device->memory, bytes, RANGE_USER) : 0;
}

bool sim_free(sim_device *device, uint64_t address)
{
    return device && sim_memory_give(&device->memory, address, RANGE_USER);
}

static bool map_locked(sim_memory *m, uint64_t address, uint64_t bytes)
{
    if (m->nhost == m->host_capacity) {
        uint32_t capacity = m->host_capacity ? m->host_capacity * 2 : 16;
        sim_block_range *grown = realloc(m->host, capacity * sizeof *grown);
        if (!grown) return false;
        m->host = grown;
        m->host_capacity = capacity;
    }
    m->host[m->nhost++] = (sim_block_range){address, bytes, bytes, RANGE_HOST};
    return true;
}

static bool unmap_locked(sim_memory *m, uint64_t address)
{
    uint32_t k = 0;
    while (k < m->nhost && m->host[k].base != address) k++;
    if (k == m->nhost) return false;
    m->host[k] = m->host[--m->nhost];
    return true;
}

bool sim_map_host(sim_device *device, uint64_t address, uint64_t bytes, bool map)
{
    sim_memory *m = &device->memory;
    pthread_rwlock_wrlock(&m->lock);
    bool done = map ? bytes && map_locked(m, address, bytes) : unmap_locked(m, address);
    pthread_rwlock_unlock(&m->lock);
    return done;
}

/* Pointer to a range that lies in one allocation; the caller holds the lock. */
static void *host_range(const sim_memory *m, uint64_t address, uint64_t bytes)
{
    sim_block_range r;
    if (!find_locked(m, address, &r) || bytes > r.bytes - (address - r.base)) return NULL;
    return (void *)(uintptr_t)address;
}

bool sim_write(sim_device *device, uint64_t to, const void *from, uint64_t bytes)
{
    pthread_rwlock_rdlock(&device->memory.lock);
    void *at = host_range(&device->memory, to, bytes);
    if (at && bytes) memcpy(at, from, bytes);
    pthread_rwlock_unlock(&device->memory.lock);
    return at != NULL;
}

bool sim_read(sim_device *device, void *to, uint64_t from, uint64_t bytes)
{
    pthread_rwlock_rdlock(&device->memory.lock);
    const void *at = host_range(&device->memory, from, bytes);
    if (at && bytes) memcpy(to, at, bytes);
    pthread_rwlock_unlock(&device->memory.lock);
    return at != NULL;
}

bool sim_copy(sim_device *device, uint64_t to, uint64_t from, uint64_t bytes)
{
    pthread_rwlock_rdlock(&device->memory.lock);
    const void *source = host_range(&device->memory, from, bytes);
    void *target = host_range(&device->memory, to, bytes);
    if (source && target) memmove(target, source, bytes);
    pthread_rwlock_unlock(&device->memory.lock);
    return source && target;
}

bool sim_set(sim_device *device, uint64_t to, uint8_t value, uint64_t bytes)
{
    pthread_rwlock_rdlock(&device->memory.lock);
    void *at = host_range(&device->memory, to, bytes);
    if (at) memset(at, value, bytes);
    pthread_rwlock_unlock(&device->memory.lock);
    return at != NULL;
}

bool sim_range(sim_device *device, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    sim_block_range r;
    if (!sim_memory_find(&device->memory, address, &r)) return false;
    if (base) *base = r.base;
    if (bytes) *bytes = r.bytes;
    return true;
}

void sim_memory_info(sim_device *device, uint64_t *used, uint64_t *free_bytes)
{
    pthread_rwlock_rdlock(&device->memory.lock);
    if (used) *used = device->memory.used;
    if (free_bytes) *free_bytes = device->memory.arena_bytes - device->memory.used;
    pthread_rwlock_unlock(&device->memory.lock);
}

/* ------------------------------------------------------------ the waves' side */

/* Says where the address lies: behind which allocation, if one is near. */
static _Noreturn void no_allocation(sim_wave *w, uint32_t lane, uint64_t address)
{
    sim_memory *m = &w->device->memory;
    char text[160] = "no allocation at this address";
    pthread_rwlock_rdlock(&m->lock);
    uint32_t k = range_after(m, address);
    if (k && address - m->ranges[k - 1].base < m->ranges[k - 1].room) {
        unsigned long long bytes = m->ranges[k - 1].bytes, past = address - m->ranges[k - 1].base - bytes;
        snprintf(text, sizeof text, "%llu bytes past the end of an allocation of %llu bytes", past, bytes);
    }
    pthread_rwlock_unlock(&m->lock);
    sim_fault_address(w, SIM_FAULT_ADDRESS, (int32_t)lane, address, text);
}

void *sim_global(sim_wave *w, uint32_t lane, uint64_t address, uint32_t bytes)
{
    uint64_t at = address - w->range_base;
    if (at < w->range_bytes && bytes <= w->range_bytes - at) return (void *)(uintptr_t)address;
    sim_block_range r;
    if (!sim_memory_find(&w->device->memory, address, &r)) no_allocation(w, lane, address);
    if (bytes > r.bytes - (address - r.base))
        sim_fault_address(w, SIM_FAULT_ADDRESS, (int32_t)lane, address, "access over the end of an allocation");
    w->range_base = r.base;
    w->range_bytes = r.bytes;
    return (void *)(uintptr_t)address;
}

void *sim_lds(sim_wave *w, uint32_t lane, uint32_t address, uint32_t bytes)
{
    uint32_t size = w->block->lds_bytes;
    if (address >= size || bytes > size - address)
        sim_fault_address(w, SIM_FAULT_ADDRESS, (int32_t)lane, address, "access outside of the block's LDS");
    return w->block->lds + address;
}

/* Where calls have no bound the stack pointer, s32, says whether they ran out of memory or one access strayed (LLVM, "User Guide for
 * AMDGPU Backend", "Non-Kernel Functions"). */
static bool is_stack(const sim_wave *w, uint32_t address)
{
    const struct sim_kernel *k = w->block->kernel;
    uint32_t top = w->sgpr[32], size = w->scratch_bytes;
    return k && k->dynamic_stack && address >= size && (top > size || (address >= top && address - top < size / 2));
}

void *sim_scratch(sim_wave *w, uint32_t lane, uint32_t address, uint32_t bytes)
{
    uint32_t size = w->scratch_bytes;
    if (__builtin_expect(address >= size || bytes > size - address, 0)) {
        if (is_stack(w, address + bytes - 1))
            sim_fault(w, SIM_FAULT_STACK, (int32_t)lane, "the stack of a thread (%u bytes of scratch memory) is exhausted", size);
        sim_fault_address(w, SIM_FAULT_ADDRESS, (int32_t)lane, address, "access outside of the thread's scratch memory");
    }
    return w->scratch + (uint64_t)lane * size + address;
}

void *sim_flat(sim_wave *w, uint32_t lane, uint64_t address, uint32_t bytes)
{
    uint64_t aperture = address & ~(uint64_t)0xffffffff;
    if (aperture == SIM_SHARED_BASE) return sim_lds(w, lane, (uint32_t)address, bytes);
    if (aperture == SIM_PRIVATE_BASE) return sim_scratch(w, lane, (uint32_t)address, bytes);
    return sim_global(w, lane, address, bytes);
}
