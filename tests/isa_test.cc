// isa_test.cc - the instruction table: that it knows the opcodes compilers print, that no opcode can be read in
// two ways, and that names, signatures and versions follow from rows as isa.h says.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "ptx/isa.h"
}

namespace {

std::vector<isa_candidate> readings(const std::string &opcode)
{
    isa_candidate out[ISA_MAX_CANDIDATES];
    bool known;
    uint32_t n = isa_match_opcode(opcode.data(), (uint32_t)opcode.size(), out, &known);
    return {out, out + n};
}

std::string meaning(const isa_form &form, const isa_tuple &tuple)
{
    char name[128];
    EXPECT_TRUE(isa_meaning_name(&form, &tuple, name, sizeof name));
    return name;
}

std::string meaning(const std::string &opcode)
{
    auto found = readings(opcode);
    return found.empty() ? "(none)" : meaning(*found[0].form, found[0].tuple);
}

std::string signature(const isa_candidate &c)
{
    isa_elem elems[ISA_MAX_ELEMS];
    static const char roles[] = {'d', 's', 'x', 'm', 'i'};
    std::string text;
    for (uint32_t i = 0, n = isa_signature(c.form, &c.tuple, elems); i < n; i++)
        text += (i ? " " : "") + std::string(1, roles[elems[i].role]) + ":" + ptx_type_name(elems[i].type);
    return text;
}

std::string signature(const std::string &opcode, size_t reading = 0)
{
    auto found = readings(opcode);
    return found.size() > reading ? signature(found[reading]) : "(none)";
}

std::string opcode_of(const isa_form &form, const isa_tuple &tuple)
{
    std::string text = form.mnemonic;
    for (uint32_t g = 0; g < form.ngroups; g++)
        if (tuple.choice[g])
            text += std::string(".") + form.groups[g].choices[tuple.choice[g] - 1];
    return text;
}

isa_tuple first_tuple(const isa_form &form)
{
    isa_tuple t{};
    for (uint32_t g = 0; g < form.ngroups; g++)
        t.choice[g] = form.groups[g].optional ? 0 : 1;
    return t;
}

bool next_tuple(const isa_form &form, isa_tuple &t)
{
    for (uint32_t g = 0; g < form.ngroups; g++) {
        if (t.choice[g] < form.groups[g].count) {
            t.choice[g]++;
            return true;
        }
        t.choice[g] = form.groups[g].optional ? 0 : 1;
    }
    return false;
}

double tuples(const isa_form &form)
{
    double n = 1;
    for (uint32_t g = 0; g < form.ngroups; g++)
        n *= form.groups[g].count + form.groups[g].optional;
    return n;
}

std::vector<isa_token> tokens_of(const isa_form &form, const isa_tuple &tuple)
{
    std::vector<isa_token> out;
    for (uint32_t g = 0; g < form.ngroups; g++)
        if (tuple.choice[g]) {
            const char *text = form.groups[g].choices[tuple.choice[g] - 1];
            out.push_back({text, (uint32_t)strlen(text)});
        }
    return out;
}

// The written operands as a parser can tell them apart: p predicate, r register or number, v braces, a address,
// t address with coordinates, l label, f function, g list. A predicate register is told from others by its type.
struct Operand {
    char shape;
    ptx_type type;
    uint32_t count;
    bool optional;
    bool operator==(const Operand &o) const
    {
        return shape == o.shape && count == o.count && ptx_type_bits(type) == ptx_type_bits(o.type);
    }
};

std::vector<Operand> written(const isa_form &form, const isa_tuple &tuple)
{
    std::vector<Operand> out;
    for (uint32_t i = 0; i < form.noperands; i++) {
        if (!isa_operand_written(&form, &tuple, i))
            continue;
        ptx_type type = isa_operand_type(&form, &tuple, i);
        uint32_t count = isa_operand_count(&form, &tuple, i);
        char shape = 'r';
        switch (form.operands[i].kind) {
        case ISA_OPERAND_DST_PRED: case ISA_OPERAND_SRC_PRED: case ISA_OPERAND_PRED_PAIR: shape = 'p'; break;
        case ISA_OPERAND_DST_VECTOR: case ISA_OPERAND_SRC_VECTOR: shape = count == 1 ? 'r' : 'v'; break;
        case ISA_OPERAND_ADDRESS: shape = 'a'; count = 1; break;
        case ISA_OPERAND_TEXTURE: shape = count ? 't' : 'a'; break;
        case ISA_OPERAND_LABEL: shape = 'l'; break;
        case ISA_OPERAND_FUNCTION: shape = 'f'; break;
        case ISA_OPERAND_LIST: shape = 'g'; break;
        default: break;
        }
        if (type == PTX_TYPE_PRED)
            shape = 'p';
        out.push_back({shape, type, count, form.operands[i].optional});
    }
    return out;
}

// Whether one statement could be read both ways with operands that mean different things.
bool confusable(const std::vector<Operand> &a, const std::vector<Operand> &b)
{
    size_t least_a = 0, least_b = 0;
    for (auto &o : a) least_a += !o.optional;
    for (auto &o : b) least_b += !o.optional;
    for (size_t n = std::max(least_a, least_b); n <= std::min(a.size(), b.size()); n++) {
        bool same_shape = true, same = true;
        for (size_t i = 0; i < n; i++) {
            bool vectors_differ = (a[i].shape == 'v' || a[i].shape == 't') && a[i].count != b[i].count;
            same_shape &= a[i].shape == b[i].shape && !vectors_differ;
            same &= a[i] == b[i];
        }
        if (same_shape && !same)
            return true;
    }
    return false;
}

TEST(Isa, KnowsEveryOpcodeOfTheSurvey)
{
    std::ifstream file(PTXB_SOURCE_DIR "/tests/data/opcodes.txt");
    ASSERT_TRUE(file);
    size_t n = 0;
    for (std::string opcode; std::getline(file, opcode); n++)
        EXPECT_FALSE(readings(opcode).empty()) << opcode;
    EXPECT_GT(n, 2500u);
}

TEST(Isa, UnknownWords)
{
    isa_candidate out[ISA_MAX_CANDIDATES];
    bool known = true;
    EXPECT_EQ(isa_match_opcode("frobnicate.u32", 14, out, &known), 0u);
    EXPECT_FALSE(known);
    EXPECT_EQ(isa_match_opcode("add.u33", 7, out, &known), 0u);
    EXPECT_TRUE(known);
    EXPECT_EQ(isa_match_opcode("add", 3, out, &known), 0u);
    EXPECT_EQ(isa_match_opcode("add.", 4, out, &known), 0u);
    EXPECT_EQ(isa_match_opcode("add..u32", 8, out, &known), 0u);
    EXPECT_EQ(isa_match_opcode("", 0, out, &known), 0u);
    std::string many = "add";
    for (int i = 0; i < 100; i++)
        many += ".u32";
    EXPECT_TRUE(readings(many).empty());
    EXPECT_EQ(isa_word_id("nosuchword", 10), 0u);
    EXPECT_NE(isa_word_id("shared::cta", 11), 0u);
}

TEST(Isa, ModifiersInAnyOrder)
{
    EXPECT_FALSE(readings("ldmatrix.sync.aligned.x4.m8n8.shared.b16").empty());
    EXPECT_FALSE(readings("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16").empty());
    EXPECT_FALSE(readings("ldmatrix.sync.aligned.trans.m8n8.x4.shared.b16").empty());
    for (const char *opcode : {"atom.add.acquire.sys.u32", "atom.acquire.sys.add.u32", "atom.acq_rel.gpu.global.inc.u32", "atom.global.sys.cas.b32"}) {
        auto found = readings(opcode);
        ASSERT_EQ(found.size(), 1u) << opcode;
        EXPECT_STREQ(isa_operation(found[0].form), "atom");
    }
    auto atom = readings("atom.exch.acquire.sys.shared::cta.b64")[0];
    EXPECT_STREQ(isa_choice(atom.form, &atom.tuple, "op"), "exch");
    EXPECT_STREQ(isa_choice(atom.form, &atom.tuple, "sem"), "acquire");
    EXPECT_STREQ(isa_choice(atom.form, &atom.tuple, "scope"), "sys");
    EXPECT_STREQ(isa_choice(atom.form, &atom.tuple, "space"), "shared::cta");
    EXPECT_EQ(isa_choice(atom.form, &atom.tuple, "vec"), nullptr);
    EXPECT_EQ(isa_choice(atom.form, &atom.tuple, "nothing"), nullptr);
    EXPECT_EQ(meaning("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32.satfinite"), "mma_m16n8k32_satfinite_s32_s8_u8_s32");
    EXPECT_EQ(meaning("div.ftz.rn.f32"), "div_rn_ftz_f32");
    // Types and layouts keep their order: these are other instructions, or none.
    EXPECT_TRUE(readings("mma.sync.aligned.m16n8k32.col.row.s32.s8.s8.s32").empty());
    EXPECT_TRUE(readings("cvt.rn.f32.f16").empty());
    EXPECT_TRUE(readings("add.u32.u32").empty());
    EXPECT_EQ(meaning("cvt.f32.f16"), "cvt_f32_f16");
    EXPECT_EQ(meaning("cvt.rn.f16.f32"), "cvt_rn_f16_f32");
}

TEST(Isa, MeaningNames)
{
    EXPECT_EQ(meaning("add.f32"), "add_rn_f32");
    EXPECT_EQ(meaning("add.rz.ftz.sat.f32"), "add_rz_ftz_sat_f32");
    EXPECT_EQ(meaning("mad.rn.f64"), "fma_rn_f64");
    EXPECT_EQ(meaning("setp.lo.u32"), "setp_lt_u32");
    EXPECT_EQ(meaning("setp.eq.b32"), "setp_eq_u32");
    EXPECT_EQ(meaning("setp.neu.and.ftz.f32"), "setp_neu_and_ftz_f32");
    EXPECT_EQ(meaning("set.nan.f16.f16"), "set_nan_f16_f16");
    EXPECT_EQ(meaning("set.le.s32.f32"), "set_le_u32_f32");
    EXPECT_EQ(meaning("selp.f64"), "selp_b64");
    EXPECT_EQ(meaning("mov.u32"), "mov_b32");
    EXPECT_EQ(meaning("max.NaN.xorsign.abs.f16x2"), "max_nan_xorsign_abs_f16x2");
    EXPECT_EQ(meaning("cvt.rn.relu.satfinite.f16x2.f32"), "cvt_rn_satfinite_relu_f16x2_f32");
    EXPECT_EQ(meaning("movmatrix.sync.aligned.m8n8.trans.b16"), "movmatrix_m8n8_trans_b16");
    EXPECT_EQ(meaning("tex.base.2d.v4.f16.s32"), "tex_2d_v4_f16_s32");
    EXPECT_EQ(meaning("sust.b.2d.v4.b16.zero"), "sust_b_v4_b16");
    EXPECT_EQ(meaning("ld.weak.global.ca.v4.u32"), "@ld");
}

TEST(Isa, Signatures)
{
    EXPECT_EQ(signature("add.f32"), "d:f32 s:f32 s:f32");
    EXPECT_EQ(signature("mul.wide.s32"), "d:s64 s:s32 s:s32");
    EXPECT_EQ(signature("addc.cc.s32"), "d:b32 s:b32 s:b32 s:pred d:pred");
    EXPECT_EQ(signature("setp.lt.f32"), "d:pred d:pred s:f32 s:f32");
    EXPECT_EQ(signature("setp.lt.or.f32"), "d:pred d:pred s:f32 s:f32 s:pred");
    EXPECT_EQ(signature("selp.f32"), "d:b32 s:b32 s:b32 s:pred");
    EXPECT_EQ(signature("mov.b64", 0), "d:b64 s:b64");
    EXPECT_EQ(signature("mov.b64", 1), "d:b64 s:b32 s:b32");
    EXPECT_EQ(signature("mov.b64", 2), "d:b64 s:b16 s:b16 s:b16 s:b16");
    EXPECT_EQ(signature("mov.b64", 3), "d:b32 d:b32 s:b64");
    EXPECT_EQ(signature("mov.b64", 4), "d:b16 d:b16 d:b16 d:b16 s:b64");
    EXPECT_EQ(signature("mov.b128", 0), "d:b64 d:b64 s:b64 s:b64");
    EXPECT_EQ(signature("lop3.b32"), "d:b32 s:b32 s:b32 s:b32 i:u32");
    EXPECT_EQ(signature("shfl.sync.bfly.b32"), "d:b32 d:pred s:b32 s:b32 s:b32 s:b32");
    EXPECT_EQ(signature("activemask.b32"), "d:b32 x:pred");
    EXPECT_EQ(signature("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16"),
              "d:b32 d:b32 s:b32 s:b32 s:b32 s:b32 s:b32 s:b32 s:b32 s:b32 m:u32");
    EXPECT_EQ(signature("tex.2d.v4.f16.f32"), "d:f16 d:f16 d:f16 d:f16 s:u64 s:f32 s:f32 x:pred");
    EXPECT_EQ(signature("tex.a2d.v4.f32.s32"), "d:f32 d:f32 d:f32 d:f32 s:u64 s:u32 s:s32 s:s32 x:pred");
    EXPECT_EQ(signature("sust.b.2d.v2.b16.trap"), "s:u64 s:b32 s:b32 s:b32 s:b32 s:b16 s:b16 i:u32 x:pred");
    EXPECT_EQ(signature("istypep.texref"), "d:pred s:u64 i:u32 x:pred");
    EXPECT_EQ(signature("tex.2d.v2.f16x2.s32"), "d:f16x2 d:f16x2 d:pred s:u64 s:b32 s:b32 s:b32 s:b32 s:s32 s:s32 s:s32 s:s32 s:f32 i:u32 x:pred");
    EXPECT_EQ(signature("vadd2.u32.u32.u32"), "d:b32 i:u32 s:b32 i:u32 s:b32 i:u32 s:b32");
}

// K(sum): the numbers and the choice of the group from 1.
TEST(Isa, Constants)
{
    auto constant = [](const char *opcode) {
        auto found = readings(opcode)[0];
        for (uint32_t i = 0; i < found.form->noperands; i++)
            if (found.form->operands[i].kind == ISA_OPERAND_CONSTANT) {
                EXPECT_FALSE(isa_operand_written(found.form, &found.tuple, i));
                return (int)isa_operand_constant(found.form, &found.tuple, i);
            }
        return -1;
    };
    EXPECT_EQ(constant("suld.b.1d.b8.trap"), 0);
    EXPECT_EQ(constant("suld.b.a2d.b8.zero"), 4 + 16);
    EXPECT_EQ(constant("tld4.r.2d.v4.f32.f32"), 1 + 64);
    EXPECT_EQ(constant("tld4.a.acube.v4.f32.f32"), 6 + 64 + 3 * 128);
    EXPECT_EQ(constant("tex.base.a2dms.v4.f32.s32"), 4 + 8 + 2048);
    EXPECT_EQ(constant("istypep.surfref"), 3);
}

TEST(Isa, OperandsThatDependOnModifiers)
{
    auto plain = readings("ld.global.v4.f32")[0], hinted = readings("ld.global.L2::cache_hint.f32")[0];
    EXPECT_EQ(isa_operand_count(plain.form, &plain.tuple, 0), 4u);
    EXPECT_EQ(isa_operand_type(plain.form, &plain.tuple, 0), PTX_TYPE_F32);
    EXPECT_FALSE(isa_operand_written(plain.form, &plain.tuple, 2));
    EXPECT_TRUE(isa_operand_written(hinted.form, &hinted.tuple, 2));
    EXPECT_EQ(isa_operand_count(hinted.form, &hinted.tuple, 0), 1u);
    auto wgmma = readings("wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16")[0];
    EXPECT_EQ(isa_operand_count(wgmma.form, &wgmma.tuple, 0), 48u);
    auto tcgen = readings("tcgen05.ld.sync.aligned.16x256b.x32.b32")[0];
    EXPECT_EQ(isa_operand_count(tcgen.form, &tcgen.tuple, 0), 128u);
    auto tensor = readings("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group")[0];
    EXPECT_EQ(isa_operand_count(tensor.form, &tensor.tuple, 0), 3u);
}

TEST(Isa, NoOpcodeHasTwoReadingsWithTheSameOperands)
{
    for (uint32_t i = 0; i < isa_form_count; i++) {
        const isa_form &a = isa_forms[i];
        for (uint32_t k = i + 1; k < isa_form_count && !strcmp(a.mnemonic, isa_forms[k].mnemonic); k++) {
            const isa_form &b = isa_forms[k];
            if ((a.must & ~b.may) || (b.must & ~a.may))
                continue;
            const isa_form &small = tuples(a) < tuples(b) ? a : b, &large = &small == &a ? b : a;
            isa_tuple t = first_tuple(small), other;
            do {
                auto tokens = tokens_of(small, t);
                if (!isa_match(&large, tokens.data(), (uint32_t)tokens.size(), &other))
                    continue;
                EXPECT_FALSE(confusable(written(small, t), written(large, other)))
                    << opcode_of(small, t) << "\n  " << small.pattern << "\n  " << large.pattern;
                if (::testing::Test::HasFailure())
                    return;
            } while (next_tuple(small, t));
        }
    }
}

TEST(Isa, EveryTupleOfAMeaningIsFoundAgain)
{
    std::set<uint32_t> seen;
    for (uint32_t i = 0; i < isa_form_count; i++) {
        const isa_form &form = isa_forms[i];
        if (isa_operation(&form) || !form.meaning[0])
            continue;
        isa_tuple t = first_tuple(form);
        do {
            std::string name = meaning(form, t);
            uint32_t id = isa_meaning_of(&form, &t);
            ASSERT_NE(id, 0u) << name;
            ASSERT_EQ(id, isa_meaning_id(name.c_str())) << name;
            ASSERT_EQ(name, isa_meaning_names[id]);
            seen.insert(id);
            bool found = false;
            for (auto &c : readings(opcode_of(form, t)))
                found |= c.form == &form && !memcmp(&c.tuple, &t, sizeof t);
            ASSERT_TRUE(found) << opcode_of(form, t);
        } while (next_tuple(form, t));
    }
    EXPECT_EQ(seen.size(), isa_meaning_count);
    EXPECT_EQ(isa_meaning_id("no_such_meaning"), 0u);
    EXPECT_EQ(isa_meaning_id(""), 0u);
    for (uint32_t id = 2; id <= isa_meaning_count; id++)
        ASSERT_LT(strcmp(isa_meaning_names[id - 1], isa_meaning_names[id]), 0);
}

TEST(Isa, OtherTuplesAreFoundAgain)
{
    for (uint32_t i = 0; i < isa_form_count; i++) {
        const isa_form &form = isa_forms[i];
        isa_tuple t = first_tuple(form);
        for (uint32_t k = 0, step = (uint32_t)(tuples(form) / 500) + 1;; k++) {
            if (k % step == 0) {
                auto found = readings(opcode_of(form, t));
                ASSERT_FALSE(found.empty()) << opcode_of(form, t);
                ASSERT_LT(found.size(), (size_t)ISA_MAX_CANDIDATES) << opcode_of(form, t);
            }
            if (!next_tuple(form, t))
                break;
        }
    }
}

TEST(Isa, RowsAreSound)
{
    static const std::set<int> sms = {10, 11, 12, 13, 20, 30, 32, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121};
    std::map<std::string, int> starts;
    for (uint32_t i = 0; i < isa_form_count; i++) {
        const isa_form &form = isa_forms[i];
        EXPECT_GE(form.ptx_version, 10) << form.pattern;
        EXPECT_LE(form.ptx_version, 92) << form.pattern;
        EXPECT_TRUE(sms.count(form.sm)) << form.pattern;
        EXPECT_NE(strstr(form.clause, ": "), nullptr) << form.pattern;
        EXPECT_EQ(strncmp(form.pattern, form.mnemonic, strlen(form.mnemonic)), 0);
        if (i == 0 || strcmp(isa_forms[i - 1].mnemonic, form.mnemonic)) {
            EXPECT_EQ(starts[form.mnemonic]++, 0) << "forms of one mnemonic are adjacent";
        }
        uint32_t first, n = isa_forms_of(form.mnemonic, (uint32_t)strlen(form.mnemonic), &first);
        EXPECT_TRUE(i >= first && i < first + n) << form.pattern;
        // Optional operands end the list.
        bool optional = false;
        for (uint32_t k = 0; k < form.noperands; k++) {
            bool hidden = form.operands[k].when_group >= 0 || form.operands[k].kind == ISA_OPERAND_EXEC;
            EXPECT_TRUE(!optional || form.operands[k].optional || hidden) << form.pattern;
            optional |= form.operands[k].optional;
        }
    }
}

TEST(Types, Names)
{
    for (int t = PTX_TYPE_NONE + 1; t < PTX_TYPE_COUNT; t++) {
        const char *name = ptx_type_name((ptx_type)t);
        EXPECT_EQ(ptx_type_from_name(name, (uint32_t)strlen(name)), t);
    }
    EXPECT_EQ(ptx_type_from_name("f31", 3), PTX_TYPE_NONE);
    EXPECT_EQ(ptx_type_from_name("f32x", 4), PTX_TYPE_NONE);
    EXPECT_EQ(ptx_type_bytes(PTX_TYPE_PRED), 1u);
    EXPECT_EQ(ptx_type_bytes(PTX_TYPE_U4), 1u);
    EXPECT_EQ(ptx_type_bytes(PTX_TYPE_B128), 16u);
    EXPECT_EQ(ptx_type_class(PTX_TYPE_BF16), 'f');
    EXPECT_STREQ(ptx_space_name(PTX_SPACE_SHARED), "shared");
}

}  // namespace
