#!/bin/bash
# A workflow is known by the picture that it made last: in the drawer of workflows and, after a restart, on the page without a
# workflow. From there a model is added by typing its name into the palette.
. "$(dirname "$0")/../lib.sh"
need_people
cp "$root/data/tiny/decode.json" "$work/flow.json"
options=(--models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out")
vae=$(basename "$(ls "$root"/data/tiny/models/vae/*.safetensors | head -1)")
has_picture() { ATCLICK_SECONDS=0 at "$1" "$2" tree 2>/dev/null | grep -q 'Picture of what it makes'; }
start "${options[@]}" "$work/flow.json"
need_bus
wait_state ready 30
win_do drawer workflows
at 'list item' flow.json wait || die "the drawer does not list the workflow"
has_picture 'list item' flow.json && die "it has a picture of a run that was not"
has_picture 'list item' text_to_image.json || die "an example has no picture"
win_do run; wait_state done 120
win_do drawer workflows; win_do drawer workflows # shut, and open again
until_ok 10 has_picture 'list item' flow.json || die "the drawer has no picture of what the workflow made"
shot drawer
quit

start "${options[@]}"
until_ok 20 has_picture button flow.json || die "the page without a workflow has no picture of what it made"
shot welcome
xdotool mousemove 640 600
keys ctrl+k; at 'search box' 'Find anything' wait || die "no palette"
text "${vae%.safetensors}"; keys Return
at '*' 'Load VAE, node 1, selected*' wait || die "a model of the palette is not added with its loader"
app_do quit; at button 'Quit anyway' click; until_ok 15 gone || die "the app did not quit"

# What it made is gone: so is the picture, and nothing breaks.
rm -r "$work/out"
start "${options[@]}"
at button flow.json wait || die "the page without a workflow does not list it"
has_picture button flow.json && die "a picture that is gone is shown"
quit
