# Qwen-Image's transformer: models/diffusion_models/qwen_image_d64, synth/qwen_image_d64_io. In plain Python and double
# precision, so that it needs no torch.
import json
import math
import pathlib
import random
import struct

TO = pathlib.Path(__file__).resolve().parent.parent
D, DEPTH, MLP, CONTEXT, LAYERS = 64, 32, 96, 32, 2
HEADS, AXES = D // DEPTH, (DEPTH // 8, DEPTH * 7 // 16, DEPTH * 7 // 16)


# ---- files ----------------------------------------------------------------------------------------------------
def bf16(v):
    """rounded to nearest even, as a number"""
    bits = struct.unpack("<I", struct.pack("<f", v))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def f32(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def raw(values, kind):
    if kind == "F32":
        return struct.pack(f"<{len(values)}f", *values)
    return b"".join(struct.pack("<f", v)[2:] for v in values)


def save(name, tensors, kind):
    header = {"__metadata__": {"made": "by tests/data/make: random weights, not a trained model"}}
    at, body = 0, []
    for key, (shape, values) in tensors.items():
        body.append(raw(values, kind))
        header[key] = {"dtype": kind, "shape": list(shape), "data_offsets": [at, at + len(body[-1])]}
        at += len(body[-1])
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (TO / f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


# ---- the network ----------------------------------------------------------------------------------------------
dice = random.Random(20)
weights = {}


def tensor(name, shape, spread, mean=0.0):
    if name not in weights:
        count = math.prod(shape)
        weights[name] = (shape, [bf16(mean + spread * dice.gauss(0, 1)) for _ in range(count)])
    return weights[name][1]


def linear(rows, name, n):
    c = len(rows[0])
    w, b = tensor(name + ".weight", (n, c), c ** -0.5), tensor(name + ".bias", (n,), 0.1)
    return [[b[i] + sum(map(float.__mul__, r, w[i * c:i * c + c])) for i in range(n)] for r in rows]


def silu(rows):
    return [[v / (1 + math.exp(-v)) for v in r] for r in rows]


def gelu_tanh(rows):
    k = math.sqrt(2 / math.pi)
    return [[0.5 * v * (1 + math.tanh(k * (v + 0.044715 * v ** 3))) for v in r] for r in rows]


def rms(rows, name, c):
    """over each part of c channels"""
    g = tensor(name, (c,), 0.2, 1.0)
    out = []
    for r in rows:
        o = []
        for at in range(0, len(r), c):
            part = r[at:at + c]
            by = (sum(v * v for v in part) / c + 1e-6) ** -0.5
            o += [v * by * w for v, w in zip(part, g)]
        out.append(o)
    return out


def modulated(r, shift, scale):
    mean = sum(r) / D
    by = (sum((v - mean) ** 2 for v in r) / D + 1e-6) ** -0.5
    return [(v - mean) * by * (1 + a) + b for v, a, b in zip(r, scale, shift)]


def rotated(rows, ids):
    out = []
    for r, place in zip(rows, ids):
        angles = [p * 10000.0 ** (-2 * k / n) for p, n in zip(place, AXES) for k in range(n // 2)]
        o = []
        for h in range(HEADS):
            for k, a in enumerate(angles):
                x, y = r[h * DEPTH + 2 * k], r[h * DEPTH + 2 * k + 1]
                o += [x * math.cos(a) - y * math.sin(a), x * math.sin(a) + y * math.cos(a)]
        out.append(o)
    return out


def attention(q, k, v, hidden):
    out = [[] for _ in q]
    for h in range(HEADS):
        part = slice(h * DEPTH, (h + 1) * DEPTH)
        keys, values = [r[part] for r in k], [r[part] for r in v]
        for row, o in zip(q, out):
            s = [sum(map(float.__mul__, row[part], key)) * DEPTH ** -0.5 for key in keys]
            s = [-math.inf if hide else x for x, hide in zip(s, hidden)]
            top = max(s)
            e = [math.exp(x - top) for x in s]
            total = sum(e)
            o += [sum(p * value[c] for p, value in zip(e, values)) / total for c in range(DEPTH)]
    return out


def wave(t):
    angles = [1000 * t * math.exp(-math.log(10000) * k / 128) for k in range(128)]
    return [[math.cos(a) for a in angles] + [math.sin(a) for a in angles]]


def side(base, rows, which, mods, norms):
    u = [modulated(r, *m[0:2]) for r, m in zip(rows, mods)]
    q, k, v = (linear(u, base + "attn." + name, D) for name in which)
    return rms(q, base + norms[0], DEPTH), rms(k, base + norms[1], DEPTH), v


def finish(base, rows, attn, mods, out, mlp):
    for r, a, m in zip(rows, linear(attn, base + "attn." + out, D), mods):
        r[:] = [x + g * y for x, g, y in zip(r, m[2], a)]
    u = gelu_tanh(linear([modulated(r, *m[3:5]) for r, m in zip(rows, mods)], base + mlp + ".net.0.proj", MLP))
    for r, a, m in zip(rows, linear(u, base + mlp + ".net.2", D), mods):
        r[:] = [x + g * y for x, g, y in zip(r, m[5], a)]


def six(base, name, temb):
    m = linear(temb, base + name, 6 * D)[0]
    return [m[i * D:(i + 1) * D] for i in range(6)]


def block(i, img, txt, tembs, ids, hidden):
    """tembs: of each image token"""
    base = f"transformer_blocks.{i}."
    known = {id(t): six(base, "img_mod.1", t) for t in tembs}
    mi, mt = [known[id(t)] for t in tembs], [six(base, "txt_mod.1", tembs[0])] * len(txt)
    qi, ki, vi = side(base, img, ("to_q", "to_k", "to_v"), mi, ("attn.norm_q.weight", "attn.norm_k.weight"))
    qt, kt, vt = side(base, txt, ("add_q_proj", "add_k_proj", "add_v_proj"), mt,
                      ("attn.norm_added_q.weight", "attn.norm_added_k.weight"))
    out = attention(rotated(qt + qi, ids), rotated(kt + ki, ids), vt + vi, hidden)
    finish(base, img, out[len(txt):], mi, "to_out.0", "img_mlp")
    finish(base, txt, out[:len(txt)], mt, "to_add_out", "txt_mlp")


def tokens(x, h, w):
    """x[channel][row][column] -> a row of 64 features for every 2x2 cells; the first ones follow the last"""
    return [[x[c][(2 * y + dy) % h][(2 * v + dx) % w] for c in range(16) for dy in (0, 1) for dx in (0, 1)]
            for y in range((h + 1) // 2) for v in range((w + 1) // 2)]


def grid(h, w, picture, oh=0, ow=0):
    hl, wl = (h + 1) // 2, (w + 1) // 2
    return [(picture, y - hl // 2 + oh, v - wl // 2 + ow) for y in range(hl) for v in range(wl)]


def places(refs, method):
    out, hh, ww = [], 0, 0
    for k, (_, h, w) in enumerate(refs, 1):
        if method not in ("offset", "uxo"):
            out += grid(h, w, -k if method == "negative_index" else k)
            continue
        oy, ox = (0, ww) if h + hh > w + ww else (hh, 0)
        hh, ww = max(hh, h + oy), max(ww, w + ox)
        out += grid(h, w, 1, (oy + 1) // 2, (ox + 1) // 2)
    return out


def forward(x, h, w, t, context, refs=(), method="index", mask=None, kept=None, after=None, hint=None):
    """after(i, img, n): what changes the rows of img once block i has run; the first n are the picture's. hint: rows that
    are added to the picture's at first; then the layers behind the blocks are left out"""
    hl, wl = (h + 1) // 2, (w + 1) // 2
    start = max(hl // 2, wl // 2)
    ids = [(start + j,) * 3 for j in range(len(context))] + grid(h, w, 0) + places(refs, method)
    img = linear(sum((tokens(*p) for p in refs), tokens(x, h, w)), "img_in", D)
    if hint:
        img = [[a + b for a, b in zip(*r)] for r in zip(img, hint)]
    txt = linear(rms(context, "txt_norm.weight", CONTEXT), "txt_in", D)

    def embedded(time):
        name = "time_text_embed.timestep_embedder.linear_"
        return linear(silu(linear(wave(time), name + "1", D)), name + "2", D)
    temb = embedded(t)
    if kept is not None:
        kept.update(img_in=img and [list(r) for r in img], txt_in=[list(r) for r in txt], temb=temb, ids=ids)
    temb = silu(temb)
    zero = silu(embedded(0.0)) if method == "index_timestep_zero" and refs else temb
    tembs = [temb] * (hl * wl) + [zero] * (len(img) - hl * wl)
    hidden = [m == 0 for m in mask or []] or [False] * len(context)
    hidden += [False] * len(img)
    for i in range(LAYERS):
        block(i, img, txt, tembs, ids, hidden)
        if after:
            after(i, img, hl * wl)
    if hint:
        return None
    last = linear(temb, "norm_out.linear", 2 * D)[0]
    rows = linear([modulated(r, last[D:], last[:D]) for r in img[:hl * wl]], "proj_out", 64)
    return [rows[y // 2 * wl + v // 2][c * 4 + y % 2 * 2 + v % 2] for c in range(16) for y in range(h) for v in range(w)]


# ---- what is recorded -----------------------------------------------------------------------------------------
io = {}


def picture(name, h, w):
    values = [f32(dice.gauss(0, 1)) for _ in range(16 * h * w)]
    io[name] = ((1, 16, 1, h, w), values)
    return [[values[(c * h + y) * w:(c * h + y) * w + w] for y in range(h)] for c in range(16)], h, w


def prompt(name, n):
    values = [f32(dice.gauss(0, 1)) for _ in range(n * CONTEXT)]
    io[name] = ((1, n, CONTEXT), values)
    return [values[i * CONTEXT:(i + 1) * CONTEXT] for i in range(n)]


def record(prefix, h, w, n, t):
    x, text = picture(prefix + "x", h, w), prompt(prefix + "context", n)
    io[prefix + "timestep"] = ((1,), [f32(t)])
    return (*x, f32(t), text)


def flat(rows):
    return ((1, len(rows), len(rows[0])), [float(v) for r in rows for v in r])


def put(name, x, values):
    io[name] = ((1, 16, 1, x[1], x[2]), values)


def main():
    kept = {}
    a = record("", 4, 6, 5, 0.7)
    put("out", a, forward(*a, kept=kept))
    io.update(position_ids=flat(kept["ids"]), img_in=flat(kept["img_in"]), txt_in=flat(kept["txt_in"]),
              temb=((1, D), kept["temb"][0]))
    a = record("odd_", 5, 3, 3, 0.4)
    kept = {}
    put("odd_out", a, forward(*a, kept=kept))
    io["odd_position_ids"] = flat(kept["ids"])
    a = record("mask_", 4, 4, 4, 0.5)
    io["mask"] = ((1, 4), [1.0, 1.0, 0.0, 0.0])
    put("mask_out", a, forward(*a, mask=[1, 1, 0, 0]))
    put("mask_out_ignored", a, forward(*a))
    a = record("ref_", 4, 6, 4, 0.8)
    refs = [picture("ref0", 3, 5), picture("ref1", 6, 2)]
    for method in ("index", "offset", "uxo", "index_timestep_zero", "negative_index"):
        kept = {}
        put("ref_out_" + method, a, forward(*a, refs, method, kept=kept))
        io["ref_position_ids_" + method] = flat(kept["ids"])
    save("models/diffusion_models/qwen_image_d64", weights, "BF16")
    save("synth/qwen_image_d64_io", io, "F32")


if __name__ == "__main__":
    main()
