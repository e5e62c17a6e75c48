// The performance statistics: one table of all of them, each with its definition and formula.
//
// Threads: as nino_stats (monitor.h).
#pragma once
#include <ninodes/monitor.h>

NINO_BEGIN

typedef enum nino_statistic_unit {
    // Shown as it is, a whole number.
    NINO_STATISTIC_COUNT,
    NINO_STATISTIC_SECONDS,
    NINO_STATISTIC_BYTES,
    // A share of 1, or a change by that share.
    NINO_STATISTIC_SHARE,
    // A ratio, which may be more than 1.
    NINO_STATISTIC_RATIO
} nino_statistic_unit;

typedef struct nino_statistic {
    // "cache_hit_rate": as the documents of the ROCm extension have it, where they do; in JSON.
    const char *name;
    // "Cache hit rate"
    const char *label;
    nino_statistic_unit unit;
    // What it is, in a sentence; and how it is computed.
    const char *definition, *formula;
    // NaN: the events say nothing about it.
    double (*value)(const nino_stats *s);
    // 0 says nothing: there was none of what is counted.
    bool is_silent_at_0;
} nino_statistic;

// All of them; the last one has no name.
NINO_API const nino_statistic *nino_statistics(void);
// "s", "B", "%", "" or "x".
NINO_API const char *nino_statistic_unit_text(nino_statistic_unit unit);
// Whether the value says something about what was run: neither NaN nor a 0 that is silent.
NINO_API bool nino_statistic_speaks(const nino_statistic *s, double value);

NINO_END
