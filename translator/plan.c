/* plan.c - which functions need a dispatcher.
 *
 * The lanes of an AMD wavefront have one program counter: of a branch that divides them one side runs to where both meet,
 * then the other. NVIDIA's lanes have one each (since Volta), and PTX promises what follows: a lane that spins lets the one run
 * that it waits for; lanes that execute one collective from different places meet; warps that stand at different
 * barrier instructions pass together. Few functions depend on it, and what lets them (dispatch.c) is slow, so they are sought here:
 *
 *  1. a barrier in divided control flow. Where a warp is a wavefront, only `barrier` without .aligned may be divided inside one; where
 *     a wavefront holds two warps, any may, and a barrier with a count must let one of the two warps wait;
 *  2. a loop, or a way round inside one, that ends when a volatile, ordered or atomic access or an mbarrier says so: another lane may
 *     have to make it so;
 *  3. a collective whose mask is computed (and not only moved to a register), in a loop that lanes leave one by one;
 *  4. two collectives with one meaning and one constant mask, at which lanes stand that a branch divided: in its two arms, or one in a
 *     loop that lanes leave one by one and one behind it. They "wait until all non-exited threads corresponding to membermask have
 *     executed [it] with the same qualifiers and same membermask value" (PTX ISA, "shfl.sync"), wherever.
 *
 * Control flow is divided by branches whose guard differs between lanes: a register does that depends on the thread's number, on
 * memory at an address that differs, on another lane, or is written in divided control flow. A branch that leads only to the end of the
 * thread does not count, for lanes that have ended wait for nothing.
 */
#include <string.h>
#include "ptx/trace.h"
#include "translator/plan.h"

enum { MOST_BLOCKS = 4096, MOST_READ = 128 };

static const char *choice(const ptx_insn *insn, const char *group) { return isa_choice(insn->form, &insn->tuple, group); }
static bool is(const ptx_insn *insn, const char *operation) { return insn->operation && !strcmp(insn->operation, operation); }

bool xl_is_cluster_barrier(const ptx_insn *insn) { return is(insn, "barrier_cluster"); }
bool xl_is_barrier(const ptx_insn *insn) { return is(insn, "bar") || xl_is_cluster_barrier(insn); }

static bool has_count(const ptx_insn *insn)
{
    uint32_t sources = 0;
    for (uint32_t i = 0; i < insn->noperands; i++) sources += insn->operands[i].kind == ISA_OPERAND_SRC && insn->operands[i].nvalues;
    return sources > 1;
}

bool xl_is_counted_barrier(const ptx_insn *insn) { return is(insn, "bar") && (has_count(insn) || !strcmp(choice(insn, "op"), "arrive")); }

bool xl_is_collective(const ptx_insn *insn)
{
    if (!insn->form) return false;
    if (insn->meaning) {
        bool warp = !strcmp(insn->form->family, "warp") && strstr(insn->form->pattern, ".sync");
        return warp || !strcmp(insn->form->family, "mma");
    }
    return is(insn, "bar_warp") || is(insn, "ldmatrix") || is(insn, "stmatrix") || is(insn, "wmma_load") || is(insn, "wmma_store");
}

static bool may_divide_a_wave(const xl_emitter *x, const ptx_insn *insn)
{
    if (x->wave == 64) return true;
    return insn->form && !strncmp(insn->form->pattern, "barrier", 7) && !choice(insn, "aligned");
}

/* Memory that others write while this thread looks. */
static bool watches(const ptx_insn *insn)
{
    if (is(insn, "atom")) return true;
    if (is(insn, "mbarrier")) return !strcmp(choice(insn, "op"), "test_wait") || !strcmp(choice(insn, "op"), "try_wait");
    if (!is(insn, "ld")) return false;
    const char *sem = choice(insn, "sem"), *cop = choice(insn, "cop");
    return (sem && strcmp(sem, "weak")) || (cop && !strcmp(cop, "cv"));
}

/* ------------------------------------------------------------ blocks */

typedef struct block { uint32_t first, end, nsuccessors; uint32_t *successors; bool ends_thread, conditional; } block;

