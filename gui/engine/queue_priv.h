// What the files of the queue's panel share.
#pragma once
#include "engine/queue_panel.h"

struct _NinoQueuePanel {
    GtkWidget parent;
    GtkWidget *box, *list, *empty, *pause, *times, *clear;
    NinoEngine *engine;
    GtkWidget *running_label; // of the running job's row, or NULL
    char *running_other;      // what its values have that the job before had not, or NULL
    GtkProgressBar *running_bar;
    GHashTable *contents;  // job -> what it computes
    GHashTable *values;    // job -> nino_job_values()
    GHashTable *seconds;   // the same -> double[1]: how long the last run of it took
    GPtrArray *eta_labels; // of the waiting rows, in order
    double fraction, eta_s;
    GHashTable *thumbs;          // result file -> its GdkTexture, for rows that are made anew
    GtkPicture *running_thumb;   // of the running job's row, or NULL
    gboolean dragging, is_stale; // rows stay while one is dragged
};

// Of a row of the list, as its data "job".
typedef struct NinoQueueRow {
    guint64 id;
    int position; // among the waiting ones, from 1
    char *where, *error;
} NinoQueueRow;

void nino_queue_panel_rebuild(NinoEngine *engine, gpointer panel);
// At the end of the list; position: as in NinoQueueRow. What of it changes without being made anew goes into the
// panel: label and bar of the running job, the estimates of waiting ones.
void nino_queue_add_row(NinoQueuePanel *p, const NinoJob *j, int position);
void nino_queue_move(NinoQueuePanel *p, const NinoQueueRow *d, int position);

// What the job made or is making, or where a waiting one is taken hold of: all texts begin at one place.
GtkWidget *nino_queue_thumb(NinoQueuePanel *p, const NinoJob *j);
void nino_queue_thumbs_keep(NinoQueuePanel *p); // forgets those of jobs that are gone
// Waiting rows are dragged to another place.
void nino_queue_add_dragging(NinoQueuePanel *p);
