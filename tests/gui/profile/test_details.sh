#!/bin/bash
# The pane of details is as wide after a restart as it was drawn.
. "$(dirname "$0")/../lib.sh"
need_people
"$B/tests/gui/program/made_trace" "$work/made.ninotrace" || die "no trace"
choose() { # a call: its details open
    win_do open-path "$work/made.ninotrace"
    keys ctrl+f ctrl+a; text conv3x3_f16
    at label '* bars' wait || die "no bars are found"
    keys Return
    at label 'call of a kernel' wait || die "the details do not open"
}
width() { at '*' Details box | cut -d' ' -f3; }
start
need_bus
choose
read -r x y w h <<<"$(at '*' Details box)"
[ "${w:-0}" -ge 200 ] || die "the pane is nowhere: $x $y $w $h"
xdotool mousemove $((x - 2)) $((y + h / 2)) mousedown 1; sleep 0.1
for dx in 10 40 80 100; do xdotool mousemove $((x - 2 - dx)) $((y + h / 2)); sleep 0.05; done
xdotool mouseup 1
is_wider() { [ "$(width)" -ge $((w + 80)) ]; }
until_ok 10 is_wider || die "dragging its edge makes it not wider: $w, now $(width)"
drawn=$(width)
shot drawn
quit
for again in 1 2; do # that it opens does not change it either
    start
    choose
    is_same() { [ "$(width)" = "$drawn" ]; }
    until_ok 10 is_same || die "it was $drawn wide, after restart $again $(width)"
    quit
done
