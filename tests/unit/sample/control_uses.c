// Control networks on conditioning, with networks computed by hand: strengths, chains and ranges,
// whom a control goes to, which entries share a forward, hints fitted to sizes and batches, hints
// that are latents, and what is refused.
#include "core/base/error.h"
#include "core/model/control/control.h"
#include "core/sample/guide/guide.h"
#include "tests/fake_net.h"

enum { MOST = 64 };
static const int64_t W = 6, H = 4;

// Adds `value` + the mean of the hint to every cell; remembers how it was called.
typedef struct fake_control {
    nino_control_net c;
    float value;
    int n, hints; // calls, hints that were read
    float timestep[MOST];
    int64_t rows[MOST];
    double context[MOST]; // mean of the first row
    nino_shape hint[MOST];
    int type;
    double means[MOST]; // of the last hint's rows
} fake_control;

static nino_stream *s;
static nino_backend *be;
static fake_net net;
static nino_model *model;

static void fake_prepare(nino_stream *stream, const nino_control_net *c, nino_tensor *hint,
                         int type, nino_control_hint *out)
{
    fake_control *f = c->net;
    f->hint[f->hints++] = *nino_shape_of(hint);
    f->type = type;
    (void) stream;
    *out = (nino_control_hint){ { hint } };
}

static void fake_control_forward(nino_stream *stream, const nino_control_net *c,
                                 const nino_forward *in, const nino_control_hint *hint,
                                 float strength, nino_residuals *out)
{
    fake_control *f = c->net;
    nino_array *seen = nino_download(stream, nino_ref(hint->t[0]), NINO_F32);
    for (int64_t i = 0; seen && i < seen->shape.dim[0]; i++)
        f->means[i] = fake_mean(seen, i);
    nino_array_unref(&seen);
    f->timestep[f->n] = in->timestep[0];
    f->rows[f->n] = nino_dim(in->x, 0);
    nino_array *context = nino_download(stream, nino_ref(in->context), NINO_F32);
    f->context[f->n++] = context ? fake_mean(context, 0) : 0;
    nino_array_unref(&context);
    nino_array *a = nino_array_create(NINO_F32, *nino_shape_of(in->x));
    CHECK(a != NULL);
    const int64_t each = nino_shape_count(&a->shape) / a->shape.dim[0];
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        nino_array_f32(a)[i] = f->value + (float) f->means[i / each];
    nino_residual_put(stream, &out->middle, nino_upload(stream, a, NINO_F32), strength);
    nino_array_unref(&a);
}

static void control_init(fake_control *f, float value)
{
    *f = (fake_control){ .c = { .refs = 1000,
                                .serves = NINO_DIFFUSION_UNET,
                                .factor = 8,
                                .multiple = 1,
                                .prepare = fake_prepare,
                                .forward = fake_control_forward },
                         .value = value };
    f->c.net = f;
    snprintf(f->c.name, sizeof(f->c.name), "fake_control");
    snprintf(f->c.detail, sizeof(f->c.detail), "a control network");
}

static nino_array *grey(int64_t n, int64_t h, int64_t w, const float *values)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, 3));
    CHECK(a != NULL);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        nino_array_f32(a)[i] = values[i / (3 * h * w)];
    return a;
}

// A use of f with a hint of one value, on top of another; both go with what it is put into.
static nino_cond_control *use_of(fake_control *f, double strength, double start, double end,
                                 nino_cond_control *previous)
{
    static const float none[] = { 0 };
    nino_array *hint = grey(1, 16, 16, none);
    nino_control_use *u = nino_control_use_create(
        &(nino_control_use){ .net = &f->c,
                             .previous = previous ? nino_control_use_of(previous) : NULL,
                             .hint = hint,
                             .strength = strength,
                             .start = start,
                             .end = end,
                             .type = -1 });
    CHECK(u != NULL);
    nino_array_unref(&hint);
    nino_cond_control_unref(&previous);
    return &u->head;
}

// n entries whose texts are `value`.
static nino_cond *texts(int n, float value)
{
    nino_cond *c = nino_cond_create(n);
    CHECK(c != NULL);
    for (int i = 0; i < n; i++) {
        c->entry[i].context = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 3));
        CHECK(c->entry[i].context != NULL);
        for (int k = 0; k < 6; k++)
            nino_array_f32(c->entry[i].context)[k] = value + (float) i;
    }
    return c;
}

static void give(nino_cond *c, int i, nino_cond_control *u, bool for_all)
{
    c->entry[i].control_net = u; // taken
    c->entry[i].control_for_all = for_all;
}

typedef struct run {
    nino_status st;
    nino_error err;
    nino_array *out;
} run;

