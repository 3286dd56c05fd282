/* device_sim.c - the simulator of AMD GPUs (runtime/sim/sim.h) as a device, "sim:gfx1100". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/device_amd.h"
#include "runtime/llvm/llvm.h"
#include "runtime/sim/sim.h"

enum { PROPERTIES = 5 };

typedef struct simulator {
    amd_device amd;                          /* first: see amd_of */
    sim_device *sim;
    sim_counts counts;
    char values[PROPERTIES][32];
    char counters[SIM_CLASS_COUNT][48];
} simulator;

static simulator *state_of(pxb_device *device)
{
    return device->state;
}

static pxb_status status_of(sim_status status)
{
    switch (status) {
    case SIM_OK: return PXB_OK;
    case SIM_BAD_ARGUMENT: return PXB_BAD_ARGUMENT;
    case SIM_NO_MEMORY: return PXB_OUT_OF_MEMORY;
    case SIM_NOT_FOUND: return PXB_NOT_FOUND;
    case SIM_BAD_INPUT: return PXB_BAD_INPUT;
    case SIM_UNSUPPORTED: return PXB_UNSUPPORTED;
    case SIM_FAULT_ADDRESS: return PXB_FAULT_ADDRESS;
    case SIM_FAULT_MISALIGNED: return PXB_FAULT_MISALIGNED;
    case SIM_FAULT_STACK: return PXB_FAULT_STACK;
    case SIM_FAULT_CALL: return PXB_FAULT_CALL;
    case SIM_FAULT_TRAP: return PXB_FAULT_TRAP;
    case SIM_FAULT_DEADLOCK: return PXB_FAULT_DEADLOCK;
    case SIM_FAULT_TIMEOUT: return PXB_FAULT_TIMEOUT;
    case SIM_STATUS_COUNT: break;
    }
    return PXB_INTERNAL;
}

/* ------------------------------------------------------------ opening */

static const char *why_unavailable(void)
{
    return NULL;
}

static const char *choices(void)
{
    static char text[512];
    const char *const *t = sim_targets();
    size_t n = 0;
    for (uint32_t i = 0; t[i] && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? " " : "", t[i]);
    return text;
}

static bool is_target(const char *name)
{
    const char *const *t = sim_targets();
    while (*t && strcmp(*t, name) != 0)
        t++;
    return *t != NULL;
}

static const amd_backend backend;

static pxb_status open_sim(pxb_device *device, const char *which)
{
    if (!which || !*which)
        return rt_fail(device->context, PXB_NO_DEVICE, "device \"sim\" needs a target, e.g. sim:gfx1100; known: %s", choices());
    if (!is_target(which))
        return rt_fail(device->context, PXB_NO_DEVICE, "there is no target \"%.40s\" to simulate; known: %s", which, choices());
    const char *why = rt_llvm_open ? rt_llvm_open() : NULL;
    if (why)
        return rt_fail(device->context, PXB_NO_DEVICE, "device \"sim:%s\" cannot be opened: %s", which, why);
    simulator *s = calloc(1, sizeof *s);
    sim_error error = {0};
    sim_options options = {.target = which};
    if (!s)
        return rt_no_memory(device->context);
    s->amd.backend = &backend;
    snprintf(s->amd.target, sizeof s->amd.target, "%s", which);
    s->sim = sim_open(&options, &error);
    if (!s->sim) {
        free(s);
        return rt_fail(device->context, PXB_NO_DEVICE, "device \"sim:%s\" cannot be opened: %s", which, error.reason);
    }
    device->state = s;
    return PXB_OK;
}

static void close_sim(pxb_device *device)
{
    amd_release(device);
    sim_close(state_of(device)->sim);
    free(device->state);
}

static bool property_of(pxb_device *device, uint32_t index, pxb_property *out)
{
    static const char *const names[PROPERTIES] = {"target", "workers", "wavefront size", "memory used", "memory free"};
    simulator *s = state_of(device);
    uint64_t used, left;
    if (index >= PROPERTIES)
        return false;
    sim_memory_info(s->sim, &used, &left);
    char *value = s->values[index];
    size_t size = sizeof s->values[index];
    switch (index) {
    case 0: snprintf(value, size, "%s", sim_target(s->sim)); break;
    case 1: snprintf(value, size, "%u", sim_threads(s->sim)); break;
    case 2: snprintf(value, size, "%u", sim_wave_size(s->sim)); break;
    case 3: snprintf(value, size, "%" PRIu64, used); break;
    case 4: snprintf(value, size, "%" PRIu64, left); break;
    }
    out->name = names[index];
    out->value = value;
    return true;
}

static bool counter_of(pxb_device *device, uint32_t index, pxb_counter *out)
{
    simulator *s = state_of(device);
    if (index >= SIM_CLASS_COUNT)
        return false;
    snprintf(s->counters[index], sizeof s->counters[index], "%s instructions", sim_class_name((sim_class)index));
    out->name = s->counters[index];
    out->value = s->counts.executed[index];
    return true;
}

/* ------------------------------------------------------------ memory: ranges were checked, the simulator checks again */

static pxb_status no_range(pxb_device *device, pxb_address address, size_t bytes)
{
    return rt_fail(device->context, PXB_BAD_ARGUMENT, "%zu bytes at 0x%" PRIx64 " do not lie in one allocation", bytes, address);
}

static pxb_status alloc_sim(pxb_device *device, size_t bytes, pxb_address *out)
{
    *out = sim_alloc(state_of(device)->sim, bytes);
    return *out ? PXB_OK : rt_fail(device->context, PXB_OUT_OF_MEMORY, "the device has no room for %zu bytes", bytes);
}

