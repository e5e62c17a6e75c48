# Z-Image's transformer, for whole pipelines (pipeline_llm.py).
import torch
import torch.nn.functional as F

import net

AXES = (0.25, 0.375, 0.375)  # of a head's channels


def rms(n, x, name, eps=1e-5):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * n(name + ".weight", x.shape[-1], spread=0.1, mean=1)


def angles(places, depth):
    """theta is 256"""
    return torch.cat([places[:, i, None].double() * 256.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
                      for i, d in enumerate(int(a * depth) for a in AXES)], -1)


def attend(n, x, at, depth):
    c = x.shape[-1]
    q, k, v = (net.heads(t, c // depth) for t in n.linear(x, "attention.qkv", 3 * c, False).chunk(3, -1))
    q, k = (net.rotate(rms(n, t, f"attention.{name}_norm", 1e-6), at) for t, name in ((q, "q"), (k, "k")))
    return n.linear(net.attention(q, k, v), "attention.out", c, False)


def feed(n, x, hidden):
    up = F.silu(n.linear(x, "feed_forward.w1", hidden, False)) * n.linear(x, "feed_forward.w3", hidden, False)
    return n.linear(up, "feed_forward.w2", x.shape[-1], False)


def block(n, x, at, cond, depth, hidden):
    """cond: None where nothing modulates"""
    c = x.shape[-1]
    mods = (0, None, 0, None) if cond is None else n.linear(cond, "adaLN_modulation.0", 4 * c)[:, None].chunk(4, -1)
    for part, scale, gate in (("attention", *mods[:2]), ("ffn", *mods[2:])):
        u = rms(n, x, part + "_norm1") * (1 + scale)
        u = rms(n, attend(n, u, at, depth) if part == "attention" else feed(n, u, hidden), part + "_norm2")
        x = x + (u if gate is None else gate.tanh() * u)
    return x


def completed(n, x, name):
    """to a multiple of 32 rows"""
    token = n(name, 1, x.shape[-1])
    return torch.cat([x, token.expand(x.shape[0], -x.shape[1] % 32, -1)], 1)


def squares(x):
    """[B,C,h,w] with even sides as tokens of 2x2 cells"""
    b, z, h, w = x.shape
    return x.view(b, z, h // 2, 2, w // 2, 2).permute(0, 2, 4, 3, 5, 1).reshape(b, h * w // 4, 4 * z)


def zimage(n, x, sigma, context, c=256, depth=128, hidden=64, layers=(2, 2, 4), time=256, controls=()):
    """layers: refiners of the picture, of the text, layers over both; controls: zimage_control.py"""
    b, z, h, w = x.shape
    x = torch.cat([x, x[:, :, :h % 2]], 2)
    x = torch.cat([x, x[..., :w % 2]], 3)
    rows, cols = x.shape[2] // 2, x.shape[3] // 2
    e = net.wave((1 - sigma) * 1000, 256)
    cond = n.linear(F.silu(n.linear(e, "t_embedder.mlp.0", time)), "t_embedder.mlp.2", time)
    txt = completed(n, n.linear(rms(n, context, "cap_embedder.0"), "cap_embedder.1", c), "cap_pad_token")
    known = txt.shape[1]
    img = completed(n, n.linear(squares(x), "x_embedder", c), "x_pad_token")
    places = torch.zeros(known + img.shape[1], 3)
    places[:known, 0] = torch.arange(known) + 1
    places[known:known + rows * cols] = torch.cartesian_prod(torch.tensor([known + 1]), torch.arange(rows),
                                                             torch.arange(cols))
    at = angles(places, depth)
    for i in range(layers[1]):
        txt = block(n.at(f"context_refiner.{i}."), txt, at[:known], None, depth, hidden)
    see = slice(known, known + rows * cols)
    for k in controls:
        k.begin(img[:, :rows * cols], at[see], cond)
    for i in range(layers[0]):
        img = block(n.at(f"noise_refiner.{i}."), img, at[known:], cond, depth, hidden)
        for k in controls:
            img = k.refine(i, img)
    for k in controls:
        k.image = img[:, :rows * cols]
    both = torch.cat([txt, img], 1)
    for i in range(layers[2]):
        both = block(n.at(f"layers.{i}."), both, at, cond, depth, hidden)
        for k in controls:
            both = k.layer(i, both, see)
    scale = n.linear(F.silu(cond), "final_layer.adaLN_modulation.1", c)[:, None]
    y = n.linear(net.plain_norm(both[:, known:known + rows * cols]) * (1 + scale), "final_layer.linear", 4 * z)
    return -y.view(b, rows, cols, 2, 2, z).permute(0, 5, 1, 3, 2, 4).reshape(b, z, 2 * rows, 2 * cols)[:, :, :h, :w]
