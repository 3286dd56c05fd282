/* snippets.c - see snippets.h.
 *
 * A snippet finds 16 bytes of its thread at [%in], the first 8 also in %v; it leaves a result in %d. %own is an address of 64 bytes of the thread in
 * shared memory (64 bits wide), conform_local 64 bytes in local memory, %t the thread's number in its block of 128. Every
 * thread executes it. Each operation has a snippet or its place in the list of what other tests cover.
 */
#include "conformance/snippets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "runtime/internal.h"

typedef struct snippet {
    const char *name, *operation, *body;
    uint64_t (*expect)(const uint64_t (*in)[2], uint32_t t);     /* in: those of the whole block */
} snippet;

/* ------------------------------------------------------------ expectations */

static uint64_t same(const uint64_t (*in)[2], uint32_t t) { return in[t][0]; }
static uint64_t second(const uint64_t (*in)[2], uint32_t t) { return in[t][1]; }
static uint64_t neighbour(const uint64_t (*in)[2], uint32_t t) { return in[t ^ 1][0]; }
static uint64_t opposite(const uint64_t (*in)[2], uint32_t t) { return in[t ^ 64][0]; }
static uint64_t five_or_nine(const uint64_t (*in)[2], uint32_t t) { return in[t][0] + (in[t][0] & 1 ? 9 : 5); }
static uint64_t by_table(const uint64_t (*in)[2], uint32_t t) { return in[t][0] + 10 * (in[t][0] % 3 + 1); }
static uint64_t threefold(const uint64_t (*in)[2], uint32_t t) { return 3 * in[t][0] + 1; }
static uint64_t one_more_if_even(const uint64_t (*in)[2], uint32_t t) { return in[t][0] + !(in[t][0] & 1); }

static uint64_t odd_ones(const uint64_t (*in)[2])
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < CONFORM_BLOCK; i++)
        n += in[i][0] & 1;
    return n;
}
/* popc, and, or of the lowest bits; and popc of the first warp's two. */
static uint64_t block_votes(const uint64_t (*in)[2], uint32_t t)
{
    const uint64_t n = odd_ones(in);
    (void)t;
    return n << 8 | (uint64_t)(n == CONFORM_BLOCK) << 1 | (n > 0);
}

/* PTX ISA, "isspacep": global, shared, local addresses as global, shared, shared::cta, shared::cluster, local, const. */
static uint64_t spaces(const uint64_t (*in)[2], uint32_t t)
{
    (void)in;
    (void)t;
    return 0x20 << 12 | 0x1c << 6 | 0x02;
}

/* Test of the state that the first of two arrivals gave: open, then complete; the count that was pending before it. */
static uint64_t barrier_states(const uint64_t (*in)[2], uint32_t t)
{
    (void)in;
    (void)t;
    return 0 | 1 << 1 | 2 << 4;
}

/* The phase before is complete, this one is not; after the arrival it is, and the next one is not. */
static uint64_t barrier_parities(const uint64_t (*in)[2], uint32_t t)
{
    (void)in;
    (void)t;
    return 0x9;
}

static uint32_t word(const uint64_t (*in)[2], uint32_t t, uint32_t i) { return (uint32_t)(in[t][i / 2] >> (32 * (i % 2))); }
static uint32_t half(const uint64_t (*in)[2], uint32_t t, uint32_t i) { return (uint32_t)(in[t][i / 4] >> (16 * (i % 4))) & 0xffff; }
static uint64_t together(const uint32_t r[4]) { return ((r[0] * 31ull + r[1]) * 31 + r[2]) * 31 + r[3]; }

