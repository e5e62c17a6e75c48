#!/bin/bash
# F5 measures the last run: one that warms up and five more, every node anew with the same inputs; median and spread are told.
. "$(dirname "$0")/lib.sh"
[ -d "$root/data/demo/models" ] || { echo "skip: no demo model"; exit 77; }
sample_workflow 32 2
start --models "$root/data/demo/models" --device ref --output "$work/out" "$work/sample.json"
wait_state ready 60
files() { ls "$work/out" 2>/dev/null | grep -c '^sampled'; }
has_files() { [ "$(files)" = "$1" ]; }
win_do run
wait_state done 120
has_files 1 || die "$(files) files of one run"
win_do set 4.seed=8 # what ran is measured, not what was edited since
if has_bus; then # compared while it is measured: what goes on is not taken for a whole run
    win_do view compare
    at button 'Keep as baseline' click
    at label 'Baseline: *' wait || die "the run is not compared"
fi
win_do measure-again
is_cut() { case $(ATCLICK_SECONDS=0 at label 'Baseline: *' get 2>/dev/null) in *'cut off'*) ;; *) false ;; esac; }
for _ in $(seq 600); do
    ! is_cut || die "a run is compared before its end"
    has_files 7 && break
done
wait_state done 120
! is_cut || die "a run that is done is called cut off"
until_ok 120 has_files 7 || die "$(files) files: not six more runs"
sleep 1
has_files 7 || die "it runs on: $(files) files"
wait_state done 30
for f in "$work"/out/sampled*; do # metadata tells the inputs
    grep -aq '"seed": *7\|seed\\":7\|seed\\": 7' "$f" || die "$f was not made of the inputs that ran"
done
if has_bus; then
    at '*' 'Measured in 5 runs after one that warmed up: * a file (median; MAD *' wait || die "the result is not told"
fi
shot measured
app_do quit
at button 'Quit anyway' click 2>/dev/null || kill $app_pid # the workflow was changed
until_ok 15 gone || die "the app did not quit"
