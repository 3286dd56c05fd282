/* driver_ipc.c - two processes with one allocation and one event: the parent gives handles of both, the child adds to the memory in its own
 * stream and records the event, and the parent's stream waits for it.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cuda_subset.h"

enum { WORDS = 1000, SUCH = 600 /* CUDA_ERROR_NOT_READY */, WRONG_VALUE = 1, WRONG_CONTEXT = 201, WRONG_HANDLE = 400 };

static const char *const text =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
    " .reg .b64 %d<4>; .reg .b32 %r<6>; .reg .pred %q;\n"
    " ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r2, %r2, 128, %r3;\n"
    " setp.ge.u32 %q, %r2, 1000;\n @%q ret;\n"
    " mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d1, %d2; ld.global.u32 %r4, [%d3]; add.u32 %r4, %r4, %r1; st.global.u32 [%d3], %r4; ret;\n}\n";

typedef struct letter { cu_ipc memory, event; } letter;

static int other;                      /* the socket to the other process */

static void tell(const void *data, size_t bytes) { EXPECT(write(other, data, bytes) == (ssize_t)bytes); }

static void hear(void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t n = read(other, (char *)data + at, bytes - at);
        EXPECT(n > 0);
        at += (size_t)n;
    }
}

static void set_up(CUstream *stream)
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuStreamCreateWithPriority(stream, CU_STREAM_NON_BLOCKING, 0));
}

/* In the child's stream: what is behind it happens when the parent says so. */
static void wait_for_parent(void *unused)
{
    char go;
    (void)unused;
    hear(&go, 1);
}

static int child(void)
{
    CUstream stream;
    CUmodule module;
    CUfunction add;
    CUdeviceptr memory, again;
    CUevent event;
    letter l;
    unsigned n = 7, got[WORDS];
    set_up(&stream);
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    hear(&l, sizeof l);
    CHECK(cuIpcOpenMemHandle_v2(&memory, l.memory, 1));
    CHECK(cuIpcOpenMemHandle_v2(&again, l.memory, 1));
    CHECK(cuIpcOpenEventHandle(&event, l.event));
    EXPECT(again == memory);
    EXPECT(cuMemFree(memory) == WRONG_VALUE);
    EXPECT(cuIpcOpenMemHandle_v2(&again, l.event, 1) == WRONG_VALUE);
    /* The parent's record has happened. */
    CHECK(cuStreamWaitEvent(stream, event, 0));
    CHECK(cuLaunchHostFunc(stream, wait_for_parent, NULL));
    void *params[] = {&memory, &n};
    CHECK(cuLaunchKernel(add, (WORDS + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuEventDestroy(event));      /* recorded it stays */
    tell("r", 1);
    CHECK(cuStreamSynchronize(stream));
    /* The parent frees its memory and uses new one at the same place: here is the old one still. */
    char freed;
    hear(&freed, 1);
    CHECK(cuMemcpyDtoH(got, memory, sizeof got));
    for (unsigned i = 0; i < WORDS; i++)
        EXPECT(got[i] == 3 * i + n);
    CHECK(cuIpcCloseMemHandle(memory));
    CHECK(cuMemcpyDtoH(got, memory, 4));               /* opened twice */
    CHECK(cuIpcCloseMemHandle(memory));
    EXPECT(cuIpcCloseMemHandle(memory) == WRONG_VALUE);
    EXPECT(cuMemcpyDtoH(got, memory, 4) == WRONG_VALUE);
    return 0;
}

static void parent(void)
{
    CUstream stream;
    CUdeviceptr memory, fresh;
    CUevent event, plain;
    letter l;
    cu_ipc unused;
    unsigned values[WORDS], *got;
    char word;
    set_up(&stream);
    for (unsigned i = 0; i < WORDS; i++)
        values[i] = 3 * i;
    CHECK(cuMemHostAlloc((void **)&got, sizeof values, 0));       /* a copy to other memory would wait */
    CHECK(cuMemAlloc(&memory, sizeof values));
    CHECK(cuMemcpyHtoD(memory, values, sizeof values));
    CHECK(cuEventCreate(&event, 4 | 2));
    CHECK(cuEventCreate(&plain, 2));
    EXPECT(cuEventCreate(&plain, 4) == WRONG_VALUE);    /* such events have no time */
    EXPECT(cuIpcGetEventHandle(&unused, plain) == WRONG_HANDLE);
    CHECK(cuIpcGetMemHandle(&l.memory, memory + 8));
    CHECK(cuIpcGetEventHandle(&l.event, event));
    EXPECT(cuIpcOpenMemHandle_v2(&fresh, l.memory, 1) == WRONG_CONTEXT);
    CHECK(cuEventRecord(event, stream));
    CHECK(cuEventSynchronize(event));
    tell(&l, sizeof l);
    hear(&word, 1);                    /* it is recorded in the child's stream, which waits for us */
    EXPECT(cuEventQuery(event) == SUCH);
    memset(got, 0, sizeof values);
    CHECK(cuStreamWaitEvent(stream, event, 0));
    CHECK(cuMemcpyDtoHAsync(got, memory, sizeof values, stream));
    EXPECT(cuStreamQuery(stream) == SUCH);
    tell("g", 1);
    CHECK(cuEventSynchronize(event));
    CHECK(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < WORDS; i++)
        EXPECT(got[i] == values[i] + 7);
    CHECK(cuMemFree(memory));
    CHECK(cuMemAlloc(&fresh, sizeof values));
    CHECK(cuMemcpyDtoH(got, fresh, sizeof values));
    for (unsigned i = 0; i < WORDS; i++)
        EXPECT(got[i] == 0);
    CHECK(cuMemcpyHtoD(fresh, values, sizeof values));
    tell("f", 1);
}

int main(void)
{
    int ends[2], status;
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pid_t pid = fork();
    EXPECT(pid >= 0);
    other = ends[pid == 0];
    close(ends[pid != 0]);
    if (pid == 0)
        return child();
    parent();
    EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    printf("driver_ipc: ok\n");
    return 0;
}
