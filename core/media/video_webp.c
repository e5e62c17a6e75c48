// Animated WebP out, by libwebpmux. Metadata as Pillow writes it for ComfyUI's SaveAnimatedWEBP:
// EXIF with Model = "prompt:" JSON, Make = "workflow:" JSON and further texts one tag lower each.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <webp/encode.h>
#include <webp/mux.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/media/video_priv.h"

#define TAG_MODEL 0x0110u

typedef struct webp {
    WebPAnimEncoder *encoder;
    WebPConfig config;
    nino_buf exif;
} webp;

static void video_webp_put(nino_buf *b, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++, v >>= 8)
        nino_buf_addc(b, (char) (v & 255));
}

// Little-endian TIFF: one directory of ASCII tags in ascending order, then the texts. The first
// text gets the highest tag.
static void make_exif(nino_buf *b, const nino_meta *t, int n)
{
    uint32_t at = 8 + 2 + 12 * (uint32_t) n + 4;
    nino_buf_adds(b, "II*");
    video_webp_put(b, 0, 1);
    video_webp_put(b, 8, 4);
    video_webp_put(b, (uint32_t) n, 2);
    for (int i = n - 1; i >= 0; i--) {
        const uint32_t len = (uint32_t) (strlen(t[i].key) + 1 + t[i].value_len + 1);
        video_webp_put(b, TAG_MODEL - (uint32_t) i, 2);
        video_webp_put(b, 2, 2);
        video_webp_put(b, len, 4);
        video_webp_put(b, at, 4); // a key and a JSON text are longer than the 4 bytes that fit here
        at += len + (len & 1);
    }
    video_webp_put(b, 0, 4);
    for (int i = n - 1; i >= 0; i--) {
        nino_buf_adds(b, t[i].key);
        nino_buf_addc(b, ':');
        nino_buf_add(b, t[i].value, t[i].value_len);
        video_webp_put(b, 0, 1 + ((strlen(t[i].key) + t[i].value_len) & 1));
    }
}

static nino_status video_webp_start(nino_video *v, nino_error *err)
{
    webp *w = v->state = calloc(1, sizeof(*w));
    WebPAnimEncoderOptions options;
    if (!w)
        return nino_fail(err, NINO_ERR_NOMEM, "WebP", "out of memory");
    if (!WebPAnimEncoderOptionsInit(&options) || !WebPConfigInit(&w->config))
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "WebP", "the library has another version");
    w->config.lossless = v->p.is_lossless;
    w->config.quality = (float) v->p.quality;
    w->config.method = v->p.method;
    if (!WebPValidateConfig(&w->config))
        return nino_fail(err, NINO_ERR_ARG, "WebP", "quality %d, method %d are out of range",
                         v->p.quality, v->p.method);
    if (v->p.n_texts)
        make_exif(&w->exif, v->p.texts, v->p.n_texts);
    w->encoder = w->exif.failed ? NULL : WebPAnimEncoderNew(v->p.width, v->p.height, &options);
    return w->encoder ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, "WebP", "out of memory");
}

static int video_webp_time_of(const nino_video *v, int64_t frame)
{
    return (int) lround((double) frame * 1000 / v->p.fps);
}

static nino_status video_webp_add(nino_video *v, const uint8_t *rgb, nino_error *err)
{
    webp *w = v->state;
    WebPPicture p;
    if (!WebPPictureInit(&p))
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "WebP", "the library has another version");
    p.use_argb = 1;
    p.width = v->p.width;
    p.height = v->p.height;
    int ok = WebPPictureImportRGB(&p, rgb, v->p.width * 3);
    if (ok)
        ok = WebPAnimEncoderAdd(w->encoder, &p, video_webp_time_of(v, v->n), &w->config);
    WebPPictureFree(&p);
    return ok ? NINO_OK
              : nino_fail(err, NINO_ERR_FORMAT, "WebP", "cannot encode: %s",
                          WebPAnimEncoderGetError(w->encoder));
}

static nino_status video_webp_finish(nino_video *v, nino_error *err)
{
    webp *w = v->state;
    WebPData data = { 0 }, all = { 0 };
    WebPMux *mux = NULL;
    nino_status st = NINO_OK;
    if (!WebPAnimEncoderAdd(w->encoder, NULL, video_webp_time_of(v, v->n), NULL) ||
        !WebPAnimEncoderAssemble(w->encoder, &data)) {
        st = nino_fail(err, NINO_ERR_FORMAT, "WebP", "cannot finish: %s",
                       WebPAnimEncoderGetError(w->encoder));
        goto end;
    }
    const WebPData exif = { (const uint8_t *) w->exif.data, w->exif.len };
    if (exif.size) {
        mux = WebPMuxCreate(&data, 0);
        if (!mux || WebPMuxSetChunk(mux, "EXIF", &exif, 0) != WEBP_MUX_OK ||
            WebPMuxAssemble(mux, &all) != WEBP_MUX_OK) {
            st = nino_fail(err, NINO_ERR_NOMEM, "WebP", "cannot add the workflow to the picture");
            goto end;
        }
    }
    const WebPData *out = exif.size ? &all : &data;
    st = nino_file_writer_write(v->file, out->bytes, out->size, err);
end:
    WebPMuxDelete(mux);
    WebPDataClear(&data);
    WebPDataClear(&all);
    return st;
}

static void video_webp_destroy(nino_video *v)
{
    webp *w = v->state;
    if (!w)
        return;
    WebPAnimEncoderDelete(w->encoder);
    nino_buf_release(&w->exif);
    free(w);
}

const nino_video_ops nino_video_webp_ops = { video_webp_start, video_webp_add, video_webp_finish,
                                             video_webp_destroy };
