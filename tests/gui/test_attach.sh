#!/bin/bash
# A run of the command line is watched: its workflow opens as a graph with what its nodes did before the app came, its live
# views have all of it, it is cancelled from here, and its node says so.
. "$(dirname "$0")/lib.sh"
[ -d "$root/data/demo/models" ] || { echo "skip: no demo model"; exit 77; }
need_people
sample_workflow 128 400
"$B/ninodes" run "$work/sample.json" --models "$root/data/demo/models" --device ref -o "$work/out" --json >"$work/lines" 2>"$SHOTS/run.txt" &
run=$!
trap 'kill $run $app_pid 2>/dev/null || true; rm -rf "$work" || true' EXIT
until_ok 120 grep -q '"type": *"progress"' "$work/lines" || die "it does not sample: $(tail -3 "$work/lines")"
"$B/ninodes" jobs workflow 1 --worker $run | grep -q KSampler || die "a run does not tell its workflow"
start --attach $run --models "$root/data/demo/models"
need_bus
at label "Watching process $run" wait || die "it does not say what it watches"
at tab 'sample.json*' wait || die "the workflow of the run does not open"
at '*' 'Load Checkpoint, node 1, done*' wait || die "a node that was done before is not marked"
at '*' 'KSampler, node 4, running*' wait || die "the node that runs is not marked"
enabled run && die "the workflow of another process can be queued here"
at label '*step * of 400*' wait || die "the steps are not told"
shot watched
win_do pause
at '*' 'KSampler, node 4, paused*' wait || die "a paused node does not say so"
shot paused
win_do pause
at '*' 'KSampler, node 4, running*' wait || die "the run does not go on"
win_do cancel
at '*' 'KSampler, node 4, cancelled*' wait || die "the node that was cancelled does not say so"
at '*' 'Save Latent, node 5, queued*' gone || die "a node of a run that is over waits"
ended() { ! kill -0 $run 2>/dev/null; }
until_ok 60 ended || die "the run goes on"
shot cancelled
quit
