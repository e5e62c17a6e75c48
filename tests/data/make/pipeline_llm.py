# Whole pipelines of the models whose prompts a language model reads: Z-Image, Qwen-Image and its editing, FLUX.2 klein
# and dev. Their language models, Z-Image's and Qwen-Image's networks and the autoencoders of these two lie there already
# (llm.py, qwen_image.py, pipeline.py; z_image_tiny_fp8_e4m3fn_scaled). Made here: FLUX.2's networks, its autoencoder and
# TAEF2, and e2e_2026/workflows, input, expected.
import json
import math

import torch
import torch.nn.functional as F

import files
import flux2
import llm
import net
import pipeline
import qwen_image
import schedules
import vae
import vae_wan
import zimage
from net import Net
from pipeline import node

CAT, SEA, BLURRY = "a photo of a cat", 'a harbour, 2 boats; a sign reads "OPEN"', "blurry, low quality"
SIZE = {"width": 128, "height": 96, "batch_size": 1}
WIDTHS = pipeline.WIDTHS
TOK = llm.qwen_tokenizer()


def stored(name):
    return Net(0, tensors=files.load(f"models/{name}.safetensors"))


def loader(kind, **names):
    classes = {"model": ("UNETLoader", "unet_name", {"weight_dtype": "default"}),
               "clip": ("CLIPLoader", "clip_name", {"device": "default"}), "vae": ("VAELoader", "vae_name", {})}
    name, key, more = classes[kind]
    return node(name, **{key: names.pop("file")}, **more, **names)


def text(prompt):
    return node("CLIPTextEncode", text=prompt, clip=["2", 0])


def write(name, nodes, latent, pixels, at, of=("3", 0)):
    """at: the node that gives the latent; of: the autoencoder"""
    nodes["20"] = node("VAEDecode", samples=[at, 0], vae=list(of))
    nodes["21"] = node("SaveImage", filename_prefix=name, images=["20", 0])
    files.path(f"e2e_2026/workflows/{name}.json").write_text(json.dumps(nodes, indent=1) + "\n")
    files.save(f"e2e_2026/expected/{name}_ref.safetensors", {f"latent_node_{at}": latent})
    pipeline.export.png(files.path(f"e2e_2026/expected/{name}.png"), pixels[0].float(), cut=True)


def sampled(sampler, seed, sigmas, shape, velocity, cfg, norm=False):
    """velocity(x, sigma, which): of the positive (0) or negative (1) prompt; norm: CFGNorm"""
    def denoised(x, sigma):
        yes = x - sigma * velocity(x, torch.tensor([sigma]), 0)
        if cfg == 1:
            return yes
        no = x - sigma * velocity(x, torch.tensor([sigma]), 1)
        out = no + (yes - no) * cfg
        if norm:
            out = out * (yes.norm(dim=1, keepdim=True) / (out.norm(dim=1, keepdim=True) + 1e-8)).clamp(max=1)
        return out
    return pipeline.run(sampler, seed, schedules.listed(sigmas), shape, denoised, True)["samples_model_space"]


