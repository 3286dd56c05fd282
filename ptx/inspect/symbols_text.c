/* symbols_text.c - formulas as text. */
#include "ptx/inspect/symbols.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 12, LONGEST = 600, SHORTEST_PART = 18 };

typedef struct writer {
    const pti_symbols *s;
    const pti_names *names;
    char *buffer;
    size_t size, length;
    uint32_t depth;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t left = w->length < w->size ? w->size - w->length : 0;
    int n = vsnprintf(left ? w->buffer + w->length : NULL, left, format, args);
    va_end(args);
    w->length += n > 0 ? (size_t)n : 0;
}

static void put_poly(writer *w, pti_poly p);

size_t pti_param_name(const ptx_function *f, uint64_t offset, char *buffer, size_t size)
{
    const ptx_variable *v = NULL;
    for (uint32_t i = 0; i < f->prototype.nparams; i++)
        if (offset >= f->prototype.params[i]->offset && offset < f->prototype.params[i]->offset + f->prototype.params[i]->size)
            v = f->prototype.params[i];
    if (!v)
        return (size_t)snprintf(buffer, size, "param+%" PRIu64, offset);
    size_t n = strlen(f->name);
    const char *name = strncmp(v->name, f->name, n) == 0 && v->name[n] == '_' && v->name[n + 1] ? v->name + n + 1 : v->name;
    if (offset == v->offset && !v->is_array)
        return (size_t)snprintf(buffer, size, "%s", name);
    return (size_t)snprintf(buffer, size, "%s+%" PRIu64, name, offset - v->offset);
}

/* ------------------------------------------------------------ atoms */

/* Sums in brackets inside products and operations. */
static void put_inner(writer *w, pti_poly p)
{
    const pti_sum *sum = &w->s->sums[p];
    bool bare = sum->nterms == 0 || (sum->nterms == 1 && sum->constant == 0 && sum->terms[0].factor == 1 && sum->terms[0].natoms == 1);
    put(w, bare ? "" : "(");
    put_poly(w, p);
    put(w, bare ? "" : ")");
}

static void put_infix(writer *w, const pti_atom *a, const char *op)
{
    put(w, "(");
    put_inner(w, a->arg[0]);
    put(w, " %s ", op);
    put_inner(w, a->arg[1]);
    put(w, ")");
}

static void put_with_number(writer *w, const pti_atom *a, const char *op, uint64_t number)
{
    put(w, "(");
    put_inner(w, a->arg[0]);
    put(w, " %s %" PRIu64 ")", op, number);
}

static void put_call(writer *w, const char *name, const pti_atom *a)
{
    put(w, "%s(", name);
    for (int i = 0; i < 3 && a->arg[i] != PTI_NONE; i++) {
        put(w, i ? ", " : "");
        put_poly(w, a->arg[i]);
    }
    put(w, ")");
}

static void put_place(writer *w, uint32_t insn)
{
    if (w->names && w->names->statements && pti_statement_of_insn(w->names->statements, insn) != PTI_NONE)
        put(w, "s%u", pti_statement_of_insn(w->names->statements, insn) + 1);
    else
        put(w, "L%u", w->s->flow->function->insns[insn].at.line);
}

static void put_value(writer *w, uint32_t value)
{
    const pti_value *v = &w->s->flow->values[value];
    put(w, "%s", w->s->flow->function->registers[v->reg].name);
    if (v->kind == PTI_VALUE_INSN) {
        put(w, "@");
        put_place(w, v->at);
    } else if (v->kind == PTI_VALUE_PHI) {
        put(w, "@phi ");
        put_place(w, w->s->flow->blocks[v->at].first);
    } else {
        put(w, "@entry");
    }
}

static const char *comparison_text(uint32_t number)
{
    static const char *const text[] = {"==", "!=", "<", "<=", ">", ">="};
    return text[number];
}

static void put_special(writer *w, const pti_atom *a)
{
    const char *name = ptx_special_name((ptx_special)a->number);
    put(w, "%s", *name == '%' ? name + 1 : name);
}

