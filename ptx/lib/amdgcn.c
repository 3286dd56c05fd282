/* amdgcn.c - functions that the translator calls by name on AMD targets, beside the meanings:
 * lane primitives, and the functions that a CUDA program leaves for the system to supply
 * (vprintf, malloc, free; CUDA C++ Programming Guide, "Formatted Output" and "Dynamic
 * Global Memory Allocation").
 *
 * The host gives them memory through two 8-byte globals that it sets by name before a
 * launch: pxb_printf_buffer and pxb_heap. While a global is null, vprintf returns 0 and
 * malloc returns NULL, as CUDA does when its buffer or heap is used up.
 */
#if defined(__AMDGCN__)

#include "ptx/lib/lane.h"
#include "ptx/lib/mbarrier.h"
#include "ptx/lib/wmma_layout.h"

#define PXL_EXPORT __attribute__((visibility("hidden")))
#define GLOBAL __attribute__((address_space(1)))

PXL_EXPORT uint32_t pxl_lane_id(void) { return lane_id(); }
PXL_EXPORT uint32_t pxl_lane_read(uint32_t x, uint32_t from) { return lane_read(x, from); }
PXL_EXPORT uint32_t pxl_lane_ballot(bool p) { return lane_ballot(p); }

/* ------------------------------------------------------------ vprintf
 *
 * Buffer: u64 capacity in bytes, u64 bytes used, then records of u64 words:
 * [words in the record] [address of the format] [one word per conversion].
 */
typedef struct { uint64_t capacity, used; uint64_t words[]; } pxl_print_buffer;
GLOBAL uint64_t pxb_printf_buffer __attribute__((visibility("protected")));

/* One conversion at f (just after `%`): its size in the argument list, 0 for `%%`; *end is after it. */
static uint32_t conversion_size(const char *f, const char **end)
{
    uint32_t longs = 0;
    for (;; f++) {
        char c = *f;
        if (c == 'l' || c == 'j' || c == 'z' || c == 't') { longs++; continue; }
        if (c == 'h' || c == '-' || c == '+' || c == ' ' || c == '#' || c == '.' || (c >= '0' && c <= '9')) continue;
        *end = c ? f + 1 : f;
        switch (c) {
        case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': case 'c': return longs ? 8 : 4;
        case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A': case 's': case 'p': return 8;
        default: return 0;
        }
    }
}

static uint32_t count_conversions(const char *f)
{
    uint32_t n = 0;
    while (*f)
        if (*f++ == '%') {
            const char *end;
            if (conversion_size(f, &end)) n++;
            f = end;
        }
    return n;
}

static uint64_t load_argument(const char *at, uint32_t size) { return size == 8 ? *(const uint64_t *)at : *(const uint32_t *)at; }

PXL_EXPORT __attribute__((noinline)) uint32_t pxl_vprintf(const char *format, const char *arguments)
{
    GLOBAL pxl_print_buffer *buffer = (GLOBAL pxl_print_buffer *)pxb_printf_buffer;
    if (!buffer) return 0;
    uint32_t n = count_conversions(format);
    uint64_t bytes = (uint64_t)(n + 2) * 8;
    uint64_t at = __scoped_atomic_fetch_add(&buffer->used, bytes, __ATOMIC_RELAXED, __MEMORY_SCOPE_SYSTEM);
    if (at + bytes > buffer->capacity) return (uint32_t)-1;
    GLOBAL uint64_t *word = &buffer->words[at / 8];
    *word++ = n + 2;
    *word++ = (uint64_t)(uintptr_t)format;
    uint32_t offset = 0;
    while (*format)
        if (*format++ == '%') {
            uint32_t size = conversion_size(format, &format);
            if (!size) continue;
            offset = (offset + size - 1) & ~(size - 1);
            *word++ = load_argument(arguments + offset, size);
            offset += size;
        }
    return n;
}

/* ------------------------------------------------------------ malloc, free
 *
 * Heap: u64 size of what follows the header, u64 bytes handed out, one free list per
 * power of two. A block starts with its class in 16 bytes. A list's head is an offset
 * with a counter in the upper 24 bits, so that a block which left and came back between
 * a read and the exchange is noticed.
 */
typedef struct { uint64_t size, used; uint64_t free[40]; char data[]; } pxl_heap;
GLOBAL uint64_t pxb_heap __attribute__((visibility("protected")));
#define OFFSET_MASK ((1ull << 40) - 1)

static uint64_t take_free(GLOBAL pxl_heap *heap, uint32_t size_class)
{
    uint64_t head = __scoped_atomic_load_n(&heap->free[size_class], __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE);
    while (head & OFFSET_MASK) {
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
        uint64_t old = __scoped_atomic_fetch_add(&heap->used, bytes, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
        if (old + bytes > heap->size) return 0;
        at = old + 16;
        *(GLOBAL uint64_t *)(heap->data + at - 16) = size_class;
    }
    return (uint64_t)(uintptr_t)(heap->data + at);
}

PXL_EXPORT __attribute__((noinline)) void pxl_free(uint64_t address)
{
    GLOBAL pxl_heap *heap = (GLOBAL pxl_heap *)pxb_heap;
    if (!heap || !address) return;
    uint64_t at = address - (uint64_t)(uintptr_t)heap->data;
    uint64_t size_class = *(GLOBAL uint64_t *)(heap->data + at - 16);
    if (size_class >= 40) return;
    uint64_t head = __scoped_atomic_load_n(&heap->free[size_class], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    do *(volatile GLOBAL uint64_t *)(heap->data + at) = head & OFFSET_MASK;
    while (!__scoped_atomic_compare_exchange_n(&heap->free[size_class], &head, at | (head & ~OFFSET_MASK), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
}

/* ------------------------------------------------------------ counted barriers, asynchronous copies */

#define LDS __attribute__((address_space(3)))

/* cells: 16 counts of arrived threads, then 16 generations. The last to arrive starts the next generation;
 * it does so before anybody waits, because lanes of its own wave may be among those who wait. */
PXL_EXPORT __attribute__((noinline)) void pxl_named_barrier(LDS uint32_t *cells, uint32_t id, uint32_t count, bool wait)
{
    LDS uint32_t *arrived = &cells[id & 15], *generation = &cells[16 + (id & 15)];
    uint32_t before = __scoped_atomic_load_n(generation, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    uint32_t old = __scoped_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
    if (old + 1 == count) {
        __scoped_atomic_store_n(arrived, 0u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
        __scoped_atomic_fetch_add(generation, 1u, __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);
    }
    while (wait && __scoped_atomic_load_n(generation, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP) == before)
        __builtin_amdgcn_s_sleep(1);
}

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
    if (op == PXL_MBARRIER_WAIT || op == PXL_MBARRIER_WAIT_PARITY) return pxl_mbarrier_done((pxl_mbarrier_op)op, state, argument);
    while (!__scoped_atomic_compare_exchange_n(p, &state, pxl_mbarrier_next((pxl_mbarrier_op)op, state, argument), false,
                                               __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP)) {}
    return state;
}

#else
typedef int pxl_not_amdgcn;      /* a translation unit is not empty */
#endif
