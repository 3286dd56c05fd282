/* dump.c - a launch as a case file (docs/case_files.md), for `ptxbridge exec --dump`.
 *
 * A case holds the module's PTX, its variables and every allocation that a parameter leads to, directly or by pointers in memory, as they
 * were before the launch, and as expectations those that it changed. Pointers are found by looking: an aligned 64-bit value that is
 * an address in an allocation or variable. So a kernel met in a program becomes a case that `run`, `compare` and `inspect` take. What a case
 * file cannot hold (texture handles, cooperative grids) is told on stderr and in the case's description.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/spy.h"
#include "runtime/driver/texture.h"

enum { MOST_PIECES = 4096, MOST_POINTERS = 100000 };

/* An allocation or variable that goes into the case, as it was before. */
typedef struct piece {
    uint64_t base, bytes;
    const char *variable;
    bool plain;                    /* memory of the process, not through the device */
    bool fixed;                    /* a variable with addresses as initial values: the loader makes it */
    unsigned char *before;
} piece;

static struct {
    const char *folder;
    dr_device *device;
    uint64_t number;               /* the case's */
    uint64_t low, high;            /* where addresses lie */
    uint64_t first_texture, last_texture;
    piece pieces[MOST_PIECES];
    int npieces, npointers;
    char lost[256];                /* why the case is not whole, or "" */
} now;

static uint64_t last_case, last_module;

static void lose(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void lose(const char *format, ...)
{
    va_list list;
    if (now.lost[0])
        return;
    va_start(list, format);
    vsnprintf(now.lost, sizeof now.lost, format, list);
    va_end(list);
}

static bool read_piece(const piece *p, void *to)
{
    pxb_device view;
    dr_device *d = now.device;
    if (p->plain) {
        memcpy(to, (const void *)(uintptr_t)p->base, p->bytes);
        return true;
    }
    dr_device_view(d, dr_thread_errors(), &view);
    if (!d->concurrent)
        pthread_mutex_lock(&d->lock);
    bool done = view.ops->read(&view, to, p->base, p->bytes) == PXB_OK;
    if (!d->concurrent)
        pthread_mutex_unlock(&d->lock);
    return done;
}

static bool write_file(const char *name, const void *data, size_t bytes)
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
static const char *dump_module(dr_module *m)
{
    if (!m->dump_path) {
        char name[64];
        snprintf(name, sizeof name, "module%" PRIu64 ".ptx", ++last_module);
        if (write_file(name, m->ptx->text, m->ptx->length))
            m->dump_path = strdup(name);
    }
    return m->dump_path;
}

/* ------------------------------------------------------------ what belongs to a launch */

static bool add_piece(const piece *p)
{
    if (now.npieces == MOST_PIECES) {
        lose("it uses more than %d allocations", MOST_PIECES);
        return false;
    }
    piece *to = &now.pieces[now.npieces];
    *to = *p;
    to->before = malloc(p->bytes);
    if (to->before && read_piece(to, to->before)) {
        now.npieces++;
        return true;
    }
    free(to->before);
    lose("%" PRIu64 " bytes at 0x%" PRIx64 " could not be read", p->bytes, p->base);
    return false;
}

static void take_variables(dr_module *m)
{
    for (uint32_t i = 0; i < m->ptx->nvariables; i++) {
        const ptx_variable *v = m->ptx->variables[i];
        piece p = {.variable = v->name, .fixed = v->nrelocations != 0};
        if (v->type == PTX_TYPE_TEXREF || v->type == PTX_TYPE_SAMPLERREF || v->type == PTX_TYPE_SURFREF)
            lose("texture references are not carried over");
        else if ((v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) && v->size && v->linkage != PTX_LINK_EXTERN &&
                 !dr_module_variable(m, v->name, &p.base, &p.bytes))
            add_piece(&p);
    }
}

static void note_texture(uint64_t value)
{
    if (value >= now.first_texture && value <= now.last_texture && dr_is_texture(value))
        lose("texture and surface objects are not carried over");
}

/* Index of the piece that holds an address; -1: none does. */
static int known_piece(uint64_t address)
{
    for (int i = 0; i < now.npieces; i++)
        if (address - now.pieces[i].base < now.pieces[i].bytes)
            return i;
    return -1;
}

/* The same, where an allocation that is met for the first time becomes a piece. */
static int piece_of(uint64_t address)
{
    dr_range r;
    if (address < now.low || address >= now.high)
        return -1;
    int i = known_piece(address);
    if (i >= 0 || !dr_range_find(address, &r) || r.hidden || r.device != now.device)
        return i;
    if ((r.kind == DR_MEMORY_HOST || r.kind == DR_MEMORY_REGISTERED) && !r.on_device)
        return -1;
    if (r.kind == DR_MEMORY_VARIABLE) {
        lose("it uses a variable of another module");
        return -1;
    }
    const piece p = {.base = r.base, .bytes = r.bytes, .plain = r.kind == DR_MEMORY_REGISTERED || r.kind == DR_MEMORY_MAPPED};
    return add_piece(&p) ? now.npieces - 1 : -1;
}

/* Follows every address in a range of bytes; pieces that this finds are at the list's end. */
static void follow(const unsigned char *bytes, uint64_t count)
{
    for (uint64_t at = 0; at + 8 <= count; at += 8) {
        uint64_t value;
        memcpy(&value, bytes + at, 8);
        if (value)
            piece_of(value);
    }
}

bool dr_dump_before(const dr_launch *l, const char *folder)
{
    now.folder = folder;
    now.device = l->function->module->device;
    now.npieces = now.npointers = 0;
    now.lost[0] = '\0';
    if (!dump_module(l->function->module))
        return false;
    now.number = ++last_case;
    take_variables(l->function->module);
    dr_range_bounds(&now.low, &now.high);
    dr_texture_bounds(&now.first_texture, &now.last_texture);
    if (l->params)
        follow(l->params, l->function->ptx->param_size);
    for (int i = 0; i < now.npieces; i++)
        follow(now.pieces[i].before, now.pieces[i].bytes);
    if (l->cooperative)
        lose("its grid is cooperative, which a case cannot say");
    return true;
}

/* ------------------------------------------------------------ writing */

/* "buffer": "b1", "buffer_offset": 8 */
static void print_target(FILE *f, uint64_t address, int i, const char *offset_prefix)
{
    const piece *p = &now.pieces[i];
    if (p->variable)
        fprintf(f, "\"global\": \"%s\"", p->variable);
    else
        fprintf(f, "\"buffer\": \"b%d\"", i);
    if (address != p->base)
        fprintf(f, ", \"%soffset\": %" PRIu64, offset_prefix, address - p->base);
}

static void print_value(FILE *f, const unsigned char *at, uint64_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes <= 8 ? bytes : 8);
    int i = bytes == 8 ? known_piece(value) : -1;
    if (i >= 0)
        print_target(f, value, i, "");
    else
        fprintf(f, "\"u%" PRIu64 "\": %" PRIu64, 8 * bytes, value);
    if (i < 0)
        note_texture(value);
}

