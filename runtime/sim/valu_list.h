/* valu_list.h - the row macros of valu_*.def files; no guard: included once per list, after VALU_LIST_… is
 * set. valu.h says what a row is.
 *
 *   V1 V2 V3        result is stored as computed
 *   V2A             the destination is the third source, c
 *   F1 F2 F3 F2A    value is a float: f32 results with rounding mode, NaN choice, flush, omod, clamp
 *   D1 D2 D3 D2A    the same for f64
 *   H1 H2 H3 H2A    the same for f16; value is a double fit for one rounding (exact or rounded to odd)
 *   ALIAS           another name of a row's instruction, or its name in other generations
 */
#undef V1
#undef V2
#undef V3
#undef V2A
#undef F1
#undef F2
#undef F3
#undef F2A
#undef D1
#undef D2
#undef D3
#undef D2A
#undef H1
#undef H2
#undef H3
#undef H2A
#undef ALIAS1
#undef ALIAS2
#undef ALIAS3
#undef ROW

#if defined VALU_LIST_HANDLERS

#define VALU_LOAD(k, v, type) const VT_##type v = VL_##type(s##k); (void)v

#define V1(name, D, A, value, ...)                                                                                    \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, A); const bool clamp = i->clamp; (void)clamp; const uint64_t exec = valu_exec(w, i); valu_lanes d;   \
        VALU_EACH_LANE { VALU_LOAD(0, a, A); VS_##D(value); } VP_##D(1); }
#define V2(name, D, A, B, value, ...)                                                                                 \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, A); VALU_SOURCE(1, 2, B); const bool clamp = i->clamp; (void)clamp;           \
        const uint64_t exec = valu_exec(w, i); valu_lanes d;                                                          \
        VALU_EACH_LANE { VALU_LOAD(0, a, A); VALU_LOAD(1, b, B); VS_##D(value); } VP_##D(2); }
#define VALU_3(name, D, A, B, C, third, value)                                                                        \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, A); VALU_SOURCE(1, 2, B); VALU_SOURCE(2, third, C); const bool clamp = i->clamp; (void)clamp;        \
        const uint64_t exec = valu_exec(w, i); valu_lanes d;                                                          \
        VALU_EACH_LANE { VALU_LOAD(0, a, A); VALU_LOAD(1, b, B); VALU_LOAD(2, c, C); VS_##D(value); } VP_##D(3); }
#define V3(name, D, A, B, C, value, ...) VALU_3(name, D, A, B, C, 3, value)
#define V2A(name, D, A, B, C, value, ...) VALU_3(name, D, A, B, C, 0, value)

#define VALU_ARITH1(name, R, A, value)                                                                                \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, A); const valu_source s[1] = { s0 }; VALU_##R##_BEGIN;                        \
        VALU_EACH_LANE { VALU_LOAD(0, a, A); VALU_##R##_LANE(value); } VALU_##R##_END(1, VN_##R##_##A); }
#define VALU_ARITH2(name, R, A, B, value)                                                                             \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, A); VALU_SOURCE(1, 2, B); const valu_source s[2] = { s0, s1 }; VALU_##R##_BEGIN;              \
        VALU_EACH_LANE { VALU_LOAD(0, a, A); VALU_LOAD(1, b, B); VALU_##R##_LANE(value); } VALU_##R##_END(2, VN_##R##_##A + VN_##R##_##B); }
#define VALU_ARITH3(name, R, A, B, C, third, value)                                                                   \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, A); VALU_SOURCE(1, 2, B); VALU_SOURCE(2, third, C);                           \
        const valu_source s[3] = { s0, s1, s2 }; VALU_##R##_BEGIN;                                                    \
        VALU_EACH_LANE { VALU_LOAD(0, a, A); VALU_LOAD(1, b, B); VALU_LOAD(2, c, C); VALU_##R##_LANE(value); }        \
        VALU_##R##_END(3, VN_##R##_##A + VN_##R##_##B + VN_##R##_##C); }

#define F1(name, A, value, ...) VALU_ARITH1(name, F, A, value)
#define F2(name, A, B, value, ...) VALU_ARITH2(name, F, A, B, value)
#define F3(name, A, B, C, value, ...) VALU_ARITH3(name, F, A, B, C, 3, value)
#define F2A(name, A, B, value, ...) VALU_ARITH3(name, F, A, B, F32, 0, value)
#define D1(name, A, value, ...) VALU_ARITH1(name, D, A, value)
#define D2(name, A, B, value, ...) VALU_ARITH2(name, D, A, B, value)
#define D3(name, A, B, C, value, ...) VALU_ARITH3(name, D, A, B, C, 3, value)
#define D2A(name, A, B, value, ...) VALU_ARITH3(name, D, A, B, F64, 0, value)
#define H1(name, A, value, ...) VALU_ARITH1(name, H, A, value)
#define H2(name, A, B, value, ...) VALU_ARITH2(name, H, A, B, value)
#define H3(name, A, B, C, value, ...) VALU_ARITH3(name, H, A, B, C, 3, value)
#define H2A(name, A, B, value, ...) VALU_ARITH3(name, H, A, B, F16, 0, value)
#define ALIAS1(...)
#define ALIAS2(...)
#define ALIAS3(...)
#define ROW(...)

#elif defined VALU_LIST_NAMES

#define VALU_NAME(name) void VALU_LEVEL(sim_run_##name)(sim_wave *w, const sim_insn *i);
#define V1(name, ...) VALU_NAME(name)
#define V2(name, ...) VALU_NAME(name)
#define V3(name, ...) VALU_NAME(name)
#define V2A(name, ...) VALU_NAME(name)
#define F1(name, ...) VALU_NAME(name)
#define F2(name, ...) VALU_NAME(name)
#define F3(name, ...) VALU_NAME(name)
#define F2A(name, ...) VALU_NAME(name)
#define D1(name, ...) VALU_NAME(name)
#define D2(name, ...) VALU_NAME(name)
#define D3(name, ...) VALU_NAME(name)
#define D2A(name, ...) VALU_NAME(name)
#define H1(name, ...) VALU_NAME(name)
#define H2(name, ...) VALU_NAME(name)
#define H3(name, ...) VALU_NAME(name)
#define H2A(name, ...) VALU_NAME(name)
#define ALIAS1(...)
#define ALIAS2(...)
#define ALIAS3(...)
#define ROW(name, handler, ...) VALU_NAME(handler)

#else

#define VALU_R(name, handler, first, last, aux, ...) { #name, VALU_LEVEL(sim_run_##handler), SIM_CLASS_VALU, { __VA_ARGS__ }, aux, first, last },
#define V1(name, D, A, value, first, last, ...) VALU_R(name, name, first, last, 0 __VA_ARGS__, VR_##D, VR_##A)
#define V2(name, D, A, B, value, first, last, ...) VALU_R(name, name, first, last, 0 __VA_ARGS__, VR_##D, VR_##A, VR_##B)
#define V3(name, D, A, B, C, value, first, last, ...) VALU_R(name, name, first, last, 0 __VA_ARGS__, VR_##D, VR_##A, VR_##B, VR_##C)
#define V2A(name, D, A, B, C, value, first, last, ...) VALU_R(name, name, first, last, 0 __VA_ARGS__, VR_##D, VR_##A, VR_##B)
#define F1(name, A, value, first, last, ...) VALU_R(name, name, first, last, 0, T_F32, VR_##A)
#define F2(name, A, B, value, first, last, ...) VALU_R(name, name, first, last, 0, T_F32, VR_##A, VR_##B)
#define F3(name, A, B, C, value, first, last, ...) VALU_R(name, name, first, last, 0, T_F32, VR_##A, VR_##B, VR_##C)
#define F2A(name, A, B, value, first, last, ...) VALU_R(name, name, first, last, 0, T_F32, VR_##A, VR_##B)
#define D1(name, A, value, first, last, ...) VALU_R(name, name, first, last, 0, T_F64, VR_##A)
#define D2(name, A, B, value, first, last, ...) VALU_R(name, name, first, last, 0, T_F64, VR_##A, VR_##B)
#define D3(name, A, B, C, value, first, last, ...) VALU_R(name, name, first, last, 0, T_F64, VR_##A, VR_##B, VR_##C)
#define D2A(name, A, B, value, first, last, ...) VALU_R(name, name, first, last, 0, T_F64, VR_##A, VR_##B)
#define H1(name, A, value, first, last, ...) VALU_R(name, name, first, last, 0 __VA_ARGS__, T_F16, VR_##A)
#define H2(name, A, B, value, first, last, ...) VALU_R(name, name, first, last, 0 __VA_ARGS__, T_F16, VR_##A, VR_##B)
#define H3(name, A, B, C, value, first, last, ...) VALU_R(name, name, first, last, 0 __VA_ARGS__, T_F16, VR_##A, VR_##B, VR_##C)
#define H2A(name, A, B, value, first, last, ...) VALU_R(name, name, first, last, 0 __VA_ARGS__, T_F16, VR_##A, VR_##B)
#define ALIAS1(name, handler, D, A, first, last, ...) VALU_R(name, handler, first, last, 0 __VA_ARGS__, VR_##D, VR_##A)
#define ALIAS2(name, handler, D, A, B, first, last, ...) VALU_R(name, handler, first, last, 0 __VA_ARGS__, VR_##D, VR_##A, VR_##B)
#define ALIAS3(name, handler, D, A, B, C, first, last, ...) VALU_R(name, handler, first, last, 0 __VA_ARGS__, VR_##D, VR_##A, VR_##B, VR_##C)
/* A handler written out in full: name, handler, first, last, aux, types. */
#define ROW(name, handler, first, last, aux, ...) VALU_R(name, handler, first, last, aux, __VA_ARGS__)

#endif
