// VAE decode and encode: ComfyUI's four nodes and the two of the ROCm extension with their former
// names. What the parameters of the latter do here: precision_mode and the tile sizes are honoured,
// the image is tiled only when the whole of it does not fit the memory budget.
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/model/latent_format.h"
#include "core/node/latent/vae_node.h"
#include "core/node/util.h"
#include "core/tile/fit.h"

// The fall-back of the nodes that have no tile parameters: ComfyUI's defaults.
#define TILE 512
#define OVERLAP 64

static const nino_port decode_in[] = { NINO_PORT(samples, LATENT), NINO_PORT(vae, VAE), { 0 } };
static const nino_port encode_in[] = { NINO_PORT(pixels, IMAGE), NINO_PORT(vae, VAE), { 0 } };

// Frames of a clip that is being decoded go into a picture batch.
static nino_status vae_nodes_put_frames(void *priv, int64_t first, const nino_array *frames,
                                        nino_error *err)
{
    nino_array *image = priv;
    const int64_t frame = nino_shape_count(&image->shape) / image->shape.dim[0];
    (void) err;
    memcpy(nino_array_f32(image) + first * frame, frames->data, frames->bytes);
    return NINO_OK;
}

static nino_status skip_frames(void *priv, int64_t first, const nino_array *frames, nino_error *err)
{
    (void) priv;
    (void) first;
    (void) frames;
    (void) err;
    return NINO_OK;
}

static nino_status decode_clip(nino_run *r, const nino_vae *vae, const nino_array *z,
                               const nino_video_params *p, nino_error *err)
{
    const int64_t *d = z->shape.dim, frames = nino_vae_frames(vae, d[1]);
    const nino_shape shape = NINO_SHAPE(d[0] * frames, d[2] * vae->factor, d[3] * vae->factor, 3);
    nino_tile_report report = { 0 };
    nino_status st = nino_node_fits(NINO_F32, shape, r->def->key, err);
    nino_value *v = st ? NULL : nino_node_out(r, 0, NINO_PORT_IMAGE, err);
    if (!v)
        return st ? st : NINO_ERR_NOMEM;
    if (!(v->u.image = nino_array_create(NINO_F32, shape)))
        return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "no host memory for %lld frames",
                         (long long) shape.dim[0]);
    const nino_frame_sink sink = { r->is_plan ? skip_frames : vae_nodes_put_frames, v->u.image };
    return nino_vae_decode_video(r->stream, vae, z, p, &sink, &report, err);
}

static nino_status decode_latent(nino_run *r, const nino_vae *vae, const nino_array *z,
                                 const nino_video_params *p, nino_error *err)
{
    const int64_t channels = z->shape.dim[z->shape.rank - 1];
    nino_array flat = *z; // a video latent of one frame is an image
    if (!vae->has_decoder)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", vae->name,
                              "this file has no decoder");
    if (channels != vae->channels)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", vae->name,
                              "the latent has %lld channels, this VAE (%s) needs %d",
                              (long long) channels, vae->family, vae->channels);
    if (z->shape.rank == 5 && nino_vae_is_video(vae))
        return decode_clip(r, vae, z, p, err);
    if (z->shape.rank == 5 && z->shape.dim[1] == 1)
        flat.shape = NINO_SHAPE(z->shape.dim[0], z->shape.dim[2], z->shape.dim[3], z->shape.dim[4]);
    if (flat.shape.rank != 4)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", vae->name,
                              "a latent with %lld frames needs a video VAE",
                              (long long) z->shape.dim[1]);
    const int64_t *d = flat.shape.dim;
    const nino_status st = nino_node_fits(
        NINO_F32, NINO_SHAPE(d[0], d[1] * vae->factor, d[2] * vae->factor, 3), r->def->key, err);
    if (st)
        return st;
    nino_value *v = nino_node_out(r, 0, NINO_PORT_IMAGE, err);
    nino_tile_report report = { 0 };
    return v ? nino_vae_decode_tiled(r->stream, vae, &flat, &p->tile, &v->u.image, &report, err)
             : NINO_ERR_NOMEM;
}

nino_status nino_vae_node_decode(nino_run *r, const nino_video_params *p, nino_error *err)
{
    const nino_vae *vae = r->in[1]->u.vae;
    nino_array *z = r->in[0]->u.latent.samples;
    const int64_t *d = z->shape.dim, f = vae->fold;
    const bool is_unfolded = vae->takes_unfolded && z->shape.rank == 4 &&
                             d[3] * f * f == vae->channels && d[1] >= f && d[2] >= f &&
                             d[1] % f == 0 && d[2] % f == 0;
    z = is_unfolded ? nino_latent_fold(z, vae->fold) : nino_array_ref(z);
    const nino_status st = z ? decode_latent(r, vae, z, p, err)
                             : nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    nino_array_unref(&z);
    return st;
}

