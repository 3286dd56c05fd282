/* decode_memory.c - drafts of operations on memory and address spaces. */
#include <stdio.h>
#include <string.h>
#include "ptx/lib/matrix_layout.h"
#include "ptx/lib/mbarrier.h"
#include "runtime/cpu/draft.h"

const ptx_operand *cpu_operand_of(const cpu_decoder *d, isa_operand_kind kind, uint32_t nth)
{
    for (uint32_t k = 0; k < d->insn->noperands; k++)
        if (d->insn->operands[k].kind == kind && nth-- == 0)
            return &d->insn->operands[k];
    return NULL;
}

static bool starts_with(const char *text, const char *start)
{
    return text && strncmp(text, start, strlen(start)) == 0;
}

static cpu_window window_of_name(const cpu_decoder *d, const char *space)
{
    if (starts_with(space, "shared"))
        return CPU_W_SHARED;
    if (starts_with(space, "local"))
        return CPU_W_LOCAL;
    if (starts_with(space, "param"))
        return d->function->is_entry && strcmp(space, "param::func") != 0 ? CPU_W_PARAM : CPU_W_LOCAL;
    return CPU_W_GENERIC;
}

/* A named variable says by itself where it is. */
static cpu_place place_of_variable(cpu_decoder *d, const ptx_address *a)
{
    const ptx_variable *x = a->variable;
    cpu_place p = {CPU_W_GENERIC, CPU_BASE_NONE, a->offset};
    switch (x->space) {
    case PTX_SPACE_SHARED:
        p.window = CPU_W_SHARED;
        p.offset += (int64_t)x->offset;
        break;
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
        p.window = cpu_is_entry_param(d, x) ? CPU_W_PARAM : CPU_W_FRAME;
        p.offset += (int64_t)(p.window == CPU_W_PARAM ? x->offset : cpu_local_offset(d, x));
        break;
    default: {
        uint64_t address = cpu_address_of_variable(d->module, x);
        if (!address)
            cpu_decode_fail(d, CPU_NOT_FOUND, "variable %s is declared .extern and defined nowhere in this module", x->name);
        p.offset += (int64_t)address;
        break;
    }
    }
    return p;
}

/* The place of an address operand; *base receives the value of its register, if it has one. */
cpu_place cpu_place_of(cpu_decoder *d, const ptx_operand *operand, const char *space, uint32_t *base)
{
    const ptx_address *a = &operand->address;
    cpu_place p = {(uint8_t)window_of_name(d, space), CPU_BASE_NONE, a->offset};
    *base = CPU_NO_VALUE;
    switch (a->base) {
    case PTX_BASE_VARIABLE:
        return place_of_variable(d, a);
    case PTX_BASE_REG: {
        cpu_class class = cpu_class_of_register(d, a->reg);
        if (class != CPU_CLASS_64 && class != CPU_CLASS_32)
            cpu_decode_fail(d, CPU_BAD_INPUT, "an address register has 32 or 64 bits");
        p.base = class == CPU_CLASS_64 ? CPU_BASE_64 : CPU_BASE_32;
        *base = cpu_value_register(d, a->reg, false);
        break;
    }
    case PTX_BASE_FUNCTION:
        cpu_decode_fail(d, CPU_UNSUPPORTED, "memory of functions cannot be read or written");
        break;
    case PTX_BASE_NONE:
        break;
    }
    return p;
}

void cpu_add_base(cpu_decoder *d, const cpu_place *p, uint32_t base)
{
    if (base == CPU_NO_VALUE)
        cpu_operand_raw(d, 0);
    else
        cpu_operand_add(d, CPU_R_USE, base, p->base == CPU_BASE_64 ? CPU_CLASS_64 : CPU_CLASS_32);
}

/* Class of the registers of a memory operand: all the same; immediates follow them. */
cpu_class cpu_class_of_values(cpu_decoder *d, const ptx_operand *o, ptx_type type)
{
    cpu_class class = cpu_class_of(type);
    bool found = false;
    for (uint32_t k = 0; k < o->nvalues; k++) {
        if (o->values[k].kind != PTX_VALUE_REG)
            continue;
        cpu_class c = cpu_class_of_register(d, o->values[k].reg);
        if (c == CPU_CLASS_PRED || c < class || (found && c != class))
            cpu_decode_fail(d, CPU_BAD_INPUT, "registers of a memory operand have the wrong size");
        class = c;
        found = true;
    }
    return class;
}

