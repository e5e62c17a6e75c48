# What every training here shares: an optimiser's loop that stops and goes on at any time.
import argparse
import copy
import math
import pathlib
import time

import torch


def say(*what):
    print(time.strftime("%H:%M:%S"), *what, flush=True)


def save(path, **state):
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


class Average:
    """Exponential average of the weights, which is what ships."""

    def __init__(self, module, decay):
        self.module, self.decay = copy.deepcopy(module).requires_grad_(False), decay

    @torch.no_grad()
    def add(self, module, step):
        d = min(self.decay, (1 + step) / (10 + step))
        for a, b in zip(self.module.parameters(), module.parameters()):
            a.lerp_(b, 1 - d)


class Muon(torch.optim.Optimizer):
    """Momentum whose steps are made orthogonal by Newton and Schulz's iteration, for the matrices
    inside blocks and the kernels of convolutions. Source: Jordan et al., Muon (2024)."""

    def __init__(self, weights, lr):
        super().__init__(weights, {"lr": lr})

    @staticmethod
    def orthogonal(g):
        x = g / (g.norm() + 1e-7)
        is_tall = x.shape[0] > x.shape[1]
        x = x.T if is_tall else x
        for _ in range(5):
            a = x @ x.T
            x = 3.4445 * x + (2.0315 * a @ a - 4.7750 * a) @ x
        return x.T if is_tall else x

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                state = self.state[w]
                v = state.setdefault("momentum", torch.zeros_like(w)).mul_(0.95).add_(w.grad)
                step = self.orthogonal((w.grad + 0.95 * v).flatten(1))  # a convolution's taps lie in its columns
                tall = max(1, step.shape[0] / step.shape[1]) ** 0.5
                w.mul_(1 - 0.01 * group["lr"])
                w.add_(step.view_as(w), alpha=-group["lr"] * tall)


def is_hidden(name):
    """A matrix inside a block: neither an embedding nor a modulation."""
    outside = ("modulation", "_mod.", "embedding", "relative_attention_bias")
    return ("block" in name or "layers." in name) and not any(o in name for o in outside)


def optimisers(module, top, hidden):
    named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
    inside = [p for n, p in named if hidden and p.dim() > 1 and hidden(n)]
    chosen = {id(p) for p in inside}
    out = [torch.optim.AdamW([p for _, p in named if id(p) not in chosen], lr=top, betas=(0.9, 0.98), weight_decay=0.01)]
    return out + ([Muon(inside, 0.02)] if inside else [])


def rate(step, steps, warm=200):
    return min(1, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * min(1, step / steps)))


def train(path, module, steps, top, loss_of, hidden=None, decay=0.9985):
    """Follows loss_of(module, step) down to `steps`, from where `path` says; the averaged module.
    hidden(name): matrices that Muon trains, AdamW the others at the rate `top`."""
    ema, opts = Average(module, decay), optimisers(module, top, hidden)
    most = [o.param_groups[0]["lr"] for o in opts]
    others = opts[0].param_groups[0]["params"]
    first, total, began = 0, 0.0, time.time()
    if path.exists():
        s = torch.load(path)
        module.load_state_dict(s["net"]), ema.module.load_state_dict(s["ema"])
        for o, state in zip(opts, s["opt"] if isinstance(s["opt"], list) else [s["opt"]]):
            o.load_state_dict(state)
        first = s["step"]
    for step in range(first, steps):
        for o, lr in zip(opts, most):
            o.param_groups[0]["lr"] = lr * rate(step, steps)
        loss = loss_of(module, step)
        module.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(others, 1)
        for o in opts:
            o.step()
        ema.add(module, step)
        total += loss.item()
        if step % 50 == 49:
            say(path.stem, step + 1, "loss %.5f, %.2f s a step" % (total / 50, (time.time() - began) / (step + 1 - first)))
            total = 0.0
        if step % 200 == 199 or step == steps - 1:
            save(path, net=module.state_dict(), ema=ema.module.state_dict(), opt=[o.state_dict() for o in opts], step=step + 1)
    return ema.module.eval()


def arguments(about, **steps):
    """The command line of a trainer whose parts take so many steps."""
    args = argparse.ArgumentParser(description=about)
    args.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/train"), help="where the state is")
    args.add_argument("--part", choices=list(steps), help="this part only; the others may run beside it")
    for name, n in steps.items():
        args.add_argument(f"--{name}-steps", type=int, default=n)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--threads", type=int, default=2)
    a = args.parse_args()
    torch.set_num_threads(a.threads)
    a.work.mkdir(parents=True, exist_ok=True)
    return a


def parts(args, names):
    return [args.part] if args.part else list(names)
