#!/bin/bash
# A sampling that was cancelled, or whose worker was killed, goes on at its step when it is run again.
. "$(dirname "$0")/lib.sh"
[ -x "$B/tests/gui/program/atclick" ] || { echo "skip: tests/gui/program/atclick was not built"; exit 77; }
sample_workflow 128 16
start --models "$root/data/demo/models" --device ref --output "$work/out" "$work/sample.json"
need_bus
wait_state ready 60
win_do panel log
has_steps() { [ "$(cat "$HOME"/.local/state/ninodes/studio/worker/steps/*.steps 2>/dev/null | wc -c)" -gt 50000 ]; } # three
steps_of() { grep -o '"name":"step"[^}]*"cat":"step"' "$1" | wc -l; }

win_do run
until_ok 120 has_steps || die "no steps are kept"
win_do cancel
wait_state cancelled 60
at label 'Cancelled after step *, where the same run goes on' wait || die "it does not say where it goes on"
shot resume-cancelled
win_do run
wait_state done 120
win_do export-trace-to "$work/rest.json"; until_ok 30 is_trace "$work/rest.json" || die "no trace of the run"
grep -q 'goes on after step [0-9]* of 16' "$work/rest.json" || die "it did not go on"
n=$(steps_of "$work/rest.json")
[ "$n" -ge 1 ] && [ "$n" -le 13 ] || die "$n steps were computed again"
shot resume-done

# The worker dies in the middle.
win_do set 4.seed=8
win_do run
until_ok 120 has_steps || die "no steps are kept"
kill -KILL "$(pgrep -P $app_pid -x ninodes)"
at button 'Restart the worker' click || die "no way to restart the worker"
at button 'Go on' click || die "no way to go on"
wait_state running 30; wait_state done 120
win_do export-trace-to "$work/last.json"; until_ok 30 is_trace "$work/last.json" || die "no trace of the run"
told() { grep -o '"name":"[^"]*step [0-9]* of[^"]*"' "$1" | sort -u | head -5; } # by messages
grep -q 'goes on after step [0-9]* of 16' "$work/last.json" ||
    die "the new worker did not go on: $(steps_of "$work/last.json") steps in its trace, told: $(told "$work/last.json"); kept: $(ls -l "$HOME"/.local/state/ninodes/studio/worker/steps)"
# Measured again, everything is computed.
win_do measure-again
wait_state "running waiting" 30; wait_state done 120
win_do export-trace-to "$work/again.json"; until_ok 30 is_trace "$work/again.json" || die "no trace of the run"
[ "$(steps_of "$work/again.json")" = 16 ] || die "measured only $(steps_of "$work/again.json") steps"
app_do quit
at button 'Quit anyway' click # the workflow was changed
until_ok 15 gone || die "the app did not quit"
