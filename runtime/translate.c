/* translate.c - pxb_translate: the translator behind the disk cache.
 *
 * An entry's key is BLAKE3 (LLVM's own, so that no further library is needed: without LLVM nothing is translated) over
 * everything that the result depends on: the module's text and name, the options, LLVM's version, and the
 * identity of this program, which is its version, its helpers' bitcode and the linker's build id. Each
 * part is preceded by its length, so that no two lists of parts give the same bytes.
 */
#include "runtime/internal.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/cache.h"
#include "runtime/module.h"

void pxb_blob_free(pxb_blob *blob)
{
    if (!blob)
        return;
    free(blob->data);
    free(blob->left_out);
    memset(blob, 0, sizeof *blob);
}

#if PTXBRIDGE_LLVM

#include <elf.h>
#include <link.h>
#include <llvm-c/blake3.h>
#include <stdio.h>
#include "runtime/translate.h"

const char *pxb_translate_target(uint32_t index)
{
    const char *const *targets = xl_targets();
    for (uint32_t i = 0; targets[i]; i++)
        if (i == index)
            return targets[i];
    return NULL;
}

/* ------------------------------------------------------------ the key */

static void feed(llvm_blake3_hasher *h, const void *data, size_t bytes)
{
    uint64_t length = bytes;
    llvm_blake3_hasher_update(h, &length, sizeof length);
    llvm_blake3_hasher_update(h, data, bytes);
}

static void feed_text(llvm_blake3_hasher *h, const char *text)
{
    feed(h, text ? text : "", text ? strlen(text) : 0);
}

/* Feeds the build id (ELF note NT_GNU_BUILD_ID) of the loaded object that holds this function. */
static int feed_build_id(struct dl_phdr_info *info, size_t size, void *hasher)
{
    (void)size;
    uintptr_t here = (uintptr_t)&feed_build_id;
    bool mine = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        mine = mine || (p->p_type == PT_LOAD && here >= start && here - start < p->p_memsz);
    }
    for (int i = 0; mine && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE)
            feed(hasher, (const void *)(info->dlpi_addr + p->p_vaddr), p->p_memsz);
    }
    return mine;
}

extern const char pxl_bitcode_wave32[], pxl_bitcode_wave32_end[], pxl_bitcode_wave64[], pxl_bitcode_wave64_end[];

static void make_key(const ptx_module *m, const xl_options *o, uint8_t key[RT_KEY_BYTES])
{
    llvm_blake3_hasher h;
    uint32_t numbers[] = {o->emit, o->mma_model, o->unoptimised, o->host_variables, o->function_table, o->lines, o->every_line, o->trace, o->mma_fast};
    llvm_blake3_hasher_init(&h);
    feed_text(&h, "ptxbridge translation 3");
    feed_text(&h, pxb_version());
    feed_text(&h, xl_llvm_version());
    dl_iterate_phdr(feed_build_id, &h);
    feed(&h, pxl_bitcode_wave32, (size_t)(pxl_bitcode_wave32_end - pxl_bitcode_wave32));
    feed(&h, pxl_bitcode_wave64, (size_t)(pxl_bitcode_wave64_end - pxl_bitcode_wave64));
    feed_text(&h, o->target);
    feed_text(&h, o->entry);
    feed(&h, numbers, sizeof numbers);
    feed(&h, o->left_out ? (const void *)o->left_out : "", o->left_out ? m->nfunctions : 0);
    feed_text(&h, m->file); /* stands in the output as the module's name */
    feed(&h, m->text, m->length);
    llvm_blake3_hasher_finalize(&h, key, RT_KEY_BYTES);
}

/* ------------------------------------------------------------ translating */

static pxb_status report(pxb_context *ctx, const ptx_module *module, const char *entry, const xl_result *r)
{
    pxb_status status = r->reason == PTX_REASON_NONE ? PXB_UNSUPPORTED : rt_status_of_reason(r->reason);
    /* As a diagnostic, so that the source line and a caret are shown. */
    ptx_diagnostic d = {PTX_ERROR, r->reason == PTX_REASON_NONE ? PTX_REASON_UNSUPPORTED : r->reason, r->at, entry, r->message};
    if (r->at.line)
        return rt_fail_diagnostic(ctx, module, &d);
    return rt_fail_at(ctx, status, module->file, 0, 0, "%s", r->message);
}

