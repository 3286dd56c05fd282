/* copy.c - copies of memory, rectangles and arrays, to and from variables.
 *
 * A copy of one piece becomes the driver's call for its direction; everything that has rows becomes one cuMemcpy3D. The forms for per-thread
 * default streams (…_ptds) are copies in the thread's stream and a wait for it, which is what they promise.
 */
#include <string.h>
#include "runtime/cudart/internal.h"

enum { MEMORY_UNIFIED = 4, MEMORY_DEVICE = 2 };

static cu_address address_of(const void *pointer)
{
    return (cu_address)(uintptr_t)pointer;
}

/* ------------------------------------------------------------ one piece */

static cu_result copy_now(void *to, const void *from, size_t bytes, int32_t kind)
{
    if (kind < RT_cudaMemcpyHostToHost || kind > RT_cudaMemcpyDefault)
        return RT_cudaErrorInvalidMemcpyDirection;
    if (bytes == 0)
        return 0;
    switch (kind) {
    case RT_cudaMemcpyHostToDevice:
        return driver.cuMemcpyHtoD_v2(address_of(to), from, bytes);
    case RT_cudaMemcpyDeviceToHost:
        return driver.cuMemcpyDtoH_v2(to, address_of(from), bytes);
    case RT_cudaMemcpyDeviceToDevice:
        return driver.cuMemcpyDtoD_v2(address_of(to), address_of(from), bytes);
    default:
        return driver.cuMemcpy(address_of(to), address_of(from), bytes);
    }
}

static cu_result copy_in_stream(void *to, const void *from, size_t bytes, int32_t kind, cudart_stream stream)
{
    if (kind < RT_cudaMemcpyHostToHost || kind > RT_cudaMemcpyDefault)
        return RT_cudaErrorInvalidMemcpyDirection;
    if (bytes == 0)
        return 0;
    switch (kind) {
    case RT_cudaMemcpyHostToDevice:
        return driver.cuMemcpyHtoDAsync_v2(address_of(to), from, bytes, stream);
    case RT_cudaMemcpyDeviceToHost:
        return driver.cuMemcpyDtoHAsync_v2(to, address_of(from), bytes, stream);
    case RT_cudaMemcpyDeviceToDevice:
        return driver.cuMemcpyDtoDAsync_v2(address_of(to), address_of(from), bytes, stream);
    default:
        return driver.cuMemcpyAsync(address_of(to), address_of(from), bytes, stream);
    }
}

/* The end of a …_ptds call. */
static cudart_error wait_own(cudart_error error)
{
    return error ? error : CALL(driver.cuStreamSynchronize(STREAM_PER_THREAD));
}

API cudart_error cudaMemcpy(void *to, const void *from, size_t bytes, int32_t kind)
{
    return CALL(copy_now(to, from, bytes, kind));
}

API cudart_error cudaMemcpyAsync(void *to, const void *from, size_t bytes, int32_t kind, cudart_stream stream)
{
    return CALL(copy_in_stream(to, from, bytes, kind, stream));
}
PTSZ(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, int32_t kind, cudart_stream stream), (to, from, bytes, kind, stream))

API cudart_error cudaMemcpy_ptds(void *to, const void *from, size_t bytes, int32_t kind)
{
    return wait_own(cudaMemcpyAsync(to, from, bytes, kind, STREAM_PER_THREAD));
}

/* ------------------------------------------------------------ variables */

static cudart_error variable_range(const void *symbol, size_t offset, size_t bytes, char **at)
{
    cu_address address;
    size_t size;
    TRY(variable_of(symbol, &address, &size));
    if (offset > size || bytes > size - offset)
        return RT_cudaErrorInvalidValue;
    *at = (char *)(uintptr_t)address + offset;
    return RT_cudaSuccess;
}

/* Which directions make sense when one end is a variable. */
static bool is_kind_to(int32_t kind)
{
    return kind == RT_cudaMemcpyHostToDevice || kind == RT_cudaMemcpyDeviceToDevice || kind == RT_cudaMemcpyDefault;
}

static bool is_kind_from(int32_t kind)
{
    return kind == RT_cudaMemcpyDeviceToHost || kind == RT_cudaMemcpyDeviceToDevice || kind == RT_cudaMemcpyDefault;
}

