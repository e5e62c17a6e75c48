#!/usr/bin/env python3
"""The self-test of kernels on an interpreted gfx1151: code objects as clang makes them, executed instruction by instruction
(tests/gate/isa) and compared with ref. Prints a table of what was executed.

usage: isa.py [OPTIONS OF ninodes selftest]   e.g. --quick --op linear_f16
Needs what code_objects.py needs and llvm-objdump-19; exit status 77 without, 1 when a case fails or an instruction that was
come to is not known.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

import gfx1151 as gate

B = os.path.abspath(os.environ.get("B", "build"))
DRIVER = os.path.join(B, "tests", "gate", "isa")


def run(args, folder):
    report = os.path.join(folder, "report")
    one = os.path.join(os.path.abspath(gate.HERE), "code_objects.py")
    env = dict(os.environ, LD_LIBRARY_PATH=DRIVER, NINODES_ISA_COMPILER="python3 %s --one" % one, B=B,
               NINODES_ISA_REPORT=report, NINODES_CACHE_DIR=os.path.join(folder, "cache"), NINODES_GEMM="native")
    env.pop("NINODES_SCHEDULE", None)
    r = subprocess.run([os.path.join(B, "ninodes"), "selftest", "--device", "cl:0"] + args, env=env, text=True,
                       stdout=subprocess.PIPE)
    return r.returncode, r.stdout, open(report).read() if os.path.exists(report) else ""


def plain(options):
    return " ".join(o for o in options.split() if not o.startswith(("-cl-std", "-w", "-DSCHED_"))) or "-"


def table(text, report):
    lines = [line.split("\t") for line in report.splitlines()]
    launches, code = collections.defaultdict(lambda: [0, 0]), {}
    names = collections.Counter()
    for line in lines:
        if line[0] == "launch":
            row = launches[line[1], plain(line[2])]
            row[0] += 1
            row[1] += int(line[3])
        elif line[0] == "kernel":
            code[line[1], plain(line[2])] = 100 * int(line[4]) / int(line[3])
        elif line[0] == "insn":
            names[line[1]] += int(line[2])
    unknown = sorted({line[1] for line in lines if line[0] == "unknown"})
    cases = re.findall(r"^(ok|FAIL) .*nmse (\S+)", text, re.M)
    print("# Code objects of gfx1151, executed by the interpreter of tests/gate/isa\n")
    print("`make isa`: no hardware. Launches and instructions of waves; share of a kernel's instructions that were come to.\n")
    print("%d cases, %d wrong, largest NMSE of a right one %s; %d programs, %d kernels, %d launches, %d instructions, "
          "%d mnemonics.\n" % (len(cases), sum(c[0] != "ok" for c in cases),
                              max((c[1] for c in cases if c[0] == "ok"), key=float, default="-"),
                              len({o for _, o in launches}), len(launches), sum(v[0] for v in launches.values()),
                              sum(names.values()), len(names)))
    print("Not in the tables (and not come to, else a case fails): %s\n" % (", ".join(unknown) or "none"))
    print("| kernel | options | launches | instructions | come to |\n| --- | --- | --: | --: | --: |")
    for key in sorted(launches):
        print("| `%s` | `%s` | %d | %d | %.0f %% |" % (*key, *launches[key], code.get(key, 0)))
    print("\n| mnemonic | executed |\n| --- | --: |")
    for name in sorted(names):
        print("| `%s` | %d |" % (name, names[name]))


def main():
    missing = [t for t in ("clang-19", "ld.lld-19", "llvm-objdump-19") if not shutil.which(t)]
    if missing or not os.path.exists(os.path.join(gate.BITCODE, "opencl.bc")):
        print("skip: no %s" % (missing[0] if missing else "rocm-device-libs"))
        return 77
    if not os.path.exists(os.path.join(DRIVER, "libOpenCL.so.1")):
        print("skip: the interpreter is not built")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        status, text, report = run(sys.argv[1:], folder)
    table(text, report)
    for line in re.findall(r"^FAIL.*", text, re.M):
        print(line, file=sys.stderr)
    return 1 if status or "\nerror\t" in report else 0


if __name__ == "__main__":
    sys.exit(main())
