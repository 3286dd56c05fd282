/* internal.h - what the parts of the runtime share: the context and its one failing road.
 *
 * Every function that can fail takes the context (or an object that knows it) first, returns a
 * pxb_status, and has recorded the error with rt_fail before it returns anything but PXB_OK.
 * Cleaning up after a failure must not call anything that fails again.
 */
#ifndef RUNTIME_INTERNAL_H
#define RUNTIME_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "include/ptxbridge.h"
#include "ptx/module.h"

#if defined(__GNUC__)
#define RT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define RT_PRINTF(f, a)
#endif

/* What PTXBRIDGE_DEBUG names, for the parts that the runtime has. */
enum { RT_DEBUG_PARSE = 1, RT_DEBUG_DECODE = 2, RT_DEBUG_RUN = 4, RT_DEBUG_CACHE = 8, RT_DEBUG_TRANSLATE = 16 };

/* Default bound on one array of a case file, so that a hostile shape is an error and not an exhausted machine. */
#define RT_ARRAY_LIMIT ((uint64_t)4 << 30)

struct pxb_context {
    pxb_error error;           /* its strings point into the buffers below */
    char *strings[5];          /* message, reason, file, kernel, instruction: owned */
    pxb_device *devices;       /* lists of what is left to free */
    pxb_module *modules;
    char *cache_path;
    bool cache_path_known;
    uint64_t array_limit;
    uint32_t debug;
};

/* ------------------------------------------------------------ errors */

/* Records an error whose message is the reason alone. Returns `status`. */
pxb_status rt_fail(pxb_context *ctx, pxb_status status, const char *format, ...) RT_PRINTF(3, 4);

/* The same with a place: "file:line:column: error: reason"; line and column are left out when 0. */
pxb_status rt_fail_at(pxb_context *ctx, pxb_status status, const char *file, uint32_t line, uint32_t column,
                      const char *format, ...) RT_PRINTF(6, 7);

/* Records a complete error; strings are copied. When e->message is NULL it is made of the other members. */
pxb_status rt_fail_with(pxb_context *ctx, const pxb_error *e);

/* "trap", "illegal_address", …, as case files and reports name a fault; NULL when the status is none. */
const char *rt_fault_name(pxb_status status);
bool rt_fault_from_name(const char *name, pxb_status *out);

/* Gives the last error a place if it has none, and returns `status`. Parts that the error knows already stay. */
pxb_status rt_place_error(pxb_context *ctx, pxb_status status, const char *file, uint32_t line, uint32_t column);

/* A parser's diagnostic as an error, with source line and caret. */
pxb_status rt_fail_diagnostic(pxb_context *ctx, const ptx_module *module, const ptx_diagnostic *d);
pxb_status rt_status_of_reason(ptx_reason reason);

pxb_status rt_no_memory(pxb_context *ctx);

/* A pointer of the caller that must not be NULL: PXB_OK, or the error that names it. */
pxb_status rt_need(pxb_context *ctx, const void *pointer, const char *what);

/* False when PTXBRIDGE_DEBUG, PTXBRIDGE_CACHE or PTXBRIDGE_CACHE_MB holds what means nothing; `why` says what is done instead. */
bool rt_environment_is_understood(char *why, size_t size);

/* ------------------------------------------------------------ time */

double rt_now_ms(void);
/* Prints "ptxbridge: <phase> <what>: <ms> ms" to stderr when PTXBRIDGE_DEBUG names the phase. */
void rt_debug_phase(const pxb_context *ctx, uint32_t phase, const char *what, double started_ms);

/* ------------------------------------------------------------ files */

/* Reads a regular file of at most `limit` bytes; *out is NUL-terminated and freed by the caller. */
pxb_status rt_read_file(pxb_context *ctx, const char *path, uint64_t limit, char **out, size_t *length);
/* Writes a file so that it is there whole or not at all (a temporary beside it, then rename). */
pxb_status rt_write_file(pxb_context *ctx, const char *path, const void *data, size_t bytes);

/* ------------------------------------------------------------ memory that goes at once */

/* A list of allocations freed together: what a parsed case file lives in. */
typedef struct rt_pool { struct rt_pool_block *first; } rt_pool;
void *rt_pool_alloc(rt_pool *pool, size_t count, size_t size);   /* zeroed; NULL on overflow or no memory */
char *rt_pool_strdup(rt_pool *pool, const char *text);
char *rt_pool_printf(rt_pool *pool, const char *format, ...) RT_PRINTF(2, 3);
void rt_pool_free(rt_pool *pool);

#endif
