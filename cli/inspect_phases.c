/* inspect_phases.c - the tables of phases and epilogues. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli/inspect_memory.h"
#include "cli/inspect_phases.h"

static const char *number(char buffer[24], uint64_t v)
{
    snprintf(buffer, 24, "%" PRIu64, v);
    return buffer;
}

/* "L471–L1337" */
static const char *lines_text(const inspection *x, uint32_t first, uint32_t last, char buffer[40])
{
    uint32_t from = x->statements.list[first].first_line, to = x->statements.list[last].last_line;
    if (from == to)
        snprintf(buffer, 40, "L%u", from);
    else
        snprintf(buffer, 40, "L%u–L%u", from, to);
    return buffer;
}

const char *phase_opcode(const inspection *x, uint32_t p)
{
    return x->opcodes.list[x->opcodes.of_insn[x->phases.list[p].mma[0].insn]].text;
}

const char *epilogue_name(const inspection *x, uint32_t e, char *buffer, size_t size)
{
    const pti_epilogue *q = &x->epilogues.list[e];
    buffer[0] = '\0';
    for (uint32_t i = 0; i < q->nguesses; i++)
        append_text(buffer, size, "%s%s", i ? "; " : "", q->guesses[i].name);
    return buffer;
}

/* ------------------------------------------------------------ phases */

/* "3·12·4 = 144": tiles of M and N and slices of K against the number of mma. */
static const char *check_text(const pti_phase *p, char buffer[64])
{
    uint64_t sum = 0;
    buffer[0] = '\0';
    for (uint32_t i = 0; i < p->nproducts; i++) {
        const pti_product *q = &p->products[i];
        sum += (uint64_t)q->rows * q->columns * q->slices;
        if (i < 3)
            append_text(buffer, 64, "%s%u·%u·%u", i ? " + " : "", q->rows, q->columns, q->slices);
    }
    append_text(buffer, 64, "%s = %" PRIu64, p->nproducts > 3 ? " + …" : "", sum);
    return buffer;
}

static const char *size_text(uint32_t v, char buffer[24])
{
    return v ? number(buffer, v) : "…";
}

static const char *accumulator_text(const inspection *x, uint32_t p, char *buffer, size_t size)
{
    const pti_phase *q = &x->phases.list[p];
    const pti_sources *c = &x->sources[p * PTI_ROLES + PTI_ROLE_C];
    buffer[0] = '\0';
    if (q->continues != PTI_NONE)
        snprintf(buffer, size, "P%u's D", q->continues + 1);
    if (q->loop_from != PTI_NONE)
        append_text(buffer, size, "%sP%u's D round a loop", *buffer ? ", " : "", q->loop_from + 1);
    if (!*buffer && c->nroots == 1 && c->direct && c->roots[0].kind == PTI_ORIGIN_CONSTANT) {
        const ptx_insn *i = &x->function->insns[c->roots[0].at];
        if (i->noperands == 2 && i->operands[1].nvalues == 1 && i->operands[1].values[0].kind == PTX_VALUE_IMM)
            snprintf(buffer, size, i->operands[1].values[0].imm ? "0x%" PRIx64 : "0", i->operands[1].values[0].imm);
    } else if (!*buffer && !c->direct) {
        short_source_text(x, c, buffer, size);
    }
    return buffer;
}

/* What an operand is made of; behind shared memory what was stored there. */
static const char *operand_text(const inspection *x, uint32_t p, int role, char *buffer, size_t size)
{
    const pti_stored *stored = &x->stored[p * PTI_ROLES + (uint32_t)role];
    const pti_sources *source = &x->sources[p * PTI_ROLES + (uint32_t)role];
    char data[320];
    buffer[0] = '\0';
    if (source->direct)                /* loaded as it is: from where */
        range_of_source(x, p, role, buffer, size);
    if (!*buffer)
        short_source_text(x, source, buffer, size);
    if (stored->nstores)
        append_text(buffer, size, " ← %s", short_source_text(x, &stored->data, data, sizeof data));
    return buffer;
}

/* Where an operand is loaded from; what it is computed of where it is not. */
static const char *bytes_text(const inspection *x, uint32_t p, int role, char *buffer, size_t size)
{
    range_of_source(x, p, role, buffer, size);
    return *buffer || role == PTI_ROLE_C ? buffer : operand_text(x, p, role, buffer, size);
}

