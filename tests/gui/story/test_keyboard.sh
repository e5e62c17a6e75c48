#!/bin/bash
# Text to image from an empty canvas, by keyboard alone: nodes added at slots, connected by name, their values typed, run. What
# is typed is not waited for: Enter takes what was typed, not what was listed before.
. "$(dirname "$0")/../lib.sh"
need_people
start --models "$root/data/demo/models" --device ref --output "$work/out"
need_bus
xdotool mousemove 1390 890 # beside the window: all that follows is the keyboard's
shows() { at '*' "$1" wait || die "not there: $1"; }
list() { keys "$1"; shows "$2"; text "$3"; keys Return; } # KEY NAME-OF-THE-LIST WORDS
at_slot() { # SLOT NODE'S-WORDS TITLE: adds it there
    list alt+n 'Add a node at a slot' "$1"
    shows 'Add a node that *'; text "$2"; keys Return
    shows "$3, node *, selected*"
}
connect() { list ctrl+l '*onnect*' "$1"; }

keys ctrl+t
list m 'Add a model' demo_flux.saf
shows 'Load Checkpoint, node 1, selected*'
at_slot 'output clip' 'clip text encode' 'CLIP Text Encode*'
keys Return; text 'a red circle on a blue background'; keys Escape
at_slot 'output conditioning' ksampler KSampler
connect negative; connect model
keys Return Tab Tab; keys ctrl+a; text 2; keys Tab; keys ctrl+a; text 1; keys Tab; keys Escape # steps, cfg
at_slot 'input latent' 'empty sd3' 'EmptySD3Latent*'
keys Return; keys ctrl+a; text 64; keys Tab; keys ctrl+a; text 64; keys Tab; keys Escape
keys Right; shows 'KSampler, node 3, selected*'
at_slot 'output latent' 'vae decode' 'VAE Decode'
connect 'vae'
at_slot 'output image' 'save image' 'Save Image'
shot built
wait_state ready 10
keys ctrl+Return
wait_state done 120
png=$(find "$work/out" -name '*.png')
[ "$(identify -format '%w %h' "$png")" = '64 64' ] || die "no picture of the size that was typed"
win_do export-api-to "$work/api.json"; until_ok 10 test -s "$work/api.json" || die "it cannot be exported"
python3 - "$work/api.json" <<'PY' || die "it is another workflow than what was typed"
import json, sys
api = json.load(open(sys.argv[1]))
one = {v["class_type"]: v["inputs"] for v in api.values()}
s = one["KSampler"]
assert s["steps"] == 2 and s["cfg"] == 1 and s["positive"] == s["negative"], s
assert one["CLIPTextEncode"]["text"] == "a red circle on a blue background", one
PY
shot done
app_do quit; at button 'Quit anyway' click # the workflow was not saved
until_ok 15 gone || die "the app did not quit"
