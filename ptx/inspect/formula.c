/* formula.c - expressions of one unknown from the flow of values. */
#include "ptx/inspect/formula.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NODES = 48, MAX_PARTS = 3, MAX_STEPS = 64 };

typedef enum node_kind {
    NODE_LEAF, NODE_NUMBER, NODE_ADD, NODE_SUB, NODE_MUL, NODE_FMA, NODE_MIN, NODE_MAX, NODE_NEG, NODE_ABS, NODE_CALL,
    NODE_SHL, NODE_AND
} node_kind;

/* An operation, or an end. Each value and half is one node, however often it is used. */
typedef struct node {
    node_kind kind;
    uint32_t value, half;
    double number;                 /* NUMBER */
    ptx_type type;
    uint64_t bits;
    const char *name;              /* CALL */
    int part[MAX_PARTS];
    int nparts, uses;
    char letter;                   /* its name when it is used more than once */
} node;

typedef struct maker {
    const pti_flow *flow;
    const pti_phases *phases;
    const pti_opcodes *opcodes;
    node nodes[MAX_NODES];
    int nnodes;
    pti_formula *out;
    uint32_t leaf_half;
} maker;

static const char *opcode_of(const maker *m, uint32_t at)
{
    return m->opcodes->list[m->opcodes->of_insn[at]].text;
}

static const ptx_insn *insn_of(const maker *m, uint32_t value)
{
    const pti_value *v = &m->flow->values[value];
    return v->kind == PTI_VALUE_INSN && !v->partial && m->flow->function->insns[v->at].form ? &m->flow->function->insns[v->at] : NULL;
}

static bool is_float(ptx_type t)
{
    char c = ptx_type_class(t);
    return c == 'f' || t == PTX_TYPE_F16X2 || t == PTX_TYPE_BF16X2;
}

/* ------------------------------------------------------------ through moves and conversions */

static uint32_t operand_value(const maker *m, uint32_t at, const ptx_value *v)
{
    return v->kind == PTX_VALUE_REG ? pti_value_read(m->flow, at, v->reg) : PTI_NONE;
}

/* Of mov: the value and half that (value, half) is a copy or a part of. */
static bool step_move(const maker *m, const ptx_insn *insn, uint32_t *value, uint32_t *half)
{
    const ptx_operand *d = &insn->operands[0], *s = &insn->operands[1];
    uint32_t at = m->flow->values[*value].at, from = 0;
    if (insn->noperands != 2 || s->nvalues > 2 || d->nvalues > 2)
        return false;
    if (d->nvalues == 2) {             /* unpack: which of the two it is becomes the half; only words of two halves are known here */
        if (s->nvalues != 1 || ptx_type_bits(d->values[0].type) != 16)
            return false;
        *half = d->values[1].kind == PTX_VALUE_REG && d->values[1].reg == m->flow->values[*value].reg;
    } else if (s->nvalues == 2) {
        if (ptx_type_bits(s->values[0].type) != 16)
            return false;
        from = *half;
        *half = 0;
    }
    uint32_t next = operand_value(m, at, &s->values[from]);
    if (next == PTI_NONE)
        return false;
    *value = next;
    return true;
}

/* cvt between floating types: of one element; to a packed type from two the half chooses, the first source is the upper one. */
static bool step_conversion(const maker *m, const ptx_insn *insn, uint32_t *value, uint32_t *half)
{
    const char *opcode = opcode_of(m, m->flow->values[*value].at), *last = strrchr(opcode, '.');
    char head[96];
    snprintf(head, sizeof head, "%.*s", last ? (int)(last - opcode) : 0, opcode);
    if (!last || !is_float(pti_opcode_type(opcode)) || !is_float(pti_opcode_type(head)) || insn->noperands < 2)
        return false;
    bool two = insn->noperands > 2 && insn->operands[2].kind == ISA_OPERAND_SRC && insn->operands[2].nvalues == 1;
    uint32_t from = two && *half == 0 ? 2 : 1;
    if (insn->operands[from].nvalues != 1)
        return false;
    uint32_t next = operand_value(m, m->flow->values[*value].at, &insn->operands[from].values[0]);
    if (next == PTI_NONE)
        return false;
    if (two)
        *half = 0;
    *value = next;
    return true;
}

static void pass(const maker *m, uint32_t *value, uint32_t *half)
{
    for (int i = 0; i < MAX_STEPS; i++) {
        const ptx_insn *insn = insn_of(m, *value);
        bool moved = insn && strcmp(insn->form->mnemonic, "mov") == 0   ? step_move(m, insn, value, half)
                     : insn && strcmp(insn->form->mnemonic, "cvt") == 0 ? step_conversion(m, insn, value, half)
                                                                        : false;
        if (!moved)
            break;
    }
}

