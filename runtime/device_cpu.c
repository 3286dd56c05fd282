/* device_cpu.c - the CPU engine (runtime/cpu/cpu.h) as a device. */
#include "runtime/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/lib/texture.h"
#include "runtime/cpu/cpu.h"
#include "runtime/trace.h"

/* Properties' texts live here as long as the device. */
enum { PROPERTIES = 5 };
typedef struct engine {
    cpu_device *cpu;
    char values[PROPERTIES][32];
} engine;

static engine *state_of(pxb_device *device)
{
    return device->state;
}

struct cpu_device *rt_device_cpu_engine(pxb_device *device)
{
    return device->ops == &rt_device_cpu ? state_of(device)->cpu : NULL;
}

static pxb_status status_of(cpu_status status)
{
    switch (status) {
    case CPU_OK: return PXB_OK;
    case CPU_BAD_ARGUMENT: return PXB_BAD_ARGUMENT;
    case CPU_NO_MEMORY: return PXB_OUT_OF_MEMORY;
    case CPU_NOT_FOUND: return PXB_NOT_FOUND;
    case CPU_BAD_INPUT: return PXB_BAD_INPUT;
    case CPU_UNSUPPORTED: return PXB_UNSUPPORTED;
    case CPU_FAULT_ADDRESS: return PXB_FAULT_ADDRESS;
    case CPU_FAULT_MISALIGNED: return PXB_FAULT_MISALIGNED;
    case CPU_FAULT_TRAP: return PXB_FAULT_TRAP;
    case CPU_FAULT_DEADLOCK: return PXB_FAULT_DEADLOCK;
    case CPU_FAULT_TIMEOUT: return PXB_FAULT_TIMEOUT;
    case CPU_FAULT_STACK: return PXB_FAULT_STACK;
    case CPU_FAULT_CALL: return PXB_FAULT_CALL;
    case CPU_FAULT_HANDLE: return PXB_FAULT_HANDLE;
    case CPU_STATUS_COUNT: break;
    }
    return PXB_INTERNAL;
}

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

static pxb_status fail_from(pxb_device *device, const cpu_error *e)
{
    pxb_error error = {
        .status = status_of(e->status),
        .reason = e->reason[0] ? e->reason : cpu_status_name(e->status),
        .file = text_or_null(e->file),
        .line = e->line,
        .column = e->column,
        .kernel = text_or_null(e->kernel),
        .instruction = text_or_null(e->instruction),
        .has_thread = e->has_thread,
        .has_address = e->has_address,
        .address = e->address,
    };
    memcpy(error.block, e->block, sizeof error.block);
    memcpy(error.thread, e->thread, sizeof error.thread);
    /* A status that says OK here would turn a failure into success. */
    if (error.status == PXB_OK)
        error.status = PXB_INTERNAL;
    return rt_fail_with(device->context, &error);
}

/* ------------------------------------------------------------ opening */

static const char *why_unavailable(void)
{
    return NULL;
}

static pxb_status open_cpu(pxb_device *device, const char *which)
{
    if (which)
        return rt_fail(device->context, PXB_NO_DEVICE, "there is one device \"cpu\", and no \"cpu:%.80s\"", which);
    cpu_error error = {0};
    engine *s = calloc(1, sizeof *s);
    if (!s)
        return rt_no_memory(device->context);
    device->state = s;
    s->cpu = cpu_open(NULL, &error);
    if (s->cpu)
        return PXB_OK;
    /* Whatever the engine lacks (address space, threads, an unknown level): the device is not to be had. */
    error.status = CPU_NO_MEMORY;
    fail_from(device, &error);
    free(s);
    device->state = NULL;
    return rt_fail(device->context, PXB_NO_DEVICE, "device \"cpu\" cannot be opened: %s", error.reason);
}

static void close_cpu(pxb_device *device)
{
    cpu_close(state_of(device)->cpu);
    free(device->state);
}

static bool property_of(pxb_device *device, uint32_t index, pxb_property *out)
{
    static const char *const names[PROPERTIES] = {"workers", "instruction set", "warp size", "memory used",
                                                  "memory free"};
    engine *s = state_of(device);
    uint64_t used, left;
    if (index >= PROPERTIES)
        return false;
    cpu_memory_info(s->cpu, &used, &left);
    char *value = s->values[index];
    size_t size = sizeof s->values[index];
    switch (index) {
    case 0: snprintf(value, size, "%u", cpu_threads(s->cpu)); break;
    case 1: snprintf(value, size, "%s", cpu_level(s->cpu)); break;
    case 2: snprintf(value, size, "32"); break;
    case 3: snprintf(value, size, "%" PRIu64, used); break;
    case 4: snprintf(value, size, "%" PRIu64, left); break;
    }
    out->name = names[index];
    out->value = value;
    return true;
}

/* ------------------------------------------------------------ memory */

