#!/bin/bash
# The menu of what is chosen is the same in every view: in the table of kernels by pointer and keys, in the flame graph by keys,
# in the histogram by AT-SPI, in the details pane by its button. Rows of advice have one of their own.
. "$(dirname "$0")/../lib.sh"
need_people
"$B/tests/gui/program/made_trace" "$work/made.ninotrace" || die "no trace"
start
need_bus
win_do open-path "$work/made.ninotrace"
win_do view kernels
item() { at 'menu item' "$1" "${2:-wait}"; }
at label '* kernels, *' wait || die "the table of kernels is empty"
chosen_kernel=$(at label '*gemm*' get | sed -n 's/^name=\(.*\) sensitive=.*/\1/p' | head -1)
[ -n "$chosen_kernel" ] || die "no kernel of the run is called gemm"

# a row, by the pointer: what the details pane has, too
press label "$chosen_kernel" 3
for what in 'Its longest call in the timeline' Peers Source 'Machine code' Replay 'Only what is called so' 'Copy the name' \
    'Filter the table by its name'; do
    item "$what" || die "the menu of a row has no “$what”"
done
shot row
item 'Machine code' click
at 'text*' 'Machine code' wait || die "the menu does not lead to the machine code"
win_do view kernels

# the same row, by keys; its name on the clipboard, put into the search of the timeline
press label "$chosen_kernel"
keys Shift+F10
item 'Copy the name' || die "Shift+F10 opens no menu in the table"
item 'Copy the name' click
keys ctrl+f ctrl+a ctrl+v
at label '* bars' wait || die "what was copied is not what bars are called"
keys ctrl+a BackSpace
press label "$chosen_kernel"
keys Menu
item 'Filter the table by its name' || die "the Menu key opens no menu in the table"
item 'Filter the table by its name' click
is_filtered() { at '*' 'Filter kernels' get | grep -qF "$chosen_kernel"; }
until_ok 10 is_filtered || die "the table is not filtered"

# an advice, by the pointer and by keys
win_do view advice
press 'list item' 'Copies between *' 3
item 'Copy as text' || die "an advice has no menu"
keys Escape
ATCLICK_SECONDS=10 at 'menu item' 'Copy as text' gone || die "Escape leaves the menu of an advice"
keys Shift+F10
item 'Copy as text' click || die "Shift+F10 opens no menu of an advice"
keys ctrl+f ctrl+v
is_copied() { at '*' 'Find in the timeline' get | grep -q '1.7 GiB up'; }
until_ok 10 is_copied || die "an advice is not copied with its evidence"

[ -n "${NINODES_TEST_LONG:-}" ] || { quit; exit 0; } # the long check has the other views

# a box of the flame graph, by keys: it becomes the whole, and one level up again
win_do view flame
press image 'Time by call path'
keys Down Shift+F10
item 'Make it the whole' || die "Shift+F10 opens no menu in the flame graph"
item 'Select its time' || die "a scope in the flame graph has no time"
shot flame
item 'Make it the whole' click
at image 'Time by call path' menu.popup || die "the flame graph has no menu for a screen reader"
item 'One level up' click || die "there is no way back up"

# the histogram, by AT-SPI: of the kernel, or of the longest call where arrows have stepped to
win_do view histogram
at image 'Histogram of the selected kernel' menu.popup || die "the histogram has no menu for a screen reader"
item 'Its longest call in the timeline' || die "the menu of the histogram is not of its kernel"
item 'Its longest call in the timeline' click
at label 'call of a kernel' wait || die "the longest call is not chosen"

# a plot over time, and the button of the details pane
win_do view memory
press image 'Memory*' 3
item 'Note about this moment…' || die "a plot over time has no menu"
keys Escape
press '*button' 'Menu of what is chosen'
item 'Select its time' || die "the details pane has no menu"
shot details
item Source click
at 'text*' 'Source' wait || die "the menu of the details pane does not lead to the source"
quit
