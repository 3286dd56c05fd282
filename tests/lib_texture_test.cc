/* lib_texture_test.cc - every texture and surface meaning, at every level that the CPU runs, against conformance/reference/ref_texture.c.
 *
 * Images of random shape, format and sampler lie against a page that cannot be read, and bytes between rows, slices and levels hold
 * noise, so that an access outside the texels faults or is seen. Lanes have different handles, or the same; lanes that
 * do not execute have a handle that cannot be read.
 */
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include "lib_harness.h"
extern "C" {
#include "conformance/reference/ref_texture.h"
}
#include "ptx/lib/texture.h"

namespace {

const uint64_t UNREADABLE = 0xDEAD000000001000u;
const uint32_t CANARY = 0xA5C35A3Cu;

float float_of(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
uint32_t bits_of(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

/* ---- images ---- */

/* Memory whose first or last byte touches a page without access. */
class guarded {
public:
    guarded(size_t bytes, bool at_end) : size(bytes)
    {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
        total = body + 2 * page;
        map = (uint8_t *)mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED || mprotect(map + page, body, PROT_READ | PROT_WRITE))
            abort();
        data = map + page + (at_end ? body - bytes : 0);
    }
    ~guarded() { munmap(map, total); }
    uint8_t *data;
    size_t size;

private:
    uint8_t *map;
    size_t total;
};

struct shape { int width, height, depth, layers; bool cube; };

struct image {
    pxl_texture texture;
    ref_texture reference;
    std::unique_ptr<guarded> memory;
    uint64_t handle() const { return (uint64_t)(uintptr_t)&texture; }
};

uint32_t component_bytes(uint32_t format) { return format <= PXL_TEXEL_S8 ? 1 : format <= PXL_TEXEL_S16 || format == PXL_TEXEL_F16 ? 2 : 4; }

/* Mostly numbers that tell texels apart, sometimes any bits. */
void fill(image &i, lib_random &r)
{
    const bool any = r.below(3) == 0;
    for (size_t k = 0; k < i.memory->size; k += 4) {
        uint32_t u = (uint32_t)r.next();
        if (!any && i.texture.format == PXL_TEXEL_F16)
            u = (u & 0x8fff8fffu) | 0x30003000u;
        if (!any && i.texture.format == PXL_TEXEL_F32)
            u = (u & 0x80ffffffu) | 0x3f000000u;
        memcpy(i.memory->data + k, &u, std::min<size_t>(4, i.memory->size - k));
    }
}

shape shape_for(pxl_geometry g, lib_random &r)
{
    const uint32_t n = r.below(4) == 0 ? 3 : 24;
    shape s = {1 + (int)r.below(n), 1, 1, 1, false};
    if (r.below(6) == 0) /* an image of another kind than the instruction's */
        g = (pxl_geometry)r.below(7);
    if (g != PXL_1D && g != PXL_A1D)
        s.height = 1 + (int)r.below(n);
    if (g == PXL_3D)
        s.depth = 1 + (int)r.below(n / 2 + 1);
    if (g == PXL_A1D || g == PXL_A2D)
        s.layers = 1 + (int)r.below(5);
    if (g >= PXL_CUBE) {
        s.cube = true;
        s.height = s.width;
        s.layers = 6 * (g == PXL_ACUBE ? 1 + (int)r.below(3) : 1);
    }
    return s;
}

void set_sampler(pxl_texture &t, bool plain, lib_random &r)
{
    t.normalized = r.below(2);
    t.filter = r.below(3) != 0;
    t.mip_filter = r.below(2);
    t.read = plain || r.below(2);
    t.srgb = !plain && r.below(4) == 0;
    for (uint32_t &a : t.address)
        a = r.below(4);
    for (uint32_t &b : t.border)
        b = r.below(2) ? 0 : bits_of((float)r.below(100) / 4);
    t.lod_bias = r.below(2) ? 0 : (float)r.below(64) / 16 - 2;
    t.lod_min = r.below(2) ? 0 : (float)r.below(40) / 16;
    t.lod_max = r.below(2) ? 16 : (float)r.below(80) / 16;
}

void set_reference(image &i)
{
    const pxl_texture &t = i.texture;
    ref_texture &f = i.reference;
    f = {};
    f.width = (int)t.width, f.height = (int)t.height, f.depth = (int)t.depth, f.layers = (int)t.layers, f.levels = (int)t.levels;
    f.texel = (ref_texel)t.format, f.channels = (int)t.channels;
    for (int k = 0; k < 3; k++)
        f.address[k] = (ref_address)t.address[k];
    f.linear = t.filter, f.mip_linear = t.mip_filter, f.normalized_coords = t.normalized, f.read_normalized = t.read;
    f.srgb = t.srgb, f.cube = t.cube;
    f.lod_bias = t.lod_bias, f.lod_min = t.lod_min, f.lod_max = t.lod_max;
    memcpy(f.border, t.border, sizeof f.border);
    for (uint32_t l = 0; l < t.levels; l++)
        f.level[l] = {i.memory->data + t.offset[l], t.pitch[l], t.slice[l]};
}

/* Lays the levels out, with or without gaps; returns the bytes up to the end of the very last texel. */
uint64_t lay_out(pxl_texture &t, lib_random &r)
{
    const uint64_t bytes = pxl_texel_bytes(t.format, t.channels);
    const bool gaps = r.below(2);
    uint64_t at = 0;
    for (uint32_t l = 0; l < t.levels; l++) {
        const uint64_t w = std::max(1u, t.width >> l), h = std::max(1u, t.height >> l), d = std::max(1u, t.depth >> l) * t.layers;
        t.pitch[l] = w * bytes + (gaps ? r.below(6) * bytes : 0);
        t.slice[l] = t.pitch[l] * (h + (gaps ? r.below(3) : 0));
        t.offset[l] = at;
        at += l == t.levels - 1 ? t.slice[l] * (d - 1) + t.pitch[l] * (h - 1) + w * bytes : (t.slice[l] * d + 15) / 16 * 16;
    }
    return at;
}

/* `plain` images are those that texture_warp.h takes. */
std::unique_ptr<image> make_image(pxl_geometry g, bool plain, lib_random &r)
{
    auto i = std::make_unique<image>();
    const shape s = shape_for(g, r);
    static const uint8_t channels[] = {1, 2, 4};
    const uint32_t any = r.below(8), format = !plain ? any : any < 2 ? (uint32_t)PXL_TEXEL_U8 : PXL_TEXEL_F16 + (any & 1);
    const uint32_t count = !plain ? channels[r.below(3)] : format != PXL_TEXEL_F32 || r.below(2) ? 4 : 1;
    pxl_texture &t = i->texture;
    t = pxl_texture_describe(0, (uint32_t)s.width, (uint32_t)s.height, (uint32_t)s.depth, format, count);
    EXPECT_EQ(pxl_texel_bytes(format, count), component_bytes(format) * count);
    EXPECT_EQ(t.pitch[0], t.width * component_bytes(format) * count);
    EXPECT_EQ(t.slice[0], t.pitch[0] * t.height);
    t.layers = (uint32_t)s.layers;
    t.cube = s.cube;
    set_sampler(t, plain, r);
    uint32_t most = 1;
    for (int n = std::max({s.width, s.height, s.depth}); n > 1; n /= 2)
        most++;
    t.levels = r.below(3) ? 1 : 1 + r.below(most);
    i->memory = std::make_unique<guarded>(lay_out(t, r), r.below(2));
    t.base = (uint64_t)(uintptr_t)i->memory->data;
    fill(*i, r);
    set_reference(*i);
    return i;
}

/* ---- coordinates ---- */

float coordinate(uint32_t n, bool normalized, lib_random &r)
{
    static const float special[] = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 1e-30f, -1e-30f, 1e-42f, -1e-42f, 0x1p24f, -0x1p24f, 0x1p30f, 0x1p31f, -0x1p31f, 1e12f};
    float x;
    switch (r.below(6)) {
    case 0: return special[r.below(sizeof special / sizeof *special)];
    case 1: return float_of((uint32_t)r.next());
    case 2: x = (float)((int)r.below(n * 6 + 4) - (int)(n * 2)) / 2; break;                        /* edges and centres */
    case 3: x = (float)((int)r.below(n * 4 * 512) - (int)(n * 512)) / 512; break;                  /* ties of the weight */
    default: x = (float)((double)r.next() * 0x1p-64 * 4 * n - 1.5 * n); break;
    }
    if (r.below(4) == 0)
        x = nextafterf(x, r.below(2) ? INFINITY : -INFINITY);
    return normalized ? x / (float)n : x;
}

int32_t texel_index(uint32_t n, lib_random &r)
{
    static const int32_t special[] = {INT32_MIN, INT32_MAX, -1, INT32_MIN + 1};
    switch (r.below(6)) {
    case 0: return (int32_t)r.next();
    case 1: return special[r.below(4)];
    default: return (int32_t)r.below(4 * n) - (int32_t)n;
    }
}

/* ---- a meaning by its name ---- */

struct form {
    std::vector<std::string> words;
    pxl_geometry geometry;
    bool has(const char *w) const { return std::find(words.begin(), words.end(), w) != words.end(); }
};

form form_of(const std::string &name)
{
    form f = {{}, PXL_2D};
    for (size_t at = 0; at <= name.size();) {
        size_t end = std::min(name.find('_', at), name.size());
        f.words.push_back(name.substr(at, end - at));
        at = end + 1;
    }
    static const char *const names[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
    for (int g = 0; g < 7; g++)
        if (f.has(names[g]))
            f.geometry = (pxl_geometry)g;
    return f;
}

bool layered(pxl_geometry g) { return g == PXL_A1D || g == PXL_A2D || g == PXL_ACUBE; }
int coordinates(pxl_geometry g) { return g == PXL_1D || g == PXL_A1D ? 1 : g == PXL_2D || g == PXL_A2D ? 2 : 3; }

class runner {
public:
    runner(const lib_meaning &meaning) : m(meaning), f(form_of(meaning.name)), random(77 + meaning.id)
    {
#if defined(__x86_64__)
        const lib_handler *tables[] = {pxl_handlers_v2, pxl_handlers_v3, pxl_handlers_v4};
#else
        const lib_handler *tables[] = {pxl_handlers_generic};
#endif
        for (int l = 0; l < LIB_LEVEL_COUNT; l++)
            if (lib_level_runs(l)) {
                EXPECT_NE(tables[l][m.id], nullptr) << m.name;
                levels.push_back({lib_level_names[l], tables[l][m.id], false});
            }
        if (pxl_handlers_width1 && pxl_handlers_width1[m.id])
            levels.push_back({"width 1", pxl_handlers_width1[m.id], true});
    }

    void run(int batches)
    {
        for (int b = 0; b < batches && failures < 2; b++) {
            make_operands();
            for (const level &l : levels) {
                expect();
                execute(l, -1);
                if (b % 4 == 0 && f.words[0] != "sust")
                    alias(l);
            }
        }
    }
    int failures = 0;
    uint64_t lanes = 0;

private:
    struct level { const char *name; lib_handler handler; bool one_lane; };
    const lib_meaning &m;
    form f;
    lib_random random;
    std::vector<level> levels;
    std::vector<std::unique_ptr<image>> images;
    std::array<int, 32> which = {};
    uint32_t mask = 0;
    uint64_t values[ISA_MAX_ELEMS][32] = {};          /* by element */
    std::vector<std::vector<uint8_t>> before, after;  /* the images' bytes */

    const image &at(int lane) const { return *images[(size_t)which[(size_t)lane]]; }

    int first_source() const
    {
        int i = 0;
        while (m.elems[(size_t)i].role == ISA_ROLE_DST)
            i++;
        return i;
    }

    void make_operands()
    {
        const bool plain = f.words[0] == "tex" && f.geometry == PXL_2D && random.below(2);
        const uint32_t count = plain || random.below(2) ? 1 : 3;
        images.clear();
        for (uint32_t i = 0; i < count; i++)
            images.push_back(make_image(f.geometry, plain, random));
        before.clear();
        for (const auto &i : images)
            before.emplace_back(i->memory->data, i->memory->data + i->memory->size);
        static const uint32_t masks[] = {0xffffffffu, 0, 1u << 31};
        mask = random.below(2) ? masks[random.below(8) < 6 ? 0 : 1 + random.below(2)] : (uint32_t)random.next();
        for (int lane = 0; lane < 32; lane++) {
            which[(size_t)lane] = (int)random.below(count);
            make_lane(lane);
        }
    }

    bool is_query() const { return f.words[0] == "txq" || f.words[0] == "suq"; }
    bool is_surface() const { return f.words[0] == "suld" || f.words[0] == "sust"; }

    void make_lane(int lane)
    {
        const pxl_texture &t = at(lane).texture;
        const bool executes = mask >> lane & 1, cube = f.geometry >= PXL_CUBE;
        const uint32_t extent[3] = {t.width, t.height, t.depth};
        int e = first_source();
        values[e++][lane] = executes ? at(lane).handle() : UNREADABLE;
        if (!is_query() && layered(f.geometry))
            values[e++][lane] = random.below(8) ? random.below(t.layers + 2) : random.next() & 0xffffffffu;
        for (int k = 0; !is_query() && k < coordinates(f.geometry); k++, e++) {
            if (m.elems[(size_t)e].type == PTX_TYPE_S32) {
                int32_t i = texel_index(extent[k], random);
                if (is_surface() && k == 0 && random.below(8)) /* in bytes */
                    i = (int32_t)((uint32_t)i * pxl_texel_bytes(t.format, t.channels)) + (random.below(4) ? 0 : (int32_t)random.below(4));
                values[e][lane] = (uint32_t)i;
            } else
                values[e][lane] = bits_of(coordinate(cube ? 2 : extent[k], t.normalized && !cube, random));
        }
        if (cube && random.below(3) == 0) /* equal components */
            values[e - 1][lane] = values[e - 2 - (int)random.below(2)][lane] ^ (random.below(2) ? 0x80000000u : 0);
        for (; e < (int)m.elems.size(); e++)
            if (m.elems[(size_t)e].role == ISA_ROLE_SRC)
                values[e][lane] = other_value();
    }

    /* Levels, gradients, and what is stored. */
    uint64_t other_value()
    {
        if (is_query())
            return random.below(4) ? random.below(6) : random.next() & 0xffffffffu;
        if (f.has("level"))
            return random.below(5) ? bits_of((float)((double)random.next() * 0x1p-64 * 8 - 2)) : bits_of(coordinate(4, false, random));
        if (f.has("grad"))
            return random.below(8) ? bits_of(ldexpf((float)random.next(), -64 - (int)random.below(10) + 3)) : bits_of(coordinate(4, false, random));
        return random.next();
    }

    /* ---- expectations ---- */

    ref_sample sample_of(int lane) const
    {
        ref_sample s = {};
        s.geometry = (ref_geometry)f.geometry;
        int e = first_source() + 1;
        if (layered(f.geometry))
            s.layer = (uint32_t)values[e++][lane];
        const bool integer = m.elems[(size_t)e].type == PTX_TYPE_S32;
        s.mode = integer ? REF_INDEX : f.has("level") ? REF_LOD : f.has("grad") ? REF_GRADIENTS : REF_BASE;
        for (int k = 0; k < coordinates(f.geometry); k++, e++) {
            s.index[k] = (int32_t)values[e][lane];
            s.at[k] = float_of((uint32_t)values[e][lane]);
        }
        if (s.mode == REF_LOD)
            s.lod = float_of((uint32_t)values[e][lane]);
        if (s.mode == REF_GRADIENTS) {
            const int n = (int)(m.elems.size() - (size_t)e - 1) / 2;
            for (int k = 0; k < n && k < 3; k++) {
                s.dx[k] = float_of((uint32_t)values[e + k][lane]);
                s.dy[k] = float_of((uint32_t)values[e + n + k][lane]);
            }
        }
        return s;
    }

    void expect_sample(int lane)
    {
        const ref_texture &t = at(lane).reference;
        const ref_sample s = sample_of(lane);
        uint32_t out[4];
        if (f.words[0] == "tex") {
            ref_texture_sample(&t, &s, out);
            if (f.words[f.words.size() - 2] == "f16") {
                uint16_t half[4];
                ref_texture_half(&t, out, half);
                for (int c = 0; c < 4; c++)
                    out[c] = half[c];
            }
        } else {
            const std::string &k = f.words[1];
            ref_texture_gather(&t, &s, k == "r" ? 0 : k == "g" ? 1 : k == "b" ? 2 : 3, out);
        }
        for (int c = 0; c < 4; c++)
            values[c][lane] = out[c];
    }

    void expect_query(int lane)
    {
        const bool level = f.words[1] == "level";
        std::string q = m.name.substr(m.name.find('_') + (level ? 7 : 1));
        q = q.substr(0, q.rfind('_'));
        uint32_t out = 0;
        EXPECT_TRUE(ref_texture_query(&at(lane).reference, q.c_str(), level ? (uint32_t)values[2][lane] : 0, &out)) << m.name << " asks for " << q;
        values[0][lane] = out;
    }

    void expect_surface(int lane)
    {
        int n = 0, e = first_source() + 1, data = 0;
        const bool store = f.words[0] == "sust";
        for (const isa_elem &x : m.elems)
            n += x.role == ISA_ROLE_DST;
        int32_t where[3] = {};
        if (layered(f.geometry))
            where[2] = (int32_t)values[e++][lane];
        for (int k = 0; k < coordinates(f.geometry); k++)
            where[k] = (int32_t)values[e++][lane];
        if (store) {
            data = e;
            n = (int)m.elems.size() - 1 - e;
        }
        const int bytes = (int)ptx_type_bytes(m.elems[(size_t)data].type);
        const int64_t offset = ref_surface_offset(&at(lane).reference, (ref_geometry)f.geometry, f.words.back().c_str(), where, bytes * n);
        std::vector<uint8_t> &memory = after[(size_t)which[(size_t)lane]];
        check_contains(lane, where, bytes * n, offset);
        for (int k = 0; k < n; k++) {
            if (store && offset >= 0)
                memcpy(&memory[(size_t)(offset + k * bytes)], &values[data + k][lane], (size_t)bytes);
            if (!store) {
                values[k][lane] = 0;
                if (offset >= 0)
                    memcpy(&values[k][lane], &memory[(size_t)(offset + k * bytes)], (size_t)bytes);
            }
        }
    }

    /* What a device asks before a .trap access. */
    void check_contains(int lane, const int32_t where[3], int bytes, int64_t offset)
    {
        if (f.words.back() != "trap")
            return;
        const bool inside = pxl_surface_contains(&at(lane).texture, f.geometry, (uint32_t)where[0], (uint32_t)where[1], (uint32_t)where[2], (uint32_t)bytes);
        EXPECT_EQ(inside, offset >= 0) << m.name;
    }

    void expect()
    {
        after = before;
        for (size_t i = 0; i < images.size(); i++)
            memcpy(images[i]->memory->data, before[i].data(), before[i].size());
        for (int lane = 0; lane < 32; lane++) {
            const std::string &op = f.words[0];
            if (!(mask >> lane & 1)) {
                for (size_t e = 0; m.elems[e].role == ISA_ROLE_DST; e++)
                    values[e][lane] = 0;
                continue;
            }
            lanes++;
            if (op == "tex" || op == "tld4")
                expect_sample(lane);
            else if (is_query())
                expect_query(lane);
            else
                expect_surface(lane);
        }
    }

    /* ---- running ---- */

    static uint32_t slot_bytes(const isa_elem &e) { return 32 * ptx_type_bytes(e.type); }

    void alias(const level &l)
    {
        for (size_t i = 0; i < m.elems.size(); i++)
            if (m.elems[i].role == ISA_ROLE_SRC && slot_bytes(m.elems[i]) == slot_bytes(m.elems[0]))
                execute(l, (int)i);
    }

    /* With on >= 0 the first destination lies on that source. */
    void execute(const level &l, int on)
    {
        alignas(64) static char file[ISA_MAX_ELEMS * 384];
        uint32_t offset[ISA_MAX_ELEMS], used = 0;
        if (l.one_lane) {
            if (on < 0)
                execute_lanes(l);
            return;
        }
        for (size_t i = 0; i < sizeof file / 4; i++)
            memcpy(file + 4 * i, &CANARY, 4);
        for (size_t i = 0; i < m.elems.size(); i++) {
            const isa_elem &e = m.elems[i];
            const uint32_t n = ptx_type_bytes(e.type);
            offset[i] = used;
            if (e.role == ISA_ROLE_EXEC) {
                memcpy(file + used, &mask, 4);
                used += 64;
                continue;
            }
            for (int lane = 0; e.role == ISA_ROLE_SRC && lane < 32; lane++)
                memcpy(file + used + (uint32_t)lane * n, &values[i][lane], n);
            used += (slot_bytes(e) + 63) / 64 * 64 + 64;
        }
        if (on >= 0)
            offset[0] = offset[on];
        l.handler(file, offset);
        for (size_t i = 0; i < m.elems.size() && m.elems[i].role == ISA_ROLE_DST; i++) {
            const uint32_t n = ptx_type_bytes(m.elems[i].type);
            for (int lane = 0; lane < 32; lane++) {
                uint64_t got = 0;
                memcpy(&got, file + offset[i] + (uint32_t)lane * n, n);
                check(l.name, i, lane, got);
            }
            uint32_t behind;
            memcpy(&behind, file + offset[i] + (slot_bytes(m.elems[i]) + 63) / 64 * 64, 4);
            EXPECT_EQ(behind, CANARY) << m.name << " at " << l.name;
        }
        check_memory(l.name);
    }

    void execute_lanes(const level &l)
    {
        for (int lane = 0; lane < 32; lane++) {
            alignas(64) char file[ISA_MAX_ELEMS * 16] = {};
            uint32_t offset[ISA_MAX_ELEMS];
            for (size_t i = 0; i < m.elems.size(); i++) {
                offset[i] = (uint32_t)i * 16;
                const uint64_t v = m.elems[i].role == ISA_ROLE_EXEC ? mask >> lane & 1 : values[i][lane];
                if (m.elems[i].role != ISA_ROLE_DST)
                    memcpy(file + i * 16, &v, 8);
            }
            l.handler(file, offset);
            for (size_t i = 0; i < m.elems.size() && m.elems[i].role == ISA_ROLE_DST; i++) {
                uint64_t got = 0;
                memcpy(&got, file + i * 16, ptx_type_bytes(m.elems[i].type));
                check(l.name, i, lane, got);
            }
        }
        check_memory(l.name);
    }

    void check_memory(const char *name)
    {
        for (size_t i = 0; i < images.size(); i++)
            if (memcmp(images[i]->memory->data, after[i].data(), after[i].size()) && !failures++)
                ADD_FAILURE() << m.name << " at " << name << " leaves other bytes in the surface";
    }

    void check(const char *name, size_t element, int lane, uint64_t got)
    {
        if (got == values[element][lane] || failures >= 2)
            return;
        failures++;
        const pxl_texture &t = at(lane).texture;
        char line[1024];
        int n = snprintf(line, sizeof line, "%s at %s: lane %d, element %zu is %#llx, not %#llx; image %ux%ux%u, %u layers, %u levels, format %u x %u, address %u %u %u, filter %u, normalized %u, read %u; of",
                         m.name.c_str(), name, lane, element, (unsigned long long)got, (unsigned long long)values[element][lane], t.width, t.height, t.depth, t.layers, t.levels,
                         t.format, t.channels, t.address[0], t.address[1], t.address[2], t.filter, t.normalized, t.read);
        for (size_t i = 0; i < m.elems.size(); i++)
            if (m.elems[i].role == ISA_ROLE_SRC)
                n += snprintf(line + n, sizeof line - (size_t)n, " %#llx", (unsigned long long)values[i][lane]);
        ADD_FAILURE() << line;
    }
};

void check_part(const char *first_word, int batches)
{
    int meanings = 0, failed = 0;
    uint64_t lanes = 0;
    for (const lib_meaning &m : lib_meanings("texture")) {
        if (m.name.substr(0, m.name.find('_')) != first_word)
            continue;
        runner r(m);
        r.run(batches);
        lanes += r.lanes;
        failed += r.failures > 0;
        meanings++;
        if (failed > 10)
            break;
    }
    EXPECT_GT(meanings, 0);
    printf("%d meanings, %llu lanes, %d meanings failed\n", meanings, (unsigned long long)lanes, failed);
}

} // namespace

TEST(lib_texture, tex) { check_part("tex", 160); }
TEST(lib_texture, tld4) { check_part("tld4", 100); }
TEST(lib_texture, txq) { check_part("txq", 40); }
TEST(lib_texture, suq) { check_part("suq", 40); }
TEST(lib_texture, suld) { check_part("suld", 60); }
TEST(lib_texture, sust) { check_part("sust", 60); }

TEST(lib_texture, the_descriptor_fits_the_devices_places)
{
    EXPECT_LE(sizeof(pxl_texture), 512u);
    EXPECT_EQ(offsetof(pxl_texture, magic), 0u);
    EXPECT_EQ(offsetof(pxl_texture, offset) % 8, 0u);
}
