/* lib_harness.h - every meaning of a family, at every level that the CPU runs, against conformance/reference.
 *
 * The meanings come from the instruction table, so that none can be forgotten; one without a reference, or without a handler, fails.
 * A meaning sees: all values of a single source of 8 or 16 bits (packed sources: in each half, the halves
 * different); the cross product of special values of its types; random values. Each run also
 * checks that nothing beside the destinations is written, and that a destination may lie on a source.
 */
#ifndef LIB_HARNESS_H
#define LIB_HARNESS_H

#include <gtest/gtest.h>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>
extern "C" {
#include "conformance/reference/reference.h"
#include "ptx/isa.h"
}
#include "lib_levels.h"

extern "C" {
#if defined(__x86_64__)
extern const lib_handler pxl_handlers_v2[], pxl_handlers_v3[], pxl_handlers_v4[];
#else
extern const lib_handler pxl_handlers_generic[];
#endif
/* The width-1 text compiled for the host, one lane a call (tests/width1); absent when not linked. */
extern const lib_handler pxl_handlers_width1[] __attribute__((weak));
}

struct lib_meaning {
    std::string name;
    uint32_t id;
    std::vector<isa_elem> elems;
};

/* The distinct meanings of a family, with their signatures. */
inline std::vector<lib_meaning> lib_meanings(const char *family)
{
    std::vector<lib_meaning> all;
    std::set<std::string> seen;
    for (uint32_t i = 0; i < isa_form_count; i++) {
        const isa_form &form = isa_forms[i];
        if (strcmp(form.family, family))
            continue;
        isa_tuple t = {};
        for (uint32_t g = 0; g < form.ngroups; g++)
            t.choice[g] = form.groups[g].optional ? 0 : 1;
        for (bool more = true; more;) {
            char name[128];
            isa_elem elems[ISA_MAX_ELEMS];
            EXPECT_TRUE(isa_meaning_name(&form, &t, name, sizeof name)) << form.pattern;
            if (name[0] && name[0] != '@' && seen.insert(name).second) {
                uint32_t n = isa_signature(&form, &t, elems);
                all.push_back({name, isa_meaning_id(name), {elems, elems + n}});
            }
            uint32_t g = 0;
            for (; g < form.ngroups; g++) {
                if (t.choice[g] < form.groups[g].count) {
                    t.choice[g]++;
                    break;
                }
                t.choice[g] = form.groups[g].optional ? 0 : 1;
            }
            more = g < form.ngroups;
        }
    }
    return all;
}

/* ---- values ---- */

/* How a register of a type is made of numbers: `count` of `bits` bits every `step` bits; format when they are floats. */
struct lib_kind {
    int bits, step, count;
    bool is_signed;
    const ref_format *format;
};

inline lib_kind lib_kind_of(ptx_type type)
{
    const char *name = ptx_type_name(type);
    int total = (int)ptx_type_bits(type), count = 1;
    const char *x = strchr(name, 'x');
    size_t stem = x ? (size_t)(x - name) : strlen(name);
    if (x)
        count = atoi(x + 1);
    lib_kind k = {total / count, total / count, count, name[0] == 's', nullptr};
    k.format = name[0] == 'u' ? nullptr : ref_find_format(name, (int)stem);
    if (k.format)
        k.bits = k.format->exponent + k.format->fraction + 1;
    if (k.format && k.format->exponent == 8 && k.format->fraction == 10)
        k.format = nullptr, k.bits = k.step; /* tf32: only ever a destination */
    return k;
}

inline std::vector<uint64_t> lib_specials(const lib_kind &k)
{
    const uint64_t top = 1ull << (k.bits - 1), mask = k.bits == 64 ? ~0ull : (1ull << k.bits) - 1;
    std::set<uint64_t> s;
    if (k.format) {
        const int f = k.format->fraction;
        const uint64_t one = (uint64_t)k.format->bias << f, inf = k.format->largest + 1;
        for (uint64_t v : std::initializer_list<uint64_t>{0, 1, (1ull << f) - 1, 1ull << f, one - 1, one, one + 1, one + (1ull << (f - 1)), one + (2ull << f), k.format->largest,
                           one - (1ull << f), inf, inf + 1, inf - 2}) {
            s.insert(v & mask);
            s.insert((v | top) & mask);
        }
        if (k.format->nan)
            s.insert(k.format->nan);
        s.insert(mask); /* a NaN with all bits */
        return {s.begin(), s.end()};
    }
    for (uint64_t v : {0ull, 1ull, 2ull, 7ull, 31ull, 32ull, 33ull, 63ull, 64ull, 100ull, 255ull, 256ull})
        s.insert(v & mask);
    for (uint64_t v : {top, top - 1, top + 1, mask, mask - 1, mask / 3})
        s.insert(v & mask);
    return {s.begin(), s.end()};
}

