/* decode_control.c - drafts of control flow, calls, barriers and the rest. */
#include <string.h>
#include "runtime/cpu/draft.h"

static const ptx_operand *operand_of(const cpu_decoder *d, isa_operand_kind kind, uint32_t nth)
{
    for (uint32_t k = 0; k < d->insn->noperands; k++)
        if (d->insn->operands[k].kind == kind && nth-- == 0)
            return &d->insn->operands[k];
    return NULL;
}

static void decode_jump_table(cpu_decoder *d)
{
    const ptx_label_list *list = operand_of(d, ISA_OPERAND_LIST, 0)->list;
    uint32_t index = cpu_value_source(d, &operand_of(d, ISA_OPERAND_SRC, 0)->values[0], PTX_TYPE_U32, false);
    cpu_jump_table *table = cpu_decode_alloc(d, sizeof *table);
    uint32_t *targets = cpu_decode_alloc(d, (list ? list->count : 0) * sizeof *targets);
    if (!table || !targets)
        return;
    /* PTX instructions now; cpu_build makes them drafts. */
    if (list)
        memcpy(targets, list->targets, list->count * sizeof *targets);
    *table = (cpu_jump_table){list ? list->count : 0, targets};
    cpu_draft *draft = cpu_draft_add(d, CPU_K_BRX);
    draft->extra = table;
    cpu_operand_add(d, CPU_R_USE, index, CPU_CLASS_32);
}

/* ------------------------------------------------------------ calls */

/* One argument or result; registers become operands of the call, at `index` in its list. */
static cpu_passed passed(cpu_decoder *d, const ptx_value *v, uint32_t index)
{
    if (v->kind == PTX_VALUE_VARIABLE)
        return (cpu_passed){.class = CPU_CLASS_64, .offset = cpu_local_offset(d, v->variable) + v->imm, .bytes = v->variable->size};
    cpu_class class = v->kind == PTX_VALUE_REG ? cpu_class_of_register(d, v->reg) : cpu_class_of(v->type);
    return (cpu_passed){.in_register = true, .class = class, .index = index, .bytes = class == CPU_CLASS_PRED ? 1 : 1u << class};
}

static bool check_callee(cpu_decoder *d, const ptx_function *callee, uint32_t nargs, uint32_t nreturns, cpu_builtin *builtin)
{
    *builtin = CPU_B_NONE;
    if (callee->is_declaration) {
        *builtin = cpu_builtin_of(callee->name);
        if (*builtin == CPU_B_NONE)
            cpu_decode_fail(d, CPU_NOT_FOUND, "function %s is declared, but has no body in this module", callee->name);
        return *builtin != CPU_B_NONE;
    }
    if (callee->prototype.nparams != nargs || callee->prototype.nreturns != nreturns)
        cpu_decode_fail(d, CPU_BAD_INPUT, "function %s takes %u parameters and gives %u results", callee->name,
                        callee->prototype.nparams, callee->prototype.nreturns);
    return !d->failed;
}

