// One piece of advice that is being tried: runs as it is and with it, in turn, and what they tell.
#pragma once
#include "plot/run_model.h"
#include <ninodes/experiment.h>

typedef struct NinoAdviceTrial { // all zero: nothing is tried
    gboolean is_on, is_measured; // measured: all its runs have ended
    nino_advice advice;
    nino_experiment *runs;
    uint64_t from; // the next job that begins after this is the one that was asked for
} NinoAdviceTrial;

// The first job that has ended and began at `from` or later; NULL: none.
const nino_span *nino_advice_job(NinoRun *run, uint64_t from);

gboolean nino_advice_trial_begin(NinoAdviceTrial *t, const nino_advice *a, NinoRun *run);
// What is to run now: 0, the workflow as it is; 1, with the advice; below 0: all is measured.
int nino_advice_trial_next(NinoAdviceTrial *t);
// The run that was asked for has ended. FALSE: it failed or was cancelled.
gboolean nino_advice_trial_take(NinoAdviceTrial *t, NinoRun *run, const nino_span *job);
void nino_advice_trial_end(NinoAdviceTrial *t); // the advice stays in it

char *nino_advice_trial_text(const NinoAdviceTrial *t); // how far it is, or its result; g_free()
// "kept" or "reverted", with what was expected and measured: a line of the log.
void nino_advice_trial_log(const NinoAdviceTrial *t, const char *decision);
