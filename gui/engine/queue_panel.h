// The queue of the worker as rows: what runs, waits and is done, with the time that is left.
#pragma once
#include "engine/engine.h"
#include <gtk/gtk.h>

#define NINO_TYPE_QUEUE_PANEL (nino_queue_panel_get_type())
G_DECLARE_FINAL_TYPE(NinoQueuePanel, nino_queue_panel, NINO, QUEUE_PANEL, GtkWidget)

GtkWidget *nino_queue_panel_new(NinoEngine *engine);
// What the running job says about itself; eta_s NaN: not known.
void nino_queue_panel_progress(NinoQueuePanel *p, double fraction, double eta_s);
double nino_queue_panel_seconds(NinoQueuePanel *p, const char *name); // of its last run; NaN
char *nino_duration_text(double seconds);       // "12 s", "3 min 05 s", "2 h 10 min"; g_free()
int nino_queue_panel_repeat(NinoQueuePanel *p); // how often a run is to be added
// Signals: "show-error" (guint64 job, const char *node, const char *text): the user wants to see
// where a job failed; "retry" (guint64 job): wants it once more.
