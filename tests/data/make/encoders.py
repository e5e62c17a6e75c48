# Text encoders on token ids: synth/clip_g_h32, synth/t5_d32, synth/umt5_d32.
import math

import torch
import torch.nn.functional as F

import files
import net
from net import Net

END = 49407


def quick_gelu(x):
    return x * torch.sigmoid(1.702 * x)


def clip(n, ids, c, layers, count, vocab, activation):
    """The states before and after each layer, and the last of them normed."""
    t = n.at("text_model.")
    x = t("embeddings.token_embedding.weight", vocab, c, spread=0.5)[ids]
    x = x + t("embeddings.position_embedding.weight", 77, c, spread=0.5)[:ids.shape[1]]
    ahead = torch.full((ids.shape[1], ids.shape[1]), -math.inf, dtype=torch.float64).triu(1)
    states = [x]
    for i in range(layers):
        m = t.at(f"encoder.layers.{i}.")
        u = m.layer_norm(x, "layer_norm1")
        q, k, v = (net.heads(m.linear(u, f"self_attn.{p}_proj", c, gain=2), count) for p in "qkv")
        x = x + m.linear(net.attention(q, k, v, ahead), "self_attn.out_proj", c)
        x = x + m.linear(activation(m.linear(m.layer_norm(x, "layer_norm2"), "mlp.fc1", 4 * c)), "mlp.fc2", c)
        states.append(x)
    return states, t.layer_norm(x, "final_layer_norm")


def bucket(far):
    """of a distance: exact up to 7, then logarithmic up to 128; those ahead have a half of their own"""
    a = abs(far)
    b = a if a < 8 else min(15, 8 + int(math.log(a / 8) / math.log(16) * 8))
    return b + (16 if far > 0 else 0)


def t5(n, ids, c, layers, count, ff, vocab, every, attend=None):
    x = n("shared.weight", vocab, c)[ids]
    size = ids.shape[1]
    at = torch.tensor([[bucket(k - q) for k in range(size)] for q in range(size)])
    keys = 0.0 if attend is None else torch.where(attend.bool(), 0.0, -math.inf).double()
    for i in range(layers):
        m = n.at(f"encoder.block.{i}.")
        if every or i == 0:
            bias = m("layer.0.SelfAttention.relative_attention_bias.weight", 32, count)[at].permute(2, 0, 1)
        u = m.rms(x, "layer.0.layer_norm.weight")
        q, k, v = (net.heads(m.linear(u, f"layer.0.SelfAttention.{p}", c, bias=False), count) for p in "qkv")
        x = x + m.linear(net.attention(q, k, v, bias + keys, 1.0), "layer.0.SelfAttention.o", c, bias=False)
        u, d = m.rms(x, "layer.1.layer_norm.weight"), m.at("layer.1.DenseReluDense.")
        x = x + d.linear(net.gelu_tanh(d.linear(u, "wi_0", ff, False)) * d.linear(u, "wi_1", ff, False), "wo", c, False)
    return n.rms(x, "encoder.final_layer_norm.weight")


def ids_of(seed, count, size, vocab, end, pad):
    """count ids, the end, and pads"""
    some = torch.randint(3, vocab, (1, count), generator=torch.Generator().manual_seed(seed))
    return torch.cat([some, torch.tensor([[end] + [pad] * (size - count - 1)])], 1)


def main():
    # ids as published vocabularies have them would need their tables; the last of a small one stands for the end
    n, vocab = Net(5), 300
    ids = ids_of(6, 20, 77, vocab - 1, vocab - 1, 0)
    states, normed = clip(n, ids, 32, 4, 4, vocab, F.gelu)
    pooled = normed[:, 20]
    projected = F.linear(pooled, n("text_projection.weight", 32, 32, spread=0.2))
    net.save("clip_g_h32", n, ids=ids.int(), last_hidden_normed=normed, penultimate_raw=states[-2],
             pooled_unprojected=pooled, pooled_projected=projected)
    for name, every in (("t5_d32", False), ("umt5_d32", True)):
        n, ids = Net(7, torch.bfloat16 if every else torch.float16), ids_of(8, 11, 64, 256, 1, 0)
        mask = (torch.arange(64) <= 11).int()[None]
        size = dict(c=32, layers=3, count=4, ff=64, vocab=256, every=every)
        net.save(name, n, ids=ids.int(), mask=mask, out_no_mask=t5(n, ids, **size),
                 out_masked=t5(n, ids, **size, attend=mask))


if __name__ == "__main__":
    main()
