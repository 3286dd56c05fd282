// parser_test.cc - the front end: what is accepted, the exact message for what is not, and what the module then holds.
#include "parser_harness.h"

namespace {

/* ------------------------------------------------------------ what is refused, and how */

/* A message that ends in `*` is the beginning of the message. */
struct Bad { const char *text; uint32_t column; const char *message; };

void expect_first_fault(const Module &m, const Bad &bad, uint32_t line)
{
    ASSERT_GT(m->ndiagnostics, 0u) << bad.text;
    const ptx_diagnostic &d = m->diagnostics[0];
    std::string expected = bad.message, got = d.message;
    if (expected.back() == '*') {
        expected.pop_back();
        got = got.substr(0, expected.size());
    }
    EXPECT_EQ(got, expected) << bad.text;
    EXPECT_EQ(d.at.line, line) << bad.text;
    EXPECT_EQ(d.at.column, bad.column) << bad.text;
    EXPECT_EQ(d.severity, PTX_ERROR) << bad.text;
}

const Bad bad_statements[] = {
    {"add.rx.f32 %f0, %f1, %f2;", 4, "'.rx' is not a modifier of add; expected .rn .rz .rm .rp"},
    {"add.rn.s32 %r0, %r1, %r2;", 1, "these modifiers do not go together; the nearest form is add*"},
    {"add %r0, %r1, %r2;", 1, "add lacks a modifier; expected one of*"},
    {"addd.s32 %r0, %r1, %r2;", 1, "'addd' is not an instruction; did you mean 'add'?"},
    {"xyzzy %r0;", 1, "'xyzzy' is not an instruction"},
    {"ld.globl.u32 %r0, [%rd0];", 3, "'.globl' is not a modifier of ld; expected .const*"},
    {"add.s32 %r0, %r1;", 1, "add.s32 has 3 operands, not 2"},
    {"add.s32 %r0, %r1, %r2, %r3;", 1, "add.s32 has 3 operands, not 4"},
    {"add.f32 %f0, %f1, %u;", 19, "add needs an operand of type .f32 here, not a register of type .u32"},
    {"add.f32 %f0, %f1, 1;", 19, "add needs an operand of type .f32 here, not an integer constant; write 1.0, or 0f or 0d and the bits"},
    {"add.s32 %r0, %r1, 1.5;", 19, "add needs an operand of type .s32 here, not a floating-point constant"},
    {"add.s32 %r0, %r1, %rd0;", 19, "add needs an operand of type .s32 here, not a register of type .b64"},
    {"add.s32 %r0, %r1, %r9;", 19, "'%r9' is not declared"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {1.5,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};", 71,
     "mma needs an operand of type .b32 here, not a floating-point constant"},
    {"st.global.b32 [g], %tid.x;", 20, "st cannot read a special register; move %tid to a register first"},
    {"add.s32 %r0, %tid.x, 1;", 14, "add cannot read a special register; move %tid to a register first"},
    {"add.s32 %r0, %r1, !%r2;", 19, "add takes no '!' here"},
    {"add.s32 %r0, -%r1, %r2;", 14, "add takes no negated operand"},
    {"add.s32 %r0, %r1, %r2.b0;", 19, "'.b0' cannot be selected in an operand of add"},
    {"add.s64 %rd0, %rd1, g;", 21, "add cannot take the address of 'g'; mov it to a register first"},
    {"add.s32 %r0+1, %r1, %r2;", 9, "add needs a register for its result here"},
    {"add.f32 %f0, %f1+1, %f2;", 14, "a constant can be added to a whole integer register of 16, 32 or 64 bits only"},
    {"and.pred %p0, %p1+1, %p2;", 15, "a constant can be added to a whole integer register of 16, 32 or 64 bits only"},
    {"mov.v4.f32 %v, %v+1;", 16, "mov needs a vector of 4 elements here"},
    {"mov.b64 %rd0, {%r0+1, %r1};", 19, "expected ',' or '}', not '+'"},
    {"mov.u32 %r0, %r1-4;", 17, "expected ',' or ';', not '-'"},
    {"mov.u32 %r0, %tid.x+4;", 20, "expected ',' or ';', not '+'"},
    {"red.global.add.noftz.f16 [g], 1;", 31, "red needs an operand of type .f16 here, not a constant, which this type does not have"},
    {"add.s32 5, %r1, %r2;", 9, "add needs a register for its result here"},
    {"add.s32 _, %r1, %r2;", 9, "add needs a register here: its result cannot be discarded"},
    {"mov.u32 %tid.x, 1;", 9, "%tid is a special register and cannot be written"},
    {"mov.u64 %rd0, nowhere;", 15, "'nowhere' is not declared"},
    {"mov.u64 %rd0, %tid.x;", 15, "mov needs an operand of type .u64 here, not the special register %tid"},
    {"mov.f32 %f0, %v.q;", 16, "'.q' is not a component of '%v'"},
    {"mov.f32 %f0, %v;", 14, "mov needs an operand of type .f32 here, not a register of type .v4 .f32"},
    {"mov.b32 %r0, 1.0;", 14, "mov needs an operand of type .b32 here, not a floating-point constant"},
    {"ld.global.u32 %r0, [s];", 21, "'s' is in .shared, but ld accesses .global"},
    {"ld.global.u32 %r0, [%rd0-4];", 25, "an offset is added: write +-n for a negative one"},
    {"ld.global.u32 %r0, [%r1];", 21, "a global address has 64 bits, but this register has 32"},
    {"ld.global.u32 %r0, [%f1];", 21, "an address is an integer register or a variable, not a register of type .f32"},
    {"ld.global.u32 %r0, [4];", 21, "a constant address is possible in .local only"},
    {"ld.u64 %rd0, [kp];", 15, "'kp' is in .param, where generic addresses do not reach; use ld.param"},
    {"st.param.u64 [kp], %rd0;", 15, "'kp' is an input parameter and cannot be written"},
    {"ld.global.v4.u32 {%r0, %r1}, [%rd0];", 18, "ld needs a vector of 4 elements here"},
    {"ld.global.v2.f32 {%rd0, %f1}, [%rd1];", 25, "the registers of a vector must have one width"},
    {"ld.global.u32 %r0, %rd0;", 20, "ld needs an address in brackets here"},
    {"cvta.shared.u64 %rd0, g;", 23, "'g' is in .global, not in .shared"},
    {"setp.eq.s32 %r0, %r1, %r2;", 13, "setp needs an operand of type .pred here, not a register of type .b32"},
    {"selp.b32 %r0, %r1, %r2, %r3;", 25, "selp needs an operand of type .pred here, not a register of type .b32"},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %rd0;", 31, "shf needs an operand of type .b32 here, not a register of type .b64"},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%f0,%f1,%f2,%f3}, %r0, 2;", 135, "mma needs a constant from 0 to 1 here"},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%f0,%f1,%f2,%f3}, %r0, %r1;", 135, "mma needs a constant here"},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%f0,%f1,%f2,%f3}, 4, 0;", 130, "mma needs an operand of type .b32 here, not a constant"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2}, {%r0,%r1}, {%f0,%f1,%f2,%f3};", 70, "mma needs a vector of 4 elements here"},
    {"lop3.b32 %r0, %r1, %r2, %r3, 256;", 30, "lop3 needs a constant from 0 to 255 here"},
    {"bar.sync 16;", 10, "a barrier has a number from 0 to 15"},
    {"bar.sync 1, 33;", 13, "the number of threads at a barrier is a multiple of 32"},
    {"bra nowhere;", 5, "there is no label 'nowhere' in this function"},
    {"bra %r0;", 5, "bra needs a label here"},
    {".shared .b32 w<2>; st.shared.b32 [w2], %r0;", 35, "'w2' is not declared"},
    {".shared .b32 w<2>, w1;", 20, "'w1' is already declared in this scope*"},
    {".local .b32 w<200000>;", 15, "more than 131072 variables and labels that are declared by their number"},
    {"T: .branchtargets A<2>; A0: brx.idx %r0, T;", 19, "there is no label 'A1'*"},
    {"brx.idx %r0, nowhere;", 14, "brx needs the name of a .branchtargets list declared before here"},
    {"@%r0 add.s32 %r0, %r1, %r2;", 2, "the guard '%r0' is not a predicate register"},
    {"@%q add.s32 %r0, %r1, %r2;", 2, "'%q' is not declared"},
    {"L: L: ret;", 4, "'L' is already declared in this scope, at line 9"},
    {"{ M: ret; } bra M;", 17, "there is no label 'M' in this function"},
    {".reg .b32 %r3;", 11, "'%r3' is already declared in this scope, at line 8"},
    {".reg .b32 %r<4>;", 11, "'%r<>' is already declared in this scope, at line 8"},
    {".reg .b32 %x<5000000>;", 11, "5000000 registers; at most 4194304 can be declared in one function"},
    {".reg .b32 %x[4];", 13, "a register is neither an array nor initialised"},
    {".reg .bf16 %x;", 6, ".bf16 is a type of instructions only; declare .b16"},
    {".local .b8 a[];", 12, "the size of 'a' is not known"},
    {".shared .b8 a[4] = {1};", 13, "a variable in .shared cannot be initialised"},
    {".maxntid 3", 1, "'.maxntid' is not a directive that can stand in a body"},
    {"mov.u32 %r0, (1+2;", 18, "expected ')', not ';'"},
    {"mov.u32 %r0, 1/0;", 15, "division by zero in a constant expression"},
    {"mov.u32 %r0, 1.5 + 2;", 18, "integer and floating-point constants do not mix in one operation"},
    {"mov.f32 %f0, 0f3F80;", 14, "0f is followed by 8 hexadecimal digits"},
    {"mov.u32 %r0, 089;", 14, "malformed number"},
    {"mov.u32 %r0, 'a';", 14, "a character that PTX does not have"},
    {"add.s32 %r0 %r1, %r2;", 13, "expected ',' or ';', not '%r1'"},
    {"call one, (%r0);", 1, "'one' returns 1 value, but 0 are taken"},
    {"call (%r0), one, (%rd0);", 19, "parameter 'a' of type .b32 cannot be a register of type .b64"},
    {"call (%r0), nowhere, (%r0);", 13, "'nowhere' is not a function declared before"},
    {"call (%r0), %rd0, (%r0);", 13, "an indirect call needs a .callprototype or .calltargets behind its arguments"},
    {"call (%r0), k;", 13, "'k' is an entry and cannot be called"},
    {"vadd.s32.s32.s32 %r0, %r1.b7, %r2;", 23, "'.b7' is not a selector for this operand of vadd"},
    {"tex.3d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd0, {%f0,%f1,%f2}];", 38, "tex needs 3 coordinates here, in braces of 4"},
    {"tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [g, {%f0,%f1}];", 39, "tex needs a texture, surface or tensor handle here: a 64-bit register or a .texref, .samplerref or .surfref"},
    {"tcgen05.wait::ld.sync.aligned;", 1, "tcgen05.wait::ld.sync.aligned needs sm_100 or later, but this module is for sm_90"},
    {"add.f16 %rs0, %rs1, 0x3C00;", 21, "add needs an operand of type .f16 here, not a constant, which this type does not have"},
};

