#!/bin/bash
# An app that comes to read only when a run is long over (it was stopped meanwhile, as on a machine that has no time for it) shows
# the same as one that saw all of it: the error of a run that failed, marks of its nodes, a measurement that goes on.
. "$(dirname "$0")/lib.sh"
command -v pgrep >/dev/null || { echo "skip: no pgrep"; exit 77; }
mkdir "$work/in"; printf 'no picture' >"$work/in/broken.png"
cat >"$work/fails.json" <<'END'
{"1": {"class_type": "LoadImage", "inputs": {"image": "broken.png"}},
 "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
 "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "never"}}}
END
cat >"$work/goes.json" <<'END'
{"1": {"class_type": "EmptyLatentImage", "inputs": {"width": 64, "height": 64, "batch_size": 1}},
 "2": {"class_type": "SaveLatent", "inputs": {"samples": ["1", 0], "filename_prefix": "made"}}}
END
queue=${XDG_STATE_HOME:-$HOME/.local/state}/ninodes/studio/worker/queue.json
kept() { [ "$(grep -o '"state":"'"$1"'"' "$queue" 2>/dev/null | wc -l)" = "$2" ]; }
# late ACTION STATE N: the app is stopped once it has asked, until the worker has N jobs that ended so
late() {
    kill -STOP "$worker"
    win_do "$1"; state_of state >/dev/null # by its second answer the request is on its way
    kill -STOP $app_pid
    kill -CONT "$worker"
    until_ok 60 kept "$2" "$3" || { kill -CONT $app_pid; die "$1: no $3 jobs $2"; }
    kill -CONT $app_pid
}
late=$B/tests/fault/tool/late_link.so
[ -f "$late" ] || { echo "skip: tests/fault/tool/late_link.so was not built"; exit 77; }
NINODES_LATE_LINK=$work/heard LD_PRELOAD=$late start --models "$root/data/tiny/models" --input "$work/in" --output "$work/out" "$work/goes.json"
need_bus
wait_state ready 30
# A run that was over when the app first heard of its worker's queue is news all the same.
win_do run
until_ok 180 kept done 1 || die "the first run does not end" # kernels may be compiled for it
touch "$work/heard"
wait_state done 30
worker=$(pgrep -P $app_pid -x ninodes)

cp "$work/goes.json" "$work/again.json" # never ran: it asks for the run at once
win_do open-path "$work/again.json"; wait_state ready 10
late measure-again done 2
ATCLICK_SECONDS=60 at label 'Measured in 5 runs*' wait || die "the measurement does not go on after a run that was over at once"

win_do open-path "$work/fails.json"; wait_state ready 10
late run failed 1
wait_state failed 20
at label '*broken.png*' wait || die "why the run failed is not told"
at '*' 'Load Image, node 1, failed*' wait || die "the node that failed is not marked"
ATCLICK_SECONDS=1 at '*' 'Save Image, node 3, queued*' wait 2>/dev/null && die "a node of a run that is over waits"
at label '*broken.png*' wait || die "why the run failed is told no more"
shot late
quit
