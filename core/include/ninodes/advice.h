// Advice: rules over what was measured in a run. Each says what was seen (counts, times, bytes of
// this run), what following it should gain and how that figure was computed, and the setting to
// change. A rule that has no figures says nothing.
//
// Thread-safety: one thread at a time.
#pragma once
#include <ninodes/ctx.h>
#include <ninodes/graph.h>
#include <ninodes/history.h>
#include <ninodes/measure.h>

NINO_BEGIN

typedef enum nino_advice_action {
    NINO_ADVICE_NONE,    // nothing to set: the evidence is the advice
    NINO_ADVICE_SET,     // setting is NODE.INPUT=VALUE, as nino_graph_set() takes it
    NINO_ADVICE_OPTION,  // setting is an option of `ninodes run`: "--preview-every 10"
    NINO_ADVICE_COMMAND, // setting is a command to run once: "ninodes devices --measure"
} nino_advice_action;

typedef struct nino_advice {
    char rule[24];      // "tiles-too-small": stable, for logs and for hiding a rule
    char title[96];     // what to do, one line
    char evidence[320]; // what was measured
    char how[200];      // how the gain was computed
    double gain_s;      // seconds less of a run like this one; NaN: not computable
    double gain_bytes;  // less memory at the peak, negative: more; NaN: not computable
    double of_s;        // length of the run it was computed for
    nino_advice_action action;
    char setting[160];
    char undo[160];     // of SET: the assignment that brings the present value back, else ""
    int changes_result; // 1: pixels may differ after it
    char node[64];      // id of the node it is about, or ""
} nino_advice;

typedef struct nino_advice_input {
    const nino_history *history;   // of the run
    const nino_ceilings *ceilings; // NULL: those that the history was told, if any
    nino_graph *graph;             // that ran; NULL: settings of nodes are not proposed
    nino_ctx *ctx;                 // to plan alternatives; NULL: gains come from figures alone
    const char *profile;           // to plan for; NULL: the ctx's device
} nino_advice_input;

// Fills up to max entries, largest gain first, those without a figure last; returns how many there
// are.
NINO_API size_t nino_advise(const nino_advice_input *in, nino_advice *out, size_t max);
// "none", "set", "option", "command".
NINO_API const char *nino_advice_action_name(nino_advice_action a);
// The ceilings a history was told (NINO_EV_CEILINGS). False: none.
NINO_API bool nino_history_ceilings(const nino_history *h, nino_ceilings *out);

NINO_END