/* ------------------------------------------------------------ nodes */

static int make(maker *m, uint32_t value, uint32_t half, ptx_type type, int depth);

static int new_node(maker *m, node n)
{
    if (m->nnodes == MAX_NODES)
        return -1;
    m->nodes[m->nnodes] = n;
    return m->nnodes++;
}

static int make_number(maker *m, uint64_t bits, ptx_type type)
{
    double v;
    m->out->nconstants++;
    if (!pti_number(bits, type, &v))
        return -1;
    return new_node(m, (node){.kind = NODE_NUMBER, .number = v, .type = type, .bits = bits, .uses = 1, .value = PTI_NONE});
}

static int make_operand(maker *m, uint32_t at, const ptx_value *v, uint32_t half, ptx_type type, int depth)
{
    uint64_t bits;
    if (pti_fold_operand(m->flow, m->opcodes, at, v, &bits))
        return make_number(m, type == PTX_TYPE_F16X2 ? (half ? bits >> 16 : bits & 0xffff) : bits, type == PTX_TYPE_F16X2 ? PTX_TYPE_F16 : type);
    uint32_t value = operand_value(m, at, v);
    return value == PTI_NONE ? -1 : make(m, value, half, type, depth + 1);
}

static int make_leaf(maker *m, uint32_t value, uint32_t half)
{
    if (m->out->leaf != PTI_NONE && (m->out->leaf != value || m->leaf_half != half))
        return -1;
    m->out->leaf = value;
    m->leaf_half = half;
    return new_node(m, (node){.kind = NODE_LEAF, .value = value, .half = half, .uses = 1});
}

static const struct operation { const char *mnemonic; node_kind kind; int parts; const char *name; } operations[] = {
    {"add", NODE_ADD, 2, NULL},    {"sub", NODE_SUB, 2, NULL},     {"mul", NODE_MUL, 2, NULL},    {"fma", NODE_FMA, 3, NULL},
    {"mad", NODE_FMA, 3, NULL},    {"min", NODE_MIN, 2, NULL},     {"max", NODE_MAX, 2, NULL},    {"neg", NODE_NEG, 1, NULL},
    {"abs", NODE_ABS, 1, NULL},    {"ex2", NODE_CALL, 1, "exp2"},  {"lg2", NODE_CALL, 1, "log2"}, {"rcp", NODE_CALL, 1, "rcp"},
    {"rsqrt", NODE_CALL, 1, "rsqrt"}, {"sqrt", NODE_CALL, 1, "sqrt"}, {"tanh", NODE_CALL, 1, "tanh"}, {"sin", NODE_CALL, 1, "sin"},
    {"cos", NODE_CALL, 1, "cos"},  {"div", NODE_CALL, 2, "div"},   {"shl", NODE_SHL, 2, NULL},    {"and", NODE_AND, 2, NULL}};

static const struct operation *operation_of(const ptx_insn *insn, ptx_type type)
{
    for (size_t i = 0; insn && i < sizeof operations / sizeof *operations; i++)
        if (strcmp(insn->form->mnemonic, operations[i].mnemonic) == 0) {
            bool bits = operations[i].kind == NODE_SHL || operations[i].kind == NODE_AND;
            return (bits || is_float(type)) && (int)insn->noperands > operations[i].parts ? &operations[i] : NULL;
        }
    return NULL;
}

static int make(maker *m, uint32_t value, uint32_t half, ptx_type type, int depth)
{
    uint64_t bits;
    if (depth > MAX_NODES)
        return -1;
    if (pti_fold(m->flow, m->opcodes, value, &bits))
        return make_number(m, type == PTX_TYPE_F16X2 ? (half ? bits >> 16 : bits & 0xffff) : bits, type == PTX_TYPE_F16X2 ? PTX_TYPE_F16 : type);
    pass(m, &value, &half);
    for (int i = 0; i < m->nnodes; i++)
        if (m->nodes[i].value == value && m->nodes[i].half == half) {
            m->nodes[i].uses++;
            return i;
        }
    const ptx_insn *insn = insn_of(m, value);
    uint32_t at = m->flow->values[value].at;
    ptx_type own = insn ? pti_opcode_type(opcode_of(m, at)) : PTX_TYPE_NONE;
    const struct operation *o = operation_of(insn, own);
    if (!o || m->phases->of_insn[at] != PTI_NONE)
        return make_leaf(m, value, half);
    node n = {.kind = o->kind, .value = value, .half = half, .name = o->name, .nparts = o->parts, .uses = 1};
    m->out->nnodes++;
    m->out->nfloats += o->kind != NODE_SHL && o->kind != NODE_AND;
    for (int i = 0; i < o->parts; i++) {
        const ptx_operand *s = &insn->operands[1 + i];
        n.part[i] = s->nvalues == 1 ? make_operand(m, at, &s->values[0], half, own, depth) : -1;
        if (n.part[i] < 0)
            return -1;
    }
    return new_node(m, n);
}

