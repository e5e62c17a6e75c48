#!/bin/bash
# How a batch and a queue go with 1, 2 and 4 workers on this machine:   bench/scale.sh [BUILD-FOLDER]
# For each number of workers, in turn and ROUNDS times each (default 5), median and spread of the wall time of
#   parts   run --shard I/N in N processes at once, then gather
#   tiles   the node VAEDecodeTiled of a picture of TILED pixels a side, on one device of PoCL with all processors, and on
#           two with a half of them each (1 and 2 only)
#   queue   JOBS jobs in a Redis of its own, N workers that are already there (device open, kernels compiled)
# Every process gets an equal share of the processors (taskset), so that on one machine what more workers cost is seen, not what
# more machines bring: a ratio of 1 is no cost. WHAT="parts tiles queue" names those to measure, where not all of them at once. On N machines the time of `parts` is about that of a part on all of its
# processors, and of `gather`, which is told on its own.
set -eu
cd "$(dirname "$0")/.."
B=${1:-build}
N=$PWD/$B/ninodes
ROUNDS=${ROUNDS:-5} JOBS=${JOBS:-16} SIDE=${SIDE:-128} STEPS=${STEPS:-10} BATCH=${BATCH:-8} TILED=${TILED:-768} DEVICE=${DEVICE:-cl}
WHAT=" ${WHAT:-parts tiles queue} "
tmp=$(mktemp -d)
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null || true; done; wait 2>/dev/null; rm -rf "$tmp"' EXIT
export XDG_RUNTIME_DIR=$tmp/run XDG_STATE_HOME=$tmp/state
mkdir -m 700 "$tmp/run"
W="data/workflows/text_to_image.json --set EmptySD3LatentImage.width=$SIDE --set EmptySD3LatentImage.height=$SIDE --set KSampler.steps=$STEPS --no-metadata -q"
RUN="--models data/demo/models --device $DEVICE"
cpus=$(nproc)
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.3f\n", b - a }'; }
cpus_of() { # INDEX N: its share of the processors, at least one
    local each=$((cpus / $2 > 0 ? cpus / $2 : 1))
    local first=$((($1 * each) % cpus))
    echo "$first-$((first + each - 1))"
}
stats() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.2f s (%.2f to %.2f)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

parts() { # N: the time of the parts, and of gather
    rm -rf "$tmp/parts" "$tmp/joined"
    local t p=
    t=$(now)
    for i in $(seq "$1"); do
        taskset -c "$(cpus_of $((i - 1)) "$1")" "$N" run $W $RUN --telemetry=off --set EmptySD3LatentImage.batch_size=$BATCH \
            --shard "$i/$1" --parts "$tmp/parts" >/dev/null &
        p="$p $!"
    done
    for i in $p; do wait "$i"; done
    since "$t" >>"$tmp/parts.$1"
    t=$(now)
    "$N" gather $W $RUN --set EmptySD3LatentImage.batch_size=$BATCH --parts "$tmp/parts" --output "$tmp/joined" >/dev/null
    since "$t" >>"$tmp/gather.$1"
}
queue() { # N
    local t ids= p= url="unix://$tmp/redis.sock?stream=q$1-$RANDOM"
    for i in $(seq "$1"); do
        taskset -c "$(cpus_of $((i - 1)) "$1")" "$N" worker --queue "$url" $RUN --output "$tmp/out" -q >/dev/null 2>&1 &
        p="$p $!"
    done
    pids="$pids $p"
    for _ in $(seq $((2 * $1))); do # each has run one
        ids="$ids $("$N" jobs add $W --queue "$url")"
    done
    for i in $ids; do "$N" jobs wait "$i" --queue "$url" -q >/dev/null; done
    ids=
    t=$(now)
    for s in $(seq "$JOBS"); do ids="$ids $("$N" jobs add $W --seed "$s" --queue "$url")"; done
    for i in $ids; do "$N" jobs wait "$i" --queue "$url" -q >/dev/null; done
    since "$t" >>"$tmp/queue.$1"
    kill $p
    for i in $p; do wait "$i" || true; done
}