/* One number: a special one, any bits, a float of moderate size, or one with few significant bits. */
inline uint64_t lib_number(const lib_kind &k, const std::vector<uint64_t> &specials, lib_random &random)
{
    const uint64_t mask = k.bits == 64 ? ~0ull : (1ull << k.bits) - 1, any = random.next() & mask;
    switch (random.below(8)) {
    case 0: return specials[random.below((uint32_t)specials.size())];
    case 1: case 2: return any;
    case 3: case 4: {
        if (!k.format)
            return any >> random.below((uint32_t)k.bits);
        const int f = k.format->fraction;
        return ((any & ~(((1ull << k.format->exponent) - 1) << f)) | ((uint64_t)(k.format->bias - 6 + (int)random.below(13)) << f)) & mask;
    }
    default: {
        if (!k.format)
            return (random.next() & 1 ? any : ~(any >> random.below((uint32_t)k.bits))) & mask;
        const int f = k.format->fraction, cut = (int)random.below((uint32_t)f + 1); /* few bits give ties and exact results */
        return any & ~((1ull << cut) - 1) & ~(random.next() & 1 ? 0x3ull << (f + k.format->exponent - 2) : 0);
    }
    }
}

inline uint64_t lib_register(const lib_kind &k, const std::vector<uint64_t> &specials, lib_random &random)
{
    uint64_t r = 0;
    for (int i = 0; i < k.count; i++)
        r |= lib_number(k, specials, random) << (i * k.step);
    return r;
}

/* ---- running ---- */

/* Immediates of a meaning: its name, the element's index in the signature, a random source. */
typedef std::function<uint32_t(const lib_meaning &, uint32_t, lib_random &)> lib_immediates;

class lib_runner {
public:
    static constexpr uint32_t CANARY = 0xA5C35A3Cu;
    lib_runner(const lib_meaning &meaning, lib_immediates imm) : m(meaning), immediates(imm), random(0x1234 + meaning.id)
    {
        for (const isa_elem &e : m.elems) {
            kinds.push_back(e.role == ISA_ROLE_SRC || e.role == ISA_ROLE_DST ? lib_kind_of(e.type) : lib_kind{});
            specials.push_back(e.role == ISA_ROLE_SRC && e.type != PTX_TYPE_PRED ? lib_specials(kinds.back()) : std::vector<uint64_t>());
            if (e.role == ISA_ROLE_SRC && e.type != PTX_TYPE_PRED)
                registers.push_back((uint32_t)kinds.size() - 1);
        }
        values.resize(m.elems.size());
    }

    /* All tests of the meaning; stops after a few failures. */
    void run(int random_batches)
    {
        if (!has_handlers() || !has_reference())
            return;
        if (registers.size() == 1 && (kinds[registers[0]].bits <= 16))
            exhaust();
        else if (!registers.empty())
            cross();
        for (int i = 0; i < random_batches && !failures; i++) {
            for (uint32_t r : registers)
                for (int lane = 0; lane < 32; lane++)
                    values[r][lane] = lib_register(kinds[r], specials[r], random);
            batch(i < 2);
        }
    }
    uint64_t evaluated = 0;
    int failures = 0;

private:
    typedef std::array<uint64_t, 32> lanes;
    const lib_meaning &m;
    lib_immediates immediates;
    lib_random random;
    std::vector<lib_kind> kinds;
    std::vector<std::vector<uint64_t>> specials;
    std::vector<uint32_t> registers; /* the sources that are registers, by element */
    std::vector<lanes> values;       /* sources and immediates as given, destinations as expected */

    struct level { std::string name; lib_handler handler; bool one_lane; };
    std::vector<level> levels;

    bool has_handlers()
    {
#if defined(__x86_64__)
        const lib_handler *tables[] = {pxl_handlers_v2, pxl_handlers_v3, pxl_handlers_v4};
#else
        const lib_handler *tables[] = {pxl_handlers_generic};
#endif
        for (int l = 0; l < LIB_LEVEL_COUNT; l++) {
            if (!tables[l][m.id]) {
                ADD_FAILURE() << m.name << ": no handler at level " << lib_level_names[l];
                return false;
            }
            if (lib_level_runs(l))
                levels.push_back({lib_level_names[l], tables[l][m.id], false});
        }
        if (pxl_handlers_width1 && pxl_handlers_width1[m.id])
            levels.push_back({"width 1", pxl_handlers_width1[m.id], true});
        return !levels.empty();
    }

