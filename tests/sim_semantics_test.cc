// sim_semantics_test.cc - small kernels whose meaning does not depend on the device, on the CPU and on simulated GPUs: registers that
// were never written, several barriers, sizes of shared memory, halves of b128, a heap that was asked for too much, and what a
// fault leaves behind.
#include <gtest/gtest.h>
#include <cfenv>
#include <cstring>
#include <string>
#include <vector>
#include "include/ptxbridge.h"

namespace {

const char *const text = R"(.version 8.3
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 a);

.visible .entry sums(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b16 %h<3>;
    .reg .u32 %r<6>;
    .reg .b64 %a, %w, %v;
    ld.param.u64 %a, [out];
    mov.u32 %r1, 10;
    bra.uni AT;
    mov.u32 %r1, 20;
AT:
    mul.lo.u32 %r2, %r1+100, %r1+-3;
    st.global.u32 [%a], %r2+1;
    mov.b16 %h1, 0xfffe;
    cvt.u32.u16 %r3, %h1+3;
    st.global.u32 [%a+4], %r3;
    mov.b64 %w, 1;
    mov.u64 %v, %w+0x100000000;
    st.global.u64 [%a+8], %v;
    setp.gt.s32 %p1, %r1+4, %r1;
    @!%p1 st.global.u32 [%a], %r1+5;
    @%p1 st.global.u32 [%a+16], %r1+(5 * 2);
    prmt.b32 %r4, %r1+1, 0, %r1+0x5436;
    st.global.u32 [%a+20], %r4;
    ret;
}

.visible .entry unwritten(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    add.u32 %r2, %r1, 5;
    st.global.u32 [%a], %r2;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra ZERO;
    st.global.u32 [%a+4], 1;
    ret;
ZERO:
    st.global.u32 [%a+4], 2;
    ret;
}

.func (.reg .b32 %sum) leaves_open(.reg .b32 %wanted)
{
    .reg .pred %p;
    .reg .b32 %x, %y;
    setp.eq.u32 %p, %wanted, 1;
    @%p mov.u32 %x, 7;
    @%p mov.u32 %y, 70;
    add.u32 %y, %y, %x;
    @!%p bra OUT;
    mov.u32 %sum, %y;
OUT:
    ret;
}

.func (.reg .pred %no, .reg .b64 %half, .reg .b16 %low) in_registers(.reg .pred %yes, .param .b64 %wide, .reg .b16 %less)
{
    ld.param.b64 %half, [%wide];
    shr.u64 %half, %half, 1;
    sub.u16 %low, %less, 1;
    not.pred %no, %yes;
    ret;
}

.visible .entry passed_in_registers(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b16 %h<2>;
    .reg .b32 %r;
    .reg .b64 %a, %w, %v;
    ld.param.u64 %a, [out];
    mov.b64 %w, 0x2222222244444444;
    mov.b16 %h0, 9;
    setp.eq.u64 %p0, %a, 0;
    {
    .param .b64 wide;
    st.param.b64 [wide], %w;
    call (%p1, %v, %h1), in_registers, (%p0, wide, %h0);
    }
    selp.b32 %r, 3, 4, %p1;
    st.global.u64 [%a], %v;
    st.global.u32 [%a+8], %r;
    st.global.u16 [%a+12], %h1;
    ret;
}

.func (.reg .v2 .b64 %both) vectors(.reg .v4 .u32 %four, .reg .b32 %one, .reg .v2 .u16 %two)
{
    .reg .b32 %x;
    .reg .v2 .b64 %r;
    mov.b32 %x, {%two.x, %two.y};
    sub.u32 %four.w, %four.w, %one;
    mov.b64 %r.x, {%four.x, %four.w};
    mov.b64 %r.y, {%four.y, %x};
    add.u64 %r.y, %r.y, 256;
    mov.v2.b64 %both, %r;
    ret;
}

.visible .entry passed_as_vectors(.param .u64 out)
{
    .reg .v4 .b32 %a;
    .reg .v2 .b16 %b;
    .reg .v2 .u64 %r;
    .reg .b64 %p, %f;
    ld.param.u64 %p, [out];
    mov.v4.b32 %a, {11, 12, 13, 14};
    mov.v2.b16 %b, {5, 6};
    call (%r), vectors, (%a, 4, %b);
    st.global.v2.u64 [%p], %r;
    mov.b32 %a.x, 21;
    mov.u64 %f, vectors;
like_vectors: .callprototype (.reg .v2 .b64 _) _ (.reg .v4 .u32 _, .reg .b32 _, .reg .v2 .u16 _);
    call (%r), %f, (%a, 5, %b), like_vectors;
    st.global.v2.u64 [%p+16], %r;
    ret;
}