/* PTX ISA, "ldmatrix": thread T has row T / 4, elements 2 (T % 4) and the next; the rows of matrix m are those of lanes 8 m and on. */
static uint64_t four_matrices(const uint64_t (*in)[2], uint32_t t)
{
    uint32_t r[4], warp = t / 32 * 32, lane = t % 32;
    for (uint32_t m = 0; m < 4; m++)
        r[m] = word(in, warp + 8 * m + lane / 4, lane % 4);
    return together(r);
}
static uint64_t four_transposed(const uint64_t (*in)[2], uint32_t t)
{
    uint32_t r[4], warp = t / 32 * 32, lane = t % 32;
    for (uint32_t m = 0; m < 4; m++)
        r[m] = half(in, warp + 8 * m + 2 * (lane % 4), lane / 4) | half(in, warp + 8 * m + 2 * (lane % 4) + 1, lane / 4) << 16;
    return together(r);
}
/* stmatrix.x2: row `lane` of the 16 that lanes 0 to 15 name holds the registers of the four threads that have it. */
static uint64_t stored_matrix(const uint64_t (*in)[2], uint32_t t)
{
    const uint32_t warp = t / 32 * 32, lane = t % 32;
    if (lane >= 16)
        return 7;
    return word(in, warp + lane % 8 * 4, lane / 8) + 3ull * word(in, warp + lane % 8 * 4 + 3, lane / 8);
}

/* ------------------------------------------------------------ snippets */

#define WAIT(barrier) "WAIT: mbarrier.test_wait.parity.shared.b64 %p, [" barrier "], 0;\n @!%p bra WAIT;\n"
#define FOUR "cvt.u64.u32 %d, %r0; mul.lo.u64 %d, %d, 31; cvt.u64.u32 %x, %r1; add.u64 %d, %d, %x; mul.lo.u64 %d, %d, 31; cvt.u64.u32 %x, %r2;\n" \
    "add.u64 %d, %d, %x; mul.lo.u64 %d, %d, 31; cvt.u64.u32 %x, %r3; add.u64 %d, %d, %x;\n"
#define ROWS "ld.global.u64 %x, [%in+8]; st.shared.u64 [%own], %v; st.shared.u64 [%own+8], %x; bar.warp.sync -1;\n"
#define PARITY(phase) "mbarrier.test_wait.parity.shared.b64 %p, [%own], %" phase "; shl.b64 %d, %d, 1; selp.b64 %w, 1, 0, %p; or.b64 %d, %d, %w;\n"
#define NEIGHBOUR(mask) "xor.b32 %a, %t, " mask "; mov.u64 %x, conform_shared; mul.wide.u32 %y, %a, 64; add.u64 %x, %x, %y; ld.shared.u64 %d, [%x];\n"
#define ISSPACEP(space, address) "isspacep." space " %p, %" address "; selp.b64 %w, 1, 0, %p; shl.b64 %d, %d, 1; or.b64 %d, %d, %w;\n"
#define ISSPACEPS(address) ISSPACEP("global", address) ISSPACEP("shared", address) ISSPACEP("shared::cta", address) ISSPACEP("shared::cluster", address) \
    ISSPACEP("local", address) ISSPACEP("const", address)
#define KEPT "mov.u64 %d, %v;\n"

