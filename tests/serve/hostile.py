#!/usr/bin/env python3
"""Requests that mean no good, while a job runs: hostile.py PORT TOKEN COUNT SECRET_FILE [long].

Malformed, huge, cut short, out of the folders, from other sites, without the token. Nothing may crash or hang the server, leave its
folders or hold the job. The mix is drawn from a fixed seed."""
import json
import os
import random
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Http, WebSocket, is_end

PORT, TOKEN, COUNT, SECRET = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
IS_LONG = len(sys.argv) > 5
api = Http(PORT, TOKEN)
HOST = f"Host: 127.0.0.1:{PORT}\r\n"
AUTH = f"Authorization: Bearer {TOKEN}\r\n"
with open(SECRET, "rb") as f:
    WORD = f.read().strip()
GETS = ["/", "/queue", "/prompt", "/history", "/history/x", "/view", "/object_info/KSampler", "/system_stats", "/models/vae", "/settings", "/userdata",
        "/userdata/x", "/v2/userdata", "/extensions", "/metrics", "/view_metadata/vae", "/ws", "/api/features", "/v1/models",
        "/jobs", "/jobs/x", "/jobs?status=x&limit=-1&offset=9999999999999", "/api/assets", "/internal/files/input", "/internal/files/..", "/favicon.ico",
        "/experiment/models/vae", "/internal/logs/raw", "/templates/index.json", "/user.css"]
POSTS = ["/prompt", "/queue", "/interrupt", "/history", "/upload/image", "/upload/mask", "/userdata/x", "/settings", "/settings/a",
         "/v1/images/generations", "/jobs/cancel", "/jobs/x/cancel", "/jobs//cancel", "/users", "/api/assets"]
UPS = ["../", "..%2f", "%2e%2e/", "..%5c", "....//", "%252e%252e%252f", "/", "//", "~/", "..;/", "\xc0\xae\xc0\xae/"]


def text(r, n):
    return "".join(r.choice("abcXYZ019 %&=?#/\\.:;{}[]\"'<>\x7f\t") for _ in range(n))


def traversal(r):
    name = r.choice(UPS) * r.randint(1, 6) + SECRET.lstrip("/") if r.random() < 0.5 else r.choice(UPS) * r.randint(1, 9) + os.path.basename(SECRET)
    place = r.choice(["/view?filename=%s", "/view?filename=x&subfolder=%s", "/userdata/%s", "/userdata?dir=%s", "/v2/userdata?path=%s", "/%s",
                      "/view_metadata/vae?filename=%s", "/view?type=temp&filename=%s", "/models/%s", "/view?filename=%s [input]&preview=webp"])
    return (f"GET {place % name} HTTP/1.1\r\n" + HOST + AUTH + "\r\n").encode("latin-1")


def body(r):
    kind = r.randint(0, 9)
    if kind == 0:
        return b"[" * r.randint(1, 5000)
    if kind == 1:
        return b'{"a":' * r.randint(1, 2000) + b"1"
    if kind == 2:
        return os.urandom(r.randint(0, 3000))
    if kind == 3:
        return json.dumps({"prompt": {str(i): {"class_type": text(r, 20), "inputs": {text(r, 5): [str(i + 1), r.randint(-3, 3)]}} for i in range(r.randint(0, 40))},
                           "partial_execution_targets": r.choice([None, ["1"], [1, text(r, 9), []], "1"])}).encode()
    if kind == 4:
        return json.dumps({"prompt": {"1": {"class_type": "LoadImage", "inputs": {"image": r.choice(UPS) + SECRET}}, "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": r.choice(UPS) * 5 + "out"}}}}).encode()
    if kind == 5:
        return json.dumps({"delete": [r.random(), None, [], text(r, 200)], "clear": r.choice([0, "true", [], None]), "prompt": r.choice([1, [], "x", None]), "job_ids": r.choice([["x", text(r, 200)], [1], None]),
                           "n": 10 ** 40, "size": "1x" * 100}).encode()
    if kind == 6:
        return b"\xff\xfe" * r.randint(1, 500)
    if kind == 7:
        return b'{"prompt":"' + b"a" * r.randint(1, 300000) + b'"}'
    mark = r.choice(["x", text(r, 60), "", "-" * 90])
    part = f'--{mark}\r\nContent-Disposition: form-data; name="image"; filename="{r.choice(UPS)}{text(r, 9)}"\r\n\r\n{text(r, 50)}'
    return (part * r.randint(1, 3) + r.choice(["", f"\r\n--{mark}--\r\n", "\r\n\r\n"])).encode()


