// Pictures that control networks which are patches are given: latents at the sizes that entries see.
// Semantics: ComfyUI comfy_extras/nodes_model_patch.py (DiffSynthCnetPatch, ZImageControlPatch).
#include "core/sample/guide/guide_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

struct nino_guide_hint {
    nino_guide_hint *next;
    int patch; // of the MODEL
    int64_t h, w;
    nino_array *latent; // f32 [1,h,w,C]
};

static nino_array *hint_at(const nino_guide_run *r, int patch, int64_t h, int64_t w)
{
    const nino_guide_hint *k = r->hints;
    while (k && (k->patch != patch || k->h != h || k->w != w))
        k = k->next;
    return k ? k->latent : NULL;
}

// The first of a batch [N,H,W] or [N,H,W,C], as [1,H,W,C]. NULL: no memory.
static nino_array *first_of(const nino_array *a, nino_error *err)
{
    const int64_t *d = a->shape.dim;
    nino_array *one =
        nino_array_create(NINO_F32, NINO_SHAPE(1, d[1], d[2], a->shape.rank == 4 ? d[3] : 1));
    if (one)
        memcpy(one->data, a->data, one->bytes);
    else
        nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a control network's picture");
    return one;
}

// How much the picture counts in every cell: without a mask fully.
static nino_status add_mask(const nino_block_use *u, nino_array **latent, nino_error *err)
{
    const int64_t *d = (*latent)->shape.dim;
    nino_array *share = NULL;
    if (u->mask) {
        nino_array *one = first_of(u->mask, err);
        for (int64_t i = 0; one && i < nino_shape_count(&one->shape); i++)
            nino_array_f32(one)[i] = 1 - nino_array_f32(one)[i];
        share = one ? nino_planes_scale(one, d[1], d[2], NINO_FILTER_BILINEAR, false, err) : NULL;
        nino_array_unref(&one);
        if (!share)
            return NINO_ERR_NOMEM;
    }
    nino_array *with = nino_guide_with_mask(*latent, share, err);
    nino_array_unref(&share);
    nino_array_unref(latent);
    *latent = with;
    return with ? NINO_OK : NINO_ERR_NOMEM;
}

// The picture at height x width, cut to the aspect ratio; grey where it is NULL. NULL: failed.
static nino_array *sized(const nino_array *picture, int64_t height, int64_t width, nino_error *err)
{
    if (!picture) {
        nino_array *grey = nino_array_create(NINO_F32, NINO_SHAPE(1, height, width, 3));
        for (int64_t i = 0; grey && i < nino_shape_count(&grey->shape); i++)
            nino_array_f32(grey)[i] = 0.5f;
        if (!grey)
            nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a control network's picture");
        return grey;
    }
    nino_array *one = first_of(picture, err);
    nino_array *colours = one ? nino_guide_colours(one) : NULL, *scaled = NULL;
    if (one && !colours)
        nino_fail(err, NINO_ERR_NOMEM, "", "no memory for a control network's picture");
    if (colours)
        scaled = nino_planes_scale(colours, height, width, NINO_FILTER_AREA, true, err);
    nino_array_unref(&one);
    nino_array_unref(&colours);
    return scaled;
}

// pixels, which it takes and which may be NULL, as a latent of h x w.
static nino_status encode_at(nino_guide_run *r, const nino_block_use *u, nino_array *pixels,
                             int64_t h, int64_t w, nino_array **out, nino_error *err)
{
    const nino_latent_format *format = u->net->format;
    const nino_shape shape = NINO_SHAPE(1, h, w, format->channels);
    if (!pixels)
        return err && err->code ? err->code : NINO_ERR_NOMEM;
    const nino_status st =
        nino_guide_encode_hint(r, u->net->name, u->vae, format, pixels, out, err);
    nino_array_unref(&pixels);
    if (st)
        return st;
    if (nino_shape_count(&(*out)->shape) != nino_shape_count(&shape))
        return nino_fail_kind(err, NINO_ERR_ARG, "model", u->net->name,
                              "the VAE %s makes a latent of another size", u->vae->name);
    (*out)->shape = shape; // of a clip of one frame, too
    return NINO_OK;
}

// 1 where the picture stays, as [1,height,width,1]: smooth between the mask's places, or the first of
// those that a place is made of. NULL without a mask, or failed.
static nino_array *kept(const nino_block_use *u, int64_t height, int64_t width, bool is_smooth,
                        nino_error *err)
{
    nino_array *one = u->mask ? first_of(u->mask, err) : NULL;
    for (int64_t i = 0; one && i < nino_shape_count(&one->shape); i++)
        nino_array_f32(one)[i] = 1 - nino_array_f32(one)[i];
    nino_array *scaled =
        !one        ? NULL
        : is_smooth ? nino_planes_scale(one, height, width, NINO_FILTER_BILINEAR, true, err)
                    : nino_planes_first(one, height, width, err);
    nino_array_unref(&one);
    return scaled;
}

