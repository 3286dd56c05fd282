/* call.c - frames: calls, returns, recursion (PTX ISA, "call", "ret", "alloca", "Function Declarations").
 *
 * Each activation has a register file of its own, so recursion and lanes that call different functions
 * need nothing special. .local and .param variables of an activation lie in the threads' local memory,
 * above those of its caller; arguments are copied into the callee's variables and results back.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/internal.h"

typedef uint32_t word __attribute__((may_alias));
enum { FRAME_LIMIT = 256 << 20 };       /* bytes of called frames in one block */

static void fill_constant(char *r, const cpu_fill_constant *c)
{
    char *to = r + c->offset;
    for (uint32_t k = 0; k < CPU_LANES; k++)
        switch (c->class) {
        case CPU_CLASS_8: ((uint8_t *)to)[k] = (uint8_t)c->value; break;
        case CPU_CLASS_16: memcpy(to + 2 * k, &c->value, 2); break;
        case CPU_CLASS_32: memcpy(to + 4 * k, &c->value, 4); break;
        case CPU_CLASS_64: memcpy(to + 8 * k, &c->value, 8); break;
        default: *(word *)to = c->value ? UINT32_MAX : 0; break;
        }
}

/* Value of a special register that stays the same while a block runs (PTX ISA, "Special Registers"). */
static uint64_t special_value(const cpu_warp *w, uint32_t sr, uint32_t lane)
{
    const cpu_context *c = w->context;
    const cpu_job *job = c->worker->job;
    const cpu_launch *l = job->launch;
    uint32_t t = w->index * CPU_LANES + lane;
    switch (sr) {
    case PTX_SR_TID_X: return t % l->block[0];
    case PTX_SR_TID_Y: return t / l->block[0] % l->block[1];
    case PTX_SR_TID_Z: return t / l->block[0] / l->block[1];
    case PTX_SR_NTID_X: case PTX_SR_NTID_Y: case PTX_SR_NTID_Z: return l->block[sr - PTX_SR_NTID_X];
    case PTX_SR_CTAID_X: case PTX_SR_CTAID_Y: case PTX_SR_CTAID_Z: return c->block[sr - PTX_SR_CTAID_X];
    case PTX_SR_NCTAID_X: case PTX_SR_NCTAID_Y: case PTX_SR_NCTAID_Z: return l->grid[sr - PTX_SR_NCTAID_X];
    case PTX_SR_LANEID: return lane;
    case PTX_SR_WARPID: return w->index;
    case PTX_SR_NWARPID: return CPU_MAX_WARPS;
    case PTX_SR_SMID: return c->worker->index;
    case PTX_SR_NSMID: return c->worker->device->nworkers;
    case PTX_SR_GRIDID: return job->serial;
    case PTX_SR_LANEMASK_EQ: return 1u << lane;
    case PTX_SR_LANEMASK_LT: return (1u << lane) - 1;
    case PTX_SR_LANEMASK_LE: return (2u << lane) - 1;
    case PTX_SR_LANEMASK_GE: return (uint32_t)-(1u << lane);
    case PTX_SR_LANEMASK_GT: return lane == 31 ? 0 : (uint32_t)-(2u << lane);
    case PTX_SR_TOTAL_SMEM_SIZE: case PTX_SR_AGGR_SMEM_SIZE: return job->shared_used;
    case PTX_SR_DYNAMIC_SMEM_SIZE: return l->dynamic_shared;
    case PTX_SR_ENVREG0 + 1: return job->workspace >> 32;
    case PTX_SR_ENVREG0 + 2: return job->workspace & UINT32_MAX;
    /* Without clusters every block is a cluster of one. */
    case PTX_SR_CLUSTERID_X: case PTX_SR_CLUSTERID_Y: case PTX_SR_CLUSTERID_Z: return c->block[sr - PTX_SR_CLUSTERID_X];
    case PTX_SR_NCLUSTERID_X: case PTX_SR_NCLUSTERID_Y: case PTX_SR_NCLUSTERID_Z: return l->grid[sr - PTX_SR_NCLUSTERID_X];
    case PTX_SR_CLUSTER_NCTAID_X: case PTX_SR_CLUSTER_NCTAID_Y: case PTX_SR_CLUSTER_NCTAID_Z: case PTX_SR_CLUSTER_NCTARANK: return 1;
    default: return 0;
    }
}

