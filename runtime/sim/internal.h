/* internal.h - the machine state, the decoded instruction, and what instruction families call.
 *
 * An instruction is decoded from the text that LLVM's disassembler gives (decode.c): the mnemonic
 * without its encoding suffix (_e32, _e64, _dpp, _e64_dpp, _sdwa) selects a row of a family's table, the
 * row's types say how constants are read, modifiers become fields. Executing is
 * one indirect call. A family is one or more files with a table sim_<family>_ops.
 */
#ifndef SIM_INTERNAL_H
#define SIM_INTERNAL_H

#include <setjmp.h>
#include <string.h>
#include "runtime/sim/sim.h"

#ifdef __cplusplus                       /* the tests */
#define SIM_NORETURN [[noreturn]]
#else
#define SIM_NORETURN _Noreturn
#endif

enum { SIM_LANES = 64, SIM_VGPRS = 512, SIM_SGPRS = 136 };

/* Scalar registers by our own numbers: s0…s105 as they are, then these. Pairs are adjacent. */
enum { SIM_VCC = 106, SIM_TTMP = 108, SIM_M0 = 124, SIM_NULL = 125, SIM_EXEC = 126, SIM_FLAT_SCRATCH = 128, SIM_XNACK = 130 };

typedef enum sim_generation { SIM_GFX9 = 9, SIM_GFX10, SIM_GFX11, SIM_GFX12 } sim_generation;

typedef struct sim_target_info {
    const char *name;
    sim_generation generation;
    uint32_t wave;                       /* lanes of a wave in code that we load: 32 or 64 */
    bool packed_thread_id;               /* v0 holds x | y << 10 | z << 20 */
    bool architected_scratch;            /* hardware sets up FLAT_SCRATCH */
    bool block_id_in_ttmp;               /* gfx12: ttmp9, ttmp7 */
    bool fnuz;                           /* gfx942: fp8 without minus zero and infinities */
    uint32_t lds_bytes;
} sim_target_info;

/* ------------------------------------------------------------ decoded instructions */

/* How an operand's constant is read, and its width. PK: two 16-bit halves. A row whose types[0] is T_NONE has
 * no operands to parse: its text is left alone, and the handler reads sim_insn.encoding. */
typedef enum sim_type {
    T_NONE, T_B8, T_B16, T_F16, T_BF16, T_B32, T_F32, T_B64, T_F64, T_PK_F16, T_PK_B16, T_PK_BF16, T_PK_F32, T_PK_B32,
    T_I64,                               /* as T_B64, but a 32-bit literal is sign-extended */
    T_MASK,                              /* a lane mask: one SGPR in wave32, two in wave64 */
    T_WIDE                               /* as many registers as the text says */
} sim_type;

typedef enum __attribute__((packed)) sim_operand_kind {
    SIM_OP_NONE, SIM_OP_VGPR, SIM_OP_AGPR, SIM_OP_SGPR, SIM_OP_CONST,
    SIM_OP_SCC, SIM_OP_VCCZ, SIM_OP_EXECZ,
    SIM_OP_OFF,                          /* `off`: no scalar address */
    SIM_OP_WORD                          /* a name or number that is no data: a label, hwreg(…), sendmsg(…) */
} sim_operand_kind;

/* How the vector ALU reads 32 or 64 bits of an operand when no modifier, DPP or SDWA is in the way (parse.c sets it). */
typedef enum __attribute__((packed)) sim_direct { SIM_DIRECT_NOT, SIM_DIRECT_ROW, SIM_DIRECT_SGPR, SIM_DIRECT_CONST } sim_direct;

typedef struct sim_operand {
    uint16_t index;                      /* first register; an AGPR's index counts from 0 */
    uint8_t count;                       /* registers */
    sim_operand_kind kind;
    sim_direct direct;
    uint8_t half;                        /* 1: v1.l, 2: v1.h, 0: neither written */
    bool neg : 1, abs : 1, sext : 1;
    union {
        uint64_t value;                  /* SIM_OP_CONST: bits in the operand's type */
        const char *word;                /* SIM_OP_WORD: its text */
    };
} sim_operand;

