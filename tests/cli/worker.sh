# ninodes worker and jobs: a queue that is paused, reordered, changed, cancelled, and survives kill -9.
. tests/cli/common
[ -d data/tiny/models ] || { echo "skip: no demo model"; exit 77; }
long_workflow
W="$N worker --state $tmp/state --models data/tiny/models --input data/tiny/input --output $tmp/o"
mkdir "$tmp/o"
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT

start() { # a worker in the background, reachable when this returns
    : >"$tmp/sock"
    $W "$@" >"$tmp/sock" 2>"$tmp/worker.err" &
    pid=$!
    await "$tmp/sock" 'ninodes/.*sock'
}
J() { expect 0 "$N" jobs "$@"; }
ids() { J ls && awk 'NR > 1 { printf "%s:%s ", $1, $2 }' "$tmp/out"; }
is() { got=$(ids); [ "$got" = "$1" ] || die "queue is '$got', not '$1'"; }
until_is() { # waits (a minute) until the list has a job in that state
    for _ in $(seq 600); do
        ids | grep -q "$1" && return 0
        sleep 0.1
    done
    die "never saw $1"
}

expect 4 "$N" jobs ls
said 'no worker runs'
expect 2 "$N" jobs lst
expect 2 "$N" jobs cancel one

start
J ls
silent out
J pause
for i in 1 2 3; do
    J add data/tiny/decode.json
    printed "^$i\$"
done
is '1:waiting 2:waiting 3:waiting '
J move 3 --front
J set 2 SaveImage.filename_prefix=zwei
is '3:waiting 1:waiting 2:waiting '
J workflow 2
printed zwei
expect 1 "$N" jobs set 2 SaveImage.nothing=1
said nothing
expect 1 "$N" jobs set 77 SaveImage.filename_prefix=x
said 'no job 77'
echo '{"1": {"class_type": "NoSuchNode", "inputs": {}}}' >"$tmp/bad.json"
expect 3 "$N" jobs add "$tmp/bad.json"
said NoSuchNode

# a second worker may not have the same folder
expect 1 "$N" worker --state "$tmp/state" --models data/tiny/models
said 'another worker'

# two who watch, and a third who comes and goes
"$N" monitor $pid --json >"$tmp/view1" 2>/dev/null &
v1=$!
"$N" monitor $pid --json >"$tmp/view2" 2>/dev/null &
v2=$!
J resume
J wait 2
printed 'o/zwei_00001_.png'
[ -f "$(cat "$tmp/out")" ] || die "no picture"
is '2:done 1:done 3:done '
J ls --json
json_lines "$tmp/out" ok
J show 3 --json
printed '"state":"done"'

# a job by its number
expect 0 "$N" monitor 3 --once
printed "^$pid: "
expect 4 "$N" monitor 777 --once

# cancel: the running one, a waiting one
J add "$tmp/long.json"
J add data/tiny/decode.json
until_is '4:running'
J cancel 5
J cancel
expect 130 "$N" jobs wait 4
is '4:cancelled 5:cancelled 2:done 1:done 3:done '

# pause in the middle of a job, then cancel it
J add "$tmp/long.json"
until_is '6:running'
J pause
J ls
said paused
J cancel 6
expect 130 "$N" jobs wait 6
J resume

# a worker that dies loses nothing
J add "$tmp/long.json"
J add data/tiny/decode.json
until_is '7:running'
kill -9 $pid
wait $pid 2>/dev/null
wait $v1 $v2
for v in 1 2; do
    json_lines "$tmp/view$v" error
    [ "$(grep -c '"type":"output"' "$tmp/view$v")" = 3 ] || die "viewer $v did not see three pictures"
done
expect 4 "$N" jobs ls
start
J ls
said 'paused: the worker died while job 7'
printed '7  waiting .*: the worker died in it$'
is '7:waiting 8:waiting 6:cancelled 4:cancelled 5:cancelled 2:done 1:done 3:done '
J show 2
[ -f "$(cat "$tmp/out")" ] || die "the picture is gone"
J workflow 2
printed zwei
J remove 7
J resume
J wait 8
[ -f "$(cat "$tmp/out")" ] || die "no picture after the restart"

