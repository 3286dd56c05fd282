/* atomic.c - see atomic.h.
 *
 * Operations as in AMD's "RDNA3 Instruction Set Architecture" and "AMD Instinct MI300 Instruction Set Architecture", chapters
 * on LDS and FLAT instructions. Choices where those are silent: min and max of floats order -0 below +0 and return
 * the number when one side is NaN; a NaN that add makes is the host's, quiet; packed bf16 add rounds to nearest even and
 * keeps subnormals.
 */
#include <math.h>
#include <string.h>
#include "runtime/sim/atomic.h"

static float f32_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return f;
}

static uint32_t bits_of_f32(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static double f64_of(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t bits_of_f64(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* Subnormals to zero of their sign. */
static float flushed(float f) { return fpclassify(f) == FP_SUBNORMAL ? copysignf(0.0f, f) : f; }

static uint64_t float_add(uint32_t bytes, uint64_t old, uint64_t data, bool flush)
{
    if (bytes == 8) return bits_of_f64(f64_of(old) + f64_of(data));
    if (!flush) return bits_of_f32(f32_of(old) + f32_of(data));
    return bits_of_f32(flushed(flushed(f32_of(old)) + flushed(f32_of(data))));
}

static bool less(uint32_t bytes, uint64_t a, uint64_t b)
{
    const double x = bytes == 8 ? f64_of(a) : (double)f32_of(a), y = bytes == 8 ? f64_of(b) : (double)f32_of(b);
    if (x == y) return signbit(x) && !signbit(y);
    return x < y;
}

static bool is_nan(uint32_t bytes, uint64_t a) { return bytes == 8 ? isnan(f64_of(a)) : isnan(f32_of(a)); }

static uint64_t float_least(uint32_t bytes, uint64_t old, uint64_t data, bool greatest)
{
    if (is_nan(bytes, data)) return old;
    if (is_nan(bytes, old)) return data;
    return less(bytes, data, old) != greatest ? data : old;
}

static float f16_value(uint32_t h)
{
    const uint32_t exponent = h >> 10 & 31, fraction = h & 0x3ff, sign = (h & 0x8000) << 16;
    if (exponent == 31) return f32_of(sign | 0x7f800000 | fraction << 13);
    if (exponent) return f32_of(sign | (exponent + 112) << 23 | fraction << 13);
    return copysignf((float)fraction * 0x1p-24f, sign ? -1.0f : 1.0f);
}

/* To nearest even; the argument is a sum of two f16, which f32 holds exactly. */
static uint32_t f16_bits(float f)
{
    const uint32_t sign = bits_of_f32(f) >> 16 & 0x8000;
    const float a = fabsf(f);
    if (isnan(f)) return sign | 0x7e00;
    if (a >= 65520.0f) return sign | 0x7c00;
    if (a < 0x1p-14f) return sign | (uint32_t)nearbyintf(a * 0x1p24f);
    const uint32_t bits = bits_of_f32(a) - (112u << 23), odd = bits >> 13 & 1;
    return sign | (bits + 0xfff + odd) >> 13;
}

static uint32_t bf16_bits(float f)
{
    const uint32_t bits = bits_of_f32(f);
    if (isnan(f)) return bits >> 16 | 0x40;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static uint64_t packed_add(uint64_t old, uint64_t data, bool bf16)
{
    uint64_t result = 0;
    for (uint32_t k = 0; k < 32; k += 16) {
        const uint32_t a = old >> k & 0xffff, b = data >> k & 0xffff;
        const uint32_t sum = bf16 ? bf16_bits(f32_of((uint64_t)a << 16) + f32_of((uint64_t)b << 16)) : f16_bits(f16_value(a) + f16_value(b));
        result |= (uint64_t)sum << k;
    }
    return result;
}

/* DS_CONDXCHG32_RTN_B64: each half is replaced by 31 bits of data if its top data bit says so. */
static uint64_t conditional_halves(uint64_t old, uint64_t data)
{
    uint64_t result = old;
    if (data >> 31 & 1) result = (result & ~(uint64_t)0xffffffff) | (data & 0x7fffffff);
    if (data >> 63) result = (result & 0xffffffff) | (data & 0x7fffffff00000000);
    return result;
}

uint64_t sim_atomic_apply(sim_atomic op, uint32_t bytes, uint64_t old, uint64_t data, uint64_t second, bool flush)
{
    const int64_t sold = bytes == 8 ? (int64_t)old : (int32_t)old, sdata = bytes == 8 ? (int64_t)data : (int32_t)data;
    switch (op) {
    case ATOMIC_SWAP: return data;
    case ATOMIC_CMPSWAP: return old == second ? data : old;
    case ATOMIC_FCMPSWAP:
        if (bytes == 8) return f64_of(old) == f64_of(second) ? data : old;
        return f32_of(old) == f32_of(second) ? data : old;
    case ATOMIC_ADD: return old + data;
    case ATOMIC_SUB: return old - data;
    case ATOMIC_RSUB: return data - old;
    case ATOMIC_INC: return old >= data ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > data ? data : old - 1;
    case ATOMIC_SMIN: return sdata < sold ? data : old;
    case ATOMIC_SMAX: return sdata > sold ? data : old;
    case ATOMIC_UMIN: return data < old ? data : old;
    case ATOMIC_UMAX: return data > old ? data : old;
    case ATOMIC_FMIN: return float_least(bytes, old, data, false);
    case ATOMIC_FMAX: return float_least(bytes, old, data, true);
    case ATOMIC_AND: return old & data;
    case ATOMIC_OR: return old | data;
    case ATOMIC_XOR: return old ^ data;
    case ATOMIC_MSKOR: return (old & ~data) | second;
    case ATOMIC_FADD: return float_add(bytes, old, data, flush);
    case ATOMIC_PK_FADD_F16: return packed_add(old, data, false);
    case ATOMIC_PK_FADD_BF16: return packed_add(old, data, true);
    case ATOMIC_SUB_CLAMP: return old < data ? 0 : old - data;
    case ATOMIC_COND_SUB: return old < data ? old : old - data;
    case ATOMIC_WRAP: return old >= data ? old - data : old + second;
    case ATOMIC_CONDXCHG32: return conditional_halves(old, data);
    }
    return old;
}

/* A flat atomic may hit scratch, which only one thread sees and whose lanes need not start at a multiple of 8. */
static uint64_t exchange_plain(void *p, uint32_t bytes, sim_atomic op, uint64_t data, uint64_t second, bool flush)
{
    uint64_t old = 0;
    memcpy(&old, p, bytes);
    const uint64_t fresh = sim_atomic_apply(op, bytes, old, data, second, flush);
    memcpy(p, &fresh, bytes);
    return old;
}

uint64_t sim_atomic_exchange(void *p, uint32_t bytes, sim_atomic op, uint64_t data, uint64_t second, bool flush)
{
    if ((uintptr_t)p % bytes) return exchange_plain(p, bytes, op, data, second, flush);
    if (bytes == 8) {
        uint64_t *q = p, old = __atomic_load_n(q, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(q, &old, sim_atomic_apply(op, 8, old, data, second, flush), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
        return old;
    }
    uint32_t *q = p, old = __atomic_load_n(q, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(q, &old, (uint32_t)sim_atomic_apply(op, 4, old, data, second, flush), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {}
    return old;
}
