/* isa_gen_row.c - reads the row syntax of isa.def (described in isa.h). Part of isa_gen only:
 * runs at build time, so a malformed row ends the build with its line.
 */
#include "ptx/isa_gen.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void isa_row_fault(const isa_row *row, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s:%d: ", row->file, row->line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n    pattern \"%s\", operands \"%s\", meaning \"%s\"\n", row->pattern, row->operands, row->meaning);
    exit(1);
}

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fprintf(stderr, "isa_gen: out of memory\n");
        exit(1);
    }
    return p;
}

static char *copy_text(const char *text, size_t length)
{
    char *s = allocate(length + 1, 1);
    memcpy(s, text, length);
    return s;
}

/* ------------------------------------------------------------ pattern */

/* v4, x16, 3d: their number; m64n96k16: n. Scales and other words have none. */
static uint16_t number_in(const char *word)
{
    unsigned m, n, k;
    int end = 0;
    if (sscanf(word, "m%un%uk%u%n", &m, &n, &k, &end) == 3 && word[end] == 0)
        return (uint16_t)n;
    if ((word[0] == 'v' || word[0] == 'x') && isdigit((unsigned char)word[1]) && sscanf(word + 1, "%u%n", &n, &end) == 1 && word[end + 1] == 0)
        return (uint16_t)n;
    if (sscanf(word, "%u%n", &n, &end) == 1 && strcmp(word + end, "d") == 0)
        return (uint16_t)n;
    return 0;
}

/* `lo~lt` → choice "lo", name "lt"; names are in lower case with `_` for `::`. */
static void read_choice(const char *text, size_t length, const char **choice, const char **name)
{
    const char *alias = memchr(text, '~', length);
    size_t n = alias ? (size_t)(alias - text) : length;
    *choice = copy_text(text, n);
    char *out = alias ? copy_text(alias + 1, length - n - 1) : copy_text(text, n);
    *name = out;
    const char *in = out;
    for (; *in; in++, out++) {
        if (in[0] == ':' && in[1] == ':')
            in++;
        *out = *in == ':' ? '_' : (char)tolower((unsigned char)*in);
    }
    *out = 0;
}

static void read_group(const isa_row *row, isa_group *group, const char *body, size_t length, bool optional)
{
    const char *equals = memchr(body, '=', length);
    const char *list = equals ? equals + 1 : body;
    size_t left = length - (size_t)(list - body);
    uint32_t count = 1;
    for (size_t i = 0; i < left; i++)
        count += list[i] == '|';
    if (left == 0 || count > 255)
        isa_row_fault(row, "a group with no or too many alternatives");
    const char **choices = allocate(count, sizeof *choices), **names = allocate(count, sizeof *names);
    uint8_t *types = allocate(count, 1);
    uint16_t *numbers = allocate(count, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++) {
        const char *bar = memchr(list, '|', left);
        size_t n = bar ? (size_t)(bar - list) : left;
        if (n == 0)
            isa_row_fault(row, "an empty alternative");
        read_choice(list, n, &choices[i], &names[i]);
        types[i] = (uint8_t)ptx_type_from_name(choices[i], (uint32_t)strlen(choices[i]));
        numbers[i] = number_in(choices[i]);
        list += n + (bar ? 1 : 0);
        left -= n + (bar ? 1 : 0);
    }
    *group = (isa_group){copy_text(body, equals ? (size_t)(equals - body) : length), optional, (uint8_t)count,
                         choices, names, NULL, types, numbers, 0};
}

/* Names are distinct. A literal that occurs twice (f16.f16) gets a name that cannot be asked for. */
static void name_group(const isa_row *row, isa_group *groups, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(groups[i].name, groups[n].name) != 0)
            continue;
        if (groups[n].count > 1)
            isa_row_fault(row, "two groups named \"%s\"", groups[n].name);
        char *name = allocate(strlen(groups[n].name) + 8, 1);
        sprintf(name, "%s#%u", groups[n].name, n);
        groups[n].name = name;
    }
}

static void read_pattern(const isa_row *row, isa_form *form)
{
    const char *p = row->pattern;
    size_t n = strcspn(p, ".{");
    isa_group *groups = allocate(ISA_MAX_GROUPS, sizeof *groups);
    form->mnemonic = copy_text(p, n);
    form->groups = groups;
    for (p += n; *p;) {
        bool optional = *p == '{';
        p += optional;
        if (*p++ != '.')
            isa_row_fault(row, "expected `.` at \"%s\"", p - 1);
        n = strcspn(p, optional ? "}" : ".{}");
        if (n == 0 || (optional && p[n] != '}'))
            isa_row_fault(row, "malformed group at \"%s\"", p);
        if (form->ngroups == ISA_MAX_GROUPS)
            isa_row_fault(row, "more than %d groups", ISA_MAX_GROUPS);
        read_group(row, &groups[form->ngroups], p, n, optional);
        name_group(row, groups, form->ngroups);
        form->nrequired = (uint8_t)(form->nrequired + !optional);
        form->ngroups++;
        p += n + optional;
    }
}

