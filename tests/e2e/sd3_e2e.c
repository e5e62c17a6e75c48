// Stable Diffusion 3.5 from prompt to picture, against ComfyUI's pictures and latents: every
// combination of its text encoders, prompts of which some are empty, zeroed and scheduled negatives, a
// picture of odd latent sides, layers that are left out, a LoRA on 8-bit weights.
#include "tests/e2e_flow.h"

static const e2e_flow flows[] = {
    { "sd3_triple_euler", "8", 1e-6 },
    { "sd3_default_shift_b2", "7", 1e-6 },
    { "sd3_dualclip_no_t5", "8", 1e-6 },
    { "sd3_encode_sd3_empty_t5", "8", 1e-6 },
    { "sd3_encode_sd3_zero_neg", "12", 1e-6 },
    { "sd3_img2img_odd", "10", 1e-6 },
    { "sd3_lora_peft", "9", 1e-6 },
    { "sd3_skip_layer", "9", 1e-6 },
};

int main(void) { return e2e_check_flows(test_assets(), flows, sizeof(flows) / sizeof(flows[0])); }
