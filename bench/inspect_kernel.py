#!/usr/bin/env python3
"""Prints a kernel of some 100,000 statements, or as many as its argument says: phases of mma with loads, activations and packs between."""
import sys


def kernel(statements):
    out = [".version 8.7\n.target sm_89\n.address_size 64\n.visible .entry big(.param .u64 p)\n{\n"
           ".reg .b32 %r<2000000>; .reg .b16 %h<2000000>; .reg .b64 %rd<9>;\n"
           "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %laneid;\nmul.wide.u32 %rd3, %r1, 16;\n"
           "add.s64 %rd4, %rd2, %rd3;\nmov.b32 %r2, 0;\n"]
    a, c, offset, done, r, h = ["%r1"] * 4, [("%r2", "%r2")] * 4, 0, 6, 10, 0
    while done < statements:
        b, d = [], []
        for _ in range(2):
            words = [f"%r{r + i}" for i in range(4)]
            out.append(f"ld.global.v4.u32 {{{','.join(words)}}}, [%rd4+{offset}];\n")
            b += [words[:2], words[2:]]
            r, offset = r + 4, offset + 512
        for i in range(4):
            d.append((f"%r{r}", f"%r{r + 1}"))
            out.append(f"mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {{{','.join(d[i])}}},{{{','.join(a)}}},{{{','.join(b[i])}}},{{{','.join(c[i])}}};\n")
            r += 2
        a = []
        for i in range(4):
            for k in range(2):
                out.append(f"max.f16x2 %r{r}, {d[i][k]}, %r2;\nmul.f16x2 %r{r + 1}, %r{r}, %r{r};\ncvt.rn.satfinite.e4m3x2.f16x2 %h{h + k}, %r{r + 1};\n")
                r += 2
            out.append(f"mov.b32 %r{r}, {{%h{h},%h{h + 1}}};\n")
            a.append(f"%r{r}")
            r, h = r + 1, h + 2
        c = d
        done += 34
    out.append("st.global.u32 [%rd4], %r20;\nret;\n}\n")
    return "".join(out)


if __name__ == "__main__":
    sys.stdout.write(kernel(int(sys.argv[1]) if len(sys.argv) > 1 else 100000))
