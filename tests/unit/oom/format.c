// Every allocation of the readers and writers fails once: a clean "nomem", no leak, no file left.
#include "core/base/file.h"
#include "core/file/latent_file.h"
#include "core/media/png.h"
#include "core/file/safetensors.h"
#include "core/file/weights.h"
#include "core/text/embedding.h"
#include "tests/unit/oom/arena.h"

#include <sys/mman.h>

static char dir[] = "/tmp/ninodes-oom-XXXXXX";
static nino_error err;

static bool done(nino_status st, int may_fail)
{
    if (st)
        CHECK_STR(err.kind, "nomem");
    return oom_passed(st, &err, may_fail);
}

static void test_arrays(int may_fail)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 4, 5, 6));
    nino_array *b = a ? nino_array_to_channels_last(a) : NULL;
    nino_array *c = b ? nino_array_convert(b, NINO_F16) : NULL;
    CHECK(c || may_fail);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&c);
}

static void test_save(int may_fail)
{
    static const nino_meta meta[] = { { "prompt", "{}", 2 } };
    const long at = oom_pause();
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 3, 4, 4));
    oom_resume(at);
    const bool saved = done(nino_latent_save(dir, "a.latent", a, meta, 1, &err), may_fail);
    const long rest = oom_pause();
    char path[128];
    snprintf(path, sizeof(path), "%s/a.latent", dir);
    CHECK((access(path, F_OK) == 0) == saved);
    unlink(path);
    nino_array_unref(&a);
    oom.at = rest;
}

static void test_load(int may_fail)
{
    nino_array *a = NULL;
    char path[128];
    snprintf(path, sizeof(path), "%s/kept.latent", dir);
    nino_weights *w = nino_weights_open(path, &err);
    if (done(w ? NINO_OK : err.code, may_fail)) {
        const nino_tensor_info *t = nino_weights_find(w, "half");
        CHECK(t);
        nino_array *f = nino_weights_read_f32(w, t, &err);
        done(f ? NINO_OK : err.code, may_fail);
        nino_array_unref(&f);
        if (done(nino_latent_load(w, &a, &err), may_fail))
            CHECK(a->shape.dim[3] == 4);
    }
    nino_array_unref(&a);
    nino_weights_unref(&w);
}

static void make_file(void)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 4, 2, 2));
    nino_array *h = nino_array_convert(a, NINO_F16);
    const nino_st_entry entries[] = { { "latent_tensor", a }, { "half", h } };
    const nino_meta meta[] = { { "workflow", "{}", 2 } };
    CHECK_OK(nino_st_save(dir, "kept.latent", true, entries, 2, meta, 1, &err), err);
    nino_array_unref(&a);
    nino_array_unref(&h);
}

static nino_buf picture;

static void test_encode(int may_fail)
{
    static const nino_meta texts[] = { { "prompt", "{\"a\": 1}", 8 },
                                       { "note", "\xe4\xb8\xad", 3 } };
    static const uint8_t pixels[16 * 16 * 3];
    nino_buf b = { 0 };
    if (done(nino_png_encode(&b, pixels, 16, 16, 3, 8, texts, 2, &err), may_fail) && !may_fail) {
        picture = b;
        return;
    }
    nino_buf_release(&b);
}

static void test_decode(int may_fail)
{
    nino_png p;
    // what goes wrong with a text does not cost the picture, so that only pixels must be right
    if (done(nino_png_read(picture.data, picture.len, "x", true, &p, &err), may_fail))
        CHECK(p.pixels && (p.texts.n == 2 || may_fail));
    nino_png_release(&p);
    if (done(nino_png_read(picture.data, picture.len, "x", false, &p, &err), may_fail))
        CHECK(p.texts.n == 2);
    nino_png_release(&p);
}