static void add_destinations(cpu_decoder *d, const ptx_operand *o, cpu_class class, bool wide)
{
    for (uint32_t k = 0; k < o->nvalues; k++)
        for (uint32_t half = 0; half < 1u + wide; half++)
            if (o->values[k].kind == PTX_VALUE_REG)
                cpu_operand_add(d, CPU_R_DEF, cpu_value_register(d, o->values[k].reg, half), class);
            else
                cpu_operand_add(d, CPU_R_SINK, 0, class);
}

/* The type with which a source is read when its registers have `class`. */
static ptx_type bits_of_class(cpu_class class)
{
    static const ptx_type types[CPU_CLASSES] = {PTX_TYPE_B8, PTX_TYPE_B16, PTX_TYPE_B32, PTX_TYPE_B64, PTX_TYPE_PRED};
    return types[class];
}

/* Values of sources, made before the draft; returns their number. */
uint32_t cpu_make_sources(cpu_decoder *d, const ptx_operand *o, cpu_class class, bool wide, uint32_t out[16])
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < o->nvalues && n + 2 <= 16; k++)
        for (uint32_t half = 0; half < 1u + wide; half++)
            out[n++] = cpu_value_source(d, &o->values[k], wide ? PTX_TYPE_B64 : bits_of_class(class), half);
    return n;
}

ptx_type cpu_element_type(const cpu_decoder *d, const ptx_operand *o)
{
    return isa_operand_type(d->insn->form, &d->insn->tuple, (uint32_t)(o - d->insn->operands));
}

static bool is_strong(const char *sem)
{
    return sem && strcmp(sem, "weak") != 0;
}

/* Values of an operand that may be written as a vector or alone. */
const ptx_operand *cpu_values_operand(const cpu_decoder *d, bool destination)
{
    const ptx_operand *o = cpu_operand_of(d, destination ? ISA_OPERAND_DST_VECTOR : ISA_OPERAND_SRC_VECTOR, 0);
    return o ? o : cpu_operand_of(d, destination ? ISA_OPERAND_DST : ISA_OPERAND_SRC, 0);
}

static void decode_access(cpu_decoder *d, bool store)
{
    const ptx_operand *o = cpu_values_operand(d, !store), *at = cpu_operand_of(d, ISA_OPERAND_ADDRESS, 0);
    uint32_t sources[16], base, n = 0;
    cpu_access *a = cpu_decode_alloc(d, sizeof *a);
    if (!a)
        return;
    ptx_type type = cpu_element_type(d, o);
    bool wide = ptx_type_bits(type) == 128;
    const char *sem = cpu_choice(d, "sem");
    a->place = cpu_place_of(d, at, cpu_choice(d, "space"), &base);
    a->bytes = wide ? 8 : (uint8_t)ptx_type_bytes(type);
    a->count = (uint8_t)(o->nvalues << wide);
    a->class = (uint8_t)(wide ? CPU_CLASS_64 : cpu_class_of_values(d, o, type));
    a->sign = ptx_type_class(type) == 's';
    a->acquire = is_strong(sem) && !store;
    a->release = is_strong(sem) && store;
    if (a->count == 0 || a->count > 8) {
        cpu_decode_fail(d, CPU_UNSUPPORTED, "vectors of %u elements", a->count);
        return;
    }
    if (store)
        n = cpu_make_sources(d, o, (cpu_class)a->class, wide, sources);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    bool uniform = a->place.base == CPU_BASE_NONE && a->place.window != CPU_W_LOCAL && a->place.window != CPU_W_FRAME;
    draft->fn.op = store ? cpu_op_store : uniform ? cpu_op_load_uniform : cpu_op_load;
    draft->extra = a;
    draft->cost = is_strong(sem) && !store ? 200 : 0;
    cpu_add_base(d, &a->place, base);
    if (!store)
        add_destinations(d, o, (cpu_class)a->class, wide);
    for (uint32_t k = 0; k < n; k++)
        cpu_operand_add(d, CPU_R_USE, sources[k], (cpu_class)a->class);
}

/* ------------------------------------------------------------ atomics */

bool cpu_atomic_op_of(const char *name, cpu_atomic_op *out)
{
    static const char *const names[] = {"add", "and", "or", "xor", "exch", "cas", "min", "max", "inc", "dec"};
    for (uint32_t k = 0; k < sizeof names / sizeof *names; k++)
        if (name && strcmp(name, names[k]) == 0) {
            *out = (cpu_atomic_op)k;
            return true;
        }
    return false;
}

