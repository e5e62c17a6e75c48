#!/bin/bash
# The app's worker outlives an app that was killed as long as it has work, is found by the next app, and ends with the app or
# soon after it; nobody is left behind.
. "$(dirname "$0")/lib.sh"
command -v pgrep >/dev/null || { echo "skip: no pgrep"; exit 77; }
cat >"$work/long.json" <<'END'
{"1": {"class_type": "EmptyLatentImage", "inputs": {"width": 4096, "height": 4096, "batch_size": 1}},
 "2": {"class_type": "VAELoader", "inputs": {"vae_name": "vae_tiny.safetensors"}},
 "3": {"class_type": "VAEDecodeTiled", "inputs": {"samples": ["1", 0], "vae": ["2", 0], "tile_size": 128, "overlap": 32,
   "temporal_size": 64, "temporal_overlap": 8}},
 "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "long"}}}
END
options=(--models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out")
worker_of() { worker=$(pgrep -P $app_pid -x ninodes); [ -n "$worker" ]; }
ended() { ! kill -0 "$worker" 2>/dev/null; }
is_worker() { [ "$(state_of worker)" = "$1" ]; }

# killed while a job runs: the worker goes on, and the next app shows it from its start
start "${options[@]}" "$work/long.json"
wait_state ready 20
win_do run
wait_state running 60
worker_of || die "no worker"
kill -KILL $app_pid; wait $app_pid 2>/dev/null || true
start "${options[@]}"
until_ok 30 is_worker ready || die "the worker that survived was not found: $(state_of worker)"
ended && die "the worker died with its app"
[ -z "$(pgrep -P $app_pid -x ninodes)" ] || die "a second worker was started"
shot found
# it takes what this app asks for
win_do cancel
win_do open-path "$root/data/tiny/decode.json"
wait_state "ready done cancelled" 30
win_do run
wait_state done 120
# restarting it makes a worker of this app
win_do restart-worker
until_ok 60 ended || die "the old worker did not end"
until_ok 60 is_worker ready || die "no new worker: $(state_of worker)"
worker_of || die "the new worker is not this app's"

# the app is told to end (logout, kill): so does its worker, and unsaved work is kept
win_do set "4.filename_prefix=unsaved"
kill -TERM $app_pid; wait $app_pid || die "the app did not end well"
until_ok 15 ended || die "a worker was left behind"
start "${options[@]}"
at '*' '*recovered*' wait || die "unsaved work was not recovered"
win_do run
wait_state done 120
worker_of || die "no worker"
# killed when there is nothing to do: the worker ends by itself
kill -KILL $app_pid; wait $app_pid 2>/dev/null || true
until_ok 120 ended || die "an idle worker without an app did not end"
