/* lib_texture_test.cc - every texture and surface form, at every level that the CPU runs, against conformance/reference/ref_texture.c.
 *
 * What a form asks for is read from its modifiers and operands, and compared with what its meaning does with the numbers that the table
 * gives it, so that a row with a wrong number fails.
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

struct shape { int width, height, depth, layers; bool cube; int samples; };

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
    shape s = {1 + (int)r.below(n), 1, 1, 1, false, (int)r.below(2)};
    if (r.below(6) == 0) /* an image of another kind than the instruction's */
        g = (pxl_geometry)r.below(7);
    if (g != PXL_1D && g != PXL_A1D)
        s.height = 1 + (int)r.below(n);
    if (g == PXL_3D)
        s.depth = 1 + (int)r.below(n / 2 + 1);
    if (g == PXL_A1D || g == PXL_A2D)
        s.layers = 1 + (int)r.below(5);
    if ((g == PXL_2D || g == PXL_A2D) && r.below(3) == 0) {
        s.samples = 1 << r.below(4);
        s.layers *= s.samples;
        s.layers += r.below(8) == 0; /* a rest that is no image */
    }
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
    f.samples = (int)t.samples;
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
    t.samples = (uint32_t)s.samples;
    t.surface = r.below(2);
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

/* ---- a form ---- */

struct range { int first, count; };

/* Which elements of the signature are what. Absent ones have the count 0. */
struct form {
    std::string name, meaning;
    uint32_t id;
    std::vector<std::string> words;                 /* the mnemonic, then the modifiers */
    std::vector<isa_elem> elems;
    std::vector<uint32_t> constants;                /* by element */
    pxl_geometry geometry;
    bool layered, multisample;
    range results, predicate, handle, at, level, gradient[2], offset, depth, data;
    bool has(const char *w) const { return std::find(words.begin(), words.end(), w) != words.end(); }
    const std::string &op() const { return words[0]; }
    const char *one_of(std::initializer_list<const char *> list) const
    {
        for (const char *w : list)
            if (has(w))
                return w;
        return nullptr;
    }
    bool is_query() const { return op() == "txq" || op() == "suq"; }
    bool is_surface() const { return op() == "suld" || op() == "sust" || op() == "sured"; }
    bool samples_x() const { return has("p"); }     /* sust.p, sured.p */
};

void place_operand(form &f, const isa_form &row, const isa_tuple &t, uint32_t k, int &at, bool &level)
{
    const isa_operand &o = row.operands[k];
    const int n = (int)isa_operand_count(&row, &t, k);
    const ptx_type type = isa_operand_type(&row, &t, k);
    const bool texture = f.op() == "tex" || f.op() == "tld4";
    switch (o.kind) {
    case ISA_OPERAND_DST: f.results = {at++, 1}; break;
    case ISA_OPERAND_DST_PRED: f.results = {at++, 1}; break;
    case ISA_OPERAND_DST_VECTOR:
        f.results = {at, n};
        at += n;
        if (o.with_pred)
            f.predicate = {at++, 1};
        break;
    case ISA_OPERAND_TEXTURE:
        f.handle = {at++, 1};
        f.at = {at, n};
        at += n;
        break;
    case ISA_OPERAND_ZERO: at += n; break;
    case ISA_OPERAND_CONSTANT: f.constants[(size_t)at++] = isa_operand_constant(&row, &t, k); break;
    case ISA_OPERAND_SRC_VECTOR: {
        range &where = !texture ? f.data : type == PTX_TYPE_S32 ? f.offset : f.gradient[f.gradient[0].count > 0];
        where = {at, n};
        at += n;
        break;
    }
    case ISA_OPERAND_SRC: {
        range &where = f.op() == "istypep" ? f.handle : !texture && !f.is_query() ? f.data : level ? f.level : f.depth;
        level = false;
        where = {at++, 1};
        break;
    }
    default: at++; break;       /* X */
    }
}

