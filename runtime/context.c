/* context.c - contexts, the last error, and names of statuses.
 *
 * An error keeps copies of all its strings, so that it outlives the module or file that it is about.
 * If there is no memory for a copy, a static message stands in: an error is never lost.
 */
#include "runtime/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/cache.h"
#include "runtime/device.h"
#include "runtime/module.h"

enum { STRING_MESSAGE, STRING_REASON, STRING_FILE, STRING_KERNEL, STRING_INSTRUCTION, STRING_COUNT };

#define STRINGIFY(x) #x
#define VERSION(a, b, c) STRINGIFY(a) "." STRINGIFY(b) "." STRINGIFY(c)

const char *pxb_version(void)
{
    return VERSION(PXB_VERSION_MAJOR, PXB_VERSION_MINOR, PXB_VERSION_PATCH);
}

const char *pxb_status_name(pxb_status status)
{
    switch (status) {
    case PXB_OK: return "ok";
    case PXB_NO: return "no";
    case PXB_BAD_ARGUMENT: return "bad argument";
    case PXB_BAD_INPUT: return "bad input";
    case PXB_NO_PTX: return "no PTX";
    case PXB_UNSUPPORTED: return "unsupported";
    case PXB_NOT_FOUND: return "not found";
    case PXB_NO_DEVICE: return "no device";
    case PXB_OUT_OF_MEMORY: return "out of memory";
    case PXB_IO: return "input/output error";
    case PXB_INTERNAL: return "internal error";
    case PXB_FAULT_ADDRESS: return "illegal address";
    case PXB_FAULT_MISALIGNED: return "misaligned address";
    case PXB_FAULT_TRAP: return "trap";
    case PXB_FAULT_DEADLOCK: return "barrier deadlock";
    case PXB_FAULT_TIMEOUT: return "timeout";
    case PXB_FAULT_STACK: return "stack exhausted";
    case PXB_FAULT_CALL: return "illegal call target";
    case PXB_FAULT_HANDLE: return "illegal texture or surface handle";
    }
    return "unknown status";
}

/* Names stand in the order of pxb_mma_model. */
static const char *const mma_model_names[] = {"ada", "hopper", "blackwell", "ampere", "turing", "volta", "ieee"};
enum { MMA_MODELS = sizeof mma_model_names / sizeof *mma_model_names };
_Static_assert(MMA_MODELS == PXB_MMA_IEEE + 1, "one name per mma model");

const char *pxb_mma_model_name(pxb_mma_model model)
{
    return (unsigned)model < MMA_MODELS ? mma_model_names[model] : NULL;
}

bool pxb_mma_model_from_name(const char *name, pxb_mma_model *out)
{
    for (unsigned i = 0; name && i < MMA_MODELS; i++) {
        if (strcmp(name, mma_model_names[i]) == 0) {
            *out = (pxb_mma_model)i;
            return true;
        }
    }
    return false;
}

/* The parts that a list of names means; *unknown is the first name that is none (not terminated), with its length. */
static uint32_t debug_flags(const char *text, const char **unknown, size_t *length)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } names[] = {
        {"parse", RT_DEBUG_PARSE}, {"decode", RT_DEBUG_DECODE},       {"run", RT_DEBUG_RUN},
        {"cache", RT_DEBUG_CACHE}, {"translate", RT_DEBUG_TRANSLATE}, {"all", ~(uint32_t)0},
    };
    uint32_t flags = 0;
    *unknown = NULL;
    while (text && *text) {
        size_t n = strcspn(text, ","), i = 0;
        while (i < sizeof names / sizeof *names && (strlen(names[i].name) != n || strncmp(text, names[i].name, n) != 0))
            i++;
        if (i < sizeof names / sizeof *names)
            flags |= names[i].flag;
        else if (!*unknown)
            *unknown = text, *length = n;
        text += n + (text[n] == ',');
    }
    return flags;
}

bool rt_environment_is_understood(char *why, size_t size)
{
    const char *unknown, *off = getenv("PTXBRIDGE_CACHE"), *limit = getenv("PTXBRIDGE_CACHE_MB");
    size_t length = 0;
    uint64_t bytes;
    debug_flags(getenv("PTXBRIDGE_DEBUG"), &unknown, &length);
    if (unknown)
        snprintf(why, size, "PTXBRIDGE_DEBUG: there is no part \"%.*s\": parse, decode, run, cache, translate, all", length < 40 ? (int)length : 40, unknown);
    else if (off && *off && strcmp(off, "0") != 0 && strcmp(off, "1") != 0)
        snprintf(why, size, "PTXBRIDGE_CACHE is 0 or 1, not \"%.40s\": the cache is on", off);
    else if (!rt_cache_limit(limit, &bytes))
        snprintf(why, size, "PTXBRIDGE_CACHE_MB is a number from 0 to 1048576, not \"%.40s\": the limit is %llu MB", limit, (unsigned long long)(bytes >> 20));
    else
        return true;
    return false;
}

