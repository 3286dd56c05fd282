/* compare.h - how much an array differs from what was expected, in units of each format's last place. */
#ifndef RUNTIME_COMPARE_H
#define RUNTIME_COMPARE_H

#include "runtime/array.h"

/* How bits are to be read: by the array's dtype, or as a narrow float kept in u16 or u8. */
typedef enum rt_format { RT_AS_DTYPE, RT_AS_BF16, RT_AS_E4M3, RT_AS_E5M2 } rt_format;

typedef enum rt_tolerance_kind { RT_EXACT, RT_ULP, RT_ABS_REL } rt_tolerance_kind;

/* RT_EXACT: equal bits. RT_ULP: at most `ulp` representable values apart (integers: the difference); -0 equals 0, a
 * NaN equals every NaN and nothing else. RT_ABS_REL: |got - want| <= abs + rel * |want|; infinities and NaNs as before. */
typedef struct rt_tolerance {
    rt_tolerance_kind kind;
    uint64_t ulp;
    double abs, rel;
} rt_tolerance;

typedef struct rt_difference {
    uint64_t elements;
    uint64_t differing;        /* with other bits */
    uint64_t failing;          /* outside the tolerance */
    bool is_float;             /* a distance of UINT64_MAX is then a NaN against a number; among integers it is one like others */
    uint64_t max_ulp;
    double max_abs;            /* NaN when a NaN or an infinity stands against something else */
    uint64_t first;            /* first element that fails, or else that differs */
    uint64_t worst;            /* element of max_ulp */
} rt_difference;

/* The arrays have one dtype and one count. */
void rt_compare(const rt_array *got, const rt_array *want, rt_format format, const rt_tolerance *tolerance, rt_difference *out);

/* Distance of elements i in units of the last place, as for RT_ULP; 0 for bits that differ only in the sign of zero or
 * in a NaN's payload. UINT64_MAX among floats: a NaN against a number. */
uint64_t rt_distance(const rt_array *a, const rt_array *b, uint64_t i, rt_format format);

/* Whether elements are read as floats. */
bool rt_reads_floats(rt_dtype dtype, rt_format format);
static inline bool rt_is_nan_distance(const rt_difference *d, uint64_t ulp) { return d->is_float && ulp == UINT64_MAX; }

/* compare_statistics.c: how differences are spread. */
enum { RT_BINS = 64 };
typedef struct rt_statistics {
    rt_difference difference;
    uint64_t median_ulp;       /* of the differing elements */
    uint64_t bits_only;        /* differing, at distance 0 */
    uint64_t bins[RT_BINS];    /* distances from 2^i up to below 2^(i + 1) */
    uint64_t nan;              /* a NaN against a number */
    uint32_t nbins;            /* up to the last that is not empty */
} rt_statistics;
pxb_status rt_compare_statistics(pxb_context *ctx, const rt_array *got, const rt_array *want, rt_format format,
                                 const rt_tolerance *tolerance, rt_statistics *out);

/* Element i in the format, as a number. */
double rt_format_value(const rt_array *a, uint64_t i, rt_format format);
/* "[3,17]" of flat index i. */
const char *rt_index_text(const rt_array *a, uint64_t i, char *buffer, size_t size);
/* Element i as text in the format, with its bits when it is a float: "1.5 (0x3e00)". */
const char *rt_format_text(const rt_array *a, uint64_t i, rt_format format, char *buffer, size_t size);

#endif
