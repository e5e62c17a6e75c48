// Language models as text encoders: their file's embedding and network.
#include <stdio.h>

#include "core/model/clip/text_encoder.h"
#include "core/model/llm/llm.h"

static nino_llm_family family_of(nino_encoder_id id)
{
    return id == NINO_ENC_QWEN3      ? NINO_LLM_QWEN3
           : id == NINO_ENC_MISTRAL3 ? NINO_LLM_MISTRAL3
                                     : NINO_LLM_QWEN25_VL;
}

// In the file, or in one of their own.
static void load_eyes(nino_encoder *e, nino_loader *l, nino_llm *net)
{
    static const char first[] = "visual.patch_embed.proj.weight";
    if (!nino_load_has(l, "%s", first) && e->vision) {
        l->file = e->vision;
        l->prefix = "";
    } else if (!nino_load_has(l, "%s", first)) {
        return;
    }
    net->vision = nino_vision_load(l, e->width);
    e->weight_bytes += nino_weights_bytes(l->file, nino_name_of("%svisual.", l->prefix).s);
}

nino_status nino_text_llm_load(nino_encoder *e, nino_error *err)
{
    nino_loader l = { .file = e->file, .prefix = e->prefix, .layers = &e->layers, .err = err };
    nino_text_start(&l, e, "model.embed_tokens.weight", "model.layers.");
    nino_llm *net = l.st ? NULL : nino_llm_load(&l, family_of(e->id), e->width, e->n_layers);
    // what predicts words is never used
    e->weight_bytes = nino_weights_bytes(e->file, nino_name_of("%smodel.", e->prefix).s);
    e->net = net;
    if (net && e->id == NINO_ENC_QWEN25_VL)
        load_eyes(e, &l, net);
    snprintf(e->detail, sizeof(e->detail), "%s, %d layers, width %d%s", nino_encoder_titles[e->id],
             e->n_layers, e->width, net && net->vision ? ", sees pictures" : "");
    return l.st;
}
