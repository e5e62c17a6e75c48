"""A client of ComfyUI's interface, written from its public description alone: HTTP by the standard library, WebSocket by RFC 6455."""
import base64
import hashlib
import http.client
import json
import os
import socket
import struct
import uuid


class Http:
    def __init__(self, port, token=None):
        self.port, self.token = port, token

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, body) of one request on a connection of its own."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        h = dict(headers or {})
        if isinstance(body, (dict, list, int)):
            body = json.dumps(body)
            h.setdefault("Content-Type", "application/json")
        if self.token:
            h.setdefault("Authorization", "Bearer " + self.token)
        try:
            c.request(method, path, body=body, headers=h)
            r = c.getresponse()
            return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()
        finally:
            c.close()

    def get(self, path):
        status, _, body = self.ask("GET", path)
        assert status == 200, (path, status, body[:300])
        return json.loads(body)

    def post(self, path, body, want=200):
        status, _, text = self.ask("POST", path, body)
        assert status == want, (path, status, text[:500])
        return json.loads(text) if text else None

    def upload(self, path, name, data, **fields):
        mark = uuid.uuid4().hex
        parts = [f'--{mark}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items()]
        parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="image"; filename="{name}"\r\n'
                     f"Content-Type: image/png\r\n\r\n".encode() + data + b"\r\n")
        body = b"".join(parts) + f"--{mark}--\r\n".encode()
        return self.ask("POST", path, body, {"Content-Type": f"multipart/form-data; boundary={mark}"})


class WebSocket:
    """One connection; text messages come as dicts, binary ones as bytes."""

    def __init__(self, port, client_id=None, path="/ws", headers=(), token=None, timeout=60, host=None):
        self.s = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        query = [f"clientId={client_id}"] if client_id else []
        query += [f"token={token}"] if token else []
        lines = [f"GET {path}{'?' if query else ''}{'&'.join(query)} HTTP/1.1", f"Host: {host or '127.0.0.1'}:{port}", "Upgrade: websocket",
                 "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers, "", ""]
        self.s.sendall("\r\n".join(lines).encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            more = self.s.recv(4096)
            if not more:
                raise ConnectionError("closed in the handshake")
            self.rest += more
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        self.status = int(head.split()[1])
        if self.status != 101:
            raise ConnectionError(f"status {self.status}")
        want = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        assert want in head, "the handshake is not signed"

    def take(self, n):
        while len(self.rest) < n:
            more = self.s.recv(65536)
            if not more:
                raise ConnectionError("closed")
            self.rest += more
        out, self.rest = self.rest[:n], self.rest[n:]
        return out

    def send(self, data, opcode=1):
        data = data.encode() if isinstance(data, str) else data
        mask = os.urandom(4)
        n = len(data)
        head = bytes([0x80 | opcode]) + (bytes([0x80 | n]) if n < 126 else bytes([0xFE]) + struct.pack(">H", n) if n < 65536
                                         else bytes([0xFF]) + struct.pack(">Q", n))
        self.s.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def next(self):
        """The next message; pings are answered on the way."""
        whole = b""
        while True:
            a, b = self.take(2)
            n = b & 127
            n = struct.unpack(">H", self.take(2))[0] if n == 126 else struct.unpack(">Q", self.take(8))[0] if n == 127 else n
            assert not b & 128, "a server does not mask"
            data = self.take(n)
            opcode = a & 15
            if opcode == 9:
                self.send(data, 10)
            elif opcode == 8:
                raise ConnectionError("closed by the server")
            elif opcode in (0, 1, 2):
                kind = opcode or kind
                whole += data
                if a & 128:
                    return json.loads(whole) if kind == 1 else whole

    def until(self, stop):
        """Messages up to the one for which stop() is true."""
        out = []
        while True:
            m = self.next()
            out.append(m)
            if stop(m):
                return out

    def close(self):
        self.s.close()


def is_end(m, prompt_id=None):
    """The message that ends a run, as ComfyUI's own example of a client waits for it."""
    return isinstance(m, dict) and m["type"] == "executing" and m["data"]["node"] is None and prompt_id in (None, m["data"]["prompt_id"])
