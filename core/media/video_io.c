// Containers as FFmpeg reads and writes them: from files and memory, into files that are committed
// by whoever opened them.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/media/video_priv.h"

#define IO_BUFFER 65536

// ---- reading ---------------------------------------------------------------------------------

static int on_video_io_read(void *priv, uint8_t *to, int n)
{
    nino_av_input *s = priv;
    if (s->fd >= 0) {
        ssize_t k;
        do
            k = pread(s->fd, to, (size_t) n, s->at);
        while (k < 0 && errno == EINTR);
        if (k < 0)
            return AVERROR(errno);
        s->at += k;
        return k ? (int) k : AVERROR_EOF;
    }
    const int64_t left = s->len - s->at;
    if (left <= 0)
        return AVERROR_EOF;
    if (n > left)
        n = (int) left;
    memcpy(to, s->data + s->at, (size_t) n);
    s->at += n;
    return n;
}

static int64_t on_video_io_seek(void *priv, int64_t offset, int whence)
{
    nino_av_input *s = priv;
    if (whence & AVSEEK_SIZE)
        return s->len;
    switch (whence & 3) {
    case SEEK_CUR: offset += s->at; break;
    case SEEK_END: offset += s->len; break;
    default: break;
    }
    if (offset < 0 || offset > s->len)
        return AVERROR(EINVAL);
    return s->at = offset;
}

nino_status nino_av_input_open(nino_av_input *in, const char *name, nino_error *err)
{
    const nino_av *av = in->av = nino_av_load(err);
    if (!av)
        return NINO_ERR_UNSUPPORTED;
    unsigned char *buffer = av->av_malloc(IO_BUFFER);
    in->io = buffer ? av->avio_alloc_context(buffer, IO_BUFFER, 0, in, on_video_io_read, NULL,
                                             on_video_io_seek)
                    : NULL;
    if (!in->io)
        av->av_free(buffer);
    if (!in->io || !(in->fmt = av->avformat_alloc_context()))
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    in->fmt->pb = in->io;
    int rc = av->avformat_open_input(&in->fmt, NULL, NULL, NULL);
    if (rc >= 0)
        rc = av->avformat_find_stream_info(in->fmt, NULL);
    return rc < 0 ? nino_av_fail(av, rc, name, "cannot read the video", err) : NINO_OK;
}

void nino_av_input_close(nino_av_input *in)
{
    if (!in->av)
        return;
    in->av->avformat_close_input(&in->fmt);
    if (in->io)
        in->av->av_free(in->io->buffer);
    in->av->avio_context_free(&in->io);
}

// ---- writing ---------------------------------------------------------------------------------

static int on_video_io_write(void *priv, uint8_t *data, int n)
{
    nino_av_output *o = priv;
    if (!o->status)
        o->status = nino_file_writer_write(o->file, data, (size_t) n, &o->error);
    return o->status ? AVERROR(EIO) : n;
}

static int64_t on_video_io_seek_out(void *priv, int64_t offset, int whence)
{
    const nino_av_output *o = priv;
    if (whence & AVSEEK_SIZE)
        return AVERROR(ENOSYS);
    const off_t at = lseek(nino_file_writer_fd(o->file), offset, whence & 3);
    return at < 0 ? AVERROR(errno) : at;
}

nino_status nino_av_output_fail(const nino_av_output *o, int code, const char *what,
                                nino_error *err)
{
    if (o->status && err)
        *err = o->error;
    return o->status ? o->status : nino_av_fail(o->av, code, "video", what, err);
}

nino_status nino_av_output_open(nino_av_output *o, nino_file_writer *file, const char *format,
                                nino_error *err)
{
    const nino_av *av = o->av;
    o->file = file;
    const int rc = av->avformat_alloc_output_context2(&o->fmt, NULL, format, NULL);
    if (rc < 0)
        return nino_av_output_fail(o, rc, "cannot begin the file", err);
    unsigned char *buffer = av->av_malloc(IO_BUFFER);
    o->io = buffer ? av->avio_alloc_context(buffer, IO_BUFFER, 1, o, NULL, on_video_io_write,
                                            on_video_io_seek_out)
                   : NULL;
    if (!o->io) {
        av->av_free(buffer);
        return nino_fail(err, NINO_ERR_NOMEM, "video", "out of memory");
    }
    o->fmt->pb = o->io;
    o->fmt->flags |= AVFMT_FLAG_CUSTOM_IO;
    return NINO_OK;
}

void nino_av_output_close(nino_av_output *o)
{
    if (!o->av)
        return;
    o->av->avformat_free_context(o->fmt);
    o->fmt = NULL;
    if (o->io)
        o->av->av_free(o->io->buffer);
    o->av->avio_context_free(&o->io);
}
