// What one entry of conditioning tells a network, number by number: the text, the vector y, guidance, the
// channels beside a picture's or a clip's latent, reference latents, videos to follow; what is refused,
// in which words; that nothing stays behind when it goes.
#include <malloc.h>
#include <math.h>

#include "core/base/error.h"
#include "core/model/detect.h"
#include "core/sample/guide/guide_priv.h"
#include "tests/test.h"

enum { B = 2, H = 3, W = 5, SIDE = 8, DIM = 256 };

static nino_error err;
static nino_diffusion net;
static nino_model model;
static nino_guider guider = { .model = &model };
static nino_guide_run r;
static nino_cond_model m;

static nino_array *counted(nino_shape shape, double from, double step)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (from + step * (double) i);
    return a;
}

static void drop(nino_array *a) { nino_array_unref(&a); }

// A run on a latent of that shape of a model with `extra` channels beside it.
static void set_run(const char *format, int extra, nino_shape latent)
{
    const nino_latent_format *f = nino_latent_format_find(format);
    CHECK(f && latent.dim[latent.rank - 1] == f->channels);
    net = (nino_diffusion){ .format = f,
                            .in_channels = f->channels + extra,
                            .context_dim = 4,
                            .family = "fake",
                            .name = "fake.st" };
    model.format = f;
    r = (nino_guide_run){ .net = &net, .guider = &guider };
    nino_guide_set_shape(&r, &latent);
}

// A tensor that stays each time shows in what is in use, and so does the smallest array.
static void leaves_nothing(const nino_cond_entry *e, int kind)
{
    enum { TIMES = 64, LEAST = 32 };
    size_t before = 0;
    for (int i = 0; i < 2 * TIMES; i++) {
        nino_cond_model_make(&r, e, kind, &m, &err);
        nino_cond_model_release(&m);
        if (i == TIMES - 1)
            before = mallinfo2().uordblks; // 0 where a sanitizer has its own malloc
    }
    CHECK(mallinfo2().uordblks < before + TIMES * LEAST || !before);
}

static void make(const nino_cond_entry *e, int kind)
{
    leaves_nothing(e, kind);
    CHECK_OK(nino_cond_model_make(&r, e, kind, &m, &err), err);
}

static void refused(const nino_cond_entry *e, nino_status want, const char *what, const char *words)
{
    leaves_nothing(e, NINO_COND_POSITIVE);
    CHECK(nino_cond_model_make(&r, e, NINO_COND_POSITIVE, &m, &err) == want);
    CHECK_STR(err.kind, what);
    CHECK_STR(err.where, "fake.st");
    CHECK_STR(err.msg, words);
    nino_cond_model_release(&m);
}

// ---- the text -------------------------------------------------------------------------------------

static void refused_text(nino_array *text, const char *words)
{
    refused(&(nino_cond_entry){ .context = text }, NINO_ERR_ARG, "shape", words);
    drop(text);
}