TEST(Parser, RefusesBadStatementsWithAMessage)
{
    for (const Bad &bad : bad_statements) {
        Module m = parse_body(bad.text);
        expect_first_fault(m, bad, 9);
        const ptx_function *k = function(m, "k");
        EXPECT_NE(k->broken, PTX_REASON_NONE) << bad.text;
        EXPECT_NE(k->why, nullptr) << bad.text;
        EXPECT_EQ(function(m, "one")->broken, PTX_REASON_NONE) << bad.text;
    }
}

const Bad bad_items[] = {
    {".global .u32 x[2] = {1, 2, 3};", 28, "more than 2 elements"},
    {".visible .entry x(.param .b8 p[32768]) { ret; }", 17, "32768 bytes of parameters; an entry has at most 32764"},
    {".global .u32 x[2] = 1;", 21, "expected '{': 'x' has 1 dimension"},
    {".global .f32 x = 1;", 18, "an integer cannot initialise an element of type .f32; write 0f or 0d and its bits"},
    {".global .u32 x = 1.0;", 18, "a floating-point constant cannot initialise an element of type .u32"},
    {".global .u64 x = y;", 18, "'y' is not a variable or function declared before"},
    {".global .u64 x = s;", 18, "only addresses in .global and .const can initialise a variable"},
    {".global .u8 x[2] = {0xf(g)};", 21, "a mask selects one byte: 0xff, 0xff00 and so on"},
    {".global .u32 x[];", 14, "the size of 'x' is not known"},
    {".global .u32 x[2][];", 19, "expected a constant, not ']'"},
    {".global .u32 g;", 14, "'g' is already declared in this scope, at line 4"},
    {".global .align 3 .u32 x;", 16, "an alignment must be a power of two up to 65536"},
    {".global .v4 .f64 x;", 1, "a vector of more than 128 bits"},
    {".global .pred x;", 15, "a predicate lives in a register only"},
    {".global .v4 .f32 x = {1.0, 2.0};", 22, "a vector of 4 elements needs all of them"},
    {".local .u32 x;", 13, "a .local variable is declared inside a function"},
    {".reg .b32 x;", 1, "registers are declared inside functions"},
    {".const[2] .u32 x;", 1, "explicit constant banks (removed in PTX 2.2) are not supported"},
    {".global .b8 x[0x20000000000];", 13, "'x' is larger than 2^40 bytes"},
    {".foo 3;", 1, "expected a directive, not '.foo'"},
    {"hello", 1, "expected a directive, not 'hello'"},
    {".func one;", 7, "'one' does not have the parameters of its declaration at line 6"},
    {".func (.param .b32 r) one(.param .b32 a) { ret; }", 23, "function 'one' is already defined at line 6"},
    {".func f(.param .b8 a[], .param .b32 b);", 37, "only the last parameter can have an unknown size"},
    {".func (.param .b32 a, .param .b32 b) f();", 7, "only one value can be returned in .param space"},
    {".entry f(.reg .b32 a) { ret; }", 10, "expected a parameter that begins with .param, not '.reg'"},
    {".entry f .maxntid 32 .reqntid 32 { ret; }", 22, ".maxntid and .reqntid cannot both be given"},
    {".entry f .maxntid 0 { ret; }", 19, ".maxntid must be a number from 1 on"},
    {".entry f .foo { ret; }", 10, "'.foo' is not a directive of an entry; expected .maxntid .reqntid .minnctapersm .maxnctapersm .maxnreg .reqnctapercluster .explicitcluster .maxclusterrank .blocksareclusters .pragma or '{'"},
    {".alias one, k;", 8, "'one' has a body and cannot be an alias"},
    {".extern .func f() { ret; }", 15, "'f' is .extern and cannot have a body"},
    {".version 8.0", 1, ".version is given twice"},
    {".pragma nounroll;", 9, "expected a string, not 'nounroll'"},
};

