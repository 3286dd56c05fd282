/* trace.c - runs a case on two devices with records and finds the first that differs.
 *
 * Memory is bounded, so a launch is run again for each chunk of blocks and each window of records. Windows go from the
 * start of the threads on, and the first window with a difference ends the search: the difference with the lowest
 * record number counts, then the lowest block and thread. That order is one of causes wherever threads that wait for
 * each other have executed about as much. The operands' values are read from the records that wrote them, which takes a
 * second run, of the one block, when they lie before the window.
 */
#include "runtime/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/trace_walk.h"

enum { LEAST_WORDS = 4096 };       /* of a thread's part, as long as there are blocks to leave for later */
/* AMD devices address a side's records with 31 bits, half of which are for what goes beyond the parts. */
static const uint64_t default_memory = (uint64_t)512 << 20, most_memory = (uint64_t)2 << 30, most_begin = INT32_MAX;

struct rt_trace_keep {
    rt_pool pool;
    case_session *sessions[2];
    case_result results[2];
    case_options options[2];
};

typedef struct search {
    pxb_context *ctx;
    const case_file *file;
    const rt_trace_options *options;
    rt_trace_keep *keep;
    const ptx_module *module;
    rt_finding *out;
    walker walker;
    walk_thread *threads;          /* of the chunk */
    uint32_t launch, nthreads;
    uint64_t nblocks;
    rt_trace traces[2];
    bool faulted[2];
} search;

/* ------------------------------------------------------------ traces */

pxb_status rt_trace_alloc(pxb_context *ctx, rt_trace *t)
{
    size_t parts = (size_t)t->nblocks * t->nthreads;
    uint32_t longest = 1;
    for (uint32_t i = 0; i < t->module->nfunctions; i++) {
        const ptx_function *f = t->module->functions[i];
        for (uint32_t k = 0; k < f->ninsns; k++) {
            uint32_t words = ptx_record_words(f, &f->insns[k]);
            longest = words > longest ? words : longest;
        }
    }
    t->stride = t->capacity + longest;
    t->words = calloc(parts * t->stride + 1, sizeof *t->words);
    t->used = calloc(parts + 1, sizeof *t->used);
    t->executed = calloc(parts + 1, sizeof *t->executed);
    if (t->words && t->used && t->executed)
        return PXB_OK;
    rt_trace_free(t);
    return rt_no_memory(ctx);
}

void rt_trace_free(rt_trace *t)
{
    free(t->words);
    free(t->used);
    free(t->executed);
    t->words = NULL;
    t->used = NULL;
    t->executed = NULL;
}

static void free_traces(search *s)
{
    rt_trace_free(&s->traces[0]);
    rt_trace_free(&s->traces[1]);
}

/* Records of both sides for a window. */
static pxb_status run_window(search *s, uint64_t first_block, uint32_t nblocks, uint64_t begin, uint32_t capacity)
{
    pxb_status status = PXB_OK;
    free_traces(s);
    for (int side = 0; side < 2 && !status; side++) {
        rt_trace *t = &s->traces[side];
        *t = (rt_trace){.module = s->module, .first_block = first_block, .nblocks = nblocks, .nthreads = s->nthreads,
                        .begin = begin, .capacity = capacity};
        status = rt_trace_alloc(s->ctx, t);
        if (!status)
            status = case_session_trace(s->keep->sessions[side], s->launch, t, &s->faulted[side]);
    }
    return status;
}

static walk_stream stream_of(const rt_trace *t, uint32_t part)
{
    return (walk_stream){t->words + (size_t)part * t->stride, t->used[part], t->executed[part]};
}

/* Records in a stream, counted by their heads. */
static uint64_t count_records(walk_stream s)
{
    uint64_t n = 0;
    for (uint32_t at = 0; at < s.used; at += 1 + (s.words[at] >> PTX_TRACE_NUMBER_BITS))
        n++;
    return n;
}

/* ------------------------------------------------------------ one window */