/* Data parallel primitives: where a lane's first source comes from. */
typedef struct sim_dpp {
    enum __attribute__((packed)) { DPP_NONE, DPP_QUAD_PERM, DPP_ROW_SHL, DPP_ROW_SHR, DPP_ROW_ROR, DPP_ROW_MIRROR, DPP_ROW_HALF_MIRROR, DPP_ROW_SHARE,
           DPP_ROW_XMASK, DPP_ROW_NEWBCAST, DPP_ROW_BCAST, DPP_WAVE_SHL, DPP_WAVE_ROL, DPP_WAVE_SHR, DPP_WAVE_ROR, DPP_8 } kind;
    uint8_t select[8];                   /* quad_perm: 4, dpp8: 8 */
    uint8_t amount, row_mask, bank_mask;
    bool bound_ctrl, fi;
} sim_dpp;

/* Sub-dword addressing of gfx9. */
typedef enum __attribute__((packed)) sim_sdwa_select { SDWA_DWORD, SDWA_BYTE_0, SDWA_BYTE_1, SDWA_BYTE_2, SDWA_BYTE_3, SDWA_WORD_0, SDWA_WORD_1 } sim_sdwa_select;
typedef struct sim_sdwa {
    bool used;
    sim_sdwa_select dst, src[2];
    enum __attribute__((packed)) { SDWA_PAD, SDWA_SEXT, SDWA_PRESERVE } unused;
} sim_sdwa;

typedef struct sim_wave sim_wave;
typedef struct sim_insn sim_insn;
typedef void (*sim_handler)(sim_wave *w, const sim_insn *i);

enum { SIM_MAX_OPERANDS = 8 };

/* A row of a family's table. */
typedef struct sim_op {
    const char *name;                    /* without encoding suffix */
    sim_handler run;
    sim_class group;
    uint8_t types[SIM_MAX_OPERANDS];     /* sim_type of each operand in the text's order */
    uint32_t aux;                        /* the family's own */
    uint8_t first, last;                 /* generations in which the name means this; 0 0: all */
} sim_op;

/* A large kernel has 100,000 of these, and a wave passes most of them once: what few instructions need lies before what all do, which
 * begins on a cache line, and memory for operands that are not there is not taken (decode.c). */
struct sim_insn {
    const sim_insn *second;              /* the other half of v_dual_…; run is then control.c's sim_run_dual */
    uint64_t pc;                         /* offset in the text section */
    char *note;                          /* why it cannot be executed, NULL when it can */
    const char *text;                    /* as LLVM printed it */
    sim_dpp dpp;
    sim_sdwa sdwa;
    bool gds, lds, tfe, offen, idxen;
    uint8_t cbsz, abid, blgp;            /* MFMA; neg: of a 64-bit one is neg_lo */
    uint8_t index_key, byte_sel, bitop3;

    sim_handler run __attribute__((aligned(64)));
    const sim_op *op;
    uint64_t encoding;                   /* the first two dwords; bits 15:0 are SIMM16 of SOPK and SOPP */
    int32_t offset, offset1;             /* offset: or offset0:, offset1: */
    uint8_t group;                       /* sim_class */
    uint8_t words;                       /* size in dwords */
    uint8_t noperands;
    bool moves;                          /* has DPP or SDWA */
    bool clamp;
    uint8_t omod;                        /* 1: mul:2, 2: mul:4, 3: div:2 */
    uint8_t op_sel, op_sel_hi, neg_lo, neg_hi;   /* bit k: source k; op_sel's bit after the last source: the result's half */
    bool has_op_sel, has_op_sel_hi;
    bool has_offset;
    bool returns;                        /* atomics: glc, sc0 or th:TH_ATOMIC_RETURN: the old value is wanted */
    sim_operand operands[SIM_MAX_OPERANDS];      /* as many as the row has types, and as the text has; no more */
};

/* ------------------------------------------------------------ a wave and its block */

