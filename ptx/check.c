/* check.c - from operands as written to a checked instruction.
 *
 * An opcode can have several readings (mov.b64 is a move, a pack and an unpack). They are worked
 * out once for each opcode text; a statement takes the first reading that its operands fit, and a fault is
 * explained for the reading that came furthest.
 */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------ readings of an opcode */

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static uint8_t flags_of(const isa_form *form, const isa_tuple *tuple)
{
    static const char *const relaxed[] = {"ld", "ldu", "st", "cvt", "suld", "sust", NULL};
    static const char *const specials[] = {"mov", "cvt", NULL};
    static const char *const symbols[] = {"mov", "mapa", "cvta", NULL};
    static const char *const sinks[] = {"atom", "mbarrier", "elect", "lop3", NULL};
    static const char *const generic[] = {"ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu", NULL};
    static const char *const fragments[] = {"mma", "wmma", NULL}, *const spaced[] = {"cvta", "mapa", NULL};
    const char *m = form->mnemonic;
    uint32_t flags = 0;
    flags |= is_one_of(m, fragments) && !strcmp(form->family, "mma") ? PTX_FLAG_NO_CONSTANTS : 0;  /* not the stride of wmma.load */
    flags |= is_one_of(m, spaced) ? PTX_FLAG_SPACED : 0;
    flags |= is_one_of(m, relaxed) ? PTX_FLAG_RELAXED : 0;
    flags |= is_one_of(m, specials) ? PTX_FLAG_SPECIALS : 0;
    flags |= is_one_of(m, symbols) && !isa_choice(form, tuple, "to") ? PTX_FLAG_SYMBOLS : 0;
    flags |= is_one_of(m, sinks) ? PTX_FLAG_SINK : 0;
    flags |= is_one_of(m, generic) ? PTX_FLAG_GENERIC : 0;
    return (uint8_t)flags;
}

static ptx_space space_of_word(const char *word)
{
    static const struct { const char *word; ptx_space space; } words[] = {
        {"global", PTX_SPACE_GLOBAL}, {"shared", PTX_SPACE_SHARED}, {"shared::cta", PTX_SPACE_SHARED},
        {"shared::cluster", PTX_SPACE_SHARED}, {"local", PTX_SPACE_LOCAL}, {"const", PTX_SPACE_CONST},
        {"param", PTX_SPACE_PARAM}, {"param::entry", PTX_SPACE_PARAM}, {"param::func", PTX_SPACE_PARAM},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0)
            return words[i].space;
    return PTX_SPACE_GENERIC;
}

static void find_spaces(ptx_reading *r)
{
    for (uint32_t g = 0; g < r->form->ngroups && r->nspaces < 4; g++) {
        uint32_t choice = r->tuple.choice[g];
        ptx_space space = choice ? space_of_word(r->form->groups[g].choices[choice - 1]) : PTX_SPACE_GENERIC;
        if (space != PTX_SPACE_GENERIC)
            r->spaces[r->nspaces++] = (uint8_t)space;
    }
}

static void make_reading(const isa_candidate *c, ptx_reading *r)
{
    *r = (ptx_reading){.form = c->form, .tuple = c->tuple, .meaning = isa_meaning_of(c->form, &c->tuple),
                       .operation = isa_operation(c->form), .flags = flags_of(c->form, &c->tuple)};
    find_spaces(r);
    for (uint32_t i = 0; i < c->form->noperands; i++) {
        r->written[i] = isa_operand_written(c->form, &c->tuple, i);
        r->types[i] = (uint8_t)isa_operand_type(c->form, &c->tuple, i);
        r->counts[i] = (uint8_t)isa_operand_count(c->form, &c->tuple, i);
        r->nwritten = (uint8_t)(r->nwritten + r->written[i]);
        r->nleast = (uint8_t)(r->nleast + (r->written[i] && !c->form->operands[i].optional));
    }
}

static void resize_opcodes(ptx_parser *p, uint32_t slots)
{
    ptx_opcode **table = ptx_arena_resize(p->arena, NULL, 0, slots * sizeof *table);
    if (!table)
        ptx_out_of_memory(p);
    memset(table, 0, slots * sizeof *table);
    for (uint32_t i = 0; i < p->opcode_slots; i++) {
        if (!p->opcodes[i])
            continue;
        uint32_t at = p->opcodes[i]->hash & (slots - 1);
        while (table[at])
            at = (at + 1) & (slots - 1);
        table[at] = p->opcodes[i];
    }
    if (p->opcodes)
        ptx_arena_resize(p->arena, p->opcodes, p->opcode_slots * sizeof *table, 0);
    p->opcodes = table;
    p->opcode_slots = slots;
}

static const ptx_opcode *add_opcode(ptx_parser *p, const char *text, uint32_t length, uint32_t hash,
                                    const isa_candidate *found, uint32_t n)
{
    if (2 * (p->nopcodes + 1) > p->opcode_slots)
        resize_opcodes(p, p->opcode_slots ? 2 * p->opcode_slots : 512);
    ptx_opcode *o = PTX_NEW(p, ptx_opcode, 1);
    *o = (ptx_opcode){.text = ptx_copy(p, text, length), .length = length, .hash = hash, .nreadings = n,
                      .readings = PTX_NEW(p, ptx_reading, n)};
    for (uint32_t i = 0; i < n; i++)
        make_reading(&found[i], &o->readings[i]);
    o->is_call = o->readings[0].operation && strcmp(o->readings[0].operation, "call") == 0;
    uint32_t at = hash & (p->opcode_slots - 1);
    while (p->opcodes[at])
        at = (at + 1) & (p->opcode_slots - 1);
    p->opcodes[at] = o;
    p->nopcodes++;
    return o;
}

