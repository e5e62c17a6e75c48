// Batches of images, masks and latents from several, and images cut into tiles and back. Behaviour
// of ComfyUI's nodes_post_processing.py, nodes_latent.py and nodes_images.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

// ---- BatchImagesNode, BatchMasksNode, BatchLatentsNode ---------------------------------------

// Replaces *a by `next`, which is taken.
static nino_status batch_replace(nino_array **a, nino_array *next)
{
    if (!next)
        return NINO_ERR_NOMEM;
    nino_array_unref(a);
    *a = next;
    return NINO_OK;
}

// b as large as a, cut to its aspect ratio; of two pictures the one with fewer channels gets more.
static nino_status batch_fit(nino_run *r, nino_array **all, nino_array **b, bool is_picture,
                             nino_error *err)
{
    const nino_picture to = nino_picture_of(*all), from = nino_picture_of(*b);
    const char *what = r->def->key;
    nino_status st = NINO_OK;
    if (to.h != from.h || to.w != from.w) {
        nino_array view = **b, *sized = NULL;
        const bool is_flat = view.shape.rank == 3; // masks
        if (is_flat)
            view.shape = NINO_SHAPE(from.n, from.h, from.w, 1);
        st = nino_rescale(r, &view, to.w, to.h, NINO_SCALE_BILINEAR, true, &sized, err);
        if (!st && is_flat)
            sized->shape = NINO_SHAPE(from.n, to.h, to.w);
        st = st ? st : batch_replace(b, sized);
    }
    if (!st && is_picture && from.c < to.c)
        st = batch_replace(b, nino_picture_channels(*b, to.c, what, err));
    if (!st && is_picture && to.c < from.c)
        st = batch_replace(all, nino_picture_channels(*all, from.c, what, err));
    return st;
}

// All inputs one after the other.
static nino_status batch_all(nino_run *r, nino_array *(*of)(const nino_run *r, int i),
                             bool is_picture, nino_array **out, nino_error *err)
{
    nino_array *all = NULL;
    nino_status st = NINO_OK;
    for (int i = 0; r->def->inputs[i].key && !st; i++) {
        nino_array *next = r->in[i] ? nino_array_ref(of(r, i)) : NULL;
        if (next && all && !(st = batch_fit(r, &all, &next, is_picture, err)))
            st = batch_replace(&all, nino_picture_join(all, next, 0, r->def->key, err));
        else if (next && !all)
            all = nino_array_ref(next);
        nino_array_unref(&next);
    }
    if (st)
        nino_array_unref(&all);
    *out = all;
    return st;
}

static nino_status batch_images_run(nino_run *r, nino_error *err)
{
    nino_array *all = NULL;
    const nino_status st = batch_all(r, nino_in_image, true, &all, err);
    return st ? st : nino_out_image(r, 0, all, err);
}

static nino_status batch_masks_run(nino_run *r, nino_error *err)
{
    nino_array *all = NULL;
    const nino_status st = batch_all(r, nino_in_mask, false, &all, err);
    return st ? st : nino_out_mask(r, 0, all, err);
}

static nino_array *batch_samples(const nino_run *r, int i) { return nino_in_latent(r, i)->samples; }

static nino_status batch_latents_run(nino_run *r, nino_error *err)
{
    nino_latent l = { 0 };
    int64_t n = 0;
    const nino_status st = batch_all(r, batch_samples, false, &l.samples, err);
    if (st || !l.samples)
        return st;
    l.batch_index = calloc((size_t) l.samples->shape.dim[0] + 1, sizeof(*l.batch_index));
    for (int i = 0; r->def->inputs[i].key && l.batch_index; i++) {
        const nino_latent *in = nino_in_latent(r, i);
        for (int64_t k = 0; in && k < in->samples->shape.dim[0]; k++)
            l.batch_index[n++] = in->batch_index ? in->batch_index[k] : k;
    }
    if (!l.batch_index) {
        nino_array_unref(&l.samples);
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    }
    l.noise_mask = nino_array_ref(nino_in_latent(r, 0)->noise_mask);
    return nino_out_latent(r, 0, l, err);
}