static void decode_call(cpu_decoder *d)
{
    const ptx_insn *insn = d->insn;
    const ptx_operand *f = operand_of(d, ISA_OPERAND_FUNCTION, 0);
    cpu_call *call = cpu_decode_alloc(d, sizeof *call);
    cpu_passed *args = cpu_decode_alloc(d, insn->nargs * sizeof *args), *returns = cpu_decode_alloc(d, insn->nreturns * sizeof *returns);
    uint32_t *values = cpu_decode_alloc(d, (insn->nargs + 1) * sizeof *values);
    if (!call || !args || !returns || !values)
        return;
    d->code->calls = true;
    if (f->callee && !check_callee(d, f->callee, insn->nargs, insn->nreturns, &call->builtin))
        return;
    if (1 + insn->nargs + insn->nreturns > 250) {
        cpu_decode_fail(d, CPU_UNSUPPORTED, "a call with %u parameters", insn->nargs + insn->nreturns);
        return;
    }
    call->callee = f->callee;
    call->nargs = insn->nargs;
    call->nreturns = insn->nreturns;
    call->args = args;
    call->returns = returns;
    /* Sources may need drafts of their own, which come first. */
    uint32_t target = f->callee ? 0 : cpu_value_source(d, &f->values[0], PTX_TYPE_U64, false);
    for (uint32_t k = 0; k < insn->nargs; k++) {
        args[k] = passed(d, &insn->args[k], 1 + k);
        if (args[k].in_register) {
            static const ptx_type types[CPU_CLASSES] = {PTX_TYPE_B8, PTX_TYPE_B16, PTX_TYPE_B32, PTX_TYPE_B64, PTX_TYPE_PRED};
            values[k] = cpu_value_source(d, &insn->args[k], types[args[k].class], false);
        }
    }
    cpu_draft *draft = cpu_draft_add(d, CPU_K_CALL);
    draft->extra = call;
    if (f->callee)
        cpu_operand_raw(d, 0);
    else
        cpu_operand_add(d, CPU_R_USE, target, CPU_CLASS_64);
    for (uint32_t k = 0; k < insn->nargs; k++)
        if (args[k].in_register)
            cpu_operand_add(d, CPU_R_USE, values[k], (cpu_class)args[k].class);
        else
            cpu_operand_raw(d, 0);
    for (uint32_t k = 0; k < insn->nreturns; k++) {
        returns[k] = passed(d, &insn->returns[k], 1 + insn->nargs + k);
        const ptx_value *v = &insn->returns[k];
        if (returns[k].in_register && v->kind == PTX_VALUE_REG)
            cpu_operand_add(d, CPU_R_DEF, cpu_value_register(d, v->reg, false), (cpu_class)returns[k].class);
        else if (returns[k].in_register)
            cpu_operand_add(d, CPU_R_SINK, 0, (cpu_class)returns[k].class);
        else
            cpu_operand_raw(d, 0);
    }
}

/* ------------------------------------------------------------ barriers */

static void decode_barrier(cpu_decoder *d)
{
    const char *op = cpu_choice(d, "op"), *red = cpu_choice(d, "red");
    const ptx_operand *id = operand_of(d, ISA_OPERAND_SRC, 0), *count = operand_of(d, ISA_OPERAND_SRC, 1);
    const ptx_operand *predicate = operand_of(d, ISA_OPERAND_SRC_PRED, 0), *result = operand_of(d, ISA_OPERAND_DST, 0);
    uint32_t vid = 0, vcount = 0, vpredicate = 0;
    cpu_barrier_insn *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    if (!result)
        result = operand_of(d, ISA_OPERAND_DST_PRED, 0);
    x->op = (uint8_t)(strcmp(op, "arrive") == 0 ? CPU_BAR_ARRIVE : strcmp(op, "sync") == 0 ? CPU_BAR_SYNC
                    : strcmp(red, "popc") == 0 ? CPU_BAR_POPC : strcmp(red, "and") == 0 ? CPU_BAR_AND : CPU_BAR_OR);
    x->has_id = id != NULL;
    x->has_count = count != NULL;
    if (id)
        vid = cpu_value_source(d, &id->values[0], PTX_TYPE_U32, false);
    if (count)
        vcount = cpu_value_source(d, &count->values[0], PTX_TYPE_U32, false);
    if (predicate)
        vpredicate = cpu_value_source(d, &predicate->values[0], PTX_TYPE_PRED, false);
    cpu_class class = x->op == CPU_BAR_POPC ? CPU_CLASS_32 : CPU_CLASS_PRED;
    cpu_draft *draft = cpu_draft_add(d, CPU_K_BARRIER);
    draft->extra = x;
    cpu_operand_add(d, id ? CPU_R_USE : CPU_R_RAW, vid, CPU_CLASS_32);
    cpu_operand_add(d, count ? CPU_R_USE : CPU_R_RAW, vcount, CPU_CLASS_32);
    cpu_operand_add(d, predicate ? CPU_R_USE : CPU_R_RAW, vpredicate, CPU_CLASS_PRED);
    if (result && result->values[0].kind == PTX_VALUE_REG)
        cpu_operand_add(d, CPU_R_DEF, cpu_value_register(d, result->values[0].reg, false), class);
    else
        cpu_operand_add(d, CPU_R_SINK, 0, class);
}

