/* decode.c - machine code to decoded instructions, one at a time, when first executed.
 *
 * LLVM's disassembler gives the text of an instruction; parse.c reads it. There is no instruction format
 * in this folder: encodings differ between gfx9, gfx11 and gfx12, names and operands hardly do. Decoding late costs
 * nothing for text that is never reached, and lets a kernel hold instructions that nobody knows.
 */
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/sim/state.h"

/* ------------------------------------------------------------ rows by name */

enum { OP_BUCKETS = 4096 };

typedef struct op_entry {
    const sim_op *op;
    struct op_entry *next;
} op_entry;

static op_entry *op_table[OP_BUCKETS];
static pthread_once_t op_once = PTHREAD_ONCE_INIT;

static uint32_t op_hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 16777619u;
    return (h ^ h >> 15) % OP_BUCKETS;
}

/* Rows stay in the order of their tables, so that the first match of a generation wins. */
static void op_add(const sim_op *op)
{
    op_entry *entry = malloc(sizeof *entry), **at = &op_table[op_hash(op->name)];
    if (!entry) return;                  /* the instruction is then unknown, and says so when met */
    while (*at)
        at = &(*at)->next;
    *entry = (op_entry){op, NULL};
    *at = entry;
}

static void op_add_tables(const sim_op *const *tables)
{
    for (; *tables; tables++)
        for (const sim_op *op = *tables; op->name; op++)
            op_add(op);
}

