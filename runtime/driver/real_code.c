/* real_code.c - modules, libraries, kernels and links of a real driver: which PTX a handle stands for. */
#include "runtime/driver/real.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/image.h"
#include "runtime/driver/library.h"
#include "runtime/driver/spy.h"

enum { BUCKETS = 4096, MOST_OLD_BYTES = 4096 };

typedef enum code_kind { CODE_MODULE, CODE_LIBRARY, CODE_FUNCTION, CODE_LINK } code_kind;

typedef struct dr_real_name { struct dr_real_name *next; bool told; char text[]; } dr_real_name;

/* What a link was given, and what it made. */
typedef struct real_link {
    char **texts;
    size_t *lengths, count;
    const char *lost;              /* why the linked code is not known, or NULL */
} real_link;

/* A handle. */
typedef struct code {
    struct code *next;
    const void *handle;
    code_kind kind;
    cu_context context;            /* NULL for libraries and what belongs to them */
    dr_real_code of;               /* `image` is held */
    real_link link;
    unsigned char *old_params;
} code;

/* Machine code that a link made of PTX: it comes back as the image of a module. */
typedef struct linked { struct linked *next; unsigned char *code; size_t bytes; char *text; size_t length; const char *lost; } linked;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t parse_lock = PTHREAD_MUTEX_INITIALIZER;
static code *buckets[BUCKETS];
static linked *all_linked;
static uint32_t images;

/* ------------------------------------------------------------ images */

static void drop_image(dr_real_image *image)
{
    if (!image || atomic_fetch_sub(&image->uses, 1) != 1)
        return;
    while (image->names) {
        dr_real_name *next = image->names->next;
        free(image->names);
        image->names = next;
    }
    ptx_module_free(image->ptx);
    free(image->text);
    free(image->origin);
    free(image->file);
    free(image);
}

static dr_real_image *new_image(const char *origin, const char *why_none)
{
    dr_real_image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->uses = 1;
    image->why_none = why_none;
    image->origin = origin ? strdup(origin) : NULL;
    pthread_mutex_lock(&lock);
    image->number = ++images;
    pthread_mutex_unlock(&lock);
    return image;
}

/* Under the lock. */
static const char *intern(dr_real_image *image, const char *name)
{
    for (dr_real_name *n = image->names; n; n = n->next)
        if (strcmp(n->text, name) == 0)
            return n->text;
    dr_real_name *n = calloc(1, sizeof *n + strlen(name) + 1);
    if (!n)
        return NULL;
    strcpy(n->text, name);
    n->next = image->names;
    image->names = n;
    return n->text;
}

/* The text that a link made this machine code of. */
static bool find_linked(const void *image, dr_real_image *out)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (const linked *l = all_linked; l && !found; l = l->next) {
        if (!dr_readable(image, l->bytes) || memcmp(image, l->code, l->bytes) != 0)
            continue;
        found = true;
        out->why_none = l->lost;
        out->text = l->text ? malloc(l->length + 1) : NULL;
        out->length = l->length;
        if (out->text)
            memcpy(out->text, l->text, l->length + 1);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* What a program loads. `bytes` is 0 when nobody says how long it is. */
static dr_real_image *read_image(const void *data, size_t bytes, const char *origin)
{
    dr_real_image *image = new_image(origin, "it holds no PTX, only machine code");
    if (!image || !dr_spy_dumps())
        return image;
    cu_result result = dr_image_ptx(data, bytes, dr_real_capability(), &image->text, &image->length);
    if (result && data && !find_linked(data, image) && result != DR_ERROR(NO_BINARY_FOR_GPU))
        image->why_none = result == DR_ERROR(NOT_SUPPORTED) ? "its PTX is compressed with Zstandard, and there is no libzstd.so.1"
                                                            : "no PTX could be read from it";
    return image;
}

void dr_real_tell(const dr_real_code *c, const char *why)
{
    dr_real_image *image = c->image;
    bool *told = NULL, before = true;
    pthread_mutex_lock(&lock);
    for (dr_real_name *n = image->names; n && image->text; n = n->next)
        told = n->text == c->name ? &n->told : told;
    told = image->text ? told : &image->told;
    if (told) {
        before = *told;
        *told = true;
    }
    pthread_mutex_unlock(&lock);
    if (before)
        return;
    if (image->text)
        fprintf(stderr, "ptxbridge: dump: launches of \"%.300s\" are not dumped: %s\n", c->name, why);
    else
        fprintf(stderr, "ptxbridge: dump: launches of kernels of module %" PRIu32 "%s%s%s (\"%.300s\") are not dumped: %s\n", image->number,
                image->origin ? ", " : "", image->origin ? image->origin : "", image->origin ? "," : "", c->name, why);
}

const ptx_module *dr_real_parsed(dr_real_image *image)
{
    pthread_mutex_lock(&parse_lock);
    if (!image->ptx && image->text)
        image->ptx = ptx_parse(image->text, image->length, image->origin ? image->origin : "image");
    const ptx_module *m = image->ptx;
    pthread_mutex_unlock(&parse_lock);
    return m;
}

/* ------------------------------------------------------------ handles */

static code **bucket_of(const void *handle)
{
    uintptr_t h = (uintptr_t)handle;
    return &buckets[(h >> 4 ^ h >> 16) % BUCKETS];
}

static code **place_of(const void *handle)
{
    code **p = bucket_of(handle);
    while (*p && (*p)->handle != handle)
        p = &(*p)->next;
    return p;
}

static void free_link(real_link *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->texts[i]);
    free(l->texts);
    free(l->lengths);
}

