/* decode.c - from a checked PTX function to code: instructions, operands, constants.
 *
 * Every statement becomes one draft or a few: a meaning with its flattened operands, or an operation of
 * the engine. Where a register is wider than the element that an instruction reads or writes (PTX ISA,
 * "Operand Size Exceeding Instruction-Type Size"), a conversion draft stands before or behind it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/lib/texture.h"
#include "runtime/cpu/collective.h"
#include "runtime/cpu/draft.h"

/* ------------------------------------------------------------ memory */

struct cpu_pool_chunk { struct cpu_pool_chunk *next; };

void *cpu_pool_take(cpu_pool *pool, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > pool->left) {
        size_t size = bytes + 64 > 65536 ? bytes + 64 : 65536;
        struct cpu_pool_chunk *chunk = calloc(1, size);
        if (!chunk)
            return NULL;
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        pool->at = (char *)chunk + 16;
        pool->left = size - 16;
    }
    void *p = pool->at;
    pool->at += bytes;
    pool->left -= bytes;
    return p;
}

void cpu_pool_free(cpu_pool *pool)
{
    while (pool->chunks) {
        struct cpu_pool_chunk *next = pool->chunks->next;
        free(pool->chunks);
        pool->chunks = next;
    }
}

static void out_of_memory(cpu_decoder *d)
{
    if (!d->failed)
        cpu_error_set(d->error, CPU_NO_MEMORY, "out of memory while decoding");
    d->failed = true;
}

void *cpu_decode_alloc(cpu_decoder *d, size_t bytes)
{
    void *p = cpu_pool_take(d->pool, bytes ? bytes : 1);
    if (!p)
        out_of_memory(d);
    return p;
}

static bool grow(cpu_decoder *d, void **array, uint32_t *capacity, uint32_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 256;
    void *grown = realloc(*array, wanted * size);
    if (!grown) {
        out_of_memory(d);
        return false;
    }
    *array = grown;
    *capacity = wanted;
    return true;
}

void cpu_decode_fail(cpu_decoder *d, cpu_status status, const char *format, ...)
{
    char reason[400];
    if (d->failed)
        return;
    d->failed = true;
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    cpu_error_set(d->error, status, "%s", reason);
    cpu_error_at(d->error, d->module->ptx, d->function, d->insn);
}

/* ------------------------------------------------------------ values */

cpu_class cpu_class_of(ptx_type type)
{
    switch (type == PTX_TYPE_PRED ? 0 : ptx_type_bytes(type)) {
    case 0: return CPU_CLASS_PRED;
    case 1: return CPU_CLASS_8;
    case 2: return CPU_CLASS_16;
    case 4: return CPU_CLASS_32;
    default: return CPU_CLASS_64;
    }
}

static uint32_t value_add(cpu_decoder *d, cpu_value_kind kind, cpu_class class, uint64_t constant)
{
    if (!grow(d, (void **)&d->values, &d->value_capacity, d->nvalues + 1, sizeof *d->values))
        return 0;
    d->values[d->nvalues] = (cpu_value){.kind = kind, .class = class, .constant = constant, .first = UINT32_MAX, .next = CPU_NO_VALUE};
    return d->nvalues++;
}

uint32_t cpu_value_temporary(cpu_decoder *d, cpu_class class)
{
    return value_add(d, CPU_V_REGISTER, class, 0);
}

uint32_t cpu_value_constant(cpu_decoder *d, cpu_class class, uint64_t constant)
{
    if (class == CPU_CLASS_PRED)
        constant = constant != 0;
    else if (class != CPU_CLASS_64)
        constant &= (1ull << (8u << class)) - 1;
    uint32_t *head = &d->hash[(constant * 0x9e3779b97f4a7c15u + class) >> 54];
    for (uint32_t v = *head; v != CPU_NO_VALUE; v = d->values[v].next)
        if (d->values[v].constant == constant && d->values[v].class == class)
            return v;
    uint32_t v = value_add(d, CPU_V_CONSTANT, class, constant);
    if (!d->failed) {
        d->values[v].next = *head;
        *head = v;
    }
    return v;
}

static bool changes_while_running(ptx_special sr)
{
    return sr >= PTX_SR_CLOCK && sr <= PTX_SR_GLOBALTIMER_HI;
}

