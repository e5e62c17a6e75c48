#!/bin/bash
# The app while calls of the driver fail: once, late, for good, by not returning, by ending the worker. The window answers, the error
# names the node and the call, what was made before and what is unsaved is there, and the next run makes the same picture.
. "$(dirname "$0")/../gui/lib.sh"
layer=$B/tests/fault/tool/cl_layer.so
[ -f "$layer" ] || { echo "skip: tests/fault/tool/cl_layer.so was not built"; exit 77; }
need_people
export OPENCL_LAYERS=$layer NINODES_CL_FAULT=@$work/fault
cp "$root/data/tiny/decode.json" "$work/flow.json"
out=$work/out report=$work/report n=0 faults=0

# fault WORDS: the worker that is started next has this fault
fault() { rm -f "$report"; echo "$1 report=$report" >"$work/fault"; }
picture() { identify -format '%#' "$out/$1_00001_.png"; }
is_worker() { [ "$(state_of worker)" = "$1" ]; }
worker_is() { until_ok "${2:-60}" is_worker "$1" || die "$what: the worker is '$(state_of worker)', not $1"; }
# The window does what it is asked, and has what was changed and what was made.
stays() {
    win_do panel log && win_do panel problems || die "$what: the window does not answer"
    [ "$(picture first)" = "$first" ] || die "$what: an earlier result is another"
}
# restarted WORDS: a new worker with this fault
restarted() {
    local old; old=$(pgrep -P $app_pid -x ninodes || true)
    fault "$1"
    win_do restart-worker
    other() { local p; p=$(pgrep -P $app_pid -x ninodes) && [ "$p" != "$old" ]; }
    until_ok 60 other || die "$what: no new worker"
    worker_is ready
}
# The same workflow under another name, without a fault.
same_again() {
    n=$((n + 1))
    win_do set "4.filename_prefix=again$n"
    win_do run
    until_ok 90 test -s "$out/again${n}_00001_.png" || die "$what: the next run makes nothing: $(state_of state)"
    wait_state done
    [ "$(picture "again$n")" = "$first" ] || die "$what: the next run makes another picture"
    faults=$((faults + 1))
}
# carried_on NAME: the job that the fault took the worker from is done by the next one
carried_on() {
    at button 'Go on' click || die "$what: the queue is not offered"
    until_ok 90 test -s "$out/$1_00001_.png" || die "$what: the job is not done by the next worker"
    wait_state done
    [ "$(picture "$1")" = "$first" ] || die "$what: the next worker makes another picture"
    faults=$((faults + 1))
}
# refused WORDS ERROR: a run with this fault fails and says which call did, in which node
refused() {
    what=$1
    restarted "$1"
    win_do set 4.filename_prefix=never
    win_do run
    wait_state failed
    at label "*$2*" wait || die "$what: the call is not named"
    at '*' '*VAE Decode, node 3, failed*' wait || die "$what: the node is not named"
    [ ! -e "$out/never_00001_.png" ] || die "$what: a run that failed made a picture"
    stays
}

what="no fault"
fault kind=none
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$out" "$work/flow.json"
need_bus
wait_state ready 30
win_do set 4.filename_prefix=first
win_do run; wait_state done 180
first=$(picture first)

refused "kind=once at=1 code=-30 call=clFlush" "clFlush: CL_INVALID_VALUE"
same_again
refused "kind=forever at=1 code=-36 call=clFlush" "clFlush: CL_INVALID_COMMAND_QUEUE"
restarted kind=none
same_again

# a call that does not return: the window goes on, and a worker that is started instead does the job
call=clEnqueueNDRangeKernel
what="kind=hang at=2 call=$call"
restarted "$what"
win_do set 4.filename_prefix=hung
win_do run
hangs() { grep -q "hangs in $call" "$report"; }
until_ok 60 hangs || die "$what: nothing hangs"
stays
fault kind=none
hung=$(pgrep -P $app_pid -x ninodes)
win_do restart-worker
# asked again it ends at once; the long form waits until it does so by itself
[ -n "${NINODES_TEST_LONG:-}" ] || win_do restart-worker
replaced() { ! kill -0 "$hung" 2>/dev/null && is_worker ready; }
until_ok 60 replaced || die "$what: the worker is not replaced"
carried_on hung

# a driver that ends its process
what="kind=abort at=2 call=$call"
restarted "$what"
win_do set 4.filename_prefix=died
win_do run
at label "*The worker was killed by signal 6*" wait || die "$what: it does not say what happened"
at '*' '*VAE Decode, node 3, the worker died in it*' wait || die "$what: the node is not named"
stays
restarted kind=none
carried_on died
app_do quit
at button 'Quit anyway' click # the workflow was changed, and still is
until_ok 15 gone || die "the app did not quit"
PYTHONPATH=$root/tests python3 "$root/tests/figure.py" studio_device "the app while calls of the driver fail" \
    "the window stays, the next run has the same bits" "$faults of 4 faults"
