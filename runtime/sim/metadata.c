/* metadata.c - the kernels' metadata of a code object: MessagePack in a note (LLVM, "User Guide for AMDGPU Backend",
 * "Code Object V5 Metadata"). Read are the sizes and the places of hidden arguments.
 *
 * Every read is bounded by the note; nesting is limited. Unknown keys are passed over, as the format asks.
 */
#include "runtime/sim/state.h"

const char *const sim_hidden_names[] = {
    "",
    "hidden_block_count_x", "hidden_block_count_y", "hidden_block_count_z",
    "hidden_group_size_x", "hidden_group_size_y", "hidden_group_size_z",
    "hidden_remainder_x", "hidden_remainder_y", "hidden_remainder_z",
    "hidden_global_offset_x", "hidden_global_offset_y", "hidden_global_offset_z",
    "hidden_grid_dims", "hidden_dynamic_lds_size", "hidden_private_base", "hidden_shared_base",
    NULL};

typedef struct reader {
    const uint8_t *at, *end;
    bool bad;
} reader;

typedef enum item_kind { ITEM_NONE, ITEM_INTEGER, ITEM_STRING, ITEM_ARRAY, ITEM_MAP } item_kind;

typedef struct item {
    item_kind kind;
    uint64_t value;                      /* the integer, or the number of elements, pairs, or bytes */
    const char *text;
} item;

static uint64_t take_number(reader *r, uint32_t bytes)
{
    uint64_t v = 0;
    if ((uint64_t)(r->end - r->at) < bytes) {
        r->bad = true;
        return 0;
    }
    for (uint32_t k = 0; k < bytes; k++)
        v = v << 8 | *r->at++;
    return v;
}

static item take_text(reader *r, uint64_t bytes, item_kind kind)
{
    item i = {kind, bytes, (const char *)r->at};
    if ((uint64_t)(r->end - r->at) < bytes) {
        r->bad = true;
        return (item){0};
    }
    r->at += bytes;
    return i;
}

/* The head of the next item; elements of an array or map follow it. */
static item take_item(reader *r)
{
    uint8_t b = (uint8_t)take_number(r, 1);
    if (r->bad) return (item){0};
    if (b < 0x80 || b >= 0xe0) return (item){ITEM_INTEGER, (uint64_t)(int64_t)(int8_t)b, NULL};
    if (b < 0x90) return (item){ITEM_MAP, b & 15, NULL};
    if (b < 0xa0) return (item){ITEM_ARRAY, b & 15, NULL};
    if (b < 0xc0) return take_text(r, b & 31, ITEM_STRING);
    switch (b) {
    case 0xc0: return (item){0};
    case 0xc2: case 0xc3: return (item){ITEM_INTEGER, b & 1, NULL};
    case 0xc4: case 0xc5: case 0xc6: return take_text(r, take_number(r, 1u << (b - 0xc4)), ITEM_NONE);
    case 0xca: take_number(r, 4); return (item){0};
    case 0xcb: take_number(r, 8); return (item){0};
    case 0xcc: case 0xcd: case 0xce: case 0xcf: return (item){ITEM_INTEGER, take_number(r, 1u << (b - 0xcc)), NULL};
    case 0xd0: return (item){ITEM_INTEGER, (uint64_t)(int64_t)(int8_t)take_number(r, 1), NULL};
    case 0xd1: return (item){ITEM_INTEGER, (uint64_t)(int64_t)(int16_t)take_number(r, 2), NULL};
    case 0xd2: return (item){ITEM_INTEGER, (uint64_t)(int64_t)(int32_t)take_number(r, 4), NULL};
    case 0xd3: return (item){ITEM_INTEGER, take_number(r, 8), NULL};
    case 0xd9: case 0xda: case 0xdb: return take_text(r, take_number(r, 1u << (b - 0xd9)), ITEM_STRING);
    case 0xdc: return (item){ITEM_ARRAY, take_number(r, 2), NULL};
    case 0xdd: return (item){ITEM_ARRAY, take_number(r, 4), NULL};
    case 0xde: return (item){ITEM_MAP, take_number(r, 2), NULL};
    case 0xdf: return (item){ITEM_MAP, take_number(r, 4), NULL};
    default: r->bad = true; return (item){0};
    }
}

static void pass_over(reader *r, uint32_t depth)
{
    item i = take_item(r);
    if (depth > 16) r->bad = true;
    uint64_t n = i.kind == ITEM_ARRAY ? i.value : i.kind == ITEM_MAP ? i.value * 2 : 0;
    while (n-- && !r->bad)
        pass_over(r, depth + 1);
}

static bool is(item i, const char *text)
{
    return i.kind == ITEM_STRING && i.value == strlen(text) && !memcmp(i.text, text, i.value);
}

static uint64_t take_integer(reader *r)
{
    item i = take_item(r);
    if (i.kind != ITEM_INTEGER) r->bad = true;
    return i.value;
}

