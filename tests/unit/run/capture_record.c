// What a captured record keeps of values that are no plain tensors: conditioning, noise levels, masks of
// latents; the shapes and the folder it goes to.
#include "core/node/node_impl.h"
#include "core/run/capture_priv.h"
#include "tests/test.h"

static nino_array *filled(nino_shape shape, float v)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = v + (float) i;
    return a;
}

static const nino_array *find(const capture_tensors *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (!strcmp(t->name[i], name))
            return t->a[i];
    return NULL;
}

static nino_value *make_cond(void)
{
    nino_value *v = nino_value_create(NINO_PORT_CONDITIONING);
    v->u.cond = nino_cond_create(2);
    v->u.cond->entry[0].context = filled(NINO_SHAPE(1, 3, 4), 1);
    v->u.cond->entry[0].pooled = filled(NINO_SHAPE(1, 5), 100);
    v->u.cond->entry[1].context = filled(NINO_SHAPE(1, 2, 4), 50);
    return v;
}

static nino_value *make_latent(void)
{
    nino_value *v = nino_value_create(NINO_PORT_LATENT);
    v->u.latent.samples = filled(NINO_SHAPE(1, 5, 2, 4, 16), 0); // 5 latent frames of 4 x 2 cells
    v->u.latent.noise_mask = filled(NINO_SHAPE(1, 16, 32), 0);
    return v;
}

static nino_value *make_sigmas(void)
{
    nino_value *v = nino_value_create(NINO_PORT_SIGMAS);
    v->u.sigmas.n = 3;
    v->u.sigmas.v = calloc(3, sizeof(*v->u.sigmas.v));
    v->u.sigmas.v[0] = 14.5;
    return v;
}

int main(void)
{
    capture_record r = { .n = 3,
                         .key = { "positive", "latent_image", "sigmas" },
                         .value = { make_cond(), make_latent(), make_sigmas() } };
    capture_tensors *t = nino_capture_collect(&r);
    CHECK(t && t->n == 6);
    const nino_array *a = find(t, "positive.0.context");
    CHECK(a && a->shape.rank == 3 && a->shape.dim[1] == 3 && nino_array_f32(a)[2] >= 3);
    a = find(t, "positive.0.pooled");
    CHECK(a && nino_array_f32(a)[0] >= 100 && nino_array_f32(a)[0] <= 100);
    CHECK(find(t, "positive.1.context") && !find(t, "positive.1.pooled"));
    a = find(t, "latent_image"); // channels first, as files have it
    CHECK(a && a->shape.dim[1] == 16 && a->shape.dim[2] == 5);
    CHECK(find(t, "latent_image.noise_mask"));
    a = find(t, "sigmas");
    CHECK(a && a->shape.dim[0] == 3 && nino_array_f32(a)[0] >= 14.5f);
    nino_capture_tensors_destroy(&t);
    CHECK(!t);

    char text[160];
    nino_capture_shapes(&r, text, sizeof(text));
    CHECK_STR(text, "latent_image 1x5x2x4x16");
    const nino_port ports[] = { NINO_PORT(positive, CONDITIONING),
                                NINO_PORT(latent_image, LATENT),
                                NINO_PORT(sigmas, SIGMAS),
                                { 0 } };
    nino_capture_folder(r.value, ports, text, sizeof(text));
    CHECK_STR(text, "latent_32x16_17frames");
    nino_capture_function("ROCMOptimizedVAEDecodeTiled", text, sizeof(text));
    CHECK_STR(text, "vae_decode");
    nino_capture_function("EmptyLatentImage", text, sizeof(text));
    CHECK_STR(text, "empty_latent_image");
    for (int i = 0; i < r.n; i++)
        nino_value_unref(&r.value[i]);
    return 0;
}