static void decode_cluster_barrier(cpu_decoder *d)
{
    cpu_barrier_insn *x = cpu_decode_alloc(d, sizeof *x);
    if (!x)
        return;
    x->op = strcmp(cpu_choice(d, "op"), "arrive") == 0 ? CPU_BAR_CLUSTER_ARRIVE : CPU_BAR_CLUSTER_WAIT;
    cpu_draft *draft = cpu_draft_add(d, CPU_K_BARRIER);
    draft->extra = x;
    for (uint32_t k = 0; k < 3; k++)
        cpu_operand_raw(d, 0);
    cpu_operand_add(d, CPU_R_SINK, 0, CPU_CLASS_PRED);
}

/* A cluster is one block here: its only rank is 0 and mapa gives back its address. */
static void decode_rank(cpu_decoder *d, bool map)
{
    const ptx_operand *to = operand_of(d, ISA_OPERAND_DST, 0), *from = operand_of(d, ISA_OPERAND_SRC, 0);
    if (to->values[0].kind != PTX_VALUE_REG)
        return;
    cpu_class class = cpu_class_of_register(d, to->values[0].reg);
    static const ptx_type types[CPU_CLASSES] = {PTX_TYPE_B8, PTX_TYPE_B16, PTX_TYPE_B32, PTX_TYPE_B64, PTX_TYPE_PRED};
    uint32_t source = map ? cpu_value_source(d, &from->values[0], types[class], false) : cpu_value_constant(d, class, 0);
    cpu_decode_move(d, cpu_value_register(d, to->values[0].reg, false), source, class);
}

bool cpu_decode_control(cpu_decoder *d, const char *name)
{
    static const char *const nothing[] = {"pmevent", "setmaxnreg", "griddepcontrol"};
    for (uint32_t k = 0; k < sizeof nothing / sizeof *nothing; k++)
        if (strcmp(name, nothing[k]) == 0)
            return true;
    if (strcmp(name, "bra") == 0)
        cpu_draft_add(d, CPU_K_BRANCH)->target = operand_of(d, ISA_OPERAND_LABEL, 0)->label;
    else if (strcmp(name, "brx") == 0)
        decode_jump_table(d);
    else if (strcmp(name, "call") == 0)
        decode_call(d);
    else if (strcmp(name, "ret") == 0)
        cpu_draft_add(d, CPU_K_RET);
    else if (strcmp(name, "exit") == 0)
        cpu_draft_add(d, CPU_K_EXIT);
    else if (strcmp(name, "trap") == 0 || strcmp(name, "brkpt") == 0)
        cpu_draft_add(d, CPU_K_TRAP);
    else if (strcmp(name, "nanosleep") == 0)
        cpu_draft_add(d, CPU_K_YIELD);
    else if (strcmp(name, "bar") == 0)
        decode_barrier(d);
    else if (strcmp(name, "barrier_cluster") == 0)
        decode_cluster_barrier(d);
    else if (strcmp(name, "bar_warp") == 0) {
        uint32_t mask = cpu_value_source(d, &operand_of(d, ISA_OPERAND_SRC, 0)->values[0], PTX_TYPE_B32, false);
        cpu_draft_add(d, CPU_K_WARP_SYNC)->member = 0;
        cpu_operand_add(d, CPU_R_USE, mask, CPU_CLASS_32);
    } else if (strcmp(name, "fence") == 0) {
        cpu_draft *draft = cpu_draft_add(d, CPU_K_OP);
        draft->fn.op = cpu_op_fence;
        draft->cost = 50;
    } else if (strcmp(name, "mapa") == 0 || strcmp(name, "getctarank") == 0)
        decode_rank(d, name[0] == 'm');
    else if (strcmp(name, "createpolicy") == 0) {
        /* A policy only steers caches: any value will do. */
        const ptx_operand *to = operand_of(d, ISA_OPERAND_DST, 0);
        if (to->values[0].kind == PTX_VALUE_REG)
            cpu_decode_move(d, cpu_value_register(d, to->values[0].reg, false), cpu_value_constant(d, CPU_CLASS_64, 0), CPU_CLASS_64);
    } else
        return false;
    return true;
}
