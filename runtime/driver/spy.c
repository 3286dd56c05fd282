/* spy.c - what `ptxbridge exec --stats` and `--dump` want to know of launches.
 *
 * A dump is a case file (docs/case_files.md): the module's PTX, its variables and every allocation that a parameter points into as they were
 * before the launch, and as expectations those that it changed. Pointers are found by looking: an aligned 64-bit value that is an
 * address in an allocation. So a kernel met in a program becomes a case that `run`, `compare` and `inspect` take. What a case file
 * cannot hold (pointers inside of buffers, texture handles) goes over as a number, and the description says so.
 */
#include "runtime/driver/spy.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BUFFERS = 64, MOST_KERNELS = 4096, DEFAULT_LAUNCHES = 10 };

bool dr_spying;

typedef struct kernel_count { char *name; uint64_t launches, dumped, ns, longest; } kernel_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *dump_folder;
static bool wants_stats;
static uint64_t most_launches = DEFAULT_LAUNCHES, last_case, last_module;
static kernel_count *kernels;
static size_t nkernels;

void dr_spy_start(void)
{
    const char *stats = getenv("PTXBRIDGE_STATS"), *most = getenv("PTXBRIDGE_DUMP_LAUNCHES");
    dump_folder = getenv("PTXBRIDGE_DUMP");
    if (dump_folder && !*dump_folder)
        dump_folder = NULL;
    wants_stats = stats && *stats && strcmp(stats, "0") != 0;
    if (most && *most)
        most_launches = strtoull(most, NULL, 10);
    dr_spying = wants_stats || dump_folder;
}