def post(r):
    data = body(r)
    length = r.choice([len(data)] * 6 + [len(data) + 10, max(len(data) - 3, 0), -1, 10 ** 18, "x"])
    kind = r.choice(["application/json", "multipart/form-data; boundary=x", "multipart/form-data; boundary=\"", "text/plain", "multipart/form-data"])
    return f"POST {r.choice(POSTS)} HTTP/1.1\r\n{HOST}{AUTH}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode() + data


def foreign(r):
    line = r.choice([f"GET {r.choice(GETS)}", f"POST {r.choice(POSTS)}"])
    head = r.choice([HOST, "Host: evil.example.org\r\n", "", "Host: \r\n", HOST + AUTH + "Origin: http://evil.example.org\r\n", HOST + AUTH + "Origin: null\r\n",
                     HOST + "Authorization: Bearer " + TOKEN[:-1] + "\r\n", HOST + "Cookie: ninodes_token=\r\n", HOST + "Authorization: Basic eDp5\r\n",
                     HOST + "Cookie: " + "a=b; " * 500 + "\r\n"])
    return f"{line}?token={r.choice(['', 'x', TOKEN[:-1], TOKEN + 'x', '%00'])} HTTP/1.1\r\n{head}Content-Length: 0\r\n\r\n".encode()


def malformed(r):
    return r.choice([
        lambda: os.urandom(r.randint(1, 2000)),
        lambda: f"{text(r, 30)} {text(r, 30)} HTTP/9.9\r\n\r\n".encode(),
        lambda: f"GET /{'a' * r.choice([100, 5000, 40000])} HTTP/1.1\r\n{HOST}{AUTH}\r\n".encode(),
        lambda: f"GET /view?{'&'.join('filename=' + text(r, 8) for _ in range(r.choice([1, 300])))} HTTP/1.1\r\n{HOST}{AUTH}\r\n".encode(),
        lambda: f"GET /queue HTTP/1.1\r\n{HOST}{AUTH}{''.join(f'X-{i}: {i}' + chr(13) + chr(10) for i in range(r.choice([10, 2000])))}\r\n".encode(),
        lambda: f"POST /prompt HTTP/1.1\r\n{HOST}{AUTH}Transfer-Encoding: chunked\r\n\r\n{r.choice(['zz', 'ffffffffffffffff', '3'])}\r\nabc\r\n0\r\n\r\n".encode(),
        lambda: f"GET /queue HTTP/1.1\r\n{HOST}{AUTH}Range: bytes={r.choice(['-', '9-1', '0-99999999999999999999', 'x', '1-2,3-4'])}\r\n\r\n".encode(),
        lambda: f"GET /queue HTTP/1.1\r\n{HOST}".encode(),  # and no more
        lambda: b"\r\n" * r.randint(1, 500),
        lambda: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(200),  # TLS
        lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + os.urandom(100),
    ])()


def websocket(r):
    """Opens one, with the token mostly, and says what no client should."""
    head = f"GET /ws?clientId={text(r, 5).replace(' ', '')} HTTP/1.1\r\n{HOST}{AUTH if r.random() < 0.9 else ''}Upgrade: websocket\r\nConnection: Upgrade\r\n"
    head += f"Sec-WebSocket-Key: {r.choice(['dGhlIHNhbXBsZSBub25jZQ==', '', 'x' * 500])}\r\nSec-WebSocket-Version: {r.choice(['13', '13', '13', '99', ''])}\r\n\r\n"
    data = json.dumps({"type": r.choice(["feature_flags", text(r, 9), None]), "data": r.choice([{}, [], None, {"supports_preview_metadata": text(r, 9)}])}).encode()
    frame = r.choice([
        lambda: bytes([0x81, 0x80 | min(len(data), 125)]) + b"\0\0\0\0" + data[:125],
        lambda: bytes([0x81, len(data) & 127]) + data,  # not masked
        lambda: bytes([0x81, 0xFF]) + struct.pack(">Q", 1 << 60) + b"\0\0\0\0" + data,
        lambda: bytes([0x82, 0xFE]) + struct.pack(">H", 60000) + b"\0\0\0\0" + b"x" * 60000,
        lambda: bytes([0x01, 0x83]) + b"\0\0\0\0abc" + bytes([0x00, 0x83]) + b"\0\0\0\0abc",  # never ends
        lambda: bytes([0x8F, 0x80]) + b"\0\0\0\0",
        lambda: bytes([0x81, 0x84]) + b"\0\0\0\0" + b"\xff\xfe\xfd\xfc",
        lambda: bytes([0x88, 0x82]) + b"\0\0\0\0" + struct.pack(">H", 65535),
        lambda: os.urandom(300),
    ])() * r.randint(1, 5)
    return head.encode() + frame


