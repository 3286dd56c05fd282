/* real_object.c - memory, arrays, texture objects and references of a real driver: what it does not tell later. */
#include "runtime/driver/real.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------ where memory lies */

static uint64_t lowest = UINT64_MAX, highest;

void dr_real_bounds(uint64_t *low, uint64_t *high)
{
    pthread_mutex_lock(&lock);
    *low = lowest;
    *high = highest;
    pthread_mutex_unlock(&lock);
}

void dr_real_extend(uint64_t address, uint64_t bytes)
{
    uint64_t end = address + (bytes ? bytes : 1);
    if (!address || end < address)
        return;
    pthread_mutex_lock(&lock);
    lowest = address < lowest ? address : lowest;
    highest = end > highest ? end : highest;
    pthread_mutex_unlock(&lock);
}

static cu_result note_memory(cu_result result, const cu_address *address, size_t bytes)
{
    if (!result && address)
        dr_real_extend(*address, bytes);
    return result;
}

static cu_result note_host(cu_result result, const void *pointer, size_t bytes)
{
    if (!result)
        dr_real_extend((uint64_t)(uintptr_t)pointer, bytes);
    return result;
}

/* Memory whose length the caller does not say. */
static cu_result note_whole(cu_result result, const cu_address *address)
{
    cu_address base = 0;
    size_t bytes = 0;
    note_memory(result, address, 1);
    if (!result && address && DR_REAL(cuMemGetAddressRange_v2) && DR_REAL(cuMemGetAddressRange_v2)(&base, &bytes, *address) == CUABI_SUCCESS)
        dr_real_extend(base, bytes);
    return result;
}

cu_result real_cuMemAlloc_v2(cu_address *address, size_t bytes)
{
    return note_memory(DR_NEXT(cuMemAlloc_v2)(address, bytes), address, bytes);
}

cu_result real_cuMemAllocPitch_v2(cu_address *address, size_t *pitch, size_t width_in_bytes, size_t height, uint32_t element_size_bytes)
{
    cu_result result = DR_NEXT(cuMemAllocPitch_v2)(address, pitch, width_in_bytes, height, element_size_bytes);
    return result ? result : note_memory(result, address, *pitch * height);
}

cu_result real_cuMemAllocManaged(cu_address *address, size_t bytes, uint32_t flags)
{
    return note_memory(DR_NEXT(cuMemAllocManaged)(address, bytes, flags), address, bytes);
}

cu_result real_cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    cu_result result = DR_NEXT(cuMemAllocHost_v2)(pointer, bytes);
    return result ? result : note_host(result, *pointer, bytes);
}

cu_result real_cuMemHostAlloc(void **pointer, size_t bytes, uint32_t flags)
{
    cu_result result = DR_NEXT(cuMemHostAlloc)(pointer, bytes, flags);
    return result ? result : note_host(result, *pointer, bytes);
}

cu_result real_cuMemHostRegister_v2(void *pointer, size_t bytes, uint32_t flags)
{
    return note_host(DR_NEXT(cuMemHostRegister_v2)(pointer, bytes, flags), pointer, bytes);
}

cu_result real_cuMemHostGetDevicePointer_v2(cu_address *address, void *pointer, uint32_t flags)
{
    return note_whole(DR_NEXT(cuMemHostGetDevicePointer_v2)(address, pointer, flags), address);
}

cu_result real_cuMemAllocAsync(cu_address *address, size_t bytes, cu_stream stream)
{
    return note_memory(DR_NEXT(cuMemAllocAsync)(address, bytes, stream), address, bytes);
}

cu_result real_cuMemAllocFromPoolAsync(cu_address *address, size_t bytes, cu_pool pool, cu_stream stream)
{
    return note_memory(DR_NEXT(cuMemAllocFromPoolAsync)(address, bytes, pool, stream), address, bytes);
}

cu_result real_cuMemAddressReserve(cu_address *address, size_t size, size_t alignment, cu_address wanted, uint64_t flags)
{
    return note_memory(DR_NEXT(cuMemAddressReserve)(address, size, alignment, wanted, flags), address, size);
}

cu_result real_cuIpcOpenMemHandle(cu_address *address, cu_ipc handle, uint32_t flags)
{
    return note_whole(DR_NEXT(cuIpcOpenMemHandle)(address, handle, flags), address);
}

cu_result real_cuIpcOpenMemHandle_v2(cu_address *address, cu_ipc handle, uint32_t flags)
{
    return note_whole(DR_NEXT(cuIpcOpenMemHandle_v2)(address, handle, flags), address);
}

cu_result real_cuGraphAddMemAllocNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                      cu_alloc_node *node_params)
{
    cu_result result = DR_NEXT(cuGraphAddMemAllocNode)(node, graph, dependencies, num_dependencies, node_params);
    return result ? result : note_memory(result, &node_params->address, node_params->bytes);
}