static kernel_count *count_of(const char *name)
{
    for (size_t i = 0; i < nkernels; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    if (nkernels == MOST_KERNELS)
        return NULL;
    kernel_count *more = realloc(kernels, (nkernels + 1) * sizeof *more);
    if (!more)
        return NULL;
    kernels = more;
    kernels[nkernels] = (kernel_count){.name = strdup(name)};
    return kernels[nkernels].name ? &kernels[nkernels++] : NULL;
}

/* ------------------------------------------------------------ statistics */

static int by_time(const void *a, const void *b)
{
    uint64_t x = ((const kernel_count *)a)->ns, y = ((const kernel_count *)b)->ns;
    return (x < y) - (x > y);
}

__attribute__((destructor)) static void print_stats(void)
{
    if (!wants_stats || pthread_mutex_trylock(&lock))
        return;
    uint64_t launches = 0, ns = 0;
    qsort(kernels, nkernels, sizeof *kernels, by_time);
    fprintf(stderr, "ptxbridge: %12s %12s %12s %12s  kernel\n", "launches", "total ms", "mean ms", "longest ms");
    for (size_t i = 0; i < nkernels; i++) {
        const kernel_count *k = &kernels[i];
        fprintf(stderr, "ptxbridge: %12" PRIu64 " %12.3f %12.4f %12.3f  %s\n", k->launches, (double)k->ns / 1e6,
                (double)k->ns / 1e6 / (double)(k->launches ? k->launches : 1), (double)k->longest / 1e6, k->name);
        launches += k->launches;
        ns += k->ns;
    }
    fprintf(stderr, "ptxbridge: %12" PRIu64 " %12.3f  in all\n", launches, (double)ns / 1e6);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------ dumps */

/* An allocation or variable that goes into the case, as it was before. */
typedef struct piece { uint64_t base, bytes; const char *variable; unsigned char *before; } piece;

static struct {
    bool active, lost;             /* lost: something could not be carried over */
    uint64_t number;
    piece pieces[MOST_BUFFERS];
    int npieces;
} current;

static bool read_device(dr_device *d, void *to, uint64_t from, uint64_t bytes)
{
    pxb_device view;
    dr_device_view(d, dr_thread_errors(), &view);
    if (!d->concurrent)
        pthread_mutex_lock(&d->lock);
    bool done = view.ops->read(&view, to, from, bytes) == PXB_OK;
    if (!d->concurrent)
        pthread_mutex_unlock(&d->lock);
    return done;
}

static bool write_file(const char *name, const void *data, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dump_folder, name);
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

/* Index of the piece that holds an address, taking its contents when it is new; -1: no address of this device. */
static int piece_of(dr_device *d, uint64_t address)
{
    dr_range r;
    if (!dr_range_find(address, &r) || r.hidden || r.device != d || r.kind == DR_MEMORY_REGISTERED || r.kind == DR_MEMORY_VARIABLE)
        return -1;
    for (int i = 0; i < current.npieces; i++)
        if (current.pieces[i].base == r.base)
            return i;
    if (current.npieces == MOST_BUFFERS)
        return -1;
    piece *p = &current.pieces[current.npieces];
    *p = (piece){.base = r.base, .bytes = r.bytes, .before = malloc(r.bytes)};
    if (p->before && read_device(d, p->before, r.base, r.bytes))
        return current.npieces++;
    free(p->before);
    current.lost = true;
    return -1;
}

static void take_variables(dr_module *m)
{
    dr_device *d = m->device;
    for (uint32_t i = 0; i < m->ptx->nvariables && current.npieces < MOST_BUFFERS; i++) {
        const ptx_variable *v = m->ptx->variables[i];
        uint64_t address, bytes;
        if ((v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) || v->size == 0 || v->linkage == PTX_LINK_EXTERN || v->nrelocations ||
            v->type == PTX_TYPE_TEXREF || v->type == PTX_TYPE_SAMPLERREF || v->type == PTX_TYPE_SURFREF ||
            dr_module_variable(m, v->name, &address, &bytes))
            continue;
        piece *p = &current.pieces[current.npieces];
        *p = (piece){.base = address, .bytes = bytes, .variable = v->name, .before = malloc(bytes)};
        if (p->before && read_device(d, p->before, address, bytes))
            current.npieces++;
        else
            free(p->before);
    }
}

static void visit_params(const dr_launch *l)
{
    const ptx_function *f = l->function->ptx;
    for (uint64_t at = 0; l->params && at + 8 <= f->param_size; at += 8) {
        uint64_t value;
        memcpy(&value, (const char *)l->params + at, 8);
        piece_of(l->function->module->device, value);
    }
}

void dr_spy_before(const dr_launch *l)
{
    if (!dump_folder)
        return;
    pthread_mutex_lock(&lock);
    kernel_count *k = count_of(l->function->ptx->name);
    current.active = k && k->dumped < most_launches && dump_module(l->function->module);
    current.lost = false;
    current.npieces = 0;
    if (!current.active)
        return;
    k->dumped++;
    current.number = ++last_case;
    take_variables(l->function->module);
    visit_params(l);
}

static void print_value(FILE *f, const unsigned char *at, uint64_t bytes, dr_device *d)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes <= 8 ? bytes : 8);
    int i = bytes == 8 ? piece_of(d, value) : -1;
    if (i >= 0)
        fprintf(f, "\"buffer\": \"b%d\", \"%s\": %" PRIu64, i, "offset", value - current.pieces[i].base);
    else
        fprintf(f, "\"u%" PRIu64 "\": %" PRIu64, 8 * bytes, value);
}

/* A parameter by value: every aligned word that is not zero, as an address where it is one. */
static void print_struct(FILE *f, const unsigned char *at, uint64_t bytes, dr_device *d)
{
    const char *comma = "";
    fprintf(f, "{\"struct\": {\"size\": %" PRIu64 ", \"fields\": [", bytes);
    for (uint64_t k = 0; k < bytes;) {
        uint64_t step = bytes - k >= 8 ? 8 : 1, value = 0;
        memcpy(&value, at + k, step);
        int i = step == 8 ? piece_of(d, value) : -1;
        if (i >= 0)
            fprintf(f, "%s{\"offset\": %" PRIu64 ", \"buffer\": \"b%d\", \"buffer_offset\": %" PRIu64 "}", comma, k, i,
                    value - current.pieces[i].base);
        else if (value)
            fprintf(f, "%s{\"offset\": %" PRIu64 ", \"u%" PRIu64 "\": %" PRIu64 "}", comma, k, 8 * step, value);
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
            print_value(f, at, bytes, l->function->module->device);
            fprintf(f, "}");
        } else
            print_struct(f, at, bytes, l->function->module->device);
    }
    fprintf(f, "\n  ]");
}