static nino_status encode_image(nino_run *r, const nino_vae *vae, const nino_array *x,
                                const nino_tile_params *tile, nino_array **out, nino_error *err)
{
    nino_tile_report report = { 0 };
    if (!vae->has_encoder)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "model", vae->name,
                              "this file has no encoder");
    if (x->shape.dim[1] < vae->factor || x->shape.dim[2] < vae->factor)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", vae->name,
                              "an image of %lldx%lld is smaller than one latent cell (%d pixels)",
                              (long long) x->shape.dim[2], (long long) x->shape.dim[1],
                              vae->factor);
    if (nino_vae_is_video(vae))
        return nino_vae_encode_video(r->stream, vae, x, &(nino_video_params){ .tile = *tile }, out,
                                     &report, err);
    return nino_vae_encode_tiled(r->stream, vae, x, tile, out, &report, err);
}

static nino_status vae_nodes_encode(nino_run *r, const nino_tile_params *tile, nino_error *err)
{
    nino_value *v = nino_node_out(r, 0, NINO_PORT_LATENT, err);
    return v ? encode_image(r, nino_in_vae(r, 1), nino_in_image(r, 0), tile, &v->u.latent.samples,
                            err)
             : NINO_ERR_NOMEM;
}

// ---- VAEDecode, VAEEncode --------------------------------------------------------------------

static const nino_video_params whole = {
    .tile = { .style = NINO_TILE_AUTO, .tile = TILE, .overlap = OVERLAP }
};

nino_status nino_encode_pixels(nino_run *r, const nino_vae *vae, const nino_array *image,
                               nino_array **out, nino_error *err)
{
    return encode_image(r, vae, image, &whole.tile, out, err);
}

static nino_status decode_run(nino_run *r, nino_error *err)
{
    return nino_vae_node_decode(r, &whole, err);
}
static nino_status vae_nodes_encode_run(nino_run *r, nino_error *err)
{
    return vae_nodes_encode(r, &whole.tile, err);
}

// To a VAE for video a batch of pictures is a clip.
static bool is_picture_vae(nino_value *const *in, const void *params)
{
    (void) params;
    return in[1] && in[1]->u.vae && !nino_vae_is_video(in[1]->u.vae);
}

NINO_NODE(vae_decode, "VAEDecode", "VAE Decode", "latent", "Turns a latent into pixels",
          .inputs = decode_in, NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_RUN(decode_run, .items = NINO_ITEMS_SHARED));
NINO_NODE(vae_encode, "VAEEncode", "VAE Encode", "latent", "Turns pixels into a latent",
          .inputs = encode_in, NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
          NINO_RUN(vae_nodes_encode_run, .items = NINO_ITEMS_APART,
                   .items_apart_with = is_picture_vae));

// ---- VAEDecodeTiled, VAEEncodeTiled ----------------------------------------------------------

typedef struct tiled_params {
    int64_t tile_size, overlap, temporal_size, temporal_overlap;
} tiled_params;

// More overlap than a quarter of the tile is cut down, as both stock nodes do.
static nino_tile_params stock_tiles(const tiled_params *p)
{
    const int64_t most = p->tile_size / 4;
    return (nino_tile_params){ .style = NINO_TILE_STOCK,
                               .tile = (int) p->tile_size,
                               .overlap = (int) (p->overlap > most ? most : p->overlap) };
}

// Frames at a time and shared, as numbers of latent frames; ComfyUI's rules for both.
static void set_chunks(const nino_run *r, int64_t size, int64_t overlap, nino_video_params *p)
{
    const int tc = r->in[1]->u.vae->time_factor;
    const int64_t n = size / tc > 2 ? size / tc : 2,
                  v = overlap / tc < n / 2 ? overlap / tc : n / 2;
    p->chunk = (int) n;
    p->overlap = v > 1 ? (int) v : 1;
}

static nino_status decode_tiled_run(nino_run *r, nino_error *err)
{
    const tiled_params *p = r->params;
    const int64_t shared =
        p->temporal_size < 2 * p->temporal_overlap ? p->temporal_overlap / 2 : p->temporal_overlap;
    nino_video_params v = { .tile = stock_tiles(p) };
    set_chunks(r, p->temporal_size, shared, &v);
    return nino_vae_node_decode(r, &v, err);
}

