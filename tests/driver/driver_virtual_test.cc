// driver_virtual_test.cc - addresses and memory by themselves, and one at the other.
#include <unistd.h>
#include "driver/driver_harness.h"

namespace
{

const size_t MiB2 = 2 << 20;

class Virtual : public Driver {
protected:
    void SetUp() override
    {
        Driver::SetUp();
        prop.type = CUABI_CU_MEM_ALLOCATION_TYPE_PINNED;
        prop.location = {CUABI_CU_MEM_LOCATION_TYPE_DEVICE, 0};
        access.location = prop.location;
        access.flags = CUABI_CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        size_t granularity = 0;
        OK(cuMemGetAllocationGranularity(&granularity, &prop, 0));
        ASSERT_EQ(granularity, MiB2);
    }
    cu_memory_handle create(size_t bytes)
    {
        cu_memory_handle h = 0;
        EXPECT_EQ(cuMemCreate(&h, bytes, &prop, 0), CUABI_SUCCESS);
        return h;
    }
    uint32_t word(cu_address at)
    {
        uint32_t v = 0;
        EXPECT_EQ(cuMemcpyDtoH_v2(&v, at, 4), CUABI_SUCCESS);
        return v;
    }
    cu_alloc_prop prop = {};
    cu_access_desc access = {};
};

// As PyTorch's expandable segments do it: a large range, of which more and more is mapped, piece by piece.
TEST_F(Virtual, SegmentsGrow)
{
    cu_function f = kernel(add_kernel());
    cu_address base = 0;
    OK(cuMemAddressReserve(&base, 1000 * MiB2, 0, 0, 0));
    EXPECT_EQ(base % MiB2, 0u);
    for (size_t i = 0; i < 3; i++) {
        const cu_memory_handle h = create(MiB2);
        OK(cuMemMap(base + i * MiB2, MiB2, 0, h, 0));
        OK(cuMemRelease(h));                           // the mapping keeps it
        OK(cuMemSetAccess(base + i * MiB2, MiB2, &access, 1));
    }
    /* Copies, sets and kernels do not see the borders. */
    OK(cuMemsetD32_v2(base, 5, 3 * MiB2 / 4));
    OK(launch(f, base + MiB2 - 64, 10));
    EXPECT_EQ(word(base + MiB2 - 64), 15u);
    EXPECT_EQ(word(base + MiB2 + 60), 15u);
    EXPECT_EQ(word(base + MiB2 + 64), 5u);
    OK(cuMemcpyDtoD_v2(base + 2 * MiB2 - 128, base + MiB2 - 128, 256));
    EXPECT_EQ(word(base + 2 * MiB2 - 64), 15u);
    uint64_t start = 0;
    OK(cuPointerGetAttribute(&start, CUABI_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, base + 2 * MiB2));
    EXPECT_EQ(start, base);
    EXPECT_EQ(cuMemsetD32_v2(base, 5, 3 * MiB2 / 4 + 1), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree_v2(base), CUABI_CUDA_ERROR_INVALID_VALUE);
    /* The middle goes, and comes back as zeros. */
    EXPECT_EQ(cuMemUnmap(base + MiB2, MiB2 / 2), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(base + MiB2, MiB2));
    uint32_t none;
    EXPECT_EQ(cuMemcpyDtoH_v2(&none, base + MiB2, 4), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH_v2(&none, base + MiB2 - 2, 4), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(word(base + 2 * MiB2 + 60), 15u);
    EXPECT_EQ(word(base + 2 * MiB2 + 64), 5u);
    const cu_memory_handle h = create(2 * MiB2);
    EXPECT_EQ(cuMemMap(base + MiB2, 2 * MiB2, 0, h, 0), CUABI_CUDA_ERROR_INVALID_VALUE);       // occupied
    EXPECT_EQ(cuMemMap(base + MiB2, MiB2, 2 * MiB2, h, 0), CUABI_CUDA_ERROR_INVALID_VALUE);    // behind the memory's end
    OK(cuMemMap(base + MiB2, MiB2, MiB2, h, 0));
    OK(cuMemSetAccess(base, 3 * MiB2, &access, 1));
    EXPECT_EQ(word(base + MiB2), 0u);
    EXPECT_EQ(cuMemAddressFree(base, 1000 * MiB2), CUABI_CUDA_ERROR_INVALID_VALUE);            // in use
    OK(cuMemUnmap(base, 3 * MiB2));
    OK(cuMemAddressFree(base, 1000 * MiB2));
    OK(cuMemRelease(h));
    EXPECT_EQ(cuMemRelease(h), CUABI_CUDA_ERROR_INVALID_VALUE);
}

// The same memory at two places is one; a retained handle is the same handle.
TEST_F(Virtual, MemoryAtTwoPlaces)
{
    cu_address a, b;
    const cu_memory_handle h = create(2 * MiB2);
    OK(cuMemAddressReserve(&a, 2 * MiB2, 0, 0, 0));
    OK(cuMemAddressReserve(&b, 4 * MiB2, 64 * MiB2, 0, 0));
    EXPECT_EQ(b % (64 * MiB2), 0u);
    OK(cuMemMap(a, 2 * MiB2, 0, h, 0));
    OK(cuMemMap(b + MiB2, MiB2, MiB2, h, 0));
    OK(cuMemSetAccess(a, 2 * MiB2, &access, 1));
    OK(cuMemSetAccess(b + MiB2, MiB2, &access, 1));
    OK(cuMemsetD32_v2(a + MiB2, 77, 4));
    EXPECT_EQ(word(b + MiB2 + 12), 77u);
    cu_memory_handle again = 0;
    OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void *>(b + MiB2 + 5)));
    EXPECT_EQ(again, h);
    OK(cuMemRelease(h));
    OK(cuMemRelease(again));
    EXPECT_EQ(word(a + MiB2), 77u);
    size_t before, after, total;
    OK(cuMemGetInfo_v2(&before, &total));
    OK(cuMemUnmap(a, 2 * MiB2));
    OK(cuMemUnmap(b + MiB2, MiB2));
    OK(cuMemGetInfo_v2(&after, &total));
    EXPECT_EQ(cuMemRelease(h), CUABI_CUDA_ERROR_INVALID_VALUE);        // nobody holds it any more
    OK(cuMemAddressFree(a, 2 * MiB2));
    OK(cuMemAddressFree(b, 4 * MiB2));
}

