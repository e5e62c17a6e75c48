// unCLIP models: what a network is told of pictures, number by number; the loader's four outputs;
// a random network that is sampled with pictures, and pictures of another encoder.
#include "core/run/context.h"
#include "core/sample/guide/guide_priv.h"
#include "tests/flow.h"
#include "tests/random_net.h"
#include "tests/random_text.h"

enum { E = 16 };

static nino_error err;

static nino_array *embeds(int n, int width, float from)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, width));
    CHECK(a);
    for (int i = 0; i < n * width; i++)
        nino_array_f32(a)[i] = from + (float) (i % 7) * 0.1f;
    return a;
}

// ---- y ---------------------------------------------------------------------------------------

// Part of the signal's variance that is left at a level; the product of the steps telescopes.
static double left_at(int level)
{
    const double a = cos(((level + 1) / 1000.0 + 0.008) / 1.008 * M_PI / 2);
    const double b = cos(0.008 / 1.008 * M_PI / 2);
    return a * a / (b * b);
}

static double level_number(int level, int k)
{
    const double f = exp(-log(10000.0) * (k % (E / 2)) / (E / 2.0));
    return k < E / 2 ? cos(level * f) : sin(level * f);
}

static nino_array *y_of(const nino_cond_entry *e, uint64_t seed, nino_status want)
{
    nino_diffusion d = { .kind = NINO_DIFFUSION_UNET,
                         .family = "sd2_unclip",
                         .name = "net",
                         .format = nino_latent_format_find("sd15"),
                         .in_channels = 4,
                         .context_dim = 3,
                         .y_dim = 2 * E };
    const nino_model model = { .net = &d, .format = d.format };
    const nino_guider g = { .model = (nino_model *) &model };
    nino_guide_run r = { .guider = &g, .net = &d, .seed = seed };
    const nino_shape latent = NINO_SHAPE(1, 2, 2, 4);
    nino_cond_model m;
    nino_guide_set_shape(&r, &latent);
    err = (nino_error){ 0 };
    CHECK(nino_cond_model_make(&r, e, NINO_COND_POSITIVE, &m, &err) == want);
    nino_array *y = want ? NULL : nino_array_ref(m.y);
    nino_cond_model_release(&m);
    return y;
}

static void expect_y(const nino_cond_entry *e, uint64_t seed, const double *want)
{
    nino_array *y = y_of(e, seed, NINO_OK);
    CHECK(nino_shape_count(&y->shape) == 2 * E);
    for (int i = 0; i < 2 * E; i++)
        if (!(fabs((double) nino_array_f32(y)[i] - want[i]) < 2e-5)) {
            fprintf(stderr, "y[%d] is %g, expected %g\n", i, (double) nino_array_f32(y)[i],
                    want[i]);
            exit(1);
        }
    nino_array_unref(&y);
}

static void add(const nino_cond_picture *p, uint64_t seed, double *want)
{
    const int level = (int) rint(999 * p->noise);
    for (int64_t i = 0; i < p->embeds->shape.dim[0]; i++) {
        nino_rng rng;
        float noise[E];
        nino_rng_seed(&rng, seed - 10);
        nino_rng_randn(&rng, noise, E);
        for (int k = 0; k < E; k++) {
            want[k] += p->strength *
                       (sqrt(left_at(level)) * (double) nino_array_f32(p->embeds)[i * E + k] +
                        sqrt(1 - left_at(level)) * (double) noise[k]);
            want[E + k] += p->strength * level_number(level, k);
        }
    }
}

