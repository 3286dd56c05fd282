/* amdgcn.c - functions that the translator calls by name on AMD targets, beside the meanings:
 * lane primitives, and the functions that a CUDA program leaves for the system to supply
 * (vprintf, malloc, free; CUDA C++ Programming Guide, "Formatted Output" and "Dynamic
 * Global Memory Allocation").
 *
 * The host gives them memory through 8-byte globals that it sets by name before a
 * launch: pxb_printf_buffer, pxb_heap, pxb_fault_record, pxb_textures (layouts in fault.h) and pxb_workspace. While one is null, vprintf
 * returns 0, malloc returns NULL as CUDA does when its heap is used up, a fault is s_trap, and no handle is valid.
 */
#if defined(__AMDGCN__)

#include "ptx/lib/fault.h"
#include "ptx/lib/lane.h"
#include "ptx/lib/mbarrier.h"
#include "ptx/lib/texture.h"
#include "ptx/lib/wmma_layout.h"

#define PXL_EXPORT __attribute__((visibility("hidden")))
#define GLOBAL __attribute__((address_space(1)))

PXL_EXPORT uint32_t pxl_lane_id(void) { return lane_id(); }
PXL_EXPORT uint32_t pxl_lane_read(uint32_t x, uint32_t from) { return lane_read(x, from); }
PXL_EXPORT uint32_t pxl_lane_ballot(bool p) { return lane_ballot(p); }

/* ------------------------------------------------------------ faults */

#define HOST_SETS GLOBAL uint64_t __attribute__((visibility("protected")))
HOST_SETS pxb_fault_record;

/* Records the first fault and ends the wave. The end is inline assembly, because a builtin would tell LLVM that this never
 * returns, and blocks without an end make the control flow of divergent lanes worse. */
