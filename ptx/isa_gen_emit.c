/* isa_gen_emit.c - part of isa_gen: the lists of meanings, and the wrappers that give every
 * meaning of ptx/lib one calling convention per width.
 *
 * Width 32 (a handler of the CPU engine): void pxl_<level>_<meaning>(char *r, const uint32_t *o);
 * element i of isa_signature() lies at r + o[i]; models and immediates are o[i] itself.
 * Width 1 (called by generated code): sources are passed by value; one destination is
 * returned; several are stored through leading pointers into the private address space, but
 * an mma, which is not inlined, returns its destinations as one vector.
 */
#include "ptx/isa_gen.h"

#include <string.h>

const char *gen_lane_type(ptx_type type)
{
    char class = ptx_type_class(type);
    switch (type) {
    case PTX_TYPE_PRED: return "L_pred";
    case PTX_TYPE_F16: return "L_f16";
    case PTX_TYPE_F32: return "L_f32";
    case PTX_TYPE_F64: return "L_f64";
    default: break;
    }
    bool is_signed = class == 's';
    switch (ptx_type_bits(type)) {
    case 16: return is_signed ? "L_s16" : "L_u16";
    case 32: return is_signed ? "L_s32" : "L_u32";
    case 64: return is_signed ? "L_s64" : "L_u64";
    default: return is_signed ? "L_s8" : "L_u8";
    }
}

static void emit_handler(FILE *f, const gen_meaning *m)
{
    fprintf(f, "PXL_DEFINE(%s) { %s(", m->name, m->name);
    for (uint32_t i = 0; i < m->nelems; i++) {
        const char *type = gen_lane_type(m->elems[i].type);
        fprintf(f, "%s", i ? ", " : "");
        switch (m->elems[i].role) {
        case ISA_ROLE_DST: fprintf(f, "PXL_AT(%s, %u)", type, i); break;
        case ISA_ROLE_SRC: fprintf(f, "PXL_AT(const %s, %u)", type, i); break;
        case ISA_ROLE_EXEC: fprintf(f, "*PXL_AT(const L_pred, %u)", i); break;
        case ISA_ROLE_MODEL: case ISA_ROLE_IMM: fprintf(f, "o[%u]", i); break;
        }
    }
    fprintf(f, "); }\n");
}

typedef struct destinations { uint32_t count; bool alike; const char *type; } destinations;

static destinations find_destinations(const gen_meaning *m)
{
    destinations d = {0, true, NULL};
    for (uint32_t i = 0; i < m->nelems; i++)
        if (m->elems[i].role == ISA_ROLE_DST) {
            const char *type = gen_lane_type(m->elems[i].type);
            d.alike &= d.count == 0 || strcmp(type, d.type) == 0;
            d.type = type;
            d.count++;
        }
    return d;
}

static void emit_scalar_parameters(FILE *f, const gen_meaning *m, bool pointers)
{
    const char *comma = "";
    for (uint32_t i = 0; pointers && i < m->nelems; i++)
        if (m->elems[i].role == ISA_ROLE_DST) {
            fprintf(f, "%sPXL_PRIVATE %s *p%u", comma, gen_lane_type(m->elems[i].type), i);
            comma = ", ";
        }
    for (uint32_t i = 0; i < m->nelems; i++) {
        if (m->elems[i].role == ISA_ROLE_DST)
            continue;
        bool number = m->elems[i].role == ISA_ROLE_MODEL || m->elems[i].role == ISA_ROLE_IMM;
        fprintf(f, "%s%s a%u", comma, number ? "uint32_t" : gen_lane_type(m->elems[i].type), i);
        comma = ", ";
    }
    if (!*comma)
        fprintf(f, "void");
}

static void emit_scalar_call(FILE *f, const gen_meaning *m)
{
    for (uint32_t i = 0; i < m->nelems; i++)
        if (m->elems[i].role == ISA_ROLE_DST)
            fprintf(f, "%s d%u; ", gen_lane_type(m->elems[i].type), i);
    fprintf(f, "%s(", m->name);
    for (uint32_t i = 0; i < m->nelems; i++) {
        static const char *const prefix[] = {
            [ISA_ROLE_DST] = "&d", [ISA_ROLE_SRC] = "&a", [ISA_ROLE_EXEC] = "a", [ISA_ROLE_MODEL] = "a", [ISA_ROLE_IMM] = "a"};
        fprintf(f, "%s%s%u", i ? ", " : "", prefix[m->elems[i].role], i);
    }
    fprintf(f, "); ");
}

