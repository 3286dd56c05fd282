/* cpu.h - the CPU device: a warp engine over 32-lane handlers, without LLVM.
 *
 * A device owns one reserved range of host addresses, the arena. A device
 * pointer IS the host address, inside the arena; shared, local, constant and
 * parameter memory of running blocks live there as well, so a generic address
 * of any space is a plain pointer. Allocations are separated by guard pages.
 *
 * Every call may be used from several threads; launches of one device run one
 * after the other. Nothing here aborts on bad input: calls return a status and
 * fill a cpu_error.
 */
#ifndef CPU_CPU_H
#define CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ptx/module.h"

enum { CPU_CLOCK_KHZ = 2000000 };   /* the rate of %clock and %clock64 */

typedef struct cpu_device cpu_device;
typedef struct cpu_module cpu_module;
typedef struct cpu_kernel cpu_kernel;

typedef enum cpu_status {
    CPU_OK,
    CPU_BAD_ARGUMENT,        /* wrong use, or a launch that the kernel does not allow */
    CPU_NO_MEMORY,
    CPU_NOT_FOUND,           /* no such function or variable */
    CPU_BAD_INPUT,           /* the function is malformed PTX */
    CPU_UNSUPPORTED,         /* valid PTX that this device does not run */
    CPU_FAULT_ADDRESS,       /* access outside every allocation */
    CPU_FAULT_MISALIGNED,
    CPU_FAULT_TRAP,          /* trap, or a failed assertion */
    CPU_FAULT_DEADLOCK,      /* a barrier or warp collective that can never complete */
    CPU_FAULT_TIMEOUT,
    CPU_FAULT_STACK,         /* calls too deep, or local memory exhausted */
    CPU_FAULT_CALL,          /* indirect call or branch to something that is none */
    CPU_FAULT_HANDLE,        /* texture or surface handle that does not exist */
    CPU_STATUS_COUNT
} cpu_status;

/* "illegal address", … Never NULL. */
const char *cpu_status_name(cpu_status status);

/* What went wrong. Strings are empty and numbers 0 when unknown. */
typedef struct cpu_error {
    cpu_status status;
    char kernel[256];        /* function of the module that was launched or asked for */
    char function[256];      /* function that holds the instruction (differs in a called function) */
    char file[256];
    uint32_t line, column;
    char instruction[256];   /* text of the PTX instruction */
    bool has_thread;
    uint32_t block[3], thread[3];
    bool has_address;
    uint64_t address;
    char reason[512];        /* one line: why, without the place */
} cpu_error;

/* One line with all of the above; returns the length as snprintf does. */
size_t cpu_format_error(const cpu_error *error, char *buffer, size_t size);

/* ------------------------------------------------------------ device */

typedef struct cpu_options {
    uint32_t threads;        /* workers; 0 = one per online processor (env PTXBRIDGE_CPU_THREADS) */
    const char *level;       /* "v2" "v3" "v4" "generic"; NULL = best of this processor (env PTXBRIDGE_CPU_LEVEL) */
    uint64_t arena_bytes;    /* reserved address range; 0 = 1 TiB, less where that cannot be had */
} cpu_options;

/* NULL on failure, with *error filled (error may be NULL). options may be NULL. */
cpu_device *cpu_open(const cpu_options *options, cpu_error *error);
void cpu_close(cpu_device *device);
uint32_t cpu_threads(const cpu_device *device);
const char *cpu_level(const cpu_device *device);

/* The handler of a meaning at the device's level (ptx/isa.h's numbers): operands as ptx/lib/README.md describes. */
typedef void (*cpu_meaning_fn)(char *registers, const uint32_t *operands);
cpu_meaning_fn cpu_meaning(const cpu_device *device, uint32_t id);
/* Puts another in its place for kernels that are decoded from now on: how conformance plants faults. False: no memory. */
bool cpu_replace_meaning(cpu_device *device, uint32_t id, cpu_meaning_fn handler);

/* ------------------------------------------------------------ memory */

/* Aligned to 256; contents zero. 0 when there is no room or bytes is 0. */
uint64_t cpu_alloc(cpu_device *device, uint64_t bytes);
/* The block of the heap of kernels' malloc that holds an address, as the kernel sees it; false: none does, or it was freed. Address 0: all
 * of the heap. */
bool cpu_heap_block(cpu_device *device, uint64_t address, uint64_t *base, uint64_t *bytes);
/* False when `address` is not the start of an allocation. */
bool cpu_free(cpu_device *device, uint64_t address);
/* False when the range does not lie in one allocation or module variable. */
bool cpu_write(cpu_device *device, uint64_t to, const void *from, uint64_t bytes);
bool cpu_read(cpu_device *device, void *to, uint64_t from, uint64_t bytes);
bool cpu_copy(cpu_device *device, uint64_t to, uint64_t from, uint64_t bytes);
bool cpu_set(cpu_device *device, uint64_t to, uint8_t value, uint64_t bytes);
/* The allocation or variable that holds `address`; false if none. base and bytes may be NULL. */
bool cpu_range(cpu_device *device, uint64_t address, uint64_t *base, uint64_t *bytes);
/* Lets kernels use memory of the process outside the arena at its own addresses, or (map false) no longer, by the first address that
 * was mapped. The memory must be there as long as it is mapped. False without memory, or when nothing was mapped there. */
