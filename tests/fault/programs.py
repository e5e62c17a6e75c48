#!/usr/bin/env python3
"""Faults in whole programs: programs.py BUILD FOLDER [PART...]

Each program is run once for each fault, and each end is one of a few classes:
  done     exit status 0 and the files of a run without faults, to the byte
  refused  an exit status that is documented and one line on stderr, with what is known of the drivers behind it where no
           device can be used; every file that is there is whole
  killed   by the test itself; every file that is there is whole
Then the same runs without a fault over what was left: it must be done, and nothing half-written is left. Anything else is
a failure. Parts: kill calls device hangs deaths. $NINODES_TEST_LONG tries many places, else a few; $NINODES_FAULT_PLACES
says how many of each program are killed (a third of that in each way calls fail, and of workflows after the first),
$NINODES_FAULT_DEATHS how many workers die.
"""
import glob
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import figure

BUILD, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PARTS = sys.argv[3:] or ["kill", "calls", "device", "hangs", "deaths"]
LONG = bool(os.environ.get("NINODES_TEST_LONG"))
PLACES, DEATHS = (int(os.environ.get("NINODES_FAULT_" + n) or d) for n, d in (("PLACES", 30), ("DEATHS", 200)))
NINODES = BUILD + "/ninodes"
INJECT, LAYER = BUILD + "/tests/fault/tool/inject", BUILD + "/tests/fault/tool/cl_layer.so"
FLOWS = ["image", "lora", "tiled", "video", "control"]
CODES = {1: "run", 3: "workflow", 4: "missing", 5: "device", 6: "memory"}
ROOT = os.path.realpath(FOLDER) + "/root"  # what faults concern
WARM = FOLDER + "/warm"  # kernels as a run leaves them
KEPT = os.environ.get("NINODES_CACHE_DIR") or (os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) + "/ninodes"
POCL = FOLDER + "/pocl" if LONG else KEPT + "/pocl"  # PoCL's own
ONE = "/etc/OpenCL/vendors/pocl.icd"  # other drivers that are installed talk on stderr when their devices are asked for
if os.path.exists(ONE):
    os.environ.setdefault("OCL_ICD_VENDORS", ONE)
counts = {}  # part -> {class: n}


def fail(why, log=""):
    sys.exit("failed: %s\n%s" % (why, log[-3000:]))


def environment(**more):
    env = dict(os.environ, NINODES_HELPERS="0", NINODES_CACHE_DIR=ROOT + "/cache", XDG_STATE_HOME=ROOT + "/state-home",
               POCL_CACHE_DIR=POCL, **more)
    return env


def options(output):
    return ["--models", "data/demo/models", "--models", "tests/data/models", "--models", FOLDER + "/models", "--input",
            "tests/data/e2e_2026/input", "--output", output]


def run(command, env, limit=120):
    p = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                       timeout=limit)
    return p.returncode, p.stderr


def files(pattern):
    return sorted(glob.glob(ROOT + "/" + pattern, recursive=True))


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def hidden_parts():
    return [os.path.join(d, n) for d, _, names in os.walk(ROOT) for n in names if n.endswith(".ninodes.part")]


class Scene:
    """ninodes run of one workflow with a trace; what it writes lies below ROOT."""

    def __init__(self, flow):
        self.name, self.expected = "run " + flow, None
        self.command = [NINODES, "run", "tests/fault/flows/%s.json" % flow, *options(ROOT + "/o"), "--telemetry=off",
                        "--no-metadata", "-q", "--trace", ROOT + "/trace.json"]
        self.prepare()
        rc, log = run(self.command, environment())
        if rc:
            fail("%s without a fault: %d" % (self.name, rc), log)
        self.expected = {digest(f) for f in files("o/*")}
        shutil.copytree(ROOT + "/cache", WARM, dirs_exist_ok=True)

    def prepare(self, is_warm=False):
        shutil.rmtree(ROOT, ignore_errors=True)
        os.mkdir(ROOT)
        if is_warm:
            shutil.copytree(WARM, ROOT + "/cache")

    def look(self, what):
        """Every file that is there is whole."""
        for f in files("o/*"):
            if digest(f) not in self.expected:
                fail("%s: %s is another file" % (what, f))
        if os.path.exists(ROOT + "/trace.json"):
            with open(ROOT + "/trace.json", encoding="utf-8") as f:
                if not f.read().rstrip().endswith(("]", "}")):
                    fail("%s: the trace is cut" % what)

    def is_done(self):
        return bool(files("o/*"))

    def again(self, what):
        for f in files("o/*"):
            os.remove(f)
        rc, log = run(self.command, environment())
        if rc or {digest(f) for f in files("o/*")} != self.expected:
            fail("%s: the next run ends with %d" % (what, rc), log)
        if hidden_parts():
            fail("%s: the next run leaves %s" % (what, hidden_parts()))


