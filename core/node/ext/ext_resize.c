// Images and masks made to fit, under the rules of extensions.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

static const nino_scale_method methods[] = { NINO_SCALE_NEAREST, NINO_SCALE_BILINEAR,
                                             NINO_SCALE_AREA, NINO_SCALE_BICUBIC,
                                             NINO_SCALE_LANCZOS };

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Replaces *a by `next`, which is taken.
static nino_status take(nino_array **a, nino_array *next, nino_error *err)
{
    if (!next)
        return err && err->code ? err->code : NINO_ERR_NOMEM;
    nino_array_unref(a);
    *a = next;
    return NINO_OK;
}

static nino_status no_size(const char *what, int64_t w, int64_t h, nino_error *err)
{
    if (w > 0 && h > 0)
        return NINO_OK;
    return nino_fail_kind(err, NINO_ERR_RANGE, "range", what, "nothing would be left of the image");
}

static nino_status scale_to(nino_run *r, nino_array **a, int64_t w, int64_t h,
                            nino_scale_method method, nino_error *err)
{
    const nino_picture p = nino_picture_of(*a);
    nino_array *sized = NULL;
    nino_status st = no_size("width", w, h, err);
    if (st || (p.w == w && p.h == h))
        return st;
    st = nino_rescale(r, *a, w, h, method, false, &sized, err);
    return st ? st : take(a, sized, err);
}

// torch's "nearest": the pixel whose place is rounded down.
static nino_array *scale_floor(const nino_run *r, const nino_array *a, int64_t w, int64_t h,
                               nino_error *err)
{
    const nino_picture s = nino_picture_of(a);
    nino_array *out = nino_node_array(NINO_F32, nino_picture_shape(a, s.n, h, w), r->def->key, err);
    const nino_picture d = out ? nino_picture_of(out) : (nino_picture){ 0 };
    for (int64_t i = 0; i < d.n; i++)
        for (int64_t y = 0; y < d.h; y++)
            for (int64_t x = 0; x < d.w; x++)
                memcpy(nino_picture_at(&d, i, y, x),
                       nino_picture_at(&s, i, least(y * s.h / h, s.h - 1),
                                       least(x * s.w / w, s.w - 1)),
                       (size_t) s.c * sizeof(float));
    return out;
}

static nino_status crop_to(nino_run *r, nino_array **a, int64_t x, int64_t y, int64_t w, int64_t h,
                           nino_error *err)
{
    const nino_status st = no_size("width", w, h, err);
    return st ? st : take(a, nino_picture_crop(*a, y, x, h, w, r->def->key, err), err);
}

// A mask as an image of one channel, and back.
static nino_array *mask_shape(const nino_array *m, bool as_mask, nino_error *err)
{
    const nino_shape s = m->shape;
    nino_array *out = nino_node_array(NINO_F32,
                                      as_mask ? NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2])
                                              : NINO_SHAPE(s.dim[0], s.dim[1], s.dim[2], 1),
                                      "mask", err);
    if (out)
        memcpy(out->data, m->data, m->bytes);
    return out;
}

// Image and its size as outputs 0 to 2.
static nino_status give_sized(nino_run *r, nino_array *a, nino_error *err)
{
    const nino_picture p = nino_picture_of(a);
    nino_status st = nino_out_image(r, 0, a, err);
    if (!st && r->def->outputs[1].key)
        st = nino_out_int(r, 1, p.w, err);
    return st || !r->def->outputs[1].key ? st : nino_out_int(r, 2, p.h, err);
}

// ---- ImageResizeKJ ---------------------------------------------------------------------------

typedef struct kj_params {
    int64_t width;
    int64_t height;
    int64_t upscale_method;
    bool keep_proportion;
    int64_t divisible_by;
    int64_t crop;
} kj_params;

