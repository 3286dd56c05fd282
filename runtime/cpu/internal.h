/* internal.h - what the files of the CPU engine share. Not for other folders.
 *
 * Terms. A SLOT is the place of a lane vector in a register file: 32 elements
 * of 1, 2, 4 or 8 bytes, or one uint32_t of lane bits for a predicate. CODE is
 * a decoded function. A FRAME is one activation of a code by a set of lanes; it
 * owns a register file. A SPLIT is a set of lanes of a warp that stand at the
 * same pc of the same frame. A CONTEXT holds one running block.
 */
#ifndef CPU_INTERNAL_H
#define CPU_INTERNAL_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ptx/module.h"
#include "runtime/cpu/cpu.h"

enum {
    CPU_LANES = 32,
    CPU_MAX_WARPS = 32,
    CPU_BARRIERS = 17,             /* 16 named ones, and barrier.cluster (a cluster is one block here) */
    CPU_CLUSTER_BARRIER = 16,
    CPU_MAX_BLOCK = 1024,
    CPU_MAX_SHARED = 1 << 20,
    CPU_MAX_DEPTH = 8192,          /* frames of one lane */
    CPU_PAGE = 4096,
    CPU_QUANTUM = 20000            /* backward branches before another split, warp or block gets a turn */
};

/* Slot classes: log2 of the element's bytes, and predicates. A slot is reused inside its class only (README, "Slots"). */
typedef enum cpu_class { CPU_CLASS_8, CPU_CLASS_16, CPU_CLASS_32, CPU_CLASS_64, CPU_CLASS_PRED, CPU_CLASSES } cpu_class;

static inline uint32_t cpu_slot_bytes(cpu_class c)
{
    return c == CPU_CLASS_PRED ? 4 : 32u << c;
}

/* ------------------------------------------------------------ handlers */

/* A meaning of ptx/lib at width 32, or a conversion of lanes.c. */
typedef void (*cpu_handler)(char *r, const uint32_t *o);

typedef enum cpu_pattern { CPU_PATTERN_ANY, CPU_PATTERN_UNIFORM, CPU_PATTERN_DENSE } cpu_pattern;

typedef struct cpu_address_query {
    uint64_t add;                  /* constant part of the address: offset and window */
    uint64_t low, limit;           /* an address is good when (address - low) <= limit */
    uint64_t lane_stride;          /* added lane times, after the check (local memory) */
    uint64_t step;                 /* bytes of a whole access: DENSE when lane i is at first + i * step */
    uint64_t align_mask;
    uint32_t add32;                /* address32: added to the base first, modulo 2^32 */
} cpu_address_query;

/* Vector helpers of the engine itself, one table per instruction-set level (lanes.c). */
typedef struct cpu_lane_ops {
    const char *level;
    void (*blend[CPU_CLASSES])(char *to, const char *from, uint32_t mask);
    void (*splat[4])(char *to, uint64_t value);
    /* Computes out[32] from 32 addresses of 64 or 32 bits; *bad receives the lanes outside or misaligned. */
    cpu_pattern (*address64)(uint64_t *out, const char *base, const cpu_address_query *q, uint32_t *bad);
    cpu_pattern (*address32)(uint64_t *out, const char *base, const cpu_address_query *q, uint32_t *bad);
    /* Element conversions, [from class][to class][signed]; NULL where from == to. Operands: destination, source. */
    cpu_handler convert[4][4][2];
    /* 32 x n 32-bit elements, n = 2 or 4, lane-major in memory, to and from n slots. */
    void (*split2)(char *d0, char *d1, const char *memory);
    void (*split4)(char *d0, char *d1, char *d2, char *d3, const char *memory);
    void (*join2)(char *memory, const char *s0, const char *s1);
    void (*join4)(char *memory, const char *s0, const char *s1, const char *s2, const char *s3);
    const cpu_handler *meanings;   /* by meaning id, NULL where none */
} cpu_lane_ops;

