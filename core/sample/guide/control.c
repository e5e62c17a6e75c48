// Control networks of one run: which entry has which, their hints at the sizes that entries see, and
// what they add to an evaluation.
// Semantics: ComfyUI 0.3.64 comfy/controlnet.py (ControlBase, ControlNet.get_control, T2IAdapter),
// comfy/samplers.py (apply_empty_x_to_equal_area).
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

typedef struct sized_hint { // as the network takes it, for a part of the latent of this size
    struct sized_hint *next;
    int64_t h, w;
    nino_array *hint; // f32 [n,H,W,3], or latents [n,h,w,C]
} sized_hint;

struct nino_guide_control {
    nino_guide_control *next;
    const nino_control_use *use;
    nino_control_net *net; // bound to the model
    double first, last;    // applies while last <= sigma <= first
    sized_hint *sized;
};

static nino_guide_control *control_of(const nino_guide_run *r, const nino_control_use *u)
{
    nino_guide_control *c = r->controls;
    while (c && c->use != u)
        c = c->next;
    return c;
}

static int chain_length(const nino_control_use *u)
{
    int n = 0;
    for (; u; u = u->previous)
        n++;
    return n;
}

// ---- hints -----------------------------------------------------------------------------------
// Three colours of four.
nino_array *nino_guide_colours(const nino_array *a)
{
    const int64_t c = a->shape.dim[3];
    nino_shape shape = a->shape;
    if (c == 3)
        return nino_array_ref((nino_array *) a);
    shape.dim[3] = 3;
    nino_array *out = nino_array_create(NINO_F32, shape);
    for (int64_t i = 0; out && i < nino_shape_count(&shape) / 3; i++)
        for (int k = 0; k < 3; k++)
            nino_array_f32(out)[i * 3 + k] = nino_array_f32(a)[i * c + (k < c ? k : 0)];
    return out;
}

// A latent with the mask, or ones, as one channel more.
nino_array *nino_guide_with_mask(const nino_array *latent, const nino_array *mask, nino_error *err)
{
    const int64_t *d = latent->shape.dim, c = d[3];
    nino_array *out = nino_array_create(NINO_F32, NINO_SHAPE(d[0], d[1], d[2], c + 1));
    const int64_t cells = d[1] * d[2], masks = mask ? mask->shape.dim[0] : 1;
    for (int64_t i = 0; out && i < d[0] * cells; i++) {
        float *to = nino_array_f32(out) + i * (c + 1);
        memcpy(to, nino_array_f32(latent) + i * c, (size_t) c * sizeof(*to));
        to[c] = mask ? nino_array_f32(mask)[i / cells % masks * cells + i % cells] : 1;
    }
    if (!out)
        nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a control network's hint");
    return out;
}

nino_status nino_guide_encode_hint(nino_guide_run *r, const char *name, const nino_vae *vae,
                                   const nino_latent_format *format, const nino_array *pixels,
                                   nino_array **out, nino_error *err)
{
    const nino_precision now = nino_stream_asked_precision(r->s);
    if (!r->encode)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", name, "nothing encodes its hint");
    nino_stream_set_precision(r->s, r->asked); // not the model's
    const nino_status st = r->encode->fn(r->encode->priv, vae, pixels, out, err);
    nino_stream_set_precision(r->s, now);
    if (st)
        return st;
    const int64_t channels = (*out)->shape.dim[(*out)->shape.rank - 1];
    if (channels == format->channels)
        nino_latent_process_in(format, nino_array_f32(*out),
                               nino_shape_count(&(*out)->shape) / channels, 1);
    return NINO_OK;
}

// Pixels become what the network takes: a latent in its model's units.
static nino_status control_encode(nino_guide_run *r, const nino_guide_control *c,
                                  const nino_array *pixels, nino_array **out, nino_error *err)
{
    const nino_array *mask = c->use->mask;
    nino_array *latent = NULL, *scaled = NULL, flat;
    nino_status st =
        nino_guide_encode_hint(r, c->net->name, c->use->vae, c->net->format, pixels, &latent, err);
    if (!st && latent->shape.rank == 5) { // a clip, where what is made is a picture
        const int64_t *d = latent->shape.dim;
        if (d[1] == 1)
            latent->shape = NINO_SHAPE(d[0], d[2], d[3], d[4]);
        else
            st = nino_fail_kind(err, NINO_ERR_ARG, "shape", c->net->name,
                                "the VAE %s makes one clip of its pictures: give it one picture",
                                c->use->vae->name);
    }
    if (st) {
        nino_array_unref(&latent);
        return st;
    }
    if (!c->net->has_mask || latent->shape.rank != 4) {
        *out = latent;
        return NINO_OK;
    }
    if (mask) {
        flat = *mask;
        flat.shape = NINO_SHAPE(mask->shape.dim[0], mask->shape.dim[1], mask->shape.dim[2], 1);
        scaled = nino_planes_scale(&flat, latent->shape.dim[1], latent->shape.dim[2],
                                   NINO_FILTER_NEAREST, true, err);
        st = scaled ? NINO_OK : NINO_ERR_NOMEM;
    }
    if (!st && !(*out = nino_guide_with_mask(latent, scaled, err)))
        st = NINO_ERR_NOMEM;
    nino_array_unref(&scaled);
    nino_array_unref(&latent);
    return st;
}

