// inspect_flow_test.cc - blocks and def-use chains of small functions with known answers.
#include <gtest/gtest.h>
#include <string>
#include <vector>
extern "C" {
#include "ptx/inspect/flow.h"
}

namespace {

struct Flow {
    ptx_module *module = nullptr;
    const ptx_function *f = nullptr;
    pti_flow flow{};

    explicit Flow(const std::string &body)
    {
        std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
                           ".reg .pred %p<8>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<8>;\n" + body + "\n}\n";
        module = ptx_parse(text.data(), text.size(), "t.ptx");
        EXPECT_EQ(module->nerrors, 0u) << (module->ndiagnostics ? module->diagnostics[0].message : "");
        f = module->functions[0];
        EXPECT_EQ(pti_find_flow(f, &flow), PTI_OK);
    }
    ~Flow() { pti_free_flow(&flow); ptx_module_free(module); }

    uint32_t reg(const std::string &name) const
    {
        for (uint32_t r = 0; r < f->nregisters; r++)
            if (name == f->registers[r].name) return r;
        return PTI_NONE;
    }
    // Instructions that may define what instruction `insn` reads in `name`; -1 stands for the entry.
    std::vector<int> reaching(uint32_t insn, const std::string &name) const
    {
        uint32_t list[64];
        bool entry;
        uint32_t value = pti_value_read(&flow, insn, reg(name));
        if (value == PTI_NONE) return {-2};
        uint32_t n = pti_reaching(&flow, value, list, 64, &entry);
        std::vector<int> out(list, list + n);
        if (entry) out.insert(out.begin(), -1);
        return out;
    }
};

using V = std::vector<int>;

}  // namespace

TEST(InspectFlow, StraightLineReusesAName)
{
    Flow t("mov.u32 %r1, 1; add.s32 %r2, %r1, 1; mov.u32 %r1, 2; add.s32 %r2, %r1, %r2; ret;");
    EXPECT_EQ(t.flow.nblocks, 1u);
    EXPECT_EQ(t.reaching(1, "%r1"), V({0}));
    EXPECT_EQ(t.reaching(3, "%r1"), V({2}));
    EXPECT_EQ(t.reaching(3, "%r2"), V({1}));
}

TEST(InspectFlow, GuardedDefinitionsDoNotKill)
{
    Flow t("mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; @!%p2 mov.u32 %r1, 3; add.s32 %r2, %r1, 0; mov.u32 %r1, 4; add.s32 %r2, %r1, 0; ret;");
    EXPECT_EQ(t.reaching(3, "%r1"), V({0, 1, 2}));
    EXPECT_EQ(t.reaching(5, "%r1"), V({4}));
    EXPECT_EQ(t.reaching(1, "%p1"), V({-1}));
}

TEST(InspectFlow, BranchesMeetInAPhi)
{
    Flow t("mov.u32 %r3, 7; @%p1 bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B: add.s32 %r2, %r1, %r3; ret;");
    EXPECT_EQ(t.flow.nblocks, 4u);
    EXPECT_EQ(t.reaching(5, "%r1"), V({2, 4}));
    EXPECT_EQ(t.reaching(5, "%r3"), V({0}));
    const pti_value &phi = t.flow.values[pti_value_read(&t.flow, 5, t.reg("%r1"))];
    EXPECT_EQ(phi.kind, PTI_VALUE_PHI);
    EXPECT_EQ(phi.noperands, 2u);
    // Nothing is a phi that need not be one.
    EXPECT_EQ(t.flow.values[pti_value_read(&t.flow, 5, t.reg("%r3"))].kind, PTI_VALUE_INSN);
}

TEST(InspectFlow, LoopsCarryValues)
{
    Flow t("mov.u32 %r1, 0; mov.u32 %r9, 5; L: add.s32 %r2, %r1, %r9; add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; add.s32 %r3, %r1, %r2; ret;");
    EXPECT_EQ(t.reaching(2, "%r1"), V({0, 3}));
    EXPECT_EQ(t.reaching(2, "%r9"), V({1}));
    EXPECT_EQ(t.reaching(6, "%r1"), V({3}));
    uint32_t phis = 0;
    for (uint32_t v = 0; v < t.flow.nvalues; v++) phis += t.flow.values[v].kind == PTI_VALUE_PHI;
    EXPECT_EQ(phis, 1u);
}

TEST(InspectFlow, NestedLoopsAndAWayIntoTheFirstBlock)
{
    Flow t("L: add.s32 %r1, %r1, 1; M: add.s32 %r2, %r1, %r2; @%p1 bra M; @%p2 bra L; @%p3 mov.u32 %r1, 0; @%p4 bra M; add.s32 %r3, %r1, %r2; ret;");
    EXPECT_EQ(t.reaching(0, "%r1"), V({-1, 0, 4}));
    EXPECT_EQ(t.reaching(1, "%r1"), V({0, 4}));
    EXPECT_EQ(t.reaching(1, "%r2"), V({-1, 1}));
    EXPECT_EQ(t.reaching(6, "%r1"), V({0, 4}));
    EXPECT_EQ(t.flow.blocks[0].predecessors[0], (uint32_t)PTI_NONE);
}

