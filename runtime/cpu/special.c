/* special.c - operations on address spaces, the stack of a thread, and registers that change while a block runs. */
#include <string.h>
#include <time.h>
#include "runtime/cpu/memory.h"

typedef uint32_t word __attribute__((may_alias));

/* cvta (PTX ISA, "cvta"): generic addresses are host addresses, those of a window are offsets in it. */
void cpu_op_cvta(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_conversion *x = i->extra;
    char *r = w->frame->r;
    uint64_t base = 0, stride = 0;
    switch ((cpu_window)x->window) {
    case CPU_W_SHARED: base = w->shared_base; break;
    case CPU_W_PARAM: base = w->param_base; break;
    case CPU_W_LOCAL: case CPU_W_FRAME: base = w->local_base; stride = w->local_stride; break;
    default: break;
    }
    CPU_FOR_LANES(lane, mask) {
        uint64_t v = cpu_get(r + i->o[1], x->source_class, lane), start = base + lane * stride;
        cpu_put(r + i->o[0], x->class, lane, x->to ? v - start : v + start);
    }
}

void cpu_op_isspacep(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_conversion *x = i->extra;
    cpu_device *d = w->context->worker->device;
    char *r = w->frame->r;
    word *to = (word *)(r + i->o[0]);
    CPU_FOR_LANES(lane, mask) {
        uint64_t a = cpu_get(r + i->o[1], CPU_CLASS_64, lane);
        bool constant = a >= d->constant.low && a < d->constant.high, param = a - w->param_base < w->param_bytes;
        bool inside;
        switch ((cpu_window)x->window) {
        case CPU_W_SHARED: inside = a - w->shared_base < w->shared_bytes; break;
        case CPU_W_LOCAL: inside = a >= d->local.low && a < d->local.high; break;
        case CPU_W_PARAM: inside = param; break;
        case CPU_W_CONST: inside = constant; break;
        default:
            inside = (a - d->arena < d->arena_bytes && (a < d->constant.low || a >= d->global.low) && !param) || cpu_host_holds(d, a, 1);
            break;
        }
        *to = (*to & ~(1u << lane)) | (uint32_t)inside << lane;
    }
}

static uint64_t realtime_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* At the rate that devices claim to have (CPU_CLOCK_KHZ), whatever the host's counter does: programs wait so many cycles and mean a time. */
static uint64_t cycles(void)
{
    return cpu_now_ns() * (CPU_CLOCK_KHZ / 1000000);
}

/* Who reads a clock in a loop waits for it: others have their turns meanwhile, so that all who wait do so at the same time. */
void cpu_op_special(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_fill_special *x = i->extra;
    uint64_t v;
    w->quantum = 0;
    switch (x->special) {
    case PTX_SR_NONE: v = 0; break;
    case PTX_SR_CLOCK: v = (uint32_t)cycles(); break;
    case PTX_SR_CLOCK_HI: v = cycles() >> 32; break;
    case PTX_SR_CLOCK64: v = cycles(); break;
    case PTX_SR_GLOBALTIMER_LO: v = (uint32_t)realtime_ns(); break;
    case PTX_SR_GLOBALTIMER_HI: v = realtime_ns() >> 32; break;
    default: v = realtime_ns(); break;
    }
    CPU_FOR_LANES(lane, mask)
        cpu_put(w->frame->r + i->o[0], x->class, lane, v);
}

void cpu_op_frame_address(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_frame_address *x = i->extra;
    CPU_FOR_LANES(lane, mask)
        cpu_put(w->frame->r + i->o[0], x->class, lane, w->frame->local_base + x->offset);
}

/* alloca (PTX ISA, "Stack Manipulation Instructions"): the top is one for all lanes of a frame, which wastes
 * space when lanes diverge but never gives two living pieces the same place. */
void cpu_op_alloca(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_stack *x = i->extra;
    char *r = w->frame->r;
    uint64_t most = 0, align = x->align ? x->align : 8;
    CPU_FOR_LANES(lane, mask) {
        uint64_t n = cpu_get(r + i->o[1], x->argument_class, lane);
        most = n > most ? n : most;
    }
    uint64_t start = (w->frame->local_top + align - 1) & ~(align - 1);
    if (most > w->local_bytes || start + most > w->local_bytes)
        cpu_raise(w, CPU_FAULT_STACK, (uint32_t)__builtin_ctz(mask), 0, "alloca of %llu bytes exhausts the stack of a thread (%llu bytes)",
                  (unsigned long long)most, (unsigned long long)w->local_bytes);
    w->frame->local_top = start + most;
    CPU_FOR_LANES(lane, mask)
        cpu_put(r + i->o[0], x->class, lane, start);
}

void cpu_op_stack_save(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_stack *x = i->extra;
    CPU_FOR_LANES(lane, mask)
        cpu_put(w->frame->r + i->o[0], x->class, lane, w->frame->local_top);
}

void cpu_op_stack_restore(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_stack *x = i->extra;
    /* Only when all lanes of the frame give back may the top come down. */
    uint64_t most = 0;
    CPU_FOR_LANES(lane, mask) {
        uint64_t v = cpu_get(w->frame->r + i->o[1], x->argument_class, lane);
        most = v > most ? v : most;
    }
    if (mask == (w->frame->mask & w->alive) && most < w->frame->local_top)
        w->frame->local_top = most;
}
