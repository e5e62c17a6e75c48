#!/bin/bash
# Runs a test script inside its own X server and session bus, with nothing of the user's settings.
# usage: display.sh SCRIPT [ARG...]    exit 77 when a needed program is missing; any GTK/GLib warning fails the test
set -eu
for p in Xvfb xvfb-run dbus-run-session gdbus import; do
    command -v $p >/dev/null || { echo "skip: $p is not installed"; exit 77; }
done
T=$(mktemp -d)
trap 'rm -rf "$T" 2>/dev/null || { sleep 1; rm -rf "$T"; } || true' EXIT # a worker may still be writing there
export SHOTS=${SHOTS:-$T/shots}
mkdir -p "$SHOTS"
unset XDG_STATE_HOME
export HOME=$T XDG_RUNTIME_DIR=$T/run XDG_CONFIG_HOME=$T/config XDG_DATA_HOME=$T/data
export NINODES_CACHE_DIR=${NINODES_CACHE_DIR:-${XDG_CACHE_HOME:-$T/cache}/ninodes} XDG_CACHE_HOME=$T/cache
mkdir -p -m 700 "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME/gtk-4.0"
printf '[Settings]\ngtk-enable-animations=0\ngtk-cursor-blink=0\ngtk-font-name=DejaVu Sans 10\ngtk-theme-name=Adwaita\n' \
    >"$XDG_CONFIG_HOME/gtk-4.0/settings.ini"
export GDK_BACKEND=x11 GSK_RENDERER=cairo GSETTINGS_BACKEND=memory LC_ALL=C.UTF-8 TZ=UTC LIBGL_ALWAYS_SOFTWARE=1
unset LANGUAGE GTK_A11Y NO_AT_BRIDGE WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS AT_SPI_BUS_ADDRESS 2>/dev/null || true
# Without -noreset the server restarts when its last client leaves, and the next one may find no display.
rc=0
xvfb-run -a -n $((99 + 40 * ${NINODES_TEST_SLOT:-0})) -s "-screen 0 1400x900x24 -noreset -nolisten tcp" dbus-run-session -- "$@" || rc=$?
if grep -hE '(Gtk|Gsk|Gdk|GLib[A-Za-z-]*)-(CRITICAL|WARNING)' "$SHOTS"/*.log; then
    echo "the app printed warnings"
    rc=1
fi
exit $rc
