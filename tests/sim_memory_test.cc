/* LDS, flat, global, scratch and buffer instructions of the simulator: what each must do is computed here from the
 * documents' words, byte by byte, and compared for every lane, with lanes masked off. */
#include <cmath>
#include <functional>
#include <set>
#include <thread>
#include "tests/sim_harness.h"

extern "C" {
#include "runtime/sim/atomic.h"
}

namespace {

constexpr uint64_t kMask = 0xa5f00ff3deadbeefull;                          /* lanes that execute */
constexpr uint32_t kBefore = 0xc3a55a3c;                                   /* registers before */

bool is_gfx9(const std::string &target) { return target.rfind("gfx9", 0) == 0; }

uint64_t mask_of(const Snippet &s) { return s.lanes() == 64 ? kMask : kMask & 0xffffffff; }

uint8_t pattern(uint64_t at) { return static_cast<uint8_t>(at * 167 + at / 7 * 31 + 129); }

uint64_t bits_of(double d)
{
    uint64_t b;
    memcpy(&b, &d, 8);
    return b;
}
uint32_t bits_of(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}

/* A buffer of device memory, filled with the pattern. */
class Buffer {
  public:
    Buffer(sim_device *device, uint64_t bytes) : device_(device), bytes_(bytes), at(sim_alloc(device, bytes))
    {
        std::vector<uint8_t> data(bytes);
        for (uint64_t k = 0; k < bytes; k++) data[k] = pattern(k);
        EXPECT_TRUE(sim_write(device, at, data.data(), bytes));
    }
    ~Buffer() { sim_free(device_, at); }
    std::vector<uint8_t> read() const
    {
        std::vector<uint8_t> data(bytes_);
        EXPECT_TRUE(sim_read(device_, data.data(), at, bytes_));
        return data;
    }
    template <typename T> void put(uint64_t offset, T value) { EXPECT_TRUE(sim_write(device_, at + offset, &value, sizeof value)); }

  private:
    sim_device *device_;
    uint64_t bytes_;

  public:
    uint64_t at;
};

/* ------------------------------------------------------------ loads and stores */

struct Access {
    const char *old_name, *new_name;                                       /* after _load_ or _store_; LDS has its own below */
    uint32_t bytes;
    bool is_signed;
    int half;                                                              /* 0: whole register, 1: low half, 2: high half */
};

const std::vector<Access> kLoads = {
    {"dword", "b32", 4, false, 0},       {"dwordx2", "b64", 8, false, 0},     {"dwordx3", "b96", 12, false, 0},      {"dwordx4", "b128", 16, false, 0},
    {"ubyte", "u8", 1, false, 0},        {"sbyte", "i8", 1, true, 0},         {"ushort", "u16", 2, false, 0},        {"sshort", "i16", 2, true, 0},
    {"ubyte_d16", "d16_u8", 1, false, 1}, {"sbyte_d16", "d16_i8", 1, true, 1}, {"short_d16", "d16_b16", 2, false, 1},
    {"ubyte_d16_hi", "d16_hi_u8", 1, false, 2}, {"sbyte_d16_hi", "d16_hi_i8", 1, true, 2}, {"short_d16_hi", "d16_hi_b16", 2, false, 2}};
const std::vector<Access> kStores = {{"byte", "b8", 1, false, 0},       {"short", "b16", 2, false, 0},     {"dword", "b32", 4, false, 0},
                          {"dwordx2", "b64", 8, false, 0},   {"dwordx3", "b96", 12, false, 0},  {"dwordx4", "b128", 16, false, 0},
                          {"byte_d16_hi", "d16_hi_b8", 1, false, 2}, {"short_d16_hi", "d16_hi_b16", 2, false, 2}};
const std::vector<Access> kLdsLoads = {{"b32", "b32", 4, false, 0},  {"b64", "b64", 8, false, 0},   {"b96", "b96", 12, false, 0},  {"b128", "b128", 16, false, 0},
                            {"u8", "u8", 1, false, 0},    {"i8", "i8", 1, true, 0},      {"u16", "u16", 2, false, 0},   {"i16", "i16", 2, true, 0},
                            {"u8_d16", "u8_d16", 1, false, 1}, {"i8_d16", "i8_d16", 1, true, 1}, {"u16_d16", "u16_d16", 2, false, 1},
                            {"u8_d16_hi", "u8_d16_hi", 1, false, 2}, {"i8_d16_hi", "i8_d16_hi", 1, true, 2}, {"u16_d16_hi", "u16_d16_hi", 2, false, 2}};
const std::vector<Access> kLdsStores = {{"b8", "b8", 1, false, 0},    {"b16", "b16", 2, false, 0},  {"b32", "b32", 4, false, 0},   {"b64", "b64", 8, false, 0},
                             {"b96", "b96", 12, false, 0}, {"b128", "b128", 16, false, 0}, {"b8_d16_hi", "b8_d16_hi", 1, false, 2},
                             {"b16_d16_hi", "b16_d16_hi", 2, false, 2}};

/* Register r of a load from bytes at p. */
uint32_t loaded(const Access &a, const uint8_t *p, uint32_t r)
{
    if (a.bytes >= 4) return p[4 * r] | p[4 * r + 1] << 8 | p[4 * r + 2] << 16 | static_cast<uint32_t>(p[4 * r + 3]) << 24;
    int32_t v = a.bytes == 1 ? p[0] : p[0] | p[1] << 8;
    if (a.is_signed) v = a.bytes == 1 ? static_cast<int8_t>(p[0]) : static_cast<int16_t>(v);
    if (a.half == 1) return (kBefore & 0xffff0000) | (static_cast<uint32_t>(v) & 0xffff);
    if (a.half == 2) return (kBefore & 0xffff) | static_cast<uint32_t>(v) << 16;
    return static_cast<uint32_t>(v);
}

std::string registers(uint32_t first, uint32_t count)
{
    return count == 1 ? "v" + std::to_string(first) : "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

uint32_t count_of(const Access &a) { return a.bytes < 4 ? 1 : a.bytes / 4; }

/* Every load of a table in one run, load k into v[40 + 4k…]; `text` gives the instruction for its name and destination, and
 * `first_byte` where in the pattern a lane's bytes begin. */
void check_loads(const std::string &target, const std::vector<Access> &loads, const std::function<std::string(const Access &, const std::string &)> &text,
                 const std::function<void(Snippet &)> &prepare, const std::function<uint64_t(uint32_t)> &first_byte)
{
    std::string all;
    for (size_t k = 0; k < loads.size(); k++) all += text(loads[k], registers(static_cast<uint32_t>(40 + 4 * k), count_of(loads[k]))) + "\n";
    SCOPED_TRACE(target + ": " + all);
    Snippet s(target, all);
    for (uint32_t lane = 0; lane < s.lanes(); lane++)
        for (uint32_t r = 40; r < 40 + 4 * loads.size(); r++) s.v(r, lane) = kBefore;
    prepare(s);
    s.set_exec(mask_of(s));
    s.go();
    for (size_t k = 0; k < loads.size(); k++)
        for (uint32_t lane = 0; lane < s.lanes(); lane++)
            for (uint32_t r = 0; r < 4; r++) {
                uint8_t bytes[16];
                for (uint32_t n = 0; n < 16; n++) bytes[n] = pattern(first_byte(lane) + n);
                const bool written = (mask_of(s) >> lane & 1) && r < count_of(loads[k]);
                EXPECT_EQ(s.v(static_cast<uint32_t>(40 + 4 * k + r), lane), written ? loaded(loads[k], bytes, r) : kBefore)
                    << loads[k].new_name << " lane " << lane << " register " << r;
            }
}

/* What a store of v8… leaves at p. */
void store_image(const Access &a, Snippet &s, uint32_t lane, uint8_t *p)
{
    for (uint32_t k = 0; k < a.bytes; k++) p[k] = static_cast<uint8_t>(s.v(8 + k / 4, lane) >> (k % 4 * 8 + (a.half == 2 ? 16 : 0)));
}

void fill_lds(Snippet &s)
{
    for (uint32_t k = 0; k < 65536; k++) s.lds()[k] = pattern(k);
}

void fill_data(Snippet &s)
{
    for (uint32_t lane = 0; lane < s.lanes(); lane++)
        for (uint32_t r = 0; r < 4; r++) s.v(8 + r, lane) = (lane * 4 + r) * 0x9e3779b9u;
}

TEST(SimLds, LoadsOfEveryWidth)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"})
        check_loads(target, kLdsLoads,
                    [&](const Access &a, const std::string &to) {
                        return (is_gfx9(target) ? std::string("ds_read_") + a.old_name : std::string("ds_load_") + a.new_name) + " " + to + ", v0 offset:77";
                    },
                    [](Snippet &s) {
                        fill_lds(s);
                        for (uint32_t lane = 0; lane < s.lanes(); lane++) s.v(0, lane) = lane * 19 + 3;   /* misaligned */
                    },
                    [](uint32_t lane) { return lane * 19 + 3 + 77; });
}

TEST(SimLds, StoresOfEveryWidth)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"}) {
        std::string text;
        uint32_t offset = 1001;
        for (const Access &a : kLdsStores) {
            text += (is_gfx9(target) ? std::string("ds_write_") + a.old_name : std::string("ds_store_") + a.new_name) + " v0, " + registers(8, count_of(a)) +
                    " offset:" + std::to_string(offset) + "\n";
            offset += 2000;
        }
        Snippet s(target, text);
        fill_lds(s);
        fill_data(s);
        std::vector<uint8_t> expected(s.lds(), s.lds() + 65536);
        for (uint32_t lane = 0; lane < s.lanes(); lane++) {
            s.v(0, lane) = lane * 21;
            offset = 1001;
            for (const Access &a : kLdsStores) {
                if (mask_of(s) >> lane & 1) store_image(a, s, lane, &expected[lane * 21 + offset]);
                offset += 2000;
            }
        }
        s.set_exec(mask_of(s));
        s.go();
        EXPECT_EQ(memcmp(expected.data(), s.lds(), 65536), 0) << target;
    }
}