/* Up to where every thread that is not at its end has its records; *whole: all threads are at their ends. */
static uint64_t covered(search *s, uint64_t begin, bool *whole)
{
    uint64_t end = UINT64_MAX;
    *whole = true;
    for (int side = 0; side < 2; side++) {
        const rt_trace *t = &s->traces[side];
        for (uint32_t part = 0; part < t->nblocks * t->nthreads; part++) {
            uint64_t kept = begin + count_records(stream_of(t, part));
            if (s->threads[part].over || kept >= t->executed[part])
                continue;
            *whole = false;
            end = kept < end ? kept : end;
        }
    }
    return end;
}

typedef struct candidate {
    walk_difference difference;
    uint32_t part;
} candidate;

/* An end of a stream says little when its launch was stopped. */
static bool better(const search *s, const walk_difference *d, const candidate *best)
{
    if (d->kind == RT_FOUND_END && (s->faulted[0] || s->faulted[1]))
        return false;
    return best->difference.kind == RT_FOUND_NOTHING || d->record < best->difference.record;
}

/* Threads whose warp or block has a value that depends on the order of threads learn of it before they are compared. */
static void spread_races(search *s)
{
    for (uint32_t part = 0; s->walker.may_race && part < s->traces[0].nblocks * s->nthreads; part++) {
        walk_stream streams[2] = {stream_of(&s->traces[0], part), stream_of(&s->traces[1], part)};
        uint32_t own = part % s->nthreads;
        if (s->threads[part].warp_raced || !walk_thread_races(&s->walker, streams))
            continue;
        for (uint32_t i = 0; i < s->nthreads; i++) {
            walk_thread *t = &s->threads[part - own + i];
            t->block_raced = true;
            t->warp_raced = t->warp_raced || i / 32 == own / 32;
        }
    }
}

static candidate compare_window(search *s, uint64_t begin, uint64_t end)
{
    candidate best = {.part = 0};
    uint32_t parts = s->traces[0].nblocks * s->nthreads;
    spread_races(s);
    for (uint32_t part = 0; part < parts; part++) {
        walk_stream streams[2] = {stream_of(&s->traces[0], part), stream_of(&s->traces[1], part)};
        walk_difference d;
        uint64_t until = best.difference.kind != RT_FOUND_NOTHING ? best.difference.record : end;
        if (walk_thread_compare(&s->walker, &s->threads[part], streams, begin, until, &d) && better(s, &d, &best))
            best = (candidate){d, part};
    }
    return best;
}

/* ------------------------------------------------------------ what was found */

/* Last values of every register of one thread. */
typedef struct last_values {
    uint32_t *words;               /* four for each register of the module */
    uint8_t *known;
} last_values;

static void note_record(const search *s, last_values *l, const uint32_t *record)
{
    const ptx_function *f;
    const ptx_insn *insn = ptx_insn_numbered(s->module, record[0] & ((1u << PTX_TRACE_NUMBER_BITS) - 1), &f);
    uint32_t registers[ISA_MAX_ELEMS], n = insn ? ptx_written(insn, registers) : 0;
    const uint32_t *from = record + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t words = ptx_trace_words(f, registers[i]), at = s->walker.register_bases[f->index] + registers[i];
        memcpy(l->words + 4 * (size_t)at, from, words * sizeof *from);
        l->known[at] = 1;
        from += words;
    }
}

/* The record number `target` of a part, NULL when the stream ends before it; those before it go into `l`. */
static const uint32_t *scan_part(const search *s, const rt_trace *t, uint32_t part, uint64_t target, last_values *l)
{
    walk_stream stream = stream_of(t, part);
    uint64_t record = t->begin;
    for (uint32_t at = 0; at < stream.used; record++) {
        if (record == target)
            return stream.words + at;
        note_record(s, l, stream.words + at);
        at += 1 + (stream.words[at] >> PTX_TRACE_NUMBER_BITS);
    }
    return NULL;
}

static rt_trace_value *add_operand(rt_finding *f)
{
    return f->noperands < RT_TRACE_OPERANDS ? &f->operands[f->noperands++] : NULL;
}

