/* hip_over_sim.c - a library with HIP's binary interface over the simulator, for tests of what calls HIP.
 *
 * Built twice, as ROCm 5 (hipGetDeviceProperties alone) and as ROCm 6 (with hipGetDevicePropertiesR0600). The environment
 * variable HIP_OVER_SIM names the devices, "gfx1100,gfx942"; empty, there are none. A launch runs on a thread
 * of its own, so that streams and events behave as a GPU's: not ready until the kernel has ended. HIP_OVER_SIM_LIMIT_MS bounds a launch
 * that nobody waits for any more. HIP_OVER_SIM_COOPERATIVE=0 makes devices without cooperative launches; cooperative_launches counts
 * them, which the simulator's results cannot tell from others. After a kernel's fault everything on its device answers with the fault until hipDeviceReset.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/hip/hip_abi.h"
#include "runtime/sim/sim.h"

#define EXPORT __attribute__((visibility("default")))

enum { MAX_DEVICES = 8, LONGEST_MS = 600000 };

enum { PROCESSORS = 4, BLOCKS_OF_A_PROCESSOR = 2 };

static struct { char name[16]; sim_device *sim; _Atomic hip_error fault; struct stream *streams; } devices[MAX_DEVICES];
static int ndevices;
EXPORT _Atomic unsigned cooperative_launches;
static __thread int current;
static __thread hip_error last_error;

static hip_error note(hip_error error)
{
    if (error)
        last_error = error;
    return error;
}

/* ------------------------------------------------------------ devices */

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_environment(void)
{
    const char *list = getenv("HIP_OVER_SIM");
    for (list = list ? list : "gfx1100"; *list && ndevices < MAX_DEVICES;) {
        size_t n = strcspn(list, ",");
        snprintf(devices[ndevices++].name, sizeof devices->name, "%.*s", (int)n, list);
        list += n + (list[n] == ',');
    }
}

static sim_device *device(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (current < ndevices && !devices[current].sim) {
        sim_options options = {.target = devices[current].name};
        sim_error error = {0};
        devices[current].sim = sim_open(&options, &error);
        if (!devices[current].sim)
            fprintf(stderr, "hip_over_sim: %s\n", error.reason);
    }
    pthread_mutex_unlock(&lock);
    return current < ndevices ? devices[current].sim : NULL;
}

/* Before whatever may not be done any more. */
#define WORKS                                                                                                                 \
    if (current < ndevices && devices[current].fault) return note(devices[current].fault)

EXPORT hip_error hipInit(unsigned flags)
{
    pthread_once(&once, read_environment);
    return note(flags ? HIP_INVALID_VALUE : ndevices ? HIP_SUCCESS : HIP_NO_DEVICE);
}

EXPORT hip_error hipRuntimeGetVersion(int *version)
{
    *version = HIP_OVER_SIM_ROCM * 10000000 + 1 * 100000 + 23;
    return HIP_SUCCESS;
}

EXPORT hip_error hipGetDeviceCount(int *count)
{
    *count = ndevices;
    return note(ndevices ? HIP_SUCCESS : HIP_NO_DEVICE);
}

EXPORT hip_error hipSetDevice(int number)
{
    if (number < 0 || number >= ndevices)
        return note(HIP_INVALID_DEVICE);
    current = number;
    return note(device() ? HIP_SUCCESS : HIP_NOT_INITIALIZED);
}

EXPORT hip_error hipDeviceGetName(char *name, int length, int number)
{
    if (number < 0 || number >= ndevices)
        return note(HIP_INVALID_DEVICE);
    snprintf(name, (size_t)length, "simulated %s", devices[number].name);
    return HIP_SUCCESS;
}

EXPORT hip_error hipDeviceGetAttribute(int *value, int attribute, int number)
{
    if (number < 0 || number >= ndevices)
        return note(HIP_INVALID_DEVICE);
    bool wide = strncmp(devices[number].name, "gfx9", 4) == 0;
    switch (attribute) {
    case HIP_ATTRIBUTE_WARP_SIZE: *value = wide ? 64 : 32; return HIP_SUCCESS;
    case HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = PROCESSORS; return HIP_SUCCESS;
    case HIP_ATTRIBUTE_SHARED_PER_BLOCK: *value = 65536; return HIP_SUCCESS;
    case HIP_ATTRIBUTE_COOPERATIVE_LAUNCH: {
        const char *set = getenv("HIP_OVER_SIM_COOPERATIVE");
        *value = !set || strcmp(set, "0") != 0;
        return HIP_SUCCESS;
    }
    case HIP_ATTRIBUTE_CLOCK_RATE: *value = 1000000; return HIP_SUCCESS;
    default: return note(HIP_INVALID_VALUE);
    }
}

