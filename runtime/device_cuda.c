/* device_cuda.c - an NVIDIA GPU through its driver as a device: opening, properties and memory.
 *
 * A device has a CUDA context of its own (not the primary one, which a program may share with other libraries), so
 * that closing it frees everything and opening it again is a fresh start after a fault.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cuda/cuda.h"

/* ------------------------------------------------------------ opening */

static const char *why_unavailable(void)
{
    static _Thread_local char why[512];
    return cuda_library_open(why, sizeof why) ? NULL : why;
}

/* "" and "0", "1", …; -1 for anything else. */
static int parse_ordinal(const char *which)
{
    if (!which)
        return 0;
    char *end;
    errno = 0;
    long n = strtol(which, &end, 10);
    return which[0] >= '0' && which[0] <= '9' && !*end && !errno && n <= INT16_MAX ? (int)n : -1;
}

static pxb_status choose_device(pxb_device *device, const char *which)
{
    cuda_state *s = cuda_state_of(device);
    int count = 0;
    cu_result result = s->cu->cuDeviceGetCount(&count);
    if (result)
        return cuda_fail(device, result, "cuDeviceGetCount");
    s->ordinal = parse_ordinal(which);
    if (s->ordinal < 0 || s->ordinal >= count)
        return rt_fail(device->context, PXB_NO_DEVICE,
                       "there is no device \"cuda:%.80s\"; this machine has %d NVIDIA GPU%s, from \"cuda:0\"", which, count,
                       count == 1 ? "" : "s");
    result = s->cu->cuDeviceGet(&s->device, s->ordinal);
    return result ? cuda_fail(device, result, "cuDeviceGet") : PXB_OK;
}

static pxb_status ask_device(pxb_device *device)
{
    cuda_state *s = cuda_state_of(device);
    cu_result result = s->cu->cuDriverGetVersion(&s->driver);
    if (!result)
        result = s->cu->cuDeviceGetAttribute(&s->major, CUABI_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, s->device);
    if (!result)
        result = s->cu->cuDeviceGetAttribute(&s->minor, CUABI_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, s->device);
    if (!result)
        result = s->cu->cuDeviceGetAttribute(&s->units, CUABI_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, s->device);
    if (!result)
        result = s->cu->cuDeviceGetAttribute(&s->cooperative, CUABI_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, s->device);
    return result ? cuda_fail(device, result, "asking the device") : PXB_OK;
}

static pxb_status make_context(pxb_device *device)
{
    cuda_state *s = cuda_state_of(device);
    cu_context popped;
    cu_result result = s->cu->cuCtxCreate_v2(&s->context, 0, s->device);
    if (result) {
        s->context = NULL;
        return cuda_fail(device, result, "making a context");
    }
    result = s->cu->cuEventCreate(&s->done, CUABI_CU_EVENT_DISABLE_TIMING);
    s->cu->cuCtxPopCurrent_v2(&popped); /* a new context is the current one */
    return result ? cuda_fail(device, result, "cuEventCreate") : PXB_OK;
}

static void close_cuda(pxb_device *device)
{
    cuda_state *s = cuda_state_of(device);
    /* Destroying the context of a kernel that still runs would wait for it: that one is left to the process's end. */
    if (s->context && !s->hung)
        s->cu->cuCtxDestroy_v2(s->context);
    free(s->ranges);
    free(s->handles);
    free(s);
    device->state = NULL;
}

/* ------------------------------------------------------------ properties */

static void add_property(cuda_state *s, const char *name, const char *format, ...) RT_PRINTF(3, 4);

static void add_property(cuda_state *s, const char *name, const char *format, ...)
{
    if (s->nproperties == CUDA_PROPERTIES)
        return;
    va_list args;
    va_start(args, format);
    s->properties[s->nproperties].name = name;
    vsnprintf(s->properties[s->nproperties].value, sizeof s->properties[0].value, format, args);
    va_end(args);
    s->nproperties++;
}

/* The kernel module's version ("580.65.06"): the first number with a dot in what the module tells. The driver library's
 * own version is that of CUDA, which many drivers share. */
static bool kernel_module_version(char out[32])
{
    char line[256];
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    bool read = file && fgets(line, sizeof line, file);
    if (file)
        fclose(file);
    char *rest = NULL;
    for (char *word = read ? strtok_r(line, " \t\n", &rest) : NULL; word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
            snprintf(out, 32, "%.31s", word);
            return true;
        }
    }
    return false;
}

