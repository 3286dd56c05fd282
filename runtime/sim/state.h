/* state.h - what the simulator keeps: a device with its arena, modules and their decoded text, kernels.
 *
 * Locks: device->memory (read-write) guards the range table; device->launch lets one launch run at a time;
 * code->lock guards decoding. Order: launch, then memory or code. The range table is read by waves and
 * written by the host's allocations and module loads, also while a launch runs.
 */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include <pthread.h>
#include <stdarg.h>
#include "runtime/sim/internal.h"

/* ------------------------------------------------------------ memory */

typedef enum sim_range_kind { RANGE_USER, RANGE_MODULE, RANGE_LAUNCH, RANGE_HOST } sim_range_kind;

/* One allocation: `bytes` are valid, `room` are taken. Sorted by base. */
typedef struct sim_block_range {
    uint64_t base, bytes, room;
    sim_range_kind kind;
} sim_block_range;

typedef struct sim_memory {
    uint8_t *arena;
    uint64_t arena_bytes, used;
    sim_block_range *ranges;
    uint32_t nranges, capacity;
    sim_block_range *host;               /* memory of the process, in no order: sim_map_host */
    uint32_t nhost, host_capacity;
    pthread_rwlock_t lock;
} sim_memory;

bool sim_memory_open(sim_memory *m, uint64_t bytes);
void sim_memory_close(sim_memory *m);
uint64_t sim_memory_take(sim_memory *m, uint64_t bytes, sim_range_kind kind);
bool sim_memory_give(sim_memory *m, uint64_t base, sim_range_kind kind);
/* The range that holds an address; false if none. */
bool sim_memory_find(sim_memory *m, uint64_t address, sim_block_range *out);

/* ------------------------------------------------------------ code */

struct sim_code {
    const sim_insn **slots;              /* one for each dword of the text, read and written atomically; NULL: not decoded yet */
    uint32_t nslots;
    uint64_t base;                       /* device address of the text */
    uint32_t lanes;
    const sim_target_info *target;
    void *disassembler;
    pthread_mutex_t lock;
    struct sim_chunk *insns, *strings;   /* memory of instructions, and of their texts */
};

/* `lanes` chooses the register names of lane masks. False: no memory or no disassembler. */
bool sim_code_open(sim_code *code, const sim_target_info *target, uint32_t lanes, uint64_t base, uint64_t bytes);
void sim_code_close(sim_code *code);

/* ------------------------------------------------------------ modules and kernels */

/* Hidden arguments of code object version 5, by value_kind of the metadata. */
typedef struct sim_hidden {
    uint8_t kind;                        /* an index of sim_hidden_names */
    uint32_t offset, size;
} sim_hidden;

enum { SIM_MAX_HIDDEN = 32 };

struct sim_kernel {
    sim_module *module;
    char *name;
    const char *symbol;                  /* the name and .kd; in the module's copy of the file */
    uint64_t entry;                      /* device address of the first instruction */
    uint32_t lanes;
    uint32_t kernarg_segment;            /* bytes with the hidden arguments */
    uint32_t rsrc1, rsrc2, rsrc3, properties, preload;
    sim_kernel_info info;
    bool dynamic_stack;
    sim_hidden hidden[SIM_MAX_HIDDEN];
    uint32_t nhidden;
};

typedef struct sim_symbol_entry {
    const char *name;                    /* in the module's copy of the file */
    uint64_t address, bytes;
    bool function;
} sim_symbol_entry;

struct sim_module {
    sim_device *device;
    sim_module *next;
    uint8_t *file;                       /* a copy, a zero byte behind it */
    size_t bytes;
    uint64_t base, span;                 /* the loaded image in the arena */
    uint64_t low;                        /* virtual address that lies at base */
    uint64_t text, text_bytes;           /* device address of the executable segment */
    sim_code code[2];                    /* of wave32, of wave64 */
    bool code_open[2];
    sim_symbol_entry *symbols;
    uint32_t nsymbols;
    sim_kernel *kernels;
    uint32_t nkernels;
};

struct sim_device {
    sim_target_info info;
    sim_memory memory;
    uint32_t threads;
    pthread_mutex_t launch;
    pthread_mutex_t list;                /* guards modules */
    sim_module *modules;
};

extern const char *const sim_hidden_names[];
/* Reads the kernels' metadata out of the note: kernarg sizes and hidden arguments. False: damaged. */
bool sim_read_metadata(sim_module *module, const uint8_t *note, size_t bytes, sim_error *error);
sim_code *sim_module_code(sim_module *module, uint32_t lanes);

/* ------------------------------------------------------------ running */

typedef struct sim_stop sim_stop;
/* Runs a wave until it waits, ends, or has executed `quantum` instructions. False: a fault, in *w->error. */
bool sim_wave_run(sim_wave *w, uint64_t quantum);
/* Sets registers as the kernel descriptor asks; kernarg and packet are device addresses. */
bool sim_wave_start(sim_wave *w, const sim_kernel *k, uint64_t kernarg, uint64_t packet, sim_error *error);
/* Runs all blocks of a launch over the threads. */
sim_status sim_run_blocks(const sim_kernel *k, const sim_launch *launch, uint64_t kernarg, uint64_t packet, sim_error *error);

void sim_set_error(sim_error *error, sim_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
