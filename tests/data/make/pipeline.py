# Whole pipelines over small models, from prompt to picture, under the names that the larger reference has: models/ and
# e2e/. Their vocabularies are the demo's.
import json
import pathlib
import sys

import torch

import encoders
import files
import flux
import net
import samplers
import schedules
import unet
import vae
import vae_wan
import wan
from net import Net

sys.path.append(str(files.TO.parent.parent / "data/train"))
import export  # noqa: E402
import text  # noqa: E402

BPE, UNIGRAM = text.Bpe(), text.Unigram()
CAT, BLURRY = "a photo of a cat", "blurry, low quality"
WIDTHS = (32, 32, 32, 32)


def padded(ids, size, pad):
    return torch.tensor([ids + [pad] * (size - len(ids))])


def clip_l(n, prompt):
    """the normed states, and the row of the end"""
    ids = BPE.ids(prompt)
    _, normed = encoders.clip(n, padded(ids, 77, BPE.end), 32, 2, 4, len(BPE.vocab), encoders.quick_gelu)
    return normed, normed[:, len(ids) - 1]


def t5(n, prompt, size, every, masked=False):
    ids = UNIGRAM.ids(prompt)
    keys = (torch.arange(size) < len(ids)).int()[None] if masked else None
    x = encoders.t5(n, padded(ids, size, 0), 32, 2, 4, 64, len(UNIGRAM.pieces), every, keys)
    return x * keys[..., None] if masked else x


def run(sampler, seed, sigmas, shape, denoised, is_flow):
    """What happened: the noise, the levels, every step and the last x."""
    noise, steps = torch.randn(*shape, generator=torch.Generator().manual_seed(seed)), []

    def denoise(x, sigma):
        steps.append(denoised(x, sigma))
        return steps[-1]

    start = sigmas[0] if is_flow else (1 + sigmas[0] ** 2) ** 0.5  # the first level is the highest there is
    x = getattr(samplers, sampler)(denoise, noise.double() * start, sigmas, seed)
    return {"noise": noise, "sigmas": torch.tensor(sigmas), "denoised_steps": torch.stack(steps), "samples_model_space": x}


def workflow(name, nodes):
    files.path(f"e2e/workflows/{name}.json").write_text(json.dumps(nodes, indent=2) + "\n")


def node(kind, **inputs):
    return {"class_type": kind, "inputs": inputs}


def ksampler(model, positive, negative, latent, **settings):
    return node("KSampler", **settings, denoise=1.0, model=[model, 0], positive=[positive, 0], negative=[negative, 0],
                latent_image=[latent, 0])


def picture(name, image):
    export.png(files.path(f"e2e/expected/{name}.png"), image[0].float(), cut=True)


