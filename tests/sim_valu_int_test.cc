/* sim_valu_int_test.cc - integer instructions of the simulator's vector ALU, on wave32 and wave64 targets,
 * against expectations in wide integers; masks, carries, halves of registers, SDWA, and dual issue. */
#include <algorithm>
#include <functional>
#include <random>
#include "tests/sim_harness.h"

namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;
using Expect = std::function<u32(u32, u32, u32)>;

struct Row {
    const char *text;       /* with D for the result; sources v0 v1 v2 */
    Expect expect;
    const char *targets;    /* some of "9", "a" (gfx10), "b" (gfx11), "c" (gfx12) */
};

i64 s(u32 x) { return static_cast<int32_t>(x); }
i64 s24(u32 x) { return static_cast<int32_t>(x << 8) >> 8; }
i64 s16(u32 x) { return static_cast<int16_t>(x); }
u32 clampi(i64 x, i64 low, i64 high) { return static_cast<u32>(std::min(std::max(x, low), high)); }
u32 saturate(i64 x) { return clampi(x, INT32_MIN, INT32_MAX); }
u32 usaturate(i64 x) { return clampi(x, 0, 0xffffffffll); }
u32 shl(u64 x, u32 n) { return static_cast<u32>(x << (n % 32)); }

u32 bytes(u32 a, u32 b, bool masked)
{
    u32 r = 0;
    for (int k = 0; k < 4; k++) {
        int x = a >> 8 * k & 255, y = b >> 8 * k & 255;
        if (!masked || y)
            r += static_cast<u32>(abs(x - y));
    }
    return r;
}

u32 reverse(u32 a)
{
    u32 r = 0;
    for (int k = 0; k < 32; k++)
        r |= (a >> k & 1) << (31 - k);
    return r;
}

u32 perm(u32 a, u32 b, u32 select)
{
    u64 data = static_cast<u64>(a) << 32 | b;
    u32 r = 0;
    for (int k = 0; k < 4; k++) {
        u32 c = select >> 8 * k & 255;
        u32 byte = c < 8 ? data >> 8 * c & 255 : c < 12 ? (data >> (16 * (c - 8) + 15) & 1 ? 255 : 0) : c == 12 ? 0 : 255;
        r |= byte << 8 * k;
    }
    return r;
}

u32 median(i64 a, i64 b, i64 c)
{
    i64 x[3] = {a, b, c};
    std::sort(x, x + 3);
    return static_cast<u32>(x[1]);
}

u32 field(u32 a, u32 offset, u32 width, bool sign)
{
    u32 r = 0;
    for (u32 k = 0; k < width; k++)
        r |= (offset + k < 32 ? a >> (offset + k) & 1 : sign ? a >> 31 : 0) << k;
    if (sign && width && (r >> (width - 1) & 1))
        r |= ~0u << width;
    return r;
}

