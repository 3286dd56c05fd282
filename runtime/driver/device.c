/* device.c - cuDevice…: what programs ask of a device before they use it.
 *
 * Limits of launches are the engines' own where they have them, else those of a GPU of the claimed capability: occupancy
 * calculators and library code divide by these numbers, so none may be absurd.
 */
#include <stdio.h>
#include <string.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/limits.h"

cu_result impl_cuDeviceGetCount(int *count)
{
    DR_NEED(count);
    cu_result ready = dr_ready();
    if (!ready)
        *count = dr_device_count();
    return ready;
}

cu_result impl_cuDeviceGet(cu_device *device, int ordinal)
{
    DR_NEED(device);
    cu_result ready = dr_ready();
    if (ready)
        return ready;
    if (!dr_device_at(ordinal))
        return DR_ERROR(INVALID_DEVICE);
    *device = ordinal;
    return CUABI_SUCCESS;
}

/* The device of a call, or the error. */
static cu_result use_device(cu_device ordinal, dr_device **out)
{
    cu_result ready = dr_ready();
    if (ready)
        return ready;
    *out = dr_device_at(ordinal);
    return *out ? CUABI_SUCCESS : DR_ERROR(INVALID_DEVICE);
}

#define USE_DEVICE(d, ordinal)                                                                                         \
    dr_device *d;                                                                                                      \
    cu_result d##_result_ = use_device(ordinal, &d);                                                                   \
    if (d##_result_)                                                                                                   \
    return d##_result_

cu_result impl_cuDeviceGetName(char *name, int size, cu_device device)
{
    DR_NEED(name && size > 0);
    USE_DEVICE(d, device);
    snprintf(name, (size_t)size, "%s", d->name);
    return CUABI_SUCCESS;
}

/* The same for the same device in every process: from its name and number. */
cu_result impl_cuDeviceGetUuid(cu_uuid *uuid, cu_device device)
{
    DR_NEED(uuid);
    USE_DEVICE(d, device);
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *p = d->choice; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
    memset(uuid, 0, sizeof *uuid);
    memcpy(uuid->bytes, "ptxb", 4);
    memcpy(uuid->bytes + 4, &hash, sizeof hash);
    uuid->bytes[15] = (unsigned char)d->ordinal;
    return CUABI_SUCCESS;
}

cu_result impl_cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device)
{
    return impl_cuDeviceGetUuid(uuid, device);
}

cu_result impl_cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
    DR_NEED(bytes);
    USE_DEVICE(d, device);
    *bytes = d->memory_bytes;
    return CUABI_SUCCESS;
}

cu_result impl_cuDeviceComputeCapability(int *major, int *minor, cu_device device)
{
    DR_NEED(major && minor);
    USE_DEVICE(d, device);
    *major = d->capability / 10;
    *minor = d->capability % 10;
    return CUABI_SUCCESS;
}

cu_result impl_cuDeviceGetPCIBusId(char *bus_id, int size, cu_device device)
{
    DR_NEED(bus_id && size > 0);
    USE_DEVICE(d, device);
    snprintf(bus_id, (size_t)size, "0000:%02x:00.0", d->ordinal + 1);
    return CUABI_SUCCESS;
}

cu_result impl_cuDeviceGetByPCIBusId(cu_device *device, const char *bus_id)
{
    DR_NEED(device && bus_id);
    cu_result ready = dr_ready();
    if (ready)
        return ready;
    unsigned domain = 0, bus, slot;
    bool full = sscanf(bus_id, "%x:%x:%x", &domain, &bus, &slot) == 3;
    if (!full && sscanf(bus_id, "%x:%x", &bus, &slot) != 2)
        return DR_ERROR(INVALID_VALUE);
    if (domain || slot || bus == 0 || !dr_device_at((int)bus - 1))
        return DR_ERROR(INVALID_DEVICE);
    *device = (cu_device)bus - 1;
    return CUABI_SUCCESS;
}

