/* real_dump.c - what a dump asks about a launch on a real driver's device.
 *
 * Addresses, variables and texels are asked of the driver, with the context that launches. Handles in parameters go to the writer of cases as
 * names of our own, which no other word has by chance, unless the kernel takes handles from memory or leaves them there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/lib/texture.h"
#include "runtime/driver/array.h"
#include "runtime/driver/launch.h"
#include "runtime/driver/real.h"

static const uint64_t first_name = 0x7ec5a11d00000000;     /* no address, and no handle */

/* One dump is made at a time (spy.c). */
static struct {
    dr_dump_source source;
    const dr_real_code *code;
    void *params;
    dr_real_handles handles;
    uint64_t named[DR_REAL_MOST_HANDLES];      /* the driver's handles of first_name + i */
} now;

/* ------------------------------------------------------------ memory */

static bool contains(uint64_t base, uint64_t bytes, uint64_t address)
{
    return address - base < bytes;
}

static dr_dump_place place(const dr_dump_source *s, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    cu_address start = 0;
    size_t size = 0;
    (void)s;
    bool found = DR_REAL(cuMemGetAddressRange_v2) && DR_REAL(cuMemGetAddressRange_v2)(&start, &size, address) == CUABI_SUCCESS &&
                 contains(start, size, address);
    /* Memory of the host that the device sees has a range of its own. */
    if (!found)
        found = DR_REAL(cuPointerGetAttribute) &&
                DR_REAL(cuPointerGetAttribute)(&start, CUABI_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) == CUABI_SUCCESS &&
                DR_REAL(cuPointerGetAttribute)(&size, CUABI_CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) == CUABI_SUCCESS &&
                contains(start, size, address);
    *base = start;
    *bytes = size;
    return found ? DR_DUMP_MEMORY : DR_DUMP_NOWHERE;
}

static bool read_memory(const dr_dump_source *s, void *to, uint64_t from, uint64_t bytes)
{
    (void)s;
    return DR_REAL(cuMemcpyDtoH_v2) && DR_REAL(cuMemcpyDtoH_v2)(to, from, bytes) == CUABI_SUCCESS;
}

static bool find_variable(const dr_dump_source *s, const ptx_variable *v, uint64_t *base, uint64_t *bytes)
{
    cu_address address = 0;
    size_t size = 0;
    cu_result result = DR_ERROR(NOT_FOUND);
    (void)s;
    if (now.code->module && DR_REAL(cuModuleGetGlobal_v2))
        result = DR_REAL(cuModuleGetGlobal_v2)(&address, &size, now.code->module, v->name);
    else if (!now.code->module && DR_REAL(cuLibraryGetGlobal))
        result = DR_REAL(cuLibraryGetGlobal)(&address, &size, now.code->library, v->name);
    *base = address;
    *bytes = size;
    return result == CUABI_SUCCESS && size > 0;
}

/* ------------------------------------------------------------ textures */

static bool find_object(const dr_dump_source *s, uint64_t handle, dr_dump_object *out)
{
    (void)s;
    if (now.handles.others)
        return dr_real_object(handle, out);
    return handle - first_name < now.handles.count && dr_real_object(now.named[handle - first_name], out);
}

static cu_module module_of_code(void)
{
    cu_module m = now.code->module;
    if (!m && DR_REAL(cuLibraryGetModule) && DR_REAL(cuLibraryGetModule)(&m, now.code->library) != CUABI_SUCCESS)
        m = NULL;
    return m;
}

static bool find_surface_reference(cu_module module, const char *name, dr_dump_object *out)
{
    cu_surfref reference;
    cu_array array;
    if (!DR_REAL(cuModuleGetSurfRef) || DR_REAL(cuModuleGetSurfRef)(&reference, module, name) || !DR_REAL(cuSurfRefGetArray) ||
        DR_REAL(cuSurfRefGetArray)(&array, reference) || !array)
        return false;
    *out = (dr_dump_object){.surface = true, .resource = {.type = CUABI_CU_RESOURCE_TYPE_ARRAY, .of.array = array}};
    return true;
}

#define ASK(symbol, ...)                                                                                               \
    if (DR_REAL(symbol))                                                                                               \
    DR_REAL(symbol)(__VA_ARGS__)

static bool find_reference(const dr_dump_source *s, const ptx_variable *v, dr_dump_object *out)
{
    cu_texref r;
    cu_module module = module_of_code();
    int32_t mode = 0, filter = 0, mip_filter = 0, format = 0, channels = 0;
    (void)s;
    memset(out, 0, sizeof *out);
    if (!module || v->type == PTX_TYPE_SURFREF)
        return module && find_surface_reference(module, v->name, out);
    if (!DR_REAL(cuModuleGetTexRef) || DR_REAL(cuModuleGetTexRef)(&r, module, v->name) || !dr_real_reference(r, &out->resource))
        return false;
    for (int i = 0; i < 3; i++) {
        ASK(cuTexRefGetAddressMode, &mode, r, i);
        out->desc.address[i] = (uint32_t)mode;
    }
    ASK(cuTexRefGetFilterMode, &filter, r);
    ASK(cuTexRefGetMipmapFilterMode, &mip_filter, r);
    ASK(cuTexRefGetMipmapLevelBias, &out->desc.mip_bias, r);
    ASK(cuTexRefGetMipmapLevelClamp, &out->desc.mip_min, &out->desc.mip_max, r);
    ASK(cuTexRefGetBorderColor, out->desc.border, r);
    ASK(cuTexRefGetFlags, &out->desc.flags, r);
    out->desc.filter = (uint32_t)filter;
    out->desc.mip_filter = (uint32_t)mip_filter;
    if (out->resource.type == CUABI_CU_RESOURCE_TYPE_LINEAR) {
        ASK(cuTexRefGetFormat, &format, &channels, r);
        out->resource.of.linear.format = (uint32_t)format;
        out->resource.of.linear.channels = (uint32_t)channels;
    }
    return true;
}

