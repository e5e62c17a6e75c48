// Images cut to what a mask covers, on one colour. Behaviour of ComfyUI's nodes_images.py
// (ImageCropToMask).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/planar.h"

#define THRESHOLD 0.05f // less of a mask is none
#define COVERED 204     // of 255: what counts as the subject

typedef struct subject_params {
    int64_t width, height, grow_mask;
    double pad_factor;
    const char *background;
} subject_params;

typedef struct subject_box {
    int64_t x0, y0, x1, y1; // may lie outside
} subject_box;

static bool subject_color(const char *s, float rgb[3])
{
    s += *s == '#';
    const bool is_hex = strlen(s) == 6 && strspn(s, "0123456789abcdefABCDEF") == 6;
    const unsigned long v = is_hex ? strtoul(s, NULL, 16) : 0;
    for (int i = 0; i < 3; i++)
        rgb[i] = (float) ((double) (v >> (16 - 8 * i) & 255) / 255.0);
    return is_hex || strlen(s) != 6;
}

// ---- the mask --------------------------------------------------------------------------------

// Is it the background that is white? Then border and middle say so.
static bool subject_is_inverted(const nino_picture *m)
{
    double border = 0, middle = 0;
    int64_t n = 0;
    for (int64_t x = 0; x < m->w; x++)
        border += (double) m->v[x] + (double) m->v[(m->h - 1) * m->w + x];
    for (int64_t y = 0; y < m->h; y++)
        border += (double) m->v[y * m->w] + (double) m->v[y * m->w + m->w - 1];
    for (int64_t y = m->h / 4; y < m->h - m->h / 4; y++)
        for (int64_t x = m->w / 4; x < m->w - m->w / 4; x++, n++)
            middle += (double) m->v[y * m->w + x];
    return border / (double) (2 * (m->w + m->h)) > 0.5 && n && middle / (double) n < 0.5;
}

static void subject_invert(const nino_picture *m)
{
    for (int64_t i = 0; i < m->h * m->w; i++)
        m->v[i] = 1 - m->v[i];
}

// Each cell becomes the largest within r, along one axis.
static void subject_grow_axis(float *v, float *line, int64_t n, int64_t step, int64_t r)
{
    for (int64_t i = 0; i < n; i++)
        line[i] = v[i * step];
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i - r < 0 ? 0 : i - r; k <= i + r && k < n; k++)
            v[i * step] = fmaxf(v[i * step], line[k]);
}

static bool subject_grow(const nino_picture *m, int64_t by)
{
    float *line = malloc((size_t) (m->w > m->h ? m->w : m->h) * sizeof(float));
    const int64_t r = by < 0 ? -by : by;
    if (by < 0)
        subject_invert(m);
    for (int64_t y = 0; line && y < m->h; y++)
        subject_grow_axis(m->v + y * m->w, line, m->w, 1, r);
    for (int64_t x = 0; line && x < m->w; x++)
        subject_grow_axis(m->v + x, line, m->h, m->w, r);
    if (by < 0)
        subject_invert(m);
    free(line);
    return line != NULL;
}

static bool subject_covered(float v, bool inverted)
{
    const int u = (int) (fminf(fmaxf(v, 0), 1) * 255.0f);
    return (inverted ? 255 - u : u) > COVERED;
}

// False: nothing is covered.
static bool subject_bounds(const nino_picture *m, bool inverted, subject_box *b)
{
    *b = (subject_box){ m->w, m->h, -1, -1 };
    for (int64_t y = 0; y < m->h; y++)
        for (int64_t x = 0; x < m->w; x++) {
            if (!subject_covered(m->v[y * m->w + x], inverted))
                continue;
            b->x0 = x < b->x0 ? x : b->x0;
            b->x1 = x > b->x1 ? x : b->x1;
            b->y0 = y < b->y0 ? y : b->y0;
            b->y1 = y > b->y1 ? y : b->y1;
        }
    return b->x1 >= 0;
}

