/* ref_logic.c - logic, shifts, byte permutes, moves: bit by bit and byte by byte. */
#include <string.h>
#include "ref_internal.h"

static uint64_t lop3(uint64_t a, uint64_t b, uint64_t c, uint64_t table)
{
    uint64_t d = 0;
    for (int i = 0; i < 32; i++)
        d |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
    return d;
}

static uint64_t funnel(uint64_t a, uint64_t b, uint64_t c, bool left, bool clamp)
{
    uint64_t both = (b & 0xffffffff) << 32 | (a & 0xffffffff), n = clamp ? (c > 32 ? 32 : c) : c & 31;
    return left ? (n == 32 ? both << 32 : both << n) >> 32 : both >> n & 0xffffffff;
}

/* The selection tables of the modes, most significant byte first as the ISA prints them. */
static uint64_t prmt(const ref_name *name, uint64_t a, uint64_t b, uint64_t c)
{
    static const struct { const char *mode; uint16_t rows[4]; } modes[] = {
        {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
        {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
        {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
    };
    uint64_t both = (b & 0xffffffff) << 32 | (a & 0xffffffff), control = c & 0xffff, d = 0;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (ref_has(name, modes[i].mode))
            control = modes[i].rows[c & 3];
    for (int i = 0; i < 4; i++) {
        uint64_t nibble = control >> (4 * i) & 0xf, byte = both >> (8 * (nibble & 7)) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << (8 * i);
    }
    return d;
}

static uint64_t shift(const char *op, ref_type t, uint64_t a, uint64_t n)
{
    if (!strcmp(op, "shl"))
        return n >= (uint64_t)t.bits ? 0 : a << n & ref_mask(t.bits);
    if (t.class == 's')
        return (uint64_t)(ref_sext(a, t.bits) >> (n > 63 ? 63 : n)) & ref_mask(t.bits);
    return n >= (uint64_t)t.bits ? 0 : a >> n;
}

bool ref_logic(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    ref_type t = ref_parse_type(ref_last(name, 0));
    if (!strcmp(op, "and"))
        *dst = src[0] & src[1];
    else if (!strcmp(op, "or"))
        *dst = src[0] | src[1];
    else if (!strcmp(op, "xor"))
        *dst = src[0] ^ src[1];
    else if (!strcmp(op, "not"))
        *dst = ~src[0] & ref_mask(t.bits);
    else if (!strcmp(op, "cnot"))
        *dst = src[0] == 0;
    else if (!strcmp(op, "shl") || !strcmp(op, "shr"))
        *dst = shift(op, t, src[0], src[1]);
    else if (!strcmp(op, "shf"))
        *dst = funnel(src[0], src[1], src[2], ref_has(name, "l"), ref_has(name, "clamp"));
    else if (!strcmp(op, "prmt"))
        *dst = prmt(name, src[0], src[1], src[2]);
    else if (!strcmp(op, "lop3")) {
        dst[0] = lop3(src[0], src[1], src[2], src[3]);
        if (name->count == 3) /* p = (d != 0) BoolOp q */
            dst[1] = ref_is(name, 1, "or") ? (dst[0] != 0) | src[4] : (dst[0] != 0) & src[4];
    } else
        return false;
    return true;
}

bool ref_move(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    if (strcmp(name->word[0], "mov"))
        return false;
    ref_type t = ref_parse_type(ref_last(name, 0));
    if (name->word[1][0] == 'v') { /* mov.v2, mov.v4 */
        memcpy(dst, src, (size_t)(name->word[1][1] - '0') * sizeof *dst);
        return true;
    }
    bool pack = !strncmp(name->word[1], "pack", 4), unpack = !strncmp(name->word[1], "unpack", 6);
    int n = pack ? name->word[1][4] - '0' : unpack ? name->word[1][6] - '0' : 1, part = t.bits / n, wide = t.bits > 64 ? 2 : 1;
    if (!pack && !unpack) {
        for (int i = 0; i < wide; i++)
            dst[i] = src[i];
        return true;
    }
    if (pack)
        memset(dst, 0, (size_t)wide * sizeof *dst);
    for (int i = 0; i < n; i++) {
        int word = i * part / 64, at = i * part % 64;
        if (pack)
            dst[word] |= (src[i] & ref_mask(part)) << at;
        else
            dst[i] = src[word] >> at & ref_mask(part);
    }
    return true;
}
