# Public files of 2025 and 2026 become what ComfyUI makes of them: the list beside the assets says what.
. tests/cli/common
A=${NINODES_ASSETS:-../shared/assets}/workflows_2026
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
[ -f "$A/check.py" ] || { echo "skip: no workflows_2026 among the assets"; exit 77; }

# The list wants a link to a node that is bypassed and has no input to hand through: the editor leaves
# such links out. With that node active it is what the list wants.
python3 - "$A/f8_null_links_wan22.json" "$tmp/active.json" <<'EOF'
import json, sys
flow = json.load(open(sys.argv[1], encoding="utf-8"))
for n in flow["nodes"]:
    if n["id"] == 35:
        assert n["mode"] == 4 and not n["inputs"]
        n["mode"] = 0
json.dump(flow, open(sys.argv[2], "w", encoding="utf-8"))
EOF
expect 0 "$N" convert "$tmp/active.json"
[ "$(tr -d '\n ' <"$tmp/out" | grep -o '"compile_args":\["35",0\]' | wc -l)" = 2 ] || die "links that only their origin knows"

python3 "$A/check.py" "$N" >"$tmp/out" 2>"$tmp/err"
[ ! -s "$tmp/err" ] || die "check.py"
n=$(grep -c ' ok$' "$tmp/out")
grep -v ' ok$' "$tmp/out" | grep -v -e '^f8_null_links_wan22.json  *2 wrong: 22.compile_args is <none>' -e '^1 of ' && die "not as the list says"
[ "$n" -ge 28 ] || die "only $n are right"

# each of them loads, converts to something, and says nothing of broken links
for f in "$A"/*.* "$A"/kyuz0/*.json "$A"/templates/*.json; do
    case $f in */check.py | */expect.json | */README.md) continue ;; esac
    expect 0 "$N" convert "$f"
    [ "$(wc -c <"$tmp/out")" -gt 200 ] || die "$f: nothing in it"
    grep ' warning: ' "$tmp/err" | grep -v '(PreviewAny) has 0 outputs' && die "$f"
done
echo "  $n files as the list says"
exit 0
