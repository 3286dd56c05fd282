/* params.c - see params.h. Values are followed forward from each load of a parameter until they end in something with a name. */
#include "ptx/inspect/params.h"
#include "ptx/inspect/flow_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct load { uint64_t offset; ptx_type type; uint32_t insn, value; } load;

typedef struct finder {
    pti_symbols *s;
    const pti_addresses *a;
    pti_params *out;
    load *loads;
    uint32_t nloads;
    uint32_t *seen, round;             /* values, marked with the round */
    uint32_t *stack;
} finder;

/* ------------------------------------------------------------ loads */

static bool is_load(const ptx_insn *i)
{
    return i->form && i->operation && strcmp(i->operation, "ld") == 0 && i->noperands >= 2 && i->operands[1].kind == ISA_OPERAND_ADDRESS;
}

/* Offset in the block; false when the address is another or not constant. *inside: it is in the block, at least. */
static bool place_of(finder *f, uint32_t insn, uint64_t *offset, bool *inside)
{
    bool assumed = false;
    const pti_symbols *s = f->s;
    pti_poly p = pti_poly_of_address(f->s, insn, &s->flow->function->insns[insn].operands[1].address, &assumed);
    const pti_sum *sum = &s->sums[p];
    const ptx_variable *v = NULL;
    for (uint32_t i = 0; i < sum->nterms; i++) {
        const pti_atom *a = &s->atoms[sum->terms[i].atoms[0]];
        if (sum->terms[i].natoms == 1 && a->kind == PTI_ATOM_SYMBOL && a->variable->space == PTX_SPACE_PARAM && a->variable->owner &&
            a->variable->offset < s->flow->function->param_size)
            v = a->variable;
    }
    *inside = v != NULL && s->flow->function->is_entry;
    *offset = v ? v->offset + (uint64_t)sum->constant : 0;
    return *inside && sum->nterms == 1 && sum->terms[0].factor == 1;
}

static uint32_t find_loads(finder *f, bool fill)
{
    const pti_flow *flow = f->s->flow;
    uint32_t n = 0;
    f->out->nother = 0;
    for (uint32_t i = 0; i < flow->function->ninsns; i++) {
        const ptx_insn *insn = &flow->function->insns[i];
        uint64_t offset;
        bool inside;
        if (!is_load(insn))
            continue;
        bool known = place_of(f, i, &offset, &inside);
        f->out->nother += inside && !known;
        for (uint32_t c = 0; known && c < insn->operands[0].nvalues; c++) {
            const ptx_value *v = &insn->operands[0].values[c];
            if (fill)
                f->loads[n] = (load){offset + c * ptx_type_bytes(v->type), v->type, i,
                                     v->kind == PTX_VALUE_REG ? pti_value_written(flow, i, v->reg) : PTI_NONE};
            n++;
        }
    }
    return n;
}

static int compare_loads(const void *x, const void *y)
{
    const load *a = x, *b = y;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return a->insn < b->insn ? -1 : a->insn > b->insn;
}

/* ------------------------------------------------------------ uses */

static void push(finder *f, uint32_t value, uint32_t *depth)
{
    if (value == PTI_NONE || f->seen[value] == f->round)
        return;
    f->seen[value] = f->round;
    f->stack[(*depth)++] = value;
}

/* In which operands does an instruction read this register? */
static bool reads_in(const ptx_operand *o, uint32_t reg)
{
    bool addressed = o->kind == ISA_OPERAND_ADDRESS || o->kind == ISA_OPERAND_TEXTURE;
    if (addressed && o->address.base == PTX_BASE_REG && o->address.reg == reg)
        return true;
    for (uint32_t v = 0; v < o->nvalues; v++)
        if (o->values[v].kind == PTX_VALUE_REG && o->values[v].reg == reg)
            return true;
    return false;
}

static bool is_family(const ptx_insn *i, const char *family)
{
    return strcmp(i->form->family, family) == 0;
}

