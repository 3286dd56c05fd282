/* inspect_slice.c - `--param NAME+OFF` and `--slice REG@LINE`: one parameter, and what one value is made of. */
#include "cli/inspect_memory.h"
#include "ptx/inspect/slice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ --param */

/* "param_0+40", "kernel_param_0+40", "n": an offset in the block. */
static bool parse_place(const ptx_function *f, const char *spec, uint64_t *offset)
{
    const char *plus = strrchr(spec, '+');
    uint64_t more = 0;
    if (plus && !parse_number(plus + 1, UINT32_MAX, &more))
        return false;
    size_t n = plus ? (size_t)(plus - spec) : strlen(spec), prefix = strlen(f->name);
    for (uint32_t i = 0; i < f->prototype.nparams; i++) {
        const ptx_variable *v = f->prototype.params[i];
        const char *shorter = strncmp(v->name, f->name, prefix) == 0 && v->name[prefix] == '_' ? v->name + prefix + 1 : v->name;
        bool named = (strlen(v->name) == n && memcmp(v->name, spec, n) == 0) || (strlen(shorter) == n && memcmp(shorter, spec, n) == 0);
        if (named && more < v->size) {
            *offset = v->offset + more;
            return true;
        }
    }
    return false;
}

static void report_one_param(report *r, const inspection *x, const pti_param *p)
{
    const memory_analysis *m = x->memory;
    char name[CELL], uses[CELL], text[512], place[48];
    pti_param_name(x->function, p->offset, name, sizeof name);
    report_heading(r, 3, "Parameter %s, .%s", name, ptx_type_name(p->type));
    report_paragraph(r, "Byte %" PRIu64 " of the block. It becomes: %s.", p->offset, param_uses_text(x, p, uses, sizeof uses));
    for (uint32_t i = 0; i < p->nloads; i++) {
        ptx_format_insn(x->module, &x->function->insns[p->loads[i]], text, sizeof text);
        report_item(r, "%s: %s", insn_place_line(x, p->loads[i], place), text);
    }
    report_end(r);
    for (uint32_t i = 0; i < m->params.ntextures; i++) {
        if (m->params.textures[i].param == PTI_NONE || &m->params.list[m->params.textures[i].param] != p)
            continue;
        ptx_format_insn(x->module, &x->function->insns[m->params.textures[i].insn], text, sizeof text);
        report_item(r, "%s: %s", insn_place_line(x, m->params.textures[i].insn, place), text);
    }
    for (uint32_t i = 0; p->base != PTI_NONE && i < m->addresses.bases[p->base].count; i++) {
        const pti_access *a = &m->addresses.list[m->addresses.by_base[m->addresses.bases[p->base].first + i]];
        char formula[FORMULA];
        pti_poly_text(&m->symbols, &m->plain, a->offset, formula, sizeof formula);
        report_item(r, "%s: %s, %u bytes at %s", insn_place_line(x, a->insn, place), opcode_of_insn(x, a->insn), a->bytes, formula);
    }
    report_end(r);
}

int report_param(report *r, const inspection *x, const char *spec, json_t **json)
{
    const pti_params *p = &x->memory->params;
    uint64_t offset;
    uint32_t found = 0;
    if (!parse_place(x->function, spec, &offset))
        return usage_error(&command_inspect, "--param %s: %s has no such parameter or byte", spec, x->function->name);
    json_t *list = json ? json_array() : NULL;
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t end = p->list[i].offset + ptx_type_bytes(p->list[i].type);
        if (offset < p->list[i].offset || offset >= end)
            continue;
        found++;
        if (list)
            json_array_append_new(list, json_of_param(x, &p->list[i]));
        else
            report_one_param(r, x, &p->list[i]);
    }
    if (json)
        *json = list;
    else if (found == 0)
        report_paragraph(r, "%s loads nothing from %s.", x->function->name, spec);
    return EXIT_DONE;
}

/* ------------------------------------------------------------ --slice */

