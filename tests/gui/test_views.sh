#!/bin/bash
# The views of tiles, roofline, device, steps, advice and comparison: drawn in light and dark, exported, advice applied; no warnings.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
B=${B:-build}
[ -x "$B/tests/gui/views_of_device" ] || { echo "skip: the app was not built"; exit 77; }
if [ -z "${NINO_GUI_INSIDE:-}" ]; then
    NINO_GUI_INSIDE=1 exec bash "$here/display.sh" bash "$0" "$@"
fi
mkdir -p "$SHOTS/views"
export XDG_STATE_HOME=$HOME/state
rc=0
"$B/tests/gui/views_of_device" "$SHOTS/views" "$@" >"$SHOTS/views.log" 2>&1 || rc=$?
cat "$SHOTS/views.log"
exit $rc