typedef struct sim_block {
    const struct sim_kernel *kernel;
    const struct sim_launch *launch;
    uint32_t id[3];
    uint32_t nwaves;
    sim_wave *waves;
    uint8_t *lds;
    uint32_t lds_bytes;                  /* static and dynamic */
    uint32_t phase;                      /* barriers completed so far */
} sim_block;

typedef enum sim_wave_state { WAVE_READY, WAVE_BARRIER, WAVE_ENDED } sim_wave_state;

struct sim_wave {
    uint32_t vgpr[SIM_VGPRS][SIM_LANES]; /* AGPR k is row 256 + k */
    uint32_t sgpr[SIM_SGPRS];            /* VCC, M0, EXEC and TTMP among them */
    bool scc;
    uint32_t mode;                       /* MODE: round 3:0, denormals 7:4, DX10_CLAMP 8, IEEE 9 */
    uint32_t lanes;                      /* 32 or 64 */
    struct sim_code *code;               /* of the kernel's code object */
    uint32_t at;                         /* dword of the text where the next instruction begins: branches set it */
    sim_wave_state state;
    int64_t turn, budget;                /* instructions of its turn, and what is left of it: sim_end_turn */
    bool signalled;                      /* arrived at the barrier that completes phase block->phase */
    uint32_t phase;                      /* of the block when it arrived last */
    uint32_t index;                      /* in its block */
    uint64_t active;                     /* lanes that hold a thread of the block */
    uint8_t *scratch;                    /* scratch_bytes for each lane, lane after lane */
    uint32_t scratch_bytes;
    sim_block *block;
    const sim_target_info *target;
    struct sim_device *device;
    uint64_t range_base, range_bytes;    /* the allocation that was met last */
    uint64_t executed;                   /* instructions in turns that are over: s_memtime */
    sim_counts counts;
    const sim_insn *insn;                /* being executed, for errors */
    jmp_buf *fault;
    sim_error *error;
} __attribute__((aligned(64)));          /* rows of registers on cache lines */

/* After this instruction another wave has its turn; what is left of this one's was not executed. */
static inline void sim_end_turn(sim_wave *w)
{
    w->turn -= w->budget - 1;
    w->budget = 1;
}

/* ------------------------------------------------------------ scalars */

static inline uint64_t sim_pair(const sim_wave *w, uint32_t index)
{
    return w->sgpr[index] | (uint64_t)w->sgpr[index + 1] << 32;
}

static inline void sim_set_pair(sim_wave *w, uint32_t index, uint64_t value)
{
    w->sgpr[index] = (uint32_t)value;
    w->sgpr[index + 1] = (uint32_t)(value >> 32);
}

/* EXEC: in wave32 the upper half is 0. */
static inline uint64_t sim_exec(const sim_wave *w) { return w->lanes == 64 ? sim_pair(w, SIM_EXEC) : w->sgpr[SIM_EXEC]; }

/* A lane mask that an SGPR operand names, and the write of one. */
static inline uint64_t sim_read_mask(const sim_wave *w, const sim_operand *o)
{
    if (o->kind == SIM_OP_CONST) return o->value;
    return w->lanes == 64 ? sim_pair(w, o->index) : w->sgpr[o->index];
}

static inline void sim_write_mask(sim_wave *w, const sim_operand *o, uint64_t mask)
{
    if (o->index == SIM_NULL) return;
    w->sgpr[o->index] = (uint32_t)mask;
    if (w->lanes == 64) w->sgpr[o->index + 1] = (uint32_t)(mask >> 32);
}

/* Scalar operands of the SALU, SMEM and address fields (salu.c). */
uint32_t sim_read_s32(const sim_wave *w, const sim_operand *o);
uint64_t sim_read_s64(const sim_wave *w, const sim_operand *o);
void sim_write_s32(sim_wave *w, const sim_operand *o, uint32_t value);
void sim_write_s64(sim_wave *w, const sim_operand *o, uint64_t value);

/* ------------------------------------------------------------ vectors */

/* Row of a vector register operand, `k` registers after its first. */
static inline uint32_t *sim_row(sim_wave *w, const sim_operand *o, uint32_t k)
{
    return w->vgpr[o->index + k + (o->kind == SIM_OP_AGPR ? 256 : 0)];
}