/* handlers.c: by meaning id */
extern const cpu_handler pxl_handlers_generic[], pxl_handlers_v2[], pxl_handlers_v3[], pxl_handlers_v4[];

/* Chooses by name or (NULL) by processor; NULL when the name is unknown or the processor lacks it. */
const cpu_lane_ops *cpu_lane_ops_select(const char *level);

/* ------------------------------------------------------------ code */

typedef struct cpu_warp cpu_warp;
typedef struct cpu_insn cpu_insn;
typedef struct cpu_code cpu_code;

/* An operation that the engine does itself and that does not move control. May not return (cpu_raise). */
typedef void (*cpu_op)(cpu_warp *w, const cpu_insn *i, uint32_t mask);

typedef enum cpu_kind {
    CPU_K_PLAIN,                   /* handler, no guard: runs of these need no decision between them */
    CPU_K_GUARDED,                 /* handler under a guard */
    CPU_K_COLLECTIVE,              /* handler that reads other lanes: waits for the lanes of its member mask */
    CPU_K_TEXTURE,                 /* handler behind a check of its handle */
    CPU_K_OP,                      /* cpu_op */
    CPU_K_ALIGNED_OP,              /* cpu_op that needs all lanes of the warp */
    CPU_K_BRANCH, CPU_K_BRX, CPU_K_CALL, CPU_K_RET, CPU_K_EXIT, CPU_K_TRAP, CPU_K_BARRIER, CPU_K_WARP_SYNC,
    CPU_K_YIELD,                   /* nanosleep: a good moment for others */
    CPU_K_END                      /* behind the last instruction: acts as ret */
} cpu_kind;

/* A destination among the operands, for masked writes. */
typedef struct cpu_dst { uint8_t operand, class; } cpu_dst;

struct cpu_insn {
    union { cpu_handler handler; cpu_op op; } fn;
    const uint32_t *o;             /* operand offsets; PLAIN…TEXTURE: a second copy follows whose destinations are scratch */
    const void *extra;             /* by kind and op */
    const cpu_dst *dst;
    uint32_t guard;                /* offset of the guard's predicate slot, 0 = none */
    uint32_t target;               /* BRANCH: pc */
    uint32_t run;                  /* PLAIN: number of PLAIN instructions from here on */
    uint32_t ptx;                  /* index in function->insns */
    uint8_t kind, n, ndst;
    bool guard_negated;
    uint8_t cost;                  /* what it takes from the quantum: memory that a spin loop would watch */
    uint8_t member;                /* COLLECTIVE: operand of the member mask, 255 = all lanes (.aligned) */
};

/* Constants and special registers have slots of their own, filled when a frame is made. */
typedef struct cpu_fill_constant { uint64_t value; uint32_t offset; uint8_t class; } cpu_fill_constant;
typedef struct cpu_fill_zero { uint32_t offset, bytes; } cpu_fill_zero;   /* a register that may be read before it is written */
typedef struct cpu_fill_special { uint32_t offset; uint16_t special; uint8_t class; bool per_block; } cpu_fill_special;

/* A register file begins with the mask of executing lanes and the member mask of a partial collective; then
 * come scratch destinations, constants and special registers, and slots. */
enum { CPU_EXEC_SLOT = 0, CPU_MEMBER_SLOT = 64, CPU_SCRATCH_SLOT = 192 };

struct cpu_code {
    cpu_module *module;
    const ptx_function *function;
    cpu_insn *insns;
    uint32_t ninsns;               /* without the CPU_K_END behind them */
    uint32_t file_bytes, constant_bytes;
    uint32_t nconstants, nspecials, nzeros, nmodels;
    cpu_fill_constant *constants;
    cpu_fill_special *specials;
    cpu_fill_zero *zeros;
    uint32_t **models;             /* operand words that hold the mma model of the launch */
    uint32_t model;                /* what they hold */
    uint64_t local_bytes;          /* frame in local memory: .local and .param variables */
    bool calls;                    /* may need more local memory than its own */
    uint32_t nparams, nreturns;
    const struct cpu_passed *params, *returns;      /* index: slot when in a register */
    const cpu_dst *dsts;           /* of all instructions; and, in code for traces, the PTX register of each, twice its number */
    const uint32_t *dst_registers; /* + 1 for the upper half of 128 bits, UINT32_MAX for none; else NULL */
    double decode_ms;
    uint64_t id;                   /* unlike a pointer never used again */
    void *memory;                  /* chunks of all of the above */
};