// Both sides for a keep-proportion: 0 stands for "as the aspect ratio says".
static void keep_aspect(double w, double h, int64_t *width, int64_t *height)
{
    double by = 1;
    if (*width == 0 && *height != 0)
        by = (double) *height / h;
    else if (*height == 0 && *width != 0)
        by = (double) *width / w;
    else if (*width != 0)
        by = fmin((double) *width / w, (double) *height / h);
    *width = (int64_t) rint(w * by);
    *height = (int64_t) rint(h * by);
}

static nino_status kj_run(nino_run *r, nino_error *err)
{
    const kj_params *p = r->params;
    nino_array *a = nino_array_ref(nino_in_image(r, 0));
    const nino_picture s = nino_picture_of(a);
    int64_t w = p->width, h = p->height;
    nino_array *sized = NULL;
    if (r->in[1]) {
        const nino_picture like = nino_picture_of(nino_in_image(r, 1));
        w = like.w;
        h = like.h;
    }
    if (p->keep_proportion && !r->in[1])
        keep_aspect((double) s.w, (double) s.h, &w, &h);
    w = w ? w : s.w;
    h = h ? h : s.h;
    if (p->divisible_by > 1 && !r->in[1]) {
        w -= w % p->divisible_by;
        h -= h % p->divisible_by;
    }
    nino_status st = no_size("divisible_by", w, h, err);
    if (!st)
        st = nino_rescale(r, a, w, h, methods[p->upscale_method], p->crop != 0, &sized, err);
    nino_array_unref(&a);
    return st ? st : give_sized(r, sized, err);
}

NINO_NODE(
    kj_resize, "ImageResizeKJ", "Resize Image (deprecated)", "KJNodes/image", "Scales images",
    NINO_INPUTS(NINO_PORT(image, IMAGE), NINO_PORT(get_image_size, IMAGE, .optional = true)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(width, INT), NINO_PORT(height, INT)),
    NINO_PARAMS(
        kj_params,
        NINO_P_INT(kj_params, width, 512, 0, 16384, 1, .label = "Width",
                   .help = "New width, 0 to keep it or the aspect ratio"),
        NINO_P_INT(kj_params, height, 512, 0, 16384, 1, .label = "Height",
                   .help = "New height, 0 to keep it or the aspect ratio"),
        NINO_P_ENUM(kj_params, upscale_method,
                    NINO_WORDS("nearest-exact", "bilinear", "area", "bicubic", "lanczos"), 0,
                    .label = "Method", .help = "How values between pixels are found"),
        NINO_P_BOOL(kj_params, keep_proportion, false, .label = "Aspect ratio", .help = "Keeps it"),
        NINO_P_INT(kj_params, divisible_by, 2, 0, 512, 1, .label = "Multiple of",
                   .help = "Both sides become multiples of this"),
        NINO_P_ENUM(kj_params, crop, NINO_WORDS("disabled", "center", "0"), 0, .label = "Crop",
                    .help = "Cuts to the new aspect ratio first", .optional = true)),
    NINO_RUN(kj_run));

// ---- ImageResizeKJv2 -------------------------------------------------------------------------

enum { STRETCH, RESIZE, PAD, PAD_EDGE, PAD_PIXEL, CROP, PILLARBOX, TOTAL };
enum { CENTER, TOP, BOTTOM, LEFT, RIGHT };

typedef struct kj2_params {
    int64_t width;
    int64_t height;
    int64_t upscale_method;
    int64_t keep_proportion;
    const char *pad_color;
    int64_t crop_position;
    int64_t divisible_by;
    int64_t device;
} kj2_params;

typedef struct kj2 {
    int64_t w, h;         // of the scaled image
    int64_t pad[4];       // left, right, top, bottom
    int64_t x, y, cw, ch; // what is cut out first; cw 0: nothing
} kj2;

static void place(int64_t position, int64_t room, int64_t start, int64_t end, int64_t out[2])
{
    out[0] = position == start ? 0 : position == end ? room : room / 2;
    out[1] = room - out[0];
}

