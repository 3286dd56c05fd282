/* kernel_text.c - a case as PTX. Registers are untyped bits of their width, which every instruction takes, but for one. */
#include "conformance/conform.h"

#include <stdlib.h>
#include <string.h>
#include "conformance/memory.h"
#include "conformance/snippets.h"
#include "conformance/text.h"
#include "conformance/wmma.h"

conform_era conform_era_of(const conform_case *c)
{
    return strstr(c->form->clause, "deprecated") ? CONFORM_DEPRECATED : strstr(c->form->clause, "to 6.4)") ? CONFORM_WITHDRAWN
         : c->form->ptx_version > 90 ? CONFORM_NEWEST : CONFORM_CURRENT;
}

bool conform_has_mask(const conform_case *c)
{
    return c->kind == CONFORM_WARP || c->kind == CONFORM_TEXTURE;
}

/* Bits of the register of an element. u8 and s8 live in 16-bit registers, as they must; b8 and pairs of four bits are .b8. */
static uint32_t register_bits(const conform_case *c, ptx_type type)
{
    if (type == PTX_TYPE_PRED)
        return 1;
    const uint32_t bits = ptx_type_bytes(type) * 8;
    if (bits == 8 && c->kind == CONFORM_TEXTURE)
        return 16;                       /* suld.b8 and sust.b8 take wider registers */
    return bits == 8 && (ptx_type_class(type) == 'u' || ptx_type_class(type) == 's') ? 16 : bits;
}

static void declare(conform_text *t, const conform_case *c)
{
    for (uint32_t e = 0; e < c->nelems; e++) {
        if (c->elems[e].role != ISA_ROLE_SRC && c->elems[e].role != ISA_ROLE_DST)
            continue;
        const uint32_t bits = register_bits(c, c->elems[e].type);
        if (bits == 1) conform_add(t, "    .reg .pred %%e%u;\n", e);
        /* The type of a register alone tells the depth of a 1D texture from its offset. */
        else if (c->kind == CONFORM_TEXTURE && c->elems[e].type == PTX_TYPE_F32) conform_add(t, "    .reg .f32 %%e%u;\n", e);
        else conform_add(t, "    .reg .b%u %%e%u;\n", bits, e);
    }
    for (uint32_t i = 0, e = 0; i < c->form->noperands; i++) {
        if (ptx_type_bits(isa_operand_type(c->form, &c->tuple, i)) == 128)
            conform_add(t, "    .reg .b128 %%q%u;\n", e);
        e += conform_operand_elements(c->form, &c->tuple, i);
    }
}

/* %from walks over the sources of this thread. */
static void load_sources(conform_text *t, const conform_case *c)
{
    for (uint32_t e = 0; e < c->nelems; e++) {
        if (c->elems[e].role != ISA_ROLE_SRC)
            continue;
        const ptx_type type = c->elems[e].type;
        if (type == PTX_TYPE_PRED)
            conform_add(t, "    ld.global.b32 %%w, [%%from];\n    setp.ne.u32 %%e%u, %%w, 0;\n", e);
        else
            conform_add(t, "    ld.global.b%u %%e%u, [%%from];\n", ptx_type_bytes(type) * 8, e);
        conform_add(t, "    add.u64 %%from, %%from, %%step;\n");
    }
}

static void clear_results(conform_text *t, const conform_case *c)
{
    for (uint32_t e = 0; e < c->nelems; e++) {
        if (c->elems[e].role != ISA_ROLE_DST)
            continue;
        const uint32_t bits = register_bits(c, c->elems[e].type);
        if (bits == 1) conform_add(t, "    setp.ne.u32 %%e%u, 0, 0;\n", e);
        else if (bits > 8) conform_add(t, "    mov.b%u %%e%u, 0;\n", bits, e);
    }
}

