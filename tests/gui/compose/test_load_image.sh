#!/bin/bash
# What a node loads: dropped on it, dropped beside it, pasted, chosen, taken from the results; copied in where it is not there yet.
. "$(dirname "$0")/../lib.sh"
need_people
mkdir -p "$work/in" "$work/elsewhere" "$work/more" "$work/models/vae"
python3 - "$work" <<'END'
import struct, sys, zlib
def png(path, colour, side=48):
    raw = b"".join(b"\0" + bytes(colour) * side for _ in range(side))
    chunk = lambda k, d: struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
                           chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
w = sys.argv[1]
png(w + "/in/first.png", (200, 30, 30))
png(w + "/elsewhere/red.png", (220, 0, 0))
png(w + "/more/red.png", (0, 0, 220))
png(w + "/elsewhere/green.png", (0, 200, 0))
END
cp "$root"/data/tiny/models/vae/*.safetensors "$work/models/vae/"
vae=$(basename "$(ls "$work"/models/vae/*.safetensors | head -1)")
cat >"$work/flow.json" <<'END'
{"1": {"class_type": "LoadImage", "inputs": {"image": "first.png"}},
 "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
 "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "turned"}}}
END
trap '' XFSZ # a limit for files is to end no app below
start --models "$work/models" --input "$work/in" --output "$work/out" "$work/flow.json"
need_bus
wait_state ready 30
loads() { # NODE FILE: that is what the node loads
    rm -f "$work/now.json"; win_do export-api-to "$work/now.json"
    until_ok 10 test -s "$work/now.json" || return 1
    [ "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]]["inputs"][sys.argv[3]])' "$work/now.json" "$1" "${3:-image}")" = "$2" ]
}
on_node() { at '*' "$1" point; }

# On the node.
read -r x y <<<"$(on_node 'Load Image, node 1*')"
drop "$x" "$((y + 30))" "$work/elsewhere/red.png"
until_ok 10 loads 1 red.png || die "a picture dropped on the node is not what it loads"
cmp -s "$work/in/red.png" "$work/elsewhere/red.png" || die "the picture was not copied in"
drop "$x" "$((y + 30))" "$work/more/red.png"
until_ok 10 loads 1 'red (1).png' || die "another picture of the same name took its place"
cmp -s "$work/in/red.png" "$work/elsewhere/red.png" || die "the first one was written over"
drop "$x" "$((y + 30))" "$work/elsewhere/red.png"
until_ok 10 loads 1 red.png || die "what is there already was copied again"
[ "$(ls "$work/in" | wc -l)" = 3 ] || die "the folder of inputs: $(ls "$work/in")"
shot dropped

# Beside it: a new node, of a picture and of a model; a step of undo each.
drop 420 760 "$work/elsewhere/green.png"
at '*' 'Load Image, node 4, selected' wait || die "a picture dropped on the canvas is no node"
loads 4 green.png || die "the new node loads something else"
drop 420 760 "$work/models/vae/$vae"
at '*' 'Load VAE, node 5, selected' wait || die "a model dropped on the canvas is no loader"
loads 5 "$vae" vae_name || die "the loader loads something else"
cp "$work/models/vae/$vae" "$work/elsewhere/stray.safetensors"
drop 420 760 "$work/elsewhere/stray.safetensors"
at '*' '*stray.safetensors: a model, but in none of the model folders*' wait || die "a model from elsewhere says nothing"
shot nodes
win_do undo; win_do undo
ATCLICK_SECONDS=2 at '*' 'Load Image, node 4*' wait 2>/dev/null && die "what was dropped cannot be undone"

# From the results, by key; and the same picture through the clipboard.
win_do run; wait_state done 60
until_ok 20 enabled viewer-use || die "the result cannot be used"
read -r x y <<<"$(on_node 'Load Image, node 1*')"
xdotool mousemove "$x" "$y" click 1 key alt+u
until_ok 10 loads 1 turned_00001_.png || die "the result is not what the node loads"
cmp -s "$work/in/turned_00001_.png" "$work/out/turned_00001_.png" || die "the result was not copied in"
until_ok 10 enabled viewer-copy; win_do viewer-copy
xdotool key ctrl+v
until_ok 10 loads 1 pasted/image.png || die "a pasted picture is not what the selected node loads"
[ "$(convert "$work/in/pasted/image.png" rgb:- | md5sum)" = "$(convert "$work/out/turned_00001_.png" rgb:- | md5sum)" ] ||
    die "the pasted picture is another one"
xdotool key ctrl+shift+a; xdotool mousemove 420 760; xdotool key ctrl+v
at '*' 'Load Image, node ?, selected' wait || die "a picture pasted on the canvas is no node"
win_do undo

[ -n "${NINODES_TEST_LONG:-}" ] || { app_do quit; at button 'Quit anyway' click; until_ok 15 gone; exit 0; } # the long check has the rest

# Chosen in a dialog.
win_do canvas-fit
read -r x y <<<"$(on_node 'Load Image, node 1*')"
xdotool mousemove "$x" "$y"; sleep 0.2
xdotool click 1 key alt+f
at button '_Open*' wait || die "no dialog to choose a file"
xdotool type --delay 20 "$work/elsewhere/green.png"; sleep 0.3; xdotool key Return
until_ok 5 loads 1 green.png || die "the chosen file is not what the node loads"
shot chosen

# Where it cannot be copied, a line says so and nothing changes.
if command -v prlimit >/dev/null; then
    cp "$work/out/turned_00001_.png" "$work/elsewhere/large.png"
    prlimit --pid "$app_pid" --fsize=20:
    drop "$x" "$((y + 30))" "$work/elsewhere/large.png"
    at '*' '*large.png: *File too large*' wait || die "it does not say that the picture cannot be copied"
    prlimit --pid "$app_pid" --fsize=unlimited:
    loads 1 green.png || die "the node lost its picture"
    [ ! -e "$work/in/large.png" ] || die "a part of the picture was left"
fi
app_do quit
at button 'Quit anyway' click
until_ok 15 gone || die "the app did not quit"
