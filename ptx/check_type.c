/* check_type.c - which values suit which types.
 *
 * PTX ISA, "Operand Type Checking" and its tables of relaxed rules for ld, st and cvt, as ptxas applies
 * them: an untyped register of the right size suits any instruction type, an untyped instruction any
 * register; integers of one size agree whatever their sign; floats agree with themselves only; alternate
 * and packed formats live in untyped registers (an .f16x2 register also passes for 32-bit integers).
 */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

static bool is_int(char class)
{
    return class == 'u' || class == 's';
}

static uint32_t register_bits(ptx_type type)
{
    return type == PTX_TYPE_PRED ? 1 : 8 * ptx_type_bytes(type);
}

static bool class_fits(ptx_type reg, ptx_type type)
{
    char rc = ptx_type_class(reg), tc = ptx_type_class(type);
    if (rc == 'b' || tc == 'b' || reg == type)
        return true;
    if (is_int(tc))
        return is_int(rc) || reg == PTX_TYPE_F16X2;
    return reg == PTX_TYPE_F16X2 && (type == PTX_TYPE_U16X2 || type == PTX_TYPE_S16X2);
}

/* Types that may lie in a wider register where the rules are relaxed. */
static bool may_be_wider(ptx_type type)
{
    switch (ptx_type_class(type)) {
    case 'b': case 'u': case 's': return true;
    case 'f': return type == PTX_TYPE_F16 || type == PTX_TYPE_F32 || type == PTX_TYPE_F64;
    default: return type == PTX_TYPE_F16X2;
    }
}

bool ptx_type_fits(ptx_type reg, ptx_type type, bool relaxed)
{
    if (reg == type)
        return true;
    if (reg == PTX_TYPE_PRED || type == PTX_TYPE_PRED)
        return false;
    uint32_t rb = register_bits(reg), tb = register_bits(type);
    if (rb != tb && !(relaxed && rb > tb && may_be_wider(type)))
        return false;
    return class_fits(reg, type);
}

/* ------------------------------------------------------------ immediates */

/* Why a constant cannot stand for a type; NULL when it can. */
static const char *refuse_constant(const ptx_raw_value *v, ptx_type type)
{
    char class = ptx_type_class(type);
    bool is_float = v->kind == PTX_RAW_FLOAT;
    if (type == PTX_TYPE_F32 || type == PTX_TYPE_F64)
        return is_float ? NULL : "an integer constant; write 1.0, or 0f or 0d and the bits";
    if (class == 'f' || class == 'x')
        return "a constant, which this type does not have";
    if (!is_float)
        return NULL;
    if (class == 'b' && ptx_type_bits(type) == 32 && v->is_single)
        return NULL;
    if (class == 'b' && ptx_type_bits(type) == 64 && !v->is_single)
        return NULL;
    return "a floating-point constant";
}

uint64_t ptx_raw_bits(const ptx_raw_value *v, ptx_type type)
{
    ptx_constant c = {
        .kind = v->kind == PTX_RAW_INT ? PTX_CONST_INT : PTX_CONST_FLOAT, .is_single = v->is_single, .bits = v->imm};
    return ptx_constant_bits(&c, type);
}

/* ------------------------------------------------------------ special registers and addresses */

static bool special_fits(const ptx_reading *reading, const ptx_raw_value *v, ptx_type type)
{
    bool half = ptx_special_registers[v->reg].half;
    if (ptx_type_fits(v->type, type, (reading->flags & PTX_FLAG_RELAXED) != 0))
        return true;
    return half && ptx_type_class(type) != 'f' && type != PTX_TYPE_PRED && register_bits(type) < register_bits(v->type)
        && register_bits(type) >= 16;
}

/* The address of a symbol: 64 bits, or 32 outside .global. */
static bool symbol_fits(const ptx_raw_value *v, ptx_type type)
{
    char class = ptx_type_class(type);
    uint32_t bits = ptx_type_bits(type);
    if (class != 'b' && !is_int(class))
        return false;
    if (bits == 64)
        return true;
    return bits == 32 && v->kind == PTX_RAW_VARIABLE && v->binding->as.variable->space != PTX_SPACE_GLOBAL;
}

/* ------------------------------------------------------------ messages */

