/* case_heap.c - buffers of a case that lie in the heap of kernels' malloc, as blocks that kernels may free.
 *
 * Only kernels get and reach such memory on every device (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation": not by copies of
 * the host), so small kernels of our own do it here as well. Blocks are asked for anew before each run of the launches, for these may free them.
 */
#include "runtime/case_live.h"

#include <stdlib.h>
#include <string.h>

static const char text[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".extern .func (.param .b64 block) malloc (.param .b64 bytes);\n"
    ".visible .entry take(.param .u64 bytes, .param .u64 out)\n{\n"
    " .reg .b64 %d<4>;\n"
    " ld.param.u64 %d1, [bytes]; ld.param.u64 %d2, [out];\n"
    " {\n .param .b64 size; .param .b64 block; st.param.b64 [size], %d1; call.uni (block), malloc, (size); ld.param.b64 %d3, [block];\n }\n"
    " st.global.u64 [%d2], %d3;\n ret;\n}\n"
    ".extern .func free(.param .b64 block);\n"
    ".visible .entry give(.param .u64 block)\n{\n"
    " .reg .b64 %d<2>;\n"
    " ld.param.u64 %d1, [block];\n"
    " {\n .param .b64 old; st.param.b64 [old], %d1; call.uni free, (old);\n }\n ret;\n}\n"
    ".visible .entry copy(.param .u64 to, .param .u64 from, .param .u64 bytes)\n{\n"
    " .reg .b64 %d<9>; .reg .b32 %r<2>; .reg .pred %p;\n"
    " ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u64 %d3, [bytes]; mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 16;\n"
    "L: setp.ge.u64 %p, %d4, %d3;\n @%p ret;\n add.u64 %d5, %d2, %d4; ld.v2.u64 {%d6, %d7}, [%d5]; add.u64 %d8, %d1, %d4; st.v2.u64 [%d8], {%d6, %d7};\n"
    " add.u64 %d4, %d4, 4096; bra L;\n}\n";

typedef struct case_heap {
    pxb_module *module;
    pxb_kernel *take, *give, *copy;
    pxb_address staging;           /* as large as the largest block, and an address */
} case_heap;

/* Blocks are whole pieces of 16 bytes, which malloc's are aligned to, so that they are copied in such. */
static uint64_t block_bytes(size_t bytes)
{
    return bytes ? ((uint64_t)bytes + 15) & ~UINT64_C(15) : 16;
}

static pxb_status open_heap(case_live *r, size_t largest)
{
    case_heap *h = r->heap = calloc(1, sizeof *h);
    if (!h)
        return rt_no_memory(r->ctx);
    pxb_status status = pxb_module_load_text(r->ctx, text, sizeof text - 1, "heap.ptx", &h->module);
    if (!status)
        status = pxb_kernel_get(r->device, h->module, "take", &h->take);
    if (!status)
        status = pxb_kernel_get(r->device, h->module, "give", &h->give);
    if (!status)
        status = pxb_kernel_get(r->device, h->module, "copy", &h->copy);
    return status ? status : pxb_memory_alloc(r->device, largest, &h->staging);
}

void case_heap_free(case_live *r)
{
    if (!r->heap)
        return;
    if (r->heap->staging)
        pxb_memory_free(r->device, r->heap->staging);
    pxb_module_free(r->heap->module);
    free(r->heap);
    r->heap = NULL;
}

/* The block of the last run, where the device can tell that the kernels did not free it: runs that are repeated do not fill the heap. */
static pxb_status give_block(case_live *r, const case_resident *x)
{
    const rt_device_ops *ops = r->device->ops;
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    const void *params[] = {&x->address};
    pxb_address base;
    uint64_t bytes;
    if (!x->address || !ops->heap_block || !ops->heap_block(r->device, x->address, &base, &bytes) || base != x->address)
        return PXB_OK;
    return pxb_launch(r->heap->give, &o, params, 1);
}

static pxb_status take_block(case_live *r, case_resident *x)
{
    case_heap *h = r->heap;
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    uint64_t bytes = block_bytes(x->initial.bytes);
    const void *params[] = {&bytes, &h->staging};
    pxb_status status = pxb_launch(h->take, &o, params, 2);
    if (!status)
        status = pxb_memory_read(r->device, &x->address, h->staging, sizeof x->address);
    if (!status && !x->address)
        status = rt_fail(r->ctx, PXB_OUT_OF_MEMORY, "buffer \"%.80s\": the heap of kernels' malloc has no room for %zu bytes", x->array->name,
                         x->initial.bytes);
    return status;
}

static pxb_status copy(case_live *r, pxb_address to, pxb_address from, size_t size)
{
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    uint64_t bytes = block_bytes(size);
    const void *params[] = {&to, &from, &bytes};
    o.block[0] = 256;
    return pxb_launch(r->heap->copy, &o, params, 3);
}

pxb_status case_heap_make(case_live *r)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < r->nresidents; i++)
        if (r->residents[i].array->heap && block_bytes(r->residents[i].initial.bytes) > largest)
            largest = block_bytes(r->residents[i].initial.bytes);
    pxb_status status = largest && !r->heap ? open_heap(r, largest) : PXB_OK;
    for (uint32_t i = 0; i < r->nresidents && !status; i++)
        if (r->residents[i].array->heap)
            status = give_block(r, &r->residents[i]);
    for (uint32_t i = 0; i < r->nresidents && !status; i++)
        if (r->residents[i].array->heap)
            status = take_block(r, &r->residents[i]);
    return status;
}

pxb_status case_heap_write(case_live *r, pxb_address to, const void *from, size_t bytes)
{
    pxb_status status = pxb_memory_write(r->device, r->heap->staging, from, bytes);
    return status ? status : copy(r, to, r->heap->staging, bytes);
}

pxb_status case_heap_read(case_live *r, void *to, pxb_address from, size_t bytes)
{
    pxb_status status = copy(r, r->heap->staging, from, bytes);
    return status ? status : pxb_memory_read(r->device, to, r->heap->staging, bytes);
}
