/* lower_function.c - functions: signatures, blocks, registers, and the walk over the instructions.
 *
 * An entry takes one by-reference block of kernel arguments laid out exactly as
 * PTX lays out .param. A device function takes its parameters and gives its
 * results by value; inside, each is an alloca, because PTX addresses them. A
 * function in which a thread may `exit` gives a flag first, which every caller
 * tests: AMD hardware has no instruction that ends single lanes.
 */
#include <stdio.h>
#include <string.h>
#include "ptx/lib/fault.h"
#include "ptx/trace.h"
#include "translator/l_llvm.h"
#include "translator/plan.h"

/* ------------------------------------------------------------ signatures */

/* A scalar is an integer; an array or vector is an array of words. */
LLVMTypeRef xl_param_type(xl_emitter *x, const ptx_variable *v)
{
    bool scalar = !v->is_array && v->vector <= 1;
    return scalar ? l_int(x, ptx_type_bytes(v->type) * 8) : LLVMArrayType2(l_int(x, 32), (v->size + 3) / 4);
}

LLVMTypeRef xl_result_type(xl_emitter *x, const ptx_prototype *p, bool may_exit)
{
    if (!may_exit && p->nreturns == 0) return LLVMVoidTypeInContext(x->context);
    if (!may_exit && p->nreturns == 1) return xl_param_type(x, p->returns[0]);
    LLVMTypeRef parts[33];
    unsigned n = 0;
    if (p->nreturns > 32) xl_fail(x, PTX_REASON_LIMIT, "a function with more than 32 results");
    if (may_exit) parts[n++] = l_int(x, 1);
    for (uint32_t i = 0; i < p->nreturns; i++) parts[n++] = xl_param_type(x, p->returns[i]);
    return LLVMStructTypeInContext(x->context, parts, n, false);
}

LLVMTypeRef xl_function_type(xl_emitter *x, const ptx_prototype *p, bool may_exit)
{
    LLVMTypeRef *params = xl_alloc(x, p->nparams * sizeof *params);
    for (uint32_t i = 0; i < p->nparams; i++) params[i] = xl_param_type(x, p->params[i]);
    return LLVMFunctionType(xl_result_type(x, p, may_exit), params, p->nparams, false);
}

static void entry_attributes(xl_emitter *x, const ptx_function *f, LLVMValueRef fn)
{
    uint32_t threads = 1024;
    const uint32_t *bound = f->reqntid[0] ? f->reqntid : f->maxntid[0] ? f->maxntid : NULL;
    if (bound) threads = bound[0] * (bound[1] ? bound[1] : 1) * (bound[2] ? bound[2] : 1);
    char text[32];
    snprintf(text, sizeof text, "1,%u", threads < 1 || threads > 1024 ? 1024 : threads);
    l_attribute(x, fn, "amdgpu-flat-work-group-size", text);
    l_attribute(x, fn, "uniform-work-group-size", "true");
}

/* The block of kernel arguments: byref leaves the layout to us (LLVM, "byref", AMDGPU calling conventions). */
static void declare_entry(xl_emitter *x, xl_function *f)
{
    const ptx_function *p = f->ptx;
    LLVMTypeRef param = l_ptr(x, AS_CONSTANT);
    f->type = LLVMFunctionType(LLVMVoidTypeInContext(x->context), &param, p->param_size ? 1 : 0, false);
    f->value = LLVMAddFunction(x->llvm, p->name, f->type);
    LLVMSetFunctionCallConv(f->value, LLVMAMDGPUKERNELCallConv);
    LLVMSetVisibility(f->value, LLVMProtectedVisibility);
    entry_attributes(x, p, f->value);
    if (!p->param_size) return;
    unsigned byref = LLVMGetEnumAttributeKindForName("byref", 5);
    LLVMTypeRef block = LLVMArrayType2(l_int(x, 8), p->param_size);
    LLVMAddAttributeAtIndex(f->value, 1, LLVMCreateTypeAttribute(x->context, byref, block));
    uint32_t align = 8;
    for (uint32_t i = 0; i < p->prototype.nparams; i++)
        if (p->prototype.params[i]->align > align) align = p->prototype.params[i]->align;
    l_enum_attribute(x, f->value, 1, "align", align);
}

