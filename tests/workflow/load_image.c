// LoadImage and LoadImageMask read every kind of picture as ComfyUI does.
#include "core/media/png.h"
#include "core/node/node_impl.h"
#include "core/node/param.h"
#include "tests/flow.h"
#include "tests/picture.h"

#include <math.h>
#include <stddef.h>
#include <zlib.h>

static nino_error err;
static nino_ctx *ctx;

static void put_file(const char *name, const nino_buf *b)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/input/%s", flow_temp(), name);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(b->data, 1, b->len, f) == b->len && !fclose(f));
}

// Runs one of the two nodes; the shapes of a plan are those of the run.
static nino_status run(const char *class_type, const char *image, int64_t channel, nino_value **out)
{
    const nino_node_def *def = nino_node_find(class_type, NULL);
    union {
        max_align_t align;
        char bytes[256];
    } params;
    nino_value *planned[2] = { NULL };
    CHECK(def && def->params_size <= sizeof(params));
    nino_params_init(def, &params);
    nino_default v = { .s = image };
    nino_param_store(nino_param_find(def, "image"), &params, &v);
    if (nino_param_find(def, "channel")) {
        v.i = channel;
        nino_param_store(nino_param_find(def, "channel"), &params, &v);
    }
    nino_run r = { .ctx = ctx, .def = def, .params = &params, .out = planned, .is_plan = true };
    out[0] = out[1] = NULL;
    nino_status st = def->ops->run(&r, &err);
    r.is_plan = false;
    r.out = out;
    if (st == NINO_OK)
        st = def->ops->run(&r, &err);
    for (int i = 0; i < 2; i++) {
        CHECK(st || !planned[i] == !out[i]);
        if (!st && out[i])
            CHECK(
                !memcmp(&planned[i]->u.image->shape, &out[i]->u.image->shape, sizeof(nino_shape)));
        nino_value_unref(&planned[i]);
    }
    return st;
}

static void expect_values(const nino_value *v, nino_shape shape, const float *want, float tolerance)
{
    CHECK(!memcmp(&v->u.image->shape, &shape, sizeof(shape)));
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        if (fabsf(nino_array_f32(v->u.image)[i] - want[i]) > tolerance) {
            fprintf(stderr, "value %lld: %g, expected %g\n", (long long) i,
                    (double) nino_array_f32(v->u.image)[i], (double) want[i]);
            exit(1);
        }
}

static void drop(nino_value **out)
{
    nino_value_unref(&out[0]);
    nino_value_unref(&out[1]);
}

// ---- PNG of every kind, 2 x 1 pixels ---------------------------------------------------------

static void be32(nino_buf *b, uint32_t v)
{
    for (int i = 24; i >= 0; i -= 8)
        nino_buf_addc(b, (char) (v >> i));
}

static void chunk(nino_buf *b, const char *type, const void *data, size_t n)
{
    be32(b, (uint32_t) n);
    const size_t at = b->len;
    nino_buf_add(b, type, 4);
    nino_buf_add(b, data, n);
    be32(b, (uint32_t) crc32(0, (const Bytef *) b->data + at, (uInt) (n + 4)));
}

static void put_png(const char *name, int depth, int colour, const char *palette, const void *trns,
                    size_t n_trns, const void *row, size_t n)
{
    nino_buf b = { 0 }, ihdr = { 0 };
    unsigned char raw[32] = { 0 }, packed[128];
    uLongf len = sizeof(packed);
    nino_buf_add(&b, "\x89PNG\r\n\x1a\n", 8);
    be32(&ihdr, 2);
    be32(&ihdr, 1);
    nino_buf_addc(&ihdr, (char) depth);
    nino_buf_addc(&ihdr, (char) colour);
    nino_buf_add(&ihdr, "\0\0\0", 3);
    chunk(&b, "IHDR", ihdr.data, ihdr.len);
    if (palette)
        chunk(&b, "PLTE", palette, 6);
    if (trns)
        chunk(&b, "tRNS", trns, n_trns);
    memcpy(raw + 1, row, n);
    CHECK(compress(packed, &len, raw, n + 1) == Z_OK);
    chunk(&b, "IDAT", packed, len);
    chunk(&b, "IEND", "", 0);
    put_file(name, &b);
    nino_buf_release(&b);
    nino_buf_release(&ihdr);
}

