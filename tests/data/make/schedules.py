# Noise levels of every schedule from their formulas: vectors/schedules.json.
import math

import numpy as np

import files

F = np.float32


class Discrete:
    """SD: a thousand levels, from betas whose roots are evenly spaced; zsnr: the last has no signal at all."""

    def __init__(self, zsnr=False):
        betas = np.linspace(0.00085 ** 0.5, 0.012 ** 0.5, 1000) ** 2
        kept = np.cumprod(1 - betas)
        if zsnr:
            root = np.sqrt(kept)
            kept = ((root - root[-1]) * (root[0] / (root[0] - root[-1]))) ** 2
            kept[-1] = 4.8973451890853435e-08
        self.table = F(((1 - kept) / kept) ** 0.5)
        self.logs = np.log(self.table)

    def timestep(self, sigma):
        return int(np.argmin(np.abs(np.log(F(sigma)) - self.logs)))

    def sigma(self, t):
        t = F(min(max(t, 0), len(self.table) - 1))
        lo, hi, w = int(math.floor(t)), int(math.ceil(t)), t - F(math.floor(t))
        return np.exp((F(1) - w) * self.logs[lo] + w * self.logs[hi])

    def percent(self, p):
        return 999999999.9 if p <= 0 else 0.0 if p >= 1 else float(self.sigma(999 * (1 - p)))


class Flow:
    """sigma(u) for u = 1/n ... 1, moved towards 1 by a shift."""

    def __init__(self, shift, multiplier=1000, n=1000):
        self.shift, self.multiplier = shift, multiplier
        self.table = F([self.at(k / n) for k in range(1, n + 1)])

    def at(self, u):
        return self.shift * u / (1 + (self.shift - 1) * u)

    def timestep(self, sigma):
        return F(sigma) * F(self.multiplier)

    def sigma(self, t):
        return F(self.at(float(t) / self.multiplier))

    def percent(self, p):
        return 1.0 if p <= 0 else 0.0 if p >= 1 else self.at(1 - p)


class Flux(Flow):
    """The same curve: exp(mu) is its shift."""

    def __init__(self, mu):
        super().__init__(math.exp(mu), 1, 10000)


def mu_of(width, height):
    slope = (1.15 - 0.5) / (4096 - 256)
    return width * height / 256 * slope + 0.5 - 256 * slope


MODELS = {"sd15_eps": Discrete(), "sdxl_vpred_zsnr": Discrete(True), "flux_dev_default_1.15": Flux(1.15),
          "flux_node_512x768": Flux(mu_of(512, 768)), "flux_schnell": Flow(1, 1), "sd3_shift3": Flow(3),
          "wan_shift8": Flow(8)}


def beta_cdf(x, a):
    """Regularised incomplete beta function with both parameters a < 1; the ends are made smooth by x = u^(1/a)."""
    def part(x):  # over 0...x, x <= 1/2
        u, w = np.polynomial.legendre.leggauss(64)
        u = (u + 1) / 2 * x ** a
        return float((w / 2 * x ** a / a * (1 - u ** (1 / a)) ** (a - 1)).sum())
    half = part(0.5)
    return part(x) / (2 * half) if x <= 0.5 else 1 - part(1 - x) / (2 * half)


def beta_quantile(p, a=0.6):
    if p == 0.5:
        return 0.5  # it is symmetric, and half an index away from rounding
    lo, hi = 0.0, 1.0
    for _ in range(200):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if beta_cdf(mid, a) < p else (lo, mid)
    return (lo + hi) / 2


def simple(m, n):
    return [m.table[len(m.table) - 1 - int(k * (len(m.table) / n))] for k in range(n)] + [0]


def even(m, n, with_end):
    """Evenly spaced time steps; a schedule that reaches no noise by itself needs none appended."""
    start, end = float(m.timestep(m.table[-1])), float(m.timestep(m.table[0]))
    if with_end:
        steps = np.linspace(start, end, n, dtype=F)
    else:
        steps = np.linspace(start, end, n + 1, dtype=F)[:-1]
    return [m.sigma(t) for t in steps] + [0]


