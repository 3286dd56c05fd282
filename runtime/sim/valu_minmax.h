/* valu_minmax.h - least and greatest of floats, on bit patterns, as the ISA documents' pseudo-code has them.
 *
 * Three rules for NaN:
 *   CDNA3 (gfx9) and RDNA3 (gfx10, gfx11), v_min and v_max: with MODE.IEEE a signalling NaN is returned quieted, a
 *       quiet one loses to a number; without it every NaN loses, as it is. They differ in which of two NaNs is returned.
 *   RDNA4, v_min_num and v_max_num: every NaN loses; of two the first is returned quieted.
 *   v_minimum and v_maximum (IEEE 754-2019): a NaN wins, signalling ones first, quieted.
 * In all of them -0 is less than +0.
 */
#ifndef SIM_VALU_MINMAX_H
#define SIM_VALU_MINMAX_H

#include "runtime/sim/valu_float.h"

typedef struct minmax_rule { bool gfx9, gfx12, ieee; } minmax_rule;

#define MINMAX(type, bits)                                                                                             \
    /* Sign and magnitude to a number of the same order. */                                                            \
    static inline int64_t order_##type(uint##bits##_t a)                                                               \
    {                                                                                                                  \
        const uint##bits##_t top = (uint##bits##_t)1 << (bits - 1);                                                    \
        return a & top ? -(int64_t)(a & (uint##bits##_t)(top - 1)) - 1 : (int64_t)a;                                   \
    }                                                                                                                  \
    static inline uint##bits##_t least_##type(uint##bits##_t a, uint##bits##_t b, bool greatest)                       \
    {                                                                                                                  \
        return (order_##type(a) < order_##type(b)) != greatest ? a : b;                                                \
    }                                                                                                                  \
    static inline uint##bits##_t minmax_##type(uint##bits##_t a, uint##bits##_t b, bool greatest, minmax_rule rule)    \
    {                                                                                                                  \
        const bool na = type##_is_nan(a), nb = type##_is_nan(b);                                                       \
        if (!na && !nb) return least_##type(a, b, greatest);                                                           \
        if (rule.gfx12) return na && nb ? (uint##bits##_t)(a | type##_QUIET) : na ? b : a;                             \
        if (rule.ieee && type##_is_snan(a)) return (uint##bits##_t)(a | type##_QUIET);                                 \
        if (rule.ieee && type##_is_snan(b)) return (uint##bits##_t)(b | type##_QUIET);                                 \
        if (na && nb) return rule.gfx9 ? b : a;                                                                        \
        return na ? b : a;                                                                                             \
    }                                                                                                                  \
    static inline uint##bits##_t minimum_##type(uint##bits##_t a, uint##bits##_t b, bool greatest)                     \
    {                                                                                                                  \
        if (type##_is_snan(a)) return (uint##bits##_t)(a | type##_QUIET);                                              \
        if (type##_is_snan(b)) return (uint##bits##_t)(b | type##_QUIET);                                              \
        return type##_is_nan(a) ? a : type##_is_nan(b) ? b : least_##type(a, b, greatest);                             \
    }                                                                                                                  \
    static inline uint##bits##_t minmax3_##type(uint##bits##_t a, uint##bits##_t b, uint##bits##_t c, bool first, bool second, minmax_rule rule)  \
    {                                                                                                                  \
        return minmax_##type(minmax_##type(a, b, first, rule), c, second, rule);                                       \
    }                                                                                                                  \
    /* The middle of three; with a NaN the least of them (ISA, V_MED3). */                                             \
    static inline uint##bits##_t middle_##type(uint##bits##_t a, uint##bits##_t b, uint##bits##_t c, minmax_rule rule) \
    {                                                                                                                  \
        if (type##_is_nan(a) || type##_is_nan(b) || type##_is_nan(c)) return minmax3_##type(a, b, c, false, false, rule);  \
        return least_##type(least_##type(a, b, false), least_##type(least_##type(a, b, true), c, false), true);        \
    }

#define f32_QUIET (1u << 22)
#define f64_QUIET (1ull << 51)
#define f16_QUIET (1u << 9)

MINMAX(f32, 32)
MINMAX(f64, 64)
MINMAX(f16, 16)

#endif