/* NULL when the table does not have it; that is reported. */
const ptx_opcode *ptx_find_opcode(ptx_parser *p, const char *text, uint32_t length, ptx_location at)
{
    uint64_t full = ptx_hash(p, text, length);
    uint32_t hash = (uint32_t)(full ^ full >> 32), mask = p->opcode_slots - 1;
    for (uint32_t i = hash & mask; p->opcode_slots && p->opcodes[i]; i = (i + 1) & mask)
        if (p->opcodes[i]->hash == hash && p->opcodes[i]->length == length &&
            memcmp(p->opcodes[i]->text, text, length) == 0)
            return p->opcodes[i];
    isa_candidate found[ISA_MAX_CANDIDATES];
    bool known;
    uint32_t n = isa_match_opcode(text, length, found, &known);
    if (n)
        return add_opcode(p, text, length, hash, found, n);
    if (!ptx_worth_reporting(p))
        PTX_FAULT(p, at, "'%.*s' is not an instruction", length > 80 ? 80 : (int)length, text);
    else if (known)
        ptx_hint_modifiers(p, text, length, at);
    else
        ptx_hint_mnemonic(p, text, length, at);
    return NULL;
}

/* ------------------------------------------------------------ does an operand fit? */

typedef struct fitting {
    ptx_parser *p;
    const ptx_reading *reading;
    bool report;
    uint32_t addresses;            /* address operands met so far */
    uint32_t selected;             /* SB operands met so far */
} fitting;

static bool refuse(const fitting *f, const ptx_raw_operand *raw, const char *expected)
{
    if (f->report)
        PTX_FAULT(f->p, raw->at, "%s needs %s here", f->reading->form->mnemonic, expected);
    return false;
}

/* The value of a scalar operand, also when it stands in braces of its own. */
static const ptx_raw_value *scalar(const fitting *f, const ptx_raw_operand *raw)
{
    if (raw->shape == PTX_SHAPE_SCALAR || (raw->shape == PTX_SHAPE_VECTOR && raw->count == 1))
        return &f->p->values[raw->first];
    return NULL;
}

static bool fits_destination(const fitting *f, const ptx_raw_value *v, ptx_type type, bool sink)
{
    if (v->kind == PTX_RAW_SINK && sink)
        return true;
    if (v->kind == PTX_RAW_REG && !v->negated && !v->sum)
        return ptx_check_value(f->p, f->reading, v, type, f->report);
    if (!f->report)
        return false;
    if (v->kind == PTX_RAW_NAME && !v->binding)
        return PTX_FAULT(f->p, v->at, "'%s' is not declared", v->symbol->name);
    if (v->kind == PTX_RAW_SPECIAL)
        return PTX_FAULT(f->p, v->at, "%s is a special register and cannot be written",
                         ptx_special_registers[v->reg].name);
    return PTX_FAULT(f->p, v->at,
                     v->kind == PTX_RAW_SINK ? "%s needs a register here: its result cannot be discarded"
                                             : "%s needs a register for its result here",
                     f->reading->form->mnemonic);
}

static bool fits_scalar(const fitting *f, const ptx_raw_operand *raw, ptx_type type, bool destination)
{
    const ptx_raw_value *v = scalar(f, raw);
    if (!v)
        return refuse(f, raw, destination ? "one register" : "one value");
    if (destination)
        return fits_destination(f, v, type, (f->reading->flags & PTX_FLAG_SINK) != 0);
    return ptx_check_value(f->p, f->reading, v, type, f->report);
}

static bool fits_pair(const fitting *f, const ptx_raw_operand *raw, ptx_type first)
{
    if (raw->shape != PTX_SHAPE_PAIR) {
        const ptx_raw_value *v = scalar(f, raw);
        return v ? fits_destination(f, v, first, (f->reading->flags & PTX_FLAG_SINK) != 0)
                 : refuse(f, raw, "a register or a pair d|p");
    }
    const ptx_raw_value *v = &f->p->values[raw->first];
    return fits_destination(f, &v[0], first, true) && fits_destination(f, &v[1], PTX_TYPE_PRED, true);
}

static bool refuse_count(const fitting *f, const ptx_raw_operand *raw, uint32_t count)
{
    if (f->report)
        PTX_FAULT(f->p, raw->at, count == 1 ? "%s needs one element here" : "%s needs a vector of %u elements here",
                  f->reading->form->mnemonic, count);
    return false;
}

/* Where registers may be wider than the elements, they must still be of one width. */
static bool one_width(const fitting *f, const ptx_raw_operand *raw)
{
    uint32_t width = 0;
    for (uint32_t k = 0; k < raw->count; k++) {
        const ptx_raw_value *v = &f->p->values[raw->first + k];
        if (v->kind != PTX_RAW_REG)
            continue;
        uint32_t bytes = ptx_type_bytes(v->type);
        if (width && bytes != width)
            return f->report && PTX_FAULT(f->p, v->at, "the registers of a vector must have one width");
        width = bytes;
    }
    return true;
}

