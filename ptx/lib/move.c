/* move.c - register moves, packing and unpacking (PTX ISA, "Data Movement: mov"). Element 0 is the least significant. */
#include "lane.h"

PXL_INLINE void mov_pred(L_pred *d, const L_pred *a) { *d = *a; }
PXL_INLINE void mov_b8(L_u8 *d, const L_u8 *a) { *d = *a; }
PXL_INLINE void mov_b16(L_u16 *d, const L_u16 *a) { *d = *a; }
PXL_INLINE void mov_b32(L_u32 *d, const L_u32 *a) { *d = *a; }
PXL_INLINE void mov_b64(L_u64 *d, const L_u64 *a) { *d = *a; }
PXL_INLINE void mov_b128(L_u64 *d0, L_u64 *d1, const L_u64 *a0, const L_u64 *a1)
{
    L_u64 high = *a1;
    *d0 = *a0;
    *d1 = high;
}

/* whole of 2 parts, whole of 4 parts, and back */
#define MOVE_PACK2(size, half) \
    PXL_INLINE void mov_pack2_b##size(L_u##size *d, const L_u##half *a0, const L_u##half *a1) \
    { \
        *d = CONVERT(L_u##size, *a0) | (L_u##size)(CONVERT(L_u##size, *a1) << half); \
    } \
    PXL_INLINE void mov_unpack2_b##size(L_u##half *d0, L_u##half *d1, const L_u##size *a) \
    { \
        L_u##size x = *a; \
        *d0 = CONVERT(L_u##half, x); \
        *d1 = CONVERT(L_u##half, x >> half); \
    }
MOVE_PACK2(16, 8) MOVE_PACK2(32, 16) MOVE_PACK2(64, 32)

#define MOVE_PACK4(size, quarter) \
    PXL_INLINE void mov_pack4_b##size(L_u##size *d, const L_u##quarter *a0, const L_u##quarter *a1, const L_u##quarter *a2, const L_u##quarter *a3) \
    { \
        L_u##size low = CONVERT(L_u##size, *a0) | (CONVERT(L_u##size, *a1) << quarter); \
        L_u##size high = CONVERT(L_u##size, *a2) | (CONVERT(L_u##size, *a3) << quarter); \
        *d = low | (high << (2 * quarter)); \
    } \
    PXL_INLINE void mov_unpack4_b##size(L_u##quarter *d0, L_u##quarter *d1, L_u##quarter *d2, L_u##quarter *d3, const L_u##size *a) \
    { \
        L_u##size x = *a; \
        *d0 = CONVERT(L_u##quarter, x); \
        *d1 = CONVERT(L_u##quarter, x >> quarter); \
        *d2 = CONVERT(L_u##quarter, x >> (2 * quarter)); \
        *d3 = CONVERT(L_u##quarter, x >> (3 * quarter)); \
    }
MOVE_PACK4(32, 8) MOVE_PACK4(64, 16)

/* b128 is two 64-bit elements, low first. */
PXL_INLINE void mov_pack2_b128(L_u64 *d0, L_u64 *d1, const L_u64 *a0, const L_u64 *a1) { mov_b128(d0, d1, a0, a1); }
PXL_INLINE void mov_unpack2_b128(L_u64 *d0, L_u64 *d1, const L_u64 *a0, const L_u64 *a1) { mov_b128(d0, d1, a0, a1); }

#define MOVE_LANE_PAIR(a, b) (CONVERT(L_u64, a) | (CONVERT(L_u64, b) << 32))
PXL_INLINE void mov_pack4_b128(L_u64 *d0, L_u64 *d1, const L_u32 *a0, const L_u32 *a1, const L_u32 *a2, const L_u32 *a3)
{
    L_u64 low = MOVE_LANE_PAIR(*a0, *a1), high = MOVE_LANE_PAIR(*a2, *a3);
    *d0 = low;
    *d1 = high;
}

PXL_INLINE void mov_unpack4_b128(L_u32 *d0, L_u32 *d1, L_u32 *d2, L_u32 *d3, const L_u64 *a0, const L_u64 *a1)
{
    L_u64 low = *a0, high = *a1;
    *d0 = CONVERT(L_u32, low);
    *d1 = CONVERT(L_u32, low >> 32);
    *d2 = CONVERT(L_u32, high);
    *d3 = CONVERT(L_u32, high >> 32);
}

/* mov.v2, mov.v4: sources are read before a destination is written. */
#define MOVE_VECTOR(size) \
    PXL_INLINE void mov_v2_b##size(L_u##size *d0, L_u##size *d1, const L_u##size *a0, const L_u##size *a1) \
    { \
        L_u##size second = *a1; \
        *d0 = *a0; \
        *d1 = second; \
    } \
    PXL_INLINE void mov_v4_b##size(L_u##size *d0, L_u##size *d1, L_u##size *d2, L_u##size *d3, \
                                   const L_u##size *a0, const L_u##size *a1, const L_u##size *a2, const L_u##size *a3) \
    { \
        L_u##size x1 = *a1, x2 = *a2, x3 = *a3; \
        *d0 = *a0; \
        *d1 = x1; \
        *d2 = x2; \
        *d3 = x3; \
    }
MOVE_VECTOR(16) MOVE_VECTOR(32) MOVE_VECTOR(64)

#include "gen/isa_wrap_move.h"