/* ------------------------------------------------------------ memory operations (extra of their instructions) */

typedef enum cpu_window { CPU_W_GENERIC, CPU_W_SHARED, CPU_W_LOCAL, CPU_W_PARAM, CPU_W_FRAME, CPU_W_CONST } cpu_window;
typedef enum cpu_base { CPU_BASE_NONE, CPU_BASE_64, CPU_BASE_32 } cpu_base;

/* An address operand: o[0] is its register when base is not NONE. */
typedef struct cpu_place {
    uint8_t window, base;
    int64_t offset;
} cpu_place;

/* Function addresses lie in the arena, 16 apart, in a part that is never mapped. */
cpu_module *cpu_function_of(cpu_device *device, uint64_t address, const ptx_function **function);
uint64_t cpu_address_of_function(cpu_module *module, const ptx_function *function);
uint64_t cpu_address_of_variable(cpu_module *module, const ptx_variable *variable);

typedef enum cpu_builtin { CPU_B_NONE, CPU_B_VPRINTF, CPU_B_MALLOC, CPU_B_FREE, CPU_B_ASSERTFAIL } cpu_builtin;
cpu_builtin cpu_builtin_of(const char *name);

/* Where a value passed to or from a function lives on one side. */
typedef struct cpu_passed {
    bool in_register;              /* operand `index` of the call, slot `index` of a callee; else local `offset` of the frame */
    uint8_t class;                 /* of the register */
    uint32_t index;
    uint64_t offset, bytes;
} cpu_passed;

typedef struct cpu_call {
    const ptx_function *callee;    /* NULL: o[0] holds the address */
    cpu_builtin builtin;
    uint32_t nargs, nreturns;
    const cpu_passed *args, *returns;
} cpu_call;

/* TEXTURE: operand of the handle; surface accesses with .trap also have coordinates to check. bytes: 0 for a whole texel;
 * samples: x counts accesses, not bytes; asks: a wrong handle is an answer (istypep), not a fault. */
typedef struct cpu_image_insn { uint8_t handle; bool trap; uint8_t geometry, x, y, z, bytes; bool samples, asks; } cpu_image_insn;

typedef struct cpu_jump_table { uint32_t count; const uint32_t *targets; } cpu_jump_table;

typedef enum cpu_barrier_op { CPU_BAR_SYNC, CPU_BAR_ARRIVE, CPU_BAR_POPC, CPU_BAR_AND, CPU_BAR_OR, CPU_BAR_CLUSTER_ARRIVE,
                              CPU_BAR_CLUSTER_WAIT } cpu_barrier_op;
/* Operands: o[0] id, o[1] count (when has_count), o[2] predicate, o[3] result */
typedef struct cpu_barrier_insn { uint8_t op; bool has_count, has_id, negated; uint8_t result_class; } cpu_barrier_insn;

/* ------------------------------------------------------------ running state */

typedef struct cpu_frame cpu_frame;
struct cpu_frame {
    char *r;
    const cpu_code *code;
    cpu_frame *parent, *next;      /* next: in the warp's list of idle frames */
    const cpu_insn *call;          /* in the parent */
    uint64_t local_base, local_top; /* offsets in a thread's local memory */
    uint64_t epoch;                /* block for which the special registers were filled */
    uint32_t depth, mask;          /* lanes inside */
};

