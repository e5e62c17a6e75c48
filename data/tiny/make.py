#!/usr/bin/env python3
"""Makes the demo model and its latent: a small autoencoder with the TAESD layout (own training,
drawn pictures only), a drawn landscape encoded by it, and the numbers of the golden test.

    apt-get install python3-torch python3-numpy && python3 data/tiny/make.py

Takes about a quarter of an hour on one core. Same seed, same torch version, one thread: same files.
Writes models/vae/vae_tiny.safetensors, input/demo.latent and expected.safetensors beside itself.
"""
import json
import os
import struct
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH, LATENT, SIZE = 16, 4, 512
STEPS = int(os.environ.get("STEPS", "3600"))


# ---- pictures: everything is a smooth mask painted over what is below ------------------------
class Canvas:
    def __init__(self, h, w):
        self.rgb = np.zeros((h, w, 3), np.float32)
        self.y, self.x = np.mgrid[0:h, 0:w].astype(np.float32)
        self.y, self.x = (self.y + 0.5) / h, (self.x + 0.5) / w
        self.px = 1.0 / h

    def paint(self, distance, colour, alpha=1.0):
        """colour where distance (in picture heights) is negative, one pixel of soft edge."""
        m = np.clip(0.5 - distance / self.px, 0, 1)[..., None] * alpha
        self.rgb = self.rgb * (1 - m) + np.asarray(colour, np.float32) * m

    def gradient(self, top, bottom, y0, y1):
        t = np.clip((self.y - y0) / (y1 - y0), 0, 1)[..., None]
        return np.asarray(top, np.float32) * (1 - t) + np.asarray(bottom, np.float32) * t

    def disc(self, cx, cy, r):
        return np.hypot(self.x - cx, self.y - cy) - r

    def box(self, x0, y0, x1, y1):
        return np.maximum(np.maximum(x0 - self.x, self.x - x1), np.maximum(y0 - self.y, self.y - y1))

    def polygon(self, points):
        """Signed distance of a convex polygon given clockwise on the screen."""
        d = np.full_like(self.x, -9.0)
        for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1]):
            n = np.hypot(bx - ax, by - ay)
            d = np.maximum(d, ((self.x - ax) * (ay - by) + (self.y - ay) * (bx - ax)) / -n)
        return d


def ridge(c, rng, base, height, n):
    """Height of a mountain line over x: a few folded waves."""
    y = np.zeros_like(c.x)
    for k in range(n):
        f, p = rng.uniform(1.0, 2.2) * 1.7**k, rng.uniform(0, 1)
        y += (1 - 2 * np.abs((c.x * f + p) % 1 - 0.5) * 2) * height * 0.55**k
    return base - y