static pxb_status no_range(pxb_device *device, pxb_address address, size_t bytes)
{
    return rt_fail(device->context, PXB_BAD_ARGUMENT, "%zu bytes at 0x%" PRIx64 " do not lie in one allocation", bytes,
                   address);
}

static pxb_status alloc_cpu(pxb_device *device, size_t bytes, pxb_address *out)
{
    *out = cpu_alloc(state_of(device)->cpu, bytes);
    return *out ? PXB_OK : rt_fail(device->context, PXB_OUT_OF_MEMORY, "the device has no room for %zu bytes", bytes);
}

static pxb_status free_cpu(pxb_device *device, pxb_address address)
{
    return cpu_free(state_of(device)->cpu, address)
               ? PXB_OK
               : rt_fail(device->context, PXB_BAD_ARGUMENT, "0x%" PRIx64 " is not the start of an allocation", address);
}

static pxb_status write_cpu(pxb_device *device, pxb_address to, const void *from, size_t bytes)
{
    return cpu_write(state_of(device)->cpu, to, from, bytes) ? PXB_OK : no_range(device, to, bytes);
}

static pxb_status read_cpu(pxb_device *device, void *to, pxb_address from, size_t bytes)
{
    return cpu_read(state_of(device)->cpu, to, from, bytes) ? PXB_OK : no_range(device, from, bytes);
}

static pxb_status copy_cpu(pxb_device *device, pxb_address to, pxb_address from, size_t bytes)
{
    engine *s = state_of(device);
    uint64_t base, size;
    if (cpu_copy(s->cpu, to, from, bytes))
        return PXB_OK;
    bool target = cpu_range(s->cpu, to, &base, &size) && bytes <= size - (to - base);
    return no_range(device, target ? from : to, bytes);
}

static pxb_status set_cpu(pxb_device *device, pxb_address to, uint8_t value, size_t bytes)
{
    return cpu_set(state_of(device)->cpu, to, value, bytes) ? PXB_OK : no_range(device, to, bytes);
}

/* ------------------------------------------------------------ modules and launches */

static pxb_status load_module(pxb_device *device, const ptx_module *module, void **out)
{
    cpu_error error = {0};
    *out = cpu_module_load(state_of(device)->cpu, module, &error);
    return *out ? PXB_OK : fail_from(device, &error);
}

static void unload_module(pxb_device *device, void *module)
{
    (void)device;
    cpu_module_unload(module);
}

static pxb_status find_global(pxb_device *device, void *module, const ptx_variable *variable, pxb_address *out)
{
    *out = cpu_variable(module, variable->name, NULL);
    return *out ? PXB_OK
                : rt_fail(device->context, PXB_NOT_FOUND, "variable \"%.200s\" is not on the device", variable->name);
}

static pxb_status find_function(pxb_device *device, void *module, const ptx_function *function, pxb_address *out)
{
    *out = cpu_function_address(module, function->name);
    return *out ? PXB_OK
                : rt_fail(device->context, PXB_NOT_FOUND, "function \"%.200s\" has no address", function->name);
}

static pxb_status get_kernel(pxb_device *device, void *module, const ptx_function *function, void **out)
{
    cpu_error error = {0};
    *out = cpu_kernel_get(module, function->name, &error);
    return *out ? PXB_OK : fail_from(device, &error);
}

/* `trace`: NULL, or what rt_cpu_trace_event takes. */
static pxb_status run_kernel(pxb_device *device, void *kernel, const pxb_launch_options *o, const void *params, rt_cpu_trace *trace)
{
    cpu_error error = {0};
    cpu_kernel_info info;
    cpu_kernel_describe(kernel, &info);
    cpu_launch l = {
        .dynamic_shared = o->shared_bytes,
        .params = params,
        .param_bytes = info.param_bytes,
        .mma_model = o->mma_model,
        .check = o->check,
        .timeout_ms = o->timeout_ms,
        .max_local = o->stack_bytes,
        .cooperative = o->cooperative,
        .print = o->print,
        .print_user = o->print_user,
        .trace = trace ? rt_cpu_trace_event : NULL,
        .trace_user = trace,
    };
    memcpy(l.grid, o->grid, sizeof l.grid);
    memcpy(l.block, o->block, sizeof l.block);
    cpu_status status = cpu_run(kernel, &l, &error);
    if (status == CPU_OK)
        return PXB_OK;
    error.status = status;
    return fail_from(device, &error);
}

static pxb_status launch_cpu(pxb_device *device, void *kernel, const pxb_launch_options *o, const void *params)
{
    return run_kernel(device, kernel, o, params, NULL);
}

static pxb_status map_host(pxb_device *device, pxb_address address, size_t bytes, bool map)
{
    return cpu_map_host(state_of(device)->cpu, address, bytes, map) ? PXB_OK : rt_no_memory(device->context);
}

