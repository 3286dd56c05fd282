/* parser_declare.c - declarations of registers, variables and parameters.
 *
 * PTX ISA, "State Spaces", "Types", "Variables". Offsets are given out here: shared variables share one
 * block of the module, local variables one block of their function, .param variables one block of their
 * function in which those of closed scopes are reused.
 */
#include "ptx/parser.h"

#include <string.h>

typedef struct space_word { const char *word; ptx_space space; } space_word;

static const space_word space_words[] = {
    {".reg", PTX_SPACE_REG}, {".global", PTX_SPACE_GLOBAL}, {".shared", PTX_SPACE_SHARED}, {".local", PTX_SPACE_LOCAL},
    {".param", PTX_SPACE_PARAM}, {".const", PTX_SPACE_CONST}, {".tex", PTX_SPACE_TEX}, {".sreg", PTX_SPACE_GENERIC},
};

static const space_word *find_space(const ptx_token *token)
{
    if (token->kind == PTX_TOKEN_WORD)
        for (size_t i = 0; i < sizeof space_words / sizeof *space_words; i++)
            if (ptx_token_is(token, space_words[i].word))
                return &space_words[i];
    return NULL;
}

bool ptx_is_space_word(const ptx_token *token)
{
    return find_space(token) != NULL;
}

bool ptx_parse_linkage(ptx_parser *p, ptx_linkage *linkage)
{
    static const struct { const char *word; ptx_linkage linkage;
    } words[] = {
        {".visible", PTX_LINK_VISIBLE},
        {".extern", PTX_LINK_EXTERN},
        {".weak", PTX_LINK_WEAK},
        {".common", PTX_LINK_COMMON},
    };
    *linkage = PTX_LINK_NONE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_accept_word(p, words[i].word)) {
            *linkage = words[i].linkage;
            break;
        }
    return true;
}

/* ------------------------------------------------------------ attributes, alignment, types */

/* .unified(uuid1, uuid2): two integers that only a linker of CUDA reads. */
static bool parse_unified(ptx_parser *p)
{
    uint64_t part;
    return ptx_expect(p, '(', "'('") && ptx_parse_integer(p, &part, "a uuid") && ptx_expect(p, ',', "','")
        && ptx_parse_integer(p, &part, "a uuid") && ptx_expect(p, ')', "')'");
}

bool ptx_parse_attributes(ptx_parser *p, bool *managed)
{
    while (ptx_accept_word(p, ".attribute")) {
        if (!ptx_expect(p, '(', "'('"))
            return false;
        do {
            if (ptx_accept_word(p, ".managed"))
                *managed = true;
            else if (!ptx_accept_word(p, ".unified"))
                return ptx_unexpected(p, "the attribute .managed or .unified");
            else if (!parse_unified(p))
                return false;
        } while (ptx_accept(p, ','));
        if (!ptx_expect(p, ')', "')'"))
            return false;
    }
    return true;
}

static bool parse_align(ptx_parser *p, uint32_t *align)
{
    ptx_location at = ptx_token_at(&p->token);
    uint64_t value;
    if (!ptx_parse_integer(p, &value, "an alignment"))
        return false;
    if (value == 0 || (value & (value - 1)) || value > 1 << 16)
        return PTX_FAULT(p, at, "an alignment must be a power of two up to 65536");
    *align = (uint32_t)value;
    return true;
}

static bool is_fundamental(ptx_type type)
{
    switch (ptx_type_class(type)) {
    case 'o': return true;
    case 'x': return type == PTX_TYPE_F16X2;
    case 'f': return type == PTX_TYPE_F16 || type == PTX_TYPE_F32 || type == PTX_TYPE_F64;
    default: return ptx_type_bits(type) >= 8 || type == PTX_TYPE_PRED;
    }
}