TEST(InspectFlow, WhatIsNotReachedIsStillDefined)
{
    Flow t("ret; mov.u32 %r1, 1; L: add.s32 %r1, %r1, %r2; bra L;");
    EXPECT_EQ(t.reaching(2, "%r1"), V({1, 2}));
    EXPECT_EQ(t.reaching(2, "%r2"), V({-1}));
    EXPECT_FALSE(t.flow.blocks[t.flow.block_of[2]].reached);
    EXPECT_TRUE(t.flow.blocks[0].reached);
}

TEST(InspectFlow, TablesOfLabelsAndCarries)
{
    Flow t("mov.u32 %r1, 1; T: .branchtargets A, B, C; brx.idx %r2, T; A: mov.u32 %r1, 2; B: add.cc.u32 %r3, %r1, %r1; addc.u32 %r4, %r1, 0; C: add.s32 %r5, %r1, 0; ret;");
    EXPECT_EQ(t.reaching(3, "%r1"), V({0, 2}));
    EXPECT_EQ(t.reaching(4, "%cc"), V({3}));
    EXPECT_EQ(t.reaching(5, "%r1"), V({0, 2}));
}

// Users are the reverse of uses.
TEST(InspectFlow, UsersMatchUses)
{
    Flow t("mov.u32 %r1, 0; L: add.s32 %r1, %r1, %r1; @%p1 add.s32 %r1, %r1, 2; @%p1 bra L; add.s32 %r2, %r1, 0; ret;");
    uint32_t forward = 0, backward = 0;
    for (uint32_t i = 0; i < t.f->ninsns; i++) forward += t.flow.first_use[i + 1] - t.flow.first_use[i];
    for (uint32_t v = 0; v < t.flow.nvalues; v++)
        for (uint32_t u = 0; u < t.flow.values[v].nusers; u++) {
            uint32_t user = t.flow.values[v].users[u];
            if (user & PTI_BY_VALUE) continue;
            backward++;
            EXPECT_EQ(pti_value_read(&t.flow, user, t.flow.values[v].reg), v);
        }
    EXPECT_EQ(forward, backward);
}

// A slow way to the same answer: reaching definitions as sets, over the instructions.
TEST(InspectFlow, RandomGraphsAgainstSets)
{
    uint32_t seed = 1;
    auto next = [&](uint32_t n) { seed = seed * 1664525u + 1013904223u; return (seed >> 8) % n; };
    for (int round = 0; round < 300; round++) {
        const uint32_t n = 30, regs = 3;
        std::string body;
        for (uint32_t i = 0; i < n; i++) {
            body += "L" + std::to_string(i) + ": ";
            uint32_t kind = next(5), r = next(regs), s = next(regs);
            std::string guard = next(3) == 0 ? "@%p1 " : "";
            if (kind == 0)
                body += (next(4) ? "@%p1 " : "") + std::string("bra L") + std::to_string(next(n)) + ";\n";
            else
                body += guard + "add.s32 %r" + std::to_string(r) + ", %r" + std::to_string(s) + ", 1;\n";
        }
        Flow t(body + "ret;");
        std::vector<std::vector<uint8_t>> in(n + 1, std::vector<uint8_t>((n + 2) * regs));
        for (uint32_t r = 0; r < regs; r++) in[0][r * (n + 2) + n + 1] = 1;
        std::vector<bool> reached(n + 1);
        reached[0] = true;
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t i = 0; i < n; i++) {
                if (!reached[i]) continue;
                const ptx_insn &insn = t.f->insns[i];
                std::vector<uint8_t> out = in[i];
                bool branch = insn.operation && std::string(insn.operation) == "bra";
                if (!branch) {
                    std::string name = t.f->registers[insn.operands[0].values[0].reg].name;
                    uint32_t r = (uint32_t)std::stoul(name.substr(2));
                    if (!insn.guarded) std::fill(out.begin() + r * (n + 2), out.begin() + (r + 1) * (n + 2), 0);
                    out[r * (n + 2) + i] = 1;
                }
                std::vector<uint32_t> to;
                if (branch) to.push_back(insn.operands[0].label);
                if (!branch || insn.guarded) to.push_back(i + 1);
                for (uint32_t s : to) {
                    changed |= !reached[s];
                    reached[s] = true;
                    for (uint32_t k = 0; k < out.size(); k++)
                        if (out[k] && !in[s][k]) { in[s][k] = 1; changed = true; }
                }
            }
        }
        for (uint32_t i = 0; i < n; i++) {
            const ptx_insn &insn = t.f->insns[i];
            if (!reached[i] || insn.noperands < 2) continue;
            std::string name = t.f->registers[insn.operands[1].values[0].reg].name;
            uint32_t r = (uint32_t)std::stoul(name.substr(2));
            V expected;
            if (in[i][r * (n + 2) + n + 1]) expected.push_back(-1);
            for (uint32_t k = 0; k < n; k++)
                if (in[i][r * (n + 2) + k]) expected.push_back((int)k);
            EXPECT_EQ(t.reaching(i, name), expected) << "round " << round << " instruction " << i << "\n" << body;
        }
    }
}
