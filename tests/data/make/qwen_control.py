# A ControlNet of Qwen-Image as InstantX trains them: synth/control_qwen, of two blocks for a model of
# sixty; what it adds to one evaluation, synth/control_qwen_io; and a whole run, e2e_2026 qwen_own_control, which it steers in
# part. The network, its VAE, its language model and the picture lie there already (qwen_image.py, pipeline.py, llm.py).
import torch

import files
import pipeline
import pipeline_llm
import qwen_image
import qwen_patch
import schedules
import vae_wan
from pipeline import node

D = qwen_image.D


def made():
    """{name: (shape, values)}, values that codes of 8 bits have"""
    torch.manual_seed(95)
    shapes = {k: s for k, (s, _) in qwen_image.weights.items() if not k.startswith(("norm_out.", "proj_out."))}
    for name, c in [("controlnet_x_embedder", 64)] + [(f"controlnet_blocks.{i}", D) for i in range(qwen_image.LAYERS)]:
        shapes.update({name + ".weight": (D, c), name + ".bias": (D,)})
    out = {}
    for k, s in shapes.items():
        is_norm = "norm" in k
        t = torch.randn(*s) * (0.2 if is_norm else s[-1] ** -0.5 if len(s) == 2 else 0.1) + is_norm
        out[k] = files.fp8_decoded(files.fp8_codes(t))
    files.save("synth/control_qwen.safetensors", out, out)
    return {k: (tuple(t.shape), t.flatten().tolist()) for k, t in out.items()}


def added(n, x, h, w, t, context, hint):
    """rows of what each block of n gives"""
    plain, qwen_image.weights = qwen_image.weights, n
    out = []
    start = qwen_image.linear(qwen_image.tokens(hint, h, w), "controlnet_x_embedder", D)

    def after(i, img, _):
        out.append(qwen_image.linear(img, f"controlnet_blocks.{i}", D))
    qwen_image.forward(x, h, w, t, context, after=after, hint=start)
    qwen_image.weights = plain
    return out


def evaluation(n):
    io, (h, w) = {"timestep": torch.tensor([0.35]).double()}, (5, 6)
    torch.manual_seed(96)
    for name, shape in (("x", (1, 16, h, w)), ("hint", (1, 16, h, w)), ("context", (1, 4, qwen_image.CONTEXT))):
        io[name] = torch.randn(*shape).double().float().double()
    rows = added(n, io["x"][0].tolist(), h, w, qwen_image.f32(0.35), io["context"][0].tolist(), io["hint"][0].tolist())
    for block, at in ((0, 0), (0, 29), (1, 30), (1, 59)):
        io[f"after_{at}"] = torch.tensor([rows[block]], dtype=torch.float64)
    files.save("synth/control_qwen_io.safetensors", io)


def run(n):
    e, a = pipeline_llm.stored("text_encoders/qwen_2.5_vl_7b_tiny"), pipeline_llm.stored("vae/wan_2.1_vae_tiny")
    seen = qwen_patch.fitted(pipeline_llm.photo(), 128, 96, "nearest-exact")
    latent = vae_wan.encode(a, seen[:, :, None] * 2 - 1, 16, (8, 8, 8, 8), False)[:, :, 0]
    hint = ((latent - qwen_patch.MEAN) / qwen_patch.STD)[0].tolist()
    prompts = [pipeline_llm.qwen25(e, p)[0].tolist() for p in (pipeline_llm.SEA, pipeline_llm.BLURRY)]
    end = 3.1 * 0.5 / (1 + 2.1 * 0.5)  # where half of the schedule is over

    def velocity(x, sigma, k):
        rows, s = pipeline_llm.rows_of(x), float(sigma)
        more = added(n, *rows, s, prompts[k], hint)[0] if s >= end else None

        def after(i, img, count):
            if more:  # a model of two blocks comes to the first of the control network's alone
                img[:count] = [[p + 0.8 * q for p, q in zip(*r)] for r in zip(img, more)]
        v = qwen_image.forward(*rows, s, prompts[k], after=after)
        return torch.tensor(v, dtype=torch.float64).view(x.shape)
    x = pipeline_llm.sampled("euler", 33, schedules.ksampler(schedules.Flow(3.1, 1), "simple", 3, 0), (1, 16, 12, 16),
                             velocity, 2.5)
    z = (x * qwen_patch.STD + qwen_patch.MEAN)[:, :, None]
    pixels = (vae_wan.decode(a, z, (8, 8, 8, 8), False)[:, :, 0] / 2 + 0.5).clamp(0, 1)
    sampler = pipeline.ksampler("4", "12", "12", "7", seed=33, steps=3, cfg=2.5, sampler_name="euler", scheduler="simple")
    sampler["inputs"]["negative"] = ["12", 1]
    pipeline_llm.write("qwen_own_control", {
        "1": pipeline_llm.loader("model", file="qwen_image_d64.safetensors"),
        "2": pipeline_llm.loader("clip", file="qwen_2.5_vl_7b_tiny.safetensors", type="qwen_image"),
        "3": pipeline_llm.loader("vae", file="wan_2.1_vae_tiny.safetensors"),
        "4": node("ModelSamplingAuraFlow", shift=3.1, model=["1", 0]),
        "5": pipeline_llm.text(pipeline_llm.SEA), "6": pipeline_llm.text(pipeline_llm.BLURRY),
        "7": node("EmptySD3LatentImage", **pipeline_llm.SIZE),
        "8": sampler, "10": node("LoadImage", image="tiles_72x56.png"),
        "11": node("ControlNetLoader", control_net_name="qwen.safetensors"),
        "12": node("ControlNetApplyAdvanced", positive=["5", 0], negative=["6", 0], control_net=["11", 0], image=["10", 0],
                   vae=["3", 0], strength=0.8, start_percent=0.0, end_percent=0.5)}, z, pixels, "8")


def main():
    kept = files.load("models/diffusion_models/qwen_image_d64.safetensors")
    qwen_image.weights.update({k: (tuple(t.shape), t.flatten().tolist()) for k, t in kept.items()})
    n = made()
    evaluation(n)
    run(n)


if __name__ == "__main__":
    main()