def sd15():
    n = Net(21)
    u, a, c = n.at("model.diffusion_model.", net.FP8), n.at("first_stage_model.", net.FP8), n.at("cond_stage_model.transformer.")
    cond, uncond = clip_l(c, CAT)[0], clip_l(c, BLURRY)[0]
    model, out = schedules.MODELS["sd15_eps"], {"cond": cond, "uncond": uncond}

    def denoised(x, sigma):
        t = torch.tensor([float(model.timestep(sigma))])
        v = [x - sigma * unet.unet(u, x / (sigma ** 2 + 1) ** 0.5, t, k, None, unet.SD15) for k in (cond, uncond)]
        return v[1] + (v[0] - v[1]) * 7.5

    vae.encode(a, files.values(22, 1, 3, 16, 16), 4, WIDTHS, vae.QUANT)  # so that its weights are there
    for sampler, scheduler in (("euler", "normal"), ("dpmpp_2m", "karras"), ("euler_ancestral", "normal"),
                               ("dpmpp_2m_sde", "karras")):
        sigmas = schedules.listed(schedules.ksampler(model, scheduler, 6, 0))
        r = run(sampler, 42, sigmas, (1, 4, 12, 16), denoised, False)
        r["latent_comfy"] = r["samples_model_space"] / 0.18215
        image = vae.decode(a, r["latent_comfy"], WIDTHS, vae.QUANT)
        if scheduler == "normal" and sampler == "euler":
            r["image"] = image.permute(0, 2, 3, 1)
        picture(f"sd15_tiny_{sampler}", image)
        out.update({f"{sampler}/{k}": v for k, v in r.items()})
        workflow(f"sd15_tiny_{sampler}", {
            "4": node("CheckpointLoaderSimple", ckpt_name="sd15_tiny.safetensors"),
            "5": node("EmptyLatentImage", width=128, height=96, batch_size=1),
            "6": node("CLIPTextEncode", text=CAT, clip=["4", 1]),
            "7": node("CLIPTextEncode", text=BLURRY, clip=["4", 1]),
            "3": ksampler("4", "6", "7", "5", seed=42, steps=6, cfg=7.5, sampler_name=sampler, scheduler=scheduler),
            "8": node("VAEDecode", samples=["3", 0], vae=["4", 2]),
            "9": node("SaveImage", filename_prefix="x", images=["8", 0])})
    files.save("models/checkpoints/sd15_tiny.safetensors", n.tensors, [k for k in n.tensors if k.startswith((u.prefix, a.prefix))])
    files.save("e2e/expected/sd15_tiny_ref.safetensors", out)


def flux_tiny():
    n, a, c, t = Net(31, net.FP8), Net(32, net.FP8), Net(33), Net(34)
    pooled, context = clip_l(c, CAT)[1], t5(t, CAT, 256, False)
    guidance, out = torch.tensor([3.5]), {"cond": context, "pooled": pooled}

    def denoised(x, sigma):
        return x - sigma * flux.flux(n, x, torch.tensor([sigma]), context, pooled, guidance)

    sigmas = schedules.listed(schedules.ksampler(schedules.MODELS["flux_dev_default_1.15"], "simple", 4, 0))
    r = run("euler", 7, sigmas, (1, 16, 12, 16), denoised, True)
    r["latent_comfy"] = r["samples_model_space"] / 0.3611 + 0.1159
    vae.encode(a, files.values(22, 1, 3, 16, 16), 16, WIDTHS, None)
    image = vae.decode(a, r["latent_comfy"], WIDTHS, None)
    r["image"] = image.permute(0, 2, 3, 1)
    picture("flux_tiny_bf16", image)
    out.update({f"bf16/{k}": v for k, v in r.items()})
    workflow("flux_tiny_bf16", {
        "1": node("UNETLoader", unet_name="flux_tiny.safetensors", weight_dtype="default"),
        "2": node("DualCLIPLoader", clip_name1="t5xxl_tiny.safetensors", clip_name2="clip_l_tiny.safetensors", type="flux"),
        "3": node("VAELoader", vae_name="ae_tiny.safetensors"),
        "4": node("CLIPTextEncode", text=CAT, clip=["2", 0]),
        "5": node("FluxGuidance", guidance=3.5, conditioning=["4", 0]),
        "6": node("EmptySD3LatentImage", width=128, height=96, batch_size=1),
        "7": ksampler("1", "5", "4", "6", seed=7, steps=4, cfg=1.0, sampler_name="euler", scheduler="simple"),
        "8": node("VAEDecode", samples=["7", 0], vae=["3", 0]),
        "9": node("SaveImage", filename_prefix="x", images=["8", 0])})
    for name, m in (("diffusion_models/flux_tiny", n), ("vae/ae_tiny", a), ("text_encoders/clip_l_tiny", c),
                    ("text_encoders/t5xxl_tiny", t)):
        files.save(f"models/{name}.safetensors", m.tensors, m.tensors if m.dtype == net.FP8 else ())
    files.save("e2e/expected/flux_tiny_ref.safetensors", out)