API cudart_error cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int32_t kind)
{
    char *at = NULL;
    cudart_error error = is_kind_to(kind) ? variable_range(symbol, offset, bytes, &at) : RT_cudaErrorInvalidMemcpyDirection;
    return error ? record(error) : cudaMemcpy(at, from, bytes, kind);
}

API cudart_error cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int32_t kind)
{
    char *at = NULL;
    cudart_error error = is_kind_from(kind) ? variable_range(symbol, offset, bytes, &at) : RT_cudaErrorInvalidMemcpyDirection;
    return error ? record(error) : cudaMemcpy(to, at, bytes, kind);
}

API cudart_error cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, int32_t kind,
                                         cudart_stream stream)
{
    char *at = NULL;
    cudart_error error = is_kind_to(kind) ? variable_range(symbol, offset, bytes, &at) : RT_cudaErrorInvalidMemcpyDirection;
    return error ? record(error) : cudaMemcpyAsync(at, from, bytes, kind, stream);
}
PTSZ(cudaMemcpyToSymbolAsync,
     (const void *symbol, const void *from, size_t bytes, size_t offset, int32_t kind, cudart_stream stream),
     (symbol, from, bytes, offset, kind, stream))

API cudart_error cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int32_t kind,
                                           cudart_stream stream)
{
    char *at = NULL;
    cudart_error error = is_kind_from(kind) ? variable_range(symbol, offset, bytes, &at) : RT_cudaErrorInvalidMemcpyDirection;
    return error ? record(error) : cudaMemcpyAsync(to, at, bytes, kind, stream);
}
PTSZ(cudaMemcpyFromSymbolAsync,
     (void *to, const void *symbol, size_t bytes, size_t offset, int32_t kind, cudart_stream stream),
     (to, symbol, bytes, offset, kind, stream))

API cudart_error cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t bytes, size_t offset, int32_t kind)
{
    return wait_own(cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, STREAM_PER_THREAD));
}

API cudart_error cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t bytes, size_t offset, int32_t kind)
{
    return wait_own(cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, STREAM_PER_THREAD));
}

/* ------------------------------------------------------------ three dimensions */

static cudart_error element_of(cu_array array, size_t *bytes)
{
    cu_array3d_desc desc;
    TRY(driver.cuArray3DGetDescriptor_v2(&desc, array));
    *bytes = element_bytes(desc.format, desc.channels);
    return *bytes ? RT_cudaSuccess : RT_cudaErrorInvalidValue;
}

/* Positions of an array count elements, those of memory bytes. */
static void convert_end(cu_copy_end *to, cu_array array, cudart_pos pos, const cudart_pitched *memory, bool on_host, bool on_device,
                        size_t element)
{
    *to = (cu_copy_end){.x_bytes = array ? pos.x * element : pos.x, .y = pos.y, .z = pos.z};
    if (array) {
        to->memory_type = CUABI_CU_MEMORYTYPE_ARRAY;
        to->array = array;
        return;
    }
    to->memory_type = on_host ? CUABI_CU_MEMORYTYPE_HOST : on_device ? MEMORY_DEVICE : MEMORY_UNIFIED;
    to->host.to = on_host ? memory->ptr : NULL;
    to->device = on_host ? 0 : address_of(memory->ptr);
    to->pitch = memory->pitch;
    to->height = memory->ysize;
}

