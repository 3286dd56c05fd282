/* trace_walk.c - see trace_walk.h. */
#include "runtime/trace_walk.h"

#include <stdlib.h>
#include <string.h>

typedef enum flag { CLEAN, LINEAR, OPAQUE } flag;

/* ------------------------------------------------------------ flags and distances */

static flag get_flag(const walker *w, const walk_thread *t, const ptx_function *f, uint32_t reg)
{
    if (!t->flags)
        return CLEAN;
    uint32_t i = w->register_bases[f->index] + reg;
    return (flag)(t->flags[i / 4] >> 2 * (i % 4) & 3);
}

static void set_flag(walker *w, walk_thread *t, const ptx_function *f, uint32_t reg, flag value)
{
    if (!t->flags && value == CLEAN)
        return;
    if (!t->flags)
        t->flags = calloc(w->nregisters / 4 + 1, 1);
    if (!t->flags) {
        w->no_memory = true;
        return;
    }
    uint32_t i = w->register_bases[f->index] + reg;
    t->flags[i / 4] = (uint8_t)((t->flags[i / 4] & ~(3 << 2 * (i % 4))) | value << 2 * (i % 4));
}

void walk_add_distance(walker *w, uint64_t side0, uint64_t side1)
{
    uint64_t distance = side0 - side1;
    for (uint32_t i = 0; i < w->ndistances; i++)
        if (w->distances[i] == distance)
            return;
    uint64_t *more = realloc(w->distances, (w->ndistances + 1) * sizeof *more);
    if (!more) {
        w->no_memory = true;
        return;
    }
    w->distances = more;
    more[w->ndistances++] = distance;
}

static void learn(walk_thread *t, uint64_t distance)
{
    for (uint32_t i = 0; i < t->ndistances && i < WALK_DISTANCES; i++)
        if (t->distances[i] == distance)
            return;
    t->distances[t->ndistances++ % WALK_DISTANCES] = distance;
}

/* Is this the distance of an allocation, or its negative (a difference with the address subtracted)? */
static bool is_distance(const walker *w, const walk_thread *t, uint64_t distance, uint64_t mask)
{
    if ((distance & mask) == 0)
        return true;
    for (uint32_t i = 0; i < w->ndistances; i++)
        if (((distance - w->distances[i]) & mask) == 0 || ((distance + w->distances[i]) & mask) == 0)
            return true;
    for (uint32_t i = 0; i < t->ndistances && i < WALK_DISTANCES; i++)
        if (((distance - t->distances[i]) & mask) == 0 || ((distance + t->distances[i]) & mask) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------ instructions */

static bool is_operation(const ptx_insn *insn, const char *name)
{
    return insn->operation && strcmp(insn->operation, name) == 0;
}

/* Does it read memory? Then its address does not excuse what it gives. */
static bool reads_memory(const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == ISA_OPERAND_ADDRESS || insn->operands[i].kind == ISA_OPERAND_TEXTURE)
            return true;
    return false;
}

static bool varies(ptx_special s)
{
    switch (s) {
    case PTX_SR_CLOCK:
    case PTX_SR_CLOCK_HI:
    case PTX_SR_CLOCK64:
    case PTX_SR_GLOBALTIMER:
    case PTX_SR_GLOBALTIMER_LO:
    case PTX_SR_GLOBALTIMER_HI:
    case PTX_SR_SMID:
    case PTX_SR_NSMID:
    case PTX_SR_GRIDID:
    case PTX_SR_PM:
    case PTX_SR_ENVREG1:                     /* where the workspace of a cooperative grid lies */
    case PTX_SR_ENVREG2:
    case PTX_SR_TOTAL_SMEM_SIZE:
    case PTX_SR_AGGR_SMEM_SIZE: return true;
    default: return s >= PTX_SR_RESERVED_SMEM_OFFSET_BEGIN && s <= PTX_SR_RESERVED_SMEM_OFFSET_1;
    }
}

static bool has_value(const ptx_insn *insn, ptx_value_kind kind)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        for (uint32_t v = 0; v < insn->operands[i].nvalues; v++)
            if (insn->operands[i].values[v].kind == kind)
                return true;
    return false;
}

