/* state.c - what the library is in this process: which devices it stands for, or which real driver it steps aside for.
 *
 * Everything is decided by the first call that needs to know. PTXBRIDGE_DEVICE is a list of devices, "cpu,sim:gfx1100", one CUDA device
 * each, or "auto": NVIDIA's driver where one works, else every AMD GPU, else the CPU.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/real.h"
#include "runtime/driver/spy.h"

enum { MOST_DEVICES = 16 };

int dr_mode_bits = DR_MODE_UNDECIDED;
void *dr_real[DR_API_ROWS][2];
_Thread_local bool dr_per_thread;
bool dr_forked;

/* runtime/cuda/ looks for this when it opens a libcuda.so.1: such a one leads back to us. */
DR_EXPORT extern const int pxb_shim;
const int pxb_shim = 1;

static pthread_once_t decide_once = PTHREAD_ONCE_INIT;
static dr_device devices[MOST_DEVICES];
static int ndevices;
static char why_none[512];
static _Atomic bool initialised;

/* ------------------------------------------------------------ a real driver */

static const char *const places[] = {
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/aarch64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
};

static bool driver_works(void *library)
{
    cu_result (*init)(uint32_t) = (cu_result(*)(uint32_t))(uintptr_t)dlsym(library, "cuInit");
    cu_result (*count)(int *) = (cu_result(*)(int *))(uintptr_t)dlsym(library, "cuDeviceGetCount");
    int n = 0;
    return init && count && !dlsym(library, "pxb_shim") && init(0) == CUABI_SUCCESS && count(&n) == CUABI_SUCCESS && n > 0;
}

/* RTLD_DEEPBIND: its own references must not end here, where the same names are exported. */
static void *open_driver(void)
{
    const char *chosen = getenv("PTXBRIDGE_CUDA_LIBRARY");
    size_t n = chosen && *chosen ? 1 : sizeof places / sizeof *places;
    for (size_t i = 0; i < n; i++) {
        const char *path = chosen && *chosen ? chosen : places[i];
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#else
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#endif
        if (library && driver_works(library))
            return library;
        if (library)
            dlclose(library);
    }
    return NULL;
}

static bool forward_to_driver(void)
{
    void *library = open_driver();
    if (!library)
        return false;
    for (int i = 0; i < DR_API_ROWS; i++) {
        char symbol[128];
        dr_real[i][0] = dlsym(library, dr_api[i].symbol);
        snprintf(symbol, sizeof symbol, "%s%s", dr_api[i].symbol, dr_api[i].suffix);
        if (dr_api[i].suffix[0])
            dr_real[i][1] = dlsym(library, symbol);
    }
    return true;
}

/* ------------------------------------------------------------ choosing */

/* "89", "8.9"; 0 when it is no capability. */
static int read_capability(const char *text)
{
    char digits[8] = "";
    size_t n = 0;
    for (; *text && n + 1 < sizeof digits; text++)
        if (isdigit((unsigned char)*text))
            digits[n++] = *text;
        else if (*text != '.')
            return 0;
    int value = atoi(digits);
    return value >= 50 && value < 200 ? value : 0;
}

pxb_mma_model dr_model_of(int capability)
{
    return capability >= 100  ? PXB_MMA_BLACKWELL
           : capability >= 90 ? PXB_MMA_HOPPER
           : capability >= 89 ? PXB_MMA_ADA
           : capability >= 80 ? PXB_MMA_AMPERE
           : capability >= 75 ? PXB_MMA_TURING
                              : PXB_MMA_VOLTA;
}

/* What is wrong with the environment is told whether or not there is a log: nothing will work. */
static void refuse(const char *format, const char *text)
{
    if (!why_none[0]) {
        snprintf(why_none, sizeof why_none, format, text);
        fprintf(stderr, "ptxbridge: %s\n", why_none);
    }
}

