# The video autoencoders of Wan 2.1 and 2.2 on whole clips: synth/wan21_vae_dim16, synth/wan22_vae_dim16. What the
# programs do piece by piece is here one causal network.
import torch
import torch.nn.functional as F

import files
import net
from net import Net


def causal(n, x, name, out, k=3):
    """All padding in time is in front."""
    c = x.shape[1]
    w = n(name + ".weight", out, c, k, k, k, spread=(c * k ** 3) ** -0.5)
    return F.conv3d(F.pad(x, (k // 2,) * 4 + (k - 1, 0)), w, n(name + ".bias", out, spread=0.1))


def in_time(n, x, out, stride=1):
    c = x.shape[1]
    w = n("time_conv.weight", out, c, 3, 1, 1, spread=(c * 3) ** -0.5)
    return F.conv3d(x, w, n("time_conv.bias", out, spread=0.1), (stride, 1, 1))


def norm(n, x, name, axes=3):
    return F.normalize(x, dim=1) * x.shape[1] ** 0.5 * n(name + ".gamma", x.shape[1], *[1] * axes, spread=0.1, mean=1)


def res(n, x, out):
    h = causal(n, F.silu(norm(n, x, "residual.0")), "residual.2", out)
    h = causal(n, F.silu(norm(n, h, "residual.3")), "residual.6", out)
    return h + (x if x.shape[1] == out else causal(n, x, "shortcut", out, 1))


def by_frame(f, x):
    y = f(x.transpose(1, 2).flatten(0, 1))
    return y.unflatten(0, (x.shape[0], x.shape[2])).transpose(1, 2)


def attend(n, x):
    def one(x):
        b, c, h, w = x.shape
        q, k, v = n.conv(norm(n, x, "norm", 2), "to_qkv", 3 * c, 1).flatten(2).transpose(1, 2)[:, None].chunk(3, -1)
        return x + n.conv(net.attention(q, k, v).transpose(1, 2).reshape(b, c, h, w), "proj", c, 1)
    return by_frame(one, x)


def middle(n, x):
    x = attend(n.at("1."), res(n.at("0."), x, x.shape[1]))
    return res(n.at("2."), x, x.shape[1])


def up(n, x, out, with_time):
    if with_time:  # every frame but the first becomes two
        c = x.shape[1]
        y = in_time(n, F.pad(x[:, :, 1:], (0, 0, 0, 0, 2, 0)), 2 * c) if x.shape[2] > 1 else x[:, :, :0].repeat(1, 2, 1, 1, 1)
        in_time(n, F.pad(x[:, :, :1], (0, 0, 0, 0, 2, 0)), 2 * c)  # so that the weights are there
        y = y.unflatten(1, (2, c)).permute(0, 2, 3, 1, 4, 5).flatten(2, 3)
        x = torch.cat([x[:, :, :1], y], 2)
    return by_frame(lambda f: n.conv(F.interpolate(f, scale_factor=2, mode="nearest"), "resample.1", out), x)


def down(n, x, with_time):
    x = by_frame(lambda f: n.conv(F.pad(f, (0, 1, 0, 1)), "resample.1", f.shape[1], stride=2, pad=0), x)
    if not with_time:
        return x
    enough = x if x.shape[2] > 2 else F.pad(x, (0, 0, 0, 0, 2, 0))
    y = in_time(n, enough, x.shape[1], 2)
    return torch.cat([x[:, :, :1], y], 2) if x.shape[2] > 2 else x


def head(n, x, out):
    return causal(n, F.silu(norm(n, x, "head.0")), "head.2", out)


def repeated(x, out, ft):
    """What 2.2 adds past a group that enlarges: every channel some times over, taken apart into time and space."""
    b, c, t, h, w = x.shape
    y = x.repeat_interleave(out * ft * 4 // c, 1).view(b, out, ft, 2, 2, t, h, w)
    return y.permute(0, 1, 5, 2, 6, 3, 7, 4).reshape(b, out, t * ft, h * 2, w * 2)[:, :, ft - 1:]


def averaged(x, out, ft, fs):
    """And past one that reduces: the same the other way round, means of neighbouring channels."""
    x = F.pad(x, (0, 0, 0, 0, -x.shape[2] % ft, 0))
    b, c, t, h, w = x.shape
    y = x.view(b, c, t // ft, ft, h // fs, fs, w // fs, fs).permute(0, 1, 3, 5, 7, 2, 4, 6)
    return y.reshape(b, out, -1, t // ft, h // fs, w // fs).mean(2)


def patched(x):
    b, c, t, h, w = x.shape
    return x.view(b, c, t, h // 2, 2, w // 2, 2).permute(0, 1, 6, 4, 2, 3, 5).reshape(b, 4 * c, t, h // 2, w // 2)


def unpatched(x):
    b, c, t, h, w = x.shape
    return x.view(b, c // 4, 2, 2, t, h, w).permute(0, 1, 4, 5, 3, 6, 2).reshape(b, c // 4, t, h * 2, w * 2)


def decode(n, z, widths, is_22):
    """widths from the outside in; pixels in -1..1"""
    x, d = causal(n, z, "conv2", z.shape[1], 1), n.at("decoder.")
    x = middle(d.at("middle."), causal(d, x, "conv1", widths[-1]))
    at = 0
    for g, width in enumerate(reversed(widths)):
        before, inside = x, 0
        for k in range(4 if g < 3 else 3):
            m = d.at(f"upsamples.{g}.upsamples.{inside}." if is_22 else f"upsamples.{at}.")
            x = res(m, x, width) if k < 3 else up(m, x, width if is_22 else width // 2, g < 2)
            at, inside = at + 1, inside + 1
        if is_22 and g < 3:
            x = x + repeated(before, width, 2 if g < 2 else 1)
    x = head(d, x, 12 if is_22 else 3)
    return unpatched(x) if is_22 else x


def encode(n, pixels, z, widths, is_22):
    e = n.at("encoder.")
    x = causal(e, patched(pixels) if is_22 else pixels, "conv1", widths[0])
    at = 0
    for g, width in enumerate(widths):
        before, inside = x, 0
        for k in range(3 if g < 3 else 2):
            m = e.at(f"downsamples.{g}.downsamples.{inside}." if is_22 else f"downsamples.{at}.")
            x = res(m, x, width) if k < 2 else down(m, x, g > 0)
            at, inside = at + 1, inside + 1
        if is_22:
            x = x + averaged(before, width, *((1, 2), (2, 2), (2, 2), (1, 1))[g])
    x = head(e, middle(e.at("middle."), x), 2 * z)
    return causal(n, x, "conv1", 2 * z, 1)[:, :z]


def main():
    for name, z, widths, is_22, factor in (("wan21", 16, (8, 8, 8, 8), False, 8), ("wan22", 48, (8, 8, 16, 16), True, 16)):
        n, io = Net(41, net.FP8), {}
        for t in (4, 2, 1):
            io[f"decode_in_T{t}"] = files.values(42 + t, 1, z, t, 1, 2).float().double()
            io[f"decode_out_T{t}"] = decode(n, io[f"decode_in_T{t}"], widths, is_22)
        for f in (9, 5, 1):
            io[f"encode_in_F{f}"] = files.values(52 + f, 1, 3, f, factor, 2 * factor).clamp(-1, 1).float().double()
            io[f"encode_out_F{f}"] = encode(n, io[f"encode_in_F{f}"], z, widths, is_22)
        net.save(f"{name}_vae_dim16", n, **io)


if __name__ == "__main__":
    main()