typedef struct analysis {
    xl_emitter *x;
    const ptx_function *f;
    uint32_t nblocks;
    block *blocks;
    uint32_t *block_of;        /* by instruction; one more for the end */
    uint8_t *pure;             /* leads to the end of the thread without a barrier or collective */
    uint64_t *after;           /* bit sets: blocks that every way from a block to the end passes */
    uint8_t *divided;          /* blocks in divided control flow */
    uint8_t *differs;          /* registers */
    uint32_t *component;       /* number of the strongly connected component; UINT32_MAX: none, the block is in no loop */
    uint32_t ncomponents;
    const ptx_insn **writer;   /* by register: the only instruction that writes it, or NULL */
} analysis;

static bool ends_block(const ptx_insn *insn)
{
    return is(insn, "bra") || is(insn, "brx") || is(insn, "ret") || is(insn, "exit") || is(insn, "trap");
}

static void mark_targets(const ptx_insn *insn, uint8_t *leader)
{
    for (uint32_t k = 0; k < insn->noperands; k++) {
        const ptx_operand *o = &insn->operands[k];
        const ptx_label_list *list = o->kind == ISA_OPERAND_LIST && is(insn, "brx") ? o->list : NULL;
        if (o->kind == ISA_OPERAND_LABEL) leader[o->label] = 1;
        for (uint32_t i = 0; list && i < list->count; i++) leader[list->targets[i]] = 1;
    }
}

static void add_successor(analysis *a, block *b, uint32_t insn)
{
    if (insn >= a->f->ninsns) return;
    uint32_t to = a->block_of[insn];
    for (uint32_t i = 0; i < b->nsuccessors; i++)
        if (b->successors[i] == to) return;
    b->successors[b->nsuccessors++] = to;
}

static void find_successors(analysis *a, block *b)
{
    const ptx_insn *last = &a->f->insns[b->end - 1];
    bool through = !ends_block(last) || last->guarded;
    uint32_t most = 2;
    for (uint32_t k = 0; k < last->noperands; k++)
        if (last->operands[k].kind == ISA_OPERAND_LIST && is(last, "brx")) most += ((const ptx_label_list *)last->operands[k].list)->count;
    b->successors = xl_alloc(a->x, most * sizeof *b->successors);
    if (through) add_successor(a, b, b->end);
    for (uint32_t k = 0; k < last->noperands && ends_block(last); k++) {
        const ptx_operand *o = &last->operands[k];
        const ptx_label_list *list = o->kind == ISA_OPERAND_LIST && is(last, "brx") ? o->list : NULL;
        if (o->kind == ISA_OPERAND_LABEL) add_successor(a, b, o->label);
        for (uint32_t i = 0; list && i < list->count; i++) add_successor(a, b, list->targets[i]);
    }
    b->conditional = b->nsuccessors > 1;
}

/* False when the function is too large to look into. */
static bool find_blocks(analysis *a)
{
    uint32_t n = a->f->ninsns;
    uint8_t *leader = xl_alloc(a->x, n + 1u);
    leader[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        mark_targets(&a->f->insns[i], leader);
        if (ends_block(&a->f->insns[i])) leader[i + 1] = 1;
    }
    for (uint32_t i = 0; i < n; i++) a->nblocks += leader[i];
    if (a->nblocks > MOST_BLOCKS) return false;
    a->blocks = xl_alloc(a->x, a->nblocks * sizeof *a->blocks);
    a->block_of = xl_alloc(a->x, (n + 1u) * sizeof *a->block_of);
    for (uint32_t i = 0, b = UINT32_MAX; i < n; i++) {
        if (leader[i]) a->blocks[++b].first = i;
        a->blocks[b].end = i + 1;
        a->block_of[i] = b;
    }
    for (uint32_t b = 0; b < a->nblocks; b++) find_successors(a, &a->blocks[b]);
    return true;
}

static void find_writers(analysis *a)
{
    uint32_t registers[ISA_MAX_ELEMS];
    uint8_t *seen = xl_alloc(a->x, a->f->nregisters + 1u);
    a->writer = xl_alloc(a->x, (a->f->nregisters + 1u) * sizeof *a->writer);
    for (uint32_t i = 0; i < a->f->ninsns; i++) {
        const ptx_insn *insn = &a->f->insns[i];
        uint32_t n = ptx_written(insn, registers);
        for (uint32_t k = 0; k < n; k++) {
            a->writer[registers[k]] = seen[registers[k]] ? NULL : insn;
            seen[registers[k]] = 1;
        }
        for (uint32_t k = 0; k < insn->nreturns; k++)
            if (insn->returns[k].kind == PTX_VALUE_REG) {
                a->writer[insn->returns[k].reg] = NULL;
                seen[insn->returns[k].reg] = 1;
            }
    }
}

