/* occupancy.c - cuOccupancy…: how many blocks of a kernel a multiprocessor holds.
 *
 * The engines hold one block at a time or as many as needed; the answers are those of the GPU that the device claims to be, by NVIDIA's
 * published rule: the least of what threads, registers, shared memory and block slots allow; and no more than the device holds, where it
 * says so, since programs make cooperative grids of it. Zero is an answer only for a block that could not be launched at all.
 */
#include "runtime/driver/driver.h"
#include "runtime/driver/launch.h"
#include "runtime/driver/library.h"
#include "runtime/driver/limits.h"

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* What the device itself holds at once, for each of its processors; all that there can be where it does not say. */
static uint32_t held(dr_function *f, uint32_t threads, uint64_t dynamic_shared)
{
    dr_device *d = f->module->device;
    const rt_device_ops *ops = d->device->ops;
    uint64_t blocks = 0;
    if (!ops->blocks_at_once || dr_function_load(f))
        return DR_BLOCKS_PER_SM;
    pxb_kernel *kernel = atomic_load_explicit(&f->kernel, memory_order_acquire);
    pthread_mutex_lock(&d->lock);
    pxb_status status = ops->blocks_at_once(d->device, kernel->state, threads, (uint32_t)dynamic_shared, &blocks);
    dr_fail_pxb(d->pxb, status, "occupancy");
    pthread_mutex_unlock(&d->lock);
    return status ? DR_BLOCKS_PER_SM : (uint32_t)(blocks / d->processors);
}

uint32_t dr_occupancy(dr_function *f, uint32_t threads, uint64_t dynamic_shared)
{
    uint64_t shared = f->static_shared + dynamic_shared;
    if (threads == 0 || threads > dr_function_max_threads(f) || shared > DR_SHARED_OPTIN)
        return 0;
    uint32_t warps = (threads + 31) / 32, registers = dr_function_registers(f);
    uint32_t blocks = least(DR_BLOCKS_PER_SM, DR_THREADS_PER_SM / 32 / warps);
    /* Registers go to warps in pieces of 256. */
    uint32_t per_warp = (registers * 32 + 255) & ~255u;
    blocks = least(blocks, DR_REGISTERS / (per_warp * warps));
    shared = (shared + DR_SHARED_RESERVED + 127) & ~(uint64_t)127;
    blocks = least(blocks, (uint32_t)(DR_SHARED_PER_SM / shared));
    return least(blocks, held(f, threads, dynamic_shared));
}

cu_result impl_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *num_blocks, cu_function function, int block_size,
                                                                    size_t dynamic_smem_size, uint32_t flags)
{
    DR_NEED(num_blocks && block_size > 0 && flags <= 1);
    DR_USE(c);
    dr_function *f;
    cu_result result = dr_function_of(function, c, &f);
    if (!result)
        *num_blocks = (int)dr_occupancy(f, (uint32_t)block_size, dynamic_smem_size);
    return result;
}

cu_result impl_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *num_blocks, cu_function function, int block_size, size_t dynamic_smem_size)
{
    return impl_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(num_blocks, function, block_size, dynamic_smem_size, 0);
}

cu_result impl_cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid_size, int *block_size, cu_function function, cu_shared_fn shared_of,
                                                         size_t dynamic_smem_size, int block_size_limit, uint32_t flags)
{
    DR_NEED(min_grid_size && block_size && flags <= 1 && block_size_limit >= 0);
    DR_USE(c);
    dr_function *f;
    cu_result result = dr_function_of(function, c, &f);
    if (result)
        return result;
    uint32_t most = dr_function_max_threads(f), best = 0, best_blocks = 0;
    if (block_size_limit)
        most = least(most, (uint32_t)block_size_limit);
    for (uint32_t threads = (most + 31) & ~31u; threads >= 32; threads -= 32) {
        uint32_t size = least(threads, most);
        uint32_t blocks = dr_occupancy(f, size, shared_of ? shared_of((int)size) : dynamic_smem_size);
        if ((uint64_t)blocks * size > (uint64_t)best_blocks * best) {
            best = size;
            best_blocks = blocks;
        }
    }
    if (!best)
        return DR_ERROR(INVALID_VALUE);
    *block_size = (int)best;
    *min_grid_size = (int)(best_blocks * f->module->device->processors);
    return CUABI_SUCCESS;
}

cu_result impl_cuOccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size, cu_function function, cu_shared_fn shared_of,
                                                size_t dynamic_smem_size, int block_size_limit)
{
    return impl_cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid_size, block_size, function, shared_of, dynamic_smem_size, block_size_limit,
                                                          0);
}

cu_result impl_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_smem_size, cu_function function, int num_blocks, int block_size)
{
    DR_NEED(dynamic_smem_size && num_blocks > 0 && block_size > 0);
    DR_USE(c);
    dr_function *f;
    cu_result result = dr_function_of(function, c, &f);
    if (result)
        return result;
    uint64_t each = DR_SHARED_PER_SM / (uint64_t)num_blocks, taken = f->static_shared + DR_SHARED_RESERVED;
    uint64_t left = each > taken ? each - taken : 0;
    *dynamic_smem_size = left < DR_SHARED_OPTIN - f->static_shared ? left : DR_SHARED_OPTIN - f->static_shared;
    return CUABI_SUCCESS;
}