static nino_status encode_tiled_run(nino_run *r, nino_error *err)
{
    const nino_tile_params t = stock_tiles(r->params);
    return vae_nodes_encode(r, &t, err);
}

#define FRAMES_HELP                                                                                \
    "Clips in pieces; no effect on Wan's causal VAE, which streams frame by frame and is exact"
// Measured by bench/tiles: bench/results/tiles.md.
#define LOSS                                                                                       \
    ". Tiles lose: against the whole decode of the demo's VAE (AutoencoderKL, sheet.png, 816 x "   \
    "952 "                                                                                         \
    "pixels) three passes of 512, overlap 64, have a PSNR of 31.8 dB, of 256, overlap 32, 26.0 "   \
    "dB; "                                                                                         \
    "with TAESD of 512, overlap 64, 48.7 dB"
#define ENCODE_HELP "No effect: clips are encoded frame by frame, which is exact"
#define TILED_OVERLAP                                                                              \
    NINO_P_INT(tiled_params, overlap, 64, 0, 4096, 32, .label = "Overlap", .unit = "px",           \
               .help = "Pixels that neighbouring tiles share, at most a quarter of the tile",      \
               .ui_max.i = 512)
#define TILED_FRAMES(text, ...)                                                                    \
    NINO_P_INT(tiled_params, temporal_size, 64, 8, 4096, 4, .label = "Frames", .help = text,       \
               __VA_ARGS__),                                                                       \
        NINO_P_INT(tiled_params, temporal_overlap, 8, 4, 4096, 4, .label = "Frame overlap",        \
                   .help = text, __VA_ARGS__)

NINO_NODE(vae_decode_tiled, "VAEDecodeTiled", "VAE Decode (Tiled)", "_for_testing",
          "Decodes in three passes of tiles that are averaged" LOSS, .inputs = decode_in,
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(tiled_params,
                      NINO_P_INT(tiled_params, tile_size, 512, 64, 4096, 32, .label = "Tile",
                                 .unit = "px",
                                 .help = "Side of a tile; smaller tiles need less memory",
                                 .ui_max.i = 2048),
                      TILED_OVERLAP, TILED_FRAMES(FRAMES_HELP, .acts_for = NINO_ACTS_FOR_CLIPS)),
          NINO_RUN(decode_tiled_run, .items = NINO_ITEMS_SHARED));
NINO_NODE(
    vae_encode_tiled, "VAEEncodeTiled", "VAE Encode (Tiled)", "_for_testing",
    "Encodes in three passes of tiles that are averaged", .inputs = encode_in,
    NINO_OUTPUTS(NINO_PORT(LATENT, LATENT)),
    NINO_PARAMS(tiled_params,
                NINO_P_INT(tiled_params, tile_size, 512, 64, 4096, 64, .label = "Tile",
                           .unit = "px", .help = "Side of a tile; smaller tiles need less memory",
                           .ui_max.i = 2048),
                TILED_OVERLAP, TILED_FRAMES(ENCODE_HELP, .is_inert = true)),
    NINO_RUN(encode_tiled_run, .items = NINO_ITEMS_APART, .items_apart_with = is_picture_vae));

#define EXACT_TILES(params)                                                                        \
    NINO_P_BOOL(params, exact_tiles, false, .label = "Exact tiles", .optional = true,              \
                .help =                                                                            \
                    "Where there would be tiles: bands of at most so many rows whose group "       \
                    "norms use the statistics of the whole picture, without overlaps; the "        \
                    "result is the whole decode's within rounding. Pictures and AutoencoderKL "    \
                    "only; other VAEs use tiles")

// ---- ROCMOptimizedVAEDecode ------------------------------------------------------------------

typedef struct rocm_params {
    int64_t tile_size, overlap, precision_mode, enable_temporal_tiling, temporal_chunk_size,
        temporal_overlap;
    bool use_rocm_optimizations, batch_optimization, compatibility_mode, last_frame_fix,
        exact_tiles;
} rocm_params;

static nino_precision rocm_precision(const void *params)
{
    static const nino_precision of[] = { NINO_PREC_AUTO, NINO_PREC_F32, NINO_PREC_F16,
                                         NINO_PREC_BF16, NINO_PREC_MIXED };
    const rocm_params *p = params;
    return p->compatibility_mode ? NINO_PREC_AUTO : of[p->precision_mode];
}

