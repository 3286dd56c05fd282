/* inspect_memory.c - the analysis of memory, and its sections on parameters, textures and addresses. */
#include "cli/inspect_memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ the analysis */

/* Parts of formulas are named over all patterns of all bases and all coordinates. */
static bool name_parts(memory_analysis *m)
{
    size_t n = 0, room = m->addresses.npatterns + 5 * (size_t)m->params.ntextures;
    pti_poly *formulas = malloc((room + 1) * sizeof *formulas);
    if (!formulas)
        return false;
    for (uint32_t p = 0; p < m->addresses.npatterns; p++)
        formulas[n++] = m->addresses.patterns[p].form;
    for (uint32_t t = 0; t < m->params.ntextures; t++)
        for (uint32_t c = 0; c < m->params.textures[t].ncoordinates; c++)
            formulas[n++] = m->params.textures[t].coordinates[c];
    bool done = pti_name_parts(&m->symbols, formulas, n, &m->names);
    free(formulas);
    return done;
}

static pti_status find_all(inspection *x, memory_analysis *m)
{
    pti_status status = pti_find_symbols(&x->flow, &x->launch, &m->symbols);
    if (status != PTI_OK)
        return status;
    status = pti_find_threads(&m->symbols, &m->threads);
    if (status == PTI_MEMORY)
        return status;
    m->has_threads = status == PTI_OK;
    status = pti_find_loops(&m->symbols, m->has_threads ? &m->threads : NULL, &m->loops);
    if (status == PTI_MEMORY)
        return status;
    pti_loops *loops = m->has_threads && status == PTI_OK ? &m->loops : NULL;
    m->names.statements = m->plain.statements = &x->statements;
    if ((status = pti_find_addresses(&m->symbols, loops, &m->addresses)) != PTI_OK ||
        (status = pti_find_params(&m->symbols, &m->addresses, &m->params)) != PTI_OK ||
        (status = pti_find_shared(x->module, &m->symbols, loops, &m->addresses, &m->shared)) != PTI_OK)
        return status;
    bool done = pti_find_constants(&x->flow, &m->constants) && pti_find_lives(&x->statements, &x->flow, &x->phases, &m->lives) &&
                name_parts(m);
    return done ? PTI_OK : PTI_MEMORY;
}

pti_status analyse_memory(inspection *x)
{
    memory_analysis *m = calloc(1, sizeof *m);
    if (!m)
        return PTI_MEMORY;
    x->memory = m;
    x->symbols = &m->symbols;
    x->addresses = &m->addresses;
    return find_all(x, m);
}

void free_memory_analysis(inspection *x)
{
    memory_analysis *m = x->memory;
    if (!m)
        return;
    pti_free_names(&m->names);
    pti_free_shared(&m->shared);
    pti_free_lives(&m->lives);
    pti_free_constants(&m->constants);
    pti_free_params(&m->params);
    pti_free_addresses(&m->addresses);
    pti_free_loops(&m->loops);
    pti_free_threads(&m->threads);
    pti_free_symbols(&m->symbols);
    free(m);
    x->memory = NULL;
    x->symbols = NULL;
    x->addresses = NULL;
}

void report_memory(report *r, const inspection *x)
{
    report_params(r, x);
    report_loops(r, x);
    report_addresses(r, x);
    report_textures(r, x);
    report_shared(r, x);
    report_constants(r, x);
    report_lives(r, x);
}

/* ------------------------------------------------------------ words */

void append_text(char *text, size_t size, const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, size - n, format, args);
    va_end(args);
}

const char *insn_place(const inspection *x, uint32_t insn, char buffer[32])
{
    snprintf(buffer, 32, "s%u", pti_statement_of_insn(&x->statements, insn) + 1);
    return buffer;
}

const char *insn_place_line(const inspection *x, uint32_t insn, char buffer[48])
{
    snprintf(buffer, 48, "s%u (L%u)", pti_statement_of_insn(&x->statements, insn) + 1, x->function->insns[insn].at.line);
    return buffer;
}

const char *span_text(const inspection *x, uint32_t first, uint32_t last, char buffer[64])
{
    return range_text(pti_statement_of_insn(&x->statements, first), pti_statement_of_insn(&x->statements, last), buffer);
}

const char *part_text(const inspection *x, uint32_t insn, char buffer[24])
{
    uint32_t phase = x->phases.of_insn[insn];
    uint32_t before = pti_phases_before(&x->phases, pti_statement_of_insn(&x->statements, insn));
    if (phase != PTI_NONE)
        snprintf(buffer, 24, "P%u", phase + 1);
    else if (before == 0)
        snprintf(buffer, 24, "%s", x->phases.count ? "prologue" : "");
    else
        snprintf(buffer, 24, "E%u", before);
    return buffer;
}

