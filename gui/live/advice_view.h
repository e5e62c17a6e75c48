// Advice on a run: evidence, expected gain, and the loop Apply -> measure -> keep or revert. Apply is
// an experiment (ninodes/experiment.h): after a run of each that warms up, the workflow as it is and
// with the advice run eight times each, in turn, and what is compared are seconds a result. Nothing
// is changed before it is kept. What was expected, what was measured and what was decided goes to
// $XDG_STATE_HOME/ninodes/advice.jsonl.
//
// Signals:
//   "look"   before the run is looked at: the window may set the workflow
//   "try"    (action as nino_advice_action, setting, gboolean is_with): run the workflow once, every
//            node anew, with the setting or as it is; the view waits for this run of its NinoRun
//   "apply"  (rule, action, setting): it is kept, change it
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

#define NINO_TYPE_ADVICE_VIEW (nino_advice_view_get_type())
G_DECLARE_FINAL_TYPE(NinoAdviceView, nino_advice_view, NINO, ADVICE_VIEW, GtkBox)

// The workflow that runs (as nino_graph_load() takes it), for advice that sets inputs of nodes;
// NULL: none. profile: of the device, for predicted gains; model folders: NULL-terminated or NULL.
void nino_advice_view_set_workflow(NinoAdviceView *view, const char *json, gsize len,
                                   const char *profile, const char *const *models);
// What is tried cannot be run: nothing is being tried.
void nino_advice_view_cancel(NinoAdviceView *view);
// Looks at the run again, now; done by itself when a run ends.
void nino_advice_view_refresh(NinoAdviceView *view);