void ptx_explain_value(const ptx_raw_value *v, char *buffer, size_t size)
{
    switch (v->kind) {
    case PTX_RAW_REG:
        snprintf(buffer, size, "a register of type .%s%s",
                 v->vector == 4   ? "v4 ."
                 : v->vector == 2 ? "v2 ."
                                  : "",
                 ptx_type_name(v->type));
        break;
    case PTX_RAW_INT: snprintf(buffer, size, "an integer constant"); break;
    case PTX_RAW_FLOAT: snprintf(buffer, size, "a floating-point constant"); break;
    case PTX_RAW_SPECIAL: snprintf(buffer, size, "the special register %s", ptx_special_registers[v->reg].name); break;
    case PTX_RAW_VARIABLE: snprintf(buffer, size, "the variable '%s'", v->symbol->name); break;
    case PTX_RAW_FUNCTION: snprintf(buffer, size, "the function '%s'", v->symbol->name); break;
    case PTX_RAW_NAME:
        snprintf(buffer, size, v->binding ? "the label '%s'" : "'%s', which is not declared", v->symbol->name);
        break;
    case PTX_RAW_SINK: snprintf(buffer, size, "the sink '_'"); break;
    }
}

static bool mismatch(ptx_parser *p, const ptx_reading *reading, const ptx_raw_value *v, ptx_type type, bool report)
{
    if (!report)
        return false;
    char what[256];
    if (v->kind == PTX_RAW_NAME && !v->binding)
        return PTX_FAULT(p, v->at, "'%s' is not declared", v->symbol->name);
    ptx_explain_value(v, what, sizeof what);
    return PTX_FAULT(p, v->at, "%s needs an operand of type .%s here, not %s", reading->form->mnemonic,
                     ptx_type_name(type), what);
}

/* Whether `%r + 4` is a source: ptxas ends in a crash for registers of floating-point types and predicates. */
static bool has_sum(ptx_type type)
{
    const uint32_t bits = ptx_type_bits(type);
    return (ptx_type_class(type) == 'b' || is_int(ptx_type_class(type))) && type != PTX_TYPE_PRED && (bits == 16 || bits == 32 || bits == 64);
}

bool ptx_check_value(ptx_parser *p, const ptx_reading *reading, const ptx_raw_value *v, ptx_type type, bool report)
{
    const char *why;
    if (v->sum && (v->negated || v->minus || v->suffix || v->vector > 1 || !has_sum(v->type)))
        return report && PTX_FAULT(p, v->at, "a constant can be added to a whole integer register of 16, 32 or 64 bits only");
    if (v->kind == PTX_RAW_REG && v->vector == 1 && !v->suffix && !v->negated && !v->minus) {
        if (ptx_type_fits(v->type, type, (reading->flags & PTX_FLAG_RELAXED) != 0))
            return true;
        return mismatch(p, reading, v, type, report);
    }
    if (v->minus || (v->negated && type != PTX_TYPE_PRED))
        return report && PTX_FAULT(p, v->at, v->minus ? "%s takes no negated operand" : "%s takes no '!' here",
                                   reading->form->mnemonic);
    if (v->suffix)
        return report && PTX_FAULT(p, v->at, "'.%.*s' cannot be selected in an operand of %s", (int)v->suffix_length,
                                   v->suffix, reading->form->mnemonic);
    switch (v->kind) {
    case PTX_RAW_REG:
        if (v->vector == 1 && ptx_type_fits(v->type, type, false))
            return true;
        return mismatch(p, reading, v, type, report);
    case PTX_RAW_INT: case PTX_RAW_FLOAT:
        /* Outside braces only selectors of a matrix product (.u16 and the sparse ones' .u32) may be constants. */
        why = reading->flags & PTX_FLAG_NO_CONSTANTS && type != PTX_TYPE_U16 && type != PTX_TYPE_U32 ? "a constant" : refuse_constant(v, type);
        if (!why || !report)
            return !why;
        return PTX_FAULT(p, v->at, "%s needs an operand of type .%s here, not %s", reading->form->mnemonic,
                         ptx_type_name(type), why);
    case PTX_RAW_SPECIAL:
        if (!(reading->flags & PTX_FLAG_SPECIALS))
            return report && PTX_FAULT(p, v->at, "%s cannot read a special register; move %s to a register first",
                                       reading->form->mnemonic, ptx_special_registers[v->reg].name);
        return (v->vector == 1 && special_fits(reading, v, type)) || mismatch(p, reading, v, type, report);
    case PTX_RAW_VARIABLE: case PTX_RAW_FUNCTION:
        if (!(reading->flags & PTX_FLAG_SYMBOLS))
            return report && PTX_FAULT(p, v->at, "%s cannot take the address of '%s'; mov it to a register first",
                                       reading->form->mnemonic, v->symbol->name);
        if ((reading->flags & PTX_FLAG_SPACED) && reading->nspaces && v->kind == PTX_RAW_VARIABLE
            && v->binding->as.variable->space != (ptx_space)reading->spaces[0])
            return report && PTX_FAULT(p, v->at, "'%s' is in .%s, not in .%s", v->symbol->name,
                                       ptx_space_name(v->binding->as.variable->space),
                                       ptx_space_name((ptx_space)reading->spaces[0]));
        return symbol_fits(v, type) || mismatch(p, reading, v, type, report);
    default:
        return mismatch(p, reading, v, type, report);
    }
}