typedef enum cpu_split_state { CPU_S_READY, CPU_S_SYNC, CPU_S_WARP_SYNC, CPU_S_BARRIER } cpu_split_state;

typedef struct cpu_split {
    cpu_frame *frame;
    uint32_t pc, mask;
    uint32_t need;                 /* SYNC, WARP_SYNC: lanes waited for */
    uint32_t round;                /* quanta used while others waited */
    uint8_t state, barrier;
} cpu_split;

typedef enum cpu_warp_state { CPU_WARP_READY, CPU_WARP_BLOCKED, CPU_WARP_DONE } cpu_warp_state;

typedef struct cpu_context cpu_context;
typedef struct cpu_worker cpu_worker;
typedef struct cpu_job cpu_job;

struct cpu_warp {
    _Alignas(64) uint64_t addresses[CPU_LANES];   /* of the memory operation in progress, for fault messages */
    _Alignas(64) char scratch[512];
    const cpu_lane_ops *ops;
    uint64_t arena, arena_limit;   /* first byte of the arena, its size - 1 */
    uint64_t shared_base, shared_bytes;
    uint64_t local_base, local_stride, local_bytes;   /* lane i's local memory starts at local_base + i * local_stride */
    uint64_t param_base, param_bytes;
    cpu_frame *frame;              /* of the running split */
    const cpu_insn *at;            /* last instruction that could fault */
    uint32_t mask, alive, exists;
    uint32_t access_bytes, align;  /* of the memory operation in progress */
    int32_t quantum;
    uint32_t polls;                /* cost of memory operations so far that a spinning program would do */
    bool check;
    uint8_t window;                /* cpu_window of the memory operation in progress */
    uint8_t state;
    uint32_t index, nsplits;
    uint32_t current;
    cpu_split splits[CPU_LANES];
    cpu_context *context;
    cpu_frame root, *idle;
};

typedef struct cpu_barrier_state {
    uint32_t arrived[CPU_MAX_WARPS];   /* lanes */
    uint32_t warps;                    /* warps with a bit in arrived */
    uint32_t expected;                 /* threads; 0 = all of the block */
    uint32_t popc, any, all;           /* reductions over arrived threads */
} cpu_barrier_state;

/* printf text of one block. */
typedef struct cpu_text { char *data; size_t length, capacity, lost; } cpu_text;
typedef struct cpu_block_text { uint64_t block; cpu_text text; } cpu_block_text;

struct cpu_context {
    cpu_worker *worker;
    uint32_t nwarps, live_warps;
    uint64_t block_number;
    uint32_t block[3];
    uint64_t progress;                 /* barriers completed and warps ended: a block that makes none is spinning */
    cpu_barrier_state barriers[CPU_BARRIERS];
    uint32_t barriers_used;            /* at which somebody has arrived: the others are as they begin */
    cpu_text text;
    uint64_t frame_bytes;              /* of called functions */
    uint64_t code_id;                  /* what the windows and files are set up for, in launch `serial` */
    uint64_t serial, shared_size, local_stride;
    uint64_t shared_address, local_address;
    char *files;                       /* register files, one a warp */
    bool busy;
    cpu_warp warps[CPU_MAX_WARPS];
};

struct cpu_worker {
    cpu_device *device;
    cpu_job *job;
    pthread_t thread;
    uint32_t index;
    sigjmp_buf jump;
    volatile sig_atomic_t guarded;     /* jump is valid */
    volatile uint64_t fault_address;
    cpu_warp *volatile running;
    uint32_t ncontexts, context_capacity;
    cpu_context **contexts;
    cpu_error raised;
};

