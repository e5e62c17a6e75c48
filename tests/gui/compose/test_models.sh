#!/bin/bash
# The drawer of models says what a file is: family, size, types of numbers, and whether it fits into what the device gave.
. "$(dirname "$0")/../lib.sh"
need_people
cp "$root/data/tiny/decode.json" "$work/flow.json"
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out" "$work/flow.json"
need_bus
wait_state ready 30
win_do drawer models
vae=$(basename "$(ls "$root"/data/tiny/models/vae/*.safetensors | head -1)")
read -r x y <<<"$(at 'list item' "$vae" point)"
xdotool mousemove "$x" "$y" click 1
at '*' "$vae*safetensors, *KiB*vae: *" wait || die "the drawer does not say what the file is"
shot models
app_do quit; until_ok 15 gone || die "the app did not quit"
