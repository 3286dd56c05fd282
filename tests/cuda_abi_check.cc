// cuda_abi_check.cc - compares runtime/cuda/cuda_abi.h with NVIDIA's cuda.h at compile time: numbers, sizes and offsets of
// structures, and the parameters of every function. Compiled where cuda.h is installed; that it compiles is the test.
#include <cuda.h>
#include <cstdio>
#include <type_traits>
#include "runtime/cuda/cuda_abi.h"

#define SAME_NUMBER(name, value) static_assert(static_cast<long>(name) == (value), #name);
CUDA_RESULTS(SAME_NUMBER)
CUDA_NUMBERS(SAME_NUMBER)
static_assert(CUDA_SUCCESS == 0, "CUDA_SUCCESS");

// ---------------------------------------------------------------- structures

static_assert(sizeof(cu_array3d_desc) == sizeof(CUDA_ARRAY3D_DESCRIPTOR), "CUDA_ARRAY3D_DESCRIPTOR");
static_assert(sizeof(cu_memcpy3d) == sizeof(CUDA_MEMCPY3D), "CUDA_MEMCPY3D");
static_assert(sizeof(cu_resource_desc) == sizeof(CUDA_RESOURCE_DESC), "CUDA_RESOURCE_DESC");
static_assert(sizeof(cu_texture_desc) == sizeof(CUDA_TEXTURE_DESC), "CUDA_TEXTURE_DESC");
static_assert(sizeof(cu_address) == sizeof(CUdeviceptr) && sizeof(cu_device) == sizeof(CUdevice) &&
                  sizeof(cu_object) == sizeof(CUtexObject) && sizeof(cu_object) == sizeof(CUsurfObject) &&
                  sizeof(cu_result) == sizeof(CUresult),
              "scalars");

