// Pictures out and in: /view with its previews and channels, /upload/image and /upload/mask. Names
// cannot leave the folders of inputs, outputs and temporary files.
#include "core/serve/serve_priv.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/media/image.h"
#include "core/media/png.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <webp/encode.h>

enum { MAX_SHOWN = 64 << 20, MAX_TRIES = 10000 }; // bytes that are decoded for a preview
#define MAX_SHOWN_PIXELS ((int64_t) 32 << 20)     // beyond it a picture is sent as it is

// ---- where -------------------------------------------------------------------------------------

const char *serve_folder_of(const nino_serve *s, const char *type)
{
    if (!strcmp(type, "output"))
        return s->options.output_dir;
    if (!strcmp(type, "input"))
        return s->options.input_dir;
    return !strcmp(type, "temp") ? nino_ctx_temp_dir(s->ctx) : NULL;
}

// "name.png [input]" says its folder itself.
static void take_annotation(char *name, char *type, size_t size)
{
    static const char *const kinds[] = { "output", "input", "temp" };
    const size_t n = strlen(name);
    for (size_t i = 0; i < 3; i++) {
        char mark[16];
        snprintf(mark, sizeof(mark), " [%s]", kinds[i]);
        const size_t k = strlen(mark);
        if (n > k && !strcmp(name + n - k, mark)) {
            name[n - k] = 0;
            snprintf(type, size, "%s", kinds[i]);
            return;
        }
    }
}

// The name below its folder, checked. False: it cannot be one.
static bool join_name(char *out, size_t size, const char *subfolder, const char *name)
{
    size_t n = strlen(subfolder);
    while (n && subfolder[n - 1] == '/')
        n--;
    const int k = snprintf(out, size, "%.*s%s%s", (int) n, subfolder, n ? "/" : "", name);
    return k > 0 && (size_t) k < size && nino_file_check_name(out, NULL) == NINO_OK;
}

// Opens the file of a reference. -1: the status is in *status.
static int open_named(const nino_serve *s, char *name, const char *subfolder, const char *given,
                      char *path, size_t size, int *status)
{
    char type[16];
    int fd = -1;
    snprintf(type, sizeof(type), "%.15s", given);
    take_annotation(name, type, sizeof(type));
    const char *dir = serve_folder_of(s, type);
    *status = 400;
    if (!dir || !*name)
        return -1;
    *status = 403;
    if (!join_name(path, size, subfolder, name))
        return -1;
    *status = 404;
    return nino_file_open_below(dir, path, &fd, NULL) ? -1 : fd;
}

// ---- pictures ----------------------------------------------------------------------------------

static bool read_fd(int fd, char **data, size_t *len)
{
    struct stat sb;
    if (fstat(fd, &sb) || sb.st_size < 1 || sb.st_size > MAX_SHOWN)
        return false;
    *len = (size_t) sb.st_size;
    *data = malloc(*len);
    return *data && !nino_file_pread(fd, *data, *len, 0, "picture", NULL);
}

// The pixels of a picture that may be decoded here, as RGBA, and what it is otherwise. NULL: it may not.
static uint8_t *decode(const char *data, size_t len, int *width, int *height, bool *has_alpha,
                       nino_image *head)
{
    nino_image i;
    nino_error e = { .code = NINO_OK };
    if (!nino_image_is(data, len) || nino_image_read(data, len, "picture", false, &i, &e))
        return NULL;
    const int64_t pixels = (int64_t) i.width * i.height * i.frames;
    nino_image_release(&i);
    if (pixels > MAX_SHOWN_PIXELS || nino_image_read(data, len, "picture", true, &i, &e))
        return NULL;
    const size_t n = (size_t) i.width * (size_t) i.height;
    uint8_t *out = malloc(n * 4);
    const float *f = nino_array_f32(i.pixels);
    for (size_t p = 0; out && p < n; p++, f += i.channels)
        for (int k = 0; k < 4; k++) {
            const bool is_grey = i.channels < 3;
            const float v = k == 3 ? (i.channels % 2 ? 1 : f[i.channels - 1]) : f[is_grey ? 0 : k];
            out[4 * p + (size_t) k] = (uint8_t) (v * 255 + 0.5f);
        }
    *width = i.width;
    *height = i.height;
    *has_alpha = i.channels % 2 == 0;
    if (head && out)
        *head = i;
    else
        nino_image_release(&i);
    return out;
}