/* The value that a register has at a line: the one that an instruction of the statement there writes, or else reads. */
static uint32_t value_at(const inspection *x, const char *name, uint32_t line, uint32_t *insn)
{
    uint32_t statement = pti_statement_of_line(&x->statements, line), read = PTI_NONE;
    if (statement == PTI_NONE)
        return PTI_NONE;
    const pti_statement *s = &x->statements.list[statement];
    for (uint32_t i = s->first_insn; i < s->first_insn + s->ninsns; i++) {
        for (uint32_t d = x->flow.first_def[i]; d < x->flow.first_def[i + 1]; d++)
            if (strcmp(x->function->registers[x->flow.values[d].reg].name, name) == 0) {
                *insn = i;
                return d;
            }
        for (uint32_t u = x->flow.first_use[i]; u < x->flow.first_use[i + 1] && read == PTI_NONE; u++)
            if (strcmp(x->function->registers[x->flow.uses[u].reg].name, name) == 0) {
                *insn = i;
                read = x->flow.uses[u].value;
            }
    }
    return read;
}

static json_t *json_of_slice(const inspection *x, const uint8_t *marks)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->statements.count; i++) {
        const pti_statement *s = &x->statements.list[i];
        bool in = false;
        for (uint32_t k = s->first_insn; k < s->first_insn + s->ninsns; k++)
            in |= marks[k];
        if (!in)
            continue;
        char text[1024];
        pti_statement_text(&x->statements, i, text, sizeof text);
        json_array_append_new(list, json_pack("{s:i, s:i, s:o}", "statement", (int)i + 1, "line", (int)s->first_line, "text",
                                              json_text(text)));
    }
    return list;
}

/* "s12 L34  add.s32 …", one line a statement. */
static bool print_slice(report *r, const inspection *x, json_t *slice)
{
    size_t n = json_array_size(slice);
    char **lines = calloc(n + 1, sizeof *lines);
    bool done = lines != NULL;
    for (size_t i = 0; done && i < n; i++) {
        json_t *j = json_array_get(slice, i);
        done = asprintf(&lines[i], "s%-6d L%-6d %s", (int)json_integer_value(json_object_get(j, "statement")),
                        (int)json_integer_value(json_object_get(j, "line")), json_string_value(json_object_get(j, "text"))) >= 0;
    }
    (void)x;
    if (done)
        report_code(r, (const char *const *)lines, (uint32_t)n);
    for (size_t i = 0; lines && i < n; i++)
        free(lines[i]);
    free(lines);
    return done;
}

int report_slice(report *r, const inspection *x, const char *spec, json_t **json)
{
    const char *at = strrchr(spec, '@');
    uint64_t line;
    char name[256];
    uint32_t insn = 0;
    if (!at || !parse_number(at + 1, UINT32_MAX, &line) || (size_t)(at - spec) >= sizeof name)
        return usage_error(&command_inspect, "--slice %s: a register and a line are expected, as %%r12@345", spec);
    snprintf(name, sizeof name, "%.*s", (int)(at - spec), spec);
    uint32_t value = value_at(x, name, (uint32_t)line, &insn);
    if (value == PTI_NONE)
        return usage_error(&command_inspect, "--slice %s: no statement of %s at line %llu writes or reads %s", spec, x->function->name,
                           (unsigned long long)line, name);
    uint8_t *marks = calloc((size_t)x->function->ninsns + 1, 1);
    json_t *slice = NULL;
    uint32_t follow = PTI_SLICE_ADDRESSES | (x->no_branches ? 0 : PTI_SLICE_BRANCHES);
    pti_status status = marks ? pti_backward_slice(&x->flow, value, follow, marks) : PTI_MEMORY;
    if (status == PTI_OK)
        slice = json_of_slice(x, marks);
    free(marks);
    if (status == PTI_LIMIT)
        return usage_error(&command_inspect, "--slice: %s has too many branches; --no-branches leaves them out", x->function->name);
    if (!slice)
        return usage_error(&command_inspect, "out of memory");
    if (json) {
        *json = slice;
        return EXIT_DONE;
    }
    char place[48];
    report_heading(r, 3, "What %s at %s is made of", name, insn_place_line(x, insn, place));
    report_paragraph(r, "%zu statements, back to loads from memory, parameters, special registers and constants; branches that decide %s.",
                     json_array_size(slice), x->no_branches ? "are left out" : "are among them");
    bool done = print_slice(r, x, slice);
    json_decref(slice);
    return done ? EXIT_DONE : usage_error(&command_inspect, "out of memory");
}