static void report_phase_row(report *r, const inspection *x, uint32_t p)
{
    const pti_phase *q = &x->phases.list[p];
    char name[16], range[32], m[24], n[24], k[24], count[24], check[64], a[400], b[400], c[400], before[400];
    snprintf(name, sizeof name, "P%u", p + 1);
    report_row(r, (const char *[]){name, range_text(q->first, q->last, range), size_text(q->M, m), size_text(q->N, n), size_text(q->K, k),
                                   number(count, q->nmma), check_text(q, check), q->full ? "yes" : "no",
                                   operand_text(x, p, PTI_ROLE_A, a, sizeof a), bytes_text(x, p, PTI_ROLE_B, b, sizeof b),
                                   bytes_text(x, p, PTI_ROLE_C, c, sizeof c),
                                   accumulator_text(x, p, before, sizeof before)});
}

/* "P2, P4, P6" of a group, the first twelve and the last. */
static const char *group_text(const inspection *x, const pti_group *q, char buffer[200])
{
    uint32_t shown = 0;
    buffer[0] = '\0';
    for (uint32_t p = q->first; p != PTI_NONE && shown < 12; p = x->phases.list[p].next, shown++)
        append_text(buffer, 200, "%sP%u", *buffer ? ", " : "", p + 1);
    if (q->count > 12)
        append_text(buffer, 200, ", … P%u", q->last + 1);
    return buffer;
}

static const char *join_text(const pti_join *j, char buffer[200])
{
    buffer[0] = '\0';
    for (uint32_t i = 0; i < j->nphases && i < 12; i++)
        append_text(buffer, 200, "%sP%u", i ? ", " : "", j->phases[i] + 1);
    if (j->nphases > 12)
        append_text(buffer, 200, ", … P%u", j->phases[j->nphases - 1] + 1);
    return buffer;
}

static void report_groups(report *r, const inspection *x)
{
    bool any = x->phases.njoins > 0;
    char list[200], m[24], n[24], k[24];
    for (uint32_t g = 0; g < x->phases.ngroups; g++)
        any = any || x->phases.groups[g].count > 1 || x->phases.groups[g].loops;
    if (!any)
        return;
    report_heading(r, 3, "Products over several phases");
    report_paragraph(r, "Phases that go on with the accumulators of another are one product, its K spread over them; so are phases of one block that "
                        "share fragments of A or B. Round a loop K is that of one turn.");
    report_table(r, "<>>><<", (const char *[]){"phases", "M", "N", "K", "loops", "joined by"}, 6);
    for (uint32_t g = 0; g < x->phases.ngroups; g++) {
        const pti_group *q = &x->phases.groups[g];
        if (q->count > 1 || q->loops)
            report_row(r, (const char *[]){group_text(x, q, list), size_text(q->M, m), size_text(q->N, n), size_text(q->K, k), q->loops ? "yes" : "no",
                                           q->count > 1 ? "accumulators" : ""});
    }
    for (uint32_t i = 0; i < x->phases.njoins; i++) {
        const pti_join *j = &x->phases.joins[i];
        report_row(r, (const char *[]){join_text(j, list), size_text(j->M, m), size_text(j->N, n), size_text(j->K, k), j->loops ? "yes" : "no",
                                       j->full ? "fragments" : "fragments; not every place is filled"});
    }
    report_table_end(r);
}

void report_phases(report *r, const inspection *x)
{
    uint32_t total = 0, full = 0;
    report_heading(r, 3, "Phases, M/N/K checked");
    if (!x->phases.count) {
        report_paragraph(r, "No mma or wmma.mma stands in this function.");
        return;
    }
    for (uint32_t p = 0; p < x->phases.count; p++)
        total += x->phases.list[p].nmma, full += x->phases.list[p].full;
    report_paragraph(r, "Phases: %u; matrix instructions: %u. Rows, columns and slices of k follow from which fragments the instructions share; their "
                        "product is the number of instructions in %u of %u phases. Of what is loaded: base and index, then the first and the last word.",
                     x->phases.count, total, full, x->phases.count);
    report_table(r, "<<>>>><<<<<<", (const char *[]){"#", "stmts", "M", "N", "K", "mma", "M/m·N/n·K/k", "holds", "A", "B", "C", "C goes on from"}, 12);
    for (uint32_t p = 0; p < x->phases.count; p++)
        report_phase_row(r, x, p);
    report_table_end(r);
    report_groups(r, x);
}

/* ------------------------------------------------------------ epilogues */

static const char *shape_text(const inspection *x, uint32_t e, char buffer[64])
{
    const pti_epilogue *q = &x->epilogues.list[e], *like = &x->epilogues.list[q->like];
    snprintf(buffer, 64, "%012" PRIx64, q->shape & 0xffffffffffff);
    if (like->nlike > 1)
        append_text(buffer, 64, " ×%u", like->nlike);
    return buffer;
}