static void add_register(search *s, const last_values l[2], const ptx_function *f, uint32_t reg, ptx_type type)
{
    rt_trace_value *v = NULL;
    for (uint32_t i = 0; i < s->out->noperands && !v; i++)
        if (s->out->operands[i].name == f->registers[reg].name)
            return;
    v = add_operand(s->out);
    if (!v)
        return;
    uint32_t at = s->walker.register_bases[f->index] + reg;
    *v = (rt_trace_value){.name = f->registers[reg].name, .nwords = ptx_trace_words(f, reg)};
    v->type = type != PTX_TYPE_NONE && ptx_type_bits(type) == ptx_type_bits(f->registers[reg].type) ? type : f->registers[reg].type;
    for (int side = 0; side < 2; side++) {
        v->known[side] = l[side].known[at];
        memcpy(v->words[side], l[side].words + 4 * (size_t)at, sizeof v->words[side]);
    }
    v->differs = v->known[0] != v->known[1] || memcmp(v->words[0], v->words[1], sizeof v->words[0]) != 0;
}

static void add_constant(search *s, const ptx_value *p)
{
    const char *name = NULL;
    rt_pool *pool = &s->keep->pool;
    switch (p->kind) {
    case PTX_VALUE_IMM: name = rt_pool_printf(pool, "0x%" PRIx64, p->imm); break;
    case PTX_VALUE_SPECIAL: name = ptx_special_name(p->special); break;
    case PTX_VALUE_VARIABLE: name = p->variable->name; break;
    case PTX_VALUE_FUNCTION: name = p->function->name; break;
    default: return;
    }
    rt_trace_value *v = name ? add_operand(s->out) : NULL;
    if (!v)
        return;
    *v = (rt_trace_value){.name = name, .type = p->type, .nwords = ptx_type_bits(p->type) > 32 ? 2 : 1};
    for (int side = 0; side < 2; side++) {
        v->known[side] = p->kind == PTX_VALUE_IMM;
        v->words[side][0] = (uint32_t)p->imm;
        v->words[side][1] = (uint32_t)(p->imm >> 32);
    }
}

static bool is_destination_only(isa_operand_kind kind)
{
    return kind == ISA_OPERAND_DST || kind == ISA_OPERAND_DST_PRED || kind == ISA_OPERAND_DST_AND_PRED ||
           kind == ISA_OPERAND_PRED_PAIR || kind == ISA_OPERAND_DST_VECTOR || kind == ISA_OPERAND_DST_MASKED ||
           kind == ISA_OPERAND_CARRY_OUT;
}

static void add_operands(search *s, const last_values l[2], const ptx_function *f, const ptx_insn *insn)
{
    if (insn->guarded)
        add_register(s, l, f, insn->guard, PTX_TYPE_PRED);
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        if (is_destination_only(o->kind))
            continue;
        if ((o->kind == ISA_OPERAND_ADDRESS || o->kind == ISA_OPERAND_TEXTURE) && o->address.base == PTX_BASE_REG)
            add_register(s, l, f, o->address.reg, PTX_TYPE_NONE);
        for (uint32_t v = 0; v < o->nvalues; v++) {
            if (o->values[v].kind == PTX_VALUE_REG)
                add_register(s, l, f, o->values[v].reg, o->values[v].type);
            else
                add_constant(s, &o->values[v]);
        }
    }
}

/* The element type that the instruction gives a register that it writes. */
static ptx_type written_type(const ptx_insn *insn, uint32_t reg)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        for (uint32_t v = 0; v < insn->operands[i].nvalues; v++)
            if (insn->operands[i].values[v].kind == PTX_VALUE_REG && insn->operands[i].values[v].reg == reg)
                return insn->operands[i].values[v].type;
    return PTX_TYPE_NONE;
}

