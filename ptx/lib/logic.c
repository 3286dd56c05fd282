/* logic.c - logic, shift and byte permute (PTX ISA, "Logic and Shift Instructions", "Data Movement: prmt"). */
#include "lane.h"
#include "int_bits.h"
#include "byte_select.h"

#define LOGIC(size) \
    PXL_INLINE void and_b##size(L_u##size *d, const L_u##size *a, const L_u##size *b) { *d = *a & *b; } \
    PXL_INLINE void or_b##size(L_u##size *d, const L_u##size *a, const L_u##size *b) { *d = *a | *b; } \
    PXL_INLINE void xor_b##size(L_u##size *d, const L_u##size *a, const L_u##size *b) { *d = *a ^ *b; } \
    PXL_INLINE void not_b##size(L_u##size *d, const L_u##size *a) { *d = (L_u##size)~*a; } \
    PXL_INLINE void cnot_b##size(L_u##size *d, const L_u##size *a) { *d = SEL(*a == 0, SPLAT(L_u##size, 1), SPLAT(L_u##size, 0)); }
LOGIC(16) LOGIC(32) LOGIC(64)

PXL_INLINE void and_pred(L_pred *d, const L_pred *a, const L_pred *b) { *d = *a & *b; }
PXL_INLINE void or_pred(L_pred *d, const L_pred *a, const L_pred *b) { *d = *a | *b; }
PXL_INLINE void xor_pred(L_pred *d, const L_pred *a, const L_pred *b) { *d = *a ^ *b; }
PXL_INLINE void not_pred(L_pred *d, const L_pred *a) { *d = PRED_NOT(*a); }

/* Amounts are 32 bits wide for every type and clamp at the width. A clamped amount is at most 64 and survives narrowing. */
PXL_INLINE L_u16 amount_16(L_u32 n) { return CONVERT(L_u16, SEL(n > 16, SPLAT(L_u32, 16), n)); }
PXL_INLINE L_u32 amount_32(L_u32 n) { return n; }
PXL_INLINE L_u64 amount_64(L_u32 n) { return CONVERT(L_u64, n); }

#define LOGIC_SHIFT(size) \
    PXL_INLINE void shl_b##size(L_u##size *d, const L_u##size *a, const L_u32 *b) { *d = shift_left_u##size(*a, amount_##size(*b)); } \
    PXL_INLINE void shr_u##size(L_u##size *d, const L_u##size *a, const L_u32 *b) { *d = shift_right_u##size(*a, amount_##size(*b)); } \
    PXL_INLINE void shr_b##size(L_u##size *d, const L_u##size *a, const L_u32 *b) { shr_u##size(d, a, b); } \
    PXL_INLINE void shr_s##size(L_s##size *d, const L_s##size *a, const L_u32 *b) { *d = shift_right_s##size(*a, amount_##size(*b)); }
LOGIC_SHIFT(16) LOGIC_SHIFT(32) LOGIC_SHIFT(64)

/* Funnel shifts of [b:a]. With n = 0 the shift of the other word is by 32, and nothing comes of it. */
#define LOGIC_FUNNEL(mode, amount) \
    PXL_INLINE void shf_l_##mode##_b32(L_u32 *d, const L_u32 *a, const L_u32 *b, const L_u32 *c) \
    { \
        L_u32 n = amount; \
        *d = shift_left_u32(*b, n) | shift_right_u32(*a, 32 - n); \
    } \
    PXL_INLINE void shf_r_##mode##_b32(L_u32 *d, const L_u32 *a, const L_u32 *b, const L_u32 *c) \
    { \
        L_u32 n = amount; \
        *d = shift_left_u32(*b, 32 - n) | shift_right_u32(*a, n); \
    }
LOGIC_FUNNEL(clamp, SEL(*c > 32, SPLAT(L_u32, 32), *c))
LOGIC_FUNNEL(wrap, *c & 31)

/* Bit 4a + 2b + c of the table is the result. The table is split by a, then b, then c;
 * x ^ (s & (x ^ y)) chooses y where s is set. */