class Worker(Scene):
    """ninodes worker over a queue of two jobs."""

    def __init__(self):
        super().__init__("image")
        self.name, self.template = "worker", FOLDER + "/queue"
        self.command = [NINODES, "worker", "--state", ROOT + "/state", "--resume", "--idle-end", "1", *options(ROOT + "/o")]
        start = subprocess.Popen([NINODES, "worker", "--state", self.template, *options(ROOT + "/o")], env=environment(),
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        start.stdout.readline()
        for words in (["pause"], ["add", "tests/fault/flows/image.json", "--no-metadata"],
                      ["add", "tests/fault/flows/image.json", "--no-metadata", "--seed", "8"], ["shutdown"]):
            rc, log = run([NINODES, "jobs", *words, "--worker", str(start.pid)], environment())
            if rc:
                start.kill()
                fail("jobs %s: %d" % (" ".join(words), rc), log)
        start.wait()
        self.prepare()
        rc, log = run(self.command, environment())
        self.expected = {digest(f) for f in files("o/*")}
        if rc or len(self.expected) != 2:
            fail("the worker without a fault: %d, %s" % (rc, files("o/*")), log)

    def prepare(self, is_warm=False):
        super().prepare(is_warm)
        if self.expected:
            shutil.copytree(self.template, ROOT + "/state")

    def is_done(self):
        return {digest(f) for f in files("o/*")} == self.expected

    def retry(self):
        with open(ROOT + "/state/queue.json", encoding="utf-8") as f:
            jobs = json.load(f)["jobs"]
        if not jobs or any(j["state"] not in ("failed", "done", "lost") for j in jobs):
            return 1, json.dumps(jobs)
        shutil.rmtree(ROOT + "/state")
        shutil.rmtree(ROOT + "/o", ignore_errors=True)
        shutil.copytree(self.template, ROOT + "/state")
        return run(self.command, environment())

    def again(self, what):
        """The next worker does what waits; what failed for good is tried again as a user would."""
        rc, log = run(self.command, environment())
        if rc == 0 and not self.is_done():
            rc, log = self.retry()
        if rc or not self.is_done():
            fail("%s: the next worker ends with %d and %s" % (what, rc, files("o/*")), log)
        self.look(what)
        left = hidden_parts()
        if left:
            fail("%s: the next worker leaves %s" % (what, left))


def is_explained(lines):
    """One line; where no device can be used, those after it tell what is known of each driver."""
    return len(lines) == 1 or (": no OpenCL device can be used: " in lines[0] and all(x.startswith("ninodes: ") for x in lines))


def judge(part, scene, what, rc, log, may_die_of=()):
    """The class of an end, counted; then the next run."""
    # clang inside a driver counts its errors on stderr itself
    lines = [line for line in log.splitlines() if line and not re.fullmatch(r"\d+ errors? generated\.", line)]
    scene.look(what)
    if -rc in may_die_of or rc - 128 in may_die_of:
        end = "killed"
    elif rc == 0 and scene.is_done():
        end = "done"
    elif rc == 0 and scene.name == "worker":  # its job failed, and it says so in the queue
        end = "refused (job)"
    elif rc in CODES and lines and (is_explained(lines) or scene.name == "worker" or "crashed" in log):
        end = "refused (%s)" % CODES[rc]
        if any(ord(c) < 32 for line in lines for c in line):
            fail("%s: control characters" % what, log)
    else:
        fail("%s: exit status %d and %d lines" % (what, rc, len(lines)), log)
    counts.setdefault(part, {}).setdefault(end, 0)
    counts[part][end] += 1
    if part in ("device", "deaths"):
        restore_pocl()
    scene.again(what)


def places(n, short, share):
    """Which of n calls: some of them, evenly."""
    most = max(PLACES // share, 1) if LONG else short
    return range(1, n + 1) if n <= most else sorted({1 + (n - 1) * (2 * i + 1) // (2 * most) for i in range(most)})


def injected(scene, how, at):
    """Status, stderr, calls counted, name of the call that was hit; 77: tracing is not allowed here."""
    report = FOLDER + "/report"
    scene.prepare(is_warm=how != "kill" and not LONG)
    rc, log = run([INJECT, ROOT, how, str(at), report, *scene.command], environment())
    if rc == 77:
        return rc, log, 0, ""
    with open(report, encoding="utf-8") as f:
        words = dict(w.split("=", 1) for w in f.read().split(" "))
    return rc, log, int(words["calls"]), words["hit"].strip()


def sweep_calls(part, scenes, ways, short):
    for scene in scenes:
        for how in ways:
            rc, _, n, _ = injected(scene, how, 0)
            if rc == 77:
                print("  part skipped: tracing is not allowed here")
                return
            for at in places(n, short, 1 if how == "kill" and scene in (scenes[0], scenes[-1]) else 3):
                rc, log, _, hit = injected(scene, how, at)
                if hit:
                    judge(part, scene, "%s, call %d of %d, %s: %s" % (scene.name, at, n, hit, how), rc, log,
                          (signal.SIGKILL,) if how == "kill" else ())


def restore_pocl():
    """A crash sets PoCL's kernels aside, and compiling them takes longer than all else here."""
    kept = FOLDER + "/kept-pocl"
    if LONG and not os.path.exists(kept):
        shutil.copytree(POCL, kept)
    elif LONG:
        for folder in glob.glob(POCL + "*"):
            shutil.rmtree(folder)
        shutil.copytree(kept, POCL)


def layered(scene, fault):
    restore_pocl()
    report = FOLDER + "/report"
    if os.path.exists(report):
        os.remove(report)
    scene.prepare(is_warm=True)
    return run(scene.command, environment(OPENCL_LAYERS=LAYER, NINODES_CL_FAULT=fault + " report=" + report))


CALLS = ["clGetPlatformIDs", "clGetDeviceIDs", "clGetDeviceInfo", "clCreateContext", "clCreateCommandQueue",
         "clCreateBuffer", "clCreateProgramWithSource", "clBuildProgram", "clCreateKernel", "clEnqueueNDRangeKernel",
         "clEnqueueReadBuffer", "clEnqueueMapBuffer", "clFlush"]
HANGING = ["clEnqueueNDRangeKernel", "clFlush", "clEnqueueMapBuffer", "clCreateBuffer", "clBuildProgram", "clWaitForEvents",
           "clCreateContext", "clGetDeviceInfo"]
OPENING = ["clCreateContext", "clGetDeviceInfo"]  # before a worker listens
KINDS = ["once at=1 code=-5", "forever at=1 code=-36", "once at=2 code=-4", "late at=2 code=-5", "forever at=3 code=-9999",
         "abort at=2"]


def sweep_device(scenes):
    random.seed(21)
    pairs = [(c, k) for c in CALLS for k in KINDS if LONG or "abort" not in k]
    for scene in scenes:
        few = len(pairs) // 3 if LONG else 1  # of the first workflow and the worker all
        for call, kind in pairs if LONG and scene in (scenes[0], scenes[-1]) else random.sample(pairs, few):
            rc, log = layered(scene, "kind=%s call=%s" % (kind, call))
            judge("device", scene, "%s, %s: %s" % (scene.name, call, kind), rc, log,
                  (signal.SIGABRT,) if scene.name == "worker" else ())


def sweep_deaths(scene):
    """The worker dies at kernels drawn by chance, by each signal that ends one."""
    random.seed(7)
    layered(scene, "kind=none call=clEnqueueNDRangeKernel")
    with open(FOLDER + "/report", encoding="utf-8") as f:
        n = int(f.read().split("calls=")[1].split()[0])
    for i in range(DEATHS):
        number = [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS][i % 4]
        at = random.randint(1, n)
        rc, log = layered(scene, "kind=abort call=clEnqueueNDRangeKernel at=%d code=%d" % (at, number))
        judge("deaths", scene, "worker, %s at kernel %d of %d" % (number.name, at, n), rc, log, (number,))


def wait_until(true, what, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            fail(what)
        time.sleep(0.02)


def said(path, text):
    try:
        with open(path, encoding="utf-8") as f:
            return text in f.read()
    except FileNotFoundError:
        return False


def start_hanging(scene, call):
    report = FOLDER + "/report"
    if os.path.exists(report):
        os.remove(report)
    scene.prepare(is_warm=True)
    p = subprocess.Popen(scene.command, env=environment(OPENCL_LAYERS=LAYER, NINODES_CL_FAULT="kind=hang at=2 call=%s report=%s" % (
        call, report)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: said(report, "hangs in") or p.poll() is not None, "%s: %s was never called" % (scene.name, call))
    return p if p.poll() is None else None


def sweep_hangs(runs, worker):
    """A call of the driver does not return: two signals end a run, a worker goes on to answer and can be replaced."""
    slowest = 0
    for call in HANGING if LONG else HANGING[:1]:
        for scene in runs:
            p = start_hanging(scene, call)
            if not p:
                continue
            begin = time.monotonic()
            p.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            p.send_signal(signal.SIGTERM)
            _, log = p.communicate(timeout=60)
            slowest = max(slowest, time.monotonic() - begin - 0.2)
            judge("hangs", scene, "%s hangs in %s" % (scene.name, call), p.returncode, log, (signal.SIGTERM,))
        p = start_hanging(worker, call) if LONG and call not in OPENING else None
        if p:
            begin = time.monotonic()
            rc, log = run([NINODES, "jobs", "ls", "--worker", str(p.pid)], environment())
            slowest = max(slowest, time.monotonic() - begin)
            if rc:
                fail("a worker that hangs in %s does not answer" % call, log)
            p.kill()
            _, log = p.communicate(timeout=60)
            judge("hangs", worker, "worker hangs in %s" % call, p.returncode, log, (signal.SIGKILL,))
    if "hangs" in counts:
        n = sum(counts["hangs"].values())
        figure.add("programs", "OpenCL calls that do not return", "ended or replaced within 2 s", "%d, %.1f s at most" % (n, slowest),
                   slowest <= 2)


def tell(part, what, target):
    if part in counts:
        got = counts[part]
        figure.add("programs", what, target, "%d: %s" % (sum(got.values()), ", ".join(
            "%d %s" % (got[k], k) for k in sorted(got))))


WAYS = ["EIO", "ENOSPC", "EMFILE", "EINTR", "EACCES", "short"]


def main():
    os.makedirs(FOLDER + "/models", exist_ok=True)
    os.symlink(os.path.abspath("tests/data/synth"), FOLDER + "/models/controlnet")
    runs = [Scene(f) for f in (FLOWS if LONG else FLOWS[:1])]
    worker = Worker() if LONG else None
    if "kill" in PARTS:
        sweep_calls("kill", runs + [worker] if LONG else runs, ["kill"], 2)
    if "calls" in PARTS:
        sweep_calls("calls", runs[:2] + [worker] if LONG else runs, WAYS if LONG else WAYS[1:2], 1)
    if os.path.exists(LAYER) and "hangs" in PARTS:
        sweep_hangs(runs[:1], worker)
    if os.path.exists(LAYER) and ("device" in PARTS or "deaths" in PARTS):
        if "device" in PARTS:
            sweep_device(runs[:2] + [worker] if LONG else runs)
        if LONG and "deaths" in PARTS:
            sweep_deaths(worker)
    tell("kill", "programs killed at a call that writes", "none torn, the next run clean")
    tell("calls", "system calls that fail in programs", "done or one line, the next run clean")
    tell("device", "OpenCL calls that fail in programs", "done or one line, the next run clean")
    tell("deaths", "deaths of a worker", "its queue is done by the next one")


main()
