/** @file ptxbridge.h
 *  @brief The public C API of ptxbridge: run PTX kernels where there is no NVIDIA GPU.
 *
 *  A program makes a context, opens a device, loads a module of PTX text, takes a kernel from it
 *  and launches it over device memory:
 *  @code
 *  pxb_context *ctx; pxb_device *dev; pxb_module *mod; pxb_kernel *kernel; pxb_address x;
 *  float host[1024] = {0};
 *  uint32_t n = 1024;
 *  if (pxb_context_create(&ctx)) return 1;
 *  pxb_launch_options launch = PXB_LAUNCH_OPTIONS_INIT;
 *  launch.grid[0] = 8; launch.block[0] = 128;
 *  if (pxb_device_open(ctx, "cpu", &dev) || pxb_module_load_file(ctx, "k.ptx", &mod) ||
 *      pxb_kernel_get(dev, mod, "k", &kernel) || pxb_memory_alloc(dev, sizeof host, &x) ||
 *      pxb_memory_write(dev, x, host, sizeof host) ||
 *      pxb_launch(kernel, &launch, (const void *[]){&x, &n}, 2) ||
 *      pxb_memory_read(dev, host, x, sizeof host))
 *      fprintf(stderr, "%s\n", pxb_last_error(ctx)->message);
 *  pxb_context_destroy(ctx);
 *  @endcode
 *
 *  **Status.** Every call that can fail returns a pxb_status, PXB_OK (0) on success. When it is not
 *  PXB_OK, pxb_last_error() says what was wrong, where and why. A failed call changes nothing and
 *  sets its output parameters to NULL or 0. Objects and output parameters must not be NULL unless a text says
 *  so; a NULL name, path, options or data where one is needed is PXB_BAD_ARGUMENT.
 *
 *  **Lifetime.** A context owns all that is made from it; pxb_context_destroy() frees what is left.
 *  A module may be used on every device of its context. Kernels need no freeing: they live until
 *  their module is freed or their device closed. Strings that a call hands out live as long as the
 *  object that they describe, unless its text says otherwise.
 *
 *  **Threads.** One context, with all its objects, may be used by one thread at a time. Different
 *  contexts share nothing but the disk cache and may be used at the same time.
 *
 *  **Units.** Sizes are bytes, times are milliseconds, unless a name says otherwise.
 */
#ifndef PTXBRIDGE_H
#define PTXBRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PXB_API __attribute__((visibility("default")))
#else
#define PXB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PXB_VERSION_MAJOR 0
#define PXB_VERSION_MINOR 1
#define PXB_VERSION_PATCH 0

/** Version of the library that runs, "major.minor.patch". */
PXB_API const char *pxb_version(void);

/* ---------------------------------------------------------------- status */

/** The outcome of a call. */
typedef enum pxb_status {
    PXB_OK = 0,
    PXB_NO,                 /**< the call worked and its answer is "no": results differ */
    PXB_BAD_ARGUMENT,       /**< wrong use of this API */
    PXB_BAD_INPUT,          /**< malformed PTX, case file, array or picture */
    PXB_NO_PTX,             /**< there is no PTX in this image */
    PXB_UNSUPPORTED,        /**< valid, but this program does not run it; the error names the instruction */
    PXB_NOT_FOUND,          /**< no function, variable, parameter or array of this name */
    PXB_NO_DEVICE,          /**< unknown device, or it is not available here */
    PXB_OUT_OF_MEMORY,
    PXB_IO,                 /**< a file could not be read or written */
    PXB_INTERNAL,           /**< a fault of this program */
    /* Kernel faults: the launch was stopped; device memory holds what was written until then. On "cuda" a fault ends the
     * device: memory is lost, and further calls fail until it is closed and opened again. */
    PXB_FAULT_ADDRESS = 32, /**< an access outside every allocation */
    PXB_FAULT_MISALIGNED,   /**< an address that is not a multiple of the access size */
    PXB_FAULT_TRAP,         /**< the kernel executed `trap` */
    PXB_FAULT_DEADLOCK,     /**< a barrier that can never complete */
    PXB_FAULT_TIMEOUT,      /**< the launch ran longer than its time limit */
    PXB_FAULT_STACK,        /**< calls too deep, or local memory exhausted */
    PXB_FAULT_CALL,         /**< an indirect call or branch to something that is no function or label */
    PXB_FAULT_HANDLE        /**< a texture or surface handle that does not exist */
} pxb_status;

