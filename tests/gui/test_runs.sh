#!/bin/bash
# Kept runs: listed, opened, compared, named, deleted (the widgets); then in the app: found by note, two picked and compared,
# details of what is chosen, views saved and shown again after a restart, a row hidden by its menu, a view as a window.
. "$(dirname "$0")/lib.sh"
bash "$here/program.sh" runs @
runs=$HOME/.local/state/ninodes/studio/runs
mkdir -p "$runs" && rm -f "$runs"/*
for i in 1 2; do
    "$B/ninodes" run "$root/data/tiny/decode.json" --models "$root/data/tiny/models" --input "$root/data/tiny/input" -q \
        -o "$work/out$i" --trace "$runs/100$i.ninotrace" >/dev/null || die "no trace"
    printf '[100%s]\ntitle=decode.json\nat=170000000%s\nrecords=100\nseconds=0.%s\n' $i $i $i >>"$runs/runs.ini"
done
command -v xdotool >/dev/null || { echo "part skipped: xdotool is not installed"; exit 0; }
start
need_bus
win_do perspective profile


pointer() { # ROLE NAME BUTTON [MODIFIER]: clicks it with the real pointer
    local x y
    read -r x y <<<"$(at "$1" "$2" point)"
    [ -n "$y" ] || die "no $1 is called $2"
    xdotool mousemove "$x" "$y"
    if [ -n "${4:-}" ]; then xdotool keydown "$4" click "$3" keyup "$4"; else xdotool click "$3"; fi
}
row() { at 'list item' "$1" "${2:-wait}"; }
old='decode.json, 2023-11-14 22:13:21, 100 ms*' new='decode.json, 2023-11-14 22:13:22, 200 ms*'
row "$new" && row "$old" || die "the runs are not listed"

# a name and a note, kept; found by a word of either
pointer 'list item' "$old" 1
pointer 'text*' 'Note about the run' 1
xdotool type --delay 15 'warm Cache'; xdotool key Return
until_ok 10 grep -q '^note=warm Cache$' "$runs/runs.ini" || die "the note is not kept"
pointer 'text*' 'Name of the run' 1
xdotool type --delay 15 'before'; xdotool key Return
row 'before, *warm Cache' || die "the list does not show name and note"
pointer '*' 'Find a run' 1
xdotool type --delay 15 'cache bef'
at label '1 of 2 runs' wait || die "not one run has both words"
shot found
xdotool key ctrl+a BackSpace
ATCLICK_SECONDS=10 at label '1 of 2 runs' gone || die "not all runs are there again"

# two are picked and compared: the newer one is shown, the older one lies behind it
pointer 'list item' 'before, *' 1
pointer 'list item' "$new" 1 ctrl
at label 'Compare shows the newer one*' wait || die "it does not say what is compared"
pointer '*button' Compare 1
at label 'Baseline: before (*One run each has no spread*' wait || die "no comparison, or one that claims something"
at '*' '+* %' wait 2>/dev/null || at '*' '−* %' wait || die "no differences"
shot compared
pointer label '* VAEDecode' 3
at 'menu item' 'Its node fills the overlay' wait && at 'menu item' 'Zoom to it' wait || die "a row of the comparison has no menu"
xdotool key Escape
ATCLICK_SECONDS=10 at 'menu item' 'Zoom to it' gone || die "Escape leaves the menu"
pointer 'list item' "$new" 3
at 'menu item' 'Compare the two' wait || die "two runs have no menu"
shot menu
xdotool key Escape
ATCLICK_SECONDS=10 at 'menu item' 'Compare the two' gone || die "Escape leaves the menu of the runs"
pointer image 'Two runs over each other' 1 # its node is chosen everywhere
at label '*VAE*Decode' wait && at label node wait || die "the details do not tell of the node"

# found in the timeline: the call, its peers, its wait, what it was compiled to
xdotool key ctrl+f; sleep 0.2
xdotool type --delay 15 'gemm'
at label '* bars' wait || die "it does not say how many are found"
has_place() { for t in 'Longer than * % of its * peers' 'The shortest of *' 'The longest of *'; do ATCLICK_SECONDS=1 at label "$t" wait && return; done; false; }
next_is_call() { xdotool key Return; ATCLICK_SECONDS=2 at label 'call of a kernel' wait; } # after stages of the name
until_ok 1 next_is_call || die "the details do not tell of the call"
until_ok 1 has_place || die "its place among its peers is not told"
at image 'Queued, submitted, run' wait || die "its wait is not drawn"
shot details
pointer '*button' 'Source' 1
at 'text*' 'Source' wait || die "there is no way to its source"
xdotool key ctrl+f ctrl+a BackSpace

[ -n "${NINODES_TEST_LONG:-}" ] || { quit; exit 0; } # the long check has the rest

# a row is hidden by its menu, the view is saved
pointer image Timeline 1
xdotool key Up Up Up Up Up Up Up Up Up Up Shift+F10
at 'menu item' 'Hide this row' click || die "rows have no menu"
shot hidden
palette() { xdotool key ctrl+k; at 'search box' 'Find anything' wait || die "no palette opens"; }
palette
xdotool type --delay 15 'Save this view'; xdotool key Return
at 'text*' 'Name of the view' wait || die "no name is asked for"
xdotool type --delay 15 'only [the] queue'; xdotool key Return
views=$XDG_CONFIG_HOME/ninodes/views.ini
until_ok 10 grep -q 'name=only \[the\] queue' "$views" || die "the view is not saved"
grep -q '^rows=s0.0=1$' "$views" && grep -q '^view=kernel$' "$views" || die "rows or view are not in it: $(cat "$views")"
win_do view-window-of timeline
at window 'Timeline — *' wait || die "no view in a window of its own"
quit

# after a restart: the note is there, the view is chosen from the palette
start
win_do perspective profile
row 'before, *warm Cache' || die "the note is gone"
win_do open-path "$runs/1002.ninotrace"
win_do view tiles
xdotool mousemove 640 300
palette
xdotool type --delay 15 'only [the]'; xdotool key Return
at tab 'One kernel' wait || die "no tab"
until_ok 10 at 'text*' 'Source' wait || die "the saved view does not show the kernel"
shot restored
actions /window/1 Activate forget-view "[<'only [the] queue'>]" '{}' >/dev/null
until_ok 10 eval '! grep -q "the. queue" "$views"' || die "a saved view cannot be deleted"
quit
