# What the networks here are written with: weights that come into being, random, where a network first uses them, so
# that its forward pass is also the list of its tensors. All arithmetic is in doubles, on values as they are stored.
import math

import torch
import torch.nn.functional as F

import files


FP8 = "fp8"


class Net:
    def __init__(self, seed, dtype=torch.float16, tensors=None, prefix=""):
        self.dtype, self.tensors, self.prefix = dtype, {} if tensors is None else tensors, prefix
        self.random = seed if isinstance(seed, torch.Generator) else torch.Generator().manual_seed(seed)

    def at(self, prefix, dtype=None):
        """The same weights below a name."""
        return Net(self.random, dtype or self.dtype, self.tensors, self.prefix + prefix)

    def __call__(self, name, *shape, spread=1.0, mean=0.0):
        name = self.prefix + name
        if name not in self.tensors:
            t = torch.randn(*shape, generator=self.random, dtype=torch.float64) * spread + mean
            self.tensors[name] = files.fp8_decoded(files.fp8_codes(t)) if self.dtype == FP8 else t.to(self.dtype)
        assert self.tensors[name].shape == shape, (name, self.tensors[name].shape, shape)
        return self.tensors[name].double()

    def linear(self, x, name, n, bias=True, gain=1.0):
        w = self(name + ".weight", n, x.shape[-1], spread=gain / math.sqrt(x.shape[-1]))
        return F.linear(x, w, self(name + ".bias", n, spread=0.1) if bias else None)

    def conv(self, x, name, n, k=3, stride=1, pad=None):
        c = x.shape[1]
        w = self(name + ".weight", n, c, k, k, spread=1 / math.sqrt(c * k * k))
        return F.conv2d(x, w, self(name + ".bias", n, spread=0.1), stride, k // 2 if pad is None else pad)

    def affine(self, name, n):
        return self(name + ".weight", n, spread=0.1, mean=1), self(name + ".bias", n, spread=0.1)

    def group_norm(self, x, name, eps):
        return F.group_norm(x, 32, *self.affine(name, x.shape[1]), eps)

    def layer_norm(self, x, name, eps=1e-5):
        return F.layer_norm(x, x.shape[-1:], *self.affine(name, x.shape[-1]), eps)

    def rms(self, x, name):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self(name, x.shape[-1], spread=0.1, mean=1)


def heads(x, n):
    """[B,tokens,C] to [B,n,tokens,C/n]"""
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def attention(q, k, v, bias=0.0, scale=None):
    s = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


def plain_norm(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-6)


def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def wave(t, dim):
    """cos, then sin of t at dim/2 frequencies from 1 down towards 1/10000"""
    a = t[..., None].double() * torch.exp(-math.log(10000.0) * torch.arange(dim // 2, dtype=torch.float64) / (dim // 2))
    return torch.cat([a.cos(), a.sin()], -1)


def angles(positions, dims):
    """positions [tokens,axes] to [tokens,sum(dims)/2]"""
    return torch.cat([positions[:, i, None].double() * 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
                      for i, d in enumerate(dims)], -1)


def rotate(x, a):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * a.cos() - odd * a.sin(), even * a.sin() + odd * a.cos()], -1).flatten(-2)


def save(name, net, **io):
    """synth/NAME.safetensors and the inputs and outputs beside it"""
    files.save(f"synth/{name}.safetensors", net.tensors, net.tensors if net.dtype == FP8 else ())
    files.save(f"synth/{name}_io.safetensors", io)