// Half the size until it is at most 512 pixels a side: previews are looked at, not worked with.
static void halve(uint8_t *rgba, int *width, int *height)
{
    while (*width > 1 && *height > 1 && (*width > 512 || *height > 512)) {
        const int w = *width / 2, h = *height / 2;
        const size_t row = (size_t) *width * 4;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                for (size_t k = 0; k < 4; k++) {
                    const uint8_t *p = rgba + (size_t) y * 2 * row + (size_t) x * 8 + k;
                    rgba[((size_t) y * (size_t) w + (size_t) x) * 4 + k] =
                        (uint8_t) ((p[0] + p[4] + p[row] + p[row + 4] + 2) / 4);
                }
        *width = w;
        *height = h;
    }
}

// Leaves the alpha out, in place.
static void drop_alpha(uint8_t *rgba, size_t n)
{
    for (size_t p = 0; p < n; p++)
        memmove(rgba + 3 * p, rgba + 4 * p, 3);
}

static bool encode_preview(nino_buf *out, uint8_t *rgba, int width, int height, bool is_jpeg,
                           int quality)
{
    uint8_t *webp = NULL;
    halve(rgba, &width, &height);
    if (is_jpeg) {
        drop_alpha(rgba, (size_t) width * (size_t) height);
        return !nino_jpeg_encode(out, rgba, width, height, quality, NULL);
    }
    const size_t n = WebPEncodeRGBA(rgba, width, height, 4 * width, (float) quality, &webp);
    nino_buf_add(out, webp, n);
    WebPFree(webp);
    return n && !out->failed;
}

// channel: "rgb" without alpha, "a" alpha as a picture.
static bool encode_channel(nino_buf *out, uint8_t *rgba, int width, int height, bool has_alpha,
                           const char *channel)
{
    const size_t n = (size_t) width * (size_t) height;
    const bool is_alpha = !strcmp(channel, "a");
    for (size_t p = 0; is_alpha && p < n; p++) {
        const uint8_t a = has_alpha ? rgba[4 * p + 3] : 255;
        rgba[4 * p] = rgba[4 * p + 1] = rgba[4 * p + 2] = 255;
        rgba[4 * p + 3] = a;
    }
    if (!is_alpha)
        drop_alpha(rgba, n);
    return nino_png_encode_level(out, rgba, width, height, is_alpha ? 4 : 3, 8, NULL, 0, 1, NULL) ==
           NINO_OK;
}

// Answers with a changed picture. False: it is to be sent as it is.
static bool send_changed(nino_serve_call *c, int fd, const char *preview, const char *channel)
{
    char *data = NULL;
    size_t len = 0;
    int width, height;
    bool has_alpha, ok = false;
    uint8_t *rgba =
        read_fd(fd, &data, &len) ? decode(data, len, &width, &height, &has_alpha, NULL) : NULL;
    if (rgba && *preview) {
        const char *sign = strrchr(preview, ';');
        const int q = sign ? atoi(sign + 1) : 90;
        const bool is_jpeg = !strncmp(preview, "jpeg", 4) && !strchr(channel, 'a');
        ok = encode_preview(&c->body, rgba, width, height, is_jpeg, q < 1 ? 1 : q > 100 ? 100 : q);
        if (ok)
            serve_reply(c, 200, is_jpeg ? "image/jpeg" : "image/webp");
    } else if (rgba) {
        ok = encode_channel(&c->body, rgba, width, height, has_alpha, channel);
        if (ok)
            serve_reply(c, 200, "image/png");
    }
    free(rgba);
    free(data);
    return ok;
}

