/* state.c - what a thread remembers, and primary contexts. */
#include <pthread.h>
#include "runtime/cudart/internal.h"

__thread thread_state thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cu_context primaries[MOST_DEVICES];          /* retained once by this library */
static _Atomic uint32_t resets;

cudart_error use_device(int device)
{
    TRY(start_driver());
    int count;
    TRY(driver.cuDeviceGetCount(&count));
    if (count == 0)
        return RT_cudaErrorNoDevice;
    if (device < 0 || device >= count || device >= MOST_DEVICES)
        return RT_cudaErrorInvalidDevice;
    cudart_error error = RT_cudaSuccess;
    pthread_mutex_lock(&lock);
    if (!primaries[device])
        error = driver.cuDevicePrimaryCtxRetain(&primaries[device], device);
    cu_context context = primaries[device];
    pthread_mutex_unlock(&lock);
    TRY(error);
    TRY(driver.cuCtxSetCurrent(context));
    thread.device = device;
    return RT_cudaSuccess;
}

cudart_error enter(void)
{
    TRY(start_driver());
    cu_context context;
    TRY(driver.cuCtxGetCurrent(&context));
    if (context && thread.resets != resets) {
        /* Another thread has reset a device: if it was this one's, its next call begins anew. */
        uint32_t version;
        thread.resets = resets;
        if (driver.cuCtxGetApiVersion(context, &version))
            context = NULL;
    }
    return context ? RT_cudaSuccess : use_device(thread.device);
}

cudart_error sound(void)
{
    return driver.cuCtxGetStreamPriorityRange(NULL, NULL);
}

cudart_error current_device(int *device)
{
    TRY(start_driver());
    cu_context context;
    TRY(driver.cuCtxGetCurrent(&context));
    if (context)
        return driver.cuCtxGetDevice(device);
    int count;
    TRY(driver.cuDeviceGetCount(&count));
    if (count == 0)
        return RT_cudaErrorNoDevice;
    *device = thread.device;
    return RT_cudaSuccess;
}

void forget_device(int device)
{
    pthread_mutex_lock(&lock);
    primaries[device] = NULL;
    resets++;
    pthread_mutex_unlock(&lock);
    driver.cuCtxSetCurrent(NULL);
}

cudart_error primary_of(int device, cu_context *context)
{
    int now;
    TRY(enter());
    TRY(current_device(&now));
    cu_context chosen;
    TRY(driver.cuCtxGetCurrent(&chosen));
    TRY(use_device(device));
    TRY(driver.cuCtxGetCurrent(context));
    thread.device = now;
    return driver.cuCtxSetCurrent(chosen);
}
