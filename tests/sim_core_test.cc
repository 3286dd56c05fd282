/* Core of the AMD simulator: loader and hostile code objects, launches, registers at the start, barriers,
 * faults and their names, memory, decoding. Kernels are written by hand here. */
#include "tests/sim_harness.h"
#include <elf.h>
#include <random>
#include <thread>

extern "C" {
#include "runtime/sim/state.h"
}

namespace {

const char *const kTargets[] = {"gfx1100", "gfx1201", "gfx942"};

bool is_gfx9(const std::string &t) { return t == "gfx942"; }

/* A kernel with metadata. Registers at its start: s[0:1] kernel arguments, then the ids of the block in s2, s3, s4
 * (gfx12: ttmp9, ttmp7), thread ids in v0. */
std::string kernel_text(const std::string &target, const std::string &name, const std::string &body, const std::string &extra = "",
                        const std::string &hidden = "", int kernarg = 64, int wave = 0)
{
    bool gfx9 = is_gfx9(target);
    std::string text = ".text\n.globl " + name + "\n.p2align 8\n.type " + name + ",@function\n" + name + ":\n" + body + "\ns_endpgm\n";
    text += ".section .rodata,\"a\",@progbits\n.p2align 6\n.amdhsa_kernel " + name +
            "\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_system_sgpr_workgroup_id_x 1\n"
            ".amdhsa_system_sgpr_workgroup_id_y 1\n.amdhsa_system_sgpr_workgroup_id_z 1\n.amdhsa_system_vgpr_workitem_id 2\n"
            ".amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 40\n" +
            (gfx9 ? ".amdhsa_accum_offset 64\n" : ".amdhsa_wavefront_size32 " + std::string(wave == 64 ? "0" : "1") + "\n") + extra +
            ".amdhsa_kernarg_size " + std::to_string(kernarg) + "\n.end_amdhsa_kernel\n";
    text += ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n  - .name: " + name + "\n    .symbol: " + name +
            ".kd\n    .kernarg_segment_size: " + std::to_string(kernarg) +
            "\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n"
            "    .wavefront_size: " + (gfx9 || wave == 64 ? "64" : "32") + "\n    .sgpr_count: 40\n    .vgpr_count: 64\n"
            "    .max_flat_workgroup_size: 1024\n    .args:\n      - {.offset: 0, .size: 24, .value_kind: by_value}\n" + hidden +
            "...\n.end_amdgpu_metadata\n";
    return text;
}

std::string hidden_argument(int offset, int size, const char *kind)
{
    return "      - {.offset: " + std::to_string(offset) + ", .size: " + std::to_string(size) + ", .value_kind: " + kind + "}\n";
}

/* A module that goes away with the test. */
struct Loaded {
    sim_device *device;
    sim_module *module;
    sim_error error = {};
    Loaded(const std::string &target, const std::string &text) : device(sim_test_device(target))
    {
        std::vector<uint8_t> bytes = sim_assemble(target, text);
        module = sim_module_load(device, bytes.data(), bytes.size(), &error);
        if (!module)
            ADD_FAILURE() << error.reason;
    }
    Loaded(const Loaded &) = delete;
    ~Loaded() { sim_module_unload(module); }
    sim_kernel *kernel(const char *name) { return sim_kernel_get(module, name, &error); }
    sim_status run(const char *name, sim_launch launch)
    {
        sim_kernel *k = kernel(name);
        return k ? sim_run(k, &launch, &error) : error.status;
    }
};

struct Words {
    sim_device *device;
    uint64_t address;
    size_t count;
    Words(sim_device *d, size_t n) : device(d), address(sim_alloc(d, n * 4)), count(n) {}
    Words(const Words &) = delete;
    ~Words() { sim_free(device, address); }
    std::vector<uint32_t> read()
    {
        std::vector<uint32_t> v(count);
        EXPECT_TRUE(sim_read(device, v.data(), address, count * 4));
        return v;
    }
};

sim_launch launch_of(std::vector<uint32_t> grid, std::vector<uint32_t> block, const void *kernarg = nullptr, size_t bytes = 0)
{
    sim_launch l = {};
    grid.resize(3, 1);
    block.resize(3, 1);
    for (int k = 0; k < 3; k++) {
        l.grid[k] = grid[k];
        l.block[k] = block[k];
    }
    l.kernarg = kernarg;
    l.kernarg_bytes = bytes;
    l.timeout_ms = 20000;
    return l;
}

/* Loads of arguments: s[0:1] holds their address. */
std::string load_args(const std::string &t, const char *regs, int words, int offset)
{
    std::string width = is_gfx9(t) ? (words == 1 ? "dword" : "dwordx" + std::to_string(words)) : "b" + std::to_string(32 * words);
    return "s_load_" + width + " " + regs + ", s[0:1], " + std::to_string(offset) + "\n" +
           (t == "gfx1201" ? "s_wait_kmcnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n");
}

/* Block ids to s20, s21, s22. */
std::string block_ids(const std::string &t)
{
    if (t == "gfx1201")
        return "s_mov_b32 s20, ttmp9\ns_and_b32 s21, ttmp7, 0xffff\ns_lshr_b32 s22, ttmp7, 16\n";
    return "s_mov_b32 s20, s2\ns_mov_b32 s21, s3\ns_mov_b32 s22, s4\n";
}

std::string store_word(const std::string &t, const char *offset, const char *value, const char *base)
{
    return std::string(is_gfx9(t) ? "global_store_dword " : "global_store_b32 ") + offset + ", " + value + ", " + base + "\n";
}

/* Every lane writes one word at 4 * (number of the thread in its block + block * threads). s[8:9]: base; threads in s10. */
std::string store_by_thread(const std::string &t, const char *value)
{
    bool gfx9 = is_gfx9(t);
    return std::string("s_mul_i32 s30, s20, s10\n") + (gfx9 ? "v_add_u32 v40, s30, v41\n" : "v_add_nc_u32 v40, s30, v41\n") +
           "v_lshlrev_b32 v40, 2, v40\n" + store_word(t, "v40", value, "s[8:9]");
}

class Core : public testing::TestWithParam<const char *> {};
std::string only_name(const testing::TestParamInfo<const char *> &i) { return i.param; }
INSTANTIATE_TEST_SUITE_P(Targets, Core, testing::ValuesIn(kTargets), only_name);

/* ------------------------------------------------------------ start of a kernel */

TEST_P(Core, IdsOfBlocksAndThreads)
{
    std::string t = GetParam();
    /* Thread: x | y << 10 | z << 20; its number in the block is x + 5 y + 15 z. Written: block x, y, z, thread. */
    std::string body = block_ids(t) + load_args(t, "s[8:9]", 2, 0) +
                       "s_mul_i32 s10, s22, 2\n s_add_i32 s10, s10, s21\n s_mul_i32 s10, s10, 3\n s_add_i32 s10, s10, s20\n s_mul_i32 s10, s10, 30\n"
                       "v_and_b32 v1, 0x3ff, v0\n v_bfe_u32 v2, v0, 10, 10\n v_bfe_u32 v3, v0, 20, 10\n"
                       "v_mad_u32_u24 v4, v2, 5, v1\n v_mul_u32_u24 v5, 15, v3\n v_add_nc_u32 v4, v4, v5\n v_add_nc_u32 v4, s10, v4\n"
                       "v_lshlrev_b32 v4, 2, v4\n v_mov_b32 v6, s20\n v_lshl_or_b32 v6, s21, 8, v6\n v_lshl_or_b32 v6, s22, 16, v6\n"
                       "v_lshlrev_b32 v7, 24, v3\n v_or_b32 v6, v6, v7\n" +
                       store_word(t, "v4", "v6", "s[8:9]");
    if (is_gfx9(t))
        for (size_t at; (at = body.find("v_add_nc_u32")) != std::string::npos;)
            body.replace(at, 12, "v_add_u32");
    Loaded m(t, kernel_text(t, "ids", body));
    Words out(m.device, 3 * 2 * 2 * 30);
    ASSERT_EQ(m.run("ids", launch_of({3, 2, 2}, {5, 3, 2}, &out.address, 8)), SIM_OK) << m.error.instruction << m.error.reason;
    std::vector<uint32_t> got = out.read();
    size_t at = 0;
    for (uint32_t bz = 0; bz < 2; bz++)
        for (uint32_t by = 0; by < 2; by++)
            for (uint32_t bx = 0; bx < 3; bx++)
                for (uint32_t thread = 0; thread < 30; thread++, at++)
                    ASSERT_EQ(got[at], bx | by << 8 | bz << 16 | (thread / 15) << 24) << at;
}

TEST_P(Core, HiddenArguments)
{
    std::string t = GetParam(), hidden;
    const char *kinds[] = {"hidden_block_count_x", "hidden_block_count_y", "hidden_block_count_z"};
    for (int k = 0; k < 3; k++)
        hidden += hidden_argument(32 + 4 * k, 4, kinds[k]);
    hidden += hidden_argument(44, 2, "hidden_group_size_x") + hidden_argument(46, 2, "hidden_group_size_y") + hidden_argument(48, 2, "hidden_group_size_z") +
              hidden_argument(50, 2, "hidden_grid_dims") + hidden_argument(52, 4, "hidden_dynamic_lds_size") +
              hidden_argument(56, 4, "hidden_private_base") + hidden_argument(60, 4, "hidden_shared_base");
    std::string body = load_args(t, "s[8:9]", 2, 0) + load_args(t, "s[12:19]", 8, 32) + "v_mov_b32 v1, 0\n";
    for (int k = 0; k < 8; k++) {
        std::string offset = "v1", value = "v" + std::to_string(10 + k);
        body += "v_mov_b32 " + value + ", s" + std::to_string(12 + k) + "\n";
        body += std::string(is_gfx9(t) ? "global_store_dword" : "global_store_b32") + " v1, " + value + ", s[8:9] offset:" + std::to_string(4 * k) + "\n";
    }
    Loaded m(t, kernel_text(t, "hidden", body, "", hidden));
    sim_kernel_info info;
    sim_kernel_describe(m.kernel("hidden"), &info);
    EXPECT_EQ(info.kernarg_bytes, 24u);
    EXPECT_EQ(info.vgprs, 64u);
    Words out(m.device, 8);
    sim_launch l = launch_of({3, 5, 7}, {4, 2, 1}, &out.address, 8);
    l.dynamic_lds = 1000;
    ASSERT_EQ(m.run("hidden", l), SIM_OK) << m.error.reason;
    std::vector<uint32_t> want = {3, 5, 7, 4 | 2 << 16, 1 | 3 << 16, 1000, SIM_PRIVATE_BASE >> 32, SIM_SHARED_BASE >> 32};
    EXPECT_EQ(out.read(), want);
}

TEST_P(Core, DispatchPacketAndMode)
{
    std::string t = GetParam();
    /* dispatch pointer first, then kernel arguments. */
    std::string body = "s_mov_b64 s[30:31], s[0:1]\n s_mov_b64 s[0:1], s[2:3]\n" + load_args(t, "s[8:9]", 2, 0) + "s_mov_b64 s[0:1], s[30:31]\n" +
                       load_args(t, "s[12:15]", 4, 4) + load_args(t, "s[16:17]", 2, 40) +
                       "v_mov_b32 v1, 0\n v_mov_b32 v2, s12\n v_mov_b32 v3, s14\n v_mov_b32 v4, s16\n s_getreg_b32 s18, hwreg(HW_REG_MODE, 0, 8)\n v_mov_b32 v5, s18\n";
    for (int k = 0; k < 4; k++)
        body += std::string(is_gfx9(t) ? "global_store_dword" : "global_store_b32") + " v1, v" + std::to_string(2 + k) + ", s[8:9] offset:" + std::to_string(4 * k) + "\n";
    Loaded m(t, kernel_text(t, "packet", body,
                            ".amdhsa_user_sgpr_dispatch_ptr 1\n.amdhsa_float_round_mode_32 1\n.amdhsa_float_denorm_mode_32 2\n.amdhsa_float_denorm_mode_16_64 3\n"));
    Words out(m.device, 4);
    ASSERT_EQ(m.run("packet", launch_of({6}, {9, 2}, &out.address, 8)), SIM_OK) << m.error.reason;
    std::vector<uint32_t> got = out.read();
    EXPECT_EQ(got[0], 9u | 2 << 16) << "workgroup size";
    EXPECT_EQ(got[1], 54u) << "grid size in threads";
    EXPECT_NE(got[2], 0u) << "kernel arguments' address";
    EXPECT_EQ(got[3], 1u | 2 << 4 | 3 << 6) << "MODE";
}

TEST_P(Core, PartialWavesHavePartialExec)
{
    std::string t = GetParam();
    std::string body = load_args(t, "s[8:9]", 2, 0) + "v_mov_b32 v41, v0\n s_mov_b32 s20, 0\n s_mov_b32 s10, 0\n s_bcnt1_i32_b64 s12, exec\n v_mov_b32 v3, s12\n" +
                       store_by_thread(t, "v3");
    Loaded m(t, kernel_text(t, "partial", body));
    uint32_t wave = sim_wave_size(m.device);
    Words out(m.device, 150);
    ASSERT_EQ(m.run("partial", launch_of({1}, {150}, &out.address, 8)), SIM_OK) << m.error.reason;
    std::vector<uint32_t> got = out.read();
    for (uint32_t k = 0; k < 150; k++)
        EXPECT_EQ(got[k], k / wave < 150 / wave ? wave : 150 % wave) << k;
}

TEST(CoreWave64, OnGfx11)
{
    std::string t = "gfx1100";
    std::string body = load_args(t, "s[8:9]", 2, 0) + "v_mov_b32 v41, v0\n s_mov_b32 s20, 0\n s_mov_b32 s10, 0\n"
                       "v_cmp_gt_u32 vcc, 40, v0\n s_bcnt1_i32_b64 s12, vcc\n v_mov_b32 v3, s12\n" + store_by_thread(t, "v3");
    std::string all = kernel_text(t, "wide", body, "", "", 64, 64);
    /* The assembler has to be told. */
    std::vector<uint8_t> bytes = sim_assemble("gfx1100 -mwavefrontsize64", all);
    ASSERT_FALSE(bytes.empty());
    sim_error e;
    sim_device *d = sim_test_device(t);
    sim_module *m = sim_module_load(d, bytes.data(), bytes.size(), &e);
    ASSERT_NE(m, nullptr) << e.reason;
    Words out(d, 64);
    sim_launch l = launch_of({1}, {64}, &out.address, 8);
    ASSERT_EQ(sim_run(sim_kernel_get(m, "wide", &e), &l, &e), SIM_OK) << e.instruction << e.reason;
    EXPECT_EQ(out.read(), std::vector<uint32_t>(64, 40));
    sim_module_unload(m);
}

/* ------------------------------------------------------------ control */

TEST_P(Core, BranchesAndCalls)
{
    Snippet s(GetParam(), "s_mov_b32 s0, 0\n s_mov_b32 s1, 10\n"
                          "loop: s_add_i32 s0, s0, s1\n s_sub_u32 s1, s1, 1\n s_cmp_lg_u32 s1, 0\n s_cbranch_scc1 loop\n"
                          "s_getpc_b64 s[4:5]\n here: s_add_u32 s4, s4, function-here\n s_addc_u32 s5, s5, 0\n s_swappc_b64 s[6:7], s[4:5]\n"
                          "s_call_b64 s[6:7], function\n s_cbranch_execz bad\n s_mov_b64 exec, 0\n s_cbranch_execnz bad\n s_cbranch_execz good\n"
                          "bad: s_mov_b32 s9, 99\n good: s_mov_b64 vcc, 0\n s_cbranch_vccnz bad2\n s_mov_b32 s10, 1\n s_endpgm\n"
                          "bad2: s_mov_b32 s9, 98\n s_endpgm\n"
                          "function: s_add_u32 s8, s8, 5\n s_setpc_b64 s[6:7]\n");
    s.go();
    EXPECT_EQ(s.s(0), 55u);
    EXPECT_EQ(s.s(8), 10u);
    EXPECT_EQ(s.s(9), 0u);
    EXPECT_EQ(s.s(10), 1u);
}

TEST_P(Core, JumpOutOfTheText)
{
    Snippet s(GetParam(), "s_mov_b64 s[0:1], 0x1000\n s_setpc_b64 s[0:1]");
    EXPECT_FALSE(s.run());
    EXPECT_EQ(s.error.status, SIM_FAULT_CALL);
    EXPECT_TRUE(s.error.has_address);
    EXPECT_EQ(s.error.address, 0x1000u);
    Snippet end(GetParam(), "s_branch 32000");
    EXPECT_FALSE(end.run());
    EXPECT_EQ(end.error.status, SIM_FAULT_CALL);
}

TEST_P(Core, ClocksAndRegisters)
{
    std::string t = GetParam();
    Snippet s(t, is_gfx9(t)          ? "s_memrealtime s[0:1]\n s_memtime s[2:3]\n s_sleep 1\n s_memtime s[4:5]\n"
                 : t == "gfx1100" ? "s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_REALTIME)\n s_getreg_b32 s2, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\n s_sleep 1\n s_getreg_b32 s4, hwreg(HW_REG_SHADER_CYCLES, 0, 20)\n"
                                  : "s_sendmsg_rtn_b64 s[0:1], sendmsg(MSG_RTN_GET_REALTIME)\n s_getreg_b32 s2, hwreg(HW_REG_SHADER_CYCLES_LO)\n s_sleep 1\n s_getreg_b32 s4, hwreg(HW_REG_SHADER_CYCLES_LO)\n");
    s.go();
    EXPECT_NE(s.s64(0), 0u);
    EXPECT_EQ(s.s(4), s.s(2) + 2);              // instructions, not turns
    Snippet mode(t, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1\n s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 8)\n s_mov_b32 s5, 2\n"
                    "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s5\n s_getreg_b32 s1, hwreg(HW_REG_MODE, 0, 8)\n");
    mode.go();
    EXPECT_EQ(mode.s(0), 0xd0u);
    EXPECT_EQ(mode.s(1), 0xd2u);
}

