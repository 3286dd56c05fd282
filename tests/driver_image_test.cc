// driver_image_test.cc - fat binaries as nvcc makes them, and hostile ones: truncated, mutated, with lengths that lie, bombs.
//
// Every image lies in a buffer of exactly its size, so that AddressSanitizer sees one byte read beyond it. The only length that a program
// vouches for is the one in a fat binary's own header; it is set to what is there unless a call passes a size of its own.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>
#include <gtest/gtest.h>

extern "C" {
#include "tests/cuda_programs/cuda_subset.h"
}

#undef EXPECT

namespace {

typedef std::vector<uint8_t> Bytes;

const uint32_t MAGIC = 0xba55ed50;
enum { HEADER = 16, MEMBER = 64, PTX = 1, CUBIN = 2, LZ4 = 0x2000, ZSTD = 0x8000 };

Bytes read_file(const std::string &name)
{
    std::ifstream in(std::string(PTXB_SOURCE_DIR "/tests/data/fatbin/") + name, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), {});
}

template <class T> void put(Bytes &image, size_t at, T value)
{
    if (at + sizeof value <= image.size())
        memcpy(&image[at], &value, sizeof value);
}

void set_size(Bytes &image)
{
    put<uint64_t>(image, 8, image.size() - HEADER);
}

/* A fat binary of one member. `plain` is the size that it claims to have when unpacked. */
Bytes one_member(uint16_t kind, uint64_t flags, const Bytes &payload, uint64_t plain, uint32_t architecture = 75)
{
    Bytes image(HEADER + MEMBER + (payload.size() + 7) / 8 * 8);
    put<uint32_t>(image, 0, MAGIC);
    put<uint16_t>(image, 4, 1);
    put<uint16_t>(image, 6, HEADER);
    set_size(image);
    put<uint16_t>(image, HEADER, kind);
    put<uint32_t>(image, HEADER + 4, MEMBER);
    put<uint64_t>(image, HEADER + 8, image.size() - HEADER - MEMBER);
    put<uint32_t>(image, HEADER + 16, flags & (LZ4 | ZSTD) ? (uint32_t)payload.size() : 0);
    put<uint32_t>(image, HEADER + 28, architecture);
    put<uint64_t>(image, HEADER + 40, flags);
    put<uint64_t>(image, HEADER + 56, plain);
    if (!payload.empty())
        memcpy(&image[HEADER + MEMBER], payload.data(), payload.size());
    return image;
}

class Images : public ::testing::Test {
  protected:
    static void SetUpTestSuite()
    {
        setenv("PTXBRIDGE_DEVICE", "cpu", 1);
        ASSERT_EQ(cuInit(0), 0);
        CUdevice device;
        ASSERT_EQ(cuDeviceGet(&device, 0), 0);
        ASSERT_EQ(cuCtxCreate(&context, 0, device), 0);
    }
    static void TearDownTestSuite() { cuCtxDestroy(context); }

    /* Loads an image from a buffer of its very size; a module that loads is unloaded again. */
    static CUresult load(const Bytes &image)
    {
        std::unique_ptr<uint8_t[]> exact(new uint8_t[image.size()]);
        memcpy(exact.get(), image.data(), image.size());
        cu_library library = nullptr;
        CUresult result = cuLibraryLoadData(&library, exact.get(), nullptr, nullptr, 0, nullptr, nullptr, 0);
        EXPECT_EQ(result == 0, library != nullptr);
        if (!result) {
            EXPECT_EQ(cuLibraryUnload(library), 0);
        }
        return result;
    }
    /* The same by the linker, which is told the size. */
    static CUresult link(const Bytes &image, size_t claimed)
    {
        std::unique_ptr<uint8_t[]> exact(new uint8_t[image.size() ? image.size() : 1]);
        std::copy(image.begin(), image.end(), exact.get());
        CUlinkState state;
        void *made;
        size_t bytes;
        EXPECT_EQ(cuLinkCreate(0, nullptr, nullptr, &state), 0);
        CUresult result = cuLinkAddData(state, CUABI_CU_JIT_INPUT_FATBINARY, exact.get(), claimed, "image", 0, nullptr, nullptr);
        if (!result)
            result = cuLinkComplete(state, &made, &bytes);
        EXPECT_EQ(cuLinkDestroy(state), 0);
        return result;
    }
    static CUcontext context;
};
CUcontext Images::context;

const char *const seeds[] = {"none.fatbin", "speed.fatbin", "size.fatbin"};

TEST_F(Images, EveryCompressionOfNvccLoadsAndRuns)
{
    for (const char *seed : seeds) {
        Bytes image = read_file(seed);
        ASSERT_GT(image.size(), 100u) << seed;
        cu_library library;
        cu_kernel kernel;
        CUdeviceptr out;
        uint32_t host[32];
        ASSERT_EQ(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), 0) << seed;
        ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "tiny"), 0) << seed;
        ASSERT_EQ(cuMemAlloc(&out, sizeof host), 0);
        void *params[] = {&out};
        ASSERT_EQ(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), 0);
        ASSERT_EQ(cuMemcpyDtoH(host, out, sizeof host), 0);
        for (uint32_t i = 0; i < 32; i++)
            EXPECT_EQ(host[i], i * 3 + 7) << seed;
        EXPECT_EQ(cuMemFree(out), 0);
        EXPECT_EQ(cuLibraryUnload(library), 0);
    }
}

