# What patches of a MODEL make of a small UNet whose stages are 2 and 4 times as wide as its first channels, and what
# IP-Adapters make of it: synth/unet_patches, synth/ip_*. Formulas of the papers named in core/model/unet/unet_patch.c and
# core/model/ip_adapter, as ComfyUI 0.33.0 applies them; the network is that of unet.py.
import math

import torch
import torch.nn.functional as F

import files
import net
import unet
from net import Net

CH, WIDTHS, HEADS = 16, (32, 64), 8


class Walk:
    """What patches want of one pass, and where it is."""

    def __init__(self, **wants):
        self.wants, self.part, self.transformer, self.cross = wants, "", 0, 0
        self.seen = None

    def get(self, name):
        return self.wants.get(name)


def project(n, x, name, c):
    return n.linear(x, name, c, bias=False)


def away(z, nag):  # the first row is of the negative side
    if not nag:
        return z
    scale, alpha, tau = nag
    guided = z[1:] * scale - z[:1] * (scale - 1)
    sizes = [t.abs().sum(-1, keepdim=True).clamp_min(1e-6) for t in (guided, z[1:])]
    ratio = sizes[0] / sizes[1]
    guided = guided * ratio.clamp_max(tau) / ratio
    return torch.cat([z[:1], guided * alpha + z[1:] * (1 - alpha)])


