# ninodes thumbnail: workflows, latents, pictures; sizes, colours, bad input. What file managers call is it.
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: python3 is not installed"; exit 77; }
png() { # FILE: width, height and how many colours it has, of which the most frequent has what share in percent
    python3 - "$1" <<'END'
import struct, sys, zlib
data, at, body = open(sys.argv[1], "rb").read(), 8, b""
assert data[:8] == b"\x89PNG\r\n\x1a\n"
while at < len(data):
    n, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IHDR":
        w, h, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + n])
        assert (depth, colour, interlaced) == (8, 6, 0)
    if kind == b"IDAT":
        body += data[at + 8:at + 8 + n]
    at += 12 + n
raw, last, seen = zlib.decompress(body), bytes(w * 4), {}
for y in range(h):
    f, line, out = raw[y * (w * 4 + 1)], raw[y * (w * 4 + 1) + 1:(y + 1) * (w * 4 + 1)], bytearray()
    for i, v in enumerate(line):
        a, b, c = (out[i - 4] if i >= 4 else 0), last[i], (last[i - 4] if i >= 4 else 0)
        p = abs(b - c), abs(a - c), abs(a + b - 2 * c)
        out.append((v + (0, a, b, (a + b) // 2, (a, b, c)[p.index(min(p))])[f]) & 255)
    last = bytes(out)
    for x in range(0, w * 4, 4):
        seen[last[x:x + 4]] = seen.get(last[x:x + 4], 0) + 1
print(w, h, len(seen), 100 * max(seen.values()) // (w * h))
END
}
made() { # SIZE ARGS...: its longer side is SIZE
    expect 0 "$N" thumbnail "${@:2}" "$tmp/t.png"
    silent out
    png "$tmp/t.png" >"$tmp/size" || die "no PNG"
    read -r w h colours share <"$tmp/size"
    [ "$((w > h ? w : h))" = "$1" ] || die "$w x $h"
    [ "$colours" -ge 3 ] && [ "$share" -lt 95 ] || die "a picture of nothing: $colours colours, $share % of one"
}
made 256 data/workflows/text_to_image.json
made 128 data/workflows/text_to_image.api.json --size 128
made 256 data/tiny/input/demo.latent
made 64 data/workflows/pictures/lora.png --size 64
made 2048 data/workflows/text_to_image.json --size 1000000

# A picture of known pixels, two to one: red and a green that is not seen; two half transparent blue ones.
python3 - "$tmp/four.png" <<'END'
import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
row = b"\0" + b"\xff\0\0\xff" + b"\0\xff\0\0" + b"\0\0\xff\x80" * 2
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 2, 8, 6, 0, 0, 0)) +
                              chunk(b"IDAT", zlib.compress(row * 2)) + chunk(b"IEND", b""))
END
expect 0 "$N" thumbnail "$tmp/four.png" "$tmp/t.png" --size 2
[ "$(png "$tmp/t.png")" = "2 1 2 50" ] || die "$(png "$tmp/t.png")"
python3 -c 'import sys, zlib; d = open(sys.argv[1], "rb").read(); i = d.index(b"IDAT"); n = int.from_bytes(d[i - 4:i], "big")
r = zlib.decompress(d[i + 4:i + 4 + n]); assert r[0] in (0, 1) and r[1:5] == b"\xff\0\0\x80", r
assert r[5:9] == (b"\0\0\xff\x80" if r[0] == 0 else bytes([1, 0, 255, 0])), r' "$tmp/t.png" || die "other colours"

echo '{"1": {"class_type": "Nobody", "inputs": {}}}' >"$tmp/unknown.json"
expect 0 "$N" thumbnail "$tmp/unknown.json" "$tmp/t.png"
echo '{' >"$tmp/broken.json"
expect 3 "$N" thumbnail "$tmp/broken.json" "$tmp/t.png"
said 'broken.json'
expect 4 "$N" thumbnail "$tmp/nowhere.png" "$tmp/t.png"
said 'nowhere.png'
expect 2 "$N" thumbnail data/tiny/input/demo.latent
head -c 100 data/workflows/pictures/lora.png >"$tmp/short.png"
"$N" thumbnail "$tmp/short.png" "$tmp/t.png" >"$tmp/out" 2>"$tmp/err" && die "a damaged picture"
said 'short.png'
"$N" thumbnail data/tiny/input/demo.latent "$tmp/unknown.json/t.png" >"$tmp/out" 2>"$tmp/err" && die "written where it cannot be"
said 'unknown.json'

# The thumbnailer of the desktop calls this, for types that the desktop knows from us.
t=data/desktop/ninodes.thumbnailer
grep -q '^Exec=@BINDIR@/ninodes thumbnail --size %s %i %o$' $t || die "the thumbnailer calls something else"
for type in $(sed -n 's/^MimeType=//p' $t | tr ';' ' '); do
    grep -qF "type=\"$type\"" data/desktop/org.ninodes.Studio.mime.xml || die "$type is no type of ours"
done
exit 0
