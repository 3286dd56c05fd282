/* driver_images.c - one kernel over images of many kinds, whose handles reach it in a structure by value, through memory, and as a texture
 * reference: levels, a cube, a border, rows with gaps, a view of layers, sRGB, and a surface over a level of what a texture reads.
 */
#include <math.h>
#include <string.h>
#include "cuda_subset.h"

CUresult cuTexObjectCreate(cu_object *texture, const cu_resource_desc *resource, const cu_texture_desc *desc, const cu_view_desc *view);
CUresult cuTexObjectDestroy(cu_object texture);
CUresult cuModuleGetTexRef(cu_texref *reference, CUmodule module, const char *name);
CUresult cuTexRefSetArray(cu_texref reference, cu_array array, unsigned flags);

/* Floats of a thread: level, cube, border, pitched, layer, reference, surface, sRGB. */
#define TEX(k, what, operands) " " what " {%f1, %f2, %f3, %f4}, [" operands "; st.global.f32 [%d2+" #k "], %f1;\n"
static const char *const text =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .texref old;\n"
    ".visible .const .align 4 .f32 directions[24] = {0f3f800000, 0f3e000000, 0f3e000000, 0f00000000, 0fbf800000, 0f3e000000, 0f3e000000, 0f00000000,\n"
    " 0f3e000000, 0f3f800000, 0f3e000000, 0f00000000, 0f3e000000, 0fbf800000, 0f3e000000, 0f00000000,\n"
    " 0f3e000000, 0f3e000000, 0f3f800000, 0f00000000, 0f3e000000, 0f3e000000, 0fbf800000, 0f00000000};\n"
    ".visible .entry look(.param .align 8 .b8 handles[32], .param .u64 table, .param .u64 out)\n{\n"
    " .reg .b64 %d<12>; .reg .b32 %r<12>; .reg .f32 %f<12>; .reg .pred %p;\n"
    " ld.param.u64 %d1, [table]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %d2, %r1, 32, %d2;\n"
    " ld.param.u64 %d3, [handles]; ld.param.u64 %d4, [handles+8]; ld.param.u64 %d5, [handles+16]; ld.param.u64 %d6, [handles+24];\n"
    " rem.u32 %r2, %r1, 3; setp.eq.u32 %p, %r2, 2; selp.u32 %r2, 3, %r2, %p; cvt.rn.f32.u32 %f5, %r2; mov.f32 %f6, 0f3f000000;\n"
    TEX(0, "tex.level.2d.v4.f32.f32", "%d3, {%f6, %f6}], %f5")
    " rem.u32 %r2, %r1, 6; mov.u64 %d7, directions; mad.wide.u32 %d7, %r2, 16, %d7;\n"
    " ld.const.f32 %f5, [%d7]; ld.const.f32 %f6, [%d7+4]; ld.const.f32 %f7, [%d7+8];\n"
    TEX(4, "tex.cube.v4.f32.f32", "%d4, {%f5, %f6, %f7, %f7}]")
    " cvt.rn.f32.u32 %f5, %r1; sub.f32 %f5, %f5, 0f40600000; mov.f32 %f6, 0f3fc00000;\n"                /* tid - 3.5, 1.5 */
    TEX(8, "tex.2d.v4.f32.f32", "%d5, {%f5, %f6}]")
    " rem.u32 %r2, %r1, 5; div.u32 %r3, %r1, 5;\n"
    " tex.2d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%d6, {%r2, %r3}]; cvt.rn.f32.s32 %f1, %r5; st.global.f32 [%d2+12], %f1;\n"
    " ld.global.u64 %d8, [%d1]; and.b32 %r2, %r1, 1; mov.f32 %f6, 0f3f000000;\n"
    TEX(16, "tex.a2d.v4.f32.f32", "%d8, {%r2, %f6, %f6, %f6}]")
    " rem.u32 %r2, %r1, 4; cvt.rn.f32.u32 %f5, %r2; add.f32 %f5, %f5, 0f3f000000;\n"
    TEX(20, "tex.2d.v4.f32.f32", "old, {%f5, %f6}]")
    " ld.global.u64 %d8, [%d1+16];\n"
    TEX(28, "tex.2d.v4.f32.f32", "%d8, {%f6, %f6}]")
    " ld.global.u64 %d8, [%d1+8]; and.b32 %r2, %r1, 3; shl.b32 %r2, %r2, 2; shr.u32 %r3, %r1, 2; setp.lt.u32 %p, %r3, 4; mov.f32 %f1, 0f00000000;\n"
    " @!%p bra L;\n suld.b.2d.b32.trap {%r4}, [%d8, {%r2, %r3}]; mov.b32 %f1, %r4; cvt.rn.f32.u32 %f5, %r1; add.f32 %f5, %f5, %f1; mov.b32 %r4, %f5;\n"
    " sust.b.2d.b32.trap [%d8, {%r2, %r3}], {%r4};\n"
    "L: st.global.f32 [%d2+24], %f1; st.global.u64 [%d1+24], %d3;\n ret;\n}\n";

