/* torture_generate.c - programs from a seed, and their text. */
#include "conformance/torture.h"

#include <stdlib.h>
#include <string.h>
#include "conformance/text.h"

enum { LENGTH = 60, DEPTH = 3, TRIES = 200 };

typedef struct maker {
    torture_program *p;
    const conform_list *list;
    conform_random r;
    uint32_t depth, loops;
    bool failed;
} maker;

static torture_item *append(maker *m, torture_kind kind)
{
    torture_program *p = m->p;
    if (p->count == p->room) {
        const uint32_t room = p->room ? 2 * p->room : 128;
        torture_item *more = realloc(p->items, room * sizeof *more);
        if (!more) {
            m->failed = true;
            return NULL;
        }
        p->items = more;
        p->room = room;
    }
    torture_item *i = &p->items[p->count++];
    memset(i, 0, sizeof *i);
    i->kind = kind;
    for (uint32_t e = 0; e < ISA_MAX_ELEMS; e++)
        i->registers[e] = (uint8_t)conform_below(&m->r, 64);
    i->number = (uint32_t)conform_next(&m->r);
    return i;
}

/* ------------------------------------------------------------ registers */

/* Number of registers in the pool of a type, 0: a type that has none. */
static uint32_t pool(ptx_type type)
{
    if (type == PTX_TYPE_PRED)
        return TORTURE_PREDS;
    switch (ptx_type_bytes(type)) {
    case 1: return ptx_type_class(type) == 'u' || ptx_type_class(type) == 's' ? TORTURE_HALVES : 0;
    case 2: return TORTURE_HALVES;
    case 4: return TORTURE_WORDS;
    case 8: return TORTURE_WIDES;
    default: return 0;
    }
}

static void name_register(ptx_type type, uint32_t number, char out[CONFORM_REGISTER])
{
    const char letter = type == PTX_TYPE_PRED ? 'p' : ptx_type_bytes(type) <= 2 ? 'h' : ptx_type_bytes(type) == 4 ? 'w' : 'd';
    out[0] = '%';
    out[1] = letter;
    out[2] = (char)('0' + number % 10);
    out[3] = 0;
}

/* Results of one instruction lie in different registers. */
static void choose_registers(const conform_case *c, torture_item *i)
{
    for (uint32_t e = 0; e < c->nelems; e++) {
        const uint32_t n = pool(c->elems[e].type);
        if (!n)
            continue;
        i->registers[e] = (uint8_t)(i->registers[e] % n);
        if (c->elems[e].role != ISA_ROLE_DST)
            continue;
        for (uint32_t k = 0; k < e; k++)
            if (c->elems[k].role == ISA_ROLE_DST && pool(c->elems[k].type) == n &&
                (c->elems[k].type == PTX_TYPE_PRED) == (c->elems[e].type == PTX_TYPE_PRED) && i->registers[k] == i->registers[e]) {
                i->registers[e] = (uint8_t)((i->registers[e] + 1) % n);
                k = UINT32_MAX;          /* again from the first */
            }
    }
}

/* Whether programs can hold the instruction: registers of the pools, no hidden carry, one right answer. */
static bool usable(const conform_case *c, bool collective)
{
    if (conform_era_of(c) != CONFORM_CURRENT || c->kind != (collective ? CONFORM_WARP : CONFORM_LANE) || !strcmp(c->meaning, "rsqrt_approx_f64"))
        return false;
    uint32_t results[9] = {0};
    for (uint32_t i = 0; i < c->form->noperands; i++)
        if (c->form->operands[i].kind == ISA_OPERAND_CARRY_IN || c->form->operands[i].kind == ISA_OPERAND_CARRY_OUT ||
            ptx_type_bits(isa_operand_type(c->form, &c->tuple, i)) == 128)
            return false;
    for (uint32_t e = 0; e < c->nelems; e++) {
        if (c->elems[e].role != ISA_ROLE_SRC && c->elems[e].role != ISA_ROLE_DST)
            continue;
        if (!pool(c->elems[e].type))
            return false;
        results[c->elems[e].type == PTX_TYPE_PRED ? 0 : ptx_type_bytes(c->elems[e].type)] += c->elems[e].role == ISA_ROLE_DST;
    }
    return results[0] <= 2 && results[1] + results[2] <= 4 && results[4] <= 4 && results[8] <= 4;
}

static void add_op(maker *m, bool collective)
{
    for (uint32_t tries = 0; tries < TRIES * (collective ? 400 : 1); tries++) {
        const conform_case *c = &m->list->cases[conform_below(&m->r, m->list->count)];
        if (!usable(c, collective))
            continue;
        torture_item *i = append(m, collective ? TORTURE_COLLECTIVE : TORTURE_OP);
        if (i) {
            i->c = c;
            choose_registers(c, i);
        }
        return;
    }
}

