// Pictures of the input folder. Behaviour of ComfyUI's nodes.py (LoadImage, LoadImageMask), which
// reads them with Pillow: content decides the format, EXIF which way is up, 8 bits a channel.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/media/image.h"
#include "core/node/util.h"

#define MAX_FILE ((uint64_t) 512 << 20)

// ---- LoadImage -------------------------------------------------------------------------------

typedef struct load_params {
    const char *image;
} load_params;

static nino_status read_input(nino_ctx *ctx, const char *name, char **data, size_t *len,
                              nino_error *err)
{
    int fd = -1;
    struct stat sb;
    nino_status st = nino_services_of(ctx)->open_input(ctx, name, &fd, err);
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

// Pillow works on 8 bits: of 16 the lower ones are cut off, but 16-bit grey without alpha is
// divided by 255 by the node itself.
static void cut_to_8_bits(nino_image *i)
{
    const bool is_grey = i->channels < 3 && (i->channels == 1 || i->has_colour_key);
    const int64_t n = i->bit_depth == 16 && i->pixels ? nino_shape_count(&i->pixels->shape) : 0;
    float *v = n ? nino_array_f32(i->pixels) : NULL;
    for (int64_t k = 0; k < n; k++) {
        const uint32_t u = (uint32_t) rintf(v[k] * 65535.0f);
        const uint32_t u8 = is_grey ? u / 255 : u >> 8;
        v[k] = (float) (u8 < 255 ? u8 : 255) / 255.0f;
    }
}

// A picture of the input folder; sizes only when planning.
static nino_status read_image(nino_run *r, const char *name, nino_image *out, nino_error *err)
{
    char *data = NULL;
    size_t len = 0;
    nino_status st = read_input(r->ctx, name, &data, &len, err);
    if (st == NINO_OK)
        st = nino_image_read(data, len, name, !r->is_plan, out, err);
    if (st == NINO_OK)
        cut_to_8_bits(out);
    free(data);
    return st;
}

static nino_array *image_load_to_rgb(const nino_image *in, const char *name, nino_error *err)
{
    const int64_t n = (int64_t) in->frames * in->height * in->width, c = in->channels;
    nino_array *out =
        nino_node_array(NINO_F32, NINO_SHAPE(in->frames, in->height, in->width, 3), name, err);
    if (!out || !in->pixels) // plan: the shape is enough
        return out;
    const float *src = nino_array_f32(in->pixels);
    float *rgb = nino_array_f32(out);
    for (int64_t i = 0; i < n; i++, src += c, rgb += 3) {
        rgb[0] = src[0];
        rgb[1] = src[c < 3 ? 0 : 1];
        rgb[2] = src[c < 3 ? 0 : 2];
    }
    return out;
}

// 1 - alpha; 64x64 zeros without. One transparent colour is no alpha, except in a palette.
static nino_array *to_mask(const nino_image *in, const char *name, nino_error *err)
{
    const int64_t n = (int64_t) in->frames * in->height * in->width, c = in->channels;
    const bool has_alpha = c % 2 == 0 && !in->has_colour_key;
    const nino_shape none = NINO_SHAPE(in->frames, 64, 64);
    nino_array *out = nino_node_array(
        NINO_F32, has_alpha ? NINO_SHAPE(in->frames, in->height, in->width) : none, name, err);
    for (int64_t i = 0; out && has_alpha && in->pixels && i < n; i++)
        nino_array_f32(out)[i] = 1.0f - nino_array_f32(in->pixels)[i * c + c - 1];
    return out;
}

nino_status nino_node_read_picture(nino_run *r, const char *name, nino_array **rgb,
                                   nino_array **mask, nino_error *err)
{
    nino_image in = { 0 };
    nino_status st = read_image(r, name, &in, err);
    if (st == NINO_OK && !(*rgb = image_load_to_rgb(&in, name, err)))
        st = NINO_ERR_NOMEM;
    if (st == NINO_OK && mask && !(*mask = to_mask(&in, name, err))) {
        nino_array_unref(rgb);
        st = NINO_ERR_NOMEM;
    }
    nino_image_release(&in);
    return st;
}

static nino_status load_named(nino_run *r, const char *name, nino_error *err)
{
    nino_array *rgb = NULL, *mask = NULL;
    nino_status st = nino_node_read_picture(r, name, &rgb, &mask, err);
    if (st)
        return st;
    if ((st = nino_out_image(r, 0, rgb, err))) {
        nino_array_unref(&mask);
        return st;
    }
    return nino_out_mask(r, 1, mask, err);
}

static nino_status image_load_load_run(nino_run *r, nino_error *err)
{
    return load_named(r, ((const load_params *) r->params)->image, err);
}

static nino_status image_load_load_identity(nino_ctx *ctx, const void *params,
                                            struct nino_hasher *h, nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "input", ((const load_params *) params)->image, h,
                                           err);
}

