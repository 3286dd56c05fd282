/* parse.c - the text of an AMD instruction to a decoded one: mnemonic, operands, modifiers.
 *
 * The syntax is that of LLVM, "User Guide for AMDGPU Backend", sections "Operands" and "Modifiers". Whatever is
 * not understood makes the instruction one that cannot be executed; nothing is skipped.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/sim/state.h"

typedef struct parser {
    sim_insn *insn;
    sim_generation generation;
    char *(*keep)(void *, const char *, size_t);
    void *keeper;
} parser;

static bool refuse(parser *p, const char *why, const char *what)
{
    char text[200];
    int n = snprintf(text, sizeof text, "%s%s", why, what);
    p->insn->note = p->keep(p->keeper, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    return false;
}

/* ------------------------------------------------------------ constants */

static uint32_t float_bits(double v)
{
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static uint16_t half_bits(double v)
{
    _Float16 f = (_Float16)v;
    uint16_t u;
    memcpy(&u, &f, 2);
    return u;
}

static uint64_t double_bits(double v)
{
    uint64_t u;
    memcpy(&u, &v, 8);
    return u;
}

/* A floating point inline constant in the operand's type. Integer operands of 32 bits and packed 16-bit integers take
 * the bits of the f32, 64-bit ones those of the f64; packed halves have it in the low one (RDNA3 ISA, 5.1.3 "Inline constants"). */
static uint64_t float_constant(double v, uint8_t type)
{
    switch (type) {
    case T_F64: case T_B64: case T_I64: return double_bits(v);
    case T_F16: case T_B16: case T_PK_F16: return half_bits(v);
    case T_BF16: case T_PK_BF16: return float_bits(v) >> 16;
    case T_PK_F32: case T_PK_B32: return float_bits(v) | (uint64_t)float_bits(v) << 32;
    default: return float_bits(v);
    }
}

/* A literal of 32 bits is the upper half of an f64, sign-extended for a signed 64-bit operand, else zero-extended. */
static uint64_t literal_constant(uint64_t v, uint8_t type, bool full)
{
    switch (type) {
    case T_F64: return full || v >> 32 ? v : v << 32;
    case T_I64: return full || v >> 32 ? v : (uint64_t)(int64_t)(int32_t)v;
    case T_PK_F32: case T_PK_B32: return v >> 32 ? v : v | v << 32;
    default: return v;
    }
}

static uint64_t integer_constant(int64_t v, uint8_t type)
{
    switch (type) {
    case T_B64: case T_I64: case T_F64: case T_MASK: return (uint64_t)v;
    case T_B16: case T_F16: case T_BF16: return (uint16_t)v;
    case T_B8: return (uint8_t)v;
    case T_PK_F32: case T_PK_B32: return (uint32_t)v | (uint64_t)v << 32;
    default: return (uint32_t)v;
    }
}

static bool parse_number(const char *t, uint8_t type, bool full, uint64_t *value)
{
    char *end;
    bool minus = *t == '-';
    if (!strncmp(t + minus, "0x", 2)) {
        uint64_t v = strtoull(t + minus, &end, 16);
        *value = minus ? integer_constant(-(int64_t)v, type) : literal_constant(v, type, full);
    } else if (strpbrk(t, ".")) {
        *value = float_constant(strtod(t, &end), type);
    } else {
        *value = integer_constant(strtoll(t, &end, 10), type);
    }
    return !*end && end > t;
}

/* ------------------------------------------------------------ registers */

static const struct { const char *name; uint8_t index, count; } named_registers[] = {
    {"vcc", SIM_VCC, 2}, {"vcc_lo", SIM_VCC, 1}, {"vcc_hi", SIM_VCC + 1, 1}, {"exec", SIM_EXEC, 2}, {"exec_lo", SIM_EXEC, 1},
    {"exec_hi", SIM_EXEC + 1, 1}, {"m0", SIM_M0, 1}, {"null", SIM_NULL, 1}, {"flat_scratch", SIM_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", SIM_FLAT_SCRATCH, 1}, {"flat_scratch_hi", SIM_FLAT_SCRATCH + 1, 1}, {"xnack_mask", SIM_XNACK, 2},
    {"xnack_mask_lo", SIM_XNACK, 1}, {"xnack_mask_hi", SIM_XNACK + 1, 1},
};

static const struct { const char *name; sim_operand_kind kind; uint64_t value; } named_values[] = {
    {"src_scc", SIM_OP_SCC, 0}, {"scc", SIM_OP_SCC, 0}, {"src_vccz", SIM_OP_VCCZ, 0}, {"vccz", SIM_OP_VCCZ, 0},
    {"src_execz", SIM_OP_EXECZ, 0}, {"execz", SIM_OP_EXECZ, 0}, {"off", SIM_OP_OFF, 0},
    {"src_shared_base", SIM_OP_CONST, SIM_SHARED_BASE}, {"src_shared_limit", SIM_OP_CONST, SIM_SHARED_BASE | 0xffffffff},
    {"src_private_base", SIM_OP_CONST, SIM_PRIVATE_BASE}, {"src_private_limit", SIM_OP_CONST, SIM_PRIVATE_BASE | 0xffffffff},
    {"src_pops_exiting_wave_id", SIM_OP_CONST, 0},
};

static bool parse_named(const char *t, sim_operand *o)
{
    for (size_t k = 0; k < sizeof named_registers / sizeof *named_registers; k++)
        if (!strcmp(t, named_registers[k].name)) {
            *o = (sim_operand){.kind = SIM_OP_SGPR, .index = named_registers[k].index, .count = named_registers[k].count};
            return true;
        }
    for (size_t k = 0; k < sizeof named_values / sizeof *named_values; k++)
        if (!strcmp(t, named_values[k].name)) {
            *o = (sim_operand){.kind = named_values[k].kind, .value = named_values[k].value, .count = 1};
            return true;
        }
    return false;
}

/* v5 v5.h v[0:1] a3 s[4:5] ttmp7 */
static bool parse_register(const char *t, sim_operand *o)
{
    static const struct { const char *prefix; sim_operand_kind kind; uint32_t base, limit; } files[] = {
        {"v", SIM_OP_VGPR, 0, 256}, {"a", SIM_OP_AGPR, 0, 256}, {"s", SIM_OP_SGPR, 0, 106}, {"ttmp", SIM_OP_SGPR, SIM_TTMP, 16}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        size_t n = strlen(files[k].prefix);
        if (strncmp(t, files[k].prefix, n) || (!isdigit((uint8_t)t[n]) && t[n] != '[')) continue;
        bool many = t[n] == '[';
        char *end;
        uint64_t first = strtoul(t + n + many, &end, 10), last = first;
        if (many && *end == ':') last = strtoul(end + 1, &end, 10);
        if (many && *end++ != ']') return false;
        o->half = 0;
        if (*end == '.' && files[k].kind == SIM_OP_VGPR && (end[1] == 'l' || end[1] == 'h')) {
            o->half = end[1] == 'l' ? 1 : 2;
            end += 2;
        }
        if (*end || last < first || last >= files[k].limit) return false;
        o->kind = files[k].kind;
        o->index = (uint16_t)(files[k].base + first);
        o->count = (uint8_t)(last - first + 1);
        return true;
    }
    return false;
}

/* ------------------------------------------------------------ operands */

/* `t` is f(…): its inside is moved to the front. */
static bool unwrap(char *t, const char *function)
{
    size_t n = strlen(function), length = strlen(t);
    if (strncmp(t, function, n) || t[n] != '(' || t[length - 1] != ')') return false;
    memmove(t, t + n + 1, length - n - 2);
    t[length - n - 2] = 0;
    return true;
}

static bool parse_operand(parser *p, char *t)
{
    sim_insn *i = p->insn;
    if (i->noperands == SIM_MAX_OPERANDS) return refuse(p, "too many operands", "");
    sim_operand *o = &i->operands[i->noperands];
    uint8_t type = i->op->types[i->noperands];
    bool neg = false, abs = false, sext = false, full = false;
    size_t length = strlen(t);
    if (t[0] == '-' && (t[1] == '|' || isalpha((uint8_t)t[1]))) {
        neg = true;
        memmove(t, t + 1, length--);
    }
    neg |= unwrap(t, "neg");
    abs |= unwrap(t, "abs");
    sext |= unwrap(t, "sext");
    length = strlen(t);
    if (length > 2 && t[0] == '|' && t[length - 1] == '|') {
        abs = true;
        t[length - 1] = 0;
        memmove(t, t + 1, length - 1);
    }
    full = unwrap(t, "lit64");
    unwrap(t, "lit");
    uint64_t value;
    if (parse_number(t, type, full, &value)) {
        *o = (sim_operand){.kind = SIM_OP_CONST, .value = value};
    } else if (!parse_named(t, o) && !parse_register(t, o)) {
        if (!strchr(t, '(')) return refuse(p, "unknown operand ", t);
        *o = (sim_operand){.kind = SIM_OP_WORD, .word = p->keep(p->keeper, t, strlen(t))};
        if (!o->word) return false;
    }
    o->neg = neg;
    o->abs = abs;
    o->sext = sext;
    i->noperands++;
    return true;
}

/* ------------------------------------------------------------ modifiers */

/* [1,0,1] to bits, or to numbers where `numbers` is given. */
static bool parse_list(const char *t, uint8_t *bits, uint8_t *numbers, uint32_t limit)
{
    uint8_t mask = 0;
    if (*t++ != '[') return false;
    for (uint32_t k = 0; k < limit; k++) {
        char *end;
        unsigned long v = strtoul(t, &end, 0);
        if (end == t || v > 255) return false;
        if (numbers) numbers[k] = (uint8_t)v;
        else if (v) mask |= (uint8_t)(1 << k);
        if (*end == ']') {
            if (bits) *bits = mask;
            return !end[1];
        }
        if (*end != ',') return false;
        t = end + 1;
    }
    return false;
}

static bool parse_sdwa_select(const char *t, sim_sdwa *s, sim_sdwa_select *out)
{
    static const char *const names[] = {"DWORD", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1"};
    s->used = true;
    for (int k = 0; k < 7; k++)
        if (!strcmp(t, names[k])) {
            *out = (sim_sdwa_select)k;
            return true;
        }
    return false;
}

static bool parse_sdwa(sim_sdwa *s, const char *name, const char *value)
{
    if (!strcmp(name, "dst_sel")) return parse_sdwa_select(value, s, &s->dst);
    if (!strcmp(name, "src0_sel")) return parse_sdwa_select(value, s, &s->src[0]);
    if (!strcmp(name, "src1_sel")) return parse_sdwa_select(value, s, &s->src[1]);
    s->used = true;
    if (!strcmp(value, "UNUSED_PAD")) s->unused = SDWA_PAD;
    else if (!strcmp(value, "UNUSED_SEXT")) s->unused = SDWA_SEXT;
    else if (!strcmp(value, "UNUSED_PRESERVE")) s->unused = SDWA_PRESERVE;
    else return false;
    return true;
}

static const struct { const char *name; int kind; } dpp_names[] = {
    {"quad_perm", DPP_QUAD_PERM}, {"row_shl", DPP_ROW_SHL}, {"row_shr", DPP_ROW_SHR}, {"row_ror", DPP_ROW_ROR},
    {"row_mirror", DPP_ROW_MIRROR}, {"row_half_mirror", DPP_ROW_HALF_MIRROR}, {"row_share", DPP_ROW_SHARE},
    {"row_xmask", DPP_ROW_XMASK}, {"row_newbcast", DPP_ROW_NEWBCAST}, {"row_bcast", DPP_ROW_BCAST}, {"wave_shl", DPP_WAVE_SHL},
    {"wave_rol", DPP_WAVE_ROL}, {"wave_shr", DPP_WAVE_SHR}, {"wave_ror", DPP_WAVE_ROR}, {"dpp8", DPP_8},
};

static int find_dpp(const char *name)
{
    for (size_t k = 0; k < sizeof dpp_names / sizeof *dpp_names; k++)
        if (!strcmp(name, dpp_names[k].name)) return dpp_names[k].kind;
    return DPP_NONE;
}

static bool parse_dpp(sim_dpp *d, int kind, const char *value)
{
    d->kind = kind;
    if (kind == DPP_QUAD_PERM) return parse_list(value, NULL, d->select, 4);
    if (kind == DPP_8) return parse_list(value, NULL, d->select, 8);
    d->amount = (uint8_t)strtoul(value, NULL, 0);
    return true;
}

/* A word alone. False: it is an operand. */
static bool parse_flag(sim_insn *i, const char *t)
{
    static const char *const ignored[] = {"slc", "dlc", "sc1", "nt", "scc"};
    int dpp = find_dpp(t);
    if (dpp == DPP_ROW_MIRROR || dpp == DPP_ROW_HALF_MIRROR) i->dpp.kind = dpp;
    else if (!strcmp(t, "glc") || !strcmp(t, "sc0")) i->returns = true;
    else if (!strcmp(t, "clamp")) i->clamp = true;
    else if (!strcmp(t, "offen")) i->offen = true;
    else if (!strcmp(t, "idxen")) i->idxen = true;
    else if (!strcmp(t, "lds")) i->lds = true;
    else if (!strcmp(t, "gds")) i->gds = true;
    else if (!strcmp(t, "tfe")) i->tfe = true;
    else {
        /* Cache policies: every access here is coherent. */
        for (size_t k = 0; k < sizeof ignored / sizeof *ignored; k++)
            if (!strcmp(t, ignored[k]) && i->noperands) return true;
        return false;
    }
    return true;
}

static bool parse_offset(sim_insn *i, const char *value)
{
    i->has_offset = true;
    /* swizzle(…): the 16 bits are those of the encoding. */
    if (isalpha((uint8_t)*value)) i->offset = (int32_t)(i->encoding & 0xffff);
    else i->offset = (int32_t)strtol(value, NULL, 0);
    return true;
}

static bool parse_number_modifier(sim_insn *i, const char *name, const char *value)
{
    const struct { const char *name; uint8_t *to; } bytes[] = {
        {"cbsz", &i->cbsz}, {"abid", &i->abid}, {"blgp", &i->blgp}, {"index_key", &i->index_key}, {"byte_sel", &i->byte_sel},
        {"bitop3", &i->bitop3}, {"row_mask", &i->dpp.row_mask}, {"bank_mask", &i->dpp.bank_mask}};
    char *end;
    unsigned long v = strtoul(value, &end, 0);
    if (*end || end == value) return false;
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++)
        if (!strcmp(name, bytes[k].name)) {
            *bytes[k].to = (uint8_t)v;
            return v < 256;
        }
    if (!strcmp(name, "offset0")) i->offset = (int32_t)v, i->has_offset = true;
    else if (!strcmp(name, "offset1")) i->offset1 = (int32_t)v, i->has_offset = true;
    else if (!strcmp(name, "mul") && (v == 2 || v == 4)) i->omod = v == 2 ? 1 : 2;
    else if (!strcmp(name, "div") && v == 2) i->omod = 3;
    else if (!strcmp(name, "bound_ctrl")) i->dpp.bound_ctrl = true;      /* :0 in the text of gfx9 means set as well */
    else if (!strcmp(name, "fi")) i->dpp.fi = v;
    else if (strcmp(name, "wait_vdst") && strcmp(name, "wait_exp") && strcmp(name, "wait_va_vdst")) return false;
    return true;
}

/* name:value. */
static bool parse_modifier(sim_insn *i, const char *name, const char *value)
{
    int dpp = find_dpp(name);
    if (dpp) return parse_dpp(&i->dpp, dpp, value);
    if (!strcmp(name, "offset")) return parse_offset(i, value);
    if (!strcmp(name, "op_sel")) return i->has_op_sel = true, parse_list(value, &i->op_sel, NULL, 8);
    if (!strcmp(name, "op_sel_hi")) return i->has_op_sel_hi = true, parse_list(value, &i->op_sel_hi, NULL, 8);
    if (!strcmp(name, "neg_lo") || !strcmp(name, "neg")) return parse_list(value, &i->neg_lo, NULL, 8);
    if (!strcmp(name, "neg_hi")) return parse_list(value, &i->neg_hi, NULL, 8);
    if (!strcmp(name, "th")) {
        i->returns |= strstr(value, "RETURN") != NULL;
        return true;
    }
    if (!strcmp(name, "scope")) return true;
    if (!strcmp(name, "dst_sel") || !strcmp(name, "src0_sel") || !strcmp(name, "src1_sel") || !strcmp(name, "dst_unused"))
        return parse_sdwa(&i->sdwa, name, value);
    return parse_number_modifier(i, name, value);
}

/* ------------------------------------------------------------ an instruction */

static bool parse_item(parser *p, char *t)
{
    if (parse_flag(p->insn, t)) return true;
    char *colon = strchr(t, ':');
    bool name = colon && colon > t;
    for (char *c = t; name && c < colon; c++)
        name = isalnum((uint8_t)*c) || *c == '_';
    if (!name) return parse_operand(p, t);
    *colon = 0;
    if (parse_modifier(p->insn, t, colon + 1)) return true;
    *colon = ':';
    return refuse(p, "unknown modifier ", t);
}

/* Items are parted by commas and spaces outside of brackets. */
static bool parse_items(parser *p, const char *text)
{
    while (*(text += strspn(text, " \t,"))) {
        char item[200];
        size_t n = 0;
        int depth = 0;
        for (; *text && (depth || !strchr(" \t,", *text)); text++) {
            depth += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
            if (n == sizeof item - 1) return refuse(p, "item too long", "");
            item[n++] = *text;
        }
        item[n] = 0;
        if (!parse_item(p, item)) return false;
    }
    return true;
}

static bool strip_suffix(char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    if (n <= s || strcmp(name + n - s, suffix)) return false;
    name[n - s] = 0;
    return true;
}

static void set_direct(sim_insn *i)
{
    i->moves = i->dpp.kind || i->sdwa.used;
    for (uint32_t k = 0; k < i->noperands && !i->moves; k++) {
        sim_operand *o = &i->operands[k];
        if (o->neg || o->abs || o->sext) continue;
        if (o->kind == SIM_OP_VGPR || o->kind == SIM_OP_AGPR) o->direct = SIM_DIRECT_ROW;
        if (o->kind == SIM_OP_SGPR && o->index != SIM_NULL) o->direct = SIM_DIRECT_SGPR;
        if (o->kind == SIM_OP_CONST) o->direct = SIM_DIRECT_CONST;
    }
}

/* One instruction, or one half of a dual-issue one, whose operands are those of the instruction without "dual_". */
static bool parse_single(parser *p, const char *text)
{
    char name[100];
    size_t n = strcspn(text, " \t");
    if (n >= sizeof name) return refuse(p, "unknown instruction", "");
    memcpy(name, text, n);
    name[n] = 0;
    bool dual = !strncmp(name, "v_dual_", 7);
    if (dual) memmove(name + 2, name + 7, n - 6);
    sim_insn *i = p->insn;
    i->op_sel_hi = 7;
    i->op = sim_find_op(name, p->generation);
    if (!i->op) {
        static const char *const suffixes[] = {"_dpp8", "_dpp", "_sdwa", "_e32", "_e64"};
        for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++)
            strip_suffix(name, suffixes[k]);
        i->op = sim_find_op(name, p->generation);
    }
    if (!i->op) return refuse(p, "unknown instruction ", name);
    i->run = i->op->run;
    i->group = i->op->group;
    if (i->op->types[0] != T_NONE && !parse_items(p, text + n)) return false;
    /* VOPD's conditional move reads VCC without naming it (RDNA3 ISA, 7.6). */
    if (dual && !strcmp(name, "v_cndmask_b32") && i->noperands == 3)
        i->operands[i->noperands++] = (sim_operand){.kind = SIM_OP_SGPR, .index = SIM_VCC, .count = 1};
    set_direct(i);
    return true;
}

static bool reads_row(const sim_insn *i, const sim_operand *d)
{
    /* Accumulating forms read their own first operand, which is never the other half's. */
    for (uint32_t k = 1; k < i->noperands; k++)
        if (i->operands[k].kind == SIM_OP_VGPR && i->operands[k].index == d->index) return true;
    return false;
}

bool sim_parse(sim_insn *insn, sim_insn *second, const char *text, sim_generation generation, char *(*keep)(void *, const char *, size_t), void *keeper)
{
    parser p = {insn, generation, keep, keeper};
    const char *both = strstr(text, " :: ");
    if (!both) return parse_single(&p, text);
    char first[300];
    size_t n = (size_t)(both - text);
    if (n >= sizeof first) return refuse(&p, "text too long", "");
    memcpy(first, text, n);
    first[n] = 0;
    if (!parse_single(&p, first)) return false;

    *second = (sim_insn){.pc = insn->pc, .encoding = insn->encoding, .words = insn->words, .text = insn->text};
    p.insn = second;
    if (!parse_single(&p, both + 4)) {
        insn->note = second->note;
        return false;
    }
    insn->second = second;
    insn->run = reads_row(second, &insn->operands[0]) ? sim_run_dual_overlap : sim_run_dual;
    return true;
}
