// FLUX.2's autoencoder: a KL autoencoder whose latents are squares of 2 x 2 cells, normalised by the
// statistics of a batch norm. Against the same network without either, to which the test does both.
#include "core/model/latent_format.h"
#include "tests/random_vae.h"
#include "tests/vae.h"

enum { Z = 32, FOLDED = 4 * Z };

static const nino_tile_params whole = { .style = NINO_TILE_NEVER };
static test_device dev;
static test_dir dir;
static nino_error err;

// The convolutions between the halves as FLUX.2's file calls them.
static void to_halves(char *s, size_t size, int *rank)
{
    char name[160];
    (void) rank;
    snprintf(name, sizeof(name), "%s", s);
    if (!strncmp(s, "quant_conv", 10))
        snprintf(s, size, "encoder.%s", name);
    else if (!strncmp(s, "post_quant_conv", 15))
        snprintf(s, size, "decoder.%s", name);
}

static nino_array *statistic(int64_t n, float first, float step)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n));
    CHECK(a);
    for (int64_t i = 0; i < n; i++)
        nino_array_f32(a)[i] = first + step * (float) (i * 7 % 13);
    return a;
}

static nino_weights *folded_file(const nino_weights *w, const nino_array *mean,
                                 const nino_array *var)
{
    const nino_st_entry more[] = { { "bn.running_mean", mean }, { "bn.running_var", var } };
    return test_copy(w, &dir, "b", to_halves, more, 2);
}

// (z - mean) / sqrt(var + 1e-4) of every cell, in place
static void normalise(nino_array *z, const nino_array *mean, const nino_array *var)
{
    for (int64_t i = 0; i < nino_shape_count(&z->shape); i++)
        nino_array_f32(z)[i] =
            (float) (((double) nino_array_f32(z)[i] - (double) nino_array_f32(mean)[i % FOLDED]) /
                     sqrt((double) nino_array_f32(var)[i % FOLDED] + 1e-4));
}

static void check_both(const nino_vae *plain, const nino_vae *v, const nino_array *mean,
                       const nino_array *var)
{
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(2, 4, 6, Z));
    CHECK(z);
    for (int64_t i = 0; i < nino_shape_count(&z->shape); i++)
        nino_array_f32(z)[i] = (float) (i * 7 % 23) / 11 - 1;
    nino_array *want = test_decode(&dev, plain, z, &whole, NULL);
    nino_array *inside = nino_latent_fold(z, 2);
    normalise(inside, mean, var);
    nino_array *got = test_decode(&dev, v, inside, &whole, NULL);
    CHECK(test_nmse(got, want) < 1e-11);
    nino_array *e = test_encode(&dev, plain, want, &whole, NULL), *f = nino_latent_fold(e, 2);
    normalise(f, mean, var);
    nino_array *g = test_encode(&dev, v, want, &whole, NULL);
    CHECK(test_nmse(g, f) < 1e-11);
    nino_array *all[] = { z, want, inside, got, e, f, g };
    for (int i = 0; i < 7; i++)
        nino_array_unref(&all[i]);
}

static void refused(nino_weights *w, const char *words)
{
    nino_vae *v = NULL;
    CHECK(nino_vae_load(w, "test", &v, &err) == NINO_ERR_FORMAT && !v);
    CHECK_STR(err.kind, "model");
    CHECK(strstr(err.msg, words));
    nino_weights_unref(&w);
}

int main(void)
{
    random_vae r = { .ch = 32, .mult = { 1, 2 }, .n_levels = 2, .n_res = 1, .z = Z, .seed = 3 };
    r.quant_convs = r.with_encoder = true;
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    CHECK_OK(random_vae_save(r, dir.path, "a", &err), err);
    nino_weights *w = test_open("%s/a", dir.path);
    nino_array *mean = statistic(FOLDED, -0.4f, 0.1f), *var = statistic(FOLDED, 0.2f, 0.5f);
    nino_array *few = statistic(Z, 0, 1), *negative = statistic(FOLDED, -0.5f, 0.5f);
    nino_weights *b = folded_file(w, mean, var);
    nino_vae *plain = NULL, *v = NULL;
    CHECK_OK(nino_vae_kl_load(w, "", &plain, &err), err);
    CHECK_OK(nino_vae_load(b, "test", &v, &err), err);
    CHECK_STR(v->family, "flux2");
    CHECK(v->channels == FOLDED && v->factor == 2 * plain->factor && plain->channels == Z);
    CHECK(!v->takes_unfolded); // those are not normalised
    check_both(plain, v, mean, var);
    refused(folded_file(w, few, var), "bn.running_mean has 32 values where 128");
    refused(folded_file(w, mean, negative), "bn.running_var");
    nino_vae_unref(&plain);
    nino_vae_unref(&v);
    nino_array *all[] = { mean, var, few, negative };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
    nino_weights_unref(&w);
    nino_weights_unref(&b);
    test_device_close(&dev);
    test_dir_remove(&dir, (const char *const[]){ "a", "b", NULL });
    return 0;
}
