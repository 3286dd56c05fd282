/* device.c - opening devices, their memory, images, textures and surfaces. */
#include "runtime/device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/module.h"

const rt_device_ops *const rt_device_kinds[] = {
#if !PTXBRIDGE_NO_CPU
    &rt_device_cpu,
#endif
    &rt_device_cuda,
#if PTXBRIDGE_LLVM
    &rt_device_hip,
    &rt_device_sim,
#endif
};
const uint32_t rt_device_kind_count = sizeof rt_device_kinds / sizeof *rt_device_kinds;

uint32_t pxb_device_kind_count(void)
{
    return rt_device_kind_count;
}

pxb_status pxb_device_kind(pxb_context *context, uint32_t index, pxb_device_info *out)
{
    memset(out, 0, sizeof *out);
    if (index >= rt_device_kind_count)
        return rt_fail(context, PXB_BAD_ARGUMENT, "there are %u kinds of device, not %u", rt_device_kind_count,
                       index + 1);
    const rt_device_ops *ops = rt_device_kinds[index];
    out->name = ops->name;
    out->description = ops->description;
    out->reason = ops->unavailable();
    out->available = out->reason == NULL;
    out->choices = ops->choices && out->available ? ops->choices() : NULL;
    out->needs_choice = ops->needs_choice;
    return PXB_OK;
}

static pxb_status unknown_device(pxb_context *context, const char *name)
{
    char known[256] = "";
    for (uint32_t i = 0; i < rt_device_kind_count; i++) {
        if (i)
            strncat(known, ", ", sizeof known - strlen(known) - 1);
        strncat(known, rt_device_kinds[i]->name, sizeof known - strlen(known) - 1);
    }
    return rt_fail(context, PXB_NO_DEVICE, "there is no device \"%.100s\"; known: %s", name, known);
}

/* The kind that a name means, "cuda:1" as "cuda"; *which is what follows the colon. */
static const rt_device_ops *kind_of(const char *name, const char **which)
{
    const char *text = name ? name : "cpu", *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    *which = colon ? colon + 1 : NULL;
    for (uint32_t i = 0; i < rt_device_kind_count; i++) {
        const char *kind = rt_device_kinds[i]->name;
        if (strlen(kind) == length && memcmp(kind, text, length) == 0)
            return rt_device_kinds[i];
    }
    return NULL;
}

const char *rt_why_not_cooperative(pxb_device *device)
{
    return device->ops->why_not_cooperative ? device->ops->why_not_cooperative(device) : NULL;
}

pxb_status rt_check_at_once(pxb_context *context, const pxb_launch_options *o, uint64_t at_once)
{
    uint64_t blocks = (uint64_t)o->grid[0] * o->grid[1] * o->grid[2];
    if (blocks <= at_once)
        return PXB_OK;
    return rt_fail(context, PXB_BAD_ARGUMENT, "%" PRIu64 " blocks of a cooperative launch; at most %" PRIu64 " can run at once", blocks, at_once);
}

const char *rt_mma_model_on(const char *device, pxb_mma_model model)
{
    const char *which;
    const rt_device_ops *ops = kind_of(device, &which);
    return ops && ops->native_mma ? "native" : pxb_mma_model_name(model);
}

pxb_status pxb_device_open(pxb_context *context, const char *name, pxb_device **out)
{
    *out = NULL;
    const char *which;
    const rt_device_ops *ops = kind_of(name, &which);
    if (!ops)
        return unknown_device(context, name ? name : "cpu");
    const char *why = ops->unavailable();
    if (why)
        return rt_fail(context, PXB_NO_DEVICE, "device \"%s\" is not available: %s", ops->name, why);
    pxb_device *device = calloc(1, sizeof *device);
    if (!device)
        return rt_no_memory(context);
    device->context = context;
    device->ops = ops;
    pxb_status status = ops->open(device, which);
    if (status) {
        free(device);
        return status;
    }
    device->next = context->devices;
    context->devices = device;
    *out = device;
    return PXB_OK;
}

void pxb_device_close(pxb_device *device)
{
    if (!device)
        return;
    rt_modules_leave_device(device);
    while (device->images)
        pxb_image_destroy(device->images);
    device->ops->close(device);
    for (pxb_device **p = &device->context->devices; *p; p = &(*p)->next) {
        if (*p == device) {
            *p = device->next;
            break;
        }
    }
    free(device);
}

pxb_status pxb_device_property(pxb_device *device, uint32_t index, pxb_property *out)
{
    memset(out, 0, sizeof *out);
    if (!device->ops->property(device, index, out))
        return rt_fail(device->context, PXB_NOT_FOUND, "device \"%s\" has no property %u", device->ops->name, index);
    return PXB_OK;
}

pxb_status pxb_device_counter(pxb_device *device, uint32_t index, pxb_counter *out)
{
    memset(out, 0, sizeof *out);
    if (!device->ops->counter || !device->ops->counter(device, index, out))
        return rt_fail(device->context, PXB_NOT_FOUND, "device \"%s\" has no counter %u", device->ops->name, index);
    return PXB_OK;
}

