/* link.c - linking of PTX texts into one: what nvlink does for machine code, for -rdc programs and cuLink….
 *
 * Each text is cut into its items (directives, variables, functions). The parser takes declarations and definitions of one name in any
 * order, so the linked text is all items one after another, under one head; of definitions that may be there several times
 * (.weak, .common) the first is kept unless there is a strong one, and what belongs to one unit alone (no linkage directive) gets another
 * name when some other unit has the same. Debug sections and .file tables are left out, since they count from their own unit.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/image.h"
#include "runtime/driver/library.h"

typedef enum strength { LOCAL, DECLARED, WEAK, STRONG } strength;

typedef struct item {
    const char *text;
    size_t length;
    const char *name;              /* in the text, not terminated; NULL for what has none */
    size_t name_length;
    strength strength;
    bool head, dropped;            /* head: .version, .target, .address_size, .file, .section */
    uint32_t unit;
} item;

typedef struct linker {
    item *items;
    size_t count, capacity;
    size_t *sorted;                /* items with a name, by name, then by place */
    size_t nsorted;
    char *out;
    size_t length, room;
    bool failed;                   /* without memory */
} linker;

/* ------------------------------------------------------------ cutting */

typedef struct cursor { const char *at, *end; } cursor;

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static void skip_blank(cursor *c)
{
    while (c->at < c->end) {
        if (isspace((unsigned char)*c->at))
            c->at++;
        else if (c->end - c->at >= 2 && c->at[0] == '/' && c->at[1] == '/')
            while (c->at < c->end && *c->at != '\n')
                c->at++;
        else if (c->end - c->at >= 2 && c->at[0] == '/' && c->at[1] == '*') {
            c->at += 2;
            while (c->end - c->at >= 2 && !(c->at[0] == '*' && c->at[1] == '/'))
                c->at++;
            c->at = c->end - c->at >= 2 ? c->at + 2 : c->end;
        } else
            return;
    }
}

/* One token: a word with its leading point, a string, or a single character. */
static size_t next_token(cursor *c, const char **start)
{
    skip_blank(c);
    *start = c->at;
    if (c->at == c->end)
        return 0;
    if (*c->at == '"') {
        c->at++;
        while (c->at < c->end && *c->at != '"')
            c->at += *c->at == '\\' && c->end - c->at > 1 ? 2 : 1;
        c->at += c->at < c->end;
    } else {
        c->at++;
        if (is_word(**start) || **start == '.')
            while (c->at < c->end && is_word(*c->at))
                c->at++;
    }
    return (size_t)(c->at - *start);
}

static bool is(const char *token, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(token, word, length) == 0;
}

/* To the ')' that belongs to the '(' that was just read. */
static void skip_parentheses(cursor *c)
{
    const char *t;
    size_t n;
    for (uint32_t depth = 1; depth && (n = next_token(c, &t)) != 0;)
        depth += is(t, n, "(") ? 1u : is(t, n, ")") ? -1u : 0;
}

static bool ends_at_line(const char *t, size_t n)
{
    return is(t, n, ".version") || is(t, n, ".target") || is(t, n, ".address_size") || is(t, n, ".file") || is(t, n, ".loc");
}

static void skip_line(cursor *c)
{
    while (c->at < c->end && *c->at != '\n')
        c->at++;
}

/* What the words before the name say. */
static void note_word(item *i, const char *t, size_t n, bool *function)
{
    if (is(t, n, ".extern"))
        i->strength = DECLARED;
    else if (is(t, n, ".visible"))
        i->strength = STRONG;
    else if (is(t, n, ".weak") || is(t, n, ".common"))
        i->strength = WEAK;
    else if (is(t, n, ".func") || is(t, n, ".entry"))
        *function = true;
}

