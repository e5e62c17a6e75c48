# One target under an engine (make fuzz): BUILD NAME SECONDS [afl]. Ends with 1 and the input's path when one failed.
B=$1 name=$2 seconds=$3 engine=$4
top=$(cd "$B" && pwd)/found/$name
kept=tests/data/fuzz/$name
mkdir -p "$top/seeds" "$top/corpus" "$top/failed"
"$B/tests/fuzz/$name" -w "$top/seeds" || exit 1
[ ! -d "$kept" ] || cp "$kept"/* "$top/seeds"
export ASAN_OPTIONS=${ASAN_OPTIONS:-use_sigaltstack=0:detect_odr_violation=0}
if [ "$engine" = afl ]; then
    export AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_AUTORESUME=1
    ASAN_OPTIONS=$ASAN_OPTIONS:abort_on_error=1:symbolize=0
    export LSAN_OPTIONS=symbolize=0
    afl-fuzz -V "$seconds" -t 10000 -i "$top/seeds" -o "$top/afl" -x "$top/seeds.dict" -m none -- "$B/engine/$name" >"$top/log" 2>&1
    sed -n 's/^\(execs_done\|execs_per_sec\|corpus_count\|saved_crashes\|saved_hangs\) *: /\1 /p' "$top/afl/default/fuzzer_stats" || {
        tail -20 "$top/log"
        exit 1
    }
    bad=$(find "$top/afl/default/crashes" "$top/afl/default/hangs" -name 'id:*' | head -5)
else
    rm -f "$top/failed"/*
    "$B/engine/$name" -max_total_time="$seconds" -max_len="$(cat "$top/seeds.len")" -timeout=10 -rss_limit_mb=2048 -dict="$top/seeds.dict" \
        -artifact_prefix="$top/failed/" -print_final_stats=1 "$top/corpus" "$top/seeds" >"$top/log" 2>&1
    status=$?
    bad=$(find "$top/failed" -type f)
    [ "$status" = 0 ] || [ -n "$bad" ] || bad="exit status $status"
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: */runs /p; s/^stat::average_exec_per_sec: */a second /p;
        s/^stat::peak_rss_mb: */MiB /p' "$top/log" | tr '\n' ' ')cov $(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$top/log" | tail -1)"
fi
[ -z "$bad" ] || {
    grep -aE 'ERROR|runtime error|CHECK|failed|SUMMARY' "$top/log" | head -12
    echo "failed: $bad"
    exit 1
}
