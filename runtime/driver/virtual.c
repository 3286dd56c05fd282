/* virtual.c - virtual memory management: addresses (cuMemAddressReserve), memory (cuMemCreate), and one put at the other (cuMemMap).
 *
 * The device reserves addresses of this process that its kernels may use. Memory is a file without a name (memfd_create), so mapping it
 * is mmap, access is mprotect, and another process can be given it. What may be used is in the table of ranges, neighbours with the same
 * access as one range: copies and sets run over the borders of mappings as kernels do.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/driver/driver.h"

/* As on GPUs; programs are known to count on it. */
enum { GRANULARITY = 2 << 20 };

/* Memory that another process can cut short would be a trap. */
enum { SIZE_SEALS = F_SEAL_SHRINK | F_SEAL_GROW };

typedef struct dr_physical {
    dr_object head;
    dr_device *device;
    uint64_t bytes;
    cu_alloc_prop prop;
    int fd;
    uint32_t users;                /* handles and mappings */
} dr_physical;

typedef struct mapping {
    uint64_t address, bytes, offset;
    dr_physical *memory;
    int access;                    /* PROT_… */
} mapping;

typedef struct reservation {
    uint64_t base, bytes;
    dr_device *device;
    mapping *at;                   /* sorted by address */
    size_t count, capacity;
    struct reservation *next;
} reservation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* all of the above */
static reservation *reservations;

/* ------------------------------------------------------------ memory */

static void release(dr_physical *m)
{
    if (--m->users)
        return;
    close(m->fd);
    atomic_fetch_sub(&m->device->memory_used, m->bytes);
    dr_object_free(m, DR_PHYSICAL);
}

/* Takes over the file. */
static cu_result new_physical(dr_device *d, uint64_t bytes, int fd, const cu_alloc_prop *prop, cu_memory_handle *out)
{
    dr_physical *m = fd < 0 || !dr_memory_reserve(d, bytes) ? NULL : dr_object_new(DR_PHYSICAL, sizeof *m);
    if (!m) {
        if (fd >= 0)
            close(fd);
        return dr_fail(DR_ERROR(OUT_OF_MEMORY), "no room for %llu bytes on \"%s\"", (unsigned long long)bytes, d->choice);
    }
    m->device = d;
    m->bytes = bytes;
    m->prop = *prop;
    m->fd = fd;
    m->users = 1;
    *out = (cu_memory_handle)(uintptr_t)m;
    return CUABI_SUCCESS;
}

static dr_physical *physical_of(cu_memory_handle handle)
{
    return dr_object_of((const void *)(uintptr_t)handle, DR_PHYSICAL);
}

/* The device whose memory or addresses are meant, if it can do this at all. */
static cu_result device_for(dr_device *d, dr_device **out)
{
    *out = d;
    if (!d)
        return DR_ERROR(INVALID_DEVICE);
    if (!d->device->ops->reserve)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "virtual memory management on \"%s\"", d->choice);
    return CUABI_SUCCESS;
}

/* Without a context, the first device's. */
static cu_result current_device(dr_device **out)
{
    dr_context *c = dr_context_current();
    cu_result ready = dr_ready();
    *out = NULL;
    return ready ? ready : device_for(c ? c->device : dr_device_at(0), out);
}

static cu_result device_at(const cu_location *location, dr_device **out)
{
    cu_result ready = dr_ready();
    *out = NULL;
    if (ready)
        return ready;
    if (location->type == CUABI_CU_MEM_LOCATION_TYPE_HOST)
        return current_device(out);
    if (location->type != CUABI_CU_MEM_LOCATION_TYPE_DEVICE)
        return DR_ERROR(INVALID_VALUE);
    return device_for(dr_device_at(location->id), out);
}

static cu_result check_prop(const cu_alloc_prop *prop, dr_device **out)
{
    *out = NULL;
    if (prop->type != CUABI_CU_MEM_ALLOCATION_TYPE_PINNED)
        return DR_ERROR(INVALID_VALUE);
    if (prop->handle_types & ~CUABI_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "memory that can be shared by handles of types 0x%x", (unsigned)prop->handle_types);
    return device_at(&prop->location, out);
}

cu_result impl_cuMemGetAllocationGranularity(size_t *granularity, const cu_alloc_prop *prop, int32_t option)
{
    DR_NEED(granularity && prop && (option == 0 || option == 1));
    dr_device *d;
    cu_result result = check_prop(prop, &d);
    if (!result)
        *granularity = GRANULARITY;
    return result;
}

