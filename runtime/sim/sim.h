/* sim.h - an AMD GPU in software: executes the code objects that HIP would load.
 *
 * A device stands for one target (gfx1100, gfx1201, gfx942, …). Code objects are linked ELF files of
 * the AMDHSA ABI, code object version 5 (LLVM, "User Guide for AMDGPU Backend"). Machine code is decoded
 * once with LLVM's disassembler and run from the decoded form. Device pointers are host addresses inside an
 * arena of the device; every access is checked against the exact bounds of the allocations.
 *
 * It knows nothing of PTX. Every call may be used from several threads; launches of one device run
 * one after the other. Nothing here aborts on bad input.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_device sim_device;
typedef struct sim_module sim_module;
typedef struct sim_kernel sim_kernel;

typedef enum sim_status {
    SIM_OK,
    SIM_BAD_ARGUMENT,
    SIM_NO_MEMORY,
    SIM_NOT_FOUND,
    SIM_BAD_INPUT,           /* a damaged code object, or one for another target */
    SIM_UNSUPPORTED,         /* an instruction that the simulator does not know */
    SIM_FAULT_ADDRESS,
    SIM_FAULT_MISALIGNED,
    SIM_FAULT_STACK,         /* calls nested too deeply for the scratch memory */
    SIM_FAULT_CALL,          /* a jump out of the code */
    SIM_FAULT_TRAP,          /* s_trap */
    SIM_FAULT_DEADLOCK,      /* every wave of a block waits */
    SIM_FAULT_TIMEOUT,
    SIM_STATUS_COUNT
} sim_status;

const char *sim_status_name(sim_status status);

/* What went wrong; strings are empty and numbers 0 when unknown. */
typedef struct sim_error {
    sim_status status;
    char kernel[256];
    char instruction[256];   /* text of the AMD instruction */
    uint64_t pc;             /* its offset in the code object's text */
    uint64_t caller_pc;      /* at the start of a function: of the call */
    bool has_thread;
    uint32_t block[3], thread[3];   /* of the first lane concerned */
    bool has_address;
    uint64_t address;
    char reason[512];
} sim_error;

/* ------------------------------------------------------------ device */

/* NULL-terminated list of the targets that can be simulated. */
const char *const *sim_targets(void);

typedef struct sim_options {
    const char *target;      /* one of sim_targets() */
    uint32_t threads;        /* workers; 0 = one per online processor (env PTXBRIDGE_SIM_THREADS) */
    uint64_t arena_bytes;    /* reserved address range; 0 = 16 GiB */
} sim_options;

sim_device *sim_open(const sim_options *options, sim_error *error);
void sim_close(sim_device *device);
const char *sim_target(const sim_device *device);
uint32_t sim_threads(const sim_device *device);
uint32_t sim_wave_size(const sim_device *device);

/* ------------------------------------------------------------ memory */

/* Aligned to 256; contents zero. 0 when there is no room or bytes is 0. */
uint64_t sim_alloc(sim_device *device, uint64_t bytes);
bool sim_free(sim_device *device, uint64_t address);
/* False when the range does not lie in one allocation or module variable. */
bool sim_write(sim_device *device, uint64_t to, const void *from, uint64_t bytes);
bool sim_read(sim_device *device, void *to, uint64_t from, uint64_t bytes);
bool sim_copy(sim_device *device, uint64_t to, uint64_t from, uint64_t bytes);
bool sim_set(sim_device *device, uint64_t to, uint8_t value, uint64_t bytes);
/* Lets kernels use a range of the process's memory at its own addresses, or no longer. False: no memory, or nothing begins there. */
bool sim_map_host(sim_device *device, uint64_t address, uint64_t bytes, bool map);
bool sim_range(sim_device *device, uint64_t address, uint64_t *base, uint64_t *bytes);
void sim_memory_info(sim_device *device, uint64_t *used, uint64_t *free);

/* ------------------------------------------------------------ code objects */

/* `data` is copied. NULL on failure. */
sim_module *sim_module_load(sim_device *device, const void *data, size_t bytes, sim_error *error);
void sim_module_unload(sim_module *module);
sim_kernel *sim_kernel_get(sim_module *module, const char *name, sim_error *error);
/* Address of a variable or function by its symbol; 0 if there is none. bytes may be NULL. */
uint64_t sim_symbol(sim_module *module, const char *name, uint64_t *bytes);

typedef struct sim_kernel_info {
    uint32_t kernarg_bytes;  /* explicit arguments, without the hidden ones */
    uint32_t lds_bytes, scratch_bytes;   /* static; scratch of one thread */
    uint32_t vgprs, sgprs;
    uint32_t max_threads;    /* of a block */
} sim_kernel_info;
void sim_kernel_describe(const sim_kernel *kernel, sim_kernel_info *info);

/* ------------------------------------------------------------ launches */

typedef enum sim_class { SIM_CLASS_VALU, SIM_CLASS_SALU, SIM_CLASS_LDS, SIM_CLASS_VMEM, SIM_CLASS_SMEM, SIM_CLASS_MATRIX,
                         SIM_CLASS_OTHER, SIM_CLASS_COUNT } sim_class;
const char *sim_class_name(sim_class c);

/* Instructions that waves executed, by class; both halves of a dual-issue instruction count. */
typedef struct sim_counts { uint64_t executed[SIM_CLASS_COUNT]; } sim_counts;

typedef struct sim_launch {
    uint32_t grid[3], block[3];      /* grid in blocks */
    uint32_t dynamic_lds;
    const void *kernarg;             /* explicit arguments; hidden ones are filled in from the metadata */
    uint64_t kernarg_bytes;
    uint32_t timeout_ms;             /* 0 = none */
    bool cooperative;                /* all blocks run at once, so that they may wait for each other: at most sim_blocks_at_once */
    sim_counts *counts;              /* may be NULL; added to */
} sim_launch;

uint64_t sim_blocks_at_once(const sim_device *device);

/* Runs and waits. On a fault memory holds what was written until then; the fault of the lowest block is reported. */
sim_status sim_run(sim_kernel *kernel, const sim_launch *launch, sim_error *error);

#endif