static uint32_t value_special(cpu_decoder *d, ptx_special sr, cpu_class class)
{
    if (changes_while_running(sr)) {
        cpu_fill_special *x = cpu_decode_alloc(d, sizeof *x);
        uint32_t t = cpu_value_temporary(d, class);
        if (!x)
            return 0;
        *x = (cpu_fill_special){.special = (uint16_t)sr, .class = class};
        cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
        draft->fn.op = cpu_op_special;
        draft->extra = x;
        draft->cost = 20;
        cpu_operand_add(d, CPU_R_DEF, t, class);
        return t;
    }
    uint32_t *known = &d->specials[sr][class];
    if (*known == CPU_NO_VALUE)
        *known = value_add(d, CPU_V_SPECIAL, class, sr);
    return *known;
}

cpu_class cpu_class_of_register(const cpu_decoder *d, uint32_t reg)
{
    return cpu_class_of(d->function->registers[reg].type);
}

uint32_t cpu_value_register(const cpu_decoder *d, uint32_t reg, bool high)
{
    return d->registers[reg] + high;
}

/* ------------------------------------------------------------ drafts */

cpu_draft *cpu_draft_add(cpu_decoder *d, cpu_kind kind)
{
    static cpu_draft nowhere;
    if (!grow(d, (void **)&d->drafts, &d->draft_capacity, d->ndrafts + 1, sizeof *d->drafts))
        return &nowhere;
    cpu_draft *draft = &d->drafts[d->ndrafts++];
    *draft = (cpu_draft){.kind = kind, .operands = d->noperands, .guard = CPU_NO_VALUE, .member = 255, .cost = 0,
                         .ptx = (uint32_t)(d->insn - d->function->insns)};
    if (d->insn->guarded) {
        draft->guard = cpu_value_register(d, d->insn->guard, false);
        draft->guard_negated = d->insn->guard_negated;
        if (kind == CPU_K_PLAIN)
            draft->kind = CPU_K_GUARDED;
    }
    return draft;
}

void cpu_operand_add(cpu_decoder *d, cpu_role role, uint32_t value, cpu_class class)
{
    if (d->failed || !grow(d, (void **)&d->operands, &d->operand_capacity, d->noperands + 1, sizeof *d->operands))
        return;
    d->operands[d->noperands++] = (cpu_operand){value, role, class};
    d->drafts[d->ndrafts - 1].n++;
}

void cpu_operand_raw(cpu_decoder *d, uint32_t word)
{
    cpu_operand_add(d, CPU_R_RAW, word, CPU_CLASS_32);
}

const char *cpu_choice(const cpu_decoder *d, const char *group)
{
    return isa_choice(d->insn->form, &d->insn->tuple, group);
}

/* A handler with one destination and one source, not a meaning of the instruction itself. */
static void draft_unary(cpu_decoder *d, cpu_handler handler, uint32_t to, cpu_class to_class, uint32_t from, cpu_class from_class)
{
    cpu_draft *draft = cpu_draft_add(d, CPU_K_PLAIN);
    draft->fn.handler = handler;
    cpu_operand_add(d, CPU_R_DEF, to, to_class);
    cpu_operand_add(d, CPU_R_USE, from, from_class);
}

static void draft_convert(cpu_decoder *d, uint32_t to, cpu_class to_class, uint32_t from, cpu_class from_class, bool sign)
{
    if (to_class == CPU_CLASS_PRED || from_class == CPU_CLASS_PRED) {
        cpu_decode_fail(d, CPU_BAD_INPUT, "a predicate stands where a number is needed, or the reverse");
        return;
    }
    draft_unary(d, d->module->device->ops->convert[from_class][to_class][sign], to, to_class, from, from_class);
}

void cpu_decode_move(cpu_decoder *d, uint32_t to, uint32_t from, cpu_class class)
{
    static const char *const names[CPU_CLASSES] = {NULL, "mov_b16", "mov_b32", "mov_b64", "mov_pred"};
    uint32_t id = names[class] ? isa_meaning_id(names[class]) : 0;
    cpu_handler handler = id ? d->module->device->ops->meanings[id] : NULL;
    if (handler)
        draft_unary(d, handler, to, class, from, class);
    else
        cpu_decode_fail(d, CPU_UNSUPPORTED, "moves of this type have no handler");
}

static void pred_not(char *r, const uint32_t *o)
{
    typedef uint32_t word __attribute__((may_alias));
    *(word *)(r + o[0]) = ~*(const word *)(r + o[1]);
}

/* ------------------------------------------------------------ sources */