cu_result impl_cuDeviceGetProperties(cu_devprop *props, cu_device device)
{
    DR_NEED(props);
    USE_DEVICE(d, device);
    *props = (cu_devprop){DR_MAX_THREADS, {DR_MAX_THREADS, DR_MAX_THREADS, 64}, {DR_MAX_GRID_X, DR_MAX_GRID_YZ, DR_MAX_GRID_YZ},
                          DR_SHARED_DEFAULT, DR_CONSTANT_BYTES, 32, DR_MAX_PITCH, DR_REGISTERS, DR_CLOCK_KHZ, DR_TEXTURE_ALIGNMENT};
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ attributes */

/* Numbers of CUdevice_attribute whose value is the same for every device; what is not here and not below is 0. */
static const struct { int attribute, value; } fixed[] = {
    {1, DR_MAX_THREADS}, {2, DR_MAX_THREADS}, {3, DR_MAX_THREADS}, {4, 64},            /* block */
    {5, DR_MAX_GRID_X}, {6, DR_MAX_GRID_YZ}, {7, DR_MAX_GRID_YZ},                      /* grid */
    {8, DR_SHARED_DEFAULT}, {9, DR_CONSTANT_BYTES}, {10, 32}, {11, DR_MAX_PITCH}, {12, DR_REGISTERS},
    {13, DR_CLOCK_KHZ}, {14, DR_TEXTURE_ALIGNMENT},
    {15, 1},                                                                           /* copies overlap kernels */
    {19, 1},                                                                           /* can map host memory */
    {21, 131072}, {22, 131072}, {23, 65536}, {24, 16384}, {25, 16384}, {26, 16384},    /* textures: 1D, 2D, 3D */
    {27, 32768}, {28, 32768}, {29, 2048},                                              /* layered 2D */
    {30, DR_TEXTURE_ALIGNMENT}, {31, 1},
    {36, 9000000}, {37, 256},                                                          /* memory clock, bus */
    {38, 32 << 20}, {39, DR_THREADS_PER_SM}, {40, 2}, {41, 1},                         /* L2, unified addressing */
    {42, 32768}, {43, 2048}, {44, 1}, {45, 32768}, {46, 32768},
    {47, 8192}, {48, 8192}, {49, 32768}, {51, 32},
    {52, 32768}, {53, 32768}, {54, 2046},                                              /* cubes */
    {55, 32768}, {56, 131072}, {57, 65536}, {58, 16384}, {59, 16384}, {60, 16384},     /* surfaces */
    {61, 32768}, {62, 2048}, {63, 32768}, {64, 32768}, {65, 2048}, {66, 32768}, {67, 32768}, {68, 2046},
    {69, 268435456}, {70, 131072}, {71, 65000}, {72, 2097120}, {73, 32768}, {74, 32768}, {77, 32768},
    {78, 1}, {79, 1}, {80, 1},
    {81, DR_SHARED_PER_SM}, {82, DR_REGISTERS},
    {87, 64},                                                                          /* f32 : f64 */
    {90, 1},
    {97, DR_SHARED_OPTIN}, {99, 1}, {106, DR_BLOCKS_PER_SM}, {108, 0}, {111, DR_SHARED_RESERVED},
    {115, 1},                                                                          /* pools */
    {126, 1}, {130, 0}, {131, -1}, {134, 0},
};

/* What depends on the device; false when the number is none of these. */
static bool own_attribute(const dr_device *d, int attribute, int *value)
{
    switch (attribute) {
    case 16: *value = (int)d->processors; return true;
    case 18: *value = d->host_addresses; return true;                  /* integrated */
    case 33: *value = d->ordinal + 1; return true;                     /* PCI bus */
    case 75: *value = d->capability / 10; return true;
    case 76: *value = d->capability % 10; return true;
    case 83: case 89: case 91: case 92: case 93: case 101: case 122:   /* managed memory, pointers of registered memory */
        *value = d->shares_memory;
        return true;
    case 86: *value = d->concurrent; return true;                      /* atomics shared with the host */
    case 94: case 123: *value = d->host_addresses; return true;
    case CUABI_CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CUABI_CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
        *value = d->device->ops->reserve != NULL;
        return true;
    case CUABI_CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED: *value = d->device->ops->share != NULL; return true;
    case 95: *value = !rt_why_not_cooperative(d->device); return true;                              /* cooperative launches */
    default: return false;
    }
}

cu_result impl_cuDeviceGetAttribute(int *value, int32_t attribute, cu_device device)
{
    DR_NEED(value);
    USE_DEVICE(d, device);
    if (attribute < 1 || attribute > DR_LAST_ATTRIBUTE)
        return DR_ERROR(INVALID_VALUE);
    *value = 0;
    if (own_attribute(d, attribute, value))
        return CUABI_SUCCESS;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].attribute == attribute)
            *value = fixed[i].value;
    return CUABI_SUCCESS;
}
