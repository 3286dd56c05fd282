/* comparison.h - two records of a case side by side. */
#ifndef RUNTIME_COMPARISON_H
#define RUNTIME_COMPARISON_H

#include "runtime/record.h"
#include "runtime/trace.h"

/* What counts as equal. */
typedef enum rt_equality { RT_EQUAL_BITS, RT_EQUAL_CASE, RT_EQUAL_ULP } rt_equality;

typedef struct rt_compared {
    case_array_kind kind;
    const char *name;
    rt_array a, b;                 /* NULL data when `problem` is set */
    rt_format format;
    rt_tolerance tolerance;
    const char *tolerance_text;
    rt_statistics statistics;
    bool equal;                    /* within the tolerance */
    bool changed;                  /* on a side, or on both; else it is as it was before the launches */
    const char *problem;           /* why it was not compared, or NULL */
} rt_compared;

typedef struct rt_comparison {
    rt_pool pool;
    const rt_record_case *sides[2];
    bool ran;                      /* both sides have results; else their texts say why not */
    bool comparable;               /* the same inputs went in */
    bool equal;                    /* all of it, within the tolerance */
    bool same_end;                 /* both ended, or stopped by the same fault */
    bool same_printed;             /* the same lines, in any order */
    bool same_printed_order;
    uint32_t noutputs;
    rt_compared *outputs;
    uint32_t nnotes;
    const char *notes[8];          /* what a reader should know: another model, another PTX */
    bool traced;                   /* `finding` is there */
    rt_finding *finding;
    const ptx_module *module;      /* that the finding is about */
    const char *trace_problem;     /* why there is no finding though one was asked for, or NULL */
} rt_comparison;

/* `ulp`: for RT_EQUAL_ULP. The records must outlive *out, which is always to be freed. */
pxb_status rt_compare_records(pxb_context *ctx, const case_file *file, const rt_record_case *a, const rt_record_case *b,
                              rt_equality equality, uint64_t ulp, rt_comparison *out);
void rt_comparison_free(rt_comparison *c);

#endif
