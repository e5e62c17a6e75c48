// Internal: float arithmetic on single numbers as torch's CPU tensors do it: every operation is
// rounded to float; transcendental ones are taken in double first, so they do not depend on the C
// library's float versions.
#pragma once
#include <math.h>

static inline float f_exp(float x) { return (float) exp((double) x); }
static inline float f_expm1(float x) { return (float) expm1((double) x); }
static inline float f_log(float x) { return (float) log((double) x); }
static inline float f_tan(float x) { return (float) tan((double) x); }
static inline float f_atan(float x) { return (float) atan((double) x); }
static inline float f_sqrt(float x) { return sqrtf(x); }
static inline float f_pow(float x, float p) { return (float) pow((double) x, (double) p); }

// Value i of torch.linspace(start, end, n): each half is counted from its own end, products fused;
// all but the last n % 16 come from the first of their eight, not fused.
static inline float f_linspace(float start, float end, int n, int i)
{
    if (n == 1)
        return start;
    const float step = (end - start) / (float) (n - 1);
    const int from = i < n / 16 * 16 ? i / 8 * 8 : i;
    const float base =
        from < n / 2 ? fmaf(step, (float) from, start) : fmaf(-step, (float) (n - 1 - from), end);
    return base + (float) (i - from) * step;
}
