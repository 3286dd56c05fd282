/* addresses.c - which instructions access memory, and their bases. What the bases hold is worked out in addresses_extent.c. */
#include "ptx/inspect/addresses_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct finder {
    pti_symbols *s;
    pti_addresses *out;
    uint32_t *base_of_atom;            /* then one for each space, for addresses without a pointer */
    uint32_t room_bases;
    bool failed;
} finder;

static bool starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static ptx_space space_named(const char *name)
{
    for (int i = PTX_SPACE_CONST; name && i <= PTX_SPACE_SHARED; i++)
        if (starts_with(name, ptx_space_name((ptx_space)i)))
            return (ptx_space)i;
    return PTX_SPACE_GENERIC;
}

/* ------------------------------------------------------------ what an instruction moves */

/* Which of its address operands an operation reads and writes: r w b(oth), in order; '-' for one that is no access. */
static const char *directions(const ptx_insn *insn)
{
    static const struct { const char *operation, *directions; } rows[] = {
        {"ld", "r"}, {"ldmatrix", "r"}, {"wmma_load", "r"}, {"st", "w"}, {"stmatrix", "w"}, {"wmma_store", "w"}, {"st_async", "wb"},
        {"st_bulk", "w"}, {"atom", "b"}, {"red", "b"}, {"red_async", "bb"}, {"cp_async", "wr"}, {"cp_async_bulk", "wrb"},
        {"cp_reduce_bulk", "brb"}, {"mbarrier", "b"}, {"cp_async_mbarrier", "b"}};
    for (size_t i = 0; insn->operation && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].operation, insn->operation) == 0)
            return rows[i].directions;
    return "";
}

static ptx_space space_of(const ptx_insn *insn, uint32_t which)
{
    const char *op = insn->operation;
    const char *group = starts_with(op, "cp_") && strstr(op, "bulk") ? (which == 1 ? "src" : "dst") : "space";
    if (strcmp(op, "cp_async") == 0)
        return which ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    if (strstr(op, "mbarrier") || ((strcmp(op, "cp_async_bulk") == 0 || strcmp(op, "cp_reduce_bulk") == 0) && which == 2))
        return PTX_SPACE_SHARED;
    ptx_space space = space_named(isa_choice(insn->form, &insn->tuple, group));
    bool matrix = strcmp(op, "ldmatrix") == 0 || strcmp(op, "stmatrix") == 0;
    return space == PTX_SPACE_GENERIC && matrix ? PTX_SPACE_SHARED : space;
}

static void size_of(const ptx_insn *insn, uint32_t which, pti_access *a)
{
    const char *op = insn->operation;
    a->bytes = a->words = 0;
    if (strstr(op, "mbarrier") || which == 2) {
        a->bytes = 8;
        a->words = 1;
    } else if (strcmp(op, "ldmatrix") == 0 || strcmp(op, "stmatrix") == 0) {
        bool rows_of_16 = strcmp(isa_choice(insn->form, &insn->tuple, "shape"), "m8n8") == 0;
        a->bytes = rows_of_16 ? 16 : 0;
    } else if (strcmp(op, "ld") == 0 || strcmp(op, "st") == 0 || strcmp(op, "atom") == 0 || strcmp(op, "red") == 0) {
        for (uint32_t o = 0; o < insn->noperands && a->words == 0; o++) {
            const ptx_operand *x = &insn->operands[o];
            for (uint32_t v = 0; x->kind != ISA_OPERAND_ADDRESS && v < x->nvalues; v++) {
                a->bytes += ptx_type_bytes(x->values[v].type);
                a->words++;
            }
        }
    } else if (strcmp(op, "cp_async") == 0) {
        for (uint32_t o = 0; o < insn->noperands; o++)
            if (insn->operands[o].kind == ISA_OPERAND_IMMEDIATE)
                a->bytes = (uint32_t)insn->operands[o].values[0].imm;
    }
}

/* Atomics are, whatever their semantics. */
static bool is_strong(const ptx_insn *insn, const pti_access *a)
{
    const char *sem = isa_choice(insn->form, &insn->tuple, "sem");
    return (a->reads && a->writes) || (sem && strcmp(sem, "weak") != 0);
}

/* ------------------------------------------------------------ bases */

/* How well an atom serves as the pointer of an address: 0 not at all. */
static int merit(const pti_atom *a)
{
    switch (a->kind) {
    case PTI_ATOM_SYMBOL: return 3;
    case PTI_ATOM_PARAM: return ptx_type_bits(a->type) == 64 ? 2 : 0;
    case PTI_ATOM_VALUE: return ptx_type_bits(a->type) == 64 ? 1 : 0;
    default: return 0;
    }
}

static uint32_t base_atom(const pti_symbols *s, pti_poly p)
{
    const pti_sum *sum = &s->sums[p];
    uint32_t best = PTI_NONE;
    for (uint32_t i = 0; i < sum->nterms; i++) {
        const pti_term *t = &sum->terms[i];
        int m = t->factor == 1 && t->natoms == 1 ? merit(&s->atoms[t->atoms[0]]) : 0;
        if (m > (best == PTI_NONE ? 0 : merit(&s->atoms[best])))
            best = t->atoms[0];
    }
    return best;
}

