/* draft.h - a function while it is decoded: instructions over virtual values, before values have slots.
 *
 * A VALUE is a PTX register (a b128 register is two), a temporary of the decoder, a constant, or a special
 * register. Registers and temporaries get slots by liveness; constants and special registers keep
 * theirs while the function runs.
 */
#ifndef CPU_DRAFT_H
#define CPU_DRAFT_H

#include "runtime/cpu/memory.h"

enum { CPU_NO_VALUE = UINT32_MAX };

typedef enum cpu_role { CPU_R_RAW, CPU_R_USE, CPU_R_DEF, CPU_R_SINK, CPU_R_EXEC, CPU_R_MODEL } cpu_role;
typedef struct cpu_operand { uint32_t value; uint8_t role, class; } cpu_operand;   /* RAW: value is the word itself */

typedef enum cpu_value_kind { CPU_V_REGISTER, CPU_V_CONSTANT, CPU_V_SPECIAL } cpu_value_kind;
typedef struct cpu_value {
    uint64_t constant;             /* or the special register */
    uint32_t first, last;          /* positions (2 * draft for uses, + 1 for definitions); first > last: never used */
    uint32_t slot;                 /* offset in the register file */
    uint32_t next;                 /* in its hash chain */
    uint8_t kind, class;
    bool unwritten;                /* may be read before anything wrote it, or returned so */
} cpu_value;

typedef struct cpu_draft {
    union { cpu_handler handler; cpu_op op; } fn;
    const void *extra;
    uint32_t operands;             /* index of the first */
    uint32_t guard;                /* value or CPU_NO_VALUE */
    uint32_t target;               /* BRANCH: PTX instruction, later draft */
    uint32_t ptx;
    uint8_t kind, n, cost, member;
    bool guard_negated;
} cpu_draft;

/* Memory that is freed at once. */
typedef struct cpu_pool { struct cpu_pool_chunk *chunks; size_t left; char *at; } cpu_pool;
void *cpu_pool_take(cpu_pool *pool, size_t bytes);    /* zeroed; NULL when exhausted */
void cpu_pool_free(cpu_pool *pool);

typedef struct cpu_local_variable { const ptx_variable *variable; uint64_t offset; } cpu_local_variable;

typedef struct cpu_decoder {
    cpu_module *module;
    const ptx_function *function;
    const ptx_insn *insn;          /* being decoded */
    cpu_code *code;
    cpu_pool *pool;
    cpu_error *error;
    bool failed, plain;            /* plain: for traces */
    uint32_t ndrafts, draft_capacity;
    cpu_draft *drafts;
    uint32_t noperands, operand_capacity;
    cpu_operand *operands;
    uint32_t nvalues, value_capacity;
    cpu_value *values;
    uint32_t *registers;           /* first value of each PTX register */
    uint32_t *starts;              /* first draft of each PTX instruction */
    uint32_t hash[1024];           /* heads of constant chains */
    uint32_t specials[PTX_SR_COUNT][CPU_CLASSES];
    uint64_t local_bytes;
    uint32_t nlocals, local_capacity;
    cpu_local_variable *locals;    /* .param variables of the function */
} cpu_decoder;

/* decode.c */
void cpu_decode_fail(cpu_decoder *d, cpu_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
cpu_class cpu_class_of(ptx_type type);
cpu_draft *cpu_draft_add(cpu_decoder *d, cpu_kind kind);          /* guarded as the instruction is */
void cpu_operand_add(cpu_decoder *d, cpu_role role, uint32_t value, cpu_class class);
void cpu_operand_raw(cpu_decoder *d, uint32_t word);
uint32_t cpu_value_temporary(cpu_decoder *d, cpu_class class);
uint32_t cpu_value_constant(cpu_decoder *d, cpu_class class, uint64_t value);
/* The value that stands for a source, converted to `type`; may add drafts, so it comes before the instruction's own. */
uint32_t cpu_value_source(cpu_decoder *d, const ptx_value *v, ptx_type type, bool high);
cpu_class cpu_class_of_register(const cpu_decoder *d, uint32_t reg);
uint32_t cpu_value_register(const cpu_decoder *d, uint32_t reg, bool high);
void *cpu_decode_alloc(cpu_decoder *d, size_t bytes);
uint64_t cpu_local_offset(cpu_decoder *d, const ptx_variable *variable);
bool cpu_is_entry_param(const cpu_decoder *d, const ptx_variable *variable);
const char *cpu_choice(const cpu_decoder *d, const char *group);
void cpu_decode_move(cpu_decoder *d, uint32_t to, uint32_t from, cpu_class class);

/* decode_memory.c, decode_control.c: true when they know the operation. */
bool cpu_decode_memory(cpu_decoder *d, const char *operation);
bool cpu_decode_control(cpu_decoder *d, const char *operation);
bool cpu_decode_bulk(cpu_decoder *d, const char *operation);      /* decode_bulk.c */

/* decode_memory.c: what all decoders of memory operations need. The nth operand of a kind, NULL when there is none; the operand that
 * may be a vector or alone; the place of an address, with its register in *base for add_base; the class of registers; values of sources. */
const ptx_operand *cpu_operand_of(const cpu_decoder *d, isa_operand_kind kind, uint32_t nth);
const ptx_operand *cpu_values_operand(const cpu_decoder *d, bool destination);
cpu_place cpu_place_of(cpu_decoder *d, const ptx_operand *operand, const char *space, uint32_t *base);
void cpu_add_base(cpu_decoder *d, const cpu_place *p, uint32_t base);
cpu_class cpu_class_of_values(cpu_decoder *d, const ptx_operand *o, ptx_type type);
uint32_t cpu_make_sources(cpu_decoder *d, const ptx_operand *o, cpu_class class, bool wide, uint32_t out[16]);
ptx_type cpu_element_type(const cpu_decoder *d, const ptx_operand *o);
bool cpu_atomic_op_of(const char *name, cpu_atomic_op *out);

/* simplify.c: drops moves. */
bool cpu_simplify(cpu_decoder *d);
/* schedule.c: reorders mma. */
bool cpu_schedule(cpu_decoder *d);
/* liveness.c: fills first, last and unwritten of every value. slots.c: gives slots and builds the code. */
bool cpu_liveness(cpu_decoder *d);
bool cpu_build(cpu_decoder *d);

#endif
