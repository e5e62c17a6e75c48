// Upscale models: every set of names and form of the network against plain loops written from the
// papers, what is missing or wrong named, other networks refused by their name, memory of the real
// sizes by plan.
#include "core/model/detect.h"
#include "core/model/upscale/upscale.h"
#include "core/op/plan/plan.h"
#include "core/tile/tile_upscale.h"
#include "tests/random_upscale.h"
#include "tests/vae.h"

static test_dir dir;
static nino_error err;
static char path[160];

// ---- plain loops -----------------------------------------------------------------------------

typedef struct map { // channels last, with double sums
    int h, w, c;
    float *v;
} map;

static map map_new(int h, int w, int c)
{
    const map m = { h, w, c, calloc((size_t) h * (size_t) w * (size_t) c, sizeof(float)) };
    CHECK(m.v);
    return m;
}

static float map_at(const map *m, int y, int x, int c) { return m->v[(y * m->w + x) * m->c + c]; }

typedef struct plain {
    const nino_weights *w;
    const random_up *r;
} plain;

static nino_array *plain_read(const plain *p, const char *name, const char *leaf)
{
    char full[128];
    snprintf(full, sizeof(full), "%s%s%s", p->r->prefix ? p->r->prefix : "", name, leaf);
    const nino_tensor_info *t = nino_weights_find(p->w, full);
    return t ? nino_weights_read_f32(p->w, t, &err) : NULL;
}

static map plain_conv(const plain *p, const char *name, const map *in)
{
    nino_array *w = plain_read(p, name, ".weight"), *b = plain_read(p, name, ".bias");
    CHECK(w && w->shape.dim[1] == in->c);
    const int n = (int) w->shape.dim[0], k = (int) w->shape.dim[2], r = k / 2;
    map out = map_new(in->h, in->w, n);
    for (int y = 0; y < in->h; y++)
        for (int x = 0; x < in->w; x++)
            for (int o = 0; o < n; o++) {
                double sum = b ? (double) nino_array_f32(b)[o] : 0;
                for (int i = 0; i < k * k; i++) {
                    const int yy = y + i / k - r, xx = x + i % k - r;
                    if (yy < 0 || xx < 0 || yy >= in->h || xx >= in->w)
                        continue;
                    for (int c = 0; c < in->c; c++)
                        sum += (double) nino_array_f32(w)[(o * in->c + c) * k * k + i] *
                               (double) map_at(in, yy, xx, c);
                }
                out.v[(y * in->w + x) * n + o] = (float) sum;
            }
    nino_array_unref(&w);
    nino_array_unref(&b);
    return out;
}

static void plain_leak(map *m)
{
    for (int i = 0; i < m->h * m->w * m->c; i++)
        m->v[i] *= m->v[i] < 0 ? 0.2f : 1;
}

// a + factor * b, into a; b goes
static void plain_add(map *a, float factor, map b)
{
    for (int i = 0; i < a->h * a->w * a->c; i++)
        a->v[i] += factor * b.v[i];
    free(b.v);
}

static map plain_copy(const map *m)
{
    map out = map_new(m->h, m->w, m->c);
    memcpy(out.v, m->v, (size_t) (m->h * m->w * m->c) * sizeof(float));
    return out;
}

static map plain_concat(map a, map b)
{
    map out = map_new(a.h, a.w, a.c + b.c);
    for (int i = 0; i < a.h * a.w; i++) {
        memcpy(out.v + i * out.c, a.v + i * a.c, (size_t) a.c * sizeof(float));
        memcpy(out.v + i * out.c + a.c, b.v + i * b.c, (size_t) b.c * sizeof(float));
    }
    free(a.v);
    return out;
}

// y[..][c f f + dy f + dx] and x[y f + dy][x f + dx][c] are the same numbers.
static map plain_shuffle(map in, int f, bool is_up)
{
    map out = is_up ? map_new(in.h * f, in.w * f, in.c / f / f)
                    : map_new(in.h / f, in.w / f, in.c * f * f);
    const map *fine = is_up ? &out : &in, *deep = is_up ? &in : &out;
    for (int y = 0; y < fine->h; y++)
        for (int x = 0; x < fine->w; x++)
            for (int c = 0; c < fine->c; c++) {
                float *a = &fine->v[(y * fine->w + x) * fine->c + c];
                float *b =
                    &deep->v[(y / f * deep->w + x / f) * deep->c + (c * f + y % f) * f + x % f];
                *(is_up ? a : b) = *(is_up ? b : a);
            }
    free(in.v);
    return out;
}