static void add_results(rt_finding *out, const ptx_function *f, const ptx_insn *insn, const uint32_t *records[2])
{
    uint32_t registers[ISA_MAX_ELEMS], n = ptx_written(insn, registers), at = 1;
    for (uint32_t i = 0; i < n; i++) {
        rt_trace_value *v = &out->results[out->nresults++];
        ptx_type own = f->registers[registers[i]].type, type = written_type(insn, registers[i]);
        *v = (rt_trace_value){.name = f->registers[registers[i]].name, .nwords = ptx_trace_words(f, registers[i]),
                              .type = ptx_type_bits(type) == ptx_type_bits(own) ? type : own, .known = {true, true}};
        for (int side = 0; side < 2; side++)
            memcpy(v->words[side], records[side] + at, v->nwords * sizeof(uint32_t));
        at += v->nwords;
        v->differs = memcmp(v->words[0], v->words[1], sizeof v->words[0]) != 0;
    }
}

/* Runs the block again from its start until the record is there. */
static pxb_status read_operands(search *s, uint64_t block, uint32_t thread, uint64_t target, const uint32_t *records[2],
                                last_values l[2])
{
    const rt_trace *now = &s->traces[0];
    uint32_t part = (uint32_t)(block - now->first_block) * s->nthreads + thread;
    uint64_t begin = now->begin;
    uint32_t capacity = (uint32_t)(s->options->memory / 2 / 4 / s->nthreads);
    pxb_status status = PXB_OK;
    if (begin > 0) {
        part = thread;
        begin = 0;
        status = run_window(s, block, 1, 0, capacity);
    }
    while (!status) {
        uint64_t next = UINT64_MAX;
        for (int side = 0; side < 2; side++) {
            uint64_t end = begin + count_records(stream_of(&s->traces[side], part));
            next = end < next ? end : next;
            records[side] = scan_part(s, &s->traces[side], part, target, &l[side]);
        }
        if ((records[0] && records[1]) || next <= begin || next > target)
            break;
        begin = next;
        status = run_window(s, block, 1, begin, capacity);
    }
    return status;
}

static void place_thread(search *s, uint64_t block, uint32_t thread)
{
    const case_launch *l = &s->file->launches[s->launch];
    rt_finding *f = s->out;
    f->launch = s->launch;
    f->block[0] = (uint32_t)(block % l->grid[0]);
    f->block[1] = (uint32_t)(block / l->grid[0] % l->grid[1]);
    f->block[2] = (uint32_t)(block / l->grid[0] / l->grid[1]);
    f->thread[0] = thread % l->block[0];
    f->thread[1] = thread / l->block[0] % l->block[1];
    f->thread[2] = thread / l->block[0] / l->block[1];
    f->warp = thread / 32;
    f->lane = thread % 32;
}

static pxb_status report(search *s, const candidate *best)
{
    rt_finding *f = s->out;
    uint64_t block = s->traces[0].first_block + best->part / s->nthreads;
    uint32_t thread = best->part % s->nthreads;
    const uint32_t *records[2] = {NULL, NULL};
    last_values l[2] = {{NULL, NULL}, {NULL, NULL}};
    f->kind = best->difference.kind;
    f->record = best->difference.record;
    place_thread(s, block, thread);
    for (int side = 0; side < 2; side++) {
        uint32_t number = best->difference.number[side];
        f->insn[side] = number ? ptx_insn_numbered(s->module, number, &f->function[side]) : NULL;
        l[side].words = calloc(4 * (size_t)s->walker.nregisters + 4, sizeof *l[side].words);
        l[side].known = calloc((size_t)s->walker.nregisters + 1, 1);
    }
    bool room = l[0].words && l[0].known && l[1].words && l[1].known;
    pxb_status status = room ? read_operands(s, block, thread, f->record, records, l) : rt_no_memory(s->ctx);
    if (!status && f->kind == RT_FOUND_RESULT && f->insn[0] && records[0] && records[1] && records[0][0] == records[1][0])
        add_results(f, f->function[0], f->insn[0], records);
    if (!status && f->kind == RT_FOUND_RESULT && f->insn[0])
        add_operands(s, l, f->function[0], f->insn[0]);
    for (int side = 0; side < 2; side++) {
        free(l[side].words);
        free(l[side].known);
    }
    return status;
}

/* ------------------------------------------------------------ chunks of blocks, launches */