/* ------------------------------------------------------------ operands */

typedef struct scanner { const isa_row *row; const isa_form *form; const char *p, *end; } scanner;

static bool accept(scanner *s, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0)
        return false;
    s->p += n;
    return true;
}

static void expect(scanner *s, const char *text)
{
    if (!accept(s, text))
        isa_row_fault(s->row, "expected `%s` at \"%s\"", text, s->p);
}

static long scan_number(scanner *s)
{
    char *end;
    long n = strtol(s->p, &end, 10);
    if (end == s->p)
        isa_row_fault(s->row, "expected a number at \"%s\"", s->p);
    s->p = end;
    return n;
}

static int8_t scan_group(scanner *s, const char *stop)
{
    size_t n = 0;
    while (s->p + n < s->end && !strchr(stop, s->p[n]))
        n++;
    for (int g = 0; g < s->form->ngroups; g++) {
        const char *name = s->form->groups[g].name;
        if (strlen(name) == n && memcmp(name, s->p, n) == 0) {
            s->p += n;
            return (int8_t)g;
        }
    }
    isa_row_fault(s->row, "no group \"%.*s\"", (int)n, s->p);
}

static void scan_type(scanner *s, isa_operand *o)
{
    o->type_scale = 1;
    if (accept(s, "$")) {
        o->type_group = scan_group(s, "*:,)");
        const isa_group *g = &s->form->groups[o->type_group];
        for (uint32_t i = 0; i < g->count; i++)
            if (!g->types[i])
                isa_row_fault(s->row, "\"%s\" of group \"%s\" is not a type", g->choices[i], g->name);
    } else {
        size_t n = 0;
        while (s->p + n < s->end && isalnum((unsigned char)s->p[n]))
            n++;
        o->type = ptx_type_from_name(s->p, (uint32_t)n);
        if (!o->type)
            isa_row_fault(s->row, "no type \"%.*s\"", (int)n, s->p);
        s->p += n;
    }
    if (accept(s, "*2"))
        o->type_scale = 2;
    if (accept(s, ":b"))
        o->map = ISA_MAP_BITS;
    else if (accept(s, ":u"))
        o->map = ISA_MAP_UNSIGNED;
}

static void scan_count(scanner *s, isa_operand *o)
{
    o->count_mul = o->count_div = 1;
    if (accept(s, "1+"))
        o->with_index = true;
    if (!accept(s, "$")) {
        o->count = (uint8_t)(scan_number(s) + (o->with_index ? 1 : 0));
        return;
    }
    o->count_group = scan_group(s, "*/,)");
    const isa_group *g = &s->form->groups[o->count_group];
    for (uint32_t i = 0; i < g->count; i++)
        if (!g->numbers[i])
            isa_row_fault(s->row, "\"%s\" of group \"%s\" is not a number", g->choices[i], g->name);
    if (accept(s, "*"))
        o->count_mul = (uint8_t)scan_number(s);
    if (accept(s, "/"))
        o->count_div = (uint8_t)scan_number(s);
}

static void scan_typed(scanner *s, isa_operand *o, isa_operand_kind kind)
{
    o->kind = kind;
    scan_type(s, o);
    if (kind == ISA_OPERAND_IMMEDIATE && accept(s, ",")) {
        o->ranged = true;
        o->low = (int32_t)scan_number(s);
        expect(s, ",");
        o->high = (int32_t)scan_number(s);
    }
    expect(s, ")");
    o->count = 1;
    if (kind == ISA_OPERAND_DST && accept(s, "|P"))
        o->kind = ISA_OPERAND_DST_AND_PRED;
}

static void scan_vector(scanner *s, isa_operand *o, isa_operand_kind kind)
{
    o->kind = kind;
    scan_type(s, o);
    expect(s, ",");
    scan_count(s, o);
    expect(s, ")");
    if (kind == ISA_OPERAND_DST_VECTOR && accept(s, "|P")) {
        o->with_pred = true;
        o->pred_optional = accept(s, "?");
    }
}

/* K(sum): numbers, and at most one group times a number. */
static void scan_constant(scanner *s, isa_operand *o)
{
    o->kind = ISA_OPERAND_CONSTANT;
    o->count = 1;
    while (!accept(s, ")")) {
        accept(s, "+");
        if (!accept(s, "$")) {
            o->low += (int32_t)scan_number(s);
            continue;
        }
        if (o->count_group >= 0)
            isa_row_fault(s->row, "a second group in K()");
        o->count_group = scan_group(s, "*+-)");
        long factor = accept(s, "*") ? scan_number(s) : 1;
        if (factor < 1 || factor > 255)
            isa_row_fault(s->row, "a factor of 1 to 255 is needed");
        o->count_mul = (uint8_t)factor;
    }
}