TEST_P(Core, DualIssueReadsBeforeItWrites)
{
    if (is_gfx9(GetParam()))
        GTEST_SKIP();
    Snippet s(GetParam(), "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0\n v_dual_add_f32 v2, 1.0, v3 :: v_dual_mul_f32 v5, 2.0, v4\n");
    for (uint32_t l = 0; l < 32; l++) {
        s.v(0, l) = l;
        s.v(1, l) = 100 + l;
        s.set_vf(3, l, 0.5f);
        s.set_vf(4, l, 3.0f);
    }
    s.go();
    for (uint32_t l = 0; l < 32; l++) {
        EXPECT_EQ(s.v(0, l), 100 + l);
        EXPECT_EQ(s.v(1, l), l);
        EXPECT_EQ(s.vf(2, l), 1.5f);
        EXPECT_EQ(s.vf(5, l), 6.0f);
    }
    EXPECT_EQ(s.wave->counts.executed[SIM_CLASS_VALU], 4u) << "both halves count";
}

/* ------------------------------------------------------------ barriers, waits, limits */

std::string barrier(const std::string &t) { return t == "gfx1201" ? "s_barrier_signal -1\ns_barrier_wait -1\n" : "s_barrier\n"; }

TEST_P(Core, BarrierOrdersWaves)
{
    std::string t = GetParam();
    /* Each thread writes its number to LDS and after the barrier reads that of the thread 100 further. */
    std::string b32 = is_gfx9(t) ? "ds_write_b32 " : "ds_store_b32 ", l32 = is_gfx9(t) ? "ds_read_b32 " : "ds_load_b32 ";
    std::string add = is_gfx9(t) ? "v_add_u32 " : "v_add_nc_u32 ";
    std::string body = block_ids(t) + load_args(t, "s[8:9]", 2, 0) + "s_movk_i32 s10, 200\n v_mov_b32 v41, v0\n v_lshlrev_b32 v1, 2, v0\n" + b32 + "v1, v0\n" +
                       (t == "gfx1201" ? "s_wait_dscnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n") + barrier(t) + add + "v2, 100, v0\n" +
                       "v_mov_b32 v3, 0xc8\n v_cmp_le_u32 vcc" + (is_gfx9(t) ? "" : "_lo") + ", v3, v2\n v_cndmask_b32 v4, 0, v3, vcc" + (is_gfx9(t) ? "" : "_lo") + "\n" +
                       (is_gfx9(t) ? "v_sub_u32 " : "v_sub_nc_u32 ") + "v2, v2, v4\n v_lshlrev_b32 v2, 2, v2\n" + l32 + "v5, v2\n" +
                       (t == "gfx1201" ? "s_wait_dscnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n") + store_by_thread(t, "v5");
    Loaded m(t, kernel_text(t, "cross", body, ".amdhsa_group_segment_fixed_size 800\n"));
    Words out(m.device, 3 * 200);
    sim_counts counts = {};
    sim_launch l = launch_of({3}, {200}, &out.address, 8);
    l.counts = &counts;
    ASSERT_EQ(m.run("cross", l), SIM_OK) << m.error.instruction << ": " << m.error.reason;
    std::vector<uint32_t> got = out.read();
    for (uint32_t k = 0; k < 600; k++)
        ASSERT_EQ(got[k], (k % 200 + 100) % 200) << k;
    uint32_t waves = 3 * ((200 + sim_wave_size(m.device) - 1) / sim_wave_size(m.device));
    EXPECT_EQ(counts.executed[SIM_CLASS_LDS], 2 * waves);
    EXPECT_EQ(counts.executed[SIM_CLASS_VMEM], waves);
    EXPECT_EQ(counts.executed[SIM_CLASS_SMEM], waves);
}

