/* device_amd.h - what devices that run AMD code objects have in common; a backend (HIP, the simulator) supplies the rest.
 *
 * Variables: a module's .global and .const variables are allocations that the host makes and fills when the module comes to
 * the device. Code objects, of which there is one per kernel, hold no variables; each has a table of their addresses
 * (pxb_variables), filled in when the object is loaded. So kernels are translated one by one, when they are first asked
 * for, and still share one set of variables. Where addresses of functions are taken, one code object holds the whole
 * module, because a function must have one address; its table pxb_functions says which.
 *
 * Memory: every allocation is in a sorted list, against which ranges that the host names are checked.
 */
#ifndef RUNTIME_DEVICE_AMD_H
#define RUNTIME_DEVICE_AMD_H

#include "runtime/device.h"
#include "runtime/translate.h"

/* Ways of an mma: a model's number in the exact mode, and that plus AMD_FAST on matrix cores (what has none keeps the model). */
enum { AMD_FAST = PXB_MMA_IEEE + 1, AMD_WAYS = 2 * AMD_FAST };

typedef struct amd_run {
    uint32_t grid[3], block[3], shared;
    const void *params;
    size_t bytes;
    uint32_t timeout_ms;
    bool cooperative;                        /* all blocks at once */
} amd_run;

typedef struct amd_kernel amd_kernel;
typedef struct amd_object amd_object;

/* Every function that can fail records the error in device->context. Ranges have been checked. */
typedef struct amd_backend {
    bool survives_faults;                    /* memory can be read after a fault */
    bool names_instructions;                 /* a fault comes with its machine instruction */
    pxb_status (*alloc)(pxb_device *device, size_t bytes, pxb_address *out);
    pxb_status (*free)(pxb_device *device, pxb_address address);
    /* Memory at one address for kernels and the host; NULL where all is such. */
    pxb_status (*alloc_shared)(pxb_device *device, size_t bytes, bool managed, pxb_address *out);
    pxb_status (*free_shared)(pxb_device *device, pxb_address address, bool managed);
    pxb_status (*write)(pxb_device *device, pxb_address to, const void *from, size_t bytes);
    pxb_status (*read)(pxb_device *device, void *to, pxb_address from, size_t bytes);
    pxb_status (*copy)(pxb_device *device, pxb_address to, pxb_address from, size_t bytes);
    pxb_status (*set)(pxb_device *device, pxb_address to, uint8_t value, size_t bytes);
    pxb_status (*load)(pxb_device *device, const void *code, size_t bytes, void **out);
    void (*unload)(pxb_device *device, void *loaded);
    /* The address of a variable of a code object, 0 if it has none of this name. */
    pxb_address (*symbol)(pxb_device *device, void *loaded, const char *name);
    pxb_status (*kernel)(pxb_device *device, void *loaded, const char *name, void **out);
    /* Runs and waits. `object` is for amd_fault, when the backend knows where a fault was. */
    pxb_status (*run)(pxb_device *device, void *kernel, const amd_run *run, const amd_kernel *of, const amd_object *object);
    pxb_status (*blocks_at_once)(pxb_device *device, void *kernel, uint32_t threads, uint32_t shared_bytes, uint64_t *out);
} amd_backend;

typedef enum amd_memory { AMD_OWN, AMD_PINNED, AMD_MANAGED } amd_memory;
typedef struct amd_range { pxb_address base; size_t bytes; amd_memory memory; bool held; } amd_range;   /* held: see amd_hold */

/* The first member of a backend's device->state. */
typedef struct amd_device {
    const amd_backend *backend;
    char target[16];
    amd_range *ranges;                       /* sorted by base */
    size_t nranges, range_capacity;
    pxb_address print_buffer, heap, fault_record, texture_header, texture_slots, workspace;   /* made when first needed */
    uint8_t *slot_used;
} amd_device;

static inline amd_device *amd_of(pxb_device *device) { return device->state; }

/* A loaded code object. */
struct amd_object {
    void *loaded;                            /* the backend's */
    pxb_blob code;                           /* kept for its line table */
    bool prints, faults;                     /* has the global that the host has to look after */
    struct amd_object *next;                 /* of the module */
};

typedef struct amd_module {
    pxb_device *device;
    const ptx_module *ptx;
    uint32_t nslots;
    pxb_address *slots;                      /* addresses of variables, by xl_variable_slot */
    pxb_address *allocations;                /* what to free: the same, before alignment */
    amd_object *objects;
    bool takes_addresses;                    /* of functions: the module is one code object */
    amd_object *whole;
    uint32_t whole_way;                      /* see AMD_FAST */
    bool whole_failed;                       /* a small module could not be translated at once: kernels go one by one */
    uint8_t *left_out;                       /* functions that could not be translated: see xl_options */
    char **why;                              /* by function: the reason, NULL where it is that of a callee */
    pxb_address *functions;                  /* by index, from the whole object */
    amd_kernel *kernels;
} amd_module;

struct amd_kernel {
    amd_module *module;
    const ptx_function *function;
    bool uses_model;
    struct { amd_object *object; void *kernel; } variants[AMD_WAYS];    /* [0] alone where the model does not matter */
    struct { amd_object *object; void *kernel; } traced[AMD_WAYS];      /* the same with records, made when asked for */
    struct amd_kernel *next;
};

/* ------------------------------------------------------------ memory (device_amd.c) */

