/* compare_statistics.c - median and histogram of the distances between two arrays. */
#include "runtime/compare.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void count(rt_statistics *s, uint64_t distance)
{
    if (rt_is_nan_distance(&s->difference, distance)) {
        s->nan++;
    } else if (distance == 0) {
        s->bits_only++;
    } else {
        uint32_t bin = 63 - (uint32_t)__builtin_clzll(distance);
        s->bins[bin]++;
        if (bin >= s->nbins)
            s->nbins = bin + 1;
    }
}

pxb_status rt_compare_statistics(pxb_context *ctx, const rt_array *got, const rt_array *want, rt_format format,
                                 const rt_tolerance *tolerance, rt_statistics *out)
{
    memset(out, 0, sizeof *out);
    rt_compare(got, want, format, tolerance, &out->difference);
    uint64_t n = out->difference.differing, k = 0;
    if (n == 0)
        return PXB_OK;
    uint64_t *distances = malloc((size_t)n * sizeof *distances);
    if (!distances)
        return rt_no_memory(ctx);
    for (uint64_t i = 0; i < got->count && k < n; i++)
        if (rt_array_bits(got, i) != rt_array_bits(want, i)) {
            distances[k] = rt_distance(got, want, i, format);
            count(out, distances[k++]);
        }
    qsort(distances, (size_t)n, sizeof *distances, by_number);
    /* Of an even number the mean of the two in the middle, rounded down; a NaN in the middle stays one. */
    uint64_t a = distances[(n - 1) / 2], b = distances[n / 2];
    out->median_ulp = rt_is_nan_distance(&out->difference, b) ? b : a + (b - a) / 2;
    free(distances);
    return PXB_OK;
}