static void add_device(const char *choice, size_t length)
{
    if (ndevices == MOST_DEVICES)
        refuse("PTXBRIDGE_DEVICE=%s: more than 16 devices", getenv("PTXBRIDGE_DEVICE"));
    if (ndevices == MOST_DEVICES || length == 0)
        return;
    const char *wanted = getenv("PTXBRIDGE_CAPABILITY");
    int capability = wanted && *wanted ? read_capability(wanted) : 0;
    if (wanted && *wanted && !capability)
        refuse("PTXBRIDGE_CAPABILITY=%s is no compute capability: 5.0 to 19.9", wanted);
    dr_device *d = &devices[ndevices];
    d->ordinal = ndevices++;
    snprintf(d->choice, sizeof d->choice, "%.*s", (int)length, choice);
    d->capability = capability ? capability : 89;
    d->mma_model = dr_model_of(d->capability);
    pthread_mutex_init(&d->lock, NULL);
}

static const rt_device_ops *kind_named(const char *name)
{
    for (uint32_t i = 0; i < rt_device_kind_count; i++)
        if (strcmp(rt_device_kinds[i]->name, name) == 0)
            return rt_device_kinds[i];
    return NULL;
}

static void choose_best(void)
{
    const rt_device_ops *hip = kind_named("hip");
    if (hip && !hip->unavailable()) {
        /* "0 1 2": the GPUs that there are */
        const char *choices = hip->choices ? hip->choices() : NULL;
        for (const char *p = choices ? choices : ""; *p;) {
            char name[64];
            size_t n = strcspn(p, " ");
            snprintf(name, sizeof name, "hip:%.*s", (int)n, p);
            add_device(name, strlen(name));
            p += n + (p[n] == ' ');
        }
        if (ndevices == 0)
            add_device("hip", 3);
    }
    if (ndevices == 0)
        add_device("cpu", 3);
}

/* CUDA_VISIBLE_DEVICES as NVIDIA documents it: a list of ordinals that ends at the first one that does not exist. */
static void hide_devices(void)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    dr_device kept[MOST_DEVICES];
    int n = 0;
    if (!text)
        return;
    while (n < MOST_DEVICES) {
        char *end;
        long ordinal = strtol(text, &end, 10);
        if (end == text || ordinal < 0 || ordinal >= ndevices)
            break;
        kept[n] = devices[ordinal];
        kept[n].ordinal = n;
        n++;
        if (*end != ',')
            break;
        text = end + 1;
    }
    memcpy(devices, kept, (size_t)n * sizeof *kept);
    ndevices = n;
}

static bool is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

static void decide(void)
{
    const char *choice = getenv("PTXBRIDGE_DEVICE");
    bool any = !choice || !*choice || strcmp(choice, "auto") == 0;
    int mode = (is_set("PTXBRIDGE_TRACE") ? DR_MODE_TRACE : 0) | (is_set("PTXBRIDGE_LOG") ? DR_MODE_LOG : 0);
    if ((any || strcmp(choice, "cuda") == 0) && forward_to_driver())
        mode |= DR_MODE_FORWARD | (dr_real_spied() ? DR_MODE_SPY : 0);
    else if (any)
        choose_best();
    else if (strcmp(choice, "cuda") == 0)
        refuse("PTXBRIDGE_DEVICE=%s: there is no NVIDIA driver that works", choice);
    else
        for (const char *p = choice; *p;) {
            size_t n = strcspn(p, ",");
            add_device(p, n);
            p += n + (p[n] == ',');
        }
    hide_devices();
    if (why_none[0])
        ndevices = 0;
    __atomic_store_n(&dr_mode_bits, mode, __ATOMIC_RELEASE);
}

void dr_decide(void)
{
    pthread_once(&decide_once, decide);
}

cu_result dr_ready(void)
{
    return atomic_load_explicit(&initialised, memory_order_acquire) ? CUABI_SUCCESS : DR_ERROR(NOT_INITIALIZED);
}

static void forked(void)
{
    if (!atomic_load(&initialised))        /* nothing was begun: the child may begin */
        return;
    dr_forked = true;
    atomic_store(&initialised, false);
    dr_contexts_forked();
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forked);
}

cu_result impl_cuInit(uint32_t flags)
{
    static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
    if (flags)
        return DR_ERROR(INVALID_VALUE);
    if (dr_forked)
        return dr_fail(DR_ERROR(NOT_INITIALIZED), "the parent of this process had initialised the driver before fork()");
    pthread_once(&watch_once, watch_forks);
    dr_decide();
    if (ndevices == 0)
        return dr_fail(DR_ERROR(NO_DEVICE), "%s", why_none[0] ? why_none : "no device is visible");
    /* Each must be what it claims to be before a program counts on it; a wrong name is told now. */
    for (int i = 0; i < ndevices; i++) {
        cu_result result = dr_device_open(&devices[i]);
        if (result)
            return DR_ERROR(NO_DEVICE);
    }
    if (!dr_spy_start())
        return DR_ERROR(INVALID_VALUE);
    atomic_store_explicit(&initialised, true, memory_order_release);
    return CUABI_SUCCESS;
}

