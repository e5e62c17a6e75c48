// Images: load, scale, batch. Behaviour of ComfyUI's nodes.py (LoadImage, ImageScale, ImageScaleBy,
// ImageBatch).
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/format/png.h"
#include "core/node/util.h"

static const nino_port image_out[] = { { .key = "IMAGE", .type = NINO_PORT_IMAGE }, { 0 } };

// ---- LoadImage -------------------------------------------------------------------------------

#define MAX_FILE ((uint64_t) 512 << 20)

typedef struct load_params {
    const char *image;
} load_params;

static nino_status read_input(nino_ctx *ctx, const char *name, char **data, size_t *len,
                              nino_error *err)
{
    int fd = -1;
    struct stat sb;
    nino_status st = nino_ctx_open_input(ctx, name, &fd, err);
    if (st)
        return st;
    if (fstat(fd, &sb))
        st = nino_fail(err, NINO_ERR_IO, name, "cannot read its size");
    else if ((uint64_t) sb.st_size > MAX_FILE)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "limit", name, "larger than 512 MiB");
    else if (!(*data = malloc((size_t) sb.st_size + 1)))
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    else if ((st = nino_file_pread(fd, *data, (size_t) sb.st_size, 0, name, err)) == NINO_OK)
        *len = (size_t) sb.st_size;
    close(fd);
    return st;
}

// Grey or colour, with or without alpha -> rgb and mask (1 - alpha; 64x64 zeros without alpha).
static nino_status split(const nino_png *png, const char *name, nino_value *image, nino_value *mask,
                         nino_error *err)
{
    const int64_t w = png->width, h = png->height, c = png->channels;
    const bool has_alpha = c == 2 || c == 4, is_grey = c < 3;
    image->u.image = nino_node_array(NINO_F32, NINO_SHAPE(1, h, w, 3), name, err);
    mask->u.mask = nino_node_array(
        NINO_F32, has_alpha ? NINO_SHAPE(1, h, w) : NINO_SHAPE(1, 64, 64), name, err);
    if (!image->u.image || !mask->u.mask)
        return NINO_ERR_NOMEM;
    if (!png->pixels) // plan: shapes are enough
        return NINO_OK;
    const float *src = nino_array_f32(png->pixels);
    float *rgb = nino_array_f32(image->u.image), *m = nino_array_f32(mask->u.mask);
    for (int64_t i = 0; i < w * h; i++, src += c, rgb += 3) {
        rgb[0] = src[0];
        rgb[1] = src[is_grey ? 0 : 1];
        rgb[2] = src[is_grey ? 0 : 2];
        if (has_alpha)
            m[i] = 1.0f - src[c - 1];
    }
    return NINO_OK;
}

static nino_status load_run(nino_run *r, nino_error *err)
{
    const load_params *p = r->params;
    char *data = NULL;
    size_t len = 0;
    nino_png png = { 0 };
    nino_status st = read_input(r->ctx, p->image, &data, &len, err);
    if (st == NINO_OK)
        st = nino_png_read(data, len, p->image, !r->is_plan, &png, err);
    if (st == NINO_OK) {
        nino_value *image = nino_node_out(r, 0, NINO_PORT_IMAGE, err);
        nino_value *mask = image ? nino_node_out(r, 1, NINO_PORT_MASK, err) : NULL;
        st = mask ? split(&png, p->image, image, mask, err) : NINO_ERR_NOMEM;
    }
    nino_png_release(&png);
    free(data);
    return st;
}

static nino_status load_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    return nino_ctx_identity(ctx, "input", ((const load_params *) params)->image, h, err);
}

static const nino_param load_table[] = { NINO_P_FILE(load_params, image, "input", .label = "Image",
                                                     .upload_slot = true,
                                                     .help = "A PNG file in the input folder"),
                                         { 0 } };
static const nino_port load_out[] = {
    { .key = "IMAGE", .type = NINO_PORT_IMAGE },
    { .key = "MASK", .type = NINO_PORT_MASK, .help = "1 - alpha; zeros without alpha" },
    { 0 }
};
static const nino_node_ops load_ops = { .run = load_run, .identity = load_identity };
const nino_node_def nino_node_load_image = {
    .key = "LoadImage",
    .title = "Load Image",
    .category = "image",
    .help = "Reads a picture and its transparency",
    .outputs = load_out,
    .params = load_table,
    .params_size = sizeof(load_params),
    .ops = &load_ops,
};

// ---- ImageScale, ImageScaleBy ----------------------------------------------------------------

static const char *const methods[] = { "nearest-exact", "bilinear", "area",
                                       "bicubic",       "lanczos",  NULL };
static const char *const crops[] = { "disabled", "center", NULL };
static const nino_port image_in[] = { { .key = "image", .type = NINO_PORT_IMAGE }, { 0 } };

static nino_status scaled(nino_run *r, const nino_array *x, int64_t width, int64_t height,
                          int64_t method, bool center, nino_error *err)
{
    nino_value *v = nino_node_out(r, 0, NINO_PORT_IMAGE, err);
    if (!v)
        return NINO_ERR_NOMEM;
    const nino_scale_method m = method == 4 ? NINO_SCALE_LANCZOS : (nino_scale_method) method;
    return nino_rescale(r, x, width, height, m, center, &v->u.image, err);
}

static int64_t at_least_1(double v) { return v < 1 ? 1 : (int64_t) rint(v); }

typedef struct scale_params {
    int64_t upscale_method, width, height, crop;
} scale_params;