#define BATCH_HELP "They follow each other in this order, at the size of the first"
NINO_NODE(batch_images, "BatchImagesNode", "Batch Images", "image/batch", "One batch of several",
          NINO_INPUTS(NINO_FIRST("images.image0", IMAGE, .help = BATCH_HELP),
                      NINO_MORE_1_49("images.image", IMAGE, .help = BATCH_HELP)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(batch_images_run));
NINO_NODE(batch_masks, "BatchMasksNode", "Batch Masks", "image/mask", "One batch of several",
          NINO_INPUTS(NINO_FIRST("masks.mask0", MASK, .help = BATCH_HELP),
                      NINO_MORE_1_49("masks.mask", MASK, .help = BATCH_HELP)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)), NINO_RUN(batch_masks_run));
NINO_NODE(batch_latents, "BatchLatentsNode", "Batch Latents", "model/latent/batch",
          "One batch of several",
          NINO_INPUTS(NINO_FIRST("latents.latent0", LATENT, .help = BATCH_HELP),
                      NINO_MORE_1_49("latents.latent", LATENT, .help = BATCH_HELP)),
          NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)), NINO_RUN(batch_latents_run));

// ---- SplitImageToTileList, ImageMergeTileList ------------------------------------------------

typedef struct tiles_params {
    int64_t tile_width, tile_height, final_width, final_height, overlap;
} tiles_params;

typedef struct tiles_axis {
    int64_t size, tile, stride, n;
} tiles_axis;

// The last tile ends where the picture does.
static tiles_axis tiles_of(int64_t size, int64_t tile, int64_t overlap)
{
    tiles_axis a = { .size = size, .tile = tile < size ? tile : size };
    const double stride = fmax((double) tile / 4, (double) (tile - overlap));
    a.stride = (int64_t) fmax(rint(stride), 1); // of tiles of a pixel or two as well
    a.n = 1;
    while (a.tile + (a.n - 1) * a.stride < size)
        a.n++;
    return a;
}

static int64_t tiles_at(const tiles_axis *a, int64_t i)
{
    return i * a->stride < a->size - a->tile ? i * a->stride : a->size - a->tile;
}

static nino_status tiles_add(nino_run *r, nino_array *image, nino_error *err)
{
    nino_value *v = image ? nino_value_create(NINO_PORT_IMAGE) : NULL;
    if (v)
        v->u.image = image;
    else
        nino_array_unref(&image);
    if (v && nino_value_append(r->out[0], v))
        return NINO_OK;
    return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
}

static nino_status split_tiles_run(nino_run *r, nino_error *err)
{
    const tiles_params *p = r->params;
    const nino_array *image = nino_in_image(r, 0);
    const nino_picture s = nino_picture_of(image);
    const tiles_axis x = tiles_of(s.w, p->tile_width, p->overlap);
    const tiles_axis y = tiles_of(s.h, p->tile_height, p->overlap);
    nino_status st = NINO_OK;
    if (!(r->out[0] = nino_value_create_list(NINO_PORT_IMAGE)))
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; i < x.n * y.n && !st; i++)
        st = tiles_add(r,
                       nino_picture_crop(image, tiles_at(&y, i / x.n), tiles_at(&x, i % x.n),
                                         y.tile, x.tile, r->def->key, err),
                       err);
    return st;
}

// Weight of cell i of n: half a wave, and nowhere quite zero.
static float tiles_weight(int64_t i, int64_t n)
{
    const double w = n > 1 ? sin(M_PI * (double) i / (double) (n - 1)) : 1;
    return (float) fmax(w, 1e-5);
}

