/* dump.c - a launch as a case file (docs/case_files.md), for `ptxbridge exec --dump`.
 *
 * A case holds the module's PTX, its variables and every allocation that a parameter leads to, directly or by pointers in memory, as they
 * were before the launch, and as expectations those that it changed. Pointers are found by looking: an aligned 64-bit value that is
 * an address in an allocation or variable. So a kernel met in a program becomes a case that `run`, `compare` and `inspect` take. What a case
 * file cannot hold is told on stderr and in the case's description.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/array.h"
#include "runtime/driver/dump_case.h"

dump_case dump_now;
#define now dump_now

static uint64_t last_case, last_module;
/* All pieces lie in [lowest, highest). Variables may lie outside what the source knew before it was asked for them. */
static uint64_t lowest, highest;

void dump_lose(const char *format, ...)
{
    va_list list;
    if (now.lost[0])
        return;
    va_start(list, format);
    vsnprintf(now.lost, sizeof now.lost, format, list);
    va_end(list);
}

bool dump_write_file(const char *name, const void *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", now.folder, name);
    pxb_context *errors = dr_thread_errors();
    if (rt_write_file(errors, path, data, bytes) == PXB_OK)
        return true;
    fprintf(stderr, "ptxbridge: dump: %s\n", pxb_last_error(errors)->message);
    return false;
}

/* The module's text, once; its name in the folder. */
static const char *name_module(const dr_dump_source *source)
{
    if (!*source->file) {
        char name[64];
        snprintf(name, sizeof name, "module%" PRIu64 ".ptx", ++last_module);
        if (dump_write_file(name, source->module->text, source->module->length))
            *source->file = strdup(name);
    }
    return *source->file;
}

/* ------------------------------------------------------------ what belongs to a launch */

static bool add_piece(const dump_piece *p)
{
    if (now.npieces == DUMP_MOST_PIECES) {
        dump_lose("it uses more than %d allocations", DUMP_MOST_PIECES);
        return false;
    }
    if (p->bytes > RT_ARRAY_LIMIT) {
        dump_lose("an allocation of %" PRIu64 " bytes is larger than what a case can have", p->bytes);
        return false;
    }
    dump_piece *to = &now.pieces[now.npieces];
    *to = *p;
    to->before = malloc(p->bytes);
    if (to->before && now.source->read(now.source, to->before, to->base, to->bytes)) {
        now.npieces++;
        lowest = p->base < lowest ? p->base : lowest;
        highest = p->base + p->bytes > highest ? p->base + p->bytes : highest;
        return true;
    }
    free(to->before);
    dump_lose("%" PRIu64 " bytes at 0x%" PRIx64 " could not be read", p->bytes, p->base);
    return false;
}

static void take_variables(void)
{
    const ptx_module *m = now.source->module;
    for (uint32_t i = 0; i < m->nvariables; i++) {
        const ptx_variable *v = m->variables[i];
        dump_piece p = {.variable = v->name, .addresses = v->nrelocations ? v : NULL};
        if ((v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) && v->size && v->linkage != PTX_LINK_EXTERN &&
            ptx_type_class(v->type) != 'o' && now.source->variable(now.source, v, &p.base, &p.bytes))
            add_piece(&p);
    }
}

/* Index of the piece that holds an address; -1: none does. */
int dump_known_piece(uint64_t address)
{
    if (address < lowest || address >= highest)
        return -1;
    for (int i = 0; i < now.npieces; i++)
        if (address - now.pieces[i].base < now.pieces[i].bytes)
            return i;
    return -1;
}

static dr_dump_place place_of(uint64_t address, uint64_t *base, uint64_t *bytes)
{
    if (address < now.source->low || address >= now.source->high)
        return DR_DUMP_NOWHERE;
    return now.source->place(now.source, address, base, bytes);
}

static const char *function_of(uint64_t address)
{
    const dr_dump_source *s = now.source;
    return s->function && address >= s->first_function && address <= s->last_function ? s->function(s, address) : NULL;
}

int dump_piece_of(uint64_t address)
{
    dump_piece p = {0};
    int i = dump_known_piece(address);
    dr_dump_place place = i >= 0 ? DR_DUMP_NOWHERE : place_of(address, &p.base, &p.bytes);
    if (place == DR_DUMP_VARIABLE)
        dump_lose("it uses a variable of another module");
    if (place == DR_DUMP_HEAP && !p.bytes)
        dump_lose("it is given an address in the heap of kernels' malloc at which no block is known");
    p.heap = place == DR_DUMP_HEAP;
    if (place == DR_DUMP_MEMORY || (p.heap && p.bytes))
        return add_piece(&p) ? now.npieces - 1 : -1;
    return i;
}

