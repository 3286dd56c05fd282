/* trace.c - code that records what every instruction wrote (ptx/trace.h), for comparisons between devices.
 *
 * The host puts the address of a buffer into the 8-byte global pxb_trace; ptx/trace.h has its layout. Each thread of the
 * traced blocks has a part of its own, so that recording needs no atomics. A function keeps its place there in two
 * registers, the count of records so far and the offset of the next one, which go through memory around calls.
 *
 * A record is one piece of assembly, so that to LLVM it is one instruction that reads a few registers: as a dozen
 * instructions each, the records of a long kernel keep its passes busy for hours. It holds vector instructions alone, whose
 * dependences every AMD processor resolves itself. There are no branches: a record that falls outside the window goes to a
 * place that nobody reads, so the control flow and with it the order of lanes is that of the program without a trace. A window
 * ends where the part of a thread is full; the host asks again from there. Since a record may begin just before the end,
 * parts are one record longer than said.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "ptx/trace.h"
#include "translator/plan.h"

enum { RECORDS_TO_RENEW = 64 };

struct xl_trace {
    LLVMValueRef buffer;                 /* the global pxb_trace */
    /* of the function being lowered */
    LLVMValueRef p_base, v_area;
    LLVMValueRef base, limit, begin, count, cursor;      /* allocas */
    uint32_t records;
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
    return l_load(x, l_int(x, 64), x->trace->buffer);
}

/* x + nx * (y + ny * z) in 64 bits; the specials of one kind follow each other. */
static LLVMValueRef linear(xl_emitter *x, ptx_special id, ptx_special extent)
{
    LLVMValueRef v[3], v_n[2];
    for (uint32_t i = 0; i < 3; i++) v[i] = xl_special(x, (ptx_special)(id + i), 64);
    for (uint32_t i = 0; i < 2; i++) v_n[i] = xl_special(x, (ptx_special)(extent + i), 64);
    return l_add(x, v[0], l_mul(x, v_n[0], l_add(x, v[1], l_mul(x, v_n[1], v[2]))));
}

/* The same value, in a vector register of its own. */
static LLVMValueRef renewed(xl_emitter *x, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v), type = LLVMFunctionType(t, &t, 1, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, "", 0, "=v,0", 4, true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(x->b, type, code, &v, 1, "");
}

/* LLVM's passes look at all uses of a register for each of them, so what every record reads is renewed now and then; and the
 * scheduler gets to see no more than lies between. */
static void renew_all(xl_emitter *x)
{
    struct xl_trace *t = x->trace;
    l_store(x, renewed(x, l_load(x, l_int(x, 32), t->limit)), t->limit);
    l_store(x, renewed(x, l_load(x, l_int(x, 32), t->begin)), t->begin);
    l_store(x, renewed(x, l_load(x, l_int(x, 64), t->base)), t->base);
    LLVMValueRef v_nothing = l_i32(x, 0);
    l_intrinsic(x, "llvm.amdgcn.sched.barrier", NULL, 0, &v_nothing, 1);
}