/* Statements that have a certain kind of work, the first and the last. */
static bool find_work(const inspection *x, const pti_epilogue *q, pti_work work, uint32_t *first, uint32_t *last)
{
    bool any = false;
    for (uint32_t i = q->first; i < q->end; i++)
        for (uint32_t j = 0; j < x->statements.list[i].ninsns; j++)
            if (x->opcodes.list[x->opcodes.of_insn[x->statements.list[i].first_insn + j]].work == work) {
                *first = any ? *first : i;
                *last = i;
                any = true;
            }
    return any;
}

static void report_histogram(report *r, const inspection *x, const pti_epilogue *q, uint32_t most)
{
    char text[2048] = "";
    for (uint32_t i = 0; i < q->nops && i < most; i++)
        append_text(text, sizeof text, "%s%u %s", i ? ", " : "", q->ops[i].count, x->opcodes.list[q->ops[i].opcode].text);
    if (q->nlabels)
        append_text(text, sizeof text, "%s%u labels", *text ? ", " : "", q->nlabels);
    report_item(r, "operations: %s%s", text, q->nops > most ? ", …" : "");
}

static void report_ranges(report *r, const inspection *x, const pti_epilogue *q)
{
    static const pti_work works[] = {PTI_WORK_PACK, PTI_WORK_UNPACK, PTI_WORK_TRANSPOSE, PTI_WORK_SHUFFLE, PTI_WORK_APPROXIMATE, PTI_WORK_LOAD,
                                     PTI_WORK_STORE, PTI_WORK_BARRIER, PTI_WORK_TEXTURE, PTI_WORK_SURFACE, PTI_WORK_ATOMIC, PTI_WORK_ASYNC};
    char text[1024] = "", range[32];
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        uint32_t first = 0, last = 0;
        if (find_work(x, q, works[i], &first, &last))
            append_text(text, sizeof text, "%s%u %s %s", *text ? ", " : "", q->work[works[i]], pti_work_name(works[i]), range_text(first, last, range));
    }
    if (*text)
        report_item(r, "where: %s", text);
}

uint32_t count_memory(const inspection *x, const pti_epilogue *q, memory_count *counts, uint32_t room)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->nops; i++) {
        const pti_opcode *o = &x->opcodes.list[q->ops[i].opcode];
        uint32_t k = 0;
        if (o->work != PTI_WORK_LOAD && o->work != PTI_WORK_STORE && o->work != PTI_WORK_ATOMIC)
            continue;
        while (k < n && (counts[k].work != o->work || counts[k].space != o->space || counts[k].bytes != o->bytes))
            k++;
        if (k == room)
            continue;
        if (k == n)
            counts[n++] = (memory_count){o->work, o->space, o->bytes, 0};
        counts[k].count += q->ops[i].count;
    }
    return n;
}

/* "global load 60 × 4 bytes, shared store 6 × 16 bytes" */
static void report_accesses(report *r, const inspection *x, const pti_epilogue *q)
{
    memory_count counts[32];
    char text[1024] = "";
    uint32_t n = count_memory(x, q, counts, 32);
    for (uint32_t i = 0; i < n; i++) {
        append_text(text, sizeof text, "%s%s %s %u", i ? ", " : "", ptx_space_name(counts[i].space), pti_work_name(counts[i].work), counts[i].count);
        if (counts[i].bytes)
            append_text(text, sizeof text, " × %u bytes", counts[i].bytes);
    }
    if (n)
        report_item(r, "memory: %s", text);
}

static void report_evidence(report *r, const inspection *x, uint32_t e)
{
    const pti_epilogue *q = &x->epilogues.list[e];
    for (uint32_t i = 0; i < q->nguesses; i++)
        report_item(r, "%s: %s", q->guesses[i].name, q->guesses[i].evidence);
    report_histogram(r, x, q, 12);
    report_accesses(r, x, q);
    report_ranges(r, x, q);
}

void report_epilogues(report *r, const inspection *x)
{
    char name[16], range[32], count[24], shape[64], text[900], lines[40];
    report_heading(r, 3, "Epilogues");
    report_paragraph(r, "E0 is what stands before the first phase, En what follows phase n. Names are guesses; what speaks for each stands below. "
                        "Epilogues of one shape have the same sequence of opcodes.");
    report_table(r, "<<><<", (const char *[]){"epilogue", "range", "stmts", "shape", "named operation"}, 5);
    for (uint32_t e = 0; e < x->epilogues.count; e++) {
        const pti_epilogue *q = &x->epilogues.list[e];
        snprintf(name, sizeof name, "E%u", e);
        report_row(r, (const char *[]){name, q->end > q->first ? range_text(q->first, q->end - 1, range) : "", number(count, q->end - q->first),
                                       shape_text(x, e, shape), epilogue_name(x, e, text, sizeof text)});
    }
    report_table_end(r);
    for (uint32_t e = 0; e < x->epilogues.count; e++) {
        const pti_epilogue *q = &x->epilogues.list[e];
        if (q->end == q->first || q->like != e)
            continue;
        report_heading(r, 4, "E%u: %s, %s%s", e, range_text(q->first, q->end - 1, range), lines_text(x, q->first, q->end - 1, lines),
                       q->nlike > 1 ? " (the first of its shape)" : "");
        report_evidence(r, x, e);
    }
}

