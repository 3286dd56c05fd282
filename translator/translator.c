/* translator.c - the way of one module through the translator, and its one failing road.
 *
 * declare functions and variables -> lower each function -> link the meanings ->
 * verify -> optimise -> write out. LLVM objects belong to one context that is
 * disposed at the end, whether the translation worked or not.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <llvm-c/Analysis.h>
#include <llvm/Config/llvm-config.h>
#include "ptx/host.h"
#include "translator/l_llvm.h"

typedef struct xl_block { struct xl_block *next; } xl_block;

void xl_fail(xl_emitter *x, ptx_reason reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(x->result->message, sizeof x->result->message, format, args);
    va_end(args);
    x->result->reason = reason;
    x->result->in = x->ptx;
    if (x->insn) x->result->at = x->insn->at;
    else if (x->ptx) x->result->at = x->ptx->at;
    longjmp(x->fail, 1);
}

void *xl_alloc(xl_emitter *x, size_t size)
{
    xl_block *block = calloc(1, sizeof *block + size + 1);
    if (!block) xl_fail(x, PTX_REASON_MEMORY, "out of memory");
    block->next = x->memory;
    x->memory = block;
    return block + 1;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static const char *const targets[] = {"gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201", NULL};

const char *const *xl_targets(void) { return targets; }

const char *xl_llvm_version(void) { return "LLVM " LLVM_VERSION_STRING; }

static _Noreturn void fail_broken(xl_emitter *x, const ptx_function *f)
{
    x->result->at = f->why ? f->why->at : f->at;
    x->result->in = f;
    x->result->reason = f->broken;
    snprintf(x->result->message, sizeof x->result->message, "%s", f->why ? f->why->message : "the function has errors");
    longjmp(x->fail, 1);
}

static void check_options(xl_emitter *x)
{
    bool known = false;
    for (const char *const *t = targets; *t; t++) known |= !strcmp(*t, x->options->target);
    if (!known) xl_fail(x, PTX_REASON_UNSUPPORTED, "unknown target '%s'; known are gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1151 gfx1200 gfx1201", x->options->target);
    /* gfx9 has wavefronts of 64 lanes only; gfx10 and later run 32. */
    x->wave = !strncmp(x->options->target, "gfx9", 4) ? 64 : 32;
    if (!x->options->entry) return;
    const ptx_function *f = ptx_find_function(x->module, x->options->entry);
    if (!f || !f->is_entry) xl_fail(x, PTX_REASON_MALFORMED, "there is no entry '%s' in this module", x->options->entry);
    if (f->broken) fail_broken(x, f);
}

static void verify(xl_emitter *x)
{
    char *message = NULL;
    x->insn = NULL;
    x->ptx = NULL;
    if (LLVMVerifyModule(x->llvm, LLVMReturnStatusAction, &message)) {
        char kept[400];
        snprintf(kept, sizeof kept, "%s", message ? message : "");
        LLVMDisposeMessage(message);
        xl_fail(x, PTX_REASON_UNSUPPORTED, "internal: the IR does not verify: %s", kept);
    }
    LLVMDisposeMessage(message);
}

static void module_flags(xl_emitter *x)
{
    LLVMSetTarget(x->llvm, "amdgcn-amd-amdhsa");
    LLVMAddModuleFlag(x->llvm, LLVMModuleFlagBehaviorError, "amdhsa_code_object_version", 26,
                      LLVMValueAsMetadata(l_i32(x, 500)));
}

static void lower_module(xl_emitter *x)
{
    x->functions = xl_alloc(x, (x->module->nfunctions + 1u) * sizeof *x->functions);
    x->variables = xl_alloc(x, (x->module->nvariables + 1u) * sizeof *x->variables);
    module_flags(x);
    xl_open_machine(x);
    xl_open_lines(x);
    xl_open_meanings(x);
    xl_declare_variables(x);
    xl_declare_functions(x);
    xl_define_variables(x);
    if (x->options->function_table) xl_define_functions(x);
    for (uint32_t i = 0; i < x->module->nfunctions; i++) {
        if (!x->functions[i].value) continue;
        const ptx_function *f = x->functions[i].ptx;
        if (f->broken) {
            x->ptx = f;
            fail_broken(x, f);
        }
        xl_lower_function(x, &x->functions[i]);
    }
    x->insn = NULL;
    x->ptx = NULL;
    xl_close_lines(x);
    if (!x->options->unoptimised) xl_link_meanings(x);
    verify(x);
}

static void dispose_llvm(xl_emitter *x)
{
    if (x->meanings) LLVMDisposeModule(x->meanings);
    xl_dispose_lines(x);
    if (x->b) LLVMDisposeBuilder(x->b);
    if (x->llvm) LLVMDisposeModule(x->llvm);
    if (x->machine) LLVMDisposeTargetMachine(x->machine);
    if (x->context) LLVMContextDispose(x->context);
}

static void dispose(xl_emitter *x)
{
    if (!x->abandoned) dispose_llvm(x);
    while (x->memory) {
        xl_block *next = x->memory->next;
        free(x->memory);
        x->memory = next;
    }
}

/* LLVM reports some faults through its context (for example a kernel that needs too much LDS). */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *data)
{
    xl_emitter *x = data;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || x->diagnostic[0]) return;
    char *text = LLVMGetDiagInfoDescription(info);
    snprintf(x->diagnostic, sizeof x->diagnostic, "%s", text);
    LLVMDisposeMessage(text);
}

static bool translate(const ptx_module *module, const xl_options *options, xl_result *result)
{
    memset(result, 0, sizeof *result);
    xl_emitter *x = calloc(1, sizeof *x);
    if (!x) {
        result->reason = PTX_REASON_MEMORY;
        snprintf(result->message, sizeof result->message, "out of memory");
        return false;
    }
    x->module = module;
    x->options = options;
    x->result = result;
    double start = now_ms();
    bool worked = false;
    if (!setjmp(x->fail)) {
        check_options(x);
        x->context = LLVMContextCreate();
        LLVMContextSetDiagnosticHandler(x->context, on_diagnostic, x);
        x->llvm = LLVMModuleCreateWithNameInContext(module->file ? module->file : "ptx", x->context);
        x->b = LLVMCreateBuilderInContext(x->context);
        lower_module(x);
        result->emit_ms = now_ms() - start;
        xl_generate(x);
        worked = true;
    }
    if (!worked) {
        free(result->data);
        result->data = NULL;
        result->size = 0;
    }
    dispose(x);
    free(x);
    return worked;
}

/* LLVM weighs with floating point what it does first: its output is not to depend on the host program. */
bool xl_translate(const ptx_module *module, const xl_options *options, xl_result *result)
{
    ptx_host host;
    ptx_host_leave(&host);
    const bool worked = translate(module, options, result);
    ptx_host_return(&host);
    return worked;
}
