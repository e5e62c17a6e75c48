// Internal to viewer*.c: results (viewer.c), their frames and the comparison (viewer_play.c), what
// the user can do with them (viewer_actions.c), how they were made (viewer_profile.c, history.c).
#pragma once
#include "viewer/picture_area.h"
#include "viewer/viewer.h"

typedef struct Result {
    char *group;
    GPtrArray *paths;
    GtkWidget *button, *picture, *badge;
} Result;

struct _NinoViewer {
    GtkWidget parent;
    GtkWidget *box, *tools, *stack, *empty_page, *empty, *not_found, *strip, *caption, *zoom_label,
        *split, *compare_bar, *play_bar, *frame, *fps, *other, *time, *made, *made_line, *search;
    NinoPictureArea *area;
    GActionMap *map;
    GPtrArray *results, *frames, *other_frames;
    double fps_own, fps_other;    // of the two; 0: a batch of stills
    int shown, compared;          // -1: none
    gboolean in_preview, settled; // settled: the user chose a result; new ones do not take over
    GCancellable *loading, *loading_other;
    guint play_timer, zoom_idle, strip_idle;
    gint64 play_from_us; // when frame play_first was shown
    guint play_first;
    gboolean loops, is_jump; // is_jump: the playback moves the slider, not the user
    gboolean updating;
};

// ---- viewer.c
Result *nino_viewer_result(NinoViewer *v, int i); // NULL: no such
void nino_viewer_describe(NinoViewer *v, const char *text);
void nino_viewer_describe_result(NinoViewer *v, const Result *r, guint n_frames);
void nino_viewer_fail(NinoViewer *v, const char *text); // the signals
void nino_viewer_open(NinoViewer *v, const char *path);
void nino_viewer_use(NinoViewer *v, const char *path);

// ---- viewer_play.c
void nino_viewer_play_init(NinoViewer *v);
void nino_viewer_play_dispose(NinoViewer *v);
void nino_viewer_load_shown(NinoViewer *v);
guint nino_viewer_frame(NinoViewer *v);           // the one that is shown
void nino_viewer_step(NinoViewer *v, int frames); // stops the playback
void nino_viewer_play(NinoViewer *v);
void nino_viewer_stop(NinoViewer *v);
void nino_viewer_compare_off(NinoViewer *v);

// ---- history.c
void nino_viewer_history_init(NinoViewer *v);
void nino_viewer_history_read(Result *r, const char *path); // how it was made, in a thread
void nino_viewer_history_changed(NinoViewer *v); // another result is shown, or there are more

// ---- viewer_profile.c
void nino_viewer_show_profile(NinoViewer *v, const char *path);

// ---- viewer_actions.c
void nino_viewer_update_actions(NinoViewer *v);
void nino_viewer_set_bool(NinoViewer *v, const char *name, gboolean on);