# an orderly end keeps what runs and what waits
J pause
J add "$tmp/long.json"
J add data/tiny/decode.json --front
J resume
J wait 10
until_is '9:running'
J shutdown
wait $pid
[ $? = 0 ] || die "shutdown"
[ -z "$(ls "$tmp/run/ninodes")" ] || die "a socket was left"
start
until_is '9:running'
J retry 8
J trim
J reload
J shutdown
wait $pid
start --resume
J cancel 9
J wait 11
J remove
is ''
kill -TERM $pid
wait $pid
[ $? = 143 ] || die "SIGTERM"
pid=
[ "$(ls "$tmp/state")" = "$(printf 'queue.json\nworker.lock')" ] || die "left: $(ls "$tmp/state")"

# one that may end by itself stays while somebody watches, finishes what it has, and keeps what waits in a paused queue
start --idle-end 1
"$N" monitor $pid --json >"$tmp/view3" 2>/dev/null &
v1=$!
await "$tmp/view3" event
sleep 3
kill -0 $pid 2>/dev/null || die "it ended though it was watched"
sed 's/4096/1536/g' "$tmp/long.json" >"$tmp/short.json"
J add "$tmp/short.json"
until_is ':running'
kill $v1
wait $v1 $pid
[ $? = 0 ] || die "the needless worker did not end well"
[ -z "$(ls "$tmp/run/ninodes")" ] || die "a socket was left"
start --idle-end 1
is '12:done '
J pause
J add data/tiny/decode.json
wait $pid
[ $? = 0 ] || die "the paused worker did not end"
start
is '13:waiting 12:done '
J shutdown
wait $pid

# a damaged queue: what there is of it waits, paused whatever was asked, and the worker and the list say why
head -c 100 "$tmp/state/queue.json" >"$tmp/cut"
cp "$tmp/cut" "$tmp/state/queue.json"
start --resume
grep -q "state: queue.json was damaged (.*) and is queue.json.damaged now: 2 jobs wait again" "$tmp/worker.err" ||
    die "the worker does not say it: $(cat "$tmp/worker.err")"
[ "$(wc -l <"$tmp/worker.err")" = 1 ] || die "more than a line: $(cat "$tmp/worker.err")"
cmp "$tmp/cut" "$tmp/state/queue.json.damaged" || die "the damaged queue is gone"
J ls
said 'paused: queue.json was damaged'
is '12:waiting 13:waiting '
J remove 12
J add data/tiny/decode.json --models "$PWD/data/tiny/models" --input "$PWD/data/tiny/input" --output "$tmp/o"
printed '^14$'
J shutdown
wait $pid
echo '{"1": {"class_ty' >"$tmp/state/job-13.json" # a damaged workflow fails, alone
start --resume
expect 1 "$N" jobs wait 13
said job-13.json
J wait 14
is '14:done 13:failed '
J ls
printed '13  failed .* job-13.json: control character'
J shutdown
wait $pid
pid=
mkdir "$tmp/state2" && chmod 700 "$tmp/state2" && mkdir "$tmp/state2/queue.json" # what cannot be read is named
expect 1 "$N" worker --state "$tmp/state2"
said "$tmp/state2/queue.json: not a regular file"

# killed again and again, at any moment: the queue stands, and all of it is done in the end
if [ -n "$NINODES_TEST_LONG" ]; then
    start
    J remove # of those above
    J pause
    for i in $(seq 8); do J add data/tiny/decode.json --set "SaveImage.filename_prefix=kill$i"; done
    kill -9 $pid
    wait $pid 2>/dev/null
    for i in $(seq 20); do
        start --resume
        sleep "0.0$((i * 37 % 10))$((i % 7))"
        kill -9 $pid
        wait $pid 2>/dev/null
    done
    start --resume
    for _ in $(seq 600); do
        ids | grep -q -e waiting -e running || break
        sleep 0.1
    done
    [ "$(ids | tr ' ' '\n' | awk -F: '$1 > 14 && $2 == "done"' | wc -l)" = 8 ] || die "not all are done: $(ids)"
    for i in $(seq 8); do
        [ -f "$tmp/o/kill${i}_00001_.png" ] || die "no picture of job $i"
    done
    J shutdown
    wait $pid
fi

# a run answers pause, resume, cancel and trim as well
"$N" run "$tmp/long.json" $TINY --output "$tmp/o2" >"$tmp/run.out" 2>"$tmp/run.err" &
pid=$!
await "$tmp/run.err" '3/4'
J pause
J ls
said paused
printed '1  running'
J trim
expect 3 "$N" jobs add data/tiny/decode.json
said 'no queue'
J resume
J cancel
wait $pid
[ $? = 130 ] || die "cancelled run"
pid=
exit 0
