/* driver_spied.c - a program on a machine whose NVIDIA driver works, launching in every way that there is: what `exec --stats --dump` makes of
 * it is looked at by tests/cuda_forward_test.py. The driver is the library of tests/played_driver, whose machine code this knows.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/cuda/cuda_types.h"

#define CUDA_VERSION 1000000
#define DRIVER_FUNCTION(symbol, params) cu_result symbol params;
#include "driver_functions.inc"

#define EXPECT(what)                                                                                                   \
    if (!(what)) {                                                                                                     \
        printf("line %d, not true: %s\n", __LINE__, #what);                                                            \
        exit(1);                                                                                                       \
    }
#define CHECK(call) EXPECT((call) == CUABI_SUCCESS)

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"
static const char text[] = HEAD
    ".visible .global .align 8 .u64 total[2] = {5, 0};\n"
    ".visible .entry fill(.param .u64 out, .param .u32 v)\n{\n"            /* out[tid] = v + tid */
    " .reg .b64 %d<3>; .reg .b32 %r<4>;\n"
    " ld.param.u64 %d1, [out]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x; add.u32 %r3, %r1, %r2;\n"
    " mad.wide.u32 %d2, %r2, 4, %d1; st.global.u32 [%d2], %r3; ret;\n}\n"
    ".visible .entry count()\n{\n .reg .b64 %d<3>;\n"
    " ld.global.u64 %d1, [total]; add.u64 %d2, %d1, 3; st.global.u64 [total+8], %d2; ret;\n}\n"
    ".visible .entry sample(.param .u64 texture, .param .u64 n, .param .u64 out)\n{\n"
    " .reg .b64 %d<6>; .reg .b32 %r<6>; .reg .f32 %f<2>;\n"
    " ld.param.u64 %d1, [texture]; ld.param.u64 %d2, [n]; ld.param.u64 %d3, [out]; mov.f32 %f1, 0f3fc00000; mov.u64 %d4, %d1;\n"
    " tex.2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%d4, {%f1, %f1}];\n"
    " ld.global.u64 %d5, [%d3+8]; add.u64 %d5, %d5, %d2; st.global.u64 [%d3+8], %d5; st.global.u32 [%d3], %r1; ret;\n}\n"
    ".visible .entry fail(.param .u64 out)\n{\n .reg .b64 %d<2>; .reg .b32 %r<2>;\n"
    " ld.param.u64 %d1, [out]; ld.global.u32 %r1, [%d1]; trap; ret;\n}\n"
    ".visible .entry bump(.param .u64 out, .param .u32 v)\n{\n"            /* out[tid] += v */
    " .reg .b64 %d<3>; .reg .b32 %r<4>;\n"
    " ld.param.u64 %d1, [out]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x; mad.wide.u32 %d2, %r2, 4, %d1;\n"
    " ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, %r1; st.global.u32 [%d2], %r3; ret;\n}\n"
    ".visible .entry peek(.param .u64 handles, .param .u64 out)\n{\n"      /* a texture whose handle is in memory */
    " .reg .b64 %d<4>; .reg .b32 %r<6>; .reg .f32 %f<2>;\n"
    " ld.param.u64 %d1, [handles]; ld.param.u64 %d2, [out]; ld.global.u64 %d3, [%d1]; mov.f32 %f1, 0f3fc00000;\n"
    " tex.2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%d3, {%f1, %f1}]; st.global.u32 [%d2], %r1; ret;\n}\n"
    ".visible .entry wait(.param .u64 flag)\n{\n .reg .b64 %d<2>; .reg .b32 %r<2>; .reg .pred %p;\n ld.param.u64 %d1, [flag];\n"
    "L: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p, %r1, 0; @%p bra L;\n ret;\n}\n";

static cu_function fill_kernel;
static cu_module module;
static cu_address shared_memory;

static cu_address memory(size_t bytes)
{
    cu_address p;
    CHECK(cuMemAlloc_v2(&p, bytes));
    CHECK(cuMemsetD8_v2(p, 0xee, bytes));
    return p;
}

static void expect_filled(cu_address at, uint32_t v)
{
    uint32_t host[32];
    CHECK(cuMemcpyDtoH_v2(host, at, sizeof host));
    for (uint32_t i = 0; i < 32; i++)
        EXPECT(host[i] == v + i);
}

/* ------------------------------------------------------------ ways to launch one kernel; each fills with a value of its own */

