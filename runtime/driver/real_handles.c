/* real_handles.c - which words of a kernel's parameters are texture and surface handles.
 *
 * NVIDIA's handles are small numbers, and so are many other things that a kernel is given: by its value alone a word is not known for one. A
 * word that the kernel loads and uses as a handle is found by following registers from ld.param to tex, suld and their like. That is the whole
 * truth only when all handles come from parameters, and go nowhere else.
 */
#include "runtime/driver/real.h"

#include <stdlib.h>
#include <string.h>

enum { UNSEEN = -1, MIXED = -2 };      /* of a register: no value met yet; several, or one that is not a parameter's */

typedef struct flow {
    const ptx_function *entry;
    int64_t *origin;                   /* by register: offset of the parameter word that it holds */
    bool changed;
    dr_real_handles *out;
} flow;

static void note(flow *f, const ptx_value *v, int64_t origin)
{
    if (v->kind != PTX_VALUE_REG || origin == UNSEEN)
        return;
    int64_t *have = &f->origin[v->reg];
    int64_t next = *have == UNSEEN || *have == origin ? origin : MIXED;
    f->changed |= next != *have;
    *have = next;
}

static bool is_destination(isa_operand_kind kind)
{
    return kind == ISA_OPERAND_DST || kind == ISA_OPERAND_BOTH || kind == ISA_OPERAND_DST_PRED || kind == ISA_OPERAND_DST_AND_PRED ||
           kind == ISA_OPERAND_PRED_PAIR || kind == ISA_OPERAND_DST_VECTOR || kind == ISA_OPERAND_DST_MASKED;
}

static bool is_parameter(const ptx_function *entry, const ptx_variable *v)
{
    for (uint32_t i = 0; v && i < entry->prototype.nparams; i++)
        if (entry->prototype.params[i] == v)
            return true;
    return false;
}

/* The parameter that an instruction loads from, or NULL. */
static const ptx_operand *parameter_of(const flow *f, const ptx_insn *insn)
{
    for (uint32_t i = 0; insn->operation && strcmp(insn->operation, "ld") == 0 && i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        if (o->kind == ISA_OPERAND_ADDRESS && o->address.base == PTX_BASE_VARIABLE && is_parameter(f->entry, o->address.variable))
            return o;
    }
    return NULL;
}

static const ptx_value *moved_value(const ptx_insn *insn)
{
    bool plain = strcmp(insn->form->mnemonic, "mov") == 0 && insn->noperands >= 2 && insn->operands[0].kind == ISA_OPERAND_DST &&
                 insn->operands[1].kind == ISA_OPERAND_SRC && insn->operands[0].nvalues == 1 && insn->operands[1].nvalues == 1;
    return plain && insn->operands[1].values[0].kind == PTX_VALUE_REG ? &insn->operands[1].values[0] : NULL;
}

static void follow(flow *f, const ptx_insn *insn)
{
    const ptx_operand *from = parameter_of(f, insn);
    const ptx_value *moved = from ? NULL : moved_value(insn);
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        for (uint32_t k = 0; is_destination(o->kind) && k < o->nvalues; k++) {
            int64_t origin = MIXED;
            if (from && ptx_type_bytes(o->values[k].type) == 8)
                origin = (int64_t)from->address.variable->offset + from->address.offset + 8 * (int64_t)k;
            else if (moved)
                origin = f->origin[moved->reg];
            note(f, &o->values[k], origin);
        }
    }
    for (uint32_t i = 0; i < insn->nreturns; i++)
        note(f, &insn->returns[i], MIXED);
}

static void add_word(dr_real_handles *out, int64_t offset)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (out->offset[i] == (uint64_t)offset)
            return;
    if (out->count < DR_REAL_MOST_HANDLES)
        out->offset[out->count++] = (uint64_t)offset;
    else
        out->others = true;
}

static void find_uses(flow *f, const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        if (o->kind != ISA_OPERAND_TEXTURE || o->address.base != PTX_BASE_REG)
            continue;
        int64_t origin = f->origin[o->address.reg];
        if (origin >= 0 && origin % 8 == 0 && (uint64_t)origin + 8 <= f->entry->param_size)
            add_word(f->out, origin);
        else
            f->out->others = true;
    }
}

static bool is_handle(const flow *f, const ptx_value *v)
{
    int64_t origin = v->kind == PTX_VALUE_REG ? f->origin[v->reg] : UNSEEN;
    for (uint32_t i = 0; origin >= 0 && i < f->out->count; i++)
        if (f->out->offset[i] == (uint64_t)origin)
            return true;
    return false;
}

/* Does it do something else with a handle: store it, pass it on, calculate? */
static bool leaks(const flow *f, const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->nargs; i++)
        if (is_handle(f, &insn->args[i]))
            return true;
    for (uint32_t i = 0; i < insn->noperands && !moved_value(insn); i++) {
        const ptx_operand *o = &insn->operands[i];
        for (uint32_t k = o->kind == ISA_OPERAND_TEXTURE; k < o->nvalues && !is_destination(o->kind); k++)
            if (is_handle(f, &o->values[k]))
                return true;
    }
    return false;
}

static bool uses_textures(const ptx_function *f)
{
    for (uint32_t i = 0; i < f->ninsns; i++)
        for (uint32_t k = 0; k < f->insns[i].noperands; k++)
            if (f->insns[i].operands[k].kind == ISA_OPERAND_TEXTURE)
                return true;
    return false;
}

/* Functions that it may call: any of the module. */
static bool calls_users(const ptx_module *m, const ptx_function *entry)
{
    bool calls = false;
    for (uint32_t i = 0; i < entry->ninsns && !calls; i++)
        calls = entry->insns[i].form && strcmp(entry->insns[i].form->mnemonic, "call") == 0;
    for (uint32_t i = 0; calls && i < m->nfunctions; i++)
        if (!m->functions[i]->is_entry && uses_textures(m->functions[i]))
            return true;
    return false;
}

void dr_real_find_handles(const ptx_module *m, const ptx_function *entry, dr_real_handles *out)
{
    flow f = {.entry = entry, .out = out};
    out->count = 0;
    out->others = calls_users(m, entry);
    if (!uses_textures(entry))
        return;
    f.origin = malloc((entry->nregisters + 1) * sizeof *f.origin);
    if (!f.origin) {
        out->others = true;
        return;
    }
    for (uint32_t i = 0; i < entry->nregisters; i++)
        f.origin[i] = UNSEEN;
    do {
        f.changed = false;
        for (uint32_t i = 0; i < entry->ninsns; i++)
            if (entry->insns[i].form)
                follow(&f, &entry->insns[i]);
    } while (f.changed);
    for (uint32_t i = 0; i < entry->ninsns; i++)
        if (entry->insns[i].form)
            find_uses(&f, &entry->insns[i]);
    for (uint32_t i = 0; i < entry->ninsns && !out->others; i++)
        out->others = entry->insns[i].form && leaks(&f, &entry->insns[i]);
    free(f.origin);
}
