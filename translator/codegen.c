/* codegen.c - LLVM's passes over the module, and the text or object that comes out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <time.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include "translator/l_llvm.h"

/* Two of LLVM's passes are switched off, which only its command line can do; there is one per process, and no other option is touched.
 *
 * The SDWA peephole of gfx9 is quadratic in the size of a block: four fifths of the time on dec2.
 *
 * Copies are not followed through PHIs: LLVM 22 loses values of loops that lanes leave one by one. A counter that is uniform in such a loop is
 * in a scalar register, and each turn copies it into a vector register for the lanes that are still there, which is what they read behind
 * the loop. The peephole pass takes the PHI behind the loop for a copy of that copy; the next one (SIFoldOperands) then copies the scalar
 * register behind the loop instead, where it holds the last lane's count. Seen on gfx90a, gfx942 and gfx950, where PHIs and copies have
 * different register classes. */
static void switch_off_passes(void)
{
    const char *const words[] = {"ptxbridge", "-amdgpu-sdwa-peephole=0", "-disable-adv-copy-opt"};
    LLVMParseCommandLineOptions(3, words, "");
}

/* What LLVM cannot go on with ends the process unless somebody takes it: on a thread that generates code it is an error of the translation.
 * What LLVM was at is left as it is (xl_emitter.abandoned). Other threads have LLVM's own way. */
static _Thread_local xl_emitter *generating;

static void on_fatal_error(const char *reason)
{
    xl_emitter *x = generating;
    if (!x) return;
    generating = NULL;
    x->abandoned = true;
    xl_fail(x, PTX_REASON_UNSUPPORTED, "LLVM gave up: %s", reason);
}

static void start_backend(void)
{
    switch_off_passes();
    LLVMInstallFatalErrorHandler(on_fatal_error);
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();                       /* pxl_fault ends a wave by inline assembly */
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Before anything is built: the layout says in which address space allocas are. */
void xl_open_machine(xl_emitter *x)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_backend);
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple("amdgcn-amd-amdhsa", &target, &message)) {
        char kept[300];
        snprintf(kept, sizeof kept, "%s", message);
        LLVMDisposeMessage(message);
        xl_fail(x, PTX_REASON_UNSUPPORTED, "this LLVM has no AMDGPU backend: %s", kept);
    }
    x->machine = LLVMCreateTargetMachine(target, "amdgcn-amd-amdhsa", x->options->target, "", LLVMCodeGenLevelDefault,
                                         LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(x->machine);
    LLVMSetModuleDataLayout(x->llvm, layout);
    LLVMDisposeTargetData(layout);
}

static void keep_text(xl_emitter *x, const char *data, size_t size)
{
    x->result->data = malloc(size + 1);
    if (!x->result->data) return;
    memcpy(x->result->data, data, size);
    x->result->data[size] = 0;
    x->result->size = size;
}

/* Inline the meanings, put constants into the functions that they call (of the models of an mma only one is left), make SSA, clean up,
 * inline the kernel's own functions, clean up again. Not default<O2>: on a kernel of 40,000 lines in few blocks its SLP vectoriser
 * alone takes three quarters of the time, and gains nothing on a machine whose lanes are the vectors. */
static const char pipeline[] =
    "always-inline,ipsccp,"
    "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg),"
    "inline,globaldce,"
    "function<eager-inv>(infer-address-spaces,sroa<modify-cfg>,early-cse<memssa>,simplifycfg,"
    "instcombine<max-iterations=1;no-verify-fixpoint>,correlated-propagation,loop-mssa(licm),gvn,dse,bdce,simplifycfg,adce)";

/* Returns an error's text (on the emitter's memory) or NULL. */
static const char *optimise(xl_emitter *x, LLVMTargetMachineRef machine)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(x->llvm, pipeline, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return NULL;
    char *text = LLVMGetErrorMessage(error);
    char *kept = xl_alloc(x, strlen(text) + 1);
    strcpy(kept, text);
    LLVMDisposeErrorMessage(text);
    return kept;
}

static void write_code(xl_emitter *x, LLVMTargetMachineRef machine)
{
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    LLVMCodeGenFileType type = x->options->emit == XL_EMIT_ASM ? LLVMAssemblyFile : LLVMObjectFile;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, x->llvm, type, &message, &buffer)) {
        if (!x->diagnostic[0]) snprintf(x->diagnostic, sizeof x->diagnostic, "%s", message ? message : "no code");
        LLVMDisposeMessage(message);
        return;
    }
    keep_text(x, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
}

/* The object in the result becomes the code object. */
static void link_code(xl_emitter *x)
{
    char *object = x->result->data, message[400];
    size_t size = x->result->size;
    if (!object) return;
    x->result->data = NULL;
    bool linked = xl_link(x->options->target, object, size, &x->result->data, &x->result->size, message, sizeof message);
    free(object);
    if (!linked) xl_fail(x, PTX_REASON_UNSUPPORTED, "%s", message);
}

static void write_ir(xl_emitter *x)
{
    char *text = LLVMPrintModuleToString(x->llvm);
    keep_text(x, text, strlen(text));
    LLVMDisposeMessage(text);
}

/* What LLVM says of one function ("local memory (200000) exceeds limit (65536) in function 'big'") is about that function alone. */
static _Noreturn void fail_diagnostic(xl_emitter *x)
{
    static const char in[] = "in function '";
    const char *at = strstr(x->diagnostic, in), *name = at ? at + sizeof in - 1 : NULL, *end = name ? strchr(name, '\'') : NULL;
    for (uint32_t i = 0; end && i < x->module->nfunctions; i++) {
        const ptx_function *f = x->module->functions[i];
        if (strlen(f->name) == (size_t)(end - name) && !memcmp(f->name, name, (size_t)(end - name))) x->ptx = f;
    }
    /* LLVM's own place is that of the function, or none. */
    const char *text = strstr(x->diagnostic, ": ");
    xl_fail(x, PTX_REASON_LIMIT, "LLVM: %s", x->ptx && text ? text + 2 : x->diagnostic);
}

/* LLVM's part: an error's text, or NULL. */
static const char *run_llvm(xl_emitter *x)
{
    double start = now_ms();
    generating = x;
    const char *error = x->options->unoptimised ? NULL : optimise(x, x->machine);
    x->result->optimise_ms = now_ms() - start;
    start = now_ms();
    if (!error && !x->diagnostic[0]) {
        if (x->options->emit == XL_EMIT_LLVM) write_ir(x);
        else write_code(x, x->machine);
    }
    x->result->codegen_ms = now_ms() - start;
    generating = NULL;
    return error;
}

void xl_generate(xl_emitter *x)
{
    const char *error = run_llvm(x);
    if (error) xl_fail(x, PTX_REASON_UNSUPPORTED, "LLVM's passes: %s", error);
    if (x->diagnostic[0]) fail_diagnostic(x);
    double start = now_ms();
    if (x->options->emit == XL_EMIT_HSACO) link_code(x);
    x->result->codegen_ms += now_ms() - start;
    if (!x->result->data) xl_fail(x, PTX_REASON_MEMORY, "out of memory");
}
