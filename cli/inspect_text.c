/* inspect_text.c - `ptxbridge inspect` for people. */
#include <inttypes.h>
#include <string.h>
#include "cli/inspect.h"

static const char *number(char buffer[24], uint64_t v)
{
    snprintf(buffer, 24, "%" PRIu64, v);
    return buffer;
}

static const char *linkage_name(ptx_linkage linkage)
{
    static const char *const names[] = {"", ".extern ", ".visible ", ".weak ", ".common "};
    return (unsigned)linkage < 5 ? names[linkage] : "";
}

static void print_type(char *buffer, size_t size, const ptx_variable *v)
{
    char vector[16] = "", count[32] = "";
    if (v->vector > 1)
        snprintf(vector, sizeof vector, ".v%u", v->vector);
    if (v->is_array)
        snprintf(count, sizeof count, "[%" PRIu64 "]", v->count);
    snprintf(buffer, size, "%s.%s%s%s", vector, ptx_type_name(v->type), count, v->is_pointer ? " .ptr" : "");
}

static void print_params(const ptx_function *f)
{
    char type[64], offset[24], size[24], align[24];
    table t;
    if (f->prototype.nparams == 0)
        return;
    table_start(&t, 5, ">>><<");
    table_row(&t, (const char *[]){"offset", "bytes", "align", "type", "parameter"});
    for (uint32_t i = 0; i < f->prototype.nparams; i++) {
        const ptx_variable *v = f->prototype.params[i];
        print_type(type, sizeof type, v);
        table_row(&t, (const char *[]){f->is_entry ? number(offset, v->offset) : "", number(size, v->size),
                                       number(align, v->align), type, v->name});
    }
    table_print(&t, stdout, 4);
}

static void print_extent(const char *directive, const uint32_t n[3])
{
    if (n[0])
        printf(" %s %u,%u,%u", directive, n[0], n[1] ? n[1] : 1, n[2] ? n[2] : 1);
}

static void print_directives(const ptx_function *f)
{
    bool any = f->maxntid[0] || f->reqntid[0] || f->minnctapersm || f->maxnreg || f->maxnctapersm ||
               f->reqnctapercluster[0] || f->maxclusterrank || f->noreturn;
    if (!any)
        return;
    printf("  directives:");
    print_extent(".maxntid", f->maxntid);
    print_extent(".reqntid", f->reqntid);
    print_extent(".reqnctapercluster", f->reqnctapercluster);
    if (f->minnctapersm)
        printf(" .minnctapersm %u", f->minnctapersm);
    if (f->maxnctapersm)
        printf(" .maxnctapersm %u", f->maxnctapersm);
    if (f->maxnreg)
        printf(" .maxnreg %u", f->maxnreg);
    if (f->maxclusterrank)
        printf(" .maxclusterrank %u", f->maxclusterrank);
    if (f->noreturn)
        printf(" .noreturn");
    printf("\n");
}

static void print_variable(const ptx_variable *v)
{
    char type[64];
    print_type(type, sizeof type, v);
    printf("  %s.%s %s %s: %" PRIu64 " bytes, align %u, line %u%s\n", linkage_name(v->linkage),
           ptx_space_name(v->space), type, v->name, v->size, v->align, v->at.line, v->init ? ", initialised" : "");
}

static void print_function(const ptx_function *f)
{
    uint64_t shared = 0;
    for (uint32_t i = 0; i < f->nvariables; i++)
        if (f->variables[i]->space == PTX_SPACE_SHARED)
            shared += f->variables[i]->size;
    printf("%s %s, line %u%s\n", f->is_entry ? "entry" : "function", f->name, f->at.line,
           f->is_declaration ? ", declared only" : "");
    if (f->broken != PTX_REASON_NONE)
        printf("  cannot be run: %s, line %u: %s\n", pxb_status_name(rt_status_of_reason(f->broken)),
               f->why ? f->why->at.line : f->at.line, f->why ? f->why->message : "");
    if (!f->is_declaration)
        printf("  %u instructions, %u registers, %" PRIu64 " bytes of parameters, %" PRIu64 " of .shared, %" PRIu64
               " of .local a thread\n",
               f->ninsns, f->nregisters, f->param_size, shared, f->local_size);
    print_directives(f);
    print_params(f);
}

static void print_opcodes(const histogram *h)
{
    table t;
    printf("instructions: %" PRIu64 " of %u kinds\n", h->instructions, h->nopcodes);
    if (!h->nopcodes)
        return;
    table_start(&t, 3, "><<");
    table_row(&t, (const char *[]){"count", "instruction", ""});
    for (uint32_t i = 0; i < h->nopcodes; i++) {
        char count[24];
        const opcode_count *c = &h->opcodes[i];
        table_row(&t, (const char *[]){number(count, c->count), c->text,
                                       c->lowered       ? ""
                                       : c->first->form ? "not lowered"
                                                        : "not understood"});
    }
    table_print(&t, stdout, 2);
}

/* Each kind once, with the lines of all its places up to a limit. */
static void print_not_lowered(const ptx_module *m, const histogram *h)
{
    enum { MOST = 50 };
    uint32_t shown = 0;
    if (!h->not_lowered)
        return;
    printf("not lowered: %" PRIu64 "\n", h->not_lowered);
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        const ptx_function *f = m->functions[i];
        for (uint32_t j = 0; j < f->ninsns; j++) {
            char text[160];
            if (is_lowered(&f->insns[j]) || shown++ >= MOST)
                continue;
            ptx_format_insn(m, &f->insns[j], text, sizeof text);
            printf("  %s:%u: %s: %s\n", m->file ? m->file : "", f->insns[j].at.line, f->name, text);
        }
    }
    if (shown > MOST)
        printf("  and %u more\n", shown - MOST);
}

static void print_diagnostics(pxb_module *module)
{
    pxb_diagnostic d;
    for (uint32_t i = 0; pxb_module_diagnostic(module, i, &d) == PXB_OK; i++)
        printf("%s%s", d.text, d.text[0] && d.text[strlen(d.text) - 1] == '\n' ? "" : "\n");
}

void print_inspection(pxb_module *module, const histogram *h)
{
    const ptx_module *m = module->ptx;
    char suffix[2] = {m->sm_suffix, '\0'};
    printf("%s: PTX %u.%u for sm_%u%s", m->file, m->version / 10, m->version % 10, m->sm, suffix);
    for (uint32_t i = 0; i < m->ntargets; i++)
        printf(", %s", m->targets[i]);
    printf(", %u-bit addresses, %" PRIu64 " statements, %u errors, %u warnings\n", m->address_size, m->statements,
           m->nerrors, m->nwarnings);
    for (uint32_t i = 0; i < m->nfunctions; i++)
        print_function(m->functions[i]);
    if (m->nvariables)
        printf("variables of the module:\n");
    for (uint32_t i = 0; i < m->nvariables; i++)
        print_variable(m->variables[i]);
    print_opcodes(h);
    print_not_lowered(m, h);
    print_diagnostics(module);
}