/* ------------------------------------------------------------ one phase */

/* "4 %r12 %r13": the number of a fragment and its registers, or the registers alone. */
static const char *fragment_text(const inspection *x, uint32_t insn, uint32_t operand, uint32_t number, char *buffer, size_t size)
{
    const ptx_operand *o = &x->function->insns[insn].operands[operand];
    buffer[0] = '\0';
    if (number != PTI_NONE)
        append_text(buffer, size, "%u:", number);
    for (uint32_t i = 0; i < o->nvalues; i++)
        if (o->values[i].kind == PTX_VALUE_REG)
            append_text(buffer, size, "%s%s", *buffer ? " " : "", x->function->registers[o->values[i].reg].name);
        else
            append_text(buffer, size, "%s_", *buffer ? " " : "");
    return buffer;
}

static void report_tiles(report *r, const inspection *x, const pti_phase *q)
{
    char cells[7][24], d[200], a[400], b[400];
    report_table(r, "<<>>>>><<<", (const char *[]){"stmt", "line", "product", "row", "column", "slice", "step", "D", "A", "B"}, 10);
    for (uint32_t i = 0; i < q->nmma; i++) {
        const pti_mma *m = &q->mma[i];
        const uint32_t numbers[] = {m->product, m->row, m->column, m->slice, m->step};
        snprintf(cells[0], 24, "s%u", pti_statement_of_insn(&x->statements, m->insn) + 1);
        snprintf(cells[1], 24, "L%u", x->function->insns[m->insn].at.line);
        for (int k = 2; k < 7; k++)
            number(cells[k], numbers[k - 2]);
        report_row(r, (const char *[]){cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6],
                                       fragment_text(x, m->insn, 0, PTI_NONE, d, sizeof d), fragment_text(x, m->insn, 1, m->a, a, sizeof a),
                                       fragment_text(x, m->insn, 2, m->b, b, sizeof b)});
    }
    report_table_end(r);
}

void report_phase(report *r, const inspection *x, uint32_t p)
{
    const pti_phase *q = &x->phases.list[p];
    char range[32], lines[40], check[64], text[1600], before[400];
    report_heading(r, 3, "P%u: %s, %s", p + 1, range_text(q->first, q->last, range), lines_text(x, q->first, q->last, lines));
    report_item(r, "%u %s%s", q->nmma, phase_opcode(x, p), q->mixed ? " and others" : "");
    for (uint32_t i = 0; i < q->nproducts && i < 16; i++) {
        const pti_product *m = &q->products[i];
        report_item(r, "product %u: M %u, N %u, K %u; %u×%u tiles, %u slices of k, %u instructions%s", i, m->M, m->N, m->K, m->rows, m->columns,
                    m->slices, m->count, m->full ? "" : "; not every place is filled");
    }
    report_item(r, "%u D tiles, %u A fragments, %u B fragments; %s: %s", q->ntiles, q->na, q->nb, check_text(q, check), q->full ? "holds" : "does not hold");
    for (uint32_t i = p * PTI_ROLES; i < (p + 1) * PTI_ROLES; i++) {
        report_item(r, "%c: %s", "ABC"[i % PTI_ROLES], source_text(x, &x->sources[i], text, sizeof text));
        if (x->stored[i].nstores)
            report_item(r, "%c, %s", "ABC"[i % PTI_ROLES], stored_text(x, &x->stored[i], text, sizeof text));
    }
    if (*accumulator_text(x, p, before, sizeof before))
        report_item(r, "C goes on from %s", before);
    report_tiles(r, x, q);
    const pti_epilogue *e = &x->epilogues.list[p + 1];
    if (e->end == e->first)
        return;
    report_heading(r, 3, "E%u: %s, %s, shape %s", p + 1, range_text(e->first, e->end - 1, range), lines_text(x, e->first, e->end - 1, lines),
                   shape_text(x, p + 1, check));
    report_evidence(r, x, p + 1);
}