.visible .entry unwritten_in_call(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    call (%r1), leaves_open, (1);
    call (%r2), leaves_open, (0);
    st.global.u32 [%a], %r1;
    st.global.u32 [%a+4], %r2;
    ret;
}

.visible .entry sizes(.param .u64 out)
{
    .reg .b32 %r;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    mov.u32 %r, %dynamic_smem_size;
    st.global.u32 [%a], %r;
    ret;
}

.visible .entry wide(.param .u64 out)
{
    .reg .b64 %a, %x, %y, %z;
    .reg .b128 %q, %r;
    ld.param.u64 %a, [out];
    mov.u64 %x, 0x1111111122222222;
    mov.u64 %y, 0x3333333344444444;
    mov.b128 %q, {%x, %y};
    mov.b128 %r, %q;
    mov.b128 {%z, %x}, %r;
    st.global.u64 [%a], %z;
    st.global.u64 [%a+8], %x;
    ret;
}

// Lanes 0 and 3 of each warp have ended, with another value in %v than those that vote. The elected lane tells.
.visible .entry ended(.param .u64 out)
{
    .reg .pred %p, %q;
    .reg .b32 %lane, %v, %r<7>;
    .reg .b64 %a, %w;
    mov.u32 %lane, %laneid;
    mov.u32 %v, 8;
    setp.eq.u32 %p, %lane, 0;
    @%p ret;
    setp.eq.u32 %p, %lane, 3;
    @%p ret;
    mov.u32 %v, 7;
    setp.eq.u32 %p, %v, 7;
    vote.sync.all.pred %q, %p, -1;
    selp.u32 %r0, 1, 0, %q;
    vote.sync.uni.pred %q, %p, -1;
    @%q add.u32 %r0, %r0, 2;
    match.all.sync.b32 %r1|%q, %v, -1;
    @%q add.u32 %r0, %r0, 4;
    redux.sync.add.u32 %r2, %v, -1;
    redux.sync.and.b32 %r3, %v, -1;
    match.any.sync.b32 %r4, %v, -1;
    vote.sync.ballot.b32 %r5, %p, -1;
    ld.param.u64 %a, [out];
    mov.u32 %r6, %tid.x;
    shr.u32 %r6, %r6, 5;
    mul.wide.u32 %w, %r6, 32;
    add.u64 %a, %a, %w;
    elect.sync %r6|%q, -1;
    @!%q ret;
    st.global.v4.u32 [%a], {%r0, %r1, %r2, %r3};
    st.global.v4.u32 [%a+16], {%r4, %r5, %r6, %lane};
    ret;
}

// The same, and the lanes meet from two places.
.visible .entry ended_apart(.param .u64 out)
{
    .reg .pred %p, %q;
    .reg .b32 %lane, %v, %r<7>;
    .reg .b64 %a, %w;
    mov.u32 %lane, %laneid;
    mov.u32 %v, 8;
    setp.eq.u32 %p, %lane, 0;
    @%p ret;
    setp.eq.u32 %p, %lane, 3;
    @%p ret;
    mov.u32 %v, 7;
    setp.eq.u32 %p, %v, 7;
    and.b32 %r6, %lane, 1;
    setp.eq.u32 %q, %r6, 0;
    @%q bra EVEN;
    vote.sync.all.pred %q, %p, -1;
    selp.u32 %r0, 1, 0, %q;
    vote.sync.uni.pred %q, %p, -1;
    @%q add.u32 %r0, %r0, 2;
    match.all.sync.b32 %r1|%q, %v, -1;
    @%q add.u32 %r0, %r0, 4;
    redux.sync.add.u32 %r2, %v, -1;
    redux.sync.and.b32 %r3, %v, -1;
    match.any.sync.b32 %r4, %v, -1;
    vote.sync.ballot.b32 %r5, %p, -1;
    bra.uni BOTH;
EVEN:
    vote.sync.all.pred %q, %p, -1;
    selp.u32 %r0, 1, 0, %q;
    vote.sync.uni.pred %q, %p, -1;
    @%q add.u32 %r0, %r0, 2;
    match.all.sync.b32 %r1|%q, %v, -1;
    @%q add.u32 %r0, %r0, 4;
    redux.sync.add.u32 %r2, %v, -1;
    redux.sync.and.b32 %r3, %v, -1;
    match.any.sync.b32 %r4, %v, -1;
    vote.sync.ballot.b32 %r5, %p, -1;
BOTH:
    ld.param.u64 %a, [out];
    mov.u32 %r6, %tid.x;
    shr.u32 %r6, %r6, 5;
    mul.wide.u32 %w, %r6, 32;
    add.u64 %a, %a, %w;
    elect.sync %r6|%q, -1;
    @!%q ret;
    st.global.v4.u32 [%a], {%r0, %r1, %r2, %r3};
    st.global.v4.u32 [%a+16], {%r4, %r5, %r6, %lane};
    ret;
}