static void print_pieces(FILE *f, const char *key, bool variables)
{
    const char *comma = "";
    fprintf(f, "  \"%s\": {", key);
    for (int i = 0; i < current.npieces; i++) {
        const piece *p = &current.pieces[i];
        char name[64];
        if ((p->variable != NULL) != variables)
            continue;
        snprintf(name, sizeof name, "case%" PRIu64 "_b%d.bin", current.number, i);
        if (!write_file(name, p->before, p->bytes))
            continue;
        if (p->variable)
            fprintf(f, "%s\n    \"%s\": {\"raw\": \"%s\"}", comma, p->variable, name);
        else
            fprintf(f, "%s\n    \"b%d\": {\"raw\": \"%s\"}", comma, i, name);
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
static void print_expectations(FILE *f, dr_device *d, cu_result result)
{
    const char *comma = "";
    fprintf(f, "  \"expect\": [");
    if (result && fault_name(result))
        fprintf(f, "\n    {\"fault\": \"%s\"}", fault_name(result));
    for (int i = 0; i < current.npieces && !result; i++) {
        const piece *p = &current.pieces[i];
        char name[64];
        unsigned char *after = malloc(p->bytes);
        snprintf(name, sizeof name, "case%" PRIu64 "_b%d_after.bin", current.number, i);
        if (after && read_device(d, after, p->base, p->bytes) && memcmp(after, p->before, p->bytes) != 0 && write_file(name, after, p->bytes)) {
            if (p->variable)
                fprintf(f, "%s\n    {\"global\": \"%s\", \"raw\": \"%s\"}", comma, p->variable, name);
            else
                fprintf(f, "%s\n    {\"buffer\": \"b%d\", \"raw\": \"%s\"}", comma, i, name);
            comma = ",";
        }
        free(after);
    }
    fprintf(f, "\n  ]\n}\n");
}

static void write_case(const dr_launch *l, cu_result result)
{
    dr_function *function = l->function;
    dr_device *d = function->module->device;
    char *text = NULL, name[64];
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (!f)
        return;
    fprintf(f, "{\n  \"ptxbridge_case\": 1,\n  \"description\": \"launch %" PRIu64 " met in a program%s\",\n", current.number,
            current.lost ? "; not all of its memory could be kept" : "");
    fprintf(f, "  \"ptx\": \"%s\",\n  \"entry\": \"%s\",\n  \"grid\": [%u, %u, %u],\n  \"block\": [%u, %u, %u],\n  \"shared\": %u,\n",
            function->module->dump_path, function->ptx->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
            l->shared_bytes);
    fprintf(f, "  \"mma_model\": \"%s\",\n", pxb_mma_model_name(d->mma_model));
    print_pieces(f, "buffers", false);
    print_pieces(f, "globals", true);
    print_params(f, l);
    fprintf(f, ",\n");
    print_expectations(f, d, result);
    snprintf(name, sizeof name, "case%" PRIu64 ".json", current.number);
    if (fclose(f) == 0)
        write_file(name, text, bytes);
    free(text);
}

void dr_spy_after(const dr_launch *l, uint64_t ns, cu_result result)
{
    if (!dump_folder)
        pthread_mutex_lock(&lock);
    kernel_count *k = count_of(l->function->ptx->name);
    if (k) {
        k->launches++;
        k->ns += ns;
        k->longest = ns > k->longest ? ns : k->longest;
    }
    if (dump_folder && current.active)
        write_case(l, result);
    for (int i = 0; i < current.npieces; i++)
        free(current.pieces[i].before);
    current.npieces = 0;
    pthread_mutex_unlock(&lock);
}
