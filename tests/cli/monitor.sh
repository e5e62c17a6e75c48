# Attaching to a run of another process: late, several at once, until it ends, after it was killed.
. tests/cli/common
[ -d data/tiny/models ] || { echo "skip: no demo model"; exit 77; }
long_workflow

expect 4 "$N" monitor
said 'no run to watch'
expect 4 "$N" monitor 1
expect 4 "$N" monitor "$tmp/none.sock"

# the app beside the program, else the one in PATH
[ -x "${B:-build}/ninodes-studio" ] || {
    expect 4 env PATH=/nonexistent "$N" monitor --gui
    said 'ninodes-studio cannot be started'
}

"$N" run "$tmp/long.json" $TINY --output "$tmp/o" >"$tmp/run.out" 2>"$tmp/run.err" &
pid=$!
await "$tmp/run.err" '3/4'
for _ in $(seq 600); do # until the first tile has begun
    "$N" monitor --once >"$tmp/once" 2>/dev/null
    ! grep -q ' tile ' "$tmp/once" || break
    sleep 0.1
done
[ "$(stat -c %a "$tmp/run/ninodes")" = 700 ] || die "mode of the folder"
[ "$(stat -c %a "$tmp/run/ninodes/$pid.sock")" = 600 ] || die "mode of the socket"
expect 0 "$N" monitor --once
printed "^$pid: \[3/4\] 3 VAEDecodeTiled"
printed 'pool: peak'
expect 0 "$N" monitor $pid --once --json
json_lines "$tmp/out" ok
printed '"state":"\[3/4\] 3 VAEDecodeTiled'
"$N" monitor "$tmp/run/ninodes/$pid.sock" >"$tmp/m1" 2>/dev/null &
m1=$!
for _ in $(seq 600); do # until it is connected: the next one is behind it
    ! ls -l /proc/$m1/fd 2>/dev/null | grep -q socket: || break
    sleep 0.1
done
"$N" monitor --json >"$tmp/m2" 2>"$tmp/err" &
m2=$!
await "$tmp/m2" '"type":"tile"'
kill -TERM $pid
wait $pid
wait $m1 || die "a monitor of a run that ended: $?"
wait $m2 || die "a monitor of a run that ended: $?"
grep -q '3 VAEDecodeTiled' "$tmp/m1" || die "no table"
json_lines "$tmp/m2" ok

rm "$tmp/run.err"
"$N" run "$tmp/long.json" $TINY --output "$tmp/o" >"$tmp/run.out" 2>"$tmp/run.err" &
pid=$!
await "$tmp/run.err" '3/4'
"$N" monitor --json >"$tmp/m3" 2>"$tmp/err" &
m3=$!
await "$tmp/m3" '"type":"tile"'
kill -KILL $pid
wait $m3
[ $? = 75 ] || die "a killed run is a lost contact"
json_lines "$tmp/m3" error
expect 4 "$N" monitor # what the dead one left is swept
[ -z "$(ls "$tmp/run/ninodes")" ] || die "a stale socket"