static const snippet snippets[] = {
    {"cvta.global", "@cvta", "cvta.to.global.u64 %x, %in; cvta.global.u64 %y, %x; ld.u64 %d, [%y];\n", same},
    {"cvta.shared", "@cvta", "st.shared.u64 [%own], %v; cvta.shared.u64 %x, %own; ld.u64 %d, [%x]; cvta.to.shared.u64 %y, %x; ld.shared.u64 %z, [%y];\n"
                             "sub.u64 %z, %z, %v; add.u64 %d, %d, %z;\n", same},
    {"cvta.local", "@cvta", "st.local.u64 [conform_local+8], %v; mov.u64 %y, conform_local; cvta.local.u64 %x, %y; ld.u64 %d, [%x+8];\n"
                            "cvta.to.local.u64 %y, %x; ld.local.u64 %z, [%y+8]; sub.u64 %z, %z, %v; add.u64 %d, %d, %z;\n", same},
    {"isspacep", "@isspacep", "mov.u64 %d, 0; cvta.shared.u64 %x, %own; mov.u64 %y, conform_local; cvta.local.u64 %y, %y;\n"
                              ISSPACEPS("in") ISSPACEPS("x") ISSPACEPS("y"), spaces},
    {"alloca", "@alloca", "alloca.u64 %x, 32; alloca.u64 %y, 16, 16; st.local.u64 [%x], %v; st.local.u64 [%y], %in; ld.local.u64 %d, [%x];\n", same},
    /* More than a device has, if it did not come back; where bounds of local memory are not watched that does not show. */
    {"stacksave", "@stacksave", "mov.u32 %a, 2000; mov.u64 %d, %v;\nAGAIN: stacksave.u64 %z; alloca.u64 %x, 4096; add.u64 %d, %d, 1; st.local.u64 [%x+4088], %d;\n"
                                "ld.local.u64 %d, [%x+4088]; stackrestore.u64 %z; sub.u32 %a, %a, 1; setp.ne.u32 %p, %a, 0;\n@%p bra AGAIN;\nsub.u64 %d, %d, 2000;\n", same},
    {"stackrestore", "@stackrestore", "stacksave.u64 %z; alloca.u64 %x, 32; st.local.u64 [%x], %in; stackrestore.u64 %z; alloca.u64 %y, 32;\n"
                                      "st.local.u64 [%y], %v; ld.local.u64 %d, [%y];\n", same},
    {"getctarank", "@getctarank", "cvta.shared.u64 %x, %own; getctarank.u64 %a, %x; cvt.u64.u32 %d, %a; add.u64 %d, %d, %v;\n", same},
    {"mapa", "@mapa", "st.shared.u64 [%own], %v; mapa.shared::cluster.u64 %x, %own, 0; ld.shared::cluster.u64 %d, [%x];\n", same},
    {"mbarrier", "@mbarrier", "mbarrier.init.shared.b64 [%own], 2; mbarrier.arrive.shared.b64 %x, [%own]; mbarrier.test_wait.shared.b64 %p, [%own], %x;\n"
                              "selp.b64 %d, 1, 0, %p; mbarrier.arrive.shared.b64 %y, [%own]; mbarrier.test_wait.shared.b64 %p, [%own], %x;\n"
                              "selp.b64 %w, 2, 0, %p; or.b64 %d, %d, %w; mbarrier.pending_count.b64 %a, %x; cvt.u64.u32 %w, %a; shl.b64 %w, %w, 4;\n"
                              "or.b64 %d, %d, %w; mbarrier.inval.shared.b64 [%own];\n", barrier_states},
    {"mbarrier.parity", "@mbarrier", "mbarrier.init.shared.b64 [%own], 1; mov.u32 %a, 1; mov.u32 %n, 0; mov.u64 %d, 0;\n"
        PARITY("a") PARITY("n") "mbarrier.arrive.shared.b64 %x, [%own];\n" PARITY("a") PARITY("n"), barrier_parities},
    {"mbarrier.expect_tx", "@mbarrier", "mbarrier.init.shared.b64 [%own], 1; mbarrier.arrive.expect_tx.shared.b64 %x, [%own], 8;\n"
                                        "mbarrier.complete_tx.shared.b64 [%own], 8;\n" WAIT("%own") KEPT, same},
    {"cp.async", "@cp_async", "cp.async.ca.shared.global [%own], [%in], 8; cp.async.wait_all; ld.shared.u64 %d, [%own];\n", same},
    {"cp.async.cg", "@cp_async", "cp.async.cg.shared.global [%own], [%in], 16; cp.async.wait_all; ld.shared.u64 %d, [%own+8];\n", second},
    {"cp.async.zfill", "@cp_async", "st.shared.u64 [%own+8], %in; cp.async.cg.shared.global [%own], [%in], 16, 8; cp.async.wait_all; ld.shared.u64 %d, [%own];\n"
                                    "ld.shared.u64 %x, [%own+8]; add.u64 %d, %d, %x;\n", same},
    {"cp.async.commit_group", "@cp_async_commit", "cp.async.ca.shared.global [%own], [%in], 8; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u64 %d, [%own];\n", same},
    {"cp.async.wait_group", "@cp_async_wait", "cp.async.ca.shared.global [%own], [%in+8], 8; cp.async.commit_group; cp.async.ca.shared.global [%own+8], [%in], 8;\n"
                                              "cp.async.commit_group; cp.async.wait_group 1; ld.shared.u64 %d, [%own];\n", second},
    {"cp.async.mbarrier", "@cp_async_mbarrier", "mbarrier.init.shared.b64 [%own+16], 1; cp.async.ca.shared.global [%own], [%in], 8;\n"
                                                "cp.async.mbarrier.arrive.noinc.shared.b64 [%own+16];\n" WAIT("%own+16") "ld.shared.u64 %d, [%own];\n", same},
    {"cp.async.bulk", "@cp_async_bulk", "mbarrier.init.shared.b64 [%own+16], 1; mbarrier.arrive.expect_tx.shared.b64 %x, [%own+16], 16;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%own], [%in], 16, [%own+16];\n" WAIT("%own+16") "ld.shared.u64 %d, [%own+8];\n", second},
    {"st.async", "@st_async", "mbarrier.init.shared.b64 [%own+16], 1; mbarrier.arrive.expect_tx.shared.b64 %x, [%own+16], 8;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%own], %v, [%own+16];\n" WAIT("%own+16") "ld.shared.u64 %d, [%own];\n", same},
    {"red.async", "@red_async", "mov.u64 %y, 3; st.shared.u64 [%own], %y; sub.u64 %y, %v, 3; mbarrier.init.shared.b64 [%own+16], 1;\n"
        "mbarrier.arrive.expect_tx.shared.b64 %x, [%own+16], 8; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%own], %y, [%own+16];\n"
        WAIT("%own+16") "ld.shared.u64 %d, [%own];\n", same},
    {"st.bulk", "@st_bulk", "st.shared.u64 [%own+32], %v; st.shared.u64 [%own+40], %v; st.shared.u64 [%own+48], %v; add.u64 %x, %own, 32;\n"
                            "mov.u64 %y, 16; st.bulk.shared::cta [%x], %y, 0; ld.shared.u64 %d, [%own+40]; ld.shared.u64 %x, [%own+48]; add.u64 %d, %d, %x;\n", same},
    {"ldmatrix.x4", "@ldmatrix", ROWS "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%own];\n" FOUR, four_matrices},
    {"ldmatrix.x4.trans", "@ldmatrix", ROWS "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%own];\n" FOUR, four_transposed},
    {"stmatrix.x2", "@stmatrix", "mov.u64 %x, 0; st.shared.u64 [%own], %x; st.shared.u64 [%own+8], %x; bar.warp.sync -1; mov.b64 {%r0, %r1}, %v;\n"
        "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%own], {%r0, %r1}; bar.warp.sync -1; ld.shared.u32 %r2, [%own]; ld.shared.u32 %r3, [%own+12];\n"
        "cvt.u64.u32 %d, %r2; cvt.u64.u32 %x, %r3; mad.lo.u64 %d, %x, 3, %d; and.b32 %a, %t, 16; setp.ne.u32 %p, %a, 0; selp.b64 %d, 7, %d, %p;\n", stored_matrix},
    {"bar.sync", "@bar", "st.shared.u64 [%own], %v; bar.sync 0;\n" NEIGHBOUR("64"), opposite},
    {"barrier.cta.sync.aligned", "@bar", "st.shared.u64 [%own], %v; barrier.cta.sync.aligned 1, 128;\n" NEIGHBOUR("64"), opposite},
    {"bar.red", "@bar", "and.b64 %x, %v, 1; setp.ne.u64 %p, %x, 0; bar.red.popc.u32 %a, 0, %p; cvt.u64.u32 %d, %a; shl.b64 %d, %d, 8;\n"
                        "bar.red.and.pred %q, 0, %p; selp.b64 %x, 2, 0, %q; or.b64 %d, %d, %x; bar.red.or.pred %q, 0, %p; selp.b64 %x, 1, 0, %q; or.b64 %d, %d, %x;\n",
     block_votes},
    {"bar.warp.sync", "@bar_warp", "st.shared.u64 [%own], %v; bar.warp.sync -1;\n" NEIGHBOUR("1"), neighbour},
    {"barrier.cluster", "@barrier_cluster", "st.shared.u64 [%own], %v; barrier.cluster.arrive; barrier.cluster.wait;\n" NEIGHBOUR("64"), opposite},
    {"fence", "@fence", "st.shared.u64 [%own], %v; fence.acq_rel.cta; fence.sc.gpu; fence.proxy.async; fence.proxy.alias; membar.sys; ld.shared.u64 %d, [%own];\n", same},
    {"prefetch", "@prefetch", "prefetch.global.L2 [%in]; prefetchu.L1 [%in]; applypriority.global.L2::evict_normal [%in], 128; ld.global.u64 %d, [%in];\n", same},
    {"createpolicy", "@createpolicy", "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %x, 0.5; createpolicy.range.global.L2::evict_first.b64 %y, [%in], 64, 128;\n"
                                      "ld.global.L2::cache_hint.u64 %d, [%in], %x;\n", same},
    {"nanosleep", "@nanosleep", "nanosleep.u32 20;\n" KEPT, same},
    {"pmevent", "@pmevent", "pmevent 3; pmevent.mask 5;\n" KEPT, same},
    {"griddepcontrol", "@griddepcontrol", "griddepcontrol.launch_dependents; griddepcontrol.wait;\n" KEPT, same},
    {"setmaxnreg", "@setmaxnreg", "setmaxnreg.inc.sync.aligned.u32 120; setmaxnreg.dec.sync.aligned.u32 64;\n" KEPT, same},
    {"bra", "@bra", "and.b64 %x, %v, 1; setp.ne.u64 %p, %x, 0;\n@%p bra ODD;\nadd.u64 %d, %v, 5;\nbra.uni END;\nODD:\nadd.u64 %d, %v, 9;\nEND:\n", five_or_nine},
    {"brx.idx", "@brx", "rem.u64 %x, %v, 3; cvt.u32.u64 %a, %x;\nTABLE: .branchtargets ONE, TWO, THREE;\nbrx.idx %a, TABLE;\nONE: add.u64 %d, %v, 10;\nbra END;\n"
                        "TWO: add.u64 %d, %v, 20;\nbra END;\nTHREE: add.u64 %d, %v, 30;\nEND:\n", by_table},
    {"call", "@call", "{\n.param .b64 value, result;\nst.param.b64 [value], %v;\ncall (result), conform_threefold, (value);\nld.param.b64 %d, [result];\n}\n", threefold},
    {"ret", "@ret", "{\n.param .b64 value, result;\nst.param.b64 [value], %v;\n.reg .b64 %f;\nmov.u64 %f, conform_threefold;\n"
                    "SHAPE: .callprototype (.param .b64 r) _ (.param .b64 a);\ncall (result), %f, (value), SHAPE;\nld.param.b64 %d, [result];\n}\n", threefold},
    {"exit", "@exit", "and.b64 %x, %v, 1; setp.ne.u64 %p, %x, 0; st.global.u64 [%out], %v;\n@%p exit;\nadd.u64 %d, %v, 1;\n", one_more_if_even},
};

