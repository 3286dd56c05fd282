/* parse_fuzz.c - libFuzzer target of the front end.
 *
 * Parses any bytes, then reads everything that a user of the module reads: diagnostics, texts of
 * instructions, flattened operands, label targets. What holds for every module is asserted.
 */
#include "ptx/module.h"

#include <stdlib.h>

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void read_insn(const ptx_module *m, const ptx_function *f, const ptx_insn *insn)
{
    char text[128];
    ptx_value values[ISA_MAX_ELEMS];
    isa_elem elems[ISA_MAX_ELEMS];
    ptx_format_insn(m, insn, text, sizeof text);
    if (!insn->form)
        return;
    uint32_t n = ptx_flatten(insn, values);
    if (!insn->operation)
        require(n == isa_signature(insn->form, &insn->tuple, elems));
    for (uint32_t i = 0; i < n; i++)
        require(values[i].kind != PTX_VALUE_REG || values[i].reg < f->nregisters);
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == ISA_OPERAND_LABEL && f->broken == PTX_REASON_NONE)
            require(insn->operands[i].label <= f->ninsns);
    require(!insn->guarded || insn->guard < f->nregisters);
}

static void read_function(const ptx_module *m, const ptx_function *f)
{
    require(f->name != NULL && (f->broken == PTX_REASON_NONE) == (f->why == NULL));
    require(ptx_find_function(m, f->name) != NULL);
    for (uint32_t i = 0; i < f->ninsns; i++) {
        require(f->insns[i].form || f->broken != PTX_REASON_NONE);
        read_insn(m, f, &f->insns[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[512];
    ptx_module *m = ptx_parse((const char *)data, size, "fuzz.ptx");
    if (!m)
        return 0;
    require(m->ndiagnostics <= 100 && (m->nerrors == 0 || m->ndiagnostics > 0));
    for (uint32_t i = 0; i < m->ndiagnostics; i++)
        ptx_format_diagnostic(m, &m->diagnostics[i], text, sizeof text);
    uint32_t read = 0;
    for (uint32_t i = 0; i < m->nfunctions && read < 1000; i++, read++)
        read_function(m, m->functions[i]);
    ptx_module_free(m);
    return 0;
}
