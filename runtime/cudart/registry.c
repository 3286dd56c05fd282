/* registry.c - what a program's constructors register: images, functions and variables, by the addresses of their host shadows.
 *
 * Registering only notes; an image is loaded when one of its names is first used, so that a program without a device starts. All entries
 * live until their image is unregistered. One lock guards the tables; the names and addresses themselves are the program's.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cudart/internal.h"

typedef struct image {
    const void *wrapper;                 /* 24 bytes, magic 0x466243b1: data of crt/host_runtime.h's __fatDeviceText */
    cu_library library;                  /* NULL until it is loaded */
    cudart_error failed;                 /* why it could not be */
    struct image *next;
} image;

typedef enum entry_kind { ENTRY_FUNCTION, ENTRY_VARIABLE, ENTRY_MANAGED } entry_kind;

typedef struct entry {
    const void *host;                    /* the key */
    const char *name;
    image *owner;
    cu_kernel kernel;                    /* NULL until it is used */
    size_t bytes;
    cu_address address;                  /* of a managed variable, once its image is loaded */
    entry_kind kind;
} entry;

/* One lock for all: loading an image may run on several threads at once, and must happen once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static image *images;
static entry *table;                     /* open addressing, a power of two, at most half full */
static size_t room, used;
/* The stub of a kernel keeps only a handle, NULL when there was none: launching NULL answers with the reason. */
static cudart_error no_kernel = RT_cudaErrorInvalidDeviceFunction;

/* ------------------------------------------------------------ the table */

static size_t slot_of(const entry *in, size_t size, const void *host)
{
    size_t at = (size_t)(((uintptr_t)host >> 3) * 0x9E3779B97F4A7C15u >> 20) & (size - 1);
    while (in[at].host && in[at].host != host)
        at = (at + 1) & (size - 1);
    return at;
}

static bool grow(void)
{
    size_t size = room ? room * 2 : 256;
    entry *larger = calloc(size, sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < room; i++)
        if (table[i].host)
            larger[slot_of(larger, size, table[i].host)] = table[i];
    free(table);
    table = larger;
    room = size;
    return true;
}

static void add(void **handle, const void *host, const char *name, size_t bytes, entry_kind kind)
{
    pthread_mutex_lock(&lock);
    if (handle && host && name && (2 * (used + 1) < room || grow())) {
        size_t at = slot_of(table, room, host);
        used += !table[at].host;
        table[at] = (entry){.host = host, .name = name, .owner = (image *)handle, .bytes = bytes, .kind = kind};
    }
    pthread_mutex_unlock(&lock);
}

static entry *find(const void *host)
{
    if (!room || !host)
        return NULL;
    entry *e = &table[slot_of(table, room, host)];
    return e->host ? e : NULL;
}

/* ------------------------------------------------------------ registration */

API void **__cudaRegisterFatBinary(void *wrapper)
{
    image *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    made->next = images;
    images = made;
    pthread_mutex_unlock(&lock);
    return (void **)made;
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

/* Removes what an image registered; the table is made anew, because open addressing does not lose single entries. */
static void drop_entries(const image *owner)
{
    entry *old = table;
    size_t size = room;
    entry *kept = calloc(size ? size : 1, sizeof *kept);
    if (!kept)                           /* they stay, and their image with them */
        return;
    used = 0;
    for (size_t i = 0; i < size; i++)
        if (old[i].host && old[i].owner != owner) {
            kept[slot_of(kept, size, old[i].host)] = old[i];
            used++;
        }
    free(old);
    table = kept;
}

API void __cudaUnregisterFatBinary(void **handle)
{
    if (!handle)
        return;
    image *gone = (image *)handle;
    pthread_mutex_lock(&lock);
    for (image **at = &images; *at; at = &(*at)->next)
        if (*at == gone) {
            *at = gone->next;
            break;
        }
    drop_entries(gone);
    if (gone->library && !process_ends)
        driver.cuLibraryUnload(gone->library);
    pthread_mutex_unlock(&lock);
    free(gone);
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit, void *tid,
                                void *bid, void *block, void *grid, int *warp)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    add(handle, host, name, 0, ENTRY_FUNCTION);
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes, int constant,
                           int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    add(handle, host, name, bytes, ENTRY_VARIABLE);
}

/* `host` is the address of the program's pointer to the variable, which loading the image fills. */
API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
                                  int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    add(handle, (const void *)host, name, bytes, ENTRY_MANAGED);
}

/* Variables of the host that kernels of a unified system see under their own address: nothing to do. */
API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)handle, (void)name, (void)host, (void)bytes;
}

API void **__cudaRegisterUnifiedTable(void **handle, void *unified)
{
    (void)unified;
    return handle;
}

/* ------------------------------------------------------------ loading */

