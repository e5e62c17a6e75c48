#!/bin/bash
# Runs a test script inside its own X server, or with NINO_GUI_WAYLAND=1 a Wayland compositor without a screen, and its own session
# bus, with nothing of the user's settings.
# NINO_GUI_SCREEN=WIDTHxHEIGHT: of the X server's screen; no window is larger.
# usage: display.sh SCRIPT [ARG...]    exit 77 when a needed program is missing; any GTK/GLib warning fails the test
set -eu
if [ -n "${NINO_GUI_WAYLAND:-}" ]; then needed=weston; else needed="Xvfb import"; fi
for p in $needed dbus-run-session gdbus; do
    command -v $p >/dev/null || { echo "skip: $p is not installed"; exit 77; }
done
T=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$T" 2>/dev/null || { sleep 1; rm -rf "$T"; } || true' EXIT # a worker may still be writing there
export SHOTS=${SHOTS:-$T/shots}
mkdir -p "$SHOTS"
unset XDG_STATE_HOME
export HOME=$T XDG_RUNTIME_DIR=$T/run XDG_CONFIG_HOME=$T/config XDG_DATA_HOME=$T/data
export NINODES_CACHE_DIR=${NINODES_CACHE_DIR:-${XDG_CACHE_HOME:-$T/cache}/ninodes} XDG_CACHE_HOME=$T/cache
mkdir -p -m 700 "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME/gtk-4.0"
printf '[Settings]\ngtk-enable-animations=0\ngtk-cursor-blink=0\ngtk-font-name=DejaVu Sans 10\ngtk-theme-name=Adwaita\n' \
    >"$XDG_CONFIG_HOME/gtk-4.0/settings.ini"
export GDK_BACKEND=x11 GSK_RENDERER=${NINO_GUI_RENDERER:-cairo} GSETTINGS_BACKEND=memory LC_ALL=C.UTF-8 TZ=UTC LIBGL_ALWAYS_SOFTWARE=1
unset LANGUAGE GTK_A11Y NO_AT_BRIDGE WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS AT_SPI_BUS_ADDRESS 2>/dev/null || true
rc=0
if [ -n "${NINO_GUI_WAYLAND:-}" ]; then
    export GDK_BACKEND=wayland WAYLAND_DISPLAY=wayland-test
    unset DISPLAY 2>/dev/null || true
    weston --backend=headless-backend.so --socket=$WAYLAND_DISPLAY --width=1400 --height=900 --idle-time=0 --no-config \
        >"$T/weston" 2>&1 &
    compositor=$!
    for _ in $(seq 100); do [ -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" ] && break; sleep 0.1; done
    dbus-run-session -- "$@" || rc=$?
    kill $compositor || { cat "$T/weston"; rc=1; }
    wait $compositor || true
else
    # The server takes a display that is free and tells which, so that no two tests that start at once get the same one. Without
    # -noreset it restarts when its last client leaves, and the next one may find no display.
    mkfifo "$T/display"
    Xvfb -displayfd 3 -screen 0 "${NINO_GUI_SCREEN:-1400x900}x24" -noreset -nolisten tcp 3>"$T/display" >"$T/server" 2>&1 &
    server=$!
    read -r -t 60 n <"$T/display" || { cat "$T/server"; echo "no X server"; exit 1; }
    DISPLAY=:$n dbus-run-session -- "$@" || rc=$?
    kill $server || { cat "$T/server"; rc=1; }
    wait $server || true
fi
if grep -hE '(Gtk|Gsk|Gdk|GLib[A-Za-z-]*)-(CRITICAL|WARNING)' "$SHOTS"/*.log; then
    echo "the app printed warnings"
    rc=1
fi
exit $rc
