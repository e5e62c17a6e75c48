# The networks of the demo models in torch, with the tensor names and the arithmetic of the real
# ones: AutoencoderKL, FLUX.1, CLIP-L and T5 v1.1. Only the sizes are small.
import math

import torch
import torch.nn.functional as F
from torch import nn


def named(**parts):
    return nn.ModuleDict(parts)


# ---- AutoencoderKL ------------------------------------------------------------------------------

def norm(c):
    return nn.GroupNorm(32, c, eps=1e-6)


class Resnet(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm1, self.conv1 = norm(c), nn.Conv2d(c, c, 3, padding=1)
        self.norm2, self.conv2 = norm(c), nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        return x + self.conv2(F.silu(self.norm2(self.conv1(F.silu(self.norm1(x))))))


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm = norm(c)
        self.q, self.k, self.v, self.proj_out = (nn.Conv2d(c, c, 1) for _ in range(4))

    def forward(self, x):
        b, c, h, w = x.shape
        n = self.norm(x)
        q, k, v = (f(n).flatten(2).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = torch.softmax(q @ k.transpose(1, 2) * c ** -0.5, -1) @ v
        return x + self.proj_out(a.transpose(1, 2).reshape(b, c, h, w))


def middle(c):
    return named(block_1=Resnet(c), attn_1=Attention(c), block_2=Resnet(c))


def through(mid, x):
    return mid["block_2"](mid["attn_1"](mid["block_1"](x)))


class Encoder(nn.Module):
    def __init__(self, c, z, levels=4):
        super().__init__()
        self.conv_in = nn.Conv2d(3, c, 3, padding=1)
        self.down = nn.ModuleList()
        for i in range(levels):
            level = named(block=nn.ModuleList([Resnet(c)]))
            if i < levels - 1:
                level["downsample"] = named(conv=nn.Conv2d(c, c, 3, stride=2))
            self.down.append(level)
        self.mid = middle(c)
        self.norm_out, self.conv_out = norm(c), nn.Conv2d(c, 2 * z, 3, padding=1)

    def forward(self, x):
        x = self.conv_in(2 * x - 1)
        for level in self.down:
            x = level["block"][0](x)
            if "downsample" in level:
                x = level["downsample"]["conv"](F.pad(x, (0, 1, 0, 1)))
        x = self.conv_out(F.silu(self.norm_out(through(self.mid, x))))
        return x.chunk(2, 1)[0]


class Decoder(nn.Module):
    def __init__(self, c, z, levels=4):
        super().__init__()
        self.conv_in = nn.Conv2d(z, c, 3, padding=1)
        self.mid = middle(c)
        self.up = nn.ModuleList()
        for i in range(levels):
            level = named(block=nn.ModuleList([Resnet(c)]))
            if i > 0:
                level["upsample"] = named(conv=nn.Conv2d(c, c, 3, padding=1))
            self.up.append(level)
        self.norm_out, self.conv_out = norm(c), nn.Conv2d(c, 3, 3, padding=1)

    def forward(self, z):
        x = through(self.mid, self.conv_in(z))
        for level in reversed(self.up):
            x = level["block"][0](x)
            if "upsample" in level:
                x = level["upsample"]["conv"](F.interpolate(x, scale_factor=2.0))
        return self.conv_out(F.silu(self.norm_out(x))) / 2 + 0.5


class Autoencoder(nn.Module):
    SCALE, SHIFT = 0.3611, 0.1159  # of FLUX.1's latents, applied by the sampler

    def __init__(self, c=64, z=16):
        super().__init__()
        self.encoder, self.decoder = Encoder(c, z), Decoder(c, z)


# ---- text ---------------------------------------------------------------------------------------

class ClipLayer(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.heads = heads
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.self_attn = named(**{p: nn.Linear(c, c) for p in ("q_proj", "k_proj", "v_proj", "out_proj")})
        self.mlp = named(fc1=nn.Linear(c, 4 * c), fc2=nn.Linear(4 * c, c))

    def forward(self, x, mask):
        b, n, c = x.shape
        u, a = self.layer_norm1(x), self.self_attn
        q, k, v = (a[p](u).view(b, n, self.heads, -1).transpose(1, 2) for p in ("q_proj", "k_proj", "v_proj"))
        s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + mask
        x = x + a["out_proj"]((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))
        u = self.mlp["fc1"](self.layer_norm2(x))
        return x + self.mlp["fc2"](u * torch.sigmoid(1.702 * u))


class Clip(nn.Module):
    """CLIP-L; forward gives the pooled vector: the row of the end token after the last norm."""

    head_channels = 16  # small ones look more closely; the file's metadata says so

    def __init__(self, vocab, c=64, layers=3):
        super().__init__()
        self.text_model = named(
            embeddings=named(token_embedding=nn.Embedding(vocab, c), position_embedding=nn.Embedding(77, c)),
            encoder=named(layers=nn.ModuleList([ClipLayer(c, c // self.head_channels) for _ in range(layers)])),
            final_layer_norm=nn.LayerNorm(c))

    def forward(self, ids, end):  # ids [B,n], end [B]: where the end token is
        t = self.text_model
        n = ids.shape[1]
        x = t["embeddings"]["token_embedding"](ids) + t["embeddings"]["position_embedding"].weight[:n]
        mask = torch.full((n, n), -1e9).triu(1)
        for layer in t["encoder"]["layers"]:
            x = layer(x, mask)
        return t["final_layer_norm"](x)[torch.arange(len(ids)), end]


class Rms(nn.Module):
    def __init__(self, c, key="weight"):
        super().__init__()
        self.key = key
        self.register_parameter(key, nn.Parameter(torch.ones(c)))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * getattr(self, self.key)


class T5Block(nn.Module):
    def __init__(self, c, heads, ff, has_bias):
        super().__init__()
        self.heads = heads
        attn = named(**{p: nn.Linear(c, c, bias=False) for p in "qkvo"})
        if has_bias:
            attn["relative_attention_bias"] = nn.Embedding(32, heads)
        dense = named(wi_0=nn.Linear(c, ff, bias=False), wi_1=nn.Linear(c, ff, bias=False),
                      wo=nn.Linear(ff, c, bias=False))
        self.layer = nn.ModuleList([named(SelfAttention=attn, layer_norm=Rms(c)),
                                    named(DenseReluDense=dense, layer_norm=Rms(c))])

    def forward(self, x, bias):
        b, n, c = x.shape
        a, u = self.layer[0]["SelfAttention"], self.layer[0]["layer_norm"](x)
        q, k, v = (a[p](u).view(b, n, self.heads, -1).transpose(1, 2) for p in "qkv")
        x = x + a["o"](((q @ k.transpose(-1, -2) + bias).softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))
        d, u = self.layer[1]["DenseReluDense"], self.layer[1]["layer_norm"](x)
        return x + d["wo"](F.gelu(d["wi_0"](u), approximate="tanh") * d["wi_1"](u))


class T5(nn.Module):
    """T5 v1.1 encoder, or UMT5 (a bias in every block). The demo's T5 has no bias at all: order is
    CLIP's part, and phrases that need it are pieces of their own. All padding then has the same
    vector, so that training keeps one of them and adds the logarithm of their number to its key."""

    def __init__(self, vocab, c=64, heads=4, ff=160, layers=2, every=False):
        super().__init__()
        self.every = every
        self.shared = nn.Embedding(vocab, c)
        self.encoder = named(block=nn.ModuleList([T5Block(c, heads, ff, every or i == 0) for i in range(layers)]),
                             final_layer_norm=Rms(c))
        for block in self.encoder["block"]:
            a = block.layer[0]["SelfAttention"]
            if "relative_attention_bias" in a:
                nn.init.zeros_(a["relative_attention_bias"].weight)
                a["relative_attention_bias"].weight.requires_grad = every

    @staticmethod
    def buckets(n):
        rel = torch.arange(n)[None] - torch.arange(n)[:, None]  # key - query
        a = rel.abs()
        far = 8 + (torch.log(a.clamp(min=8) / 8) / math.log(16) * 8).long().clamp(max=7)
        return torch.where(rel > 0, 16, 0) + torch.where(a < 8, a, far)

    def forward(self, ids, keys):  # keys [B,1,1,n]: added to the scores of a key
        x, b = self.shared(ids), self.buckets(ids.shape[1])
        for block in self.encoder["block"]:
            bias = keys
            if self.every:
                bias = bias + block.layer[0]["SelfAttention"]["relative_attention_bias"](b).permute(2, 0, 1)
            x = block(x, bias)
        return self.encoder["final_layer_norm"](x)


# ---- FLUX.1 -------------------------------------------------------------------------------------

def wave(t, dim=256):
    k = torch.arange(dim // 2, dtype=torch.float32)
    a = t[:, None] * 1000.0 * torch.exp(-math.log(10000.0) * k / (dim // 2))
    return torch.cat([a.cos(), a.sin()], -1)


def mlp_in(cin, c):
    return named(in_layer=nn.Linear(cin, c), out_layer=nn.Linear(c, c))


def embed(m, x):
    return m["out_layer"](F.silu(m["in_layer"](x)))


def rope(h, w, n_txt, depth):
    """cos and sin [tokens, depth/2]; text is at (0,0,0), picture tokens at (0,row,column)."""
    pos = torch.zeros(n_txt + h * w, 3, dtype=torch.float64)
    pos[n_txt:, 1] = torch.arange(h).repeat_interleave(w)
    pos[n_txt:, 2] = torch.arange(w).repeat(h)
    first = depth // 8
    parts = []
    for axis, d in enumerate((first, (depth - first) // 2, (depth - first) // 2)):
        f = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        parts.append(pos[:, axis, None] * f)
    a = torch.cat(parts, -1)
    return a.cos().float(), a.sin().float()


def rotate(x, cs):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cs[0] - b * cs[1], a * cs[1] + b * cs[0]], -1).flatten(-2)


def attend(q, k, v, cs, keys):
    q, k = rotate(q, cs), rotate(k, cs)
    s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + keys
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


def qk_norm(depth):
    return named(query_norm=Rms(depth, "scale"), key_norm=Rms(depth, "scale"))


def heads_of(qkv, heads, norms):
    b, n, _ = qkv.shape
    q, k, v = qkv.view(b, n, 3, heads, -1).permute(2, 0, 3, 1, 4)
    return norms["query_norm"](q), norms["key_norm"](k), v


class Double(nn.Module):
    def __init__(self, c, heads, ratio):
        super().__init__()
        self.heads = heads
        for s in ("img", "txt"):
            self.add_module(s + "_mod", named(lin=nn.Linear(c, 6 * c)))
            self.add_module(s + "_attn", named(qkv=nn.Linear(c, 3 * c), norm=qk_norm(c // heads), proj=nn.Linear(c, c)))
            self.add_module(s + "_mlp", nn.Sequential(nn.Linear(c, ratio * c), nn.GELU(approximate="tanh"),
                                                      nn.Linear(ratio * c, c)))

    def forward(self, img, txt, vec, cs, keys):
        n = txt.shape[1]
        m = {s: getattr(self, s + "_mod")["lin"](vec)[:, None].chunk(6, -1) for s in ("img", "txt")}
        x = {"img": img, "txt": txt}
        parts = []
        for s in ("txt", "img"):
            a = getattr(self, s + "_attn")
            u = F.layer_norm(x[s], x[s].shape[-1:], eps=1e-6) * (1 + m[s][1]) + m[s][0]
            parts.append(heads_of(a["qkv"](u), self.heads, a["norm"]))
        q, k, v = (torch.cat(p, 2) for p in zip(*parts))
        o = attend(q, k, v, cs, keys)
        for s, part in (("txt", o[:, :n]), ("img", o[:, n:])):
            y = x[s] + m[s][2] * getattr(self, s + "_attn")["proj"](part)
            u = F.layer_norm(y, y.shape[-1:], eps=1e-6) * (1 + m[s][4]) + m[s][3]
            x[s] = y + m[s][5] * getattr(self, s + "_mlp")(u)
        return x["img"], x["txt"]


class Single(nn.Module):
    def __init__(self, c, heads, ratio):
        super().__init__()
        self.heads, self.c = heads, c
        self.linear1, self.linear2 = nn.Linear(c, (3 + ratio) * c), nn.Linear((1 + ratio) * c, c)
        self.norm, self.modulation = qk_norm(c // heads), named(lin=nn.Linear(c, 3 * c))

    def forward(self, x, vec, cs, keys):
        shift, scale, gate = self.modulation["lin"](vec)[:, None].chunk(3, -1)
        u = self.linear1(F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale) + shift)
        a = attend(*heads_of(u[..., :3 * self.c], self.heads, self.norm), cs, keys)
        return x + gate * self.linear2(torch.cat([a, F.gelu(u[..., 3 * self.c:], approximate="tanh")], -1))


class Flux(nn.Module):
    def __init__(self, z=16, c=128, heads=2, context=64, pooled=64, double=1, single=3, ratio=3):
        super().__init__()
        self.c, self.heads = c, heads
        self.img_in, self.txt_in = nn.Linear(4 * z, c), nn.Linear(context, c)
        self.time_in, self.vector_in = mlp_in(256, c), mlp_in(pooled, c)
        self.double_blocks = nn.ModuleList([Double(c, heads, ratio) for _ in range(double)])
        self.single_blocks = nn.ModuleList([Single(c, heads, ratio) for _ in range(single)])
        self.final_layer = named(linear=nn.Linear(c, 4 * z),
                                 adaLN_modulation=nn.Sequential(nn.SiLU(), nn.Linear(c, 2 * c)))
        for p in (self.final_layer["linear"], self.final_layer["adaLN_modulation"][1]):
            nn.init.zeros_(p.weight), nn.init.zeros_(p.bias)
        for b in self.double_blocks:
            for m in (b.img_mod, b.txt_mod):
                nn.init.zeros_(m["lin"].weight), nn.init.zeros_(m["lin"].bias)
        for b in self.single_blocks:
            nn.init.zeros_(b.modulation["lin"].weight), nn.init.zeros_(b.modulation["lin"].bias)

    def forward(self, x, t, context, pooled, keys):  # x [B,z,H,W]; keys [B,1,1,n_txt]
        b, z, h, w = x.shape
        tok = x.view(b, z, h // 2, 2, w // 2, 2).permute(0, 2, 4, 1, 3, 5).reshape(b, -1, 4 * z)
        img, txt = self.img_in(tok), self.txt_in(context)
        vec = embed(self.time_in, wave(t)) + embed(self.vector_in, pooled)
        act = F.silu(vec)
        n = txt.shape[1]
        cs = rope(h // 2, w // 2, n, self.c // self.heads)
        keys = torch.cat([keys, keys.new_zeros(b, 1, 1, img.shape[1])], -1)
        for block in self.double_blocks:
            img, txt = block(img, txt, act, cs, keys)
        x = torch.cat([txt, img], 1)
        for block in self.single_blocks:
            x = block(x, act, cs, keys)
        x = x[:, n:]
        shift, scale = self.final_layer["adaLN_modulation"](vec)[:, None].chunk(2, -1)
        x = self.final_layer["linear"](F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale) + shift)
        return x.view(b, h // 2, w // 2, z, 2, 2).permute(0, 3, 1, 4, 2, 5).reshape(b, z, h, w)
