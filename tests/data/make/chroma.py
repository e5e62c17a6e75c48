# Chroma's transformer: synth/chroma_h64 and what it makes of latents with even and odd sides, with and without guidance.
import math

import torch
import torch.nn.functional as F

import files
import flux
import net
from net import Net

ROWS = 344  # that the approximator gives, whatever a file has blocks for


def wave(v, dim):
    """In float32 as torch computes it: angles reach 343000, where the last bit of a rate shows."""
    half = dim // 2
    rates = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half)
    a = rates * (1000 * v.float())[..., None]
    return torch.cat([a.double().cos(), a.double().sin()], -1)


def approximator_input(t, guidance):
    """[B,ROWS,64]"""
    b = t.shape[0]
    told = torch.cat([wave(t, 16), wave(guidance, 16)], -1)[:, None].expand(b, ROWS, 32)
    return torch.cat([told, wave(torch.arange(ROWS), 32)[None].expand(b, ROWS, 32)], -1).float().double()


def approximator(n, v, c, width=32, layers=2):
    v = n.linear(v, "in_proj", width)
    for i in range(layers):
        u = n.rms(v, f"norms.{i}.scale")
        u = n.linear(F.silu(n.linear(u, f"layers.{i}.in_layer", width)), f"layers.{i}.out_layer", width, gain=0.5)
        v = v + u
    return n.linear(v, "out_proj", c, gain=0.5)


def chroma(n, x, t, context, guidance, c=64, depth=(1, 2)):
    b, z, h, w = x.shape
    x = F.pad(x, (0, w % 2, 0, h % 2), mode="circular")
    doubles, singles = depth
    rows = context.shape[1]
    m = approximator(n.at("distilled_guidance_layer."), approximator_input(t, guidance), c)
    at = flux.positions(rows, x.shape[2], x.shape[3], c)
    img, txt = n.linear(flux.to_tokens(x), "img_in", c), n.linear(context, "txt_in", c)

    def given(first, count):
        return [m[:, i, None] for i in range(first, first + count)]
    for i in range(doubles):
        mods = {"img": given(3 * singles + 6 * i, 6), "txt": given(3 * singles + 6 * doubles + 6 * i, 6)}
        img, txt = flux.double(n.at(f"double_blocks.{i}."), img, txt, mods, at, 1)
    both = torch.cat([txt, img], 1)
    for i in range(singles):
        both = flux.single(n.at(f"single_blocks.{i}."), both, given(3 * i, 3), at, 1)
    shift, scale = given(ROWS - 2, 2)
    out = n.linear(net.plain_norm(both[:, rows:]) * (1 + scale) + shift, "final_layer.linear", 4 * z)
    return flux.to_picture(out, x)[:, :, :h, :w], m


def main():
    n = Net(4242, net.FP8)
    t = torch.tensor([0.625, 0.275], dtype=torch.float32)
    picked = [0, 1, 2, 50, 343]
    for name, h, w in (("even", 8, 10), ("odd", 7, 9)):
        x, context = files.values(h, 2, 16, h, w).float(), files.values(w, 2, 6, 24).float()
        zero = torch.zeros(2)
        out, m = chroma(n, x.double(), t, context.double(), zero)
        io = {"x": x, "t": t, "context": context, "guidance": zero, "out": out,
              "input_vec": approximator_input(t, zero)[0, picked], "mod_vectors": m[0, picked],
              "out_guidance3.5": chroma(n, x.double(), t, context.double(), zero + 3.5)[0]}
        files.save(f"synth/chroma_h64_{name}_io.safetensors", io)
    files.save("synth/chroma_h64.safetensors", n.tensors, fp8=set(n.tensors))


if __name__ == "__main__":
    main()