// What stays of the picture, on grey.
static nino_array *painted(const nino_block_use *u, int64_t height, int64_t width, nino_error *err)
{
    nino_array *picture = sized(u->paint, height, width, err);
    if (!picture || !u->paint || !u->mask)
        return picture;
    nino_array *share = kept(u, height, width, true, err);
    if (!share)
        nino_array_unref(&picture);
    for (int64_t i = 0; share && i < height * width; i++)
        for (int k = 0; k < 3; k++) {
            float *v = nino_array_f32(picture) + 3 * i + k;
            *v = (*v - 0.5f) * rintf(nino_array_f32(share)[i]) + 0.5f;
        }
    nino_array_unref(&share);
    return picture;
}

// The latent with the mask, and that of what stays of the picture, as further channels.
static nino_status add_painted(nino_guide_run *r, const nino_block_use *u, nino_array **latent,
                               nino_error *err)
{
    const int64_t h = (*latent)->shape.dim[1], w = (*latent)->shape.dim[2];
    const int64_t c = (*latent)->shape.dim[3], factor = u->vae->factor;
    nino_array *share = NULL, *rest = NULL, *all = NULL;
    nino_status st = encode_at(r, u, painted(u, h * factor, w * factor, err), h, w, &rest, err);
    if (!st && u->mask && !(share = kept(u, h, w, false, err)))
        st = NINO_ERR_NOMEM;
    if (!st && !(all = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, 2 * c + 1))))
        st = nino_fail(err, NINO_ERR_NOMEM, u->net->name, "no memory for its picture");
    for (int64_t i = 0; !st && i < h * w; i++) {
        float *to = nino_array_f32(all) + i * (2 * c + 1);
        memcpy(to, nino_array_f32(*latent) + i * c, (size_t) c * sizeof(*to));
        to[c] = share ? nino_array_f32(share)[i] : 0;
        memcpy(to + c + 1, nino_array_f32(rest) + i * c, (size_t) c * sizeof(*to));
    }
    nino_array_unref(&share);
    nino_array_unref(&rest);
    if (st)
        return st;
    nino_array_unref(latent);
    *latent = all;
    return NINO_OK;
}

static nino_status encode(nino_guide_run *r, const nino_block_use *u, int64_t h, int64_t w,
                          nino_array **out, nino_error *err)
{
    const int64_t factor = u->vae->factor;
    if (u->net->zimage) { // whose latents are made even before it sees them
        h += h % 2;
        w += w % 2;
    }
    const nino_status st =
        encode_at(r, u, sized(u->image, h * factor, w * factor, err), h, w, out, err);
    if (st)
        return st;
    return u->net->has_inpaint ? add_painted(r, u, out, err)
           : u->net->has_mask  ? add_mask(u, out, err)
                               : NINO_OK;
}

static nino_status hint_add(nino_guide_run *r, int patch, int64_t h, int64_t w, nino_error *err)
{
    const nino_block_use *u = r->guider->model->patch[patch].control;
    if (hint_at(r, patch, h, w))
        return NINO_OK;
    nino_guide_hint *k = calloc(1, sizeof(*k));
    if (!k)
        return nino_fail(err, NINO_ERR_NOMEM, u->net->name, "no memory for its picture");
    *k = (nino_guide_hint){ .next = r->hints, .patch = patch, .h = h, .w = w };
    r->hints = k;
    return encode(r, u, h, w, &k->latent, err);
}

nino_status nino_guide_block_hints(nino_guide_run *r, nino_error *err)
{
    const nino_model *m = r->guider->model;
    nino_status st = NINO_OK;
    for (int i = 0; i < m->n_patches; i++) {
        if (m->patch[i].kind != NINO_PATCH_BLOCK_CONTROL)
            continue;
        for (int k = 0; k < NINO_COND_KINDS; k++)
            for (int j = 0; j < r->list[k].n && !st; j++) {
                const int64_t *size = r->list[k].use[j].size + r->n_axes - 2;
                st = hint_add(r, i, size[0], size[1], err);
            }
    }
    return st;
}

void nino_guide_release_block_hints(nino_guide_run *r)
{
    while (r->hints) {
        nino_guide_hint *k = r->hints;
        r->hints = k->next;
        nino_array_unref(&k->latent);
        free(k);
    }
}

void nino_guide_block_hints_of(const nino_guide_run *r, const nino_cond_use *u, nino_array **hint)
{
    const int64_t *size = u->size + r->n_axes - 2;
    for (int i = 0; i < NINO_MODEL_PATCHES; i++)
        hint[i] = r->hints ? hint_at(r, i, size[0], size[1]) : NULL;
}