/* What a use is by itself; *on tells whether the result is followed. */
static uint32_t use_of(const ptx_insn *i, uint32_t reg, bool *on)
{
    uint32_t uses = i->guarded && i->guard == reg ? PTI_IN_BRANCH : 0;
    *on = false;
    if (!i->form)
        return uses;
    for (uint32_t o = 0; o < i->noperands; o++) {
        if (!reads_in(&i->operands[o], reg))
            continue;
        const ptx_address *at = &i->operands[o].address;
        if (i->operands[o].kind == ISA_OPERAND_ADDRESS)
            uses |= PTI_IN_ADDRESS;
        else if (i->operands[o].kind == ISA_OPERAND_TEXTURE)
            uses |= at->base == PTX_BASE_REG && at->reg == reg ? 0 : PTI_IN_COORDINATE;
        else if (i->operation && (strcmp(i->operation, "st") == 0 || strcmp(i->operation, "call") == 0 || strcmp(i->operation, "red") == 0 ||
                                  strcmp(i->operation, "atom") == 0))
            uses |= PTI_IN_STORE;
        else if (is_family(i, "mma"))
            uses |= PTI_IN_MATRIX;
        else
            *on = true;
    }
    if (i->nargs)
        uses |= PTI_IN_STORE;
    if (!*on)
        return uses;
    bool to_float = strcmp(i->form->mnemonic, "cvt") == 0 && ptx_type_class(i->operands[0].values[0].type) == 'f';
    uses |= is_family(i, "float") || is_family(i, "half") || is_family(i, "special") || to_float ? PTI_IN_FLOAT : 0;
    return uses | (is_family(i, "compare") && strncmp(i->form->mnemonic, "set", 3) == 0 ? PTI_IN_COMPARISON : 0);
}

static uint32_t follow(finder *f, uint32_t depth)
{
    const pti_flow *flow = f->s->flow;
    uint32_t uses = 0;
    while (depth) {
        const pti_value *v = &flow->values[f->stack[--depth]];
        for (uint32_t u = 0; u < v->nusers; u++) {
            bool on = true;
            if (v->users[u] & PTI_BY_VALUE) {
                push(f, v->users[u] & ~(uint32_t)PTI_BY_VALUE, &depth);
                continue;
            }
            uses |= use_of(&flow->function->insns[v->users[u]], v->reg, &on);
            for (uint32_t d = flow->first_def[v->users[u]]; on && d < flow->first_def[v->users[u] + 1]; d++)
                push(f, d, &depth);
        }
    }
    return uses;
}

