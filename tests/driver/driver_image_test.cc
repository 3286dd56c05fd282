// driver_image_test.cc - images: PTX text, fat binaries with plain and compressed members, damaged ones, linking.
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include "driver/driver_harness.h"

namespace
{

void put(std::string &out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out += static_cast<char>(value >> 8 * i);
}

std::string member(uint32_t kind, uint32_t sm, const std::string &payload, uint64_t flags = 0, uint64_t plain = 0)
{
    std::string m;
    std::string padded = payload;
    padded.resize((padded.size() + 7) & ~size_t{7});
    put(m, kind, 2), put(m, 0x101, 2), put(m, 64, 4), put(m, padded.size(), 8), put(m, flags ? payload.size() : 0, 4), put(m, 0, 4);
    put(m, 0, 2), put(m, 8, 2), put(m, sm, 4), put(m, 0, 8), put(m, flags | 0x11, 8), put(m, 0, 8), put(m, plain, 8);
    return m + padded;
}

std::string fat_binary(const std::string &members)
{
    std::string f;
    put(f, 0xba55ed50, 4), put(f, 1, 2), put(f, 16, 2), put(f, members.size(), 8);
    return f + members;
}

std::string ptx(uint32_t value)
{
    return ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [p]; mov.u32 %r, " +
           std::to_string(value) + "; st.global.u32 [%d], %r; ret; }\n";
}

// One LZ4 sequence of literals, then a match that repeats 8 of them, then the last literals.
std::string lz4(const std::string &text)
{
    std::string out;
    auto literals = [&](size_t n, const std::string &from, unsigned match) {
        out += static_cast<char>((n < 15 ? n : 15) << 4 | match);
        if (n >= 15)
            for (n -= 15;; n -= 255) {
                out += static_cast<char>(n < 255 ? n : 255);
                if (n < 255)
                    break;
            }
        out += from;
    };
    const size_t at = text.find("        ") + 1;        // blanks repeat themselves at distance 1
    literals(at, text.substr(0, at), 3);
    out += '\1', out += '\0';
    literals(text.size() - at - 7, text.substr(at + 7), 0);
    return out;
}

class Image : public Driver {
protected:
    // What the kernel of an image stores, or minus the error.
    int64_t run(const void *image)
    {
        cu_module m;
        cu_function f;
        cu_address p = memory(4);
        void *params[] = {&p};
        uint32_t value = 0;
        cu_result r = cuModuleLoadData(&m, image);
        if (!r)
            r = cuModuleGetFunction(&f, m, "k");
        if (!r)
            r = cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr);
        if (!r)
            r = cuMemcpyDtoH_v2(&value, p, 4);
        return r ? -static_cast<int64_t>(r) : value;
    }
};