static void numbers(void)
{
    nino_cond *c = nino_cond_create(1);
    double want[2 * E] = { 0 };
    float noise[E];
    nino_rng rng;
    c->entry[0].context = embeds(1, 6, 0);
    c->entry[0].context->shape = NINO_SHAPE(1, 2, 3);
    expect_y(&c->entry[0], 5, want); // without pictures: zeros
    nino_array *one = embeds(1, E, 0.3f), *two = embeds(2, E, -1), *bad = embeds(1, 9, 0);
    const nino_cond_picture a = { one, 0.5, 0.3 }, b = { two, -2, 0 }, wrong = { bad, 1, 0 };
    CHECK(nino_cond_add_picture(&c->entry[0], &a));
    add(&a, 5, want); // the seed of the noise is 10 less, also below 0
    expect_y(&c->entry[0], 5, want);
    CHECK(nino_cond_add_picture(&c->entry[0], &b));
    add(&b, 5, want);
    nino_rng_seed(&rng, UINT64_C(5) - 10);
    nino_rng_randn(&rng, noise, E);
    nino_rng_randn(&rng, noise, E);
    for (int k = 0; k < E; k++) { // several: noise once more, at a twentieth
        want[k] = sqrt(left_at(50)) * want[k] + sqrt(1 - left_at(50)) * (double) noise[k];
        want[E + k] = level_number(50, k);
    }
    expect_y(&c->entry[0], 5, want);
    nino_cond *copy = nino_cond_copy(c);
    CHECK(copy->entry[0].n_pictures == 2 && copy->entry[0].pictures[1].embeds == two);
    CHECK(nino_cond_bytes(copy) == nino_cond_bytes(c));
    CHECK(nino_cond_add_picture(&copy->entry[0], &wrong));
    y_of(&copy->entry[0], 5, NINO_ERR_ARG);
    CHECK_STR(err.kind, "shape");
    CHECK(strstr(err.msg, "9 numbers") && strstr(err.msg, "needs 16"));
    nino_cond_unref(&copy);
    nino_cond_unref(&c);
    nino_array_unref(&one);
    nino_array_unref(&two);
    nino_array_unref(&bad);
}

// ---- a whole file ----------------------------------------------------------------------------

static const net_unet unet = { 32, 2, { 1, 1 }, { 1, 0 }, -1, 1024, 2 * E, 4, 4, true };
static const random_text vision = { .prefix = "embedder.model.",
                                    .width = 64,
                                    .layers = 2,
                                    .mlp = 64,
                                    .patch = 4,
                                    .side = 2,
                                    .is_open = true,
                                    .has_projection = true,
                                    .projection = E };

// The UNet and, if asked for, the vision network in one file.
static void make_file(const char *name, bool with_vision)
{
    test_dir root = { "" };
    net_list l = net_list_unet(&unet, "model.diffusion_model.");
    nino_st_entry *entries = calloc(1024, sizeof(*entries));
    nino_weights *w[2] = { NULL, NULL };
    int n = 0;
    snprintf(root.path, sizeof(root.path), "%s", flow_temp());
    const nino_name path = nino_name_of("%s/unet.safetensors", root.path);
    net_save(&l, path.s, NINO_F32, NET_RANDOM);
    w[0] = test_open("%s", path.s);
    if (with_vision)
        w[1] = random_text_file(&root, "vision.safetensors", &vision, 1, NULL);
    for (int k = 0; k < 2 && w[k]; k++)
        for (int i = 0; i < nino_weights_count(w[k]); i++, n++) {
            const nino_tensor_info *t = nino_weights_at(w[k], i);
            entries[n] = (nino_st_entry){ t->name, nino_weights_read_f32(w[k], t, &err) };
            CHECK(n < 1023 && entries[n].array);
        }
    CHECK_OK(nino_st_save(root.path, nino_name_of("models/checkpoints/%s", name).s, true, entries,
                          n, NULL, 0, &err),
             err);
    for (int i = 0; i < n; i++) {
        nino_array *a = (nino_array *) entries[i].array;
        nino_array_unref(&a);
    }
    free(entries);
    nino_weights_unref(&w[0]);
    nino_weights_unref(&w[1]);
}