/* ------------------------------------------------------------ memory */

pxb_status pxb_memory_alloc(pxb_device *device, size_t bytes, pxb_address *out)
{
    *out = 0;
    if (bytes == 0)
        return rt_fail(device->context, PXB_BAD_ARGUMENT, "an allocation needs at least one byte");
    return device->ops->alloc(device, bytes, out);
}

pxb_status pxb_memory_free(pxb_device *device, pxb_address address)
{
    return address ? device->ops->free(device, address) : PXB_OK;
}

pxb_status pxb_memory_write(pxb_device *device, pxb_address to, const void *from, size_t bytes)
{
    if (bytes && rt_need(device->context, from, "the source"))
        return PXB_BAD_ARGUMENT;
    return bytes ? device->ops->write(device, to, from, bytes) : PXB_OK;
}

pxb_status pxb_memory_read(pxb_device *device, void *to, pxb_address from, size_t bytes)
{
    if (bytes && rt_need(device->context, to, "the destination"))
        return PXB_BAD_ARGUMENT;
    return bytes ? device->ops->read(device, to, from, bytes) : PXB_OK;
}

pxb_status pxb_memory_copy(pxb_device *device, pxb_address to, pxb_address from, size_t bytes)
{
    return bytes ? device->ops->copy(device, to, from, bytes) : PXB_OK;
}

pxb_status pxb_memory_set(pxb_device *device, pxb_address to, uint8_t value, size_t bytes)
{
    return bytes ? device->ops->set(device, to, value, bytes) : PXB_OK;
}

/* ------------------------------------------------------------ images */

struct pxb_image {
    pxb_device *device;
    pxb_image_desc desc;
    pxb_address texels; /* device memory, or the device's own object */
    size_t bytes;
    pxb_handle *handles;
    uint32_t nhandles;
    pxb_image *next; /* of the device */
};

uint32_t rt_texel_bytes(pxb_texel texel)
{
    switch (texel) {
    case PXB_TEXEL_U8:
    case PXB_TEXEL_S8: return 1;
    case PXB_TEXEL_U16:
    case PXB_TEXEL_S16:
    case PXB_TEXEL_F16: return 2;
    case PXB_TEXEL_U32:
    case PXB_TEXEL_S32:
    case PXB_TEXEL_F32: return 4;
    }
    return 0;
}

static pxb_status check_desc(pxb_context *ctx, const pxb_image_desc *d, size_t *bytes)
{
    if (rt_need(ctx, d, "the image's description"))
        return PXB_BAD_ARGUMENT;
    if (d->dims < 1 || d->dims > 3)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "an image has 1, 2 or 3 dimensions, not %u", d->dims);
    if (d->channels != 1 && d->channels != 2 && d->channels != 4)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "an image has 1, 2 or 4 channels, not %u", d->channels);
    if (rt_texel_bytes(d->texel) == 0)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "unknown texel format %u", (unsigned)d->texel);
    if (d->width == 0 || d->height == 0 || d->depth == 0 || (d->dims < 2 && d->height != 1) ||
        (d->dims < 3 && d->depth != 1))
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "%ux%ux%u is no extent of a %u-dimensional image", d->width, d->height,
                       d->depth, d->dims);
    /* 2^26 in each direction keeps x, the row pitch and the whole far from overflow. */
    const uint32_t most = 1u << 26;
    if (d->width > most || d->height > most || d->depth > most)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "an image has at most %u texels in each direction", most);
    uint64_t plane = (uint64_t)d->width * d->height;
    uint64_t texel = (uint64_t)rt_texel_bytes(d->texel) * d->channels;
    if (plane > (UINT64_MAX >> 2) / d->depth / texel)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "the image is too large");
    *bytes = (size_t)(plane * d->depth * texel);
    return PXB_OK;
}

static pxb_status make_texels(pxb_image *image)
{
    pxb_device *device = image->device;
    if (device->ops->image_create)
        return device->ops->image_create(device, &image->desc, &image->texels);
    pxb_status status = pxb_memory_alloc(device, image->bytes, &image->texels);
    if (status)
        return status;
    status = pxb_memory_set(device, image->texels, 0, image->bytes);
    if (status)
        device->ops->free(device, image->texels);
    return status;
}

static void free_texels(pxb_image *image)
{
    pxb_device *device = image->device;
    if (device->ops->image_create)
        device->ops->image_destroy(device, image->texels);
    else
        device->ops->free(device, image->texels);
}

pxb_status pxb_image_create(pxb_device *device, const pxb_image_desc *desc, pxb_image **out)
{
    *out = NULL;
    size_t bytes = 0;
    pxb_status status = check_desc(device->context, desc, &bytes);
    if (status)
        return status;
    pxb_image *image = calloc(1, sizeof *image);
    if (!image)
        return rt_no_memory(device->context);
    image->device = device;
    image->desc = *desc;
    image->bytes = bytes;
    status = make_texels(image);
    if (status) {
        free(image);
        return status;
    }
    image->next = device->images;
    device->images = image;
    *out = image;
    return PXB_OK;
}