// Around the subject's middle, at the wanted aspect ratio, a little larger.
static subject_box subject_frame(const nino_picture *m, const subject_params *p)
{
    subject_box b;
    const double aspect = (double) p->width / (double) p->height;
    if (!subject_bounds(m, false, &b)) {
        if (!subject_bounds(m, true, &b))
            return (subject_box){ 0, 0, m->w, m->h };
        subject_invert(m);
    }
    const double w = (double) (b.x1 - b.x0 + 1), h = (double) (b.y1 - b.y0 + 1);
    const bool is_wide = w / h >= aspect;
    const double cw = trunc((is_wide ? w : h * aspect) * p->pad_factor);
    const double ch = trunc((is_wide ? w / aspect : h) * p->pad_factor);
    const int64_t half_w = (int64_t) ceil(cw / 2), half_h = (int64_t) ceil(ch / 2);
    const int64_t x = (int64_t) ((double) (b.x0 + b.x1) / 2 - (double) half_w);
    const int64_t y = (int64_t) ((double) (b.y0 + b.y1) / 2 - (double) half_h);
    return (subject_box){ x, y, x + 2 * half_w, y + 2 * half_h };
}

// ---- one image -------------------------------------------------------------------------------

// The frame of image over the background; outside of the image there is neither.
static nino_array *subject_cut(const nino_run *r, const nino_picture *image, const nino_picture *m,
                               const subject_box *b, const float bg[3], nino_error *err)
{
    nino_array *out =
        nino_node_array(NINO_F32, NINO_SHAPE(1, b->y1 - b->y0, b->x1 - b->x0, 3), r->def->key, err);
    float *to = out ? nino_array_f32(out) : NULL;
    for (int64_t y = b->y0; to && y < b->y1; y++)
        for (int64_t x = b->x0; x < b->x1; x++, to += 3) {
            const bool inside = x >= 0 && y >= 0 && x < image->w && y < image->h;
            const float a = inside ? m->v[y * m->w + x] : 0;
            for (int c = 0; c < 3; c++) {
                const float v = inside ? nino_picture_at(image, 0, y, x)[c] : 0;
                const float mixed = fminf(fmaxf(v, 0), 1) * a + bg[c] * (1 - a);
                to[c] = fminf(fmaxf(mixed, 0), 1);
            }
        }
    return out;
}

// Both at most as large as the result's longer side, through 8 bits.
static nino_status subject_shrink(nino_run *r, nino_array **image, nino_array **mask,
                                  nino_error *err)
{
    const subject_params *p = r->params;
    const nino_picture s = nino_picture_of(*image);
    const int64_t most = p->width > p->height ? p->width : p->height;
    const int64_t longer = s.h > s.w ? s.h : s.w;
    nino_array *small[2] = { NULL, NULL };
    if (longer <= most)
        return NINO_OK;
    const double by = (double) most / (double) longer;
    const int64_t w = (int64_t) ((double) s.w * by), h = (int64_t) ((double) s.h * by);
    nino_status st = nino_rescale(r, *image, w, h, NINO_SCALE_LANCZOS, false, &small[0], err);
    if (!st)
        st = nino_rescale(r, *mask, w, h, NINO_SCALE_LANCZOS, false, &small[1], err);
    if (st) {
        nino_array_unref(&small[0]);
        return st;
    }
    nino_array_unref(image);
    nino_array_unref(mask);
    *image = small[0];
    *mask = small[1];
    return NINO_OK;
}

// Takes image [1,h,w,3] and mask [1,h,w,1].
static nino_status subject_one(nino_run *r, nino_array *image, nino_array *mask, nino_array **out,
                               nino_error *err)
{
    const subject_params *p = r->params;
    float bg[3];
    nino_array *cut = NULL;
    nino_picture m = nino_picture_of(mask);
    nino_status st = NINO_OK;
    subject_color(p->background, bg);
    for (int64_t i = 0; i < m.h * m.w; i++)
        m.v[i] = fminf(fmaxf(m.v[i], 0), 1);
    if (subject_is_inverted(&m))
        subject_invert(&m);
    if (p->grow_mask && !subject_grow(&m, p->grow_mask))
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; i < m.h * m.w; i++)
        m.v[i] = m.v[i] < THRESHOLD ? 0 : m.v[i];
    if (!st)
        st = subject_shrink(r, &image, &mask, err);
    if (!st) {
        const nino_picture s = nino_picture_of(image);
        m = nino_picture_of(mask);
        const subject_box b = subject_frame(&m, p);
        st = (cut = subject_cut(r, &s, &m, &b, bg, err)) ? NINO_OK : NINO_ERR_NOMEM;
    }
    if (!st)
        st = nino_rescale(r, cut, p->width, p->height, NINO_SCALE_LANCZOS, false, out, err);
    nino_array_unref(&cut);
    nino_array_unref(&image);
    nino_array_unref(&mask);
    return st;
}

