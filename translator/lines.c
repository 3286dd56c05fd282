/* lines.c - debug locations: which line and column of the PTX a machine instruction comes from.
 *
 * A line table only, no types or variables. What LLVM inlines from ptx/lib counts as the PTX instruction that called it.
 */
#include <string.h>
#include <llvm-c/DebugInfo.h>
#include "translator/l_llvm.h"

typedef struct xl_lines {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef file, type, scope;         /* scope: of the function being lowered */
} xl_lines;

static void flag(xl_emitter *x, const char *name, uint32_t value)
{
    LLVMAddModuleFlag(x->llvm, LLVMModuleFlagBehaviorWarning, name, strlen(name), LLVMValueAsMetadata(l_i32(x, value)));
}

void xl_open_lines(xl_emitter *x)
{
    if (!x->options->lines) return;
    xl_lines *l = x->lines = xl_alloc(x, sizeof *l);
    const char *name = x->module->file ? x->module->file : "ptx", *slash = strrchr(name, '/');
    if (slash) name = slash + 1;
    flag(x, "Debug Info Version", LLVMDebugMetadataVersion());
    flag(x, "Dwarf Version", 5);
    l->builder = LLVMCreateDIBuilder(x->llvm);
    l->file = LLVMDIBuilderCreateFile(l->builder, name, strlen(name), "", 0);
    LLVMDIBuilderCreateCompileUnit(l->builder, LLVMDWARFSourceLanguageC99, l->file, "ptxbridge", 9, true, "", 0, 0, "", 0,
                                   LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
    l->type = LLVMDIBuilderCreateSubroutineType(l->builder, l->file, NULL, 0, LLVMDIFlagZero);
}

static void set_location(xl_emitter *x, ptx_location at)
{
    LLVMSetCurrentDebugLocation2(x->b, LLVMDIBuilderCreateDebugLocation(x->context, at.line, at.column, x->lines->scope, NULL));
}

/* At the head of a function. */
void xl_function_line(xl_emitter *x)
{
    xl_lines *l = x->lines;
    if (!l) return;
    const char *name = x->ptx->name;
    l->scope = LLVMDIBuilderCreateFunction(l->builder, l->file, name, strlen(name), name, strlen(name), l->file, x->ptx->at.line, l->type,
                                           false, true, x->ptx->at.line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(x->fn, l->scope);
    set_location(x, x->ptx->at);
}

void xl_insn_line(xl_emitter *x, const ptx_insn *insn)
{
    if (x->lines) set_location(x, insn->at);
}

void xl_close_lines(xl_emitter *x)
{
    if (!x->lines) return;
    LLVMSetCurrentDebugLocation2(x->b, NULL);
    LLVMDIBuilderFinalize(x->lines->builder);
}

void xl_dispose_lines(xl_emitter *x)
{
    if (x->lines && x->lines->builder) LLVMDisposeDIBuilder(x->lines->builder);
}
