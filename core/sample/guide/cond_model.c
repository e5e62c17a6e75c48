// What one conditioning entry tells a network: its text, the vector y, distilled guidance, the
// channels that inpaint and edit models get beside the latent, reference latents.
// Semantics: ComfyUI 0.3.64 comfy/model_base.py (BaseModel.concat_cond, SDXL, SDXLRefiner, IP2P,
// Flux). Which of them applies follows from the network's sizes.
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/detect.h"

#define PIXELS INT64_C(8)           // a latent cell's side, as sizes in SDXL's y count it
#define SIZE_DIM INT64_C(256)       // numbers that one size becomes
#define FILL_MASK (PIXELS * PIXELS) // channels of Flux Fill's mask: every pixel of a cell

static nino_status cond_model_no_memory(nino_error *err)
{
    return nino_fail(err, NINO_ERR_NOMEM, "", "no memory for conditioning");
}

// SD3's encodings have zeros in place of encoders that are not there, as wide as those it was
// released with; a smaller network takes what is between them. Whether the columns are dim, or more
// of which only zeros need to go; *first of them is the one that becomes the first.
static bool fit_columns(const nino_guide_run *r, const nino_array *a, int64_t dim, int64_t *first)
{
    const int64_t n = a->shape.dim[a->shape.rank - 1], rows = nino_shape_count(&a->shape) / n;
    const float *v = nino_array_f32(a);
    int64_t from = n, to = 0; // of what is not zero
    *first = 0;
    if (n <= dim || r->net->kind != NINO_DIFFUSION_SD3)
        return n == dim;
    for (int64_t i = 0; i < rows; i++, v += n)
        for (int64_t k = 0; k < n; k++)
            if (v[k] != 0) {
                from = k < from ? k : from;
                to = k >= to ? k + 1 : to;
            }
    *first = to > dim ? to - dim : 0;
    return *first <= from;
}

static nino_array *columns_of(const nino_array *a, int64_t first, int64_t dim)
{
    nino_shape shape = a->shape;
    const int64_t n = shape.dim[shape.rank - 1], rows = nino_shape_count(&shape) / n;
    shape.dim[shape.rank - 1] = dim;
    nino_array *out = nino_array_create(NINO_F32, shape);
    for (int64_t i = 0; out && i < rows; i++)
        memcpy(nino_array_f32(out) + i * dim, nino_array_f32(a) + i * n + first,
               (size_t) dim * sizeof(float));
    return out;
}

// ---- y ---------------------------------------------------------------------------------------

static float *embed_size(float *to, double v) { return nino_guide_embed(to, v, (int) SIZE_DIM); }

static void embed_sdxl(const nino_guide_run *r, const nino_cond_entry *e, int kind, bool is_refiner,
                       float *to)
{
    const int64_t rows = r->axis[r->n_axes - 2], columns = r->axis[r->n_axes - 1];
    const double width = e->has_size ? e->width : (double) (columns * PIXELS);
    const double height = e->has_size ? e->height : (double) (rows * PIXELS);
    to = embed_size(to, height);
    to = embed_size(to, width);
    to = embed_size(to, e->has_size ? e->crop_h : 0);
    to = embed_size(to, e->has_size ? e->crop_w : 0);
    if (is_refiner) {
        const double usual = kind == NINO_COND_POSITIVE ? 6 : 2.5;
        embed_size(to, e->has_aesthetic_score ? e->aesthetic_score : usual);
        return;
    }
    to = embed_size(to, e->has_size && e->target_h ? e->target_h : height);
    embed_size(to, e->has_size && e->target_w ? e->target_w : width);
}

// The task as waves of (1, 0): what is in the picture, not the picture once more.
static nino_status make_lotus_y(nino_cond_model *m, nino_error *err)
{
    static const double task[] = { 1, 0 };
    if (!(m->y = nino_array_create(NINO_F32, NINO_SHAPE(1, NINO_LOTUS_Y))))
        return cond_model_no_memory(err);
    for (int i = 0; i < NINO_LOTUS_Y; i++)
        nino_array_f32(m->y)[i] = (float) (i < 2 ? sin(task[i]) : cos(task[i - 2]));
    return NINO_OK;
}

