// What is made to fit a model before it is sampled: an empty latent of another kind, which takes the
// model's channels and cells, and a text with fewer rows than it was trained with.
#include "tests/random_dit.h"

#include "core/sample/guide/guide.h"
#include "tests/diffusion.h"

static const net_flux2 tiny = { 32, 32, 1, 1, 128, 8, 16, false };
static nino_error err;
static test_device dev;

static nino_cond *cond_of(const nino_array *rows, int64_t zeros)
{
    const int64_t n = rows->shape.dim[1], c = rows->shape.dim[2];
    nino_cond *cond = nino_cond_create(1);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, zeros + n, c));
    CHECK(cond && a);
    memcpy(nino_array_f32(a) + zeros * c, rows->data, rows->bytes);
    nino_cond_set_array(&cond->entry->context, a);
    nino_array_unref(&a);
    return cond;
}

static nino_status sample(nino_model *m, nino_cond *text, const nino_array *latent, int factor,
                          nino_array **out)
{
    static const float sigmas[] = { 1, 0 };
    nino_guider g = { .refs = 1, .kind = NINO_GUIDE_CFG, .model = m, .positive = text, .cfg = 1 };
    const nino_sampler sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    const nino_sample_params p = { .guider = &g,
                                   .noise = { .seed = 3 },
                                   .sampler = &sampler,
                                   .sigmas = sigmas,
                                   .n_sigmas = 2,
                                   .samples = latent,
                                   .samples_factor = factor };
    g.negative = text;
    return nino_sample_latent(dev.s, &p, out, NULL, &err);
}

static nino_array *sampled(nino_model *m, nino_cond *text, nino_shape shape, int factor)
{
    nino_array *latent = nino_array_create(NINO_F32, shape), *out = NULL;
    CHECK(latent);
    CHECK_OK(sample(m, text, latent, factor, &out), err);
    nino_array_unref(&latent);
    return out;
}

static void has_cells(nino_array *a, int64_t h, int64_t w)
{
    CHECK(a->shape.dim[1] == h && a->shape.dim[2] == w && a->shape.dim[3] == 128);
    nino_array_unref(&a);
}

int main(void)
{
    CHECK(test_device_open(&dev, "ref", 0));
    const test_dir dir = test_dir_create();
    nino_weights *w = test_net_file(&dir, net_list_flux2(&tiny, NULL), "net");
    nino_diffusion *d = test_diffusion(w, "flux2_klein");
    nino_model *m = nino_model_create(d);
    nino_array *rows = test_values(NINO_SHAPE(1, 3, 8), 5);
    nino_cond *few = cond_of(rows, 0), *all = cond_of(rows, 509), *more = cond_of(rows, 510);

    // zeros go in front of a short text, and no text is cut
    nino_array *a = sampled(m, few, NINO_SHAPE(1, 2, 3, 128), 16);
    nino_array *b = sampled(m, all, NINO_SHAPE(1, 2, 3, 128), 0);
    nino_array *c = sampled(m, more, NINO_SHAPE(1, 2, 3, 128), 16);
    CHECK(!memcmp(a->data, b->data, a->bytes) && memcmp(a->data, c->data, a->bytes) != 0);
    nino_array_unref(&b);
    nino_array_unref(&c);

    // cells of 8 pixels become cells of 16, and the noise is of the new size
    b = sampled(m, few, NINO_SHAPE(1, 4, 6, 16), 8);
    CHECK(nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes));
    nino_array_unref(&b);
    has_cells(sampled(m, few, NINO_SHAPE(1, 4, 6, 4), 0), 4, 6);   // not known: as they are
    has_cells(sampled(m, few, NINO_SHAPE(1, 1, 5, 128), 8), 1, 2); // 2.5, to even; never none
    b = nino_array_create(NINO_F32, NINO_SHAPE(1, 4, 6, 128));
    c = NULL;
    nino_array_f32(b)[0] = 1; // not empty: nothing is resized
    CHECK_OK(sample(m, few, b, 8, &c), err);
    has_cells(c, 4, 6);
    b->shape = NINO_SHAPE(1, 4, 48, 16);
    c = NULL;
    CHECK(sample(m, few, b, 8, &c) == NINO_ERR_ARG && !c && strstr(err.msg, "16 channels"));

    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&rows);
    nino_cond_unref(&few);
    nino_cond_unref(&all);
    nino_cond_unref(&more);
    nino_model_unref(&m);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    test_device_close(&dev);
    test_dir_remove(&dir, (const char *const[]){ "net", NULL });
    return 0;
}