static void fill_special(const cpu_warp *w, char *r, const cpu_fill_special *s)
{
    char *to = r + s->offset;
    if (s->class == CPU_CLASS_PRED) {
        *(word *)to = special_value(w, s->special, 0) ? UINT32_MAX : 0;
        return;
    }
    if (s->per_block) {                /* the same in all lanes, and filled for every block */
        w->ops->splat[s->class](to, special_value(w, s->special, 0));
        return;
    }
    for (uint32_t k = 0; k < CPU_LANES; k++) {
        uint64_t v = special_value(w, s->special, k);
        memcpy(to + ((size_t)k << s->class), &v, (size_t)1 << s->class);
    }
}

void cpu_frame_fill(cpu_warp *w, cpu_frame *f, bool all)
{
    const cpu_code *code = f->code;
    if (all)
        for (uint32_t k = 0; k < code->nconstants; k++)
            fill_constant(f->r, &code->constants[k]);
    for (uint32_t k = 0; k < code->nspecials; k++)
        if (all || code->specials[k].per_block)
            fill_special(w, f->r, &code->specials[k]);
    f->epoch = w->context->block_number + 1;
}

void cpu_frame_clear(cpu_frame *f)
{
    for (uint32_t k = 0; k < f->code->nzeros; k++)
        memset(f->r + f->code->zeros[k].offset, 0, f->code->zeros[k].bytes);
}

/* An idle frame of this code, or a new one. */
static cpu_frame *take_frame(cpu_warp *w, const cpu_code *code)
{
    for (cpu_frame **p = &w->idle; *p; p = &(*p)->next) {
        cpu_frame *f = *p;
        if (f->code != code)
            continue;
        *p = f->next;
        if (f->epoch != w->context->block_number + 1)
            cpu_frame_fill(w, f, false);
        return f;
    }
    cpu_context *c = w->context;
    if (c->frame_bytes + code->file_bytes > FRAME_LIMIT)
        cpu_raise(w, CPU_FAULT_STACK, (uint32_t)__builtin_ctz(w->mask), 0, "calls are nested too deeply (registers of %u MiB)",
                  FRAME_LIMIT >> 20);
    cpu_frame *f = calloc(1, sizeof *f);
    if (f)
        f->r = aligned_alloc(CPU_PAGE, (code->file_bytes + CPU_PAGE - 1) & ~(size_t)(CPU_PAGE - 1));
    if (!f || !f->r) {
        free(f);
        cpu_raise(w, CPU_FAULT_STACK, (uint32_t)__builtin_ctz(w->mask), 0, "out of memory for the registers of a call");
    }
    f->code = code;
    c->frame_bytes += code->file_bytes;
    cpu_frame_fill(w, f, true);
    return f;
}

void cpu_frames_drop(cpu_warp *w)
{
    while (w->idle) {
        cpu_frame *f = w->idle;
        w->idle = f->next;
        free(f->r);
        free(f);
    }
}

static void give_back(cpu_warp *w, cpu_frame *f)
{
    f->next = w->idle;
    w->idle = f;
}

/* Lane `lane`'s local memory at an offset. */
static char *local_at(const cpu_warp *w, uint32_t lane, uint64_t offset)
{
    return (char *)(uintptr_t)(w->local_base + lane * w->local_stride + offset);
}

/* Copies one value of the executing lanes between a register and local memory, or two pieces of local memory. */
static void pass(cpu_warp *w, uint32_t mask, char *to_slot, uint64_t to_offset, const char *from_slot, uint64_t from_offset,
                 uint8_t class, uint64_t bytes)
{
    if (class == CPU_CLASS_PRED && (to_slot || from_slot)) {
        for (; mask; mask &= mask - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(mask), bit;
            bit = from_slot ? *(const word *)from_slot >> lane & 1 : *(uint8_t *)local_at(w, lane, from_offset) & 1u;
            if (to_slot)
                *(word *)to_slot = (*(word *)to_slot & ~(1u << lane)) | bit << lane;
            else
                *local_at(w, lane, to_offset) = (char)bit;
        }
        return;
    }
    size_t step = (size_t)1 << class;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        char *to = to_slot ? to_slot + lane * step : local_at(w, lane, to_offset);
        const char *from = from_slot ? from_slot + lane * step : local_at(w, lane, from_offset);
        memmove(to, from, bytes);
    }
}

