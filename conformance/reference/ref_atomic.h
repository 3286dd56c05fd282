/* ref_atomic.h - what atom and red leave in memory (PTX ISA, "Parallel Synchronization and Communication Instructions: atom"). */
#ifndef REF_ATOMIC_H
#define REF_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The new value of an element of `type`; c is the third operand of cas. `shared`: the address lies in shared memory, where an addition of f32 does
 * not flush subnormals. False: unknown operation. */
bool ref_atomic(const char *op, const char *type, bool shared, uint64_t old, uint64_t b, uint64_t c, uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
