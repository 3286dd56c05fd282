/* parser_name.c - symbols, scopes, registers and label references.
 *
 * Invariants: a symbol's bindings are ordered by depth, innermost first, and closing a scope removes just
 * those made in it. A label is visible in the whole of its scope and of the scopes inside, also
 * before its definition, so references wait for the end of the scope.
 */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------ symbols */

static inline uint64_t mix(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

static inline uint64_t load(const char *text, size_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, text, bytes);
    return word;
}

/* Up to seven bytes as one word, without a loop: the two halves overlap. */
static inline uint64_t load_short(const char *text, uint32_t length)
{
    if (length >= 4)
        return load(text, 4) << 32 | load(text + length - 4, 4);
    if (length == 0)
        return 0;
    return (uint64_t)(unsigned char)text[0] << 16 | (uint64_t)(unsigned char)text[length / 2] << 8 |
           (unsigned char)text[length - 1];
}

/* Eight bytes at a time, the last eight overlapping those before. */
uint64_t ptx_hash(const ptx_parser *p, const char *text, uint32_t length)
{
    uint64_t h = p->seed + length;
    if (length < 8)
        return mix(h ^ load_short(text, length));
    const char *last = text + length - 8;
    for (; text < last; text += 8)
        h = mix(h ^ load(text, 8));
    return mix(h ^ load(last, 8));
}

static uint32_t fold(uint64_t h)
{
    return (uint32_t)(h ^ h >> 32);
}

static bool same(const ptx_symbol *s, uint32_t hash, const char *text, uint32_t length)
{
    if (s->hash != hash || s->length != length)
        return false;
    return length < 8 ? load_short(s->name, length) == load_short(text, length) : memcmp(s->name, text, length) == 0;
}

ptx_symbol *ptx_find_symbol(const ptx_parser *p, const char *text, uint32_t length)
{
    uint32_t hash = fold(ptx_hash(p, text, length)), mask = p->symbol_slots - 1;
    for (uint32_t i = hash & mask; p->symbols[i]; i = (i + 1) & mask)
        if (same(p->symbols[i], hash, text, length))
            return p->symbols[i];
    return NULL;
}

static void resize_symbols(ptx_parser *p, uint32_t slots)
{
    ptx_symbol **table = ptx_arena_resize(p->arena, NULL, 0, slots * sizeof *table);
    if (!table)
        ptx_out_of_memory(p);
    memset(table, 0, slots * sizeof *table);
    for (uint32_t i = 0; i < p->symbol_slots; i++) {
        ptx_symbol *s = p->symbols[i];
        if (!s)
            continue;
        uint32_t at = s->hash & (slots - 1);
        while (table[at])
            at = (at + 1) & (slots - 1);
        table[at] = s;
    }
    if (p->symbols)
        ptx_arena_resize(p->arena, p->symbols, p->symbol_slots * sizeof *table, 0);
    p->symbols = table;
    p->symbol_slots = slots;
}

ptx_symbol *ptx_intern(ptx_parser *p, const char *text, uint32_t length)
{
    ptx_symbol *found = ptx_find_symbol(p, text, length);
    if (found)
        return found;
    if (2 * (p->nsymbols + 1) > p->symbol_slots)
        resize_symbols(p, 2 * p->symbol_slots);
    ptx_symbol *s = PTX_NEW(p, ptx_symbol, 1);
    *s = (ptx_symbol){.name = ptx_copy(p, text, length), .length = length, .hash = fold(ptx_hash(p, text, length))};
    uint32_t mask = p->symbol_slots - 1, i = s->hash & mask;
    while (p->symbols[i])
        i = (i + 1) & mask;
    p->symbols[i] = s;
    p->nsymbols++;
    return s;
}

void ptx_names_init(ptx_parser *p)
{
    /* The seed keeps crafted names from colliding; the order of the table is never used. */
    p->seed = mix((uint64_t)(uintptr_t)p->store ^ 0x5851f42d4c957f2du);
    resize_symbols(p, 1024);
    for (uint32_t i = 0; i < ptx_special_register_count; i++) {
        const char *name = ptx_special_registers[i].name;
        ptx_intern(p, name, (uint32_t)strlen(name))->special = (uint16_t)(i + 1);
    }
}