TEST_P(Core, EndedWavesCountAsArrived)
{
    std::string t = GetParam();
    /* The first wave ends at once; the others meet at two barriers. */
    std::string body = load_args(t, "s[8:9]", 2, 0) + "v_readfirstlane_b32 s12, v0\n s_cmp_eq_u32 s12, 0\n s_cbranch_scc1 over\n" + barrier(t) + barrier(t) +
                       "v_mov_b32 v41, v0\n s_mov_b32 s20, 0\n s_mov_b32 s10, 0\n v_mov_b32 v3, 7\n" + store_by_thread(t, "v3") + "over:\n";
    Loaded m(t, kernel_text(t, "early", body));
    Words out(m.device, 256);
    ASSERT_EQ(m.run("early", launch_of({1}, {256}, &out.address, 8)), SIM_OK) << m.error.reason;
    std::vector<uint32_t> got = out.read();
    EXPECT_EQ(got[0], 0u);
    for (uint32_t k = sim_wave_size(m.device); k < 256; k++)
        EXPECT_EQ(got[k], 7u);
}

TEST(CoreBarrier, WaitWithoutSignalIsADeadlock)
{
    std::string t = "gfx1201";
    Loaded m(t, kernel_text(t, "stuck", "s_barrier_wait -1"));
    EXPECT_EQ(m.run("stuck", launch_of({2}, {64})), SIM_FAULT_DEADLOCK);
    EXPECT_STREQ(m.error.kernel, "stuck");
    EXPECT_EQ(std::string(m.error.instruction).substr(0, 14), "s_barrier_wait");
    EXPECT_EQ(m.error.block[0], 0u);
}