static void keep(pxb_context *ctx, const ptx_module *module, const xl_options *o, const uint8_t key[RT_KEY_BYTES],
                 const pxb_blob *blob)
{
    static const char *const kinds[] = {"llvm", "asm", "obj", "hsaco"};
    char label[256];
    const char *file = module->file ? module->file : "", *slash = strrchr(file, '/');
    snprintf(label, sizeof label, "%s %s %.80s %.80s", o->target, kinds[o->emit], slash ? slash + 1 : file,
             o->entry ? o->entry : "");
    rt_cache_put(ctx, key, label, blob->data, blob->bytes);
}

pxb_status rt_translate(pxb_context *ctx, const ptx_module *module, const xl_options *options, pxb_blob *out,
                        const ptx_function **failed_in)
{
    uint8_t key[RT_KEY_BYTES];
    bool cached = pxb_cache_path(ctx) != NULL;
    memset(out, 0, sizeof *out);
    if (failed_in)
        *failed_in = NULL;
    if (cached) {
        make_key(module, options, key);
        out->from_cache = rt_cache_get(ctx, key, &out->data, &out->bytes);
        if (out->from_cache)
            return PXB_OK;
    }
    double started = rt_now_ms();
    xl_result result = {0};
    if (!xl_translate(module, options, &result)) {
        if (failed_in)
            *failed_in = result.in;
        return report(ctx, module, options->entry, &result);
    }
    rt_debug_phase(ctx, RT_DEBUG_TRANSLATE, options->target, started);
    out->data = result.data;
    out->bytes = result.size;
    if (cached)
        keep(ctx, module, options, key, out);
    return PXB_OK;
}

static pxb_status check_target(pxb_context *ctx, const char *target)
{
    char known[1024] = "";
    if (rt_need(ctx, target, "the target"))
        return PXB_BAD_ARGUMENT;
    for (uint32_t i = 0; pxb_translate_target(i); i++) {
        if (strcmp(pxb_translate_target(i), target) == 0)
            return PXB_OK;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", pxb_translate_target(i));
    }
    return rt_fail(ctx, PXB_UNSUPPORTED, "unknown target \"%.40s\"; known: %s", target, known);
}

static pxb_status check_options(pxb_module *module, const pxb_translate_options *o)
{
    pxb_context *ctx = module->context;
    if (rt_need(ctx, o, "the translation options"))
        return PXB_BAD_ARGUMENT;
    if (o->struct_size != sizeof *o)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "translation options of %zu bytes; start from PXB_TRANSLATE_OPTIONS_INIT", o->struct_size);
    if ((unsigned)o->emit > PXB_EMIT_HSACO)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "unknown kind of output %u", (unsigned)o->emit);
    if (!pxb_mma_model_name(o->mma_model))
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "unknown mma model %u", (unsigned)o->mma_model);
    pxb_status status = check_target(ctx, o->target);
    if (status || !o->entry)
        return status;
    const ptx_function *f = ptx_find_function(module->ptx, o->entry);
    if (!f || !f->is_entry || f->is_declaration)
        return rt_fail_at(ctx, PXB_NOT_FOUND, module->ptx->file, 0, 0, "there is no entry \"%.200s\"", o->entry);
    return f->broken == PTX_REASON_NONE ? PXB_OK : rt_why_broken(module, f);
}

/* Adds "file:line: warning: entry … is left out: why (line n)" to the text. Without memory for it the line is lost, not the result. */
static void note_left_out(const ptx_module *m, const ptx_function *f, const char *why, uint32_t line, char **text)
{
    char *longer = NULL, at[32] = "";
    if (line && line != f->at.line)
        snprintf(at, sizeof at, " (line %u)", line);
    if (asprintf(&longer, "%s%s:%u: warning: entry \"%s\" is left out: %s%s\n", *text ? *text : "", m->file ? m->file : "<ptx>",
                 f->at.line, f->name, why, at) > 0) {
        free(*text);
        *text = longer;
    }
}