static void decode_atomic(cpu_decoder *d, bool returns)
{
    const ptx_operand *to = returns ? cpu_values_operand(d, true) : NULL, *b = cpu_values_operand(d, false);
    const ptx_operand *c = cpu_operand_of(d, ISA_OPERAND_SRC, 1);
    cpu_atomic_op op;
    uint32_t base, vb[16], vc[16], nb, nc = 0;
    cpu_atomic *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    if (!cpu_atomic_op_of(cpu_choice(d, "op"), &op)) {
        cpu_decode_fail(d, CPU_UNSUPPORTED, "atomic operation .%s", cpu_choice(d, "op"));
        return;
    }
    ptx_type type = cpu_element_type(d, b);
    x->wide = ptx_type_bits(type) == 128;
    x->place = cpu_place_of(d, cpu_operand_of(d, ISA_OPERAND_ADDRESS, 0), cpu_choice(d, "space"), &base);
    x->op = (uint8_t)op;
    x->type = (uint8_t)type;
    x->bytes = x->wide ? 8 : (uint8_t)ptx_type_bytes(type);
    x->count = (uint8_t)b->nvalues;
    x->class = (uint8_t)(x->wide ? CPU_CLASS_64 : cpu_class_of_values(d, b, type));
    x->returns = returns;
    if (to && !x->wide) {
        cpu_class class = cpu_class_of_values(d, to, type);
        for (uint32_t k = 0; k < to->nvalues; k++)
            if (to->values[k].kind == PTX_VALUE_REG && class != x->class)
                cpu_decode_fail(d, CPU_UNSUPPORTED, "source and destination registers of different sizes");
    }
    nb = cpu_make_sources(d, b, (cpu_class)x->class, x->wide, vb);
    if (op == CPU_A_CAS)
        nc = cpu_make_sources(d, c, (cpu_class)x->class, x->wide, vc);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_atomic;
    draft->extra = x;
    draft->cost = returns ? 200 : 0;
    cpu_add_base(d, &x->place, base);
    if (to)
        add_destinations(d, to, (cpu_class)x->class, x->wide);
    for (uint32_t k = 0; k < nb; k++)
        cpu_operand_add(d, CPU_R_USE, vb[k], (cpu_class)x->class);
    for (uint32_t k = 0; k < nc; k++)
        cpu_operand_add(d, CPU_R_USE, vc[k], (cpu_class)x->class);
}

/* ------------------------------------------------------------ matrices, asynchronous copies, mbarrier */

static void decode_matrix(cpu_decoder *d, bool store)
{
    const ptx_operand *o = cpu_values_operand(d, !store);
    uint32_t base, sources[16], n = 0;
    cpu_matrix *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    x->place = cpu_place_of(d, cpu_operand_of(d, ISA_OPERAND_ADDRESS, 0), cpu_choice(d, "space"), &base);
    x->count = (uint8_t)o->nvalues;
    x->transposed = cpu_choice(d, "trans") != NULL;
    const char *shape = cpu_choice(d, "shape"), *packed = cpu_choice(d, "from");
    bool bytes = strcmp(shape, "m8n8") != 0;
    if (bytes) {
        x->bits = packed ? (uint8_t)(packed[1] - '0') : 8;
        x->shape = strcmp(shape, "m16n16") == 0 ? PXL_MATRIX_M16N16 : strcmp(shape, "m8n16") == 0 ? PXL_MATRIX_M8N16 : PXL_MATRIX_M16N8;
    }
    if (store)
        n = cpu_make_sources(d, o, CPU_CLASS_32, false, sources);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_ALIGNED_OP);
    draft->fn.op = store ? (bytes ? cpu_op_store_bytes_matrix : cpu_op_store_matrix) : bytes ? cpu_op_load_bytes_matrix : cpu_op_load_matrix;
    draft->extra = x;
    cpu_add_base(d, &x->place, base);
    if (!store)
        add_destinations(d, o, CPU_CLASS_32, false);
    for (uint32_t k = 0; k < n; k++)
        cpu_operand_add(d, CPU_R_USE, sources[k], CPU_CLASS_32);
}

