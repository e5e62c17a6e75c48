#!/bin/bash
# A result tells how it was made and opens its workflow with what each node took; lists of workflows and models by key.
. "$(dirname "$0")/lib.sh"
need_people
vae=$(basename "$(ls "$root"/data/tiny/models/vae/*.safetensors | head -1)")
cp "$root/data/tiny/decode.json" "$work/flow.json"
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out" "$work/flow.json"
need_bus
wait_state ready 30
# Keys of the canvas work as soon as a workflow is open, without a click.
xdotool mousemove 700 450 key m
at '*' 'Add a model' wait || die "the canvas has no keys when a workflow was opened"
xdotool key Escape; sleep 0.3
enabled viewer-profile && die "there is no result, but it tells how it was made"
win_do run; wait_state done 120
until_ok 20 enabled viewer-profile || die "the result does not tell how it was made"

# How it was made: the run, and each node.
win_do viewer-profile
at '*' '* s on *at most * of memory' wait || die "the run is not told"
at '*' '3 VAE Decode' wait || die "the nodes are not told"
shot made
at button 'Open its workflow' click || die "the result's workflow cannot be opened from there"
png=$(basename "$(find "$work/out" -name '*.png' | head -1)")
at tab "$png*" wait || die "the result's workflow is not opened"
at '*' 'VAE Decode, node 3, done*' wait || die "its nodes do not show what they took"
shot opened

# W: workflows.
win_do close-tab
read -r x y <<<"$(at tab 'flow.json*' point)"
canvas() { xdotool mousemove $((x + 60)) $((y + 320)) click 1; sleep 0.5; } # an empty place of it
canvas; xdotool key w
at 'menu item' flow.json wait || die "W does not list recent workflows"
xdotool key Escape; sleep 0.3

# M: models, each with the node that loads it.
xdotool key m # the canvas has the keys again
at '*' 'Add a model' wait || die "M does not list models"
xdotool type --delay 30 "$vae"; sleep 0.5
shot models
xdotool key Return
at '*' 'Load VAE, node 5, selected' wait || die "the model was not added with its node"
win_do save-to "$work/with.json"
until_ok 10 test -s "$work/with.json"
[ "$(grep -o "$vae" "$work/with.json" | wc -l)" = 2 ] || die "the added node does not load the model"
win_do undo
ATCLICK_SECONDS=2 at '*' 'Load VAE, node 5*' wait 2>/dev/null && die "node and model are not one step of undo"
app_do quit
at button 'Quit anyway' click
until_ok 15 gone || die "the app did not quit"

# The next session still has the result, but not one whose file is gone.
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out"
win_do panel result; at '*button' "Result 1: $png" wait || die "the result of the earlier session is not there"
until_ok 10 enabled viewer-profile || die "it does not tell how it was made"
shot earlier

# Two results: found by name; what made the one that is shown stands below it.
sed 's/"filename_prefix": *"[^"]*"/"filename_prefix": "another"/' "$root/data/tiny/decode.json" >"$work/another.json"
win_do open-path "$work/another.json"; wait_state ready 30
win_do run; wait_state "ready done" 120; at '*button' 'Result 2: another_*' wait || die "there are not two results"
at label '*s · *iB' wait || die "what the result took does not stand below it"
read -r x y <<<"$(at '*' 'Find a result' point)"
xdotool mousemove "$x" "$y" click 1 type --delay 15 'ANOTH 1_'
ATCLICK_SECONDS=10 at '*button' 'Result 1: *' gone || die "what is not searched is still there"
at '*button' 'Result 2: another_*' wait || die "what is searched is not there"
shot searched
xdotool key ctrl+a BackSpace
at '*button' 'Result 1: *' wait || die "not all results are there again"
quit
rm "$work/out/"*.png
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out"
win_do panel result; at '*' 'Results appear here' wait || die "a result whose file is gone is shown"
quit
