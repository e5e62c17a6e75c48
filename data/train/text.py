# The demo models' vocabularies: byte-level BPE as CLIP has it and a SentencePiece unigram model as
# T5 has it, both over the words of the captions, in the real file formats.
import json
import math
import re
import struct

import draw
from draw import MOTIONS

def words():
    text = " ".join(["a on the in small large picture of and with background"] + list(draw.COLOURS) + draw.SHAPES +
                    list(draw.PLACES) + MOTIONS)
    return sorted(set(text.split()))


# ---- CLIP: byte-level BPE -----------------------------------------------------------------------

def byte_map():
    """GPT-2's printable character for every byte."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    out, n = {b: chr(b) for b in keep}, 0
    for b in range(256):
        if b not in out:
            out[b] = chr(256 + n)
            n += 1
    return out


def bpe_pieces(word, ranks):
    parts = list(word[:-1]) + [word[-1] + "</w>"]
    while len(parts) > 1:
        pairs = [(ranks.get((a, b), math.inf), i) for i, (a, b) in enumerate(zip(parts, parts[1:]))]
        rank, _ = min(pairs)
        if rank == math.inf:
            break
        a, b = next((a, b) for (a, b), r in ranks.items() if r == rank)
        i, out = 0, []
        while i < len(parts):
            if i + 1 < len(parts) and (parts[i], parts[i + 1]) == (a, b):
                out.append(a + b)
                i += 2
            else:
                out.append(parts[i])
                i += 1
        parts = out
    return parts


class Bpe:
    def __init__(self):
        self.ranks = {}
        while True:  # the most frequent pair of the captions' words, until every word is one piece
            count = {}
            for w in words():
                p = bpe_pieces(w, self.ranks)
                for pair in zip(p, p[1:]):
                    count[pair] = count.get(pair, 0) + 1
            if not count:
                break
            self.ranks[min(count, key=lambda p: (-count[p], p))] = len(self.ranks)
        # ids in CLIP's order: printable bytes, the same at the end of a word, merges, start and end
        letters = sorted(byte_map().values(), key=lambda ch: (ord(ch) > 255, ord(ch)))
        tokens = letters + [ch + "</w>" for ch in letters] + [a + b for a, b in self.ranks]
        self.vocab = {t: i for i, t in enumerate(tokens + ["<|startoftext|>", "<|endoftext|>"])}
        self.start, self.end = len(self.vocab) - 2, len(self.vocab) - 1

    def ids(self, text):
        out = [self.vocab[p] for w in re.findall(r"[a-z]+|[^a-z\s]", text.lower()) for p in bpe_pieces(w, self.ranks)]
        return [self.start] + out + [self.end]

    def save(self, folder):
        with open(folder / "vocab.json", "w") as f:
            json.dump(self.vocab, f, ensure_ascii=False)
        with open(folder / "merges.txt", "w") as f:
            f.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in self.ranks))


# ---- T5: unigram --------------------------------------------------------------------------------

class Unigram:
    """Pieces are words, the phrases in which order matters, and single characters."""

    def __init__(self):
        space = "\u2581"
        phrases = [f"{c} background" for c in draw.COLOURS] + MOTIONS + [p for p in draw.PLACES if p]
        pieces = [("<pad>", 0.0, 3), ("</s>", 0.0, 3), ("<unk>", 0.0, 2)]
        pieces += [(space + p.replace(" ", space), -3.0, 1) for p in phrases]
        pieces += [(space + w, -4.0, 1) for w in words() if w not in MOTIONS]
        pieces += [(space, -6.0, 1)] + [(ch, -9.0, 1) for ch in "abcdefghijklmnopqrstuvwxyz0123456789.,:;!?'-()"]
        self.pieces = pieces
        self.id = {p: i for i, (p, _, kind) in enumerate(pieces) if kind == 1}
        self.longest = max(len(p) for p in self.id)

    def ids(self, text):
        s = "\u2581" + "\u2581".join(text.lower().split())
        best = [(0.0, 0, -1)] + [(-math.inf, 0, 0)] * len(s)
        for end in range(1, len(s) + 1):
            for start in range(max(0, end - self.longest), end):
                i = self.id.get(s[start:end])
                score = self.pieces[i][1] if i is not None else -19.0 if end == start + 1 else -math.inf
                if best[start][0] + score > best[end][0]:
                    best[end] = (best[start][0] + score, start, 2 if i is None else i)
        out, at = [], len(s)
        while at > 0:
            out.append(best[at][2])
            at = best[at][1]
        return out[::-1] + [1]

    def proto(self):
        """ModelProto of sentencepiece_model.proto."""
        def field(number, body):
            return bytes([number << 3 | 2]) + varint(len(body)) + body

        def number(n, value):
            return varint(n << 3) + varint(value)

        out = b""
        for piece, score, kind in self.pieces:
            out += field(1, field(1, piece.encode()) + b"\x15" + struct.pack("<f", score) + number(3, kind))
        trainer = number(3, 1) + number(4, len(self.pieces)) + number(40, 2) + number(41, (1 << 64) - 1) + \
            number(42, 1) + number(43, 0)
        return out + field(2, trainer) + field(3, field(1, b"identity") + number(3, 1) + number(4, 1) + number(5, 1))


def varint(n):
    out = b""
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out
