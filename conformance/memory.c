/* memory.c - see memory.h.
 *
 * Each thread has 32 bytes of memory with noise behind them, which the kernel puts into the space that the instruction names, and takes back
 * afterwards. Registers are as wide as the type or wider, so that extension and truncation are seen. In every other warp the
 * operations of integers that commute all go to the first lane's bytes.
 */
#include "conformance/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conformance/reference/ref_atomic.h"
#include "runtime/internal.h"

/* A thread's bytes: sources (registers 8 bytes each), and results (registers, then memory, then noise). */
enum { SOURCE_SLOT = 64, REGISTERS = 64, MEMORY = 32, RESULT_SLOT = 128, NOISE = 0xa5, THREADS = 256 };

typedef enum memory_space { SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST } memory_space;

typedef struct plan {
    memory_space space;          /* where the address lies */
    bool generic;                /* which the instruction does not say */
    bool loads, stores, reads, atomic;   /* ld; st and red: no result; atom and red */
    const char *op;
    ptx_type type;
    uint32_t count, bits, wide;  /* elements of a vector; bits of one, and of its register */
    bool meet;
} plan;

static const char *choice(const conform_case *c, const char *group)
{
    const char *v = isa_choice(c->form, &c->tuple, group);
    return v ? v : "";
}

static uint32_t width_of(const conform_case *c, ptx_type type)
{
    const uint32_t bits = ptx_type_bytes(type) * 8, least = bits == 8 ? 16 : bits;
    uint32_t sum = 0;
    for (const char *p = c->name; *p; p++)
        sum += (uint8_t)*p;
    if (ptx_type_class(type) == 'f' || strchr(ptx_type_name(type), 'x') || bits >= 64)
        return bits;                     /* only integers and bits go into wider registers */
    const uint32_t wider = least << sum % 3;
    return wider > 64 ? 64 : wider;
}

static plan plan_of(const conform_case *c)
{
    const char *m = c->form->mnemonic, *space = choice(c, "space");
    const bool is_load = !strcmp(m, "ld") || !strcmp(m, "ldu"), is_store = !strcmp(m, "st");
    plan p = {.loads = is_load, .stores = is_store, .atomic = !is_load && !is_store, .reads = is_load || !strcmp(m, "atom"), .op = choice(c, "op")};
    static const memory_space variants[] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL};
    p.space = !strncmp(space, "shared", 6) ? SPACE_SHARED : !strcmp(space, "local") ? SPACE_LOCAL : !strcmp(space, "const") ? SPACE_CONST : SPACE_GLOBAL;
    p.generic = !*space && strcmp(m, "ldu") != 0 && !strstr(c->name, ".global");
    if (p.generic)
        p.space = variants[c->variant];
    for (uint32_t i = 0; i < c->form->noperands; i++) {
        const isa_operand_kind kind = c->form->operands[i].kind;
        if (c->form->operands[i].when_group < 0 && kind != ISA_OPERAND_ADDRESS && !p.bits) {
            p.type = isa_operand_type(c->form, &c->tuple, i);
            p.bits = ptx_type_bytes(p.type) * 8;
            p.count = kind == ISA_OPERAND_DST_VECTOR || kind == ISA_OPERAND_SRC_VECTOR ? isa_operand_count(c->form, &c->tuple, i) : 1;
        }
    }
    p.wide = p.atomic ? p.bits : width_of(c, p.type);
    static const char *const commute[] = {"add", "min", "max", "and", "or", "xor", "inc", "dec"};
    for (size_t i = 0; i < sizeof commute / sizeof *commute && p.atomic; i++)
        p.meet = p.meet || (!strcmp(p.op, commute[i]) && ptx_type_class(p.type) != 'f' && !strchr(ptx_type_name(p.type), 'f'));
    return p;
}

