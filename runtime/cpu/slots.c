/* slots.c - gives slots to values and builds the code.
 *
 * Linear scan over the intervals of liveness.c, lowest free slot first, so that the slots in use stay
 * few and warm. A slot is reused only for values of the same class: while lanes of a warp stand in different places,
 * each lane owns its element of every slot, which holds only as long as elements do not straddle
 * (README, "Slots"). A destination may take the slot of a source that ends there.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/draft.h"

typedef struct scan {
    cpu_decoder *d;
    uint32_t *starting, *ending;   /* values in order of first and of last */
    uint32_t count;
    uint64_t *taken[CPU_CLASSES];  /* bit sets of slots in use */
    uint32_t words[CPU_CLASSES], most[CPU_CLASSES], hint[CPU_CLASSES];
} scan;

/* Counting sort of the used register values by first or last. */
static bool order(scan *s, bool by_last, uint32_t **out)
{
    cpu_decoder *d = s->d;
    uint32_t positions = 2 * d->ndrafts + 2, n = 0;
    uint32_t *heads = calloc(positions + 1, sizeof *heads);
    *out = malloc((d->nvalues + 1) * sizeof **out);
    if (!heads || !*out) {
        free(heads);
        return false;
    }
    for (uint32_t v = 0; v < d->nvalues; v++) {
        const cpu_value *x = &d->values[v];
        if (x->kind == CPU_V_REGISTER && x->first <= x->last) {
            heads[(by_last ? x->last : x->first) + 1]++;
            n++;
        }
    }
    for (uint32_t p = 0; p < positions; p++)
        heads[p + 1] += heads[p];
    for (uint32_t v = 0; v < d->nvalues; v++) {
        const cpu_value *x = &d->values[v];
        if (x->kind == CPU_V_REGISTER && x->first <= x->last)
            (*out)[heads[by_last ? x->last : x->first]++] = v;
    }
    s->count = n;
    free(heads);
    return true;
}

static bool take_slot(scan *s, cpu_value *v)
{
    uint32_t c = v->class, k = s->hint[c];
    while (k < s->words[c] && s->taken[c][k] == UINT64_MAX)
        k++;
    if (k == s->words[c]) {
        uint32_t wanted = s->words[c] ? s->words[c] * 2 : 8;
        uint64_t *grown = realloc(s->taken[c], wanted * sizeof *grown);
        if (!grown)
            return false;
        memset(grown + s->words[c], 0, (wanted - s->words[c]) * sizeof *grown);
        s->taken[c] = grown;
        s->words[c] = wanted;
    }
    uint32_t bit = (uint32_t)__builtin_ctzll(~s->taken[c][k]);
    s->taken[c][k] |= 1ull << bit;
    s->hint[c] = k;
    v->slot = k * 64 + bit;
    if (v->slot + 1 > s->most[c])
        s->most[c] = v->slot + 1;
    return true;
}

static void free_slot(scan *s, const cpu_value *v)
{
    uint32_t k = v->slot / 64;
    s->taken[v->class][k] &= ~(1ull << v->slot % 64);
    if (k < s->hint[v->class])
        s->hint[v->class] = k;
}

static bool assign(scan *s)
{
    cpu_value *values = s->d->values;
    if (!order(s, false, &s->starting) || !order(s, true, &s->ending))
        return false;
    for (uint32_t k = 0, ended = 0; k < s->count; k++) {
        cpu_value *v = &values[s->starting[k]];
        while (ended < s->count && values[s->ending[ended]].last < v->first)
            free_slot(s, &values[s->ending[ended++]]);
        if (!take_slot(s, v))
            return false;
    }
    return true;
}

/* Bytes of scratch that an instruction's destinations take. */
static uint32_t scratch_bytes(const cpu_decoder *d, const cpu_draft *x)
{
    uint32_t bytes = 0;
    for (uint32_t n = 0; n < x->n; n++) {
        const cpu_operand *o = &d->operands[x->operands + n];
        if (o->role == CPU_R_DEF || o->role == CPU_R_SINK)
            bytes += cpu_slot_bytes((cpu_class)o->class) < 64 ? 64 : cpu_slot_bytes((cpu_class)o->class);
    }
    return bytes;
}

