/* memory.c - addresses, ld and st (PTX ISA, "Data Movement: ld, st, ldu").
 *
 * All addresses of a warp are made and checked at once. Three shapes then have paths of their own: the
 * same address in all lanes, neighbouring lanes at neighbouring addresses, and anything else lane by
 * lane. Only the arena's bounds are checked for generic addresses (guard pages and the signal
 * handler find the rest); shared, local and parameter windows are exact.
 */
#include <string.h>
#include "runtime/cpu/memory.h"

typedef uint8_t m1 __attribute__((may_alias));
typedef uint16_t m2 __attribute__((may_alias));
typedef uint32_t m4 __attribute__((may_alias));
typedef uint64_t m8 __attribute__((may_alias));
typedef int8_t n1 __attribute__((may_alias));
typedef int16_t n2 __attribute__((may_alias));
typedef int32_t n4 __attribute__((may_alias));

/* ------------------------------------------------------------ addresses */

/* --check: does a generic access of a lane stay inside one object that is the lane's to use? */
static bool is_exact(const cpu_warp *w, uint32_t lane, uint64_t address, uint64_t bytes)
{
    cpu_device *d = w->context->worker->device;
    uint64_t low, size;
    if (address - w->param_base < w->param_bytes)
        low = w->param_base, size = w->param_bytes;
    else if (address >= d->window.low && address < d->window.high)
        low = w->shared_base, size = w->shared_bytes;
    else if (address >= d->local.low && address < d->local.high)
        low = w->local_base + lane * w->local_stride, size = w->local_bytes;
    else
        return cpu_exact_range(d, address, bytes);
    return address - low < size && bytes <= size - (address - low);
}

void cpu_check_exact(cpu_warp *w, const cpu_insn *i, uint64_t bytes, uint32_t mask)
{
    CPU_FOR_LANES(lane, mask)
        if (!is_exact(w, lane, w->addresses[lane], bytes))
            cpu_raise_address(w, i, 1u << lane);
}

/* Window of a place: where it begins, its size, and the step between lanes. */
static inline uint64_t window_of(const cpu_warp *w, const cpu_place *p, cpu_address_query *q)
{
    switch ((cpu_window)p->window) {
    case CPU_W_SHARED:
        q->low = w->shared_base;
        q->add = w->shared_base;
        return w->shared_bytes;
    case CPU_W_LOCAL:
    case CPU_W_FRAME:
        q->low = w->local_base;
        q->add = w->local_base + (p->window == CPU_W_FRAME ? w->frame->local_base : 0);
        q->lane_stride = w->local_stride;
        return w->local_bytes;
    case CPU_W_PARAM:
        q->low = w->param_base;
        q->add = w->param_base;
        return w->param_bytes;
    default:
        q->low = w->arena;
        return w->arena_limit + 1;
    }
}

/* Of lanes whose address is outside the arena or misaligned, those that do not use mapped memory of the process as it may be used. */
static uint32_t outside_host(const cpu_warp *w, uint32_t bad, uint32_t bytes, uint32_t align)
{
    cpu_device *d = w->context->worker->device;
    uint32_t rest = bad;
    CPU_FOR_LANES(lane, bad)
        if (!(w->addresses[lane] & (align - 1)) && cpu_host_holds(d, w->addresses[lane], bytes))
            rest &= ~(1u << lane);
    return rest;
}

cpu_pattern cpu_addresses(cpu_warp *w, const cpu_insn *i, const cpu_place *p, uint32_t operand, uint32_t bytes, uint32_t align,
                          uint32_t mask)
{
    cpu_address_query q = {.step = bytes, .align_mask = align - 1};
    uint64_t size = window_of(w, p, &q);
    w->access_bytes = bytes;
    w->align = align;
    w->window = p->window;
    if (p->base == CPU_BASE_NONE && q.lane_stride == 0) {
        uint64_t address = q.add + (uint64_t)p->offset;
        for (uint32_t k = 0; k < CPU_LANES; k++)
            w->addresses[k] = address;
        if (size < bytes || address - q.low > size - bytes || (address & q.align_mask))
            cpu_raise_address(w, i, mask & -mask);
        if (w->check && p->window == CPU_W_GENERIC)
            cpu_check_exact(w, i, bytes, mask & -mask);
        return CPU_PATTERN_UNIFORM;
    }
    static const _Alignas(64) char zeros[32 * 8];
    const char *base = p->base == CPU_BASE_NONE ? zeros : w->frame->r + i->o[operand];
    uint32_t bad;
    cpu_pattern pattern;
    q.limit = size - bytes;
    if (p->base == CPU_BASE_32) {
        /* A 32-bit address wraps: [%r1+-4] with a negative %r1 may still mean a place. */
        q.add32 = (uint32_t)p->offset;
        pattern = w->ops->address32(w->addresses, base, &q, &bad);
    } else {
        q.add += (uint64_t)p->offset;
        pattern = w->ops->address64(w->addresses, base, &q, &bad);
    }
    if (size < bytes)
        bad = mask;
    bad &= mask;
    if (bad && p->window == CPU_W_GENERIC)
        bad = outside_host(w, bad, bytes, align);
    if (bad)
        cpu_raise_address(w, i, bad);
    if (w->check && p->window == CPU_W_GENERIC)
        cpu_check_exact(w, i, bytes, mask);
    return pattern;
}