bool cpu_is_entry_param(const cpu_decoder *d, const ptx_variable *variable)
{
    const ptx_prototype *p = &d->function->prototype;
    if (!d->function->is_entry)
        return false;
    for (uint32_t k = 0; k < p->nparams; k++)
        if (p->params[k] == variable)
            return true;
    return false;
}

/* Offset of a .local or .param variable in the function's part of local memory. .param variables get
 * places behind the .local ones when they are first met. */
uint64_t cpu_local_offset(cpu_decoder *d, const ptx_variable *variable)
{
    if (variable->space == PTX_SPACE_LOCAL)
        return variable->offset;
    for (uint32_t k = d->nlocals; k-- > 0;)
        if (d->locals[k].variable == variable)
            return d->locals[k].offset;
    if (!grow(d, (void **)&d->locals, &d->local_capacity, d->nlocals + 1, sizeof *d->locals))
        return 0;
    uint64_t align = variable->align > 8 ? variable->align : 8, offset = (d->local_bytes + align - 1) & ~(align - 1);
    d->locals[d->nlocals++] = (cpu_local_variable){variable, offset};
    d->local_bytes = offset + (variable->size ? variable->size : 8);
    return offset;
}

static uint32_t value_variable(cpu_decoder *d, const ptx_value *v, cpu_class class)
{
    const ptx_variable *x = v->variable;
    switch (x->space) {
    case PTX_SPACE_SHARED:
        return cpu_value_constant(d, class, x->offset + v->imm);
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM: {
        if (cpu_is_entry_param(d, x))
            return cpu_value_constant(d, class, x->offset + v->imm);
        cpu_frame_address *a = cpu_decode_alloc(d, sizeof *a);
        if (!a)
            return 0;
        *a = (cpu_frame_address){cpu_local_offset(d, x) + v->imm, class};
        if (d->function->is_entry)
            return cpu_value_constant(d, class, a->offset);      /* an entry's frame begins at 0 */
        uint32_t t = cpu_value_temporary(d, class);
        cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
        draft->fn.op = cpu_op_frame_address;
        draft->extra = a;
        cpu_operand_add(d, CPU_R_DEF, t, class);
        return t;
    }
    default: {
        uint64_t address = cpu_address_of_variable(d->module, x);
        if (!address)
            cpu_decode_fail(d, CPU_NOT_FOUND, "variable %s is declared .extern and defined nowhere in this module", x->name);
        return cpu_value_constant(d, class, address + v->imm);
    }
    }
}

static uint32_t value_of_register(cpu_decoder *d, const ptx_value *v, ptx_type type, bool high)
{
    cpu_class class = cpu_class_of(type), from_class = cpu_class_of_register(d, v->reg);
    uint32_t from = cpu_value_register(d, v->reg, high);
    if (class == from_class) {
        if (!v->negated)
            return from;
        uint32_t t = cpu_value_temporary(d, class);
        draft_unary(d, pred_not, t, class, from, class);
        return t;
    }
    uint32_t t = cpu_value_temporary(d, class);
    draft_convert(d, t, class, from, from_class, ptx_type_class(type) == 's');
    return t;
}

uint32_t cpu_value_source(cpu_decoder *d, const ptx_value *v, ptx_type type, bool high)
{
    cpu_class class = cpu_class_of(type);
    switch (v->kind) {
    case PTX_VALUE_REG:
        return value_of_register(d, v, type, high);
    case PTX_VALUE_IMM:
        return cpu_value_constant(d, class, class == CPU_CLASS_PRED ? (v->imm != 0) != v->negated : high ? 0 : v->imm);
    case PTX_VALUE_SPECIAL:
        return value_special(d, v->special, class);
    case PTX_VALUE_VARIABLE:
        return value_variable(d, v, class);
    case PTX_VALUE_FUNCTION:
        return cpu_value_constant(d, class, cpu_address_of_function(d->module, v->function));
    default:
        return cpu_value_constant(d, class, 0);
    }
}

/* ------------------------------------------------------------ meanings */

/* A destination: the register itself, or a temporary that a conversion behind the instruction widens. */
typedef struct pending { uint32_t to, from; cpu_class to_class, from_class; bool sign; } pending;

