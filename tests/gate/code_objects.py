#!/usr/bin/env python3
"""Compiles programs for AMD GPUs and writes a file of code objects for each kind of GPU (cl/code.c reads them).

usage: code_objects.py DIR OUT [TARGET...]   DIR: what tests/unit/cl/code --objects has written there; OUT: TARGET.bin are
                                             put there, of all targets or these
       code_objects.py --one SOURCE OUT OPTIONS...   one program for gfx1151, as a driver is given it
Needs clang-19, lld-19 and rocm-device-libs; exit status 77 without them. What was compiled once is kept in $B/gate.
"""
import collections
import concurrent.futures
import hashlib
import os
import shutil
import struct
import subprocess
import sys

import gfx1151 as gate

Program = collections.namedtuple("Program", "target key source define file options calls")
HEADER = struct.Struct("<8sIIQ32s32s")
ENTRY = struct.Struct("<32s32sQQQ32s256s")


def read_index(folder):
    for line in open(os.path.join(folder, "index")):
        yield Program(*line.rstrip("\n").split("\t"))


def command(p, source, out):
    cmd = [gate.COMPILER, "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + p.target,
           "-O3", "-nogpulib", "-mcode-object-version=5", "-Wno-linker-warnings", "-w", "-D%s=1" % p.define]
    for lib in gate.LIBS:
        cmd += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", "%s/%s.bc" % (gate.BITCODE, lib)]
    return cmd + p.options.split() + [source, "-o", out]


def compiled(folder, p):
    """The object; None: it does not compile for that GPU."""
    source = os.path.join(folder, p.source)
    h = hashlib.sha256(open(source, "rb").read())
    h.update(" ".join(command(p, "", "")).encode())
    kept = os.path.join(gate.KEPT, h.hexdigest() + ".co")
    if not os.path.exists(kept):
        out = "%s.%d" % (kept, os.getpid())
        r = subprocess.run(command(p, source, out), capture_output=True, text=True)
        if r.returncode:
            return p, None, r.stderr[:300]
        os.replace(out, kept)
    return p, open(kept, "rb").read(), ""


def pack(target, made):
    """The bytes of a file: header, entries, then each object with the calls that check it."""
    at = HEADER.size + ENTRY.size * len(made)
    entries, data = [], []
    for p, code in made:
        calls = p.calls.replace("|", "\n").encode()
        both = code + calls
        entries.append(ENTRY.pack(bytes.fromhex(p.key), hashlib.sha256(both).digest(), at, len(code), len(calls),
                                  p.file.encode(), p.options.encode()))
        data.append(both)
        at += len(both)
    index = b"".join(entries)
    return HEADER.pack(b"NINOCODE", 1, len(made), at, target.encode(), hashlib.sha256(index).digest()) + index + \
        b"".join(data)


def text_of(code):
    """Where the instructions are: offset and size."""
    at, size, n, names = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HHH", code, 58)
    heads = [struct.unpack_from("<IIQQQQ", code, at + i * size) for i in range(n)]
    return next((h[4], h[5]) for h in heads
                if code[heads[names][4] + h[0]:].startswith(b".text\0"))


def with_fault(code, fault):
    """Instructions replaced, for tests: no waits for loads, no barriers, operands of matrix instructions swapped."""
    at, size = text_of(code)
    words = list(struct.unpack_from("<%dI" % (size // 4), code, at))
    for i, w in enumerate(words):
        if fault == "waits" and w >> 16 == 0xbf89 or fault == "barriers" and w == 0xbfbd0000:
            words[i] = 0xbf800000 # s_nop
        elif fault == "operands" and w >> 16 == 0xcc40:
            v = words[i + 1]
            words[i + 1] = v & ~0x3ffff | (v & 0x1ff) << 9 | v >> 9 & 0x1ff
    return code[:at] + struct.pack("<%dI" % (size // 4), *words) + code[at + size // 4 * 4:]


def compile_one(source, out, options):
    """The same object as in the files: options of a driver's compiler are left out."""
    define = next(o[2:-2] for o in options if o.startswith("-DSCHED_"))
    own = [o for o in options if not o.startswith(("-cl-std=", "-w", "-DSCHED_"))]
    p = Program("gfx1151", "", source, define, "", " ".join(own), "")
    os.makedirs(gate.KEPT, exist_ok=True)
    code, log = compiled("", p)[1:]
    if code:
        fault = os.environ.get("NINODES_ISA_FAULT")
        with open(out, "wb") as f:
            is_question = "-DNATIVE=1" in options # which decides whether there are matrix instructions
            f.write(with_fault(code, fault) if fault and not is_question else code)
    sys.stdout.write(log)
    return 0 if code else 1


def main():
    if sys.argv[1:2] == ["--one"]:
        return compile_one(sys.argv[2], sys.argv[3], sys.argv[4:])
    folder, out = sys.argv[1:3]
    only, fault = sys.argv[3:], os.environ.get("NINODES_ISA_FAULT")
    programs = [p for p in read_index(folder) if not only or p.target in only]
    missing = [t for t in ("clang-19", "ld.lld-19") if not shutil.which(t)]
    if missing or not os.path.exists(os.path.join(gate.BITCODE, "opencl.bc")):
        print("skip: no %s" % (missing[0] if missing else "rocm-device-libs"))
        return 77
    os.makedirs(gate.KEPT, exist_ok=True)
    os.makedirs(out, exist_ok=True)
    made, failed = collections.defaultdict(list), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for p, code, log in pool.map(lambda p: compiled(folder, p), programs):
            if code:
                made[p.target].append((p, with_fault(code, fault) if fault else code))
            else:
                failed += 1
                print("%s %s for %s does not compile: %s" % (p.file, p.options, p.target, log))
    for target, list_ in sorted(made.items()):
        data = pack(target, list_)
        path = os.path.join(out, target + ".bin")
        with open(path + ".new", "wb") as f:
            f.write(data)
        os.replace(path + ".new", path)
        print("%s: %d programs, %.1f MB" % (path, len(list_), len(data) / 1e6))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
