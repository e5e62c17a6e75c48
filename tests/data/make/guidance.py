# What patches of guidance make of two sides and a noisy latent: vectors/guidance. Formulas of the papers named in
# core/sample/guide, as ComfyUI 0.33.0 applies them; all in doubles.
import torch
import torch.nn.functional as F

import files

SIGMA, SCALE = 2.5, 6.0


def rescale(c, u, x):  # as in v-predictions
    x = x / (SIGMA ** 2 + 1)
    root = (SIGMA ** 2 + 1) ** 0.5
    vc, vu = (x - c) * root / SIGMA, (x - u) * root / SIGMA
    v = vu + SCALE * (vc - vu)
    ratio = vc.std(dim=(1, 2, 3), keepdim=True) / v.std(dim=(1, 2, 3), keepdim=True)
    return x - (0.7 * v * ratio + 0.3 * v) * SIGMA / root


def linear(c, u, least):
    s = torch.linspace(least, SCALE, len(c), dtype=torch.float64)[:, None, None, None]
    return u + s * (c - u)


def triangle(c, u, least):
    t = torch.linspace(0, 1, len(c), dtype=torch.float64)[:, None, None, None]
    return u + (2 * (t - (t + 0.5).floor()).abs() * (SCALE - least) + least) * (c - u)


def renorm(c, u, most):
    out = u + SCALE * (c - u)
    norms = [torch.linalg.vector_norm(v, dim=(1, 2, 3), keepdim=True) for v in (c, out)]
    return out * torch.minimum(most * norms[0] / norms[1], torch.ones_like(norms[0]))


def tcfg(c, u, x):
    eu, ec = (x - u).flatten(1)[:, None], (x - c).flatten(1)[:, None]
    v = torch.linalg.svd(torch.cat([eu, ec], 1), full_matrices=False)[2][:, :1]
    return x - ((eu @ v.transpose(1, 2)) * v).reshape(x.shape)


def apg(c, u, eta, most, old, momentum):
    g = c - u + (0 if old is None else momentum * old)
    kept, dims = g, (-1, -2, -3)
    g = g * torch.minimum(torch.ones(1, dtype=torch.float64), most / g.norm(p=2, dim=dims, keepdim=True))
    unit = c / c.norm(p=2, dim=dims, keepdim=True)
    along = (g * unit).sum(dims, keepdim=True) * unit
    return u + (g - along) + eta * along + (c - u) / SCALE, kept


def fresca(c, u, low, high, cut):
    g = torch.fft.fftshift(torch.fft.fftn(c - u, dim=(-2, -1)), dim=(-2, -1))
    by = torch.full(g.shape, high, dtype=torch.float64)
    h, w = g.shape[-2:]
    a, b = min(cut, h // 2), min(cut, w // 2)
    by[..., h // 2 - a:h // 2 + a, w // 2 - b:w // 2 + b] = low
    return torch.fft.ifftn(torch.fft.ifftshift(g * by, dim=(-2, -1)), dim=(-2, -1)).real + u


def tonemap(v, by):
    size = torch.linalg.vector_norm(v, dim=1)[:, None] + 1e-10
    top = (size.std(dim=(1, 2, 3), keepdim=True) * 5 + size.mean(dim=(1, 2, 3), keepdim=True)) * by
    new = size / top
    return v / size * (new / (new + 1) * top)


def sharpen(v, radius, sigma, alpha):
    side = torch.linspace(-1, 1, 2 * radius + 1, dtype=torch.float64)
    k = torch.exp(-(side[:, None] ** 2 + side[None] ** 2) / (2 * sigma ** 2))
    k = k / k.sum() * alpha * -10
    k[radius, radius] += 1 - k.sum()
    size = torch.linalg.vector_norm(v, dim=1)[:, None] + 1e-6
    pad = F.pad(v / size, (radius,) * 4, "reflect")
    return size * F.conv2d(pad, k[None, None].repeat(v.shape[1], 1, 1, 1), groups=v.shape[1])


def mahiro(c, u, out):
    def r(v):
        return v.sign() * v.abs().sqrt()
    leap = c * SCALE
    w = 2 * (F.cosine_similarity(r(u * SCALE), r((leap + out) / 2), dim=1).mean() + 1)
    return (w * out + (4 - w) * leap) / 4


def tsr(out, x, k, sigma, flow):
    s = 0.4 if flow else SIGMA
    root = (1 - s) / s if flow else 1 / s
    snr = root ** 2
    r = (snr * sigma ** 2 + 1) / (snr * sigma ** 2 / k + 1)
    return torch.lerp(x / (s * root), out, torch.tensor(r, dtype=torch.float64))


def main():
    shape = (3, 4, 6, 10)
    x, c = files.values(1, *shape) * 3, files.values(2, *shape)
    u = 0.6 * c + 0.8 * files.values(3, *shape)
    x, c, u = (v.float().double() for v in (x, c, u))
    out = u + SCALE * (c - u)
    first, old = apg(c, u, 0.3, 5.0, None, -0.5)
    second, _ = apg(0.9 * c, u, 0.3, 5.0, old, -0.5)
    files.save("vectors/guidance.safetensors", dict(
        x=x, cond=c, uncond=u, rescale=rescale(c, u, x), linear=linear(c, u, 1.5), triangle=triangle(c, u, 1.5),
        renorm=renorm(c, u, 0.9), tcfg=tcfg(c, u, x), apg=first, apg_second=second, fresca=fresca(c, u, 0.8, 1.4, 2),
        fresca_wide=fresca(c, u, 0.8, 1.4, 20), tonemap=tonemap(c - u, 0.7) + u, sharpen=sharpen(c - u, 2, 0.8, 0.3) + u,
        mahiro=mahiro(c, u, out), epsilon=x - (x - out) / 1.02, tsr=tsr(out, x, 0.9, 1.2, False),
        tsr_flow=tsr(out, x, 0.9, 1.2, True)))


if __name__ == "__main__":
    main()
