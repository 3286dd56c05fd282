/* trace.c - code that records what every instruction wrote (ptx/trace.h), for comparisons between devices.
 *
 * The host puts the address of a buffer into the 8-byte global pxb_trace; ptx/trace.h has its layout. Each thread of the
 * traced blocks has a part of its own, so that recording needs no atomics. A function keeps its place there in two
 * registers, the count of records so far and the offset of the next one, which go through memory around calls.
 *
 * No branches: a record that falls outside the window goes to a place that nobody reads, so the control flow and with it
 * the order of lanes is that of the program without a trace. A window ends where the part of a thread is full; the
 * host asks again from there. Since a record may begin just before the end, parts are one record longer than said.
 */
#include "ptx/trace.h"
#include "translator/plan.h"

struct xl_trace {
    LLVMValueRef buffer;                 /* the global pxb_trace */
    /* of the function being lowered */
    LLVMValueRef p_base, v_area, v_limit, v_begin, count, cursor;
    LLVMValueRef v_guard;                /* of the instruction being lowered, NULL without one; and where it is kept when the */
    LLVMValueRef guard;                  /* instruction may lead over the dispatcher (dispatch.c) */
};

static LLVMValueRef word_at(xl_emitter *x, LLVMValueRef v_offset)
{
    return l_offset(x, x->trace->p_base, l_zext(x, v_offset, 64));
}

static LLVMValueRef load_word(xl_emitter *x, LLVMValueRef v_offset)
{
    LLVMValueRef v = l_load(x, l_int(x, 32), word_at(x, v_offset));
    LLVMSetAlignment(v, 4);
    return v;
}

static void store_word(xl_emitter *x, LLVMValueRef v, LLVMValueRef v_offset)
{
    LLVMSetAlignment(l_store(x, v, word_at(x, v_offset)), 4);
}

static LLVMValueRef buffer_address(xl_emitter *x)
{
    if (!x->trace->buffer) {
        LLVMValueRef g = LLVMAddGlobalInAddressSpace(x->llvm, l_int(x, 64), "pxb_trace", AS_GLOBAL);
        LLVMSetInitializer(g, l_i64(x, 0));
        LLVMSetExternallyInitialized(g, true);
        LLVMSetVisibility(g, LLVMProtectedVisibility);
        LLVMSetAlignment(g, 8);
        x->trace->buffer = g;
    }
    return l_inttoptr(x, l_load(x, l_int(x, 64), x->trace->buffer), AS_GLOBAL);
}

/* x + nx * (y + ny * z) in 64 bits; the specials of one kind follow each other. */
static LLVMValueRef linear(xl_emitter *x, ptx_special id, ptx_special extent)
{
    LLVMValueRef v[3], v_n[2];
    for (uint32_t i = 0; i < 3; i++) v[i] = xl_special(x, (ptx_special)(id + i), 64);
    for (uint32_t i = 0; i < 2; i++) v_n[i] = xl_special(x, (ptx_special)(extent + i), 64);
    return l_add(x, v[0], l_mul(x, v_n[0], l_add(x, v[1], l_mul(x, v_n[1], v[2]))));
}

void xl_trace_enter(xl_emitter *x)
{
    if (!x->options->trace) return;
    if (!x->trace) x->trace = xl_alloc(x, sizeof *x->trace);
    struct xl_trace *t = x->trace;
    t->count = l_alloca(x, l_int(x, 32));
    t->cursor = l_alloca(x, l_int(x, 32));
    t->p_base = buffer_address(x);
    LLVMValueRef v_first = l_load(x, l_int(x, 64), l_offset_k(x, t->p_base, PTX_TRACE_FIRST_BLOCK));
    LLVMSetAlignment(v_first, 8);
    LLVMValueRef v_block = l_sub(x, linear(x, PTX_SR_CTAID_X, PTX_SR_NCTAID_X), v_first);
    LLVMValueRef v_traced = l_icmp(x, LLVMIntULT, v_block, l_zext(x, load_word(x, l_i32(x, PTX_TRACE_BLOCKS)), 64));
    LLVMValueRef v_threads = l_mul(x, l_mul(x, xl_special(x, PTX_SR_NTID_X, 32), xl_special(x, PTX_SR_NTID_Y, 32)), xl_special(x, PTX_SR_NTID_Z, 32));
    LLVMValueRef v_thread = l_add(x, l_mul(x, l_trunc(x, v_block, 32), v_threads), l_trunc(x, linear(x, PTX_SR_TID_X, PTX_SR_NTID_X), 32));
    LLVMValueRef v_part = l_add(x, l_mul(x, v_thread, load_word(x, l_i32(x, PTX_TRACE_STRIDE))), l_i32(x, PTX_TRACE_PARTS));
    LLVMValueRef v_end = l_add(x, l_add(x, v_part, l_i32(x, PTX_TRACE_PART_HEAD)), load_word(x, l_i32(x, PTX_TRACE_CAPACITY)));
    t->v_area = l_select(x, v_traced, v_part, l_i32(x, PTX_TRACE_ASIDE));
    t->v_limit = l_select(x, v_traced, v_end, l_i32(x, 0));
    t->v_begin = load_word(x, l_i32(x, PTX_TRACE_BEGIN));
    if (x->ptx->is_entry) {
        l_store(x, l_i32(x, 0), t->count);
        l_store(x, l_add(x, t->v_area, l_i32(x, PTX_TRACE_PART_HEAD)), t->cursor);
    } else {
        xl_trace_resume(x);
    }
}