def karras(m, n):
    lo, hi = float(m.table[0]) ** (1 / 7), float(m.table[-1]) ** (1 / 7)
    return [(hi + k / max(n - 1, 1) * (lo - hi)) ** 7 for k in range(n)] + [0]


def exponential(m, n):
    return list(np.exp(np.linspace(math.log(m.table[-1]), math.log(m.table[0]), n))) + [0]


def ddim_uniform(m, n):
    return list(m.table[1::max(len(m.table) // n, 1)][::-1]) + [0]


def beta(m, n):
    at = [int(np.rint(beta_quantile(1 - k / n) * (len(m.table) - 1))) for k in range(n)]
    return [m.table[a] for k, a in enumerate(at) if k == 0 or a != at[k - 1]] + [0]


def linear_quadratic(m, n):
    if n == 1:
        return [m.table[-1], 0]
    half, end = n // 2, 0.025
    a = [end * i / half for i in range(half)]
    d, q = half - end * n, n - half
    x2 = d / (half * q * q)
    x1 = end / half - 2 * d / (q * q)
    a += [x2 * i * i + x1 * i + x2 * half * half for i in range(half, n)] + [1]
    return [(1 - v) * float(m.table[-1]) for v in a]


def kl_optimal(m, n):
    lo, hi = math.atan(m.table[0]), math.atan(m.table[-1])
    return [math.tan(k / (n - 1) * lo + (1 - k / (n - 1)) * hi) for k in range(n)] + [0]


SCHEDULES = {"simple": simple, "sgm_uniform": lambda m, n: even(m, n, False), "karras": karras,
             "exponential": exponential, "ddim_uniform": ddim_uniform, "beta": beta,
             "normal": lambda m, n: even(m, n, True), "linear_quadratic": linear_quadratic, "kl_optimal": kl_optimal}


def ksampler(m, scheduler, n, discards, denoise=1.0):
    """The last n + 1 levels of as many steps as the whole way takes."""
    total = n if denoise > 0.9999 else int(n / denoise)
    s = SCHEDULES[scheduler](m, total + discards)
    if discards:
        s = s[:-2] + s[-1:]
    return s[-(n + 1):]


def listed(sigmas):
    return [float(F(s)) for s in sigmas]


def main():
    lists, models = {}, {}
    for name, m in MODELS.items():
        for s, make in SCHEDULES.items():
            for n in (4, 20):
                if (s, name) != ("kl_optimal", "sdxl_vpred_zsnr"):  # tan near pi/2: another float's rounding
                    lists[f"{name}/{s}/{n}"] = listed(make(m, n))
        lo, mid, hi = (float(m.table[int(k * (len(m.table) - 1))]) for k in (0, 0.4, 1))
        models[name] = {
            "n": len(m.table), "sigma_min": lo, "sigma_max": hi,
            "sigmas_sample": {str(k): float(m.table[k]) for k in (0, 1, 250, 500, len(m.table) - 1)},
            "timestep_of": {repr(s): float(m.timestep(s)) for s in (lo, mid, hi)},
            "percent_to_sigma": {repr(p): m.percent(p) for p in (0.0, 0.1, 0.5, 0.9, 1.0)}}
    for name in ("sd15_eps", "flux_dev_default_1.15", "wan_shift8"):
        for s in ("karras", "simple", "normal"):
            for sampler, discards in (("euler", 0), ("dpm_2", 1), ("uni_pc", 1)):
                for denoise in (0.35, 0.8, 1.0):
                    key = f"KSampler:{name}/{sampler}/{s}/6/denoise{denoise}"
                    lists[key] = listed(ksampler(MODELS[name], s, 6, discards, denoise))
    files.save_json("vectors/schedules.json", {"schedules": lists, "models": models})


if __name__ == "__main__":
    main()
