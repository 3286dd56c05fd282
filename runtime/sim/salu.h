/* salu.h - frames of scalar instructions: sources to a and b, the result to d, SCC. */
#ifndef SIM_SALU_H
#define SIM_SALU_H

#include "runtime/sim/internal.h"

#define SRC32(k) sim_read_s32(w, &i->operands[k])
#define SRC64(k) sim_read_s64(w, &i->operands[k])
#define PUT32(value) sim_write_s32(w, &i->operands[0], (value))
#define PUT64(value) sim_write_s64(w, &i->operands[0], (value))

/* d = value of a and b; scc is an expression of a, b, d. The _KEEP forms leave SCC. */
#define BINARY32(name, value, condition)                                                                              \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint32_t a = SRC32(1), b = SRC32(2), d = (uint32_t)(value);                                             \
        w->scc = (condition);                                                                                         \
        PUT32(d);                                                                                                     \
    }
#define BINARY32_KEEP(name, value)                                                                                    \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint32_t a = SRC32(1), b = SRC32(2);                                                                    \
        PUT32((uint32_t)(value));                                                                                     \
    }
/* 64-bit operations whose second source has 64 bits, or 32 (shifts, bit fields). */
#define BINARY64(name, value, condition)                                                                              \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint64_t a = SRC64(1), b = SRC64(2), d = (value);                                                       \
        w->scc = (condition);                                                                                         \
        PUT64(d);                                                                                                     \
    }
#define BINARY64_KEEP(name, value)                                                                                    \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint64_t a = SRC64(1), b = SRC64(2);                                                                    \
        PUT64(value);                                                                                                 \
    }
#define SHIFT64(name, value)                                                                                          \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint64_t a = SRC64(1);                                                                                  \
        const uint32_t b = SRC32(2);                                                                                  \
        const uint64_t d = (uint64_t)(value);                                                                         \
        w->scc = d != 0;                                                                                              \
        PUT64(d);                                                                                                     \
    }
#define UNARY(name, from, to, value, condition)                                                                       \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint##from##_t a = SRC##from(1);                                                                        \
        const uint##to##_t d = (uint##to##_t)(value);                                                                 \
        w->scc = (condition);                                                                                         \
        PUT##to(d);                                                                                                   \
    }
#define UNARY_KEEP(name, from, to, value)                                                                             \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint##from##_t a = SRC##from(1);                                                                        \
        PUT##to((uint##to##_t)(value));                                                                               \
    }
#define COMPARE(name, width, condition)                                                                               \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint##width##_t a = SRC##width(0), b = (uint##width##_t)SRC##width(1);                                  \
        w->scc = (condition);                                                                                         \
    }

#define SALU_ROW(name, run, ...) {name, run, SIM_CLASS_SALU, {__VA_ARGS__}, 0, 0, 0}

#endif
