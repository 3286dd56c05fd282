/* engine_harness.h - runs PTX text on the CPU device in tests: `Ptx p(body...)`, buffers, launch, error. */
#ifndef TESTS_ENGINE_HARNESS_H
#define TESTS_ENGINE_HARNESS_H

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "ptx/module.h"
#include "runtime/cpu/cpu.h"
}

/* One device for all tests of a program: three workers, so that blocks meet on any machine. */
inline cpu_device *test_device()
{
    static cpu_device *device = [] {
        cpu_options options = {};
        options.threads = 3;
        cpu_error error;
        cpu_device *d = cpu_open(&options, &error);
        if (!d)
            ADD_FAILURE() << error.reason;
        return d;
    }();
    return device;
}

template <class T> struct Buffer {
    uint64_t address;
    size_t count;
    explicit Buffer(size_t n, T fill = T()) : address(cpu_alloc(test_device(), n * sizeof(T))), count(n)
    {
        std::vector<T> v(n, fill);
        write(v);
    }
    explicit Buffer(const std::vector<T> &v) : address(cpu_alloc(test_device(), v.size() * sizeof(T))), count(v.size()) { write(v); }
    Buffer(const Buffer &) = delete;
    ~Buffer() { cpu_free(test_device(), address); }
    void write(const std::vector<T> &v) { EXPECT_TRUE(cpu_write(test_device(), address, v.data(), v.size() * sizeof(T))); }
    std::vector<T> read() const
    {
        std::vector<T> v(count);
        EXPECT_TRUE(cpu_read(test_device(), v.data(), address, count * sizeof(T)));
        return v;
    }
};

/* A parameter block, members aligned to their size. */
struct Params {
    std::vector<uint8_t> bytes;
    template <class T> Params &add(T v)
    {
        while (bytes.size() % sizeof(T))
            bytes.push_back(0);
        size_t at = bytes.size();
        bytes.resize(at + sizeof(T));
        memcpy(&bytes[at], &v, sizeof(T));
        return *this;
    }
    template <class T> Params &add(const Buffer<T> &b) { return add(b.address); }
};

class Ptx {
  public:
    /* A whole module behind a usual head. */
    explicit Ptx(const std::string &text, const char *target = "sm_90", const char *version = "8.4")
        : source_(".version " + std::string(version) + "\n.target " + target + "\n.address_size 64\n" + text)
    {
        module_ = ptx_parse(source_.data(), source_.size(), "test.ptx");
        for (uint32_t k = 0; k < module_->ndiagnostics; k++)
            if (module_->diagnostics[k].severity == PTX_ERROR) {
                char line[600];
                ptx_format_diagnostic(module_, &module_->diagnostics[k], line, sizeof line);
                problems += line;
            }
        loaded_ = cpu_module_load(test_device(), module_, &error);
        EXPECT_NE(loaded_, nullptr) << error.reason;
        memset(&launch, 0, sizeof launch);
        launch.print = [](void *user, const char *t, size_t n) { static_cast<Ptx *>(user)->printed.append(t, n); };
        launch.print_user = this;
        launch.timeout_ms = 20000;
    }
    Ptx(const Ptx &) = delete;
    ~Ptx()
    {
        cpu_module_unload(loaded_);
        ptx_module_free(module_);
    }
    cpu_kernel *kernel(const char *name)
    {
        cpu_kernel *k = cpu_kernel_get(loaded_, name, &error);
        EXPECT_NE(k, nullptr) << message() << problems;
        return k;
    }
    cpu_status run(const char *name, uint32_t grid, uint32_t block, const Params &params = Params())
    {
        cpu_kernel *k = kernel(name);
        if (!k)
            return error.status;
        for (int i = 0; i < 3; i++)
            launch.grid[i] = launch.block[i] = 1;
        launch.grid[0] = grid;
        launch.block[0] = block;
        return run(k, params);
    }
    cpu_status run(cpu_kernel *k, const Params &params)
    {
        launch.params = params.bytes.data();
        launch.param_bytes = params.bytes.size();
        return cpu_run(k, &launch, &error);
    }
    std::string message() const
    {
        char text[2048];
        cpu_format_error(&error, text, sizeof text);
        return text;
    }
    /* Number of the first line of the module's text that holds `piece`. */
    uint32_t line_of(const std::string &piece) const
    {
        size_t at = source_.find(piece);
        EXPECT_NE(at, std::string::npos) << piece;
        return 1 + (uint32_t)std::count(source_.begin(), source_.begin() + (long)at, '\n');
    }
    cpu_module *loaded() { return loaded_; }
    ptx_module *module() { return module_; }
    cpu_launch launch;
    cpu_error error = {};
    std::string problems, printed;

  private:
    std::string source_;
    ptx_module *module_ = nullptr;
    cpu_module *loaded_ = nullptr;
};

/* An entry of one parameter, `out`, whose body has the thread's number in %tid0 and its address of out in %out
 * (element size 4), and registers of every kind. */
inline std::string entry(const std::string &name, const std::string &body, const std::string &more = "")
{
    return ".visible .entry " + name + "(.param .u64 out, .param .u64 in)\n{\n"
           ".reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<16>; .reg .f64 %fd<16>;\n"
           ".reg .b32 %tid0, %gid; .reg .b64 %out, %in, %wide, %outbase;\n" + more +
           "mov.u32 %tid0, %tid.x;\nmov.u32 %gid, %ctaid.x;\nmov.u32 %r0, %ntid.x;\nmad.lo.s32 %gid, %gid, %r0, %tid0;\n"
           "ld.param.u64 %outbase, [out];\nld.param.u64 %in, [in];\ncvta.to.global.u64 %outbase, %outbase;\n"
           "mul.wide.u32 %wide, %gid, 4;\nadd.s64 %out, %outbase, %wide;\n" + body + "\n}\n";
}

#endif