/* Reads one item; false at the end of the text. */
static bool read_item(cursor *c, item *i)
{
    const char *t;
    size_t n = next_token(c, &t);
    bool function = false, body = false;
    uint32_t depth = 0;
    *i = (item){.text = t};
    if (n == 0)
        return false;
    if (ends_at_line(t, n)) {
        skip_line(c);
        i->head = true;
        i->length = (size_t)(c->at - t);
        return true;
    }
    i->head = is(t, n, ".section");
    do {
        if (depth == 0 && t[0] == '.')
            note_word(i, t, n, &function);
        if (depth == 0 && is(t, n, ".attribute")) {
            if (next_token(c, &t) && *t == '(')
                skip_parentheses(c);
        } else if (*t == '(' && depth == 0)
            skip_parentheses(c);
        else if (*t == '{') {
            depth++;
            body = true;
        } else if (*t == '}' && depth) {
            if (--depth == 0 && (function || i->head))
                break;
        } else if (*t == ';' && depth == 0)
            break;
        else if (depth == 0 && !i->name && is_word(*t) && !isdigit((unsigned char)*t)) {
            i->name = t;
            i->name_length = n;
        }
    } while ((n = next_token(c, &t)) != 0);
    i->length = (size_t)(c->at - i->text);
    if (function && !body && i->strength != DECLARED)
        i->strength = i->strength == LOCAL ? LOCAL : DECLARED;    /* a prototype; a local one stays its unit's */
    if (is(i->text, i->length < 6 ? i->length : 6, ".alias") || is(i->text, i->length < 7 ? i->length : 7, ".pragma"))
        i->name = NULL;
    return true;
}

static bool add_item(linker *l, const item *i)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 256;
        item *more = realloc(l->items, capacity * sizeof *more);
        if (!more)
            return false;
        l->items = more;
        l->capacity = capacity;
    }
    l->items[l->count++] = *i;
    return true;
}

/* ------------------------------------------------------------ deciding */

static int compare_names(const item *a, const item *b)
{
    size_t n = a->name_length < b->name_length ? a->name_length : b->name_length;
    int order = memcmp(a->name, b->name, n);
    return order ? order : (a->name_length > b->name_length) - (a->name_length < b->name_length);
}

static int by_name(const void *a, const void *b, void *items)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    int order = compare_names((item *)items + i, (item *)items + k);
    return order ? order : (i > k) - (i < k);
}

/* Items of one name. Of definitions one stays; two strong ones are an error. */
static cu_result settle(linker *l, size_t from, size_t to, dr_jit *jit)
{
    item *kept = NULL;
    for (size_t k = from; k < to; k++) {
        item *i = &l->items[l->sorted[k]];
        if (i->strength != WEAK && i->strength != STRONG)
            continue;
        if (kept && kept->strength == STRONG && i->strength == STRONG) {
            char text[512];
            snprintf(text, sizeof text, "'%.*s' is defined in two units", (int)(i->name_length < 300 ? i->name_length : 300), i->name);
            dr_jit_write(jit, true, text);
            return dr_fail(DR_ERROR(INVALID_PTX), "linking: %s", text);
        }
        if (!kept)
            kept = i;
        else if (i->strength == STRONG) {
            kept->dropped = true;
            kept = i;
        } else
            i->dropped = true;
    }
    return CUABI_SUCCESS;
}

/* What programs declare and devices provide: runtime/cpu/builtin.c, translator/lower_builtin.c, and the function below. */
static bool is_of_the_system(const item *i)
{
    static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail", "__assert_fail", "cudaGraphSetConditional"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (is(i->name, i->name_length, names[k]))
            return true;
    return false;
}

/* Dynamic shared memory is declared .extern, and defined by nobody. */
static bool needs_definition(const item *i)
{
    return i->strength == DECLARED && !is_of_the_system(i) &&
           !memmem(i->text, (size_t)(i->name - i->text), ".shared", sizeof ".shared" - 1);
}