MEAN = [-0.7571, -0.7089, -0.9113, 0.1075, -0.1745, 0.9653, -0.1517, 1.5508, 0.4134, -0.0715, 0.5517, -0.3632, -0.1922,
        -0.9497, 0.2503, -0.2921]  # of Wan 2.1's latents, channel by channel
STD = [2.8184, 1.4541, 2.3275, 2.6558, 1.2196, 1.7708, 2.6052, 2.0743, 3.2687, 2.1526, 2.8652, 1.5579, 1.6382, 1.1253,
       2.8251, 1.9160]


def by_channel(values):
    return torch.tensor(values).double().view(1, -1, 1, 1, 1)


def wan_tiny():
    n, a, t = Net(51, net.FP8), Net(52, net.FP8), Net(53)
    cond, uncond = (t5(t, p, 512, True, masked=True) for p in (CAT, BLURRY))
    out = {"cond": cond, "uncond": uncond}

    def denoised(x, sigma):
        v = [x - sigma * wan.wan(n, x, torch.tensor([sigma * 1000]), k, 16, ff=96) for k in (cond, uncond)]
        return v[1] + (v[0] - v[1]) * 6.0

    vae_wan.encode(a, files.values(22, 1, 3, 5, 16, 16), 16, (8, 8, 8, 8), False)
    for sampler in ("euler", "uni_pc", "res_multistep"):
        sigmas = schedules.listed(schedules.ksampler(schedules.MODELS["wan_shift8"], "simple", 5, sampler == "uni_pc"))
        r = run(sampler, 123, sigmas, (1, 16, 3, 6, 8), denoised, True)
        r["latent_comfy"] = r["samples_model_space"] * by_channel(STD) + by_channel(MEAN)
        frames = (vae_wan.decode(a, r["latent_comfy"], (8, 8, 8, 8), False)[0] / 2 + 0.5).clamp(0, 1)
        picture(f"wan_tiny_{sampler}", torch.cat(list(frames.transpose(0, 1)), 2)[None])
        out.update({f"{sampler}/{k}": v for k, v in r.items()})
        workflow(f"wan_tiny_{sampler}", {
            "37": node("UNETLoader", unet_name="wan_t2v_tiny.safetensors", weight_dtype="default"),
            "38": node("CLIPLoader", clip_name="umt5_tiny.safetensors", type="wan", device="default"),
            "39": node("VAELoader", vae_name="wan_2.1_vae_tiny.safetensors"),
            "40": node("EmptyHunyuanLatentVideo", width=64, height=48, length=9, batch_size=1),
            "48": node("ModelSamplingSD3", shift=8.0, model=["37", 0]),
            "6": node("CLIPTextEncode", text=CAT, clip=["38", 0]),
            "7": node("CLIPTextEncode", text=BLURRY, clip=["38", 0]),
            "3": ksampler("48", "6", "7", "40", seed=123, steps=5, cfg=6.0, sampler_name=sampler, scheduler="simple"),
            "8": node("VAEDecode", samples=["3", 0], vae=["39", 0]),
            "28": node("SaveAnimatedWEBP", filename_prefix="x", fps=16.0, lossless=True, quality=90, method="default",
                       images=["8", 0])})
    t.tensors["spiece_model"] = torch.frombuffer(bytearray(UNIGRAM.proto()), dtype=torch.uint8)
    for name, m in (("diffusion_models/wan_t2v_tiny", n), ("vae/wan_2.1_vae_tiny", a), ("text_encoders/umt5_tiny", t)):
        files.save(f"models/{name}.safetensors", m.tensors, m.tensors if m.dtype == net.FP8 else ())
    files.save("e2e/expected/wan_tiny_ref.safetensors", out)


def tokenizers():
    clip = files.path("models/tokenizers/clip/vocab.json").parent
    BPE.save(pathlib.Path(clip))
    files.path("models/tokenizers/t5/spiece.model").write_bytes(UNIGRAM.proto())


if __name__ == "__main__":
    tokenizers()
    sd15()
    flux_tiny()
    wan_tiny()