/* A source in braces. There ptxas takes special registers for every instruction, and constants for matrix products too. */
static bool fits_element(const fitting *f, const ptx_raw_value *v, ptx_type type)
{
    const bool constant = v->kind == PTX_RAW_INT || v->kind == PTX_RAW_FLOAT;
    if (v->kind == PTX_RAW_INT && (type == PTX_TYPE_F16 || type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2))
        return true;                   /* bits, of vectors of atom and red; there are no other vectors of these types */
    if (v->kind != PTX_RAW_SPECIAL && !(constant && f->reading->flags & PTX_FLAG_NO_CONSTANTS))
        return ptx_check_value(f->p, f->reading, v, type, f->report);
    ptx_reading open = *f->reading;
    open.flags = (uint8_t)((open.flags | PTX_FLAG_SPECIALS) & ~PTX_FLAG_NO_CONSTANTS);
    return ptx_check_value(f->p, &open, v, type, f->report);
}

static bool fits_vector(const fitting *f, const ptx_raw_operand *raw, uint32_t i, bool destination)
{
    ptx_type type = (ptx_type)f->reading->types[i];
    uint32_t count = f->reading->counts[i];
    const isa_operand *o = &f->reading->form->operands[i];
    bool with_pred = o->with_pred && !(o->pred_optional && raw->shape != PTX_SHAPE_VECTOR_PRED);
    const ptx_raw_value *v = &f->p->values[raw->first];
    if (raw->shape != (with_pred ? PTX_SHAPE_VECTOR_PRED : PTX_SHAPE_VECTOR)) {
        bool whole = raw->shape == PTX_SHAPE_SCALAR && v->vector == count && count > 1 && !v->sum;
        if (whole && v->kind == PTX_RAW_REG &&
            ptx_type_fits(v->type, type, (f->reading->flags & PTX_FLAG_RELAXED) != 0))
            return true;
        if (whole && v->kind == PTX_RAW_SPECIAL && !destination && (f->reading->flags & PTX_FLAG_SPECIALS) &&
            ptx_type_bits(type) == 32)
            return true;
        if (count != 1 || raw->shape != PTX_SHAPE_SCALAR || with_pred)
            return refuse_count(f, raw, count);
    }
    if (raw->count != count)
        return refuse_count(f, raw, count);
    for (uint32_t k = 0; k < count; k++)
        if (destination ? !fits_destination(f, &v[k], type,
                                            raw->shape != PTX_SHAPE_SCALAR || (f->reading->flags & PTX_FLAG_SINK))
                        : !(raw->shape == PTX_SHAPE_SCALAR ? ptx_check_value(f->p, f->reading, &v[k], type, f->report) : fits_element(f, &v[k], type)))
            return false;
    if ((f->reading->flags & PTX_FLAG_RELAXED) && !one_width(f, raw))
        return false;
    return !with_pred || fits_destination(f, &v[count], PTX_TYPE_PRED, true);
}

static bool fits_handle(const fitting *f, const ptx_raw_value *v)
{
    if (v->kind == PTX_RAW_REG && v->vector == 1 && ptx_type_fits(v->type, PTX_TYPE_U64, false))
        return true;
    if (v->kind == PTX_RAW_VARIABLE && (ptx_type_class(v->binding->as.variable->type) == 'o' || f->reading->nspaces > 0
                                        || strcmp(f->reading->form->family, "texture") != 0))
        return true;
    if (f->report)
        PTX_FAULT(f->p, v->at,
                  "%s needs a texture, surface or tensor handle here: a 64-bit register or a .texref, .samplerref or "
                  ".surfref",
                  f->reading->form->mnemonic);
    return false;
}

/* Braces hold the coordinates, filled up to 2 or 4 with elements that are ignored. */
static bool fits_texture(const fitting *f, const ptx_raw_operand *raw, uint32_t i)
{
    const isa_operand *o = &f->reading->form->operands[i];
    bool bare = f->reading->counts[i] == 0;
    if (raw->shape != (bare ? PTX_SHAPE_ADDRESS : PTX_SHAPE_TEXTURE) || (bare && raw->offset))
        return refuse(f, raw, bare ? "[handle]" : "[handle, {coordinates}]");
    const ptx_raw_value *v = &f->p->values[raw->first];
    uint32_t skip = raw->has_sampler ? 2 : 1, given = raw->count - skip, count = f->reading->counts[i];
    bool padded = given > count && given <= 4 && count <= 4;
    bool odd = given == 3 && strcmp(f->reading->form->family, "texture") == 0;
    if ((given != count && !padded) || odd) {
        if (f->report)
            PTX_FAULT(f->p, raw->at, "%s needs %u coordinate%s here, in braces of %u", f->reading->form->mnemonic,
                      count, count == 1 ? "" : "s", count == 3 ? 4 : count);
        return false;
    }
    for (uint32_t k = 0; k < skip; k++)
        if (!fits_handle(f, &v[k]))
            return false;
    for (uint32_t k = 0; k < count; k++) {
        ptx_type type = k == 0 && o->with_index ? PTX_TYPE_U32 : (ptx_type)f->reading->types[i];
        if (!fits_element(f, &v[skip + k], type))
            return false;
    }
    return true;
}