/** Short lower-case name of a status: "ok", "bad input", "illegal address", … Never NULL. */
PXB_API const char *pxb_status_name(pxb_status status);

/** True for the PXB_FAULT_… values. */
static inline bool pxb_is_fault(pxb_status status)
{
    return status >= PXB_FAULT_ADDRESS;
}

/** Owner of devices, modules and the last error. */
typedef struct pxb_context pxb_context;

/** What went wrong, where and why. Unknown strings are NULL and unknown numbers 0. */
typedef struct pxb_error {
    pxb_status status;
    const char *message;     /**< all of the following, ready to print, without a final newline; it may hold
                                  further lines with the source line and a caret */
    const char *reason;      /**< why, in one line, without the place */
    const char *file;
    uint32_t line, column;   /**< from 1 */
    const char *kernel;      /**< function of the module */
    const char *instruction; /**< text of the PTX instruction */
    bool has_thread;         /**< block and thread are known */
    uint32_t block[3], thread[3];
    bool has_address;
    uint64_t address;        /**< of the access that failed */
} pxb_error;

/** Makes a context. @return PXB_OK or PXB_OUT_OF_MEMORY. */
PXB_API pxb_status pxb_context_create(pxb_context **out);

/** Frees a context with all devices, modules and memory made from it. NULL is allowed. */
PXB_API void pxb_context_destroy(pxb_context *context);

/** The error of the last call that failed; status PXB_OK and an empty message before the first one.
 *  Valid until the next call on this context. Never NULL. */
PXB_API const pxb_error *pxb_last_error(const pxb_context *context);

/* ---------------------------------------------------------------- devices */

typedef struct pxb_device pxb_device;

/** A kind of device that this build knows. */
typedef struct pxb_device_info {
    const char *name;        /**< for pxb_device_open */
    const char *description; /**< one line */
    bool available;
    const char *reason;      /**< why it is not available, else NULL; valid until the next call on the context */
    const char *choices;     /**< what may follow "name:", separated by blanks: "gfx1100 gfx1201"; NULL when nothing may;
                                  valid as long as reason */
    bool needs_choice;       /**< the name alone cannot be opened */
} pxb_device_info;

/** One property of an open device, e.g. {"workers", "4"}: values are text, numbers in decimal. */
typedef struct pxb_property {
    const char *name, *value;
} pxb_property;

/** Number of device kinds that this build knows. */
PXB_API uint32_t pxb_device_kind_count(void);

/** Describes kind `index`, and tries whether it is available. @return PXB_OK or PXB_BAD_ARGUMENT. */
PXB_API pxb_status pxb_device_kind(pxb_context *context, uint32_t index, pxb_device_info *out);

/** Opens a device by name, "cpu", "hip:1", "sim:gfx1100"; NULL means "cpu".
 *  @return PXB_NO_DEVICE when the name is unknown (the error names the known ones) or the device is not available. */
PXB_API pxb_status pxb_device_open(pxb_context *context, const char *name, pxb_device **out);

/** Closes a device: its memory, images and kernels are gone. NULL is allowed. */
PXB_API void pxb_device_close(pxb_device *device);

/** Property `index` of a device. @return PXB_NOT_FOUND after the last one. The strings live as long as the device. */
PXB_API pxb_status pxb_device_property(pxb_device *device, uint32_t index, pxb_property *out);

/** A number that a device counts while it runs kernels, e.g. {"VALU instructions", 1200}. */
typedef struct pxb_counter {
    const char *name;
    uint64_t value;          /**< of all launches since the device was opened */
} pxb_counter;

/** Counter `index` of a device. @return PXB_NOT_FOUND after the last one, at once on a device that counts nothing. */
PXB_API pxb_status pxb_device_counter(pxb_device *device, uint32_t index, pxb_counter *out);

