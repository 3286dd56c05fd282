/* isa_form.c - what follows from one form and one tuple: operand types, the name
 * of the meaning, its signature. Shared by the program and by isa_gen, so that
 * the generated tables and wrappers cannot differ from what is computed at run time.
 */
#include "ptx/isa.h"

#include <string.h>

static int find_group(const isa_form *form, const char *name, size_t length)
{
    for (int i = 0; i < form->ngroups; i++)
        if (strncmp(form->groups[i].name, name, length) == 0 && form->groups[i].name[length] == 0)
            return i;
    return -1;
}

const char *isa_choice(const isa_form *form, const isa_tuple *tuple, const char *name)
{
    int g = find_group(form, name, strlen(name));
    if (g < 0 || tuple->choice[g] == 0)
        return NULL;
    return form->groups[g].choices[tuple->choice[g] - 1];
}

const char *isa_operation(const isa_form *form)
{
    return form->meaning[0] == '@' ? form->meaning + 1 : NULL;
}

bool isa_operand_written(const isa_form *form, const isa_tuple *tuple, uint32_t i)
{
    const isa_operand *o = &form->operands[i];
    switch (o->kind) {
    case ISA_OPERAND_NONE: case ISA_OPERAND_EXEC: case ISA_OPERAND_MODEL:
    case ISA_OPERAND_CARRY_IN: case ISA_OPERAND_CARRY_OUT: case ISA_OPERAND_CONSTANT: case ISA_OPERAND_ZERO:
        return false;
    default:
        return o->when_group < 0 || tuple->choice[o->when_group] != 0;
    }
}

static ptx_type untyped(uint32_t bits)
{
    switch (bits) {
    case 1: return PTX_TYPE_PRED;
    case 16: return PTX_TYPE_B16;
    case 32: return PTX_TYPE_B32;
    case 64: return PTX_TYPE_B64;
    case 128: return PTX_TYPE_B128;
    default: return PTX_TYPE_B8;
    }
}

static ptx_type doubled(ptx_type type)
{
    switch (type) {
    case PTX_TYPE_U8: return PTX_TYPE_U16;
    case PTX_TYPE_U16: return PTX_TYPE_U32;
    case PTX_TYPE_U32: return PTX_TYPE_U64;
    case PTX_TYPE_S8: return PTX_TYPE_S16;
    case PTX_TYPE_S16: return PTX_TYPE_S32;
    case PTX_TYPE_S32: return PTX_TYPE_S64;
    case PTX_TYPE_F16: return PTX_TYPE_F32;
    case PTX_TYPE_F32: return PTX_TYPE_F64;
    default: return untyped(2 * ptx_type_bits(type));
    }
}

ptx_type isa_operand_type(const isa_form *form, const isa_tuple *tuple, uint32_t i)
{
    const isa_operand *o = &form->operands[i];
    ptx_type type = o->type;
    if (o->type_group >= 0) {
        uint32_t choice = tuple->choice[o->type_group];
        type = choice ? (ptx_type)form->groups[o->type_group].types[choice - 1] : PTX_TYPE_NONE;
    }
    return o->type_scale == 2 ? doubled(type) : type;
}

uint32_t isa_operand_count(const isa_form *form, const isa_tuple *tuple, uint32_t i)
{
    const isa_operand *o = &form->operands[i];
    if (o->count_group < 0)
        return o->count;
    uint32_t choice = tuple->choice[o->count_group];
    uint32_t number = choice ? form->groups[o->count_group].numbers[choice - 1] : 1;
    return number * o->count_mul / o->count_div + (o->with_index ? 1 : 0);
}

uint32_t isa_operand_constant(const isa_form *form, const isa_tuple *tuple, uint32_t i)
{
    const isa_operand *o = &form->operands[i];
    int32_t choice = o->count_group < 0 ? 0 : tuple->choice[o->count_group] * o->count_mul;
    return (uint32_t)(o->low + choice);
}

static const char *untyped_name(ptx_type type)
{
    return ptx_type_name(untyped(ptx_type_bits(type)));
}

/* The text of one `{…}` of a template, without the leading "_"; NULL when it is empty. */
static const char *substitution(const isa_form *form, const isa_tuple *tuple, const char *body, size_t length,
                                const char **fallback, size_t *fallback_length)
{
    size_t n = 0;
    while (n < length && body[n] != '=' && !(body[n] == ':' && n + 2 == length))
        n++;
    int g = find_group(form, body, n);
    *fallback = NULL;
    if (g < 0)
        return NULL;
    uint32_t choice = tuple->choice[g];
    if (choice && n < length && body[n] == ':')
        return untyped_name((ptx_type)form->groups[g].types[choice - 1]);
    if (choice)
        return form->groups[g].names[choice - 1];
    if (n < length && body[n] == '=') {
        *fallback = body + n + 1;
        *fallback_length = length - n - 1;
    }
    return NULL;
}