static bool fits_immediate(const fitting *f, const ptx_raw_operand *raw, uint32_t i)
{
    const isa_operand *o = &f->reading->form->operands[i];
    const ptx_raw_value *v = scalar(f, raw);
    if (!v || (v->kind != PTX_RAW_INT && v->kind != PTX_RAW_FLOAT))
        return refuse(f, raw, "a constant");
    if (!ptx_check_value(f->p, f->reading, v, (ptx_type)f->reading->types[i], f->report))
        return false;
    if (!o->ranged || ((int64_t)v->imm >= o->low && (int64_t)v->imm <= o->high))
        return true;
    if (f->report)
        PTX_FAULT(f->p, v->at, "%s needs a constant from %d to %d here", f->reading->form->mnemonic, o->low, o->high);
    return false;
}

/* ------------------------------------------------------------ selectors of video instructions */

/* 0: a scalar video instruction, else the lanes of a SIMD one (vadd2, vadd4…). */
static uint32_t simd_lanes(const isa_form *form)
{
    char last = form->mnemonic[strlen(form->mnemonic) - 1];
    return last == '2' ? 2 : last == '4' ? 4 : 0;
}

/* .h10 .b3210: the digits, most significant lane first. False when they do not suit. */
static bool simd_selector(const char *text, uint32_t length, uint32_t lanes, bool is_mask, uint32_t *out)
{
    if (length < 2 || text[0] != (lanes == 2 ? 'h' : 'b') || length - 1 > lanes || (!is_mask && length - 1 != lanes))
        return false;
    *out = 0;
    for (uint32_t k = 1; k < length; k++) {
        uint32_t digit = (uint32_t)(text[k] - '0');
        if (digit >= (is_mask ? lanes : 2 * lanes))
            return false;
        *out = is_mask ? *out | 1u << digit : *out << 4 | digit;
    }
    return true;
}

/* The value that the selector of a DM or SB operand passes to the meaning, see isa_selector. */
static bool selector_value(const isa_form *form, const ptx_raw_value *v, bool is_mask, uint32_t ordinal, uint32_t *out)
{
    uint32_t lanes = simd_lanes(form), minus = v->minus ? ISA_SELECTOR_MINUS : 0;
    if (!v->suffix) {
        if (lanes == 0)
            *out = ISA_SELECTOR_NONE | minus;
        else if (is_mask)
            *out = (1u << lanes) - 1;
        else if (lanes == 2)
            *out = ordinal == 0 ? 0x10 : 0x32;
        else
            *out = ordinal == 0 ? 0x3210 : 0x7654;
        return true;
    }
    if (lanes)
        return simd_selector(v->suffix, v->suffix_length, lanes, is_mask, out);
    if (v->suffix_length != 2)
        return false;
    uint32_t digit = (uint32_t)(v->suffix[1] - '0');
    *out = (v->suffix[0] == 'b' ? ISA_SELECTOR_B0 + digit : ISA_SELECTOR_H0 + digit) | minus;
    return (v->suffix[0] == 'b' && digit < 4) || (v->suffix[0] == 'h' && digit < 2);
}

static bool fits_selected(fitting *f, const ptx_raw_operand *raw, uint32_t i, bool destination)
{
    const ptx_raw_value *v = scalar(f, raw);
    uint32_t selector, ordinal = destination ? 0 : f->selected++;
    if (!v)
        return refuse(f, raw, "one register");
    ptx_raw_value plain = *v;
    plain.suffix = NULL;
    if (!strcmp(f->reading->form->mnemonic, "vmad"))   /* the selector says so */
        plain.minus = false;
    if (!selector_value(f->reading->form, v, destination, ordinal, &selector)) {
        if (f->report)
            PTX_FAULT(f->p, v->at, "'.%.*s' is not a selector for this operand of %s", (int)v->suffix_length, v->suffix,
                      f->reading->form->mnemonic);
        return false;
    }
    ptx_type type = (ptx_type)f->reading->types[i];
    return destination ? fits_destination(f, &plain, type, false)
                       : ptx_check_value(f->p, f->reading, &plain, type, f->report);
}

/* ------------------------------------------------------------ all operands of a reading */

