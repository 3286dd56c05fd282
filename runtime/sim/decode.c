/* decode.c - machine code to decoded instructions, one at a time, when first executed.
 *
 * LLVM's disassembler gives the text of an instruction; parse.c reads it. There is no instruction format
 * in this folder: encodings differ between gfx9, gfx11 and gfx12, names and operands hardly do. Decoding late costs
 * nothing for text that is never reached, and lets a kernel hold instructions that nobody knows.
 */
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
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

static void op_prepare(void)
{
    const sim_op *const tables[] = {sim_salu_ops, sim_salu_unary_ops, sim_scalar_float_ops, sim_smem_ops, sim_control_ops, sim_valu_ops,
                                    sim_valu_compare_ops, sim_valu_packed_ops, sim_valu_lane_ops, sim_valu_scale_ops, sim_ds_ops, sim_vmem_ops, sim_buffer_ops,
                                    sim_matrix_ops};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        for (const sim_op *op = tables[k]; op->name; op++)
            op_add(op);
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
    _Alignas(16) uint8_t bytes[];
} sim_chunk;

static void *code_take(sim_code *code, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (!code->chunks || code->chunks->room - code->chunks->used < bytes) {
        size_t room = 256 << 10;
        sim_chunk *chunk = malloc(sizeof *chunk + room);
        if (!chunk) return NULL;
        *chunk = (sim_chunk){.next = code->chunks, .room = room};
        code->chunks = chunk;
    }
    void *at = code->chunks->bytes + code->chunks->used;
    code->chunks->used += bytes;
    return memset(at, 0, bytes);
}

static char *code_keep(void *code, const char *text, size_t length)
{
    char *copy = code_take(code, length + 1);
    if (copy) memcpy(copy, text, length);
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
    for (sim_chunk *c = code->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
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

    sim_insn *insn = code_take(code, sizeof *insn);
    if (!insn) return &no_memory;
    char text[512];
    size_t size = LLVMDisasmInstruction(code->disassembler, bytes, given, 0, text, sizeof text);
    insn->pc = (uint64_t)at * 4;
    memcpy(&insn->encoding, bytes, 8);
    insn->words = 1;
    insn->group = SIM_CLASS_OTHER;
    insn->run = run_unknown;
    if (!size || size % 4 || size > given) {
        snprintf(text, sizeof text, ".long 0x%08x", (uint32_t)insn->encoding);
        insn->note = "no instruction of this processor";
    } else {
        insn->words = (uint32_t)(size / 4);
    }
    size_t skip = strspn(text, " \t");
    insn->text = code_keep(code, text + skip, strlen(text + skip));
    if (!insn->text) return &no_memory;
    if (!insn->note && sim_parse(insn, insn->text, code->target->generation, code_keep, code)) return insn;
    insn->run = run_unknown;
    if (!insn->note) insn->note = "no memory to decode an instruction";
    return insn;
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