void xl_trace_suspend(xl_emitter *x)
{
    if (!x->options->trace) return;
    struct xl_trace *t = x->trace;
    store_word(x, l_load(x, l_int(x, 32), t->count), t->v_area);
    store_word(x, l_load(x, l_int(x, 32), t->cursor), l_add(x, t->v_area, l_i32(x, 4)));
}

void xl_trace_resume(xl_emitter *x)
{
    if (!x->options->trace) return;
    struct xl_trace *t = x->trace;
    l_store(x, load_word(x, t->v_area), t->count);
    l_store(x, load_word(x, l_add(x, t->v_area, l_i32(x, 4))), t->cursor);
}

/* The guard's value before the instruction, which may write the guard. */
void xl_trace_before(xl_emitter *x, const ptx_insn *insn)
{
    if (!x->options->trace) return;
    x->trace->v_guard = insn->guarded && ptx_record_words(x->ptx, insn) ? xl_guard(x, insn) : NULL;
    x->trace->guard = x->trace->v_guard && x->dispatch ? xl_entry_alloca(x, l_int(x, 1)) : NULL;
    if (x->trace->guard) l_store(x, x->trace->v_guard, x->trace->guard);
}

static void store_register(xl_emitter *x, uint32_t reg, LLVMValueRef v_place, uint32_t *at)
{
    uint32_t words = ptx_trace_words(x->ptx, reg);
    LLVMValueRef v = xl_read_register(x, reg);
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(v));
    if (bits < 32) v = l_zext(x, v, 32);
    for (uint32_t i = 0; i < words; i++) {
        LLVMValueRef v_word = words == 1 ? v : l_trunc(x, i ? l_lshr(x, v, l_const(x, bits, 32 * i)) : v, 32);
        store_word(x, v_word, l_add(x, v_place, l_i32(x, *at)));
        *at += 4;
    }
}

void xl_trace_after(xl_emitter *x, const ptx_insn *insn, uint32_t index)
{
    if (!x->options->trace || !l_open(x)) return;
    struct xl_trace *t = x->trace;
    uint32_t words = ptx_record_words(x->ptx, insn), registers[ISA_MAX_ELEMS], n = ptx_written(insn, registers);
    if (!words) return;
    if (t->guard) t->v_guard = l_load(x, l_int(x, 1), t->guard);
    uint32_t number = ptx_insn_number(x->module, x->ptx, index), at = 4;
    if (!number) xl_fail(x, PTX_REASON_LIMIT, "a module of more than 16 million instructions cannot be traced");
    LLVMValueRef v_count = l_load(x, l_int(x, 32), t->count), v_cursor = l_load(x, l_int(x, 32), t->cursor);
    LLVMValueRef v_in = l_and(x, l_icmp(x, LLVMIntUGE, v_count, t->v_begin), l_icmp(x, LLVMIntULT, v_cursor, t->v_limit));
    if (t->v_guard) v_in = l_and(x, v_in, t->v_guard);
    LLVMValueRef v_place = l_select(x, v_in, v_cursor, l_i32(x, PTX_TRACE_ASIDE));
    store_word(x, l_i32(x, number | (words - 1) << PTX_TRACE_NUMBER_BITS), v_place);
    for (uint32_t i = 0; i < n; i++) store_register(x, registers[i], v_place, &at);
    l_store(x, l_add(x, v_cursor, l_select(x, v_in, l_i32(x, 4 * words), l_i32(x, 0))), t->cursor);
    l_store(x, l_add(x, v_count, t->v_guard ? l_zext(x, t->v_guard, 32) : l_i32(x, 1)), t->count);
}