// What a subtraction leaves in CC.CF and takes from there.
.visible .entry carries(.param .u64 out)
{
    .reg .b32 %c, %d<8>;
    .reg .b64 %a, %e, %f;
    ld.param.u64 %a, [out];
    sub.cc.u32 %c, 1, 2;
    addc.u32 %d0, 100, 0;
    sub.cc.u32 %c, 2, 1;
    addc.u32 %d1, 200, 0;
    sub.cc.u32 %c, 2, 2;
    madc.lo.u32 %d2, 3, 4, 300;
    sub.cc.u32 %c, 1, 2;
    madc.lo.u32 %d3, 3, 4, 400;
    add.cc.u32 %c, -1, 1;
    subc.u32 %d4, 505, 2;
    add.cc.u32 %c, 1, 1;
    subc.u32 %d5, 605, 2;
    add.cc.u32 %c, 1, 1;
    subc.cc.u32 %c, 2, 1;
    addc.u32 %d6, 700, 0;
    add.cc.u32 %c, 1, 1;
    subc.cc.u32 %c, 1, 1;
    addc.u32 %d7, 800, 0;
    st.global.v4.u32 [%a], {%d0, %d1, %d2, %d3};
    st.global.v4.u32 [%a+16], {%d4, %d5, %d6, %d7};
    sub.cc.u64 %e, 1, 2;
    addc.u64 %e, 900, 0;
    sub.cc.u64 %f, 2, 1;
    addc.u64 %f, 900, 0;
    st.global.v2.u64 [%a+32], {%e, %f};
    ret;
}

// The warps wait at barriers that the other never comes to.
.visible .entry crossed(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r;
    mov.u32 %r, %tid.x;
    setp.lt.u32 %p, %r, 32;
    @%p bra FIRST;
    bar.sync 0;
    ret;
FIRST:
    bar.sync 1;
    ret;
}

.visible .entry heap(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r;
    .reg .b64 %a, %x;
    ld.param.u64 %a, [out];
    { .param .b64 n; .param .b64 r;
    st.param.b64 [n], 1000000000000;
    call (r), malloc, (n);
    ld.param.b64 %x, [r]; }
    setp.ne.u64 %p, %x, 0;
    selp.u32 %r, 1, 0, %p;
    st.global.u32 [%a], %r;
    { .param .b64 n; .param .b64 r;
    st.param.b64 [n], 40000000;
    call (r), malloc, (n);
    ld.param.b64 %x, [r]; }
    { .param .b64 n; .param .b64 r;
    st.param.b64 [n], 64;
    call (r), malloc, (n);
    ld.param.b64 %x, [r]; }
    setp.ne.u64 %p, %x, 0;
    selp.u32 %r, 1, 0, %p;
    st.global.u32 [%a+4], %r;
    ret;
}

// One thread traps, the others wait for it.
.visible .entry trap_and_wait(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r;
    mov.u32 %r, %tid.x;
    setp.ne.u32 %p, %r, 0;
    @%p bra WAIT;
    trap;
WAIT:
    barrier.sync 1, 64;
    ret;
}