static void kj2_fit(const kj2_params *p, int64_t W, int64_t H, kj2 *k)
{
    const bool pads = p->keep_proportion >= PAD && p->keep_proportion <= PAD_PIXEL;
    int64_t w = p->width, h = p->height;
    keep_aspect((double) W, (double) H, &w, &h);
    if (pads || p->keep_proportion == PILLARBOX) {
        const int64_t fw = p->width ? p->width : w, fh = p->height ? p->height : h;
        place(p->crop_position, most(fw - w, 0), LEFT, RIGHT, &k->pad[0]);
        place(p->crop_position, most(fh - h, 0), TOP, BOTTOM, &k->pad[2]);
    }
    k->w = w;
    k->h = h;
}

static void kj2_crop(const kj2_params *p, int64_t W, int64_t H, kj2 *k)
{
    const int64_t w = p->width ? p->width : W, h = p->height ? p->height : H;
    const double old = (double) W / (double) H, aspect = (double) w / (double) h;
    int64_t at[2];
    k->cw = old > aspect ? (int64_t) rint((double) H * aspect) : W;
    k->ch = old > aspect ? H : (int64_t) rint((double) W / aspect);
    place(p->crop_position, W - k->cw, LEFT, RIGHT, at);
    k->x = at[0];
    place(p->crop_position, H - k->ch, TOP, BOTTOM, at);
    k->y = at[0];
    k->w = w;
    k->h = h;
}

static kj2 kj2_plan(const kj2_params *p, int64_t W, int64_t H)
{
    const double aspect = (double) W / (double) H, all = (double) (p->width * p->height);
    kj2 k = { .w = p->width ? p->width : W, .h = p->height ? p->height : H };
    if (p->keep_proportion == TOTAL && all > 0) {
        k.w = (int64_t) sqrt(all * aspect);
        k.h = (int64_t) sqrt(all / aspect);
    } else if (p->keep_proportion == TOTAL) {
        k.w = W;
        k.h = H;
    } else if (p->keep_proportion == CROP) {
        kj2_crop(p, W, H, &k);
    } else if (p->keep_proportion != STRETCH) {
        kj2_fit(p, W, H, &k);
    }
    if (p->divisible_by > 1) {
        k.w -= k.w % p->divisible_by;
        k.h -= k.h % p->divisible_by;
    }
    return k;
}

// Fills a border of *to, in which the image lies at (y, x), with the mean of the image's edge that
// it lies beside, or with its nearest pixel.
static void fill_edges(nino_array *to, const nino_array *from, int64_t y0, int64_t x0, bool mean)
{
    const nino_picture d = nino_picture_of(to), s = nino_picture_of(from);
    for (int64_t i = 0; i < d.n; i++)
        for (int64_t k = 0; k < s.c; k++) {
            double edge[4] = { 0 }; // left, right, top, bottom
            for (int64_t y = 0; y < s.h; y++) {
                edge[0] += *(nino_picture_at(&s, i, y, 0) + k) / (double) s.h;
                edge[1] += *(nino_picture_at(&s, i, y, s.w - 1) + k) / (double) s.h;
            }
            for (int64_t x = 0; x < s.w; x++) {
                edge[2] += *(nino_picture_at(&s, i, 0, x) + k) / (double) s.w;
                edge[3] += *(nino_picture_at(&s, i, s.h - 1, x) + k) / (double) s.w;
            }
            for (int64_t y = 0; y < d.h; y++)
                for (int64_t x = 0; x < d.w; x++) {
                    const int64_t sy = y - y0, sx = x - x0;
                    const bool row = sy >= 0 && sy < s.h, column = sx >= 0 && sx < s.w;
                    if (row && column)
                        continue;
                    const int side = sy < 0 ? 2 : sy >= s.h ? 3 : sx < 0 ? 0 : 1;
                    *(nino_picture_at(&d, i, y, x) + k) =
                        mean ? (float) edge[side]
                             : *(nino_picture_at(&s, i, least(most(sy, 0), s.h - 1),
                                                 least(most(sx, 0), s.w - 1)) +
                                 k);
                }
        }
}

