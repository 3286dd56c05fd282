/* opcodes.c - opcodes as written, each once, with the kind of work that its row of the instruction table stands for. */
#include "ptx/inspect/opcodes.h"

#include <stdlib.h>
#include <string.h>
#include "ptx/inspect/flow_internal.h"

const char *pti_work_name(pti_work work)
{
    static const char *const names[] = {
        "other",  "mma",       "pack",    "unpack",      "convert", "load",    "store", "atomic",  "async copy", "shuffle",
        "transpose", "barrier", "approximate function", "texture", "surface", "float", "integer", "compare", "move", "control"};
    _Static_assert(sizeof names / sizeof *names == PTI_WORKS, "a name for each kind of work");
    return names[work];
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* The part of an opcode that is `back` dots before its end: of "cvt.rn.f16.f32" 0 is "f32", 1 is "f16". */
static const char *part(const char *opcode, uint32_t back)
{
    const char *c = opcode + strlen(opcode);
    for (uint32_t dots = 0; c > opcode; c--)
        if (c[-1] == '.' && dots++ == back)
            return c;
    return opcode;
}

/* Formats of fewer than 16 bits that are not integers: e4m3x2, e2m1x2, ue8m0x2… */
static bool is_narrow(const char *type)
{
    type += *type == 'u' && type[1] == 'e';
    return type[0] == 'e' && type[1] >= '0' && type[1] <= '9';
}

static pti_work work_of_conversion(const char *opcode)
{
    return is_narrow(part(opcode, 1)) ? PTI_WORK_PACK : is_narrow(part(opcode, 0)) ? PTI_WORK_UNPACK : PTI_WORK_CONVERT;
}

static pti_work work_of_operation(const char *operation)
{
    static const struct { const char *name; pti_work work; } rows[] = {
        {"ld", PTI_WORK_LOAD}, {"ldmatrix", PTI_WORK_LOAD}, {"wmma_load", PTI_WORK_LOAD},
        {"st", PTI_WORK_STORE}, {"stmatrix", PTI_WORK_STORE}, {"wmma_store", PTI_WORK_STORE}, {"st_bulk", PTI_WORK_STORE},
        {"atom", PTI_WORK_ATOMIC}, {"red", PTI_WORK_ATOMIC},
        {"cvta", PTI_WORK_INTEGER}, {"mapa", PTI_WORK_INTEGER}, {"isspacep", PTI_WORK_INTEGER},
        {"bar", PTI_WORK_BARRIER}, {"bar_warp", PTI_WORK_BARRIER}, {"barrier_cluster", PTI_WORK_BARRIER}, {"fence", PTI_WORK_BARRIER},
        {"mbarrier", PTI_WORK_BARRIER},
        {"bra", PTI_WORK_CONTROL}, {"brx", PTI_WORK_CONTROL}, {"call", PTI_WORK_CONTROL}, {"ret", PTI_WORK_CONTROL},
        {"exit", PTI_WORK_CONTROL}, {"trap", PTI_WORK_CONTROL},
        {"cp_async", PTI_WORK_ASYNC}, {"cp_async_wait", PTI_WORK_ASYNC}, {"cp_async_commit", PTI_WORK_ASYNC},
        {"cp_async_mbarrier", PTI_WORK_ASYNC}, {"cp_async_bulk", PTI_WORK_ASYNC}, {"cp_reduce_bulk", PTI_WORK_ASYNC},
        {"st_async", PTI_WORK_ASYNC}, {"red_async", PTI_WORK_ASYNC}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(operation, rows[i].name) == 0)
            return rows[i].work;
    return PTI_WORK_OTHER;
}

static bool is_float_division(const ptx_insn *insn, const char *opcode)
{
    return strcmp(insn->form->mnemonic, "div") == 0 && (strstr(opcode, ".approx") || strstr(opcode, ".full"));
}

static pti_work work_of(const ptx_insn *insn, const char *opcode)
{
    static const struct { const char *family; pti_work work; } rows[] = {
        {"mma", PTI_WORK_MMA}, {"float", PTI_WORK_FLOAT}, {"half", PTI_WORK_FLOAT}, {"int", PTI_WORK_INTEGER},
        {"logic", PTI_WORK_INTEGER}, {"video", PTI_WORK_INTEGER}, {"compare", PTI_WORK_COMPARE}, {"move", PTI_WORK_MOVE},
        {"control", PTI_WORK_CONTROL}, {"warp", PTI_WORK_SHUFFLE}, {"barrier", PTI_WORK_BARRIER},
        {"special", PTI_WORK_APPROXIMATE}, {"async", PTI_WORK_ASYNC}, {"atomic", PTI_WORK_ATOMIC}};
    if (!insn->form)
        return PTI_WORK_OTHER;
    const char *family = insn->form->family, *mnemonic = insn->form->mnemonic;
    if (insn->operation && work_of_operation(insn->operation) != PTI_WORK_OTHER)
        return work_of_operation(insn->operation);
    if (strcmp(family, "cvt") == 0)
        return work_of_conversion(opcode);
    if (strcmp(family, "texture") == 0)
        return is_one_of(mnemonic, (const char *const[]){"sust", "suld", "sured", "suq", NULL}) ? PTI_WORK_SURFACE : PTI_WORK_TEXTURE;
    if (strcmp(mnemonic, "movmatrix") == 0)
        return PTI_WORK_TRANSPOSE;
    if (is_float_division(insn, opcode) || is_one_of(mnemonic, (const char *const[]){"rcp", "sqrt", NULL}))
        return PTI_WORK_APPROXIMATE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(family, rows[i].family) == 0)
            return rows[i].work;
    return PTI_WORK_OTHER;
}

