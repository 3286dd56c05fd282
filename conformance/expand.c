/* expand.c - the instruction table as a list of cases.
 *
 * A case stands for a form and a distinct meaning that its modifiers give. Modifiers that the meaning does not depend on (and
 * that only the parser sees) share a case. Instructions with immediates have several: the
 * meaning is one, but each number is code of its own.
 */
#include "conformance/conform.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conformance/memory.h"
#include "conformance/reference/ref_special.h"
#include "conformance/reference/ref_warp.h"
#include "conformance/reference/ref_mma.h"
#include "conformance/reference/ref_wmma.h"
#include "conformance/snippets.h"
#include "conformance/texture.h"

/* ------------------------------------------------------------ tuples */

static void first_tuple(const isa_form *form, isa_tuple *t)
{
    memset(t, 0, sizeof *t);
    for (uint32_t g = 0; g < form->ngroups; g++)
        t->choice[g] = form->groups[g].optional ? 0 : 1;
}

/* Whether an instruction does something else with another choice of group g, though its meaning has the same name: numbers that the
 * table passes to it, and layouts of matrices, which wmma.load and wmma.store see. */
static bool is_beside_meaning(const isa_form *form, uint32_t g)
{
    if (form->groups[g].stride)
        return false;
    for (uint32_t i = 0; i < form->noperands; i++)
        if (form->operands[i].kind == ISA_OPERAND_CONSTANT && form->operands[i].count_group == (int)g)
            return true;
    return !strcmp(form->mnemonic, "wmma") && (!strcmp(form->groups[g].name, "la") || !strcmp(form->groups[g].name, "lb"));
}

/* The next tuple in which a group that matters differs; other groups keep their first choice. */
static bool next_tuple(const isa_form *form, isa_tuple *t)
{
    for (uint32_t g = 0; g < form->ngroups; g++) {
        if ((form->groups[g].stride || is_beside_meaning(form, g)) && t->choice[g] < form->groups[g].count) {
            t->choice[g]++;
            return true;
        }
        t->choice[g] = form->groups[g].optional ? 0 : 1;
    }
    return false;
}

static void opcode_of(const isa_form *form, const isa_tuple *t, char *out, size_t size)
{
    int n = snprintf(out, size, "%s", form->mnemonic);
    for (uint32_t g = 0; g < form->ngroups; g++)
        if (t->choice[g] && n < (int)size)
            n += snprintf(out + n, size - (size_t)n, ".%s", form->groups[g].choices[t->choice[g] - 1]);
}

/* ------------------------------------------------------------ kinds */

static bool has_lane_reference(const conform_case *c)
{
    uint64_t sources[ISA_MAX_ELEMS] = {0}, results[ISA_MAX_ELEMS];
    return ref_eval(c->meaning, sources, results) || conform_special_halves(c) != 0;
}

static bool classify(conform_case *c, const char **why)
{
    ref_warp warp = {.executing = ~0u};
    ref_mma_shape shape;
    if (!strcmp(c->form->family, "texture")) c->kind = CONFORM_TEXTURE;
    else if (ref_wmma_shape_of(c->meaning, &shape)) c->kind = CONFORM_WMMA;
    else if (ref_mma_shape_of(c->meaning, &shape)) c->kind = CONFORM_MMA;
    else if (ref_warp_eval(c->meaning, &warp)) c->kind = CONFORM_WARP;
    else if (has_lane_reference(c)) c->kind = CONFORM_LANE;
    else {
        *why = "no reference of that name";
        return false;
    }
    return true;
}

/* ------------------------------------------------------------ immediates */

static bool is_simd(const isa_form *form)
{
    char last = form->mnemonic[strlen(form->mnemonic) - 1];
    return last == '2' || last == '4';
}

/* A selector or mask that PTX can write (isa_selector in ptx/isa.h); the first variant of scalar instructions takes whole registers, which
 * alone can overflow. */
