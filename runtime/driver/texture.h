/* texture.h - descriptors of textures: shared by texture objects and texture references. */
#ifndef DRIVER_TEXTURE_H
#define DRIVER_TEXTURE_H

#include "runtime/driver/array.h"

/* The image of a resource. `normalised`: its format is always read as [0, 1] or [-1, 1]; `owner` the context of an array or NULL. */
cu_result dr_describe_resource(const cu_resource *resource, pxl_texture *out, bool *normalised, dr_context **owner);
cu_result dr_apply_sampler(const cu_texture_desc *desc, bool normalised, pxl_texture *out);
cu_result dr_handle_new(dr_device *device, const pxl_texture *texture, pxb_handle *out);
/* Is it the handle of a texture or surface object? And where those lie. */
bool dr_is_texture(uint64_t handle);
void dr_texture_bounds(uint64_t *low, uint64_t *high);
void dr_handle_free(dr_device *device, pxb_handle handle);

#endif
