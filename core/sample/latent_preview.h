// Internal: what an unfinished latent looks like. Definitions: ComfyUI latent_preview.py
// (Latent2RGBPreviewer, TAESDPreviewerImpl): the first picture of the batch; of a video ComfyUI
// shows the first frame, here all are seen. Thread-safety: none needed; the TAESD form uses the
// caller's stream.
#pragma once
#include "core/model/latent_format.h"
#include "core/model/vae/vae.h"
#include "core/tensor/tensor.h"

#define NINO_PREVIEW_SIDE 512 // pixels of the longer side, at most

// x0 is a model latent, channels first, [N,C,h,w] or [N,C,t,h,w] -> *out u8 [1 or t,h,w,3]: a
// linear map of the channels. NINO_ERR_UNSUPPORTED: the format has no such map.
nino_status nino_preview_rgb(const nino_latent_format *f, const float *x0, const nino_shape *shape,
                             nino_array **out, nino_error *err);
#define NINO_PREVIEW_FRAMES 16 // of a sheet, at most
// Frames u8 [t,h,w,3], evenly chosen, row by row on one picture [1,H,W,3] that is about as wide in
// frames as it is high.
nino_status nino_preview_sheet(const nino_array *frames, nino_array **out, nino_error *err);
#define NINO_PREVIEW_FRAME_SIDE 256 // pixels of the longer side of a video's frame, at most
// A picture through a tiny autoencoder, larger ones are made smaller: [1,h,w,3]. A video, through
// one for video: the frames of a sheet, evenly chosen, [n,h,w,3].
nino_status nino_preview_tiny(nino_stream *s, const nino_vae *v, const nino_latent_format *f,
                              const float *x0, const nino_shape *shape, nino_array **out,
                              nino_error *err);
