// How a node shows what a run made of it: each state has a shape and a colour of its own, and words.
#pragma once
#include "node/node_mark.h"
#include "node/style.h"

GdkRGBA nino_node_state_color(NinoNodeState state, const NinoGraphColors *c);
// The shape around a point; progress: of one that runs or is paused, < 0: not known.
void nino_node_state_draw(cairo_t *cr, double cx, double cy, NinoNodeState state, double progress,
                          const NinoGraphColors *c);
// "1.23 s · +12 MiB", "cancelled"; "": nothing is to be said. g_free().
char *nino_node_state_text(const NinoNodeMark *m);
// For screen readers: ", running"; "" of a node that nothing is known of.
const char *nino_node_state_spoken(NinoNodeState state);