void xl_trace_enter(xl_emitter *x)
{
    if (!x->options->trace) return;
    if (!x->trace) x->trace = xl_alloc(x, sizeof *x->trace);
    struct xl_trace *t = x->trace;
    t->count = l_alloca(x, l_int(x, 32));
    t->cursor = l_alloca(x, l_int(x, 32));
    t->base = l_alloca(x, l_int(x, 64));
    t->limit = l_alloca(x, l_int(x, 32));
    t->begin = l_alloca(x, l_int(x, 32));
    t->records = 0;
    LLVMValueRef v_base = buffer_address(x);
    t->p_base = l_inttoptr(x, v_base, AS_GLOBAL);
    LLVMValueRef v_first = l_load(x, l_int(x, 64), l_offset_k(x, t->p_base, PTX_TRACE_FIRST_BLOCK));
    LLVMSetAlignment(v_first, 8);
    LLVMValueRef v_block = l_sub(x, linear(x, PTX_SR_CTAID_X, PTX_SR_NCTAID_X), v_first);
    LLVMValueRef v_traced = l_icmp(x, LLVMIntULT, v_block, l_zext(x, load_word(x, l_i32(x, PTX_TRACE_BLOCKS)), 64));
    LLVMValueRef v_threads = l_mul(x, l_mul(x, xl_special(x, PTX_SR_NTID_X, 32), xl_special(x, PTX_SR_NTID_Y, 32)), xl_special(x, PTX_SR_NTID_Z, 32));
    LLVMValueRef v_thread = l_add(x, l_mul(x, l_trunc(x, v_block, 32), v_threads), l_trunc(x, linear(x, PTX_SR_TID_X, PTX_SR_NTID_X), 32));
    LLVMValueRef v_part = l_add(x, l_mul(x, v_thread, load_word(x, l_i32(x, PTX_TRACE_STRIDE))), l_i32(x, PTX_TRACE_PARTS));
    LLVMValueRef v_end = l_add(x, l_add(x, v_part, l_i32(x, PTX_TRACE_PART_HEAD)), load_word(x, l_i32(x, PTX_TRACE_CAPACITY)));
    t->v_area = l_select(x, v_traced, v_part, l_i32(x, PTX_TRACE_ASIDE));
    l_store(x, v_base, t->base);
    l_store(x, l_select(x, v_traced, v_end, l_i32(x, 0)), t->limit);
    l_store(x, load_word(x, l_i32(x, PTX_TRACE_BEGIN)), t->begin);
    renew_all(x);
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

/* ------------------------------------------------------------ a record */

/* Operands of the assembly: results, then what goes in. */
enum { CURSOR, COUNT, PLACE, WORD, IN, RESULTS, OLD_CURSOR = RESULTS, OLD_COUNT, LIMIT, BEGIN, BASE, DATA };

typedef struct text { char *at; size_t left; } text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t n = (size_t)vsnprintf(t->at, t->left, format, args);
    va_end(args);
    n = n < t->left ? n : t->left - 1;
    t->at += n;
    t->left -= n;
}

/* Words of the registers, low words first. */
static uint32_t take_words(xl_emitter *x, const uint32_t *registers, uint32_t n, LLVMValueRef *words)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef v = xl_read_register(x, registers[i]);
        unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(v)), count = ptx_trace_words(x->ptx, registers[i]);
        if (bits < 32) v = l_zext(x, v, 32);
        for (unsigned w = 0; w < count; w++)
            words[k++] = count == 1 ? v : l_trunc(x, w ? l_lshr(x, v, l_const(x, bits, 32 * w)) : v, 32);
    }
    return k;
}

/* place = count >= begin && guard && cursor < limit ? cursor : aside; the words go there; cursor and count move on. Conditions
 * are signs spread over a word, for all these numbers are below 2^31: a lane mask would need a scalar register, and gfx12 waits
 * between its writer and its readers; and to name VCC as overwritten costs LLVM milliseconds a time. */
