/* texref.c - texture and surface references of programs from before texture objects: cuTexRef…, cuSurfRef….
 *
 * A reference is a variable of the module, and on our devices what the variable holds is a handle. So binding makes a descriptor like a
 * texture object's and writes its handle into the variable. Every change makes it anew.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/library.h"
#include "runtime/driver/texture.h"

typedef struct dr_texref {
    dr_object head;
    dr_module *module;             /* NULL: made by cuTexRefCreate, in no module */
    const ptx_variable *variable;
    bool surface, bound;
    cu_resource resource;
    cu_texture_desc desc;
    uint32_t format, channels;
    pxb_handle handle;
    struct dr_texref *next;        /* of the module */
} dr_texref;

/* ------------------------------------------------------------ binding */

static void unbind(dr_texref *r)
{
    if (r->handle)
        dr_handle_free(r->module->device, r->handle);
    r->handle = 0;
}

/* Memory may be bound before its format is said. */
static bool lacks_format(const dr_texref *r)
{
    return r->resource.type == CUABI_CU_RESOURCE_TYPE_LINEAR && r->format == 0;
}

/* Makes the descriptor of what is bound, and lets the variable lead to it. */
static cu_result rebind(dr_texref *r)
{
    pxl_texture t;
    dr_context *owner;
    bool normalised;
    uint64_t address, bytes;
    if (!r->module || !r->bound || lacks_format(r))
        return CUABI_SUCCESS;
    cu_result result = dr_describe_resource(&r->resource, &t, &normalised, &owner);
    if (!result && !r->surface)
        result = dr_apply_sampler(&r->desc, normalised, &t);
    t.surface = r->surface;
    if (!result)
        result = dr_module_variable(r->module, r->variable->name, &address, &bytes);
    if (result)
        return result;
    dr_context_wait(r->module->context);
    unbind(r);
    result = dr_handle_new(r->module->device, &t, &r->handle);
    if (result)
        return result;
    dr_copy copy = {.from = {.address = (uint64_t)(uintptr_t)&r->handle}, .to = {.address = address, .device = true, .owner = r->module->device},
                    .width = sizeof r->handle, .height = 1, .depth = 1};
    return dr_copy_run(&copy);
}

static cu_result reference_of(dr_module *m, const char *name, bool surface, dr_texref **out)
{
    const ptx_variable *v = ptx_find_variable(m->ptx, name);
    if (!v || v->type != (surface ? PTX_TYPE_SURFREF : PTX_TYPE_TEXREF))
        return dr_fail(DR_ERROR(NOT_FOUND), "there is no %s reference \"%.300s\" in this module", surface ? "surface" : "texture", name);
    for (*out = m->texrefs; *out; *out = (*out)->next)
        if ((*out)->variable == v)
            return CUABI_SUCCESS;
    dr_texref *r = dr_object_new(DR_TEXREF, sizeof *r);
    if (!r)
        return DR_ERROR(OUT_OF_MEMORY);
    r->module = m;
    r->variable = v;
    r->surface = surface;
    r->next = m->texrefs;
    m->texrefs = r;
    *out = r;
    return CUABI_SUCCESS;
}

bool dr_texref_object(const dr_module *m, const ptx_variable *v, dr_dump_object *out)
{
    for (const dr_texref *r = m->texrefs; r; r = r->next)
        if (r->variable == v && r->bound) {
            *out = (dr_dump_object){.surface = r->surface, .resource = r->resource, .desc = r->desc};
            return true;
        }
    return false;
}

void dr_texrefs_free(dr_module *m)
{
    for (dr_texref *r = m->texrefs, *next; r; r = next) {
        next = r->next;
        unbind(r);
        dr_object_free(r, DR_TEXREF);
    }
    m->texrefs = NULL;
}

static cu_result get_reference(void **out, cu_module module, const char *name, bool surface)
{
    DR_NEED(out && name);
    DR_USE(c);
    dr_module *m = dr_object_of(module, DR_MODULE);
    dr_texref *r;
    if (!m)
        return DR_ERROR(INVALID_HANDLE);
    cu_result result = reference_of(m, name, surface, &r);
    if (!result)
        *out = r;
    return result;
}

cu_result impl_cuModuleGetTexRef(cu_texref *texref, cu_module module, const char *name)
{
    return get_reference(texref, module, name, false);
}

cu_result impl_cuModuleGetSurfRef(cu_surfref *surfref, cu_module module, const char *name)
{
    return get_reference(surfref, module, name, true);
}

/* ------------------------------------------------------------ cuTexRefSet… */

#define USE_REFERENCE(r, handle, is_surface)                                                                           \
    dr_texref *r = dr_object_of(handle, DR_TEXREF);                                                                    \
    if (!r || r->surface != (is_surface))                                                                              \
    return dr_ready() ? dr_ready() : DR_ERROR(INVALID_HANDLE)

static cu_result bind(dr_texref *r, const cu_resource *resource)
{
    r->resource = *resource;
    r->bound = true;
    return rebind(r);
}

