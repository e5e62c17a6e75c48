# Language models as text encoders, of random weights and with vocabularies of their own: models/text_encoders/
# {qwen3_tiny_fp8_e4m3fn,mistral3_tiny_fp8_e4m3fn,qwen_2.5_vl_7b_tiny}, models/tokenizers/qwen25, synth/*_io, vectors/.
import base64
import collections
import json
import math
import re
import unicodedata

import torch
import torch.nn.functional as F

import files
import net
from net import Net

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
            "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>",
            "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>", "<|fim_prefix|>",
            "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<tool_response>",
            "</tool_response>", "<think>", "</think>"]
ASK = "<|im_end|>\n<|im_start|>assistant\n"
DESCRIBE = ("<|im_start|>system\nDescribe the image by detailing the color, shape, size, texture, quantity, text, "
            "spatial relationships of the objects and background:<|im_end|>\n<|im_start|>user\n")
EDIT = ("<|im_start|>system\nDescribe the key features of the input image (color, shape, size, texture, objects, "
        "background), then explain how the user's text instruction should alter or modify the image. Generate a new "
        "image that meets the user's requirements while maintaining consistency with the original input where "
        "appropriate.<|im_end|>\n<|im_start|>user\n")
REASON = ("[SYSTEM_PROMPT]You are an AI that reasons about image descriptions. You give structured responses focusing "
          "on object relationships, object\nattribution and actions without speculation.[/SYSTEM_PROMPT][INST]")
MARK = "<|vision_start|><|image_pad|><|vision_end|>"
TEXTS = ["", " ", "a", "a photo of a cat", "A Photo of a CAT!", "two  spaces   three", "tab\tand\ttabs",
         "line\n\n\nfour \n five", "windows\r\nnewline\r\n", "12345 dogs, 3.14", "it's WE'LL 'Tis", "cafe\u0301 caf\u00e9",
         "\u4f60\u597d, \U0001f427!", "(cat:1.3) \\(x\\) ((dog))", "a\u00a0b\u3000c \u2028 d", "_under__score_ -- #hash",
         "a cat<|endoftext|> not seen", "say <|im_start|>user\ninside <|im_sta", "a cat embedding:bar end", "\x1c\x1fx"]

# ---- tokens ----------------------------------------------------------------------------------


def kind(c):
    k = unicodedata.category(c)
    if c in "\r\n":
        return "R"
    if k[0] in "LN":
        return k[0]
    if c == " ":
        return "B"
    return "S" if c in "\t\x0b\x0c\x85" or k[0] == "Z" else "O"


def words(text, digits):
    """The pattern over letters that stand for classes of characters."""
    quick = re.compile("'(?:s|t|re|ve|m|ll|d)", re.I)
    slow = re.compile("[^RLN]?L+|N{1,%d}|B?O+R*|[SBR]*R+|[SBR]+(?![^SBR])|[SBR]+" % digits)
    kinds, at, out = "".join(map(kind, text)), 0, []
    while at < len(text):
        m = quick.match(text, at) or slow.match(kinds, at)
        out.append(text[at:m.end()])
        at = m.end()
    return out


def merged(parts, rank):
    """Pairs of the least rank first, every one of them from left to right."""
    while len(parts) > 1:
        best = min((rank.get(p, math.inf), i) for i, p in enumerate(zip(parts, parts[1:])))
        if best[0] == math.inf:
            break
        pair, out, i = tuple(parts[best[1]:best[1] + 2]), [], 0
        while i < len(parts):
            both = tuple(parts[i:i + 2]) == pair
            out.append(parts[i] + parts[i + 1] if both else parts[i])
            i += 1 + both
        parts = out
    return parts


class Tokenizer:
    def __init__(self, ids, rank, specials, digits, nfc):
        self.ids, self.rank, self.specials, self.digits, self.nfc = ids, rank, specials, digits, nfc

    def __call__(self, text):
        out = []
        cut = "|".join(map(re.escape, sorted(self.specials, key=len, reverse=True)))
        for part in re.split(f"({cut})", text):
            if part in self.specials:
                out.append(self.specials[part])
                continue
            part = unicodedata.normalize("NFC", part) if self.nfc else part
            for w in words(part, self.digits):
                out += [self.ids[p] for p in merged([bytes([b]) for b in w.encode()], self.rank)]
        return out


