#!/bin/sh
# check_counts.sh [dec2.ptx]: the statement counts that the analysis of the original gives.
# Prints a table and exits 1 when a count or the sequence of mma runs is off. POSIX sh and awk.
ptx=${1:-"$(dirname "$0")/dec2.ptx"}
exec awk '
function end_run() { if (run) { runs = runs " " run; nruns++ } run = 0 }
function statement(s,    op) {
    gsub(/^[ \t{}]+/, "", s)
    while (s ~ /^\$[A-Za-z0-9_]+:/) { sub(/^[^:]*:[ \t{}]*/, "", s); end_run() }
    if (s == "" || s ~ /^\./) return
    if (s ~ /^@/) sub(/^@!?%?[A-Za-z0-9_]+[ \t]+/, "", s)
    op = s
    sub(/[ \t].*$/, "", op)
    count[op]++
    total++
    if (op ~ /^mma\.sync/) { run++; mma++ } else end_run()
}
# sum of the counts of opcodes that match
function sum(re,    o, n) { for (o in count) if (o ~ re) n += count[o]; return n + 0 }
function expect(name, got, want) {
    printf "%-44s %6d %6d%s\n", name, got, want, got == want ? "" : "   <-- off"
    if (got != want) bad = 1
}
{
    sub(/\/\/.*$/, "")
    line = line " " $0
    if ($0 ~ /\.shared .*smem\[9600\]/) smem = 9600
    while ((i = index(line, ";")) > 0) { statement(substr(line, 1, i - 1)); line = substr(line, i + 1) }
}
END {
    end_run()
    want = " 144"
    for (i = 2; i <= 7; i++) want = want " 24"
    want = want " 48 48"
    for (i = 10; i <= 37; i++) want = want " 12"
    want = want " 6"
    printf "%-44s %6s %6s\n", "statement", "here", "wanted"
    expect("mma runs", nruns, 38)
    expect("mma.sync", mma, 726)
    expect("movmatrix", sum("^movmatrix"), 48)
    expect("ld.weak.global.ca.v4.u32", sum("^ld[.]weak[.]global[.]ca[.]v4[.]u32$"), 231)
    expect("tex.base.2d.v4.f16.f32", sum("^tex[.]base[.]2d[.]v4[.]f16[.]f32$"), 9)
    expect("tex.base.2d.v4.f16.s32", sum("^tex[.]base[.]2d[.]v4[.]f16[.]s32$"), 2)
    expect("sust.b.2d.v4.b16.zero", sum("^sust[.]b[.]2d[.]v4[.]b16[.]zero$"), 1)
    expect("st.global", sum("^st[.]global"), 12)
    expect("shared bytes", smem, 9600)
    # packs: E1 72+48, E7 80, E8 144, E9 32, twelve chunks of 24+8, E37 24
    expect("cvt.rn.satfinite.e4m3x2.f16x2", sum("^cvt[.]rn[.]satfinite[.]e4m3x2[.]f16x2$"), 784)
    expect("cvt.rn.f16x2.e4m3x2", sum("^cvt[.]rn[.]f16x2[.]e4m3x2$"), 96)
    expect("shfl.sync.bfly (8 + 16 + 4)", sum("^shfl[.]sync[.]bfly"), 28)
    expect("rsqrt.approx.ftz.f32 (96 + 48)", sum("^rsqrt[.]approx[.]ftz[.]f32$"), 144)
    expect("rcp.approx.ftz.f32", sum("^rcp[.]approx[.]ftz[.]f32$"), 192)
    expect("ex2.approx.ftz.f32 (9 taps and the gate)", sum("^ex2[.]approx[.]ftz[.]f32$"), 10)
    expect("div.approx.ftz.f32", sum("^div[.]approx[.]ftz[.]f32$"), 2)
    expect("set.nan.f16.f16", sum("^set[.]nan[.]f16[.]f16$"), 3)
    expect("fma.rn.f16x2", sum("^fma[.]rn[.]f16x2$"), 192)
    expect("cvt.rn.f16.f64 (E8 384, norms 144)", sum("^cvt[.]rn[.]f16[.]f64$"), 528)
    expect("cvt.rn.f16.f32, norms to E36 (144+672+384) + 3", sum("^cvt[.]rn[.]f16[.]f32$"), 1203)
    expect("mul.f16 (288 + 192 + 144 + 3)", sum("^mul[.]f16$"), 627)
    expect("mul.f16x2 (96 + 12*24 + 5)", sum("^mul[.]f16x2$"), 389)
    expect("add.f16 (196 + 8 + 48 + 50 + 48 + 3)", sum("^add[.]f16$"), 353)
    expect("add.f16x2 (52 + 104 + 26 + 96)", sum("^add[.]f16x2$"), 278)
    expect("ld.global.u32 (60 + 12*4 + 2)", sum("^ld[.]global[.]u32$"), 110)
    expect("ld.global.v2.u16 (36 + 12 + 12 + 12)", sum("^ld[.]global[.]v2[.]u16$"), 72)
    expect("ld.shared (42 + 4 + 5)", sum("^ld[.]shared"), 51)
    expect("st.shared (42 + 4 + 4)", sum("^st[.]shared"), 50)
    if (runs != want) { print "mma runs:" runs; print "wanted:  " want; bad = 1 }
    printf "%d statements, wrapped ones counted singly\n", total
    if (verbose) for (o in count) printf "%7d %s\n", count[o], o
    exit bad
}' verbose="${VERBOSE:-}" "$ptx"