def landscape(size):
    c, rng = Canvas(size, size), np.random.default_rng(11)
    c.rgb = c.gradient((0.16, 0.30, 0.62), (0.99, 0.78, 0.52), 0.0, 0.62)
    glow = np.exp(-(np.hypot(c.x - 0.70, c.y - 0.40) / 0.16) ** 2)[..., None]
    c.rgb = c.rgb * (1 - 0.55 * glow) + np.float32([1.0, 0.90, 0.60]) * 0.55 * glow
    c.paint(c.disc(0.70, 0.40, 0.085), (1.0, 0.94, 0.70))
    for cx, cy, s in ((0.22, 0.15, 1.0), (0.55, 0.10, 0.7), (0.88, 0.20, 0.8)):
        for dx, dy, r in ((-0.07, 0.01, 0.034), (-0.02, -0.012, 0.046), (0.04, 0.0, 0.040), (0.085, 0.012, 0.028)):
            c.paint(c.disc(cx + dx * s, cy + dy * s, r * s), (0.98, 0.95, 0.95), 0.9)
    far = ridge(c, rng, 0.55, 0.16, 5)
    c.paint(far - c.y, (0.38, 0.42, 0.60))
    snow = np.maximum(far - c.y, c.y - far - 0.05 - 0.02 * np.sin(c.x * 70))
    c.paint(np.maximum(snow, c.y - 0.47), (0.95, 0.96, 1.0))
    near = ridge(c, rng, 0.62, 0.08, 4)
    c.paint(near - c.y, (0.20, 0.36, 0.34))
    lake = c.gradient((0.86, 0.66, 0.52), (0.13, 0.30, 0.50), 0.62, 0.86)
    m = np.clip(0.5 - (0.62 - c.y) / c.px, 0, 1)[..., None]
    c.rgb = c.rgb * (1 - m) + lake * m
    for k in range(14):  # the sun's path and ripples on the water
        y = 0.635 + 0.014 * k
        w = 0.05 + 0.012 * (k * 5 % 7)
        c.paint(c.box(0.70 - w, y, 0.70 + w * 0.8, y + 0.004), (1.0, 0.88, 0.62), 0.75)
    bank = 0.80 - 0.05 * np.cos((c.x - 0.2) * 5.0)
    c.paint(bank - c.y, (0.30, 0.50, 0.20))
    c.paint(bank + 0.09 - c.y, (0.22, 0.40, 0.16))
    # a house with a red roof
    c.paint(c.box(0.12, 0.66, 0.34, 0.83), (0.96, 0.90, 0.76))
    c.paint(c.polygon([(0.09, 0.67), (0.23, 0.54), (0.37, 0.67)]), (0.76, 0.20, 0.15))
    c.paint(c.box(0.30, 0.555, 0.325, 0.64), (0.45, 0.24, 0.20))
    c.paint(c.box(0.205, 0.73, 0.255, 0.83), (0.35, 0.20, 0.12))
    for x in (0.145, 0.275):
        c.paint(c.box(x, 0.70, x + 0.045, 0.75), (0.30, 0.22, 0.18))
        c.paint(c.box(x + 0.006, 0.706, x + 0.039, 0.744), (0.99, 0.88, 0.45))
    # trees
    for x, y, s in ((0.44, 0.86, 1.0), (0.53, 0.88, 0.75), (0.05, 0.84, 0.8)):
        c.paint(c.box(x - 0.012 * s, y - 0.06 * s, x + 0.012 * s, y), (0.33, 0.21, 0.12))
        for k in range(3):
            t = y - (0.04 + 0.065 * k) * s
            w = (0.085 - 0.018 * k) * s
            c.paint(c.polygon([(x - w, t), (x, t - 0.11 * s), (x + w, t)]), (0.06 + 0.03 * k, 0.28 + 0.05 * k, 0.16))
    # a boat
    c.paint(c.polygon([(0.755, 0.735), (0.905, 0.735), (0.875, 0.77), (0.785, 0.77)]), (0.50, 0.16, 0.12))
    c.paint(c.box(0.822, 0.59, 0.828, 0.735), (0.25, 0.18, 0.14))
    c.paint(c.polygon([(0.834, 0.60), (0.834, 0.725), (0.90, 0.725)][::-1]), (0.98, 0.97, 0.93))
    c.paint(c.polygon([(0.816, 0.63), (0.816, 0.725), (0.765, 0.725)]), (0.92, 0.45, 0.25))
    # flowers
    for k in range(26):
        x, y = rng.uniform(0.02, 0.98), rng.uniform(0.91, 0.98)
        c.paint(c.disc(x, y, 0.008), ((0.96, 0.85, 0.25), (0.93, 0.40, 0.50), (0.95, 0.95, 0.98))[k % 3])
    return np.clip(c.rgb, 0, 1)


def random_picture(rng, size):
    c = Canvas(size, size)
    colour = lambda: rng.uniform(0, 1, 3)
    c.rgb = c.gradient(colour(), colour(), *sorted(rng.uniform(-0.2, 1.2, 2) + (0, 0.05)))
    for _ in range(rng.integers(2, 9)):
        kind, x, y, r = rng.integers(0, 4), rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0.01, 0.35)
        if kind == 0:
            c.paint(c.disc(x, y, r), colour(), rng.uniform(0.5, 1))
        elif kind == 1:
            c.paint(c.box(x - r, y - r * rng.uniform(0.05, 1), x + r, y + r * rng.uniform(0.05, 1)), colour())
        elif kind == 2:
            a = np.sort(rng.uniform(0, 2 * np.pi, 3))
            c.paint(c.polygon([(x + r * np.cos(t), y + r * np.sin(t)) for t in a]), colour())
        else:
            c.paint(ridge(c, rng, y, 0.15, 4) - c.y, colour())
    return np.clip(c.rgb, 0, 1)


# ---- network: the layers and names of TAESD, one block a level, WIDTH channels ----------------
def conv(a, b, **kw):
    return nn.Conv2d(a, b, 3, padding=1, **kw)


