/* trace_cause.c - the class of cause that a difference falls into, and values as text.
 *
 * The class is read from the instruction and the values; it says where to look, and unknown when neither says anything.
 * A wrong lowering is unknown by nature.
 */
#include "runtime/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct { const char *name, *text; } causes[RT_CAUSE_COUNT] = {
    [RT_CAUSE_UNKNOWN] = {"unknown", "unknown: the two devices compute this instruction differently"},
    [RT_CAUSE_MMA_MODEL] = {"mma-model", "mma model: the two sides round matrix products as different tensor cores do"},
    [RT_CAUSE_APPROXIMATE] = {"approximate-function", "approximate function: the ISA bounds its error, and leaves the last bits open"},
    [RT_CAUSE_FLUSH] = {"flush", "flush: one side keeps a subnormal number where the other has zero"},
    [RT_CAUSE_CONTRACTION] = {"fma-contraction", "fma contraction: without a rounding modifier a product and a sum may be rounded once or twice"},
    [RT_CAUSE_TEXTURE] = {"texture-weight", "texture weight: filtering hardware has its own fixed-point weights"},
    [RT_CAUSE_ATOMICS] = {"order-of-atomics", "order of atomics: threads came to the same address in another order"},
    [RT_CAUSE_MEMORY] = {"memory", "memory: the address holds other values; another thread, an atomic operation or an earlier launch wrote them"},
    [RT_CAUSE_DEVICE] = {"device-value", "device value: a special register, or a set of lanes, that the device chooses"},
};

const char *rt_cause_name(rt_cause cause)
{
    return (unsigned)cause < RT_CAUSE_COUNT ? causes[cause].name : "unknown";
}

const char *rt_cause_text(rt_cause cause)
{
    return (unsigned)cause < RT_CAUSE_COUNT ? causes[cause].text : "unknown";
}

/* ------------------------------------------------------------ the class */

static bool is_subnormal(ptx_type type, uint64_t bits)
{
    switch (type) {
    case PTX_TYPE_F32: return (bits & 0x7f800000) == 0 && (bits & 0x7fffff);
    case PTX_TYPE_F16: return (bits & 0x7c00) == 0 && (bits & 0x3ff);
    case PTX_TYPE_BF16: return (bits & 0x7f80) == 0 && (bits & 0x7f);
    case PTX_TYPE_F64: return (bits & 0x7ff0000000000000) == 0 && (bits & 0xfffffffffffff);
    default: return false;
    }
}

static bool is_zero(ptx_type type, uint64_t bits)
{
    uint32_t n = ptx_type_bits(type);
    return n >= 2 && n <= 64 && (bits & (((uint64_t)1 << (n - 1)) - 1)) == 0;
}

static uint64_t bits_of(const rt_trace_value *v, int side)
{
    return v->nwords > 1 ? v->words[side][0] | (uint64_t)v->words[side][1] << 32 : v->words[side][0];
}

/* The type in which the instruction computes: registers are often .b32 where it says .f32. */
static ptx_type computed_type(const ptx_insn *insn, const rt_trace_value *v)
{
    if (ptx_type_class(v->type) == 'f')
        return v->type;
    for (uint32_t g = 0; g < insn->form->ngroups; g++) {
        uint32_t c = insn->tuple.choice[g];
        ptx_type t = c ? (ptx_type)insn->form->groups[g].types[c - 1] : PTX_TYPE_NONE;
        if (t != PTX_TYPE_NONE && ptx_type_class(t) == 'f' && ptx_type_bits(t) == ptx_type_bits(v->type))
            return t;
    }
    return v->type;
}

static bool is_flush(const rt_finding *f)
{
    const ptx_insn *insn = f->insn[0];
    for (uint32_t i = 0; i < f->nresults; i++) {
        const rt_trace_value *v = &f->results[i];
        ptx_type type = computed_type(insn, v);
        uint64_t a = bits_of(v, 0), b = bits_of(v, 1);
        if (v->differs && ((is_subnormal(type, a) && is_zero(type, b)) || (is_zero(type, a) && is_subnormal(type, b))))
            return true;
    }
    for (uint32_t i = 0; i < f->noperands; i++) {
        const rt_trace_value *v = &f->operands[i];
        if (v->known[0] && is_subnormal(computed_type(insn, v), bits_of(v, 0)) && isa_choice(insn->form, &insn->tuple, "ftz"))
            return true;
    }
    return false;
}

static bool is_float_sum(const ptx_insn *insn)
{
    const char *m = insn->form->mnemonic;
    bool sum = strcmp(m, "add") == 0 || strcmp(m, "sub") == 0 || strcmp(m, "mad") == 0;
    return sum && strcmp(insn->form->family, "int") != 0 && !isa_choice(insn->form, &insn->tuple, "rnd");
}

static bool is_approximate(const ptx_insn *insn)
{
    const char *name = insn->meaning ? isa_meaning_names[insn->meaning] : "";
    return strstr(name, "_approx") || strstr(name, "div_full");
}

