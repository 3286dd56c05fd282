/* case_pointers.c - addresses and handles inside of a case's arrays: where they are, and what stands for them where arrays are compared.
 *
 * An address is another number on every device and in every run. So at the places that the case names, an array that is read back holds
 * what the address means (a token: which array, which byte) if it is the address that was named, and the number itself if not. Expected
 * arrays hold the same token there. Arrays of two devices can then be compared like any other.
 */
#include "runtime/case_json.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_POINTERS = 1 << 20 };

/* What a pointer may lead to; the first three are kinds of arrays. */
enum { TO_GLOBAL = CASE_SURFACE + 1, TO_FUNCTION, TO_HEAP, TARGETS };
static const char *const targets[TARGETS] = {"buffer", "texture", "surface", "global", "function", "heap"};

static pxb_status find_target(const case_parser *p, const case_node *n, int *found)
{
    int count = 0;
    for (int i = 0; i < TARGETS; i++)
        if (json_object_get(n->json, targets[i])) {
            *found = i;
            count++;
        }
    return count == 1 ? PXB_OK : case_fail(p, n, "exactly one of buffer, texture, surface, global, function and heap is wanted here, not %d", count);
}

static pxb_status parse_offset(const case_parser *p, const case_node *n, const char *key, bool wanted, case_pointer *out)
{
    case_node offset = case_member(n, key);
    if (!offset.json)
        return PXB_OK;
    if (!wanted)
        return case_fail(p, &offset, "\"%s\" goes with \"%.*s\"", key, (int)(strlen(key) - strlen("_offset")), key);
    return case_unsigned(p, &offset, UINT64_MAX / 2, &out->target_offset);
}

static pxb_status parse_target(const case_parser *p, const case_node *n, bool expected, case_pointer *out)
{
    const char *name = NULL;
    int found = 0;
    pxb_status status = find_target(p, n, &found);
    if (!status)
        status = parse_offset(p, n, "buffer_offset", found == CASE_BUFFER, out);
    if (!status)
        status = parse_offset(p, n, "global_offset", found == TO_GLOBAL, out);
    if (status)
        return status;
    case_node at = case_member(n, targets[found]);
    if (found == TO_HEAP) {
        out->heap = expected && json_is_true(at.json);
        return out->heap ? PXB_OK : case_fail(p, &at, "\"heap\": true is for what is expected; a buffer in the heap has a name");
    }
    status = case_string(p, &at, &name);
    if (status)
        return status;
    if (found == TO_GLOBAL)
        out->global = name;
    else if (found == TO_FUNCTION)
        out->function = name;
    else
        out->array = case_find(p->file, (case_array_kind)found, name);
    return found >= TO_GLOBAL || out->array ? PXB_OK : case_fail(p, &at, "there is no %s \"%.80s\" in this case", targets[found], name);
}

pxb_status case_parse_pointers(const case_parser *p, const case_node *n, bool expected, case_pointers *out)
{
    static const char *const keys[] = {"offset", "buffer", "buffer_offset", "texture", "surface", "global", "global_offset", "function", "heap", NULL};
    pxb_status status = case_want(p, n, JSON_ARRAY, "a list of pointers");
    if (status)
        return status;
    size_t count = json_array_size(n->json);
    if (count > MAX_POINTERS)
        return case_fail(p, n, "at most %d pointers are possible", MAX_POINTERS);
    case_pointer *list = rt_pool_alloc(p->pool, count, sizeof *list);
    if (!list)
        return rt_no_memory(p->ctx);
    for (size_t i = 0; i < count && !status; i++) {
        case_node e = case_element(n, i), offset = case_member(&e, "offset");
        status = case_want(p, &e, JSON_OBJECT, "an object");
        if (!status)
            status = case_check_keys(p, &e, keys);
        if (!status)
            status = case_unsigned(p, &offset, UINT64_MAX / 2, &list[i].offset);
        if (!status)
            status = parse_target(p, &e, expected, &list[i]);
        case_position(p, &e, &list[i].line, &list[i].column);
    }
    out->given = true;
    out->list = list;
    out->count = (uint32_t)count;
    return status;
}

pxb_status case_check_pointers(pxb_context *ctx, const case_file *file, const case_pointers *pointers, const char *name, uint64_t bytes)
{
    for (uint32_t i = 0; i < pointers->count; i++) {
        const case_pointer *p = &pointers->list[i];
        if (bytes < 8 || p->offset > bytes - 8)
            return rt_fail_at(ctx, PXB_BAD_INPUT, file->path, p->line, p->column,
                              "the pointer at offset %" PRIu64 " is outside \"%.80s\" of %" PRIu64 " bytes", p->offset, name, bytes);
    }
    return PXB_OK;
}

/* Numbers that no device has for addresses; names of variables and functions by their FNV-1a hash. */
static uint64_t token_of(const case_file *file, const case_pointer *p)
{
    const char *name = p->global ? p->global : p->function;
    uint64_t which = p->array ? (uint64_t)(p->array - file->arrays) : 0;
    if (p->heap)
        return UINT64_MAX / 2;
    if (name) {
        uint32_t hash = 0x811c9dc5u;
        for (const char *c = name; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 0x1000193u;
        which = 1u << 19 | (hash & 0x7ffff);
    }
    return 0xb000000000000000u | (which & 0xfffff) << 40 | (p->target_offset & 0xffffffffffu);
}

void case_name_pointers(const case_file *file, const case_pointers *pointers, void *data)
{
    for (uint32_t i = 0; i < pointers->count; i++) {
        uint64_t token = token_of(file, &pointers->list[i]);
        memcpy((char *)data + pointers->list[i].offset, &token, sizeof token);
    }
}

bool case_name_pointer(const case_file *file, const case_pointer *p, uint64_t address, void *data)
{
    uint64_t value, token = token_of(file, p);
    memcpy(&value, (char *)data + p->offset, sizeof value);
    if (p->heap ? value == 0 : value != address)
        return false;
    memcpy((char *)data + p->offset, &token, sizeof token);
    return true;
}
