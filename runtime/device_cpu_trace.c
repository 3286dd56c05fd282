/* device_cpu_trace.c - records of a launch on the CPU engine.
 *
 * The engine tells of each step of a warp; an instruction may be several, whose results join in one record. Lanes are
 * told apart here, because two splits of a warp may stand at different steps of the same instruction.
 */
#include "runtime/trace.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/cpu.h"

enum { NOT_KEPT = UINT32_MAX };

/* What is open in a thread: the instruction of its last record and the registers that the record has. */
typedef struct thread_state {
    uint32_t number, place;
    uint64_t filled;
} thread_state;

struct rt_cpu_trace {
    rt_trace *out;
    uint32_t stride;
    uint32_t grid[3];
    uint32_t *bases;           /* number of each function's first instruction */
    thread_state *threads;
    /* of the event that is being taken in */
    const cpu_trace_event *event;
    uint32_t number, words, nregisters, registers[ISA_MAX_ELEMS];
    uint32_t places[ISA_MAX_ELEMS];   /* word of each register in the record */
};

rt_cpu_trace *rt_cpu_trace_start(const pxb_launch_options *o, rt_trace *t)
{
    rt_cpu_trace *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->out = t;
    c->stride = t->stride;
    memcpy(c->grid, o->grid, sizeof c->grid);
    c->bases = calloc((size_t)t->module->nfunctions + 1, sizeof *c->bases);
    c->threads = calloc((size_t)t->nblocks * t->nthreads + 1, sizeof *c->threads);
    if (!c->bases || !c->threads) {
        rt_cpu_trace_end(c);
        return NULL;
    }
    uint32_t next = 1;
    for (uint32_t i = 0; i < t->module->nfunctions; i++) {
        c->bases[i] = next;
        next += t->module->functions[i]->ninsns;
    }
    return c;
}

void rt_cpu_trace_end(rt_cpu_trace *c)
{
    if (!c)
        return;
    free(c->bases);
    free(c->threads);
    free(c);
}

static void describe(rt_cpu_trace *c, const cpu_trace_event *e)
{
    c->event = e;
    c->number = c->bases[e->function->index] + (uint32_t)(e->insn - e->function->insns);
    c->nregisters = ptx_written(e->insn, c->registers);
    c->words = 1;
    for (uint32_t i = 0; i < c->nregisters; i++) {
        c->places[i] = c->words;
        c->words += ptx_trace_words(e->function, c->registers[i]);
    }
}

static uint32_t index_of(const rt_cpu_trace *c, uint32_t reg)
{
    for (uint32_t i = 0; i < c->nregisters; i++)
        if (c->registers[i] == reg)
            return i;
    return UINT32_MAX;
}

static void open_record(rt_cpu_trace *c, uint32_t part)
{
    rt_trace *t = c->out;
    thread_state *s = &c->threads[part];
    bool kept = t->executed[part]++ >= t->begin && t->used[part] < t->capacity;
    *s = (thread_state){c->number, kept ? t->used[part] : (uint32_t)NOT_KEPT, 0};
    if (!kept)
        return;
    uint32_t *to = t->words + (size_t)part * c->stride + s->place;
    memset(to, 0, c->words * sizeof *to);
    *to = c->number | (c->words - 1) << PTX_TRACE_NUMBER_BITS;
    t->used[part] += c->words;
}

static void put(uint32_t *to, const cpu_trace_value *v, uint32_t lane)
{
    if (v->bytes == 0)
        *to = *(const uint32_t *)v->lanes >> lane & 1;
    else
        memcpy(to + (v->high ? 2 : 0), (const char *)v->lanes + (size_t)lane * v->bytes, v->bytes);
}

static void take_lane(rt_cpu_trace *c, uint32_t part, uint32_t lane)
{
    const cpu_trace_event *e = c->event;
    thread_state *s = &c->threads[part];
    for (uint32_t i = 0; i < e->nresults; i++) {
        const cpu_trace_value *v = &e->results[i];
        uint32_t k = v->reg == UINT32_MAX ? UINT32_MAX : index_of(c, v->reg);
        if (k == UINT32_MAX)
            continue;
        /* The halves of a wide register are two results of one. */
        uint64_t bit = (uint64_t)1 << k;
        if (s->number != c->number || ((s->filled & bit) && !v->high))
            open_record(c, part);
        s->filled |= bit;
        if (s->place != NOT_KEPT)
            put(c->out->words + (size_t)part * c->stride + s->place + c->places[k], v, lane);
    }
    if (s->number != c->number)
        s->number = 0; /* a step without results: the last record is complete */
}

void rt_cpu_trace_event(void *user, const struct cpu_trace_event *e)
{
    rt_cpu_trace *c = user;
    rt_trace *t = c->out;
    uint64_t block = e->block[0] + c->grid[0] * (e->block[1] + (uint64_t)c->grid[1] * e->block[2]);
    if (block < t->first_block || block - t->first_block >= t->nblocks)
        return;
    describe(c, e);
    for (uint32_t rest = e->mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), thread = e->warp * 32 + lane;
        if (thread < t->nthreads)
            take_lane(c, (uint32_t)(block - t->first_block) * t->nthreads + thread, lane);
    }
}
