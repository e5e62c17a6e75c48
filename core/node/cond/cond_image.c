// Pictures as conditioning: inpainting, instructions, references. Behaviour of ComfyUI's nodes.py
// (InpaintModelConditioning, VAEEncodeForInpaint, SetLatentNoiseMask), nodes_ip2p.py and
// nodes_edit_model.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

// ---- what is hidden from the encoder ---------------------------------------------------------

// Pixels and mask of equal size, sides multiples of `unit`, cut around the middle.
static nino_status fitted(nino_run *r, const nino_array *pixels, const nino_array *mask,
                          int64_t unit, nino_array **p, nino_array **m, nino_error *err)
{
    const nino_picture s = nino_picture_of(pixels);
    const int64_t h = s.h / unit * unit, w = s.w / unit * unit;
    const int64_t top = s.h % unit / 2, left = s.w % unit / 2;
    nino_array *sized = NULL;
    if (!h || !w)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "pixels",
                              "a picture of %lldx%lld is smaller than one latent cell",
                              (long long) s.w, (long long) s.h);
    nino_status st = mask ? nino_mask_fit(r, mask, s.h, s.w, &sized, err) : NINO_OK;
    if (st == NINO_OK && mask)
        st = nino_batch_agrees(sized->shape.dim[0], s.n, "mask", err);
    if (st == NINO_OK) {
        *p = nino_picture_crop(pixels, top, left, h, w, r->def->key, err);
        *m = mask ? nino_picture_crop(sized, top, left, h, w, r->def->key, err) : NULL;
        st = *p && (*m || !mask) ? NINO_OK : NINO_ERR_NOMEM;
    }
    nino_array_unref(&sized);
    return st;
}

// Colours become mid-grey where the mask, rounded, is 1.
static void hide(const nino_array *pixels, const nino_array *mask)
{
    const nino_picture p = nino_picture_of(pixels), m = nino_picture_of(mask);
    for (int64_t i = 0; i < p.n; i++)
        for (int64_t k = 0; k < p.h * p.w; k++) {
            float *v = p.v + (i * p.h * p.w + k) * p.c;
            const float keep = 1.0f - rintf(m.v[nino_batch_entry(m.n, i) * p.h * p.w + k]);
            for (int c = 0; c < 3; c++)
                v[c] = (v[c] - 0.5f) * keep + 0.5f;
        }
}

// ---- InpaintModelConditioning, InstructPixToPixConditioning ----------------------------------

// Gives inputs 0 and 1 with the picture that the model sees beside the noise.
static nino_status cond_image_give_both(nino_run *r, nino_array *latent, nino_array *mask,
                                        nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && st == NINO_OK; i++) {
        nino_cond *c = nino_cond_copy(nino_in_cond(r, i));
        for (int k = 0; c && k < c->n; k++) {
            nino_cond_set_array(&c->entry[k].concat_latent, latent);
            if (mask)
                nino_cond_set_array(&c->entry[k].concat_mask, mask);
        }
        st = nino_out_cond(r, i, c, err);
    }
    return st;
}

typedef struct inpaint_params {
    bool noise_mask;
} inpaint_params;

static nino_status inpaint_run(nino_run *r, nino_error *err)
{
    const inpaint_params *p = r->params;
    const nino_array *image = nino_in_image(r, 3);
    nino_array *pixels = NULL, *mask = NULL, *seen = NULL, *whole = NULL;
    nino_status st = fitted(r, image, nino_in_mask(r, 4), 8, &pixels, &mask, err);
    if (st == NINO_OK) {
        hide(pixels, mask);
        st = nino_encode_pixels(r, nino_in_vae(r, 2), pixels, &seen, err);
    }
    if (st == NINO_OK)
        st = nino_encode_pixels(r, nino_in_vae(r, 2), image, &whole, err);
    if (st == NINO_OK)
        st = cond_image_give_both(r, seen, mask, err);
    if (st == NINO_OK) {
        const nino_latent l = { .samples = nino_array_ref(whole),
                                .noise_mask = p->noise_mask ? nino_array_ref(mask) : NULL };
        st = nino_out_latent(r, 2, l, err);
    }
    nino_array_unref(&pixels);
    nino_array_unref(&mask);
    nino_array_unref(&seen);
    nino_array_unref(&whole);
    return st;
}

