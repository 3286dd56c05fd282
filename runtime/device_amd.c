/* device_amd.c - memory, textures and launches of devices that run AMD code objects. */
#include "runtime/device_amd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include "ptx/lib/fault.h"
#include "ptx/lib/texture.h"

enum { WORKSPACE_BYTES = 4096, PRINT_BYTES = 16 << 20, HEAP_BYTES = 64 << 20, TEXTURE_SLOTS = 16384 };

/* ------------------------------------------------------------ the list of allocations */

/* Index of the first range whose base is above the address. */
static size_t above(const amd_device *d, pxb_address address)
{
    size_t low = 0, high = d->nranges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->ranges[middle].base > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

const amd_range *amd_range_of(const amd_device *d, pxb_address address)
{
    size_t i = above(d, address);
    return i && address - d->ranges[i - 1].base < d->ranges[i - 1].bytes ? &d->ranges[i - 1] : NULL;
}

static bool remember(amd_device *d, pxb_address base, size_t bytes, amd_memory memory)
{
    if (d->nranges == d->range_capacity) {
        size_t capacity = d->range_capacity ? 2 * d->range_capacity : 64;
        amd_range *more = realloc(d->ranges, capacity * sizeof *more);
        if (!more)
            return false;
        d->ranges = more;
        d->range_capacity = capacity;
    }
    size_t i = above(d, base);
    memmove(&d->ranges[i + 1], &d->ranges[i], (d->nranges - i) * sizeof *d->ranges);
    d->ranges[i] = (amd_range){base, bytes, memory, false};
    d->nranges++;
    return true;
}

static pxb_status check_range(pxb_device *device, pxb_address address, size_t bytes)
{
    const amd_range *r = amd_range_of(amd_of(device), address);
    if (r && bytes <= r->bytes - (address - r->base))
        return PXB_OK;
    return rt_fail(device->context, PXB_BAD_ARGUMENT, "%zu bytes at 0x%" PRIx64 " do not lie in one allocation", bytes, address);
}

/* ------------------------------------------------------------ memory */

pxb_status amd_alloc(pxb_device *device, size_t bytes, pxb_address *out)
{
    amd_device *d = amd_of(device);
    pxb_status status = d->backend->alloc(device, bytes, out);
    if (status || remember(d, *out, bytes, AMD_OWN))
        return status;
    d->backend->free(device, *out);
    *out = 0;
    return rt_no_memory(device->context);
}

pxb_status amd_alloc_shared(pxb_device *device, size_t bytes, bool managed, pxb_address *out)
{
    amd_device *d = amd_of(device);
    pxb_status status = d->backend->alloc_shared(device, bytes, managed, out);
    if (status || remember(d, *out, bytes, managed ? AMD_MANAGED : AMD_PINNED))
        return status;
    d->backend->free_shared(device, *out, managed);
    *out = 0;
    return rt_no_memory(device->context);
}

static pxb_status release(pxb_device *device, pxb_address address, bool held)
{
    amd_device *d = amd_of(device);
    size_t i = above(d, address);
    if (!i || d->ranges[i - 1].base != address || d->ranges[i - 1].held != held)
        return rt_fail(device->context, PXB_BAD_ARGUMENT, "0x%" PRIx64 " is not the start of an allocation", address);
    amd_memory memory = d->ranges[i - 1].memory;
    memmove(&d->ranges[i - 1], &d->ranges[i], (d->nranges - i) * sizeof *d->ranges);
    d->nranges--;
    return memory == AMD_OWN ? d->backend->free(device, address) : d->backend->free_shared(device, address, memory == AMD_MANAGED);
}

pxb_status amd_free(pxb_device *device, pxb_address address)
{
    return release(device, address, false);
}

void amd_hold(pxb_device *device, pxb_address address)
{
    amd_device *d = amd_of(device);
    size_t i = above(d, address);
    if (i && d->ranges[i - 1].base == address)
        d->ranges[i - 1].held = true;
}

void amd_free_held(pxb_device *device, pxb_address address)
{
    release(device, address, true);
}

pxb_status amd_write(pxb_device *device, pxb_address to, const void *from, size_t bytes)
{
    pxb_status status = check_range(device, to, bytes);
    return status ? status : amd_of(device)->backend->write(device, to, from, bytes);
}

pxb_status amd_read(pxb_device *device, void *to, pxb_address from, size_t bytes)
{
    pxb_status status = check_range(device, from, bytes);
    return status ? status : amd_of(device)->backend->read(device, to, from, bytes);
}

pxb_status amd_copy(pxb_device *device, pxb_address to, pxb_address from, size_t bytes)
{
    pxb_status status = check_range(device, to, bytes);
    if (!status)
        status = check_range(device, from, bytes);
    return status ? status : amd_of(device)->backend->copy(device, to, from, bytes);
}

pxb_status amd_set(pxb_device *device, pxb_address to, uint8_t value, size_t bytes)
{
    pxb_status status = check_range(device, to, bytes);
    return status ? status : amd_of(device)->backend->set(device, to, value, bytes);
}

/* ------------------------------------------------------------ what kernels are given by the host */

static pxb_status make_buffer(pxb_device *device, size_t bytes, const void *head, size_t head_bytes,
                              pxb_address *out)
{
    if (*out)
        return PXB_OK;
    pxb_address address;
    pxb_status status = amd_alloc(device, bytes, &address);
    if (status)
        return status;
    status = amd_write(device, address, head, head_bytes);
    if (status)
        amd_free(device, address);
    else
        *out = address;
    return status;
}

static pxb_status make_texture_slots(pxb_device *device)
{
    amd_device *d = amd_of(device);
    if (d->texture_header)
        return PXB_OK;
    d->slot_used = d->slot_used ? d->slot_used : calloc(TEXTURE_SLOTS, 1);
    if (!d->slot_used)
        return rt_no_memory(device->context);
    pxb_status status = d->texture_slots ? PXB_OK : amd_alloc(device, (size_t)TEXTURE_SLOTS * PXL_SLOT_BYTES, &d->texture_slots);
    if (!status)
        status = amd_set(device, d->texture_slots, 0, (size_t)TEXTURE_SLOTS * PXL_SLOT_BYTES);
    pxl_texture_slots slots = {d->texture_slots, TEXTURE_SLOTS};
    return status ? status : make_buffer(device, sizeof slots, &slots, sizeof slots, &d->texture_header);
}

pxb_status amd_support(pxb_device *device, const char *symbol, pxb_address *out)
{
    amd_device *d = amd_of(device);
    static const pxl_print_buffer print = {.capacity = PRINT_BYTES - sizeof print};
    static const pxl_heap heap = {.size = HEAP_BYTES - sizeof heap};
    static const pxl_fault_record record;
    pxb_status status;
    pxb_address *address;
    if (strcmp(symbol, "pxb_printf_buffer") == 0) {
        status = make_buffer(device, PRINT_BYTES, &print, sizeof print, &d->print_buffer);
        address = &d->print_buffer;
    } else if (strcmp(symbol, "pxb_heap") == 0) {
        status = make_buffer(device, HEAP_BYTES, &heap, sizeof heap, &d->heap);
        address = &d->heap;
    } else if (strcmp(symbol, "pxb_textures") == 0) {
        status = make_texture_slots(device);
        address = &d->texture_header;
    } else {
        status = make_buffer(device, sizeof record, &record, sizeof record, &d->fault_record);
        address = &d->fault_record;
    }
    *out = *address;
    return status;
}

bool amd_heap_block(pxb_device *device, pxb_address address, pxb_address *base, uint64_t *bytes)
{
    const amd_device *d = amd_of(device);
    const pxb_address data = d->heap + offsetof(pxl_heap, data);
    uint64_t head;
    *base = address ? address : data;
    *bytes = HEAP_BYTES - sizeof(pxl_heap);
    if (!d->heap || !address)
        return d->heap != 0;
    if (address < data + 16 || address >= d->heap + HEAP_BYTES || address % 16 || d->backend->read(device, &head, address - 16, sizeof head))
        return false;
    const uint64_t size_class = head ^ PXL_HEAP_MAGIC;
    *bytes = UINT64_C(1) << (size_class & 63);
    return size_class >= 4 && size_class < 40 && *bytes <= d->heap + HEAP_BYTES - address;
}

void amd_release(pxb_device *device)
{
    amd_device *d = amd_of(device);
    while (d->nranges)
        release(device, d->ranges[d->nranges - 1].base, d->ranges[d->nranges - 1].held);
    free(d->ranges);
    free(d->slot_used);
}

void amd_forget(pxb_device *device)
{
    amd_device *d = amd_of(device);
    d->nranges = 0;
    d->print_buffer = d->heap = d->fault_record = d->texture_header = d->texture_slots = d->workspace = 0;
    if (d->slot_used)
        memset(d->slot_used, 0, TEXTURE_SLOTS);
}

/* ------------------------------------------------------------ textures and surfaces */

_Static_assert(sizeof(pxl_texture) <= PXL_SLOT_BYTES, "a descriptor fits in its slot");

pxb_status amd_descriptor(pxb_device *device, const pxl_texture *t, pxb_handle *out)
{
    amd_device *d = amd_of(device);
    pxb_status status = make_texture_slots(device);
    if (status)
        return status;
    for (uint32_t i = 0; i < TEXTURE_SLOTS; i++) {
        if (d->slot_used[i])
            continue;
        pxb_address slot = d->texture_slots + (uint64_t)i * PXL_SLOT_BYTES;
        status = amd_write(device, slot, t, sizeof *t);
        if (status)
            return status;
        d->slot_used[i] = 1;
        *out = slot;
        return PXB_OK;
    }
    return rt_fail(device->context, PXB_OUT_OF_MEMORY, "the device has room for %d textures and surfaces", TEXTURE_SLOTS);
}

pxb_status amd_texture(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, const pxb_sampler *sampler, pxb_handle *out)
{
    pxl_texture t = pxl_texture_describe(texels, desc->width, desc->height, desc->depth, desc->texel, desc->channels);
    for (uint32_t i = 0; i < desc->dims; i++)
        t.address[i] = sampler->address[i];
    t.filter = sampler->filter;
    t.read = sampler->read;
    t.normalized = sampler->normalized_coords;
    return amd_descriptor(device, &t, out);
}

pxb_status amd_surface(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, pxb_handle *out)
{
    pxl_texture t = pxl_texture_describe(texels, desc->width, desc->height, desc->depth, desc->texel, desc->channels);
    t.surface = 1;
    return amd_descriptor(device, &t, out);
}

void amd_handle_destroy(pxb_device *device, pxb_handle handle)
{
    amd_device *d = amd_of(device);
    uint64_t slot = (handle - d->texture_slots) / PXL_SLOT_BYTES;
    if (!d->slot_used || handle < d->texture_slots || slot >= TEXTURE_SLOTS)
        return;
    d->slot_used[slot] = 0;
    d->backend->set(device, handle, 0, PXL_SLOT_BYTES);   /* without its magic number it is no handle */
}

/* ------------------------------------------------------------ launches */

static pxb_status run_code(pxb_device *device, amd_kernel *k, const pxb_launch_options *o, const void *params, amd_object *object, void *loaded)
{
    amd_run run = {.shared = o->shared_bytes, .params = params, .bytes = (size_t)k->function->param_size, .timeout_ms = o->timeout_ms,
                   .cooperative = o->cooperative};
    memcpy(run.grid, o->grid, sizeof run.grid);
    memcpy(run.block, o->block, sizeof run.block);
    pxb_status status = amd_of(device)->backend->run(device, loaded, &run, k, object);
    return amd_finish_launch(k, o, object, status);
}

/* A workspace of zeros in the layout that cooperative groups expect: its size, then the barrier of the grid. */
static pxb_status clear_workspace(pxb_device *device)
{
    amd_device *d = amd_of(device);
    const uint32_t bytes = WORKSPACE_BYTES;
    pxb_status status = d->workspace ? PXB_OK : amd_alloc(device, WORKSPACE_BYTES, &d->workspace);
    if (!status)
        status = amd_set(device, d->workspace, 0, WORKSPACE_BYTES);
    return status ? status : amd_write(device, d->workspace, &bytes, sizeof bytes);
}

static pxb_status check_at_once(pxb_device *device, const pxb_launch_options *o, void *loaded)
{
    uint64_t at_once = 0;
    pxb_status status = amd_of(device)->backend->blocks_at_once(device, loaded, o->block[0] * o->block[1] * o->block[2], o->shared_bytes, &at_once);
    return status ? status : rt_check_at_once(device->context, o, at_once);
}

/* Code without %envreg has no place for the address of the workspace, and needs none. */
static pxb_status run_cooperative(pxb_device *device, amd_kernel *k, const pxb_launch_options *o, const void *params, amd_object *object,
                                  void *loaded)
{
    amd_device *d = amd_of(device);
    const pxb_address none = 0;
    pxb_status status = check_at_once(device, o, loaded);
    pxb_address symbol = status ? 0 : d->backend->symbol(device, object->loaded, "pxb_workspace");
    if (symbol)
        status = clear_workspace(device);
    if (symbol && !status)
        status = d->backend->write(device, symbol, &d->workspace, sizeof d->workspace);
    if (!status)
        status = run_code(device, k, o, params, object, loaded);
    /* A fault keeps the error: where the device ended with it, this fails as well, and that is not news. */
    if (symbol && (!status || d->backend->survives_faults)) {
        pxb_status cleared = d->backend->write(device, symbol, &none, sizeof none);
        status = status ? status : cleared;
    }
    return status;
}

pxb_status amd_run_code(pxb_device *device, amd_kernel *k, const pxb_launch_options *o, const void *params, amd_object *object, void *loaded)
{
    return o->cooperative ? run_cooperative(device, k, o, params, object, loaded) : run_code(device, k, o, params, object, loaded);
}

pxb_status amd_launch(pxb_device *device, void *kernel, const pxb_launch_options *o, const void *params)
{
    amd_object *object;
    void *loaded;
    pxb_status status = amd_kernel_variant(kernel, amd_way(o), &object, &loaded);
    return status ? status : amd_run_code(device, kernel, o, params, object, loaded);
}

pxb_status amd_blocks_at_once(pxb_device *device, void *kernel, uint32_t threads, uint32_t shared_bytes, uint64_t *out)
{
    amd_object *object;
    void *loaded;
    pxb_status status = amd_kernel_variant(kernel, PXB_MMA_ADA, &object, &loaded);
    return status ? status : amd_of(device)->backend->blocks_at_once(device, loaded, threads, shared_bytes, out);
}