static CUdeviceptr upload(const void *from, size_t bytes)
{
    CUdeviceptr to;
    CHECK(cuMemAlloc(&to, bytes));
    CHECK(cuMemcpyHtoD(to, from, bytes));
    return to;
}

/* Fills slice by slice with what value(slice, index in slice) gives. */
static void fill(cu_array array, size_t width, size_t height, size_t depth, uint32_t channels, float (*value)(size_t, size_t))
{
    float *host = malloc(width * height * depth * channels * sizeof *host);
    for (size_t z = 0; z < depth; z++)
        for (size_t i = 0; i < width * height * channels; i++)
            host[z * width * height * channels + i] = value(z, i);
    cu_memcpy3d copy = {0};
    copy.source.memory_type = CUABI_CU_MEMORYTYPE_HOST;
    copy.source.host.from = host;
    copy.source.pitch = width * channels * sizeof *host;
    copy.source.height = height;
    copy.target.memory_type = CUABI_CU_MEMORYTYPE_ARRAY;
    copy.target.array = array;
    copy.width_bytes = copy.source.pitch;
    copy.height = height;
    copy.depth = depth;
    CHECK(cuMemcpy3D_v2(&copy));
    free(host);
}

static float of_slice(size_t slice, size_t index) { return (float)(100 + slice) + (float)index / 4096; }

static float level_base;
static float of_level(size_t slice, size_t index) { return level_base + (float)(slice + index) / 1024; }
static float of_border(size_t slice, size_t index) { return (float)(slice + index % 8); }

static cu_array make_array(size_t width, size_t height, size_t depth, uint32_t format, uint32_t channels, uint32_t flags)
{
    cu_array array;
    const cu_array3d_desc desc = {.width = width, .height = height, .depth = depth, .format = format, .channels = channels, .flags = flags};
    CHECK(cuArray3DCreate_v2(&array, &desc));
    return array;
}

static cu_object make_texture(const cu_resource *resource, const cu_texture_desc *desc, const cu_view_desc *view)
{
    cu_object texture;
    cu_resource_desc r;
    memcpy(&r, resource, sizeof r);
    CHECK(cuTexObjectCreate(&texture, &r, desc, view));
    return texture;
}

static cu_resource of_array(cu_array array)
{
    return (cu_resource){.type = CUABI_CU_RESOURCE_TYPE_ARRAY, .of.array = array};
}

static cu_object make_levels(cu_object *surface)
{
    cu_mipmap mipmap;
    cu_array level;
    const cu_array3d_desc desc = {.width = 16, .height = 16, .format = CUABI_CU_AD_FORMAT_FLOAT, .channels = 1,
                                  .flags = CUABI_CUDA_ARRAY3D_SURFACE_LDST};
    CHECK(cuMipmappedArrayCreate(&mipmap, &desc, 5));
    for (uint32_t i = 0; i < 5; i++) {
        CHECK(cuMipmappedArrayGetLevel(&level, mipmap, i));
        level_base = 1000 * (float)(i + 1);
        fill(level, 16u >> i, 16u >> i, 1, 1, of_level);
    }
    CHECK(cuMipmappedArrayGetLevel(&level, mipmap, 2));
    cu_resource r = of_array(level);
    cu_resource_desc copy;
    memcpy(&copy, &r, sizeof copy);
    CHECK(cuSurfObjectCreate(surface, &copy));
    r = (cu_resource){.type = CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .of.mipmap = mipmap};
    const cu_texture_desc t = {.flags = CUABI_CU_TRSF_NORMALIZED_COORDINATES, .mip_max = INFINITY};
    return make_texture(&r, &t, NULL);
}

static cu_object make_cube(void)
{
    cu_array a = make_array(4, 4, 6, CUABI_CU_AD_FORMAT_FLOAT, 2, CUABI_CUDA_ARRAY3D_CUBEMAP);
    fill(a, 4, 4, 6, 2, of_slice);
    const cu_resource r = of_array(a);
    return make_texture(&r, &(cu_texture_desc){.flags = CUABI_CU_TRSF_NORMALIZED_COORDINATES}, NULL);
}

static cu_object make_border(void)
{
    cu_array a = make_array(8, 4, 0, CUABI_CU_AD_FORMAT_FLOAT, 1, 0);
    fill(a, 8, 4, 1, 1, of_border);
    const cu_resource r = of_array(a);
    return make_texture(&r, &(cu_texture_desc){.address = {3, 3, 3}, .border = {-7.5f, 1, 2, 3}}, NULL);
}