static uint32_t count_levels(const dr_dump_source *s, cu_mipmap mipmap)
{
    (void)s;
    return dr_real_levels(mipmap);
}

static cu_array find_level(const dr_dump_source *s, cu_mipmap mipmap, uint32_t level)
{
    cu_array array = NULL;
    (void)s;
    return level < dr_real_levels(mipmap) && DR_REAL(cuMipmappedArrayGetLevel) &&
                   DR_REAL(cuMipmappedArrayGetLevel)(&array, mipmap, level) == CUABI_SUCCESS
               ? array
               : NULL;
}

static bool describe(const dr_dump_source *s, cu_array array, cu_array3d_desc *out)
{
    (void)s;
    return array && DR_REAL(cuArray3DGetDescriptor_v2) && DR_REAL(cuArray3DGetDescriptor_v2)(out, array) == CUABI_SUCCESS;
}

static bool read_texels(const dr_dump_source *s, cu_array array, void *to, uint64_t bytes)
{
    cu_array3d_desc d;
    uint32_t texel, channels;
    bool normalised;
    if (!describe(s, array, &d) || !dr_format_of(d.format, d.channels, &texel, &channels, &normalised) || !DR_REAL(cuMemcpy3D_v2))
        return false;
    size_t row = d.width * pxl_texel_bytes(texel, channels), height = d.height ? d.height : 1, depth = d.depth ? d.depth : 1;
    cu_memcpy3d copy = {.width_bytes = row, .height = height, .depth = depth};
    copy.source.memory_type = CUABI_CU_MEMORYTYPE_ARRAY;
    copy.source.array = array;
    copy.target.memory_type = CUABI_CU_MEMORYTYPE_HOST;
    copy.target.host.to = to;
    copy.target.pitch = row;
    copy.target.height = height;
    return row * height * depth == bytes && DR_REAL(cuMemcpy3D_v2)(&copy) == CUABI_SUCCESS;
}

/* The words that are handles get names; where there may be others, values have to do. */
static void name_handles(const ptx_function *entry)
{
    dr_real_find_handles(now.source.module, entry, &now.handles);
    if (now.handles.others) {
        dr_real_object_bounds(&now.source.first_handle, &now.source.last_handle);
        if (now.source.last_handle <= UINT32_MAX && now.source.first_handle <= now.source.last_handle && !now.source.lost)
            now.source.lost = "it may have numbers in memory that are equal to handles of textures";
        return;
    }
    now.source.first_handle = first_name;
    now.source.last_handle = 0;
    for (uint32_t i = 0; i < now.handles.count; i++) {
        unsigned char *at = (unsigned char *)now.params + now.handles.offset[i];
        const uint64_t name = first_name + i;
        dr_dump_object object;
        memcpy(&now.named[i], at, 8);
        if (!dr_real_object(now.named[i], &object))
            continue;
        memcpy(at, &name, 8);
        now.source.last_handle = name;
    }
}

/* ------------------------------------------------------------ a launch */

/* Why no case can be made of it, or NULL. */
static const char *hindrance(const dr_real_launch *l, const ptx_function *entry)
{
    if (!entry || !entry->is_entry || entry->is_declaration)
        return "it is not in the PTX of its module";
    if (entry->broken != PTX_REASON_NONE)
        return entry->why ? entry->why->message : "its PTX is not understood";
    const uint32_t *c = entry->reqnctapercluster;
    if (l->cluster || (uint64_t)(c[0] ? c[0] : 1) * (c[1] ? c[1] : 1) * (c[2] ? c[2] : 1) > 1)
        return "it is launched in clusters of several blocks";
    return NULL;
}

/* Where kernels' malloc puts things is known to no function of the driver. */
static bool uses_heap(const ptx_module *m)
{
    return ptx_find_function(m, "malloc") != NULL;
}

const dr_dump_source *dr_real_describe(dr_real_launch *l)
{
    const ptx_module *m = dr_real_parsed(l->code->image);
    const ptx_function *entry = m ? ptx_find_function(m, l->code->name) : NULL;
    free(now.params);
    now.params = NULL;
    l->why_not = m ? hindrance(l, entry) : l->code->image->text ? "without memory" : l->code->image->why_none;
    if (!l->why_not && dr_params_copy(entry, l->params, l->extra, &now.params))
        l->why_not = "its parameters are not those of its PTX";
    if (l->why_not)
        return NULL;
    now.code = l->code;
    now.source = (dr_dump_source){.module = m, .file = &l->code->image->file, .entry = entry, .params = now.params, .shared_bytes = l->shared_bytes,
                                  .cooperative = l->cooperative, .mma_model = pxb_mma_model_name(dr_model_of(dr_real_capability())),
                                  .lost = uses_heap(m) ? "its module uses malloc, whose memory a driver does not show" : NULL, .place = place,
                                  .read = read_memory, .variable = find_variable, .object = find_object, .reference = find_reference,
                                  .levels = count_levels, .level = find_level, .describe = describe, .texels = read_texels};
    memcpy(now.source.grid, l->grid, sizeof l->grid);
    memcpy(now.source.block, l->block, sizeof l->block);
    dr_real_bounds(&now.source.low, &now.source.high);
    name_handles(entry);
    return &now.source;
}