/* ------------------------------------------------------------ objects and references */

typedef enum kind { MIPMAP, OBJECT, REFERENCE } kind;

typedef struct entry {
    struct entry *next;
    kind kind;
    uint64_t handle;
    cu_context context;
    uint32_t levels;               /* MIPMAP */
    dr_dump_object object;         /* OBJECT; of a REFERENCE the resource alone */
} entry;

static entry *entries;

static entry **find(kind kind, uint64_t handle)
{
    entry **p = &entries;
    while (*p && ((*p)->kind != kind || (*p)->handle != handle))
        p = &(*p)->next;
    return p;
}

static void remove_at(entry **p)
{
    entry *e = *p;
    *p = e->next;
    free(e);
}

/* What had this handle before is gone. */
static void put(const entry *from)
{
    entry *e = malloc(sizeof *e);
    cu_context context = dr_real_context();
    pthread_mutex_lock(&lock);
    entry **p = find(from->kind, from->handle);
    if (*p)
        remove_at(p);
    if (e) {
        *e = *from;
        e->context = context;
        e->next = entries;
        entries = e;
    }
    pthread_mutex_unlock(&lock);
}

static void take(kind kind, uint64_t handle)
{
    pthread_mutex_lock(&lock);
    entry **p = find(kind, handle);
    if (*p)
        remove_at(p);
    pthread_mutex_unlock(&lock);
}

void dr_real_objects_leave(cu_context context)
{
    pthread_mutex_lock(&lock);
    for (entry **p = &entries; *p;) {
        if ((*p)->context == context)
            remove_at(p);
        else
            p = &(*p)->next;
    }
    pthread_mutex_unlock(&lock);
}

/* An array is going: the driver must not be asked about it when a handle of a texture over it is met. */
static void forget_array(const void *array, uint32_t type)
{
    pthread_mutex_lock(&lock);
    for (entry **p = &entries; *p;) {
        const cu_resource *r = &(*p)->object.resource;
        const void *of = type == CUABI_CU_RESOURCE_TYPE_ARRAY ? r->of.array : r->of.mipmap;
        if ((*p)->kind != MIPMAP && r->type == type && of == array)
            remove_at(p);
        else
            p = &(*p)->next;
    }
    pthread_mutex_unlock(&lock);
}

static bool get(kind kind, uint64_t handle, entry *out)
{
    pthread_mutex_lock(&lock);
    const entry *e = *find(kind, handle);
    if (e)
        *out = *e;
    pthread_mutex_unlock(&lock);
    return e != NULL;
}

bool dr_real_object(uint64_t handle, dr_dump_object *out)
{
    entry e;
    bool found = get(OBJECT, handle, &e);
    if (found)
        *out = e.object;
    return found;
}

void dr_real_object_bounds(uint64_t *first, uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    pthread_mutex_lock(&lock);
    for (const entry *e = entries; e; e = e->next)
        if (e->kind == OBJECT) {
            *first = e->handle < *first ? e->handle : *first;
            *last = e->handle > *last ? e->handle : *last;
        }
    pthread_mutex_unlock(&lock);
}

uint32_t dr_real_levels(cu_mipmap mipmap)
{
    entry e;
    return get(MIPMAP, (uint64_t)(uintptr_t)mipmap, &e) ? e.levels : 0;
}

bool dr_real_reference(cu_texref reference, cu_resource *out)
{
    entry e;
    bool found = get(REFERENCE, (uint64_t)(uintptr_t)reference, &e);
    if (found)
        *out = e.object.resource;
    return found;
}

/* ------------------------------------------------------------ arrays */

cu_result real_cuArrayDestroy(cu_array array)
{
    forget_array(array, CUABI_CU_RESOURCE_TYPE_ARRAY);
    return DR_NEXT(cuArrayDestroy)(array);
}

cu_result real_cuMipmappedArrayCreate(cu_mipmap *handle, const cu_array3d_desc *mipmapped_array_desc, uint32_t num_mipmap_levels)
{
    cu_result result = DR_NEXT(cuMipmappedArrayCreate)(handle, mipmapped_array_desc, num_mipmap_levels);
    if (!result && dr_real_usable())
        put(&(entry){.kind = MIPMAP, .handle = (uint64_t)(uintptr_t)*handle, .levels = num_mipmap_levels});
    return result;
}