static void decode_async_copy(cpu_decoder *d)
{
    const ptx_operand *bytes = cpu_operand_of(d, ISA_OPERAND_IMMEDIATE, 0), *size = cpu_operand_of(d, ISA_OPERAND_SRC, 0);
    const ptx_operand *ignore = cpu_operand_of(d, ISA_OPERAND_SRC_PRED, 0);
    uint32_t to, from, vsize = 0;
    cpu_async_copy *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    /* The cache policy is a 64-bit source: not a size. */
    if (size && ptx_type_bits(cpu_element_type(d, size)) == 64)
        size = NULL;
    x->to = cpu_place_of(d, cpu_operand_of(d, ISA_OPERAND_ADDRESS, 0), "shared", &to);
    x->from = cpu_place_of(d, cpu_operand_of(d, ISA_OPERAND_ADDRESS, 1), "global", &from);
    x->bytes = (uint8_t)bytes->values[0].imm;
    x->has_size = size != NULL;
    x->has_ignore = ignore != NULL;
    if (x->bytes != 4 && x->bytes != 8 && x->bytes != 16)
        cpu_decode_fail(d, CPU_BAD_INPUT, "cp.async copies 4, 8 or 16 bytes");
    if (size)
        vsize = cpu_value_source(d, &size->values[0], PTX_TYPE_U32, false);
    uint32_t vignore = ignore ? cpu_value_source(d, &ignore->values[0], PTX_TYPE_PRED, false) : 0;
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_async_copy;
    draft->extra = x;
    cpu_add_base(d, &x->to, to);
    cpu_add_base(d, &x->from, from);
    if (size)
        cpu_operand_add(d, CPU_R_USE, vsize, CPU_CLASS_32);
    else
        cpu_operand_raw(d, 0);
    if (ignore)
        cpu_operand_add(d, CPU_R_USE, vignore, CPU_CLASS_PRED);
    else
        cpu_operand_raw(d, 0);
}

