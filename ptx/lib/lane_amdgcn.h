/* lane_amdgcn.h - the lane primitives at width 1 on AMD GPUs; included by lane.h.
 *
 * PXL_WAVE is the number of lanes in a wavefront. On 64 a warp is one half of it, and nothing here looks
 * into the other half. Sources: LLVM, "AMDGPU Backend"; ISA manuals, DS_BPERMUTE_B32 and V_MBCNT.
 */
#ifndef PXL_LANE_AMDGCN_H
#define PXL_LANE_AMDGCN_H

#ifndef PXL_WAVE
#error "define PXL_WAVE as 32 or 64"
#endif

PXL_INLINE uint32_t pxl_wave_lane(void)
{
#if PXL_WAVE == 64
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
#else
    return __builtin_amdgcn_mbcnt_lo(~0u, 0u);
#endif
}

PXL_INLINE uint32_t lane_id(void) { return pxl_wave_lane() & 31u; }

PXL_INLINE uint32_t lane_read(uint32_t x, uint32_t from)
{
    uint32_t lane = (from & 31u) | (pxl_wave_lane() & 32u);
    return (uint32_t)__builtin_amdgcn_ds_bpermute((int)(lane << 2), (int)x);
}

PXL_INLINE uint32_t lane_ballot(bool p)
{
#if PXL_WAVE == 64
    uint64_t all = __builtin_amdgcn_ballot_w64(p);
    return pxl_wave_lane() & 32u ? (uint32_t)(all >> 32) : (uint32_t)all;
#else
    return __builtin_amdgcn_ballot_w32(p);
#endif
}

#endif
