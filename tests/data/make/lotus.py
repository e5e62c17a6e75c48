# What LotusConditioning computes: synth/lotus_text, the text encoder of a small Stable Diffusion 2 checkpoint in OpenCLIP's
# names, and synth/lotus_text_io, start and end of a text through it. And a picture through a small Lotus,
# models/diffusion_models/lotus_own, that is told so: e2e_2026 lotus_own. The autoencoder lies there already (pipeline.py).
import math

import torch
import torch.nn.functional as F

import encoders
import files
import pipeline
import pipeline_llm
import unet
import vae
from net import FP8, Net
from pipeline import node

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


UNET = dict(unet.SDXL, mult=(1,), depth=(1,))
TASK = torch.tensor([[math.sin(1), math.sin(0), math.cos(1), math.cos(0)]]).double()


def picture_to_picture(context):
    n, a = Net(91, FP8), pipeline_llm.stored("checkpoints/sd15_tiny").at("first_stage_model.")
    z = vae.encode(a, pipeline_llm.photo(), 4, pipeline.WIDTHS, vae.QUANT)
    out = unet.unet(n, z * 0.18215, torch.tensor([999.0]), context, TASK.float().double(), UNET) / 0.18215
    files.save("models/diffusion_models/lotus_own.safetensors", n.tensors, n.tensors)
    custom = {"noise": ["4", 0], "guider": ["5", 0], "sampler": ["6", 0], "sigmas": ["7", 0], "latent_image": ["9", 0]}
    pipeline_llm.write("lotus_own", {
        "1": node("UNETLoader", unet_name="lotus_own.safetensors", weight_dtype="default"),
        "2": node("LotusConditioning"), "4": node("DisableNoise"),
        "5": node("BasicGuider", model=["1", 0], conditioning=["2", 0]),
        "6": node("KSamplerSelect", sampler_name="euler"), "7": node("SetFirstSigma", sigmas=["10", 0], sigma=10000.0),
        "8": node("SamplerCustomAdvanced", **custom), "9": node("VAEEncode", pixels=["11", 0], vae=["12", 2]),
        "10": node("BasicScheduler", model=["1", 0], scheduler="normal", steps=1, denoise=1.0),
        "11": node("LoadImage", image="tiles_72x56.png"),
        "12": node("CheckpointLoaderSimple", ckpt_name="sd15_tiny.safetensors")},
        out, vae.decode(a, out, pipeline.WIDTHS, vae.QUANT), "8", ("12", 2))


def main():
    n = Net(90)
    ids = torch.tensor([[VOCAB - 2, VOCAB - 1]])
    states, _ = encoders.clip(n, ids, WIDTH, LAYERS, HEADS, VOCAB, F.gelu)
    context = n.at("text_model.").layer_norm(states[-2], "final_layer_norm")
    files.save("synth/lotus_text.safetensors", open_clip(n.tensors))
    files.save("synth/lotus_text_io.safetensors", {"conditioning": context})
    picture_to_picture(context)


if __name__ == "__main__":
    main()
