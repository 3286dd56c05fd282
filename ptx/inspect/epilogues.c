/* epilogues.c - ranges, histograms and shapes of what stands between phases. */
#include "ptx/inspect/epilogues.h"

#include <stdlib.h>
#include <string.h>
#include "ptx/inspect/flow_internal.h"

static int by_count(const void *a, const void *b)
{
    const pti_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->opcode > y->opcode) - (x->opcode < y->opcode);
}

static int by_opcode(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t insns_of(const pti_statements *s, uint32_t first, uint32_t end, uint32_t *first_insn)
{
    *first_insn = first < s->count ? s->list[first].first_insn : s->function->ninsns;
    return (end < s->count ? s->list[end].first_insn : s->function->ninsns) - *first_insn;
}

bool pti_count_opcodes(const pti_statements *s, const pti_opcodes *opcodes, uint32_t first, uint32_t end, ptx_arena *arena, pti_count **ops,
                       uint32_t *nops)
{
    uint32_t from, n = insns_of(s, first, end, &from), kinds = 0;
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    *nops = 0;
    if (!sorted)
        return false;
    memcpy(sorted, opcodes->of_insn + from, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_opcode);
    for (uint32_t i = 0; i < n; i++)
        kinds += i == 0 || sorted[i] != sorted[i - 1];
    *ops = ptx_arena_alloc(arena, (kinds + 1) * sizeof **ops, 8);
    for (uint32_t i = 0; *ops && i < n; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1])
            (*ops)[(*nops)++] = (pti_count){sorted[i], 0};
        (*ops)[*nops - 1].count++;
    }
    free(sorted);
    if (*ops)
        qsort(*ops, *nops, sizeof **ops, by_count);
    return *ops != NULL;
}

static uint64_t mix(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3u;
    return (h ^ 0xff) * 0x100000001b3u;
}

/* FNV-1a over the kinds of statements, guards and opcodes, so that it is the same for every build of the program. */
static uint64_t shape_of(const pti_statements *s, const pti_opcodes *opcodes, uint32_t first, uint32_t end)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t i = first; i < end; i++) {
        const pti_statement *t = &s->list[i];
        h = mix(h, t->kind == PTX_STATEMENT_LABEL ? "$label" : t->ninsns == 1 ? "" : "{}");
        for (uint32_t j = t->first_insn; j < t->first_insn + t->ninsns; j++) {
            h = mix(h, s->function->insns[j].guarded ? "@" : "");
            h = mix(h, opcodes->list[opcodes->of_insn[j]].text);
        }
    }
    return h;
}

static bool measure(const pti_statements *s, const pti_opcodes *opcodes, pti_epilogue *e, ptx_arena *arena)
{
    uint32_t from;
    e->ninsns = insns_of(s, e->first, e->end, &from);
    for (uint32_t i = e->first; i < e->end; i++)
        e->nlabels += s->list[i].kind == PTX_STATEMENT_LABEL;
    for (uint32_t i = from; i < from + e->ninsns; i++)
        e->work[opcodes->list[opcodes->of_insn[i]].work]++;
    e->shape = shape_of(s, opcodes, e->first, e->end);
    return pti_count_opcodes(s, opcodes, e->first, e->end, arena, &e->ops, &e->nops);
}

typedef struct shape { uint64_t hash; uint32_t statements, epilogue; } shape;

static int by_shape(const void *a, const void *b)
{
    const shape *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->statements != y->statements)
        return x->statements < y->statements ? -1 : 1;
    return (x->epilogue > y->epilogue) - (x->epilogue < y->epilogue);
}

static bool group_shapes(pti_epilogues *out)
{
    shape *shapes = malloc((out->count + 1) * sizeof *shapes);
    if (!shapes)
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        shapes[i] = (shape){out->list[i].shape, out->list[i].end - out->list[i].first, i};
    qsort(shapes, out->count, sizeof *shapes, by_shape);
    for (uint32_t i = 0, first = 0; i < out->count; i++) {
        if (shapes[i].hash != shapes[first].hash || shapes[i].statements != shapes[first].statements)
            first = i;
        out->list[shapes[i].epilogue].like = shapes[first].epilogue;
        out->list[shapes[first].epilogue].nlike++;
    }
    free(shapes);
    return true;
}

bool pti_find_epilogues(const pti_statements *s, const pti_phases *phases, const pti_opcodes *opcodes, pti_epilogues *out)
{
    *out = (pti_epilogues){.count = phases->count + 1};
    ptx_arena_init(&out->arena, SIZE_MAX);
    out->list = pti_take(&out->arena, out->count, sizeof *out->list);
    if (!out->list)
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        pti_epilogue *e = &out->list[i];
        pti_epilogue_range(phases, s, i, &e->first, &e->end);
        if (!measure(s, opcodes, e, &out->arena))
            return false;
    }
    return group_shapes(out);
}

void pti_free_epilogues(pti_epilogues *e)
{
    ptx_arena_free(&e->arena);
    *e = (pti_epilogues){0};
}