cu_result impl_cuTexRefSetArray(cu_texref texref, cu_array array, uint32_t flags)
{
    DR_NEED(flags == 1);               /* CU_TRSA_OVERRIDE_FORMAT: the array's format is taken */
    USE_REFERENCE(r, texref, false);
    dr_array *a = dr_object_of(array, DR_ARRAY);
    if (!a)
        return DR_ERROR(INVALID_HANDLE);
    r->format = a->desc.format;
    r->channels = a->desc.channels;
    return bind(r, &(cu_resource){.type = CUABI_CU_RESOURCE_TYPE_ARRAY, .of.array = array});
}

cu_result impl_cuTexRefSetMipmappedArray(cu_texref texref, cu_mipmap mipmapped_array, uint32_t flags)
{
    DR_NEED(flags == 1);
    USE_REFERENCE(r, texref, false);
    if (!dr_object_of(mipmapped_array, DR_MIPMAP))
        return DR_ERROR(INVALID_HANDLE);
    return bind(r, &(cu_resource){.type = CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .of.mipmap = mipmapped_array});
}

cu_result impl_cuTexRefSetAddress_v2(size_t *byte_offset, cu_texref texref, cu_address address, size_t bytes)
{
    USE_REFERENCE(r, texref, false);
    if (byte_offset)
        *byte_offset = 0;              /* any alignment of a texel is good enough here */
    cu_resource resource = {.type = CUABI_CU_RESOURCE_TYPE_LINEAR};
    resource.of.linear.address = address;
    resource.of.linear.format = r->format;
    resource.of.linear.channels = r->channels;
    resource.of.linear.bytes = bytes;
    return bind(r, &resource);
}

cu_result impl_cuTexRefSetAddress2D_v3(cu_texref texref, const cu_array_desc *desc, cu_address address, size_t pitch)
{
    DR_NEED(desc);
    USE_REFERENCE(r, texref, false);
    cu_resource resource = {.type = CUABI_CU_RESOURCE_TYPE_PITCH2D};
    resource.of.pitched.address = address;
    resource.of.pitched.format = desc->format;
    resource.of.pitched.channels = desc->channels;
    resource.of.pitched.width = desc->width;
    resource.of.pitched.height = desc->height;
    resource.of.pitched.pitch = pitch;
    return bind(r, &resource);
}

cu_result impl_cuTexRefSetAddress2D_v2(cu_texref texref, const cu_array_desc *desc, cu_address address, size_t pitch)
{
    return impl_cuTexRefSetAddress2D_v3(texref, desc, address, pitch);
}

cu_result impl_cuTexRefSetFormat(cu_texref texref, int32_t fmt, int num_packed_components)
{
    uint32_t texel, channels;
    bool normalised;
    USE_REFERENCE(r, texref, false);
    if (!dr_format_of((uint32_t)fmt, (uint32_t)num_packed_components, &texel, &channels, &normalised))
        return DR_ERROR(INVALID_VALUE);
    r->format = (uint32_t)fmt;
    r->channels = (uint32_t)num_packed_components;
    if (!r->bound || r->resource.type != CUABI_CU_RESOURCE_TYPE_LINEAR)
        return CUABI_SUCCESS;          /* arrays have a format, and pitched memory was given one */
    r->resource.of.linear.format = r->format;
    r->resource.of.linear.channels = r->channels;
    return rebind(r);
}

/* One member of the sampler; what is bound follows. */
#define SET(name, params, check, statement)                                                                            \
    cu_result impl_cuTexRefSet##name params                                                                            \
    {                                                                                                                  \
        USE_REFERENCE(r, texref, false);                                                                               \
        DR_NEED(check);                                                                                                \
        statement;                                                                                                     \
        return rebind(r);                                                                                              \
    }
SET(AddressMode, (cu_texref texref, int dim, int32_t am), dim >= 0 && dim < 3 && am >= 0 && am < 4, r->desc.address[dim] = (uint32_t)am)
SET(FilterMode, (cu_texref texref, int32_t fm), fm == 0 || fm == 1, r->desc.filter = (uint32_t)fm)
SET(MipmapFilterMode, (cu_texref texref, int32_t fm), fm == 0 || fm == 1, r->desc.mip_filter = (uint32_t)fm)
SET(MipmapLevelBias, (cu_texref texref, float bias), true, r->desc.mip_bias = bias)
SET(MipmapLevelClamp, (cu_texref texref, float min_mipmap_level_clamp, float max_mipmap_level_clamp), true,
    (r->desc.mip_min = min_mipmap_level_clamp, r->desc.mip_max = max_mipmap_level_clamp))
SET(MaxAnisotropy, (cu_texref texref, uint32_t max_aniso), true, r->desc.max_anisotropy = max_aniso)
SET(BorderColor, (cu_texref texref, float *border_color), border_color != NULL, memcpy(r->desc.border, border_color, sizeof r->desc.border))
SET(Flags, (cu_texref texref, uint32_t flags), true, r->desc.flags = flags)

/* ------------------------------------------------------------ cuTexRefGet… */

#define GET(name, type, value)                                                                                         \
    cu_result impl_cuTexRefGet##name(type *out, cu_texref texref)                                                      \
    {                                                                                                                  \
        DR_NEED(out);                                                                                                  \
        USE_REFERENCE(r, texref, false);                                                                               \
        *out = (type)(value);                                                                                          \
        return CUABI_SUCCESS;                                                                                          \
    }