static ptx_space space_of(const ptx_insn *insn)
{
    const char *space = insn->form ? isa_choice(insn->form, &insn->tuple, "space") : NULL;
    for (int i = PTX_SPACE_CONST; space && i <= PTX_SPACE_SHARED; i++) {
        size_t n = strlen(ptx_space_name((ptx_space)i));
        if (strncmp(space, ptx_space_name((ptx_space)i), n) == 0 && (space[n] == '\0' || space[n] == ':'))
            return (ptx_space)i;
    }
    return insn->operation && strstr(insn->operation, "matrix") ? PTX_SPACE_SHARED : PTX_SPACE_GENERIC;
}

/* Bytes of the registers that are moved. */
static uint32_t bytes_of(const ptx_insn *insn)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == ISA_OPERAND_DST_VECTOR || insn->operands[i].kind == ISA_OPERAND_SRC_VECTOR ||
            insn->operands[i].kind == ISA_OPERAND_DST || insn->operands[i].kind == ISA_OPERAND_SRC)
            for (uint32_t j = 0; j < insn->operands[i].nvalues; j++)
                bytes += ptx_type_bytes(insn->operands[i].values[j].type);
    return bytes;
}

/* The opcode as written: what stands up to the first blank behind a guard. */
static uint32_t opcode_of(const ptx_module *m, const ptx_insn *insn, char *buffer, size_t size)
{
    char text[320];
    ptx_format_insn(m, insn, text, sizeof text);
    const char *c = text;
    if (*c == '@')
        c += strcspn(c, " "), c += strspn(c, " ");
    size_t n = strcspn(c, " ;{[");
    n = n < size ? n : size - 1;
    memcpy(buffer, c, n);
    buffer[n] = '\0';
    return (uint32_t)n;
}

typedef struct opcode_table { pti_opcodes *out; uint32_t *slots, mask; } opcode_table;

static uint32_t find_opcode(opcode_table *t, const ptx_insn *insn, const char *text, uint32_t length)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < length; i++)
        h = (h ^ (uint8_t)text[i]) * 16777619u;
    uint32_t slot = (h ^ h >> 15) & t->mask;
    for (; t->slots[slot]; slot = (slot + 1) & t->mask)
        if (strcmp(t->out->list[t->slots[slot] - 1].text, text) == 0)
            return t->slots[slot] - 1;
    char *copy = ptx_arena_alloc(&t->out->arena, length + 1, 1);
    if (!copy)
        return PTI_NONE;
    memcpy(copy, text, length + 1);
    pti_opcode *o = &t->out->list[t->out->count];
    *o = (pti_opcode){.text = copy, .work = work_of(insn, copy), .space = space_of(insn)};
    if (o->work == PTI_WORK_LOAD || o->work == PTI_WORK_STORE)
        o->bytes = bytes_of(insn);
    t->slots[slot] = ++t->out->count;
    return t->out->count - 1;
}

bool pti_find_opcodes(const ptx_module *m, const ptx_function *f, pti_opcodes *out)
{
    *out = (pti_opcodes){0};
    ptx_arena_init(&out->arena, SIZE_MAX);
    uint32_t slots = 64;
    while (slots < 2 * (uint64_t)f->ninsns && slots < (uint32_t)1 << 31)
        slots *= 2;
    opcode_table t = {out, pti_take(&out->arena, slots, sizeof *t.slots), slots - 1};
    out->list = pti_take(&out->arena, f->ninsns, sizeof *out->list);
    out->of_insn = pti_take(&out->arena, f->ninsns, sizeof *out->of_insn);
    if (!t.slots || !out->list || !out->of_insn)
        return false;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        char text[256];
        uint32_t n = opcode_of(m, &f->insns[i], text, sizeof text);
        out->of_insn[i] = find_opcode(&t, &f->insns[i], text, n);
        if (out->of_insn[i] == PTI_NONE)
            return false;
        out->list[out->of_insn[i]].count++;
    }
    return true;
}

void pti_free_opcodes(pti_opcodes *o)
{
    ptx_arena_free(&o->arena);
    *o = (pti_opcodes){0};
}
