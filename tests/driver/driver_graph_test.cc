// driver_graph_test.cc - graphs built by hand and captured.
#include "driver/driver_harness.h"

namespace
{

class Graph : public Driver {
protected:
    void SetUp() override
    {
        Driver::SetUp();
        f = kernel(add_kernel());
        p = memory(128);
        OK(cuMemsetD32_v2(p, 0, 32));
        OK(cuStreamCreate(&s, CUABI_CU_STREAM_NON_BLOCKING));
    }
    uint32_t first()
    {
        uint32_t v = 0;
        EXPECT_EQ(cuMemcpyDtoH_v2(&v, p, 4), CUABI_SUCCESS);
        return v;
    }
    cu_kernel_node add(uint32_t *n)
    {
        cu_kernel_node k = {};
        params[0] = &p, params[1] = n;
        k.function = f;
        k.grid[0] = k.grid[1] = k.grid[2] = k.block[1] = k.block[2] = 1;
        k.block[0] = 32;
        k.params = params;
        return k;
    }
    void run(cu_exec exec)
    {
        OK(cuGraphLaunch(exec, s));
        OK(cuStreamSynchronize(s));
    }
    cu_function f = nullptr;
    cu_address p = 0;
    cu_stream s = nullptr;
    void *params[2] = {};
};

// set(5) -> +n -> *; edges are given against the order in which nodes are made, so order has to come from them.
TEST_F(Graph, EdgesDecideTheOrder)
{
    cu_graph g;
    cu_node set, kernel_node, copy;
    cu_exec exec;
    uint32_t n = 3, result = 0;
    OK(cuGraphCreate(&g, 0));
    const cu_kernel_node k = add(&n);
    cu_memcpy3d c = {};
    c.source.memory_type = CUABI_CU_MEMORYTYPE_DEVICE, c.source.device = p;
    c.target.memory_type = CUABI_CU_MEMORYTYPE_HOST, c.target.host.to = &result;
    c.width_bytes = 4, c.height = c.depth = 1;
    OK(cuGraphAddMemcpyNode(&copy, g, nullptr, 0, &c, context));
    OK(cuGraphAddKernelNode_v2(&kernel_node, g, nullptr, 0, &k));
    cu_memset_node m = {};
    m.to = p, m.value = 5, m.element_bytes = 4, m.width = 32, m.height = 1;
    OK(cuGraphAddMemsetNode(&set, g, nullptr, 0, &m, context));
    OK(cuGraphAddDependencies(g, &set, &kernel_node, 1));
    OK(cuGraphAddDependencies(g, &kernel_node, &copy, 1));
    EXPECT_EQ(cuGraphAddDependencies(g, &kernel_node, &copy, 1), CUABI_CUDA_ERROR_INVALID_VALUE);
    n = 100;                               // was copied
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    run(exec);
    EXPECT_EQ(result, 8u);
    /* A change is of the exec alone. */
    n = 40;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, kernel_node, &k));
    run(exec);
    EXPECT_EQ(result, 45u);
    OK(cuGraphNodeSetEnabled(exec, kernel_node, 0));
    run(exec);
    EXPECT_EQ(result, 5u);
    cu_kernel_node told;
    OK(cuGraphKernelNodeGetParams_v2(kernel_node, &told));
    EXPECT_EQ(*static_cast<uint32_t *>(told.params[1]), 3u);
    OK(cuGraphAddDependencies(g, &copy, &set, 1));             // a circle
    cu_exec none;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&none, g, 0), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(g));
    run(exec);                                                 // the graph is not needed any more
    OK(cuGraphExecDestroy(exec));
}

