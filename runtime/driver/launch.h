/* launch.h - making launches: shared by cuLaunch… and the nodes of graphs. */
#ifndef DRIVER_LAUNCH_H
#define DRIVER_LAUNCH_H

#include "runtime/driver/driver.h"

/* Checks, loads the kernel, copies the parameters. */
cu_result dr_launch_make(dr_context *context, const void *handle, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes,
                         bool cooperative, void **params, void **extra, dr_launch *out);
cu_result dr_launch_check(dr_function *function, const dr_launch *launch);
/* The parameter block of a kernel from either form; NULL for a kernel without parameters. */
cu_result dr_params_copy(const ptx_function *function, void **params, void **extra, void **out);
/* Blocks of a kernel on one multiprocessor at once (occupancy.c). */
uint32_t dr_occupancy(dr_function *function, uint32_t threads, uint64_t dynamic_shared);

#endif