pxb_status pxb_context_create(pxb_context **out)
{
    pxb_context *ctx = calloc(1, sizeof *ctx);
    *out = ctx;
    if (!ctx)
        return PXB_OUT_OF_MEMORY;
    ctx->error.message = ctx->error.reason = "";
    ctx->array_limit = RT_ARRAY_LIMIT;
    const char *unknown;
    size_t length;
    ctx->debug = debug_flags(getenv("PTXBRIDGE_DEBUG"), &unknown, &length);
    return PXB_OK;
}

void pxb_context_destroy(pxb_context *context)
{
    if (!context)
        return;
    while (context->modules)
        pxb_module_free(context->modules);
    while (context->devices)
        pxb_device_close(context->devices);
    for (int i = 0; i < STRING_COUNT; i++)
        free(context->strings[i]);
    free(context->cache_path);
    free(context);
}

const pxb_error *pxb_last_error(const pxb_context *context)
{
    return &context->error;
}

/* ------------------------------------------------------------ the failing road */

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* "file:line:column: error: reason" and, for a kernel's fault, lines that say where it happened. */
static char *compose(const pxb_error *e)
{
    char where[64] = "", text[4096];
    if (e->line && e->column)
        snprintf(where, sizeof where, ":%u:%u", e->line, e->column);
    else if (e->line)
        snprintf(where, sizeof where, ":%u", e->line);
    int n = snprintf(text, sizeof text, "%s%s%s%s", e->file ? e->file : "", e->file ? where : "",
                     e->file ? ": error: " : "", e->reason ? e->reason : pxb_status_name(e->status));
    size_t used = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    if (e->kernel)
        used += (size_t)snprintf(text + used, sizeof text - used, "\n  in kernel %.200s", e->kernel);
    if (e->has_thread && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, ", block (%u,%u,%u), thread (%u,%u,%u)", e->block[0],
                                 e->block[1], e->block[2], e->thread[0], e->thread[1], e->thread[2]);
    if (e->has_address && used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, ", address 0x%llx", (unsigned long long)e->address);
    if (e->instruction && used < sizeof text)
        snprintf(text + used, sizeof text - used, "\n  at: %s", e->instruction);
    return strdup(text);
}

pxb_status rt_fail_with(pxb_context *ctx, const pxb_error *e)
{
    /* Copies first: e may point into the error that is replaced. */
    char *strings[STRING_COUNT] = {
        e->message ? copy(e->message) : compose(e),
        copy(e->reason ? e->reason : e->message),
        copy(e->file),
        copy(e->kernel),
        copy(e->instruction),
    };
    pxb_error next = *e;
    for (int i = 0; i < STRING_COUNT; i++) {
        free(ctx->strings[i]);
        ctx->strings[i] = strings[i];
    }
    next.message = strings[STRING_MESSAGE] ? strings[STRING_MESSAGE] : pxb_status_name(e->status);
    next.reason = strings[STRING_REASON] ? strings[STRING_REASON] : next.message;
    next.file = strings[STRING_FILE];
    next.kernel = strings[STRING_KERNEL];
    next.instruction = strings[STRING_INSTRUCTION];
    ctx->error = next;
    return e->status;
}

static pxb_status fail_v(pxb_context *ctx, pxb_error *e, const char *format, va_list args)
{
    char reason[2048];
    vsnprintf(reason, sizeof reason, format, args);
    e->reason = reason;
    pxb_status status = rt_fail_with(ctx, e);
    e->reason = NULL;
    return status;
}

pxb_status rt_fail(pxb_context *ctx, pxb_status status, const char *format, ...)
{
    pxb_error e = {.status = status};
    va_list args;
    va_start(args, format);
    fail_v(ctx, &e, format, args);
    va_end(args);
    return status;
}

pxb_status rt_fail_at(pxb_context *ctx, pxb_status status, const char *file, uint32_t line, uint32_t column,
                      const char *format, ...)
{
    pxb_error e = {.status = status, .file = file, .line = line, .column = column};
    va_list args;
    va_start(args, format);
    fail_v(ctx, &e, format, args);
    va_end(args);
    return status;
}

