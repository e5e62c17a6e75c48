// Internal to core/suite: what the ROCm extension claimed of its phases, and what a run of the suite finds.
#pragma once
#include <ninodes/suite.h>

typedef struct suite_claim {
    const char *setting, *text; // "29.1 %"
    double percent;             // less time than the baseline
} suite_claim;

enum { SUITE_CLAIMS = 4 };
extern const suite_claim nino_suite_claims[SUITE_CLAIMS];

typedef struct suite_finding {
    double percent; // less time than the baseline: geometric mean over the cases; NaN: no case
    double best;    // of one case
    const char *best_case;
    uint64_t n, slower; // cases; of those in which it was slower beyond chance
    bool is_met;
} suite_finding;
void nino_suite_judge(const nino_suite_result *r, int claim, suite_finding *out);
