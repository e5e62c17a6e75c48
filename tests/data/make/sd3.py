# Stable Diffusion 3's transformers: synth/sd35_h64 (norms of q and k, an attention of the image to itself, learned
# positions), synth/sd3_h64 (none of these: positions are waves), and what they make of latents.

import torch
import torch.nn.functional as F

import files
import net
from net import Net

HEAD = 64


def modulated(x, shift, scale):
    return net.plain_norm(x) * (1 + scale[:, None]) + shift[:, None]


def parts(n, u, has_norm):
    q, k, v = (net.heads(t, u.shape[-1] // HEAD) for t in n.linear(u, "qkv", 3 * u.shape[-1]).chunk(3, -1))
    return (n.rms(q, "ln_q.weight"), n.rms(k, "ln_k.weight"), v) if has_norm else (q, k, v)


def feed(n, x, shift, scale, gate, width):
    u = net.gelu_tanh(n.linear(modulated(x, shift, scale), "mlp.fc1", width or 2 * x.shape[-1]))
    return x + gate[:, None] * n.linear(u, "mlp.fc2", x.shape[-1])


def block(n, x, context, act, has_norm, has_self, is_last, width=0):
    nx, nc, c = n.at("x_block."), n.at("context_block."), x.shape[-1]
    mx = nx.linear(act, "adaLN_modulation.1", (9 if has_self else 6) * c).chunk(9 if has_self else 6, -1)
    mc = nc.linear(act, "adaLN_modulation.1", (2 if is_last else 6) * c).chunk(2 if is_last else 6, -1)
    qx = parts(nx.at("attn."), modulated(x, mx[0], mx[1]), has_norm)
    qc = parts(nc.at("attn."), modulated(context, mc[0], mc[1]), has_norm)
    out = net.attention(*(torch.cat(t, 2) for t in zip(qc, qx)))
    rows = context.shape[1]
    more = 0
    if has_self:
        own = net.attention(*parts(nx.at("attn2."), modulated(x, mx[6], mx[7]), has_norm))
        more = mx[8][:, None] * nx.linear(own, "attn2.proj", c)
    x = feed(nx, x + mx[2][:, None] * nx.linear(out[:, rows:], "attn.proj", c) + more, *mx[3:6], width)
    if is_last:
        return x, None
    return x, feed(nc, context + mc[2][:, None] * nc.linear(out[:, :rows], "attn.proj", c), *mc[3:6], width)


def waves(h, w, c):
    def axis(n):
        m = 7.5 * n / min(h, w)
        return torch.linspace(7.5 - m, 7.5 + m, n, dtype=torch.float64)

    def turn(p):
        a = p[:, None] * 10000.0 ** (-torch.arange(c // 4, dtype=torch.float64) / (c // 4))
        return torch.cat([a.sin(), a.cos()], -1)
    place = torch.cartesian_prod(axis(h), axis(w))
    return torch.cat([turn(place[:, 1]), turn(place[:, 0])], -1)[None]


def embed(n, x, name, c):
    return n.linear(F.silu(n.linear(x, name + ".mlp.0", c)), name + ".mlp.2", c)


def tokens(n, x, name, c):
    """[B,Z,H,W] to [B,H/2*W/2,c], what is missing of the last cells from the other side"""
    z, height, width = x.shape[1:]
    x = F.pad(x, (0, width % 2, 0, height % 2), mode="circular")
    weight = n(name + ".weight", c, z, 2, 2, spread=(4 * z) ** -0.5)
    return F.conv2d(x, weight, n(name + ".bias", c, spread=0.1), 2).flatten(2).transpose(1, 2)


def sd3(n, x, t, context, y, c, depth, grid, has_norm, selves):
    """grid 0: positions are waves; selves: blocks in which the image attends to itself"""
    b, z, height, width = x.shape
    h, w = -(-height // 2), -(-width // 2)
    s = tokens(n, x, "x_embedder.proj", c)
    if grid:
        top, left = (grid - h) // 2, (grid - w) // 2
        p = n("pos_embed", 1, grid * grid, c, spread=0.5).view(grid, grid, c)
        s = s + p[top:top + h, left:left + w].reshape(1, h * w, c)
    else:
        s = s + waves(h, w, c)
    act = F.silu(embed(n, net.wave(t, 256), "t_embedder", c) + embed(n, y, "y_embedder", c))
    context = n.linear(context, "context_embedder", c)
    for i in range(depth):
        s, context = block(n.at(f"joint_blocks.{i}."), s, context, act, has_norm, i in selves, i + 1 == depth)
    shift, scale = n.linear(act, "final_layer.adaLN_modulation.1", 2 * c).chunk(2, -1)
    s = n.linear(modulated(s, shift, scale), "final_layer.linear", 4 * z)
    s = s.view(b, h, w, 2, 2, z).permute(0, 5, 1, 3, 2, 4).reshape(b, z, 2 * h, 2 * w)
    return s[:, :, :height, :width]


def write(name, sizes, seed, **how):
    n = Net(seed, net.FP8)
    t = torch.tensor([637.5, 235.5], dtype=torch.float32)
    for end, h, w in sizes:
        x, context = files.values(seed + h, 2, 16, h, w).float(), files.values(seed + w, 2, 5, 40).float()
        y = files.values(seed, 2, 24).float()
        out = sd3(n, x.double(), t, context.double(), y.double(), 64, **how)
        files.save(f"synth/{name}{end}_io.safetensors", {"x": x, "t": t, "context": context, "y": y, "out": out})
    files.save(f"synth/{name}.safetensors", n.tensors, fp8=set(n.tensors))


if __name__ == "__main__":
    write("sd35_h64", (("_even", 8, 12), ("_odd", 7, 11)), 35, depth=2, grid=9, has_norm=True, selves=(0,))
    write("sd3_h64", (("", 6, 10),), 30, depth=1, grid=0, has_norm=False, selves=())
