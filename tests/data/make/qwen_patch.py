# Blockwise ControlNets of Qwen-Image: models/model_patches/qwen_patch_own, with a mask qwen_patch_own_mask; one evaluation
# of the network with them, synth/qwen_patch_io; and a whole run, e2e_2026 qwen_own_patch. The network, its VAE, its language
# model and the picture lie there already (qwen_image.py, pipeline.py, llm.py, pipeline_llm.py).
import torch
import torch.nn.functional as F

import files
import pipeline
import pipeline_llm
import qwen_image
import schedules
import vae_wan
from pipeline import node

D, LAYERS = qwen_image.D, qwen_image.LAYERS
MEAN, STD = (torch.tensor(v).double().view(1, -1, 1, 1) for v in (pipeline.MEAN, pipeline.STD))


def made(name, seed, features):
    torch.manual_seed(seed)

    def stored(spread, *shape, mean=0.0):
        return (torch.randn(*shape) * spread + mean).bfloat16()
    n = {"img_in.weight": stored(features ** -0.5, D, features), "img_in.bias": stored(0.1, D)}
    for i in range(LAYERS):
        for norm in ("x_rms", "y_rms"):
            n[f"controlnet_blocks.{i}.{norm}.weight"] = stored(0.2, D, mean=1.0)
        for layer in ("input_proj", "output_proj"):
            n[f"controlnet_blocks.{i}.{layer}.weight"] = stored(D ** -0.5, D, D)
            n[f"controlnet_blocks.{i}.{layer}.bias"] = stored(0.1, D)
    files.save(f"models/model_patches/{name}.safetensors", n)
    return {k: t.double() for k, t in n.items()}


def squares(x):
    """[1,C,h,w] as tokens of 2x2 cells; of odd sides the first row and column come again"""
    x = F.pad(x, (0, x.shape[-1] % 2, 0, x.shape[-2] % 2), mode="circular")
    return F.unfold(x, 2, stride=2)[0].T


def rms(x, weight):
    return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * weight


class Control:
    def __init__(self, n, hint, strength):
        self.n, self.strength = n, strength
        self.hint = squares(hint) @ n["img_in.weight"].T + n["img_in.bias"]

    def __call__(self, i, img, count):
        b = {k.split(".", 2)[2]: t for k, t in self.n.items() if k.startswith(f"controlnet_blocks.{i}.")}
        x = torch.tensor(img[:count], dtype=torch.float64)
        y = rms(x, b["x_rms.weight"]) + rms(self.hint, b["y_rms.weight"])
        y = F.gelu(y @ b["input_proj.weight"].T + b["input_proj.bias"])
        y = y @ b["output_proj.weight"].T + b["output_proj.bias"]
        img[:count] = (x + self.strength * y).tolist()


def evaluations(plain, masked):
    io = {}

    def values(name, *shape):
        io[name] = torch.randn(*shape).double().float().double()
        return io[name]
    torch.manual_seed(77)
    # prefix, rows, columns, strengths without and with a mask, reference latents
    for name, h, w, strengths, n_refs in (("even", 4, 6, (1.0, 0), 0), ("odd", 5, 3, (0, -0.6), 0), ("ref", 4, 4, (0.8, 0), 1),
                                          ("both", 3, 4, (0.7, 1.0), 0)):
        x, text = values(name + ".x", 1, 16, 1, h, w), values(name + ".context", 1, 5, qwen_image.CONTEXT)
        hints = [values(f"{name}.hint{k}", 1, 16 + k, h, w) for k in range(2)]
        refs = [values(f"{name}.ref0", 1, 16, 1, 2, 5)] * n_refs
        io[name + ".timestep"] = torch.tensor([0.6]).double()
        nets = [Control(n, hints[k], s) for k, (n, s) in enumerate(zip((plain, masked), strengths)) if s]

        def after(i, img, count):
            for net in nets:
                net(i, img, count)
        out = qwen_image.forward(x[0, :, 0].tolist(), h, w, qwen_image.f32(0.6), text[0].tolist(),
                                 [(r[0, :, 0].tolist(), *r.shape[3:]) for r in refs], after=after)
        io[name + ".out"] = torch.tensor(out, dtype=torch.float64).view(x.shape)
    files.save("synth/qwen_patch_io.safetensors", io)