static bool waits(const ptx_insn *insn) { return xl_is_barrier(insn) || xl_is_collective(insn); }

static void find_pure(analysis *a)
{
    a->pure = xl_alloc(a->x, a->nblocks);
    for (uint32_t b = 0; b < a->nblocks; b++) {
        a->pure[b] = 1;
        for (uint32_t i = a->blocks[b].first; i < a->blocks[b].end; i++)
            if (waits(&a->f->insns[i])) a->pure[b] = 0;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = a->nblocks; b-- > 0;)
            for (uint32_t k = 0; a->pure[b] && k < a->blocks[b].nsuccessors; k++)
                if (!a->pure[a->blocks[b].successors[k]]) {
                    a->pure[b] = 0;
                    changed = true;
                }
    }
}

/* Does the way from a block that is not pure to this successor count? */
static bool counts(const analysis *a, uint32_t from, uint32_t to) { return a->pure[from] || !a->pure[to]; }

static void find_after(analysis *a)
{
    uint32_t words = (a->nblocks + 63) / 64;
    a->after = xl_alloc(a->x, (size_t)a->nblocks * words * 8);
    memset(a->after, 0xff, (size_t)a->nblocks * words * 8);
    uint64_t *set = xl_alloc(a->x, words * sizeof *set);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = a->nblocks; b-- > 0;) {
            bool any = false;
            memset(set, 0xff, words * sizeof *set);
            for (uint32_t k = 0; k < a->blocks[b].nsuccessors; k++) {
                uint32_t to = a->blocks[b].successors[k];
                if (!counts(a, b, to)) continue;
                any = true;
                for (uint32_t w = 0; w < words; w++) set[w] &= a->after[(size_t)to * words + w];
            }
            if (!any) memset(set, 0, words * sizeof *set);
            set[b / 64] |= 1ull << b % 64;
            if (!memcmp(set, &a->after[(size_t)b * words], words * sizeof *set)) continue;
            memcpy(&a->after[(size_t)b * words], set, words * sizeof *set);
            changed = true;
        }
    }
}

static bool passes(const analysis *a, uint32_t from, uint32_t block)
{
    return a->after[(size_t)from * ((a->nblocks + 63) / 64) + block / 64] >> block % 64 & 1;
}

/* ------------------------------------------------------------ what differs between lanes */

static bool special_differs(ptx_special s)
{
    return s == PTX_SR_TID_X || s == PTX_SR_TID_Y || s == PTX_SR_TID_Z || s == PTX_SR_LANEID || s == PTX_SR_WARPID ||
           (s >= PTX_SR_LANEMASK_EQ && s <= PTX_SR_GLOBALTIMER_HI);
}

static bool source_differs(const analysis *a, const ptx_insn *insn)
{
    uint32_t registers[MOST_READ], n = ptx_read(insn, registers, MOST_READ);
    if (n >= MOST_READ) return true;
    for (uint32_t i = 0; i < n; i++)
        if (a->differs[registers[i]]) return true;
    for (uint32_t k = 0; k < insn->noperands; k++)
        for (uint32_t v = 0; v < insn->operands[k].nvalues; v++)
            if (insn->operands[k].values[v].kind == PTX_VALUE_SPECIAL && special_differs(insn->operands[k].values[v].special)) return true;
    return false;
}

static bool result_differs(const analysis *a, const ptx_insn *insn)
{
    if (watches(insn) || is(insn, "call") || is(insn, "alloca")) return true;
    if (insn->form && !strcmp(insn->form->family, "warp")) return true;
    if (xl_is_barrier(insn) && !xl_is_counted_barrier(insn)) return false;     /* a reduction over the block */
    if (is(insn, "ld") && choice(insn, "space") && !strcmp(choice(insn, "space"), "local")) return true;
    return source_differs(a, insn);
}