const cpu_code *cpu_call_target(cpu_warp *w, const cpu_insn *i, uint32_t *mask)
{
    typedef uint64_t wide __attribute__((may_alias));
    const cpu_call *call = i->extra;
    cpu_module *module = w->frame->code->module;
    const ptx_function *function = call->callee;
    uint32_t lane = (uint32_t)__builtin_ctz(*mask);
    if (!function) {
        const wide *address = (const wide *)(w->frame->r + i->o[0]);
        uint64_t wanted = address[lane];
        uint32_t same = 0;
        for (uint32_t rest = *mask; rest; rest &= rest - 1)
            if (address[__builtin_ctz(rest)] == wanted)
                same |= rest & -rest;
        *mask = same;
        module = cpu_function_of(w->context->worker->device, wanted, &function);
        if (!module)
            cpu_raise(w, CPU_FAULT_CALL, lane, wanted, "indirect call to 0x%llx, which is no function", (unsigned long long)wanted);
        if (function->prototype.nparams != call->nargs || function->prototype.nreturns != call->nreturns)
            cpu_raise(w, CPU_FAULT_CALL, lane, wanted, "indirect call of %s with another number of parameters", function->name);
    }
    cpu_error error = {0};
    cpu_code *code = cpu_code_of(module, function, w->context->worker->job->launch->trace != NULL, &error);
    if (!code)
        cpu_raise(w, CPU_FAULT_CALL, lane, 0, "call of %s: %s", function->name, error.reason);
    cpu_code_set_model(code, w->context->worker->job->launch->mma_model);
    return code;
}

/* Registers of another size: only an indirect call can get here with them. */
static bool same_registers(const cpu_passed *a, const cpu_passed *b, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (a[k].in_register && b[k].in_register && a[k].class != b[k].class)
            return false;
    return true;
}

void cpu_call_enter(cpu_warp *w, const cpu_insn *i, const cpu_code *callee)
{
    const cpu_call *call = i->extra;
    cpu_split *s = &w->splits[w->current];
    cpu_frame *from = s->frame;
    uint32_t lane = (uint32_t)__builtin_ctz(s->mask);
    w->mask = s->mask;
    if (!same_registers(call->args, callee->params, call->nargs) || !same_registers(call->returns, callee->returns, call->nreturns))
        cpu_raise(w, CPU_FAULT_CALL, lane, 0, "call of %s with registers of other types than it is declared with", callee->function->name);
    if (from->depth + 1 >= CPU_MAX_DEPTH)
        cpu_raise(w, CPU_FAULT_STACK, lane, 0, "calls are nested more than %d deep", CPU_MAX_DEPTH);
    if (from->local_top + callee->local_bytes > w->local_bytes)
        cpu_raise(w, CPU_FAULT_STACK, lane, 0, "the stack of a thread (%llu bytes of local memory) is exhausted",
                  (unsigned long long)w->local_bytes);
    cpu_frame *f = take_frame(w, callee);
    cpu_frame_clear(f);
    f->parent = from;
    f->call = i;
    f->depth = from->depth + 1;
    f->mask = s->mask;
    f->local_base = from->local_top;
    f->local_top = from->local_top + callee->local_bytes;
    for (uint32_t k = 0; k < call->nargs; k++) {
        const cpu_passed *a = &call->args[k], *p = &callee->params[k];
        const char *slot = a->in_register ? from->r + i->o[a->index] : NULL;
        char *to = p->in_register ? f->r + p->index : NULL;
        uint64_t bytes = a->bytes < p->bytes ? a->bytes : p->bytes;
        pass(w, s->mask, to, f->local_base + p->offset, slot, from->local_base + a->offset, slot ? a->class : p->class, bytes);
    }
    s->frame = f;
    s->pc = 0;
}

static void leave_frame(cpu_warp *w, cpu_frame *f, uint32_t mask)
{
    f->mask &= ~mask;
    if (f->mask == 0)
        give_back(w, f);
}

void cpu_call_return(cpu_warp *w)
{
    cpu_split *s = &w->splits[w->current];
    cpu_frame *f = s->frame, *to = f->parent;
    const cpu_insn *i = f->call;
    const cpu_call *call = i->extra;
    for (uint32_t k = 0; k < call->nreturns; k++) {
        const cpu_passed *a = &call->returns[k], *p = &f->code->returns[k];
        char *slot = a->in_register ? to->r + i->o[a->index] : NULL;
        const char *from = p->in_register ? f->r + p->index : NULL;
        uint64_t bytes = a->bytes < p->bytes ? a->bytes : p->bytes;
        pass(w, s->mask, slot, to->local_base + a->offset, from, f->local_base + p->offset, slot ? a->class : p->class, bytes);
    }
    s->frame = to;
    s->pc = (uint32_t)(i - to->code->insns) + 1;
    leave_frame(w, f, s->mask);
}

void cpu_call_exit(cpu_warp *w, cpu_frame *f, uint32_t mask)
{
    while (f->depth) {
        cpu_frame *parent = f->parent;
        leave_frame(w, f, mask);
        f = parent;
    }
}