static flow_result load(nino_ctx *ctx, const char *file)
{
    char json[800];
    snprintf(json, sizeof(json),
             "{'1': {'class_type': 'unCLIPCheckpointLoader', 'inputs': {'ckpt_name': '%s'}},"
             "'2': {'class_type': 'EmptyImage', 'inputs': {'width': 9, 'height': 8, "
             "'batch_size': 1, 'color': 255}},"
             "'3': {'class_type': 'CLIPVisionEncode', 'inputs': {'clip_vision': ['1', 3], "
             "'image': ['2', 0], 'crop': 'center'}},"
             "'4': {'class_type': 'PreviewAny', 'inputs': {'source': ['3', 0]}},"
             "'5': {'class_type': 'PreviewAny', 'inputs': {'source': ['1', 0]}}}",
             file);
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

static void loader(void)
{
    char dir[128];
    snprintf(dir, sizeof(dir), "mkdir -p %s/models/checkpoints", flow_temp());
    CHECK(system(dir) == 0);
    make_file("both.safetensors", true);
    make_file("unet.safetensors", false);
    nino_ctx *ctx = flow_open("ref", NULL);
    flow_result r = load(ctx, "both.safetensors");
    CHECK_OK(r.st, r.err);
    CHECK(r.n_texts == 2);
    r = load(ctx, "unet.safetensors");
    CHECK(r.st != NINO_OK && r.err.msg[0]);
    nino_ctx_destroy(&ctx);
}

static nino_array *sampled(nino_stream *s, nino_model *m, nino_array *picture)
{
    const float sigmas[] = { 5, 1, 0 };
    const nino_sampler sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    nino_cond *c = nino_cond_create(1);
    nino_array *zeros = nino_array_create(NINO_F32, NINO_SHAPE(1, 4, 4, 4)), *out = NULL;
    c->entry[0].context = embeds(1, 2048, 0);
    c->entry[0].context->shape = NINO_SHAPE(1, 2, 1024);
    CHECK(!picture || nino_cond_add_picture(&c->entry[0], &(nino_cond_picture){ picture, 1, 0 }));
    const nino_guider g = { .kind = NINO_GUIDE_BASIC, .model = m, .positive = c };
    const nino_sample_params p = { .guider = &g,
                                   .noise = { .seed = 7 },
                                   .sampler = &sampler,
                                   .sigmas = sigmas,
                                   .n_sigmas = 3,
                                   .samples = zeros };
    CHECK_OK(nino_sample_latent(s, &p, &out, NULL, &err), err);
    for (int64_t i = 0; i < nino_shape_count(&out->shape); i++)
        CHECK(isfinite(nino_array_f32(out)[i]));
    nino_array_unref(&zeros);
    nino_cond_unref(&c);
    return out;
}

// Another picture is another result, the same one the same.
static void sampling(void)
{
    nino_weights *w = test_open("%s/models/checkpoints/unet.safetensors", flow_temp());
    nino_diffusion *d = NULL;
    CHECK_OK(nino_diffusion_load(w, "unet", &d, &err), err);
    CHECK_STR(d->family, "sd2_unclip");
    nino_model *m = nino_model_create(d);
    nino_backend *be = nino_ref_open(0, NULL, &err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *a = embeds(1, E, 0), *b = embeds(1, E, 3);
    nino_array *x[] = { sampled(s, m, NULL), sampled(s, m, a), sampled(s, m, a), sampled(s, m, b) };
    CHECK(memcmp(x[0]->data, x[1]->data, x[0]->bytes) != 0);
    CHECK(memcmp(x[1]->data, x[2]->data, x[0]->bytes) == 0);
    CHECK(memcmp(x[1]->data, x[3]->data, x[0]->bytes) != 0);
    for (int i = 0; i < 4; i++)
        nino_array_unref(&x[i]);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_stream_destroy(&s);
    nino_backend_drop_weights(be);
    nino_backend_close(&be);
    nino_model_unref(&m);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

int main(void)
{
    numbers();
    loader();
    sampling();
    flow_clean();
    return 0;
}
