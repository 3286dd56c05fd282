/* phases.c - runs of mma, and M, N and K from the values that they read and write. */
#include "ptx/inspect/phases.h"

#include <stdlib.h>
#include <string.h>
#include "ptx/inspect/flow_internal.h"

typedef struct finder {
    const pti_statements *s;
    const pti_flow *flow;
    pti_phases *out;
    uint32_t nmma, nfragments;
    /* Distinct fragments of the function by role and values; `owner` is the mma that was the first to have it. */
    struct fragment { uint32_t insn, operand, owner, hash; } *fragments;
    uint32_t *slots, mask;         /* a hash table of fragment + 1 */
    uint32_t *local, *stamp;       /* number of a fragment within the phase that is being looked at */
    pti_mma *mma;                  /* of all phases */
    pti_product *products;
    pti_mma *joint;                /* of the phases of one block */
    pti_product *joint_products;
    uint32_t *next;
    uint32_t *parent[4], *number[4], *scratch;   /* union-find: rows, columns and products over tiles; slices over mma */
} finder;

enum { OPERAND_D, OPERAND_A, OPERAND_B, OPERAND_C };
enum { BY_ROW, BY_COLUMN, BY_PRODUCT, BY_SLICE };

bool pti_is_mma(const ptx_insn *insn)
{
    return insn->form && strcmp(insn->form->family, "mma") == 0 && insn->noperands > OPERAND_C &&
           insn->operands[OPERAND_C].kind == ISA_OPERAND_SRC_VECTOR;
}

static bool is_mma_statement(const pti_statements *s, uint32_t i)
{
    const pti_statement *t = &s->list[i];
    bool all = t->kind != PTX_STATEMENT_LABEL && t->ninsns;
    for (uint32_t j = 0; all && j < t->ninsns; j++)
        all = pti_is_mma(&s->function->insns[t->first_insn + j]);
    return all;
}

/* ------------------------------------------------------------ fragments */

uint32_t pti_origin(const pti_flow *flow, uint32_t value)
{
    for (int steps = 0; value != PTI_NONE && steps < 64; steps++) {
        const pti_value *v = &flow->values[value];
        if (v->kind != PTI_VALUE_INSN || v->partial)
            break;
        const ptx_insn *insn = &flow->function->insns[v->at];
        if (!insn->form || strcmp(insn->form->mnemonic, "mov") != 0 || insn->noperands != 2 || insn->operands[0].nvalues != 1 ||
            insn->operands[1].nvalues != 1 || insn->operands[1].values[0].kind != PTX_VALUE_REG)
            break;
        value = pti_value_read(flow, v->at, insn->operands[1].values[0].reg);
    }
    return value;
}

/* What element i of an operand is: a value of the flow, copies apart, or a constant. D: the value written. */
static uint64_t element(const finder *f, uint32_t insn, uint32_t operand, uint32_t i)
{
    const ptx_value *v = &f->s->function->insns[insn].operands[operand].values[i];
    if (v->kind != PTX_VALUE_REG)
        return (uint64_t)(v->kind + 1) << 56 | (v->imm & 0xffffffffffffff);
    if (operand == OPERAND_D)
        return pti_value_written(f->flow, insn, v->reg);
    return pti_origin(f->flow, pti_value_read(f->flow, insn, v->reg));
}

static uint32_t count_of(const finder *f, uint32_t insn, uint32_t operand)
{
    return f->s->function->insns[insn].operands[operand].nvalues;
}

/* A and B of other types are other fragments, as their bits mean other numbers; an accumulator is looked for as a D. */
static bool same_fragment(const finder *f, const struct fragment *x, uint32_t insn, uint32_t operand, uint32_t role)
{
    const ptx_insn *a = &f->s->function->insns[x->insn], *b = &f->s->function->insns[insn];
    if (x->operand != role || count_of(f, x->insn, x->operand) != count_of(f, insn, operand))
        return false;
    if (role != OPERAND_D && (a->form != b->form || memcmp(&a->tuple, &b->tuple, sizeof a->tuple) != 0))
        return false;
    for (uint32_t i = 0; i < count_of(f, insn, operand); i++)
        if (element(f, x->insn, x->operand, i) != element(f, insn, operand, i))
            return false;
    return true;
}