TEST(Parser, RefusesBadModuleItemsWithAMessage)
{
    for (const Bad &bad : bad_items) {
        Module m = parse(std::string(prelude) + "ret; }\n" + bad.text + "\n.entry after() { ret; }\n");
        expect_first_fault(m, bad, 10);
        EXPECT_EQ(function(m, "k")->broken, PTX_REASON_NONE) << bad.text;
        EXPECT_EQ(function(m, "after")->broken, PTX_REASON_NONE) << bad.text;
    }
}

/* ------------------------------------------------------------ what is accepted */

const char *const good_statements[] = {
    "add.s32 %r1,%r2,%r3;",
    "ld.global.b32 %r1,[%rd1+-4];",
    "ld.global.b32 %r1,[g+4+4];",
    "ld.global.b32 %r1,[g+4*2];",
    "ld.global.b32 %r1,[%rd1+4+4];",
    "ld.global.b32 %r1,[%rd1+4*2];",
    "ld.global.b32 %r1,[%rd1+(4)];",
    "ld.global.b32 %r1,[g];",
    "ld.global.b32 %r1,g[4];",
    "ld.shared.b32 %r1,[%r1];",
    "ld.shared.b32 %r1,[%rd1];",
    "ld.b32 %r1,[s];",
    "add.f32 %f1,%f2,1.0;",
    "add.f32 %f1,%f2,0d3ff0000000000000;",
    "add.f64 %fd1,%fd2,0f3f800000;",
    "add.f64 %fd1,%fd2,1.5;",
    "mov.b32 %r1,0f3f800000;",
    "mov.b32 %f1,1;",
    "mov.b64 %rd1,1.0;",
    "add.u16 %rs1,%rs1,65536;",
    "add.u16 %rs1,%rs1,65535;",
    "add.s16 %rs1,%rs1,65535;",
    "add.s32 %r1,%r1,4294967296;",
    "add.s32 %r1,%r1,4294967295;",
    "add.s32 %r1,%r1,-4294967295;",
    "add.s64 %rd1,%rd1,0xffffffffffffffff;",
    "add.s64 %rd1,%rd1,18446744073709551616;",
    "mov.u32 %r1,-1;",
    "mov.b16 %rs1,0x12345;",
    "add.bf16 %rs1,%rs1,%rs1;",
    "add.bf16x2 %r1,%r1,%r1;",
    "add.u16x2 %r1,%r1,%r1;",
    "add .s32 %r1,%r2,%r3;",
    "add.s32/*x*/%r1,%r2,%r3;",
    "add/*x*/.s32 %r1,%r2,%r3;",
    ".reg .b32 %rx<0>;",
    ".reg .b32 x, y<4>, z;",
    "{ .reg .b32 %r1; mov.u32 %r1,1; }",
    ".reg .b32 %q<4>; .reg .b32 %q4; mov.b32 %q4,%q3;",
    "mov.b32 %r01, 1;",
    ".reg .b32 a; mov.b32 a,1;",
    "L: bra L;",
    "L: L2: bra L;",
    "{ L: bra L; } { L: bra L; }",
    "{ L: bra M; } M: ret;",
    "L: { L: bra L; }",
    "bra L; { L: ret; bra L; } L: ret;",
    ".reg .u32 %ux<4>; add.s32 %ux1,%ux1,%ux1;",
    ".reg .u32 %ux<4>; and.b32 %ux1,%ux1,%f1;",
    ".reg .u32 %ux<4>; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%ux1},[s];",
    ".reg .u8 %ux<4>; ld.global.u8 %ux1,[g];",
    "mov.u16 %rs1,%tid.x;",
    "mov.b32 %f1,%tid.x;",
    "cvt.u64.u32 %rd1,%tid.x;",
    "mov.u64 %rd1,%clock64;",
    "mov.u32 %r1,%tid.w;",
    "mov.u32 %r1,%laneid;",
    "mov.u32 %r1,%pm0;",
    "mov.u64 %rd1,%pm0_64;",
    "mov.u32 %r1,%envreg3;",
    "mov.u32 %r1,WARP_SZ;",
    "add.s32 %r1,WARP_SZ+1,%r1;",
    "mov.u64 %rd1,g;",
    "mov.u64 %rd1,g+4;",
    "mov.u64 %rd1,kp;",
    "mov.u64 %rd1,kp+8;",
    "mov.u64 %rd1,k;",
    "cvta.global.u64 %rd1,g;",
    "cvta.global.u64 %rd1,g+4;",
    "mov.v2.b32 {%r1,%r2},{%r3,%r4};",
    "mov.b64 %rd1,{%r1,1};",
    "st.global.v4.u32 [g],{0,1,2,3};",
    "ld.global.v4.u32 {_,%r1,_,%r2},[g];",
    "atom.global.add.u32 _,[g],1;",
    "mov.b64 {%r1,_},%rd1;",
    "setp.eq.s32 %p1|%p2,%r1,%r2;",
    "setp.eq.s32 _|%p2,%r1,%r2;",
    "setp.eq.s32 %p1|_,%r1,%r2;",
    "setp.eq.and.s32 %p1|%p2,%r1,%r2,!%p3;",
    "setp.eq.and.s32 %p1,%r1,%r2,1;",
    "selp.b32 %r1,1,2,!%p1;",
    "selp.b32 %r1,1,2,1;",
    "@%p1 add.s32 %r1,%r1,1;",
    "@!%p1 add.s32 %r1,%r1,1;",
    "@ ! %p1 add.s32 %r1,%r1,1;",
    "not.pred %p1,!%p2;",
    "and.pred %p1,!%p2,%p3;",
    "and.pred %p1,%p2,1;",
    "mov.pred %p1,1;",
    "mov.pred %p1,-1;",
    "add.s32 %r1,~1,1;",
    "add.s32 %r1,!1,1;",
    "add.s32 %r1,1?2:3,1;",
    "add.s32 %r1,(.s64)5/2,%r1;",
    "add.s32 %r1,(.u64)-5/2U,%r1;",
    "add.s32 %r1,1.5>1.0,%r1;",
    "add.f32 %f1,%f1,1.5+2.0;",
    "add.f32 %f1,%f1,-1.5;",
    "add.f32 %f1,%f1,1.5*2.0/3.0;",
    "add.f32 %f1,%f1,(1.5);",
    "add.f32 %f1,%f1,1e3;",
    "add.f32 %f1,%f1,1.e3;",
    "add.f32 %f1,%f1,.5;",
    "add.f32 %f1,%f1,5.;",
    "add.s32 %r1,1<<70,%r1;",
    "add.s32 %r1,1<<-1,%r1;",
    "add.s32 %r1,0b101,%r1;",
    "add.s32 %r1,0B101U,%r1;",
    "add.s32 %r1,0777,%r1;",
    "add.s32 %r1,0XFFU,%r1;",
    "add.s32 %r1,10U,%r1;",
    "add.f32 %f1,%f1,0F3F800000;",
    "bra.uni L; L:",
    ".loc 1 2 3",
    ".loc 9 2 3",
    ".pragma \"nounroll\";",
    ".pragma \"foo\", \"bar\";",
    "T: .branchtargets L, L; L: brx.idx %r1, T;",
    "T: .branchtargets A<2>, L, A1; A0: A1: L: brx.idx %r1, T;",
    ".shared .align 8 .v2 .b32 w<2>; .local .b64 l<3>, x; st.shared.v2.b32 [w1+0], {%r1,%r1}; st.local.b64 [l2], %rd1;",
    ".local .b8 l[4]; ld.local.u8 %r1,[l];",
    ".global .b8 l[4]; ",
    ".const .b8 l[4]; ",
    ".param .b32 q; st.param.b32 [q],%r1;",
    "{{{{ret;}}}}",
    "ld.param.u64 %rd1,[kp];",
    "ld.param.u64 %rd1,[kp+1000];",
    "add.f64 %fd1,%fd1,-0d3ff0000000000000;",
    "ld.local.b32 %r1,[16];",
    "cvt.rn.f16.f64 %rs1,0d3ff0000000000000;",
    "cvt.rn.f16.f32 %rs1,0f3f800000;",
    "cvt.rn.f16.f32 %rs1,1.0;",
    "cvt.u32.u16 %r1,5;",
    "cvt.rn.bf16x2.f32 %r1,1.0,%f1;",
    "ex2.approx.f32 %f1,1.0;",
    "st.global.f32 [g],1.0;",
    "st.global.b32 [g],0f3f800000;",
    "st.global.u16 [g],1;",
    "st.global.v2.f32 [g],{1.0,%f1};",
    "mov.b64 %rd1,{0f3f800000,%r1};",
    "atom.global.add.f32 %f1,[g],1.0;",
    "atom.global.add.u32 %r1,[g],1;",
    "red.global.add.u32 [g],1;",
    "red.global.add.noftz.v2.f16 [g],{0x3c00,%rs1};",
    "atom.global.max.noftz.v2.bf16x2 {%r1,_},[g],{%r1,-1};",
    "cvt.f16.bf16 %rs1,%rs1;",
    "cvt.rz.f64.bf16 %fd1,%rs1;",
    "mad.lo.u32 %r1,%r1+1,%r1+-2,%r1+(3*4);",
    "bar.sync %r1+1;",
    "mapa.u64 %rd1,%rd1+8,%r1;",
    "tex.2d.v4.f32.s32 {%f1,%f1,%f1,%f1},[%rd1,{1,%r1}];",
    "tex.2d.v4.f32.f32 {%f1,%f1,%f1,%f1},[%rd1,{1.0,%f1}];",
    "selp.f32 %f1,1.0,0f00000000,%p1;",
    "selp.b32 %r1,0f3f800000,1,%p1;",
    "prmt.b32 %r1,%r1,0x1,0x5140;",
    "shl.b32 %r1,1,%r1;",
    "sqrt.rn.f64 %fd1,2.0;",
    "set.eq.u32.f32 %r1,%f1,0f00000000;",
    "slct.s32.f32 %r1,1,2,0.5;",
    "copysign.f32 %f1,1.0,%f1;",
    "dp4a.u32.u32 %r1,1,2,3;",
    "mul.wide.u16 %r1,5,6;",
    "mul.wide.s32 %rd1,5,6;",
    "bfe.u32 %r1,5,1,2;",
    "abs.s32 %r1,-5;",
    "cvt.rn.f32.s32 %f1,5;",
    "lg2.approx.f32 %f1,0f3f800000;",
    "not.b32 %r1,5;",
    "mov.b32 %r1,{%rs1,%rs2};",
    "mov.b32 {%rs1,%rs2},%r1;",
    "prefetch.global.L2 [g];",
    "mov.b64 %rd1,kp;",
    "mov.u64 %rd1,s;",
    "mov.u32 %r1,s;",
    "mapa.shared::cluster.u64 %rd1,s,1;",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%f0,%f1,%f2,%f3}, %r0, 0x1;",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r4,%r5}, {%f0,%f1,%f2,%f3}, {%r0}, 3;",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd0], 16;",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {1,%laneid,%r2,0f3F800000}, {0x3c003c00,%r5}, {0f3F800000,0.0,%f2,%f3};",
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3}, {%r4,%tid.x}, {7}, {-1,0,%r2,%r3};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0,%fd1}, {1.5}, {%fd1}, {%fd0,0d3FF0000000000000};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%tid.x}, {1,%r1,%r2,0};",
    "st.global.v2.b32 [g],{%tid.x,1};",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [s],{%laneid};",
    "tex.2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%rd0, {%tid.x,%ctaid.y}];",
    "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd0, {%f1,0f3F000000}];",
    "lop3.b32 _,%r1,%r2,%r3,0x80;",
};