static nino_status make_y(const nino_guide_run *r, const nino_cond_entry *e, int kind,
                          nino_cond_model *m, nino_error *err)
{
    const int dim = r->net->y_dim;
    const bool is_unclip = strstr(r->net->family, "unclip") != NULL;
    int64_t pooled = e->pooled ? e->pooled->shape.dim[e->pooled->shape.rank - 1] : 0, first = 0;
    if (e->pooled && fit_columns(r, e->pooled, dim, &first))
        pooled = dim;
    const int64_t rest = dim - pooled;
    if (!dim)
        return NINO_OK;
    if (!strcmp(r->net->family, NINO_LOTUS))
        return make_lotus_y(m, err);
    if (!pooled && !is_unclip)
        return nino_fail_kind(err, NINO_ERR_ARG, "model", r->net->name,
                              "this model (%s) needs a pooled text encoding, which this "
                              "conditioning does not have: encode with its own kind of CLIP",
                              r->net->family);
    if (!is_unclip && rest != 0 && rest != 6 * SIZE_DIM && rest != 5 * SIZE_DIM)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                              "the pooled text encoding has %lld numbers, which does not fit this "
                              "model (%s, %d in all)",
                              (long long) pooled, r->net->family, dim);
    if (!(m->y = nino_array_create(NINO_F32, NINO_SHAPE(1, dim))))
        return cond_model_no_memory(err);
    if (is_unclip)
        return nino_cond_unclip(r, e, m->y, err);
    float *y = nino_array_f32(m->y);
    memcpy(y, nino_array_f32(e->pooled) + first, (size_t) pooled * sizeof(*y));
    if (rest)
        embed_sdxl(r, e, kind, rest == 5 * SIZE_DIM, y + pooled);
    return NINO_OK;
}

// ---- channels beside the latent --------------------------------------------------------------

static void process_in(const nino_guide_run *r, nino_array *a)
{
    const int64_t c = a->shape.dim[a->shape.rank - 1];
    nino_latent_process_in(r->guider->model->format, nino_array_f32(a),
                           nino_shape_count(&a->shape) / c, 1);
}

static nino_array *copy_of(const nino_array *a)
{
    nino_array *c = nino_array_create(a->dtype, a->shape);
    if (c)
        memcpy(c->data, a->data, a->bytes);
    return c;
}

// A node latent at this run's size and batch. Model units where to_model says so. Zeros: NULL.
static nino_status cond_model_fit_latent(const nino_guide_run *r, const nino_array *a,
                                         bool to_model, nino_array **out, nino_error *err)
{
    const nino_shape zeros = NINO_SHAPE(r->batch, r->axis[0], r->axis[1], r->channels);
    nino_array *scaled = NULL, *picked = NULL;
    *out = NULL;
    if (!a) {
        if (!(*out = nino_array_create(NINO_F32, zeros)))
            return cond_model_no_memory(err);
    } else if (a->shape.rank != 4 || a->shape.dim[3] != r->channels) {
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                              "the conditioning's latent has %lld channels, this model %lld",
                              (long long) a->shape.dim[a->shape.rank - 1], (long long) r->channels);
    } else {
        if ((scaled =
                 nino_planes_scale(a, r->axis[0], r->axis[1], NINO_FILTER_BILINEAR, true, err)) &&
            (picked = nino_planes_pick(scaled, r->batch, err)) && !(*out = copy_of(picked)))
            cond_model_no_memory(err);
        nino_array_unref(&scaled);
        nino_array_unref(&picked);
        if (!*out)
            return err && err->code ? err->code : NINO_ERR_NOMEM;
    }
    if (to_model)
        process_in(r, *out);
    return NINO_OK;
}

// The entry's mask, else the latent's noise mask, [n,H,W,1] at h x w and this batch; NULL in *out:
// there is none.
static nino_status cond_model_fit_mask(const nino_guide_run *r, const nino_cond_entry *e, int64_t h,
                                       int64_t w, bool is_rounded, nino_array **out,
                                       nino_error *err)
{
    const nino_array *m = e->concat_mask ? e->concat_mask : r->mask;
    nino_array *scaled = NULL, *sharp = NULL;
    *out = NULL;
    if (!m)
        return NINO_OK;
    nino_array flat = *m;
    flat.shape = NINO_SHAPE(m->shape.dim[0], m->shape.dim[1], m->shape.dim[2], 1);
    if (m->shape.dim[1] == h && m->shape.dim[2] == w)
        scaled = copy_of(&flat);
    else
        scaled = nino_planes_scale(&flat, h, w, NINO_FILTER_BILINEAR, true, err);
    if (!scaled)
        return cond_model_no_memory(err);
    for (int64_t i = 0; is_rounded && i < nino_shape_count(&scaled->shape); i++)
        nino_array_f32(scaled)[i] = rintf(nino_array_f32(scaled)[i]);
    sharp = nino_planes_pick(scaled, r->batch, err);
    nino_array_unref(&scaled);
    *out = sharp;
    return sharp ? NINO_OK : NINO_ERR_NOMEM;
}

