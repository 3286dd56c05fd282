// parse_bench.cc - parsing and decoding of the corpus' largest kernel: bytes a second and time.
#include <benchmark/benchmark.h>
#include <cstdio>
#include <string>
extern "C" {
#include "ptx/module.h"
#include "runtime/cpu/cpu.h"
}

static std::string read(const char *path)
{
    std::string text;
    FILE *f = fopen(path, "rb");
    if (!f) { perror(path); exit(1); }
    char buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;) text.append(buffer, n);
    fclose(f);
    return text;
}

static const std::string &dec2()
{
    static const std::string text = read(PTXB_SOURCE_DIR "/ptx_corpus/dec2/dec2.ptx");
    return text;
}

static void parse_dec2(benchmark::State &state)
{
    const std::string &text = dec2();
    for (auto _ : state) {
        ptx_module *m = ptx_parse(text.data(), text.size(), "dec2.ptx");
        benchmark::DoNotOptimize(m);
        ptx_module_free(m);
    }
    state.SetBytesProcessed((int64_t)state.iterations() * (int64_t)text.size());
}
BENCHMARK(parse_dec2)->Unit(benchmark::kMillisecond);

static void decode_dec2(benchmark::State &state)
{
    const std::string &text = dec2();
    ptx_module *m = ptx_parse(text.data(), text.size(), "dec2.ptx");
    cpu_error error;
    cpu_device *device = cpu_open(nullptr, &error);
    for (auto _ : state) {
        cpu_module *module = cpu_module_load(device, m, &error);
        cpu_kernel *kernel = module ? cpu_kernel_get(module, "cuda_dldn_engine_swin_dec2_kernel", &error) : nullptr;
        if (!kernel) { state.SkipWithError(error.reason); break; }
        state.PauseTiming();
        cpu_module_unload(module);
        state.ResumeTiming();
    }
    cpu_close(device);
    ptx_module_free(m);
}
BENCHMARK(decode_dec2)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
