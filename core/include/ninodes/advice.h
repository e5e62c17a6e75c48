// Advice: rules over what was measured in a run. Each says what was seen (counts, times, bytes of
// this run), what following it should gain and how that figure was computed, and the setting to
// change. A rule that has no figures says nothing.
//
// Threads: one thread at a time.
#pragma once
#include <ninodes/ctx.h>
#include <ninodes/graph.h>
#include <ninodes/history.h>
#include <ninodes/measure.h>

NINO_BEGIN

typedef enum nino_advice_action {
    // Nothing to set: the evidence is the advice.
    NINO_ADVICE_NONE,
    // Setting is NODE.INPUT=VALUE, as nino_graph_set() takes it.
    NINO_ADVICE_SET,
    // Setting is an option of `ninodes run`: "--preview-every 10".
    NINO_ADVICE_OPTION,
    // Setting is a command to run once: "ninodes devices --measure".
    NINO_ADVICE_COMMAND,
} nino_advice_action;

// What does not fit into a text is cut off between characters.
typedef struct nino_advice {
    // "tiles-too-small": stable, for logs and for hiding a rule.
    char rule[24];
    // What to do, one line.
    char title[96];
    // What was measured.
    char evidence[320];
    // How the gain was computed.
    char how[200];
    // Seconds less of a run like this one; NaN: not computable.
    double gain_s;
    // Less memory at the peak, negative: more; NaN: not computable.
    double gain_bytes;
    // Length of the run it was computed for.
    double of_s;
    nino_advice_action action;
    char setting[160];
    // Of SET: the assignment that brings the present value back, else "".
    char undo[160];
    // Pixels may differ after it.
    bool changes_result;
    // id of the node it is about, or "".
    char node[64];
} nino_advice;

#define NINO_ADVICE_INPUT_INIT .size = sizeof(nino_advice_input)
typedef struct nino_advice_input {
    // Set by NINO_ADVICE_INPUT_INIT.
    size_t size;
    // Of the run.
    const nino_history *history;
    // NULL: those that the history was told, if any.
    const nino_ceilings *ceilings;
    // That ran; NULL: settings of nodes are not proposed.
    nino_graph *graph;
    // To plan alternatives; NULL: gains come from figures alone.
    nino_ctx *ctx;
    // To plan for; NULL: the ctx's device.
    const char *profile;
    // Of title, evidence and how, whose figures then have the decimal mark of the thread's locale.
    // NULL: English, and the same in every locale.
    nino_translate_fn translate;
} nino_advice_input;

// Fills up to max entries, largest gain first, those without a figure last; returns how many there
// are.
NINO_API size_t nino_advise(const nino_advice_input *in, nino_advice *out, size_t max);
// "none", "set", "option", "command".
NINO_API const char *nino_advice_action_name(nino_advice_action a);
// The ceilings a history was told (NINO_EV_CEILINGS). False: none.
NINO_API bool nino_history_ceilings(const nino_history *h, nino_ceilings *out);

NINO_END
