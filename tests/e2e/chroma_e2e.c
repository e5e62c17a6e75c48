// Chroma from prompt to picture, against ComfyUI's pictures and latents: weights in prompts, padding,
// distilled guidance, another noise schedule, a LoRA of which one layer is not there.
#include "tests/e2e_flow.h"

static const e2e_flow flows[] = {
    { "chroma_euler_simple", "8", 1e-6 },
    { "chroma_weights_minpad_b2", "8", 1e-6 },
    { "chroma_auraflow_shift_guidance", "9", 1e-6 },
    { "chroma_lora_kohya", "9", 1e-6 },
};

int main(void) { return e2e_check_flows(test_assets(), flows, sizeof(flows) / sizeof(flows[0])); }
