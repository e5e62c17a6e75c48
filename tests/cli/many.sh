# A workflow of 99 000 nodes that all have a problem: work that grows with its square does not end within the limit (it
# takes an hour), and what people get to read is short.
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
python3 - "$tmp" <<'EOF'
import json, sys
def write(name, node):
    json.dump({str(i): node(i) for i in range(99000)}, open(sys.argv[1] + "/" + name, "w"))
write("unknown.json", lambda i: {"class_type": f"Unknown{i}", "inputs": {"x": [str(i - 1), 0]} if i else {}})
write("range.json", lambda i: {"class_type": "SaveImage", "inputs": {"images": [str(i), 7], "filename_prefix": 5 if i % 2 else "/x"}})
EOF
short() { # COMMAND...
    expect 3 timeout 300 "$N" "$@"
    [ "$(wc -l <"$tmp/err")" -le 60 ] || die "$(wc -l <"$tmp/err") lines"
}
for cmd in "run --device ref" "plan --device ref" "run --device ref --dry-run"; do
    short $cmd "$tmp/unknown.json"
    [ "$(grep -c 'no node class' "$tmp/err")" = 10 ] || die "not ten of them"
    said 'and 98990 more errors of this kind (unknown_class)'
done
short run --device ref "$tmp/range.json"
said 'more errors of this kind (bad_link)'
short run --device ref --json "$tmp/unknown.json" # which has all
[ "$(grep -c '"type":"issue","severity":"error","code":"unknown_class","node":"[0-9]*","class_type":"Unknown' "$tmp/out")" = 99000 ] ||
    die "--json does not have them all"
expect 0 timeout 300 "$N" inspect "$tmp/unknown.json"
printed '99000 nodes to run, 99000 of them not supported'
expect 0 timeout 300 "$N" convert "$tmp/unknown.json"
exit 0
