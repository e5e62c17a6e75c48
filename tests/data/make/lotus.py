# What LotusConditioning computes: synth/lotus_text, the text encoder of a small Stable Diffusion 2 checkpoint in OpenCLIP's
# names, and synth/lotus_text_io, start and end of a text through it.
import torch
import torch.nn.functional as F

import encoders
import files
from net import Net

WIDTH, LAYERS, HEADS, VOCAB = 32, 3, 4, 24
PARTS = {"layer_norm1": "ln_1", "layer_norm2": "ln_2", "self_attn.out_proj": "attn.out_proj", "mlp.fc1": "mlp.c_fc",
         "mlp.fc2": "mlp.c_proj"}
ENDS = {"embeddings.token_embedding.weight": "token_embedding.weight",
        "embeddings.position_embedding.weight": "positional_embedding",
        "final_layer_norm.weight": "ln_final.weight", "final_layer_norm.bias": "ln_final.bias"}


def open_clip(tensors):
    """Hugging Face's names as OpenCLIP has them"""
    t = {k.removeprefix("text_model."): v for k, v in tensors.items()}
    out = {theirs: t[own] for own, theirs in ENDS.items()}
    for i in range(LAYERS):
        for kind in ("weight", "bias"):
            at, to = f"encoder.layers.{i}.", f"transformer.resblocks.{i}."
            out[f"{to}attn.in_proj_{kind}"] = torch.cat([t[f"{at}self_attn.{p}_proj.{kind}"] for p in "qkv"])
            out.update({f"{to}{theirs}.{kind}": t[f"{at}{own}.{kind}"] for own, theirs in PARTS.items()})
    return {"cond_stage_model.model." + k: v for k, v in out.items()}


def main():
    n = Net(90)
    ids = torch.tensor([[VOCAB - 2, VOCAB - 1]])
    states, _ = encoders.clip(n, ids, WIDTH, LAYERS, HEADS, VOCAB, F.gelu)
    files.save("synth/lotus_text.safetensors", open_clip(n.tensors))
    files.save("synth/lotus_text_io.safetensors",
               {"conditioning": n.at("text_model.").layer_norm(states[-2], "final_layer_norm")})


if __name__ == "__main__":
    main()