/* ------------------------------------------------------------ structure */

static void add_items(maker *m, uint32_t count);

static void add_branch(maker *m)
{
    const uint32_t begin = m->p->count, label = m->p->labels++;
    if (!append(m, TORTURE_IF))
        return;
    m->depth++;
    add_items(m, 2 + conform_below(&m->r, 6));
    if (conform_next(&m->r) & 1) {
        const uint32_t middle = m->p->count;
        if (append(m, TORTURE_ELSE))
            m->p->items[middle].number = label;
        add_items(m, 1 + conform_below(&m->r, 5));
    }
    m->depth--;
    if (!append(m, TORTURE_END_IF))
        return;
    m->p->items[m->p->count - 1].number = m->p->items[begin].number = label;
    m->p->items[begin].partner = m->p->count - 1;
}

static void add_loop(maker *m)
{
    const uint32_t begin = m->p->count, label = m->p->labels++;
    if (!append(m, TORTURE_LOOP))
        return;
    m->depth++;
    m->loops++;
    add_items(m, 2 + conform_below(&m->r, 5));
    if (conform_below(&m->r, 3) == 0 && append(m, TORTURE_BREAK)) {
        m->p->items[m->p->count - 1].number = label;
        add_items(m, 1 + conform_below(&m->r, 3));
    }
    m->loops--;
    m->depth--;
    if (!append(m, TORTURE_END_LOOP))
        return;
    m->p->items[m->p->count - 1].number = m->p->items[begin].number = label;
    m->p->items[begin].partner = m->p->count - 1;
}

static void add_items(maker *m, uint32_t count)
{
    for (uint32_t k = 0; k < count && !m->failed; k++) {
        const uint32_t pick = conform_below(&m->r, 40);
        if (m->depth < DEPTH && pick < 4) add_branch(m);
        else if (m->depth < DEPTH && m->loops < 2 && pick < 6) add_loop(m);
        else if (m->depth == 0 && pick < 8) append(m, TORTURE_EXCHANGE);   /* barriers and collectives: all threads are here */
        else if (m->depth == 0 && pick < 12) add_op(m, true);
        else if (pick < 14) append(m, TORTURE_REDUCE);
        else if (pick < 16) append(m, TORTURE_STACK);
        else add_op(m, false);
    }
}

bool torture_generate(const conform_list *list, uint64_t seed, torture_program *out)
{
    *out = (torture_program){.seed = seed};
    maker m = {.p = out, .list = list, .r = {seed}};
    add_items(&m, LENGTH / 2 + conform_below(&m.r, LENGTH));
    /* At the end threads may leave early: no barrier follows. */
    if (conform_below(&m.r, 3) == 0) {
        append(&m, TORTURE_RETURN);
        m.depth = 1;
        add_items(&m, 5);
    }
    if (m.failed)
        torture_free(out);
    return !m.failed;
}

void torture_free(torture_program *p)
{
    free(p->items);
    *p = (torture_program){0};
}

/* ------------------------------------------------------------ text */

static void write_op(conform_text *t, const torture_item *i)
{
    const conform_case *c = i->c;
    char names[ISA_MAX_ELEMS][CONFORM_REGISTER];
    uint32_t mask = ISA_MAX_ELEMS;
    for (uint32_t e = 0; e < c->nelems; e++) {
        name_register(c->elems[e].type, i->registers[e], names[e]);
        if (c->elems[e].role == ISA_ROLE_SRC)
            mask = e;
    }
    /* The member mask comes last; here all lanes take part. */
    if (i->kind == TORTURE_COLLECTIVE && mask < ISA_MAX_ELEMS && strncmp(c->meaning, "movmatrix", 9) != 0)
        strcpy(names[mask], "-1");
    conform_add_instruction(t, c, (const char (*)[CONFORM_REGISTER])names);
}

/* Each thread stores a word; after a barrier it loads another's. The factor is odd, so that all words are read. */
static void write_exchange(conform_text *t, const torture_item *i)
{
    const uint32_t from = i->registers[0] % TORTURE_WORDS, to = i->registers[1] % TORTURE_WORDS;
    conform_add(t, "    st.shared.b32 [%%own], %%w%u;\n    bar.sync 0;\n", from);
    conform_add(t, "    mad.lo.u32 %%s, %%thread, %u, %u;\n    and.b32 %%s, %%s, %u;\n", (i->number & 31) * 2 + 1, i->number >> 5 & 63,
                TORTURE_BLOCK - 1);
    conform_add(t, "    shl.b32 %%s, %%s, 2;\n    mov.u32 %%x, shared_words;\n    add.u32 %%s, %%s, %%x;\n");
    conform_add(t, "    ld.shared.b32 %%w%u, [%%s];\n    bar.sync 0;\n", to);
}

