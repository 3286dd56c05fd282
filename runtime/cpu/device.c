/* device.c - opening a device, its arena, memory, textures and the heap of in-kernel malloc.
 *
 * The arena is reserved once without access (PROT_NONE) and aligned to a power of two. An
 * allocation gets whole pages of its own with an unmapped page behind, and stands at the END of its
 * pages (as far as 256-byte alignment allows), so that running off its end meets the guard at once.
 * Freed pages are replaced by fresh PROT_NONE ones, so contents of new allocations are zero.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ptx/lib/texture.h"
#include "runtime/cpu/internal.h"

_Static_assert(sizeof(pxl_texture) <= CPU_TEXTURE_BYTES, "a descriptor fits its place");

enum { ALIGN = 256, GUARD = CPU_PAGE, MOST_THREADS = 1024 };

static uint64_t round_up(uint64_t x, uint64_t to)
{
    return (x + to - 1) & ~(to - 1);
}

/* ------------------------------------------------------------ regions */

/* Index of the first extent above `address`. */
static uint32_t extent_after(const cpu_extent *extents, uint32_t count, uint64_t address)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (extents[middle].address > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Place of the first gap of `span` bytes: the index where the new extent goes. */
static bool region_gap(const cpu_region *r, uint64_t span, uint32_t *index, uint64_t *address)
{
    uint64_t from = r->low;
    for (uint32_t i = 0; i <= r->count; i++) {
        uint64_t to = i < r->count ? r->extents[i].address : r->high;
        if (to - from >= span) {
            *index = i;
            *address = from;
            return true;
        }
        if (i < r->count)
            from = r->extents[i].address + r->extents[i].bytes;
    }
    return false;
}

static bool extents_reserve(cpu_extent **extents, uint32_t *capacity, uint32_t need)
{
    if (need <= *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 64;
    while (wanted < need)
        wanted *= 2;
    cpu_extent *grown = realloc(*extents, wanted * sizeof *grown);
    if (!grown)
        return false;
    *extents = grown;
    *capacity = wanted;
    return true;
}

/* The same for a span that begins at a multiple of `align`, or at `wanted` where that is free. */
static bool aligned_gap(const cpu_region *r, uint64_t span, uint64_t align, uint64_t wanted, uint32_t *index, uint64_t *address)
{
    uint64_t from = r->low;
    bool found = false;
    for (uint32_t i = 0; i <= r->count; i++) {
        uint64_t to = i < r->count ? r->extents[i].address : r->high, first = round_up(from, align);
        bool exact = wanted >= from && wanted < to && to - wanted >= span;
        if (exact || (!found && first < to && to - first >= span)) {
            *index = i;
            *address = exact ? wanted : first;
            found = true;
            if (exact)
                break;
        }
        if (i < r->count)
            from = r->extents[i].address + r->extents[i].bytes;
    }
    return found;
}

uint64_t cpu_region_alloc(cpu_region *r, uint64_t bytes)
{
    uint32_t index;
    uint64_t address;
    if (bytes == 0 || bytes > r->high - r->low)
        return 0;
    uint64_t pages = round_up(bytes, CPU_PAGE);
    if (!extents_reserve(&r->extents, &r->capacity, r->count + 1) || !region_gap(r, pages + GUARD, &index, &address))
        return 0;
    if (mprotect((void *)(uintptr_t)address, pages, PROT_READ | PROT_WRITE) != 0)
        return 0;
    memmove(r->extents + index + 1, r->extents + index, (r->count - index) * sizeof *r->extents);
    r->extents[index] = (cpu_extent){address, pages + GUARD, address + pages - round_up(bytes, ALIGN), bytes};
    r->count++;
    r->used += pages;
    return r->extents[index].user;
}

bool cpu_region_free(cpu_region *r, uint64_t user)
{
    uint32_t i = extent_after(r->extents, r->count, user);
    if (i == 0 || r->extents[i - 1].user != user)
        return false;
    cpu_extent e = r->extents[--i];
    /* A failure leaves the pages mapped: harmless but for their contents, which are cleared. */
    if (mmap((void *)(uintptr_t)e.address, e.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        memset((void *)(uintptr_t)e.address, 0, e.bytes - GUARD);
    memmove(r->extents + i, r->extents + i + 1, (r->count - i - 1) * sizeof *r->extents);
    r->count--;
    r->used -= e.bytes - GUARD;
    return true;
}

static const cpu_extent *region_find(const cpu_region *r, uint64_t address)
{
    uint32_t i = extent_after(r->extents, r->count, address);
    if (i == 0 || address - r->extents[i - 1].address >= r->extents[i - 1].bytes)
        return NULL;
    return &r->extents[i - 1];
}

/* ------------------------------------------------------------ arena */

static bool reserve_arena(cpu_device *d, uint64_t wanted)
{
    uint64_t least = 1ull << 30;
    for (uint64_t bytes = wanted ? wanted : 1ull << 40; bytes >= least; bytes /= 2) {
        char *p = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            continue;
        uint64_t start = (uint64_t)(uintptr_t)p, aligned = round_up(start, bytes);
        if (aligned > start)
            munmap(p, aligned - start);
        munmap((void *)(uintptr_t)(aligned + bytes), start + bytes - aligned);
        d->arena = aligned;
        d->arena_bytes = bytes;
        return true;
    }
    return false;
}

static void lay_out_arena(cpu_device *d)
{
    const uint64_t most = 1ull << 36;      /* for memory; the rest of a larger arena is addresses for cpu_reserve */
    uint64_t a = d->arena, size = d->arena_bytes > most ? most : d->arena_bytes;
    d->code_window = a + (1 << 20);
    d->texture_window = a + (32 << 20);
    d->texture_capacity = (32u << 20) / CPU_TEXTURE_BYTES;
    d->heap_window = d->heap_top = d->heap_mapped = a + (64 << 20);
    d->heap_end = a + size / 16;
    d->constant = (cpu_region){.low = a + size / 16, .high = a + size / 16 * 2};
    d->window = (cpu_region){.low = a + size / 16 * 2, .high = a + size / 16 * 4};
    d->local = (cpu_region){.low = a + size / 16 * 4, .high = a + size / 16 * 8};
    d->global = (cpu_region){.low = a + size / 16 * 8, .high = a + size - CPU_PAGE};
    d->reserved = (cpu_region){.low = a + size, .high = a + d->arena_bytes};
}

/* 0, with *error filled, when the environment's number is none. */
static uint32_t choose_threads(const cpu_options *options, cpu_error *error)
{
    const char *text = getenv("PTXBRIDGE_CPU_THREADS");
    long n = options ? (long)options->threads : 0;
    if (!n && text && *text) {
        char *end;
        n = strtol(text, &end, 10);
        if (*end || n < 1 || n > MOST_THREADS) {
            cpu_error_set(error, CPU_BAD_ARGUMENT, "PTXBRIDGE_CPU_THREADS is a number from 1 to %d, not '%.40s'", MOST_THREADS, text);
            return 0;
        }
    }
    if (!n)
        n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (uint32_t)n;
}

cpu_device *cpu_open(const cpu_options *options, cpu_error *error)
{
    const char *level = options && options->level ? options->level : getenv("PTXBRIDGE_CPU_LEVEL");
    cpu_device *d = calloc(1, sizeof *d);
    if (!d) {
        cpu_error_set(error, CPU_NO_MEMORY, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->launch_lock, NULL);
    pthread_rwlock_init(&d->host_lock, NULL);
    d->ops = cpu_lane_ops_select(level && *level ? level : NULL);
    if (!d->ops)
        cpu_error_set(error, CPU_BAD_ARGUMENT, "this processor or build has no instruction-set level '%s'", level ? level : "");
    else if (!reserve_arena(d, options ? options->arena_bytes : 0))
        cpu_error_set(error, CPU_NO_MEMORY, "cannot reserve an address range of at least 1 GiB");
    else {
        lay_out_arena(d);
        d->texture_live = calloc(d->texture_capacity, 1);
        d->nworkers = choose_threads(options, error);
        if (!d->texture_live)
            cpu_error_set(error, CPU_NO_MEMORY, "out of memory");
        else if (d->nworkers && cpu_pool_start(d, error)) {
            cpu_signals_install();
            return d;
        }
    }
    d->nworkers = 0;
    cpu_close(d);
    return NULL;
}

void cpu_close(cpu_device *d)
{
    if (!d)
        return;
    if (d->nworkers)
        cpu_pool_stop(d);
    if (d->arena)
        munmap((void *)(uintptr_t)d->arena, d->arena_bytes);
    free(d->global.extents);
    free(d->constant.extents);
    free(d->local.extents);
    free(d->window.extents);
    free(d->reserved.extents);
    free(d->variables);
    free(d->host);
    free(d->functions);
    free(d->texture_live);
    if (d->own_ops)
        free((void *)d->own_ops->meanings);
    free(d->own_ops);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->launch_lock);
    pthread_rwlock_destroy(&d->host_lock);
    free(d);
}

cpu_meaning_fn cpu_meaning(const cpu_device *d, uint32_t id)
{
    return id <= isa_meaning_count ? d->ops->meanings[id] : NULL;
}

/* The tables of ptx/lib are constant: the device gets a copy of its own. */
static bool own_meanings(cpu_device *d)
{
    const size_t bytes = (isa_meaning_count + 1) * sizeof(cpu_handler);
    cpu_lane_ops *ops = malloc(sizeof *ops);
    cpu_handler *meanings = malloc(bytes);
    if (!ops || !meanings) {
        free(ops);
        free(meanings);
        return false;
    }
    memcpy(meanings, d->ops->meanings, bytes);
    *ops = *d->ops;
    ops->meanings = meanings;
    d->ops = d->own_ops = ops;
    return true;
}

bool cpu_replace_meaning(cpu_device *d, uint32_t id, cpu_meaning_fn handler)
{
    if (id == 0 || id > isa_meaning_count || (!d->own_ops && !own_meanings(d)))
        return false;
    ((cpu_handler *)d->own_ops->meanings)[id] = handler;
    return true;
}

uint32_t cpu_threads(const cpu_device *d)
{
    return d->nworkers;
}

const char *cpu_level(const cpu_device *d)
{
    return d->ops->level;
}

/* ------------------------------------------------------------ memory */

uint64_t cpu_alloc(cpu_device *d, uint64_t bytes)
{
    pthread_mutex_lock(&d->lock);
    uint64_t address = cpu_region_alloc(&d->global, bytes);
    pthread_mutex_unlock(&d->lock);
    return address;
}

/* What holds a module's variables is the module's. */
static bool holds_variables(const cpu_device *d, uint64_t address)
{
    const cpu_extent *e = region_find(&d->global, address);
    uint32_t i = e ? extent_after(d->variables, d->nvariables, e->user + e->user_bytes - 1) : 0;
    return i && d->variables[i - 1].user >= e->user;
}

bool cpu_free(cpu_device *d, uint64_t address)
{
    pthread_mutex_lock(&d->lock);
    bool found = !holds_variables(d, address) && cpu_region_free(&d->global, address);
    pthread_mutex_unlock(&d->lock);
    return found;
}

/* A file of the same contents takes the place of the pages. Pages of zeros stay holes. */
static int move_to_file(uint64_t address, uint64_t bytes)
{
    static const char zeros[CPU_PAGE];
    char *from = (char *)(uintptr_t)address;
    int file = memfd_create("ptxbridge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* Memory that another process can cut short would be a trap. */
    bool good = file >= 0 && ftruncate(file, (off_t)bytes) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0;
    for (uint64_t at = 0; good && at < bytes; at += CPU_PAGE)
        good = memcmp(from + at, zeros, CPU_PAGE) == 0 || pwrite(file, from + at, CPU_PAGE, (off_t)at) == CPU_PAGE;
    if (good && mmap(from, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

int cpu_share(cpu_device *d, uint64_t address, uint64_t *offset)
{
    int file = -1;
    pthread_mutex_lock(&d->launch_lock);
    pthread_mutex_lock(&d->lock);
    const cpu_extent *e = region_find(&d->global, address);
    if (e && e->user == address) {
        *offset = e->user - e->address;
        file = move_to_file(e->address, e->bytes - GUARD);
    }
    pthread_mutex_unlock(&d->lock);
    pthread_mutex_unlock(&d->launch_lock);
    return file;
}

uint64_t cpu_reserve(cpu_device *d, uint64_t bytes, uint64_t align, uint64_t wanted)
{
    uint64_t address = 0;
    uint32_t index;
    cpu_region *r = &d->reserved;
    if (bytes == 0 || bytes % CPU_PAGE || bytes > r->high - r->low || align < CPU_PAGE || (align & (align - 1)) || align > 1ull << 40)
        return 0;
    wanted = wanted & (align - 1) ? 0 : wanted;
    pthread_mutex_lock(&d->lock);
    if (extents_reserve(&r->extents, &r->capacity, r->count + 1) && aligned_gap(r, bytes, align, wanted, &index, &address)) {
        memmove(r->extents + index + 1, r->extents + index, (r->count - index) * sizeof *r->extents);
        r->extents[index] = (cpu_extent){address, bytes, address, bytes};
        r->count++;
    }
    pthread_mutex_unlock(&d->lock);
    return address;
}

bool cpu_unreserve(cpu_device *d, uint64_t address)
{
    cpu_region *r = &d->reserved;
    pthread_mutex_lock(&d->lock);
    uint32_t i = extent_after(r->extents, r->count, address);
    bool found = i && r->extents[i - 1].address == address;
    if (found) {
        memmove(r->extents + i - 1, r->extents + i, (r->count - i) * sizeof *r->extents);
        r->count--;
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

static bool range_locked(cpu_device *d, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    /* Variables lie inside an allocation of their module: they are the closer answer. */
    uint32_t i = extent_after(d->variables, d->nvariables, address);
    const cpu_extent *e = i && address - d->variables[i - 1].user < d->variables[i - 1].user_bytes ? &d->variables[i - 1] : NULL;
    if (!e)
        e = region_find(&d->global, address);
    if (!e || address < e->user || address - e->user >= e->user_bytes)
        return false;
    *base = e->user;
    *bytes = e->user_bytes;
    return true;
}

bool cpu_range(cpu_device *d, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    uint64_t b, n;
    pthread_mutex_lock(&d->lock);
    bool found = range_locked(d, address, &b, &n);
    pthread_mutex_unlock(&d->lock);
    if (found && base)
        *base = b;
    if (found && bytes)
        *bytes = n;
    return found;
}

static bool range_holds(cpu_device *d, uint64_t address, uint64_t bytes)
{
    uint64_t base, size;
    return cpu_range(d, address, &base, &size) && bytes <= size - (address - base);
}

bool cpu_write(cpu_device *d, uint64_t to, const void *from, uint64_t bytes)
{
    if (bytes && !range_holds(d, to, bytes))
        return false;
    if (bytes)
        memcpy((void *)(uintptr_t)to, from, bytes);
    return true;
}

bool cpu_read(cpu_device *d, void *to, uint64_t from, uint64_t bytes)
{
    if (bytes && !range_holds(d, from, bytes))
        return false;
    if (bytes)
        memcpy(to, (const void *)(uintptr_t)from, bytes);
    return true;
}

bool cpu_copy(cpu_device *d, uint64_t to, uint64_t from, uint64_t bytes)
{
    if (bytes && (!range_holds(d, to, bytes) || !range_holds(d, from, bytes)))
        return false;
    if (bytes)
        memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return true;
}

bool cpu_set(cpu_device *d, uint64_t to, uint8_t value, uint64_t bytes)
{
    if (bytes && !range_holds(d, to, bytes))
        return false;
    if (bytes)
        memset((void *)(uintptr_t)to, value, bytes);
    return true;
}

void cpu_memory_info(cpu_device *d, uint64_t *used, uint64_t *left)
{
    pthread_mutex_lock(&d->lock);
    *used = d->global.used;
    *left = d->global.high - d->global.low - d->global.used;
    pthread_mutex_unlock(&d->lock);
}

/* --check: is [address, address + bytes) inside one allocation, variable, or the heap? */
bool cpu_exact_range(cpu_device *d, uint64_t address, uint64_t bytes)
{
    uint64_t base, size;
    if (address - d->arena >= d->arena_bytes)
        return cpu_host_holds(d, address, bytes);
    if (address >= d->heap_window && address < d->heap_end)
        return bytes <= d->heap_top - d->heap_window && address <= d->heap_top - bytes;
    return cpu_range(d, address, &base, &size) && bytes <= size - (address - base);
}

bool cpu_map_host(cpu_device *d, uint64_t address, uint64_t bytes, bool map)
{
    pthread_rwlock_wrlock(&d->host_lock);
    uint32_t at = extent_after(d->host, d->nhost, address);
    bool done = map ? bytes && extents_reserve(&d->host, &d->host_capacity, d->nhost + 1) : at && d->host[at - 1].address == address;
    if (done && map) {
        memmove(d->host + at + 1, d->host + at, (d->nhost - at) * sizeof *d->host);
        d->host[at] = (cpu_extent){address, bytes, address, bytes};
        __atomic_store_n(&d->nhost, d->nhost + 1, __ATOMIC_RELEASE);
    } else if (done) {
        memmove(d->host + at - 1, d->host + at, (d->nhost - at) * sizeof *d->host);
        __atomic_store_n(&d->nhost, d->nhost - 1, __ATOMIC_RELEASE);
    }
    pthread_rwlock_unlock(&d->host_lock);
    return done;
}

bool cpu_host_holds(cpu_device *d, uint64_t address, uint64_t bytes)
{
    if (__atomic_load_n(&d->nhost, __ATOMIC_ACQUIRE) == 0)
        return false;
    pthread_rwlock_rdlock(&d->host_lock);
    uint32_t at = extent_after(d->host, d->nhost, address);
    const cpu_extent *e = at ? &d->host[at - 1] : NULL;
    bool inside = e && address - e->address < e->bytes && bytes <= e->bytes - (address - e->address);
    pthread_rwlock_unlock(&d->host_lock);
    return inside;
}

bool cpu_variables_add(cpu_device *d, const cpu_extent *extents, uint32_t count)
{
    if (count == 0)
        return true;
    pthread_mutex_lock(&d->lock);
    bool room = extents_reserve(&d->variables, &d->variable_capacity, d->nvariables + count);
    if (room) {
        /* A module's variables are adjacent and sorted, so they go in as one piece. */
        uint32_t at = extent_after(d->variables, d->nvariables, extents[0].address);
        memmove(d->variables + at + count, d->variables + at, (d->nvariables - at) * sizeof *extents);
        memcpy(d->variables + at, extents, count * sizeof *extents);
        d->nvariables += count;
    }
    pthread_mutex_unlock(&d->lock);
    return room;
}

void cpu_variables_remove(cpu_device *d, bool constant, uint64_t base)
{
    pthread_mutex_lock(&d->lock);
    const cpu_extent *e = region_find(constant ? &d->constant : &d->global, base);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->nvariables; i++)
        if (!e || d->variables[i].address - e->user >= e->user_bytes)
            d->variables[kept++] = d->variables[i];
    d->nvariables = kept;
    pthread_mutex_unlock(&d->lock);
}

/* ------------------------------------------------------------ textures */

uint64_t cpu_texture_create(cpu_device *d, const void *descriptor, size_t bytes)
{
    uint64_t handle = 0;
    if (bytes == 0 || bytes > CPU_TEXTURE_BYTES)
        return 0;
    pthread_mutex_lock(&d->lock);
    uint32_t i = 0;
    while (i < d->texture_capacity && d->texture_live[i])
        i++;
    if (i < d->texture_capacity) {
        uint64_t place = d->texture_window + (uint64_t)i * CPU_TEXTURE_BYTES;
        uint64_t page = place & ~(uint64_t)(CPU_PAGE - 1);
        if (mprotect((void *)(uintptr_t)page, CPU_PAGE, PROT_READ | PROT_WRITE) == 0) {
            memcpy((void *)(uintptr_t)place, descriptor, bytes);
            /* Handlers trust what they read there, so no kernel may write it. */
            mprotect((void *)(uintptr_t)page, CPU_PAGE, PROT_READ);
            d->texture_live[i] = 1;
            handle = place;
        }
    }
    pthread_mutex_unlock(&d->lock);
    return handle;
}

bool cpu_texture_valid(const cpu_device *d, uint64_t handle)
{
    uint64_t offset = handle - d->texture_window;
    return offset < (uint64_t)d->texture_capacity * CPU_TEXTURE_BYTES && offset % CPU_TEXTURE_BYTES == 0 &&
           d->texture_live[offset / CPU_TEXTURE_BYTES];
}

bool cpu_texture_destroy(cpu_device *d, uint64_t handle)
{
    pthread_mutex_lock(&d->lock);
    bool valid = cpu_texture_valid(d, handle);
    if (valid)
        d->texture_live[(handle - d->texture_window) / CPU_TEXTURE_BYTES] = 0;
    pthread_mutex_unlock(&d->lock);
    return valid;
}

/* ------------------------------------------------------------ heap of malloc and free in kernels */

/* Blocks of a power of two of bytes with a 16-byte head that holds the class; freed ones form a list per class. */
enum { HEAP_HEAD = 16, HEAP_MAGIC = 0x6b7a };
#define HEAP_MOST ((1ull << 39) - HEAP_HEAD)

/* Can `address` be what malloc gave? The smallest block behind it then lies in the heap. */
static bool heap_holds(const cpu_device *d, uint64_t address)
{
    return address % 16 == 0 && address >= d->heap_window + HEAP_HEAD && address < d->heap_top;
}

uint64_t cpu_heap_alloc(cpu_device *d, uint64_t bytes)
{
    uint64_t address = 0;
    uint32_t class = 5;
    if (bytes > HEAP_MOST)
        return 0;
    while ((1ull << class) < bytes + HEAP_HEAD)
        class++;
    pthread_mutex_lock(&d->lock);
    /* The lists run through memory that a kernel may have written after its free: such a list is given up. */
    if (d->heap_free[class] && !heap_holds(d, d->heap_free[class] + HEAP_HEAD))
        d->heap_free[class] = 0;
    if (d->heap_free[class]) {
        address = d->heap_free[class];
        memcpy(&d->heap_free[class], (void *)(uintptr_t)(address + HEAP_HEAD), 8);
    } else if (d->heap_end - d->heap_top >= 1ull << class) {
        uint64_t end = d->heap_top + (1ull << class), map = round_up(end, 1 << 20);
        bool mapped = end <= d->heap_mapped;
        if (!mapped && map <= d->heap_end &&
            mprotect((void *)(uintptr_t)d->heap_mapped, map - d->heap_mapped, PROT_READ | PROT_WRITE) == 0) {
            d->heap_mapped = map;
            mapped = true;
        }
        if (mapped) {
            address = d->heap_top;
            d->heap_top = end;
        }
    }
    if (address)
        memcpy((void *)(uintptr_t)address, (uint64_t[2]){HEAP_MAGIC, class}, HEAP_HEAD);
    pthread_mutex_unlock(&d->lock);
    return address ? address + HEAP_HEAD : 0;
}

/* Goes through the blocks, which lie one behind the other; a head that a kernel wrote over ends it. */
static bool find_block(const cpu_device *d, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    uint64_t head[2];
    for (uint64_t at = d->heap_window; at < d->heap_top; at += 1ull << head[1]) {
        memcpy(head, (void *)(uintptr_t)at, HEAP_HEAD);
        if (head[1] < 5 || head[1] >= 40)
            return false;
        *base = at + HEAP_HEAD;
        *bytes = (1ull << head[1]) - HEAP_HEAD;
        if (address - at < 1ull << head[1])
            return head[0] == HEAP_MAGIC && address >= *base;
    }
    return false;
}

bool cpu_heap_block(cpu_device *d, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    bool found = true;
    pthread_mutex_lock(&d->lock);
    if (address) {
        found = address >= d->heap_window && address < d->heap_top && find_block(d, address, base, bytes);
    } else {
        *base = d->heap_window;
        *bytes = d->heap_end - d->heap_window;
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

bool cpu_heap_free(cpu_device *d, uint64_t address)
{
    uint64_t head[2];
    if (address == 0)
        return true;
    pthread_mutex_lock(&d->lock);
    bool valid = heap_holds(d, address);
    if (valid) {
        memcpy(head, (void *)(uintptr_t)(address - HEAP_HEAD), HEAP_HEAD);
        valid = head[0] == HEAP_MAGIC && head[1] < 40;
    }
    if (valid) {
        memcpy((void *)(uintptr_t)address, &d->heap_free[head[1]], 8);
        d->heap_free[head[1]] = address - HEAP_HEAD;
        memset((void *)(uintptr_t)(address - HEAP_HEAD), 0, 8);
    }
    pthread_mutex_unlock(&d->lock);
    return valid;
}
