# Functions for the scripts that drive the app. Source it first: it re-starts the script inside a display of its own and sets
# root, work (a folder that goes away), B. start ARGS... starts the app, its log is $SHOTS/app.log.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
B=${B:-build}
case $B in /*) ;; *) B=$root/$B ;; esac
[ -x "$B/ninodes-studio" ] || { echo "skip: the app was not built"; exit 77; }
if [ -z "${NINO_GUI_INSIDE:-}" ]; then
    NINO_GUI_INSIDE=1 B=$B exec bash "$here/display.sh" bash "$0" "$@"
fi
work=$(mktemp -d)
app_pid=
trap 'kill $app_pid 2>/dev/null || true; rm -rf "$work" 2>/dev/null || { sleep 2; rm -rf "$work"; } || true' EXIT # a helper may still write there
path=/org/ninodes/Studio

die() { echo "$*"; tail -20 "$SHOTS/app.log" 2>/dev/null; shot failed 2>/dev/null; exit 1; }
actions() { gdbus call --session -d org.ninodes.Studio -o "$path$1" -m "org.gtk.Actions.$2" "${@:3}"; }
app_do() { actions "" Activate "$1" "[${2:+<'$2'>}]" '{}' >/dev/null; } # app_do ACTION [TEXT]
# The names of all live views, in whichever room they are.
live_views() { sed -n 's/^    \.id = "\([a-z-]*\)",$/\1/p' "$root"/gui/*/*.c; }
win_do() { actions /window/1 Activate "$1" "[${2:+<'$2'>}]" '{}' >/dev/null; }
state_of() { actions /window/1 Describe "$1" 2>/dev/null | sed -n "s/.*<'\?\([a-z0-9]*\)'\?>.*/\1/p"; }
enabled() { actions /window/1 Describe "$1" 2>/dev/null | grep -q '^((true'; }
until_ok() { # SECONDS COMMAND...: tries again until it succeeds
    local n=$(($1 * 10)); shift
    for _ in $(seq $n); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done
    return 1
}
is_state() { s=$(state_of state || true); case " $1 " in *" $s "*) [ -n "$s" ] ;; *) false ;; esac; }
wait_state() { until_ok "${2:-60}" is_state "$1" || die "the state is '$(state_of state)', expected one of: $1"; } # STATES [SECONDS]
shot() { sleep 0.4; [ -n "${NINO_GUI_WAYLAND:-}" ] || import -window root "$SHOTS/$1.png"; }
# at ROLE NAME COMMAND: what a screen reader would do; skips where there is no accessibility bus
at() { "$B/tests/gui/program/atclick" ninodes-studio "$@"; }
start() {
    "$B/ninodes-studio" "$@" >>"$SHOTS/app.log" 2>&1 &
    app_pid=$!
    until_ok 30 actions /window/1 Describe state || die "the app does not answer"
}
quit() {
    app_do quit
    until_ok 15 gone || die "the app did not quit"
}
# drop X Y FILE...: drags files from another window to a place of the screen.
drop() {
    local x=$1 y=$2 source id step; shift 2
    "$B/tests/gui/program/drop_source" "$@" >>"$SHOTS/drop.log" 2>&1 &
    source=$!
    id=$(timeout 60 xdotool search --sync --onlyvisible --name '^drop source$' | tail -1)
    xdotool windowmove --sync "$id" 1295 60; sleep 0.3
    xdotool mousemove 1340 100; sleep 0.1; xdotool mousedown 1
    for step in 1330 1310 1250 1000 700 "$((x + 20))" "$x"; do xdotool mousemove "$step" "$y"; sleep 0.08; done
    sleep 0.3; xdotool mouseup 1; sleep 0.3
    kill "$source"; wait "$source" 2>/dev/null || true
}
gone() { ! kill -0 $app_pid 2>/dev/null; }
is_trace() { "$B/ninodes" trace check "$1"; }
# sample_workflow SIDE STEPS: $work/sample.json, a sampling of the demo without a decode, seconds on any processor
sample_workflow() {
    cat >"$work/sample.json" <<END
{"1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "demo_flux.safetensors"}},
 "2": {"class_type": "CLIPTextEncode", "inputs": {"text": "a red circle on a blue background", "clip": ["1", 1]}},
 "3": {"class_type": "EmptySD3LatentImage", "inputs": {"width": $1, "height": $1, "batch_size": 1}},
 "4": {"class_type": "KSampler", "inputs": {"seed": 7, "steps": $2, "cfg": 1.0, "sampler_name": "euler", "scheduler": "simple",
   "denoise": 1, "model": ["1", 0], "positive": ["2", 0], "negative": ["2", 0], "latent_image": ["3", 0]}},
 "5": {"class_type": "SaveLatent", "inputs": {"samples": ["4", 0], "filename_prefix": "sampled"}}}
END
}
# What people do: the pointer pressed on a thing, keys, text. A story of them counts what it needs in $acts.
acts=0
need_people() {
    [ -x "$B/tests/gui/program/atclick" ] || { echo "skip: tests/gui/program/atclick was not built"; exit 77; }
    command -v xdotool >/dev/null || { echo "skip: xdotool is not installed"; exit 77; }
}
# A window that does not come onto a bus that is there, be the machine ever so slow, is no reason to skip.
has_bus() {
    [ -x "$B/tests/gui/program/atclick" ] || return 1
    gdbus call --session -d org.a11y.Bus -o /org/a11y/bus -m org.a11y.Bus.GetAddress >/dev/null 2>&1 || return 1
    at window '*' wait || die "the window is not on the accessibility bus"
}
need_bus() { has_bus || { echo "skip: no accessibility bus"; quit; exit 77; }; }
press() { # ROLE NAME [BUTTON]
    local x y
    read -r x y <<<"$(at "$1" "$2" point)"
    [ -n "${y:-}" ] || die "there is no $1 “$2” to press"
    xdotool mousemove "$x" "$y" click "${3:-1}"
    acts=$((acts + 1))
}
keys() { xdotool key --delay 20 "$@"; acts=$((acts + 1)); }
text() { xdotool type --delay 20 -- "$1"; }
