#!/usr/bin/env python3
"""Plants bugs in the sources, one at a time, and looks whether the tests notice.

usage: mutate.py BUILD_DIR [--seed N] [--count N] [--area NAME] [--first N] [--step N] [--only N,...] [--near] [--all]
                 [--without FOLDER] [--list] [--report FILE]

What is planted, and where, follows from the seed and the sources alone. A bug that does not compile is drawn again, and
so is a change without an effect that anybody could see: how much room an array grows by, a text of the log, what
tests/data/mutate/same.txt lists. Of `make check` the tests are asked that execute the changed line (reach.py; of kernels,
all): those of the changed file's room first, quick ones before others; the first that fails ends the search. What no test
notices is printed as a difference, to be judged by hand.
Works on a copy of the tracked files in BUILD_DIR/mutate, which keeps what it has built for the next bug, and how long
tests take.
"""
import argparse
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import reach

AREAS = {  # the files of an area, by pattern from the top
    "kernels": ["cl/kernels/*.cl", "cl/cpu/*.cl", "cl/generic/*.cl", "core/op/ref/*.c"],
    "parsers": ["core/base/json*.c", "core/file/*.c", "core/text/*.c", "core/media/*.c", "core/workflow/*.c"],
    "samplers": ["core/sample/*.c", "core/sample/*/*.c"],
    "planner": ["core/op/plan/*.c", "core/op/pool.c", "core/op/sched*.c", "core/run/plan*.c", "core/tile/*.c"],
    "models": ["core/model/*.c", "core/model/*/*.c"],
}
SCHEDULES = "tests/unit/cl tests/check"
MODELS = "tests/unit/model tests/golden tests/unit/oom tests/unit/node tests/unit/sample tests/unit/text tests/unit/run"
FIRST = [  # rooms whose tests come first, by the start of the file's name
    ("cl/", SCHEDULES), ("core/op/ref", SCHEDULES + " tests/unit/op"), ("core/op", "tests/unit/op tests/unit/tile tests/unit/run tests/unit/cl"),
    ("core/sample", "tests/unit/sample tests/workflow tests/golden tests/unit/oom tests/unit/node"), ("core/model", MODELS),
    ("core/tile", "tests/unit/tile tests/unit/run tests/unit/model tests/unit/node"),
    ("core/run", "tests/unit/run tests/unit/op tests/unit/oom tests/workflow"),
    ("core/workflow", "tests/unit/workflow tests/fuzz tests/unit/oom tests/unit/document tests/unit/node tests/workflow"),
    ("core/media", "tests/unit/media tests/unit/run tests/fuzz tests/unit/oom"), ("core/text", "tests/unit/text tests/fuzz tests/unit/oom"),
    ("core/file", "tests/unit/file tests/fuzz tests/unit/oom"), ("core/base", "tests/unit/base tests/fuzz tests/unit/oom"),
]
SWAPS = [  # a token and what takes its place
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" \* (?=[\w(])", " + "), (r" / ", " * "),
    (r" \+= ", " -= "), (r"\bmin\(", "max("), (r"\bmax\(", "min("), (r"\bfmin\(", "fmax("), (r"\bfmaxf\(", "fminf("),
    (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"), (r"\(!(?=\w)", "("), (r" \? (.+?) : (.+?)([;,)])", None),
]
# What nobody could see. A number that grows: of the elements of a local array, of what an array has room for.
ROOM = re.compile(r"\s+(?:static |const |struct |unsigned |local )*[a-z]\w* (?:[^(]*, )?\**\w+(?:\[[^]]*\])*\[[^]]*|.*\b\w*(?:cap|room|grown)\w* = .*")
LOG = re.compile(r"\bnino_logf?\(.*NINO_LOG_(?:DEBUG|INFO)")
SAME = "tests/data/mutate/same.txt"  # changes that were judged one by one
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[-+]?\d+)?f?|\d+)(?![\w.])")


def blank(line, in_comment):
    """The line with strings, characters and comments as spaces, so that columns stay."""
    out, i = [], 0
    while i < len(line):
        if in_comment:
            end = line.find("*/", i)
            stop = len(line) if end < 0 else end + 2
            in_comment = end < 0
        elif line.startswith("//", i):
            stop = len(line)
        elif line.startswith("/*", i):
            in_comment, stop = True, i + 2
        elif line[i] in "\"'":
            stop = i + 1
            while stop < len(line) and line[stop] != line[i]:
                stop += 2 if line[stop] == "\\" else 1
            stop += 1
        else:
            out.append(line[i])
            i += 1
            continue
        out.append(" " * (min(stop, len(line)) - i))
        i = stop
    return "".join(out), in_comment


def changed_number(text):
    if "." in text:
        tail = "f" if text.endswith("f") else ""
        return "%.9g%s" % (float(text.rstrip("f")) * 1.1 or 1.0, tail if "." in "%.9g" % (float(text.rstrip("f")) * 1.1 or 1.0) else "")
    return str(int(text) + 1)


