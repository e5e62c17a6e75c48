// Z-Image, Qwen-Image and FLUX.2 from prompt to picture over the project's own small models, against
// torch's latents and pictures: with guidance and without, odd latent sides, a picture that the
// prompt's model sees, reference latents, both autoencoders of FLUX.2.
#include "tests/e2e_flow.h"

static const e2e_flow flows[] = {
    { "z_image_own_turbo", "8", 1e-6 }, { "z_image_own_base", "8", 1e-6 },
    { "qwen_own_t2i", "8", 1e-6 },      { "qwen_own_edit", "8", 1e-6 },
    { "flux2_own_klein", "8", 1e-6 },   { "flux2_own_edit", "8", 1e-6 },
    { "flux2_own_taef2", "8", 1e-6 },   { "flux2_own_dev", "8", 1e-6 },
};

int main(void)
{
    return e2e_check_flows(test_data_next(NULL), flows, sizeof(flows) / sizeof(flows[0]));
}