// With a word that is not 0, one thread traps and another never ends.
.visible .entry trap_and_spin(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    ld.global.u32 %r, [%a];
    setp.eq.u32 %p, %r, 0;
    @%p ret;
    mov.u32 %r, %tid.x;
    setp.ne.u32 %p, %r, 0;
    @%p bra SPIN;
    trap;
SPIN:
    ld.volatile.global.u32 %r, [%a];
    setp.ne.u32 %p, %r, 0;
    @%p bra SPIN;
    ret;
}

// What stands in braces need not be a register: the same as by way of one.
.visible .entry braces(.param .u64 out)
{
    .reg .b64 %a, %b;
    .reg .b32 %r<8>;
    .reg .f32 %f<12>;
    .shared .align 16 .b8 rows[128];
    ld.param.u64 %a, [out];
    mov.u32 %r0, %laneid;
    mul.wide.u32 %b, %r0, 64;
    add.u64 %a, %a, %b;
    mad.lo.u32 %r1, %r0, 0x00010003, 0x3c003c00;
    mov.b32 %r2, 0x3c004000;
    mov.f32 %f0, 0f3F800000;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r0, %r2}, {%r0, %r2}, {%f0, %f0, %f0, %f0};
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r1, 0x3c004000, %laneid, %r2}, {%laneid, 0x3c004000}, {1.0, 0f3F800000, %f0, %f0};
    st.global.v4.f32 [%a], {%f1, %f2, %f3, %f4};
    st.global.v4.f32 [%a+16], {%f5, %f6, %f7, %f8};
    st.global.v2.b32 [%a+32], {%laneid, 0f3F800000};
    mov.u32 %r3, rows;
    and.b32 %r5, %r0, 7;
    mad.lo.u32 %r5, %r5, 16, %r3;
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%laneid};
    mad.lo.u32 %r3, %r0, 4, %r3;
    ld.shared.u32 %r4, [%r3];
    lop3.b32 _, %r0, %r1, %r2, 0x80;
    st.global.u32 [%a+40], %r4;
    ret;
}

.visible .entry nothing(.param .u64 out)
{
    ret;
}
)";

// Read, folded, translated and computed under the rounding of the program that calls us.
const char *const numbers = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry numbers(.param .u64 out)
{
    .reg .b64 %a;
    .reg .f32 %f<4>;
    .reg .f64 %d;
    ld.param.u64 %a, [out];
    mov.f32 %f0, 0.1;
    st.global.f32 [%a], %f0;
    mov.f32 %f0, 1e-40;
    st.global.f32 [%a+4], %f0;
    mov.f64 %d, 1.0 / 3.0;
    st.global.f64 [%a+8], %d;
    mov.f32 %f1, 0f4b800000;
    ld.global.f32 %f2, [%a+252];
    add.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%a+16], %f3;
    mul.rn.f32 %f3, %f0, 0f3f000000;
    st.global.f32 [%a+20], %f3;
    sin.approx.f32 %f3, 0f40490fdb;
    st.global.f32 [%a+24], %f3;
    ret;
}
)";

class SimSemantics : public testing::TestWithParam<const char *>
{
protected:
    void SetUp() override
    {
        ASSERT_EQ(pxb_context_create(&context), PXB_OK);
        ASSERT_EQ(pxb_device_open(context, GetParam(), &device), PXB_OK) << error();
        ASSERT_EQ(pxb_module_load_text(context, text, strlen(text), "semantics.ptx", &module), PXB_OK) << error();
        ASSERT_EQ(pxb_memory_alloc(device, 2048, &memory), PXB_OK) << error();
        set(0);
    }
    void TearDown() override { pxb_context_destroy(context); }

    const char *error() { return pxb_last_error(context)->message; }
    void set(uint8_t value) { ASSERT_EQ(pxb_memory_set(device, memory, value, 256), PXB_OK) << error(); }

    pxb_status run(const char *name, uint32_t threads, uint32_t grid = 1, uint32_t timeout_ms = 20000, uint32_t shared = 0)
    {
        pxb_kernel *kernel;
        pxb_launch_options options = PXB_LAUNCH_OPTIONS_INIT;
        options.grid[0] = grid;
        options.block[0] = threads;
        options.timeout_ms = timeout_ms;
        options.shared_bytes = shared;
        const void *params[] = {&memory};
        pxb_status status = pxb_kernel_get(device, module, name, &kernel);
        return status ? status : pxb_launch(kernel, &options, params, 1);
    }