static bool mbarrier_op_of(const cpu_decoder *d, pxl_mbarrier_op *out)
{
    static const struct { const char *name; pxl_mbarrier_op op, with; } ops[] = {
        {"init", PXL_MBARRIER_INIT, 0}, {"inval", PXL_MBARRIER_INVAL, 0}, {"expect_tx", PXL_MBARRIER_EXPECT_TX, 0},
        {"complete_tx", PXL_MBARRIER_COMPLETE_TX, 0}, {"pending_count", PXL_MBARRIER_PENDING, 0},
        {"arrive", PXL_MBARRIER_ARRIVE, PXL_MBARRIER_ARRIVE_EXPECT_TX},
        {"arrive_drop", PXL_MBARRIER_ARRIVE_DROP, PXL_MBARRIER_ARRIVE_DROP_EXPECT_TX},
        {"test_wait", PXL_MBARRIER_WAIT, PXL_MBARRIER_WAIT_PARITY}, {"try_wait", PXL_MBARRIER_WAIT, PXL_MBARRIER_WAIT_PARITY}};
    const char *name = cpu_choice(d, "op");
    for (uint32_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (name && strcmp(name, ops[k].name) == 0) {
            *out = cpu_choice(d, "parity") || cpu_choice(d, "expect_tx") ? ops[k].with : ops[k].op;
            return true;
        }
    return false;
}

static void decode_mbarrier(cpu_decoder *d)
{
    const ptx_operand *at = cpu_operand_of(d, ISA_OPERAND_ADDRESS, 0), *argument = cpu_operand_of(d, ISA_OPERAND_SRC, 0);
    const ptx_operand *result = cpu_operand_of(d, ISA_OPERAND_DST, 0);
    pxl_mbarrier_op op;
    uint32_t base = CPU_NO_VALUE, v = 0;
    cpu_mbarrier *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    if (!mbarrier_op_of(d, &op)) {
        cpu_decode_fail(d, CPU_UNSUPPORTED, "this form of mbarrier does not run on the CPU device yet");
        return;
    }
    bool waits = op == PXL_MBARRIER_WAIT || op == PXL_MBARRIER_WAIT_PARITY, counts = op == PXL_MBARRIER_PENDING;
    if (!result)
        result = cpu_operand_of(d, ISA_OPERAND_DST_PRED, 0);
    x->op = (uint8_t)op;
    if (at)
        x->place = cpu_place_of(d, at, cpu_choice(d, "space"), &base);
    x->has_argument = argument != NULL;
    x->has_result = result && result->values[0].kind == PTX_VALUE_REG;
    x->argument_class = op == PXL_MBARRIER_WAIT || counts ? CPU_CLASS_64 : CPU_CLASS_32;
    if (argument)
        v = cpu_value_source(d, &argument->values[0], bits_of_class((cpu_class)x->argument_class), false);
    if (!x->has_result && (waits || counts))
        return;              /* a test whose answer nobody wants */
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_mbarrier;
    draft->extra = x;
    draft->cost = 200;
    cpu_add_base(d, &x->place, base);
    if (x->has_result)
        cpu_operand_add(d, CPU_R_DEF, cpu_value_register(d, result->values[0].reg, false),
                        waits ? CPU_CLASS_PRED : counts ? CPU_CLASS_32 : CPU_CLASS_64);
    else
        cpu_operand_raw(d, 0);
    if (argument)
        cpu_operand_add(d, CPU_R_USE, v, (cpu_class)x->argument_class);
    else
        cpu_operand_raw(d, 0);
}

/* cp.async has finished when the next instruction runs: .noinc arrives at once; the other form counts
 * itself as expected and then arrives, which changes nothing. */
static void decode_async_arrive(cpu_decoder *d)
{
    uint32_t base;
    if (!cpu_choice(d, "noinc"))
        return;
    cpu_mbarrier *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    x->op = PXL_MBARRIER_ARRIVE;
    x->place = cpu_place_of(d, cpu_operand_of(d, ISA_OPERAND_ADDRESS, 0), cpu_choice(d, "space"), &base);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_mbarrier;
    draft->extra = x;
    cpu_add_base(d, &x->place, base);
    cpu_operand_raw(d, 0);
    cpu_operand_raw(d, 0);
}

/* wmma.load, wmma.store (PTX ISA, "Warp-level Matrix Load Instruction: wmma.load"). */
static void decode_fragment(cpu_decoder *d, bool store)
{
    const ptx_operand *o = cpu_values_operand(d, !store), *stride = NULL;
    const char *shape = cpu_choice(d, "shape"), *matrix = store ? "c" : cpu_choice(d, "matrix"), *type = cpu_choice(d, "type");
    unsigned m, n, k;
    uint32_t base, sources[16], count = 0, vstride = 0;
    cpu_fragment *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    for (uint32_t i = 0; i < d->insn->noperands; i++)
        if (d->insn->operands[i].kind == ISA_OPERAND_SRC)
            stride = &d->insn->operands[i];
    if (!shape || !matrix || !type || sscanf(shape, "m%un%uk%u", &m, &n, &k) != 3) {
        cpu_decode_fail(d, CPU_UNSUPPORTED, "this form of wmma does not run on the CPU device yet");
        return;
    }
    ptx_type element = ptx_type_from_name(type, (uint32_t)strlen(type));
    x->place = cpu_place_of(d, cpu_operand_of(d, ISA_OPERAND_ADDRESS, 0), cpu_choice(d, "space"), &base);
    x->m = (uint8_t)m;
    x->n = (uint8_t)n;
    x->k = (uint8_t)k;
    x->bits = (uint8_t)ptx_type_bits(element);
    x->matrix = matrix[0];
    x->columns = strcmp(cpu_choice(d, "layout"), "col") == 0;
    x->store = store;
    x->has_stride = stride != NULL;
    x->count = (uint8_t)o->nvalues;
    x->class = (uint8_t)(x->bits == 64 ? CPU_CLASS_64 : CPU_CLASS_32);
    if (stride)
        vstride = cpu_value_source(d, &stride->values[0], PTX_TYPE_U32, false);
    if (store)
        count = cpu_make_sources(d, o, (cpu_class)x->class, false, sources);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_ALIGNED_OP);
    draft->fn.op = cpu_op_fragment;
    draft->extra = x;
    cpu_add_base(d, &x->place, base);
    if (stride)
        cpu_operand_add(d, CPU_R_USE, vstride, CPU_CLASS_32);
    else
        cpu_operand_raw(d, 0);
    if (!store)
        add_destinations(d, o, (cpu_class)x->class, false);
    for (uint32_t i = 0; i < count; i++)
        cpu_operand_add(d, CPU_R_USE, sources[i], (cpu_class)x->class);
}

/* ------------------------------------------------------------ address spaces and the stack */