def fitted(picture, width, height, mode="area"):
    """cut to the aspect and scaled as ComfyUI's common_upscale with "center\""""
    h, w = picture.shape[2:]
    old, new = w / h, width / height
    x = round((w - w * (new / old)) / 2) if old > new else 0
    y = round((h - h * (old / new)) / 2) if old < new else 0
    return F.interpolate(picture[:, :, y:h - y, x:w - x], size=(height, width), mode=mode)


def run(masked):
    e, a = pipeline_llm.stored("text_encoders/qwen_2.5_vl_7b_tiny"), pipeline_llm.stored("vae/wan_2.1_vae_tiny")
    picture = pipeline_llm.photo()
    latent = vae_wan.encode(a, fitted(picture, 128, 96)[:, :, None] * 2 - 1, 16, (8, 8, 8, 8), False)[:, :, 0]
    share = F.interpolate(1 - picture[:, :1], size=(12, 16), mode="bilinear")
    control = Control(masked, torch.cat([(latent - MEAN) / STD, share], 1), 0.75)
    prompts = [pipeline_llm.qwen25(e, p) for p in (pipeline_llm.SEA, pipeline_llm.BLURRY)]

    def velocity(x, sigma, k):
        v = qwen_image.forward(*pipeline_llm.rows_of(x), float(sigma), prompts[k][0].tolist(), after=control)
        return torch.tensor(v, dtype=torch.float64).view(x.shape)
    x = pipeline_llm.sampled("euler", 31, schedules.ksampler(schedules.Flow(3.1, 1), "simple", 3, 0), (1, 16, 12, 16),
                             velocity, 2.5)
    z = (x * STD + MEAN)[:, :, None]
    pixels = (vae_wan.decode(a, z, (8, 8, 8, 8), False)[:, :, 0] / 2 + 0.5).clamp(0, 1)
    pipeline_llm.write("qwen_own_patch", {
        "1": pipeline_llm.loader("model", file="qwen_image_d64.safetensors"),
        "2": pipeline_llm.loader("clip", file="qwen_2.5_vl_7b_tiny.safetensors", type="qwen_image"),
        "3": pipeline_llm.loader("vae", file="wan_2.1_vae_tiny.safetensors"),
        "4": node("ModelSamplingAuraFlow", shift=3.1, model=["1", 0]),
        "5": pipeline_llm.text(pipeline_llm.SEA), "6": pipeline_llm.text(pipeline_llm.BLURRY),
        "7": node("EmptySD3LatentImage", **pipeline_llm.SIZE),
        "8": pipeline.ksampler("13", "5", "6", "7", seed=31, steps=3, cfg=2.5, sampler_name="euler", scheduler="simple"),
        "10": node("LoadImage", image="tiles_72x56.png"),
        "11": node("LoadImageMask", image="tiles_72x56.png", channel="red"),
        "12": node("ModelPatchLoader", name="qwen_patch_own_mask.safetensors"),
        "13": node("QwenImageDiffsynthControlnet", model=["4", 0], model_patch=["12", 0], vae=["3", 0], image=["10", 0],
                   strength=0.75, mask=["11", 0])}, z, pixels, "8")


def main():
    kept = files.load("models/diffusion_models/qwen_image_d64.safetensors")
    qwen_image.weights.update({k: (tuple(t.shape), t.flatten().tolist()) for k, t in kept.items()})
    plain, masked = made("qwen_patch_own", 70, 64), made("qwen_patch_own_mask", 71, 68)
    evaluations(plain, masked)
    run(masked)


if __name__ == "__main__":
    main()