static map plain_twice(map in)
{
    map out = map_new(2 * in.h, 2 * in.w, in.c);
    for (int y = 0; y < out.h; y++)
        for (int x = 0; x < out.w; x++)
            memcpy(out.v + (y * out.w + x) * in.c, in.v + (y / 2 * in.w + x / 2) * in.c,
                   (size_t) in.c * sizeof(float));
    free(in.v);
    return out;
}

static map plain_dense(const plain *p, int b, int d, map x)
{
    char name[64];
    map seen = plain_copy(&x), second = { 0 };
    for (int k = 1; k <= 4; k++) {
        snprintf(name, sizeof(name), "model.1.sub.%d.RDB%d.conv%d.0", b, d, k);
        map y = plain_conv(p, name, &seen);
        plain_leak(&y);
        snprintf(name, sizeof(name), "model.1.sub.%d.RDB%d.conv1x1", b, d);
        if (p->r->is_plus && k == 2) {
            plain_add(&y, 1, plain_conv(p, name, &x));
            second = plain_copy(&y);
        } else if (p->r->is_plus && k == 4) {
            plain_add(&y, 1, second);
        }
        seen = plain_concat(seen, y);
        free(y.v);
    }
    snprintf(name, sizeof(name), "model.1.sub.%d.RDB%d.conv5.0", b, d);
    plain_add(&x, 0.2f, plain_conv(p, name, &seen));
    free(seen.v);
    return x;
}

// The old names stand for all: the others are compared with them.
static map plain_esrgan(const plain *p, map x)
{
    const random_up *r = p->r;
    char name[64];
    if (r->unshuffle > 1)
        x = plain_shuffle(x, r->unshuffle, false);
    map a = plain_conv(p, "model.0", &x), t = plain_copy(&a);
    free(x.v);
    for (int b = 0; b < r->blocks; b++) {
        map y = plain_copy(&t);
        for (int d = 1; d <= 3; d++)
            y = plain_dense(p, b, d, y);
        plain_add(&t, 0.2f, y);
    }
    snprintf(name, sizeof(name), "model.1.sub.%d", r->blocks);
    plain_add(&a, 1, plain_conv(p, name, &t));
    free(t.v);
    for (int i = 1; i <= r->n_up + 1; i++) { // the last one is conv_hr
        a = i <= r->n_up ? plain_twice(a) : a;
        snprintf(name, sizeof(name), "model.%d", i <= r->n_up ? 3 * i : 3 * r->n_up + 2);
        map y = plain_conv(p, name, &a);
        plain_leak(&y);
        free(a.v);
        a = y;
    }
    snprintf(name, sizeof(name), "model.%d", 3 * r->n_up + 4);
    map y = plain_conv(p, name, &a);
    free(a.v);
    return y;
}

static map plain_compact(const plain *p, map x)
{
    map y = plain_copy(&x);
    for (int i = 0; i < p->r->convs; i++) {
        char name[64];
        snprintf(name, sizeof(name), "body.%d", 2 * i);
        map z = plain_conv(p, name, &y);
        free(y.v);
        y = z;
        snprintf(name, sizeof(name), "body.%d.weight", 2 * i + 1);
        nino_array *slope = plain_read(p, name, "");
        for (int k = 0; slope && k < y.h * y.w * y.c; k++)
            y.v[k] *= y.v[k] < 0 ? nino_array_f32(slope)[k % y.c] : 1;
        nino_array_unref(&slope);
    }
    const int f = p->r->scale;
    y = plain_shuffle(y, f, true);
    for (int i = 0; i < y.h * y.w * y.c; i++) {
        const int at = i / y.c;
        y.v[i] += map_at(&x, at / y.w / f, at % y.w / f, i % y.c);
    }
    free(x.v);
    return y;
}

// ---- the network against them ----------------------------------------------------------------