def bugs_of_line(line, raw):
    """(from, to, new text) of every bug that this line of code can have; raw: with its strings."""
    for pattern, new in SWAPS:
        for m in re.finditer(pattern, line):
            if new is None:
                yes, no = raw[m.start(1):m.end(1)], raw[m.start(2):m.end(2)]
                yield m.start(), m.end(), " ? %s : %s%s" % (no, yes, m.group(3))
            else:
                yield m.start(), m.end(), new
    for m in NUMBER.finditer(line):
        if line[m.end():m.end() + 1] != "]" or m.group(1) != "0":
            yield m.start(), m.end(), changed_number(m.group(1))
    m = re.fullmatch(r"(\s+)((?!return|goto|break|continue|else)[\w.>-]+(\(.*\)| [-+|&]?= .*));", line)
    if m:
        yield m.start(2), len(line), ";"


def bugs_of_file(path):
    """(line, from, to, new text): inside functions only, where lines are indented."""
    comment, out, macro = False, [], False
    with open(path, encoding="utf-8") as f:
        for n, raw in enumerate(f.read().split("\n")):
            code, comment = blank(raw, comment)
            is_code = code.startswith(" ") and not macro and not re.match(r"\s*(static const|case |_Static_assert|#)", code)
            macro = raw.endswith("\\") and (macro or raw.startswith("#"))
            if is_code:
                out += [(n, a, b, new) for a, b, new in bugs_of_line(code, raw)]
    return out


def draw(rng, files):
    """A file and one of its bugs; files by the square root of their length, so that small ones have their share."""
    while True:
        path = rng.choices(list(files), [max(1, len(b)) ** 0.5 for b in files.values()])[0]
        if files[path]:
            return path, rng.choice(files[path])


def judged():
    """(file, line, changed line) of the changes of SAME: "file: reason", then both lines, as a report has them."""
    found, path, old = set(), None, None
    with open(SAME, encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line.startswith("    - "):
                old = line[6:]
            elif line.startswith("    + "):
                found.add((path, old, line[6:]))
            elif line and not line.startswith("#"):
                path = line.split(":")[0]
    return found


def is_unseen(path, old, start, end, new, same):
    grows = old[start:end].isdigit() and new.isdigit()
    bug = old[:start] + new + old[end:]
    return bool(grows and ROOM.fullmatch(old[:start]) or LOG.search(old)) or (path, old.strip(), bug.strip()) in same


def run(cmd, limit, **kw):
    p = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, **kw)
    try:
        out = p.communicate(timeout=limit)[0]
        return p.returncode, out.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        return None, ""


class Copy:
    """A copy of the tracked files that bugs are planted in."""

    def __init__(self, build):
        self.top = os.path.join(build, "mutate")
        os.makedirs(self.top, exist_ok=True)
        for name in subprocess.check_output(["git", "ls-files"], text=True).splitlines():
            to = os.path.join(self.top, name)
            os.makedirs(os.path.dirname(to) or ".", exist_ok=True)
            with open(name, "rb") as f:
                data = f.read()
            if not os.path.exists(to) or open(to, "rb").read() != data:
                shutil.copy2(name, to)
        if os.path.exists("config.mk"):
            shutil.copy2("config.mk", self.top)
        shared = os.path.abspath("../shared")
        link = os.path.join(build, "shared")  # where tests look for files that only some machines have
        if os.path.isdir(shared) and not os.path.exists(link):
            os.symlink(shared, link)
        self.env = dict(os.environ, MAKEFLAGS="", NINODES_TEST_LIMIT="240")
        if shutil.which("ld.lld"):  # most of the time is linking; not as an argument, which would take the Makefile's own away
            self.env["LDFLAGS"] = os.environ.get("LDFLAGS", "") + " -fuse-ld=lld -Wl,--strip-debug"
        self.times = os.path.join(build, "mutate.seconds")
        self.seconds = {}  # of a test, when it ran last
        if os.path.exists(self.times):
            with open(self.times, encoding="utf-8") as f:
                self.seconds = {name: float(s) for name, s in (line.split() for line in f)}

    def make(self, *targets):
        jobs = "-j%d" % (os.cpu_count() or 1)
        return run(["make", "-s", jobs, *targets], 1800, cwd=self.top, env=self.env)

    def learn(self, out):
        found = re.findall(r"^(?:ok|skip|FAIL)\s+(\S+) \((\d+) s\b", out, re.M)
        self.seconds.update((name, float(s)) for name, s in found)
        with open(self.times, "w", encoding="utf-8") as f:
            f.writelines("%s %g\n" % entry for entry in self.seconds.items())

    def quick_first(self, tests):
        return sorted(tests, key=lambda t: self.seconds.get(t.removeprefix("build/"), 1))

    def tests(self):
        out = subprocess.check_output(["make", "-s", "list-tests"], cwd=self.top, env=self.env, text=True)
        return out.split()

    def failing(self, tests):
        """The first of the tests that fails, "compiler" where a kernel is no program, or None."""
        for i in range(0, len(tests), 16):
            if self.make(*[t for t in tests[i:i + 16] if not t.endswith(".sh")])[0]:
                return "compiler"
            code, out = run(["tests/run.py", "build", *tests[i:i + 16]], 1200, cwd=self.top, env=self.env)
            self.learn(out)
            m = re.search(r"^FAIL (\S+)", out, re.M)
            if code != 0 and m and self.fails_again(tests, m.group(1)):
                return "compiler" if "clBuildProgram" in out else m.group(1)
        return None

    def plant(self, path, text, look):
        """What look() says while the file has that text."""
        target = os.path.join(self.top, path)
        try:
            with open(target, "w", encoding="utf-8") as f:
                f.write(text)
            return look()
        finally:
            shutil.copy2(path, target)
            os.utime(target)

    def fails_again(self, tests, name):
        """Whether it was the bug: a test that a busy machine held up passes when it is alone."""
        test = next(t for t in tests if t.removeprefix("build/") == name)
        return run(["tests/run.py", "build", test], 1200, cwd=self.top, env=self.env)[0] != 0


