// hip_abi_check.cc - runtime/hip/hip_abi.h against HIP's own header: values at compile time, and every function's type.
#include <hip/hip_runtime_api.h>
#include <cstddef>
#include <cstdio>
#include <type_traits>
// Their own name space: HIP has a constant HIP_SUCCESS as well.
namespace ours
{
#include "runtime/hip/hip_abi.h"
}

#define SAME(a, b) static_assert((long long)(a) == (long long)(b), #a " is " #b)

SAME(ours::HIP_SUCCESS, hipSuccess);
SAME(ours::HIP_INVALID_VALUE, hipErrorInvalidValue);
SAME(ours::HIP_OUT_OF_MEMORY, hipErrorOutOfMemory);
SAME(ours::HIP_NOT_INITIALIZED, hipErrorNotInitialized);
SAME(ours::HIP_INVALID_CONFIGURATION, hipErrorInvalidConfiguration);
SAME(ours::HIP_NO_DEVICE, hipErrorNoDevice);
SAME(ours::HIP_INVALID_DEVICE, hipErrorInvalidDevice);
SAME(ours::HIP_INVALID_IMAGE, hipErrorInvalidImage);
SAME(ours::HIP_NO_BINARY_FOR_GPU, hipErrorNoBinaryForGpu);
SAME(ours::HIP_INVALID_HANDLE, hipErrorInvalidHandle);
SAME(ours::HIP_NOT_FOUND, hipErrorNotFound);
SAME(ours::HIP_NOT_READY, hipErrorNotReady);
SAME(ours::HIP_ILLEGAL_ADDRESS, hipErrorIllegalAddress);
SAME(ours::HIP_LAUNCH_OUT_OF_RESOURCES, hipErrorLaunchOutOfResources);
SAME(ours::HIP_LAUNCH_TIME_OUT, hipErrorLaunchTimeOut);
SAME(ours::HIP_ASSERT, hipErrorAssert);
SAME(ours::HIP_LAUNCH_FAILURE, hipErrorLaunchFailure);
SAME(ours::HIP_COOPERATIVE_LAUNCH_TOO_LARGE, hipErrorCooperativeLaunchTooLarge);
SAME(ours::HIP_NOT_SUPPORTED, hipErrorNotSupported);
SAME(ours::HIP_UNKNOWN, hipErrorUnknown);
SAME(ours::HIP_HOST_PORTABLE, hipHostMallocPortable);
SAME(ours::HIP_HOST_MAPPED, hipHostMallocMapped);
SAME(ours::HIP_HOST_COHERENT, hipHostMallocCoherent);
SAME(ours::HIP_REGISTER_MAPPED, hipHostRegisterMapped);
SAME(ours::HIP_ATTACH_GLOBAL, hipMemAttachGlobal);
SAME(ours::HIP_HOST_TO_DEVICE, hipMemcpyHostToDevice);
SAME(ours::HIP_DEVICE_TO_HOST, hipMemcpyDeviceToHost);
SAME(ours::HIP_DEVICE_TO_DEVICE, hipMemcpyDeviceToDevice);
SAME(ours::HIP_ATTRIBUTE_CLOCK_RATE, hipDeviceAttributeClockRate);
SAME(ours::HIP_ATTRIBUTE_COOPERATIVE_LAUNCH, hipDeviceAttributeCooperativeLaunch);
SAME(ours::HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT, hipDeviceAttributeMultiprocessorCount);
SAME(ours::HIP_ATTRIBUTE_SHARED_PER_BLOCK, hipDeviceAttributeMaxSharedMemoryPerBlock);
SAME(ours::HIP_ATTRIBUTE_WARP_SIZE, hipDeviceAttributeWarpSize);
static_assert(sizeof(ours::hip_error) == sizeof(hipError_t), "size of an error");
static_assert(sizeof(ours::hip_module) == sizeof(hipModule_t) && sizeof(ours::hip_function) == sizeof(hipFunction_t), "handles");
static_assert(sizeof(ours::hip_stream) == sizeof(hipStream_t) && sizeof(ours::hip_event) == sizeof(hipEvent_t), "handles");
static_assert(sizeof(ours::hip_pointer) == sizeof(hipDeviceptr_t), "device pointers");
#if HIP_VERSION_MAJOR == 5
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == 396 && sizeof(hipDeviceProp_t) == 792, "what tests/hip_over_sim makes of ROCm 5");
#elif HIP_VERSION_MAJOR >= 6
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == 1160 && sizeof(hipDeviceProp_t) == 1472, "what tests/hip_over_sim makes of ROCm 6");
#endif

