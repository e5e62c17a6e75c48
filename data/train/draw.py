# Pictures and captions that the demo models are trained on: one shape on a background, drawn with
# smooth edges from signed distances. Everything is made here; nothing is read from elsewhere.
import functools
import hashlib
import math
import random

import torch

COLOURS = {
    "red": (0.86, 0.13, 0.15), "green": (0.13, 0.62, 0.22), "blue": (0.13, 0.30, 0.85),
    "yellow": (0.97, 0.85, 0.15), "orange": (0.96, 0.52, 0.08), "purple": (0.52, 0.18, 0.68),
    "white": (0.97, 0.97, 0.97), "black": (0.05, 0.05, 0.06),
}
SHAPES = ["circle", "square", "triangle", "star", "cross"]
SIZES = {"small": 0.15, "": 0.23, "large": 0.32}  # radius, of the picture's side
PLACES = {  # centre, and the words for it
    "": (0.5, 0.5), "on the left": (0.28, 0.5), "on the right": (0.72, 0.5),
    "at the top": (0.5, 0.28), "at the bottom": (0.5, 0.72),
}


@functools.cache
def grid(side):
    c = (torch.arange(side, dtype=torch.float32) + 0.5) / side
    return torch.meshgrid(c, c, indexing="ij")


def distance(shape, x, y, r):
    """Signed distance from the outline, negative inside, of a shape of radius r about (0, 0)."""
    if shape == "circle":
        return (x * x + y * y).sqrt() - r
    if shape == "square":
        return torch.maximum(x.abs(), y.abs()) - 0.86 * r
    if shape == "cross":
        a = torch.maximum(x.abs() - r, y.abs() - 0.32 * r)
        b = torch.maximum(y.abs() - r, x.abs() - 0.32 * r)
        return torch.minimum(a, b)
    if shape == "triangle":
        y = y - 0.15 * r
        return torch.maximum(0.866 * x.abs() - 0.5 * y, y) - 0.55 * r
    # star: five points, the edge is straight between tip and notch
    sector = 2 * math.pi / 5
    a = (torch.remainder(torch.atan2(x, -y) + sector / 2, sector) - sector / 2).abs()
    d = (x * x + y * y).sqrt()
    tip, nx, ny = 1.12, 0.48 * math.cos(sector / 2), 0.48 * math.sin(sector / 2)
    ex, ey = nx - tip, ny
    return ((d * torch.cos(a) - tip * r) * ey - d * torch.sin(a) * ex) / math.hypot(ex, ey)


class Scene:
    """What a caption says, and the picture's own details (exact colours, sizes, places). spread: how
    far sizes, places and turns may lie from the words."""

    def __init__(self, rng, shape, colour, back, size, place, spread=1.0):
        self.shape, self.colour, self.back, self.size, self.place = shape, colour, back, size, place
        self.rgb = [min(1, max(0, v + rng.uniform(-0.03, 0.03))) for v in COLOURS[colour]]
        self.back_rgb = [min(1, max(0, v + rng.uniform(-0.03, 0.03))) for v in COLOURS[back]]
        self.r = SIZES[size] * (1 + spread * rng.uniform(-0.07, 0.07))
        cx, cy = PLACES[place]
        self.cx, self.cy = cx + spread * rng.uniform(-0.035, 0.035), cy + spread * rng.uniform(-0.035, 0.035)
        self.turn = spread * rng.uniform(-0.12, 0.12)

    def caption(self):
        words = ["a", self.size, self.colour, self.shape, self.place, "on a", self.back, "background"]
        return " ".join(w for w in words if w)

    def draw(self, side, hollow=False):
        """hollow: the style of the demo's LoRA, an outline in place of the filled shape."""
        return self.draw_at(side, self.cx, self.cy, self.r, hollow)

    def draw_at(self, side, cx, cy, r, hollow=False):
        """[3,...,side,side] of centres and radii [...,1,1]."""
        y, x = grid(side)
        x, y = x - cx, y - cy
        c, s = math.cos(self.turn), math.sin(self.turn)
        d = distance(self.shape, c * x - s * y, s * x + c * y, r)
        if hollow:
            d = torch.maximum(d, -d - 0.26 * r)
        cover = (0.5 - d * side).clamp(0, 1)[None]
        front, back = (torch.tensor(rgb).view(-1, *[1] * (cover.dim() - 1)) for rgb in (self.rgb, self.back_rgb))
        return back + (front - back) * cover


def is_held_out(shape, colour, back):
    """One combination in ten is never seen in training; the rates are measured on those."""
    return hashlib.sha256(f"{shape} {colour} {back}".encode()).digest()[0] % 10 == 0


def scene(rng, held_out=False, spread=1.0):
    while True:
        shape = rng.choice(SHAPES)
        colour, back = rng.sample(list(COLOURS), 2)
        if is_held_out(shape, colour, back) != held_out:
            continue
        size = rng.choice(["", "", "small", "large"])
        place = rng.choice(["", "", "on the left", "on the right", "at the top", "at the bottom"])
        if size == "large" and place:
            size = ""
        return Scene(rng, shape, colour, back, size, place, spread)


def held_out_prompts(n, seed=1):
    rng = random.Random(seed)
    return [scene(rng, True).caption() for _ in range(n)]


# ---- clips --------------------------------------------------------------------------------------

STEPS = {"moving left": (-1, 0), "moving right": (1, 0), "moving up": (0, -1), "moving down": (0, 1)}
MOTIONS = [*STEPS, "growing", "shrinking", "standing still"]


class Clip(Scene):
    """A scene that moves evenly through the middle of the picture, or grows or shrinks."""

    def __init__(self, rng, shape, colour, back, size, motion, spread=1.0):
        super().__init__(rng, shape, colour, back, size, "", spread)
        self.motion, self.travel = motion, 0.28 * (1 + spread * rng.uniform(-0.1, 0.1))

    def caption(self):
        words = ["a", self.size, self.colour, self.shape, self.motion, "on a", self.back, "background"]
        return " ".join(w for w in words if w)

    def frames(self, side, n):
        """[3,n,side,side]"""
        at = (torch.arange(n) / (n - 1) - 0.5).view(n, 1, 1)
        dx, dy = STEPS.get(self.motion, (0, 0))
        grow = {"growing": 1 + at, "shrinking": 1 - at}.get(self.motion, torch.ones_like(at))
        return self.draw_at(side, self.cx + dx * at * self.travel, self.cy + dy * at * self.travel, self.r * grow)


def clip(rng, held_out=False, spread=1.0):
    s = scene(rng, held_out)
    return Clip(rng, s.shape, s.colour, s.back, s.size if s.size != "large" else "", rng.choice(MOTIONS),
                spread)


def held_out_clips(n, seed=1):
    rng = random.Random(seed)
    return [clip(rng, True).caption() for _ in range(n)]
