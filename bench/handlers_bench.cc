// handlers_bench.cc - the time of single meanings at width 32: one call does one warp's instruction.
//
// Every meaning is called through the same table of handlers as the CPU engine calls it, on the best
// level of this processor. --benchmark_filter=mma_ and so on selects; the argument is the mma model.
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
extern "C" {
#include "ptx/isa.h"
typedef void (*pxl_handler)(char *r, const uint32_t *o);
#if defined(__x86_64__)
extern const pxl_handler pxl_handlers_v2[], pxl_handlers_v3[], pxl_handlers_v4[];
#else
extern const pxl_handler pxl_handlers_generic[];
#endif
}

static const pxl_handler *handlers(const char **level)
{
#if defined(__x86_64__)
    const char *wish = getenv("PTXBRIDGE_CPU_LEVEL");
    auto may = [&](const char *name) { return !wish || !strcmp(wish, name); };
#ifdef PTXB_LEVEL_v4
    if (may("v4") && __builtin_cpu_supports("x86-64-v4")) return *level = "v4", pxl_handlers_v4;
#endif
#ifdef PTXB_LEVEL_v3
    if (may("v3") && __builtin_cpu_supports("x86-64-v3")) return *level = "v3", pxl_handlers_v3;
#endif
#ifdef PTXB_LEVEL_v2
    if (may("v2")) return *level = "v2", pxl_handlers_v2;
#endif
    fprintf(stderr, "no such level in this build\n");
    exit(1);
#else
    return *level = "generic", pxl_handlers_generic;
#endif
}

// Finds the signature of a meaning by looking through the forms for a tuple that has it.
static uint32_t signature_of(uint32_t meaning, isa_elem out[ISA_MAX_ELEMS])
{
    for (uint32_t f = 0; f < isa_form_count; f++) {
        isa_tuple tuple = {};
        const isa_form *form = &isa_forms[f];
        for (;;) {
            if (isa_meaning_of(form, &tuple) == meaning) {
                bool complete = true;
                for (uint32_t g = 0; g < form->ngroups; g++) complete &= form->groups[g].optional || tuple.choice[g];
                if (complete) return isa_signature(form, &tuple, out);
            }
            uint32_t g = 0;
            while (g < form->ngroups && ++tuple.choice[g] > form->groups[g].count) tuple.choice[g++] = 0;
            if (g == form->ngroups) break;
        }
    }
    return 0;
}

static void run(benchmark::State &state, uint32_t meaning, pxl_handler handler)
{
    isa_elem elems[ISA_MAX_ELEMS];
    uint32_t n = signature_of(meaning, elems);
    if (!n || !handler) { state.SkipWithError("no handler"); return; }
    alignas(64) static char file[ISA_MAX_ELEMS * 512];
    uint64_t z = 88172645463325252ull;
    for (size_t i = 0; i + 4 <= sizeof file; i += 4) {      // finite in every format from e4m3 to f32, positive
        z ^= z << 13; z ^= z >> 7; z ^= z << 17;
        uint32_t v = ((uint32_t)z & 0x1f1f1f1fu) | 0x20202020u;
        memcpy(file + i, &v, 4);
    }
    uint32_t offsets[ISA_MAX_ELEMS] = {}, next = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (elems[i].role == ISA_ROLE_MODEL) { offsets[i] = (uint32_t)state.range(0); continue; }
        if (elems[i].role == ISA_ROLE_IMM) { offsets[i] = 0xea; continue; }       /* lop3: (a & b) | c */
        offsets[i] = next;
        next += 512;
    }
    for (auto _ : state) {
        handler(file, offsets);
        benchmark::ClobberMemory();
    }
}

int main(int argc, char **argv)
{
    const char *level;
    const pxl_handler *table = handlers(&level);
    static const char *const names[] = {
        "add_s32", "add_rn_f32", "fma_rn_f32", "fma_rn_ftz_f32", "lop3_b32", "shl_b32", "setp_lt_s32", "selp_b32", "mad_lo_s32", "mov_pack2_b32",
        "add_rn_f16", "add_rn_f16x2", "mul_rn_f16x2", "fma_rn_f16x2", "fma_rn_f64", "div_rn_f32",
        "cvt_rn_f16_f32", "cvt_f32_f16", "cvt_rn_satfinite_e4m3x2_f16x2", "cvt_rn_f16x2_e4m3x2",
        "rcp_approx_ftz_f32", "rsqrt_approx_ftz_f32", "ex2_approx_ftz_f32", "sin_approx_f32",
        "shfl_bfly_b32", "shfl_idx_b32", "movmatrix_m8n8_trans_b16",
        "mma_m16n8k32_f16_e4m3_e4m3_f16", "mma_m16n8k32_f32_e4m3_e4m3_f32", "mma_m16n8k16_f32_f16_f16_f32", "mma_m16n8k16_f16_f16_f16_f16",
        "mma_m16n8k16_f32_bf16_bf16_f32", "mma_m16n8k8_f32_tf32_tf32_f32", "mma_m16n8k32_s32_s8_s8_s32",
        "mma_sp_m16n8k32_f32_f16_f16_f32", "mma_sp_m16n8k64_s32_s8_s8_s32", "mma_f8f6f4_m16n8k32_f32_e4m3_e2m1_f32",
        "mma_mxf8f6f4_m16n8k32_f32_e4m3_e2m1_f32_ue8m0", "mma_mxf4nvf4_m16n8k64_4x_f32_e2m1_e2m1_f32_ue4m3",
    };
    for (const char *name : names) {
        uint32_t meaning = isa_meaning_id(name);
        if (!meaning) { fprintf(stderr, "no meaning %s\n", name); continue; }
        auto *b = benchmark::RegisterBenchmark((std::string(level) + "/" + name).c_str(), run, meaning, table[meaning]);
        bool mma = !strncmp(name, "mma", 3);
        b->Arg(0);                       // ada
        if (mma) b->Arg(1)->Arg(6);      // hopper, ieee
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
