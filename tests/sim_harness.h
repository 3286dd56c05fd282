/* sim_harness.h - runs hand-written AMD assembly on the simulator in tests.
 *
 * `Snippet s("gfx1100", "v_add_f32 v2, v0, v1"); s.v(0, lane) = …; ASSERT_TRUE(s.run()); EXPECT_EQ(s.v(2, lane), …);`
 * The text is assembled by clang and linked by lld when the object is made; s_endpgm is added. Assembled text is kept by
 * target and text, so that a test can run the same one often.
 */
#ifndef TESTS_SIM_HARNESS_H
#define TESTS_SIM_HARNESS_H

#include <gtest/gtest.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>
#include <unistd.h>

extern "C" {
#include "runtime/sim/internal.h"
}

#ifndef PTXB_CLANG
#define PTXB_CLANG "clang-22"
#endif

/* One device for each target and test program; closed at the program's end. */
inline sim_device *sim_test_device(const std::string &target)
{
    struct Devices {
        std::map<std::string, sim_device *> open;
        ~Devices()
        {
            for (auto &d : open)
                sim_close(d.second);
        }
    };
    static Devices devices;
    sim_device *&d = devices.open[target];
    if (!d) {
        sim_options options = {};
        options.target = target.c_str();
        options.threads = 2;
        sim_error error;
        d = sim_open(&options, &error);
        if (!d)
            ADD_FAILURE() << error.reason;
    }
    return d;
}

/* Assembly to the bytes of a linked code object; empty when the assembler refuses. */
inline std::vector<uint8_t> sim_assemble(const std::string &target, const std::string &text)
{
    static std::map<std::string, std::vector<uint8_t>> done;
    std::vector<uint8_t> &bytes = done[target + "\n" + text];
    if (!bytes.empty())
        return bytes;
    std::string directory = (std::filesystem::temp_directory_path() / "sim-test-XXXXXX").string();
    if (!mkdtemp(directory.data()))
        return bytes;
    std::string base = directory + "/t";
    std::ofstream(base + ".s") << ".amdhsa_code_object_version 5\n" << text << "\n";
    /* clang links with the lld of its own version. */
    std::string command = std::string(PTXB_CLANG) + " -target amdgcn-amd-amdhsa -mcpu=" + target + " -x assembler " + base + ".s -nostdlib -o " +
                          base + ".hsaco";
    if (system(command.c_str()) == 0) {
        std::ifstream in(base + ".hsaco", std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    for (const char *suffix : {".s", ".hsaco"})
        unlink((base + suffix).c_str());
    rmdir(directory.c_str());
    EXPECT_FALSE(bytes.empty()) << "cannot assemble for " << target << ":\n" << text;
    return bytes;
}

class Snippet {
  public:
    sim_device *device = nullptr;
    sim_module *module = nullptr;
    sim_wave *wave = nullptr;
    sim_error error = {};

    Snippet(const std::string &target, const std::string &text, uint32_t lds_bytes = 65536, uint32_t scratch_bytes = 4096)
    {
        device = sim_test_device(target);
        wave = sim_wave_new(device, lds_bytes, scratch_bytes);
        std::vector<uint8_t> bytes =
            sim_assemble(target, ".text\n.globl snippet\n.p2align 8\n.type snippet,@function\nsnippet:\n" + text + "\ns_endpgm\n");
        module = sim_module_load(device, bytes.data(), bytes.size(), &error);
        if (!module)
            ADD_FAILURE() << error.reason;
    }
    Snippet(const Snippet &) = delete;
    ~Snippet()
    {
        sim_module_unload(module);
        sim_wave_free(wave);
    }

    /* Vector register of a lane, accumulation register, scalar register (also SIM_VCC, SIM_EXEC, SIM_M0, …). */
    uint32_t &v(uint32_t row, uint32_t lane) { return wave->vgpr[row][lane]; }
    uint32_t &a(uint32_t row, uint32_t lane) { return wave->vgpr[256 + row][lane]; }
    uint32_t &s(uint32_t index) { return wave->sgpr[index]; }
    uint64_t v64(uint32_t row, uint32_t lane) { return v(row, lane) | static_cast<uint64_t>(v(row + 1, lane)) << 32; }
    void set_v64(uint32_t row, uint32_t lane, uint64_t x)
    {
        v(row, lane) = static_cast<uint32_t>(x);
        v(row + 1, lane) = static_cast<uint32_t>(x >> 32);
    }
    uint64_t s64(uint32_t index) { return sim_pair(wave, index); }
    void set_s64(uint32_t index, uint64_t x) { sim_set_pair(wave, index, x); }
    float vf(uint32_t row, uint32_t lane)
    {
        float f;
        memcpy(&f, &v(row, lane), 4);
        return f;
    }
    void set_vf(uint32_t row, uint32_t lane, float f) { memcpy(&v(row, lane), &f, 4); }
    void set_exec(uint64_t mask) { sim_set_pair(wave, SIM_EXEC, mask); }
    uint8_t *lds() { return wave->block->lds; }
    uint8_t *scratch(uint32_t lane) { return wave->scratch + static_cast<uint64_t>(lane) * wave->scratch_bytes; }
    uint32_t lanes() const { return wave->lanes; }

    /* False on a fault: `error` says which. */
    bool run() { return module && wave && sim_run_snippet(module, "snippet", wave, &error) == SIM_OK; }
    /* The same, and a fault fails the test. */
    void go() { EXPECT_TRUE(run()) << error.instruction << ": " << error.reason; }
};

#endif
