#!/usr/bin/env python3
"""Runs test programs and scripts, several at a time; prints a line each and the closing counts.

usage: run.py BUILD_DIR PROGRAM|SCRIPT...        exit status 1 if any failed

The seconds of a test are those of the clock and, behind them, of processors: its own and of what it waited for.
A test that exits with 77 was skipped; its output says why. One that passes with parts left out says "part skipped" for
each. A script that has "alone:" in its first five lines, with the reason, runs when no other does. A test that has not
ended after a limit failed: it is ended with all it started, and its last words are shown. One that LeakSanitizer could
not look at (its tracer of GCC 12 dies where a thread ends at that moment) runs again, at most twice.
NINODES_TEST_JOBS: how many at a time, unless told twice as many as processors, at most 4: many wait for another program.
NINODES_TEST_LIMIT: seconds for one test, 600 unless told (2700 in the long form). NINODES_TEST_LONG=1 asks tests for their
long form. NINODES_TEST_UNDER: a command that programs (not scripts) are run under, with its options. NINODES_TEST_TITLE: the
counts are a figure of that name (figure.py). NINODES_TEST_REACH: what programs count of their coverage goes there, in a
folder per test.
"""
import concurrent.futures
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import figure

NO_LOOK = "LeakSanitizer has encountered a fatal error"
running = {}  # Popen -> (name, log, start)
printing = threading.Lock()


def is_alone(test):
    if not test.endswith(".sh"):
        return False
    with open(test, encoding="utf-8") as f:
        return any("alone:" in line for _, line in zip(range(5), f))


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def tail(text, n=40):
    return "".join("     | %s\n" % line for line in text.splitlines()[-n:])


def run(test, env, limit):
    """Exit status, output, seconds and seconds of processors; a status of None is a test that did not end."""
    with tempfile.TemporaryFile() as log:
        start = time.monotonic()
        under = os.environ.get("NINODES_TEST_UNDER", "").split()
        try:
            process = subprocess.Popen(["bash", test] if test.endswith(".sh") else under + [test], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=subprocess.STDOUT, env=env, start_new_session=True)
        except OSError as e:  # no such program, say
            return 127, str(e), 0, 0
        running[process] = (test, log, start)
        status = None
        pid, how, used = os.wait4(process.pid, os.WNOHANG)
        while not pid and time.monotonic() < start + limit:
            time.sleep(0.02)
            pid, how, used = os.wait4(process.pid, os.WNOHANG)
        end_group(process)  # what a test left running would load the next ones
        if pid:
            status = process.returncode = os.waitstatus_to_exitcode(how)
        else:
            process.wait()
        del running[process]
        log.seek(0)
        return status, log.read().decode("utf-8", "replace"), time.monotonic() - start, used.ru_utime + used.ru_stime


def report(name, status, out, seconds, used, limit):
    what = {0: "ok", 77: "skip"}.get(status, "FAIL")
    text = "%-4s %s (%.0f s, %.0f)\n" % (what, name, seconds, used)
    lines = out.splitlines()
    parts = [line for line in lines if "part skipped" in line] if what == "ok" else []
    if what == "skip":
        text += "".join(line + "\n" for line in [line for line in lines if "skip" in line][:1])
    elif what == "FAIL":
        text += tail(out)
        text += "     | %s\n" % ("no end after %d s" % limit if status is None else "exit status %d" % status)
    with printing:
        sys.stdout.write(text + "".join(line + "\n" for line in parts))
        sys.stdout.flush()
    return what, len(parts)


def stopped(signum, _frame):
    for process, (test, log, start) in list(running.items()):
        log.seek(0)
        sys.stdout.write("CUT  %s after %.0f s\n" % (test, time.monotonic() - start))
        sys.stdout.write(tail(log.read().decode("utf-8", "replace"), 10))
        end_group(process)
    sys.stdout.flush()
    os._exit(128 + signum)


def main():
    build, tests = sys.argv[1], sys.argv[2:]
    jobs = int(os.environ.get("NINODES_TEST_JOBS") or min(2 * len(os.sched_getaffinity(0)), 4))
    limit = int(os.environ.get("NINODES_TEST_LIMIT") or (2700 if os.environ.get("NINODES_TEST_LONG") else 600))
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(s, stopped)
    config = tempfile.mkdtemp()
    env = dict(os.environ, B=build, XDG_CONFIG_HOME=config, XDG_CONFIG_DIRS=config)  # the user's own settings do not count
    # PoCL's worker threads bring their own signal stacks, which AddressSanitizer then fails to unmap.
    env["ASAN_OPTIONS"] = ":".join(filter(None, ["use_sigaltstack=0", os.environ.get("ASAN_OPTIONS")]))
    counts, parts = {"ok": 0, "FAIL": 0, "skip": 0}, 0

    def one(test):
        own = dict(env)
        if os.environ.get("NINODES_TEST_REACH"):
            own["GCOV_PREFIX"] = os.path.join(os.environ["NINODES_TEST_REACH"], test.removeprefix(build + "/"))
        for _ in range(3):
            status, out, seconds, used = run(test, own, limit)
            if not status or NO_LOOK not in out:
                break
        return report(test.removeprefix(build + "/"), status, out, seconds, used, limit)

    together = [t for t in tests if not is_alone(t)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(one, together))
    results += [one(t) for t in tests if is_alone(t)]
    for what, n in results:
        counts[what] += 1
        parts += n
    shutil.rmtree(config, ignore_errors=True)
    title = os.environ.get("NINODES_TEST_TITLE")
    if title and os.environ.get("NINODES_FIGURES"):
        figure.add("run", title, "0 failed", "%d passed, %d failed, %d skipped" % (counts["ok"], counts["FAIL"], counts["skip"]),
                   not counts["FAIL"])
    print("%d passed, %d failed, %d skipped%s" % (counts["ok"], counts["FAIL"], counts["skip"],
                                                ", %d parts of passed ones left out" % parts if parts else ""))
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