/* The best level that this processor has; PTXBRIDGE_CPU_LEVEL may ask for a lower one, as for the CPU device. */
static const sim_op *const *valu_tables(void)
{
#ifdef SIM_HAS_V3
    const char *level = getenv("PTXBRIDGE_CPU_LEVEL");
    const bool lower = level && (!strcmp(level, "v2") || !strcmp(level, "generic"));
    if (!lower && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return sim_valu_tables_v3;
#endif
    return sim_valu_tables_base;
}

static void op_prepare(void)
{
    const sim_op *const tables[] = {sim_salu_ops, sim_salu_unary_ops, sim_scalar_float_ops, sim_smem_ops, sim_control_ops,
                                    sim_ds_ops, sim_vmem_ops, sim_buffer_ops, sim_matrix_ops, NULL};
    op_add_tables(tables);
    op_add_tables(valu_tables());
}

const sim_op *sim_find_op(const char *name, sim_generation generation)
{
    pthread_once(&op_once, op_prepare);
    for (const op_entry *e = op_table[op_hash(name)]; e; e = e->next)
        if (!strcmp(e->op->name, name) && (!e->op->last || (generation >= e->op->first && generation <= e->op->last)))
            return e->op;
    return NULL;
}

/* ------------------------------------------------------------ memory of decoded code */

typedef struct sim_chunk {
    struct sim_chunk *next;
    size_t used, room;
    _Alignas(sim_insn) uint8_t bytes[];
} sim_chunk;

enum { CHUNK = 256 << 10 };

static void *take(sim_chunk **chunks, size_t bytes, size_t align)
{
    bytes = (bytes + align - 1) & ~(align - 1);
    if (!*chunks || (*chunks)->room - (*chunks)->used < bytes) {
        sim_chunk *chunk = aligned_alloc(_Alignof(sim_chunk), CHUNK);
        if (!chunk) return NULL;
        *chunk = (sim_chunk){.next = *chunks, .room = CHUNK - sizeof *chunk};
        *chunks = chunk;
    }
    void *at = (*chunks)->bytes + (*chunks)->used;
    (*chunks)->used += bytes;
    return at;
}

static void free_chunks(sim_chunk *chunks)
{
    for (sim_chunk *c = chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
}

static char *code_keep(void *user, const char *text, size_t length)
{
    sim_code *code = user;
    char *copy = take(&code->strings, length + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

/* Operands that the row has types for are there, if only as SIM_OP_NONE: handlers may look at them. */
static sim_insn *keep_insn(sim_code *code, const sim_insn *insn)
{
    uint32_t n = 0;
    while (insn->op && n < SIM_MAX_OPERANDS && insn->op->types[n])
        n++;
    if (n < insn->noperands) n = insn->noperands;
    const size_t bytes = offsetof(sim_insn, operands) + n * sizeof *insn->operands;
    sim_insn *copy = take(&code->insns, bytes, _Alignof(sim_insn));
    if (copy) memcpy((void *)copy, insn, bytes);
    return copy;
}

/* ------------------------------------------------------------ opening */

static pthread_once_t llvm_once = PTHREAD_ONCE_INIT;

static void llvm_prepare(void)
{
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
}

bool sim_code_open(sim_code *code, const sim_target_info *target, uint32_t lanes, uint64_t base, uint64_t bytes)
{
    pthread_once(&llvm_once, llvm_prepare);
    *code = (sim_code){.nslots = (uint32_t)(bytes / 4), .base = base, .lanes = lanes, .target = target};
    const char *features = target->generation < SIM_GFX10 ? "" : lanes == 32 ? "+wavefrontsize32" : "+wavefrontsize64";
    code->disassembler =
        LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", target->name, features, NULL, 0, NULL, NULL);
    code->slots = calloc(code->nslots + 1, sizeof *code->slots);
    if (code->disassembler && code->slots && !pthread_mutex_init(&code->lock, NULL)) return true;
    if (code->disassembler) LLVMDisasmDispose(code->disassembler);
    free((void *)code->slots);
    return false;
}

void sim_code_close(sim_code *code)
{
    LLVMDisasmDispose(code->disassembler);
    free((void *)code->slots);
    free_chunks(code->insns);
    free_chunks(code->strings);
    pthread_mutex_destroy(&code->lock);
}

/* ------------------------------------------------------------ one instruction */

static void run_unknown(sim_wave *w, const sim_insn *i)
{
    sim_fault(w, SIM_UNSUPPORTED, -1, "%s", i->note);
}

static const sim_insn no_memory = {.run = run_unknown, .words = 1, .text = "", .note = "no memory to decode an instruction",
                                   .group = SIM_CLASS_OTHER};

/* The caller holds the lock. */
static const sim_insn *decode(sim_code *code, uint32_t at)
{
    uint8_t bytes[32] = {0};
    uint64_t left = (uint64_t)(code->nslots - at) * 4, given = left < sizeof bytes ? left : sizeof bytes;
    memcpy(bytes, (const void *)(uintptr_t)(code->base + (uint64_t)at * 4), given);

    char text[512];
    size_t size = LLVMDisasmInstruction(code->disassembler, bytes, given, 0, text, sizeof text);
    sim_insn insn = {.pc = (uint64_t)at * 4, .words = 1, .group = SIM_CLASS_OTHER}, second;
    memcpy(&insn.encoding, bytes, 8);
    if (!size || size % 4 || size > given) {
        snprintf(text, sizeof text, ".long 0x%08x", (uint32_t)insn.encoding);
        insn.note = "no instruction of this processor";
    } else {
        insn.words = (uint8_t)(size / 4);
    }
    size_t skip = strspn(text, " \t");
    insn.text = code_keep(code, text + skip, strlen(text + skip));
    if (!insn.text) return &no_memory;
    if (insn.note || !sim_parse(&insn, &second, insn.text, code->target->generation, code_keep, code)) {
        insn.run = run_unknown;
        if (!insn.note) return &no_memory;
    }
    if (insn.second && !(insn.second = keep_insn(code, &second))) return &no_memory;
    const sim_insn *kept = keep_insn(code, &insn);
    return kept ? kept : &no_memory;
}

const sim_insn *sim_code_at(sim_code *code, uint32_t at)
{
    const sim_insn *insn = __atomic_load_n(&code->slots[at], __ATOMIC_ACQUIRE);
    if (insn) return insn;
    pthread_mutex_lock(&code->lock);
    insn = __atomic_load_n(&code->slots[at], __ATOMIC_RELAXED);
    if (!insn) {
        insn = decode(code, at);
        __atomic_store_n(&code->slots[at], insn, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&code->lock);
    return insn;
}