/* ------------------------------------------------------------ scopes */

bool ptx_open_scope(ptx_parser *p, ptx_location at)
{
    if (p->depth >= PTX_MAX_DEPTH)
        return PTX_LIMIT(p, at, "more than %d nested scopes", PTX_MAX_DEPTH);
    p->depth++;
    p->scopes[p->depth] = (ptx_scope){.first_pending = p->npending, .param_offset = p->param_offset};
    return true;
}

/* Settles what this scope's labels answer; the rest is left to the scope around it. */
static void settle_labels(ptx_parser *p, uint32_t first)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < p->npending; i++) {
        ptx_pending *ref = &p->pending[i];
        const ptx_binding *b = ref->symbol->binding;
        if (b && b->kind == PTX_BIND_LABEL && b->depth == p->depth)
            *ref->target = b->as.target;
        else
            p->pending[kept++] = *ref;
    }
    p->npending = kept;
    if (p->depth > 1)
        return;
    for (uint32_t i = 0; i < kept; i++)
        PTX_FAULT(p, p->pending[i].at, "there is no label '%s' in this function", p->pending[i].symbol->name);
    p->npending = 0;
}

void ptx_close_scope(ptx_parser *p)
{
    ptx_scope *scope = &p->scopes[p->depth];
    settle_labels(p, scope->first_pending);
    for (ptx_binding *b = scope->bindings; b; b = b->previous) {
        if (b->is_range)
            b->symbol->range = b->outer;
        else
            b->symbol->binding = b->outer;
    }
    p->param_offset = scope->param_offset;
    p->depth--;
}

static ptx_binding *make_binding(ptx_parser *p, ptx_symbol *symbol, ptx_bind_kind kind, ptx_location at)
{
    ptx_binding *b = PTX_NEW(p, ptx_binding, 1);
    *b = (ptx_binding){.kind = kind, .depth = (uint16_t)p->depth, .vector = 1, .symbol = symbol, .at = at,
                       .previous = p->scopes[p->depth].bindings};
    p->scopes[p->depth].bindings = b;
    return b;
}

/* Splits "%r12" before its last `digits` digits. Returns the number, or UINT32_MAX when there is none that fits. */
static uint32_t trailing_number(const char *text, uint32_t length, uint32_t *base_length)
{
    uint32_t base = length;
    while (base > 0 && (unsigned char)(text[base - 1] - '0') <= 9)
        base--;
    *base_length = base;
    uint32_t digits = length - base;
    if (digits == 0 || digits > 9 || base == 0)
        return UINT32_MAX;
    uint32_t number = 0;
    for (uint32_t i = base; i < length; i++)
        number = 10 * number + (uint32_t)(text[i] - '0');
    return number;
}

static const ptx_binding *range_with(const ptx_symbol *base, uint32_t number)
{
    const ptx_binding *b = base->range;
    while (b && number >= b->count)
        b = b->outer;
    return b;
}

static bool declared_twice(ptx_parser *p, const ptx_token *name, ptx_location first)
{
    return PTX_FAULT(p, ptx_token_at(name), "'%.*s' is already declared in this scope, at line %u",
                     (int)name->length, name->start, first.line);
}

