/* wave.c - the loop that executes a wave, its start from a kernel descriptor, and faults.
 *
 * A fault leaves the handler by longjmp to sim_wave_run; handlers hold no resources.
 */
#include <stdio.h>
#include "runtime/sim/state.h"

/* ------------------------------------------------------------ faults */

static void thread_of(const sim_wave *w, uint32_t lane, uint32_t thread[3])
{
    const uint32_t *block = w->block->launch->block;
    uint32_t linear = w->index * w->lanes + lane, x = block[0] ? block[0] : 1, y = block[1] ? block[1] : 1;
    thread[0] = linear % x;
    thread[1] = linear / x % y;
    thread[2] = linear / x / y;
}

static void describe(sim_wave *w, sim_status status, int32_t lane)
{
    sim_error *e = w->error;
    memset(e, 0, sizeof *e);
    e->status = status;
    if (w->block->kernel) snprintf(e->kernel, sizeof e->kernel, "%s", w->block->kernel->name);
    if (w->insn) {
        snprintf(e->instruction, sizeof e->instruction, "%s", w->insn->text);
        e->pc = w->insn->pc;
        e->caller_pc = sim_pair(w, 30) - sim_text_base(w) - 4;     /* the return address */
    }
    uint64_t exec = sim_exec(w);
    if (lane < 0 && exec) lane = __builtin_ctzll(exec);
    memcpy(e->block, w->block->id, sizeof e->block);
    if (lane < 0 || !w->block->launch) return;
    e->has_thread = true;
    thread_of(w, (uint32_t)lane, e->thread);
}

void sim_fault(sim_wave *w, sim_status status, int32_t lane, const char *format, ...)
{
    va_list list;
    describe(w, status, lane);
    va_start(list, format);
    vsnprintf(w->error->reason, sizeof w->error->reason, format, list);
    va_end(list);
    longjmp(*w->fault, 1);
}

void sim_fault_address(sim_wave *w, sim_status status, int32_t lane, uint64_t address, const char *what)
{
    describe(w, status, lane);
    w->error->has_address = true;
    w->error->address = address;
    snprintf(w->error->reason, sizeof w->error->reason, "%s: 0x%llx", what, (unsigned long long)address);
    longjmp(*w->fault, 1);
}

/* ------------------------------------------------------------ the loop */

uint64_t sim_text_base(const sim_wave *w) { return w->code->base; }
uint32_t sim_text_words(const sim_wave *w) { return w->code->nslots; }

static void steps(sim_wave *w)
{
    sim_code *code = w->code;
    const uint32_t n = code->nslots;
    do {
        uint32_t at = w->at;
        if (__builtin_expect(at >= n, 0)) {
            w->insn = NULL;
            sim_fault(w, SIM_FAULT_CALL, -1, "execution left the code object's text");
        }
        const sim_insn *i = __atomic_load_n(&code->slots[at], __ATOMIC_ACQUIRE);
        if (__builtin_expect(!i, 0)) i = sim_code_at(code, at);
        w->insn = i;
        w->at = at + i->words;
        w->counts.executed[i->group]++;
        i->run(w, i);
    } while (--w->budget > 0);
}

bool sim_wave_run(sim_wave *w, uint64_t quantum)
{
    jmp_buf fault;
    w->fault = &fault;
    w->turn = w->budget = (int64_t)quantum;
    bool fine = !setjmp(fault);
    if (fine) steps(w);
    w->executed += (uint64_t)(w->turn - (w->budget > 0 ? w->budget : 0));
    w->fault = NULL;
    return fine;
}

/* ------------------------------------------------------------ start */

/* Puts user SGPRs one after the other (LLVM, "User Guide for AMDGPU Backend", "Initial Kernel Execution State"). */
typedef struct user_registers {
    sim_wave *w;
    uint32_t next;
} user_registers;

static void put(user_registers *u, bool wanted, uint64_t value, uint32_t count)
{
    if (!wanted) return;
    for (uint32_t k = 0; k < count && u->next < 104; k++, u->next++)
        u->w->sgpr[u->next] = k < 2 ? (uint32_t)(value >> 32 * k) : 0;
}

