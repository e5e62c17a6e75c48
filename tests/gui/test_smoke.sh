#!/bin/bash
# Smoke test of the app: opens a workflow, runs it in the worker, shows the picture, cancels, survives a dead worker and bad files.
# The app is driven through its D-Bus actions; SHOTS=DIR keeps the screenshots.
. "$(dirname "$0")/lib.sh"

start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out" "$root/data/tiny/decode.json"
wait_state ready 20
shot ready

# A function of the app with the name of one of the library would be called in its place.
names() { nm "$@" | awk 'NF == 3 && $2 ~ /[TDBR]/ { print $3 }' | grep '^nino_' | sort; }
if command -v nm >/dev/null; then
    same=$(comm -12 <(names -D --defined-only "$B/libninodes.so") <(names --defined-only "$B/ninodes-studio"))
    [ -z "$same" ] || die "the app redefines $same"
fi

win_do run
wait_state done 120
shot done
n=$(find "$work/out" -name '*.png' | wc -l)
[ "$n" = 1 ] || die "expected one picture, found $n"
# Something other than grey must now be on the screen: the picture and the coloured plot.
colours=$(convert "$SHOTS/done.png" -format %k info:)
before=$(convert "$SHOTS/ready.png" -format %k info:)
[ "$colours" -gt "$((before + 100))" ] || die "nothing new was drawn: $before then $colours colours"

# Cancel: enabled only while it runs, and the window can run again afterwards.
win_do run
until_ok 20 enabled cancel || true
win_do cancel
wait_state "cancelled done"

# A worker that dies takes nothing with it: the window says so, and the next one goes on.
is_worker() { [ "$(state_of worker)" = "$1" ]; }
kill -KILL "$(pgrep -P $app_pid -x ninodes)"
until_ok 30 is_worker dead || die "nobody noticed that the worker is dead"
shot dead
win_do restart-worker
until_ok 60 is_worker ready || die "the worker did not come back"
win_do run
wait_state done 120

# A workflow with problems opens in a second tab, says so and cannot be run.
printf '{"1":{"class_type":"NoSuchNode","inputs":{}},"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"x"}}}' >"$work/bad.json"
win_do open-path "$work/bad.json"
wait_state invalid 10
enabled run && die "a workflow with errors can be run"
shot invalid
quit
