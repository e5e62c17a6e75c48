# Trains the demo's LoRA on top of the text-to-image model: shapes become outlines, captions stay as
# they were. Run after image.py.
#   python3 data/train/lora.py --work build/train
import torch
from torch import nn

import image
import loop

RANK, ALPHA = 8, 8.0


class Low(nn.Module):
    """A linear layer and its low-rank change: W + alpha/rank up down."""

    def __init__(self, base):
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), ALPHA / RANK
        self.down, self.up = nn.Linear(base.in_features, RANK, bias=False), nn.Linear(RANK, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.scale * self.up(self.down(x))


def is_changed(name):
    return "blocks." in name and "mod" not in name


def add_low_rank(flux):
    layers = [n for n, m in flux.named_modules() if isinstance(m, nn.Linear) and is_changed(n)]
    for name in layers:
        parent, leaf = flux.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2]
        parent._modules[leaf] = Low(getattr(parent, leaf))
    return layers


def tensors(flux):
    """In kohya's names."""
    out = {}
    for name, m in flux.named_modules():
        if isinstance(m, Low):
            key = "lora_unet_" + name.replace(".", "_")
            out[key + ".lora_down.weight"], out[key + ".lora_up.weight"] = m.down.weight.half(), m.up.weight.half()
            out[key + ".alpha"] = torch.tensor(ALPHA).half()
    return out


def train(work, steps, seed):
    torch.manual_seed(seed)
    model, prompts = image.load_model(work)
    model.requires_grad_(False)
    add_low_rank(model.flux)
    make = image.latents(outlines=1.0)
    return loop.train(work / "lora.pt", model, steps, 2e-3, image.flow_loss(make, prompts, seed + 3), decay=0.99)


if __name__ == "__main__":
    args = loop.arguments(__doc__, lora=700)
    train(args.work, args.lora_steps, args.seed)
