/* plan.h - whether the lanes of a warp need to wait for each other as NVIDIA's do (plan.c), and the code that lets them (dispatch.c). */
#ifndef XL_PLAN_H
#define XL_PLAN_H

#include "translator/l_llvm.h"

/* What plan.c says of a function. */
typedef struct xl_plan {
    bool dispatch;             /* lower it with a dispatcher */
    uint8_t *hops;             /* by instruction: a branch back that goes through the dispatcher */
    uint8_t *together;         /* by instruction: a barrier or collective to which all lanes of a warp come as one */
    bool plain_barriers;       /* every barrier is for whole warps: the hardware's */
} xl_plan;

/* The plan lives as long as the translation. */
xl_plan xl_make_plan(xl_emitter *x, const ptx_function *f);

/* Kinds of instruction that make lanes or warps wait for each other. */
bool xl_is_barrier(const ptx_insn *insn);                  /* bar, barrier, barrier.cluster */
bool xl_is_cluster_barrier(const ptx_insn *insn);
bool xl_is_counted_barrier(const ptx_insn *insn);          /* with a number of threads */
bool xl_is_collective(const ptx_insn *insn);               /* of the lanes of a warp */

/* ------------------------------------------------------------ dispatch.c: all of it only where x->dispatch */

struct xl_dispatch;
/* Has the instruction being lowered lanes to wait for? */
bool xl_waits_for_lanes(const xl_emitter *x);
/* After the entry block: everything from here on is a case of the dispatcher. */
void xl_open_dispatch(xl_emitter *x);
/* After the body: the block b_return goes to the dispatcher, which leads to the block that is given. `cells`: barriers are in LDS. */
LLVMBasicBlockRef xl_end_dispatch(xl_emitter *x, bool cells);
/* A block that goes to `b_target` by way of the dispatcher. */
LLVMBasicBlockRef xl_hop(xl_emitter *x, LLVMBasicBlockRef b_target);
/* Waits at a barrier at which it has arrived; id NULL: the cluster's. */
void xl_wait_barrier(xl_emitter *x, LLVMValueRef cells, const ptx_value *id);
/* Waits until all lanes of the mask that have not ended are at this instruction (at bar.warp.sync: at any). */
void xl_rendezvous(xl_emitter *x, const ptx_value *mask);
/* The call of a collective whose mask is argument `mask`: lanes meet that wait for the same function with the same mask,
 * wherever they are. Gives the results in `results` (as the function's result, or what it stored at its `npointers` leading pointers). */
void xl_meet(xl_emitter *x, LLVMValueRef fn, LLVMValueRef *args, unsigned nargs, unsigned npointers, unsigned mask, LLVMValueRef *results);
/* An alloca in the entry block. */
LLVMValueRef xl_entry_alloca(xl_emitter *x, LLVMTypeRef type);
/* The lanes of this warp that are here, as a mask. */
LLVMValueRef xl_lanes_here(xl_emitter *x);

#endif
