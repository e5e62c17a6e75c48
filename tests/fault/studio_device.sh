#!/bin/bash
# The app over a driver that fails a call, ends its process, or does not return from one: the run fails with a reason or the
# worker is lost, the app goes on to answer, a worker that hangs can be replaced, and the next start over what is left makes
# the picture of a run without faults.
. "$(dirname "$0")/../gui/lib.sh"
layer=$B/tests/fault/tool/cl_layer.so
[ -f "$layer" ] || { echo "skip: tests/fault/tool/cl_layer.so was not built"; exit 77; }
"$B/ninodes" devices 2>/dev/null | grep -q '^cl' || { echo "skip: no OpenCL device"; exit 77; }
export NINODES_HELPERS=0
options=(--models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out")
"$B/ninodes" run "$root/data/tiny/decode.json" "${options[@]}" --output "$work/first" --no-metadata --telemetry=off -q
pixels() { python3 -c 'import sys; print(open(sys.argv[1], "rb").read().split(b"IDAT", 1)[1].hex())' "$1"; } # without texts

begin() { # [FAULT]: the app, with a driver that has it
    rm -rf "$work/out" "$work/report"
    if [ $# = 0 ]; then
        start "${options[@]}" "$root/data/tiny/decode.json"
    else
        OPENCL_LAYERS=$layer NINODES_CL_FAULT="$1 report=$work/report" start "${options[@]}" "$root/data/tiny/decode.json"
    fi
    wait_state ready 60
}
answers() { actions /window/1 Describe state; }
is_worker() { [ "$(state_of worker)" = "$1" ]; }
tried=0
fails() { # FAULT WHAT: the run fails, and the app goes on
    begin "$1"
    win_do run
    wait_state failed 120
    answers || die "$2: the app does not answer"
    [ -z "$(ls "$work/out" 2>/dev/null)" ] || die "$2: a file in spite of the error"
    quit
    tried=$((tried + 1))
}
fails "kind=forever at=1 code=-36 call=clEnqueueNDRangeKernel" "a device that is lost"
if [ -n "${NINODES_TEST_LONG:-}" ]; then
    fails "kind=forever at=1 code=-4 call=clCreateBuffer" "buffers that are refused"
    fails "kind=late at=1 code=-5 call=clEnqueueNDRangeKernel" "a kernel that fails later"
fi
fails "kind=abort at=1 code=6 call=clEnqueueNDRangeKernel" "a driver that aborts"

# it does not return: the worker can be replaced, and left
begin "kind=hang at=1 call=clEnqueueNDRangeKernel"
win_do run
hangs() { grep -q 'hangs in' "$work/report"; }
until_ok 60 hangs || die "a driver that hangs: it was not reached"
answers || die "a driver that hangs: the app does not answer"
old=$(pgrep -P $app_pid -x ninodes)
win_do restart-worker
replaced() { ! kill -0 "$old" 2>/dev/null; }
until_ok 60 replaced || die "a driver that hangs: its worker is still there"
until_ok 60 is_worker ready || die "a driver that hangs: no new worker: $(state_of worker)"
quit
tried=$((tried + 1))

# and over the same settings and queue, without a fault, the picture of a run without the app
begin
win_do run
wait_state done 120
for f in "$work"/out/*.png; do
    [ "$(pixels "$f")" = "$(pixels "$(ls "$work"/first/*.png)")" ] || die "another picture"
done
quit
PYTHONPATH=$root/tests python3 "$root/tests/figure.py" studio_device "OpenCL calls that fail, abort or hang below the app" \
    "it goes on, the next start is well" "$tried cases"
