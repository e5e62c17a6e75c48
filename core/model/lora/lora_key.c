// Names of tensors in LoRA files. Dialects: kohya-ss/sd-scripts, KohakuBlueleaf/LyCORIS,
// huggingface/diffusers and peft, XLabs-AI/x-flux, black-forest-labs/flux; which of them count:
// ComfyUI lora.py and weight_adapter/.
#include "core/model/lora/lora_key.h"

#include <string.h>

// An ending that is the end of another comes after it.
static const struct {
    const char *end;
    lora_role role;
} endings[] = {
    { ".lora_up.weight", LORA_UP },
    { ".lora_down.weight", LORA_DOWN },
    { ".lora_mid.weight", LORA_MID },
    { "_lora.up.weight", LORA_UP },
    { "_lora.down.weight", LORA_DOWN },
    { ".lora.up.weight", LORA_UP },
    { ".lora.down.weight", LORA_DOWN },
    { ".lora_linear_layer.up.weight", LORA_UP },
    { ".lora_linear_layer.down.weight", LORA_DOWN },
    { ".lora_B.default.weight", LORA_UP },
    { ".lora_A.default.weight", LORA_DOWN },
    { ".lora_B.weight", LORA_UP },
    { ".lora_A.weight", LORA_DOWN },
    { ".lora_B.bias", LORA_DIFF_B },
    { ".lora_B", LORA_UP },
    { ".lora_A", LORA_DOWN },
    { ".up.weight", LORA_UP }, // XLabs
    { ".down.weight", LORA_DOWN },
    { ".alpha", LORA_ALPHA },
    { ".dora_scale", LORA_DORA },
    { ".reshape_weight", LORA_RESHAPE },
    { ".diff", LORA_DIFF },
    { ".diff_b", LORA_DIFF_B },
    { ".w_norm", LORA_DIFF },
    { ".b_norm", LORA_DIFF_B },
    { ".set_weight", LORA_SET },
    { "_norm.scale", LORA_SET }, // control LoRAs carry whole norms
    { ".hada_w1_a", LORA_HADA_W1A },
    { ".hada_w1_b", LORA_HADA_W1B },
    { ".hada_w2_a", LORA_HADA_W2A },
    { ".hada_w2_b", LORA_HADA_W2B },
    { ".hada_t1", LORA_HADA_T1 },
    { ".hada_t2", LORA_HADA_T2 },
    { ".lokr_w1", LORA_KRON_W1 },
    { ".lokr_w2", LORA_KRON_W2 },
    { ".lokr_w1_a", LORA_KRON_W1A },
    { ".lokr_w1_b", LORA_KRON_W1B },
    { ".lokr_w2_a", LORA_KRON_W2A },
    { ".lokr_w2_b", LORA_KRON_W2B },
    { ".lokr_t2", LORA_KRON_T2 },
    { ".oft_blocks", LORA_OFT_BLOCKS },
    { ".rescale", LORA_OFT_RESCALE },
    { ".a1.weight", LORA_GLORA_A1 },
    { ".a2.weight", LORA_GLORA_A2 },
    { ".b1.weight", LORA_GLORA_B1 },
    { ".b2.weight", LORA_GLORA_B2 },
};

bool lora_key_parse(const char *name, size_t *len, lora_role *role)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const size_t m = strlen(endings[i].end);
        if (n <= m || strcmp(name + n - m, endings[i].end) != 0)
            continue;
        *role = endings[i].role;
        *len = n - m + (endings[i].end[0] == '_' && *role == LORA_SET ? strlen("_norm") : 0);
        return true;
    }
    return false;
}

bool lora_key_canon(const char *name, size_t len, char out[LORA_KEY_MAX])
{
    static const char word[] = "_processor_";
    if (!len || len >= LORA_KEY_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        out[i] = name[i] == '.' ? '_' : name[i];
    out[len] = 0;
    char *p = strstr(out, word);
    if (p) // one underscore stays
        memmove(p, p + strlen(word) - 1, strlen(p + strlen(word) - 1) + 1);
    return true;
}
