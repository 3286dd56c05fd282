/* simplify.c - removes instructions that only move data: copies are read through, constants added to an
 * address go into the offset of the access, meanings of constants become constants (by running their
 * handler), and what nobody reads any more is dropped.
 *
 * A value may be read through at a later place only if its source still holds what it held. That is known
 * in two cases: inside a basic block, when the source was not written since; and anywhere, when the source
 * is a constant, a special register, or a register with one definition that stands before every loop of
 * the function (it runs once). Lanes need no thought: each lane's path is a scalar execution.
 * Launches that are traced run code without this pass, so that they show every instruction.
 */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/draft.h"

enum { NONE = UINT32_MAX, MOST_FOLDED = 6 };

/* What is known of a value: it is `source` + `add`, since draft `at`. */
typedef struct known {
    uint32_t at, source;
    uint32_t version;              /* last definition of source then */
    uint32_t definitions;          /* in the whole function */
    uint32_t last;                 /* draft of the last definition met so far */
    uint32_t first;                /* draft of the first definition */
    uint32_t uses;
    bool copy;
    int64_t add;
} known;

typedef struct pass {
    cpu_decoder *d;
    known *k;
    uint8_t *leader;
    uint32_t header;               /* lowest target of a backward branch */
    uint32_t block;                /* first draft of the block being read */
    cpu_handler moves[CPU_CLASSES], adds[4];
} pass;

static cpu_handler handler_named(const cpu_decoder *d, const char *name)
{
    uint32_t id = isa_meaning_id(name);
    return id ? d->module->device->ops->meanings[id] : NULL;
}

static void note_target(pass *p, uint32_t from, uint32_t ptx)
{
    uint32_t to = p->d->starts[ptx];
    p->leader[to] = 1;
    if (to <= from && to < p->header)
        p->header = to;
}

static void find_blocks(pass *p)
{
    const cpu_decoder *d = p->d;
    p->header = NONE;
    for (uint32_t k = 0; k < d->ndrafts; k++) {
        const cpu_draft *x = &d->drafts[k];
        if (x->kind == CPU_K_BRANCH)
            note_target(p, k, x->target);
        else if (x->kind == CPU_K_BRX) {
            const cpu_jump_table *t = x->extra;
            for (uint32_t n = 0; n < t->count; n++)
                note_target(p, k, t->targets[n]);
        }
        if (x->kind == CPU_K_BRANCH || x->kind == CPU_K_BRX || x->kind == CPU_K_RET || x->kind == CPU_K_EXIT)
            p->leader[k + 1] = 1;
    }
}

static void count_definitions(pass *p)
{
    const cpu_decoder *d = p->d;
    for (uint32_t v = 0; v < d->nvalues; v++)
        p->k[v] = (known){.at = NONE, .last = NONE, .first = NONE};
    for (uint32_t k = 0; k < d->ndrafts; k++) {
        const cpu_draft *x = &d->drafts[k];
        for (uint32_t n = 0; n < x->n; n++) {
            const cpu_operand *o = &d->operands[x->operands + n];
            if (o->role != CPU_R_DEF)
                continue;
            known *v = &p->k[o->value];
            v->definitions += x->guard == CPU_NO_VALUE ? 1 : 2;
            if (v->first == NONE)
                v->first = k;
        }
    }
    for (uint32_t k = 0; k < d->code->nparams + d->code->nreturns; k++) {
        const cpu_passed *q = k < d->code->nparams ? &d->code->params[k] : &d->code->returns[k - d->code->nparams];
        if (q->in_register) {
            p->k[q->index].definitions += 2;
            p->k[q->index].uses++;
        }
    }
}

/* Does `v`, known as something of its source, still stand for it at the current place? */
static bool still_holds(const pass *p, uint32_t v)
{
    const known *x = &p->k[v], *s = &p->k[x->source];
    if (x->at == NONE)
        return false;
    if (x->last == x->at && x->at >= p->block && s->last == x->version)
        return true;
    if (x->definitions != 1)
        return false;
    return p->d->values[x->source].kind != CPU_V_REGISTER || (s->definitions == 1 && s->first < p->header && s->first < x->at);
}

/* Element `lane` of a vector that a handler left; a predicate's bit. */
static uint64_t result_of(const char *slot, cpu_class class, uint32_t lane)
{
    uint32_t bits;
    if (class != CPU_CLASS_PRED)
        return cpu_get(slot, class, lane);
    memcpy(&bits, slot, 4);
    return bits >> lane & 1;
}

