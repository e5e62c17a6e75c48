#!/usr/bin/env python3
"""Random input for the app: keys, pointer, wheel, drops, odd texts, sizes, themes. What it does follows from the seed.

usage: monkey.py SEED EVENTS WORK        in a display of its own (tests/gui/lib.sh); WORK/flow.json is the first workflow

Fails when the app crashes, hangs, ends with an error, holds more memory with nothing open at the end than it did earlier, or
has lost after a kill a workflow that was changed, or anything of what it had kept. Warnings are found by
tests/gui/display.sh in the app's log; what was done when is in $SHOTS/events. Of a hang it shows what the app
does (with gdb). MONKEY_SAYS=1 prints each event; MONKEY_SHOTS=FROM-TO takes a picture after each of those.
"""
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

SEED, EVENTS, WORK = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
ROOT, B, SHOTS = os.environ["root"], os.environ["B"], os.environ["SHOTS"]
WIDTH, HEIGHT, TITLE = 1280, 840, 55  # of the window at first
SOURCE = (1310, 850, 80, 40)  # where the window lies that files are dragged from
HANG_S = 60
GROWTH_MIB = 48  # of the last third, with nothing open before and after it: views and windows that were not shown before
TEXTS = ["ksampler", "load", "a red fox", "0", "-1", "1e309", "18446744073709551616", "nan", "\U0001f98a", "\u0627\u0644",
         "e\u0301\u0301\u0301", "<b>&amp;", "%s%n%d", "..", "x" * 300, "a\tb", "'\"\\", "(word:1.2)", "512", "0,5", "*", "[("]
PALETTE = ["ksampler", "vae", "empty latent", "fit", "kernel", "runs", "theme", "undo", "mute", "advice", "form", "grid", "log"]
ENV = dict(os.environ, MALLOC_MMAP_THRESHOLD_="65536", MALLOC_TRIM_THRESHOLD_="131072")  # what is freed is given back
SHOOT = [int(n) for n in os.environ.get("MONKEY_SHOTS", "0-0").split("-")]
random.seed(SEED)


def manual_keys():
    """All keys of the manual, as xdotool names them; not the one that ends the app."""
    with open(os.path.join(ROOT, "data/doc/app.md"), encoding="utf-8") as f:
        table = f.read().split("<!-- generated: keys -->")[1].split("<!-- end -->")[0]
    cells = [line.split("|")[3] for line in table.splitlines() if line.count("|") == 4]
    keys = [k.strip() for cell in cells[2:] for k in cell.split(",")]
    return ["+".join(p.lower() if len(p) == 1 or p in ("Ctrl", "Shift", "Alt") else p for p in k.split("+"))
            for k in keys if k not in ("", "none", "Ctrl+Q", "Ctrl+Shift+D")]  # D: GTK's own inspector