static bool parse_type(ptx_parser *p, ptx_declarator *d)
{
    const ptx_token *t = &p->token;
    ptx_type type = t->kind == PTX_TOKEN_WORD ? ptx_type_from_name(t->start + 1, t->length - 1) : PTX_TYPE_NONE;
    if (type == PTX_TYPE_NONE)
        return ptx_unexpected(p, "a type");
    if (!is_fundamental(type))
        return PTX_FAULT(p, ptx_token_at(t), ".%s is a type of instructions only; declare .b%u", ptx_type_name(type),
                         8 * ptx_type_bytes(type));
    d->type = type;
    ptx_advance(p);
    if (d->vector > 1 && (type == PTX_TYPE_PRED || ptx_type_class(type) == 'o'))
        return PTX_FAULT(p, d->at, "there are no vectors of .%s", ptx_type_name(type));
    if (d->vector * ptx_type_bits(type) > 128)
        return PTX_FAULT(p, d->at, "a vector of more than 128 bits");
    if (d->align == 0)
        d->align = d->vector * ptx_type_bytes(type);
    return true;
}

/* .align, .vN and attributes in any order, then the type. */
static bool parse_shape(ptx_parser *p, ptx_declarator *d)
{
    d->vector = 1;
    for (;;) {
        if (ptx_accept_word(p, ".align")) {
            if (!parse_align(p, &d->align))
                return false;
        } else if (ptx_accept_word(p, ".v2")) {
            d->vector = 2;
        } else if (ptx_accept_word(p, ".v4")) {
            d->vector = 4;
        } else if (ptx_at_word(p, ".attribute")) {
            if (!ptx_parse_attributes(p, &d->managed))
                return false;
        } else {
            return parse_type(p, d);
        }
    }
}

/* ------------------------------------------------------------ registers */

/* Slots are zero when they are taken: the next function clears those that were used, so a declaration costs nothing. */
static bool take_slots(ptx_parser *p, ptx_binding *b, uint32_t count, ptx_location at)
{
    if (count > PTX_MAX_REGISTERS - p->nslots)
        return PTX_LIMIT(p, at, "more than %d registers declared in one function", PTX_MAX_REGISTERS);
    uint32_t room = p->slot_room;
    PTX_GROW(p, p->slots, p->slot_room, p->nslots + count);
    if (p->slot_room > room)
        memset(p->slots + room, 0, (p->slot_room - room) * sizeof *p->slots);
    b->slot = p->nslots;
    p->nslots += count;
    return true;
}

static bool declare_register(ptx_parser *p, const ptx_declarator *d, const ptx_token *name, ptx_binding **out)
{
    ptx_binding *b;
    uint64_t count = 1;
    if (ptx_accept(p, '<')) {
        if (!ptx_at(p, PTX_TOKEN_INT))
            return ptx_unexpected(p, "a number of registers");
        count = p->token.value;
        ptx_advance(p);
        if (!ptx_expect(p, '>', "'>'"))
            return false;
        if (count > PTX_MAX_REGISTERS)
            return PTX_LIMIT(p, ptx_token_at(name), "%llu registers; at most %d can be declared in one function",
                             (unsigned long long)count, PTX_MAX_REGISTERS);
        b = ptx_bind_range(p, name, (uint32_t)count);
    } else {
        b = ptx_bind(p, name, PTX_BIND_REGISTER);
    }
    if (!b)
        return false;
    b->type = d->type;
    b->vector = (uint8_t)d->vector;
    *out = b;
    return take_slots(p, b, (uint32_t)count, ptx_token_at(name));
}

static bool parse_registers(ptx_parser *p, const ptx_declarator *d)
{
    if (!p->function)
        return PTX_FAULT(p, d->at, "registers are declared inside functions");
    if (ptx_type_class(d->type) == 'o')
        return PTX_FAULT(p, d->at, "a register cannot have type .%s", ptx_type_name(d->type));
    if (ptx_accept(p, ';'))
        return true;
    do {
        ptx_token name = p->token;
        ptx_binding *b;
        if (!ptx_expect(p, PTX_TOKEN_NAME, "the name of a register") || !declare_register(p, d, &name, &b))
            return false;
        if (ptx_at(p, '[') || ptx_at(p, '='))
            return PTX_FAULT(p, ptx_token_at(&p->token), "a register is neither an array nor initialised");
    } while (ptx_accept(p, ','));
    return ptx_expect(p, ';', "',' or ';'");
}

/* ------------------------------------------------------------ variables */

static uint64_t round_up(uint64_t x, uint32_t align)
{
    return (x + align - 1) / align * align;
}

void ptx_place_param(ptx_parser *p, ptx_variable *v)
{
    v->offset = round_up(p->param_offset, v->align);
    p->param_offset = v->offset + v->size;
    if (p->param_offset > p->param_top)
        p->param_top = p->param_offset;
}

