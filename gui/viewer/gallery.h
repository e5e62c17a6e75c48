// Results of earlier sessions: which files the last runs wrote, kept in the state of the app.
#pragma once
#include "viewer/viewer.h"

// A file that a run of this session wrote; group: as nino_viewer_add().
void nino_gallery_keep(const char *group, const char *path);
// Shows what earlier sessions kept, the newest last; files that are gone are forgotten.
void nino_gallery_restore(NinoViewer *v);
