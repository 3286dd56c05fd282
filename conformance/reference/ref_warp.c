/* ref_warp.c - reference of shfl, vote, match, redux, activemask, elect and movmatrix, lane by lane in the words of the PTX ISA. */
#include "ref_warp.h"
#include <math.h>
#include <string.h>

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }
static bool has(const char *s, const char *part) { return strstr(s, part) != NULL; }

/* "shfl.sync": the pseudo code of the ISA, with C's names. */
static void shuffle(const char *mode, ref_warp *w)
{
    for (int lane = 0; lane < 32; lane++) {
        const int bval = (int)(w->b[lane] & 31), cval = (int)(w->c[lane] & 31), mask = (int)(w->c[lane] >> 8 & 31);
        const int maxLane = (lane & mask) | (cval & ~mask), minLane = lane & mask;
        int j;
        bool pval;
        if (starts(mode, "up")) {
            j = lane - bval;
            pval = j >= maxLane;
        } else if (starts(mode, "down")) {
            j = lane + bval;
            pval = j <= maxLane;
        } else if (starts(mode, "bfly")) {
            j = lane ^ bval;
            pval = j <= maxLane;
        } else {
            j = minLane | (bval & ~mask);
            pval = j <= maxLane;
        }
        if (!pval)
            j = lane;
        w->d[lane] = (uint32_t)w->a[j];
        w->q[lane] = pval;
        w->undefined[lane] = !(w->executing >> j & 1);
    }
}
static void vote(const char *meaning, ref_warp *w)
{
    for (int lane = 0; lane < 32; lane++) {
        uint32_t ballot = 0;
        bool all = true, any = false;
        for (int k = 0; k < 32; k++)
            if (w->mask[lane] >> k & 1) {
                if (w->p[k]) { ballot |= 1u << k; any = true; }
                else all = false;
            }
        w->d[lane] = ballot;
        w->q[lane] = has(meaning, "all") ? all : has(meaning, "any") ? any : all || !any;
    }
}
static void match(const char *meaning, ref_warp *w)
{
    const uint64_t bits = has(meaning, "b64") ? ~0ull : 0xffffffffu;
    for (int lane = 0; lane < 32; lane++) {
        uint32_t same = 0;
        bool all = true;
        uint64_t first = 0;
        bool have = false;
        for (int k = 0; k < 32; k++)
            if (w->mask[lane] >> k & 1) {
                if ((w->a[k] & bits) == (w->a[lane] & bits))
                    same |= 1u << k;
                if (!have) { first = w->a[k] & bits; have = true; }
                all = all && (w->a[k] & bits) == first;
            }
        w->d[lane] = has(meaning, "any") ? same : all ? w->mask[lane] : 0;
        w->q[lane] = all;
    }
}
static float float_of(uint32_t b) { float f; memcpy(&f, &b, 4); return f; }
static uint32_t bits_of(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }

static uint32_t reduce_float(const char *meaning, const ref_warp *w, int lane)
{
    const bool abs = has(meaning, "_abs"), nan = has(meaning, "_nan"), max = has(meaning, "max");
    bool have = false, saw_nan = false;
    float best = 0;
    for (int k = 0; k < 32; k++) {
        if (!(w->mask[lane] >> k & 1))
            continue;
        float x = float_of((uint32_t)w->a[k]);
        if (isnan(x)) { saw_nan = true; continue; }
        if (abs) x = fabsf(x);
        const bool less = x < best || (x == best && signbit(x) && !signbit(best));
        const bool more = x > best || (x == best && !signbit(x) && signbit(best));
        if (!have || (max ? more : less)) best = x;
        have = true;
    }
    return !have || (nan && saw_nan) ? 0x7fffffffu : bits_of(best);
}
static void reduce(const char *meaning, ref_warp *w)
{
    const bool is_signed = has(meaning, "s32");
    for (int lane = 0; lane < 32; lane++) {
        if (has(meaning, "f32")) {
            w->d[lane] = reduce_float(meaning, w, lane);
            continue;
        }
        bool have = false;
        int64_t r = 0;
        for (int k = 0; k < 32; k++) {
            if (!(w->mask[lane] >> k & 1))
                continue;
            const int64_t x = is_signed ? (int64_t)(int32_t)w->a[k] : (int64_t)(uint32_t)w->a[k];
            if (!have) r = x;
            else if (has(meaning, "add")) r += x;
            else if (has(meaning, "min")) r = x < r ? x : r;
            else if (has(meaning, "max")) r = x > r ? x : r;
            else if (has(meaning, "and")) r &= x;
            else if (has(meaning, "xor")) r ^= x;
            else r |= x;
            have = true;
        }
        w->d[lane] = (uint32_t)r;
    }
}
/* Row i of the matrix is in lanes 4i..4i+3, two elements each, lower half first. */
static void transpose(ref_warp *w)
{
    uint16_t m[8][8];
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++)
            m[r][c] = (uint16_t)(w->a[4 * r + c / 2] >> (c % 2 * 16));
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c += 2)
            w->d[4 * r + c / 2] = m[c][r] | (uint32_t)m[c + 1][r] << 16;
}

bool ref_warp_eval(const char *meaning, ref_warp *w)
{
    memset(w->undefined, 0, sizeof w->undefined);
    if (starts(meaning, "shfl_")) {
        shuffle(meaning + 5, w);
    } else if (starts(meaning, "vote_")) {
        if (has(meaning, "nosync"))
            for (int i = 0; i < 32; i++)
                w->mask[i] = w->executing;
        vote(meaning, w);
    } else if (starts(meaning, "match_")) {
        match(meaning, w);
    } else if (starts(meaning, "redux_")) {
        reduce(meaning, w);
    } else if (starts(meaning, "movmatrix")) {
        transpose(w);
    } else if (starts(meaning, "activemask")) {
        for (int i = 0; i < 32; i++)
            w->d[i] = w->executing;
    } else if (starts(meaning, "elect")) {
        for (int i = 0; i < 32; i++) {
            int first = 0;
            while (first < 32 && !(w->mask[i] >> first & 1)) first++;
            w->d[i] = (uint64_t)first;
            w->q[i] = i == first;
        }
    } else {
        return false;
    }
    return true;
}