static bool fits_operand(fitting *f, uint32_t i, const ptx_raw_operand *raw)
{
    ptx_type type = (ptx_type)f->reading->types[i];
    const ptx_raw_value *v;
    switch (f->reading->form->operands[i].kind) {
    case ISA_OPERAND_DST: case ISA_OPERAND_BOTH: return fits_scalar(f, raw, type, true);
    case ISA_OPERAND_SRC: return fits_scalar(f, raw, type, false);
    case ISA_OPERAND_DST_PRED: return fits_scalar(f, raw, PTX_TYPE_PRED, true);
    case ISA_OPERAND_SRC_PRED: return fits_scalar(f, raw, PTX_TYPE_PRED, false);
    case ISA_OPERAND_DST_AND_PRED: return fits_pair(f, raw, type);
    case ISA_OPERAND_PRED_PAIR: return fits_pair(f, raw, PTX_TYPE_PRED);
    case ISA_OPERAND_DST_VECTOR: return fits_vector(f, raw, i, true);
    case ISA_OPERAND_SRC_VECTOR: return fits_vector(f, raw, i, false);
    case ISA_OPERAND_ADDRESS:
        if (raw->shape != PTX_SHAPE_ADDRESS)
            return refuse(f, raw, "an address in brackets");
        return ptx_check_address(f->p, f->reading, f->addresses++, raw, f->report);
    case ISA_OPERAND_LABEL:
        v = scalar(f, raw);
        return (v && raw->shape == PTX_SHAPE_SCALAR && v->symbol && !v->suffix && v->kind != PTX_RAW_REG &&
                v->kind != PTX_RAW_SPECIAL && !v->negated && !v->minus) ||
               refuse(f, raw, "a label");
    case ISA_OPERAND_LIST:
        v = scalar(f, raw);
        return (v && v->binding && v->binding->kind == PTX_BIND_TARGETS) ||
               refuse(f, raw, "the name of a .branchtargets list declared before");
    case ISA_OPERAND_TEXTURE: return fits_texture(f, raw, i);
    case ISA_OPERAND_IMMEDIATE: return fits_immediate(f, raw, i);
    case ISA_OPERAND_DST_MASKED: return fits_selected(f, raw, i, true);
    case ISA_OPERAND_SRC_SELECTED: return fits_selected(f, raw, i, false);
    default: return false;
    }
}

/* Returns how many written operands fit; all of them: UINT32_MAX. */
static uint32_t fit(ptx_parser *p, const ptx_reading *reading, bool report)
{
    fitting f = {.p = p, .reading = reading, .report = report};
    if (p->noperands < reading->nleast || p->noperands > reading->nwritten)
        return 0;
    uint32_t next = 0;
    for (uint32_t i = 0; i < reading->form->noperands && next < p->noperands; i++) {
        if (!reading->written[i])
            continue;
        if (!fits_operand(&f, i, &p->operands[next]))
            return next + 1;
        next++;
    }
    return UINT32_MAX;
}

static bool is_released(const ptx_parser *p, const isa_form *form)
{
    const ptx_module *m = p->module;
    return (m->version == 0 || form->ptx_version <= m->version) && (m->sm == 0 || form->sm <= m->sm);
}

static bool report_release(ptx_parser *p, const ptx_opcode *opcode, const isa_form *form, ptx_location at)
{
    if (p->module->version && form->ptx_version > p->module->version)
        return PTX_FAULT(p, at, "%s needs PTX %u.%u or later, but this module is .version %u.%u", opcode->text,
                         form->ptx_version / 10, form->ptx_version % 10, p->module->version / 10,
                         p->module->version % 10);
    return PTX_FAULT(p, at, "%s needs sm_%u or later, but this module is for sm_%u", opcode->text, form->sm,
                     p->module->sm);
}

static bool report_operand_count(ptx_parser *p, const ptx_opcode *opcode, ptx_location at)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < opcode->nreadings; i++) {
        const ptx_reading *r = &opcode->readings[i];
        least = r->nleast < least ? r->nleast : least;
        most = r->nwritten > most ? r->nwritten : most;
    }
    if (least == most)
        return PTX_FAULT(p, at, "%s has %u operand%s, not %u", opcode->text, most, most == 1 ? "" : "s", p->noperands);
    return PTX_FAULT(p, at, "%s has %u to %u operands, not %u", opcode->text, least, most, p->noperands);
}

/* Barrier numbers go from 0 to 15 and whole warps take part: what of it stands in the text is checked here. */
static bool check_barrier(ptx_parser *p, const ptx_reading *r)
{
    bool number_seen = false;
    for (uint32_t i = 0, next = 0; i < r->form->noperands && next < p->noperands; i++, next++) {
        const ptx_raw_value *v = &p->values[p->operands[next].first];
        if (r->form->operands[i].kind != ISA_OPERAND_SRC)
            continue;
        if (v->kind == PTX_RAW_INT && !number_seen && v->imm > 15)
            return PTX_FAULT(p, v->at, "a barrier has a number from 0 to 15");
        if (v->kind == PTX_RAW_INT && number_seen && (v->imm == 0 || v->imm % 32))
            return PTX_FAULT(p, v->at, "the number of threads at a barrier is a multiple of 32");
        number_seen = true;
    }
    return true;
}

/* The first reading that fits; NULL, reported, when there is none. */
static const ptx_reading *choose(ptx_parser *p, const ptx_opcode *opcode, ptx_location at)
{
    const ptx_reading *furthest = NULL, *too_new = NULL;
    uint32_t best = 0;
    for (uint32_t i = 0; i < opcode->nreadings; i++) {
        const ptx_reading *r = &opcode->readings[i];
        uint32_t reached = fit(p, r, false);
        if (reached == UINT32_MAX && is_released(p, r->form))
            return r;
        if (reached == UINT32_MAX)
            too_new = too_new ? too_new : r;
        else if (reached > best) {
            best = reached;
            furthest = r;
        }
    }
    if (too_new)
        report_release(p, opcode, too_new->form, at);
    else if (furthest)
        fit(p, furthest, true);
    else
        report_operand_count(p, opcode, at);
    return NULL;
}

