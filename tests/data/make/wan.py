# Wan's transformers: synth/wan_t2v_d256, synth/wan_i2v_d256, synth/wan22_ti2v_d256, and what pipeline.py takes.
import torch
import torch.nn.functional as F

import files
import net
from net import Net

HEAD = 128


def attend(n, x, of, at=None, pictures=None):
    c = x.shape[-1]
    q, k = n.rms(n.linear(x, "q", c), "norm_q.weight"), n.rms(n.linear(of, "k", c), "norm_k.weight")
    q, k, v = (net.heads(t, c // HEAD) for t in (q, k, n.linear(of, "v", c)))
    if at is not None:
        q, k = net.rotate(q, at), net.rotate(k, at)
    out = net.attention(q, k, v)
    if pictures is not None:
        k = n.rms(n.linear(pictures, "k_img", c), "norm_k_img.weight")
        out = out + net.attention(q, *(net.heads(t, c // HEAD) for t in (k, n.linear(pictures, "v_img", c))))
    return n.linear(out, "o", c)


def modulation(n, count, c, e):
    """e [B,tokens or 1,count,c]"""
    return (n("modulation", 1, count, c, spread=c ** -0.5)[:, None] + e).unbind(2)


def block(n, x, e, text, pictures, at, ff):
    c = x.shape[-1]
    m = modulation(n, 6, c, e)
    u = net.plain_norm(x) * (1 + m[1]) + m[0]
    x = x + m[2] * attend(n.at("self_attn."), u, u, at)
    x = x + attend(n.at("cross_attn."), n.layer_norm(x, "norm3", 1e-6), text, None, pictures)
    u = net.gelu_tanh(n.linear(net.plain_norm(x) * (1 + m[4]) + m[3], "ffn.0", ff))
    return x + m[5] * n.linear(u, "ffn.2", c)


def image_tokens(n, states, c):
    x = n.layer_norm(states, "proj.0")
    return n.layer_norm(n.linear(F.gelu(n.linear(x, "proj.1", states.shape[-1])), "proj.3", c), "proj.4")


def wan(n, x, t, context, out, c=HEAD, ff=160, layers=1, vision=None):
    """t [B], or [B,frames]: a time step a frame"""
    b, z, frames, h, w = x.shape
    rows, cols = h // 2, w // 2
    weight = n("patch_embedding.weight", c, z, 1, 2, 2, spread=(4 * z) ** -0.5)
    x = F.conv3d(x, weight, n("patch_embedding.bias", c, spread=0.1), (1, 2, 2)).flatten(2).transpose(1, 2)
    t = t[:, None] if t.dim() == 1 else t.repeat_interleave(rows * cols, 1)
    e = n.linear(F.silu(n.linear(net.wave(t, 256), "time_embedding.0", c)), "time_embedding.2", c)
    e6 = n.linear(F.silu(e), "time_projection.1", 6 * c).unflatten(-1, (6, c))
    text = n.linear(net.gelu_tanh(n.linear(context, "text_embedding.0", c)), "text_embedding.2", c)
    pictures = None if vision is None else image_tokens(n.at("img_emb."), vision, c)
    grid = torch.cartesian_prod(torch.arange(frames), torch.arange(rows), torch.arange(cols))
    at = net.angles(grid, (HEAD - 4 * (HEAD // 6), 2 * (HEAD // 6), 2 * (HEAD // 6)))
    for i in range(layers):
        x = block(n.at(f"blocks.{i}."), x, e6, text, pictures, at, ff)
    shift, scale = modulation(n.at("head."), 2, c, e[:, :, None])
    x = n.linear(net.plain_norm(x) * (1 + scale) + shift, "head.head", 4 * out)
    return x.view(b, frames, rows, cols, 2, 2, out).permute(0, 6, 1, 2, 4, 3, 5).reshape(b, out, frames, h, w)


def main():
    context = files.values(12, 1, 7, 24).float().double()
    for name, z, out, size in (("wan_t2v_d256", 16, 16, dict(ff=96)), ("wan_i2v_d256", 36, 16, {}),
                               ("wan22_ti2v_d256", 48, 48, {})):
        n, x = Net(11, net.FP8), files.values(13, 1, z, 3, 6, 8).float().double()
        io = {"x": x, "context": context, "timestep": torch.tensor([731.0])}
        if z == 36:
            io["clip_fea"] = files.values(14, 1, 6, 48).float().double()
        io["out"] = wan(n, x, io["timestep"], context, out, vision=io.get("clip_fea"), **size)
        if z == 48:
            io["timestep_per_frame"] = torch.tensor([[0.0, 731.0, 731.0]])
            io["out_per_frame"] = wan(n, x, io["timestep_per_frame"], context, out, **size)
        net.save(name, n, **io)


if __name__ == "__main__":
    main()