static nino_status scale_run(nino_run *r, nino_error *err)
{
    const scale_params *p = r->params;
    const nino_array *x = r->in[0]->u.image;
    const double h = (double) x->shape.dim[1], w = (double) x->shape.dim[2];
    int64_t width = p->width, height = p->height;
    if (!width && !height) { // both 0: leave it alone
        r->out[0] = nino_value_ref(r->in[0]);
        return NINO_OK;
    }
    if (!width)
        width = at_least_1(w * (double) height / h);
    else if (!height)
        height = at_least_1(h * (double) width / w);
    return scaled(r, x, width, height, p->upscale_method, p->crop == 1, err);
}

static const nino_param scale_table[] = {
    NINO_P_ENUM(scale_params, upscale_method, methods, 0, .label = "Method",
                .help = "How values between pixels are found"),
    NINO_P_INT(scale_params, width, 512, 0, 16384, 1, .label = "Width", .unit = "px",
               .help = "New width; 0 keeps the aspect ratio", .ui_max.i = 4096),
    NINO_P_INT(scale_params, height, 512, 0, 16384, 1, .label = "Height", .unit = "px",
               .help = "New height; 0 keeps the aspect ratio", .ui_max.i = 4096),
    NINO_P_ENUM(scale_params, crop, crops, 0, .label = "Crop",
                .help = "center: cut to the new aspect ratio instead of stretching"),
    { 0 }
};
static const nino_node_ops scale_ops = { .run = scale_run };
const nino_node_def nino_node_image_scale = {
    .key = "ImageScale",
    .title = "Upscale Image",
    .category = "image/upscaling",
    .help = "Scales images to a size",
    .inputs = image_in,
    .outputs = image_out,
    .params = scale_table,
    .params_size = sizeof(scale_params),
    .ops = &scale_ops,
};

typedef struct by_params {
    int64_t upscale_method;
    double scale_by;
} by_params;

static nino_status scale_by_run(nino_run *r, nino_error *err)
{
    const by_params *p = r->params;
    const nino_array *x = r->in[0]->u.image;
    return scaled(r, x, (int64_t) rint((double) x->shape.dim[2] * p->scale_by),
                  (int64_t) rint((double) x->shape.dim[1] * p->scale_by), p->upscale_method, false,
                  err);
}

static const nino_param by_table[] = {
    NINO_P_ENUM(by_params, upscale_method, methods, 0, .label = "Method",
                .help = "How values between pixels are found"),
    NINO_P_FLOAT(by_params, scale_by, 1.0, 0.01, 8.0, 0.01, .label = "Factor",
                 .help = "New size as a multiple of the old one", .ui_min.f = 0.25,
                 .ui_max.f = 4.0),
    { 0 }
};
static const nino_node_ops by_ops = { .run = scale_by_run };
const nino_node_def nino_node_image_scale_by = {
    .key = "ImageScaleBy",
    .title = "Upscale Image By",
    .category = "image/upscaling",
    .help = "Scales images by a factor",
    .inputs = image_in,
    .outputs = image_out,
    .params = by_table,
    .params_size = sizeof(by_params),
    .ops = &by_ops,
};

// ---- ImageBatch ------------------------------------------------------------------------------

// Copies `src` to image `at` of dst; a channel that src does not have is 1 (opaque).
static void put(nino_array *dst, int64_t at, const nino_array *src)
{
    const int64_t dc = dst->shape.dim[3], sc = src->shape.dim[3];
    const int64_t cells = src->shape.dim[0] * src->shape.dim[1] * src->shape.dim[2];
    const float *s = nino_array_f32(src);
    float *d = nino_array_f32(dst) + at * dst->shape.dim[1] * dst->shape.dim[2] * dc;
    for (int64_t i = 0; i < cells; i++)
        for (int64_t k = 0; k < dc; k++)
            d[i * dc + k] = k < sc ? s[i * sc + k] : 1.0f;
}

static nino_status batch_run(nino_run *r, nino_error *err)
{
    const nino_array *a = r->in[0]->u.image, *b = r->in[1]->u.image;
    nino_array *fitted = NULL;
    nino_status st = NINO_OK;
    if (a->shape.dim[1] != b->shape.dim[1] || a->shape.dim[2] != b->shape.dim[2]) {
        st = nino_rescale(r, b, a->shape.dim[2], a->shape.dim[1], NINO_SCALE_BILINEAR, true,
                          &fitted, err);
        if (st)
            return st;
        b = fitted;
    }
    nino_value *v = nino_node_out(r, 0, NINO_PORT_IMAGE, err);
    const int64_t c = a->shape.dim[3] > b->shape.dim[3] ? a->shape.dim[3] : b->shape.dim[3];
    if (v)
        v->u.image = nino_node_array(
            NINO_F32,
            NINO_SHAPE(a->shape.dim[0] + b->shape.dim[0], a->shape.dim[1], a->shape.dim[2], c),
            r->def->key, err);
    if (!v || !v->u.image) {
        st = NINO_ERR_NOMEM;
    } else if (!r->is_plan) {
        put(v->u.image, 0, a);
        put(v->u.image, a->shape.dim[0], b);
    }
    nino_array_unref(&fitted);
    return st;
}

static const nino_port batch_in[] = { { .key = "image1", .type = NINO_PORT_IMAGE },
                                      { .key = "image2", .type = NINO_PORT_IMAGE },
                                      { 0 } };
static const nino_node_ops batch_ops = { .run = batch_run };
const nino_node_def nino_node_image_batch = {
    .key = "ImageBatch",
    .title = "Batch Images",
    .category = "image",
    .help = "Puts two batches one after the other; the second is scaled to the first",
    .inputs = batch_in,
    .outputs = image_out,
    .ops = &batch_ops,
};