static void put_literal(writer *w, const pti_atom *a)
{
    uint64_t bits = a->number | (uint64_t)w->s->sums[a->arg[0]].constant << 32;
    float f;
    double d;
    memcpy(&f, &a->number, sizeof f);
    memcpy(&d, &bits, sizeof d);
    if (a->type == PTX_TYPE_F32)
        put(w, "%.9g", (double)f);
    else if (a->type == PTX_TYPE_F64)
        put(w, "%.17g", d);
    else
        put(w, "0x%" PRIx64, bits);
}

static void put_atom(writer *w, uint32_t index)
{
    const pti_atom *a = &w->s->atoms[index];
    char name[256];
    switch (a->kind) {
    case PTI_ATOM_SPECIAL: put_special(w, a); break;
    case PTI_ATOM_PARAM:
        pti_param_name(w->s->flow->function, a->number, name, sizeof name);
        put(w, strchr(name, '+') && w->depth ? "[%s]" : "%s", name);       /* the sum is of its address */
        break;
    case PTI_ATOM_SYMBOL: put(w, "%s", a->variable->name); break;
    case PTI_ATOM_VALUE: put_value(w, a->number); break;
    case PTI_ATOM_TURN: put(w, "turn("), put_place(w, w->s->flow->blocks[a->number].first), put(w, ")"); break;
    case PTI_ATOM_CUT: put_call(w, ptx_type_name(a->type), a); break;
    case PTI_ATOM_LOW_BITS: put_with_number(w, a, "&", (UINT64_C(1) << a->number) - 1); break;
    case PTI_ATOM_SHIFT: put_with_number(w, a, ">>", a->number); break;
    case PTI_ATOM_QUOTIENT: put_with_number(w, a, "/", a->number); break;
    case PTI_ATOM_PRODUCT: put_infix(w, a, "*"); break;
    case PTI_ATOM_MIN: put_call(w, "min", a); break;
    case PTI_ATOM_MAX: put_call(w, "max", a); break;
    case PTI_ATOM_SELECT:
        put(w, "("), put_inner(w, a->arg[0]), put(w, " ? "), put_inner(w, a->arg[1]), put(w, " : "), put_inner(w, a->arg[2]), put(w, ")");
        break;
    case PTI_ATOM_COMPARE: put_infix(w, a, comparison_text(a->number)); break;
    case PTI_ATOM_AND: put_infix(w, a, "&"); break;
    case PTI_ATOM_OR: put_infix(w, a, "|"); break;
    case PTI_ATOM_XOR: put_infix(w, a, "^"); break;
    case PTI_ATOM_LITERAL: put_literal(w, a); break;
    case PTI_ATOM_APPLY: put_call(w, isa_meaning_names[a->number], a); break;
    }
}

/* ------------------------------------------------------------ sums */

static void put_part(writer *w, uint32_t atom)
{
    if (w->names && w->names->parts && atom < w->names->natoms && w->names->parts[atom])
        put(w, "a%u", w->names->parts[atom]);
    else
        put_atom(w, atom);
}

static void put_term(writer *w, const pti_term *t, bool first)
{
    uint64_t size = (uint64_t)(t->factor < 0 ? -(__int128)t->factor : t->factor);
    put(w, "%s", first ? (t->factor < 0 ? "-" : "") : t->factor < 0 ? " - " : " + ");
    if (size != 1)
        put(w, "%" PRIu64 "*", size);
    for (uint32_t i = 0; i < t->natoms; i++) {
        put(w, i ? "*" : "");
        put_part(w, t->atoms[i]);
    }
}

