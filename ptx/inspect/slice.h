/* slice.h - what a value is made of: a backward slice (Weiser 1984).
 *
 * It has the definitions that may be the value, what they read, their guards, and so on back to loads and special registers; and the
 * branches that decide whether these are executed and which of several arrives, with what their conditions are made of.
 */
#ifndef PTX_INSPECT_SLICE_H
#define PTX_INSPECT_SLICE_H

#include "ptx/inspect/dominators.h"

/* What is followed beside values and guards. */
enum { PTI_SLICE_ADDRESSES = 1, PTI_SLICE_BRANCHES = 2 };

/* Marks ninsns bytes. PTI_LIMIT: branches depend on each other in too many ways. */
pti_status pti_backward_slice(const pti_flow *flow, uint32_t value, uint32_t follow, uint8_t *marks);

#endif