/* A cell knows one operation, so that the order of threads does not matter. */
static void write_reduce(conform_text *t, const torture_item *i)
{
    static const char *const operations[] = {"add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "min.u32", "max.s32"};
    const uint32_t cell = i->number % 8;
    conform_add(t, "    and.b32 %%s, %%w%u, 8;\n    mul.wide.u32 %%a, %%s, 4;\n    add.u64 %%a, %%a, %%cells;\n",
                i->registers[0] % TORTURE_WORDS);
    conform_add(t, "    red.global.%s [%%a+%u], %%w%u;\n", operations[cell], 4 * cell, i->registers[1] % TORTURE_WORDS);
}

/* A word of the thread's own array, at an index of a register. */
static void write_stack(conform_text *t, const torture_item *i)
{
    conform_add(t, "    and.b32 %%s, %%w%u, 3;\n    shl.b32 %%s, %%s, 2;\n    mov.u32 %%x, own_words;\n    add.u32 %%s, %%s, %%x;\n",
                i->registers[0] % TORTURE_WORDS);
    if (i->number & 1)
        conform_add(t, "    st.local.b32 [%%s], %%w%u;\n", i->registers[1] % TORTURE_WORDS);
    else
        conform_add(t, "    ld.local.b32 %%w%u, [%%s];\n", i->registers[1] % TORTURE_WORDS);
}

static bool has_else(const torture_program *p, uint32_t begin)
{
    for (uint32_t k = begin; k < p->items[begin].partner; k++)
        if (p->items[k].kind == TORTURE_ELSE && p->items[k].number == p->items[begin].number && !p->items[k].left_out)
            return true;
    return false;
}

/* The counter is the same in all lanes that are still in the loop and differs behind it, where it is seen. In the loop it is read together with
 * another such value, for compilers that keep them in scalar registers. */
static void write_loop(conform_text *t, const torture_item *i)
{
    const uint32_t n = i->number, w = i->registers[1] % TORTURE_WORDS;
    conform_add(t, "    and.b32 %%l%u, %%w%u, 7;\n    add.u32 %%l%u, %%l%u, 1;\n    mov.b32 %%c%u, 0;\nLOOP%u:\n", n, i->registers[0] % TORTURE_WORDS, n, n, n, n);
    conform_add(t, "    mad.lo.u32 %%x, %%c%u, 3, 5;\n    prmt.b32 %%s, %%c%u, %%x, %%w%u;\n    xor.b32 %%w%u, %%w%u, %%s;\n", n, n, w, w, w);
}

static void write_item(conform_text *t, const torture_program *p, uint32_t index)
{
    const torture_item *i = &p->items[index];
    const uint32_t n = i->number, pred = i->registers[0] % TORTURE_PREDS;
    switch (i->kind) {
    case TORTURE_OP: case TORTURE_COLLECTIVE: write_op(t, i); break;
    case TORTURE_IF: conform_add(t, "    @!%%p%u bra %s%u;\n", pred, has_else(p, index) ? "ELSE" : "FI", n); break;
    case TORTURE_ELSE: conform_add(t, "    bra FI%u;\nELSE%u:\n", n, n); break;
    case TORTURE_END_IF: conform_add(t, "FI%u:\n", n); break;
    case TORTURE_LOOP:
        write_loop(t, i);
        break;
    case TORTURE_BREAK: conform_add(t, "    @%%p%u bra POOL%u;\n", pred, n); break;
    case TORTURE_END_LOOP:
        conform_add(t, "    add.u32 %%c%u, %%c%u, 1;\n    setp.lt.u32 %%q, %%c%u, %%l%u;\n    @%%q bra LOOP%u;\nPOOL%u:\n", n, n, n, n, n, n);
        conform_add(t, "    add.u32 %%w%u, %%w%u, %%c%u;\n", i->registers[1] % TORTURE_WORDS, i->registers[1] % TORTURE_WORDS, n);
        break;
    case TORTURE_EXCHANGE: write_exchange(t, i); break;
    case TORTURE_REDUCE: write_reduce(t, i); break;
    case TORTURE_STACK: write_stack(t, i); break;
    case TORTURE_RETURN: conform_add(t, "    @%%p%u ret;\n", pred); break;
    }
}

static void walk_registers(conform_text *t, bool load)
{
    static const struct { const char *letter; uint32_t count, bits; } pools[] = {
        {"p", TORTURE_PREDS, 1}, {"h", TORTURE_HALVES, 16}, {"w", TORTURE_WORDS, 32}, {"d", TORTURE_WIDES, 64}};
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < pools[k].count; i++) {
            const char *l = pools[k].letter;
            if (load && k == 0) conform_add(t, "    ld.global.b32 %%s, [%%a];\n    setp.ne.u32 %%p%u, %%s, 0;\n", i);
            else if (load) conform_add(t, "    ld.global.b%u %%%s%u, [%%a];\n", pools[k].bits, l, i);
            else if (k == 0) conform_add(t, "    selp.b32 %%s, 1, 0, %%p%u;\n    st.global.b32 [%%a], %%s;\n", i);
            else conform_add(t, "    st.global.b%u [%%a], %%%s%u;\n", pools[k].bits, l, i);
            conform_add(t, "    add.u64 %%a, %%a, %u;\n", 8 * TORTURE_THREADS);
        }
}