static nino_status subject_entry(nino_run *r, const nino_array *images, const nino_array *masks,
                                 int64_t i, nino_array *all, nino_error *err)
{
    const char *what = r->def->key;
    const int64_t at = nino_batch_entry(masks->shape.dim[0], i);
    nino_array *one = NULL, *image = nino_picture_batch(images, i, 1, what, err);
    nino_array *mask = image ? nino_picture_batch(masks, at, 1, what, err) : NULL;
    nino_array *rgb = mask ? nino_picture_channels(image, 3, what, err) : NULL;
    nino_array_unref(&image);
    if (!rgb) {
        nino_array_unref(&mask);
        return NINO_ERR_NOMEM;
    }
    mask->shape = NINO_SHAPE(1, mask->shape.dim[1], mask->shape.dim[2], 1);
    const nino_status st = subject_one(r, rgb, mask, &one, err);
    if (!st)
        memcpy((char *) all->data + (size_t) i * one->bytes, one->data, one->bytes);
    nino_array_unref(&one);
    return st;
}

static nino_status subject_run(nino_run *r, nino_error *err)
{
    const subject_params *p = r->params;
    const nino_array *images = nino_in_image(r, 0);
    const nino_picture s = nino_picture_of(images);
    nino_array *masks = NULL, *all = NULL;
    nino_status st = nino_batch_agrees(nino_in_mask(r, 1)->shape.dim[0], s.n, "masks", err);
    st = st ? st : nino_mask_fit(r, nino_in_mask(r, 1), s.h, s.w, &masks, err);
    if (!st && !(all = nino_node_array(NINO_F32, NINO_SHAPE(s.n, p->height, p->width, 3),
                                       r->def->key, err)))
        st = NINO_ERR_NOMEM;
    for (int64_t i = 0; i < s.n && !st && !r->is_plan; i++)
        st = subject_entry(r, images, masks, i, all, err);
    nino_array_unref(&masks);
    if (!st)
        return nino_out_image(r, 0, all, err);
    nino_array_unref(&all);
    return st;
}

static nino_status subject_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    float rgb[3];
    (void) ctx;
    return subject_color(((const subject_params *) params)->background, rgb)
               ? NINO_OK
               : nino_fail_kind(err, NINO_ERR_FORMAT, "value", "background",
                                "a colour such as #ff8000 is needed");
}

NINO_NODE(
    image_crop_mask, "ImageCropToMask", "Crop Image to Mask", "image/transform",
    "Cuts images to what a mask covers, in the middle, on one colour",
    NINO_INPUTS(NINO_PORT(images, IMAGE), NINO_PORT(masks, MASK, .help = "1: the subject")),
    NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
    NINO_PARAMS(subject_params,
                NINO_P_INT(subject_params, width, 1024, 64, 4096, 8, .label = "Width", .unit = "px",
                           .help = "Width of the result"),
                NINO_P_INT(subject_params, height, 1024, 64, 4096, 8, .label = "Height",
                           .unit = "px", .help = "Height of the result"),
                NINO_P_FLOAT(subject_params, pad_factor, 1.0, 1.0, 2.0, 0.01, .label = "Margin",
                             .help = "Size of what is cut out, as a multiple of the subject's"),
                NINO_P_INT(subject_params, grow_mask, 0, -32, 32, 1, .label = "Grow", .unit = "px",
                           .help = "Makes the mask larger, or smaller, first"),
                NINO_P_STRING(subject_params, background, "#000000", .label = "Background",
                              .help = "Colour where the mask is 0, such as #ff8000")),
    NINO_RUN(subject_run, .check = subject_check));
