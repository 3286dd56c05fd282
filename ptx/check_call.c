/* check_call.c - the arguments of a call against the parameters of what is called.
 *
 * PTX ISA, "Control Flow Instructions: call": arguments are .param variables of the caller, registers or
 * constants; the last formal parameter may be an array of unknown size, for any further bytes or none.
 */
#include "ptx/parser.h"

#include <string.h>

static bool check_param_variable(ptx_parser *p, const ptx_raw_value *v, const ptx_variable *formal)
{
    const ptx_variable *actual = v->binding->as.variable;
    if (actual->space != PTX_SPACE_PARAM || v->imm)
        return PTX_FAULT(p, v->at, "'%s' is not a .param variable", actual->name);
    bool open = formal->is_array && formal->size == 0;
    if (actual->is_array != formal->is_array || (!open && actual->size != formal->size)
        || (!actual->is_array && !ptx_type_fits(actual->type, formal->type, false)))
        return PTX_FAULT(p, v->at, "'%s' does not have the type of parameter '%s'", actual->name, formal->name);
    if (actual->align < formal->align)
        return PTX_FAULT(p, v->at, "'%s' is aligned to %u bytes, but parameter '%s' to %u", actual->name, actual->align,
                         formal->name, formal->align);
    return true;
}

static bool check_actual(ptx_parser *p, const ptx_raw_value *v, const ptx_variable *formal, bool returned)
{
    char what[256];
    ptx_reading call = {.form = NULL};
    if (v->kind == PTX_RAW_VARIABLE && v->vector == 1)
        return check_param_variable(p, v, formal);
    if (v->kind == PTX_RAW_SINK && returned)
        return true;
    if (v->kind == PTX_RAW_REG && v->vector == 1 && !v->suffix && !v->negated && !v->minus && !formal->is_array) {
        if (ptx_type_fits(v->type, formal->type, false))
            return true;
    } else if ((v->kind == PTX_RAW_INT || v->kind == PTX_RAW_FLOAT) && !returned && !formal->is_array) {
        if (ptx_check_value(p, &call, v, formal->type, false))
            return true;
    }
    if (v->kind == PTX_RAW_NAME && !v->binding)
        return PTX_FAULT(p, v->at, "'%s' is not declared", v->symbol->name);
    ptx_explain_value(v, what, sizeof what);
    return PTX_FAULT(p, v->at, "parameter '%s' of type .%s%s cannot be %s", formal->name, ptx_type_name(formal->type),
                     formal->is_array ? "[]" : "", what);
}

/* How many parameters were written: a vector is one. */
static uint32_t written(const ptx_variable *const *formals, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += formals[i]->part == 0;
    return count;
}

/* The arguments with vector registers as their components, as many as there are formal parameters (or all but an open last one);
 * NULL after a fault. */
static const ptx_raw_value *spread(ptx_parser *p, const ptx_raw_value *v, uint32_t n, const ptx_variable *const *formals, uint32_t nformals, bool returned)
{
    ptx_raw_value *out = PTX_NEW(p, ptx_raw_value, nformals + 1);
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t parts = formals[at]->parts ? formals[at]->parts : 1;
        const bool sink = v[i].kind == PTX_RAW_SINK && returned;
        if (!sink && (parts > 1 || (v[i].kind == PTX_RAW_REG && v[i].vector > 1)) && (v[i].kind != PTX_RAW_REG || v[i].vector != parts)) {
            char what[256];
            ptx_explain_value(&v[i], what, sizeof what);
            const int name = parts > 1 ? (int)strlen(formals[at]->name) - 2 : (int)strlen(formals[at]->name);
            PTX_FAULT(p, v[i].at, "parameter '%.*s' is %s, and cannot be %s", name, formals[at]->name,
                      parts == 1 ? "no vector" : parts == 2 ? "a vector of 2" : "a vector of 4", what);
            return NULL;
        }
        for (uint32_t k = 0; k < parts; k++) {
            out[at] = v[i];
            out[at].vector = 1;
            out[at++].reg += k;
        }
    }
    return out;
}

static const ptx_value *keep_values(ptx_parser *p, const ptx_raw_value *v, uint32_t n,
                                    const ptx_variable *const *formals, uint32_t nformals)
{
    ptx_value *values = n ? PTX_NEW(p, ptx_value, n) : NULL;
    for (uint32_t i = 0; i < n; i++)
        ptx_fill_value(&v[i], i < nformals ? formals[i]->type : PTX_TYPE_B8, &values[i]);
    return values;
}

bool ptx_check_call(ptx_parser *p, const ptx_prototype *callee, const char *name, ptx_insn *insn,
                    const ptx_raw_value *returns, uint32_t nreturns, const ptx_raw_value *args, uint32_t nargs)
{
    bool open = callee->nparams && callee->params[callee->nparams - 1]->size == 0;
    uint32_t returned = written(callee->returns, callee->nreturns), expected = written(callee->params, callee->nparams);
    if (nreturns != returned)
        return PTX_FAULT(p, insn->at, "'%s' returns %u value%s, but %u %s taken", name, returned, returned == 1 ? "" : "s", nreturns,
                         nreturns == 1 ? "is" : "are");
    if (nargs != expected && !(open && nargs + 1 == expected))
        return PTX_FAULT(p, insn->at, "'%s' has %u parameter%s, but %u %s given", name, expected, expected == 1 ? "" : "s", nargs,
                         nargs == 1 ? "is" : "are");
    returns = spread(p, returns, nreturns, callee->returns, callee->nreturns, true);
    args = spread(p, args, nargs, callee->params, callee->nparams, false);
    if (!returns || !args)
        return false;
    nargs = callee->nparams - (nargs != expected);
    nreturns = callee->nreturns;
    for (uint32_t i = 0; i < nreturns; i++)
        if (!check_actual(p, &returns[i], callee->returns[i], true))
            return false;
    for (uint32_t i = 0; i < nargs; i++)
        if (!check_actual(p, &args[i], callee->params[i], false))
            return false;
    insn->nreturns = nreturns;
    insn->nargs = nargs;
    insn->returns = keep_values(p, returns, nreturns, callee->returns, callee->nreturns);
    insn->args = keep_values(p, args, nargs, callee->params, callee->nparams);
    return true;
}
