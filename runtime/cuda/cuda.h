/* cuda.h - the NVIDIA device's state, and what its parts share.
 *
 * Every operation runs between cuda_enter, which makes our context the thread's current one, and cuda_leave, which
 * puts back what was current: a program may use CUDA by itself beside us. A context that a kernel's fault has broken, or
 * that a kernel occupies beyond its time limit, is never entered again: cuda_enter answers with why.
 */
#ifndef RUNTIME_CUDA_CUDA_H
#define RUNTIME_CUDA_CUDA_H

#include "runtime/cuda/cuda_library.h"
#include "runtime/device.h"

enum { CUDA_PROPERTIES = 10 };

/* A range that the host may read and write: an allocation (module NULL) or a module's variable. */
typedef struct cuda_range {
    cu_address base;
    size_t bytes;
    const void *module;
} cuda_range;

typedef struct cuda_handle {
    cu_object object;
    bool surface;
} cuda_handle;

typedef struct cuda_state {
    const cuda_library *cu;
    cu_device device;
    int ordinal;
    cu_context context;
    cu_event done;
    int major, minor, driver;      /* compute capability; CUDA version of the driver, 1000·major + 10·minor */
    int units, cooperative;        /* multiprocessors; can all blocks of a grid run at once? */
    pxb_status lost;               /* PXB_OK, or the fault after which the context cannot be used */
    bool hung;                     /* lost because a kernel ran past its time limit */
    char lost_by[128];             /* the kernel */
    cuda_range *ranges;
    size_t nranges;
    cuda_handle *handles;
    size_t nhandles;
    uint32_t nproperties;
    struct {
        const char *name;
        char value[128];
    } properties[CUDA_PROPERTIES];
} cuda_state;

typedef struct cuda_kernel cuda_kernel;

typedef struct cuda_loaded {
    cu_module module;
    const ptx_module *ptx;
    cuda_kernel *kernels;
    bool prints;                   /* calls vprintf */
    bool nests;                    /* functions call functions, perhaps themselves */
    bool traps;                    /* has a trap instruction */
} cuda_loaded;

struct cuda_kernel {
    cuda_kernel *next;
    cuda_loaded *owner;
    const ptx_function *ptx;
    cu_function function;
};

static inline cuda_state *cuda_state_of(pxb_device *device)
{
    return device->state;
}

pxb_status cuda_enter(pxb_device *device);
void cuda_leave(pxb_device *device);

pxb_status cuda_status(cu_result result);
/* Records a driver's error. `doing` is a driver function or a phrase. */
pxb_status cuda_fail(pxb_device *device, cu_result result, const char *doing);
/* The same for a result that a kernel may have caused: faults become PXB_FAULT_… and end the context. */
pxb_status cuda_fault(pxb_device *device, const cuda_kernel *kernel, cu_result result);

/* Ranges (device_cuda.c). */
pxb_status cuda_add_range(pxb_device *device, cu_address base, size_t bytes, const void *module);
void cuda_drop_module_ranges(pxb_device *device, const void *module);

/* cuda_module.c */
pxb_status cuda_module_load(pxb_device *device, const ptx_module *module, void **out);
void cuda_module_unload(pxb_device *device, void *module);
pxb_status cuda_global(pxb_device *device, void *module, const ptx_variable *variable, pxb_address *out);
pxb_status cuda_function_address(pxb_device *device, void *module, const ptx_function *function, pxb_address *out);
pxb_status cuda_get_kernel(pxb_device *device, void *module, const ptx_function *function, void **out);

/* cuda_launch.c */
pxb_status cuda_launch(pxb_device *device, void *kernel, const pxb_launch_options *options, const void *params);

/* cuda_image.c */
pxb_status cuda_image_create(pxb_device *device, const pxb_image_desc *desc, pxb_address *out);
void cuda_image_destroy(pxb_device *device, pxb_address image);
pxb_status cuda_image_write(pxb_device *device, const pxb_image_desc *desc, pxb_address image, const void *from);
pxb_status cuda_image_read(pxb_device *device, const pxb_image_desc *desc, pxb_address image, void *to);
pxb_status cuda_texture(pxb_device *device, const pxb_image_desc *desc, pxb_address image, const pxb_sampler *sampler,
                        pxb_handle *out);
pxb_status cuda_surface(pxb_device *device, const pxb_image_desc *desc, pxb_address image, pxb_handle *out);
void cuda_handle_destroy(pxb_device *device, pxb_handle handle);

#endif
