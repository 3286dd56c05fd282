/* ref_mma_shape.c - what the name of an mma meaning says. */
#include "ref_mma.h"

#include <stdio.h>
#include <string.h>

static bool take(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0 || ((*at)[n] != '_' && (*at)[n] != 0))
        return false;
    *at += n + ((*at)[n] == '_');
    return true;
}

static bool take_type(const char **at, ref_mma_type *out)
{
    static const char *const names[] = {"e4m3", "e5m2", "f16", "bf16", "tf32", "f32", "f64", "u8", "s8", "u4", "s4", "b1", "s32", "e3m2", "e2m3", "e2m1"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (take(at, names[i])) {
            *out = (ref_mma_type)i;
            return true;
        }
    return false;
}

/* "sp_", "f8f6f4_", "mxf8f6f4_", "mxf4nvf4_" before the shape. */
static const char *take_kind(const char *at, ref_mma_shape *s, bool *fp4)
{
    s->sparse = take(&at, "sp");
    s->f8f6f4 = take(&at, "f8f6f4");
    s->scales = !s->f8f6f4 && take(&at, "mxf8f6f4") ? 1 : 0;
    *fp4 = take(&at, "mxf4nvf4");
    s->f8f6f4 |= s->scales || *fp4;
    return at;
}

static bool take_types(const char **at, ref_mma_shape *s)
{
    return take_type(at, &s->d) && take_type(at, &s->a) && take_type(at, &s->b) && take_type(at, &s->c);
}

bool ref_mma_shape_of(const char *meaning, ref_mma_shape *out)
{
    int used = 0;
    bool fp4;
    ref_mma_shape s = {0};
    if (strncmp(meaning, "mma_", 4) != 0)
        return false;
    const char *at = take_kind(meaning + 4, &s, &fp4);
    if (sscanf(at, "m%dn%dk%d_%n", &s.m, &s.n, &s.k, &used) != 3 || used == 0)
        return false;
    at += used;
    if (s.m == 8 && s.k == 4 && (take(&at, "row") || (s.a_column = take(&at, "col"))))
        if (!(s.b_row = take(&at, "row")) && !take(&at, "col"))
            return false;
    if ((s.and_popc = take(&at, "and")) || take(&at, "xor"))
        if (!take(&at, "popc"))
            return false;
    if (fp4 && !(s.scales = take(&at, "2x") ? 2 : take(&at, "4x") ? 4 : 0))
        return false;
    s.satfinite = take(&at, "satfinite");
    if (!take_types(&at, &s) || (s.scales && !take(&at, "ue8m0") && !(s.ue4m3 = take(&at, "ue4m3"))) || *at)
        return false;
    if (fp4)
        s.a = s.b = REF_E2M1X2;
    *out = s;
    return true;
}