static void declare_device_function(xl_emitter *x, xl_function *f)
{
    char name[512];
    snprintf(name, sizeof name, "%s", f->ptx->name);
    f->type = xl_function_type(x, &f->ptx->prototype, f->may_exit);
    f->value = LLVMAddFunction(x->llvm, name, f->type);
    LLVMSetLinkage(f->value, LLVMInternalLinkage);
}

uint64_t xl_stand_in(const xl_emitter *x, const ptx_function *f)
{
    bool absent = x->options->left_out && (x->options->left_out[f->index] || f->broken || f->is_declaration);
    uint64_t number = 16 * ((uint64_t)f->index + 1);
    return !absent ? 0 : number < PXL_NO_FUNCTION ? number : 1;
}

static void mark(const xl_emitter *x, const ptx_function *f, uint8_t *wanted);

static void mark_address(const xl_emitter *x, const ptx_value *v, uint8_t *wanted)
{
    if (v->kind == PTX_VALUE_FUNCTION && !xl_stand_in(x, v->function)) mark(x, v->function, wanted);
}

/* Which functions an entry reaches: directly, or because their address is taken. */
static void mark(const xl_emitter *x, const ptx_function *f, uint8_t *wanted)
{
    if (wanted[f->index] || (x->options->function_table && xl_stand_in(x, f) && !f->is_declaration)) return;
    wanted[f->index] = 1;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const ptx_insn *insn = &f->insns[i];
        for (uint32_t k = 0; k < insn->noperands; k++) {
            const ptx_operand *o = &insn->operands[k];
            if (o->kind == ISA_OPERAND_FUNCTION && o->callee) mark(x, o->callee, wanted);
            for (uint32_t v = 0; v < o->nvalues; v++)
                mark_address(x, &o->values[v], wanted);
        }
        for (uint32_t v = 0; v < insn->nargs; v++)
            mark_address(x, &insn->args[v], wanted);
    }
}

static bool calls_exiting(const xl_emitter *x, const ptx_function *f)
{
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const ptx_insn *insn = &f->insns[i];
        if (insn->operation && !strcmp(insn->operation, "exit")) return true;
        for (uint32_t k = 0; k < insn->noperands; k++)
            if (insn->operands[k].kind == ISA_OPERAND_FUNCTION && insn->operands[k].callee &&
                x->functions[insn->operands[k].callee->index].may_exit) return true;
    }
    return false;
}

static void find_exiting(xl_emitter *x, const uint8_t *wanted)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < x->module->nfunctions; i++) {
            xl_function *f = &x->functions[i];
            if (!wanted[i] || f->may_exit || f->ptx->is_entry || !calls_exiting(x, f->ptx)) continue;
            f->may_exit = changed = true;
        }
    }
}

void xl_declare_functions(xl_emitter *x)
{
    const ptx_module *m = x->module;
    uint8_t *wanted = xl_alloc(x, m->nfunctions);
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        const ptx_function *f = m->functions[i];
        x->functions[i].ptx = f;
        bool left_out = x->options->left_out && x->options->left_out[i];
        if (f->is_entry && (!x->options->entry ? !f->broken && !left_out : !strcmp(f->name, x->options->entry))) mark(x, f, wanted);
        if (!f->is_entry && !f->broken && !left_out && x->options->function_table) mark(x, f, wanted);
    }
    for (uint32_t i = 0; i < m->nvariables && !x->options->host_variables; i++)   /* functions whose address an initialiser holds */
        for (uint32_t k = 0; k < m->variables[i]->nrelocations; k++)
            if (m->variables[i]->relocations[k].function) mark(x, m->variables[i]->relocations[k].function, wanted);
    find_exiting(x, wanted);
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        if (!wanted[i] || m->functions[i]->is_declaration) continue;   /* what is only declared is vprintf and its like */
        if (m->functions[i]->is_entry) declare_entry(x, &x->functions[i]);
        else declare_device_function(x, &x->functions[i]);
    }
    x->several_barriers = xl_names_several_barriers(x);
}

/* ------------------------------------------------------------ bodies */

enum { MOST_READ = 4096, EVERYWHERE = UINT32_MAX };

static bool may_jump(const ptx_insn *insn)
{
    for (uint32_t k = 0; k < insn->noperands; k++)
        if (insn->operands[k].kind == ISA_OPERAND_LABEL || insn->operands[k].kind == ISA_OPERAND_LIST) return true;
    return insn->operation && (!strcmp(insn->operation, "ret") || !strcmp(insn->operation, "exit"));
}

