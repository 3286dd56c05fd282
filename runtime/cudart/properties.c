/* properties.c - cudaDeviceProp, filled from the driver's attributes. */
#include <string.h>
#include "runtime/cudart/internal.h"

typedef enum field_type { INTEGER, SIZE } field_type;
typedef struct field { size_t offset; field_type type; int attribute; } field;

#define INT(name, attribute) {offsetof(cudart_properties, name), INTEGER, attribute}
#define LONG(name, attribute) {offsetof(cudart_properties, name), SIZE, attribute}

/* Numbers of CUdevice_attribute. */
static const field fields[] = {
    LONG(shared_block, 8), INT(registers_block, 12), INT(warp, 10), LONG(pitch, 11), INT(threads_block, 1), INT(block_dim[0], 2),
    INT(block_dim[1], 3), INT(block_dim[2], 4), INT(grid_dim[0], 5), INT(grid_dim[1], 6), INT(grid_dim[2], 7), LONG(const_memory, 9),
    INT(major, 75), INT(minor, 76), LONG(texture_alignment, 14), LONG(texture_pitch_alignment, 51), INT(multiprocessors, 16),
    INT(integrated, 18), INT(map_host, 19), INT(texture_1d, 21), INT(texture_1d_mip, 77), INT(texture_2d[0], 22),
    INT(texture_2d[1], 23), INT(texture_2d_mip[0], 73), INT(texture_2d_mip[1], 74), INT(texture_2d_linear[0], 70),
    INT(texture_2d_linear[1], 71), INT(texture_2d_linear[2], 72), INT(texture_2d_gather[0], 45), INT(texture_2d_gather[1], 46),
    INT(texture_3d[0], 24), INT(texture_3d[1], 25), INT(texture_3d[2], 26), INT(texture_3d_alt[0], 47), INT(texture_3d_alt[1], 48),
    INT(texture_3d_alt[2], 49), INT(texture_cube, 52), INT(texture_1d_layered[0], 42), INT(texture_1d_layered[1], 43),
    INT(texture_2d_layered[0], 27), INT(texture_2d_layered[1], 28), INT(texture_2d_layered[2], 29), INT(texture_cube_layered[0], 53),
    INT(texture_cube_layered[1], 54), INT(surface_1d, 55), INT(surface_2d[0], 56), INT(surface_2d[1], 57), INT(surface_3d[0], 58),
    INT(surface_3d[1], 59), INT(surface_3d[2], 60), INT(surface_1d_layered[0], 61), INT(surface_1d_layered[1], 62),
    INT(surface_2d_layered[0], 63), INT(surface_2d_layered[1], 64), INT(surface_2d_layered[2], 65), INT(surface_cube, 66),
    INT(surface_cube_layered[0], 67), INT(surface_cube_layered[1], 68), LONG(surface_alignment, 30), INT(concurrent_kernels, 31),
    INT(ecc, 32), INT(pci_bus, 33), INT(pci_device, 34), INT(pci_domain, 50), INT(tcc, 35), INT(async_engines, 40),
    INT(unified_addressing, 41), INT(bus_width, 37), INT(l2, 38), INT(l2_persisting, 108), INT(threads_multiprocessor, 39),
    INT(priorities, 78), INT(global_l1, 79), INT(local_l1, 80), LONG(shared_multiprocessor, 81), INT(registers_multiprocessor, 82),
    INT(managed, 83), INT(multi_gpu_board, 84), INT(multi_gpu_group, 85), INT(host_atomics, 86), INT(pageable_access, 88),
    INT(concurrent_managed, 89), INT(preemption, 90), INT(host_pointer, 91), INT(cooperative, 95), LONG(shared_optin, 97),
    INT(host_page_tables, 100), INT(direct_managed, 101), INT(blocks_multiprocessor, 106), INT(access_window, 109),
    LONG(shared_reserved, 111), INT(host_register, 99), INT(sparse_arrays, 112), INT(host_register_readonly, 113),
    INT(timeline_semaphores, 114), INT(memory_pools, 115), INT(rdma, 116), INT(rdma_flush, 117), INT(rdma_ordering, 118),
    INT(pool_handles, 119), INT(deferred_arrays, 121), INT(ipc_event, 125), INT(cluster, 120), INT(unified_functions, 129),
#if CUDART_MAJOR >= 13
    INT(numa_config, 130), INT(numa_id, 131), INT(mps, 133), INT(host_numa, 134), INT(pci_device_id, 139), INT(pci_subsystem, 140),
    INT(numa_ipc, 143),
#else
    INT(clock_rate, 13), INT(overlap, 15), INT(kernel_timeout, 17), INT(compute_mode, 20), INT(texture_1d_linear, 69),
    INT(memory_clock, 36), INT(double_ratio, 87), INT(cooperative_multi_device, 96),
#endif
};

/* An attribute that the driver does not know leaves 0. */
static void fill(cudart_properties *out, int device)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int value = 0;
        if (driver.cuDeviceGetAttribute(&value, fields[i].attribute, device))
            value = 0;
        if (fields[i].type == INTEGER)
            *(int *)((char *)out + fields[i].offset) = value;
        else
            *(size_t *)((char *)out + fields[i].offset) = (size_t)value;
    }
}

static cudart_error properties(cudart_properties *out, int device)
{
    if (!out)
        return RT_cudaErrorInvalidValue;
    TRY(start_driver());
    cudart_properties made;
    memset(&made, 0, sizeof made);
    TRY(driver.cuDeviceGetName(made.name, sizeof made.name, device));
    TRY(driver.cuDeviceTotalMem_v2(&made.total_memory, device));
    cu_uuid uuid;
    if (!driver.cuDeviceGetUuid_v2(&uuid, device))
        memcpy(made.uuid, &uuid, sizeof made.uuid);
    fill(&made, device);
    *out = made;
    return RT_cudaSuccess;
}

#if CUDART_MAJOR >= 13
API cudart_error cudaGetDeviceProperties(cudart_properties *out, int device)
#else
API cudart_error cudaGetDeviceProperties_v2(cudart_properties *out, int device)
#endif
{
    return record(properties(out, device));
}

/* The device with the highest capability that is at least the one asked for; the first one where none is. */
API cudart_error cudaChooseDevice(int *device, const cudart_properties *wanted)
{
    int count = 0;
    if (!device || !wanted)
        return record(RT_cudaErrorInvalidValue);
    cudart_error error = start_driver();
    if (!error)
        error = driver.cuDeviceGetCount(&count);
    if (error || !count)
        return record(error ? error : RT_cudaErrorNoDevice);
    int best = 0, best_rank = -1;
    for (int i = 0; i < count; i++) {
        cudart_properties p;
        error = properties(&p, i);
        if (error)
            return record(error);
        int rank = p.major * 10 + p.minor;
        if (rank >= wanted->major * 10 + wanted->minor && p.total_memory >= wanted->total_memory && rank > best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    *device = best;
    return RT_cudaSuccess;
}