static uint32_t hash_fragment(const finder *f, uint32_t insn, uint32_t operand, uint32_t role)
{
    uint64_t h = 0xcbf29ce484222325u ^ role;
    for (uint32_t i = 0; i < count_of(f, insn, operand); i++)
        h = (h ^ element(f, insn, operand, i)) * 0x100000001b3u, h ^= h >> 29;
    return (uint32_t)(h ^ h >> 32);
}

/* The fragment of these values in this role, made when there is none and `owner` is an mma; else PTI_NONE. */
static uint32_t find_fragment(finder *f, uint32_t insn, uint32_t operand, uint32_t role, uint32_t owner)
{
    uint32_t h = hash_fragment(f, insn, operand, role), slot = h & f->mask;
    for (; f->slots[slot]; slot = (slot + 1) & f->mask) {
        uint32_t i = f->slots[slot] - 1;
        if (f->fragments[i].hash == h && same_fragment(f, &f->fragments[i], insn, operand, role))
            return i;
    }
    if (owner == PTI_NONE)
        return PTI_NONE;
    f->fragments[f->nfragments] = (struct fragment){insn, operand, owner, h};
    f->slots[slot] = f->nfragments + 1;
    return f->nfragments++;
}

/* The number of a fragment within phase p, from 0. */
static uint32_t number_in(finder *f, uint32_t p, uint32_t fragment, uint32_t *count)
{
    if (f->stamp[fragment] != p + 1) {
        f->stamp[fragment] = p + 1;
        f->local[fragment] = (*count)++;
    }
    return f->local[fragment];
}

/* ------------------------------------------------------------ union-find */

static uint32_t root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* The smaller number stays the root, so that classes keep the order of the text. */
static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root(parent, a), b = root(parent, b);
    parent[a > b ? a : b] = a < b ? a : b;
}

/* ------------------------------------------------------------ one phase */

/* "m16n8k32" among the words of the opcode. */
static void shape_of(const ptx_insn *insn, pti_mma *out)
{
    for (uint32_t g = 0; g < insn->form->ngroups; g++) {
        const isa_group *group = &insn->form->groups[g];
        uint32_t choice = insn->tuple.choice[g];
        const char *word = choice ? group->choices[choice - 1] : "";
        char *end;
        if (word[0] != 'm' || word[1] < '0' || word[1] > '9')
            continue;
        out->m = (uint32_t)strtoul(word + 1, &end, 10);
        out->n = *end == 'n' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
        out->k = *end == 'k' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
    }
}

/* Chains: an mma whose accumulator is the newest D of a tile is the next step of that tile. */
static void find_tiles(finder *f, pti_phase *phase, uint32_t p, uint32_t base)
{
    for (uint32_t i = 0; i < phase->nmma; i++) {
        pti_mma *x = &phase->mma[i];
        uint32_t fragment = find_fragment(f, x->insn, OPERAND_C, OPERAND_D, PTI_NONE);
        uint32_t before = fragment == PTI_NONE ? PTI_NONE : f->fragments[fragment].owner - base;
        bool goes_on = fragment != PTI_NONE && f->fragments[fragment].owner >= base && before < i;
        goes_on = goes_on && f->scratch[phase->mma[before].tile] == before;      /* no other mma has gone on from there */
        x->tile = goes_on ? phase->mma[before].tile : phase->ntiles++;
        x->step = goes_on ? phase->mma[before].step + 1 : 0;
        f->scratch[x->tile] = i;
        find_fragment(f, x->insn, OPERAND_D, OPERAND_D, base + i);
        x->a = number_in(f, p, find_fragment(f, x->insn, OPERAND_A, OPERAND_A, base + i), &phase->na);
        x->b = number_in(f, p, find_fragment(f, x->insn, OPERAND_B, OPERAND_B, base + i), &phase->nb);
    }
}