static void tiles_paste(nino_array *sum, float *weights, const nino_array *tile, int64_t top,
                        int64_t left)
{
    const nino_picture to = nino_picture_of(sum), from = nino_picture_of(tile);
    for (int64_t n = 0; n < from.n && n < to.n; n++)
        for (int64_t y = 0; y < from.h && top + y < to.h; y++)
            for (int64_t x = 0; x < from.w && left + x < to.w; x++) {
                const float w = tiles_weight(y, from.h) * tiles_weight(x, from.w);
                const float *s = nino_picture_at(&from, n, y, x);
                float *d = nino_picture_at(&to, n, top + y, left + x);
                for (int64_t c = 0; c < from.c && c < to.c; c++)
                    d[c] += w * s[c];
                if (!n)
                    weights[(top + y) * to.w + left + x] += w;
            }
}

static void tiles_normalise(nino_array *sum, const float *weights)
{
    const nino_picture to = nino_picture_of(sum);
    for (int64_t n = 0; n < to.n; n++)
        for (int64_t i = 0; i < to.h * to.w; i++)
            for (int64_t c = 0; c < to.c && weights[i] > 0; c++)
                to.v[(n * to.h * to.w + i) * to.c + c] /= weights[i];
}

static nino_status merge_tiles_run(nino_run *r, nino_error *err)
{
    const tiles_params *p = r->params;
    const int n = nino_value_count(r->in[0]);
    const nino_value *first = nino_value_at(r->in[0], 0);
    if (!first)
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "image_list", "there is no tile in it");
    const nino_picture s = nino_picture_of(first->u.image);
    // the tiles' own size says how the picture was cut
    const tiles_axis x = tiles_of(p->final_width, s.w, p->overlap);
    const tiles_axis y = tiles_of(p->final_height, s.h, p->overlap);
    nino_array *sum = nino_node_array(
        NINO_F32, NINO_SHAPE(s.n, p->final_height, p->final_width, s.c), r->def->key, err);
    float *weights = calloc((size_t) (p->final_height * p->final_width), sizeof(float));
    if (!sum || !weights) {
        free(weights);
        nino_array_unref(&sum);
        return err->code ? err->code : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    }
    nino_status st = NINO_OK;
    for (int i = 0; i < n && i < x.n * y.n && !r->is_plan && !st; i++) {
        tiles_paste(sum, weights, nino_value_at(r->in[0], i)->u.image, tiles_at(&y, i / x.n),
                    tiles_at(&x, i % x.n));
        st = nino_node_cancelled(r, err);
    }
    tiles_normalise(sum, weights);
    free(weights);
    if (st) {
        nino_array_unref(&sum);
        return st;
    }
    return nino_out_image(r, 0, sum, err);
}

#define TILES_INT(fld, d, lo, hi, name, text)                                                      \
    NINO_P_INT(tiles_params, fld, d, lo, hi, 1, .label = name, .unit = "px", .help = text)
NINO_NODE(split_tiles, "SplitImageToTileList", "Split Image into List of Tiles", "image/batch",
          "A list of tiles that overlap", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(tiles_params,
                      TILES_INT(tile_width, 1024, 64, 16384, "Tile width", "Width of a tile"),
                      TILES_INT(tile_height, 1024, 64, 16384, "Tile height", "Height of a tile"),
                      TILES_INT(overlap, 128, 0, 4096, "Overlap", "What neighbours share")),
          NINO_RUN(split_tiles_run));
NINO_NODE(merge_tiles, "ImageMergeTileList", "Merge List of Tiles to Image", "image/batch",
          "The image of a list of tiles, blended where they overlap",
          NINO_INPUTS(NINO_PORT(image_list, IMAGE)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(tiles_params,
                      TILES_INT(final_width, 1024, 64, 32768, "Width", "Width of the image"),
                      TILES_INT(final_height, 1024, 64, 32768, "Height", "Height of the image"),
                      TILES_INT(overlap, 128, 0, 4096, "Overlap", "What neighbours share")),
          NINO_RUN(merge_tiles_run, .takes_lists = true));
