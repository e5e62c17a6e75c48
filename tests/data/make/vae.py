# AutoencoderKL's decoder and encoder, for whole pipelines (pipeline.py).
import torch.nn.functional as F

import net

EPS = 1e-6
QUANT = ("quant_conv", "post_quant_conv")  # where a file has these layers; None: it has none
INSIDE = ("encoder.quant_conv", "decoder.post_quant_conv")


def res(n, x, out):
    h = n.conv(F.silu(n.group_norm(x, "norm1", EPS)), "conv1", out)
    h = n.conv(F.silu(n.group_norm(h, "norm2", EPS)), "conv2", out)
    return h + (x if x.shape[1] == out else n.conv(x, "nin_shortcut", out, 1))


def attend(n, x):
    b, c, h, w = x.shape
    u = n.group_norm(x, "norm", EPS)
    q, k, v = (n.conv(u, p, c, 1).flatten(2).transpose(1, 2)[:, None] for p in "qkv")
    return x + n.conv(net.attention(q, k, v).transpose(1, 2).reshape(b, c, h, w), "proj_out", c, 1)


def middle(n, x):
    c = x.shape[1]
    return res(n.at("block_2."), attend(n.at("attn_1."), res(n.at("block_1."), x, c)), c)


def end(n, x, out):
    return n.conv(F.silu(n.group_norm(x, "norm_out", EPS)), "conv_out", out)


def decode(n, z, widths, quant):
    """z as between nodes; pixels in 0..1"""
    z = n.conv(z, quant[1], z.shape[1], 1) if quant else z
    n = n.at("decoder.")
    x = middle(n.at("mid."), n.conv(z, "conv_in", widths[-1]))
    for i in reversed(range(len(widths))):
        for k in range(3):
            x = res(n.at(f"up.{i}.block.{k}."), x, widths[i])
        if i:
            x = n.conv(F.interpolate(x, scale_factor=2, mode="nearest"), f"up.{i}.upsample.conv", widths[i])
    return (end(n, x, 3) / 2 + 0.5).clamp(0, 1)


def encode(n, pixels, z, widths, quant):
    """pixels in 0..1; the mean"""
    e = n.at("encoder.")
    x = e.conv(2 * pixels - 1, "conv_in", widths[0])
    for i, width in enumerate(widths):
        for k in range(2):
            x = res(e.at(f"down.{i}.block.{k}."), x, width)
        if i < len(widths) - 1:
            x = e.conv(F.pad(x, (0, 1, 0, 1)), f"down.{i}.downsample.conv", width, stride=2, pad=0)
    x = end(e, middle(e.at("mid."), x), 2 * z)
    return (n.conv(x, quant[0], 2 * z, 1) if quant else x)[:, :z]