/* Two channels of s32, 5 x 7 texels in rows of 64 bytes, from byte 32. */
static cu_object make_pitched(void)
{
    int32_t host[128];
    for (int i = 0; i < 128; i++)
        host[i] = 3 * i - 50;
    cu_resource r = {.type = CUABI_CU_RESOURCE_TYPE_PITCH2D};
    r.of.pitched.address = upload(host, sizeof host) + 32;
    r.of.pitched.format = CUABI_CU_AD_FORMAT_SIGNED_INT32;
    r.of.pitched.channels = 2;
    r.of.pitched.width = 5;
    r.of.pitched.height = 7;
    r.of.pitched.pitch = 64;
    return make_texture(&r, &(cu_texture_desc){.flags = CUABI_CU_TRSF_READ_AS_INTEGER}, NULL);
}

/* One row, whose pitch means nothing. */
static cu_object make_row(void)
{
    static const int32_t host[4];
    cu_resource r = {.type = CUABI_CU_RESOURCE_TYPE_PITCH2D};
    r.of.pitched.address = upload(host, sizeof host);
    r.of.pitched.format = CUABI_CU_AD_FORMAT_SIGNED_INT32;
    r.of.pitched.channels = 1;
    r.of.pitched.width = 4;
    r.of.pitched.height = 1;
    return make_texture(&r, &(cu_texture_desc){.flags = CUABI_CU_TRSF_READ_AS_INTEGER}, NULL);
}

/* Layers 1 and 2 of 4. */
static cu_object make_view(void)
{
    cu_array a = make_array(2, 2, 4, CUABI_CU_AD_FORMAT_FLOAT, 1, CUABI_CUDA_ARRAY3D_LAYERED);
    fill(a, 2, 2, 4, 1, of_slice);
    const cu_resource r = of_array(a);
    return make_texture(&r, &(cu_texture_desc){0}, &(cu_view_desc){.width = 2, .height = 2, .first_layer = 1, .last_layer = 2});
}

static cu_array make_bytes(unsigned char value, unsigned char step)
{
    cu_array a = make_array(4, 4, 0, CUABI_CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    unsigned char host[64];
    for (int i = 0; i < 64; i++)
        host[i] = (unsigned char)(value + step * i);
    cu_memcpy3d copy = {.width_bytes = 16, .height = 4, .depth = 1};
    copy.source.memory_type = CUABI_CU_MEMORYTYPE_HOST;
    copy.source.host.from = host;
    copy.source.pitch = 16;
    copy.target.memory_type = CUABI_CU_MEMORYTYPE_ARRAY;
    copy.target.array = a;
    CHECK(cuMemcpy3D_v2(&copy));
    return a;
}

static void verify(const float *got, unsigned thread)
{
    static const float lods[] = {1000, 2000, 4000};
    const int x = (int)thread - 4;                 /* floor(thread - 3.5) */
    const int row = (int)thread / 5, column = (int)thread % 5;
    EXPECT(fabsf(got[0] - lods[thread % 3]) < 1);
    EXPECT((int)got[1] == 100 + (int)(thread % 6));
    EXPECT(got[2] == (x < 0 || x >= 8 ? -7.5f : (float)x));
    EXPECT(got[3] == (float)(3 * (8 + 16 * row + 2 * column + 1) - 50));
    EXPECT((int)got[4] == 101 + (int)(thread & 1));
    EXPECT(got[5] == (float)(4 * (thread % 4)) / 255);
    EXPECT(got[6] == (thread < 16 ? 3000 + (float)thread / 1024 : 0));
    EXPECT(fabsf(got[7] - 0.2158605f) < 1e-6f);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction look;
    cu_texref old;
    struct { cu_object levels, cube, border, pitched; } handles;
    cu_object table[5] = {0}, surface;
    float out[32][8] = {{0}};

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&look, module, "look"));
    handles.levels = make_levels(&surface);
    handles.cube = make_cube();
    handles.border = make_border();
    handles.pitched = make_pitched();
    table[0] = make_view();
    table[1] = surface;
    const cu_resource r = of_array(make_bytes(128, 0));
    table[2] = make_texture(&r, &(cu_texture_desc){.flags = CUABI_CU_TRSF_NORMALIZED_COORDINATES | CUABI_CU_TRSF_SRGB, .filter = 1}, NULL);
    table[4] = make_row();
    CHECK(cuModuleGetTexRef(&old, module, "old"));
    CHECK(cuTexRefSetArray(old, make_bytes(0, 1), 1));
    CUdeviceptr table_at = upload(table, sizeof table), out_at = upload(out, sizeof out);
    void *params[] = {&handles, &table_at, &out_at};
    CHECK(cuLaunchKernel(look, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    CHECK(cuMemcpyDtoH(out, out_at, sizeof out));
    CHECK(cuMemcpyDtoH(table, table_at, sizeof table));
    for (unsigned i = 0; i < 32; i++)
        verify(out[i], i);
    EXPECT(table[3] == handles.levels);
    printf("driver_images: ok\n");
    return 0;
}
