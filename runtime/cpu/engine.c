/* engine.c - the loop that runs a warp.
 *
 * While all lanes that have not exited stand together ("full"), handlers write straight into their
 * slots: what they leave in lanes that do not exist is never read. Otherwise a handler writes to
 * scratch slots and the executing lanes are blended in. The loop leaves a split's straight line only
 * at control instructions and where other lanes wait (stop).
 */
#include "ptx/lib/texture.h"
#include "runtime/cpu/collective.h"

#define INLINE static inline __attribute__((always_inline))
typedef uint32_t word __attribute__((may_alias));

INLINE uint32_t guard_mask(const char *r, const cpu_insn *i, uint32_t mask)
{
    if (i->guard == 0)
        return mask;
    uint32_t p = *(const word *)(r + i->guard);
    return (i->guard_negated ? ~p : p) & mask;
}

INLINE void run_masked(const cpu_warp *w, char *r, const cpu_insn *i, uint32_t mask)
{
    const uint32_t *aside = i->o + i->n;
    i->fn.handler(r, aside);
    for (uint32_t k = 0; k < i->ndst; k++) {
        cpu_dst d = i->dst[k];
        w->ops->blend[d.class](r + i->o[d.operand], r + aside[d.operand], mask);
    }
}

/* A handler under a mask that may differ from the split's. */
INLINE void run_guarded(const cpu_warp *w, char *r, const cpu_insn *i, uint32_t mask)
{
    if (mask == w->alive) {
        i->fn.handler(r, i->o);
        return;
    }
    *(word *)(r + CPU_EXEC_SLOT) = mask;
    run_masked(w, r, i, mask);
    *(word *)(r + CPU_EXEC_SLOT) = w->mask;
}

/* suld, sust and sured with .trap: an access outside is a fault (PTX ISA, "suld"). */
static void check_surface(cpu_warp *w, const char *r, const cpu_insn *i, uint32_t lane, uint64_t handle)
{
    const cpu_image_insn *x = i->extra;
    const pxl_texture *t = (const pxl_texture *)(uintptr_t)handle;
    const uint32_t at[3] = {((const word *)(r + i->o[x->x]))[lane], ((const word *)(r + i->o[x->y]))[lane], ((const word *)(r + i->o[x->z]))[lane]};
    const uint32_t bytes = x->bytes ? x->bytes : pxl_texel_bytes(t->format, t->channels);
    const int64_t column = (int64_t)(int32_t)at[0] * (x->samples ? bytes : 1);
    if (!pxl_surface_contains(t, (pxl_geometry)x->geometry, column, at[1], at[2], bytes))
        cpu_raise(w, CPU_FAULT_ADDRESS, lane, handle, "surface access of %u bytes at x = %d, outside the surface (%u x %u x %u texels)", bytes,
                  (int)at[0], t->width, t->height, t->depth);
}

/* Returns the lanes with a handle: all of the mask, save where the instruction asks just that. */
static uint32_t check_handles(cpu_warp *w, const char *r, const cpu_insn *i, uint32_t mask)
{
    typedef uint64_t wide __attribute__((may_alias));
    const cpu_device *device = w->context->worker->device;
    const cpu_image_insn *x = i->extra;
    const wide *handles = (const wide *)(r + i->o[x->handle]);
    uint64_t last = 0;
    uint32_t valid = mask;
    w->access_bytes = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (x->asks) {
            valid &= ~((uint32_t)!cpu_texture_valid(device, handles[lane]) << lane);
            continue;
        }
        if (handles[lane] != last || last == 0) {
            if (!cpu_texture_valid(device, handles[lane]))
                cpu_raise(w, CPU_FAULT_HANDLE, lane, handles[lane], "no texture or surface has the handle 0x%llx",
                          (unsigned long long)handles[lane]);
            last = handles[lane];
        }
        if (x->trap)
            check_surface(w, r, i, lane, last);
    }
    return valid;
}

/* Lanes without a handle get what a lane that does not execute would get, 0. */
static void run_image(cpu_warp *w, char *r, const cpu_insn *i, uint32_t mask)
{
    uint32_t valid = check_handles(w, r, i, mask);
    if (valid == mask) {
        run_guarded(w, r, i, mask);
        return;
    }
    *(word *)(r + CPU_EXEC_SLOT) = valid;
    run_masked(w, r, i, mask);
    *(word *)(r + CPU_EXEC_SLOT) = w->mask;
}

