// What tests of diffusion networks share: loading, one evaluation from host arrays.
#pragma once
#include "core/model/diffusion/diffusion.h"
#include "tests/vae.h"

static inline nino_diffusion *test_diffusion(nino_weights *w, const char *family)
{
    nino_error err = { 0 };
    nino_diffusion *d = NULL;
    CHECK_OK(nino_diffusion_load(w, "test", &d, &err), err);
    CHECK_STR(d->family, family);
    CHECK(d->sampling && d->format && d->weight_bytes > 0);
    return d;
}

static inline nino_array *test_values(nino_shape shape, uint64_t seed)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a != NULL);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = 1.7f * random_vae_value(&seed);
    return a;
}

typedef struct test_inputs { // host arrays; the optional ones may be NULL
    const nino_array *x, *context, *y, *concat, *vision;
    const nino_array *ref[4];
    int n_refs;
    const nino_array *control[4];
    float strength[4];
    int n_controls;
    const float *timestep;
    int64_t frames; // with a time step each
    float guidance;
} test_inputs;

static inline nino_tensor *test_up(nino_stream *s, const nino_array *a)
{
    return a ? nino_upload(s, a, nino_stream_act_type(s)) : NULL;
}

// NULL when the network refused; then the stream's error is in *err and forgotten.
static inline nino_array *test_forward_or(nino_stream *s, const nino_diffusion *d,
                                          const test_inputs *in, nino_error *err)
{
    nino_tensor *refs[4], *control[4];
    nino_forward f = { .x = test_up(s, in->x),
                       .timestep = in->timestep,
                       .context = test_up(s, in->context),
                       .y = test_up(s, in->y),
                       .concat = test_up(s, in->concat),
                       .vision = test_up(s, in->vision),
                       .frames = in->frames,
                       .control = control,
                       .control_strength = in->strength,
                       .n_controls = in->n_controls,
                       .refs = refs,
                       .n_refs = in->n_refs,
                       .guidance = in->guidance };
    for (int i = 0; i < in->n_refs; i++)
        refs[i] = test_up(s, in->ref[i]);
    for (int i = 0; i < in->n_controls; i++)
        control[i] = test_up(s, in->control[i]);
    nino_array *out = nino_download(s, d->forward(s, d, &f), NINO_F32);
    nino_stream_status(s, err);
    nino_stream_clear_error(s);
    return out;
}

static inline nino_array *test_forward(nino_stream *s, const nino_diffusion *d,
                                       const test_inputs *in)
{
    nino_error err = { 0 };
    nino_array *out = test_forward_or(s, d, in, &err);
    CHECK_OK(out ? NINO_OK : err.code, err);
    CHECK(out != NULL);
    return out;
}