static bool reads_clock(const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        for (uint32_t v = 0; v < insn->operands[i].nvalues; v++)
            if (insn->operands[i].values[v].kind == PTX_VALUE_SPECIAL && varies(insn->operands[i].values[v].special))
                return true;
    return false;
}

/* The call before `insn` that gives its result in the .param variable which `insn` loads. */
static bool loads_result_of_malloc(const ptx_function *f, const ptx_insn *insn)
{
    const ptx_variable *from = NULL;
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == ISA_OPERAND_ADDRESS)
            from = insn->operands[i].address.variable;
    if (!from || from->space != PTX_SPACE_PARAM)
        return false;
    for (const ptx_insn *p = insn; p-- != f->insns;)
        for (uint32_t i = 0; i < p->nreturns; i++)
            if (p->returns[i].kind == PTX_VALUE_VARIABLE && p->returns[i].variable == from)
                for (uint32_t k = 0; k < p->noperands; k++)
                    if (p->operands[k].kind == ISA_OPERAND_FUNCTION)
                        return p->operands[k].callee && strcmp(p->operands[k].callee->name, "malloc") == 0;
    return false;
}

/* Parameters of an entry come from the host, which gave both sides the same, save where things lie. */
static bool loads_entry_parameter(const ptx_function *f, const ptx_insn *insn)
{
    if (!f->is_entry || !(is_operation(insn, "ld") || is_operation(insn, "ldu")))
        return false;
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ptx_variable *v = insn->operands[i].kind == ISA_OPERAND_ADDRESS ? insn->operands[i].address.variable : NULL;
        for (uint32_t k = 0; v && k < f->prototype.nparams; k++)
            if (f->prototype.params[k] == v)
                return true;
    }
    return false;
}

static bool gives_address(const ptx_function *f, const ptx_insn *insn)
{
    static const char *const operations[] = {"cvta", "alloca", "stacksave", "mapa"};
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (is_operation(insn, operations[i]))
            return true;
    if (reads_memory(insn))
        return loads_entry_parameter(f, insn) || loads_result_of_malloc(f, insn);
    return has_value(insn, PTX_VALUE_VARIABLE) || has_value(insn, PTX_VALUE_FUNCTION);
}

/* How many of the values that an instruction computes with are excused, and how the worst of them is. */
static uint32_t excused_sources(const walker *w, const walk_thread *t, const ptx_function *f, const ptx_insn *insn,
                                flag *worst, bool *only_last)
{
    uint32_t n = 0;
    *worst = CLEAN;
    *only_last = false;
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        bool source = o->kind == ISA_OPERAND_SRC || o->kind == ISA_OPERAND_BOTH || o->kind == ISA_OPERAND_SRC_PRED ||
                      o->kind == ISA_OPERAND_SRC_VECTOR || o->kind == ISA_OPERAND_SRC_SELECTED ||
                      o->kind == ISA_OPERAND_CARRY_IN;
        for (uint32_t v = 0; source && v < o->nvalues; v++) {
            flag k = o->values[v].kind == PTX_VALUE_REG ? get_flag(w, t, f, o->values[v].reg) : CLEAN;
            n += k != CLEAN;
            *worst = k > *worst ? k : *worst;
            *only_last = k != CLEAN; /* of the sources so far, so in the end of the last one */
        }
    }
    *only_last = *only_last && n == 1;
    return n;
}

/* Does it move an address by what it adds? */
static bool keeps_distance(const ptx_insn *insn, uint32_t excused, bool only_last)
{
    const char *m = insn->form->mnemonic;
    if (excused != 1)
        return false;
    if (strcmp(m, "mad") == 0)
        return only_last && !isa_choice(insn->form, &insn->tuple, "hi");
    return strcmp(m, "add") == 0 || strcmp(m, "sub") == 0 || strcmp(m, "mov") == 0;
}

