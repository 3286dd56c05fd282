/* decode_bulk.c - drafts of bulk copies, asynchronous stores and reductions, and cluster launch control. */
#include <string.h>
#include "runtime/cpu/draft.h"

static cpu_place place(cpu_decoder *d, uint32_t nth, const char *space, uint32_t *base)
{
    return cpu_place_of(d, cpu_operand_of(d, ISA_OPERAND_ADDRESS, nth), space, base);
}

static void use_or_nothing(cpu_decoder *d, const ptx_operand *o, uint32_t value, cpu_class class)
{
    if (o)
        cpu_operand_add(d, CPU_R_USE, value, class);
    else
        cpu_operand_raw(d, 0);
}

/* The written sources of a bulk copy by their types: u32 size and ignored bytes, a u16 mask; the u64 cache policy is dropped. */
typedef struct bulk_sources { const ptx_operand *word[3], *mask; } bulk_sources;

static bulk_sources sources_of(const cpu_decoder *d)
{
    bulk_sources s = {0};
    const ptx_operand *o;
    for (uint32_t k = 0, n = 0; (o = cpu_operand_of(d, ISA_OPERAND_SRC, k)); k++) {
        uint32_t bits = ptx_type_bits(cpu_element_type(d, o));
        if (bits == 16)
            s.mask = o;
        else if (bits == 32 && n < 3)
            s.word[n++] = o;
    }
    return s;
}

static bool operation_of(cpu_decoder *d, cpu_atomic_op *op)
{
    const char *name = cpu_choice(d, "op");
    if (name && cpu_atomic_op_of(name, op))
        return true;
    cpu_decode_fail(d, CPU_UNSUPPORTED, "the CPU device has no operation `%s` on memory", name ? name : "");
    return false;
}

static void decode_copy(cpu_decoder *d, bool reduces)
{
    const char *type = cpu_choice(d, "type");
    bulk_sources s = sources_of(d);
    uint32_t to, from, barrier = CPU_NO_VALUE, word[3] = {0}, mask = 0;
    cpu_atomic_op op;
    cpu_bulk *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    x->to = place(d, 0, cpu_choice(d, "dst"), &to);
    x->from = place(d, 1, cpu_choice(d, "src"), &from);
    x->has_barrier = cpu_operand_of(d, ISA_OPERAND_ADDRESS, 2) != NULL;
    if (x->has_barrier)
        x->barrier = place(d, 2, "shared", &barrier);
    x->has_byte_mask = cpu_choice(d, "cp_mask") != NULL;
    x->has_blocks = s.mask && !x->has_byte_mask;
    x->ignores = s.word[1] && s.word[2];
    x->reduces = reduces;
    if (reduces) {
        if (!operation_of(d, &op))
            return;
        ptx_type element = ptx_type_from_name(type, (uint32_t)strlen(type));
        x->element.op = (uint8_t)op;
        x->element.type = (uint8_t)element;
        x->element.bytes = (uint8_t)ptx_type_bytes(element);
    }
    for (uint32_t k = 0; k < 3; k++)
        if (s.word[k])
            word[k] = cpu_value_source(d, &s.word[k]->values[0], PTX_TYPE_U32, false);
    if (s.mask)
        mask = cpu_value_source(d, &s.mask->values[0], PTX_TYPE_U16, false);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_bulk;
    draft->extra = x;
    cpu_add_base(d, &x->to, to);
    cpu_add_base(d, &x->from, from);
    cpu_operand_add(d, CPU_R_USE, word[0], CPU_CLASS_32);
    cpu_add_base(d, &x->barrier, barrier);
    use_or_nothing(d, s.mask, mask, CPU_CLASS_16);
    use_or_nothing(d, s.word[1], word[1], CPU_CLASS_32);
    use_or_nothing(d, s.word[2], word[2], CPU_CLASS_32);
}

static void decode_zero(cpu_decoder *d)
{
    uint32_t to;
    cpu_bulk_zero *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    x->to = place(d, 0, cpu_choice(d, "space"), &to);
    uint32_t bytes = cpu_value_source(d, &cpu_operand_of(d, ISA_OPERAND_SRC, 0)->values[0], PTX_TYPE_U64, false);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_bulk_zero;
    draft->extra = x;
    cpu_add_base(d, &x->to, to);
    cpu_operand_add(d, CPU_R_USE, bytes, CPU_CLASS_64);
}

