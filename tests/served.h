// The HTTP interface without sockets and without a worker, over folders of its own: for tests/unit/serve.
#pragma once
#include "core/base/file.h"
#include "core/base/buf.h"
#include "tests/test.h"
#include <ninodes/serve.h>

#include <sys/stat.h>

static char served_top[] = "/tmp/ninodes-served-XXXXXX";

// Makes the folders "in", "out", "user" and "models" below served_top.
static inline nino_serve *served_create(void (*wake)(void *priv, void *user), void *priv)
{
    char dir[4][80];
    nino_error err = { 0 };
    static const char *const names[] = { "in", "out", "user", "models" };
    CHECK(mkdtemp(served_top));
    for (int i = 0; i < 4; i++) {
        snprintf(dir[i], sizeof(dir[i]), "%s/%s", served_top, names[i]);
        CHECK(!mkdir(dir[i], 0700));
    }
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT,
                                  .models = (const char *const[]){ dir[3], NULL },
                                  .input_dir = dir[0], .output_dir = dir[1] };
    const nino_serve_params p = { NINO_SERVE_PARAMS_INIT, .job = &jo,   .user_dir = dir[2],
                                  .max_body = 1 << 20,    .wake = wake, .priv = priv };
    nino_serve *s = nino_serve_create(&p, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    return s;
}

static inline void served_destroy(nino_serve **s)
{
    char command[64];
    nino_serve_destroy(s);
    snprintf(command, sizeof(command), "rm -rf %s", served_top);
    CHECK(!system(command));
}

static inline void served_put(const char *folder, const char *name, const void *data, size_t n)
{
    char dir[100];
    nino_error err = { 0 };
    snprintf(dir, sizeof(dir), "%s/%s", served_top, folder);
    CHECK_OK(nino_file_save(dir, name, true, data, n, &err), err);
}

// Asks ("GET /view?..."), and gives the status; the body, or what the file holds, goes to *out.
static inline int served_ask(nino_serve *s, const char *line, const char *type, const void *body,
                             size_t bytes, nino_buf *out)
{
    char request[2600];
    CHECK((size_t) snprintf(request, sizeof(request), "%s", line) < sizeof(request));
    char *target = strchr(request, ' ');
    CHECK(target);
    *target++ = 0;
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT, .method = request,    .target = target,
                                  .host = "localhost",    .content_type = type, .body = body,
                                  .body_bytes = bytes };
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    const nino_http_answer *a = c ? nino_serve_answered(c) : NULL;
    CHECK(a);
    nino_buf_clear(out);
    if (a->fd >= 0) {
        char *all = malloc(a->file_bytes + 1);
        CHECK(all &&
              pread(a->fd, all, a->file_bytes, (off_t) a->file_offset) == (ssize_t) a->file_bytes);
        nino_buf_add(out, all, a->file_bytes);
        free(all);
    } else {
        nino_buf_add(out, a->body ? a->body : "", a->bytes);
    }
    nino_buf_addc(out, 0);
    CHECK(!out->failed);
    out->len--;
    const int status = a->status;
    nino_serve_drop(&c);
    return status;
}