/* ------------------------------------------------------------ text */

typedef struct text { char *to; size_t size, n; } text;

static void put(text *t, const char *s)
{
    size_t n = strlen(s);
    if (t->n + n < t->size)
        memcpy(t->to + t->n, s, n + 1);
    t->n += n;
}

/* With a true minus sign, as the operators have. */
static void put_number(text *t, const node *n)
{
    char buffer[32];
    put(t, signbit(n->number) ? "−" : "");
    put(t, pti_number_text(fabs(n->number), n->type, buffer));
}

enum { LEVEL_SUM, LEVEL_PRODUCT, LEVEL_ATOM };

static void write_node(const maker *m, text *t, int i, int level, bool define);

static void write_call(const maker *m, text *t, const char *name, const node *n)
{
    put(t, name);
    put(t, "(");
    for (int i = 0; i < n->nparts; i++) {
        put(t, i ? ", " : "");
        write_node(m, t, n->part[i], LEVEL_SUM, false);
    }
    put(t, ")");
}

static void write_pair(const maker *m, text *t, const char *sign, int a, int b, int of, int level)
{
    put(t, of < level ? "(" : "");
    write_node(m, t, a, of, false);
    put(t, sign);
    write_node(m, t, b, of + 1 > LEVEL_ATOM ? LEVEL_ATOM : of + (strcmp(sign, " + ") != 0), false);
    put(t, of < level ? ")" : "");
}

static bool is_number(const maker *m, int i) { return m->nodes[i].kind == NODE_NUMBER; }

/* min(max(x, lo), hi) and max(min(x, hi), lo) with constants. */
static bool write_clamp(const maker *m, text *t, const node *n)
{
    if (n->kind != NODE_MIN && n->kind != NODE_MAX)
        return false;
    int number = is_number(m, n->part[0]) ? 0 : 1;
    const node *inner = &m->nodes[n->part[1 - number]];
    if (!is_number(m, n->part[number]) || inner->letter || inner->kind != (n->kind == NODE_MIN ? NODE_MAX : NODE_MIN))
        return false;
    int second = is_number(m, inner->part[0]) ? 0 : 1;
    if (!is_number(m, inner->part[second]))
        return false;
    const node *a = &m->nodes[n->part[number]], *b = &m->nodes[inner->part[second]];
    put(t, "clamp(");
    write_node(m, t, inner->part[1 - second], LEVEL_SUM, false);
    put(t, ", ");
    put_number(t, n->kind == NODE_MIN ? b : a);
    put(t, ", ");
    put_number(t, n->kind == NODE_MIN ? a : b);
    put(t, ")");
    return true;
}

/* a·b + c, and c − a·b where a or b is negated. */
static void write_fma(const maker *m, text *t, const node *n, int level)
{
    int a = n->part[0], b = n->part[1];
    bool minus = false;
    for (int i = 0; i < 2; i++) {
        int *p = i ? &b : &a;
        if (m->nodes[*p].kind == NODE_NEG && !m->nodes[*p].letter) {
            minus = !minus;
            *p = m->nodes[*p].part[0];
        }
    }
    put(t, level > LEVEL_SUM ? "(" : "");
    write_node(m, t, n->part[2], LEVEL_SUM, false);
    put(t, minus ? " − " : " + ");
    write_pair(m, t, "·", a, b, LEVEL_PRODUCT, LEVEL_PRODUCT);
    put(t, level > LEVEL_SUM ? ")" : "");
}

static void write_bits(const maker *m, text *t, const node *n)
{
    char number[32];
    const node *b = &m->nodes[n->part[1]];
    put(t, "(");
    put(t, n->kind == NODE_SHL ? "bits(" : "");
    write_node(m, t, n->part[0], LEVEL_SUM, false);
    put(t, n->kind == NODE_SHL ? ") << " : " & ");
    snprintf(number, sizeof number, n->kind == NODE_SHL ? "%u" : "0x%x", (unsigned)b->bits);
    if (is_number(m, n->part[1]))
        put(t, number);
    else
        write_node(m, t, n->part[1], LEVEL_SUM, false);
    put(t, ")");
}

