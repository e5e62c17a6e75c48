#!/usr/bin/env python3
"""Opens a page in a headless Chromium until its text matches, and keeps its picture: browse.py BROWSER URL REGEX PICTURE PROFILE."""
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

browser, url, wanted, picture, profile = sys.argv[1:6]


class Page:
    """One tab, by the DevTools protocol."""

    def __init__(self, port):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        c.request("GET", "/json")
        at = [t for t in json.loads(c.getresponse().read()) if t["type"] == "page"][0]["webSocketDebuggerUrl"]
        self.ws, self.n = WebSocket(port, path=urllib.parse.urlsplit(at).path), 0

    def call(self, method, **params):
        self.n += 1
        self.ws.send(json.dumps({"id": self.n, "method": method, "params": params}))
        return self.ws.until(lambda m: isinstance(m, dict) and m.get("id") == self.n)[-1].get("result", {})


p = subprocess.Popen([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + profile,
                      "--window-size=900,700", "--remote-debugging-port=0", "--remote-allow-origins=*", url],
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": profile})
try:
    at = os.path.join(profile, "DevToolsActivePort")
    for _ in range(600):
        if os.path.exists(at) and open(at, encoding="ascii").read().count("\n"):
            break
        time.sleep(0.1)
    page = Page(int(open(at, encoding="ascii").read().split()[0]))
    for _ in range(600):
        text = page.call("Runtime.evaluate", expression="document.documentElement.outerHTML", returnByValue=True)["result"]["value"]
        if re.search(wanted, text) or "failed:" in text:
            break
        time.sleep(0.1)
    time.sleep(0.5)  # pictures that are being drawn
    with open(picture, "wb") as f:
        f.write(base64.b64decode(page.call("Page.captureScreenshot")["data"]))
    print(text)
finally:
    p.terminate()
    p.wait(20)
sys.exit(0 if re.search(wanted, text) else 1)
