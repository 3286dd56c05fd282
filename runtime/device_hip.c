/* device_hip.c - an AMD GPU through HIP, "hip" or "hip:1".
 *
 * A fault that HIP reports ends the device for this process until it is reset, and with the reset goes all that was on it.
 * A kernel that HIP cannot stop is one reason for a device to be lost: after a launch ran over its time limit nothing else can
 * be asked of it. Faults of the hardware are worse, since HIP's own runtime may end the process; kernels therefore test what
 * they can themselves (ptx/lib/fault.h).
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/device_amd.h"
#include "runtime/hip/hip_library.h"
#include "runtime/llvm/llvm.h"

enum { PROPERTIES = 8, STACK_BYTES = 16 << 10 };

typedef struct gpu {
    amd_device amd;                          /* first: see amd_of */
    hip_library hip;
    int number;
    bool cooperative;                        /* the GPU can launch so */
    bool lost;
    bool broken;                             /* a fault ended it: HIP answers everything with the fault until a reset */
    struct gpu *next;                        /* among those lost */
    hip_stream stream;
    hip_event start, stop;
    double busy_us;
    char values[PROPERTIES][256];
} gpu;

static gpu *state_of(pxb_device *device)
{
    return device->state;
}

/* ------------------------------------------------------------ errors */

static pxb_status status_of(hip_error error)
{
    switch (error) {
    case HIP_SUCCESS: return PXB_OK;
    case HIP_OUT_OF_MEMORY: return PXB_OUT_OF_MEMORY;
    case HIP_NO_DEVICE:
    case HIP_INVALID_DEVICE: return PXB_NO_DEVICE;
    case HIP_INVALID_CONFIGURATION:
    case HIP_COOPERATIVE_LAUNCH_TOO_LARGE:
    case HIP_LAUNCH_OUT_OF_RESOURCES: return PXB_BAD_ARGUMENT;
    case HIP_NOT_SUPPORTED: return PXB_UNSUPPORTED;
    case HIP_NOT_FOUND: return PXB_NOT_FOUND;
    case HIP_ILLEGAL_ADDRESS:
    case HIP_LAUNCH_FAILURE: return PXB_FAULT_ADDRESS;
    case HIP_LAUNCH_TIME_OUT: return PXB_FAULT_TIMEOUT;
    case HIP_ASSERT: return PXB_FAULT_TRAP;
    default: return PXB_INTERNAL;
    }
}

static pxb_status result_of(pxb_device *device, hip_error error, const char *what)
{
    gpu *g = state_of(device);
    if (!error)
        return PXB_OK;
    g->hip.hipGetLastError();                /* HIP keeps the last error; it has been seen now */
    pxb_status status = status_of(error);
    if (pxb_is_fault(status))
        status = PXB_INTERNAL;               /* an earlier launch's; a launch reports its own by amd_fault */
    return rt_fail(device->context, status, "%s: %s (%s)", what, g->hip.hipGetErrorString(error), g->hip.hipGetErrorName(error));
}

static pxb_status ready(pxb_device *device)
{
    gpu *g = state_of(device);
    if (g->lost)
        return rt_fail(device->context, PXB_NO_DEVICE,
                       "device \"hip:%d\" is lost: a kernel was still running when its time was over, and HIP cannot stop it", g->number);
    if (g->broken)
        return rt_fail(device->context, PXB_NO_DEVICE, "device \"hip:%d\" was ended by an earlier kernel's fault", g->number);
    return result_of(device, g->hip.hipSetDevice(g->number), "hipSetDevice");
}

/* ------------------------------------------------------------ opening */

static const char *why_unavailable(void)
{
    static char why[600];
    hip_library hip;
    return hip_load(&hip, why, sizeof why) ? NULL : why;
}