static nino_status kj2_pad(nino_run *r, const kj2 *k, nino_array **a, const float rgb[3],
                           bool edges, nino_error *err)
{
    const kj2_params *p = r->params;
    const int64_t by = p->divisible_by > 1 ? p->divisible_by : 1;
    const int64_t w = k->w + k->pad[0] + k->pad[1], h = k->h + k->pad[2] + k->pad[3];
    const int64_t fw = (w + by - 1) / by * by, fh = (h + by - 1) / by * by;
    nino_array *framed = nino_ext_framed(*a, k->pad[2], k->pad[0], fh, fw, rgb, r->def->key, err);
    if (framed && edges)
        fill_edges(framed, *a, k->pad[2], k->pad[0], p->keep_proportion == PAD_EDGE);
    return take(a, framed, err);
}

// The same for an image and a mask: cut, scale, pad.
static nino_status kj2_apply(nino_run *r, const kj2 *k, nino_array **a, const float rgb[3],
                             bool edges, nino_error *err)
{
    const kj2_params *p = r->params;
    nino_status st = k->cw ? crop_to(r, a, k->x, k->y, k->cw, k->ch, err) : NINO_OK;
    if (!st)
        st = scale_to(r, a, k->w, k->h, methods[p->upscale_method], err);
    if (!st && (k->pad[0] || k->pad[1] || k->pad[2] || k->pad[3]))
        st = kj2_pad(r, k, a, rgb, edges, err);
    return st;
}

static nino_status kj2_mask(nino_run *r, const kj2 *k, int64_t W, int64_t H, nino_error *err)
{
    static const float black[3] = { 0 };
    const nino_array *in = nino_in_mask(r, 1);
    nino_array *fitted = NULL, *m = NULL;
    if (!in || (in->shape.dim[1] == 64 && in->shape.dim[2] == 64 && (W != 64 || H != 64)))
        return nino_out_mask(
            r, 3, nino_node_array(NINO_F32, NINO_SHAPE(1, 64, 64), r->def->key, err), err);
    nino_status st = nino_mask_fit(r, in, H, W, &fitted, err);
    if (!st)
        m = mask_shape(fitted, false, err);
    nino_array_unref(&fitted);
    if (!st)
        st = m ? kj2_apply(r, k, &m, black, false, err) : NINO_ERR_NOMEM;
    if (!st)
        st = nino_out_mask(r, 3, mask_shape(m, true, err), err);
    nino_array_unref(&m);
    return st;
}

static nino_status kj2_run(nino_run *r, nino_error *err)
{
    const kj2_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    float rgb[3] = { 0 };
    const bool edges = p->keep_proportion == PAD_EDGE || p->keep_proportion == PAD_PIXEL;
    if (p->upscale_method > 4)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "upscale_method",
                              "nvidia_rtx_vsr is a program of one maker's devices");
    if (p->keep_proportion == PILLARBOX)
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "keep_proportion",
                              "pillarbox_blur is not supported; pad and pad_edge are");
    nino_status st = nino_ext_color(p->pad_color, "pad_color", rgb, err);
    if (st)
        return st;
    const kj2 k = kj2_plan(p, s.w, s.h);
    nino_array *a = nino_array_ref(nino_in_image(r, 0));
    st = kj2_apply(r, &k, &a, rgb, edges, err);
    if (st) {
        nino_array_unref(&a);
        return st;
    }
    st = give_sized(r, a, err);
    return st ? st : kj2_mask(r, &k, s.w, s.h, err);
}