static bool mark_written(analysis *a, const ptx_insn *insn)
{
    uint32_t registers[ISA_MAX_ELEMS], n = ptx_written(insn, registers);
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        changed |= !a->differs[registers[i]];
        a->differs[registers[i]] = 1;
    }
    for (uint32_t i = 0; i < insn->nreturns; i++) {
        if (insn->returns[i].kind != PTX_VALUE_REG) continue;
        changed |= !a->differs[insn->returns[i].reg];
        a->differs[insn->returns[i].reg] = 1;
    }
    return changed;
}

/* Everything between a block that divides the lanes and where all of them pass again. */
static bool divide_from(analysis *a, uint32_t from, uint32_t *stack)
{
    uint32_t n = 0;
    bool changed = false;
    uint8_t *seen = xl_alloc(a->x, a->nblocks);
    for (uint32_t k = 0; k < a->blocks[from].nsuccessors; k++)
        if (counts(a, from, a->blocks[from].successors[k])) stack[n++] = a->blocks[from].successors[k];
    if (n < 2) return false;
    while (n) {
        uint32_t b = stack[--n];
        if (seen[b] || (b != from && passes(a, from, b))) continue;
        seen[b] = 1;
        changed |= !a->divided[b];
        a->divided[b] = 1;
        for (uint32_t k = 0; k < a->blocks[b].nsuccessors && b != from; k++)
            if (counts(a, b, a->blocks[b].successors[k]) && !seen[a->blocks[b].successors[k]]) stack[n++] = a->blocks[b].successors[k];
    }
    return changed;
}

static bool branch_differs(const analysis *a, uint32_t b)
{
    const ptx_insn *last = &a->f->insns[a->blocks[b].end - 1];
    return a->blocks[b].conditional && source_differs(a, last);
}

static void find_divided(analysis *a)
{
    uint32_t edges = 2;
    for (uint32_t b = 0; b < a->nblocks; b++) edges += a->blocks[b].nsuccessors;
    uint32_t *stack = xl_alloc(a->x, edges * sizeof *stack);
    uint8_t *done = xl_alloc(a->x, a->nblocks);
    a->divided = xl_alloc(a->x, a->nblocks);
    a->differs = xl_alloc(a->x, a->f->nregisters + 1u);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < a->nblocks; b++) {
            for (uint32_t i = a->blocks[b].first; i < a->blocks[b].end; i++)
                if (a->divided[b] || result_differs(a, &a->f->insns[i])) changed |= mark_written(a, &a->f->insns[i]);
            if (done[b] || !branch_differs(a, b)) continue;
            done[b] = 1;
            changed |= divide_from(a, b, stack);
        }
    }
}

/* ------------------------------------------------------------ loops */

typedef struct tarjan { uint32_t *number, *low, *stack, *work, *next; uint8_t *on; uint32_t count, n; } tarjan;

static void close_component(analysis *a, tarjan *t, uint32_t b)
{
    bool loop = t->stack[t->n - 1] != b;
    for (uint32_t k = 0; k < a->blocks[b].nsuccessors; k++) loop |= a->blocks[b].successors[k] == b;
    for (uint32_t top = UINT32_MAX; top != b;) {
        top = t->stack[--t->n];
        t->on[top] = 0;
        a->component[top] = loop ? a->ncomponents : UINT32_MAX;
    }
    a->ncomponents += loop;
}

/* Tarjan's algorithm with a stack of its own. */
static void visit(analysis *a, tarjan *t, uint32_t root)
{
    uint32_t depth = 0;
    t->work[depth++] = root;
    while (depth) {
        uint32_t b = t->work[depth - 1];
        if (!t->number[b]) {
            t->number[b] = t->low[b] = ++t->count;
            t->stack[t->n++] = b;
            t->on[b] = 1;
        }
        if (t->next[b] < a->blocks[b].nsuccessors) {
            uint32_t to = a->blocks[b].successors[t->next[b]++];
            if (!t->number[to]) t->work[depth++] = to;
            else if (t->on[to] && t->number[to] < t->low[b]) t->low[b] = t->number[to];
            continue;
        }
        if (t->low[b] == t->number[b]) close_component(a, t, b);
        if (--depth && t->low[b] < t->low[t->work[depth - 1]]) t->low[t->work[depth - 1]] = t->low[b];
    }
}

