#!/bin/bash
# A damaged file among PoCL's compiled kernels ends the worker: the app says what happened and where the kernels went, and the
# worker that is started then does the job that waits.
. "$(dirname "$0")/lib.sh"
[ -x "$B/tests/gui/program/atclick" ] || { echo "skip: tests/gui/program/atclick was not built"; exit 77; }
options=(--models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out")
export NINODES_CACHE_DIR=$work/cache
"$B/ninodes" run "$root/data/tiny/decode.json" "${options[@]}" -q >/dev/null
find "$work/cache/pocl" -name '*.so' >"$work/list" 2>/dev/null || true
[ -s "$work/list" ] || { echo "skip: PoCL keeps no libraries here"; exit 77; }
while read -r f; do truncate -s 3000 "$f"; done <"$work/list"
rm -r "$work/out"

start "${options[@]}" "$root/data/tiny/decode.json"
need_bus
wait_state ready 20
win_do run
at label "*The worker was killed by signal 7*crashed (bus error)*$work/cache/pocl is now $work/cache/pocl.aside-1*" wait ||
    die "it does not say what happened"
shot crashed
win_do restart-worker
at button 'Go on' click || die "the queue is not offered"
until_ok 90 test -s "$work/out/demo_00001_.png" || die "the job is not done"
wait_state done
quit