static uint32_t pick_selector(const isa_form *form, const isa_tuple *t, uint32_t operand, uint32_t variant, conform_random *r)
{
    const bool mask = form->operands[operand].kind == ISA_OPERAND_DST_MASKED, vmad = !strcmp(form->mnemonic, "vmad");
    if (is_simd(form)) {
        const uint32_t lanes = (uint32_t)(form->mnemonic[strlen(form->mnemonic) - 1] - '0');
        if (mask)
            return 1 + conform_below(r, (1u << lanes) - 1);
        uint32_t places = 0;
        for (uint32_t i = 0; i < lanes; i++)
            places |= conform_below(r, 2 * lanes) << (4 * i);
        return places;
    }
    const uint32_t minus = vmad && !isa_choice(form, t, "po") ? conform_below(r, 2) * ISA_SELECTOR_MINUS : 0;
    /* vmad's addend is a whole register. */
    return (variant == 0 || (vmad && operand == 3) ? ISA_SELECTOR_NONE : 1 + conform_below(r, 6)) | minus;
}

/* Variants of an instruction with a table or number, and of one with selectors (there are thousands of those). */
enum { VARIANTS = 8, SELECTIONS = 2 };

/* A small range has as many variants as numbers. */
static uint32_t immediate_variants(const isa_operand *o)
{
    const int64_t range = o->ranged ? (int64_t)o->high - o->low + 1 : VARIANTS;
    return range < VARIANTS ? (uint32_t)range : VARIANTS;
}

static uint32_t pick_immediate(const isa_operand *o, uint32_t variant, conform_random *r)
{
    static const uint8_t tables[VARIANTS] = {0x96, 0xe8, 0xca, 0x00, 0xff, 0x80, 0x1b, 0x6f};
    if (!o->ranged)
        return conform_below(r, 32);
    const uint32_t range = (uint32_t)(o->high - o->low) + 1;
    return (uint32_t)o->low + (range == 256 ? tables[variant] : variant % range);
}

/* Fills the immediates of variant `v`; *variants says how many there are to be. */
static void set_immediates(conform_case *c, uint32_t v, uint32_t *variants)
{
    conform_random r = {(uint64_t)v * 0x51ed2701 + strlen(c->name) * 7919 + (uint8_t)c->name[1]};
    uint32_t e = 0;
    for (uint32_t i = 0; i < c->form->noperands; i++) {
        const isa_operand *o = &c->form->operands[i];
        if (o->when_group >= 0 && !c->tuple.choice[o->when_group])
            continue;
        switch (o->kind) {
        case ISA_OPERAND_IMMEDIATE: c->imm[e++] = pick_immediate(o, v, &r); *variants = immediate_variants(o); break;
        case ISA_OPERAND_CONSTANT: c->imm[e++] = isa_operand_constant(c->form, &c->tuple, i); break;
        case ISA_OPERAND_DST_MASKED: case ISA_OPERAND_SRC_SELECTED:
            c->imm[e + 1] = pick_selector(c->form, &c->tuple, i, v, &r);
            e += 2;
            *variants = SELECTIONS;
            break;
        default: e += conform_operand_elements(c->form, &c->tuple, i); break;
        }
    }
}

/* ------------------------------------------------------------ the list */

typedef struct expansion {
    conform_list *list;
    const regex_t *filter;
    void (*uncovered)(void *user, const char *pattern, const char *why);
    void *user;
    uint32_t nuncovered;
    bool no_memory;
} expansion;

static void append(expansion *x, const conform_case *c)
{
    conform_list *l = x->list;
    if (!l || (x->filter && regexec(x->filter, c->name, 0, NULL, 0)))
        return;
    if (l->count == l->room) {
        uint32_t room = l->room ? 2 * l->room : 1024;
        conform_case *more = realloc(l->cases, room * sizeof *more);
        if (!more) {
            x->no_memory = true;
            return;
        }
        l->cases = more;
        l->room = room;
    }
    l->cases[l->count++] = *c;
}

static void name_immediates(conform_case *c)
{
    for (uint32_t e = 0; e < c->nelems; e++)
        if (c->elems[e].role == ISA_ROLE_IMM) {
            size_t n = strlen(c->name);
            snprintf(c->name + n, sizeof c->name - n, " 0x%x", c->imm[e]);
        }
}