/* One launch. */
struct cpu_job {
    cpu_kernel *kernel;
    const cpu_launch *launch;
    const cpu_code *code;
    uint64_t serial;
    uint64_t blocks;
    uint32_t threads, nwarps;
    uint64_t param_base;
    uint64_t workspace;                /* of a cooperative launch, else 0 */
    uint64_t shared_bytes, local_bytes, local_stride;
    uint64_t shared_used;              /* %total_smem_size */
    uint64_t deadline_ns;              /* 0 = none */
    _Atomic uint64_t next;
    _Atomic uint64_t limit;            /* lowest block that faulted: later ones need not run */
    pthread_mutex_t lock;
    cpu_error error;
    uint64_t error_block;
    cpu_block_text *texts;             /* of the blocks that printed, in the order of their ends */
    uint64_t ntexts, text_capacity;
    uint64_t text_bytes, text_lost;
};

/* ------------------------------------------------------------ device */

/* First-fit allocator over a part of the arena. */
typedef struct cpu_extent { uint64_t address, bytes; uint64_t user, user_bytes; } cpu_extent;
typedef struct cpu_region {
    uint64_t low, high;
    uint32_t count, capacity;
    cpu_extent *extents;               /* sorted by address */
    uint64_t used;
} cpu_region;

struct cpu_device {
    uint64_t arena, arena_bytes;
    uint64_t shared_window, local_window, local_window_end, const_window, const_window_end, code_window, texture_window,
        heap_window, heap_end;
    cpu_region global, constant, local, window, reserved;
    pthread_mutex_t lock;              /* everything below and the regions */
    pthread_mutex_t launch_lock;
    const cpu_lane_ops *ops;
    cpu_lane_ops *own_ops;             /* with replaced meanings; NULL as long as none is */
    /* texture descriptors: fixed-size places in texture_window */
    uint32_t texture_capacity, texture_mapped;
    uint8_t *texture_live;
    /* functions whose address may be taken, by number */
    uint32_t nfunctions, function_capacity;
    struct { cpu_module *module; const ptx_function *function; } *functions;
    /* module variables, sorted, for exact bounds */
    uint32_t nvariables, variable_capacity;
    cpu_extent *variables;
    /* memory of the process that kernels may use, sorted; read by running kernels only when an address is outside the arena */
    pthread_rwlock_t host_lock;
    uint32_t nhost, host_capacity;
    cpu_extent *host;
    /* in-kernel malloc */
    uint64_t heap_top, heap_mapped;
    uint64_t heap_free[40];
    /* workers */
    uint32_t nworkers;
    cpu_worker *workers;
    pthread_mutex_t pool_lock;
    pthread_cond_t pool_start, pool_done;
    uint64_t pool_serial;
    uint32_t pool_running, pool_wanted;
    bool pool_stop;
    cpu_job *pool_job;
    uint64_t launches, param_address, workspace;
};

struct cpu_module {
    cpu_device *device;
    const ptx_module *ptx;
    uint64_t globals, constants;       /* one allocation each, 0 = none */
    uint32_t nplaces;
    struct place *places;              /* addresses of variables, sorted by variable */
    uint32_t function_base;            /* number of its first function in device->functions */
    pthread_mutex_t lock;              /* codes */
    cpu_code **codes;                  /* by function: optimised, and plain for traces */
    cpu_kernel *kernels;               /* by function */
};

struct cpu_kernel {
    cpu_module *module;
    const ptx_function *function;
    cpu_code *code;                    /* NULL until asked for */
    uint64_t static_shared;            /* bytes that it uses itself: %total_smem_size */
    uint64_t shared_end;               /* what a launch reserves; where it has dynamic memory, all of the module, behind which that begins */
};

/* device.c */
enum { CPU_TEXTURE_BYTES = 512 };      /* place of a descriptor */
bool cpu_texture_valid(const cpu_device *device, uint64_t handle);
uint64_t cpu_region_alloc(cpu_region *region, uint64_t bytes);
bool cpu_region_free(cpu_region *region, uint64_t user);
bool cpu_exact_range(cpu_device *device, uint64_t address, uint64_t bytes);
bool cpu_host_holds(cpu_device *device, uint64_t address, uint64_t bytes);
uint64_t cpu_heap_alloc(cpu_device *device, uint64_t bytes);
bool cpu_heap_free(cpu_device *device, uint64_t address);
bool cpu_variables_add(cpu_device *device, const cpu_extent *extents, uint32_t count);
/* All of the allocation that begins at `base`, which is still there. */
void cpu_variables_remove(cpu_device *device, bool constant, uint64_t base);

