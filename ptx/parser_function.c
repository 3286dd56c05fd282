/* parser_function.c - .entry and .func, their parameters and directives, .alias, call prototypes.
 *
 * A function that was declared before keeps its object, so that earlier calls point to the definition. A
 * function whose header or body is faulty stays in the module under its name, with the reason.
 */
#include "ptx/parser.h"

#include <string.h>

typedef struct ptx_alias {
    struct ptx_alias *next;
    ptx_function *alias;
    const ptx_function *of;
    ptx_location at;
} ptx_alias;

/* ------------------------------------------------------------ parameter lists */

typedef struct parameter_list {
    const ptx_variable **items;
    uint32_t count, room;
} parameter_list;

/* After a fault in a list: behind its `)`, but not past the body. */
static void recover_list(ptx_parser *p)
{
    uint32_t open = 1;
    while (open && !ptx_at(p, PTX_TOKEN_END) && !ptx_at(p, '{') && !ptx_at(p, ';')) {
        if (ptx_at(p, '('))
            open++;
        else if (ptx_at(p, ')'))
            open--;
        ptx_advance(p);
    }
}

static void add_parameter(ptx_parser *p, parameter_list *list, const ptx_variable *v)
{
    if (list->count == list->room) {
        uint32_t room = list->room ? 2 * list->room : 8;
        const ptx_variable **larger = PTX_NEW(p, const ptx_variable *, room);
        if (list->count)
            memcpy(larger, list->items, list->count * sizeof *larger);
        list->items = larger;
        list->room = room;
    }
    list->items[list->count++] = v;
}

/* A vector in a register is passed as its components. */
static void add_components(ptx_parser *p, parameter_list *list, const ptx_variable *whole)
{
    const size_t length = strlen(whole->name);
    for (uint32_t k = 0; k < whole->vector; k++) {
        ptx_variable *v = PTX_NEW(p, ptx_variable, 1);
        *v = *whole;
        char *name = ptx_new(p, length + 3, 1);
        memcpy(name, whole->name, length);
        memcpy(name + length, (char[]){'.', "xyzw"[k], 0}, 3);
        v->name = name;
        v->size = whole->size / whole->vector;
        v->offset = whole->offset + k;
        v->vector = 1;
        v->part = (uint8_t)k;
        v->parts = (uint8_t)whole->vector;
        v->index = list->count;
        add_parameter(p, list, v);
    }
}

/* Behind `(`. */
static bool parse_list(ptx_parser *p, bool is_entry, bool is_prototype, parameter_list *list)
{
    if (ptx_accept(p, ')'))
        return true;
    for (;;) {
        ptx_variable *v = NULL;
        if (!ptx_parse_parameter(p, is_entry, is_prototype, &v)) {
            recover_list(p);
            return false;
        }
        if (list->count && list->items[list->count - 1]->size == 0) {
            PTX_FAULT(p, v->at, "only the last parameter can have an unknown size");
            recover_list(p);
            return false;
        }
        v->index = list->count;
        if (v->space == PTX_SPACE_REG && v->vector > 1)
            add_components(p, list, v);
        else
            add_parameter(p, list, v);
        if (ptx_accept(p, ','))
            continue;
        if (ptx_expect(p, ')', "',' or ')'"))
            return true;
        recover_list(p);
        return false;
    }
}

static bool parse_returns(ptx_parser *p, bool is_prototype, ptx_prototype *prototype)
{
    parameter_list list = {0};
    ptx_location at = ptx_token_at(&p->token);
    if (!ptx_accept(p, '('))
        return true;
    bool ok = parse_list(p, false, is_prototype, &list);
    prototype->returns = list.items;
    prototype->nreturns = list.count;
    for (uint32_t i = 0; ok && i < list.count; i++)
        if (list.count > 1 && list.items[i]->space != PTX_SPACE_REG)
            ok = PTX_FAULT(p, at, "only one value can be returned in .param space");
        else if (list.items[i]->size == 0)
            ok = PTX_FAULT(p, at, "the size of the returned value is not known");
    return ok;
}

static bool parse_params(ptx_parser *p, bool is_entry, bool is_prototype, ptx_prototype *prototype)
{
    parameter_list list = {0};
    if (!ptx_accept(p, '('))
        return true;
    bool ok = parse_list(p, is_entry, is_prototype, &list);
    prototype->params = list.items;
    prototype->nparams = list.count;
    return ok;
}