static bool rocm_is_fixed(const void *params)
{
    const rocm_params *p = params;
    return !p->use_rocm_optimizations && !p->compatibility_mode;
}

// "auto": chunks only for clips that are too much at once, by what the plan says, and for VAEs that
// need them.
static bool fits_whole(const nino_run *r)
{
    const nino_vae *vae = r->in[1]->u.vae;
    const nino_array *z = r->in[0]->u.latent.samples;
    const int64_t *d = z->shape.dim;
    nino_vae_need need = { 0 };
    uint64_t budget;
    return z->shape.rank != 5 || !vae->decode_clip ||
           (!nino_vae_need_clip(r->stream, vae, true, d[1], 0, (int) d[2], (int) d[3], &need,
                                NULL) &&
            nino_vae_fits(r->stream, &need, &budget));
}

static nino_status vae_nodes_rocm_run(nino_run *r, nino_error *err)
{
    const rocm_params *p = r->params;
    if (p->compatibility_mode)
        return nino_vae_node_decode(r, &whole, err);
    const int64_t most = p->tile_size / 4;
    nino_video_params v = { .tile = { .style = NINO_TILE_AUTO,
                                      .tile = (int) p->tile_size,
                                      .overlap = (int) (p->overlap > most ? most : p->overlap),
                                      .exact = p->exact_tiles,
                                      .one_by_one = !p->batch_optimization } };
    v.repeat_last = p->last_frame_fix;
    if (p->enable_temporal_tiling == 1 || (p->enable_temporal_tiling == 0 && !fits_whole(r))) {
        v.chunk = (int) p->temporal_chunk_size;
        v.overlap = (int) p->temporal_overlap;
    }
    return nino_vae_node_decode(r, &v, err);
}

static const char *const temporal[] = { "auto", "enable", "disable", NULL };

#define WRAPPER "this was a test wrapper; ROCMOptimizedVAEDecode runs in its place"
static const nino_alias rocm_aliases[] = { { .name = "ROCmVAEDecode" },
                                           { .name = "ROCMOptimizedVAEDecodeInstrumented",
                                             .note = WRAPPER },
                                           { 0 } };

#define FIRST_FIVE                                                                                 \
    "tile_size", "overlap", "use_rocm_optimizations", "precision_mode", "batch_optimization"
NINO_NODE(
    rocm_vae_decode, "ROCMOptimizedVAEDecode", "ROCm VAE Decode", "ROCm Ninodes/VAE",
    "Turns a latent into pixels; tiles only when the memory budget asks for it" LOSS
    ", or none with "
    "exact_tiles",
    .inputs = decode_in, NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
    NINO_PARAMS(
        rocm_params,
        NINO_P_INT(rocm_params, tile_size, 768, 256, 2048, 64, .label = "Tile", .unit = "px",
                   .help = "Side of a tile, if the whole image does not fit the memory budget"),
        NINO_P_INT(rocm_params, overlap, 96, 32, 512, 16, .label = "Overlap", .unit = "px",
                   .help = "Pixels that neighbouring tiles share, at most a quarter of the tile"),
        NINO_P_BOOL(rocm_params, use_rocm_optimizations, true, .label = "Optimised",
                    .help = "Lets the planner choose for this node before the run: tiles, pictures "
                            "and frames at once, precision, which weights make room. Off: the "
                            "largest tiles that fit, one picture and one latent frame at a time"),
        NINO_P_ENUM(
            rocm_params, precision_mode, NINO_WORDS("auto", "fp32", "fp16", "bf16", "mixed"), 0,
            .label = "Precision",
            .help = "How numbers are stored between operations; auto asks the device profile"),
        NINO_P_BOOL(rocm_params, batch_optimization, true, .label = "Batching",
                    .help = "As many whole pictures of a batch, and latent frames of a clip, go "
                            "through together as the plan finds fastest. Off: one at a time"),
        NINO_P_BOOL(rocm_params, compatibility_mode, false, .label = "As VAEDecode",
                    .optional = true,
                    .help = "Decodes exactly as VAEDecode does, without these tile sizes"),
        NINO_P_ENUM(rocm_params, enable_temporal_tiling, temporal, 0, .label = "Temporal tiling",
                    .optional = true, .acts_for = NINO_ACTS_FOR_CLIPS, .help = FRAMES_HELP),
        NINO_P_INT(rocm_params, temporal_chunk_size, 16, 4, 256, 2, .label = "Frames at once",
                   .optional = true, .acts_for = NINO_ACTS_FOR_CLIPS, .help = FRAMES_HELP),
        NINO_P_INT(rocm_params, temporal_overlap, 2, 1, 8, 1, .label = "Frame overlap",
                   .optional = true, .acts_for = NINO_ACTS_FOR_CLIPS, .help = FRAMES_HELP),
        NINO_P_BOOL(
            rocm_params, last_frame_fix, false, .label = "Last frame fix", .optional = true,
            .acts_for = NINO_ACTS_FOR_CLIPS,
            .help = "With temporal tiling: the last latent frame goes through twice, what comes "
                    "of the second is left out"),
        EXACT_TILES(rocm_params)),
    .aliases = rocm_aliases,
    NINO_ORDERS({ NINO_WORDS(FIRST_FIVE, "compatibility_mode", "enable_temporal_tiling",
                             "temporal_chunk_size", "temporal_overlap", "last_frame_fix"),
                  "2.1.0" },
                { NINO_WORDS(FIRST_FIVE, "compatibility_mode"), "2.0.10" },
                { NINO_WORDS(FIRST_FIVE, "-i", "-b", "compatibility_mode"), "1.0.13" },
                { NINO_WORDS(FIRST_FIVE, "-i", "-b"), "1.0.13" },
                { NINO_WORDS(FIRST_FIVE, "-b", "-b", "-b"), "1.0.9" },
                { NINO_WORDS(FIRST_FIVE), "1.0.0" }),
    NINO_RUN(vae_nodes_rocm_run, .precision = rocm_precision, .is_fixed = rocm_is_fixed,
             .items = NINO_ITEMS_SHARED));

