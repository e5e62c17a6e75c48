# Writes data/demo/models from what was trained, pictures or clips or both: each file as users have
# such models.
#   python3 data/train/pack.py --work build/train --to data/demo
import argparse
import pathlib
import random

import torch

import draw
import export
import image
import lora
import video


def half(tensors, prefix=""):
    return {prefix + k: t.half() for k, t in tensors.items()}


def spiece(unigram):
    return torch.frombuffer(bytearray(unigram.proto()), dtype=torch.uint8)


def folder(to, name):
    (to / "models" / name).mkdir(parents=True, exist_ok=True)
    return to / "models" / name


SEED = 7  # of the workflows
PICTURE = "a red circle on a blue background"
CLIP = "a green square moving right on a white background"


@torch.no_grad()
def rounded(module):
    """As it is in the files."""
    for p in module.parameters():
        p.copy_(p.half().float())
    return module.eval()


def expected(to, name):
    """Where the tests look for what torch makes of data/workflows/NAME.json."""
    (to / "expected").mkdir(parents=True, exist_ok=True)
    return to / "expected" / f"{name}.png"


@torch.no_grad()
def expect_image(to, name, model, prompts, vae):
    z = image.stored(image.sample(model, prompts, [PICTURE], SEED))
    export.png(expected(to, name), vae.decoder(z)[0], cut=True)


def pack_images(work, to):
    vae = image.load_vae(work)
    model, prompts = image.load_model(work)
    flux = model.flux.state_dict()
    # the bias over distance is not trained and zero, but the real layout has it
    parts = {**half(flux, "model.diffusion_model."),
             **half(model.clip.state_dict(), "text_encoders.clip_l.transformer."),
             **half(model.t5.state_dict(), "text_encoders.t5xxl.transformer."),
             "text_encoders.t5xxl.spiece_model": spiece(prompts.unigram),
             **half(vae.state_dict(), "vae.")}
    export.safetensors(folder(to, "checkpoints") / "demo_flux.safetensors", parts,
                       {"head_channels": str(model.clip.head_channels)})
    export.gguf(folder(to, "diffusion_models") / "demo_flux_Q8_0.gguf", flux, "flux")
    export.scaled_fp8(folder(to, "diffusion_models") / "demo_flux_fp8_scaled.safetensors", flux)
    prompts.bpe.save(folder(to, "tokenizers/clip"))
    expect_image(to, "text_to_image", rounded(model), prompts, rounded(vae))
    if (work / "lora.pt").exists():
        lora.add_low_rank(model.flux)
        model.load_state_dict(torch.load(work / "lora.pt")["ema"])
        export.safetensors(folder(to, "loras") / "demo_outline.safetensors", lora.tensors(model.flux))
        expect_image(to, "lora", rounded(model), prompts, vae)


@torch.no_grad()
def expect_clip(to, name, model, prompts, vae):
    """The first, the middle and the last frame of the workflow, side by side."""
    x = vae.decode(video.sample(model, prompts, [CLIP], SEED))[0]
    frames = [x[:, i] for i in (0, video.FRAMES // 2, video.FRAMES - 1)]
    export.png(expected(to, name), torch.cat(frames, 2), cut=True)


def pack_clips(work, to):
    vae = video.load_vae(work)
    model, prompts = video.load_model(work)
    export.scaled_fp8(folder(to, "diffusion_models") / "demo_wan_fp8_scaled.safetensors", model.wan.state_dict())
    export.safetensors(folder(to, "text_encoders") / "demo_umt5.safetensors",
                       {**half(model.umt5.state_dict()), "spiece_model": spiece(prompts.unigram)})
    export.safetensors(folder(to, "vae") / "demo_wan_vae.safetensors", half(vae.tensors()))
    wan = {k: export.fp8_values(t).view_as(t) if export.is_fp8(t) else t.half().float()
           for k, t in model.wan.state_dict().items()}
    rounded(model).wan.load_state_dict(wan)
    expect_clip(to, "text_to_video", model, prompts, rounded(vae))


if __name__ == "__main__":
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/train"))
    args.add_argument("--to", type=pathlib.Path, default=pathlib.Path("data/demo"))
    a = args.parse_args()
    if (a.work / "flux.pt").exists():
        pack_images(a.work, a.to)
    if (a.work / "wan.pt").exists():
        pack_clips(a.work, a.to)
    (a.to / "input").mkdir(parents=True, exist_ok=True)
    scene = draw.Scene(random.Random(4), "square", "green", "yellow", "", "on the left")
    export.png(a.to / "input" / "square.png", scene.draw(image.SIDE))
    (a.to / "prompts.txt").write_text("".join(c + "\n" for c in draw.held_out_prompts(100) + draw.held_out_clips(100)))