static void put_user(user_registers *u, const sim_kernel *k, uint64_t kernarg, uint64_t packet)
{
    uint32_t p = k->properties;
    const uint32_t first = u->next;
    put(u, p & 1 << 0, (uint64_t)1 << 63, 4);               /* private segment buffer: swizzled, each lane its own (buffer.c) */
    if (p & 1 << 0) u->w->sgpr[first + 3] = 1u << 23;
    put(u, p & 1 << 1, packet, 2);
    put(u, p & 1 << 2, 0, 2);                               /* queue */
    put(u, p & 1 << 3, kernarg, 2);
    put(u, p & 1 << 4, 0, 2);                               /* dispatch id */
    put(u, p & 1 << 5, 0, 2);                               /* flat scratch: architected on the targets here */
    put(u, p & 1 << 6, u->w->scratch_bytes, 1);
    uint32_t length = k->preload & 0x7f, offset = k->preload >> 7;
    for (uint32_t n = 0; n < length && u->next < 16; n++) {
        uint32_t value = 0;
        if ((offset + n + 1) * 4 <= k->kernarg_segment) memcpy(&value, (void *)(uintptr_t)(kernarg + (offset + n) * 4), 4);
        u->w->sgpr[u->next++] = value;
    }
}

/* After the user SGPRs; gfx12 has the ids in trap registers (the same guide, "SGPR Register Set Up Order"). */
static void put_system(user_registers *u, const sim_kernel *k)
{
    sim_wave *w = u->w;
    const uint32_t *id = w->block->id;
    u->next = k->rsrc2 >> 1 & 31;                           /* USER_SGPR_COUNT */
    if (w->target->block_id_in_ttmp) {
        w->sgpr[SIM_TTMP + 9] = id[0];
        w->sgpr[SIM_TTMP + 7] = (id[1] & 0xffff) | id[2] << 16;
    } else {
        put(u, k->rsrc2 & 1 << 7, id[0], 1);
        put(u, k->rsrc2 & 1 << 8, id[1], 1);
        put(u, k->rsrc2 & 1 << 9, id[2], 1);
    }
    put(u, k->rsrc2 & 1 << 10, 0, 1);                       /* work-group info */
    put(u, k->rsrc2 & 1 << 0, 0, 1);                        /* scratch wave offset: every lane's scratch begins at 0 */
}

static void put_threads(sim_wave *w)
{
    uint32_t id[3], total = w->block->launch->block[0] * w->block->launch->block[1] * w->block->launch->block[2];
    w->active = 0;
    for (uint32_t lane = 0; lane < w->lanes; lane++) {
        thread_of(w, lane, id);
        if (w->index * w->lanes + lane < total) w->active |= (uint64_t)1 << lane;
        w->vgpr[0][lane] = w->target->packed_thread_id ? id[0] | id[1] << 10 | id[2] << 20 : id[0];
        if (w->target->packed_thread_id) continue;
        w->vgpr[1][lane] = id[1];
        w->vgpr[2][lane] = id[2];
    }
    w->sgpr[SIM_EXEC] = (uint32_t)w->active;
    w->sgpr[SIM_EXEC + 1] = (uint32_t)(w->active >> 32);
}

bool sim_wave_start(sim_wave *w, const sim_kernel *k, uint64_t kernarg, uint64_t packet, sim_error *error)
{
    w->code = sim_module_code(k->module, k->lanes);
    w->lanes = k->lanes;
    w->error = error;
    w->insn = NULL;
    w->state = WAVE_READY;
    w->scc = w->signalled = false;
    w->phase = 0;
    w->range_base = w->range_bytes = 0;
    memset(w->sgpr, 0, sizeof w->sgpr);
    uint64_t entry = k->entry;
    if (k->preload & 0x7f) entry += 256;                    /* the code before it loads what we have preloaded */
    w->at = (uint32_t)((entry - k->module->text) / 4);
    /* FLOAT_MODE, and for processors before gfx12 DX10_CLAMP and IEEE_MODE. */
    w->mode = k->rsrc1 >> 12 & 0xff;
    if (w->target->generation < SIM_GFX12) w->mode |= (k->rsrc1 >> 21 & 1) << 8 | (k->rsrc1 >> 23 & 1) << 9;
    user_registers u = {w, 0};
    put_user(&u, k, kernarg, packet);
    put_system(&u, k);
    put_threads(w);
    return w->code != NULL;
}