const char *opcode_of_insn(const inspection *x, uint32_t insn)
{
    return x->opcodes.list[x->opcodes.of_insn[insn]].text;
}

const char *name_of_base(const inspection *x, uint32_t base, char *buffer, size_t size)
{
    const memory_analysis *m = x->memory;
    uint32_t atom = m->addresses.bases[base].atom;
    if (atom == PTI_NONE)
        snprintf(buffer, size, "no pointer found");
    else
        pti_atom_text(&m->symbols, &m->plain, atom, buffer, size);
    return buffer;
}

const char *depends_text(uint32_t depends, char *buffer, size_t size)
{
    static const struct { uint32_t bit; const char *name; } rows[] = {
        {PTI_ON_LANE, "lane"}, {PTI_ON_THREAD, "tid"}, {PTI_ON_BLOCK, "block"}, {PTI_ON_PARAM, "parameters"},
        {PTI_ON_VALUE, "computed values"}, {PTI_ON_TURN, "loop turns"}, {PTI_ON_SYMBOL, "addresses"}, {PTI_ON_OTHER, "other values"}};
    buffer[0] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (depends & rows[i].bit)
            append_text(buffer, size, "%s%s", *buffer ? ", " : "", rows[i].name);
    return buffer;
}

/* "s1, s2, s3 … s9": instructions of a sorted list. */
static const char *places_text(const inspection *x, const uint32_t *insns, uint32_t n, char *buffer, size_t size)
{
    char place[32];
    buffer[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        if (i == 3 && n > 4) {
            append_text(buffer, size, " … %s", insn_place(x, insns[n - 1], place));
            break;
        }
        append_text(buffer, size, "%s%s", i ? ", " : "", insn_place(x, insns[i], place));
    }
    return buffer;
}

/* ------------------------------------------------------------ parameters */

static const char *pointer_text(const inspection *x, uint32_t base, char *buffer, size_t size)
{
    const pti_base_info *b = &x->memory->addresses.bases[base];
    buffer[0] = '\0';
    append_text(buffer, size, "%s pointer", ptx_space_name(b->space));
    if (b->nreads)
        append_text(buffer, size, ", %u read%s", b->nreads, b->nreads == 1 ? "" : "s");
    if (b->nwrites)
        append_text(buffer, size, ", %u write%s", b->nwrites, b->nwrites == 1 ? "" : "s");
    return buffer;
}

const char *param_uses_text(const inspection *x, const pti_param *p, char *buffer, size_t size)
{
    static const struct { uint32_t bit; const char *name; } rows[] = {
        {PTI_IN_COMPARISON, "bound (compared)"}, {PTI_IN_COORDINATE, "texture coordinate"}, {PTI_IN_FLOAT, "float arithmetic"},
        {PTI_IN_MATRIX, "matrix operand"}, {PTI_IN_STORE, "stored or passed on"}, {PTI_IN_BRANCH, "decides branches"}};
    char text[128];
    buffer[0] = '\0';
    if (p->uses & PTI_AS_POINTER)
        append_text(buffer, size, "%s", pointer_text(x, p->base, text, sizeof text));
    if (p->uses & PTI_AS_TEXTURE)
        append_text(buffer, size, "%stexture of %u instruction%s", *buffer ? "; " : "", p->nhandle, p->nhandle == 1 ? "" : "s");
    if (p->uses & PTI_AS_SURFACE)
        append_text(buffer, size, "%ssurface of %u instruction%s", *buffer ? "; " : "", p->nhandle, p->nhandle == 1 ? "" : "s");
    if (p->uses & (PTI_AS_POINTER | PTI_AS_TEXTURE | PTI_AS_SURFACE))
        return buffer;
    if (p->uses & PTI_IN_ADDRESS)
        append_text(buffer, size, "part of addresses");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (p->uses & rows[i].bit)
            append_text(buffer, size, "%s%s", *buffer ? "; " : "", rows[i].name);
    if (!*buffer)
        append_text(buffer, size, "no use");
    return buffer;
}