KINDS = [traversal, post, foreign, malformed, websocket]


def attack(seed, n, answers):
    r = random.Random(seed)
    for _ in range(n):
        kind = r.choice(KINDS)
        data = kind(r)
        try:
            s = socket.create_connection(("127.0.0.1", PORT), timeout=5)
            s.settimeout(0.3 if kind in (malformed, websocket) else 1)
            s.sendall(data[:r.randint(0, len(data))] if r.random() < 0.1 else data)
            if r.random() < 0.1:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # gone without a word
            else:
                s.shutdown(socket.SHUT_WR)
                got = s.recv(65536)
                if got:
                    answers.append((kind.__name__, got[9:12]))
                if WORD in got:
                    answers.append(("escaped", data[:200]))
                if kind is foreign and got.startswith(b"HTTP/1.1 2"):
                    answers.append(("let in", data[:200]))
            s.close()
        except OSError:
            pass


def slow():
    """Connections that say next to nothing are given up, and answer to nobody's cost."""
    held = []
    for i in range(60):
        s = socket.create_connection(("127.0.0.1", PORT), timeout=5)
        s.sendall(f"POST /prompt HTTP/1.1\r\n{HOST}{AUTH}Content-Length: 100000\r\n\r\n{{".encode() if i % 2 else b"GET /queue HT")
        held.append(s)
    return held


def main():
    with open("data/workflows/text_to_image.api.json", encoding="utf-8") as f:
        prompt = json.load(f)
    prompt["6"]["inputs"].update(steps=10000, seed=1)
    ws = WebSocket(PORT, "victim", token=TOKEN)
    api.post("/prompt", {"prompt": prompt, "client_id": "victim", "prompt_id": "victim"})
    state = {"step": 0, "worst": 0.0}

    def watch():
        last = None
        while True:
            try:
                m = ws.next()
            except (ConnectionError, OSError):
                return
            if is_end(m, "victim"):
                return
            if isinstance(m, dict) and m["type"] == "progress":
                now = time.monotonic()
                state["worst"] = max(state["worst"], now - (last or now))
                last, state["step"] = now, m["data"]["value"]

    threading.Thread(target=watch, daemon=True).start()
    for _ in range(600):
        if state["step"]:
            break
        time.sleep(0.1)
    first, answers, held = state["step"], [], slow()
    threads = [threading.Thread(target=attack, args=(i, COUNT // 24 + 1, answers)) for i in range(24)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        time.sleep(0.2)
        at = time.monotonic()
        api.get("/prompt")  # who is well-behaved is answered all the while
        assert time.monotonic() - at < 10, "an honest client waits"
    bad = [a for a in answers if a[0] in ("escaped", "let in")]
    assert not bad, bad[:5]
    for _ in range(200):  # it goes on
        if state["step"] > first > 0:
            break
        time.sleep(0.1)
    assert state["step"] > first > 0 and state["worst"] < 20, (first, state)
    codes = {}
    for kind, code in answers:
        codes.setdefault(kind, {}).setdefault(code.decode("latin-1"), 0)
        codes[kind][code.decode("latin-1")] += 1
    crashed = [c for k in codes.values() for c in k if c.startswith("5") and c != "503"]
    assert not crashed, codes
    if IS_LONG:  # the timeouts have come
        time.sleep(15)
        for s in held:
            s.settimeout(1)
            try:
                while s.recv(4096):
                    pass
            except socket.timeout:
                raise AssertionError("a slow request is kept for ever")
            except OSError:
                pass
    for s in held:
        s.close()
    api.post("/queue", {"clear": True})
    api.post("/interrupt", {"prompt_id": "victim"})
    for _ in range(200):
        if not api.get("/queue")["queue_running"]:
            break
        time.sleep(0.1)
    assert "victim" in api.get("/history/victim"), "the job is lost"
    print(f"{COUNT} requests, {len(answers)} answers, the job at step {state['step']}: {codes}")


main()