/* The first difference that depends on the order of threads. */
static candidate first_race(const search *s, uint32_t parts)
{
    candidate best = {.part = 0};
    for (uint32_t i = 0; i < parts; i++) {
        const walk_thread *t = &s->threads[i];
        if (t->raced && (best.difference.kind == RT_FOUND_NOTHING || t->raced_record < best.difference.record))
            best = (candidate){{RT_FOUND_RESULT, t->raced_record, {t->raced_number, t->raced_number}}, i};
    }
    return best;
}

static void progress(const search *s, uint64_t done, uint64_t of)
{
    for (; of > UINT32_MAX; of /= 2)
        done /= 2;
    if (s->options->progress)
        s->options->progress(s->options->progress_user, "trace: block", (uint32_t)done, (uint32_t)of);
}

static pxb_status search_chunk(search *s, uint64_t first, uint32_t nblocks, uint32_t capacity)
{
    pxb_status status = PXB_OK;
    bool whole = false;
    s->threads = calloc((size_t)nblocks * s->nthreads, sizeof *s->threads);
    if (!s->threads)
        return rt_no_memory(s->ctx);
    for (uint64_t begin = 0; !status && !whole && s->out->kind == RT_FOUND_NOTHING;) {
        progress(s, first - s->options->first_block, s->nblocks);
        status = run_window(s, first, nblocks, begin, capacity);
        if (status)
            break;
        uint64_t end = covered(s, begin, &whole);
        candidate best = compare_window(s, begin, end);
        if (s->walker.no_memory)
            status = rt_no_memory(s->ctx);
        else if (best.difference.kind != RT_FOUND_NOTHING)
            status = report(s, &best);
        begin = end;
        if (!whole && begin > most_begin)
            status = rt_fail(s->ctx, PXB_UNSUPPORTED, "threads of more than 2^31 records cannot be traced");
    }
    if (!status && s->out->kind == RT_FOUND_NOTHING) {
        candidate race = first_race(s, nblocks * s->nthreads);
        if (race.difference.kind != RT_FOUND_NOTHING)
            status = report(s, &race);
    }
    for (uint32_t i = 0; i < nblocks * s->nthreads; i++)
        free(s->threads[i].flags);
    free(s->threads);
    s->threads = NULL;
    s->out->threads += (uint64_t)nblocks * s->nthreads;
    s->out->blocks += nblocks;
    return status;
}

static pxb_status search_launch(search *s)
{
    const case_launch *l = &s->file->launches[s->launch];
    uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], first = s->options->first_block;
    uint64_t words = s->options->memory / 2 / sizeof(uint32_t);
    s->nthreads = l->block[0] * l->block[1] * l->block[2];
    s->walker.launch = l;
    s->out->blocks_of += all;
    if (first >= all)
        return PXB_OK;
    s->nblocks = s->options->nblocks && s->options->nblocks < all - first ? s->options->nblocks : all - first;
    uint64_t chunk = words / LEAST_WORDS / s->nthreads;
    chunk = chunk < 1 ? 1 : chunk > s->nblocks ? s->nblocks : chunk;
    uint64_t capacity = words / (chunk * s->nthreads);
    capacity = capacity < 1 ? 1 : capacity > 1 << 22 ? 1 << 22 : capacity;
    pxb_status status = PXB_OK;
    for (uint64_t at = 0; at < s->nblocks && !status && s->out->kind == RT_FOUND_NOTHING; at += chunk) {
        uint64_t n = s->nblocks - at < chunk ? s->nblocks - at : chunk;
        status = search_chunk(s, first + at, (uint32_t)n, (uint32_t)capacity);
    }
    return status;
}

/* ------------------------------------------------------------ the whole */

static pxb_status number_registers(search *s)
{
    walker *w = &s->walker;
    w->module = s->module;
    w->register_bases = calloc((size_t)s->module->nfunctions + 1, sizeof *w->register_bases);
    if (!w->register_bases)
        return rt_no_memory(s->ctx);
    for (uint32_t i = 0; i < s->module->nfunctions; i++) {
        w->register_bases[i] = w->nregisters;
        w->nregisters += s->module->functions[i]->nregisters;
        for (uint32_t k = 0; k < s->module->functions[i]->ninsns && !w->may_race; k++) {
            const ptx_insn *insn = &s->module->functions[i]->insns[k];
            w->may_race = insn->form && walk_races(insn);
        }
    }
    return PXB_OK;
}

