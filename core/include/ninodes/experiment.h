// Experiments: settings measured in turn, and what may be said about their difference.
// Advice that is tried out, the monitor and benchmark nodes and `ninodes bench` all judge by this.
//
// How it measures. A round measures every setting once, in an order that alternates as the
// Thue-Morse sequence does (A B, B A, B A, A B, ...), which cancels steady and slowly changing
// drift of the machine. Measurements that warm up come first and are thrown away: they compile
// kernels and load weights.
//
// How it judges. Of each round the logarithm of (second measurement / first) is taken. Where the
// setting has no effect, the rounds A B and B A follow one distribution, whatever it is: outliers,
// drift and an advantage of being first (or second) are in both. So Wilcoxon's rank-sum test of the
// two, with its exact distribution, tests the effect of the setting alone, and half of the
// Hodges-Lehmann shift estimates it. Sources: Koch 1972 (Biometrics 28, 577: the design with two
// periods), Wilcoxon 1945, Mann and Whitney 1947 (test), Hodges and Lehmann 1963 (estimate, and the
// interval from the ordered differences).
//
// How many rounds. From rounds_min on, doubling up to rounds_max, the experiment looks whether
// everything is decided: a difference was shown, or the interval excludes one that matters. The
// chance `alpha` of a wrong claim is shared by all looks and by all settings (Bonferroni), so
// stopping early costs no honesty. 8 rounds can show something at 5 %, 12 at 1 %; fewer cannot.
//
// Units. Measurements are seconds of the same amount of work: callers divide by images, frames or
// steps. Same seed, and compiling and loading left out, is theirs, too.
//
// Threads: an experiment belongs to one thread at a time.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

enum { NINO_MAX_SETTINGS = 16, NINO_MAX_ROUNDS = 128 };

#define NINO_EXPERIMENT_PARAMS_INIT .size = sizeof(nino_experiment_params)
typedef struct nino_experiment_params {
    // Set by NINO_EXPERIMENT_PARAMS_INIT.
    size_t size;
    // 1 (only repeated) to NINO_MAX_SETTINGS; 0: 2. The others are compared with setting 0.
    int settings;
    // Measurements of each setting that are thrown away; 0: 1; -1: none.
    int warmup;
    // Up to NINO_MAX_ROUNDS; 0: 12, and four times rounds_min.
    int rounds_min, rounds_max;
    // Beyond rounds_min, no round begins after so many seconds of measurements; 0: no limit.
    double max_seconds;
    // Chance of a claim about equal settings; 0: 0.01.
    double alpha;
    // Share below which a difference is none; 0: 0.02. Equal programs differ by as much through
    // where the linker and the allocator put them.
    double least;
} nino_experiment_params;

// What was measured of one setting: seconds.
typedef struct nino_spread {
    uint64_t n;
    // MAD: median of the absolute distances to the median. NaN when n is 0.
    double median, mad, min, max;
} nino_spread;

// One setting against setting 0. Percent of time: above 0 is slower. NaN: too few rounds.
typedef struct nino_effect {
    // Rounds that it is computed from.
    uint64_t rounds;
    double percent;
    // Interval that holds the true difference with the confidence 1 - alpha; infinite where there
    // are too few rounds for one.
    double low, high;
    // Chance of so large a difference among equal settings, two-sided.
    double p;
    // Level of this interval and verdict: the experiment's, divided by looks and comparisons.
    double alpha;
    // -1: faster; 1: slower: p is at most alpha and the difference at least `least`. 0: none shown.
    int verdict;
    // No verdict, and the interval excludes a difference of `least` or more.
    bool is_equal;
    // With so few rounds no difference, however large, could be shown.
    bool is_too_few;
} nino_effect;

typedef struct nino_experiment nino_experiment;

// *err: NINO_ERR_RANGE, NINO_ERR_NOMEM, NINO_ERR_ARG (no size). params NULL: all zero.
NINO_API nino_experiment *nino_experiment_create(const nino_experiment_params *params,
                                                 nino_error *err);
