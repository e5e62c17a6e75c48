// Moving pictures: what all formats share, and which format has which codecs.
#include "core/media/video_priv.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define MAX_SIDE 16384

const char *nino_video_extension(nino_video_format f)
{
    static const char *const ext[] = { ".mp4", ".webm", ".webp", ".png" };
    return ext[f];
}

static const nino_video_ops *ops_of(nino_video_format f)
{
    switch (f) {
    case NINO_VIDEO_WEBP: return &nino_video_webp_ops;
    case NINO_VIDEO_APNG: return &nino_video_apng_ops;
    case NINO_VIDEO_MP4:
    case NINO_VIDEO_WEBM: break;
    }
    return &nino_video_mux_ops;
}

nino_status nino_video_create(nino_file_writer *file, const nino_video_params *p, nino_video **out,
                              nino_error *err)
{
    *out = NULL;
    if (p->width < 1 || p->height < 1 || p->width > MAX_SIDE || p->height > MAX_SIDE)
        return nino_fail(err, NINO_ERR_ARG, "video", "cannot write frames of %d x %d pixels",
                         p->width, p->height);
    if (!(p->fps > 0 && p->fps <= 1000))
        return nino_fail(err, NINO_ERR_ARG, "video", "%g frames a second are not possible", p->fps);
    nino_video *v = calloc(1, sizeof(*v));
    if (!v)
        return nino_fail(err, NINO_ERR_NOMEM, "video", "out of memory");
    *v = (nino_video){ .ops = ops_of(p->format), .p = *p, .file = file };
    const nino_status st = v->ops->start(v, err);
    v->p.texts = NULL;
    v->p.n_texts = 0;
    if (st)
        nino_video_abort(&v);
    *out = v;
    return st;
}

nino_status nino_video_add(nino_video *v, const uint8_t *rgb, nino_error *err)
{
    const nino_status st = v->ops->add(v, rgb, err);
    v->n++;
    return st;
}

nino_status nino_video_finish(nino_video **v, nino_error *err)
{
    const nino_status st = (*v)->n ? (*v)->ops->finish(*v, err)
                                   : nino_fail(err, NINO_ERR_ARG, "video", "there are no frames");
    nino_video_abort(v);
    return st;
}

void nino_video_abort(nino_video **v)
{
    if (!v || !*v)
        return;
    (*v)->ops->destroy(*v);
    free(*v);
    *v = NULL;
}

bool nino_video_is(const void *data, size_t len)
{
    const char *p = data;
    return (len >= 12 && !memcmp(p + 4, "ftyp", 4)) ||
           (len >= 4 && !memcmp(p, "\x1a\x45\xdf\xa3", 4));
}

const char *nino_video_container(const void *data, size_t len)
{
    const char *p = data;
    if (len >= 12 && !memcmp(p + 4, "ftyp", 4))
        return memcmp(p + 8, "qt", 2) ? "mp4" : "mov";
    return memmem(data, len < 64 ? len : 64, "webm", 4) ? "webm" : "matroska";
}

bool nino_sound_is(const void *data, size_t len)
{
    return len >= 4 &&
           (!memcmp(data, "fLaC", 4) || !memcmp(data, "OggS", 4) || !memcmp(data, "ID3", 3));
}

void nino_video_info_release(nino_video_info *i)
{
    nino_texts_release(&i->texts);
    *i = (nino_video_info){ 0 };
}