static void check_text(void)
{
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    refused_text(NULL,
                 "this model (fake) needs text encodings of width 4, this conditioning has 0: "
                 "encode with its own kind of CLIP");
    const char *const five = "this model (fake) needs text encodings of width 4, this conditioning "
                             "has 5: encode with its own kind of CLIP";
    refused_text(counted(NINO_SHAPE(1, 2, 5), 0, 0), five); // of zeros too
    refused_text(counted(NINO_SHAPE(1, 5), 1, 1), five);
    const char *const four = "this model (fake) needs text encodings of width 4, this conditioning "
                             "has 4: encode with its own kind of CLIP";
    refused_text(counted(NINO_SHAPE(2, 4), 1, 1), four);
    refused_text(counted(NINO_SHAPE(1, 1, 2, 4), 1, 1), four);
    refused_text(counted(NINO_SHAPE(1, 0, 4), 1, 1), four);
    // rows of zeros go in front of a short text; others stay as they are
    for (int rows = 0; rows <= 6; rows++) {
        nino_cond_entry e = { .context = counted(NINO_SHAPE(2, 3, 4), 1, 1) };
        net.context_rows = rows;
        make(&e, NINO_COND_POSITIVE);
        const int more = rows > 3 ? rows - 3 : 0;
        CHECK((m.context == e.context) == !more && m.context->shape.rank == 3);
        CHECK(m.context->shape.dim[0] == 2 && m.context->shape.dim[1] == 3 + more &&
              m.context->shape.dim[2] == 4);
        for (int i = 0; i < 2 * (3 + more) * 4; i++) {
            const int n = i / (3 + more) / 4, row = i / 4 % (3 + more) - more;
            const int want = row < 0 ? 0 : 1 + (n * 3 + row) * 4 + i % 4;
            CHECK(nino_array_f32(m.context)[i] == (float) want);
        }
        nino_cond_model_release(&m);
        CHECK(!m.context && isnan(m.guidance) && e.context->refs == 1);
        drop(e.context);
    }
}

// Of a text that is too wide, where SD3's other encoders have zeros, what is between these.
static void check_columns(void)
{
    static const struct {
        int low, high, first; // columns that are not 0; the first that goes in, -1: refused
    } cases[] = { { 0, 3, 0 },  { 1, 4, 1 },  { 2, 5, 2 }, { 3, 6, 3 }, { 2, 3, 0 },
                  { 3, 3, 0 },  { 4, 4, 1 },  { 6, 6, 3 }, { 7, 6, 0 }, // all are 0
                  { 0, 4, -1 }, { 2, 6, -1 }, { 0, 6, -1 } };
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        const int low = cases[k].low, high = cases[k].high, first = cases[k].first;
        nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 7), 0, 0),
                              .pooled = counted(NINO_SHAPE(1, 7), 0, 0) };
        float *v = nino_array_f32(e.context), *p = nino_array_f32(e.pooled);
        if (low <= high) { // one end in the last row, the other in the first
            v[2 * 7 + low] = p[low] = 3;
            v[high] = p[high] = 5;
        }
        net.y_dim = 4;
        net.kind = NINO_DIFFUSION_UNET; // which has no such texts
        CHECK(nino_cond_model_make(&r, &e, NINO_COND_POSITIVE, &m, &err) == NINO_ERR_ARG);
        net.kind = NINO_DIFFUSION_SD3;
        CHECK((nino_cond_model_make(&r, &e, NINO_COND_POSITIVE, &m, &err) != NINO_OK) ==
              (first < 0));
        for (int i = 0; i < 12 && first >= 0; i++) {
            CHECK(m.context->shape.dim[1] == 3 && m.context->shape.dim[2] == 4);
            CHECK(nino_array_f32(m.context)[i] == v[i / 4 * 7 + first + i % 4]);
            CHECK(i > 3 || nino_array_f32(m.y)[i] == p[first + i]);
        }
        nino_cond_model_release(&m);
        drop(e.context);
        drop(e.pooled);
    }
}

