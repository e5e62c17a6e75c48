// Images and masks shown: PNG files in the temporary folder.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"

static nino_status compare_run(nino_run *r, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && !st; i++)
        if (r->in[i])
            st = nino_node_preview(r, nino_in_image(r, i), err);
    nino_ext_give(r, 0, r->in[0]);
    return st;
}

NINO_NODE(rgthree_compare, "Image Comparer (rgthree)", "Image Comparer (rgthree)", "rgthree",
          "Shows two images to compare",
          NINO_INPUTS(NINO_PORT(image_a, IMAGE, .optional = true),
                      NINO_PORT(image_b, IMAGE, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)), .is_output = true, NINO_RUN(compare_run));

static nino_status mask_run(nino_run *r, nino_error *err)
{
    nino_array *grey = nino_mask_to_image(nino_in_mask(r, 0), r->def->key, err);
    const nino_status st = grey ? nino_node_preview(r, grey, err) : NINO_ERR_NOMEM;
    if (st) {
        nino_array_unref(&grey);
        return st;
    }
    return nino_out_image(r, 0, grey, err);
}

NINO_NODE(essentials_mask_view, "MaskPreview+", "Mask Preview", "essentials/mask",
          "Shows masks as grey images", NINO_INPUTS(NINO_PORT(mask, MASK)),
          NINO_OUTPUTS(NINO_PORT(images, IMAGE)), .is_output = true, NINO_RUN(mask_run));

static nino_status animation_run(nino_run *r, nino_error *err)
{
    nino_status st = r->in[0] ? nino_node_preview(r, nino_in_image(r, 0), err) : NINO_OK;
    nino_array *grey =
        r->in[1] && !st ? nino_mask_to_image(nino_in_mask(r, 1), r->def->key, err) : NULL;
    if (grey)
        st = nino_node_preview(r, grey, err);
    nino_array_unref(&grey);
    return st;
}

typedef struct animation_params {
    double fps;
} animation_params;

NINO_NODE(
    kj_animation, "PreviewAnimation", "Preview Animation", "KJNodes/image",
    "Shows the frames of a clip, each as an image",
    NINO_INPUTS(NINO_PORT(images, IMAGE, .optional = true),
                NINO_PORT(masks, MASK, .optional = true)),
    NINO_NO_OUTPUTS,
    NINO_PARAMS(animation_params,
                NINO_P_FLOAT(animation_params, fps, 8.0, 0.01, 1000.0, 0.01,
                             .label = "Frames a second",
                             .help = "Accepted for compatibility, the frames are shown one by one",
                             .is_inert = true)),
    .is_output = true, NINO_RUN(animation_run));

typedef struct both_params {
    double mask_opacity;
    const char *mask_color;
    bool pass_through;
} both_params;

// The mask in a colour over the image; either may be missing.
static nino_status both_run(nino_run *r, nino_error *err)
{
    const both_params *p = r->params;
    float rgb[3];
    nino_array *m = NULL, *out = NULL;
    nino_status st = nino_ext_color(p->mask_color, "mask_color", rgb, err);
    if (st)
        return st;
    if (!r->in[0] && !r->in[1])
        return nino_fail_kind(err, NINO_ERR_ARG, "missing_input", "image",
                              "neither an image nor a mask is connected");
    out = r->in[0] ? nino_picture_copy(nino_in_image(r, 0), r->def->key, err)
                   : nino_mask_to_image(nino_in_mask(r, 1), r->def->key, err);
    if (out && r->in[0] && r->in[1])
        st = nino_mask_fit(r, nino_in_mask(r, 1), out->shape.dim[1], out->shape.dim[2], &m, err);
    const int64_t c = out ? out->shape.dim[3] : 1, one = m ? m->shape.dim[1] * m->shape.dim[2] : 0;
    for (int64_t i = 0; m && i < out->shape.dim[0] * one; i++) {
        const float by =
            nino_array_f32(m)[i / one % m->shape.dim[0] * one + i % one] * (float) p->mask_opacity;
        for (int k = 0; k < 3; k++) {
            float *v = &nino_array_f32(out)[i * c + k];
            *v = *v * (1 - by) + rgb[k] * by;
        }
    }
    nino_array_unref(&m);
    if (!st && out && !p->pass_through)
        st = nino_node_preview(r, out, err);
    if (st) {
        nino_array_unref(&out);
        return st;
    }
    return nino_out_image(r, 0, out, err);
}

NINO_NODE(kj_both, "ImageAndMaskPreview", "ImageAndMaskPreview", "KJNodes/masking",
          "Shows a mask over an image",
          NINO_INPUTS(NINO_PORT(image, IMAGE, .optional = true),
                      NINO_PORT(mask, MASK, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(composite, IMAGE)),
          NINO_PARAMS(both_params,
                      NINO_P_FLOAT(both_params, mask_opacity, 1.0, 0.0, 1.0, 0.01,
                                   .label = "Opacity", .help = "How much the mask covers"),
                      NINO_P_STRING(both_params, mask_color, "255, 255, 255", .label = "Colour",
                                    .help = "Of the mask, three numbers from 0 to 255"),
                      NINO_P_BOOL(both_params, pass_through, false, .label = "Only hand on",
                                  .help = "Shows nothing")),
          .is_output = true, NINO_RUN(both_run));
