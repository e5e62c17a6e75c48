// Advice on a run: evidence, expected gain, and the loop Apply -> run again -> keep or revert. The
// window makes the change and the run; what was expected, what was measured and what was decided
// goes to $XDG_STATE_HOME/ninodes/advice.jsonl.
//
// Signals:
//   "look"   before the run is looked at: the window may set the workflow
//   "apply"  (rule, action as nino_advice_action, setting): change it and run again; the view then
//            waits for the next run of its NinoRun to end and measures it
//   "revert" (setting): change it back; "" for an option of the run, which is then left out
#pragma once
#include "plot/run_model.h"
#include <gtk/gtk.h>

#define NINO_TYPE_ADVICE_VIEW (nino_advice_view_get_type())
G_DECLARE_FINAL_TYPE(NinoAdviceView, nino_advice_view, NINO, ADVICE_VIEW, GtkBox)

// The workflow that runs (as nino_graph_load() takes it), for advice that sets inputs of nodes;
// NULL: none. profile: of the device, for predicted gains; model folders: NULL-terminated or NULL.
void nino_advice_view_set_workflow(NinoAdviceView *view, const char *json, gsize len,
                                   const char *profile, const char *const *models);
// What was applied could not be done: nothing is being tried.
void nino_advice_view_cancel(NinoAdviceView *view);
// Looks at the run again, now; done by itself when a run ends.
void nino_advice_view_refresh(NinoAdviceView *view);