bool conform_is_memory(const isa_form *form, const isa_tuple *tuple)
{
    static const char *const known[] = {"@ld", "@st", "@atom", "@red"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is_known = is_known || !strcmp(form->meaning, known[i]);
    if (!is_known || !strcmp(form->mnemonic, "red.async") || !strcmp(form->mnemonic, "st.async"))
        return false;
    const conform_case c = {.form = form, .tuple = *tuple};
    const char *space = choice(&c, "space");
    const plan p = plan_of(&c);
    const uint32_t bytes = p.bits / 8 * p.count;
    if (!strncmp(space, "param", 5) || (p.bits == 128 && (p.count > 1 || p.atomic)))
        return false;
    /* Vectors of 32 bytes are for .global alone. */
    return bytes <= 16 || (bytes == 32 && p.bits >= 32 && !strcmp(space, "global")) || (p.atomic && bytes <= 16);
}

uint32_t conform_memory_variants(const conform_case *c)
{
    const plan p = plan_of(c);
    return !p.generic ? 1 : p.atomic ? 2 : 3;
}

const char *conform_memory_variant_name(const conform_case *c)
{
    static const char *const names[] = {" to global", " to shared", " to local"};
    return plan_of(c).generic ? names[c->variant] : "";
}

/* ------------------------------------------------------------ PTX */

uint32_t conform_memory_shared(const conform_case *c)
{
    return plan_of(c).space == SPACE_SHARED ? MEMORY * CONFORM_BLOCK : 0;
}

uint32_t conform_memory_const(const conform_case *c)
{
    return plan_of(c).space == SPACE_CONST ? MEMORY * CONFORM_BLOCK : 0;
}

static const char *space_word(memory_space s)
{
    static const char *const words[] = {"global", "shared", "local", "const"};
    return words[s];
}

/* The thread's memory into the space, or back. %mem is its address in the results, %own that in the space. */
static void add_copies(conform_text *t, const plan *p, bool back)
{
    for (uint32_t k = 0; k < MEMORY; k += 8) {
        conform_add(t, "    ld.%s.b64 %%x, [%%%s+%u];\n", back ? space_word(p->space) : "global", back ? "own" : "mem", k);
        conform_add(t, "    st.%s.b64 [%%%s+%u], %%x;\n", back ? "global" : space_word(p->space), back ? "mem" : "own", k);
    }
}

static void add_address(conform_text *t, const plan *p)
{
    if (p->space == SPACE_GLOBAL)
        conform_add(t, "    mov.u64 %%own, %%mem;\n");
    else if (p->space == SPACE_LOCAL)
        conform_add(t, "    mov.u64 %%own, conform_local;\n");
    else
        conform_add(t, "    mov.u64 %%own, conform_%s;\n    mul.wide.u32 %%x, %%t, %d;\n    add.u64 %%own, %%own, %%x;\n", space_word(p->space), MEMORY);
    if (p->space != SPACE_GLOBAL && p->space != SPACE_CONST)
        add_copies(t, p, false);
    conform_add(t, "    mov.u64 %%at, %%own;\n");
    if (p->meet) {                       /* even warps: to the first lane's */
        conform_add(t, "    and.b32 %%w, %%i, 32;\n    setp.eq.u32 %%even, %%w, 0;\n    mov.u32 %%w, %%laneid;\n");
        conform_add(t, "    mul.wide.u32 %%x, %%w, %d;\n    @%%even sub.u64 %%at, %%at, %%x;\n", p->space == SPACE_GLOBAL ? RESULT_SLOT : MEMORY);
        conform_add(t, "    bar.warp.sync -1;\n");
    }
    if (p->generic)
        conform_add(t, "    cvta.%s.u64 %%at, %%at;\n", space_word(p->space));
}

static void add_registers(conform_text *t, const char *prefix, const plan *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        conform_add(t, "%s%%%s%u", k ? ", " : p->count > 1 ? "{" : "", prefix, k);
    conform_add(t, p->count > 1 ? "}" : "");
}

static void add_operands(conform_text *t, const conform_case *c, const plan *p)
{
    uint32_t sources = 0, written = 0;
    for (uint32_t i = 0; i < c->form->noperands; i++) {
        const isa_operand *o = &c->form->operands[i];
        if (!isa_operand_written(c->form, &c->tuple, i) || (o->when_group >= 0 && !c->tuple.choice[o->when_group]))
            continue;
        conform_add(t, "%s", written++ ? ", " : " ");
        if (o->kind == ISA_OPERAND_ADDRESS) conform_add(t, "[%%at]");
        else if (o->when_group >= 0) conform_add(t, "%%policy");
        else if (o->kind == ISA_OPERAND_DST || o->kind == ISA_OPERAND_DST_VECTOR) add_registers(t, "d", p);
        else add_registers(t, sources++ ? "c" : "b", p);
    }
    conform_add(t, ";\n");
}

/* Registers to and from 8 bytes each; those of 128 bits take two. */
static void add_transfer(conform_text *t, const plan *p, const char *prefix, const char *base, uint32_t from, bool load)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const uint32_t at = from + k * (p->wide == 128 ? 16 : 8);
        if (load) conform_add(t, "    ld.global.b%u %%%s%u, [%%%s+%u];\n", p->wide, prefix, k, base, at);
        else conform_add(t, "    st.global.b%u [%%%s+%u], %%%s%u;\n", p->wide, base, at, prefix, k);
    }
}

