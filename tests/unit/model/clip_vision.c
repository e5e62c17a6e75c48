// CLIP vision networks: the pixels against numbers worked out by hand, the network against its
// definition in double precision, both families of names, SigLIP, sizes from shapes, a plan, and
// files that are wrong.
#include "core/model/clip/clip_vision.h"
#include "core/model/clip/style_model.h"
#include "core/op/plan/plan.h"
#include "tests/random_text.h"

static test_dir dir;
static nino_error err;

static nino_clip_vision *load(const random_text *t)
{
    nino_clip_vision *v = NULL;
    nino_weights *w = random_text_file(&dir, "v", t, 1, NULL);
    CHECK_OK(nino_clip_vision_load(w, t->prefix ? t->prefix : "", "v", &v, &err), err);
    nino_weights_unref(&w);
    return v;
}

static nino_array *picture(int64_t n, int64_t h, int64_t w, int64_t c)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, c));
    CHECK(a != NULL);
    for (int64_t i = 0; i < n * h * w * c; i++)
        nino_array_f32(a)[i] = (float) (i * 7919 % 1009) / 1008.0f;
    return a;
}

static bool is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

// ---- pixels ----------------------------------------------------------------------------------

static float *value_of(nino_array *rows, const nino_clip_vision *v, int c, int y, int x)
{
    const int64_t p = v->patch, patch = y / p * v->side + x / p;
    return nino_array_f32(rows) + (patch * 3 + c) * p * p + y % p * p + x % p;
}

// The right size already: only rounded to 8 bits, ties to even, and normalised.
static void test_pixels_as_they_are(const nino_clip_vision *v)
{
    const int size = v->side * v->patch;
    nino_array *a = picture(1, size, size, 4), *rows = NULL; // with alpha
    nino_array_f32(a)[0] = 0.5f / 255;
    nino_array_f32(a)[1] = 1.5f / 255;
    nino_array_f32(a)[2] = 7;
    CHECK_OK(nino_clip_vision_pixels(v, a, true, &rows, &err), err);
    CHECK(*value_of(rows, v, 0, 0, 0) == (0.0f - v->mean[0]) / v->dev[0]);
    CHECK(*value_of(rows, v, 1, 0, 0) == (2.0f / 255 - v->mean[1]) / v->dev[1]);
    CHECK(*value_of(rows, v, 2, 0, 0) == (1.0f - v->mean[2]) / v->dev[2]);
    for (int y = 1; y < size; y++)
        for (int x = 0; x < size; x++)
            for (int c = 0; c < 3; c++) {
                const float u = nino_array_f32(a)[(y * size + x) * 4 + c] * 255;
                CHECK(*value_of(rows, v, c, y, x) == (rintf(u) / 255 - v->mean[c]) / v->dev[c]);
            }
    nino_array_unref(&rows);
    nino_array_unref(&a);
}

// A ramp stays a ramp away from the borders; twice as large, so that the kernel widens with the
// scale: its weights at distances 0.25, 0.75, 1.25, 1.75 sum to one on both sides.
static void test_pixels_scaled(const nino_clip_vision *v)
{
    const int size = v->side * v->patch, h = 2 * size, w = 3 * size;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, 3)), *rows = NULL;
    for (int i = 0; i < h * w * 3; i++)
        nino_array_f32(a)[i] = (float) (i / 3 % w) / (float) w;
    CHECK_OK(nino_clip_vision_pixels(v, a, true, &rows, &err), err);
    for (int x = 0; x < size; x++) { // the middle 2 size of 3 size columns, halved
        const double u = (size / 2 + 2 * x + 0.5) / w;
        CHECK(is_near(*value_of(rows, v, 0, 3, x) * v->dev[0] + v->mean[0], u, 0.51 / 255));
    }
    nino_array_unref(&rows);
    CHECK_OK(nino_clip_vision_pixels(v, a, false, &rows, &err), err);
    for (int x = 3; x < size - 3; x++) { // all of them, to a third
        const double u = (3 * x + 1) / (double) w;
        CHECK(is_near(*value_of(rows, v, 1, 5, x) * v->dev[1] + v->mean[1], u, 0.51 / 255));
    }
    nino_array_unref(&rows);
    nino_array_unref(&a);
}

