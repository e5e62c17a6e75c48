// Trends of runs against slopes, tests and bands that were worked out by hand.
#include <math.h>
#include <ninodes/experiment.h>
#include <string.h>

#include "tests/test.h"

// Times whose logarithms are these hundredths.
static nino_trend trend_of(const double *hundredths, size_t n)
{
    double t[200];
    nino_trend out;
    for (size_t i = 0; i < n; i++)
        t[i] = 2 * exp(hundredths[i] / 100);
    nino_trend_of(t, n, 0.05, &out);
    return out;
}

static bool is_percent(double percent, double hundredths)
{
    return fabs(percent - 100 * expm1(hundredths / 100)) < 1e-9;
}

// The ten slopes: 1 2 2 7/3 8/3 11/4 3 3 7/2 4; their median 65/24. All pairs go up: 1 order of 5! = 120, 2 / 120 both
// ways; so the interval is from the first to the last. Distances to the line: 0, 7/24, -34/24, -27/24, 4/24; MAD 7/24.
static void test_up(void)
{
    static const double v[] = { 0, 3, 4, 7, 11 };
    const nino_trend t = trend_of(v, 5);
    CHECK(t.n == 5 && !t.is_too_few && t.verdict == 1);
    CHECK(is_percent(t.percent, 65.0 / 24) && is_percent(t.low, 1) && is_percent(t.high, 4));
    CHECK(is_percent(t.change_percent, 4) && is_percent(t.all_percent, 65.0 / 6));
    CHECK(is_percent(t.band_percent, 2 * 1.4826 * 7 / 24));
    CHECK(fabs(t.p - 2.0 / 120) < 1e-12);
    char text[200];
    CHECK(strstr(nino_trend_text(&t, text, sizeof(text)), "over 5 runs") && strstr(text, "slower"));
}

// Slopes -1 1/2 2/3 3/4 1 1 1 4/3 3/2 2: median 1. One pair goes down: 1 + 4 orders of 120 have at most one, 10 / 120 both
// ways.
static void test_not_shown(void)
{
    static const double v[] = { 0, 1, 2, 4, 3 };
    const nino_trend t = trend_of(v, 5);
    CHECK(!t.is_too_few && !t.verdict && fabs(t.p - 10.0 / 120) < 1e-12);
    CHECK(is_percent(t.percent, 1) && is_percent(t.low, -1) && is_percent(t.high, 2));
    CHECK(is_percent(t.change_percent, -1) && fabs(t.band_percent) < 1e-9);
}

// Steadily less, by so little that the scatter hides it though all pairs but few go one way: no verdict within the band.
static void test_band(void)
{
    double v[12];
    for (int i = 0; i < 12; i++)
        v[i] = -0.1 * i + (i % 2 ? 0.5 : -0.5);
    nino_trend t = trend_of(v, 12);
    CHECK(t.percent < 0 && !t.verdict);
    for (int i = 0; i < 12; i++)
        v[i] = -1.0 * i + (i % 2 ? 0.5 : -0.5);
    t = trend_of(v, 12);
    CHECK(t.verdict == -1 && t.high < 0 && t.all_percent < -t.band_percent);
}

// Four orders of 24 are more than 5 %; beyond the most, the newest count; ties are no pairs that go up.
static void test_numbers(void)
{
    double v[100];
    for (int i = 0; i < 100; i++)
        v[i] = i < 50 ? 0 : i;
    CHECK(trend_of(v, 0).n == 0 && isnan(trend_of(v, 1).change_percent));
    CHECK(isnan(trend_of(v, 2).percent) && is_percent(trend_of(v, 2).change_percent, 0));
    static const double up[] = { 0, 1, 2, 3 };
    const nino_trend four = trend_of(up, 4);
    CHECK(four.is_too_few && !four.verdict && is_percent(four.percent, 1) && isinf(four.high));
    const nino_trend all = trend_of(v, 100);
    CHECK(all.n == NINO_TREND_MOST && is_percent(all.percent, 1) && all.verdict == 1);
    const nino_trend still = trend_of(v, 50);
    CHECK(!still.verdict && still.p > 1 - 1e-9 && still.percent == 0);
}

int main(void)
{
    test_up();
    test_not_shown();
    test_band();
    test_numbers();
    return 0;
}
