/* export.h - what the generated exports need: the mode, the trace of calls, and the table of the API. */
#ifndef DRIVER_EXPORT_H
#define DRIVER_EXPORT_H

#include <stdbool.h>
#include "driver_api.h"

#define DR_EXPORT __attribute__((visibility("default")))
#define DR_HIDDEN __attribute__((visibility("hidden")))

typedef void (*dr_any_fn)(void);

typedef struct dr_api_row {
    const char *symbol, *base;
    int version, suffix_version;
    dr_any_fn function, suffixed;      /* suffixed: NULL where there is no second form */
    const char *suffix;
    bool served;
} dr_api_row;

extern DR_HIDDEN const dr_api_row dr_api[DR_API_ROWS];

/* 0: calls go straight to the implementation. Otherwise bits: the first call decides (state.c). */
enum { DR_MODE_UNDECIDED = 1, DR_MODE_TRACE = 2, DR_MODE_FORWARD = 4, DR_MODE_LOG = 8, DR_MODE_SPY = 16 };
extern DR_HIDDEN int dr_mode_bits;
#define dr_mode __atomic_load_n(&dr_mode_bits, __ATOMIC_ACQUIRE)

/* The functions of a real driver when calls are forwarded, else NULL: [row][suffixed]. */
extern DR_HIDDEN void *dr_real[DR_API_ROWS][2];
/* Under DR_MODE_SPY what looks at a call and hands it on to the real driver's function (real.c), or NULL. */
extern DR_HIDDEN const dr_any_fn dr_real_hooks[DR_API_ROWS];

/* Around forwarded calls that change memory, under DR_MODE_SPY: see spy.h. */
DR_HIDDEN bool dr_spy_hold(void);
DR_HIDDEN void dr_spy_release(bool held);

/* The default stream is the calling thread's own while a suffixed function runs. */
extern DR_HIDDEN _Thread_local bool dr_per_thread;

/* ------------------------------------------------------------ trace (trace.c) */

typedef struct dr_call {
    bool traced;
    int row;
    cu_result result;
    uint32_t length;
    char text[1000];
} dr_call;

/* Decides the mode when nobody has. Returns the real driver's function or NULL. */
void *dr_call_begin(dr_call *call, int row, bool suffixed);
void dr_trace_result(dr_call *call, cu_result result);
void dr_trace_text(dr_call *call, const char *name, const char *text);
void dr_trace_number(dr_call *call, const char *name, int64_t number);
void dr_trace_count(dr_call *call, const char *name, uint64_t number);
void dr_trace_real(dr_call *call, const char *name, float number);
void dr_trace_address(dr_call *call, const char *name, uint64_t address);
void dr_trace_location(dr_call *call, const char *name, cu_location location);
void dr_trace_ipc(dr_call *call, const char *name, cu_ipc handle);
/* A pointer; a function pointer comes as one as well. */
#define dr_trace_pointer(call, name, value) dr_trace_address(call, name, (uint64_t)(uintptr_t)(value))
/* What the call has written, once it ended well. */
void dr_trace_out64(dr_call *call, const char *name, const void *place);
void dr_trace_out32(dr_call *call, const char *name, const void *place);
void dr_trace_out_text(dr_call *call, const char *name, const char **place);
void dr_call_end(dr_call *call);

/* ------------------------------------------------------------ what is not served */

/* Tells of it under PTXBRIDGE_LOG. CUDA_ERROR_NOT_SUPPORTED, or 3 before cuInit. */
DR_HIDDEN cu_result dr_absent(int row);

/* The parameters are unknown here. With a real driver behind, the call goes on with every register as it came. */
#if defined(__x86_64__)
#define DR_ABSENT(symbol, row, suffixed)                                                                               \
    DR_EXPORT cu_result symbol(void);                                                                                  \
    DR_EXPORT __attribute__((naked)) cu_result symbol(void)                                                            \
    {                                                                                                                  \
        __asm__("movq dr_real+%c0(%%rip), %%rax\n\ttestq %%rax, %%rax\n\tje 1f\n\tjmp *%%rax\n"                        \
                "1:\tmovl %1, %%edi\n\tjmp dr_absent" : : "i"(8 * (2 * (row) + (suffixed))), "i"(row));                \
    }
#else
#define DR_ABSENT(symbol, row, suffixed)                                                                               \
    DR_EXPORT cu_result symbol(void);                                                                                  \
    DR_EXPORT cu_result symbol(void) { return dr_absent(row); }
#endif

#endif