static void launch_packed(uint32_t v)
{
    struct { cu_address out; uint32_t v; } block = {memory(128), v};
    size_t bytes = sizeof block;
    void *extra[] = {CUABI_LAUNCH_PARAM_BUFFER_POINTER, &block, CUABI_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CUABI_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(fill_kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    expect_filled(block.out, v);
}

static void launch_configured(uint32_t v)
{
    cu_address out = memory(128);
    void *params[] = {&out, &v};
    cu_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 64};
    CHECK(cuLaunchKernelEx(&config, fill_kernel, params, NULL));
    expect_filled(out, v);
}

static void launch_cooperatively(uint32_t v)
{
    cu_address out = memory(128);
    void *params[] = {&out, &v};
    cu_launch_attribute whole = {.id = CUABI_CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    cu_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .attributes = &whole, .attribute_count = 1};
    CHECK(cuLaunchKernelEx(&config, fill_kernel, params, NULL));
    expect_filled(out, v++);
    CHECK(cuLaunchCooperativeKernel(fill_kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params));
    expect_filled(out, v);
}

static void rest(void *user)
{
    (void)user;
    nanosleep(&(struct timespec){0, 30000000}, NULL);
}

/* What the launch finds is made by what stands before it in a stream that waits for no other, and takes its time. */
static void launch_behind_others(uint32_t v)
{
    cu_function bump;
    cu_stream stream;
    cu_address out = memory(128);
    uint32_t got[32];
    void *params[] = {&out, &v};
    CHECK(cuModuleGetFunction(&bump, module, "bump"));
    CHECK(cuStreamCreate(&stream, CUABI_CU_STREAM_NON_BLOCKING));
    CHECK(cuLaunchHostFunc(stream, rest, NULL));
    CHECK(cuMemsetD32Async(out, 7, 32, stream));
    CHECK(cuLaunchKernel(bump, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH_v2(got, out, sizeof got));
    EXPECT(got[31] == 7 + v);
}

static void launch_old(uint32_t v)
{
    cu_address out = memory(128);
    CHECK(cuFuncSetBlockShape(fill_kernel, 32, 1, 1));
    CHECK(cuFuncSetSharedSize(fill_kernel, 16));
    CHECK(cuParamSetSize(fill_kernel, 12));
    CHECK(cuParamSetv(fill_kernel, 0, &out, 8));
    CHECK(cuParamSeti(fill_kernel, 8, v));
    CHECK(cuModuleGetFunction(&fill_kernel, module, "fill"));      /* changes nothing */
    CHECK(cuLaunchGrid(fill_kernel, 1, 1));
    expect_filled(out, v);
}

/* The form of the per-thread stream, found by its base name; pinned memory of the host. */
static void launch_looked_up(uint32_t v)
{
    void *pointer, *host;
    __typeof__(cuLaunchKernel) *launch;
    int32_t status;
    CHECK(cuGetProcAddress_v2("cuLaunchKernel", &pointer, 12000, CUABI_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    memcpy(&launch, &pointer, sizeof launch);
    CHECK(cuMemHostAlloc(&host, 4096, CUABI_CU_MEMHOSTALLOC_DEVICEMAP));
    memset(host, 0xdd, 4096);
    void *out = (char *)host + 64, *params[] = {&out, &v};
    CHECK(launch(fill_kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    CHECK(cuStreamSynchronize(CUABI_STREAM_PER_THREAD));
    EXPECT(((uint32_t *)host)[16 + 7] == v + 7);
}

static void launch_enumerated(uint32_t v)
{
    cu_function functions[8] = {0};
    const char *name = "";
    uint32_t n, i;
    cu_address out;
    CHECK(cuMemAllocManaged(&out, 128, CUABI_CU_MEM_ATTACH_GLOBAL));
    memset((void *)(uintptr_t)out, 0xcc, 128);
    CHECK(cuModuleGetFunctionCount(&n, module));
    CHECK(cuModuleEnumerateFunctions(functions, n, module));
    for (i = 0; i < n && strcmp(name, "fill") != 0; i++)
        CHECK(cuFuncGetName(&name, functions[i]));
    void *params[] = {&out, &v};
    CHECK(cuLaunchKernel(functions[i - 1], 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    expect_filled(out, v);
}

/* A library's kernel is launched as it is; its variables are not those of the module. */
static void launch_from_library(void)
{
    cu_library library;
    cu_kernel kernel;
    cu_address total;
    size_t bytes;
    const uint64_t seven = 7;
    uint64_t got;
    CHECK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "count"));
    CHECK(cuLibraryGetGlobal(&total, &bytes, library, "total"));
    CHECK(cuMemcpyHtoD_v2(total, &seven, 8));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuMemcpyDtoH_v2(&got, total + 8, 8));
    EXPECT(got == 10);
    CHECK(cuLibraryUnload(library));
}

/* ------------------------------------------------------------ a number that is equal to the handle of a texture */

static void launch_with_texture(void)
{
    const cu_array3d_desc shape = {.width = 4, .height = 3, .format = CUABI_CU_AD_FORMAT_SIGNED_INT32, .channels = 1};
    cu_function kernel;
    cu_array array, gone;
    int texels[12];
    for (int i = 0; i < 12; i++)
        texels[i] = 100 + i;
    CHECK(cuArray3DCreate_v2(&array, &shape));
    CHECK(cuArray3DCreate_v2(&gone, &shape));
    cu_memcpy3d copy = {.width_bytes = 16, .height = 3, .depth = 1};
    copy.source.memory_type = CUABI_CU_MEMORYTYPE_HOST;
    copy.source.host.from = texels;
    copy.source.pitch = 16;
    copy.target.memory_type = CUABI_CU_MEMORYTYPE_ARRAY;
    copy.target.array = array;
    CHECK(cuMemcpy3D_v2(&copy));
    cu_resource_desc resource = {.type = CUABI_CU_RESOURCE_TYPE_ARRAY, .resource.array = array};
    const cu_texture_desc desc = {.address = {1, 1, 1}, .flags = CUABI_CU_TRSF_READ_AS_INTEGER};
    cu_object texture, dead;
    CHECK(cuTexObjectCreate(&texture, &resource, &desc, NULL));
    resource.resource.array = gone;
    CHECK(cuTexObjectCreate(&dead, &resource, &desc, NULL));
    CHECK(cuArrayDestroy(gone));
    cu_address out = memory(24);
    uint64_t n = texture, got[3], before[3] = {0, texture, dead};
    CHECK(cuMemcpyHtoD_v2(out, before, sizeof before));
    CHECK(cuModuleGetFunction(&kernel, module, "sample"));
    void *params[] = {&texture, &n, &out};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    CHECK(cuMemcpyDtoH_v2(got, out, sizeof got));
    EXPECT((uint32_t)got[0] == 105 && got[1] == 2 * texture && got[2] == dead);
    cu_address handles = memory(24), seen = memory(8);
    CHECK(cuMemcpyHtoD_v2(handles, ((uint64_t[]){texture, dead, 0}), 24));
    CHECK(cuModuleGetFunction(&kernel, module, "peek"));
    void *params_peek[] = {&handles, &seen};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params_peek, NULL));
    CHECK(cuMemcpyDtoH_v2(got, seen, 8));
    EXPECT((uint32_t)got[0] == 105);
    CHECK(cuTexObjectDestroy(texture));
    CHECK(cuTexObjectDestroy(dead));
}

/* ------------------------------------------------------------ captures and graphs */

static void launch_captured(void)
{
    cu_stream captured, other;
    cu_graph graph;
    cu_exec exec;
    cu_address out = memory(128), beside = memory(128);
    uint32_t v = 1000, w = 2000;
    void *params[] = {&out, &v}, *params_beside[] = {&beside, &w};
    CHECK(cuStreamCreate(&captured, CUABI_CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamCreate(&other, CUABI_CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture_v2(captured, CUABI_CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuLaunchKernel(fill_kernel, 1, 1, 1, 32, 1, 1, 0, captured, params, NULL));
    CHECK(cuLaunchKernel(fill_kernel, 1, 1, 1, 32, 1, 1, 0, other, params_beside, NULL));
    CHECK(cuStreamEndCapture(captured, &graph));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cuGraphLaunch(exec, captured));
    CHECK(cuStreamSynchronize(captured));
    CHECK(cuStreamSynchronize(other));
    expect_filled(out, v);
    expect_filled(beside, w);
    /* A capture whose stream is destroyed, and one whose context is, do not go on. */
    CHECK(cuStreamBeginCapture_v2(other, CUABI_CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuStreamDestroy_v2(other));
    CHECK(cuStreamDestroy_v2(captured));
}

/* ------------------------------------------------------------ what cannot be dumped, or does not run */

static void launch_machine_code(void)
{
    static const char code[] = HEAD ".visible .entry hidden() { ret; }\n";
    struct { char magic[8]; uint64_t bytes; char text[sizeof code]; } image = {"\177ELFpxb", sizeof code, ""};
    cu_module m;
    cu_function f;
    memcpy(image.magic, "\177ELFpxb", 8);
    for (size_t i = 0; i < sizeof code; i++)
        image.text[i] = code[i] ^ 0x5a;
    CHECK(cuModuleLoadData(&m, &image));
    CHECK(cuModuleGetFunction(&f, m, "hidden"));
    for (int i = 0; i < 2; i++)
        CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    CHECK(cuModuleUnload(m));
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CUABI_SUCCESS);
}

static void be_wrong(void)
{
    unsigned char damaged[256] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0xff, 0xff, 0xff, 0xff, 0xff};
    cu_module m;
    cu_library l;
    cu_function f;
    cu_address out = memory(128);
    uint32_t v = 1;
    void *params[] = {&out, &v}, *none[] = {NULL, NULL};
    EXPECT(cuModuleLoadData(&m, damaged) != CUABI_SUCCESS);
    EXPECT(cuModuleLoadFatBinary(&m, damaged) != CUABI_SUCCESS);
    EXPECT(cuModuleLoad(&m, "/no/such/file") != CUABI_SUCCESS);
    EXPECT(cuLibraryLoadData(&l, damaged, NULL, NULL, 0, NULL, NULL, 0) != CUABI_SUCCESS);
    EXPECT(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CUABI_SUCCESS);
    EXPECT(cuLaunchKernel(&v, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CUABI_SUCCESS);
    EXPECT(cuLaunchKernel(fill_kernel, 1, 1, 1, 2000, 1, 1, 0, NULL, params, NULL) != CUABI_SUCCESS);
    EXPECT(cuLaunchKernel(fill_kernel, 1, 1, 1, 32, 1, 1, 0, NULL, none, NULL) != CUABI_SUCCESS);
    EXPECT(cuLaunchKernel(fill_kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) != CUABI_SUCCESS);
    EXPECT(cuLaunchKernelEx(NULL, fill_kernel, params, NULL) != CUABI_SUCCESS);
    EXPECT(cuLaunch(NULL) != CUABI_SUCCESS);
    EXPECT(cuModuleGetFunction(&f, module, "no_such_kernel") != CUABI_SUCCESS);
    EXPECT(cuModuleUnload(NULL) != CUABI_SUCCESS);
    EXPECT(cuTexObjectDestroy(77) != CUABI_SUCCESS);
    EXPECT(cuArrayDestroy(NULL) != CUABI_SUCCESS);
    CHECK(cuModuleLoadData(&m, text));
    CHECK(cuModuleGetFunction(&f, m, "fill"));
    CHECK(cuModuleUnload(m));
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) != CUABI_SUCCESS);
    CHECK(cuMemFree_v2(out));
}

static void fault(void)
{
    cu_function f;
    cu_address out = memory(64);
    void *params[] = {&out};
    CHECK(cuModuleGetFunction(&f, module, "fail"));
    CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    EXPECT(cuCtxSynchronize() == CUABI_CUDA_ERROR_LAUNCH_FAILED);
    for (int i = 0; i < 3; i++)
        EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) == CUABI_CUDA_ERROR_LAUNCH_FAILED);
}

/* One launch over memory of one kind, and nothing else allocated: has it been seen? */
static cu_address memory_of_kind(const char *kind)
{
    cu_address p = 0;
    void *host = NULL;
    size_t pitch;
    cu_pool pool;
    if (strcmp(kind, "device") == 0)
        CHECK(cuMemAlloc_v2(&p, 4096));
    if (strcmp(kind, "pitch") == 0)
        CHECK(cuMemAllocPitch_v2(&p, &pitch, 128, 2, 4));
    if (strcmp(kind, "managed") == 0)
        CHECK(cuMemAllocManaged(&p, 4096, CUABI_CU_MEM_ATTACH_GLOBAL));
    if (strcmp(kind, "async") == 0)
        CHECK(cuMemAllocAsync(&p, 4096, NULL));
    if (strcmp(kind, "pool") == 0) {
        CHECK(cuDeviceGetDefaultMemPool(&pool, 0));
        CHECK(cuMemAllocFromPoolAsync(&p, 4096, pool, NULL));
    }
    if (strcmp(kind, "pinned") == 0)
        CHECK(cuMemHostAlloc(&host, 4096, CUABI_CU_MEMHOSTALLOC_DEVICEMAP));
    if (strcmp(kind, "host") == 0)
        CHECK(cuMemAllocHost_v2(&host, 4096));
    if (strcmp(kind, "registered") == 0) {
        host = aligned_alloc(4096, 4096);
        CHECK(cuMemHostRegister_v2(host, 4096, CUABI_CU_MEMHOSTREGISTER_DEVICEMAP));
    }
    if (strcmp(kind, "mapped") == 0) {
        const cu_alloc_prop prop = {.type = CUABI_CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CUABI_CU_MEM_LOCATION_TYPE_DEVICE, 0}};
        const cu_access_desc access = {prop.location, CUABI_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        cu_memory_handle handle;
        CHECK(cuMemAddressReserve(&p, 4 << 20, 0, 0, 0));
        CHECK(cuMemCreate(&handle, 2 << 20, &prop, 0));
        CHECK(cuMemMap(p, 2 << 20, 0, handle, 0));
        CHECK(cuMemSetAccess(p, 2 << 20, &access, 1));
    }
    return p ? p : (cu_address)(uintptr_t)host;
}

static int launch_over(const char *kind)
{
    cu_context context;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&fill_kernel, module, "fill"));
    cu_address out = memory_of_kind(kind) + 16;
    uint32_t v = 5;
    void *params[] = {&out, &v};
    CHECK(cuLaunchKernel(fill_kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    CHECK(cuCtxSynchronize());
    expect_filled(out, v);
    printf("driver_spied: ok\n");
    return 0;
}

/* What another thread writes into the memory that a launch works on is there before it or after it. */
static _Atomic int stop;

static void *write_always(void *argument)
{
    cu_context context = argument;
    cu_stream stream;
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CUABI_CU_STREAM_NON_BLOCKING));
    for (uint8_t i = 0; !stop; i++) {
        CHECK(cuMemsetD8Async(shared_memory + 128, i, 128, stream));
        if (i % 16 == 0)
            CHECK(cuStreamSynchronize(stream));
    }
    CHECK(cuStreamSynchronize(stream));
    return NULL;
}