pxb_status rt_place_error(pxb_context *ctx, pxb_status status, const char *file, uint32_t line, uint32_t column)
{
    pxb_error e = ctx->error;
    if (e.file || !file)
        return status;
    e.message = NULL;
    e.file = file;
    if (!e.line) {
        e.line = line;
        e.column = column;
    }
    rt_fail_with(ctx, &e);
    return status;
}

pxb_status rt_no_memory(pxb_context *ctx)
{
    return rt_fail(ctx, PXB_OUT_OF_MEMORY, "out of memory");
}

pxb_status rt_need(pxb_context *ctx, const void *pointer, const char *what)
{
    return pointer ? PXB_OK : rt_fail(ctx, PXB_BAD_ARGUMENT, "%s must not be NULL", what);
}

pxb_status rt_status_of_reason(ptx_reason reason)
{
    switch (reason) {
    case PTX_REASON_NONE: return PXB_OK;
    case PTX_REASON_MALFORMED: return PXB_BAD_INPUT;
    case PTX_REASON_UNSUPPORTED: return PXB_UNSUPPORTED;
    case PTX_REASON_NO_PTX: return PXB_NO_PTX;
    case PTX_REASON_LIMIT: return PXB_UNSUPPORTED;
    case PTX_REASON_MEMORY: return PXB_OUT_OF_MEMORY;
    }
    return PXB_INTERNAL;
}

/* Formats a diagnostic without a final newline; returns its length. */
static size_t format_diagnostic(const ptx_module *module, const ptx_diagnostic *d, char *text, size_t size)
{
    ptx_format_diagnostic(module, d, text, size);
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n')
        text[--n] = '\0';
    return n;
}

/* An error outside of all functions above an error inside one is often its cause: a variable that was refused. */
static const ptx_diagnostic *module_error_above(const ptx_module *module, const ptx_diagnostic *d)
{
    for (uint32_t i = 0; d->function && i < module->ndiagnostics; i++) {
        const ptx_diagnostic *o = &module->diagnostics[i];
        if (o->severity == PTX_ERROR && !o->function && o->at.line < d->at.line)
            return o;
    }
    return NULL;
}

pxb_status rt_fail_diagnostic(pxb_context *ctx, const ptx_module *module, const ptx_diagnostic *d)
{
    char text[4096];
    size_t n = format_diagnostic(module, d, text, sizeof text / 2);
    const ptx_diagnostic *above = module_error_above(module, d);
    if (above) {
        text[n++] = '\n';
        format_diagnostic(module, above, text + n, sizeof text - n);
    }
    pxb_error e = {
        .status = d->reason == PTX_REASON_NONE ? PXB_BAD_INPUT : rt_status_of_reason(d->reason),
        .message = text,
        .reason = d->message,
        .file = module->file,
        .line = d->at.line,
        .column = d->at.column,
        .kernel = d->function,
    };
    return rt_fail_with(ctx, &e);
}

/* ------------------------------------------------------------ time */

double rt_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void rt_debug_phase(const pxb_context *ctx, uint32_t phase, const char *what, double started_ms)
{
    static const char *const names[] = {"parse", "decode", "run", "cache", "translate"};
    if (!(ctx->debug & phase))
        return;
    int i = 0;
    while (i < 4 && !(phase & (1u << i)))
        i++;
    fprintf(stderr, "ptxbridge: %s %s: %.3f ms\n", names[i], what, rt_now_ms() - started_ms);
}

/* ------------------------------------------------------------ faults */

static const struct {
    const char *name;
    pxb_status status;
} faults[] = {
    {"illegal_address", PXB_FAULT_ADDRESS},
    {"misaligned_address", PXB_FAULT_MISALIGNED},
    {"trap", PXB_FAULT_TRAP},
    {"barrier_deadlock", PXB_FAULT_DEADLOCK},
    {"timeout", PXB_FAULT_TIMEOUT},
    {"stack", PXB_FAULT_STACK},
    {"call", PXB_FAULT_CALL},
    {"handle", PXB_FAULT_HANDLE},
};

const char *rt_fault_name(pxb_status status)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].status == status)
            return faults[i].name;
    return NULL;
}

bool rt_fault_from_name(const char *name, pxb_status *out)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (strcmp(faults[i].name, name) == 0) {
            *out = faults[i].status;
            return true;
        }
    }
    return false;
}
