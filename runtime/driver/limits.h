/* limits.h - numbers of the GPU that this library claims to be, beside those that the runtime has. */
#ifndef DRIVER_LIMITS_H
#define DRIVER_LIMITS_H

#include "runtime/cpu/cpu.h"

enum {
    DR_MAX_THREADS = 1024,             /* of a block */
    DR_MAX_GRID_X = 2147483647,
    DR_MAX_GRID_YZ = 65535,
    DR_SHARED_DEFAULT = 48 << 10,      /* of a block without asking */
    DR_SHARED_OPTIN = 99 << 10,
    DR_SHARED_PER_SM = 100 << 10,
    DR_SHARED_RESERVED = 1 << 10,      /* of a block, taken by the system */
    DR_CONSTANT_BYTES = 64 << 10,
    DR_MAX_PITCH = 2147483647,
    DR_REGISTERS = 65536,              /* of a block and of a multiprocessor */
    DR_CLOCK_KHZ = CPU_CLOCK_KHZ,
    DR_TEXTURE_ALIGNMENT = 512,
    DR_PITCH_ALIGNMENT = 512,
    DR_THREADS_PER_SM = 1536,
    DR_BLOCKS_PER_SM = 24,
    DR_LAST_ATTRIBUTE = 147
};

#endif
