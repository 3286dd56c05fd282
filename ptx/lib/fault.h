/* fault.h - what a kernel leaves for the host when it stops itself, and what its printf leaves: the layouts that AMD
 * code and the host share. Plain C for both.
 *
 * AMD hardware tells nothing of a trap but that the queue died, so a kernel that must stop writes a record with the place
 * in the PTX and ends its wave; the host looks at the record after every launch.
 */
#ifndef PXL_FAULT_H
#define PXL_FAULT_H

#include <stdint.h>

enum {
    PXL_FAULT_NONE,
    PXL_FAULT_TRAP,            /* trap, brkpt */
    PXL_FAULT_ASSERT,          /* __assertfail: details are the addresses of message and file, and the line */
    PXL_FAULT_HANDLE,          /* detail 0: a texture or surface handle that does not exist */
    PXL_FAULT_SURFACE,         /* detail 0: handle; detail 1: x | bytes << 32 of an access outside it */
    PXL_FAULT_FREE,            /* detail 0: an address that malloc did not give */
    PXL_FAULT_DEADLOCK,        /* detail 0: number of a barrier that can never complete */
    PXL_FAULT_BULK,            /* detail 0: misaligned address of a bulk copy, or 0; detail 1: its size */
    PXL_FAULT_CLUSTER,         /* detail 0: mask that names blocks outside of the cluster, of one block */
    PXL_FAULT_BRX,             /* details: index of a brx.idx, and how many labels its list has */
    PXL_FAULT_IGNORED,         /* details: bytes that a bulk copy is to ignore on the left and right, of which one is above 15 */
    PXL_FAULT_ZEROED,          /* details: address and size of an st.bulk; 0: no shared memory holds it, 1: one is no multiple of 8 */
    PXL_FAULT_BARRIER,         /* details: a barrier that does not exist; or its thread count, which is no multiple of 32; or not the 2nd */
    PXL_FAULT_CALL,            /* detail 0: what was called: see PXL_NO_FUNCTION */
    PXL_FAULT_PARAM            /* details: address and bytes of an access outside of the kernel's parameters */
};

/* No function lies below this address. 16 * (index + 1) stands there for a function of the module that cannot be run, so that its address
 * may be passed around, and calling it is a fault that names it. */
enum { PXL_NO_FUNCTION = 1 << 20 };

/* `taken` goes from 0 to 1 by the first thread; the rest is its own. */
typedef struct pxl_fault_record {
    uint32_t taken, code, line, column;        /* place of the PTX instruction */
    uint32_t block[3], thread[3];
    uint64_t detail[3];
} pxl_fault_record;

/* Words of the memory of barriers (amdgcn_barrier.c): the barriers, the cluster's behind the block's 16; what each counts; sums of
 * reductions; threads that have not ended; 32 for each warp that has not ended, and at the start; masks of each warp's living
 * threads; for each barrier and warp those that came; and a byte for each, the generation in which they were counted. */
enum { PXL_BARRIERS = 17, PXL_CLUSTER_BARRIER = 16, PXL_WARPS = 32,
       PXL_CELL_EXPECTED = PXL_BARRIERS, PXL_CELL_REDUCE = 2 * PXL_BARRIERS, PXL_CELL_THREADS = PXL_CELL_REDUCE + 16, PXL_CELL_LIVING, PXL_CELL_TOTAL,
       PXL_CELL_ALIVE, PXL_CELL_CAME = PXL_CELL_ALIVE + PXL_WARPS, PXL_CELL_COUNTED = PXL_CELL_CAME + PXL_BARRIERS * PXL_WARPS,
       PXL_CELLS = PXL_CELL_COUNTED + PXL_BARRIERS * PXL_WARPS / 4 };

/* Texture and surface handles are addresses of slots in an array of descriptors. */
enum { PXL_SLOT_BYTES = 1024 };
typedef struct pxl_texture_slots { uint64_t base, count; } pxl_texture_slots;

/* printf: records one after another, each of `words` 64-bit words, these five and one word for each argument of the format
 * (the numbers that `*` takes included). */
typedef struct pxl_print_record { uint64_t words, format; uint64_t block[3]; uint64_t arguments[]; } pxl_print_record;
/* `used` counts what was asked for: from the first record that did not fit on, every one is lost and counted. A word 0 follows the last
 * record; the host clears what it has read, so that a record which a fault kept from being written is no old one. */
typedef struct pxl_print_buffer { uint64_t capacity, used, lost; uint64_t words[]; } pxl_print_buffer;

/* malloc: a heap of `size` bytes behind this header. A block is a power of two of bytes, of at least 16, behind a head of 16
 * bytes that holds its class; freed ones form a list per class whose head is an offset in the low 40 bits and a count of changes. */
typedef struct pxl_heap { uint64_t size, used; uint64_t free[40]; char data[]; } pxl_heap;
enum { PXL_HEAP_MAGIC = 0x6b7a0000 };

#endif
