/* lib_width1.h - runs the width-1 text of a meaning on the host, 32 lanes as coroutines that meet in lane_read and lane_ballot.
 *
 * The handlers are those of tests/width1: elements hold one lane. All lanes make the same calls of the lane
 * primitives, as they must on a GPU. Include it in one source of a program.
 */
#ifndef LIB_WIDTH1_H
#define LIB_WIDTH1_H

#include <csetjmp>
#include <cstring>
#include <ucontext.h>
#include "lib_levels.h"

namespace lib_width1 {
/* A lane starts by setcontext, and changes places with the others by _setjmp and _longjmp, which make no system calls. */
struct lane { ucontext_t context; jmp_buf at; uint32_t value, from, result; bool done; alignas(64) char data[64 * 8]; alignas(64) char stack[64 * 1024]; };
inline lane lanes[32];
inline jmp_buf home;
inline uint32_t current;
inline lib_handler handler;
inline uint32_t offsets[64];
inline void start()
{
    handler(lanes[current].data, offsets);
    lanes[current].done = true;
    _longjmp(home, 1);
}

/* Element i of a lane lies at 8 · i. */
inline void exchange(lib_slots &s, bool in)
{
    for (uint32_t i = 0; i < s.elements; i++)
        for (uint32_t k = 0; k < 32 && s.bytes[i] != lib_slots::VALUE; k++) {
            char *one = lanes[k].data + 8 * i;
            if (s.bytes[i] != lib_slots::PREDICATE) {
                char *many = s.base + s.offset[i] + k * s.bytes[i];
                memcpy(in ? one : many, in ? many : one, s.bytes[i]);
            } else if (in) {
                *one = (char)(*s.at<uint32_t>(i) >> k & 1);
            } else {
                *s.at<uint32_t>(i) = (*s.at<uint32_t>(i) & ~(1u << k)) | (uint32_t)(*one & 1) << k;
            }
        }
}
/* Does what a width-32 handler does with the slots. */
inline void call(lib_handler h, lib_slots &s)
{
    handler = h;
    for (uint32_t i = 0; i < s.elements; i++)
        offsets[i] = s.bytes[i] == lib_slots::VALUE ? s.offset[i] : 8 * i;
    exchange(s, true);
    for (current = 0; current < 32; current++) {
        lane &l = lanes[current];
        getcontext(&l.context);
        l.done = false;
        l.context.uc_stack.ss_sp = l.stack;
        l.context.uc_stack.ss_size = sizeof l.stack;
        l.context.uc_link = nullptr;
        makecontext(&l.context, start, 0);
        if (!_setjmp(home))
            setcontext(&l.context);
    }
    while (!lanes[0].done) {
        for (lane &l : lanes)
            l.result = lanes[l.from & 31].value;
        for (current = 0; current < 32; current++)
            if (!_setjmp(home))
                _longjmp(lanes[current].at, 1);
    }
    exchange(s, false);
}
} // namespace lib_width1

extern "C" {
__attribute__((used)) inline uint32_t lane_id(void) { return lib_width1::current; }
__attribute__((used)) inline uint32_t lane_read(uint32_t x, uint32_t from)
{
    lib_width1::lane &l = lib_width1::lanes[lib_width1::current];
    l.value = x;
    l.from = from;
    if (!_setjmp(l.at))
        _longjmp(lib_width1::home, 1);
    return lib_width1::lanes[lib_width1::current].result;
}
__attribute__((used)) inline uint32_t lane_ballot(bool p)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < 32; i++)
        r |= (lane_read(p, i) & 1) << i;
    return r;
}
}

#endif
