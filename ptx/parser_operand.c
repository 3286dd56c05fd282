/* parser_operand.c - operands as they are written, and the syntax of call.
 *
 * PTX ISA, "Instruction Operands". Names are resolved here; whether an operand suits its
 * instruction is decided in check.c.
 */
#include "ptx/parser.h"

#include <string.h>

/* ------------------------------------------------------------ single values */

static ptx_raw_value *new_value(ptx_parser *p, uint32_t *index)
{
    if (p->nvalues >= PTX_MAX_VALUES) {
        PTX_LIMIT(p, ptx_token_at(&p->token), "more than %d operands and vector elements in one statement",
                  PTX_MAX_VALUES);
        return NULL;
    }
    PTX_GROW(p, p->values, p->value_room, p->nvalues + 1);
    ptx_raw_value *v = &p->values[p->nvalues];
    *v = (ptx_raw_value){.vector = 1, .at = ptx_token_at(&p->token)};
    *index = p->nvalues++;
    return v;
}

/* Whether a name follows the token that was read ahead. */
static bool name_follows(const ptx_parser *p)
{
    const char *c = p->lexer.cursor;
    while (*c == ' ' || *c == '\t')
        c++;
    if (strncmp(c, "WARP_SZ", 7) == 0)
        return false;
    return (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '%' || *c == '_' || *c == '$';
}

static int component_of(const ptx_token *suffix)
{
    static const char names[] = "xyzwrgba";
    const char *found = suffix->length == 2 ? strchr(names, suffix->start[1]) : NULL;
    return found ? (int)(found - names) & 3 : -1;
}

/* `.x` behind a vector, or the selector of a video instruction behind a register. */
static bool parse_suffix(ptx_parser *p, const ptx_token *name, ptx_raw_value *v)
{
    if (!ptx_at(p, PTX_TOKEN_WORD) || p->token.start != name->start + name->length)
        return true;
    int component = component_of(&p->token);
    if (v->vector > 1) {
        if (component < 0 || component >= v->vector)
            return PTX_FAULT(p, ptx_token_at(&p->token), "'%.*s' is not a component of '%.*s'", (int)p->token.length,
                             p->token.start, (int)name->length, name->start);
        v->vector = 1;
        if (v->kind == PTX_RAW_REG) {
            v->reg += (uint32_t)component;
        } else if (component == 3) {           /* the fourth element of %tid and its like is always zero */
            v->kind = PTX_RAW_INT;
            v->imm = 0;
        } else {
            v->special = (ptx_special)(v->special + component);
        }
    } else if (v->kind == PTX_RAW_REG) {
        v->suffix = p->token.start + 1;
        v->suffix_length = p->token.length - 1;
    } else {
        return PTX_FAULT(p, ptx_token_at(&p->token), "'%.*s' has no components", (int)name->length, name->start);
    }
    ptx_advance(p);
    return true;
}

static bool parse_named(ptx_parser *p, ptx_raw_value *v)
{
    ptx_token name = p->token;
    ptx_advance(p);
    if (name.length == 1 && *name.start == '_') {
        v->kind = PTX_RAW_SINK;
        return true;
    }
    ptx_lookup(p, &name, v);
    if (!parse_suffix(p, &name, v))
        return false;
    int64_t offset;
    if (v->kind != PTX_RAW_VARIABLE || !ptx_accept(p, '+'))
        return true;
    if (!ptx_parse_offset(p, &offset))
        return false;
    v->imm = (uint64_t)offset;
    return true;
}

static bool parse_constant_value(ptx_parser *p, ptx_raw_value *v)
{
    ptx_constant c;
    if (!ptx_parse_constant(p, &c))
        return false;
    v->kind = c.kind == PTX_CONST_INT ? PTX_RAW_INT : PTX_RAW_FLOAT;
    v->is_single = c.is_single;
    v->imm = c.bits;
    return true;
}

bool ptx_parse_raw_value(ptx_parser *p, uint32_t *index)
{
    ptx_raw_value *v = new_value(p, index);
    if (!v)
        return false;
    if (ptx_at(p, PTX_TOKEN_NAME) && !ptx_token_is(&p->token, "WARP_SZ"))
        return parse_named(p, v);
    if ((ptx_at(p, '!') || ptx_at(p, '-')) && name_follows(p)) {
        v->negated = ptx_at(p, '!');
        v->minus = ptx_at(p, '-');
        ptx_advance(p);
        return parse_named(p, v);
    }
    if (ptx_at(p, ',') || ptx_at(p, ';') || ptx_at(p, '}'))
        return ptx_unexpected(p, "an operand");
    return parse_constant_value(p, v);
}

/* ------------------------------------------------------------ whole operands */

/* Values separated by commas, up to `close`. */
static bool parse_values(ptx_parser *p, int close, const char *expected)
{
    uint32_t index;
    do
        if (!ptx_parse_raw_value(p, &index))
            return false;
    while (ptx_accept(p, ','));
    return ptx_expect(p, close, expected);
}

static bool parse_vector(ptx_parser *p, ptx_raw_operand *operand)
{
    operand->shape = PTX_SHAPE_VECTOR;
    ptx_advance(p);
    if (!parse_values(p, '}', "',' or '}'"))
        return false;
    operand->count = p->nvalues - operand->first;
    if (!ptx_accept(p, '|'))
        return true;
    operand->shape = PTX_SHAPE_VECTOR_PRED;
    uint32_t index;
    return ptx_parse_raw_value(p, &index);
}

/* Behind `[handle,`: {sampler,} coordinates, in braces unless there is one. */
static bool parse_coordinates(ptx_parser *p, ptx_raw_operand *operand)
{
    uint32_t index;
    operand->shape = PTX_SHAPE_TEXTURE;
    if (!ptx_at(p, '{')) {
        if (!ptx_parse_raw_value(p, &index))
            return false;
        if (!ptx_accept(p, ','))
            return true;
        operand->has_sampler = true;
    }
    return ptx_expect(p, '{', "'{'") && parse_values(p, '}', "',' or '}'");
}

/* [base], [base + offset], [number], [handle, {coordinates}] */
static bool parse_address(ptx_parser *p, ptx_raw_operand *operand)
{
    uint32_t index;
    operand->shape = PTX_SHAPE_ADDRESS;
    ptx_advance(p);
    if (!ptx_parse_raw_value(p, &index))
        return false;
    ptx_raw_value *base = &p->values[index];
    if (base->kind == PTX_RAW_VARIABLE) {
        operand->offset = (int64_t)base->imm;
    } else if (base->kind == PTX_RAW_INT) {
        operand->offset = (int64_t)base->imm;
    } else if (ptx_accept(p, '+') && !ptx_parse_offset(p, &operand->offset)) {
        return false;
    }
    if (ptx_at(p, '-'))
        return PTX_FAULT(p, ptx_token_at(&p->token), "an offset is added: write +-n for a negative one");
    if (ptx_accept(p, ',') && !parse_coordinates(p, operand))
        return false;
    operand->count = p->nvalues - operand->first;
    if (!ptx_expect(p, ']', "']'"))
        return false;
    ptx_accept_word(p, ".unified");        /* a promise about the address that changes no result */
    return true;
}

/* name[n], an older way to write [name + n]. */
static bool parse_subscript(ptx_parser *p, ptx_raw_operand *operand)
{
    uint64_t offset;
    operand->shape = PTX_SHAPE_ADDRESS;
    operand->count = 1;
    ptx_advance(p);
    if (!ptx_parse_integer(p, &offset, "an offset"))
        return false;
    operand->offset = (int64_t)(p->values[operand->first].imm + offset);
    return ptx_expect(p, ']', "']'");
}

static bool parse_operand(ptx_parser *p, ptx_raw_operand *operand)
{
    *operand = (ptx_raw_operand){.first = p->nvalues, .count = 1, .at = ptx_token_at(&p->token)};
    if (ptx_at(p, '['))
        return parse_address(p, operand);
    if (ptx_at(p, '{'))
        return parse_vector(p, operand);
    uint32_t index;
    if (!ptx_parse_raw_value(p, &index))
        return false;
    if (ptx_at(p, '[') && p->values[index].kind == PTX_RAW_VARIABLE)
        return parse_subscript(p, operand);
    ptx_raw_value *v = &p->values[index];
    if (v->kind == PTX_RAW_REG && ptx_accept(p, '+')) {        /* a sum, see add_before in check.c */
        int64_t addend;
        if (!ptx_parse_offset(p, &addend))
            return false;
        v = &p->values[index];
        v->sum = true;
        v->imm = (uint64_t)addend;
    }
    if (!ptx_accept(p, '|'))
        return true;
    operand->shape = PTX_SHAPE_PAIR;
    operand->count = 2;
    return ptx_parse_raw_value(p, &index);
}

/* All operands, to behind the `;`. */
bool ptx_parse_operands(ptx_parser *p)
{
    p->nvalues = p->noperands = 0;
    if (ptx_accept(p, ';'))
        return true;
    do {
        if (p->noperands == ISA_MAX_OPERANDS + 1)
            return PTX_FAULT(p, ptx_token_at(&p->token), "more operands than any instruction has");
        if (!parse_operand(p, &p->operands[p->noperands]))
            return false;
        p->noperands++;
    } while (ptx_accept(p, ','));
    return ptx_expect(p, ';', "',' or ';'");
}

/* ------------------------------------------------------------ call */

typedef struct call_syntax {
    uint32_t first_return, nreturns, first_arg, nargs;
    ptx_raw_value callee;
    const ptx_prototype *prototype;        /* of an indirect call */
    bool has_args;
} call_syntax;

static bool parse_call_list(ptx_parser *p, uint32_t *first, uint32_t *count)
{
    *first = p->nvalues;
    *count = 0;
    ptx_advance(p);
    if (ptx_accept(p, ')'))
        return true;
    if (!parse_values(p, ')', "',' or ')'"))
        return false;
    *count = p->nvalues - *first;
    return true;
}

static bool parse_call_prototype(ptx_parser *p, call_syntax *c)
{
    ptx_token name = p->token;
    if (!ptx_expect(p, PTX_TOKEN_NAME, "a call prototype"))
        return false;
    const ptx_symbol *s = ptx_find_symbol(p, name.start, name.length);
    const ptx_binding *b = s ? s->binding : NULL;
    if (!b || b->kind != PTX_BIND_PROTOTYPE)
        return PTX_FAULT(p, ptx_token_at(&name), "'%.*s' is not a .callprototype or .calltargets declared before",
                         (int)name.length, name.start);
    c->prototype = b->as.prototype;
    return true;
}

/* {(returns),} callee {, (arguments)} {, prototype} ; */
static bool parse_call_syntax(ptx_parser *p, call_syntax *c)
{
    p->nvalues = 0;
    *c = (call_syntax){0};
    if (ptx_at(p, '(') && (!parse_call_list(p, &c->first_return, &c->nreturns) || !ptx_expect(p, ',', "','")))
        return false;
    if (!ptx_at(p, PTX_TOKEN_NAME))
        return ptx_unexpected(p, "the function to call");
    uint32_t index;
    if (!ptx_parse_raw_value(p, &index))
        return false;
    c->callee = p->values[index];
    while (ptx_accept(p, ',')) {
        bool ok;
        if (ptx_at(p, '(') && !c->has_args && !c->prototype) {
            c->has_args = true;
            ok = parse_call_list(p, &c->first_arg, &c->nargs);
        } else {
            ok = c->prototype ? ptx_unexpected(p, "';'") : parse_call_prototype(p, c);
        }
        if (!ok)
            return false;
    }
    return ptx_expect(p, ';', "',' or ';'");
}

static bool check_callee(ptx_parser *p, const call_syntax *c, const ptx_prototype **prototype)
{
    const ptx_raw_value *v = &c->callee;
    if (v->kind == PTX_RAW_FUNCTION) {
        if (v->binding->as.function->is_entry)
            return PTX_FAULT(p, v->at, "'%s' is an entry and cannot be called", v->symbol->name);
        *prototype = &v->binding->as.function->prototype;
        return true;
    }
    if (v->kind == PTX_RAW_NAME)
        return PTX_FAULT(p, v->at, "'%s' is not a function declared before", v->symbol->name);
    if (v->kind != PTX_RAW_REG || !ptx_type_fits(v->type, PTX_TYPE_U64, false))
        return PTX_FAULT(p, v->at, "the target of an indirect call is a 64-bit integer register");
    if (!c->prototype)
        return PTX_FAULT(p, v->at, "an indirect call needs a .callprototype or .calltargets behind its arguments");
    *prototype = c->prototype;
    return true;
}

static void fill_call(ptx_parser *p, ptx_insn *insn, const ptx_reading *reading, const call_syntax *c)
{
    uint32_t n = reading->form->noperands;
    ptx_operand *operands = PTX_NEW(p, ptx_operand, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        operands[i] = (ptx_operand){.kind = reading->form->operands[i].kind, .at = c->callee.at};
        if (operands[i].kind == ISA_OPERAND_FUNCTION && c->callee.kind == PTX_RAW_FUNCTION) {
            operands[i].callee = c->callee.binding->as.function;
        } else if (operands[i].kind == ISA_OPERAND_FUNCTION) {
            operands[i].nvalues = 1;
            operands[i].values = ptx_make_value(p, &c->callee, PTX_TYPE_U64);
        } else if (operands[i].kind == ISA_OPERAND_LIST && c->prototype) {
            operands[i].list = c->prototype;
        } else {
            operands[i].kind = ISA_OPERAND_NONE;
        }
    }
    insn->form = reading->form;
    insn->tuple = reading->tuple;
    insn->meaning = reading->meaning;
    insn->operation = reading->operation;
    insn->operands = operands;
    insn->noperands = (uint8_t)n;
}

bool ptx_parse_call(ptx_parser *p, ptx_insn *insn, const ptx_opcode *opcode)
{
    call_syntax c;
    const ptx_prototype *prototype;
    if (!parse_call_syntax(p, &c))
        return false;
    /* From here on the statement is read; a fault in it must not skip the next one. */
    if (check_callee(p, &c, &prototype) &&
        ptx_check_call(p, prototype, c.callee.symbol ? c.callee.symbol->name : "the target", insn,
                       p->values + c.first_return, c.nreturns, p->values + c.first_arg, c.nargs))
        fill_call(p, insn, &opcode->readings[0], &c);
    return true;
}
