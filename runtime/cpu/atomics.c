/* atomics.c - atom and red (PTX ISA, "atom", "red"), lane after lane in ascending order.
 *
 * Every operation is one atomic operation of the host, or a compare-and-swap loop, sequentially consistent:
 * stronger than any PTX semantics. 128-bit ones take a lock of their own, and are atomic among themselves.
 * Floating adds round to nearest even; atom.add.f32 on global memory flushes subnormals, on shared memory it
 * does not; NaN results are the canonical NaN (as ptx/lib's).
 */
#include <string.h>
#include "runtime/cpu/memory.h"

typedef uint16_t a16 __attribute__((may_alias));
typedef uint32_t a32 __attribute__((may_alias));
typedef uint64_t a64 __attribute__((may_alias));

/* ------------------------------------------------------------ arithmetic on bits */

static float f32_of(uint32_t b)
{
    float f;
    memcpy(&f, &b, 4);
    return f;
}

static uint32_t bits_of_f32(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    return (b & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : b;
}

static uint32_t flush(uint32_t b)
{
    return (b & 0x7f800000) == 0 ? b & 0x80000000 : b;
}

static float f32_of_f16(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
    if (e == 0)
        return f32_of(sign | bits_of_f32((float)m * 0x1p-24f));
    return f32_of(e == 31 ? sign | 0x7f800000 | m << 13 : sign | (e + 112) << 23 | m << 13);
}

/* Round to nearest even; the sum of two f16 is exact in f32 or rounds there far below f16's half ulp. */
static uint32_t f16_of_f32(float f)
{
    uint32_t b = bits_of_f32(f), sign = b >> 16 & 0x8000, a = b & 0x7fffffff;
    if (a > 0x7f800000)
        return 0x7fff;
    if (a >= 0x477ff000)
        return sign | 0x7c00;
    if (a < 0x38800000) {
        /* Subnormal: adding 0.5 aligns the last f16 bit with the last bit of the f32. */
        uint32_t v = bits_of_f32(f32_of(a) + 0.5f) - 0x3f000000;
        return sign | v;
    }
    uint32_t r = a - (112u << 23);
    return sign | (r + 0xfff + (r >> 13 & 1)) >> 13;
}

static uint32_t bf16_of_f32(float f)
{
    uint32_t b = bits_of_f32(f);
    return (b & 0x7fffffff) > 0x7f800000 ? 0x7fff : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

/* min, max: a NaN yields to a number; -0 is less than +0 (PTX ISA, "Half Precision Floating Point Instructions: min"). */
static float pick(cpu_atomic_op op, float a, float b)
{
    if (op == CPU_A_ADD)
        return a + b;
    if (a != a)
        return b;
    if (b != b)
        return a;
    if (a == b)
        return (op == CPU_A_MIN) == (bits_of_f32(a) >> 31 != 0) ? a : b;
    return (op == CPU_A_MIN) == (a < b) ? a : b;
}

static uint32_t half_op(cpu_atomic_op op, bool bf16, uint32_t a, uint32_t b)
{
    float x = bf16 ? f32_of(a << 16) : f32_of_f16(a), y = bf16 ? f32_of(b << 16) : f32_of_f16(b);
    float z = pick(op, x, y);
    return bf16 ? bf16_of_f32(z) : f16_of_f32(z);
}

static uint64_t integer_op(cpu_atomic_op op, uint64_t a, uint64_t b, uint32_t bits, bool sign)
{
    uint32_t shift = 64 - bits;
    bool less = sign ? (int64_t)(a << shift) < (int64_t)(b << shift) : a << shift < b << shift;
    switch (op) {
    case CPU_A_ADD: return a + b;
    case CPU_A_AND: return a & b;
    case CPU_A_OR: return a | b;
    case CPU_A_XOR: return a ^ b;
    case CPU_A_MIN: return less ? a : b;
    case CPU_A_MAX: return less ? b : a;
    case CPU_A_INC: return a >= b ? 0 : a + 1;
    case CPU_A_DEC: return a == 0 || a > b ? b : a - 1;
    default: return b;
    }
}

/* The new value of one element. */
static uint64_t apply(const cpu_atomic *x, bool shared, uint64_t a, uint64_t b)
{
    cpu_atomic_op op = (cpu_atomic_op)x->op;
    switch ((ptx_type)x->type) {
    case PTX_TYPE_F32:
        if (!shared)
            return flush(bits_of_f32(f32_of(flush((uint32_t)a)) + f32_of(flush((uint32_t)b))));
        return bits_of_f32(f32_of((uint32_t)a) + f32_of((uint32_t)b));
    case PTX_TYPE_F64: {
        double p, q;
        memcpy(&p, &a, 8);
        memcpy(&q, &b, 8);
        p += q;
        memcpy(&a, &p, 8);
        return p != p ? 0x7ff8000000000000u : a;
    }
    case PTX_TYPE_F16: return half_op(op, false, (uint32_t)a, (uint32_t)b);
    case PTX_TYPE_BF16: return half_op(op, true, (uint32_t)a, (uint32_t)b);
    case PTX_TYPE_F16X2:
    case PTX_TYPE_BF16X2: {
        bool bf16 = x->type == PTX_TYPE_BF16X2;
        return half_op(op, bf16, a & 0xffff, b & 0xffff) | half_op(op, bf16, a >> 16 & 0xffff, b >> 16 & 0xffff) << 16;
    }
    default: {
        char c = ptx_type_class((ptx_type)x->type);
        return integer_op(op, a, b, x->bytes * 8u, c == 's');
    }
    }
}

/* ------------------------------------------------------------ one element in memory */

#define EXCHANGE_LOOP(type, name) \
    static uint64_t name(const cpu_atomic *x, bool shared, uint64_t address, uint64_t b, uint64_t c) \
    { \
        type *p = (type *)(uintptr_t)address; \
        type old = __atomic_load_n(p, __ATOMIC_SEQ_CST); \
        if (x->op == CPU_A_CAS) { \
            old = (type)b; \
            __atomic_compare_exchange_n(p, &old, (type)c, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
            return old; \
        } \
        while (!__atomic_compare_exchange_n(p, &old, (type)apply(x, shared, old, b), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) \
            ; \
        return old; \
    }
EXCHANGE_LOOP(a16, update16)
EXCHANGE_LOOP(a32, update32)
EXCHANGE_LOOP(a64, update64)
#undef EXCHANGE_LOOP

uint64_t cpu_atomic_update(const cpu_atomic *x, bool shared, uint64_t address, uint64_t b, uint64_t c)
{
    /* The commonest first: one instruction of the host. */
    bool integer = x->type != PTX_TYPE_F32 && x->type != PTX_TYPE_F64 && x->bytes >= 4 && ptx_type_class((ptx_type)x->type) != 'x';
    if (integer && x->op == CPU_A_ADD)
        return x->bytes == 4 ? __atomic_fetch_add((a32 *)(uintptr_t)address, (uint32_t)b, __ATOMIC_SEQ_CST)
                             : __atomic_fetch_add((a64 *)(uintptr_t)address, b, __ATOMIC_SEQ_CST);
    switch (x->bytes) {
    case 2: return update16(x, shared, address, b, c);
    case 4: return update32(x, shared, address, b, c);
    default: return update64(x, shared, address, b, c);
    }
}

static pthread_mutex_t wide_lock = PTHREAD_MUTEX_INITIALIZER;

static void atomic_wide(cpu_warp *w, const cpu_insn *i, const cpu_atomic *x, uint32_t mask)
{
    const uint32_t *o = i->o + 1;
    char *r = w->frame->r;
    cpu_addresses(w, i, &x->place, 0, 16, 16, mask);
    CPU_FOR_LANES(lane, mask) {
        a64 *p = (a64 *)(uintptr_t)w->addresses[lane];
        uint64_t b[2], c[2] = {0}, old[2];
        const uint32_t *s = o + (x->returns ? 2 : 0);
        for (uint32_t k = 0; k < 2; k++) {
            b[k] = cpu_get(r + s[k], CPU_CLASS_64, lane);
            c[k] = x->op == CPU_A_CAS ? cpu_get(r + s[2 + k], CPU_CLASS_64, lane) : b[k];
        }
        /* Touch the memory first: a fault must not leave the lock taken. */
        old[0] = __atomic_load_n(p, __ATOMIC_SEQ_CST);
        __atomic_fetch_or(p, 0, __ATOMIC_SEQ_CST);
        pthread_mutex_lock(&wide_lock);
        old[0] = p[0];
        old[1] = p[1];
        if (x->op != CPU_A_CAS || (old[0] == b[0] && old[1] == b[1])) {
            p[0] = c[0];
            p[1] = c[1];
        }
        pthread_mutex_unlock(&wide_lock);
        for (uint32_t k = 0; k < 2 && x->returns; k++)
            cpu_put(r + o[k], CPU_CLASS_64, lane, old[k]);
    }
}

void cpu_op_atomic(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_atomic *x = i->extra;
    char *r = w->frame->r;
    if (x->wide) {
        atomic_wide(w, i, x, mask);
        return;
    }
    uint32_t n = x->count, bytes = (uint32_t)x->bytes * n;
    const uint32_t *d = i->o + 1, *b = d + (x->returns ? n : 0), *c = b + n;
    cpu_addresses(w, i, &x->place, 0, bytes, bytes, mask);
    CPU_FOR_LANES(lane, mask) {
        uint64_t address = w->addresses[lane];
        bool shared = address - w->shared_base < w->shared_bytes;
        for (uint32_t k = 0; k < n; k++) {
            uint64_t vb = cpu_get(r + b[k], x->class, lane), vc = x->op == CPU_A_CAS ? cpu_get(r + c[k], x->class, lane) : 0;
            uint64_t old = cpu_atomic_update(x, shared, address + (uint64_t)k * x->bytes, vb, vc);
            if (x->returns)
                cpu_put(r + d[k], x->class, lane, old);
        }
    }
}

void cpu_op_fence(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
    atomic_thread_fence(memory_order_seq_cst);
}