// One bright column, halved: Keys' kernel with a = -0.5 at quarter steps of a doubled width.
static void test_pixels_kernel(const nino_clip_vision *v)
{
    const int size = v->side * v->patch, n = 2 * size, at = size; // a column in the middle
    static const double keys[4] = { -0.0234375, -0.0703125, 0.2265625, 0.8671875 };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, n, n, 3)), *rows = NULL;
    for (int i = 0; i < n * n * 3; i++)
        nino_array_f32(a)[i] = i / 3 % n == at ? 0.9f : 0.4f;
    CHECK_OK(nino_clip_vision_pixels(v, a, true, &rows, &err), err);
    for (int x = 0; x < size; x++) {
        const double d = fabs(at + 0.5 - 2 * (x + 0.5)) / 2; // 0.25, 0.75 ...
        const double weight = d < 2 ? keys[3 - (int) (d * 2)] / 2 : 0;
        CHECK(is_near(*value_of(rows, v, 2, 4, x) * v->dev[2] + v->mean[2], 0.4 + 0.5 * weight,
                      0.51 / 255));
    }
    nino_array_unref(&rows);
    nino_array_unref(&a);
}

static void test_pixels_refused(const nino_clip_vision *v)
{
    nino_array *gray = picture(1, 4, 4, 1), *thin = picture(1, 1, 600, 3), *rows;
    CHECK(nino_clip_vision_pixels(v, gray, true, &rows, &err) == NINO_ERR_RANGE && !rows);
    CHECK(nino_clip_vision_pixels(v, thin, true, &rows, &err) == NINO_ERR_RANGE && !rows);
    nino_array_unref(&gray);
    nino_array_unref(&thin);
}

// ---- the definition --------------------------------------------------------------------------

enum { MAX_T = 40, MAX_C = 48 };
typedef double state[MAX_T][MAX_C];

static nino_weights *file;

static const float *values(const char *name, nino_array **a)
{
    const nino_tensor_info *t = nino_weights_find(file, name);
    CHECK(t != NULL);
    *a = nino_weights_read_f32(file, t, &err);
    CHECK(*a != NULL);
    return nino_array_f32(*a);
}

static void norm(const state x, state y, int n, int c, const char *name)
{
    nino_array *g, *b;
    const float *gamma = values(nino_name_of("%s.weight", name).s, &g);
    const float *beta = values(nino_name_of("%s.bias", name).s, &b);
    for (int t = 0; t < n; t++) {
        double mean = 0, var = 0;
        for (int i = 0; i < c; i++)
            mean += x[t][i] / c;
        for (int i = 0; i < c; i++)
            var += (x[t][i] - mean) * (x[t][i] - mean) / c;
        for (int i = 0; i < c; i++)
            y[t][i] = (x[t][i] - mean) / sqrt(var + 1e-5) * gamma[i] + beta[i];
    }
    nino_array_unref(&g);
    nino_array_unref(&b);
}

static void linear(const state x, state y, int n, int c, const char *name, int out)
{
    nino_array *w, *b = NULL;
    const float *weight = values(nino_name_of("%s.weight", name).s, &w), *bias = NULL;
    if (nino_weights_find(file, nino_name_of("%s.bias", name).s))
        bias = values(nino_name_of("%s.bias", name).s, &b);
    for (int t = 0; t < n; t++)
        for (int i = 0; i < out; i++) {
            double sum = bias ? bias[i] : 0;
            for (int k = 0; k < c; k++)
                sum += x[t][k] * weight[i * c + k];
            y[t][i] = sum;
        }
    nino_array_unref(&w);
    nino_array_unref(&b);
}

static void attend(const state q, const state k, const state v, state y, int n, int c, int heads)
{
    const int d = c / heads;
    for (int h = 0; h < heads; h++)
        for (int t = 0; t < n; t++) {
            double e[MAX_T], sum = 0;
            for (int j = 0; j < n; j++) {
                double dot = 0;
                for (int i = h * d; i < h * d + d; i++)
                    dot += q[t][i] * k[j][i];
                sum += e[j] = exp(dot / sqrt(d));
            }
            for (int i = h * d; i < h * d + d; i++) {
                y[t][i] = 0;
                for (int j = 0; j < n; j++)
                    y[t][i] += e[j] / sum * v[j][i];
            }
        }
}

static double activate(double x, const random_text *t)
{
    return t->is_siglip ? 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)))
           : t->layers >= 32 ? 0.5 * x * (1 + erf(x / sqrt(2)))
                             : x / (1 + exp(-1.702 * x));
}

static void add(state x, const state y, int n, int c)
{
    for (int t = 0; t < n; t++)
        for (int i = 0; i < c; i++)
            x[t][i] += y[t][i];
}