TEST_P(Core, TimeLimit)
{
    std::string t = GetParam();
    Loaded m(t, kernel_text(t, "forever", "again: s_nop 0\n s_branch again"));
    sim_launch l = launch_of({4}, {64});
    l.timeout_ms = 100;
    EXPECT_EQ(m.run("forever", l), SIM_FAULT_TIMEOUT);
    EXPECT_STREQ(m.error.kernel, "forever");
    EXPECT_TRUE(m.error.has_thread);
}

/* Wave 1 waits in a loop for what wave 0 writes after it has waited for wave 1: turns have to change without a barrier. */
TEST_P(Core, WavesThatWaitForEachOther)
{
    std::string t = GetParam();
    std::string wait = t == "gfx1201" ? "s_wait_dscnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n";
    std::string st = is_gfx9(t) ? "ds_write_b32 " : "ds_store_b32 ", ld = is_gfx9(t) ? "ds_read_b32 " : "ds_load_b32 ";
    std::string body = "v_mov_b32 v1, 0\n v_mov_b32 v2, 4\n v_mov_b32 v3, 1\n v_readfirstlane_b32 s12, v0\n s_cmp_eq_u32 s12, 0\n s_cbranch_scc1 first\n" + st +
                       "v1, v3\n" + "second: s_sleep 1\n" + ld + "v4, v2\n" + wait + "v_readfirstlane_b32 s13, v4\n s_cmp_eq_u32 s13, 0\n s_cbranch_scc1 second\n s_endpgm\n" +
                       "first: " + ld + "v4, v1\n" + wait + "v_readfirstlane_b32 s13, v4\n s_cmp_eq_u32 s13, 0\n s_cbranch_scc1 first\n" + st + "v2, v3\n";
    Loaded m(t, kernel_text(t, "mutual", body, ".amdhsa_group_segment_fixed_size 8\n"));
    EXPECT_EQ(m.run("mutual", launch_of({2}, {2 * sim_wave_size(m.device)})), SIM_OK) << m.error.reason;
}