static nino_status encode(void *priv, const nino_vae *vae, const nino_array *pixels,
                          nino_array **out, nino_error *err)
{
    (void) err;
    *(nino_shape *) priv = pixels->shape;
    *out = nino_array_create(NINO_F32, NINO_SHAPE(pixels->shape.dim[0], pixels->shape.dim[1] / 4,
                                                  pixels->shape.dim[2] / 4, vae->channels));
    return *out ? NINO_OK : NINO_ERR_NOMEM;
}

// Samples a latent of a batch; takes the conditioning.
static run sample(nino_cond *positive, nino_cond *negative, int64_t batch, const float *sigmas,
                  int n_sigmas, const nino_guide_encode *how)
{
    run r = { .st = NINO_OK };
    const nino_sampler sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    const nino_guider g = { .refs = 1,
                            .kind = negative ? NINO_GUIDE_CFG : NINO_GUIDE_BASIC,
                            .model = model,
                            .positive = positive,
                            .negative = negative,
                            .cfg = 2 };
    nino_array *latent = nino_array_create(NINO_F32, NINO_SHAPE(batch, H, W, 4));
    CHECK(latent != NULL);
    net.n = 0;
    const nino_sample_params p = { .guider = &g,
                                   .noise = { .seed = 3 },
                                   .sampler = &sampler,
                                   .sigmas = sigmas,
                                   .n_sigmas = n_sigmas,
                                   .samples = latent,
                                   .encode = how };
    r.st = nino_sample_latent(s, &p, &r.out, NULL, &r.err);
    nino_array_unref(&latent);
    nino_cond_unref(&positive);
    if (negative)
        nino_cond_unref(&negative);
    return r;
}

static const float one_step[] = { 1.0f, 0.0f };
static const float five_steps[] = { 1.0f, 0.8f, 0.6f, 0.4f, 0.2f, 0.0f };

static double first_value(run r)
{
    CHECK_OK(r.st, r.err);
    const double v = (double) nino_array_f32(r.out)[0];
    nino_array_unref(&r.out);
    return v;
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-5 * fmax(1, fabs(b)); }

// ---- what is added ---------------------------------------------------------------------------

// How far one step moves because of a control; the network is linear in what is added to x.
static double moved_by(nino_cond_control *u)
{
    nino_cond *with = texts(1, 1), *without = texts(1, 1);
    give(with, 0, u, false);
    return first_value(sample(with, NULL, 1, one_step, 2, NULL)) -
           first_value(sample(without, NULL, 1, one_step, 2, NULL));
}

static void check_strength(void)
{
    fake_control a, b;
    control_init(&a, 1);
    control_init(&b, 3);
    const double one = moved_by(use_of(&a, 1, 0, 1, NULL));
    CHECK(fabs(one) > 0.05 && a.n == 1 && a.hints == 1);
    CHECK(is_near(moved_by(use_of(&a, 0.5, 0, 1, NULL)), 0.5 * one));
    const double both = moved_by(use_of(&b, 0.25, 0, 1, use_of(&a, 0.5, 0, 1, NULL)));
    CHECK(is_near(both, (0.5 + 0.25 * 3) * one)); // each with its own strength
    nino_cond_control *u = use_of(&b, 1, 0, 1, use_of(&a, 1, 0, 1, NULL));
    static const float light[] = { 0.5f };
    nino_array_unref(&nino_control_use_of(u)->hint);
    nino_control_use_of(u)->hint = grey(1, 16, 16, light);
    CHECK(is_near(moved_by(u), (1 + 3 + 0.5) * one) && a.means[0] == 0); // and its own hint
    CHECK(b.n == 2 && b.timestep[0] == net.call[0].timestep && b.context[0] == 1);
}

static void check_ranges(void)
{
    fake_control a, b;
    control_init(&a, 1);
    control_init(&b, 1);
    nino_cond *c = texts(1, 1); // flow: percent p is sigma 1 - p
    give(c, 0, use_of(&b, 1, 0.35, 0.65, use_of(&a, 1, 0, 0.35, NULL)), false);
    run r = sample(c, NULL, 1, five_steps, 6, NULL);
    CHECK_OK(r.st, r.err);
    nino_array_unref(&r.out);
    CHECK(net.n == 5 && a.hints == 1 && b.hints == 1); // hints are read once
    CHECK(a.n == 2 && is_near((double) a.timestep[0], 1000) &&
          is_near((double) a.timestep[1], 800));
    CHECK(b.n == 2 && is_near((double) b.timestep[0], 600) && is_near((double) b.timestep[1], 400));
}

