#!/bin/bash
# Runs a test program of widgets (tests/gui/program/NAME.c) on a display of its own; any GTK/GLib warning fails it. It skips
# when the program was not built. An argument @ is a folder for the program's files.
# usage: program.sh NAME [ARG...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=$1
export B=${B:-build}
[ -x "$B/tests/gui/program/$name" ] || { echo "skip: $B/tests/gui/program/$name was not built"; exit 77; }
if [ -z "${NINO_GUI_INSIDE:-}" ]; then
    NINO_GUI_INSIDE=1 exec bash "$here/display.sh" bash "$0" "$@"
fi
shift
mkdir -p "$SHOTS/$name"
args=()
for a in "$@"; do [ "$a" = @ ] && args+=("$SHOTS/$name") || args+=("$a"); done
rc=0
"$B/tests/gui/program/$name" "${args[@]}" >"$SHOTS/$name.log" 2>&1 || rc=$?
grep -v 'fd limit\|org.a11y\|SpiRegistry' "$SHOTS/$name.log" || true
exit $rc
