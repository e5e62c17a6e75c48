// Internal: sounds in and out, by FFmpeg's libraries: what they can decode comes as floats. Samples
// are those of ComfyUI's AUDIO: [batch,channels,samples] in -1..1.
// Thread-safety: as core/media/video.h.
#pragma once
#include "core/base/file.h"
#include "core/file/weights.h"
#include "core/media/texts.h"

typedef struct nino_sound {
    nino_array *wave; // f32 [B,C,T]; owned reference; NULL: no sound
    int rate;         // samples a second
} nino_sound;
void nino_sound_release(nino_sound *s); // NULL-safe inside

// The first sound of a file, [1,C,T]; wave NULL: it has none. sizes_only: zeros of about its length,
// from what its header says. fd: any position.
nino_status nino_sound_read(int fd, const char *name, bool sizes_only, nino_sound *out,
                            nino_error *err);
// Number `item` of the batch as a FLAC file of 16 bits with these tags.
nino_status nino_sound_write(nino_file_writer *file, const nino_sound *s, int64_t item,
                             const nino_meta *texts, int n_texts, nino_error *err);
// n samples from `first` on, as far as there are any.
nino_status nino_sound_cut(const nino_sound *s, int64_t first, int64_t n, nino_sound *out,
                           nino_error *err);
// With another number of samples a second: a low-pass of six zero crossings under a Hann window.
// *out is a new array.
nino_status nino_sound_resample(const nino_array *wave, int from, int to, nino_array **out,
                                nino_error *err);
