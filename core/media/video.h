// Internal: moving pictures in and out. Writers take frame after frame and keep none, so that the
// memory they need does not grow with the length of a clip (an animated WebP keeps its compressed
// frames until it is finished). Containers and metadata as ComfyUI's SaveVideo, SaveWEBM,
// SaveAnimatedWEBP and SaveAnimatedPNG make them. MP4 and WebM use FFmpeg's libraries, loaded when
// first asked for.
// Thread-safety: one thread at a time for a writer; reading from any thread.
#pragma once
#include "core/base/file.h"
#include "core/media/texts.h"
#include "core/file/weights.h"
#include "core/media/sound.h"

typedef enum nino_video_format {
    NINO_VIDEO_MP4,  // H.264 (yuv420p), or MPEG-4 where no H.264 encoder is installed
    NINO_VIDEO_WEBM, // VP9 or AV1
    NINO_VIDEO_WEBP,
    NINO_VIDEO_APNG
} nino_video_format;

typedef struct nino_video_params {
    nino_video_format format;
    const char *codec; // "h264", "mpeg4", "vp9", "av1"; NULL: the format's first that is installed
    int width, height; // odd sizes are continued by a column or row where a codec needs even ones
    double fps;        // above 0
    double crf;        // WebM: 0 (best) to 63; MP4: 1 (best) to 51, 0: the encoder's own
    bool is_lossless;  // WebP
    int quality;       // WebP: 0 to 100, effort if lossless
    int method;        // WebP: 0 (fast) to 6
    int level;         // APNG: of zlib, 0 to 9
    const nino_sound *sound; // MP4: its first sound, as AAC; NULL: none. Needed until creation ends
    const nino_meta *texts;  // "prompt", "workflow", ...
    int n_texts;
} nino_video_params;

typedef struct nino_video nino_video;

// Writes into `file`, which must outlive it. Errors: NINO_ERR_ARG (sizes), NINO_ERR_UNSUPPORTED
// (no such encoder or library here; says which), NINO_ERR_NOMEM, NINO_ERR_IO.
nino_status nino_video_create(nino_file_writer *file, const nino_video_params *p, nino_video **out,
                              nino_error *err);
nino_status nino_video_add(nino_video *v, const uint8_t *rgb, nino_error *err); // [H,W,3]
// Writes what is left. *v becomes NULL, also on failure; the file is the caller's to commit.
nino_status nino_video_finish(nino_video **v, nino_error *err);
void nino_video_abort(nino_video **v);                 // NULL-safe
const char *nino_video_extension(nino_video_format f); // ".mp4", ".webm", ".webp", ".png"
// Which codec a format would get; NULL: none is installed.
const char *nino_video_codec(nino_video_format f, const char *wanted);

// ---- reading ---------------------------------------------------------------------------------

typedef struct nino_video_info {
    int width, height;
    int64_t frames; // as the container says, or counted where nobody asked for pictures
    double fps;
    double seconds; // 0: not known
    char codec[32];
    nino_texts texts; // the container's tags
} nino_video_info;

bool nino_video_is(const void *data, size_t len); // starts like MP4, MOV, WebM or Matroska
const char *nino_video_container(const void *data, size_t len); // "mp4", "mov", "webm", "matroska"
bool nino_sound_is(const void *data, size_t len); // FLAC, Ogg (Opus), MP3 with tags: tags only
// Size, rate and tags. *frames, if asked for: f32 [N,H,W,3], value/255. fd: any position.
nino_status nino_video_read(int fd, const char *name, nino_video_info *info, nino_array **frames,
                            nino_error *err);
// The same from memory, without pictures; a sound has tags, codec and no size.
nino_status nino_video_tags(const void *data, size_t len, const char *name, nino_video_info *info,
                            nino_error *err);
void nino_video_info_release(nino_video_info *i);
