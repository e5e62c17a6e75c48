# Trains the demo's text-to-video model: the two halves of its causal autoencoder, and the text
# encoder with the transformer by flow matching. Stops and goes on at any time: the state is in
# --work. The three parts need nothing of each other and may be trained side by side.
#   python3 data/train/video.py --work build/train [--part encoder|decoder|wan]
import math
import random

import torch
import torch.nn.functional as F

import draw
import image
import latent
import loop
import nets
import nets_video
import text

SIDE, FRAMES = 64, 9


def scenes(rng, n, spread=1.0):
    return [draw.clip(rng, spread=spread) for _ in range(n)]


def frames(some):
    return torch.stack([s.frames(SIDE, FRAMES) for s in some])


def train_encoder(work, steps, seed):
    def loss_of(encoder, step):
        x = frames(scenes(random.Random(seed * 1000003 + step), 2))
        return F.smooth_l1_loss(encoder(x), latent.of_clips(x), beta=0.5)

    torch.manual_seed(seed)
    return loop.train(work / "wan_encoder.pt", nets_video.WanVae().encode, steps, 1.5e-3, loss_of, decay=0.998)


def importance(scene):
    """Small shapes and those of nearly the ground's colour count as much as the others."""
    return 0.2 / scene.r, 1 / math.dist(scene.rgb, scene.back_rgb)


def train_decoder(work, steps, seed):
    """The noise is what the transformer leaves and the encoder misses."""
    def loss_of(decoder, step):
        some = scenes(random.Random(seed * 1000033 + step), 2)
        x = frames(some)
        z = latent.of_clips(x)
        of_size, of_colour = (torch.tensor(v).view(-1, 1, 1, 1, 1) for v in zip(*map(importance, some)))
        wrong = (decoder(z + 0.2 * torch.rand(len(z), 1, 1, 1, 1) * torch.randn_like(z)) - x) * of_colour
        edges = sum((wrong.diff(dim=d).abs() * of_size).mean() for d in (3, 4))
        return ((wrong ** 2 + 0.2 * wrong.abs()) * of_size).mean() + 0.3 * edges

    torch.manual_seed(seed)
    return loop.train(work / "wan_decoder.pt", nets_video.WanVae().decode, steps, 1.5e-3, loss_of, decay=0.998)


def load_vae(work):
    vae = nets_video.WanVae()
    vae.encode.load_state_dict(torch.load(work / "wan_encoder.pt")["ema"])
    vae.decode.load_state_dict(torch.load(work / "wan_decoder.pt")["ema"])
    return vae.eval()


class Model(torch.nn.Module):
    def __init__(self, unigram):
        super().__init__()
        self.umt5, self.wan = nets.T5(len(unigram.pieces), every=True), nets_video.Wan()

    def forward(self, x, t, batch):
        context = self.umt5(batch["ids"], batch["hidden"]) * batch["real"]
        return self.wan(x, t, context, batch["keys"])


class Prompts:
    """Token ids of captions. Padding is hidden from the text encoder and zero behind it; all of it is
    one token here, whose key stands for their number."""
    PADDED = 512

    def __init__(self, unigram):
        self.unigram = unigram

    def __call__(self, captions):
        rows = [self.unigram.ids(c) for c in captions]
        n = max(len(r) for r in rows) + 1
        length = torch.tensor([len(r) for r in rows]).view(-1, 1)
        is_real, is_pad = torch.arange(n) < length, torch.arange(n) == length
        shared = torch.where(is_pad, torch.log(self.PADDED - length.float()), torch.tensor(-1e9))
        return {"ids": torch.tensor([r + [0] * (n - len(r)) for r in rows]),
                "real": is_real.float()[..., None],
                "hidden": torch.where(is_real, 0.0, -1e9)[:, None, None],
                "keys": torch.where(is_real, torch.tensor(0.0), shared)[:, None, None]}


def new_model():
    unigram = text.Unigram()
    return Model(unigram), Prompts(unigram)


def load_model(work, which="ema"):
    model, prompts = new_model()
    model.load_state_dict(torch.load(work / "wan.pt")[which])
    return model.eval(), prompts


def latents(rng, n):
    some = scenes(rng, n, image.NEAR)
    return latent.of_clips(frames(some)), [s.caption() for s in some]


def train_wan(work, steps, seed):
    torch.manual_seed(seed)
    model, prompts = new_model()
    loop.say("parameters", {k: sum(p.numel() for p in m.parameters()) for k, m in model.named_children()})
    # where tokens are is found in noise alone, so much of the training is there
    loss_of = image.flow_loss(latents, prompts, seed, middle=0.8, width=1.4)
    return loop.train(work / "wan.pt", model, steps, 1e-3, loss_of, loop.is_hidden)


SHIFT, STEPS = 3.0, 15  # of the workflow


@torch.no_grad()
def sample(model, prompts, captions, seed):
    """Euler's steps over the shifted times of the scheduler "simple", in the transformer's space."""
    x = torch.randn(len(captions), 16, (FRAMES - 1) // 4 + 1, SIDE // 8, SIDE // 8,
                    generator=torch.Generator().manual_seed(seed))
    batch = prompts(captions)
    times = torch.tensor([(1000 - int(k * 1000 / STEPS)) / 1000 for k in range(STEPS)] + [0.0])
    times = SHIFT * times / (1 + (SHIFT - 1) * times)
    for a, b in zip(times, times[1:]):
        x = x + (b - a) * model(x, a.expand(len(captions)), batch)
    return x


if __name__ == "__main__":
    args = loop.arguments(__doc__, encoder=1500, decoder=10000, wan=10000)
    parts = {"encoder": train_encoder, "decoder": train_decoder, "wan": train_wan}
    for name in loop.parts(args, parts):
        parts[name](args.work, getattr(args, name + "_steps"), args.seed)