/* Block 0 waits for the last block, on two threads. */
TEST_P(Core, ABlockThatWaitsForALaterOne)
{
    std::string t = GetParam();
    std::string wait = t == "gfx1201" ? "s_wait_loadcnt 0x0\n" : "s_waitcnt vmcnt(0)\n";
    std::string ld = is_gfx9(t) ? "global_load_dword " : "global_load_b32 ";
    std::string body = block_ids(t) + load_args(t, "s[8:9]", 2, 0) + "v_mov_b32 v1, 0\n v_mov_b32 v3, 1\n s_cmp_eq_u32 s20, 5\n s_cbranch_scc1 last\n" +
                       "again: s_sleep 1\n" + ld + "v4, v1, s[8:9]\n" + wait + "v_readfirstlane_b32 s13, v4\n s_cmp_eq_u32 s13, 0\n s_cbranch_scc1 again\n s_endpgm\n" + "last: " +
                       store_word(t, "v1", "v3", "s[8:9]");
    Loaded m(t, kernel_text(t, "grid", body));
    Words out(m.device, 1);
    EXPECT_EQ(m.run("grid", launch_of({6}, {64}, &out.address, 8)), SIM_OK) << m.error.reason;
}

/* ------------------------------------------------------------ faults */

TEST_P(Core, TrapNamesTheThread)
{
    std::string t = GetParam();
    Loaded m(t, kernel_text(t, "trap", block_ids(t) + "s_cmp_lt_u32 s20, 3\n s_cbranch_scc1 fine\n s_nop 7\n s_trap 2\nfine:"));
    for (int repeat = 0; repeat < 5; repeat++) {
        EXPECT_EQ(m.run("trap", launch_of({40}, {64})), SIM_FAULT_TRAP);
        EXPECT_STREQ(m.error.kernel, "trap");
        EXPECT_STREQ(m.error.instruction, "s_trap 2");
        EXPECT_EQ(m.error.block[0], 3u) << "the lowest block's";
    }
    Loaded debug(t, kernel_text(t, "debug", "s_trap 3"));
    EXPECT_EQ(debug.run("debug", launch_of({1}, {64})), SIM_OK);
}

TEST_P(Core, AddressFaultNamesEverything)
{
    std::string t = GetParam();
    std::string body = block_ids(t) + load_args(t, "s[8:9]", 2, 0) + "s_movk_i32 s10, 96\n v_mov_b32 v41, v0\n" + store_by_thread(t, "v41");
    Loaded m(t, kernel_text(t, "over", body));
    Words out(m.device, 250);
    sim_launch l = launch_of({4}, {96}, &out.address, 8);
    EXPECT_EQ(m.run("over", l), SIM_FAULT_ADDRESS);
    EXPECT_EQ(m.error.block[0], 2u);
    EXPECT_TRUE(m.error.has_thread);
    EXPECT_EQ(m.error.thread[0], 250u - 192);
    EXPECT_TRUE(m.error.has_address);
    EXPECT_EQ(m.error.address, out.address + 1000);
    EXPECT_NE(strstr(m.error.instruction, "global_store"), nullptr);
    EXPECT_NE(strstr(m.error.reason, "0x"), nullptr);
    std::vector<uint32_t> got = out.read();
    for (uint32_t k = 0; k < 192; k++)
        EXPECT_EQ(got[k], k % 96) << "blocks below the fault are complete";
}

TEST_P(Core, UnknownInstructionStopsOnlyWhenReached)
{
    std::string t = GetParam();
    std::string unknown = is_gfx9(t) ? "s_set_gpr_idx_on s0, gpr_idx(SRC0)\n" : "s_endpgm_saved\n";
    if (t == "gfx1201")
        unknown = "s_barrier_join m0\n";
    Loaded m(t, kernel_text(t, "unknown", block_ids(t) + "s_cmp_eq_u32 s20, 0\n s_cbranch_scc1 fine\n s_nop 0\n" + unknown + "fine:"));
    EXPECT_EQ(m.run("unknown", launch_of({1}, {32})), SIM_OK) << m.error.reason;
    EXPECT_EQ(m.run("unknown", launch_of({2}, {32})), SIM_UNSUPPORTED);
    EXPECT_EQ(std::string(m.error.instruction).substr(0, 5), unknown.substr(0, 5));
    EXPECT_NE(strstr(m.error.reason, "unknown instruction"), nullptr);
    EXPECT_GT(m.error.pc, 0u);
    EXPECT_EQ(m.error.pc % 4, 0u);
    Loaded words(t, kernel_text(t, "words", ".long 0xffffffff"));
    EXPECT_EQ(words.run("words", launch_of({1}, {32})), SIM_UNSUPPORTED);
    EXPECT_NE(m.error.instruction[0], 0);
}