/* One instruction of stretch `at`: registers that it may read unwritten are marked. written: the stretch of the last sure write.
 * The record of an instruction whose guard was false reads what was not written; it goes to a place that nobody reads (trace.c). */
static void note_reads(const ptx_insn *insn, uint32_t at, uint32_t *written, uint8_t *open, uint32_t *list)
{
    uint32_t n = ptx_read(insn, list, MOST_READ);
    for (uint32_t k = 0; k < n; k++)
        if (written[list[k]] != EVERYWHERE && written[list[k]] != at) open[list[k]] = 1;
    n = insn->guarded ? 0 : ptx_written(insn, list);
    for (uint32_t k = 0; k < n; k++)
        if (written[list[k]] != EVERYWHERE) written[list[k]] = at;
}

/* Which registers may be read before anything wrote them, as far as stretches from label to label tell: the only way into one is its
 * top, so a write in it comes before all that follows there; what is written before the first jump comes before everything. */
static uint8_t *read_unwritten(xl_emitter *x)
{
    const ptx_function *f = x->ptx;
    uint8_t *open = xl_alloc(x, f->nregisters + 1u), *label = xl_alloc(x, f->ninsns + 1u);
    uint32_t *written = xl_alloc(x, (f->nregisters + 1u) * sizeof *written), *list = xl_alloc(x, MOST_READ * sizeof *list);
    for (uint32_t i = 0; i < f->nlabels; i++)
        if (f->labels[i].target <= f->ninsns) label[f->labels[i].target] = 1;
    uint32_t at = EVERYWHERE, stretch = 1;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        if (label[i]) at = ++stretch;
        note_reads(&f->insns[i], at, written, open, list);
        if (at == EVERYWHERE && may_jump(&f->insns[i])) at = ++stretch;
    }
    return open;
}

/* What was never written reads as zero, as on the CPU: LLVM would drop what depends on an undefined value. Zeroes that nothing can read
 * are left out, since LLVM's promotion to SSA form is quadratic for allocas with stores in two blocks, one of them long. */
static void declare_registers(xl_emitter *x)
{
    const ptx_function *f = x->ptx;
    const uint8_t *open = read_unwritten(x);
    for (uint32_t i = 0; i < f->nregisters; i++) {
        ptx_type t = f->registers[i].type;
        LLVMTypeRef type = l_int(x, t == PTX_TYPE_PRED ? 1 : ptx_type_bytes(t) * 8);
        x->registers[i] = l_alloca(x, type);
        if (open[i] || ptx_type_bytes(t) > 8) l_store(x, LLVMConstNull(type), x->registers[i]);
    }
}

/* The register that a parameter or result in .reg space is: the body names it as any other (PTX ISA, "Kernel and Function Directives: .func"). */
static LLVMValueRef register_of(xl_emitter *x, const ptx_variable *v)
{
    for (uint32_t i = 0; i < x->ptx->nregisters; i++)
        if (!strcmp(x->ptx->registers[i].name, v->name)) return x->registers[i];
    xl_fail(x, PTX_REASON_UNSUPPORTED, "parameter '%s' is neither a .param variable nor a register", v->name);
    return NULL;
}

static bool is_parameter(const ptx_prototype *p, const ptx_variable *v)
{
    for (uint32_t i = 0; i < p->nparams; i++)
        if (!strcmp(p->params[i]->name, v->name)) return true;
    return false;
}