void report_params(report *r, const inspection *x)
{
    static const char *const heads[] = {"place", "byte", "type", "loads", "statements", "becomes"};
    const pti_params *p = &x->memory->params;
    report_heading(r, 3, "Parameters");
    if (!x->function->is_entry || x->function->param_size == 0) {
        report_paragraph(r, x->function->is_entry ? "None." : "Only the parameter block of an entry is looked at.");
        return;
    }
    report_paragraph(r, "The block has %" PRIu64 " bytes; %u places of it are loaded.", x->function->param_size, p->count);
    report_table(r, "< ><> <<", heads, 6);
    for (uint32_t i = 0; i < p->count; i++) {
        const pti_param *q = &p->list[i];
        char name[CELL], byte[24], loads[24], places[CELL], uses[CELL];
        pti_param_name(x->function, q->offset, name, sizeof name);
        snprintf(byte, sizeof byte, "%" PRIu64, q->offset);
        snprintf(loads, sizeof loads, "%u", q->nloads);
        const char *cells[] = {name, byte, ptx_type_name(q->type), loads, places_text(x, q->loads, q->nloads, places, sizeof places),
                               param_uses_text(x, q, uses, sizeof uses)};
        report_row(r, cells);
    }
    report_table_end(r);
    if (p->nother)
        report_paragraph(r, "%u more loads from the block are at places that are not constant.", p->nother);
}

/* ------------------------------------------------------------ addresses */

static const char *extent_text(const pti_base_info *b, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (b->low == b->high)
        append_text(buffer, size, "not known");
    else
        append_text(buffer, size, "%" PRId64 "…%" PRId64, b->low, b->high);
    return buffer;
}

static const char *touched_text(const pti_base_info *b, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (!b->mapped)
        return buffer;
    append_text(buffer, size, "%" PRIu64 " bytes", b->touched);
    if (b->ngaps)
        append_text(buffer, size, ", %u gaps of %" PRIu64, b->ngaps, b->gap_bytes);
    else
        append_text(buffer, size, ", no gaps");
    if (b->repeated)
        append_text(buffer, size, "; %" PRIu64 " by several instructions", b->repeated);
    return buffer;
}

static const char *open_text(const pti_base_info *b, char *buffer, size_t size)
{
    char on[200];
    buffer[0] = '\0';
    if (b->nopen)
        append_text(buffer, size, "%u", b->nopen);
    uint32_t depends = b->open_on & ~(uint32_t)PTI_ON_LANE;
    if (b->nopen && depends)
        append_text(buffer, size, " (by %s)", depends_text(depends, on, sizeof on));
    return buffer;
}

static void report_bases(report *r, const inspection *x)
{
    static const char *const heads[] = {"base", "space", "reads", "writes", "slots", "extent", "touched", "open"};
    report_table(r, "<<>>> <<<", heads, 8);
    for (uint32_t i = 0; i < x->memory->addresses.nbases; i++) {
        const pti_base_info *b = &x->memory->addresses.bases[i];
        char name[CELL], reads[24], writes[24], slots[24], extent[64], touched[128], open[256];
        if (b->count == 0)
            continue;
        snprintf(reads, sizeof reads, "%u", b->nreads);
        snprintf(writes, sizeof writes, "%u", b->nwrites);
        snprintf(slots, sizeof slots, "%u", b->slots);
        const char *cells[] = {name_of_base(x, i, name, sizeof name), ptx_space_name(b->space), reads, writes, slots,
                               extent_text(b, extent, sizeof extent), touched_text(b, touched, sizeof touched),
                               open_text(b, open, sizeof open)};
        report_row(r, cells);
    }
    report_table_end(r);
}

/* "0", "0…11776 step 512", "49920…212752". */
static const char *constants_text(const pti_pattern *p, char *buffer, size_t size)
{
    buffer[0] = '\0';
    append_text(buffer, size, "%" PRId64, p->least);
    if (p->most != p->least)
        append_text(buffer, size, "…%" PRId64, p->most);
    if (p->step && p->most != p->least)
        append_text(buffer, size, " step %" PRId64, p->step);
    return buffer;
}

static const uint32_t *insns_of_pattern(const inspection *x, const pti_pattern *p, uint32_t *first, uint32_t *last)
{
    const pti_addresses *a = &x->memory->addresses;
    *first = PTI_NONE;
    *last = 0;
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        uint32_t insn = a->list[a->by_base[i]].insn;
        *first = insn < *first ? insn : *first;
        *last = insn > *last ? insn : *last;
    }
    return a->by_base + p->first;
}

static bool is_assumed(const inspection *x, const pti_pattern *p)
{
    for (uint32_t i = p->first; i < p->first + p->count; i++)
        if (x->memory->addresses.list[x->memory->addresses.by_base[i]].assumed)
            return true;
    return false;
}