/* A parameter by value: every aligned word that is not zero, as an address where it is one. */
static void print_struct(FILE *f, const unsigned char *at, uint64_t bytes)
{
    const char *comma = "";
    fprintf(f, "{\"struct\": {\"size\": %" PRIu64 ", \"fields\": [", bytes);
    for (uint64_t k = 0; k < bytes;) {
        uint64_t step = bytes - k >= 8 ? 8 : 1, value = 0;
        memcpy(&value, at + k, step);
        int i = step == 8 ? known_piece(value) : -1;
        if (i >= 0) {
            fprintf(f, "%s{\"offset\": %" PRIu64 ", ", comma, k);
            print_target(f, value, i, "buffer_");
            fprintf(f, "}");
        } else if (value)
            fprintf(f, "%s{\"offset\": %" PRIu64 ", \"u%" PRIu64 "\": %" PRIu64 "}", comma, k, 8 * step, value);
        if (i < 0)
            note_texture(value);
        if (i >= 0 || value)
            comma = ", ";
        k += step;
    }
    fprintf(f, "]}}");
}

static void print_params(FILE *f, const dr_launch *l)
{
    const ptx_prototype *p = &l->function->ptx->prototype;
    fprintf(f, "  \"params\": [");
    for (uint32_t i = 0; i < p->nparams; i++) {
        const unsigned char *at = (const unsigned char *)l->params + p->params[i]->offset;
        uint64_t bytes = p->params[i]->size;
        bool simple = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
        fprintf(f, "%s\n    ", i ? "," : "");
        if (simple) {
            fprintf(f, "{");
            print_value(f, at, bytes);
            fprintf(f, "}");
        } else
            print_struct(f, at, bytes);
    }
    fprintf(f, "\n  ]");
}