/* decode.c: NULL on failure with *error filled. The module's lock is taken. */
cpu_code *cpu_code_of(cpu_module *module, const ptx_function *function, bool plain, cpu_error *error);   /* plain: every instruction, for traces */
void cpu_code_free(cpu_code *code);
void cpu_code_set_model(cpu_code *code, uint32_t model);   /* launch.c */

/* engine.c */
typedef enum cpu_outcome { CPU_RAN_DONE, CPU_RAN_BLOCKED, CPU_RAN_YIELDED } cpu_outcome;
cpu_outcome cpu_warp_run(cpu_warp *w);
cpu_outcome cpu_warp_run_traced(cpu_warp *w);
void cpu_trace(cpu_warp *w, const cpu_frame *frame, const cpu_insn *i, uint32_t mask);   /* tells the launch's trace */

/* split.c */
bool cpu_split_choose(cpu_warp *w);            /* sets current; false when none can run */
void cpu_split_add(cpu_warp *w, cpu_frame *frame, uint32_t pc, uint32_t mask, uint32_t round);
void cpu_split_remove(cpu_warp *w, uint32_t index);
void cpu_split_merge(cpu_warp *w);             /* others at the current split's place join it */
void cpu_split_wake(cpu_warp *w);              /* re-examines waiting splits */
uint32_t cpu_split_stop(const cpu_warp *w);    /* lowest pc >= current's where others wait in its frame */

/* call.c */
void cpu_frame_fill(cpu_warp *w, cpu_frame *frame, bool all);
void cpu_frame_clear(cpu_frame *frame);        /* zeroes what may be read unwritten; at each start of a block, at each call */
/* The current split, whose mask is just the calling lanes, moves into the callee; its pc is the return address. */
void cpu_call_enter(cpu_warp *w, const cpu_insn *i, const cpu_code *callee);
/* The current split, just the returning lanes, moves back to its caller. */
void cpu_call_return(cpu_warp *w);
void cpu_call_exit(cpu_warp *w, cpu_frame *frame, uint32_t mask);   /* lanes leave this frame and all below for good */
/* The code that lane addresses name; raises when there is none. */
const cpu_code *cpu_call_target(cpu_warp *w, const cpu_insn *i, uint32_t *mask);
void cpu_frames_drop(cpu_warp *w);

/* barrier.c */
void cpu_barrier_arrive(cpu_warp *w, const cpu_insn *i);   /* the current split, whose pc is behind the barrier; sets its state */
void cpu_barriers_recheck(cpu_context *c);     /* after lanes exited */

/* builtin.c */
void cpu_builtin_call(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_text_append(cpu_text *text, const char *data, size_t length);

/* fault.c */
_Noreturn void cpu_raise(cpu_warp *w, cpu_status status, uint32_t lane, uint64_t address, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
_Noreturn void cpu_raise_address(cpu_warp *w, const cpu_insn *i, uint32_t bad);   /* w->addresses, w->access_bytes */
void cpu_signals_install(void);
void cpu_signal_fault(cpu_worker *worker);     /* after the jump: fills worker->raised */
void cpu_error_set(cpu_error *error, cpu_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void cpu_error_at(cpu_error *error, const ptx_module *module, const ptx_function *function, const ptx_insn *insn);
void cpu_deadlock(cpu_context *c);             /* raises */
extern _Thread_local cpu_worker *cpu_this_worker;

/* pool.c */
bool cpu_pool_start(cpu_device *device, cpu_error *error);
void cpu_pool_stop(cpu_device *device);
void cpu_pool_run(cpu_device *device, cpu_job *job);
uint64_t cpu_now_ns(void);

#endif
