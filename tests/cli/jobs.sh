# ninodes jobs: a job that is added and waited for at once, and a worker that is named by number or socket.
. tests/cli/common
[ -d data/tiny/models ] || { echo "skip: no demo model"; exit 77; }
mkdir "$tmp/o"
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
: >"$tmp/sock"
"$N" worker --state "$tmp/state" --models data/tiny/models --input data/tiny/input --output "$tmp/o" >"$tmp/sock" 2>"$tmp/worker.err" &
pid=$!
await "$tmp/sock" 'ninodes/.*sock'
sock=$(cat "$tmp/sock")

# the lists of the worker come when they come: the job it has just taken is never "no job"
for i in $(seq "$([ -n "${NINODES_TEST_LONG-}" ] && echo 200 || echo 50)"); do
    expect 0 "$N" jobs add data/tiny/decode.json --wait -q
    [ -f "$(cat "$tmp/out")" ] || die "no picture of round $i"
    expect 0 "$N" jobs remove "$i"
done
expect 1 "$N" jobs wait 1
said 'there is no job 1'

for w in "$pid" "$sock"; do
    expect 0 "$N" jobs ls --worker "$w"
    expect 0 "$N" jobs add data/tiny/decode.json --wait -w "$w"
    printed png
done
expect 4 "$N" jobs ls --worker 1
expect 2 "$N" run data/tiny/decode.json --precision fp12
said 'one of auto|fp32|fp16|bf16|mixed'
expect 0 "$N" jobs shutdown --worker "$sock"
wait $pid
