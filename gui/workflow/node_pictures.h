// What a run made, on the nodes that made it: small pictures of result files, several of one node
// on one sheet, and the newest preview while a node samples.
#pragma once
#include "workflow/tab.h"

// A file that the node (execution id) of this run wrote; the files of one node and run belong
// together. Read and scaled in a thread, shown on the tab's canvas.
void nino_node_pictures_add(NinoTab *tab, const char *node_id, guint32 run, const char *path);
void nino_node_pictures_preview(NinoTab *tab, const char *node_id, guint32 run, GdkTexture *t);
// The node ran to its end: what an earlier run made is not its result any more.
void nino_node_pictures_ran(NinoTab *tab, const char *node_id, guint32 run);