static const struct { const char *operation, *where; } elsewhere[] = {
    {"@trap", "tests/engine_test.cc: it ends the launch"},
    {"@atom.b128", "tests/engine_test.cc: the CPU device alone has them"},
    {"@brkpt", "tests/parser_test.cc: it ends the launch"},
    {"@wmma_load", "the cases of wmma.mma"},
    {"@wmma_store", "the cases of wmma.mma"},
    {"@cp_reduce_bulk", "tests/async_test.cc, ptx_corpus/kernels/bulk_reduce"},
    {"@try_cancel", "tests/async_test.cc"},
    {"@query_cancel", "tests/async_test.cc"},
};

bool conform_snippet(uint32_t index, conform_case *out)
{
    if (index >= sizeof snippets / sizeof *snippets)
        return false;
    uint32_t i = 0;
    while (i < isa_form_count && strcmp(isa_forms[i].meaning, snippets[index].operation) != 0)
        i++;
    *out = (conform_case){.kind = CONFORM_SNIPPET, .variant = index, .form = i < isa_form_count ? &isa_forms[i] : NULL};
    snprintf(out->name, sizeof out->name, "%s (snippet)", snippets[index].name);
    snprintf(out->meaning, sizeof out->meaning, "%s", snippets[index].operation);
    return true;
}

