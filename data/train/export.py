# Writes trained weights in the formats that users have: safetensors, GGUF Q8_0, scaled fp8.
import json
import struct
import zlib

import torch

NAMES = {torch.float32: "F32", torch.float16: "F16", torch.uint8: "U8"}


def raw(t):
    return t.detach().contiguous().numpy().tobytes()


def safetensors(path, tensors, metadata=None, names=None):
    """names: dtype of a tensor in the file where torch has none ("F8_E4M3")."""
    names, header, at = names or {}, {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for k, t in tensors.items():
        n = t.numel() * t.element_size()
        header[k] = {"dtype": names.get(k, NAMES[t.dtype]), "shape": list(t.shape), "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for t in tensors.values():
            f.write(raw(t))


# ---- fp8 e4m3fn, one scale a matrix ---------------------------------------------------------------

def e4m3_values():
    out = []
    for code in range(127):
        exponent, mantissa = code >> 3, code & 7
        out.append((mantissa / 8 * 2.0 ** -6) if exponent == 0 else (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return torch.tensor(out, dtype=torch.float64)


def e4m3(t):
    """Nearest code, ties to the even one."""
    values = e4m3_values()
    a = t.double().abs().clamp(max=448.0)
    hi = torch.searchsorted(values, a.flatten()).clamp(max=126)
    lo = (hi - 1).clamp(min=0)
    near_lo, near_hi = a.flatten() - values[lo], values[hi] - a.flatten()
    code = torch.where((near_lo < near_hi) | ((near_lo == near_hi) & (lo % 2 == 0)), lo, hi)
    return (code + torch.where(t.flatten() < 0, 128, 0)).to(torch.uint8).view(t.shape)


def is_fp8(t):
    return t.dim() == 2 and t.numel() > 4096


def fp8_scale(t):
    return t.abs().max().float() / 448.0


def fp8_values(t):
    """What is left of t in the file."""
    code = e4m3(t / fp8_scale(t))
    value = torch.cat([e4m3_values(), torch.zeros(1).double()])[(code & 127).long()].float()
    return torch.where(code >= 128, -value, value) * fp8_scale(t)


def scaled_fp8(path, weights):
    out, names = {}, {"scaled_fp8": "F8_E4M3"}
    for k, t in weights.items():
        if is_fp8(t):
            scale = fp8_scale(t)
            out[k], names[k] = e4m3(t / scale), "F8_E4M3"
            out[k.replace(".weight", ".scale_weight")] = scale.reshape(1)
        else:
            out[k] = t.half()
    out["scaled_fp8"] = torch.zeros(2, dtype=torch.uint8)
    safetensors(path, out, names=names)


# ---- GGUF ---------------------------------------------------------------------------------------

def q8_0(t):
    blocks = t.float().reshape(-1, 32)
    scale = blocks.abs().amax(1, keepdim=True) / 127
    half = scale.half()
    inverse = torch.where(scale > 0, 1 / scale, torch.zeros_like(scale))
    codes = (blocks * inverse).round().to(torch.int8)
    return b"".join(raw(h) + raw(c) for h, c in zip(half, codes))


def gguf(path, weights, arch):
    def text(s):
        return struct.pack("<Q", len(s)) + s.encode()

    meta = {"general.architecture": arch, "general.name": "ninodes demo"}
    infos, data = b"", b""
    for k, t in weights.items():
        is_q8 = t.dim() == 2 and t.shape[1] % 32 == 0 and t.numel() > 4096
        body = q8_0(t) if is_q8 else raw(t.float())
        infos += text(k) + struct.pack("<I", t.dim()) + b"".join(struct.pack("<Q", n) for n in reversed(t.shape))
        infos += struct.pack("<IQ", 8 if is_q8 else 0, len(data))
        data += body + bytes(-len(body) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(weights), len(meta) + 1)
    for k, v in meta.items():
        head += text(k) + struct.pack("<I", 8) + text(v)
    head += text("general.file_type") + struct.pack("<II", 4, 7) + infos
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % 32) + data)


# ---- PNG ----------------------------------------------------------------------------------------

def png(path, picture, cut=False):
    """picture [3,H,W] in 0..1; cut: values are cut to whole ones, as SaveImage does"""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    _, h, w = picture.shape
    values = picture.clamp(0, 1) * 255
    rows = (values if cut else values.round()).to(torch.uint8).permute(1, 2, 0).reshape(h, 3 * w)
    body = b"".join(b"\0" + raw(r) for r in rows)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(body, 9)) + chunk(b"IEND", b""))
