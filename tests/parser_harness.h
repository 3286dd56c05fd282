/* parser_harness.h - what the tests of the front end share: parsing text, and messages as one string. */
#ifndef PARSER_HARNESS_H
#define PARSER_HARNESS_H

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include "ptx/module.h"
/* As ptx_parse, with a limit on memory. */
ptx_module *ptx_parse_within(const char *text, size_t length, const char *file, size_t limit);
}

struct Freer { void operator()(ptx_module *m) const { ptx_module_free(m); } };
using Module = std::unique_ptr<ptx_module, Freer>;

inline Module parse(const std::string &text)
{
    return Module(ptx_parse(text.data(), text.size(), "t.ptx"));
}

const char head[] = ".version 8.6\n.target sm_90a\n.address_size 64\n";

/* Eight lines, so that the text under test is line 9 (in the body) or line 10 (behind it). */
const char prelude[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".global .align 16 .b8 g[64];\n.shared .align 16 .b8 s[64];\n"
    ".func (.param .b32 r) one(.param .b32 a) { ret; }\n"
    ".entry k(.param .u64 kp) {\n"
    ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .f64 %fd<4>; .reg .u32 %u; .reg .v4 .f32 %v;\n";

inline Module parse_body(const std::string &body)
{
    return parse(prelude + body + "\n}\n");
}

inline std::string all_messages(const ptx_module *m)
{
    std::string text;
    for (uint32_t i = 0; i < m->ndiagnostics; i++) {
        std::vector<char> buffer(ptx_format_diagnostic(m, &m->diagnostics[i], nullptr, 0) + 1);
        ptx_format_diagnostic(m, &m->diagnostics[i], buffer.data(), buffer.size());
        text += std::string(buffer.data()) + "\n";
    }
    return text;
}

inline const ptx_function *function(const Module &m, const char *name)
{
    const ptx_function *f = ptx_find_function(m.get(), name);
    EXPECT_NE(f, nullptr) << name;
    return f;
}

inline std::string register_name(const ptx_function *f, const ptx_value &v)
{
    return v.kind == PTX_VALUE_REG ? f->registers[v.reg].name : "not a register";
}

inline std::string read_file(const std::filesystem::path &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

#endif
