// Images and masks together: channels, transparency, pasting. Behaviour of ComfyUI's nodes_mask.py
// and nodes_compositing.py; operators: Porter and Duff 1984, "Compositing Digital Images", and the
// blend modes of the W3C's compositing specification.
#include <math.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

static const nino_port image_out[] = { { .key = "IMAGE", .type = NINO_PORT_IMAGE }, { 0 } };
static const nino_port mask_out[] = { { .key = "MASK", .type = NINO_PORT_MASK }, { 0 } };
static const nino_port image_in[] = { { .key = "image", .type = NINO_PORT_IMAGE }, { 0 } };
static const nino_port both_out[] = { { .key = "IMAGE", .type = NINO_PORT_IMAGE },
                                      { .key = "MASK", .type = NINO_PORT_MASK },
                                      { 0 } };

// ---- MaskToImage, ImageToMask, ImageColorToMask ----------------------------------------------

static nino_status to_image_run(nino_run *r, nino_error *err)
{
    return nino_out_image(r, 0, nino_mask_to_image(nino_in_mask(r, 0), r->def->key, err), err);
}

static const nino_port mask_in[] = { { .key = "mask", .type = NINO_PORT_MASK }, { 0 } };
static const nino_node_ops to_image_ops = { .run = to_image_run };
const nino_node_def nino_node_mask_to_image = {
    .key = "MaskToImage",
    .title = "Convert Mask to Image",
    .category = "mask",
    .help = "A mask as a grey picture",
    .inputs = mask_in,
    .outputs = image_out,
    .ops = &to_image_ops,
};

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
static const nino_param to_mask_table[] = { NINO_P_ENUM(channel_params, channel, channels, 0,
                                                        .label = "Channel",
                                                        .help = "Which one becomes the mask"),
                                            { 0 } };
static const nino_node_ops to_mask_ops = { .run = to_mask_run };
const nino_node_def nino_node_image_to_mask = {
    .key = "ImageToMask",
    .title = "Convert Image to Mask",
    .category = "mask",
    .help = "One channel of an image as a mask",
    .inputs = image_in,
    .outputs = mask_out,
    .params = to_mask_table,
    .params_size = sizeof(channel_params),
    .ops = &to_mask_ops,
};

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

static const nino_param color_table[] = {
    NINO_P_INT(color_params, color, 0, 0, 0xFFFFFF, 1, .label = "Colour",
               .help = "65536 red + 256 green + blue, each 0 to 255"),
    { 0 }
};
static const nino_node_ops color_ops = { .run = color_run };
const nino_node_def nino_node_color_to_mask = {
    .key = "ImageColorToMask",
    .title = "ImageColorToMask",
    .category = "mask",
    .help = "1 where the image has exactly this colour",
    .inputs = image_in,
    .outputs = mask_out,
    .params = color_table,
    .params_size = sizeof(color_params),
    .ops = &color_ops,
};

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

static const nino_node_ops split_ops = { .run = split_run };
const nino_node_def nino_node_split_alpha = {
    .key = "SplitImageWithAlpha",
    .title = "Split Image with Alpha",
    .category = "mask/compositing",
    .help = "Colours, and 1 - alpha as a mask",
    .inputs = image_in,
    .outputs = both_out,
    .ops = &split_ops,
};

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

static const nino_port join_in[] = {
    { .key = "image", .type = NINO_PORT_IMAGE },
    { .key = "alpha", .type = NINO_PORT_MASK, .help = "1: transparent" },
    { 0 }
};
static const nino_node_ops join_ops = { .run = join_run };
const nino_node_def nino_node_join_alpha = {
    .key = "JoinImageWithAlpha",
    .title = "Join Image with Alpha",
    .category = "mask/compositing",
    .help = "An image whose transparency is the mask; the shorter batch counts",
    .inputs = join_in,
    .outputs = image_out,
    .ops = &join_ops,
};

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

static const nino_param composite_table[] = {
    NINO_P_INT(composite_params, x, 0, 0, 16384, 1, .label = "Left", .unit = "px",
               .help = "Where the left edge of the source goes"),
    NINO_P_INT(composite_params, y, 0, 0, 16384, 1, .label = "Top", .unit = "px",
               .help = "Where the top edge of the source goes"),
    NINO_P_BOOL(composite_params, resize_source, false, .label = "Resize source",
                .help = "Scales the source to the destination first"),
    { 0 }
};
static const nino_port composite_in[] = {
    { .key = "destination", .type = NINO_PORT_IMAGE },
    { .key = "source", .type = NINO_PORT_IMAGE },
    { .key = "mask", .type = NINO_PORT_MASK, .optional = true, .help = "1: the source shows" },
    { 0 }
};
static const nino_node_ops composite_ops = { .run = composite_run };
const nino_node_def nino_node_image_composite = {
    .key = "ImageCompositeMasked",
    .title = "ImageCompositeMasked",
    .category = "image",
    .help = "Puts one image onto another where a mask says so",
    .inputs = composite_in,
    .outputs = image_out,
    .params = composite_table,
    .params_size = sizeof(composite_params),
    .ops = &composite_ops,
};

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

static float unit_range(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

static float out_alpha(int mode, float sa, float da)
{
    switch (mode) {
    case ADD: return unit_range(sa + da);
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
    case ADD: return unit_range(s + d);
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
            image->v[i * c + k] = a > 1e-5f ? unit_range(v / a) : 0;
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

static const nino_param porter_table[] = { NINO_P_ENUM(porter_params, mode, modes, DST,
                                                       .label = "Operator",
                                                       .help = "How the two are combined"),
                                           { 0 } };
static const nino_port porter_in[] = {
    { .key = "source", .type = NINO_PORT_IMAGE },
    { .key = "source_alpha", .type = NINO_PORT_MASK, .help = "1: transparent" },
    { .key = "destination", .type = NINO_PORT_IMAGE },
    { .key = "destination_alpha", .type = NINO_PORT_MASK, .help = "1: transparent" },
    { 0 }
};
static const nino_node_ops porter_ops = { .run = porter_run };
const nino_node_def nino_node_porter_duff = {
    .key = "PorterDuffImageComposite",
    .title = "Porter-Duff Image Composite",
    .category = "mask/compositing",
    .help = "Combines two pictures with transparency; all are scaled to the destination",
    .inputs = porter_in,
    .outputs = both_out,
    .params = porter_table,
    .params_size = sizeof(porter_params),
    .ops = &porter_ops,
};