// What is not asked for by the network is not given to it.
static void check_rest(void)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1),
                          .context_mask = counted(NINO_SHAPE(1, 3), 1, 0),
                          .control_context = counted(NINO_SHAPE(1, 2, 9), 1, 0),
                          .vision = counted(NINO_SHAPE(1, 2, 6), 1, 1),
                          .pooled = counted(NINO_SHAPE(1, 7), 1, 1),
                          .has_guidance = true,
                          .guidance = 7,
                          .ref_method = 2 };
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    make(&e, NINO_COND_POSITIVE);
    CHECK(!m.context_mask && !m.y && !m.vision && !m.concat && !m.refs && !m.n_controls);
    CHECK(m.control_context == e.control_context && m.ref_method == e.ref_method);
    CHECK(isnan(m.guidance));
    nino_cond_model_release(&m);
    net.has_context_mask = net.has_guidance = true;
    net.usual_guidance = 3.5;
    net.vision_dim = 6;
    for (int k = 0; k < 4; k++) {
        e.has_guidance = k % 2;
        e.no_guidance = k / 2;
        make(&e, NINO_COND_POSITIVE);
        CHECK(m.context_mask == e.context_mask && m.vision == e.vision && e.vision->refs == 2);
        CHECK(k > 1 ? isnan(m.guidance) : m.guidance == (k ? 7 : 3.5f));
        nino_cond_model_release(&m);
        CHECK(!m.vision && !m.context_mask && !m.control_context && e.vision->refs == 1 &&
              e.context_mask->refs == 1 && e.control_context->refs == 1 && e.context->refs == 1);
    }
    const char *const wide = "the picture's encoding is 6 wide where this model (fake) needs 5: "
                             "encode with its own kind of CLIP vision";
    net.vision_dim = 5;
    refused(&e, NINO_ERR_ARG, "shape", wide);
    e.vision->shape = NINO_SHAPE(2, 6);
    net.vision_dim = 6;
    refused(&e, NINO_ERR_ARG, "shape",
            "the picture's encoding is 6 wide where this model (fake) needs 6: encode with its own "
            "kind of CLIP vision");
    CHECK(e.context->refs == 1 && e.context_mask->refs == 1 && e.control_context->refs == 1);
    nino_array *all[] = { e.context, e.context_mask, e.control_context, e.vision, e.pooled };
    for (int i = 0; i < 5; i++)
        drop(all[i]);
}

// ---- y --------------------------------------------------------------------------------------------

// Values from `from` on of y are the pooled text, then a number's waves each.
static void check_waves(const nino_array *pooled, const double *v, int n)
{
    const float *y = nino_array_f32(m.y);
    CHECK(m.y->shape.rank == 2 && m.y->shape.dim[0] == 1 && m.y->shape.dim[1] == 4 + n * DIM);
    CHECK(!memcmp(y, pooled->data, 4 * sizeof(*y)));
    for (int i = 0; i < n * DIM; i++) {
        const double a = v[i / DIM] * pow(10000, -(i % (DIM / 2)) / (DIM / 2.0));
        const double want = i % DIM < DIM / 2 ? cos(a) : sin(a);
        if (!(fabs((double) y[4 + i] - want) < 1e-3)) {
            fprintf(stderr, "number %d: wave %d is %g, expected %g\n", i / DIM, i % DIM,
                    (double) y[4 + i], want);
            exit(1);
        }
    }
    nino_cond_model_release(&m);
    CHECK(!m.y);
}