void conform_add_memory(conform_text *t, const conform_case *c)
{
    const plan p = plan_of(c);
    static const char letters[] = "bcd";
    conform_add(t, "    .reg .b32 %%i, %%w, %%t, %%n;\n    .reg .b64 %%in, %%out, %%mem, %%own, %%at, %%x, %%policy;\n    .reg .pred %%skip, %%even;\n");
    for (const char *l = letters; *l; l++)
        conform_add(t, "    .reg .b%u %%%c<%u>;\n", p.wide, *l, p.count);
    if (p.space == SPACE_LOCAL)
        conform_add(t, "    .local .align 16 .b8 conform_local[%d];\n", MEMORY);
    conform_add(t, "    mov.u32 %%i, %%ctaid.x;\n    mov.u32 %%w, %%ntid.x;\n    mov.u32 %%t, %%tid.x;\n    mad.lo.u32 %%i, %%i, %%w, %%t;\n");
    conform_add(t, "    ld.param.u32 %%n, [threads];\n    setp.ge.u32 %%skip, %%i, %%n;\n    @%%skip ret;\n");
    conform_add(t, "    ld.param.u64 %%in, [sources];\n    mul.wide.u32 %%x, %%i, %d;\n    add.u64 %%in, %%in, %%x;\n", SOURCE_SLOT);
    conform_add(t, "    ld.param.u64 %%out, [results];\n    mul.wide.u32 %%x, %%i, %d;\n    add.u64 %%out, %%out, %%x;\n    add.u64 %%mem, %%out, %d;\n",
                RESULT_SLOT, REGISTERS);
    add_address(t, &p);
    if (!p.loads)
        add_transfer(t, &p, "b", "in", 0, true);
    if (!strcmp(p.op, "cas"))
        add_transfer(t, &p, "c", "in", 32, true);
    if (strstr(c->name, "cache_hint"))
        conform_add(t, "    createpolicy.fractional.L2::evict_last.b64 %%policy;\n");
    conform_add(t, "    %s", c->form->mnemonic);
    for (uint32_t g = 0; g < c->form->ngroups; g++)
        if (c->tuple.choice[g])
            conform_add(t, ".%s", c->form->groups[g].choices[c->tuple.choice[g] - 1]);
    add_operands(t, c, &p);
    if (p.meet)
        conform_add(t, "    bar.warp.sync -1;\n");
    if (p.reads)
        add_transfer(t, &p, "d", "out", 0, false);
    if (p.space == SPACE_SHARED || p.space == SPACE_LOCAL)
        add_copies(t, &p, true);
}

/* ------------------------------------------------------------ running */

typedef struct access {
    conform_runner *r;
    const conform_case *c;
    plan p;
    conform_random random;
    uint8_t *expected;           /* as results */
} access;

static void put(uint8_t *to, uint64_t value, uint32_t bits) { memcpy(to, &value, bits / 8 > 8 ? 8 : bits / 8); }
static uint64_t get(const uint8_t *from, uint32_t bits)
{
    uint64_t v = 0;
    memcpy(&v, from, bits / 8 > 8 ? 8 : bits / 8);
    return v;
}

static bool meets(const access *a, uint32_t thread) { return a->p.meet && !(thread & 32); }

static void fill_thread(access *a, uint32_t thread)
{
    uint8_t *in = (uint8_t *)a->r->sources + thread * SOURCE_SLOT, *out = (uint8_t *)a->r->results + thread * RESULT_SLOT;
    const conform_shape s = conform_shape_of(a->p.type);
    for (int k = 0; k < SOURCE_SLOT; k += 8)
        put(in + k, conform_next(&a->random), 64);
    memset(out, NOISE, RESULT_SLOT);
    for (int k = 0; k < MEMORY; k += 8)
        put(out + REGISTERS + k, conform_next(&a->random), 64);
    for (uint32_t k = 0; k < a->p.count && a->p.bits <= 64; k++) {
        put(out + REGISTERS + k * a->p.bits / 8, conform_value(&s, &a->random), a->p.bits);
        if (a->p.atomic)
            put(in + 8 * k, conform_value(&s, &a->random), 64);
    }
    if (!strcmp(a->p.op, "cas") && conform_below(&a->random, 2))        /* otherwise it would hardly ever store */
        put(in, get(out + REGISTERS, a->p.bits), a->p.bits);
    /* Counters commute when they have one limit. */
    if (meets(a, thread) && (!strcmp(a->p.op, "inc") || !strcmp(a->p.op, "dec")))
        memcpy(in, in - (thread & 31) * SOURCE_SLOT, 8);
}

