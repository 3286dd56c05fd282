// driver_harness.h - libcuda.so.1 as a program sees it: prototypes of what it exports, a context, and PTX kernels in text.
#ifndef DRIVER_HARNESS_H
#define DRIVER_HARNESS_H

#include <gtest/gtest.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include "runtime/cuda/cuda_types.h"

#define CUDA_VERSION 1000000               // all versions
#define DRIVER_FUNCTION(symbol, params) extern "C" cu_result symbol params;
#include "driver_functions.inc"
#undef DRIVER_FUNCTION

#define OK(call) ASSERT_EQ(call, CUABI_SUCCESS)

// A host function that waits to be let go; until then nothing behind it may have run.
struct gate {
    std::atomic<bool> open{false}, passed{false};
    static void wait(void *user)
    {
        auto *g = static_cast<gate *>(user);
        while (!g->open)
            std::this_thread::yield();
        g->passed = true;
    }
};

// A context on the CPU device for each test; what the test leaves is freed with it.
class Driver : public ::testing::Test {
protected:
    void SetUp() override
    {
        setenv("PTXBRIDGE_DEVICE", "cpu", 0);
        OK(cuInit(0));
        OK(cuCtxCreate_v2(&context, 0, 0));
    }
    void TearDown() override
    {
        g.open = true;                     // a test that failed must not wait for ever
        if (context) {
            EXPECT_EQ(cuCtxDestroy_v2(context), CUABI_SUCCESS);
        }
    }
    cu_function kernel(const std::string &body, const char *name = "k", const std::string &head = "")
    {
        const std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n" + head + body;
        cu_module module = nullptr;
        cu_function function = nullptr;
        EXPECT_EQ(cuModuleLoadData(&module, text.c_str()), CUABI_SUCCESS) << text;
        EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUABI_SUCCESS);
        last_module = module;
        return function;
    }
    cu_address memory(size_t bytes)
    {
        cu_address address = 0;
        EXPECT_EQ(cuMemAlloc_v2(&address, bytes), CUABI_SUCCESS);
        return address;
    }
    gate g;
    cu_context context = nullptr;
    cu_module last_module = nullptr;
};

// k(u32 *p, u32 n): p[i] += n for the threads of one block, after `spin` rounds that take time.
inline std::string add_kernel(int spin = 0)
{
    return ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %q;\n"
           " ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2;\n"
           " mov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1; setp.lt.u32 %q, %r5, " + std::to_string(spin) + ";\n @%q bra L;\n"
           " ld.global.u32 %r3, [%d3]; add.u32 %r4, %r3, %r1; st.global.u32 [%d3], %r4; ret;\n}\n";
}

inline cu_result launch(cu_function f, cu_address p, uint32_t n, uint32_t threads = 32, cu_stream stream = nullptr)
{
    void *params[] = {&p, &n};
    return cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, stream, params, nullptr);
}

#endif
