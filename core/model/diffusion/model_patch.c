// Files of models/model_patches: their loaders by what is in them, and what is said of others.
#include "core/model/diffusion/model_patch.h"

#include <string.h>

#include "core/base/error.h"
#include "core/model/detect.h"
#include "core/model/zimage/zimage.h"

static nino_status refuse_patch(const nino_detected *d, const char *name, nino_error *err)
{
    const char *what = d->control[0]     ? d->control
                       : d->is_lora      ? "a LoRA"
                       : d->diffusion[0] ? "a diffusion model"
                       : d->vae[0]       ? "a VAE"
                                         : NULL;
    const bool is_patch = !strncmp(d->control, "model_patch_", 12);
    return nino_fail_kind(err, is_patch ? NINO_ERR_UNSUPPORTED : NINO_ERR_FORMAT, "model", name,
                          "%s%s; those that can be run are blockwise ControlNets of Qwen-Image and "
                          "Fun ControlNets of Z-Image",
                          what ? "this is " : "not a known model patch", what ? what : "");
}

nino_status nino_model_patch_load(nino_weights *file, const char *name, nino_block_net **out,
                                  nino_error *err)
{
    nino_detected d;
    nino_detect(file, &d);
    *out = NULL;
    if (!strcmp(d.control, NINO_CONTROL_BLOCKS))
        return nino_qwen_control_load(file, name, out, err);
    if (!strcmp(d.control, NINO_CONTROL_ZIMAGE))
        return nino_zimage_control_load(file, name, out, err);
    return refuse_patch(&d, name, err);
}
