// driver_texture_test.cc - arrays, texture and surface objects, texture references: what is bound is what the kernel reads.
#include "driver/driver_harness.h"

namespace
{

// Thread i fetches at (i + 0.5, 0.5) or what `coordinates` computes from %i, and stores four words.
std::string fetch(const std::string &instruction, const std::string &handle = "%t")
{
    return ".visible .entry k(.param .u64 t, .param .u64 p)\n{ .reg .b32 %r<5>; .reg .f32 %x, %y, %l; .reg .b64 %t, %d<4>;\n"
           " ld.param.u64 %t, [t]; ld.param.u64 %d1, [p]; mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %x, %r0; add.f32 %x, %x, 0f3f000000;\n"
           " mov.f32 %y, 0f3f000000; mov.f32 %l, 0f3f800000; " + instruction + " {%r1, %r2, %r3, %r4}, [" + handle + ", ";
}
const char *const store = " mul.wide.u32 %d2, %r0, 16; add.s64 %d3, %d1, %d2; st.global.v4.u32 [%d3], {%r1, %r2, %r3, %r4}; ret; }";

class Texture : public Driver {
protected:
    std::vector<uint32_t> read(cu_function f, cu_object handle, uint32_t threads)
    {
        cu_address p = memory(threads * 16);
        void *params[] = {&handle, &p};
        std::vector<uint32_t> out(threads * 4);
        EXPECT_EQ(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, nullptr, params, nullptr), CUABI_SUCCESS);
        EXPECT_EQ(cuMemcpyDtoH_v2(out.data(), p, out.size() * 4), CUABI_SUCCESS);
        return out;
    }
    // An array of width x layers of u8x4, texel (x, layer) = x + 16 * layer in every channel.
    cu_array array(uint32_t width, uint32_t layers, uint32_t flags)
    {
        cu_array3d_desc desc = {};
        desc.width = width, desc.height = 1, desc.depth = layers, desc.format = CUABI_CU_AD_FORMAT_UNSIGNED_INT8, desc.channels = 4, desc.flags = flags;
        cu_array a = nullptr;
        EXPECT_EQ(cuArray3DCreate_v2(&a, &desc), CUABI_SUCCESS);
        std::vector<unsigned char> texels;
        for (uint32_t l = 0; l < (layers ? layers : 1); l++)
            for (uint32_t x = 0; x < width * 4; x++)
                texels.push_back(static_cast<unsigned char>(x / 4 + 16 * l));
        cu_memcpy3d c = {};
        c.source.memory_type = CUABI_CU_MEMORYTYPE_HOST, c.source.host.from = texels.data(), c.source.pitch = width * 4, c.source.height = 1;
        c.target.memory_type = CUABI_CU_MEMORYTYPE_ARRAY, c.target.array = a;
        c.width_bytes = width * 4, c.height = 1, c.depth = layers ? layers : 1;
        EXPECT_EQ(cuMemcpy3D_v2(&c), CUABI_SUCCESS);
        return a;
    }
};

cu_resource_desc resource_of(cu_array a)
{
    cu_resource_desc r = {};
    r.type = CUABI_CU_RESOURCE_TYPE_ARRAY;
    r.resource.array = a;
    return r;
}