// dst [B,h,w,to]: channels at .. at+n become those of src [B,h,w,n].
static void put_channels(nino_array *dst, int64_t at, const nino_array *src)
{
    const int64_t to = dst->shape.dim[3], n = src->shape.dim[3];
    const int64_t cells = nino_shape_count(&src->shape) / n;
    for (int64_t i = 0; i < cells; i++)
        memcpy(nino_array_f32(dst) + i * to + at, nino_array_f32(src) + i * n,
               (size_t) n * sizeof(float));
}

static nino_array *new_concat(const nino_guide_run *r, int64_t channels, nino_error *err)
{
    nino_array *a =
        nino_array_create(NINO_F32, NINO_SHAPE(r->batch, r->axis[0], r->axis[1], channels));
    if (!a)
        cond_model_no_memory(err);
    return a;
}

// What a grey picture's latent is near, per channel of an SD latent: the image of an inpaint model
// that is used without one.
static const float blank[4] = { 0.8223f, -0.6876f, 0.6364f, 0.1380f };

// SD inpaint: the mask, then the picture without what the mask covers.
static nino_status concat_inpaint(const nino_guide_run *r, const nino_cond_entry *e,
                                  nino_cond_model *m, nino_error *err)
{
    nino_array *mask = NULL, *image = NULL, *own = NULL;
    nino_status st = cond_model_fit_mask(r, e, r->axis[0], r->axis[1], true, &mask, err);
    if (st)
        return st;
    if (!(m->concat = new_concat(r, 1 + r->channels, err))) {
        st = NINO_ERR_NOMEM;
        goto end;
    }
    if (!mask) {
        float *to = nino_array_f32(m->concat);
        for (int64_t i = 0; i < r->batch * r->cells; i++) {
            *to++ = 1;
            for (int64_t c = 0; c < r->channels; c++)
                *to++ = c < 4 ? blank[c] : 1;
        }
        goto end;
    }
    if (e->concat_latent)
        st = cond_model_fit_latent(r, e->concat_latent, true, &own, err);
    if (st)
        goto end;
    if (!(image = own ? nino_array_ref(own) : nino_planes_pick(r->latent, r->batch, err))) {
        st = NINO_ERR_NOMEM;
        goto end;
    }
    put_channels(m->concat, 0, mask);
    put_channels(m->concat, 1, image);
end:
    nino_array_unref(&mask);
    nino_array_unref(&image);
    nino_array_unref(&own);
    return st;
}

// Flux: the picture; Fill also the mask, all pixels of a cell as channels.
static nino_status concat_flux(const nino_guide_run *r, const nino_cond_entry *e, bool with_mask,
                               nino_cond_model *m, nino_error *err)
{
    nino_array *image = NULL, *mask = NULL;
    const int64_t h = r->axis[0], w = r->axis[1], c = r->channels;
    nino_status st = cond_model_fit_latent(r, e->concat_latent, true, &image, err);
    if (st)
        return st;
    if (!with_mask) {
        m->concat = image;
        return NINO_OK;
    }
    st = cond_model_fit_mask(r, e, h * PIXELS, w * PIXELS, false, &mask, err);
    if (!st && !(m->concat = new_concat(r, c + FILL_MASK, err)))
        st = NINO_ERR_NOMEM;
    if (st)
        goto end;
    put_channels(m->concat, 0, image);
    float *to = nino_array_f32(m->concat);
    for (int64_t b = 0; b < r->batch; b++)
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++, to += c + FILL_MASK)
                for (int64_t k = 0; k < FILL_MASK; k++)
                    to[c + k] = mask ? nino_array_f32(
                                           mask)[((b * h + y) * PIXELS + k / PIXELS) * w * PIXELS +
                                                 x * PIXELS + k % PIXELS]
                                     : 1;
end:
    nino_array_unref(&image);
    nino_array_unref(&mask);
    return st;
}

static nino_status make_concat(const nino_guide_run *r, const nino_cond_entry *e,
                               nino_cond_model *m, nino_error *err)
{
    const int extra = r->net->in_channels - r->net->format->channels, c = (int) r->channels;
    if (extra <= 0)
        return NINO_OK;
    if (r->n_axes == 3)
        return nino_cond_concat_video(r, e, &m->concat, err);
    if (r->n_axes == 2) {
        if (r->net->kind == NINO_DIFFUSION_FLUX && (extra == c || extra == c + FILL_MASK))
            return concat_flux(r, e, extra > c, m, err);
        if (extra == 1 + c)
            return concat_inpaint(r, e, m, err);
        if (extra == c) // InstructPix2Pix
            return cond_model_fit_latent(r, e->concat_latent, false, &m->concat, err);
    }
    return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", r->net->name,
                          "%s models with %d channels beside the latent are not supported",
                          r->net->family, extra);
}

// ---- all of it -------------------------------------------------------------------------------

