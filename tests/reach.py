"""Which tests reach a line of a C file: learnt once, of a copy of the sources that counts what it executes.

A bug in a line can be noticed by nobody else. The map lies in BUILD_DIR/reach, a folder of counts per test, and is made
anew when the sources are others. What a test's programs count is lost where they are killed: of one without any counts
nothing is known, so it is always asked, and the faults of whole programs (tests/fault), hours of work where every file
is compiled to count, are not.
"""
import glob
import json
import os
import shutil
import subprocess


def is_table(path, line):
    """Whether that line is of a table outside of functions: the last line before it that is not indented opens no function."""
    with open(path, encoding="utf-8") as f:
        before = [t for t in f.read().split("\n")[:line] if t and not t[0].isspace()]
    return not before or before[-1][0] != "{"


class Reach:
    def __init__(self, copy, build, tests):
        """copy: the sources as they are, which are compiled here a second time; tests: those to learn of where nothing is known yet."""
        self.top = os.path.abspath(os.path.join(build, "reach"))
        self.hits = os.path.join(self.top, "hits")
        self.copy = copy
        self.known = {}  # file -> [(test, {line: times})]
        self.objects = os.path.abspath(os.path.join(copy.top, "build-coverage"))
        state = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True) + subprocess.check_output(["git", "diff", "HEAD"], text=True)
        stamp = os.path.join(self.top, "of")
        if not os.path.exists(stamp) or open(stamp, encoding="utf-8").read() != state:
            shutil.rmtree(self.top, ignore_errors=True)
            os.makedirs(self.hits)
            self.learn(tests)
            with open(stamp, "w", encoding="utf-8") as f:
                f.write(state)

    def learn(self, tests):
        """Runs each test once; those that fail where coverage is counted are of no interest here."""
        how = ["COVERAGE=1", "CFLAGS=-O1 -g", "B=build-coverage"]
        code, out = self.copy.make(*how, "all", "tests")
        if code:
            raise SystemExit("mutate: the copy that counts what tests reach does not build\n" + out[-2000:])
        tests = [t.replace("build/", "build-coverage/", 1) if t.startswith("build/") else t
                 for t in tests if "tests/fault/" not in t]
        env = dict(self.copy.env, NINODES_TEST_LIMIT="600", NINODES_TEST_REACH=self.hits, GCOV_PREFIX_STRIP=str(self.objects.count("/")))
        with open(os.path.join(self.top, "log"), "w", encoding="utf-8") as log:
            subprocess.call(["tests/run.py", "build-coverage", *tests], cwd=self.copy.top, env=env, stdout=log, stderr=log)

    def counts(self, path):
        """(test, lines it executed) of every test that has anything of the file."""
        if path not in self.known:
            stem = path[:-2]
            found = sorted(glob.glob(os.path.join(self.hits, "**", stem + ".gcda"), recursive=True))
            self.known[path] = []
            for i in range(0, len(found), 100):
                for name in found[i:i + 100]:
                    notes = name[:-2] + "no"
                    if not os.path.exists(notes):
                        os.symlink(os.path.join(self.objects, stem + ".gcno"), notes)
                out = subprocess.run(["gcov", "-t", "-j", *found[i:i + 100]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     cwd=self.copy.top, check=False).stdout
                for name, line in zip(found[i:i + 100], out.splitlines()):
                    test = os.path.relpath(name, self.hits)[:-len(stem + ".gcda") - 1]
                    lines = {}
                    for entry in (e for f in json.loads(line)["files"] if f["file"] == path for e in f["lines"]):
                        lines[entry["line_number"]] = lines.get(entry["line_number"], 0) + entry["count"]
                    self.known[path].append((test, lines))
        return self.known[path]

    def asked(self, tests, path, line):
        """Those of the tests that execute that line, or the statement that it goes on; of a table, anything of its file."""
        found = set()
        in_table = is_table(os.path.join(self.copy.top, path), line)
        for test, lines in self.counts(path):
            at = max((n for n in lines if n <= line), default=0)
            if any(lines.values()) if in_table else lines.get(at):
                found.add(test)
        names = [(t, t.removeprefix("build/")) for t in tests if "tests/fault/" not in t]
        return [t for t, name in names if name in found or not os.path.isdir(os.path.join(self.hits, name))]