/* ------------------------------------------------------------ memory (memory.c) */

/* Generic (flat) addresses: LDS and scratch are apertures of 4 GiB above every host address. */
#define SIM_SHARED_BASE ((uint64_t)1 << 48)
#define SIM_PRIVATE_BASE ((uint64_t)1 << 49)

/* Host pointer of [address, address + bytes) in global memory, or a fault. */
void *sim_global(sim_wave *w, uint32_t lane, uint64_t address, uint32_t bytes);
/* The same in LDS, in the lane's scratch, and for a flat address of any of the three. */
void *sim_lds(sim_wave *w, uint32_t lane, uint32_t address, uint32_t bytes);
void *sim_scratch(sim_wave *w, uint32_t lane, uint32_t address, uint32_t bytes);
void *sim_flat(sim_wave *w, uint32_t lane, uint64_t address, uint32_t bytes);

/* ------------------------------------------------------------ errors */

/* Ends the launch with an error at the current instruction; `lane` -1: of no lane in particular. */
SIM_NORETURN void sim_fault(sim_wave *w, sim_status status, int32_t lane, const char *format, ...) __attribute__((format(printf, 4, 5)));
SIM_NORETURN void sim_fault_address(sim_wave *w, sim_status status, int32_t lane, uint64_t address, const char *what);

/* ------------------------------------------------------------ decoding (decode.c) */

/* The text of a code object, decoded instruction by instruction when it is first executed. */
typedef struct sim_code sim_code;

uint64_t sim_text_base(const sim_wave *w);       /* device address of the text that the wave runs */
uint32_t sim_text_words(const sim_wave *w);
const sim_op *sim_find_op(const char *name, sim_generation generation);
/* The instruction at a dword of the text; never NULL: what cannot be decoded becomes an instruction that faults. */
const sim_insn *sim_code_at(sim_code *code, uint32_t at);
/* Fills operands, modifiers and op from LLVM's text, and in `second` those of the other half of a dual-issue instruction, which insn->second
 * then is. False: insn->note says why. */
bool sim_parse(sim_insn *insn, sim_insn *second, const char *text, sim_generation generation, char *(*keep)(void *, const char *, size_t), void *keeper);
void sim_run_dual(sim_wave *w, const sim_insn *i);
void sim_run_dual_overlap(sim_wave *w, const sim_insn *i);

/* ------------------------------------------------------------ one wave by hand, for tests (snippet.c) */

/* A wave of one block with all lanes active, every register 0; freed by sim_wave_free. */
sim_wave *sim_wave_new(sim_device *device, uint32_t lds_bytes, uint32_t scratch_bytes);
void sim_wave_free(sim_wave *wave);
/* Runs the wave from a symbol of the module, or from the start of its text when there is none of that name, to s_endpgm. */
sim_status sim_run_snippet(sim_module *module, const char *symbol, sim_wave *wave, sim_error *error);

/* ------------------------------------------------------------ families: tables ended by a row without a name */

extern const sim_op sim_salu_ops[];      /* salu.c: SOP2 SOPC SOPK */
extern const sim_op sim_salu_unary_ops[]; /* salu_unary.c: SOP1 */
extern const sim_op sim_scalar_float_ops[]; /* scalar_float.c: gfx11.5 and gfx12 */
extern const sim_op sim_smem_ops[];
extern const sim_op sim_control_ops[];
extern const sim_op sim_ds_ops[];        /* ds.c */
extern const sim_op sim_vmem_ops[];      /* vmem.c: flat, global, scratch */
extern const sim_op sim_buffer_ops[];    /* buffer.c */
extern const sim_op sim_matrix_ops[];    /* matrix*.c: WMMA, SWMMAC, MFMA */
/* valu*.c, compiled for each level of host instructions: the tables, NULL behind them. */
extern const sim_op *const sim_valu_tables_base[];
extern const sim_op *const sim_valu_tables_v3[];         /* AVX2, FMA, BMI2; only where SIM_HAS_V3 is defined */

#endif
