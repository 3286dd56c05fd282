/* real.h - statistics and dumps of launches whose calls are forwarded to a real driver.
 *
 * That driver tells less than a case needs: neither the PTX of a module, nor what a texture object was made from, nor which modules and
 * kernels there are. So under DR_MODE_SPY the calls that make such things pass through hooks (real_<symbol>), which hand them on as
 * they came and then note the handles that came back. Where the driver can be asked later it is asked, and nothing is noted.
 */
#ifndef DRIVER_REAL_H
#define DRIVER_REAL_H

#include "runtime/driver/driver.h"
#include "runtime/driver/dump.h"

/* The real driver's function; NULL in a driver that lacks it. For hooks: the form that was called, of the two that some functions have. */
#define DR_REAL(symbol) ((__typeof__(impl_##symbol) *)(uintptr_t)dr_real[DR_ROW_##symbol][0])
#define DR_NEXT(symbol) ((__typeof__(impl_##symbol) *)(uintptr_t)dr_real[DR_ROW_##symbol][dr_per_thread])

/* Every function that has a hook. */
#define DR_REAL_HOOKS(X)                                                                                               \
    X(cuInit) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxRelease_v2)                 \
    X(cuDevicePrimaryCtxReset) X(cuDevicePrimaryCtxReset_v2) X(cuCtxDestroy) X(cuCtxDestroy_v2)                        \
    X(cuModuleLoad) X(cuModuleLoadData) X(cuModuleLoadDataEx) X(cuModuleLoadFatBinary) X(cuModuleUnload)               \
    X(cuModuleGetFunction) X(cuModuleEnumerateFunctions) X(cuLinkCreate) X(cuLinkCreate_v2) X(cuLinkAddData)           \
    X(cuLinkAddData_v2) X(cuLinkAddFile) X(cuLinkAddFile_v2) X(cuLinkComplete) X(cuLinkDestroy) X(cuLibraryLoadData)   \
    X(cuLibraryLoadFromFile) X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuLibraryEnumerateKernels)                     \
    X(cuLibraryGetModule) X(cuKernelGetFunction)                                                                       \
    X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuLaunchCooperativeKernel) X(cuFuncSetBlockShape) X(cuFuncSetSharedSize)   \
    X(cuParamSetSize) X(cuParamSeti) X(cuParamSetf) X(cuParamSetv) X(cuLaunch) X(cuLaunchGrid) X(cuLaunchGridAsync)    \
    X(cuGraphLaunch) X(cuStreamBeginCapture) X(cuStreamBeginCapture_v2) X(cuStreamBeginCaptureToGraph)                 \
    X(cuStreamEndCapture) X(cuStreamDestroy) X(cuStreamDestroy_v2)                                                     \
    X(cuMemAlloc_v2) X(cuMemAllocPitch_v2) X(cuMemAllocManaged) X(cuMemAllocHost_v2) X(cuMemHostAlloc)                 \
    X(cuMemHostRegister_v2) X(cuMemHostGetDevicePointer_v2) X(cuMemAllocAsync) X(cuMemAllocFromPoolAsync)              \
    X(cuMemAddressReserve) X(cuIpcOpenMemHandle) X(cuIpcOpenMemHandle_v2) X(cuGraphAddMemAllocNode)                    \
    X(cuArrayDestroy) X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy) X(cuTexObjectCreate) X(cuTexObjectDestroy)  \
    X(cuSurfObjectCreate) X(cuSurfObjectDestroy) X(cuTexRefSetArray) X(cuTexRefSetMipmappedArray)                      \
    X(cuTexRefSetAddress_v2) X(cuTexRefSetAddress2D_v2) X(cuTexRefSetAddress2D_v3)
#define DR_REAL_PROTOTYPE(symbol) __typeof__(impl_##symbol) real_##symbol;
DR_REAL_HOOKS(DR_REAL_PROTOTYPE)

/* Reads the environment: are forwarded calls looked at? Once, before the first of them. */
bool dr_real_spied(void);
/* Said once in a process: `told` is the message's own. */
void dr_real_tell_once(atomic_flag *told, const char *text);
/* The compute capability of the current context's device, else of the first one. */
int dr_real_capability(void);
cu_context dr_real_context(void);
/* A child of fork() whose parent had used the driver: nothing works there, and nothing is noted. */
bool dr_real_usable(void);

