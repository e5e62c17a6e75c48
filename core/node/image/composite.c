// Images and masks together: channels, transparency, pasting. Behaviour of ComfyUI's nodes_mask.py
// and nodes_compositing.py; operators: Porter and Duff 1984, "Compositing Digital Images", and the
// blend modes of the W3C's compositing specification.
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

static const nino_port both_out[] = { NINO_PORT(IMAGE, IMAGE), NINO_PORT(MASK, MASK), { 0 } };

// ---- MaskToImage, ImageToMask, ImageColorToMask ----------------------------------------------

static nino_status to_image_run(nino_run *r, nino_error *err)
{
    return nino_out_image(r, 0, nino_mask_to_image(nino_in_mask(r, 0), r->def->key, err), err);
}

NINO_NODE(mask_to_image, "MaskToImage", "Convert Mask to Image", "mask", "A mask as a grey picture",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_RUN(to_image_run));

// Channel c of every pixel as a mask.
static nino_array *channel(const nino_picture *s, int64_t c, const char *what, nino_error *err)
{
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(s->n, s->h, s->w), what, err);
    for (int64_t i = 0; out && i < s->n * s->h * s->w; i++)
        nino_array_f32(out)[i] = s->v[i * s->c + c];
    return out;
}

typedef struct channel_params {
    int64_t channel;
} channel_params;

static nino_status to_mask_run(nino_run *r, nino_error *err)
{
    const channel_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    if (p->channel >= s.c)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "channel",
                              "this image has %lld channels, no alpha", (long long) s.c);
    return nino_out_mask(r, 0, channel(&s, p->channel, r->def->key, err), err);
}

static const char *const channels[] = { "red", "green", "blue", "alpha", NULL };
NINO_NODE(image_to_mask, "ImageToMask", "Convert Image to Mask", "mask",
          "One channel of an image as a mask", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(channel_params,
                      NINO_P_ENUM(channel_params, channel, channels, 0, .label = "Channel",
                                  .help = "Which one becomes the mask")),
          NINO_RUN(to_mask_run));

typedef struct color_params {
    int64_t color;
} color_params;

static int64_t byte_of(float v) { return (int64_t) rintf((v < 0 ? 0 : v > 1 ? 1 : v) * 255.0f); }

static nino_status color_run(nino_run *r, nino_error *err)
{
    const int64_t color = ((const color_params *) r->params)->color;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(s.n, s.h, s.w), r->def->key, err);
    for (int64_t i = 0; out && i < s.n * s.h * s.w; i++) {
        const float *v = s.v + i * s.c;
        const int64_t rgb = byte_of(v[0]) << 16 | byte_of(v[1]) << 8 | byte_of(v[2]);
        nino_array_f32(out)[i] = rgb == color ? 1.0f : 0.0f;
    }
    return nino_out_mask(r, 0, out, err);
}

NINO_NODE(color_to_mask, "ImageColorToMask", "ImageColorToMask", "mask",
          "1 where the image has exactly this colour", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
          NINO_PARAMS(color_params,
                      NINO_P_INT(color_params, color, 0, 0, 0xFFFFFF, 1, .label = "Colour",
                                 .help = "65536 red + 256 green + blue, each 0 to 255")),
          NINO_RUN(color_run));

// ---- SplitImageWithAlpha, JoinImageWithAlpha -------------------------------------------------

static nino_status split_run(nino_run *r, nino_error *err)
{
    const nino_array *in = nino_in_image(r, 0);
    const nino_picture s = nino_picture_of(in);
    nino_array *mask = s.c > 3
                           ? channel(&s, 3, r->def->key, err)
                           : nino_node_array(NINO_F32, NINO_SHAPE(s.n, s.h, s.w), r->def->key, err);
    for (int64_t i = 0; mask && s.c > 3 && i < s.n * s.h * s.w; i++)
        nino_array_f32(mask)[i] = 1.0f - nino_array_f32(mask)[i];
    const nino_status st = nino_out_mask(r, 1, mask, err);
    return st ? st : nino_out_image(r, 0, nino_picture_channels(in, 3, r->def->key, err), err);
}

NINO_NODE(split_alpha, "SplitImageWithAlpha", "Split Image with Alpha", "mask/compositing",
          "Colours, and 1 - alpha as a mask", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          .outputs = both_out, NINO_RUN(split_run));