static bool place(ptx_parser *p, ptx_variable *v)
{
    uint64_t *top;
    switch (v->space) {
    case PTX_SPACE_SHARED:
        if (v->align > p->shared_align)
            p->shared_align = v->align;
        if (v->size == 0)
            return true;
        /* An entry's own are never used while another entry runs: see place_shared. */
        top = p->function && p->function->is_entry ? &p->entry_shared : &p->shared_offset;
        v->offset = round_up(*top, v->align);
        *top = v->offset + v->size;
        break;
    case PTX_SPACE_LOCAL:
        v->offset = round_up(p->local_offset, v->align);
        p->local_offset = v->offset + v->size;
        break;
    case PTX_SPACE_PARAM:
        ptx_place_param(p, v);
        break;
    default:
        break;
    }
    if (p->shared_offset > PTX_MAX_VARIABLE || p->entry_shared > PTX_MAX_VARIABLE || p->local_offset > PTX_MAX_VARIABLE || p->param_top > PTX_MAX_VARIABLE)
        return PTX_LIMIT(p, v->at, "the variables of space .%s take more than 2^40 bytes together",
                         ptx_space_name(v->space));
    return true;
}

/* The dimensions behind a name; an unknown first one is 0. */
static bool parse_dimensions(ptx_parser *p, uint64_t dimensions[PTX_MAX_DIMENSIONS], uint32_t *n)
{
    for (*n = 0; ptx_accept(p, '['); ++*n) {
        ptx_location at = ptx_token_at(&p->token);
        if (*n == PTX_MAX_DIMENSIONS)
            return PTX_LIMIT(p, at, "more than %d dimensions", PTX_MAX_DIMENSIONS);
        dimensions[*n] = 0;
        if (*n == 0 && ptx_accept(p, ']'))
            continue;
        if (!ptx_parse_integer(p, &dimensions[*n], "an array dimension") || !ptx_expect(p, ']', "']'"))
            return false;
        if (dimensions[*n] == 0 && *n > 0)
            return PTX_FAULT(p, at, "only the first dimension may be empty");
    }
    return true;
}

static bool set_size(ptx_parser *p, ptx_variable *v, const uint64_t *dimensions, uint32_t n)
{
    uint64_t size = ptx_type_bytes(v->type) * v->vector;
    v->count = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (dimensions[i] && size > PTX_MAX_VARIABLE / dimensions[i])
            return PTX_LIMIT(p, v->at, "'%s' is larger than 2^40 bytes", v->name);
        size *= dimensions[i];
        v->count *= dimensions[i];
    }
    v->size = size;
    return true;
}

static ptx_variable *new_variable(ptx_parser *p, const ptx_declarator *d, const ptx_token *name)
{
    ptx_variable *v = PTX_NEW(p, ptx_variable, 1);
    *v = (ptx_variable){
        .name = ptx_copy(p, name->start, name->length), .space = d->space, .linkage = d->linkage, .type = d->type,
        .vector = d->vector, .align = d->align, .managed = d->managed, .is_pointer = d->is_pointer,
        .at = ptx_token_at(name), .owner = p->function, .count = 1,
    };
    return v;
}

static bool check_variable(ptx_parser *p, const ptx_variable *v)
{
    bool opaque = ptx_type_class(v->type) == 'o';
    if (v->type == PTX_TYPE_PRED)
        return PTX_FAULT(p, v->at, "a predicate lives in a register only");
    if (opaque && (v->space != PTX_SPACE_GLOBAL || p->function))
        return PTX_FAULT(p, v->at, "a .%s is declared at module scope in .global, or as a parameter of an entry",
                         ptx_type_name(v->type));
    if (!p->function && v->space == PTX_SPACE_LOCAL)
        return PTX_FAULT(p, v->at, "a .local variable is declared inside a function");
    if (!p->function && v->space == PTX_SPACE_PARAM)
        return PTX_FAULT(p, v->at, "a .param variable is declared inside a function");
    if (v->space == PTX_SPACE_PARAM && v->vector > 1)
        return PTX_FAULT(p, v->at, "a .param variable cannot be a vector");
    if (v->size == 0 && v->linkage != PTX_LINK_EXTERN)
        return PTX_FAULT(p, v->at, "the size of '%s' is not known", v->name);
    return true;
}