/* Unites what shares a fragment: `last` holds the newest mma of each fragment of one role. */
static void unite_by(finder *f, const pti_phase *phase, uint32_t *last, uint32_t count, bool a)
{
    memset(last, 0xff, count * sizeof *last);
    for (uint32_t i = 0; i < phase->nmma; i++) {
        const pti_mma *x = &phase->mma[i];
        uint32_t *before = &last[a ? x->a : x->b];
        if (*before != PTI_NONE) {
            uint32_t other = phase->mma[*before].tile;
            unite(f->parent[a ? BY_ROW : BY_COLUMN], x->tile, other);
            unite(f->parent[BY_PRODUCT], x->tile, other);
            unite(f->parent[BY_SLICE], i, *before);
        }
        *before = i;
    }
}

/* Numbers the classes that mma fall into within their product; `number` is by root, `count` by product. */
static uint32_t class_of(uint32_t *number, uint32_t class, uint32_t *count)
{
    if (number[class] == PTI_NONE)
        number[class] = (*count)++;
    return number[class];
}

static void number_classes(finder *f, pti_phase *phase)
{
    uint32_t *const *number = f->number;
    for (int i = 0; i < 4; i++)
        memset(number[i], 0xff, phase->nmma * sizeof **number);
    for (uint32_t i = 0; i < phase->nmma; i++) {
        pti_mma *x = &phase->mma[i];
        x->product = class_of(number[BY_PRODUCT], root(f->parent[BY_PRODUCT], x->tile), &phase->nproducts);
        pti_product *q = &phase->products[x->product];
        if (q->count++ == 0)
            q->first = i;
        q->tiles += x->step == 0;
        x->row = class_of(number[BY_ROW], root(f->parent[BY_ROW], x->tile), &q->rows);
        x->column = class_of(number[BY_COLUMN], root(f->parent[BY_COLUMN], x->tile), &q->columns);
        x->slice = class_of(number[BY_SLICE], root(f->parent[BY_SLICE], i), &q->slices);
    }
}

/* A chain that uses one fragment twice has more steps than there are slices: its steps count then. */
static void measure_products(pti_phase *phase, uint32_t *steps)
{
    memset(steps, 0, phase->nmma * sizeof *steps);
    for (uint32_t i = 0; i < phase->nmma; i++)
        steps[phase->mma[i].tile]++;
    for (uint32_t i = 0; i < phase->nmma; i++) {
        pti_product *q = &phase->products[phase->mma[i].product];
        if (steps[phase->mma[i].tile] > q->slices)
            q->slices = steps[phase->mma[i].tile];
    }
    for (uint32_t i = 0; i < phase->nproducts; i++) {
        pti_product *q = &phase->products[i];
        const pti_mma *x = &phase->mma[q->first];
        q->M = q->rows * x->m, q->N = q->columns * x->n, q->K = q->slices * x->k;
        q->full = (uint64_t)q->rows * q->columns == q->tiles && (uint64_t)q->tiles * q->slices == q->count;
    }
}

static void sum_up(const finder *f, pti_phase *phase)
{
    const ptx_insn *first = &f->s->function->insns[phase->mma[0].insn];
    phase->M = phase->products[0].M, phase->N = phase->products[0].N, phase->K = phase->products[0].K;
    phase->full = true;
    for (uint32_t i = 0; i < phase->nproducts; i++) {
        const pti_product *q = &phase->products[i];
        phase->full = phase->full && q->full;
        if (q->M != phase->M || q->N != phase->N || q->K != phase->K)
            phase->M = phase->N = phase->K = 0;
    }
    for (uint32_t i = 1; i < phase->nmma; i++) {
        const ptx_insn *x = &f->s->function->insns[phase->mma[i].insn];
        phase->mixed = phase->mixed || x->form != first->form || memcmp(&x->tuple, &first->tuple, sizeof x->tuple) != 0;
    }
}

