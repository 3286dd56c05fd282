/* real.c - the hooks of calls on their way to a real driver, and what they share (real.h). */
#include "runtime/driver/real.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/driver/spy.h"

#define HOOK_ROW(symbol) [DR_ROW_##symbol] = (dr_any_fn)real_##symbol,
const dr_any_fn dr_real_hooks[DR_API_ROWS] = {DR_REAL_HOOKS(HOOK_ROW)};

static bool refused;                   /* the environment asks for what cannot be */
static _Atomic bool initialised;

bool dr_real_spied(void)
{
    refused = !dr_spy_start();
    return refused || dr_spying;
}

void dr_real_tell_once(atomic_flag *told, const char *text)
{
    if (!atomic_flag_test_and_set(told))
        fprintf(stderr, "ptxbridge: %s\n", text);
}

/* ------------------------------------------------------------ the start, and forks */

bool dr_real_usable(void)
{
    return dr_spying && !dr_forked;
}

static void forked(void)
{
    dr_forked = atomic_load(&initialised);     /* nothing was begun: the child may begin */
}

/* Before the driver's own end, which came before this. */
static void begin_to_watch(void)
{
    pthread_atfork(NULL, NULL, forked);
    atexit(dr_real_times_end);
}

cu_result real_cuInit(uint32_t flags)
{
    static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
    if (refused)
        return DR_ERROR(INVALID_VALUE);
    cu_result result = DR_NEXT(cuInit)(flags);
    pthread_once(&watch_once, begin_to_watch);
    if (!result)
        atomic_store(&initialised, true);
    return result;
}

/* ------------------------------------------------------------ contexts */

enum { MOST_DEVICES = 64 };

/* Primary contexts: which one a device has, and how many times it was asked for. */
static struct { cu_context context; uint32_t count; } primary[MOST_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

cu_context dr_real_context(void)
{
    cu_context c = NULL;
    return DR_REAL(cuCtxGetCurrent) && DR_REAL(cuCtxGetCurrent)(&c) == CUABI_SUCCESS ? c : NULL;
}

int dr_real_capability(void)
{
    cu_device device = 0;
    int major = 0, minor = 0;
    if (DR_REAL(cuCtxGetDevice) && DR_REAL(cuCtxGetDevice)(&device) != CUABI_SUCCESS)
        device = 0;
    if (DR_REAL(cuDeviceGetAttribute)) {
        DR_REAL(cuDeviceGetAttribute)(&major, CUABI_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        DR_REAL(cuDeviceGetAttribute)(&minor, CUABI_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    }
    return 10 * major + minor;
}

/* What was noted of a context goes before it does: the same handles may be given again at once. */
static void leave(cu_context context)
{
    if (!context)
        return;
    dr_real_times_leave(context);
    dr_real_code_leave(context);
    dr_real_objects_leave(context);
    dr_real_captures_leave(context);
}

cu_result real_cuCtxDestroy(cu_context context)
{
    leave(context);
    return DR_NEXT(cuCtxDestroy)(context);
}

cu_result real_cuCtxDestroy_v2(cu_context context)
{
    leave(context);
    return DR_NEXT(cuCtxDestroy_v2)(context);
}

cu_result real_cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    cu_result result = DR_NEXT(cuDevicePrimaryCtxRetain)(context, device);
    if (!result && device >= 0 && device < MOST_DEVICES) {
        pthread_mutex_lock(&lock);
        primary[device].context = *context;
        primary[device].count++;
        pthread_mutex_unlock(&lock);
    }
    return result;
}

/* Released by everyone, or reset, it is gone. */
static void release(cu_device device, bool reset)
{
    cu_context gone = NULL;
    if (device < 0 || device >= MOST_DEVICES)
        return;
    pthread_mutex_lock(&lock);
    if (primary[device].count && !reset)
        primary[device].count--;
    if (reset || primary[device].count == 0)
        gone = primary[device].context;
    pthread_mutex_unlock(&lock);
    leave(gone);
}

cu_result real_cuDevicePrimaryCtxRelease(cu_device device)
{
    release(device, false);
    return DR_NEXT(cuDevicePrimaryCtxRelease)(device);
}

cu_result real_cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    release(device, false);
    return DR_NEXT(cuDevicePrimaryCtxRelease_v2)(device);
}

cu_result real_cuDevicePrimaryCtxReset(cu_device device)
{
    release(device, true);
    return DR_NEXT(cuDevicePrimaryCtxReset)(device);
}

cu_result real_cuDevicePrimaryCtxReset_v2(cu_device device)
{
    release(device, true);
    return DR_NEXT(cuDevicePrimaryCtxReset_v2)(device);
}
