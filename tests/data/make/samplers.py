# A few of the samplers, for whole pipelines (pipeline.py): each takes denoise(x, sigma), the levels and the starting x,
# and gives the result and what was denoised at every step.
import math

import torch

import noise


def euler(denoise, x, sigmas, seed):
    for a, b in zip(sigmas, sigmas[1:]):
        x = x + (x - denoise(x, a)) / a * (b - a)
    return x


def euler_ancestral(denoise, x, sigmas, seed):
    random = torch.Generator().manual_seed(seed)
    for a, b in zip(sigmas, sigmas[1:]):
        x0 = denoise(x, a)
        up = min(b, math.sqrt(b * b * (a * a - b * b) / (a * a)))
        x = x + (x - x0) / a * (math.sqrt(b * b - up * up) - a)
        if b > 0:
            x = x + torch.randn(x.shape, generator=random).double() * up
    return x


def dpmpp_2m(denoise, x, sigmas, seed):
    old, before = None, None
    for a, b in zip(sigmas, sigmas[1:]):
        x0 = denoise(x, a)
        if b == 0:
            return x0
        h = math.log(a / b)
        d = x0 if old is None else x0 + (x0 - old) * h / (2 * before)
        x = b / a * x - math.expm1(-h) * d
        old, before = x0, h
    return x


def dpmpp_2m_sde(denoise, x, sigmas, seed):
    path, old, before = noise.Path(sigmas[-2], sigmas[0], x.shape, seed), None, None
    for a, b in zip(sigmas, sigmas[1:]):
        x0 = denoise(x, a)
        if b == 0:
            return x0
        h = math.log(a / b)
        x = b / a * math.exp(-h) * x - math.expm1(-2 * h) * x0
        if old is not None:
            x = x - 0.5 * math.expm1(-2 * h) * (x0 - old) * h / before
        x = x + path.noise(a, b).double() * b * math.sqrt(-math.expm1(-2 * h))
        old, before = x0, h
    return x
