/* parser_body.c - the statements of a function.
 *
 * Every statement that should have been an instruction gets its place in function->insns, also when it
 * could not be understood (its form is then NULL), so that indices and labels stay in step with the text.
 */
#include "ptx/parser.h"

#include <string.h>

/* ------------------------------------------------------------ recovery */

/* Whether the lexer stands before a single ':' (the token read ahead is then a label). */
static bool colon_follows(const ptx_parser *p)
{
    const char *c = p->lexer.cursor;
    while (*c == ' ' || *c == '\t')
        c++;
    return c[0] == ':' && c[1] != ':';
}

/* Behind the next `;`, or before a label, or before the `}` of the scope we are in. Braces that were opened
 * on the way are scopes when a `;` stands inside them. */
void ptx_skip_statement(ptx_parser *p)
{
    uint32_t open = 0;
    for (; !ptx_at(p, PTX_TOKEN_END); ptx_advance(p)) {
        if (ptx_at(p, '{')) {
            open++;
        } else if (ptx_at(p, '}')) {
            if (open == 0)
                return;
            open--;
        } else if (ptx_at(p, ';')) {
            while (open-- > 0)
                if (!ptx_open_scope(p, ptx_token_at(&p->token)))
                    break;
            ptx_advance(p);
            return;
        } else if (open == 0 && ptx_at(p, PTX_TOKEN_NAME) && colon_follows(p)) {
            return;
        }
    }
}

/* ------------------------------------------------------------ directives of debug information */

static bool parse_numbers(ptx_parser *p, int n)
{
    for (int i = 0; i < n; i++)
        if (!ptx_expect(p, PTX_TOKEN_INT, "a number"))
            return false;
    return true;
}

/* .loc file line column {, function_name label {+ n}, inlined_at file line column} */
static bool parse_loc(ptx_parser *p)
{
    if (!parse_numbers(p, 3))
        return false;
    while (ptx_accept(p, ',')) {
        if (ptx_token_is(&p->token, "function_name")) {
            ptx_advance(p);
            if (!ptx_expect(p, PTX_TOKEN_NAME, "a label"))
                return false;
            if (ptx_accept(p, '+') && !parse_numbers(p, 1))
                return false;
        } else if (ptx_token_is(&p->token, "inlined_at")) {
            ptx_advance(p);
            if (!parse_numbers(p, 3))
                return false;
        } else {
            return ptx_unexpected(p, "function_name or inlined_at");
        }
    }
    return true;
}

/* .file number "name" {, timestamp, size} */
static bool parse_file(ptx_parser *p)
{
    if (!parse_numbers(p, 1) || !ptx_expect(p, PTX_TOKEN_STRING, "a file name"))
        return false;
    while (ptx_accept(p, ','))
        if (!parse_numbers(p, 1))
            return false;
    return true;
}

bool ptx_parse_debug_directive(ptx_parser *p)
{
    if (ptx_accept_word(p, ".loc"))
        return parse_loc(p);
    if (ptx_accept_word(p, ".file"))
        return parse_file(p);
    ptx_advance(p);                /* .section name { … } */
    if (!ptx_at(p, PTX_TOKEN_WORD) && !ptx_at(p, PTX_TOKEN_NAME))
        return ptx_unexpected(p, "the name of a section");
    ptx_advance(p);
    return ptx_at(p, '{') ? ptx_skip_block(p) : ptx_unexpected(p, "'{'");
}

/* ------------------------------------------------------------ the linearisation */

static uint32_t new_statement(ptx_parser *p, ptx_statement_kind kind, uint32_t insn, ptx_location at)
{
    PTX_GROW(p, p->statements, p->statement_room, p->nstatements + 1);
    p->statements[p->nstatements] = (ptx_statement){kind, insn, at};
    return p->nstatements++;
}

/* ------------------------------------------------------------ labels and lists of labels */

static bool define_label(ptx_parser *p, const ptx_token *name)
{
    ptx_binding *b = ptx_bind(p, name, PTX_BIND_LABEL);
    if (!b)
        return false;
    b->as.target = p->ninsns;
    PTX_GROW(p, p->labels, p->label_room, p->nlabels + 1);
    p->labels[p->nlabels++] = (ptx_label){b->symbol->name, p->ninsns, ptx_token_at(name)};
    if (p->depth == 1)
        new_statement(p, PTX_STATEMENT_LABEL, p->ninsns, ptx_token_at(name));
    return true;
}

static void add_target(ptx_parser *p, const ptx_token *label)
{
    PTX_GROW(p, p->values, p->value_room, p->nvalues + 1);
    p->values[p->nvalues++] = (ptx_raw_value){.symbol = ptx_intern(p, label->start, label->length), .at = ptx_token_at(label)};
}