static void write_head(conform_text *t, const torture_program *p)
{
    conform_add(t, "// seed %llu\n.version 9.0\n.target sm_120a\n.address_size 64\n", (unsigned long long)p->seed);
    conform_add(t, ".shared .align 4 .b32 shared_words[%u];\n", TORTURE_BLOCK);
    conform_add(t, ".visible .entry torture(.param .u64 sources, .param .u64 results, .param .u64 cell_words)\n{\n");
    conform_add(t, "    .local .align 4 .b32 own_words[4];\n");
    conform_add(t, "    .reg .pred %%p<%u>, %%q;\n    .reg .b16 %%h<%u>;\n    .reg .b32 %%w<%u>, %%c<%u>, %%l<%u>, %%s, %%x, %%thread, %%own;\n", TORTURE_PREDS,
                TORTURE_HALVES, TORTURE_WORDS, p->labels + 1, p->labels + 1);
    conform_add(t, "    .reg .b64 %%d<%u>, %%a, %%cells, %%at;\n", TORTURE_WIDES);
    conform_add(t, "    mov.u32 %%thread, %%tid.x;\n    mov.u32 %%s, %%ctaid.x;\n    mad.lo.u32 %%s, %%s, %u, %%thread;\n    mul.wide.u32 %%at, %%s, 8;\n",
                TORTURE_BLOCK);
    conform_add(t, "    mov.u32 %%own, shared_words;\n    mad.lo.u32 %%own, %%thread, 4, %%own;\n    ld.param.u64 %%cells, [cell_words];\n");
    for (uint32_t i = 0; i < 4; i++)
        conform_add(t, "    st.local.b32 [own_words+%u], %u;\n", 4 * i, i);
    conform_add(t, "    ld.param.u64 %%a, [sources];\n    add.u64 %%a, %%a, %%at;\n");
    walk_registers(t, true);
}

char *torture_text(const torture_program *p)
{
    conform_text t = {0};
    write_head(&t, p);
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->items[i].left_out)
            write_item(&t, p, i);
    conform_add(&t, "    ld.param.u64 %%a, [results];\n    add.u64 %%a, %%a, %%at;\n");
    walk_registers(&t, false);
    conform_add(&t, "    ret;\n}\n");
    return conform_text_end(&t);
}

void torture_fill(uint64_t seed, torture_data *data)
{
    conform_random r = {seed ^ 0x5bd1e995};
    static const ptx_type types[] = {PTX_TYPE_F32, PTX_TYPE_U32, PTX_TYPE_F16X2, PTX_TYPE_S32};
    static const ptx_type wide[] = {PTX_TYPE_F64, PTX_TYPE_U64};
    memset(data, 0, sizeof *data);
    for (uint32_t slot = 0; slot < TORTURE_SLOTS; slot++)
        for (uint32_t i = 0; i < TORTURE_THREADS; i++) {
            const bool pred = slot < TORTURE_PREDS, half = slot < TORTURE_PREDS + TORTURE_HALVES;
            const bool word = slot < TORTURE_PREDS + TORTURE_HALVES + TORTURE_WORDS;
            const ptx_type type = half ? (slot & 1 ? PTX_TYPE_F16 : PTX_TYPE_U16) : word ? types[slot % 4] : wide[slot % 2];
            const conform_shape s = conform_shape_of(type);
            data->sources[slot * TORTURE_THREADS + i] = pred ? conform_next(&r) & 1 : conform_value(&s, &r);
        }
    for (uint32_t i = 0; i < TORTURE_CELLS; i++)
        data->cells[i] = (uint32_t)conform_next(&r);
}
