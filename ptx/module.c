/* module.c - look-ups in a finished module. */
#include "ptx/parser.h"

#include <string.h>

/* A module has few functions and is asked for few of them, so a walk is enough. */
const ptx_function *ptx_find_function(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->nfunctions; i++)
        if (strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

const ptx_variable *ptx_find_variable(const ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->nvariables; i++)
        if (strcmp(module->variables[i]->name, name) == 0)
            return module->variables[i];
    return NULL;
}

/* ------------------------------------------------------------ the text of an instruction */

typedef struct writer { char *buffer; size_t size, length; } writer;

static void put(writer *w, char c)
{
    if (w->length + 1 < w->size)
        w->buffer[w->length] = c;
    w->length++;
}

static const char *skip_comment(const char *c, const char *end)
{
    if (c[1] == '/') {
        const char *eol = memchr(c, '\n', (size_t)(end - c));
        return eol ? eol : end;
    }
    for (c += 2; c + 1 < end; c++)
        if (c[0] == '*' && c[1] == '/')
            return c + 2;
    return end;
}

size_t ptx_text_offset(const ptx_module *module, ptx_location at)
{
    const ptx_store *store = (const ptx_store *)module;
    return at.line && at.line <= store->nlines ? store->line_starts[at.line - 1] + at.column - 1 : module->length;
}

size_t ptx_format_insn(const ptx_module *module, const ptx_insn *insn, char *buffer, size_t size)
{
    writer w = {buffer, size, 0};
    const char *end = module->text + module->length, *c = module->text + ptx_text_offset(module, insn->at);
    bool blank = false;
    while (c < end && *c != ';' && *c != '\0') {
        if (*c == '/' && (c[1] == '/' || c[1] == '*')) {
            c = skip_comment(c, end);
            blank = true;
        } else if ((unsigned char)*c <= ' ') {
            blank = true;
            c++;
        } else {
            if (blank && w.length)
                put(&w, ' ');
            blank = false;
            put(&w, *c++);
        }
    }
    if (size)
        buffer[w.length < size ? w.length : size - 1] = 0;
    return w.length;
}

/* ------------------------------------------------------------ flattening */

typedef struct flat { ptx_value *out; uint32_t n; } flat;

/* A value of 128 bits is two elements, the low half first; of a register, imm says which half. */
static void put_value(flat *f, const ptx_value *v)
{
    uint32_t parts = ptx_type_bits(v->type) == 128 ? 2 : 1;
    for (uint32_t i = 0; i < parts && f->n < ISA_MAX_ELEMS; i++) {
        f->out[f->n] = *v;
        if (parts == 2) {
            f->out[f->n].type = PTX_TYPE_B64;
            f->out[f->n].imm = v->kind == PTX_VALUE_REG ? i : i == 0 ? v->imm : 0;
        }
        f->n++;
    }
}

static void put_default(flat *f, ptx_value_kind kind, ptx_type type)
{
    ptx_value v = {.kind = kind, .type = type};
    put_value(f, &v);
}

/* An optional operand that was not written: destinations are sinks, sources zero. */
static void put_absent(flat *f, const ptx_insn *insn, uint32_t i)
{
    ptx_type type = isa_operand_type(insn->form, &insn->tuple, i);
    switch (insn->form->operands[i].kind) {
    case ISA_OPERAND_DST: put_default(f, PTX_VALUE_SINK, type); break;
    case ISA_OPERAND_DST_PRED: put_default(f, PTX_VALUE_SINK, PTX_TYPE_PRED); break;
    case ISA_OPERAND_SRC: case ISA_OPERAND_IMMEDIATE: put_default(f, PTX_VALUE_IMM, type); break;
    case ISA_OPERAND_SRC_PRED: put_default(f, PTX_VALUE_IMM, PTX_TYPE_PRED); break;
    case ISA_OPERAND_SRC_VECTOR:
        for (uint32_t k = 0; k < isa_operand_count(insn->form, &insn->tuple, i); k++)
            put_default(f, PTX_VALUE_IMM, type);
        break;
    default: break;
    }
}

static bool is_flattened(isa_operand_kind kind)
{
    return kind != ISA_OPERAND_ADDRESS && kind != ISA_OPERAND_LABEL && kind != ISA_OPERAND_FUNCTION &&
           kind != ISA_OPERAND_LIST;
}

uint32_t ptx_flatten(const ptx_insn *insn, ptx_value out[ISA_MAX_ELEMS])
{
    flat f = {out, 0};
    for (uint32_t i = 0; insn->form && i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        int8_t when = insn->form->operands[i].when_group;
        if (o->kind == ISA_OPERAND_NONE) {
            if (when < 0 || insn->tuple.choice[when])
                put_absent(&f, insn, i);
            continue;
        }
        if (!is_flattened(o->kind))
            continue;
        for (uint32_t k = 0; k < o->nvalues; k++)
            put_value(&f, &o->values[k]);
        if (o->kind == ISA_OPERAND_BOTH)
            put_value(&f, &o->values[0]);
    }
    return f.n;
}
