#!/usr/bin/python3
"""The blocks of `bench/networks --only Flux` in PyTorch: one double and one single block of FLUX.1 (3072 channels, 24
heads of 128), 1024 image and 256 text tokens, f32, random weights. In turn with bench/networks the two compare.

  bench/flux_torch.py [THREADS [ROUNDS]]     Debian's python3-torch uses OpenBLAS: OPENBLAS_CORETYPE as in bench/kernels.c
"""
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, DEPTH, MLP, IMAGE, TEXT = 3072, 24, 128, 12288, 1024, 256


class QKNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(DEPTH))

    def forward(self, x):
        return x * torch.rsqrt(torch.mean(x * x, -1, keepdim=True) + 1e-6) * self.scale


def rope(x, angles):
    pairs = x.reshape(*x.shape[:-1], -1, 1, 2)
    return (angles[..., 0] * pairs[..., 0] + angles[..., 1] * pairs[..., 1]).reshape(x.shape)


def attention(q, k, v, angles):
    weights = torch.softmax(rope(q, angles) @ rope(k, angles).transpose(-1, -2) / math.sqrt(DEPTH), -1)
    return (weights @ v).transpose(1, 2).reshape(q.shape[0], -1, WIDTH)


def heads(x):
    return x.view(x.shape[0], x.shape[1], 3, HEADS, DEPTH).permute(2, 0, 3, 1, 4)


def norm(x, shift, scale):
    return (1 + scale) * F.layer_norm(x, (WIDTH,), eps=1e-6) + shift


class Stream(nn.Module):
    """What a double block has for the image and for the text."""
    def __init__(self):
        super().__init__()
        self.mod, self.qkv, self.proj = nn.Linear(WIDTH, 6 * WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, MLP), nn.GELU(approximate='tanh'), nn.Linear(MLP, WIDTH))
        self.q, self.k = QKNorm(), QKNorm()

    def before(self, x, m):
        q, k, v = heads(self.qkv(norm(x, m[0], m[1])))
        return self.q(q), self.k(k), v

    def after(self, x, a, m):
        x = x + m[2] * self.proj(a)
        return x + m[5] * self.mlp(norm(x, m[3], m[4]))


class Double(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = Stream(), Stream()

    def forward(self, image, text, vec, angles):
        mi, mt = (s.mod(F.silu(vec))[:, None].chunk(6, -1) for s in (self.image, self.text))
        both = zip(self.text.before(text, mt), self.image.before(image, mi))
        a = attention(*(torch.cat(pair, 2) for pair in both), angles)
        return self.image.after(image, a[:, TEXT:], mi), self.text.after(text, a[:, :TEXT], mt)


class Single(nn.Module):
    def __init__(self):
        super().__init__()
        self.mod, self.q, self.k = nn.Linear(WIDTH, 3 * WIDTH), QKNorm(), QKNorm()
        self.first, self.last = nn.Linear(WIDTH, 3 * WIDTH + MLP), nn.Linear(WIDTH + MLP, WIDTH)

    def forward(self, x, vec, angles):
        shift, scale, gate = self.mod(F.silu(vec))[:, None].chunk(3, -1)
        qkv, mlp = torch.split(self.first(norm(x, shift, scale)), [3 * WIDTH, MLP], -1)
        q, k, v = heads(qkv)
        a = attention(self.q(q), self.k(k), v, angles)
        return x + gate * self.last(torch.cat((a, F.gelu(mlp, approximate='tanh')), 2))


def main(threads=2, rounds=5):
    torch.set_num_threads(threads)
    double, single = Double().eval(), Single().eval()
    image, text, vec = torch.randn(1, IMAGE, WIDTH), torch.randn(1, TEXT, WIDTH), torch.randn(1, WIDTH)
    a = torch.rand(1, 1, IMAGE + TEXT, DEPTH // 2)
    angles = torch.stack((torch.cos(a), -torch.sin(a), torch.sin(a), torch.cos(a)), -1).unflatten(-1, (2, 2))
    seconds = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        with torch.no_grad():
            i, t = double(image, text, vec, angles)
            single(torch.cat((t, i), 1), vec, angles)
        seconds.append(time.perf_counter() - start)
    seconds = sorted(seconds[1:])
    print(f'torch {torch.__version__}, {threads} threads: {seconds[rounds // 2]:.3f} s, median of {rounds} '
          f'({seconds[0]:.3f} .. {seconds[-1]:.3f})')


main(*(int(n) for n in sys.argv[1:]))