    template <class T> T word(uint32_t i)
    {
        T v = 0;
        EXPECT_EQ(pxb_memory_read(device, &v, memory + i * sizeof v, sizeof v), PXB_OK) << error();
        return v;
    }

    pxb_context *context = nullptr;
    pxb_device *device = nullptr;
    pxb_module *module = nullptr;
    pxb_address memory = 0;
};

TEST_P(SimSemantics, WhatWasNeverWrittenIsZero)
{
    ASSERT_EQ(run("unwritten", 1), PXB_OK) << error();
    EXPECT_EQ(word<uint32_t>(0), 5u);
    EXPECT_EQ(word<uint32_t>(1), 2u);
}

TEST_P(SimSemantics, ParametersInRegisters)
{
    ASSERT_EQ(run("passed_in_registers", 1), PXB_OK) << error();
    EXPECT_EQ(word<uint64_t>(0), 0x1111111122222222u);
    EXPECT_EQ(word<uint32_t>(2), 3u);
    EXPECT_EQ(word<uint16_t>(6), 8u);
}

TEST_P(SimSemantics, VectorsInRegisters)
{
    ASSERT_EQ(run("passed_as_vectors", 1), PXB_OK) << error();
    EXPECT_EQ(word<uint64_t>(0), 10ull << 32 | 11);
    EXPECT_EQ(word<uint64_t>(1), 0x60005ull << 32 | 268);
    EXPECT_EQ(word<uint64_t>(2), 9ull << 32 | 21);
    EXPECT_EQ(word<uint64_t>(3), 0x60005ull << 32 | 268);
}

TEST_P(SimSemantics, WhatACallNeverWroteIsZero)
{
    ASSERT_EQ(run("unwritten_in_call", 1), PXB_OK) << error();
    EXPECT_EQ(word<uint32_t>(0), 77u);
    EXPECT_EQ(word<uint32_t>(1), 0u);
}

TEST_P(SimSemantics, DynamicSharedSize)
{
    ASSERT_EQ(run("sizes", 32, 1, 20000, 96), PXB_OK) << error();
    EXPECT_EQ(word<uint32_t>(0), 96u);
}

TEST_P(SimSemantics, HalvesOfB128)
{
    ASSERT_EQ(run("wide", 1), PXB_OK) << error();
    EXPECT_EQ(word<uint64_t>(0), 0x1111111122222222u);
    EXPECT_EQ(word<uint64_t>(1), 0x3333333344444444u);
}

// "Wait until all non-exited threads corresponding to membermask": those that have ended, and lanes that a short block does not have, count for nothing.
TEST_P(SimSemantics, AMaskMayNameLanesThatHaveEnded)
{
    for (const char *name : {"ended", "ended_apart"}) {
        ASSERT_EQ(run(name, 40), PXB_OK) << error();
        for (uint32_t warp = 0; warp < 2; warp++) {
            const uint32_t members = warp ? 0xf6 : 0xfffffff6, count = warp ? 6 : 30;
            const uint32_t expected[8] = {7, members, 7 * count, 7, members, members, 1, 1};
            for (uint32_t i = 0; i < 8; i++)
                EXPECT_EQ(word<uint32_t>(warp * 8 + i), expected[i]) << name << ", warp " << warp << ", word " << i;
        }
        set(0);
    }
}

// The constants that ptxas 13.0 makes of this kernel: after a subtraction CC.CF is 1 where nothing was borrowed.
TEST_P(SimSemantics, ASubtractionCarriesWhereItDoesNotBorrow)
{
    ASSERT_EQ(run("carries", 1), PXB_OK) << error();
    const uint32_t expected[8] = {100, 201, 313, 412, 503, 602, 701, 800};
    for (uint32_t i = 0; i < 8; i++)
        EXPECT_EQ(word<uint32_t>(i), expected[i]) << i;
    EXPECT_EQ(word<uint64_t>(4), 900u);
    EXPECT_EQ(word<uint64_t>(5), 901u);
}

// A register and a constant as one source: the sum has the register's width, before the instruction takes it.
TEST_P(SimSemantics, SumsAsOperands)
{
    ASSERT_EQ(run("sums", 1), PXB_OK) << error();
    EXPECT_EQ(word<uint32_t>(0), 110u * 7 + 1);
    EXPECT_EQ(word<uint32_t>(1), 1u);
    EXPECT_EQ(word<uint64_t>(1), UINT64_C(0x100000001));
    EXPECT_EQ(word<uint32_t>(4), 20u);
    EXPECT_EQ(word<uint32_t>(5), 11u);
}

