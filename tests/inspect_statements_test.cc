// The linearisation that `inspect` shows: kinds, instructions and physical lines of statements, and their text.
#include <gtest/gtest.h>
#include <cstring>
#include <string>

extern "C" {
#include "ptx/inspect/statements.h"
}

namespace {

const char kHead[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
                     ".reg .b32 %r<9>; .reg .pred %p<3>;\n";

struct Listing {
    explicit Listing(const std::string &body)
    {
        std::string text = kHead + body + "\n}\n";
        module = ptx_parse(text.data(), text.size(), "t.ptx");
        EXPECT_TRUE(pti_find_statements(module, module->functions[0], &s));
    }
    ~Listing()
    {
        pti_free_statements(&s);
        ptx_module_free(module);
    }
    std::string text(uint32_t i) const
    {
        char buffer[256];
        size_t n = pti_statement_text(&s, i, buffer, sizeof buffer);
        EXPECT_EQ(n, strlen(buffer));
        return buffer;
    }
    ptx_module *module;
    pti_statements s;
};

TEST(Statements, KindsLinesAndText)
{
    Listing l("mov.b32 %r1, 5; // a; comment }\n"            /* line 7 */
              ".loc 1 2 3\n"
              "{ .reg .b32 a; /* } */ mov.b32 a, 1;\n"        /* 9 */
              "  { L: mov.b32 a, 2; } // }\n"
              "}\n"
              ".pragma \"noun}roll;\";\n"                     /* 12 */
              "M: @%p1 bra\n  M;\n"                           /* 13, 14 */
              "{ }\n"
              "add.s32 %r1,\n %r2, /* ; */\n %r3;\n"          /* 16 to 18 */
              "E:");
    const pti_statement want[] = {
        {PTX_STATEMENT_INSN, 7, 7, 0, 1},   {PTX_STATEMENT_BLOCK, 9, 11, 1, 2},   {PTX_STATEMENT_LABEL, 13, 13, 3, 0},
        {PTX_STATEMENT_INSN, 13, 14, 3, 1}, {PTX_STATEMENT_BLOCK, 15, 15, 4, 0},  {PTX_STATEMENT_INSN, 16, 18, 4, 1},
        {PTX_STATEMENT_LABEL, 19, 19, 5, 0},
    };
    EXPECT_EQ(l.module->nerrors, 0u);
    ASSERT_EQ(l.s.count, 7u);
    for (uint32_t i = 0; i < 7; i++) {
        EXPECT_EQ(l.s.list[i].kind, want[i].kind) << i;
        EXPECT_EQ(l.s.list[i].first_line, want[i].first_line) << i;
        EXPECT_EQ(l.s.list[i].last_line, want[i].last_line) << i;
        EXPECT_EQ(l.s.list[i].first_insn, want[i].first_insn) << i;
        EXPECT_EQ(l.s.list[i].ninsns, want[i].ninsns) << i;
    }
    EXPECT_EQ(l.text(0), "mov.b32 %r1, 5;");
    EXPECT_EQ(l.text(1), "{ .reg .b32 a; mov.b32 a, 1; { L: mov.b32 a, 2; } }");
    EXPECT_EQ(l.text(2), "M:");
    EXPECT_EQ(l.text(3), "@%p1 bra M;");
    EXPECT_EQ(l.text(5), "add.s32 %r1, %r2, %r3;");
    EXPECT_EQ(l.text(6), "E:");
    const uint32_t of_insn[] = {0, 1, 1, 3, 5, PTI_NONE};
    for (uint32_t i = 0; i < 6; i++)
        EXPECT_EQ(pti_statement_of_insn(&l.s, i), of_insn[i]) << i;
    const uint32_t of_line[] = {PTI_NONE, 0, PTI_NONE, 1, 1, 1, PTI_NONE, 2, 3, 4, 5, 5, 5, 6, PTI_NONE};
    for (uint32_t i = 0; i < 15; i++)
        EXPECT_EQ(pti_statement_of_line(&l.s, 6 + i), of_line[i]) << 6 + i;
    char small[5];
    EXPECT_EQ(pti_statement_text(&l.s, 3, small, sizeof small), 11u);
    EXPECT_STREQ(small, "@%p1");
}

TEST(Statements, FaultyOnesEndWhereTheNextBegins)
{
    for (const char *body : {"mov.b32 %r1, 5\nL: bra L;", "{ mov.b32 %r1, 5;", "mov.b32 \"x", "{ /* ", "frob {;}\n}", "L", "@", "{ \"", "/"}) {
        Listing l(body);
        for (uint32_t i = 0; i < l.s.count; i++) {
            EXPECT_LE(l.s.list[i].first_line, l.s.list[i].last_line);
            if (i + 1 < l.s.count) {
                EXPECT_LE(l.s.list[i].last_line, l.s.list[i + 1].first_line) << body;
            }
            l.text(i);
        }
    }
}

}  // namespace
