/* ipc.c - memory and events that other processes use as well (cuIpc…).
 *
 * What is shared lies in a file without a name (memfd), and a handle says which descriptor of which process that is: the other one
 * opens it through /proc, so nothing is left behind when processes end, however they end. That the file is still the one that was
 * meant is seen by its number. An allocation becomes a file when the first handle to it is asked for, at the addresses that it has.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "runtime/driver/driver.h"

enum { PAGE = 4096, SIZE_SEALS = F_SEAL_SHRINK | F_SEAL_GROW };

/* What stands in a handle. */
typedef struct ticket {
    char what[8];
    int32_t process, file;
    uint64_t device, number;       /* of the file, as the system knows it */
    uint64_t offset, bytes;        /* of memory */
} ticket;

_Static_assert(sizeof(ticket) <= sizeof(cu_ipc), "a handle has 64 bytes");

static const char memory_mark[8] = "ptxbmem", event_mark[8] = "ptxbevt";

/* An allocation that has become a file. */
typedef struct given {
    uint64_t address, offset;
    int file;
    struct given *next;
} given;

/* Memory of another process. */
typedef struct taken {
    uint64_t base, pages, address; /* where its file is mapped, and the allocation in it */
    uint64_t device, number;
    uint32_t users;
    dr_device *owner;
    struct taken *next;
} taken;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* all of this file */
static given *all_given;
static taken *all_taken;
static _Atomic size_t ngiven;

static cu_result write_ticket(const char mark[8], int file, uint64_t offset, uint64_t bytes, cu_ipc *out)
{
    struct stat status;
    if (fstat(file, &status))
        return DR_ERROR(OPERATING_SYSTEM);
    ticket t = {.process = (int32_t)getpid(), .file = file, .device = status.st_dev, .number = status.st_ino, .offset = offset, .bytes = bytes};
    memcpy(t.what, mark, sizeof t.what);
    memset(out, 0, sizeof *out);
    memcpy(out, &t, sizeof t);
    return CUABI_SUCCESS;
}

/* The file that a handle means, opened, and its size. */
static cu_result open_ticket(const char mark[8], const cu_ipc *handle, ticket *t, int *file, uint64_t *bytes)
{
    char path[64];
    struct stat status;
    memcpy(t, handle, sizeof *t);
    if (memcmp(t->what, mark, sizeof t->what) != 0)
        return dr_fail(DR_ERROR(INVALID_VALUE), "these 64 bytes are no handle of this kind");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", t->process, t->file);
    *file = open(path, O_RDWR | O_CLOEXEC);
    if (*file >= 0) {
        int seals = fcntl(*file, F_GET_SEALS);
        if (seals >= 0 && (seals & SIZE_SEALS) == SIZE_SEALS && fstat(*file, &status) == 0 && status.st_dev == t->device &&
            status.st_ino == t->number && status.st_size > 0 && status.st_size % PAGE == 0) {
            *bytes = (uint64_t)status.st_size;
            return CUABI_SUCCESS;
        }
        close(*file);
    }
    return dr_fail(DR_ERROR(MAP_FAILED), "what process %d shared is not there, or not for this user", t->process);
}

/* ------------------------------------------------------------ memory that is given */

static cu_result give(const dr_range *r, given **out)
{
    given *g = all_given;
    pxb_device view;
    while (g && g->address != r->base)
        g = g->next;
    *out = g;
    if (g)
        return CUABI_SUCCESS;
    g = calloc(1, sizeof *g);
    if (!g)
        return DR_ERROR(OUT_OF_MEMORY);
    dr_device_view(r->device, dr_thread_errors(), &view);
    if (view.ops->share(&view, r->base, &g->file, &g->offset)) {
        free(g);
        return dr_fail(DR_ERROR(OUT_OF_MEMORY), "%s", pxb_last_error(dr_thread_errors())->message);
    }
    g->address = r->base;
    g->next = all_given;
    all_given = *out = g;
    atomic_fetch_add(&ngiven, 1);
    return CUABI_SUCCESS;
}

