/* types.h - PTX's element types and state spaces (PTX ISA, "State Spaces, Types, and Variables"). */
#ifndef PTX_TYPES_H
#define PTX_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* X(enumerator, name, bits, class). Class: p predicate, b untyped, u unsigned, s signed,
 * f floating, x packed, o opaque. Alternate formats live in untyped registers. */
#define PTX_TYPES(X) \
    X(PRED, "pred", 1, 'p') \
    X(B8, "b8", 8, 'b') X(B16, "b16", 16, 'b') X(B32, "b32", 32, 'b') X(B64, "b64", 64, 'b') X(B128, "b128", 128, 'b') \
    X(U8, "u8", 8, 'u') X(U16, "u16", 16, 'u') X(U32, "u32", 32, 'u') X(U64, "u64", 64, 'u') \
    X(S8, "s8", 8, 's') X(S16, "s16", 16, 's') X(S32, "s32", 32, 's') X(S64, "s64", 64, 's') \
    X(F16, "f16", 16, 'f') X(BF16, "bf16", 16, 'f') X(F32, "f32", 32, 'f') X(F64, "f64", 64, 'f') X(TF32, "tf32", 32, 'f') \
    X(F16X2, "f16x2", 32, 'x') X(BF16X2, "bf16x2", 32, 'x') X(U16X2, "u16x2", 32, 'x') X(S16X2, "s16x2", 32, 'x') \
    X(F32X2, "f32x2", 64, 'x') X(U8X4, "u8x4", 32, 'x') X(S8X4, "s8x4", 32, 'x') \
    X(E4M3, "e4m3", 8, 'f') X(E5M2, "e5m2", 8, 'f') X(E4M3X2, "e4m3x2", 16, 'x') X(E5M2X2, "e5m2x2", 16, 'x') \
    X(E4M3X4, "e4m3x4", 32, 'x') X(E5M2X4, "e5m2x4", 32, 'x') \
    X(E2M3, "e2m3", 8, 'f') X(E3M2, "e3m2", 8, 'f') X(E2M3X2, "e2m3x2", 16, 'x') X(E3M2X2, "e3m2x2", 16, 'x') \
    X(E2M3X4, "e2m3x4", 32, 'x') X(E3M2X4, "e3m2x4", 32, 'x') \
    X(E2M1, "e2m1", 4, 'f') X(E2M1X2, "e2m1x2", 8, 'x') X(E2M1X4, "e2m1x4", 16, 'x') \
    X(UE8M0, "ue8m0", 8, 'f') X(UE8M0X2, "ue8m0x2", 16, 'x') X(UE4M3, "ue4m3", 8, 'f') \
    X(S2F6X2, "s2f6x2", 16, 'x') \
    X(U2, "u2", 2, 'u') X(S2, "s2", 2, 's') X(U4, "u4", 4, 'u') X(S4, "s4", 4, 's') X(B1, "b1", 1, 'b') X(B4X16, "b4x16", 64, 'x') X(B6X16, "b6x16", 128, 'x') \
    X(B8X16, "b8x16", 128, 'x') \
    X(TEXREF, "texref", 64, 'o') X(SAMPLERREF, "samplerref", 64, 'o') X(SURFREF, "surfref", 64, 'o')

typedef enum ptx_type {
    PTX_TYPE_NONE,
#define X(e, n, b, c) PTX_TYPE_##e,
    PTX_TYPES(X)
#undef X
    PTX_TYPE_COUNT
} ptx_type;

typedef enum ptx_space {
    PTX_SPACE_GENERIC, PTX_SPACE_REG, PTX_SPACE_CONST, PTX_SPACE_GLOBAL, PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM, PTX_SPACE_SHARED, PTX_SPACE_TEX
} ptx_space;

const char *ptx_type_name(ptx_type type);
ptx_type ptx_type_from_name(const char *name, uint32_t length);
uint32_t ptx_type_bits(ptx_type type);
char ptx_type_class(ptx_type type);
/* Bytes that an element takes in memory and in a register: bits rounded up to a power of two of bytes, 1 for pred. */
uint32_t ptx_type_bytes(ptx_type type);
const char *ptx_space_name(ptx_space space);

#endif