cu_result impl_cuMemCreate(cu_memory_handle *handle, size_t size, const cu_alloc_prop *prop, uint64_t flags)
{
    DR_NEED(handle && prop && size && size % GRANULARITY == 0 && flags == 0);
    dr_device *d;
    cu_result result = check_prop(prop, &d);
    if (result)
        return result;
    int fd = memfd_create("ptxbridge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && (ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, SIZE_SEALS))) {
        close(fd);
        fd = -1;
    }
    return new_physical(d, size, fd, prop, handle);
}

cu_result impl_cuMemRelease(cu_memory_handle handle)
{
    pthread_mutex_lock(&lock);
    dr_physical *m = physical_of(handle);
    if (m)
        release(m);
    pthread_mutex_unlock(&lock);
    return m ? CUABI_SUCCESS : dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE);
}

cu_result impl_cuMemGetAllocationPropertiesFromHandle(cu_alloc_prop *prop, cu_memory_handle handle)
{
    DR_NEED(prop);
    pthread_mutex_lock(&lock);
    dr_physical *m = physical_of(handle);
    if (m)
        *prop = m->prop;
    pthread_mutex_unlock(&lock);
    return m ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

/* The program gets a descriptor of its own, and keeps the one that it gives. */
cu_result impl_cuMemExportToShareableHandle(void *shareable_handle, cu_memory_handle handle, int32_t handle_type, uint64_t flags)
{
    DR_NEED(shareable_handle && flags == 0);
    int fd = -1;
    pthread_mutex_lock(&lock);
    dr_physical *m = physical_of(handle);
    bool allowed = m && handle_type == CUABI_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && (m->prop.handle_types & handle_type);
    if (allowed)
        fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&lock);
    if (!allowed)
        return DR_ERROR(INVALID_VALUE);
    if (fd < 0)
        return DR_ERROR(OPERATING_SYSTEM);
    memcpy(shareable_handle, &fd, sizeof fd);
    return CUABI_SUCCESS;
}

cu_result impl_cuMemImportFromShareableHandle(cu_memory_handle *handle, void *os_handle, int32_t handle_type)
{
    DR_NEED(handle && handle_type == CUABI_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    dr_device *d;
    struct stat status;
    int given = (int)(intptr_t)os_handle;
    cu_result result = current_device(&d);
    if (result)
        return result;
    int seals = fcntl(given, F_GET_SEALS);
    if (seals < 0 || (seals & SIZE_SEALS) != SIZE_SEALS || fstat(given, &status) || status.st_size <= 0 || status.st_size % GRANULARITY)
        return DR_ERROR(INVALID_VALUE);
    const cu_alloc_prop prop = {.type = CUABI_CU_MEM_ALLOCATION_TYPE_PINNED, .handle_types = handle_type,
                                .location = {CUABI_CU_MEM_LOCATION_TYPE_DEVICE, d->ordinal}};
    return new_physical(d, (uint64_t)status.st_size, fcntl(given, F_DUPFD_CLOEXEC, 0), &prop, handle);
}

/* ------------------------------------------------------------ addresses */

/* The reservation that holds all of [address, address + bytes), or NULL. */
static reservation *reservation_of(uint64_t address, uint64_t bytes)
{
    reservation *r = reservations;
    while (r && (address < r->base || address - r->base >= r->bytes || bytes > r->bytes - (address - r->base)))
        r = r->next;
    return r;
}

cu_result impl_cuMemAddressReserve(cu_address *address, size_t size, size_t alignment, cu_address wanted, uint64_t flags)
{
    DR_NEED(address && size && size % GRANULARITY == 0 && flags == 0 && (alignment & (alignment - 1)) == 0);
    dr_device *d;
    pxb_device view;
    cu_result result = current_device(&d);
    if (result)
        return result;
    reservation *r = calloc(1, sizeof *r);
    if (!r)
        return DR_ERROR(OUT_OF_MEMORY);
    dr_device_view(d, dr_thread_errors(), &view);
    if (view.ops->reserve(&view, size, alignment > GRANULARITY ? alignment : GRANULARITY, wanted, &r->base)) {
        free(r);
        return dr_fail(DR_ERROR(OUT_OF_MEMORY), "%s", pxb_last_error(dr_thread_errors())->message);
    }
    r->bytes = size;
    r->device = d;
    pthread_mutex_lock(&lock);
    r->next = reservations;
    reservations = r;
    pthread_mutex_unlock(&lock);
    *address = r->base;
    return CUABI_SUCCESS;
}

cu_result impl_cuMemAddressFree(cu_address address, size_t size)
{
    reservation *gone = NULL;
    pthread_mutex_lock(&lock);
    for (reservation **p = &reservations; *p && !gone; p = &(*p)->next)
        if ((*p)->base == address && (*p)->bytes == size && (*p)->count == 0) {
            gone = *p;
            *p = gone->next;
            break;
        }
    if (gone) {
        pxb_device view;
        dr_device_view(gone->device, dr_thread_errors(), &view);
        view.ops->unreserve(&view, address);
        free(gone->at);
        free(gone);
    }
    pthread_mutex_unlock(&lock);
    return gone ? CUABI_SUCCESS : dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE);
}