TEST(SimLds, TwoAddresses)
{
    struct Pair { const char *target, *load, *store; uint32_t bytes, unit; };
    for (const Pair &p : {Pair{"gfx942", "ds_read2_b32", "ds_write2_b32", 4, 4}, Pair{"gfx942", "ds_read2_b64", "ds_write2_b64", 8, 8},
                          Pair{"gfx942", "ds_read2st64_b32", "ds_write2st64_b32", 4, 256}, Pair{"gfx942", "ds_read2st64_b64", "ds_write2st64_b64", 8, 512},
                          Pair{"gfx1100", "ds_load_2addr_b32", "ds_store_2addr_b32", 4, 4}, Pair{"gfx1201", "ds_load_2addr_b64", "ds_store_2addr_b64", 8, 8},
                          Pair{"gfx1201", "ds_load_2addr_stride64_b32", "ds_store_2addr_stride64_b32", 4, 256},
                          Pair{"gfx1100", "ds_load_2addr_stride64_b64", "ds_store_2addr_stride64_b64", 8, 512}}) {
        const uint32_t words = p.bytes / 4;
        SCOPED_TRACE(p.load);
        Snippet load(p.target, std::string(p.load) + " " + registers(8, 2 * words) + ", v0 offset0:3 offset1:70");
        fill_lds(load);
        for (uint32_t lane = 0; lane < load.lanes(); lane++) load.v(0, lane) = lane * 8;
        load.go();
        Snippet store(p.target, std::string(p.store) + " v0, " + registers(4, words) + ", " + registers(6, words) + " offset0:3 offset1:70");
        std::vector<uint8_t> expected(65536);
        for (uint32_t lane = 0; lane < load.lanes(); lane++) {
            store.v(0, lane) = lane * 8;
            for (uint32_t half = 0; half < 2; half++)
                for (uint32_t k = 0; k < p.bytes; k++) {
                    const uint32_t at = lane * 8 + (half ? 70 : 3) * p.unit + k;
                    EXPECT_EQ(load.v(8 + half * words + k / 4, lane) >> k % 4 * 8 & 0xff, pattern(at));
                }
            for (uint32_t r = 4; r < 8; r++) store.v(r, lane) = (lane + 100 * r) * 0x85ebca6bu;
        }
        for (uint32_t half = 0; half < 2; half++)
            for (uint32_t lane = 0; lane < load.lanes(); lane++)
                for (uint32_t k = 0; k < p.bytes; k++)
                    expected[lane * 8 + (half ? 70 : 3) * p.unit + k] = static_cast<uint8_t>(store.v(4 + 2 * half + k / 4, lane) >> k % 4 * 8);
        store.go();
        EXPECT_EQ(memcmp(expected.data(), store.lds(), 65536), 0);
    }
}