def noticed_by(copy, path, tests, near_only):
    """What noticed: a test's name, "compiler" where it is no program, or None. tests: those that can."""
    folders = next((f.split() for start, f in FIRST if path.startswith(start)), [])
    near = [t for t in tests if any(t.startswith("build/" + f + "/") for f in folders)]
    if copy.make("all")[0]:
        return "compiler"
    found = copy.failing(copy.quick_first(near))
    if found or near_only:
        return found
    if copy.make("all", "tests")[0]:
        return "compiler"
    # Quick ones first: a bug that is noticed at all is noticed soon.
    order = ["tests/golden", "tests/workflow", "tests/unit", "tests/e2e", "tests/cli", "tests/gui"]
    rest = [t for t in tests if t not in near]
    rest = copy.quick_first(rest)
    rest.sort(key=lambda t: next((i for i, o in enumerate(order) if o in t), len(order)))
    return copy.failing(rest)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("build")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--first", type=int, default=0, help="number of the first bug to try")
    p.add_argument("--step", type=int, default=1, help="try each N-th from there on, to share the work")
    p.add_argument("--area", choices=AREAS)
    p.add_argument("--near", action="store_true", help="only the tests of the room, to see which bugs need the others")
    p.add_argument("--all", action="store_true", help="also the tests that do not execute the changed line")
    p.add_argument("--without", metavar="FOLDER", action="append", default=[],
                   help="not the tests below it: what they alone would notice counts as not noticed")
    p.add_argument("--only", type=lambda s: [int(n) for n in s.split(",")], help="numbers of the bugs to try")
    p.add_argument("--list", action="store_true")
    p.add_argument("--report")
    a = p.parse_args()
    rng = random.Random(a.seed)
    areas = {n: {f: bugs_of_file(f) for g in globs for f in sorted(glob.glob(g))}
             for n, globs in AREAS.items() if not a.area or n == a.area}
    copy = None if a.list else Copy(a.build)
    if copy:
        code, out = copy.make("all", "tests")
        if code:
            sys.exit("mutate: the copy does not build\n" + out[-2000:])
    tests = [] if a.list else copy.tests()
    for folder in a.without:
        tests = [t for t in tests if folder.rstrip("/") + "/" not in t]
    reached = None if a.list or a.all else reach.Reach(copy, a.build, tests)
    same = judged()
    rows, n, unseen = [], -1, 0
    most = max(a.only) + 1 if a.only else a.count
    while (n + 1 if a.list or a.only else len(rows)) < most:
        n += 1
        area = list(areas)[n % len(areas)]
        path, (line, start, end, new) = draw(rng, areas[area])
        text = open(path, encoding="utf-8").read().split("\n")
        old, bug = text[line], text[line][:start] + new + text[line][end:]
        title = "%3d %-8s %s:%d" % (n, area, path, line + 1)
        change = "    - %s\n    + %s" % (old.strip(), bug.strip())
        is_out = is_unseen(path, old, start, end, new, same)
        if a.list:
            print("%s%s\n%s" % (title, "  no effect" if is_out else "", change))
        if a.list or n < a.first or (n - a.first) % a.step or (a.only and n not in a.only):
            continue
        if is_out:
            unseen += 1
            continue
        begin = time.monotonic()
        asked = reached.asked(tests, path, line + 1) if reached and path.endswith(".c") else tests
        by = copy.plant(path, "\n".join(text[:line] + [bug] + text[line + 1:]), lambda: noticed_by(copy, path, asked, a.near))
        if by == "compiler":
            continue  # no bug that a test would have to find
        rows.append((title, change, by))
        print("%s  %s (%.0f s)%s" % (title, by or "NOT NOTICED", time.monotonic() - begin, "" if by else "\n" + change))
        sys.stdout.flush()
    noticed = sum(1 for r in rows if r[2])
    print("%d planted, %d noticed" % (len(rows), noticed))
    if a.report:
        with open(a.report, "w", encoding="utf-8") as f:
            for title, change, by in rows:
                f.write("%s  %s\n%s\n" % (title, by or "NOT NOTICED", change))
            f.write("%d planted, %d noticed\n" % (len(rows), noticed))


if __name__ == "__main__":
    main()
