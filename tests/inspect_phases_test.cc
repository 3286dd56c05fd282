// Phases, M, N and K, sources, epilogues and their names, on bodies small enough to know the answer by hand.
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "ptx/inspect/guess.h"
#include "ptx/inspect/stored.h"
}

namespace {

const char kHead[] = ".version 9.0\n.target sm_89\n.address_size 64\n"
                     ".visible .entry k(.param .u64 p)\n{\n"
                     ".reg .b32 %d<400>, %a<400>, %b<400>, %c<400>, %r<99>; .reg .b16 %h<99>; .reg .f32 %f<99>; .reg .f64 %fd<9>; .reg .pred %p<9>; .reg .b64 %rd<99>;\n"
                     ".shared .align 16 .b8 smem[4096];\n";

/* One mma of f16: D tile d, A fragment a, B fragment b, accumulator c as a name of a tile ("d3", "c0"). */
std::string mma(int d, int a, int b, const std::string &c, const char *opcode = "m16n8k16.row.col.f16.f16.f16.f16")
{
    char kind = c[0];
    int n = std::stoi(c.substr(1));
    auto list = [](char k, int first, int count) {
        std::string s = "{";
        for (int i = 0; i < count; i++)
            s += (i ? "," : "") + std::string("%") + k + std::to_string(first * count + i);
        return s + "}";
    };
    return std::string("mma.sync.aligned.") + opcode + " " + list('d', d, 2) + "," + list('a', a, 4) + "," + list('b', b, 2) + "," + list(kind, n, 2) + ";\n";
}

struct Analysis {
    explicit Analysis(const std::string &body, bool clean = true)
    {
        std::string text = kHead + body + "\nret;\n}\n";
        module = ptx_parse(text.data(), text.size(), "t.ptx");
        f = module->functions[0];
        if (clean) {
            EXPECT_EQ(module->nerrors, 0u) << (module->ndiagnostics ? module->diagnostics[0].message : "");
        }
        ptx_arena_init(&arena, SIZE_MAX);
        EXPECT_TRUE(pti_find_statements(module, f, &s));
        EXPECT_EQ(pti_find_flow(f, &flow), PTI_OK);
        EXPECT_TRUE(pti_find_phases(&s, &flow, &phases));
        EXPECT_TRUE(pti_find_opcodes(module, f, &opcodes));
        EXPECT_TRUE(pti_find_epilogues(&s, &phases, &opcodes, &epilogues));
        sources.resize(phases.count * PTI_ROLES + 1);
        pti_search search;
        EXPECT_TRUE(pti_begin_search(&flow, &phases, &opcodes, &arena, &search));
        for (uint32_t i = 0; i < phases.count * PTI_ROLES; i++)
            EXPECT_TRUE(pti_sources_of_phase(&search, i / PTI_ROLES, (int)(i % PTI_ROLES), &sources[i]));
        pti_end_search(&search);
        EXPECT_TRUE(pti_guess_epilogues(&s, &flow, &phases, &opcodes, sources.data(), &epilogues));
    }
    ~Analysis()
    {
        pti_free_epilogues(&epilogues);
        pti_free_opcodes(&opcodes);
        pti_free_phases(&phases);
        pti_free_flow(&flow);
        pti_free_statements(&s);
        ptx_arena_free(&arena);
        ptx_module_free(module);
    }
    const pti_phase &phase(uint32_t i) const { return phases.list[i]; }
    std::string size(uint32_t i) const
    {
        const pti_phase &p = phase(i);
        return std::to_string(p.M) + "x" + std::to_string(p.N) + "x" + std::to_string(p.K) + (p.full ? "" : " not full");
    }
    std::string evidence(uint32_t e, const char *name) const
    {
        for (uint32_t i = 0; i < epilogues.list[e].nguesses; i++)
            if (strcmp(epilogues.list[e].guesses[i].name, name) == 0)
                return epilogues.list[e].guesses[i].evidence;
        return "";
    }
    std::string names(uint32_t e) const
    {
        std::string all;
        for (uint32_t i = 0; i < epilogues.list[e].nguesses; i++)
            all += (i ? "; " : "") + std::string(epilogues.list[e].guesses[i].name);
        return all;
    }
    std::string opcodes_of(const pti_sources &from) const
    {
        std::string all;
        for (uint32_t i = 0; i < from.nthrough; i++)
            all += (i ? " " : "") + std::string(opcodes.list[opcodes.of_insn[from.through[i]]].text);
        return all;
    }
    ptx_module *module;
    const ptx_function *f;
    pti_statements s;
    pti_flow flow;
    pti_phases phases;
    pti_opcodes opcodes;
    pti_epilogues epilogues;
    std::vector<pti_sources> sources;
    ptx_arena arena;
};

/* A product of M x N tiles and K slices, in the given order of loops; fragments are numbered a = m * K + k, b = n * K + k. */
std::string product(int M, int N, int K, const char *order)
{
    std::string s;
    int limit[3], at[3];
    for (int i = 0; i < 3; i++)
        limit[i] = order[i] == 'm' ? M : order[i] == 'n' ? N : K;
    for (at[0] = 0; at[0] < limit[0]; at[0]++)
        for (at[1] = 0; at[1] < limit[1]; at[1]++)
            for (at[2] = 0; at[2] < limit[2]; at[2]++) {
                int m = 0, n = 0, k = 0;
                for (int i = 0; i < 3; i++)
                    (order[i] == 'm' ? m : order[i] == 'n' ? n : k) = at[i];
                std::string d = "d" + std::to_string(m * N + n);
                s += mma(m * N + n, m * K + k, n * K + k, k ? d : "c0");
            }
    return s;
}

TEST(Phases, SizesFollowFromFragmentsInAnyOrder)
{
    const int sizes[][3] = {{1, 1, 1}, {1, 4, 3}, {4, 1, 3}, {1, 1, 4}, {3, 5, 2}, {6, 4, 1}, {4, 4, 3}, {2, 2, 2}};
    for (const auto &n : sizes)
        for (const char *order : {"mnk", "nkm", "kmn", "knm", "mkn", "nmk"}) {
            Analysis x(product(n[0], n[1], n[2], order));
            ASSERT_EQ(x.phases.count, 1u);
            const pti_phase &p = x.phase(0);
            EXPECT_EQ(x.size(0), std::to_string(16 * n[0]) + "x" + std::to_string(8 * n[1]) + "x" + std::to_string(16 * n[2])) << order;
            EXPECT_EQ(p.nmma, (uint32_t)(n[0] * n[1] * n[2]));
            EXPECT_EQ(p.ntiles, (uint32_t)(n[0] * n[1]));
            EXPECT_EQ(p.na, (uint32_t)(n[0] * n[2]));
            EXPECT_EQ(p.nb, (uint32_t)(n[1] * n[2]));
            EXPECT_EQ(p.nproducts, 1u);
            for (uint32_t i = 0; i < p.nmma; i++) {      /* every place once */
                EXPECT_LT(p.mma[i].row, (uint32_t)n[0]);
                EXPECT_LT(p.mma[i].column, (uint32_t)n[1]);
                EXPECT_EQ(p.mma[i].slice, p.mma[i].step);
                for (uint32_t j = 0; j < i; j++)
                    EXPECT_FALSE(p.mma[i].row == p.mma[j].row && p.mma[i].column == p.mma[j].column && p.mma[i].slice == p.mma[j].slice);
            }
        }
}

TEST(Phases, HolesAreSeen)
{
    std::string all = product(3, 3, 2, "mnk");
    Analysis x(all.substr(0, all.rfind("mma")));                       /* the last tile lacks its second step */
    EXPECT_EQ(x.size(0), "48x24x32 not full");
    EXPECT_EQ(x.phase(0).products[0].count, 17u);
    std::string lower;                                              /* tiles on and below the diagonal */
    for (int m = 0; m < 3; m++)
        for (int n = 0; n <= m; n++)
            lower += mma(3 * m + n, m, n, "c0");
    Analysis y(lower);
    EXPECT_EQ(y.size(0), "48x24x16 not full");
    EXPECT_EQ(y.phase(0).products[0].tiles, 6u);
}

TEST(Phases, ProductsThatShareNothingAreApart)
{
    Analysis x(mma(0, 0, 0, "c0") + mma(1, 1, 1, "c0") + mma(2, 2, 2, "c0"));
    EXPECT_EQ(x.phase(0).nproducts, 3u);
    EXPECT_EQ(x.size(0), "16x8x16");
    Analysis y(mma(0, 0, 0, "c0") + mma(1, 1, 1, "c0") + mma(2, 2, 1, "c0"));
    EXPECT_EQ(y.phase(0).nproducts, 2u);
    EXPECT_EQ(y.phase(0).M, 0u);
    EXPECT_EQ(y.phase(0).products[1].M, 32u);
    /* the same fragments as other types are other products */
    Analysis z(mma(0, 0, 0, "c0") + mma(1, 0, 0, "c0", "m16n8k32.row.col.f16.e4m3.e4m3.f16") + mma(2, 0, 0, "c0", "m16n8k32.row.col.f16.e5m2.e4m3.f16"));
    EXPECT_EQ(z.phase(0).nproducts, 3u);
    EXPECT_TRUE(z.phase(0).mixed);
    EXPECT_EQ(z.phase(0).products[1].K, 32u);
}

TEST(Phases, ValuesCountNotNames)
{
    /* %a0…%a3 are loaded anew between: other fragments, so other phases; within a phase a copy is the same fragment */
    Analysis x(mma(0, 0, 0, "c0") + "mov.b32 %a0, 7;\nmov.b32 %b10, %b0;\nmov.b32 %b11, %b1;\n" + mma(1, 0, 0, "c0") + mma(2, 0, 5, "c0"));
    ASSERT_EQ(x.phases.count, 2u);
    EXPECT_EQ(x.phase(1).nb, 1u);
    EXPECT_EQ(x.phase(1).ntiles, 2u);
    EXPECT_FALSE(x.phase(1).full);                                  /* two tiles at one place */
    /* an accumulator that goes round over a copy */
    Analysis y(mma(0, 0, 0, "c0") + "mov.b32 %c8, %d0;\nmov.b32 %c9, %d1;\n" + mma(5, 1, 1, "c4"));
    EXPECT_EQ(y.phase(1).continues, 0u);
    /* one tile goes on from it, another does not */
    Analysis w(mma(0, 0, 0, "c0") + mma(1, 0, 1, "c0") + "mov.b32 %r1, 1;\n" + mma(5, 1, 1, "d0") + mma(6, 1, 2, "c4"));
    EXPECT_EQ(w.phase(1).continues, (uint32_t)PTI_NONE);
    /* its elements in another order are another accumulator */
    Analysis z(mma(0, 0, 0, "c0") + "mov.b32 %c9, %d0;\nmov.b32 %c8, %d1;\n" + mma(5, 1, 1, "c4"));
    EXPECT_EQ(z.phase(1).continues, (uint32_t)PTI_NONE);
}

TEST(Phases, ForkedAccumulators)
{
    Analysis x(mma(0, 0, 0, "c0") + mma(1, 1, 1, "d0") + mma(2, 2, 2, "d0"));
    EXPECT_EQ(x.phase(0).ntiles, 2u);
    EXPECT_EQ(x.phase(0).mma[2].step, 0u);
}

TEST(Phases, GroupsAndLoops)
{
    Analysis x(product(2, 2, 1, "mnk") + "mov.b32 %r0, 1;\n" + mma(0, 50, 50, "d0") + mma(1, 50, 51, "d1") + mma(2, 51, 50, "d2") + mma(3, 51, 51, "d3"));
    ASSERT_EQ(x.phases.count, 2u);
    EXPECT_EQ(x.phase(1).continues, 0u);
    ASSERT_EQ(x.phases.ngroups, 1u);
    EXPECT_EQ(x.phases.groups[0].K, 32u);
    EXPECT_EQ(x.phases.groups[0].M, 32u);
    EXPECT_FALSE(x.phases.groups[0].loops);
    EXPECT_EQ(x.phase(0).next, 1u);
    Analysis y("L:\n" + mma(0, 0, 0, "d0") + "mov.b32 %r0, 1;\n" + mma(0, 1, 1, "d0") + "@%p1 bra L;\n");
    EXPECT_EQ(y.phase(0).loop_from, 1u);
    EXPECT_EQ(y.phase(1).continues, 0u);
    ASSERT_EQ(y.phases.ngroups, 1u);
    EXPECT_TRUE(y.phases.groups[0].loops);
    EXPECT_EQ(y.phases.groups[0].K, 32u);
    Analysis z(mma(1, 0, 0, "c0") + "L:\n" + mma(0, 0, 0, "d0") + "@%p1 bra L;\n");
    EXPECT_EQ(z.phase(1).loop_from, 1u);
    EXPECT_EQ(z.phase(1).continues, (uint32_t)PTI_NONE);
    EXPECT_EQ(z.phase(0).loop_from, (uint32_t)PTI_NONE);
}

TEST(Phases, ProductsThatAreSpreadOverABlock)
{
    std::string spread = product(2, 3, 2, "kmn");
    for (size_t at = spread.find(";\n"), n = 0; at != std::string::npos; at = spread.find(";\n", at + 20), n++)
        if (n % 2)                     /* something stands behind every second mma */
            spread.insert(at + 2, "mov.b32 %r1, 1;\n");
    Analysis x(spread);
    EXPECT_EQ(x.phases.count, 6u);
    ASSERT_EQ(x.phases.njoins, 1u);
    const pti_join &j = x.phases.joins[0];
    EXPECT_EQ(j.nphases, 6u);
    EXPECT_EQ(j.nmma, 12u);
    EXPECT_EQ(std::to_string(j.M) + "x" + std::to_string(j.N) + "x" + std::to_string(j.K), "32x24x32");
    EXPECT_TRUE(j.full);
    EXPECT_FALSE(j.loops);
    /* what a group says is not said again; other blocks are not joined */
    Analysis chain(mma(0, 0, 0, "c0") + "mov.b32 %r1, 1;\n" + mma(0, 1, 1, "d0"));
    EXPECT_EQ(chain.phases.njoins, 0u);
    Analysis apart(mma(0, 0, 0, "c0") + "mov.b32 %r1, 1;\n" + mma(1, 1, 1, "c0"));
    EXPECT_EQ(apart.phases.njoins, 0u);
    Analysis blocks(mma(0, 0, 0, "c0") + "L:\n" + mma(1, 0, 1, "c0") + "@%p1 bra L;\n");
    EXPECT_EQ(blocks.phases.njoins, 0u);
    Analysis corner(mma(0, 0, 0, "c0") + mma(1, 0, 1, "c0") + "mov.b32 %r1, 1;\n" + mma(2, 1, 0, "c0"));
    ASSERT_EQ(corner.phases.njoins, 1u);
    EXPECT_FALSE(corner.phases.joins[0].full);
}

TEST(Phases, RunsEndAtLabelsAndBlocksCount)
{
    Analysis x("{ " + mma(0, 0, 0, "c0") + "}\n" + mma(1, 1, 1, "c0") + "L:\n" + mma(2, 2, 2, "c0") + "{ " + mma(3, 3, 3, "c0") + " mov.b32 %r1, 2; }\n");
    ASSERT_EQ(x.phases.count, 2u);
    EXPECT_EQ(x.phase(0).first, 0u);
    EXPECT_EQ(x.phase(0).last, 1u);
    EXPECT_EQ(x.phase(1).first, 3u);
    EXPECT_EQ(x.phase(1).nmma, 1u);
    EXPECT_EQ(pti_phases_before(&x.phases, 0), 0u);
    EXPECT_EQ(pti_phases_before(&x.phases, 2), 1u);
    uint32_t first, end;
    pti_epilogue_range(&x.phases, &x.s, 1, &first, &end);
    EXPECT_EQ(first, 2u);
    EXPECT_EQ(end, 3u);
    pti_epilogue_range(&x.phases, &x.s, 2, &first, &end);
    EXPECT_EQ(end, x.s.count);
}

TEST(Sources, EndAtLoadsPhasesAndConstants)
{
    Analysis x("ld.param.u64 %rd1, [p];\nld.global.v2.u32 {%b0, %b1}, [%rd1];\nmov.b32 %c0, 0;\nmov.b32 %c1, %c0;\nmov.u32 %a0, %laneid;\n"
               "ld.shared.v2.u32 {%a1, %a2}, [smem];\n" + mma(0, 0, 0, "c0") +
               "add.f16x2 %d4, %d0, %d0;\ncvt.rn.satfinite.e4m3x2.f16x2 %h1, %d4;\ncvt.rn.satfinite.e4m3x2.f16x2 %h2, %d1;\nmov.b32 %a4, {%h1, %h2};\n" +
               mma(1, 1, 0, "d0"));
    const pti_sources *s = x.sources.data();
    ASSERT_EQ(s[PTI_ROLE_A].nroots, 3u);                            /* %laneid, a load, and %a3, which nothing writes */
    EXPECT_EQ(s[PTI_ROLE_A].roots[0].kind, PTI_ORIGIN_LOAD);
    EXPECT_EQ(s[PTI_ROLE_A].roots[0].at, 5u);
    EXPECT_EQ(s[PTI_ROLE_A].roots[1].kind, PTI_ORIGIN_SPECIAL);
    EXPECT_EQ(s[PTI_ROLE_A].roots[2].kind, PTI_ORIGIN_UNWRITTEN);
    ASSERT_EQ(s[PTI_ROLE_B].nroots, 1u);
    EXPECT_TRUE(s[PTI_ROLE_B].direct);
    ASSERT_EQ(s[PTI_ROLE_C].nroots, 1u);
    EXPECT_EQ(s[PTI_ROLE_C].roots[0].kind, PTI_ORIGIN_CONSTANT);
    Analysis chain("mov.b32 %c0, 0;\nmov.b32 %c1, 0;\n" + mma(0, 0, 0, "c0") + mma(0, 1, 1, "d0"));
    EXPECT_EQ(chain.phase(0).K, 32u);
    for (uint32_t i = 0; i < chain.sources[PTI_ROLE_C].nroots; i++)      /* the phase is not its own source */
        EXPECT_EQ(chain.sources[PTI_ROLE_C].roots[i].kind, PTI_ORIGIN_CONSTANT);
    const pti_sources &a = s[PTI_ROLES + PTI_ROLE_A];
    EXPECT_EQ(a.roots[0].kind, PTI_ORIGIN_PHASE);
    EXPECT_EQ(a.roots[0].at, 0u);
    EXPECT_EQ(x.opcodes_of(a), "add.f16x2 cvt.rn.satfinite.e4m3x2.f16x2 cvt.rn.satfinite.e4m3x2.f16x2");
    EXPECT_FALSE(a.direct);
    EXPECT_EQ(x.names(1), "requantise → P2's A");
    EXPECT_EQ(x.evidence(1, "requantise → P2's A"), "2 cvt.rn.satfinite.e4m3x2.f16x2: 2 for P2's A; of P1's D as it is: 1");
}

/* The statements of the stores that the A operand of phase p is taken to come from, and what they store. */
std::string stores_of(Analysis &x, uint32_t p)
{
    pti_symbols symbols;
    pti_addresses addresses;
    pti_exchange exchange;
    pti_search search;
    pti_stored stored;
    pti_launch launch = {{32, 1, 1}};
    pti_threads threads;
    pti_loops loops;
    EXPECT_EQ(pti_find_symbols(&x.flow, &launch, &symbols), PTI_OK);
    EXPECT_EQ(pti_find_threads(&symbols, &threads), PTI_OK);
    EXPECT_EQ(pti_find_loops(&symbols, &threads, &loops), PTI_OK);
    EXPECT_EQ(pti_find_addresses(&symbols, &loops, &addresses), PTI_OK);
    EXPECT_TRUE(pti_find_exchange(x.f, &addresses, &x.opcodes, &exchange));
    EXPECT_TRUE(pti_begin_search(&x.flow, &x.phases, &x.opcodes, &x.arena, &search));
    EXPECT_TRUE(pti_find_stored(&exchange, &search, &x.sources[p * PTI_ROLES + PTI_ROLE_A], &stored));
    std::string all;
    for (uint32_t i = 0; i < stored.nstores; i++)
        all += (i ? " s" : "s") + std::to_string(pti_statement_of_insn(&x.s, stored.stores[i]) + 1);
    for (uint32_t i = 0; i < stored.data.nroots; i++)
        all += stored.data.roots[i].kind == PTI_ORIGIN_PHASE ? " P" + std::to_string(stored.data.roots[i].at + 1)
                                                             : " kind " + std::to_string(stored.data.roots[i].kind);
    pti_end_search(&search);
    pti_free_exchange(&exchange);
    pti_free_addresses(&addresses);
    pti_free_loops(&loops);
    pti_free_threads(&threads);
    pti_free_symbols(&symbols);
    return all;
}

TEST(Sources, GoBehindSharedMemory)
{
    const std::string load = "ld.shared.v4.u32 {%a4, %a5, %a6, %a7}, [smem+64];\n", second = mma(1, 1, 0, "c0");
    Analysis x(mma(0, 0, 0, "c0") + "st.shared.u32 [smem+64], %d0;\nbar.sync 0;\n" + load + second);
    EXPECT_EQ(stores_of(x, 1), "s2 P1");
    Analysis other(mma(0, 0, 0, "c0") + "st.shared.u32 [smem+80], %d0;\nbar.sync 0;\n" + load + second);      /* other bytes */
    EXPECT_EQ(stores_of(other, 1), "");
    Analysis late(mma(0, 0, 0, "c0") + "st.shared.u32 [smem+64], %r1;\nbar.sync 0;\n" + load + "st.shared.u32 [smem+64], %d0;\n" + second);
    EXPECT_EQ(stores_of(late, 1), "s2 kind " + std::to_string(PTI_ORIGIN_UNWRITTEN));
    /* the newest interval that has any */
    Analysis newest("st.shared.u32 [smem+64], %r1;\nbar.sync 0;\n" + mma(0, 0, 0, "c0") +
                    "st.shared.u32 [smem+64], %d0;\nst.shared.u32 [smem+68], %d1;\nbar.sync 0;\nst.shared.u32 [smem+512], %r1;\nbar.sync 0;\n" + load + second);
    EXPECT_EQ(stores_of(newest, 1), "s4 s5 P1");
    Analysis copy("ld.param.u64 %rd1, [p];\ncp.async.ca.shared.global [smem+64], [%rd1], 16;\nbar.sync 0;\n" + load + mma(1, 1, 0, "c0"));
    EXPECT_EQ(stores_of(copy, 0), "s2 kind " + std::to_string(PTI_ORIGIN_LOAD));
    Analysis none(mma(0, 0, 0, "c0") + mma(1, 1, 0, "c0"));
    EXPECT_EQ(stores_of(none, 0), "");
}

TEST(Epilogues, ShapesAndHistograms)
{
    std::string step = "add.f16x2 %a0, %d0, %r3;\nmov.b32 %r1, 5;\nadd.f16x2 %a1, %d1, %r3;\n";
    std::string other = "add.f16x2 %a1, %d1, %r7;\nmov.b32 %r2, 9;\nadd.f16x2 %a0, %d0, %r7;\n";
    std::string third = "add.f16x2 %a1, %d1, %r7;\nadd.f16x2 %a0, %d0, %r7;\nmov.b32 %r2, 9;\n";
    std::string guarded = "@%p1 add.f16x2 %a1, %d1, %r7;\nmov.b32 %r2, 9;\nadd.f16x2 %a0, %d0, %r7;\n";
    Analysis x(mma(0, 0, 0, "c0") + step + mma(0, 0, 0, "c0") + other + mma(0, 0, 0, "c0") + third + mma(0, 0, 0, "c0") + guarded + mma(0, 0, 0, "c0"));
    const pti_epilogue *e = x.epilogues.list;
    ASSERT_EQ(x.epilogues.count, 6u);
    EXPECT_EQ(e[2].like, 1u);
    EXPECT_EQ(e[1].nlike, 2u);
    EXPECT_EQ(e[3].like, 3u);
    EXPECT_EQ(e[4].like, 4u);
    ASSERT_EQ(e[1].nops, 2u);
    ASSERT_EQ(e[2].nops, 2u);
    Analysis y("mov.b32 %r1, 1;\nadd.f16x2 %a0, %d0, %r3;\nadd.f16x2 %a1, %d1, %r3;\n");
    EXPECT_EQ(y.epilogues.list[0].ops[0].count, 2u);
    EXPECT_EQ(e[1].ops[0].count, 2u);
    EXPECT_STREQ(x.opcodes.list[e[1].ops[0].opcode].text, "add.f16x2");
    EXPECT_EQ(e[1].work[PTI_WORK_FLOAT], 2u);
    EXPECT_EQ(e[1].work[PTI_WORK_MOVE], 1u);
    EXPECT_EQ(e[5].ninsns, 1u);
}

const char kHalfConstants[] =
    "mov.f32 %f1, 0f3ED306EB;\n{ .reg .f16 l; cvt.rn.f16.f32 l, %f1; mov.b32 %r1, {l,l}; }\n"          /* 0.412109375 */
    "mov.f32 %f2, 0f3DA60DD6;\n{ .reg .f16 l; cvt.rn.f16.f32 l, %f2; mov.b32 %r2, {l,l}; }\n"          /* 0.0810546875 */
    "mov.f64 %fd1, 0d4000000000000000;\n{ .reg .f16 l; cvt.rn.f16.f64 l, %fd1; mov.b32 %r3, {l,l}; }\n" /* 2 */
    "neg.f16x2 %r4, %r3;\n";

TEST(Guess, ActivationWithItsConstants)
{
    Analysis x(kHalfConstants + mma(0, 0, 0, "c0") +
               "max.f16x2 %r10, %d0, %r4;\nmin.f16x2 %r11, %r10, %r3;\nabs.f16x2 %r12, %r11;\nmul.f16x2 %r13, %r2, %r12;\nsub.f16x2 %r14, %r1, %r13;\n"
               "mul.f16x2 %r15, %r11, %r14;\nmul.f16x2 %r16, %d0, %r15;\ncvt.rn.satfinite.e4m3x2.f16x2 %h1, %r16;\nmov.b32 %a4, {%h1, %h1};\n" +
               mma(1, 1, 0, "d0"));
    EXPECT_EQ(x.evidence(1, "activation"), "x·(y·(0.412109375 − 0.0810546875·|y|)), y = clamp(x, −2, 2) with x of P1's D; results: 1");
    /* two unknowns are no activation of one */
    Analysis y(kHalfConstants + mma(0, 0, 0, "c0") +
               "max.f16x2 %r10, %d0, %r4;\nmul.f16x2 %r16, %d1, %r10;\ncvt.rn.satfinite.e4m3x2.f16x2 %h1, %r16;\nmov.b32 %a4, {%h1, %h1};\n" + mma(1, 1, 0, "d0"));
    EXPECT_EQ(y.names(1), "requantise → P2's A");
}

TEST(Guess, BitsAreNoActivation)
{
    Analysis x("ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nand.b32 %r2, %r1, 255;\nst.global.u32 [%rd1], %r2;\n");
    EXPECT_EQ(x.names(0), "store to global memory");
}

TEST(Guess, Softmax)
{
    const std::string tail = "ex2.approx.ftz.f32 %f11, %f1;\nex2.approx.ftz.f32 %f12, %f2;\nadd.f32 %f13, %f11, %f12;\nrcp.approx.ftz.f32 %f14, %f13;\n"
                             "mul.f32 %f15, %f11, %f14;\nst.global.f32 [%rd1], %f15;\n";
    const std::string loads = "ld.param.u64 %rd1, [p];\nld.global.v2.f32 {%f1, %f2}, [%rd1];\n";
    Analysis plain(loads + tail);
    EXPECT_EQ(plain.names(0), "softmax without maximum; store to global memory");
    Analysis with(loads + "max.f32 %f3, %f1, %f2;\nsub.f32 %f1, %f1, %f3;\nsub.f32 %f2, %f2, %f3;\n" + tail);
    EXPECT_EQ(with.names(0), "softmax with maximum; store to global memory");
    Analysis clamped(loads + "max.f32 %f1, %f1, 0f00000000;\n" + tail);
    EXPECT_EQ(clamped.names(0), "softmax without maximum; store to global memory");
    Analysis gate(loads + "ex2.approx.ftz.f32 %f11, %f1;\nadd.f32 %f12, %f11, 0f3F800000;\nrcp.approx.ftz.f32 %f13, %f12;\nst.global.f32 [%rd1], %f13;\n");
    EXPECT_EQ(gate.names(0).substr(0, 7), "sigmoid");
    /* a sum of exponentials that nothing is divided by, with another inverse beside it */
    Analysis cosh(loads + "ex2.approx.ftz.f32 %f11, %f1;\nneg.f32 %f3, %f1;\nex2.approx.ftz.f32 %f12, %f3;\nadd.f32 %f13, %f11, %f12;\nrcp.approx.ftz.f32 %f14, %f11;\n"
                  "st.global.f32 [%rd1], %f13;\nst.global.f32 [%rd1+4], %f14;\n");
    EXPECT_EQ(cosh.names(0).substr(0, 12), "exponentials");
    /* the sum goes through shared memory */
    Analysis block(loads + "ex2.approx.ftz.f32 %f11, %f1;\nex2.approx.ftz.f32 %f12, %f2;\nadd.f32 %f13, %f11, %f12;\nst.shared.f32 [smem], %f13;\nbar.sync 0;\n"
                   "ld.shared.f32 %f14, [smem+4];\ndiv.rn.f32 %f15, %f11, %f14;\nst.global.f32 [%rd1], %f15;\n");
    EXPECT_EQ(block.names(0).substr(0, 23), "softmax without maximum");
    Analysis elsewhere(loads + "ex2.approx.ftz.f32 %f11, %f1;\nex2.approx.ftz.f32 %f12, %f2;\nadd.f32 %f13, %f11, %f12;\nst.shared.f32 [smem], %f2;\nbar.sync 0;\n"
                       "ld.shared.f32 %f14, [smem+4];\ndiv.rn.f32 %f15, %f1, %f14;\nst.global.v2.f32 [%rd1], {%f15, %f13};\n");
    EXPECT_EQ(elsewhere.names(0).substr(0, 12), "exponentials");
    /* bits shifted into the exponent */
    Analysis bits(loads + "mov.b32 %r1, %f1;\nfma.rn.f16x2 %r2, %r1, %r1, %r1;\nshl.b32 %r3, %r2, 5;\nand.b32 %r4, %r3, 2145419232;\nadd.f16x2 %r5, %r4, %r4;\n"
                  "rcp.approx.ftz.f32 %f3, %r5;\nst.global.f32 [%rd1], %f3;\n");
    EXPECT_NE(bits.evidence(0, "softmax without maximum").find("bits shifted into the exponent"), std::string::npos) << bits.names(0);
    /* the exponential of a fraction times the bits of a whole number is one exponential, not two */
    Analysis whole(loads + "add.f32 %f3, %f1, 0f4B400001;\nmov.b32 %r1, %f3;\nshl.b32 %r2, %r1, 23;\nmov.b32 %f4, %r2;\nex2.approx.ftz.f32 %f5, %f2;\nmul.f32 %f6, %f5, %f4;\n"
                   "st.global.f32 [%rd1], %f6;\n");
    EXPECT_EQ(whole.evidence(0, "exponentials").substr(0, 37), "exponentials: 1 by ex2.approx.ftz.f32") << whole.names(0);
    Analysis two(loads + "add.f32 %f3, %f1, 0f4B400001;\nmov.b32 %r1, %f3;\nshl.b32 %r2, %r1, 23;\nmov.b32 %f4, %r2;\nex2.approx.ftz.f32 %f5, %f2;\nadd.f32 %f6, %f5, %f4;\n"
                 "st.global.f32 [%rd1], %f6;\n");
    EXPECT_EQ(two.evidence(0, "exponentials").substr(0, 15), "exponentials: 2");
}

TEST(Guess, OnlineSoftmaxAndItsDivision)
{
    /* one turn: the maximum grows, the sum and an accumulator are scaled; the division stands behind the loop and a product */
    const std::string before = "ld.param.u64 %rd1, [p];\nmov.f32 %f20, 0fFF800000;\nmov.f32 %f21, 0f00000000;\nmov.f32 %f22, 0f00000000;\n"
                               "L: ld.global.v2.f32 {%f1, %f2}, [%rd1];\nmax.f32 %f3, %f1, %f2;\nmax.f32 %f4, %f20, %f3;\nsub.f32 %f5, %f20, %f4;\n";
    const std::string exponentials = "ex2.approx.ftz.f32 %f6, %f5;\nsub.f32 %f7, %f1, %f4;\nex2.approx.ftz.f32 %f8, %f7;\nsub.f32 %f9, %f2, %f4;\nex2.approx.ftz.f32 %f10, %f9;\n"
                                     "add.f32 %f11, %f8, %f10;\nfma.rn.f32 %f21, %f21, %f6, %f11;\nmul.f32 %f22, %f22, %f6;\nmov.f32 %f20, %f4;\n";
    const std::string loop = "setp.lt.u32 %p1, %r9, 7;\n@%p1 bra L;\n" + mma(0, 0, 0, "c0");
    Analysis x(before + exponentials + loop + "rcp.approx.ftz.f32 %f12, %f21;\nmul.f32 %f13, %f22, %f12;\nst.global.f32 [%rd1], %f13;\n");
    EXPECT_EQ(x.evidence(0, "softmax with maximum"), "exponentials: 3 by ex2.approx.ftz.f32; additions of them: 1, shuffles: 0, inverses: 1; a maximum is subtracted first; "
                                                     "online: multiplications of what the loop brings round by one: 2; the inverses stand in other epilogues");
    EXPECT_EQ(x.evidence(1, "division by a softmax's sum"), "inverses of what E0 sums up: 1, multiplications by them: 1");
    /* an inverse of something else */
    Analysis other(before + exponentials + loop + "rcp.approx.ftz.f32 %f12, %f20;\nmul.f32 %f13, %f22, %f12;\nst.global.f32 [%rd1], %f13;\n");
    EXPECT_EQ(other.names(0).substr(0, 12), "exponentials");
    EXPECT_EQ(other.names(1), "store to global memory");
}

TEST(Guess, GatesAndReductions)
{
    const std::string e = "ld.param.u64 %rd1, [p];\nld.global.f32 %f1, [%rd1];\nex2.approx.ftz.f32 %f2, %f1;\nadd.f32 %f3, %f2, 0f3F800000;\nrcp.approx.ftz.f32 %f4, %f3;\n";
    Analysis tanh(e + "mov.f32 %f6, 0f3F800000;\nmov.f32 %f7, 0fC0000000;\nfma.rn.f32 %f5, %f4, %f7, %f6;\nst.global.f32 [%rd1], %f5;\n");
    EXPECT_EQ(tanh.names(0).substr(0, 18), "hyperbolic tangent");
    EXPECT_EQ(tanh.names(0).find("sigmoid"), std::string::npos);
    Analysis sigmoid(e + "fma.rn.f32 %f5, %f4, 0fC0400000, 0f3F800000;\nst.global.f32 [%rd1], %f5;\n");
    EXPECT_EQ(sigmoid.names(0).substr(0, 7), "sigmoid");
    const std::string shuffle = "ld.param.u64 %rd1, [p];\nld.global.f32 %f1, [%rd1];\nmov.b32 %r1, %f1;\nshfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\nmov.b32 %f2, %r2;\n";
    Analysis sum(shuffle + "add.f32 %f3, %f1, %f2;\nst.global.f32 [%rd1], %f3;\n");
    EXPECT_EQ(sum.evidence(0, "reduction over lanes"), "of a value and what another lane has of it: 1 add.f32");
    Analysis exchange(shuffle + "ld.global.f32 %f4, [%rd1+4];\nadd.f32 %f3, %f4, %f2;\nst.global.f32 [%rd1], %f3;\n");
    EXPECT_EQ(exchange.names(0), "store to global memory");
    Analysis copies("ld.param.u64 %rd1, [p];\ncp.async.ca.shared.global [smem], [%rd1], 16;\ncp.async.wait_all;\n" + mma(0, 0, 0, "c0") + "cp.async.wait_all;\n");
    EXPECT_EQ(copies.names(0), "asynchronous copies");
    EXPECT_EQ(copies.names(1), "waits for asynchronous copies");
}

TEST(Guess, Norms)
{
    const std::string loads = "ld.param.u64 %rd1, [p];\nld.global.v2.f32 {%f1, %f2}, [%rd1];\n";
    const std::string tail = "mul.f32 %f3, %f1, %f1;\nfma.rn.f32 %f4, %f2, %f2, %f3;\nadd.f32 %f5, %f4, 0f3727C5AC;\nrsqrt.approx.ftz.f32 %f6, %f5;\n"
                             "mul.f32 %f7, %f6, %f1;\nst.global.f32 [%rd1], %f7;\n";
    Analysis rms(loads + tail);
    EXPECT_EQ(rms.evidence(0, "RMS norm"), "rsqrt(Σx² + 1e-05): 1, of squares: 2, shuffles: 0, multiplications by it: 1; no mean is subtracted");
    Analysis mean(loads + "add.f32 %f8, %f1, %f2;\nmul.f32 %f9, %f8, 0f3F000000;\nsub.f32 %f1, %f1, %f9;\nsub.f32 %f2, %f2, %f9;\n" + tail);
    EXPECT_EQ(mean.names(0).substr(0, 23), "normalisation with mean");
    Analysis none(loads + "mul.f32 %f3, %f1, %f1;\nrsqrt.approx.ftz.f32 %f6, %f2;\nst.global.f32 [%rd1], %f6;\n");
    EXPECT_EQ(none.names(0), "store to global memory");
    /* a length, and a distance: nothing that was squared is multiplied by it */
    Analysis length(loads + "mul.f32 %f3, %f1, %f1;\nfma.rn.f32 %f4, %f2, %f2, %f3;\nsqrt.approx.ftz.f32 %f6, %f4;\nst.global.f32 [%rd1], %f6;\n");
    EXPECT_EQ(length.names(0), "root of a sum of squares; store to global memory");
    Analysis other(loads + "mul.f32 %f3, %f1, %f1;\nfma.rn.f32 %f4, %f2, %f2, %f3;\nsqrt.approx.ftz.f32 %f6, %f4;\nld.global.f32 %f8, [%rd1+8];\n"
                   "mul.f32 %f7, %f6, 0f40400000;\nst.global.f32 [%rd1], %f7;\n");
    EXPECT_EQ(other.names(0), "root of a sum of squares; store to global memory");
    Analysis distance(loads + "sub.f32 %f3, %f1, %f2;\nmul.f32 %f4, %f3, %f3;\nrsqrt.approx.ftz.f32 %f6, %f4;\nst.global.f32 [%rd1], %f6;\n");
    EXPECT_EQ(distance.names(0), "root of squared differences; store to global memory");
    /* a root of one square and a constant, and beside it a square that something is multiplied by: each alone proves nothing */
    Analysis apart(loads + "fma.rn.f32 %f3, %f1, %f1, 0f3F800000;\nsqrt.approx.ftz.f32 %f6, %f3;\nmul.f32 %f4, %f2, %f2;\nfma.rn.f32 %f5, %f4, %f2, %f4;\nmul.f32 %f7, %f6, %f1;\n"
                   "st.global.v2.f32 [%rd1], {%f5, %f7};\n");
    EXPECT_EQ(apart.names(0), "function of one value; store to global memory");
    /* a length that what was squared is multiplied by, and not divided by */
    Analysis times(loads + "mul.f32 %f3, %f1, %f1;\nfma.rn.f32 %f4, %f2, %f2, %f3;\nsqrt.approx.ftz.f32 %f6, %f4;\nmul.f32 %f7, %f6, %f1;\nst.global.f32 [%rd1], %f7;\n");
    EXPECT_EQ(times.names(0), "root of a sum of squares; store to global memory");
    Analysis inverse(loads + "mul.f32 %f3, %f1, %f1;\nfma.rn.f32 %f4, %f2, %f2, %f3;\nsqrt.rn.f32 %f6, %f4;\nrcp.rn.f32 %f8, %f6;\nmul.f32 %f7, %f8, %f1;\nst.global.f32 [%rd1], %f7;\n");
    EXPECT_EQ(inverse.names(0), "RMS norm; store to global memory");
    /* two sums: what the other one's values are multiplied by */
    Analysis crossed(loads + "ld.global.v2.f32 {%f11, %f12}, [%rd1+8];\nmul.f32 %f3, %f1, %f1;\nfma.rn.f32 %f4, %f2, %f2, %f3;\nrsqrt.approx.f32 %f6, %f4;\n"
                     "mul.f32 %f7, %f6, %f11;\nmul.f32 %f8, %f11, %f11;\nst.global.v2.f32 [%rd1], {%f7, %f8};\n");
    EXPECT_EQ(crossed.names(0), "root of a sum of squares; store to global memory");
    Analysis moments(loads + "mul.f32 %f3, %f1, %f1;\nfma.rn.f32 %f4, %f2, %f2, %f3;\nadd.f32 %f8, %f1, %f2;\nmul.f32 %f8, %f8, 0f3F000000;\nmul.f32 %f9, %f8, %f8;\n"
                     "sub.f32 %f4, %f4, %f9;\nrsqrt.approx.f32 %f6, %f4;\nsub.f32 %f1, %f1, %f8;\nmul.f32 %f7, %f1, %f6;\nst.global.f32 [%rd1], %f7;\n");
    EXPECT_EQ(moments.names(0), "normalisation with mean; store to global memory");
    /* the sum of a block, over shuffles and shared memory; what is scaled is loaded again */
    Analysis block(loads + "mul.f32 %f3, %f1, %f1;\nmov.b32 %r1, %f3;\nshfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\nmov.b32 %f4, %r2;\nadd.f32 %f5, %f3, %f4;\nst.shared.f32 [smem], %f5;\n"
                   "bar.sync 0;\nld.shared.f32 %f6, [smem+4];\nfma.rn.f32 %f7, %f6, 0f3A800000, 0f358637BD;\nrsqrt.approx.f32 %f8, %f7;\nld.global.f32 %f9, [%rd1];\n"
                   "mul.f32 %f10, %f9, %f8;\nst.global.f32 [%rd1+64], %f10;\n");
    EXPECT_EQ(block.names(0).substr(0, 8), "RMS norm");
}

TEST(Guess, ResidualAndOperands)
{
    Analysis x("ld.param.u64 %rd1, [p];\n" + mma(0, 0, 0, "c0") + "ld.global.v2.u32 {%r1, %r2}, [%rd1];\nadd.f16x2 %c0, %d0, %r1;\nadd.f16x2 %c1, %d1, %r2;\n"
               "ld.global.v2.u32 {%b0, %b1}, [%rd1+64];\n" + mma(1, 0, 0, "c0"));
    EXPECT_EQ(x.evidence(1, "residual add → P2's C"), "additions: 2; of D of P1, loads here: 1");
    Analysis packs(mma(0, 0, 0, "c0") + "add.f16x2 %r1, %d0, %d0;\ncvt.rn.satfinite.e4m3x2.f16x2 %h1, %r1;\ncvt.rn.satfinite.e4m3x2.f16x2 %h2, %r1;\n"
                   "cvt.rn.satfinite.e4m3x2.f16x2 %h3, %d1;\nmov.b32 %a4, {%h1, %h2};\nmov.b32 %a5, {%h3, %h3};\n" + mma(1, 1, 0, "c0"));
    EXPECT_EQ(packs.evidence(1, "requantise → P2's A"), "3 cvt.rn.satfinite.e4m3x2.f16x2: 3 for P2's A; of P1's D as it is: 1");
    EXPECT_EQ(x.evidence(1, "operands: P2's B"), "loaded as they are used: 1 ld.global.v2.u32 → P2's B");
}

TEST(Fold, ConversionsRoundOnce)
{
    struct { const char *text; const char *type; double want; } cases[] = {
        {"mov.f32 %f1, 0f3C8CCB50; cvt.rn.f16.f32 %h1, %f1;", "f16", 0.017181396484375},
        {"mov.f64 %fd1, 0dBFE1CC0000000000; cvt.rn.f16.f64 %h1, %fd1;", "f16", -0.55615234375},
        {"mov.f64 %fd1, 0d3F20000000000000; cvt.rn.f16.f64 %h1, %fd1;", "f16", 0.0001220703125},
        {"mov.f64 %fd1, 0d3E70000000000000; cvt.rn.f16.f64 %h1, %fd1;", "f16", 5.9604644775390625e-08},      /* the least subnormal */
        {"mov.f64 %fd1, 0d3E60000000000000; cvt.rn.f16.f64 %h1, %fd1;", "f16", 0},                           /* a tie to even */
        {"mov.f64 %fd1, 0d3E60000000000001; cvt.rn.f16.f64 %h1, %fd1;", "f16", 5.9604644775390625e-08},
        {"mov.f64 %fd1, 0d3F0FFFFFFFFFFFFF; cvt.rn.f16.f64 %h1, %fd1;", "f16", 0.00006103515625},            /* up into the normal numbers */
        {"mov.f64 %fd1, 0d40EFFC0000000000; cvt.rn.f16.f64 %h1, %fd1;", "f16", 65504},
        {"mov.f64 %fd1, 0d40EFFDFFFFFFFFFF; cvt.rn.f16.f64 %h1, %fd1;", "f16", 65504},
        {"mov.f64 %fd1, 0d40EFFE0000000000; cvt.rn.f16.f64 %h1, %fd1;", "f16", HUGE_VAL},                    /* 65520 */
        {"mov.f64 %fd1, 0d3FF0020000000001; cvt.rn.f16.f64 %h1, %fd1;", "f16", 1.0009765625},                /* not over f32 and then f16 */
        {"mov.b16 %h2, 0x3C00; mov.b16 %h1, %h2;", "f16", 1},
        {"mov.b32 %r1, 0x40003C00; mov.b32 {%h2, %h1}, %r1;", "f16", 2},
    };
    for (const auto &c : cases) {
        Analysis x(c.text);
        uint32_t insn = x.f->ninsns - 2, value = PTI_NONE;
        for (uint32_t v = x.flow.first_def[insn]; v < x.flow.first_def[insn + 1]; v++)
            if (strcmp(x.f->registers[x.flow.values[v].reg].name, "%h1") == 0)
                value = v;
        uint64_t bits = 0;
        double got = -1;
        ASSERT_TRUE(pti_fold(&x.flow, &x.opcodes, value, &bits)) << c.text;
        ASSERT_TRUE(pti_number(bits, ptx_type_from_name(c.type, (uint32_t)strlen(c.type)), &got));
        EXPECT_EQ(got, c.want) << c.text;
    }
}

TEST(Hostile, StrangeBodiesDoNoHarm)
{
    for (const char *body : {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0,%d0},{%a0,%a0,%a0,%a0},{%b0,%b0},{%d0,%d0};",
                             "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0,%d1},{%d0,%d1,%d0,%d1},{%d0,%d1},{%d0,%d1};",
                             "L: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0,%d1},{%d0,%d1,%d0,%d1},{%d0,%d1},{%d0,%d1}; bra L;",
                             "frobnicate; mma.sync %a1; mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0,%d1};", "bra L; mov.b32 %r1, %r1; L: mov.b32 %r1, %r1;",
                             "bra E; M: mov.b32 %r1, %r2; mov.b32 %r2, %r1; bra M; E:", "{ } { { } } L: M:", ""}) {
        Analysis x(body, false);
        EXPECT_EQ(x.epilogues.count, x.phases.count + 1);
    }
    std::string deep = "mov.f32 %f1, 0f3F800000;\n";                 /* formulas and constants that double at each step */
    for (int i = 0; i < 200; i++)
        deep += "mul.f32 %f1, %f1, %f1;\nmov.b32 %r1, {%h1, %h1};\nmov.b32 {%h1, %h2}, %r1;\n";
    Analysis x(deep + "cvt.rn.satfinite.e4m3x2.f32 %h3, %f1, %f1;");
    std::string phis;                                              /* a chain of many phis */
    for (int i = 0; i < 20000; i++)
        phis += "@%p1 bra L" + std::to_string(i) + ";\nex2.approx.ftz.f32 %f1, %f1;\nL" + std::to_string(i) + ":\n";
    Analysis y(phis + "rcp.approx.ftz.f32 %f2, %f1;");
    EXPECT_EQ(y.epilogues.count, 1u);
}

}  // namespace
