/* parser.c - the module level: directives between functions, the one failing road, and the end.
 *
 * PTX ISA, "Directives". An unknown or damaged directive is reported and skipped up to the next
 * one, so that whatever can be understood keeps its place in the module.
 */
#include "ptx/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/host.h"

/* ------------------------------------------------------------ memory */

/* Everything that cannot be allocated ends here; nothing else uses longjmp. */
_Noreturn void ptx_out_of_memory(ptx_parser *p)
{
    longjmp(p->failed, 1);
}

char *ptx_copy(ptx_parser *p, const char *text, uint32_t length)
{
    char *copy = ptx_new(p, (size_t)length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

/* `array` is the address of a pointer to the elements. */
void ptx_grow(ptx_parser *p, void *array, uint32_t *room, uint32_t needed, size_t element)
{
    void *old;
    memcpy(&old, array, sizeof old);
    uint32_t larger = *room + *room / 2;
    if (larger < needed)
        larger = needed;
    if (larger < 64)
        larger = 64;
    void *block = ptx_arena_resize(p->arena, old, *room * element, larger * element);
    if (!block)
        ptx_out_of_memory(p);
    memcpy(array, &block, sizeof block);
    *room = larger;
}

/* ------------------------------------------------------------ tokens */

bool ptx_accept_word(ptx_parser *p, const char *text)
{
    if (!ptx_at_word(p, text))
        return false;
    ptx_advance(p);
    return true;
}

bool ptx_unexpected(ptx_parser *p, const char *expected)
{
    const ptx_token *t = &p->token;
    if (t->kind == PTX_TOKEN_BAD)
        return PTX_FAULT(p, ptx_token_at(t), "%s", t->message);
    if (t->kind == PTX_TOKEN_END)
        return PTX_FAULT(p, ptx_token_at(t), "expected %s, but the text ends here", expected);
    return PTX_FAULT(p, ptx_token_at(t), "expected %s, not '%.*s'", expected, t->length > 60 ? 60 : (int)t->length,
                     t->start);
}

bool ptx_expect(ptx_parser *p, int kind, const char *what)
{
    if (!ptx_at(p, kind))
        return ptx_unexpected(p, what);
    ptx_advance(p);
    return true;
}

bool ptx_skip_block(ptx_parser *p)
{
    uint32_t open = 0;
    ptx_location at = ptx_token_at(&p->token);
    do {
        if (ptx_at(p, PTX_TOKEN_END))
            return PTX_FAULT(p, at, "this '{' has no '}'");
        if (ptx_at(p, '{'))
            open++;
        else if (ptx_at(p, '}'))
            open--;
        ptx_advance(p);
    } while (open);
    return true;
}

/* ------------------------------------------------------------ .version .target .address_size */

/* Written once, at the head of the module; whatever of it we cannot run makes every function unsupported. */
static void refuse_module(ptx_parser *p, const ptx_diagnostic *why)
{
    if (!p->module_unsupported)
        p->module_unsupported = why;
}

static bool parse_version(ptx_parser *p)
{
    ptx_location at = ptx_token_at(&p->token);
    ptx_advance(p);
    const ptx_token *t = &p->token;
    const char *dot = t->kind == PTX_TOKEN_FLOAT ? memchr(t->start, '.', t->length) : NULL;
    if (!dot || dot - t->start > 3 || t->start + t->length - dot > 4)
        return ptx_unexpected(p, "a version such as 8.5");
    uint32_t major = (uint32_t)strtoul(t->start, NULL, 10), minor = (uint32_t)strtoul(dot + 1, NULL, 10);
    if (p->version_seen)
        return PTX_FAULT(p, at, ".version is given twice");
    p->version_seen = true;
    p->module->version = (uint16_t)(10 * major + minor);
    if (major < 2)
        refuse_module(p, ptx_report(p, PTX_ERROR, PTX_REASON_UNSUPPORTED, at,
                                    "PTX %u.%u is older than the ABI of PTX 2.0 and is not supported", major, minor));
    else if (major > 9 || (major == 9 && minor > 0))
        PTX_WARN(p, at, "PTX %u.%u is newer than PTX 9.0, the newest that is known here", major, minor);
    ptx_advance(p);
    return true;
}

static bool parse_sm(ptx_parser *p, const ptx_token *t)
{
    const char *digits = memchr(t->start, '_', t->length);
    uint32_t n = 0;
    const char *c = digits ? digits + 1 : t->start;
    for (; c < t->start + t->length && (unsigned char)(*c - '0') <= 9 && n < 10000; c++)
        n = 10 * n + (uint32_t)(*c - '0');
    bool suffix = c + 1 == t->start + t->length && (*c == 'a' || *c == 'f');
    if (!digits || (c != t->start + t->length && !suffix) || n == 0 || n >= 10000)
        return PTX_FAULT(p, ptx_token_at(t), "'%.*s' is not a target; expected one such as sm_90 or sm_90a",
                         (int)t->length, t->start);
    if (p->module->sm)
        return PTX_FAULT(p, ptx_token_at(t), "a second architecture in .target");
    p->module->sm = (uint16_t)n;
    p->module->sm_suffix = suffix ? *c : 0;
    if (n < 20)
        refuse_module(p, ptx_report(p, PTX_ERROR, PTX_REASON_UNSUPPORTED, ptx_token_at(t),
                                    "sm_%u is older than the ABI of sm_20 and is not supported", n));
    return true;
}

static bool known_target_word(const ptx_token *t)
{
    static const char *const words[] = {"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_token_is(t, words[i]))
            return true;
    return false;
}

static bool parse_target(ptx_parser *p)
{
    const char **words = PTX_NEW(p, const char *, 8);
    if (p->target_seen)
        return PTX_FAULT(p, ptx_token_at(&p->token), ".target is given twice");
    p->target_seen = true;
    p->module->targets = words;
    do {
        ptx_advance(p);
        const ptx_token t = p->token;
        if (t.kind != PTX_TOKEN_NAME)
            return ptx_unexpected(p, "a target such as sm_90");
        if (t.length > 3 && memcmp(t.start, "sm_", 3) == 0) {
            if (!parse_sm(p, &t))
                return false;
        } else if (!known_target_word(&t)) {
            return PTX_FAULT(p, ptx_token_at(&t),
                             "'%.*s' is not a target; expected sm_NN, texmode_unified, texmode_independent, "
                             "debug or map_f64_to_f32",
                             (int)t.length, t.start);
        } else if (p->module->ntargets == 8) {
            return PTX_FAULT(p, ptx_token_at(&t), "more than 8 words in .target");
        } else {
            words[p->module->ntargets++] = ptx_copy(p, t.start, t.length);
            if (ptx_token_is(&t, "map_f64_to_f32"))
                refuse_module(p, ptx_report(p, PTX_ERROR, PTX_REASON_UNSUPPORTED, ptx_token_at(&t),
                                            "the target option map_f64_to_f32 is not supported"));
        }
        ptx_advance(p);
    } while (ptx_at(p, ','));
    return true;
}

static bool parse_address_size(ptx_parser *p)
{
    ptx_location at = ptx_token_at(&p->token);
    ptx_advance(p);
    uint64_t size = p->token.value;
    if (!ptx_at(p, PTX_TOKEN_INT) || (size != 32 && size != 64))
        return ptx_unexpected(p, "32 or 64");
    if (p->address_size_seen)
        return PTX_FAULT(p, at, ".address_size is given twice");
    p->address_size_seen = true;
    p->module->address_size = (uint32_t)size;
    if (size == 32)
        refuse_module(p, ptx_report(p, PTX_ERROR, PTX_REASON_UNSUPPORTED, at, "32-bit addresses are not supported"));
    ptx_advance(p);
    return true;
}

/* ------------------------------------------------------------ the module */

static bool starts_module_item(const ptx_token *t)
{
    static const char *const words[] = {
        ".version", ".target", ".address_size", ".entry", ".func", ".visible", ".extern", ".weak", ".common",
        ".global", ".const", ".shared", ".tex", ".alias", ".file", ".section", ".attribute",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_token_is(t, words[i]))
            return true;
    return false;
}

/* After a fault: behind the next `;` or block, or before the next directive of a module. */
static void recover_module(ptx_parser *p)
{
    while (!ptx_at(p, PTX_TOKEN_END)) {
        if (ptx_at(p, PTX_TOKEN_WORD) && starts_module_item(&p->token))
            return;
        if (ptx_at(p, '{')) {
            ptx_skip_block(p);
            return;
        }
        bool end = ptx_at(p, ';');
        ptx_advance(p);
        if (end)
            return;
    }
}

static bool parse_linked_item(ptx_parser *p)
{
    ptx_linkage linkage = PTX_LINK_NONE;
    bool managed = false;
    if (!ptx_parse_attributes(p, &managed) || !ptx_parse_linkage(p, &linkage) || !ptx_parse_attributes(p, &managed))
        return false;
    if (ptx_at_word(p, ".entry") || ptx_at_word(p, ".func"))
        return ptx_parse_function(p, linkage);
    if (ptx_is_space_word(&p->token))
        return ptx_parse_declaration(p, linkage, managed);
    return ptx_unexpected(p, linkage || managed ? "a function or a state space" : "a directive");
}

static bool parse_module_item(ptx_parser *p)
{
    if (!ptx_at(p, PTX_TOKEN_WORD)) {
        if (!ptx_at(p, '@'))
            return ptx_unexpected(p, "a directive");
        ptx_lexer_skip_line(&p->lexer);      /* @@DWARF: debug data of PTX 1.x */
        ptx_advance(p);
        return true;
    }
    if (!p->version_seen && !ptx_at_word(p, ".version")) {
        p->version_seen = true;
        PTX_FAULT(p, ptx_token_at(&p->token), "the module does not begin with .version");
    }
    if (ptx_at_word(p, ".version"))
        return parse_version(p);
    if (ptx_at_word(p, ".target"))
        return parse_target(p);
    if (ptx_at_word(p, ".address_size"))
        return parse_address_size(p);
    if (!p->target_seen) {
        p->target_seen = true;
        PTX_FAULT(p, ptx_token_at(&p->token), "there is no .target before the first declaration");
    }
    if (ptx_at_word(p, ".file") || ptx_at_word(p, ".section") || ptx_at_word(p, ".loc"))
        return ptx_parse_debug_directive(p);
    if (ptx_at_word(p, ".pragma"))
        return ptx_parse_pragma(p);
    if (ptx_at_word(p, ".alias"))
        return ptx_parse_alias(p);
    return parse_linked_item(p);
}

static void parse_module(ptx_parser *p)
{
    while (!ptx_at(p, PTX_TOKEN_END)) {
        const char *before = p->token.start;
        p->function = NULL;
        p->depth = 0;
        if (parse_module_item(p))
            continue;
        p->function = NULL;
        if (p->token.start == before)
            ptx_advance(p);
        recover_module(p);
    }
}

/* ------------------------------------------------------------ is it PTX at all? */

/* Says why an input holds no PTX; NULL when it looks like text. Trailing NULs are cut off. */
static const char *no_ptx(const char *text, size_t *length)
{
    static const struct { const char *magic; uint32_t length; const char *what; } images[] = {
        {"\177ELF", 4, "this image is an ELF file (a cubin holds machine code, not PTX)"},
        {"\x50\xed\x55\xba", 4, "this image is a fatbin container; extract its PTX first"},
        {"\xb1\x43\x62\x46", 4, "this image is a fatbin wrapper; extract its PTX first"},
        {"BC\xc0\xde", 4, "this image is LLVM bitcode"},
        {"\x1f\x8b", 2, "this image is compressed (gzip)"},
        {"\x28\xb5\x2f\xfd", 4, "this image is compressed (zstd)"},
        {"PK\3\4", 4, "this image is a zip archive"},
    };
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        if (*length >= images[i].length && memcmp(text, images[i].magic, images[i].length) == 0)
            return images[i].what;
    while (*length && text[*length - 1] == 0)
        --*length;
    if (*length == 0)
        return "this image is empty";
    if (memchr(text, 0, *length < 4096 ? *length : 4096))
        return "this image is binary data";
    return NULL;
}

static void report_no_ptx(ptx_parser *p, const char *why)
{
    ptx_report(p, PTX_ERROR, PTX_REASON_NO_PTX, (ptx_location){0, 0}, "no PTX in this image: %s", why);
}

/* ------------------------------------------------------------ the end of a parse */

static void index_lines(ptx_parser *p)
{
    const char *text = p->module->text, *end = text + p->module->length;
    uint32_t *starts = NULL, room = 0, n = 0;
    for (const char *line = text; line; n++) {
        if (n == room) {
            /* The final table is trimmed and given to the arena. */
            uint32_t larger = room ? room * 2 : 256;
            uint32_t *moved = ptx_arena_resize(p->arena, starts, room * sizeof *starts, larger * sizeof *starts);
            if (!moved) {
                if (starts)
                    ptx_arena_resize(p->arena, starts, room * sizeof *starts, 0);
                ptx_out_of_memory(p);
            }
            starts = moved;
            room = larger;
        }
        starts[n] = (uint32_t)(line - text);
        const char *eol = memchr(line, '\n', (size_t)(end - line));
        line = eol ? eol + 1 : NULL;
    }
    if (!ptx_arena_adopt(p->arena, starts)) {
        ptx_arena_resize(p->arena, starts, room * sizeof *starts, 0);
        ptx_out_of_memory(p);
    }
    p->store->line_starts = starts;
    p->store->nlines = n;
}

static uint64_t round_up(uint64_t x, uint64_t align)
{
    return (x + align - 1) / align * align;
}

/* The variables of the module and of functions come first, each at a place of its own. Those inside entries lie behind them and over each
 * other, because one entry runs at a time. Dynamic shared memory begins behind all, aligned for its most demanding user. */
static void place_shared(ptx_parser *p)
{
    uint64_t own = round_up(p->shared_offset, p->shared_align);
    p->module->shared_size = p->entry_shared_most ? own + p->entry_shared_most : p->shared_offset;
    for (uint32_t i = 0; i < p->nfunctions; i++) {
        const ptx_function *f = p->functions[i];
        for (uint32_t k = 0; f->is_entry && k < f->nvariables; k++)
            if (f->variables[k]->space == PTX_SPACE_SHARED && f->variables[k]->size)
                ((ptx_variable *)f->variables[k])->offset += own;
    }
    uint64_t dynamic = round_up(p->module->shared_size, p->shared_align);
    for (uint32_t i = 0; i < p->nvariables; i++)
        if (p->variables[i]->space == PTX_SPACE_SHARED && p->variables[i]->size == 0)
            p->variables[i]->offset = dynamic;
}

static void refuse_functions(ptx_parser *p)
{
    for (uint32_t i = 0; i < p->nfunctions && p->module_unsupported; i++) {
        ptx_function *f = p->functions[i];
        if (f->broken == PTX_REASON_NONE || f->broken == PTX_REASON_UNSUPPORTED) {
            f->broken = PTX_REASON_UNSUPPORTED;
            f->why = p->module_unsupported;
        }
    }
}

static const void *settle(ptx_parser *p, const void *array, size_t size, size_t align)
{
    if (size == 0)
        return NULL;
    void *copy = ptx_new(p, size, align);
    memcpy(copy, array, size);
    return copy;
}

static void finish_module(ptx_parser *p)
{
    ptx_module *m = p->module;
    if (p->nfunctions + p->nvariables == 0 && m->nerrors == 0 && !p->version_seen)
        report_no_ptx(p, "there is nothing but white space and comments");
    ptx_settle_aliases(p);
    refuse_functions(p);
    place_shared(p);
    m->functions = settle(p, p->functions, p->nfunctions * sizeof *p->functions, _Alignof(ptx_function *));
    m->nfunctions = p->nfunctions;
    m->variables = settle(p, p->variables, p->nvariables * sizeof *p->variables, _Alignof(ptx_variable *));
    m->nvariables = p->nvariables;
    m->diagnostics = settle(p, p->diagnostics, p->ndiagnostics * sizeof *p->diagnostics, _Alignof(ptx_diagnostic));
    m->ndiagnostics = p->ndiagnostics;
}

static void free_scratch(ptx_parser *p)
{
    void *blocks[] = {p->symbols, p->opcodes, p->pending, p->registers, p->slots, p->insns, p->labels, p->locals,
                      p->statements, p->functions, p->variables, p->diagnostics, p->values, p->relocations,
                      p->init_scratch};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

/* Without memory the module says so and holds nothing else. */
static void empty_module(ptx_parser *p)
{
    ptx_module *m = p->module;
    bool limit = p->arena->over_limit;
    p->store->last_resort = (ptx_diagnostic){
        .severity = PTX_ERROR,
        .reason = limit ? PTX_REASON_LIMIT : PTX_REASON_MEMORY,
        .at = {p->token.line, p->token.column},
        .message = limit ? "this text needs more memory than is allowed for its size" : "out of memory",
    };
    *m = (ptx_module){.file = m->file, .text = m->text, .length = m->length, .version = m->version, .sm = m->sm,
                      .sm_suffix = m->sm_suffix, .address_size = m->address_size, .nwarnings = m->nwarnings,
                      .nerrors = m->nerrors + 1, .ndiagnostics = 1, .diagnostics = &p->store->last_resort};
}

static void keep_text(ptx_parser *p, const char *text, size_t length, const char *file)
{
    char *copy = ptx_new(p, length + PTX_TEXT_PADDING, 8);
    if (length)
        memcpy(copy, text, length);
    memset(copy + length, 0, PTX_TEXT_PADDING);
    p->module->text = copy;
    p->module->length = length;
    p->module->file = file ? ptx_copy(p, file, (uint32_t)strlen(file)) : NULL;
}

static void run(ptx_parser *p, const char *text, size_t given, const char *file)
{
    if (setjmp(p->failed)) {
        empty_module(p);
        return;
    }
    size_t length = given;
    const char *why = no_ptx(text, &length);
    bool too_long = length > (size_t)1 << 30;
    if (too_long)
        why = "";
    keep_text(p, why ? "" : text, why ? 0 : length, file);
    index_lines(p);
    ptx_names_init(p);
    if (too_long) {
        PTX_LIMIT(p, ((ptx_location){0, 0}), "a text of more than 1 GiB");
    } else if (why) {
        report_no_ptx(p, why);
    } else {
        bool bom = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
        ptx_lexer_init(&p->lexer, p->module->text, length);
        if (bom)
            p->lexer.cursor += 3;
        ptx_advance(p);
        parse_module(p);
    }
    finish_module(p);
}

ptx_module *ptx_parse_within(const char *text, size_t length, const char *file, size_t limit)
{
    ptx_store *store = calloc(1, sizeof *store);
    ptx_parser *p = calloc(1, sizeof *p);
    if (!store || !p) {
        free(store);
        free(p);
        return NULL;
    }
    ptx_arena_init(&store->arena, limit);
    p->store = store;
    p->module = &store->module;
    p->arena = &store->arena;
    p->module->address_size = 64;
    p->shared_align = 16;
    ptx_host host;
    ptx_host_leave(&host);
    run(p, text, length, file);
    ptx_host_return(&host);
    free_scratch(p);
    free(p);
    return &store->module;
}

ptx_module *ptx_parse(const char *text, size_t length, const char *file)
{
    /* An instruction of four characters takes about 200 bytes. */
    size_t limit = ((size_t)256 << 20) + (length < (size_t)1 << 30 ? length : (size_t)1 << 30) * 64;
    return ptx_parse_within(text, length, file, limit);
}

void ptx_module_free(ptx_module *module)
{
    if (!module)
        return;
    ptx_store *store = (ptx_store *)module;
    ptx_arena_free(&store->arena);
    free(store);
}