cudart_error convert_copy(const cudart_copy3d *from, cu_memcpy3d *to)
{
    if (!from || !!from->source_array == !!from->source.ptr || !!from->target_array == !!from->target.ptr)
        return RT_cudaErrorInvalidValue;
    int32_t kind = from->kind;
    if (kind < RT_cudaMemcpyHostToHost || kind > RT_cudaMemcpyDefault)
        return RT_cudaErrorInvalidMemcpyDirection;
    size_t source_element = 1, target_element = 1;
    if (from->source_array)
        TRY(element_of(from->source_array, &source_element));
    if (from->target_array)
        TRY(element_of(from->target_array, &target_element));
    if (from->source_array && from->target_array && source_element != target_element)
        return RT_cudaErrorInvalidValue;
    bool host_source = kind == RT_cudaMemcpyHostToHost || kind == RT_cudaMemcpyHostToDevice;
    bool host_target = kind == RT_cudaMemcpyHostToHost || kind == RT_cudaMemcpyDeviceToHost;
    bool known = kind != RT_cudaMemcpyDefault;
    *to = (cu_memcpy3d){0};
    convert_end(&to->source, from->source_array, from->source_pos, &from->source, host_source, known && !host_source, source_element);
    convert_end(&to->target, from->target_array, from->target_pos, &from->target, host_target, known && !host_target, target_element);
    to->width_bytes = from->extent.width * (from->source_array ? source_element : target_element);
    to->height = from->extent.height;
    to->depth = from->extent.depth;
    return RT_cudaSuccess;
}

static cudart_error copy_3d(const cudart_copy3d *copy, bool now, cudart_stream stream)
{
    cu_memcpy3d converted;
    TRY(enter());
    TRY(convert_copy(copy, &converted));
    if (!converted.width_bytes || !converted.height || !converted.depth)
        return RT_cudaSuccess;
    return now ? driver.cuMemcpy3D_v2(&converted) : driver.cuMemcpy3DAsync_v2(&converted, stream);
}

API cudart_error cudaMemcpy3D(const cudart_copy3d *copy)
{
    return record(copy_3d(copy, true, NULL));
}

API cudart_error cudaMemcpy3DAsync(const cudart_copy3d *copy, cudart_stream stream)
{
    return record(copy_3d(copy, false, stream));
}
PTSZ(cudaMemcpy3DAsync, (const cudart_copy3d *copy, cudart_stream stream), (copy, stream))

API cudart_error cudaMemcpy3D_ptds(const cudart_copy3d *copy)
{
    return wait_own(cudaMemcpy3DAsync(copy, STREAM_PER_THREAD));
}

/* ------------------------------------------------------------ two dimensions */

/* Offsets into arrays and widths are bytes here, elements in cudaMemcpy3DParms: these calls make the driver's form themselves. */
typedef struct flat_end { cu_array array; size_t x, y; void *memory; size_t pitch; } flat_end;

static void convert_flat(cu_copy_end *to, const flat_end *from, bool on_host, bool on_device)
{
    cudart_pitched memory = {from->memory, from->pitch, 0, 0};
    convert_end(to, from->array, (cudart_pos){from->x, from->y, 0}, &memory, on_host, on_device, 1);
}

static cudart_error copy_2d(flat_end to, flat_end from, size_t width, size_t height, int32_t kind, bool now, cudart_stream stream)
{
    if (kind < RT_cudaMemcpyHostToHost || kind > RT_cudaMemcpyDefault)
        return RT_cudaErrorInvalidMemcpyDirection;
    TRY(enter());
    if (width == 0 || height == 0)
        return RT_cudaSuccess;
    if ((!to.array && (height > 1 || to.pitch) && to.pitch < width) || (!from.array && (height > 1 || from.pitch) && from.pitch < width))
        return RT_cudaErrorInvalidPitchValue;
    bool host_source = kind == RT_cudaMemcpyHostToHost || kind == RT_cudaMemcpyHostToDevice;
    bool host_target = kind == RT_cudaMemcpyHostToHost || kind == RT_cudaMemcpyDeviceToHost;
    bool known = kind != RT_cudaMemcpyDefault;
    cu_memcpy3d copy = {.width_bytes = width, .height = height, .depth = 1};
    convert_flat(&copy.source, &from, host_source, known && !host_source);
    convert_flat(&copy.target, &to, host_target, known && !host_target);
    return now ? driver.cuMemcpy3D_v2(&copy) : driver.cuMemcpy3DAsync_v2(&copy, stream);
}

#define MEMORY(pointer, row) ((flat_end){.memory = (void *)(uintptr_t)(pointer), .pitch = (row)})
#define ARRAY(object, left, top) ((flat_end){.array = (object), .x = (left), .y = (top)})

API cudart_error cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int32_t kind)
{
    return record(copy_2d(MEMORY(to, to_pitch), MEMORY(from, from_pitch), width, height, kind, true, NULL));
}