static void decode_store(cpu_decoder *d)
{
    const ptx_operand *o = cpu_values_operand(d, false);
    ptx_type type = cpu_element_type(d, o);
    uint32_t base, barrier, sources[16];
    cpu_async_store *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    x->store.place = place(d, 0, cpu_choice(d, "space"), &base);
    x->store.bytes = (uint8_t)ptx_type_bytes(type);
    x->store.count = (uint8_t)o->nvalues;
    x->store.class = (uint8_t)cpu_class_of_values(d, o, type);
    x->barrier = place(d, 1, cpu_choice(d, "space"), &barrier);
    x->bytes = (uint32_t)x->store.bytes * x->store.count;
    uint32_t n = cpu_make_sources(d, o, (cpu_class)x->store.class, false, sources);
    x->barrier_operand = 1 + n;
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_async_store;
    draft->extra = x;
    cpu_add_base(d, &x->store.place, base);
    for (uint32_t k = 0; k < n; k++)
        cpu_operand_add(d, CPU_R_USE, sources[k], (cpu_class)x->store.class);
    cpu_add_base(d, &x->barrier, barrier);
}

static void decode_atomic(cpu_decoder *d)
{
    const ptx_operand *o = cpu_values_operand(d, false);
    ptx_type type = cpu_element_type(d, o);
    cpu_atomic_op op;
    uint32_t base, barrier, sources[16];
    cpu_async_atomic *x = cpu_decode_alloc(d, sizeof *x);
    if (!x || !operation_of(d, &op))
        return;
    x->atomic = (cpu_atomic){.op = (uint8_t)op, .type = (uint8_t)type, .bytes = (uint8_t)ptx_type_bytes(type), .count = 1,
                             .class = (uint8_t)cpu_class_of_values(d, o, type)};
    x->atomic.place = place(d, 0, cpu_choice(d, "space"), &base);
    x->barrier = place(d, 1, cpu_choice(d, "space"), &barrier);
    x->barrier_operand = 2;
    cpu_make_sources(d, o, (cpu_class)x->atomic.class, false, sources);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_async_atomic;
    draft->extra = x;
    cpu_add_base(d, &x->atomic.place, base);
    cpu_operand_add(d, CPU_R_USE, sources[0], (cpu_class)x->atomic.class);
    cpu_add_base(d, &x->barrier, barrier);
}

static void decode_try_cancel(cpu_decoder *d)
{
    uint32_t to, barrier;
    cpu_try_cancel *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    x->to = place(d, 0, cpu_choice(d, "space"), &to);
    x->barrier = place(d, 1, cpu_choice(d, "space"), &barrier);
    cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
    draft->fn.op = cpu_op_try_cancel;
    draft->extra = x;
    cpu_add_base(d, &x->to, to);
    cpu_add_base(d, &x->barrier, barrier);
}

/* No answer of try_cancel says that anything was cancelled; the block that such an answer would name is undefined, here 0. */
static void decode_query_cancel(cpu_decoder *d)
{
    const ptx_operand *o = cpu_operand_of(d, ISA_OPERAND_DST_PRED, 0);
    if (!o)
        o = cpu_values_operand(d, true);
    for (uint32_t k = 0; k < o->nvalues; k++)
        if (o->values[k].kind == PTX_VALUE_REG) {
            cpu_class class = cpu_class_of_register(d, o->values[k].reg);
            cpu_decode_move(d, cpu_value_register(d, o->values[k].reg, false), cpu_value_constant(d, class, 0), class);
        }
}

bool cpu_decode_bulk(cpu_decoder *d, const char *name)
{
    if (strcmp(name, "cp_async_bulk") == 0 || strcmp(name, "cp_reduce_bulk") == 0)
        decode_copy(d, name[3] == 'r');
    else if (strcmp(name, "st_bulk") == 0)
        decode_zero(d);
    else if (strcmp(name, "st_async") == 0)
        decode_store(d);
    else if (strcmp(name, "red_async") == 0)
        decode_atomic(d);
    else if (strcmp(name, "try_cancel") == 0)
        decode_try_cancel(d);
    else if (strcmp(name, "query_cancel") == 0)
        decode_query_cancel(d);
    else
        return false;
    return true;
}
