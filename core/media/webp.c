// WebP in: chunks by a walk of our own, frames by libwebpdemux (the whole canvas, blended, as
// Pillow hands them out). Layout: developers.google.com/speed/webp/docs/riff_container.
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/media/exif.h"
#include "core/media/frame_list.h"
#include "core/media/image.h"

#define REFUSE(kind, ...) nino_fail_kind(err, NINO_ERR_FORMAT, kind, name, __VA_ARGS__)

// EXIF, and the number of frames.
static nino_status webp_walk(const unsigned char *p, size_t len, const char *name, nino_image *out,
                             int *orientation, nino_error *texts_err, nino_error *err)
{
    nino_status texts = NINO_OK;
    int n_frames = 0;
    const size_t end = (size_t) nino_le32(p + 4) + 8;
    if (end > len)
        return REFUSE("truncated", "the file is shorter than it says");
    for (size_t at = 12; end >= at && end - at >= 8;) {
        const size_t n = nino_le32(p + at + 4);
        if (n > end - at - 8)
            return REFUSE("truncated", "the file ends inside a chunk");
        if (!memcmp(p + at, "EXIF", 4) && !texts)
            texts = nino_exif_read(p + at + 8, n, name, &out->texts, orientation, texts_err);
        n_frames += !memcmp(p + at, "ANMF", 4);
        at += 8 + n + (n & 1);
    }
    out->frames = n_frames > 1 ? n_frames : 1;
    return texts;
}

static void webp_widen(float *to, const uint8_t *rgba, size_t n, int channels)
{
    for (size_t i = 0; i < n; i++, rgba += 4, to += channels)
        for (int k = 0; k < channels; k++)
            to[k] = (float) rgba[k] / 255.0f;
}

static nino_status webp_read_frames(const void *data, size_t len, const char *name, nino_image *out,
                                    nino_error *err)
{
    const WebPData all = { data, len };
    WebPAnimDecoderOptions options;
    WebPAnimInfo info;
    nino_status st = nino_image_alloc(out, name, err);
    if (st)
        return st;
    WebPAnimDecoderOptionsInit(&options);
    WebPAnimDecoder *d = WebPAnimDecoderNew(&all, &options);
    if (!d || !WebPAnimDecoderGetInfo(d, &info) || (int) info.canvas_width != out->width ||
        (int) info.canvas_height != out->height) {
        WebPAnimDecoderDelete(d);
        return REFUSE("syntax", "the picture is damaged, or memory is short");
    }
    const size_t n = (size_t) out->width * (size_t) out->height;
    for (int f = 0; f < out->frames && !st; f++) {
        uint8_t *rgba = NULL;
        int time_ms = 0;
        if (!WebPAnimDecoderGetNext(d, &rgba, &time_ms))
            st = REFUSE("syntax", "frame %d is damaged", f + 1);
        else
            webp_widen(nino_array_f32(out->pixels) + (size_t) f * n * (size_t) out->channels, rgba,
                       n, out->channels);
    }
    WebPAnimDecoderDelete(d);
    return st;
}

nino_status nino_webp_read(const void *data, size_t len, const char *name, bool with_pixels,
                           nino_image *out, int *orientation, nino_error *err)
{
    nino_error texts = { 0 };
    WebPBitstreamFeatures features;
    out->format = "webp";
    nino_status st = webp_walk(data, len, name, out, orientation, &texts, err);
    if (st && texts.code) { // the texts, not the picture
        const bool is_lost = !with_pixels || st == NINO_ERR_NOMEM;
        if (is_lost && err)
            *err = texts;
        st = is_lost ? st : NINO_OK;
    }
    if (st)
        return st;
    if (WebPGetFeatures(data, len, &features) != VP8_STATUS_OK)
        return REFUSE("syntax", "the picture is damaged");
    out->width = features.width;
    out->height = features.height;
    out->channels = features.has_alpha ? 4 : 3;
    return with_pixels ? webp_read_frames(data, len, name, out, err) : NINO_OK;
}

// ---- frame after frame -------------------------------------------------------------------------

bool nino_webp_is_moving(const void *data, size_t len)
{
    const unsigned char *p = data; // RIFF, VP8X, and the animation bit of its flags
    return len >= 30 && !memcmp(p, "RIFF", 4) && !memcmp(p + 8, "WEBPVP8X", 8) && p[20] & 2;
}

nino_timing nino_webp_timing(const void *data, size_t len)
{
    const uint8_t *p = data;
    uint64_t ms = 0;
    nino_timing t = { 0 };
    if (!nino_webp_is_moving(data, len))
        return t;
    for (size_t at = 12; at <= len && len - at >= 8;) { // the last one's padding may be missing
        const size_t n = nino_le32(p + at + 4);
        if (n > len - at - 8)
            break;
        if (n >= 16 &&
            !memcmp(p + at, "ANMF", 4)) { // 24 bits of milliseconds behind place and size
            const uint8_t *d = p + at + 8 + 12;
            ms += (uint64_t) d[0] | (uint64_t) d[1] << 8 | (uint64_t) d[2] << 16;
            t.frames++;
        }
        at += 8 + n + (n & 1);
    }
    t.seconds = (double) ms * 1e-3;
    return t;
}

nino_status nino_webp_frames(const void *data, size_t len, const char *name, nino_frame_fn fn,
                             void *priv, nino_error *err)
{
    const WebPData all = { data, len };
    WebPAnimDecoderOptions options;
    WebPAnimInfo info = { 0 };
    nino_status st = NINO_OK;
    bool stop = false;
    int shown_ms = 0;
    WebPAnimDecoderOptionsInit(&options);
    WebPAnimDecoder *d = WebPAnimDecoderNew(&all, &options);
    if (!d || !WebPAnimDecoderGetInfo(d, &info))
        st = REFUSE("syntax", "the picture is damaged, or memory is short");
    for (uint32_t i = 0; i < info.frame_count && !st && !stop; i++) {
        uint8_t *rgba = NULL;
        int end_ms = 0;
        if (!WebPAnimDecoderGetNext(d, &rgba, &end_ms)) {
            st = REFUSE("syntax", "frame %u is damaged", (unsigned) i + 1);
            break;
        }
        const nino_frame f = { rgba, (int) info.canvas_width, (int) info.canvas_height, 4,
                               (end_ms - shown_ms) * 1e-3 };
        shown_ms = end_ms;
        st = fn(priv, &f, &stop, err);
    }
    WebPAnimDecoderDelete(d);
    return st;
}
