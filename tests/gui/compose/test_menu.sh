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
# by keys alone; the menu that was left is gone before
at 'menu item' 'New workflow' gone || die "an item leaves the menu open"
keys F10
item 'New workflow' || die "F10 does not open it again"
keys Tab Tab Return
closed() { ! ATCLICK_SECONDS=0 item 'New workflow' point; }
until_ok 10 closed || die "Enter does not take an item"
keys Escape
# beside the button that runs: the other ways
press '*button' 'Other ways to run'
for what in 'Run next*' 'Run again*' 'Measure again*' 'Grid of runs…' 'What does it need?'; do
    item "$what" || die "the menu of runs has no “$what”"
done
shot run_menu
keys Escape
item 'Grid of runs…' gone || die "Escape leaves the menu of runs"
# the palette's key again closes what it opened; once more and it is there, one of it
palette() { at 'search box' 'Find anything' "$1"; }
for _ in 1 2; do
    keys ctrl+k; palette wait || die "Ctrl+K opens no palette"
    keys ctrl+k; palette gone || die "Ctrl+K does not close what it opened"
done
# Three at once: what came while the palette had the keyboard and was closing, the window never sees.
keys ctrl+k ctrl+k ctrl+k
palette wait 2>/dev/null || { keys ctrl+k; palette wait; } || die "Ctrl+K three times at once, and no palette opens any more"
[ "$(at window '*Ninodes Studio*' tree | grep -c 'search box “Find anything”')" = 1 ] || die "there are two palettes"
keys Escape; palette gone || die "Escape does not close it"
# a preference opens at its row: what is typed next goes there
keys ctrl+k; palette wait || die "no palette for a preference"
text 'input folder'
at '*' 'Input folder*' wait || die "the palette does not offer the preference"
keys Return
at '*' 'Choose: Input folder' wait || die "the preferences do not open"
typed() { text /; grep -q '^input=//*$' "$XDG_CONFIG_HOME/ninodes/studio.ini"; }
until_ok 20 typed || die "the row of the preference has not got the keyboard"
read -r _ y <<<"$(at '*' 'Choose: Input folder' point)"
read -r _ top _ height <<<"$(at window Preferences box)"
[ "$y" -gt "$top" ] && [ "$y" -lt $((top + height)) ] || die "the row is at $y, outside the window"
shot preference
quit
