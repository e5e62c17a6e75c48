#!/usr/bin/env python3
"""Compiles every kernel of the GPU schedules for gfx1151 without a GPU and checks what came out.

Fails on a compile error, on scratch memory or register spills, on more VGPRs or LDS than the table
allows, on another wave size than 32, and on a kernel file that the table forgot. Prints registers,
LDS, waves per SIMD and 128-bit memory accesses.
usage: gfx1151.py [FILE...]     only these kernel files. Needs clang-19, lld-19, llvm-19 and
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

Case = collections.namedtuple("Case", "bad file vgpr lds options")


def read_table():
    cases = []
    for line in open(os.path.join(HERE, "gfx1151.txt")):
        words = line.split("#")[0].split()
        if words:
            bad = words[0] == "bad"
            words = words[bad:]
            cases.append(Case(bad, words[0], int(words[1]), int(words[2]), words[3:]))
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


def opcodes(code_object, name):
    text = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn",
                           "--disassemble-symbols=" + name, code_object], capture_output=True,
                          text=True).stdout
    return collections.Counter(m.group(1) for m in re.finditer(r"^\s+([a-z]\w+)", text, re.M))


def waves_per_simd(k):
    """1536 VGPRs in steps of 24; 128 KiB of LDS for the four SIMDs; at most 16."""
    n = min(16, 1536 // (-(-k["vgpr"] // 24) * 24))
    return min(n, 131072 // k["lds"] * (k["items"] // 32) // 4) if k["lds"] else n


def complaints(case, k, ops):
    if k["scratch"] or k["vspill"] or k["sspill"]:
        yield "scratch %d, %d VGPRs and %d SGPRs spilled" % (k["scratch"], k["vspill"], k["sspill"])
    if k["vgpr"] > case.vgpr:
        yield "%d VGPRs > %d" % (k["vgpr"], case.vgpr)
    if k["lds"] > case.lds:
        yield "%d bytes of LDS > %d" % (k["lds"], case.lds)
    if k["wave"] != 32:
        yield "wave%d" % k["wave"]
    if case.file == "wmma":
        n = sum(ops[o] for o in ops if MATRIX.match(o))
        options = dict(re.findall(r"-D(\w+)=(\d+)", " ".join(case.options)))
        bp, bn, wp, wn = (int(options.get(o, d)) for o, d in
                          (("BP", 128), ("BN", 128), ("WP", 2), ("WN", 2)))
        if n != bp * bn * 2 // (256 * wp * wn): # one step of 32 channels
            yield "%d matrix instructions" % n
        reads = (bp // wp + bn // wn) // 16 * 4
        if ops["ds_load_b128"] != reads:
            yield "%d reads of 16 bytes from LDS, not %d" % (ops["ds_load_b128"], reads)
        loads = 1 if re.search(r"-DRAW=(f32|f16|bf16)", " ".join(case.options)) else 0
        if ops["global_load_b128"] < loads or not ops["global_store_b128"] or not ops["ds_store_b128"]:
            yield "no loads or stores of 16 bytes"


def check(schedule, case, out):
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
        ops = opcodes(out, k["name"])
        why = "; ".join(complaints(case, k, ops))
        failed += why != ""
        verdict = ("bad" if case.bad else "FAIL") if why else "ok"
        print("%-4s %-20s vgpr %3d sgpr %3d lds %5d waves %2d b128 %2d/%2d  %s  %s" % (
            verdict, k["name"], k["vgpr"], k["sgpr"], k["lds"], waves_per_simd(k),
            ops["global_load_b128"], ops["global_store_b128"], options, why))
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
    wrong, seen = 0, set()
    with tempfile.TemporaryDirectory() as tmp:
        for schedule in SCHEDULES:
            own = os.path.join(ROOT, "cl", schedule, "*.cl")
            files = {os.path.basename(f)[:-3]
                     for f in glob.glob(os.path.join(KERNELS, "*.cl")) + glob.glob(own)}
            for f in sorted(files - {"common"} - {c.file for c in cases}):
                out = os.path.join(tmp, "kernel_" + f) # not what an include would find
                done, _ = compile_kernel(schedule, Case(False, f, 0, 0, []), out)
                if not done or list(resources(out)): # a file may have no kernels of its own
                    print("FAIL %s.cl of %s is not in gfx1151.txt" % (f, schedule))
                    wrong += 1
            for i, case in enumerate(cases):
                what = (path_of(schedule, case.file), SCHEDULES[schedule], i)
                if not what[0] or what in seen or sys.argv[1:] and case.file not in sys.argv[1:]:
                    continue
                seen.add(what)
                wrong += not check(schedule, case, os.path.join(tmp, "%s_%d" % (schedule, i)))
    print("%d unexpected" % wrong)
    return 1 if wrong else 0


sys.exit(main())
