#!/usr/bin/env python3
"""The configurations of data/doc/serve.md in a proxy of their kind: proxy.py nginx|caddy PROGRAM PORT TOKEN FOLDER.

TLS, the name that was asked for, a body larger than what nginx lets through by itself, and the WebSocket."""
import os
import re
import socket
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Http, WebSocket

KIND, PROGRAM, PORT, TOKEN, TMP = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
NAME = "art.example.org"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def configuration(outside, pem, key):
    """The example, with another port, a certificate of the test's, and nothing outside of its folder."""
    with open("data/doc/serve.md", encoding="utf-8") as f:
        blocks = re.findall(r"```text\n(.*?)```", f.read(), re.S)
    text = next(b for b in blocks if ("server {" in b) == (KIND == "nginx") and NAME in b)

    def change(a, b):
        nonlocal text
        assert a in text, (a, text)
        text = text.replace(a, b)

    change("127.0.0.1:8188", f"127.0.0.1:{PORT}")
    if KIND == "caddy":
        change(NAME + " {", f"https://{NAME}:{outside} {{\n    bind 127.0.0.1\n    tls {pem} {key}")
        return "{\n    admin off\n    auto_https disable_redirects\n}\n" + text
    change("listen 443", f"listen 127.0.0.1:{outside}")
    change("/etc/ssl/art.pem", pem)
    change("/etc/ssl/art.key", key)
    own = "".join(f"    {k}_temp_path {TMP}/{k};\n" for k in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;\n" if os.getuid() == 0 else ""  # its folder is this user's alone
    return f"{user}daemon off;\npid {TMP}/nginx.pid;\nerror_log {TMP}/nginx.err;\nevents {{ }}\nhttp {{\n    access_log off;\n{own}{text}}}\n"


class TlsHttp(Http):
    """As Http, by the proxy's name."""

    def ask(self, method, path, body=None, headers=None):
        import http.client
        c = http.client.HTTPSConnection(NAME, self.port, timeout=60, context=context)
        c.sock = connect(self.port)
        h = {"Authorization": "Bearer " + self.token} if self.token else {}
        c.request(method, path, body=body, headers={**h, **(headers or {})})
        r = c.getresponse()
        out = r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()
        c.close()
        return out


def connect(port):
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60), server_hostname=NAME)


pem, key, outside = f"{TMP}/art.pem", f"{TMP}/art.key", free_port()
subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + NAME, "-addext",
                "subjectAltName=DNS:" + NAME, "-keyout", key, "-out", pem], check=True, capture_output=True)
context = ssl.create_default_context(cafile=pem)
config = f"{TMP}/{KIND}.conf"
with open(config, "w", encoding="utf-8") as f:
    f.write(configuration(outside, pem, key))
command = [PROGRAM, "-p", TMP, "-c", config] if KIND == "nginx" else [PROGRAM, "run", "--adapter", "caddyfile", "--config", config]
proxy = subprocess.Popen(command, env=dict(os.environ, HOME=TMP, XDG_DATA_HOME=TMP, XDG_CONFIG_HOME=TMP), stdout=subprocess.DEVNULL)
try:
    for _ in range(600):  # until it listens
        try:
            socket.create_connection(("127.0.0.1", outside), timeout=1).close()
            break
        except OSError:
            assert proxy.poll() is None, f"{KIND} ended with {proxy.returncode}"
            time.sleep(0.05)
    api = TlsHttp(outside, TOKEN)
    assert "queue_running" in api.get("/queue") and TlsHttp(outside).ask("GET", "/queue")[0] == 401
    picture = b"\x89PNG\r\n\x1a\n" + os.urandom(3 << 20)  # refused as no picture, once all of it has come
    status, _, text = api.upload("/upload/image", "large.png", picture)
    assert status in (200, 400) and b"nginx" not in text, (status, text[:200])
    assert api.ask("GET", "/queue", headers={"Origin": "https://evil.example.org"})[0] == 403
    assert api.ask("GET", "/queue", headers={"Origin": "https://" + NAME + f":{outside}"})[0] == 200
    socket_of = socket.create_connection
    socket.create_connection = lambda at, timeout=None: connect_by(socket_of(at, timeout=timeout))
    connect_by = lambda s: context.wrap_socket(s, server_hostname=NAME)
    ws = WebSocket(outside, "behind", token=TOKEN, headers=["Origin: https://" + NAME + f":{outside}"], host=NAME)
    assert ws.next()["type"] == "status"
    ws.close()
finally:
    proxy.terminate()
    proxy.wait()
print("served by", KIND)