/* ------------------------------------------------------------ one record */

typedef struct values {
    uint32_t reg, nwords, bits;
    uint64_t a, b;                 /* low 64 bits */
    bool equal;
} values;

static uint64_t word64(const uint32_t *words, uint32_t n)
{
    return n > 1 ? words[0] | (uint64_t)words[1] << 32 : words[0];
}

static uint32_t take_values(const ptx_function *f, const ptx_insn *insn, const uint32_t *a, const uint32_t *b,
                            values out[ISA_MAX_ELEMS])
{
    uint32_t registers[ISA_MAX_ELEMS], n = ptx_written(insn, registers);
    for (uint32_t i = 0; i < n; i++) {
        values *v = &out[i];
        v->reg = registers[i];
        v->nwords = ptx_trace_words(f, registers[i]);
        v->bits = ptx_type_bits(f->registers[registers[i]].type);
        v->a = word64(a, v->nwords);
        v->b = word64(b, v->nwords);
        v->equal = memcmp(a, b, v->nwords * sizeof *a) == 0;
        a += v->nwords;
        b += v->nwords;
    }
    return n;
}

static uint64_t mask_of(const values *v)
{
    return v->bits >= 64 ? UINT64_MAX : ((uint64_t)1 << v->bits) - 1;
}

/* An address that was loaded as two halves. */
static bool is_half_of_address(const walker *w, const walk_thread *t, const values *v, uint32_t n, uint32_t i)
{
    for (uint32_t low = i ? i - 1 : 0; low <= i && low + 1 < n; low++) {
        uint64_t a = v[low].a | v[low + 1].a << 32, b = v[low].b | v[low + 1].b << 32;
        if (v[low].bits == 32 && v[low + 1].bits == 32 && is_distance(w, t, a - b, UINT64_MAX))
            return true;
    }
    return false;
}

/* What a differing result is excused by; CLEAN: by nothing. */
static flag excuse(walker *w, walk_thread *t, const ptx_function *f, const ptx_insn *insn, const values *v, uint32_t n,
                   uint32_t i)
{
    uint64_t distance = v[i].a - v[i].b, mask = mask_of(&v[i]);
    if (v[i].bits >= 32 && v[i].bits <= 64 && gives_address(f, insn)) {
        learn(t, v[i].bits == 32 ? (uint64_t)(int64_t)(int32_t)distance : distance);
        return LINEAR;
    }
    if (reads_clock(insn))
        return OPAQUE;
    if (reads_memory(insn)) {
        if (v[i].bits >= 32 && is_distance(w, t, distance, mask))
            return LINEAR;
        return is_half_of_address(w, t, v, n, i) ? OPAQUE : CLEAN;
    }
    flag worst;
    bool only_last;
    uint32_t excused = excused_sources(w, t, f, insn, &worst, &only_last);
    if (excused == 0)
        return CLEAN;
    bool near = v[i].bits >= 32 && is_distance(w, t, distance, mask);
    if (near)
        return worst;
    return worst == LINEAR && keeps_distance(insn, excused, only_last) && n == 1 ? CLEAN : OPAQUE;
}

/* Does its result depend on when other threads come to the same address or, for activemask, to the same instruction? An mbarrier is
 * asked until others have arrived, and each arrival gives what stood there. */
bool walk_races(const ptx_insn *insn)
{
    const char *sem = isa_choice(insn->form, &insn->tuple, "sem");
    if (is_operation(insn, "atom") || is_operation(insn, "mbarrier") || strcmp(insn->form->mnemonic, "activemask") == 0)
        return true;
    return is_operation(insn, "ld") && sem && strcmp(sem, "weak") != 0;
}