TEST_P(SimSemantics, ConstantsAndSpecialRegistersInBraces)
{
    ASSERT_EQ(run("braces", 32), PXB_OK) << error();
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; i < 4; i++)
            EXPECT_EQ(word<uint32_t>(lane * 16 + i), word<uint32_t>(lane * 16 + 4 + i)) << lane;
        EXPECT_NE(word<uint32_t>(lane * 16), 0u);
        EXPECT_EQ(word<uint32_t>(lane * 16 + 8), lane);
        EXPECT_EQ(word<uint32_t>(lane * 16 + 9), 0x3f800000u);
        EXPECT_EQ(word<uint32_t>(lane * 16 + 10), lane);
    }
}

TEST_P(SimSemantics, BarriersAreNotOneBarrier)
{
    EXPECT_EQ(run("crossed", 64), PXB_FAULT_DEADLOCK) << error();
}

TEST_P(SimSemantics, AHeapSurvivesARequestThatDoesNotFit)
{
    ASSERT_EQ(run("heap", 1), PXB_OK) << error();
    EXPECT_EQ(word<uint32_t>(0), 0u);
    EXPECT_EQ(word<uint32_t>(1), 1u);
}

TEST_P(SimSemantics, ATrapEndsThoseThatWait)
{
    EXPECT_EQ(run("trap_and_wait", 64), PXB_FAULT_TRAP) << error();
    EXPECT_EQ(run("nothing", 32), PXB_OK) << error();
}

// The trap is what went wrong, also where the time limit stopped the launch; and the next launch has nothing to do with it.
TEST_P(SimSemantics, AFaultIsOfItsOwnLaunch)
{
    set(1);
    EXPECT_EQ(run("trap_and_spin", 64, 1, 500), PXB_FAULT_TRAP) << error();
    set(0);
    EXPECT_EQ(run("trap_and_spin", 64), PXB_OK) << error();
}

TEST_P(SimSemantics, ATimeLimitCountsShortBlocks)
{
    EXPECT_EQ(run("nothing", 1, 2000000000, 300), PXB_FAULT_TIMEOUT) << error();
}

// Other rounding, and where a program can say so, subnormals flushed as -ffast-math does.
void disturb()
{
    fesetround(FE_UPWARD);
#ifdef __SSE__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

TEST_P(SimSemantics, TheCallersRoundingIsItsOwn)
{
    uint32_t usual[7];
    for (bool disturbed : {false, true}) {
        fenv_t environment;
        pxb_module *m = module;
        float one = 1;
        pxb_memory_write(device, memory + 252, &one, sizeof one);
        fegetenv(&environment);
        if (disturbed)
            disturb();
        pxb_status status = pxb_module_load_text(context, numbers, strlen(numbers), disturbed ? "numbers.ptx" : "usual.ptx", &module);
        if (!status)
            status = run("numbers", 1);
        const int rounding = fegetround();
        fesetenv(&environment);
        ASSERT_EQ(status, PXB_OK) << error();
        pxb_module_free(module);
        module = m;
        EXPECT_EQ(rounding, disturbed ? FE_UPWARD : FE_TONEAREST);
        EXPECT_EQ(word<uint32_t>(0), 0x3dcccccdu);
        EXPECT_EQ(word<uint32_t>(1), 0x000116c2u);
        EXPECT_EQ(word<uint64_t>(1), 0x3fd5555555555555u);
        EXPECT_EQ(word<uint32_t>(4), 0x4b800000u);
        EXPECT_EQ(word<uint32_t>(5), 0x00008b61u);
        for (uint32_t i = 0; i < 7; i++) {
            EXPECT_TRUE(!disturbed || usual[i] == word<uint32_t>(i)) << i;
            usual[i] = word<uint32_t>(i);
        }
    }
}

std::string name_of(const testing::TestParamInfo<const char *> &info)
{
    std::string name = info.param;
    for (char &c : name)
        if (c == ':') c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Devices, SimSemantics, testing::Values("cpu", "sim:gfx1100", "sim:gfx1201", "sim:gfx942"), name_of);

} // namespace