/* The constant that a meaning with one result gives when all its sources are constants; NONE if it is no such. */
static uint32_t evaluate(pass *p, const cpu_draft *x)
{
    cpu_decoder *d = p->d;
    const cpu_operand *o = &d->operands[x->operands];
    _Alignas(64) char file[MOST_FOLDED * 256];
    uint32_t offsets[MOST_FOLDED];
    if (x->n > MOST_FOLDED || x->n < 2 || o[0].role != CPU_R_DEF)
        return NONE;
    memset(file, 0, x->n * 256);
    for (uint32_t n = 0; n < x->n; n++) {
        bool constant = o[n].role == CPU_R_USE && d->values[o[n].value].kind == CPU_V_CONSTANT;
        if (n > 0 && !constant && o[n].role != CPU_R_RAW)
            return NONE;
        offsets[n] = o[n].role == CPU_R_RAW ? o[n].value : n * 256;
        if (constant && o[n].class == CPU_CLASS_PRED)
            memset(file + n * 256, d->values[o[n].value].constant ? 0xff : 0, 4);
        for (uint32_t lane = 0; constant && o[n].class != CPU_CLASS_PRED && lane < CPU_LANES; lane++)
            cpu_put(file + n * 256, (cpu_class)o[n].class, lane, d->values[o[n].value].constant);
    }
    x->fn.handler(file, offsets);
    uint64_t value = result_of(file, (cpu_class)o[0].class, 0);
    for (uint32_t lane = 1; lane < CPU_LANES; lane++)
        if (result_of(file, (cpu_class)o[0].class, lane) != value)
            return NONE;
    uint32_t before = d->nvalues, v = cpu_value_constant(d, (cpu_class)o[0].class, value);
    if (d->failed)
        return NONE;
    if (d->nvalues > before)
        p->k[v] = (known){.at = NONE, .last = NONE, .first = NONE};
    return v;
}

static bool learn_constant(pass *p, const cpu_draft *x, uint32_t at)
{
    uint32_t constant = x->kind == CPU_K_PLAIN ? evaluate(p, x) : NONE;
    if (constant == NONE)
        return false;
    known *v = &p->k[p->d->operands[x->operands].value];
    v->at = at;
    v->source = constant;
    v->version = p->k[constant].last;
    v->copy = true;
    v->add = 0;
    return true;
}

static void learn(pass *p, const cpu_draft *x, uint32_t at)
{
    cpu_operand *o = &p->d->operands[x->operands];
    const cpu_value *values = p->d->values;
    if (x->kind != CPU_K_PLAIN || x->n < 2 || o[0].role != CPU_R_DEF || o[1].role != CPU_R_USE)
        return;
    uint32_t source = o[1].value;
    int64_t add = 0;
    bool copy = x->n == 2 && o[0].class == o[1].class && x->fn.handler == p->moves[o[0].class] && x->fn.handler;
    bool sum = x->n == 3 && x->fn.handler && o[2].role == CPU_R_USE;
    if (!copy && !sum)
        return;
    if (sum) {
        bool narrow = x->fn.handler == p->adds[0] || x->fn.handler == p->adds[1];
        if (!narrow && x->fn.handler != p->adds[2] && x->fn.handler != p->adds[3])
            return;
        uint32_t constant = o[2].value;
        if (values[constant].kind != CPU_V_CONSTANT) {
            constant = o[1].value;
            source = o[2].value;
        }
        if (values[constant].kind != CPU_V_CONSTANT)
            return;
        add = narrow ? (int64_t)(int32_t)values[constant].constant : (int64_t)values[constant].constant;
    }
    if (source == o[0].value)
        return;
    known *v = &p->k[o[0].value];
    v->at = at;
    v->source = source;
    v->version = p->k[source].last;
    v->copy = copy;
    v->add = add;
}

/* Address operand `n` of a memory operation: its offset takes constants that were added. */
static void fold_address(pass *p, cpu_operand *o, cpu_place *place)
{
    for (uint32_t step = 0; step < 16 && o->role == CPU_R_USE && still_holds(p, o->value); step++) {
        const known *v = &p->k[o->value];
        int64_t offset;
        if (v->copy) {
            o->value = v->source;
            continue;
        }
        if (__builtin_add_overflow(place->offset, v->add, &offset) || (place->base == CPU_BASE_32 && offset != (int32_t)offset))
            return;
        place->offset = offset;
        o->value = v->source;
    }
}

static bool has_place(const cpu_draft *x)
{
    return x->fn.op == cpu_op_load || x->fn.op == cpu_op_store || x->fn.op == cpu_op_atomic || x->fn.op == cpu_op_load_matrix ||
           x->fn.op == cpu_op_store_matrix || x->fn.op == cpu_op_mbarrier || x->fn.op == cpu_op_fragment;
}

