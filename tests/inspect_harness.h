// inspect_harness.h - a small kernel with all that `inspect` finds of its memory, for tests.
#ifndef TESTS_INSPECT_HARNESS_H
#define TESTS_INSPECT_HARNESS_H

#include <gtest/gtest.h>
#include <string>
#include <vector>
extern "C" {
#include "ptx/inspect/addresses.h"
#include "ptx/inspect/constants.h"
#include "ptx/inspect/lives.h"
#include "ptx/inspect/params.h"
#include "ptx/inspect/shared.h"
#include "ptx/inspect/slice.h"
}

// Its parameters: p (u64), n, m (u32), s (32 bytes); registers %p %h %r %d %f; 4096 bytes of shared memory, mem.
struct Analysis {
    ptx_module *module = nullptr;
    const ptx_function *f = nullptr;
    pti_statements statements{};
    pti_flow flow{};
    pti_phases phases{};
    pti_symbols symbols{};
    pti_threads threads{};
    pti_loops loops{};
    pti_addresses addresses{};
    pti_params params{};
    pti_constants constants{};
    pti_lives lives{};
    pti_shared shared{};

    explicit Analysis(const std::string &body, pti_launch launch = {{32, 1, 4}})
    {
        std::string text = ".version 8.7\n.target sm_89\n.address_size 64\n"
                           ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m, .param .align 8 .b8 s[32])\n{\n"
                           ".reg .pred %p<40>;\n.reg .b16 %h<40>;\n.reg .b32 %r<200>;\n.reg .b64 %d<80>;\n.reg .f32 %f<9>;\n.reg .f64 %fd<9>;\n"
                           ".shared .align 16 .b8 mem[4096];\n" + body + "\nret;\n}\n";
        module = ptx_parse(text.data(), text.size(), "t.ptx");
        EXPECT_EQ(module->nerrors, 0u) << (module->ndiagnostics ? module->diagnostics[0].message : "");
        f = module->functions[0];
        EXPECT_TRUE(pti_find_statements(module, f, &statements));
        EXPECT_EQ(pti_find_flow(f, &flow), PTI_OK);
        EXPECT_TRUE(pti_find_phases(&statements, &flow, &phases));
        EXPECT_EQ(pti_find_symbols(&flow, &launch, &symbols), PTI_OK);
        EXPECT_EQ(pti_find_threads(&symbols, &threads), PTI_OK);
        EXPECT_EQ(pti_find_loops(&symbols, &threads, &loops), PTI_OK);
        EXPECT_EQ(pti_find_addresses(&symbols, &loops, &addresses), PTI_OK);
        EXPECT_EQ(pti_find_params(&symbols, &addresses, &params), PTI_OK);
        EXPECT_TRUE(pti_find_constants(&flow, &constants));
        EXPECT_TRUE(pti_find_lives(&statements, &flow, &phases, &lives));
        EXPECT_EQ(pti_find_shared(module, &symbols, &loops, &addresses, &shared), PTI_OK);
    }
    Analysis(const Analysis &) = delete;
    ~Analysis()
    {
        pti_free_shared(&shared);
        pti_free_lives(&lives);
        pti_free_constants(&constants);
        pti_free_params(&params);
        pti_free_addresses(&addresses);
        pti_free_loops(&loops);
        pti_free_threads(&threads);
        pti_free_symbols(&symbols);
        pti_free_phases(&phases);
        pti_free_flow(&flow);
        pti_free_statements(&statements);
        ptx_module_free(module);
    }
    std::string formula(pti_poly p) const
    {
        char text[1000];
        pti_names names = {&statements, nullptr, 0, 0};
        pti_poly_text(&symbols, &names, p, text, sizeof text);
        return text;
    }
    std::string base(uint32_t b) const
    {
        char text[500];
        pti_names names = {&statements, nullptr, 0, 0};
        if (addresses.bases[b].atom == PTI_NONE) return "?";
        pti_atom_text(&symbols, &names, addresses.bases[b].atom, text, sizeof text);
        return text;
    }
    std::string offset(uint32_t access) const { return formula(addresses.list[access].offset); }
    uint32_t reg(const std::string &name) const
    {
        for (uint32_t r = 0; r < f->nregisters; r++)
            if (name == f->registers[r].name) return r;
        return PTI_NONE;
    }
};

// Thread, lane, block, parameters and the shared array in registers that tests use: nine statements.
inline const char *const given = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.z; mov.u32 %r3, %laneid; mov.u32 %r4, %ctaid.x; ld.param.u64 %d1, [p];"
                                 "ld.param.u32 %r5, [n]; ld.param.u32 %r6, [m]; cvta.to.global.u64 %d2, %d1; mov.u32 %r7, mem;\n";

#endif
