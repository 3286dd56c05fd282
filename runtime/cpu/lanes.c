/* lanes.c - the engine's own vector helpers, once per instruction-set level, and the choice of the level.
 *
 * The levels are those of ptx/lib, whose handlers come with them. One compilation of this file holds
 * all levels by function attributes: nothing of it may run before cpu_lane_ops_select() has asked the
 * processor. Inactive lanes hold anything; helpers never trap on it.
 */
#include <string.h>
#include "runtime/cpu/internal.h"

typedef uint8_t V8 __attribute__((vector_size(32), may_alias));
typedef int8_t S8 __attribute__((vector_size(32), may_alias));
typedef uint16_t V16 __attribute__((vector_size(64), may_alias));
typedef int16_t S16 __attribute__((vector_size(64), may_alias));
typedef uint32_t V32 __attribute__((vector_size(128), aligned(64), may_alias));
typedef int32_t S32 __attribute__((vector_size(128), aligned(64), may_alias));
typedef uint64_t V64 __attribute__((vector_size(256), aligned(64), may_alias));
typedef int64_t S64 __attribute__((vector_size(256), aligned(64), may_alias));
typedef uint32_t Q32 __attribute__((vector_size(16), may_alias));
typedef uint32_t U32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint32_t W32 __attribute__((may_alias));
typedef uint64_t D64 __attribute__((may_alias));
typedef uint64_t F64 __attribute__((vector_size(32), may_alias));

#define INLINE static inline __attribute__((always_inline))

#define LANE_BITS ((V32){1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7, 1u << 8, 1u << 9, \
    1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, \
    1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31})
/* Vectors wider than the level's registers are passed between inlined functions only. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#if defined(__x86_64__)

#ifdef PTXB_LEVEL_v2
#define LEVEL(name) name##_v2
#define LEVEL_TEXT "v2"
#define LEVEL_MEANINGS pxl_handlers_v2
#define TARGET __attribute__((target("arch=x86-64-v2")))
#include "runtime/cpu/lanes_level.h"
#undef LEVEL
#undef LEVEL_TEXT
#undef LEVEL_MEANINGS
#undef TARGET
#endif

#ifdef PTXB_LEVEL_v3
#define LEVEL(name) name##_v3
#define LEVEL_TEXT "v3"
#define LEVEL_MEANINGS pxl_handlers_v3
#define TARGET __attribute__((target("arch=x86-64-v3")))
#include "runtime/cpu/lanes_level.h"
#undef LEVEL
#undef LEVEL_TEXT
#undef LEVEL_MEANINGS
#undef TARGET
#endif

#ifdef PTXB_LEVEL_v4
#define LEVEL(name) name##_v4
#define LEVEL_TEXT "v4"
#define LEVEL_MEANINGS pxl_handlers_v4
#define TARGET __attribute__((target("arch=x86-64-v4")))
#include "runtime/cpu/lanes_level.h"
#undef LEVEL
#undef LEVEL_TEXT
#undef LEVEL_MEANINGS
#undef TARGET
#endif

const cpu_lane_ops *cpu_lane_ops_select(const char *level)
{
    __builtin_cpu_init();
    bool v2 = __builtin_cpu_supports("sse4.2");
    bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
    const struct { const char *name; bool runs; const cpu_lane_ops *ops; } levels[] = {   /* best first */
#ifdef PTXB_LEVEL_v4
        {"v4", v4, &ops_v4},
#endif
#ifdef PTXB_LEVEL_v3
        {"v3", v3, &ops_v3},
#endif
#ifdef PTXB_LEVEL_v2
        {"v2", v2, &ops_v2},
#endif
    };
    (void)v4;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (levels[i].runs && (!level || strcmp(level, levels[i].name) == 0))
            return levels[i].ops;
    return NULL;
}

#else

#define LEVEL(name) name##_generic
#define LEVEL_TEXT "generic"
#define LEVEL_MEANINGS pxl_handlers_generic
#define TARGET
#include "runtime/cpu/lanes_level.h"

const cpu_lane_ops *cpu_lane_ops_select(const char *level)
{
    return !level || strcmp(level, "generic") == 0 ? &ops_generic : NULL;
}

#endif