/* The largest factors first, as strides are read. */
static void put_terms(writer *w, const pti_sum *sum)
{
    uint8_t order[PTI_MAX_TERMS];
    for (uint32_t i = 0; i < sum->nterms; i++) {
        uint32_t k = i;
        for (; k > 0; k--) {
            const pti_term *a = &sum->terms[order[k - 1]], *b = &sum->terms[i];
            bool symbol_a = w->s->atoms[a->atoms[0]].depends & PTI_ON_SYMBOL, symbol_b = w->s->atoms[b->atoms[0]].depends & PTI_ON_SYMBOL;
            __int128 x = a->factor < 0 ? -(__int128)a->factor : a->factor, y = b->factor < 0 ? -(__int128)b->factor : b->factor;
            if (symbol_a != symbol_b ? symbol_a : x > y || (x == y && a->natoms >= b->natoms))
                break;
            order[k] = order[k - 1];
        }
        order[k] = (uint8_t)i;
    }
    for (uint32_t i = 0; i < sum->nterms; i++)
        put_term(w, &sum->terms[order[i]], i == 0);
}

static void put_poly(writer *w, pti_poly p)
{
    const pti_sum *sum = &w->s->sums[p];
    if (w->depth == DEEPEST || w->length > LONGEST) {
        put(w, "...");
        return;
    }
    w->depth++;
    put_terms(w, sum);
    if (sum->nterms == 0)
        put(w, "%" PRId64, sum->constant);
    else if (sum->constant)
        put(w, " %c %" PRIu64, sum->constant < 0 ? '-' : '+',
            (uint64_t)(sum->constant < 0 ? -(__int128)sum->constant : sum->constant));
    w->depth--;
}

size_t pti_poly_text(const pti_symbols *s, const pti_names *names, pti_poly p, char *buffer, size_t size)
{
    writer w = {s, names, buffer, size, 0, 0};
    if (size)
        buffer[0] = '\0';
    put_poly(&w, p);
    return w.length;
}

size_t pti_atom_text(const pti_symbols *s, const pti_names *names, uint32_t atom, char *buffer, size_t size)
{
    writer w = {s, names, buffer, size, 0, 0};
    if (size)
        buffer[0] = '\0';
    put_atom(&w, atom);
    return w.length;
}

/* ------------------------------------------------------------ parts with names */

static void count_uses(const pti_symbols *s, pti_poly p, uint32_t *uses)
{
    const pti_sum *sum = &s->sums[p];
    for (uint32_t i = 0; i < sum->nterms; i++)
        for (uint32_t a = 0; a < sum->terms[i].natoms; a++)
            uses[sum->terms[i].atoms[a]]++;
}

/* Formulas and atoms that an atom stands in are counted; an atom inside of one that has a name is counted once. */
bool pti_name_parts(const pti_symbols *s, const pti_poly *formulas, size_t n, pti_names *names)
{
    uint32_t *uses = calloc((size_t)s->natoms + 1, sizeof *uses);
    names->parts = calloc((size_t)s->natoms + 1, sizeof *names->parts);
    names->natoms = s->natoms;
    names->nparts = 0;
    if (!uses || !names->parts) {
        free(uses);
        pti_free_names(names);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        count_uses(s, formulas[i], uses);
    for (uint32_t a = s->natoms; a-- > 0;)
        for (int k = 0; k < 3 && uses[a] && s->atoms[a].arg[k] != PTI_NONE; k++)
            count_uses(s, s->atoms[a].arg[k], uses);
    for (uint32_t a = 0; a < s->natoms; a++) {
        char text[64];
        bool operation = s->atoms[a].kind >= PTI_ATOM_CUT && s->atoms[a].kind != PTI_ATOM_LITERAL;
        if (operation && uses[a] > 1 && pti_atom_text(s, names, a, text, sizeof text) >= SHORTEST_PART)
            names->parts[a] = ++names->nparts;
    }
    free(uses);
    return true;
}

void pti_free_names(pti_names *names)
{
    free(names->parts);
    names->parts = NULL;
    names->nparts = 0;
}

uint32_t pti_named_part(const pti_names *names, uint32_t number)
{
    for (uint32_t a = 0; a < names->natoms; a++)
        if (names->parts[a] == number)
            return a;
    return PTI_NONE;
}
