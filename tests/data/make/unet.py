# The UNets of SD1 and SDXL: synth/sd15_unet_ch32, synth/sdxl_unet_ch32.
import torch
import torch.nn.functional as F

import files
import net
from net import Net


def res(n, x, emb, out):
    h = n.conv(F.silu(n.group_norm(x, "in_layers.0", 1e-5)), "in_layers.2", out)
    h = h + n.linear(F.silu(emb), "emb_layers.1", out)[:, :, None, None]
    h = n.conv(F.silu(n.group_norm(h, "out_layers.0", 1e-5)), "out_layers.3", out)
    return h + (x if x.shape[1] == out else n.conv(x, "skip_connection", out, 1))


def attend(n, x, of, count):
    c = x.shape[-1]
    q, k, v = (net.heads(n.linear(y, p, c, bias=False), count) for y, p in ((x, "to_q"), (of, "to_k"), (of, "to_v")))
    return n.linear(net.attention(q, k, v), "to_out.0", c)


def transformer(n, x, context, depth, size):
    b, c, h, w = x.shape
    count = size["heads"] or c // size["head"]
    y = n.group_norm(x, "norm", 1e-6)
    if not size["linear"]:
        y = n.conv(y, "proj_in", c, 1)
    y = y.flatten(2).transpose(1, 2)
    if size["linear"]:
        y = n.linear(y, "proj_in", c)
    for i in range(depth):
        t = n.at(f"transformer_blocks.{i}.")
        u = t.layer_norm(y, "norm1")
        y = y + attend(t.at("attn1."), u, u, count)
        y = y + attend(t.at("attn2."), t.layer_norm(y, "norm2"), context, count)
        a, g = t.linear(t.layer_norm(y, "norm3"), "ff.net.0.proj", 8 * c).chunk(2, -1)
        y = y + t.linear(a * F.gelu(g), "ff.net.2", c)
    if size["linear"]:
        y = n.linear(y, "proj_out", c)
    y = y.transpose(1, 2).reshape(b, c, h, w)
    return x + (y if size["linear"] else n.conv(y, "proj_out", c, 1))


def embed(n, t, y, size, more=0.0):
    ch = size["ch"]
    emb = n.linear(F.silu(n.linear(net.wave(t, ch), "time_embed.0", 4 * ch)), "time_embed.2", 4 * ch) + more
    if y is not None:
        emb = emb + n.linear(F.silu(n.linear(y, "label_emb.0.0", 4 * ch)), "label_emb.0.2", 4 * ch)
    return emb


def block(n, name, x, emb, context, out, depth, size):
    x = res(n.at(name + ".0."), x, emb, out)
    return transformer(n.at(name + ".1."), x, context, depth, size) if depth else x


def way_down(n, x, emb, context, size, hint=None, more=None):
    """What every stage gives, and the middle. more: what control networks add."""
    ch, levels, more = size["ch"], len(size["mult"]), more or {}
    x = n.conv(x, "input_blocks.0.0", ch)
    x = x if hint is None else x + hint
    kept, at = [x], 1
    for i in range(levels):
        for _ in range(2):
            x = block(n, f"input_blocks.{at}", x, emb, context, ch * size["mult"][i], size["depth"][i], size)
            x = x + more.get(f"after_{at}", 0)
            kept, at = kept + [x], at + 1
        if i < levels - 1:
            x = n.conv(x, f"input_blocks.{at}.0.op", x.shape[1], stride=2)
            x = x + more.get(f"after_{at}", 0)
            kept, at = kept + [x], at + 1
    x = res(n.at("middle_block.0."), x, emb, x.shape[1])
    x = transformer(n.at("middle_block.1."), x, context, size["middle"], size)
    return kept, res(n.at("middle_block.2."), x, emb, x.shape[1])


def unet(n, x, t, context, y, size, more=None):
    ch, levels, more = size["ch"], len(size["mult"]), more or {}
    emb = embed(n, t, y, size)
    kept, x = way_down(n, x, emb, context, size, None, more)
    x = x + more.get("middle", 0)
    kept, at = [v + more.get(f"late_{i}", 0) for i, v in enumerate(kept)], 0
    for i in reversed(range(levels)):
        for k in range(3):
            x = torch.cat([x, kept.pop()], 1)
            x = block(n, f"output_blocks.{at}", x, emb, context, ch * size["mult"][i], size["depth"][i], size)
            if k == 2 and i:
                x = F.interpolate(x, size=kept[-1].shape[2:], mode="nearest")
                x = n.conv(x, f"output_blocks.{at}.{2 if size['depth'][i] else 1}.conv", x.shape[1])
            at += 1
    return n.conv(F.silu(n.group_norm(x, "out.0", 1e-5)), "out.2", 4)


SD15 = dict(ch=32, mult=(1, 1), depth=(1, 1), middle=1, heads=8, head=0, linear=False)
SDXL = dict(ch=32, mult=(1, 1), depth=(0, 1), middle=1, heads=0, head=16, linear=True)


def main():
    for name, size, y, h in (("sd15_unet_ch32", SD15, None, 10), ("sdxl_unet_ch32", SDXL, files.values(4, 2, 48), 16)):
        n = Net(1, net.FP8)
        x, t, c = files.values(2, 2, 4, h, 12), torch.tensor([981.0, 17.0]), files.values(3, 2, 9, 40)
        out = unet(n.at("model.diffusion_model."), x, t, c, None if y is None else y.float().double(), size)
        net.save(name, n, x=x, timestep=t, context=c, out=out, **({} if y is None else {"y": y}))


if __name__ == "__main__":
    main()