static int64_t pixels_of(const nino_guide_control *c, int64_t cells)
{
    const int64_t factor = c->net->factor ? c->net->factor : c->use->vae->factor;
    return (cells * factor + c->net->multiple - 1) / c->net->multiple * c->net->multiple;
}

static const nino_array *sized_of(const nino_guide_control *c, int64_t h, int64_t w)
{
    const sized_hint *s = c->sized;
    while (s && (s->h != h || s->w != w))
        s = s->next;
    return s ? s->hint : NULL;
}

static nino_status control_fit(nino_guide_run *r, nino_guide_control *c, int64_t h, int64_t w,
                               nino_error *err)
{
    nino_status st = NINO_OK;
    if (sized_of(c, h, w))
        return NINO_OK;
    sized_hint *s = calloc(1, sizeof(*s));
    nino_array *colours = nino_guide_colours(c->use->hint), *scaled = NULL;
    if (!s || !colours) {
        nino_array_unref(&colours);
        free(s);
        return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a control network's hint");
    }
    *s = (sized_hint){ .next = c->sized, .h = h, .w = w };
    scaled = nino_planes_scale(colours, pixels_of(c, h), pixels_of(c, w), NINO_FILTER_NEAREST, true,
                               err);
    if (!scaled)
        st = err && err->code ? err->code : NINO_ERR_NOMEM;
    else if (c->net->wants_vae)
        st = control_encode(r, c, scaled, &s->hint, err);
    else
        s->hint = nino_array_ref(scaled);
    nino_array_unref(&colours);
    nino_array_unref(&scaled);
    if (st)
        free(s);
    else
        c->sized = s;
    return st;
}

// ---- all networks of a run -------------------------------------------------------------------
static nino_status check_use(const nino_control_use *u, nino_error *err)
{
    const nino_control_net *net = u->net;
    if (u->hint->shape.rank != 4)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", net->name,
                              "its picture is not a picture");
    if (net->wants_vae && !u->vae)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", net->name,
                              "%s works on latents: connect a VAE to the node that applies it",
                              net->detail);
    if (net->wants_vae && u->vae->channels != net->format->channels)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", net->name,
                              "%s works on latents of %d channels, the VAE %s gives %d",
                              net->detail, net->format->channels, u->vae->name, u->vae->channels);
    if (net->n_types && u->type >= net->n_types)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", net->name,
                              "it knows %d types, not \"%s\"; that one is of the ProMax model",
                              net->n_types, nino_control_types[u->type + 1]);
    return NINO_OK;
}

static nino_status control_add(nino_guide_run *r, const nino_control_use *u, nino_error *err)
{
    const nino_sampling *sampling = r->sampling;
    nino_status st = check_use(u, err);
    if (st)
        return st;
    nino_guide_control *c = calloc(1, sizeof(*c));
    if (!c)
        return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a control network");
    c->use = u;
    c->first = nino_sampling_percent_to_sigma(sampling, u->start);
    c->last = nino_sampling_percent_to_sigma(sampling, u->end);
    if ((st = nino_control_bind(u->net, r->guider->model, &c->net, err))) {
        free(c);
        return st;
    }
    c->next = r->controls;
    r->controls = c;
    return NINO_OK;
}

static nino_status add_chain(nino_guide_run *r, const nino_cond_use *u, nino_error *err)
{
    nino_status st = NINO_OK;
    const int64_t *size = u->size + r->n_axes - 2;
    if (u->control && r->n_axes != 2 && r->axis[0] != 1) // a picture may be a clip of one frame
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", u->control->net->name,
                              "control networks for video models are not known");
    for (const nino_control_use *c = u->control; c && !st; c = c->previous) {
        if (!control_of(r, c))
            st = control_add(r, c, err);
        if (!st)
            st = control_fit(r, control_of(r, c), size[0], size[1], err);
    }
    return st;
}

