#!/usr/bin/env python3
"""Compiles every kernel of the GPU schedules for gfx1151 without a GPU and checks what came out.

Fails on a compile error, on scratch memory or register spills, on more VGPRs or LDS than the table
allows, on another wave size than 32, and on a kernel file that the table forgot. Prints registers,
LDS, waves per SIMD, 128-bit memory accesses and what limits the main loop (clocks.py).
What was compiled once is kept in $B/gate by the digest of its source and options.
usage: gfx1151.py [--programs LIST] [--write] [FILE...]   LIST: lines "FILE OPTIONS" of programs that plans ask
for, beside the table; --write: what the main loops of products and attention reach becomes
core/op/clocks_list.h, which else must hold it; FILE: only these kernel files. Needs clang-19, lld-19, llvm-19 and
rocm-device-libs; exit status 77 without them.
"""
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import clocks

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
KERNELS = os.path.join(ROOT, "cl", "kernels")
BITCODE = os.environ.get("BITCODE", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
# 1036 is the newest ISA constant in rocm-device-libs 5.2; it only selects code paths.
LIBS = ("opencl ocml ockl oclc_isa_version_1036 oclc_abi_version_500 "
        "oclc_correctly_rounded_sqrt_on oclc_daz_opt_off oclc_finite_only_off "
        "oclc_unsafe_math_off oclc_wavefrontsize64_off").split()

# The schedules of core/op/sched_list.h that are not for processors, with the form of the shared
# kernels that each takes.
LIST = open(os.path.join(ROOT, "core", "op", "sched_list.h")).read()
SCHEDULES = {name: form for name, form in re.findall(r"^SCHEDULE\((\w+), *(\w+)", LIST, re.M)
             if form != "SCHED_CPU"}
# Whose kernels one takes that it has not itself.
BASES = dict(re.findall(r"^SCHEDULE\((\w+),[^)]*\.base = \"(\w+)\"", LIST, re.M))
MATRIX = re.compile(r"^v_wmma")

KEPT = os.path.join(os.environ.get("B", "build"), "gate")
COMPILER = "clang-19"

Case = collections.namedtuple("Case", "bad file vgpr lds peak options")


def read_table():
    cases = []
    for line in open(os.path.join(HERE, "gfx1151.txt")):
        words = line.split("#")[0].split()
        if words:
            bad = words[0] == "bad"
            words = words[bad:]
            cases.append(Case(bad, words[0], int(words[1]), int(words[2]), int(words[3]), words[4:]))
    return cases


def path_of(schedule, name):
    """A kernel file of a schedule: its own, its base's, else the shared one; None: it has none."""
    for folder in (schedule, BASES.get(schedule, schedule), "kernels"):
        path = os.path.join(ROOT, "cl", folder, name + ".cl")
        if os.path.exists(path):
            return path
    return None


def includes_of(schedule, name):
    """The names of the files that a kernel file takes in, itself first."""
    names = [name]
    for n in names:
        text = open(path_of(schedule, n)).read()
        names += [i for i in re.findall(r'^#include "(\w+)\.cl"', text, re.M) if i not in names]
    return names


def digest(schedule, case):
    """Of all that decides what is measured."""
    h = hashlib.sha256()
    for name in ["common"] + includes_of(schedule, case.file):
        h.update(open(path_of(schedule, name), "rb").read())
    for name in ("gfx1151.py", "clocks.py"):
        h.update(open(os.path.join(HERE, name), "rb").read())
    h.update(("%s %s" % (SCHEDULES[schedule], " ".join(case.options))).encode())
    h.update(COMPILER.encode())
    return h.hexdigest()


def compile_kernel(schedule, case, out):
    source = out + ".cl"
    with open(source, "w") as f:
        for name in ("common", case.file):
            f.write('#line 1 "%s.cl"\n' % name)
            f.write(open(path_of(schedule, name)).read())
    # CL2.0: the device library's vload and vstore want the generic address space.
    cmd = [COMPILER, "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa",
           "-mcpu=gfx1151", "-O3", "-nogpulib", "-mcode-object-version=5",
           "-Wno-linker-warnings", "-I" + KERNELS, "-I" + os.path.join(ROOT, "cl", schedule),
           "-D%s=1" % SCHEDULES[schedule]]
    for lib in LIBS:
        cmd += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", "%s/%s.bc" % (BITCODE, lib)]
    r = subprocess.run(cmd + case.options + [source, "-o", out], capture_output=True, text=True)
    return r.returncode == 0, r.stderr


def resources(code_object):
    """What the metadata note of a code object says about each kernel."""
    text = subprocess.run(["llvm-readelf-19", "--notes", code_object], capture_output=True,
                          text=True).stdout
    for block in text.split("  - .args:")[1:]:
        def number(key):
            return int(re.search(r"\.%s:\s+(\d+)" % key, block).group(1))
        yield dict(name=re.findall(r"^\s{4}\.name:\s+(\S+)", block, re.M)[-1],
                   vgpr=number("vgpr_count"), sgpr=number("sgpr_count"),
                   vspill=number("vgpr_spill_count"), sspill=number("sgpr_spill_count"),
                   scratch=number("private_segment_fixed_size"),
                   lds=number("group_segment_fixed_size"), wave=number("wavefront_size"),
                   items=number("max_flat_workgroup_size"))


def disassembly(code_object, name):
    return subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn",
                           "--disassemble-symbols=" + name, code_object], capture_output=True,
                          text=True).stdout