/* Does the result come from other threads as well, and has one of them a value that depends on the order of threads? */
static bool spreads_race(const walk_thread *t, const ptx_insn *insn)
{
    const char *family = insn->form->family;
    if (strcmp(family, "warp") == 0 || strcmp(family, "mma") == 0)
        return t->warp_raced;
    return is_operation(insn, "bar") && t->block_raced;
}

bool walk_thread_races(const walker *w, const walk_stream s[2])
{
    const ptx_function *f;
    for (uint32_t at = 0; at < s[0].used && at < s[1].used && s[0].words[at] == s[1].words[at];) {
        uint32_t head = s[0].words[at], n = head >> PTX_TRACE_NUMBER_BITS;
        const ptx_insn *insn = NULL;
        if (memcmp(s[0].words + at + 1, s[1].words + at + 1, n * sizeof(uint32_t)) != 0)
            insn = ptx_insn_numbered(w->module, head & ((1u << PTX_TRACE_NUMBER_BITS) - 1), &f);
        if (insn && walk_races(insn))
            return true;
        at += n + 1;
    }
    return false;
}

/* False: the record has a difference that nothing excuses. */
static bool take_record(walker *w, walk_thread *t, uint64_t record, uint32_t number, const uint32_t *a, const uint32_t *b)
{
    const ptx_function *f;
    const ptx_insn *insn = ptx_insn_numbered(w->module, number, &f);
    values v[ISA_MAX_ELEMS];
    flag flags[ISA_MAX_ELEMS];
    if (!insn)
        return false;
    uint32_t n = take_values(f, insn, a, b, v);
    for (uint32_t i = 0; i < n; i++) {
        flags[i] = v[i].equal ? CLEAN : excuse(w, t, f, insn, v, n, i);
        if (v[i].equal || flags[i] != CLEAN)
            continue;
        flags[i] = OPAQUE;
        if (spreads_race(t, insn))
            continue;
        if (!walk_races(insn))
            return false;
        if (!t->raced) {
            t->raced = true;
            t->raced_record = record;
            t->raced_number = number;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        w->excused += flags[i] != CLEAN;
        t->opaque = t->opaque || flags[i] == OPAQUE;
        set_flag(w, t, f, v[i].reg, flags[i]);
    }
    return true;
}

/* ------------------------------------------------------------ a thread */

static uint32_t number_of(uint32_t head)
{
    return head & ((1u << PTX_TRACE_NUMBER_BITS) - 1);
}

bool walk_thread_compare(walker *w, walk_thread *t, const walk_stream s[2], uint64_t begin, uint64_t end,
                         walk_difference *out)
{
    uint32_t at = 0;
    uint64_t record = begin;
    /* Nothing differs and nothing differed: the common case of a thread without addresses. */
    if (t->over)
        return false;
    for (; record < end; record++) {
        bool more[2] = {at < s[0].used, at < s[1].used};
        uint32_t head[2] = {more[0] ? s[0].words[at] : 0, more[1] ? s[1].words[at] : 0};
        if (!more[0] && !more[1])
            return false;
        if (head[0] != head[1]) {
            if (t->opaque) {
                t->over = true;
                w->left++;
                return false;
            }
            *out = (walk_difference){more[0] && more[1] ? RT_FOUND_FLOW : RT_FOUND_END, record,
                                     {number_of(head[0]), number_of(head[1])}};
            return true;
        }
        const uint32_t *a = s[0].words + at + 1, *b = s[1].words + at + 1;
        uint32_t n = head[0] >> PTX_TRACE_NUMBER_BITS;
        w->records++;
        bool same = memcmp(a, b, n * sizeof *a) == 0;
        if ((!same || t->flags) && !take_record(w, t, record, number_of(head[0]), a, b)) {
            *out = (walk_difference){RT_FOUND_RESULT, record, {number_of(head[0]), number_of(head[1])}};
            return true;
        }
        at += n + 1;
    }
    return false;
}