# a trace of the own form: whole at any time, shown, summed up and converted
expect 0 "$N" run data/tiny/decode.json $TINY --output "$tmp/o" --trace "$tmp/t.ninotrace"
expect 0 "$N" trace check "$tmp/t.ninotrace"
expect 0 "$N" trace summary "$tmp/t.ninotrace"
printed '% peak'
expect 0 "$N" monitor "$tmp/t.ninotrace"
printed 'advice: '
printed '% peak'
expect 0 "$N" monitor "$tmp/t.ninotrace" --json
json_lines "$tmp/out" ok
printed '"type":"executing"'
printed '"type":"device".*"busy_percent":.*"ram_available":[1-9]'
printed '"type":"host".*"ram.total":[1-9].*"process.ram":[1-9]'
printed '"peak_percent":'
printed '"work_sizes":\[{"name":"gemm","family":"conv","global":"[0-9]*x[0-9]*x1","local":"[0-9]*x1x1","calls":[0-9]'
# for dashboards: every sample belongs to a family that was declared, once, before it
metrics_ok() {
    awk '
        $1 == "#" && $2 == "TYPE" { if (seen[$3]++) { print "twice: " $3; bad = 1 } family = $3; type = $4; next }
        $1 == "#" && $2 == "HELP" && $3 == family { next }
        $0 == "# EOF" { end = NR; next }
        { name = $1; sub(/[{].*/, "", name); want = family (type == "counter" ? "_total" : "")
          if (name != want || $NF !~ /^[-+0-9.e]+$/ || end) { print "line " NR ": " $0; bad = 1 } }
        END { exit bad || end != NR }' "$tmp/out" || die "no OpenMetrics"
}
expect 0 "$N" monitor "$tmp/t.ninotrace" --metrics
metrics_ok
printed '^ninodes_node_seconds_total{node="3 VAEDecode"} [0-9.e-]*$'
printed '^ninodes_kernel_calls_total{kernel="gemm",family="conv"} [1-9]'
printed '^ninodes_pool_peak_bytes [1-9]'
printed '^ninodes_ram_available_bytes [1-9]'
printed '^ninodes_process_resident_bytes [1-9]'
expect 0 "$N" monitor "$tmp/t.ninotrace" --json
sizes() { grep -o '"work_sizes":.*' "$tmp/out"; }
as_written=$(sizes)
expect 0 "$N" trace convert "$tmp/t.ninotrace" "$tmp/t.json"
expect 0 "$N" trace check "$tmp/t.json"
expect 0 "$N" trace summary "$tmp/t.json" --json
[ "$(sizes)" = "$as_written" ] || die "the converted trace tells other work sizes"
# kept runs in their order of time: the same run five times is no trend, four are too few for one
mkdir "$tmp/runs"
for i in 1 2 3 4; do cp "$tmp/t.ninotrace" "$tmp/runs/$i.ninotrace"; touch -d "2026-11-23 12:00:0$i" "$tmp/runs/$i.ninotrace"; done
expect 0 "$N" trace trend "$tmp/runs"
printed "^decode.json" && printed "2026-11-23 12:00:04 .* +0.0 %" && printed "too few to tell from chance"
cp "$tmp/t.ninotrace" "$tmp/runs/5.ninotrace"
expect 0 "$N" trace trend "$tmp/runs"
printed "over 5 runs, noise band 0.0 %, p 1: no trend shown"
expect 0 "$N" trace trend "$tmp/runs" --json
json_lines "$tmp/out" ok
grep -q '"verdict":"none"' "$tmp/out" || die "no verdict"
XDG_STATE_HOME="$tmp/no_state" expect 0 "$N" trace trend
printed "no run that has ended"
expect 4 "$N" trace trend "$tmp/no/such"
expect 2 "$N" trace summary
expect 0 "$N" trace diff "$tmp/t.json" "$tmp/t.ninotrace"
# for Perfetto: written by a run and from a trace; not read back
expect 0 "$N" trace convert "$tmp/t.ninotrace" "$tmp/t.pftrace"
[ "$(head -c 1 "$tmp/t.pftrace" | od -An -tx1)" = " 0a" ] || die "no packet"
expect 0 "$N" trace convert "$tmp/t.json" "$tmp/u.pftrace.gz"
gzip -dc "$tmp/u.pftrace.gz" | grep -aq 'conv' || die "no kernels in the trace for Perfetto"
expect 3 "$N" trace summary "$tmp/t.pftrace"
said 'written only'
expect 0 "$N" run data/tiny/decode.json $TINY --output "$tmp/o" --trace "$tmp/v.pftrace"
grep -aq '3 VAEDecode' "$tmp/v.pftrace" || die "no nodes in the trace for Perfetto"
expect 0 "$N" trace convert "$tmp/t.ninotrace" "$tmp/t.other" # any other ending: Chrome JSON
expect 0 "$N" trace check "$tmp/t.other"
# what cannot be read leaves the file that it was to become as it is; a trace may become itself
printf '{"traceEvents": [' >"$tmp/cut.json"
for form in ninotrace pftrace json; do
    echo before >"$tmp/kept.$form"
    expect 1 "$N" trace convert "$tmp/cut.json" "$tmp/kept.$form"
    [ "$(cat "$tmp/kept.$form")" = before ] || die "a trace that cannot be read took kept.$form away"
done
cp "$tmp/t.ninotrace" "$tmp/itself.ninotrace"
expect 0 "$N" trace convert "$tmp/itself.ninotrace" "$tmp/itself.ninotrace"
expect 0 "$N" trace diff "$tmp/t.ninotrace" "$tmp/itself.ninotrace" --json
expect 0 "$N" trace check "$tmp/itself.ninotrace"
printf 'no trace' >"$tmp/bad.ninotrace"
expect 1 "$N" monitor "$tmp/bad.ninotrace"

# the screen: of tiles that two devices share it names who did how many
"$N" run "$tmp/long.json" $TINY --device ref,ref --trace "$tmp/shared.json" --output "$tmp/o" >"$tmp/run.out" 2>"$tmp/shared.err" &
pid=$!
cat >"$tmp/screen.py" <<'EOF'
import os, pty, re, signal, sys
child, fd = pty.fork()
if not child:
    os.execvpe(sys.argv[1], sys.argv[1:], dict(os.environ, TERM="xterm", COLUMNS="140", LINES="40"))
signal.alarm(60)
seen = b""
while not re.search(rb"ref#2 \d+, [0-9.]+ s each", seen):
    seen += os.read(fd, 65536)
os.write(fd, b"q")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
EOF
if command -v python3 >/dev/null; then
    await "$tmp/shared.err" '3/4'
    python3 "$tmp/screen.py" "$N" monitor $pid >"$tmp/screen" 2>&1 || die "the screen does not name the devices: $(tail -1 "$tmp/screen")"
else
    echo "part skipped: no python3"
fi
kill -TERM $pid
wait $pid
exit 0
