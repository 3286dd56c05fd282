/* fault.c - from a fault in a kernel to an error of its launch.
 *
 * Engine code that finds a fault calls cpu_raise(), which describes it in worker->raised and jumps back
 * to the worker's loop. A bad access that only the memory hardware notices (a guard page) comes as
 * SIGSEGV or SIGBUS: the handler jumps the same way when the address lies in the arena of a running
 * worker, and otherwise hands the signal to whoever had it before.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "runtime/cpu/internal.h"

_Thread_local cpu_worker *cpu_this_worker;
static struct sigaction previous_segv, previous_bus;

const char *cpu_status_name(cpu_status status)
{
    static const char *const names[CPU_STATUS_COUNT] = {
        [CPU_OK] = "ok", [CPU_BAD_ARGUMENT] = "bad argument", [CPU_NO_MEMORY] = "out of memory", [CPU_NOT_FOUND] = "not found",
        [CPU_BAD_INPUT] = "malformed PTX", [CPU_UNSUPPORTED] = "unsupported", [CPU_FAULT_ADDRESS] = "illegal address",
        [CPU_FAULT_MISALIGNED] = "misaligned address", [CPU_FAULT_TRAP] = "trap", [CPU_FAULT_DEADLOCK] = "deadlock",
        [CPU_FAULT_TIMEOUT] = "timeout", [CPU_FAULT_STACK] = "stack overflow", [CPU_FAULT_CALL] = "bad call or branch target",
        [CPU_FAULT_HANDLE] = "bad texture or surface handle"};
    return (unsigned)status < CPU_STATUS_COUNT && names[status] ? names[status] : "unknown status";
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

void cpu_error_set(cpu_error *error, cpu_status status, const char *format, ...)
{
    if (!error)
        return;
    memset(error, 0, sizeof *error);
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->reason, sizeof error->reason, format, args);
    va_end(args);
}

void cpu_error_at(cpu_error *error, const ptx_module *module, const ptx_function *function, const ptx_insn *insn)
{
    if (!error)
        return;
    copy_text(error->file, sizeof error->file, module->file);
    if (function)
        copy_text(error->function, sizeof error->function, function->name);
    if (insn) {
        error->line = insn->at.line;
        error->column = insn->at.column;
        ptx_format_insn(module, insn, error->instruction, sizeof error->instruction);
    } else if (function) {
        error->line = function->at.line;
        error->column = function->at.column;
    }
}

size_t cpu_format_error(const cpu_error *e, char *buffer, size_t size)
{
    char place[400] = "", thread[128] = "", kernel[600] = "";
    if (e->line)
        snprintf(place, sizeof place, "%s:%u:%u: ", e->file[0] ? e->file : "ptx", e->line, e->column);
    if (e->kernel[0])
        snprintf(kernel, sizeof kernel, " in kernel %s%s%s", e->kernel, e->function[0] && strcmp(e->function, e->kernel) ? ", function " : "",
                 e->function[0] && strcmp(e->function, e->kernel) ? e->function : "");
    if (e->has_thread)
        snprintf(thread, sizeof thread, ", block (%u,%u,%u) thread (%u,%u,%u)", e->block[0], e->block[1], e->block[2],
                 e->thread[0], e->thread[1], e->thread[2]);
    int n = snprintf(buffer, size, "%s%s: %s%s%s%s%s%s", place, cpu_status_name(e->status), e->reason, kernel, thread,
                     e->instruction[0] ? ": `" : "", e->instruction, e->instruction[0] ? "`" : "");
    return n < 0 ? 0 : (size_t)n;
}

/* Fills everything but the reason. */
static void describe(cpu_warp *w, cpu_status status, uint32_t lane, cpu_error *e)
{
    const cpu_context *c = w->context;
    const cpu_job *job = c->worker->job;
    const cpu_code *code = w->frame ? w->frame->code : job->code;
    const ptx_insn *insn = NULL;
    /* An instruction of the code that runs, or of the caller when the fault came on the way in. */
    for (const cpu_frame *f = w->frame; f && w->at && !insn; f = f->parent)
        if (w->at >= f->code->insns && w->at <= f->code->insns + f->code->ninsns) {
            code = f->code;
            uint32_t index = w->at->ptx < code->function->ninsns ? w->at->ptx : code->function->ninsns - 1;
            insn = &code->function->insns[index];
        }
    memset(e, 0, sizeof *e);
    e->status = status;
    copy_text(e->kernel, sizeof e->kernel, job->kernel->function->name);
    cpu_error_at(e, code->module->ptx, code->function, insn);
    for (uint32_t k = 0; k < 3; k++)
        e->block[k] = c->block[k];
    e->has_thread = true;
    const uint32_t *block = job->launch->block;
    uint32_t t = w->index * CPU_LANES + (lane < CPU_LANES ? lane : 0);
    e->thread[0] = t % block[0];
    e->thread[1] = t / block[0] % block[1];
    e->thread[2] = t / block[0] / block[1];
}

static _Noreturn void raise_v(cpu_warp *w, const char *format, va_list args)
{
    cpu_worker *worker = w->context->worker;
    vsnprintf(worker->raised.reason, sizeof worker->raised.reason, format, args);
    siglongjmp(worker->jump, 1);
}

_Noreturn void cpu_raise(cpu_warp *w, cpu_status status, uint32_t lane, uint64_t address, const char *format, ...)
{
    cpu_error *e = &w->context->worker->raised;
    describe(w, status, lane, e);
    e->has_address = address != 0;
    e->address = address;
    va_list args;
    va_start(args, format);
    raise_v(w, format, args);
}