static void find_loops(analysis *a)
{
    size_t bytes = (a->nblocks + 1u) * sizeof(uint32_t);
    tarjan t = {.number = xl_alloc(a->x, bytes), .low = xl_alloc(a->x, bytes), .stack = xl_alloc(a->x, bytes), .work = xl_alloc(a->x, bytes),
                .next = xl_alloc(a->x, bytes), .on = xl_alloc(a->x, a->nblocks + 1u)};
    a->component = xl_alloc(a->x, bytes);
    for (uint32_t b = 0; b < a->nblocks; b++)
        if (!t.number[b]) visit(a, &t, b);
}

static bool leaves(const analysis *a, uint32_t b)
{
    for (uint32_t k = 0; k < a->blocks[b].nsuccessors; k++)
        if (a->component[a->blocks[b].successors[k]] != a->component[b]) return true;
    const ptx_insn *last = &a->f->insns[a->blocks[b].end - 1];
    return last->guarded && (is(last, "ret") || is(last, "exit"));
}

static bool reads_tainted(const ptx_insn *insn, const uint8_t *tainted)
{
    uint32_t registers[MOST_READ], n = ptx_read(insn, registers, MOST_READ);
    for (uint32_t i = 0; i < n && i < MOST_READ; i++)
        if (tainted[registers[i]]) return true;
    return false;
}

/* Registers that hold what watching instructions in these blocks read, or what is made of it there. */
static uint8_t *find_tainted(const analysis *a, const uint8_t *blocks)
{
    uint8_t *tainted = xl_alloc(a->x, a->f->nregisters + 1u);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < a->nblocks; b++) {
            if (!blocks[b]) continue;
            for (uint32_t i = a->blocks[b].first; i < a->blocks[b].end; i++) {
                const ptx_insn *insn = &a->f->insns[i];
                uint32_t registers[ISA_MAX_ELEMS], n = ptx_written(insn, registers);
                if (!watches(insn) && !reads_tainted(insn, tainted)) continue;
                for (uint32_t k = 0; k < n; k++) {
                    changed |= !tainted[registers[k]];
                    tainted[registers[k]] = 1;
                }
            }
        }
    }
    return tainted;
}

/* The blocks on ways from a block back to it that pass no block which all ways from it to the end pass. Lanes that do not take them wait
 * there, for those that do, however often. Two loops may share a head, so loops that are nested as a tree of heads would miss them. NULL: there
 * is no such way. */
static uint8_t *way_back(const analysis *a, uint32_t from)
{
    uint8_t *forth = xl_alloc(a->x, a->nblocks), *back = xl_alloc(a->x, a->nblocks);
    uint32_t *stack = xl_alloc(a->x, (a->nblocks + 1u) * sizeof *stack), n = 0;
    stack[n++] = from;
    while (n) {
        uint32_t b = stack[--n];
        for (uint32_t k = 0; k < a->blocks[b].nsuccessors; k++) {
            uint32_t to = a->blocks[b].successors[k];
            if (forth[to] || a->component[to] != a->component[from] || (to != from && passes(a, from, to))) continue;
            forth[to] = 1;
            if (to != from) stack[n++] = to;
        }
    }
    if (!forth[from]) return NULL;
    back[from] = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = a->nblocks; b-- > 0;)
            for (uint32_t k = 0; forth[b] && !back[b] && k < a->blocks[b].nsuccessors; k++)
                if (back[a->blocks[b].successors[k]]) back[b] = changed = true;
    }
    return back;
}

static bool ends_with_tainted(const analysis *a, uint32_t b, const uint8_t *tainted)
{
    return reads_tainted(&a->f->insns[a->blocks[b].end - 1], tainted);
}

/* Does the loop, or one inside it, end by what a watching instruction inside reads? */
static bool spins(const analysis *a, uint32_t component)
{
    uint8_t *blocks = xl_alloc(a->x, a->nblocks);
    for (uint32_t b = 0; b < a->nblocks; b++) blocks[b] = a->component[b] == component;
    const uint8_t *tainted = find_tainted(a, blocks);
    for (uint32_t b = 0; b < a->nblocks; b++) {
        if (!blocks[b] || !ends_with_tainted(a, b, tainted)) continue;
        if (leaves(a, b)) return true;
        const uint8_t *loop = a->blocks[b].conditional ? way_back(a, b) : NULL;
        if (loop && ends_with_tainted(a, b, find_tainted(a, loop))) return true;
    }
    return false;
}

