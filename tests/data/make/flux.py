# FLUX.1's transformer, for whole pipelines (pipeline.py); chroma.py has its blocks, too.
import torch
import torch.nn.functional as F

import net


def embed(n, x, name, c):
    return n.linear(F.silu(n.linear(x, name + ".in_layer", c)), name + ".out_layer", c)


def parts(n, x, count):
    """q, k and v of x's three thirds, the first two normed head by head"""
    q, k, v = (net.heads(t, count) for t in x.chunk(3, -1))
    return n.rms(q, "norm.query_norm.scale"), n.rms(k, "norm.key_norm.scale"), v


def turned(q, k, v, at):
    return net.attention(net.rotate(q, at), net.rotate(k, at), v)


def double_mods(n, act):
    c = act.shape[-1]
    return {s: n.linear(act, f"{s}_mod.lin", 6 * c)[:, None].chunk(6, -1) for s in ("txt", "img")}


def double(n, img, txt, mods, at, count):
    """mods: six vectors of each stream"""
    streams, c = {"txt": txt, "img": img}, img.shape[-1]
    qkv = []
    for s, x in streams.items():
        shift, scale = mods[s][:2]
        a = n.at(f"{s}_attn.")
        qkv.append(parts(a, a.linear(net.plain_norm(x) * (1 + scale) + shift, "qkv", 3 * c), count))
    out = turned(*(torch.cat(t, 2) for t in zip(*qkv)), at)
    rows = txt.shape[1]
    for s, a in (("txt", out[:, :rows]), ("img", out[:, rows:])):
        _, _, gate, shift, scale, gate2 = mods[s]
        x = streams[s] + gate * n.linear(a, f"{s}_attn.proj", c)
        u = net.gelu_tanh(n.linear(net.plain_norm(x) * (1 + scale) + shift, f"{s}_mlp.0", 2 * c))
        streams[s] = x + gate2 * n.linear(u, f"{s}_mlp.2", c)
    return streams["img"], streams["txt"]


def single(n, x, mods, at, count):
    c = x.shape[-1]
    shift, scale, gate = mods
    u = n.linear(net.plain_norm(x) * (1 + scale) + shift, "linear1", 5 * c)
    a = turned(*parts(n, u[..., :3 * c], count), at)
    return x + gate * n.linear(torch.cat([a, net.gelu_tanh(u[..., 3 * c:])], -1), "linear2", c)


def to_tokens(x):
    b, z, h, w = x.shape
    return x.view(b, z, h // 2, 2, w // 2, 2).permute(0, 2, 4, 1, 3, 5).reshape(b, -1, 4 * z)


def to_picture(x, like):
    b, z, h, w = like.shape
    return x.view(b, h // 2, w // 2, z, 2, 2).permute(0, 3, 1, 4, 2, 5).reshape(b, z, h, w)


def positions(rows, h, w, side):
    grid = torch.cartesian_prod(torch.arange(1), torch.arange(h // 2), torch.arange(w // 2))
    first = side // 8
    return net.angles(torch.cat([torch.zeros(rows, 3), grid]), (first, (side - first) // 2, (side - first) // 2))


def flux(n, x, t, context, pooled, guidance, c=64, count=1, depth=(1, 1)):
    b, z, h, w = x.shape
    rows = context.shape[1]
    img, txt = n.linear(to_tokens(x), "img_in", c), n.linear(context, "txt_in", c)
    vec = embed(n, net.wave(t * 1000, 256), "time_in", c) + embed(n, pooled, "vector_in", c)
    vec = vec + embed(n, net.wave(guidance * 1000, 256), "guidance_in", c)
    at = positions(rows, h, w, c // count)
    act = F.silu(vec)
    for i in range(depth[0]):
        m = n.at(f"double_blocks.{i}.")
        img, txt = double(m, img, txt, double_mods(m, act), at, count)
    both = torch.cat([txt, img], 1)
    for i in range(depth[1]):
        m = n.at(f"single_blocks.{i}.")
        both = single(m, both, m.linear(act, "modulation.lin", 3 * c)[:, None].chunk(3, -1), at, count)
    shift, scale = n.linear(act, "final_layer.adaLN_modulation.1", 2 * c)[:, None].chunk(2, -1)
    return to_picture(n.linear(net.plain_norm(both[:, rows:]) * (1 + scale) + shift, "final_layer.linear", 4 * z), x)