NINO_NODE(load_image, "LoadImage", "Load Image", "image",
          "Reads a picture and its transparency; every frame of an animated WebP",
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE),
                       NINO_PORT(MASK, MASK, .help = "1 - alpha; zeros without alpha")),
          NINO_PARAMS(load_params, NINO_P_FILE(load_params, image, "input", .label = "Image",
                                               .upload_slot = true,
                                               .help = "A PNG, JPEG or WebP file in the "
                                                       "input folder")),
          NINO_RUN(image_load_load_run, .identity = image_load_load_identity));

// ---- LoadImageOutput -------------------------------------------------------------------------

static nino_status output_run(nino_run *r, nino_error *err)
{
    const char *name = ((const load_params *) r->params)->image;
    const size_t len = strlen(name);
    if (len && name[len - 1] == ']') // it says where it is
        return load_named(r, name, err);
    char *full = NULL;
    if (asprintf(&full, "%s [output]", name) < 0)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    const nino_status st = load_named(r, full, err);
    free(full);
    return st;
}

static nino_status output_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                   nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "output", ((const load_params *) params)->image, h,
                                           err);
}

NINO_NODE(load_image_output, "LoadImageOutput", "Load Image (from Outputs)", "image",
          "Reads a picture that an earlier run has made, and its transparency",
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE),
                       NINO_PORT(MASK, MASK, .help = "1 - alpha; zeros without alpha")),
          NINO_PARAMS(load_params, NINO_P_FILE(load_params, image, "output", .label = "Image",
                                               .upload_slot = true,
                                               .help = "A PNG, JPEG or WebP file in the "
                                                       "output folder")),
          NINO_RUN(output_run, .identity = output_identity));

// ---- LoadImageMask ---------------------------------------------------------------------------

typedef struct mask_params {
    const char *image;
    int64_t channel;
} mask_params;

// One channel of the first frame; colours of grey pictures are the grey, their alpha is all there.
static nino_array *to_channel(const nino_image *in, int colour, const char *name, nino_error *err)
{
    const int64_t n = (int64_t) in->height * in->width, c = in->channels;
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(1, in->height, in->width), name, err);
    const float *src = in->pixels ? nino_array_f32(in->pixels) : NULL;
    float *m = out ? nino_array_f32(out) : NULL;
    for (int64_t i = 0; m && src && i < n; i++, src += c)
        m[i] = colour >= 0 ? src[c < 3 ? 0 : colour] : c % 2 ? 0.0f : 1.0f - src[c - 1];
    return out;
}

static nino_status image_load_mask_run(nino_run *r, nino_error *err)
{
    const mask_params *p = r->params;
    nino_image in = { 0 };
    nino_status st = read_image(r, p->image, &in, err);
    if (st == NINO_OK)
        st = nino_out_mask(r, 0, to_channel(&in, (int) p->channel - 1, p->image, err), err);
    nino_image_release(&in);
    return st;
}

static nino_status mask_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "input", ((const mask_params *) params)->image, h,
                                           err);
}

NINO_NODE(
    load_image_mask, "LoadImageMask", "Load Image (as Mask)", "mask",
    "Reads one channel of a picture as a mask", NINO_OUTPUTS(NINO_PORT(MASK, MASK)),
    NINO_PARAMS(
        mask_params,
        NINO_P_FILE(mask_params, image, "input", .label = "Image", .upload_slot = true,
                    .help = "A PNG, JPEG or WebP file in the input folder"),
        NINO_P_ENUM(mask_params, channel, NINO_WORDS("alpha", "red", "green", "blue"), 0,
                    .label = "Channel",
                    .help = "What becomes the mask; alpha is turned round: 1 where nothing is")),
    NINO_RUN(image_load_mask_run, .identity = mask_identity));