static void collect_properties(cuda_state *s)
{
    char name[128] = "", module[32];
    int warp = 0;
    size_t left = 0, total = 0;
    s->cu->cuDeviceGetName(name, sizeof name, s->device);
    s->cu->cuDeviceGetAttribute(&warp, CUABI_CU_DEVICE_ATTRIBUTE_WARP_SIZE, s->device);
    s->cu->cuDeviceTotalMem_v2(&total, s->device);
    add_property(s, "name", "%.127s", name);
    if (kernel_module_version(module))
        add_property(s, "driver", "%s (CUDA %d.%d)", module, s->driver / 1000, s->driver % 1000 / 10);
    else
        add_property(s, "driver", "CUDA %d.%d", s->driver / 1000, s->driver % 1000 / 10);
    add_property(s, "library", "%.127s", s->cu->path);
    add_property(s, "compute capability", "%d.%d", s->major, s->minor);
    add_property(s, "multiprocessors", "%d", s->units);
    add_property(s, "warp size", "%d", warp);
    add_property(s, "mma model", "native");
    add_property(s, "memory", "%zu", total);
    if (s->cu->cuCtxPushCurrent_v2(s->context) == CUABI_SUCCESS) {
        cu_context popped;
        if (s->cu->cuMemGetInfo_v2(&left, &total) == CUABI_SUCCESS)
            add_property(s, "memory free", "%zu", left);
        s->cu->cuCtxPopCurrent_v2(&popped);
    }
}

static bool property_of(pxb_device *device, uint32_t index, pxb_property *out)
{
    cuda_state *s = cuda_state_of(device);
    if (index >= s->nproperties)
        return false;
    out->name = s->properties[index].name;
    out->value = s->properties[index].value;
    return true;
}

static pxb_status open_cuda(pxb_device *device, const char *which)
{
    char why[512];
    cuda_state *s = calloc(1, sizeof *s);
    if (!s)
        return rt_no_memory(device->context);
    device->state = s;
    s->cu = cuda_library_open(why, sizeof why);
    pxb_status status = PXB_OK;
    if (!s->cu)
        status = rt_fail(device->context, PXB_NO_DEVICE, "device \"cuda\" is not available: %s", why);
    if (!status)
        status = choose_device(device, which);
    if (!status)
        status = ask_device(device);
    if (!status)
        status = make_context(device);
    if (!status)
        collect_properties(s);
    else
        close_cuda(device);
    return status;
}

static const char *choices(void)
{
    static _Thread_local char text[128];
    char why[512];
    int count = 0;
    const cuda_library *cu = cuda_library_open(why, sizeof why);
    if (!cu || cu->cuDeviceGetCount(&count))
        return NULL;
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, i ? " %d" : "%d", i);
    }
    return text;
}

/* ------------------------------------------------------------ ranges */

/* The driver checks host accesses against its own pages at best; the API promises exact bounds. */
static cuda_range *find_range(cuda_state *s, cu_address address)
{
    for (size_t i = 0; i < s->nranges; i++)
        if (address >= s->ranges[i].base && address - s->ranges[i].base < s->ranges[i].bytes)
            return &s->ranges[i];
    return NULL;
}

pxb_status cuda_add_range(pxb_device *device, cu_address base, size_t bytes, const void *module)
{
    cuda_state *s = cuda_state_of(device);
    const cuda_range *known = find_range(s, base);
    if (known && known->base == base && known->module == module)
        return PXB_OK;
    cuda_range *more = realloc(s->ranges, (s->nranges + 1) * sizeof *more);
    if (!more)
        return rt_no_memory(device->context);
    s->ranges = more;
    more[s->nranges++] = (cuda_range){base, bytes, module};
    return PXB_OK;
}

void cuda_drop_module_ranges(pxb_device *device, const void *module)
{
    cuda_state *s = cuda_state_of(device);
    for (size_t i = 0; i < s->nranges;) {
        if (s->ranges[i].module == module)
            s->ranges[i] = s->ranges[--s->nranges];
        else
            i++;
    }
}

/* Enters the context for an access of `bytes` bytes. */
static pxb_status enter_range(pxb_device *device, cu_address address, size_t bytes)
{
    const cuda_range *r = find_range(cuda_state_of(device), address);
    if (!r || bytes > r->bytes - (address - r->base))
        return rt_fail(device->context, PXB_BAD_ARGUMENT, "%zu bytes at 0x%" PRIx64 " do not lie in one allocation", bytes,
                       address);
    return cuda_enter(device);
}

/* ------------------------------------------------------------ memory */

static pxb_status alloc_cuda(pxb_device *device, size_t bytes, pxb_address *out)
{
    cuda_state *s = cuda_state_of(device);
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    cu_address address = 0;
    cu_result result = s->cu->cuMemAlloc_v2(&address, bytes);
    if (result == CUABI_CUDA_ERROR_OUT_OF_MEMORY)
        status = rt_fail(device->context, PXB_OUT_OF_MEMORY, "the device has no room for %zu bytes", bytes);
    else if (result)
        status = cuda_fail(device, result, "cuMemAlloc");
    else
        status = cuda_add_range(device, address, bytes, NULL);
    if (!status)
        *out = address;
    else if (!result)
        s->cu->cuMemFree_v2(address);
    cuda_leave(device);
    return status;
}