static void write_node(const maker *m, text *t, int i, int level, bool define)
{
    const node *n = &m->nodes[i];
    char letter[2] = {n->letter, '\0'};
    if (t->n >= t->size)
        return;
    if (n->letter && !define) {
        put(t, letter);
        return;
    }
    switch (n->kind) {
    case NODE_LEAF: put(t, "x"); break;
    case NODE_NUMBER: put_number(t, n); break;
    case NODE_ADD: write_pair(m, t, " + ", n->part[0], n->part[1], LEVEL_SUM, level); break;
    case NODE_SUB: write_pair(m, t, " − ", n->part[0], n->part[1], LEVEL_SUM, level); break;
    case NODE_MUL: write_pair(m, t, "·", n->part[0], n->part[1], LEVEL_PRODUCT, level); break;
    case NODE_FMA: write_fma(m, t, n, level); break;
    case NODE_MIN: case NODE_MAX:
        if (!write_clamp(m, t, n))
            write_call(m, t, n->kind == NODE_MIN ? "min" : "max", n);
        break;
    case NODE_NEG: put(t, "−"); write_node(m, t, n->part[0], LEVEL_ATOM, false); break;
    case NODE_ABS: put(t, "|"); write_node(m, t, n->part[0], LEVEL_SUM, false); put(t, "|"); break;
    case NODE_CALL: write_call(m, t, n->name, n); break;
    default: write_bits(m, t, n); break;
    }
}

/* Nodes are made before what uses them, so the first that need a name get the first letters. */
static void write_formula(maker *m, int top)
{
    text t = {m->out->text, sizeof m->out->text, 0};
    static const char letters[] = "yzwvutsrqp";
    int named = 0;
    for (int i = 0; i < m->nnodes; i++)
        if (m->nodes[i].uses > 1 && m->nodes[i].kind != NODE_LEAF && m->nodes[i].kind != NODE_NUMBER) {
            if (!letters[named])       /* too tangled for a line */
                return;
            m->nodes[i].letter = letters[named++];
        }
    write_node(m, &t, top, LEVEL_SUM, true);
    for (int i = m->nnodes; i-- > 0;)
        if (m->nodes[i].letter && i != top) {
            char head[] = {',', ' ', m->nodes[i].letter, ' ', '=', ' ', '\0'};
            put(&t, head);
            write_node(m, &t, i, LEVEL_SUM, true);
        }
    if (t.n >= t.size)
        m->out->text[0] = '\0';
}

/* Degree in x, as far as it is one: 2 stands for everything that is not linear. Parts come before what is made of them. */
static int degree(const maker *m)
{
    int d[MAX_NODES] = {0};
    for (int i = 0; i < m->nnodes; i++) {
        const node *n = &m->nodes[i];
        int most = 0, product;
        for (int k = 0; k < n->nparts; k++)
            most = d[n->part[k]] > most ? d[n->part[k]] : most;
        product = n->nparts > 1 ? d[n->part[0]] + d[n->part[1]] : 0;
        switch (n->kind) {
        case NODE_LEAF: d[i] = 1; break;
        case NODE_NUMBER: d[i] = 0; break;
        case NODE_ADD: case NODE_SUB: case NODE_NEG: d[i] = most; break;
        case NODE_MUL: d[i] = product; break;
        case NODE_FMA: d[i] = product > d[n->part[2]] ? product : d[n->part[2]]; break;
        default: d[i] = most ? 2 : 0; break;
        }
        d[i] = d[i] > 2 ? 2 : d[i];
    }
    return m->nnodes ? d[m->nnodes - 1] : 0;
}

bool pti_find_formula(const pti_flow *flow, const pti_phases *phases, const pti_opcodes *opcodes, uint32_t value, uint32_t half,
                      pti_formula *out)
{
    maker m = {.flow = flow, .phases = phases, .opcodes = opcodes, .out = out};
    *out = (pti_formula){.leaf = PTI_NONE};
    int top = make(&m, value, half, PTX_TYPE_NONE, 0);
    if (top < 0 || out->leaf == PTI_NONE)
        return false;
    for (int i = 0; i < m.nnodes; i++)
        if (m.nodes[i].kind == NODE_MIN || m.nodes[i].kind == NODE_MAX)
            out->clamps = out->clamps || is_number(&m, m.nodes[i].part[0]) || is_number(&m, m.nodes[i].part[1]);
    out->bends = degree(&m) > 1;
    write_formula(&m, top);
    return out->text[0] != '\0';
}