/* A label, or L<n> for L0 … Ln-1: the PTX ISA has that for variables, ptxas here too. */
static bool parse_target(ptx_parser *p)
{
    char text[PTX_NUMBERED_NAME + PTX_TEXT_PADDING];
    uint32_t count;
    ptx_advance(p);
    ptx_token label = p->token, one;
    if (!ptx_expect(p, PTX_TOKEN_NAME, "a label"))
        return false;
    if (!ptx_accept(p, '<')) {
        add_target(p, &label);
        return true;
    }
    if (!ptx_parse_count(p, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!ptx_number_name(p, &label, i, text, &one))
            return false;
        add_target(p, &one);
    }
    return true;
}

/* name: .branchtargets L1, L2, …; */
static bool parse_branchtargets(ptx_parser *p, const ptx_token *name)
{
    p->nvalues = 0;
    do
        if (!parse_target(p))
            return false;
    while (ptx_at(p, ','));
    ptx_binding *b = ptx_bind(p, name, PTX_BIND_TARGETS);
    if (!b)
        return false;
    uint32_t *targets = PTX_NEW(p, uint32_t, p->nvalues);
    b->as.targets = PTX_NEW(p, ptx_label_list, 1);
    *b->as.targets = (ptx_label_list){b->symbol->name, p->nvalues, targets};
    for (uint32_t i = 0; i < p->nvalues; i++) {
        targets[i] = 0;
        ptx_refer_label(p, p->values[i].symbol, &targets[i], p->values[i].at);
    }
    return ptx_expect(p, ';', "',' or ';'");
}

/* Behind `name :`. */
static bool parse_label(ptx_parser *p, const ptx_token *name)
{
    if (ptx_at_word(p, ".branchtargets"))
        return parse_branchtargets(p, name);
    if (ptx_at_word(p, ".callprototype"))
        return ptx_parse_prototype_directive(p, name);
    if (ptx_at_word(p, ".calltargets"))
        return ptx_parse_calltargets(p, name);
    return define_label(p, name);
}

/* ------------------------------------------------------------ instructions */

/* The place of a new instruction; invalid after the next one is made. */
static ptx_insn *new_insn(ptx_parser *p, ptx_location at)
{
    PTX_GROW(p, p->insns, p->insn_room, p->ninsns + 1);
    ptx_insn *insn = &p->insns[p->ninsns++];
    memset(insn, 0, sizeof *insn);
    insn->at = at;
    insn->statement = p->depth == 1 ? new_statement(p, PTX_STATEMENT_INSN, p->ninsns - 1, at) : p->block_statement;
    return insn;
}

/* Behind `@`: {!} predicate. */
static bool parse_guard(ptx_parser *p, ptx_insn *insn)
{
    insn->guard_negated = ptx_accept(p, '!');
    ptx_raw_value v = {.vector = 1};
    ptx_token name = p->token;
    if (!ptx_expect(p, PTX_TOKEN_NAME, "a predicate"))
        return false;
    ptx_lookup(p, &name, &v);
    if (v.kind == PTX_RAW_NAME)
        return PTX_FAULT(p, ptx_token_at(&name), "'%.*s' is not declared", (int)name.length, name.start);
    if (v.kind != PTX_RAW_REG || v.type != PTX_TYPE_PRED)
        return PTX_FAULT(p, ptx_token_at(&name), "the guard '%.*s' is not a predicate register", (int)name.length,
                         name.start);
    insn->guarded = true;
    insn->guard = v.reg;
    return true;
}

/* `add .s32`, with blanks before the dots: the words are joined in `buffer`. */
static bool join_opcode(ptx_parser *p, const ptx_token *first, char *buffer, uint32_t size, uint32_t *length)
{
    *length = first->length;
    if (*length >= size)
        return PTX_FAULT(p, ptx_token_at(first), "an opcode of more than %u characters", size);
    memcpy(buffer, first->start, *length);
    while (ptx_at(p, PTX_TOKEN_WORD)) {
        if (p->token.length > size - *length)
            return PTX_FAULT(p, ptx_token_at(first), "an opcode of more than %u characters", size);
        memcpy(buffer + *length, p->token.start, p->token.length);
        *length += p->token.length;
        ptx_advance(p);
    }
    return true;
}

