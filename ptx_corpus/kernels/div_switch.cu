// A dense switch with side effects in a loop: a byte-code interpreter per lane (compare tree).
extern "C" __global__ void div_switch(const unsigned char *code, int len, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int acc = i, pc = i % 5, steps = 0;
    volatile int *mem = out + n + i * 4;
    while (pc < len && steps < 60) {
        steps++;
        int c = code[pc++];
        switch (c & 15) {
        case 0: acc += 3; mem[0] = acc; break;
        case 1: acc = acc * 5 - pc; break;
        case 2: mem[1] = mem[0] + acc; break;
        case 3: acc ^= mem[1]; mem[2] = steps; break;
        case 4: if (acc & 1) pc += 2; break;
        case 5: pc = acc & 7; acc >>= 1; break;
        case 6: acc = -acc; mem[3] = pc; break;
        case 7: acc += mem[3]; mem[0] = 7; break;
        case 8: acc = mem[2] - acc; break;
        case 9: mem[1] = c; acc += c; break;
        case 10: acc = (acc << 3) | ((unsigned)acc >> 29); break;
        case 11: mem[2] = acc; mem[3] = acc + 1; break;
        case 12: acc = ~acc; mem[0] += 1; // falls through
        case 13: acc -= 11; mem[1] += 2; break;
        default: pc += c >> 6; mem[2] += 5; break;
        }
    }
    out[i] = acc * 64 + steps;
}
