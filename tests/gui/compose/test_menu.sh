#!/bin/bash
# The main menu has four short columns: everything in it is seen at once, is reached by keys, and shows what is on.
. "$(dirname "$0")/../lib.sh"
need_people
start
need_bus
item() { at 'menu item' "$1" "${2:-wait}"; }
keys F10
for what in 'New workflow' Undo 'Export the plot…' 'Run (add to the queue)' 'About Ninodes Studio' 'Give memory back'; do
    item "$what" || die "the menu has no “$what”"
done
shot menu
place() { at 'menu item' "$1" box; }
read -r fx fy fw fh <<<"$(place 'New workflow')"
read -r rx ry rw rh <<<"$(place 'Run (add to the queue)')"
read -r lx ly lw lh <<<"$(place 'Give memory back')"
[ "$fy" -eq "$ry" ] && [ "$rx" -gt $((fx + fw)) ] || die "there are no columns: $fx,$fy and $rx,$ry"
[ $((ly + lh - ry)) -lt 600 ] || die "the menu is $((ly + lh - ry)) high"
item 'Profile: where time and memory go' click
is_profile() { actions /window/1 Describe perspective | grep -q profile; }
until_ok 10 is_profile || die "an item of the menu does nothing"
# by keys alone
keys F10
item 'New workflow' || die "F10 does not open it again"
keys Tab Tab Return
closed() { ! ATCLICK_SECONDS=0 item 'New workflow' point; }
until_ok 10 closed || die "Enter does not take an item"
keys Escape
quit