cu_result impl_cuDriverGetVersion(int *driver_version)
{
    DR_NEED(driver_version);
    *driver_version = DR_VERSION;
    return CUABI_SUCCESS;
}

int dr_device_count(void)
{
    return ndevices;
}

dr_device *dr_device_at(int ordinal)
{
    return ordinal >= 0 && ordinal < ndevices ? &devices[ordinal] : NULL;
}

/* ------------------------------------------------------------ opening */

static uint32_t number_property(pxb_device *device, const char *name, uint32_t otherwise)
{
    pxb_property p;
    for (uint32_t i = 0; device->ops->property(device, i, &p); i++)
        if (strcmp(p.name, name) == 0)
            return (uint32_t)strtoul(p.value, NULL, 10);
    return otherwise;
}

static const char *text_property(pxb_device *device, const char *name)
{
    pxb_property p;
    for (uint32_t i = 0; device->ops->property(device, i, &p); i++)
        if (strcmp(p.name, name) == 0)
            return p.value;
    return NULL;
}

/* No more than the machine has: programs size their buffers by it. */
static uint64_t memory_of(pxb_device *device)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const char *used = text_property(device, "memory used");
    uint64_t n = used ? strtoull(used, NULL, 10) : 0;
    const char *left = text_property(device, "memory free");
    n += left ? strtoull(left, NULL, 10) : machine;
    return n < machine ? n : machine;
}

static void describe(dr_device *d)
{
    const rt_device_ops *ops = d->device->ops;
    const char *model = text_property(d->device, strcmp(ops->name, "hip") == 0 ? "name" : "target");
    bool cpu = strcmp(ops->name, "cpu") == 0;
    d->concurrent = ops->concurrent;
    d->host_addresses = ops->host_addresses;
    d->shares_memory = ops->host_addresses || ops->alloc_shared;
    d->processors = number_property(d->device, "compute units", number_property(d->device, "workers", 1));
    d->memory_bytes = memory_of(d->device);
    if (cpu)
        snprintf(d->name, sizeof d->name, "ptxbridge CPU");
    else
        snprintf(d->name, sizeof d->name, "ptxbridge %s%s%s", ops->name, model ? " " : "", model ? model : "");
}

cu_result dr_device_open(dr_device *d)
{
    cu_result result = CUABI_SUCCESS;
    pthread_mutex_lock(&d->lock);
    if (!d->device) {
        pxb_context *pxb = NULL;
        pxb_status status = pxb_context_create(&pxb);
        if (!status)
            status = pxb_device_open(pxb, d->choice, &d->device);
        if (status) {
            /* Told whether or not there is a log: nothing will work, and the reason is in the environment. */
            fprintf(stderr, "ptxbridge: %s\n", pxb ? pxb_last_error(pxb)->message : "out of memory");
            pxb_context_destroy(pxb);
            result = dr_result(status);
        } else {
            d->pxb = pxb;
            describe(d);
        }
    }
    pthread_mutex_unlock(&d->lock);
    return result;
}

/* ------------------------------------------------------------ errors of a thread */

static pthread_once_t errors_once = PTHREAD_ONCE_INIT;
static pthread_key_t errors_key;
static _Thread_local pxb_context *thread_errors;

static void drop_errors(void *context)
{
    pxb_context_destroy(context);
}

static void make_errors_key(void)
{
    pthread_key_create(&errors_key, drop_errors);
}

pxb_context *dr_thread_errors(void)
{
    static pxb_context none;       /* without memory: errors of several threads may mix, nothing else */
    if (!thread_errors) {
        pthread_once(&errors_once, make_errors_key);
        if (pxb_context_create(&thread_errors))
            return &none;
        pthread_setspecific(errors_key, thread_errors);
    }
    return thread_errors;
}

void dr_device_view(const dr_device *device, pxb_context *errors, pxb_device *view)
{
    *view = *device->device;
    view->context = errors;
}
