// Results: the picture with zoom, comparison and playback, the strip of the last results, and
// the previews while a run samples.
#pragma once
#include <gtk/gtk.h>

#define NINO_TYPE_VIEWER (nino_viewer_get_type())
G_DECLARE_FINAL_TYPE(NinoViewer, nino_viewer, NINO, VIEWER, GtkWidget)

GtkWidget *nino_viewer_new(void);
// A file that a run wrote. Files with the same group (one node of one run) are frames of one
// result. Shows it unless the user looks at another result on purpose.
void nino_viewer_add(NinoViewer *v, const char *group, const char *path);
// A preview; `seconds` is what making it took, `share` of the time of the sampling so far.
void nino_viewer_preview(NinoViewer *v, GdkTexture *t, unsigned step, unsigned total,
                         double seconds, double share);
void nino_viewer_preview_end(NinoViewer *v); // back to the last result, if a preview is shown
guint nino_viewer_count(NinoViewer *v);
// Chooses a result (0: the first of the session) or, as the other side of the comparison.
void nino_viewer_show(NinoViewer *v, guint index);
void nino_viewer_compare_with(NinoViewer *v, guint index);
// Adds the viewer's actions ("viewer-fit", ...) to a window's action map.
void nino_viewer_add_actions(NinoViewer *v, GActionMap *map);
// Signals: "failed" (const char *text): something could not be shown or written; "open" (const char
// *path): the workflow inside this file is wanted; "use" (const char *path): the file is to be what a
// node loads.