static bool same_parameters(const ptx_variable *const *a, uint32_t na, const ptx_variable *const *b, uint32_t nb)
{
    if (na != nb)
        return false;
    for (uint32_t i = 0; i < na; i++)
        if (a[i]->type != b[i]->type || a[i]->size != b[i]->size || a[i]->is_array != b[i]->is_array ||
            a[i]->space != b[i]->space || a[i]->parts != b[i]->parts)
            return false;
    return true;
}

static bool same_prototype(const ptx_prototype *a, const ptx_prototype *b)
{
    return same_parameters(a->returns, a->nreturns, b->returns, b->nreturns)
        && same_parameters(a->params, a->nparams, b->params, b->nparams);
}

/* ------------------------------------------------------------ directives behind the parameters */

static bool parse_count(ptx_parser *p, const char *what, uint32_t *out)
{
    ptx_location at = ptx_token_at(&p->token);
    uint64_t value;
    if (!ptx_parse_integer(p, &value, what))
        return false;
    if (value == 0 || value > UINT32_MAX)
        return PTX_FAULT(p, at, "%s must be a number from 1 on", what);
    *out = (uint32_t)value;
    return true;
}

static bool parse_triple(ptx_parser *p, const char *what, uint32_t out[3])
{
    uint32_t n = 0;
    do {
        if (n == 3)
            return PTX_FAULT(p, ptx_token_at(&p->token), "%s has at most three numbers", what);
        if (!parse_count(p, what, &out[n]))
            return false;
        n++;
    } while (ptx_accept(p, ','));
    while (n < 3)
        out[n++] = 1;
    return true;
}

bool ptx_parse_pragma(ptx_parser *p)
{
    ptx_advance(p);
    do
        if (!ptx_expect(p, PTX_TOKEN_STRING, "a string"))
            return false;
    while (ptx_accept(p, ','));
    return ptx_expect(p, ';', "';'");
}

/* Registers that a callee preserves: for NVIDIA's own ABI. */
static bool parse_preserved(ptx_parser *p)
{
    uint64_t number;
    return ptx_parse_integer(p, &number, "a number of registers");
}

/* At a word that no directive of a function is. */
static bool unknown_directive(ptx_parser *p, bool is_entry)
{
    return PTX_FAULT(
        p, ptx_token_at(&p->token), "'%.*s' is not a directive of %s", (int)p->token.length, p->token.start,
        is_entry ? "an entry; expected .maxntid .reqntid .minnctapersm .maxnctapersm .maxnreg .reqnctapercluster "
                   ".explicitcluster .maxclusterrank .blocksareclusters .pragma or '{'"
                 : "a function; expected .noreturn .abi_preserve .abi_preserve_control .pragma, '{' or ';'");
}

static bool parse_entry_directive(ptx_parser *p, ptx_function *f)
{
    if (ptx_accept_word(p, ".maxntid"))
        return parse_triple(p, ".maxntid", f->maxntid);
    if (ptx_accept_word(p, ".reqntid"))
        return parse_triple(p, ".reqntid", f->reqntid);
    if (ptx_accept_word(p, ".minnctapersm"))
        return parse_count(p, ".minnctapersm", &f->minnctapersm);
    if (ptx_accept_word(p, ".maxnctapersm"))
        return parse_count(p, ".maxnctapersm", &f->maxnctapersm);
    if (ptx_accept_word(p, ".maxnreg"))
        return parse_count(p, ".maxnreg", &f->maxnreg);
    if (ptx_accept_word(p, ".reqnctapercluster"))
        return parse_triple(p, ".reqnctapercluster", f->reqnctapercluster);
    if (ptx_accept_word(p, ".maxclusterrank"))
        return parse_count(p, ".maxclusterrank", &f->maxclusterrank);
    if (ptx_accept_word(p, ".explicitcluster"))
        return f->explicit_cluster = true;
    if (ptx_accept_word(p, ".blocksareclusters"))
        return f->blocks_are_clusters = true;
    return unknown_directive(p, true);
}

static bool parse_function_directive(ptx_parser *p, ptx_function *f)
{
    ptx_location at = ptx_token_at(&p->token);
    if (ptx_accept_word(p, ".noreturn")) {
        f->noreturn = f->prototype.noreturn = true;
        return f->prototype.nreturns == 0 || PTX_FAULT(p, at, "a .noreturn function returns no value");
    }
    if (ptx_accept_word(p, ".abi_preserve") || ptx_accept_word(p, ".abi_preserve_control"))
        return parse_preserved(p);
    return unknown_directive(p, false);
}