/* An opcode with several readings (mov.b64 is a move, a pack and an unpack) has a case for each, whose name says which: a state file
 * and reports know cases by their names. Those with immediates differ in these. */
static void name_reading(conform_case *c)
{
    isa_candidate found[ISA_MAX_CANDIDATES];
    bool known;
    const size_t length = strlen(c->name);
    const uint32_t n = isa_match_opcode(c->name, (uint32_t)length, found, &known);
    for (uint32_t e = 0; e < c->nelems; e++)
        if (c->elems[e].role == ISA_ROLE_IMM)
            return;
    for (uint32_t i = 1; i < n; i++)
        if (found[i].form == c->form)
            snprintf(c->name + length, sizeof c->name - length, " (%u)", i + 1);
}

static void expand_tuple(expansion *x, const isa_form *form, const isa_tuple *t, const char *meaning)
{
    conform_case c = {.form = form, .tuple = *t};
    const char *why = "";
    snprintf(c.meaning, sizeof c.meaning, "%s", meaning);
    opcode_of(form, t, c.name, sizeof c.name);
    c.nelems = isa_signature(form, t, c.elems);
    if (!classify(&c, &why)) {
        x->nuncovered++;
        if (x->uncovered)
            x->uncovered(x->user, c.name, why);
        return;
    }
    uint32_t variants = 1;
    for (uint32_t v = 0; v < variants; v++) {
        conform_case one = c;
        set_immediates(&one, v, &variants);
        name_reading(&one);
        if (c.kind == CONFORM_TEXTURE) conform_texture_case(&one);
        else name_immediates(&one);
        append(x, &one);
    }
}

/* What a form's tuples have given, see key_of; a few hundred at most. */
typedef struct seen { uint64_t *keys; uint32_t count, room; } seen;

/* The meaning, and the choices beside it. */
static uint64_t key_of(const isa_form *form, const isa_tuple *t)
{
    uint64_t key = isa_meaning_of(form, t);
    for (uint32_t g = 0; g < form->ngroups; g++)
        if (is_beside_meaning(form, g))
            key = key * 64 + t->choice[g];
    return key;
}

static bool is_new(seen *s, uint64_t key)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->keys[i] == key)
            return false;
    if (s->count == s->room) {
        uint32_t room = s->room ? 2 * s->room : 64;
        uint64_t *more = realloc(s->keys, room * sizeof *more);
        if (!more)
            return true;                 /* a case too many does no harm */
        s->keys = more;
        s->room = room;
    }
    s->keys[s->count++] = key;
    return true;
}

/* ------------------------------------------------------------ operations */

/* Groups whose choices are tried against each other. */
static bool is_crossed(const isa_group *g)
{
    static const char *const names[] = {"space", "type", "vec", "op"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(g->name, names[i]))
            return true;
    return false;
}

static bool has_snippet(const char *operation)
{
    conform_case c;
    for (uint32_t i = 0; conform_snippet(i, &c); i++)
        if (!strcmp(c.meaning, operation))
            return true;
    return false;
}

/* An operation is covered by cases of memory, a snippet, or tests that are named. */
static void check_operation(expansion *x, const isa_form *form, bool has_cases)
{
    const bool wide = !strcmp(form->meaning, "@atom") && form->operands[0].type == PTX_TYPE_B128;
    if (has_cases || has_snippet(form->meaning) || conform_tested_elsewhere(wide ? "@atom.b128" : form->meaning))
        return;
    x->nuncovered++;
    if (x->uncovered)
        x->uncovered(x->user, form->pattern, "an operation without a case, and no other test is named for it");
}

static void append_snippets(expansion *x)
{
    conform_case c;
    for (uint32_t i = 0; conform_snippet(i, &c); i++)
        append(x, &c);
}

/* Returns whether the tuple has cases. */
static bool append_operation(expansion *x, const isa_form *form, const isa_tuple *t)
{
    conform_case c = {.form = form, .tuple = *t, .kind = CONFORM_MEMORY};
    if (!conform_is_memory(form, t))
        return false;
    snprintf(c.meaning, sizeof c.meaning, "%s", form->meaning);
    opcode_of(form, t, c.name, sizeof c.name);
    const size_t n = strlen(c.name);
    for (uint32_t variants = conform_memory_variants(&c); c.variant < variants; c.variant++) {
        snprintf(c.name + n, sizeof c.name - n, "%s", conform_memory_variant_name(&c));
        append(x, &c);
        c.name[n] = 0;
    }
    return true;
}

