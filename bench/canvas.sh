#!/bin/bash
# Frames per second of panning a workflow of 541 nodes in software rendering, on a display of its own.
# usage: bench/canvas.sh [FRAMES]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
B=${B:-build}
[ -x "$B/tests/gui/program/pan" ] || { echo "build/tests/gui/program/pan is missing: make tests"; exit 1; }
bash "$here/../tests/gui/display.sh" bash -c '"$0" "$@" 2>"$SHOTS/pan.log"' "$B/tests/gui/program/pan" "$@"