/* Where gcnArchName stands in hipDeviceProp_t, and the structure's size, of ROCm 5 and 6. */
static hip_error properties(char *to, int number, size_t place, size_t size)
{
    if (number < 0 || number >= ndevices)
        return note(HIP_INVALID_DEVICE);
    memset(to, 0, size);
    snprintf(to, 256, "simulated %s", devices[number].name);
    snprintf(to + place, 256, "%s:sramecc-:xnack-", devices[number].name);
    return HIP_SUCCESS;
}

EXPORT hip_error hipGetDeviceProperties(void *to, int number) { return properties(to, number, 396, 792); }
#if HIP_OVER_SIM_ROCM >= 6
EXPORT hip_error hipGetDevicePropertiesR0600(void *to, int number) { return properties(to, number, 1160, 1472); }
#endif

EXPORT hip_error hipDeviceSetLimit(int limit, size_t value)
{
    (void)value;
    return note(limit == HIP_LIMIT_STACK_SIZE ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

/* ------------------------------------------------------------ memory */

static uint64_t address(const void *p) { return (uint64_t)(uintptr_t)p; }

EXPORT hip_error hipMalloc(hip_pointer *out, size_t bytes)
{
    WORKS;
    uint64_t a = sim_alloc(device(), bytes);
    *out = (void *)(uintptr_t)a;
    if (a)
        sim_set(device(), a, 0xcd, bytes);       /* as on a GPU: anything but zeros */
    return note(a ? HIP_SUCCESS : HIP_OUT_OF_MEMORY);
}

/* Memory of the host belongs to other functions than the device's own: what is which, by address. */
enum { MAX_PINNED = 1024 };
static void *pinned[MAX_PINNED];
static pthread_mutex_t pinned_lock = PTHREAD_MUTEX_INITIALIZER;

/* Where `old` is in the list, `p` is put. */
static bool exchange_pinned(void *old, void *p)
{
    int i = 0;
    pthread_mutex_lock(&pinned_lock);
    while (i < MAX_PINNED && pinned[i] != old) i++;
    if (i < MAX_PINNED) pinned[i] = p;
    pthread_mutex_unlock(&pinned_lock);
    return i < MAX_PINNED;
}

static bool is_pinned(void *p) { return p && exchange_pinned(p, p); }

EXPORT hip_error hipFree(hip_pointer p)
{
    WORKS;
    return note(!p || (!is_pinned(p) && sim_free(device(), address(p))) ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

EXPORT hip_error hipMallocManaged(hip_pointer *out, size_t bytes, unsigned flags)
{
    return flags == HIP_ATTACH_GLOBAL ? hipMalloc(out, bytes) : note(HIP_INVALID_VALUE);
}

EXPORT hip_error hipHostMalloc(void **out, size_t bytes, unsigned flags)
{
    if (flags != (HIP_HOST_PORTABLE | HIP_HOST_MAPPED | HIP_HOST_COHERENT))
        return note(HIP_INVALID_VALUE);
    hip_error error = hipMalloc(out, bytes);
    return error || exchange_pinned(NULL, *out) ? error : note(HIP_OUT_OF_MEMORY);
}

EXPORT hip_error hipHostFree(void *p)
{
    WORKS;
    return note(p && exchange_pinned(p, NULL) && sim_free(device(), address(p)) ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

EXPORT hip_error hipHostRegister(void *p, size_t bytes, unsigned flags)
{
    WORKS;
    bool done = flags == HIP_REGISTER_MAPPED && p && exchange_pinned(NULL, p) && sim_map_host(device(), address(p), bytes, true);
    return note(done ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

EXPORT hip_error hipHostUnregister(void *p)
{
    WORKS;
    return note(p && exchange_pinned(p, NULL) && sim_map_host(device(), address(p), 0, false) ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

EXPORT hip_error hipHostGetDevicePointer(hip_pointer *out, void *p, unsigned flags)
{
    WORKS;
    *out = p;
    return note(!flags && is_pinned(p) ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

EXPORT hip_error hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    WORKS;
    bool done = kind == HIP_HOST_TO_DEVICE   ? sim_write(device(), address(to), from, bytes)
                : kind == HIP_DEVICE_TO_HOST ? sim_read(device(), to, address(from), bytes)
                                             : kind == HIP_DEVICE_TO_DEVICE && sim_copy(device(), address(to), address(from), bytes);
    return note(done ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

EXPORT hip_error hipMemset(hip_pointer p, int value, size_t bytes)
{
    WORKS;
    return note(sim_set(device(), address(p), (uint8_t)value, bytes) ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

EXPORT hip_error hipMemGetInfo(size_t *left, size_t *total)
{
    uint64_t used, rest;
    sim_memory_info(device(), &used, &rest);
    *left = rest;
    *total = used + rest;
    return HIP_SUCCESS;
}

/* ------------------------------------------------------------ modules */

/* HIP is given no size: the end of the section headers, or of the last section, is the end of the file. */
static size_t elf_bytes(const unsigned char *image)
{
    uint64_t headers, end;
    uint16_t each, count;
    memcpy(&headers, image + 40, 8);
    memcpy(&each, image + 58, 2);
    memcpy(&count, image + 60, 2);
    end = headers + (uint64_t)each * count;
    for (uint16_t i = 0; i < count; i++) {
        uint32_t type;
        uint64_t offset, size;
        memcpy(&type, image + headers + (uint64_t)each * i + 4, 4);
        memcpy(&offset, image + headers + (uint64_t)each * i + 24, 8);
        memcpy(&size, image + headers + (uint64_t)each * i + 32, 8);
        if (type != 8 && offset + size > end)    /* SHT_NOBITS has no bytes in the file */
            end = offset + size;
    }
    return end;
}

EXPORT hip_error hipModuleLoadData(hip_module *out, const void *image)
{
    WORKS;
    sim_error error = {0};
    if (memcmp(image, "\177ELF", 4))
        return note(HIP_INVALID_IMAGE);
    *out = sim_module_load(device(), image, elf_bytes(image), &error);
    if (!*out)
        fprintf(stderr, "hip_over_sim: %s\n", error.reason);
    return note(*out ? HIP_SUCCESS : HIP_NO_BINARY_FOR_GPU);
}

EXPORT hip_error hipModuleUnload(hip_module module)
{
    WORKS;
    sim_module_unload(module);
    return HIP_SUCCESS;
}

EXPORT hip_error hipModuleGetFunction(hip_function *out, hip_module module, const char *name)
{
    WORKS;
    sim_error error = {0};
    *out = sim_kernel_get(module, name, &error);
    return note(*out ? HIP_SUCCESS : HIP_NOT_FOUND);
}

EXPORT hip_error hipModuleGetGlobal(hip_pointer *out, size_t *bytes, hip_module module, const char *name)
{
    WORKS;
    uint64_t size = 0, a = sim_symbol(module, name, &size);
    *out = (void *)(uintptr_t)a;
    *bytes = size;
    return note(a ? HIP_SUCCESS : HIP_NOT_FOUND);
}

/* ------------------------------------------------------------ streams: one launch at a time */

typedef struct stream {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t started, ended;                     /* launches */
    double ended_ms;
    hip_error error;                             /* sticky, as HIP's are */
    int device;
    struct stream *next;                         /* of the device */
} stream;

typedef struct job {
    stream *stream;
    sim_kernel *kernel;
    sim_launch launch;
    char *params;
} job;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static hip_error error_of(sim_status status)
{
    switch (status) {
    case SIM_OK: return HIP_SUCCESS;
    case SIM_NO_MEMORY: return HIP_OUT_OF_MEMORY;
    case SIM_BAD_ARGUMENT: return HIP_INVALID_CONFIGURATION;
    case SIM_FAULT_ADDRESS: return HIP_ILLEGAL_ADDRESS;
    case SIM_FAULT_TIMEOUT: return HIP_LAUNCH_TIME_OUT;
    case SIM_UNSUPPORTED: return HIP_UNKNOWN;
    default: return HIP_LAUNCH_FAILURE;
    }
}

static void *run_job(void *data)
{
    job *j = data;
    sim_error error = {0};
    sim_status status = sim_run(j->kernel, &j->launch, &error);
    if (status == SIM_UNSUPPORTED)
        fprintf(stderr, "hip_over_sim: %s: %s\n", error.instruction, error.reason);
    pthread_mutex_lock(&j->stream->lock);
    j->stream->ended++;
    j->stream->ended_ms = now_ms();
    if (status)
        j->stream->error = error_of(status);
    if (j->stream->error >= HIP_ILLEGAL_ADDRESS && j->stream->error != HIP_UNKNOWN)
        devices[j->stream->device].fault = j->stream->error;
    pthread_cond_broadcast(&j->stream->changed);
    pthread_mutex_unlock(&j->stream->lock);
    free(j->params);
    free(j);
    return NULL;
}

static hip_error wait_until(stream *s, uint64_t launch)
{
    pthread_mutex_lock(&s->lock);
    while (s->ended < launch)
        pthread_cond_wait(&s->changed, &s->lock);
    hip_error error = s->error;
    pthread_mutex_unlock(&s->lock);
    return note(error);
}

/* The pieces of `extra`; false when it is not understood. */
static bool take_params(void **extra, job *j)
{
    const void *buffer = NULL;
    size_t bytes = 0;
    for (; extra && *extra != HIP_PARAM_END; extra += 2) {
        if (*extra == HIP_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == HIP_PARAM_BUFFER_SIZE)
            bytes = *(const size_t *)extra[1];
        else
            return false;
    }
    j->params = malloc(bytes + 1);
    if (!j->params || (bytes && !buffer))
        return false;
    if (bytes)
        memcpy(j->params, buffer, bytes);
    j->launch.kernarg = j->params;
    j->launch.kernarg_bytes = bytes;
    return true;
}

static hip_error start(job *j, hip_function function, const unsigned grid[3], const unsigned block[3], unsigned shared, stream *s)
{
    pthread_t thread;
    hip_error error = wait_until(s, s->started);
    if (error)
        return error;
    j->stream = s;
    j->kernel = function;
    memcpy(j->launch.grid, grid, sizeof j->launch.grid);
    memcpy(j->launch.block, block, sizeof j->launch.block);
    j->launch.dynamic_lds = shared;
    const char *limit = getenv("HIP_OVER_SIM_LIMIT_MS");
    j->launch.timeout_ms = limit ? (uint32_t)strtoul(limit, NULL, 10) : LONGEST_MS;
    s->started++;
    if (pthread_create(&thread, NULL, run_job, j))
        return note(HIP_OUT_OF_MEMORY);
    pthread_detach(thread);
    return HIP_SUCCESS;
}

EXPORT hip_error hipModuleLaunchKernel(hip_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                       unsigned shared, hip_stream to, void **params, void **extra)
{
    WORKS;
    job *j = calloc(1, sizeof *j);
    if (!j || params || !function || !to || !take_params(extra, j)) {
        free(j);
        return note(HIP_INVALID_VALUE);
    }
    return start(j, function, (unsigned[3]){gx, gy, gz}, (unsigned[3]){bx, by, bz}, shared, to);
}

EXPORT hip_error hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hip_function function, int threads, size_t shared)
{
    WORKS;
    *blocks = threads <= 1024 && shared <= 65536 ? BLOCKS_OF_A_PROCESSOR : 0;
    return note(function && threads > 0 ? HIP_SUCCESS : HIP_INVALID_VALUE);
}

#if HIP_OVER_SIM_ROCM >= 6
/* The parameters come one by one, as the code object's metadata lists them: in code of ours there is one, with all of PTX's in it. */
EXPORT hip_error hipModuleLaunchCooperativeKernel(hip_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                                  unsigned bz, unsigned shared, hip_stream to, void **params)
{
    WORKS;
    sim_kernel_info info;
    if (!function || !to || !params)
        return note(HIP_INVALID_VALUE);
    sim_kernel_describe(function, &info);
    if ((uint64_t)gx * gy * gz > PROCESSORS * BLOCKS_OF_A_PROCESSOR)
        return note(HIP_COOPERATIVE_LAUNCH_TOO_LARGE);
    size_t bytes = info.kernarg_bytes;
    void *extra[] = {HIP_PARAM_BUFFER_POINTER, params[0], HIP_PARAM_BUFFER_SIZE, &bytes, HIP_PARAM_END};
    job *j = calloc(1, sizeof *j);
    if (!j || !take_params(bytes ? extra : NULL, j)) {
        free(j);
        return note(HIP_INVALID_VALUE);
    }
    j->launch.cooperative = true;
    cooperative_launches++;
    return start(j, function, (unsigned[3]){gx, gy, gz}, (unsigned[3]){bx, by, bz}, shared, to);
}
#endif

EXPORT hip_error hipStreamCreate(hip_stream *out)
{
    WORKS;
    stream *s = calloc(1, sizeof *s);
    if (!s)
        return note(HIP_OUT_OF_MEMORY);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->device = current;
    s->next = devices[current].streams;
    devices[current].streams = s;
    *out = s;
    return HIP_SUCCESS;
}

EXPORT hip_error hipStreamSynchronize(hip_stream s) { return wait_until(s, ((stream *)s)->started); }

EXPORT hip_error hipStreamDestroy(hip_stream s)
{
    stream *gone = s, **p = &devices[gone->device].streams;
    wait_until(gone, gone->started);
    while (*p && *p != gone)
        p = &(*p)->next;
    if (*p)
        *p = gone->next;
    free(gone);
    return HIP_SUCCESS;
}

EXPORT hip_error hipDeviceReset(void)
{
    while (devices[current].streams)
        hipStreamDestroy(devices[current].streams);
    sim_close(devices[current].sim);             /* with all memory and modules */
    devices[current].sim = NULL;
    devices[current].fault = HIP_SUCCESS;
    pthread_mutex_lock(&pinned_lock);
    memset(pinned, 0, sizeof pinned);            /* of other devices too: they are not found any more */
    pthread_mutex_unlock(&pinned_lock);
    return note(device() ? HIP_SUCCESS : HIP_NOT_INITIALIZED);
}

/* ------------------------------------------------------------ events */

typedef struct event { stream *stream; uint64_t launch; double ms; } event;   /* after this launch of the stream */

EXPORT hip_error hipEventCreate(hip_event *out)
{
    *out = calloc(1, sizeof(event));
    return note(*out ? HIP_SUCCESS : HIP_OUT_OF_MEMORY);
}

EXPORT hip_error hipEventDestroy(hip_event e)
{
    free(e);
    return HIP_SUCCESS;
}

EXPORT hip_error hipEventRecord(hip_event to, hip_stream s)
{
    event *e = to;
    e->stream = s;
    e->launch = e->stream->started;
    e->ms = 0;
    pthread_mutex_lock(&e->stream->lock);
    if (e->stream->ended >= e->launch)
        e->ms = now_ms();
    pthread_mutex_unlock(&e->stream->lock);
    return HIP_SUCCESS;
}

EXPORT hip_error hipEventQuery(hip_event of)
{
    event *e = of;
    if (!e->stream)
        return note(HIP_INVALID_HANDLE);
    pthread_mutex_lock(&e->stream->lock);
    bool done = e->stream->ended >= e->launch;
    hip_error error = e->stream->error;
    if (done && e->ms == 0)
        e->ms = e->stream->ended_ms;
    pthread_mutex_unlock(&e->stream->lock);
    return note(done ? error : HIP_NOT_READY);
}

EXPORT hip_error hipEventElapsedTime(float *ms, hip_event start, hip_event stop)
{
    if (hipEventQuery(start) || hipEventQuery(stop))
        return note(HIP_NOT_READY);
    *ms = (float)(((event *)stop)->ms - ((event *)start)->ms);
    return HIP_SUCCESS;
}

/* ------------------------------------------------------------ errors */

EXPORT hip_error hipGetLastError(void)
{
    hip_error error = last_error;
    last_error = HIP_SUCCESS;
    return error;
}

static const struct { hip_error error; const char *name, *text; } texts[] = {
    {HIP_SUCCESS, "hipSuccess", "no error"},
    {HIP_INVALID_VALUE, "hipErrorInvalidValue", "invalid argument"},
    {HIP_OUT_OF_MEMORY, "hipErrorOutOfMemory", "out of memory"},
    {HIP_NOT_INITIALIZED, "hipErrorNotInitialized", "initialization error"},
    {HIP_INVALID_CONFIGURATION, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {HIP_NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {HIP_INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
    {HIP_INVALID_IMAGE, "hipErrorInvalidImage", "device kernel image is invalid"},
    {HIP_NO_BINARY_FOR_GPU, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {HIP_INVALID_HANDLE, "hipErrorInvalidHandle", "invalid resource handle"},
    {HIP_NOT_FOUND, "hipErrorNotFound", "named symbol not found"},
    {HIP_NOT_READY, "hipErrorNotReady", "device not ready"},
    {HIP_ILLEGAL_ADDRESS, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {HIP_LAUNCH_TIME_OUT, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
    {HIP_COOPERATIVE_LAUNCH_TOO_LARGE, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {HIP_LAUNCH_FAILURE, "hipErrorLaunchFailure", "unspecified launch failure"},
};

static size_t text_of(hip_error error)
{
    size_t i = 0;
    while (i < sizeof texts / sizeof *texts && texts[i].error != error)
        i++;
    return i;
}

EXPORT const char *hipGetErrorName(hip_error error)
{
    size_t i = text_of(error);
    return i < sizeof texts / sizeof *texts ? texts[i].name : "hipErrorUnknown";
}

EXPORT const char *hipGetErrorString(hip_error error)
{
    size_t i = text_of(error);
    return i < sizeof texts / sizeof *texts ? texts[i].text : "unknown error";
}
