#!/bin/bash
# The strip of the whole run over the timeline: the window in it is moved and its ends are drawn by the pointer, keys do the same,
# dragging beside it selects a range, a screen reader hears which part is shown.
. "$(dirname "$0")/../lib.sh"
need_people
"$B/tests/gui/program/made_trace" "$work/made.ninotrace" 8 || die "no trace"
start
need_bus
win_do open-path "$work/made.ninotrace"
win_do perspective profile
said() { at image 'The whole run' get | sed -n 's/.* description=//p'; }
says() { ATCLICK_SECONDS=0 said | grep -Eq "$1"; }
told() { until_ok 10 says "$1" || die "$2: $(said)"; }
told '^all of .* is shown' "all of the run is not shown at first"
read -r x y w h <<<"$(at image 'The whole run' box)"
[ "${w:-0}" -gt 400 ] || die "the strip is nowhere: $x $y $w $h"
mid=$((y + h / 2))
at_share() { echo $((x + 8 + (w - 16) * $1 / 100)); } # of the run
drag() { # from and to, shares of the run
    xdotool mousemove "$(at_share "$1")" $mid mousedown 1 mousemove "$(at_share $((($1 + $2) / 2)))" $mid \
        mousemove "$(at_share "$2")" $mid mouseup 1
}
part() { # begin and end of what is shown, in ms
    said | sed -E 's/^([0-9.]+) (ms|s) to ([0-9.]+) (ms|s) .*/\1 \2 \3 \4/' |
        awk '{ print int($1 * ($2 == "s" ? 1000 : 1)), int($3 * ($4 == "s" ? 1000 : 1)) }'
}
moved() { read -r from to <<<"$(part)"; [ "$from" "$1" "$from0" ] && [ "$to" "$2" "$to0" ]; }
expect() { # TEST-OF-BEGIN TEST-OF-END WHAT; then it is where the next one begins
    until_ok 10 moved "$1" "$2" || die "$3: $from0–$to0, now $(said)"
    read -r from0 to0 <<<"$(part)"
}

# keys: a window in the middle, moved, its ends
xdotool mousemove "$(at_share 50)" $mid click 1
keys plus plus plus
told ' to .* of .* are shown' "plus does not zoom"
read -r from0 to0 <<<"$(part)"
keys Right Right
expect -gt -gt "the right arrow does not move the window"
keys ctrl+Left
expect -lt -eq "Ctrl and an arrow do not move its begin"
keys shift+Right
expect -eq -gt "Shift and an arrow do not move its end"

# pointer: a window from 20 to 40 %, moved, its ends drawn
keys Home
told '^all of' "Home does not show all"
drag 20 40
at label '* ms – * ms, *' wait || die "dragging selects no range"
keys f
told ' to .* of .* are shown' "f does not show the range"
read -r from0 to0 <<<"$(part)"
drag 30 60
expect -gt -gt "the window is not moved by the pointer"
drag 70 90
expect -eq -gt "its end is not drawn"
drag 50 40
expect -lt -eq "its begin is not drawn"
shot overview
xdotool mousemove "$(at_share 95)" $mid click --repeat 2 --delay 60 1
told '^all of' "a double click beside it does not show all"
quit