// A type as the calling convention sees it: enumerations are their integers, every pointer is a pointer.
template <typename T> struct Abi {
    using plain = std::remove_cv_t<T>;
    static constexpr int kind = std::is_void_v<T> ? 0 : std::is_pointer_v<plain> ? 1 : std::is_floating_point_v<plain> ? 2 : 3;
    static constexpr std::size_t size() { if constexpr (std::is_void_v<T>) return 0; else return sizeof(T); }
};

template <typename A, typename B> constexpr bool same_type() { return Abi<A>::kind == Abi<B>::kind && Abi<A>::size() == Abi<B>::size(); }

template <typename F, typename G> struct SameFunction : std::false_type {};
template <typename R, typename... P, typename S, typename... Q> struct SameFunction<R (*)(P...), S (*)(Q...)> {
    static constexpr bool check()
    {
        if constexpr (sizeof...(P) != sizeof...(Q)) return false;
        else return same_type<R, S>() && (same_type<P, Q>() && ...);
    }
    static constexpr bool value = check();
};

namespace ours
{
#define OURS(name, result, parameters) typedef result(*ours_##name) parameters;
HIP_FUNCTIONS(OURS)
}
// All but hipMalloc, hipHostMalloc, hipMallocManaged and the occupancy, of which the header makes templates as well.
#define COMPARE(name, result, parameters) static_assert(SameFunction<ours::ours_##name, decltype(&::name)>::value, #name);

#define X_PLAIN(X)                                                                                                            \
    X(hipInit, , ) X(hipRuntimeGetVersion, , ) X(hipGetDeviceCount, , ) X(hipSetDevice, , ) X(hipDeviceGetName, , )           \
    X(hipDeviceGetAttribute, , ) X(hipFree, , ) X(hipMemcpy, , ) X(hipMemset, , ) X(hipMemGetInfo, , )                        \
    X(hipModuleLoadData, , ) X(hipModuleUnload, , ) X(hipModuleGetFunction, , ) X(hipModuleGetGlobal, , )                     \
    X(hipHostFree, , ) X(hipHostRegister, , ) X(hipHostUnregister, , ) X(hipHostGetDevicePointer, , ) X(hipDeviceReset, , )   \
    X(hipModuleLaunchKernel, , ) X(hipStreamCreate, , ) X(hipStreamDestroy, , ) X(hipStreamSynchronize, , )                   \
    X(hipEventCreate, , ) X(hipEventDestroy, , ) X(hipEventRecord, , ) X(hipEventQuery, , ) X(hipEventElapsedTime, , )        \
    X(hipGetLastError, , ) X(hipGetErrorName, , ) X(hipGetErrorString, , )
X_PLAIN(COMPARE)

int main()
{
    // HIP_PARAM_… are pointers, which static_assert cannot compare.
    bool same = HIP_PARAM_BUFFER_POINTER == HIP_LAUNCH_PARAM_BUFFER_POINTER && HIP_PARAM_BUFFER_SIZE == HIP_LAUNCH_PARAM_BUFFER_SIZE &&
                HIP_PARAM_END == HIP_LAUNCH_PARAM_END;
    std::printf("hip_abi.h %s HIP %d.%d\n", same ? "agrees with" : "differs from", HIP_VERSION_MAJOR, HIP_VERSION_MINOR);
    return !same;
}