static nino_upscale *make(const random_up *r, nino_weights **file)
{
    nino_upscale *u = NULL;
    snprintf(path, sizeof(path), "%s/m", dir.path);
    random_up_save(r, path, NINO_F32);
    nino_weights *w = test_open("%s", path);
    CHECK_OK(nino_upscale_load(w, "m", &u, &err), err);
    if (file)
        *file = w;
    else
        nino_weights_unref(&w);
    return u;
}

static nino_array *picture(int h, int w)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, 3));
    uint64_t state = 99;
    for (int i = 0; i < h * w * 3; i++)
        nino_array_f32(a)[i] = 0.5f + 0.2f * random_vae_value(&state);
    return a;
}

static nino_array *run(test_device *d, const nino_upscale *u, const nino_array *x)
{
    nino_tensor *t = u->run(d->s, u, nino_upload(d->s, x, NINO_F32));
    nino_array *y = nino_download(d->s, t, NINO_F32);
    CHECK_OK(nino_stream_status(d->s, &err), err);
    return y;
}

static void check_forms(test_device *d)
{
    static const struct {
        random_up r;
        int h, w;
        const char *detail;
    } cases[] = {
        { { .width = 8, .grown = 4, .blocks = 2, .n_up = 2 },
          6,
          9,
          "ESRGAN, 2 blocks of 8 channels, 4x" },
        { { .width = 6, .grown = 5, .blocks = 1, .n_up = 1, .is_plus = true },
          7,
          5,
          "ESRGAN, 1 block of 6 channels, 2x" },
        { { .width = 8, .grown = 4, .blocks = 1, .n_up = 2, .unshuffle = 2 },
          8,
          12,
          "ESRGAN, 1 block of 8 channels, 2x" },
        { { .width = 4, .grown = 3, .blocks = 1, .n_up = 2, .unshuffle = 4 },
          8,
          8,
          "ESRGAN, 1 block of 4 channels, 1x" },
        { { .width = 4, .grown = 3, .blocks = 1, .n_up = 0 },
          5,
          8,
          "ESRGAN, 1 block of 4 channels, 1x" },
        { { .width = 4, .grown = 4, .blocks = 1, .n_up = 3 },
          35,
          4,
          "ESRGAN, 1 block of 4 channels, 8x" },
        { { .width = 4, .grown = 4, .blocks = 1, .n_up = 2 },
          50,
          5,
          "ESRGAN, 1 block of 4 channels, 4x" },
        { { .width = 8, .convs = 4, .scale = 4 },
          7,
          6,
          "compact (SRVGG), 4 convolutions of 8 channels, 4x" },
        { { .width = 5, .convs = 2, .scale = 1, .prefix = "module." },
          4,
          3,
          "compact (SRVGG), 2 convolutions of 5 channels, 1x" },
        { { .width = 5, .convs = 3, .scale = 3 },
          4,
          3,
          "compact (SRVGG), 3 convolutions of 5 channels, 3x" },
        { { .width = 5, .convs = 3, .scale = 8 }, // the most
          4,
          3,
          "compact (SRVGG), 3 convolutions of 5 channels, 8x" },
        { { .width = 3, .grown = 2, .blocks = 1, .n_up = 4 },
          3,
          2,
          "ESRGAN, 1 block of 3 channels, 16x" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        random_up r = cases[i].r;
        r.fill = NET_RANDOM;
        nino_weights *w = NULL;
        nino_upscale *u = make(&r, &w);
        CHECK_STR(u->detail, cases[i].detail);
        nino_array *x = picture(cases[i].h, cases[i].w), *y = run(d, u, x);
        const plain p = { w, &r };
        map in = map_new(cases[i].h, cases[i].w, 3);
        memcpy(in.v, x->data, x->bytes);
        const map out = (r.convs ? plain_compact : plain_esrgan)(&p, in);
        CHECK(y->shape.dim[1] == out.h && y->shape.dim[2] == out.w && out.c == 3);
        double diff = 0, sum = 0;
        for (int k = 0; k < out.h * out.w * 3; k++) {
            const double e = (double) nino_array_f32(y)[k] - (double) out.v[k];
            diff += e * e;
            sum += (double) out.v[k] * (double) out.v[k];
        }
        printf("  %s: nmse %.1e\n", u->detail, diff / sum);
        CHECK(diff <= 1e-10 * sum);
        free(out.v);
        nino_array_unref(&x);
        nino_array_unref(&y);
        nino_upscale_unref(&u);
        nino_weights_unref(&w);
    }
}

// One network under all names is one network.
static void check_names(test_device *d)
{
    static const char *const prefixes[] = { NULL, "module.", "netG.", "module.netG." };
    nino_array *x = picture(6, 7), *first = NULL;
    for (int i = 0; i < 6; i++) {
        const random_up r = { .names = i % 3,
                              .prefix = prefixes[i < 3 ? 0 : i - 2],
                              .width = 8,
                              .grown = 4,
                              .blocks = 2,
                              .n_up = 2,
                              .fill = NET_RANDOM };
        nino_upscale *u = make(&r, NULL);
        CHECK_STR(u->family, "esrgan");
        CHECK(u->scale == 4 && u->least == 2 && u->multiple == 1 && u->weight_bytes > 0);
        nino_array *y = run(d, u, x);
        if (first)
            CHECK(y->bytes == first->bytes && !memcmp(y->data, first->data, y->bytes));
        nino_upscale_unref(&u);
        nino_array_unref(first ? &y : &x);
        x = x ? x : picture(6, 7);
        first = first ? first : y;
    }
    nino_array_unref(&x);
    nino_array_unref(&first);
}

// What a model says of itself, whoever holds it.
static void check_told(void)
{
    for (int is_compact = 0; is_compact < 2; is_compact++) {
        const random_up r = { .width = 6,
                              .grown = 4,
                              .blocks = 1,
                              .n_up = 1,
                              .convs = is_compact ? 3 : 0,
                              .scale = 2,
                              .prefix = is_compact ? "netG." : NULL };
        nino_weights *w = NULL;
        nino_upscale *u = make(&r, &w), *nameless = NULL;
        const nino_hash id = nino_weights_identity(w);
        uint64_t bytes = 0;
        for (int i = 0; i < nino_weights_count(w); i++)
            bytes += nino_weights_at(w, i)->bytes;
        CHECK_STR(u->name, "m");
        CHECK_STR(u->family, is_compact ? "compact" : "esrgan");
        CHECK(u->weight_bytes == bytes && u->identity.lo == id.lo && u->identity.hi == id.hi);
        CHECK(u->scale == 2 && u->least == (is_compact ? 1 : 2) && u->multiple == 1);
        CHECK_OK(nino_upscale_load(w, NULL, &nameless, &err), err);
        CHECK_STR(nameless->name, path);
        nino_upscale_unref(&nameless);
        CHECK(!nameless);
        nino_upscale_unref(&nameless);
        nino_upscale *again = nino_upscale_ref(u);
        CHECK(again == u && u->refs == 2 && !nino_upscale_ref(NULL));
        nino_upscale_unref(&again);
        CHECK(!again && u->refs == 1);
        nino_upscale_unref(&u);
        nino_weights_unref(&w);
    }
}

// ---- what is not there, and other networks ---------------------------------------------------

static void refused(nino_status want, const char *words)
{
    nino_upscale *u = NULL;
    char all[1024];
    nino_weights *w = test_open("%s", path);
    err = (nino_error){ 0 };
    CHECK(nino_upscale_load(w, "m", &u, &err) == want && !u);
    snprintf(all, sizeof(all), "%s: %s", err.where, err.msg);
    if (!strstr(all, words))
        fprintf(stderr, "'%s' is not in: %s\n", words, all);
    CHECK(strstr(all, words));
    CHECK_STR(err.kind, "model");
    nino_weights_unref(&w);
}

static void check_damage(void)
{
    static const struct {
        random_up r;
        nino_status st;
        const char *words;
    } cases[] = {
        { { .without = "model.1.sub.0.RDB2.conv3.0.weight" },
          NINO_ERR_FORMAT,
          "model.1.sub.0.RDB2.conv3.0.weight" },
        { { .without = "model.1.sub.1.RDB3.conv5.0.bias" },
          NINO_ERR_FORMAT,
          "model.1.sub.1.RDB3.conv5.0.bias" },
        { { .without = "model.10.weight" }, NINO_ERR_FORMAT, "model.10.weight" },
        { { .names = UP_NEW, .without = "conv_hr.weight" }, NINO_ERR_FORMAT, "conv_hr.weight" },
        { { .names = UP_BSRGAN, .without = "upconv1.weight" }, NINO_ERR_FORMAT, "upconv1.weight" },
        { { .names = UP_NEW, .odd = "body.0.rdb1.conv2.weight" },
          NINO_ERR_FORMAT,
          "body.0.rdb1.conv2" },
        { { .names = UP_NEW, .odd = "conv_last.weight" }, NINO_ERR_FORMAT, "conv_last" },
        { { .names = UP_NEW, .odd = "conv_body.bias" }, NINO_ERR_FORMAT, "conv_body.bias" },
        { { .names = UP_NEW, .channels = 1 }, NINO_ERR_UNSUPPORTED, "it takes 1 channels" },
        { { .names = UP_NEW, .n_up = 6 }, NINO_ERR_UNSUPPORTED, "not doublings" },
        { { .names = UP_BSRGAN, .unshuffle = 4, .n_up = 1 }, NINO_ERR_UNSUPPORTED, "smaller" },
        { { .convs = 4, .scale = 2, .without = "body.4.weight" },
          NINO_ERR_FORMAT,
          "body.4.weight" },
        { { .convs = 4, .scale = 2, .without = "body.3.weight" },
          NINO_ERR_FORMAT,
          "body.3.weight" },
        { { .convs = 4, .scale = 2, .odd = "body.3.weight" }, NINO_ERR_FORMAT, "body.3.weight" },
        { { .convs = 4, .scale = 2, .channels = 1 }, NINO_ERR_FORMAT, "body.0.weight" },
        { { .convs = 4, .scale = 2, .without = "body.2.bias" },
          NINO_ERR_FORMAT,
          "body.2 is no 3x3 convolution with a bias" },
        { { .convs = 3, .scale = 9 }, NINO_ERR_UNSUPPORTED, "243 channels" },
        { { .names = UP_OLD, .n_up = 5 }, NINO_ERR_UNSUPPORTED, "not doublings" },
        { { .names = UP_BSRGAN, .n_up = 5 }, NINO_ERR_UNSUPPORTED, "not doublings" },
        { { .names = UP_OLD, .unshuffle = 4, .n_up = 1 }, NINO_ERR_UNSUPPORTED, "smaller" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        random_up r = cases[i].r;
        r.width = 8;
        r.grown = 4;
        r.blocks = 2;
        r.n_up = r.n_up ? r.n_up : 2;
        r.fill = NET_SPARSE;
        random_up_save(&r, path, NINO_F16);
        refused(cases[i].st, cases[i].words);
    }
}

// A file of these tensors, of one value each.
static void save_names(const char *const *names)
{
    net_list l = { 0 };
    for (; *names; names++)
        net_add(&l, *names, 1, (const int64_t[]){ 1 });
    net_save(&l, path, NINO_F16, NET_SPARSE);
}

static void check_found(const char *family, const char *prefix)
{
    nino_detected d = { .upscale = "" };
    nino_weights *w = test_open("%s", path);
    nino_detect_upscale(w, &d);
    CHECK_STR(d.upscale, family);
    CHECK_STR(d.upscale_prefix, prefix);
    nino_weights_unref(&w);
}

#define SWIN "layers.0.residual_group.blocks.0."

static void check_others(void)
{
    static const struct {
        const char *name[5], *words;
        nino_status st;
    } cases[] = {
        { { SWIN "norm1.weight", SWIN "mlp.fc1.bias", SWIN "attn.relative_position_index" },
          "this is a SwinIR model",
          NINO_ERR_UNSUPPORTED },
        { { SWIN "norm1.weight", SWIN "attn.logit_scale", "patch_embed.proj.weight" },
          "this is a Swin2SR model",
          NINO_ERR_UNSUPPORTED },
        { { "relative_position_index_SA", "layers.0.residual_group.overlap_attn.qkv.weight" },
          "this is a HAT model",
          NINO_ERR_UNSUPPORTED },
        { { "before_RG.1.weight", "layers.0.blocks.0.ffn.sg.conv.weight" },
          "this is a DAT model",
          NINO_ERR_UNSUPPORTED },
        { { "conv_1.sk.weight", "block_1.c1_r.eval_conv.weight", "upsampler.0.weight" },
          "this is a SPAN model",
          NINO_ERR_UNSUPPORTED },
        { { "unet1.conv1.conv.0.weight", "unet2.conv_bottom.weight" },
          "this is a RealCUGAN model",
          NINO_ERR_UNSUPPORTED },
        { { "initial.cnn.depthwise.weight", "final_conv.pointwise.weight" },
          "this is a Swift-SRGAN model",
          NINO_ERR_UNSUPPORTED },
        { { "x.lora_down.weight", "x.lora_up.weight" }, "this is a LoRA", NINO_ERR_FORMAT },
        { { "decoder.conv_in.weight", "decoder.middle.0.residual.0.gamma" },
          "this is a VAE",
          NINO_ERR_FORMAT },
        { { "something.weight" }, "not a known upscale model", NINO_ERR_FORMAT },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        save_names(cases[i].name);
        refused(cases[i].st, cases[i].words);
        CHECK_STR(err.where, "m"); // the file without its folder
    }
}

// Every name that a family is known by is needed, and the first family counts whose are all there.
static void check_known(void)
{
    static const struct {
        const char *family, *name[5];
    } known[] = {
        { "compact", { "body.0.weight", "body.1.weight" } },
        { "Swift-SRGAN", { "initial.cnn.depthwise.weight", "final_conv.pointwise.weight" } },
        { "HAT",
          { "relative_position_index_SA", "layers.0.residual_group.overlap_attn.qkv.weight" } },
        { "Swin2SR", { SWIN "norm1.weight", "patch_embed.proj.weight", SWIN "attn.logit_scale" } },
        { "SwinIR",
          { SWIN "norm1.weight", SWIN "mlp.fc1.bias", SWIN "attn.relative_position_index" } },
        { "DAT", { "before_RG.1.weight", "layers.0.blocks.0.ffn.sg.conv.weight" } },
        { "SPAN", { "conv_1.sk.weight", "block_1.c1_r.eval_conv.weight", "upsampler.0.weight" } },
        { "RealCUGAN", { "unet1.conv1.conv.0.weight", "unet2.conv_bottom.weight" } },
        { "esrgan", { "model.0.weight", "model.1.sub.0.RDB1.conv1.0.weight" } },
        { "esrgan", { "model.0.weight", "model.1.sub.0.RDB1.conv1x1.weight" } },
        { "esrgan",
          { "conv_first.weight", "body.0.rdb1.conv1.weight", "conv_body.weight",
            "conv_last.weight" } },
        { "esrgan",
          { "conv_first.weight", "RRDB_trunk.0.RDB1.conv1.weight", "trunk_conv.weight",
            "conv_last.weight" } },
    };
    enum { N = sizeof(known) / sizeof(known[0]) };
    for (int i = 0; i < N; i++)
        for (int without = -1; without < 4; without++) {
            const char *name[6] = { "something" };
            int n = 1;
            for (int k = 0; known[i].name[k]; k++)
                if (k != without)
                    name[n++] = known[i].name[k];
            save_names(name);
            check_found(n > 1 && (without < 0 || !known[i].name[without]) ? known[i].family : "",
                        "");
        }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            net_list l = { 0 };
            for (int j = 0; known[i].name[j]; j++)
                net_add(&l, known[i].name[j], 1, (const int64_t[]){ 1 });
            for (int j = 0; known[k].name[j]; j++) {
                bool has = false;
                for (int o = 0; known[i].name[o]; o++)
                    has |= !strcmp(known[i].name[o], known[k].name[j]);
                if (!has)
                    net_add(&l, known[k].name[j], 1, (const int64_t[]){ 1 });
            }
            net_save(&l, path, NINO_F16, NET_SPARSE);
            check_found(known[i < k ? i : k].family, "");
        }
}

// A word before all names belongs to none of them; before some it is part of those.
static void check_prefixes(void)
{
#define COMPACT(p) p "body.0.weight", p "body.1.weight"
    static const struct {
        const char *family, *prefix, *name[4];
    } cases[] = {
        { "compact", "module.", { COMPACT("module.") } },
        { "compact", "netG.", { COMPACT("netG.") } },
        { "compact", "module.netG.", { COMPACT("module.netG.") } },
        { "", "", { COMPACT("netG.module.") } },
        { "", "", { COMPACT("Module.") } },
        { "", "", { COMPACT("module."), "a" } },
        { "", "", { COMPACT("module."), "z" } },
        { "", "", { COMPACT("module.netG."), "module.a" } },
        { "", "", { COMPACT("module.netG."), "module.z" } },
        { "compact", "", { COMPACT(""), "module.z" } },
        { "compact", "module.", { COMPACT("module."), "module.netG.z" } },
        { "", "", { "module.body.0.weight", "module.z" } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        save_names(cases[i].name);
        check_found(cases[i].family, cases[i].prefix);
    }
}

// ---- real sizes ------------------------------------------------------------------------------

static const random_up x4plus = {
    .names = UP_NEW, .width = 64, .grown = 32, .blocks = 23, .n_up = 2
};

// 1024x1024 pixels enlarged 4x within 512 MiB, weights of 32 bits and all: so says plan.
static void check_plan(void)
{
    static const struct {
        const char *profile;
        nino_precision precision;
        int tile;
    } cases[] = { { "gfx1151", NINO_PREC_F16, 256 },
                  { "gfx1151", NINO_PREC_F32, 256 },
                  { "generic-gpu", NINO_PREC_F32, 256 },
                  { "pocl-cpu", NINO_PREC_F32, 256 } };
    nino_upscale *u = make(&x4plus, NULL);
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(1, 1024, 1024, 3));
    CHECK_STR(u->detail, "ESRGAN, 23 blocks of 64 channels, 4x");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nino_profile p;
        nino_mem_stat m;
        nino_tile_report r;
        nino_array *y = NULL;
        CHECK_OK(nino_profile_load(cases[i].profile, &p, &err), err);
        nino_backend *be = nino_plan_open(&p, (uint64_t) 512 << 20, NULL, &err);
        nino_stream *s = nino_stream_create(
            &(nino_stream_params){ .backend = be, .precision = cases[i].precision }, &err);
        CHECK(be && s);
        CHECK_OK(nino_upscale_tiled(s, u, x, &y, &r, &err), err);
        nino_pool_stat(be->pool, &m);
        printf("  x4plus, %s: tiles of %d, %.0f MiB, of which weights %.0f\n", cases[i].profile,
               r.tile_w / 4, (double) m.peak / 0x1p20,
               (double) m.by_owner[NINO_OWN_WEIGHTS] / 0x1p20);
        CHECK(r.tile_w == 4 * cases[i].tile && r.tile_h == 4 * cases[i].tile);
        CHECK(m.peak <= (uint64_t) 512 << 20 && m.reserved <= (uint64_t) 512 << 20);
        nino_array_unref(&y);
        nino_stream_destroy(&s);
        nino_backend_close(&be);
    }
    nino_array_unref(&x);
    nino_upscale_unref(&u);
}

// Mirrored at the last pixel, as far as there are some.
static void check_padding(void)
{
    static const int want[][6] = { { 0, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 1, 2, 1, 0, 0 } };
    for (int n = 1; n <= 3; n++)
        for (int i = 0; i < (n < 3 ? 4 : 6); i++)
            CHECK(nino_upscale_source(n, i) == want[n - 1][i]);
    const nino_upscale u = { .least = 4, .multiple = 4 }, free_one = { .least = 1, .multiple = 1 };
    CHECK(nino_upscale_padded(&u, 1) == 4 && nino_upscale_padded(&u, 4) == 4);
    CHECK(nino_upscale_padded(&u, 5) == 8 && nino_upscale_padded(&free_one, 5) == 5);
}

int main(void)
{
    check_padding();
    static const char *const files[] = { "m", NULL };
    test_device d;
    dir = test_dir_create();
    CHECK(test_device_open(&d, "ref", 0));
    check_forms(&d);
    check_names(&d);
    test_device_close(&d);
    check_told();
    check_damage();
    check_others();
    check_known();
    check_prefixes();
    check_plan();
    test_dir_remove(&dir, files);
    return 0;
}