/* Under the lock. */
static void remove_at(code **p)
{
    code *c = *p;
    *p = c->next;
    drop_image(c->of.image);
    free_link(&c->link);
    free(c->old_params);
    free(c);
}

/* Under the lock. Whatever had this handle before is gone. Takes over the hold on `of->image`. */
static code *add(const void *handle, code_kind kind, cu_context context, const dr_real_code *of)
{
    code **p = place_of(handle), *c = calloc(1, sizeof *c);
    if (*p)
        remove_at(p);
    if (!c) {
        drop_image(of->image);
        return NULL;
    }
    c->next = *bucket_of(handle);
    c->handle = handle;
    c->kind = kind;
    c->context = context;
    c->of = *of;
    c->of.old_block[0] = c->of.old_block[1] = c->of.old_block[2] = 1;
    return *bucket_of(handle) = c;
}

/* A module or library that has just been loaded. */
static void note_code(const void *handle, code_kind kind, dr_real_image *image)
{
    const dr_real_code of = {.image = image, .module = kind == CODE_MODULE ? (cu_module)(uintptr_t)handle : NULL,
                             .library = kind == CODE_LIBRARY ? (cu_library)(uintptr_t)handle : NULL};
    cu_context context = kind == CODE_MODULE ? dr_real_context() : NULL;
    if (!image)
        return;
    pthread_mutex_lock(&lock);
    add(handle, kind, context, &of);
    pthread_mutex_unlock(&lock);
}

/* A module or library is going, with its functions. */
static void forget_owner(const void *owner)
{
    if (!owner)
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (code **p = &buckets[i]; *p;) {
            if ((*p)->handle == owner || ((*p)->kind != CODE_LINK && ((*p)->of.module == owner || (*p)->of.library == owner)))
                remove_at(p);
            else
                p = &(*p)->next;
        }
    pthread_mutex_unlock(&lock);
}

/* Libraries belong to no context. */
void dr_real_code_leave(cu_context context)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (code **p = &buckets[i]; *p;) {
            if ((*p)->context == context)
                remove_at(p);
            else
                p = &(*p)->next;
        }
    pthread_mutex_unlock(&lock);
}