/* `name` is the opcode, or its first word; the next token is read. False: skip the rest of the statement. */
static bool parse_instruction(ptx_parser *p, ptx_insn *insn, const ptx_token *name, bool *understood)
{
    const char *text = name->start;
    uint32_t length = name->length;
    char buffer[256 + PTX_TEXT_PADDING];
    if (ptx_at(p, PTX_TOKEN_WORD)) {
        if (!join_opcode(p, name, buffer, 256, &length))
            return false;
        text = buffer;
    }
    const ptx_opcode *opcode = ptx_find_opcode(p, text, length, ptx_token_at(name));
    if (!opcode)
        return false;
    if (opcode->is_call) {
        *understood = ptx_parse_call(p, insn, opcode);
        return *understood;
    }
    if (!ptx_parse_operands(p))
        return false;
    *understood = ptx_check_insn(p, insn, opcode);
    return true;
}

/* At the name of an instruction, with or without modifiers, or at a label. */
static bool parse_name(ptx_parser *p, ptx_insn *guarded)
{
    ptx_token name = p->token;
    bool has_modifiers = *p->lexer.cursor == '.';
    if (has_modifiers)
        ptx_lexer_opcode(&p->lexer, &name);
    ptx_advance(p);
    if (!has_modifiers && !guarded && ptx_accept(p, ':'))
        return parse_label(p, &name);
    ptx_insn *insn = guarded ? guarded : new_insn(p, ptx_token_at(&name));
    ptx_insn work = *insn;         /* the array may move while operands are read */
    bool understood = false, ok = parse_instruction(p, &work, &name, &understood);
    if (!understood)
        work.form = NULL;
    p->insns[p->ninsns - 1] = work;          /* sums in its operands may have come before it */
    return ok;
}

static bool parse_guarded(ptx_parser *p)
{
    ptx_location at = ptx_token_at(&p->token);
    ptx_advance(p);
    if (ptx_at(p, '@')) {          /* @@DWARF */
        ptx_lexer_skip_line(&p->lexer);
        ptx_advance(p);
        return true;
    }
    ptx_insn *insn = new_insn(p, at);
    if (!parse_guard(p, insn))
        return false;
    if (!ptx_at(p, PTX_TOKEN_NAME))
        return ptx_unexpected(p, "an instruction");
    return parse_name(p, insn);
}

/* ------------------------------------------------------------ the body */

static bool parse_directive(ptx_parser *p)
{
    if (ptx_is_space_word(&p->token))
        return ptx_parse_declaration(p, PTX_LINK_NONE, false);
    if (ptx_at_word(p, ".loc"))
        return ptx_parse_debug_directive(p);
    if (ptx_at_word(p, ".pragma"))
        return ptx_parse_pragma(p);
    if (ptx_at_word(p, ".section") || ptx_at_word(p, ".file"))
        return ptx_parse_debug_directive(p);
    return PTX_FAULT(p, ptx_token_at(&p->token), "'%.*s' is not a directive that can stand in a body",
                     p->token.length > 60 ? 60 : (int)p->token.length, p->token.start);
}

static bool ends_module_item(const ptx_parser *p)
{
    static const char *const words[] = {".entry",  ".func",    ".visible", ".extern", ".weak",
                                        ".common", ".version", ".target",  ".alias"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_token_is(&p->token, words[i]))
            return true;
    return false;
}

static void open_block(ptx_parser *p)
{
    ptx_location at = ptx_token_at(&p->token);
    if (p->depth == 1)
        p->block_statement = new_statement(p, PTX_STATEMENT_BLOCK, p->ninsns, at);
    if (ptx_open_scope(p, at))
        ptx_advance(p);
    else
        ptx_skip_block(p);
}

/* One statement that is neither brace; false when the rest of it is to be skipped. */
static bool parse_statement(ptx_parser *p)
{
    switch ((int)p->token.kind) {
    case PTX_TOKEN_NAME: return parse_name(p, NULL);
    case PTX_TOKEN_WORD: return parse_directive(p);
    case '@': return parse_guarded(p);
    default: return ptx_unexpected(p, "an instruction, a label or a directive");
    }
}

void ptx_parse_body(ptx_parser *p)
{
    for (;;) {
        if (ptx_at(p, '}')) {
            ptx_close_scope(p);
            ptx_advance(p);
            if (p->depth == 0)
                return;
        } else if (ptx_at(p, '{')) {
            open_block(p);
        } else if (ptx_at(p, PTX_TOKEN_END) || (ptx_at(p, PTX_TOKEN_WORD) && ends_module_item(p))) {
            PTX_FAULT(p, ptx_token_at(&p->token), "expected '}': the body of '%s' does not end", p->function->name);
            while (p->depth > 0)
                ptx_close_scope(p);
            return;
        } else {
            const char *before = p->token.start;
            if (!parse_statement(p)) {
                ptx_skip_statement(p);
                if (p->token.start == before && !ptx_at(p, '}') && !ptx_at(p, PTX_TOKEN_END))
                    ptx_advance(p);
            }
        }
    }
}
