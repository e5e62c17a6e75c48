#!/bin/bash
# Starts the tests of the keyboard shortcuts (tests/gui/keys.c) on a display of their own; any GTK/GLib warning fails them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
B=${B:-build}
[ -x "$B/tests/gui/keys" ] || { echo "skip: the tests of the keys were not built"; exit 77; }
if [ -z "${NINO_GUI_INSIDE:-}" ]; then
    NINO_GUI_INSIDE=1 exec bash "$here/display.sh" bash "$0" "$@"
fi
rc=0
"$B/tests/gui/keys" "$@" >"$SHOTS/keys.log" 2>&1 || rc=$?
cat "$SHOTS/keys.log"
exit $rc