static void report_pattern(report *r, const inspection *x, const pti_pattern *p)
{
    const memory_analysis *m = x->memory;
    char form[FORMULA], constants[96], count[24], bytes[24], span[64], way[48];
    uint32_t first, last;
    insns_of_pattern(x, p, &first, &last);
    pti_poly_text(&m->symbols, &m->names, p->form, form, sizeof form);
    snprintf(count, sizeof count, "%u", p->count);
    snprintf(bytes, sizeof bytes, "%u", p->bytes);
    snprintf(way, sizeof way, "%s%s", p->reads ? p->writes ? "atomic" : "read" : "write", is_assumed(x, p) ? ", no wrap" : "");
    const char *cells[] = {form, constants_text(p, constants, sizeof constants), count, p->bytes ? bytes : "?", way,
                           span_text(x, first, last, span)};
    report_row(r, cells);
}

static void report_parts(report *r, const inspection *x)
{
    const memory_analysis *m = x->memory;
    if (m->names.nparts == 0)
        return;
    report_paragraph(r, "In the formulas:");
    for (uint32_t a = 0; a < m->names.natoms; a++) {
        char text[FORMULA];
        if (!m->names.parts[a])
            continue;
        pti_atom_text(&m->symbols, &m->names, a, text, sizeof text);
        report_item(r, "a%u = %s", m->names.parts[a], text);
    }
    report_end(r);
}

void report_addresses(report *r, const inspection *x)
{
    static const char *const heads[] = {"offset, bytes", "plus", "count", "bytes each", "way", "statements"};
    const memory_analysis *m = x->memory;
    report_heading(r, 3, "Memory");
    if (m->addresses.count == 0) {
        report_paragraph(r, "No accesses.");
        return;
    }
    if (x->launch.block[0] || m->symbols.launch.block[0])
        report_paragraph(r, "Extents are those of a block of %u x %u x %u threads, branches and turns of bounded loops considered.", m->symbols.launch.block[0],
                         m->symbols.launch.block[1], m->symbols.launch.block[2]);
    else
        report_paragraph(r, "The block is not known (--block X,Y,Z): extents are those of one warp, and what depends on tid is open.");
    report_paragraph(r, "A slot is what one register is loaded from or stored to; equal formulas count once. \"no wrap\": the formula is right if "
                        "32-bit index arithmetic does not wrap. turn(s12) is how often the loop that begins at s12 has come round.");
    report_bases(r, x);
    for (uint32_t i = 0; i < m->addresses.nbases; i++) {
        const pti_base_info *b = &m->addresses.bases[i];
        char name[CELL];
        if (b->count == 0)
            continue;
        report_heading(r, 4, "%s", name_of_base(x, i, name, sizeof name));
        report_table(r, "<<>><<", heads, 6);
        for (uint32_t p = b->first_pattern; p < b->first_pattern + b->npatterns; p++)
            report_pattern(r, x, &m->addresses.patterns[p]);
        report_table_end(r);
    }
    report_parts(r, x);
}

/* ------------------------------------------------------------ textures */

const char *handle_text(const inspection *x, const pti_texture *t, char *buffer, size_t size)
{
    const memory_analysis *m = x->memory;
    if (t->param != PTI_NONE)
        pti_param_name(x->function, m->params.list[t->param].offset, buffer, size);
    else
        pti_poly_text(&m->symbols, &m->plain, t->handle, buffer, size);
    return buffer;
}

void report_textures(report *r, const inspection *x)
{
    static const char *const heads[] = {"statement", "instruction", "handle", "coordinates"};
    const memory_analysis *m = x->memory;
    if (m->params.ntextures == 0)
        return;
    report_heading(r, 3, "Textures and surfaces");
    report_table(r, "<<<<", heads, 4);
    for (uint32_t i = 0; i < m->params.ntextures; i++) {
        const pti_texture *t = &m->params.textures[i];
        char place[48], handle[FORMULA], coordinates[4 * FORMULA] = "", one[FORMULA];
        for (uint32_t c = 0; c < t->ncoordinates; c++) {
            pti_poly_text(&m->symbols, &m->names, t->coordinates[c], one, sizeof one);
            append_text(coordinates, sizeof coordinates, "%s%s", c ? "; " : "", one);
        }
        const char *cells[] = {insn_place_line(x, t->insn, place), opcode_of_insn(x, t->insn),
                               handle_text(x, t, handle, sizeof handle), coordinates};
        report_row(r, cells);
    }
    report_table_end(r);
}
