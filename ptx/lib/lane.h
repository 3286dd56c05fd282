/* lane.h - lane types and primitives: what the meanings in this folder are written over.
 *
 * PXL_WIDTH is 32 (CPU: a lane type is a vector of 32) or 1 (AMD: a lane type is
 * a scalar, and the hardware supplies the other lanes). The same text of a
 * meaning compiles at both widths. Rules that keep it so:
 *   - comparing lane values gives a condition; a condition is used only through
 *     SEL(c, a, b), PRED(c) and the & | operators between conditions of values of
 *     the same size (never ~ or !: write the opposite comparison, or SEL);
 *   - bits are reinterpreted only through as_u32(), as_f32(), ...;
 *   - values are converted only through CONVERT(type, x);
 *   - single lanes are touched only inside FOR_LANES, through LANE(x, i);
 *   - a constant operand is a lane constant: L_u32 k = SPLAT(L_u32, 7).
 * A meaning writes its results through pointers and reads its operands through
 * pointers. It may not assume that they are distinct (it reads before it
 * writes), knows nothing of masks, and must not trap whatever the operands hold.
 */
#ifndef PXL_LANE_H
#define PXL_LANE_H

#include <stdbool.h>
#include <stdint.h>

#ifndef PXL_WIDTH
#error "define PXL_WIDTH as 32 or 1"
#endif

#define PXL_INLINE static inline __attribute__((always_inline, unused))

#if PXL_WIDTH == 32

/* Slots are aligned to 64 bytes or to their own size where that is less. */
#define PXL_VECTOR(t) t __attribute__((ext_vector_type(32)))
typedef uint8_t  L_u8  __attribute__((ext_vector_type(32), aligned(32), may_alias));
typedef int8_t   L_s8  __attribute__((ext_vector_type(32), aligned(32), may_alias));
typedef uint16_t L_u16 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef int16_t  L_s16 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef uint32_t L_u32 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef int32_t  L_s32 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef uint64_t L_u64 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef int64_t  L_s64 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef float    L_f32 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef double   L_f64 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef _Float16 L_f16 __attribute__((ext_vector_type(32), aligned(64), may_alias));
typedef bool     PXL_bools __attribute__((ext_vector_type(32)));
typedef uint32_t L_pred __attribute__((may_alias));         /* bit i is lane i's predicate */

#define FOR_LANES(i) for (uint32_t i = 0; i < 32; i++)
#define LANE(x, i) ((x)[i])
#define SPLAT(type, k) ((type)(k))
#define CONVERT(type, x) __builtin_convertvector((x), type)
#define SEL(c, a, b) ((c) ? (a) : (b))
#define PRED(c) pxl_pred(__builtin_convertvector((c), PXL_bools))
PXL_INLINE uint32_t pxl_pred(PXL_bools b) { union { PXL_bools b; uint32_t u; } v; v.b = b; return v.u; }
PXL_INLINE PXL_bools pxl_bools(uint32_t u) { union { PXL_bools b; uint32_t u; } v; v.u = u; return v.b; }

/* A predicate as a condition that selects values of 8, 16, 32 or 64 bits. */
#define COND8(p)  (-__builtin_convertvector(pxl_bools(p), L_s8))
#define COND16(p) (-__builtin_convertvector(pxl_bools(p), L_s16))
#define COND32(p) (-__builtin_convertvector(pxl_bools(p), L_s32))
#define COND64(p) (-__builtin_convertvector(pxl_bools(p), L_s64))
#define PRED_NOT(p) (~(p))
#define PRED_LANE(p, i) (((p) >> (i)) & 1u)

#define as_u8(x)  ((L_u8)(x))
#define as_s8(x)  ((L_s8)(x))
#define as_u16(x) ((L_u16)(x))
#define as_s16(x) ((L_s16)(x))
#define as_f16(x) ((L_f16)(x))
#define as_u32(x) ((L_u32)(x))
#define as_s32(x) ((L_s32)(x))
#define as_f32(x) ((L_f32)(x))
#define as_u64(x) ((L_u64)(x))
#define as_s64(x) ((L_s64)(x))
#define as_f64(x) ((L_f64)(x))