def photo():
    """[1,3,56,72], as its file has it"""
    y, x = torch.meshgrid(torch.arange(56.0), torch.arange(72.0), indexing="ij")
    p = torch.stack([(x // 9 + y // 7) % 2, (x + y) / 128, ((x - 30) ** 2 + (y - 25) ** 2 < 300).float()])
    p = torch.round((0.2 + 0.6 * p) * 255)
    pipeline.export.png(files.path("e2e_2026/input/tiles_72x56.png"), p / 255)
    return (p.double() / 255)[None]


# ---- prompts -----------------------------------------------------------------------------------


def embedded(n, rows, width, ids):
    return n("model.embed_tokens.weight", rows, width)[ids]


def qwen3(n, prompt, is_klein):
    model = llm.Llm(n, 32, 30, 4, 2, 16, 64, 1e6, 1e-6, True, False)
    ids, mask = TOK(f"<|im_start|>user\n{prompt}{llm.ASK}" + "<think>\n\n</think>\n\n" * is_klein), None
    if is_klein:
        mask = torch.arange(512) < len(ids)
        ids += [TOK.specials["<|endoftext|>"]] * (512 - len(ids))
    states, _ = model(embedded(n, 512, 32, ids), mask)
    return (torch.cat([states[k] for k in (9, 18, 27)], -1) if is_klein else states[-2])[None]


def mistral(prompt):
    n = stored("text_encoders/mistral3_tiny_fp8_e4m3fn")
    tok, _ = llm.tekken(400)
    ids = [1] + tok(f"{llm.REASON}{prompt}[/INST]")
    states, _ = llm.Llm(n, 16, 30, 2, 1, 128, 32, 1e9, 1e-5, False, False)(embedded(n, 1400, 16, ids))
    return torch.cat([states[k] for k in (10, 20, 30)], -1)[None]


def qwen25(n, prompt, picture=None):
    """picture [1,3,H,W]: "Picture 1" of an edit"""
    ids = TOK(f"{llm.DESCRIBE}{prompt}{llm.ASK}" if picture is None
              else f"{llm.EDIT}Picture 1: {llm.MARK}{prompt}{llm.ASK}")
    rows, first = embedded(n, 512, 32, ids), llm.first_row(ids, TOK)
    places = torch.arange(len(ids)).expand(3, -1)
    if picture is not None:
        _, _, seen, (h, w) = llm.Eyes(n, 80, 8, 52, 32)(picture.permute(0, 2, 3, 1))
        at = ids.index(TOK.specials["<|image_pad|>"])
        grid = torch.stack([torch.zeros(h * w).long(), torch.arange(h * w) // w, torch.arange(h * w) % w])
        after = torch.arange(len(ids) - at - 1).expand(3, -1) + at + max(h, w)
        places = torch.cat([places[:, :at], at + grid, after], 1)
        rows = torch.cat([rows[:at], seen, rows[at + 1:]])
        first += h * w - 1 if first > at else 0
    _, normed = llm.Llm(n, 32, 3, 2, 1, 128, 88, 1e6, 1e-6, False, True)(rows, None, places)
    return normed[None, first:]


# ---- pipelines ---------------------------------------------------------------------------------


def z_image():
    n, a = stored("diffusion_models/z_image_tiny_fp8_e4m3fn_scaled"), stored("vae/ae_tiny")
    e = stored("text_encoders/qwen3_tiny_fp8_e4m3fn")
    # name, prompt, negative, side, shift, steps, cfg: two rows of tokens are not complete with the odd one
    for name, positive, negative, height, shift, steps, cfg in (("z_image_own_turbo", CAT, None, 96, 3.0, 4, 1.0),
                                                                ("z_image_own_base", SEA, BLURRY, 88, 2.0, 3, 4.0)):
        contexts = [qwen3(e, p, False) for p in (positive, negative) if p]
        x = sampled("res_multistep", 5, schedules.ksampler(schedules.Flow(shift, 1), "simple", steps, 0),
                    (1, 16, height // 8, 16), lambda x, s, k: zimage.zimage(n, x, s, contexts[k], layers=(2, 2, 2)), cfg)
        z = x / 0.3611 + 0.1159
        write(name, {
            "1": loader("model", file="z_image_tiny_fp8_e4m3fn_scaled.safetensors"),
            "2": loader("clip", file="qwen3_tiny_fp8_e4m3fn.safetensors", type="lumina2"),
            "3": loader("vae", file="ae_tiny.safetensors"),
            "4": node("ModelSamplingAuraFlow", shift=shift, model=["1", 0]), "5": text(positive),
            "6": text(negative) if negative else node("ConditioningZeroOut", conditioning=["5", 0]),
            "7": node("EmptySD3LatentImage", width=128, height=height, batch_size=1),
            "8": pipeline.ksampler("4", "5", "6", "7", seed=5, steps=steps, cfg=cfg, sampler_name="res_multistep",
                                   scheduler="simple")}, z, vae.decode(a, z, WIDTHS, None), "8")


def rows_of(x):
    """[1,16,h,w] as qwen_image.py has pictures"""
    return x[0].tolist(), *x.shape[2:]


def qwen():
    e, a = stored("text_encoders/qwen_2.5_vl_7b_tiny"), stored("vae/wan_2.1_vae_tiny")
    kept = files.load("models/diffusion_models/qwen_image_d64.safetensors")
    qwen_image.weights.update({k: (tuple(t.shape), t.flatten().tolist()) for k, t in kept.items()})
    mean, deviation = (torch.tensor(v).double().view(1, -1, 1, 1) for v in (pipeline.MEAN, pipeline.STD))
    picture = photo()
    by = math.sqrt(384 * 384 / (72 * 56))
    seen = F.adaptive_avg_pool2d(picture, (round(56 * by), round(72 * by)))
    ref = vae_wan.encode(a, picture[:, :, None] * 2 - 1, 16, (8, 8, 8, 8), False)[:, :, 0]
    refs = [rows_of((ref - mean) / deviation)]
    edit = "make the circle red"
    nodes = {"1": loader("model", file="qwen_image_d64.safetensors"),
             "2": loader("clip", file="qwen_2.5_vl_7b_tiny.safetensors", type="qwen_image"),
             "3": loader("vae", file="wan_2.1_vae_tiny.safetensors"),
             "7": node("EmptySD3LatentImage", **SIZE)}
    plain = {"4": node("ModelSamplingAuraFlow", shift=3.1, model=["1", 0]), "5": text(SEA), "6": text(BLURRY)}
    edited = {"4": node("CFGNorm", strength=1.0, model=["9", 0]),
              "9": node("ModelSamplingAuraFlow", shift=3.0, model=["1", 0]),
              "10": node("LoadImage", image="tiles_72x56.png"),
              "11": node("VAEEncode", pixels=["10", 0], vae=["3", 0]),
              "12": node("TextEncodeQwenImageEditPlus", clip=["2", 0], prompt=edit, image1=["10", 0]),
              "13": node("TextEncodeQwenImageEditPlus", clip=["2", 0], prompt="", image1=["10", 0]),
              "5": node("ReferenceLatent", conditioning=["12", 0], latent=["11", 0]),
              "6": node("ReferenceLatent", conditioning=["13", 0], latent=["11", 0])}
    for name, more, contexts, refs, shift, cfg in (
            ("qwen_own_t2i", plain, [qwen25(e, SEA), qwen25(e, BLURRY)], [], 3.1, 2.5),
            ("qwen_own_edit", edited, [qwen25(e, edit, seen), qwen25(e, "", seen)], refs, 3.0, 4.0)):
        def velocity(x, sigma, k):
            v = qwen_image.forward(*rows_of(x), float(sigma), contexts[k][0].tolist(), refs)
            return torch.tensor(v, dtype=torch.float64).view(x.shape)
        x = sampled("euler", 31, schedules.ksampler(schedules.Flow(shift, 1), "simple", 3, 0), (1, 16, 12, 16), velocity,
                    cfg, norm=bool(refs))
        z = (x * deviation + mean)[:, :, None]
        pixels = (vae_wan.decode(a, z, (8, 8, 8, 8), False)[:, :, 0] / 2 + 0.5).clamp(0, 1)
        sampler = pipeline.ksampler("4", "5", "6", "7", seed=31, steps=3, cfg=cfg, sampler_name="euler",
                                    scheduler="simple")
        write(name, {**nodes, **more, "8": sampler}, z, pixels, "8")


def levels(steps, width, height):
    """Flux2Scheduler for fewer than 4300 squares of 16 pixels"""
    squares = round(width * height / 256)
    m10, m200 = 8.73809524e-05 * squares + 1.89833333, 0.00016927 * squares + 0.45666666
    slope = (m200 - m10) / 190
    shift = math.exp(slope * steps + m200 - 200 * slope)
    return [shift / (shift + 1 / t - 1) if t else 0.0 for t in (1 - k / steps for k in range(steps + 1))]


def guided(name, guider, steps):
    """What all workflows of FLUX.2 have; the conditioning is of nodes 5 and 6."""
    return {"1": loader("model", file=f"{name}.safetensors"), "7": node("EmptyFlux2LatentImage", **SIZE),
            "8": node("SamplerCustomAdvanced", noise=["14", 0], guider=["17", 0], sampler=["15", 0], sigmas=["16", 0],
                      latent_image=["7", 0]),
            "14": node("RandomNoise", noise_seed=17), "15": node("KSamplerSelect", sampler_name="euler"),
            "16": node("Flux2Scheduler", steps=steps, width=128, height=96), "17": guider}


def flux_2():
    a, t, e = Net(63, net.FP8), Net(64, net.FP8), stored("text_encoders/qwen3_tiny_fp8_e4m3fn")
    klein, dev, picture = Net(61, net.FP8), Net(62, net.FP8), photo()
    clip = loader("clip", file="qwen3_tiny_fp8_e4m3fn.safetensors", type="flux2")
    big, tiny = loader("vae", file="flux2_vae_own.safetensors"), loader("vae", file="taef2")
    ref = flux2.encode(a, picture, WIDTHS)
    small = flux2.tiny_encode(t.at("taesd_encoder."), picture[:, :, 4:52, 4:68])
    shape, contexts = (1, 128, 6, 8), [qwen3(e, p, True) for p in (CAT, "")]

    def one(x, s, k, refs=()):
        return flux2.flux2(klein, x, s, contexts[k], refs=refs)

    nodes = {"2": clip, "5": text(CAT), "3": big, "6": node("ConditioningZeroOut", conditioning=["5", 0])}
    guider = {"model": ["1", 0], "positive": ["5", 0], "negative": ["6", 0]}
    z = sampled("euler", 17, levels(4, 128, 96), shape, one, 1)
    write("flux2_own_klein", {**guided("flux2_klein_own", node("CFGGuider", cfg=1.0, **guider), 4), **nodes}, z,
          flux2.decode(a, z, WIDTHS), "8")
    for name, file, seen, decoded in (("flux2_own_edit", big, ref, lambda z: flux2.decode(a, z, WIDTHS)),
                                      ("flux2_own_taef2", tiny, small,
                                       lambda z: flux2.tiny_decode(t.at("taesd_decoder."), z))):
        nodes = {"2": clip, "3": file, "9": text(CAT), "10": text(""), "11": node("LoadImage", image="tiles_72x56.png"),
                 "12": node("VAEEncode", pixels=["11", 0], vae=["3", 0]),
                 "5": node("ReferenceLatent", conditioning=["9", 0], latent=["12", 0]),
                 "6": node("ReferenceLatent", conditioning=["10", 0], latent=["12", 0])}
        z = sampled("euler", 17, levels(3, 128, 96), shape, lambda x, s, k: one(x, s, k, [seen]), 3)
        write(name, {**guided("flux2_klein_own", node("CFGGuider", cfg=3.0, **guider), 3), **nodes}, z, decoded(z), "8")
    context = mistral(SEA)
    z = sampled("euler", 17, levels(3, 128, 96), shape,
                lambda x, s, _: flux2.flux2(dev, x, s, context, torch.tensor([4.0])), 1)
    nodes = {"2": loader("clip", file="mistral3_tiny_fp8_e4m3fn.safetensors", type="flux2"), "5": text(SEA), "3": big,
             "6": node("FluxGuidance", guidance=4.0, conditioning=["5", 0])}
    write("flux2_own_dev", {**guided("flux2_dev_own", node("BasicGuider", model=["1", 0], conditioning=["6", 0]), 3),
                            **nodes}, z, flux2.decode(a, z, WIDTHS), "8")
    for name, n in (("diffusion_models/flux2_klein_own", klein), ("diffusion_models/flux2_dev_own", dev),
                    ("vae/flux2_vae_own", a)):
        files.save(f"models/{name}.safetensors", n.tensors, [k for k in n.tensors if not k.startswith("bn.")])
    for part in ("encoder", "decoder"):
        prefix = f"taesd_{part}."
        files.save(f"models/vae_approx/taef2_{part}.safetensors",
                   {k[len(prefix):]: v for k, v in t.tensors.items() if k.startswith(prefix)},
                   [k[len(prefix):] for k in t.tensors])


def main():
    z_image()
    qwen()
    flux_2()


if __name__ == "__main__":
    main()