static void decode_conversion(cpu_decoder *d, bool predicate)
{
    const ptx_operand *to = cpu_operand_of(d, predicate ? ISA_OPERAND_DST_PRED : ISA_OPERAND_DST, 0), *from = cpu_operand_of(d, ISA_OPERAND_SRC, 0);
    const char *space = cpu_choice(d, "space");
    cpu_window window = window_of_name(d, space);
    if (to->values[0].kind != PTX_VALUE_REG)
        return;
    uint32_t value = cpu_value_register(d, to->values[0].reg, false);
    ptx_type type = cpu_element_type(d, from);
    uint32_t source = cpu_value_source(d, &from->values[0], type, false);
    if (!predicate && window == CPU_W_GENERIC && cpu_class_of(type) == cpu_class_of_register(d, to->values[0].reg)) {
        cpu_decode_move(d, value, source, cpu_class_of(type));
        return;
    }
    if (predicate && starts_with(space, "const"))
        window = CPU_W_CONST;
    cpu_conversion *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    *x = (cpu_conversion){(uint8_t)window, cpu_choice(d, "to") != NULL,
                          (uint8_t)(predicate ? CPU_CLASS_PRED : cpu_class_of_register(d, to->values[0].reg)), (uint8_t)cpu_class_of(type)};
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = predicate ? cpu_op_isspacep : cpu_op_cvta;
    draft->extra = x;
    cpu_operand_add(d, CPU_R_DEF, value, (cpu_class)x->class);
    cpu_operand_add(d, CPU_R_USE, source, (cpu_class)x->source_class);
}

static void decode_stack(cpu_decoder *d, const char *operation)
{
    const ptx_operand *to = cpu_operand_of(d, ISA_OPERAND_DST, 0), *from = cpu_operand_of(d, ISA_OPERAND_SRC, 0);
    const ptx_operand *align = cpu_operand_of(d, ISA_OPERAND_IMMEDIATE, 0);
    uint32_t source = 0;
    cpu_stack *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    d->code->calls = true;
    x->class = (uint8_t)(to ? cpu_class_of(cpu_element_type(d, to)) : CPU_CLASS_64);
    x->argument_class = (uint8_t)(from ? cpu_class_of(cpu_element_type(d, from)) : CPU_CLASS_64);
    x->align = align && align->nvalues ? (uint32_t)align->values[0].imm : 8;
    if (x->align & (x->align - 1))
        cpu_decode_fail(d, CPU_BAD_INPUT, "alignment %u is not a power of two", x->align);
    if (from)
        source = cpu_value_source(d, &from->values[0], cpu_element_type(d, from), false);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = strcmp(operation, "alloca") == 0 ? cpu_op_alloca : to ? cpu_op_stack_save : cpu_op_stack_restore;
    draft->extra = x;
    if (to && to->values[0].kind == PTX_VALUE_REG)
        cpu_operand_add(d, CPU_R_DEF, cpu_value_register(d, to->values[0].reg, false), (cpu_class)x->class);
    else if (to)
        cpu_operand_add(d, CPU_R_SINK, 0, (cpu_class)x->class);
    else
        cpu_operand_raw(d, 0);
    if (from)
        cpu_operand_add(d, CPU_R_USE, source, (cpu_class)x->argument_class);
}

bool cpu_decode_memory(cpu_decoder *d, const char *name)
{
    if (strcmp(name, "ld") == 0 || strcmp(name, "st") == 0)
        decode_access(d, name[0] == 's');
    else if (strcmp(name, "atom") == 0 || strcmp(name, "red") == 0)
        decode_atomic(d, name[0] == 'a');
    else if (strcmp(name, "ldmatrix") == 0 || strcmp(name, "stmatrix") == 0)
        decode_matrix(d, name[0] == 's');
    else if (cpu_decode_bulk(d, name))
        return true;
    else if (strcmp(name, "wmma_load") == 0 || strcmp(name, "wmma_store") == 0)
        decode_fragment(d, name[5] == 's');
    else if (strcmp(name, "cvta") == 0 || strcmp(name, "isspacep") == 0)
        decode_conversion(d, name[0] == 'i');
    else if (strcmp(name, "alloca") == 0 || strcmp(name, "stacksave") == 0 || strcmp(name, "stackrestore") == 0)
        decode_stack(d, name);
    else if (strcmp(name, "cp_async") == 0)
        decode_async_copy(d);
    else if (strcmp(name, "cp_async_mbarrier") == 0)
        decode_async_arrive(d);
    else if (strcmp(name, "mbarrier") == 0)
        decode_mbarrier(d);
    else
        /* Hints, and waits for copies that are done at once. */
        return strcmp(name, "prefetch") == 0 || strcmp(name, "cp_async_commit") == 0 || strcmp(name, "cp_async_wait") == 0;
    return true;
}