def train(count):
    """The most frequent pairs of what the templates and texts hold, one after the other."""
    corpus = collections.Counter(w for t in [DESCRIBE, EDIT, REASON, ASK] + TEXTS for w in words(t, 1))
    split, merges = {w: [bytes([b]) for b in w.encode()] for w in corpus}, []
    while len(merges) < count:
        pairs = collections.Counter()
        for w, n in corpus.items():
            for p in zip(split[w], split[w][1:]):
                pairs[p] += n
        pair = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(pair)
        split = {w: merged(s, {pair: 0}) for w, s in split.items()}
    return merges


def printable():
    """GPT-2's characters of bytes"""
    plain = [c for c in range(256) if 33 <= c <= 126 or (c >= 161 and c != 173)]
    shown, extra = {c: chr(c) for c in plain}, 256
    for c in range(256):
        if c not in shown:
            shown[c], extra = chr(extra), extra + 1
    return plain + [c for c in range(256) if c not in plain], shown


def qwen_tokenizer():
    order, shown = printable()

    def show(b):
        return "".join(shown[c] for c in b)
    merges = train(200)
    tokens = [bytes([c]) for c in order] + [a + b for a, b in merges]
    ids = {t: i for i, t in enumerate(tokens)}
    specials = {s: len(tokens) + i for i, s in enumerate(SPECIALS)}
    files.path("models/tokenizers/qwen25/tokenizer.json").write_text(json.dumps(
        {"added_tokens": [{"id": i, "content": s} for s, i in specials.items()],
         "model": {"type": "BPE", "vocab": {show(t): i for t, i in ids.items()},
                   "merges": [f"{show(a)} {show(b)}" for a, b in merges]}}, ensure_ascii=False, indent=0) + "\n")
    return Tokenizer(ids, {p: i for i, p in enumerate(merges)}, specials, 1, True)