GET(FilterMode, int32_t, r->desc.filter)
GET(MipmapFilterMode, int32_t, r->desc.mip_filter)
GET(MipmapLevelBias, float, r->desc.mip_bias)
GET(MaxAnisotropy, int, r->desc.max_anisotropy)
GET(Flags, uint32_t, r->desc.flags)

cu_result impl_cuTexRefGetAddress_v2(cu_address *address, cu_texref texref)
{
    DR_NEED(address);
    USE_REFERENCE(r, texref, false);
    if (!r->bound || (r->resource.type != CUABI_CU_RESOURCE_TYPE_LINEAR && r->resource.type != CUABI_CU_RESOURCE_TYPE_PITCH2D))
        return DR_ERROR(INVALID_VALUE);
    *address = r->resource.of.linear.address;      /* the first member of both */
    return CUABI_SUCCESS;
}

cu_result impl_cuTexRefGetArray(cu_array *array, cu_texref texref)
{
    DR_NEED(array);
    USE_REFERENCE(r, texref, false);
    if (!r->bound || r->resource.type != CUABI_CU_RESOURCE_TYPE_ARRAY)
        return DR_ERROR(INVALID_VALUE);
    *array = r->resource.of.array;
    return CUABI_SUCCESS;
}

cu_result impl_cuTexRefGetMipmappedArray(cu_mipmap *mipmapped_array, cu_texref texref)
{
    DR_NEED(mipmapped_array);
    USE_REFERENCE(r, texref, false);
    if (!r->bound || r->resource.type != CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        return DR_ERROR(INVALID_VALUE);
    *mipmapped_array = r->resource.of.mipmap;
    return CUABI_SUCCESS;
}

cu_result impl_cuTexRefGetAddressMode(int32_t *pam, cu_texref texref, int dim)
{
    DR_NEED(pam && dim >= 0 && dim < 3);
    USE_REFERENCE(r, texref, false);
    *pam = (int32_t)r->desc.address[dim];
    return CUABI_SUCCESS;
}

cu_result impl_cuTexRefGetFormat(int32_t *format, int *num_channels, cu_texref texref)
{
    USE_REFERENCE(r, texref, false);
    if (format)
        *format = (int32_t)r->format;
    if (num_channels)
        *num_channels = (int)r->channels;
    return CUABI_SUCCESS;
}

cu_result impl_cuTexRefGetMipmapLevelClamp(float *pmin_mipmap_level_clamp, float *pmax_mipmap_level_clamp, cu_texref texref)
{
    DR_NEED(pmin_mipmap_level_clamp && pmax_mipmap_level_clamp);
    USE_REFERENCE(r, texref, false);
    *pmin_mipmap_level_clamp = r->desc.mip_min;
    *pmax_mipmap_level_clamp = r->desc.mip_max;
    return CUABI_SUCCESS;
}

cu_result impl_cuTexRefGetBorderColor(float *border_color, cu_texref texref)
{
    DR_NEED(border_color);
    USE_REFERENCE(r, texref, false);
    memcpy(border_color, r->desc.border, sizeof r->desc.border);
    return CUABI_SUCCESS;
}

cu_result impl_cuTexRefCreate(cu_texref *texref)
{
    DR_NEED(texref);
    DR_USE(c);
    *texref = dr_object_new(DR_TEXREF, sizeof(dr_texref));
    return *texref ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
}

cu_result impl_cuTexRefDestroy(cu_texref texref)
{
    USE_REFERENCE(r, texref, false);
    if (r->module)
        return DR_ERROR(INVALID_VALUE);
    dr_object_free(r, DR_TEXREF);
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ surfaces */

cu_result impl_cuSurfRefSetArray(cu_surfref surfref, cu_array array, uint32_t flags)
{
    DR_NEED(flags == 0);
    USE_REFERENCE(r, surfref, true);
    dr_array *a = dr_object_of(array, DR_ARRAY);
    if (!a)
        return DR_ERROR(INVALID_HANDLE);
    if (!(a->desc.flags & CUABI_CUDA_ARRAY3D_SURFACE_LDST))
        return DR_ERROR(INVALID_VALUE);
    return bind(r, &(cu_resource){.type = CUABI_CU_RESOURCE_TYPE_ARRAY, .of.array = array});
}

cu_result impl_cuSurfRefGetArray(cu_array *array, cu_surfref surfref)
{
    DR_NEED(array);
    USE_REFERENCE(r, surfref, true);
    if (!r->bound)
        return DR_ERROR(INVALID_VALUE);
    *array = r->resource.of.array;
    return CUABI_SUCCESS;
}

/* The texture units of the first GPUs: references are found by the kernel itself. */
cu_result impl_cuParamSetTexRef(cu_function function, int texunit, cu_texref texref)
{
    DR_NEED(texunit == -1 && dr_object_of(function, DR_FUNCTION));
    USE_REFERENCE(r, texref, false);
    return CUABI_SUCCESS;
}
