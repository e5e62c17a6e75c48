// Internal: what a saved latent looks like, as previews of an unfinished one do.
#pragma once
#include <ninodes/picture.h>

#include "core/tensor/tensor.h"

// A node latent [N,H,W,C] or [N,T,H,W,C] -> a picture of a pixel a cell, all of a batch and of a
// clip one after another (max_frames; 0: all). The file does not say which model's latent it is: of
// the formats with so many channels it is the one whose scale brings this latent nearest to a
// variance of 1, which is what scales are for. A kind without known colours is grey: its first
// channel.
nino_status nino_latent_picture(const nino_array *samples, const char *name, int max_frames,
                                nino_picture *out, nino_error *err);