static const nino_port pair_out[] = { NINO_PORT(positive, CONDITIONING),
                                      NINO_PORT(negative, CONDITIONING),
                                      NINO_PORT(latent, LATENT),
                                      { 0 } };
NINO_NODE(
    inpaint_cond, "InpaintModelConditioning", "InpaintModelConditioning", "conditioning/inpaint",
    "Shows an inpainting model the picture without what the mask covers",
    NINO_INPUTS(NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING),
                NINO_PORT(vae, VAE), NINO_PORT(pixels, IMAGE),
                NINO_PORT(mask, MASK, .help = "1: to be painted")),
    .outputs = pair_out,
    NINO_PARAMS(
        inpaint_params,
        NINO_P_BOOL(inpaint_params, noise_mask, true, .label = "Noise mask",
                    .help = "Only what the mask covers is sampled; off: the whole picture is")),
    NINO_RUN(inpaint_run));

static nino_status ip2p_run(nino_run *r, nino_error *err)
{
    nino_array *pixels = NULL, *none = NULL, *seen = NULL, *empty = NULL;
    nino_status st = fitted(r, nino_in_image(r, 3), NULL, 8, &pixels, &none, err);
    if (st == NINO_OK)
        st = nino_encode_pixels(r, nino_in_vae(r, 2), pixels, &seen, err);
    if (st == NINO_OK)
        st = cond_image_give_both(r, seen, NULL, err);
    if (st == NINO_OK) {
        empty = nino_node_array(NINO_F32, seen->shape, r->def->key, err);
        st = nino_out_latent(r, 2, (nino_latent){ .samples = empty }, err);
    }
    nino_array_unref(&pixels);
    nino_array_unref(&seen);
    return st;
}

NINO_NODE(ip2p_cond, "InstructPixToPixConditioning", "InstructPixToPixConditioning",
          "conditioning/instructpix2pix",
          "Shows an editing or control model the picture it works from",
          NINO_INPUTS(NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING),
                      NINO_PORT(vae, VAE), NINO_PORT(pixels, IMAGE)),
          .outputs = pair_out, NINO_RUN(ip2p_run));

// ---- ReferenceLatent -------------------------------------------------------------------------

static nino_status reference_run(nino_run *r, nino_error *err)
{
    const nino_latent *l = nino_in_latent(r, 1);
    nino_cond *c = nino_cond_copy(nino_in_cond(r, 0));
    nino_status st = NINO_OK;
    for (int i = 0; l && c && i < c->n && st == NINO_OK; i++)
        st = nino_cond_add_ref(&c->entry[i], l->samples) ? NINO_OK : NINO_ERR_NOMEM;
    if (st)
        nino_cond_unref(&c);
    return nino_out_cond(r, 0, c, err);
}

NINO_NODE(reference_latent, "ReferenceLatent", "ReferenceLatent",
          "advanced/conditioning/edit_models",
          "Gives an editing model a picture to go by; several can be chained",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING),
                      NINO_PORT(latent, LATENT, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)), NINO_RUN(reference_run));

// ---- FluxKontextMultiReferenceLatentMethod ---------------------------------------------------

typedef struct method_params {
    int64_t reference_latents_method;
} method_params;

static nino_status method_run(nino_run *r, nino_error *err)
{
    const int64_t method = ((const method_params *) r->params)->reference_latents_method;
    nino_cond *c = nino_cond_copy(nino_in_cond(r, 0));
    for (int i = 0; c && i < c->n; i++)
        c->entry[i].ref_method = (nino_ref_method) (method + NINO_REFS_OFFSET);
    return nino_out_cond(r, 0, c, err);
}

NINO_NODE(reference_method, "FluxKontextMultiReferenceLatentMethod",
          "FluxKontextMultiReferenceLatentMethod", "advanced/conditioning/flux",
          "Where an editing model takes reference latents to be",
          NINO_INPUTS(NINO_PORT(conditioning, CONDITIONING)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)),
          NINO_PARAMS(method_params,
                      NINO_P_ENUM(method_params, reference_latents_method,
                                  NINO_WORDS("offset", "index", "uxo/uno", "index_timestep_zero"),
                                  0, .label = "Method",
                                  .help = "As the model was trained; Kontext: offset or index, "
                                          "FLUX.2 and Qwen-Image-Edit: index, Qwen-Image-Edit "
                                          "from 2511 on: index_timestep_zero")),
          NINO_RUN(method_run));

