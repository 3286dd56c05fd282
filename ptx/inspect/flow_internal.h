/* flow_internal.h - used by flow.c and flow_values.c. */
#ifndef PTX_INSPECT_FLOW_INTERNAL_H
#define PTX_INSPECT_FLOW_INTERNAL_H

#include "ptx/inspect/flow.h"

/* count + 1 zeroed elements, so that none is no special case. */
void *pti_take(ptx_arena *arena, size_t count, size_t size);
/* flow_values.c: needs the blocks. */
pti_status pti_find_values(pti_flow *flow);

#endif
