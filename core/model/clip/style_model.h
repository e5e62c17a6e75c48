// Internal: style models (Flux Redux): from the states of a vision network to tokens that a prompt
// goes on with.
#pragma once
#include "core/file/weights.h"
#include "core/model/layers.h"
#include "core/op/stream.h"

typedef struct nino_style {
    int refs;
    char name[128];
    int in, out; // width of the vision network's states, of the tokens
    nino_layers layers;
    nino_linear up, down;
} nino_style;

nino_status nino_style_load(nino_weights *file, const char *name, nino_style **out,
                            nino_error *err);
nino_style *nino_style_ref(nino_style *m); // NULL-safe
void nino_style_unref(nino_style **m);     // NULL-safe
// states f32 [N,T,in] -> *out f32 [1,N*T,out]
nino_status nino_style_tokens(nino_stream *s, const nino_style *m, const nino_array *states,
                              nino_array **out, nino_error *err);