def self_attention(n, x, walk, size):
    c = x.shape[-1]
    q, k, v = (project(n, x, p, c) for p in ("to_q", "to_k", "to_v"))
    by = walk.get("self_by") or (1, 1, 1, 1)
    q, k, v = q * by[0], k * by[1], v * by[2]
    if walk.part == "middle" and walk.get("perturbed"):
        return n.linear(v, "to_out.0", c) * by[3]
    if walk.part == "middle" and walk.seen is None:
        s = net.heads(q, HEADS) @ net.heads(k, HEADS).transpose(-1, -2) / math.sqrt(c / HEADS)
        walk.seen = s.softmax(-1).mean(1).sum(1)
    tile = walk.get("tile")
    if tile and x.shape[1] == size[0] * size[1]:
        h, w = round(math.sqrt(x.shape[1] * size[1] / size[0])), round(math.sqrt(x.shape[1] * size[0] / size[1]))
        nh, nw = (next(s // i for i in range(min(tile, s), s + 1) if s % i == 0) for s in (h, w))

        def cut(t):
            t = t.reshape(-1, nh, h // nh, nw, w // nw, c).permute(0, 1, 3, 2, 4, 5)
            return t.reshape(-1, h // nh * (w // nw), c)
        o = net.attention(*(net.heads(cut(t), HEADS) for t in (q, k, v)))
        o = o.reshape(-1, nh, nw, h // nh, w // nw, c).permute(0, 1, 3, 2, 4, 5).reshape(x.shape)
    else:
        o = net.attention(*(net.heads(t, HEADS) for t in (q, k, v)))
    return away(n.linear(o, "to_out.0", c) * by[3], walk.get("nag"))


def cross_attention(n, x, context, walk, size):
    c = x.shape[-1]
    q, k, v = project(n, x, "to_q", c), project(n, context, "to_k", c), project(n, context, "to_v", c)
    by = walk.get("cross_by") or (1, 1, 1, 1)
    o = net.attention(*(net.heads(t, HEADS) for t in (q * by[0], k * by[1], v * by[2])))
    for ip in walk.get("pictures") or ():
        o = o + ip(q, walk, size)
    return n.linear(o, "to_out.0", c) * by[3]


def transformer(n, x, context, walk, size):
    b, c, h, w = x.shape
    y = n.conv(n.group_norm(x, "norm", 1e-6), "proj_in", c, 1).flatten(2).transpose(1, 2)
    t = n.at("transformer_blocks.0.")
    y = y + self_attention(t.at("attn1."), t.layer_norm(y, "norm1"), walk, size)
    y = y + cross_attention(t.at("attn2."), t.layer_norm(y, "norm2"), context, walk, size)
    a, g = t.linear(t.layer_norm(y, "norm3"), "ff.net.0.proj", 8 * c).chunk(2, -1)
    y = y + t.linear(a * F.gelu(g), "ff.net.2", c)
    walk.transformer, walk.cross = walk.transformer + 1, walk.cross + 1
    return x + n.conv(y.transpose(1, 2).reshape(b, c, h, w), "proj_out", c, 1)


def low(x, s):
    f = torch.fft.fftshift(torch.fft.fftn(x, dim=(-2, -1)), dim=(-2, -1))
    h, w = x.shape[-2:]
    by = torch.ones(f.shape, dtype=torch.float64)
    by[..., h // 2 - 1:h // 2 + 1, w // 2 - 1:w // 2 + 1] = s
    return torch.fft.ifftn(torch.fft.ifftshift(f * by, dim=(-2, -1)), dim=(-2, -1)).real


def free(h, skip, b, s, second):
    half = h.shape[1] // 2
    if second:
        m = h.mean(1, keepdim=True)
        least, most = m.amin((1, 2, 3), keepdim=True), m.amax((1, 2, 3), keepdim=True)
        b = (b - 1) * (m - least) / (most - least) + 1
    return torch.cat([h[:, :half] * b, h[:, half:]], 1), low(skip, s)


def run(n, x, t, context, walk):
    size = x.shape[-2:]
    emb = n.linear(F.silu(n.linear(net.wave(t, CH), "time_embed.0", 4 * CH)), "time_embed.2", 4 * CH)

    def block(name, x, out):
        x = unet.res(n.at(name + ".0."), x, emb, out)
        return transformer(n.at(name + ".1."), x, context, walk, size)

    walk.part = "down"
    kept, x = [], n.conv(x, "input_blocks.0.0", WIDTHS[0])

    def keep(x, i):
        down = walk.get("downscale")
        if down and i == down[0] and not down[2]:
            x = F.interpolate(x, size=[round(v / down[1]) for v in x.shape[2:]], mode=down[3])
        kept.append(x)
        if down and i == down[0] and down[2]:
            x = F.interpolate(x, size=[round(v / down[1]) for v in x.shape[2:]], mode=down[3])
        return x
    x = keep(x, 0)
    x = keep(block("input_blocks.1", x, WIDTHS[0]), 1)
    x = keep(n.conv(x, "input_blocks.2.0.op", WIDTHS[0], stride=2), 2)
    x = keep(block("input_blocks.3", x, WIDTHS[1]), 3)
    walk.part, downs = "middle", walk.cross
    walk.cross = 6  # after those of the way up
    x = unet.res(n.at("middle_block.0."), x, emb, WIDTHS[1])
    x = transformer(n.at("middle_block.1."), x, context, walk, size)
    x = unet.res(n.at("middle_block.2."), x, emb, WIDTHS[1])
    walk.part, walk.cross = "up", downs
    for i, width in enumerate((WIDTHS[1], WIDTHS[1], WIDTHS[0], WIDTHS[0])):
        skip = kept.pop()
        for kind in ("freeu", "freeu2"):
            v, at = walk.get(kind), {4 * CH: 0, 2 * CH: 1}.get(x.shape[1])
            if v and at is not None:
                x, skip = free(x, skip, v[at], v[2 + at], kind == "freeu2")
        if walk.get("downscale") and x.shape[2] != skip.shape[2]:
            x = F.interpolate(x, size=skip.shape[2:], mode=walk.get("downscale")[3])
        x = block(f"output_blocks.{i}", torch.cat([x, skip], 1), width)
        if i == 1:
            x = F.interpolate(x, size=kept[-1].shape[2:], mode="nearest")
            x = n.conv(x, "output_blocks.1.2.conv", x.shape[1])
    return n.conv(F.silu(n.group_norm(x, "out.0", 1e-5)), "out.2", 4)


# ---- IP-Adapter --------------------------------------------------------------------------------

CONTEXT, TOKENS = 40, 4


def plain(n, embed):
    x = n.linear(embed, "image_proj.proj", TOKENS * CONTEXT).reshape(-1, TOKENS, CONTEXT)
    return n.layer_norm(x, "image_proj.norm")


def full(n, states):
    x = F.gelu(n.linear(states, "image_proj.proj.0", states.shape[-1]))
    return n.layer_norm(n.linear(x, "image_proj.proj.2", CONTEXT), "image_proj.proj.3")


def plus(n, states):  # a resampler with two heads of 64 channels
    c = 48
    p = n.at("image_proj.")
    x, y = p.linear(states, "proj_in", c), p("latents", 1, TOKENS, c, spread=c ** -0.5).repeat(len(states), 1, 1)
    for i in range(2):
        a, f = p.at(f"layers.{i}.0."), p.at(f"layers.{i}.1.")
        l = a.layer_norm(y, "norm2")
        of = torch.cat([a.layer_norm(x, "norm1"), l], 1)
        q = a.linear(l, "to_q", 128, bias=False)
        k, v = a.linear(of, "to_kv", 256, bias=False).chunk(2, -1)
        y = y + a.linear(net.attention(*(net.heads(t, 2) for t in (q, k, v))), "to_out", c, bias=False)
        h = F.gelu(f.linear(f.layer_norm(y, "0"), "1", 4 * c, bias=False))
        y = y + f.linear(h, "3", c, bias=False)
    return p.layer_norm(p.linear(y, "proj_out", CONTEXT), "norm_out")


def adapter(n, tokens, weights, scaling="V only", mask=None):
    """tokens [B,T,C], a weight for each transformer"""
    def ip(q, walk, size):
        w, c = weights[walk.transformer], q.shape[-1]
        if not w:
            return 0
        k, v = (n.linear(tokens, f"ip_adapter.{2 * walk.cross + 1}.{p}", c, bias=False)
                for p in ("to_k_ip", "to_v_ip"))
        if scaling != "V only":
            w = w * c / 1280 if scaling.endswith("penalty") else w
            k = k * w
            mean = v.mean(1, keepdim=True)
            v = v - mean + mean * w if scaling.startswith("K+mean") else v * w
            w = 1
        o = net.attention(*(net.heads(t, HEADS) for t in (q, k, v))) * w
        if mask is not None:
            h = int(size[0] / math.sqrt(size[0] * size[1] / q.shape[1]))
            h += q.shape[1] % h != 0
            m = F.interpolate(mask[:, None], size=(h, q.shape[1] // h), mode="bilinear")
            o = o * m.flatten(2).transpose(1, 2)
        return o
    return ip


def main():
    n = Net(11, net.FP8)
    u = n.at("model.diffusion_model.")
    x, t, c = files.values(2, 2, 4, 12, 16), torch.tensor([801.0, 801.0]), files.values(3, 2, 9, CONTEXT)
    x, c = x.float().double(), c.float().double()
    cases = dict(
        plain={}, perturbed=dict(perturbed=True), freeu=dict(freeu=(1.1, 1.2, 0.9, 0.2)),
        freeu2=dict(freeu2=(1.3, 1.4, 0.9, 0.2)), tile=dict(tile=4), self=dict(self_by=(1.1, 0.9, 1.2, 0.8)),
        nag=dict(nag=(5.0, 0.6, 1.5)), cross=dict(cross_by=(0.7, 1.3, 0.9, 1.1)), down_after=dict(downscale=(1, 2, True, "bicubic")),
        down_before=dict(downscale=(2, 1.5, False, "bilinear")))
    io, maps = {}, None
    for name, wants in cases.items():
        walk = Walk(**wants)
        io[name] = run(u, x, t, c, walk)
        maps = walk.seen if name == "plain" else maps
    tensors = dict(n.tensors)
    weights = [0.5 + 0.1 * i for i in range(7)]
    mask = torch.zeros(1, 24, 20, dtype=torch.float64)
    mask[:, 4:20, 3:13] = torch.linspace(0.2, 1, 10)
    for name, project_, shape in (("plain", plain, (1, 24)), ("full", full, (1, 5, 24)), ("plus", plus, (1, 5, 24))):
        a = Net(20 + len(name), net.FP8)
        states = files.values(30, *shape).float().double()
        picture, opposite = project_(a, states), project_(a, torch.zeros_like(states))
        both = torch.cat([opposite, picture])  # the first row is of the negative side
        extra = {"ip_" + name: [adapter(a, both, weights)]}
        if name == "plus":
            extra["ip_mask"] = [adapter(a, both, weights, mask=mask)]
            for i, s in enumerate(("K+V", "K+V w/ C penalty", "K+mean(V) w/ C penalty")):
                extra[f"ip_scaling{i + 1}"] = [adapter(a, both, [8 * w for w in weights], s)]
            extra["ip_two"] = [adapter(a, both, weights), adapter(a, both.flip(0), weights[::-1])]
        for key, pictures in extra.items():
            io[key] = run(u, x, t, c, Walk(pictures=pictures))
        io[f"{name}.states"], io[f"{name}.tokens"], io[f"{name}.opposite"] = states, picture, opposite
        files.save(f"synth/ip_{name}.safetensors", a.tensors, a.tensors)
        if name == "full":  # as the released files are: a dict of two
            torch.save({k: {n[len(k) + 1:]: t.half() for n, t in a.tensors.items() if n.startswith(k + ".")}
                        for k in ("image_proj", "ip_adapter")}, files.path("synth/ip_full.bin"))
    assert len(n.tensors) == len(tensors)
    net.save("unet_patches", n, x=x, timestep=t, context=c, map=maps, mask=mask, **io)


if __name__ == "__main__":
    main()