/* The lanes that a collective names: its last source; NULL: those of the whole warp. */
static const ptx_value *mask_of(const ptx_insn *insn)
{
    if (!is(insn, "bar_warp") && (!xl_is_collective(insn) || strcmp(insn->form->family, "warp"))) return NULL;
    for (uint32_t k = insn->noperands; k-- > 0;)
        if (insn->operands[k].kind == ISA_OPERAND_SRC && insn->operands[k].nvalues) return &insn->operands[k].values[0];
    return NULL;
}

/* The immediate that a value is: itself, or what the only instruction that writes the register moves there. */
static const ptx_value *constant(const analysis *a, const ptx_value *value)
{
    if (!value || value->kind == PTX_VALUE_IMM) return value;
    const ptx_insn *writer = value->kind == PTX_VALUE_REG ? a->writer[value->reg] : NULL;
    if (!writer || writer->guarded || strcmp(writer->form->mnemonic, "mov") || writer->noperands != 2 || writer->operands[1].nvalues != 1) return NULL;
    return writer->operands[1].values[0].kind == PTX_VALUE_IMM ? &writer->operands[1].values[0] : NULL;
}

static bool has_computed_mask(const analysis *a, const ptx_insn *insn) { return mask_of(insn) && !constant(a, mask_of(insn)); }

/* Lanes leave one by one, and those that stay name each other. */
static bool thins_out(const analysis *a, uint32_t component)
{
    bool mask = false, exits = false;
    for (uint32_t b = 0; b < a->nblocks; b++) {
        if (a->component[b] != component) continue;
        for (uint32_t i = a->blocks[b].first; i < a->blocks[b].end; i++) mask |= has_computed_mask(a, &a->f->insns[i]);
        exits |= leaves(a, b) && branch_differs(a, b);
    }
    return mask && exits;
}

/* ------------------------------------------------------------ collectives that meet from two places */

static const ptx_value *constant_mask(const analysis *a, const ptx_insn *insn) { return constant(a, mask_of(insn)); }

/* Is there a pair of such collectives, one in the blocks of `first` alone and one in those of `second` alone? */
static bool meet(const analysis *a, const uint8_t *first, const uint8_t *second)
{
    for (uint32_t i = 0; i < a->f->ninsns; i++) {
        const ptx_value *mask = constant_mask(a, &a->f->insns[i]);
        if (!mask || !first[a->block_of[i]] || second[a->block_of[i]]) continue;
        for (uint32_t k = 0; k < a->f->ninsns; k++) {
            const ptx_value *other = constant_mask(a, &a->f->insns[k]);
            if (!other || !second[a->block_of[k]] || first[a->block_of[k]]) continue;
            if (a->f->insns[i].meaning == a->f->insns[k].meaning && mask->imm == other->imm) return true;
        }
    }
    return false;
}

/* Blocks that are reached from `b`, before all lanes that block `from` divided pass again; from UINT32_MAX: all. */
static uint8_t *reached(const analysis *a, uint32_t b, uint32_t from)
{
    uint8_t *seen = xl_alloc(a->x, a->nblocks);
    uint32_t *stack = xl_alloc(a->x, a->nblocks * sizeof *stack), n = 0;
    if (from == UINT32_MAX || b == from || !passes(a, from, b)) {
        seen[b] = 1;
        stack[n++] = b;
    }
    while (n) {
        uint32_t at = stack[--n];
        for (uint32_t k = 0; k < a->blocks[at].nsuccessors; k++) {
            uint32_t to = a->blocks[at].successors[k];
            if (seen[to] || !counts(a, at, to) || (from != UINT32_MAX && (to == from || passes(a, from, to)))) continue;
            seen[to] = 1;
            stack[n++] = to;
        }
    }
    return seen;
}