PXL_INLINE L_u32 lane_id(void)
{
    return (L_u32){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
}
/* The value that lane `from` (taken modulo 32) holds. All lanes take part. They are looked up in
 * registers where the level can; lanes known when this is compiled then fold into few shuffles. */
PXL_INLINE L_u32 lane_read(L_u32 x, L_u32 from)
{
    L_u32 r;
#if defined(__AVX512F__)
    {
        typedef uint32_t v16 __attribute__((ext_vector_type(16)));
        const v16 lo = (v16)__builtin_ia32_vpermi2vard512((__attribute__((__vector_size__(64))) int)x.lo, (__attribute__((__vector_size__(64))) int)from.lo, (__attribute__((__vector_size__(64))) int)x.hi);
        const v16 hi = (v16)__builtin_ia32_vpermi2vard512((__attribute__((__vector_size__(64))) int)x.lo, (__attribute__((__vector_size__(64))) int)from.hi, (__attribute__((__vector_size__(64))) int)x.hi);
        return __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    }
#elif defined(__AVX2__)
    {
        typedef uint32_t v8 __attribute__((ext_vector_type(8), aligned(32), may_alias));
        typedef int w8 __attribute__((__vector_size__(32)));
        const v8 *s = (const v8 *)&x, *f = (const v8 *)&from;
        v8 *d = (v8 *)&r;
        for (uint32_t i = 0; i < 4; i++) {
            v8 y[4];
            for (uint32_t k = 0; k < 4; k++)
                y[k] = (v8)__builtin_ia32_permvarsi256((w8)s[k], (w8)f[i]);
            const v8 low = (f[i] & 8u) != 0 ? y[1] : y[0], high = (f[i] & 8u) != 0 ? y[3] : y[2];
            d[i] = (f[i] & 16u) != 0 ? high : low;
        }
        return r;
    }
#endif
    FOR_LANES(i) r[i] = x[from[i] & 31];
    return r;
}
/* The mask of lanes whose predicate is set, the same in every lane. */
PXL_INLINE L_u32 lane_ballot(L_pred p) { return (L_u32)p; }

/* Loads from a global address in the lanes of `exec`; 0 in the others. */
#define PXL_LOAD(name, type, lane) \
    PXL_INLINE lane name(L_u64 address, L_pred exec) { \
        lane r = (lane)0; \
        FOR_LANES(i) if (exec >> i & 1) { type v; __builtin_memcpy(&v, (const void *)(uintptr_t)address[i], sizeof v); r[i] = v; } \
        return r; }
#define PXL_STORE(name, type, lane) \
    PXL_INLINE void name(L_u64 address, lane x, L_pred exec) { \
        FOR_LANES(i) if (exec >> i & 1) { type v = x[i]; __builtin_memcpy((void *)(uintptr_t)address[i], &v, sizeof v); } }

#else

typedef uint8_t L_u8;   typedef int8_t L_s8;   typedef uint16_t L_u16; typedef int16_t L_s16;
typedef uint32_t L_u32; typedef int32_t L_s32; typedef uint64_t L_u64; typedef int64_t L_s64;
typedef float L_f32;    typedef double L_f64;  typedef _Float16 L_f16;
typedef bool L_pred;

#define FOR_LANES(i) for (uint32_t i = 0; i < 1; i++)
#define LANE(x, i) (*((void)(i), &(x)))
#define SPLAT(type, k) ((type)(k))
#define CONVERT(type, x) ((type)(x))
#define SEL(c, a, b) ((c) ? (a) : (b))
#define PRED(c) ((L_pred)(c))
#define COND8(p)  (p)
#define COND16(p) (p)
#define COND32(p) (p)
#define COND64(p) (p)
#define PRED_NOT(p) (!(p))
#define PRED_LANE(p, i) ((void)(i), (p))

/* One name serves every source type of that size, as at width 32. */
#define PXL_BITS(to, x) ({ __typeof__(x) from_ = (x); to to_; _Static_assert(sizeof(to_) == sizeof(from_), "size"); __builtin_memcpy(&to_, &from_, sizeof to_); to_; })
#define as_u8(x)  PXL_BITS(L_u8, x)
#define as_s8(x)  PXL_BITS(L_s8, x)
#define as_u16(x) PXL_BITS(L_u16, x)
#define as_s16(x) PXL_BITS(L_s16, x)
#define as_f16(x) PXL_BITS(L_f16, x)
#define as_u32(x) PXL_BITS(L_u32, x)
#define as_s32(x) PXL_BITS(L_s32, x)
#define as_f32(x) PXL_BITS(L_f32, x)
#define as_u64(x) PXL_BITS(L_u64, x)
#define as_s64(x) PXL_BITS(L_s64, x)
#define as_f64(x) PXL_BITS(L_f64, x)

/* Written per target; elsewhere than on AMD whoever compiles at width 1 supplies them. */
#if defined(__AMDGCN__)
#include "ptx/lib/lane_amdgcn.h"
#define PXL_GLOBAL __attribute__((address_space(1)))
#else
L_u32 lane_id(void);
L_u32 lane_read(L_u32 x, L_u32 from);
L_u32 lane_ballot(L_pred p);
#define PXL_GLOBAL
#endif
#define PXL_LOAD(name, type, lane) \
    PXL_INLINE lane name(L_u64 address, L_pred exec) { (void)exec; return *(const type PXL_GLOBAL *)address; }
#define PXL_STORE(name, type, lane) \
    PXL_INLINE void name(L_u64 address, lane x, L_pred exec) { (void)exec; *(type PXL_GLOBAL *)address = x; }

#endif

PXL_LOAD(lane_load_u8, uint8_t, L_u8)
PXL_LOAD(lane_load_u16, uint16_t, L_u16)
PXL_LOAD(lane_load_u32, uint32_t, L_u32)
PXL_LOAD(lane_load_u64, uint64_t, L_u64)
PXL_STORE(lane_store_u8, uint8_t, L_u8)
PXL_STORE(lane_store_u16, uint16_t, L_u16)
PXL_STORE(lane_store_u32, uint32_t, L_u32)
PXL_STORE(lane_store_u64, uint64_t, L_u64)

#endif
