#!/bin/bash
# Smoke test of the app: opens a workflow, runs it through the worker, shows the picture, cancels, survives bad files.
# The app is driven through its D-Bus actions; SHOTS=DIR keeps the screenshots.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
B=${B:-build}
[ -x "$B/ninodes-studio" ] || { echo "skip: the app was not built"; exit 77; }
if [ -z "${NINO_GUI_INSIDE:-}" ]; then
    NINO_GUI_INSIDE=1 exec bash "$here/display.sh" bash "$0"
fi

root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
app_pid=
trap 'kill $app_pid 2>/dev/null || true; rm -rf "$work"' EXIT

path=/org/ninodes/Studio
call() { gdbus call --session -d org.ninodes.Studio -o "$path/window/$1" -m "org.gtk.Actions.$2" "${@:3}"; }
state() { call "$1" Describe state 2>/dev/null | sed -n "s/.*<'\([a-z]*\)'>.*/\1/p"; }
wait_state() { # window, wanted states, seconds
    for _ in $(seq $(($3 * 10))); do
        s=$(state "$1" || true)
        case " $2 " in *" $s "*) [ -n "$s" ] && return 0 ;; esac
        sleep 0.1
    done
    echo "window $1 is '$s', expected one of: $2"
    cat "$SHOTS/app.log"
    return 1
}
shot() { import -window root "$SHOTS/$1.png"; }

"$B/ninodes-studio" --models "$root/data/tiny/models" --input "$root/data/tiny/input" \
    --output "$work/out" "$root/data/tiny/decode.json" >"$SHOTS/app.log" 2>&1 &
app_pid=$!
wait_state 1 ready 20
shot ready

call 1 Activate run '[]' '{}' >/dev/null
wait_state 1 done 120
sleep 0.5
shot done
n=$(find "$work/out" -name '*.png' | wc -l)
[ "$n" = 1 ] || { echo "expected one picture, found $n"; exit 1; }
# Something other than grey must now be on the screen: the picture and the coloured plot.
colours=$(convert "$SHOTS/done.png" -format %k info:)
before=$(convert "$SHOTS/ready.png" -format %k info:)
[ "$colours" -gt "$((before + 100))" ] || { echo "nothing new was drawn: $before then $colours colours"; exit 1; }

# Cancel: enabled only while it runs, and the window can run again afterwards.
call 1 Activate run '[]' '{}' >/dev/null
call 1 Activate cancel '[]' '{}' >/dev/null
wait_state 1 "cancelled done" 30
call 1 Activate run '[]' '{}' >/dev/null
wait_state 1 done 120

# A worker that dies takes nothing with it.
call 1 Activate run '[]' '{}' >/dev/null
pkill -KILL -P $app_pid -x ninodes || true
wait_state 1 "failed done" 30
call 1 Activate run '[]' '{}' >/dev/null
wait_state 1 done 120

# A workflow with problems opens in a second window, says so and cannot be run.
printf '{"1":{"class_type":"NoSuchNode","inputs":{}},"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"x"}}}' >"$work/bad.json"
gdbus call --session -d org.ninodes.Studio -o $path -m org.freedesktop.Application.Open "['file://$work/bad.json']" '{}' >/dev/null
wait_state 2 invalid 10
shot invalid
kill -0 $app_pid
gdbus call --session -d org.ninodes.Studio -o $path -m org.gtk.Actions.Activate quit '[]' '{}' >/dev/null
for _ in $(seq 50); do kill -0 $app_pid 2>/dev/null || exit 0; sleep 0.1; done
echo "the app did not quit"
exit 1