TEST_F(Images, TruncatedOnesAreErrors)
{
    for (const char *seed : seeds) {
        Bytes whole = read_file(seed);
        for (size_t n = HEADER; n < whole.size(); n++) {
            Bytes cut(whole.begin(), whole.begin() + (long)n);
            EXPECT_NE(link(cut, n), 0) << seed << " cut to " << n;     /* the header claims more than there is */
            set_size(cut);
            load(cut);                                                 /* may hold a whole first member */
        }
        for (size_t n = 0; n < HEADER; n++)
            EXPECT_NE(link(Bytes(whole.begin(), whole.begin() + (long)n), n), 0) << n;
    }
}

TEST_F(Images, MutatedOnesNeverEndTheProcess)
{
    uint64_t state = 88172645463325252ull;
    auto next = [&state] { return state ^= state << 13, state ^= state >> 7, state ^= state << 17; };
    int loaded = 0, refused = 0;
    for (const char *seed : seeds) {
        Bytes whole = read_file(seed);
        for (int round = 0; round < 2500; round++) {
            Bytes image = whole;
            for (uint64_t k = 1 + next() % 4; k; k--) {
                size_t at = next() % (round % 2 ? image.size() : HEADER + 128);
                image[at] = next() % 3 ? (uint8_t)next() : (uint8_t)(image[at] ^ 1u << next() % 8);
            }
            set_size(image);
            load(image) ? refused++ : loaded++;
        }
    }
    EXPECT_GT(loaded, 50);
    EXPECT_GT(refused, 1000);
}

TEST_F(Images, LengthsThatLie)
{
    Bytes whole = read_file("none.fatbin");
    const uint64_t values[] = {0, 1, 7, 15, 63, 65, 0x7fffffff, 0x80000000u, 0xfffffff0u, 0xffffffffu, 1ull << 40, 1ull << 63, ~0ull, ~0ull - 63};
    for (size_t at : {HEADER + 4u, HEADER + 8u, HEADER + 16u, HEADER + 32u, HEADER + 36u, HEADER + 56u})
        for (uint64_t value : values)
            for (const char *seed : seeds) {
                Bytes image = read_file(seed);
                if (at == HEADER + 8u || at == HEADER + 56u)
                    put<uint64_t>(image, at, value);
                else
                    put<uint32_t>(image, at, (uint32_t)value);
                load(image);
            }
    for (uint16_t header : {0, 8, 15, 17, 4096, 65535}) {
        Bytes image = whole;
        put<uint16_t>(image, 6, header);
        EXPECT_NE(link(image, image.size()), 0) << header;
    }
}

/* What unpacks to more than it claims, to less, or claims what nobody has. */
TEST_F(Images, Bombs)
{
    /* One literal, then a match of distance 1 whose length is spelled in bytes of 255. */
    Bytes lz4 = {0x1f, ' ', 1, 0};
    lz4.insert(lz4.end(), 60000, 255);
    lz4.push_back(0);
    for (uint64_t plain : {0ull, 1ull, 1000ull, 15300000ull, 1ull << 30, (1ull << 30) + 1, 1ull << 40, ~0ull})
        EXPECT_NE(load(one_member(PTX, LZ4, lz4, plain)), 0) << plain;
    /* A Zstandard frame of RLE blocks: 128 KiB of blanks each. */
    Bytes zstd = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x58};
    for (int block = 0; block < 4000; block++) {
        uint32_t head = 128u << 10 << 3 | 1 << 1 | (block == 3999);
        zstd.insert(zstd.end(), {(uint8_t)head, (uint8_t)(head >> 8), (uint8_t)(head >> 16), ' '});
    }
    for (uint64_t plain : {0ull, 1ull, 1000ull, 1ull << 20, (1ull << 30) + 1, 1ull << 50, ~0ull})
        EXPECT_NE(load(one_member(PTX, ZSTD, zstd, plain)), 0) << plain;
    /* Both flags; flags without compressed bytes. */
    EXPECT_NE(load(one_member(PTX, LZ4 | ZSTD, {0x10, 'x'}, 1)), 0);
    EXPECT_NE(load(one_member(PTX, LZ4, {}, 100)), 0);
    EXPECT_NE(load(one_member(PTX, ZSTD, {}, 100)), 0);
}

TEST_F(Images, WhatHasNoPtxSaysSo)
{
    Bytes code(64, 0x7f);
    EXPECT_EQ(load(one_member(CUBIN, 0, code, 0, 80)), CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    std::string text = ".version 8.0\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n";
    Bytes future(text.begin(), text.end());
    future.push_back(0);
    EXPECT_EQ(load(one_member(PTX, 0, future, 0, 250)), CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(load(one_member(PTX, 0, future, 0, 75)), 0);
    Bytes empty = one_member(PTX, 0, {}, 0);
    empty.resize(HEADER);
    set_size(empty);
    EXPECT_EQ(load(empty), CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    Bytes elf = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(load(elf), CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(load({1, 2, 3, 4, 5, 6, 7, 8}), CUABI_CUDA_ERROR_INVALID_IMAGE);
}

}
