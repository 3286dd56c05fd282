/* fold.c - constants as the hardware would hold them. Conversions round to nearest, ties to even (PTX ISA, "cvt"). */
#include "ptx/inspect/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/inspect/constants.h"

enum { MAX_DEPTH = 24, MAX_STEPS = 256 };   /* packing branches, so depth alone is no limit */

/* ------------------------------------------------------------ numbers */

bool pti_number(uint64_t bits, ptx_type type, double *out)
{
    switch ((int)type) {
    case PTX_TYPE_F16: case PTX_TYPE_BF16: case PTX_TYPE_F32: case PTX_TYPE_F64: *out = pti_float_value(type, bits); return true;
    case PTX_TYPE_F16X2: case PTX_TYPE_BF16X2:
        *out = pti_float_value(type == PTX_TYPE_F16X2 ? PTX_TYPE_F16 : PTX_TYPE_BF16, bits & 0xffff);
        return (bits & 0xffff) == (bits >> 16 & 0xffff);
    default: break;
    }
    uint32_t width = ptx_type_bits(type);
    char class = ptx_type_class(type);
    if (width == 0 || width > 64 || (class != 'u' && class != 's' && class != 'b'))
        return false;
    uint64_t kept = width == 64 ? bits : bits & (((uint64_t)1 << width) - 1);
    bool negative = class == 's' && kept >> (width - 1) & 1;
    *out = negative ? (double)(int64_t)(kept | ~(uint64_t)0 << (width - 1)) : (double)kept;
    return true;
}

const char *pti_number_text(double v, ptx_type type, char buffer[32])
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, 32, "%.*g", digits, v);
        if (type == PTX_TYPE_F32 ? strtof(buffer, NULL) == (float)v : strtod(buffer, NULL) == v)
            break;
    }
    return buffer;
}

ptx_type pti_opcode_type(const char *opcode)
{
    const char *last = strrchr(opcode, '.');
    return last ? ptx_type_from_name(last + 1, (uint32_t)strlen(last + 1)) : PTX_TYPE_NONE;
}

/* ------------------------------------------------------------ folding */

typedef struct folder { const pti_flow *flow; const pti_opcodes *opcodes; int steps; } folder;

static bool fold(folder *f, uint32_t value, uint64_t *bits, int depth);

static bool fold_operand(folder *f, uint32_t insn, const ptx_value *v, uint64_t *bits, int depth)
{
    if (v->kind == PTX_VALUE_IMM) {
        *bits = v->imm;
        return true;
    }
    return v->kind == PTX_VALUE_REG && fold(f, pti_value_read(f->flow, insn, v->reg), bits, depth + 1);
}

/* mov: a copy, a constant, packing into a word, or a part of one. `reg` is the register that is asked for. */
static bool fold_move(folder *f, uint32_t at, uint32_t reg, uint64_t *bits, int depth)
{
    const ptx_insn *insn = &f->flow->function->insns[at];
    if (insn->noperands != 2 || insn->operands[0].nvalues == 0 || insn->operands[1].nvalues == 0)
        return false;
    const ptx_operand *d = &insn->operands[0], *s = &insn->operands[1];
    uint64_t part;
    *bits = 0;
    for (uint32_t i = 0, shift = 0; i < s->nvalues; i++) {
        uint32_t width = ptx_type_bits(s->values[i].type);
        if (width > 64 || shift + width > 64 || !fold_operand(f, at, &s->values[i], &part, depth))
            return false;
        *bits |= (width == 64 ? part : part & (((uint64_t)1 << width) - 1)) << shift;
        shift += width;
    }
    for (uint32_t i = 0, shift = 0; i < d->nvalues; i++) {
        uint32_t width = ptx_type_bits(d->values[i].type);
        if (d->values[i].kind == PTX_VALUE_REG && d->values[i].reg == reg) {
            *bits = shift < 64 ? *bits >> shift : 0;
            *bits &= width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
            return true;
        }
        shift += width;
    }
    return false;
}

/* cvt between f16, f32 and f64 that rounds to nearest or not at all, and neg and abs of them. */
static bool fold_float(folder *f, uint32_t at, const char *opcode, uint64_t *bits, int depth)
{
    const ptx_insn *insn = &f->flow->function->insns[at];
    ptx_type from = pti_opcode_type(opcode), to = from;
    double v;
    if (insn->noperands < 2 || insn->operands[1].nvalues != 1 || insn->operands[0].nvalues != 1 ||
        !fold_operand(f, at, &insn->operands[1].values[0], bits, depth))
        return false;
    bool negates = strncmp(opcode, "neg.", 4) == 0, packed = from == PTX_TYPE_F16X2;
    if (negates || strncmp(opcode, "abs.", 4) == 0) {
        uint64_t sign = from == PTX_TYPE_F64 ? (uint64_t)1 << 63 : from == PTX_TYPE_F32 ? 0x80000000 : packed ? 0x80008000 : 0x8000;
        *bits = negates ? *bits ^ sign : *bits & ~sign;
        return from == PTX_TYPE_F64 || from == PTX_TYPE_F32 || packed || from == PTX_TYPE_F16;
    }
    char text[64];
    snprintf(text, sizeof text, "%s", opcode);
    if (strrchr(text, '.'))
        *strrchr(text, '.') = '\0';
    to = pti_opcode_type(text);
    bool plain = strcmp(text, "cvt.rn.f16") == 0 || strcmp(text, "cvt.rn.f32") == 0 || strcmp(text, "cvt.f32") == 0 || strcmp(text, "cvt.f64") == 0;
    if (!plain || (from != PTX_TYPE_F16 && from != PTX_TYPE_F32 && from != PTX_TYPE_F64) || !pti_number(*bits, from, &v))
        return false;
    *bits = pti_round_float(to, v);
    return true;
}

static bool fold(folder *f, uint32_t value, uint64_t *bits, int depth)
{
    if (value == PTI_NONE || depth > MAX_DEPTH || f->steps++ > MAX_STEPS)
        return false;
    const pti_value *v = &f->flow->values[value];
    if (v->kind != PTI_VALUE_INSN || v->partial)
        return false;
    const ptx_insn *insn = &f->flow->function->insns[v->at];
    if (!insn->form)
        return false;
    const char *opcode = f->opcodes->list[f->opcodes->of_insn[v->at]].text;
    if (strcmp(insn->form->mnemonic, "mov") == 0)
        return fold_move(f, v->at, v->reg, bits, depth);
    bool floats = strcmp(insn->form->mnemonic, "cvt") == 0 || strcmp(insn->form->mnemonic, "neg") == 0 || strcmp(insn->form->mnemonic, "abs") == 0;
    return floats && fold_float(f, v->at, opcode, bits, depth);
}

bool pti_fold(const pti_flow *flow, const pti_opcodes *opcodes, uint32_t value, uint64_t *bits)
{
    return fold(&(folder){flow, opcodes, 0}, value, bits, 0);
}

bool pti_fold_operand(const pti_flow *flow, const pti_opcodes *opcodes, uint32_t insn, const ptx_value *v, uint64_t *bits)
{
    return fold_operand(&(folder){flow, opcodes, 0}, insn, v, bits, 0);
}