static void store_results(conform_text *t, const conform_case *c)
{
    for (uint32_t e = 0; e < c->nelems; e++) {
        if (c->elems[e].role != ISA_ROLE_DST)
            continue;
        if (c->elems[e].type == PTX_TYPE_PRED)
            conform_add(t, "    selp.b32 %%w, 1, 0, %%e%u;\n    st.global.b32 [%%to], %%w;\n", e);
        else
            conform_add(t, "    st.global.b%u [%%to], %%e%u;\n", ptx_type_bytes(c->elems[e].type) * 8, e);
        conform_add(t, "    add.u64 %%to, %%to, %%step;\n");
    }
}

/* ------------------------------------------------------------ selectors of video instructions */

/* Names of the elements' registers: "%e3", or what the caller of conform_add_instruction says. */
static void add_register(conform_text *t, const char (*names)[CONFORM_REGISTER], uint32_t e)
{
    if (names) conform_add(t, "%s", names[e]);
    else conform_add(t, "%%e%u", e);
}

static void add_digits(conform_text *t, uint32_t value, int lanes, bool mask)
{
    for (int i = lanes - 1; i >= 0; i--) {
        if (mask && value >> i & 1) conform_add(t, "%d", i);
        if (!mask) conform_add(t, "%u", value >> (4 * i) & 15);
    }
}

static void add_selected(conform_text *t, const conform_case *c, const char (*names)[CONFORM_REGISTER], uint32_t operand, uint32_t e)
{
    static const char *const scalar[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    const char last = c->form->mnemonic[strlen(c->form->mnemonic) - 1];
    const uint32_t selector = c->imm[e + 1];
    conform_add(t, "%s", selector & ISA_SELECTOR_MINUS && last != '2' && last != '4' ? "-" : "");
    add_register(t, names, e);
    if (last == '2' || last == '4') {
        conform_add(t, ".%c", last == '2' ? 'h' : 'b');
        add_digits(t, selector, last - '0', c->form->operands[operand].kind == ISA_OPERAND_DST_MASKED);
    } else {
        conform_add(t, "%s", scalar[selector & 7]);
    }
}

/* ------------------------------------------------------------ the instruction */

static void add_vector(conform_text *t, const char (*names)[CONFORM_REGISTER], uint32_t e, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        conform_add(t, k ? ", " : "{");
        add_register(t, names, e + k);
    }
    conform_add(t, "}");
}

static void add_pair(conform_text *t, const char (*names)[CONFORM_REGISTER], uint32_t e)
{
    add_register(t, names, e);
    conform_add(t, "|");
    add_register(t, names, e + 1);
}

/* The handle, and coordinates; three are filled up to four, as PTX wants them. */
static void add_texture(conform_text *t, const char (*names)[CONFORM_REGISTER], uint32_t e, uint32_t count)
{
    conform_add(t, "[");
    add_register(t, names, e);
    for (uint32_t k = 0; k < (count == 3 ? 4 : count); k++) {
        conform_add(t, k ? ", " : ", {");
        add_register(t, names, e + 1 + (k < count ? k : count - 1));
    }
    conform_add(t, count ? "}]" : "]");
}

static void add_operand(conform_text *t, const conform_case *c, const char (*names)[CONFORM_REGISTER], uint32_t i, uint32_t e)
{
    const isa_operand *o = &c->form->operands[i];
    const bool wide = ptx_type_bits(isa_operand_type(c->form, &c->tuple, i)) == 128;
    switch (o->kind) {
    case ISA_OPERAND_DST_AND_PRED: case ISA_OPERAND_PRED_PAIR: add_pair(t, names, e); break;
    case ISA_OPERAND_DST_VECTOR: case ISA_OPERAND_SRC_VECTOR:
        add_vector(t, names, e, isa_operand_count(c->form, &c->tuple, i));
        if (o->with_pred) {
            conform_add(t, "|");
            add_register(t, names, e + isa_operand_count(c->form, &c->tuple, i));
        }
        break;
    case ISA_OPERAND_TEXTURE: add_texture(t, names, e, isa_operand_count(c->form, &c->tuple, i)); break;
    case ISA_OPERAND_DST_MASKED: case ISA_OPERAND_SRC_SELECTED: add_selected(t, c, names, i, e); break;
    case ISA_OPERAND_IMMEDIATE: conform_add(t, "%u", c->imm[e]); break;
    default:
        if (wide) conform_add(t, "%%q%u", e);
        else add_register(t, names, e);
        break;
    }
}