TEST_P(Core, BadLaunches)
{
    std::string t = GetParam();
    Loaded m(t, kernel_text(t, "k", "s_nop 0"));
    uint64_t arguments[100] = {};
    EXPECT_EQ(m.run("k", launch_of({0}, {32})), SIM_BAD_ARGUMENT);
    EXPECT_EQ(m.run("k", launch_of({1}, {32, 33})), SIM_BAD_ARGUMENT) << "too many threads";
    EXPECT_EQ(m.run("k", launch_of({1, 70000}, {32})), SIM_BAD_ARGUMENT);
    EXPECT_EQ(m.run("k", launch_of({0xffffffff}, {1024})), SIM_BAD_ARGUMENT);
    EXPECT_EQ(m.run("k", launch_of({1}, {32}, arguments, 800)), SIM_BAD_ARGUMENT);
    sim_launch l = launch_of({1}, {32});
    l.dynamic_lds = 65537;
    EXPECT_EQ(m.run("k", l), SIM_BAD_ARGUMENT);
    EXPECT_EQ(m.run("none", launch_of({1}, {32})), SIM_NOT_FOUND);
    EXPECT_EQ(m.run("k", launch_of({1}, {32}, arguments, 64)), SIM_OK);
    EXPECT_EQ(sim_run(nullptr, &l, nullptr), SIM_BAD_ARGUMENT);
}

/* ------------------------------------------------------------ scalar loads */

TEST_P(Core, ScalarLoads)
{
    std::string t = GetParam();
    bool gfx9 = is_gfx9(t), gfx12 = t == "gfx1201";
    auto name = [&](int words) { return gfx9 ? words == 1 ? std::string("s_load_dword") : "s_load_dwordx" + std::to_string(words) : "s_load_b" + std::to_string(32 * words); };
    std::string text = name(1) + " s10, s[0:1], 0x4\n" + name(2) + " s[12:13], s[0:1], 0x8\n" + name(4) + " s[16:19], s[0:1], s2\n" + name(8) +
                       " s[24:31], s[0:1], 0x0\n" + name(16) + " s[36:51], s[0:1], 0x40\n" + (gfx9 ? "s_load_dword s52, s[0:1], s2 offset:0x4\n" : "s_load_b32 s52, s[0:1], s2 offset:0x4\n") +
                       name(1) + " s53, s[4:5], -0x10\n";
    if (gfx12)
        text += "s_load_b96 s[56:58], s[0:1], 0x4\n s_load_u8 s60, s[0:1], 0x83\n s_load_i8 s61, s[0:1], 0x83\n s_load_u16 s62, s[0:1], 0x82\n s_load_i16 s63, s[0:1], 0x82\n";
    Snippet s(t, text);
    Words data(s.device, 64);
    std::vector<uint32_t> v(64);
    for (uint32_t k = 0; k < 64; k++)
        v[k] = 0x01010101 * k + 7;
    v[32] = 0xfe80aabb;
    sim_write(s.device, data.address, v.data(), 256);
    s.set_s64(0, data.address);
    s.set_s64(4, data.address + 0x40);
    s.s(2) = 32;
    s.go();
    EXPECT_EQ(s.s(10), v[1]);
    EXPECT_EQ(s.s64(12), v[2] | static_cast<uint64_t>(v[3]) << 32);
    for (uint32_t k = 0; k < 4; k++)
        EXPECT_EQ(s.s(16 + k), v[8 + k]);
    for (uint32_t k = 0; k < 8; k++)
        EXPECT_EQ(s.s(24 + k), v[k]);
    for (uint32_t k = 0; k < 16; k++)
        EXPECT_EQ(s.s(36 + k), v[16 + k]);
    EXPECT_EQ(s.s(52), v[9]);
    EXPECT_EQ(s.s(53), v[12]);
    if (gfx12) {
        for (uint32_t k = 0; k < 3; k++)
            EXPECT_EQ(s.s(56 + k), v[1 + k]);
        EXPECT_EQ(s.s(60), 0xfeu);
        EXPECT_EQ(s.s(61), 0xfffffffeu);
        EXPECT_EQ(s.s(62), 0xfe80u);
        EXPECT_EQ(s.s(63), 0xfffffe80u);
    }
    s.set_s64(0, data.address + 252);
    EXPECT_FALSE(s.run());
    EXPECT_EQ(s.error.status, SIM_FAULT_ADDRESS);
}

TEST_P(Core, ScalarBufferLoads)
{
    Snippet s(GetParam(), is_gfx9(GetParam()) ? "s_buffer_load_dword s10, s[4:7], 0x8\n s_buffer_load_dwordx2 s[12:13], s[4:7], 0xc\n"
                                              : "s_buffer_load_b32 s10, s[4:7], 0x8\n s_buffer_load_b64 s[12:13], s[4:7], 0xc\n");
    Words data(s.device, 4);
    const uint32_t v[4] = {1, 2, 3, 4};
    sim_write(s.device, data.address, v, 16);
    s.set_s64(4, data.address);
    s.s(6) = 16;
    s.go();
    EXPECT_EQ(s.s(10), 3u);
    EXPECT_EQ(s.s(12), 4u);
    EXPECT_EQ(s.s(13), 0u) << "beyond the records";
}

/* ------------------------------------------------------------ modules */

TEST_P(Core, VariablesAndRelocations)
{
    std::string t = GetParam();
    std::string text = kernel_text(t, "k", "s_nop 0") + ".data\n.globl table\n.protected table\n.type table,@object\n.p2align 3\ntable:\n.quad 0x1122334455667788\n.quad table+8\n.quad other\n"
                       ".size table, 24\n.globl other\n.protected other\n.type other,@object\nother:\n.long 42\n.size other, 4\n"
                       ".bss\n.globl zeros\n.protected zeros\n.type zeros,@object\n.p2align 4\nzeros: .zero 10000\n.size zeros, 10000\n";
    Loaded m(t, text);
    uint64_t bytes = 0, table = sim_symbol(m.module, "table", &bytes);
    ASSERT_NE(table, 0u);
    EXPECT_EQ(bytes, 24u);
    uint64_t v[3];
    ASSERT_TRUE(sim_read(m.device, v, table, 24));
    EXPECT_EQ(v[0], 0x1122334455667788u);
    EXPECT_EQ(v[1], table + 8);
    EXPECT_EQ(v[2], sim_symbol(m.module, "other", nullptr));
    uint64_t zeros = sim_symbol(m.module, "zeros", &bytes);
    EXPECT_EQ(bytes, 10000u);
    std::vector<uint8_t> z(10000, 1);
    ASSERT_TRUE(sim_read(m.device, z.data(), zeros, z.size()));
    EXPECT_EQ(z, std::vector<uint8_t>(10000, 0));
    EXPECT_TRUE(sim_write(m.device, zeros + 9996, v, 4));
    EXPECT_EQ(sim_symbol(m.module, "nobody", nullptr), 0u);
}