/* Items of one name of which none defines it. */
static cu_result find_missing(const linker *l, size_t from, size_t to, dr_jit *jit)
{
    const item *wanted = NULL;
    for (size_t k = from; k < to; k++) {
        const item *i = &l->items[l->sorted[k]];
        if (i->strength != DECLARED)
            return CUABI_SUCCESS;
        if (needs_definition(i))
            wanted = i;
    }
    if (!wanted)
        return CUABI_SUCCESS;
    char text[512];
    snprintf(text, sizeof text, "'%.*s' is used, and defined in no unit", (int)(wanted->name_length < 300 ? wanted->name_length : 300), wanted->name);
    dr_jit_write(jit, true, text);
    return dr_fail(DR_ERROR(INVALID_PTX), "linking: %s", text);
}

static cu_result settle_all(linker *l, bool whole, dr_jit *jit)
{
    l->sorted = calloc(l->count + 1, sizeof *l->sorted);
    if (!l->sorted)
        return DR_ERROR(OUT_OF_MEMORY);
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].name)
            l->sorted[l->nsorted++] = i;
    qsort_r(l->sorted, l->nsorted, sizeof *l->sorted, by_name, l->items);
    cu_result result = CUABI_SUCCESS;
    for (size_t from = 0, to; from < l->nsorted && !result; from = to) {
        for (to = from + 1; to < l->nsorted && compare_names(&l->items[l->sorted[from]], &l->items[l->sorted[to]]) == 0; to++) {}
        result = settle(l, from, to, jit);
        if (!result && whole)
            result = find_missing(l, from, to, jit);
    }
    return result;
}

