/* device.c - devices, their targets, and names. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "runtime/sim/state.h"

static const sim_target_info targets[] = {
    {"gfx1100", SIM_GFX11, 32, true, true, false, false, 65536},
    {"gfx1101", SIM_GFX11, 32, true, true, false, false, 65536},
    {"gfx1151", SIM_GFX11, 32, true, true, false, false, 65536},
    {"gfx1200", SIM_GFX12, 32, true, true, true, false, 65536},
    {"gfx1201", SIM_GFX12, 32, true, true, true, false, 65536},
    {"gfx90a", SIM_GFX9, 64, true, false, false, false, 65536},
    {"gfx942", SIM_GFX9, 64, true, true, false, true, 65536},
    {"gfx950", SIM_GFX9, 64, true, true, false, false, 163840},
};

enum { MOST_THREADS = 256 };
enum { NTARGETS = sizeof targets / sizeof *targets };

const char *const *sim_targets(void)
{
    static const char *const names[] = {"gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201", "gfx90a", "gfx942", "gfx950", NULL};
    _Static_assert(sizeof names / sizeof *names == NTARGETS + 1, "one name for each target");
    return names;
}

const char *sim_status_name(sim_status status)
{
    static const char *const names[] = {"ok", "bad argument", "no memory", "not found", "bad input", "unsupported",
                                        "address fault", "misaligned", "stack overflow", "illegal call target", "trap", "deadlock", "timeout"};
    _Static_assert(sizeof names / sizeof *names == SIM_STATUS_COUNT, "one name for each status");
    return status < SIM_STATUS_COUNT ? names[status] : "?";
}

const char *sim_class_name(sim_class c)
{
    static const char *const names[] = {"VALU", "SALU", "LDS", "VMEM", "SMEM", "matrix", "other"};
    _Static_assert(sizeof names / sizeof *names == SIM_CLASS_COUNT, "one name for each class");
    return c < SIM_CLASS_COUNT ? names[c] : "?";
}

void sim_set_error(sim_error *error, sim_status status, const char *format, ...)
{
    if (!error) return;
    va_list list;
    va_start(list, format);
    error->status = status;
    vsnprintf(error->reason, sizeof error->reason, format, list);
    va_end(list);
}

/* 0: the variable holds no number of threads. */
static uint32_t choose_threads(uint32_t asked, sim_error *error)
{
    const char *env = getenv("PTXBRIDGE_SIM_THREADS");
    long n = (long)asked;
    if (!n && env && *env) {
        char *end;
        n = strtol(env, &end, 10);
        if (*end || n < 1 || n > MOST_THREADS) {
            sim_set_error(error, SIM_BAD_ARGUMENT, "PTXBRIDGE_SIM_THREADS is a number from 1 to %d, not '%.40s'", MOST_THREADS, env);
            return 0;
        }
    }
    if (!n) n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (uint32_t)n;
}

static const sim_target_info *find_target(const char *name)
{
    for (uint32_t k = 0; name && k < NTARGETS; k++)
        if (!strcmp(targets[k].name, name)) return &targets[k];
    return NULL;
}

sim_device *sim_open(const sim_options *options, sim_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    const sim_target_info *info = options ? find_target(options->target) : NULL;
    if (!info) {
        sim_set_error(error, SIM_NOT_FOUND, "no simulator for '%s'", options && options->target ? options->target : "");
        return NULL;
    }
    const uint32_t threads = choose_threads(options->threads, error);
    if (!threads) return NULL;
    sim_device *d = calloc(1, sizeof *d);
    uint64_t bytes = options->arena_bytes ? options->arena_bytes : (uint64_t)16 << 30;
    if (!d || !sim_memory_open(&d->memory, bytes)) {
        sim_set_error(error, SIM_NO_MEMORY, "cannot reserve %llu bytes of addresses", (unsigned long long)bytes);
        free(d);
        return NULL;
    }
    d->info = *info;
    d->threads = threads;
    pthread_mutex_init(&d->launch, NULL);
    pthread_mutex_init(&d->list, NULL);
    return d;
}

void sim_close(sim_device *device)
{
    if (!device) return;
    while (device->modules)
        sim_module_unload(device->modules);
    sim_memory_close(&device->memory);
    pthread_mutex_destroy(&device->launch);
    pthread_mutex_destroy(&device->list);
    free(device);
}

const char *sim_target(const sim_device *device) { return device->info.name; }
uint32_t sim_threads(const sim_device *device) { return device->threads; }
uint32_t sim_wave_size(const sim_device *device) { return device->info.wave; }