NINO_NODE(
    kj_resize2, "ImageResizeKJv2", "Resize Image v2", "KJNodes/image",
    "Scales images and masks, cuts or pads them",
    NINO_INPUTS(NINO_PORT(image, IMAGE), NINO_PORT(mask, MASK, .optional = true)),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(width, INT), NINO_PORT(height, INT),
                 NINO_PORT(mask, MASK)),
    NINO_PARAMS(
        kj2_params,
        NINO_P_INT(kj2_params, width, 512, 0, 16384, 1, .label = "Width",
                   .help = "New width, 0 to keep it or the aspect ratio"),
        NINO_P_INT(kj2_params, height, 512, 0, 16384, 1, .label = "Height",
                   .help = "New height, 0 to keep it or the aspect ratio"),
        NINO_P_ENUM(kj2_params, upscale_method,
                    NINO_WORDS("nearest-exact", "bilinear", "area", "bicubic", "lanczos",
                               "nvidia_rtx_vsr"),
                    0, .label = "Method", .help = "How values between pixels are found"),
        NINO_P_ENUM(kj2_params, keep_proportion,
                    NINO_WORDS("stretch", "resize", "pad", "pad_edge", "pad_edge_pixel", "crop",
                               "pillarbox_blur", "total_pixels"),
                    0, .label = "Aspect ratio", .help = "What becomes of it"),
        NINO_P_STRING(
            kj2_params, pad_color, "0, 0, 0", .label = "Border",
            .help = "Colour of what the picture does not fill, red, green, blue from 0 to 255"),
        NINO_P_ENUM(kj2_params, crop_position,
                    NINO_WORDS("center", "top", "bottom", "left", "right"), 0, .label = "Position",
                    .help = "Which part is kept, or where the picture lies"),
        NINO_P_INT(kj2_params, divisible_by, 2, 0, 512, 1, .label = "Multiple of",
                   .help = "Both sides become multiples of this"),
        NINO_P_ENUM(kj2_params, device, NINO_WORDS("cpu", "gpu"), 0, .label = "Device",
                    .help = "Accepted for compatibility, nothing here depends on it",
                    .optional = true, .is_inert = true)),
    NINO_RUN(kj2_run));

// ---- ImageResize+ ----------------------------------------------------------------------------

typedef struct plus_params {
    int64_t width;
    int64_t height;
    int64_t interpolation;
    int64_t method;
    int64_t condition;
    int64_t multiple_of;
} plus_params;

typedef struct plus {
    int64_t w, h, x, y, cw, ch, pad_x, pad_y, fw, fh; // cw, fw 0: not cut, not framed
} plus;

static void plus_keep(const plus_params *p, int64_t width, int64_t height, int64_t ow, int64_t oh,
                      plus *k)
{
    const int64_t far = 16384; // a side that is free
    if (!width)
        width = oh < height ? far : ow;
    if (!height)
        height = ow < width ? far : oh;
    const double by = fmin((double) width / (double) ow, (double) height / (double) oh);
    k->w = (int64_t) rint((double) ow * by);
    k->h = (int64_t) rint((double) oh * by);
    if (p->method == 3) {
        k->pad_x = (width - k->w) / 2;
        k->pad_y = (height - k->h) / 2;
        k->fw = width;
        k->fh = height;
    }
}

static void plus_fill(int64_t width, int64_t height, int64_t ow, int64_t oh, plus *k)
{
    const double by = fmax((double) width / (double) ow, (double) height / (double) oh);
    k->w = (int64_t) rint((double) ow * by);
    k->h = (int64_t) rint((double) oh * by);
    k->cw = least(width, k->w);
    k->ch = least(height, k->h);
    k->x = most((k->w - width) / 2, 0);
    k->y = most((k->h - height) / 2, 0);
}

static bool plus_applies(int64_t when, const plus *k, int64_t ow, int64_t oh)
{
    switch (when) {
    case 0: return true;
    case 1: return oh > k->h || ow > k->w;
    case 2: return oh < k->h || ow < k->w;
    case 3: return oh * ow > k->h * k->w;
    default: return oh * ow < k->h * k->w;
    }
}

