// SaveImage, PreviewImage, MaskPreview: PNG files that carry the workflow, as ComfyUI's nodes.py.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/media/image.h"
#include "core/media/png.h"
#include "core/node/planar.h"

enum { JPEG_QUALITY = 95 };

typedef struct save_params {
    const char *filename_prefix;
} save_params;

// One image of the batch as a file in memory; JPEG has no room for texts and alpha.
static nino_status image_save_encode(const nino_run *r, const nino_array *images, int64_t i,
                                     bool is_jpeg, uint8_t *pixels, nino_buf *out, nino_error *err)
{
    const int64_t h = images->shape.dim[1], w = images->shape.dim[2], c = images->shape.dim[3];
    nino_meta text[NINO_RUN_TEXTS];
    const int n = nino_run_texts(r, text);
    nino_to_u8_truncated(pixels, nino_array_f32(images) + i * h * w * c, (size_t) (h * w * c));
    nino_buf_clear(out);
    if (is_jpeg) {
        for (int64_t p = 1; c == 4 && p < h * w; p++)
            memmove(pixels + 3 * p, pixels + 4 * p, 3);
        return nino_jpeg_encode(out, pixels, (int) w, (int) h, JPEG_QUALITY, err);
    }
    return nino_png_encode(out, pixels, (int) w, (int) h, (int) c, 8, text, n, err);
}

// "%batch_num%" is the only token that differs within a batch.
static char *with_batch(const char *name, int64_t i)
{
    static const char token[] = "%batch_num%";
    nino_buf b = { 0 };
    for (const char *at; (at = strstr(name, token)); name = at + strlen(token)) {
        nino_buf_add(&b, name, (size_t) (at - name));
        nino_buf_addf(&b, "%lld", (long long) i);
    }
    nino_buf_adds(&b, name);
    return b.data;
}

static nino_status image_save_save(nino_run *r, const nino_array *images, const char *dir,
                                   const char *prefix, bool is_jpeg, nino_error *err)
{
    const int64_t h = images->shape.dim[1], w = images->shape.dim[2], c = images->shape.dim[3];
    const time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    const nino_prefix_vars vars = { (int) w, (int) h, &tm, r->prompt_json };
    nino_status st = NINO_OK;
    char *name = NULL, *numbered = NULL, *path = NULL;
    uint8_t *pixels = malloc((size_t) (h * w * c));
    nino_buf file = { 0 };
    if (!pixels)
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    if (st || (st = nino_prefix_expand(prefix, &vars, &name, err)))
        goto end;
    int64_t counter = nino_prefix_counter(dir, name);
    for (int64_t i = 0; i < images->shape.dim[0]; i++) {
        if ((st = nino_node_cancelled(r, err)) ||
            (st = image_save_encode(r, images, i, is_jpeg, pixels, &file, err)))
            goto end;
        if (!(numbered = with_batch(name, i))) {
            st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
            goto end;
        }
        if ((st = nino_prefix_save(dir, numbered, is_jpeg ? ".jpg" : ".png", &counter, file.data,
                                   file.len, &path, err)))
            goto end;
        nino_run_output(r, path);
        free(path);
        free(numbered);
        path = numbered = NULL;
    }
end:
    free(path);
    free(numbered);
    free(name);
    free(pixels);
    nino_buf_release(&file);
    return st;
}

static nino_status image_save_save_run(nino_run *r, nino_error *err)
{
    const char *dir = nino_node_folder(r, false);
    nino_node_hand_on(r);
    if (!dir)
        return NINO_OK;
    const nino_status st = nino_file_mkdirs(dir, false, err);
    return st ? st
              : image_save_save(r, nino_in_image(r, 0), dir,
                                ((const save_params *) r->params)->filename_prefix, false, err);
}

static nino_status image_save_save_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return nino_prefix_check(ctx ? nino_services_of(ctx)->output_dir(ctx) : NULL,
                             ((const save_params *) params)->filename_prefix, err);
}

nino_status nino_node_preview_as(nino_run *r, const nino_array *images, bool is_jpeg,
                                 nino_error *err)
{
    const char *dir = nino_node_folder(r, true);
    if (!dir)
        return NINO_OK;
    const nino_status st = nino_file_mkdirs(dir, true, err);
    return st ? st : image_save_save(r, images, dir, "ninodes_preview", is_jpeg, err);
}

nino_status nino_node_preview(nino_run *r, const nino_array *images, nino_error *err)
{
    return nino_node_preview_as(r, images, false, err);
}

static nino_status image_save_preview_run(nino_run *r, nino_error *err)
{
    nino_node_hand_on(r);
    return nino_node_preview(r, nino_in_image(r, 0), err);
}

static nino_status image_save_mask_run(nino_run *r, nino_error *err)
{
    nino_array *grey = nino_mask_to_image(nino_in_mask(r, 0), r->def->key, err);
    const nino_status st = grey ? nino_node_preview(r, grey, err) : NINO_ERR_NOMEM;
    nino_array_unref(&grey);
    nino_node_hand_on(r);
    return st;
}

NINO_NODE(
    save_image, "SaveImage", "Save Image", "image", "Writes PNG files that carry the workflow",
    NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_OUTPUTS(NINO_PORT(images, IMAGE)),
    NINO_PARAMS(
        save_params,
        NINO_P_STRING(save_params, filename_prefix, "ComfyUI", .label = "File name",
                      .help = "Start of the name, with sub-folders of the output folder and tokens "
                              "such as %date:yyyy-MM-dd%, %width% or %KSampler.seed%")),
    .is_output = true, NINO_RUN(image_save_save_run, .check = image_save_save_check));
NINO_NODE(preview_image, "PreviewImage", "Preview Image", "image",
          "Writes PNG files to a temporary folder", NINO_INPUTS(NINO_PORT(images, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)), .is_output = true,
          NINO_RUN(image_save_preview_run));

NINO_NODE(mask_preview, "MaskPreview", "MaskPreview", "mask",
          "Writes masks as grey PNG files to a temporary folder",
          NINO_INPUTS(NINO_PORT(mask, MASK)), NINO_OUTPUTS(NINO_PORT(mask, MASK)),
          .is_output = true, NINO_RUN(image_save_mask_run));