form form_of(const isa_form &row, const isa_tuple &t)
{
    form f = {};
    f.words.push_back(row.mnemonic);
    f.name = row.mnemonic;
    for (uint32_t g = 0; g < row.ngroups; g++)
        if (t.choice[g]) {
            f.words.push_back(row.groups[g].choices[t.choice[g] - 1]);
            f.name += "." + f.words.back();
        }
    for (uint32_t k = 0; k < row.noperands; k++)
        f.name += row.operands[k].kind == ISA_OPERAND_SRC_VECTOR ? " {}" : row.operands[k].kind == ISA_OPERAND_SRC ? " r" : row.operands[k].with_pred ? " |p" : "";
    char name[128];
    isa_elem elems[ISA_MAX_ELEMS];
    EXPECT_TRUE(isa_meaning_name(&row, &t, name, sizeof name));
    f.meaning = name;
    f.id = isa_meaning_id(name);
    f.elems.assign(elems, elems + isa_signature(&row, &t, elems));
    f.constants.assign(f.elems.size(), 0);
    static const struct { const char *name; pxl_geometry geometry; bool layered, multisample; } geometries[] = {
        {"1d", PXL_1D, false, false}, {"2d", PXL_2D, false, false}, {"3d", PXL_3D, false, false}, {"a1d", PXL_A1D, true, false},
        {"a2d", PXL_A2D, true, false}, {"cube", PXL_CUBE, false, false}, {"acube", PXL_ACUBE, true, false}, {"2dms", PXL_2D, false, true},
        {"a2dms", PXL_A2D, true, true}};
    f.geometry = PXL_2D;
    for (const auto &g : geometries)
        if (f.has(g.name))
            f.geometry = g.geometry, f.layered = g.layered, f.multisample = g.multisample;
    int at = 0;
    bool level = f.has("level");
    for (uint32_t k = 0; k < row.noperands; k++)
        place_operand(f, row, t, k, at, level);
    EXPECT_EQ(at, (int)f.elems.size()) << f.name;
    return f;
}

/* One form for each row and meaning and each set of numbers: cache operators and types of the same bits are left out. */
std::vector<form> forms_of(const std::string &mnemonic)
{
    std::vector<form> all;
    for (uint32_t i = 0; i < isa_form_count; i++) {
        const isa_form &row = isa_forms[i];
        if (mnemonic != row.mnemonic || strcmp(row.family, "texture") != 0)
            continue;
        EXPECT_TRUE(row.meaning[0] != 0 && row.meaning[0] != '@') << row.pattern;
        std::set<std::string> seen;
        isa_tuple t = {};
        for (uint32_t g = 0; g < row.ngroups; g++)
            t.choice[g] = row.groups[g].optional ? 0 : 1;
        for (bool more = true; more;) {
            form f = form_of(row, t);
            std::string key = f.meaning;
            for (uint32_t c : f.constants)
                key += " " + std::to_string(c);
            if (seen.insert(key).second)
                all.push_back(f);
            uint32_t g = 0;
            for (; g < row.ngroups; g++) {
                if (t.choice[g] < row.groups[g].count) {
                    t.choice[g]++;
                    break;
                }
                t.choice[g] = row.groups[g].optional ? 0 : 1;
            }
            more = g < row.ngroups;
        }
    }
    return all;
}

int coordinates(pxl_geometry g) { return g == PXL_1D || g == PXL_A1D ? 1 : g == PXL_2D || g == PXL_A2D ? 2 : 3; }

class runner {
public:
    explicit runner(const form &f) : f(f), random(seed_of(f))
    {
#if defined(__x86_64__)
        const lib_handler *tables[] = {pxl_handlers_v2, pxl_handlers_v3, pxl_handlers_v4};
#else
        const lib_handler *tables[] = {pxl_handlers_generic};
#endif
        for (int l = 0; l < LIB_LEVEL_COUNT; l++)
            if (lib_level_runs(l)) {
                EXPECT_NE(tables[l][f.id], nullptr) << f.name;
                levels.push_back({lib_level_names[l], tables[l][f.id], false});
            }
        if (pxl_handlers_width1 && pxl_handlers_width1[f.id])
            levels.push_back({"width 1", pxl_handlers_width1[f.id], true});
    }

    void run(int batches)
    {
        for (int b = 0; b < batches && failures < 2; b++) {
            make_operands();
            for (const level &l : levels) {
                expect();
                execute(l, -1);
                if (b % 4 == 0 && f.results.count > 0 && f.op() != "istypep")
                    alias(l);
            }
        }
    }
    int failures = 0;
    uint64_t lanes = 0;

private:
    static uint64_t seed_of(const form &f)
    {
        uint64_t seed = 77 + f.id;
        for (char c : f.name)
            seed = seed * 31 + (uint8_t)c;
        return seed;
    }