/* Every combination of space, type, vector and operation; and each other modifier once. */
static void expand_operation(expansion *x, const isa_form *form)
{
    isa_tuple t;
    uint32_t g = 0;
    bool any = false, more = true;
    first_tuple(form, &t);
    while (more) {
        any = append_operation(x, form, &t) || any;
        for (g = 0; g < form->ngroups; g++) {
            if (is_crossed(&form->groups[g]) && t.choice[g] < form->groups[g].count) {
                t.choice[g]++;
                break;
            }
            if (is_crossed(&form->groups[g]))
                t.choice[g] = form->groups[g].optional ? 0 : 1;
        }
        more = g < form->ngroups;
    }
    check_operation(x, form, any);
    for (g = 0; g < form->ngroups; g++)
        for (uint32_t k = form->groups[g].optional ? 1 : 2; !is_crossed(&form->groups[g]) && k <= form->groups[g].count; k++) {
            first_tuple(form, &t);
            t.choice[g] = (uint8_t)k;
            append_operation(x, form, &t);
        }
}

static void expand_form(expansion *x, const isa_form *form)
{
    isa_tuple t;
    seen s = {0};
    if (form->meaning[0] == '@') {
        expand_operation(x, form);
        return;
    }
    first_tuple(form, &t);
    do {
        char meaning[CONFORM_NAME];
        if (!isa_meaning_name(form, &t, meaning, sizeof meaning) || !meaning[0] || meaning[0] == '@')
            continue;
        if (is_new(&s, key_of(form, &t)))
            expand_tuple(x, form, &t, meaning);
    } while (next_tuple(form, &t));
    free(s.keys);
}

/* A filter that looks like names is a list of their beginnings, where '*' is any text: as an expression, "ex2*" would mean every "ex". NULL:
 * no memory. */
static char *expression_of(const char *filter)
{
    const bool names = filter[strspn(filter, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.| *")] == '\0';
    char *text = malloc(2 * strlen(filter) + 8), *to = text;
    if (!text || !names)
        return text ? strcpy(text, filter) : NULL;
    to += sprintf(to, "^(");
    for (const char *from = filter; *from; from++) {
        if (*from == '*' || *from == '.')
            *to++ = *from == '*' ? '.' : '\\';
        *to++ = *from;
    }
    strcpy(to, ")");
    return text;
}

static bool compile_filter(const char *filter, regex_t *out, char *why, size_t size)
{
    char *text = expression_of(filter);
    if (!text) {
        snprintf(why, size, "out of memory");
        return false;
    }
    const int bad = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
    free(text);
    if (bad) {
        int n = snprintf(why, size, "\"%.100s\" is not an extended regular expression: ", filter);
        regerror(bad, out, why + n, size - (size_t)n);
    }
    return !bad;
}

bool conform_expand(const char *filter, conform_list *out, char *why, size_t size)
{
    regex_t expression;
    *out = (conform_list){0};
    if (filter && !compile_filter(filter, &expression, why, size))
        return false;
    expansion x = {.list = out, .filter = filter ? &expression : NULL};
    for (uint32_t i = 0; i < isa_form_count; i++)
        expand_form(&x, &isa_forms[i]);
    append_snippets(&x);
    if (filter)
        regfree(&expression);
    if (x.no_memory)
        snprintf(why, size, "out of memory");
    return !x.no_memory;
}

void conform_free(conform_list *list)
{
    free(list->cases);
    *list = (conform_list){0};
}

uint32_t conform_uncovered(void (*visit)(void *user, const char *pattern, const char *why), void *user)
{
    expansion x = {.uncovered = visit, .user = user};
    for (uint32_t i = 0; i < isa_form_count; i++)
        expand_form(&x, &isa_forms[i]);
    return x.nuncovered;
}