// ---- VAEEncodeForInpaint ---------------------------------------------------------------------

typedef struct encode_params {
    int64_t grow_mask_by;
} encode_params;

// One line of n values, `step` apart: out[i] is 1 if any rounded value in [i-before, i+after] is
// not 0 in sum.
static void grow_line(const double *in, double *out, int64_t n, int64_t step, int64_t before,
                      int64_t after)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = i - before; k <= i + after; k++)
            sum += k >= 0 && k < n ? in[k * step] : 0;
        out[i * step] = sum;
    }
}

// The rounded mask summed over squares of `side` pixels, cut to 0..1: it grows by about half of
// that. An even side reaches one pixel further up and left, as ComfyUI's convolution does.
static nino_status cond_image_grow(const nino_array *mask, int64_t side, nino_error *err)
{
    const nino_picture m = nino_picture_of(mask);
    const int64_t cells = m.h * m.w, before = side / 2, after = side - 1 - before;
    double *a = calloc((size_t) cells * 2, sizeof(double));
    if (!a)
        return nino_fail(err, NINO_ERR_NOMEM, "mask", "out of memory");
    double *b = a + cells;
    for (int64_t i = 0; i < m.n; i++) {
        float *v = m.v + i * cells;
        for (int64_t k = 0; k < cells; k++)
            a[k] = rint((double) v[k]);
        for (int64_t y = 0; y < m.h; y++)
            grow_line(a + y * m.w, b + y * m.w, m.w, 1, before, after);
        for (int64_t x = 0; x < m.w; x++)
            grow_line(b + x, a + x, m.h, m.w, before, after);
        for (int64_t k = 0; k < cells; k++)
            v[k] = a[k] < 0 ? 0.0f : a[k] > 1 ? 1.0f : (float) rint(a[k]);
    }
    free(a);
    return NINO_OK;
}

static nino_status cond_image_encode_run(nino_run *r, nino_error *err)
{
    const encode_params *p = r->params;
    const nino_vae *vae = nino_in_vae(r, 1);
    nino_array *pixels = NULL, *mask = NULL;
    nino_latent l = { 0 };
    nino_status st =
        fitted(r, nino_in_image(r, 0), nino_in_mask(r, 2), vae->factor, &pixels, &mask, err);
    if (st == NINO_OK) {
        hide(pixels, mask);
        st = nino_encode_pixels(r, vae, pixels, &l.samples, err);
    }
    // without growing the mask is only rounded, which is what a side of one does
    if (st == NINO_OK && !r->is_plan)
        st = cond_image_grow(mask, p->grow_mask_by ? p->grow_mask_by : 1, err);
    if (st == NINO_OK) {
        l.noise_mask = nino_array_ref(mask);
        st = nino_out_latent(r, 0, l, err);
    } else {
        nino_array_unref(&l.samples);
    }
    nino_array_unref(&pixels);
    nino_array_unref(&mask);
    return st;
}

NINO_NODE(vae_encode_inpaint, "VAEEncodeForInpaint", "VAE Encode (for Inpainting)",
          "latent/inpaint",
          "A latent without what the mask covers, and with the mask for the sampler",
          NINO_INPUTS(NINO_PORT(pixels, IMAGE), NINO_PORT(vae, VAE),
                      NINO_PORT(mask, MASK, .help = "1: to be painted")),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_PARAMS(encode_params,
                      NINO_P_INT(encode_params, grow_mask_by, 6, 0, 64, 1, .label = "Grow mask",
                                 .unit = "px",
                                 .help = "The mask grows by half of this, so that no seam shows")),
          NINO_RUN(cond_image_encode_run));

// ---- SetLatentNoiseMask ----------------------------------------------------------------------

static nino_status set_mask_run(nino_run *r, nino_error *err)
{
    const nino_latent *in = nino_in_latent(r, 0);
    nino_latent with = *in; // only seen by the copy
    with.noise_mask = nino_in_mask(r, 1);
    return nino_out_latent_like(r, 0, &with, nino_array_ref(in->samples), err);
}

NINO_NODE(set_noise_mask, "SetLatentNoiseMask", "Set Latent Noise Mask", "latent/inpaint",
          "Only what the mask covers is sampled",
          NINO_INPUTS(NINO_PORT(samples, LATENT), NINO_PORT(mask, MASK, .help = "1: may change")),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)), NINO_RUN(set_mask_run));
