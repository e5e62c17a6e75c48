#!/bin/bash
# Starts the canvas tests (tests/gui/canvas.c) on a display of their own; any GTK/GLib warning fails them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
B=${B:-build}
[ -x "$B/tests/gui/canvas" ] || { echo "skip: the canvas tests were not built"; exit 77; }
if [ -z "${NINO_GUI_INSIDE:-}" ]; then
    NINO_GUI_INSIDE=1 exec bash "$here/display.sh" bash "$0" "$@"
fi
rc=0
"$B/tests/gui/canvas" "$@" >"$SHOTS/canvas.log" 2>&1 || rc=$?
cat "$SHOTS/canvas.log"
exit $rc
