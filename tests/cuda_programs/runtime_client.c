/* runtime_client.c - a program of the shared runtime as nvcc makes it, written by hand, so that libcudart.so.12 and .13 are tested where
 * there is no nvcc: it registers a fat binary with a kernel, a variable and a managed variable, and launches by host stub.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cudart/cudart_abi.h"

#define NAMED_(major) "runtime_client_" #major
#define NAMED(major) NAMED_(major)

/* crt/host_runtime.h and cuda_runtime_api.h, as far as this program needs them. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid, void *bid, void *block,
                            void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes, int constant,
                              int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(cudart_dim3 grid, cudart_dim3 block, size_t shared_bytes, cudart_stream stream);
int __cudaPopCallConfiguration(cudart_dim3 *grid, cudart_dim3 *block, size_t *shared_bytes, void *stream);
int cudaLaunchKernel(const void *function, cudart_dim3 grid, cudart_dim3 block, void **args, size_t shared_bytes, cudart_stream stream);
int cudaMalloc(void **pointer, size_t bytes);
int cudaFree(void *pointer);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
const char *cudaGetErrorName(int error);
int cudaRuntimeGetVersion(int *version);
int cudaPointerGetAttributes(cudart_pointer_attributes *out, const void *pointer);
#if CUDART_MAJOR >= 13
int cudaGetDeviceProperties(cudart_properties *out, int device);
#else
int cudaGetDeviceProperties_v2(cudart_properties *out, int device);
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#endif

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int error_ = (call);                                                                                           \
        if (error_) {                                                                                                  \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_));                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition);                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .const .align 4 .u32 base;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 calls = 5;\n"
    ".visible .entry number(.param .u64 out, .param .u32 step)\n{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd1, [out];\n    ld.param.u32 %r1, [step];\n    ld.const.u32 %r2, [base];\n"
    "    mov.u32 %r3, %tid.x;\n    mad.lo.u32 %r4, %r3, %r1, %r2;\n    mul.wide.u32 %rd2, %r3, 4;\n    add.u64 %rd3, %rd1, %rd2;\n"
    "    st.global.u32 [%rd3], %r4;\n    atom.global.add.u32 %r5, [calls], 1;\n    ret;\n}\n"
    ".visible .entry endless(.param .u64 out, .param .u32 step)\n{\n"
    "    .reg .b32 %r<2>; .reg .pred %p;\n"
    "L:  ld.volatile.global.u32 %r1, [calls];\n    setp.ne.u32 %p, %r1, 0;\n    @%p bra L;\n    ret;\n}\n";

/* One PTX member behind a fat binary's header: see docs/cuda_programs.md. */
static struct image {
    uint32_t magic;
    uint16_t version, header;
    uint64_t size;
    uint16_t kind, member_version;
    uint32_t member_header;
    uint64_t payload;
    uint32_t compressed, options;
    uint16_t minor, major;
    uint32_t architecture, name, name_length;
    uint64_t flags, zero, plain;
    char text[(sizeof ptx + 7) & ~7u];
} image = {0xba55ed50, 1, 16, sizeof(struct image) - 16, 1, 0x101, 64, (sizeof ptx + 7) & ~7u, 0, 0, 0, 7, 70, 0, 0, 0x11, 0, 0, {0}};

static struct { uint32_t magic, version; const void *data; void *more; } wrapper = {0x466243b1, 1, &image, NULL};

static uint32_t base_shadow;             /* what the compiler makes of __constant__ unsigned base */
static uint32_t *calls;                  /* and of __managed__ unsigned calls */
static void **handle;

static void number_stub(uint32_t *out, uint32_t step)
{
    cudart_dim3 grid, block;
    size_t shared_bytes;
    cudart_stream stream;
    void *args[] = {&out, &step};
    if (!__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream))
        cudaLaunchKernel((const void *)number_stub, grid, block, args, shared_bytes, stream);
}

static void endless_on_host(void)
{
    uint32_t *out = NULL, step = 0;
    void *args[] = {&out, &step};
    CHECK(cudaLaunchKernel((const void *)endless_on_host, (cudart_dim3){1, 1, 1}, (cudart_dim3){1, 1, 1}, args, 0, NULL));
}

static void unregister(void)
{
    __cudaUnregisterFatBinary(handle);
}

__attribute__((constructor)) static void register_all(void)
{
    memcpy(image.text, ptx, sizeof ptx);
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)number_stub, (char *)"number", "number", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, (const char *)endless_on_host, (char *)"endless", "endless", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, (char *)&base_shadow, (char *)"base", "base", 0, 4, 1, 0);
    __cudaRegisterManagedVar(handle, (void **)&calls, (char *)"calls", "calls", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    atexit(unregister);
}

static void check_layouts(const void *memory)
{
    cudart_properties p;
    cudart_pointer_attributes attributes;
    int version;
    memset(&p, 0x5a, sizeof p);
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT(p.name[0] && p.warp == 32 && p.threads_block >= 1024 && p.grid_dim[0] == 2147483647 && p.major >= 5);
    EXPECT(p.multiprocessors > 0 && p.unified_addressing == 1 && p.shared_optin >= p.shared_block && p.total_memory > 0);
    for (size_t i = 0; i < sizeof p.reserved / sizeof *p.reserved; i++)
        EXPECT(p.reserved[i] == 0);
    CHECK(cudaRuntimeGetVersion(&version));
    EXPECT(version / 1000 == CUDART_MAJOR);
    CHECK(cudaPointerGetAttributes(&attributes, memory));
    EXPECT(attributes.type == RT_cudaMemoryTypeDevice && attributes.device == 0 && attributes.device_pointer == memory);
}

int main(void)
{
    uint32_t *out, host[64], base = 1000, not_registered = 0;
    EXPECT(__cudaInitModule(handle) && calls && *calls == 5);
    CHECK(cudaMalloc((void **)&out, sizeof host));
    CHECK(cudaMemcpyToSymbol(&base_shadow, &base, sizeof base, 0, RT_cudaMemcpyHostToDevice));
    if (__cudaPushCallConfiguration((cudart_dim3){1, 1, 1}, (cudart_dim3){64, 1, 1}, 0, NULL) == 0)
        number_stub(out, 3);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, sizeof host, RT_cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < 64; i++)
        EXPECT(host[i] == 1000 + 3 * i);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*calls == 5 + 64);
    check_layouts(out);
    /* Nothing was pushed; a stub that nobody registered; a variable that nobody registered. */
    number_stub(out, 3);
    EXPECT(cudaGetLastError() == RT_cudaErrorMissingConfiguration);
    EXPECT(cudaLaunchKernel((const void *)main, (cudart_dim3){1, 1, 1}, (cudart_dim3){1, 1, 1}, NULL, 0, NULL) != 0);
    EXPECT(cudaMemcpyToSymbol(&not_registered, &base, 4, 0, RT_cudaMemcpyHostToDevice) == RT_cudaErrorInvalidSymbol);
    CHECK(cudaFree(out));
    if (CUDART_MAJOR == 13)
        endless_on_host();                  /* the program ends, though its kernel does not */
    printf("%s: ok\n", NAMED(CUDART_MAJOR));
    return 0;
}
