#!/usr/bin/env python3
"""A published web frontend drives a server as a person would: frontend.py NINODES FRONTEND_DIR FOLDER PICTURE.

Pages of 2024 to 2026 are known: the classic one, and those made with Vue. What differs between them is how a thing is reached; what is
asked of each is the same: it starts, a workflow is opened, queued, watched, shown and found again, pictures go up, what fails is said."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from chromium import Chromium
from client import Http

NINODES, WEB, TMP, PICTURE = sys.argv[1:5]
WIDTH, HEIGHT = 1400, 900
# Files of the user that every page asks for before there are any; 404 is how ComfyUI says so, too.
ABSENT = ("comfy.templates.json", ".index.json")
EVENTS = ["status", "executing", "executed", "progress", "execution_start", "execution_success", "execution_error", "execution_interrupted", "b_preview",
          "reconnecting", "reconnected"]


class Server:
    """`ninodes serve`, which may be ended and started again at the same address."""

    def __init__(self):
        self.port, self.p = 0, None

    def start(self):
        with open(os.path.join(TMP, "serve.err"), "ab") as err:
            self.p = subprocess.Popen([NINODES, "serve", "--listen", f"127.0.0.1:{self.port}", "--models", "data/demo/models", "--input", TMP + "/in", "--output",
                                       TMP + "/o", "--state", TMP + "/state", "--preview-every", "1", "--preview-percent", "100", "--frontend", WEB],
                                      stdout=subprocess.PIPE, stderr=err, text=True)
        self.url = self.p.stdout.readline().strip()
        assert self.url, open(os.path.join(TMP, "serve.err"), encoding="utf-8").read()
        self.port = int(self.url.rsplit(":", 1)[1].strip("/"))

    def stop(self):
        self.p.send_signal(signal.SIGTERM)
        self.p.wait(60)


class Front:
    """The page with what a person does in it."""

    def __init__(self, page, server):
        self.page, self.server, self.run = page, server, page.run
        self.api = Http(server.port)

    def open(self):
        self.page.open(self.server.url)
        self.page.until("document.querySelector('canvas') && import('/scripts/app.js').then(m => m.app.graph && m.app.graph._nodes && m.app.canvas ? 1 : 0)",
                        60, "the page starts")
        self.run(f"""(async () => {{
            window.T = {{ app: (await import('/scripts/app.js')).app, api: (await import('/scripts/api.js')).api, log: [] }};
            for (const k of {json.dumps(EVENTS)}) T.api.addEventListener(k, e => T.log.push([k, e.detail instanceof Blob ? e.detail.size : e.detail]));
            T.is = k => T.log.filter(x => x[0] === k);
            T.buttons = () => [...document.querySelectorAll('button')].filter(b => b.offsetWidth);
        }})()""")
        self.is_vue = self.run("!!document.querySelector('#vue-app')")
        self.has_jobs = any("/jobs?" in r[1] for r in self.page.requests)
        self.page.until("T.app.ui.lastQueueSize !== undefined || T.api.socket.readyState === 1", 20, "the page is connected")
        self.dismiss()

    def dismiss(self):
        """Closes what lies over the page, until nothing new comes."""
        quiet = 0
        while quiet < 5:
            is_open = self.run("[...document.querySelectorAll('.p-dialog-mask, .p-dialog, [role=dialog], .comfy-modal')].some(e => e.offsetWidth && "
                               "getComputedStyle(e).display !== 'none')")
            if is_open:
                at = self.run("""(() => { const b = T.buttons().find(b => b.closest('.comfy-modal, .p-dialog, [role=dialog]') && (b.textContent === 'Close' ||
                    /close/i.test((b.getAttribute('aria-label') || '') + b.className))); if (!b) return null;
                    const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()""")
                if at:
                    self.page.click(*at)
                else:
                    self.page.key("Escape")
            quiet = 0 if is_open else quiet + 1
            time.sleep(0.1)

    def load(self, path, by_drop=False):
        """Opens a file by Ctrl+O, or lets it fall on the canvas."""
        name = json.load(open(path, encoding="utf-8"))
        want = sorted(str(n["id"]) for n in name["nodes"])
        self.run("T.app.graph.clear(); T.app.graph.setDirtyCanvas(true, true)")
        if by_drop:
            self.page.drop(700, 450, path)
        else:
            self.page.click(700, 850)
            self.page.key("o", ctrl=True)
            self.page.choose(path)
        self.page.until(f"JSON.stringify(T.app.graph._nodes.map(n => String(n.id)).sort()) === '{json.dumps(want, separators=(',', ':'))}'", 20, "the workflow is open")
        self.dismiss()
        self.show_all()

    def show_all(self):
        """Pictures are only fetched for nodes that are seen."""
        self.run("""(() => { const s = T.app.graph._nodes, d = T.app.canvas.ds;
            const min = i => Math.min(...s.map(n => n.pos[i])), max = i => Math.max(...s.map(n => n.pos[i] + n.size[i]));
            d.scale = Math.min(0.9, 900 / (max(0) - min(0)), 560 / (max(1) - min(1)));
            d.offset[0] = 150 / d.scale - min(0); d.offset[1] = 150 / d.scale - min(1);
            T.app.graph.setDirtyCanvas(true, true); })()""")

    def set(self, node, name, value):
        self.run(f"T.app.graph._nodes.find(n => n.id == {node}).widgets.find(w => w.name === '{name}').value = {json.dumps(value)}")

    def queue(self, by_button=False):
        """Queues what is open; the prompt_id, or None if it was refused."""
        n = sum(1 for r in self.page.requests if r[0] == "POST" and r[1].endswith("/prompt"))
        self.run("T.log.length = 0; document.activeElement && document.activeElement.blur()")
        if by_button:
            self.page.press("T.buttons().find(b => b.id === 'queue-button' || b.dataset.testid === 'queue-button' || "
                            "b.closest('[data-testid=queue-button], .queue-button-group') && /^(Queue|Run)$/.test(b.textContent.trim()))")
        else:
            self.page.key("Enter", ctrl=True)
        end = time.monotonic() + 20
        while True:
            posts = [r for r in self.page.requests if r[0] == "POST" and r[1].endswith("/prompt")]
            if len(posts) > n and posts[n][2]:
                return posts[n][2]
            assert time.monotonic() < end, "nothing was queued"
            self.run("1")
            time.sleep(0.02)

    def wait(self, event, seconds=60):
        return self.page.until(f"T.is('{event}').slice(-1)", seconds, f"{event} comes")[0][1]

    def shown(self, node, width):
        self.page.until(f"(n => n.imgs && n.imgs[0] && n.imgs[0].complete && n.imgs[0].naturalWidth === {width})(T.app.graph._nodes.find(n => n.id == {node}))", 20,
                        f"a picture {width} wide on node {node}")

    def press(self, text, within="body"):
        """A button by what stands on it."""
        self.page.press(f"T.buttons().find(b => b.textContent.trim() === {json.dumps(text)} && b.closest({json.dumps(within)}))")

    def command(self, name):
        self.run(f"T.app.extensionManager.command.execute('{name}')")

    def interrupt(self):
        if self.is_vue:
            self.run("document.activeElement && document.activeElement.blur()")
            self.page.key("Enter", ctrl=True, alt=True)
        else:
            self.run("document.querySelector('.comfy-list').style.display !== 'none' || document.querySelector('#comfy-view-queue-button').click()")
            self.press("Cancel", ".comfy-list")

    def clear_queue(self):
        if self.has_jobs:
            self.command("Comfy.ClearPendingTasks")
        elif self.is_vue:
            self.page.press("document.querySelector('.execution-actions button:nth-of-type(2)') || T.buttons().filter(b => b.closest('.execution-actions'))[1]")
        else:
            self.press("Clear Queue", ".comfy-list")


def check(page, url):
    """Nothing that was asked of the server went wrong, and no script has failed."""
    bad = [r for r in page.failed(url) if not r[1].endswith(ABSENT)]
    assert not bad, bad
    said = [s for s in page.said if s.startswith("exception")]
    assert not said, said


def starts(f):
    f.open()
    check(f.page, f.server.url)


def one_run(f):
    f.load("data/workflows/text_to_image.json")
    assert f.queue(by_button=True) == 200
    f.wait("executed")
    f.page.until("T.is('executing').at(-1)[1] === null || T.is('execution_success').length", 20, "the run ends")
    steps = f.run("T.is('progress').map(x => x[1].value + '/' + x[1].max)")
    assert steps[-1] == "10/10" and len(steps) >= 3, steps
    assert f.run("T.is('b_preview').filter(x => x[1] > 100).length"), "no preview came"
    f.shown(8, 128)
    f.page.shot(PICTURE)
    check(f.page, f.server.url)


def found_again(f):
    """In the list of what has run, with its picture."""
    if f.is_vue:
        f.page.click(700, 850)
        f.page.key("a" if f.has_jobs else "q")
        f.page.until("[...document.querySelectorAll('img')].some(i => i.src.includes('text_to_image_00001_') && i.complete && i.naturalWidth && i.offsetWidth > 60)", 20,
                     "the picture in the list of jobs")
        f.page.shot(PICTURE.replace(".png", "_list.png"))
        f.page.key("a" if f.has_jobs else "q")
    else:
        f.press("View History")
        f.page.until("T.buttons().filter(b => b.closest('.comfy-list') && b.textContent === 'Delete').length === 1", 20, "the run in the history")
        f.page.shot(PICTURE.replace(".png", "_list.png"))
        f.run("T.app.graph.clear()")
        f.press("Load", ".comfy-list")
        f.page.until("T.app.graph._nodes.length === 8", 20, "the workflow of the history")
        f.dismiss()
        f.press("Close")


def upload(f):
    """From the button of a node: the file is among the inputs, and the node shows it."""
    plain = {"flags": {}, "mode": 0, "properties": {}, "size": [320, 320]}
    load = {"id": 1, "type": "LoadImage", "pos": [40, 40], "order": 0, "widgets_values": ["square.png", "image"], **plain,
            "outputs": [{"name": "IMAGE", "type": "IMAGE", "links": [1], "slot_index": 0}, {"name": "MASK", "type": "MASK", "links": None}]}
    save = {"id": 2, "type": "SaveImage", "pos": [440, 40], "order": 1, "widgets_values": ["again"], **plain,
            "inputs": [{"name": "images", "type": "IMAGE", "link": 1}]}
    graph = {"last_node_id": 2, "last_link_id": 1, "groups": [], "config": {}, "extra": {}, "version": 0.4, "nodes": [load, save],
             "links": [[1, 1, 0, 2, 0, "IMAGE"]]}
    path = os.path.join(TMP, "upload.json")
    with open(path, "w", encoding="utf-8") as w:
        json.dump(graph, w)
    f.load(path, by_drop=True)
    shutil.copy("data/demo/expected/lora.png", os.path.join(TMP, "from my disk.png"))
    f.page.chooser = None
    at = f.page.until("""(() => { const n = T.app.graph._nodes.find(n => n.id == 1), w = n.widgets.find(w => w.type === 'button' || w.name === 'upload'); if (!w || w.last_y === undefined) return null;
        const d = T.app.canvas.ds, r = T.app.canvas.canvas.getBoundingClientRect();
        return [r.x + (n.pos[0] + n.size[0] / 2 + d.offset[0]) * d.scale, r.y + (n.pos[1] + w.last_y + 10 + d.offset[1]) * d.scale]; })()""", 20, "the button of the node")
    f.page.click(*at)
    f.page.choose(os.path.join(TMP, "from my disk.png"))
    f.page.until("T.app.graph._nodes.find(n => n.id == 1).widgets.find(w => w.name === 'image').value.includes('from my disk')", 20, "the name in the node")
    f.shown(1, 128)
    with open(TMP + "/in/from my disk.png", "rb") as a, open("data/demo/expected/lora.png", "rb") as b:
        assert a.read() == b.read(), "another file than the one that was chosen"
    assert f.queue() == 200
    f.wait("executed")
    f.shown(2, 128)
    check(f.page, f.server.url)


def fails(f):
    """The page's own words for a prompt that is refused, and for one that fails as it runs."""
    text = "document.body.innerText"
    f.set(1, "image", "none such.png")
    assert f.queue() == 400
    f.page.until(f"/not in list|does not exist|Invalid image|none such|Value not|unsupported value/i.test({text})", 20, "what is wrong with the prompt")
    f.page.shot(PICTURE.replace(".png", "_refused.png"))
    f.dismiss()
    with open(TMP + "/in/square.png", "wb") as w:
        w.write(b"\x89PNG\r\n\x1a\nnothing")
    f.set(1, "image", "square.png")
    assert f.queue() == 200
    e = f.wait("execution_error")
    assert e["node_type"] == "LoadImage" and str(e["node_id"]) == "1" and e["exception_message"], e
    if f.has_jobs:  # a short word first
        f.press("View details")
    f.page.until(f"{text}.includes({json.dumps(e['exception_message'][:30])})", 20, "why it failed")
    f.page.shot(PICTURE.replace(".png", "_failed.png"))
    f.dismiss()
    f.page.requests.clear()


def queueing(f):
    f.load("data/workflows/text_to_image.json", by_drop=True)
    f.set(6, "steps", 10000)
    ids = []
    for seed in range(3):
        f.set(6, "seed", seed)
        assert f.queue() == 200
    f.page.until("T.is('status').length && T.is('status').at(-1)[1].exec_info.queue_remaining === 3", 20, "three are left")
    f.wait("progress")
    if not f.is_vue:
        f.press("View Queue")
        f.page.until("T.buttons().filter(b => b.closest('.comfy-list') && b.textContent === 'Delete').length === 2", 20, "two wait")
    f.page.shot(PICTURE.replace(".png", "_queue.png"))
    f.clear_queue()
    wait_queue(f, lambda q: len(q["queue_running"]) == 1 and not q["queue_pending"], "what waited is taken off")
    f.interrupt()
    f.wait("execution_interrupted")
    wait_queue(f, lambda q: not q["queue_running"], "what ran has stopped")
    check(f.page, f.server.url)


def wait_queue(f, done, what):
    for _ in range(400):
        q = f.api.get("/queue")
        if done(q):
            return
        time.sleep(0.05)
    raise AssertionError("never so: " + what)


def kept(f):
    """A setting and a saved workflow are there when the page is opened anew."""
    f.dismiss()
    f.run("(async () => { await (T.app.ui.settings.setSettingValueAsync ? T.app.ui.settings.setSettingValueAsync('Comfy.EditAttention.Delta', 0.11) :"
          " T.app.ui.settings.setSettingValue('Comfy.EditAttention.Delta', 0.11)); })()")
    wait_until(lambda: f.api.get("/settings").get("Comfy.EditAttention.Delta") == 0.11, "the setting reaches the server")
    if f.is_vue:
        f.page.typed = "kept by the page"
        f.run("document.activeElement && document.activeElement.blur()")
        f.page.key("s", ctrl=True)
        f.page.until("[...document.querySelectorAll('.p-dialog input, [role=dialog] input')].some(e => e.offsetWidth)", 20, "it asks for a name")
        f.run("(e => { e.focus(); e.select(); })([...document.querySelectorAll('.p-dialog input, [role=dialog] input')].find(e => e.offsetWidth))")
        f.page.type("kept by the page")
        f.page.key("Enter")
    else:
        f.run("T.api.storeUserData('workflows/kept by the page.json', T.app.graph.serialize())")
    wait_until(lambda: "kept by the page.json" in f.api.get("/userdata?dir=workflows"), "the workflow reaches the server")
    f.open()
    assert f.run("T.app.ui.settings.getSettingValue('Comfy.EditAttention.Delta')") == 0.11
    if f.is_vue:
        f.run("document.activeElement && document.activeElement.blur()")
        f.page.key("w")
        f.page.until("[...document.querySelectorAll('[class*=sidebar], .comfyui-workflows-panel, .workflows-sidebar-tab')].some(e => e.innerText.includes('kept by the page'))", 20,
                     "the workflow in the page's list")
        f.page.shot(PICTURE.replace(".png", "_kept.png"))
        f.page.key("w")
    saved = f.run("T.api.getUserData('workflows/kept by the page.json').then(r => r.json())")
    assert len(saved["nodes"]) == 8, saved
    check(f.page, f.server.url)


def wait_until(done, what):
    for _ in range(400):
        if done():
            return
        time.sleep(0.05)
    raise AssertionError("never so: " + what)


def comes_back(f):
    """The server ends and starts again under the page."""
    f.load("data/workflows/text_to_image.json", by_drop=True)
    f.run("T.log.length = 0")
    f.server.stop()
    f.wait("reconnecting")
    f.server.start()
    f.wait("reconnected")
    f.dismiss()
    f.page.requests.clear()
    f.set(6, "seed", 21)
    assert f.queue() == 200
    f.wait("executed")
    f.shown(8, 128)
    check(f.page, f.server.url)


def main():
    server = Server()
    server.start()
    chromium = Chromium(shutil.which("chromium") or shutil.which("chromium-browser"), TMP + "/profile", WIDTH, HEIGHT)
    f = Front(chromium.page, server)
    part = None
    try:
        for part in (starts, one_run, found_again, upload, fails, queueing, kept, comes_back):
            began = time.monotonic()
            part(f)
            print(f"{part.__name__}: {time.monotonic() - began:.1f} s")
        print("ok")
    except AssertionError:
        f.page.shot(PICTURE.replace(".png", "_wrong.png"))
        print(part.__name__, *f.page.said[-10:], *(str(r) for r in f.page.requests[-10:]), sep="\n", file=sys.stderr)
        raise
    finally:
        chromium.close()
        server.stop()


main()