void cpu_trace(cpu_warp *w, const cpu_frame *frame, const cpu_insn *i, uint32_t mask)
{
    const char *r = frame->r;
    static const uint8_t bytes[CPU_CLASSES] = {1, 2, 4, 8, 0};
    const cpu_launch *launch = w->context->worker->job->launch;
    const cpu_code *code = frame->code;
    const ptx_insn *insn = &code->function->insns[i->ptx];
    cpu_trace_value results[ISA_MAX_ELEMS];
    /* Types come from the PTX where the destinations are the meaning's own. */
    isa_elem elems[ISA_MAX_ELEMS];
    uint32_t n = i->kind <= CPU_K_TEXTURE && insn->meaning ? isa_signature(insn->form, &insn->tuple, elems) : 0;
    for (uint32_t k = 0; k < i->ndst; k++) {
        cpu_dst d = i->dst[k];
        static const ptx_type untyped[CPU_CLASSES] = {PTX_TYPE_B8, PTX_TYPE_B16, PTX_TYPE_B32, PTX_TYPE_B64, PTX_TYPE_PRED};
        ptx_type type = d.operand < n && i->n == n ? elems[d.operand].type : untyped[d.class];
        uint32_t reg = code->dst_registers[i->dst - code->dsts + k];
        results[k] = (cpu_trace_value){type, bytes[d.class], r + i->o[d.operand], reg == UINT32_MAX ? reg : reg / 2, reg % 2 && reg != UINT32_MAX};
    }
    cpu_trace_event event = {.function = code->function, .insn = insn, .warp = w->index, .mask = mask, .nresults = i->ndst,
                             .results = results};
    for (uint32_t k = 0; k < 3; k++)
        event.block[k] = w->context->block[k];
    launch->trace(launch->trace_user, &event);
}

/* The lanes of the split that are not in `mask` go on behind instruction `pc`; the split keeps `mask`. */
static void leave_behind(cpu_warp *w, cpu_split *split, uint32_t mask, uint32_t pc)
{
    uint32_t rest = split->mask & ~mask;
    split->mask = mask;
    if (rest)
        cpu_split_add(w, split->frame, pc + 1, rest, split->round);
}

static void run_jump_table(cpu_warp *w, cpu_split *split, const char *r, const cpu_insn *i, uint32_t mask)
{
    const cpu_jump_table *table = i->extra;
    const word *index = (const word *)(r + i->o[0]);
    while (mask) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask), value = index[lane], same = 0;
        if (value >= table->count)
            cpu_raise(w, CPU_FAULT_CALL, lane, 0, "brx.idx index %u, but its list has %u labels", value, table->count);
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            if (index[__builtin_ctz(rest)] == value)
                same |= rest & -rest;
        mask &= ~same;
        if (mask == 0) {
            split->mask = same;
            split->pc = table->targets[value];
        } else
            cpu_split_add(w, split->frame, table->targets[value], same, split->round);
    }
}

static void run_exit(cpu_warp *w, cpu_split *split)
{
    uint32_t mask = split->mask;
    cpu_frame *frame = split->frame;
    w->alive &= ~mask;
    cpu_split_remove(w, w->current);
    cpu_call_exit(w, frame, mask);
    cpu_barriers_recheck(w->context);
}

/* How the loop goes on after an instruction. */
typedef enum after { AFTER_NEXT, AFTER_ENTER, AFTER_CHOOSE, AFTER_EXPIRE } after;

static after run_call(cpu_warp *w, cpu_split *split, uint32_t pc, const cpu_insn *i, uint32_t m)
{
    const cpu_call *call = i->extra;
    if (call->builtin) {
        cpu_builtin_call(w, i, m);
        return AFTER_NEXT;
    }
    leave_behind(w, split, m, pc);
    const cpu_code *callee = cpu_call_target(w, i, &m);
    if (m != split->mask) {
        /* Lanes that call something else do so when these have returned. */
        uint32_t others = split->mask & ~m;
        split->mask = m;
        split->pc = pc + 1;
        cpu_split_add(w, split->frame, pc, others, split->round);
    }
    split->pc = pc + 1;
    if (callee)
        cpu_call_enter(w, i, callee);
    return --w->quantum < 0 ? AFTER_EXPIRE : AFTER_CHOOSE;
}

static after run_warp_sync(cpu_warp *w, cpu_split *split, uint32_t pc, const cpu_insn *i, uint32_t m)
{
    uint32_t need = m == w->alive ? m : cpu_collective_members(split->frame->r, i, m, w->alive);
    if ((need & ~m) == 0)
        return AFTER_NEXT;
    leave_behind(w, split, m, pc);
    split->pc = pc + 1;
    split->state = CPU_S_WARP_SYNC;
    split->need = need;
    return AFTER_CHOOSE;
}