/* Address forms of global memory: 64-bit, and scalar base with a 32-bit offset. */
TEST(SimGlobal, LoadsOfEveryWidth)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"})
        for (const char *space : {"global", "flat", "saddr"}) {
            const bool scalar = std::string(space) == "saddr", flat = std::string(space) == "flat";
            const int offset = flat ? 40 : -24;
            Buffer b(sim_test_device(target), 8192);
            check_loads(target, kLoads,
                        [&](const Access &a, const std::string &to) {
                            return (flat ? "flat_load_" : "global_load_") + std::string(is_gfx9(target) ? a.old_name : a.new_name) + " " + to +
                                   (scalar ? ", v0, s[4:5]" : flat ? ", v[0:1]" : ", v[0:1], off") + " offset:" + std::to_string(offset);
                        },
                        [&](Snippet &s) {
                            s.set_s64(4, b.at + 100);
                            for (uint32_t lane = 0; lane < s.lanes(); lane++) {
                                if (scalar) s.v(0, lane) = lane * 23;
                                else s.set_v64(0, lane, b.at + 100 + lane * 23);
                            }
                        },
                        [&](uint32_t lane) { return static_cast<uint64_t>(100 + lane * 23 + offset); });
        }
}

TEST(SimGlobal, StoresOfEveryWidth)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"})
        for (const bool scalar : {false, true}) {
            std::string text;
            uint32_t k = 0;
            for (const Access &a : kStores) {
                const uint32_t address = 20 + 2 * k, base = 4 + 2 * k++;
                text += std::string("global_store_") + (is_gfx9(target) ? a.old_name : a.new_name) + " " +
                        (scalar ? "v0, " : registers(address, 2) + ", ") + registers(8, count_of(a)) +
                        (scalar ? ", s[" + std::to_string(base) + ":" + std::to_string(base + 1) + "]" : ", off") + " offset:16\n";
            }
            Snippet s(target, text);
            Buffer b(s.device, 16384);
            std::vector<uint8_t> expected = b.read();
            fill_data(s);
            for (uint32_t lane = 0; lane < s.lanes(); lane++) {
                s.v(0, lane) = lane * 18;
                k = 0;
                for (const Access &a : kStores) {
                    const uint64_t at = 5 + k * 1500;
                    s.set_s64(4 + 2 * k, b.at + at);
                    s.set_v64(20 + 2 * k++, lane, b.at + at + lane * 18);
                    if (mask_of(s) >> lane & 1) store_image(a, s, lane, &expected[at + lane * 18 + 16]);
                }
            }
            s.set_exec(mask_of(s));
            s.go();
            EXPECT_EQ(expected, b.read()) << target << text;
        }
}

/* Flat addresses inside the apertures of LDS and scratch. */
TEST(SimFlat, Apertures)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"}) {
        const bool old = is_gfx9(target);
        Snippet s(target, std::string(old ? "flat_load_dword" : "flat_load_b32") + " v8, v[0:1]\n" +
                              (old ? "flat_store_dword" : "flat_store_b32") + " v[2:3], v8 offset:4");
        for (uint32_t lane = 0; lane < s.lanes(); lane++) {
            s.set_v64(0, lane, SIM_SHARED_BASE + lane * 4);
            s.set_v64(2, lane, SIM_PRIVATE_BASE + 12);
            const uint32_t v = lane * 77 + 5;
            memcpy(s.lds() + lane * 4, &v, 4);
        }
        s.go();
        for (uint32_t lane = 0; lane < s.lanes(); lane++) {
            uint32_t v;
            memcpy(&v, s.scratch(lane) + 16, 4);
            EXPECT_EQ(v, lane * 77 + 5);
        }
    }
}

/* Every combination of a vector and a scalar address. */
TEST(SimScratch, AddressForms)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"}) {
        const bool old = is_gfx9(target);
        const std::string load = old ? "scratch_load_dwordx2" : "scratch_load_b64", store = old ? "scratch_store_short" : "scratch_store_b16";
        struct Form { const char *load, *store; uint32_t vector, scalar; };
        for (const Form &f : {Form{"v0, off", "v0, v20, off", 1, 0}, Form{"off, s4", "off, v20, s4", 0, 1}, Form{"off, off", "off, v20, off", 0, 0},
                              Form{"v0, s4", "v0, v20, s4", 1, 1}}) {
            SCOPED_TRACE(target + (std::string(": ") + f.load));
            Snippet s(target, load + " v[8:9], " + f.load + " offset:24\n" + store + " " + f.store + " offset:52");
            s.s(4) = 200;
            for (uint32_t lane = 0; lane < s.lanes(); lane++) {
                s.v(0, lane) = lane * 12;
                s.v(20, lane) = 0x12340000 + lane;
                for (uint32_t k = 0; k < 4096; k++) s.scratch(lane)[k] = pattern(k + lane * 5);
            }
            s.go();
            for (uint32_t lane = 0; lane < s.lanes(); lane++) {
                const uint32_t base = f.vector * lane * 12 + f.scalar * 200;
                for (uint32_t k = 0; k < 8; k++) EXPECT_EQ(s.v(8 + k / 4, lane) >> k % 4 * 8 & 0xff, pattern(base + 24 + k + lane * 5));
                EXPECT_EQ(s.scratch(lane)[base + 52], lane);
                EXPECT_EQ(s.scratch(lane)[base + 53], 0);
                EXPECT_EQ(s.scratch(lane)[base + 54], pattern(base + 54 + lane * 5));
            }
        }
    }
}

TEST(SimScratch, AccumulationRegisters)
{
    Snippet s("gfx942", "global_load_dwordx2 a[2:3], v0, s[4:5]\nds_write_b64 v1, a[2:3]");
    Buffer b(s.device, 4096);
    s.set_s64(4, b.at);
    for (uint32_t lane = 0; lane < 64; lane++) s.v(0, lane) = s.v(1, lane) = lane * 8;
    s.go();
    for (uint32_t k = 0; k < 512; k++) EXPECT_EQ(s.lds()[k], pattern(k));
}

/* ------------------------------------------------------------ atomics */

using Apply = std::function<uint64_t(uint64_t old, uint64_t data, uint64_t compare)>;