/* ------------------------------------------------------------ code (real_code.c) */

/* What a module or library was loaded from. */
typedef struct dr_real_image {
    _Atomic uint32_t uses;
    uint32_t number;               /* for messages */
    char *origin;                  /* the file that it was loaded from, or NULL */
    char *text;                    /* its PTX; NULL: it has none, or nobody dumps */
    size_t length;
    const char *why_none;          /* why there is no text */
    ptx_module *ptx;               /* parsed when first needed, under the lock of real_code.c */
    char *file;                    /* the text's name in the folder of dumps */
    bool told;                     /* that its kernels are not dumped */
    struct dr_real_name *names;    /* of its kernels */
} dr_real_image;

/* A kernel or function as it was when it was looked up; its image and name stay until dr_real_code_drop. */
typedef struct dr_real_code {
    dr_real_image *image;
    const char *name;
    cu_module module;              /* or NULL: of a library */
    cu_library library;
    /* of launches as before CUDA 4 */
    uint32_t old_block[3], old_shared, old_bytes;
} dr_real_code;

/* False: not a handle that we saw. */
bool dr_real_code_find(const void *handle, dr_real_code *out);
void dr_real_code_drop(dr_real_code *code);
/* The block of parameters that cuParamSet… made, `bytes` of it. */
void dr_real_old_params(const void *handle, void *to, size_t bytes);
/* The parsed text; NULL when there is none. */
const ptx_module *dr_real_parsed(dr_real_image *image);
/* Says once, of a kernel or a module without PTX, why launches are not dumped. */
void dr_real_tell(const dr_real_code *code, const char *why);
/* Everything of a context that is going. */
void dr_real_code_leave(cu_context context);

/* ------------------------------------------------------------ launches (real_launch.c, real_time.c) */

/* Around a launch; NULL: it cannot be timed this way. In place of the end: it was refused. */
void *dr_real_time_begin(cu_stream stream);
void dr_real_time_end(void *time, cu_stream stream, const char *kernel);
void dr_real_time_drop(void *time);
/* Takes in some of the times that are there by now. Not while a stream is captured: asking spoils the capture. */
void dr_real_times_collect(void);
/* When a context goes, and at the program's end: what is not there now has none. */
void dr_real_times_leave(cu_context context);
void dr_real_times_end(void);

void dr_real_captures_leave(cu_context context);

/* ------------------------------------------------------------ memory, arrays, textures (real_object.c) */

/* All memory that was allocated since the start lies in [*low, *high). */
void dr_real_bounds(uint64_t *low, uint64_t *high);
void dr_real_extend(uint64_t address, uint64_t bytes);
bool dr_real_object(uint64_t handle, dr_dump_object *out);
void dr_real_object_bounds(uint64_t *first, uint64_t *last);
uint32_t dr_real_levels(cu_mipmap mipmap);
/* What a texture reference was bound to. */
bool dr_real_reference(cu_texref reference, cu_resource *out);
void dr_real_objects_leave(cu_context context);

/* ------------------------------------------------------------ cases (real_handles.c, real_dump.c) */

enum { DR_REAL_MOST_HANDLES = 128 };

/* Words of the parameters that a kernel uses as handles of textures and surfaces. `others`: handles may be met elsewhere, too. */
typedef struct dr_real_handles {
    uint32_t count;
    bool others;
    uint64_t offset[DR_REAL_MOST_HANDLES];
} dr_real_handles;

void dr_real_find_handles(const ptx_module *module, const ptx_function *entry, dr_real_handles *out);

/* A launch as the program asks for it. */
typedef struct dr_real_launch {
    const dr_real_code *code;
    uint32_t grid[3], block[3], shared_bytes;
    bool cooperative, cluster;     /* cluster: of several blocks */
    void **params, **extra;
    const char *why_not;           /* set by dr_real_describe() when no case can be made of it */
} dr_real_launch;

/* What a case of it is made from, or NULL. One at a time: it stays until the next is asked for. */
const dr_dump_source *dr_real_describe(dr_real_launch *launch);

#endif
