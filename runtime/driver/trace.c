/* trace.c - what exported functions do besides their work: decide, forward, and print calls under PTXBRIDGE_TRACE. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include "runtime/driver/driver.h"

static void add(dr_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(dr_call *call, const char *format, ...)
{
    size_t room = sizeof call->text - call->length;
    va_list list;
    va_start(list, format);
    int n = vsnprintf(call->text + call->length, room, format, list);
    va_end(list);
    if (n > 0)
        call->length += (uint32_t)((size_t)n < room ? (size_t)n : room - 1);
}

/* For what the real driver lacks: our own implementation knows nothing of its objects. */
static cu_result not_forwarded(void)
{
    return DR_ERROR(NOT_SUPPORTED);
}

/* When calls are looked at, pointers that a program looks up have to lead here as well: proc.c asks the real driver where it must. */
static bool is_own(int row)
{
    return (dr_mode & (DR_MODE_TRACE | DR_MODE_SPY)) && (row == DR_ROW_cuGetProcAddress || row == DR_ROW_cuGetProcAddress_v2);
}

void *dr_call_begin(dr_call *call, int row, bool suffixed)
{
    dr_decide();
    *call = (dr_call){.traced = (dr_mode & DR_MODE_TRACE) != 0, .row = row};
    if (call->traced)
        add(call, "ptxbridge: %s%s(", dr_api[row].symbol, suffixed ? dr_api[row].suffix : "");
    if (!(dr_mode & DR_MODE_FORWARD) || is_own(row))
        return NULL;
    if (!dr_real[row][suffixed])
        return (void *)(uintptr_t)not_forwarded;
    return (dr_mode & DR_MODE_SPY) && dr_real_hooks[row] ? (void *)(uintptr_t)dr_real_hooks[row] : dr_real[row][suffixed];
}

/* Comes first, because what a call gives back is read only when it ended well. */
void dr_trace_result(dr_call *call, cu_result result)
{
    call->result = result;
}

static const char *comma(const dr_call *call)
{
    return call->text[call->length - 1] == '(' ? "" : ", ";
}

void dr_trace_text(dr_call *call, const char *name, const char *text)
{
    add(call, "%s%s=%s%.100s%s", comma(call), name, text ? "\"" : "", text ? text : "NULL", text ? "\"" : "");
}

void dr_trace_number(dr_call *call, const char *name, int64_t number)
{
    add(call, "%s%s=%" PRId64, comma(call), name, number);
}

void dr_trace_count(dr_call *call, const char *name, uint64_t number)
{
    add(call, "%s%s=%" PRIu64, comma(call), name, number);
}

void dr_trace_real(dr_call *call, const char *name, float number)
{
    add(call, "%s%s=%g", comma(call), name, (double)number);
}

void dr_trace_address(dr_call *call, const char *name, uint64_t address)
{
    add(call, "%s%s=0x%" PRIx64, comma(call), name, address);
}

void dr_trace_location(dr_call *call, const char *name, cu_location location)
{
    add(call, "%s%s={%d, %d}", comma(call), name, location.type, location.id);
}

void dr_trace_ipc(dr_call *call, const char *name, cu_ipc handle)
{
    add(call, "%s%s={", comma(call), name);
    for (size_t i = 0; i < sizeof handle.reserved; i++)
        add(call, "%02x", (unsigned char)handle.reserved[i]);
    add(call, "}");
}

void dr_trace_out64(dr_call *call, const char *name, const void *place)
{
    uint64_t value;
    if (!place || call->result) {
        dr_trace_address(call, name, (uint64_t)(uintptr_t)place);
        return;
    }
    memcpy(&value, place, sizeof value);
    add(call, "%s*%s=0x%" PRIx64, comma(call), name, value);
}

void dr_trace_out32(dr_call *call, const char *name, const void *place)
{
    int32_t value;
    if (!place || call->result) {
        dr_trace_address(call, name, (uint64_t)(uintptr_t)place);
        return;
    }
    memcpy(&value, place, sizeof value);
    add(call, "%s*%s=%d", comma(call), name, value);
}

void dr_trace_out_text(dr_call *call, const char *name, const char **place)
{
    if (place && !call->result)
        dr_trace_text(call, name, *place);
    else
        dr_trace_address(call, name, (uint64_t)(uintptr_t)place);
}

void dr_call_end(dr_call *call)
{
    const char *name = dr_error_name(call->result);
    add(call, ") = %d%s%s\n", call->result, call->result && name ? " " : "", call->result && name ? name : "");
    call->text[sizeof call->text - 2] = call->length == sizeof call->text - 1 ? '\n' : call->text[sizeof call->text - 2];
    fwrite(call->text, 1, call->length, stderr);
}

/* What CUDA's static runtime begins with, and gives up without: it may have come past `exec`, which recognises it. Other libraries, NVRTC
 * for one, ask as well and go on. */
static void tell_of_static_runtime(const void *caller)
{
    static const void *_Atomic told;
    Dl_info from = {0}, program = {0}, own = {0};
    dladdr((const void *)getauxval(AT_PHDR), &program);
    dladdr((const void *)&told, &own);
    if (!dladdr(caller, &from) || atomic_exchange(&told, from.dli_fbase) == from.dli_fbase)
        return;
    bool library = from.dli_fbase != program.dli_fbase && from.dli_fbase != own.dli_fbase && from.dli_fname;
    fprintf(stderr, "ptxbridge: %s asks for what only NVIDIA's own driver has (cuGetExportTable), as what is linked with CUDA's static runtime does.\n"
                    "%s with the shared runtime: nvcc -cudart shared …, or in CMake CUDA_RUNTIME_LIBRARY Shared.\n",
            library ? from.dli_fname : "this program", library ? "If it is and fails, link it" : "Link it");
}

cu_result dr_absent(int row)
{
    dr_decide();
    if (!(dr_mode & DR_MODE_FORWARD) && strcmp(dr_api[row].symbol, "cuGetExportTable") == 0)
        tell_of_static_runtime(__builtin_return_address(0));
    if (dr_mode & DR_MODE_TRACE)
        fprintf(stderr, "ptxbridge: %s(…) = 801 CUDA_ERROR_NOT_SUPPORTED\n", dr_api[row].symbol);
    return dr_ready() && !(dr_mode & DR_MODE_FORWARD) ? dr_ready() : dr_fail(DR_ERROR(NOT_SUPPORTED), "%s is not served", dr_api[row].symbol);
}