/* An .extern declaration and its definition are one variable. NULL when the name is new. */
static ptx_variable *declared_before(ptx_parser *p, const ptx_token *name)
{
    const ptx_symbol *s = ptx_find_symbol(p, name->start, name->length);
    const ptx_binding *b = s ? s->binding : NULL;
    return b && b->depth == p->depth && b->kind == PTX_BIND_VARIABLE ? b->as.variable : NULL;
}

static bool merge_extern(ptx_parser *p, ptx_variable *old, const ptx_variable *v)
{
    if (old->type != v->type || old->vector != v->vector || old->space != v->space || old->is_array != v->is_array
        || (old->size && v->size && old->size != v->size))
        return PTX_FAULT(p, v->at, "'%s' is declared differently at line %u", v->name, old->at.line);
    if (v->linkage == PTX_LINK_NONE)
        return PTX_FAULT(p, v->at, "'%s' is .extern at line %u, so its definition must be .visible, .weak or .common",
                         v->name, old->at.line);
    if (v->linkage != PTX_LINK_EXTERN) {
        uint32_t index = old->index;
        const char *name = old->name;
        *old = *v;
        old->index = index;
        old->name = name;
    }
    return true;
}

static void keep_variable(ptx_parser *p, ptx_variable *v)
{
    if (p->function) {
        PTX_GROW(p, p->locals, p->local_room, p->nlocals + 1);
        v->index = p->nlocals;
        p->locals[p->nlocals++] = v;
    } else {
        PTX_GROW(p, p->variables, p->variable_room, p->nvariables + 1);
        v->index = p->nvariables;
        p->variables[p->nvariables++] = v;
    }
}

static bool bind_variable(ptx_parser *p, const ptx_token *name, ptx_variable *v)
{
    ptx_variable *old = declared_before(p, name);
    if (old && !p->function && (old->linkage == PTX_LINK_EXTERN || v->linkage == PTX_LINK_EXTERN))
        return merge_extern(p, old, v);
    ptx_binding *b = ptx_bind(p, name, PTX_BIND_VARIABLE);
    if (!b)
        return false;
    b->as.variable = v;
    keep_variable(p, v);
    return true;
}