/* ---------------------------------------------------------------- memory */

/** An address in a device's global memory; 0 is no address. Kernels take it as a .u64 parameter. */
typedef uint64_t pxb_address;

/** Allocates `bytes` > 0 bytes, aligned to 256, contents undefined. @return PXB_OUT_OF_MEMORY if there is no room. */
PXB_API pxb_status pxb_memory_alloc(pxb_device *device, size_t bytes, pxb_address *out);
/** Frees an allocation by its first address; 0 is allowed. */
PXB_API pxb_status pxb_memory_free(pxb_device *device, pxb_address address);
/** Host to device. The range must lie in one allocation or module variable (true for the next three as well). */
PXB_API pxb_status pxb_memory_write(pxb_device *device, pxb_address to, const void *from, size_t bytes);
/** Device to host. */
PXB_API pxb_status pxb_memory_read(pxb_device *device, void *to, pxb_address from, size_t bytes);
/** Device to device; the ranges may overlap. */
PXB_API pxb_status pxb_memory_copy(pxb_device *device, pxb_address to, pxb_address from, size_t bytes);
/** Sets every byte of a range to `value`. */
PXB_API pxb_status pxb_memory_set(pxb_device *device, pxb_address to, uint8_t value, size_t bytes);

/* ---------------------------------------------------------------- modules */

typedef struct pxb_module pxb_module;
typedef struct pxb_kernel pxb_kernel;

/** Parses and checks PTX text of `length` bytes; `name` stands in messages and may be NULL.
 *  A function that cannot be run does not fail the load: it keeps its symbol, and pxb_kernel_get()
 *  fails for it alone. The load fails when the text has errors and no function at all.
 *  @return PXB_BAD_INPUT, PXB_NO_PTX, PXB_UNSUPPORTED, PXB_OUT_OF_MEMORY */
PXB_API pxb_status pxb_module_load_text(pxb_context *context, const char *text, size_t length, const char *name,
                                        pxb_module **out);
/** The same from a file of up to 1 GiB. @return PXB_IO when it cannot be read. */
PXB_API pxb_status pxb_module_load_file(pxb_context *context, const char *path, pxb_module **out);
/** Frees a module, its kernels, and its variables on every device. NULL is allowed. */
PXB_API void pxb_module_free(pxb_module *module);

typedef enum pxb_severity { PXB_NOTE, PXB_WARNING, PXB_ERROR } pxb_severity;

/** One remark of the parser. */
typedef struct pxb_diagnostic {
    pxb_severity severity;
    pxb_status status;       /**< PXB_OK for notes and warnings, else PXB_BAD_INPUT, PXB_UNSUPPORTED, … */
    uint32_t line, column;   /**< from 1 */
    const char *function;    /**< enclosing function or NULL */
    const char *message;     /**< one line */
    const char *text;        /**< "file:line:column: error: message", source line and caret; valid until the next
                                  call on this module */
} pxb_diagnostic;

/** Remarks kept (at most 100); *errors (may be NULL) receives the number of errors found in all. */
PXB_API uint32_t pxb_module_diagnostic_count(const pxb_module *module, uint32_t *errors);
/** @return PXB_BAD_ARGUMENT when index is too large. */
PXB_API pxb_status pxb_module_diagnostic(pxb_module *module, uint32_t index, pxb_diagnostic *out);

/** A function of a module. */
typedef struct pxb_function_info {
    const char *name;
    bool is_entry, is_declaration;
    pxb_status status;          /**< PXB_OK, or why it cannot be run */
    uint32_t line;              /**< of its name */
    uint32_t params;            /**< number of parameters */
    size_t param_bytes;         /**< size of an entry's parameter block */
    size_t local_bytes;         /**< .local memory of one thread */
    uint32_t required_block[3]; /**< .reqntid, zeros when not given */
    uint32_t max_block[3];      /**< .maxntid, zeros when not given */
    uint32_t instructions;
} pxb_function_info;

/** A parameter: `bytes` at `offset` of the parameter block. */
typedef struct pxb_param_info {
    const char *name;
    const char *type;           /**< PTX element type, "u64", "b8", … */
    size_t offset, bytes, align;
    bool is_pointer;            /**< declared with .ptr */
} pxb_param_info;