static nino_status join_run(nino_run *r, nino_error *err)
{
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    nino_array *mask = NULL;
    const nino_status st = nino_mask_fit(r, nino_in_mask(r, 1), s.h, s.w, &mask, err);
    if (st)
        return st;
    const int64_t nm = mask->shape.dim[0], n = s.n < nm ? s.n : nm;
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(n, s.h, s.w, 4), r->def->key, err);
    for (int64_t i = 0; out && i < n * s.h * s.w; i++) {
        memcpy(nino_array_f32(out) + i * 4, s.v + i * s.c, 3 * sizeof(float));
        nino_array_f32(out)[i * 4 + 3] = 1.0f - nino_array_f32(mask)[i];
    }
    nino_array_unref(&mask);
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(join_alpha, "JoinImageWithAlpha", "Join Image with Alpha", "mask/compositing",
          "An image whose transparency is the mask; the shorter batch counts",
          NINO_INPUTS(NINO_PORT(image, IMAGE), NINO_PORT(alpha, MASK, .help = "1: transparent")),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)), NINO_RUN(join_run));

// ---- ImageCompositeMasked --------------------------------------------------------------------

typedef struct composite_params {
    int64_t x, y;
    bool resize_source;
} composite_params;

static nino_status composite_run(nino_run *r, nino_error *err)
{
    const composite_params *p = r->params;
    const nino_picture d = nino_picture_of(nino_in_image(r, 0));
    nino_array *source = nino_array_ref(nino_in_image(r, 1)), *mask = NULL, *out = NULL;
    nino_status st = NINO_OK;
    if (source->shape.dim[3] != d.c) { // as many channels as the destination, opaque if need be
        nino_array *other = nino_picture_channels(source, d.c, r->def->key, err);
        nino_array_unref(&source);
        if (!(source = other))
            return NINO_ERR_NOMEM;
    }
    if (p->resize_source) {
        nino_array *whole = source;
        source = NULL;
        st = nino_rescale(r, whole, d.w, d.h, NINO_SCALE_BILINEAR, false, &source, err);
        nino_array_unref(&whole);
    }
    if (st == NINO_OK && nino_in_mask(r, 2))
        st = nino_mask_fit(r, nino_in_mask(r, 2), source->shape.dim[1], source->shape.dim[2], &mask,
                           err);
    if (st == NINO_OK && (out = nino_picture_copy(nino_in_image(r, 0), r->def->key, err)))
        nino_picture_paste(out, source, mask, p->y, p->x);
    nino_array_unref(&source);
    nino_array_unref(&mask);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(image_composite, "ImageCompositeMasked", "ImageCompositeMasked", "image",
          "Puts one image onto another where a mask says so",
          NINO_INPUTS(NINO_PORT(destination, IMAGE), NINO_PORT(source, IMAGE),
                      NINO_PORT(mask, MASK, .optional = true, .help = "1: the source shows")),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(composite_params,
                      NINO_P_INT(composite_params, x, 0, 0, 16384, 1, .label = "Left", .unit = "px",
                                 .help = "Where the left edge of the source goes"),
                      NINO_P_INT(composite_params, y, 0, 0, 16384, 1, .label = "Top", .unit = "px",
                                 .help = "Where the top edge of the source goes"),
                      NINO_P_BOOL(composite_params, resize_source, false, .label = "Resize source",
                                  .help = "Scales the source to the destination first")),
          NINO_RUN(composite_run));

// ---- PorterDuffImageComposite ----------------------------------------------------------------

static const char *const modes[] = { "ADD",     "CLEAR",    "DARKEN",   "DST",      "DST_ATOP",
                                     "DST_IN",  "DST_OUT",  "DST_OVER", "LIGHTEN",  "MULTIPLY",
                                     "OVERLAY", "SCREEN",   "SRC",      "SRC_ATOP", "SRC_IN",
                                     "SRC_OUT", "SRC_OVER", "XOR",      NULL };
enum {
    ADD,
    CLEAR,
    DARKEN,
    DST,
    DST_ATOP,
    DST_IN,
    DST_OUT,
    DST_OVER,
    LIGHTEN,
    MULTIPLY,
    OVERLAY,
    SCREEN,
    SRC,
    SRC_ATOP,
    SRC_IN,
    SRC_OUT,
    SRC_OVER,
    XOR
};

static float composite_unit_range(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

static float out_alpha(int mode, float sa, float da)
{
    switch (mode) {
    case ADD: return composite_unit_range(sa + da);
    case CLEAR: return 0;
    case DST:
    case SRC_ATOP: return da;
    case SRC:
    case DST_ATOP: return sa;
    case DST_IN:
    case SRC_IN:
    case MULTIPLY: return sa * da;
    case DST_OUT: return (1 - sa) * da;
    case SRC_OUT: return (1 - da) * sa;
    case DST_OVER: return da + (1 - da) * sa;
    case SRC_OVER: return sa + (1 - sa) * da;
    case XOR: return (1 - da) * sa + (1 - sa) * da;
    default: return sa + da - sa * da; // DARKEN, LIGHTEN, OVERLAY, SCREEN
    }
}

// s and d are multiplied by their alphas, as the result is.
static float out_color(int mode, float s, float sa, float d, float da)
{
    switch (mode) {
    case ADD: return composite_unit_range(s + d);
    case CLEAR: return 0;
    case DARKEN: return (1 - da) * s + (1 - sa) * d + (s < d ? s : d);
    case LIGHTEN: return (1 - da) * s + (1 - sa) * d + (s > d ? s : d);
    case DST: return d;
    case DST_ATOP: return sa * d + (1 - da) * s;
    case DST_IN: return d * sa;
    case DST_OUT: return (1 - sa) * d;
    case DST_OVER: return d + (1 - da) * s;
    case MULTIPLY: return s * d;
    case OVERLAY: return 2 * d < da ? 2 * s * d : sa * da - 2 * (da - s) * (sa - d);
    case SCREEN: return s + d - s * d;
    case SRC: return s;
    case SRC_ATOP: return da * s + (1 - sa) * d;
    case SRC_IN: return s * da;
    case SRC_OUT: return (1 - da) * s;
    case SRC_OVER: return s + (1 - sa) * d;
    default: return (1 - da) * s + (1 - sa) * d; // XOR
    }
}

typedef struct porter_params {
    int64_t mode;
} porter_params;

// x [n,H,W(,C)] at h x w, cut to its aspect ratio.
static nino_status fit_bicubic(nino_run *r, nino_array *x, int64_t h, int64_t w, nino_array **out,
                               nino_error *err)
{
    const nino_picture p = nino_picture_of(x);
    if (p.h == h && p.w == w) {
        *out = nino_array_ref(x);
        return NINO_OK;
    }
    nino_array flat = *x;
    flat.shape = NINO_SHAPE(p.n, p.h, p.w, p.c);
    return nino_rescale(r, &flat, w, h, NINO_SCALE_BICUBIC, true, out, err);
}

// in: source, its mask, destination, its mask, all of one size.
static void porter(int mode, const nino_picture in[4], const nino_picture *image,
                   const nino_picture *mask)
{
    const int64_t c = image->c;
    for (int64_t i = 0; i < image->n * image->h * image->w; i++) {
        const float sa = 1 - in[1].v[i], da = 1 - in[3].v[i], a = out_alpha(mode, sa, da);
        for (int64_t k = 0; k < c; k++) {
            const float v =
                out_color(mode, in[0].v[i * c + k] * sa, sa, in[2].v[i * c + k] * da, da);
            image->v[i * c + k] = a > 1e-5f ? composite_unit_range(v / a) : 0;
        }
        mask->v[i] = 1 - a;
    }
}

static nino_status porter_run(nino_run *r, nino_error *err)
{
    const int mode = (int) ((const porter_params *) r->params)->mode;
    const nino_picture d = nino_picture_of(nino_in_image(r, 2));
    nino_array *fitted[4] = { NULL }, *image = NULL, *mask = NULL;
    nino_picture in[4];
    int64_t n = INT64_MAX;
    nino_status st = NINO_OK;
    if (nino_in_image(r, 0)->shape.dim[3] != d.c)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "source",
                              "it has %lld channels, the destination has %lld",
                              (long long) nino_in_image(r, 0)->shape.dim[3], (long long) d.c);
    for (int i = 0; i < 4 && st == NINO_OK; i++) {
        nino_array *x = i % 2 ? nino_in_mask(r, i) : nino_in_image(r, i);
        if ((st = fit_bicubic(r, x, d.h, d.w, &fitted[i], err)) == NINO_OK) {
            in[i] = nino_picture_of(fitted[i]);
            n = in[i].n < n ? in[i].n : n;
        }
    }
    if (st == NINO_OK) {
        image = nino_node_array(NINO_F32, NINO_SHAPE(n, d.h, d.w, d.c), r->def->key, err);
        mask = nino_node_array(NINO_F32, NINO_SHAPE(n, d.h, d.w), r->def->key, err);
        if (image && mask && !r->is_plan) {
            const nino_picture to = nino_picture_of(image), m = nino_picture_of(mask);
            porter(mode, in, &to, &m);
        }
        st = nino_out_image(r, 0, image, err);
        const nino_status second = nino_out_mask(r, 1, mask, err);
        st = st ? st : second;
    }
    for (int i = 0; i < 4; i++)
        nino_array_unref(&fitted[i]);
    return st;
}

NINO_NODE(
    porter_duff, "PorterDuffImageComposite", "Porter-Duff Image Composite", "mask/compositing",
    "Combines two pictures with transparency; all are scaled to the destination",
    NINO_INPUTS(NINO_PORT(source, IMAGE), NINO_PORT(source_alpha, MASK, .help = "1: transparent"),
                NINO_PORT(destination, IMAGE),
                NINO_PORT(destination_alpha, MASK, .help = "1: transparent")),
    .outputs = both_out,
    NINO_PARAMS(porter_params, NINO_P_ENUM(porter_params, mode, modes, DST, .label = "Operator",
                                           .help = "How the two are combined")),
    NINO_RUN(porter_run));
