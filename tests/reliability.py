#!/usr/bin/env python3
"""The table of the reliability programme: target beside figure, of the figures that tests have left.

reliability.py FOLDER     FOLDER is what $NINODES_FIGURES named (a file a program: what, target, figure, reached); Markdown
                          on stdout, exit status 1 if a figure misses its target

Beside it, where they are there: coverage.txt of `make coverage`, bugs.txt of `make check-bugs`. $NOTE: what whoever reads it has to
know, such as which of the figures are of another run.
"""
import glob
import os
import platform
import re
import subprocess
import sys

# What there is to be, in order: program of the figure, beginning of what it counts, target. "" of a program: any.
PROGRAMME = [
    ("parsers", "inputs that parsers were given", "none crashes, hangs or leaks"),
    ("device", "OpenCL calls that fail in whole workflows", "none wrong"),
    ("programs", "OpenCL calls that fail in programs", "none wrong"),
    ("programs", "OpenCL calls that do not return", "ended or replaced within 2 s"),
    ("device", "workflows with fenced buffers", "the same bits"),
    ("allocations", "allocations that fail in whole workflows", "none wrong, none kept"),
    ("calls", "system calls that fail in what writes files", "none wrong"),
    ("programs", "system calls that fail in programs", "none wrong"),
    ("kill", "what writes files killed at a call that writes", "none torn"),
    ("programs", "programs killed at a call that writes", "none torn"),
    ("studio", "the app killed at a call that writes", "none torn"),
    ("studio_device", "the app while calls of the driver fail", "the window stays, the next run has the same bits"),
    ("programs", "deaths of a worker", "its queue is done by the next one"),
    ("same_bits", "runs with the bits of the first", "all"),
    ("same_bits", "schedules against each other", "NMSE < 1e-6"),
    ("plan_runs", "memory of runs within budgets", "never more than 1 % above"),
    ("soak", "mixed jobs in one process", "flat"),
    ("soak", "cancels", "p99 <= 250 ms"),
    ("limits", "languages, clocks", "the same bits or one line"),
    ("confined", "code in a worker", "refused"),
    ("hardened", "hardening of what is built", "all, in every file"),
    ("run", "make check-long", "0 failed"),
    ("run", "make check-tsan", "0 failed"),
    ("run", "make check-valgrind", "0 failed"),
]


def read(folder):
    rows = []
    for path in sorted(glob.glob(os.path.join(folder, "*.tsv"))):
        program = os.path.basename(path)[:-4]
        with open(path, encoding="utf-8") as f:
            rows += [[program, *line.rstrip("\n").split("\t")] for line in f if line.count("\t") == 3]
    parsers = [r for r in rows if r[1] == "inputs of a parser"]
    if parsers:
        inputs, short = (sum(int(r[3].split(" and ")[i]) for r in parsers) for i in range(2))
        rows = [r for r in rows if r not in parsers] + [
            ["parsers", "inputs that parsers were given", parsers[0][2],
             "%d of %d parsers, %d more short of memory" % (inputs, len({r[0] for r in parsers}), short),
             "yes" if all(r[4] == "yes" for r in parsers) else "no"]]
    return rows


def beside(folder):
    """Rows of the reports of other targets."""
    above = os.path.dirname(os.path.abspath(folder))
    rows = []
    for path in glob.glob(os.path.join(os.path.dirname(above), "build*coverage*", "coverage.txt")):
        with open(path, encoding="utf-8") as f:
            total = re.search(r"^all parsers\s+(\d+)\s+(\d+)\s+([\d.]+) %", f.read(), re.M)
        if total:
            rows.append(("branches of the parsers that tests take", ">= 95 %", "%s of %s, %s %%" % (total[2], total[1], total[3]),
                         float(total[3]) >= 95))
    path = os.path.join(above, "bugs.txt")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            found = re.search(r"(\d+) planted, (\d+) noticed", f.read())
        if found:
            rows.append(("planted bugs that the tests notice", ">= 95 %", "%s of %s" % (found[2], found[1]),
                         int(found[2]) * 100 >= 95 * int(found[1])))
    return rows


def bugs(folder):
    """What was planted, from the report of check-bugs: a line each with the test that noticed, survivors as differences."""
    path = os.path.join(os.path.dirname(os.path.abspath(folder)), "bugs.txt")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as f:
        entries = re.findall(r"^ *(\d+) (\S+) +(\S+)  (.+?)(?: \(\d+ s\))?\n    - (.*)\n    \+ (.*)((?:\n      .*)*)", f.read(), re.M)
    print("\n## Planted bugs\n\nOf `make check-bugs`: number of the seed, place, and who noticed.\n")
    print("| number | area | place | noticed by |\n|---|---|---|---|")
    for number, area, place, by, *_ in entries:
        print("| %s | %s | %s | %s |" % (number, area, place, "**nobody**" if by == "NOT NOTICED" else by))
    survivors = [e for e in entries if e[3] == "NOT NOTICED"]
    if survivors:
        print("\nNot noticed:\n\n```diff")
        for _, _, place, _, old, new, why in survivors:
            print("# %s%s\n-%s\n+%s" % (place, "".join(": " + w.strip() for w in why.split("\n") if w), old, new))
        print("```")


def main(folder):
    rows, lines, missed = read(folder), [], 0
    for program, what, target in PROGRAMME:
        found = [r for r in rows if r[0] == program and r[1].startswith(what)]
        for r in found[-1:]:
            rows = [x for x in rows if x[:2] != r[:2]]
            missed += r[4] != "yes"
            lines.append((r[1], r[2], r[3] if r[4] == "yes" else "**%s**" % r[3]))
        if not found:
            lines.append((what, target, "not run"))
    for r in rows:  # counted, though the list above does not know it
        missed += r[4] != "yes"
        lines.append((r[1], r[2], r[3] if r[4] == "yes" else "**%s**" % r[3]))
    for what, target, figure, is_reached in beside(folder):
        missed += not is_reached
        lines.append((what, target, figure if is_reached else "**%s**" % figure))
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout.strip()
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")),
               platform.machine())
    print("# Reliability: the programme and its figures\n")
    print("Written by `make reliability` from what the tests of `make check-long` have counted; targets that are missed are in bold.")
    print("What each promise means is in [data/doc/reliability.md](../../data/doc/reliability.md).\n")
    print("Commit %s, %s, %d processors.\n" % (commit or "unknown", cpu, os.cpu_count() or 1))
    if os.environ.get("NOTE"):
        print(os.environ["NOTE"] + "\n")
    print("| what | target | figure |\n|---|---|---|")
    for line in lines:
        print("| %s |" % " | ".join(c.replace("|", "\\|") for c in line))
    bugs(folder)
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