/* The entry for a formula that is a parameter and nothing else. */
static pti_param *param_of_atom(const finder *f, uint32_t atom)
{
    const pti_atom *a = atom == PTI_NONE ? NULL : &f->s->atoms[atom];
    uint32_t low = 0, high = f->out->count;
    while (a && a->kind == PTI_ATOM_PARAM && low < high) {
        uint32_t middle = low + (high - low) / 2;
        pti_param *p = &f->out->list[middle];
        if (p->offset == a->number && p->type == a->type)
            return p;
        if (p->offset < a->number || (p->offset == a->number && p->type < a->type))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void find_bases(finder *f)
{
    for (uint32_t b = 0; b < f->a->nbases; b++) {
        pti_param *p = f->a->bases[b].count ? param_of_atom(f, f->a->bases[b].atom) : NULL;
        if (!p)
            continue;
        p->base = b;
        p->uses |= PTI_AS_POINTER;
    }
}

static bool list_params(finder *f)
{
    pti_params *out = f->out;
    out->list = pti_take(&out->arena, f->nloads, sizeof *out->list);
    uint32_t *insns = pti_take(&out->arena, f->nloads, sizeof *insns);
    if (!out->list || !insns)
        return false;
    for (uint32_t i = 0, end; i < f->nloads; i = end) {
        pti_param *p = &out->list[out->count++];
        uint32_t depth = 0;
        *p = (pti_param){.offset = f->loads[i].offset, .type = f->loads[i].type, .loads = insns + i, .first_load = f->loads[i].insn};
        f->round++;
        for (end = i; end < f->nloads && f->loads[end].offset == p->offset && f->loads[end].type == p->type; end++) {
            p->loads[p->nloads++] = f->loads[end].insn;
            push(f, f->loads[end].value, &depth);
        }
        p->uses = follow(f, depth);
        p->base = PTI_NONE;
    }
    find_bases(f);
    return true;
}

/* ------------------------------------------------------------ textures */

static const ptx_operand *texture_operand(const ptx_insn *i)
{
    for (uint32_t o = 0; i->form && o < i->noperands; o++)
        if (i->operands[o].kind == ISA_OPERAND_TEXTURE)
            return &i->operands[o];
    return NULL;
}

static void set_handle(finder *f, pti_texture *t)
{
    pti_param *p = param_of_atom(f, pti_single_atom(f->s, t->handle));
    t->param = p ? (uint32_t)(p - f->out->list) : PTI_NONE;
    if (!p)
        return;
    p->nhandle++;
    p->uses |= t->surface ? PTI_AS_SURFACE : PTI_AS_TEXTURE;
}

static void add_texture(finder *f, uint32_t insn, const ptx_operand *o)
{
    const ptx_insn *i = &f->s->flow->function->insns[insn];
    pti_texture *t = &f->out->textures[f->out->ntextures++];
    bool assumed = false;
    *t = (pti_texture){.insn = insn, .surface = i->form->mnemonic[0] == 's', .writes = strcmp(i->form->mnemonic, "sust") == 0 ||
                       strcmp(i->form->mnemonic, "sured") == 0};
    t->handle = pti_poly_of_address(f->s, insn, &o->address, &assumed);
    t->variable = o->address.base == PTX_BASE_VARIABLE ? o->address.variable : NULL;
    for (uint32_t v = 1; v < o->nvalues && t->ncoordinates < 5; v++) {
        t->type = o->values[v].type;
        t->coordinates[t->ncoordinates++] = pti_poly_of(f->s, insn, &o->values[v], &assumed);
    }
    set_handle(f, t);
}

static bool find_textures(finder *f)
{
    const ptx_function *fn = f->s->flow->function;
    uint32_t n = 0;
    for (uint32_t i = 0; i < fn->ninsns; i++)
        n += texture_operand(&fn->insns[i]) != NULL;
    f->out->textures = pti_take(&f->out->arena, n, sizeof *f->out->textures);
    for (uint32_t i = 0; f->out->textures && i < fn->ninsns; i++)
        if (texture_operand(&fn->insns[i]))
            add_texture(f, i, texture_operand(&fn->insns[i]));
    return f->out->textures != NULL && !f->s->failed;
}

pti_status pti_find_params(pti_symbols *s, const pti_addresses *a, pti_params *out)
{
    *out = (pti_params){0};
    ptx_arena_init(&out->arena, SIZE_MAX);
    finder f = {.s = s, .a = a, .out = out};
    f.nloads = find_loads(&f, false);
    f.loads = calloc((size_t)f.nloads + 1, sizeof *f.loads);
    f.seen = calloc((size_t)s->flow->nvalues + 1, sizeof *f.seen);
    f.stack = calloc((size_t)s->flow->nvalues + 1, sizeof *f.stack);
    bool done = f.loads && f.seen && f.stack;
    if (done) {
        find_loads(&f, true);
        qsort(f.loads, f.nloads, sizeof *f.loads, compare_loads);
        done = list_params(&f) && find_textures(&f);
    }
    free(f.loads);
    free(f.seen);
    free(f.stack);
    return done ? PTI_OK : PTI_MEMORY;
}

void pti_free_params(pti_params *p)
{
    ptx_arena_free(&p->arena);
    *p = (pti_params){0};
}
