/* ref_int.c - integer arithmetic over 128 bits.
 *
 * Division and remainder by zero are "unspecified" in the ISA: all ones here, which is what NVIDIA's division
 * routines and ptxas' constant folding give.
 */
#include <string.h>
#include "ref_internal.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;

static wide clamp(wide x, wide least, wide most) { return x < least ? least : x > most ? most : x; }
static wide least_of(ref_type t) { return t.class == 's' ? -((wide)1 << (t.bits - 1)) : 0; }
static wide most_of(ref_type t) { return ((wide)1 << (t.class == 's' ? t.bits - 1 : t.bits)) - 1; }

/* A 2n-bit product cut to its half, in two's complement. The 64-bit unsigned one needs the unsigned type. */
static wide product_half(wide a, wide b, ref_type t, bool high)
{
    if (t.class == 's')
        return high ? (a * b) >> t.bits : (wide)ref_sext((uint64_t)(a * b), t.bits);
    uwide p = (uwide)a * (uwide)b;
    return (wide)(high ? p >> t.bits : p & ref_mask(t.bits));
}

static wide product24(uint64_t a, uint64_t b, ref_type t, bool high)
{
    wide x = t.class == 's' ? (wide)ref_sext(a, 24) : (wide)(a & 0xffffff), y = t.class == 's' ? (wide)ref_sext(b, 24) : (wide)(b & 0xffffff);
    return high ? (x * y) >> 16 & 0xffffffff : x * y & 0xffffffff;
}

static wide divide(wide a, wide b, bool remainder)
{
    if (b == 0)
        return -1;
    return remainder ? a % b : a / b;
}

/* min and max, .relu: negative results become zero. */
static wide minmax(wide a, wide b, bool greater, bool relu)
{
    wide r = (a < b) != greater ? a : b;
    return relu && r < 0 ? 0 : r;
}

static bool packed(const ref_name *name, ref_type t, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    *dst = 0;
    for (int k = 0; k < 2; k++) {
        wide a = ref_integer(src[0] >> (16 * k), t), b = ref_integer(src[1] >> (16 * k), t), r;
        if (!strcmp(op, "add"))
            r = a + b;
        else if (!strcmp(op, "sub"))
            r = a - b;
        else if (!strcmp(op, "min") || !strcmp(op, "max"))
            r = minmax(a, b, !strcmp(op, "max"), ref_has(name, "relu"));
        else
            return false;
        *dst |= ((uint64_t)r & 0xffff) << (16 * k);
    }
    return true;
}

/* The instructions with the carry flag: dst[1] or the only extra source is CC.CF. Those that subtract add the complement: CC.CF is the carry
 * out of that, the contrary of a borrow, as NVIDIA's assembler has it (see ptx/lib/int.c). */
static bool carry(const ref_name *name, ref_type t, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    bool mad = !strncmp(op, "mad", 3), with_in = op[strlen(op) - 1] == 'c';
    int n = mad ? 3 : 2;
    uwide mask = ref_mask(t.bits), in = with_in ? src[n] & 1 : 0, x, y, r;
    if (mad) {
        x = (uwide)product_half(ref_integer(src[0], t), ref_integer(src[1], t), t, ref_has(name, "hi")) & mask;
        y = src[2] & mask;
    } else {
        x = src[0] & mask;
        y = src[1] & mask;
    }
    if (!strncmp(op, "sub", 3)) {
        y = ~y & mask;
        in = with_in ? in : 1;
    }
    r = x + y + in;
    dst[0] = (uint64_t)(r & mask);
    if (ref_has(name, "cc"))
        dst[1] = (uint64_t)(r >> t.bits) & 1;
    return true;
}

static uint64_t bit_of(uint64_t x, int i) { return x >> i & 1; }

static uint32_t bfind(uint64_t a, ref_type t, bool shift)
{
    if (t.class == 's' && bit_of(a, t.bits - 1))
        a = ~a;
    for (int i = t.bits - 1; i >= 0; i--)
        if (bit_of(a, i))
            return (uint32_t)(shift ? t.bits - 1 - i : i);
    return 0xffffffff;
}

static uint32_t fns(uint32_t mask, uint32_t base, int32_t offset)
{
    if (base > 31)
        return 0xffffffff; /* undefined in the ISA */
    if (offset == 0)
        return bit_of(mask, (int)base) ? base : 0xffffffff;
    int64_t position = base, count = (offset < 0 ? -(int64_t)offset : offset) - 1;
    for (; position >= 0 && position < 32; position += offset > 0 ? 1 : -1)
        if (bit_of(mask, (int)position) && count-- == 0)
            return (uint32_t)position;
    return 0xffffffff;
}

static uint64_t bfe(uint64_t a, uint64_t b, uint64_t c, ref_type t)
{
    int msb = t.bits - 1, pos = (int)(b & 0xff), len = (int)(c & 0xff), last = pos + len - 1 < msb ? pos + len - 1 : msb;
    uint64_t sign = t.class == 'u' || len == 0 ? 0 : bit_of(a, last), d = 0;
    for (int i = 0; i <= msb; i++)
        d |= (i < len && pos + i <= msb ? bit_of(a, pos + i) : sign) << i;
    return d;
}

static uint64_t bfi(uint64_t a, uint64_t b, uint64_t c, uint64_t d, int bits)
{
    int pos = (int)(c & 0xff), len = (int)(d & 0xff);
    for (int i = 0; i < len && pos + i < bits; i++)
        b = (b & ~(1ull << (pos + i))) | bit_of(a, i) << (pos + i);
    return b;
}

