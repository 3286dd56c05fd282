// driver_test.cc - contexts, memory, copies, sets, streams, events, faults of libcuda.so.1 on the CPU device.
#include "driver/driver_harness.h"
#include <thread>

namespace
{

std::vector<unsigned char> noise(size_t n, uint32_t seed)
{
    std::vector<unsigned char> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = static_cast<unsigned char>((seed = seed * 1664525u + 1013904223u) >> 24);
    return v;
}

// ---------------------------------------------------------------- contexts

TEST_F(Driver, ContextsFormAStack)
{
    cu_context other, got;
    cu_context_params plain = {nullptr, 0, nullptr};           // as programs of CUDA 13 give them
    OK(cuCtxCreate_v4(&other, &plain, 0, 0));
    OK(cuCtxGetCurrent(&got));
    EXPECT_EQ(got, other);
    OK(cuCtxPopCurrent_v2(&got));
    EXPECT_EQ(got, other);
    OK(cuCtxGetCurrent(&got));
    EXPECT_EQ(got, context);
    OK(cuCtxPushCurrent_v2(other));
    OK(cuCtxDestroy_v2(other));
    OK(cuCtxGetCurrent(&got));
    EXPECT_EQ(got, context);
    EXPECT_EQ(cuCtxPushCurrent_v2(other), CUABI_CUDA_ERROR_INVALID_CONTEXT);       // a stale handle
    EXPECT_EQ(cuCtxDestroy_v2(other), CUABI_CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Driver, AThreadWithoutContextIsToldSo)
{
    cu_result result = CUABI_SUCCESS;
    std::thread([&] { cu_address p; result = cuMemAlloc_v2(&p, 16); }).join();
    EXPECT_EQ(result, CUABI_CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Driver, PrimaryContextIsCountedAndFreesItsMemory)
{
    cu_context a, b;
    uint32_t flags;
    int active;
    OK(cuDevicePrimaryCtxRetain(&a, 0));
    OK(cuDevicePrimaryCtxRetain(&b, 0));
    EXPECT_EQ(a, b);
    OK(cuCtxPushCurrent_v2(a));
    const cu_address p = memory(1 << 20);
    OK(cuCtxPopCurrent_v2(&b));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT_TRUE(active);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT_FALSE(active);
    EXPECT_EQ(cuMemFree_v2(p), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUABI_CUDA_ERROR_INVALID_CONTEXT);
}

// ---------------------------------------------------------------- memory

TEST_F(Driver, RangesAndAttributesOfPointers)
{
    const cu_address p = memory(1000);
    cu_address base;
    size_t size;
    OK(cuMemGetAddressRange_v2(&base, &size, p + 999));
    EXPECT_EQ(base, p);
    EXPECT_EQ(size, 1000u);
    EXPECT_EQ(cuMemGetAddressRange_v2(&base, &size, p + 1000), CUABI_CUDA_ERROR_NOT_FOUND);
    void *pinned;
    OK(cuMemHostAlloc(&pinned, 100, CUABI_CU_MEMHOSTALLOC_DEVICEMAP));
    std::vector<int> plain(4);
    const struct { cu_address address; uint32_t type; } all[] = {
        {p, CUABI_CU_MEMORYTYPE_DEVICE}, {reinterpret_cast<cu_address>(pinned), CUABI_CU_MEMORYTYPE_HOST},
        {reinterpret_cast<cu_address>(plain.data()), 0}};
    for (const auto &one : all) {
        uint32_t type = 77;
        cu_address device = 77;
        int32_t which[] = {CUABI_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CUABI_CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
        void *out[] = {&type, &device};
        OK(cuPointerGetAttributes(2, which, out, one.address));
        EXPECT_EQ(type, one.type);
        EXPECT_EQ(device, one.type ? one.address : 0);
    }
    uint32_t type;
    EXPECT_EQ(cuPointerGetAttribute(&type, CUABI_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, all[2].address), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    EXPECT_EQ(cuMemFree_v2(p), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree_v2(all[1].address), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
}

TEST_F(Driver, MemoryIsCounted)
{
    size_t before, after, total;
    OK(cuMemGetInfo_v2(&before, &total));
    EXPECT_LE(before, total);
    cu_address p;
    EXPECT_EQ(cuMemAlloc_v2(&p, total + 1), CUABI_CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAlloc_v2(&p, 0), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAlloc_v2(&p, total / 2));      // never touched
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT_LE(after, total - total / 2);
}

// What was said about parts of a range: an answer is about all of what is asked for.
TEST_F(Driver, AdviceIsKept)
{
    cu_address m = 0;
    const cu_location device = {CUABI_CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CUABI_CU_MEM_LOCATION_TYPE_HOST, 0};
    OK(cuMemAllocManaged(&m, 1000, CUABI_CU_MEM_ATTACH_GLOBAL));
    auto ask = [&](int32_t attribute, size_t from, size_t bytes) {
        int32_t v = 99;
        EXPECT_EQ(cuMemRangeGetAttribute(&v, 4, attribute, m + from, bytes), CUABI_SUCCESS);
        return v;
    };
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 0, 1000), 0);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 0, 1000), -2);
    OK(cuMemAdvise_v2(m + 100, 200, CUABI_CU_MEM_ADVISE_SET_READ_MOSTLY, host));
    OK(cuMemAdvise_v2(m + 300, 200, CUABI_CU_MEM_ADVISE_SET_READ_MOSTLY, host));
    OK(cuMemAdvise(m + 200, 700, CUABI_CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 0));
    OK(cuMemPrefetchAsync_v2(m + 400, 300, host, 0, nullptr));
    OK(cuMemPrefetchAsync_v2(m, 50, device, 0, nullptr));
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 100, 400), 1);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 99, 400), 0);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 101, 400), 0);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 200, 700), 0);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 100, 200), -2);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 250, 600), 1);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 400, 300), -1);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, 50), 0);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 0, 51), -2);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 400, 300), 2);
    OK(cuMemAdvise_v2(m + 250, 100, CUABI_CU_MEM_ADVISE_UNSET_READ_MOSTLY, host));
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 100, 150), 1);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 249, 2), 0);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 350, 150), 1);
    OK(cuMemAdvise_v2(m, 1000, CUABI_CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    OK(cuMemAdvise_v2(m, 500, CUABI_CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    int32_t list[3], one = 99;
    OK(cuMemRangeGetAttribute(list, 12, CUABI_CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, m, 500));
    EXPECT_EQ(std::vector<int32_t>(list, list + 3), (std::vector<int32_t>{0, -1, -2}));
    void *data[] = {&one, list};
    size_t sizes[] = {4, 12};
    int32_t both[] = {CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, CUABI_CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    OK(cuMemRangeGetAttributes(data, sizes, both, 2, m + 400, 200));
    EXPECT_EQ(std::vector<int32_t>(list, list + 3), (std::vector<int32_t>{-1, -2, -2}));
    EXPECT_EQ(one, 0);
    EXPECT_EQ(cuMemRangeGetAttribute(&one, 8, CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 500), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemRangeGetAttribute(&one, 4, CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 1001), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemRangeGetAttribute(&one, 4, CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory(64), 4), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAdvise_v2(m, 1000, CUABI_CU_MEM_ADVISE_SET_PREFERRED_LOCATION, cu_location{1, 7}), CUABI_CUDA_ERROR_INVALID_DEVICE);
    /* Memory that comes to the same place has none of it. */
    OK(cuMemFree_v2(m));
    OK(cuMemAllocManaged(&m, 1000, CUABI_CU_MEM_ATTACH_GLOBAL));
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 200, 700), -2);
    EXPECT_EQ(ask(CUABI_CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 100, 100), 0);
}

TEST_F(Driver, ManagedAndRegisteredMemoryIsSharedWithKernels)
{
    cu_function f = kernel(add_kernel());
    cu_address managed, seen;
    OK(cuMemAllocManaged(&managed, 32 * 4, CUABI_CU_MEM_ATTACH_GLOBAL));
    auto *m = reinterpret_cast<uint32_t *>(managed);
    std::vector<uint32_t> own(1000);
    for (uint32_t i = 0; i < 32; i++)
        m[i] = own[i + 7] = i;
    OK(cuMemHostRegister_v2(own.data(), own.size() * 4, CUABI_CU_MEMHOSTREGISTER_DEVICEMAP));
    EXPECT_EQ(cuMemHostRegister_v2(own.data() + 10, 16, 0), CUABI_CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostGetDevicePointer_v2(&seen, own.data() + 7, 0));
    OK(launch(f, managed, 5));
    OK(launch(f, seen, 6));
    OK(cuCtxSynchronize());
    for (uint32_t i = 0; i < 32; i++) {
        EXPECT_EQ(m[i], i + 5);
        EXPECT_EQ(own[i + 7], i + 6);
    }
    EXPECT_EQ(own[6], 0u);
    EXPECT_EQ(own[39], 0u);
    OK(cuMemHostUnregister(own.data()));
    EXPECT_EQ(cuMemHostUnregister(own.data()), CUABI_CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(launch(f, seen, 6));
    EXPECT_EQ(cuCtxSynchronize(), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);       // no longer the kernel's to use
}

// ---------------------------------------------------------------- copies

// A box inside of pitched memory on both sides, against the same in plain C.
TEST_F(Driver, BoxesAreCopiedBetweenPitchedMemoryAndArrays)
{
    enum { SP = 70, SH = 9, D = 4, W = 40, H = 5, TP = 64 };
    const auto host = noise(SP * SH * D, 1);
    const cu_address device = memory(TP * 8 * D);
    cu_array array;
    cu_array3d_desc desc = {};
    desc.width = 16, desc.height = 8, desc.depth = D, desc.format = CUABI_CU_AD_FORMAT_UNSIGNED_INT8, desc.channels = 4;
    OK(cuArray3DCreate_v2(&array, &desc));
    cu_memcpy3d up = {}, across = {}, down = {};
    up.source.memory_type = CUABI_CU_MEMORYTYPE_HOST, up.source.host.from = host.data(), up.source.pitch = SP, up.source.height = SH;
    up.source.x_bytes = 3, up.source.y = 2, up.source.z = 1;
    up.target.memory_type = CUABI_CU_MEMORYTYPE_DEVICE, up.target.device = device, up.target.pitch = TP, up.target.height = 8;
    up.target.x_bytes = 8, up.target.y = 1;
    up.width_bytes = W, up.height = H, up.depth = 3;
    OK(cuMemcpy3D_v2(&up));
    across.source = up.target;
    across.target.memory_type = CUABI_CU_MEMORYTYPE_ARRAY, across.target.array = array, across.target.x_bytes = 16, across.target.y = 3;
    across.target.z = 1;
    across.width_bytes = W, across.height = H, across.depth = 3;
    OK(cuMemcpy3D_v2(&across));
    std::vector<unsigned char> back(W * H * 3);
    down.source = across.target;
    down.target.memory_type = CUABI_CU_MEMORYTYPE_HOST, down.target.host.to = back.data();
    down.width_bytes = W, down.height = H, down.depth = 3;
    OK(cuMemcpy3D_v2(&down));
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                ASSERT_EQ(back[(z * H + y) * W + x], host[((z + 1) * SH + y + 2) * SP + x + 3]) << x << " " << y << " " << z;
    across.target.x_bytes = 28;            // one byte too far
    across.width_bytes = 37;
    EXPECT_EQ(cuMemcpy3D_v2(&across), CUABI_CUDA_ERROR_INVALID_VALUE);
    up.depth = 4, up.source.z = 0, up.target.y = 4;
    EXPECT_EQ(cuMemcpy3D_v2(&up), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuArrayDestroy(array));
}

TEST_F(Driver, PlainCopiesAndUnifiedOnes)
{
    const auto host = noise(1000, 2);
    std::vector<unsigned char> back(1000);
    const cu_address a = memory(1000), b = memory(1000);
    OK(cuMemcpyHtoD_v2(a, host.data(), 1000));
    OK(cuMemcpyDtoD_v2(b + 100, a, 900));
    OK(cuMemcpy(b, a + 900, 100));
    OK(cuMemcpy(reinterpret_cast<cu_address>(back.data()), b, 1000));
    EXPECT_EQ(memcmp(back.data(), host.data() + 900, 100), 0);
    EXPECT_EQ(memcmp(back.data() + 100, host.data(), 900), 0);
    EXPECT_EQ(cuMemcpyHtoD_v2(a + 1, host.data(), 1000), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH_v2(back.data(), 0, 4), CUABI_CUDA_ERROR_INVALID_VALUE);
}

// The source may change as soon as an asynchronous copy returns, for memory that is not pinned.
TEST_F(Driver, PageableSourcesAreReadBeforeTheCallReturns)
{
    cu_function slow = kernel(add_kernel(200000));
    const cu_address p = memory(128), q = memory(4096);
    std::vector<uint32_t> source(1024, 7), back(1024);
    OK(cuMemsetD32_v2(p, 0, 32));
    OK(launch(slow, p, 1));
    OK(cuMemcpyHtoDAsync_v2(q, source.data(), 4096, nullptr));
    std::fill(source.begin(), source.end(), 9u);
    OK(cuMemcpyDtoHAsync_v2(back.data(), q, 4096, nullptr));
    EXPECT_EQ(back, std::vector<uint32_t>(1024, 7));
}

TEST_F(Driver, SetsOfEverySizeInOneAndTwoDimensions)
{
    enum { PITCH = 64, ROWS = 5 };
    const cu_address p = memory(PITCH * ROWS);
    std::vector<unsigned char> expected(PITCH * ROWS, 0), got(PITCH * ROWS);
    auto check = [&](const char *what) {
        ASSERT_EQ(cuMemcpyDtoH_v2(got.data(), p, got.size()), CUABI_SUCCESS);
        EXPECT_EQ(got, expected) << what;
    };
    auto fill = [&](size_t first, size_t width, size_t rows, uint32_t value, size_t element) {
        for (size_t y = 0; y < rows; y++)
            for (size_t x = 0; x < width; x++)
                memcpy(&expected[first + y * PITCH + x * element], &value, element);
    };
    OK(cuMemsetD8_v2(p, 0x11, PITCH * ROWS));
    std::fill(expected.begin(), expected.end(), 0x11);
    OK(cuMemsetD16_v2(p + 2, 0x2345, 7));
    fill(2, 7, 1, 0x2345, 2);
    OK(cuMemsetD32_v2(p + 20, 0x12345678, 5));
    fill(20, 5, 1, 0x12345678, 4);
    OK(cuMemsetD2D8_v2(p + PITCH + 1, PITCH, 0x77, 3, 3));
    fill(PITCH + 1, 3, 3, 0x77, 1);
    OK(cuMemsetD2D16_v2(p + PITCH + 10, PITCH, 0x8899, 3, 4));
    fill(PITCH + 10, 3, 4, 0x8899, 2);
    OK(cuMemsetD2D32_v2(p + 40, PITCH, 0xaabbccdd, 6, 5));
    fill(40, 6, 5, 0xaabbccdd, 4);
    check("sets");
    EXPECT_EQ(cuMemsetD32_v2(p + 2, 0, 1), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemsetD2D32_v2(p + 44, PITCH, 0, 6, 5), CUABI_CUDA_ERROR_INVALID_VALUE);
    check("what was refused changed nothing");
}

// ---------------------------------------------------------------- streams and events

TEST_F(Driver, LegacyStreamWaitsForBlockingStreamsAndNoOthers)
{
    cu_stream blocking, other;
    OK(cuStreamCreate(&blocking, 0));
    OK(cuStreamCreate(&other, CUABI_CU_STREAM_NON_BLOCKING));
    const cu_address p = memory(4);
    OK(cuLaunchHostFunc(blocking, gate::wait, &g));
    OK(cuMemsetD32Async(p, 1, 1, other));
    OK(cuStreamSynchronize(other));                            // not behind the gate
    EXPECT_FALSE(g.passed);
    OK(cuMemsetD32Async(p, 2, 1, nullptr));                    // behind it
    EXPECT_EQ(cuStreamQuery(nullptr), CUABI_CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuStreamQuery(blocking), CUABI_CUDA_ERROR_NOT_READY);
    g.open = true;
    uint32_t value;
    OK(cuMemcpyDtoH_v2(&value, p, 4));
    EXPECT_TRUE(g.passed);
    EXPECT_EQ(value, 2u);
    OK(cuStreamQuery(blocking));
    OK(cuStreamDestroy_v2(blocking));
    EXPECT_EQ(cuStreamQuery(blocking), CUABI_CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamDestroy_v2(other));
}

TEST_F(Driver, BlockingStreamsWaitForTheLegacyStream)
{
    cu_stream blocking;
    OK(cuStreamCreate(&blocking, 0));
    const cu_address p = memory(4);
    OK(cuMemsetD32_v2(p, 0, 1));
    OK(cuLaunchHostFunc(nullptr, gate::wait, &g));
    OK(cuMemsetD32Async(p, 3, 1, blocking));
    for (int i = 0; i < 20000; i++) {      // time enough for a thread that does not wait
        ASSERT_EQ(cuStreamQuery(blocking), CUABI_CUDA_ERROR_NOT_READY);
        std::this_thread::yield();
    }
    g.open = true;
    OK(cuStreamSynchronize(blocking));
    EXPECT_TRUE(g.passed);
}

TEST_F(Driver, EventsOrderStreamsAndTellTime)
{
    cu_stream a, b;
    cu_event first, second, untimed;
    OK(cuStreamCreate(&a, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&first, 0));
    OK(cuEventCreate(&second, 0));
    OK(cuEventCreate(&untimed, CUABI_CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(first));                                   // never recorded: done
    float ms;
    EXPECT_EQ(cuEventElapsedTime(&ms, first, second), CUABI_CUDA_ERROR_INVALID_HANDLE);
    OK(cuLaunchHostFunc(a, gate::wait, &g));
    OK(cuEventRecord(first, a));
    OK(cuStreamWaitEvent(b, first, 0));
    const cu_address p = memory(4);
    OK(cuMemsetD32Async(p, 1, 1, b));
    OK(cuEventRecord(second, b));
    EXPECT_EQ(cuEventQuery(first), CUABI_CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuEventQuery(second), CUABI_CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuEventElapsedTime(&ms, first, second), CUABI_CUDA_ERROR_NOT_READY);
    g.open = true;
    OK(cuEventSynchronize(second));
    EXPECT_TRUE(g.passed);
    OK(cuEventElapsedTime(&ms, first, second));
    EXPECT_GE(ms, 0.0f);
    OK(cuEventElapsedTime(&ms, second, first));
    EXPECT_LE(ms, 0.0f);
    OK(cuEventRecord(untimed, b));
    EXPECT_EQ(cuEventElapsedTime(&ms, first, untimed), CUABI_CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy_v2(first));
    EXPECT_EQ(cuEventQuery(first), CUABI_CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Driver, StreamsWaitForValuesThatTheHostWrites)
{
    cu_address flag;
    cu_stream s;
    const cu_address p = memory(4);
    OK(cuMemAllocManaged(&flag, 16, CUABI_CU_MEM_ATTACH_GLOBAL));
    auto *f = reinterpret_cast<volatile uint32_t *>(flag);
    f[0] = 3, f[1] = 0;
    OK(cuStreamCreate(&s, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32_v2(s, flag, 5, CUABI_CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuMemsetD32Async(p, 1, 1, s));
    OK(cuStreamWriteValue32_v2(s, flag + 4, 77, 0));
    EXPECT_EQ(cuStreamQuery(s), CUABI_CUDA_ERROR_NOT_READY);
    EXPECT_EQ(f[1], 0u);
    f[0] = 6;
    OK(cuStreamSynchronize(s));
    EXPECT_EQ(f[1], 77u);
}

TEST_F(Driver, MemoryOfPoolsIsFreedInTheOrderOfItsStream)
{
    cu_stream s;
    cu_pool pool;
    cu_address p;
    uint64_t used;
    OK(cuStreamCreate(&s, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocAsync(&p, 1 << 16, s));
    OK(cuLaunchHostFunc(s, gate::wait, &g));
    OK(cuMemsetD8Async(p, 1, 1 << 16, s));
    OK(cuMemFreeAsync(p, s));
    OK(cuMemPoolGetAttribute(pool, CUABI_CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT_EQ(used, 1u << 16);
    g.open = true;
    OK(cuStreamSynchronize(s));
    OK(cuMemPoolGetAttribute(pool, CUABI_CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT_EQ(used, 0u);
    EXPECT_EQ(cuMemFreeAsync(p, s), CUABI_CUDA_ERROR_INVALID_VALUE);
}

// ---------------------------------------------------------------- launches and faults

TEST_F(Driver, LaunchesAreChecked)
{
    cu_function f = kernel(add_kernel());
    cu_address p = memory(4096);
    uint32_t n = 1;
    void *params[] = {&p, &n};
    OK(cuMemsetD8_v2(p, 0, 4096));
    EXPECT_EQ(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, nullptr, params, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 0, nullptr, params, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 49 << 10, nullptr, params, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), CUABI_CUDA_ERROR_INVALID_HANDLE);
    OK(cuFuncSetAttribute(f, CUABI_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60 << 10));
    OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 49 << 10, nullptr, params, nullptr));
    struct { cu_address p; uint32_t n; } block = {p, 10};
    size_t size = sizeof block;
    void *extra[] = {CUABI_LAUNCH_PARAM_BUFFER_POINTER, &block, CUABI_LAUNCH_PARAM_BUFFER_SIZE, &size, CUABI_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
    size = 4;
    EXPECT_EQ(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra), CUABI_CUDA_ERROR_INVALID_VALUE);
    uint32_t value;
    OK(cuMemcpyDtoH_v2(&value, p + 4 * 31, 4));
    EXPECT_EQ(value, 11u);
}

TEST_F(Driver, LaunchesOfOldPrograms)
{
    cu_function f = kernel(add_kernel());
    cu_address p = memory(128);
    uint32_t value;
    OK(cuMemsetD8_v2(p, 0, 128));
    OK(cuFuncSetBlockShape(f, 16, 1, 1));
    OK(cuParamSetv(f, 0, &p, 8));
    OK(cuParamSeti(f, 8, 9));
    OK(cuParamSetSize(f, 12));
    OK(cuLaunchGrid(f, 1, 1));
    OK(cuMemcpyDtoH_v2(&value, p + 4 * 15, 4));
    EXPECT_EQ(value, 9u);
    OK(cuMemcpyDtoH_v2(&value, p + 4 * 16, 4));
    EXPECT_EQ(value, 0u);
}

TEST_F(Driver, FaultsStickToTheirContextAlone)
{
    cu_context other;
    cu_function f = kernel(add_kernel());
    cu_address p = memory(128), q;
    cu_event start, end;
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(start, nullptr));
    OK(launch(f, 16, 1));
    EXPECT_EQ(cuCtxSynchronize(), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
    float ms;
    EXPECT_EQ(cuEventRecord(end, nullptr), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(cuEventElapsedTime(&ms, start, end), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(launch(f, p, 1), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(cuMemAlloc_v2(&q, 16), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(cuStreamSynchronize(nullptr), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxCreate_v2(&other, 0, 0));
    cu_function g = kernel(add_kernel());
    const cu_address r = memory(128);
    OK(launch(g, r, 1));
    OK(cuCtxSynchronize());
    OK(launch(g, r + 2, 1));
    EXPECT_EQ(cuCtxSynchronize(), CUABI_CUDA_ERROR_MISALIGNED_ADDRESS);
    OK(cuCtxDestroy_v2(other));
    cu_function h = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&h, last_module, "k"), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(Driver, TrapsAndAssertionsHaveTheirCodes)
{
    cu_function f = kernel(".visible .entry k() { trap; }");
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    EXPECT_EQ(cuCtxSynchronize(), CUABI_CUDA_ERROR_LAUNCH_FAILED);
    cu_context other;
    OK(cuCtxCreate_v2(&other, 0, 0));
    f = kernel(".visible .entry k() { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; .reg .b64 %d; mov.u64 %d, text;"
               " cvta.global.u64 %d, %d; st.param.b64 [a], %d; st.param.b64 [b], %d; st.param.b32 [c], 7; st.param.b64 [d], %d;"
               " st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); ret; }", "k",
               ".global .b8 text[2] = {97, 0};\n.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n");
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    EXPECT_EQ(cuCtxSynchronize(), CUABI_CUDA_ERROR_ASSERT);
    OK(cuCtxDestroy_v2(other));
}

TEST_F(Driver, OccupancyIsPlausible)
{
    cu_function f = kernel(add_kernel());
    int blocks = 0, grid, block, before = 1 << 30;
    for (int threads = 32; threads <= 1024; threads *= 2) {
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, 0));
        EXPECT_GE(blocks, 1) << threads;
        EXPECT_LE(blocks * threads, 1536) << threads;
        EXPECT_LE(blocks, before);
        before = blocks;
    }
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 40 << 10));
    EXPECT_EQ(blocks, 2);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 0));
    EXPECT_GE(block, 256);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, nullptr, 0, 100));
    EXPECT_LE(block, 100);
}

// ---------------------------------------------------------------- look-up, and what is not served

TEST_F(Driver, LookUpGoesByVersionAndStream)
{
    void *p, *q;
    int32_t status;
    OK(cuGetProcAddress_v2("cuMemAlloc", &p, 12000, 0, &status));
    EXPECT_EQ(p, reinterpret_cast<void *>(cuMemAlloc_v2));
    OK(cuGetProcAddress_v2("cuLaunchKernel", &p, 12000, 0, &status));
    OK(cuGetProcAddress_v2("cuLaunchKernel", &q, 12000, CUABI_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    EXPECT_NE(p, q);
    OK(cuGetProcAddress_v2("cuCtxCreate", &p, 12050, 0, &status));
    EXPECT_EQ(p, reinterpret_cast<void *>(cuCtxCreate_v4));
    OK(cuGetProcAddress_v2("cuCtxCreate", &p, 12040, 0, &status));
    EXPECT_EQ(p, reinterpret_cast<void *>(cuCtxCreate_v3));
    cuGetProcAddress_v2("cuGraphCreate", &p, 9000, 0, &status);
    EXPECT_EQ(p, nullptr);
    EXPECT_EQ(status, CUABI_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    cuGetProcAddress_v2("cuNothing", &p, 13000, 0, &status);
    EXPECT_EQ(status, CUABI_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_EQ(cuGetProcAddress("cuNothing", &p, 13000, 0), CUABI_CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &p, 99000, 0, &status), CUABI_CUDA_ERROR_INVALID_VALUE);   /* newer than the driver */
    OK(cuGetProcAddress_v2("cuMulticastCreate", &p, 13000, 0, &status));
    uint64_t handle;
    EXPECT_EQ(reinterpret_cast<cu_result (*)(void *, void *)>(p)(&handle, &handle), CUABI_CUDA_ERROR_NOT_SUPPORTED);
}

} // namespace
