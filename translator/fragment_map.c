/* fragment_map.c - the maps. */
#include "translator/fragment_map.h"

const xl_fragment_map xl_fragment_maps[XL_CORE_COUNT][XL_PART_COUNT] = {
    /* gfx11: a lane holds all k of its row (slot = word t and z); result r of lane half h is row 2r + h */
    [XL_CORE_WMMA11] = {[XL_PART_M] = {8, {XL_S0, XL_S1, XL_L1, XL_L2, XL_L0}, {XL_S2}},
                        [XL_PART_N] = {8, {XL_S0, XL_S1, XL_L0, XL_L1, XL_L2}, {XL_L3, XL_S2}},
                        [XL_PART_D] = {4, {XL_L2, XL_L3, XL_L4, XL_S1, XL_L1}, {XL_S0, XL_L0}}},
    /* gfx12: the lane's half is bit 1 of t; result r of half h is row 8h + r */
    [XL_CORE_WMMA12] = {[XL_PART_M] = {4, {XL_S0, XL_L4, XL_L0, XL_L1, XL_L3}, {XL_S1}},
                        [XL_PART_N] = {4, {XL_S0, XL_L4, XL_L0, XL_L1, XL_L2}, {XL_L3, XL_S1}},
                        [XL_PART_D] = {4, {XL_L2, XL_L3, XL_L4, XL_S1, XL_L1}, {XL_S0, XL_L0}}},
    /* gfx9: the lane's quarter is t; M: bit 1 of the row is the warp; N: bit 3 is the warp; D of instruction x, slot p */
    [XL_CORE_MFMA] = {[XL_PART_M] = {2, {XL_L4, XL_L5, XL_L0, XL_L2, XL_L3, XL_L1}, {XL_S0}},
                      [XL_PART_N] = {2, {XL_L4, XL_L5, XL_L0, XL_L1, XL_L2, XL_L3}, {XL_X, XL_S0}},
                      [XL_PART_D] = {2, {XL_L2, XL_L3, XL_L4, XL_L5, XL_L0, XL_L1}, {XL_S0, XL_L5}}},
};

uint32_t xl_fragment_bits(const uint8_t *bits, uint32_t nbits, uint32_t lane, uint32_t slot, uint32_t x)
{
    uint32_t v = 0;
    for (uint32_t k = 0; k < nbits; k++) {
        uint32_t bit = 0;
        if (bits[k] >= XL_L0 && bits[k] <= XL_L5) bit = lane >> (bits[k] - XL_L0) & 1;
        if (bits[k] >= XL_S0 && bits[k] <= XL_S2) bit = slot >> (bits[k] - XL_S0) & 1;
        if (bits[k] == XL_X) bit = x;
        v |= bit << k;
    }
    return v;
}