static pxb_status free_sim(pxb_device *device, pxb_address address)
{
    return sim_free(state_of(device)->sim, address) ? PXB_OK : no_range(device, address, 0);
}

static pxb_status write_sim(pxb_device *device, pxb_address to, const void *from, size_t bytes)
{
    return sim_write(state_of(device)->sim, to, from, bytes) ? PXB_OK : no_range(device, to, bytes);
}

static pxb_status read_sim(pxb_device *device, void *to, pxb_address from, size_t bytes)
{
    return sim_read(state_of(device)->sim, to, from, bytes) ? PXB_OK : no_range(device, from, bytes);
}

static pxb_status copy_sim(pxb_device *device, pxb_address to, pxb_address from, size_t bytes)
{
    return sim_copy(state_of(device)->sim, to, from, bytes) ? PXB_OK : no_range(device, to, bytes);
}

static pxb_status set_sim(pxb_device *device, pxb_address to, uint8_t value, size_t bytes)
{
    return sim_set(state_of(device)->sim, to, value, bytes) ? PXB_OK : no_range(device, to, bytes);
}

/* ------------------------------------------------------------ code objects and launches */

static pxb_status fail_from(pxb_device *device, const sim_error *e)
{
    pxb_status status = status_of(e->status);
    return rt_fail(device->context, status ? status : PXB_INTERNAL, "%s", e->reason[0] ? e->reason : sim_status_name(e->status));
}

static pxb_status load_sim(pxb_device *device, const void *code, size_t bytes, void **out)
{
    sim_error error = {0};
    *out = sim_module_load(state_of(device)->sim, code, bytes, &error);
    return *out ? PXB_OK : fail_from(device, &error);
}

static void unload_sim(pxb_device *device, void *loaded)
{
    (void)device;
    sim_module_unload(loaded);
}

static pxb_address symbol_sim(pxb_device *device, void *loaded, const char *name)
{
    (void)device;
    return sim_symbol(loaded, name, NULL);
}

static pxb_status kernel_sim(pxb_device *device, void *loaded, const char *name, void **out)
{
    sim_error error = {0};
    *out = sim_kernel_get(loaded, name, &error);
    return *out ? PXB_OK : fail_from(device, &error);
}

static bool starts_at(const ptx_module *m, uint32_t line)
{
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->at.line == line)
            return true;
    return false;
}

static pxb_status run_sim(pxb_device *device, void *kernel, const amd_run *run, const amd_kernel *of, const amd_object *object)
{
    simulator *s = state_of(device);
    sim_error e = {0};
    sim_launch launch = {.dynamic_lds = run->shared, .kernarg = run->params, .kernarg_bytes = run->bytes,
                         .timeout_ms = run->timeout_ms, .cooperative = run->cooperative, .counts = &s->counts};
    memcpy(launch.grid, run->grid, sizeof launch.grid);
    memcpy(launch.block, run->block, sizeof launch.block);
    sim_status status = sim_run(kernel, &launch, &e);
    if (status == SIM_OK)
        return PXB_OK;
    amd_place place = {.has_thread = e.has_thread, .has_address = e.has_address, .address = e.address};
    memcpy(place.block, e.block, sizeof place.block);
    memcpy(place.thread, e.thread, sizeof place.thread);
    const char *reason = e.reason[0] ? e.reason : sim_status_name(status);
    pxb_status mapped = status_of(status) ? status_of(status) : PXB_INTERNAL;
    bool known = e.instruction[0] && amd_line_of(object, e.pc, &place.line, &place.column);
    /* A function takes its frame before its first instruction: the call is what asked for it. */
    if (known && status == SIM_FAULT_STACK && starts_at(of->module->ptx, place.line))
        amd_line_of(object, e.caller_pc, &place.line, &place.column);
    if (known)
        return amd_fault(of, mapped, &place, "%s, at %s `%.100s`, text + 0x%" PRIx64, reason, sim_target(s->sim), e.instruction, e.pc);
    if (e.instruction[0])
        return amd_fault(of, mapped, &place, "%s, at %s `%.100s`, text + 0x%" PRIx64 " (no PTX line is known)", reason,
                         sim_target(s->sim), e.instruction, e.pc);
    return amd_fault(of, mapped, &place, "%s", reason);
}

/* Whatever their size: waves are memory of the host. */
static pxb_status blocks_sim(pxb_device *device, void *kernel, uint32_t threads, uint32_t shared_bytes, uint64_t *out)
{
    (void)kernel, (void)threads, (void)shared_bytes;
    *out = sim_blocks_at_once(state_of(device)->sim);
    return PXB_OK;
}

static pxb_status map_sim(pxb_device *device, pxb_address address, size_t bytes, bool map)
{
    return sim_map_host(state_of(device)->sim, address, bytes, map) ? PXB_OK : rt_no_memory(device->context);
}

static const amd_backend backend = {
    .survives_faults = true,
    .names_instructions = true,
    .alloc = alloc_sim,
    .free = free_sim,
    .write = write_sim,
    .read = read_sim,
    .copy = copy_sim,
    .set = set_sim,
    .load = load_sim,
    .unload = unload_sim,
    .symbol = symbol_sim,
    .kernel = kernel_sim,
    .run = run_sim,
    .blocks_at_once = blocks_sim,
};

const rt_device_ops rt_device_sim = {
    .name = "sim",
    .description = "simulator of AMD GPUs, which executes their machine code",
    .host_addresses = true,
    .unavailable = why_unavailable,
    .choices = choices,
    .needs_choice = true,
    .open = open_sim,
    .close = close_sim,
    .property = property_of,
    .counter = counter_of,
    AMD_DEVICE_ROWS,
    .launch = amd_launch,
    .map_host = map_sim,
};