/* Offsets in the file: scratch, predicates, constants and special registers, then slots by class. */
static bool lay_out(scan *s)
{
    cpu_decoder *d = s->d;
    cpu_code *code = d->code;
    uint32_t scratch = 0, at, base[CPU_CLASSES];
    for (uint32_t k = 0; k < d->ndrafts; k++) {
        uint32_t n = scratch_bytes(d, &d->drafts[k]);
        scratch = n > scratch ? n : scratch;
    }
    at = base[CPU_CLASS_PRED] = CPU_SCRATCH_SLOT + scratch;
    at += 4 * s->most[CPU_CLASS_PRED];
    uint32_t start = at;
    /* Smaller alignments first: predicates of constants follow the others. */
    for (uint32_t v = 0; v < d->nvalues; v++) {
        cpu_value *x = &d->values[v];
        if (x->kind == CPU_V_REGISTER || x->first > x->last || x->class != CPU_CLASS_PRED)
            continue;
        x->slot = at;
        at += 4;
    }
    at = (at + 63) & ~63u;
    for (uint32_t v = 0; v < d->nvalues; v++) {
        cpu_value *x = &d->values[v];
        if (x->kind == CPU_V_REGISTER || x->first > x->last)
            continue;
        if (x->class != CPU_CLASS_PRED) {
            x->slot = at;
            at += (cpu_slot_bytes((cpu_class)x->class) + 63) & ~63u;
        }
        code->nconstants += x->kind == CPU_V_CONSTANT;
        code->nspecials += x->kind == CPU_V_SPECIAL;
    }
    code->constant_bytes = at - start;
    for (uint32_t c = 0; c < CPU_CLASS_PRED; c++) {
        base[c] = at;
        at += s->most[c] * (cpu_slot_bytes((cpu_class)c) < 64 ? 64 : cpu_slot_bytes((cpu_class)c));
    }
    code->file_bytes = at;
    for (uint32_t v = 0; v < d->nvalues; v++) {
        cpu_value *x = &d->values[v];
        uint32_t step = x->class == CPU_CLASS_8 ? 64 : cpu_slot_bytes((cpu_class)x->class);
        if (x->kind == CPU_V_REGISTER && x->first <= x->last)
            x->slot = base[x->class] + x->slot * step;
        code->nzeros += x->unwritten;
    }
    return at < 1u << 30;
}

static bool is_per_block(uint32_t sr)
{
    return (sr >= PTX_SR_CTAID_X && sr <= PTX_SR_CTAID_Z) || (sr >= PTX_SR_CLUSTERID_X && sr <= PTX_SR_CLUSTERID_Z);
}

static bool list_fills(cpu_decoder *d)
{
    cpu_code *code = d->code;
    code->constants = cpu_decode_alloc(d, code->nconstants * sizeof *code->constants);
    code->specials = cpu_decode_alloc(d, code->nspecials * sizeof *code->specials);
    code->zeros = cpu_decode_alloc(d, code->nzeros * sizeof *code->zeros);
    if (d->failed)
        return false;
    uint32_t nc = 0, ns = 0, nz = 0;
    for (uint32_t v = 0; v < d->nvalues; v++) {
        const cpu_value *x = &d->values[v];
        if (x->first > x->last)
            continue;
        if (x->unwritten)
            code->zeros[nz++] = (cpu_fill_zero){x->slot, cpu_slot_bytes((cpu_class)x->class)};
        else if (x->kind == CPU_V_CONSTANT)
            code->constants[nc++] = (cpu_fill_constant){x->constant, x->slot, x->class};
        else if (x->kind == CPU_V_SPECIAL)
            code->specials[ns++] = (cpu_fill_special){x->slot, (uint16_t)x->constant, x->class, is_per_block((uint32_t)x->constant)};
    }
    return true;
}

/* ------------------------------------------------------------ code */

