// Internal: what is measured of a clip as its frames go by: whether the first frame looks like the
// others (a wrong start of the state over-saturates it), and whether frames jump where the pieces
// that were computed together begin.
#pragma once
#include "core/event/publish.h"
#include "core/tensor/tensor.h"

typedef struct nino_clip_meter {
    float *steps; // mean |difference| of frame i and the one before, i > 0; malloc'd
    bool *border; // a piece began at frame i
    nino_array *last;
    int64_t n, room;
    double first_mean, first_colour, mean, colour; // of the first frame; sums over the others
} nino_clip_meter;

void nino_clip_meter_begin(nino_clip_meter *m);
void nino_clip_meter_border(nino_clip_meter *m, int64_t frame);
void nino_clip_meter_frames(nino_clip_meter *m, const nino_array *frames); // [n,H,W,3], the next
// A NINO_EV_CLIP; nothing if no frame has gone by.
void nino_clip_meter_publish(const nino_clip_meter *m, nino_monitor *monitor, uint64_t ns);
void nino_clip_meter_end(nino_clip_meter *m);