TEST(CoreModule, RefusesAnotherTargetAndKind)
{
    std::vector<uint8_t> bytes = sim_assemble("gfx1100", kernel_text("gfx1100", "k", "s_nop 0"));
    sim_error e;
    EXPECT_EQ(sim_module_load(sim_test_device("gfx1201"), bytes.data(), bytes.size(), &e), nullptr);
    EXPECT_EQ(e.status, SIM_BAD_INPUT);
    EXPECT_NE(strstr(e.reason, "gfx1100"), nullptr);
    EXPECT_EQ(sim_module_load(sim_test_device("gfx1100"), "hello", 5, &e), nullptr);
    EXPECT_EQ(e.status, SIM_BAD_INPUT);
    EXPECT_EQ(sim_module_load(sim_test_device("gfx1100"), nullptr, 0, &e), nullptr);
    EXPECT_EQ(sim_module_load(nullptr, bytes.data(), bytes.size(), &e), nullptr);
    std::vector<uint8_t> changed = bytes;
    changed[EI_ABIVERSION] = 9;
    EXPECT_EQ(sim_module_load(sim_test_device("gfx1100"), changed.data(), changed.size(), &e), nullptr);
}

/* Loads what is given, and runs what loads, for a moment. Nothing may crash. */
void try_hostile(sim_device *device, const std::vector<uint8_t> &bytes, bool run)
{
    sim_error e;
    sim_module *m = sim_module_load(device, bytes.data(), bytes.size(), &e);
    if (!m) {
        EXPECT_NE(e.status, SIM_OK);
        EXPECT_NE(e.reason[0], 0);
        return;
    }
    sim_kernel *k = sim_kernel_get(m, "victim", &e);
    uint64_t arguments[8] = {};
    sim_launch l = launch_of({2}, {96}, arguments, 0);
    l.timeout_ms = 30;
    if (k && run)
        sim_run(k, &l, &e);
    sim_module_unload(m);
}

std::vector<uint8_t> victim(const std::string &t)
{
    std::string body = block_ids(t) + load_args(t, "s[8:9]", 2, 0) + "s_movk_i32 s10, 96\n v_mov_b32 v41, v0\n" + barrier(t) + store_by_thread(t, "v41");
    return sim_assemble(t, kernel_text(t, "victim", body, "", hidden_argument(32, 4, "hidden_block_count_x")) +
                               ".data\n.globl table\n.type table,@object\n.p2align 3\ntable:\n.quad table+8\n.size table, 8\n");
}

TEST_P(Core, TruncatedCodeObjects)
{
    std::vector<uint8_t> bytes = victim(GetParam());
    ASSERT_FALSE(bytes.empty());
    for (size_t n = 0; n < bytes.size(); n += n < 1024 ? 1 : 7)
        try_hostile(sim_test_device(GetParam()), std::vector<uint8_t>(bytes.begin(), bytes.begin() + static_cast<long>(n)), false);
}

TEST_P(Core, MutatedCodeObjects)
{
    const std::vector<uint8_t> bytes = victim(GetParam());
    ASSERT_FALSE(bytes.empty());
    std::mt19937 random(11);
    for (int round = 0; round < 1500; round++) {
        std::vector<uint8_t> b = bytes;
        int changes = 1 + static_cast<int>(random() % 4);
        for (int k = 0; k < changes; k++) {
            static const uint8_t special[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x10, 0x40};
            size_t at = random() % b.size();
            b[at] = random() % 2 ? special[random() % 8] : static_cast<uint8_t>(random());
        }
        try_hostile(sim_test_device(GetParam()), b, round % 4 == 0);
    }
}

/* Every field of the headers with extreme values. */
TEST_P(Core, ExtremeHeaders)
{
    const std::vector<uint8_t> bytes = victim(GetParam());
    ASSERT_FALSE(bytes.empty());
    Elf64_Ehdr head;
    memcpy(&head, bytes.data(), sizeof head);
    const uint64_t extremes[] = {0, 1, 0x7fffffff, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0xffffffffffffffff, 0xfffffffffffff000, bytes.size(), bytes.size() - 1};
    auto attack = [&](size_t at, size_t width) {
        for (uint64_t x : extremes) {
            std::vector<uint8_t> b = bytes;
            memcpy(&b[at], &x, width);
            try_hostile(sim_test_device(GetParam()), b, true);
        }
    };
    for (size_t at = 16; at < sizeof head; at += 4)
        attack(at, 4);
    for (size_t k = 0; k < head.e_phnum; k++)
        for (size_t f = 0; f < sizeof(Elf64_Phdr); f += 8)
            attack(head.e_phoff + k * sizeof(Elf64_Phdr) + f, 8);
    for (size_t k = 0; k < head.e_shnum; k++)
        for (size_t f = 0; f < sizeof(Elf64_Shdr); f += 8)
            attack(head.e_shoff + k * sizeof(Elf64_Shdr) + f, 8);
}

/* Random words as text: decoding and running them must end in an error or an end. */
TEST_P(Core, RandomText)
{
    std::string t = GetParam();
    std::mt19937 random(5);
    std::string body = "s_nop 0\n";
    for (int k = 0; k < 2000; k++)
        body += ".long " + std::to_string(static_cast<uint32_t>(random())) + "\n";
    Snippet s(t, body);
    ASSERT_NE(s.module, nullptr);
    for (uint32_t at = 0; at < 2000; at++) {
        const sim_insn *i = sim_code_at(sim_module_code(s.module, s.lanes()), at);
        ASSERT_NE(i, nullptr);
        EXPECT_NE(i->run, nullptr);
        EXPECT_GE(i->words, 1u);
    }
}