static uint32_t szext(uint32_t a, uint32_t b, bool is_signed, bool clamped)
{
    if (clamped && b >= 32)
        return a;
    uint32_t n = b & 31;
    if (n == 0)
        return 0;
    return is_signed ? (uint32_t)ref_sext(a, (int)n) : a & (uint32_t)ref_mask((int)n);
}

static uint32_t bmsk(uint32_t a, uint32_t b, bool clamped)
{
    uint32_t d = 0;
    uint64_t from = clamped ? a : a & 31, width = clamped ? b : b & 31;
    for (uint64_t i = from; i < 32 && i < from + width; i++)
        d |= 1u << i;
    return d;
}

static bool bits(const ref_name *name, ref_type t, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    int n = 0;
    if (!strcmp(op, "popc")) {
        for (int i = 0; i < t.bits; i++)
            n += (int)bit_of(src[0], i);
        *dst = (uint64_t)n;
    } else if (!strcmp(op, "clz")) {
        while (n < t.bits && !bit_of(src[0], t.bits - 1 - n))
            n++;
        *dst = (uint64_t)n;
    } else if (!strcmp(op, "brev")) {
        *dst = 0;
        for (int i = 0; i < t.bits; i++)
            *dst |= bit_of(src[0], i) << (t.bits - 1 - i);
    } else if (!strcmp(op, "bfind")) {
        *dst = bfind(src[0], t, ref_has(name, "shiftamt"));
    } else if (!strcmp(op, "fns")) {
        *dst = fns((uint32_t)src[0], (uint32_t)src[1], (int32_t)src[2]);
    } else if (!strcmp(op, "bfe")) {
        *dst = bfe(src[0], src[1], src[2], t);
    } else if (!strcmp(op, "bfi")) {
        *dst = bfi(src[0], src[1], src[2], src[3], t.bits);
    } else if (!strcmp(op, "szext")) {
        *dst = szext((uint32_t)src[0], (uint32_t)src[1], t.class == 's', ref_has(name, "clamp"));
    } else if (!strcmp(op, "bmsk")) {
        *dst = bmsk((uint32_t)src[0], (uint32_t)src[1], ref_has(name, "clamp"));
    } else {
        return false;
    }
    return true;
}

static bool dot(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    bool four = !strcmp(name->word[0], "dp4a");
    ref_type a = ref_parse_type(ref_last(name, 1)), b = ref_parse_type(ref_last(name, 0));
    a.bits = four ? 8 : 16;
    b.bits = 8;
    wide sum = (wide)src[2];
    int first = ref_has(name, "hi") ? 2 : 0;
    for (int i = 0; i < (four ? 4 : 2); i++)
        sum += ref_integer(src[0] >> (a.bits * i), a) * ref_integer(src[1] >> (8 * (first + i)), b);
    *dst = (uint64_t)sum & 0xffffffff;
    return true;
}

static bool arithmetic(const ref_name *name, ref_type t, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    wide a = ref_integer(src[0], t), b = ref_integer(src[1], t), r;
    ref_type result = t;
    bool high = ref_has(name, "hi");
    if (!strcmp(op, "add"))
        r = a + b;
    else if (!strcmp(op, "sub"))
        r = a - b;
    else if (!strcmp(op, "neg"))
        r = -a;
    else if (!strcmp(op, "abs"))
        r = a < 0 ? -a : a;
    else if (!strcmp(op, "min") || !strcmp(op, "max"))
        r = minmax(a, b, !strcmp(op, "max"), ref_has(name, "relu"));
    else if (!strcmp(op, "sad"))
        r = (a < b ? b - a : a - b) + ref_integer(src[2], t);
    else if (!strcmp(op, "div") || !strcmp(op, "rem"))
        r = divide(a, b, op[0] == 'r');
    else if (!strcmp(op, "mul24"))
        r = product24(src[0], src[1], t, high);
    else if (!strcmp(op, "mad24"))
        r = (wide)ref_sext((uint64_t)product24(src[0], src[1], t, high), 32) + ref_integer(src[2], t);
    else if ((!strcmp(op, "mul") || !strcmp(op, "mad")) && ref_has(name, "wide")) {
        result.bits = 2 * t.bits;
        r = a * b + (op[1] == 'a' ? ref_integer(src[2], result) : 0);
    } else if (!strcmp(op, "mul"))
        r = product_half(a, b, t, high);
    else if (!strcmp(op, "mad"))
        r = product_half(a, b, t, high) + ref_integer(src[2], t);
    else
        return false;
    if (ref_has(name, "sat"))
        r = clamp(r, least_of(t), most_of(t));
    *dst = (uint64_t)r & ref_mask(result.bits);
    return true;
}

bool ref_int(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    ref_type t = ref_parse_type(ref_last(name, 0));
    if (t.class != 'u' && t.class != 's' && t.class != 'b')
        return false;
    if (!strncmp(op, "dp", 2))
        return dot(name, src, dst);
    if (t.lanes == 2)
        return packed(name, t, src, dst);
    if (ref_has(name, "cc") || !strcmp(op, "addc") || !strcmp(op, "subc") || !strcmp(op, "madc"))
        return carry(name, t, src, dst);
    return bits(name, t, src, dst) || arithmetic(name, t, src, dst);
}