PXB_API uint32_t pxb_module_function_count(const pxb_module *module);
/** @return PXB_BAD_ARGUMENT when index is too large. */
PXB_API pxb_status pxb_module_function(const pxb_module *module, uint32_t index, pxb_function_info *out);
/** Parameter `index` of function number `function`. @return PXB_BAD_ARGUMENT when an index is too large. */
PXB_API pxb_status pxb_module_param(const pxb_module *module, uint32_t function, uint32_t index, pxb_param_info *out);

/** Takes an entry for a device, loading the module there at first use.
 *  @return PXB_NOT_FOUND, or why it cannot be run: PXB_BAD_INPUT, PXB_UNSUPPORTED with line and instruction. */
PXB_API pxb_status pxb_kernel_get(pxb_device *device, pxb_module *module, const char *name, pxb_kernel **out);

/** Address and size of a .global or .const variable on a device. @return PXB_NOT_FOUND. `bytes` may be NULL. */
PXB_API pxb_status pxb_global_get(pxb_device *device, pxb_module *module, const char *name, pxb_address *out,
                                  size_t *bytes);
/** Address of a function, for a kernel that takes a function pointer. @return PXB_NOT_FOUND. */
PXB_API pxb_status pxb_function_address(pxb_device *device, pxb_module *module, const char *name, pxb_address *out);

/* ---------------------------------------------------------------- launches */

/** Whose tensor cores the mma instructions equal bit for bit (source: MMA-Sim, arXiv 2511.10909). */
typedef enum pxb_mma_model {
    PXB_MMA_ADA = 0,         /**< sm_89, the default */
    PXB_MMA_HOPPER,
    PXB_MMA_BLACKWELL,       /**< RTX Blackwell */
    PXB_MMA_AMPERE,
    PXB_MMA_TURING,
    PXB_MMA_VOLTA,
    PXB_MMA_IEEE             /**< f32 fma in order of k and one final rounding */
} pxb_mma_model;

/** "ada", "hopper", … ; NULL for a value outside the enumeration. */
PXB_API const char *pxb_mma_model_name(pxb_mma_model model);
/** The reverse. @return false if there is no such name. */
PXB_API bool pxb_mma_model_from_name(const char *name, pxb_mma_model *out);

/** Receives what printf of a kernel writes, in pieces; called on the thread that called pxb_launch(). */
typedef void (*pxb_print_fn)(void *user, const char *text, size_t length);

/** How to launch. Start from PXB_LAUNCH_OPTIONS_INIT, which gives one block of one thread. */
typedef struct pxb_launch_options {
    size_t struct_size;      /**< sizeof(pxb_launch_options), so that later versions can add members */
    uint32_t grid[3];        /**< blocks, each ≥ 1 */
    uint32_t block[3];       /**< threads of a block, each ≥ 1, product at most 1024 */
    uint32_t shared_bytes;   /**< dynamic shared memory of a block */
    pxb_mma_model mma_model;
    bool check;              /**< test each access against exact allocation bounds (slower) */
    uint32_t timeout_ms;     /**< 0 = no limit */
    pxb_print_fn print;      /**< NULL writes the text to stdout */
    void *print_user;
    bool mma_fast;           /**< AMD devices: mma on matrix cores, see pxb_translate_options; no effect elsewhere */
    uint32_t stack_bytes;    /**< CPU device: local memory of a thread for calls and alloca; 0 = 16 KiB */
    bool cooperative;        /**< all blocks run at once, so that they may wait for each other: by atomics, or by grid.sync() of
                                  cooperative groups, whose barrier lies where %envreg1 and %envreg2 lead */
} pxb_launch_options;

#define PXB_LAUNCH_OPTIONS_INIT \
    {sizeof(pxb_launch_options), {1, 1, 1}, {1, 1, 1}, 0, PXB_MMA_ADA, false, 0, 0, 0, false, 0, false}

