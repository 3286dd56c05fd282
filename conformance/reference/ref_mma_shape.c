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
    static const char *const names[] = {"e4m3", "e5m2", "f16", "bf16", "tf32", "f32", "f64", "u8", "s8", "u4", "s4", "b1", "s32"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (take(at, names[i])) {
            *out = (ref_mma_type)i;
            return true;
        }
    return false;
}

bool ref_mma_shape_of(const char *meaning, ref_mma_shape *out)
{
    int used = 0;
    const char *at = meaning;
    ref_mma_shape s = {0};
    if (sscanf(meaning, "mma_m%dn%dk%d_%n", &s.m, &s.n, &s.k, &used) != 3 || used == 0)
        return false;
    at += used;
    if (s.m == 8 && s.k == 4 && (take(&at, "row") || (s.a_column = take(&at, "col"))))
        if (!(s.b_row = take(&at, "row")) && !take(&at, "col"))
            return false;
    if ((s.and_popc = take(&at, "and")) || take(&at, "xor"))
        if (!take(&at, "popc"))
            return false;
    s.satfinite = take(&at, "satfinite");
    if (!take_type(&at, &s.d) || !take_type(&at, &s.a) || !take_type(&at, &s.b) || !take_type(&at, &s.c) || *at)
        return false;
    *out = s;
    return true;
}