static nino_status plus_scale(nino_run *r, const plus *k, nino_array **a, nino_error *err)
{
    static const nino_scale_method of[] = { NINO_SCALE_NEAREST, NINO_SCALE_BILINEAR,
                                            NINO_SCALE_BICUBIC, NINO_SCALE_AREA,
                                            NINO_SCALE_NEAREST, NINO_SCALE_LANCZOS };
    const plus_params *p = r->params;
    static const float black[3] = { 0 };
    nino_status st = no_size("width", k->w, k->h, err);
    if (!st)
        st = p->interpolation ? scale_to(r, a, k->w, k->h, of[p->interpolation], err)
                              : take(a, scale_floor(r, *a, k->w, k->h, err), err);
    if (!st && k->fw && (k->fw != k->w || k->fh != k->h))
        st = take(a, nino_ext_framed(*a, k->pad_y, k->pad_x, k->fh, k->fw, black, r->def->key, err),
                  err);
    if (!st && k->cw && (k->cw != k->w || k->ch != k->h))
        st = crop_to(r, a, k->x, k->y, k->cw, k->ch, err);
    return st;
}

static nino_status plus_run(nino_run *r, nino_error *err)
{
    const plus_params *p = r->params;
    const nino_picture s = nino_picture_of(nino_in_image(r, 0));
    const int64_t by = p->multiple_of > 1 ? p->multiple_of : 1;
    const int64_t width = p->width - p->width % by, height = p->height - p->height % by;
    plus k = { .w = width ? width : s.w, .h = height ? height : s.h };
    nino_array *a = nino_array_ref(nino_in_image(r, 0));
    if (p->method == 1 || p->method == 3)
        plus_keep(p, width, height, s.w, s.h, &k);
    else if (p->method == 2)
        plus_fill(k.w, k.h, s.w, s.h, &k);
    nino_status st = NINO_OK;
    if (plus_applies(p->condition, &k, s.w, s.h))
        st = plus_scale(r, &k, &a, err);
    const nino_picture now = nino_picture_of(a);
    if (!st && (now.w % by || now.h % by))
        st = crop_to(r, &a, now.w % by / 2, now.h % by / 2, now.w - now.w % by, now.h - now.h % by,
                     err);
    if (st) {
        nino_array_unref(&a);
        return st;
    }
    return give_sized(r, a, err);
}

NINO_NODE(essentials_resize, "ImageResize+", "Image Resize", "essentials/image manipulation",
          "Scales images, cuts or pads them", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(width, INT), NINO_PORT(height, INT)),
          NINO_PARAMS(plus_params,
                      NINO_P_INT(plus_params, width, 512, 0, 16384, 1, .label = "Width",
                                 .help = "New width, 0 to keep it or the aspect ratio"),
                      NINO_P_INT(plus_params, height, 512, 0, 16384, 1, .label = "Height",
                                 .help = "New height, 0 to keep it or the aspect ratio"),
                      NINO_P_ENUM(plus_params, interpolation,
                                  NINO_WORDS("nearest", "bilinear", "bicubic", "area",
                                             "nearest-exact", "lanczos"),
                                  0, .label = "Method",
                                  .help = "How values between pixels are found"),
                      NINO_P_ENUM(plus_params, method,
                                  NINO_WORDS("stretch", "keep proportion", "fill / crop", "pad"), 0,
                                  .label = "Method", .help = "How it is done"),
                      NINO_P_ENUM(plus_params, condition,
                                  NINO_WORDS("always", "downscale if bigger", "upscale if smaller",
                                             "if bigger area", "if smaller area"),
                                  0, .label = "When", .help = "Which pictures are changed"),
                      NINO_P_INT(plus_params, multiple_of, 0, 0, 512, 1, .label = "Multiple of",
                                 .help = "Both sides become multiples of this, 0 for any")),
          NINO_RUN(plus_run));
