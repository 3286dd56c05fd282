/* set.c - cuMemset…: rows of elements of one, two or four bytes. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/spy.h"

/* A row of one value; bytes go through the device's own operation. */
static pxb_status set_row(pxb_device *view, const dr_set *s, uint64_t address, const unsigned char *pattern)
{
    uint64_t bytes = s->width * s->element;
    void *plain = (void *)(uintptr_t)address;
    if (s->plain) {
        if (pattern)
            memcpy(plain, pattern, bytes);
        else
            memset(plain, (int)(s->value & 0xff), bytes);
        return PXB_OK;
    }
    return pattern ? view->ops->write(view, address, pattern, bytes) : view->ops->set(view, address, (uint8_t)s->value, bytes);
}

static bool one_byte(const dr_set *s)
{
    uint32_t low = s->value & 0xff;
    return s->element == 1 || (s->element == 2 && (s->value & 0xffff) == low * 0x101u) || (s->element == 4 && s->value == low * 0x1010101u);
}

/* Rows that touch are one, up to the size of what is filled at a time. */
static pxb_status set_rows(const dr_set *s)
{
    enum { PIECE = 1 << 20 };
    dr_set row = *s;
    pxb_device view;
    dr_device_view(s->owner, dr_thread_errors(), &view);
    if (row.height > 1 && row.pitch == row.width * row.element) {
        row.width *= row.height;
        row.height = 1;
    }
    uint64_t piece = one_byte(s) || row.width < PIECE ? row.width : PIECE;
    unsigned char *pattern = NULL;
    if (!one_byte(s)) {
        pattern = malloc(piece * row.element);
        if (!pattern)
            return PXB_OUT_OF_MEMORY;
        for (uint64_t i = 0; i < piece; i++)
            memcpy(pattern + i * row.element, &s->value, row.element);
    }
    pxb_status status = PXB_OK;
    for (uint64_t y = 0; y < row.height && !status; y++) {
        for (uint64_t x = 0; x < row.width && !status; x += piece) {
            dr_set part = row;
            part.width = row.width - x < piece ? row.width - x : piece;
            status = set_row(&view, &part, row.address + y * row.pitch + x * row.element, pattern);
        }
    }
    free(pattern);
    return status;
}

cu_result dr_set_run(const dr_set *s)
{
    if (!s->width || !s->height)
        return CUABI_SUCCESS;
    bool held = dr_spying && dr_spy_hold();
    if (!s->owner->concurrent)
        pthread_mutex_lock(&s->owner->lock);
    pxb_status status = set_rows(s);
    if (!s->owner->concurrent)
        pthread_mutex_unlock(&s->owner->lock);
    dr_spy_release(held);
    return dr_fail_pxb(dr_thread_errors(), status, "memset");
}

cu_result dr_set_describe(dr_context *c, cu_address to, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height, dr_set *out)
{
    dr_range range;
    bool known = dr_range_find(to, &range);
    *out = (dr_set){.owner = known ? range.device : c->device, .address = to, .pitch = pitch, .width = width, .height = height,
                    .value = value, .element = element, .plain = known && (range.kind == DR_MEMORY_REGISTERED || range.kind == DR_MEMORY_MAPPED)};
    if (!width || !height)
        return CUABI_SUCCESS;
    if (!to || to % element || (element != 1 && element != 2 && element != 4) || width > UINT64_MAX / element ||
        (height > 1 && pitch < width * element))
        return DR_ERROR(INVALID_VALUE);
    if (!known)
        return CUABI_SUCCESS;
    uint64_t room = range.bytes - (to - range.base), bytes = width * element;
    if (range.hidden || range.read_only || (height > 1 && pitch > room / (height - 1)) || (height - 1) * pitch > room || bytes > room - (height - 1) * pitch)
        return dr_fail(DR_ERROR(INVALID_VALUE), "a set of %zu x %zu elements does not stay inside one allocation", width, height);
    return CUABI_SUCCESS;
}

static cu_result submit(cu_address to, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height, cu_stream handle, bool wait)
{
    DR_USE(c);
    dr_work work = {.kind = DR_WORK_SET};
    dr_stream *stream;
    cu_result result = dr_stream_of(c, handle, &stream);
    if (!result)
        result = dr_set_describe(c, to, pitch, value, element, width, height, &work.of.set);
    if (result)
        return result;
    if (!wait || dr_stream_captured(stream))
        return dr_stream_submit(stream, &work, NULL, NULL);
    result = dr_capture_forbids(c);
    return result ? result : dr_stream_do(stream, &work);
}

/* The three sizes of an element, in one and two dimensions, waiting and not. */
#define SETS(bits, type)                                                                                               \
    cu_result impl_cuMemsetD##bits##_v2(cu_address to, type value, size_t count)                                       \
    {                                                                                                                  \
        return submit(to, 0, value, bits / 8, count, 1, NULL, true);                                                   \
    }                                                                                                                  \
    cu_result impl_cuMemsetD##bits##Async(cu_address to, type value, size_t count, cu_stream stream)                   \
    {                                                                                                                  \
        return submit(to, 0, value, bits / 8, count, 1, stream, false);                                                \
    }                                                                                                                  \
    cu_result impl_cuMemsetD2D##bits##_v2(cu_address to, size_t pitch, type value, size_t width, size_t height)        \
    {                                                                                                                  \
        return submit(to, pitch, value, bits / 8, width, height, NULL, true);                                          \
    }                                                                                                                  \
    cu_result impl_cuMemsetD2D##bits##Async(cu_address to, size_t pitch, type value, size_t width, size_t height,      \
                                            cu_stream stream)                                                          \
    {                                                                                                                  \
        return submit(to, pitch, value, bits / 8, width, height, stream, false);                                       \
    }
SETS(8, uint8_t)
SETS(16, uint16_t)
SETS(32, uint32_t)