static void check_y(void)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1),
                          .pooled = counted(NINO_SHAPE(1, 4), 0.1, 0.2),
                          .width = 1024,
                          .height = 768,
                          .crop_w = 16,
                          .crop_h = 8,
                          .target_w = 900,
                          .target_h = 700,
                          .aesthetic_score = 4 };
    const double h = H * SIDE, w = W * SIDE;
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    net.y_dim = 4 + 6 * DIM;
    make(&e, NINO_COND_POSITIVE); // the latent's size, whatever else is there
    check_waves(e.pooled, (double[]){ h, w, 0, 0, h, w }, 6);
    e.has_size = true;
    make(&e, NINO_COND_POSITIVE);
    check_waves(e.pooled, (double[]){ 768, 1024, 8, 16, 700, 900 }, 6);
    e.target_h = 0; // as the picture
    make(&e, NINO_COND_POSITIVE);
    check_waves(e.pooled, (double[]){ 768, 1024, 8, 16, 768, 900 }, 6);
    e.target_h = 1;
    e.target_w = 0;
    make(&e, NINO_COND_POSITIVE);
    check_waves(e.pooled, (double[]){ 768, 1024, 8, 16, 1, 1024 }, 6);
    net.y_dim = 4 + 5 * DIM; // the refiner
    for (int kind = 0; kind < NINO_COND_KINDS; kind++)
        for (int k = 0; k < 2; k++) {
            const double usual = kind == NINO_COND_POSITIVE ? 6 : 2.5;
            e.has_aesthetic_score = k;
            make(&e, kind);
            check_waves(e.pooled, (double[]){ 768, 1024, 8, 16, k ? 4 : usual }, 5);
        }
    e.has_size = e.has_aesthetic_score = false;
    make(&e, NINO_COND_NEGATIVE);
    check_waves(e.pooled, (double[]){ h, w, 0, 0, 2.5 }, 5);
    net.y_dim = 4;
    make(&e, NINO_COND_POSITIVE);
    check_waves(e.pooled, NULL, 0);
    static const int wrong[] = { 3,           5,           3 + 5 * DIM, 5 + 5 * DIM,
                                 3 + 6 * DIM, 5 + 6 * DIM, 4 + 4 * DIM, 4 + 7 * DIM };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char words[160];
        snprintf(
            words, sizeof(words),
            "the pooled text encoding has 4 numbers, which does not fit this model (fake, %d in "
            "all)",
            wrong[i]);
        net.y_dim = wrong[i];
        refused(&e, NINO_ERR_ARG, "shape", words);
    }
    drop(e.pooled);
    e.pooled = NULL;
    for (int k = 4; k < 5000; k += 6 * DIM) { // also where sizes alone would fill it
        net.y_dim = k == 4 ? 6 * DIM : k;
        refused(&e, NINO_ERR_ARG, "model",
                "this model (fake) needs a pooled text encoding, which this conditioning does not "
                "have: encode with its own kind of CLIP");
    }
    snprintf(net.family, sizeof(net.family), NINO_LOTUS); // needs none
    net.y_dim = NINO_LOTUS_Y;
    make(&e, NINO_COND_POSITIVE);
    const double task[] = { sin(1), 0, cos(1), 1 };
    CHECK(m.y->shape.dim[0] == 1 && m.y->shape.dim[1] == 4);
    for (int i = 0; i < 4; i++)
        CHECK(fabs((double) nino_array_f32(m.y)[i] - task[i]) < 1e-6);
    nino_cond_model_release(&m);
    net.y_dim = 0;
    make(&e, NINO_COND_POSITIVE);
    CHECK(!m.y);
    nino_cond_model_release(&m);
    drop(e.context);
}

// ---- channels beside a picture's latent -----------------------------------------------------------

// Makes m.concat and compares its value at item b, row y, column x, channel c with what `of` says.
static void concat(const nino_cond_entry *e, int channels,
                   double (*of)(const nino_cond_entry *e, int b, int cell, int c))
{
    make(e, NINO_COND_POSITIVE);
    const nino_shape want = NINO_SHAPE(B, H, W, channels);
    CHECK(m.concat && nino_shape_equal(&m.concat->shape, &want));
    for (int i = 0; i < B * H * W * channels; i++) {
        const int c = i % channels, cell = i / channels % (H * W), b = i / channels / (H * W);
        const double v = of(e, b, cell, c), got = (double) nino_array_f32(m.concat)[i];
        if (!(fabs(got - v) < 1e-4 * (1 + fabs(v)))) {
            fprintf(stderr, "item %d, cell %d, channel %d: %g, expected %g\n", b, cell, c, got, v);
            exit(1);
        }
    }
    nino_cond_model_release(&m);
    CHECK(!m.concat);
}

static double in_model(double v) { return (v - net.format->shift) * net.format->scale; }

static double at(const nino_array *a, int b, int cell, int c) // item b, or the only one
{
    const int n = (int) a->shape.dim[a->shape.rank - 1];
    const int64_t cells = nino_shape_count(&a->shape) / n / a->shape.dim[0];
    return (double) nino_array_f32(a)[((b % a->shape.dim[0]) * cells + cell) * n + c];
}