bool isa_meaning_name(const isa_form *form, const isa_tuple *tuple, char *buffer, uint32_t size)
{
    uint32_t used = 0;
    for (const char *p = form->meaning; *p;) {
        const char *text = p, *fallback = NULL;
        size_t length = 1;
        if (*p == '{') {
            const char *end = strchr(p, '}');
            size_t fallback_length = 0;
            text = substitution(form, tuple, p + 1, (size_t)(end - p - 1), &fallback, &fallback_length);
            length = text ? strlen(text) : fallback_length;
            if (!text)
                text = fallback;
            p = end + 1;
            if (!text)
                continue;
            if (used + 1 >= size)
                return false;
            buffer[used++] = '_';
        } else {
            p++;
        }
        if (used + length >= size)
            return false;
        memcpy(buffer + used, text, length);
        used += (uint32_t)length;
    }
    buffer[used] = 0;
    return true;
}

static ptx_type mapped(const isa_operand *o, ptx_type type)
{
    if (o->map == ISA_MAP_BITS || (o->map == ISA_MAP_UNSIGNED && ptx_type_class(type) == 's'))
        return untyped(ptx_type_bits(type));
    return type;
}

typedef struct writer { isa_elem *out; uint32_t n; } writer;

static void put(writer *w, isa_role role, ptx_type type)
{
    /* A b128 is two lanes of 64 bits, the low one first. */
    uint32_t parts = ptx_type_bits(type) == 128 ? 2 : 1;
    for (uint32_t i = 0; i < parts && w->n < ISA_MAX_ELEMS; i++)
        w->out[w->n++] = (isa_elem){role, parts == 2 ? PTX_TYPE_B64 : type};
}

static void put_operand(writer *w, const isa_form *form, const isa_tuple *tuple, uint32_t i)
{
    const isa_operand *o = &form->operands[i];
    ptx_type type = mapped(o, isa_operand_type(form, tuple, i));
    uint32_t count = isa_operand_count(form, tuple, i);
    switch (o->kind) {
    case ISA_OPERAND_DST: put(w, ISA_ROLE_DST, type); break;
    case ISA_OPERAND_SRC: put(w, ISA_ROLE_SRC, type); break;
    case ISA_OPERAND_BOTH: put(w, ISA_ROLE_DST, type); put(w, ISA_ROLE_SRC, type); break;
    case ISA_OPERAND_DST_PRED: case ISA_OPERAND_CARRY_OUT: put(w, ISA_ROLE_DST, PTX_TYPE_PRED); break;
    case ISA_OPERAND_SRC_PRED: case ISA_OPERAND_CARRY_IN: put(w, ISA_ROLE_SRC, PTX_TYPE_PRED); break;
    case ISA_OPERAND_DST_AND_PRED: put(w, ISA_ROLE_DST, type); put(w, ISA_ROLE_DST, PTX_TYPE_PRED); break;
    case ISA_OPERAND_PRED_PAIR: put(w, ISA_ROLE_DST, PTX_TYPE_PRED); put(w, ISA_ROLE_DST, PTX_TYPE_PRED); break;
    case ISA_OPERAND_DST_VECTOR:
        for (uint32_t k = 0; k < count; k++)
            put(w, ISA_ROLE_DST, type);
        if (o->with_pred)
            put(w, ISA_ROLE_DST, PTX_TYPE_PRED);
        break;
    case ISA_OPERAND_SRC_VECTOR: case ISA_OPERAND_ZERO:
        for (uint32_t k = 0; k < count; k++)
            put(w, ISA_ROLE_SRC, type);
        break;
    case ISA_OPERAND_TEXTURE:
        put(w, ISA_ROLE_SRC, PTX_TYPE_U64);
        for (uint32_t k = 0; k < count; k++)
            put(w, ISA_ROLE_SRC, k == 0 && o->with_index ? PTX_TYPE_U32 : type);
        break;
    case ISA_OPERAND_IMMEDIATE: put(w, ISA_ROLE_IMM, type); break;
    case ISA_OPERAND_CONSTANT: put(w, ISA_ROLE_IMM, PTX_TYPE_U32); break;
    case ISA_OPERAND_DST_MASKED: put(w, ISA_ROLE_DST, type); put(w, ISA_ROLE_IMM, PTX_TYPE_U32); break;
    case ISA_OPERAND_SRC_SELECTED: put(w, ISA_ROLE_SRC, type); put(w, ISA_ROLE_IMM, PTX_TYPE_U32); break;
    case ISA_OPERAND_EXEC: put(w, ISA_ROLE_EXEC, PTX_TYPE_PRED); break;
    case ISA_OPERAND_MODEL: put(w, ISA_ROLE_MODEL, PTX_TYPE_U32); break;
    case ISA_OPERAND_NONE: case ISA_OPERAND_ADDRESS: case ISA_OPERAND_LABEL:
    case ISA_OPERAND_FUNCTION: case ISA_OPERAND_LIST:
        break;
    }
}

uint32_t isa_signature(const isa_form *form, const isa_tuple *tuple, isa_elem out[ISA_MAX_ELEMS])
{
    writer w = {out, 0};
    for (uint32_t i = 0; i < form->noperands; i++) {
        int8_t when = form->operands[i].when_group;
        if (when < 0 || tuple->choice[when])
            put_operand(&w, form, tuple, i);
    }
    return w.n;
}
