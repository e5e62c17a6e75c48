#!/usr/bin/env python3
"""Kernels on an interpreted gfx1151: code objects executed instruction by instruction (tests/gate/isa) and compared with
ref. Prints tables of what was executed.

usage: isa.py [OPTIONS OF ninodes selftest]   e.g. --quick --op linear_f16: objects as clang makes them
       isa.py --code DIR LIST [OPTIONS]       first DIR/code/gfx1151.bin, the file as it is shipped: every kernel that
                                              the plans of LIST launch (real_programs --print), then with OPTIONS the
                                              self-test, which takes programs from that file where it has them
Needs what code_objects.py needs and llvm-objdump-19; exit status 77 without them, 1 when a case fails or an instruction
that was come to is not known.
"""
import collections
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import gfx1151 as gate

B = os.path.abspath(os.environ.get("B", "build"))
DRIVER = os.path.join(B, "tests", "gate", "isa")


class Done:
    """What a program has launched: its exit status and words, and the driver's report."""

    def __init__(self, cmd, folder, code=None):
        report = os.path.join(folder, "report")
        one = os.path.join(os.path.abspath(gate.HERE), "code_objects.py")
        env = dict(os.environ, LD_LIBRARY_PATH=DRIVER, NINODES_ISA_COMPILER="python3 %s --one" % one, B=B,
                   NINODES_ISA_REPORT=report, NINODES_CACHE_DIR=os.path.join(folder, "cache"), NINODES_GEMM="native")
        env.pop("NINODES_SCHEDULE", None)
        if code:
            env["NINODES_DATA_DIR"] = code
        r = subprocess.run(cmd, env=env, text=True, stdout=subprocess.PIPE)
        self.status, self.text = r.returncode, r.stdout
        lines = [line.split("\t") for line in open(report)] if os.path.exists(report) else []
        if lines:
            os.remove(report)
        self.launches, self.share = collections.defaultdict(lambda: [0, 0]), collections.Counter()
        self.names, self.given = collections.Counter(), set()
        self.unknown = {line[1] for line in lines if line[0] == "unknown"}
        self.is_right = not r.returncode and not any(line[0] == "error" for line in lines)
        for what, *rest in (line for line in lines if line[0] in ("launch", "kernel")):
            key = rest[0], plain(rest[1])
            if what == "launch":
                self.launches[key][0] += 1
                self.launches[key][1] += int(rest[2])
                self.given |= {key} if rest[3].strip() == "object" else set()
            else: # loaded more than once: that which has come furthest
                self.share[key] = max(self.share[key], 100 * int(rest[3]) / int(rest[2]))
        for line in lines:
            if line[0] == "insn":
                self.names[line[1]] += int(line[2])
        self.cases = re.findall(r"^(ok|FAIL) .*nmse (\S+)", self.text, re.M)

    def told(self):
        worst = max((c[1] for c in self.cases if c[0] == "ok"), key=float, default="-")
        return "%d cases, %d wrong, largest NMSE of a right one %s; %d kernels, %d launches, %d instructions" % (
            len(self.cases), sum(c[0] != "ok" for c in self.cases), worst, len(self.launches),
            sum(v[0] for v in self.launches.values()), sum(self.names.values()))

    def row(self, key):
        return "%d | %d | %.0f %% |" % (*self.launches[key], self.share[key])


def plain(options):
    return " ".join(o for o in options.split() if not o.startswith(("-cl-std", "-w", "-DSCHED_"))) or "-"


def wanted(path):
    """Kernels that plans launch: (name, options) to file."""
    kernels = {}
    for line in open(path + ".kernels"):
        name, file, *options = line.split()
        kernels[name, " ".join(options) or "-"] = file
    return kernels


def try_file(code, path, folder):
    """The file that is shipped; None: something is wrong with it."""
    data = open(os.path.join(code, "code", "gfx1151.bin"), "rb").read()
    done = Done([os.path.join(B, "tests", "unit", "cl", "code"), "--shipped", path], folder, code)
    kernels = wanted(path)
    print("## The file that is shipped\n")
    print("`code/gfx1151.bin` of %d bytes, sha256 `%s`: every kernel that the plans of real workflows launch, of programs "
          "looked up, checked and loaded as the library does.\n" % (len(data), hashlib.sha256(data).hexdigest()))
    print("%s; %s.\n" % (done.text.strip().rsplit("\n", 1)[-1].split(";")[0], done.told()))
    print("| kernel | program | launches | instructions | come to |\n| --- | --- | --: | --: | --: |")
    for key, file in sorted(kernels.items(), key=lambda k: (k[1], k[0])):
        print("| `%s` | `%s %s` | %s" % (key[0], file, key[1], done.row(key)))
    print()
    missing = sorted(set(kernels) - done.given)
    for key in missing:
        print("FAIL %s %s was not executed from the file" % key, file=sys.stderr)
    for line in re.findall(r"^FAIL.*", done.text, re.M):
        print(line, file=sys.stderr)
    return done if done.is_right and not missing else None


def selftest(args, folder, code):
    done = Done([os.path.join(B, "ninodes"), "selftest", "--device", "cl:0"] + args, folder, code)
    print("## The self-test\n")
    if code:
        print("Programs of that file are taken from there, others compiled as those were.\n")
    print("%s, %d mnemonics.\n" % (done.told(), len(done.names)))
    print("Not in the tables (and not come to, else a case fails): %s\n" % (", ".join(sorted(done.unknown)) or "none"))
    print("| kernel | options | from | launches | instructions | come to |\n| --- | --- | --- | --: | --: | --: |")
    for key in sorted(done.launches):
        print("| `%s` | `%s` | %s | %s" % (*key, "the file" if key in done.given else "source", done.row(key)))
    print("\n| mnemonic | executed |\n| --- | --: |")
    for name in sorted(done.names):
        print("| `%s` | %d |" % (name, done.names[name]))
    for line in re.findall(r"^FAIL.*", done.text, re.M):
        print(line, file=sys.stderr)
    return done.is_right


def main():
    missing = [t for t in ("clang-19", "ld.lld-19", "llvm-objdump-19") if not shutil.which(t)]
    if missing or not os.path.exists(os.path.join(gate.BITCODE, "opencl.bc")):
        print("skip: no %s" % (missing[0] if missing else "rocm-device-libs"))
        return 77
    if not os.path.exists(os.path.join(DRIVER, "libOpenCL.so.1")):
        print("skip: the interpreter is not built")
        return 77
    args, code, ok = sys.argv[1:], None, True
    print("# Code objects of gfx1151, executed by the interpreter of tests/gate/isa\n")
    print("`make isa`: no hardware. Launches and instructions of waves; share of a kernel's instructions that were come "
          "to.\n")
    with tempfile.TemporaryDirectory() as folder:
        if args[:1] == ["--code"]:
            code = os.path.abspath(args[1])
            ok = try_file(code, args[2], folder) is not None
            args = args[3:]
        if args or not code:
            ok = selftest(args, folder, code) and ok
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
