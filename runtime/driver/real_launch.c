/* real_launch.c - launches on their way to a real driver: counted, timed, and dumped.
 *
 * A launch that is dumped stands alone: the context has done everything before it begins, and is waited for when it has begun. Others are timed
 * by events. While a stream is captured nothing may be waited for, nor asked; launches are only counted then.
 */
#include "runtime/driver/real.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "runtime/driver/spy.h"

/* ------------------------------------------------------------ captures that are going on */

enum { MOST_CAPTURES = 256 };

static struct { const void *stream; cu_context context; } captures[MOST_CAPTURES];
static uint32_t ncaptures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char own_stream;

/* What a stream's handle means in this thread. */
static const void *stream_key(cu_stream stream)
{
    bool own = stream == CUABI_STREAM_PER_THREAD || (!stream && dr_per_thread);
    return own ? (const void *)&own_stream : (const void *)stream;
}

static cu_result capture_began(cu_result result, cu_stream stream)
{
    if (result || !dr_real_usable())
        return result;
    cu_context context = dr_real_context();
    pthread_mutex_lock(&lock);
    if (ncaptures < MOST_CAPTURES) {
        captures[ncaptures].stream = stream_key(stream);
        captures[ncaptures++].context = context;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void capture_ended(const void *stream)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = ncaptures; i--;)
        if (captures[i].stream == stream)
            captures[i] = captures[--ncaptures];
    pthread_mutex_unlock(&lock);
}

void dr_real_captures_leave(cu_context context)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = ncaptures; i--;)
        if (captures[i].context == context)
            captures[i] = captures[--ncaptures];
    pthread_mutex_unlock(&lock);
}

static bool is_captured(cu_stream stream)
{
    int32_t status = CUABI_CU_STREAM_CAPTURE_STATUS_NONE;
    return DR_NEXT(cuStreamIsCapturing) &&
           (DR_NEXT(cuStreamIsCapturing)(stream, &status) != CUABI_SUCCESS || status != CUABI_CU_STREAM_CAPTURE_STATUS_NONE);
}

cu_result real_cuStreamBeginCapture(cu_stream stream)
{
    return capture_began(DR_NEXT(cuStreamBeginCapture)(stream), stream);
}

cu_result real_cuStreamBeginCapture_v2(cu_stream stream, int32_t mode)
{
    return capture_began(DR_NEXT(cuStreamBeginCapture_v2)(stream, mode), stream);
}

cu_result real_cuStreamBeginCaptureToGraph(cu_stream stream, cu_graph graph, const cu_node *dependencies, const cu_edge_data *dependency_data,
                                           size_t num_dependencies, int32_t mode)
{
    return capture_began(DR_NEXT(cuStreamBeginCaptureToGraph)(stream, graph, dependencies, dependency_data, num_dependencies, mode), stream);
}

/* One that another thread began goes on. */
cu_result real_cuStreamEndCapture(cu_stream stream, cu_graph *graph)
{
    cu_result result = DR_NEXT(cuStreamEndCapture)(stream, graph);
    if (!result || !is_captured(stream))
        capture_ended(stream_key(stream));
    return result;
}

cu_result real_cuStreamDestroy(cu_stream stream)
{
    capture_ended(stream);
    return DR_NEXT(cuStreamDestroy)(stream);
}

cu_result real_cuStreamDestroy_v2(cu_stream stream)
{
    capture_ended(stream);
    return DR_NEXT(cuStreamDestroy_v2)(stream);
}

/* ------------------------------------------------------------ around a launch */

typedef enum manner { UNSEEN, ALONE, TIMED, CAPTURED, BESIDE_CAPTURE } manner;

static pthread_mutex_t alone_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct launch {
    dr_spied spied;
    dr_real_launch of;
    dr_real_code code;
    bool known;
    manner manner;
    cu_stream stream;
    void *time;                    /* TIMED */
    uint64_t started;              /* ALONE */
} launch;

static manner manner_of(cu_stream stream)
{
    if (!dr_real_usable())
        return UNSEEN;
    if (is_captured(stream))
        return CAPTURED;
    pthread_mutex_lock(&lock);
    bool any = ncaptures > 0;
    pthread_mutex_unlock(&lock);
    return any ? BESIDE_CAPTURE : TIMED;
}