/* ------------------------------------------------------------ addresses */

static bool is_parameter_of(const ptx_variable *v, const ptx_variable *const *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}

/* Input parameters are read, returned values are written; .param variables of the body are both. */
static bool check_param_access(ptx_parser *p, const ptx_reading *reading, const ptx_raw_value *v, bool report)
{
    const ptx_variable *variable = v->binding->as.variable;
    const ptx_prototype *own = &p->function->prototype;
    bool stores = strcmp(reading->form->mnemonic, "st") == 0;
    if (stores && v->binding->depth == 1 && is_parameter_of(variable, own->params, own->nparams))
        return report && PTX_FAULT(p, v->at, "'%s' is an input parameter and cannot be written", variable->name);
    if (!stores && v->binding->depth == 1 && is_parameter_of(variable, own->returns, own->nreturns))
        return report && PTX_FAULT(p, v->at, "'%s' is the value to return and cannot be read", variable->name);
    return true;
}

static bool check_symbol_address(ptx_parser *p, const ptx_reading *reading, uint32_t ordinal, const ptx_raw_value *v,
                                 bool report)
{
    const ptx_variable *variable = v->binding->as.variable;
    ptx_space space = ordinal < reading->nspaces ? (ptx_space)reading->spaces[ordinal] : PTX_SPACE_GENERIC;
    if (reading->nspaces == 0 || space == PTX_SPACE_GENERIC) {
        bool generic_access = strcmp(reading->form->mnemonic, "ld") == 0 || strcmp(reading->form->mnemonic, "st") == 0;
        if (variable->space == PTX_SPACE_PARAM && generic_access)
            return report &&
                   PTX_FAULT(p, v->at, "'%s' is in .param, where generic addresses do not reach; use %s.param",
                             variable->name, reading->form->mnemonic);
        return true;
    }
    if (variable->space != space)
        return report && PTX_FAULT(p, v->at, "'%s' is in .%s, but %s accesses .%s", variable->name,
                                   ptx_space_name(variable->space), reading->form->mnemonic, ptx_space_name(space));
    return space != PTX_SPACE_PARAM || check_param_access(p, reading, v, report);
}

bool ptx_check_address(ptx_parser *p, const ptx_reading *reading, uint32_t ordinal, const ptx_raw_operand *raw,
                       bool report)
{
    const ptx_raw_value *v = &p->values[raw->first];
    ptx_space space = ordinal < reading->nspaces ? (ptx_space)reading->spaces[ordinal] : PTX_SPACE_GENERIC;
    /* An address after the one that the instruction accesses is its mbarrier (st.async, red.async), of the same space. */
    bool counts = ordinal && reading->nspaces;
    bool wide = space == PTX_SPACE_GLOBAL || (space == PTX_SPACE_GENERIC && (reading->flags & PTX_FLAG_GENERIC) && !counts);
    char what[256];
    if (v->negated || v->minus || v->suffix)
        return report && PTX_FAULT(p, v->at, "an address is a register or a symbol, with an offset added");
    switch (v->kind) {
    case PTX_RAW_REG: {
        char class = ptx_type_class(v->type);
        if (v->vector == 1 && (class == 'b' || is_int(class)) && ptx_type_bits(v->type) == 64)
            return true;
        if (v->vector == 1 && (class == 'b' || is_int(class)) && ptx_type_bits(v->type) == 32) {
            if (!wide)
                return true;
            return report &&
                   PTX_FAULT(p, v->at, "a %s address has 64 bits, but this register has 32", ptx_space_name(space));
        }
        break;
    }
    case PTX_RAW_VARIABLE: return check_symbol_address(p, reading, ordinal, v, report);
    case PTX_RAW_INT:
        if (space == PTX_SPACE_LOCAL || (reading->nspaces == 0 && !(reading->flags & PTX_FLAG_GENERIC)))
            return true;
        return report && PTX_FAULT(p, v->at, "a constant address is possible in .local only");
    case PTX_RAW_NAME:
        if (report && !v->binding)
            return PTX_FAULT(p, v->at, "'%s' is not declared", v->symbol->name);
        break;
    default: break;
    }
    if (!report)
        return false;
    ptx_explain_value(v, what, sizeof what);
    return PTX_FAULT(p, v->at, "an address is an integer register or a variable, not %s", what);
}