void serve_get_view(nino_serve_call *c, const char *rest)
{
    char name[1024], sub[1024] = "", type[16] = "output", preview[64] = "", channel[16] = "";
    char path[2100];
    int status;
    (void) rest;
    serve_query(c->query, "type", type, sizeof(type));
    serve_query(c->query, "preview", preview, sizeof(preview));
    serve_query(c->query, "channel", channel, sizeof(channel));
    if (!serve_query(c->query, "filename", name, sizeof(name)) ||
        (strstr(c->query, "subfolder=") && !serve_query(c->query, "subfolder", sub, sizeof(sub)))) {
        serve_fail(c, 400, "invalid_request", "filename is missing or too long");
        return;
    }
    const int fd = open_named(c->s, name, sub, type, path, sizeof(path), &status);
    if (fd < 0) {
        serve_fail(c, status, status == 404 ? "not_found" : "invalid_request",
                   status == 404 ? "there is no such file" : "no name below a folder of pictures");
        return;
    }
    const bool is_part = !strcmp(channel, "rgb") || !strcmp(channel, "a");
    if ((*preview || is_part) && send_changed(c, fd, preview, channel)) {
        close(fd);
    } else {
        nino_buf_clear(&c->body);
        serve_reply_fd(c, fd, path);
    }
    // what is shown here comes from uploads as well: it is never taken for a page of this site
    serve_header(&c->answer, "Content-Security-Policy", "default-src 'none'; sandbox");
    const char *slash = strrchr(name, '/');
    const char *shown = slash ? slash + 1 : name;
    if (!strpbrk(shown, "\"\\") && strlen(shown) < 200)
        serve_header(&c->answer, "Content-Disposition", "filename=\"%s\"", shown);
}

// ---- uploads -----------------------------------------------------------------------------------

typedef struct upload {
    serve_part image;
    char type[16], subfolder[512];
    char *original; // JSON
    bool overwrite, has_image;
} upload;

static void take_text(const serve_part *p, char *out, size_t size)
{
    const size_t n = p->len < size ? p->len : 0;
    memcpy(out, p->data, n);
    out[n] = 0;
}

static bool read_upload(nino_serve_call *c, upload *u)
{
    size_t at = 0;
    bool is_bad = false;
    serve_part p;
    *u = (upload){ .type = "input" };
    for (int i = 0; i < 64 && serve_next_part(c->r, &at, &p, &is_bad); i++) {
        char text[16] = "";
        if (!strcmp(p.name, "image") && p.is_file) {
            u->image = p;
            u->has_image = true;
        } else if (!strcmp(p.name, "type")) {
            take_text(&p, u->type, sizeof(u->type));
        } else if (!strcmp(p.name, "subfolder")) {
            take_text(&p, u->subfolder, sizeof(u->subfolder));
            is_bad = p.len >= sizeof(u->subfolder);
        } else if (!strcmp(p.name, "overwrite")) {
            take_text(&p, text, sizeof(text));
            u->overwrite = !strcmp(text, "true") || !strcmp(text, "1");
        } else if (!strcmp(p.name, "original_ref") && !u->original) {
            u->original = strndup(p.data, p.len);
        }
        if (is_bad)
            break;
    }
    if (!is_bad && u->has_image && *u->image.file)
        return true;
    serve_fail(c, 400, "invalid_request", "the form has no file named image, or is malformed");
    return false;
}

static bool is_same_file(const char *dir, const char *name, const void *data, size_t len)
{
    int fd;
    struct stat sb;
    if (nino_file_open_below(dir, name, &fd, NULL))
        return false;
    char *there = !fstat(fd, &sb) && (uint64_t) sb.st_size == len ? malloc(len + 1) : NULL;
    const bool same =
        there && !nino_file_pread(fd, there, len, 0, name, NULL) && !memcmp(there, data, len);
    free(there);
    close(fd);
    return same;
}

// Writes under the name, or, where another file has it, under "name (1)" and so on; `file` is where
// it is in the end. False: *status says why.
static bool store(const nino_serve *s, const upload *u, char *file, size_t size, const void *data,
                  size_t len, int *status)
{
    const char *dir = serve_folder_of(s, u->type);
    const char *dot = strrchr(u->image.file, '.');
    const int stem = (int) (dot && dot != u->image.file ? (size_t) (dot - u->image.file)
                                                        : strlen(u->image.file));
    char path[1024];
    *status = 400;
    if (!dir || strchr(u->image.file, '/'))
        return false;
    for (int i = 0; i < MAX_TRIES; i++) {
        nino_error e = { .code = NINO_OK };
        nino_file_writer *w = NULL;
        if (i)
            snprintf(file, size, "%.*s (%d)%s", stem, u->image.file, i, u->image.file + stem);
        else
            snprintf(file, size, "%s", u->image.file);
        if (!join_name(path, sizeof(path), u->subfolder, file))
            return false;
        if (!u->overwrite && is_same_file(dir, path, data, len))
            return true;
        *status = 500;
        if (nino_file_mkdirs(dir, false, &e) || nino_file_writer_open(dir, path, true, &w, &e))
            return false;
        if (nino_file_writer_write(w, data, len, &e)) {
            nino_file_writer_abort(&w);
            return false;
        }
        if (!nino_file_writer_commit(&w, !u->overwrite, &e))
            return true;
        if (!e.kind || strcmp(e.kind, "exists") != 0)
            return false;
    }
    return false;
}

