# What the demo models' latents are: the low frequencies of blocks of 8x8 pixels, of brightness and
# two colour differences, each scaled to the spread that the samplers expect. The encoder learns this
# map and the decoder its inverse. It is linear, so shape and colour stay apart: a transformer draws
# the right shapes after a fifth of the steps that it needs among latents that an autoencoder finds
# by itself.
#   A clip's latent has a picture for the first frame and one for the last of every four that follow;
# the decoder finds what is between. Wan's attention knows only how far tokens lie from each other,
# so three channels, which the decoder has no need of, say where they are.
import functools
import math
import random

import torch
import torch.nn.functional as F

import draw

BLOCK = 8
COLOURS = ((1, 1, 1), (1, 0, -1), (1, -2, 1))  # brightness, red against blue, green against both
EDGES = ((0, 0), (0, 1), (1, 0), (0, 2), (2, 0))  # cycles down and across, in halves
PICTURE = ([*EDGES, (1, 1)], EDGES, EDGES)
CLIP = (EDGES, [*EDGES[:3], (1, 1)], [*EDGES[:3], (1, 1)])
EVERY = 4  # frames
PLACE = 2.0  # spread of the channels that say where


def wave(k, n):
    """A unit cosine of k half cycles over n samples."""
    w = torch.cos(math.pi * k * (torch.arange(n) + 0.5) / n)
    return w / w.norm()


def filters(frequencies):
    """[channels,3,8,8], orthonormal."""
    out = []
    for rgb, chosen in zip(COLOURS, frequencies):
        c = torch.tensor(rgb, dtype=torch.float32)
        out += [torch.einsum("c,y,x->cyx", c / c.norm(), wave(y, BLOCK), wave(x, BLOCK)) for y, x in chosen]
    return torch.stack(out)


def picture_waves(x):  # [B,3,H,W] in 0..1
    return F.conv2d(x, filters(PICTURE), stride=BLOCK)


@functools.cache
def picture_moments(side):
    """Mean and spread of each channel."""
    rng = random.Random(5)
    z = picture_waves(torch.stack([draw.scene(rng).draw(side) for _ in range(256)]))
    return z.mean((0, 2, 3)).view(-1, 1, 1), z.std((0, 2, 3)).view(-1, 1, 1)


def of_pictures(x, side):
    """[B,16,H/8,W/8] of unit spread: the transformer's space."""
    mean, spread = picture_moments(side)
    return (picture_waves(x) - mean) / spread


# ---- clips --------------------------------------------------------------------------------------

def clip_waves(x):  # [B,3,T,H,W] in 0..1
    x = x[:, :, ::EVERY]
    z = F.conv2d(x.transpose(1, 2).flatten(0, 1), filters(CLIP), stride=BLOCK)
    return z.view(len(x), -1, *z.shape[1:]).transpose(1, 2)


@functools.cache
def clip_moments(side, frames):
    rng = random.Random(6)
    z = clip_waves(torch.stack([draw.clip(rng).frames(side, frames) for _ in range(128)]))
    return z.mean((0, 2, 3, 4)).view(-1, 1, 1, 1), z.std((0, 2, 3, 4)).view(-1, 1, 1, 1)


@functools.cache
def places(t, h, w):
    """[3,t,h,w]: frame, row and column."""
    axes = [(torch.arange(n) - (n - 1) / 2) * (12 / (n * n - 1)) ** 0.5 for n in (t, h, w)]  # of unit spread
    return PLACE * torch.stack(torch.meshgrid(*axes, indexing="ij"))


def of_clips(x):
    """[B,16,1 + (T-1)/4,H/8,W/8]: the transformer's space."""
    mean, spread = clip_moments(x.shape[-1], x.shape[2])
    z = (clip_waves(x) - mean) / spread
    return torch.cat([z, places(*z.shape[2:]).expand(len(z), -1, -1, -1, -1)], 1)