static cu_result wait_for_all(void)
{
    return DR_REAL(cuCtxSynchronize) ? DR_REAL(cuCtxSynchronize)() : DR_ERROR(NOT_SUPPORTED);
}

static const dr_dump_source *describe(dr_spied *spied)
{
    launch *l = (launch *)spied;
    /* What other threads gave the driver meanwhile; from now on they wait (spy.h). */
    return l->known && wait_for_all() == CUABI_SUCCESS ? dr_real_describe(&l->of) : NULL;
}

/* Everything before it is done, and no other thread launches. */
static void begin_alone(launch *l)
{
    pthread_mutex_lock(&alone_lock);
    if (wait_for_all() == CUABI_SUCCESS) {
        dr_spy_begin(&l->spied);
        l->started = dr_now_ns();
        return;
    }
    pthread_mutex_unlock(&alone_lock);
    l->manner = UNSEEN;            /* an earlier launch has failed, or there is no context: the driver says so */
}

static void begin(launch *l, cu_function function, cu_stream stream)
{
    l->manner = manner_of(stream);
    if (l->manner == UNSEEN)
        return;
    l->stream = stream;
    l->known = dr_real_code_find(function, &l->code);
    l->of.code = &l->code;
    l->spied = (dr_spied){.kernel = l->known ? l->code.name : "(a kernel that was not looked up)", .describe = describe};
    if (l->manner != TIMED)
        return;
    dr_real_times_collect();
    bool wanted = l->known && dr_spy_dumps_kernel(l->spied.kernel);
    if (wanted && !l->code.image->text)
        l->of.why_not = l->code.image->why_none;
    if (wanted && !l->of.why_not)
        l->manner = ALONE;
    else
        l->time = dr_real_time_begin(stream);
    if (l->manner == ALONE || !l->time) {
        l->manner = ALONE;
        begin_alone(l);
    }
}

static void count_captured(const launch *l)
{
    static atomic_flag told[2] = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT};
    bool captured = l->manner == CAPTURED;
    char name[1024];
    snprintf(name, sizeof name, "%.900s (%s)", l->spied.kernel, captured ? "captured" : "beside a capture");
    dr_spy_count(name);
    dr_real_tell_once(&told[captured], captured ? "launches into a stream that is captured are counted, neither timed nor dumped"
                                                : "launches while another stream is captured are counted, neither timed nor dumped");
}

/* The launch was taken: what there is to say of it. Its handle is one, so that the driver may be asked about it. */
static void meet(launch *l, cu_function function)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const char *name = NULL;
    if (l->known) {
        if (l->of.why_not)
            dr_real_tell(&l->code, l->of.why_not);
        return;
    }
    if (DR_REAL(cuFuncGetName) && DR_REAL(cuFuncGetName)(&name, function) == CUABI_SUCCESS && name)
        l->spied.kernel = name;
    if (dr_spy_dumps())
        dr_real_tell_once(&told, "dump: a kernel that the program did not look up by its name is not dumped");
}

static void end_alone(launch *l, cu_function function, cu_result result)
{
    if (result)
        dr_spy_drop(&l->spied);
    else {
        cu_result ended = wait_for_all();
        uint64_t ns = dr_now_ns() - l->started;
        meet(l, function);
        dr_spy_end(&l->spied, ns, ended);
    }
    pthread_mutex_unlock(&alone_lock);
}

static cu_result end(launch *l, cu_function function, cu_result result)
{
    if (l->manner == ALONE)
        end_alone(l, function, result);
    else if (l->manner == TIMED && result)
        dr_real_time_drop(l->time);
    else if (l->manner == TIMED) {
        meet(l, function);
        dr_real_time_end(l->time, l->stream, l->spied.kernel);
    } else if (l->manner != UNSEEN && !result)
        count_captured(l);
    if (l->known)
        dr_real_code_drop(&l->code);
    return result;
}

/* ------------------------------------------------------------ cuLaunch… */