static void write_record(xl_emitter *x, text *t, uint32_t head, uint32_t words, int guard)
{
    bool gfx9 = x->wave == 64, gfx10 = !strncmp(x->options->target, "gfx10", 5);
    const char *store = gfx9 || gfx10 ? "global_store_dword" : "global_store_b32";
    const char *plus = gfx9 ? "v_add_u32" : "v_add_nc_u32", *minus = gfx9 ? "v_sub_u32" : "v_sub_nc_u32";
    add(t, "%s $%d, $%d, $%d\n%s $%d, $%d, $%d\n", minus, PLACE, COUNT, BEGIN, minus, IN, CURSOR, LIMIT);
    add(t, "v_bfi_b32 $%d, $%d, 0, $%d\nv_ashrrev_i32 $%d, 31, $%d\n", IN, PLACE, IN, IN, IN);
    if (guard) add(t, "%s $%d, 0, $%d\nv_and_b32 $%d, $%d, $%d\n", minus, WORD, guard, IN, IN, WORD);
    add(t, "%s $%d, -%d, $%d\nv_and_b32 $%d, $%d, $%d\n%s $%d, %d, $%d\n", plus, PLACE, PTX_TRACE_ASIDE, CURSOR, PLACE, IN, PLACE, plus, PLACE,
        PTX_TRACE_ASIDE, PLACE);
    add(t, "v_mov_b32 $%d, 0x%x\n%s $%d, $%d, $%d\n", WORD, head, store, PLACE, WORD, BASE);
    for (uint32_t i = 0; i < words; i++) add(t, "%s $%d, $%u, $%d offset:%u\n", store, PLACE, DATA + i, BASE, 4 * (i + 1));
    add(t, "v_and_b32 $%d, 0x%x, $%d\n%s $%d, $%d, $%d\n", IN, 4 * (words + 1), IN, plus, CURSOR, IN, CURSOR);
    if (guard) add(t, "%s $%d, $%d, $%d", plus, COUNT, guard, COUNT);
    else add(t, "%s $%d, 1, $%d", plus, COUNT, COUNT);
}

static LLVMValueRef call_record(xl_emitter *x, uint32_t head, uint32_t words, bool guarded, LLVMValueRef *args, unsigned nargs)
{
    static const size_t room = 1024 + 48 * PTX_TRACE_MAX_WORDS;
    char *code = xl_alloc(x, room), *constraints = xl_alloc(x, room);
    LLVMTypeRef *types = xl_alloc(x, nargs * sizeof *types), results[RESULTS];
    text c = {constraints, room}, a = {code, room};
    for (unsigned i = 0; i < nargs; i++) types[i] = LLVMTypeOf(args[i]);
    for (unsigned i = 0; i < RESULTS; i++) results[i] = l_int(x, 32);
    add(&c, "=&v,=&v,=&v,=&v,=&v,0,1,v,v,s");
    for (unsigned i = DATA - RESULTS; i < nargs; i++) add(&c, ",v");
    write_record(x, &a, head, words, guarded ? (int)(DATA + words) : 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMStructTypeInContext(x->context, results, RESULTS, false), types, nargs, false);
    LLVMValueRef fn = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints), true, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(x->b, type, fn, args, nargs, "");
}

void xl_trace_after(xl_emitter *x, const ptx_insn *insn, uint32_t index)
{
    if (!x->options->trace || !l_open(x)) return;
    struct xl_trace *t = x->trace;
    uint32_t registers[ISA_MAX_ELEMS], n = ptx_written(insn, registers);
    if (!n) return;
    uint32_t number = ptx_insn_number(x->module, x->ptx, index);
    if (!number) xl_fail(x, PTX_REASON_LIMIT, "a module of more than 16 million instructions cannot be traced");
    LLVMTypeRef i32 = l_int(x, 32), i64 = l_int(x, 64);
    LLVMValueRef v_base = l_load(x, i64, t->base);
    LLVMValueRef args[DATA + PTX_TRACE_MAX_WORDS + 1] = {l_load(x, i32, t->cursor), l_load(x, i32, t->count), l_load(x, i32, t->limit),
                                                         l_load(x, i32, t->begin), l_intrinsic(x, "llvm.amdgcn.readfirstlane", &i64, 1, &v_base, 1)};
    uint32_t nargs = DATA - RESULTS, words = take_words(x, registers, n, args + nargs);
    nargs += words;
    if (t->v_guard) args[nargs++] = l_zext(x, t->guard ? l_load(x, l_int(x, 1), t->guard) : t->v_guard, 32);
    LLVMValueRef v = call_record(x, number | words << PTX_TRACE_NUMBER_BITS, words, t->v_guard != NULL, args, nargs);
    l_store(x, l_extract(x, v, CURSOR), t->cursor);
    l_store(x, l_extract(x, v, COUNT), t->count);
    if (++t->records % RECORDS_TO_RENEW == 0) renew_all(x);
}