static void block(state x, int n, const random_text *t, int layer)
{
    static state a, q, k, v, y;
    const int c = t->width;
    const nino_name stem = nino_name_of("vision_model.encoder.layers.%d.", layer);
    norm(x, a, n, c, nino_name_of("%slayer_norm1", stem.s).s);
    linear(a, q, n, c, nino_name_of("%sself_attn.q_proj", stem.s).s, c);
    linear(a, k, n, c, nino_name_of("%sself_attn.k_proj", stem.s).s, c);
    linear(a, v, n, c, nino_name_of("%sself_attn.v_proj", stem.s).s, c);
    attend(q, k, v, y, n, c, 4);
    linear(y, a, n, c, nino_name_of("%sself_attn.out_proj", stem.s).s, c);
    add(x, a, n, c);
    norm(x, a, n, c, nino_name_of("%slayer_norm2", stem.s).s);
    linear(a, y, n, c, nino_name_of("%smlp.fc1", stem.s).s, t->mlp);
    for (int i = 0; i < n * t->mlp; i++)
        y[i / t->mlp][i % t->mlp] = activate(y[i / t->mlp][i % t->mlp], t);
    linear(y, a, n, t->mlp, nino_name_of("%smlp.fc2", stem.s).s, c);
    add(x, a, n, c);
}

static void embed(state x, const nino_array *rows, const random_text *t)
{
    static state pixels;
    nino_array *a;
    const int first = !t->is_siglip, n = t->side * t->side, len = 3 * t->patch * t->patch;
    CHECK(len <= MAX_C && n < MAX_T);
    for (int i = 0; i < n * len; i++)
        pixels[i / len][i % len] = nino_array_f32(rows)[i];
    linear(pixels, x + first, n, len, "vision_model.embeddings.patch_embedding", t->width);
    if (first) {
        const float *token = values("vision_model.embeddings.class_embedding", &a);
        for (int i = 0; i < t->width; i++)
            x[0][i] = token[i];
        nino_array_unref(&a);
    }
    const float *place = values("vision_model.embeddings.position_embedding.weight", &a);
    for (int i = 0; i < (n + first) * t->width; i++)
        x[i / t->width][i % t->width] += place[i];
    nino_array_unref(&a);
}

static void compare(const nino_array *got, int64_t at, const state want, int n, int c)
{
    double d = 0, sum = 0;
    for (int i = 0; i < n * c; i++) {
        const double w = want[i / c][i % c], e = nino_array_f32(got)[at + i] - w;
        d += e * e;
        sum += w * w;
    }
    CHECK(d <= 1e-10 * sum);
}

// The second of two pictures.
static void test_definition(nino_backend *be, const random_text *t)
{
    static state x, y, z;
    nino_clip_vision *v = load(t);
    file = v->file;
    nino_array *image = picture(2, 20, 30, 3), *rows = NULL;
    nino_vision_output out;
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
    CHECK_OK(nino_clip_vision_encode(s, v, image, true, &out, &err), err);
    CHECK_OK(nino_clip_vision_pixels(v, image, true, &rows, &err), err);
    const int n = v->side * v->side + !t->is_siglip, c = t->width;
    nino_array last = *rows;
    last.data = nino_array_f32(rows) + nino_shape_count(&rows->shape) / 2;
    embed(x, &last, t);
    if (!t->is_siglip)
        norm(x, x, n, c, "vision_model.pre_layrnorm");
    for (int i = 0; i < t->layers; i++) {
        if (i == t->layers - 1)
            compare(out.penultimate, n * c, x, n, c);
        block(x, n, t, i);
    }
    norm(x, y, n, c, "vision_model.post_layernorm");
    compare(out.last, n * c, t->is_siglip ? y : x, n, c);
    if (t->has_projection)
        linear(y, z, 1, c, "visual_projection", t->projection);
    CHECK(v->embed_width == (t->has_projection ? t->projection : c));
    compare(out.embeds, t->is_siglip ? n * c : v->embed_width, t->has_projection ? z : y,
            t->is_siglip ? n : 1, v->embed_width);
    nino_vision_out_release(&out);
    nino_array_unref(&rows);
    nino_array_unref(&image);
    nino_stream_destroy(&s);
    nino_clip_vision_unref(&v);
}

// ---- names, plans, wrong files ---------------------------------------------------------------

static nino_vision_output encode(nino_backend *be, const nino_clip_vision *v)
{
    nino_vision_output out;
    nino_array *image = picture(1, 24, 20, 3);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
    CHECK_OK(nino_clip_vision_encode(s, v, image, false, &out, &err), err);
    nino_stream_destroy(&s);
    nino_array_unref(&image);
    return out;
}

static void test_names(nino_backend *be, random_text t)
{
    nino_clip_vision *hf = load(&t);
    nino_vision_output a = encode(be, hf);
    t.is_open = true;
    t.prefix = "embedder.model.";
    nino_clip_vision *open = load(&t);
    nino_vision_output b = encode(be, open);
    CHECK(!memcmp(a.last->data, b.last->data, a.last->bytes));
    CHECK(!memcmp(a.embeds->data, b.embeds->data, a.embeds->bytes));
    nino_vision_out_release(&a);
    nino_vision_out_release(&b);
    nino_clip_vision_unref(&hf);
    nino_clip_vision_unref(&open);
}

