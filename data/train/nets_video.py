# The networks of the demo's text-to-video model in torch, with the tensor names and the arithmetic
# of the real ones: Wan 2.1's transformer and its causal video autoencoder. Only the sizes are small.
import torch
import torch.nn.functional as F
from torch import nn

import nets
from nets import Rms, named

# ---- the autoencoder ------------------------------------------------------------------------------


class Causal(nn.Conv3d):
    """Sees no frame behind its own: all padding in time is in front."""

    def __init__(self, cin, cout, k=3):
        super().__init__(cin, cout, k, padding=(0, k // 2, k // 2))
        self.before = k - 1

    def forward(self, x):
        return super().forward(F.pad(x, (0, 0, 0, 0, self.before, 0)))


class Norm(nn.Module):
    """RMS over the channels of each pixel."""

    def __init__(self, c, axes=3):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(c, *[1] * axes))

    def forward(self, x):
        return F.normalize(x, dim=1) * x.shape[1] ** 0.5 * self.gamma


class Residual(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.residual = nn.Sequential(Norm(cin), nn.SiLU(), Causal(cin, cout), Norm(cout), nn.SiLU(), nn.Identity(),
                                      Causal(cout, cout))
        if cin != cout:
            self.shortcut = Causal(cin, cout, 1)

    def forward(self, x):
        return self.residual(x) + (self.shortcut(x) if hasattr(self, "shortcut") else x)


def by_frame(f, x):
    """A function of pictures on every frame of [B,C,T,H,W]."""
    b, _, t, _, _ = x.shape
    y = f(x.transpose(1, 2).flatten(0, 1))
    return y.view(b, t, *y.shape[1:]).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm, self.to_qkv, self.proj = Norm(c, 2), nn.Conv2d(c, 3 * c, 1), nn.Conv2d(c, c, 1)

    def attend(self, x):
        q, k, v = self.to_qkv(self.norm(x)).flatten(2).transpose(1, 2).chunk(3, -1)
        a = torch.softmax(q @ k.transpose(1, 2) * x.shape[1] ** -0.5, -1) @ v
        return x + self.proj(a.transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        return by_frame(self.attend, x)


class Down(nn.Module):
    def __init__(self, c, in_time):
        super().__init__()
        self.resample = nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(c, c, 3, stride=2))
        if in_time:
            self.time_conv = nn.Conv3d(c, c, (3, 1, 1), stride=(2, 1, 1))

    def forward(self, x):
        x = by_frame(self.resample, x)
        return torch.cat([x[:, :, :1], self.time_conv(x)], 2) if hasattr(self, "time_conv") else x


class Up(nn.Module):
    def __init__(self, c, in_time):
        super().__init__()
        self.resample = nn.Sequential(nn.Upsample(scale_factor=2.0, mode="nearest"), nn.Conv2d(c, c // 2, 3, padding=1))
        if in_time:
            self.time_conv = nn.Conv3d(c, 2 * c, (3, 1, 1))

    def forward(self, x):
        if hasattr(self, "time_conv"):  # every frame but the first becomes two
            b, c, t, h, w = x.shape
            y = self.time_conv(F.pad(x[:, :, 1:], (0, 0, 0, 0, 2, 0)))
            y = y.view(b, 2, c, t - 1, h, w).permute(0, 2, 3, 1, 4, 5).reshape(b, c, 2 * (t - 1), h, w)
            x = torch.cat([x[:, :, :1], y], 2)
        return by_frame(self.resample, x)


def middle(c):
    return nn.Sequential(Residual(c, c), Attention(c), Residual(c, c))


def head(cin, cout):
    return nn.Sequential(Norm(cin), nn.SiLU(), Causal(cin, cout))


class Encoder(nn.Module):
    def __init__(self, c, mult, z, blocks, in_time):
        super().__init__()
        dims = [c] + [c * m for m in mult]
        self.conv1 = Causal(3, dims[0])
        steps = []
        for i, (cin, cout) in enumerate(zip(dims, dims[1:])):
            steps += [Residual(cin if k == 0 else cout, cout) for k in range(blocks)]
            steps += [Down(cout, in_time[i])] if i < len(mult) - 1 else []
        self.downsamples, self.middle, self.head = nn.Sequential(*steps), middle(dims[-1]), head(dims[-1], 2 * z)

    def forward(self, x):
        return self.head(self.middle(self.downsamples(self.conv1(x))))


class Decoder(nn.Module):
    def __init__(self, c, mult, z, blocks, in_time):
        super().__init__()
        dims = [c * m for m in (mult[-1], *reversed(mult))]
        self.conv1, self.middle = Causal(z, dims[0]), middle(dims[0])
        steps = []
        for i, (cin, cout) in enumerate(zip(dims, dims[1:])):
            cin = cin // 2 if i else cin  # what enlarges halves the channels
            steps += [Residual(cin if k == 0 else cout, cout) for k in range(blocks + 1)]
            steps += [Up(cout, in_time[-1 - i])] if i < len(mult) - 1 else []
        self.upsamples, self.head = nn.Sequential(*steps), head(dims[-1], 3)

    def forward(self, x):
        return self.head(self.upsamples(self.middle(self.conv1(x))))


class WanVae(nn.Module):
    """Two halves, which train apart; a file has both under one prefix."""
    SIZES = dict(c=16, mult=(1, 2, 2, 2), z=16, blocks=1, in_time=(False, True, True))
    # of Wan 2.1's latents, applied by the sampler
    MEAN = torch.tensor([-0.7571, -0.7089, -0.9113, 0.1075, -0.1745, 0.9653, -0.1517, 1.5508, 0.4134, -0.0715, 0.5517,
                         -0.3632, -0.1922, -0.9497, 0.2503, -0.2921]).view(-1, 1, 1, 1)
    STD = torch.tensor([2.8184, 1.4541, 2.3275, 2.6558, 1.2196, 1.7708, 2.6052, 2.0743, 3.2687, 2.1526, 2.8652, 1.5579,
                        1.6382, 1.1253, 2.8251, 1.9160]).view(-1, 1, 1, 1)

    class Encode(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = Encoder(**WanVae.SIZES)
            self.conv1 = Causal(2 * 16, 2 * 16, 1)

        def forward(self, x):  # [B,3,T,H,W] in 0..1 to the transformer's space
            return (self.conv1(self.encoder(2 * x - 1)).chunk(2, 1)[0] - WanVae.MEAN) / WanVae.STD

    class Decode(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv2 = Causal(16, 16, 1)
            self.decoder = Decoder(**WanVae.SIZES)

        def forward(self, z):
            return self.decoder(self.conv2(z * WanVae.STD + WanVae.MEAN)) / 2 + 0.5

    def __init__(self):
        super().__init__()
        self.encode, self.decode = WanVae.Encode(), WanVae.Decode()

    def tensors(self):
        return {**self.encode.state_dict(), **self.decode.state_dict()}


# ---- the transformer ------------------------------------------------------------------------------

HEAD = 128  # channels of a head, in every model


def rope(t, h, w):
    """cos and sin [t*h*w,64] of frame, row and column."""
    side = HEAD // 6 * 2
    at = torch.stack(torch.meshgrid(*(torch.arange(n, dtype=torch.float64) for n in (t, h, w)), indexing="ij"), -1).view(-1, 3)
    parts = []
    for axis, d in enumerate((HEAD - 2 * side, side, side)):
        parts.append(at[:, axis, None] * 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d))
    a = torch.cat(parts, -1)
    return a.cos().float(), a.sin().float()


class Attend(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(c, c) for _ in range(4))
        self.norm_q, self.norm_k = Rms(c), Rms(c)

    def forward(self, x, of, cs=None, keys=0.0):
        b, n, c = x.shape
        q, k, v = (t.view(b, -1, c // HEAD, HEAD).transpose(1, 2)
                   for t in (self.norm_q(self.q(x)), self.norm_k(self.k(of)), self.v(of)))
        if cs:
            q, k = nets.rotate(q, cs), nets.rotate(k, cs)
        s = q @ k.transpose(-1, -2) * HEAD ** -0.5 + keys
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


class Block(nn.Module):
    def __init__(self, c, ff):
        super().__init__()
        self.modulation = nn.Parameter(torch.randn(1, 6, c) / c ** 0.5)
        self.self_attn, self.norm3, self.cross_attn = Attend(c), nn.LayerNorm(c, eps=1e-6), Attend(c)
        self.ffn = nn.Sequential(nn.Linear(c, ff), nn.GELU(approximate="tanh"), nn.Linear(ff, c))

    def forward(self, x, mods, text, cs, keys):
        m = (self.modulation + mods).chunk(6, 1)
        u = F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + m[1]) + m[0]
        x = x + m[2] * self.self_attn(u, u, cs)
        x = x + self.cross_attn(self.norm3(x), text, None, keys)
        u = F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + m[4]) + m[3]
        return x + m[5] * self.ffn(u)


class Head(nn.Module):
    def __init__(self, c, out):
        super().__init__()
        self.modulation, self.head = nn.Parameter(torch.randn(1, 2, c) / c ** 0.5), nn.Linear(c, out)
        nn.init.zeros_(self.head.weight), nn.init.zeros_(self.head.bias)

    def forward(self, x, e):
        m = (self.modulation + e[:, None]).chunk(2, 1)
        return self.head(F.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + m[1]) + m[0])


class Wan(nn.Module):
    def __init__(self, z=16, c=HEAD, ff=384, layers=5, context=64):
        super().__init__()
        self.patch_embedding = nn.Conv3d(z, c, (1, 2, 2), stride=(1, 2, 2))
        self.text_embedding = nn.Sequential(nn.Linear(context, c), nn.GELU(approximate="tanh"), nn.Linear(c, c))
        self.time_embedding = nn.Sequential(nn.Linear(256, c), nn.SiLU(), nn.Linear(c, c))
        self.time_projection = nn.Sequential(nn.SiLU(), nn.Linear(c, 6 * c))
        nn.init.zeros_(self.time_projection[1].weight), nn.init.zeros_(self.time_projection[1].bias)
        self.blocks = nn.ModuleList([Block(c, ff) for _ in range(layers)])
        self.head = Head(c, 4 * z)

    def forward(self, x, t, context, keys):  # x [B,z,T,H,W]; keys [B,1,1,n]: added to the scores of the text
        b, z, n, h, w = x.shape
        e = self.time_embedding(nets.wave(t))
        mods = self.time_projection(e).view(b, 6, -1)
        text, cs = self.text_embedding(context), rope(n, h // 2, w // 2)
        x = self.patch_embedding(x).flatten(2).transpose(1, 2)
        for block in self.blocks:
            x = block(x, mods, text, cs, keys)
        x = self.head(x, e).view(b, n, h // 2, w // 2, 2, 2, z)
        return x.permute(0, 6, 1, 2, 4, 3, 5).reshape(b, z, n, h, w)
