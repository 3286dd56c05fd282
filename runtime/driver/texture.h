/* texture.h - descriptors of textures: shared by texture objects and texture references. */
#ifndef DRIVER_TEXTURE_H
#define DRIVER_TEXTURE_H

#include "runtime/driver/array.h"
#include "runtime/driver/dump.h"

/* The image of a resource. `normalised`: its format is always read as [0, 1] or [-1, 1]; `owner` the context of an array or NULL. */
cu_result dr_describe_resource(const cu_resource *resource, pxl_texture *out, bool *normalised, dr_context **owner);
cu_result dr_apply_sampler(const cu_texture_desc *desc, bool normalised, pxl_texture *out);
cu_result dr_handle_new(dr_device *device, const pxl_texture *texture, pxb_handle *out);
/* Texels and channels of CU_RES_VIEW_FORMAT_UINT_1X8 …; false for a format of compressed blocks, and none. */
bool dr_view_format(uint32_t format, uint32_t *texel, uint32_t *channels);
/* What a texture or surface object of a device was made from, or a reference of a module is bound to; false: there is none. */
bool dr_texture_object(uint64_t handle, const dr_device *device, dr_dump_object *out);
bool dr_texref_object(const dr_module *module, const ptx_variable *variable, dr_dump_object *out);
/* Below and above the handles of all objects. */
void dr_texture_bounds(uint64_t *low, uint64_t *high);
void dr_handle_free(dr_device *device, pxb_handle handle);

#endif
