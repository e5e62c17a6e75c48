// Pictures for showing: the pixels of a PNG, JPEG or WebP file, the frames of an animated PNG or
// WebP and of MP4, MOV, WebM and Matroska videos, and of a saved .latent the rough colours that
// previews have, a pixel a cell.
//
// Threads: a picture is plain data; loading may run on any thread.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

typedef struct nino_picture {
    // "png", "apng", "jpeg", "webp", "video", "latent".
    const char *format;
    // Upright, as shown.
    int width, height;
    // 1 unless it moves.
    int frames;
    // [frames, height, width, 4], alpha not premultiplied.
    uint8_t *rgba;
    // The mean of what the file says; 0: a still, or it does not say.
    double fps;
    // There may be more frames, which were not wanted or are too many.
    bool is_cut;
} nino_picture;

// Reads a file. Errors: NINO_ERR_IO, NINO_ERR_FORMAT (not a picture, damaged, or a picture beyond
// 16384 pixels a side or 2^28 in all; of what moves the frames that fit are read), NINO_ERR_NOMEM,
// NINO_ERR_UNSUPPORTED (no decoder for this video here).
NINO_API nino_status nino_picture_load(const char *path, nino_picture *out, nino_error *err);
// The first max_frames frames; 0: all.
NINO_API nino_status nino_picture_load_frames(const char *path, int max_frames, nino_picture *out,
                                              nino_error *err);
// NULL-safe, p is empty afterwards.
NINO_API void nino_picture_release(nino_picture *p);

// How far picture b is from a.
typedef struct nino_picture_diff {
    // Squared difference by squared a, and dB of 255; of colours, and of alpha where a pixel of either
    // is not opaque. 0 and infinity where they are equal.
    double nmse, psnr;
    // The largest difference, of 255; how many pixels differ, of how many.
    int most;
    uint64_t n_differ, n_pixels;
    // The first that does.
    int frame, x, y;
} nino_picture_diff;
// NINO_ERR_RANGE: they have other sizes, or other numbers of frames.
NINO_API nino_status nino_picture_compare(const nino_picture *a, const nino_picture *b,
                                          nino_picture_diff *out, nino_error *err);

// Writes the file anew without what it tells of its making: workflow, prompt, profile and other
// texts of a PNG, APNG or WebP; what is drawn stays byte for byte. Errors: NINO_ERR_IO,
// NINO_ERR_FORMAT, NINO_ERR_UNSUPPORTED (another kind of file), NINO_ERR_NOMEM.
NINO_API nino_status nino_picture_save_bare(const char *from, const char *to, nino_error *err);

NINO_END