/* ------------------------------------------------------------ building */

void ptx_fill_value(const ptx_raw_value *v, ptx_type type, ptx_value *out)
{
    *out = (ptx_value){.type = type, .negated = v->negated};
    switch (v->kind) {
    case PTX_RAW_REG: out->kind = PTX_VALUE_REG; out->reg = v->reg; break;
    case PTX_RAW_INT: case PTX_RAW_FLOAT: out->kind = PTX_VALUE_IMM; out->imm = ptx_raw_bits(v, type); break;
    case PTX_RAW_SPECIAL: out->kind = PTX_VALUE_SPECIAL; out->special = v->special; break;
    case PTX_RAW_VARIABLE:
        out->kind = PTX_VALUE_VARIABLE;
        out->variable = v->binding->as.variable;
        out->imm = v->imm;
        break;
    case PTX_RAW_FUNCTION: out->kind = PTX_VALUE_FUNCTION; out->function = v->binding->as.function; break;
    case PTX_RAW_NAME: case PTX_RAW_SINK: out->kind = PTX_VALUE_SINK; break;
    }
    if (out->kind == PTX_VALUE_IMM && out->negated) {
        out->imm = !out->imm;
        out->negated = false;
    }
}

/* Values never change, so a register that is used twice as the same type is written once. */
const ptx_value *ptx_make_value(ptx_parser *p, const ptx_raw_value *v, ptx_type type)
{
    ptx_register_use *use = v->kind == PTX_RAW_REG && !v->negated ? &p->registers[v->reg] : NULL;
    if (use && use->last && use->last->type == type)
        return use->last;
    ptx_value *value = PTX_NEW(p, ptx_value, 1);
    ptx_fill_value(v, type, value);
    if (use)
        use->last = value;
    return value;
}

static void fill_whole_vector(const ptx_raw_value *v, ptx_type type, uint32_t count, ptx_value *out)
{
    ptx_raw_value part = *v;
    for (uint32_t k = 0; k < count; k++) {
        if (v->kind == PTX_RAW_REG) {
            part.reg = v->reg + k;
        } else if (k < 3) {
            part.special = (ptx_special)(v->special + k);
        } else {
            part = (ptx_raw_value){.kind = PTX_RAW_INT};
        }
        ptx_fill_value(&part, type, &out[k]);
    }
}

static void build_vector(ptx_parser *p, const ptx_reading *r, uint32_t i, const ptx_raw_operand *raw, ptx_operand *out)
{
    const ptx_raw_value *v = &p->values[raw->first];
    ptx_type type = (ptx_type)r->types[i];
    uint32_t count = r->counts[i], n = count + r->form->operands[i].with_pred;
    ptx_value *values = PTX_NEW(p, ptx_value, n);
    if (raw->shape == PTX_SHAPE_SCALAR && count > 1)
        fill_whole_vector(v, type, count, values);
    else
        for (uint32_t k = 0; k < count; k++)
            ptx_fill_value(&v[k], type, &values[k]);
    if (n > count && raw->shape == PTX_SHAPE_VECTOR_PRED)
        ptx_fill_value(&v[count], PTX_TYPE_PRED, &values[count]);
    else if (n > count)
        values[count] = (ptx_value){.kind = PTX_VALUE_SINK, .type = PTX_TYPE_PRED};
    out->values = values;
    out->nvalues = n;
}

static void build_pair(ptx_parser *p, const ptx_raw_operand *raw, ptx_type first, ptx_operand *out)
{
    ptx_value *values = PTX_NEW(p, ptx_value, 2);
    ptx_fill_value(&p->values[raw->first], first, &values[0]);
    values[1] = (ptx_value){.kind = PTX_VALUE_SINK, .type = PTX_TYPE_PRED};
    if (raw->shape == PTX_SHAPE_PAIR)
        ptx_fill_value(&p->values[raw->first + 1], PTX_TYPE_PRED, &values[1]);
    out->values = values;
    out->nvalues = 2;
}

static void build_address(ptx_parser *p, const ptx_raw_operand *raw, ptx_operand *out)
{
    const ptx_raw_value *v = &p->values[raw->first];
    out->address.offset = raw->offset;
    if (v->kind == PTX_RAW_REG) {
        out->address.base = PTX_BASE_REG;
        out->address.reg = v->reg;
    } else if (v->kind == PTX_RAW_VARIABLE) {
        out->address.base = PTX_BASE_VARIABLE;
        out->address.variable = v->binding->as.variable;
    }
}

/* values: the handle, then the coordinates. */
static void build_texture(ptx_parser *p, const ptx_reading *r, uint32_t i, const ptx_raw_operand *raw, ptx_operand *out)
{
    const ptx_raw_value *v = &p->values[raw->first];
    uint32_t count = r->counts[i], skip = raw->has_sampler ? 2 : 1;
    ptx_value *values = PTX_NEW(p, ptx_value, count + 1);
    build_address(p, raw, out);
    ptx_fill_value(v, PTX_TYPE_U64, &values[0]);
    for (uint32_t k = 0; k < count; k++)
        ptx_fill_value(&v[skip + k], k == 0 && r->form->operands[i].with_index ? PTX_TYPE_U32 : (ptx_type)r->types[i],
                       &values[k + 1]);
    out->values = values;
    out->nvalues = count + 1;
}