TEST(Parser, AcceptsGoodStatements)
{
    for (const char *text : good_statements) {
        Module m = parse_body(text);
        EXPECT_EQ(m->nerrors, 0u) << text << "\n" << all_messages(m.get());
        EXPECT_NE(function(m, "k")->broken, PTX_REASON_MALFORMED) << text;
    }
}

/* Scales and their selectors as compilers and libraries write them: braces or none, constants or registers, .kind before or behind the shape. */
TEST(Parser, AcceptsBlockScales)
{
    const std::string operands = " {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}, ";
    const std::string start = ".version 8.8\n.target sm_120a\n.address_size 64\n.entry k() {\n.reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b16 %h<4>;\n";
    const char *const kinds[] = {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e2m1.f32.ue8m0",
                                 "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e5m2.f32.ue8m0",
                                 "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3",
                                 "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0"};
    for (const char *kind : kinds)
        for (const char *scales : {"%r6, {0, 1}, %r7, {0, 3};", "{%r6}, {%h0, %h1}, {%r7}, {%h2, %h3};", "%r6, {%h0, 0}, %r7, {0, %h3};"}) {
            Module m = parse(start + kind + operands + scales + "\nret; }\n");
            EXPECT_EQ(m->nerrors, 0u) << kind << scales << "\n" << all_messages(m.get());
            EXPECT_EQ(function(m, "k")->broken, PTX_REASON_NONE) << kind;
        }
    for (const char *scales : {"127, {0, 1}, %r7, {0, 3};", "%r6, {0, 1}, %r7;", "%r6, {0}, %r7, {0, 3};"})
        EXPECT_NE(parse(start + kinds[0] + operands + scales + "\nret; }\n")->nerrors, 0u) << scales;
}

