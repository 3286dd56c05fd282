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

struct rt_trace;
struct pxl_texture;

typedef struct rt_device_ops {
    const char *name, *description;
    /* A kernel's fault ends the device's memory as well: after one there is nothing to read back. */
    bool loses_memory;
    /* mma is the hardware's own: the launch options' model means nothing. */
    bool native_mma;
    /* alloc, free, write, read, copy, set and launch may be called from several threads at once, with device->context the caller's own. */
    bool concurrent;
    /* Device pointers are addresses of this process, which the host may use as well. */
    bool host_addresses;
    /* Why the device cannot be opened here, or NULL when it can. The text lives until the next call. */
    const char *(*unavailable)(void);
    /* Sets device->state. `which` is what follows the colon of the name ("sim:gfx1100", "hip:1"), NULL without one;
     * a device that has no choice to offer refuses one. */
    pxb_status (*open)(pxb_device *device, const char *which);
    /* What may follow the colon, separated by blanks, or NULL. The text lives until the next call. */
    const char *(*choices)(void);
    bool needs_choice;
    void (*close)(pxb_device *device);
    /* After a fault that ended the device: nothing that was on it is left, modules included, and it can be used again. NULL where a fault
     * ends nothing. */
    pxb_status (*recover)(pxb_device *device);
    bool (*property)(pxb_device *device, uint32_t index, pxb_property *out);
    bool (*counter)(pxb_device *device, uint32_t index, pxb_counter *out);   /* NULL: it counts nothing */

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
    /* `params` has the entry's param_size bytes; options are checked, but for the number of blocks that run at once. */
    pxb_status (*launch)(pxb_device *device, void *kernel, const pxb_launch_options *options, const void *params);

    /* Why the device cannot launch with options->cooperative: all blocks run at once, so that they may wait for each other, and %envreg1
     * and 2 lead to the workspace that cooperative groups keep their barrier in. NULL when it can; the text lives until the next call. The
     * operation is NULL where it always can. Ask by rt_why_not_cooperative. */
    const char *(*why_not_cooperative)(pxb_device *device);
    /* How many blocks of a cooperative launch run at once, at most, with blocks of so many threads and so much dynamic shared memory; NULL
     * where only the launch can tell. */
    pxb_status (*blocks_at_once)(pxb_device *device, void *kernel, uint32_t threads, uint32_t shared_bytes, uint64_t *out);
    /* Memory that kernels and the host use at one address, freed as other memory is; NULL where all memory is such (host_addresses), or
     * none can be. `managed`: as cuMemAllocManaged gives it, otherwise pinned memory of the host. */
    pxb_status (*alloc_shared)(pxb_device *device, size_t bytes, bool managed, pxb_address *out);
    /* Lets kernels use a range of the process's memory at its own addresses, or no longer; NULL where they cannot. */
    pxb_status (*map_host)(pxb_device *device, pxb_address address, size_t bytes, bool map);

    /* Addresses of this process at which kernels may use what the caller maps there, and the end of that; NULL where there are none. */
    pxb_status (*reserve)(pxb_device *device, size_t bytes, size_t align, pxb_address wanted, pxb_address *out);
    pxb_status (*unreserve)(pxb_device *device, pxb_address address);

    /* Puts an allocation's pages into a file without a name that other processes may map, at the addresses that they have: *file is the
     * caller's, and the allocation begins at *offset in it. No kernel runs meanwhile. NULL where memory cannot be shared so. */
    pxb_status (*share)(pxb_device *device, pxb_address address, int *file, uint64_t *offset);

    /* The same with records of what instructions write (runtime/trace.h), also when the launch faults; NULL on a device
     * whose code is not ours. */
    pxb_status (*trace)(pxb_device *device, void *kernel, const pxb_launch_options *options, const void *params,
                        struct rt_trace *trace);

    /* The block of the heap of kernels' malloc that holds an address, as the program sees it; false: none does, or it was freed. Address 0: all
     * of the heap. The AMD devices find a block by its first address only. NULL where the heap is not ours. */
    bool (*heap_block)(pxb_device *device, pxb_address address, pxb_address *base, uint64_t *bytes);

    /* Images, for a device that keeps them in objects of its own. Where image_create is NULL (and then all four are), an image is
     * device memory that device.c allocates. Texels come and go without padding; a new image is zeros. */
    pxb_status (*image_create)(pxb_device *device, const pxb_image_desc *desc, pxb_address *out);
    void (*image_destroy)(pxb_device *device, pxb_address image);
    pxb_status (*image_write)(pxb_device *device, const pxb_image_desc *desc, pxb_address image, const void *from);
    pxb_status (*image_read)(pxb_device *device, const pxb_image_desc *desc, pxb_address image, void *to);

    /* `texels` is the address of the image's device memory, or what image_create gave. */
    pxb_status (*texture)(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, const pxb_sampler *sampler,
                          pxb_handle *out);
    pxb_status (*surface)(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, pxb_handle *out);
    void (*handle_destroy)(pxb_device *device, pxb_handle handle);
    /* A texture or surface of any kind from its whole description (ptx/lib/texture.h); NULL where images are objects of the device. */
    pxb_status (*descriptor)(pxb_device *device, const struct pxl_texture *texture, pxb_handle *out);
} rt_device_ops;

struct pxb_device {
    pxb_context *context;
    const rt_device_ops *ops;
    void *state;
    pxb_image *images;
    pxb_device *next;          /* of the context */
};

extern const rt_device_ops rt_device_cpu, rt_device_cuda, rt_device_hip, rt_device_sim;
extern const rt_device_ops *const rt_device_kinds[];
extern const uint32_t rt_device_kind_count;

/* NULL when options->cooperative means something on the device, or why not. The text lives until the next call. */
const char *rt_why_not_cooperative(pxb_device *device);
/* An error when a cooperative launch has more blocks than the number that run at once. */
pxb_status rt_check_at_once(pxb_context *context, const pxb_launch_options *options, uint64_t at_once);

/* What stands in reports as the mma model of launches on a device of this name: "native" where the hardware decides. */
const char *rt_mma_model_on(const char *device, pxb_mma_model model);

/* The engine behind a CPU device, NULL for another device. */
struct cpu_device *rt_device_cpu_engine(pxb_device *device);

/* Whether an image of such texels in 1 to 3 dimensions can be sampled so. */
pxb_status rt_check_sampler(pxb_context *context, pxb_texel texel, uint32_t dims, const pxb_sampler *sampler);
/* Bytes of a texel component. */
uint32_t rt_texel_bytes(pxb_texel texel);

#endif
