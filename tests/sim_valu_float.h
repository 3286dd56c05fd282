/* sim_valu_float.h - independent rounding of reals to f16, f32, f64 by MPFR, for tests of the simulator. */
#ifndef TESTS_SIM_VALU_FLOAT_H
#define TESTS_SIM_VALU_FLOAT_H

#include <mpfr.h>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

struct Format {
    int bits, precision, emin, emax;
    uint64_t sign() const { return 1ull << (bits - 1); }
    uint64_t infinity() const { return sign() - (1ull << (precision - 1)); }
    uint64_t quiet() const { return 1ull << (precision - 2); }
    bool is_nan(uint64_t x) const { return (x & (sign() - 1)) > infinity(); }
    bool is_denormal(uint64_t x) const { return (x & (sign() - 1)) && !(x & infinity()); }
};

inline const Format f16_format = {16, 11, -23, 16}, f32_format = {32, 24, -148, 128}, f64_format = {64, 53, -1073, 1024}, bf16_format = {16, 8, -132, 128};

class Real {
  public:
    mpfr_t x;
    Real() { mpfr_init2(x, 4400), mpfr_set_zero(x, 1); }
    ~Real() { mpfr_clear(x); }
    Real(const Real &) = delete;
};

/* A finite number or infinity of a format. */
inline void set_bits(Real &r, uint64_t bits, const Format &f)
{
    uint64_t m = bits & (f.sign() - 1), fraction = m & ((1ull << (f.precision - 1)) - 1);
    int e = static_cast<int>(m >> (f.precision - 1));
    bool minus = bits & f.sign();
    if (m == f.infinity()) {
        mpfr_set_inf(r.x, minus ? -1 : 1);
        return;
    }
    mpfr_set_ui_2exp(r.x, e ? fraction | 1ull << (f.precision - 1) : fraction, (e ? e - 1 : 0) + f.emin - 1, MPFR_RNDN);
    mpfr_setsign(r.x, r.x, minus, MPFR_RNDN);
}

/* One rounding; `exact` may itself be the rounding of a real with ternary value `ternary` to its 4400 bits. */
inline uint64_t round_bits(const Real &exact, const Format &f, mpfr_rnd_t mode)
{
    if (mpfr_nan_p(exact.x)) return f.sign() | f.infinity() | f.quiet();
    uint64_t sign = mpfr_signbit(exact.x) ? f.sign() : 0;
    if (mpfr_inf_p(exact.x)) return sign | f.infinity();
    if (mpfr_zero_p(exact.x)) return sign;
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t y;
    mpfr_init2(y, f.precision);
    mpfr_set_emin(f.emin), mpfr_set_emax(f.emax);
    int t = mpfr_set(y, exact.x, mode);
    t = mpfr_check_range(y, t, mode);
    mpfr_subnormalize(y, t, mode);
    uint64_t r;
    if (mpfr_inf_p(y)) {
        r = sign | f.infinity();
    } else if (mpfr_zero_p(y)) {
        r = sign;
    } else {
        mpfr_exp_t e = mpfr_get_exp(y);
        mpfr_exp_t lowest = f.emin + f.precision - 1;      /* exponent of the least normal number */
        mpfr_t scaled;
        mpfr_init2(scaled, f.precision);
        mpfr_set_emin(emin), mpfr_set_emax(emax);
        mpfr_mul_2si(scaled, y, f.precision - (e < lowest ? lowest : e), MPFR_RNDN);
        uint64_t significand = mpfr_get_uj(scaled, MPFR_RNDN);
        if (mpfr_signbit(scaled)) mpfr_neg(scaled, scaled, MPFR_RNDN), significand = mpfr_get_uj(scaled, MPFR_RNDN);
        r = sign | (e < lowest ? significand : significand + (static_cast<uint64_t>(e - lowest) << (f.precision - 1)));
        mpfr_clear(scaled);
    }
    mpfr_set_emin(emin), mpfr_set_emax(emax);
    mpfr_clear(y);
    return r;
}

inline const mpfr_rnd_t mode_rounding[] = {MPFR_RNDN, MPFR_RNDU, MPFR_RNDD, MPFR_RNDZ};

/* Numbers that make trouble: zeros, denormals, extremes, ones, infinities, NaNs, and neighbours of each other. */
inline uint64_t odd_number(std::mt19937_64 &random, const Format &f)
{
    uint64_t r = random(), inf = f.infinity(), low = 1ull << (f.precision - 1), one = (inf >> 1) & ~(low - 1);
    const uint64_t edges[] = {0, 1, 2, low - 1, low, low + 1, one - 1, one, one + 1, one + low, inf - 1, inf - low, inf, inf | f.quiet(), inf | 1, inf | f.quiet() | 5, one / 2};
    uint64_t mask = f.bits == 64 ? ~0ull : (1ull << f.bits) - 1;
    switch (r % 8) {
    case 0: case 1: return edges[r / 8 % (sizeof edges / sizeof *edges)] | (r >> 63 ? f.sign() : 0);
    case 2: return random() & mask & (f.sign() | (low - 1));
    case 3: return (one + (random() % 64 - 32) * low + random() % 4) | (r >> 63 ? f.sign() : 0);
    case 4: return (one + (random() % 8 - 4) * low + random() % low) | (r >> 63 ? f.sign() : 0);
    default: return random() & mask;
    }
}

inline uint32_t bits_of(float x)
{
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}

inline uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}

#endif
