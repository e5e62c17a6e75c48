#!/usr/bin/env python3
"""Who is let in, and what happens when the worker dies: rules.py PORT STATE_DIR [TOKEN]."""
import json
import os
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Http, WebSocket, is_end

PORT, STATE, TOKEN = int(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
DIES = "dies-" + (TOKEN or "")
api, stranger = Http(PORT, TOKEN), Http(PORT)


def status(method="GET", path="/queue", body=None, who=api, **headers):
    return who.ask(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})[0]


def refused(*args, **kwargs):
    try:
        WebSocket(PORT, *args, **kwargs).close()
    except ConnectionError:
        return True
    return False


def names():
    here = f"127.0.0.1:{PORT}"
    assert status(Host=here) == status(Host=f"localhost:{PORT}") == status(Host="[::1]:1") == 200
    assert status(Host="art.example.org") == (200 if TOKEN else 403)
    if not TOKEN:  # with a token a name of somebody else's leads nowhere by itself
        assert status(Host="evil.example.org") == status(Host="127.0.0.1.evil.org") == status(Host="localhost.evil.org") == 403
    assert status(Origin=f"http://{here}") == 200
    assert status(Origin="http://evil.example.org") == status(Origin="null") == status(Origin="http://127.0.0.1:1") == 403
    assert status("POST", "/queue", b"{}", Origin="https://evil.example.org") == 403
    assert status("POST", "/queue", b"{}", Sec_Fetch_Site="cross-site") == 403
    assert status("POST", "/queue", b"{}", Sec_Fetch_Site="same-origin") == 200
    assert status("OPTIONS", "/prompt", Origin="http://evil.example.org") == 403
    assert refused(token=TOKEN, headers=["Origin: http://evil.example.org"]) and refused(path="/elsewhere", token=TOKEN)
    WebSocket(PORT, token=TOKEN, path="/api/ws", headers=[f"Origin: http://{here}"]).close()


def tokens():
    for path in ("/", "/queue", "/object_info", "/metrics", "/v1/models", "/nothing"):
        assert stranger.ask("GET", path)[0] == 401, path
    assert stranger.ask("GET", "/queue?token=wrong")[0] == stranger.ask("GET", "/queue", headers={"Authorization": "Bearer "})[0] == 401
    assert stranger.ask("GET", "/queue", headers={"Authorization": "Bearer secret-toke"})[0] == 401
    assert stranger.ask("POST", "/prompt", b"{}")[0] == 401 and refused() and refused(token="secret-tokem")
    code, head, _ = stranger.ask("GET", "/?token=" + TOKEN)
    cookie = head["set-cookie"].split(";")[0]
    assert code == 200 and "HttpOnly" in head["set-cookie"] and "SameSite=Strict" in head["set-cookie"]
    assert stranger.ask("GET", "/queue", headers={"Cookie": "a=b; " + cookie})[0] == 200


def body_on_request():
    """A program that waits to be asked for a body is asked at once."""
    with socket.create_connection(("127.0.0.1", PORT), timeout=20) as s:
        auth = f"Authorization: Bearer {TOKEN}\r\n" if TOKEN else ""
        s.sendall(f"POST /queue HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n{auth}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n".encode())
        assert s.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        s.sendall(b"{}")
        assert s.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
        s.sendall(f"POST /queue HTTP/1.1\r\nHost: evil.example.org\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n".encode())
        assert s.recv(4096).startswith(b"HTTP/1.1 40")  # not even asked


def other_sites():
    """Pages of a site that was named may ask, and are told so before they tell the token; others may not."""
    site, page = "https://pages.example.org", Http(PORT)
    code, head, _ = page.ask("OPTIONS", "/prompt", headers={"Origin": site, "Access-Control-Request-Method": "POST"})
    assert code == 200 and head["access-control-allow-origin"] == site and "Authorization" in head["access-control-allow-headers"], head
    assert "POST" in head["access-control-allow-methods"] and head["vary"] == "Origin"
    code, head, _ = page.ask("GET", "/queue", headers={"Origin": site})
    assert code == 401 and head["access-control-allow-origin"] == site  # it may read why
    code, head, text = api.ask("GET", "/queue", headers={"Origin": site, "Sec-Fetch-Site": "cross-site"})
    assert code == 200 and head["access-control-allow-origin"] == site and b"queue_running" in text
    assert status("POST", "/queue", b"{}", Origin=site, Sec_Fetch_Site="cross-site") == 200
    WebSocket(PORT, token=TOKEN, headers=["Origin: " + site]).close()
    for other in ("https://pages.example.org.evil.net", "http://pages.example.org", "null"):
        code, head, _ = api.ask("OPTIONS", "/prompt", headers={"Origin": other, "Access-Control-Request-Method": "POST"})
        assert code == 403 and "access-control-allow-origin" not in head, other
        assert status(Origin=other) == 403
    assert "access-control-allow-origin" not in api.ask("GET", "/queue")[1]


def worker_dies():
    with open("data/workflows/text_to_image.api.json", encoding="utf-8") as f:
        prompt = json.load(f)
    prompt["6"]["inputs"].update(steps=5000, seed=3)
    prompt["5"]["inputs"].update(width=256, height=256)
    ws = WebSocket(PORT, "dies", token=TOKEN)
    api.post("/prompt", {"prompt": prompt, "client_id": "dies", "prompt_id": DIES})
    ws.until(lambda m: isinstance(m, dict) and m["type"] == "progress")
    owner = [p for p in os.listdir("/proc") if p.isdigit() and is_worker(p)]
    assert len(owner) == 1, owner
    os.kill(int(owner[0]), signal.SIGKILL)
    m = ws.until(lambda m: is_end(m, DIES))
    e = [x for x in m if isinstance(x, dict) and x["type"] == "execution_error"]
    assert e and "died" in e[0]["data"]["exception_message"], m[-3:]
    ws.close()
    prompt["6"]["inputs"].update(steps=2)
    for _ in range(200):  # the next one takes jobs again
        code, _, text = api.ask("POST", "/prompt", {"prompt": prompt})
        if code == 200:
            break
        assert code == 503, text
        time.sleep(0.1)
    done = json.loads(text)["prompt_id"]
    for _ in range(600):
        if api.get("/history/" + done):
            assert api.get("/history/" + done)[done]["status"]["status_str"] == "success"
            return
        time.sleep(0.1)
    raise AssertionError("the next worker does not run")


def is_worker(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            words = f.read().split(b"\0")
    except OSError:
        return False
    return b"worker" in words[:2] and STATE.encode() in words


def kept():
    """The history of a server before this one."""
    h = api.get("/history/fifty")["fifty"]
    assert h["status"]["completed"] is True and list(h["outputs"]) == ["8"] and h["prompt"][2]["6"]["inputs"]["seed"] == 77, h
    i = h["outputs"]["8"]["images"][0]
    assert api.ask("GET", "/view?filename=" + i["filename"])[0] == 200


names()
body_on_request()
if TOKEN:
    tokens()
    other_sites()
    kept()
worker_dies()
print("ok")