struct Atomic {
    const char *old_global, *new_global;                                   /* 32-bit name, or nullptr; {x} is the width's suffix */
    const char *lds;                                                       /* name_type with a place for _rtn: "add|u" */
    bool compares;
    Apply apply32, apply64;
};

template <typename U> Apply on(std::function<U(U, U, U)> f)
{
    return [f](uint64_t a, uint64_t b, uint64_t c) { return static_cast<uint64_t>(f(static_cast<U>(a), static_cast<U>(b), static_cast<U>(c))); };
}
template <typename U> Apply add() { return on<U>([](U o, U d, U) { return static_cast<U>(o + d); }); }
template <typename U> Apply sub() { return on<U>([](U o, U d, U) { return static_cast<U>(o - d); }); }
template <typename U> Apply rsub() { return on<U>([](U o, U d, U) { return static_cast<U>(d - o); }); }
template <typename U> Apply inc() { return on<U>([](U o, U d, U) { return o >= d ? U{0} : static_cast<U>(o + 1); }); }
template <typename U> Apply dec() { return on<U>([](U o, U d, U) { return o == 0 || o > d ? d : static_cast<U>(o - 1); }); }
template <typename U> Apply least() { return on<U>([](U o, U d, U) { return d < o ? d : o; }); }
template <typename U> Apply most() { return on<U>([](U o, U d, U) { return d > o ? d : o; }); }
template <typename U> Apply conj() { return on<U>([](U o, U d, U) { return static_cast<U>(o & d); }); }
template <typename U> Apply disj() { return on<U>([](U o, U d, U) { return static_cast<U>(o | d); }); }
template <typename U> Apply excl() { return on<U>([](U o, U d, U) { return static_cast<U>(o ^ d); }); }
template <typename U> Apply swap() { return on<U>([](U, U d, U) { return d; }); }
template <typename U> Apply cas() { return on<U>([](U o, U d, U c) { return o == c ? d : o; }); }

const Atomic kAtomics[] = {
    {"add{x}", "add_u{b}", "add|u", false, add<uint32_t>(), add<uint64_t>()},
    {"sub{x}", "sub_u{b}", "sub|u", false, sub<uint32_t>(), sub<uint64_t>()},
    {nullptr, nullptr, "rsub|u", false, rsub<uint32_t>(), rsub<uint64_t>()},
    {"inc{x}", "inc_u{b}", "inc|u", false, inc<uint32_t>(), inc<uint64_t>()},
    {"dec{x}", "dec_u{b}", "dec|u", false, dec<uint32_t>(), dec<uint64_t>()},
    {"smin{x}", "min_i{b}", "min|i", false, least<int32_t>(), least<int64_t>()},
    {"smax{x}", "max_i{b}", "max|i", false, most<int32_t>(), most<int64_t>()},
    {"umin{x}", "min_u{b}", "min|u", false, least<uint32_t>(), least<uint64_t>()},
    {"umax{x}", "max_u{b}", "max|u", false, most<uint32_t>(), most<uint64_t>()},
    {"and{x}", "and_b{b}", "and|b", false, conj<uint32_t>(), conj<uint64_t>()},
    {"or{x}", "or_b{b}", "or|b", false, disj<uint32_t>(), disj<uint64_t>()},
    {"xor{x}", "xor_b{b}", "xor|b", false, excl<uint32_t>(), excl<uint64_t>()},
    {"swap{x}", "swap_b{b}", "exchange", false, swap<uint32_t>(), swap<uint64_t>()},
    {"cmpswap{x}", "cmpswap_b{b}", "compare", true, cas<uint32_t>(), cas<uint64_t>()},
};

std::string replaced(std::string s, const std::string &what, const std::string &with)
{
    const size_t at = s.find(what);
    return at == std::string::npos ? s : s.replace(at, what.size(), with);
}

uint64_t value_at(const uint8_t *p, uint32_t bytes)
{
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

/* Old values, data and what is compared with: each lane its own, every second comparison equal. */
struct AtomicData {
    uint64_t old, data, compare;
    AtomicData(uint32_t lane, uint32_t bytes)
    {
        const uint64_t mask = bytes == 8 ? ~0ull : 0xffffffffull;
        old = (lane * 0x9e3779b97f4a7c15ull + (lane % 3 ? 0 : 1ull << 63)) >> (lane % 5) & mask;
        data = (lane * 0xc2b2ae3d27d4eb4full ^ 0x1234567) >> (lane % 7) & mask;
        if (lane % 9 == 4) old = 0;
        if (lane % 9 == 5) data = old;
        compare = lane % 2 ? old : (old ^ 1);
    }
};

void set_value(Snippet &s, uint32_t row, uint32_t lane, uint32_t bytes, uint64_t v)
{
    s.v(row, lane) = static_cast<uint32_t>(v);
    if (bytes == 8) s.v(row + 1, lane) = static_cast<uint32_t>(v >> 32);
}

/* Every operation of the table with and without a result, in one run. Form k works at 8k bytes behind the lane's address
 * in v[0:1]; data is in v[10…], the comparison in v[14…], old values go to v[40 + 2k…]. */
class AtomicRun {
  public:
    AtomicRun(const char *target, uint32_t bytes) : target_(target), bytes_(bytes) {}
    void add(const Atomic &a, const std::string &text, bool returns, const std::string &flags = "")
    {
        forms_.push_back({bytes_ == 4 ? a.apply32 : a.apply64, returns});
        text_ += text + " offset:" + std::to_string(8 * (forms_.size() - 1)) + flags + "\n";
    }
    std::string result() const { return registers(static_cast<uint32_t>(40 + 2 * forms_.size()), bytes_ / 4); }
    /* Runs; lanes' memory is 256 bytes apart from `base` on, whose address is `flat`. Without: LDS. */
    void check(bool lds)
    {
        SCOPED_TRACE(target_ + ": " + text_);
        Snippet s(target_, text_);
        Buffer b(s.device, 64 * 256);
        uint8_t *base = lds ? s.lds() : reinterpret_cast<uint8_t *>(b.at);
        for (uint32_t lane = 0; lane < s.lanes(); lane++) {
            const AtomicData d(lane, bytes_);
            s.set_v64(0, lane, (lds ? 0 : b.at) + lane * 256);
            for (const uint32_t row : {10u, 18u}) set_value(s, row, lane, bytes_, d.data);
            set_value(s, 10 + bytes_ / 4, lane, bytes_, d.compare);
            set_value(s, 14, lane, bytes_, d.compare);
            for (size_t k = 0; k < forms_.size(); k++) {
                memcpy(base + lane * 256 + 8 * k, &d.old, bytes_);
                s.set_v64(static_cast<uint32_t>(40 + 2 * k), lane, kBefore * 0x100000001ull);
            }
        }
        s.set_exec(mask_of(s));
        s.go();
        for (size_t k = 0; k < forms_.size(); k++)
            for (uint32_t lane = 0; lane < s.lanes(); lane++) check_form(s, k, lane, base + lane * 256 + 8 * k);
    }

  private:
    struct Form { Apply apply; bool returns; };
    void check_form(Snippet &s, size_t k, uint32_t lane, const uint8_t *p)
    {
        const AtomicData d(lane, bytes_);
        const bool on = mask_of(s) >> lane & 1;
        const uint64_t mask = bytes_ == 8 ? ~0ull : 0xffffffffull, before = bytes_ == 8 ? kBefore * 0x100000001ull : kBefore;
        const uint32_t row = static_cast<uint32_t>(40 + 2 * k);
        EXPECT_EQ(value_at(p, bytes_), on ? forms_[k].apply(d.old, d.data, d.compare) & mask : d.old) << "form " << k << " lane " << lane;
        EXPECT_EQ(bytes_ == 8 ? s.v64(row, lane) : s.v(row, lane), on && forms_[k].returns ? d.old : before) << "form " << k << " lane " << lane;
    }
    std::string target_, text_;
    uint32_t bytes_;
    std::vector<Form> forms_;
};

TEST(SimAtomics, MemoryNamesOfAllGenerations)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"})
        for (const uint32_t bytes : {4u, 8u})
            for (const bool flat : {false, true}) {
                AtomicRun run(target, bytes);
                for (const Atomic &a : kAtomics)
                    for (const bool returns : {false, true}) {
                        if (!a.old_global) continue;
                        const std::string name = is_gfx9(target) ? replaced(a.old_global, "{x}", bytes == 8 ? "_x2" : "")
                                                                 : replaced(a.new_global, "{b}", bytes == 8 ? "64" : "32");
                        const std::string flag = is_gfx9(target) ? " sc0" : std::string(target) == "gfx1201" ? " th:TH_ATOMIC_RETURN" : " glc";
                        const std::string text = (flat ? "flat_atomic_" : "global_atomic_") + name + " " + (returns ? run.result() + ", " : "") + "v[0:1], " +
                                           registers(10, bytes / 4 * (a.compares ? 2 : 1)) + (flat ? "" : ", off");
                        run.add(a, text, returns, returns ? flag : "");
                    }
                run.check(false);
            }
}

