# Fun ControlNets of Z-Image: a transformer of their size, models/diffusion_models/z_image_own; models/model_patches
# zimage_fun_own (version 1), zimage_fun_own_lite (2.1 of three layers), zimage_fun_own_2.1 and, of which all but what its
# refiners answer is the same, 2.0; one evaluation with each, synth/zimage_control_io; and a whole run, e2e_2026
# z_image_own_control. The language model, the autoencoder and the picture lie there already (llm.py, pipeline.py).
import torch
import torch.nn.functional as F

import files
import pipeline
import pipeline_llm
import qwen_patch
import schedules
import vae
import zimage
from net import FP8, Net
from pipeline import node

WIDTH, DEPTH, HIDDEN, TIME, LAYERS, CONTEXT = 32, 16, 16, 16, 11, 32
SIZES = {"c": WIDTH, "depth": DEPTH, "hidden": HIDDEN, "layers": (2, 2, LAYERS), "time": TIME}


class Control:
    """n: its weights; hint [1,C,h,w]; refines: of version 2 and later; broken: 2.0, whose refiners say nothing"""
    def __init__(self, n, count, hint, strength=1.0, refines=True, broken=False):
        self.n, self.count, self.hint, self.strength, self.refines, self.broken = n, count, hint, strength, refines, broken

    def block(self, name, i, first):
        b = self.n.at(f"{name}.{i}.")
        if first:
            self.state = self.image + b.linear(self.state, "before_proj", WIDTH)
        self.state = zimage.block(b, self.state, self.at, self.cond, DEPTH, HIDDEN)
        return b.linear(self.state, "after_proj", WIDTH) * self.strength

    def begin(self, image, at, cond):
        self.image, self.at, self.cond = image, at, cond
        self.state = self.n.linear(zimage.squares(self.hint), "control_all_x_embedder.2-1", WIDTH)
        for i in range(0 if self.refines else 2):
            b = self.n.at(f"control_noise_refiner.{i}.")
            self.state = zimage.block(b, self.state, at, cond, DEPTH, HIDDEN)

    def refine(self, i, img):
        if not self.refines:
            return img
        if self.broken:
            said = [self.block("control_layers", k, k == 0) for k in (range(1, self.count) if i else (0,))][0]
        else:
            said = self.block("control_noise_refiner", i, i == 0)
        return torch.cat([img[:, :said.shape[1]] + said, img[:, said.shape[1]:]], 1)

    def layer(self, i, both, see):
        every = 30 // self.count
        if i % every or i // every >= self.count:
            return both
        out = both.clone()
        out[:, see] += self.block("control_layers", i // every, i == 0)
        return out


def made(seed, dtype, count, channels, refines):
    """with all layers, also those that the small transformer does not come to"""
    n = Net(seed, dtype)
    k = Control(n, count, torch.zeros(1, channels, 2, 2).double(), refines=refines)
    k.begin(torch.zeros(1, 1, WIDTH).double(), torch.zeros(1, DEPTH // 2).double(), torch.zeros(1, TIME).double())
    for i in range(2 if refines else 0):
        k.block("control_noise_refiner", i, i == 0)
    for i in range(count):
        k.block("control_layers", i, i == 0)
    return n


def zeroed(n):
    """Version 2.0 of 2.1"""
    return Net(0, tensors={k: torch.zeros_like(t) if "refiner" in k and "after_proj" in k else t for k, t in n.tensors.items()})


def apart(tensors):
    """as the published files have them: names of diffusers"""
    out = {}
    for k, t in tensors.items():
        if k.endswith("attention.qkv.weight"):
            out.update({k.replace("qkv", f"to_{p}"): part for p, part in zip("qkv", t.chunk(3))})
        else:
            for own, theirs in (("attention.out", "attention.to_out.0"), ("q_norm", "norm_q"), ("k_norm", "norm_k")):
                k = k.replace(own, theirs)
            out[k] = t
    return out


def evaluations(base, one, lite, full):
    io = {}

    def values(name, *shape):
        io[name] = torch.randn(*shape).double().float().double()
        return io[name]
    torch.manual_seed(78)
    # prefix, rows, columns, tokens of the text; which networks with which strength
    for name, h, w, tokens, asked in (("one", 4, 6, 5, [(one, 6, 1.0)]), ("odd", 5, 3, 33, [(one, 6, -0.6)]),
                                      ("lite", 6, 4, 32, [(lite, 3, 0.7)]), ("full", 8, 16, 7, [(full, 15, 1.0)]),
                                      ("broken", 3, 6, 7, [(zeroed(full), 15, 0.8)]),
                                      ("both", 4, 4, 3, [(one, 6, 0.5), (lite, 3, 1.0)])):
        x, text = values(name + ".x", 1, 16, h, w), values(name + ".context", 1, tokens, CONTEXT)
        io[name + ".timestep"] = torch.tensor([0.6]).double()
        controls = []
        for k, (n, count, strength) in enumerate(asked):
            hint = values(f"{name}.hint{k}", 1, 16 if n is one else 33, h + h % 2, w + w % 2)
            controls.append(Control(n, count, hint, strength, n is not one, name == "broken"))
        io[name + ".out"] = zimage.zimage(base, x, io[name + ".timestep"].float().double(), text, controls=controls, **SIZES)
    return io


def hint_of(a, picture, paint, mask, height, width):
    """pictures [1,3,H,W], mask [1,1,H,W]: 1 where to paint"""
    def latent(p):
        return (vae.encode(a, p, 16, pipeline.WIDTHS, None) - 0.1159) * 0.3611
    keep = qwen_patch.fitted(1 - mask, width, height, "bilinear").round()
    stays = (qwen_patch.fitted(paint, width, height) - 0.5) * keep + 0.5
    share = qwen_patch.fitted(1 - mask, width // 8, height // 8, "nearest")
    return torch.cat([latent(qwen_patch.fitted(picture, width, height)), share, latent(stays)], 1)


def run(base, full):
    e, a = pipeline_llm.stored("text_encoders/qwen3_tiny_fp8_e4m3fn"), pipeline_llm.stored("vae/ae_tiny")
    picture = pipeline_llm.photo()
    other = picture.flip(3)
    contexts = [pipeline_llm.qwen3(e, p, False) for p in (pipeline_llm.SEA, pipeline_llm.BLURRY)]
    # 11 rows of cells, which are made 12: with the odd one, the hint has as many
    mask = torch.zeros(1, 1, 56, 72).double()
    mask[:, :, 20:44, 10:40] = 0.9  # no place of its edges is half kept, which would be a matter of rounding
    control = Control(full, 15, hint_of(a, picture, other, mask, 96, 128), 0.75)

    def velocity(x, sigma, k):
        return zimage.zimage(base, x, sigma, contexts[k], controls=[control], **SIZES)
    x = pipeline_llm.sampled("euler", 41, schedules.ksampler(schedules.Flow(3.0, 1), "simple", 3, 0), (1, 16, 11, 16),
                             velocity, 2.5)
    z = x / 0.3611 + 0.1159
    pipeline_llm.write("z_image_own_control", {
        "1": pipeline_llm.loader("model", file="z_image_own.safetensors"),
        "2": pipeline_llm.loader("clip", file="qwen3_tiny_fp8_e4m3fn.safetensors", type="lumina2"),
        "3": pipeline_llm.loader("vae", file="ae_tiny.safetensors"),
        "4": node("ModelSamplingAuraFlow", shift=3.0, model=["1", 0]),
        "5": pipeline_llm.text(pipeline_llm.SEA), "6": pipeline_llm.text(pipeline_llm.BLURRY),
        "7": node("EmptySD3LatentImage", width=128, height=88, batch_size=1),
        "8": pipeline.ksampler("13", "5", "6", "7", seed=41, steps=3, cfg=2.5, sampler_name="euler", scheduler="simple"),
        "9": node("ImageFlip", image=["10", 0], flip_method="y-axis: horizontally"),
        "10": node("LoadImage", image="tiles_72x56.png"),
        "11": node("MaskComposite", destination=["14", 0], source=["15", 0], x=10, y=20, operation="add"),
        "14": node("SolidMask", value=0.0, width=72, height=56), "15": node("SolidMask", value=0.9, width=30, height=24),
        "12": node("ModelPatchLoader", name="zimage_fun_own_2.1.safetensors"),
        "13": node("ZImageFunControlnet", model=["4", 0], model_patch=["12", 0], vae=["3", 0], strength=0.75,
                   image=["10", 0], inpaint_image=["9", 0], mask=["11", 0])}, z,
        vae.decode(a, z, pipeline.WIDTHS, None), "8")


def main():
    base, one = Net(80, torch.bfloat16), made(81, torch.bfloat16, 6, 16, False)
    lite, full = made(82, torch.float16, 3, 33, True), made(83, FP8, 15, 33, True)
    io = evaluations(base, one, lite, full)
    run(base, full)
    files.save("synth/zimage_control_io.safetensors", io)
    files.save("models/diffusion_models/z_image_own.safetensors", base.tensors)
    files.save("models/model_patches/zimage_fun_own.safetensors", apart(one.tensors))
    files.save("models/model_patches/zimage_fun_own_lite.safetensors", lite.tensors)
    files.save("models/model_patches/zimage_fun_own_2.1.safetensors", apart(full.tensors), apart(full.tensors))


if __name__ == "__main__":
    main()