// data.pkl of an empty dict that remembers 300 values, in the smallest archive there is
static void test_pth(int may_fail)
{
    static const char end[] = "PK\5\6\0\0\0\0\1\0\1\0\x38\0\0\0";
    nino_buf b = { 0 };
    const long at = oom_pause();
    const char head[] = "PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0\x09\0\0\0\x0a\0\0\0";
    const char entry[] =
        "PK\1\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0\x09\0\0\0\x0a\0\0\0\0\0\0"
        "\0\0\0\0\0\0\0\0\0\0\0";
    nino_buf_add(&b, head, 30);
    nino_buf_adds(&b, "m/data.pkl");
    nino_buf_add(&b, "\x80\2}r\x2c\1\0\0.", 9);
    nino_buf_add(&b, entry, 46);
    nino_buf_adds(&b, "m/data.pkl");
    nino_buf_add(&b, end, 16);
    nino_buf_add(&b, "\x31\0\0\0\0\0", 6);
    const int fd = memfd_create("x.pth", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, b.data, b.len) == (ssize_t) b.len);
    oom_resume(at);
    nino_weights *w = nino_weights_open_fd(fd, "x.pth", &err);
    done(w ? NINO_OK : err.code, may_fail);
    nino_weights_unref(&w);
    const long rest = oom_pause();
    nino_buf_release(&b);
    oom.at = rest;
}

// A scaled weight and what is said about it, names that are written anew, a vector for a prompt; all of
// it written out again.
static void make_scaled(void)
{
    static const char said[] = "{\"format\": \"float8_e4m3fn\"}";
    nino_array *a[] = { nino_array_create(NINO_F8_E4M3, NINO_SHAPE(2, 2)),
                        nino_array_create(NINO_F32, NINO_SHAPE(2)),
                        nino_array_create(NINO_U8, NINO_SHAPE(sizeof(said) - 1)),
                        nino_array_create(NINO_F16, NINO_SHAPE(1, 3)) };
    const nino_meta meta[] = { { "_quantization_metadata", "{\"layers\": {}}", 14 } };
    memset(a[0]->data, 0x38, 4); // 1
    nino_array_f32(a[1])[0] = nino_array_f32(a[1])[1] = 2;
    memcpy(a[2]->data, said, a[2]->bytes);
    memset(a[3]->data, 0, a[3]->bytes);
    const nino_st_entry entries[] = { { "x.weight", a[0] },
                                      { "x.weight_scale", a[1] },
                                      { "x.comfy_quant", a[2] },
                                      { "language_model.model.embed_tokens.weight", a[3] } };
    CHECK_OK(nino_st_save(dir, "scaled", true, entries, 4, meta, 1, &err), err);
    for (int i = 0; i < 4; i++)
        nino_array_unref(&a[i]);
}

static void test_scaled(int may_fail)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/scaled", dir);
    nino_weights *w = nino_weights_open(path, &err);
    if (!done(w ? NINO_OK : err.code, may_fail))
        return;
    const nino_tensor_info *t = nino_weights_find(w, "x.weight"),
                           *e = nino_weights_find(w, "model.embed_tokens.weight");
    nino_factors f;
    float v[4] = { 1, 1, 1, 1 };
    CHECK(t && e);
    if (done(nino_weights_scale(w, t, &f, &err), may_fail) &&
        done(nino_factors_apply(w, &f, 0, 2, 2, v, &err), may_fail))
        CHECK(v[0] == 2 && v[3] == 2);
    const nino_st_source s[] = { { "a", .file = w, .info = t }, { "b", .file = w, .info = e } };
    nino_file_writer *out = NULL;
    if (done(nino_file_writer_open(dir, "again", true, &out, &err), may_fail))
        done(nino_st_write(out, "again", s, 2, NULL, 0, NULL, &err), may_fail);
    nino_file_writer_abort(&out);
    nino_embedding vectors = { 0 };
    if (done(nino_embedding_read(w, "model.embed_tokens.weight", &vectors, &err), may_fail))
        CHECK(vectors.rows == 1 && vectors.width == 3);
    nino_embedding_release(&vectors);
    nino_weights_unref(&w);
}

int main(void)
{
    CHECK(mkdtemp(dir));
    make_file();
    CHECK(oom_each(test_arrays) >= 3);
    CHECK(oom_each(test_save) > 10);
    CHECK(oom_each(test_load) > 10);
    make_scaled();
    CHECK(oom_each(test_scaled) > 10);
    CHECK(oom_each(test_encode) > 10);
    CHECK(picture.len > 0);
    CHECK(oom_each(test_decode) > 10);
    CHECK(oom_each(test_pth) > 10);
    nino_buf_release(&picture);
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    CHECK(system(command) == 0);
    return 0;
}