ptx_binding *ptx_bind(ptx_parser *p, const ptx_token *name, ptx_bind_kind kind)
{
    if (name->length == 1 && (*name->start == '_' || *name->start == '$')) {
        PTX_FAULT(p, ptx_token_at(name), "'%c' is not a name that can be declared", *name->start);
        return NULL;
    }
    ptx_symbol *symbol = ptx_intern(p, name->start, name->length);
    if (symbol->binding && symbol->binding->depth == p->depth) {
        declared_twice(p, name, symbol->binding->at);
        return NULL;
    }
    uint32_t base_length, number = trailing_number(name->start, name->length, &base_length);
    if (number != UINT32_MAX && kind == PTX_BIND_REGISTER) {
        ptx_symbol *base = ptx_intern(p, name->start, base_length);
        const ptx_binding *range = range_with(base, number);
        if (range && range->depth == p->depth) {
            declared_twice(p, name, range->at);
            return NULL;
        }
        base->numbered = true;
    }
    ptx_binding *b = make_binding(p, symbol, kind, ptx_token_at(name));
    b->outer = symbol->binding;
    symbol->binding = b;
    return b;
}

ptx_binding *ptx_bind_range(ptx_parser *p, const ptx_token *name, uint32_t count)
{
    ptx_symbol *symbol = ptx_intern(p, name->start, name->length);
    if (symbol->range && symbol->range->depth == p->depth) {
        PTX_FAULT(p, ptx_token_at(name), "'%.*s<>' is already declared in this scope, at line %u", (int)name->length,
                  name->start, symbol->range->at.line);
        return NULL;
    }
    ptx_binding *b = make_binding(p, symbol, PTX_BIND_REGISTER, ptx_token_at(name));
    b->is_range = true;
    b->count = count;
    b->outer = symbol->range;
    symbol->range = b;
    return b;
}

/* ------------------------------------------------------------ registers */

static const char components[] = "xyzw";

static char *register_name(ptx_parser *p, const ptx_binding *b, uint32_t number, uint32_t component)
{
    char digits[12];
    uint32_t ndigits = 0, length = b->symbol->length;
    if (b->is_range) {
        do
            digits[ndigits++] = (char)('0' + number % 10);
        while ((number /= 10) != 0);
    }
    char *name = ptx_new(p, length + ndigits + 3, 1), *end = name + length;
    memcpy(name, b->symbol->name, length);
    while (ndigits)
        *end++ = digits[--ndigits];
    if (b->vector > 1) {
        *end++ = '.';
        *end++ = components[component];
    }
    *end = 0;
    return name;
}

static uint32_t add_register(ptx_parser *p, const char *name, ptx_type type, uint32_t vector, uint32_t slot)
{
    PTX_GROW(p, p->registers, p->register_room, p->nregisters + 1);
    p->registers[p->nregisters] =
        (ptx_register_use){.reg = {.name = name, .type = type, .vector = vector}, .slot = slot};
    return p->nregisters++;
}

/* The components of a vector register get consecutive numbers at the first use of any of them. */
uint32_t ptx_register_of(ptx_parser *p, const ptx_binding *b, uint32_t number, uint32_t component)
{
    uint32_t slot = b->slot + number;
    if (p->slots[slot] == 0) {
        uint32_t first = p->nregisters;
        for (uint32_t c = 0; c < b->vector; c++)
            add_register(p, register_name(p, b, number, c), b->type, b->vector, slot);
        p->slots[slot] = first + 1;
    }
    return p->slots[slot] - 1 + component;
}

bool ptx_parse_count(ptx_parser *p, uint32_t *count)
{
    const ptx_token number = p->token;
    if (!ptx_expect(p, PTX_TOKEN_INT, "a number of names") || !ptx_expect(p, '>', "'>'"))
        return false;
    if (number.value > PTX_MAX_NUMBERED - p->nnumbered)
        return PTX_LIMIT(p, ptx_token_at(&number), "more than %d variables and labels that are declared by their number", PTX_MAX_NUMBERED);
    *count = (uint32_t)number.value;
    p->nnumbered += *count;
    return true;
}

bool ptx_number_name(ptx_parser *p, const ptx_token *name, uint32_t number, char buffer[PTX_NUMBERED_NAME + PTX_TEXT_PADDING], ptx_token *out)
{
    const int length = snprintf(buffer, PTX_NUMBERED_NAME, "%.*s%u", (int)name->length, name->start, number);
    if (length >= PTX_NUMBERED_NAME)
        return PTX_LIMIT(p, ptx_token_at(name), "a name of more than %d characters", PTX_NUMBERED_NAME - 1);
    *out = *name;
    out->start = buffer;
    out->length = (uint32_t)length;
    return true;
}