static after run_barrier(cpu_warp *w, cpu_split *split, uint32_t pc, const cpu_insn *i, uint32_t m, bool traced)
{
    leave_behind(w, split, m, pc);
    split->pc = pc + 1;
    cpu_barrier_arrive(w, i);
    if (traced && i->ndst == 0)              /* a result comes with the end of the wait */
        cpu_trace(w, w->frame, i, m);
    return AFTER_CHOOSE;
}

static after run_return(cpu_warp *w, cpu_split *split, uint32_t pc, const cpu_insn *i, uint32_t m, bool traced)
{
    if (traced && i->kind != CPU_K_END)
        cpu_trace(w, w->frame, i, m);
    leave_behind(w, split, m, pc);
    if (i->kind == CPU_K_EXIT || split->frame->depth == 0)
        run_exit(w, split);
    else
        cpu_call_return(w);
    return AFTER_CHOOSE;
}

static after run_brx(cpu_warp *w, cpu_split *split, uint32_t pc, const cpu_insn *i, uint32_t m)
{
    leave_behind(w, split, m, pc);
    run_jump_table(w, split, split->frame->r, i, m);
    return --w->quantum < 0 ? AFTER_EXPIRE : AFTER_CHOOSE;
}

/* Control instructions that are rare beside branches. Not inline: the loop keeps its registers for the others. */
static __attribute__((noinline)) after run_control(cpu_warp *w, cpu_split *split, const cpu_insn *base, const cpu_insn *i, uint32_t mask, bool traced)
{
    const uint32_t m = guard_mask(split->frame->r, i, mask), pc = (uint32_t)(i - base);
    if (i->kind == CPU_K_YIELD) {
        w->polls++;
        split->pc = pc + 1;
        return AFTER_EXPIRE;
    }
    if (m == 0)
        return AFTER_NEXT;
    w->at = i;
    switch ((cpu_kind)i->kind) {
    case CPU_K_BRX: return run_brx(w, split, pc, i, m);
    case CPU_K_CALL:
        if (traced)
            cpu_trace(w, w->frame, i, m);
        return run_call(w, split, pc, i, m);
    case CPU_K_TRAP: cpu_raise(w, CPU_FAULT_TRAP, (uint32_t)__builtin_ctz(m), 0, "the kernel executed a trap");
    case CPU_K_BARRIER: return run_barrier(w, split, pc, i, m, traced);
    case CPU_K_WARP_SYNC: return run_warp_sync(w, split, pc, i, m);
    default: return run_return(w, split, pc, i, m, traced);          /* RET, EXIT, END */
    }
}

/* The straight line that the loop is on: what stays the same until it leaves it. All of this ends up in registers. */
typedef struct line {
    cpu_split *split;
    const cpu_insn *base, *stop;   /* of the code; where other lanes wait */
    char *r;
    uint32_t mask;
    bool full;
} line;

/* Enters the current split; gives its next instruction. */
INLINE const cpu_insn *enter(cpu_warp *w, line *s)
{
    cpu_split *split = s->split = &w->splits[w->current];
    w->frame = split->frame;
    w->mask = s->mask = split->mask;
    s->full = s->mask == w->alive;
    s->r = split->frame->r;
    s->base = split->frame->code->insns;
    uint32_t stop = w->nsplits > 1 ? cpu_split_stop(w) : UINT32_MAX;
    s->stop = s->base + (stop != UINT32_MAX ? stop : split->frame->code->ninsns + 1);
    *(word *)(s->r + CPU_EXEC_SLOT) = s->mask;
    return s->base + split->pc;
}

/* As many plain instructions as stand here, one when they are traced; gives what follows them. */
INLINE const cpu_insn *run_plain(cpu_warp *w, const line *s, const cpu_insn *i, const bool traced)
{
    uint32_t n = i->run < (uint64_t)(s->stop - i) ? i->run : (uint32_t)(s->stop - i);
    const cpu_insn *end = i + (traced ? 1 : n);
    if (s->full)
        do
            i->fn.handler(s->r, i->o);
        while (++i != end);
    else
        do
            run_masked(w, s->r, i, s->mask);
        while (++i != end);
    if (traced)
        cpu_trace(w, w->frame, i - 1, s->mask);
    return i;
}

/* An instruction of one lane each, under its guard. */
INLINE void run_alone(cpu_warp *w, const line *s, const cpu_insn *i, const cpu_kind kind, const bool traced)
{
    uint32_t m = guard_mask(s->r, i, s->mask);
    if (!m)
        return;
    if (kind != CPU_K_GUARDED)
        w->at = i;
    if (kind == CPU_K_GUARDED)
        run_guarded(w, s->r, i, m);
    else if (kind == CPU_K_TEXTURE)
        run_image(w, s->r, i, m);
    else {
        w->quantum -= i->cost;
        w->polls += i->cost;
        i->fn.op(w, i, m);
    }
    if (traced)
        cpu_trace(w, w->frame, i, m);
}