static bool parse_directives(ptx_parser *p, ptx_function *f)
{
    while (ptx_at(p, PTX_TOKEN_WORD)) {
        ptx_location at = ptx_token_at(&p->token);
        bool ok;
        if (ptx_at_word(p, ".pragma"))
            ok = ptx_parse_pragma(p);
        else
            ok = f->is_entry ? parse_entry_directive(p, f) : parse_function_directive(p, f);
        if (!ok)
            return false;
        if (f->maxntid[0] && f->reqntid[0])
            return PTX_FAULT(p, at, ".maxntid and .reqntid cannot both be given");
    }
    return true;
}

/* ------------------------------------------------------------ functions */

static void begin_function(ptx_parser *p, ptx_function *f)
{
    for (uint32_t i = 0; i < p->nregisters; i++)
        if (p->registers[i].slot != UINT32_MAX)
            p->slots[p->registers[i].slot] = 0;
    p->function = f;
    p->nregisters = p->nslots = p->ninsns = p->nlabels = p->nstatements = p->nlocals = p->npending = 0;
    p->carry = 0;
    p->param_offset = p->param_top = p->local_offset = p->entry_shared = 0;
}

static void *settle(ptx_parser *p, const void *array, size_t size)
{
    if (size == 0)
        return NULL;
    void *copy = ptx_new(p, size, 8);
    memcpy(copy, array, size);
    return copy;
}

/* A small body is copied; a large one is trimmed and given to the arena as it is. */
static void keep_insns(ptx_parser *p, ptx_function *f)
{
    f->ninsns = p->ninsns;
    if (p->ninsns < 4096) {
        f->insns = settle(p, p->insns, p->ninsns * sizeof *p->insns);
        return;
    }
    ptx_insn *trimmed =
        ptx_arena_resize(p->arena, p->insns, p->insn_room * sizeof *p->insns, p->ninsns * sizeof *p->insns);
    if (!trimmed)
        ptx_out_of_memory(p);
    p->insns = trimmed;
    p->insn_room = p->ninsns;
    if (!ptx_arena_adopt(p->arena, trimmed))
        ptx_out_of_memory(p);
    f->insns = trimmed;
    p->insns = NULL;
    p->insn_room = 0;
}

static void end_function(ptx_parser *p, ptx_function *f)
{
    ptx_register *registers = p->nregisters ? PTX_NEW(p, ptx_register, p->nregisters) : NULL;
    for (uint32_t i = 0; i < p->nregisters; i++)
        registers[i] = p->registers[i].reg;
    f->registers = registers;
    f->nregisters = p->nregisters;
    keep_insns(p, f);
    f->labels = settle(p, p->labels, p->nlabels * sizeof *p->labels);
    f->nlabels = p->nlabels;
    f->statements = settle(p, p->statements, p->nstatements * sizeof *p->statements);
    f->nstatements = p->nstatements;
    f->variables = settle(p, p->locals, p->nlocals * sizeof *p->locals);
    f->nvariables = p->nlocals;
    f->local_size = p->local_offset;
    if (p->entry_shared > p->entry_shared_most)
        p->entry_shared_most = p->entry_shared;
    f->param_frame = p->param_top;
    p->module->statements += p->nstatements;
}

static bool parse_name(ptx_parser *p, ptx_token *name)
{
    *name = p->token;
    return ptx_expect(p, PTX_TOKEN_NAME, "the name of a function");
}

/* The header up to its body or `;`. False when it is faulty; the name is then still known if name->length is not 0. */
static bool parse_header(ptx_parser *p, ptx_function *f, ptx_token *name)
{
    bool managed = false;
    bool ok = ptx_parse_attributes(p, &managed);
    if (ok && !f->is_entry)
        ok = parse_returns(p, false, &f->prototype);
    if (!parse_name(p, name)) {
        name->length = 0;
        return false;
    }
    f->name = f->prototype.name = ptx_copy(p, name->start, name->length);
    f->at = ptx_token_at(name);
    ok = parse_params(p, f->is_entry, false, &f->prototype) && ok;
    f->param_size = p->param_top;
    if (ok && f->is_entry && f->param_size > PTX_MAX_PARAMS)
        ok = PTX_LIMIT(p, f->at, "%llu bytes of parameters; an entry has at most %d", (unsigned long long)f->param_size, PTX_MAX_PARAMS);
    return ok && parse_directives(p, f);
}