static double of_blank(const nino_cond_entry *e, int b, int cell, int c)
{
    static const double grey[] = { 1, 0.8223, -0.6876, 0.6364, 0.1380 };
    (void) e, (void) b, (void) cell;
    return c < 5 ? grey[c] : 1;
}

static double mask_at(const nino_cond_entry *e, int b, int cell)
{
    const nino_array *a = e->concat_mask ? e->concat_mask : r.mask;
    return (double) nino_array_f32(a)[b % a->shape.dim[0] * H * W + cell];
}

static double of_inpaint(const nino_cond_entry *e, int b, int cell, int c)
{
    if (!c)
        return nearbyint(mask_at(e, b, cell));
    return e->concat_latent ? in_model(at(e->concat_latent, b, cell, c - 1))
                            : at(r.latent, b, cell, c - 1);
}

static double of_pix2pix(const nino_cond_entry *e, int b, int cell, int c)
{
    return e->concat_latent ? at(e->concat_latent, b, cell, c) : 0;
}

static double of_flux(const nino_cond_entry *e, int b, int cell, int c)
{
    const int n = (int) r.channels, k = c - n, y = cell / W, x = cell % W;
    if (c < n)
        return in_model(e->concat_latent ? at(e->concat_latent, b, cell, c) : 0);
    const nino_array *a = e->concat_mask ? e->concat_mask : r.mask;
    return a ? (double) nino_array_f32(
                   a)[((b % a->shape.dim[0] * H + y) * SIDE + k / SIDE) * W * SIDE + x * SIDE +
                      k % SIDE]
             : 1;
}

static void check_inpaint(const char *format, int channels)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1) };
    set_run(format, 1 + channels, NINO_SHAPE(B, H, W, channels));
    nino_array *latent = counted(NINO_SHAPE(1, H, W, channels), -2, 0.07);
    nino_array *image = counted(NINO_SHAPE(B, H, W, channels), 1, 0.03);
    nino_array *half = counted(NINO_SHAPE(1, H, W), 0, 0.125); // 0.5 is even, 1.5 is not
    nino_array *each = counted(NINO_SHAPE(B, H, W), 1, -0.04);
    r.latent = latent;
    concat(&e, 1 + channels, of_blank);
    e.concat_latent = image; // a picture alone is not looked at
    concat(&e, 1 + channels, of_blank);
    e.concat_mask = half;
    concat(&e, 1 + channels, of_inpaint);
    e.concat_latent = NULL;
    concat(&e, 1 + channels, of_inpaint);
    r.mask = each; // the entry's comes before it
    concat(&e, 1 + channels, of_inpaint);
    e.concat_mask = NULL;
    concat(&e, 1 + channels, of_inpaint);
    r.latent = image;
    concat(&e, 1 + channels, of_inpaint);
    e.concat_latent = counted(NINO_SHAPE(1, H, W, channels + 1), 0, 1);
    char words[96];
    snprintf(words, sizeof(words), "the conditioning's latent has %d channels, this model %d",
             channels + 1, channels);
    refused(&e, NINO_ERR_ARG, "shape", words);
    CHECK(latent->refs == 1 && image->refs == 1 && half->refs == 1 && each->refs == 1);
    drop(e.concat_latent);
    drop(e.context);
    drop(latent);
    drop(image);
    drop(half);
    drop(each);
}

