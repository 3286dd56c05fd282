/* torture_interpret.c - runs a torture program from its parsed text, one thread at a time.
 *
 * A thread runs until it ends or meets a barrier or a collective; then the next one does. Arithmetic is
 * conformance/reference's. It knows the few operations that torture_generate.c writes, and says so of any other.
 */
#include "conformance/torture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2000000, WARP = 32, STACK = 64 };

typedef struct thread {
    uint64_t *registers;
    uint8_t own[STACK];                  /* .local */
    uint32_t at;                         /* next instruction */
    bool ended;
} thread;

/* An instruction as its case, and its elements. */
typedef struct prepared {
    conform_case c;                      /* form is NULL: not yet */
    ptx_value values[ISA_MAX_ELEMS];
    uint32_t n;
} prepared;

typedef struct machine {
    const ptx_module *module;
    const ptx_function *f;
    const conform_list *list;
    torture_data *data;
    uint64_t params[3];
    uint8_t shared[4 * TORTURE_BLOCK];
    thread threads[TORTURE_BLOCK];
    prepared *prepared;                  /* of each instruction */
    uint32_t block;
    uint64_t steps;
    jmp_buf fail;
    char *why;
    size_t size;
} machine;

_Noreturn static void fail(machine *m, const ptx_insn *insn, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn static void fail(machine *m, const ptx_insn *insn, const char *format, ...)
{
    char reason[200];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    snprintf(m->why, m->size, "line %u: %s", insn->at.line, reason);
    longjmp(m->fail, 1);
}

static uint64_t mask_of(uint32_t bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

/* ------------------------------------------------------------ values */

static uint64_t special(machine *m, const ptx_insn *insn, uint32_t tid, ptx_special sr)
{
    switch (sr) {
    case PTX_SR_TID_X: return tid;
    case PTX_SR_CTAID_X: return m->block;
    default: fail(m, insn, "special register %s", ptx_special_name(sr));
    }
}

static uint64_t value(machine *m, const ptx_insn *insn, uint32_t tid, const ptx_value *v)
{
    const uint64_t mask = v->type == PTX_TYPE_PRED ? 1 : mask_of(ptx_type_bytes(v->type) * 8);
    switch (v->kind) {
    case PTX_VALUE_REG: return (m->threads[tid].registers[v->reg] ^ (v->negated ? 1 : 0)) & mask;
    case PTX_VALUE_IMM: return v->imm & mask;
    case PTX_VALUE_SPECIAL: return special(m, insn, tid, v->special);
    case PTX_VALUE_VARIABLE: return v->variable->offset + v->imm;
    default: fail(m, insn, "an operand of kind %d", (int)v->kind);
    }
}

/* A narrower element fills its register by its sign (PTX ISA, "Operand Size Exceeding Instruction-Type Size"). */
static void set(machine *m, uint32_t tid, const ptx_value *v, uint64_t x)
{
    if (v->kind != PTX_VALUE_REG)
        return;
    const ptx_type type = m->f->registers[v->reg].type;
    const uint32_t bits = v->type == PTX_TYPE_PRED ? 1 : ptx_type_bytes(v->type) * 8;
    x &= mask_of(bits);
    if (ptx_type_class(v->type) == 's' && bits < 64 && x >> (bits - 1) & 1)
        x |= ~mask_of(bits);
    m->threads[tid].registers[v->reg] = x & (type == PTX_TYPE_PRED ? 1 : mask_of(ptx_type_bytes(type) * 8));
}

/* ------------------------------------------------------------ memory */

static void *host(machine *m, const ptx_insn *insn, uint32_t tid, const ptx_address *a, const char *space, uint32_t bytes)
{
    uint64_t base = a->base == PTX_BASE_REG ? m->threads[tid].registers[a->reg] : a->base == PTX_BASE_VARIABLE ? a->variable->offset : 0;
    uint64_t at = base + (uint64_t)a->offset, limit;
    uint8_t *memory;
    if (space && !strcmp(space, "param")) { memory = (uint8_t *)m->params; limit = sizeof m->params; }
    else if (space && !strcmp(space, "shared")) { memory = m->shared; limit = sizeof m->shared; }
    else if (space && !strcmp(space, "local")) { memory = m->threads[tid].own; limit = STACK; }
    else { memory = (uint8_t *)m->data; limit = sizeof *m->data; at -= (uint64_t)(uintptr_t)m->data; }
    if (at > limit || limit - at < bytes)
        fail(m, insn, "an access outside of the %s memory", space ? space : "generic");
    return memory + at;
}

static const ptx_operand *address_of(machine *m, const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == ISA_OPERAND_ADDRESS)
            return &insn->operands[i];
    fail(m, insn, "no address");
}

static void load_store(machine *m, const ptx_insn *insn, uint32_t tid, bool store)
{
    const ptx_value *v = &insn->operands[store ? 1 : 0].values[0];
    const uint32_t bytes = ptx_type_bytes(v->type);
    void *p = host(m, insn, tid, &address_of(m, insn)->address, isa_choice(insn->form, &insn->tuple, "space"), bytes);
    uint64_t x = 0;
    if (store) {
        x = value(m, insn, tid, v);
        memcpy(p, &x, bytes);
    } else {
        memcpy(&x, p, bytes);
        set(m, tid, v, x);
    }
}

static void reduce(machine *m, const ptx_insn *insn, uint32_t tid)
{
    const char *op = isa_choice(insn->form, &insn->tuple, "op"), *type = isa_choice(insn->form, &insn->tuple, "type");
    uint32_t *p = host(m, insn, tid, &address_of(m, insn)->address, "global", 4);
    const uint32_t a = *p, b = (uint32_t)value(m, insn, tid, &insn->operands[1].values[0]);
    const bool less = type[0] == 's' ? (int32_t)a < (int32_t)b : a < b;
    if (!strcmp(op, "add")) *p = a + b;
    else if (!strcmp(op, "and")) *p = a & b;
    else if (!strcmp(op, "or")) *p = a | b;
    else if (!strcmp(op, "xor")) *p = a ^ b;
    else if (!strcmp(op, "min")) *p = less ? a : b;
    else if (!strcmp(op, "max")) *p = less ? b : a;
    else fail(m, insn, "a reduction .%s", op);
}

/* ------------------------------------------------------------ instructions */

/* The case that stands for an instruction; its immediates are read from the instruction itself. Made when it is first met. */
static const prepared *prepare(machine *m, const ptx_insn *insn)
{
    prepared *p = &m->prepared[insn - m->f->insns];
    if (p->c.form)
        return p;
    p->c.tuple = insn->tuple;
    snprintf(p->c.meaning, sizeof p->c.meaning, "%s", isa_meaning_names[insn->meaning]);
    p->c.nelems = isa_signature(insn->form, &insn->tuple, p->c.elems);
    p->n = ptx_flatten(insn, p->values);
    p->c.form = insn->form;
    return p;
}

static void arithmetic(machine *m, const ptx_insn *insn, uint32_t tid)
{
    const prepared *p = prepare(m, insn);
    uint64_t x[ISA_MAX_ELEMS] = {0};
    for (uint32_t e = 0; e < p->n; e++)
        if (p->c.elems[e].role == ISA_ROLE_SRC || p->c.elems[e].role == ISA_ROLE_IMM)
            x[e] = value(m, insn, tid, &p->values[e]);
    conform_expect_lane(&p->c, x);
    for (uint32_t e = 0; e < p->n; e++)
        if (p->c.elems[e].role == ISA_ROLE_DST)
            set(m, tid, &p->values[e], x[e]);
}

/* All lanes of a warp stand at the instruction. */
static void collective(machine *m, const ptx_insn *insn, uint32_t warp)
{
    const prepared *p = prepare(m, insn);
    uint64_t x[ISA_MAX_ELEMS][CONFORM_LANES] = {{0}};
    uint32_t undefined;
    for (uint32_t e = 0; e < p->n; e++)
        for (uint32_t lane = 0; lane < WARP && p->c.elems[e].role != ISA_ROLE_DST; lane++)
            if (p->c.elems[e].role == ISA_ROLE_SRC || p->c.elems[e].role == ISA_ROLE_IMM)
                x[e][lane] = value(m, insn, warp * WARP + lane, &p->values[e]);
    conform_expect_warp(&p->c, x, ~0u, PXB_MMA_ADA, &undefined);
    for (uint32_t e = 0; e < p->n; e++)
        for (uint32_t lane = 0; lane < WARP && p->c.elems[e].role == ISA_ROLE_DST; lane++)
            set(m, warp * WARP + lane, &p->values[e], x[e][lane]);
}

static bool is_collective(const ptx_insn *insn)
{
    return insn->meaning && !strcmp(insn->form->family, "warp");
}

static bool is_barrier(const ptx_insn *insn)
{
    return insn->operation && !strcmp(insn->operation, "bar");
}

static bool guard_holds(const machine *m, const ptx_insn *insn, uint32_t tid)
{
    return !insn->guarded || (m->threads[tid].registers[insn->guard] & 1) != insn->guard_negated;
}

/* Runs a thread to where it must wait, or to its end. */
static void run_thread(machine *m, uint32_t tid)
{
    thread *t = &m->threads[tid];
    while (!t->ended) {
        if (t->at >= m->f->ninsns) {
            t->ended = true;
            return;
        }
        const ptx_insn *insn = &m->f->insns[t->at];
        if (is_collective(insn) || is_barrier(insn))
            return;
        t->at++;
        if (m->steps++ > STEPS)
            fail(m, insn, "too many steps");
        if (!guard_holds(m, insn, tid))
            continue;
        const char *op = insn->operation;
        if (insn->meaning) arithmetic(m, insn, tid);
        else if (op && !strcmp(op, "bra")) t->at = insn->operands[0].label;
        else if (op && (!strcmp(op, "ret") || !strcmp(op, "exit"))) t->ended = true;
        else if (op && !strcmp(op, "ld")) load_store(m, insn, tid, false);
        else if (op && !strcmp(op, "st")) load_store(m, insn, tid, true);
        else if (op && !strcmp(op, "red")) reduce(m, insn, tid);
        else fail(m, insn, "an instruction that torture programs do not have: %s", insn->form->pattern);
    }
}

/* Executes collectives of warps that have arrived there, else the barrier that all threads have. False: all ended. */
static bool advance(machine *m)
{
    bool any = false, moved = false;
    for (uint32_t w = 0; w < TORTURE_BLOCK / WARP; w++) {
        const thread *first = &m->threads[w * WARP];
        if (first->ended || !is_collective(&m->f->insns[first->at]))
            continue;
        const ptx_insn *insn = &m->f->insns[first->at];
        for (uint32_t lane = 1; lane < WARP; lane++)
            if (m->threads[w * WARP + lane].ended || m->threads[w * WARP + lane].at != first->at)
                fail(m, insn, "a collective that not all lanes reach");
        collective(m, insn, w);
        for (uint32_t lane = 0; lane < WARP; lane++)
            m->threads[w * WARP + lane].at++;
        moved = true;
    }
    if (moved)
        return true;
    for (uint32_t i = 0; i < TORTURE_BLOCK; i++)
        any = any || !m->threads[i].ended;
    for (uint32_t i = 0; i < TORTURE_BLOCK; i++)
        m->threads[i].at += !m->threads[i].ended;
    return any;
}

static void run_block(machine *m)
{
    memset(m->shared, 0, sizeof m->shared);
    for (uint32_t i = 0; i < TORTURE_BLOCK; i++) {
        memset(m->threads[i].registers, 0, m->f->nregisters * sizeof(uint64_t));
        memset(m->threads[i].own, 0, STACK);
        m->threads[i].at = 0;
        m->threads[i].ended = false;
    }
    do {
        for (uint32_t i = 0; i < TORTURE_BLOCK; i++)
            run_thread(m, i);
    } while (advance(m));
}

bool torture_interpret(const ptx_module *module, const conform_list *list, torture_data *data, char *why, size_t size)
{
    machine *m = calloc(1, sizeof *m);
    const ptx_function *f = ptx_find_function(module, "torture");
    uint64_t *registers = f ? calloc((size_t)TORTURE_BLOCK * (f->nregisters + 1), sizeof *registers) : NULL;
    prepared *all = f ? calloc(f->ninsns + 1, sizeof *all) : NULL;
    bool good = m && registers && all && !f->broken;
    snprintf(why, size, "%s", !f ? "no entry torture" : f->broken ? f->why->message : "out of memory");
    if (good) {
        m->module = module;
        m->f = f;
        m->prepared = all;
        m->list = list;
        m->data = data;
        m->why = why;
        m->size = size;
        m->params[0] = (uint64_t)(uintptr_t)data->sources;
        m->params[1] = (uint64_t)(uintptr_t)data->results;
        m->params[2] = (uint64_t)(uintptr_t)data->cells;
        for (uint32_t i = 0; i < TORTURE_BLOCK; i++)
            m->threads[i].registers = registers + (size_t)i * f->nregisters;
        good = setjmp(m->fail) == 0;
        for (m->block = 0; good && m->block < TORTURE_BLOCKS; m->block++)
            run_block(m);
    }
    free(all);
    free(registers);
    free(m);
    return good;
}