uint32_t ptx_carry_register(ptx_parser *p)
{
    if (p->carry == 0)
        p->carry = add_register(p, "%cc", PTX_TYPE_PRED, 1, UINT32_MAX) + 1;
    return p->carry - 1;
}

uint32_t ptx_new_register(ptx_parser *p, const char *name, ptx_type type)
{
    return add_register(p, name, type, 1, UINT32_MAX);
}

/* ------------------------------------------------------------ look-up */

void ptx_refer_label(ptx_parser *p, const ptx_symbol *symbol, uint32_t *target, ptx_location at)
{
    PTX_GROW(p, p->pending, p->pending_room, p->npending + 1);
    p->pending[p->npending++] = (ptx_pending){symbol, target, at};
}

static void found_register(ptx_parser *p, const ptx_binding *b, uint32_t number, ptx_raw_value *out)
{
    out->kind = PTX_RAW_REG;
    out->type = b->type;
    out->vector = b->vector;
    out->reg = ptx_register_of(p, b, number, 0);
}

static void found_binding(ptx_parser *p, const ptx_binding *b, ptx_raw_value *out)
{
    out->binding = b;
    switch (b->kind) {
    case PTX_BIND_REGISTER: found_register(p, b, 0, out); break;
    case PTX_BIND_VARIABLE: out->kind = PTX_RAW_VARIABLE; break;
    case PTX_BIND_FUNCTION: out->kind = PTX_RAW_FUNCTION; break;
    case PTX_BIND_LABEL: case PTX_BIND_TARGETS: case PTX_BIND_PROTOTYPE: out->kind = PTX_RAW_NAME; break;
    }
}

static void found_special(const ptx_symbol *symbol, ptx_raw_value *out)
{
    const ptx_special_register *s = &ptx_special_registers[symbol->special - 1];
    out->kind = PTX_RAW_SPECIAL;
    out->reg = symbol->special - 1u;
    out->type = s->type;
    out->vector = s->vector;
    out->special = s->first;
}

/* A base that ends in digits itself, as in `.reg .u32 %u32<4>`: every way to split is tried. */
static bool lookup_odd_range(ptx_parser *p, const ptx_token *name, uint32_t base_length, ptx_raw_value *out)
{
    for (uint32_t split = base_length + 1; split < name->length && name->length - split <= 9; split++) {
        const ptx_symbol *base = ptx_find_symbol(p, name->start, split);
        if (!base || !base->range)
            continue;
        uint32_t number = 0;
        for (uint32_t i = split; i < name->length; i++)
            number = 10 * number + (uint32_t)(name->start[i] - '0');
        const ptx_binding *b = range_with(base, number);
        if (b) {
            found_register(p, b, number, out);
            return true;
        }
    }
    return false;
}

void ptx_lookup(ptx_parser *p, const ptx_token *name, ptx_raw_value *out)
{
    uint32_t base_length, number = trailing_number(name->start, name->length, &base_length);
    const ptx_binding *range = NULL;
    bool singly = true;
    if (number != UINT32_MAX) {
        const ptx_symbol *base = ptx_find_symbol(p, name->start, base_length);
        if (base && base->range) {
            range = range_with(base, number);
            singly = base->numbered;
        }
        if (range && !singly) {
            found_register(p, range, number, out);
            return;
        }
    }
    ptx_symbol *symbol = ptx_intern(p, name->start, name->length);
    out->symbol = symbol;
    const ptx_binding *b = symbol->binding;
    if (range && (!b || b->depth < range->depth))
        found_register(p, range, number, out);
    else if (b)
        found_binding(p, b, out);
    else if (symbol->special)
        found_special(symbol, out);
    else if (base_length == name->length || !lookup_odd_range(p, name, base_length, out))
        out->kind = PTX_RAW_NAME;
}
