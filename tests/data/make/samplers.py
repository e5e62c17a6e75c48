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


def res_multistep(denoise, x, sigmas, seed):
    old, last = None, None
    for a, b in zip(sigmas, sigmas[1:]):
        x0 = denoise(x, a)
        if old is None or b == 0:
            x = x + (x - x0) / a * (b - a)
        else:
            h = math.log(a / b)
            share = -math.log(last / a) / h
            p1 = math.expm1(-h) / -h
            p2 = (p1 - 1) / -h
            x = math.exp(-h) * x + h * ((p1 - p2 / share) * x0 + p2 / share * old)
        old, last = x0, a
    return x


def uni_pc(denoise, x, sigmas, seed):
    """The bh1 form: a predictor of up to third order, and a corrector with the value that it leads to."""
    s = list(sigmas[:-1]) + [0.001]
    signal = [1 / math.sqrt(1 + v * v) for v in s]
    noises, lam = [v * k for v, k in zip(s, signal)], [-math.log(v) for v in s]

    def value(y, i):
        return denoise(y / signal[i], s[i])

    y, steps = x * signal[0], len(s) - 1
    known = [(0, value(x * signal[0], 0))]
    for k in range(1, len(s)):
        order = min(3, len(s) - 2, len(known), steps + 1 - k)
        at, m = known[-1]
        h = lam[k] - lam[at]
        ratio = [(lam[i] - lam[at]) / h for i, _ in known[-order:-1][::-1]] + [1.0]
        slope = [(v - m) / r for (_, v), r in zip(known[-order:-1][::-1], ratio)]
        phi, fact, b, rows = math.expm1(-h) / -h - 1, 1, [], []
        for i in range(1, order + 1):
            rows.append([r ** (i - 1) for r in ratio])
            b.append(phi * fact / -h)
            fact *= i + 1
            phi = phi / -h - 1 / fact
        rows, b = torch.tensor(rows).double(), torch.tensor(b).double()
        base = noises[k] / noises[at] * y - signal[k] * math.expm1(-h) * m
        w = [0.5] if order == 2 else torch.linalg.solve(rows[:-1, :-1], b[:-1]).tolist() if order > 2 else []
        y = base + signal[k] * h * sum(c * d for c, d in zip(w, slope))
        if k < steps:
            new = value(y, k)
            w = [0.5] if order == 1 else torch.linalg.solve(rows, b).tolist()
            y = base + signal[k] * h * sum(c * d for c, d in zip(w, slope + [new - m]))
            known.append((k, new))
    return y / signal[-1]