static void check_pictures(void)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1) };
    nino_array *one = counted(NINO_SHAPE(1, H, W, 4), -2, 0.07),
               *both = counted(NINO_SHAPE(B, H, W, 4), 1, 0.03),
               *clip = counted(NINO_SHAPE(1, 1, H, W, 4), 1, 0.03);
    set_run("sd15", 4, NINO_SHAPE(B, H, W, 4)); // InstructPix2Pix: as nodes have it
    concat(&e, 4, of_pix2pix);
    e.concat_latent = one;
    concat(&e, 4, of_pix2pix);
    e.concat_latent = both;
    concat(&e, 4, of_pix2pix);
    e.concat_latent = clip;
    refused(&e, NINO_ERR_ARG, "shape", "the conditioning's latent has 4 channels, this model 4");
    e.concat_latent = NULL;
    static const int none[] = { 1, 3, 6, 20, 68 };
    for (int i = 0; i < 5; i++) {
        char words[80];
        net.in_channels = 4 + none[i];
        snprintf(words, sizeof(words),
                 "fake models with %d channels beside the latent are not supported", none[i]);
        refused(&e, NINO_ERR_UNSUPPORTED, "model", words);
    }
    for (int extra = -1; extra <= 0; extra++) {
        net.in_channels = 4 + extra;
        make(&e, NINO_COND_POSITIVE);
        CHECK(!m.concat);
        nino_cond_model_release(&m);
    }
    drop(one);
    drop(both);
    drop(clip);
    drop(e.context);
}

static void check_flux(void)
{
    enum { C = 16 };
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1) };
    nino_array *image = counted(NINO_SHAPE(1, H, W, C), -2, 0.07);
    nino_array *one = counted(NINO_SHAPE(1, H * SIDE, W * SIDE), 0, 0.01),
               *each = counted(NINO_SHAPE(B, H * SIDE, W * SIDE), 1, 0.02);
    for (int fill = 0; fill < 2; fill++) {
        const int extra = C + fill * SIDE * SIDE;
        set_run("flux", extra, NINO_SHAPE(B, H, W, C));
        net.kind = NINO_DIFFUSION_FLUX;
        CHECK(net.format->shift != 0); // of zeros something else comes
        for (int k = 0; k < 8; k++) {
            e.concat_latent = k % 2 ? image : NULL;
            e.concat_mask = k / 2 % 2 ? one : NULL;
            r.mask = k / 4 ? each : NULL;
            concat(&e, extra, of_flux);
        }
        e.concat_latent = one;
        refused(&e, NINO_ERR_ARG, "shape",
                "the conditioning's latent has 40 channels, this model 16");
    }
    drop(image);
    drop(one);
    drop(each);
    drop(e.context);
}

// ---- reference latents ----------------------------------------------------------------------------

static void check_refs(void)
{
    nino_array *refs[] = { counted(NINO_SHAPE(1, 2, 3, 4), 1, 0.1),
                           counted(NINO_SHAPE(2, 1, 4, 1, 4), 2, 0.2), NULL };
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1),
                          .refs = refs,
                          .n_refs = 2 };
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    make(&e, NINO_COND_POSITIVE);
    CHECK(!m.refs && !m.n_refs); // the model takes none
    nino_cond_model_release(&m);
    net.has_refs = true;
    make(&e, NINO_COND_POSITIVE);
    const nino_shape want[] = { NINO_SHAPE(1, 2, 3, 4), NINO_SHAPE(2, 4, 1, 4) };
    CHECK(m.n_refs == 2);
    for (int k = 0; k < 2; k++) {
        CHECK(nino_shape_equal(&m.refs[k]->shape, &want[k]));
        for (int64_t i = 0; i < nino_shape_count(&want[k]); i++) {
            const double v = (k + 1) * (1 + 0.1 * (double) i);
            CHECK(fabs((double) nino_array_f32(m.refs[k])[i] - in_model(v)) < 1e-5);
            CHECK(nino_array_f32(refs[k])[i] == (float) v || k); // untouched
        }
    }
    nino_cond_model_release(&m);
    CHECK(!m.refs && !m.n_refs);
    e.n_refs = 3;
    refs[2] = counted(NINO_SHAPE(1, 2, 3, 5), 0, 1);
    refused(&e, NINO_ERR_ARG, "shape", "a reference latent has 5 channels, this model 4");
    refs[2]->shape = NINO_SHAPE(2, 3, 4);
    refused(&e, NINO_ERR_ARG, "shape", "a reference latent has 4 channels, this model 4");
    refs[2]->shape = NINO_SHAPE(1, 2, 3, 1, 4);
    refused(&e, NINO_ERR_ARG, "shape",
            "a reference latent is a clip of 2 frames, this model takes pictures: encode one at a "
            "time");
    refs[2]->shape = NINO_SHAPE(1, 0, 3, 1, 4);
    CHECK(nino_cond_model_make(&r, &e, NINO_COND_POSITIVE, &m, &err) == NINO_ERR_ARG);
    for (int i = 0; i < 3; i++)
        drop(refs[i]);
    drop(e.context);
}