    struct level { const char *name; lib_handler handler; bool one_lane; };
    const form &f;
    lib_random random;
    std::vector<level> levels;
    std::vector<std::unique_ptr<image>> images;
    std::array<int, 32> which = {};
    alignas(8) const char no_texture[sizeof(pxl_texture)] = {};
    uint32_t mask = 0;
    uint64_t values[ISA_MAX_ELEMS][32] = {};          /* by element */
    std::vector<std::vector<uint8_t>> before, after;  /* the images' bytes */

    const image &at(int lane) const { return *images[(size_t)which[(size_t)lane]]; }

    void make_operands()
    {
        const bool plain = f.op() == "tex" && f.geometry == PXL_2D && random.below(2);
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

    void make_lane(int lane)
    {
        const pxl_texture &t = at(lane).texture;
        const bool executes = mask >> lane & 1, cube = f.geometry >= PXL_CUBE;
        const uint32_t extent[3] = {t.width, t.height, t.depth};
        for (auto &element : values)
            element[lane] = 0;
        values[f.handle.first][lane] = executes ? at(lane).handle() : UNREADABLE;
        if (f.op() == "istypep" && executes && random.below(3) == 0)
            values[f.handle.first][lane] = random.below(2) ? 0 : (uint64_t)(uintptr_t)&no_texture;
        int e = f.at.first;
        if (f.at.count && f.layered)
            values[e++][lane] = random.below(8) ? random.below(t.layers + 2) : random.next() & 0xffffffffu;
        if (f.at.count && f.multisample)
            values[e++][lane] = random.below(8) ? random.below(t.samples + 2) : random.next() & 0xffffffffu;
        for (int k = 0; f.at.count && k < coordinates(f.geometry); k++, e++) {
            if (indexed()) {
                int32_t i = texel_index(extent[k], random);
                if (f.is_surface() && k == 0 && !f.samples_x() && random.below(8)) /* in bytes */
                    i = (int32_t)((uint32_t)i * pxl_texel_bytes(t.format, t.channels)) + (random.below(4) ? 0 : (int32_t)random.below(4));
                values[e][lane] = (uint32_t)i;
            } else
                values[e][lane] = bits_of(coordinate(cube ? 2 : extent[k], t.normalized && !cube, random));
        }
        if (cube && random.below(3) == 0) /* equal components */
            values[e - 1][lane] = values[e - 2 - (int)random.below(2)][lane] ^ (random.below(2) ? 0x80000000u : 0);
        make_others(lane);
    }

    bool indexed() const { return f.is_surface() || f.words.back() == "s32"; } /* tex: the coordinates' type is last */

    /* A surface's value is often near to the limits of formats. */
    uint64_t stored_value()
    {
        static const float limits[] = {0, -0.0f, 1, -1, 0.5f, -0.5f, NAN, INFINITY, -INFINITY, 65520, 65519, 1e-8f, 6e-8f};
        if (!f.samples_x() || f.op() == "sured" || random.below(4) == 0)
            return random.next();
        switch (random.below(5)) {
        case 0: return bits_of(limits[random.below(sizeof limits / sizeof *limits)]);
        case 1: return (uint32_t)((int32_t)random.below(200000) - 100000);
        case 2: return bits_of(((float)random.below(600) + 0.5f) / (random.below(2) ? 255 : 127) - 1); /* ties */
        default: return bits_of((float)((double)random.next() * 0x1p-64 * 3 - 1.5));
        }
    }

    void make_others(int lane)
    {
        const pxl_texture &t = at(lane).texture;
        if (f.level.count && (f.is_query() || indexed()))
            values[f.level.first][lane] = random.below(4) ? (random.below(7) - (f.is_query() ? 0 : 1)) & 0xffffffffu : random.next() & 0xffffffffu;
        else if (f.level.count)
            values[f.level.first][lane] = random.below(5) ? bits_of((float)((double)random.next() * 0x1p-64 * 8 - 2)) : bits_of(coordinate(4, false, random));
        for (const range &g : f.gradient)
            for (int k = 0; k < g.count; k++)
                values[g.first + k][lane] = random.below(8) ? bits_of(ldexpf((float)random.next(), -64 - (int)random.below(10) + (indexed() ? 7 : 3)))
                                                            : bits_of(coordinate(4, false, random));
        for (int k = 0; k < f.offset.count; k++)
            values[f.offset.first + k][lane] = random.below(8) ? (random.below(16) - 8) & 0xffffffffu : random.next() & 0xffffffffu;
        if (f.depth.count) { /* often what a texel holds */
            const uint32_t texels = (uint32_t)(at(lane).memory->size / pxl_channel_bytes(t.format));
            uint32_t u = 0;
            memcpy(&u, at(lane).memory->data + random.below(texels) * pxl_channel_bytes(t.format), pxl_channel_bytes(t.format));
            const float number = t.format == PXL_TEXEL_F32 ? float_of(u) : t.format == PXL_TEXEL_F16 ? (float)ref_value(ref_find_format("f16", 3), u)
                               : t.read && t.format <= PXL_TEXEL_S16 ? (float)u / 255 : (float)u;
            values[f.depth.first][lane] = bits_of(random.below(3) ? number : random.below(2) ? (float)random.below(3) / 2 : coordinate(2, false, random));
        }
        for (int k = 0; k < f.data.count; k++)
            values[f.data.first + k][lane] = stored_value();
    }

    /* ---- expectations ---- */

    ref_sample sample_of(int lane) const
    {
        ref_sample s = {};
        s.geometry = (ref_geometry)f.geometry;
        s.multisample = f.multisample;
        s.mode = f.has("level") ? REF_LOD : f.has("grad") ? REF_GRADIENTS : REF_BASE;
        s.indexed = indexed();
        int e = f.at.first;
        if (f.layered)
            s.layer = (uint32_t)values[e++][lane];
        if (f.multisample)
            s.sample = (uint32_t)values[e++][lane];
        for (int k = 0; k < coordinates(f.geometry); k++, e++) {
            s.index[k] = (int32_t)values[e][lane];
            s.at[k] = float_of((uint32_t)values[e][lane]);
        }
        if (f.level.count) {
            s.lod = float_of((uint32_t)values[f.level.first][lane]);
            s.level = (int32_t)values[f.level.first][lane];
        }
        for (int k = 0; k < f.gradient[0].count && k < 3; k++) {
            s.dx[k] = float_of((uint32_t)values[f.gradient[0].first + k][lane]);
            s.dy[k] = float_of((uint32_t)values[f.gradient[1].first + k][lane]);
        }
        for (int k = 0; k < f.offset.count && k < 3; k++)
            s.offset[k] = (int32_t)values[f.offset.first + k][lane];
        s.compared = f.depth.count > 0;
        if (s.compared)
            s.depth = float_of((uint32_t)values[f.depth.first][lane]);
        return s;
    }

    void expect_sample(int lane)
    {
        const ref_texture &t = at(lane).reference;
        const ref_sample s = sample_of(lane);
        uint32_t out[4];
        if (f.op() == "tex")
            ref_texture_sample(&t, &s, out);
        else
            ref_texture_gather(&t, &s, f.has("r") ? 0 : f.has("g") ? 1 : f.has("b") ? 2 : 3, out);
        if (f.has("f16") || f.has("f16x2")) {
            uint16_t half[4];
            ref_texture_half(&t, &s, out, half);
            for (int c = 0; c < 4; c++)
                out[c] = half[c];
        }
        if (f.has("f16x2")) {
            out[0] |= out[1] << 16;
            out[1] = out[2] | out[3] << 16;
        }
        for (int c = 0; c < f.results.count; c++)
            values[c][lane] = out[c];
        if (f.predicate.count)
            values[f.predicate.first][lane] = 1;
    }

    void expect_type(int lane)
    {
        const bool handle = values[f.handle.first][lane] == at(lane).handle();
        values[0][lane] = handle && (f.has("texref") ? !at(lane).texture.surface : f.has("surfref") ? at(lane).texture.surface : false);
    }

    void expect_query(int lane)
    {
        std::string q = f.words[f.has("level") ? 2 : 1];
        uint32_t out = 0;
        EXPECT_TRUE(ref_texture_query(&at(lane).reference, q.c_str(), f.level.count ? (uint32_t)values[f.level.first][lane] : 0, &out)) << f.name << " asks for " << q;
        values[0][lane] = out;
    }

    void expect_surface(int lane)
    {
        const ref_texture &t = at(lane).reference;
        const bool store = f.op() == "sust", reduce = f.op() == "sured", formatted = store && f.samples_x();
        const range data = f.data.count ? f.data : f.results;
        int e = f.at.first;
        int32_t where[3] = {};
        if (f.layered)
            where[2] = (int32_t)values[e++][lane];
        for (int k = 0; k < coordinates(f.geometry); k++)
            where[k] = (int32_t)values[e++][lane];
        const int bytes = (int)ptx_type_bytes(f.elems[(size_t)data.first].type), all = formatted ? ref_texel_bytes(&t) : bytes * data.count;
        const int unit = f.samples_x() ? all : 1;
        const int64_t offset = ref_surface_offset(&t, (ref_geometry)f.geometry, f.one_of({"trap", "clamp", "zero"}), where, unit, all);
        uint8_t *memory = after[(size_t)which[(size_t)lane]].data() + offset;
        check_contains(lane, where, unit, all, offset);
        for (int k = 0; !store && !reduce && k < data.count; k++)
            values[k][lane] = 0;
        if (offset < 0)
            return;
        if (formatted) {
            uint32_t in[4] = {};
            for (int k = 0; k < data.count; k++)
                in[k] = (uint32_t)values[data.first + k][lane];
            ref_surface_encode(&t, in, memory);
        } else if (reduce) {
            uint64_t old = 0, value = 0;
            memcpy(&old, memory, (size_t)bytes);
            memcpy(&value, &values[data.first][lane], (size_t)bytes);
            const uint64_t result = ref_surface_reduce(&t, f.one_of({"add", "min", "max", "and", "or"}),
                                                       f.one_of({"u32", "s32", "u64", "s64", "b32", "b64"}), old, value);
            memcpy(memory, &result, (size_t)bytes);
        } else
            for (int k = 0; k < data.count; k++) {
                if (store)
                    memcpy(memory + k * bytes, &values[data.first + k][lane], (size_t)bytes);
                else
                    memcpy(&values[k][lane], memory + k * bytes, (size_t)bytes);
            }
    }

    /* What a device asks before a .trap access. */
    void check_contains(int lane, const int32_t where[3], int unit, int bytes, int64_t offset)
    {
        if (!f.has("trap"))
            return;
        const bool inside = pxl_surface_contains(&at(lane).texture, f.geometry, (int64_t)where[0] * unit, (uint32_t)where[1], (uint32_t)where[2], (uint32_t)bytes);
        EXPECT_EQ(inside, offset >= 0) << f.name;
    }

    void expect()
    {
        after = before;
        for (size_t i = 0; i < images.size(); i++)
            memcpy(images[i]->memory->data, before[i].data(), before[i].size());
        for (int lane = 0; lane < 32; lane++) {
            if (!(mask >> lane & 1)) {
                for (size_t e = 0; f.elems[e].role == ISA_ROLE_DST; e++)
                    values[e][lane] = 0;
                continue;
            }
            lanes++;
            if (f.op() == "tex" || f.op() == "tld4")
                expect_sample(lane);
            else if (f.op() == "istypep")
                expect_type(lane);
            else if (f.is_query())
                expect_query(lane);
            else
                expect_surface(lane);
        }
    }

    /* ---- running ---- */

    static bool is_pred(const isa_elem &e) { return e.type == PTX_TYPE_PRED; }
    static uint32_t slot_bytes(const isa_elem &e) { return is_pred(e) ? 4 : 32 * ptx_type_bytes(e.type); }

    void alias(const level &l)
    {
        for (size_t i = 0; i < f.elems.size(); i++)
            if (f.elems[i].role == ISA_ROLE_SRC && slot_bytes(f.elems[i]) == slot_bytes(f.elems[0]))
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
        for (size_t i = 0; i < f.elems.size(); i++) {
            const isa_elem &e = f.elems[i];
            const uint32_t n = ptx_type_bytes(e.type);
            offset[i] = e.role == ISA_ROLE_IMM ? f.constants[i] : used;
            if (e.role == ISA_ROLE_IMM)
                continue;
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
        for (size_t i = 0; i < f.elems.size() && f.elems[i].role == ISA_ROLE_DST; i++) {
            const uint32_t n = ptx_type_bytes(f.elems[i].type);
            for (int lane = 0; lane < 32; lane++) {
                uint64_t got = 0;
                if (is_pred(f.elems[i])) {
                    uint32_t bits;
                    memcpy(&bits, file + offset[i], 4);
                    got = bits >> lane & 1;
                } else
                    memcpy(&got, file + offset[i] + (uint32_t)lane * n, n);
                check(l.name, i, lane, got);
            }
            uint32_t behind;
            memcpy(&behind, file + offset[i] + (is_pred(f.elems[i]) ? 4 : (slot_bytes(f.elems[i]) + 63) / 64 * 64), 4);
            EXPECT_EQ(behind, CANARY) << f.name << " at " << l.name;
        }
        check_memory(l.name);
    }

    void execute_lanes(const level &l)
    {
        for (int lane = 0; lane < 32; lane++) {
            alignas(64) char file[ISA_MAX_ELEMS * 16] = {};
            uint32_t offset[ISA_MAX_ELEMS];
            for (size_t i = 0; i < f.elems.size(); i++) {
                offset[i] = f.elems[i].role == ISA_ROLE_IMM ? f.constants[i] : (uint32_t)i * 16;
                if (f.elems[i].role == ISA_ROLE_IMM)
                    continue;
                const uint64_t v = f.elems[i].role == ISA_ROLE_EXEC ? mask >> lane & 1 : values[i][lane];
                if (f.elems[i].role != ISA_ROLE_DST)
                    memcpy(file + i * 16, &v, 8);
            }
            l.handler(file, offset);
            for (size_t i = 0; i < f.elems.size() && f.elems[i].role == ISA_ROLE_DST; i++) {
                uint64_t got = 0;
                memcpy(&got, file + i * 16, ptx_type_bytes(f.elems[i].type));
                check(l.name, i, lane, got);
            }
        }
        check_memory(l.name);
    }

    void check_memory(const char *name)
    {
        for (size_t i = 0; i < images.size(); i++)
            if (memcmp(images[i]->memory->data, after[i].data(), after[i].size()) && !failures++)
                ADD_FAILURE() << f.name << " at " << name << " leaves other bytes in the surface";
    }

    void check(const char *name, size_t element, int lane, uint64_t got)
    {
        if (got == values[element][lane] || failures >= 2)
            return;
        failures++;
        const pxl_texture &t = at(lane).texture;
        char line[1024];
        int n = snprintf(line, sizeof line, "%s at %s: lane %d, element %zu is %#llx, not %#llx; image %ux%ux%u, %u layers, %u levels, format %u x %u, address %u %u %u, filter %u, normalized %u, read %u; of",
                         f.name.c_str(), name, lane, element, (unsigned long long)got, (unsigned long long)values[element][lane], t.width, t.height, t.depth, t.layers, t.levels,
                         t.format, t.channels, t.address[0], t.address[1], t.address[2], t.filter, t.normalized, t.read);
        for (size_t i = 0; i < f.elems.size(); i++)
            if (f.elems[i].role == ISA_ROLE_SRC)
                n += snprintf(line + n, sizeof line - (size_t)n, " %#llx", (unsigned long long)values[i][lane]);
        ADD_FAILURE() << line;
    }
};

void check_part(const char *mnemonic, int batches)
{
    int forms = 0, failed = 0;
    uint64_t lanes = 0;
    std::set<std::string> meanings;
    for (const form &f : forms_of(mnemonic)) {
        runner r(f);
        r.run(batches);
        lanes += r.lanes;
        failed += r.failures > 0;
        forms++;
        meanings.insert(f.meaning);
        if (failed > 10)
            break;
    }
    EXPECT_GT(forms, 0);
    printf("%d forms of %d meanings, %llu lanes, %d forms failed\n", forms, (int)meanings.size(), (unsigned long long)lanes, failed);
}

} // namespace

TEST(lib_texture, tex) { check_part("tex", 60); }
TEST(lib_texture, tld4) { check_part("tld4", 40); }
TEST(lib_texture, txq) { check_part("txq", 40); }
TEST(lib_texture, istypep) { check_part("istypep", 40); }
TEST(lib_texture, suq) { check_part("suq", 40); }
TEST(lib_texture, suld) { check_part("suld", 40); }
TEST(lib_texture, sust) { check_part("sust", 40); }
TEST(lib_texture, sured) { check_part("sured", 40); }

TEST(lib_texture, no_meaning_is_left_out)
{
    std::set<std::string> tested;
    for (const char *mnemonic : {"tex", "tld4", "txq", "istypep", "suq", "suld", "sust", "sured"})
        for (const form &f : forms_of(mnemonic))
            tested.insert(f.meaning);
    for (const lib_meaning &m : lib_meanings("texture"))
        EXPECT_TRUE(tested.count(m.name)) << m.name;
}

TEST(lib_texture, the_descriptor_fits_the_devices_places)
{
    EXPECT_LE(sizeof(pxl_texture), 512u);
    EXPECT_EQ(offsetof(pxl_texture, magic), 0u);
    EXPECT_EQ(offsetof(pxl_texture, offset) % 8, 0u);
}