#define SAME_FIELD(ours, a, theirs, b)                                                                                 \
    static_assert(offsetof(ours, a) == offsetof(theirs, b), #theirs "." #b);                                           \
    static_assert(sizeof(static_cast<ours *>(nullptr)->a) == sizeof(static_cast<theirs *>(nullptr)->b), #theirs "." #b " size");

SAME_FIELD(cu_array3d_desc, width, CUDA_ARRAY3D_DESCRIPTOR, Width)
SAME_FIELD(cu_array3d_desc, height, CUDA_ARRAY3D_DESCRIPTOR, Height)
SAME_FIELD(cu_array3d_desc, depth, CUDA_ARRAY3D_DESCRIPTOR, Depth)
SAME_FIELD(cu_array3d_desc, format, CUDA_ARRAY3D_DESCRIPTOR, Format)
SAME_FIELD(cu_array3d_desc, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels)
SAME_FIELD(cu_array3d_desc, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags)

#define SAME_END(end, prefix)                                                                                          \
    SAME_FIELD(cu_memcpy3d, end.x_bytes, CUDA_MEMCPY3D, prefix##XInBytes)                                              \
    SAME_FIELD(cu_memcpy3d, end.y, CUDA_MEMCPY3D, prefix##Y)                                                           \
    SAME_FIELD(cu_memcpy3d, end.z, CUDA_MEMCPY3D, prefix##Z)                                                           \
    SAME_FIELD(cu_memcpy3d, end.lod, CUDA_MEMCPY3D, prefix##LOD)                                                       \
    SAME_FIELD(cu_memcpy3d, end.memory_type, CUDA_MEMCPY3D, prefix##MemoryType)                                        \
    SAME_FIELD(cu_memcpy3d, end.host, CUDA_MEMCPY3D, prefix##Host)                                                     \
    SAME_FIELD(cu_memcpy3d, end.device, CUDA_MEMCPY3D, prefix##Device)                                                 \
    SAME_FIELD(cu_memcpy3d, end.array, CUDA_MEMCPY3D, prefix##Array)                                                   \
    SAME_FIELD(cu_memcpy3d, end.pitch, CUDA_MEMCPY3D, prefix##Pitch)                                                   \
    SAME_FIELD(cu_memcpy3d, end.height, CUDA_MEMCPY3D, prefix##Height)
SAME_END(source, src)
SAME_END(target, dst)
SAME_FIELD(cu_memcpy3d, source.reserved, CUDA_MEMCPY3D, reserved0)
SAME_FIELD(cu_memcpy3d, target.reserved, CUDA_MEMCPY3D, reserved1)
SAME_FIELD(cu_memcpy3d, width_bytes, CUDA_MEMCPY3D, WidthInBytes)
SAME_FIELD(cu_memcpy3d, height, CUDA_MEMCPY3D, Height)
SAME_FIELD(cu_memcpy3d, depth, CUDA_MEMCPY3D, Depth)

SAME_FIELD(cu_resource_desc, type, CUDA_RESOURCE_DESC, resType)
SAME_FIELD(cu_resource_desc, resource, CUDA_RESOURCE_DESC, res)
SAME_FIELD(cu_resource_desc, resource.array, CUDA_RESOURCE_DESC, res.array.hArray)
SAME_FIELD(cu_resource_desc, flags, CUDA_RESOURCE_DESC, flags)

SAME_FIELD(cu_texture_desc, address, CUDA_TEXTURE_DESC, addressMode)
SAME_FIELD(cu_texture_desc, filter, CUDA_TEXTURE_DESC, filterMode)
SAME_FIELD(cu_texture_desc, flags, CUDA_TEXTURE_DESC, flags)
SAME_FIELD(cu_texture_desc, max_anisotropy, CUDA_TEXTURE_DESC, maxAnisotropy)
SAME_FIELD(cu_texture_desc, mip_filter, CUDA_TEXTURE_DESC, mipmapFilterMode)
SAME_FIELD(cu_texture_desc, mip_bias, CUDA_TEXTURE_DESC, mipmapLevelBias)
SAME_FIELD(cu_texture_desc, mip_min, CUDA_TEXTURE_DESC, minMipmapLevelClamp)
SAME_FIELD(cu_texture_desc, mip_max, CUDA_TEXTURE_DESC, maxMipmapLevelClamp)
SAME_FIELD(cu_texture_desc, border, CUDA_TEXTURE_DESC, borderColor)
SAME_FIELD(cu_texture_desc, reserved, CUDA_TEXTURE_DESC, reserved)

// ---------------------------------------------------------------- functions

namespace
{

// How a value is passed: its size, and whether it is a pointer, a number or a floating-point number.
template <class A, class B> constexpr bool passed_alike()
{
    return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}

template <class A, class B> struct alike : std::false_type {};
template <class... A, class... B> struct alike<cu_result(A...), CUresult(B...)> {
    static constexpr bool check()
    {
        if constexpr (sizeof...(A) != sizeof...(B))
            return false;
        else
            return (passed_alike<A, B>() && ...);
    }
    static constexpr bool value = check();
};

} // namespace

// A header declares the newest form of a function under its symbol's name by a macro, and an older form under its own. This one
// is older than the headers since CUDA 13, which declare it only for the driver's own use; its newer forms take more parameters.
#if CUDA_VERSION >= 13000
extern "C" CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
#endif

#define SAME_FUNCTION(symbol, version, params)                                                                         \
    static_assert(alike<cu_result params, decltype(symbol)>::value, #symbol ": other parameters");                     \
    static_assert((version) <= CUDA_VERSION, #symbol ": newer than this header");
CUDA_FUNCTIONS(SAME_FUNCTION)

#define COUNT_ONE(...) +1
int main()
{
    const int numbers = 0 CUDA_RESULTS(COUNT_ONE) CUDA_NUMBERS(COUNT_ONE), functions = 0 CUDA_FUNCTIONS(COUNT_ONE);
    std::printf("cuda_abi.h agrees with cuda.h of CUDA %d.%d: %d numbers, 4 structures, %d functions\n", CUDA_VERSION / 1000,
                CUDA_VERSION % 1000 / 10, numbers, functions);
    return 0;
}
