#!/bin/bash
# The app as a Wayland client, drawn by cairo and by GL: it opens, runs, shows every view of the run, changes its perspective and
# quits without a warning. What it looks like is the X server's tests' matter.
export NINO_GUI_WAYLAND=1
if [ -z "${NINO_GUI_INSIDE:-}" ]; then
    for r in cairo gl; do
        echo "renderer $r"
        (export NINO_GUI_RENDERER=$r; . "$(dirname "$0")/lib.sh") || exit $?
    done
    exit 0
fi
. "$(dirname "$0")/lib.sh"
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out" "$root/data/tiny/decode.json"
wait_state ready 20
grep -q "libwayland-client" "/proc/$app_pid/maps" && [ -z "${DISPLAY:-}" ] || die "the app does not speak Wayland"
is_gl() { grep -q '_dri.so\|libgallium' "/proc/$app_pid/maps"; }
case $NINO_GUI_RENDERER in
cairo) ! is_gl || die "cairo was asked for, GL draws" ;;
gl) is_gl || die "GL was asked for, it does not draw" ;;
esac
win_do run
wait_state done 120
[ -n "$(find "$work/out" -name '*.png')" ] || die "no picture was made"
for p in profile compose; do win_do perspective $p; done
for v in $(live_views); do
    win_do view "$v"
    until_ok 10 is_state done || die "the view $v ended it"
done
quit