static int launch_beside_writer(void)
{
    cu_context context;
    pthread_t writer;
    uint32_t v = 5;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&fill_kernel, module, "fill"));
    shared_memory = memory(256);
    void *params[] = {&shared_memory, &v};
    CHECK(pthread_create(&writer, NULL, write_always, context));
    for (int i = 0; i < 10; i++)
        CHECK(cuLaunchKernel(fill_kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    stop = 1;
    pthread_join(writer, NULL);
    printf("driver_spied: ok\n");
    return 0;
}

/* A kernel that ends when the host has done something after its launch: statistics must not wait for it. */
static int wait_for_host(void)
{
    cu_context context;
    cu_function f;
    void *flag;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&f, module, "wait"));
    CHECK(cuMemHostAlloc(&flag, 64, CUABI_CU_MEMHOSTALLOC_DEVICEMAP));
    for (int i = 0; i < 3; i++) {
        *(volatile uint32_t *)flag = 0;
        void *params[] = {&flag};
        CHECK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
        *(volatile uint32_t *)flag = 1;
        CHECK(cuCtxSynchronize());
    }
    printf("driver_spied: ok\n");
    return 0;
}

int main(int argc, char **argv)
{
    cu_context context, second;
    cu_function count;
    cu_stream stream;
    cu_module own;
    if (argc > 1 && strcmp(argv[1], "waits") == 0)
        return wait_for_host();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        return launch_beside_writer();
    if (argc > 1)
        return launch_over(argv[1]);
    EXPECT(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CUABI_SUCCESS);      /* before everything */
    CHECK(cuInit(0));
    CHECK(cuCtxCreate_v2(&second, 0, 0));
    CHECK(cuStreamCreate(&stream, CUABI_CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture_v2(stream, CUABI_CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuModuleLoadData(&own, text));
    CHECK(cuCtxDestroy_v2(second));
    CHECK(cuCtxCreate_v2(&context, 0, 0));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&fill_kernel, module, "fill"));
    CHECK(cuModuleGetFunction(&count, module, "count"));
    CHECK(cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    be_wrong();
    launch_packed(100);
    launch_configured(200);
    launch_old(300);
    launch_looked_up(400);
    launch_enumerated(500);
    launch_from_library();
    launch_with_texture();
    launch_captured();
    launch_packed(600);
    launch_cooperatively(700);
    launch_behind_others(800);
    launch_machine_code();
    fault();
    printf("driver_spied: ok\n");
    return 0;
}