API cudart_error cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                   int32_t kind, cudart_stream stream)
{
    return record(copy_2d(MEMORY(to, to_pitch), MEMORY(from, from_pitch), width, height, kind, false, stream));
}
PTSZ(cudaMemcpy2DAsync,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int32_t kind, cudart_stream stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream))

API cudart_error cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                   int32_t kind)
{
    return wait_own(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, STREAM_PER_THREAD));
}

API cudart_error cudaMemcpy2DToArray(cu_array to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                                     int32_t kind)
{
    return record(copy_2d(ARRAY(to, x, y), MEMORY(from, pitch), width, height, kind, true, NULL));
}

API cudart_error cudaMemcpy2DToArrayAsync(cu_array to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                          size_t height, int32_t kind, cudart_stream stream)
{
    return record(copy_2d(ARRAY(to, x, y), MEMORY(from, pitch), width, height, kind, false, stream));
}
PTSZ(cudaMemcpy2DToArrayAsync,
     (cu_array to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int32_t kind, cudart_stream stream),
     (to, x, y, from, pitch, width, height, kind, stream))

API cudart_error cudaMemcpy2DToArray_ptds(cu_array to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                                          int32_t kind)
{
    return wait_own(cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, STREAM_PER_THREAD));
}

API cudart_error cudaMemcpy2DFromArray(void *to, size_t pitch, cu_array from, size_t x, size_t y, size_t width, size_t height,
                                       int32_t kind)
{
    return record(copy_2d(MEMORY(to, pitch), ARRAY(from, x, y), width, height, kind, true, NULL));
}

API cudart_error cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cu_array from, size_t x, size_t y, size_t width, size_t height,
                                            int32_t kind, cudart_stream stream)
{
    return record(copy_2d(MEMORY(to, pitch), ARRAY(from, x, y), width, height, kind, false, stream));
}
PTSZ(cudaMemcpy2DFromArrayAsync,
     (void *to, size_t pitch, cu_array from, size_t x, size_t y, size_t width, size_t height, int32_t kind, cudart_stream stream),
     (to, pitch, from, x, y, width, height, kind, stream))

API cudart_error cudaMemcpy2DFromArray_ptds(void *to, size_t pitch, cu_array from, size_t x, size_t y, size_t width, size_t height,
                                            int32_t kind)
{
    return wait_own(cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, STREAM_PER_THREAD));
}

API cudart_error cudaMemcpy2DArrayToArray(cu_array to, size_t to_x, size_t to_y, cu_array from, size_t from_x, size_t from_y,
                                          size_t width, size_t height, int32_t kind)
{
    return record(copy_2d(ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), width, height, kind, true, NULL));
}

API cudart_error cudaMemcpy2DArrayToArray_ptds(cu_array to, size_t to_x, size_t to_y, cu_array from, size_t from_x, size_t from_y,
                                               size_t width, size_t height, int32_t kind)
{
    cudart_error error = copy_2d(ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), width, height, kind, false, STREAM_PER_THREAD);
    return wait_own(record(error));
}

/* ------------------------------------------------------------ runs of an array's elements (deprecated) */

/* Does the array have so many bytes from a position on? *row: those of a row. */
static cudart_error check_run(cu_array array, size_t x, size_t y, size_t bytes, size_t *row)
{
    cu_array3d_desc desc;
    TRY(driver.cuArray3DGetDescriptor_v2(&desc, array));
    size_t rows = desc.height ? desc.height : 1;
    *row = desc.width * element_bytes(desc.format, desc.channels);
    return !*row || x >= *row || y >= rows || bytes > (rows - y) * *row - x ? RT_cudaErrorInvalidValue : RT_cudaSuccess;
}