PXL_EXPORT __attribute__((noinline, cold)) void pxl_fault(uint32_t code, uint32_t line, uint32_t column, uint64_t detail0, uint64_t detail1, uint64_t detail2)
{
    GLOBAL pxl_fault_record *r = (GLOBAL pxl_fault_record *)pxb_fault_record;
    uint32_t free = 0;
    if (!r) __asm__ volatile("s_trap 2");
    else if (__scoped_atomic_compare_exchange_n(&r->taken, &free, 1u, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM)) {
        r->code = code;
        r->line = line;
        r->column = column;
        r->block[0] = __builtin_amdgcn_workgroup_id_x();
        r->block[1] = __builtin_amdgcn_workgroup_id_y();
        r->block[2] = __builtin_amdgcn_workgroup_id_z();
        r->thread[0] = __builtin_amdgcn_workitem_id_x();
        r->thread[1] = __builtin_amdgcn_workitem_id_y();
        r->thread[2] = __builtin_amdgcn_workitem_id_z();
        r->detail[0] = detail0;
        r->detail[1] = detail1;
        r->detail[2] = detail2;
        __scoped_atomic_thread_fence(__ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
    }
    __asm__ volatile("s_endpgm" ::: "memory");
}

/* What an indirect call needs: a null pointer, or the number of a function that cannot be run, is a fault here and not in the machine. */
PXL_EXPORT void pxl_check_call(uint64_t target, uint32_t line, uint32_t column)
{
    if (target < PXL_NO_FUNCTION) pxl_fault(PXL_FAULT_CALL, line, column, target, 0, 0);
}

/* Ends a wave that would wait for one that a fault has ended. */
PXL_EXPORT void pxl_end_after_fault(void)
{
    GLOBAL pxl_fault_record *r = (GLOBAL pxl_fault_record *)pxb_fault_record;
    if (r && __scoped_atomic_load_n(&r->taken, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM)) __asm__ volatile("s_endpgm" ::: "memory");
}

/* ------------------------------------------------------------ textures and surfaces */

HOST_SETS pxb_textures;

static bool handle_exists(uint64_t handle)
{
    const GLOBAL pxl_texture_slots *slots = (const GLOBAL pxl_texture_slots *)pxb_textures;
    if (!slots) return false;
    uint64_t offset = handle - slots->base;
    return offset < slots->count * PXL_SLOT_BYTES && offset % PXL_SLOT_BYTES == 0 && ((const GLOBAL pxl_texture *)handle)->magic == PXL_TEXTURE_MAGIC;
}

/* What a texture or surface instruction needs before its meaning may read the descriptor. */
PXL_EXPORT void pxl_check_handle(uint64_t handle, uint32_t line, uint32_t column)
{
    if (!handle_exists(handle)) pxl_fault(PXL_FAULT_HANDLE, line, column, handle, 0, 0);
}

/* What istypep may read through: the handle, or 0 when there is none. */
PXL_EXPORT uint64_t pxl_known_handle(uint64_t handle) { return handle_exists(handle) ? handle : 0; }

/* suld, sust and sured with .trap: an access outside is a fault (PTX ISA, "suld"). bytes: 0 for a texel; with its highest bit x counts
 * accesses, not bytes. */
PXL_EXPORT void pxl_check_surface(uint64_t handle, uint32_t geometry, uint32_t x, uint32_t y, uint32_t z, uint32_t bytes, uint32_t line, uint32_t column)
{
    const GLOBAL pxl_texture *t = (const GLOBAL pxl_texture *)handle;
    const uint32_t given = bytes & 0x7fffffffu, size = given ? given : pxl_texel_bytes(t->format, t->channels);
    if (!pxl_surface_contains(t, (pxl_geometry)geometry, (int64_t)(int32_t)x * (bytes >> 31 ? size : 1), y, z, size))
        pxl_fault(PXL_FAULT_SURFACE, line, column, handle, x | (uint64_t)size << 32, 0);
}

/* ------------------------------------------------------------ vprintf */

HOST_SETS pxb_printf_buffer;

/* The next argument that the format at *f asks for: its size in the argument list (4 or 8), 0 when there is no more.
 * *inside: within a conversion, whose `*` have been taken. */
static uint32_t next_argument(const char **at, bool *inside)
{
    const char *f = *at;
    uint32_t longs = 0, size = 0;
    for (;; f++) {
        char c = *f;
        if (!c) break;
        if (!*inside) {
            *inside = c == '%';
            continue;
        }
        if (c == '*') { size = 4; f++; break; }
        if (c == 'l' || c == 'j' || c == 'z' || c == 't') { longs++; continue; }
        if (c == 'h' || c == 'L' || c == '-' || c == '+' || c == ' ' || c == '#' || c == '.' || (c >= '0' && c <= '9')) continue;
        *inside = false;
        longs = longs ? 8 : 4;
        switch (c) {
        case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': size = longs; break;
        case 'c': size = 4; break;
        case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A': case 's': case 'p': size = 8; break;
        default: break;
        }
        longs = 0;
        if (size) { f++; break; }
    }
    *at = f;
    return size;
}

static uint32_t count_arguments(const char *f)
{
    bool inside = false;
    uint32_t n = 0;
    while (next_argument(&f, &inside)) n++;
    return n;
}

static uint64_t load_argument(const char *at, uint32_t size) { return size == 8 ? *(const uint64_t *)at : *(const uint32_t *)at; }

PXL_EXPORT __attribute__((noinline)) uint32_t pxl_vprintf(const char *format, const char *arguments)
{
    GLOBAL pxl_print_buffer *buffer = (GLOBAL pxl_print_buffer *)pxb_printf_buffer;
    if (!buffer) return 0;
    uint32_t n = count_arguments(format);
    uint64_t bytes = sizeof(pxl_print_record) + (uint64_t)n * 8;
    uint64_t at = __scoped_atomic_fetch_add(&buffer->used, bytes, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
    if (at + bytes > buffer->capacity) {
        if (at < buffer->capacity) buffer->words[at / 8] = 0;
        __scoped_atomic_fetch_add(&buffer->lost, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
        return (uint32_t)-1;
    }
    GLOBAL pxl_print_record *r = (GLOBAL pxl_print_record *)&buffer->words[at / 8];
    r->words = bytes / 8;
    r->format = (uint64_t)(uintptr_t)format;
    r->block[0] = __builtin_amdgcn_workgroup_id_x();
    r->block[1] = __builtin_amdgcn_workgroup_id_y();
    r->block[2] = __builtin_amdgcn_workgroup_id_z();
    uint32_t offset = 0;
    bool inside = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t size = next_argument(&format, &inside);
        offset = (offset + size - 1) & ~(size - 1);
        r->arguments[i] = load_argument(arguments + offset, size);
        offset += size;
    }
    return 0;
}

/* ------------------------------------------------------------ lanes that meet */

/* The active lanes of this warp that have the same value. */
PXL_EXPORT uint32_t pxl_lanes_alike(uint32_t value)
{
    for (;;) {
        bool same = (uint32_t)__builtin_amdgcn_readfirstlane((int)value) == value;
        uint32_t lanes = lane_ballot(same);
        if (same) return lanes;
    }
}

/* ------------------------------------------------------------ cooperative launches */

HOST_SETS pxb_workspace;

PXL_EXPORT uint64_t pxl_workspace(void) { return pxb_workspace; }

/* ------------------------------------------------------------ malloc, free */

HOST_SETS pxb_heap;
#define OFFSET_MASK ((1ull << 40) - 1)

static uint64_t take_free(GLOBAL pxl_heap *heap, uint32_t size_class)
{
    uint64_t head = __scoped_atomic_load_n(&heap->free[size_class], __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE);
    while (head & OFFSET_MASK) {
        /* The lists run through memory that a kernel may have written after its free. */
        if ((head & OFFSET_MASK) > heap->size - 16) return 0;
        uint64_t next = *(volatile GLOBAL uint64_t *)(heap->data + (head & OFFSET_MASK));
        uint64_t desired = (next & OFFSET_MASK) | ((head & ~OFFSET_MASK) + OFFSET_MASK + 1);
        if (__scoped_atomic_compare_exchange_n(&heap->free[size_class], &head, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE))
            return head & OFFSET_MASK;
    }
    return 0;
}

PXL_EXPORT __attribute__((noinline)) uint64_t pxl_malloc(uint64_t size)
{
    GLOBAL pxl_heap *heap = (GLOBAL pxl_heap *)pxb_heap;
    if (!heap || size > heap->size) return 0;
    uint32_t size_class = size <= 16 ? 4 : 64 - (uint32_t)__builtin_clzll(size - 1);
    uint64_t at = take_free(heap, size_class);
    if (!at) {
        uint64_t bytes = (1ull << size_class) + 16;
        uint64_t old = __scoped_atomic_load_n(&heap->used, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
        do
            if (bytes > heap->size - old) return 0;        /* what does not fit takes nothing */
        while (!__scoped_atomic_compare_exchange_n(&heap->used, &old, old + bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
        at = old + 16;
    }
    *(GLOBAL uint64_t *)(heap->data + at - 16) = PXL_HEAP_MAGIC | size_class;
    return (uint64_t)(uintptr_t)(heap->data + at);
}

PXL_EXPORT __attribute__((noinline)) void pxl_free(uint64_t address, uint32_t line, uint32_t column)
{
    GLOBAL pxl_heap *heap = (GLOBAL pxl_heap *)pxb_heap;
    if (!address) return;
    uint64_t at = heap ? address - (uint64_t)(uintptr_t)heap->data : 0, size_class = 0;
    if (heap && at >= 16 && at < heap->size && at % 16 == 0) {
        size_class = *(GLOBAL uint64_t *)(heap->data + at - 16) ^ PXL_HEAP_MAGIC;
        if (size_class < 40) *(GLOBAL uint64_t *)(heap->data + at - 16) = 0;
    }
    if (size_class - 4 >= 36) {
        pxl_fault(PXL_FAULT_FREE, line, column, address, 0, 0);
        return;
    }
    uint64_t head = __scoped_atomic_load_n(&heap->free[size_class], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    do *(volatile GLOBAL uint64_t *)(heap->data + at) = head & OFFSET_MASK;
    while (!__scoped_atomic_compare_exchange_n(&heap->free[size_class], &head, at | (head & ~OFFSET_MASK), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
}

/* ------------------------------------------------------------ asynchronous copies, fragments, mbarrier */

#define LDS __attribute__((address_space(3)))

/* cp.async: `size` bytes to shared memory, of which the first `source` come from global memory and the rest are zero. */
PXL_EXPORT void pxl_cp_async(LDS char *to, const GLOBAL char *from, uint32_t size, uint32_t source)
{
    typedef uint32_t word2 __attribute__((ext_vector_type(2)));
    typedef uint32_t word4 __attribute__((ext_vector_type(4)));
    if (source >= size) {
        if (size == 16) *(LDS word4 *)to = *(const GLOBAL word4 *)from;
        else if (size == 8) *(LDS word2 *)to = *(const GLOBAL word2 *)from;
        else *(LDS uint32_t *)to = *(const GLOBAL uint32_t *)from;
        return;
    }
    for (uint32_t i = 0; i < size; i++) to[i] = i < source ? from[i] : 0;
}

/* Byte offset of element i of register r of a wmma fragment in this lane; all but the stride are constants where it is called. */
PXL_EXPORT __attribute__((always_inline)) uint32_t pxl_wmma_offset(uint32_t m, uint32_t n, uint32_t k, uint32_t bits, uint32_t matrix,
                                                                   bool by_rows, uint32_t stride, uint32_t r, uint32_t i)
{
    pxl_wmma_shape shape = {(uint8_t)m, (uint8_t)n, (uint8_t)k, (uint8_t)bits, (char)matrix};
    pxl_wmma_place p = pxl_wmma_at(shape, lane_id(), r, i);
    return (by_rows ? p.row * stride + p.column : p.column * stride + p.row) * bits / 8;
}

/* mbarrier operations; gives the state before the change, or for the waits 1 or 0. */
PXL_EXPORT __attribute__((noinline)) uint64_t pxl_mbarrier(LDS uint64_t *p, uint32_t op, uint64_t argument)
{
    uint64_t state = __scoped_atomic_load_n(p, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP);
    if (op == PXL_MBARRIER_WAIT || op == PXL_MBARRIER_WAIT_PARITY) pxl_end_after_fault();
    if (op == PXL_MBARRIER_WAIT || op == PXL_MBARRIER_WAIT_PARITY) return pxl_mbarrier_done((pxl_mbarrier_op)op, state, argument);
    while (!__scoped_atomic_compare_exchange_n(p, &state, pxl_mbarrier_next((pxl_mbarrier_op)op, state, argument), false,
                                               __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP)) {}
    return state;
}

#else
typedef int pxl_not_amdgcn;      /* a translation unit is not empty */
#endif