static void build_selected(ptx_parser *p, const ptx_reading *r, uint32_t i, const ptx_raw_operand *raw,
                           uint32_t ordinal, ptx_operand *out)
{
    const ptx_raw_value *v = &p->values[raw->first];
    ptx_value *values = PTX_NEW(p, ptx_value, 2);
    uint32_t selector = 0;
    selector_value(r->form, v, out->kind == ISA_OPERAND_DST_MASKED, ordinal, &selector);
    ptx_fill_value(v, (ptx_type)r->types[i], &values[0]);
    values[1] = (ptx_value){.kind = PTX_VALUE_IMM, .type = PTX_TYPE_U32, .imm = selector};
    out->values = values;
    out->nvalues = 2;
}

static void build_operand(ptx_parser *p, const ptx_reading *r, uint32_t i, const ptx_raw_operand *raw,
                          uint32_t *selected, ptx_operand *out)
{
    const ptx_raw_value *v = &p->values[raw->first];
    out->at = raw->at;
    switch (out->kind) {
    case ISA_OPERAND_DST_VECTOR: case ISA_OPERAND_SRC_VECTOR: build_vector(p, r, i, raw, out); break;
    case ISA_OPERAND_DST_AND_PRED: build_pair(p, raw, (ptx_type)r->types[i], out); break;
    case ISA_OPERAND_PRED_PAIR: build_pair(p, raw, PTX_TYPE_PRED, out); break;
    case ISA_OPERAND_ADDRESS: build_address(p, raw, out); break;
    case ISA_OPERAND_TEXTURE: build_texture(p, r, i, raw, out); break;
    case ISA_OPERAND_LABEL: ptx_refer_label(p, v->symbol, &out->label, v->at); break;
    case ISA_OPERAND_LIST: out->list = v->binding->as.targets; break;
    case ISA_OPERAND_DST_MASKED: build_selected(p, r, i, raw, 0, out); break;
    case ISA_OPERAND_SRC_SELECTED: build_selected(p, r, i, raw, (*selected)++, out); break;
    case ISA_OPERAND_DST_PRED: case ISA_OPERAND_SRC_PRED:
        out->values = ptx_make_value(p, v, PTX_TYPE_PRED);
        out->nvalues = 1;
        break;
    default:
        out->values = ptx_make_value(p, v, (ptx_type)r->types[i]);
        out->nvalues = 1;
        break;
    }
}

/* What an instruction has without writing it. */
static void build_hidden(ptx_parser *p, const ptx_reading *r, uint32_t i, ptx_operand *out)
{
    ptx_value *values;
    static const ptx_value exec = {.kind = PTX_VALUE_EXEC, .type = PTX_TYPE_PRED},
                           model = {.kind = PTX_VALUE_MODEL, .type = PTX_TYPE_U32};
    ptx_raw_value carry = {.kind = PTX_RAW_REG, .vector = 1};
    switch (out->kind) {
    case ISA_OPERAND_EXEC: out->values = &exec; break;
    case ISA_OPERAND_MODEL: out->values = &model; break;
    case ISA_OPERAND_CARRY_IN: case ISA_OPERAND_CARRY_OUT:
        carry.reg = ptx_carry_register(p);
        out->values = ptx_make_value(p, &carry, PTX_TYPE_PRED);
        break;
    case ISA_OPERAND_CONSTANT:
        values = PTX_NEW(p, ptx_value, 1);
        values[0] = (ptx_value){.kind = PTX_VALUE_IMM, .type = PTX_TYPE_U32, .imm = isa_operand_constant(r->form, &r->tuple, i)};
        out->values = values;
        break;
    case ISA_OPERAND_ZERO:
        values = PTX_NEW(p, ptx_value, r->counts[i] + 1u);
        for (uint32_t k = 0; k < r->counts[i]; k++)
            values[k] = (ptx_value){.kind = PTX_VALUE_IMM, .type = (ptx_type)r->types[i]};
        out->values = values;
        out->nvalues = r->counts[i];
        return;
    default:
        out->kind = ISA_OPERAND_NONE;      /* optional and not written, or not part of this tuple */
        return;
    }
    out->nvalues = 1;
}

static void build(ptx_parser *p, ptx_insn *insn, const ptx_reading *r)
{
    uint32_t n = r->form->noperands, next = 0, selected = 0;
    ptx_operand *operands = n ? PTX_NEW(p, ptx_operand, n) : NULL;
    for (uint32_t i = 0; i < n; i++) {
        operands[i] = (ptx_operand){.kind = r->form->operands[i].kind};
        if (r->written[i] && next < p->noperands)
            build_operand(p, r, i, &p->operands[next++], &selected, &operands[i]);
        else
            build_hidden(p, r, i, &operands[i]);
    }
    insn->form = r->form;
    insn->tuple = r->tuple;
    insn->meaning = r->meaning;
    insn->operation = r->operation;
    insn->operands = operands;
    insn->noperands = (uint8_t)n;
}

/* ------------------------------------------------------------ sums */