static cudart_error fill_managed(image *owner)
{
    for (size_t i = 0; i < room; i++) {
        entry *e = &table[i];
        if (!e->host || e->owner != owner || e->kind != ENTRY_MANAGED)
            continue;
        size_t bytes;
        TRY(driver.cuLibraryGetManaged(&e->address, &bytes, owner->library, e->name));
        memcpy((void *)(uintptr_t)e->host, &e->address, sizeof e->address);
    }
    return RT_cudaSuccess;
}

/* The lock is held. A failure is kept: an image does not become better. */
static cudart_error load(image *owner)
{
    if (owner->library || owner->failed)
        return owner->failed;
    cudart_error error = driver.cuLibraryLoadData(&owner->library, owner->wrapper, NULL, NULL, 0, NULL, NULL, 0);
    if (error) {
        owner->library = NULL;
        if (error != RT_cudaErrorMemoryAllocation)
            owner->failed = error;
        return error;
    }
    return fill_managed(owner);
}

/* A program reads a __managed__ variable on the host before it has called anything. */
API char __cudaInitModule(void **handle)
{
    cudart_error error = enter();
    if (!error && handle) {
        pthread_mutex_lock(&lock);
        error = load((image *)handle);
        pthread_mutex_unlock(&lock);
    }
    record(error);
    return 1;
}

cudart_error kernel_of(const void *function, cu_kernel *kernel)
{
    *kernel = NULL;
    TRY(enter());
    cudart_error error = RT_cudaSuccess;
    pthread_mutex_lock(&lock);
    entry *e = find(function);
    if (!function)
        error = no_kernel;
    else if (!e)                         /* a handle of cudaGetKernel() or cudaLibraryGetKernel(), which the driver judges */
        *kernel = (cu_kernel)(uintptr_t)function;
    else if (e->kind != ENTRY_FUNCTION)
        error = RT_cudaErrorInvalidDeviceFunction;
    else {
        if (!e->kernel) {
            error = load(e->owner);
            if (!error)
                error = driver.cuLibraryGetKernel(&e->kernel, e->owner->library, e->name);
            if (error == RT_cudaErrorSymbolNotFound)
                error = RT_cudaErrorInvalidDeviceFunction;
        }
        *kernel = e->kernel;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* A program that names a managed variable as a symbol gives the variable's own address: the host code reads it through the pointer. */
static entry *find_managed(const void *address)
{
    for (size_t i = 0; i < room; i++)
        if (table[i].host && table[i].kind == ENTRY_MANAGED && table[i].address == (cu_address)(uintptr_t)address && address)
            return &table[i];
    return NULL;
}

cudart_error variable_of(const void *symbol, cu_address *address, size_t *bytes)
{
    *address = 0;
    *bytes = 0;
    TRY(enter());
    pthread_mutex_lock(&lock);
    entry *e = find(symbol);
    if (!e)
        e = find_managed(symbol);
    cudart_error error = RT_cudaErrorInvalidSymbol;
    if (e && e->kind != ENTRY_FUNCTION) {
        error = load(e->owner);
        if (!error && e->kind == ENTRY_MANAGED)
            error = driver.cuLibraryGetManaged(address, bytes, e->owner->library, e->name);
        else if (!error)
            error = driver.cuLibraryGetGlobal(address, bytes, e->owner->library, e->name);
        if (error == RT_cudaErrorSymbolNotFound)
            error = RT_cudaErrorInvalidSymbol;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

cudart_error kernel_error(cu_result result)
{
    return result == CUABI_CUDA_ERROR_INVALID_HANDLE ? RT_cudaErrorInvalidDeviceFunction : result;
}

/* ------------------------------------------------------------ handles for programs */

API cudart_error __cudaGetKernel(cu_kernel *kernel, const void *function)
{
    cudart_error error = kernel_of(function, kernel);
    if (error) {
        pthread_mutex_lock(&lock);
        no_kernel = error;
        pthread_mutex_unlock(&lock);
    }
    return record(error);
}

API cudart_error cudaGetKernel(cu_kernel *kernel, const void *function)
{
    return record(kernel ? kernel_of(function, kernel) : RT_cudaErrorInvalidValue);
}

API cudart_error cudaGetFuncBySymbol(cu_function *function, const void *symbol)
{
    cu_kernel kernel;
    cudart_error error = function ? kernel_of(symbol, &kernel) : RT_cudaErrorInvalidValue;
    return record(error ? error : kernel_error(driver.cuKernelGetFunction(function, kernel)));
}

API cudart_error cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    cu_address address;
    size_t bytes;
    cudart_error error = pointer ? variable_of(symbol, &address, &bytes) : RT_cudaErrorInvalidValue;
    if (!error)
        *pointer = (void *)(uintptr_t)address;
    return record(error);
}

API cudart_error cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    cu_address address;
    return record(bytes ? variable_of(symbol, &address, bytes) : RT_cudaErrorInvalidValue);
}