bool dr_real_code_find(const void *handle, dr_real_code *out)
{
    pthread_mutex_lock(&lock);
    code *c = *place_of(handle);
    bool found = c && c->kind == CODE_FUNCTION;
    if (found) {
        *out = c->of;
        atomic_fetch_add(&out->image->uses, 1);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void dr_real_code_drop(dr_real_code *c)
{
    drop_image(c->image);
    c->image = NULL;
}

/* A function, kernel or module that came from `owner`: a module, a library or a kernel of one. `name` NULL: the owner's. */
static void note_part(const void *handle, code_kind kind, const void *owner, const char *name)
{
    cu_context context = dr_real_context();
    pthread_mutex_lock(&lock);
    code *c = *place_of(owner);
    dr_real_code of = c ? c->of : (dr_real_code){0};
    bool known = c && c->kind != CODE_LINK;
    if (known && name)
        of.name = intern(of.image, name);
    if (kind == CODE_MODULE)
        of.module = (cu_module)(uintptr_t)handle;
    const code *before = *place_of(handle);        /* looked up again: what was set for launches stays */
    bool again = before && before->kind == kind && before->of.image == of.image && before->of.name == of.name && before->of.module == of.module;
    if (known && !again && (kind == CODE_MODULE || of.name)) {
        atomic_fetch_add(&of.image->uses, 1);
        add(handle, kind, of.module ? context : NULL, &of);
    }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------ modules */

cu_result real_cuModuleLoad(cu_module *module, const char *path)
{
    char *data = NULL;
    size_t bytes = 0;
    cu_result result = DR_NEXT(cuModuleLoad)(module, path);
    if (result || !dr_real_usable())
        return result;
    if (dr_spy_dumps())
        dr_read_file(path, &data, &bytes);
    note_code(*module, CODE_MODULE, bytes || !dr_spy_dumps() ? read_image(data, bytes, path) : new_image(path, "its file could not be read"));
    free(data);
    return result;
}

static cu_result note_module(cu_result result, const cu_module *module, const void *image)
{
    if (!result && dr_real_usable())
        note_code(*module, CODE_MODULE, read_image(image, 0, NULL));
    return result;
}

cu_result real_cuModuleLoadData(cu_module *module, const void *image)
{
    return note_module(DR_NEXT(cuModuleLoadData)(module, image), module, image);
}

cu_result real_cuModuleLoadDataEx(cu_module *module, const void *image, uint32_t option_count, int32_t *options, void **values)
{
    return note_module(DR_NEXT(cuModuleLoadDataEx)(module, image, option_count, options, values), module, image);
}

cu_result real_cuModuleLoadFatBinary(cu_module *module, const void *image)
{
    return note_module(DR_NEXT(cuModuleLoadFatBinary)(module, image), module, image);
}

cu_result real_cuModuleUnload(cu_module module)
{
    forget_owner(module);
    return DR_NEXT(cuModuleUnload)(module);
}

cu_result real_cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    cu_result result = DR_NEXT(cuModuleGetFunction)(function, module, name);
    if (!result && dr_real_usable())
        note_part(*function, CODE_FUNCTION, module, name);
    return result;
}

cu_result real_cuModuleEnumerateFunctions(cu_function *functions, uint32_t num_functions, cu_module mod)
{
    cu_result result = DR_NEXT(cuModuleEnumerateFunctions)(functions, num_functions, mod);
    for (uint32_t i = 0; i < num_functions && !result && dr_real_usable() && DR_REAL(cuFuncGetName); i++) {
        const char *name = NULL;
        if (functions[i] && !DR_REAL(cuFuncGetName)(&name, functions[i]) && name)
            note_part(functions[i], CODE_FUNCTION, mod, name);
    }
    return result;
}

/* ------------------------------------------------------------ libraries */

cu_result real_cuLibraryLoadData(cu_library *library, const void *image, int32_t *jit_options, void **jit_options_values,
                                 uint32_t num_jit_options, int32_t *library_options, void **library_option_values,
                                 uint32_t num_library_options)
{
    cu_result result = DR_NEXT(cuLibraryLoadData)(library, image, jit_options, jit_options_values, num_jit_options, library_options,
                                                  library_option_values, num_library_options);
    if (!result && dr_real_usable())
        note_code(*library, CODE_LIBRARY, read_image(image, 0, NULL));
    return result;
}

cu_result real_cuLibraryLoadFromFile(cu_library *library, const char *file_name, int32_t *jit_options, void **jit_options_values,
                                     uint32_t num_jit_options, int32_t *library_options, void **library_option_values,
                                     uint32_t num_library_options)
{
    char *data = NULL;
    size_t bytes = 0;
    cu_result result = DR_NEXT(cuLibraryLoadFromFile)(library, file_name, jit_options, jit_options_values, num_jit_options, library_options,
                                                      library_option_values, num_library_options);
    if (result || !dr_real_usable())
        return result;
    if (dr_spy_dumps())
        dr_read_file(file_name, &data, &bytes);
    note_code(*library, CODE_LIBRARY,
              bytes || !dr_spy_dumps() ? read_image(data, bytes, file_name) : new_image(file_name, "its file could not be read"));
    free(data);
    return result;
}

cu_result real_cuLibraryUnload(cu_library library)
{
    forget_owner(library);
    return DR_NEXT(cuLibraryUnload)(library);
}

cu_result real_cuLibraryGetKernel(cu_kernel *kernel, cu_library library, const char *name)
{
    cu_result result = DR_NEXT(cuLibraryGetKernel)(kernel, library, name);
    if (!result && dr_real_usable())
        note_part(*kernel, CODE_FUNCTION, library, name);
    return result;
}

cu_result real_cuLibraryEnumerateKernels(cu_kernel *kernels, uint32_t num_kernels, cu_library lib)
{
    cu_result result = DR_NEXT(cuLibraryEnumerateKernels)(kernels, num_kernels, lib);
    for (uint32_t i = 0; i < num_kernels && !result && dr_real_usable() && DR_REAL(cuKernelGetName); i++) {
        const char *name = NULL;
        if (kernels[i] && !DR_REAL(cuKernelGetName)(&name, kernels[i]) && name)
            note_part(kernels[i], CODE_FUNCTION, lib, name);
    }
    return result;
}

cu_result real_cuLibraryGetModule(cu_module *mod, cu_library library)
{
    cu_result result = DR_NEXT(cuLibraryGetModule)(mod, library);
    if (!result && dr_real_usable())
        note_part(*mod, CODE_MODULE, library, NULL);
    return result;
}

cu_result real_cuKernelGetFunction(cu_function *function, cu_kernel kernel)
{
    cu_result result = DR_NEXT(cuKernelGetFunction)(function, kernel);
    if (!result && dr_real_usable())
        note_part(*function, CODE_FUNCTION, kernel, NULL);
    return result;
}

/* ------------------------------------------------------------ links */

static cu_result note_link(cu_result result, const cu_link *state)
{
    if (result || !dr_real_usable() || !dr_spy_dumps())
        return result;
    cu_context context = dr_real_context();
    pthread_mutex_lock(&lock);
    add(*state, CODE_LINK, context, &(dr_real_code){0});
    pthread_mutex_unlock(&lock);
    return result;
}

cu_result real_cuLinkCreate(uint32_t option_count, int32_t *options, void **values, cu_link *state_out)
{
    return note_link(DR_NEXT(cuLinkCreate)(option_count, options, values, state_out), state_out);
}

cu_result real_cuLinkCreate_v2(uint32_t option_count, int32_t *options, void **values, cu_link *state_out)
{
    return note_link(DR_NEXT(cuLinkCreate_v2)(option_count, options, values, state_out), state_out);
}

/* Takes over the text; NULL: this piece has none. */
static void add_piece(cu_link state, char *text, size_t length)
{
    pthread_mutex_lock(&lock);
    code *c = *place_of(state);
    real_link *l = c && c->kind == CODE_LINK ? &c->link : NULL;
    char **texts = l && text ? realloc(l->texts, (l->count + 1) * sizeof *texts) : NULL;
    if (texts)
        l->texts = texts;
    size_t *lengths = texts ? realloc(l->lengths, (l->count + 1) * sizeof *lengths) : NULL;
    if (lengths) {
        l->lengths = lengths;
        l->texts[l->count] = text;
        l->lengths[l->count++] = length;
        text = NULL;
    } else if (l)
        l->lost = text ? "without memory" : "it was linked with machine code";
    pthread_mutex_unlock(&lock);
    free(text);
}

static cu_result note_piece(cu_result result, cu_link state, int32_t type, const void *data, size_t bytes)
{
    char *text = NULL;
    size_t length = 0;
    if (result || !dr_real_usable() || !dr_spy_dumps())
        return result;
    bool may = type == CUABI_CU_JIT_INPUT_PTX || type == CUABI_CU_JIT_INPUT_FATBINARY;
    if (may && data && bytes)
        dr_image_text(data, bytes, dr_real_capability(), &text, &length);
    add_piece(state, text, length);
    return result;
}

static cu_result note_file(cu_result result, cu_link state, int32_t type, const char *path)
{
    char *data = NULL;
    size_t bytes = 0;
    if (result || !dr_real_usable() || !dr_spy_dumps())
        return result;
    dr_read_file(path, &data, &bytes);
    note_piece(result, state, type, data, bytes);
    free(data);
    return result;
}

cu_result real_cuLinkAddData(cu_link state, int32_t type, void *data, size_t size, const char *name, uint32_t option_count, int32_t *options,
                             void **values)
{
    return note_piece(DR_NEXT(cuLinkAddData)(state, type, data, size, name, option_count, options, values), state, type, data, size);
}

cu_result real_cuLinkAddData_v2(cu_link state, int32_t type, void *data, size_t size, const char *name, uint32_t option_count,
                                int32_t *options, void **values)
{
    return note_piece(DR_NEXT(cuLinkAddData_v2)(state, type, data, size, name, option_count, options, values), state, type, data, size);
}

cu_result real_cuLinkAddFile(cu_link state, int32_t type, const char *path, uint32_t option_count, int32_t *options, void **values)
{
    return note_file(DR_NEXT(cuLinkAddFile)(state, type, path, option_count, options, values), state, type, path);
}

cu_result real_cuLinkAddFile_v2(cu_link state, int32_t type, const char *path, uint32_t option_count, int32_t *options, void **values)
{
    return note_file(DR_NEXT(cuLinkAddFile_v2)(state, type, path, option_count, options, values), state, type, path);
}

/* Under the lock: what the pieces make together, kept with the machine code that it became. */
static void note_linked(const real_link *l, const void *made, size_t bytes)
{
    linked *k = calloc(1, sizeof *k);
    unsigned char *copy = malloc(bytes);
    if (!k || !copy) {
        free(k);
        free(copy);
        return;
    }
    k->code = memcpy(copy, made, bytes);
    k->bytes = bytes;
    k->lost = l->lost;
    if (!l->lost && dr_link_texts(l->texts, l->lengths, l->count, false, NULL, &k->text, &k->length) == CUABI_SUCCESS &&
        dr_link_library(&k->text, &k->length) == CUABI_SUCCESS)
        k->lost = NULL;
    else if (!k->lost)
        k->lost = "its PTX could not be linked here";
    k->next = all_linked;
    all_linked = k;
}

cu_result real_cuLinkComplete(cu_link state, void **cubin_out, size_t *size_out)
{
    size_t bytes = 0;
    cu_result result = DR_NEXT(cuLinkComplete)(state, cubin_out, size_out ? size_out : &bytes);
    if (result || !dr_real_usable())
        return result;
    bytes = size_out ? *size_out : bytes;
    pthread_mutex_lock(&lock);
    const code *c = *place_of(state);
    if (c && c->kind == CODE_LINK && bytes && *cubin_out)
        note_linked(&c->link, *cubin_out, bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

cu_result real_cuLinkDestroy(cu_link state)
{
    pthread_mutex_lock(&lock);
    code **p = place_of(state);
    if (*p && (*p)->kind == CODE_LINK)
        remove_at(p);
    pthread_mutex_unlock(&lock);
    return DR_NEXT(cuLinkDestroy)(state);
}

/* ------------------------------------------------------------ launches as before CUDA 4: a function carries what it is launched with */

cu_result real_cuFuncSetBlockShape(cu_function function, int x, int y, int z)
{
    cu_result result = DR_NEXT(cuFuncSetBlockShape)(function, x, y, z);
    pthread_mutex_lock(&lock);
    code *c = *place_of(function);
    if (!result && c)
        memcpy(c->of.old_block, (uint32_t[]){(uint32_t)x, (uint32_t)y, (uint32_t)z}, sizeof c->of.old_block);
    pthread_mutex_unlock(&lock);
    return result;
}

cu_result real_cuFuncSetSharedSize(cu_function function, uint32_t bytes)
{
    cu_result result = DR_NEXT(cuFuncSetSharedSize)(function, bytes);
    pthread_mutex_lock(&lock);
    code *c = *place_of(function);
    if (!result && c)
        c->of.old_shared = bytes;
    pthread_mutex_unlock(&lock);
    return result;
}

cu_result real_cuParamSetSize(cu_function function, uint32_t numbytes)
{
    cu_result result = DR_NEXT(cuParamSetSize)(function, numbytes);
    pthread_mutex_lock(&lock);
    code *c = *place_of(function);
    if (!result && c)
        c->of.old_bytes = numbytes;
    pthread_mutex_unlock(&lock);
    return result;
}

static cu_result note_param(cu_result result, cu_function function, int offset, const void *value, uint32_t bytes)
{
    if (result || offset < 0 || bytes > MOST_OLD_BYTES || (uint32_t)offset > MOST_OLD_BYTES - bytes)
        return result;
    pthread_mutex_lock(&lock);
    code *c = *place_of(function);
    if (c && !c->old_params)
        c->old_params = calloc(1, MOST_OLD_BYTES);
    if (c && c->old_params)
        memcpy(c->old_params + offset, value, bytes);
    pthread_mutex_unlock(&lock);
    return result;
}

cu_result real_cuParamSeti(cu_function function, int offset, uint32_t value)
{
    return note_param(DR_NEXT(cuParamSeti)(function, offset, value), function, offset, &value, sizeof value);
}

cu_result real_cuParamSetf(cu_function function, int offset, float value)
{
    return note_param(DR_NEXT(cuParamSetf)(function, offset, value), function, offset, &value, sizeof value);
}

cu_result real_cuParamSetv(cu_function function, int offset, void *address, uint32_t numbytes)
{
    return note_param(DR_NEXT(cuParamSetv)(function, offset, address, numbytes), function, offset, address, numbytes);
}

void dr_real_old_params(const void *handle, void *to, size_t bytes)
{
    memset(to, 0, bytes);
    pthread_mutex_lock(&lock);
    const code *c = *place_of(handle);
    if (c && c->old_params)
        memcpy(to, c->old_params, bytes < MOST_OLD_BYTES ? bytes : MOST_OLD_BYTES);
    pthread_mutex_unlock(&lock);
}
