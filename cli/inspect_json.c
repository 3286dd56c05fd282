/* inspect_json.c - `ptxbridge inspect --json`. Names in PTX are ASCII (PTX ISA, "Identifiers"), so they are valid JSON text. */
#include "cli/inspect.h"

static json_t *json_of_variable(const ptx_variable *v)
{
    json_t *j = json_object();
    json_object_set_new(j, "name", json_string(v->name));
    json_object_set_new(j, "space", json_string(ptx_space_name(v->space)));
    json_object_set_new(j, "type", json_string(ptx_type_name(v->type)));
    json_object_set_new(j, "vector", json_integer(v->vector));
    json_object_set_new(j, "array", json_boolean(v->is_array));
    json_object_set_new(j, "count", json_integer((json_int_t)v->count));
    json_object_set_new(j, "bytes", json_integer((json_int_t)v->size));
    json_object_set_new(j, "align", json_integer(v->align));
    json_object_set_new(j, "line", json_integer(v->at.line));
    return j;
}

static json_t *json_of_extent(const uint32_t n[3])
{
    return n[0] ? json_pack("[i,i,i]", (int)n[0], (int)(n[1] ? n[1] : 1), (int)(n[2] ? n[2] : 1)) : json_null();
}

static json_t *json_of_param(const ptx_function *f, const ptx_variable *v)
{
    json_t *j = json_of_variable(v);
    json_object_del(j, "space");
    if (f->is_entry)
        json_object_set_new(j, "offset", json_integer((json_int_t)v->offset));
    json_object_set_new(j, "pointer", json_boolean(v->is_pointer));
    return j;
}

static json_t *json_of_directives(const ptx_function *f)
{
    return json_pack("{s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:b}", "maxntid", json_of_extent(f->maxntid), "reqntid",
                     json_of_extent(f->reqntid), "reqnctapercluster", json_of_extent(f->reqnctapercluster),
                     "minnctapersm", (int)f->minnctapersm, "maxnctapersm", (int)f->maxnctapersm, "maxnreg",
                     (int)f->maxnreg, "maxclusterrank", (int)f->maxclusterrank, "noreturn", f->noreturn);
}

static json_t *json_of_function(const ptx_function *f)
{
    json_t *j = json_object(), *params = json_array(), *variables = json_array();
    for (uint32_t i = 0; i < f->prototype.nparams; i++)
        json_array_append_new(params, json_of_param(f, f->prototype.params[i]));
    for (uint32_t i = 0; i < f->nvariables; i++)
        json_array_append_new(variables, json_of_variable(f->variables[i]));
    json_object_set_new(j, "name", json_string(f->name));
    json_object_set_new(j, "entry", json_boolean(f->is_entry));
    json_object_set_new(j, "declaration", json_boolean(f->is_declaration));
    json_object_set_new(j, "line", json_integer(f->at.line));
    json_object_set_new(j, "status", json_string(pxb_status_name(rt_status_of_reason(f->broken))));
    if (f->why) {
        json_object_set_new(j, "reason", json_string(f->why->message));
        json_object_set_new(j, "reason_line", json_integer(f->why->at.line));
    }
    json_object_set_new(j, "param_bytes", json_integer((json_int_t)f->param_size));
    json_object_set_new(j, "local_bytes", json_integer((json_int_t)f->local_size));
    json_object_set_new(j, "registers", json_integer(f->nregisters));
    json_object_set_new(j, "instructions", json_integer(f->ninsns));
    json_object_set_new(j, "params", params);
    json_object_set_new(j, "variables", variables);
    json_object_set_new(j, "directives", json_of_directives(f));
    return j;
}

static json_t *json_of_not_lowered(const ptx_module *m)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        const ptx_function *f = m->functions[i];
        for (uint32_t j = 0; j < f->ninsns; j++) {
            char text[256];
            if (is_lowered(&f->insns[j]))
                continue;
            ptx_format_insn(m, &f->insns[j], text, sizeof text);
            json_t *item = json_object();
            json_object_set_new(item, "function", json_string(f->name));
            json_object_set_new(item, "line", json_integer(f->insns[j].at.line));
            json_object_set_new(item, "instruction", json_text(text));
            json_object_set_new(item, "understood", json_boolean(f->insns[j].form != NULL));
            json_array_append_new(list, item);
        }
    }
    return list;
}

static json_t *json_of_diagnostics(pxb_module *module)
{
    static const char *const severities[] = {"note", "warning", "error"};
    json_t *list = json_array();
    pxb_diagnostic d;
    for (uint32_t i = 0; pxb_module_diagnostic(module, i, &d) == PXB_OK; i++) {
        json_t *j = json_object();
        json_object_set_new(j, "severity", json_string(severities[d.severity]));
        json_object_set_new(j, "line", json_integer(d.line));
        json_object_set_new(j, "column", json_integer(d.column));
        if (d.function)
            json_object_set_new(j, "function", json_string(d.function));
        json_object_set_new(j, "message", json_text(d.message));
        json_array_append_new(list, j);
    }
    return list;
}

json_t *json_of_inspection(pxb_module *module, const histogram *h)
{
    const ptx_module *m = module->ptx;
    json_t *j = json_object(), *functions = json_array(), *variables = json_array(), *opcodes = json_array();
    char text[32];
    for (uint32_t i = 0; i < m->nfunctions; i++)
        json_array_append_new(functions, json_of_function(m->functions[i]));
    for (uint32_t i = 0; i < m->nvariables; i++)
        json_array_append_new(variables, json_of_variable(m->variables[i]));
    for (uint32_t i = 0; i < h->nopcodes; i++)
        json_array_append_new(opcodes,
                              json_pack("{s:o, s:I, s:b}", "instruction", json_text(h->opcodes[i].text), "count",
                                        (json_int_t)h->opcodes[i].count, "lowered", h->opcodes[i].lowered));
    json_object_set_new(j, "file", json_text(m->file));
    snprintf(text, sizeof text, "%u.%u", m->version / 10, m->version % 10);
    json_object_set_new(j, "version", json_string(text));
    snprintf(text, sizeof text, "sm_%u%.1s", m->sm, m->sm_suffix ? (char[]){m->sm_suffix, '\0'} : "");
    json_object_set_new(j, "target", json_string(text));
    json_object_set_new(j, "address_size", json_integer(m->address_size));
    json_object_set_new(j, "statements", json_integer((json_int_t)m->statements));
    json_object_set_new(j, "errors", json_integer(m->nerrors));
    json_object_set_new(j, "warnings", json_integer(m->nwarnings));
    json_object_set_new(j, "functions", functions);
    json_object_set_new(j, "variables", variables);
    json_object_set_new(j, "instructions", opcodes);
    json_object_set_new(j, "not_lowered", json_of_not_lowered(m));
    json_object_set_new(j, "diagnostics", json_of_diagnostics(module));
    return j;
}
