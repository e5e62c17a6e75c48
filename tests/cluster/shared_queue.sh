# worker --queue: three workers take jobs from a Redis that the test starts on a socket of its own. One is killed in the
# middle of a job: nothing is lost, nothing is done twice for who looks at files and states.
. tests/cli/common
[ -d data/demo/models ] || { echo "skip: no demo model"; exit 77; }
. tests/cluster/redis
Q="unix://$tmp/redis.sock?stream=pictures"
W=data/workflows/text_to_image.json
SMALL="--set EmptySD3LatentImage.width=32 --set EmptySD3LatentImage.height=32 --set KSampler.steps=1 --no-metadata"
worker() { # NAME OPTION...: its pid in $worker
    name=$1
    shift
    "$N" worker --queue "$Q" --claim-after 1 --device ref --models data/demo/models --output "$tmp/out-dir" "$@" \
        >"$tmp/$name.out" 2>"$tmp/$name.err" &
    worker=$!
    pids="$pids $worker"
}
add() { expect 0 "$N" jobs add $W --queue "$Q" $SMALL "$@"; id=$(cat "$tmp/out"); }

# the result of a job is that of a run
expect 0 "$N" run $W --models data/demo/models --device ref --telemetry=off -q $SMALL --seed 1 --output "$tmp/one"
add --seed 1
first=$id
worker a --return 1M
expect 0 "$N" jobs wait "$first" --queue "$Q"
cmp "$(cat "$tmp/out")" "$tmp/one/text_to_image_00001_.png" || die "another picture than of a run"
[ "$(cat "$tmp/out")" = "$(realpath "$tmp/out-dir")/$first/text_to_image_00001_.png" ] || die "not in a folder of its own"
expect 0 "$N" jobs wait "$first" --queue "$Q" --output "$tmp/back"
cmp "$tmp/back/text_to_image_00001_.png" "$tmp/one/text_to_image_00001_.png" || die "another picture came back"
a=$worker

# one that takes long is in the hands of a, which is killed
add --seed 2 --set KSampler.steps=9999
long=$id
for _ in $(seq 600); do [ "$(cli hget "pictures:job:$long" state)" = running ] && break; sleep 0.05; done
for _ in $(seq 600); do [ -n "$(cli hget "pictures:job:$long" progress)" ] && break; sleep 0.05; done
[ -n "$(cli hget "pictures:job:$long" progress)" ] || die "no progress is told"
cli hset "pictures:job:$long" workflow "$(cli hget "pictures:job:$long" workflow | sed 's/\b9999\b/1/')" >/dev/null # for the next
kill -9 "$a"
ids=$long
for s in 3 4 5 6 7; do add --seed $s; ids="$ids $id"; done
worker b
b=$worker
worker c
c=$worker
for i in $ids; do
    expect 0 "$N" jobs wait "$i" --queue "$Q"
    [ "$(wc -l <"$tmp/out")" = 1 ] || die "job $i: not one file"
done
[ "$(ls -A "$tmp/out-dir" | sort)" = "$(printf '%s\n' $first $ids | sort)" ] || die "left: $(ls -A "$tmp/out-dir")"
[ "$(find "$tmp/out-dir" -type f | wc -l)" = 7 ] || die "files: $(find "$tmp/out-dir" -type f)"
[ "$(cli hget "pictures:job:$long" attempts)" = 2 ] || die "attempts: $(cli hget "pictures:job:$long" attempts)"
[ "$(cli xlen pictures)" = 0 ] || die "entries are left in the stream"
expect 0 "$N" jobs ls --queue "$Q"
[ "$(grep -c ' done ' "$tmp/out")" = 7 ] || die "not seven jobs are done"
expect 0 "$N" jobs ls --queue "$Q" --json
json_lines "$tmp/out" ok
printed '"state":"done"'

# a job that was done by a worker which died before it could say so is not done again
inode=$(stat -c %i "$tmp/out-dir/$long/text_to_image_00001_.png")
cli hset "pictures:job:$long" state running attempts 1 >/dev/null
cli del pictures >/dev/null
cli xadd pictures "$long" name again >/dev/null
expect 0 "$N" jobs wait "$long" --queue "$Q"
[ "$(stat -c %i "$tmp/out-dir/$long/text_to_image_00001_.png")" = "$inode" ] || die "its files were made twice"

# a worker that is asked to end hands its job on at once; one that is cancelled ends
cli del pictures >/dev/null # ids of entries start anew
add --seed 8 --set KSampler.steps=9999
for _ in $(seq 600); do [ -n "$(cli hget "pictures:job:$id" progress)" ] && break; sleep 0.05; done
holder=$(cli hget "pictures:job:$id" worker)
case $holder in *-$b-*) kill -TERM "$b"; wait "$b" ;; *-$c-*) kill -TERM "$c"; wait "$c" ;; *) die "nobody has it: $holder" ;; esac
for _ in $(seq 600); do
    now=$(cli hget "pictures:job:$id" worker)
    [ "$now" != "$holder" ] && [ -n "$(cli hget "pictures:job:$id" progress)" ] && break
    sleep 0.05
done
[ "$now" != "$holder" ] || die "it was not handed on"
expect 0 "$N" jobs cancel "$id" --queue "$Q"
expect 130 "$N" jobs wait "$id" --queue "$Q"
said cancelled
[ ! -e "$tmp/out-dir/$id" ] || die "a cancelled job has left files"

# what cannot run fails and stays failed; what is wrong with the command line
add --set CheckpointLoaderSimple.ckpt_name=none.safetensors
expect 1 "$N" jobs wait "$id" --queue "$Q"
said 'none.safetensors'
expect 75 "$N" jobs ls --queue "unix://$tmp/nothing.sock?stream=x"
expect 2 "$N" jobs ls --queue "redis://"
expect 2 "$N" jobs ls --queue "rediss://host/x"
said 'TLS'
expect 2 "$N" jobs pause --queue "$Q"
NINODES_REDIS_PASSWORD=wrong-one expect 75 "$N" jobs ls --queue "$Q"
! grep -rl "tops3cret\|wrong-one" "$tmp"/*.err "$tmp"/*.out "$tmp/err" "$tmp/out" || die "a password was told"
exit 0