static void declare_params(xl_emitter *x, const xl_function *f)
{
    const ptx_prototype *p = &x->ptx->prototype;
    for (uint32_t i = 0; i < p->nparams; i++) {
        if (x->ptx->is_entry) {
            x->params[i] = l_offset_k(x, LLVMGetParam(x->fn, 0), p->params[i]->offset);
        } else if (p->params[i]->space == PTX_SPACE_REG) {
            LLVMValueRef v = LLVMGetParam(x->fn, i);
            x->params[i] = register_of(x, p->params[i]);
            l_store(x, p->params[i]->type == PTX_TYPE_PRED ? LLVMBuildTrunc(x->b, v, l_int(x, 1), "") : v, x->params[i]);
        } else {
            x->params[i] = l_alloca(x, xl_param_type(x, p->params[i]));
            LLVMSetAlignment(x->params[i], p->params[i]->align > 4 ? p->params[i]->align : 4);
            l_store(x, LLVMGetParam(x->fn, i), x->params[i]);
        }
    }
    for (uint32_t i = 0; i < p->nreturns; i++) {
        if (p->returns[i]->space == PTX_SPACE_REG) {
            x->returns[i] = register_of(x, p->returns[i]);
            if (!is_parameter(p, p->returns[i])) l_store(x, LLVMConstNull(LLVMGetAllocatedType(x->returns[i])), x->returns[i]);
            continue;
        }
        x->returns[i] = l_alloca(x, xl_param_type(x, p->returns[i]));
        l_store(x, LLVMConstNull(xl_param_type(x, p->returns[i])), x->returns[i]);
        LLVMSetAlignment(x->returns[i], p->returns[i]->align > 4 ? p->returns[i]->align : 4);
    }
    x->return_flag = NULL;
    if (f->may_exit) {
        x->return_flag = l_alloca(x, l_int(x, 1));
        l_store(x, l_i1(x, false), x->return_flag);
    }
}

static void declare_locals(xl_emitter *x)
{
    for (uint32_t i = 0; i < x->ptx->nvariables; i++) {
        const ptx_variable *v = x->ptx->variables[i];
        if (v->space == PTX_SPACE_LOCAL) {
            x->locals[i] = l_alloca(x, LLVMArrayType2(l_int(x, 8), v->size));
            LLVMSetAlignment(x->locals[i], v->align ? v->align : 1);
        } else if (v->space == PTX_SPACE_PARAM) {
            x->locals[i] = l_alloca(x, xl_param_type(x, v));
            LLVMSetAlignment(x->locals[i], v->align > 4 ? v->align : 4);
            continue;
        }
        char name[512];
        snprintf(name, sizeof name, "%s.%s", x->ptx->name, v->name);
        if (v->space == PTX_SPACE_SHARED) {
            x->locals[i] = xl_declare_shared(x, v, name);
        } else if ((v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) && !x->options->host_variables) {
            x->locals[i] = xl_declare_variable(x, v, name);
            xl_define_variable(x, v, x->locals[i]);
        }
    }
}

/* A block starts at every label that a branch may take. */
static void make_blocks(xl_emitter *x)
{
    for (uint32_t i = 0; i < x->ptx->nlabels; i++) {
        uint32_t target = x->ptx->labels[i].target;
        if (target <= x->ptx->ninsns && !x->blocks[target]) x->blocks[target] = l_block(x, "");
    }
}

static bool lower_straight(xl_emitter *x, const ptx_insn *insn)
{
    return xl_lower_bulk(x, insn) || xl_lower_memory(x, insn) || xl_lower_atomic(x, insn) || xl_lower_barrier(x, insn) || xl_lower_matrix(x, insn);
}

static bool lower_operation(xl_emitter *x, const ptx_insn *insn, uint32_t index)
{
    if (xl_lower_control(x, insn, index)) return true;
    if (!insn->guarded) return lower_straight(x, insn);
    LLVMBasicBlockRef b_do = l_block(x, "do"), b_next = l_block(x, "next");
    l_cond_br(x, xl_guard(x, insn), b_do, b_next);
    l_here(x, b_do);
    bool known = lower_straight(x, insn);
    if (l_open(x)) l_br(x, b_next);
    l_here(x, b_next);
    return known;
}

static void lower_insn(xl_emitter *x, uint32_t index)
{
    const ptx_insn *insn = &x->ptx->insns[index];
    x->insn = insn;
    xl_insn_line(x, insn);
    xl_trace_before(x, insn);
    if (!insn->form) xl_fail(x, PTX_REASON_MALFORMED, "an instruction that could not be parsed");
    if (insn->meaning) xl_lower_meaning(x, insn);
    else if (!insn->operation || !lower_operation(x, insn, index))
        xl_fail(x, PTX_REASON_UNSUPPORTED, "instruction '%s' is not lowered for AMD targets", insn->form->pattern);
    xl_trace_after(x, insn, index);
}