/* ------------------------------------------------------------ memory of the device */

TEST(CoreMemory, AllocationsAreExact)
{
    sim_device *d = sim_test_device("gfx1100");
    uint64_t a = sim_alloc(d, 1000), b = sim_alloc(d, 1), used = 0, rest = 0;
    ASSERT_NE(a, 0u);
    ASSERT_NE(b, 0u);
    EXPECT_EQ(a % 256, 0u);
    EXPECT_EQ(b % 256, 0u);
    EXPECT_EQ(sim_alloc(d, 0), 0u);
    EXPECT_EQ(sim_alloc(d, UINT64_MAX), 0u);
    EXPECT_EQ(sim_alloc(d, UINT64_MAX - 5000), 0u);
    uint8_t buffer[1001] = {1};
    EXPECT_TRUE(sim_read(d, buffer, a, 1000));
    EXPECT_EQ(buffer[0], 0);
    EXPECT_FALSE(sim_read(d, buffer, a, 1001));
    EXPECT_FALSE(sim_write(d, a + 999, buffer, 2));
    EXPECT_FALSE(sim_write(d, a - 1, buffer, 1));
    EXPECT_TRUE(sim_set(d, a, 0x5a, 1000));
    EXPECT_TRUE(sim_copy(d, b, a + 999, 1));
    EXPECT_FALSE(sim_copy(d, b, a, 2));
    EXPECT_TRUE(sim_read(d, buffer, b, 1));
    EXPECT_EQ(buffer[0], 0x5a);
    uint64_t base = 0, bytes = 0;
    EXPECT_TRUE(sim_range(d, a + 500, &base, &bytes));
    EXPECT_EQ(base, a);
    EXPECT_EQ(bytes, 1000u);
    EXPECT_FALSE(sim_range(d, a + 1000, &base, &bytes));
    sim_memory_info(d, &used, &rest);
    EXPECT_GE(used, 1001u);
    EXPECT_FALSE(sim_free(d, a + 1));
    EXPECT_TRUE(sim_free(d, a));
    EXPECT_FALSE(sim_free(d, a));
    EXPECT_FALSE(sim_read(d, buffer, a, 1));
    uint64_t again = sim_alloc(d, 1000);
    EXPECT_TRUE(sim_read(d, buffer, again, 1000));
    EXPECT_EQ(buffer[3], 0) << "memory that is used again is zero";
    EXPECT_TRUE(sim_free(d, again));
    EXPECT_TRUE(sim_free(d, b));
}

TEST(CoreMemory, ManyAllocations)
{
    sim_device *d = sim_test_device("gfx942");
    std::mt19937 random(3);
    std::vector<std::pair<uint64_t, uint32_t>> live;
    for (int k = 0; k < 3000; k++) {
        if (live.size() < 100 || random() % 2) {
            uint32_t bytes = 1 + random() % 20000;
            uint64_t at = sim_alloc(d, bytes);
            ASSERT_NE(at, 0u);
            for (const auto &[other, size] : live)
                ASSERT_TRUE(at + bytes <= other || other + size <= at);
            live.push_back({at, bytes});
        } else {
            size_t which = random() % live.size();
            ASSERT_TRUE(sim_free(d, live[which].first));
            live.erase(live.begin() + static_cast<long>(which));
        }
    }
    for (const auto &[at, size] : live)
        EXPECT_TRUE(sim_free(d, at));
}

TEST(CoreMemory, AFullArena)
{
    sim_options o = {};
    o.target = "gfx1100";
    o.arena_bytes = 1 << 20;
    sim_error e;
    sim_device *d = sim_open(&o, &e);
    ASSERT_NE(d, nullptr);
    EXPECT_EQ(sim_alloc(d, 1 << 20), 0u);
    int n = 0;
    while (sim_alloc(d, 4096))
        n++;
    EXPECT_GT(n, 100);
    std::vector<uint8_t> bytes = victim("gfx1100");
    EXPECT_EQ(sim_module_load(d, bytes.data(), bytes.size(), &e), nullptr);
    EXPECT_EQ(e.status, SIM_NO_MEMORY);
    sim_close(d);
}

TEST(CoreDevice, OpensOnlyWhatItKnows)
{
    sim_options o = {};
    sim_error e;
    o.target = "gfx900";
    EXPECT_EQ(sim_open(&o, &e), nullptr);
    EXPECT_EQ(e.status, SIM_NOT_FOUND);
    EXPECT_NE(strstr(e.reason, "gfx900"), nullptr);
    EXPECT_EQ(sim_open(nullptr, nullptr), nullptr);
    for (const char *const *t = sim_targets(); *t; t++) {
        o.target = *t;
        sim_device *d = sim_open(&o, &e);
        ASSERT_NE(d, nullptr) << *t;
        EXPECT_STREQ(sim_target(d), *t);
        EXPECT_GE(sim_threads(d), 1u);
        sim_close(d);
    }
    for (int k = 0; k < SIM_STATUS_COUNT; k++)
        EXPECT_STRNE(sim_status_name(static_cast<sim_status>(k)), "?");
    for (int k = 0; k < SIM_CLASS_COUNT; k++)
        EXPECT_STRNE(sim_class_name(static_cast<sim_class>(k)), "?");
}

TEST(CoreDevice, LaunchesFromSeveralThreads)
{
    std::string t = "gfx1100";
    std::string body = block_ids(t) + load_args(t, "s[8:9]", 2, 0) + "s_movk_i32 s10, 64\n v_mov_b32 v41, v0\n" + store_by_thread(t, "v41");
    Loaded m(t, kernel_text(t, "shared", body));
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; k++)
        threads.emplace_back([&] {
            for (int n = 0; n < 20; n++) {
                Words out(m.device, 640);
                sim_error e;
                sim_launch l = launch_of({10}, {64}, &out.address, 8);
                EXPECT_EQ(sim_run(sim_kernel_get(m.module, "shared", &e), &l, &e), SIM_OK) << e.reason;
                std::vector<uint32_t> got = out.read();
                for (uint32_t x = 0; x < 640; x++)
                    EXPECT_EQ(got[x], x % 64);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

} // namespace