pxb_status amd_alloc(pxb_device *device, size_t bytes, pxb_address *out);
pxb_status amd_alloc_shared(pxb_device *device, size_t bytes, bool managed, pxb_address *out);
pxb_status amd_free(pxb_device *device, pxb_address address);
/* Makes an allocation a module's, for its variables: callers can read and write it, but not free it. */
void amd_hold(pxb_device *device, pxb_address address);
void amd_free_held(pxb_device *device, pxb_address address);
/* After the device lost everything that was on it. */
void amd_forget(pxb_device *device);
/* The allocation that holds an address; NULL if none does. */
const amd_range *amd_range_of(const amd_device *d, pxb_address address);

/* ------------------------------------------------------------ modules (device_amd_module.c) */

pxb_status amd_module_load(pxb_device *device, const ptx_module *ptx, void **out);
void amd_module_unload(pxb_device *device, void *module);
pxb_status amd_global(pxb_device *device, void *module, const ptx_variable *variable, pxb_address *out);
pxb_status amd_function(pxb_device *device, void *module, const ptx_function *function, pxb_address *out);
pxb_status amd_kernel_get(pxb_device *device, void *module, const ptx_function *function, void **out);
static inline uint32_t amd_way(const pxb_launch_options *o) { return (uint32_t)o->mma_model + (o->mma_fast ? AMD_FAST : 0); }
/* Makes sure that the kernel is there for this way of its mma. */
pxb_status amd_kernel_variant(amd_kernel *kernel, uint32_t way, amd_object **object, void **loaded);
/* The same with code that records what instructions write (ptx/trace.h). */
pxb_status amd_kernel_traced(amd_kernel *kernel, uint32_t way, amd_object **object, void **loaded);

/* Why the function cannot be called for which `target` stands (PXL_NO_FUNCTION), and its name; NULL when it stands for none. */
const char *amd_why_not_called(const amd_module *m, uint64_t target, const char **name);

/* ------------------------------------------------------------ after a launch (device_amd_report.c) */

/* Where a fault was; what is unknown is 0. */
typedef struct amd_place {
    uint32_t line, column;
    bool has_thread;
    uint32_t block[3], thread[3];
    bool has_address;
    uint64_t address;
} amd_place;

/* Records a fault of a kernel, with the PTX instruction at the place. */
pxb_status amd_fault(const amd_kernel *kernel, pxb_status status, const amd_place *place, const char *format, ...) RT_PRINTF(4, 5);
/* Line and column of the PTX for an offset in the code object's text section. False when its line table does not say. */
bool amd_line_of(const amd_object *object, uint64_t pc, uint32_t *line, uint32_t *column);
/* What follows a launch that ended with `status`: printed text, and the fault that the kernel left on record, which is more exact than
 * what the machine says. The record is empty again afterwards. */
pxb_status amd_finish_launch(const amd_kernel *kernel, const pxb_launch_options *options, const amd_object *object, pxb_status status);

/* ------------------------------------------------------------ launches (device_amd.c) */

/* Runs one of a kernel's codes, with all blocks at once where the options ask for it, and looks after what it left. */
pxb_status amd_run_code(pxb_device *device, amd_kernel *kernel, const pxb_launch_options *options, const void *params, amd_object *object,
                        void *loaded);

/* ------------------------------------------------------------ the rows that a backend's rt_device_ops shares */

pxb_status amd_write(pxb_device *device, pxb_address to, const void *from, size_t bytes);
pxb_status amd_read(pxb_device *device, void *to, pxb_address from, size_t bytes);
pxb_status amd_copy(pxb_device *device, pxb_address to, pxb_address from, size_t bytes);
pxb_status amd_set(pxb_device *device, pxb_address to, uint8_t value, size_t bytes);
pxb_status amd_launch(pxb_device *device, void *kernel, const pxb_launch_options *options, const void *params);
pxb_status amd_blocks_at_once(pxb_device *device, void *kernel, uint32_t threads, uint32_t shared_bytes, uint64_t *out);
pxb_status amd_trace(pxb_device *device, void *kernel, const pxb_launch_options *options, const void *params,
                     struct rt_trace *trace);           /* device_amd_trace.c */
pxb_status amd_texture(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, const pxb_sampler *sampler, pxb_handle *out);
pxb_status amd_surface(pxb_device *device, const pxb_image_desc *desc, pxb_address texels, pxb_handle *out);
bool amd_heap_block(pxb_device *device, pxb_address address, pxb_address *base, uint64_t *bytes);
pxb_status amd_descriptor(pxb_device *device, const struct pxl_texture *texture, pxb_handle *out);
void amd_handle_destroy(pxb_device *device, pxb_handle handle);
/* Gives back what the device made for itself; the backend's state is the backend's. */
void amd_release(pxb_device *device);
/* The buffers behind pxb_printf_buffer, pxb_heap, pxb_fault_record and pxb_textures, made at the first call. */
pxb_status amd_support(pxb_device *device, const char *symbol, pxb_address *out);

#define AMD_DEVICE_ROWS                                                                                                       \
    .alloc = amd_alloc, .free = amd_free, .write = amd_write, .read = amd_read, .copy = amd_copy, .set = amd_set,             \
    .module_load = amd_module_load, .module_unload = amd_module_unload, .global = amd_global, .function = amd_function,       \
    .kernel = amd_kernel_get, .trace = amd_trace, .texture = amd_texture, .surface = amd_surface, .handle_destroy = amd_handle_destroy, \
    .descriptor = amd_descriptor, .heap_block = amd_heap_block, .blocks_at_once = amd_blocks_at_once

#endif
