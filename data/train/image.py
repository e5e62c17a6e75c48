# Trains the demo's text-to-image model: the autoencoder's two halves, and the text encoders with the
# transformer by flow matching. Stops and goes on at any time: the state is in --work. The three
# parts need nothing of each other and may be trained side by side.
#   python3 data/train/image.py --work build/train [--part encoder|decoder|flux]
import math
import random

import torch
import torch.nn.functional as F

import draw
import latent
import loop
import nets
import text

SIDE, BATCH = 128, 32
NEAR = 0.4  # of the drawings' spread is what the transformer sees: a few pixels


def stored(z):
    """From the transformer's space to what the autoencoder reads and writes."""
    return z / nets.Autoencoder.SCALE + nets.Autoencoder.SHIFT


def drawings(rng, n, spread=1.0, outlines=0.0):
    scenes = [draw.scene(rng, spread=spread) for _ in range(n)]
    pictures = torch.stack([s.draw(SIDE, hollow=rng.random() < outlines) for s in scenes])
    return pictures, [s.caption() for s in scenes]


def train_encoder(work, steps, seed):
    def loss_of(encoder, step):
        x, _ = drawings(random.Random(seed * 1000003 + step), 3, outlines=0.25)
        want = latent.of_pictures(x, SIDE)
        return F.smooth_l1_loss((encoder(x) - nets.Autoencoder.SHIFT) * nets.Autoencoder.SCALE, want, beta=0.5)

    torch.manual_seed(seed)
    return loop.train(work / "encoder.pt", nets.Autoencoder().encoder, steps, 1.5e-3, loss_of, decay=0.998)


def train_decoder(work, steps, seed):
    """Filled shapes and outlines; the noise is what the transformer leaves and the encoder misses."""
    def loss_of(decoder, step):
        x, _ = drawings(random.Random(seed * 1000033 + step), 3, outlines=0.25)
        z = latent.of_pictures(x, SIDE)
        out = decoder(stored(z + 0.2 * torch.rand(len(z), 1, 1, 1) * torch.randn_like(z)))
        edges = sum(F.l1_loss(out.diff(dim=d), x.diff(dim=d)) for d in (2, 3))
        return F.mse_loss(out, x) + 0.2 * F.l1_loss(out, x) + 0.3 * edges

    torch.manual_seed(seed)
    return loop.train(work / "decoder.pt", nets.Autoencoder().decoder, steps, 1.5e-3, loss_of, decay=0.998)


def load_vae(work):
    vae = nets.Autoencoder()
    vae.encoder.load_state_dict(torch.load(work / "encoder.pt")["ema"])
    vae.decoder.load_state_dict(torch.load(work / "decoder.pt")["ema"])
    return vae.eval()


class Model(torch.nn.Module):
    def __init__(self, bpe, unigram):
        super().__init__()
        self.clip, self.t5, self.flux = nets.Clip(len(bpe.vocab)), nets.T5(len(unigram.pieces)), nets.Flux()

    def forward(self, x, t, batch):
        context = self.t5(batch["t5"], batch["keys"])
        return self.flux(x, t, context, self.clip(batch["clip"], batch["end"]), batch["keys"])


class Prompts:
    """Token ids of captions, padded; all of T5's padding to 256 is one token."""
    PADDED = 256

    def __init__(self, bpe, unigram):
        self.bpe, self.unigram, self.known = bpe, unigram, {}

    def __call__(self, captions):
        rows = []
        for c in captions:
            if c not in self.known:
                self.known[c] = (self.bpe.ids(c), self.unigram.ids(c))
            rows.append(self.known[c])
        n, m = max(len(a) for a, _ in rows), max(len(b) for _, b in rows)
        clip = torch.tensor([a + [self.bpe.end] * (n - len(a)) for a, _ in rows])
        t5 = torch.tensor([b + [0] * (m + 1 - len(b)) for _, b in rows])
        keys = torch.zeros(len(rows), 1, 1, m + 1)
        for i, (_, b) in enumerate(rows):
            keys[i, 0, 0, len(b) + 1:] = -1e9
            keys[i, 0, 0, len(b)] = math.log(self.PADDED - len(b))
        return {"clip": clip, "end": torch.tensor([len(a) - 1 for a, _ in rows]), "t5": t5, "keys": keys}


def new_model():
    bpe, unigram = text.Bpe(), text.Unigram()
    return Model(bpe, unigram), Prompts(bpe, unigram)


def load_model(work, which="ema"):
    model, prompts = new_model()
    model.load_state_dict(torch.load(work / "flux.pt")[which])
    return model.eval(), prompts


def flow_loss(make, prompts, seed, middle=0.3, width=1.2):
    """Velocity of the straight path from a latent to noise, at random times; one caption in ten is
    empty. make(rng, n): n latents and their captions, new ones in every step. middle, width: of the
    times' logits."""
    def loss_of(model, step):
        rng, noise = random.Random(seed * 7919 + step), torch.Generator().manual_seed(seed * 7919 + step)
        x, captions = make(rng, BATCH)
        ids = prompts(["" if rng.random() < 0.1 else c for c in captions])
        t = torch.sigmoid(torch.randn(len(x), generator=noise) * width + middle)
        n, s = torch.randn(x.shape, generator=noise), t.view(-1, *[1] * (x.dim() - 1))
        return F.mse_loss(model((1 - s) * x + s * n, t, ids), n - x)
    return loss_of


def latents(outlines=0.0):
    def make(rng, n):
        pictures, captions = drawings(rng, n, NEAR, outlines)
        return latent.of_pictures(pictures, SIDE), captions
    return make


def train_flux(work, steps, seed):
    torch.manual_seed(seed)
    model, prompts = new_model()
    loop.say("parameters", {k: sum(p.numel() for p in m.parameters()) for k, m in model.named_children()})
    return loop.train(work / "flux.pt", model, steps, 1e-3, flow_loss(latents(), prompts, seed), loop.is_hidden)


@torch.no_grad()
def sample(model, prompts, captions, seed, steps=10, shape=(16, SIDE // 8, SIDE // 8)):
    """Euler's steps over even times, in the transformer's space."""
    x = torch.randn(len(captions), *shape, generator=torch.Generator().manual_seed(seed))
    batch, times = prompts(captions), torch.linspace(1, 0, steps + 1)
    for a, b in zip(times, times[1:]):
        x = x + (b - a) * model(x, a.expand(len(captions)), batch)
    return x


if __name__ == "__main__":
    args = loop.arguments(__doc__, encoder=1200, decoder=1500, flux=7000)
    parts = {"encoder": train_encoder, "decoder": train_decoder, "flux": train_flux}
    for name in loop.parts(args, parts):
        parts[name](args.work, getattr(args, name + "_steps"), args.seed)