/* ------------------------------------------------------------ loads */

typedef void (*move_fn)(const cpu_warp *w, char *const *slots, uint32_t count, uint32_t mask);

/* All lanes, each at its own address: `count` is a constant where this is inlined. */
#define LOAD_EVERY(mem, reg, count) do { \
        reg *to[count]; \
        for (uint32_t k = 0; k < (count); k++) \
            to[k] = (reg *)slots[k]; \
        for (uint32_t lane = 0; lane < CPU_LANES; lane++) { \
            const mem *from = (const mem *)(uintptr_t)w->addresses[lane]; \
            mem values[count]; \
            memcpy(values, from, sizeof values); \
            for (uint32_t k = 0; k < (count); k++) \
                to[k][lane] = (reg)values[k]; \
        } \
    } while (0)

#define LOADS(name, mem, reg) \
    static void name(const cpu_warp *w, char *const *slots, uint32_t count, uint32_t mask) \
    { \
        CPU_FOR_LANES(lane, mask) { \
            const mem *from = (const mem *)(uintptr_t)w->addresses[lane]; \
            for (uint32_t k = 0; k < count; k++) \
                ((reg *)slots[k])[lane] = (reg)from[k]; \
        } \
    } \
    static void name##_every(const cpu_warp *w, char *const *slots, uint32_t count, uint32_t mask) \
    { \
        if (count == 1) \
            LOAD_EVERY(mem, reg, 1); \
        else if (count == 2) \
            LOAD_EVERY(mem, reg, 2); \
        else if (count == 4) \
            LOAD_EVERY(mem, reg, 4); \
        else \
            name(w, slots, count, mask); \
    } \
    static void name##_dense(const cpu_warp *w, char *const *slots, uint32_t count, uint32_t mask) \
    { \
        const mem *from = (const mem *)(uintptr_t)w->addresses[0]; \
        (void)mask; \
        for (uint32_t k = 0; k < count; k++) \
            for (uint32_t lane = 0; lane < CPU_LANES; lane++) \
                ((reg *)slots[k])[lane] = (reg)from[lane * count + k]; \
    } \
    static void name##_uniform(const cpu_warp *w, char *const *slots, uint32_t count, uint32_t mask) \
    { \
        const mem *from = (const mem *)(uintptr_t)w->addresses[0]; \
        (void)mask; \
        for (uint32_t k = 0; k < count; k++) { \
            reg value = (reg)from[k]; \
            for (uint32_t lane = 0; lane < CPU_LANES; lane++) \
                ((reg *)slots[k])[lane] = value; \
        } \
    }
LOADS(load_1_1, m1, m1) LOADS(load_1_2, m1, m2) LOADS(load_1_4, m1, m4) LOADS(load_1_8, m1, m8)
LOADS(load_2_2, m2, m2) LOADS(load_2_4, m2, m4) LOADS(load_2_8, m2, m8)
LOADS(load_4_4, m4, m4) LOADS(load_4_8, m4, m8) LOADS(load_8_8, m8, m8)
LOADS(load_s1_2, n1, m2) LOADS(load_s1_4, n1, m4) LOADS(load_s1_8, n1, m8)
LOADS(load_s2_4, n2, m4) LOADS(load_s2_8, n2, m8) LOADS(load_s4_8, n4, m8)
#undef LOADS
#undef LOAD_EVERY

