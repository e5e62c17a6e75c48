// Internal: models made of two others. Weights are mixed when they are read, as those with LoRAs
// are; what they came from stays as it was.
#pragma once
#include "core/model/clip/clip.h"
#include "core/model/diffusion/diffusion.h"

// Weights whose names begin with the prefix ("": all) become mine * first + other * second; the
// longest prefix counts.
typedef struct nino_merge_part {
    const char *prefix;
    double mine, other;
} nino_merge_part;

// What a model's weights are read from, with its LoRAs: a new reference to its file or a view of
// it.
nino_status nino_model_file(const nino_model *m, nino_weights **out, nino_error *err);

// *out: the first, with the weights that both have in the same size mixed. Errors: kind "model"
// when they have none in common.
nino_status nino_model_merge(nino_model *a, const nino_model *b, const nino_merge_part *parts,
                             int n, nino_model **out, nino_error *err);
nino_status nino_clip_merge(nino_clip *a, const nino_clip *b, const nino_merge_part *parts, int n,
                            nino_clip **out, nino_error *err);