/* The mma of a phase are in its list, the first of them is number `base` of the function; `id` is this measurement's own. */
static void measure(finder *f, pti_phase *phase, uint32_t id, uint32_t base)
{
    find_tiles(f, phase, id, base);
    for (int i = 0; i < 4; i++)
        for (uint32_t j = 0; j < phase->nmma; j++)
            f->parent[i][j] = j;
    unite_by(f, phase, f->scratch, phase->na, true);
    unite_by(f, phase, f->scratch, phase->nb, false);
    number_classes(f, phase);
    measure_products(phase, f->scratch);
    sum_up(f, phase);
}

static void measure_phase(finder *f, uint32_t p, uint32_t base)
{
    pti_phase *phase = &f->out->list[p];
    uint32_t n = 0;
    phase->mma = f->mma + base;
    phase->products = f->products + base;
    for (uint32_t i = phase->first; i <= phase->last; i++)
        for (uint32_t j = 0; j < f->s->list[i].ninsns; j++) {
            uint32_t insn = f->s->list[i].first_insn + j;
            f->out->of_insn[insn] = p;
            phase->mma[n].insn = insn;
            shape_of(&f->s->function->insns[insn], &phase->mma[n++]);
        }
    measure(f, phase, p, base);
}

/* ------------------------------------------------------------ phases that go on from others */

static uint32_t phase_of_mma(const finder *f, uint32_t owner)
{
    return f->out->of_insn[f->fragments[owner].insn];
}

/* The phase whose D the first accumulator of a tile is, PTI_NONE for none. */
static uint32_t phase_before(finder *f, const pti_mma *x)
{
    uint32_t fragment = find_fragment(f, x->insn, OPERAND_C, OPERAND_D, PTI_NONE);
    return fragment == PTI_NONE ? PTI_NONE : phase_of_mma(f, fragment);
}

/* A phase at or behind p whose D reaches the accumulator of x, which is then a phi of a loop. */
static uint32_t phase_around(const finder *f, uint32_t p, const pti_mma *x)
{
    const ptx_operand *c = &f->s->function->insns[x->insn].operands[OPERAND_C];
    uint32_t list[64], n = 0;
    if (c->values[0].kind == PTX_VALUE_REG)
        list[n++] = pti_origin(f->flow, pti_value_read(f->flow, x->insn, c->values[0].reg));
    for (uint32_t i = 0; i < n && list[i] != PTI_NONE; i++) {
        const pti_value *v = &f->flow->values[list[i]];
        uint32_t from = v->kind == PTI_VALUE_INSN ? f->out->of_insn[v->at] : PTI_NONE;
        if (i && from != PTI_NONE && from >= p)
            return from;
        for (uint32_t j = 0; v->kind == PTI_VALUE_PHI && j < v->noperands && n < 64; j++) {
            uint32_t next = pti_origin(f->flow, v->operands[j]), k = 0;
            while (k < n && list[k] != next)
                k++;
            if (k == n && next != PTI_NONE)
                list[n++] = next;
        }
    }
    return PTI_NONE;
}

static void find_predecessors(finder *f, uint32_t p)
{
    pti_phase *phase = &f->out->list[p];
    bool any = false, all = true;
    phase->continues = phase->loop_from = PTI_NONE;
    for (uint32_t i = 0; i < phase->nmma; i++) {
        const pti_mma *x = &phase->mma[i];
        if (x->step)
            continue;
        uint32_t before = phase_before(f, x);
        if (!any)
            phase->continues = before;
        all = all && before == phase->continues;
        any = true;
        if (phase->loop_from == PTI_NONE)
            phase->loop_from = phase_around(f, p, x);
    }
    if (!all || phase->continues == PTI_NONE || phase->continues >= p)
        phase->continues = PTI_NONE;
    else if (f->out->list[phase->continues].ntiles != phase->ntiles)
        phase->continues = PTI_NONE;
}