const char *const good_items[] = {
    ".func f(){.reg .b32 x; .global .u32 y = 5; .const .u32 z = 5; ld.const.u32 x,[z]; ret;}",
    ".func f(){L: .reg .b32 x; bra L;}",
    ".func f(){L: }",
    ".func f(){ret; L: }",
    ".func f(){f: bra f; ret;}",
    ".func f(){.reg .b32 f; mov.b32 f,1; ret;}",
    ".func f(){.reg .b32 add; add.s32 add,add,add; ret;}",
    ".func f(){.local .align 8 .b8 a[8], b; .reg .b64 x; mov.u64 x,a; mov.u64 x,b; ret;}",
    ".func f(){.local .v4 .f32 a; .reg .b64 x; mov.u64 x,a; ret;}",
    ".func f(){.reg .b64 x; .shared .b32 s; cvta.shared.u64 x,s; cvta.to.shared.u64 x,x; ret;}",
    ".func f(){.reg .b32 x; mov.u32 x,%clock; mov.b32 x, %clock_hi; mov.u32 x,%lanemask_eq; mov.u32 x,%dynamic_smem_size; mov.u32 x,%ctaid.x; mov.u32 x,%nsmid;mov.u32 x,%warpid;mov.u32 x,%cluster_ctarank; mov.u32 x,%nclusterid.y;ret;}",
    ".func f(){.reg .pred x; mov.pred x,%is_explicit_cluster; ret;}",
    ".func f(){.reg .b32 x; mov.u32 x,%gridid; mov.u32 x,%globaltimer_lo; mov.b32 x,%reserved_smem_offset_begin;mov.b32 x,%reserved_smem_offset_0; ret;}",
    ".func f(){.reg .b16 x; mov.u16 x,%ctaid.x; mov.u16 x,%ntid.x; cvt.u16.u32 x,%laneid; ret;}",
    ".func f(){.reg .b16 x; mov.u16 x,%gridid; ret;}",
    ".func f(){.reg .b32 x; mov.b64 {x,x},%clock64; ret;}",
    ".func f(){.reg .b32 x; .reg .pred p; shl.b32 x,x,-1; shl.b32 x,x,99; ret;}",
    ".func f(){.reg .b32 x; .reg .b64 y; ld.global.b32 x,[y].unified; ret;}",
    ".func f(){.reg .b32 x; .reg .b64 y; ld.global.b32 x,[y + 4]; ld.global.b32 x,[ y ]; ld.global.b32 x,[y+-0x4]; ld.global.b32 x,[y+~3]; ld.global.b32 x,[y+-4+8]; ret;}",
    ".func f(){.reg .b32 x; .reg .b64 y; ld.global.b32 x,[y+1?4:8]; ret;}",
    ".func f(){.reg .b32 x; .reg .b64 y; ld.global.b32 x,[y+0x100000000]; ret;}",
    ".func f(){.reg .b32 x; .reg .b64 y; ld.global.b32 x,[y+WARP_SZ]; ld.global.b32 x,[y+4U]; ret;}",
    ".func f(){.reg .b32 x; .reg .b64 y; ld.global.b32 {x},[y]; ret;}",
    ".global .texref tx; .func f(){.reg .f32 x; tex.1d.v4.f32.f32 {x,x,x,x},[tx,{x}]; tex.1d.v4.f32.f32 {x,x,x,x},[tx,x]; tex.2d.v4.f32.f32 {x,x,x,x},[tx,{x,x,x,x}]; ret;}",
    ".func f(.param .b32 x[2]){ret;}",
    ".func f(){.reg .align 4 .b32 x; ret;}",
    ".func f(){.reg .v4 .b32 x<4>; mov.b32 x1.x,1; ret;}",
    ".func f(){.reg .b32; ret;}",
    ".func f(){.reg .b32 x; vadd.s32.s32.s32 x,x.b0,x.h1; vadd.s32.s32.s32 x.b0,x.b0,x.h1,x; vadd4.s32.s32.s32 x.b3210,x.b7654,x.b3333,x; ret;}",
    ".func f(){.reg .b32 x; .reg .pred p; bar.red.popc.u32 x,0,p; bar.red.popc.u32 x,0,32,!p; bar.red.and.pred p,1,p; ret;}",
    ".func f(){.reg .b32 x; trap; brkpt; exit; membar.gl; ret.uni; pmevent 3; nanosleep.u32 100; ret;}",
    ".func f(){{ret;}}",
    ".entry e() .minnctapersm 3 {ret;}",
    ".entry e() .reqnctapercluster 2 {ret;}",
    ".extern .shared .align 16 .b8 sm[]; .entry e(){.reg .b64 x; mov.u64 x,sm; ret;}",
    ".extern .shared .b8 sm; .entry e(){.reg .b64 x; mov.u64 x,sm; ret;}",
    ".extern .shared .align 16 .b8 sm[0]; ",
    ".extern .const .b8 sm[]; ",
    ".global .b128 x = 1; ",
    ".global .f16x2 x; ",
    ".func f(){.reg .b128 x; mov.b128 x,1; ret;}",
    ".global .u32 x = 5;",
    ".global .u32 x = 5, y[2] = {1,2}, z;",
    ".global .u32 x[] = {1,2,3};",
    ".extern .global .u32 x[];",
    ".global .u32 x[][2] = {{1,2},{3,4}};",
    ".global .u32 x[2][2] = {{1},{3,4}};",
    ".global .u32 x[2] = {};",
    ".global .u32 x[4000000000];",
    ".global .b8 x[0x10000000000];",
    ".global .f32 f = 1.0;",
    ".global .b32 f = 0f3f800000;",
    ".global .b32 f = 1.0;",
    ".global .f64 f[2] = {1.0, 0d3ff0000000000000};",
    ".global .b16 f = 0x3c00;",
    ".global .u8 f = 300;",
    ".global .b32 f = -1;",
    ".func f; .global .u64 p = f;",
    ".func f(){ret;} .global .u64 p = f;",
    ".global .v4 .f32 v;",
    ".global .v4 .f32 v = {1.0,2.0,3.0,4.0};",
    ".global .align 1 .b32 v[4];",
    ".global .align 256 .b32 v[4];",
    ".const .u32 c = 4;",
    ".global .texref t;",
    ".global .texref t = {width=4};",
    ".global .surfref t;",
    ".visible .global .u32 x = 1;",
    ".weak .global .u32 x = 1;",
    ".common .global .u32 x;",
    ".common .global .u32 x = 1;",
    ".extern .global .u32 x; .visible .global .u32 x = 2;",
    ".extern .global .u32 x; .extern .global .u32 x;",
    ".global .attribute(.managed) .u32 x;",
    ".global .attribute(.managed) .align 8 .u32 x;",
    ".global .align 8 .attribute(.managed) .u32 x;",
    ".attribute(.managed) .global .u32 x;",
    ".func f() {ret;}",
    ".func f {ret;}",
    ".func f; .func f{ret;}",
    ".func f(.param .b32 a); .func f(.param .b32 a){ret;}",
    ".func f(.reg .b32 a){ret;}",
    ".func (.reg .b32 o) f(.reg .b32 a){mov.b32 o,a; ret;}",
    ".func f(.param .align 8 .b8 a[16], .param .b8 va[]){ret;}",
    ".func f() .noreturn;",
    ".func f() .noreturn {exit;}",
    ".extern .func f; ",
    ".visible .func f(){ret;}",
    ".weak .func f(){ret;}",
    ".entry e {ret;}",
    ".entry e() {ret;}",
    ".entry e(.param .u64 .ptr .global .align 4 p) {ret;}",
    ".entry e(.param .u64 .ptr p) {ret;}",
    ".entry e(.param .u64 .ptr .align 4 p) {ret;}",
    ".entry e(.param .align 4 .u64 p) {ret;}",
    ".entry e .maxntid 1,2,3 .minnctapersm 2 .maxnreg 32 {ret;}",
    ".entry e .reqntid 4 .reqnctapercluster 2,1,1 .explicitcluster {ret;}",
    ".entry e .reqntid 4 .reqnctapercluster 2,1,1 .blocksareclusters {ret;}",
    ".entry e .maxclusterrank 8 {ret;}",
    ".entry e .pragma \"nounroll\"; {ret;}",
    ".entry e .maxntid 2000 {ret;}",
    ".entry e; ",
    ".extern .entry e();",
    ".pragma \"nounroll\";",
    ".file 1 \"x\"",
    ".file 1 \"x\", 3, 4",
    ".section .debug_info { .b8 1 }",
    ".section .debug_info { .b8 1,2 .b32 .debug_abbrev }",
    ".func f(){ .reg .b64 %rd; P: .callprototype _; call %rd, P; ret;}",
    ".func f(){ .reg .b64 %rd; P: .callprototype _ (); call %rd, (), P; ret;}",
    ".func f(){ .reg .b64 %rd; P: .callprototype _ (.param .b32 _); .param .b32 x; call %rd, (x), P; ret;}",
    ".func f(){ .reg .b64 %rd; P: .callprototype (.param .b32 _) _ (.param .b32 _); .param .b32 x; .param .b32 y; call (y), %rd, (x), P; ret;}",
    ".func f(){ .reg .b64 %rd; P: .callprototype _ (.param .b32 _) .noreturn; .param .b32 x; call %rd, (x), P; ret;}",
    ".func f(){ call f; ret;}",
    ".func f() .abi_preserve 4 {ret;}",
    "// fine",
    ".global .u32 a$b = 1; .global .u32 $x; .global .u32 _y; .global .u32 %z;",
};

