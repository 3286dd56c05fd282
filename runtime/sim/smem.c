/* smem.c - scalar memory loads (RDNA3 ISA, 8 "Scalar Memory Operations"; RDNA4 ISA, 9; MI300 ISA, 8).
 *
 * Text: s_load_b32 s2, s[4:5], OFFSET, where OFFSET is a byte number, or a register with or without offset:.
 */
#include "runtime/sim/internal.h"

/* The offset's register is unsigned, its number signed. The address is cut to the access's alignment, as the hardware does. */
static uint64_t smem_address(const sim_wave *w, const sim_insn *i, uint32_t align)
{
    uint64_t base = sim_read_s64(w, &i->operands[1]);
    int64_t offset = i->has_offset ? i->offset : 0;
    if (i->noperands > 2) {
        const sim_operand *o = &i->operands[2];
        offset += o->kind == SIM_OP_CONST ? (int64_t)(int32_t)o->value : (int64_t)sim_read_s32(w, o);
    }
    return (base + (uint64_t)offset) & ~(uint64_t)(align - 1);
}

static void put_words(sim_wave *w, const sim_operand *o, const uint32_t *words, uint32_t n)
{
    if (o->kind != SIM_OP_SGPR || o->index == SIM_NULL) return;
    if (o->index + n > SIM_SGPRS) sim_fault(w, SIM_FAULT_ADDRESS, -1, "scalar register out of range");
    memcpy(&w->sgpr[o->index], words, n * sizeof *words);
}

/* op->aux: dwords. */
static void run_load(sim_wave *w, const sim_insn *i)
{
    uint32_t words[16], n = i->op->aux;
    memcpy(words, sim_global(w, 0, smem_address(w, i, 4), n * 4), n * 4);
    put_words(w, &i->operands[0], words, n);
}

static void run_load_u8(sim_wave *w, const sim_insn *i)
{
    uint8_t v;
    memcpy(&v, sim_global(w, 0, smem_address(w, i, 1), 1), 1);
    sim_write_s32(w, &i->operands[0], i->op->aux ? (uint32_t)(int32_t)(int8_t)v : v);
}

static void run_load_u16(sim_wave *w, const sim_insn *i)
{
    uint16_t v;
    memcpy(&v, sim_global(w, 0, smem_address(w, i, 2), 2), 2);
    sim_write_s32(w, &i->operands[0], i->op->aux ? (uint32_t)(int32_t)(int16_t)v : v);
}

/* Buffer descriptor: base in 47:0, stride in 61:48, records in the third dword (RDNA3 ISA, 9.1.4). Reads beyond give 0. */
static void run_buffer_load(sim_wave *w, const sim_insn *i)
{
    const sim_operand *r = &i->operands[1];
    uint32_t words[16] = {0}, n = i->op->aux, index = r->index;
    if (r->kind != SIM_OP_SGPR || r->count < 4) sim_fault(w, SIM_UNSUPPORTED, -1, "buffer descriptor is not four registers");
    uint64_t base = sim_pair(w, index) & 0xffffffffffff, records = w->sgpr[index + 2];
    uint32_t stride = w->sgpr[index + 1] >> 16 & 0x3fff;
    uint64_t offset = i->has_offset ? (uint32_t)i->offset : 0, limit = stride ? records * stride : records;
    if (i->noperands > 2) offset += sim_read_s32(w, &i->operands[2]);
    offset &= ~(uint64_t)3;
    for (uint32_t k = 0; k < n; k++, offset += 4)
        if (offset + 4 <= limit) memcpy(&words[k], sim_global(w, 0, base + offset, 4), 4);
    put_words(w, &i->operands[0], words, n);
}

#define LOAD(name, words) {name, run_load, SIM_CLASS_SMEM, {T_WIDE, T_B64, T_B32}, words, 0, 0}
#define BUFFER(name, words) {name, run_buffer_load, SIM_CLASS_SMEM, {T_WIDE, T_WIDE, T_B32}, words, 0, 0}

const sim_op sim_smem_ops[] = {
    LOAD("s_load_dword", 1), LOAD("s_load_dwordx2", 2), LOAD("s_load_dwordx4", 4), LOAD("s_load_dwordx8", 8),
    LOAD("s_load_dwordx16", 16),
    LOAD("s_load_b32", 1), LOAD("s_load_b64", 2), LOAD("s_load_b96", 3), LOAD("s_load_b128", 4), LOAD("s_load_b256", 8),
    LOAD("s_load_b512", 16),
    {"s_load_u8", run_load_u8, SIM_CLASS_SMEM, {T_B32, T_B64, T_B32}, 0, 0, 0},
    {"s_load_i8", run_load_u8, SIM_CLASS_SMEM, {T_B32, T_B64, T_B32}, 1, 0, 0},
    {"s_load_u16", run_load_u16, SIM_CLASS_SMEM, {T_B32, T_B64, T_B32}, 0, 0, 0},
    {"s_load_i16", run_load_u16, SIM_CLASS_SMEM, {T_B32, T_B64, T_B32}, 1, 0, 0},
    BUFFER("s_buffer_load_dword", 1), BUFFER("s_buffer_load_dwordx2", 2), BUFFER("s_buffer_load_dwordx4", 4),
    BUFFER("s_buffer_load_dwordx8", 8), BUFFER("s_buffer_load_dwordx16", 16),
    BUFFER("s_buffer_load_b32", 1), BUFFER("s_buffer_load_b64", 2), BUFFER("s_buffer_load_b96", 3),
    BUFFER("s_buffer_load_b128", 4), BUFFER("s_buffer_load_b256", 8), BUFFER("s_buffer_load_b512", 16),
    {0},
};