static void find_groups(pti_phases *out)
{
    for (uint32_t p = 0; p < out->count; p++) {
        pti_phase *phase = &out->list[p];
        if (phase->continues == PTI_NONE) {
            phase->group = out->ngroups++;
            out->groups[phase->group] = (pti_group){.first = p, .last = p, .M = phase->M, .N = phase->N};
        } else {
            phase->group = out->list[phase->continues].group;
        }
        pti_group *g = &out->groups[phase->group];
        phase->next = PTI_NONE;
        if (g->last != p)
            out->list[g->last].next = p;
        g->last = p;
        g->count++;
        g->K += phase->K;
        g->loops = g->loops || (phase->loop_from != PTI_NONE && out->list[phase->loop_from].group <= phase->group);
        if (g->M != phase->M || g->N != phase->N)
            g->M = g->N = 0;
    }
    for (uint32_t p = 0; p < out->count; p++) {      /* the loop may come from a phase that has no group yet above */
        pti_phase *phase = &out->list[p];
        pti_group *g = &out->groups[phase->group];
        g->loops = g->loops || (phase->loop_from != PTI_NONE && out->list[phase->loop_from].group == phase->group);
        if (!g->M)
            g->K = 0;
    }
}

/* ------------------------------------------------------------ products of a whole block */

/* Is it what one group makes, and nothing else? */
static bool is_group(const pti_phases *out, const pti_join *j)
{
    const pti_group *g = &out->groups[out->list[j->phases[0]].group];
    bool same = g->count == j->nphases && g->M == j->M && g->N == j->N && g->K == j->K;
    for (uint32_t i = 0; same && i < j->nphases; i++)
        same = out->list[j->phases[i]].group == out->list[j->phases[0]].group;
    return same;
}

/* Products of the list `all`, which stands for the phases of a block, that several phases take part in. */
static bool keep_joins(finder *f, const pti_phase *all)
{
    pti_phases *out = f->out;
    for (uint32_t q = 0; q < all->nproducts; q++) {
        const pti_product *product = &all->products[q];
        pti_join *j = &out->joins[out->njoins];
        uint32_t last = PTI_NONE, left = product->count, i = product->first;
        *j = (pti_join){.nmma = product->count, .M = product->M, .N = product->N, .K = product->K, .full = product->full};
        if (!(j->phases = ptx_arena_alloc(&out->arena, product->count * sizeof *j->phases, sizeof *j->phases)))
            return false;
        for (; left; i = f->next[i], left--) {
            uint32_t phase = out->of_insn[all->mma[i].insn];
            if (phase == last)
                continue;
            j->phases[j->nphases++] = last = phase;
            j->loops = j->loops || out->groups[out->list[phase].group].loops;
        }
        out->njoins += j->nphases > 1 && !is_group(out, j);
    }
    return true;
}

/* f->next: the next mma of the same product. */
static void link_products(finder *f, const pti_phase *all)
{
    for (uint32_t i = 0; i < all->nproducts; i++)
        f->scratch[i] = PTI_NONE;
    for (uint32_t i = all->nmma; i-- > 0;) {
        f->next[i] = f->scratch[all->mma[i].product];
        f->scratch[all->mma[i].product] = i;
    }
}

static bool find_joins(finder *f)
{
    pti_phases *out = f->out;
    for (uint32_t p = 0, base = 0, end; p < out->count; p = end) {
        pti_phase all = {.mma = f->joint, .products = f->joint_products};
        uint32_t block = f->flow->block_of[out->list[p].mma[0].insn];
        for (end = p; end < out->count && f->flow->block_of[out->list[end].mma[0].insn] == block; end++)
            all.nmma += out->list[end].nmma;
        if (end - p > 1) {
            memcpy(all.mma, f->mma + base, all.nmma * sizeof *all.mma);
            memset(all.products, 0, all.nmma * sizeof *all.products);
            measure(f, &all, out->count + p, base);
            link_products(f, &all);
            if (!keep_joins(f, &all))
                return false;
        }
        base += all.nmma;
    }
    return true;
}

/* ------------------------------------------------------------ the function */