static bool meet_in_arms(const analysis *a, uint32_t b)
{
    const block *from = &a->blocks[b];
    for (uint32_t i = 0; i < from->nsuccessors; i++)
        for (uint32_t k = 0; k < from->nsuccessors; k++)
            if (i != k && meet(a, reached(a, from->successors[i], b), reached(a, from->successors[k], b))) return true;
    return false;
}

static bool meet_behind_loop(const analysis *a, uint32_t b)
{
    uint8_t *loop = xl_alloc(a->x, a->nblocks);
    for (uint32_t k = 0; k < a->nblocks; k++) loop[k] = a->component[k] == a->component[b];
    for (uint32_t k = 0; k < a->blocks[b].nsuccessors; k++) {
        uint32_t to = a->blocks[b].successors[k];
        if (!loop[to] && counts(a, b, to) && meet(a, loop, reached(a, to, UINT32_MAX))) return true;
    }
    return false;
}

static bool meets_from_two_places(const analysis *a)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->f->ninsns; i++) n += constant_mask(a, &a->f->insns[i]) != NULL;
    for (uint32_t b = 0; b < a->nblocks && n > 1; b++)
        if (branch_differs(a, b) && (meet_in_arms(a, b) || (a->component[b] != UINT32_MAX && leaves(a, b) && meet_behind_loop(a, b)))) return true;
    return false;
}

/* ------------------------------------------------------------ the plan */

static bool concerns(const xl_emitter *x, const ptx_function *f)
{
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const ptx_insn *insn = &f->insns[i];
        if (xl_is_barrier(insn) && may_divide_a_wave(x, insn)) return true;
        if (watches(insn) || mask_of(insn)) return true;
    }
    return false;
}

static bool barrier_needs_it(const analysis *a)
{
    for (uint32_t i = 0; i < a->f->ninsns; i++) {
        const ptx_insn *insn = &a->f->insns[i];
        if (!xl_is_barrier(insn) || !may_divide_a_wave(a->x, insn)) continue;
        if (a->divided[a->block_of[i]] || (insn->guarded && source_differs(a, insn))) return true;
        if (a->x->wave == 64 && xl_is_counted_barrier(insn)) return true;
    }
    return false;
}

/* Branches back in loops in which lanes wait for each other: every way around such a loop passes the dispatcher. Says whether there are
 * more of them than before. */
static bool mark_hops(analysis *a, const uint8_t *spinning, xl_plan *plan)
{
    bool more = false;
    uint8_t *wanted = xl_alloc(a->x, a->ncomponents + 1u);
    memcpy(wanted, spinning, a->ncomponents);
    for (uint32_t i = 0; i < a->f->ninsns; i++)
        if (waits(&a->f->insns[i]) && !plan->together[i] && a->component[a->block_of[i]] != UINT32_MAX) wanted[a->component[a->block_of[i]]] = 1;
    for (uint32_t b = 0; b < a->nblocks; b++) {
        if (a->component[b] == UINT32_MAX || !wanted[a->component[b]]) continue;
        for (uint32_t k = 0; k < a->blocks[b].nsuccessors; k++) {
            uint8_t *hops = &plan->hops[a->blocks[b].end - 1];
            if (a->blocks[b].successors[k] > b) continue;
            more |= !*hops;
            *hops = 1;
        }
    }
    return more;
}

/* ------------------------------------------------------------ where lanes are together
 *
 * Most of a function with a dispatcher needs none: from the entry to the first place where a lane may have to wait for another, and
 * again from each place where all lanes of the warp have waited for each other, control flow divides the lanes and joins them as it does in
 * functions without one. Such stretches are found by data flow over the blocks: a lane that went to the dispatcher may be late until all
 * have met. A barrier or collective that stands in undivided control flow, on such a stretch, finds all lanes of its warp there.
 */

/* In undivided control flow and without a guard: all lanes of the warp come to it, the same number of times. */
static bool is_for_all(const analysis *a, uint32_t i) { return !a->divided[a->block_of[i]] && !a->f->insns[i].guarded; }

/* Where a barrier is the hardware's, lanes meet before it. */
static bool has_plain_barriers(const analysis *a)
{
    if (a->x->wave != 32 || a->x->several_barriers) return false;
    for (uint32_t i = 0; i < a->f->ninsns; i++) {
        const ptx_insn *insn = &a->f->insns[i];
        if (xl_is_barrier(insn) && (xl_is_cluster_barrier(insn) || xl_is_counted_barrier(insn) || !is_for_all(a, i))) return false;
    }
    return true;
}

