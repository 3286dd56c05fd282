/* driver.h - what the parts of libcuda.so.1 share.
 *
 * Objects. A handle is a pointer to an object that begins with a dr_object. Memory of objects is used again for objects of
 * the same kind and never given back, so a stale handle is found out by its kind (0 when dead) and is never a crash.
 *
 * Locks, in the order in which they are taken: the context's and the device's `lock` (calls of pxb_…, which one
 * thread at a time may make on a device), the memory table's (memory.c), dr_lock (streams, events, lists of objects; never held
 * while anything runs).
 *
 * Time. What a stream has to do is a dr_work. It is run by the stream's own thread, or at once by the caller when the call waits
 * anyway and nothing is before it. A point of a stream is done when `completed` has reached its ticket.
 */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/device.h"
#include "runtime/driver/export.h"
#include "runtime/module.h"

#define DR_ERROR(name) CUABI_CUDA_ERROR_##name

/* The CUDA version that this library stands for. */
enum { DR_VERSION = 13000 };

/* ------------------------------------------------------------ objects (object.c) */

typedef enum dr_kind {
    DR_DEAD, DR_CONTEXT, DR_MODULE, DR_FUNCTION, DR_LIBRARY, DR_KERNEL, DR_STREAM, DR_EVENT, DR_ARRAY, DR_MIPMAP, DR_TEXREF,
    DR_TEXTURE, DR_GRAPH, DR_NODE, DR_EXEC, DR_POOL, DR_LINK, DR_USER_OBJECT, DR_PHYSICAL, DR_KINDS
} dr_kind;

typedef struct dr_object {
    _Atomic uint32_t kind;         /* DR_DEAD: the handle is stale */
    struct dr_object *next_dead, *next_all;
} dr_object;

/* Zeroed but for the head; NULL without memory. */
void *dr_object_new(dr_kind kind, size_t bytes);
void dr_object_free(void *object, dr_kind kind);
/* The object behind a handle, or NULL when it is none of this kind. */
void *dr_object_of(const void *handle, dr_kind kind);
dr_kind dr_kind_of(const void *handle);

extern pthread_mutex_t dr_lock;

/* Decides what this library is in this process, once. */
void dr_decide(void);

/* ------------------------------------------------------------ devices (state.c, device.c) */

typedef struct dr_context dr_context;
typedef struct dr_stream dr_stream;
typedef struct dr_event dr_event;
typedef struct dr_shared_event dr_shared_event;
typedef struct dr_module dr_module;
typedef struct dr_function dr_function;
typedef struct dr_pool dr_pool;
typedef struct dr_capture dr_capture;

typedef struct dr_device {
    int ordinal;
    char choice[64];               /* as PTXBRIDGE_DEVICE names it */
    char name[128];
    int capability;                /* 89 */
    pxb_mma_model mma_model;
    pthread_mutex_t lock;
    pxb_context *pxb;
    pxb_device *device;            /* opened when first needed; then not changed */
    bool concurrent;               /* launches and copies need no lock */
    bool host_addresses;           /* device pointers are addresses of this process */
    bool shares_memory;            /* that, or it gives memory at one address for kernels and the host */
    uint64_t memory_bytes;
    _Atomic uint64_t memory_used, graph_memory;   /* graph_memory: of allocation nodes */
    uint32_t processors;
    dr_context *primary;
    uint32_t primary_count, primary_flags;
    dr_pool *default_pool, *current_pool;
} dr_device;

/* 0 when the library has been initialised, else CUDA_ERROR_NOT_INITIALIZED. */
cu_result dr_ready(void);
/* In a child of fork(): what was made before belongs to the parent, and neither threads nor locks came along. Everything answers
 * CUDA_ERROR_NOT_INITIALIZED, as under NVIDIA's driver. */
extern bool dr_forked;
/* While a host function or callback of a stream runs in this thread. */
extern _Thread_local bool dr_in_callback;
int dr_device_count(void);
/* The tensor cores of a GPU of this capability. */
pxb_mma_model dr_model_of(int capability);
dr_device *dr_device_at(int ordinal);
/* Opens what pxb has to open. */
cu_result dr_device_open(dr_device *device);
/* A device's operations with errors kept apart, for calls beside others: `view` is used like device->device. */
void dr_device_view(const dr_device *device, pxb_context *errors, pxb_device *view);
/* The calling thread's pxb context for errors; never NULL after dr_device_open. */
pxb_context *dr_thread_errors(void);