/* gfx9: ds_cmpst address, compare, new; gfx11: ds_cmpstore address, new, compare. */
TEST(SimAtomics, LdsNamesAndOperandOrder)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"})
        for (const uint32_t bytes : {4u, 8u}) {
            AtomicRun run(target, bytes);
            for (const Atomic &a : kAtomics)
                for (const bool returns : {false, true}) {
                    const bool old = is_gfx9(target);
                    if (std::string(a.lds) == "exchange" && !returns) continue;
                    const std::string data = registers(18, bytes / 4), compare = registers(14, bytes / 4);
                    std::string name = a.lds, operands = data;
                    if (name == "exchange") name = old ? "wrxchg|b" : "storexchg|b";
                    if (name == "compare") {
                        name = old ? "cmpst|b" : "cmpstore|b";
                        operands = old ? compare + ", " + data : data + ", " + compare;
                    }
                    name = "ds_" + replaced(name, "|", returns ? "_rtn_" : "_") + (bytes == 8 ? "64" : "32");
                    run.add(a, name + " " + (returns ? run.result() + ", " : "") + "v0, " + operands, returns);
                }
            run.check(true);
        }
}

TEST(SimAtomics, RareLdsOperations)
{
    struct Case { const char *target, *text; uint64_t old, first, second, expected; };
    for (const Case &c : {Case{"gfx942", "ds_mskor_rtn_b32 v20, v0, v10, v12", 0xff00ff00, 0x0ff0, 0x00a0, (0xff00ff00 & ~0x0ff0u) | 0xa0},
                          Case{"gfx1100", "ds_mskor_rtn_b32 v20, v0, v10, v12", 0xff00ff00, 0x0ff0, 0x00a0, (0xff00ff00 & ~0x0ff0u) | 0xa0},
                          Case{"gfx942", "ds_wrap_rtn_b32 v20, v0, v10, v12", 10, 4, 100, 6}, Case{"gfx942", "ds_wrap_rtn_b32 v20, v0, v10, v12", 3, 4, 100, 103},
                          Case{"gfx1201", "ds_sub_clamp_rtn_u32 v20, v0, v10", 3, 5, 0, 0}, Case{"gfx1201", "ds_sub_clamp_rtn_u32 v20, v0, v10", 7, 5, 0, 2},
                          Case{"gfx1201", "ds_cond_sub_rtn_u32 v20, v0, v10", 3, 5, 0, 3}, Case{"gfx1201", "ds_cond_sub_rtn_u32 v20, v0, v10", 7, 5, 0, 2}}) {
        Snippet s(c.target, c.text);
        SCOPED_TRACE(c.text);
        memcpy(s.lds() + 8, &c.old, 4);
        s.v(0, 3) = 8;
        s.v(10, 3) = static_cast<uint32_t>(c.first);
        s.v(12, 3) = static_cast<uint32_t>(c.second);
        s.set_exec(8);
        s.go();
        EXPECT_EQ(value_at(s.lds() + 8, 4), c.expected);
        EXPECT_EQ(s.v(20, 3), c.old);
    }
    Snippet s("gfx942", "ds_condxchg32_rtn_b64 v[20:21], v0, v[10:11]\nds_wrxchg2_rtn_b32 v[22:23], v1, v12, v13 offset0:1 offset1:2");
    const uint64_t old = 0x1111111122222222ull;
    memcpy(s.lds(), &old, 8);
    const uint32_t pair[2] = {77, 88};
    memcpy(s.lds() + 104, pair, 8);
    s.set_exec(1);
    s.v(1, 0) = 100;
    s.v(12, 0) = 1;
    s.v(13, 0) = 2;
    s.set_v64(10, 0, 0x0000000580000007ull);                              /* only the low half has its top bit */
    s.go();
    EXPECT_EQ(value_at(s.lds(), 8), 0x1111111100000007ull);
    EXPECT_EQ(s.v64(20, 0), old);
    EXPECT_EQ(s.v(22, 0), 77u);
    EXPECT_EQ(s.v(23, 0), 88u);
    EXPECT_EQ(value_at(s.lds() + 104, 8), 1u | 2ull << 32);
}