// ---- ROCMOptimizedVAEDecodeTiled -------------------------------------------------------------

typedef struct rocm_tiled_params {
    int64_t tile_size, overlap, temporal_size, temporal_overlap;
    bool rocm_optimizations, exact_tiles;
} rocm_tiled_params;

static nino_status rocm_tiled_run(nino_run *r, nino_error *err)
{
    const rocm_tiled_params *p = r->params;
    // Tiles smaller than their overlaps make no progress, whatever the switch says.
    const int64_t most = p->rocm_optimizations ? p->tile_size / 4 : p->tile_size / 2;
    const bool is_short = p->rocm_optimizations && p->temporal_size < 2 * p->temporal_overlap;
    nino_video_params v = { .tile = { .style = NINO_TILE_STOCK,
                                      .tile = (int) p->tile_size,
                                      .overlap = (int) (p->overlap > most ? most : p->overlap),
                                      .exact = p->exact_tiles } };
    set_chunks(r, p->temporal_size, is_short ? p->temporal_size / 2 : p->temporal_overlap, &v);
    return nino_vae_node_decode(r, &v, err);
}

NINO_NODE(
    rocm_vae_decode_tiled, "ROCMOptimizedVAEDecodeTiled", "ROCm VAE Decode Tiled",
    "ROCm Ninodes/VAE",
    "Decodes in three passes of tiles that are averaged" LOSS ", or none with exact_tiles",
    .inputs = decode_in, NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
    NINO_PARAMS(rocm_tiled_params,
                NINO_P_INT(rocm_tiled_params, tile_size, 768, 256, 2048, 64, .label = "Tile",
                           .unit = "px", .help = "Side of a tile; smaller tiles need less memory"),
                NINO_P_INT(rocm_tiled_params, overlap, 96, 32, 512, 16, .label = "Overlap",
                           .unit = "px", .help = "Pixels that neighbouring tiles share"),
                NINO_P_INT(rocm_tiled_params, temporal_size, 64, 8, 4096, 4, .label = "Frames",
                           .acts_for = NINO_ACTS_FOR_CLIPS, .help = FRAMES_HELP),
                NINO_P_INT(rocm_tiled_params, temporal_overlap, 8, 4, 4096, 4,
                           .label = "Frame overlap", .acts_for = NINO_ACTS_FOR_CLIPS,
                           .help = FRAMES_HELP),
                NINO_P_BOOL(rocm_tiled_params, rocm_optimizations, true, .label = "Limit overlap",
                            .help = "Keeps the overlap within a quarter of the tile"),
                EXACT_TILES(rocm_tiled_params)),
    NINO_ALIASES({ .name = "ROCmVAEDecodeTiled" }),
    NINO_RUN(rocm_tiled_run, .items = NINO_ITEMS_SHARED));
