// Unsaved workflows survive a crash: each is written to the state folder while it is changed, and
// what an earlier session left behind is found at the next start.
#pragma once
#include <glib.h>

// Keeps `json` under this id until nino_autosave_forget(). title and path (may be NULL) come back.
// FALSE: it is not on the disk.
gboolean nino_autosave_keep(const char *uid, const char *title, const char *path, const char *json,
                            gsize len);
void nino_autosave_forget(const char *uid);

typedef struct NinoRecovered {
    char *title, *path, *json, *folder;
    gsize len;
} NinoRecovered;
// Takes what sessions that no longer run have left; gone from the disk once it was kept again or
// nino_autosave_discard() was called. NinoRecovered; the caller's.
GPtrArray *nino_autosave_recover(void);
void nino_autosave_discard(void); // removes the files of nino_autosave_recover()
void nino_autosave_leave(
    const NinoRecovered *r);  // not those of its session: it could not be opened
void nino_autosave_end(void); // the session ends as the user wants: nothing of it stays