/* One float atomic on one lane; old value, data, result as bits. */
void check_float(const char *target, const std::string &text, uint32_t bytes, uint64_t old, uint64_t data, uint64_t expected, bool denormals = true)
{
    SCOPED_TRACE(target + (": " + text));
    Snippet s(target, text);
    Buffer b(s.device, 64);
    s.wave->mode = denormals ? 0xf0 : 0;
    s.set_exec(2);
    const bool lds = text.rfind("ds_", 0) == 0;
    uint8_t *p = lds ? s.lds() + 16 : reinterpret_cast<uint8_t *>(b.at);
    memcpy(p, &old, bytes);
    if (lds) s.v(0, 1) = 16;
    else s.set_v64(0, 1, b.at);
    set_value(s, 10, 1, bytes, data);
    s.go();
    EXPECT_EQ(value_at(p, bytes), expected) << std::hex << value_at(p, bytes) << " is not " << expected;
}

TEST(SimAtomics, Floats)
{
    const uint32_t tiny = 0x00000003, one = bits_of(1.0f), three = bits_of(3.0f);
    const float nan = std::nanf("");
    check_float("gfx1100", "global_atomic_add_f32 v[0:1], v10, off", 4, one, bits_of(2.0f), three);
    check_float("gfx1100", "global_atomic_add_f32 v[0:1], v10, off", 4, tiny, tiny, 0);            /* flushed in memory before gfx12 */
    check_float("gfx942", "global_atomic_add_f32 v[0:1], v10, off", 4, tiny, tiny, 6);
    check_float("gfx1201", "global_atomic_add_f32 v[0:1], v10, off", 4, tiny, tiny, 6);
    check_float("gfx942", "ds_add_f32 v0, v10", 4, tiny, tiny, 6);
    check_float("gfx1100", "ds_add_f32 v0, v10", 4, tiny, tiny, 0, false);                         /* LDS goes by MODE */
    check_float("gfx942", "ds_add_f64 v0, v[10:11]", 8, bits_of(1.5), bits_of(2.25), bits_of(3.75));
    check_float("gfx942", "global_atomic_add_f64 v[0:1], v[10:11], off", 8, bits_of(1.5), bits_of(2.25), bits_of(3.75));
    check_float("gfx942", "ds_min_f32 v0, v10", 4, bits_of(nan), one, one);
    check_float("gfx942", "ds_max_f32 v0, v10", 4, one, bits_of(nan), one);
    check_float("gfx942", "ds_min_f32 v0, v10", 4, 0, 0x80000000, 0x80000000);
    check_float("gfx942", "ds_max_f64 v0, v[10:11]", 8, bits_of(-0.0), bits_of(0.0), bits_of(0.0));
    check_float("gfx1201", "ds_min_num_f32 v0, v10", 4, three, one, one);
    check_float("gfx1201", "global_atomic_max_num_f32 v[0:1], v10, off", 4, three, one, three);
    check_float("gfx1100", "global_atomic_min_f32 v[0:1], v10, off", 4, three, one, one);
    check_float("gfx942", "global_atomic_max_f64 v[0:1], v[10:11], off", 8, bits_of(1.0), bits_of(2.0), bits_of(2.0));
    check_float("gfx1100", "ds_cmpstore_f32 v0, v10, v12", 4, 0x80000000, three, three);           /* compared with v12 = +0: equal */
    check_float("gfx942", "global_atomic_pk_add_f16 v[0:1], v10, off", 4, 0x3c004000, 0x00014400, 0x3c004600);   /* 1 + 2^-24, 2 + 4 */
    check_float("gfx942", "ds_pk_add_f16 v0, v10", 4, 0x7bff0001, 0x7bff0001, 0x7c000002);
    check_float("gfx942", "ds_pk_add_bf16 v0, v10", 4, 0x3f803f80, 0x3f803b80, 0x40003f80);        /* 1 + 1, 1 + 2^-8: a tie, to even */
    check_float("gfx1201", "global_atomic_pk_add_bf16 v[0:1], v10, off", 4, 0x40004040, 0xc0004040, 0x000040c0);
}

TEST(SimAtomics, ClampedSubtraction)
{
    check_float("gfx1201", "global_atomic_sub_clamp_u32 v20, v[0:1], v10, off th:TH_ATOMIC_RETURN", 4, 4, 5, 0);
    check_float("gfx1201", "global_atomic_cond_sub_u32 v[0:1], v10, off", 4, 4, 5, 4);
    check_float("gfx1100", "global_atomic_csub_u32 v20, v[0:1], v10, off glc", 4, 9, 5, 4);
}

/* All lanes at one address: each sees another old value, none is lost. */
TEST(SimAtomics, Contention)
{
    Snippet s("gfx942", "ds_add_rtn_u32 v20, v0, v10");
    for (uint32_t lane = 0; lane < 64; lane++) s.v(10, lane) = 1;
    s.go();
    std::set<uint32_t> seen;
    for (uint32_t lane = 0; lane < 64; lane++) seen.insert(s.v(20, lane));
    EXPECT_EQ(seen.size(), 64u);
    EXPECT_EQ(value_at(s.lds(), 4), 64u);

    alignas(8) static uint64_t counter[2];
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([] {
            for (int k = 0; k < 20000; k++) {
                sim_atomic_exchange(&counter[0], 8, ATOMIC_ADD, 3, 0, false);
                sim_atomic_exchange(&counter[1], 4, ATOMIC_FADD, bits_of(1.0f), 0, false);
            }
        });
    for (std::thread &t : threads) t.join();
    EXPECT_EQ(counter[0], 240000u);
    EXPECT_EQ(static_cast<uint32_t>(counter[1]), bits_of(80000.0f));
}