cu_result real_cuLaunchKernel(cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                              uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params, void **extra)
{
    launch l = {.of = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared_bytes = shared_bytes, .params = params,
                       .extra = extra}};
    begin(&l, function, stream);
    return end(&l, function, DR_NEXT(cuLaunchKernel)(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params,
                                                     extra));
}

cu_result real_cuLaunchCooperativeKernel(cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                                         uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params)
{
    launch l = {.of = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared_bytes = shared_bytes, .cooperative = true,
                       .params = params}};
    begin(&l, function, stream);
    return end(&l, function, DR_NEXT(cuLaunchCooperativeKernel)(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                                                                params));
}

static void read_attributes(const cu_launch_config *config, dr_real_launch *l)
{
    for (uint32_t i = 0; config->attributes && i < config->attribute_count; i++) {
        const cu_launch_attribute *a = &config->attributes[i];
        if (a->id == CUABI_CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            l->cooperative = a->value.cooperative != 0;
        if (a->id == CUABI_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            l->cluster = a->value.cluster.x > 1 || a->value.cluster.y > 1 || a->value.cluster.z > 1;
    }
}

cu_result real_cuLaunchKernelEx(const cu_launch_config *config, cu_function function, void **params, void **extra)
{
    if (!config)
        return DR_NEXT(cuLaunchKernelEx)(config, function, params, extra);
    launch l = {.of = {.shared_bytes = config->shared_bytes, .params = params, .extra = extra}};
    memcpy(l.of.grid, config->grid, sizeof l.of.grid);
    memcpy(l.of.block, config->block, sizeof l.of.block);
    read_attributes(config, &l.of);
    begin(&l, function, config->stream);
    return end(&l, function, DR_NEXT(cuLaunchKernelEx)(config, function, params, extra));
}

/* ------------------------------------------------------------ launches as before CUDA 4 */

typedef struct old_launch {
    launch of;
    unsigned char params[4096];
    size_t bytes;
    void *extra[5];
} old_launch;

static void begin_old(old_launch *l, cu_function function, int width, int height, cu_stream stream)
{
    dr_real_code code;
    if (dr_real_code_find(function, &code)) {
        memcpy(l->of.of.block, code.old_block, sizeof code.old_block);
        l->of.of.shared_bytes = code.old_shared;
        l->bytes = code.old_bytes < sizeof l->params ? code.old_bytes : sizeof l->params;
        dr_real_code_drop(&code);
        dr_real_old_params(function, l->params, l->bytes);
    }
    memcpy(l->of.of.grid, (uint32_t[]){(uint32_t)width, (uint32_t)height, 1}, sizeof l->of.of.grid);
    memcpy(l->extra, (void *[]){CUABI_LAUNCH_PARAM_BUFFER_POINTER, l->params, CUABI_LAUNCH_PARAM_BUFFER_SIZE, &l->bytes, CUABI_LAUNCH_PARAM_END},
           sizeof l->extra);
    l->of.of.extra = l->extra;
    begin(&l->of, function, stream);
}

cu_result real_cuLaunch(cu_function function)
{
    old_launch l = {0};
    begin_old(&l, function, 1, 1, NULL);
    return end(&l.of, function, DR_NEXT(cuLaunch)(function));
}

cu_result real_cuLaunchGrid(cu_function function, int grid_width, int grid_height)
{
    old_launch l = {0};
    begin_old(&l, function, grid_width, grid_height, NULL);
    return end(&l.of, function, DR_NEXT(cuLaunchGrid)(function, grid_width, grid_height));
}

cu_result real_cuLaunchGridAsync(cu_function function, int grid_width, int grid_height, cu_stream stream)
{
    old_launch l = {0};
    begin_old(&l, function, grid_width, grid_height, stream);
    return end(&l.of, function, DR_NEXT(cuLaunchGridAsync)(function, grid_width, grid_height, stream));
}

cu_result real_cuGraphLaunch(cu_exec exec, cu_stream stream)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    cu_result result = DR_NEXT(cuGraphLaunch)(exec, stream);
    if (!result && dr_real_usable())
        dr_real_tell_once(&told, "the kernels of graphs are launched inside the real driver: they are neither counted nor dumped");
    return result;
}