static pxb_status reserve_addresses(pxb_device *device, size_t bytes, size_t align, pxb_address wanted, pxb_address *out)
{
    *out = cpu_reserve(state_of(device)->cpu, bytes, align, wanted);
    return *out ? PXB_OK : rt_fail(device->context, PXB_OUT_OF_MEMORY, "the device has no room for %zu bytes of addresses", bytes);
}

static pxb_status unreserve_addresses(pxb_device *device, pxb_address address)
{
    return cpu_unreserve(state_of(device)->cpu, address)
               ? PXB_OK
               : rt_fail(device->context, PXB_BAD_ARGUMENT, "0x%" PRIx64 " is not the start of a reserved range", address);
}

static pxb_status share_memory(pxb_device *device, pxb_address address, int *file, uint64_t *offset)
{
    *file = cpu_share(state_of(device)->cpu, address, offset);
    return *file >= 0 ? PXB_OK
                      : rt_fail(device->context, PXB_OUT_OF_MEMORY, "the memory at 0x%" PRIx64 " cannot become a file", address);
}

static bool heap_block(pxb_device *device, pxb_address address, pxb_address *base, uint64_t *bytes)
{
    return cpu_heap_block(state_of(device)->cpu, address, base, bytes);
}

static pxb_status trace_cpu(pxb_device *device, void *kernel, const pxb_launch_options *o, const void *params,
                            rt_trace *trace)
{
    rt_cpu_trace *c = rt_cpu_trace_start(o, trace);
    pxb_status status = c ? run_kernel(device, kernel, o, params, c) : rt_no_memory(device->context);
    rt_cpu_trace_end(c);
    return status;
}

/* ------------------------------------------------------------ textures and surfaces */

_Static_assert((int)PXB_TEXEL_F32 == PXL_TEXEL_F32 && (int)PXB_ADDRESS_BORDER == PXL_ADDRESS_BORDER &&
                   (int)PXB_FILTER_LINEAR == PXL_FILTER_LINEAR,
               "the descriptor has the numbers of the public enumerations");

/* pxl_texture takes its numbers from the public enumerations. */
_Static_assert((int)PXL_TEXEL_F32 == PXB_TEXEL_F32 && (int)PXL_TEXEL_S16 == PXB_TEXEL_S16,
               "texel formats have the same numbers");
_Static_assert((int)PXL_ADDRESS_WRAP == PXB_ADDRESS_WRAP && (int)PXL_ADDRESS_BORDER == PXB_ADDRESS_BORDER,
               "address modes too");
_Static_assert((int)PXL_FILTER_LINEAR == PXB_FILTER_LINEAR && (int)PXL_READ_NORMALIZED == PXB_READ_NORMALIZED_FLOAT,
               "and the rest");

static pxl_texture describe_image(const pxb_image_desc *d, pxb_address texels)
{
    return pxl_texture_describe(texels, d->width, d->height, d->depth, d->texel, d->channels);
}

static pxb_status make_handle(pxb_device *device, const pxl_texture *t, pxb_handle *out)
{
    *out = cpu_texture_create(state_of(device)->cpu, t, sizeof *t);
    return *out ? PXB_OK : rt_fail(device->context, PXB_OUT_OF_MEMORY, "the device has no room for a texture");
}

static pxb_status make_texture(pxb_device *device, const pxb_image_desc *desc, pxb_address texels,
                               const pxb_sampler *sampler, pxb_handle *out)
{
    pxl_texture t = describe_image(desc, texels);
    for (uint32_t i = 0; i < desc->dims; i++)
        t.address[i] = sampler->address[i];
    t.filter = sampler->filter;
    t.read = sampler->read;
    t.normalized = sampler->normalized_coords;
    return make_handle(device, &t, out);
}

static pxb_status make_surface(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, pxb_handle *out)
{
    pxl_texture t = describe_image(desc, texels);
    t.surface = 1;
    return make_handle(device, &t, out);
}

static void destroy_handle(pxb_device *device, pxb_handle handle)
{
    cpu_texture_destroy(state_of(device)->cpu, handle);
}

const rt_device_ops rt_device_cpu = {
    .name = "cpu",
    .description = "warp engine on the host's processor, without LLVM",
    .concurrent = true,
    .host_addresses = true,
    .unavailable = why_unavailable,
    .open = open_cpu,
    .close = close_cpu,
    .property = property_of,
    .alloc = alloc_cpu,
    .free = free_cpu,
    .write = write_cpu,
    .read = read_cpu,
    .copy = copy_cpu,
    .set = set_cpu,
    .module_load = load_module,
    .module_unload = unload_module,
    .global = find_global,
    .function = find_function,
    .kernel = get_kernel,
    .launch = launch_cpu,
    .map_host = map_host,
    .reserve = reserve_addresses,
    .unreserve = unreserve_addresses,
    .share = share_memory,
    .heap_block = heap_block,
    .trace = trace_cpu,
    .texture = make_texture,
    .surface = make_surface,
    .handle_destroy = destroy_handle,
    .descriptor = make_handle,
};
