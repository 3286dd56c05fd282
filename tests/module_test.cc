// module_test.cc - what a parsed module holds.
#include "parser_harness.h"

namespace {

TEST(Module, Header)
{
    Module m = parse(".version 8.6\n.target sm_90a, debug, texmode_independent\n.address_size 64\n"
                     ".visible .entry k(.param .u8 a, .param .align 8 .b8 b[12], .param .u64 .ptr .global .align 4 c) .maxntid 128, 2\n"
                     ".minnctapersm 3 .maxnreg 40 .reqnctapercluster 2, 1, 1 .explicitcluster { ret; }\n");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    EXPECT_EQ(m->version, 86);
    EXPECT_EQ(m->sm, 90);
    EXPECT_EQ(m->sm_suffix, 'a');
    ASSERT_EQ(m->ntargets, 2u);
    EXPECT_STREQ(m->targets[1], "texmode_independent");
    const ptx_function *k = function(m, "k");
    EXPECT_TRUE(k->is_entry);
    EXPECT_EQ(k->linkage, PTX_LINK_VISIBLE);
    EXPECT_EQ(k->maxntid[0], 128u);
    EXPECT_EQ(k->maxntid[1], 2u);
    EXPECT_EQ(k->maxntid[2], 1u);
    EXPECT_EQ(k->minnctapersm, 3u);
    EXPECT_EQ(k->maxnreg, 40u);
    EXPECT_EQ(k->reqnctapercluster[0], 2u);
    EXPECT_TRUE(k->explicit_cluster);
    ASSERT_EQ(k->prototype.nparams, 3u);
    EXPECT_EQ(k->prototype.params[1]->offset, 8u);
    EXPECT_EQ(k->prototype.params[2]->offset, 24u);
    EXPECT_TRUE(k->prototype.params[2]->is_pointer);
    EXPECT_EQ(k->param_size, 32u);
}

TEST(Module, RegistersAndScopes)
{
    Module m = parse_body("mov.b32 %r1, 5;\n{ .reg .b32 %r1; .reg .pred %r2; mov.b32 %r1, %r3; mov.pred %r2, -1; { mov.b32 %r1, 1; } }\nmov.b32 %r1, %r2;\n"
                          "mov.f32 %v.y, %v.w; mov.b32 %u, 7;");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    const ptx_function *k = function(m, "k");
    ASSERT_EQ(k->ninsns, 7u);
    auto dst = [&](uint32_t i) { return k->insns[i].operands[0].values[0].reg; };
    EXPECT_EQ(dst(0), dst(4));
    EXPECT_NE(dst(0), dst(1));
    EXPECT_EQ(dst(1), dst(3));
    EXPECT_STREQ(k->registers[dst(1)].name, "%r1");
    EXPECT_EQ(k->registers[dst(2)].type, PTX_TYPE_PRED);
    EXPECT_EQ(k->registers[k->insns[4].operands[1].values[0].reg].type, PTX_TYPE_B32);
    EXPECT_EQ(register_name(k, k->insns[5].operands[0].values[0]), "%v.y");
    EXPECT_EQ(register_name(k, k->insns[5].operands[1].values[0]), "%v.w");
    EXPECT_EQ(k->insns[5].operands[1].values[0].reg, k->insns[5].operands[0].values[0].reg + 2);
}

TEST(Module, StatementNumbersAndLabels)
{
    Module m = parse_body("mov.b32 %r1, 5;\n.loc 1 2 3\n{ .reg .b32 a; mov.b32 a, 1; L: bra L; }\n.pragma \"nounroll\";\nL:\nM: @%p1 bra L;\nbra N;\n{ bra N; N: ret; }\nN:");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    const ptx_function *k = function(m, "k");
    ASSERT_EQ(k->ninsns, 7u);
    const uint32_t statements[] = {0, 1, 1, 4, 5, 6, 6};
    for (uint32_t i = 0; i < 7; i++)
        EXPECT_EQ(k->insns[i].statement, statements[i]) << i;
    EXPECT_EQ(k->insns[2].operands[0].label, 2u);   /* the inner L */
    EXPECT_EQ(k->insns[3].operands[0].label, 3u);   /* the outer one */
    EXPECT_EQ(k->insns[4].operands[0].label, 7u);   /* behind the last instruction */
    EXPECT_EQ(k->insns[5].operands[0].label, 6u);
    EXPECT_TRUE(k->insns[3].guarded);
    EXPECT_FALSE(k->insns[3].guard_negated);
    EXPECT_EQ(m->statements, 9u);                   /* 8 here, 1 in `one` */
}

TEST(Module, Immediates)
{
    struct { const char *text; uint64_t bits; } cases[] = {
        {"mov.b32 %r1, -1;", 0xffffffff}, {"mov.b64 %rd1, 0xFFFFFFFFFFFFFFFF;", UINT64_MAX}, {"mov.b16 %rs1, 0x12345;", 0x2345},
        {"mov.b32 %r1, 0b101U;", 5}, {"mov.b32 %r1, 017;", 15}, {"mov.b32 %r1, (1 + 2) * 3 - 4 / 2 % 3;", 7}, {"mov.b32 %r1, 1 ? 2 : 3;", 2},
        {"mov.b32 %r1, (.u64)-1 / 2U >> 60;", 7}, {"mov.b32 %r1, -7 / 2;", 0xfffffffd}, {"mov.b32 %r1, -7 >> 1;", 0xfffffffc},
        {"mov.b32 %r1, ~5 & 0xff;", 0xfa}, {"mov.b32 %r1, !5 | 2 ^ 1;", 3}, {"mov.b32 %r1, 2.5 > 1.0 && 1 <= 1;", 1},
        {"mov.b32 %r1, WARP_SZ;", 32}, {"mov.f32 %f1, 1.5;", 0x3fc00000}, {"mov.f32 %f1, 0f7F800001;", 0x7f800001},
        {"mov.f64 %fd1, 0f3F800000;", 0x3ff0000000000000}, {"mov.f64 %fd1, .5;", 0x3fe0000000000000}, {"mov.f32 %f1, 0dBFF0000000000000;", 0xbf800000},
        {"mov.f64 %fd1, -1.0 / 4.0;", 0xbfd0000000000000}, {"mov.b32 %r1, 0f3F800000;", 0x3f800000}, {"mov.pred %p1, -1;", 1},
        {"mov.b32 %r1, -9223372036854775807 - 1 != 0 ? (-9223372036854775807 - 1) / -1 == 1 : 9;", 0},
    };
    for (const auto &c : cases) {
        Module m = parse_body(c.text);
        ASSERT_EQ(m->nerrors, 0u) << c.text << all_messages(m.get());
        const ptx_value &v = function(m, "k")->insns[0].operands[1].values[0];
        EXPECT_EQ(v.kind, PTX_VALUE_IMM) << c.text;
        EXPECT_EQ(v.imm, c.bits) << c.text;
    }
}

TEST(Module, Operands)
{
    Module m = parse_body("ld.param.u64 %rd1, [kp+8];\nst.global.v2.b32 [%rd1+-16], {%r1, 7};\nmov.u64 %rd1, g+4;\nmov.u32 %r1, %ctaid.y;\n"
                          "ld.global.v4.b32 {_, %r1, _, %r2}, [g];\nsetp.lt.s32 %p1|_, %r1, 3;\nadd.cc.u32 %r1, %r2, %r3;\naddc.u32 %r1, %r2, 0;\nmov.u64 %rd2, one;\n"
                          "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd2, {%f0,%f1}];\nselp.b32 %r1, %r2, %r3, !%p2;\nld.shared.u8 %r1, [s+2];");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    const ptx_function *k = function(m, "k");
    const ptx_insn *insn = k->insns;
    EXPECT_STREQ(insn[0].operation, "ld");
    EXPECT_EQ(insn[0].operands[1].address.base, PTX_BASE_VARIABLE);
    EXPECT_STREQ(insn[0].operands[1].address.variable->name, "kp");
    EXPECT_EQ(insn[0].operands[1].address.offset, 8);
    EXPECT_EQ(insn[1].operands[0].address.base, PTX_BASE_REG);
    EXPECT_EQ(insn[1].operands[0].address.offset, -16);
    EXPECT_EQ(insn[1].operands[1].nvalues, 2u);
    EXPECT_EQ(insn[1].operands[1].values[1].imm, 7u);
    EXPECT_EQ(insn[2].operands[1].values[0].kind, PTX_VALUE_VARIABLE);
    EXPECT_EQ(insn[2].operands[1].values[0].imm, 4u);
    EXPECT_EQ(insn[3].operands[1].values[0].special, PTX_SR_CTAID_Y);
    EXPECT_EQ(insn[4].operands[0].values[0].kind, PTX_VALUE_SINK);
    EXPECT_EQ(insn[5].operands[0].values[1].kind, PTX_VALUE_SINK);
    EXPECT_STREQ(isa_meaning_names[insn[5].meaning], "setp_lt_s32");
    EXPECT_EQ(insn[8].operands[1].values[0].kind, PTX_VALUE_FUNCTION);
    EXPECT_EQ(insn[9].operands[1].nvalues, 3u);
    EXPECT_EQ(insn[9].operands[1].values[0].kind, PTX_VALUE_REG);
    EXPECT_TRUE(insn[10].operands[3].values[0].negated);
    EXPECT_EQ(insn[11].operands[0].values[0].type, PTX_TYPE_U8);
    /* The carry flag is a hidden register that both instructions name. */
    ptx_value a[ISA_MAX_ELEMS], b[ISA_MAX_ELEMS];
    EXPECT_EQ(ptx_flatten(&insn[6], a), 4u);
    EXPECT_EQ(ptx_flatten(&insn[7], b), 4u);
    EXPECT_EQ(register_name(k, a[3]), "%cc");
    EXPECT_EQ(a[3].reg, b[3].reg);
    char text[64];
    ptx_format_insn(m.get(), &insn[9], text, sizeof text);
    EXPECT_STREQ(text, "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd2, {%f0,%f1}]");
}

TEST(Module, VideoSelectors)
{
    Module m = parse_body("vadd.s32.s32.s32 %r0.b2, %r1.b3, %r2.h1, %r3; vadd2.s32.s32.s32 %r0, %r1, %r2, %r3; vadd4.s32.s32.s32 %r0.b31, %r1.b7654, %r2.b0123, %r3;");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    const ptx_insn *insn = function(m, "k")->insns;
    auto selector = [&](uint32_t i, uint32_t o) { return insn[i].operands[o].values[1].imm; };
    EXPECT_EQ(selector(0, 0), (uint64_t)ISA_SELECTOR_B2);
    EXPECT_EQ(selector(0, 1), (uint64_t)ISA_SELECTOR_B3);
    EXPECT_EQ(selector(0, 2), (uint64_t)ISA_SELECTOR_H1);
    EXPECT_EQ(selector(1, 0), 3u);
    EXPECT_EQ(selector(1, 1), 0x10u);
    EXPECT_EQ(selector(1, 2), 0x32u);
    EXPECT_EQ(selector(2, 0), 10u);
    EXPECT_EQ(selector(2, 1), 0x7654u);
    EXPECT_EQ(selector(2, 2), 0x0123u);
}

TEST(Module, CallsAndParamFrames)
{
    Module m = parse(std::string(head) +
                     ".func (.param .b32 o) f(.param .b64 a, .param .align 8 .b8 va[]);\n"
                     ".entry k(.param .b32 p) { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                     "{ .param .b64 a; .param .align 8 .b8 v[24]; .param .b32 o; st.param.b64 [a], %rd1; call.uni (o), f, (a, v); ld.param.b32 %r1, [o]; }\n"
                     "{ .param .b64 a; call (_), f, (%rd1); call (%r1), f, (5); }\n"
                     "P: .callprototype (.param .b32 _) _ (.param .b64 _);\n mov.u64 %rd1, f; call (%r1), %rd1, (%rd2), P; }\n"
                     ".func (.param .b32 o) f(.param .b64 a, .param .align 8 .b8 va[]) { .reg .b64 %rd<2>; .param .b32 x; ld.param.u64 %rd1, [a]; ret; }\n");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    const ptx_function *k = function(m, "k"), *f = function(m, "f");
    EXPECT_FALSE(f->is_declaration);
    EXPECT_EQ(k->insns[1].operands[0].callee, f);
    ASSERT_EQ(k->insns[1].nargs, 2u);
    EXPECT_EQ(k->insns[1].args[1].kind, PTX_VALUE_VARIABLE);
    EXPECT_EQ(k->insns[1].args[1].variable->offset, 16u);
    EXPECT_EQ(k->insns[3].returns[0].kind, PTX_VALUE_SINK);
    EXPECT_EQ(k->insns[4].args[0].imm, 5u);
    EXPECT_EQ(k->insns[6].operands[0].callee, nullptr);
    EXPECT_EQ(k->insns[6].operands[0].nvalues, 1u);
    EXPECT_EQ(static_cast<const ptx_prototype *>(k->insns[6].operands[1].list)->nparams, 1u);
    EXPECT_EQ(k->param_size, 4u);
    EXPECT_EQ(k->param_frame, 44u);
    EXPECT_EQ(f->prototype.params[0]->offset, 8u);
    EXPECT_EQ(f->prototype.params[0]->owner, f);
    EXPECT_EQ(f->param_size, 16u);
    EXPECT_EQ(f->param_frame, 20u);
}

/* A parameter that is a vector register is passed whole; the module holds its components. */
TEST(Module, VectorParameters)
{
    const std::string f = std::string(head) + ".func (.reg .v2 .u32 o) f(.reg .v4 .b16 a, .reg .u32 b) { mov.u32 o.x, b; cvt.u32.u16 o.y, a.w; ret; }\n"
                          ".entry k() { .reg .v2 .u32 v; .reg .v4 .b16 w; .reg .b32 r<2>; ";
    Module m = parse(f + "call (v), f, (w, r1); call (_), f, (w, 3); }\n");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    const ptx_prototype &p = function(m, "f")->prototype;
    ASSERT_EQ(p.nparams, 5u);
    EXPECT_STREQ(p.params[3]->name, "a.w");
    EXPECT_EQ(p.params[3]->size, 2u);
    EXPECT_EQ(p.params[3]->parts, 4u);
    EXPECT_EQ(p.params[4]->parts, 0u);
    const ptx_insn &call = function(m, "k")->insns[0];
    ASSERT_EQ(call.nargs, 5u);
    ASSERT_EQ(call.nreturns, 2u);
    EXPECT_EQ(call.args[3].reg, call.args[0].reg + 3);
    EXPECT_EQ(call.returns[1].reg, call.returns[0].reg + 1);
    EXPECT_EQ(function(m, "k")->insns[1].returns[1].kind, PTX_VALUE_SINK);

    const std::pair<const char *, const char *> wrong[] = {
        {"call (v), f, (v, r1);", "parameter 'a' is a vector of 4, and cannot be a register of type .v2 .u32"},
        {"call (v), f, (r0, r1);", "parameter 'a' is a vector of 4, and cannot be a register of type .b32"},
        {"call (v), f, (w, v);", "parameter 'b' is no vector, and cannot be a register of type .v2 .u32"},
        {"call (v), f, (w);", "'f' has 2 parameters, but 1 is given"},
        {"call (r0, r1), f, (w, r1);", "'f' returns 1 value, but 2 are taken"},
    };
    for (const auto &[text, message] : wrong) {
        Module bad = parse(f + text + " }\n");
        ASSERT_EQ(bad->nerrors, 1u) << text;
        EXPECT_EQ(std::string(bad->diagnostics[0].message).substr(0, strlen(message)), message);
    }
}

TEST(Module, AliasesShareTheBody)
{
    Module m = parse(std::string(head) + ".func f() { ret; }\n.func a;\n.alias a, f;\n");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    EXPECT_EQ(function(m, "a")->insns, function(m, "f")->insns);
    EXPECT_FALSE(function(m, "a")->is_declaration);
}

TEST(Module, Variables)
{
    Module m = parse(std::string(head) +
                     ".global .u32 a = 5, b[2][3] = {{1}, {2, 3}}, c[] = {1, 2, 3};\n.const .f64 d = 0d3FF0000000000000;\n.global .v2 .f32 e = {1.0, 2.0};\n"
                     ".global .u64 p[3] = {a, generic(b) + 8, 7};\n.global .u8 q[4] = {0xff(a), 0xff00(a), 3};\n.global .u64 fp = f;\n"
                     ".shared .b8 s1[3]; .shared .align 32 .b8 s2[4]; .extern .shared .align 16 .b8 dyn[];\n.global .attribute(.managed) .s32 mg;\n");
    /* f is not declared yet. */
    EXPECT_EQ(m->nerrors, 1u) << all_messages(m.get());
    auto variable = [&](const char *name) { return ptx_find_variable(m.get(), name); };
    EXPECT_EQ(variable("a")->init[0], 5);
    EXPECT_EQ(variable("b")->size, 24u);
    EXPECT_EQ(variable("b")->init[12], 2);
    EXPECT_EQ(variable("b")->init[4], 0);
    EXPECT_EQ(variable("c")->size, 12u);
    EXPECT_EQ(variable("c")->count, 3u);
    EXPECT_EQ(variable("d")->init[7], 0x3f);
    EXPECT_EQ(variable("e")->init[7], 0x40);
    ASSERT_EQ(variable("p")->nrelocations, 2u);
    EXPECT_EQ(variable("p")->relocations[1].offset, 8u);
    EXPECT_EQ(variable("p")->relocations[1].addend, 8);
    EXPECT_TRUE(variable("p")->relocations[1].generic);
    EXPECT_EQ(variable("p")->init[16], 7);
    ASSERT_EQ(variable("q")->nrelocations, 2u);
    EXPECT_EQ(variable("q")->relocations[1].shift, 8u);
    EXPECT_EQ(variable("q")->relocations[1].bytes, 1u);
    EXPECT_EQ(variable("s2")->offset, 32u);
    EXPECT_EQ(m->shared_size, 36u);
    EXPECT_EQ(variable("dyn")->offset, 64u);
    EXPECT_TRUE(variable("mg")->managed);
}

/* One entry runs at a time, so theirs share a place; a function's and the module's are apart from all. */
TEST(Module, SharedVariablesOfEntriesLieOverEachOther)
{
    Module m = parse(std::string(head) + ".shared .b8 m1[20];\n.func f() { .shared .b32 fv[3]; ret; }\n"
                                         ".entry a() { .shared .align 8 .b8 av[100]; .shared .b32 aw; ret; }\n"
                                         ".entry b() { .shared .align 4 .b8 bv[40]; ret; }\n.shared .b32 m2;\n.extern .shared .b8 dyn[];\n");
    EXPECT_EQ(m->nerrors, 0u) << all_messages(m.get());
    auto own = [&](const char *function, uint32_t i) { return ptx_find_function(m.get(), function)->variables[i]->offset; };
    EXPECT_EQ(own("f", 0), 20u);
    EXPECT_EQ(ptx_find_variable(m.get(), "m2")->offset, 32u);
    EXPECT_EQ(own("a", 0), 48u);
    EXPECT_EQ(own("a", 1), 148u);
    EXPECT_EQ(own("b", 0), 48u);
    EXPECT_EQ(m->shared_size, 152u);
    EXPECT_EQ(ptx_find_variable(m.get(), "dyn")->offset, 160u);
}

TEST(Module, SpecialRegistersHaveTheirNames)
{
    EXPECT_STREQ(ptx_special_name(PTX_SR_TID_Z), "%tid.z");
    EXPECT_STREQ(ptx_special_name(PTX_SR_CLUSTER_NCTAID_Y), "%cluster_nctaid.y");
    EXPECT_STREQ(ptx_special_name((ptx_special)(PTX_SR_ENVREG0 + 31)), "%envreg31");
    for (int sr = PTX_SR_NONE + 1; sr < PTX_SR_COUNT; sr++)
        EXPECT_STRNE(ptx_special_name((ptx_special)sr), "?") << sr;
}

}  // namespace
