#!/bin/bash
# Small things that are met every day: notes, Escape, nodes added by key, formats of exports, the log, a start while the app ends.
. "$(dirname "$0")/../lib.sh"
need_people
[ -n "${NINODES_TEST_LONG:-}" ] || { echo "skip: fifteen seconds of small things; the long check has them"; exit 77; }
cat >"$work/flow.json" <<'END'
{"nodes": [{"id": 1, "type": "MarkdownNote", "pos": [0, 0], "size": [420, 220], "inputs": [], "outputs": [],
   "widgets_values": ["# Read me\nUse **bold** colours, see [the site](https://example.org/a?b=1&c=2).\n- first\n- `second`\n<b>raw</b>"]},
  {"id": 2, "type": "S", "pos": [500, 0], "size": [200, 60], "inputs": [], "outputs": [{"name": "out", "type": "LATENT", "links": []}]}],
 "links": [], "definitions": {"subgraphs": [{"id": "S", "name": "Inside", "inputNode": {"id": -10, "bounding": [-300, 0, 120, 60]},
  "outputNode": {"id": -20, "bounding": [500, 0, 120, 60]}, "inputs": [], "outputs": [{"name": "out", "type": "LATENT", "linkIds": [1]}],
  "nodes": [{"id": 2, "type": "EmptyLatentImage", "pos": [0, 0], "size": [315, 106],
   "outputs": [{"name": "LATENT", "type": "LATENT", "links": [1]}], "widgets_values": [64, 64, 1]}],
  "links": [{"id": 1, "origin_id": 2, "origin_slot": 0, "target_id": -20, "target_slot": 0, "type": "LATENT"}]}]}}
END
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out" "$work/flow.json"
need_bus

# A note is read as Markdown, and written as text.
at label $'Read me\nUse bold colours, see the site.\n * first\n * second\n<b>raw</b>' wait || die "the note is not read as Markdown"
shot note
read -r x y <<<"$(at label 'Read me*' point)"
xdotool mousemove "$x" "$y" click --repeat 2 --delay 60 1; sleep 0.3
xdotool key ctrl+End; xdotool type --delay 20 ' more'
xdotool key Escape
at label '*<b>raw</b> more' wait || die "what was written is not read"

# Escape: out of the selection, then out of the subgraph.
at '*' 'Inside, node 2*' wait
win_do canvas-select-none
read -r x y <<<"$(at '*' 'Inside, node 2*' point)"
xdotool mousemove "$x" "$y" click 1 key alt+Return
at '*' 'Empty Latent Image, node 2*' wait || die "the subgraph was not entered"
xdotool key Escape; xdotool key Escape
at '*' 'Inside, node 2*' wait || die "Escape does not leave the subgraph"

# Nodes added by key, one after the other, do not lie on each other.
win_do new; sleep 0.5
for _ in 1 2 3; do
    xdotool key n
    at '*' 'Add a node' wait || die "no search"
    xdotool type --delay 20 'vae decode'; sleep 0.3; xdotool key Return; sleep 0.3
done
at '*' '*, node 3, selected*' wait || die "three nodes were not added"
win_do save-to "$work/three.json"; until_ok 10 test -s "$work/three.json"
python3 - "$work/three.json" <<'END' || die "nodes added by key lie on each other"
import json, sys
boxes = [(*n["pos"], *n["size"]) for n in json.load(open(sys.argv[1]))["nodes"]]
assert len(boxes) == 3
for i, (ax, ay, aw, ah) in enumerate(boxes):
    for bx, by, bw, bh in boxes[:i]:
        assert ax + aw <= bx or bx + bw <= ax or ay + ah + 30 <= by or by + bh + 30 <= ay, boxes
END

# The log has time and level; exports offer their formats.
cp "$root/data/tiny/decode.json" "$work/decode.json"
win_do open-path "$work/decode.json"; wait_state ready 30; win_do run; wait_state done 120
win_do reload
win_do panel log
log_told() { ATCLICK_SECONDS=0 at '*' 'Log of the worker' get | grep -Eq '[0-2][0-9]:[0-5][0-9]:[0-5][0-9]  (info|warning|error|debug)  '; }
until_ok 10 log_told || die "the log has no time and level: $(at '*' 'Log of the worker' get)"
shot log
win_do perspective profile
win_do export-trace
at '*' '*Chrome trace*' wait || die "the export does not offer its formats"
shot export
xdotool key Escape; sleep 0.3

# A start while the app ends waits, and then opens: in its own process, or in the other that lives on.
for _ in 1 2 3; do
    win_do discard-all # at once, as a click on “Quit anyway”
    old=$app_pid
    "$B/ninodes-studio" --models "$root/data/tiny/models" --output "$work/out" >>"$SHOTS/app.log" 2>&1 &
    app_pid=$!
    sleep 0.3
    until_ok 20 eval '! kill -0 $old || ! kill -0 $app_pid' || die "two apps run"
    kill -0 "$app_pid" 2>/dev/null || app_pid=$old
    until_ok 30 actions /window/1 Describe state || until_ok 1 actions /window/2 Describe state || die "a start while the app ends opens no window"
    kill -0 "$app_pid" || die "what answers is another process"
done
grep -q 'Failed to register' "$SHOTS/app.log" && die "the start failed"
quit