/* ------------------------------------------------------------ mappings */

/* Tells the table what of a reservation may be used. */
static cu_result publish(const reservation *r)
{
    dr_range *ranges = calloc(r->count + 1, sizeof *ranges);
    size_t n = 0;
    if (!ranges)
        return DR_ERROR(OUT_OF_MEMORY);
    for (size_t i = 0; i < r->count; i++) {
        const mapping *m = &r->at[i];
        bool read_only = !(m->access & PROT_WRITE);
        if (m->access == PROT_NONE)
            continue;
        if (n && ranges[n - 1].base + ranges[n - 1].bytes == m->address && ranges[n - 1].read_only == read_only)
            ranges[n - 1].bytes += m->bytes;
        else
            ranges[n++] = (dr_range){.base = m->address, .bytes = m->bytes, .kind = DR_MEMORY_MAPPED, .device = r->device, .on_device = true,
                                     .read_only = read_only};
    }
    cu_result result = dr_range_replace(r->base, r->bytes, ranges, n);
    free(ranges);
    return result;
}

/* The mappings that make up [address, address + bytes) without a gap, and nothing beside it: from *first, as many as it returns. */
static size_t whole_mappings(const reservation *r, uint64_t address, uint64_t bytes, size_t *first)
{
    uint64_t at = address;
    size_t i = 0;
    while (r && i < r->count && r->at[i].address < address)
        i++;
    for (*first = i; r && i < r->count && r->at[i].address == at && at - address < bytes; i++)
        at += r->at[i].bytes;
    return at == address + bytes ? i - *first : 0;
}

static bool grow(reservation *r)
{
    if (r->count < r->capacity)
        return true;
    size_t capacity = r->capacity ? 2 * r->capacity : 8;
    mapping *more = realloc(r->at, capacity * sizeof *more);
    if (!more)
        return false;
    r->at = more;
    r->capacity = capacity;
    return true;
}

static cu_result map(uint64_t address, uint64_t size, uint64_t offset, cu_memory_handle handle)
{
    reservation *r = reservation_of(address, size);
    dr_physical *m = physical_of(handle);
    size_t i = 0;
    if (!r || !m || offset > m->bytes || size > m->bytes - offset)
        return DR_ERROR(INVALID_VALUE);
    if (m->device != r->device)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "memory of \"%s\" at addresses of \"%s\"", m->device->choice, r->device->choice);
    while (i < r->count && r->at[i].address < address)
        i++;
    if ((i && r->at[i - 1].address + r->at[i - 1].bytes > address) || (i < r->count && r->at[i].address < address + size))
        return DR_ERROR(INVALID_VALUE);
    if (!grow(r))
        return DR_ERROR(OUT_OF_MEMORY);
    if (mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, m->fd, (off_t)offset) == MAP_FAILED)
        return DR_ERROR(OUT_OF_MEMORY);
    memmove(&r->at[i + 1], &r->at[i], (r->count - i) * sizeof *r->at);
    r->at[i] = (mapping){address, size, offset, m, PROT_NONE};
    r->count++;
    m->users++;
    return CUABI_SUCCESS;
}

