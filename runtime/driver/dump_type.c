/* dump_type.c - what elements an allocation has, by how the kernel reads and writes it.
 *
 * A case's arrays are bytes to a driver; a difference of one ulp between two vendors is then one of up to four bytes. Pointers are followed
 * from ld.param through address arithmetic to the loads, stores and atomics that use them. Where all of those give one type of element, that is
 * the array's; b32 beside f32 is f32, integers of one size are unsigned. It is a guess, of use to people: bits are compared all the same.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/dump_case.h"

enum { UNSEEN = -1, MIXED = -2 };      /* of a register: no pointer met yet; several */

typedef struct flow {
    int *piece;                        /* by register: the one that it points into */
    bool changed;
} flow;

static void note(flow *f, const ptx_value *v, int piece)
{
    if (v->kind != PTX_VALUE_REG || piece == UNSEEN)
        return;
    int *have = &f->piece[v->reg], next = *have == UNSEEN || *have == piece ? piece : MIXED;
    f->changed |= next != *have;
    *have = next;
}

static bool is_named(const ptx_insn *insn, const char *operation)
{
    return insn->operation && strcmp(insn->operation, operation) == 0;
}

/* The piece that a parameter's word leads to. */
static int piece_of_parameter(const ptx_variable *v, int64_t offset)
{
    const ptx_function *entry = dump_now.source->entry;
    uint64_t value;
    bool known = false;
    for (uint32_t i = 0; i < entry->prototype.nparams; i++)
        known |= entry->prototype.params[i] == v;
    if (!known || offset < 0 || (uint64_t)offset + 8 > v->size)
        return UNSEEN;
    memcpy(&value, (const char *)dump_now.source->params + v->offset + offset, sizeof value);
    int i = dump_known_piece(value);
    return i >= 0 && !dump_now.pieces[i].variable ? i : UNSEEN;
}

static const ptx_operand *address_of(const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == ISA_OPERAND_ADDRESS)
            return &insn->operands[i];
    return NULL;
}

/* A load from a parameter gives pointers, word by word. */
static void follow_load(flow *f, const ptx_insn *insn)
{
    const ptx_operand *from = address_of(insn), *to = &insn->operands[0];
    if (!from || from->address.base != PTX_BASE_VARIABLE)
        return;
    for (uint32_t k = 0; k < to->nvalues; k++)
        if (ptx_type_bytes(to->values[k].type) == 8)
            note(f, &to->values[k], piece_of_parameter(from->address.variable, from->address.offset + 8 * (int64_t)k));
}

/* What an instruction calculates with one pointer points to the same. */
static void follow(flow *f, const ptx_insn *insn)
{
    int piece = UNSEEN;
    if (is_named(insn, "ld")) {
        follow_load(f, insn);
        return;
    }
    if (address_of(insn) || !insn->noperands || insn->operands[0].kind != ISA_OPERAND_DST)
        return;
    for (uint32_t i = 1; i < insn->noperands; i++)
        for (uint32_t k = 0; k < insn->operands[i].nvalues; k++) {
            const ptx_value *v = &insn->operands[i].values[k];
            int from = v->kind == PTX_VALUE_REG ? f->piece[v->reg] : UNSEEN;
            piece = from == UNSEEN || from == piece ? piece : piece == UNSEEN ? from : MIXED;
        }
    note(f, &insn->operands[0].values[0], piece);
}

/* The dtype of a type; `bits`: its bits may mean something else. */
static rt_dtype dtype_of(ptx_type type, bool *bits)
{
    static const rt_dtype integers[] = {[1] = RT_U8, [2] = RT_U16, [4] = RT_U32, [8] = RT_U64};
    const uint32_t bytes = ptx_type_bytes(type);
    *bits = false;
    switch (type) {
    case PTX_TYPE_F16: return RT_F16;
    case PTX_TYPE_F32: return RT_F32;
    case PTX_TYPE_F64: return RT_F64;
    default: *bits = true; return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? integers[bytes] : RT_U8;
    }
}

static void use(flow *f, const ptx_insn *insn)
{
    const ptx_operand *at = address_of(insn), *data = NULL;
    for (uint32_t i = 0; i < insn->noperands && !data; i++)
        if (insn->operands[i].kind != ISA_OPERAND_ADDRESS && insn->operands[i].nvalues)
            data = &insn->operands[i];
    if (!at || at->address.base != PTX_BASE_REG || !data)
        return;
    int i = f->piece[at->address.reg];
    if (i < 0)
        return;
    dump_piece *p = &dump_now.pieces[i];
    bool bits;
    rt_dtype dtype = dtype_of(data->values[0].type, &bits);
    const bool same_size = p->typed && rt_dtype_bytes(dtype) == rt_dtype_bytes(p->dtype);
    if (!p->typed || (same_size && p->integers && !bits)) {
        p->dtype = dtype;
        p->integers = bits;
    } else if (!same_size || (!bits && dtype != p->dtype)) {
        p->several = true;
    }
    p->typed = true;
}

/* Variables have a type of their own. */
static void take_variables(void)
{
    for (int i = 0; i < dump_now.npieces; i++) {
        dump_piece *p = &dump_now.pieces[i];
        const ptx_variable *v = p->variable ? ptx_find_variable(dump_now.source->module, p->variable) : NULL;
        if (v) {
            p->dtype = dtype_of(v->type, &p->integers);
            p->typed = true;
        }
    }
}

void dump_find_types(void)
{
    const ptx_function *entry = dump_now.source->entry;
    take_variables();
    flow f = {.piece = malloc((entry->nregisters + 1) * sizeof *f.piece)};
    if (!f.piece || !dump_now.source->params) {
        free(f.piece);
        return;
    }
    for (uint32_t i = 0; i < entry->nregisters; i++)
        f.piece[i] = UNSEEN;
    do {
        f.changed = false;
        for (uint32_t i = 0; i < entry->ninsns; i++)
            if (entry->insns[i].form)
                follow(&f, &entry->insns[i]);
    } while (f.changed);
    for (uint32_t i = 0; i < entry->ninsns; i++)
        if (entry->insns[i].form)
            use(&f, &entry->insns[i]);
    free(f.piece);
}