static void check_png(void)
{
    static const struct {
        const char *name;
        int depth, colour;
        const char *palette, *trns;
        size_t n_trns;
        const char *row;
        size_t n;
        float rgb[6];
        int has_mask;
        float mask[2];  // 1 - alpha
        float alpha[2]; // LoadImageMask: also where one colour is transparent
    } cases[] = {
        { "grey",
          8,
          0,
          NULL,
          NULL,
          0,
          "\x33\xcc",
          2,
          { 51, 51, 51, 204, 204, 204 },
          0,
          { 0 },
          { 0 } },
        { "grey1", 1, 0, NULL, NULL, 0, "\x40", 1, { 0, 0, 0, 255, 255, 255 }, 0, { 0 }, { 0 } },
        { "rgb", 8, 2, NULL, NULL, 0, "\1\2\3\4\5\6", 6, { 1, 2, 3, 4, 5, 6 }, 0, { 0 }, { 0 } },
        { "rgba",
          8,
          6,
          NULL,
          NULL,
          0,
          "\1\2\3\x33\4\5\6\xff",
          8,
          { 1, 2, 3, 4, 5, 6 },
          1,
          { 204, 0 },
          { 204, 0 } },
        { "la",
          8,
          4,
          NULL,
          NULL,
          0,
          "\x10\x33\x20\xff",
          4,
          { 16, 16, 16, 32, 32, 32 },
          1,
          { 204, 0 },
          { 204, 0 } },
        // a palette, with alpha: that is a mask; one transparent colour is none
        { "palette",
          8,
          3,
          "\1\2\3\4\5\6",
          NULL,
          0,
          "\1\0",
          2,
          { 4, 5, 6, 1, 2, 3 },
          0,
          { 0 },
          { 0 } },
        { "palette_a",
          8,
          3,
          "\1\2\3\4\5\6",
          "\x33",
          1,
          "\1\0",
          2,
          { 4, 5, 6, 1, 2, 3 },
          1,
          { 0, 204 },
          { 0, 204 } },
        { "key",
          8,
          2,
          NULL,
          "\0\1\0\2\0\3",
          6,
          "\1\2\3\4\5\6",
          6,
          { 1, 2, 3, 4, 5, 6 },
          0,
          { 0 },
          { 255, 0 } },
        // 16 bits: the upper eight; grey alone is divided by 255
        { "rgb16",
          16,
          2,
          NULL,
          NULL,
          0,
          "\1\xff\2\0\3\x80\4\0\5\0\6\0",
          12,
          { 1, 2, 3, 4, 5, 6 },
          0,
          { 0 },
          { 0 } },
        { "la16",
          16,
          4,
          NULL,
          NULL,
          0,
          "\x10\xff\x33\0\x20\0\xff\xff",
          8,
          { 16, 16, 16, 32, 32, 32 },
          1,
          { 204, 0 },
          { 204, 0 } },
        { "grey16",
          16,
          0,
          NULL,
          NULL,
          0,
          "\1\xff\xff\xff",
          4,
          { 2, 2, 2, 255, 255, 255 },
          0,
          { 0 },
          { 0 } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        float rgb[6], mask[64 * 64] = { 0 }, alpha[2];
        nino_value *out[2];
        put_png(cases[i].name, cases[i].depth, cases[i].colour, cases[i].palette, cases[i].trns,
                cases[i].n_trns, cases[i].row, cases[i].n);
        for (int k = 0; k < 6; k++)
            rgb[k] = cases[i].rgb[k] / 255.0f;
        for (int k = 0; k < 2; k++) {
            mask[k] = cases[i].mask[k] / 255.0f;
            alpha[k] = cases[i].alpha[k] / 255.0f;
        }
        CHECK_OK(run("LoadImage", cases[i].name, 0, out), err);
        expect_values(out[0], NINO_SHAPE(1, 1, 2, 3), rgb, 1e-7f);
        expect_values(out[1], cases[i].has_mask ? NINO_SHAPE(1, 1, 2) : NINO_SHAPE(1, 64, 64), mask,
                      1e-7f);
        drop(out);
        for (int c = 0; c < 4; c++) {
            const float colour[2] = { rgb[c ? c - 1 : 0], rgb[c ? c + 2 : 3] };
            CHECK_OK(run("LoadImageMask", cases[i].name, c, out), err);
            expect_values(out[0], NINO_SHAPE(1, 1, 2), c ? colour : alpha, 1e-7f);
            drop(out);
        }
    }
}

// ---- others ----------------------------------------------------------------------------------

static void check_others(void)
{
    const uint8_t frames[2 * 3 * 4] = { 10, 20, 30, 255, 40, 50, 60, 255, 70, 80, 90, 51,
                                        11, 21, 31, 255, 41, 51, 61, 255, 71, 81, 91, 51 };
    const exif_entry e = { 0x0112, 3, NULL, 0, 6 };
    float rgb[18], mask[6];
    nino_value *out[2];
    for (int i = 0; i < 18; i++)
        rgb[i] = (float) frames[i / 3 * 4 + i % 3] / 255.0f;
    for (int i = 0; i < 6; i++)
        mask[i] = 1.0f - (float) frames[i * 4 + 3] / 255.0f;
    nino_buf exif = exif_make(&e, 1, 0, false);
    nino_buf b = webp_make(frames, 3, 1, 2, true, NULL); // all frames, as a batch
    put_file("anim", &b);
    CHECK_OK(run("LoadImage", "anim", 0, out), err);
    expect_values(out[0], NINO_SHAPE(2, 1, 3, 3), rgb, 1e-7f);
    expect_values(out[1], NINO_SHAPE(2, 1, 3), mask, 1e-7f);
    drop(out);
    nino_buf_release(&b);
    b = webp_make(frames, 3, 1, 1, true, &exif); // turned
    put_file("turned", &b);
    CHECK_OK(run("LoadImage", "turned", 0, out), err);
    expect_values(out[0], NINO_SHAPE(1, 3, 1, 3), rgb, 1e-7f);
    expect_values(out[1], NINO_SHAPE(1, 3, 1), mask, 1e-7f);
    drop(out);
    nino_buf_release(&b);
    const uint8_t flat[16 * 16 * 3] = { 0 };
    b = jpeg_make(flat, 16, 16, 3, false, &exif); // the name does not say what it is
    put_file("photo.png", &b);
    CHECK_OK(run("LoadImage", "photo.png", 0, out), err);
    float black[16 * 16 * 3] = { 0 }, zeros[64 * 64] = { 0 };
    expect_values(out[0], NINO_SHAPE(1, 16, 16, 3), black, 0.02f);
    expect_values(out[1], NINO_SHAPE(1, 64, 64), zeros, 0);
    drop(out);
    b.len -= 20;
    put_file("cut.jpg", &b);
    CHECK(run("LoadImage", "cut.jpg", 0, out) == NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "truncated");
    CHECK(strstr(err.where, "cut.jpg"));
    drop(out);
    nino_buf_release(&b);
    nino_buf_adds(&b, "GIF89a");
    put_file("x.gif", &b);
    CHECK(run("LoadImage", "x.gif", 0, out) == NINO_ERR_FORMAT);
    CHECK(strstr(err.msg, "PNG, JPEG or WebP"));
    drop(out);
    nino_buf_release(&b);
    nino_buf_release(&exif);
}

// Names that say in which folder they are; what an earlier run has made.
static void check_places(void)
{
    static const char *const classes[] = { "LoadImage", "LoadImageOutput" };
    static const struct {
        const char *name;
        float red[2]; // of the two classes; below 0: it is not there
    } of[] = { { "two.png", { -1, 1 } },           { "two.png [output]", { 1, 1 } },
               { "two.png [input]", { -1, -1 } },  { "one.png [input]", { 0, 0 } },
               { "../input/one.png", { -1, -1 } }, { "one.png", { 0, -1 } } };
    char cmd[400];
    put_png("one.png", 8, 0, NULL, NULL, 0, "\0\0", 2);
    put_png("two.png", 8, 0, NULL, NULL, 0, "\377\377", 2);
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/output && mv %s/input/two.png %s/output", flow_temp(),
             flow_temp(), flow_temp());
    CHECK(system(cmd) == 0);
    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
        for (int k = 0; k < 2; k++) {
            nino_value *out[2];
            const nino_status st = run(classes[k], of[i].name, 0, out);
            CHECK((st == NINO_OK) == (of[i].red[k] >= 0));
            CHECK(st || nino_array_f32(out[0]->u.image)[0] == of[i].red[k]);
            drop(out);
        }
}

int main(void)
{
    char cmd[200];
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/input", flow_temp());
    CHECK(system(cmd) == 0);
    ctx = flow_open("ref", NULL);
    CHECK(ctx);
    check_png();
    check_others();
    check_places();
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
