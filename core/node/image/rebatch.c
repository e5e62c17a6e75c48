// Lists of batches cut anew: RebatchLatents, RebatchImages. They take whole lists and give lists,
// whose items the nodes behind them get one by one. Behaviour of ComfyUI's nodes_rebatch.py.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

typedef struct rebatch_params {
    int64_t batch_size;
} rebatch_params;

#define P_SIZE                                                                                     \
    NINO_P_INT(rebatch_params, batch_size, 1, 1, 4096, 1, .label = "Batch size",                   \
               .help = "How many the new batches hold; the last of each size may be smaller")

// Puts v (taken) behind output 0, which is a list.
static nino_status rebatch_give(nino_run *r, nino_value *v, nino_error *err)
{
    if (v && nino_value_append(r->out[0], v))
        return NINO_OK;
    return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

static nino_status rebatch_begin(nino_run *r, nino_port_type type, nino_error *err)
{
    r->out[0] = nino_value_create_list(type);
    return r->out[0] ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

// ---- RebatchLatents --------------------------------------------------------------------------

static void rebatch_release(nino_latent *l)
{
    nino_array_unref(&l->samples);
    nino_array_unref(&l->noise_mask);
    free(l->batch_index);
    *l = (nino_latent){ 0 };
}

static int64_t rebatch_count(const nino_latent *l)
{
    return l->samples ? l->samples->shape.dim[0] : 0;
}

static bool is_rebatch_white(const nino_array *mask)
{
    double sum = 0;
    const int64_t n = nino_shape_count(&mask->shape);
    for (int64_t i = 0; i < n; i++)
        sum += nino_array_f32(mask)[i];
    return (float) (sum / (double) n) == 1;
}

// n masks of 8 pixels a cell: white ones, or those of `from` scaled and repeated.
static nino_status full_mask(nino_run *r, const nino_latent *from, nino_array **out,
                             nino_error *err)
{
    const nino_picture p = nino_picture_of(from->samples);
    const int64_t n = rebatch_count(from), h = p.h * 8, w = p.w * 8;
    nino_array *fitted = NULL;
    if (!from->noise_mask) {
        *out = nino_node_array(NINO_F32, NINO_SHAPE(n, h, w), r->def->key, err);
        for (int64_t i = 0; *out && i < n * h * w; i++)
            nino_array_f32(*out)[i] = 1;
        return *out ? NINO_OK : NINO_ERR_NOMEM;
    }
    const nino_status st = nino_mask_fit(r, from->noise_mask, h, w, &fitted, err);
    if (st)
        return st;
    *out = nino_picture_batch(fitted, 0, n, r->def->key, err);
    nino_array_unref(&fitted);
    return *out ? NINO_OK : NINO_ERR_NOMEM;
}

// A copy that has everything; offset: how many came before it.
static nino_status rebatch_complete(nino_run *r, const nino_latent *from, int64_t offset,
                                    nino_latent *out, nino_error *err)
{
    const int64_t n = rebatch_count(from);
    *out = (nino_latent){ .samples = nino_array_ref(from->samples) };
    out->batch_index = calloc((size_t) n + 1, sizeof(*out->batch_index));
    nino_status st = out->batch_index
                         ? full_mask(r, from, &out->noise_mask, err)
                         : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; !st && i < n; i++)
        out->batch_index[i] = from->batch_index ? from->batch_index[i] : i + offset;
    if (st)
        rebatch_release(out);
    return st;
}

// *a goes on with *b, which is released.
static nino_status rebatch_join(nino_run *r, nino_latent *a, nino_latent *b, nino_error *err)
{
    const int64_t na = rebatch_count(a), nb = rebatch_count(b);
    nino_latent all = { .samples = nino_picture_join(a->samples, b->samples, 0, r->def->key, err) };
    if (all.samples)
        all.noise_mask = nino_picture_join(a->noise_mask, b->noise_mask, 0, r->def->key, err);
    if (all.noise_mask && !(all.batch_index = calloc((size_t) (na + nb), sizeof(int64_t))))
        nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    const bool ok = all.batch_index != NULL;
    if (ok) {
        memcpy(all.batch_index, a->batch_index, (size_t) na * sizeof(int64_t));
        memcpy(all.batch_index + na, b->batch_index, (size_t) nb * sizeof(int64_t));
        rebatch_release(a);
        *a = all;
    } else {
        rebatch_release(&all);
    }
    rebatch_release(b);
    return ok ? NINO_OK : err && err->code ? err->code : NINO_ERR_NOMEM;
}

// Entries [at, at + n) as an item of the output.
static nino_status give_part(nino_run *r, const nino_latent *from, int64_t at, int64_t n,
                             nino_error *err)
{
    nino_value *v = nino_value_create(NINO_PORT_LATENT);
    if (!v)
        return rebatch_give(r, NULL, err);
    nino_latent *l = &v->u.latent;
    l->samples = nino_picture_batch(from->samples, at, n, r->def->key, err);
    l->noise_mask = nino_picture_batch(from->noise_mask, at, n, r->def->key, err);
    l->batch_index = calloc((size_t) n, sizeof(int64_t));
    if (!l->samples || !l->noise_mask || !l->batch_index) {
        nino_value_unref(&v);
        return rebatch_give(r, NULL, err);
    }
    memcpy(l->batch_index, from->batch_index + at, (size_t) n * sizeof(int64_t));
    if (is_rebatch_white(l->noise_mask)) // it says nothing
        nino_array_unref(&l->noise_mask);
    return rebatch_give(r, v, err);
}

// Full batches of *l go out; what remains stays in it. last: everything goes out.
static nino_status give_batches(nino_run *r, nino_latent *l, int64_t size, bool last,
                                nino_error *err)
{
    int64_t at = 0, n = rebatch_count(l);
    nino_status st = NINO_OK;
    for (; !st && (n - at > size || (last && at < n)); at += size)
        st = give_part(r, l, at, n - at < size ? n - at : size, err);
    if (!st && !last && n - at == size &&
        at) { // as the original: a batch that was cut off goes too
        st = give_part(r, l, at, size, err);
        at += size;
    }
    if (st || !at)
        return st;
    nino_latent rest = { 0 };
    if (at < n) {
        nino_value *v = NULL;
        rest.samples = nino_picture_batch(l->samples, at, n - at, r->def->key, err);
        rest.noise_mask = nino_picture_batch(l->noise_mask, at, n - at, r->def->key, err);
        rest.batch_index = calloc((size_t) (n - at), sizeof(int64_t));
        if (!rest.samples || !rest.noise_mask || !rest.batch_index) {
            rebatch_release(&rest);
            return rebatch_give(r, v, err);
        }
        memcpy(rest.batch_index, l->batch_index + at, (size_t) (n - at) * sizeof(int64_t));
    }
    rebatch_release(l);
    *l = rest;
    return NINO_OK;
}

static bool is_same_size(const nino_latent *a, const nino_latent *b)
{
    const nino_picture p = nino_picture_of(a->samples), q = nino_picture_of(b->samples);
    return p.h == q.h && p.w == q.w;
}

static nino_status latents_run(nino_run *r, nino_error *err)
{
    const int64_t size = ((const rebatch_params *) r->params)->batch_size;
    nino_latent now = { 0 };
    int64_t offset = 0;
    nino_status st = rebatch_begin(r, NINO_PORT_LATENT, err);
    for (int i = 0; !st && i < nino_value_count(r->in[0]); i++) {
        nino_latent next;
        if ((st = rebatch_complete(r, &nino_value_at(r->in[0], i)->u.latent, offset, &next, err)))
            break;
        offset += rebatch_count(&next);
        if (now.samples && is_same_size(&now, &next)) {
            st = rebatch_join(r, &now, &next, err);
        } else {
            if (now.samples)
                st = give_batches(r, &now, size, true, err);
            rebatch_release(&now);
            now = next;
        }
        if (!st)
            st = give_batches(r, &now, size, false, err);
    }
    if (!st && now.samples)
        st = give_batches(r, &now, size, true, err);
    rebatch_release(&now);
    return st;
}

static const nino_param size_table[] = { P_SIZE, { 0 } };
NINO_NODE(rebatch_latents, "RebatchLatents", "Rebatch Latents", "latent/batch",
          "Cuts latents into batches of a size; the nodes behind it run once for each",
          NINO_INPUTS(NINO_PORT(latents, LATENT)), NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          .params = size_table, .params_size = sizeof(rebatch_params),
          NINO_RUN(latents_run, .takes_lists = true));

// ---- RebatchImages ---------------------------------------------------------------------------

// Picture k of all items.
static nino_array *picture_at(nino_run *r, int64_t k, nino_error *err)
{
    for (int i = 0; i < nino_value_count(r->in[0]); i++) {
        const nino_array *a = nino_value_at(r->in[0], i)->u.image;
        if (k < a->shape.dim[0])
            return nino_picture_batch(a, k, 1, r->def->key, err);
        k -= a->shape.dim[0];
    }
    return NULL;
}

// Pictures [at, at + n) as one batch.
static nino_array *pictures(nino_run *r, int64_t at, int64_t n, nino_error *err)
{
    nino_array *all = picture_at(r, at, err);
    for (int64_t k = 1; all && k < n; k++) {
        nino_array *one = picture_at(r, at + k, err), *both = NULL;
        if (one)
            both = nino_picture_join(all, one, 0, "images", err);
        nino_array_unref(&one);
        nino_array_unref(&all);
        all = both;
    }
    return all;
}

static nino_status images_run(nino_run *r, nino_error *err)
{
    const int64_t size = ((const rebatch_params *) r->params)->batch_size;
    int64_t n = 0;
    nino_status st = rebatch_begin(r, NINO_PORT_IMAGE, err);
    for (int i = 0; i < nino_value_count(r->in[0]); i++)
        n += nino_value_at(r->in[0], i)->u.image->shape.dim[0];
    for (int64_t at = 0; !st && at < n; at += size) {
        nino_value *v = nino_value_create(NINO_PORT_IMAGE);
        if (v && !(v->u.image = pictures(r, at, n - at < size ? n - at : size, err))) {
            nino_value_unref(&v);
            return err && err->code ? err->code : NINO_ERR_NOMEM;
        }
        st = rebatch_give(r, v, err);
    }
    return st;
}

NINO_NODE(rebatch_images, "RebatchImages", "Rebatch Images", "image/batch",
          "Cuts pictures into batches of a size; the nodes behind it run once for each",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          .params = size_table, .params_size = sizeof(rebatch_params),
          NINO_RUN(images_run, .takes_lists = true));