static nino_status make_refs(const nino_guide_run *r, const nino_cond_entry *e, nino_cond_model *m,
                             nino_error *err)
{
    if (!e->n_refs || !r->net->has_refs)
        return NINO_OK;
    if (!(m->refs = calloc((size_t) e->n_refs, sizeof(*m->refs))))
        return cond_model_no_memory(err);
    for (int i = 0; i < e->n_refs; i++) {
        const nino_array *a = e->refs[i];
        const int last = a->shape.rank - 1;
        if (last < 3 || a->shape.dim[last] != r->channels)
            return nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                                  "a reference latent has %lld channels, this model %lld",
                                  (long long) a->shape.dim[last], (long long) r->channels);
        if (last == 4 && a->shape.dim[1] != 1)
            return nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                                  "a reference latent is a clip of %lld frames, this model takes "
                                  "pictures: encode one at a time",
                                  (long long) a->shape.dim[1]);
        if (!(m->refs[i] = copy_of(a)))
            return cond_model_no_memory(err);
        if (last == 4)
            m->refs[i]->shape =
                NINO_SHAPE(a->shape.dim[0], a->shape.dim[2], a->shape.dim[3], r->channels);
        m->n_refs++;
        process_in(r, m->refs[i]);
    }
    return NINO_OK;
}

static nino_status make_vision(const nino_guide_run *r, const nino_cond_entry *e,
                               nino_cond_model *m, nino_error *err)
{
    const nino_array *a = e->vision;
    if (!a || !r->net->vision_dim)
        return NINO_OK;
    if (a->shape.rank != 3 || a->shape.dim[2] != r->net->vision_dim)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                              "the picture's encoding is %lld wide where this model (%s) needs %d: "
                              "encode with its own kind of CLIP vision",
                              (long long) a->shape.dim[a->shape.rank - 1], r->net->family,
                              r->net->vision_dim);
    m->vision = nino_array_ref(e->vision);
    return NINO_OK;
}

// Rows of zeros go in front of a text that is too short for the network.
static nino_array *whole_text(const nino_guide_run *r, nino_array *text)
{
    const int64_t n = text->shape.dim[0], had = text->shape.dim[1], c = text->shape.dim[2];
    const int64_t missing = r->net->context_rows - had;
    if (missing <= 0)
        return nino_array_ref(text);
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, had + missing, c));
    for (int64_t i = 0; a && i < n; i++)
        memcpy(nino_array_f32(a) + (i * (had + missing) + missing) * c,
               nino_array_f32(text) + i * had * c, (size_t) (had * c) * sizeof(float));
    return a;
}

nino_status nino_cond_model_make(const nino_guide_run *r, const nino_cond_entry *e, int kind,
                                 nino_cond_model *m, nino_error *err)
{
    nino_status st = NINO_OK;
    const nino_array *text = e->context;
    int64_t first = 0;
    *m = (nino_cond_model){ .guidance = NAN };
    if (!text || text->shape.rank != 3 || !text->shape.dim[1] ||
        !fit_columns(r, text, r->net->context_dim, &first))
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", r->net->name,
                              "this model (%s) needs text encodings of width %d, this conditioning "
                              "has %lld: encode with its own kind of CLIP",
                              r->net->family, r->net->context_dim,
                              text ? (long long) text->shape.dim[text->shape.rank - 1] : 0LL);
    m->context_mask = r->net->has_context_mask ? nino_array_ref(e->context_mask) : NULL;
    m->context = text->shape.dim[2] == r->net->context_dim
                     ? whole_text(r, e->context)
                     : columns_of(text, first, r->net->context_dim);
    if (!m->context)
        return cond_model_no_memory(err);
    m->control_context = nino_array_ref(e->control_context);
    m->ref_method = e->ref_method;
    if (r->net->has_guidance && !e->no_guidance)
        m->guidance = (float) (e->has_guidance ? e->guidance : r->net->usual_guidance);
    if ((st = make_y(r, e, kind, m, err)) || (st = make_concat(r, e, m, err)) ||
        (st = make_refs(r, e, m, err)) || (st = make_vision(r, e, m, err)) ||
        (st = nino_cond_controls(r, e, m, err)))
        nino_cond_model_release(m);
    return st;
}

void nino_cond_model_release(nino_cond_model *m)
{
    nino_array_unref(&m->context);
    nino_array_unref(&m->context_mask);
    nino_array_unref(&m->y);
    nino_array_unref(&m->concat);
    nino_array_unref(&m->vision);
    nino_array_unref(&m->control_context);
    for (int i = 0; i < m->n_controls; i++)
        nino_array_unref(&m->control[i]);
    for (int i = 0; i < m->n_refs; i++)
        nino_array_unref(&m->refs[i]);
    free(m->refs);
    *m = (nino_cond_model){ .guidance = NAN };
}