/* `bytes` from a position on, row after row: the rest of the first row, whole rows, the beginning of the last one. */
static cudart_error copy_run(cu_array array, size_t x, size_t y, char *memory, size_t bytes, int32_t kind, bool to_array, bool now,
                             cudart_stream stream)
{
    size_t row;
    TRY(enter());
    TRY(check_run(array, x, y, bytes, &row));
    while (bytes) {
        size_t width = x || bytes < row ? (bytes < row - x ? bytes : row - x) : row;
        size_t height = width == row ? bytes / row : 1;
        flat_end inside = ARRAY(array, x, y), outside = MEMORY(memory, row);
        TRY(to_array ? copy_2d(inside, outside, width, height, kind, now, stream)
                     : copy_2d(outside, inside, width, height, kind, now, stream));
        memory += width * height;
        bytes -= width * height;
        y += height;
        x = 0;
    }
    return RT_cudaSuccess;
}

API cudart_error cudaMemcpyToArray(cu_array to, size_t x, size_t y, const void *from, size_t bytes, int32_t kind)
{
    return record(copy_run(to, x, y, (char *)(uintptr_t)from, bytes, kind, true, true, NULL));
}

API cudart_error cudaMemcpyToArrayAsync(cu_array to, size_t x, size_t y, const void *from, size_t bytes, int32_t kind,
                                        cudart_stream stream)
{
    return record(copy_run(to, x, y, (char *)(uintptr_t)from, bytes, kind, true, false, stream));
}
PTSZ(cudaMemcpyToArrayAsync, (cu_array to, size_t x, size_t y, const void *from, size_t bytes, int32_t kind, cudart_stream stream),
     (to, x, y, from, bytes, kind, stream))

API cudart_error cudaMemcpyToArray_ptds(cu_array to, size_t x, size_t y, const void *from, size_t bytes, int32_t kind)
{
    return wait_own(cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, STREAM_PER_THREAD));
}

API cudart_error cudaMemcpyFromArray(void *to, cu_array from, size_t x, size_t y, size_t bytes, int32_t kind)
{
    return record(copy_run(from, x, y, to, bytes, kind, false, true, NULL));
}

API cudart_error cudaMemcpyFromArrayAsync(void *to, cu_array from, size_t x, size_t y, size_t bytes, int32_t kind, cudart_stream stream)
{
    return record(copy_run(from, x, y, to, bytes, kind, false, false, stream));
}
PTSZ(cudaMemcpyFromArrayAsync, (void *to, cu_array from, size_t x, size_t y, size_t bytes, int32_t kind, cudart_stream stream),
     (to, from, x, y, bytes, kind, stream))

API cudart_error cudaMemcpyFromArray_ptds(void *to, cu_array from, size_t x, size_t y, size_t bytes, int32_t kind)
{
    return wait_own(cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, STREAM_PER_THREAD));
}

/* From one array's position on to another's: as far as both rows go at once. */
static cudart_error copy_between(cu_array to, size_t to_x, size_t to_y, cu_array from, size_t from_x, size_t from_y, size_t bytes, int32_t kind,
                                 bool now, cudart_stream stream)
{
    size_t to_row, from_row;
    TRY(enter());
    TRY(check_run(to, to_x, to_y, bytes, &to_row));
    TRY(check_run(from, from_x, from_y, bytes, &from_row));
    while (bytes) {
        size_t width = to_row - to_x < from_row - from_x ? to_row - to_x : from_row - from_x;
        width = width < bytes ? width : bytes;
        TRY(copy_2d(ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), width, 1, kind, now, stream));
        bytes -= width;
        to_x += width;
        from_x += width;
        to_y += to_x == to_row;
        to_x = to_x == to_row ? 0 : to_x;
        from_y += from_x == from_row;
        from_x = from_x == from_row ? 0 : from_x;
    }
    return RT_cudaSuccess;
}

API cudart_error cudaMemcpyArrayToArray(cu_array to, size_t to_x, size_t to_y, cu_array from, size_t from_x, size_t from_y, size_t bytes,
                                        int32_t kind)
{
    return record(copy_between(to, to_x, to_y, from, from_x, from_y, bytes, kind, true, NULL));
}

API cudart_error cudaMemcpyArrayToArray_ptds(cu_array to, size_t to_x, size_t to_y, cu_array from, size_t from_x, size_t from_y,
                                             size_t bytes, int32_t kind)
{
    return wait_own(record(copy_between(to, to_x, to_y, from, from_x, from_y, bytes, kind, false, STREAM_PER_THREAD)));
}