/* The handle of a texture variable is what the variable holds. */
static uint32_t value_handle(cpu_decoder *d, const ptx_value *v)
{
    if (v->kind != PTX_VALUE_VARIABLE)
        return cpu_value_source(d, v, PTX_TYPE_U64, false);
    cpu_access *a = cpu_decode_alloc(d, sizeof *a);
    uint32_t t = cpu_value_temporary(d, CPU_CLASS_64);
    if (!a)
        return 0;
    *a = (cpu_access){.place = {CPU_W_GENERIC, CPU_BASE_NONE, (int64_t)cpu_address_of_variable(d->module, v->variable)},
                      .bytes = 8, .count = 1, .class = CPU_CLASS_64};
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_load;
    draft->extra = a;
    cpu_operand_raw(d, 0);
    cpu_operand_add(d, CPU_R_DEF, t, CPU_CLASS_64);
    return t;
}

/* Where a surface access with .trap has its coordinates, which follow the handle; a layer comes first. */
static const cpu_image_insn *image_insn(cpu_decoder *d, uint32_t handle)
{
    static const struct { const char *name; uint8_t geometry, dims; } geometries[] = {
        {"1d", PXL_1D, 1}, {"2d", PXL_2D, 2}, {"3d", PXL_3D, 3}, {"a1d", PXL_A1D, 1}, {"a2d", PXL_A2D, 2}};
    const char *clamp = cpu_choice(d, "clamp"), *vec = cpu_choice(d, "vec"), *type = cpu_choice(d, "t");
    cpu_image_insn *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return NULL;
    x->handle = (uint8_t)handle;
    x->asks = strcmp(d->insn->form->mnemonic, "istypep") == 0;
    for (uint32_t k = 0; k < sizeof geometries / sizeof *geometries && clamp && type; k++)
        if (cpu_choice(d, geometries[k].name)) {
            bool layered = geometries[k].geometry == PXL_A1D || geometries[k].geometry == PXL_A2D;
            x->trap = strcmp(clamp, "trap") == 0;
            x->geometry = geometries[k].geometry;
            x->x = (uint8_t)(handle + 1 + layered);
            x->y = (uint8_t)(geometries[k].dims > 1 ? x->x + 1 : x->x);
            x->z = (uint8_t)(layered ? handle + 1 : geometries[k].dims > 2 ? x->x + 2u : x->x);
            x->samples = cpu_choice(d, "p") != NULL;
            x->bytes = (uint8_t)(ptx_type_bytes(ptx_type_from_name(type, (uint32_t)strlen(type))) * (vec ? (uint32_t)(vec[1] - '0') : 1));
            if (x->samples && strcmp(d->insn->form->mnemonic, "sust") == 0)
                x->bytes = 0;
        }
    return x;
}

static bool takes_handle(const isa_form *form)
{
    if (strcmp(form->mnemonic, "istypep") == 0)
        return true;
    for (uint32_t k = 0; k < form->noperands; k++)
        if (form->operands[k].kind == ISA_OPERAND_TEXTURE)
            return true;
    return false;
}

