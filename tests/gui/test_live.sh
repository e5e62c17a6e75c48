#!/bin/bash
# Every view of a run: drawn in light and dark, filtered by a range, exported; no warnings.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
B=${B:-build}
[ -x "$B/tests/gui/live_views" ] || { echo "skip: the app was not built"; exit 77; }
if [ -z "${NINO_GUI_INSIDE:-}" ]; then
    NINO_GUI_INSIDE=1 exec bash "$here/display.sh" bash "$0" "$@"
fi
mkdir -p "$SHOTS/live"
rc=0
"$B/tests/gui/live_views" "$SHOTS/live" "$@" >"$SHOTS/live.log" 2>&1 || rc=$?
[ $rc != 0 ] || [ -z "${NINODES_TEST_LONG:-}" ] || "$B/tests/gui/live_cost" 5 >>"$SHOTS/live.log" 2>&1 || rc=$?
grep -v 'fd limit\|org.a11y\|SpiRegistry' "$SHOTS/live.log" || true
exit $rc