/* Follows every address and handle in a range of bytes; pieces that this finds are at the list's end. */
static void follow(const unsigned char *bytes, uint64_t count)
{
    for (uint64_t at = 0; at + 8 <= count; at += 8) {
        uint64_t value;
        memcpy(&value, bytes + at, 8);
        if (value && dump_piece_of(value) < 0)
            dump_entry_of(value);
    }
}

/* Does it hold something else than addresses that the case can name, where its initial values are some? A real driver's addresses of functions
 * are such, for one. Then it is left to the loader of the module, which has the right ones. */
static bool is_for_the_loader(const dump_piece *p)
{
    for (uint32_t i = 0; i < p->addresses->nrelocations; i++) {
        const uint64_t at = p->addresses->relocations[i].offset;
        uint64_t value = 0;
        if (at % 8 || p->addresses->relocations[i].bytes != 8 || at + 8 > p->bytes)
            return true;
        memcpy(&value, p->before + at, 8);
        if (value && dump_known_piece(value) < 0 && dump_known_entry(value) < 0 && !function_of(value))
            return true;
    }
    return false;
}

bool dr_dump_before(const dr_dump_source *source, const char *folder)
{
    now.folder = folder;
    now.source = source;
    now.npieces = now.npointers = now.nimages = now.nentries = 0;
    now.lost[0] = '\0';
    lowest = UINT64_MAX;
    highest = 0;
    if (!name_module(source))
        return false;
    now.number = ++last_case;
    if (source->lost)
        dump_lose("%s", source->lost);
    take_variables();
    dump_take_references();
    if (source->params)
        follow(source->params, source->entry->param_size);
    for (int i = 0; i < now.npieces; i++)
        follow(now.pieces[i].before, now.pieces[i].bytes);
    for (int i = 0; i < now.npieces; i++)
        now.pieces[i].fixed = now.pieces[i].addresses && is_for_the_loader(&now.pieces[i]);
    dump_find_types();
    return true;
}

/* ------------------------------------------------------------ writing */

/* "buffer": "b1", "buffer_offset": 8 */
static void print_target(FILE *f, uint64_t address, int i, const char *offset_prefix)
{
    const dump_piece *p = &now.pieces[i];
    if (p->variable)
        fprintf(f, "\"global\": \"%s\"", p->variable);
    else
        fprintf(f, "\"buffer\": \"b%d\"", i);
    if (address != p->base)
        fprintf(f, ", \"%soffset\": %" PRIu64, offset_prefix, address - p->base);
}

static void print_value(FILE *f, const unsigned char *at, uint64_t bytes, ptx_type type)
{
    uint64_t value = 0;
    float real;
    memcpy(&value, at, bytes <= 8 ? bytes : 8);
    int i = bytes == 8 ? dump_known_piece(value) : -1, entry = bytes == 8 && i < 0 ? dump_known_entry(value) : -1;
    if (i >= 0)
        print_target(f, value, i, "");
    else if (entry >= 0)
        dump_print_entry(f, entry);
    else if (bytes == 8 && function_of(value))
        fprintf(f, "\"function\": \"%s\"", function_of(value));
    else if (type == PTX_TYPE_F32 && (memcpy(&real, at, sizeof real), isfinite(real))) {
        fprintf(f, "\"f32\": ");
        dump_print_real(f, real);
    } else
        fprintf(f, "\"u%" PRIu64 "\": %" PRIu64, 8 * bytes, value);
}

/* A parameter by value: every aligned word that is not zero, as an address where it is one. */
static void print_struct(FILE *f, const unsigned char *at, uint64_t bytes)
{
    const char *comma = "";
    fprintf(f, "{\"struct\": {\"size\": %" PRIu64 ", \"fields\": [", bytes);
    for (uint64_t k = 0; k < bytes;) {
        uint64_t step = bytes - k >= 8 ? 8 : 1, value = 0;
        memcpy(&value, at + k, step);
        int i = step == 8 ? dump_known_piece(value) : -1, entry = step == 8 && i < 0 ? dump_known_entry(value) : -1;
        const char *function = step == 8 ? function_of(value) : NULL;
        if (i >= 0 || entry >= 0 || function) {
            fprintf(f, "%s{\"offset\": %" PRIu64 ", ", comma, k);
            if (i >= 0)
                print_target(f, value, i, "buffer_");
            else if (entry >= 0)
                dump_print_entry(f, entry);
            else
                fprintf(f, "\"function\": \"%s\"", function);
            fprintf(f, "}");
        } else if (value)
            fprintf(f, "%s{\"offset\": %" PRIu64 ", \"u%" PRIu64 "\": %" PRIu64 "}", comma, k, 8 * step, value);
        if (value)
            comma = ", ";
        k += step;
    }
    fprintf(f, "]}}");
}