static bool find_runs(finder *f)
{
    const pti_statements *s = f->s;
    for (int counting = 1; counting >= 0; counting--) {
        uint32_t n = 0, end = 0;
        for (uint32_t i = 0; i < s->count; i = end + 1) {
            uint32_t nmma = 0;
            for (end = i; end < s->count && is_mma_statement(s, end); end++)
                nmma += s->list[end].ninsns;
            if (end == i)
                continue;
            if (!counting)
                f->out->list[n] = (pti_phase){.first = i, .last = end - 1, .nmma = nmma};
            else
                f->nmma += nmma;
            n++;
        }
        f->out->count = n;
        if (counting && !(f->out->list = pti_take(&f->out->arena, n, sizeof *f->out->list)))
            return false;
    }
    return true;
}

static bool take_tables(finder *f)
{
    ptx_arena *arena = &f->out->arena;
    uint32_t slots = 64;
    while (slots < 8 * (uint64_t)f->nmma && slots < (uint32_t)1 << 31)
        slots *= 2;
    f->mask = slots - 1;
    f->slots = pti_take(arena, slots, sizeof *f->slots);
    f->fragments = pti_take(arena, 3 * (size_t)f->nmma, sizeof *f->fragments);
    f->local = pti_take(arena, 3 * (size_t)f->nmma, sizeof *f->local);
    f->stamp = pti_take(arena, 3 * (size_t)f->nmma, sizeof *f->stamp);
    f->out->groups = pti_take(arena, f->out->count, sizeof *f->out->groups);
    f->out->of_insn = pti_take(arena, f->s->function->ninsns, sizeof *f->out->of_insn);
    bool ok = f->slots && f->fragments && f->local && f->stamp && f->out->groups && f->out->of_insn;
    for (int i = 0; i < 4; i++) {
        ok = (f->parent[i] = pti_take(arena, f->nmma, sizeof **f->parent)) && ok;
        ok = (f->number[i] = pti_take(arena, f->nmma, sizeof **f->number)) && ok;
    }
    ok = (f->mma = pti_take(arena, f->nmma, sizeof *f->mma)) && ok;
    ok = (f->products = pti_take(arena, f->nmma, sizeof *f->products)) && ok;
    ok = (f->scratch = pti_take(arena, f->nmma, sizeof *f->scratch)) && ok;
    ok = (f->joint = pti_take(arena, f->nmma, sizeof *f->joint)) && ok;
    ok = (f->joint_products = pti_take(arena, f->nmma, sizeof *f->joint_products)) && ok;
    ok = (f->next = pti_take(arena, f->nmma, sizeof *f->next)) && ok;
    ok = (f->out->joins = pti_take(arena, f->nmma, sizeof *f->out->joins)) && ok;
    if (ok)
        memset(f->out->of_insn, 0xff, f->s->function->ninsns * sizeof *f->out->of_insn);
    return ok;
}

bool pti_find_phases(const pti_statements *s, const pti_flow *flow, pti_phases *out)
{
    *out = (pti_phases){0};
    ptx_arena_init(&out->arena, SIZE_MAX);
    finder f = {.s = s, .flow = flow, .out = out};
    if (!find_runs(&f) || !take_tables(&f))
        return false;
    uint32_t base = 0;
    for (uint32_t p = 0; p < out->count; p++) {
        measure_phase(&f, p, base);
        base += out->list[p].nmma;
    }
    for (uint32_t p = 0; p < out->count; p++)
        find_predecessors(&f, p);
    find_groups(out);
    return find_joins(&f);
}

void pti_free_phases(pti_phases *p)
{
    ptx_arena_free(&p->arena);
    *p = (pti_phases){0};
}

uint32_t pti_phases_before(const pti_phases *p, uint32_t statement)
{
    uint32_t low = 0, high = p->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->list[middle].last < statement)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void pti_epilogue_range(const pti_phases *p, const pti_statements *s, uint32_t e, uint32_t *first, uint32_t *end)
{
    *first = e ? p->list[e - 1].last + 1 : 0;
    *end = e < p->count ? p->list[e].first : s->count;
}