TEST_F(Virtual, AccessIsKept)
{
    cu_function f = kernel(add_kernel());
    cu_address a;
    uint64_t flags = 9;
    const cu_memory_handle h = create(MiB2);
    OK(cuMemAddressReserve(&a, MiB2, 0, 0, 0));
    OK(cuMemMap(a, MiB2, 0, h, 0));
    OK(cuMemGetAccess(&flags, &prop.location, a));
    EXPECT_EQ(flags, 0u);
    uint32_t v = 3;
    EXPECT_EQ(cuMemcpyHtoD_v2(a, &v, 4), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuMemSetAccess(a, MiB2, &access, 1));
    OK(cuMemcpyHtoD_v2(a, &v, 4));
    access.flags = CUABI_CU_MEM_ACCESS_FLAGS_PROT_READ;
    OK(cuMemSetAccess(a, MiB2, &access, 1));
    OK(cuMemGetAccess(&flags, &prop.location, a));
    EXPECT_EQ(flags, 1u);
    EXPECT_EQ(word(a), 3u);
    EXPECT_EQ(cuMemcpyHtoD_v2(a, &v, 4), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemsetD8_v2(a, 0, 4), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(launch(f, a, 1));                                               // writes: a fault, and the process lives
    EXPECT_EQ(cuCtxSynchronize(), CUABI_CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(Virtual, WrongUse)
{
    cu_address a, wanted;
    cu_memory_handle h;
    EXPECT_EQ(cuMemAddressReserve(&a, MiB2 / 2, 0, 0, 0), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAddressReserve(&a, size_t(1) << 60, 0, 0, 0), CUABI_CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemCreate(&h, 100, &prop, 0), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemCreate(&h, size_t(1) << 60, &prop, 0), CUABI_CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAddressReserve(&a, MiB2, 0, 0, 0));
    OK(cuMemAddressReserve(&wanted, MiB2, 0, a + 100 * MiB2, 0));
    EXPECT_EQ(wanted, a + 100 * MiB2);
    EXPECT_EQ(cuMemMap(a, MiB2, 0, 12345, 0), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemSetAccess(a, MiB2, &access, 1), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemUnmap(a, MiB2), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemAddressFree(a + 1, MiB2), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(wanted, MiB2));
    OK(cuMemAddressFree(a, MiB2));
    prop.location.id = 7;
    EXPECT_EQ(cuMemCreate(&h, MiB2, &prop, 0), CUABI_CUDA_ERROR_INVALID_DEVICE);
}

// By a file descriptor, as it would come from another process; what is not such memory is none.
TEST_F(Virtual, SharedByDescriptor)
{
    cu_address a, b;
    int fd = -1;
    cu_memory_handle h = create(MiB2), imported = 0;
    EXPECT_EQ(cuMemExportToShareableHandle(&fd, h, 1, 0), CUABI_CUDA_ERROR_INVALID_VALUE);     // was not asked for
    OK(cuMemRelease(h));
    prop.handle_types = CUABI_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    h = create(MiB2);
    OK(cuMemExportToShareableHandle(&fd, h, 1, 0));
    OK(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<intptr_t>(fd)), 1));
    close(fd);
    EXPECT_NE(imported, h);
    OK(cuMemAddressReserve(&a, MiB2, 0, 0, 0));
    OK(cuMemAddressReserve(&b, MiB2, 0, 0, 0));
    OK(cuMemMap(a, MiB2, 0, h, 0));
    OK(cuMemMap(b, MiB2, 0, imported, 0));
    OK(cuMemSetAccess(a, MiB2, &access, 1));
    OK(cuMemSetAccess(b, MiB2, &access, 1));
    OK(cuMemsetD32_v2(a, 99, 1));
    EXPECT_EQ(word(b), 99u);
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    EXPECT_EQ(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<intptr_t>(pipes[0])), 1),
              CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<intptr_t>(-1)), 1), CUABI_CUDA_ERROR_INVALID_VALUE);
    close(pipes[0]);
    close(pipes[1]);
}

} // namespace