/* The same for an access, whose address may be 0. */
static _Noreturn void raise_access(cpu_warp *w, cpu_status status, uint32_t lane, uint64_t address, const char *format, ...)
{
    cpu_error *e = &w->context->worker->raised;
    describe(w, status, lane, e);
    e->has_address = true;
    e->address = address;
    va_list args;
    va_start(args, format);
    raise_v(w, format, args);
}

/* Says in words what is wrong with an address: of a window, of the arena. */
static const char *part_of_window(const cpu_warp *w)
{
    switch ((cpu_window)w->window) {
    case CPU_W_SHARED: return "is outside the shared memory of its block";
    case CPU_W_LOCAL: case CPU_W_FRAME: return "is outside the local memory of its thread";
    case CPU_W_PARAM: return "is outside the parameters of the kernel";
    default: return NULL;
    }
}

static const char *part_of_arena(const cpu_device *d, uint64_t address)
{
    if (address - d->arena >= d->arena_bytes)
        return "is outside device memory";
    if (address >= d->global.low)
        return "is in no allocation";
    if (address >= d->local.low)
        return "is outside the local memory of its thread";
    if (address >= d->window.low)
        return "is outside the shared memory of its block";
    if (address >= d->constant.low)
        return "is in no constant variable";
    return "is not data";
}

_Noreturn void cpu_raise_address(cpu_warp *w, const cpu_insn *i, uint32_t bad)
{
    uint32_t lane = (uint32_t)__builtin_ctz(bad);
    uint64_t address = w->addresses[lane];
    w->at = i;
    if (address & (w->align - 1))
        raise_access(w, CPU_FAULT_MISALIGNED, lane, address, "address 0x%llx is not a multiple of the access size %u",
                  (unsigned long long)address, w->align);
    const char *part = part_of_window(w);
    raise_access(w, CPU_FAULT_ADDRESS, lane, address, "access of %u bytes at 0x%llx, which %s", w->access_bytes,
              (unsigned long long)address, part ? part : part_of_arena(w->context->worker->device, address));
}

/* ------------------------------------------------------------ signals */

static void pass_on(int number, siginfo_t *info, void *context, const struct sigaction *previous)
{
    if (previous->sa_flags & SA_SIGINFO)
        previous->sa_sigaction(number, info, context);
    else if (previous->sa_handler == SIG_DFL || previous->sa_handler == SIG_IGN) {
        /* The fault happens again on return, now with the default effect. */
        sigaction(number, previous, NULL);
    } else
        previous->sa_handler(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    cpu_worker *worker = cpu_this_worker;
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    if (worker && worker->guarded && address - worker->device->arena < worker->device->arena_bytes) {
        worker->fault_address = address;
        siglongjmp(worker->jump, 2);
    }
    pass_on(number, info, context, number == SIGBUS ? &previous_bus : &previous_segv);
}

static void install(void)
{
    struct sigaction action = {0};
    action.sa_sigaction = on_fault;
    /* NODEFER: the handler does not return, so nothing would unblock the signal. */
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_segv);
    sigaction(SIGBUS, &action, &previous_bus);
}

void cpu_signals_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}

void cpu_signal_fault(cpu_worker *worker)
{
    cpu_warp *w = worker->running;
    uint64_t address = worker->fault_address;
    uint32_t lane = (uint32_t)__builtin_ctz(w->mask ? w->mask : 1);
    /* The lane whose access covers the address that faulted. */
    for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(rest);
        if (address - w->addresses[k] < w->access_bytes) {
            lane = k;
            address = w->addresses[k];
            break;
        }
    }
    describe(w, CPU_FAULT_ADDRESS, lane, &worker->raised);
    worker->raised.has_address = true;
    worker->raised.address = address;
    snprintf(worker->raised.reason, sizeof worker->raised.reason, "access at 0x%llx, which %s", (unsigned long long)address,
             part_of_arena(worker->device, address));
}

/* ------------------------------------------------------------ deadlock */

/* Nothing in the block can run: names one warp that waits and what for. */
void cpu_deadlock(cpu_context *c)
{
    cpu_warp *culprit = NULL;
    const cpu_split *waiting = NULL;
    /* A warp collective that misses lanes explains more than a barrier that misses warps. */
    for (uint32_t pass = 0; pass < 2 && !waiting; pass++)
        for (uint32_t k = 0; k < c->nwarps && !waiting; k++)
            for (uint32_t n = 0; n < c->warps[k].nsplits && !waiting; n++)
                if ((c->warps[k].splits[n].state == CPU_S_BARRIER) == (pass == 1)) {
                    culprit = &c->warps[k];
                    waiting = &culprit->splits[n];
                }
    culprit->frame = waiting->frame;
    bool behind = waiting->state != CPU_S_SYNC;
    culprit->at = &waiting->frame->code->insns[waiting->pc - behind];
    uint32_t lane = (uint32_t)__builtin_ctz(waiting->mask);
    if (waiting->state != CPU_S_BARRIER)
        cpu_raise(culprit, CPU_FAULT_DEADLOCK, lane, 0, "lanes 0x%08x wait for lanes 0x%08x of their warp, which never come",
                  waiting->mask, waiting->need & culprit->alive & ~waiting->mask);
    const cpu_barrier_state *b = &c->barriers[waiting->barrier];
    uint32_t arrived = 0, alive = 0;
    for (uint32_t k = 0; k < c->nwarps; k++) {
        arrived += (uint32_t)__builtin_popcount(b->arrived[k]);
        alive += (uint32_t)__builtin_popcount(c->warps[k].alive);
    }
    cpu_raise(culprit, CPU_FAULT_DEADLOCK, lane, 0, "barrier %u can never complete: %u threads have arrived of %u", waiting->barrier,
              arrived, b->expected ? b->expected : alive);
}