static uint32_t base_number(finder *f, uint32_t atom, ptx_space space)
{
    uint32_t *place = &f->base_of_atom[atom == PTI_NONE ? f->s->natoms + space : atom];
    if (*place != PTI_NONE)
        return *place;
    pti_addresses *out = f->out;
    if (out->nbases == f->room_bases) {
        size_t size = sizeof *out->bases, room = f->room_bases * 2 + 64;
        void *moved = ptx_arena_resize(&out->arena, out->bases, f->room_bases * size, room * size);
        if (!moved) {
            f->failed = true;
            return 0;
        }
        out->bases = moved;
        f->room_bases = (uint32_t)room;
    }
    const pti_atom *a = atom == PTI_NONE ? NULL : &f->s->atoms[atom];
    out->bases[out->nbases] = (pti_base_info){.atom = atom, .space = a && a->kind == PTI_ATOM_SYMBOL ? a->variable->space : space};
    return *place = out->nbases++;
}

/* A pointer that no formula names: the address is the base. */
static void set_base(finder *f, pti_access *a, pti_poly address)
{
    uint32_t atom = base_atom(f->s, address);
    a->base = base_number(f, atom, a->space);
    if (f->failed)
        return;
    if (a->space == PTX_SPACE_GENERIC)
        a->space = f->out->bases[a->base].space;
    else if (f->out->bases[a->base].space == PTX_SPACE_GENERIC)
        f->out->bases[a->base].space = a->space;
    pti_term one = {-1, 1, {atom}};
    a->offset = atom == PTI_NONE ? address : pti_add(f->s, address, pti_sum_of(f->s, 0, &one, 1));
}

/* ------------------------------------------------------------ all instructions */

/* Parameters of an entry are not memory to an analyst; see params.h. */
static bool is_parameter(const finder *f, const pti_access *a, const ptx_address *at)
{
    const pti_symbols *s = f->s;
    uint32_t atom = a->base < f->out->nbases ? f->out->bases[a->base].atom : PTI_NONE;
    bool named = at->base == PTX_BASE_VARIABLE && at->variable && at->variable->space == PTX_SPACE_PARAM;
    return a->space == PTX_SPACE_PARAM || named ||
           (atom != PTI_NONE && s->atoms[atom].kind == PTI_ATOM_SYMBOL && s->atoms[atom].variable->space == PTX_SPACE_PARAM);
}

static void find_in(finder *f, uint32_t index)
{
    const ptx_insn *insn = &f->s->flow->function->insns[index];
    const char *way = insn->form ? directions(insn) : "";
    for (uint32_t o = 0, which = 0; *way && o < insn->noperands && !f->failed; o++) {
        if (insn->operands[o].kind != ISA_OPERAND_ADDRESS)
            continue;
        pti_access a = {.insn = index, .reads = *way != 'w', .writes = *way != 'r', .space = space_of(insn, which)};
        size_of(insn, which, &a);
        a.strong = is_strong(insn, &a);
        if (a.space != PTX_SPACE_PARAM) {
            set_base(f, &a, pti_poly_of_address(f->s, index, &insn->operands[o].address, &a.assumed));
            if (!is_parameter(f, &a, &insn->operands[o].address))
                f->out->list[f->out->count++] = a;
        }
        way++;
        which++;
    }
}

/* Makes the formulas of all addresses, so that no atom is new later; returns the number of addresses. */
static uint32_t make_formulas(pti_symbols *s)
{
    const ptx_function *f = s->flow->function;
    uint32_t n = 0;
    bool assumed = false;
    for (uint32_t i = 0; i < f->ninsns; i++)
        for (uint32_t o = 0; o < f->insns[i].noperands; o++)
            if (f->insns[i].operands[o].kind == ISA_OPERAND_ADDRESS) {
                pti_poly_of_address(s, i, &f->insns[i].operands[o].address, &assumed);
                n++;
            }
    return n;
}

static bool find_all(finder *f)
{
    pti_addresses *out = f->out;
    uint32_t most = make_formulas(f->s);
    size_t places = f->s->natoms + PTX_SPACE_TEX + 1;
    f->base_of_atom = malloc(places * sizeof(uint32_t));
    out->list = ptx_arena_zeroed(&out->arena, (most + 1) * sizeof *out->list);
    if (!f->base_of_atom || !out->list)
        return false;
    memset(f->base_of_atom, 0xff, places * sizeof(uint32_t));
    for (uint32_t i = 0; i < f->s->flow->function->ninsns && !f->failed; i++)
        find_in(f, i);
    return !f->failed && !f->s->failed;
}

pti_status pti_find_addresses(pti_symbols *s, pti_loops *loops, pti_addresses *out)
{
    *out = (pti_addresses){0};
    ptx_arena_init(&out->arena, SIZE_MAX);
    finder find = {.s = s, .out = out};
    bool done = find_all(&find);
    free(find.base_of_atom);
    if (out->bases && !ptx_arena_adopt(&out->arena, out->bases)) {
        free(out->bases);
        out->bases = NULL;
        done = false;
    }
    return done ? pti_measure_addresses(s, loops, out) : PTI_MEMORY;
}

void pti_free_addresses(pti_addresses *a)
{
    ptx_arena_free(&a->arena);
    *a = (pti_addresses){0};
}

uint32_t pti_access_of_insn(const pti_addresses *a, uint32_t insn)
{
    uint32_t low = 0, high = a->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (a->list[middle].insn < insn)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->count && a->list[low].insn == insn ? low : PTI_NONE;
}
