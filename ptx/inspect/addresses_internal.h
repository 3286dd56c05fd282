/* addresses_internal.h - used by addresses.c and addresses_extent.c. */
#ifndef PTX_INSPECT_ADDRESSES_INTERNAL_H
#define PTX_INSPECT_ADDRESSES_INTERNAL_H

#include "ptx/inspect/addresses.h"

/* addresses_extent.c: patterns, slots and extents of accesses whose bases are known. */
pti_status pti_measure_addresses(pti_symbols *s, pti_loops *loops, pti_addresses *a);

#endif