void conform_add_instruction(conform_text *t, const conform_case *c, const char (*names)[CONFORM_REGISTER])
{
    conform_add(t, "    %s", c->form->mnemonic);
    for (uint32_t g = 0; g < c->form->ngroups; g++)
        if (c->tuple.choice[g])
            conform_add(t, ".%s", c->form->groups[g].choices[c->tuple.choice[g] - 1]);
    uint32_t e = 0, written = 0;
    for (uint32_t i = 0; i < c->form->noperands; i++) {
        const isa_operand *o = &c->form->operands[i];
        if (o->when_group >= 0 && !c->tuple.choice[o->when_group])
            continue;
        if (isa_operand_written(c->form, &c->tuple, i)) {
            conform_add(t, "%s", written++ ? ", " : " ");
            add_operand(t, c, names, i, e);
        }
        e += conform_operand_elements(c->form, &c->tuple, i);
    }
    conform_add(t, ";\n");
}

/* The carry flag is set by an addition before, and read by one after. */
static void add_carries(conform_text *t, const conform_case *c, isa_operand_kind kind)
{
    uint32_t e = 0;
    for (uint32_t i = 0; i < c->form->noperands; i++) {
        if (c->form->operands[i].kind == kind && kind == ISA_OPERAND_CARRY_IN)
            conform_add(t, "    selp.b32 %%w, 1, 0, %%e%u;\n    add.cc.u32 %%w, %%w, 0xffffffff;\n", e);
        if (c->form->operands[i].kind == kind && kind == ISA_OPERAND_CARRY_OUT)
            conform_add(t, "    addc.u32 %%w, 0, 0;\n    setp.ne.u32 %%e%u, %%w, 0;\n", e);
        e += conform_operand_elements(c->form, &c->tuple, i);
    }
}

/* Moves between the halves (elements e and e + 1) and the b128 registers that the instruction names. */
static void add_wide(conform_text *t, const conform_case *c, bool before)
{
    uint32_t e = 0;
    for (uint32_t i = 0; i < c->form->noperands; i++) {
        const isa_operand_kind kind = c->form->operands[i].kind;
        if (ptx_type_bits(isa_operand_type(c->form, &c->tuple, i)) == 128 && (kind == ISA_OPERAND_SRC || kind == ISA_OPERAND_DST)) {
            if (before && kind == ISA_OPERAND_SRC) conform_add(t, "    mov.b128 %%q%u, {%%e%u, %%e%u};\n", e, e, e + 1);
            if (!before && kind == ISA_OPERAND_DST) conform_add(t, "    mov.b128 {%%e%u, %%e%u}, %%q%u;\n", e, e + 1, e);
        }
        e += conform_operand_elements(c->form, &c->tuple, i);
    }
}

static void add_head(conform_text *t, const conform_case *c, uint32_t number)
{
    conform_add(t, "\n// %s\n.visible .entry conform_%u(.param .u64 sources, .param .u64 results, .param .u32 threads)\n{\n", c->name, number);
    if (c->kind != CONFORM_MEMORY && c->kind != CONFORM_SNIPPET)
        declare(t, c);
}