void pxb_image_destroy(pxb_image *image)
{
    if (!image)
        return;
    pxb_device *device = image->device;
    for (uint32_t i = 0; i < image->nhandles; i++)
        device->ops->handle_destroy(device, image->handles[i]);
    free_texels(image);
    for (pxb_image **p = &device->images; *p; p = &(*p)->next) {
        if (*p == image) {
            *p = image->next;
            break;
        }
    }
    free(image->handles);
    free(image);
}

size_t pxb_image_bytes(const pxb_image *image)
{
    return image->bytes;
}

static pxb_status check_bytes(const pxb_image *image, size_t bytes)
{
    return bytes == image->bytes ? PXB_OK
                                 : rt_fail(image->device->context, PXB_BAD_ARGUMENT, "the image has %zu bytes, not %zu",
                                           image->bytes, bytes);
}

pxb_status pxb_image_write(pxb_image *image, const void *from, size_t bytes)
{
    const rt_device_ops *ops = image->device->ops;
    pxb_status status = check_bytes(image, bytes);
    if (!status && rt_need(image->device->context, from, "the source"))
        status = PXB_BAD_ARGUMENT;
    if (status)
        return status;
    return ops->image_create ? ops->image_write(image->device, &image->desc, image->texels, from)
                             : ops->write(image->device, image->texels, from, bytes);
}

pxb_status pxb_image_read(pxb_image *image, void *to, size_t bytes)
{
    const rt_device_ops *ops = image->device->ops;
    pxb_status status = check_bytes(image, bytes);
    if (!status && rt_need(image->device->context, to, "the destination"))
        status = PXB_BAD_ARGUMENT;
    if (status)
        return status;
    return ops->image_create ? ops->image_read(image->device, &image->desc, image->texels, to)
                             : ops->read(image->device, to, image->texels, bytes);
}

/* Makes room for one more handle. */
static pxb_status reserve_handle(pxb_image *image)
{
    pxb_handle *more = realloc(image->handles, (image->nhandles + 1) * sizeof *more);
    if (!more)
        return rt_no_memory(image->device->context);
    image->handles = more;
    return PXB_OK;
}

pxb_status rt_check_sampler(pxb_context *ctx, pxb_texel texel, uint32_t dims, const pxb_sampler *s)
{
    bool is_float = texel == PXB_TEXEL_F16 || texel == PXB_TEXEL_F32;
    if (rt_need(ctx, s, "the sampler"))
        return PXB_BAD_ARGUMENT;
    if ((unsigned)s->filter > PXB_FILTER_LINEAR)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "unknown filter %u", (unsigned)s->filter);
    if ((unsigned)s->read > PXB_READ_NORMALIZED_FLOAT)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "unknown read mode %u", (unsigned)s->read);
    for (uint32_t i = 0; i < dims; i++) {
        if ((unsigned)s->address[i] > PXB_ADDRESS_BORDER)
            return rt_fail(ctx, PXB_BAD_ARGUMENT, "unknown address mode %u", (unsigned)s->address[i]);
        /* CUDA Programming Guide: wrap and mirror are for normalised coordinates only. */
        if (!s->normalized_coords && (s->address[i] == PXB_ADDRESS_WRAP || s->address[i] == PXB_ADDRESS_MIRROR))
            return rt_fail(ctx, PXB_BAD_ARGUMENT, "address modes wrap and mirror need normalised coordinates");
    }
    if (s->read == PXB_READ_NORMALIZED_FLOAT && rt_texel_bytes(texel) > 2)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "only 8- and 16-bit texels can be read as normalised floats");
    if (s->filter == PXB_FILTER_LINEAR && !is_float && s->read != PXB_READ_NORMALIZED_FLOAT)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "linear filtering needs float texels or normalised-float reads");
    return PXB_OK;
}

pxb_status pxb_texture_create(pxb_image *image, const pxb_sampler *sampler, pxb_handle *out)
{
    *out = 0;
    pxb_status status = rt_check_sampler(image->device->context, image->desc.texel, image->desc.dims, sampler);
    if (!status)
        status = reserve_handle(image);
    if (!status)
        status = image->device->ops->texture(image->device, &image->desc, image->texels, sampler, out);
    if (!status)
        image->handles[image->nhandles++] = *out;
    return status;
}

pxb_status pxb_surface_create(pxb_image *image, pxb_handle *out)
{
    *out = 0;
    pxb_status status = reserve_handle(image);
    if (!status)
        status = image->device->ops->surface(image->device, &image->desc, image->texels, out);
    if (!status)
        image->handles[image->nhandles++] = *out;
    return status;
}

pxb_status pxb_handle_destroy(pxb_image *image, pxb_handle handle)
{
    if (handle == 0)
        return PXB_OK;
    for (uint32_t i = 0; i < image->nhandles; i++) {
        if (image->handles[i] == handle) {
            image->device->ops->handle_destroy(image->device, handle);
            image->handles[i] = image->handles[--image->nhandles];
            return PXB_OK;
        }
    }
    return rt_fail(image->device->context, PXB_NOT_FOUND, "the image has no such texture or surface");
}
