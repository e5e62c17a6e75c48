#!/bin/bash
# Before a run: how many nodes would run, which, and what was changed since the last one; the run then does just that.
. "$(dirname "$0")/../lib.sh"
need_people
mkdir -p "$work/in"
cp "$root/data/demo/input/square.png" "$work/in/"
cat >"$work/flow.json" <<'END'
{"1": {"class_type": "LoadImage", "inputs": {"image": "square.png"}},
 "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
 "3": {"class_type": "ImageScale", "inputs": {"image": ["2", 0], "upscale_method": "nearest-exact", "width": 64, "height": 64, "crop": "disabled"}},
 "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "small"}}}
END
start --models "$root/data/tiny/models" --input "$work/in" --output "$work/out" "$work/flow.json"
need_bus
wait_state ready 30
at button 'Run*' click
wait_state done 60
at button 'Run (0)' wait || die "all results are there, but the button does not say so"
says() { at '*' "$1" get | grep -q "$2"; }
until_ok 10 says 'Save Image, node 4*' 'its result is there' || die "a node whose result is there does not say so"

# A value in the middle: what follows runs, what is before does not.
win_do set 3.width=32
at button 'Run (2)' wait || die "the number of nodes that would run is not told"
until_ok 10 says '*, node 3*' 'would run; changed since the last run: ' || die "the changed node does not say so: $(at '*' '*, node 3*' get)"
until_ok 10 says 'Save Image, node 4*' 'would run' || die "what follows does not say that it would run"
until_ok 10 says 'Load Image, node 1*' 'its result is there' || die "what is before is said to run"
xdotool mousemove 1200 860; shot ahead
win_do set 3.width=64 # as it was
at button 'Run (0)' wait || die "the result of the old value is not known any more"
says '*, node 3*' changed && die "the value that it had is said to be changed"
win_do set 3.width=32
at button 'Run (2)' wait || die "the number does not follow"
at button 'Run (2)' click
wait_state done 60
at '*' 'Invert Image, node 2, cached*' wait || die "what was said to be kept was not"
at '*' '*, node 3, done*' wait || die "what was said to run did not"
at button 'Run (0)' wait || die "the button does not know of the run"

# A result that is gone is made again; without a worker nobody can tell.
rm "$work"/out/*.png
win_do reload
at button 'Run (4)' wait || die "what is read anew would run, all of it"
app_do quit
at button 'Quit anyway' click
until_ok 15 gone || die "the app did not quit"