/* Leaves out the entries that need a function which cannot be translated; gives how many are left, and adds them to the text. */
static uint32_t leave_out(const ptx_module *m, const ptx_function *failed, const pxb_error *why, uint8_t *left_out, char **text)
{
    uint32_t rest = 0;
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        const ptx_function *f = m->functions[i];
        bool reaches;
        if (!f->is_entry || f->broken || f->is_declaration || left_out[i])
            continue;
        ptx_shared_of(m, f, failed, &reaches);
        left_out[i] = reaches;
        rest += !reaches;
        if (reaches)
            note_left_out(m, f, why->reason, why->line, text);
    }
    return rest;
}

/* The entries that the parser found bad. When there are no others, that is the answer: an error, that of the first. */
static pxb_status leave_out_broken(pxb_module *module, char **text)
{
    const ptx_module *m = module->ptx;
    const ptx_function *first = NULL;
    uint32_t rest = 0;
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        const ptx_function *f = m->functions[i];
        if (!f->is_entry || f->is_declaration)
            continue;
        rest += !f->broken;
        if (f->broken)
            note_left_out(m, f, f->why ? f->why->message : pxb_status_name(rt_status_of_reason(f->broken)), f->why ? f->why->at.line : 0, text);
        if (f->broken && !first)
            first = f;
    }
    return first && !rest ? rt_why_broken(module, first) : PXB_OK;
}

static pxb_status translate_all(pxb_module *module, xl_options *o, pxb_blob *out)
{
    const ptx_module *m = module->ptx;
    const ptx_function *failed;
    uint8_t *left_out = NULL;
    char *text = NULL;
    pxb_status status = leave_out_broken(module, &text);
    bool again = !status;
    while (again && (status = rt_translate(module->context, m, o, out, &failed)) && failed) {
        left_out = left_out ? left_out : calloc((size_t)m->nfunctions + 1, 1);
        size_t before = text ? strlen(text) : 0;
        again = left_out && leave_out(m, failed, pxb_last_error(module->context), left_out, &text) && strlen(text ? text : "") > before;
        o->left_out = left_out;
    }
    free(left_out);
    if (status)
        free(text);
    else
        out->left_out = text;
    return status;
}

pxb_status pxb_translate(pxb_module *module, const pxb_translate_options *options, pxb_blob *out)
{
    static const xl_emit emits[] = {XL_EMIT_LLVM, XL_EMIT_ASM, XL_EMIT_OBJECT, XL_EMIT_HSACO};
    memset(out, 0, sizeof *out);
    pxb_status status = check_options(module, options);
    if (status)
        return status;
    xl_options o = {.target = options->target,
                    .entry = options->entry,
                    .emit = emits[options->emit],
                    .mma_model = options->mma_model,
                    .unoptimised = options->unoptimised,
                    .mma_fast = options->mma_fast};
    return o.entry ? rt_translate(module->context, module->ptx, &o, out, NULL) : translate_all(module, &o, out);
}

pxb_status pxb_translate_mma_notes(pxb_module *module, const char *target, char *text, size_t size)
{
    if (rt_need(module->context, text, "the text"))
        return PXB_BAD_ARGUMENT;
    if (!size)
        return rt_fail(module->context, PXB_BAD_ARGUMENT, "no room for the notes");
    pxb_status status = check_target(module->context, target);
    if (status)
        return status;
    xl_mma_notes(module->ptx, target, text, size);
    return PXB_OK;
}

#else

const char *pxb_translate_target(uint32_t index)
{
    (void)index;
    return NULL;
}

pxb_status pxb_translate(pxb_module *module, const pxb_translate_options *options, pxb_blob *out)
{
    (void)options;
    memset(out, 0, sizeof *out);
    return rt_fail(module->context, PXB_UNSUPPORTED,
                   "this build has no translator (it was configured with PTXBRIDGE_LLVM=OFF)");
}

pxb_status pxb_translate_mma_notes(pxb_module *module, const char *target, char *text, size_t size)
{
    (void)target;
    if (text && size)
        *text = 0;
    return rt_fail(module->context, PXB_UNSUPPORTED,
                   "this build has no translator (it was configured with PTXBRIDGE_LLVM=OFF)");
}

#endif
