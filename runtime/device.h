/* device.h - the internal table of device operations.
 *
 * A device is a row of functions over its own state. The public API (device.c, module.c) checks arguments,
 * packs parameters and keeps the lists; what is left for a device is what only it can do. Every
 * operation that fails records the error in device->context. To add a device: write a device_<name>.c
 * with its rt_device_ops and put it into rt_device_kinds.
 */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include "runtime/internal.h"

typedef struct rt_device_ops {
    const char *name, *description;
    /* Why the device cannot be opened here, or NULL when it can. The text lives until the next call. */
    const char *(*unavailable)(void);
    pxb_status (*open)(pxb_device *device);          /* sets device->state */
    void (*close)(pxb_device *device);
    bool (*property)(pxb_device *device, uint32_t index, pxb_property *out);

    pxb_status (*alloc)(pxb_device *device, size_t bytes, pxb_address *out);
    pxb_status (*free)(pxb_device *device, pxb_address address);
    pxb_status (*write)(pxb_device *device, pxb_address to, const void *from, size_t bytes);
    pxb_status (*read)(pxb_device *device, void *to, pxb_address from, size_t bytes);
    pxb_status (*copy)(pxb_device *device, pxb_address to, pxb_address from, size_t bytes);
    pxb_status (*set)(pxb_device *device, pxb_address to, uint8_t value, size_t bytes);

    pxb_status (*module_load)(pxb_device *device, const ptx_module *module, void **out);
    void (*module_unload)(pxb_device *device, void *module);
    pxb_status (*global)(pxb_device *device, void *module, const ptx_variable *variable, pxb_address *out);
    pxb_status (*function)(pxb_device *device, void *module, const ptx_function *function, pxb_address *out);
    /* The function is an entry without errors; the kernel is freed with its module. */
    pxb_status (*kernel)(pxb_device *device, void *module, const ptx_function *function, void **out);
    /* `params` has the entry's param_size bytes; options are checked. */
    pxb_status (*launch)(pxb_device *device, void *kernel, const pxb_launch_options *options, const void *params);

    /* An image is device memory that device.c has allocated at `texels`. */
    pxb_status (*texture)(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, const pxb_sampler *sampler,
                          pxb_handle *out);
    pxb_status (*surface)(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, pxb_handle *out);
    void (*handle_destroy)(pxb_device *device, pxb_handle handle);
} rt_device_ops;

struct pxb_device {
    pxb_context *context;
    const rt_device_ops *ops;
    void *state;
    pxb_image *images;
    pxb_device *next;          /* of the context */
};

extern const rt_device_ops rt_device_cpu;
extern const rt_device_ops *const rt_device_kinds[];
extern const uint32_t rt_device_kind_count;

/* Bytes of a texel component. */
uint32_t rt_texel_bytes(pxb_texel texel);

#endif
