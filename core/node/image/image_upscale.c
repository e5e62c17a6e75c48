// ImageUpscaleWithModel. Semantics: ComfyUI comfy_extras/nodes_upscale_model.py.
#include "core/node/util.h"
#include "core/tile/tile_upscale.h"

static nino_status image_upscale_run(nino_run *r, nino_error *err)
{
    const nino_upscale *u = r->in[0]->u.upscale;
    const nino_array *x = r->in[1]->u.image;
    const int64_t *d = x->shape.dim;
    nino_array *out = NULL;
    nino_status st = nino_node_fits(NINO_F32, NINO_SHAPE(d[0], d[1] * u->scale, d[2] * u->scale, 3),
                                    r->def->key, err);
    st = st ? st : nino_upscale_tiled(r->stream, u, x, &out, NULL, err);
    return st ? st : nino_out_image(r, 0, out, err);
}

NINO_NODE(image_upscale, "ImageUpscaleWithModel", "Upscale Image (using Model)", "image/upscaling",
          "Enlarges pictures as often as the model does; in tiles, smaller ones where memory is "
          "short",
          NINO_INPUTS(NINO_PORT(upscale_model, UPSCALE_MODEL), NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_RUN(image_upscale_run, .items = NINO_ITEMS_SHARED));
