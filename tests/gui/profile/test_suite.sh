#!/bin/bash
# The benchmark suite in the app: what is measured is chosen, progress is seen, it is cancelled and done again, its table
# and report are read, saved and opened; the app that is quit, or killed, takes the measuring with it.
. "$(dirname "$0")/../lib.sh"
need_people
state=${XDG_STATE_HOME:-$HOME/.local/state}/ninodes/studio/suite
start --device ref --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out"
need_bus
child() { pgrep -P $app_pid -f 'bench suite' >/dev/null; }
no_child() { ! child; }
now() { ATCLICK_SECONDS=0 at "$1" "$2" get; }
is_now() { now "$1" "$2" | grep -Eq -- "$3"; } # ROLE NAME PATTERN

# Where people find it: Profile, its bar.
keys ctrl+2
at button 'Benchmark…' click
at window 'Benchmark suite' wait || die "no window of the suite"
at window 'Benchmark suite' lint || die "controls without a name"
at label 'No result yet' wait || die "something is shown before anything was measured"
is_now button 'Save report…' 'sensitive=0' || die "nothing can be saved"

# Another suite has other cases; without a case nothing can be started.
press button 'Suite: phases'; keys Down Return
at button 'Suite: vae' wait || die "no other suite is chosen"
at checkbox 'decode 512x512' wait || die "its cases are not there"
press checkbox 'decode 512x512'
press checkbox 'decode 256x256'
until_ok 5 is_now button Start 'sensitive=0' || die "the suite starts without a case"
press checkbox 'decode 256x256'
until_ok 5 is_now button Start 'sensitive=1' || die "it cannot be started"
press checkbox 'Memory pool'
shot suite-form

# It is a process of its own; its progress is told; Escape hides the window and ends nothing; Stop ends it.
at button Start click
until_ok 30 child || die "nothing is measured"
at 'progress bar' 'How far the benchmark is' wait || die "no progress"
xdotool key Escape
sleep 0.3; child || die "closing the window ended the measuring"
win_do suite
is_now button Start 'sensitive=0' || die "it can be started twice"
shot suite-runs
at button Stop click
until_ok 10 no_child || die "stopped, and it goes on"
at label 'Stopped; nothing was kept' wait || die "it does not say that it was stopped"

# A result that was kept, here one made by hand, is read: table, report, copy.
mkdir -p "$state/test_data/optimization"
rows() { # SETTING MEDIAN IMPROVEMENT P VERDICT NMSE PSNR
    cat <<END
{"name": "image 128x128", "setting": "$1", "networks": "demo, Flux",
 "config": {"width": 128, "height": 128, "batch_size": 1, "frames": 0, "steps": 2}, "iterations": 10, "average_time": $2,
 "median_time": $2, "min_time": $2, "max_time": $2, "std_dev": 0.25, "mad": 0.125, "throughput": 0.5,
 "peak_memory_bytes": 67108864, "against_baseline": {"rounds": 10, "improvement_percent": $3, "low_percent": $3,
 "high_percent": $3, "p": $4, "verdict": "$5", "nmse": $6, "psnr_db": $7, "largest_255": 1},
 "counters": {"kernels": 100, "share_16_bit": 0.5}, "times": [$2, $2]}
END
}
cat >"$work/kept.json" <<END
{"timestamp": "20261123_120000", "device_info": {"device": "made by hand", "driver": "1", "platform": "p", "ninodes": "0",
 "compute_units": 2, "load_average": 0.5}, "quick": true, "suite": "phases", "seconds": 100,
 "test_cases": [$(rows baseline 2.0 0 null none 0 null), $(rows phase1 1.5 25 0.0039 faster 0 null),
 $(rows "phase1 no-pool" 3.0 -50 0.0039 slower 0.001 41.5)],
 "left_out": [{"name": "image 512x512", "networks": "demo, Flux", "why": "no time was left"}], "claims": []}
END
win_do suite-open-path "$work/kept.json"
at label 'phases, made by hand, *' wait || die "the result is not named"
at window 'Benchmark suite' tree >"$work/tree"
for t in 'image 128x128' 'phase1 no-pool' '−25.0 % faster' '+50.0 % slower' '0.0039' '2.00 s' '41.5 dB' equal '0.5/s' '64 MiB' \
    '125 ms' '250 ms' 'left out: no time was left'; do
    grep -qF "label “$t”" "$work/tree" || die "the table lacks: $t"
done
shot suite-table
press tab Report
is_report() { now 'text*' Report | grep -q "# Phases: the benchmark suite"; }
until_ok 10 is_report || die "no report: $(now 'text*' Report | head -3)"
shot suite-report
win_do suite-save-to "$work/report.md"; win_do suite-save-to "$work/copy.json"
until_ok 10 test -s "$work/copy.json" || die "nothing was saved"
grep -q '^## The claims' "$work/report.md" || die "the report is not whole"
cmp "$work/copy.json" "$work/kept.json" || die "the result was changed as it was saved"
echo '{}' >"$work/bad.json"
win_do suite-open-path "$work/bad.json"
at '*' '*is no result of ninodes bench suite*' wait || die "a wrong file is not refused"

# The app that ends ends it; one that is killed, too.
win_do suite; win_do suite-start
until_ok 30 child || die "it does not start again"
pid=$(pgrep -P $app_pid -f 'bench suite')
dead() { ! kill -0 "$pid" 2>/dev/null; }
quit
until_ok 10 dead || die "the app is gone, its benchmark is not"
start --device ref --models "$root/data/tiny/models" --output "$work/out"
win_do suite; win_do suite-start
until_ok 30 child || die "it does not start in a new app"
pid=$(pgrep -P $app_pid -f 'bench suite')
kill -KILL $app_pid; wait $app_pid 2>/dev/null || true
until_ok 10 dead || die "the app was killed, its benchmark was not"

# To its end, as people would see it.
[ -n "${NINODES_TEST_LONG:-}" ] || { echo "  part skipped: a whole suite takes a minute"; exit 0; }
start --models "$root/data/tiny/models" --output "$work/out"
win_do suite
press button 'Suite: phases'; keys Down Return
press checkbox 'decode 512x512'
at button Start click
ATCLICK_SECONDS=280 at label 'vae, *' wait || die "the suite does not end"
at label phase3 wait || die "no phase 3"
at label baseline wait || die "no baseline"
shot suite-done
quit