def tekken(size):
    """Mistral's form: specials first, then tokens by rank; every way to make one of two is a merge."""
    named = {1: "<s>", 2: "</s>", 3: "[INST]", 4: "[/INST]", 11: "<pad>", 17: "[SYSTEM_PROMPT]", 18: "[/SYSTEM_PROMPT]"}
    names = [named.get(i, f"<S{i}>") for i in range(1000)]
    tokens = [bytes([c]) for c in range(256)] + [a + b for a, b in train(size + 8 - 256)]
    text = json.dumps(
        {"config": {"default_vocab_size": 1000 + size}, "special_tokens": [{"rank": i, "token_str": s} for i, s in enumerate(names)],
         "vocab": [{"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None} for i, t in enumerate(tokens)]},
        separators=(",", ":"))
    ids = {t: i for i, t in enumerate(tokens[:size])}  # the last ones are beyond the size
    splits = [(ids[t], ids[t[:k]], ids[t[k:]], t[:k], t[k:]) for t in ids for k in range(1, len(t))
              if t[:k] in ids and t[k:] in ids]
    rank = {(s[3], s[4]): i for i, s in enumerate(sorted(splits, key=lambda s: s[:3]))}
    return Tokenizer({t: 1000 + i for t, i in ids.items()}, rank, {s: i for i, s in enumerate(names)}, 3, False), text


# ---- networks --------------------------------------------------------------------------------


def rms(n, x, name, eps=1e-6, width=None):
    g = n(name + ".weight", width or x.shape[-1], spread=0.1, mean=1)
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * g


def turn(x, a):
    """x [heads,T,D], angles [T,D/2]: a channel of the first half with one of the second"""
    p, q = x.chunk(2, -1)
    return torch.cat([p * a.cos() - q * a.sin(), q * a.cos() + p * a.sin()], -1)


def heads(x, depth):
    return x.unflatten(-1, (-1, depth)).transpose(0, 1)


def attend(q, k, v, bias=0.0):
    k, v = (t.repeat_interleave(q.shape[0] // t.shape[0], 0) for t in (k, v))
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + bias
    return (s.softmax(-1) @ v).transpose(0, 1).flatten(1)


class Llm:
    def __init__(self, n, width, layers, count, shared, depth, mlp, theta, eps, norms, bias):
        self.n, self.width, self.layers, self.count, self.shared = n, width, layers, count, shared
        self.depth, self.mlp, self.theta, self.eps, self.norms, self.bias = depth, mlp, theta, eps, norms, bias

    def __call__(self, x, mask=None, places=None):
        """States before and behind each layer, and the last of them normed. places [3,T]"""
        t, d, small = len(x), self.depth, self.n.at("", torch.bfloat16)
        places = torch.arange(t).expand(3, t) if places is None else places
        axis = torch.tensor([0 if j < 16 else 1 if j < 40 else 2 for j in range(d // 2)])
        a = places[axis].T.double() * self.theta ** (-2.0 * torch.arange(d // 2).double() / d)
        bias = torch.full((t, t), -math.inf).double().triu(1)
        if mask is not None:
            bias = bias.masked_fill(~mask.bool()[None], -math.inf)
        states = [x]
        for i in range(self.layers):
            m, s = self.n.at(f"model.layers.{i}."), small.at(f"model.layers.{i}.")
            u = rms(s, x, "input_layernorm", self.eps)
            q, k, v = (heads(m.linear(u, f"self_attn.{p}_proj", d * c, self.bias), d)
                       for p, c in (("q", self.count), ("k", self.shared), ("v", self.shared)))
            if self.norms:
                q, k = rms(s, q, "self_attn.q_norm", self.eps), rms(s, k, "self_attn.k_norm", self.eps)
            x = x + m.linear(attend(turn(q, a), turn(k, a), v, bias), "self_attn.o_proj", self.width, False)
            u = rms(s, x, "post_attention_layernorm", self.eps)
            u = F.silu(m.linear(u, "mlp.gate_proj", self.mlp, False)) * m.linear(u, "mlp.up_proj", self.mlp, False)
            x = x + m.linear(u, "mlp.down_proj", self.width, False)
            states.append(x)
        return states, rms(small, x, "model.norm", self.eps)


class Eyes:
    """The vision network, window by window in the picture's order; attention is masked, not cut."""

    def __init__(self, n, width, layers, mlp, out):
        self.n, self.width, self.layers, self.mlp, self.out = n.at("visual."), width, layers, mlp, out

    def __call__(self, picture):
        h, w = (round(s / 28) * 28 for s in picture.shape[1:3])
        x = F.interpolate(picture.permute(0, 3, 1, 2), (h, w), mode="bilinear", align_corners=False)[0]
        mean = torch.tensor([0.48145466, 0.4578275, 0.40821073], dtype=torch.float64)[:, None, None]
        x = (x - mean) / torch.tensor([0.26862954, 0.26130258, 0.27577711], dtype=torch.float64)[:, None, None]
        rows, cols = h // 28, w // 28
        # [c, cell row, patch row, y, cell column, patch column, x] to cells, patches, values of two frames
        p = x.reshape(3, rows, 2, 14, cols, 2, 14).permute(1, 4, 2, 5, 0, 3, 6).reshape(rows * cols * 4, 3, 1, 196)
        p = p.expand(-1, 3, 2, 196).flatten(1)
        k = self.n("patch_embed.proj.weight", self.width, 3, 2, 14, 14, spread=1 / math.sqrt(1176))
        first = x = p @ k.flatten(1).T
        cell = torch.arange(rows * cols).repeat_interleave(4)
        part = torch.arange(rows * cols * 4) % 4
        y, z = cell // cols * 2 + part // 2, cell % cols * 2 + part % 2
        f = 10000.0 ** (-torch.arange(20).double() / 20)
        a = torch.cat([y[:, None] * f, z[:, None] * f], -1)
        window = (y // 8) * 1000 + z // 8
        apart = torch.where(window[:, None] == window[None], 0.0, -math.inf).double()
        states = [x]
        for i in range(self.layers):
            m = self.n.at(f"blocks.{i}.")
            q, k, v = (heads(t, 80) for t in m.linear(rms(m, x, "norm1"), "attn.qkv", 3 * self.width).chunk(3, -1))
            x = x + m.linear(attend(turn(q, a), turn(k, a), v, 0.0 if i % 8 == 7 else apart), "attn.proj", self.width)
            u = rms(m, x, "norm2")
            u = F.silu(m.linear(u, "mlp.gate_proj", self.mlp)) * m.linear(u, "mlp.up_proj", self.mlp)
            x = x + m.linear(u, "mlp.down_proj", self.width)
            states.append(x)
        u = rms(self.n, x, "merger.ln_q").reshape(rows * cols, 4 * self.width)
        u = self.n.linear(F.gelu(self.n.linear(u, "merger.mlp.0", 4 * self.width)), "merger.mlp.2", self.out)
        return first, states, u, (rows, cols)


# ---- files -----------------------------------------------------------------------------------


def row(ids):
    return torch.tensor(ids, dtype=torch.int32)[None]


def fp8_model(name, n, more):
    """Everything with "_proj" in fp8; every fourth of them scaled, under the names that newer files have."""
    fp8 = [k for k in n.tensors if "_proj" in k or "embed" in k]
    tensors = {k: t.double() if k in fp8 else t for k, t in n.tensors.items()}
    for i, k in enumerate(k for k in fp8 if "_proj" in k):
        if i % 4 == 0:
            tensors[k] = tensors[k] * 4
            tensors[k.replace(".weight", ".weight_scale")] = torch.tensor(0.25)
            tensors[k.replace(".weight", ".comfy_quant")] = torch.tensor(list(b'{"format": "float8_e4m3fn"}'),
                                                                         dtype=torch.uint8)
    files.save(f"models/text_encoders/{name}.safetensors", {**tensors, **more}, fp8)


def qwen3(tok):
    n = Net(41, net.FP8)
    model = Llm(n, 32, 30, 4, 2, 16, 64, 1e6, 1e-6, True, False)
    table = n("model.embed_tokens.weight", 512, 32)
    io = {}
    for i, text in enumerate(["a photo of a cat", "", 'caf\u00e9 "neon", 12 birds\n(line:1.2)']):
        ids = tok(f"<|im_start|>user\n{text}{ASK}")
        states, normed = model(table[ids])
        io[f"z{i}/ids"], io[f"z{i}/out"] = row(ids), states[-2][None]
        if i == 0:
            io["z0/hidden_all"], io["z0/final_norm"] = torch.stack(states[:-1] + [normed])[None], normed[None]
    ids = tok(f"<|im_start|>user\na photo of a cat{ASK}<think>\n\n</think>\n\n")
    mask = torch.arange(512) < len(ids)
    ids += [tok.specials["<|endoftext|>"]] * (512 - len(ids))
    states, _ = model(table[ids], mask)
    io["klein/ids"], io["klein/mask"] = row(ids), mask.int()[None]
    io["klein/out"] = torch.cat([states[k] for k in (9, 18, 27)], -1)[None]
    fp8_model("qwen3_tiny_fp8_e4m3fn", n, {})
    files.save("synth/qwen3_tiny_io.safetensors", io)
    plain = [t for t in TEXTS if "embedding:" not in t]  # the gap stays
    undone = [t.replace("\\(", "(").replace("\\)", ")") for t in plain]
    cases = [{"text": t, "z_image": tok(f"<|im_start|>user\n{u}{ASK}")} for t, u in zip(plain, undone)]
    klein = [{"text": t, "len": 512, "head": tok(f"<|im_start|>user\n{t}{ASK}<think>\n\n</think>\n\n")}
             for t in ("a photo of a cat", "")]
    files.save_json("vectors/qwen_token_ids.json", {"cases": cases, "klein": klein})


def mistral3():
    tok, text = tekken(400)
    n = Net(42, net.FP8)
    model = Llm(n, 16, 30, 2, 1, 128, 32, 1e9, 1e-5, False, False)
    table = n("model.embed_tokens.weight", 1400, 16)
    io, cases = {}, []
    for i, prompt in enumerate(["a photo of a cat", "12345 dogs, it's neon"]):
        ids = [1] + tok(f"{REASON}{prompt}[/INST]")
        states, _ = model(table[ids])
        io[f"{i}/ids"], io[f"{i}/out"] = row(ids), torch.cat([states[k] for k in (10, 20, 30)], -1)[None]
    del n.tensors["model.norm.weight"]  # as in files of 30 layers
    fp8_model("mistral3_tiny_fp8_e4m3fn", n, {"tekken_model": torch.tensor(list(text.encode()), dtype=torch.uint8)})
    files.save("synth/mistral3_tiny_io.safetensors", io)
    for t in TEXTS:
        if "embedding:" not in t:
            u = t.replace("\\(", "(").replace("\\)", ")")
            cases.append({"text": t, "ids": [1] + tok(f"{REASON}{u}[/INST]")})
    files.save_json("vectors/mistral_tiny_token_ids.json", {"cases": cases})


def first_row(ids, tok):
    starts = [i for i, t in enumerate(ids) if t == tok.specials["<|im_start|>"]][:2]
    e = starts[-1] if starts else -1
    return e + 3 if e >= 0 and len(ids) > e + 3 and ids[e + 1:e + 3] == tok("user\n") else e


def qwen25(tok):
    n = Net(43, torch.bfloat16)
    model = Llm(n, 32, 3, 2, 1, 128, 88, 1e6, 1e-6, False, True)
    eyes = Eyes(n, 80, 8, 52, 32)
    table = n("model.embed_tokens.weight", 512, 32)
    ids = tok(f'{DESCRIBE}a photo of a cat, "\u4f60\u597d"{ASK}')
    states, normed = model(table[ids])
    io = {"text_ids": row(ids), "text_embeds": states[0][None], "text_out_full": normed[None],
          "text_cond": normed[None, first_row(ids, tok):]}
    io.update({f"text_hidden_{i}": s[None] for i, s in enumerate(states[1:])})
    ids = tok(f"{DESCRIBE}a cat<|endoftext|> not seen{ASK}")
    mask = torch.arange(len(ids)) < ids.index(tok.specials["<|endoftext|>"])
    _, normed = model(table[ids], mask)
    at = first_row(ids, tok)
    io.update({"mask_ids": row(ids), "mask_llm": mask.int()[None], "mask_out_full": normed[None],
               "mask_cond": normed[None, at:], "mask_cond_mask": mask[None, at:].int()})
    seen = []
    for name, h, w in (("vis", 150, 210), ("vis2", 70, 42)):
        picture = files.values(len(seen) + 7, 1, h, w, 3).sigmoid().float().double()
        first, states, out, size = eyes(picture)
        io.update({f"{name}_image": picture, f"{name}_patch_embed": first, f"{name}_block0_windowed": states[1],
                   f"{name}_block7_windowed": states[8], f"{name}_out": out,
                   f"{name}_window_index": torch.arange(len(out)).int()})
        seen.append((out, size))
    ids = tok(f"{EDIT}Picture 1: {MARK}Picture 2: {MARK}swap the two{ASK}")
    rows, places, at, pad = [], [], 0, tok.specials["<|image_pad|>"]
    for t in ids:
        if t != pad:
            rows.append(table[t][None])
            places.append(torch.full((3, 1), at))
            at += 1
            continue
        out, (h, w) = seen.pop(0)
        rows.append(out)
        places.append(at + torch.stack([torch.zeros(h * w).long(), torch.arange(h * w) // w, torch.arange(h * w) % w]))
        at += max(h, w)
    _, normed = model(torch.cat(rows), None, torch.cat(places, 1))
    io["mm_cond"] = normed[None, first_row(ids, tok):]
    files.save("models/text_encoders/qwen_2.5_vl_7b_tiny.safetensors", n.tensors)
    files.save("synth/qwen25_vl_tiny_io.safetensors", io)
    cases = []
    for t in TEXTS + ["<|im_start|>system\nHi<|im_end|>\n<|im_start|>user\nraw<|im_end|>\n", "<|im_start|>only one"]:
        u = t.replace("\\(", "(").replace("\\)", ")")
        whole = u if u.startswith("<|im_start|>") else DESCRIBE + u + ASK
        ids = sum((tok(p) for p in whole.split(" embedding:")[:1]), [])
        for p in whole.split(" embedding:")[1:]:
            ids += tok("embedding:" + p)
        cases.append({"kind": "text", "text": t, "ids": ids, "drop": first_row(ids, tok)})
    for k, marks in (("edit with image", MARK), ("plus, no image", ""), ("plus, image2 only", f"Picture 2: {MARK}")):
        ids = tok(f"{EDIT}{marks}swap them{ASK}")
        cases.append({"kind": k, "text": "swap them", "ids": ids, "drop": first_row(ids, tok)})
    files.save_json("vectors/qwen25_token_ids.json", {"wrapped": cases})


def main():
    tok = qwen_tokenizer()
    qwen3(tok)
    mistral3()
    qwen25(tok)


if __name__ == "__main__":
    main()
