#!/bin/bash
# Without an OpenCL device the app says what was found and what to do, as the command line does; with --device ref it works.
. "$(dirname "$0")/lib.sh"
[ -x "$B/tests/gui/program/atclick" ] || { echo "skip: tests/gui/program/atclick was not built"; exit 77; }
"$B/ninodes" devices 2>/dev/null | grep -q '^cl:0' || { echo "skip: no OpenCL device"; exit 77; }
export OCL_ICD_VENDORS=$work
options=(--models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out")
start "${options[@]}" "$root/data/tiny/decode.json"
need_bus
wait_state ready 20
win_do run # which starts the worker
at label '*The worker ended: no OpenCL device can be used: no driver*to do: install a driver*--device ref*' wait ||
    die "it does not say why there is no device"
shot nodevice
quit
start "${options[@]}" --device ref "$root/data/tiny/decode.json"
wait_state ready 20
win_do run
wait_state done 120
quit