static void decode_meaning(cpu_decoder *d)
{
    const ptx_insn *insn = d->insn;
    isa_elem elems[ISA_MAX_ELEMS];
    ptx_value values[ISA_MAX_ELEMS];
    cpu_operand operands[ISA_MAX_ELEMS];
    pending behind[ISA_MAX_ELEMS];
    uint32_t n = isa_signature(insn->form, &insn->tuple, elems), got = ptx_flatten(insn, values), nbehind = 0;
    uint32_t last_source = 255, handle = 255;
    cpu_handler handler = d->module->device->ops->meanings[insn->meaning];
    if (!handler) {
        cpu_decode_fail(d, CPU_UNSUPPORTED, "the meaning %s has no handler in this build", isa_meaning_names[insn->meaning]);
        return;
    }
    if (got != n) {
        cpu_decode_fail(d, CPU_BAD_INPUT, "the instruction has %u operand elements, its form %u", got, n);
        return;
    }
    bool high = false, texture = takes_handle(insn->form);
    for (uint32_t k = 0; k < n && !d->failed; k++) {
        const ptx_value *v = &values[k];
        cpu_class class = cpu_class_of(elems[k].type);
        bool wide = v->kind == PTX_VALUE_REG && ptx_type_bits(d->function->registers[v->reg].type) == 128;
        high = wide && k > 0 && !high && values[k - 1].kind == PTX_VALUE_REG && values[k - 1].reg == v->reg;
        operands[k] = (cpu_operand){0, CPU_R_RAW, class};
        switch (elems[k].role) {
        case ISA_ROLE_IMM: operands[k].value = (uint32_t)v->imm; break;
        case ISA_ROLE_MODEL: operands[k].role = CPU_R_MODEL; break;
        case ISA_ROLE_EXEC: operands[k].role = CPU_R_EXEC; break;
        case ISA_ROLE_SRC:
            operands[k].role = CPU_R_USE;
            last_source = k;
            if (texture && handle == 255) {
                handle = k;
                operands[k].value = value_handle(d, v);
            } else
                operands[k].value = cpu_value_source(d, v, elems[k].type, high);
            break;
        case ISA_ROLE_DST: {
            operands[k].role = v->kind == PTX_VALUE_REG ? CPU_R_DEF : CPU_R_SINK;
            if (v->kind != PTX_VALUE_REG)
                break;
            cpu_class to_class = cpu_class_of_register(d, v->reg);
            uint32_t to = cpu_value_register(d, v->reg, high);
            if (to_class == class)
                operands[k].value = to;
            else {
                operands[k].value = cpu_value_temporary(d, class);
                behind[nbehind++] = (pending){to, operands[k].value, to_class, class, ptx_type_class(elems[k].type) == 's'};
            }
            break;
        }
        }
    }
    if (d->failed)
        return;
    bool collective = cpu_choice(d, "sync") != NULL;
    cpu_draft *draft = cpu_draft_add(d, collective ? CPU_K_COLLECTIVE : texture ? CPU_K_TEXTURE : CPU_K_PLAIN);
    draft->fn.handler = handler;
    if (collective && !cpu_choice(d, "aligned"))
        draft->member = (uint8_t)last_source;
    if (collective) {
        cpu_operand_class *classes = cpu_decode_alloc(d, n * sizeof *classes);
        for (uint32_t k = 0; k < n && classes; k++)
            classes[k] = (cpu_operand_class){operands[k].class, operands[k].role == CPU_R_USE, operands[k].role == CPU_R_EXEC,
                                             operands[k].role == CPU_R_RAW || operands[k].role == CPU_R_MODEL};
        draft->extra = classes;
    }
    if (texture) {
        draft->extra = image_insn(d, handle);
    }
    for (uint32_t k = 0; k < n; k++)
        cpu_operand_add(d, operands[k].role, operands[k].value, operands[k].class);
    for (uint32_t k = 0; k < nbehind; k++)
        draft_convert(d, behind[k].to, behind[k].to_class, behind[k].from, behind[k].from_class, behind[k].sign);
}

/* ------------------------------------------------------------ functions */

static void decode_insn(cpu_decoder *d)
{
    const ptx_insn *insn = d->insn;
    if (insn->meaning)
        decode_meaning(d);
    else if (!insn->operation)
        cpu_decode_fail(d, CPU_UNSUPPORTED, "this is valid PTX, but ptxbridge has no meaning for it yet");
    else if (!cpu_decode_memory(d, insn->operation) && !cpu_decode_control(d, insn->operation))
        cpu_decode_fail(d, CPU_UNSUPPORTED, "the CPU device does not run `%s` instructions yet", insn->form->mnemonic);
}

static bool is_runnable(cpu_decoder *d)
{
    const ptx_function *f = d->function;
    if (f->broken != PTX_REASON_NONE) {
        cpu_status status = f->broken == PTX_REASON_UNSUPPORTED || f->broken == PTX_REASON_LIMIT ? CPU_UNSUPPORTED : CPU_BAD_INPUT;
        cpu_error_set(d->error, status, "%s", f->why ? f->why->message : "the function has errors");
        cpu_error_at(d->error, d->module->ptx, f, NULL);
        if (d->error && f->why) {
            d->error->line = f->why->at.line;
            d->error->column = f->why->at.column;
        }
        /* The instruction that the message is about, when it was understood that far. */
        for (uint32_t k = 0; k < f->ninsns && f->why && d->error; k++)
            if (f->insns[k].at.line == f->why->at.line)
                ptx_format_insn(d->module->ptx, &f->insns[k], d->error->instruction, sizeof d->error->instruction);
        return false;
    }
    if (f->is_declaration) {
        cpu_error_set(d->error, CPU_NOT_FOUND, "function %s is declared, but has no body in this module", f->name);
        cpu_error_at(d->error, d->module->ptx, f, NULL);
        return false;
    }
    return true;
}

