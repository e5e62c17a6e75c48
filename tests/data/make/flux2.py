# FLUX.2's transformer and its autoencoders, for whole pipelines (pipeline_llm.py).
import torch
import torch.nn.functional as F

import flux
import net
import vae


def embed(n, x, name, c):
    return n.linear(F.silu(n.linear(net.wave(x * 1000, 256), name + ".in_layer", c, False)), name + ".out_layer", c, False)


def gated(x):
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


def angles(places, depth):
    """four equal axes, theta is 2000"""
    f = 2000.0 ** (-torch.arange(0, depth // 4, 2, dtype=torch.float64) / (depth // 4))
    return (places[..., None].double() * f).flatten(1)


def double(n, img, txt, mods, at, heads, mlp):
    streams, c, qkv = {"txt": txt, "img": img}, img.shape[-1], []
    for s, x in streams.items():
        shift, scale = mods[s][:2]
        a = n.at(f"{s}_attn.")
        qkv.append(flux.parts(a, a.linear(net.plain_norm(x) * (1 + scale) + shift, "qkv", 3 * c, False), heads))
    out = flux.turned(*(torch.cat(t, 2) for t in zip(*qkv)), at)
    rows = txt.shape[1]
    for s, a in (("txt", out[:, :rows]), ("img", out[:, rows:])):
        _, _, gate, shift, scale, gate2 = mods[s]
        x = streams[s] + gate * n.linear(a, f"{s}_attn.proj", c, False)
        u = gated(n.linear(net.plain_norm(x) * (1 + scale) + shift, f"{s}_mlp.0", 2 * mlp, False))
        streams[s] = x + gate2 * n.linear(u, f"{s}_mlp.2", c, False)
    return streams["img"], streams["txt"]


def single(n, x, mods, at, heads, mlp):
    c = x.shape[-1]
    shift, scale, gate = mods
    u = n.linear(net.plain_norm(x) * (1 + scale) + shift, "linear1", 3 * c + 2 * mlp, False)
    a = flux.turned(*flux.parts(n, u[..., :3 * c], heads), at)
    return x + gate * n.linear(torch.cat([a, gated(u[..., 3 * c:])], -1), "linear2", c, False)


def flux2(n, x, sigma, context, guidance=None, refs=(), c=64, heads=2, mlp=96, depth=(1, 1)):
    """Texts of fewer than 512 rows begin with rows of zeros; refs are further pictures, 10, 20 ... away"""
    b, z, h, w = x.shape
    context = F.pad(context, (0, 0, max(512 - context.shape[1], 0), 0))
    rows, places = context.shape[1], [torch.zeros(context.shape[1], 4)]
    places[0][:, 3] = torch.arange(rows)
    for i, p in enumerate((x, *refs)):
        places.append(torch.cartesian_prod(torch.tensor([10 * i]), torch.arange(p.shape[2]), torch.arange(p.shape[3]),
                                           torch.tensor([0])))
    at = angles(torch.cat(places), c // heads)
    img = torch.cat([p.flatten(2).transpose(1, 2) for p in (x, *refs)], 1)
    img, txt = n.linear(img, "img_in", c, False), n.linear(context, "txt_in", c, False)
    vec = embed(n, sigma, "time_in", c)
    act = F.silu(vec if guidance is None else vec + embed(n, guidance, "guidance_in", c))
    mods = {s: n.linear(act, f"double_stream_modulation_{s}.lin", 6 * c, False)[:, None].chunk(6, -1)
            for s in ("txt", "img")}
    for i in range(depth[0]):
        img, txt = double(n.at(f"double_blocks.{i}."), img, txt, mods, at, heads, mlp)
    both = torch.cat([txt, img], 1)
    mods = n.linear(act, "single_stream_modulation.lin", 3 * c, False)[:, None].chunk(3, -1)
    for i in range(depth[1]):
        both = single(n.at(f"single_blocks.{i}."), both, mods, at, heads, mlp)
    shift, scale = n.linear(act, "final_layer.adaLN_modulation.1", 2 * c, False)[:, None].chunk(2, -1)
    y = n.linear(net.plain_norm(both[:, rows:rows + h * w]) * (1 + scale) + shift, "final_layer.linear", z, False)
    return y.transpose(1, 2).reshape(b, z, h, w)


# ---- autoencoders ----------------------------------------------------------------------------


def folded(z):
    """squares of 2 x 2 cells to channels"""
    return F.pixel_unshuffle(z, 2)


def normal(n):
    """mean and deviation of the folded channels"""
    m = n.at("bn.", torch.float32)
    mean, var = m("running_mean", 128, spread=0.2), m("running_var", 128, spread=0.05, mean=1)
    return mean.view(1, -1, 1, 1), (var + 1e-4).sqrt().view(1, -1, 1, 1)


def decode(n, z, widths):
    mean, deviation = normal(n)
    return vae.decode(n, F.pixel_shuffle(z * deviation + mean, 2), widths, vae.INSIDE)


def encode(n, pixels, widths):
    """of the part whose sides are multiples of 16"""
    h, w = pixels.shape[2:]
    pixels = pixels[:, :, h % 16 // 2:, w % 16 // 2:][:, :, :h // 16 * 16, :w // 16 * 16]
    mean, deviation = normal(n)
    return (folded(vae.encode(n, pixels, 32, widths, vae.INSIDE)) - mean) / deviation


def tiny_conv(n, x, name, out, stride=1, bias=True, gain=1.0, mean=0.0):
    c = x.shape[1]
    w = n(name + ".weight", out, c, 3, 3, spread=gain / (c * 9) ** 0.5)
    return F.conv2d(x, w, n(name + ".bias", out, spread=0.05, mean=mean) if bias else None, stride, 1)


def tiny_block(n, x, with_pool):
    c = x.shape[1]
    if with_pool:
        w = n("pool.0.weight", 4 * c, c, 1, 1, spread=c ** -0.5)
        p = F.relu(F.group_norm(F.conv2d(x, w), 4, *n.affine("pool.1", 4 * c), 1e-5))
        x = x + F.conv2d(p, n("pool.3.weight", c, 4 * c, 1, 1, spread=0.5 * c ** -0.5))
    y = x
    for i in (0, 2):
        y = F.relu(tiny_conv(n, y, f"conv.{i}", c))
    return F.relu(tiny_conv(n, y, "conv.4", c) + x)


def tiny_decode(n, z, width=16):
    """TAEF2; pixels in 0..1"""
    x = F.relu(tiny_conv(n, 3 * torch.tanh(F.pixel_shuffle(z, 2) / 3), "1", width))
    for first, count in ((3, 3), (8, 3), (13, 3), (18, 1)):
        if first > 3:
            x = tiny_conv(n, F.interpolate(x, scale_factor=2, mode="nearest"), f"{first - 1}", width, 1, False)
        for i in range(first, first + count):
            x = tiny_block(n.at(f"{i}."), x, first == 3)
    return tiny_conv(n, x, "19", 3, gain=0.1, mean=0.5).clamp(0, 1)


def tiny_encode(n, pixels, width=16):
    x = tiny_conv(n, pixels, "0", width)
    for first, count in ((1, 1), (3, 3), (7, 3), (11, 3)):
        if first > 1:
            x = tiny_conv(n, x, f"{first - 1}", width, 2, False)
        for i in range(first, first + count):
            x = tiny_block(n.at(f"{i}."), x, first == 11)
    return folded(tiny_conv(n, x, "14", 32))