/** Runs a kernel and waits for its end. `params[i]` points to the value of parameter i, of the size that
 *  pxb_module_param() gives; `count` must be the number of parameters.
 *  @return a PXB_FAULT_… with kernel, line, block and thread in the error; PXB_BAD_ARGUMENT for a launch
 *  that the kernel does not allow (.reqntid, .maxntid, sizes), and for a cooperative one of more blocks than run at once, which says how
 *  many do; PXB_UNSUPPORTED for a cooperative launch on a device that cannot have all blocks at once. */
PXB_API pxb_status pxb_launch(pxb_kernel *kernel, const pxb_launch_options *options, const void *const *params,
                              uint32_t count);
/** The same with the parameter block as one piece of `bytes` bytes (pxb_function_info.param_bytes). */
PXB_API pxb_status pxb_launch_packed(pxb_kernel *kernel, const pxb_launch_options *options, const void *block,
                                     size_t bytes);

/* ---------------------------------------------------------------- textures and surfaces */

/** Texel components. */
typedef enum pxb_texel {
    PXB_TEXEL_U8, PXB_TEXEL_S8, PXB_TEXEL_U16, PXB_TEXEL_S16, PXB_TEXEL_U32, PXB_TEXEL_S32, PXB_TEXEL_F16,
    PXB_TEXEL_F32
} pxb_texel;

/** An array of texels: x runs fastest, then y, then z; components of a texel are adjacent, rows are not padded. */
typedef struct pxb_image_desc {
    uint32_t dims;                 /**< 1, 2 or 3 */
    uint32_t width, height, depth; /**< texels; 1 for dimensions beyond dims */
    uint32_t channels;             /**< 1, 2 or 4 */
    pxb_texel texel;
} pxb_image_desc;

typedef enum pxb_address_mode {
    PXB_ADDRESS_WRAP, PXB_ADDRESS_CLAMP, PXB_ADDRESS_MIRROR, PXB_ADDRESS_BORDER
} pxb_address_mode;
typedef enum pxb_filter { PXB_FILTER_POINT, PXB_FILTER_LINEAR } pxb_filter;
typedef enum pxb_read_mode {
    PXB_READ_ELEMENT,              /**< texels as they are */
    PXB_READ_NORMALIZED_FLOAT      /**< 8- and 16-bit integers as [0, 1] or [-1, 1] */
} pxb_read_mode;

/** How a texture is sampled (CUDA Programming Guide, "Texture Fetching"). */
typedef struct pxb_sampler {
    pxb_address_mode address[3];   /**< for x, y, z; wrap and mirror need normalised coordinates */
    pxb_filter filter;             /**< linear needs float results */
    pxb_read_mode read;
    bool normalized_coords;
} pxb_sampler;

typedef struct pxb_image pxb_image;

/** What a kernel takes as a .u64 parameter for a texture or surface; 0 is none. */
typedef uint64_t pxb_handle;

/** Makes an image, contents zero. */
PXB_API pxb_status pxb_image_create(pxb_device *device, const pxb_image_desc *desc, pxb_image **out);
/** Frees an image with its textures and surfaces. NULL is allowed. */
PXB_API void pxb_image_destroy(pxb_image *image);
/** Size of all texels in bytes. */
PXB_API size_t pxb_image_bytes(const pxb_image *image);
/** Writes all texels; `bytes` must be pxb_image_bytes(). */
PXB_API pxb_status pxb_image_write(pxb_image *image, const void *from, size_t bytes);
/** Reads all texels. */
PXB_API pxb_status pxb_image_read(pxb_image *image, void *to, size_t bytes);
/** Makes a texture over an image; many may share one. */
PXB_API pxb_status pxb_texture_create(pxb_image *image, const pxb_sampler *sampler, pxb_handle *out);
/** Makes a surface over an image. */
PXB_API pxb_status pxb_surface_create(pxb_image *image, pxb_handle *out);
/** Destroys a texture or surface of this image; 0 is allowed. */
PXB_API pxb_status pxb_handle_destroy(pxb_image *image, pxb_handle handle);

/* ---------------------------------------------------------------- translation */