    bool has_reference()
    {
        uint64_t s[ISA_MAX_ELEMS] = {}, d[ISA_MAX_ELEMS];
        if (ref_eval(m.name.c_str(), s, d))
            return true;
        ADD_FAILURE() << m.name << " has no reference";
        return false;
    }

    /* Every value of a number, in each of the places of the register. */
    void exhaust()
    {
        const lib_kind &k = kinds[registers[0]];
        const uint64_t mask = (1ull << k.bits) - 1;
        for (uint64_t v = 0; v <= mask && !failures; v += 32) {
            for (int lane = 0; lane < 32; lane++) {
                uint64_t r = 0;
                for (int i = 0; i < k.count; i++)
                    r |= ((v + (uint64_t)lane + (uint64_t)i * 0x5A5B * (mask > 255 ? 1 : 3)) & mask) << (i * k.step);
                values[registers[0]][lane] = r;
            }
            batch(v == 0);
        }
    }

    /* Special values against each other. */
    void cross()
    {
        uint64_t total = 1, n = 0;
        for (uint32_t r : registers)
            total *= specials[r].size();
        const uint64_t stride = total > 20000 ? total / 20000 | 1 : 1;
        for (uint64_t at = 0; at < total && !failures;) {
            for (int lane = 0; lane < 32; lane++, at += stride) {
                uint64_t pick = at % total;
                for (uint32_t r : registers) {
                    uint64_t v = 0;
                    for (int i = 0; i < kinds[r].count; i++) /* the other places: something else */
                        v |= (i == (int)(n & 1) % kinds[r].count ? specials[r][pick % specials[r].size()] : lib_number(kinds[r], specials[r], random)) << (i * kinds[r].step);
                    values[r][lane] = v;
                    pick /= specials[r].size();
                }
            }
            n++;
            batch(false);
            if (at >= total && n % 2 && kinds[registers[0]].count > 1)
                break;
        }
    }

    static uint32_t bytes_of(const isa_elem &e) { return e.type == PTX_TYPE_PRED ? 4 : 32 * ptx_type_bytes(e.type); }

    /* Fills predicates and immediates, evaluates the reference, compares every level. */
    void batch(bool alias)
    {
        for (size_t i = 0; i < m.elems.size(); i++) {
            if (m.elems[i].role == ISA_ROLE_SRC && m.elems[i].type == PTX_TYPE_PRED) {
                const uint64_t bits = random.next();
                for (int lane = 0; lane < 32; lane++)
                    values[i][lane] = bits >> lane & 1;
            } else if (m.elems[i].role == ISA_ROLE_IMM) {
                values[i].fill(immediates(m, (uint32_t)i, random));
            }
        }
        expect();
        for (const level &l : levels) {
            compare(l, -1);
            for (size_t i = 0; alias && i < m.elems.size(); i++)
                if (m.elems[i].role == ISA_ROLE_SRC && m.elems[i].type != PTX_TYPE_PRED && ptx_type_bytes(m.elems[i].type) == ptx_type_bytes(m.elems[0].type))
                    compare(l, (int)i);
        }
    }

    void expect()
    {
        for (int lane = 0; lane < 32; lane++) {
            uint64_t s[ISA_MAX_ELEMS] = {}, d[ISA_MAX_ELEMS] = {};
            int n = 0, k = 0;
            for (size_t i = 0; i < m.elems.size(); i++)
                if (m.elems[i].role != ISA_ROLE_DST)
                    s[n++] = values[i][lane];
            ref_eval(m.name.c_str(), s, d);
            for (size_t i = 0; i < m.elems.size(); i++)
                if (m.elems[i].role == ISA_ROLE_DST)
                    values[i][lane] = d[k++];
        }
        evaluated += 32;
    }

    static void put(char *at, ptx_type type, int lane, uint64_t v)
    {
        if (type == PTX_TYPE_PRED) {
            uint32_t bits;
            memcpy(&bits, at, 4);
            bits = (bits & ~(1u << lane)) | (uint32_t)(v & 1) << lane;
            memcpy(at, &bits, 4);
        } else {
            uint32_t n = ptx_type_bytes(type);
            memcpy(at + (uint32_t)lane * n, &v, n);
        }
    }
    static uint64_t get(const char *at, ptx_type type, int lane)
    {
        uint64_t v = 0;
        if (type == PTX_TYPE_PRED) {
            memcpy(&v, at, 4);
            return v >> lane & 1;
        }
        uint32_t n = ptx_type_bytes(type);
        memcpy(&v, at + (uint32_t)lane * n, n);
        return v;
    }

