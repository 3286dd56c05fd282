/* compare.h - what the parts of `ptxbridge compare` share. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "cli/cli.h"
#include "runtime/comparison.h"

/* One case of the command line. */
typedef struct compared_case {
    const char *title;             /* as it was given */
    const char *entries;
    const char *problem;           /* why nothing was compared, or NULL; then the rest is empty */
    case_file *file;
    rt_comparison comparison;      /* of records that live in the command */
    const char *sources[2];        /* file that a side was recorded in, NULL when it ran */
    rt_trace_keep *keep;           /* of the trace */
} compared_case;

typedef struct comparison_report {
    const char *tolerance;         /* "equal bits", "as the cases say", "4 ulp" */
    bool trace;
    bool equal;
    uint32_t ncases;
    compared_case *cases;
} comparison_report;

/* "12" or "NaN" for a NaN against a number. */
const char *ulp_text(uint64_t ulp, bool nan, char *buffer, size_t size);
/* "2-3", "16-31": the distances of bin i. */
const char *bin_text(uint32_t bin, char *buffer, size_t size);
/* "a.ptx:12" of an instruction, and the instruction as it stands there. */
const char *place_text(const rt_comparison *c, int side, char *buffer, size_t size);
const char *insn_text(const rt_comparison *c, int side, char *buffer, size_t size);

void print_comparison(const compared_case *c, const comparison_report *r);                 /* compare_text.c */
json_t *json_of_comparison(const comparison_report *r);                                    /* compare_json.c */
pxb_status write_html(pxb_context *ctx, const char *path, const comparison_report *r);      /* compare_html.c */

/* compare_map.c: a picture of where an output differs, as a "data:" URL; *out is NULL for one that is no picture
 * (fewer than two dimensions). *width and *height are those of the picture, *scale the elements of an edge of a dot. */
pxb_status difference_map(pxb_context *ctx, const rt_compared *o, char **out, uint32_t *width, uint32_t *height,
                          uint32_t *scale);
/* Colours of the map: "#rrggbb" of elements at a distance of 2^bin and more; bin RT_BINS is a NaN, -1 equal. */
const char *map_color(int bin, char buffer[8]);

#endif
