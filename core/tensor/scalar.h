// Internal: float arithmetic on single numbers as torch's CPU tensors do it: every operation is
// rounded to float. Most transcendental functions of torch (SLEEF, 1 unit in the last place) agree
// with the rounded double result; exp does not, and adaptive steps see the difference.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

// The bits of a number, and the number of bits.
static inline uint32_t f_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline float f_of_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof(f));
    return f;
}

// SLEEF's single-precision exp (Shibata and Petrogalli 2020): x = q ln 2 + r, a polynomial in r.
static inline float f_exp(float x)
{
    if (!(x > -104.0f))
        return isnan(x) ? x : 0.0f;
    if (x > 88.722839f)
        return INFINITY;
    const float q = rintf(x * 1.44269504088896340736f);
    float r = fmaf(q, -0.693145751953125f, x); // ln 2 in two parts
    r = fmaf(q, -1.428606765330187045e-06f, r);
    float u = 0.000198527617612853646278381f;
    u = fmaf(u, r, 0.00139304355252534151077271f);
    u = fmaf(u, r, 0.00833336077630519866943359f);
    u = fmaf(u, r, 0.0416664853692054748535156f);
    u = fmaf(u, r, 0.166666671633720397949219f);
    u = fmaf(u, r, 0.5f);
    return ldexpf(1.0f + fmaf(r * r, u, r), (int) q);
}

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