TEST(SimLds, AppendAndConsume)
{
    Snippet s("gfx942", "ds_append v20 offset:8\nds_append v21 offset:8\nds_consume v22 offset:8");
    const uint32_t start = 100;
    memcpy(s.lds() + 40, &start, 4);
    s.s(SIM_M0) = 32;
    s.set_exec(0xf0f);
    s.v(20, 5) = kBefore;
    s.go();
    for (uint32_t lane : {0u, 3u, 8u, 11u}) {
        EXPECT_EQ(s.v(20, lane), 100u);
        EXPECT_EQ(s.v(21, lane), 108u);
        EXPECT_EQ(s.v(22, lane), 116u);
    }
    EXPECT_EQ(s.v(20, 5), kBefore);
    EXPECT_EQ(value_at(s.lds() + 40, 4), 108u);
}

TEST(SimLds, AddressFromLane)
{
    Snippet s("gfx1100", "ds_store_addtid_b32 v2 offset:16\nds_load_addtid_b32 v3 offset:20");
    s.s(SIM_M0) = 256;
    for (uint32_t lane = 0; lane < 32; lane++) s.v(2, lane) = lane + 1000;
    s.go();
    for (uint32_t lane = 0; lane < 31; lane++) {
        EXPECT_EQ(value_at(s.lds() + 256 + 16 + lane * 4, 4), lane + 1000);
        EXPECT_EQ(s.v(3, lane), lane + 1001);
    }
}

/* ------------------------------------------------------------ between lanes */

TEST(SimLds, Permutations)
{
    for (const char *target : {"gfx1100", "gfx1201", "gfx942"}) {
        Snippet s(target, "ds_bpermute_b32 v2, v0, v1 offset:4\nds_permute_b32 v3, v0, v1");
        const uint64_t mask = mask_of(s);
        std::vector<uint32_t> pushed(s.lanes());
        for (uint32_t lane = 0; lane < s.lanes(); lane++) {
            s.v(0, lane) = (lane * 37 + 11) * 4 + lane % 4;               /* the lowest two bits do not count */
            s.v(1, lane) = lane + 500;
            s.v(2, lane) = s.v(3, lane) = kBefore;
        }
        for (uint32_t lane = 0; lane < s.lanes(); lane++)
            if (mask >> lane & 1) pushed[(lane * 37 + 11) % s.lanes()] = lane + 500;
        s.set_exec(mask);
        s.go();
        for (uint32_t lane = 0; lane < s.lanes(); lane++) {
            const uint32_t source = (lane * 37 + 12) % s.lanes();
            if (!(mask >> lane & 1)) {
                EXPECT_EQ(s.v(2, lane), kBefore);
                EXPECT_EQ(s.v(3, lane), kBefore);
                continue;
            }
            EXPECT_EQ(s.v(2, lane), mask >> source & 1 ? source + 500 : 0);
            EXPECT_EQ(s.v(3, lane), pushed[lane]);
        }
    }
    Snippet s("gfx1201", "ds_bpermute_fi_b32 v2, v0, v1");
    for (uint32_t lane = 0; lane < 32; lane++) {
        s.v(0, lane) = (31 - lane) * 4;
        s.v(1, lane) = lane;
    }
    s.set_exec(1);
    s.go();
    EXPECT_EQ(s.v(2, 0), 31u);                                             /* lane 31 does not execute, and is read all the same */
}

TEST(SimLds, Swizzle)
{
    struct Case { const char *text; std::function<uint32_t(uint32_t)> source; };
    const Case cases[] = {
        {"swizzle(QUAD_PERM,3,1,0,2)", [](uint32_t l) { static const uint32_t q[] = {3, 1, 0, 2}; return (l & ~3u) | q[l % 4]; }},
        {"swizzle(SWAP,8)", [](uint32_t l) { return l ^ 8; }},
        {"swizzle(REVERSE,16)", [](uint32_t l) { return l ^ 15; }},
        {"swizzle(BROADCAST,8,5)", [](uint32_t l) { return (l & ~7u) | 5; }},
        {"swizzle(BITMASK_PERM,\"01pi0\")", [](uint32_t l) { return (l & ~31u) | 8 | (l & 4) | ((l & 2) ^ 2); }},
        {"0x7c1f", [](uint32_t l) { return l ^ 31; }},
    };
    for (const char *target : {"gfx1100", "gfx942"})
        for (const Case &c : cases) {
            SCOPED_TRACE(c.text);
            Snippet s(target, std::string("ds_swizzle_b32 v1, v0 offset:") + c.text);
            for (uint32_t lane = 0; lane < s.lanes(); lane++) s.v(0, lane) = lane + 900;
            s.go();
            for (uint32_t lane = 0; lane < s.lanes(); lane++) EXPECT_EQ(s.v(1, lane), c.source(lane) + 900) << lane;
        }
    Snippet s("gfx942", "ds_swizzle_b32 v1, v0 offset:swizzle(ROTATE,0,3)");
    for (uint32_t lane = 0; lane < 64; lane++) s.v(0, lane) = lane;
    s.go();
    for (uint32_t lane = 0; lane < 64; lane++) EXPECT_EQ(s.v(1, lane), (lane & 32) | ((lane + 3) & 31));
}

/* ------------------------------------------------------------ buffers, LDS loads, caches */

TEST(SimBuffer, Ranges)
{
    Snippet s("gfx942", "buffer_load_dword v8, v0, s[4:7], s8 offen offset:4\nbuffer_store_byte v1, v0, s[4:7], 0 offen\n"
                        "buffer_load_dwordx2 v[10:11], v2, s[12:15], 0 idxen offset:8\nbuffer_atomic_add v3, off, s[4:7], 0 offset:252 sc0");
    Buffer b(s.device, 4096);
    for (const uint32_t base : {4u, 12u}) {
        s.set_s64(base, b.at | (base == 12 ? 32ull << 48 : 0));
        s.s(base + 2) = base == 12 ? 8 : 256;                              /* records of 32 bytes, or bytes */
        s.s(base + 3) = 0;
    }
    s.s(8) = 64;
    b.put(252, 40u);
    for (uint32_t lane = 0; lane < 64; lane++) {
        s.v(0, lane) = lane * 8;
        s.v(1, lane) = lane;
        s.v(2, lane) = lane;
        s.v(3, lane) = 0;
    }
    s.v(3, 0) = 2;
    s.set_exec(~0ull);
    const std::vector<uint8_t> before = b.read();
    s.go();
    const std::vector<uint8_t> after = b.read();
    for (uint32_t lane = 0; lane < 64; lane++) {
        uint32_t expected = 0;
        if (lane * 8 + 4 + 4 <= 256) memcpy(&expected, &before[lane * 8 + 4 + 64], 4);
        EXPECT_EQ(s.v(8, lane), expected) << lane;
        EXPECT_EQ(after[lane * 8], lane * 8 < 256 ? lane : before[lane * 8]);
        uint64_t record = 0;
        if (lane < 8) memcpy(&record, &after[lane * 32 + 8], 8);
        EXPECT_EQ(s.v64(10, lane), record) << lane;
    }
    EXPECT_EQ(value_at(&after[252], 4), 42u);
    EXPECT_EQ(s.v(3, 0), 40u);
}