static void lower_body(xl_emitter *x)
{
    for (uint32_t i = 0; i < x->ptx->ninsns; i++) {
        if (x->blocks[i]) {
            if (l_open(x) && LLVMGetInsertBlock(x->b) != x->blocks[i]) l_br(x, x->blocks[i]);
            l_here(x, x->blocks[i]);
        } else if (!l_open(x)) {
            continue;                                      /* unreachable: no label leads here */
        }
        lower_insn(x, i);
    }
    LLVMBasicBlockRef b_end = x->blocks[x->ptx->ninsns];
    if (b_end) {
        if (l_open(x) && LLVMGetInsertBlock(x->b) != b_end) l_br(x, b_end);
        l_here(x, b_end);
    }
    if (l_open(x)) l_br(x, x->b_return);                   /* a body may end without ret */
}

static LLVMValueRef result(xl_emitter *x, uint32_t i)
{
    const ptx_variable *v = x->ptx->prototype.returns[i];
    LLVMTypeRef type = xl_param_type(x, v);
    if (v->space != PTX_SPACE_REG || v->type != PTX_TYPE_PRED) return l_load(x, type, x->returns[i]);
    return LLVMBuildZExt(x->b, l_load(x, l_int(x, 1), x->returns[i]), type, "");
}

static void lower_return(xl_emitter *x, const xl_function *f, bool cells)
{
    const ptx_prototype *p = &x->ptx->prototype;
    l_here(x, x->dispatch ? xl_end_dispatch(x, cells) : x->b_return);
    if (cells && !x->dispatch) xl_leave_barriers(x);
    xl_trace_suspend(x);
    if (x->ptx->is_entry || (!f->may_exit && !p->nreturns)) { LLVMBuildRetVoid(x->b); return; }
    if (!f->may_exit && p->nreturns == 1) { LLVMBuildRet(x->b, result(x, 0)); return; }
    LLVMValueRef v = LLVMGetUndef(xl_result_type(x, p, f->may_exit));
    unsigned n = 0;
    if (f->may_exit) v = LLVMBuildInsertValue(x->b, v, l_load(x, l_int(x, 1), x->return_flag), n++, "");
    for (uint32_t i = 0; i < p->nreturns; i++)
        v = LLVMBuildInsertValue(x->b, v, result(x, i), n++, "");
    LLVMBuildRet(x->b, v);
}

/* In this module, not only below this entry: a function pointer may lead anywhere. */
static bool reaches_counted_barrier(const xl_emitter *x)
{
    for (uint32_t i = 0; i < x->module->nfunctions; i++)
        if (x->functions[i].value && xl_needs_barrier_cells(x->functions[i].ptx)) return true;
    return false;
}

void xl_lower_function(xl_emitter *x, xl_function *f)
{
    x->ptx = f->ptx;
    x->fn = f->value;
    x->insn = NULL;
    if (x->options->every_line) l_attribute(x, f->value, "amdgpu-hard-clause-length-limit", "1");
    xl_function_line(x);
    x->registers = xl_alloc(x, (size_t)(f->ptx->nregisters + 1) * sizeof *x->registers);
    x->locals = xl_alloc(x, (size_t)(f->ptx->nvariables + 1) * sizeof *x->locals);
    x->params = xl_alloc(x, (size_t)(f->ptx->prototype.nparams + 1) * sizeof *x->params);
    x->returns = xl_alloc(x, (size_t)(f->ptx->prototype.nreturns + 1) * sizeof *x->returns);
    x->blocks = xl_alloc(x, (size_t)(f->ptx->ninsns + 1) * sizeof *x->blocks);
    LLVMBasicBlockRef b_entry = l_block(x, "entry");
    l_here(x, b_entry);
    declare_registers(x);
    declare_params(x, f);
    declare_locals(x);
    xl_trace_enter(x);
    LLVMBasicBlockRef b_body = l_block(x, "body");
    x->b_return = l_block(x, "return");
    l_br(x, b_body);
    l_here(x, b_body);
    xl_plan plan = xl_make_plan(x, f->ptx);
    bool cells = f->ptx->is_entry && (reaches_counted_barrier(x) || x->several_barriers || (plan.dispatch && !plan.plain_barriers));
    if (cells) xl_clear_barriers(x);
    x->dispatch = NULL;
    x->plan = &plan;
    if (plan.dispatch) xl_open_dispatch(x);
    make_blocks(x);
    lower_body(x);
    lower_return(x, f, cells);
}