TEST(Parser, AcceptsGoodModuleItems)
{
    for (const char *text : good_items) {
        Module m = parse(std::string(prelude) + "ret; }\n" + text + "\n");
        EXPECT_EQ(m->nerrors, 0u) << text << "\n" << all_messages(m.get());
    }
}

TEST(Parser, AcceptsTheCorpus)
{
    uint32_t files = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(PTXB_SOURCE_DIR "/ptx_corpus")) {
        if (entry.path().extension() != ".ptx")
            continue;
        files++;
        Module m = parse(read_file(entry.path()));
        EXPECT_EQ(m->nerrors, 0u) << entry.path() << "\n" << all_messages(m.get());
        for (uint32_t i = 0; i < m->nfunctions; i++)
            EXPECT_TRUE(m->functions[i]->broken == PTX_REASON_NONE || m->functions[i]->broken == PTX_REASON_UNSUPPORTED) << entry.path();
    }
    EXPECT_GT(files, 30u);
}

/* ------------------------------------------------------------ three reasons, and recovery */

TEST(Parser, SaysThatThereIsNoPtx)
{
    const std::string images[] = {"", std::string(3, '\0'), "  \n// nothing\n/* here */", "\177ELF\2\1\1", "\x50\xed\x55\xba rest",
                                  std::string("ab\0cd", 5)};
    for (const std::string &image : images) {
        Module m = parse(image);
        ASSERT_EQ(m->ndiagnostics, 1u);
        EXPECT_EQ(m->diagnostics[0].reason, PTX_REASON_NO_PTX);
        EXPECT_EQ(m->nfunctions, 0u);
    }
    Module m = parse("this is not PTX at all;");
    EXPECT_EQ(m->diagnostics[0].reason, PTX_REASON_MALFORMED);
    std::string with_nul = std::string(head) + ".entry k() { ret; }";
    with_nul.push_back('\0');
    EXPECT_EQ(parse(with_nul)->nerrors, 0u);
}