    /* One run of a level; with on >= 0 the first destination lies on that source. */
    void compare(const level &l, int on)
    {
        alignas(64) static char file[ISA_MAX_ELEMS * 320];
        uint32_t offset[ISA_MAX_ELEMS], used = 0;
        if (l.one_lane) {
            compare_one_lane(l);
            return;
        }
        for (size_t i = 0; i < sizeof file / 4; i++)
            memcpy(file + 4 * i, &CANARY, 4);
        for (size_t i = 0; i < m.elems.size(); i++) {
            const isa_elem &e = m.elems[i];
            offset[i] = e.role == ISA_ROLE_IMM ? (uint32_t)values[i][0] : used;
            if (e.role == ISA_ROLE_IMM)
                continue;
            for (int lane = 0; e.role == ISA_ROLE_SRC && lane < 32; lane++)
                put(file + used, e.type, lane, values[i][lane]);
            used += (bytes_of(e) + 63) / 64 * 64 + 64;
        }
        if (on >= 0)
            offset[0] = offset[on];
        l.handler(file, offset);
        for (size_t i = 0; i < m.elems.size(); i++)
            if (m.elems[i].role == ISA_ROLE_DST)
                for (int lane = 0; lane < 32; lane++)
                    check(l, i, lane, get(file + offset[i], m.elems[i].type, lane), on);
        if (on < 0)
            check_canaries(l, file, offset);
    }

    void compare_one_lane(const level &l)
    {
        for (int lane = 0; lane < 32; lane++) {
            alignas(64) char file[ISA_MAX_ELEMS * 16] = {};
            uint32_t offset[ISA_MAX_ELEMS];
            for (size_t i = 0; i < m.elems.size(); i++) {
                offset[i] = m.elems[i].role == ISA_ROLE_IMM ? (uint32_t)values[i][0] : (uint32_t)i * 16;
                if (m.elems[i].role == ISA_ROLE_SRC)
                    memcpy(file + i * 16, &values[i][lane], 8);
            }
            l.handler(file, offset);
            for (size_t i = 0; i < m.elems.size(); i++)
                if (m.elems[i].role == ISA_ROLE_DST)
                    check(l, i, lane, get(file + i * 16, m.elems[i].type, 0), -1);
        }
    }

    void check_canaries(const level &l, const char *file, const uint32_t *offset)
    {
        for (size_t i = 0; i < m.elems.size(); i++) {
            if (m.elems[i].role != ISA_ROLE_DST)
                continue;
            uint32_t end = bytes_of(m.elems[i]), after;
            for (uint32_t at = end; at < (end + 63) / 64 * 64 + 64; at += 4) {
                memcpy(&after, file + offset[i] + at, 4);
                if (after != CANARY && !failures++)
                    ADD_FAILURE() << m.name << " at " << l.name << " writes past its destination " << i;
            }
        }
    }

    void check(const level &l, size_t element, int lane, uint64_t got, int on)
    {
        if (got == values[element][lane] || failures >= 3)
            return;
        failures++;
        char line[512];
        int n = snprintf(line, sizeof line, "%s at %s%s: lane %d, element %zu is %#llx, not %#llx, of", m.name.c_str(), l.name.c_str(), on >= 0 ? ", destination on a source" : "",
                         lane, element, (unsigned long long)got, (unsigned long long)values[element][lane]);
        for (size_t i = 0; i < m.elems.size() && n < (int)sizeof line - 24; i++)
            if (m.elems[i].role != ISA_ROLE_DST)
                n += snprintf(line + n, sizeof line - (size_t)n, " %#llx", (unsigned long long)values[i][lane]);
        ADD_FAILURE() << line;
    }
};

inline uint32_t lib_any_immediate(const lib_meaning &, uint32_t, lib_random &random) { return random.below(256); }

/* Tests a whole family, or the part of it whose names `part` accepts. */
inline void lib_check_family(const char *family, int random_batches, lib_immediates imm = lib_any_immediate,
                             std::function<bool(const std::string &)> part = nullptr)
{
    uint64_t evaluated = 0;
    int meanings = 0, failed = 0;
    for (const lib_meaning &m : lib_meanings(family)) {
        if (part && !part(m.name))
            continue;
        lib_runner runner(m, imm);
        runner.run(random_batches);
        evaluated += runner.evaluated;
        failed += runner.failures > 0;
        meanings++;
        if (failed > 30)
            break;
    }
    EXPECT_GT(meanings, 0);
    printf("%d meanings, %llu evaluations of the reference, %d meanings failed\n", meanings, (unsigned long long)evaluated, failed);
}

#endif