class Clamp(nn.Module):
    def forward(self, x):
        return torch.tanh(x / 3) * 3


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Sequential(conv(n, n), nn.ReLU(), conv(n, n), nn.ReLU(), conv(n, n))

    def forward(self, x):
        return F.relu(self.conv(x) + x)


def encoder():
    layers = [conv(3, WIDTH), Block(WIDTH)]
    for _ in range(3):
        layers += [conv(WIDTH, WIDTH, stride=2, bias=False), Block(WIDTH)]
    return nn.Sequential(*layers, conv(WIDTH, LATENT))


def decoder():
    layers = [Clamp(), conv(LATENT, WIDTH), nn.ReLU(), Block(WIDTH)]
    for _ in range(3):
        layers += [nn.Upsample(scale_factor=2), conv(WIDTH, WIDTH, bias=False), Block(WIDTH)]
    return nn.Sequential(*layers, conv(WIDTH, 3))


def train(enc, dec, picture):
    rng = np.random.default_rng(5)
    pool = [picture] * 12 + [random_picture(rng, 256) for _ in range(160)]
    opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=2e-3)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, STEPS)
    for step in range(STEPS):
        crops = []
        for k in range(16):
            p = picture if k < 13 else pool[rng.integers(len(pool))]
            y, x = rng.integers(0, p.shape[0] - 64, 2)
            q = p[y : y + 64, x : x + 64]
            crops.append(q[:, ::-1] if k & 1 else q)
        x = torch.from_numpy(np.stack(crops)).permute(0, 3, 1, 2).contiguous()
        z = enc(x)
        y = dec(z)
        edge = (y[..., 1:] - y[..., :-1] - x[..., 1:] + x[..., :-1]).abs().mean()
        edge = edge + (y[..., 1:, :] - y[..., :-1, :] - x[..., 1:, :] + x[..., :-1, :]).abs().mean()
        loss = F.mse_loss(y, x) + 0.1 * F.l1_loss(y, x) + 0.1 * edge + 1e-4 * (z**2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        plan.step()
        if step % 100 == 0:
            print("step", step, "mse %.5f" % F.mse_loss(y, x).item(), flush=True)


# ---- files -----------------------------------------------------------------------------------
def save(path, tensors, meta):
    head, data = {"__metadata__": meta}, b""
    for name, t in tensors:
        a = np.ascontiguousarray(t.detach().numpy())
        kind = {np.dtype("float16"): "F16", np.dtype("float32"): "F32"}[a.dtype]
        head[name] = {"dtype": kind, "shape": list(a.shape), "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    print(path, os.path.getsize(path), "bytes")


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    picture = landscape(SIZE * 2).reshape(SIZE, 2, SIZE, 2, 3).mean((1, 3)).astype(np.float32)
    if len(sys.argv) > 1:  # only the picture, as PPM, to look at while drawing
        with open(sys.argv[1], "wb") as f:
            f.write(b"P6 %d %d 255\n" % (SIZE, SIZE) + (picture * 255).astype(np.uint8).tobytes())
        return
    enc, dec = encoder(), decoder()
    train(enc, dec, picture)
    parts = [("taesd_encoder." + k, v.half()) for k, v in enc.state_dict().items()]
    parts += [("taesd_decoder." + k, v.half()) for k, v in dec.state_dict().items()]
    parts += [("vae_scale", torch.ones(1)), ("vae_shift", torch.zeros(1))]
    for net in (enc, dec):  # what the file holds is what makes the latent and the expected numbers
        net.load_state_dict({k: v.half().float() for k, v in net.state_dict().items()})
    note = {"origin": "trained by data/tiny/make.py on pictures it draws", "licence": "MIT"}
    save(HERE + "/models/vae/vae_tiny.safetensors", parts, note)
    with torch.no_grad():
        x = torch.from_numpy(picture).permute(2, 0, 1)[None]
        z = enc(x)
        y = dec(z).clamp(0, 1)
        print("psnr of the whole picture: %.2f dB" % (-10 * torch.log10(F.mse_loss(y, x)).item()))
        small_z = z[:, :, 36:44, 16:26].contiguous()
        small_x = x[:, :, 288:352, 128:208].contiguous()
        save(HERE + "/input/demo.latent", [("latent_tensor", z), ("latent_format_version_0", torch.zeros(0))], note)
        save(HERE + "/expected.safetensors",
             [("decode_in", small_z), ("decode_out", dec(small_z)), ("encode_in", small_x), ("encode_out", enc(small_x))], note)


main()
