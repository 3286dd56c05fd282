/* trace.h - streams of what instructions wrote, and the search for the first that differs between two devices.
 *
 * A device that traces runs a launch and keeps, for each thread of a window of blocks, the records of ptx/trace.h in the
 * order in which the thread executed them, from a given record on, until the thread's part of memory is full. Two
 * devices give the same stream as long as they compute the same; what differs first is what the search is after.
 */
#ifndef RUNTIME_TRACE_H
#define RUNTIME_TRACE_H

#include "ptx/trace.h"
#include "runtime/case.h"

/* One run of a launch with records. */
typedef struct rt_trace {
    const ptx_module *module;
    uint64_t first_block;          /* window: linear block numbers (x fastest) */
    uint32_t nblocks, nthreads;    /* threads of a block */
    uint64_t begin;                /* records of each thread that are passed over; below 2^31 */
    uint32_t capacity;             /* words of a thread after which no further record begins */
    /* Results. Thread t of block b of the window has part b * nthreads + t. */
    uint32_t stride;               /* words from part to part: the last record may stand out */
    uint32_t *words;
    uint32_t *used;                /* words of each part */
    uint64_t *executed;            /* records of each thread in all, `begin` and those kept at least */
} rt_trace;

/* Gives stride and, all zero, words, used and executed. */
pxb_status rt_trace_alloc(pxb_context *ctx, rt_trace *t);
void rt_trace_free(rt_trace *t);

/* device_cpu_trace.c: collects the engine's events. */
typedef struct rt_cpu_trace rt_cpu_trace;
struct cpu_trace_event;
rt_cpu_trace *rt_cpu_trace_start(const pxb_launch_options *o, rt_trace *t);   /* NULL: no memory */
void rt_cpu_trace_event(void *user, const struct cpu_trace_event *event);
void rt_cpu_trace_end(rt_cpu_trace *c);

/* ------------------------------------------------------------ the search */

typedef enum rt_cause {
    RT_CAUSE_UNKNOWN, RT_CAUSE_MMA_MODEL, RT_CAUSE_APPROXIMATE, RT_CAUSE_FLUSH, RT_CAUSE_CONTRACTION, RT_CAUSE_TEXTURE,
    RT_CAUSE_ATOMICS, RT_CAUSE_MEMORY, RT_CAUSE_DEVICE, RT_CAUSE_COUNT
} rt_cause;
/* "mma-model", …, for programs; and a sentence for people. */
const char *rt_cause_name(rt_cause cause);
const char *rt_cause_text(rt_cause cause);

/* A register, or a value that needs none, as both sides have it. */
typedef struct rt_trace_value {
    const char *name;              /* "%r12", "%tid.x", "0x3f800000" */
    ptx_type type;
    uint32_t nwords;
    uint32_t words[2][4];
    bool known[2];                 /* false: nothing wrote it in this stream */
    bool differs;
} rt_trace_value;

enum { RT_TRACE_OPERANDS = 96 };

typedef enum rt_finding_kind {
    RT_FOUND_NOTHING,              /* every record that was compared is equal */
    RT_FOUND_RESULT,               /* an instruction whose result differs */
    RT_FOUND_FLOW,                 /* the sides execute different instructions */
    RT_FOUND_END                   /* one side has no further record: its launch was stopped */
} rt_finding_kind;

typedef struct rt_finding {
    rt_finding_kind kind;
    uint32_t launch;               /* of the case */
    const ptx_function *function[2];
    const ptx_insn *insn[2];       /* of the two sides: different for FLOW, one NULL for END */
    uint32_t block[3], thread[3], warp, lane;
    uint64_t record;               /* of the thread, from 0 */
    uint32_t nresults, noperands;
    rt_trace_value results[ISA_MAX_ELEMS], operands[RT_TRACE_OPERANDS];
    rt_cause cause;
    const char *note;              /* what the cause was seen from, or "" */
    /* how much was looked at */
    uint64_t blocks, blocks_of, threads, records;
    uint64_t excused;              /* differing results that are addresses, handles, clocks or races, or made of them */
    uint64_t left;                 /* threads that could not be followed to their end, since an excused value steered them */
} rt_finding;

typedef struct rt_trace_side {
    const char *device;            /* NULL = cpu */
    bool has_model;
    pxb_mma_model model;
    bool mma_fast;
} rt_trace_side;

typedef struct rt_trace_options {
    uint64_t memory;               /* bytes for both sides' records, up to 2 GiB; 0 = 512 MiB */
    uint64_t first_block, nblocks; /* of each launch; nblocks 0 = all */
    bool has_timeout;              /* otherwise the case's, times 32 */
    uint32_t timeout_ms;           /* 0 = none */
    void (*progress)(void *user, const char *phase, uint32_t done, uint32_t of);
    void *progress_user;
} rt_trace_options;

/* Runs the case on both sides with records. The module that the finding points into lives in *keep, which
 * rt_trace_keep_free frees after the finding's last use. PXB_UNSUPPORTED when a side cannot trace. */
typedef struct rt_trace_keep rt_trace_keep;
pxb_status rt_trace_case(pxb_context *ctx, const case_file *file, const rt_trace_side sides[2],
                         const rt_trace_options *options, rt_finding *out, rt_trace_keep **keep);
const ptx_module *rt_trace_module(const rt_trace_keep *keep);
void rt_trace_keep_free(rt_trace_keep *keep);

/* trace_cause.c */
void rt_trace_judge(rt_finding *f, const rt_trace_side sides[2]);
/* Value of side `side` as its type is read: "1.5 (0x3fc00000)". */
const char *rt_trace_text(const rt_trace_value *v, int side, char *buffer, size_t size);

#endif