/* False: lanes that take part are not here yet; the split waits for them before the instruction. */
INLINE bool run_collective(cpu_warp *w, const line *s, const cpu_insn *i, const bool traced)
{
    uint32_t m = guard_mask(s->r, i, s->mask);
    if (m == 0)
        return true;
    uint32_t need = m == w->alive ? m : cpu_collective_members(s->r, i, m, w->alive);
    if (need & ~m) {
        uint32_t pc = (uint32_t)(i - s->base);
        leave_behind(w, s->split, m, pc);
        s->split->pc = pc;
        s->split->state = CPU_S_SYNC;
        s->split->need = need;
        return false;
    }
    w->at = i;
    if (i->kind == CPU_K_COLLECTIVE)
        cpu_collective_run(w, s->r, i, m);
    else
        i->fn.op(w, i, m);
    if (traced)
        cpu_trace(w, w->frame, i, m);
    return true;
}

/* AFTER_NEXT: the line goes on at *at, which is not always the target. */
INLINE after run_branch(cpu_warp *w, const line *s, const cpu_insn **at, const bool traced)
{
    const cpu_insn *i = *at;
    uint32_t m = guard_mask(s->r, i, s->mask), pc = (uint32_t)(i - s->base);
    if (traced)
        cpu_trace(w, w->frame, i, m);
    *at = i + 1;
    if (m == 0)
        return AFTER_NEXT;
    if (m != s->mask)
        leave_behind(w, s->split, m, pc);
    if (i->target <= pc) {
        s->split->pc = i->target;
        if (--w->quantum < 0)
            return AFTER_EXPIRE;
        /* The split stood lowest and now stands lower still: only its stop changes. */
        if (m == s->mask && w->nsplits > 1)
            return AFTER_ENTER;
    }
    *at = s->base + i->target;
    if (w->nsplits == 1 || (m == s->mask && *at <= s->stop))
        return AFTER_NEXT;
    s->split->pc = i->target;
    return AFTER_CHOOSE;
}

static cpu_outcome expire(cpu_warp *w)
{
    if (w->nsplits > 1) {
        w->splits[w->current].round++;
        /* What spins may wait for lanes that stand in a collective. */
        cpu_collective_meet(w);
    }
    return CPU_RAN_YIELDED;
}

/* Runs a straight line from an instruction on, to where the warp has to choose again. */
INLINE after run_line(cpu_warp *w, const line *s, const cpu_insn *i, const bool traced)
{
    while (i != s->stop) {
        after next;
        switch ((cpu_kind)i->kind) {
        case CPU_K_PLAIN: i = run_plain(w, s, i, traced); continue;
        case CPU_K_GUARDED: run_alone(w, s, i++, CPU_K_GUARDED, traced); continue;
        case CPU_K_TEXTURE: run_alone(w, s, i++, CPU_K_TEXTURE, traced); continue;
        case CPU_K_OP: run_alone(w, s, i++, CPU_K_OP, traced); continue;
        case CPU_K_COLLECTIVE:
        case CPU_K_ALIGNED_OP:
            if (!run_collective(w, s, i++, traced))
                return AFTER_CHOOSE;
            continue;
        case CPU_K_BRANCH: next = run_branch(w, s, &i, traced); break;
        default: next = run_control(w, s->split, s->base, i++, s->mask, traced); break;
        }
        if (next != AFTER_NEXT)
            return next;
    }
    s->split->pc = (uint32_t)(i - s->base);
    cpu_split_merge(w);
    return AFTER_ENTER;
}

INLINE cpu_outcome run(cpu_warp *w, const bool traced)
{
    after next = AFTER_CHOOSE;
    for (;;) {
        if (next == AFTER_EXPIRE)
            return expire(w);
        if (next == AFTER_CHOOSE && w->nsplits == 0)
            return CPU_RAN_DONE;
        if (next == AFTER_CHOOSE && !cpu_split_choose(w))
            return CPU_RAN_BLOCKED;
        line s;
        const cpu_insn *i = enter(w, &s);
        next = run_line(w, &s, i, traced);
    }
}

cpu_outcome cpu_warp_run(cpu_warp *w)
{
    return run(w, false);
}

cpu_outcome cpu_warp_run_traced(cpu_warp *w)
{
    return run(w, true);
}
