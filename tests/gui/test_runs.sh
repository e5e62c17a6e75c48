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
SHOTS=$SHOTS/app; mkdir -p "$SHOTS"
start
ATCLICK_SECONDS=5 at window '*' wait 2>/dev/null || { echo "skip: no accessibility bus"; quit; exit 77; }
win_do perspective profile

# a note, kept; found by it
row() { at 'list item' "$1" "$2"; }
row 'decode.json, 2023-11-14 22:13:22*' wait || die "the runs are not listed"
win_do open-path "$runs/1002.ninotrace"; sleep 1; shot one; at "*" "*" tree > $SHOTS/tree; sleep 1; win_do baseline "$runs/1001.ninotrace"; sleep 1; shot compare
quit