// ---- whom it goes to -------------------------------------------------------------------------
static void check_batches(void)
{
    fake_control a;
    control_init(&a, 1);
    nino_cond *p = texts(1, 1), *n = texts(1, 2);
    nino_cond_control *u = use_of(&a, 1, 0, 1, NULL);
    give(p, 0, nino_cond_control_ref(u), false);
    give(n, 0, u, false);
    (void) first_value(sample(p, n, 2, one_step, 2, NULL));
    CHECK(net.n == 1 && net.call[0].x.dim[0] == 4); // both sides and the batch in one
    CHECK(a.n == 1 && a.rows[0] == 4 && a.hints == 1 && a.hint[0].dim[0] == 4);
    control_init(&a, 1);
    p = texts(1, 1);
    n = texts(1, 2);
    give(p, 0, use_of(&a, 1, 0, 1, NULL), false);
    (void) first_value(sample(p, n, 2, one_step, 2, NULL));
    CHECK(net.n == 2 && a.n == 1 && a.rows[0] == 2); // the other side has none
}

// Which networks ran for the negative side, whose texts are 5 ...; bit k is of network k.
static int negative_got(nino_cond *p, nino_cond *n, fake_control *const *f, int count)
{
    int got = 0;
    (void) first_value(sample(p, n, 1, one_step, 2, NULL));
    for (int k = 0; k < count; k++)
        for (int i = 0; i < f[k]->n; i++)
            got |= (f[k]->context[i] >= 5 || f[k]->rows[i] > 1) << k;
    return got;
}

static void check_for_all(void)
{
    fake_control a, b;
    fake_control *const both[] = { &a, &b };
    for (int marked = 0; marked < 2; marked++) {
        control_init(&a, 1);
        nino_cond *p = texts(1, 1);
        give(p, 0, use_of(&a, 1, 0, 1, NULL), marked);
        CHECK(negative_got(p, texts(1, 5), both, 1) == marked);
    }
    control_init(&a, 1); // the negative side has its own
    control_init(&b, 1);
    nino_cond *p = texts(1, 1), *n = texts(1, 5);
    give(p, 0, use_of(&a, 1, 0, 1, NULL), true);
    give(n, 0, use_of(&b, 1, 0, 1, NULL), false);
    CHECK(negative_got(p, n, both, 2) == 2);
    control_init(&a, 1); // two for one: the last stays
    control_init(&b, 1);
    p = texts(2, 1);
    give(p, 0, use_of(&a, 1, 0, 1, NULL), true);
    give(p, 1, use_of(&b, 1, 0, 1, NULL), true);
    CHECK(negative_got(p, texts(1, 5), both, 2) == 2);
    control_init(&a, 1); // an entry with an area neither gives nor takes
    p = texts(1, 1);
    give(p, 0, use_of(&a, 1, 0, 1, NULL), true);
    p->entry[0].area_kind = NINO_AREA_CELLS;
    p->entry[0].area_h = p->entry[0].area_w = 2;
    (void) first_value(sample(p, texts(1, 5), 1, one_step, 2, NULL));
    CHECK(a.hint[0].dim[1] == 16 && a.hint[0].dim[2] == 16); // the whole hint in the area
}

// What a ControlNet reads in place of the text.
static void check_context(void)
{
    fake_control a;
    control_init(&a, 1);
    nino_cond *p = texts(1, 1);
    give(p, 0, use_of(&a, 1, 0, 1, NULL), false);
    nino_array *other = nino_array_create(NINO_F32, NINO_SHAPE(1, 4, 3));
    CHECK(other != NULL);
    for (int i = 0; i < 12; i++)
        nino_array_f32(other)[i] = 9;
    nino_cond_set_array(&p->entry[0].control_context, other);
    nino_array_unref(&other);
    (void) first_value(sample(p, NULL, 1, one_step, 2, NULL));
    CHECK(a.n == 1 && a.context[0] == 9 && net.call[0].context.dim[1] == 2);
}

// ---- hints -----------------------------------------------------------------------------------
static void check_hints(void)
{
    static const float values[] = { 0.25f, 0.75f };
    fake_control a;
    control_init(&a, 0);
    nino_cond *p = texts(1, 1), *n = texts(1, 2);
    give(p, 0, use_of(&a, 1, 0, 1, NULL), false);
    give(n, 0, nino_cond_control_ref(p->entry[0].control_net), false);
    nino_control_use *u = nino_control_use_of(p->entry[0].control_net);
    nino_array_unref(&u->hint);
    u->hint = grey(2, 50, 20, values);
    (void) first_value(sample(p, n, 3, one_step, 2, NULL));
    CHECK(a.hint[0].dim[1] == 8 * H && a.hint[0].dim[2] == 8 * W && a.hint[0].dim[0] == 6);
    for (int i = 0; i < 6; i++) // each side begins anew
        CHECK(is_near(a.means[i], i % 3 == 1 ? 0.75 : 0.25));
    control_init(&a, 0);
    a.c.multiple = 64;
    p = texts(1, 1);
    give(p, 0, use_of(&a, 1, 0, 1, NULL), false);
    (void) first_value(sample(p, NULL, 1, one_step, 2, NULL));
    CHECK(a.hint[0].dim[1] == 64 && a.hint[0].dim[2] == 64);
}

