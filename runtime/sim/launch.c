/* launch.c - a launch: checks, kernel arguments with the hidden ones, the dispatch packet.
 *
 * LLVM, "User Guide for AMDGPU Backend", "Code Object V5 Kernel Argument Metadata Map"; the packet is
 * hsa_kernel_dispatch_packet_t of the "HSA Runtime Programmer's Reference Manual", of which code reads the sizes.
 */
#include <stdio.h>
#include "runtime/sim/state.h"

enum { PACKET_BYTES = 64, KERNARG_SLACK = 64 };

/* ------------------------------------------------------------ hidden arguments, by index of sim_hidden_names */

static uint64_t hidden_value(const sim_launch *l, uint32_t kind)
{
    switch (kind) {
    case 1: case 2: case 3: return l->grid[kind - 1];
    case 4: case 5: case 6: return l->block[kind - 4];
    case 13: return l->grid[2] > 1 || l->block[2] > 1 ? 3 : l->grid[1] > 1 || l->block[1] > 1 ? 2 : 1;
    case 14: return l->dynamic_lds;
    case 15: return SIM_PRIVATE_BASE >> 32;
    case 16: return SIM_SHARED_BASE >> 32;
    default: return 0;                   /* remainders (blocks are whole) and global offsets */
    }
}

static void fill_arguments(const sim_kernel *k, const sim_launch *l, uint8_t *to)
{
    if (l->kernarg_bytes) memcpy(to, l->kernarg, l->kernarg_bytes);
    for (uint32_t h = 0; h < k->nhidden; h++) {
        uint64_t value = hidden_value(l, k->hidden[h].kind);
        memcpy(to + k->hidden[h].offset, &value, k->hidden[h].size);
    }
}

static void fill_packet(const sim_kernel *k, const sim_launch *l, uint64_t kernarg, uint8_t *to)
{
    uint16_t dimensions = 3;
    memcpy(to + 2, &dimensions, 2);
    for (uint32_t d = 0; d < 3; d++) {
        uint16_t block = (uint16_t)l->block[d];
        uint32_t threads = l->grid[d] * l->block[d];
        memcpy(to + 4 + 2 * d, &block, 2);
        memcpy(to + 12 + 4 * d, &threads, 4);
    }
    uint32_t lds = k->info.lds_bytes + l->dynamic_lds;
    memcpy(to + 24, &k->info.scratch_bytes, 4);
    memcpy(to + 28, &lds, 4);
    memcpy(to + 40, &kernarg, 8);
}

/* ------------------------------------------------------------ checks */

static bool check(const sim_kernel *k, const sim_launch *l, sim_error *e)
{
    uint64_t threads = 1;
    for (uint32_t d = 0; d < 3; d++) {
        if (!l->grid[d] || !l->block[d] || l->block[d] > 1024 || (uint64_t)l->grid[d] * l->block[d] > UINT32_MAX ||
            (d && l->grid[d] > UINT16_MAX)) {
            sim_set_error(e, SIM_BAD_ARGUMENT, "grid %u and block %u in dimension %u: AMD's dispatch packet counts at most 4294967295 threads in each "
                          "dimension, 65535 blocks in the second and third, and 1024 threads of a block", l->grid[d], l->block[d], d);
            return false;
        }
        threads *= l->block[d];
    }
    if (threads > k->info.max_threads) {
        sim_set_error(e, SIM_BAD_ARGUMENT, "a block of %llu threads; the kernel allows %u", (unsigned long long)threads,
                      k->info.max_threads);
        return false;
    }
    uint64_t lds = (uint64_t)k->info.lds_bytes + l->dynamic_lds, most = k->module->device->info.lds_bytes;
    if (lds > most) {
        sim_set_error(e, SIM_BAD_ARGUMENT, "%llu bytes of LDS; a block has %llu", (unsigned long long)lds, (unsigned long long)most);
        return false;
    }
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], at_once = sim_blocks_at_once(k->module->device);
    if (l->cooperative && blocks > at_once) {
        sim_set_error(e, SIM_BAD_ARGUMENT, "%llu blocks of a cooperative launch; at most %llu can run at once", (unsigned long long)blocks,
                      (unsigned long long)at_once);
        return false;
    }
    if (l->kernarg_bytes > k->kernarg_segment || (l->kernarg_bytes && !l->kernarg)) {
        sim_set_error(e, SIM_BAD_ARGUMENT, "%llu bytes of arguments; the kernel takes %u", (unsigned long long)l->kernarg_bytes,
                      k->kernarg_segment);
        return false;
    }
    return true;
}

sim_status sim_run(sim_kernel *kernel, const sim_launch *launch, sim_error *error)
{
    sim_error scratch;
    if (!error) error = &scratch;
    memset(error, 0, sizeof *error);
    if (!kernel || !launch) {
        sim_set_error(error, SIM_BAD_ARGUMENT, "no kernel, or no launch");
        return error->status;
    }
    snprintf(error->kernel, sizeof error->kernel, "%s", kernel->name);
    if (!check(kernel, launch, error)) return error->status;

    sim_memory *memory = &kernel->module->device->memory;
    pthread_mutex_lock(&kernel->module->device->launch);
    /* Loads of arguments may be wider than what is left of the segment. */
    uint64_t kernarg = sim_memory_take(memory, (uint64_t)kernel->kernarg_segment + KERNARG_SLACK, RANGE_LAUNCH);
    uint64_t packet = sim_memory_take(memory, PACKET_BYTES, RANGE_LAUNCH);
    if (kernarg && packet) {
        fill_arguments(kernel, launch, (uint8_t *)(uintptr_t)kernarg);
        fill_packet(kernel, launch, kernarg, (uint8_t *)(uintptr_t)packet);
        sim_run_blocks(kernel, launch, kernarg, packet, error);
    } else {
        sim_set_error(error, SIM_NO_MEMORY, "no room for kernel arguments");
    }
    if (kernarg) sim_memory_give(memory, kernarg, RANGE_LAUNCH);
    if (packet) sim_memory_give(memory, packet, RANGE_LAUNCH);
    pthread_mutex_unlock(&kernel->module->device->launch);
    return error->status;
}