TEST_F(Graph, ChildrenAndUpdates)
{
    cu_graph child, g, other;
    cu_node node, a, b;
    cu_exec exec;
    uint32_t n = 1;
    OK(cuGraphCreate(&child, 0));
    cu_kernel_node k = add(&n);
    OK(cuGraphAddKernelNode_v2(&node, child, nullptr, 0, &k));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddChildGraphNode(&a, g, nullptr, 0, child));
    OK(cuGraphAddChildGraphNode(&b, g, &a, 1, child));
    OK(cuGraphDestroy(child));
    OK(cuGraphClone(&other, g));
    OK(cuGraphNodeFindInClone(&node, b, other));
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    run(exec);
    EXPECT_EQ(first(), 2u);
    cu_update_info info;
    OK(cuGraphExecUpdate_v2(exec, other, &info));
    OK(cuGraphDestroyNode(node));
    EXPECT_EQ(cuGraphExecUpdate_v2(exec, other, &info), CUABI_CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT_EQ(info.result, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    run(exec);
    EXPECT_EQ(first(), 4u);
}

TEST_F(Graph, CaptureFollowsEventsAndRunsNothing)
{
    cu_stream t;
    cu_event fork, join;
    cu_graph g;
    cu_exec exec;
    size_t count = 0, roots = 0;
    OK(cuStreamCreate(&t, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, 0));
    OK(cuEventCreate(&join, 0));
    OK(cuStreamBeginCapture_v2(s, 0));
    OK(launch(f, p, 1, 32, s));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    int32_t status;
    OK(cuStreamIsCapturing(t, &status));
    EXPECT_EQ(status, CUABI_CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(launch(f, p, 10, 32, t));
    EXPECT_EQ(cuStreamEndCapture(t, &g), CUABI_CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    OK(cuEventRecord(join, t));
    OK(cuStreamWaitEvent(s, join, 0));
    OK(cuStreamDestroy_v2(t));                                 // joined: it is not needed any more
    OK(launch(f, p, 100, 32, s));
    OK(cuStreamEndCapture(s, &g));
    EXPECT_EQ(first(), 0u);
    OK(cuGraphGetNodes(g, nullptr, &count));
    OK(cuGraphGetRootNodes(g, nullptr, &roots));
    EXPECT_EQ(count, 3u);
    EXPECT_EQ(roots, 1u);
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, s));
    OK(cuStreamSynchronize(s));
    EXPECT_EQ(first(), 333u);
}

TEST_F(Graph, CapturesThatCannotEndWell)
{
    cu_stream t, blocking;
    cu_event fork, before;
    cu_graph g;
    OK(cuStreamCreate(&t, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, 0));
    OK(cuEventCreate(&before, 0));
    EXPECT_EQ(cuStreamBeginCapture_v2(nullptr, 0), CUABI_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    /* work of a stream that joined and is never waited for */
    OK(cuStreamBeginCapture_v2(s, 0));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(t, fork, 0));
    OK(launch(f, p, 1, 32, t));
    EXPECT_EQ(cuStreamEndCapture(s, &g), CUABI_CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    EXPECT_EQ(g, nullptr);
    cu_stream lost;
    OK(cuStreamCreate(&lost, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture_v2(s, 0));
    OK(cuEventRecord(fork, s));
    OK(cuStreamWaitEvent(lost, fork, 0));
    OK(launch(f, p, 1, 32, lost));
    OK(cuStreamDestroy_v2(lost));                              // with work that nothing waits for
    EXPECT_EQ(cuStreamEndCapture(s, &g), CUABI_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    /* an event from outside */
    OK(cuEventRecord(before, t));
    OK(cuStreamBeginCapture_v2(s, 0));
    EXPECT_EQ(cuStreamWaitEvent(s, before, 0), CUABI_CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    EXPECT_EQ(launch(f, p, 1, 32, s), CUABI_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(cuStreamEndCapture(s, &g), CUABI_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    /* the legacy stream while a blocking stream is captured */
    OK(cuStreamCreate(&blocking, 0));
    OK(cuStreamBeginCapture_v2(blocking, 0));
    EXPECT_EQ(launch(f, p, 1), CUABI_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    EXPECT_EQ(cuStreamEndCapture(blocking, &g), CUABI_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(launch(f, p, 1));
    EXPECT_EQ(first(), 1u);
}

// As a library does whose graph is used inside of a program's capture: the launch is a child, with what the exec does at that time.
TEST_F(Graph, ALaunchIsCaptured)
{
    cu_graph inner, outer, child;
    cu_exec exec, whole;
    cu_node nodes[8], first_node, changed, grandchild_node, batch_node;
    uint32_t one = 1, five = 5, hundred = 100;
    cu_graph grandchild;
    const cu_address q = memory(8);
    cu_kernel_node k = add(&hundred);
    OK(cuGraphCreate(&grandchild, 0));
    OK(cuGraphAddKernelNode_v2(&first_node, grandchild, nullptr, 0, &k));
    k = add(&one);
    OK(cuGraphCreate(&inner, 0));
    OK(cuGraphAddKernelNode_v2(&first_node, inner, nullptr, 0, &k));
    OK(cuGraphAddKernelNode_v2(&changed, inner, &first_node, 1, &k));
    OK(cuGraphAddChildGraphNode(&grandchild_node, inner, &changed, 1, grandchild));
    cu_mem_op ops[2] = {};
    for (uint32_t i = 0; i < 2; i++) {
        ops[i].operation = CUABI_CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].value.address = q + 4 * i;
        ops[i].value.value = 70 + i;
    }
    const cu_batch_node batch = {context, 2, ops, 0};
    OK(cuGraphAddBatchMemOpNode(&batch_node, inner, &grandchild_node, 1, &batch));
    OK(cuGraphInstantiateWithFlags(&exec, inner, 0));
    OK(cuStreamBeginCapture_v2(s, 0));
    OK(cuGraphLaunch(exec, s));                            // 102
    k = add(&five);
    OK(cuGraphExecKernelNodeSetParams_v2(exec, changed, &k));
    OK(cuGraphNodeSetEnabled(exec, first_node, 0));
    OK(cuGraphLaunch(exec, s));                            // 105
    OK(launch(f, p, 1000, 32, s));
    OK(cuStreamEndCapture(s, &outer));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(inner));
    OK(cuCtxSynchronize());
    EXPECT_EQ(first(), 0u);
    size_t count = 8;
    OK(cuGraphGetNodes(outer, nodes, &count));
    EXPECT_EQ(count, 3u);
    OK(cuGraphChildGraphNodeGetGraph(nodes[0], &child));
    OK(cuGraphGetNodes(child, nullptr, &count));
    EXPECT_EQ(count, 5u);                                  // two kernels, a child, two values
    OK(cuGraphInstantiateWithFlags(&whole, outer, 0));
    run(whole);
    EXPECT_EQ(first(), 1207u);
    run(whole);
    EXPECT_EQ(first(), 2414u);
    uint32_t values[2];
    OK(cuMemcpyDtoH_v2(values, q, 8));
    EXPECT_EQ(values[0], 70u);
    EXPECT_EQ(values[1], 71u);
}

// Waits for its partner, but not for ever.
struct partner {
    std::atomic<bool> here{false}, met{false};
    partner *other = nullptr;
    static void meet(void *user)
    {
        auto *me = static_cast<partner *>(user);
        me->here = true;
        for (int i = 0; i < 5000000 && !me->other->here; i++)
            std::this_thread::yield();
        me->met = me->other->here.load();
    }
};

// Host nodes of two branches, one inside of a child graph, of which neither ends before the other has begun.
TEST_F(Graph, BranchesRunSideBySide)
{
    partner a, b;
    a.other = &b, b.other = &a;
    cu_graph g, child;
    cu_node node, left, right, root;
    cu_exec exec;
    const cu_host_node in_a = {partner::meet, &a}, in_b = {partner::meet, &b};
    uint32_t n = 7;
    const cu_kernel_node k = add(&n);
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddHostNode(&node, child, nullptr, 0, &in_b));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddEmptyNode(&root, g, nullptr, 0));
    OK(cuGraphAddHostNode(&left, g, &root, 1, &in_a));
    OK(cuGraphAddChildGraphNode(&right, g, &root, 1, child));
    cu_node both[] = {left, right};
    OK(cuGraphAddKernelNode_v2(&node, g, both, 2, &k));
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    for (uint32_t i = 1; i <= 20; i++) {
        a.here = b.here = a.met = b.met = false;
        run(exec);
        ASSERT_TRUE(a.met && b.met);
        ASSERT_EQ(first(), 7 * i);
    }
    /* The same for another exec at the same time, in another stream. */
    partner c, d;
    c.other = &d, d.other = &c;
    const cu_host_node in_c = {partner::meet, &c}, in_d = {partner::meet, &d};
    cu_graph f_graph, g_graph;
    cu_exec one, two;
    cu_stream t;
    OK(cuStreamCreate(&t, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&f_graph, 0));
    OK(cuGraphCreate(&g_graph, 0));
    OK(cuGraphAddHostNode(&node, f_graph, nullptr, 0, &in_c));
    OK(cuGraphAddEmptyNode(&node, f_graph, nullptr, 0));
    OK(cuGraphAddHostNode(&node, g_graph, nullptr, 0, &in_d));
    OK(cuGraphAddEmptyNode(&node, g_graph, nullptr, 0));
    OK(cuGraphInstantiateWithFlags(&one, f_graph, 0));
    OK(cuGraphInstantiateWithFlags(&two, g_graph, 0));
    OK(cuGraphLaunch(one, s));
    OK(cuGraphLaunch(two, t));
    OK(cuCtxSynchronize());
    EXPECT_TRUE(c.met && d.met);
}

// k(u32 *p, u64 handle): counts p[0] up, and sets the condition to whether it is below p[1].
const char *const counting =
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry k(.param .u64 p, .param .u64 handle)\n{\n .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %q;\n"
    " ld.param.u64 %d1, [p]; ld.param.u64 %d2, [handle]; ld.global.u32 %r1, [%d1]; add.u32 %r2, %r1, 1; st.global.u32 [%d1], %r2;\n"
    " ld.global.u32 %r3, [%d1+4]; setp.lt.u32 %q, %r2, %r3; selp.u32 %r4, 1, 0, %q;\n"
    " { .param .b64 a; .param .b32 b; st.param.b64 [a], %d2; st.param.b32 [b], %r4; call.uni cudaGraphSetConditional, (a, b); }\n ret;\n}\n";

class Conditional : public Graph {
protected:
    cu_kernel_node count(uint64_t *handle)
    {
        cu_kernel_node k = add(nullptr);
        k.function = counter;
        k.block[0] = 1;
        params[1] = handle;
        return k;
    }
    cu_graph *conditional(cu_graph g, uint64_t handle, int32_t type, uint32_t size, cu_node *node, const cu_node *before = nullptr)
    {
        cu_node_params q = {};
        q.type = CUABI_CU_GRAPH_NODE_TYPE_CONDITIONAL;
        q.of.conditional.handle = handle, q.of.conditional.type = type, q.of.conditional.size = size;
        EXPECT_EQ(cuGraphAddNode(node, g, before, before != nullptr, &q), CUABI_SUCCESS);
        return q.of.conditional.bodies;
    }
    void set(cu_graph g, uint32_t value)
    {
        cu_memset_node m = {};
        cu_node node;
        m.to = p + 8, m.value = value, m.element_bytes = 4, m.width = m.height = 1;
        OK(cuGraphAddMemsetNode(&node, g, nullptr, 0, &m, context));
    }
    void words(uint32_t a, uint32_t b, uint32_t c)
    {
        const uint32_t w[3] = {a, b, c};
        OK(cuMemcpyHtoD_v2(p, w, sizeof w));
    }
    void expect(uint32_t a, uint32_t c)
    {
        uint32_t w[3];
        OK(cuMemcpyDtoH_v2(w, p, sizeof w));
        EXPECT_EQ(w[0], a);
        EXPECT_EQ(w[2], c);
    }
    void SetUp() override
    {
        Graph::SetUp();
        counter = kernel(counting);
        OK(cuGraphCreate(&g, 0));
    }
    cu_graph g = nullptr;
    cu_exec exec = nullptr;
    cu_node node = nullptr, before = nullptr;
    uint64_t handle = 0;
    cu_function counter = nullptr;
};

// The body runs until its kernel says no more; a default value begins every launch anew.
TEST_F(Conditional, WhileTheKernelSaysSo)
{
    OK(cuGraphConditionalHandleCreate(&handle, g, context, 1, CUABI_CU_GRAPH_COND_ASSIGN_DEFAULT));
    cu_graph *bodies = conditional(g, handle, CUABI_CU_GRAPH_COND_TYPE_WHILE, 1, &node);
    const cu_kernel_node k = count(&handle);
    OK(cuGraphAddKernelNode_v2(&before, bodies[0], nullptr, 0, &k));
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    words(0, 5, 0);
    run(exec);
    expect(5, 0);
    words(7, 10, 0);
    run(exec);
    expect(10, 0);
    run(exec);                                                 // once in any case: the default says so
    expect(11, 0);
    cu_graph copy;
    EXPECT_EQ(cuGraphClone(&copy, g), CUABI_CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuGraphDestroy(bodies[0]), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(g));
    run(exec);                                                 // the graph is not needed any more
    expect(12, 0);
    OK(cuGraphExecDestroy(exec));
}

TEST_F(Conditional, IfAndElse)
{
    OK(cuGraphConditionalHandleCreate(&handle, g, nullptr, 0, 0));
    const cu_kernel_node k = count(&handle);
    OK(cuGraphAddKernelNode_v2(&before, g, nullptr, 0, &k));
    cu_graph *bodies = conditional(g, handle, CUABI_CU_GRAPH_COND_TYPE_IF, 2, &node, &before);
    set(bodies[0], 100);
    set(bodies[1], 200);
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    words(0, 5, 0);
    run(exec);
    expect(1, 100);
    words(4, 5, 0);
    run(exec);
    expect(5, 200);
}

TEST_F(Conditional, SwitchAndWrongUse)
{
    uint64_t which;
    OK(cuGraphConditionalHandleCreate(&which, g, context, 2, CUABI_CU_GRAPH_COND_ASSIGN_DEFAULT));
    cu_graph *bodies = conditional(g, which, CUABI_CU_GRAPH_COND_TYPE_SWITCH, 3, &node);
    for (uint32_t i = 0; i < 3; i++)
        set(bodies[i], 10 + i);
    OK(cuGraphConditionalHandleCreate(&handle, g, context, 3, CUABI_CU_GRAPH_COND_ASSIGN_DEFAULT));
    bodies = conditional(g, handle, CUABI_CU_GRAPH_COND_TYPE_SWITCH, 3, &before, &node);       // 3: none of them
    for (uint32_t i = 0; i < 3; i++)
        set(bodies[i], 20 + i);
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    run(exec);
    expect(0, 12);
    cu_node_params q = {};
    q.type = CUABI_CU_GRAPH_NODE_TYPE_CONDITIONAL;
    q.of.conditional.handle = handle, q.of.conditional.type = CUABI_CU_GRAPH_COND_TYPE_WHILE, q.of.conditional.size = 2;
    EXPECT_EQ(cuGraphAddNode(&node, g, nullptr, 0, &q), CUABI_CUDA_ERROR_INVALID_VALUE);
    q.of.conditional.handle = p, q.of.conditional.size = 1;
    EXPECT_EQ(cuGraphAddNode(&node, g, nullptr, 0, &q), CUABI_CUDA_ERROR_INVALID_VALUE);
    size_t nodes = 0;
    OK(cuGraphGetNodes(g, nullptr, &nodes));
    EXPECT_EQ(nodes, 2u);
}

// A batch of operations on values: written in order, waited for by another branch.
TEST_F(Graph, ValuesInANode)
{
    cu_graph g;
    cu_node writes, waits;
    cu_exec exec;
    cu_mem_op w[2] = {}, wait = {};
    w[0].value.operation = CUABI_CU_STREAM_MEM_OP_WRITE_VALUE_32, w[0].value.address = p, w[0].value.value = 4;
    w[1].value.operation = CUABI_CU_STREAM_MEM_OP_WRITE_VALUE_64, w[1].value.address = p + 8, w[1].value.value = 9;
    wait.value.operation = CUABI_CU_STREAM_MEM_OP_WAIT_VALUE_64, wait.value.address = p + 8, wait.value.value = 9;
    const cu_batch_node first = {context, 1, &wait, 0}, second = {context, 2, w, 0};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddBatchMemOpNode(&waits, g, nullptr, 0, &first));       // would wait for ever if branches took turns
    OK(cuGraphAddBatchMemOpNode(&writes, g, nullptr, 0, &second));
    cu_batch_node told;
    OK(cuGraphBatchMemOpNodeGetParams(writes, &told));
    EXPECT_EQ(told.count, 2u);
    EXPECT_EQ(told.operations[1].value.value, 9u);
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    run(exec);
    EXPECT_EQ(Graph::first(), 4u);
    w[0].value.value = 6;
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, writes, &second));
    run(exec);
    EXPECT_EQ(Graph::first(), 6u);
    w[0].value.address = 12;
    EXPECT_EQ(cuGraphBatchMemOpNodeSetParams(writes, &second), CUABI_CUDA_ERROR_INVALID_VALUE);
}

// What an allocation node made and the program freed is there again in the next launch.
TEST_F(Graph, MemoryFreedOutsideOfTheGraph)
{
    cu_graph g;
    cu_node alloc, use;
    cu_exec exec;
    cu_alloc_node a = {};
    uint32_t n = 1, got = 0;
    uint64_t bytes = 0;
    a.pool.allocation_type = 1, a.pool.location = {CUABI_CU_MEM_LOCATION_TYPE_DEVICE, 0}, a.bytes = 256;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemAllocNode(&alloc, g, nullptr, 0, &a));
    cu_memset_node m = {};
    cu_node set;
    m.to = a.address, m.value = 41, m.element_bytes = 4, m.width = 32, m.height = 1;
    OK(cuGraphAddMemsetNode(&set, g, &alloc, 1, &m, context));
    void *args[] = {&a.address, &n};
    cu_kernel_node k = add(&n);
    k.params = args;
    OK(cuGraphAddKernelNode_v2(&use, g, &set, 1, &k));
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    for (int i = 0; i < 3; i++) {
        run(exec);
        OK(cuMemcpyDtoH_v2(&got, a.address, 4));
        EXPECT_EQ(got, 42u);
        OK(i ? cuMemFreeAsync(a.address, s) : cuMemFree_v2(a.address));
    }
    OK(cuDeviceGetGraphMemAttribute(0, CUABI_CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes));
    EXPECT_GE(bytes, 256u);
}

// Captured into a graph of the program's, whose handle need not be given back.
TEST_F(Graph, CaptureIntoAGraph)
{
    cu_graph g;
    cu_node root;
    cu_exec exec;
    size_t count = 0;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddEmptyNode(&root, g, nullptr, 0));
    OK(cuStreamBeginCaptureToGraph(s, g, &root, nullptr, 1, 0));
    OK(launch(f, p, 3, 32, s));
    OK(cuStreamEndCapture(s, nullptr));
    OK(cuGraphGetNodes(g, nullptr, &count));
    EXPECT_EQ(count, 2u);
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    run(exec);
    EXPECT_EQ(first(), 3u);
    OK(cuStreamBeginCapture_v2(s, 0));
    EXPECT_EQ(cuStreamEndCapture(s, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamEndCapture(s, &g));
}

struct step {
    std::atomic<int> done{0};
    std::atomic<bool> early{false};
    std::vector<step *> before;
    int round = 0;
    static void go(void *user)
    {
        auto *me = static_cast<step *>(user);
        for (const step *b : me->before)
            if (b->done != me->round)
                me->early = true;
        std::this_thread::yield();
        me->done++;
    }
};

// Wide graphs with edges in all directions: no step before those that it depends on, each exactly once.
TEST_F(Graph, BranchesKeepTheirOrder)
{
    const int count = 120;
    uint32_t seed = 5;
    std::vector<step> steps(count);
    std::vector<cu_node> nodes(count);
    cu_graph g;
    cu_exec exec;
    OK(cuGraphCreate(&g, 0));
    for (int i = 0; i < count; i++) {
        const cu_host_node h = {step::go, &steps[i]};
        OK(cuGraphAddHostNode(&nodes[i], g, nullptr, 0, &h));
    }
    for (int i = 1; i < count; i++)
        for (int k = 0; k < 3; k++) {
            seed = seed * 1664525 + 1013904223;
            const int from = (seed >> 8) % i, a = (from * 77) % count, b = (i * 77) % count;   // nodes made in another order
            if (cuGraphAddDependencies(g, &nodes[a], &nodes[b], 1) == CUABI_SUCCESS)
                steps[b].before.push_back(&steps[a]);
        }
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    for (int round = 1; round <= 10; round++) {
        for (step &n : steps)
            n.round = round;
        run(exec);
        for (const step &n : steps) {
            ASSERT_FALSE(n.early);
            ASSERT_EQ(n.done, round);
        }
    }
}

// What a branch cannot do ends the launch: nothing that depends on it is done.
TEST_F(Graph, FaultInABranchStopsWhatFollows)
{
    step after;
    cu_graph g;
    cu_node bad, good, node;
    cu_exec exec;
    uint32_t n = 1;
    const cu_kernel_node k = add(&n);
    cu_address wild = 64;
    void *wild_params[] = {&wild, &n};
    cu_kernel_node k_bad = k;
    k_bad.params = wild_params;
    const cu_host_node h = {step::go, &after};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddKernelNode_v2(&bad, g, nullptr, 0, &k_bad));
    OK(cuGraphAddEmptyNode(&good, g, nullptr, 0));
    cu_node both[] = {bad, good};
    OK(cuGraphAddHostNode(&node, g, both, 2, &h));
    OK(cuGraphInstantiateWithFlags(&exec, g, 0));
    OK(cuGraphLaunch(exec, s));
    EXPECT_EQ(cuStreamSynchronize(s), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(after.done, 0);
}

void count_down(void *user) { --*static_cast<int *>(user); }

TEST_F(Graph, UserObjectsLiveAsLongAsWhoRefersToThem)
{
    int alive = 1;
    cu_user_object object;
    cu_graph g, copy;
    OK(cuUserObjectCreate(&object, &alive, count_down, 1, 1));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphRetainUserObject(g, object, 1, 1));              // takes ours
    OK(cuGraphClone(&copy, g));
    OK(cuGraphDestroy(g));
    EXPECT_EQ(alive, 1);
    OK(cuGraphDestroy(copy));
    EXPECT_EQ(alive, 0);
}

} // namespace