const Row rows[] = {
    {"v_add_nc_u32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return a + b; }, "abc"},
    {"v_sub_nc_u32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return a - b; }, "abc"},
    {"v_subrev_nc_u32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return b - a; }, "abc"},
    {"v_add_nc_u32_e64 D, v0, v1 clamp", [](u32 a, u32 b, u32) { return usaturate(static_cast<i64>(a) + b); }, "abc"},
    {"v_sub_nc_u32_e64 D, v0, v1 clamp", [](u32 a, u32 b, u32) { return usaturate(static_cast<i64>(a) - b); }, "abc"},
    {"v_add_nc_i32 D, v0, v1 clamp", [](u32 a, u32 b, u32) { return saturate(s(a) + s(b)); }, "abc"},
    {"v_sub_nc_i32 D, v0, v1 clamp", [](u32 a, u32 b, u32) { return saturate(s(a) - s(b)); }, "abc"},
    {"v_add_u32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return a + b; }, "9"},
    {"v_sub_u32_e64 D, v0, v1 clamp", [](u32 a, u32 b, u32) { return usaturate(static_cast<i64>(a) - b); }, "9"},
    {"v_subrev_u32_e32 D, 77, v1", [](u32, u32 b, u32) { return b - 77; }, "9"},
    {"v_add_i32 D, v0, v1 clamp", [](u32 a, u32 b, u32) { return saturate(s(a) + s(b)); }, "9"},
    {"v_add3_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return a + b + c; }, "9abc"},
    {"v_lshl_add_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return shl(a, b) + c; }, "9abc"},
    {"v_add_lshl_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return shl(a + b, c); }, "9abc"},
    {"v_xad_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }, "9abc"},
    {"v_mul_lo_u32 D, v0, v1", [](u32 a, u32 b, u32) { return a * b; }, "9abc"},
    {"v_mul_hi_u32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(static_cast<unsigned __int128>(a) * b >> 32); }, "9abc"},
    {"v_mul_hi_i32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(static_cast<__int128>(s(a)) * s(b) >> 32); }, "9abc"},
    {"v_mul_u32_u24_e32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(static_cast<u64>(a % (1 << 24)) * (b % (1 << 24))); }, "9abc"},
    {"v_mul_i32_i24_e32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(s24(a) * s24(b)); }, "9abc"},
    {"v_mul_hi_u32_u24_e32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>((static_cast<u64>(a % (1 << 24)) * (b % (1 << 24))) >> 32); }, "9abc"},
    {"v_mul_hi_i32_i24_e32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>((s24(a) * s24(b)) >> 32); }, "9abc"},
    {"v_mad_u32_u24 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }, "9abc"},
    {"v_mad_i32_i24 D, v0, v1, v2 clamp", [](u32 a, u32 b, u32 c) { return saturate(s24(a) * s24(b) + s(c)); }, "9abc"},
    {"v_mad_u32_u16 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return (a & 0xffff) * (b & 0xffff) + c; }, "9ac"},
    {"v_mad_i32_i16 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return static_cast<u32>(s16(a) * s16(b)) + c; }, "9ac"},
    {"v_mad_i32_i16 D, v0, v1, v2 op_sel:[1,0,0,0]", [](u32 a, u32 b, u32 c) { return static_cast<u32>(s16(a >> 16) * s16(b)) + c; }, "9ac"},
    {"v_not_b32_e32 D, v0", [](u32 a, u32, u32) { return 0xffffffffu - a; }, "9abc"},
    {"v_and_b32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return a & b; }, "9abc"},
    {"v_or_b32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return a + b - (a & b); }, "9abc"},
    {"v_xor_b32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return (a | b) - (a & b); }, "9abc"},
    {"v_xnor_b32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return ~a ^ b; }, "9abc"},
    {"v_and_or_b32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return (a & b) | c; }, "9abc"},
    {"v_or3_b32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return ~(~a & ~b & ~c); }, "9abc"},
    {"v_xor3_b32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return a ^ b ^ c; }, "abc"},
    {"v_lshlrev_b32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return shl(b, a); }, "9abc"},
    {"v_lshrrev_b32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return b >> a % 32; }, "9abc"},
    {"v_ashrrev_i32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(s(b) >> a % 32); }, "9abc"},
    {"v_lshl_or_b32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return shl(a, b) | c; }, "9abc"},
    {"v_alignbit_b32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> c % 32); }, "9abc"},
    {"v_alignbyte_b32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> c % 4 * 8); }, "9abc"},
    {"v_bfe_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return field(a, b % 32, c % 32, false); }, "9abc"},
    {"v_bfe_i32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return field(a, b % 32, c % 32, true); }, "9abc"},
    {"v_bfi_b32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return (a & b) + (~a & c); }, "9abc"},
    {"v_bfm_b32 D, v0, v1", [](u32 a, u32 b, u32) { return shl((1ull << a % 32) - 1, b); }, "9abc"},
    {"v_bfrev_b32_e32 D, v0", [](u32 a, u32, u32) { return reverse(a); }, "9abc"},
    {"v_bcnt_u32_b32 D, v0, v1", [](u32 a, u32 b, u32) { for (; a; a &= a - 1) b++; return b; }, "9abc"},
    {"v_clz_i32_u32_e32 D, v0", [](u32 a, u32, u32) { for (int k = 31; k >= 0; k--) if (a >> k & 1) return 31u - k; return ~0u; }, "bc"},
    {"v_ctz_i32_b32_e32 D, v0", [](u32 a, u32, u32) { for (u32 k = 0; k < 32; k++) if (a >> k & 1) return k; return ~0u; }, "bc"},
    {"v_cls_i32_e32 D, v0", [](u32 a, u32, u32) { for (u32 k = 1; k < 32; k++) if ((a >> (31 - k) & 1) != a >> 31) return k; return ~0u; }, "bc"},
    {"v_ffbh_u32_e32 D, v0", [](u32 a, u32, u32) { for (int k = 31; k >= 0; k--) if (a >> k & 1) return 31u - k; return ~0u; }, "9a"},
    {"v_ffbl_b32_e32 D, v0", [](u32 a, u32, u32) { for (u32 k = 0; k < 32; k++) if (a >> k & 1) return k; return ~0u; }, "9a"},
    {"v_ffbh_i32_e32 D, v0", [](u32 a, u32, u32) { for (u32 k = 1; k < 32; k++) if ((a >> (31 - k) & 1) != a >> 31) return k; return ~0u; }, "9a"},
    {"v_perm_b32 D, v0, v1, v2", perm, "9abc"},
    {"v_min_u32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return std::min(a, b); }, "9abc"},
    {"v_max_u32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return std::max(a, b); }, "9abc"},
    {"v_min_i32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(std::min(s(a), s(b))); }, "9abc"},
    {"v_max_i32_e32 D, v0, v1", [](u32 a, u32 b, u32) { return static_cast<u32>(std::max(s(a), s(b))); }, "9abc"},
    {"v_min3_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return std::min({a, b, c}); }, "9abc"},
    {"v_max3_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return std::max({a, b, c}); }, "9abc"},
    {"v_med3_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return median(a, b, c); }, "9abc"},
    {"v_min3_i32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return static_cast<u32>(std::min({s(a), s(b), s(c)})); }, "9abc"},
    {"v_max3_i32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return static_cast<u32>(std::max({s(a), s(b), s(c)})); }, "9abc"},
    {"v_med3_i32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return median(s(a), s(b), s(c)); }, "9abc"},
    {"v_minmax_u32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return std::max(std::min(a, b), c); }, "bc"},
    {"v_maxmin_i32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return static_cast<u32>(std::min(std::max(s(a), s(b)), s(c))); }, "bc"},
    {"v_sad_u8 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return bytes(a, b, false) + c; }, "9abc"},
    {"v_msad_u8 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return bytes(a, b, true) + c; }, "9abc"},
    {"v_sad_hi_u8 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return bytes(a, b, false) * 65536 + c; }, "9abc"},
    {"v_sad_u16 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return static_cast<u32>(abs(static_cast<int>(a & 0xffff) - static_cast<int>(b & 0xffff)) + abs(static_cast<int>(a >> 16) - static_cast<int>(b >> 16))) + c; }, "9abc"},
    {"v_sad_u32 D, v0, v1, v2 clamp", [](u32 a, u32 b, u32 c) { return usaturate(static_cast<i64>(std::max(a, b) - std::min(a, b)) + c); }, "9abc"},
    {"v_lerp_u8 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { u32 r = 0; for (int k = 0; k < 32; k += 8) r |= ((a >> k & 255) + (b >> k & 255) + (c >> k & 1)) / 2 << k; return r; }, "9abc"},
    {"v_cvt_pk_u16_u32 D, v0, v1", [](u32 a, u32 b, u32) { return std::min(a, 65535u) | std::min(b, 65535u) << 16; }, "9abc"},
    {"v_cvt_pk_i16_i32 D, v0, v1", [](u32 a, u32 b, u32) { return (clampi(s(a), -32768, 32767) & 65535) | clampi(s(b), -32768, 32767) << 16; }, "9abc"},
    {"v_bitop3_b32 D, v0, v1, v2 bitop3:0x96", [](u32 a, u32 b, u32 c) { return a ^ b ^ c; }, "g"},
    {"v_bitop3_b32 D, v0, v1, v2 bitop3:0xca", [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }, "g"},
    {"v_prng_b32_e32 D, v0", [](u32 a, u32, u32) { return a * 2 ^ (a >= 0x80000000u ? 0xc5u : 0u); }, "g"},
    {"v_ashr_pk_u8_i32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return clampi(s(a) >> c % 32, 0, 255) | clampi(s(b) >> c % 32, 0, 255) << 8; }, "g"},
    {"v_ashr_pk_i8_i32 D, v0, v1, v2", [](u32 a, u32 b, u32 c) { return (clampi(s(a) >> c % 32, -128, 127) & 255) | (clampi(s(b) >> c % 32, -128, 127) & 255) << 8; }, "g"},
};

const char *const edge_targets[][2] = {{"gfx90a", "9"}, {"gfx950", "9g"}, {"gfx1030", "a"}, {"gfx1100", "b"}, {"gfx1201", "c"}};

u32 value(std::mt19937 &random)
{
    static const u32 edges[] = {0, 1, 2, 31, 32, 63, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff,
                                0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xffff8000, 0x0c0d0201, 0x08090a0b};
    u32 r = static_cast<u32>(random());
    switch (r % 4) {
    case 0: return edges[random() % (sizeof edges / sizeof *edges)];
    case 1: return static_cast<u32>(random()) >> random() % 32;
    default: return static_cast<u32>(random());
    }
}

/* gfx10 is tested where the simulator has it. */
bool simulated(const char *target)
{
    for (const char *const *t = sim_targets(); *t; t++)
        if (!strcmp(*t, target)) return true;
    return false;
}

std::string with_result(const char *text, u32 d)
{
    std::string t = text;
    t.replace(t.find("D"), 1, "v" + std::to_string(d));
    return t;
}

TEST(SimValuInt, Table)
{
    std::mt19937 random(7);
    for (auto &target : edge_targets) {
        if (!simulated(target[0])) continue;
        std::string text;
        std::vector<const Row *> used;
        for (const Row &r : rows)
            if (strpbrk(r.targets, target[1])) {
                text += with_result(r.text, 10 + static_cast<u32>(used.size())) + "\n";
                used.push_back(&r);
            }
        Snippet snippet(target[0], text);
        for (int round = 0; round < 200; round++) {
            u64 exec = static_cast<u64>(random()) << 32 | random();
            if (round % 2) exec = ~0ull;
            snippet.set_exec(snippet.lanes() == 64 ? exec : exec & 0xffffffff);
            for (u32 l = 0; l < snippet.lanes(); l++) {
                for (u32 k = 0; k < 3; k++)
                    snippet.v(k, l) = value(random);
                for (u32 k = 0; k < used.size(); k++)
                    snippet.v(10 + k, l) = 0xdead0000;
            }
            ASSERT_TRUE(snippet.run()) << target[0] << " " << snippet.error.instruction << snippet.error.reason;
            for (u32 k = 0; k < used.size(); k++)
                for (u32 l = 0; l < snippet.lanes(); l++) {
                    u32 want = exec >> l & 1 ? used[k]->expect(snippet.v(0, l), snippet.v(1, l), snippet.v(2, l)) : 0xdead0000;
                    if (strstr(used[k]->text, "_pk_") && strstr(used[k]->text, "ashr") && (exec >> l & 1)) want |= 0xdead0000;
                    ASSERT_EQ(snippet.v(10 + k, l), want) << target[0] << " " << used[k]->text << " lane " << l << std::hex << " of " << snippet.v(0, l)
                                                         << " " << snippet.v(1, l) << " " << snippet.v(2, l);
                }
        }
    }
}

TEST(SimValuInt, Wide)
{
    std::mt19937_64 random(8);
    struct Form { const char *target, *text; };
    const Form forms[] = {
        {"gfx942", "v_lshlrev_b64 v[10:11], v0, v[2:3]\nv_lshrrev_b64 v[12:13], v0, v[2:3]\nv_ashrrev_i64 v[14:15], v0, v[2:3]\n"
                   "v_mad_u64_u32 v[16:17], s[10:11], v0, v1, v[2:3]\nv_mad_i64_i32 v[18:19], s[12:13], v0, v1, v[2:3]\n"
                   "v_lshl_add_u64 v[20:21], v[2:3], 3, v[4:5]\nv_mov_b64_e32 v[22:23], v[2:3]\nv_qsad_pk_u16_u8 v[24:25], v[2:3], v0, v[4:5]\n"
                   "v_mqsad_u32_u8 v[28:31], v[2:3], v0, v[4:7]"},
        {"gfx1201", "v_lshlrev_b64_e32 v[10:11], v0, v[2:3]\nv_lshrrev_b64 v[12:13], v0, v[2:3]\nv_ashrrev_i64 v[14:15], v0, v[2:3]\n"
                    "v_mad_co_u64_u32 v[16:17], s10, v0, v1, v[2:3]\nv_mad_co_i64_i32 v[18:19], s12, v0, v1, v[2:3]"},
    };
    for (const Form &f : forms) {
        Snippet t(f.target, f.text);
        bool gfx9 = t.lanes() == 64;
        for (int round = 0; round < 100; round++) {
            for (u32 l = 0; l < t.lanes(); l++)
                for (u32 k = 0; k < 8; k++)
                    t.v(k, l) = round % 3 ? static_cast<u32>(random()) : static_cast<u32>(static_cast<i64>(random()) >> random() % 64);
            t.go();
            u64 carry = 0, icarry = 0;
            for (u32 l = 0; l < t.lanes(); l++) {
                u32 a = t.v(0, l), b = t.v(1, l);
                u64 c = t.v64(2, l), d = t.v64(4, l);
                EXPECT_EQ(t.v64(10, l), c << a % 64);
                EXPECT_EQ(t.v64(12, l), c >> a % 64);
                EXPECT_EQ(t.v64(14, l), static_cast<u64>(static_cast<i64>(c) >> a % 64));
                unsigned __int128 sum = static_cast<unsigned __int128>(a) * b + c;
                __int128 isum = static_cast<__int128>(s(a)) * s(b) + static_cast<i64>(c);
                EXPECT_EQ(t.v64(16, l), static_cast<u64>(sum));
                EXPECT_EQ(t.v64(18, l), static_cast<u64>(isum));
                carry |= static_cast<u64>(sum >> 64 & 1) << l;
                icarry |= static_cast<u64>(isum >> 64 & 1) << l;
                if (!gfx9)
                    continue;
                EXPECT_EQ(t.v64(20, l), (c << 3) + d);
                EXPECT_EQ(t.v64(22, l), c);
                for (u32 k = 0; k < 4; k++) {
                    EXPECT_EQ(t.v64(24, l) >> 16 * k & 0xffff, ((d >> 16 * k) + bytes(static_cast<u32>(c >> 8 * k), a, false)) & 0xffff);
                    EXPECT_EQ(t.v(28 + k, l), t.v(4 + k, l) + bytes(static_cast<u32>(c >> 8 * k), a, true));
                }
            }
            EXPECT_EQ(gfx9 ? t.s64(10) : t.s(10), carry);
            EXPECT_EQ(gfx9 ? t.s64(12) : t.s(12), icarry);
        }
    }
}

/* 96-bit sums and differences by carries; bits of inactive lanes are 0. */
TEST(SimValuInt, Carries)
{
    const char *const forms[][2] = {
        {"gfx942", "v_add_co_u32_e32 v10, vcc, v0, v3\nv_addc_co_u32_e32 v11, vcc, v1, v4, vcc\nv_addc_co_u32_e64 v12, s[20:21], v2, v5, vcc\n"
                   "v_sub_co_u32_e64 v13, s[10:11], v0, v3\nv_subb_co_u32_e64 v14, s[10:11], v1, v4, s[10:11]\nv_subb_co_u32_e64 v15, s[22:23], v2, v5, s[10:11]\n"
                   "v_subrev_co_u32_e32 v16, vcc, v0, v3\nv_subbrev_co_u32_e32 v17, vcc, v1, v4, vcc"},
        {"gfx1100", "v_add_co_u32 v10, vcc_lo, v0, v3\nv_add_co_ci_u32_e32 v11, vcc_lo, v1, v4, vcc_lo\nv_add_co_ci_u32_e64 v12, s20, v2, v5, vcc_lo\n"
                    "v_sub_co_u32 v13, s10, v0, v3\nv_sub_co_ci_u32_e64 v14, s10, v1, v4, s10\nv_sub_co_ci_u32_e64 v15, s22, v2, v5, s10\n"
                    "v_subrev_co_u32 v16, vcc_lo, v0, v3\nv_subrev_co_ci_u32_e32 v17, vcc_lo, v1, v4, vcc_lo"},
    };
    std::mt19937 random(9);
    for (auto &f : forms) {
        Snippet t(f[0], f[1]);
        for (int round = 0; round < 100; round++) {
            u64 exec = round ? static_cast<u64>(random()) << 32 | random() : ~0ull;
            if (t.lanes() == 32) exec &= 0xffffffff;
            t.set_exec(exec);
            for (u32 l = 0; l < t.lanes(); l++)
                for (u32 k = 0; k < 6; k++)
                    t.v(k, l) = value(random);
            t.go();
            u64 over = 0, under = 0, r = 0;
            for (u32 l = 0; l < t.lanes(); l++) {
                if (!(exec >> l & 1)) continue;
                unsigned __int128 a = static_cast<unsigned __int128>(t.v(2, l)) << 64 | t.v64(0, l), b = static_cast<unsigned __int128>(t.v(5, l)) << 64 | t.v64(3, l);
                unsigned __int128 sum = a + b, difference = a - b, reverse = b - a;
                EXPECT_EQ(t.v64(10, l), static_cast<u64>(sum));
                EXPECT_EQ(t.v(12, l), static_cast<u32>(sum >> 64));
                EXPECT_EQ(t.v64(13, l), static_cast<u64>(difference));
                EXPECT_EQ(t.v(15, l), static_cast<u32>(difference >> 64));
                EXPECT_EQ(t.v64(16, l), static_cast<u64>(reverse));
                over |= static_cast<u64>(sum >> 96 & 1) << l;
                under |= static_cast<u64>(a < b) << l;
                r |= static_cast<u64>(t.v64(3, l) < t.v64(0, l)) << l;
            }
            bool wide = t.lanes() == 64;
            EXPECT_EQ(wide ? t.s64(20) : t.s(20), over);
            EXPECT_EQ(wide ? t.s64(22) : t.s(22), under);
            EXPECT_EQ(wide ? t.s64(SIM_VCC) : t.s(SIM_VCC), r);
        }
    }
    Snippet clamp("gfx1201", "v_add_co_ci_u32_e64 v2, s0, v0, v1, s1 clamp\nv_sub_co_u32 v3, null, v0, v1 clamp");
    clamp.v(0, 0) = 0xffffffff, clamp.s(1) = 1, clamp.v(1, 1) = 1, clamp.v(0, 2) = 5, clamp.v(1, 2) = 3;
    clamp.go();
    EXPECT_EQ(clamp.v(2, 0), 0xffffffffu);
    EXPECT_EQ(clamp.v(3, 1), 0u);
    EXPECT_EQ(clamp.v(3, 2), 2u);
    EXPECT_EQ(clamp.s(0), 1u);
}

TEST(SimValuInt, Select)
{
    Snippet t("gfx942", "v_cndmask_b32_e32 v3, v0, v1, vcc\nv_cndmask_b32_e64 v4, -v0, |v1|, s[2:3]\nv_cndmask_b32_e64 v5, 7, v1, exec");
    t.set_s64(SIM_VCC, 0x8000000100000002), t.set_s64(2, 0xf0f0), t.set_exec(0xffff0000ffffffff);
    for (u32 l = 0; l < 64; l++)
        t.v(0, l) = 100 + l, t.v(1, l) = 0x80000000 + l, t.v(3, l) = t.v(4, l) = 1;
    t.go();
    for (u32 l = 0; l < 64; l++) {
        bool on = 0xffff0000ffffffffull >> l & 1;
        EXPECT_EQ(t.v(3, l), !on ? 1 : 0x8000000100000002ull >> l & 1 ? 0x80000000 + l : 100 + l);
        EXPECT_EQ(t.v(4, l), !on ? 1 : 0xf0f0ull >> l & 1 ? l : 0x80000000 + 100 + l);
        EXPECT_EQ(t.v(5, l), on ? 0x80000000 + l : 0);
    }
}

/* Sources of every kind, read in place or spread, under an EXEC that is partly 0; results that are sources too, and sources that modifiers
 * or DPP change, which cannot be read in place. */
TEST(SimValuInt, Sources)
{
    const char *const forms[][2] = {
        {"gfx1201", "v_add_nc_u32_e32 v10, s4, v0\nv_add_nc_u32_e32 v11, 0x12345678, v0\nv_add_nc_u32_e64 v12, -7, s5\nv_add_nc_u32_e64 v13, null, v0\n"
                    "v_add_nc_u32_e32 v0, v0, v0\nv_mov_b32_e32 v14, 2.0\nv_cndmask_b32_e64 v15, -v1, |s4|, s6\nv_mov_b32_dpp v16, v1 row_shl:1 bound_ctrl:1\n"
                    "v_lshlrev_b64_e32 v[18:19], s7, v[2:3]\nv_lshlrev_b64_e64 v[20:21], 4, s[8:9]\nv_lshlrev_b64_e64 v[2:3], v4, v[2:3]\nv_lshlrev_b64_e64 v[22:23], 1, 0.5"},
        {"gfx942", "v_add_u32_e32 v10, s4, v0\nv_add_u32_e32 v11, 0x12345678, v0\nv_add_u32_e64 v12, -7, s5\nv_add_u32_e64 v13, 0, v0\n"
                   "v_add_u32_e32 v0, v0, v0\nv_mov_b32_e32 v14, 2.0\nv_cndmask_b32_e64 v15, -v1, |v5|, s[6:7]\nv_mov_b32_dpp v16, v1 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1\n"
                   "v_lshlrev_b64 v[18:19], s7, v[2:3]\nv_lshlrev_b64 v[20:21], 4, s[8:9]\nv_lshlrev_b64 v[2:3], v4, v[2:3]\nv_lshlrev_b64 v[22:23], 1, 0.5"}};
    for (auto &f : forms) {
        Snippet t(f[0], f[1]);
        const bool wide = t.lanes() == 64;
        for (u64 exec : {~0ull, 0xffffffffull, 0xf0f0a5a5ffff0001ull, 0ull}) {
            if (!wide) exec &= 0xffffffff;
            t.set_exec(exec);
            t.s(4) = 0x80000003, t.s(5) = 0xfffffff0, t.s(6) = 0xcccc3333, t.s(7) = 0x3333cc29, t.s(8) = 0x89abcdef, t.s(9) = 0x12345678;
            for (u32 l = 0; l < t.lanes(); l++) {
                for (u32 k = 10; k < 24; k++) t.v(k, l) = 0xdead0000 + k;
                t.v(0, l) = 1000 + l, t.v(1, l) = 0x80000000 + l, t.set_v64(2, l, 0x0123456789abcdefull * (l + 1)), t.v(4, l) = l, t.v(5, l) = 0x80000003;
            }
            t.go();
            for (u32 l = 0; l < t.lanes(); l++) {
                const bool on = exec >> l & 1;
                const u64 c = 0x0123456789abcdefull * (l + 1);
                auto old = [](u32 k) { return 0xdead0000 + k; };
                auto old64 = [&](u32 k) { return old(k) | static_cast<u64>(old(k + 1)) << 32; };
                EXPECT_EQ(t.v(10, l), on ? 0x80000003 + 1000 + l : old(10));
                EXPECT_EQ(t.v(11, l), on ? 0x12345678 + 1000 + l : old(11));
                EXPECT_EQ(t.v(12, l), on ? 0xffffffe9 : old(12));
                EXPECT_EQ(t.v(13, l), on ? 1000 + l : old(13));
                EXPECT_EQ(t.v(0, l), on ? 2000 + 2 * l : 1000 + l);
                EXPECT_EQ(t.v(14, l), on ? 0x40000000 : old(14));
                EXPECT_EQ(t.v(15, l), on ? (wide ? 0x3333cc29cccc3333ull : 0xcccc3333ull) >> l & 1 ? 3 : l : old(15));
                EXPECT_EQ(t.v(16, l), on ? l % 16 < 15 && (exec >> (l + 1) & 1) ? 0x80000001 + l : 0 : old(16));
                EXPECT_EQ(t.v64(18, l), on ? c << 41 : old64(18));
                EXPECT_EQ(t.v64(20, l), on ? 0x234567889abcdef0ull : old64(20));
                EXPECT_EQ(t.v64(2, l), on ? c << l : c);
                EXPECT_EQ(t.v64(22, l), on ? 0x7fc0000000000000ull : old64(22));
            }
        }
    }
}

/* 16-bit results: zero above on gfx9's old instructions, untouched above on its newer ones and everywhere later. */
TEST(SimValuInt, Halves)
{
    Snippet nine("gfx942", "v_add_u16_e32 v2, v0, v1\nv_mad_u16 v3, v0, v1, v0\nv_mad_u16 v4, v0, v1, v0 op_sel:[1,0,0,1]\nv_mad_legacy_u16 v5, v0, v1, v0\n"
                           "v_lshlrev_b16_e32 v6, 4, v0\nv_max_i16_e32 v7, v0, v1\nv_sub_u16_e64 v8, v0, v1 clamp\nv_add_i16 v9, v0, v1 op_sel:[1,1,1] clamp\n"
                           "v_pack_b32_f16 v10, v0, v1 op_sel:[1,0]");
    for (u32 k = 2; k < 11; k++) nine.v(k, 0) = 0xaaaabbbb;
    nine.v(0, 0) = 0x7fff0003, nine.v(1, 0) = 0x0001fffe;
    nine.go();
    EXPECT_EQ(nine.v(2, 0), 0x00000001u);
    EXPECT_EQ(nine.v(3, 0), 0xaaaafffdu);
    EXPECT_EQ(nine.v(4, 0), ((0x7fffu * 0xfffeu + 3) << 16) | 0xbbbbu);
    EXPECT_EQ(nine.v(5, 0), 0x0000fffdu);
    EXPECT_EQ(nine.v(6, 0), 0x00000030u);
    EXPECT_EQ(nine.v(7, 0), 0x00000003u);
    EXPECT_EQ(nine.v(8, 0), 0x00000000u);
    EXPECT_EQ(nine.v(9, 0), 0x7fffbbbbu);
    EXPECT_EQ(nine.v(10, 0), 0xfffe7fffu);
    Snippet eleven("gfx1100", "v_mov_b16_e32 v2.h, v0.l\nv_add_nc_u16 v3.h, v0.h, v1.l\nv_and_b16 v4.l, v0.h, v1.h\nv_cndmask_b16 v5.h, v0.l, v1.h, s2\n"
                              "v_swap_b16 v6.l, v6.h\nv_not_b16_e32 v7.h, v0.h\nv_mad_u16 v8.l, v0.h, v1.h, v0.l\nv_add_nc_u16 v9.l, s3, v0.l op_sel:[1,0,0]");
    for (u32 k = 2; k < 10; k++) eleven.v(k, 0) = 0xaaaabbbb;
    eleven.v(0, 0) = 0x7fff0003, eleven.v(1, 0) = 0x0001fffe, eleven.s(2) = 1, eleven.s(3) = 0x00070009;
    eleven.go();
    EXPECT_EQ(eleven.v(2, 0), 0x0003bbbbu);
    EXPECT_EQ(eleven.v(3, 0), 0x7ffdbbbbu);
    EXPECT_EQ(eleven.v(4, 0), 0xaaaa0001u);
    EXPECT_EQ(eleven.v(5, 0), 0x0001bbbbu);
    EXPECT_EQ(eleven.v(6, 0), 0xbbbbaaaau);
    EXPECT_EQ(eleven.v(7, 0), 0x8000bbbbu);
    EXPECT_EQ(eleven.v(8, 0), 0xaaaa8002u);
    EXPECT_EQ(eleven.v(9, 0), 0xaaaa000au);
    EXPECT_EQ(eleven.v(9, 1), 0x0007u);
}

TEST(SimValuInt, HalvesOfGfx10)
{
    if (!simulated("gfx1030")) GTEST_SKIP();
    Snippet ten("gfx1030", "v_add_nc_u16 v2, v0, v1\nv_lshrrev_b16 v3, 1, v0 op_sel:[0,1,1]\nv_min3_i16 v4, v0, v1, v0 op_sel:[1,1,0,0]");
    for (u32 k = 2; k < 5; k++) ten.v(k, 0) = 0xaaaabbbb;
    ten.v(0, 0) = 0x7fff0003, ten.v(1, 0) = 0x0001fffe;
    ten.go();
    EXPECT_EQ(ten.v(2, 0), 0xaaaa0001u);
    EXPECT_EQ(ten.v(3, 0), 0x3fffbbbbu);
    EXPECT_EQ(ten.v(4, 0), 0xaaaa0001u);
}

TEST(SimValuInt, Sdwa)
{
    Snippet t("gfx942", "v_add_u32_sdwa v2, v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1\n"
                        "v_add_u32_sdwa v3, sext(v0), v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:BYTE_0\n"
                        "v_or_b32_sdwa v4, v0, v1 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:DWORD\n"
                        "v_mov_b32_sdwa v5, v0 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_0\n"
                        "v_mov_b32_sdwa v6, v0 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_3\n"
                        "v_cmp_eq_u32_sdwa s[10:11], v0, v1 src0_sel:BYTE_0 src1_sel:BYTE_1\n"
                        "v_mul_lo_u16_sdwa v7, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:WORD_0\n"
                        "v_cvt_f32_ubyte0_sdwa v8, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2");
    t.v(0, 3) = 0x81234567, t.v(1, 3) = 0x0009670a;
    for (u32 k = 2; k < 9; k++) t.v(k, 3) = 0x11223344;
    t.go();
    EXPECT_EQ(t.v(2, 3), 0x45u + 9);
    EXPECT_EQ(t.v(3, 3), 0xffffff81u + 0x0a);
    EXPECT_EQ(t.v(4, 3), 0x116f3344u);
    EXPECT_EQ(t.v(5, 3), 0x45670000u);
    EXPECT_EQ(t.v(6, 3), 0xffff8100u);
    EXPECT_EQ(t.s64(10), ~0ull);
    EXPECT_EQ(t.v(7, 3), (0x67u * 0x670a & 0xffff) << 16 | 0x3344u);
    EXPECT_EQ(t.vf(8, 3), 0x23);
}

/* Both halves read before either writes; inactive lanes keep both. */
TEST(SimValuInt, Dual)
{
    for (const char *target : {"gfx1100", "gfx1201"}) {
        Snippet t(target, "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0\nv_dual_mul_f32 v2, v3, v3 :: v_dual_add_nc_u32 v3, v2, v1\n"
                          "v_dual_cndmask_b32 v4, v0, v1 :: v_dual_lshlrev_b32 v5, 3, v4\nv_dual_fmac_f32 v6, v7, v7 :: v_dual_and_b32 v7, v6, v6");
        for (u32 l = 0; l < 32; l++)
            t.v(0, l) = l, t.v(1, l) = 100 + l, t.v(2, l) = 7, t.set_vf(3, l, 3), t.v(4, l) = 5, t.set_vf(6, l, 1), t.set_vf(7, l, 2);
        t.s(SIM_VCC) = 0xf;
        t.set_exec(0x7fffffff);
        t.go();
        for (u32 l = 0; l < 31; l++) {
            EXPECT_EQ(t.v(0, l), 100 + l);
            EXPECT_EQ(t.v(1, l), l);
            EXPECT_EQ(t.vf(2, l), 9);
            EXPECT_EQ(t.v(3, l), 7 + l);
            EXPECT_EQ(t.v(4, l), l < 4 ? l : 100 + l);
            EXPECT_EQ(t.v(5, l), 40u);
            EXPECT_EQ(t.vf(6, l), 5);
            EXPECT_EQ(t.vf(7, l), 1);
        }
        EXPECT_EQ(t.v(0, 31), 31u);
        EXPECT_EQ(t.v(1, 31), 131u);
    }
}

} // namespace
