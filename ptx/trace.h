/* trace.h - what a trace records of an instruction: the registers that it writes, under a number of its own.
 *
 * Every device that traces writes the same RECORD for the same instruction, so that streams of two devices can be
 * compared word by word: a head, number | words after it << 24, then each register that the instruction writes, in the order
 * in which its operands are written: one word for a predicate or up to 32 bits (zero-extended from the register's
 * width), two for 64 bits, four for 128, low words first. Sinks are left out and a register named twice stands once.
 * Instructions that write no register have no record; neither have calls, whose results are written by the callee,
 * nor instructions whose guard is false.
 */
#ifndef PTX_TRACE_H
#define PTX_TRACE_H

#include "ptx/module.h"

enum { PTX_TRACE_NUMBER_BITS = 24, PTX_TRACE_MAX_WORDS = 1 + 4 * ISA_MAX_ELEMS };

/* The buffer in which code for a GPU records (byte offsets of u32 words, but for the first). Parts of threads follow each
 * other in the order of blocks, then threads; all of a launch lie below 2 GiB. A part begins with the records that its
 * thread has executed and the offset of its next record, written when the thread ends; then come records. */
enum {
    PTX_TRACE_FIRST_BLOCK = 0,     /* u64: linear number of the first traced block */
    PTX_TRACE_BLOCKS = 8,          /* traced blocks */
    PTX_TRACE_BEGIN = 12,          /* records of each thread that are passed over */
    PTX_TRACE_STRIDE = 16,         /* bytes from part to part */
    PTX_TRACE_CAPACITY = 20,       /* bytes of a part after which no further record begins */
    PTX_TRACE_ASIDE = 64,          /* where records go that are not kept */
    PTX_TRACE_PARTS = 1024,        /* the first part */
    PTX_TRACE_PART_HEAD = 8
};

/* Registers that the instruction writes and that a record holds; returns their number. */
uint32_t ptx_written(const ptx_insn *insn, uint32_t registers[ISA_MAX_ELEMS]);
/* Registers that it reads: guard, sources, addresses, arguments; each once. At most `room` are given. */
uint32_t ptx_read(const ptx_insn *insn, uint32_t *registers, uint32_t room);

/* Words that a register takes in a record. */
uint32_t ptx_trace_words(const ptx_function *f, uint32_t reg);
/* Words of the instruction's record with its head; 0 when it has none. */
uint32_t ptx_record_words(const ptx_function *f, const ptx_insn *insn);

/* Instructions are numbered from 1 through the functions of a module in their order. 0: the module is too large. */
uint32_t ptx_insn_number(const ptx_module *module, const ptx_function *f, uint32_t index);
/* The reverse; NULL when there is no such number. */
const ptx_insn *ptx_insn_numbered(const ptx_module *module, uint32_t number, const ptx_function **f);

#endif