/* Threads take inputs in a loop, since the beginning of a kernel costs as much as dozens of them. Warp kernels have a thread an input. */
static void add_lanes(conform_text *t, const conform_case *c)
{
    const bool loops = c->kind == CONFORM_LANE;
    conform_add(t, "    .reg .b32 %%i, %%w, %%n, %%all;\n    .reg .b64 %%from, %%to, %%step, %%at, %%first, %%second;\n    .reg .pred %%skip;\n");
    conform_add(t, "    mov.u32 %%i, %%ctaid.x;\n    mov.u32 %%w, %%ntid.x;\n    mov.u32 %%n, %%tid.x;\n    mad.lo.u32 %%i, %%i, %%w, %%n;\n");
    conform_add(t, "    mov.u32 %%all, %%nctaid.x;\n    mul.lo.u32 %%all, %%all, %%w;\n");
    conform_add(t, "    ld.param.u32 %%n, [threads];\n    setp.ge.u32 %%skip, %%i, %%n;\n    @%%skip ret;\n");
    conform_add(t, "    ld.param.u64 %%first, [sources];\n    ld.param.u64 %%second, [results];\n    mul.wide.u32 %%step, %%n, 8;\n%s", loops ? "AGAIN:\n" : "");
    conform_add(t, "    mul.wide.u32 %%at, %%i, 8;\n    add.u64 %%from, %%first, %%at;\n    add.u64 %%to, %%second, %%at;\n");
    load_sources(t, c);
    if (conform_has_mask(c)) {
        clear_results(t, c);
        conform_add(t, "    ld.global.b32 %%n, [%%from];\n    mov.u32 %%w, %%laneid;\n    shr.u32 %%n, %%n, %%w;\n    and.b32 %%n, %%n, 1;\n");
        conform_add(t, "    setp.eq.u32 %%skip, %%n, 0;\n    @%%skip bra DONE;\n");
    }
    add_wide(t, c, true);
    add_carries(t, c, ISA_OPERAND_CARRY_IN);
    conform_add_instruction(t, c, NULL);
    add_carries(t, c, ISA_OPERAND_CARRY_OUT);
    add_wide(t, c, false);
    if (conform_has_mask(c))
        conform_add(t, "DONE:\n");
    store_results(t, c);
    if (loops)
        conform_add(t, "    add.u32 %%i, %%i, %%all;\n    setp.lt.u32 %%skip, %%i, %%n;\n    @%%skip bra AGAIN;\n");
}

static void add_entry(conform_text *t, const conform_case *c, uint32_t number)
{
    add_head(t, c, number);
    if (c->kind == CONFORM_WMMA) conform_add_wmma(t, c);
    else if (c->kind == CONFORM_MEMORY) conform_add_memory(t, c);
    else if (c->kind == CONFORM_SNIPPET) conform_add_snippet(t, c);
    else add_lanes(t, c);
    conform_add(t, "    ret;\n}\n");
}

char *conform_module(const conform_case *const *cases, uint32_t count)
{
    conform_text t = {0};
    static const char *const heads[] = {[CONFORM_CURRENT] = ".version 9.0\n.target sm_120a", [CONFORM_NEWEST] = ".version 9.1\n.target sm_120a",
                                        [CONFORM_DEPRECATED] = ".version 9.0\n.target sm_60", [CONFORM_WITHDRAWN] = ".version 6.4\n.target sm_75"};
    conform_add(&t, "%s\n.address_size 64\n", heads[count ? conform_era_of(cases[0]) : CONFORM_CURRENT]);
    /* One array for all: a launch may reserve the variables of a whole module. */
    uint32_t shared = 0, constants = 0;
    bool functions = false;
    for (uint32_t i = 0; i < count; i++) {
        const conform_case *c = cases[i];
        const uint32_t own = c->kind == CONFORM_WMMA ? conform_wmma_shared(c) : c->kind == CONFORM_MEMORY ? conform_memory_shared(c)
                           : c->kind == CONFORM_SNIPPET ? CONFORM_SNIPPET_SHARED : 0;
        shared = own > shared ? own : shared;
        functions |= c->kind == CONFORM_SNIPPET;
        constants |= c->kind == CONFORM_MEMORY ? conform_memory_const(c) : 0;
    }
    if (shared)
        conform_add(&t, ".shared .align 32 .b8 conform_shared[%u];\n", shared);
    if (constants)
        conform_add(&t, ".const .align 16 .b8 conform_const[%u];\n", constants);
    if (functions)
        conform_add_snippet_functions(&t);
    for (uint32_t i = 0; i < count; i++)
        add_entry(&t, cases[i], i);
    return conform_text_end(&t);
}
