/* types.c - names and sizes of PTX's element types and state spaces. */
#include "ptx/types.h"

#include <string.h>

static const struct { const char *name; uint8_t length; uint8_t bits; char class; } types[PTX_TYPE_COUNT] = {
    [PTX_TYPE_NONE] = {"none", 4, 0, 0},
#define X(e, n, b, c) [PTX_TYPE_##e] = {n, sizeof n - 1, b, c},
    PTX_TYPES(X)
#undef X
};

static const char *const spaces[] = {
    [PTX_SPACE_GENERIC] = "generic", [PTX_SPACE_REG] = "reg", [PTX_SPACE_CONST] = "const",
    [PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_LOCAL] = "local", [PTX_SPACE_PARAM] = "param",
    [PTX_SPACE_SHARED] = "shared", [PTX_SPACE_TEX] = "tex",
};

const char *ptx_type_name(ptx_type type)
{
    return types[type].name;
}

ptx_type ptx_type_from_name(const char *name, uint32_t length)
{
    for (uint32_t i = PTX_TYPE_NONE + 1; i < PTX_TYPE_COUNT; i++)
        if (types[i].length == length && memcmp(types[i].name, name, length) == 0)
            return (ptx_type)i;
    return PTX_TYPE_NONE;
}

uint32_t ptx_type_bits(ptx_type type)
{
    return types[type].bits;
}

char ptx_type_class(ptx_type type)
{
    return types[type].class;
}

uint32_t ptx_type_bytes(ptx_type type)
{
    uint32_t bytes = 1;
    while (bytes * 8 < types[type].bits)
        bytes *= 2;
    return bytes;
}

const char *ptx_space_name(ptx_space space)
{
    return spaces[space];
}
