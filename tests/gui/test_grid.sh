#!/bin/bash
# A grid of runs: through D-Bus, and from its window; the sheet is made and shown, cancelling one cell stops all.
. "$(dirname "$0")/lib.sh"
[ -x "$B/tests/gui/program/atclick" ] || { echo "skip: tests/gui/program/atclick was not built"; exit 77; }
sed 's/"width": 128/"width": 64/; s/"height": 128/"height": 64/; s/"steps": 10/"steps": 1/' \
    "$root/data/workflows/text_to_image.api.json" >"$work/small.json"
start --models "$root/data/demo/models" --device ref --output "$work/out" "$work/small.json"
need_bus
wait_state ready 60
files() { [ "$(find "$work/out" -name "$1" 2>/dev/null | wc -l)" = "$2" ]; }

win_do queue-grid 'KSampler.seed=1..3
Prompt.text="a red circle, large",a yellow star'
until_ok 120 files 'grid_*.png' 1 || die "no sheet"
files 'text_to_image_*.png' 6 || die "not six cells: $(ls "$work/out")"
# boxes of 64 and gaps of 8; two lines of text on top
set -- $(identify -format '%w %h' "$work/out/grid_00001_.png")
[ "$2" = $((8 + 2 * 20 + 4 + 2 * 72)) ] && [ "$1" -gt $((8 + 3 * 72 + 60)) ] || die "the sheet is $1 x $2"
at '*' 'grid_00001_.png, *' wait || die "the sheet is not shown"
shot grid-sheet

# What is refused is said, and nothing is queued.
win_do queue-grid 'KSampler.nosuch=1,2'
at '*' '*no such input*' wait || die "a wrong input is not told"
win_do queue-grid 'KSampler.seed=1,,2'
at '*' '*a value is empty*' wait || die "a wrong value is not told"
files 'text_to_image_*.png' 6 || die "something ran"

# The window has the last axes, says how many runs that is, and queues them.
win_do queue-grid 'KSampler.cfg=1,2
KSampler.sampler_name=euler,heun'
until_ok 120 files 'grid_*.png' 2 || die "no second sheet"
win_do grid
at label '2 × 2 = 4 runs, about *' wait || die "it does not say how many runs"
shot grid-window
at 'text box' 'Columns: Values' text='1..2:0.5' || die "no entry for the values"
at label '3 × 2 = 6 runs, about *' wait || die "the count does not follow"
at 'text box' 'Columns: Values' text='1,900' || die "no entry for the values"
at label '*cfg*' wait || die "a value out of range is not told"
shot grid-refused
at 'text box' 'Columns: From' text=1; at 'text box' 'Columns: To' text=3
at label '3 × 2 = 6 runs, about *' wait || die "from and to make no range"
where=$(at checkbox heun point) || die "no box for a sampler"
read -r x y <<<"$where" # without a window manager it stands in the corner
xdotool mousemove "$x" "$y" click 1
at label '3 × 1 = 3 runs, about *' wait || die "the count does not follow what is ticked"
at window 'Grid of runs' lint || die "a control has no name"
at button 'Queue the runs' click || die "it cannot be queued"
until_ok 120 files 'grid_*.png' 3 || die "no third sheet"
files 'text_to_image_*.png' 11 || die "not one more cell, and two that were there: $(ls "$work/out")"

# One that is cancelled takes those that wait with it.
win_do queue-grid 'KSampler.steps=2,9000,9001'
until_ok 60 files 'text_to_image_*.png' 12 || die "the first cell did not run"
at label '*step * of 9000*' wait || die "the second cell does not run" # the file of the first is there before it is done
win_do cancel
until_ok 60 files 'grid_*.png' 4 || die "no sheet of what was finished"
wait_state "cancelled done" 30
files 'text_to_image_*.png' 12 || die "the third cell ran"
shot grid-cancelled
quit