// ---- clips ----------------------------------------------------------------------------------------

enum { T = 2, PLANE = H * W, CLIP = T * PLANE };

// A model with `extra` channels beside a clip's latent, and a conditioning of c channels: how many of the
// first are a mask, or -1: refused.
static void check_clip(int extra, int c, int vision, int mask_channels)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1),
                          .concat_latent = counted(NINO_SHAPE(1, T, H, W, c), 1, 0.01),
                          .concat_mask = counted(NINO_SHAPE(1, T - 1, H, W, 1), 0, 0.05) };
    set_run("sd15", extra, NINO_SHAPE(B, T, H, W, 4));
    net.vision_dim = vision;
    if (mask_channels < 0) {
        char words[160];
        snprintf(words, sizeof(words),
                 "the conditioning's latent has %d channels and 2 frames, this model takes %d "
                 "channels beside a latent of 2 frames",
                 c, extra);
        refused(&e, NINO_ERR_ARG, "shape", words);
    } else {
        make(&e, NINO_COND_POSITIVE);
        const nino_shape want = NINO_SHAPE(B, T, H, W, extra);
        CHECK(nino_shape_equal(&m.concat->shape, &want));
        for (int i = 0; i < B * CLIP * extra; i++) {
            const int cell = i / extra % CLIP, k = i % extra - mask_channels;
            // what is no whole latent stays as it is
            const bool is_whole = k < (extra - mask_channels) / 4 * 4;
            const double v = k >= 0 ? 1 + 0.01 * (cell * c + k) : 0,
                         mask = cell < PLANE ? 1 - 0.05 * cell : 0; // frames beyond are not given
            const double is = (double) nino_array_f32(m.concat)[i];
            CHECK(fabs(is - (k < 0 ? mask : is_whole ? in_model(v) : v)) < 1e-4);
        }
        nino_cond_model_release(&m);
    }
    drop(e.context);
    drop(e.concat_latent);
    drop(e.concat_mask);
}

static void check_clips(void)
{
    check_clip(8, 4, 0, 4);
    check_clip(8, 4, 6, 4);
    check_clip(8, 8, 0, 0); // as many as it takes
    check_clip(8, 8, 6, 0);
    check_clip(8, 12, 6, 4); // too many, of a model that sees pictures
    check_clip(8, 9, 6, 4);
    check_clip(8, 12, 0, -1);
    check_clip(8, 7, 6, -1);
    check_clip(8, 3, 0, -1);
    check_clip(4, 4, 0, 0);
    check_clip(4, 5, 6, -1); // no room for a mask
    check_clip(5, 1, 0, 4);
    check_clip(6, 6, 0, 0);
    check_clip(10, 6, 0, 4);
    check_clip(3, 3, 0, 0);
}

