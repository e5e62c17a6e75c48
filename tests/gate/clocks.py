"""What a turn of a kernel's main loop costs a wave on gfx1151, by a model, from its machine code.

The main loop is the one with the most matrix instructions, without any the one that costs most. Two turns
of it are told, of those with all its matrix instructions: the dearest, in which each rare branch is
taken, and the cheapest of those that load and store the most. The model, per SIMD unless it says else, has no
latencies, no cache misses, no conflicts:

  matrix   32 clocks for 16x16x16; nothing else of the SIMD's vector arithmetic runs beside it
  vector   1 clock an instruction of 32 lanes, also for two at once (v_dual); 4 for exp, log, 1 / x,
           roots, sines, products of 32-bit whole numbers, 64-bit arithmetic
  local    128 bytes a clock, of the two SIMDs of a compute unit together
  bytes    of global loads and stores, all lanes together
  fma      fused multiply-adds of f32 a lane, of which a clock could have two

Sources: AMD, "RDNA3.5 Instruction Set Architecture" (instructions, fragments); the clocks of matrix
instructions, of __local and the number of registers: woct0rdho/ComfyUI-FeatherOps,
docs/gfx1151_reference.md. None of it was measured here.
"""
import collections
import re

Cost = collections.namedtuple("Cost", "matrix vector local bytes fma")
MATRIX_CLOCKS = 32
NONE = Cost(0, 0, 0, 0, 0)
FMA = re.compile(r"v_(?:dual_)?fma(?:c|mk|ak)?_f32")
SLOW = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_|v_(mul_lo|mul_hi|mad)_[ui](32|64)|_[fiub]64\b|_[fiub]64_")
WIDTHS = {"b128": 16, "b96": 12, "b64": 8, "b32": 4, "b16": 2, "u16": 2, "i16": 2, "u8": 1, "i8": 1}
BRANCH = re.compile(r"^s_(c?branch)")


def width(name):
    """Bytes a lane that an instruction of memory moves."""
    twice = 2 if "2addr" in name else 1
    return next((n * twice for w, n in WIDTHS.items() if "_" + w in name), 4)


def cost_of(name, line):
    """Of an instruction by its name; its line says what is done beside it (v_dual)."""
    if name.startswith("v_wmma"):
        return Cost(MATRIX_CLOCKS, 0, 0, 0, 0)
    if name.startswith("v_"):
        return Cost(0, 4 if SLOW.search(name) else 1, 0, 0, len(FMA.findall(line)))
    if name.startswith(("ds_load", "ds_store")):
        return Cost(0, 0, width(name) * 32 / 128, 0, 0)
    if re.match(r"(global|buffer|flat)_(load|store)", name):
        return Cost(0, 0, 0, width(name) * 32, 0)
    return NONE


def add(a, b):
    return Cost(*(x + y for x, y in zip(a, b)))


class Block:
    def __init__(self):
        self.cost, self.next = NONE, []


def blocks_of(text):
    """Basic blocks by address, of a disassembly of one kernel."""
    code = []
    for line in text.splitlines():
        m = re.match(r"^\s+([a-z]\w+).*// ([0-9A-F]+):[ 0-9A-F]*(?:<\w+\+0x([0-9a-f]+)>)?", line)
        if m:
            code.append((int(m.group(2), 16), m.group(1), m.group(3), line))
    if not code:
        return {}
    begin = code[0][0]
    target = {i: begin + int(to, 16) for i, (_, name, to, _) in enumerate(code)
              if BRANCH.match(name) and to}
    heads = {begin} | set(target.values()) | {code[i + 1][0] for i in target if i + 1 < len(code)}
    blocks, now = {}, None
    for i, (at, name, _, line) in enumerate(code):
        if at in heads:
            if now and not ended:
                now.next.append(at)
            now = blocks[at] = Block()
        ended = name in ("s_branch", "s_endpgm")
        now.cost = add(now.cost, cost_of(name, line))
        if i in target:
            now.next.append(target[i])
    return blocks


def circles(blocks):
    """Strongly connected parts with a circle in them, without recursion (Tarjan)."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for root in blocks:
        work = [(root, iter(()))] if root not in index else []
        while work:
            at, rest = work[-1]
            if at not in index:
                index[at] = low[at] = len(index)
                stack.append(at)
                on.add(at)
                rest = iter([n for n in blocks[at].next if n in blocks])
                work[-1] = (at, rest)
            for n in rest:
                if n not in index:
                    work.append((n, iter(())))
                    break
                if n in on:
                    low[at] = min(low[at], index[n])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    part = set()
                    while at not in part:
                        part.add(stack.pop())
                    on -= part
                    if len(part) > 1 or at in blocks[at].next:
                        found.append(part)
    return found


def turn(blocks, part, dear):
    """The cost of one turn, the dearest or the cheapest as it is told above."""
    entry = [n for n in part
             if any(n in blocks[b].next for b in blocks if b not in part)] or [min(part)]
    head = min(entry)
    done, state = {}, {}

    def rank(c):
        return (c.matrix, c.vector, c.bytes) if dear else (c.matrix, c.bytes, c.local, -c.vector)

    work = [(head, 0)]
    while work: # after those behind; what leads back to one that is open ends the turn
        at, i = work.pop()
        state[at] = 1
        after = [n for n in blocks[at].next if n in part]
        if i < len(after):
            work.append((at, i + 1))
            if after[i] not in state:
                work.append((after[i], 0))
            continue
        rests = [done[n] for n in after if n != head and n in done]
        best = max(rests, key=rank) if rests else NONE
        done[at] = add(blocks[at].cost, best)
    return done[head]


def main_loop(text):
    """(dearest turn, cheapest turn) of a kernel's main loop; None: it has none."""
    blocks = blocks_of(text)
    loops = [(turn(blocks, p, True), turn(blocks, p, False)) for p in circles(blocks)]
    return max(loops, key=lambda x: (x[0].matrix, x[0].fma, x[0].vector), default=None)


def clocks(c):
    """Of a SIMD for a turn of one of its waves; __local is shared with the other SIMD."""
    return max(c.matrix + c.vector, 2 * c.local)


def matrix_share(c):
    """Of the peak of matrix instructions."""
    return c.matrix / clocks(c) if clocks(c) else 0


def fma_share(c):
    """Of the peak of f32 arithmetic."""
    return c.fma / 2 / clocks(c) if clocks(c) else 0


def limiter(c):
    if 2 * c.local > c.matrix + c.vector:
        return "local"
    return "matrix" if c.matrix >= c.vector else "vector"