cu_result impl_cuMemMap(cu_address address, size_t size, size_t offset, cu_memory_handle handle, uint64_t flags)
{
    DR_NEED(size && flags == 0 && address % GRANULARITY == 0 && size % GRANULARITY == 0 && offset % GRANULARITY == 0);
    pthread_mutex_lock(&lock);
    cu_result result = map(address, size, offset, handle);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Kernels and copies that were given before may use what goes. */
static void wait_for_device(uint64_t address, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    const reservation *r = reservation_of(address, bytes);
    dr_device *d = r ? r->device : NULL;
    pthread_mutex_unlock(&lock);
    if (d)
        dr_device_wait(d);
}

cu_result impl_cuMemUnmap(cu_address address, size_t size)
{
    DR_NEED(size);
    cu_result result = CUABI_SUCCESS;
    size_t first, n;
    wait_for_device(address, size);
    pthread_mutex_lock(&lock);
    reservation *r = reservation_of(address, size);
    n = whole_mappings(r, address, size, &first);
    if (!n)
        result = DR_ERROR(INVALID_VALUE);
    else if (mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        result = DR_ERROR(OUT_OF_MEMORY);
    if (!result) {
        for (size_t i = first; i < first + n; i++)
            release(r->at[i].memory);
        memmove(&r->at[first], &r->at[first + n], (r->count - first - n) * sizeof *r->at);
        r->count -= n;
        result = publish(r);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static int protection_of(int32_t flags)
{
    switch (flags) {
    case CUABI_CU_MEM_ACCESS_FLAGS_PROT_NONE: return PROT_NONE;
    case CUABI_CU_MEM_ACCESS_FLAGS_PROT_READ: return PROT_READ;
    case CUABI_CU_MEM_ACCESS_FLAGS_PROT_READWRITE: return PROT_READ | PROT_WRITE;
    default: return -1;
    }
}

static cu_result set_access(uint64_t address, uint64_t size, int protection, const dr_device *d)
{
    reservation *r = reservation_of(address, size);
    size_t first, n = whole_mappings(r, address, size, &first);
    if (!n)
        return DR_ERROR(INVALID_VALUE);
    if (d != r->device)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "access of \"%s\" to memory of \"%s\"", d->choice, r->device->choice);
    if (mprotect((void *)(uintptr_t)address, size, protection))
        return DR_ERROR(OUT_OF_MEMORY);
    for (size_t i = first; i < first + n; i++)
        r->at[i].access = protection;
    return publish(r);
}

/* The host may use what the device may: there is one protection for both, the last that was set. */
cu_result impl_cuMemSetAccess(cu_address address, size_t size, const cu_access_desc *desc, size_t count)
{
    DR_NEED(size && desc && count);
    for (size_t i = 0; i < count; i++) {
        int protection = protection_of(desc[i].flags);
        dr_device *d = NULL;
        cu_result result = protection < 0 ? DR_ERROR(INVALID_VALUE) : device_at(&desc[i].location, &d);
        if (result)
            return result;
        if (protection != (PROT_READ | PROT_WRITE))
            wait_for_device(address, size);
        pthread_mutex_lock(&lock);
        result = set_access(address, size, protection, d);
        pthread_mutex_unlock(&lock);
        if (result)
            return result;
    }
    return CUABI_SUCCESS;
}

/* The mapping that holds an address, or NULL. */
static const mapping *mapping_of(uint64_t address)
{
    const reservation *r = reservation_of(address, 1);
    for (size_t i = 0; r && i < r->count; i++)
        if (address - r->at[i].address < r->at[i].bytes)
            return &r->at[i];
    return NULL;
}

cu_result impl_cuMemGetAccess(uint64_t *flags, const cu_location *location, cu_address address)
{
    DR_NEED(flags && location);
    dr_device *d;
    cu_result result = device_at(location, &d);
    if (result)
        return result;
    pthread_mutex_lock(&lock);
    const mapping *m = mapping_of(address);
    if (m)
        *flags = m->memory->device != d || m->access == PROT_NONE ? CUABI_CU_MEM_ACCESS_FLAGS_PROT_NONE
                 : m->access & PROT_WRITE ? CUABI_CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CUABI_CU_MEM_ACCESS_FLAGS_PROT_READ;
    pthread_mutex_unlock(&lock);
    return m ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

cu_result impl_cuMemRetainAllocationHandle(cu_memory_handle *handle, void *address)
{
    DR_NEED(handle);
    pthread_mutex_lock(&lock);
    const mapping *m = mapping_of((uint64_t)(uintptr_t)address);
    if (m) {
        m->memory->users++;
        *handle = (cu_memory_handle)(uintptr_t)m->memory;
    }
    pthread_mutex_unlock(&lock);
    return m ? CUABI_SUCCESS : dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE);
}