bool cpu_map_host(cpu_device *device, uint64_t address, uint64_t bytes, bool map);
/* Addresses that kernels may use as soon as the caller puts memory there (mmap with MAP_FIXED); until then they have no access. `bytes` is
 * whole pages, `align` a power of two of at least a page; at `wanted` where that is free. 0: there is no room. cpu_write and the like know
 * nothing of such memory. The caller takes his memory away (PROT_NONE) before he gives the addresses back. */
uint64_t cpu_reserve(cpu_device *device, uint64_t bytes, uint64_t align, uint64_t wanted);
bool cpu_unreserve(cpu_device *device, uint64_t address);
/* Puts the pages of the allocation at `address` into a file without a name, in their place: another process that maps it has the same
 * memory. Gives the file's descriptor, which is the caller's, and where in it the allocation begins; -1 where nothing begins there, or without
 * memory. Kernels wait; what the host writes meanwhile may be lost. */
int cpu_share(cpu_device *device, uint64_t address, uint64_t *offset);
/* Bytes allocated and bytes of the arena that are left. */
void cpu_memory_info(cpu_device *device, uint64_t *used, uint64_t *free);

/* A texture or surface: `descriptor` is a pxl_texture of ptx/lib/texture.h (`bytes` its size), copied
 * into the arena; the result is its handle, 0 when there is no room. Texels are the caller's, from cpu_alloc. */
uint64_t cpu_texture_create(cpu_device *device, const void *descriptor, size_t bytes);
bool cpu_texture_destroy(cpu_device *device, uint64_t handle);

/* ------------------------------------------------------------ modules */

/* Places .global and .const variables with their initial values. The ptx_module must outlive the
 * cpu_module. NULL on failure. Functions are decoded when first asked for. */
cpu_module *cpu_module_load(cpu_device *device, const ptx_module *ptx, cpu_error *error);
void cpu_module_unload(cpu_module *module);

/* Decodes an entry and all that it calls, once. NULL on failure, with kernel, line, instruction and reason. */
cpu_kernel *cpu_kernel_get(cpu_module *module, const char *name, cpu_error *error);
/* Address of a .global or .const variable, 0 if there is none. bytes may be NULL. */
uint64_t cpu_variable(cpu_module *module, const char *name, uint64_t *bytes);
/* Address of a function for indirect calls, 0 if there is none. */
uint64_t cpu_function_address(cpu_module *module, const char *name);

typedef struct cpu_kernel_info {
    uint64_t param_bytes, static_shared, local_bytes;   /* local of one thread */
    uint32_t instructions;   /* decoded */
    uint32_t slot_bytes;     /* register file of a warp */
    uint32_t constant_bytes; /* part of slot_bytes */
    double decode_ms;
} cpu_kernel_info;
void cpu_kernel_describe(const cpu_kernel *kernel, cpu_kernel_info *info);

/* ------------------------------------------------------------ launches */

/* One executed step of one warp: an instruction is one, or several where the engine converts operands. Values are lane vectors: predicates are one uint32_t of lane
 * bits, other results 32 elements of `bytes` bytes; elements of lanes outside `mask` mean nothing. */
typedef struct cpu_trace_value {
    ptx_type type;
    uint32_t bytes;          /* of an element; 0 for a predicate */
    const void *lanes;
    uint32_t reg;            /* PTX register of event->function, UINT32_MAX for a value between two steps of an instruction */
    bool high;               /* the upper half of a 128-bit register */
} cpu_trace_value;

typedef struct cpu_trace_event {
    const ptx_function *function;
    const ptx_insn *insn;
    uint32_t block[3], warp;
    uint32_t mask;
    uint32_t nresults;
    const cpu_trace_value *results;
} cpu_trace_event;

typedef struct cpu_launch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared; /* bytes */
    const void *params;      /* parameter block, laid out as the entry's .param list */
    uint64_t param_bytes;
    uint32_t mma_model;      /* M of the instruction table: 0 ada 1 hopper 2 blackwell 3 ampere 4 turing 5 volta 6 ieee */
    bool check;              /* exact bounds on every access */
    uint32_t timeout_ms;     /* 0 = none */
    uint64_t max_local;      /* stack of a thread where calls or alloca need one; 0 = 16 KiB beyond the entry's own */
    /* All blocks run at once, so that they may wait for each other; %envreg1 and %envreg2 hold the address of a workspace of zeros, in
     * which cooperative groups have the barrier of the grid. */
    bool cooperative;
    /* Receives printf's text, in order of blocks, on the launching thread, when the launch ends. NULL = stdout. */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
    /* Called after every executed instruction, from a worker (one worker runs when set). */
    void (*trace)(void *user, const cpu_trace_event *event);
    void *trace_user;
} cpu_launch;

/* Runs and waits. On a fault memory holds what was written until then; the fault of the lowest block is reported. */
cpu_status cpu_run(cpu_kernel *kernel, const cpu_launch *launch, cpu_error *error);

#endif