/* To the body or the end of a faulty header. */
static void recover_header(ptx_parser *p)
{
    while (!ptx_at(p, PTX_TOKEN_END) && !ptx_at(p, '{') && !ptx_at(p, ';'))
        ptx_advance(p);
}

static void own_parameters(const ptx_prototype *prototype, const ptx_function *f)
{
    /* Made a moment ago by this parser, so they may still be written. */
    for (uint32_t i = 0; i < prototype->nreturns; i++)
        ((ptx_variable *)(uintptr_t)prototype->returns[i])->owner = f;
    for (uint32_t i = 0; i < prototype->nparams; i++)
        ((ptx_variable *)(uintptr_t)prototype->params[i])->owner = f;
}

static ptx_function *add_function(ptx_parser *p, ptx_function *f, const ptx_token *name)
{
    uint32_t depth = p->depth;
    p->depth = 0;
    ptx_binding *b = ptx_bind(p, name, PTX_BIND_FUNCTION);
    p->depth = depth;
    if (!b)
        return f;
    b->as.function = f;
    PTX_GROW(p, p->functions, p->function_room, p->nfunctions + 1);
    f->index = p->nfunctions;
    p->functions[p->nfunctions++] = f;
    return f;
}

/* Joins a header with what is known under its name; the answer is the object to go on with. */
static ptx_function *join(ptx_parser *p, ptx_function *f, const ptx_token *name, bool defines)
{
    const ptx_symbol *s = ptx_find_symbol(p, name->start, name->length);
    const ptx_binding *b = s ? s->binding : NULL;
    while (b && b->depth > 0)
        b = b->outer;
    if (!b || b->kind != PTX_BIND_FUNCTION)
        return add_function(p, f, name);
    ptx_function *old = b->as.function;
    if (defines && !old->is_declaration) {
        PTX_FAULT(p, f->at, "function '%s' is already defined at line %u", f->name, old->at.line);
        return f;
    }
    if (old->is_entry != f->is_entry || !same_prototype(&old->prototype, &f->prototype))
        PTX_FAULT(p, f->at, "'%s' does not have the parameters of its declaration at line %u", f->name, old->at.line);
    if (!defines)
        return old;
    uint32_t index = old->index;
    ptx_linkage linkage = f->linkage == PTX_LINK_NONE && old->linkage != PTX_LINK_EXTERN ? old->linkage : f->linkage;
    bool noreturn = old->noreturn || f->noreturn;
    *old = *f;
    old->index = index;
    old->linkage = linkage;
    old->noreturn = old->prototype.noreturn = noreturn;
    own_parameters(&old->prototype, old);
    p->function = old;
    return old;
}

static void parse_definition(ptx_parser *p, ptx_function *f, const ptx_token *name)
{
    ptx_location at = ptx_token_at(&p->token);
    if (f->linkage == PTX_LINK_EXTERN)
        PTX_FAULT(p, f->at, "'%s' is .extern and cannot have a body", f->name);
    f = join(p, f, name, true);
    f->is_declaration = false;
    ptx_advance(p);
    if (p->depth == 0)
        ptx_open_scope(p, at);
    ptx_parse_body(p);
    end_function(p, f);
}

bool ptx_parse_function(ptx_parser *p, ptx_linkage linkage)
{
    ptx_function *f = PTX_NEW(p, ptx_function, 1);
    ptx_token name;
    *f = (ptx_function){.linkage = linkage, .is_entry = ptx_at_word(p, ".entry"), .is_declaration = true,
                        .at = ptx_token_at(&p->token)};
    begin_function(p, f);
    ptx_open_scope(p, f->at);
    ptx_advance(p);
    bool ok = parse_header(p, f, &name);
    if (!name.length) {
        ptx_close_scope(p);
        return false;
    }
    if (ok && !ptx_at(p, '{') && !ptx_at(p, ';'))
        ok = ptx_unexpected(p, "'{' or ';'");
    if (!ok)
        recover_header(p);
    if (ptx_at(p, '{')) {
        parse_definition(p, f, &name);
        return true;
    }
    join(p, f, &name, false);
    ptx_close_scope(p);
    return ptx_expect(p, ';', "'{' or ';'");
}

/* ------------------------------------------------------------ .alias */

