/* ref_video.c - scalar and SIMD video instructions, after the ISA's pseudo-code over 64 bits.
 *
 * src holds, in the order of the operands, [d's selector or mask,] a, a's selector, b, b's selector [, c].
 */
#include <string.h>
#include "ref_internal.h"

/* Bits and place of a part: 0 whole, 1-4 bytes, 5-6 half-words. */
static int part_bits(uint64_t s) { return s == 0 ? 32 : s <= 4 ? 8 : 16; }
static int part_at(uint64_t s) { return s == 0 ? 0 : s <= 4 ? 8 * (int)(s - 1) : 16 * (int)(s - 5); }

static int64_t extend(uint64_t x, int bits, bool is_signed)
{
    return is_signed ? ref_sext(x, bits) : (int64_t)(x & ref_mask(bits));
}

static int64_t clamp(__int128 x, int bits, bool is_signed)
{
    __int128 most = ((__int128)1 << (is_signed ? bits - 1 : bits)) - 1, least = is_signed ? -most - 1 : 0;
    return (int64_t)(x < least ? least : x > most ? most : x);
}

static int64_t compare(const ref_name *name, int64_t a, int64_t b)
{
    if (ref_has(name, "eq"))
        return a == b;
    if (ref_has(name, "ne"))
        return a != b;
    if (ref_has(name, "lt"))
        return a < b;
    if (ref_has(name, "le"))
        return a <= b;
    return ref_has(name, "gt") ? a > b : a >= b;
}

/* The first operation; op is the mnemonic without its 2 or 4. */
static __int128 primary(const ref_name *name, const char *op, int64_t a, int64_t b)
{
    if (!strncmp(op, "vadd", 4))
        return (__int128)a + b;
    if (!strncmp(op, "vsub", 4))
        return (__int128)a - b;
    if (!strncmp(op, "vabsdiff", 8))
        return a < b ? (__int128)b - a : (__int128)a - b;
    if (!strncmp(op, "vmin", 4))
        return a < b ? a : b;
    if (!strncmp(op, "vmax", 4))
        return a > b ? a : b;
    if (!strncmp(op, "vavrg", 5))
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    if (!strncmp(op, "vset", 4))
        return compare(name, a, b);
    int64_t n = ref_has(name, "clamp") ? (b > 32 ? 32 : b) : b & 31;
    return !strcmp(op, "vshl") ? (__int128)a * ((__int128)1 << n) : a >> n;
}

static bool scalar(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    bool set = !strcmp(op, "vset"), merge = ref_has(name, "merge");
    int first = set ? 1 : 2; /* the word of a's type */
    bool d_signed = !set && name->word[1][0] == 's', a_signed = name->word[first][0] == 's', b_signed = name->word[first + 1][0] == 's';
    uint64_t dsel = merge ? *src++ : 0;
    int64_t a = extend(src[0] >> part_at(src[1]), part_bits(src[1]), a_signed), b = extend(src[2] >> part_at(src[3]), part_bits(src[3]), b_signed);
    __int128 t = primary(name, op, a, b);
    if (ref_has(name, "sat"))
        t = clamp(t, part_bits(dsel), d_signed);
    int64_t c = extend(src[4], 32, d_signed);
    const char *second = ref_last(name, 0);
    if (!strcmp(second, "add"))
        t += c;
    else if (!strcmp(second, "min"))
        t = t < c ? t : c;
    else if (!strcmp(second, "max"))
        t = t > c ? t : c;
    if (merge) {
        uint64_t mask = ref_mask(part_bits(dsel)) << part_at(dsel);
        *dst = (((uint64_t)t << part_at(dsel)) & mask) | ((uint64_t)c & ~mask & 0xffffffff);
    } else
        *dst = (uint64_t)t & 0xffffffff;
    return true;
}

static bool simd(const ref_name *name, int n, const uint64_t *src, uint64_t *dst)
{
    int bits = 32 / n;
    bool set = !strncmp(name->word[0], "vset", 4);
    int first = set ? 1 : 2;
    bool d_signed = !set && name->word[1][0] == 's', a_signed = name->word[first][0] == 's', b_signed = name->word[first + 1][0] == 's';
    uint64_t mask = src[0], both = (src[1] & 0xffffffff) | src[3] << 32, asel = src[2], bsel = src[4], c = src[5], d = 0, sum = c;
    for (int i = 0; i < n; i++) {
        int64_t a = extend(both >> ((asel >> (4 * i) & 15) * (uint64_t)bits), bits, a_signed), b = extend(both >> ((bsel >> (4 * i) & 15) * (uint64_t)bits), bits, b_signed);
        __int128 t = primary(name, name->word[0], a, b);
        if (ref_has(name, "sat"))
            t = clamp(t, bits, d_signed);
        bool taken = mask >> i & 1;
        sum += taken ? (uint64_t)t : 0;
        d |= ((taken ? (uint64_t)t : c >> (i * bits)) & ref_mask(bits)) << (i * bits);
    }
    *dst = (!strcmp(ref_last(name, 0), "add") ? sum : d) & 0xffffffff;
    return true;
}

/* (a*b) is negated when just one of a and b is; the sign of c's extension is that of the final result. Saturation is that of the exact scaled value. */
static bool vmad(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    enum { MINUS = 16 };
    bool a_signed = ref_is(name, 2, "s32"), b_signed = ref_is(name, 3, "s32"), minus = ((src[1] ^ src[3]) & MINUS) != 0, minus_c = (src[5] & MINUS) != 0;
    uint64_t asel = src[1] & 15, bsel = src[3] & 15;
    bool signed_final = a_signed || b_signed || minus || minus_c;
    __int128 t = (__int128)extend(src[0] >> part_at(asel), part_bits(asel), a_signed) * extend(src[2] >> part_at(bsel), part_bits(bsel), b_signed);
    uint32_t c = (uint32_t)src[4];
    if (ref_has(name, "po"))
        t += 1;
    else if (minus)
        t = -t;
    else if (minus_c) {
        c = ~c;
        t += 1;
    }
    t += extend(c, 32, signed_final);
    t >>= ref_has(name, "shr7") ? 7 : ref_has(name, "shr15") ? 15 : 0;
    *dst = (uint64_t)(ref_has(name, "sat") ? (__int128)clamp(t, 32, signed_final) : t) & 0xffffffff;
    return true;
}

bool ref_video(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    if (op[0] != 'v' || !strcmp(op, "vote"))
        return false;
    if (!strcmp(op, "vmad"))
        return vmad(name, src, dst);
    char last = op[strlen(op) - 1];
    return last == '2' || last == '4' ? simd(name, last - '0', src, dst) : scalar(name, src, dst);
}