static uint64_t extended(const plan *p, uint64_t v)
{
    if (ptx_type_class(p->type) == 's' && p->wide > p->bits && v >> (p->bits - 1) & 1)
        v |= ~0ull << p->bits;
    return p->wide == 64 ? v : v & ((1ull << p->wide) - 1);
}

static void expect_thread(access *a, uint32_t thread)
{
    const plan *p = &a->p;
    const uint8_t *in = (const uint8_t *)a->r->sources + thread * SOURCE_SLOT;
    uint8_t *out = a->expected + thread * RESULT_SLOT, *memory = out + REGISTERS - (meets(a, thread) ? (thread & 31) * RESULT_SLOT : 0);
    for (uint32_t k = 0; k < p->count; k++) {
        uint8_t *element = memory + k * p->bits / 8;
        if (p->bits == 128) {
            memcpy(p->loads ? out : element, p->loads ? element : in, 16);
            continue;
        }
        const uint64_t old = get(element, p->bits), b = get(in + 8 * k, p->bits), c = get(in + 32 + 8 * k, p->bits);
        uint64_t value = b;
        if (p->reads)
            put(out + 8 * k, extended(p, old), p->wide);
        if (p->atomic && !ref_atomic(p->op, ptx_type_name(p->type), p->space == SPACE_SHARED, old, b, c, &value))
            value = 0;
        if (!p->loads)
            put(element, value, p->bits);
    }
}

static void compare_thread(const access *a, uint32_t thread, conform_result *out)
{
    const uint8_t *got = (const uint8_t *)a->r->results + thread * RESULT_SLOT, *want = a->expected + thread * RESULT_SLOT;
    /* Which of the lanes that meet sees which old value is open. */
    const uint32_t from = meets(a, thread) ? REGISTERS : 0;
    uint32_t at = from;
    while (at < RESULT_SLOT && got[at] == want[at])
        at++;
    if (at < RESULT_SLOT && out->differing++ == 0)
        snprintf(out->message, sizeof out->message, "byte %u of thread %u's %s is 0x%02x, not 0x%02x; operand 0x%" PRIx64, at % REGISTERS, thread,
                 at < REGISTERS ? "registers" : "memory", got[at], want[at], a->r->sources[thread * SOURCE_SLOT / 8]);
}

static pxb_status run_launch(access *a, pxb_address constants, pxb_kernel *kernel, conform_result *out)
{
    for (uint32_t i = 0; i < THREADS; i++)
        fill_thread(a, i);
    pxb_status status = PXB_OK;
    uint8_t *results = (uint8_t *)a->r->results;
    for (uint32_t i = 0; !status && i < THREADS && constants; i++) {    /* blocks see the same constants */
        const uint32_t slot = i % CONFORM_BLOCK;
        memcpy(results + i * RESULT_SLOT + REGISTERS, results + slot * RESULT_SLOT + REGISTERS, MEMORY);
        status = pxb_memory_write(a->r->device, constants + slot * MEMORY, results + slot * RESULT_SLOT + REGISTERS, MEMORY);
    }
    memcpy(a->expected, results, (size_t)THREADS * RESULT_SLOT);
    for (uint32_t i = 0; i < THREADS; i++)
        expect_thread(a, i);
    if (!status)
        status = conform_launch_bytes(a->r, kernel, (size_t)THREADS * SOURCE_SLOT, (size_t)THREADS * RESULT_SLOT, true, THREADS, false, PXB_MMA_ADA);
    for (uint32_t i = 0; !status && i < THREADS; i++)
        compare_thread(a, i, out);
    return status;
}

pxb_status conform_run_memory(conform_runner *r, pxb_module *module, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    const uint64_t wanted = r->options->exhaustive ? 1 << 16 : r->options->random / 8;
    access a = {.r = r, .c = c, .p = plan_of(c), .random = {r->options->seed}, .expected = malloc((size_t)THREADS * RESULT_SLOT)};
    pxb_address constants = 0;
    for (const char *p = c->name; *p; p++)
        a.random.state = a.random.state * 31 + (uint8_t)*p;
    pxb_status status = a.expected ? PXB_OK : rt_no_memory(r->ctx);
    if (!status && a.p.space == SPACE_CONST)
        status = pxb_global_get(r->device, module, "conform_const", &constants, NULL);
    do {
        if (!status)
            status = run_launch(&a, constants, kernel, out);
        out->inputs += THREADS;
    } while (!status && out->inputs < wanted);
    free(a.expected);
    return status;
}
