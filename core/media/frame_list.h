// Internal: moving pictures in, frame after frame as 8-bit pixels: no reader holds more than one or
// two of them, however long the clip.
// Thread-safety: any thread.
#pragma once
#include <ninodes/base.h>

typedef struct nino_frame {
    const uint8_t *pixels; // [height, width, channels]; valid until the call returns
    int width, height;
    int channels;   // 3 or 4 (alpha not premultiplied)
    double seconds; // that it is shown; 0: not known
} nino_frame;

// Takes a frame; *stop: no more are wanted.
typedef nino_status (*nino_frame_fn)(void *priv, const nino_frame *f, bool *stop, nino_error *err);

bool nino_apng_is(const void *data, size_t len); // a PNG with frames
bool nino_webp_is_moving(const void *data, size_t len);
nino_status nino_apng_frames(const void *data, size_t len, const char *name, nino_frame_fn fn,
                             void *priv, nino_error *err);
nino_status nino_webp_frames(const void *data, size_t len, const char *name, nino_frame_fn fn,
                             void *priv, nino_error *err);
// What the container says of its frames, without decoding one; all zero: it does not move.
typedef struct nino_timing {
    int frames;
    double seconds; // 0: not known
} nino_timing;
nino_timing nino_apng_timing(const void *data, size_t len);
nino_timing nino_webp_timing(const void *data, size_t len);
// MP4, MOV, WebM, Matroska. fd: any position.
nino_status nino_video_frames(int fd, const char *name, nino_frame_fn fn, void *priv,
                              nino_error *err);