static const char *choices(void)
{
    static char text[256];
    char why[16];
    hip_library hip;
    size_t n = 0;
    text[0] = 0;
    if (!hip_load(&hip, why, sizeof why))
        return text;
    for (int i = 0; i < hip.devices && n + 12 < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", i ? " " : "", i);
    return text;
}

static pxb_status choose_target(pxb_device *device, gpu *g)
{
    const char *const *t = xl_targets();
    char name[sizeof g->amd.target];
    if (!hip_architecture(&g->hip, g->number, name, sizeof name))
        return rt_fail(device->context, PXB_NO_DEVICE, "HIP does not say which architecture device %d has", g->number);
    while (*t && strcmp(*t, name) != 0)
        t++;
    if (!*t)
        return rt_fail(device->context, PXB_UNSUPPORTED, "device \"hip:%d\" is a %s, for which nothing is translated", g->number, name);
    snprintf(g->amd.target, sizeof g->amd.target, "%s", name);
    return PXB_OK;
}

static pxb_status start_stream(pxb_device *device, gpu *g)
{
    pxb_status status = ready(device);
    if (!status)
        status = result_of(device, g->hip.hipStreamCreate(&g->stream), "hipStreamCreate");
    if (!status)
        status = result_of(device, g->hip.hipEventCreate(&g->start), "hipEventCreate");
    if (!status)
        status = result_of(device, g->hip.hipEventCreate(&g->stop), "hipEventCreate");
    /* For kernels with recursion or indirect calls, whose stack no compiler can bound. Older releases cannot set it. */
    if (!status && g->hip.hipDeviceSetLimit && g->hip.hipDeviceSetLimit(HIP_LIMIT_STACK_SIZE, STACK_BYTES))
        g->hip.hipGetLastError();
    return status;
}

static int attribute(const gpu *g, int which)
{
    int value = 0;
    return g->hip.hipDeviceGetAttribute(&value, which, g->number) ? 0 : value;
}

static pxb_status start(pxb_device *device, gpu *g)
{
    pxb_status status = ready(device);
    if (!status)
        status = choose_target(device, g);
    if (!status)
        g->cooperative = attribute(g, HIP_ATTRIBUTE_COOPERATIVE_LAUNCH);
    return status ? status : start_stream(device, g);
}

static const amd_backend backend;

/* The stream and the events of a lost device belong to a kernel that may still run: they stay until the process ends, and so does
 * what knows them. */
static _Atomic(gpu *) lost;

static void end_events(gpu *g)
{
    if (g->start)
        g->hip.hipEventDestroy(g->start);
    if (g->stop)
        g->hip.hipEventDestroy(g->stop);
    g->start = g->stop = NULL;
}

/* A reset takes all that this process has on the device: memory, modules, streams. Events are the host's. */
static bool reset(gpu *g)
{
    end_events(g);
    g->stream = NULL;
    return !g->hip.hipSetDevice(g->number) && !g->hip.hipDeviceReset();
}

static void stop(gpu *g)
{
    if (g->lost) {
        g->next = atomic_load(&lost);
        while (!atomic_compare_exchange_weak(&lost, &g->next, g))
            ;
        return;
    }
    if (g->broken && !reset(g))
        g->hip.hipGetLastError();
    end_events(g);
    if (g->stream)
        g->hip.hipStreamDestroy(g->stream);
    free(g);
}

static pxb_status open_hip(pxb_device *device, const char *which)
{
    char why[600], *end = NULL;
    gpu *g = calloc(1, sizeof *g);
    if (!g)
        return rt_no_memory(device->context);
    const char *no_llvm = rt_llvm_open ? rt_llvm_open() : NULL;
    if (no_llvm || !hip_load(&g->hip, why, sizeof why)) {
        free(g);
        return rt_fail(device->context, PXB_NO_DEVICE, "device \"hip\" is not available: %s", no_llvm ? no_llvm : why);
    }
    long number = which ? strtol(which, &end, 10) : 0;
    if (which && (end == which || *end || number < 0 || number >= g->hip.devices)) {
        int devices = g->hip.devices;
        free(g);
        return rt_fail(device->context, PXB_NO_DEVICE, "there is no device \"hip:%.40s\"; HIP finds %d, numbered from 0", which, devices);
    }
    g->amd.backend = &backend;
    g->number = (int)number;
    device->state = g;
    pxb_status status = start(device, g);
    if (status) {
        device->state = NULL;
        stop(g);
    }
    return status;
}

static void close_hip(pxb_device *device)
{
    gpu *g = state_of(device);
    amd_release(device);
    stop(g);
}

static pxb_status recover_hip(pxb_device *device)
{
    gpu *g = state_of(device);
    if (!g->broken)
        return PXB_OK;
    if (!reset(g)) {
        g->hip.hipGetLastError();
        return rt_fail(device->context, PXB_NO_DEVICE, "device \"hip:%d\" was ended by a kernel's fault, and a reset does not bring it back",
                       g->number);
    }
    g->broken = false;
    amd_forget(device);
    return start_stream(device, g);
}

static bool property_of(pxb_device *device, uint32_t index, pxb_property *out)
{
    static const char *const names[PROPERTIES] = {"name", "target", "compute units", "wavefront size", "shared memory", "memory free",
                                                  "HIP", "library"};
    gpu *g = state_of(device);
    if (index >= PROPERTIES)
        return false;
    char *value = g->values[index];
    size_t size = sizeof g->values[index], left = 0, total = 0;
    switch (index) {
    case 0:
        if (g->hip.hipDeviceGetName(value, (int)size, g->number))
            snprintf(value, size, "unknown");
        break;
    case 1: snprintf(value, size, "%s", g->amd.target); break;
    case 2: snprintf(value, size, "%d", attribute(g, HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT)); break;
    case 3: snprintf(value, size, "%d", attribute(g, HIP_ATTRIBUTE_WARP_SIZE)); break;
    case 4: snprintf(value, size, "%d", attribute(g, HIP_ATTRIBUTE_SHARED_PER_BLOCK)); break;
    case 5:
        if (ready(device) || g->hip.hipMemGetInfo(&left, &total))
            left = 0;
        snprintf(value, size, "%zu", left);
        break;
    case 6: snprintf(value, size, "%d.%d.%d", g->hip.version / 10000000, g->hip.version / 100000 % 100, g->hip.version % 100000); break;
    case 7: snprintf(value, size, "%s", g->hip.path); break;
    }
    out->name = names[index];
    out->value = value;
    return true;
}

static bool counter_of(pxb_device *device, uint32_t index, pxb_counter *out)
{
    if (index)
        return false;
    out->name = "kernel microseconds";
    out->value = (uint64_t)state_of(device)->busy_us;
    return true;
}

/* ------------------------------------------------------------ memory */

static void *pointer(pxb_address address)
{
    return (void *)(uintptr_t)address;
}

static pxb_status alloc_hip(pxb_device *device, size_t bytes, pxb_address *out)
{
    gpu *g = state_of(device);
    void *p = NULL;
    pxb_status status = ready(device);
    if (!status && g->hip.hipMalloc(&p, bytes)) {
        g->hip.hipGetLastError();
        return rt_fail(device->context, PXB_OUT_OF_MEMORY, "the device has no room for %zu bytes", bytes);
    }
    *out = (pxb_address)(uintptr_t)p;
    return status;
}

static pxb_status free_hip(pxb_device *device, pxb_address address)
{
    gpu *g = state_of(device);
    if (g->lost || g->broken)
        return PXB_OK;                       /* it goes with the process, or with the reset */
    pxb_status status = ready(device);
    return status ? status : result_of(device, g->hip.hipFree(pointer(address)), "hipFree");
}

/* Does the device see memory of the host at the host's address? On every GPU that shares the process's address space it does. */
static bool same_address(gpu *g, void *host)
{
    void *seen = NULL;
    bool same = !g->hip.hipHostGetDevicePointer(&seen, host, 0) && seen == host;
    g->hip.hipGetLastError();
    return same;
}

static pxb_status alloc_shared_hip(pxb_device *device, size_t bytes, bool managed, pxb_address *out)
{
    gpu *g = state_of(device);
    void *p = NULL;
    pxb_status status = ready(device);
    if (status)
        return status;
    hip_error error = managed ? g->hip.hipMallocManaged(&p, bytes, HIP_ATTACH_GLOBAL)
                              : g->hip.hipHostMalloc(&p, bytes, HIP_HOST_PORTABLE | HIP_HOST_MAPPED | HIP_HOST_COHERENT);
    if (error)
        return result_of(device, error, managed ? "hipMallocManaged" : "hipHostMalloc");
    if (!managed && !same_address(g, p)) {
        g->hip.hipHostFree(p);
        return rt_fail(device->context, PXB_UNSUPPORTED, "device \"hip:%d\" sees pinned memory at another address than the host", g->number);
    }
    *out = (pxb_address)(uintptr_t)p;
    return PXB_OK;
}

static pxb_status free_shared_hip(pxb_device *device, pxb_address address, bool managed)
{
    gpu *g = state_of(device);
    if (managed)
        return free_hip(device, address);
    if (g->lost || g->broken)
        return PXB_OK;
    pxb_status status = ready(device);
    return status ? status : result_of(device, g->hip.hipHostFree(pointer(address)), "hipHostFree");
}

static pxb_status map_hip(pxb_device *device, pxb_address address, size_t bytes, bool map)
{
    gpu *g = state_of(device);
    if (!map && (g->lost || g->broken))
        return PXB_OK;
    pxb_status status = ready(device);
    if (status)
        return status;
    if (!map)
        return result_of(device, g->hip.hipHostUnregister(pointer(address)), "hipHostUnregister");
    status = result_of(device, g->hip.hipHostRegister(pointer(address), bytes, HIP_REGISTER_MAPPED), "hipHostRegister");
    if (status || same_address(g, pointer(address)))
        return status;
    g->hip.hipHostUnregister(pointer(address));
    return rt_fail(device->context, PXB_UNSUPPORTED, "device \"hip:%d\" sees registered memory at another address than the host", g->number);
}

static pxb_status transfer(pxb_device *device, void *to, const void *from, size_t bytes, int kind)
{
    pxb_status status = ready(device);
    return status ? status : result_of(device, state_of(device)->hip.hipMemcpy(to, from, bytes, kind), "hipMemcpy");
}

static pxb_status write_hip(pxb_device *device, pxb_address to, const void *from, size_t bytes)
{
    return transfer(device, pointer(to), from, bytes, HIP_HOST_TO_DEVICE);
}

static pxb_status read_hip(pxb_device *device, void *to, pxb_address from, size_t bytes)
{
    return transfer(device, to, pointer(from), bytes, HIP_DEVICE_TO_HOST);
}

/* HIP does not say what becomes of ranges that overlap: these go over a buffer. */
static pxb_status copy_hip(pxb_device *device, pxb_address to, pxb_address from, size_t bytes)
{
    pxb_address between = 0;
    if (to >= from + bytes || from >= to + bytes)
        return transfer(device, pointer(to), pointer(from), bytes, HIP_DEVICE_TO_DEVICE);
    pxb_status status = alloc_hip(device, bytes, &between);
    if (status)
        return status;
    status = transfer(device, pointer(between), pointer(from), bytes, HIP_DEVICE_TO_DEVICE);
    if (!status)
        status = transfer(device, pointer(to), pointer(between), bytes, HIP_DEVICE_TO_DEVICE);
    pxb_status freed = free_hip(device, between);
    return status ? status : freed;
}

static pxb_status set_hip(pxb_device *device, pxb_address to, uint8_t value, size_t bytes)
{
    pxb_status status = ready(device);
    return status ? status : result_of(device, state_of(device)->hip.hipMemset(pointer(to), value, bytes), "hipMemset");
}

/* ------------------------------------------------------------ code objects */

static pxb_status load_hip(pxb_device *device, const void *code, size_t bytes, void **out)
{
    (void)bytes;                             /* HIP reads the size from the ELF file */
    pxb_status status = ready(device);
    return status ? status : result_of(device, state_of(device)->hip.hipModuleLoadData(out, code), "hipModuleLoadData");
}

static void unload_hip(pxb_device *device, void *loaded)
{
    gpu *g = state_of(device);
    if (!g->lost && !g->broken && g->hip.hipModuleUnload(loaded))
        g->hip.hipGetLastError();
}

static pxb_address symbol_hip(pxb_device *device, void *loaded, const char *name)
{
    gpu *g = state_of(device);
    void *p = NULL;
    size_t bytes = 0;
    if (!g->hip.hipModuleGetGlobal(&p, &bytes, loaded, name))
        return (pxb_address)(uintptr_t)p;
    g->hip.hipGetLastError();
    return 0;
}

static pxb_status kernel_hip(pxb_device *device, void *loaded, const char *name, void **out)
{
    pxb_status status = ready(device);
    return status ? status : result_of(device, state_of(device)->hip.hipModuleGetFunction(out, loaded, name), "hipModuleGetFunction");
}

/* ------------------------------------------------------------ launches */

/* Waits for the launch; polls where there is a limit, because HIP has no wait with one. */
static hip_error wait_for(gpu *g, uint32_t timeout_ms, bool *in_time)
{
    double deadline = rt_now_ms() + timeout_ms;
    struct timespec pause = {0, 20000};
    *in_time = true;
    if (!timeout_ms)
        return g->hip.hipStreamSynchronize(g->stream);
    for (;;) {
        hip_error error = g->hip.hipEventQuery(g->stop);
        if (error != HIP_NOT_READY)
            return error ? error : g->hip.hipStreamSynchronize(g->stream);
        g->hip.hipGetLastError();
        if (rt_now_ms() > deadline) {
            *in_time = false;
            return HIP_SUCCESS;
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 1000000)
            pause.tv_nsec *= 2;
    }
}

static hip_error launch(gpu *g, void *kernel, const amd_run *run)
{
    size_t bytes = run->bytes;
    void *extra[] = {HIP_PARAM_BUFFER_POINTER, (void *)run->params, HIP_PARAM_BUFFER_SIZE, &bytes, HIP_PARAM_END};
    void *whole[] = {(void *)run->params};   /* a kernel of ours has one parameter: all of them */
    hip_error error = g->hip.hipEventRecord(g->start, g->stream);
    if (!error && run->cooperative)
        error = g->hip.hipModuleLaunchCooperativeKernel(kernel, run->grid[0], run->grid[1], run->grid[2], run->block[0], run->block[1],
                                                        run->block[2], run->shared, g->stream, whole);
    else if (!error)
        error = g->hip.hipModuleLaunchKernel(kernel, run->grid[0], run->grid[1], run->grid[2], run->block[0], run->block[1],
                                             run->block[2], run->shared, g->stream, NULL, bytes ? extra : NULL);
    return error ? error : g->hip.hipEventRecord(g->stop, g->stream);
}

static pxb_status run_hip(pxb_device *device, void *kernel, const amd_run *run, const amd_kernel *of, const amd_object *object)
{
    gpu *g = state_of(device);
    bool in_time;
    float ms = 0;
    const amd_place nowhere = {0};
    (void)object;                            /* HIP does not say where a fault was */
    pxb_status status = ready(device);
    if (!status)
        status = result_of(device, launch(g, kernel, run), run->cooperative ? "hipModuleLaunchCooperativeKernel" : "hipModuleLaunchKernel");
    if (status)
        return status;
    hip_error error = wait_for(g, run->timeout_ms, &in_time);
    if (!in_time) {
        g->lost = true;
        return amd_fault(of, PXB_FAULT_TIMEOUT, &nowhere, "the launch ran longer than %u ms; the device is lost to this process", run->timeout_ms);
    }
    if (!error) {
        if (!g->hip.hipEventElapsedTime(&ms, g->start, g->stop))
            g->busy_us += 1e3 * (double)ms;
        return PXB_OK;
    }
    g->hip.hipGetLastError();
    status = status_of(error);
    g->broken = pxb_is_fault(status);
    if (g->broken)
        return amd_fault(of, status, &nowhere, "%s (%s); HIP does not say where", g->hip.hipGetErrorString(error), g->hip.hipGetErrorName(error));
    return result_of(device, error, "the launch");
}

static pxb_status blocks_hip(pxb_device *device, void *kernel, uint32_t threads, uint32_t shared_bytes, uint64_t *out)
{
    gpu *g = state_of(device);
    int each = 0;
    pxb_status status = ready(device);
    if (!status)
        status = result_of(device, g->hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)threads, shared_bytes),
                           "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
    *out = each > 0 ? (uint64_t)each * (uint64_t)attribute(g, HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT) : 0;
    return status;
}