TEST_F(Image, TheBestMemberIsTaken)
{
    EXPECT_EQ(run(ptx(5).c_str()), 5);
    const std::string f = fat_binary(member(1, 75, ptx(75)) + member(2, 89, "machine code") + member(1, 86, ptx(86)) + member(1, 90, ptx(90)));
    EXPECT_EQ(run(f.data()), 86);          // the device claims 8.9
    const struct { uint32_t magic, version; const void *data; const void *more; } wrapper = {0x466243b1, 1, f.data(), nullptr};
    EXPECT_EQ(run(&wrapper), 86);
    EXPECT_EQ(run(fat_binary(member(2, 75, "machine code") + member(1, 120, ptx(1))).data()), -CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(run(fat_binary("").data()), -CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(run("\177ELF and so on"), -CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(run("nothing that is known"), -CUABI_CUDA_ERROR_INVALID_IMAGE);
    EXPECT_EQ(run(".version 8.0\n.target sm_75\n.visible .entry k() { frobnicate; }"), -CUABI_CUDA_ERROR_INVALID_PTX);
}

// Told once in a process, so that it can be seen only where this test is alone in its own.
TEST_F(Image, ThatThereIsNoPtxIsToldWithoutALog)
{
    unsetenv("PTXBRIDGE_LOG");
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(fat_binary(member(2, 75, "machine code")).data()), -CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(run("\177ELF and so on"), -CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    std::string said = testing::internal::GetCapturedStderr();
    if (said.empty() && ::testing::UnitTest::GetInstance()->test_to_run_count() > 1)
        GTEST_SKIP() << "an earlier test was told";
    EXPECT_NE(said.find("has no PTX"), std::string::npos) << said;
    EXPECT_EQ(said.find("has no PTX"), said.rfind("has no PTX")) << said;
}

TEST_F(Image, CompressedMembers)
{
    const std::string text = ptx(77) + "//                        blanks\n", packed = lz4(text);
    ASSERT_LT(packed.size(), text.size());
    EXPECT_EQ(run(fat_binary(member(1, 75, packed, 0x2000, text.size())).data()), 77);
    // Zstandard: one frame with a raw block (RFC 8878), which nobody had to compress.
    std::string frame;
    put(frame, 0xfd2fb528, 4), put(frame, 0xa0, 1), put(frame, text.size(), 4), put(frame, text.size() << 3 | 1, 3);
    EXPECT_EQ(run(fat_binary(member(1, 75, frame + text, 0x8000, text.size())).data()), 77);
    EXPECT_EQ(run(fat_binary(member(1, 75, packed, 0x2000, text.size() - 1)).data()), -CUABI_CUDA_ERROR_INVALID_IMAGE);
    EXPECT_EQ(run(fat_binary(member(1, 75, packed, 0x2000, 0)).data()), -CUABI_CUDA_ERROR_INVALID_IMAGE);
    EXPECT_EQ(run(fat_binary(member(1, 75, packed, 0x2000, uint64_t{1} << 40)).data()), -CUABI_CUDA_ERROR_INVALID_IMAGE);
    // matches from before the beginning, and from nowhere; lengths that go on beyond the end
    for (const std::string &bad : {std::string("\x1f" "a\xff\xff\x00\x00", 6), std::string("\x1f" "a\x00\x00\x00\x00", 6), std::string("\xf0\xff\xff", 3),
                                   std::string("\x1f" "a\x01\x00\xff\xff", 6), std::string("\x20" "a", 2)})
        EXPECT_EQ(run(fat_binary(member(1, 75, bad, 0x2000, 400)).data()), -CUABI_CUDA_ERROR_INVALID_IMAGE);
    EXPECT_EQ(run(fat_binary(member(1, 75, packed, 0x8000, text.size())).data()), -CUABI_CUDA_ERROR_INVALID_IMAGE);
}

// Every byte of the heads, set to values that lengths and kinds should not have; then bytes of the payload. Nothing may crash: that the
// sanitizers find nothing is the test, and that a sound image is still taken afterwards.
TEST_F(Image, DamagedFatBinariesAreErrors)
{
    const std::string text = ptx(3) + "//                        blanks\n";
    const std::string sound = fat_binary(member(1, 75, ptx(2)) + member(1, 80, lz4(text), 0x2000, text.size()));
    EXPECT_EQ(run(sound.data()), 3);
    int refused = 0;
    for (size_t at = 4; at < sound.size(); at += at < 80 ? 1 : 7)
        for (unsigned char value : {0x00, 0x01, 0x7f, 0xff}) {
            std::vector<char> bad(sound.begin(), sound.end());
            bad[at] = static_cast<char>(value);
            cu_link l;
            OK(cuLinkCreate_v2(0, nullptr, nullptr, &l));      // takes a size, so that the end of the image is known
            refused += cuLinkAddData_v2(l, CUABI_CU_JIT_INPUT_FATBINARY, bad.data(), bad.size(), "bad", 0, nullptr, nullptr) != CUABI_SUCCESS;
            OK(cuLinkDestroy(l));
        }
    for (size_t n = 1; n < sound.size(); n += 5) {
        std::vector<char> cut(sound.begin(), sound.begin() + static_cast<long>(n));
        cu_link l;
        OK(cuLinkCreate_v2(0, nullptr, nullptr, &l));
        EXPECT_NE(cuLinkAddData_v2(l, CUABI_CU_JIT_INPUT_FATBINARY, cut.data(), cut.size(), "cut", 0, nullptr, nullptr), CUABI_SUCCESS) << n;
        OK(cuLinkDestroy(l));
    }
    EXPECT_GT(refused, 100);
    EXPECT_EQ(run(sound.data()), 3);
}

TEST_F(Image, LogsOfTheCompiler)
{
    char log[300] = "untouched";
    int32_t options[] = {CUABI_CU_JIT_ERROR_LOG_BUFFER, CUABI_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    cu_module m;
    EXPECT_EQ(cuModuleLoadDataEx(&m, ".version 8.0\n.target sm_75\n.visible .entry k() { frobnicate; }", 2, options, values), CUABI_CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(strstr(log, "frobnicate"), nullptr) << log;
    EXPECT_GE(reinterpret_cast<size_t>(values[1]), strlen(log));
}

// Images without a size, before memory that nobody may read.
TEST_F(Image, WhatLeadsOutOfTheProcessIsAnError)
{
    char byte, one = 1;
    const iovec to = {&byte, 1}, from = {&one, 1};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1)
        GTEST_SKIP() << "this system does not tell a process which memory it can read";
    const size_t page = 4096, half = 4 * page;
    auto *all = static_cast<char *>(mmap(nullptr, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(all, MAP_FAILED);
    ASSERT_EQ(mprotect(all + half, half, PROT_NONE), 0);
    cu_module m;
    const uint64_t fat[] = {0x00100001ba55ed50, 2 * page, 0x0101000100000000, 0};        /* magic, version, header; size */
    for (size_t behind : {sizeof fat, (size_t)8, (size_t)4, (size_t)3}) {                 /* also cut off inside of its header */
        memcpy(all + half - behind, fat, behind);
        EXPECT_EQ(cuModuleLoadData(&m, all + half - behind), CUABI_CUDA_ERROR_INVALID_IMAGE) << behind;
    }
    const struct { uint32_t magic, version; const void *data, *more; } wrappers[] = {
        {0x466243b1, 1, all + half, nullptr}, {0x466243b1, 1, all + half - 2, nullptr}, {0x466243b1, 2, all, all + half}};
    EXPECT_EQ(cuModuleLoadData(&m, &wrappers[0]), CUABI_CUDA_ERROR_INVALID_IMAGE);
    EXPECT_EQ(cuModuleLoadData(&m, &wrappers[1]), CUABI_CUDA_ERROR_INVALID_IMAGE);
    EXPECT_NE(cuModuleLoadData(&m, &wrappers[2]), CUABI_SUCCESS);                         /* a list of units that is none */
    EXPECT_EQ(cuModuleLoadData(&m, reinterpret_cast<void *>(16)), CUABI_CUDA_ERROR_INVALID_IMAGE);
    const std::string text = ptx(9);                                                      /* that ends where memory does, with no NUL */
    memcpy(all + half - text.size(), text.data(), text.size());
    EXPECT_EQ(run(all + half - text.size()), 9);
    munmap(all, 2 * half);
}

// Units with a definition, a declaration, a weak function in both, and a name that each has for itself.
TEST_F(Image, UnitsAreLinked)
{
    const std::string head = ".version 8.0\n.target sm_75\n.address_size 64\n";
    const std::string weak = ".weak .func (.param .b32 r) w() { .reg .b32 %r; mov.u32 %r, 1000; st.param.b32 [r], %r; ret; }\n";
    const std::string one = head + weak + ".global .u32 own = 1;\n.visible .global .u32 shared_one = 20;\n"
                            ".visible .func (.param .b32 r) f() { .reg .b32 %r; ld.global.u32 %r, [own]; st.param.b32 [r], %r; ret; }\n";
    const std::string two = head + ".extern .global .u32 shared_one;\n.extern .func (.param .b32 r) f();\n.global .u32 own = 300;\n" + weak +
                            ".visible .entry k(.param .u64 p) { .reg .b32 %r<6>; .reg .b64 %d; .param .b32 x; ld.param.u64 %d, [p];\n"
                            " call.uni (x), f, (); ld.param.b32 %r1, [x]; call.uni (x), w, (); ld.param.b32 %r2, [x];\n"
                            " ld.global.u32 %r3, [own]; ld.global.u32 %r4, [shared_one]; add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, %r4;\n"
                            " add.u32 %r1, %r1, %r3; st.global.u32 [%d], %r1; ret; }\n";
    for (int turn = 0; turn < 2; turn++) {
        cu_link l;
        void *image;
        size_t size;
        OK(cuLinkCreate_v2(0, nullptr, nullptr, &l));
        for (const std::string &unit : {turn ? two : one, turn ? one : two})
            OK(cuLinkAddData_v2(l, CUABI_CU_JIT_INPUT_PTX, const_cast<char *>(unit.c_str()), unit.size() + 1, "unit", 0, nullptr, nullptr));
        OK(cuLinkComplete(l, &image, &size));
        EXPECT_EQ(run(image), 1321);
        OK(cuLinkDestroy(l));
    }
    cu_link l;
    void *image;
    OK(cuLinkCreate_v2(0, nullptr, nullptr, &l));
    for (int i = 0; i < 2; i++)
        OK(cuLinkAddData_v2(l, CUABI_CU_JIT_INPUT_PTX, const_cast<char *>(one.c_str()), one.size() + 1, "unit", 0, nullptr, nullptr));
    EXPECT_EQ(cuLinkComplete(l, &image, nullptr), CUABI_CUDA_ERROR_INVALID_PTX);
    OK(cuLinkDestroy(l));
}

TEST_F(Image, LibrariesOutliveContexts)
{
    cu_library library;
    cu_kernel k;
    uint32_t value = 0;
    const std::string text = ptx(9);
    OK(cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    OK(cuLibraryGetKernel(&k, library, "k"));
    for (int i = 0; i < 2; i++) {
        cu_context other;
        cu_address p;
        void *params[] = {&p};
        OK(cuCtxCreate_v2(&other, 0, 0));
        OK(cuMemAlloc_v2(&p, 4));
        OK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
        OK(cuMemcpyDtoH_v2(&value, p, 4));
        EXPECT_EQ(value, 9u);
        OK(cuCtxDestroy_v2(other));
    }
    OK(cuLibraryUnload(library));
    EXPECT_EQ(cuLibraryGetKernel(&k, library, "k"), CUABI_CUDA_ERROR_INVALID_HANDLE);
}

} // namespace
