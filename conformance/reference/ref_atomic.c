/* ref_atomic.c - see ref_atomic.h. Floating operations are those of add, min and max: "rounds to nearest even". */
#include "ref_atomic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "reference.h"

static bool floating(const char *op, const char *type, bool shared, uint64_t old, uint64_t b, uint64_t *out)
{
    char meaning[40];
    const uint64_t src[2] = {old, b};
    snprintf(meaning, sizeof meaning, "%s%s%s_%s", op, !strcmp(op, "add") ? "_rn" : "", !strcmp(type, "f32") && !shared ? "_ftz" : "", type);
    return ref_eval(meaning, src, out);
}

bool ref_atomic(const char *op, const char *type, bool shared, uint64_t old, uint64_t b, uint64_t c, uint64_t *out)
{
    const int bits = atoi(type + 1);
    const uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1, top = 1ull << (bits - 1);
    if (!strcmp(op, "exch")) *out = b;
    else if (!strcmp(op, "cas")) *out = old == b ? c : old;
    else if (type[0] == 'f' || !strncmp(type, "bf", 2)) return floating(op, type, shared, old, b, out);
    else if (!strcmp(op, "add")) *out = (old + b) & mask;
    else if (!strcmp(op, "and")) *out = old & b;
    else if (!strcmp(op, "or")) *out = old | b;
    else if (!strcmp(op, "xor")) *out = old ^ b;
    else if (!strcmp(op, "inc")) *out = old >= b ? 0 : old + 1;
    else if (!strcmp(op, "dec")) *out = old == 0 || old > b ? b : old - 1;
    else if (!strcmp(op, "min") || !strcmp(op, "max")) {
        const uint64_t flip = type[0] == 's' ? top : 0;          /* orders signed numbers as unsigned ones */
        const bool less = (b ^ flip) < (old ^ flip);
        *out = less == (op[1] == 'i') ? b : old;
    } else
        return false;
    return true;
}