// Memory to an array, array to array, and back, counted in elements; sources that are read before the call returns.
TEST_F(Texture, BatchesOfCopies)
{
    const cu_array a = array(8, 2, CUABI_CUDA_ARRAY3D_LAYERED), b = array(4, 2, CUABI_CUDA_ARRAY3D_LAYERED);
    const int32_t ordered = CUABI_CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, at_once = CUABI_CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    uint32_t *pinned;
    OK(cuMemHostAlloc(reinterpret_cast<void **>(&pinned), 4096, 0));
    for (uint32_t i = 0; i < 64; i++)
        pinned[i] = 1000 + i;
    cu_stream s;
    OK(cuStreamCreate(&s, CUABI_CU_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(s, gate::wait, &g));
    cu_batch_copy ops[3] = {};
    // rows of 5 elements, layers of 2 rows: 3 elements of two layers, to x = 4
    ops[0].source.type = CUABI_CU_MEMCPY_OPERAND_TYPE_POINTER;
    ops[0].source.of.pointer.address = reinterpret_cast<cu_address>(pinned);
    ops[0].source.of.pointer.row_length = 5, ops[0].source.of.pointer.layer_height = 2;
    ops[0].target.type = CUABI_CU_MEMCPY_OPERAND_TYPE_ARRAY;
    ops[0].target.of.array.array = a, ops[0].target.of.array.x = 4;
    ops[0].width = 3, ops[0].height = 1, ops[0].depth = 2, ops[0].order = at_once;
    OK(cuMemcpy3DBatchAsync_v2(1, ops, 0, s));
    memset(pinned, 0, 256);                                    // it has been read
    ops[0].source = ops[0].target;
    ops[0].target.of.array.array = b, ops[0].target.of.array.x = 1;
    ops[0].order = ordered;
    ops[1].source = ops[0].target;
    ops[1].source.of.array.x = 0;
    ops[1].target.type = CUABI_CU_MEMCPY_OPERAND_TYPE_POINTER;
    ops[1].target.of.pointer.address = reinterpret_cast<cu_address>(pinned + 100);
    ops[1].width = 4, ops[1].height = 1, ops[1].depth = 2, ops[1].order = ordered;
    OK(cuMemcpy3DBatchAsync_v2(1, ops, 0, s));
    OK(cuMemcpy3DBatchAsync_v2(1, ops + 1, 0, s));             // by itself: a batch has no order
    g.open = true;
    OK(cuStreamSynchronize(s));
    const uint32_t expected[] = {0, 1000, 1001, 1002, 0x10101010, 1010, 1011, 1012};
    for (uint32_t i = 0; i < 8; i++)
        EXPECT_EQ(pinned[100 + i], expected[i]) << i;
    size_t failed = 9;
    ops[2] = ops[1];
    ops[1].width = 5;                                          // the array has 4
    EXPECT_EQ(cuMemcpy3DBatchAsync(2, ops, &failed, 0, s), CUABI_CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(failed, 1u);
    ops[2].order = 0;
    EXPECT_EQ(cuMemcpy3DBatchAsync_v2(1, ops + 2, 0, s), CUABI_CUDA_ERROR_INVALID_VALUE);
    ops[2].order = ordered, ops[2].target.of.pointer.row_length = 3;
    EXPECT_EQ(cuMemcpy3DBatchAsync_v2(1, ops + 2, 0, s), CUABI_CUDA_ERROR_INVALID_VALUE);
    /* The plain form: only the second copy's source is read at once. */
    gate later;
    cu_address to[] = {memory(16), memory(16)}, from[] = {reinterpret_cast<cu_address>(pinned), reinterpret_cast<cu_address>(pinned + 4)};
    size_t bytes[] = {16, 16}, firsts[] = {0, 1};
    cu_copy_attributes how[2] = {};
    how[0].order = ordered, how[1].order = at_once;
    OK(cuLaunchHostFunc(s, gate::wait, &later));
    pinned[0] = pinned[4] = 1;
    const cu_result result = cuMemcpyBatchAsync_v2(to, from, bytes, 2, how, firsts, 2, s);
    pinned[0] = pinned[4] = 2;
    later.open = true;
    OK(result);
    OK(cuStreamSynchronize(s));
    uint32_t words[2];
    OK(cuMemcpyDtoH_v2(&words[0], to[0], 4));
    OK(cuMemcpyDtoH_v2(&words[1], to[1], 4));
    EXPECT_EQ(words[0], 2u);
    EXPECT_EQ(words[1], 1u);
    firsts[1] = 2;
    EXPECT_EQ(cuMemcpyBatchAsync_v2(to, from, bytes, 2, how, firsts, 2, s), CUABI_CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Texture, SamplersDecideWhatIsRead)
{
    cu_array a = array(8, 0, 0);
    cu_resource_desc r = resource_of(a);
    cu_texture_desc d = {};
    cu_object t;
    d.flags = CUABI_CU_TRSF_READ_AS_INTEGER;
    d.address[0] = d.address[1] = CUABI_CU_TR_ADDRESS_MODE_CLAMP;
    OK(cuTexObjectCreate(&t, &r, &d, nullptr));
    auto v = read(kernel(fetch("tex.2d.v4.u32.f32") + "{%x, %y}];" + store), t, 10);
    for (uint32_t i = 0; i < 10; i++)
        EXPECT_EQ(v[4 * i + 3], i < 8 ? i : 7u) << i;
    cu_resource_desc told;
    cu_texture_desc sampler;
    OK(cuTexObjectGetResourceDesc(&told, t));
    EXPECT_EQ(told.resource.array, a);
    OK(cuTexObjectGetTextureDesc(&sampler, t));
    EXPECT_EQ(sampler.flags, d.flags);
    OK(cuTexObjectDestroy(t));
    EXPECT_EQ(cuTexObjectDestroy(t), CUABI_CUDA_ERROR_INVALID_VALUE);
    d.flags = 0;                           // [0, 1], linear, border
    d.filter = CUABI_CU_TR_FILTER_MODE_LINEAR;
    d.address[0] = CUABI_CU_TR_ADDRESS_MODE_BORDER;
    d.border[0] = 1.0f;
    OK(cuTexObjectCreate(&t, &r, &d, nullptr));
    v = read(kernel(fetch("tex.2d.v4.f32.f32") + "{%x, %y}];" + store), t, 10);
    for (uint32_t i = 0; i < 10; i++) {
        float got;
        memcpy(&got, &v[4 * i], 4);
        EXPECT_FLOAT_EQ(got, i < 8 ? static_cast<float>(i) / 255.0f : 1.0f) << i;
    }
    d.flags = CUABI_CU_TRSF_READ_AS_INTEGER;                   // integers are not filtered
    EXPECT_EQ(cuTexObjectCreate(&t, &r, &d, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Texture, LayersViewsAndSurfaces)
{
    cu_array a = array(8, 3, CUABI_CUDA_ARRAY3D_LAYERED | CUABI_CUDA_ARRAY3D_SURFACE_LDST);
    cu_resource_desc r = resource_of(a);
    cu_texture_desc d = {};
    cu_object t, surface;
    d.flags = CUABI_CU_TRSF_READ_AS_INTEGER;
    d.address[0] = d.address[1] = CUABI_CU_TR_ADDRESS_MODE_CLAMP;
    OK(cuTexObjectCreate(&t, &r, &d, nullptr));
    cu_function f = kernel(fetch("tex.a2d.v4.u32.f32") + "{%r0, %x, %y, %y}];" + store);
    auto v = read(f, t, 4);
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_EQ(v[4 * i], i + 16 * i);
    EXPECT_EQ(v[12], 3 + 32u);             // layers are clamped
    cu_view_desc view = {};
    view.width = 8, view.height = 1, view.depth = 3, view.first_layer = 1, view.last_layer = 2;
    view.format = 13;                      // CU_RES_VIEW_FORMAT_UINT_1X32: a word for four bytes
    OK(cuTexObjectCreate(&t, &r, &d, &view));
    v = read(f, t, 2);
    EXPECT_EQ(v[0], 0x10101010u);
    EXPECT_EQ(v[4], 0x21212121u);
    view.last_layer = 3;
    EXPECT_EQ(cuTexObjectCreate(&t, &r, &d, &view), CUABI_CUDA_ERROR_INVALID_VALUE);
    OK(cuSurfObjectCreate(&surface, &r));
    v = read(kernel(".visible .entry k(.param .u64 t, .param .u64 p)\n{ .reg .b32 %r<5>; .reg .b64 %t, %d<4>; ld.param.u64 %t, [t];\n"
                    " ld.param.u64 %d1, [p]; mov.u32 %r0, %tid.x; shl.b32 %r2, %r0, 2; mov.u32 %r4, 0; mov.u32 %r3, 0x55667788;\n"
                    " sust.b.a2d.b32.trap [%t, {%r0, %r2, %r4, %r4}], {%r3}; suld.b.a2d.b32.trap {%r1}, [%t, {%r0, %r2, %r4, %r4}];\n" + std::string(store)), surface, 3);
    EXPECT_EQ(v[8], 0x55667788u);
    std::vector<uint32_t> texels(24);
    cu_memcpy3d c = {};
    c.source.memory_type = CUABI_CU_MEMORYTYPE_ARRAY, c.source.array = a;
    c.target.memory_type = CUABI_CU_MEMORYTYPE_HOST, c.target.host.to = texels.data(), c.target.pitch = 32, c.target.height = 1;
    c.width_bytes = 32, c.height = 1, c.depth = 3;
    OK(cuMemcpy3D_v2(&c));
    EXPECT_EQ(texels[2 * 8 + 2], 0x55667788u);
    EXPECT_EQ(texels[2 * 8 + 3], 0x23232323u);
    cu_array plain = array(8, 0, 0);
    r = resource_of(plain);
    EXPECT_EQ(cuSurfObjectCreate(&surface, &r), CUABI_CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Texture, ArraysAreNoLargerThanTheDeviceSays)
{
    static const struct { size_t width, height, depth; uint32_t flags; bool exists; } cases[] = {
        {131072, 0, 0, 0, true},       {131073, 0, 0, 0, false},   {16, 65536, 0, 0, true},     {16, 65537, 0, 0, false},   {16384, 2, 2, 0, true},
        {32769, 2, 2, 0, false},       {4, 4, 16384, 0, true},     {4, 4, 2048, 1, true},       {4, 4, 2049, 1, false},     {4, 0, 2049, 1, false},
        {4, 4, 6, 4, true},            {4, 4, 7, 4, false},        {4, 5, 6, 4, false},         {4, 4, 12, 5, true},        {4, 4, 2052, 5, false},
        {65536, 0, 0, 2, false},       {4, 4, 0, 2, true},         {40000, 4, 0, 8, false},     {4, 4, 0, 0x1000, false},   {0, 4, 0, 0, false},
        {SIZE_MAX, 2, 0, 0, false},    {2, SIZE_MAX, 0, 0, false}, {2, 2, SIZE_MAX, 0, false},  {2, 2, SIZE_MAX, 1, false}};
    for (const auto &k : cases) {
        cu_array3d_desc d = {};
        d.width = k.width, d.height = k.height, d.depth = k.depth, d.format = CUABI_CU_AD_FORMAT_UNSIGNED_INT8, d.channels = 1, d.flags = k.flags;
        cu_array a;
        EXPECT_EQ(cuArray3DCreate_v2(&a, &d), k.exists ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_VALUE)
            << k.width << " x " << k.height << " x " << k.depth << " flags " << k.flags;
        if (k.exists) {
            OK(cuArrayDestroy(a));
        }
    }
}

TEST_F(Texture, MipmapsAndLinearMemory)
{
    cu_mipmap m;
    cu_array3d_desc desc = {};
    desc.width = 4, desc.height = 4, desc.format = CUABI_CU_AD_FORMAT_FLOAT, desc.channels = 1;
    OK(cuMipmappedArrayCreate(&m, &desc, 10));
    for (uint32_t level = 0; level < 3; level++) {
        cu_array a;
        OK(cuMipmappedArrayGetLevel(&a, m, level));
        std::vector<float> texels(16, static_cast<float>(level + 1));
        cu_memcpy3d c = {};
        c.source.memory_type = CUABI_CU_MEMORYTYPE_HOST, c.source.host.from = texels.data();
        c.target.memory_type = CUABI_CU_MEMORYTYPE_ARRAY, c.target.array = a;
        c.width_bytes = 4u * (4 >> level), c.height = 4 >> level, c.depth = 1;
        OK(cuMemcpy3D_v2(&c));
    }
    cu_array none;
    EXPECT_EQ(cuMipmappedArrayGetLevel(&none, m, 3), CUABI_CUDA_ERROR_INVALID_VALUE);
    cu_resource r = {};
    cu_resource_desc desc_of_r;
    cu_texture_desc d = {};
    cu_object t;
    r.type = CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.of.mipmap = m;
    memcpy(&desc_of_r, &r, sizeof r);
    d.flags = CUABI_CU_TRSF_NORMALIZED_COORDINATES;
    d.mip_max = 10;
    d.mip_filter = 1;
    OK(cuTexObjectCreate(&t, &desc_of_r, &d, nullptr));
    auto v = read(kernel(fetch("tex.level.2d.v4.f32.f32") + "{%y, %y}], %l;" + store), t, 1);
    EXPECT_EQ(v[0], 0x40000000u);          // level 1
    OK(cuTexObjectDestroy(t));
    OK(cuMipmappedArrayDestroy(m));
    const cu_address p = memory(64);
    std::vector<uint32_t> words = {7, 8, 9, 10};
    OK(cuMemcpyHtoD_v2(p, words.data(), 16));
    r = {};
    r.type = CUABI_CU_RESOURCE_TYPE_LINEAR;
    r.of.linear.address = p, r.of.linear.format = CUABI_CU_AD_FORMAT_UNSIGNED_INT32, r.of.linear.channels = 1, r.of.linear.bytes = 16;
    memcpy(&desc_of_r, &r, sizeof r);
    OK(cuTexObjectCreate(&t, &desc_of_r, &d, nullptr));
    v = read(kernel(fetch("tex.1d.v4.u32.s32") + "{%r0}];" + store), t, 4);
    EXPECT_EQ(v[8], 9u);
    r.of.linear.bytes = 80;
    memcpy(&desc_of_r, &r, sizeof r);
    EXPECT_EQ(cuTexObjectCreate(&t, &desc_of_r, &d, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
    // Only memory of CUDA is bound, and rows whose components are aligned.
    std::vector<uint32_t> host(16);
    r.of.linear.bytes = 16;
    for (const cu_address nowhere : {cu_address{0x12345600}, static_cast<cu_address>(reinterpret_cast<uintptr_t>(host.data()))}) {
        r.of.linear.address = nowhere;
        memcpy(&desc_of_r, &r, sizeof r);
        EXPECT_EQ(cuTexObjectCreate(&t, &desc_of_r, &d, nullptr), CUABI_CUDA_ERROR_INVALID_VALUE);
    }
    r = {};
    r.type = CUABI_CU_RESOURCE_TYPE_PITCH2D;
    r.of.pitched.address = p, r.of.pitched.format = CUABI_CU_AD_FORMAT_UNSIGNED_INT32, r.of.pitched.channels = 1;
    r.of.pitched.width = 2, r.of.pitched.height = 3;
    for (const size_t pitch : {size_t{10}, size_t{12}}) {
        r.of.pitched.pitch = pitch;
        memcpy(&desc_of_r, &r, sizeof r);
        EXPECT_EQ(cuTexObjectCreate(&t, &desc_of_r, &d, nullptr), pitch % 4 ? CUABI_CUDA_ERROR_INVALID_VALUE : CUABI_SUCCESS);
    }
    OK(cuTexObjectDestroy(t));
}

TEST_F(Texture, ReferencesOfOldPrograms)
{
    cu_function f = kernel(fetch("tex.2d.v4.u32.f32", "image") + "{%x, %y}];" + store, "k", ".global .texref image;\n");
    cu_texref ref;
    OK(cuModuleGetTexRef(&ref, last_module, "image"));
    EXPECT_EQ(cuModuleGetTexRef(&ref, last_module, "other"), CUABI_CUDA_ERROR_NOT_FOUND);
    OK(cuModuleGetTexRef(&ref, last_module, "image"));
    OK(cuTexRefSetFlags(ref, CUABI_CU_TRSF_READ_AS_INTEGER));
    OK(cuTexRefSetAddressMode(ref, 0, CUABI_CU_TR_ADDRESS_MODE_CLAMP));
    cu_array a = array(8, 0, 0), b = array(3, 0, 0);
    OK(cuTexRefSetArray(ref, a, 1));
    EXPECT_EQ(read(f, 0, 8)[4 * 6], 6u);
    OK(cuTexRefSetArray(ref, b, 1));
    EXPECT_EQ(read(f, 0, 8)[4 * 6], 2u);
    cu_array told;
    OK(cuTexRefGetArray(&told, ref));
    EXPECT_EQ(told, b);
}

// The format of linear memory may be said before or after it is bound, and anew.
TEST_F(Texture, ReferencesTakeTheirFormatInAnyOrder)
{
    cu_function f = kernel(fetch("tex.1d.v4.u32.s32", "line") + "{%r0}];" + store, "k", ".global .texref line;\n");
    cu_texref ref;
    OK(cuModuleGetTexRef(&ref, last_module, "line"));
    cu_address p = memory(256);
    for (uint32_t i = 0; i < 64; i++)
        reinterpret_cast<uint32_t *>(p)[i] = 0x10000 * i + 7;
    size_t offset = 1;
    OK(cuTexRefSetFlags(ref, CUABI_CU_TRSF_READ_AS_INTEGER));
    OK(cuTexRefSetAddress_v2(&offset, ref, p, 256));
    EXPECT_EQ(offset, 0u);
    OK(cuTexRefSetFormat(ref, CUABI_CU_AD_FORMAT_UNSIGNED_INT32, 1));
    EXPECT_EQ(read(f, 0, 8)[4 * 6], 0x60007u);
    OK(cuTexRefSetFormat(ref, CUABI_CU_AD_FORMAT_UNSIGNED_INT16, 1));
    EXPECT_EQ(read(f, 0, 8)[4 * 6], 7u);
    EXPECT_EQ(read(f, 0, 8)[4 * 7], 3u);
}

} // namespace
