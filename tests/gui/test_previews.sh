#!/bin/bash
# Previews while a node samples: none, or those of the chosen kind, with what they cost (tests/workflow/preview has the bound).
. "$(dirname "$0")/lib.sh"
[ -x "$B/tests/gui/program/atclick" ] || { echo "skip: tests/gui/program/atclick was not built"; exit 77; }
mkdir -p "$XDG_CONFIG_HOME/ninodes"
printf '[preferences]\npreview=none\npreview-every=1\npreview-percent=100\n' >"$XDG_CONFIG_HOME/ninodes/studio.ini"
sample_workflow 64 12
start --models "$root/data/demo/models" --device ref --output "$work/out" "$work/sample.json"
need_bus
wait_state ready 60
win_do panel result

# What a run published, from its trace.
run() {
    win_do set "${node:-4}.seed=$1"; win_do run
    wait_state running 60; "${@:2}"; wait_state done 300
    win_do export-trace-to "$work/$1.json"; until_ok 30 is_trace "$work/$1.json" || die "no trace of the run"
}
published() { grep -o '"name":"preview"[^}]*"step":[0-9]*' "$work/$1.json" | sort -u | wc -l; }
# A run that goes on until it was looked at: watched NODE COMMAND...
watched() {
    win_do set "$1.steps=9999"; win_do run
    wait_state running 60; "${@:2}"; win_do cancel; wait_state cancelled 60
}
label_is_sound() {
    at '*' 'Preview of step * of 9999, took * ms*' wait || die "no preview is shown"
    at '*' 'Preview of step * of 9999, took * ms (* % of the sampling)' wait || die "the preview does not tell its cost"
    at '*' 'KSampler, node 4, running, shows what it made*' wait || die "the node does not show the preview"
    shot preview
}
run 1 true
[ "$(published 1)" = 0 ] || die "previews were made although none are wanted"
actions "" Activate preview "[<'latent2rgb'>]" '{}' >/dev/null
watched 4 label_is_sound
win_do set 4.steps=12
run 2 true
at '*' 'Preview of step *' gone || die "a preview is shown in place of the result"
[ "$(published 2)" -ge 10 ] || die "only $(published 2) previews in 12 steps"
app_do quiet # for measuring: no previews, whatever is chosen
run 3 true
[ "$(published 3)" = 0 ] || die "previews in quiet mode"
app_do quit
at button 'Quit anyway' click # the workflow was changed
until_ok 15 gone || die "the app did not quit"

# The tiny autoencoder's: pixels instead of the latent's cells, the linear map until a decode is worth its time.
A=${NINODES_ASSETS:-$root/../shared/assets}
[ -d "$A/e2e" ] || { echo "no test data: latent2rgb only"; exit 0; }
printf '[preferences]\npreview=taesd\npreview-every=1\npreview-percent=100\n' >"$XDG_CONFIG_HOME/ninodes/studio.ini"
start --models "$A/models" --device ref --output "$work/out" "$A/e2e/workflows/sd15_tiny_euler.json"
wait_state ready 60
win_do panel result
watched 3 at '*' 'Preview of step * of *' wait
win_do set 3.steps=24
node=3 run 4 true
grep -o '"name":"preview"[^}]*"width":[0-9]*' "$work/4.json" | grep -q '"width":128$' || die "no preview by the tiny autoencoder"
shot taesd
app_do quit
at button 'Quit anyway' click
until_ok 15 gone || die "the app did not quit"