const char *conform_tested_elsewhere(const char *operation)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (!strcmp(elsewhere[i].operation, operation))
            return elsewhere[i].where;
    return NULL;
}

void conform_add_snippet_functions(conform_text *t)
{
    conform_add(t, ".func (.param .b64 r) conform_threefold(.param .b64 a)\n{\n    .reg .b64 %%x;\n    ld.param.b64 %%x, [a];\n    mad.lo.u64 %%x, %%x, 3, 1;\n"
                   "    st.param.b64 [r], %%x;\n    ret;\n}\n");
}

void conform_add_snippet(conform_text *t, const conform_case *c)
{
    conform_add(t, "    .reg .b64 %%in, %%out, %%v, %%d, %%own, %%w, %%x, %%y, %%z;\n    .reg .b32 %%i, %%n, %%t, %%a, %%r<4>;\n    .reg .pred %%p, %%q;\n");
    conform_add(t, "    .local .align 16 .b8 conform_local[64];\n    mov.u32 %%i, %%ctaid.x;\n    mov.u32 %%n, %%ntid.x;\n    mov.u32 %%t, %%tid.x;\n");
    conform_add(t, "    mad.lo.u32 %%i, %%i, %%n, %%t;\n    ld.param.u64 %%in, [sources];\n    mul.wide.u32 %%x, %%i, 16;\n    add.u64 %%in, %%in, %%x;\n");
    conform_add(t, "    ld.param.u64 %%out, [results];\n    mul.wide.u32 %%x, %%i, 8;\n    add.u64 %%out, %%out, %%x;\n    ld.global.u64 %%v, [%%in];\n");
    conform_add(t, "    mov.u64 %%own, conform_shared;\n    mul.wide.u32 %%x, %%t, 64;\n    add.u64 %%own, %%own, %%x;\n    mov.u64 %%d, 0;\n");
    conform_add(t, "%s    st.global.u64 [%%out], %%d;\n", snippets[c->variant].body);
}

pxb_status conform_run_snippet(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    enum { THREADS = 2 * CONFORM_BLOCK, ROUNDS = 4 };
    conform_random random = {r->options->seed + c->variant};
    pxb_status status = PXB_OK;
    for (int round = 0; !status && round < ROUNDS; round++) {
        const uint64_t (*in)[2] = (const uint64_t (*)[2])r->sources;
        for (uint32_t i = 0; i < 2 * THREADS; i++)           /* once all odd, for the votes of blocks */
            r->sources[i] = conform_next(&random) | (round == 1);
        status = conform_launch_bytes(r, kernel, THREADS * 16, THREADS * 8, false, THREADS, false, PXB_MMA_ADA);
        for (uint32_t i = 0; !status && i < THREADS; i++) {
            const uint64_t want = snippets[c->variant].expect(in + i / CONFORM_BLOCK * CONFORM_BLOCK, i % CONFORM_BLOCK), got = r->results[i];
            if (got != want && out->differing++ == 0)
                snprintf(out->message, sizeof out->message, "thread %u has 0x%" PRIx64 ", not 0x%" PRIx64 ", of 0x%" PRIx64, i, got, want, in[i][0]);
        }
        out->inputs += THREADS;
    }
    return status;
}
