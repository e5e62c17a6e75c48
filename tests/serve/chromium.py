"""A tab of a headless Chromium, by its DevTools protocol: what the page asks for and says is kept, keys and files go in as a person's do."""
import base64
import http.client
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import WebSocket

KEYS = {"Enter": 13, "Escape": 27, "Delete": 46}


class Chromium:
    """The program, with nobody to reach but this machine."""

    def __init__(self, browser, profile, width=900, height=700):
        self.p = subprocess.Popen([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + profile,
                                   f"--window-size={width},{height}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
                                   "--remote-debugging-port=0", "--remote-allow-origins=*", "about:blank"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": profile})
        at = os.path.join(profile, "DevToolsActivePort")
        for _ in range(600):
            if os.path.exists(at) and open(at, encoding="ascii").read().count("\n"):
                break
            time.sleep(0.1)
        self.page = Page(int(open(at, encoding="ascii").read().split()[0]), width, height)

    def close(self):
        self.p.terminate()
        self.p.wait(20)


class Page:
    """One tab. `requests`: [method, address, status or the reason of a failure]; `said`: texts of its console that warn or worse."""

    def __init__(self, port, width, height):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        c.request("GET", "/json")
        at = [t for t in json.loads(c.getresponse().read()) if t["type"] == "page"][0]["webSocketDebuggerUrl"]
        self.ws, self.n = WebSocket(port, path=urllib.parse.urlsplit(at).path), 0
        self.requests, self.asked, self.said, self.chooser = [], {}, [], None
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.setInterceptFileChooserDialog", enabled=True)

    def take(self, m):
        """An event."""
        p = m.get("params", {})
        kind = m.get("method")
        if kind == "Network.requestWillBeSent":
            self.asked[p["requestId"]] = [p["request"]["method"], p["request"]["url"], None]
            self.requests.append(self.asked[p["requestId"]])
        elif kind == "Network.responseReceived" and p["requestId"] in self.asked:
            self.asked[p["requestId"]][2] = p["response"]["status"]
        elif kind == "Network.loadingFailed" and p["requestId"] in self.asked and not p.get("canceled"):
            self.asked[p["requestId"]][2] = self.asked[p["requestId"]][2] or p["errorText"]
        elif kind == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
            self.said.append(p["type"] + ": " + " ".join(str(a.get("value", a.get("description", ""))) for a in p["args"]))
        elif kind == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.said.append("exception: " + str(d.get("exception", {}).get("description", d.get("text"))))
        elif kind == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.said.append("log: " + p["entry"]["text"] + " " + p["entry"].get("url", ""))
        elif kind == "Page.fileChooserOpened":
            self.chooser = p["backendNodeId"]
        elif kind == "Page.javascriptDialogOpening":
            self.said.append("dialog: " + p["message"])
            self.n += 1
            self.ws.send(json.dumps({"id": self.n, "method": "Page.handleJavaScriptDialog",
                                     "params": {"accept": True, "promptText": getattr(self, "typed", p.get("defaultPrompt", ""))}}))

    def call(self, method, **params):
        self.n += 1
        mine = self.n
        self.ws.send(json.dumps({"id": mine, "method": method, "params": params}))
        while True:
            m = self.ws.next()
            if m.get("id") == mine:
                assert "error" not in m, (method, m["error"])
                return m["result"]
            self.take(m)

    def run(self, script):
        """The value of a script, which may wait."""
        r = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in r:
            raise AssertionError(f"{script[:200]}: {r['exceptionDetails'].get('exception', {}).get('description')}")
        return r["result"].get("value")

    def until(self, script, seconds=60, what=None):
        """Waits for a script to be true; its value."""
        end = time.monotonic() + seconds
        while True:
            try:
                v = self.run(script)
            except AssertionError as e:
                v, why = None, e
            else:
                why = v
            if v not in (None, False, 0, "", []):
                return v
            if time.monotonic() > end:
                raise AssertionError(f"never so: {what or script[:300]} ({why})")
            time.sleep(0.05)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def key(self, key, ctrl=False, alt=False, shift=False):
        mods = 2 * ctrl + alt + 8 * shift
        code = KEYS.get(key) or ord(key.upper())
        same = {"key": key, "code": key if key in KEYS else "Key" + key.upper(), "windowsVirtualKeyCode": code, "modifiers": mods}
        text = {} if mods or key in ("Escape", "Delete") else {"text": "\r" if key == "Enter" else key}
        self.call("Input.dispatchKeyEvent", type="keyDown", **same, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **same)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, x, y, button="left", count=1):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=count)

    def press(self, find, seconds=20):
        """Clicks the middle of the element that a script finds."""
        at = self.until(f"""(() => {{ const e = {find}; if (!e) return null; const r = e.getBoundingClientRect();
            return r.width && r.height ? [r.x + r.width / 2, r.y + r.height / 2] : null; }})()""", seconds, find)
        self.click(*at)

    def choose(self, *files):
        """Answers the file dialog that the page has opened."""
        end = time.monotonic() + 20
        while not self.chooser:
            assert time.monotonic() < end, "the page opened no file dialog"
            time.sleep(0.05)
            self.run("1")
        self.call("DOM.setFileInputFiles", backendNodeId=self.chooser, files=[os.path.abspath(f) for f in files])
        self.chooser = None

    def drop(self, x, y, *files):
        data = {"items": [], "files": [os.path.abspath(f) for f in files], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def failed(self, origin):
        """Requests to the server that were not answered well, those of the page itself left out that `ignore` names."""
        return [r for r in self.requests if r[1].startswith(origin) and (not isinstance(r[2], int) or r[2] >= 400) and r[2] is not None]