TEST(Parser, RefusesOldTargetsButReadsThem)
{
    for (const char *old : {".version 1.4\n.target sm_13\n", ".version 3.1\n.target sm_30\n.address_size 32\n", ".version 3.1\n.target sm_12\n"}) {
        Module m = parse(std::string(old) + ".entry k(.param .u32 p) { .reg .u32 r; ld.param.u32 r, [p]; exit; }\n");
        const ptx_function *k = function(m, "k");
        EXPECT_EQ(k->broken, PTX_REASON_UNSUPPORTED) << old;
        EXPECT_EQ(k->ninsns, 2u) << old;
        EXPECT_EQ(m->diagnostics[0].reason, PTX_REASON_UNSUPPORTED) << old;
    }
}

TEST(Parser, OneBadInstructionSpoilsItsFunctionOnly)
{
    Module m = parse(std::string(head) + ".entry a() { .reg .b32 %r<4>; add.s32 %r0, %r1, %r2; frobnicate.u32 %r0; sub.s32 %r0, %r1, %r2\nL: ret; }\n"
                     ".entry b() { ret; }\n.func c(.param .b32 , ) { ret; }\n.entry d() { { { ret;\n.entry e() { ret; }\n");
    EXPECT_EQ(function(m, "a")->broken, PTX_REASON_MALFORMED);
    EXPECT_EQ(function(m, "a")->ninsns, 4u);
    EXPECT_EQ(function(m, "a")->insns[1].form, nullptr);
    EXPECT_NE(function(m, "a")->insns[0].form, nullptr);
    EXPECT_EQ(function(m, "a")->why->at.line, 4u);
    EXPECT_EQ(function(m, "a")->nlabels, 1u);
    EXPECT_EQ(function(m, "b")->broken, PTX_REASON_NONE);
    EXPECT_EQ(function(m, "c")->broken, PTX_REASON_MALFORMED);
    EXPECT_EQ(function(m, "d")->broken, PTX_REASON_MALFORMED);
    EXPECT_EQ(function(m, "e")->broken, PTX_REASON_NONE);
}

TEST(Parser, ChecksVersionAndTarget)
{
    const char body[] = ".entry k() { .reg .b32 %r<4>; redux.sync.add.s32 %r0, %r1, %r2; ret; }\n";
    EXPECT_EQ(parse(std::string(".version 7.0\n.target sm_80\n.address_size 64\n") + body)->nerrors, 0u);
    Module old_ptx = parse(std::string(".version 6.5\n.target sm_80\n.address_size 64\n") + body);
    EXPECT_STREQ(old_ptx->diagnostics[0].message, "redux.sync.add.s32 needs PTX 7.0 or later, but this module is .version 6.5");
    /* Conversions of f16 are older than its arithmetic. */
    Module half = parse(".version 3.2\n.target sm_20\n.address_size 64\n.entry k() { .reg .f16 h; .reg .f32 f; cvt.f32.f16 f, h; cvt.rn.f16.f32 h, f; add.f16 h, h, h; }");
    ASSERT_EQ(half->nerrors, 1u) << all_messages(half.get());
    EXPECT_EQ(std::string(half->diagnostics[0].message).substr(0, 18), "add.f16 needs PTX ");
    /* As ptxas 13.0 takes them, from this version and target on. */
    EXPECT_EQ(parse(".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .b16 h; .reg .f32 f; cvt.rm.bf16.f32 h, f; cvt.rn.ftz.bf16.f32 h, f; }")->nerrors, 0u);
    EXPECT_EQ(parse(".version 8.1\n.target sm_70\n.address_size 64\n.entry k() { .reg .f16 h; .reg .f32 f; cvt.rn.satfinite.f16.f32 h, f; }")->nerrors, 0u);
    Module old_sm = parse(std::string(".version 7.0\n.target sm_75\n.address_size 64\n") + body);
    EXPECT_STREQ(old_sm->diagnostics[0].message, "redux.sync.add.s32 needs sm_80 or later, but this module is for sm_75");
}