#define FOUR(name) {name, name##_uniform, name##_dense, name##_every}
/* [sign][log2 of memory bytes][register class][pattern, or EVERY] */
enum { EVERY = CPU_PATTERN_DENSE + 1 };
static const move_fn loads[2][4][4][4] = {
    {{FOUR(load_1_1), FOUR(load_1_2), FOUR(load_1_4), FOUR(load_1_8)},
     {{0}, FOUR(load_2_2), FOUR(load_2_4), FOUR(load_2_8)},
     {{0}, {0}, FOUR(load_4_4), FOUR(load_4_8)},
     {{0}, {0}, {0}, FOUR(load_8_8)}},
    {{FOUR(load_1_1), FOUR(load_s1_2), FOUR(load_s1_4), FOUR(load_s1_8)},
     {{0}, FOUR(load_2_2), FOUR(load_s2_4), FOUR(load_s2_8)},
     {{0}, {0}, FOUR(load_4_4), FOUR(load_s4_8)},
     {{0}, {0}, {0}, FOUR(load_8_8)}},
};
#undef FOUR

/* 32 elements that lie in memory as in a slot. */
static inline void copy_dense(char *to, const char *from, uint32_t bytes)
{
    switch (bytes) {
    case 4: memcpy(to, from, 128); break;
    case 8: memcpy(to, from, 256); break;
    default: memcpy(to, from, 32 * bytes); break;
    }
}

void cpu_op_load(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_access *a = i->extra;
    uint32_t bytes = (uint32_t)a->bytes * a->count;
    char *r = w->frame->r, *slots[16];
    uint32_t pattern = cpu_addresses(w, i, &a->place, 0, bytes, bytes, mask);
    for (uint32_t k = 0; k < a->count; k++)
        slots[k] = r + i->o[1 + k];
    if (pattern == CPU_PATTERN_DENSE && mask != UINT32_MAX)
        pattern = CPU_PATTERN_ANY;
    if (pattern == CPU_PATTERN_UNIFORM && mask != w->alive)
        pattern = CPU_PATTERN_ANY;
    if (pattern == CPU_PATTERN_ANY && mask == UINT32_MAX)
        pattern = EVERY;
    if (pattern == CPU_PATTERN_DENSE && a->count == 1 && a->bytes == 1u << a->class)
        copy_dense(slots[0], (const char *)(uintptr_t)w->addresses[0], a->bytes);
    else if (pattern == CPU_PATTERN_DENSE && a->bytes == 4 && a->class == CPU_CLASS_32 && a->count > 1 && a->count <= 4) {
        const char *from = (const char *)(uintptr_t)w->addresses[0];
        if (a->count == 4)
            w->ops->split4(slots[0], slots[1], slots[2], slots[3], from);
        else
            w->ops->split2(slots[0], slots[1], from);
    } else
        loads[a->sign][__builtin_ctz(a->bytes)][a->class][pattern](w, slots, a->count, mask);
    if (a->acquire)
        atomic_thread_fence(memory_order_seq_cst);
}

static uint64_t load_one(const cpu_access *a, uint64_t address)
{
    switch (a->bytes) {
    case 1: return a->sign ? (uint64_t)(int64_t)*(const n1 *)(uintptr_t)address : *(const m1 *)(uintptr_t)address;
    case 2: return a->sign ? (uint64_t)(int64_t)*(const n2 *)(uintptr_t)address : *(const m2 *)(uintptr_t)address;
    case 4: return a->sign ? (uint64_t)(int64_t)*(const n4 *)(uintptr_t)address : *(const m4 *)(uintptr_t)address;
    default: return *(const m8 *)(uintptr_t)address;
    }
}

void cpu_op_load_uniform(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_access *a = i->extra;
    cpu_address_query q = {0};
    uint32_t bytes = (uint32_t)a->bytes * a->count, first = (uint32_t)__builtin_ctz(mask);
    uint64_t size = window_of(w, &a->place, &q), address = q.add + (uint64_t)a->place.offset;
    w->addresses[first] = address;
    w->access_bytes = bytes;
    w->align = bytes;
    w->window = a->place.window;
    if (size < bytes || address - q.low > size - bytes || (address & (bytes - 1)))
        cpu_raise_address(w, i, mask & -mask);
    if (w->check && a->place.window == CPU_W_GENERIC)
        cpu_check_exact(w, i, bytes, mask & -mask);
    for (uint32_t k = 0; k < a->count; k++) {
        uint64_t value = load_one(a, address + (uint64_t)k * a->bytes);
        char *slot = w->frame->r + i->o[1 + k];
        if (mask == w->alive)
            w->ops->splat[a->class](slot, value);
        else
            CPU_FOR_LANES(lane, mask)
                cpu_put(slot, (cpu_class)a->class, lane, value);
    }
    if (a->acquire)
        atomic_thread_fence(memory_order_seq_cst);
}