def opcodes(text):
    return collections.Counter(m.group(1) for m in re.finditer(r"^\s+([a-z]\w+)", text, re.M))


def waves_per_simd(k):
    """1536 VGPRs in steps of 24; 128 KiB of LDS for the four SIMDs; at most 16."""
    n = min(16, 1536 // (-(-k["vgpr"] // 24) * 24))
    return min(n, 131072 // k["lds"] * (k["items"] // 32) // 4) if k["lds"] else n


def tile_of(name):
    """Rows and columns of a product's tile, from the kernel's name; None: it has none."""
    m = re.match(r"gemm_wmma_(\d+)x(\d+)$", name)
    return (int(m.group(1)), int(m.group(2))) if m else None


def flash_keys(case):
    """Keys of a block of flash.cl, as that says."""
    options = dict(re.findall(r"-D(\w+)=(\w+)", " ".join(case.options)))
    return int(options.get("KEYS", 64 if int(options["D"]) <= 64 else 32))


def expected_matrix(case, name):
    """Matrix instructions and reads of 16 bytes from LDS that a step of the main loop must have; None: it
    has none."""
    tile = tile_of(name)
    if name == "attention_wmma": # K Q and V P of a block of keys
        depth = int(re.search(r"-DD=(\d+)", " ".join(case.options)).group(1))
        tiles, keys = (depth + 15) // 16, flash_keys(case) // 16
        return 2 * tiles * keys, (4 * tiles + 2) * keys
    if not tile:
        return None
    bp, bn = tile[0] // (4 if tile[0] > 128 else 2), tile[1] // 2 # of a wave
    return bp * bn * 2 // 256, (bp + bn) // 16 * 4 # 32 channels


def complaints(case, k, ops, loop):
    if k["scratch"] or k["vspill"] or k["sspill"]:
        yield "scratch %d, %d VGPRs and %d SGPRs spilled" % (k["scratch"], k["vspill"], k["sspill"])
    if k["vgpr"] > case.vgpr:
        yield "%d VGPRs > %d" % (k["vgpr"], case.vgpr)
    if k["lds"] > case.lds:
        yield "%d bytes of LDS > %d" % (k["lds"], case.lds)
    if k["wave"] != 32:
        yield "wave%d" % k["wave"]
    share = 100 * clocks.matrix_share(loop[1]) if loop else 0
    expected = expected_matrix(case, k["name"])
    if share < case.peak and k["name"] in ("gemm_wmma_128x128", "attention_wmma"):
        yield "%.1f %% of the peak of matrix instructions" % share
    if expected:
        n, reads = expected
        if sum(ops[o] for o in ops if MATRIX.match(o)) != n:
            yield "%d matrix instructions" % sum(ops[o] for o in ops if MATRIX.match(o))
        if ops["ds_load_b128"] != reads:
            yield "%d reads of 16 bytes from LDS, not %d" % (ops["ds_load_b128"], reads)
        loads = not re.search(r"-DRAW=(?!f32|f16|bf16)", " ".join(case.options))
        if ops["global_load_b128"] < loads or not ops["global_store_b128"] or not ops["ds_store_b128"]:
            yield "no loads or stores of 16 bytes"


def told(loop):
    """The share of the peak of the dearest turn and of the cheapest, and what limits that."""
    if not loop or not loop[0].matrix:
        return "-"
    return "%.1f..%.1f %% %s" % (100 * clocks.matrix_share(loop[0]), 100 * clocks.matrix_share(loop[1]),
                                clocks.limiter(loop[1]))


PRODUCTS = re.compile(r"gemm_wmma_\d+x\d+$|attention_wmma$|gemm$|attention$")
CLOCKS = os.path.join(ROOT, "core", "op", "clocks_list.h")


def clocks_row(case, name, loop):
    """What nino_sched_seconds() is to know of a kernel; None: nothing."""
    options = dict(re.findall(r"-D(\w+)=(\w+)", " ".join(case.options)))
    kind = {"wmma": "PRODUCT", "flash": "FLASH", "gemm": "F32_PRODUCT",
            "attn": "F32_ATTENTION"}.get(case.file)
    if not kind or case.bad or not loop or not PRODUCTS.match(name):
        return None
    tile = tile_of(name) or ((64, flash_keys(case)) if kind == "FLASH" else (128, 128))
    share = clocks.fma_share(loop[1]) if kind.startswith("F32") else clocks.matrix_share(loop[1])
    form = "VIDEO" if "VIDEO" in options else "TAPPED" if "TAPPED" in options else "PLAIN"
    weight = options.get("RAW", options.get("WT", "f32"))
    return "%s, %s, %s, %s, %s, %s, %s, %s" % (
        kind, "F16" if "F16" in options else "BF16" if "BF16" in options else "F32",
        weight.upper(), form, tile[0], tile[1], options.get("D", 0),
        options.get("BIAS", 0) if case.file in ("flash", "attn") else 0), round(1000 * share)


def clocks_text(rows):
    best = {} # of kernels that the list does not tell apart
    for key, share in rows:
        best[key] = max(share, best.get(key, 0))
    return """// What main loops of kernels reach of the peak on gfx1151 by the clock model of tests/gate/clocks.py, in
// thousandths. Written by tests/gate/gfx1151.py --write (make clocks), of the rows of gfx1151.txt
// and the programs of real workflows.
//
// CLOCKS(kind, activations, weights, form, rows and columns of a tile, channels of a head, has a bias, share)
// clang-format off
%s
// clang-format on
#undef CLOCKS
""" % "\n".join("CLOCKS(%s, %d)" % row for row in sorted(best.items()))


def compiled(schedule, case, out):
    """What the compiler makes of a case: {"log"} or {"kernels"}; from $B/gate when it is there."""
    path = os.path.join(KEPT, digest(schedule, case) + ".json")
    if os.path.exists(path):
        return json.load(open(path))
    done, log = compile_kernel(schedule, case, out)
    made = {"log": log[:2000], "kernels": []}
    for k in resources(out) if done else []:
        text = disassembly(out, k["name"])
        made["kernels"].append({"is": k, "ops": opcodes(text), "loop": clocks.main_loop(text)})
    if done:
        del made["log"]
    with open("%s.%d" % (path, os.getpid()), "w") as f:
        json.dump(made, f)
    os.replace(f.name, path)
    return made


def check(schedule, case, made, rows):
    """Prints a line a kernel; true when all is as the table says."""
    options = " ".join(case.options)
    if "log" in made:
        print("%-4s %s %s does not compile\n%s" % ("bad" if case.bad else "FAIL", case.file,
                                                   options, made["log"]))
        return case.bad
    failed = 0
    for kernel in made["kernels"]:
        k, ops = kernel["is"], collections.Counter(kernel["ops"])
        loop = kernel["loop"] and [clocks.Cost(*turn) for turn in kernel["loop"]]
        why = "; ".join(complaints(case, k, ops, loop))
        row = clocks_row(case, k["name"], loop)
        rows += [row] if row else []
        failed += why != ""
        verdict = ("bad" if case.bad else "FAIL") if why else "ok"
        print("%-4s %-20s vgpr %3d sgpr %3d lds %5d waves %2d b128 %2d/%2d  %s  %s  %s" % (
            verdict, k["name"], k["vgpr"], k["sgpr"], k["lds"], waves_per_simd(k),
            ops["global_load_b128"], ops["global_store_b128"], told(loop), options, why))
    if not made["kernels"]:
        print("FAIL %s %s has no kernels" % (case.file, options))
    elif case.bad and not failed:
        print("FAIL %s %s should have failed" % (case.file, options))
    return bool(made["kernels"]) and (failed > 0) == case.bad


def planned(path, cases):
    """Programs that plans ask for and the table does not have: the limits of every kernel."""
    known = {(c.file, " ".join(sorted(c.options))) for c in cases if not c.bad}
    for line in open(path):
        name, *options = line.split()
        if (name, " ".join(sorted(options))) not in known:
            yield Case(False, name, 248, 65536, 0, options)


def wanted(cases, only):
    """(schedule, case) of all that is to be compiled: what schedules share once."""
    seen = set()
    for schedule in SCHEDULES:
        for i, case in enumerate(cases):
            what = (path_of(schedule, case.file), SCHEDULES[schedule], i)
            if what[0] and what not in seen and (not only or case.file in only):
                seen.add(what)
                yield schedule, case


def forgotten(cases):
    """Kernel files that no case compiles."""
    for schedule in SCHEDULES:
        own = os.path.join(ROOT, "cl", schedule, "*.cl")
        files = {os.path.basename(f)[:-3]
                 for f in glob.glob(os.path.join(KERNELS, "*.cl")) + glob.glob(own)}
        covered = {"common"}
        for case in cases:
            if path_of(schedule, case.file):
                covered |= set(includes_of(schedule, case.file))
        for f in sorted(files - covered):
            yield "%s.cl of %s" % (f, schedule)


def main():
    tools = ("clang-19", "llvm-readelf-19", "llvm-objdump-19", "ld.lld-19")
    missing = [t for t in tools if not shutil.which(t)]
    if missing or not os.path.exists(os.path.join(BITCODE, "opencl.bc")):
        print("skip: no %s" % (missing[0] if missing else "rocm-device-libs"))
        return 77
    cases = read_table()
    args = sys.argv[1:]
    is_writing = "--write" in args
    is_whole = "--programs" in args
    if is_whole:
        at = args.index("--programs")
        cases += planned(args[at + 1], cases)
        del args[at:at + 2]
    only = [a for a in args if a != "--write"]
    wrong, rows = 0, []
    os.makedirs(KEPT, exist_ok=True)
    for name in forgotten(cases):
        print("FAIL %s is not in gfx1151.txt" % name)
        wrong += 1
    work = list(wanted(cases, only))
    with tempfile.TemporaryDirectory() as tmp, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = pool.map(lambda i: compiled(*work[i], os.path.join(tmp, "case_%d" % i)), range(len(work)))
        for (schedule, case), result in zip(work, made):
            wrong += not check(schedule, case, result, rows)
    if is_writing:
        open(CLOCKS, "w").write(clocks_text(rows))
    elif is_whole and not only and open(CLOCKS).read() != clocks_text(rows):
        print("FAIL core/op/clocks_list.h says something else of the main loops: make clocks")
        wrong += 1
    print("%d unexpected" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