/* The private segment of compilers that use buffers for it: the scalar offset counts for the whole wave. */
TEST(SimBuffer, PrivateSegment)
{
    Snippet s("gfx942", "buffer_store_dword v1, off, s[0:3], s32 offset:8\nbuffer_load_dword v2, v0, s[0:3], s32 offen");
    s.s(1) = 0x80000000;
    s.s(3) = 1u << 23;
    s.s(32) = 64 * 100;
    for (uint32_t lane = 0; lane < 64; lane++) {
        s.v(0, lane) = 8;
        s.v(1, lane) = lane * 3;
    }
    s.go();
    for (uint32_t lane = 0; lane < 64; lane++) {
        EXPECT_EQ(value_at(s.scratch(lane) + 108, 4), lane * 3);
        EXPECT_EQ(s.v(2, lane), lane * 3);
    }
}

TEST(SimGlobal, LoadsIntoLds)
{
    Snippet s("gfx942", "global_load_lds_dword v[0:1], off\nglobal_load_lds_ubyte v2, s[4:5] offset:1024");
    Buffer b(s.device, 8192);
    s.s(SIM_M0) = 512;
    s.set_s64(4, b.at);
    for (uint32_t lane = 0; lane < 64; lane++) {
        s.set_v64(0, lane, b.at + 8 * lane);
        s.v(2, lane) = lane * 3;
    }
    s.go();
    for (uint32_t lane = 0; lane < 64; lane++) {
        for (uint32_t k = 0; k < 4; k++) EXPECT_EQ(s.lds()[512 + lane * 4 + k], pattern(8 * lane + k));
        EXPECT_EQ(value_at(s.lds() + 512 + 1024 + lane * 4, 4), pattern(lane * 3 + 1024));
    }
}

TEST(SimCaches, NoEffect)
{
    Snippet a("gfx942", "buffer_wbl2 sc1\nbuffer_inv sc1"), b("gfx1100", "buffer_gl0_inv\nbuffer_gl1_inv"), c("gfx1201", "global_inv scope:SCOPE_DEV\nglobal_wb scope:SCOPE_SYS");
    for (Snippet *s : {&a, &b, &c}) {
        s->v(3, 3) = 7;
        s->go();
        EXPECT_EQ(s->v(3, 3), 7u);
    }
}

/* ------------------------------------------------------------ faults */

void expect_fault(const char *target, const char *text, sim_status status, const std::function<void(Snippet &)> &prepare)
{
    SCOPED_TRACE(target + (std::string(": ") + text));
    Snippet s(target, text, 1024, 64);
    prepare(s);
    EXPECT_FALSE(s.run());
    EXPECT_EQ(s.error.status, status) << s.error.reason;
    EXPECT_NE(s.error.instruction[0], 0);
}

TEST(SimFaults, Addresses)
{
    const auto nothing = [](Snippet &s) { s.set_exec(1); };
    expect_fault("gfx1100", "global_load_b32 v2, v[0:1], off", SIM_FAULT_ADDRESS, nothing);
    expect_fault("gfx942", "global_store_dword v[0:1], v2, off", SIM_FAULT_ADDRESS, nothing);
    expect_fault("gfx1201", "flat_load_b64 v[2:3], v[0:1]", SIM_FAULT_ADDRESS, nothing);
    expect_fault("gfx1100", "ds_load_b32 v2, v0 offset:1021", SIM_FAULT_ADDRESS, nothing);
    expect_fault("gfx1100", "ds_store_b128 v0, v[4:7] offset:1012", SIM_FAULT_ADDRESS, nothing);
    expect_fault("gfx942", "scratch_load_dwordx2 v[2:3], off, off offset:60", SIM_FAULT_ADDRESS, nothing);
    expect_fault("gfx942", "ds_add_u32 v0, v1", SIM_FAULT_MISALIGNED, [](Snippet &s) {
        s.set_exec(1);
        s.v(0, 0) = 2;
    });
    expect_fault("gfx1100", "ds_add_u64 v0, v[2:3] offset:4", SIM_FAULT_MISALIGNED, nothing);
    expect_fault("gfx1100", "flat_atomic_add_u32 v[0:1], v2", SIM_FAULT_MISALIGNED, [](Snippet &s) {
        s.set_exec(1);
        s.set_v64(0, 0, SIM_SHARED_BASE + 6);
    });
}

/* The last byte of an allocation is in it, the next is not; the lane and the address are told. */
TEST(SimFaults, ExactBounds)
{
    for (const bool past : {false, true}) {
        Snippet s("gfx1100", "global_load_u16 v2, v[0:1], off");
        Buffer b(s.device, 101);
        for (uint32_t lane = 0; lane < 32; lane++) s.set_v64(0, lane, b.at + (lane == 9 ? 99 + past : lane));
        EXPECT_EQ(s.run(), !past);
        if (!past) continue;
        EXPECT_EQ(s.error.status, SIM_FAULT_ADDRESS);
        EXPECT_TRUE(s.error.has_address);
        EXPECT_EQ(s.error.address, b.at + 100);
        EXPECT_TRUE(s.error.has_thread);
        EXPECT_EQ(s.error.thread[0], 9u);
    }
}

/* A lane that does not execute may hold any address. */
TEST(SimFaults, MaskedLanes)
{
    Snippet s("gfx1100", "global_load_b32 v2, v[0:1], off\nds_load_b32 v3, v4\nglobal_atomic_add_u32 v[0:1], v2, off");
    Buffer b(s.device, 256);
    for (uint32_t lane = 0; lane < 32; lane++) {
        s.set_v64(0, lane, lane == 4 ? b.at : 12345);
        s.v(4, lane) = lane == 4 ? 0 : 0xfffffff0;
    }
    s.set_exec(1 << 4);
    s.go();
    Snippet none("gfx942", "global_store_dword v[0:1], v2, off\nds_append v1");
    none.set_exec(0);
    none.go();
}

}  // namespace