static void check_latents(void)
{
    nino_shape seen = { 0 };
    nino_vae vae = { .channels = 4, .factor = 4, .refs = 1000, .name = "fake_vae" };
    const nino_guide_encode how = { .fn = encode, .priv = &seen };
    fake_control a;
    control_init(&a, 0);
    a.c.wants_vae = a.c.has_mask = true;
    a.c.factor = 0;
    a.c.format = nino_latent_format_find("sd15");
    nino_cond *p = texts(1, 1);
    give(p, 0, use_of(&a, 1, 0, 1, NULL), false);
    nino_control_use *u = nino_control_use_of(p->entry[0].control_net);
    u->vae = &vae;
    (void) first_value(sample(nino_cond_ref(p), NULL, 1, one_step, 2, &how));
    CHECK(seen.dim[1] == 4 * H && seen.dim[2] == 4 * W);
    CHECK(a.hint[0].dim[1] == H && a.hint[0].dim[3] == 5);
    CHECK(is_near(a.means[0], 0.2)); // zeros, and a mask of ones
    // a mask of the picture's size comes to the latent's: the left third of it is 1
    u->mask = nino_array_create(NINO_F32, NINO_SHAPE(1, 8 * H, 8 * W));
    CHECK(u->mask != NULL);
    for (int64_t i = 0; i < nino_shape_count(&u->mask->shape); i++)
        nino_array_f32(u->mask)[i] = i % (8 * W) < 8 * W / 3 ? 1.0f : 0.0f;
    (void) first_value(sample(nino_cond_ref(p), NULL, 1, one_step, 2, &how));
    CHECK(is_near(a.means[0], 1.0 / 15));
    // a VAE of another kind, and none
    vae.channels = 16;
    run r = sample(nino_cond_ref(p), NULL, 1, one_step, 2, &how);
    CHECK(r.st == NINO_ERR_ARG && strstr(r.err.msg, "16") && !strcmp(r.err.where, "fake_control"));
    u->vae = NULL;
    r = sample(p, NULL, 1, one_step, 2, &how);
    CHECK(r.st == NINO_ERR_ARG && strstr(r.err.msg, "connect a VAE"));
}

// ---- what is refused -------------------------------------------------------------------------
static void check_refused(void)
{
    fake_control a;
    for (int i = 0; i < 5; i++) {
        control_init(&a, 1);
        nino_cond *p = texts(1, 1);
        give(p, 0, use_of(&a, 1, 0, 1, NULL), false);
        a.c.serves = i == 0 ? NINO_DIFFUSION_FLUX : NINO_DIFFUSION_UNET;
        a.c.in_channels = i == 1 ? 16 : 4;
        a.c.context_dim = i == 2 ? 768 : 3;
        a.c.y_dim = i == 3 ? 2816 : 0;
        a.c.n_types = i == 4 ? 6 : 0;
        nino_control_use_of(p->entry[0].control_net)->type = i == 4 ? 7 : -1;
        const run r = sample(p, NULL, 1, one_step, 2, NULL);
        CHECK(r.st == NINO_ERR_ARG && !strcmp(r.err.where, "fake_control") && !r.out && !net.n);
        CHECK(strstr(r.err.msg, i < 4 ? "another family" : "ProMax") && !strchr(r.err.msg, '\n'));
    }
}

int main(void)
{
    nino_error err = { 0 };
    CHECK_OK((be = nino_ref_open(0, NULL, &err)) ? NINO_OK : err.code, err);
    s = nino_stream_create(&(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 },
                           &err);
    CHECK(s != NULL);
    fake_init(&net, NINO_DIFFUSION_UNET, "sd15", 0, nino_sampling_flow(1, 1000));
    net.d.has_residuals = true;
    CHECK((model = nino_model_create(&net.d)) != NULL);
    check_strength();
    check_ranges();
    check_batches();
    check_for_all();
    check_context();
    check_hints();
    check_latents();
    check_refused();
    nino_model_unref(&model);
    fake_release(&net);
    nino_backend_drop_weights(be);
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    CHECK(m.in_use == 0); // neither hints nor contexts are left on the device
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    return 0;
}
