#!/bin/bash
# F5 is cancelled: while one of its runs goes on, while it waits in a paused queue, and by "Interrupt". The measuring ends, the
# message says so, nothing more runs, other jobs are left alone, and the app goes on.
. "$(dirname "$0")/lib.sh"
[ -d "$root/data/demo/models" ] || { echo "skip: no demo model"; exit 77; }
sample_workflow 64 12
start --models "$root/data/demo/models" --device ref --output "$work/out" "$work/sample.json"
wait_state ready 60
files() { ls "$work/out" 2>/dev/null | grep -c '^sampled'; }
has_files() { [ "$(files)" -ge "$1" ]; }
jobs() { "$B/ninodes" jobs ls --json 2>/dev/null | grep -o '"state": *"[a-z]*"' | sort | uniq -c | tr -s ' \n' ' '; }
says=
! has_bus || says=yes
said() { [ -z "$says" ] || at '*' "$1" wait || die "the message is not: $1"; }
quiet() { # nothing is queued or runs, and no file comes
    until_ok 30 eval '! jobs | grep -q "running\|waiting"' || die "it runs on: $(jobs)"
    n=$(files); sleep 1; [ "$(files)" = "$n" ] || die "it runs on: $(files) files"
}
win_do run
wait_state done 120

win_do measure-again
wait_state running 60
said 'Measuring: run 1 of 6'
if [ -n "$says" ]; then at button Cancel click; else win_do cancel-measuring; fi
said 'Measuring was cancelled in run 1 of 6'
wait_state cancelled 30
quiet
shot cancelled

# It waits: what runs or waits beside it is left alone.
win_do pause
win_do measure-again
until_ok 30 eval 'jobs | grep -q waiting' || die "it is not in the queue: $(jobs)"
win_do cancel-measuring
said 'Measuring was cancelled in run 1 of 6'
quiet
win_do set 4.seed=8
win_do run
until_ok 30 eval 'jobs | grep -q waiting' || die "the app does not queue any more: $(jobs)"
win_do measure-again
until_ok 30 eval 'jobs | grep -q "2 .state.: *.waiting"' || die "it cannot be measured again: $(jobs)"
win_do cancel-measuring
until_ok 30 eval 'jobs | grep -q "1 .state.: *.waiting"' || die "not its own job alone was cancelled: $(jobs)"
n=$(files)
win_do resume
wait_state done 120
has_files $((n + 1)) || die "no file of the run beside it"
quiet

win_do measure-again
wait_state running 60
win_do cancel # "Interrupt"
said 'Measuring was cancelled in run 1 of 6'
quiet
app_do quit
at button 'Quit anyway' click 2>/dev/null || kill $app_pid # the workflow was changed
until_ok 15 gone || die "the app did not quit"