/* How far apart the two sides' places of each array and variable are. */
static void measure_distances(search *s)
{
    case_session *const *x = s->keep->sessions;
    for (uint32_t i = 0; i < s->file->narrays; i++) {
        const case_array *a = &s->file->arrays[i];
        if (a->kind != CASE_GLOBAL)
            walk_add_distance(&s->walker, case_session_place(x[0], a), case_session_place(x[1], a));
    }
    for (uint32_t i = 0; i < s->module->nvariables; i++) {
        const ptx_variable *v = s->module->variables[i];
        if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST)
            continue;
        uint64_t a = case_session_variable(x[0], v->name), b = case_session_variable(x[1], v->name);
        if (a && b)
            walk_add_distance(&s->walker, a, b);
    }
}

/* Recording takes its time: a launch may take 32 times what the case allows. */
static uint32_t timeout_of(const search *s)
{
    if (s->options->has_timeout)
        return s->options->timeout_ms;
    return s->file->timeout_ms > UINT32_MAX / 32 ? UINT32_MAX : s->file->timeout_ms * 32;
}

static pxb_status open_sides(search *s, const rt_trace_side sides[2])
{
    pxb_status status = PXB_OK;
    for (int side = 0; side < 2 && !status; side++) {
        s->keep->options[side] = (case_options){.device = sides[side].device, .has_model = sides[side].has_model,
                                                .model = sides[side].model, .mma_fast = sides[side].mma_fast, .repeat = 1, .has_timeout = true,
                                                .timeout_ms = timeout_of(s)};
        status = case_session_open(s->ctx, s->file, &s->keep->options[side], &s->keep->results[side],
                                   &s->keep->sessions[side]);
    }
    return status;
}

pxb_status rt_trace_case(pxb_context *ctx, const case_file *file, const rt_trace_side sides[2],
                         const rt_trace_options *options, rt_finding *out, rt_trace_keep **keep)
{
    rt_trace_options o = options ? *options : (rt_trace_options){0};
    search s = {.ctx = ctx, .file = file, .options = &o, .out = out, .keep = calloc(1, sizeof **keep)};
    memset(out, 0, sizeof *out);
    *keep = s.keep;
    if (!s.keep)
        return rt_no_memory(ctx);
    out->note = "";
    if (o.memory == 0)
        o.memory = default_memory;
    else if (o.memory > most_memory)
        o.memory = most_memory;
    pxb_status status = open_sides(&s, sides);
    if (!status) {
        s.module = case_session_module(s.keep->sessions[0]);
        status = number_registers(&s);
    }
    if (!status)
        measure_distances(&s);
    bool stopped = false;
    for (; s.launch < file->nlaunches && !status && !stopped && out->kind == RT_FOUND_NOTHING; s.launch++) {
        status = search_launch(&s);
        stopped = s.faulted[0] || s.faulted[1];
    }
    if (!status && out->kind == RT_FOUND_NOTHING && s.faulted[0] != s.faulted[1]) {
        out->kind = RT_FOUND_END;
        out->launch = s.launch - 1;
        out->note = s.keep->results[s.faulted[0] ? 0 : 1].fault_text;
    }
    out->records = s.walker.records;
    out->excused = s.walker.excused;
    out->left = s.walker.left;
    if (!status)
        rt_trace_judge(out, sides);
    free_traces(&s);
    free(s.walker.register_bases);
    free(s.walker.distances);
    return status;
}

const ptx_module *rt_trace_module(const rt_trace_keep *keep)
{
    return case_session_module(keep->sessions[0]);
}

void rt_trace_keep_free(rt_trace_keep *keep)
{
    if (!keep)
        return;
    for (int side = 0; side < 2; side++) {
        case_session_close(keep->sessions[side]);
        case_result_free(&keep->results[side]);
    }
    rt_pool_free(&keep->pool);
    free(keep);
}