static void emit_scalar(FILE *f, const gen_meaning *m)
{
    destinations d = find_destinations(m);
    bool vector = d.count > 1 && d.alike && strcmp(m->family, "mma") == 0;
    if (vector)
        fprintf(f, "PXL_WRAP PXL_RESULT(%s, %u) pxl_%s(", d.type, d.count, m->name);
    else
        fprintf(f, "PXL_WRAP %s pxl_%s(", d.count == 1 ? d.type : "void", m->name);
    emit_scalar_parameters(f, m, d.count > 1 && !vector);
    fprintf(f, ") { ");
    emit_scalar_call(f, m);
    const char *between = "";
    if (vector)
        fprintf(f, "return (PXL_RESULT(%s, %u)){", d.type, d.count);
    for (uint32_t i = 0; i < m->nelems; i++) {
        if (m->elems[i].role != ISA_ROLE_DST)
            continue;
        if (vector)
            fprintf(f, "%sd%u", between, i);
        else if (d.count == 1)
            fprintf(f, "return d%u; ", i);
        else
            fprintf(f, "*p%u = d%u; ", i, i);
        between = ", ";
    }
    fprintf(f, "%s}\n", vector ? "}; " : "");
}

/* Macros of the wrappers; the same in every header, so that one file may include several. */
static const char preamble[] =
    "#ifndef PXL_WRAPPERS\n#define PXL_WRAPPERS\n"
    "#if PXL_WIDTH == 32\n"
    "#ifndef PXL_LEVEL\n#define PXL_LEVEL generic\n#endif\n"
    "#define PXL_JOIN_(level, name) pxl_##level##_##name\n"
    "#define PXL_JOIN(level, name) PXL_JOIN_(level, name)\n"
    "#define PXL_DEFINE(name) \\\n"
    "    void PXL_JOIN(PXL_LEVEL, name)(char *r, const uint32_t *o); \\\n"
    "    void PXL_JOIN(PXL_LEVEL, name)(char *r, const uint32_t *o)\n"
    "#define PXL_AT(type, i) ((type *)(void *)(r + o[i]))\n"
    "#else\n"
    "#if defined(__AMDGCN__)\n#define PXL_PRIVATE __attribute__((address_space(5)))\n"
    "#else\n#define PXL_PRIVATE\n#endif\n"
    "#define PXL_RESULT(type, n) pxl_##type##_##n\n"
    "#define PXL_RESULTS(type) \\\n"
    "    typedef type pxl_##type##_2 __attribute__((ext_vector_type(2))); \\\n"
    "    typedef type pxl_##type##_4 __attribute__((ext_vector_type(4))); \\\n"
    "    typedef type pxl_##type##_8 __attribute__((ext_vector_type(8)));\n"
    "PXL_RESULTS(L_u32) PXL_RESULTS(L_s32) PXL_RESULTS(L_f32) PXL_RESULTS(L_f64)\n"
    "#endif\n#endif\n"
    "#if PXL_WIDTH == 1 && !defined(PXL_WRAP)\n";

static void emit_wrappers(const char *directory, const char *family, const gen_meaning *meanings, uint32_t count)
{
    char name[128];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += strcmp(meanings[i].family, family) == 0;
    if (n == 0)
        return;
    snprintf(name, sizeof name, "isa_wrap_%s.h", family);
    FILE *f = gen_open(directory, name);
    fprintf(f, "%s#define PXL_WRAP %s\n#endif\n\n#if PXL_WIDTH == 32\n", preamble,
            strcmp(family, "mma") == 0 ? "__attribute__((noinline))" : "__attribute__((always_inline))");
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(meanings[i].family, family) == 0)
            emit_handler(f, &meanings[i]);
    fprintf(f, "#else\n");
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(meanings[i].family, family) == 0)
            emit_scalar(f, &meanings[i]);
    fprintf(f, "#endif\n");
    gen_close(f, name);
}

void gen_emit_meanings(const char *directory, const gen_meaning *meanings, uint32_t count)
{
    FILE *f = gen_open(directory, "isa_meanings.inc"), *h = gen_open(directory, "isa_handlers.inc");
    for (uint32_t i = 0; i < count; i++) {
        fprintf(f, "ISA_MEANING(%u, %s)\n", i + 1, meanings[i].name);
        fprintf(h, "ISA_HANDLER(%s)\n", meanings[i].name);
    }
    gen_close(f, "isa_meanings.inc");
    gen_close(h, "isa_handlers.inc");
    for (uint32_t i = 0; i < gen_family_count(); i++)
        emit_wrappers(directory, gen_family(i), meanings, count);
}