/* Its levels go with it, and textures over one of them. */
cu_result real_cuMipmappedArrayDestroy(cu_mipmap mipmapped_array)
{
    for (uint32_t i = 0, n = dr_real_levels(mipmapped_array); i < n && DR_REAL(cuMipmappedArrayGetLevel); i++) {
        cu_array level = NULL;
        if (DR_REAL(cuMipmappedArrayGetLevel)(&level, mipmapped_array, i) == CUABI_SUCCESS)
            forget_array(level, CUABI_CU_RESOURCE_TYPE_ARRAY);
    }
    forget_array(mipmapped_array, CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    take(MIPMAP, (uint64_t)(uintptr_t)mipmapped_array);
    return DR_NEXT(cuMipmappedArrayDestroy)(mipmapped_array);
}

/* ------------------------------------------------------------ textures and surfaces */

_Static_assert(sizeof(cu_resource) == sizeof(cu_resource_desc), "two descriptions of CUDA_RESOURCE_DESC");

static void put_object(cu_object handle, const cu_resource_desc *resource, const cu_texture_desc *desc, const cu_view_desc *view, bool surface)
{
    entry e = {.kind = OBJECT, .handle = handle, .object = {.surface = surface, .has_view = view != NULL}};
    memcpy(&e.object.resource, resource, sizeof e.object.resource);
    if (desc)
        e.object.desc = *desc;
    if (view)
        e.object.view = *view;
    put(&e);
}

cu_result real_cuTexObjectCreate(cu_object *texture, const cu_resource_desc *resource, const cu_texture_desc *desc, const cu_view_desc *view)
{
    cu_result result = DR_NEXT(cuTexObjectCreate)(texture, resource, desc, view);
    if (!result && dr_real_usable())
        put_object(*texture, resource, desc, view, false);
    return result;
}

cu_result real_cuTexObjectDestroy(cu_object texture)
{
    take(OBJECT, texture);
    return DR_NEXT(cuTexObjectDestroy)(texture);
}

cu_result real_cuSurfObjectCreate(cu_object *surface, const cu_resource_desc *resource)
{
    cu_result result = DR_NEXT(cuSurfObjectCreate)(surface, resource);
    if (!result && dr_real_usable())
        put_object(*surface, resource, NULL, NULL, true);
    return result;
}

cu_result real_cuSurfObjectDestroy(cu_object surface)
{
    take(OBJECT, surface);
    return DR_NEXT(cuSurfObjectDestroy)(surface);
}

/* ------------------------------------------------------------ texture references: what they are bound to; the rest can be asked */

static cu_result bind(cu_result result, cu_texref reference, const cu_resource *resource)
{
    if (!result && dr_real_usable())
        put(&(entry){.kind = REFERENCE, .handle = (uint64_t)(uintptr_t)reference, .object = {.resource = *resource}});
    return result;
}

cu_result real_cuTexRefSetArray(cu_texref texref, cu_array array, uint32_t flags)
{
    return bind(DR_NEXT(cuTexRefSetArray)(texref, array, flags), texref, &(cu_resource){.type = CUABI_CU_RESOURCE_TYPE_ARRAY, .of.array = array});
}

cu_result real_cuTexRefSetMipmappedArray(cu_texref texref, cu_mipmap mipmapped_array, uint32_t flags)
{
    return bind(DR_NEXT(cuTexRefSetMipmappedArray)(texref, mipmapped_array, flags), texref,
                &(cu_resource){.type = CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .of.mipmap = mipmapped_array});
}

cu_result real_cuTexRefSetAddress_v2(size_t *byte_offset, cu_texref texref, cu_address address, size_t bytes)
{
    cu_resource r = {.type = CUABI_CU_RESOURCE_TYPE_LINEAR};
    r.of.linear.address = address;
    r.of.linear.bytes = bytes;
    return bind(DR_NEXT(cuTexRefSetAddress_v2)(byte_offset, texref, address, bytes), texref, &r);
}

static cu_result bind_pitched(cu_result result, cu_texref texref, const cu_array_desc *desc, cu_address address, size_t pitch)
{
    cu_resource r = {.type = CUABI_CU_RESOURCE_TYPE_PITCH2D};
    if (result)
        return result;
    r.of.pitched.address = address;
    r.of.pitched.pitch = pitch;
    r.of.pitched.width = desc->width;
    r.of.pitched.height = desc->height;
    r.of.pitched.format = desc->format;
    r.of.pitched.channels = desc->channels;
    return bind(result, texref, &r);
}

cu_result real_cuTexRefSetAddress2D_v2(cu_texref texref, const cu_array_desc *desc, cu_address address, size_t pitch)
{
    return bind_pitched(DR_NEXT(cuTexRefSetAddress2D_v2)(texref, desc, address, pitch), texref, desc, address, pitch);
}

cu_result real_cuTexRefSetAddress2D_v3(cu_texref texref, const cu_array_desc *desc, cu_address address, size_t pitch)
{
    return bind_pitched(DR_NEXT(cuTexRefSetAddress2D_v3)(texref, desc, address, pitch), texref, desc, address, pitch);
}