/* Lanes at different instructions meet where meaning and mask are the same: is there such a one that not all lanes come to? */
static bool meets_some(const analysis *a, uint32_t at, const ptx_value *mask)
{
    for (uint32_t i = 0; i < a->f->ninsns; i++) {
        const ptx_insn *insn = &a->f->insns[i];
        if (is_for_all(a, i) || !mask_of(insn) || insn->meaning != a->f->insns[at].meaning) continue;
        const ptx_value *other = constant(a, mask_of(insn));
        if (!other || other->imm == mask->imm) return true;
    }
    return false;
}

/* Behind it all lanes of the warp are together, wherever they came from. A barrier in LDS does not do that: a lane may see that it is
 * complete before the one that completed it looks. */
static bool gathers(const analysis *a, const xl_plan *plan, uint32_t i)
{
    const ptx_insn *insn = &a->f->insns[i];
    if (!is_for_all(a, i)) return false;
    if (xl_is_barrier(insn)) return plan->plain_barriers;
    const ptx_value *mask = constant(a, mask_of(insn));
    if (mask_of(insn)) return mask && (uint32_t)mask->imm == UINT32_MAX && !meets_some(a, i, mask);
    return true;                                           /* .aligned: each has a meeting of its own */
}

/* Whether lanes that come together to a block leave it together; marks the instructions that find them so. */
static bool pass_block(const analysis *a, xl_plan *plan, const uint8_t *gather, uint32_t b, bool together)
{
    for (uint32_t i = a->blocks[b].first; i < a->blocks[b].end; i++) {
        const ptx_insn *insn = &a->f->insns[i];
        if (!waits(insn)) continue;
        plan->together[i] = together && is_for_all(a, i) && (!xl_is_barrier(insn) || plan->plain_barriers);
        together = plan->together[i] || gather[i];
    }
    return together && !plan->hops[a->blocks[b].end - 1];
}

/* The greatest solution: a block's lanes are together unless some way to it says otherwise. */
static void find_together(analysis *a, const uint8_t *gather, xl_plan *plan)
{
    uint8_t *apart = xl_alloc(a->x, a->nblocks);           /* at the start of a block */
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < a->nblocks; b++) {
            if (pass_block(a, plan, gather, b, !apart[b])) continue;
            for (uint32_t k = 0; k < a->blocks[b].nsuccessors; k++) {
                changed |= !apart[a->blocks[b].successors[k]];
                apart[a->blocks[b].successors[k]] = 1;
            }
        }
    }
}

/* What is together depends on the hops, and these on what is not; there are only more of them each time. */
static void plan_dispatch(analysis *a, const uint8_t *spinning, xl_plan *plan)
{
    uint8_t *gather = xl_alloc(a->x, a->f->ninsns + 1u);
    plan->plain_barriers = has_plain_barriers(a);
    for (uint32_t i = 0; i < a->f->ninsns; i++) gather[i] = waits(&a->f->insns[i]) && gathers(a, plan, i);
    do find_together(a, gather, plan);
    while (mark_hops(a, spinning, plan));
}

xl_plan xl_make_plan(xl_emitter *x, const ptx_function *f)
{
    analysis a = {.x = x, .f = f};
    xl_plan plan = {.hops = xl_alloc(x, f->ninsns + 1u), .together = xl_alloc(x, f->ninsns + 1u)};
    if (!f->is_entry || !f->ninsns || !concerns(x, f) || !find_blocks(&a)) return plan;
    find_writers(&a);
    find_pure(&a);
    find_after(&a);
    find_divided(&a);
    find_loops(&a);
    uint8_t *spinning = xl_alloc(x, a.ncomponents + 1u);
    plan.dispatch = barrier_needs_it(&a) || meets_from_two_places(&a);
    for (uint32_t c = 0; c < a.ncomponents; c++) {
        spinning[c] = spins(&a, c);
        if (spinning[c] || thins_out(&a, c)) plan.dispatch = true;
    }
    if (plan.dispatch) plan_dispatch(&a, spinning, &plan);
    return plan;
}