/* The PTX register that a value is, as cpu_code.dst_registers has it. Registers are the first values, in their order. */
static uint32_t register_of(const cpu_decoder *d, uint32_t value)
{
    uint32_t low = 0, high = d->function->nregisters;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (d->registers[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return UINT32_MAX;
    bool wide = ptx_type_bits(d->function->registers[low - 1].type) == 128;
    uint32_t half = value - d->registers[low - 1];
    return half <= wide ? 2 * (low - 1) + half : UINT32_MAX;
}

static bool list_registers(cpu_decoder *d, uint32_t ndst)
{
    uint32_t *list = cpu_decode_alloc(d, ndst * sizeof *list), n = 0;
    for (uint32_t k = 0; k < d->ndrafts && list; k++)
        for (uint32_t i = 0; i < d->drafts[k].n; i++) {
            const cpu_operand *p = &d->operands[d->drafts[k].operands + i];
            if (p->role == CPU_R_DEF)
                list[n++] = register_of(d, p->value);
        }
    d->code->dst_registers = list;
    return list != NULL;
}

static void build_insn(cpu_decoder *d, const cpu_draft *x, cpu_insn *out, uint32_t *o, cpu_dst *dst)
{
    uint32_t scratch = CPU_SCRATCH_SLOT, ndst = 0;
    bool handler = x->kind <= CPU_K_TEXTURE;
    for (uint32_t n = 0; n < x->n; n++) {
        const cpu_operand *p = &d->operands[x->operands + n];
        uint32_t aside = 0, bytes = cpu_slot_bytes((cpu_class)p->class) < 64 ? 64 : cpu_slot_bytes((cpu_class)p->class);
        switch ((cpu_role)p->role) {
        case CPU_R_RAW: o[n] = aside = p->value; break;
        case CPU_R_USE: o[n] = aside = d->values[p->value].slot; break;
        case CPU_R_EXEC: o[n] = aside = CPU_EXEC_SLOT; break;
        case CPU_R_MODEL: o[n] = aside = 0; break;
        case CPU_R_SINK:
            o[n] = aside = scratch;
            scratch += bytes;
            break;
        case CPU_R_DEF:
            o[n] = d->values[p->value].slot;
            aside = scratch;
            scratch += bytes;
            dst[ndst++] = (cpu_dst){(uint8_t)n, p->class};
            break;
        }
        if (handler)
            o[x->n + n] = x->kind == CPU_K_COLLECTIVE && n == x->member ? (uint32_t)CPU_MEMBER_SLOT : aside;
        if (p->role == CPU_R_MODEL) {
            d->code->models[d->code->nmodels++] = &o[n];
            d->code->models[d->code->nmodels++] = &o[x->n + n];
        }
    }
    out->fn.op = x->fn.op;
    out->o = o;
    out->dst = dst;
    out->extra = x->extra;
    out->guard = x->guard == CPU_NO_VALUE ? 0 : d->values[x->guard].slot;
    out->guard_negated = x->guard_negated;
    out->target = x->target;
    out->ptx = x->ptx;
    out->kind = x->kind;
    out->n = x->n;
    out->ndst = (uint8_t)ndst;
    out->cost = x->cost;
    out->member = x->member;
}

static bool build(cpu_decoder *d)
{
    cpu_code *code = d->code;
    uint32_t nwords = 0, ndst = 0, nmodels = 0;
    for (uint32_t k = 0; k < d->noperands; k++) {
        ndst += d->operands[k].role == CPU_R_DEF;
        nmodels += d->operands[k].role == CPU_R_MODEL;
    }
    for (uint32_t k = 0; k < d->ndrafts; k++)
        nwords += d->drafts[k].n * (d->drafts[k].kind <= CPU_K_TEXTURE ? 2 : 1);
    code->ninsns = d->ndrafts;
    code->insns = cpu_decode_alloc(d, (d->ndrafts + 1) * sizeof *code->insns);
    uint32_t *words = cpu_decode_alloc(d, nwords * sizeof *words);
    cpu_dst *dst = cpu_decode_alloc(d, ndst * sizeof *dst);
    code->models = cpu_decode_alloc(d, 2 * nmodels * sizeof *code->models);
    code->dsts = dst;
    if (d->failed || (d->plain && !list_registers(d, ndst)))
        return false;
    for (uint32_t k = 0; k < d->ndrafts; k++) {
        const cpu_draft *x = &d->drafts[k];
        build_insn(d, x, &code->insns[k], words, dst);
        words += x->n * (x->kind <= CPU_K_TEXTURE ? 2 : 1);
        dst += code->insns[k].ndst;
    }
    code->insns[d->ndrafts] = (cpu_insn){.kind = CPU_K_END, .ptx = d->function->ninsns ? d->function->ninsns - 1 : 0};
    for (uint32_t k = d->ndrafts; k-- > 0;)
        code->insns[k].run = code->insns[k].kind == CPU_K_PLAIN ? code->insns[k + 1].run + 1 : 0;
    for (uint32_t k = 0; k < code->nparams + code->nreturns; k++) {
        cpu_passed *p = (cpu_passed *)(k < code->nparams ? &code->params[k] : &code->returns[k - code->nparams]);
        if (p->in_register)
            p->index = d->values[p->index].slot;
    }
    return true;
}

bool cpu_build(cpu_decoder *d)
{
    scan s = {.d = d};
    bool done = assign(&s);
    if (!done)
        cpu_decode_fail(d, CPU_NO_MEMORY, "out of memory while decoding");
    else if (!lay_out(&s)) {
        done = false;
        cpu_decode_fail(d, CPU_UNSUPPORTED, "the function keeps more than 1 GiB of registers alive");
    } else
        done = list_fills(d) && build(d);
    free(s.starting);
    free(s.ending);
    for (uint32_t c = 0; c < CPU_CLASSES; c++)
        free(s.taken[c]);
    d->code->local_bytes = (d->local_bytes + 15) & ~15ull;
    return done;
}
