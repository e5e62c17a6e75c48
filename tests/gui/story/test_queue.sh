#!/bin/bash
# A queue of ten: paused, put into another order by buttons and by dragging, its app and its worker killed; all ten are made, in that order.
. "$(dirname "$0")/../lib.sh"
[ -n "${NINODES_TEST_LONG:-}" ] || { echo "skip: several workers are started; the long check runs it"; exit 77; }
need_people
options=(--device ref --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out")
for i in $(seq 10); do
    sed "s/\"filename_prefix\": *\"[^\"]*\"/\"filename_prefix\": \"job_$i\"/" "$root/data/tiny/decode.json" >"$work/job_$i.json"
done
is_paused() { [ "$(state_of pause)" = "$1" ]; }
is_worker() { [ "$(state_of worker)" = "$1" ]; }
order() { at list Queue tree | sed -n 's/.*list item “job_\([0-9]*\)\.json, waiting.*/\1/p' | tr '\n' ' '; }
is_order() { [ "$(order)" = "${1:+$1 }" ]; }
made() { for i in $(seq 10); do [ -s "$work/out/job_${i}_00001_.png" ] || return 1; done; }
worker() { pgrep -P "$app_pid" -x ninodes; }

start "${options[@]}" "$work/job_1.json"
need_bus
wait_state ready 30
xdotool mousemove 1390 890
win_do restart-worker; until_ok 30 is_worker ready || die "no worker"
keys ctrl+shift+space
until_ok 10 is_paused true || die "it is not paused"
for i in $(seq 10); do
    win_do open-path "$work/job_$i.json"; wait_state ready 10
    keys ctrl+Return
done
keys ctrl+3
until_ok 20 is_order "1 2 3 4 5 6 7 8 9 10" || die "the queue has: $(order)"
press button 'Run next: job_10.json'
until_ok 10 is_order "10 1 2 3 4 5 6 7 8 9" || die "the last one is not the first: $(order)"
press button 'Move down: job_1.json'
until_ok 10 is_order "10 2 1 3 4 5 6 7 8 9" || die "it is not one further down: $(order)"
press button 'Move up: job_9.json'
until_ok 10 is_order "10 2 1 3 4 5 6 7 9 8" || die "it is not one further up: $(order)"
drag_row() { # NAME NAME: with the real pointer, to the place of the other
    local x y to_x to_y
    read -r x y <<<"$(at label "$1" point)"; read -r to_x to_y <<<"$(at label "$2" point)"
    [ -n "${y:-}" ] && [ -n "${to_y:-}" ] || die "there is no row $1 or $2"
    xdotool mousemove "$x" "$y" mousedown 1; sleep 0.1
    xdotool mousemove "$x" $((y + 6)); sleep 0.1; xdotool mousemove "$x" $(((y + to_y) / 2)); sleep 0.1
    xdotool mousemove "$to_x" $((to_y + 3)); sleep 0.1; xdotool mousemove "$to_x" "$to_y"; sleep 0.3
    shot dragged
    xdotool mouseup 1
}
drag_row job_1.json job_6.json
until_ok 10 is_order "10 2 3 4 5 6 1 7 9 8" || die "a row that is dragged down is elsewhere: $(order)"
drag_row job_1.json job_2.json
until_ok 10 is_order "10 1 2 3 4 5 6 7 9 8" || die "a row that is dragged up is elsewhere: $(order)"
press button 'Move down: job_1.json'
until_ok 10 is_order "10 2 1 3 4 5 6 7 9 8" || die "the order is not as before: $(order)"
shot ten
[ ! -e "$work/out" ] || die "something ran: $(ls "$work/out")"

# The worker is killed: the next one has the queue.
kill -KILL "$(worker)"
until_ok 30 is_worker dead || die "nobody noticed that the worker is dead"
win_do restart-worker
until_ok 60 is_worker ready || die "the worker did not come back"
win_do panel queue
until_ok 20 is_order "10 2 1 3 4 5 6 7 9 8" || die "after the worker's end the queue has: $(order)"

# So is the app, with its worker.
kids=$(worker)
kill -KILL "$app_pid" $kids; wait "$app_pid" 2>/dev/null || true
start "${options[@]}"
until_ok 60 is_worker ready || die "no worker after the app's end"
win_do panel queue
until_ok 20 is_order "10 2 1 3 4 5 6 7 9 8" || die "after the app's end the queue has: $(order)"
shot again
[ ! -e "$work/out" ] || die "something ran: $(ls "$work/out")"

# It goes on; the worker is killed once more, while it works.
is_paused true || die "the queue is not paused any more"
keys ctrl+shift+space
until_ok 60 test -s "$work/out/job_10_00001_.png" || die "it does not go on"
kill -KILL "$(worker)"
until_ok 30 is_worker dead || die "nobody noticed that the worker is dead"
win_do restart-worker
until_ok 60 is_worker ready || die "the worker did not come back"
until_ok 3 made || press button "Go on" # a killed job asks before it is tried again
until_ok 120 made || die "lost: $(ls "$work/out")"
first=$(cd "$work/out" && ls -tr --time=birth job_*_00001_.png 2>/dev/null || ls -tr "$work"/out/job_*_00001_.png)
[ "$(echo "$first" | sed 's/.*job_\([0-9]*\)_.*/\1/' | tr '\n' ' ')" = "10 2 1 3 4 5 6 7 9 8 " ] || die "made in another order: $first"
quit
