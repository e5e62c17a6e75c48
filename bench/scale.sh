#!/bin/bash
# How a batch and a queue go with 1, 2 and 4 workers on this machine:   bench/scale.sh [BUILD-FOLDER]
# For each number of workers, in turn and ROUNDS times each (default 5), median and spread of the wall time of
#   parts   run --shard I/N in N processes at once, then gather
#   queue   JOBS jobs in a Redis of its own, N workers that are already there (device open, kernels compiled)
# Every process gets an equal share of the processors (taskset), so that on one machine what more workers cost is seen, not what
# more machines bring: a ratio of 1 is no cost. On N machines the time of `parts` is about that of a part on all of its
# processors, and of `gather`, which is told on its own.
set -eu
cd "$(dirname "$0")/.."
B=${1:-build}
N=$PWD/$B/ninodes
ROUNDS=${ROUNDS:-5} JOBS=${JOBS:-16} SIDE=${SIDE:-128} STEPS=${STEPS:-10} BATCH=${BATCH:-8} DEVICE=${DEVICE:-cl}
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

has_redis=
if command -v redis-server >/dev/null; then
    redis-server --port 0 --unixsocket "$tmp/redis.sock" --save '' --dir "$tmp" >/dev/null &
    pids="$pids $!"
    has_redis=1
    for _ in $(seq 50); do [ -S "$tmp/redis.sock" ] && break; sleep 0.1; done
fi
"$N" run $W $RUN --telemetry=off --output "$tmp/warm" >/dev/null # kernels
for r in $(seq "$ROUNDS"); do
    for n in 1 2 4; do
        parts $n
        [ -z "$has_redis" ] || queue $n
    done
done
echo "device $("$N" devices --json | tail -1 | grep -o '"name":"[^"]*"' | head -1), $cpus processors shared out, load $(cut -d' ' -f1 /proc/loadavg)"
echo "parts: batch of $BATCH, $SIDE x $SIDE, $STEPS steps; queue: $JOBS jobs of one; $ROUNDS rounds in turn"
for n in 1 2 4; do
    printf 'workers %d  parts %s  ratio %s  gather %s' $n "$(stats "$tmp/parts.$n")" \
        "$(awk -v a="$(median "$tmp/parts.$n")" -v b="$(median "$tmp/parts.1")" 'BEGIN { printf "%.2f", a / b }')" "$(stats "$tmp/gather.$n")"
    [ -z "$has_redis" ] || printf '  queue %s  ratio %s' "$(stats "$tmp/queue.$n")" \
        "$(awk -v a="$(median "$tmp/queue.$n")" -v b="$(median "$tmp/queue.1")" 'BEGIN { printf "%.2f", a / b }')"
    echo
done