static void number_registers(cpu_decoder *d)
{
    const ptx_function *f = d->function;
    d->registers = malloc((f->nregisters + 1) * sizeof *d->registers);
    d->starts = malloc((f->ninsns + 1) * sizeof *d->starts);
    if (!d->registers || !d->starts) {
        out_of_memory(d);
        return;
    }
    for (uint32_t k = 0; k < f->nregisters && !d->failed; k++) {
        ptx_type type = f->registers[k].type;
        d->registers[k] = cpu_value_temporary(d, cpu_class_of(type));
        if (ptx_type_bits(type) == 128)
            cpu_value_temporary(d, CPU_CLASS_64);
    }
    memset(d->hash, 0xff, sizeof d->hash);
    memset(d->specials, 0xff, sizeof d->specials);
}

/* Where parameters or results of this function live: .param variables, or registers of the same name. */
static const cpu_passed *place_params(cpu_decoder *d, uint32_t n, const ptx_variable *const *list)
{
    cpu_passed *out = cpu_decode_alloc(d, n * sizeof *out);
    for (uint32_t k = 0; k < n && out; k++) {
        const ptx_variable *v = list[k];
        if (v->space != PTX_SPACE_REG) {
            out[k] = (cpu_passed){.class = CPU_CLASS_64, .offset = cpu_local_offset(d, v), .bytes = v->size};
            continue;
        }
        uint32_t r = 0;
        while (r < d->function->nregisters && strcmp(d->function->registers[r].name, v->name) != 0)
            r++;
        if (r == d->function->nregisters) {
            cpu_decode_fail(d, CPU_UNSUPPORTED, "parameter %s of %s is neither a .param variable nor a register", v->name, d->function->name);
            return out;
        }
        cpu_class class = cpu_class_of_register(d, r);
        out[k] = (cpu_passed){.in_register = true, .class = class, .index = d->registers[r],
                              .bytes = class == CPU_CLASS_PRED ? 1 : 1u << class};
    }
    return out;
}

static void decode_body(cpu_decoder *d)
{
    const ptx_function *f = d->function;
    number_registers(d);
    d->local_bytes = (f->local_size + 7) & ~7ull;
    if (!f->is_entry) {
        d->code->nparams = f->prototype.nparams;
        d->code->nreturns = f->prototype.nreturns;
        d->code->params = place_params(d, f->prototype.nparams, f->prototype.params);
        d->code->returns = place_params(d, f->prototype.nreturns, f->prototype.returns);
    }
    for (uint32_t k = 0; k < f->ninsns && !d->failed; k++) {
        d->insn = &f->insns[k];
        d->starts[k] = d->ndrafts;
        decode_insn(d);
    }
    if (!d->failed)
        d->starts[f->ninsns] = d->ndrafts;
}

static cpu_code *decode(cpu_module *module, const ptx_function *function, bool plain, cpu_error *error)
{
    uint64_t start = cpu_now_ns();
    cpu_pool pool = {0};
    cpu_decoder d = {.module = module, .function = function, .error = error, .pool = &pool, .plain = plain};
    cpu_code *code = NULL;
    if (is_runnable(&d)) {
        d.code = cpu_decode_alloc(&d, sizeof *d.code);
        if (d.code) {
            d.code->module = module;
            d.code->function = function;
            decode_body(&d);
            if (!d.failed && (plain || (cpu_simplify(&d) && cpu_schedule(&d))) && cpu_liveness(&d) && cpu_build(&d))
                code = d.code;
        }
    }
    free(d.drafts);
    free(d.operands);
    free(d.values);
    free(d.registers);
    free(d.starts);
    free(d.locals);
    if (!code) {
        cpu_pool_free(&pool);
        return NULL;
    }
    static _Atomic uint64_t codes;
    code->id = ++codes;
    code->memory = pool.chunks;
    code->decode_ms = (double)(cpu_now_ns() - start) * 1e-6;
    return code;
}

void cpu_code_free(cpu_code *code)
{
    if (code) {
        cpu_pool pool = {.chunks = code->memory};
        cpu_pool_free(&pool);
    }
}

cpu_code *cpu_code_of(cpu_module *module, const ptx_function *function, bool plain, cpu_error *error)
{
    cpu_code **place = &module->codes[2 * function->index + plain];
    cpu_code *code = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (code)
        return code;
    pthread_mutex_lock(&module->lock);
    code = *place;
    if (!code) {
        code = decode(module, function, plain, error);
        __atomic_store_n(place, code, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&module->lock);
    return code;
}