PXL_INLINE L_u32 lop3_choose(L_u32 s, L_u32 y, L_u32 x) { return x ^ (s & (x ^ y)); }
PXL_INLINE L_u32 lop3_bit(uint32_t table, uint32_t i) { return SPLAT(L_u32, 0u - (table >> i & 1u)); }
PXL_INLINE L_u32 lop3(L_u32 a, L_u32 b, L_u32 c, uint32_t table)
{
    L_u32 ab00 = lop3_choose(c, lop3_bit(table, 1), lop3_bit(table, 0)), ab01 = lop3_choose(c, lop3_bit(table, 3), lop3_bit(table, 2));
    L_u32 ab10 = lop3_choose(c, lop3_bit(table, 5), lop3_bit(table, 4)), ab11 = lop3_choose(c, lop3_bit(table, 7), lop3_bit(table, 6));
    return lop3_choose(a, lop3_choose(b, ab11, ab10), lop3_choose(b, ab01, ab00));
}

/* At width 32 the table is known when the handler runs. Under a table that the compiler knows little remains to be done: those that are
 * met most, of two operands and then of three (a ^ b ^ c, majority, choices, and the mixtures of two operations), have a copy. */
PXL_INLINE void lop3_b32(L_u32 *d, const L_u32 *a, const L_u32 *b, const L_u32 *c, uint32_t table)
{
#if PXL_WIDTH == 32
#define LOP3(t) case t: *d = lop3(*a, *b, *c, t); return;
    switch (table & 0xff) {
    LOP3(0xc0) LOP3(0xfc) LOP3(0x3c) LOP3(0x30) LOP3(0x0c) LOP3(0xc3)
    LOP3(0x96) LOP3(0xe8) LOP3(0xca) LOP3(0xe2) LOP3(0xd8) LOP3(0xb8)
    LOP3(0x80) LOP3(0xfe) LOP3(0xea) LOP3(0xf8) LOP3(0xec) LOP3(0x78) LOP3(0x6a) LOP3(0x6c) LOP3(0xa8) LOP3(0xe0) LOP3(0xc8)
    default: break;
    }
#undef LOP3
#endif
    *d = lop3(*a, *b, *c, table);
}

#define LOGIC_LOP3_PRED(name, operation) \
    PXL_INLINE void lop3_##name##_b32(L_u32 *d, L_pred *p, const L_u32 *a, const L_u32 *b, const L_u32 *c, uint32_t table, const L_pred *q) \
    { \
        L_u32 r = lop3(*a, *b, *c, table); \
        *p = PRED(r != 0) operation *q; \
        *d = r; \
    }
LOGIC_LOP3_PRED(or, |) LOGIC_LOP3_PRED(and, &)

/* prmt: nibble i of c selects byte i: its low three bits a byte of [b:a], its top bit that byte's sign. */
PXL_INLINE void prmt_b32(L_u32 *d, const L_u32 *a, const L_u32 *b, const L_u32 *c)
{
    L_u32 pairs = (*c & 0xff) | ((*c & 0xff00) << 8);
    L_u32 nibbles = (pairs & 0x000f000fu) | ((pairs & 0x00f000f0u) << 4);
    L_u32 bytes = byte_select(*a, *b, nibbles & 0x07070707u);
    L_u32 signs = byte_fill(bytes >> 7);
    L_u32 wants_sign = byte_fill(nibbles >> 3);
    *d = (bytes & ~wants_sign) | (signs & wants_sign);
}

/* The modes permute by n = c & 3 alone; byte i of the result takes byte (place) of [b:a]. */
#define LOGIC_PRMT(mode, place0, place1, place2, place3) \
    PXL_INLINE void prmt_##mode##_b32(L_u32 *d, const L_u32 *a, const L_u32 *b, const L_u32 *c) \
    { \
        L_u32 n = *c & 3, zero = SPLAT(L_u32, 0); \
        L_u32 places = (zero + (place0)) | ((zero + (place1)) << 8) | ((zero + (place2)) << 16) | ((zero + (place3)) << 24); \
        *d = byte_select(*a, *b, places); \
    }
#define LESSER(x, y) SEL((x) < (y), (x), zero + (y))
#define GREATER(x, y) SEL((x) > (y), (x), zero + (y))
LOGIC_PRMT(f4e, n, n + 1, n + 2, n + 3)
LOGIC_PRMT(b4e, n, (n - 1) & 7, (n - 2) & 7, (n - 3) & 7)
LOGIC_PRMT(rc8, n, n, n, n)
LOGIC_PRMT(ecl, n, GREATER(n, 1u), GREATER(n, 2u), 3u)
LOGIC_PRMT(ecr, 0u, LESSER(n, 1u), LESSER(n, 2u), n)
LOGIC_PRMT(rc16, (n & 1) * 2, (n & 1) * 2 + 1, (n & 1) * 2, (n & 1) * 2 + 1)

#include "gen/isa_wrap_logic.h"