/* Does the name mean one thing in this unit alone, and something else in another? */
static bool is_renamed(const linker *l, const item *wanted, uint32_t unit)
{
    size_t low = 0, high = l->nsorted;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(&l->items[l->sorted[middle]], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool own = false, other = false;
    for (; low < l->nsorted; low++) {
        const item *i = &l->items[l->sorted[low]];
        if (compare_names(i, wanted) != 0)
            break;
        own |= i->unit == unit && i->strength == LOCAL;
        other |= i->unit != unit;
    }
    return own && other;
}

/* ------------------------------------------------------------ writing */

static void put(linker *l, const char *text, size_t n)
{
    if (l->length + n + 1 > l->room) {
        size_t room = l->room ? l->room : 1 << 16;
        while (room < l->length + n + 1)
            room *= 2;
        char *more = realloc(l->out, room);
        if (!more) {
            l->failed = true;
            return;
        }
        l->out = more;
        l->room = room;
    }
    memcpy(l->out + l->length, text, n);
    l->length += n;
    l->out[l->length] = '\0';
}

/* An item with the unit's own names made unlike those of other units. */
static void put_renamed(linker *l, const item *i)
{
    cursor c = {i->text, i->text + i->length};
    const char *t, *done = i->text;
    size_t n;
    while ((n = next_token(&c, &t)) != 0) {
        item word = {.name = t, .name_length = n};
        char suffix[24];
        if (!is_word(*t) || isdigit((unsigned char)*t) || *t == '%' || !is_renamed(l, &word, i->unit))
            continue;
        put(l, done, (size_t)(t + n - done));
        put(l, suffix, (size_t)snprintf(suffix, sizeof suffix, "$unit%u", i->unit));
        done = t + n;
    }
    put(l, done, (size_t)(i->text + i->length - done));
}

/* A number like "9.0" or the digits of "sm_75". */
static uint32_t rank(const char *text, size_t length)
{
    uint32_t v = 0;
    for (size_t i = 0; i < length && v < 100000; i++)
        if (isdigit((unsigned char)text[i]))
            v = v * 10 + (uint32_t)(text[i] - '0');
        else if (text[i] == ',')
            break;
    return v;
}

/* The newest version and the highest architecture of all units. */
static void put_head(linker *l)
{
    static const char *const kinds[] = {".version", ".target", ".address_size"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const item *best = NULL;
        for (size_t i = 0; i < l->count; i++) {
            const item *it = &l->items[i];
            size_t n = strlen(kinds[k]);
            if (it->head && it->length > n && memcmp(it->text, kinds[k], n) == 0 &&
                (!best || rank(it->text, it->length) > rank(best->text, best->length)))
                best = it;
        }
        if (best) {
            put(l, best->text, best->length);
            put(l, "\n", 1);
        }
    }
}

cu_result dr_link_texts(char *const *texts, const size_t *lengths, size_t count, bool whole, dr_jit *jit, char **out, size_t *length)
{
    linker l = {0};
    cu_result result = CUABI_SUCCESS;
    *out = NULL;
    for (size_t u = 0; u < count && !result; u++) {
        cursor c = {texts[u], texts[u] + lengths[u]};
        item i;
        while (!result && read_item(&c, &i)) {
            i.unit = (uint32_t)u;
            result = add_item(&l, &i) ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
        }
    }
    if (!result)
        result = settle_all(&l, whole, jit);
    if (!result) {
        put_head(&l);
        for (size_t i = 0; i < l.count; i++) {
            if (l.items[i].head || l.items[i].dropped)
                continue;
            put_renamed(&l, &l.items[i]);
            put(&l, "\n", 1);
        }
        result = l.failed ? DR_ERROR(OUT_OF_MEMORY) : CUABI_SUCCESS;
    }
    free(l.items);
    free(l.sorted);
    if (result)
        free(l.out);
    else {
        *out = l.out;
        *length = l.length;
    }
    return result;
}

/* ------------------------------------------------------------ what NVIDIA's device library would define */

/* The handle of a conditional node is the address of its value (conditional.c). */
static const char set_conditional[] =
    "\n.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)\n{\n    .reg .b64 %h;\n    .reg .b32 %v;\n"
    "    ld.param.b64 %h, [handle];\n    ld.param.b32 %v, [value];\n    st.volatile.b32 [%h], %v;\n    ret;\n}\n";

/* Adds it where a text declares it and nothing more. Texts that the linker made hold declarations as they were written. */
cu_result dr_link_library(char **text, size_t *length)
{
    static const char name[] = "cudaGraphSetConditional";
    const char *at = memmem(*text, *length, name, sizeof name - 1);
    if (!at)
        return CUABI_SUCCESS;
    cursor c = {*text, *text + *length};
    item i;
    bool declared = false, defined = false;
    while (read_item(&c, &i))
        if (i.name && is(i.name, i.name_length, name)) {
            declared |= i.strength == DECLARED;
            defined |= i.strength != DECLARED;
        }
    if (!declared || defined)
        return CUABI_SUCCESS;
    char *more = realloc(*text, *length + sizeof set_conditional);
    if (!more)
        return DR_ERROR(OUT_OF_MEMORY);
    memcpy(more + *length, set_conditional, sizeof set_conditional);
    *text = more;
    *length += sizeof set_conditional - 1;
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ cuLink… */

typedef struct dr_link {
    dr_object head;
    int capability;
    dr_jit jit;
    char **texts;
    size_t *lengths, count;
    char *linked;
} dr_link;

cu_result impl_cuLinkCreate_v2(uint32_t option_count, int32_t *options, void **values, cu_link *state_out)
{
    DR_NEED(state_out);
    DR_USE(c);
    dr_link *l = dr_object_new(DR_LINK, sizeof *l);
    if (!l)
        return DR_ERROR(OUT_OF_MEMORY);
    l->capability = c->device->capability;
    cu_result result = dr_jit_read(&l->jit, option_count, options, values);
    if (result)
        dr_object_free(l, DR_LINK);
    else
        *state_out = l;
    return result;
}

cu_result impl_cuLinkCreate(uint32_t option_count, int32_t *options, void **values, cu_link *state_out)
{
    return impl_cuLinkCreate_v2(option_count, options, values, state_out);
}

static cu_result add_text(dr_link *l, char *text, size_t length)
{
    char **texts = realloc(l->texts, (l->count + 1) * sizeof(*texts));
    if (texts)
        l->texts = texts;
    size_t *lengths = realloc(l->lengths, (l->count + 1) * sizeof *lengths);
    if (lengths)
        l->lengths = lengths;
    if (!texts || !lengths) {
        free(text);
        return DR_ERROR(OUT_OF_MEMORY);
    }
    l->texts[l->count] = text;
    l->lengths[l->count++] = length;
    return CUABI_SUCCESS;
}

cu_result impl_cuLinkAddData_v2(cu_link state, int32_t type, void *data, size_t size, const char *name, uint32_t option_count,
                                int32_t *options, void **values)
{
    DR_NEED(data && size);
    dr_link *l = dr_object_of(state, DR_LINK);
    char *text;
    size_t length;
    dr_jit own;
    if (!l)
        return DR_ERROR(INVALID_HANDLE);
    if (type != CUABI_CU_JIT_INPUT_PTX && type != CUABI_CU_JIT_INPUT_FATBINARY)
        return dr_fail(type == CUABI_CU_JIT_INPUT_CUBIN ? DR_ERROR(NO_BINARY_FOR_GPU) : DR_ERROR(NOT_SUPPORTED),
                       "linking takes PTX and fat binaries, not input of type %d", type);
    cu_result result = dr_jit_read(&own, option_count, options, values);
    if (!result)
        result = dr_image_text(data, size, l->capability, &text, &length);
    if (result)
        return result;
    /* What is wrong is told now, with the unit's name, and not of a line of the linked text. */
    ptx_module *parsed;
    result = dr_parse(text, length, name && *name ? name : "unit", option_count ? &own : &l->jit, &parsed);
    if (result) {
        free(text);
        return result;
    }
    ptx_module_free(parsed);
    return add_text(l, text, length);
}

cu_result impl_cuLinkAddData(cu_link state, int32_t type, void *data, size_t size, const char *name, uint32_t option_count, int32_t *options,
                             void **values)
{
    return impl_cuLinkAddData_v2(state, type, data, size, name, option_count, options, values);
}

cu_result impl_cuLinkAddFile_v2(cu_link state, int32_t type, const char *path, uint32_t option_count, int32_t *options, void **values)
{
    DR_NEED(path);
    char *data;
    size_t bytes;
    cu_result result = dr_read_file(path, &data, &bytes);
    if (result)
        return result;
    result = impl_cuLinkAddData_v2(state, type, data, bytes, path, option_count, options, values);
    free(data);
    return result;
}

cu_result impl_cuLinkAddFile(cu_link state, int32_t type, const char *path, uint32_t option_count, int32_t *options, void **values)
{
    return impl_cuLinkAddFile_v2(state, type, path, option_count, options, values);
}

cu_result impl_cuLinkComplete(cu_link state, void **cubin_out, size_t *size_out)
{
    DR_NEED(cubin_out);
    dr_link *l = dr_object_of(state, DR_LINK);
    size_t length;
    if (!l)
        return DR_ERROR(INVALID_HANDLE);
    if (!l->count || l->linked)
        return DR_ERROR(INVALID_VALUE);
    cu_result result = dr_link_texts(l->texts, l->lengths, l->count, true, &l->jit, &l->linked, &length);
    if (result)
        return result;
    /* It is text; cuModuleLoadData takes it like any image. */
    *cubin_out = l->linked;
    if (size_out)
        *size_out = length + 1;
    return CUABI_SUCCESS;
}

cu_result impl_cuLinkDestroy(cu_link state)
{
    dr_link *l = dr_object_of(state, DR_LINK);
    if (!l)
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_HANDLE);
    for (size_t i = 0; i < l->count; i++)
        free(l->texts[i]);
    free(l->texts);
    free(l->lengths);
    free(l->linked);
    dr_object_free(l, DR_LINK);
    return CUABI_SUCCESS;
}