class App:
    def __init__(self):
        self.process, self.starts, self.seen = None, 0, 0

    def call(self, path, method, *args):
        return subprocess.run(["gdbus", "call", "--session", "--timeout", str(HANG_S), "-d", "org.ninodes.Studio", "-o",
                               "/org/ninodes/Studio" + path, "-m", "org.gtk.Actions." + method, *args],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def show_log(self):
        with open(os.path.join(SHOTS, "app.log"), encoding="utf-8", errors="replace") as f:
            f.seek(self.seen)
            sys.stdout.write(f.read())
            self.seen = f.tell()

    def act(self, path, action, text=None):
        self.call(path, "Activate", action, "[<'%s'>]" % text if text is not None else "[]", "{}")

    def answers(self):
        return self.call("/window/1", "Describe", "state").returncode == 0

    def start(self, *args):
        with open(os.path.join(SHOTS, "app.log"), "ab") as log:
            self.process = subprocess.Popen([os.path.join(B, "ninodes-studio"), "--models", WORK + "/models", "--input",
                                             WORK + "/input", "--output", WORK + "/out", *args], stdout=log, stderr=log,
                                            cwd=WORK, env=ENV)
        self.starts += 1
        wait_for(self.answers, "the app does not answer after its start")

    def can(self, action):
        return self.call("/window/1", "Describe", action).stdout.startswith("((true")

    def rss_mib(self):
        """None: it has ended."""
        if self.process.poll() is not None:
            return None
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as f:
            found = re.search(r"VmRSS:\s+(\d+)", f.read())
        return int(found.group(1)) / 1024 if found else None

    def rest_mib(self, after):
        """What it holds with nothing open. The last event may have told it to end, which it does a moment later."""
        rest = self.least_mib()
        if rest is None:
            self.check(after)
            rest = self.least_mib()
        return rest if rest is not None else fail("it ends again and again")

    def least_mib(self):
        """The least of some moments, as what was closed goes little by little."""
        x("key", "Escape")
        for _ in range(200):
            if not self.can("close-tab"):
                break
            self.act("/window/1", "save-to", WORK + "/closed.json")
            self.act("/window/1", "close-tab")
        else:
            fail("the workflows cannot be closed")
        least, same = self.rss_mib(), 0
        while least is not None and same < 10:
            time.sleep(0.1)
            now = self.rss_mib()
            if now is None:
                return None
            same = 0 if now < least else same + 1
            least = min(least, now)
        self.act("/window/1", "open-path", WORK + "/flow.json")
        return least

    def check(self, after):
        """It may have been told to end (the window's button, the menu): then it ended well and starts again."""
        if self.process.poll() is None and self.answers():
            return
        try:
            status = self.process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            fail("no answer for %d s after event %d" % (HANG_S, after))
        if status:
            fail("it ended with %d before event %d" % (status, after))
        self.start(WORK + "/flow.json")


app = App()


def show_stacks():
    """What the app does that does not answer."""
    if app.process and app.process.poll() is None and shutil.which("gdb"):
        subprocess.run(["gdb", "-p", str(app.process.pid), "-batch", "-nx", "-ex", "thread apply all bt 40"],
                       env=dict(os.environ, LD_PRELOAD=""), stderr=subprocess.DEVNULL, timeout=120, check=False)


def shoot(name):
    if shutil.which("import"):
        subprocess.run(["import", "-window", "root", SHOTS + "/" + name + ".png"], timeout=HANG_S, check=False)


def fail(text):
    print("seed %d: %s" % (SEED, text))
    print("\n".join("  " + line for line in did[-25:]), flush=True)
    shoot("failed")
    show_stacks()
    with open(os.path.join(SHOTS, "app.log"), encoding="utf-8", errors="replace") as f:
        print("".join(f.readlines()[-20:]))
    if os.path.exists(WORK + "/core"):
        shutil.move(WORK + "/core", SHOTS)
    if app.process and app.process.poll() is None:
        app.process.kill()
    sys.exit(1)


def wait_for(condition, text, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end or (app.process and app.process.poll() not in (None, 0)):
            fail(text)
        time.sleep(0.05)


did = []
EVENTS_LOG = open(os.path.join(SHOTS, "events"), "w", encoding="utf-8", buffering=1)  # by the clock of the app's log


def note(text):
    did.append(text)
    now = time.time()
    EVENTS_LOG.write("%s.%03d event %d: %s\n" % (time.strftime("%H:%M:%S", time.gmtime(now)), now % 1 * 1000, len(did), text))


def x(*args):
    note(" ".join(args)[:100])
    if os.environ.get("MONKEY_SAYS"):
        print(len(did), did[-1], flush=True)
    try:
        subprocess.run(["xdotool", *args], check=False, stderr=subprocess.DEVNULL, timeout=HANG_S)
    except subprocess.TimeoutExpired:
        fail("xdotool does not end (the app %s): %s" % ("answers" if app.answers() else "does not answer", did[-1]))
    if SHOOT[0] <= len(did) <= SHOOT[1]:
        app.answers()
        shoot("%d" % len(did))
    if os.environ.get("MONKEY_SAYS"):
        app.answers()
        app.show_log()


# ---- events -----------------------------------------------------------------------------------------

def place():
    return str(random.randrange(2, WIDTH)), str(random.randrange(2, HEIGHT))


def click():
    x("mousemove", *place(), "click", "--repeat", random.choice("1112"), "--delay", "20", random.choice("11113"))


def bring_in():
    """Without a window manager nothing keeps a window on the screen whose edge was dragged, and GTK has no monitor for a menu beside it."""
    x("search", "--onlyvisible", "--class", "ninodes", "windowmove", "%1", "0", "0")


def drag():
    """Not from the title, which would move the window."""
    button = random.choice("1112")
    x("mousemove", str(random.randrange(5, WIDTH)), str(random.randrange(TITLE, HEIGHT)), "mousedown", button, "mousemove", *place(), "mousemove", *place(), "mouseup", button)
    bring_in()


def wheel():
    mods = random.choice([[], ["ctrl"], ["shift"]])
    step = ["click", "--repeat", str(random.randint(1, 8)), "--delay", "2", random.choice("4567")]
    down = [w for m in mods for w in ("keydown", m)]
    x("mousemove", *place(), *down, *step, *[w for m in mods for w in ("keyup", m)])


def key():
    x("key", random.choice(KEYS))


def plain_key():
    x("key", *random.choices(["Tab", "shift+Tab", "Return", "space", "Escape", "Left", "Right", "Up", "Down", "Delete",
                              "Home", "End", "Page_Down", "plus", "minus", "F10", "Menu", "z", "Multi_key"],
                             k=random.randint(1, 4)))


def text():
    x("type", "--delay", "1", "--", random.choice(TEXTS))


def palette():
    x("key", "ctrl+k")
    x("type", "--delay", "1", "--", random.choice(PALETTE))
    x("key", "Return")


def drop():
    left, top, width, height = SOURCE
    x("windowraise", source_id, "mousemove", str(left + width // 2), str(top + height // 2), "mousedown", "1", "mousemove",
      str(left - 15), str(top), "mousemove", *place(), "mousemove", *place(), "mouseup", "1")


def resize():
    width, height = random.choice([(1280, 840), (900, 600), (1400, 900), (700, 480), (1100, 880)])
    x("search", "--onlyvisible", "--class", "ninodes", "windowsize", "%@", str(width), str(height))
    bring_in()


def theme():
    name = random.choice(["light", "dark", "contrast", "system"])
    note("theme " + name)
    app.act("", "theme", name)


def perspective():
    name = random.choice(["compose", "profile"])
    note("perspective " + name)
    app.act("/window/1", "perspective", name)


def bring_back():
    """The workflow in front, so that not all the rest happens in a dialog or an empty window."""
    x("key", "Escape")
    app.act("/window/1", "open-path", WORK + "/flow.json")


def run():
    x("key", "ctrl+Return")


KINDS = [(click, 24), (drag, 12), (wheel, 8), (key, 20), (plain_key, 12), (text, 8), (palette, 4), (drop, 2), (resize, 2),
         (theme, 1), (perspective, 3), (bring_back, 4), (run, 2)]


# ---- what was kept ----------------------------------------------------------------------------------

def kept():
    """Of every session that ended: the workflows."""
    found = []
    for path in glob.glob(os.environ["HOME"] + "/.local/state/ninodes/studio/autosave/*/*.json"):
        with open(path, "rb") as f:
            found.append(f.read())
    return sorted(found)


def changed_and_kept(mark):
    return any(mark.encode() in text for text in kept())


def autosave_seconds():
    """After which a change is kept: the preference, which an event may have set."""
    for path in glob.glob(os.environ["XDG_CONFIG_HOME"] + "/ninodes/studio*"):
        with open(path, encoding="utf-8", errors="replace") as f:
            found = re.search(r"^autosave=(\d+)", f.read(), re.M)
        if found:
            return int(found.group(1))
    return 3


def check_recovery():
    """A workflow that nobody has touched yet is changed; then the app is killed."""
    if autosave_seconds() > 30:
        print("part skipped: a change is kept after %d s now" % autosave_seconds())
        return
    mark = "monkey_was_here_%d" % app.starts
    path = "%s/%s.json" % (WORK, mark)
    with open(path, "wb") as f:
        f.write(FLOW)
    x("key", "Escape")
    app.act("/window/1", "open-path", path)
    app.act("/window/1", "set", "4.filename_prefix=" + mark)
    wait_for(lambda: changed_and_kept(mark), "a change is not kept", 30 + autosave_seconds())
    before = kept()
    app.process.send_signal(signal.SIGKILL)
    app.process.wait()
    app.start()
    wait_for(lambda: len(kept()) >= len(before), "not all that was kept is there after a kill", 30)
    if kept() != before:
        fail("what was kept is other text after a kill")


# ---- the whole --------------------------------------------------------------------------------------

def start_source():
    files = [WORK + "/flow.json", WORK + "/input/picture.png", WORK + "/broken.png"]
    process = subprocess.Popen([B + "/tests/gui/program/drop_source", random.choice(files)])
    out = subprocess.run(["timeout", "30", "xdotool", "search", "--sync", "--onlyvisible", "--name", "^drop source$"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    x("windowmove", "--sync", out[-1], *[str(v) for v in SOURCE[:2]])
    return process, out[-1]


KEYS = manual_keys()
with open(WORK + "/flow.json", "rb") as flow:
    FLOW = flow.read()  # Ctrl+S may write another one
print("seed %d, %d events" % (SEED, EVENTS))
app.start(WORK + "/flow.json")
source, source_id = start_source()
part = max(EVENTS // 3, 1)  # one that ends with a kill, two that memory is compared after
held = []  # (starts, MiB)
for i in range(EVENTS):
    random.choices([k for k, _ in KINDS], [w for _, w in KINDS])[0]()
    if i % 10 == 9 or i % part == part - 1 or i == EVENTS - 1:
        app.check(i)
    if i == part - 1:
        check_recovery()
    if i in (2 * part - 1, EVENTS - 1):
        rest = app.rest_mib(i)
        held.append((app.starts, rest))
print("%d starts, with nothing open %s MiB after two thirds and at the end" % (app.starts, ", ".join("%.0f" % m for _, m in held)))
(began, before), (ended, after) = held[0], held[-1]
if began == ended and after - before > GROWTH_MIB:
    fail("it grew by %.0f MiB in the last third" % (after - before))
check_recovery()
source.kill()
app.act("", "quit")
time.sleep(0.2)
app.process.send_signal(signal.SIGTERM)  # where unsaved work keeps it
try:
    if app.process.wait(HANG_S):
        fail("it ended with %d" % app.process.returncode)
except subprocess.TimeoutExpired:
    fail("it does not end")
shutil.rmtree(WORK + "/out", ignore_errors=True)
