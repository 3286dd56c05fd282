/* trace.c - see trace.h. */
#include "ptx/trace.h"

#include <string.h>

static bool is_destination(isa_operand_kind kind)
{
    switch (kind) {
    case ISA_OPERAND_DST:
    case ISA_OPERAND_BOTH:
    case ISA_OPERAND_DST_PRED:
    case ISA_OPERAND_DST_AND_PRED:
    case ISA_OPERAND_PRED_PAIR:
    case ISA_OPERAND_DST_VECTOR:
    case ISA_OPERAND_DST_MASKED:
    case ISA_OPERAND_CARRY_OUT: return true;
    default: return false;
    }
}

static bool is_source(isa_operand_kind kind)
{
    return kind == ISA_OPERAND_BOTH || !is_destination(kind);
}

static void add(uint32_t *registers, uint32_t *n, uint32_t room, uint32_t reg)
{
    for (uint32_t i = 0; i < *n; i++)
        if (registers[i] == reg)
            return;
    if (*n < room)
        registers[(*n)++] = reg;
}

uint32_t ptx_written(const ptx_insn *insn, uint32_t registers[ISA_MAX_ELEMS])
{
    uint32_t n = 0;
    if (!insn->form || (insn->operation && strcmp(insn->operation, "call") == 0))
        return 0;
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        for (uint32_t v = 0; is_destination(o->kind) && v < o->nvalues; v++)
            if (o->values[v].kind == PTX_VALUE_REG)
                add(registers, &n, ISA_MAX_ELEMS, o->values[v].reg);
    }
    return n;
}

uint32_t ptx_read(const ptx_insn *insn, uint32_t *registers, uint32_t room)
{
    uint32_t n = 0;
    if (insn->guarded)
        add(registers, &n, room, insn->guard);
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        bool addressed = o->kind == ISA_OPERAND_ADDRESS || o->kind == ISA_OPERAND_TEXTURE;
        if (addressed && o->address.base == PTX_BASE_REG)
            add(registers, &n, room, o->address.reg);
        for (uint32_t v = 0; is_source(o->kind) && v < o->nvalues; v++)
            if (o->values[v].kind == PTX_VALUE_REG)
                add(registers, &n, room, o->values[v].reg);
    }
    for (uint32_t i = 0; i < insn->nargs; i++)
        if (insn->args[i].kind == PTX_VALUE_REG)
            add(registers, &n, room, insn->args[i].reg);
    return n;
}

uint32_t ptx_trace_words(const ptx_function *f, uint32_t reg)
{
    ptx_type type = f->registers[reg].type;
    return type == PTX_TYPE_PRED ? 1 : (ptx_type_bytes(type) + 3) / 4;
}

uint32_t ptx_record_words(const ptx_function *f, const ptx_insn *insn)
{
    uint32_t registers[ISA_MAX_ELEMS], n = ptx_written(insn, registers), words = n ? 1 : 0;
    for (uint32_t i = 0; i < n; i++)
        words += ptx_trace_words(f, registers[i]);
    return words;
}

uint32_t ptx_insn_number(const ptx_module *module, const ptx_function *f, uint32_t index)
{
    uint64_t number = (uint64_t)index + 1;
    for (uint32_t i = 0; i < f->index; i++)
        number += module->functions[i]->ninsns;
    return number < 1u << PTX_TRACE_NUMBER_BITS ? (uint32_t)number : 0;
}

const ptx_insn *ptx_insn_numbered(const ptx_module *module, uint32_t number, const ptx_function **f)
{
    uint32_t index = number - 1;
    for (uint32_t i = 0; number && i < module->nfunctions; i++) {
        *f = module->functions[i];
        if (index < (*f)->ninsns)
            return &(*f)->insns[index];
        index -= (*f)->ninsns;
    }
    return NULL;
}