TEST(Parser, PrintsTheLineAndACaret)
{
    Module m = parse(std::string(head) + ".entry k() {\n\t.reg .f32 %f<3>;\n\tadd.rx.f32 %f0, %f1, %f2;\n}\n");
    EXPECT_EQ(all_messages(m.get()),
              "t.ptx:6:5: error: '.rx' is not a modifier of add; expected .rn .rz .rm .rp (in k)\n"
              "    \tadd.rx.f32 %f0, %f1, %f2;\n    \t   ^\n");
    char small[8];
    EXPECT_GT(ptx_format_diagnostic(m.get(), &m->diagnostics[0], small, sizeof small), sizeof small);
    EXPECT_STREQ(small, "t.ptx:6");
}

TEST(Module, EveryMeaningIsFlattenedAsItsSignature)
{
    for (const char *text : good_statements) {
        Module m = parse_body(text);
        const ptx_function *k = function(m, "k");
        for (uint32_t i = 0; i < k->ninsns; i++) {
            ptx_value values[ISA_MAX_ELEMS];
            isa_elem elems[ISA_MAX_ELEMS];
            const ptx_insn &insn = k->insns[i];
            if (!insn.form || insn.operation)
                continue;
            EXPECT_EQ(ptx_flatten(&insn, values), isa_signature(insn.form, &insn.tuple, elems)) << text;
        }
    }
}

/* ------------------------------------------------------------ hostile input */

std::string repeat(const std::string &part, size_t n)
{
    std::string text;
    text.reserve(part.size() * n);
    for (size_t i = 0; i < n; i++)
        text += part;
    return text;
}

TEST(Hostile, DiagnosticsAreCapped)
{
    Module m = parse(std::string(head) + ".entry k() {\n" + repeat("bogus;\n", 100000) + "}\n");
    EXPECT_EQ(m->ndiagnostics, 100u);
    EXPECT_EQ(m->nerrors, 100000u);
}

TEST(Hostile, NestingIsBounded)
{
    for (const char *part : {"{", "(", "-", "!", "~", "1?", "1?1:", "(.s64)", "1+(", "a?b:"}) {
        std::string deep = repeat(part, 200000);
        parse(std::string(head) + ".entry k() {" + deep);
        parse(std::string(head) + ".entry k() { .reg .b32 r; mov.b32 r, " + deep + ";}");
        parse(std::string(head) + ".global .u32 x[4] = " + deep);
        parse(std::string(head) + ".global .u32 x[" + deep);
    }
    Module m = parse(std::string(head) + ".entry k() {" + repeat("{", 300) + repeat("}", 300) + "}");
    EXPECT_EQ(m->diagnostics[0].reason, PTX_REASON_LIMIT);
}

TEST(Hostile, SizesAreBounded)
{
    const char *const texts[] = {
        ".entry k() { .reg .b32 %r<4000000000>; }", ".entry k() { .reg .b32 %r<99999999999999999999999>; }",
        ".global .b8 x[0x7fffffffffffffff][0x7fffffffffffffff];", ".global .b8 x[1000000000] = {1};", ".shared .b64 x[0xffffffffff];",
    };
    for (const char *text : texts) {
        Module m = parse(std::string(head) + text);
        ASSERT_GT(m->ndiagnostics, 0u) << text;
        EXPECT_EQ(m->diagnostics[0].reason, PTX_REASON_LIMIT) << text;
    }
}

/* Each of these is quadratic in a careless parser; the time limit of the test is the check. */
TEST(Hostile, WorkIsLinear)
{
    parse(std::string(head) + ".entry k() { .reg .pred p; " + repeat("@p bra L;\n", 200000) + repeat("{ @p bra M; M: }\n", 100000) + "L: }");
    parse(std::string(head) + ".entry k() {" + repeat("{", 250) + repeat("bra L;\n", 100000) + repeat("}", 250) + "}");
    parse(std::string(head) + repeat(".func f(){x;}\n", 200000));
    std::string many;
    for (int i = 0; i < 200000; i++)
        many += ".func f" + std::to_string(i) + "(){ .reg .b32 %r<4000000>; add.q" + std::to_string(i) + " %r1; ret; }\n";
    parse(std::string(head) + many);
    many.clear();
    for (int i = 0; i < 200000; i++)
        many += ".global .u32 x" + std::to_string(i) + "[] = {1,2,3};\n";
    parse(std::string(head) + many);
    parse(std::string(head) + ".global .u8 x[] = {" + repeat("1,", 3000000) + "1};");
    parse(std::string(head) + ".func f(" + repeat(".param .b32 a, ", 100000) + ".param .b32 b) { ret; }");
}

/* Memory that ends at any point ends in a module that says so. */
TEST(Hostile, ExhaustedMemoryIsReported)
{
    std::string text = read_file(PTXB_SOURCE_DIR "/tests/fuzz/seeds/calls.ptx") + repeat(".func f(){ ret; }\n", 50)
        + ".entry big() { .reg .b32 %r<9>; " + repeat("add.s32 %r1, %r2, %r3;", 9000) + "}";
    size_t complete = 0, limited = 0;
    for (size_t limit = 64; limit < 16u << 20; limit += limit / 5) {
        Module m(ptx_parse_within(text.data(), text.size(), "t.ptx", limit));
        ASSERT_NE(m, nullptr);
        if (m->ndiagnostics && m->diagnostics[0].reason == PTX_REASON_LIMIT) {
            limited++;
            EXPECT_EQ(m->nfunctions, 0u);
            all_messages(m.get());
        } else {
            complete++;
        }
    }
    EXPECT_GT(limited, 20u);
    EXPECT_GT(complete, 3u);
}

}  // namespace
