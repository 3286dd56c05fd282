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
    if (nreturns != callee->nreturns)
        return PTX_FAULT(p, insn->at, "'%s' returns %u value%s, but %u %s taken", name, callee->nreturns,
                         callee->nreturns == 1 ? "" : "s", nreturns, nreturns == 1 ? "is" : "are");
    if (nargs != callee->nparams && !(open && nargs + 1 == callee->nparams))
        return PTX_FAULT(p, insn->at, "'%s' has %u parameter%s, but %u %s given", name, callee->nparams,
                         callee->nparams == 1 ? "" : "s", nargs, nargs == 1 ? "is" : "are");
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