cat >"$tmp/tiles.json" <<EOF
{"1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "demo_flux.safetensors"}},
 "2": {"class_type": "EmptySD3LatentImage", "inputs": {"width": $TILED, "height": $TILED, "batch_size": 1}},
 "3": {"class_type": "VAEDecodeTiled", "inputs": {"samples": ["2", 0], "vae": ["1", 2], "tile_size": 128, "overlap": 32,
   "temporal_size": 64, "temporal_overlap": 8}},
 "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "t"}}}
EOF
tiles() { # N: the time of the node alone; a trace keeps the run one
    local dev=cl:0 list=pthread
    [ "$1" = 1 ] || dev=cl:0,cl:1 list="pthread pthread"
    rm -rf "$tmp/tiled.$1"
    POCL_DEVICES=$list POCL_MAX_PTHREAD_COUNT=$((cpus / $1 > 0 ? cpus / $1 : 1)) "$N" run "$tmp/tiles.json" --models data/demo/models \
        --device $dev --no-metadata --trace "$tmp/tiles.trace.json" --telemetry=off --output "$tmp/tiled.$1" -q >/dev/null
    python3 - "$tmp/tiles.trace.json" >>"$tmp/tiles.$1" <<'EOF'
import json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
begin = [e for e in events if "VAEDecodeTiled" in e.get("name", "") and e.get("ph") == "B"]
end = [e for e in events if begin and e.get("ph") == "E" and e.get("tid") == begin[0]["tid"] and e["ts"] > begin[0]["ts"]]
print("%.3f" % ((end[0]["ts"] - begin[0]["ts"]) * 1e-6))
EOF
}

has() { case $WHAT in *" $1 "*) ;; *) return 1 ;; esac; }
has_redis=
if has queue && command -v redis-server >/dev/null; then
    redis-server --port 0 --unixsocket "$tmp/redis.sock" --save '' --dir "$tmp" >/dev/null &
    pids="$pids $!"
    has_redis=1
    for _ in $(seq 50); do [ -S "$tmp/redis.sock" ] && break; sleep 0.1; done
fi
"$N" run $W $RUN --telemetry=off --output "$tmp/warm" >/dev/null # kernels
for r in $(seq "$ROUNDS"); do
    for n in 1 2 4; do
        ! has parts || parts $n
        [ -z "$has_redis" ] || queue $n
        [ "$n" = 4 ] || [ "$DEVICE" = ref ] || ! has tiles || tiles $n
    done
done
load() { cut -d' ' -f1 /proc/loadavg; }
ratio() { awk -v a="$(median "$1.$2")" -v b="$(median "$1.1")" 'BEGIN { printf "%.2f", a / b }'; }
echo "device $("$N" devices --json | tail -1 | grep -o '"name":"[^"]*"' | head -1), $cpus processors shared out, load $(load), $ROUNDS rounds in turn"
! has parts || echo "parts: batch of $BATCH, $SIDE x $SIDE, $STEPS steps"
[ -z "$has_redis" ] || echo "queue: $JOBS jobs of one, $SIDE x $SIDE, $STEPS steps"
for n in 1 2 4; do
    ! has parts || echo "workers $n  parts $(stats "$tmp/parts.$n")  ratio $(ratio "$tmp/parts" $n)  gather $(stats "$tmp/gather.$n")"
    [ -z "$has_redis" ] || echo "workers $n  queue $(stats "$tmp/queue.$n")  ratio $(ratio "$tmp/queue" $n)"
done
if [ -s "$tmp/tiles.2" ]; then
    cmp "$tmp"/tiled.1/t_00001_.png "$tmp"/tiled.2/t_00001_.png
    echo "tiles of 128, $TILED pixels a side: 1 device $(stats "$tmp/tiles.1")  2 devices $(stats "$tmp/tiles.2")  ratio $(ratio "$tmp/tiles" 2)"
fi
