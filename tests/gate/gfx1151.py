#!/usr/bin/env python3
"""Compiles every kernel of the GPU schedules for gfx1151 without a GPU and checks what came out.

Fails on a compile error, on scratch memory or register spills, on more VGPRs or LDS than the table
allows, on another wave size than 32, and on a kernel file that the table forgot. Prints registers,
LDS, waves per SIMD, 128-bit memory accesses and what limits the main loop (clocks.py).
usage: gfx1151.py [--write] [FILE...]   only these kernel files; --write: what the main loops of products
and attention reach becomes core/op/clocks_list.h, which else must hold it. Needs clang-19, lld-19, llvm-19 and
rocm-device-libs; exit status 77 without them.
"""
import collections
import glob
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


def compile_kernel(schedule, case, out):
    source = out + ".cl"
    with open(source, "w") as f:
        for name in ("common", case.file):
            f.write('#line 1 "%s.cl"\n' % name)
            f.write(open(path_of(schedule, name)).read())
    # CL2.0: the device library's vload and vstore want the generic address space.
    cmd = ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa",
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


def expected_matrix(case):
    """Matrix instructions and reads of 16 bytes from LDS that a step of the main loop must have."""
    options = {k: int(v) for k, v in re.findall(r"-D(\w+)=(\d+)", " ".join(case.options))}
    if case.file == "flash": # K Q and V P of a block of keys
        tiles, keys = (options["D"] + 15) // 16, (64 if options["D"] <= 64 else 32) // 16
        return 2 * tiles * keys, 4 * tiles * keys
    bp, bn = options.get("BP", 128) // options.get("WP", 2), options.get("BN", 128) // options.get("WN", 2)
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
    if share < case.peak:
        yield "%.1f %% of the peak of matrix instructions" % share
    if case.peak:
        n, reads = expected_matrix(case)
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


PRODUCTS = ("gemm_wmma", "attention_wmma", "gemm", "attention")
CLOCKS = os.path.join(ROOT, "core", "op", "clocks_list.h")


def clocks_row(case, loop):
    """What nino_sched_seconds() is to know of a kernel; None: nothing."""
    options = dict(re.findall(r"-D(\w+)=(\w+)", " ".join(case.options)))
    kind = {"wmma": "STRIPES" if "STRIDED" in options else "PRODUCT", "flash": "FLASH",
            "gemm": "F32_PRODUCT", "attn": "F32_ATTENTION"}.get(case.file)
    if not kind or case.bad or not loop:
        return None
    share = clocks.fma_share(loop[1]) if kind.startswith("F32") else clocks.matrix_share(loop[1])
    form = "VIDEO" if "VIDEO" in options else "TAPPED" if "TAPPED" in options else "PLAIN"
    weight = options.get("RAW", options.get("WT", "f32"))
    return "%s, %s, %s, %s, %s, %s, %s, %s" % (
        kind, "F16" if "F16" in options else "BF16" if "BF16" in options else "F32",
        weight.upper(), form, options.get("BP", 128), options.get("BN", 128), options.get("D", 0),
        options.get("BIAS", 0) if case.file in ("flash", "attn") else 0), round(1000 * share)


def clocks_text(rows):
    best = {} # of kernels that the list does not tell apart
    for key, share in rows:
        best[key] = max(share, best.get(key, 0))
    return """// What main loops of kernels reach of the peak on gfx1151 by the clock model of tests/gate/clocks.py, in
// thousandths. Written by tests/gate/gfx1151.py --write (make clocks), from the rows of gfx1151.txt.
//
// CLOCKS(kind, activations, weights, form, rows and columns of a tile, channels of a head, has a bias, share)
// clang-format off
%s
// clang-format on
#undef CLOCKS
""" % "\n".join("CLOCKS(%s, %d)" % row for row in sorted(best.items()))


def check(schedule, case, out, rows):
    """Prints a line a kernel; true when all is as the table says."""
    done, log = compile_kernel(schedule, case, out)
    options = " ".join(case.options)
    if not done:
        print("%-4s %s %s does not compile\n%s" % ("bad" if case.bad else "FAIL", case.file,
                                                   options, log[:2000]))
        return case.bad
    failed = n = 0
    for k in resources(out):
        n += 1
        text = disassembly(out, k["name"])
        ops, loop = opcodes(text), clocks.main_loop(text)
        why = "; ".join(complaints(case, k, ops, loop))
        row = clocks_row(case, loop)
        rows += [row] if row and k["name"] in PRODUCTS else []
        failed += why != ""
        verdict = ("bad" if case.bad else "FAIL") if why else "ok"
        print("%-4s %-20s vgpr %3d sgpr %3d lds %5d waves %2d b128 %2d/%2d  %s  %s  %s" % (
            verdict, k["name"], k["vgpr"], k["sgpr"], k["lds"], waves_per_simd(k),
            ops["global_load_b128"], ops["global_store_b128"], told(loop), options, why))
    if not n:
        print("FAIL %s %s has no kernels" % (case.file, options))
    elif case.bad and not failed:
        print("FAIL %s %s should have failed" % (case.file, options))
    return n > 0 and (failed > 0) == case.bad


def main():
    tools = ("clang-19", "llvm-readelf-19", "llvm-objdump-19", "ld.lld-19")
    missing = [t for t in tools if not shutil.which(t)]
    if missing or not os.path.exists(os.path.join(BITCODE, "opencl.bc")):
        print("skip: no %s" % (missing[0] if missing else "rocm-device-libs"))
        return 77
    cases = read_table()
    is_writing = "--write" in sys.argv
    only = [a for a in sys.argv[1:] if a != "--write"]
    wrong, seen, rows = 0, set(), []
    with tempfile.TemporaryDirectory() as tmp:
        for schedule in SCHEDULES:
            own = os.path.join(ROOT, "cl", schedule, "*.cl")
            files = {os.path.basename(f)[:-3]
                     for f in glob.glob(os.path.join(KERNELS, "*.cl")) + glob.glob(own)}
            for f in sorted(files - {"common"} - {c.file for c in cases}):
                out = os.path.join(tmp, "kernel_" + f) # not what an include would find
                done, _ = compile_kernel(schedule, Case(False, f, 0, 0, 0, []), out)
                if not done or list(resources(out)): # a file may have no kernels of its own
                    print("FAIL %s.cl of %s is not in gfx1151.txt" % (f, schedule))
                    wrong += 1
            for i, case in enumerate(cases):
                what = (path_of(schedule, case.file), SCHEDULES[schedule], i)
                if not what[0] or what in seen or only and case.file not in only:
                    continue
                seen.add(what)
                wrong += not check(schedule, case, os.path.join(tmp, "%s_%d" % (schedule, i)), rows)
    if is_writing:
        open(CLOCKS, "w").write(clocks_text(rows))
    elif not only and open(CLOCKS).read() != clocks_text(rows):
        print("FAIL core/op/clocks_list.h says something else of the main loops: make clocks")
        wrong += 1
    print("%d unexpected" % wrong)
    return 1 if wrong else 0


sys.exit(main())