NINO_API void nino_experiment_destroy(nino_experiment **e);
// The setting to measure now; -1: it is over. is_warmup (may be NULL): this one is thrown away.
NINO_API int nino_experiment_next(const nino_experiment *e, bool *is_warmup);
// What nino_experiment_next() asked for took so long. Times below a nanosecond count as one.
// NINO_ERR_RANGE: not a finite number, or nothing was asked for.
NINO_API nino_status nino_experiment_add(nino_experiment *e, double seconds, nino_error *err);
// Measurements taken, and as many as there may be at most, both with those that warm up.
NINO_API void nino_experiment_progress(const nino_experiment *e, uint64_t *done, uint64_t *most);
// Seconds of a setting, a round each, in their order: fills up to max, returns how many there are.
NINO_API size_t nino_experiment_times(const nino_experiment *e, int setting, double *out,
                                      size_t max);
// Of one setting, and of one against setting 0; complete rounds count. Valid at any time.
NINO_API void nino_experiment_spread(const nino_experiment *e, int setting, nino_spread *out);
NINO_API void nino_experiment_effect(const nino_experiment *e, int setting, nino_effect *out);

// Measures setting once: *seconds. Not NINO_OK ends the experiment with this status.
typedef nino_status (*nino_measure_once)(void *priv, int setting, bool is_warmup, double *seconds,
                                         nino_error *err);
// Measures until it is over.
NINO_API nino_status nino_experiment_run(nino_experiment *e, nino_measure_once measure, void *priv,
                                         nino_error *err);

// Two samples that were not measured in turn, of recorded runs: b against a by the same rank test
// and estimate, at the level alpha; `rounds` is the smaller number. At most 64 of each: *out has
// no verdict otherwise. What differed between the two recordings as a whole, a clock or another
// program, is in the difference.
NINO_API void nino_effect_of_samples(const double *a, size_t n_a, const double *b, size_t n_b,
                                     double alpha, double least, nino_effect *out);

// Median and MAD of n values; they are not changed.
NINO_API void nino_spread_of(const double *values, size_t n, nino_spread *out);
// A trend over runs of the same work in their order of time, the newest last. Percent of time: above 0 is slower. NaN:
// too few runs.
typedef struct nino_trend {
    // Runs that it is computed from: the newest NINO_TREND_MOST.
    uint64_t n;
    // The newest against the one before.
    double change_percent;
    // A run: Theil's slope, the median of (ln y_j - ln y_i) / (j - i) over all pairs, with Sen's interval by Kendall's S,
    // which holds the true slope with the confidence 1 - alpha; infinite where there are too few runs.
    double percent, low, high;
    // By that slope from the first to the last; and how far runs without a trend would lie from its line: two standard
    // deviations, 2 x 1.4826 x MAD of the distances.
    double all_percent, band_percent;
    // Chance of so many pairs that go one way among runs in random order: Kendall's test, exact, two-sided.
    double p;
    // 1: slower, -1: faster: p is at most alpha, and all_percent is beyond the band. 0: none shown.
    int verdict;
    // With so few runs no trend, however steep, could be shown.
    bool is_too_few;
} nino_trend;
enum { NINO_TREND_MOST = 50 };
// alpha 0: 0.05. Sources: Theil 1950, Sen 1968, Kendall 1938.
NINO_API void nino_trend_of(const double *values, size_t n, double alpha, nino_trend *out);
// "+1.2 % a run (+0.4 to +2.1 %), +11.3 % over 10 runs, noise band 3.2 %, p 0.0012: slower". One line into buf; returns it.
NINO_API char *nino_trend_text(const nino_trend *t, char *buf, size_t size);

// "4.9 % more time (+4.1 to +5.6 % with 99.67 % confidence, p 0.0022, 12 rounds)", "no difference
// shown (...)", "equal (...)". One line into buf; returns buf.
NINO_API char *nino_effect_text(const nino_effect *e, char *buf, size_t size);

NINO_END
