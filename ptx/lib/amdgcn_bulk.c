/* amdgcn_bulk.c - bulk copies and matrices of bytes on AMD targets, which the translator calls by name (see amdgcn.c). */
#if defined(__AMDGCN__)

#include "ptx/lib/fault.h"
#include "ptx/lib/lane.h"
#include "ptx/lib/matrix_layout.h"

#define PXL_EXPORT __attribute__((visibility("hidden")))
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
enum { MOST_SHARED = 160 << 10 };        /* of any target; the machine looks after the rest */
typedef uint32_t word4 __attribute__((ext_vector_type(4)));

void pxl_fault(uint32_t code, uint32_t line, uint32_t column, uint64_t detail0, uint64_t detail1, uint64_t detail2);

/* Addresses and size of a bulk copy are multiples of 16 (PTX ISA, "cp.async.bulk"). */
PXL_EXPORT void pxl_check_bulk(uint64_t to, uint64_t from, uint32_t size, uint32_t line, uint32_t column)
{
    if ((to | from | size) & 15) pxl_fault(PXL_FAULT_BULK, line, column, to & 15 ? to : from & 15 ? from : 0, size, 0);
}

/* A cluster is one block. */
PXL_EXPORT void pxl_check_cluster(uint32_t mask, uint32_t line, uint32_t column)
{
    if (mask > 1) pxl_fault(PXL_FAULT_CLUSTER, line, column, mask, 0, 0);
}

/* Sizes are multiples of 16. The copy goes forwards: source and destination may not overlap. */
#define BULK_COPY(name, TO, FROM) \
    PXL_EXPORT __attribute__((noinline)) void pxl_bulk_##name(TO char *to, const FROM char *from, uint32_t size) \
    { \
        for (uint32_t i = 0; i < size; i += 16) *(TO word4 *)(to + i) = *(const FROM word4 *)(from + i); \
    }
BULK_COPY(load, LDS, GLOBAL) BULK_COPY(move, LDS, LDS) BULK_COPY(store, GLOBAL, LDS)

PXL_EXPORT void pxl_check_ignored(uint32_t left, uint32_t right, uint32_t line, uint32_t column)
{
    if (left > 15 || right > 15) pxl_fault(PXL_FAULT_IGNORED, line, column, left, right, 0);
}

/* .ignore_oob: the first `left` and last `right` bytes are not read; those of the destination stay what they are. */
PXL_EXPORT __attribute__((noinline)) void pxl_bulk_load_part(LDS char *to, const GLOBAL char *from, uint32_t size, uint32_t left, uint32_t right)
{
    for (uint32_t i = left; i + right < size; i++) to[i] = from[i];
}

/* .cp_mask: bit i says whether byte i of each 16 is copied. */
PXL_EXPORT __attribute__((noinline)) void pxl_bulk_store_masked(GLOBAL char *to, const LDS char *from, uint32_t size, uint32_t mask)
{
    for (uint32_t i = 0; i < size; i++)
        if (mask >> (i & 15) & 1) to[i] = from[i];
}

PXL_EXPORT __attribute__((noinline)) void pxl_bulk_zero(LDS char *to, uint64_t size, uint32_t line, uint32_t column)
{
    if (size > MOST_SHARED) pxl_fault(PXL_FAULT_ZEROED, line, column, (uint32_t)(uintptr_t)to, size, 0);
    if ((size | (uint32_t)(uintptr_t)to) & 7) pxl_fault(PXL_FAULT_ZEROED, line, column, (uint32_t)(uintptr_t)to, size, 1);
    for (uint32_t i = 0; i < (uint32_t)size; i += 8) *(LDS uint64_t *)(to + i) = 0;
}

/* ------------------------------------------------------------ ldmatrix, stmatrix of bytes (matrix_layout.h) */

static LDS uint8_t *row(uint32_t address, uint32_t lane) { return (LDS uint8_t *)(uintptr_t)lane_read(address, lane); }

/* Register r of this lane; `address` is the lane's own row address. shape, bits and r are constants where it is called. */
PXL_EXPORT __attribute__((always_inline)) uint32_t pxl_load_matrix_bytes(uint32_t address, uint32_t shape, uint32_t bits, uint32_t r)
{
    uint32_t word = 0;
    for (uint32_t e = 0; e < 4; e++) {
        pxl_matrix_place p = pxl_matrix_at(shape, lane_id(), r, e);
        const LDS uint8_t *at = row(address, p.lane) + p.column * bits / 8;
        uint32_t value = bits == 6 ? (at[0] | (uint32_t)at[1] << 8) >> (p.column * bits & 7) : (uint32_t)at[0] >> (p.column * bits & 7);
        word |= (value & ((1u << bits) - 1)) << 8 * e;
    }
    return word;
}

PXL_EXPORT __attribute__((always_inline)) void pxl_store_matrix_bytes(uint32_t address, uint32_t shape, uint32_t r, uint32_t word)
{
    for (uint32_t e = 0; e < 4; e++) {
        pxl_matrix_place p = pxl_matrix_at(shape, lane_id(), r, e);
        row(address, p.lane)[p.column] = (uint8_t)(word >> 8 * e);
    }
}

#else
typedef int pxl_not_amdgcn_bulk;      /* a translation unit is not empty */
#endif
