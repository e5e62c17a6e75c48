# What a run leaves that is killed while it writes is gone with the next run there; what a living one is writing, and
# the files of others, stay.
. tests/cli/common
W=data/tiny/decode.json
[ -f $W ] || { echo "skip: no $W"; exit 77; }
long_workflow
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
parts() { ls -A "$tmp/o" | grep -c '^\.t\.json\.[0-9]*\.[0-9]*\.ninodes\.part$'; }
writing() { # a run whose trace is being written: its process is $pid
    rm -f "$tmp/run.err" # what the run before has said, until this one has begun
    "$N" run "$tmp/long.json" $TINY --device ref --telemetry=off --output "$tmp/o" --trace "$tmp/o/t.json" >"$tmp/run.out" 2>"$tmp/run.err" &
    pid=$!
    await "$tmp/run.err" '3/4'
}

mkdir "$tmp/o"
foreign=".t.json.1.1.part .t.json.999999.1.part .film.part .x.ninodes.part"
for f in $foreign; do echo other >"$tmp/o/$f"; done
writing
kill -9 $pid
wait $pid 2>/dev/null
[ "$(parts)" -ge 1 ] || die "nothing was left: $(ls -A "$tmp/o")"
writing # it sweeps, and lives on
[ "$(parts)" = 1 ] || die "$(parts) instead of its own: $(ls -A "$tmp/o")"
expect 0 "$N" run $W $TINY --device ref --telemetry=off --output "$tmp/o" -q
[ "$(parts)" = 1 ] || die "another run took what is being written"
kill -TERM $pid
wait $pid
[ $? = 143 ] || die "the run did not go on: $(cat "$tmp/run.err")"
[ -s "$tmp/o/t.json" ] && [ "$(parts)" = 0 ] || die "no trace: $(ls -A "$tmp/o")"
for f in $foreign; do [ "$(cat "$tmp/o/$f")" = other ] || die "$f is gone"; done
writing
kill -9 $pid
wait $pid 2>/dev/null
pid=
[ "$(parts)" = 1 ] || die "nothing was left"
expect 0 "$N" run $W $TINY --device ref --telemetry=off --output "$tmp/o" -q
[ "$(parts)" = 0 ] || die "it is still there: $(ls -A "$tmp/o")"

# In the cache as well, in folders that a run may have nothing to write into.
mkdir -p "$tmp/cache/ceilings"
left=$tmp/cache/ceilings/.device.json.1.1.ninodes.part
: >"$left"
NINODES_CACHE_DIR=$tmp/cache expect 0 "$N" run $W $TINY --device ref --telemetry=off --output "$tmp/o" -q
[ ! -e "$left" ] || die "what a killed run left in the cache is still there"
exit 0