cu_result impl_cuIpcGetMemHandle(cu_ipc *handle, cu_address address)
{
    DR_NEED(handle);
    DR_USE(c);
    dr_range r;
    if (!dr_range_find(address, &r) || r.kind != DR_MEMORY_DEVICE || r.hidden || r.pool || r.of_graph)
        return DR_ERROR(INVALID_VALUE);
    if (!r.device->device->ops->share)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "memory of \"%s\" for other processes", r.device->choice);
    dr_device_wait(r.device);          /* what still runs may write where the file is about to be */
    pthread_mutex_lock(&lock);
    given *g;
    cu_result result = give(&r, &g);
    if (!result)
        result = write_ticket(memory_mark, g->file, g->offset, r.bytes, handle);
    pthread_mutex_unlock(&lock);
    return result;
}

void dr_ipc_forget(uint64_t address)
{
    if (!atomic_load(&ngiven))
        return;
    pthread_mutex_lock(&lock);
    for (given **p = &all_given; *p; p = &(*p)->next)
        if ((*p)->address == address) {
            given *g = *p;
            *p = g->next;
            close(g->file);
            free(g);
            atomic_fetch_sub(&ngiven, 1);
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------ memory that is taken */

static cu_result map_pages(taken *t, int file)
{
    pxb_device view;
    dr_device_view(t->owner, dr_thread_errors(), &view);
    if (view.ops->reserve(&view, t->pages, PAGE, 0, &t->base))
        return dr_fail(DR_ERROR(OUT_OF_MEMORY), "%s", pxb_last_error(dr_thread_errors())->message);
    if (mmap((void *)(uintptr_t)t->base, t->pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED)
        return CUABI_SUCCESS;
    view.ops->unreserve(&view, t->base);
    return DR_ERROR(OUT_OF_MEMORY);
}

static void unmap_pages(const taken *t)
{
    pxb_device view;
    dr_device_view(t->owner, dr_thread_errors(), &view);
    /* Addresses that cannot be emptied are not given to anybody else. */
    if (mmap((void *)(uintptr_t)t->base, t->pages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
        view.ops->unreserve(&view, t->base);
}

/* Takes over the file. Under the lock. */
static cu_result take(dr_device *d, const ticket *k, int file, uint64_t pages, cu_address *out)
{
    taken *t = all_taken;
    while (t && (t->device != k->device || t->number != k->number || t->owner != d))
        t = t->next;
    if (t) {
        t->users++;
        *out = t->address;
        close(file);
        return CUABI_SUCCESS;
    }
    t = calloc(1, sizeof *t);
    cu_result result = t ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
    if (t) {
        *t = (taken){.pages = pages, .device = k->device, .number = k->number, .users = 1, .owner = d};
        result = map_pages(t, file);
    }
    close(file);
    if (!result) {
        t->address = t->base + k->offset;
        const dr_range range = {.base = t->address, .bytes = k->bytes, .kind = DR_MEMORY_MAPPED, .device = d, .on_device = true};
        result = dr_range_add(&range);
        if (result)
            unmap_pages(t);
    }
    if (result) {
        free(t);
        return result;
    }
    t->next = all_taken;
    all_taken = t;
    *out = t->address;
    return CUABI_SUCCESS;
}

cu_result impl_cuIpcOpenMemHandle_v2(cu_address *address, cu_ipc handle, uint32_t flags)
{
    DR_NEED(address && (flags & ~(uint32_t)CUABI_CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == 0);
    DR_USE(c);
    ticket t;
    int file;
    uint64_t pages;
    if (!c->device->device->ops->share)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "memory of other processes on \"%s\"", c->device->choice);
    cu_result result = open_ticket(memory_mark, &handle, &t, &file, &pages);
    if (result)
        return result;
    bool own = t.process == (int32_t)getpid(), inside = t.bytes && t.bytes <= pages && t.offset <= pages - t.bytes;
    if (own || !inside) {
        close(file);
        return own ? dr_fail(DR_ERROR(INVALID_CONTEXT), "a process cannot open its own memory's handle") : DR_ERROR(INVALID_VALUE);
    }
    pthread_mutex_lock(&lock);
    result = take(c->device, &t, file, pages, address);
    pthread_mutex_unlock(&lock);
    return result;
}

cu_result impl_cuIpcOpenMemHandle(cu_address *address, cu_ipc handle, uint32_t flags)
{
    return impl_cuIpcOpenMemHandle_v2(address, handle, flags);
}

cu_result impl_cuIpcCloseMemHandle(cu_address address)
{
    DR_USE(c);
    dr_device_wait(c->device);         /* kernels may still use it */
    pthread_mutex_lock(&lock);
    taken **p = &all_taken;
    while (*p && (*p)->address != address)
        p = &(*p)->next;
    taken *t = *p;
    if (t && --t->users == 0) {
        *p = t->next;
        dr_range_remove(address);
        unmap_pages(t);
        free(t);
    }
    pthread_mutex_unlock(&lock);
    return t ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

/* ------------------------------------------------------------ events */

dr_shared_event *dr_shared_new(int file)
{
    if (file < 0) {
        file = memfd_create("ptxbridge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (file >= 0 && (ftruncate(file, PAGE) || fcntl(file, F_ADD_SEALS, SIZE_SEALS))) {
            close(file);
            file = -1;
        }
    }
    dr_shared_event *s = file >= 0 ? malloc(sizeof *s) : NULL;
    void *page = s ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (page == MAP_FAILED) {
        if (file >= 0)
            close(file);
        free(s);
        return NULL;
    }
    s->count = page;
    s->file = file;
    s->users = 1;
    return s;
}

dr_shared_event *dr_shared_hold(dr_shared_event *s)
{
    atomic_fetch_add(&s->users, 1);
    return s;
}

void dr_shared_drop(dr_shared_event *s)
{
    if (!s || atomic_fetch_sub(&s->users, 1) != 1)
        return;
    munmap(s->count, PAGE);
    close(s->file);
    free(s);
}

bool dr_shared_done(const dr_shared_event *s, uint64_t number)
{
    return atomic_load(&s->count->done) >= number;
}

/* Records may happen in another order than they were given in. */
void dr_shared_happened(dr_shared_event *s, uint64_t number)
{
    uint64_t done = atomic_load(&s->count->done);
    while (done < number && !atomic_compare_exchange_weak(&s->count->done, &done, number))
        ;
}

void dr_shared_wait(const dr_shared_event *s, uint64_t number, const _Atomic int32_t *sticky)
{
    for (uint32_t turn = 0; !dr_shared_done(s, number) && !atomic_load(sticky); turn++) {
        if (turn < 100)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, 50000}, NULL);
    }
}

cu_result impl_cuIpcGetEventHandle(cu_ipc *handle, cu_event event)
{
    DR_NEED(handle);
    DR_USE(c);
    const dr_event *e = dr_object_of(event, DR_EVENT);
    if (!e || !e->shared)
        return DR_ERROR(INVALID_HANDLE);
    return write_ticket(event_mark, e->shared->file, 0, PAGE, handle);
}

cu_result impl_cuIpcOpenEventHandle(cu_event *event, cu_ipc handle)
{
    DR_NEED(event);
    DR_USE(c);
    ticket t;
    int file;
    uint64_t bytes;
    dr_event *e;
    if (!c->device->device->ops->share)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "events of several processes on \"%s\"", c->device->choice);
    cu_result result = open_ticket(event_mark, &handle, &t, &file, &bytes);
    if (result)
        return result;
    dr_shared_event *shared = dr_shared_new(file);
    result = shared ? dr_event_new(c, CUABI_CU_EVENT_INTERPROCESS | CUABI_CU_EVENT_DISABLE_TIMING, &e) : DR_ERROR(OUT_OF_MEMORY);
    if (result) {
        dr_shared_drop(shared);
        return result;
    }
    e->shared = shared;
    *event = e;
    return CUABI_SUCCESS;
}