static void test_plan(nino_backend *be, const random_text *t)
{
    nino_clip_vision *v = load(t);
    nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, &err);
    nino_vision_output a = encode(be, v), b = encode(plan, v);
    CHECK(nino_shape_equal(&a.last->shape, &b.last->shape));
    CHECK(nino_shape_equal(&a.penultimate->shape, &b.penultimate->shape));
    CHECK(nino_shape_equal(&a.embeds->shape, &b.embeds->shape));
    nino_vision_out_release(&a);
    nino_vision_out_release(&b);
    nino_backend_close(&plan);
    nino_clip_vision_unref(&v);
}

static void test_wrong_files(random_text t)
{
    static const struct {
        const char *without, *says;
    } cases[] = {
        { "vision_model.embeddings.position_embedding.weight", "position_embedding" },
        { "vision_model.embeddings.patch_embedding.weight", "patch_embedding.weight" },
        { "vision_model.encoder.layers.1.mlp.fc2.weight", "layers.1.mlp.fc2.weight" },
        { "vision_model.post_layernorm.weight", "post_layernorm" },
        { "vision_model.embeddings.class_embedding", "square" }, // then one place is too many
    };
    nino_clip_vision *v = NULL;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *without[] = { cases[i].without, NULL };
        nino_weights *w = random_text_file(&dir, "v", &t, 1, without);
        CHECK(nino_clip_vision_load(w, "", "v", &v, &err) == NINO_ERR_FORMAT && !v);
        CHECK(strstr(err.msg, cases[i].says) || strstr(err.where, cases[i].says));
        nino_weights_unref(&w);
    }
    // a class token of more dimensions than can be used
    static const char header[] =
        "{\"vision_model.embeddings.patch_embedding.weight\":{\"dtype\":\"F32\","
        "\"shape\":[8,3,1,1],\"data_offsets\":[0,96]},"
        "\"vision_model.embeddings.position_embedding.weight\":{\"dtype\":\"F32\","
        "\"shape\":[5,8],\"data_offsets\":[96,256]},"
        "\"vision_model.embeddings.class_embedding\":{\"dtype\":\"F32\","
        "\"shape\":[1,1,1,1,1,1,1,8],\"data_offsets\":[256,288]}}";
    const uint64_t n = sizeof(header) - 1;
    char path[160], zeros[288] = { 0 };
    snprintf(path, sizeof(path), "%s/v", dir.path);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(&n, 1, 8, f) == 8 && fputs(header, f) >= 0 &&
          fwrite(zeros, 1, sizeof(zeros), f) == sizeof(zeros) && !fclose(f));
    nino_weights *odd = test_open("%s", path);
    CHECK(nino_clip_vision_load(odd, "", "v", &v, &err) == NINO_ERR_FORMAT && !v);
    CHECK(strstr(err.msg, "class_embedding"));
    nino_weights_unref(&odd);
    t = (random_text){ .width = 32, .layers = 1, .mlp = 32 };
    nino_weights *w = random_text_file(&dir, "v", &t, 1, NULL); // a text network
    CHECK(nino_clip_vision_load(w, "", "v", &v, &err) == NINO_ERR_FORMAT && !v);
    nino_weights_unref(&w);
}

int main(void)
{
    const random_text l = { .width = 32,
                            .layers = 3,
                            .mlp = 48,
                            .patch = 4,
                            .side = 3,
                            .has_projection = true,
                            .projection = 20 };
    const random_text h = { .width = 24,
                            .layers = 32,
                            .mlp = 32,
                            .patch = 2,
                            .side = 4,
                            .has_projection = true,
                            .projection = 16,
                            .seed = 2 };
    const random_text siglip = {
        .width = 32, .layers = 2, .mlp = 40, .patch = 3, .side = 4, .is_siglip = true, .seed = 3
    };
    static const char *const files[] = { "v", NULL };
    dir = test_dir_create();
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK(be);
    const random_text large = { .width = 16, .layers = 2, .mlp = 16, .patch = 4, .side = 8 };
    nino_clip_vision *v = load(&large);
    CHECK(v->side == 8 && v->patch == 4 && v->width == 16 && v->n_layers == 2);
    CHECK(v->embed_width == 16 && !v->is_siglip && strstr(v->detail, "32 px"));
    test_pixels_as_they_are(v);
    test_pixels_scaled(v);
    test_pixels_kernel(v);
    test_pixels_refused(v);
    nino_clip_vision_unref(&v);
    test_definition(be, &l);
    test_definition(be, &h);
    test_definition(be, &siglip);
    test_names(be, l);
    test_plan(be, &l);
    test_plan(be, &siglip);
    test_wrong_files(l);
    nino_backend_close(&be);
    test_dir_remove(&dir, files);
    return 0;
}
