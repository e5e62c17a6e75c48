# What all scripts here share: where files go, safetensors, reproducible values.
import json
import math
import pathlib
import struct

import torch

TO = pathlib.Path(__file__).resolve().parent.parent
NAMES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int32: "I32",
         torch.uint8: "U8"}


def path(name):
    p = TO / name
    p.parent.mkdir(parents=True, exist_ok=True)
    return p


def raw(t):
    t = t.detach().contiguous()
    return (t.view(torch.int16) if t.dtype == torch.bfloat16 else t).numpy().tobytes()


def fp8_values():
    """of the codes 0...126 of e4m3"""
    codes = torch.arange(127)
    fraction, exponent = (codes & 7) / 8.0, codes >> 3
    return torch.where(exponent > 0, (1 + fraction) * 2.0 ** (exponent - 7), fraction * 2.0 ** -6).double()


def fp8_codes(t):
    """The nearest code of every value; at equal distance the even one."""
    values, a = fp8_values(), t.double().abs().clamp(max=448.0)
    hi = torch.searchsorted(values, a).clamp(max=126)
    lo = (hi - 1).clamp(min=0)
    below, above = a - values[lo], values[hi] - a
    code = torch.where((below < above) | ((below == above) & (lo % 2 == 0)), lo, hi)
    return (code + torch.where(t < 0, 128, 0)).to(torch.uint8)


def fp8_decoded(codes):
    v = torch.cat([fp8_values(), torch.zeros(1).double()])[(codes & 127).long()]
    return torch.where(codes >= 128, -v, v)


def save(name, tensors, fp8=()):
    """tensors by name; those of float64 become float32, those in fp8 codes of e4m3."""
    header, at, body = {"__metadata__": {"made": "by tests/data/make: random weights, not a trained model"}}, 0, []
    for k, t in tensors.items():
        t = fp8_codes(t) if k in fp8 else t.float() if t.dtype == torch.float64 else t
        body.append(raw(t))
        header[k] = {"dtype": "F8_E4M3" if k in fp8 else NAMES[t.dtype], "shape": list(t.shape),
                     "data_offsets": [at, at + len(body[-1])]}
        at += len(body[-1])
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path(name).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


def load(name):
    """What save() wrote, or another's file with scaled fp8 weights, as doubles; bytes stay bytes."""
    data, out = path(name).read_bytes(), {}
    size, = struct.unpack("<Q", data[:8])
    kinds = {v: k for k, v in NAMES.items()}
    header = json.loads(data[8:8 + size])
    for k, e in header.items():
        if k == "__metadata__" or not math.prod(e["shape"]):
            continue
        body = bytearray(data[8 + size + e["data_offsets"][0]:8 + size + e["data_offsets"][1]])
        kind = torch.uint8 if e["dtype"] == "F8_E4M3" else kinds[e["dtype"]]
        t = torch.frombuffer(body, dtype=kind).reshape(e["shape"])
        t = fp8_decoded(t) if e["dtype"] == "F8_E4M3" else t
        out[k] = t.double() if t.is_floating_point() else t
    for k in out:
        for scale in ("scale_weight", "weight_scale"):
            by = out.get(k.removesuffix("weight") + scale)
            out[k] = out[k] * by if k.endswith(".weight") and by is not None else out[k]
    return out


def save_json(name, value):
    path(name).write_text(json.dumps(value, separators=(",", ":")) + "\n")


def values(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
