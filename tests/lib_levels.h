/* lib_levels.h - the builds of a meaning that this CPU can run. */
#ifndef LIB_LEVELS_H
#define LIB_LEVELS_H

#include <cstdint>
#include <string>
#include <vector>

typedef void (*lib_handler)(char *r, const uint32_t *o);

/* The width-1 text, one lane a call; null when it is not linked. */
#define LIB_WIDTH1(name) extern "C" void pxl_width1_##name(char *, const uint32_t *) __attribute__((weak));

#if defined(__x86_64__)
#define LIB_LEVEL_COUNT 3
/* A build holds all levels, or that of its processor (PTXBRIDGE_NATIVE_LEVEL). */
#if PTXB_LEVEL_v2
#define LIB_V2(name) pxl_v2_##name
#else
#define LIB_V2(name) nullptr
#define PTXB_LEVEL_v2 0
#endif
#if PTXB_LEVEL_v3
#define LIB_V3(name) pxl_v3_##name
#else
#define LIB_V3(name) nullptr
#define PTXB_LEVEL_v3 0
#endif
#if PTXB_LEVEL_v4
#define LIB_V4(name) pxl_v4_##name
#else
#define LIB_V4(name) nullptr
#define PTXB_LEVEL_v4 0
#endif
#define LIB_DECLARE(name) \
    extern "C" void pxl_v2_##name(char *, const uint32_t *); \
    extern "C" void pxl_v3_##name(char *, const uint32_t *); \
    extern "C" void pxl_v4_##name(char *, const uint32_t *); \
    LIB_WIDTH1(name)
#define LIB_HANDLERS(name) {LIB_V2(name), LIB_V3(name), LIB_V4(name)}
static const char *const lib_level_names[] = {"v2", "v3", "v4"};
static inline bool lib_level_runs(int level)
{
    return level == 0 ? PTXB_LEVEL_v2 && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")
         : level == 1 ? PTXB_LEVEL_v3 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")
                      : PTXB_LEVEL_v4 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
#else
#define LIB_LEVEL_COUNT 1
#define LIB_DECLARE(name) extern "C" void pxl_generic_##name(char *, const uint32_t *); LIB_WIDTH1(name)
#define LIB_HANDLERS(name) {pxl_generic_##name}
static const char *const lib_level_names[] = {"generic"};
static inline bool lib_level_runs(int) { return true; }
#endif

/* Slots as the CPU engine lays them out: a meaning sees element i at base + offset[i]. */
struct lib_slots {
    enum : uint32_t { PREDICATE = 0, VALUE = 255 };
    alignas(64) char base[64 * 256];
    uint32_t offset[64], bytes[64];    /* bytes of a lane, or what the element is instead */
    uint32_t elements = 0, used = 0;

    /* Adds an element of n bytes a lane; returns its index. */
    uint32_t add(uint32_t n)
    {
        offset[elements] = used;
        bytes[elements] = n;
        used += (32 * n + 63) / 64 * 64;
        return elements++;
    }
    uint32_t add_predicate() { offset[elements] = used; bytes[elements] = PREDICATE; used += 64; return elements++; }
    uint32_t add_value(uint32_t v) { offset[elements] = v; bytes[elements] = VALUE; return elements++; }
    template <class T> T *at(uint32_t i) { return (T *)(base + offset[i]); }
};

/* The same random numbers on every machine (splitmix64). */
struct lib_random {
    uint64_t state;
    explicit lib_random(uint64_t seed) : state(seed) {}
    uint64_t next()
    {
        uint64_t z = state += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    uint32_t below(uint32_t n) { return (uint32_t)((next() >> 32) * n >> 32); }
};

#endif
