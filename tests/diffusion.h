// What tests of diffusion networks share: files, loading, one evaluation from host arrays, and what
// is refused.
#pragma once
#include "core/model/diffusion/diffusion.h"
#include "tests/random_net.h"
#include "tests/vae.h"

// A file of random values for the list, which it takes.
static inline nino_weights *test_net_file(const test_dir *dir, net_list l, const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", dir->path, file);
    net_save(&l, path, NINO_F32, NET_RANDOM);
    return test_open("%s", path);
}

// The list without, or with another first size of, the tensor called name.
static inline net_list test_net_damaged(net_list l, const char *name, int64_t rows)
{
    int n = 0;
    for (int i = 0; i < l.n; i++) {
        const bool is_it = !strcmp(l.t[i].name, name);
        if (is_it && rows)
            l.t[i].dim[0] = rows;
        if (!is_it || rows)
            l.t[n++] = l.t[i];
    }
    CHECK(!rows == (n < l.n));
    l.n = n;
    return l;
}

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

// Number i of a batch; NULL of NULL.
static inline nino_array *test_item(const nino_array *a, int64_t i)
{
    if (!a)
        return NULL;
    nino_shape shape = a->shape;
    shape.dim[0] = 1;
    nino_array *out = nino_array_create(NINO_F32, shape);
    CHECK(out != NULL);
    memcpy(out->data, (const char *) a->data + (size_t) i * out->bytes, out->bytes);
    return out;
}

typedef struct test_inputs { // host arrays; the optional ones may be NULL
    const nino_array *x, *context, *context_mask, *y, *concat, *vision;
    const nino_array *ref[4];
    int n_refs;
    nino_ref_method ref_method;
    const nino_array *control[4];
    float strength[4];
    int n_controls;
    const float *timestep;
    int64_t frames; // with a time step each
    float guidance;
    nino_skip skip;
    const nino_pass *pass;
    nino_kept *text; // that runs keep
    nino_run_times *times;
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
                       .context_mask =
                           in->context_mask ? nino_upload(s, in->context_mask, NINO_F32) : NULL,
                       .y = test_up(s, in->y),
                       .concat = test_up(s, in->concat),
                       .vision = test_up(s, in->vision),
                       .frames = in->frames,
                       .control = control,
                       .control_strength = in->strength,
                       .n_controls = in->n_controls,
                       .refs = refs,
                       .n_refs = in->n_refs,
                       .ref_method = in->ref_method,
                       .guidance = in->guidance,
                       .skip = in->skip,
                       .pass = in->pass,
                       .text = in->text,
                       .times = in->times };
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

// A file that is no network, with an error that has these words. Takes w.
static inline void test_refused_net(nino_weights *w, nino_status want, const char *words)
{
    nino_diffusion *d = NULL;
    nino_error err = { 0 };
    const nino_status st = nino_diffusion_load(w, "test", &d, &err);
    if (st != want || !(strstr(err.msg, words) || strstr(err.where, words)))
        fprintf(stderr, "%s: %s (%s)\n", err.where, err.msg, nino_status_name(st));
    CHECK(st == want && !d);
    CHECK_STR(err.kind, "model");
    CHECK(strstr(err.msg, words) || strstr(err.where, words));
    CHECK(!strchr(err.msg, '\n'));
    nino_weights_unref(&w);
}

// Inputs that do not fit the network.
static inline void test_refused_inputs(nino_stream *s, const nino_diffusion *d,
                                       const test_inputs *in, const char *words)
{
    nino_error err = { 0 };
    nino_array *out = test_forward_or(s, d, in, &err);
    if (!strstr(err.msg, words))
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    CHECK(!out && err.code == NINO_ERR_ARG && strstr(err.msg, words));
    CHECK_STR(err.where, "test");
}