// What is meant for all goes from whole positive entries to whole ones of the other list, in turn,
// unless one of these has a control of its own.
static void give_to_all(nino_guide_run *r, int kind)
{
    const nino_cond_list *from = &r->list[NINO_COND_POSITIVE];
    nino_cond_list *to = &r->list[kind];
    int whole = 0, k = 0;
    for (int i = 0; i < to->n; i++) {
        if (!to->use[i].has_area && to->use[i].control)
            return;
        whole += !to->use[i].has_area;
    }
    for (int i = 0; i < from->n && whole; i++) {
        const nino_cond_use *u = &from->use[i];
        if (u->has_area || !u->control || !u->entry->control_for_all)
            continue;
        int at = k++ % whole;
        for (int j = 0; j < to->n; j++)
            if (!to->use[j].has_area && !at--)
                to->use[j].control = u->control;
    }
}

nino_status nino_guide_controls(nino_guide_run *r, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int k = 0; k < NINO_COND_KINDS; k++)
        if (k != NINO_COND_POSITIVE)
            give_to_all(r, k);
    for (int k = 0; k < NINO_COND_KINDS; k++)
        for (int i = 0; i < r->list[k].n && !st; i++)
            st = add_chain(r, &r->list[k].use[i], err);
    return st;
}

void nino_guide_release_controls(nino_guide_run *r)
{
    while (r->controls) {
        nino_guide_control *c = r->controls;
        r->controls = c->next;
        while (c->sized) {
            sized_hint *s = c->sized;
            c->sized = s->next;
            nino_array_unref(&s->hint);
            free(s);
        }
        nino_control_unref(&c->net);
        free(c);
    }
}

// ---- one batch -------------------------------------------------------------------------------
// The rows of n entries, each going round over the hints.
static nino_tensor *upload_hint(const nino_guide_run *r, nino_stream *s, const nino_array *hint,
                                int n)
{
    nino_shape shape = hint->shape;
    const int64_t had = shape.dim[0];
    const size_t row = hint->bytes / (size_t) had;
    shape.dim[0] = n * r->batch;
    if (nino_stream_is_plan(s))
        return nino_zeros(s, shape, nino_stream_act_type(s));
    nino_array *a = nino_array_create(NINO_F32, shape);
    if (!a)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "", "no memory for a control network's hint");
    for (int64_t i = 0; i < shape.dim[0]; i++)
        memcpy((char *) a->data + (size_t) i * row,
               (const char *) hint->data + (size_t) (i % r->batch % had) * row, row);
    nino_tensor *t = nino_upload(s, a, nino_stream_act_type(s));
    nino_array_unref(&a);
    return t;
}

nino_control_hint *nino_guide_hints(const nino_guide_run *r, nino_stream *s, const nino_cond_use *u,
                                    int n)
{
    int k = chain_length(u->control);
    const int64_t *size = u->size + r->n_axes - 2;
    nino_control_hint *hints = k ? calloc((size_t) k, sizeof(*hints)) : NULL;
    if (k && !hints)
        return nino_stream_fail(s, NINO_ERR_NOMEM, "", "no memory for a control network's hint");
    for (const nino_control_use *c = u->control; c; c = c->previous) {
        const nino_guide_control *g = control_of(r, c);
        nino_tensor *t = upload_hint(r, s, sized_of(g, size[0], size[1]), n);
        g->net->prepare(s, g->net, t, c->type, &hints[--k]);
    }
    return hints;
}

void nino_guide_release_hints(const nino_cond_use *u, nino_control_hint **hints)
{
    for (int i = 0; *hints && i < chain_length(u->control); i++)
        nino_control_hint_release(&(*hints)[i]);
    free(*hints);
    *hints = NULL;
}

// The first of the chain first. at: how many are before u.
static void run_chain(const nino_guide_run *r, nino_stream *s, const nino_control_use *u, int at,
                      const nino_control_hint *hints, const nino_forward *in, float sigma,
                      nino_residuals *out)
{
    if (u->previous)
        run_chain(r, s, u->previous, at - 1, hints, in, sigma, out);
    const nino_guide_control *c = control_of(r, u);
    const bool applies = (double) sigma <= c->first && (double) sigma >= c->last;
    if (applies || nino_stream_is_plan(s))
        c->net->forward(s, c->net, in, &hints[at], (float) u->strength, out);
}

void nino_guide_residuals(const nino_guide_run *r, nino_stream *s, const nino_cond_use *u,
                          const nino_control_hint *hints, const nino_forward *in,
                          nino_tensor *context, float sigma, nino_residuals *out)
{
    nino_forward f = *in;
    f.residuals = NULL;
    f.text = NULL; // what is kept is the other network's
    f.times = NULL;
    f.pass = NULL; // what patches the model is not for these
    f.skip = (nino_skip){ .doubles = 0 };
    f.context = context ? context : f.context;
    run_chain(r, s, u->control, chain_length(u->control) - 1, hints, &f, sigma, out);
}