/* ------------------------------------------------------------ errors and the log (log.c) */

cu_result dr_result(pxb_status status);
const char *dr_error_name(cu_result result);
const char *dr_error_text(cu_result result);
/* Records what a failed call has to say, under PTXBRIDGE_LOG on stderr. Returns `result`. */
cu_result dr_fail(cu_result result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with the message of a pxb context. */
cu_result dr_fail_pxb(pxb_context *pxb, pxb_status status, const char *what);
bool dr_logging(void);
void dr_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------ contexts (context.c) */

struct dr_context {
    dr_object head;
    dr_device *device;
    bool primary;
    uint32_t flags, api_version;
    uint64_t id;
    _Atomic int32_t sticky;        /* the error that ended this context, or 0 */
    _Atomic uint32_t captures;     /* of blocking streams: the legacy stream may not be used meanwhile */
    dr_stream *legacy;
    dr_stream *streams;            /* all of this context that are alive or have work left, the legacy one too */
    dr_module *modules;
    size_t limits[10];
    int32_t cache_config, shared_config;
    pthread_mutex_t print_lock;
    char *printed;
    size_t nprinted, print_capacity;
    dr_context *next;              /* all contexts */
};

/* The current context of this thread, or NULL. */
dr_context *dr_context_current(void);
/* The same for a call that needs it sound: *out, or the error to answer with. */
cu_result dr_context_use(dr_context **out);
/* As dr_context_use, but a context that ended with an error is given as well. */
cu_result dr_context_look(dr_context **out);
/* Waits for all of a context's streams, prints what kernels printed. */
cu_result dr_context_wait(dr_context *context);
/* Waits for all streams of all contexts of a device. */
void dr_device_wait(dr_device *device);
void dr_contexts_forked(void);
void dr_print(void *context, const char *text, size_t length);   /* a pxb_print_fn */
void dr_print_flush(dr_context *context);

#define DR_USE(c)                                                                                                      \
    dr_context *c;                                                                                                     \
    cu_result c##_result_ = dr_context_use(&c);                                                                        \
    if (c##_result_)                                                                                                   \
    return c##_result_
/* For calls that a strict capture does not allow beside it. */
#define DR_USE_UNCAPTURED(c)                                                                                           \
    DR_USE(c);                                                                                                         \
    c##_result_ = dr_capture_forbids_unsafe();                                                                         \
    if (c##_result_)                                                                                                   \
    return c##_result_
#define DR_NEED(pointer)                                                                                               \
    if (!(pointer))                                                                                                    \
    return DR_ERROR(INVALID_VALUE)

/* ------------------------------------------------------------ memory (memory.c) */

typedef enum dr_memory_kind {
    DR_MEMORY_DEVICE, DR_MEMORY_HOST, DR_MEMORY_REGISTERED, DR_MEMORY_MANAGED, DR_MEMORY_VARIABLE,
    DR_MEMORY_MAPPED               /* by cuMemMap: memory of the process in addresses of the device (virtual.c); of no context */
} dr_memory_kind;

typedef struct dr_range {
    uint64_t base, bytes;
    dr_memory_kind kind;
    uint32_t flags;
    dr_context *context;           /* that owns it */
    dr_device *device;
    uint64_t id;
    dr_pool *pool;
    bool hidden;                   /* texels of an array: no pointer of the program's */
    bool on_device;                /* HOST and MANAGED: the device sees it at the same address */
    bool read_only;                /* MAPPED */
    bool freeing;                  /* a stream will free it: it may not be freed again */
    bool of_graph;                 /* of an allocation node: the next launch has it again at the same address, so it is never given back */
} dr_range;

/* A copy of the range that holds an address; false: it is plain memory of the process, or nothing. */
bool dr_range_find(uint64_t address, dr_range *out);
cu_result dr_memory_new(dr_context *context, uint64_t bytes, dr_memory_kind kind, uint32_t flags, bool hidden, uint64_t *out);
/* False when no range begins there. `hidden` ones only when asked for. */
cu_result dr_memory_free(uint64_t address, bool hidden);
void dr_memory_leave(dr_context *context);
void dr_textures_leave(dr_context *context);
/* Module variables are found too while their module is loaded. */
/* Lets a device see memory of the process, or no longer. */
bool dr_host_map(dr_device *device, uint64_t address, uint64_t bytes, bool map);
/* cuMemFree of memory that came from a pool. */
cu_result dr_pool_free_now(const dr_range *range);
void dr_range_set_pool(uint64_t base, dr_pool *pool);
void dr_range_set_graph(uint64_t base);
/* Notes that the range that begins there will be freed, or not after all. False when somebody was first. */
bool dr_range_claim(uint64_t base, bool claim);
/* Its turn has come in a stream. */
cu_result dr_pool_free_done(uint64_t address);
/* Below and above all ranges. */
void dr_range_bounds(uint64_t *low, uint64_t *high);
cu_result dr_range_add(const dr_range *range);
void dr_range_remove(uint64_t base);
/* Puts other ranges in place of all those that begin in [low, low + bytes), at once. */
cu_result dr_range_replace(uint64_t low, uint64_t bytes, const dr_range *ranges, size_t count);
/* Counts bytes of the device as used, if there is room for them. */
bool dr_memory_reserve(dr_device *device, uint64_t bytes);

/* ------------------------------------------------------------ advice (advice.c) */

enum { DR_PREFETCHED = 100 };          /* beside the numbers of CUmem_advise */
/* Keeps what was said about managed memory; the arguments are checked. */
cu_result dr_advice_set(uint64_t address, uint64_t bytes, int32_t advice, cu_location where);
void dr_advice_forget(uint64_t address, uint64_t bytes);
/* What was said about all of a range: cuMemRangeGetAttribute. */
cu_result dr_advice_get(void *data, size_t size, int32_t attribute, uint64_t address, uint64_t bytes);

/* ------------------------------------------------------------ copies and sets (copy.c) */

typedef struct dr_array dr_array;

/* One end of a copy: rows of `pitch` bytes, slices of `pitch * height`, all from `address`. */
typedef struct dr_end {
    uint64_t address;
    bool device;                   /* through the device's operations; else plain memory */
    dr_device *owner;              /* of device memory */
    uint64_t pitch, slice;
} dr_end;

typedef struct dr_copy {
    dr_end from, to;
    uint64_t width, height, depth; /* bytes, rows, slices */
    void *staged;                  /* owned copy of the source, when the source may change before the copy runs */
} dr_copy;

typedef struct dr_set {
    dr_device *owner;
    uint64_t address, pitch, width, height;   /* width in elements */
    uint32_t value, element;
    bool plain;                    /* memory of the process, not through the device */
} dr_set;

cu_result dr_copy_run(const dr_copy *copy);
cu_result dr_set_run(const dr_set *set);
cu_result dr_set_describe(dr_context *context, cu_address to, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height,
                          dr_set *out);
/* Fills in and checks a copy described by a program. */
cu_result dr_copy_describe(const cu_memcpy3d *from, dr_copy *out);

/* ------------------------------------------------------------ functions (module.c) */

struct dr_function {
    dr_object head;
    dr_module *module;
    const ptx_function *ptx;
    pxb_kernel *_Atomic kernel;    /* once it has been taken */
    int32_t max_dynamic_shared, carveout, cluster[3], cluster_any, cluster_policy;
    uint64_t static_shared;
    /* cuParamSet… and cuFuncSetBlockShape of old programs */
    uint32_t old_block[3], old_shared, old_bytes;
    unsigned char *old_params;
};

/* A parsed image, shared by the modules made from it. */
struct dr_module {
    dr_object head;
    dr_context *context;
    dr_device *device;
    pxb_module *pxb;
    const ptx_module *ptx;
    dr_function *_Atomic *functions;   /* by index, made when asked for */
    struct dr_texref *texrefs;
    dr_module *next;               /* of the context */
    struct dr_library *library;    /* that it is an instance of, or NULL */
    dr_module *next_of_library;
    uint64_t *variables;           /* bases that are in the table of ranges */
    uint32_t nvariables;
    char *dump_path;               /* its text's file, once a launch was dumped */
};

/* A function by handle, which may be a CUkernel, in a context. */
cu_result dr_function_of(const void *handle, dr_context *context, dr_function **out);
/* Takes the kernel from its module, at first use. */
cu_result dr_function_load(dr_function *function);
cu_result dr_module_function(dr_module *module, const char *name, dr_function **out);
cu_result dr_module_variable(dr_module *module, const char *name, uint64_t *address, uint64_t *bytes);

/* ------------------------------------------------------------ images (image.c, link.c) */

/* Where a JIT's log goes: what cuModuleLoadDataEx and cuLinkCreate are given. */
typedef struct dr_jit {
    char *error, *info;
    size_t error_size, info_size;
    void **error_length, **info_length, **wall_time;   /* where the written length goes back */
} dr_jit;
cu_result dr_jit_read(dr_jit *jit, uint32_t count, const int32_t *options, void **values);
void dr_jit_write(dr_jit *jit, bool error, const char *text);

/* Finds PTX for a capability in an image of any kind and parses it. `bytes` is 0 when the size is not known. */
cu_result dr_image_parse(const void *image, size_t bytes, int capability, dr_jit *jit, ptx_module **out);
/* The same text, not parsed. */
cu_result dr_image_ptx(const void *image, size_t bytes, int capability, char **text, size_t *length);
/* The PTX text of one fat binary or text; *text is malloc'ed and NUL-terminated. */
cu_result dr_image_text(const void *image, size_t bytes, int capability, char **text, size_t *length);
/* Several texts become one: see link.c. `whole`: what is declared .extern must be defined. */
cu_result dr_link_texts(char *const *texts, const size_t *lengths, size_t count, bool whole, dr_jit *jit, char **out, size_t *length);
/* Defines what a text declares of NVIDIA's device library and we know. */
cu_result dr_link_library(char **text, size_t *length);
cu_result dr_module_new(dr_context *context, ptx_module *ptx, bool owns, dr_module **out);
void dr_module_free(dr_module *module);

/* ------------------------------------------------------------ work and streams (work.c, stream.c) */

typedef struct dr_launch {
    dr_function *function;
    uint32_t grid[3], block[3], shared_bytes;
    bool cooperative;
    void *params;                  /* owned: param_size bytes */
} dr_launch;

typedef enum dr_work_kind {
    DR_WORK_NONE, DR_WORK_LAUNCH, DR_WORK_COPY, DR_WORK_SET, DR_WORK_HOST, DR_WORK_CALLBACK, DR_WORK_RECORD, DR_WORK_FREE,
    DR_WORK_WAIT_VALUE, DR_WORK_WRITE_VALUE, DR_WORK_WAIT_EVENT, DR_WORK_EXEC
} dr_work_kind;

typedef struct dr_work {
    dr_work_kind kind;
    union {
        dr_launch launch;
        dr_copy copy;
        dr_set set;
        struct { cu_host_fn call; void *user; } host;
        struct { cu_stream_callback call; cu_stream stream; void *user; } callback;
        struct { dr_event *event; uint64_t serial; dr_shared_event *shared; uint64_t number; } record;
        struct { dr_shared_event *shared; uint64_t number; } wait_event;      /* both hold what is shared */
        uint64_t address;          /* FREE */
        struct { uint64_t address, value; uint32_t flags; bool wide; } value;
        struct dr_exec_run *run;   /* EXEC: graph.c */
    } of;
} dr_work;

typedef struct dr_point { dr_stream *stream; uint64_t ticket; } dr_point;

struct dr_stream {
    dr_object head;
    dr_context *context;
    uint32_t flags;
    int priority;
    uint64_t id;
    bool blocking;                 /* takes turns with the legacy stream */
    bool started, dying, sleeping;
    struct dr_op *first, *last;
    uint64_t enqueued;
    _Atomic uint64_t completed;
    pthread_cond_t wake;
    bool has_wake;
    dr_capture *_Atomic capture;   /* that it takes part in, or NULL */
    struct dr_node **nodes;        /* behind which its next work comes; owned, under the capture's lock */
    uint32_t nnodes;
    dr_stream *next;               /* of the context */
};

/* What a handle means now: NULL and 1 the default stream, 2 the thread's own. */
cu_result dr_stream_of(dr_context *context, cu_stream handle, dr_stream **out);
cu_result dr_stream_new(dr_context *context, uint32_t flags, int priority, dr_stream **out);
void dr_stream_release(dr_stream *stream);
/* Takes over the work: it is done later, in order, or recorded while the stream is captured. */
cu_result dr_stream_submit(dr_stream *stream, const dr_work *work, const dr_point *after, dr_point *done);
/* Does it in order and waits for its end. The result is the work's own. */
cu_result dr_stream_do(dr_stream *stream, const dr_work *work);
/* Does something that takes no time in order: at once when nothing is before it, else as the stream's work. */
cu_result dr_stream_note(dr_stream *stream, const dr_work *work, const dr_point *after, dr_point *done);
bool dr_point_done(dr_point point);
void dr_point_wait(dr_point point);
/* Everything that the stream has been given. */
dr_point dr_stream_end(dr_stream *stream);

cu_result dr_work_run(dr_context *context, dr_stream *stream, const dr_work *work);
void dr_work_free(dr_work *work);
/* A detached thread, which takes no signals that are meant for the program. */
bool dr_thread_start(void *(*body)(void *), void *argument);
uint64_t dr_now_ns(void);

/* ------------------------------------------------------------ capture (capture.c) */

/* An error when the legacy stream of this context may not be used now, because a stream that takes turns with it is captured. */
cu_result dr_capture_forbids(dr_context *context);
/* An error when the context may not be waited for as a whole, because any stream of it is captured. */
cu_result dr_capture_forbids_waiting(dr_context *context);
/* An error when this thread may not make calls that are unsafe during a capture (allocations, queries of events): what
 * cuThreadExchangeStreamCaptureMode is about. */
cu_result dr_capture_forbids_unsafe(void);
/* What a captured stream, or an event recorded in one, may not be asked. They spoil the capture, and are the error to answer with. */
cu_result dr_capture_spoil(dr_stream *stream);
cu_result dr_capture_spoil_event(dr_event *event);
static inline bool dr_stream_captured(dr_stream *stream)
{
    return atomic_load_explicit(&stream->capture, memory_order_acquire) != NULL;
}
/* What a context captures has come to nothing. */
void dr_capture_invalidate(dr_context *context);
/* Memory of an allocation node, counted. */
cu_result dr_graph_alloc(dr_context *context, size_t bytes, cu_address *address);
/* cuMemAllocAsync in a captured stream. */
cu_result dr_capture_alloc(dr_stream *stream, size_t bytes, cu_address *address);
cu_result dr_capture_record(dr_stream *stream, dr_event *event, uint32_t flags);
cu_result dr_capture_wait(dr_stream *stream, dr_event *event, uint32_t flags);
/* The stream is going: what it captured cannot be ended any more. */
void dr_capture_abandon(dr_stream *stream);
/* Records the work as a node instead of doing it. */
cu_result dr_capture_add(dr_stream *stream, const dr_work *work);

/* ------------------------------------------------------------ events (event.c) */

/* Of an event that several processes have (CU_EVENT_INTERPROCESS). Work in streams may need it longer than the event lives. */
struct dr_shared_event {
    struct { _Atomic uint64_t given, done; } *count;   /* of records, in a page that others map as well */
    int file;                      /* of that page */
    _Atomic uint32_t users;
};

struct dr_event {
    dr_object head;
    dr_context *context;
    uint32_t flags;
    uint64_t serial;               /* of the last record */
    dr_point point;                /* where it was recorded; stream NULL: never */
    _Atomic uint64_t time_ns;
    uint64_t capture_id;           /* recorded in a stream that is captured: of that capture, or 0 */
    struct dr_node **nodes;        /* behind which it is in the capture's graph; owned */
    uint32_t nnodes;
    dr_shared_event *shared;       /* or NULL */
};

void dr_event_stamp(dr_event *event);
void dr_event_promise(dr_event *event, dr_point point);
dr_point dr_event_point(dr_event *event);
void dr_event_happened(dr_event *event, uint64_t serial);
cu_result dr_event_new(dr_context *context, uint32_t flags, dr_event **out);

/* ------------------------------------------------------------ other processes (ipc.c) */

/* The counts of a shared event: in a file, which it takes over, or a new one (-1). NULL without memory. */
dr_shared_event *dr_shared_new(int file);
dr_shared_event *dr_shared_hold(dr_shared_event *shared);
/* NULL is nothing. */
void dr_shared_drop(dr_shared_event *shared);
bool dr_shared_done(const dr_shared_event *shared, uint64_t number);
void dr_shared_happened(dr_shared_event *shared, uint64_t number);
/* Until the record of this number has happened, or the context has failed. */
void dr_shared_wait(const dr_shared_event *shared, uint64_t number, const _Atomic int32_t *sticky);
/* The allocation at this address is freed. */
void dr_ipc_forget(uint64_t address);

#endif