// Of another size: the middle, scaled; each of more clips than the batch has.
static void check_scaled_clip(void)
{
    nino_cond_entry e = { .concat_latent = counted(NINO_SHAPE(3, T, 2 * H, 2 * W + 2, 4), 0, 0),
                          .concat_mask = counted(NINO_SHAPE(1, T, 2 * H, 2 * W, 4), 0.25, 0) };
    set_run("sd15", 8, NINO_SHAPE(B, T, H, W, 4));
    float *v = nino_array_f32(e.concat_latent);
    const int wide = 2 * W + 2, frame = 2 * H * wide * 4;
    for (int i = 0; i < 3 * T * frame; i++) { // columns 0 and last are cut away
        const int x = i / 4 % wide;
        v[i] = x == 0 || x == wide - 1 ? 1e6f : (float) (i / frame + 10 * (i % 4) + 100 * x);
    }
    nino_array *out = NULL;
    CHECK_OK(nino_cond_concat_video(&r, &e, &out, &err), err);
    for (int i = 0; i < B * CLIP * 8; i++) {
        const int k = i % 8, cell = i / 8 % CLIP, b = i / 8 / CLIP ? 2 : 0; // the first and last
        const double is = (double) nino_array_f32(out)[i],
                     want = b * T + cell / PLANE + 10 * (k - 4) + 100 * (1.5 + 2 * (cell % W));
        CHECK(fabs(is - (k < 4 ? 0.75 : in_model(want))) < 1e-3);
    }
    nino_array_unref(&out);
    static const nino_shape wrong[] = { { .rank = 2, .dim = { T, 2 } },
                                        { .rank = 5, .dim = { 1, T, 1, 2, 3 } },
                                        { .rank = 5, .dim = { 1, T + 1, H, W, 4 } } };
    for (int k = 0; k < 3; k++) {
        char words[96];
        e.concat_mask->shape = wrong[k];
        snprintf(words, sizeof(words), "the conditioning's mask has %d latent frames, the latent 2",
                 (int) wrong[k].dim[1]);
        CHECK(nino_cond_concat_video(&r, &e, &out, &err) == NINO_ERR_ARG && !out);
        CHECK_STR(err.msg, words);
    }
    drop(e.concat_latent);
    drop(e.concat_mask);
}

// Videos to follow: two latents in the model's units, then the mask; none: all is to be made.
static void check_followed(void)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1) };
    set_run("sd3", 0, NINO_SHAPE(B, T, H, W, 16));
    CHECK(net.format->shift != 0);
    const int c = 2 * 16 + 3;
    for (int n = 0; n <= 2; n++) {
        for (int i = 0; i < n; i++) {
            drop(e.control[i]);
            e.control[i] = counted(NINO_SHAPE(1, T, H, W, c), i + 1, 0.01);
            e.control_strength[i] = 0.25 * (i + 1);
        }
        e.n_controls = n;
        net.control_dim = 0;
        make(&e, NINO_COND_POSITIVE);
        CHECK(!m.n_controls && !m.control[0]);
        nino_cond_model_release(&m);
        net.control_dim = c;
        make(&e, NINO_COND_POSITIVE);
        CHECK(m.n_controls == (n ? n : 1));
        for (int k = 0; k < m.n_controls; k++) {
            const nino_shape want = NINO_SHAPE(1, T, H, W, c);
            CHECK(nino_shape_equal(&m.control[k]->shape, &want));
            CHECK(m.control_strength[k] == (n ? 0.25f * (float) (k + 1) : 1));
            for (int i = 0; i < CLIP * c; i++) {
                const double v = n ? k + 1 + 0.01 * i : i % c < 32 ? 0 : 1;
                const double is = (double) nino_array_f32(m.control[k])[i];
                CHECK(fabs(is - (i % c < 32 ? in_model(v) : v)) < 1e-3);
            }
        }
        nino_cond_model_release(&m);
    }
    e.control[1]->shape = NINO_SHAPE(1, T, W, H, c);
    refused(
        &e, NINO_ERR_ARG, "shape",
        "the video to follow has another size than the latent, which has 2 frames of 5x3 cells");
    drop(e.control[0]);
    drop(e.control[1]);
    drop(e.context);
}

int main(void)
{
    check_text();
    check_columns();
    check_rest();
    check_y();
    check_inpaint("sd15", 4);
    check_inpaint("flux", 16);
    check_pictures();
    check_flux();
    check_refs();
    check_clips();
    check_scaled_clip();
    check_followed();
    return 0;
}
