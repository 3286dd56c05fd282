/* What a screen shows of a linear value, 0...1: exposure and gamma of every picture of dec2. */
#ifndef DEC2_DISPLAY_H
#define DEC2_DISPLAY_H

#include <math.h>

static inline double displayed(double v) { return pow(fmin(fmax(v, 0) * 0.85, 1), 1 / 2.2); }

#endif
