# Nothing that steers a terminal gets there from a name: of a file, node, class, title, model, tensor, metadata, trace,
# job; as C1 characters in UTF-8 and as single bytes, escapes, and what reorders text.
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
pid=
cat >"$tmp/make.py" <<'EOF'
import json, os, struct, sys
top = os.fsencode(sys.argv[1])
bad = "".join(map(chr, [*range(1, 10), *range(0x80, 0xa0), 0x1b, 0x7f, 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f),
                        *range(0x2066, 0x206a), 0xfeff, 0xfff9, 0xe0041]))
evil = "a\x1b[31mb\x9b2Jc\u202ed\u2066e\u200ff"
raw = b"x\x9b2J\x85\xe2\x80\xae\x1b]0;t\x07"  # a name of a file: any bytes
header = {"__metadata__": {evil: bad, "plain": bad}, "t" + bad: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
text = json.dumps(header, ensure_ascii=False).encode()
open(top + b"/" + raw + b".safetensors", "wb").write(struct.pack("<Q", len(text)) + text + b"\0" * 4)
node = {"class_type": "Emptyy" + evil, "inputs": {"x" + evil: evil}, "_meta": {"title": bad}}
save = {"class_type": "SaveImage", "inputs": {"images": [evil, 0], "filename_prefix": evil}, "_meta": {"title": evil}}
json.dump({evil: node, "2" + bad: save}, open(top + b"/" + raw + b".json", "w"))
given = {"class_type": "PrimitiveString", "inputs": {"value": evil + bad}, "_meta": {"title": evil + bad}}
shown = {"class_type": "PreviewAny", "inputs": {"source": [evil, 0]}, "_meta": {"title": evil + bad}}
json.dump({evil: given, "3" + evil: shown}, open(top + b"/shown.json", "w"))
event = [{"ph": "X", "pid": 1, "tid": 1, "ts": i, "dur": 5, "cat": c, "name": evil + bad, "args": {"name": evil}}
         for i, c in enumerate(["kernel", "node", "job", "op", evil])]
json.dump({"traceEvents": event}, open(top + b"/" + raw + b".trace.json", "w"))
EOF
python3 "$tmp/make.py" "$tmp" || die "no files"
cat >"$tmp/check.py" <<'EOF'
import re, sys
is_tty = sys.argv[2] == "tty"
data = open(sys.argv[1], "rb").read()
if is_tty:  # the progress line's own
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"").replace(b"\x1b[K", b"")
text = data.decode("utf-8")
bad = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
                "\U000e0000-\U000e007f]", text)
assert not bad, (hex(ord(bad.group())), text[max(0, bad.start() - 60):bad.start() + 30])
EOF
cat >"$tmp/on_tty.py" <<'EOF'
import os, pty, sys
out = open(sys.argv[1], "wb")
def read(fd):
    data = os.read(fd, 65536)
    out.write(data)
    return data
pty.spawn(sys.argv[2:], read, lambda fd: b"")
EOF
clean() { # COMMAND...: what it prints into pipes and onto a terminal
    "$N" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    cat "$tmp/out" "$tmp/err" >"$tmp/all"
    [ -s "$tmp/all" ] || die "said nothing: $*"
    python3 "$tmp/check.py" "$tmp/all" pipe || die "not clean: $*"
    TERM=xterm python3 "$tmp/on_tty.py" "$tmp/all" "$N" "$@" </dev/null >/dev/null
    [ -s "$tmp/all" ] || die "said nothing on a terminal: $*"
    python3 "$tmp/check.py" "$tmp/all" tty || die "not clean on a terminal: $*"
}
evil=$(printf 'a\033[31m\302\233 2J\342\200\256\233')
set -- "$tmp"/x*.safetensors "$tmp"/x*[!e].json "$tmp"/x*.trace.json
model=$1 trace=$(ls -d "$tmp"/x*.trace.json) flow=
for f in "$tmp"/x*.json; do [ "$f" = "$trace" ] || flow=$f; done
[ -f "$model" ] && [ -f "$flow" ] && [ -f "$trace" ] || die "no such files"

clean "$evil"
clean "--$evil"
clean run "--$evil"
clean run "$evil"
clean run "$flow" --device ref
clean run "$flow" --device ref --json
clean run "$flow" --set "$evil=1"
clean run "$flow" --grid "$evil=1,2" --device ref
clean run "$tmp/shown.json" --device ref
clean run "$tmp/shown.json" --device ref --json
clean run "$tmp/shown.json" --device "$evil"
clean plan "$flow" --device ref
clean plan "$tmp/shown.json" --device ref --profile "$evil"
clean convert "$evil"
clean inspect "$evil"
clean inspect "$model" --tensors
clean inspect "$model" --tensors --json
clean inspect "$flow"
clean nodes "$evil"
clean trace summary "$trace"
clean trace check "$trace"
clean trace diff "$trace" "$trace"
clean trace advice "$trace"
clean trace summary "$trace" --json
clean trace "$evil" "$evil"
clean bench --baseline "$evil" --quick --device ref nothing
clean tune --import "$evil" --device ref
clean jobs "$evil"
clean jobs ls --worker "$evil"
clean monitor "$evil" --once
clean worker --state "$tmp/shown.json/$evil"

# what comes from a worker
"$N" worker --state "$tmp/state" --device ref --output "$tmp/o" >"$tmp/sock" 2>"$tmp/worker.err" &
pid=$!
await "$tmp/sock" 'ninodes/.*sock'
cp "$tmp/shown.json" "$tmp/$evil.json"
clean jobs add "$tmp/$evil.json" --wait
clean jobs ls
clean jobs show 1
clean jobs ls --json
clean jobs set 1 "$evil=$evil"
clean monitor --once
clean monitor --metrics
kill $pid
wait $pid
pid=
cat "$tmp/worker.err" "$tmp/sock" >"$tmp/all"
python3 "$tmp/check.py" "$tmp/all" pipe || die "not clean: worker"

# data stays as it is where a program reads it
expect 0 "$N" convert "$tmp/shown.json"
python3 - "$tmp" <<'EOF' || die "convert changed a text"
import json, sys
a, b = (json.load(open(sys.argv[1] + name)) for name in ("/out", "/shown.json"))
assert list(a) == list(b) and [v["inputs"] for v in a.values()] == [v["inputs"] for v in b.values()]
EOF
[ -d data/tiny/models ] || exit 0
odd=$(printf 'odd\233\342\200\256')
expect 0 "$N" run -q data/tiny/decode.json $TINY --device ref --output "$tmp/$odd"
[ -f "$(cat "$tmp/out")" ] || die "the path on stdout is not the file's"
silent err
exit 0
