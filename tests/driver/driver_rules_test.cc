// driver_rules_test.cc - what a program may not do, and what it is told: calls in host functions, during captures, after fork(), across
// contexts; updates of graphs that are none.
#include <dlfcn.h>
#include <search.h>
#include <sys/wait.h>
#include <unistd.h>
#include "driver/driver_harness.h"

namespace
{

// ---------------------------------------------------------------- host functions

struct asked {
    cu_stream stream;
    std::atomic<int> alloc{-1}, sync{-1};
};

void ask(void *user)
{
    auto *a = static_cast<asked *>(user);
    cu_address p;
    a->alloc = cuMemAlloc_v2(&p, 16);
    a->sync = cuStreamSynchronize(a->stream);          // of itself: it would never end
}

void ask_back(cu_stream, cu_result, void *user)
{
    ask(user);
}

TEST_F(Driver, HostFunctionsMakeNoCalls)
{
    asked host{}, callback{};
    cu_stream s;
    OK(cuStreamCreate(&s, 0));
    host.stream = callback.stream = s;
    OK(cuLaunchHostFunc(s, ask, &host));
    OK(cuStreamAddCallback(s, ask_back, &callback, 0));
    OK(cuStreamSynchronize(s));
    for (const asked *a : {&host, &callback}) {
        EXPECT_EQ(a->alloc, CUABI_CUDA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(a->sync, CUABI_CUDA_ERROR_NOT_PERMITTED);
    }
}

// ---------------------------------------------------------------- what is not served

// Programs and libraries with CUDA's static runtime begin with cuGetExportTable: who asked is said.
TEST_F(Driver, WhoAsksForTheStaticRuntimesTableIsTold)
{
    using ask_fn = int (*)(const void *, const void *);
    const auto table = reinterpret_cast<ask_fn>(dlsym(RTLD_DEFAULT, "cuGetExportTable"));
    const char letters[] = "a";
    testing::internal::CaptureStderr();
    EXPECT_EQ(table(nullptr, nullptr), CUABI_CUDA_ERROR_NOT_SUPPORTED);
    const std::string own = testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    size_t n = 1;
    lfind(letters, letters, &n, 1, table);                // called by the C library
    const std::string other = testing::internal::GetCapturedStderr();
    EXPECT_NE(own.find("this program asks"), std::string::npos) << own;
    EXPECT_NE(other.find("libc.so.6 asks"), std::string::npos) << other;
    EXPECT_EQ(other.find("this program"), std::string::npos) << other;
}

// ---------------------------------------------------------------- fork

TEST_F(Driver, AChildOfForkHasNoDriver)
{
    cu_function f = kernel(add_kernel());
    cu_address p = memory(128);
    OK(launch(f, p, 1));                               // there is a thread, which does not come along
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);                                     // a child that waits for it would wait for ever
        cu_address q;
        int count;
        bool told = cuInit(0) == CUABI_CUDA_ERROR_NOT_INITIALIZED && cuDeviceGetCount(&count) == CUABI_CUDA_ERROR_NOT_INITIALIZED &&
                    cuMemAlloc_v2(&q, 16) == CUABI_CUDA_ERROR_NOT_INITIALIZED && launch(f, p, 1) == CUABI_CUDA_ERROR_NOT_INITIALIZED &&
                    cuStreamSynchronize(nullptr) == CUABI_CUDA_ERROR_NOT_INITIALIZED &&
                    cuCtxDestroy_v2(context) == CUABI_CUDA_ERROR_NOT_INITIALIZED;
        _exit(told ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    OK(launch(f, p, 1));
    OK(cuCtxSynchronize());                            // the parent goes on
}

// ---------------------------------------------------------------- two contexts

TEST_F(Driver, StreamsAndEventsBelongToTheirContext)
{
    cu_function f = kernel(add_kernel());
    cu_address p = memory(128);
    cu_context other;
    cu_stream here, there;
    cu_event event;
    OK(cuStreamCreate(&here, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuMemsetD32_v2(p, 0, 32));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuStreamCreate(&there, 0));
    EXPECT_EQ(cuEventRecord(event, there), CUABI_CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamWaitEvent(there, event, 0));            // waiting crosses contexts
    OK(cuCtxSetCurrent(context));
    EXPECT_EQ(launch(f, p, 1, 32, there), CUABI_CUDA_ERROR_INVALID_HANDLE);
    OK(cuMemsetD32Async(p, 7, 32, there));             // copies and sets do as well
    OK(cuStreamSynchronize(there));
    OK(launch(f, p, 1, 32, here));
    OK(cuStreamSynchronize(here));
    uint32_t v = 0;
    OK(cuMemcpyDtoH_v2(&v, p, 4));
    EXPECT_EQ(v, 8u);
    OK(cuCtxDestroy_v2(other));
}

TEST_F(Driver, FlagsOfContextsAreChecked)
{
    cu_context other;
    EXPECT_EQ(cuCtxCreate_v2(&other, 3, 0), CUABI_CUDA_ERROR_INVALID_VALUE);       // spin and yield
    EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(0, 7), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(0, 0x100), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuDevicePrimaryCtxSetFlags_v2(0, 4));
    OK(cuDevicePrimaryCtxSetFlags_v2(0, 0));
}

TEST_F(Driver, WhatIsDestroyedTwiceIsNotSomethingElse)
{
    cu_stream old, made;
    cu_event event, other;
    cu_context gone;
    OK(cuStreamCreate(&old, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuStreamDestroy_v2(old));
    OK(cuEventDestroy_v2(event));
    for (int i = 0; i < 20; i++) {
        OK(cuStreamCreate(&made, 0));
        OK(cuEventCreate(&other, 0));
        EXPECT_EQ(cuStreamDestroy_v2(old), CUABI_CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuEventRecord(event, made), CUABI_CUDA_ERROR_INVALID_HANDLE);
        OK(cuStreamDestroy_v2(made));
        OK(cuEventDestroy_v2(other));
    }
    OK(cuCtxCreate_v2(&gone, 0, 0));
    OK(cuCtxDestroy_v2(gone));
    cu_context next;
    OK(cuCtxCreate_v2(&next, 0, 0));
    EXPECT_EQ(cuCtxSetCurrent(gone), CUABI_CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy_v2(next));
}

// The legacy stream and the context wait for what a stream was given before it was destroyed.
TEST_F(Driver, WorkOfADestroyedStreamIsWaitedFor)
{
    cu_address p = memory(4);
    cu_stream s;
    cu_event e;
    OK(cuEventCreate(&e, 0));
    OK(cuStreamCreate(&s, 0));
    OK(cuLaunchHostFunc(s, gate::wait, &g));
    OK(cuMemsetD32Async(p, 7, 1, s));
    OK(cuStreamDestroy_v2(s));
    EXPECT_EQ(cuStreamDestroy_v2(s), CUABI_CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(e, nullptr));
    EXPECT_EQ(cuEventQuery(e), CUABI_CUDA_ERROR_NOT_READY);
    g.open = true;
    OK(cuCtxSynchronize());
    EXPECT_EQ(*reinterpret_cast<uint32_t *>(p), 7u);   // at once, not in a copy, which would be behind it
    OK(cuEventQuery(e));
}

TEST_F(Driver, MemoryOfPoolsIsFreedOnce)
{
    cu_stream s;
    cu_address p;
    OK(cuStreamCreate(&s, 0));
    OK(cuMemAllocAsync(&p, 64, s));
    OK(cuLaunchHostFunc(s, gate::wait, &g));
    OK(cuMemFreeAsync(p, s));                          // will be, and is not yet
    EXPECT_EQ(cuMemFreeAsync(p, s), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree_v2(p), CUABI_CUDA_ERROR_INVALID_VALUE);
    g.open = true;
    OK(cuStreamSynchronize(s));
    EXPECT_EQ(cuMemFreeAsync(p, s), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuStreamWaitValue32(s, memory(4), 0, 77), CUABI_CUDA_ERROR_INVALID_VALUE);   // no such comparison
}

TEST_F(Driver, WhatACopySpecifiesIsLargeEnough)
{
    std::vector<unsigned char> host(4096);
    cu_memcpy3d c = {};
    c.source.memory_type = CUABI_CU_MEMORYTYPE_HOST, c.source.host.from = host.data(), c.source.pitch = 16, c.source.height = 4;
    c.target.memory_type = CUABI_CU_MEMORYTYPE_DEVICE, c.target.device = memory(4096), c.target.pitch = 16, c.target.height = 4;
    c.width_bytes = 16, c.height = 4, c.depth = 2;
    OK(cuMemcpy3D_v2(&c));
    for (size_t *part : {&c.source.pitch, &c.target.pitch, &c.source.height, &c.target.height}) {
        const size_t was = *part;
        *part = was - 1;
        EXPECT_EQ(cuMemcpy3D_v2(&c), CUABI_CUDA_ERROR_INVALID_VALUE);
        *part = 0;                                     // not specified
        OK(cuMemcpy3D_v2(&c));
        *part = was;
    }
    c.source.lod = 1;
    EXPECT_EQ(cuMemcpy3D_v2(&c), CUABI_CUDA_ERROR_INVALID_VALUE);
}

// f(n) = n ? f(n - 1) + n : 0, with 256 bytes of local memory for each call
TEST_F(Driver, TheLimitOfTheStackIsKept)
{
    const std::string head = ".func (.reg .u32 r) f(.reg .u32 n)\n{\n .local .u32 a[64]; .reg .u32 m; .reg .pred p;\n setp.eq.u32 p, n, 0; mov.u32 r, 0;\n"
                             " @p ret;\n st.local.u32 [a], n; sub.u32 m, n, 1; call (r), f, (m); ld.local.u32 m, [a]; add.u32 r, r, m; ret;\n}\n";
    cu_function k = kernel(".visible .entry k(.param .u64 p, .param .u32 n)\n{\n .reg .u64 d; .reg .u32 x, r; ld.param.u64 d, [p]; ld.param.u32 x, [n];\n"
                           " call (r), f, (x); st.global.u32 [d], r; ret;\n}\n", "k", head);
    cu_address p = memory(4);
    size_t limit = 0;
    uint32_t v = 0;
    EXPECT_EQ(cuCtxSetLimit(CUABI_CU_LIMIT_STACK_SIZE, 1 << 20), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSetLimit(CUABI_CU_LIMIT_STACK_SIZE, 128 << 10));
    OK(cuCtxGetLimit(&limit, CUABI_CU_LIMIT_STACK_SIZE));
    EXPECT_EQ(limit, 128u << 10);
    OK(launch(k, p, 400, 1));                          // 100 KiB
    OK(cuMemcpyDtoH_v2(&v, p, 4));
    EXPECT_EQ(v, 400u * 401 / 2);
    OK(launch(k, p, 600, 1));                          // 150
    EXPECT_EQ(cuCtxSynchronize(), CUABI_CUDA_ERROR_HARDWARE_STACK_ERROR);
}

// ---------------------------------------------------------------- captures

class Capture : public Driver {
protected:
    void SetUp() override
    {
        Driver::SetUp();
        OK(cuStreamCreate(&s, CUABI_CU_STREAM_NON_BLOCKING));
        OK(cuEventCreate(&e, 0));
        OK(cuEventRecord(e, nullptr));
    }
    // Begins a capture, makes a call in this thread or another, ends the capture.
    template <typename Call> void with(int32_t mode, bool elsewhere, Call call, cu_result answer, bool spoils)
    {
        cu_graph g = nullptr;
        cu_result got = -1;
        OK(cuStreamBeginCapture_v2(s, mode));
        if (elsewhere)
            std::thread([&] {
                EXPECT_EQ(cuCtxSetCurrent(context), CUABI_SUCCESS);
                got = call();
            }).join();
        else
            got = call();
        EXPECT_EQ(got, answer);
        EXPECT_EQ(cuStreamEndCapture(s, &g), spoils ? CUABI_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUABI_SUCCESS);
        EXPECT_EQ(g == nullptr, spoils);
        if (g) {
            OK(cuGraphDestroy(g));
        }
    }
    cu_stream s = nullptr;
    cu_event e = nullptr;
};

enum { GLOBAL, THREAD_LOCAL, RELAXED };
const cu_result unsupported = CUABI_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

TEST_F(Capture, UnsafeCallsGoByTheMode)
{
    auto alloc = [] {
        cu_address p;
        return cuMemAlloc_v2(&p, 16);
    };
    auto query = [&] { return cuEventQuery(e); };
    auto exchanged = [&] {                             // this thread lets others' captures be
        int32_t mode = THREAD_LOCAL;
        EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUABI_SUCCESS);
        EXPECT_EQ(mode, GLOBAL);
        return alloc();
    };
    with(GLOBAL, false, alloc, unsupported, true);
    with(GLOBAL, true, alloc, unsupported, true);
    with(GLOBAL, true, query, unsupported, true);
    with(GLOBAL, true, exchanged, CUABI_SUCCESS, false);
    with(THREAD_LOCAL, false, alloc, unsupported, true);
    with(THREAD_LOCAL, true, alloc, CUABI_SUCCESS, false);
    with(RELAXED, false, alloc, CUABI_SUCCESS, false);
    with(RELAXED, true, query, CUABI_SUCCESS, false);
    OK(alloc());                                       // nothing stays behind
}

TEST_F(Capture, WaitingSpoilsItInEveryMode)
{
    for (int32_t mode : {GLOBAL, THREAD_LOCAL, RELAXED}) {
        with(mode, false, [&] { return cuStreamSynchronize(s); }, unsupported, true);
        with(mode, false, [&] { return cuStreamQuery(s); }, unsupported, true);
        with(mode, true, [&] { return cuCtxSynchronize(); }, unsupported, true);
        with(mode, false, [&] { return cuStreamAddCallback(s, ask_back, nullptr, 0); }, unsupported, true);
        with(mode, false,
             [&] {
                 EXPECT_EQ(cuEventRecord(e, s), CUABI_SUCCESS);
                 return cuEventQuery(e);
             },
             CUABI_CUDA_ERROR_CAPTURED_EVENT, true);
        OK(cuEventRecord(e, nullptr));
    }
}

// ---------------------------------------------------------------- graphs

class Update : public Driver {
protected:
    void SetUp() override
    {
        Driver::SetUp();
        f = kernel(add_kernel());
        p = memory(256);
        OK(cuGraphCreate(&g, 0));
        add_set(g, 1, &set);
        add_kernel_to(g, {set}, &first);
        add_kernel_to(g, {set}, &second);
        OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    }
    void add_set(cu_graph to, size_t height, cu_node *node)
    {
        cu_memset_node m = {};
        m.to = p, m.pitch = 64, m.value = 5, m.element_bytes = 4, m.width = 8, m.height = height;
        OK(cuGraphAddMemsetNode(node, to, nullptr, 0, &m, context));
    }
    void add_kernel_to(cu_graph to, std::vector<cu_node> before, cu_node *node)
    {
        cu_kernel_node k = {};
        void *params[] = {&p, &n};
        k.function = f;
        k.grid[0] = k.grid[1] = k.grid[2] = k.block[0] = k.block[1] = k.block[2] = 1;
        k.params = params;
        OK(cuGraphAddKernelNode_v2(node, to, before.data(), before.size(), &k));
    }
    void refuse(cu_graph with, int32_t result, cu_node node, cu_node from = nullptr)
    {
        cu_update_info info = {};
        EXPECT_EQ(cuGraphExecUpdate_v2(exec, with, &info), CUABI_CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
        EXPECT_EQ(info.result, result);
        EXPECT_EQ(info.error_node, node);
        EXPECT_EQ(info.error_from, from);
        OK(cuGraphDestroy(with));
    }
    cu_function f = nullptr;
    cu_address p = 0;
    uint32_t n = 3;
    cu_graph g = nullptr, h = nullptr;
    cu_node set = nullptr, first = nullptr, second = nullptr;
    cu_exec exec = nullptr;
};

TEST_F(Update, TellsWhichNodeChanged)
{
    cu_node a, b, c;
    OK(cuGraphCreate(&h, 0));                          // too few
    add_set(h, 1, &a);
    refuse(h, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
    OK(cuGraphCreate(&h, 0));                          // a chain
    add_set(h, 1, &a);
    add_kernel_to(h, {a}, &b);
    add_kernel_to(h, {b}, &c);
    refuse(h, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, c, b);
    OK(cuGraphCreate(&h, 0));                          // an edge more
    add_set(h, 1, &a);
    add_kernel_to(h, {a}, &b);
    add_kernel_to(h, {a, b}, &c);
    refuse(h, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, c);
    OK(cuGraphCreate(&h, 0));                          // another kind
    add_set(h, 1, &a);
    add_kernel_to(h, {a}, &b);
    OK(cuGraphAddEmptyNode(&c, h, &a, 1));
    refuse(h, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, c);
    OK(cuGraphCreate(&h, 0));                          // another shape of what is set
    add_set(h, 2, &a);
    add_kernel_to(h, {a}, &b);
    add_kernel_to(h, {a}, &c);
    refuse(h, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, a);
    n = 10;                                            // nothing but a value
    OK(cuGraphCreate(&h, 0));
    add_set(h, 1, &a);
    add_kernel_to(h, {a}, &b);
    add_kernel_to(h, {a}, &c);
    cu_update_info info = {};
    OK(cuGraphExecUpdate_v2(exec, h, &info));
    EXPECT_EQ(info.result, CUABI_CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuGraphLaunch(exec, nullptr));
    uint32_t v = 0;
    OK(cuMemcpyDtoH_v2(&v, p, 4));
    EXPECT_EQ(v % 5, 0u);                              // 15 or, since both kernels run at once, 25
    EXPECT_GT(v, 5u);
}

TEST_F(Update, AGraphMayBecomeAChildOfItself)
{
    cu_node child;
    cu_exec more;
    OK(cuGraphDestroyNode(second));
    OK(cuGraphAddChildGraphNode(&child, g, &first, 1, g));
    size_t nodes = 0;
    cu_graph inside;
    OK(cuGraphGetNodes(g, nullptr, &nodes));
    EXPECT_EQ(nodes, 3u);
    OK(cuGraphChildGraphNodeGetGraph(child, &inside));
    OK(cuGraphGetNodes(inside, nullptr, &nodes));
    EXPECT_EQ(nodes, 2u);                              // as it was before
    OK(cuGraphInstantiateWithFlags(&more, g, 0));
    OK(cuGraphLaunch(more, nullptr));
    uint32_t v = 0;
    OK(cuMemcpyDtoH_v2(&v, p, 4));
    EXPECT_EQ(v, 8u);
    EXPECT_EQ(cuGraphAddChildGraphNode(&child, g, nullptr, 0, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
}

}
