#!/bin/bash
# Labels have room in every drawer and view with a run in it, and contrast on their ground, at 1280 x 800 and above, also at 3840 x 2160 in scale 2, in three themes and two
# languages.
here=$(dirname "$0")
root=$(cd "$here/../.." && pwd)
B=${B:-build}
case $B in /*) ;; *) B=$root/$B ;; esac
set -e
flow=$(mktemp) # not in its place: an example would find its models
trace=$(mktemp -d)
trap 'rm -rf "$flow" "$trace"' EXIT
[ ! -x "$B/tests/gui/program/made_trace" ] || "$B/tests/gui/program/made_trace" "$trace/made.ninotrace" >/dev/null
cp "$root/data/workflows/text_to_image.json" "$flow"
export PATH=$B:$PATH # the command, which tells of the device
export NINO_GUI_SCREEN=3900x2240 # GTK makes no window larger than the screen
for scale in 1 2; do
    export GDK_SCALE=$scale
    B=$B bash "$here/program.sh" layout "$flow" "$trace/made.ninotrace"
    B=$B bash "$here/program.sh" layout "$flow" "$trace/made.ninotrace" "$B/locale" de
done