static const amd_backend backend = {
    .alloc = alloc_hip,
    .free = free_hip,
    .alloc_shared = alloc_shared_hip,
    .free_shared = free_shared_hip,
    .write = write_hip,
    .read = read_hip,
    .copy = copy_hip,
    .set = set_hip,
    .load = load_hip,
    .unload = unload_hip,
    .symbol = symbol_hip,
    .kernel = kernel_hip,
    .run = run_hip,
    .blocks_at_once = blocks_hip,
};

static pxb_status refuse_check(pxb_device *device, const pxb_launch_options *options)
{
    if (!options->check)
        return PXB_OK;
    return rt_fail(device->context, PXB_UNSUPPORTED, "device \"hip\" cannot check accesses (--check); devices cpu and sim can");
}

static pxb_status launch_hip(pxb_device *device, void *kernel, const pxb_launch_options *options, const void *params)
{
    pxb_status status = refuse_check(device, options);
    return status ? status : amd_launch(device, kernel, options, params);
}

static const char *why_not_cooperative(pxb_device *device)
{
    static _Thread_local char why[320];
    const gpu *g = state_of(device);
    if (!g->hip.hipModuleLaunchCooperativeKernel) {
        snprintf(why, sizeof why, "%s has no function hipModuleLaunchCooperativeKernel", g->hip.path);
        return why;
    }
    return g->cooperative ? NULL : "HIP says that this GPU does not";
}

const rt_device_ops rt_device_hip = {
    .name = "hip",
    .description = "AMD GPU through HIP (ROCm 5 to 7)",
    .loses_memory = true,
    .unavailable = why_unavailable,
    .choices = choices,
    .open = open_hip,
    .close = close_hip,
    .property = property_of,
    .counter = counter_of,
    AMD_DEVICE_ROWS,
    .launch = launch_hip,
    .why_not_cooperative = why_not_cooperative,
    .recover = recover_hip,
    .alloc_shared = amd_alloc_shared,
    .map_host = map_hip,
};
