/* byte_select.h - choosing bytes within a lane, by the target's byte shuffle where there is one. */
#ifndef PXL_BYTE_SELECT_H
#define PXL_BYTE_SELECT_H

#include "lane.h"

/* Each byte's lowest bit copied over the byte. */
PXL_INLINE L_u32 byte_fill(L_u32 x)
{
    L_u32 bits = x & 0x01010101u;
    return (bits << 8) - bits;
}

#if PXL_WIDTH == 32 && (defined(__AVX2__) || defined(__SSSE3__))
#if defined(__AVX512BW__)
typedef char pxl_shuffle_bytes __attribute__((vector_size(64)));
#define PXL_SHUFFLE __builtin_ia32_pshufb512
#elif defined(__AVX2__)
typedef char pxl_shuffle_bytes __attribute__((vector_size(32)));
#define PXL_SHUFFLE __builtin_ia32_pshufb256
#else
typedef char pxl_shuffle_bytes __attribute__((vector_size(16)));
#define PXL_SHUFFLE __builtin_ia32_pshufb128
#endif

/* Byte k of each lane's result is the byte of x that byte k of `from` (0 to 3) names; 0 where
 * the top bit of that byte is set. The shuffle works on 16 bytes, that is four lanes. */
PXL_INLINE L_u32 byte_select_one(L_u32 x, L_u32 from)
{
    enum { PARTS = sizeof(L_u32) / sizeof(pxl_shuffle_bytes) };
    union { L_u32 lanes; pxl_shuffle_bytes part[PARTS]; } source, index, result;
    source.lanes = x;
    index.lanes = from + (lane_id() & 3) * 0x04040404u;
    for (int i = 0; i < PARTS; i++)
        result.part[i] = PXL_SHUFFLE(source.part[i], index.part[i]);
    return result.lanes;
}

/* Bytes of `from` (0 to 7) name bytes of [b:a]. */
PXL_INLINE L_u32 byte_select(L_u32 a, L_u32 b, L_u32 from)
{
    L_u32 in_b = (from & 0x04040404u) << 5; /* 0x80 in the bytes that come from b */
    L_u32 index = from & 0x03030303u;
    return byte_select_one(a, index | in_b) | byte_select_one(b, index | (in_b ^ 0x80808080u));
}
#elif defined(__AMDGCN__)
PXL_INLINE L_u32 byte_select(L_u32 a, L_u32 b, L_u32 from) { return __builtin_amdgcn_perm(b, a, from); }
#else
PXL_INLINE L_u32 byte_select(L_u32 a, L_u32 b, L_u32 from)
{
    L_u32 result = SPLAT(L_u32, 0);
    for (int i = 0; i < 4; i++) {
        L_u32 n = (from >> (8 * i)) & 7, shift = (n & 3) * 8;
        L_u32 byte = (SEL(n < 4, a, b) >> shift) & 0xff;
        result |= byte << (8 * i);
    }
    return result;
}
#endif

#endif