static void scan_kind(scanner *s, isa_operand *o)
{
    static const struct { const char *text; isa_operand_kind kind; } typed[] = {
        {"DM(", ISA_OPERAND_DST_MASKED}, {"SB(", ISA_OPERAND_SRC_SELECTED}, {"D(", ISA_OPERAND_DST},
        {"S(", ISA_OPERAND_SRC}, {"B(", ISA_OPERAND_BOTH}, {"I(", ISA_OPERAND_IMMEDIATE},
    }, plain[] = {
        {"P|P", ISA_OPERAND_PRED_PAIR}, {"P", ISA_OPERAND_DST_PRED}, {"Q", ISA_OPERAND_SRC_PRED},
        {"A", ISA_OPERAND_ADDRESS}, {"L", ISA_OPERAND_LABEL}, {"F", ISA_OPERAND_FUNCTION}, {"G", ISA_OPERAND_LIST},
        {"X", ISA_OPERAND_EXEC}, {"M", ISA_OPERAND_MODEL}, {"CI", ISA_OPERAND_CARRY_IN}, {"CO", ISA_OPERAND_CARRY_OUT},
    };
    if (accept(s, "DV(")) {
        scan_vector(s, o, ISA_OPERAND_DST_VECTOR);
        return;
    }
    if (accept(s, "SV(")) {
        scan_vector(s, o, ISA_OPERAND_SRC_VECTOR);
        return;
    }
    if (accept(s, "Z(")) {
        scan_vector(s, o, ISA_OPERAND_ZERO);
        return;
    }
    if (accept(s, "K(")) {
        scan_constant(s, o);
        return;
    }
    if (accept(s, "T(")) {
        o->kind = ISA_OPERAND_TEXTURE;
        scan_count(s, o);
        expect(s, ",");
        scan_type(s, o);
        expect(s, ")");
        return;
    }
    for (uint32_t i = 0; i < sizeof typed / sizeof *typed; i++)
        if (accept(s, typed[i].text)) {
            scan_typed(s, o, typed[i].kind);
            return;
        }
    for (uint32_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (accept(s, plain[i].text)) {
            o->kind = plain[i].kind;
            o->count = 1;
            return;
        }
    isa_row_fault(s->row, "unknown operand \"%s\"", s->p);
}

static void read_operands(const isa_row *row, isa_form *form)
{
    isa_operand *operands = allocate(ISA_MAX_OPERANDS, sizeof *operands);
    form->operands = operands;
    for (const char *p = row->operands; *p;) {
        size_t n = strcspn(p, " ");
        if (n == 0) {
            p++;
            continue;
        }
        if (form->noperands == ISA_MAX_OPERANDS)
            isa_row_fault(row, "more than %d operands", ISA_MAX_OPERANDS);
        isa_operand *o = &operands[form->noperands];
        *o = (isa_operand){.type_group = -1, .count_group = -1, .when_group = -1, .type_scale = 1, .count_mul = 1, .count_div = 1};
        scanner s = {row, form, p, p + n};
        scan_kind(&s, o);
        if (accept(&s, "?"))
            o->optional = true;
        else if (accept(&s, "@"))
            o->when_group = scan_group(&s, "");
        if (s.p != s.end)
            isa_row_fault(row, "unexpected \"%s\"", s.p);
        form->noperands++;
        p += n;
    }
}

/* ------------------------------------------------------------ meaning */

static void check_meaning(const isa_row *row, isa_form *form)
{
    isa_group *groups = (isa_group *)form->groups;
    uint32_t stride = 1;
    for (const char *p = row->meaning; *p; p++) {
        if (*p != '{')
            continue;
        const char *end = strchr(p, '}');
        if (!end)
            isa_row_fault(row, "`{` without `}` in the meaning");
        size_t n = strcspn(p + 1, "=}");
        if (n > 2 && p[n] == 'b' && p[n - 1] == ':')
            n -= 2;
        int found = -1;
        for (int g = 0; g < form->ngroups; g++)
            if (strlen(groups[g].name) == n && memcmp(groups[g].name, p + 1, n) == 0)
                found = g;
        if (found < 0)
            isa_row_fault(row, "the meaning names no group: \"%.*s\"", (int)n, p + 1);
        if (groups[found].stride == 0) {
            groups[found].stride = stride;
            stride *= groups[found].count + 1u;
        }
        p = end;
    }
}

isa_form isa_read_row(const isa_row *row)
{
    isa_form form = {.family = row->family, .pattern = row->pattern, .meaning = row->meaning,
                     .ptx_version = (uint16_t)row->ptx_version, .sm = (uint16_t)row->sm, .clause = row->clause};
    read_pattern(row, &form);
    read_operands(row, &form);
    check_meaning(row, &form);
    return form;
}