/* The place before the instruction that is being read, which keeps its own. */
static ptx_insn *insert_before(ptx_parser *p)
{
    PTX_GROW(p, p->insns, p->insn_room, p->ninsns + 1);
    ptx_insn *current = &p->insns[p->ninsns++ - 1];
    current[1] = *current;
    return current;
}

/* `%r + 4` as a source. The PTX ISA has it in addresses only; ptxas takes it in every scalar source and adds at the register's
 * width, so an addition to a register of our own goes before the instruction, for all lanes whatever the guard says. */
static void add_before(ptx_parser *p, const ptx_insn *insn, ptx_raw_value *v)
{
    const uint32_t bits = ptx_type_bits(v->type);
    const char *opcode = bits == 16 ? "add.u16" : bits == 32 ? "add.u32" : "add.u64";
    const ptx_reading *r = &ptx_find_opcode(p, opcode, 7, v->at)->readings[0];
    const ptx_type type = (ptx_type)r->types[0];
    char name[128];
    const int length = snprintf(name, sizeof name, "%.90s+%lld", p->registers[v->reg].reg.name, (long long)v->imm);
    ptx_raw_value addend = {.kind = PTX_RAW_INT, .vector = 1, .imm = v->imm, .at = v->at}, result = {.kind = PTX_RAW_REG, .vector = 1, .type = v->type, .at = v->at};
    result.reg = ptx_new_register(p, ptx_copy(p, name, (uint32_t)length), v->type);
    v->sum = false;
    const ptx_raw_value *const written[] = {&result, v, &addend};
    ptx_operand *operands = PTX_NEW(p, ptx_operand, 3);
    for (uint32_t i = 0; i < 3; i++)
        operands[i] = (ptx_operand){.kind = r->form->operands[i].kind, .nvalues = 1, .values = ptx_make_value(p, written[i], type), .at = v->at};
    *insert_before(p) = (ptx_insn){.form = r->form, .tuple = r->tuple, .meaning = r->meaning, .operation = r->operation, .at = insn->at,
                                   .statement = insn->statement, .operands = operands, .noperands = 3};
    *v = result;
}

static void add_sums(ptx_parser *p, const ptx_insn *insn)
{
    for (uint32_t i = 0; i < p->noperands; i++)
        if (p->operands[i].shape == PTX_SHAPE_SCALAR && p->values[p->operands[i].first].sum)
            add_before(p, insn, &p->values[p->operands[i].first]);
}

/* Valid PTX, but this program cannot run it: the function keeps its place and says why. */
static void note_unsupported(ptx_parser *p, const ptx_opcode *opcode, ptx_location at)
{
    if (p->function->broken == PTX_REASON_NONE)
        ptx_report(p, PTX_WARNING, PTX_REASON_UNSUPPORTED, at, "%s (line %u) is valid PTX, but is not supported yet",
                   opcode->text, at.line);
}

/* A constant address outside of the parameters: ptxas takes it, but no launch can give it a meaning, so the function is refused on every
 * device alike. (What is in a register is tested when it is used.) Parameters of an entry are one block, in which one may be reached from another. */
static void note_outside_parameters(ptx_parser *p, const ptx_insn *insn)
{
    const bool loads = insn->operation && !strcmp(insn->operation, "ld"), stores = insn->operation && !strcmp(insn->operation, "st");
    if ((!loads && !stores) || p->function->broken != PTX_REASON_NONE)
        return;
    const ptx_operand *data = &insn->operands[loads ? 0 : 1], *o = &insn->operands[loads ? 1 : 0];
    const ptx_variable *v = o->address.base == PTX_BASE_VARIABLE ? o->address.variable : NULL;
    if (!v || v->space != PTX_SPACE_PARAM || !data->nvalues || !v->size)
        return;
    const ptx_prototype *own = &p->function->prototype;
    const bool block = p->function->is_entry && v->index < own->nparams && own->params[v->index] == v;
    const uint64_t bytes = (uint64_t)ptx_type_bytes(data->values[0].type) * data->nvalues, size = block ? p->function->param_size : v->size;
    const uint64_t at = (block ? v->offset : 0) + (uint64_t)o->address.offset;
    if (at <= size && bytes <= size - at)
        return;
    ptx_report(p, PTX_WARNING, PTX_REASON_UNSUPPORTED, o->at, "an access of %u bytes at %s%+lld is outside the parameter%s %llu bytes", (unsigned)bytes,
               v->name, (long long)o->address.offset, block ? "s of the kernel, which have" : ", which has", (unsigned long long)size);
}

bool ptx_check_insn(ptx_parser *p, ptx_insn *insn, const ptx_opcode *opcode)
{
    const ptx_reading *r = choose(p, opcode, insn->at);
    if (!r || (r->operation && strcmp(r->operation, "bar") == 0 && !check_barrier(p, r)))
        return false;
    add_sums(p, insn);
    build(p, insn, r);
    note_outside_parameters(p, insn);
    if (r->meaning == 0 && !r->operation)
        note_unsupported(p, opcode, insn->at);
    for (uint32_t i = 0; i < p->noperands; i++)
        if (p->operands[i].has_sampler)
            PTX_UNSUPPORTED(p, p->operands[i].at,
                            "a sampler apart from its texture (texmode_independent) is not supported");
    return true;
}