static void read_through(pass *p, cpu_draft *x)
{
    cpu_operand *o = &p->d->operands[x->operands];
    if (x->kind == CPU_K_OP || x->kind == CPU_K_ALIGNED_OP) {
        /* The place is the first member of all these; `extra` was made for this draft alone. */
        if (has_place(x))
            fold_address(p, &o[0], (cpu_place *)x->extra);
        else if (x->fn.op == cpu_op_async_copy) {
            cpu_async_copy *copy = (cpu_async_copy *)x->extra;
            fold_address(p, &o[0], &copy->to);
            fold_address(p, &o[1], &copy->from);
        }
    }
    for (uint32_t n = 0; n < x->n; n++)
        while (o[n].role == CPU_R_USE && still_holds(p, o[n].value) && p->k[o[n].value].copy)
            o[n].value = p->k[o[n].value].source;
}

static void forward(pass *p)
{
    cpu_decoder *d = p->d;
    for (uint32_t k = 0; k < d->ndrafts; k++) {
        cpu_draft *x = &d->drafts[k];
        if (p->leader[k])
            p->block = k;
        read_through(p, x);
        for (uint32_t n = 0; n < x->n; n++)
            if (d->operands[x->operands + n].role == CPU_R_DEF) {
                known *v = &p->k[d->operands[x->operands + n].value];
                v->last = k;
                v->at = NONE;
            }
        if (x->guard == CPU_NO_VALUE && !learn_constant(p, x, k))
            learn(p, x, k);
    }
}

/* ------------------------------------------------------------ dropping */

static void count_uses(pass *p, const cpu_draft *x, int32_t change)
{
    const cpu_operand *o = &p->d->operands[x->operands];
    for (uint32_t n = 0; n < x->n; n++)
        if (o[n].role == CPU_R_USE)
            p->k[o[n].value].uses += (uint32_t)change;
    if (x->guard != CPU_NO_VALUE)
        p->k[x->guard].uses += (uint32_t)change;
}

static bool is_dead(const pass *p, const cpu_draft *x)
{
    const cpu_operand *o = &p->d->operands[x->operands];
    if (x->kind != CPU_K_PLAIN && x->kind != CPU_K_GUARDED)
        return false;
    for (uint32_t n = 0; n < x->n; n++)
        if (o[n].role == CPU_R_DEF && p->k[o[n].value].uses)
            return false;
    return true;
}

static void drop_dead(pass *p)
{
    cpu_decoder *d = p->d;
    uint32_t kept = 0, next = 0;
    uint8_t *dead = p->leader;     /* no longer needed */
    for (uint32_t k = 0; k < d->ndrafts; k++)
        count_uses(p, &d->drafts[k], 1);
    for (uint32_t k = d->ndrafts; k-- > 0;) {
        dead[k] = is_dead(p, &d->drafts[k]);
        if (dead[k])
            count_uses(p, &d->drafts[k], -1);
    }
    for (uint32_t k = 0; k <= d->ndrafts; k++) {
        /* A PTX instruction whose drafts went away begins where the next one does. */
        while (next <= d->function->ninsns && d->starts[next] == k)
            d->starts[next++] = kept;
        if (k < d->ndrafts && !dead[k])
            d->drafts[kept++] = d->drafts[k];
    }
    d->ndrafts = kept;
}

bool cpu_simplify(cpu_decoder *d)
{
    pass p = {.d = d};
    /* Every instruction may make one constant more. */
    p.k = malloc(((size_t)d->nvalues + d->ndrafts + 1) * sizeof *p.k);
    p.leader = calloc(d->ndrafts + 2, 1);
    if (p.k && p.leader) {
        p.moves[CPU_CLASS_16] = handler_named(d, "mov_b16");
        p.moves[CPU_CLASS_32] = handler_named(d, "mov_b32");
        p.moves[CPU_CLASS_64] = handler_named(d, "mov_b64");
        p.adds[0] = handler_named(d, "add_s32");
        p.adds[1] = handler_named(d, "add_u32");
        p.adds[2] = handler_named(d, "add_s64");
        p.adds[3] = handler_named(d, "add_u64");
        find_blocks(&p);
        count_definitions(&p);
        fenv_t environment;              /* constants are computed with a kernel's rounding, not with the host program's */
        fegetenv(&environment);
        fesetenv(FE_DFL_ENV);
        forward(&p);
        fesetenv(&environment);
        drop_dead(&p);
    }
    bool done = p.k && p.leader;
    free(p.k);
    free(p.leader);
    if (!done)
        cpu_decode_fail(d, CPU_NO_MEMORY, "out of memory while decoding");
    return done;
}