static void print_params(FILE *f)
{
    const ptx_prototype *p = &now.source->entry->prototype;
    fprintf(f, "  \"params\": [");
    for (uint32_t i = 0; i < p->nparams; i++) {
        const unsigned char *at = (const unsigned char *)now.source->params + p->params[i]->offset;
        uint64_t bytes = p->params[i]->size;
        bool simple = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
        fprintf(f, "%s\n    ", i ? "," : "");
        if (simple) {
            fprintf(f, "{");
            print_value(f, at, bytes, p->params[i]->type);
            fprintf(f, "}");
        } else
            print_struct(f, at, bytes);
    }
    fprintf(f, "\n  ]");
}

/* One place that holds an address or handle; false: it does not, or leads to what the case does not have. After a launch, addresses in
 * the heap that the case does not have are those that the launch allocated, or freed: it is enough that they are there. */
static bool print_pointer(FILE *f, const char *before, uint64_t at, uint64_t value, bool after)
{
    uint64_t base, bytes;
    int i = dump_known_piece(value), entry = i < 0 ? dump_known_entry(value) : -1;
    const char *function = function_of(value);
    dr_dump_place place = i < 0 && entry < 0 ? place_of(value, &base, &bytes) : DR_DUMP_NOWHERE;
    if (place == DR_DUMP_MEMORY || place == DR_DUMP_VARIABLE)
        dump_lose("memory holds addresses of memory that the case does not have");
    if (i < 0 && entry < 0 && !function && !(after && place == DR_DUMP_HEAP))
        return false;
    if (now.npointers++ >= DUMP_MOST_POINTERS) {
        dump_lose("its memory holds more than %d addresses", DUMP_MOST_POINTERS);
        return false;
    }
    fprintf(f, "%s{\"offset\": %" PRIu64 ", ", before, at);
    if (i >= 0)
        print_target(f, value, i, now.pieces[i].variable ? "global_" : "buffer_");
    else if (entry >= 0)
        dump_print_entry(f, entry);
    else if (function)
        fprintf(f, "\"function\": \"%s\"", function);
    else
        fprintf(f, "\"heap\": true");
    fprintf(f, "}");
    return true;
}

/* Where an array holds addresses, as the key "pointers"; after a launch also when it holds none. */
static void print_pointers(FILE *f, const unsigned char *bytes, uint64_t count, bool after)
{
    bool any = false;
    for (uint64_t at = 0; at + 8 <= count; at += 8) {
        uint64_t value;
        memcpy(&value, bytes + at, 8);
        if (value)
            any |= print_pointer(f, any ? ", " : ", \"pointers\": [", at, value, after);
    }
    if (any || after)
        fprintf(f, "%s]", any ? "" : ", \"pointers\": [");
}

/* What the kernel says of an array's elements, if it is more than that they are bytes. */
static void print_dtype(FILE *f, const dump_piece *p)
{
    if (p->typed && !p->several && p->dtype != RT_U8 && p->bytes % rt_dtype_bytes(p->dtype) == 0)
        fprintf(f, ", \"dtype\": \"%s\"", rt_dtype_name(p->dtype));
}

static void print_pieces(FILE *f, const char *key, bool variables)
{
    const char *comma = "";
    fprintf(f, "  \"%s\": {", key);
    for (int i = 0; i < now.npieces; i++) {
        const dump_piece *p = &now.pieces[i];
        char name[64];
        if ((p->variable != NULL) != variables || p->fixed)
            continue;
        snprintf(name, sizeof name, "case%" PRIu64 "_b%d.bin", now.number, i);
        if (!dump_write_file(name, p->before, p->bytes))
            dump_lose("%s could not be written", name);
        if (p->variable)
            fprintf(f, "%s\n    \"%s\": {\"raw\": \"%s\"", comma, p->variable, name);
        else
            fprintf(f, "%s\n    \"b%d\": {\"raw\": \"%s\"", comma, i, name);
        print_dtype(f, p);
        print_pointers(f, p->before, p->bytes, false);
        fprintf(f, p->heap ? ", \"heap\": true}" : "}");
        comma = ",";
    }
    if (variables)
        dump_print_references(f, &comma);
    fprintf(f, "\n  },\n");
}

static const char *fault_name(cu_result result)
{
    switch (result) {
    case DR_ERROR(ILLEGAL_ADDRESS): return "illegal_address";
    case DR_ERROR(MISALIGNED_ADDRESS): return "misaligned_address";
    case DR_ERROR(HARDWARE_STACK_ERROR): return "stack";
    case DR_ERROR(INVALID_PC): return "call";
    case DR_ERROR(ASSERT):
    case DR_ERROR(LAUNCH_FAILED): return "trap";
    }
    return NULL;
}

static bool was_freed(const dump_piece *p)
{
    uint64_t base, bytes;
    return now.source->place(now.source, p->base, &base, &bytes) != DR_DUMP_HEAP || bytes != p->bytes;
}

