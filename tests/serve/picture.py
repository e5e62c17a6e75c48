"""Pictures made and looked at without another library."""
import struct
import zlib


def png(width, height, rgba):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(rgba) * width for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pixels(data):
    """Width, height, channels and the rows of a PNG that has no interlacing."""
    at, body, head = 8, b"", None
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + n])
        if kind == b"IDAT":
            body += data[at + 8:at + 8 + n]
        at += 12 + n
    w, h, k = head[0], head[1], {2: 3, 6: 4}[head[3]]
    raw, rows, last = zlib.decompress(body), [], bytes(w * k)
    for y in range(h):
        f, line, out = raw[y * (w * k + 1)], raw[y * (w * k + 1) + 1:(y + 1) * (w * k + 1)], bytearray()
        for i, v in enumerate(line):
            a, b, c = (out[i - k] if i >= k else 0), last[i], (last[i - k] if i >= k else 0)
            pa = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            out.append((v + (0, a, b, (a + b) // 2, (a, b, c)[pa.index(min(pa))])[f]) & 255)
        rows.append(bytes(out))
        last = bytes(out)
    return w, h, k, rows


def jpeg_size(data):
    """Width and height of a JPEG."""
    assert data[:2] == b"\xff\xd8", data[:8]
    at = 2
    while True:
        mark, n = struct.unpack(">HH", data[at:at + 4])
        if 0xffc0 <= mark <= 0xffc2:
            return struct.unpack(">HH", data[at + 5:at + 9])[::-1]
        at += 2 + n