static bool reads_special(const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        for (uint32_t v = 0; v < insn->operands[i].nvalues; v++)
            if (insn->operands[i].values[v].kind == PTX_VALUE_SPECIAL)
                return true;
    return false;
}

static bool reads_memory(const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == ISA_OPERAND_ADDRESS)
            return true;
    return false;
}

static bool has_atomics(const ptx_function *f)
{
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const char *op = f->insns[i].operation;
        if (op && (strcmp(op, "atom") == 0 || strcmp(op, "red") == 0))
            return true;
    }
    return false;
}

/* Operands that differ without excuse were found before; those that are left are addresses. */
void rt_trace_judge(rt_finding *f, const rt_trace_side sides[2])
{
    const ptx_insn *insn = f->insn[0];
    if (f->kind != RT_FOUND_RESULT || !insn)
        return;
    bool fast = sides[0].mma_fast || sides[1].mma_fast;
    bool models_differ = fast || (sides[0].has_model && sides[1].has_model && sides[0].model != sides[1].model);
    const char *op = insn->operation ? insn->operation : "";
    if (strcmp(insn->form->family, "mma") == 0 && !insn->operation) {
        f->cause = models_differ ? RT_CAUSE_MMA_MODEL : RT_CAUSE_UNKNOWN;
        f->note = fast ? "matrix cores of an AMD device (--mma fast)" : models_differ ? "" : "both sides compute with the same mma model";
    } else if (strcmp(op, "atom") == 0 || strcmp(op, "mbarrier") == 0) {
        f->cause = RT_CAUSE_ATOMICS;
    } else if (strcmp(insn->form->family, "texture") == 0) {
        f->cause = RT_CAUSE_TEXTURE;
    } else if (is_approximate(insn)) {
        f->cause = RT_CAUSE_APPROXIMATE;
    } else if (is_flush(f)) {
        f->cause = RT_CAUSE_FLUSH;
    } else if (is_float_sum(insn)) {
        f->cause = RT_CAUSE_CONTRACTION;
    } else if (reads_memory(insn)) {
        f->cause = RT_CAUSE_MEMORY;
        f->note = has_atomics(f->function[0]) ? "the kernel has atomic operations, whose order may be behind it" : "";
    } else if ((reads_special(insn) && strcmp(insn->form->mnemonic, "mov") == 0) || strcmp(insn->form->mnemonic, "activemask") == 0) {
        f->cause = RT_CAUSE_DEVICE;
    }
}

/* ------------------------------------------------------------ values */

static double f32_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

const char *rt_trace_text(const rt_trace_value *v, int side, char *buffer, size_t size)
{
    uint64_t bits = bits_of(v, side);
    const uint32_t *w = v->words[side];
    double d;
    if (!v->known[side]) {
        snprintf(buffer, size, "-");
        return buffer;
    }
    switch (v->type) {
    case PTX_TYPE_PRED: snprintf(buffer, size, "%s", bits ? "true" : "false"); return buffer;
    case PTX_TYPE_F32:
    case PTX_TYPE_TF32: snprintf(buffer, size, "%.9g (0x%08" PRIx32 ")", f32_of(w[0]), w[0]); return buffer;
    case PTX_TYPE_F64:
        memcpy(&d, &bits, sizeof d);
        snprintf(buffer, size, "%.17g (0x%016" PRIx64 ")", d, bits);
        return buffer;
    case PTX_TYPE_F16: snprintf(buffer, size, "%.6g (0x%04x)", rt_f16_to_f64((uint16_t)bits), (unsigned)bits); return buffer;
    case PTX_TYPE_BF16: snprintf(buffer, size, "%.6g (0x%04x)", f32_of(w[0] << 16), (unsigned)bits); return buffer;
    case PTX_TYPE_F16X2:
        snprintf(buffer, size, "{%.6g, %.6g} (0x%08" PRIx32 ")", rt_f16_to_f64((uint16_t)w[0]),
                 rt_f16_to_f64((uint16_t)(w[0] >> 16)), w[0]);
        return buffer;
    case PTX_TYPE_BF16X2:
        snprintf(buffer, size, "{%.6g, %.6g} (0x%08" PRIx32 ")", f32_of(w[0] << 16), f32_of(w[0] & 0xffff0000), w[0]);
        return buffer;
    default: break;
    }
    uint32_t n = ptx_type_bits(v->type);
    if (n > 64)
        snprintf(buffer, size, "0x%08" PRIx32 "%08" PRIx32 "%08" PRIx32 "%08" PRIx32, w[3], w[2], w[1], w[0]);
    else if (ptx_type_class(v->type) == 's' && n >= 8)
        snprintf(buffer, size, "%" PRId64 " (0x%0*" PRIx64 ")", (int64_t)(bits << (64 - n)) >> (64 - n), (int)n / 4, bits);
    else if (ptx_type_class(v->type) == 'u' && n >= 8)
        snprintf(buffer, size, "%" PRIu64 " (0x%0*" PRIx64 ")", bits, (int)n / 4, bits);
    else
        snprintf(buffer, size, "0x%0*" PRIx64, n < 4 ? 1 : (int)n / 4, bits);
    return buffer;
}