static void print_expected(FILE *f, int i, const char *file, const unsigned char *contents, const char *comma)
{
    const dump_piece *p = &now.pieces[i];
    if (p->variable)
        fprintf(f, "%s\n    {\"global\": \"%s\", \"raw\": \"%s\"", comma, p->variable, file);
    else
        fprintf(f, "%s\n    {\"buffer\": \"b%d\", \"raw\": \"%s\"", comma, i, file);
    print_dtype(f, p);
    print_pointers(f, contents, p->bytes, true);
    fprintf(f, "}");
}

static void expect_change(FILE *f, int i, const char **comma)
{
    const dump_piece *p = &now.pieces[i];
    char name[64];
    if (p->heap && was_freed(p))
        return;
    unsigned char *after = malloc(p->bytes);
    snprintf(name, sizeof name, "case%" PRIu64 "_b%d_after.bin", now.number, i);
    if (!after || !now.source->read(now.source, after, p->base, p->bytes))
        dump_lose("%" PRIu64 " bytes at 0x%" PRIx64 " could not be read after the launch", p->bytes, p->base);
    else if (memcmp(after, p->before, p->bytes) != 0) {
        if (!dump_write_file(name, after, p->bytes))
            dump_lose("%s could not be written", name);
        print_expected(f, i, name, after, *comma);
        *comma = ",";
    }
    free(after);
}

/* Where nothing changed, the allocations have to stay as they were. */
static void expect_same(FILE *f)
{
    const char *comma = "";
    for (int i = 0; i < now.npieces; i++) {
        const dump_piece *p = &now.pieces[i];
        char name[64];
        if (p->variable || p->heap)
            continue;
        snprintf(name, sizeof name, "case%" PRIu64 "_b%d.bin", now.number, i);
        print_expected(f, i, name, p->before, comma);
        comma = ",";
    }
}

/* What the launch changed is what a run of the case has to change; a launch that ended with a fault has to end so again. */
static void print_expectations(FILE *f, cu_result result)
{
    const char *comma = "";
    fprintf(f, "  \"expect\": [");
    if (result && now.fault)
        fprintf(f, "\n    {\"fault\": \"%s\"}", now.fault);
    for (int i = 0; i < now.npieces && !result; i++)
        expect_change(f, i, &comma);
    if (!result)
        dump_print_image_expectations(f, &comma);
    if (!result && !*comma)
        expect_same(f);
    fprintf(f, "\n  ]\n}\n");
}

/* All but the first lines, which say what was lost on the way. */
static void print_body(FILE *f, cu_result result)
{
    const dr_dump_source *l = now.source;
    fprintf(f, "  \"ptx\": \"%s\",\n  \"entry\": \"%s\",\n  \"grid\": [%u, %u, %u],\n  \"block\": [%u, %u, %u],\n  \"shared\": %u,\n", *l->file,
            l->entry->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared_bytes);
    if (l->cooperative)
        fprintf(f, "  \"cooperative\": true,\n");
    if (l->mma_model)
        fprintf(f, "  \"mma_model\": \"%s\",\n", l->mma_model);
    print_pieces(f, "buffers", false);
    dump_print_images(f);
    print_pieces(f, "globals", true);
    print_params(f);
    fprintf(f, ",\n");
    print_expectations(f, result);
}

static void write_case(cu_result result)
{
    char *body = NULL, *text = NULL, name[64];
    size_t length = 0, bytes = 0;
    FILE *f = open_memstream(&body, &length);
    if (!f)
        return;
    print_body(f, result);
    fclose(f);
    f = open_memstream(&text, &bytes);
    if (f && body) {
        snprintf(name, sizeof name, "case%" PRIu64 ".json", now.number);
        fprintf(f, "{\n  \"ptxbridge_case\": 1,\n  \"description\": \"launch %" PRIu64 " met in a program%s%s\",\n%s", now.number,
                now.lost[0] ? "; NOT WHOLE: " : "", now.lost, body);
        if (fclose(f) == 0 && dump_write_file(name, text, bytes) && now.lost[0])
            fprintf(stderr, "ptxbridge: dump: %s is not whole: %s\n", name, now.lost);
    }
    free(text);
    free(body);
}

static void forget(void)
{
    for (int i = 0; i < now.npieces; i++)
        free(now.pieces[i].before);
    now.npieces = 0;
    dump_free_images();
}

void dr_dump_after(const dr_dump_source *source, cu_result result, const char *fault, bool disturbed)
{
    now.source = source;
    now.fault = fault ? fault : fault_name(result);
    if (disturbed)
        dump_lose("memory was copied or set while it ran");
    write_case(result);
    forget();
}

void dr_dump_drop(void)
{
    last_case--;
    forget();
}