static pxb_status free_cuda(pxb_device *device, pxb_address address)
{
    cuda_state *s = cuda_state_of(device);
    cuda_range *r = find_range(s, address);
    if (!r || r->base != address || r->module)
        return rt_fail(device->context, PXB_BAD_ARGUMENT, "0x%" PRIx64 " is not the start of an allocation", address);
    *r = s->ranges[--s->nranges];
    if (s->lost)
        return PXB_OK; /* it is gone with its context */
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    cu_result result = s->cu->cuMemFree_v2(address);
    cuda_leave(device);
    return result ? cuda_fail(device, result, "cuMemFree") : PXB_OK;
}

static pxb_status write_cuda(pxb_device *device, pxb_address to, const void *from, size_t bytes)
{
    pxb_status status = enter_range(device, to, bytes);
    if (status)
        return status;
    cu_result result = cuda_state_of(device)->cu->cuMemcpyHtoD_v2(to, from, bytes);
    cuda_leave(device);
    return result ? cuda_fail(device, result, "cuMemcpyHtoD") : PXB_OK;
}

static pxb_status read_cuda(pxb_device *device, void *to, pxb_address from, size_t bytes)
{
    pxb_status status = enter_range(device, from, bytes);
    if (status)
        return status;
    cu_result result = cuda_state_of(device)->cu->cuMemcpyDtoH_v2(to, from, bytes);
    cuda_leave(device);
    return result ? cuda_fail(device, result, "cuMemcpyDtoH") : PXB_OK;
}

/* The driver's copy does not allow source and target to overlap; then the bytes go by way of another allocation. */
static cu_result copy_overlapping(const cuda_library *cu, cu_address to, cu_address from, size_t bytes)
{
    cu_address between = 0;
    cu_result result = cu->cuMemAlloc_v2(&between, bytes);
    if (result)
        return result;
    result = cu->cuMemcpyDtoD_v2(between, from, bytes);
    if (!result)
        result = cu->cuMemcpyDtoD_v2(to, between, bytes);
    cu_result freed = cu->cuMemFree_v2(between);
    return result ? result : freed;
}

static pxb_status copy_cuda(pxb_device *device, pxb_address to, pxb_address from, size_t bytes)
{
    const cuda_library *cu = cuda_state_of(device)->cu;
    pxb_status status = enter_range(device, from, bytes);
    if (status)
        return status;
    cuda_leave(device);
    status = enter_range(device, to, bytes);
    if (status)
        return status;
    bool overlap = to < from + bytes && from < to + bytes;
    cu_result result = overlap ? copy_overlapping(cu, to, from, bytes) : cu->cuMemcpyDtoD_v2(to, from, bytes);
    cuda_leave(device);
    return result ? cuda_fail(device, result, "cuMemcpyDtoD") : PXB_OK;
}

static pxb_status set_cuda(pxb_device *device, pxb_address to, uint8_t value, size_t bytes)
{
    pxb_status status = enter_range(device, to, bytes);
    if (status)
        return status;
    cu_result result = cuda_state_of(device)->cu->cuMemsetD8_v2(to, value, bytes);
    cuda_leave(device);
    return result ? cuda_fail(device, result, "cuMemsetD8") : PXB_OK;
}

static const char *why_not_cooperative(pxb_device *device)
{
    static _Thread_local char why[96];
    const cuda_state *s = cuda_state_of(device);
    snprintf(why, sizeof why, "the driver says that this GPU, of compute capability %d.%d, does not", s->major, s->minor);
    return s->cooperative ? NULL : why;
}

const rt_device_ops rt_device_cuda = {
    .name = "cuda",
    .description = "NVIDIA GPU through its driver, which gets the PTX untouched",
    .loses_memory = true,
    .native_mma = true,
    .unavailable = why_unavailable,
    .open = open_cuda,
    .choices = choices,
    .close = close_cuda,
    .property = property_of,
    .alloc = alloc_cuda,
    .free = free_cuda,
    .write = write_cuda,
    .read = read_cuda,
    .copy = copy_cuda,
    .set = set_cuda,
    .module_load = cuda_module_load,
    .module_unload = cuda_module_unload,
    .global = cuda_global,
    .function = cuda_function_address,
    .kernel = cuda_get_kernel,
    .launch = cuda_launch,
    .why_not_cooperative = why_not_cooperative,
    .image_create = cuda_image_create,
    .image_destroy = cuda_image_destroy,
    .image_write = cuda_image_write,
    .image_read = cuda_image_read,
    .texture = cuda_texture,
    .surface = cuda_surface,
    .handle_destroy = cuda_handle_destroy,
};
