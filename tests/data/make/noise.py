# torch's own random numbers, in both of its kernels, and a Brownian path drawn with them:
# vectors/randn_*, vectors/brownian_seed12345.safetensors. It starts itself once a kernel, since torch
# chooses at its start.
import os
import subprocess
import sys

import numpy as np
import torch

import files

KERNELS = {"avx2": "avx2", "scalar": "default"}


def draw(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def vectors(kernel):
    small = {f"seed{s}_n{n}": draw(s, n) for s in (0, 42, 2 ** 40 + 7) for n in (1, 7, 15, 16, 17, 40, 256)}
    files.save(f"vectors/randn_{kernel}.safetensors", small)
    large = {}
    for seed, shape in ((42, (1, 4, 64, 64)), (82628696717253, (1, 16, 9, 60, 104))):
        x = draw(seed, *shape)
        flat = x.flatten()
        large[f"seed{seed}_" + "x".join(map(str, shape))] = {
            "first8": flat[:8].tolist(), "last8": flat[-8:].tolist(), "mean": float(flat.double().mean()),
            "std": float(flat.double().std())}
    files.save_json(f"vectors/randn_{kernel}.json", large)


class Path:
    """Brownian motion that is halved until the asked times are ends of pieces; each half is drawn from a seed of its
    own, so the order of questions does not matter."""

    def __init__(self, a, b, shape, entropy):
        self.entropy, self.shape = entropy, shape
        self.root = (self.round(a), self.round(b), 0, 0)
        seed = np.random.SeedSequence(entropy, pool_size=24).generate_state(3)[0]
        self.whole = draw(int(seed), *shape) * (self.root[1] - self.root[0]) ** 0.5

    @staticmethod
    def round(t):
        return round(float(t), 6)

    def between(self, a, b, node=None, w=None):
        t0, t1, key, depth = node or self.root
        w = self.whole if w is None else w
        if a <= t0 and t1 <= b:
            return w
        mid = self.round((t0 + t1) / 2)
        seed = np.random.SeedSequence(self.entropy, spawn_key=(key, depth), pool_size=24).generate_state(4)[0]
        share = (mid - t0) / (t1 - t0)
        left = share * w + ((mid - t0) * (t1 - mid) / (t1 - t0)) ** 0.5 * draw(int(seed), *self.shape)
        out = torch.zeros(self.shape)
        if a < mid:
            out = out + self.between(a, b, (t0, mid, 2 * key, depth + 1), left)
        if b > mid:
            out = out + self.between(a, b, (mid, t1, 2 * key + 1, depth + 1), w - left)
        return out

    def noise(self, a, b):
        """of a step down from a to b"""
        a, b = self.round(a), self.round(b)
        return -self.between(b, a) / (a - b) ** 0.5


def brownian():
    s = torch.tensor([14.6146, 7.5, 2.25, 0.9, 0.31, 0.0292])
    path = Path(s[-1], s[0], (256,), 12345)
    out = {"sigma_pairs": torch.stack([s[:-1], s[1:]], 1)}
    for i, (a, b) in enumerate(zip(s[:-1], s[1:])):
        out[f"noise_{i}"] = path.noise(a, b)
    files.save("vectors/brownian_seed12345.safetensors", out)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        vectors(sys.argv[1])
        if sys.argv[1] == "avx2":
            brownian()
    else:
        for kernel, name in KERNELS.items():
            subprocess.run([sys.executable, __file__, kernel], check=True, env={**os.environ, "ATEN_CPU_CAPABILITY": name})