/* ------------------------------------------------------------ stores */

#define STORE_EVERY(mem, reg, count) do { \
        const reg *from[count]; \
        for (uint32_t k = 0; k < (count); k++) \
            from[k] = (const reg *)slots[k]; \
        for (uint32_t lane = 0; lane < CPU_LANES; lane++) { \
            mem *to = (mem *)(uintptr_t)w->addresses[lane]; \
            for (uint32_t k = 0; k < (count); k++) \
                to[k] = (mem)from[k][lane]; \
        } \
    } while (0)

#define STORES(name, mem, reg) \
    static void name(const cpu_warp *w, char *const *slots, uint32_t count, uint32_t mask) \
    { \
        CPU_FOR_LANES(lane, mask) { \
            mem *to = (mem *)(uintptr_t)w->addresses[lane]; \
            for (uint32_t k = 0; k < count; k++) \
                to[k] = (mem)((const reg *)slots[k])[lane]; \
        } \
    } \
    static void name##_every(const cpu_warp *w, char *const *slots, uint32_t count, uint32_t mask) \
    { \
        if (count == 1) \
            STORE_EVERY(mem, reg, 1); \
        else if (count == 2) \
            STORE_EVERY(mem, reg, 2); \
        else if (count == 4) \
            STORE_EVERY(mem, reg, 4); \
        else \
            name(w, slots, count, mask); \
    } \
    static void name##_dense(const cpu_warp *w, char *const *slots, uint32_t count, uint32_t mask) \
    { \
        mem *to = (mem *)(uintptr_t)w->addresses[0]; \
        (void)mask; \
        for (uint32_t k = 0; k < count; k++) \
            for (uint32_t lane = 0; lane < CPU_LANES; lane++) \
                to[lane * count + k] = (mem)((const reg *)slots[k])[lane]; \
    }
STORES(store_1_1, m1, m1) STORES(store_1_2, m1, m2) STORES(store_1_4, m1, m4) STORES(store_1_8, m1, m8)
STORES(store_2_2, m2, m2) STORES(store_2_4, m2, m4) STORES(store_2_8, m2, m8)
STORES(store_4_4, m4, m4) STORES(store_4_8, m4, m8) STORES(store_8_8, m8, m8)
#undef STORES
#undef STORE_EVERY

#define THREE(name) {name, name##_dense, name##_every}
static const move_fn stores[4][4][3] = {
    {THREE(store_1_1), THREE(store_1_2), THREE(store_1_4), THREE(store_1_8)},
    {{0}, THREE(store_2_2), THREE(store_2_4), THREE(store_2_8)},
    {{0}, {0}, THREE(store_4_4), THREE(store_4_8)},
    {{0}, {0}, {0}, THREE(store_8_8)},
};
#undef THREE

void cpu_op_store(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_access *a = i->extra;
    uint32_t bytes = (uint32_t)a->bytes * a->count;
    char *r = w->frame->r, *slots[16];
    bool dense = cpu_addresses(w, i, &a->place, 0, bytes, bytes, mask) == CPU_PATTERN_DENSE && mask == UINT32_MAX;
    for (uint32_t k = 0; k < a->count; k++)
        slots[k] = r + i->o[1 + k];
    if (a->release)
        atomic_thread_fence(memory_order_seq_cst);
    if (dense && a->count == 1 && a->bytes == 1u << a->class)
        copy_dense((char *)(uintptr_t)w->addresses[0], slots[0], a->bytes);
    else if (dense && a->bytes == 4 && a->class == CPU_CLASS_32 && a->count > 1 && a->count <= 4) {
        char *to = (char *)(uintptr_t)w->addresses[0];
        if (a->count == 4)
            w->ops->join4(to, slots[0], slots[1], slots[2], slots[3]);
        else
            w->ops->join2(to, slots[0], slots[1]);
    } else
        stores[__builtin_ctz(a->bytes)][a->class][dense ? 1 : mask == UINT32_MAX ? 2 : 0](w, slots, a->count, mask);
}
