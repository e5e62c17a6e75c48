// A diffusion network whose answer can be computed by hand: every cell of the output depends on the
// same cell of the input and on everything else that the network is told. It remembers
// how it was called.
#pragma once
#include "core/model/diffusion/diffusion.h"
#include "core/op/backend.h"
#include "tests/test.h"

#include <math.h>

typedef struct fake_call {
    nino_shape x, context;
    float timestep, guidance;
    int n_refs;
    nino_skip skip;
    bool is_perturbed;
    uint32_t active;
    int n_negative; // rows
} fake_call;

typedef struct fake_net {
    nino_diffusion d;
    nino_conv mix; // identity: arithmetic for plan to count
    fake_call call[512];
    int n;
    volatile int *cancel; // set when call number `cancel_at` begins
    int cancel_at;
    bool gives_nan;
    float look; // of cells that are looked at, where that is asked; the others have 0.5
    const nino_stream *only; // calls on other streams are not remembered; NULL: all are
} fake_net;

// What the network answers for one value: x and concat of the cell, means of the rest.
typedef struct fake_in {
    double x, concat, context, y, refs, timestep, guidance; // guidance NaN: none
    double worse;                                           // perturbed
    int channel;
    nino_skip skip;
} fake_in;

static inline double fake_answer(const fake_in *i)
{
    return 0.3 * i->x + 0.2 * i->context * i->x + 0.07 * i->concat + 0.4 * i->context + 0.3 * i->y +
           0.2 * i->refs + 1e-4 * i->timestep + (isnan(i->guidance) ? 0 : 0.01 * i->guidance) +
           0.02 * i->channel + i->worse * i->x + 0.05 * (double) i->skip.doubles +
           0.03 * (double) i->skip.singles;
}

// Channel k of concat counts k + 1 times.
static inline double fake_concat(const float *v, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += (double) (k + 1) * (double) v[k];
    return sum;
}

static inline double fake_mean(const nino_array *a, int64_t row)
{
    double sum = 0;
    if (!a)
        return 0;
    const int64_t n = nino_shape_count(&a->shape) / a->shape.dim[0];
    for (int64_t i = 0; i < n; i++)
        sum += (double) nino_array_f32(a)[row % a->shape.dim[0] * n + i];
    return sum / (double) n;
}

static inline nino_array *fake_take(nino_stream *s, nino_tensor *t)
{
    return t ? nino_download(s, t, NINO_F32) : NULL;
}

// The share that patches take from it.
static inline double fake_worse(const nino_forward *f)
{
    return 0.11 * (f->pass && f->pass->is_perturbed);
}

// A map of half the latent's sides: every third cell is looked at.
static inline void fake_look(const fake_net *net, const nino_forward *f)
{
    nino_attention_map *m = f->pass ? f->pass->map : NULL;
    if (!m)
        return;
    m->rows = 0;
    for (int64_t i = 0; i < f->pass->n_rows; i++)
        m->rows += f->pass->negative[i];
    m->n = nino_dim(f->x, 1) / 2 * (nino_dim(f->x, 2) / 2);
    free(m->weight);
    m->weight = calloc((size_t) (m->rows * m->n) + 1, sizeof(*m->weight));
    CHECK(m->weight);
    for (int64_t i = 0; i < m->rows * m->n; i++)
        m->weight[i] = i % 3 ? 0.5f : net->look;
}

static inline nino_tensor *fake_forward(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    fake_net *net = d->net;
    CHECK(net->n < 512);
    if (net->cancel && net->n == net->cancel_at)
        *net->cancel = 1;
    if (!net->only || net->only == s)
        net->call[net->n++] = (fake_call){ .x = *nino_shape_of(f->x),
                                           .context = *nino_shape_of(f->context),
                                           .timestep = f->timestep[0],
                                           .guidance = f->guidance,
                                           .n_refs = f->n_refs,
                                           .skip = f->skip,
                                           .is_perturbed = f->pass && f->pass->is_perturbed,
                                           .active = f->pass ? f->pass->active : 0 };
    for (int64_t i = 0; f->pass && i < f->pass->n_rows && net->n; i++)
        net->call[net->n - 1].n_negative += f->pass->negative[i];
    fake_look(net, f);
    const double worse = fake_worse(f);
    if (f->residuals) { // added to the input, so that every cell shows it
        f->x = nino_residual_take(s, f->x, &f->residuals->middle, d->name);
        nino_residuals_release(f->residuals);
    }
    nino_array *x = fake_take(s, nino_conv2d(s, f->x, &net->mix));
    nino_array *context = fake_take(s, f->context), *y = fake_take(s, f->y);
    nino_array *concat = fake_take(s, f->concat), *ref[8] = { NULL };
    for (int i = 0; i < f->n_refs; i++)
        ref[i] = fake_take(s, f->refs[i]);
    nino_tensor *out = NULL;
    if (nino_stream_status(s, NULL))
        goto end;
    const int64_t n = x->shape.dim[0], c = x->shape.dim[x->shape.rank - 1];
    const int64_t cells = nino_shape_count(&x->shape) / n / c;
    for (int64_t b = 0; b < n; b++) {
        fake_in in = { .context = fake_mean(context, b),
                       .y = fake_mean(y, b),
                       .timestep = (double) f->timestep[b],
                       .guidance = (double) f->guidance,
                       .worse = worse,
                       .skip = f->skip };
        for (int i = 0; i < f->n_refs; i++)
            in.refs += (i + 1) * fake_mean(ref[i], b);
        for (int64_t i = 0; i < cells; i++) {
            const int64_t cell = b * cells + i;
            const int64_t ce = concat ? concat->shape.dim[3] : 0;
            in.concat = concat ? fake_concat(nino_array_f32(concat) + cell * ce, ce) : 0;
            for (int64_t k = 0; k < c; k++) {
                float *v = nino_array_f32(x) + cell * c + k;
                in.x = (double) *v;
                in.channel = (int) k;
                *v = net->gives_nan ? NAN : (float) fake_answer(&in);
            }
        }
    }
    out = nino_upload(s, x, nino_stream_act_type(s));
end:
    nino_array_unref(&x);
    nino_array_unref(&context);
    nino_array_unref(&y);
    nino_array_unref(&concat);
    for (int i = 0; i < f->n_refs; i++)
        nino_array_unref(&ref[i]);
    return out;
}

// A network on the stack, which never goes by itself. extra: channels beside the latent.
static inline void fake_init(fake_net *net, nino_diffusion_kind kind, const char *format, int extra,
                             nino_sampling *sampling)
{
    const nino_latent_format *f = nino_latent_format_find(format);
    CHECK(f && sampling);
    *net = (fake_net){ .d = { .kind = kind,
                              .format = f,
                              .in_channels = f->channels + extra,
                              .context_dim = 3,
                              .sampling = sampling,
                              .forward = fake_forward,
                              .net = net,
                              .refs = 1000 } };
    snprintf(net->d.family, sizeof(net->d.family), "fake");
    snprintf(net->d.name, sizeof(net->d.name), "fake.safetensors");
    nino_array *w = nino_array_create(NINO_F32, NINO_SHAPE(f->channels, f->channels, 1, 1));
    CHECK(w);
    for (int i = 0; i < f->channels; i++)
        nino_array_f32(w)[i * f->channels + i] = 1;
    net->mix.w = nino_weight_from_array(w, NINO_W_MATRIX);
    CHECK(net->mix.w);
    nino_array_unref(&w);
}

static inline void fake_release(fake_net *net)
{
    nino_conv_release(&net->mix);
    nino_sampling_unref(&net->d.sampling);
}
