// Trace files for other programs: the form by the ending of the name, compression, when the file
// appears. See core/monitor/trace/trace_out.h.
#include "core/monitor/trace/trace_out.h"

#include "core/base/error.h"
#include "core/base/time.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { FLUSH_AT = 64 * 1024, FLUSH_MS = 500 };

bool nino_trace_ends_in(const char *path, const char *suffix)
{
    const size_t n = strlen(path), k = strlen(suffix);
    return n > k && !strcmp(path + n - k, suffix);
}

nino_trace_out *nino_trace_out_create(const char *path, bool is_whole, nino_error *err)
{
    nino_trace_out *o = calloc(1, sizeof(*o));
    const bool is_gz = nino_trace_ends_in(path, ".gz");
    if (!o) {
        nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
        return NULL;
    }
    o->pid = getpid();
    o->form = nino_trace_ends_in(path, ".pftrace") || nino_trace_ends_in(path, ".pftrace.gz")
                  ? &nino_trace_pftrace
                  : &nino_trace_json;
    nino_status st = NINO_OK;
    if (is_gz)
        o->is_gz = deflateInit2(&o->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!o->form->init(o) || o->is_gz != is_gz)
        st = nino_fail(err, NINO_ERR_NOMEM, path, "out of memory");
    if (!st)
        st = nino_file_writer_open(NULL, path, false, &o->w, err);
    o->is_live = o->form->is_cut_anywhere && !is_gz && !is_whole;
    if (!st && o->is_live)
        st = nino_file_writer_place(o->w, err);
    if (st)
        nino_trace_out_abort(&o);
    return o;
}

static void trace_out_write_out(nino_trace_out *o, bool is_last)
{
    if (!o->st && o->buf.failed)
        o->st = nino_fail(&o->err, NINO_ERR_NOMEM, "trace", "out of memory");
    if (o->st)
        return;
    if (!o->is_gz) {
        o->st = nino_file_writer_write(o->w, o->buf.data, o->buf.len, &o->err);
    } else {
        unsigned char buf[16384];
        o->z.next_in = (unsigned char *) o->buf.data;
        o->z.avail_in = (unsigned) o->buf.len;
        do {
            o->z.next_out = buf;
            o->z.avail_out = sizeof(buf);
            deflate(&o->z, is_last ? Z_FINISH : Z_NO_FLUSH);
            o->st = nino_file_writer_write(o->w, buf, sizeof(buf) - o->z.avail_out, &o->err);
        } while (!o->st && o->z.avail_out == 0);
    }
    nino_buf_clear(&o->buf);
    o->flushed_ns = nino_now_ns();
}

void nino_trace_out_flush(nino_trace_out *o, bool now)
{
    if (now || o->buf.len >= FLUSH_AT)
        trace_out_write_out(o, false);
}

void nino_trace_out_pulse(nino_trace_out *o)
{
    if (o->is_live && o->buf.len && nino_now_ns() - o->flushed_ns > FLUSH_MS * 1000000ull)
        trace_out_write_out(o, false);
}

nino_status nino_trace_out_finish(nino_trace_out **out, nino_error *err)
{
    nino_trace_out *o = *out;
    trace_out_write_out(o, true);
    nino_status st = o->st;
    if (st && err)
        *err = o->err;
    if (!st)
        st = nino_file_writer_commit(&o->w, false, err);
    nino_trace_out_abort(out);
    return st;
}

void nino_trace_out_abort(nino_trace_out **out)
{
    nino_trace_out *o = *out;
    if (!o)
        return;
    nino_file_writer_abort(&o->w);
    if (o->is_gz)
        deflateEnd(&o->z);
    o->form->release(o);
    nino_buf_release(&o->buf);
    free(o);
    *out = NULL;
}
