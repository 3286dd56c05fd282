/* driver_lookup.c - a program that opens the driver by itself and asks it for each function, as many libraries do. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*get_proc)(const char *symbol, void **function, int version, uint64_t flags, int *status);

static get_proc get;

static void fail(const char *what)
{
    fprintf(stderr, "driver_lookup: %s\n", what);
    exit(1);
}

static void *need(const char *symbol, int version)
{
    void *function = NULL;
    int status = -1;
    if (get(symbol, &function, version, 0, &status) != 0 || status != 0 || !function)
        fail(symbol);
    return function;
}

int main(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        fail(dlerror());
    get = (get_proc)(uintptr_t)dlsym(library, "cuGetProcAddress_v2");
    if (!get)
        fail("cuGetProcAddress_v2");
    int (*init)(unsigned) = (int (*)(unsigned))(uintptr_t)need("cuInit", 12000);
    int (*count)(int *) = (int (*)(int *))(uintptr_t)need("cuDeviceGetCount", 12000);
    int (*retain)(void **, int) = (int (*)(void **, int))(uintptr_t)need("cuDevicePrimaryCtxRetain", 12000);
    int (*set)(void *) = (int (*)(void *))(uintptr_t)need("cuCtxSetCurrent", 12000);
    int (*allocate)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))(uintptr_t)need("cuMemAlloc", 12000);
    int (*fill)(uint64_t, unsigned, size_t) = (int (*)(uint64_t, unsigned, size_t))(uintptr_t)need("cuMemsetD32", 12000);
    int (*read)(void *, uint64_t, size_t) = (int (*)(void *, uint64_t, size_t))(uintptr_t)need("cuMemcpyDtoH", 12000);
    int n = 0;
    void *context;
    uint64_t memory = 0;
    unsigned host[100];
    if (init(0) || count(&n) || n < 1 || retain(&context, 0) || set(context) || allocate(&memory, sizeof host))
        fail("a call");
    if (fill(memory, 0xabcd1234u, 100) || read(host, memory, sizeof host))
        fail("a copy");
    for (int i = 0; i < 100; i++)
        if (host[i] != 0xabcd1234u)
            fail("the memory holds something else");
    /* The first release of the function is not what a caller of today gets. */
    void *old = dlsym(library, "cuMemAlloc"), *now = dlsym(library, "cuMemAlloc_v2");
    if (need("cuMemAlloc", 3020) != now || (old && need("cuMemAlloc", 12000) == old))
        fail("cuMemAlloc by version");
    /* Names that are not there, and functions of the future. */
    void *function = &n;
    int status = -1;
    if (get("cuNoSuchFunction", &function, 12000, 0, &status) == 1 || function || status != 1)
        fail("an unknown name");
    function = &n;
    if (get("cuLibraryLoadData", &function, 11000, 0, &status) == 1 || function || status != 2)
        fail("a version that is not sufficient");
    /* A thread of the library may run: closing does not take its code away. */
    dlclose(library);
    if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD))
        fail("closing");
    printf("driver_lookup: ok\n");
    return 0;
}