/* What one kernel's entry says; it may stand in front of its symbol. */
typedef struct entry {
    item symbol;
    uint64_t kernarg, max_threads, vgprs, sgprs, explicit_bytes;
    bool dynamic_stack;
    sim_hidden hidden[SIM_MAX_HIDDEN];
    uint32_t nhidden;
} entry;

static uint8_t hidden_kind(item kind)
{
    for (uint8_t k = 1; sim_hidden_names[k]; k++)
        if (is(kind, sim_hidden_names[k])) return k;
    return 0;                            /* left zero: hostcall buffers, heaps and queues, which no kernel here has */
}

static void read_argument(reader *r, entry *e)
{
    item map = take_item(r), kind = {0};
    uint64_t offset = 0, size = 0;
    if (map.kind != ITEM_MAP) r->bad = true;
    for (uint64_t k = 0; k < map.value && !r->bad; k++) {
        item key = take_item(r);
        if (is(key, ".offset")) offset = take_integer(r);
        else if (is(key, ".size")) size = take_integer(r);
        else if (is(key, ".value_kind")) kind = take_item(r);
        else pass_over(r, 0);
    }
    if (offset > UINT16_MAX || size > UINT16_MAX) r->bad = true;
    if (r->bad || kind.kind != ITEM_STRING) return;
    if (kind.value < 7 || memcmp(kind.text, "hidden_", 7)) {
        if (e->explicit_bytes < offset + size) e->explicit_bytes = offset + size;
        return;
    }
    uint8_t hidden = hidden_kind(kind);
    if (!hidden) return;
    if (e->nhidden == SIM_MAX_HIDDEN) r->bad = true;
    else e->hidden[e->nhidden++] = (sim_hidden){hidden, (uint32_t)offset, (uint32_t)size};
}

static void read_arguments(reader *r, entry *e)
{
    item list = take_item(r);
    if (list.kind != ITEM_ARRAY) r->bad = true;
    for (uint64_t k = 0; k < list.value && !r->bad; k++)
        read_argument(r, e);
}

static void apply(sim_module *module, const entry *e, reader *r)
{
    for (uint32_t k = 0; k < module->nkernels; k++) {
        sim_kernel *kernel = &module->kernels[k];
        if (!is(e->symbol, kernel->symbol)) continue;
        uint64_t segment = kernel->kernarg_segment > e->kernarg ? kernel->kernarg_segment : e->kernarg;
        if (segment > 1 << 16 || e->explicit_bytes > segment) r->bad = true;
        for (uint32_t h = 0; h < e->nhidden; h++)
            if (e->hidden[h].size > 8 || (uint64_t)e->hidden[h].offset + e->hidden[h].size > segment) r->bad = true;
        if (r->bad) return;
        kernel->kernarg_segment = (uint32_t)segment;
        kernel->info.kernarg_bytes = (uint32_t)e->explicit_bytes;
        if (e->max_threads && e->max_threads < kernel->info.max_threads) kernel->info.max_threads = (uint32_t)e->max_threads;
        kernel->info.vgprs = (uint32_t)e->vgprs;
        kernel->info.sgprs = (uint32_t)e->sgprs;
        kernel->dynamic_stack |= e->dynamic_stack;
        memcpy(kernel->hidden, e->hidden, sizeof kernel->hidden);
        kernel->nhidden = e->nhidden;
    }
}

static void read_kernel(reader *r, sim_module *module)
{
    entry e = {0};
    item map = take_item(r);
    if (map.kind != ITEM_MAP) r->bad = true;
    for (uint64_t k = 0; k < map.value && !r->bad; k++) {
        item key = take_item(r);
        if (is(key, ".args")) read_arguments(r, &e);
        else if (is(key, ".symbol")) e.symbol = take_item(r);
        else if (is(key, ".kernarg_segment_size")) e.kernarg = take_integer(r);
        else if (is(key, ".max_flat_workgroup_size")) e.max_threads = take_integer(r);
        else if (is(key, ".vgpr_count")) e.vgprs = take_integer(r);
        else if (is(key, ".sgpr_count")) e.sgprs = take_integer(r);
        else if (is(key, ".uses_dynamic_stack")) e.dynamic_stack = take_integer(r) != 0;
        else pass_over(r, 0);
    }
    if (!r->bad) apply(module, &e, r);
}

bool sim_read_metadata(sim_module *module, const uint8_t *note, size_t bytes, sim_error *error)
{
    reader r = {note, note + bytes, false};
    item map = take_item(&r);
    if (map.kind != ITEM_MAP) r.bad = true;
    for (uint64_t k = 0; k < map.value && !r.bad; k++) {
        item key = take_item(&r);
        if (!is(key, "amdhsa.kernels")) {
            pass_over(&r, 0);
            continue;
        }
        item list = take_item(&r);
        if (list.kind != ITEM_ARRAY) r.bad = true;
        for (uint64_t n = 0; n < list.value && !r.bad; n++)
            read_kernel(&r, module);
    }
    if (r.bad) sim_set_error(error, SIM_BAD_INPUT, "damaged kernel metadata");
    return !r.bad;
}
