// Links between nodes: how they run, what they are called.
#pragma once
#include "canvas/canvas_view.h"

char *nino_canvas_link_name(nino_document *d, int link); // for people; g_free()