static ptx_function *parse_function_name(ptx_parser *p)
{
    ptx_token name = p->token;
    if (!ptx_expect(p, PTX_TOKEN_NAME, "the name of a function"))
        return NULL;
    const ptx_symbol *s = ptx_find_symbol(p, name.start, name.length);
    const ptx_binding *b = s ? s->binding : NULL;
    while (b && b->kind != PTX_BIND_FUNCTION)
        b = b->outer;
    if (b)
        return b->as.function;
    PTX_FAULT(p, ptx_token_at(&name), "'%.*s' is not a function declared before", (int)name.length, name.start);
    return NULL;
}

bool ptx_parse_alias(ptx_parser *p)
{
    ptx_advance(p);
    ptx_location at = ptx_token_at(&p->token);
    ptx_function *alias = parse_function_name(p);
    if (!alias || !ptx_expect(p, ',', "','"))
        return false;
    const ptx_function *of = parse_function_name(p);
    if (!of)
        return false;
    if (!alias->is_declaration)
        return PTX_FAULT(p, at, "'%s' has a body and cannot be an alias", alias->name);
    if (alias->is_entry || of->is_entry)
        return PTX_FAULT(p, at, "an entry has no aliases");
    if (!same_prototype(&alias->prototype, &of->prototype))
        return PTX_FAULT(p, at, "'%s' and '%s' have different parameters", alias->name, of->name);
    ptx_alias *record = PTX_NEW(p, ptx_alias, 1);
    *record = (ptx_alias){.next = p->aliases, .alias = alias, .of = of, .at = at};
    p->aliases = record;
    return ptx_expect(p, ';', "';'");
}

/* At the end of the module, when every body is known: an alias shares all of the other function. */
void ptx_settle_aliases(ptx_parser *p)
{
    p->function = NULL;
    for (ptx_alias *a = p->aliases; a; a = a->next) {
        if (a->of->is_declaration) {
            PTX_FAULT(p, a->at, "the function '%s' that '%s' stands for has no body", a->of->name, a->alias->name);
            continue;
        }
        ptx_function kept = *a->alias;
        *a->alias = *a->of;
        a->alias->name = kept.name;
        a->alias->linkage = kept.linkage;
        a->alias->at = kept.at;
        a->alias->index = kept.index;
    }
}

/* ------------------------------------------------------------ prototypes of indirect calls */

bool ptx_parse_prototype_directive(ptx_parser *p, const ptx_token *name)
{
    ptx_prototype *prototype = PTX_NEW(p, ptx_prototype, 1);
    *prototype = (ptx_prototype){.name = ptx_copy(p, name->start, name->length)};
    ptx_advance(p);
    if (!parse_returns(p, true, prototype))
        return false;
    if (!ptx_token_is(&p->token, "_"))
        return ptx_unexpected(p, "'_'");
    ptx_advance(p);
    if (!parse_params(p, false, true, prototype))
        return false;
    while (ptx_at(p, PTX_TOKEN_WORD)) {
        if (ptx_accept_word(p, ".noreturn"))
            prototype->noreturn = true;
        else if (!ptx_accept_word(p, ".abi_preserve") && !ptx_accept_word(p, ".abi_preserve_control"))
            return ptx_unexpected(p, ".noreturn, .abi_preserve, .abi_preserve_control or ';'");
        else if (!parse_preserved(p))
            return false;
    }
    ptx_binding *b = ptx_bind(p, name, PTX_BIND_PROTOTYPE);
    if (!b)
        return false;
    b->as.prototype = prototype;
    return ptx_expect(p, ';', "';'");
}

/* The functions that an indirect call may reach have one prototype, which is what is kept. */
bool ptx_parse_calltargets(ptx_parser *p, const ptx_token *name)
{
    ptx_prototype *prototype = NULL;
    do {
        ptx_advance(p);
        ptx_location at = ptx_token_at(&p->token);
        const ptx_function *f = parse_function_name(p);
        if (!f)
            return false;
        if (!prototype) {
            prototype = PTX_NEW(p, ptx_prototype, 1);
            *prototype = f->prototype;
        } else if (!same_prototype(prototype, &f->prototype)) {
            return PTX_FAULT(p, at, "'%s' does not have the parameters of the first target", f->name);
        }
    } while (ptx_at(p, ','));
    ptx_binding *b = ptx_bind(p, name, PTX_BIND_PROTOTYPE);
    if (!b)
        return false;
    b->as.prototype = prototype;
    return ptx_expect(p, ';', "',' or ';'");
}
