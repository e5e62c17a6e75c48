// The queue of the worker as rows: what runs, waits and is done, with the time that is left.
#pragma once
#include "engine/engine.h"
#include <gtk/gtk.h>

#define NINO_TYPE_QUEUE_PANEL (nino_queue_panel_get_type())
G_DECLARE_FINAL_TYPE(NinoQueuePanel, nino_queue_panel, NINO, QUEUE_PANEL, GtkWidget)

GtkWidget *nino_queue_panel_new(NinoEngine *engine);
// What the running job says about itself; eta_s NaN: not known.
void nino_queue_panel_progress(NinoQueuePanel *p, double fraction, double eta_s);
void nino_queue_panel_preview(NinoQueuePanel *p,
                              GdkTexture *t); // of the running job, as it samples
// What a workflow computes, as far as it decides how long that takes; NULL: unreadable. g_free().
char *nino_queue_content(const char *workflow, gsize len);
// The job computes this; its time is learned for all that compute the same. content may be NULL.
void nino_queue_panel_tell(NinoQueuePanel *p, guint64 job, const char *content);
// The values that the job has (engine/job_values.h): its row says what differs from the job before. May be NULL.
void nino_queue_panel_tell_values(NinoQueuePanel *p, guint64 job, GHashTable *values);
GHashTable *nino_queue_panel_values(NinoQueuePanel *p, guint64 job);  // NULL: not told
const char *nino_queue_panel_content(NinoQueuePanel *p, guint64 job); // NULL: not told
// Of the last run that computed this; NaN: none.
double nino_queue_panel_seconds(NinoQueuePanel *p, const char *content);
char *nino_duration_text(double seconds);       // "12 s", "3 min 05 s", "2 h 10 min"; g_free()
int nino_queue_panel_repeat(NinoQueuePanel *p); // how often a run is to be added
// Signals: "show-error" (guint64 job, const char *node, const char *text): the user wants to see
// where a job failed; "retry" (guint64 job): wants it once more.