static void answer_stored(nino_serve_call *c, const upload *u, const void *data, size_t len)
{
    char file[300];
    int status;
    if (!store(c->s, u, file, sizeof(file), data, len, &status)) {
        serve_fail(c, status, "invalid_request", "the file cannot be stored under that name");
        return;
    }
    nino_buf_clear(&c->body);
    nino_buf_addc(&c->body, '{');
    serve_text(&c->body, "name", file);
    serve_text(&c->body, "subfolder", u->subfolder);
    serve_text(&c->body, "type", u->type);
    nino_buf_addc(&c->body, '}');
    serve_reply_json(c, 200);
}

void serve_upload_image(nino_serve_call *c, const char *rest)
{
    upload u;
    (void) rest;
    if (read_upload(c, &u))
        answer_stored(c, &u, u.image.data, u.image.len);
    free(u.original);
}

// The picture that the mask was drawn on. NULL: there is none.
static uint8_t *read_original(const nino_serve *s, const char *ref, int *w, int *h, nino_image *i)
{
    nino_json_doc *doc = NULL;
    char name[512] = "", sub[512] = "", path[1100], *data = NULL;
    size_t len;
    int status;
    bool alpha;
    uint8_t *rgba = NULL;
    if (!ref || nino_json_parse(ref, strlen(ref), "original_ref", NULL, &doc, NULL))
        return NULL;
    const char *n = nino_json_str(nino_json_get(doc->root, "filename"));
    const char *f = nino_json_str(nino_json_get(doc->root, "subfolder"));
    const char *t = nino_json_str(nino_json_get(doc->root, "type"));
    snprintf(name, sizeof(name), "%s", n && strlen(n) < sizeof(name) ? n : "");
    snprintf(sub, sizeof(sub), "%s", f && strlen(f) < sizeof(sub) ? f : "");
    const int fd = open_named(s, name, sub, t ? t : "output", path, sizeof(path), &status);
    nino_json_doc_destroy(&doc);
    if (fd < 0)
        return NULL;
    if (read_fd(fd, &data, &len))
        rgba = decode(data, len, w, h, &alpha, i);
    free(data);
    close(fd);
    return rgba;
}

// The original's colours and texts with the alpha of what was sent, as a PNG.
static bool lay_mask(nino_buf *out, uint8_t *rgba, int w, int h, const upload *u, nino_image *i)
{
    int mw, mh;
    bool alpha;
    nino_meta meta[8];
    int n = 0;
    uint8_t *mask = decode(u->image.data, u->image.len, &mw, &mh, &alpha, NULL);
    const bool ok = mask && mw == w && mh == h;
    for (size_t p = 0; ok && p < (size_t) w * (size_t) h; p++)
        rgba[4 * p + 3] = mask[4 * p + 3];
    for (; n < i->texts.n && n < 8; n++)
        meta[n] =
            (nino_meta){ i->texts.list[n].key, i->texts.list[n].value, i->texts.list[n].value_len };
    free(mask);
    return ok && !nino_png_encode(out, rgba, w, h, 4, 8, meta, n, NULL);
}

void serve_upload_mask(nino_serve_call *c, const char *rest)
{
    upload u;
    nino_image head = { 0 };
    nino_buf png = { 0 };
    int w, h;
    (void) rest;
    if (read_upload(c, &u)) {
        uint8_t *rgba = read_original(c->s, u.original, &w, &h, &head);
        if (!rgba)
            serve_fail(c, 400, "invalid_request", "original_ref names no picture");
        else if (!lay_mask(&png, rgba, w, h, &u, &head))
            serve_fail(c, 400, "invalid_request", "the mask is no picture of the original's size");
        else
            answer_stored(c, &u, png.data, png.len);
        if (rgba)
            nino_image_release(&head);
        free(rgba);
    }
    nino_buf_release(&png);
    free(u.original);
}