/** LLVM IR and assembly are text; an object is relocatable ELF; HSACO is the object linked, as HIP loads it. */
typedef enum pxb_emit { PXB_EMIT_LLVM, PXB_EMIT_ASM, PXB_EMIT_OBJECT, PXB_EMIT_HSACO } pxb_emit;

/** A piece of memory handed to the caller, to be given back with pxb_blob_free(). */
typedef struct pxb_blob {
    void *data;
    size_t bytes;
    bool from_cache;         /**< found in the disk cache */
    char *left_out;          /**< a line for each entry that is not in it, with the reason, when all were asked for; NULL: none */
} pxb_blob;

/** How to translate. Start from PXB_TRANSLATE_OPTIONS_INIT. */
typedef struct pxb_translate_options {
    size_t struct_size;      /**< sizeof(pxb_translate_options) */
    const char *target;      /**< AMD target, "gfx1100", "gfx942", …: see pxb_translate_target() */
    const char *entry;       /**< this entry with all that it calls; NULL = every entry that can be run */
    pxb_emit emit;
    pxb_mma_model mma_model;
    bool unoptimised;        /**< PXB_EMIT_LLVM: the IR before LLVM's passes */
    bool mma_fast;           /**< mma by WMMA or MFMA where the target has it: faster, and no model's bits but AMD's sums */
} pxb_translate_options;

#define PXB_TRANSLATE_OPTIONS_INIT {sizeof(pxb_translate_options), 0, 0, PXB_EMIT_OBJECT, PXB_MMA_ADA, false, false}

/** Translates for an AMD GPU. The same input gives the same bytes. Results are kept in the disk cache. When all entries are asked for,
 *  those that cannot be translated are left out and named in the blob; when none is left, that is an error.
 *  @return PXB_UNSUPPORTED with instruction and line, also without a translator in this build or for an unknown target. */
PXB_API pxb_status pxb_translate(pxb_module *module, const pxb_translate_options *options, pxb_blob *out);
/** Which way each kind of mma of a module goes on a target under mma_fast: lines "meaning: instruction" or "meaning: exact".
 *  `text` receives at most `size` bytes with the final zero; lines that do not fit are left out. */
PXB_API pxb_status pxb_translate_mma_notes(pxb_module *module, const char *target, char *text, size_t size);
/** Name of target number `index`; NULL after the last one, at once when this build has no translator. */
PXB_API const char *pxb_translate_target(uint32_t index);
/** Gives a blob back; its members become 0. */
PXB_API void pxb_blob_free(pxb_blob *blob);

/* ---------------------------------------------------------------- disk cache */

/** One entry of the disk cache. */
typedef struct pxb_cache_entry {
    const char *key;         /**< 64 hexadecimal digits */
    const char *label;       /**< what it is, e.g. "gfx1100 obj saxpy" */
    uint64_t bytes;
    int64_t used;            /**< last use, seconds since 1970 */
    bool damaged;            /**< only pxb_cache_verify() looks */
} pxb_cache_entry;

/** Receives entries, most recently used first; return false to stop. */
typedef bool (*pxb_cache_fn)(void *user, const pxb_cache_entry *entry);

/** The cache's folder: $XDG_CACHE_HOME/ptxbridge or ~/.cache/ptxbridge; NULL when PTXBRIDGE_CACHE=0 turns it
 *  off or neither variable is set. Lives as long as the context. */
PXB_API const char *pxb_cache_path(pxb_context *context);
/** Lists the entries. `visit` may be NULL; *entries and *bytes (may be NULL) receive their number and size. */
PXB_API pxb_status pxb_cache_list(pxb_context *context, pxb_cache_fn visit, void *user, uint64_t *entries,
                                  uint64_t *bytes);
/** Reads every entry and removes the damaged ones, which are remade at their next use.
 *  @return PXB_NO when there were damaged entries, with their number in *damaged. */
PXB_API pxb_status pxb_cache_verify(pxb_context *context, pxb_cache_fn visit, void *user, uint64_t *damaged);
/** Removes every entry; *removed (may be NULL) receives their number. */
PXB_API pxb_status pxb_cache_clear(pxb_context *context, uint64_t *removed);

#ifdef __cplusplus
}
#endif

#endif