/* Where an array holds addresses, as the key "pointers"; `always`: also when it holds none. */
static void print_pointers(FILE *f, const unsigned char *bytes, uint64_t count, bool always)
{
    const char *comma = "";
    for (uint64_t at = 0; at + 8 <= count; at += 8) {
        uint64_t value;
        memcpy(&value, bytes + at, 8);
        note_texture(value);
        if (value < now.low || value >= now.high)
            continue;
        int i = known_piece(value);
        dr_range r;
        if (i < 0 && dr_range_find(value, &r) && !r.hidden)
            lose("memory holds addresses of memory that the case does not have");
        if (i < 0)
            continue;
        if (now.npointers++ == MOST_POINTERS)
            lose("its memory holds more than %d addresses", MOST_POINTERS);
        if (now.npointers > MOST_POINTERS)
            break;
        fprintf(f, "%s{\"offset\": %" PRIu64 ", ", *comma ? comma : ", \"pointers\": [", at);
        print_target(f, value, i, now.pieces[i].variable ? "global_" : "buffer_");
        fprintf(f, "}");
        comma = ", ";
    }
    if (*comma || always)
        fprintf(f, "%s]", *comma ? "" : ", \"pointers\": [");
}

static void print_pieces(FILE *f, const char *key, bool variables)
{
    const char *comma = "";
    fprintf(f, "  \"%s\": {", key);
    for (int i = 0; i < now.npieces; i++) {
        const piece *p = &now.pieces[i];
        char name[64];
        if ((p->variable != NULL) != variables || p->fixed)
            continue;
        snprintf(name, sizeof name, "case%" PRIu64 "_b%d.bin", now.number, i);
        if (!write_file(name, p->before, p->bytes))
            continue;
        if (p->variable)
            fprintf(f, "%s\n    \"%s\": {\"raw\": \"%s\"", comma, p->variable, name);
        else
            fprintf(f, "%s\n    \"b%d\": {\"raw\": \"%s\"", comma, i, name);
        print_pointers(f, p->before, p->bytes, false);
        fprintf(f, "}");
        comma = ",";
    }
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

/* What the launch changed is what a run of the case has to change; a launch that ended with a fault has to end so again. */
static void print_expectations(FILE *f, cu_result result)
{
    const char *comma = "";
    fprintf(f, "  \"expect\": [");
    if (result && fault_name(result))
        fprintf(f, "\n    {\"fault\": \"%s\"}", fault_name(result));
    for (int i = 0; i < now.npieces && !result; i++) {
        const piece *p = &now.pieces[i];
        char name[64];
        unsigned char *after = malloc(p->bytes);
        snprintf(name, sizeof name, "case%" PRIu64 "_b%d_after.bin", now.number, i);
        if (after && read_piece(p, after) && memcmp(after, p->before, p->bytes) != 0 && write_file(name, after, p->bytes)) {
            if (p->variable)
                fprintf(f, "%s\n    {\"global\": \"%s\", \"raw\": \"%s\"", comma, p->variable, name);
            else
                fprintf(f, "%s\n    {\"buffer\": \"b%d\", \"raw\": \"%s\"", comma, i, name);
            print_pointers(f, after, p->bytes, true);
            fprintf(f, "}");
            comma = ",";
        }
        free(after);
    }
    fprintf(f, "\n  ]\n}\n");
}

/* All but the first lines, which say what was lost on the way. */
static void print_body(FILE *f, const dr_launch *l, cu_result result)
{
    const dr_function *function = l->function;
    fprintf(f, "  \"ptx\": \"%s\",\n  \"entry\": \"%s\",\n  \"grid\": [%u, %u, %u],\n  \"block\": [%u, %u, %u],\n  \"shared\": %u,\n",
            function->module->dump_path, function->ptx->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
            l->shared_bytes);
    fprintf(f, "  \"mma_model\": \"%s\",\n", pxb_mma_model_name(now.device->mma_model));
    print_pieces(f, "buffers", false);
    print_pieces(f, "globals", true);
    print_params(f, l);
    fprintf(f, ",\n");
    print_expectations(f, result);
}

static void write_case(const dr_launch *l, cu_result result)
{
    char *body = NULL, *text = NULL, name[64];
    size_t length = 0, bytes = 0;
    FILE *f = open_memstream(&body, &length);
    if (!f)
        return;
    print_body(f, l, result);
    fclose(f);
    f = open_memstream(&text, &bytes);
    if (f && body) {
        snprintf(name, sizeof name, "case%" PRIu64 ".json", now.number);
        fprintf(f, "{\n  \"ptxbridge_case\": 1,\n  \"description\": \"launch %" PRIu64 " met in a program%s%s\",\n%s", now.number,
                now.lost[0] ? "; NOT WHOLE: " : "", now.lost, body);
        if (fclose(f) == 0 && write_file(name, text, bytes) && now.lost[0])
            fprintf(stderr, "ptxbridge: dump: %s is not whole: %s\n", name, now.lost);
    }
    free(text);
    free(body);
}

void dr_dump_after(const dr_launch *l, cu_result result)
{
    write_case(l, result);
    for (int i = 0; i < now.npieces; i++)
        free(now.pieces[i].before);
    now.npieces = 0;
}