/* x<n>: x0 … xn-1 (PTX ISA, "Parameterized Variable Names"), neither arrays nor initialised. */
static bool parse_numbered(ptx_parser *p, const ptx_declarator *d, const ptx_token *name)
{
    char text[PTX_NUMBERED_NAME + PTX_TEXT_PADDING];
    uint32_t count;
    if (!ptx_parse_count(p, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        ptx_token one;
        if (!ptx_number_name(p, name, i, text, &one))
            return false;
        ptx_variable *v = new_variable(p, d, &one);
        if (!set_size(p, v, NULL, 0) || !check_variable(p, v) || !place(p, v) || !bind_variable(p, &one, v))
            return false;
    }
    return true;
}

static bool parse_variable(ptx_parser *p, const ptx_declarator *d)
{
    ptx_token name = p->token;
    if (!ptx_expect(p, PTX_TOKEN_NAME, "the name of a variable"))
        return false;
    if (ptx_accept(p, '<'))
        return parse_numbered(p, d, &name);
    uint64_t dimensions[PTX_MAX_DIMENSIONS];
    uint32_t n;
    ptx_variable *v = new_variable(p, d, &name);
    if (!parse_dimensions(p, dimensions, &n))
        return false;
    v->is_array = n > 0;
    if (!set_size(p, v, dimensions, n))
        return false;
    if (ptx_accept(p, '=')) {
        if (d->space != PTX_SPACE_GLOBAL && d->space != PTX_SPACE_CONST)
            return PTX_FAULT(p, v->at, "a variable in .%s cannot be initialised", ptx_space_name(d->space));
        if (d->linkage == PTX_LINK_EXTERN)
            return PTX_FAULT(p, v->at, "'%s' is .extern and cannot be initialised", v->name);
        if (!ptx_parse_initialiser(p, v, dimensions, n))
            return false;
    }
    return check_variable(p, v) && place(p, v) && bind_variable(p, &name, v);
}

bool ptx_parse_declaration(ptx_parser *p, ptx_linkage linkage, bool managed)
{
    const space_word *space = find_space(&p->token);
    ptx_declarator d = {.linkage = linkage, .managed = managed, .space = space->space, .at = ptx_token_at(&p->token)};
    ptx_advance(p);
    if (d.space == PTX_SPACE_GENERIC)
        return PTX_FAULT(p, d.at, ".sreg is for the special registers that PTX itself declares");
    if (ptx_at(p, '[') && d.space == PTX_SPACE_CONST)
        return PTX_UNSUPPORTED(p, d.at, "explicit constant banks (removed in PTX 2.2) are not supported");
    if (d.space == PTX_SPACE_TEX)
        return PTX_UNSUPPORTED(p, d.at,
                               "the .tex space (removed in PTX 1.5) is not supported; declare .global .texref");
    if (p->function && linkage != PTX_LINK_NONE)
        return PTX_FAULT(p, d.at, "a variable inside a function has no linkage directive");
    if (!parse_shape(p, &d))
        return false;
    if (d.space == PTX_SPACE_REG)
        return parse_registers(p, &d);
    do
        if (!parse_variable(p, &d))
            return false;
    while (ptx_accept(p, ','));
    return ptx_expect(p, ';', "',' or ';'");
}

/* ------------------------------------------------------------ parameters */

/* .ptr {.space} {.align n} behind the type of an entry's parameter. */
static bool parse_pointer(ptx_parser *p, ptx_declarator *d)
{
    static const char *const spaces[] = {".const", ".global", ".local", ".shared"};
    if (!ptx_accept_word(p, ".ptr"))
        return true;
    d->is_pointer = true;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (ptx_accept_word(p, spaces[i]))
            break;
    uint32_t pointee_align;
    return !ptx_accept_word(p, ".align") || parse_align(p, &pointee_align);
}

/* A parameter in a register: its number is kept as the offset. The components of a vector are registers one after the other. */
static bool bind_register_parameter(ptx_parser *p, const ptx_declarator *d, const ptx_token *name, ptx_variable *v)
{
    ptx_binding *b;
    if (!declare_register(p, d, name, &b))
        return false;
    if (b->is_range)
        return PTX_FAULT(p, v->at, "a parameter is a single register");
    v->offset = ptx_register_of(p, b, 0, 0);
    return true;
}

bool ptx_parse_parameter(ptx_parser *p, bool is_entry, bool is_prototype, ptx_variable **out)
{
    ptx_declarator d = {.at = ptx_token_at(&p->token)};
    if (ptx_accept_word(p, ".param"))
        d.space = PTX_SPACE_PARAM;
    else if (!is_entry && ptx_accept_word(p, ".reg"))
        d.space = PTX_SPACE_REG;
    else
        return ptx_unexpected(p, is_entry ? "a parameter that begins with .param"
                                          : "a parameter that begins with .param or .reg");
    if (!parse_shape(p, &d) || !parse_pointer(p, &d))
        return false;
    ptx_token name = p->token;
    if (!ptx_expect(p, PTX_TOKEN_NAME, "the name of a parameter"))
        return false;
    uint64_t dimensions[PTX_MAX_DIMENSIONS];
    uint32_t n = 0;
    ptx_variable *v = new_variable(p, &d, &name);
    bool in_register = d.space == PTX_SPACE_REG && !is_prototype;
    if (!in_register && !parse_dimensions(p, dimensions, &n))
        return false;
    v->is_array = n > 0;
    *out = v;
    if (n > 1)
        return PTX_FAULT(p, v->at, "a parameter has one dimension at most");
    if (!set_size(p, v, dimensions, n))
        return false;
    if (v->space == PTX_SPACE_PARAM && (v->vector > 1 || v->type == PTX_TYPE_PRED))
        return PTX_FAULT(p, v->at, "a .param parameter cannot be a vector or a predicate");
    if (v->size == 0 && is_entry)
        return PTX_FAULT(p, v->at, "the size of parameter '%s' is not known", v->name);
    if (ptx_type_class(v->type) == 'o' && !is_entry)
        return PTX_FAULT(p, v->at, "a .%s can be a parameter of an entry only", ptx_type_name(v->type));
    if (is_prototype)
        return true;
    if (in_register)
        return bind_register_parameter(p, &d, &name, v);
    ptx_binding *b = ptx_bind(p, &name, PTX_BIND_VARIABLE);
    if (!b)
        return false;
    b->as.variable = v;
    return place(p, v);
}
