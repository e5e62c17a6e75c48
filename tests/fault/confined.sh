# What gets to run in a worker starts no program and reaches no network, though its helpers compile kernels and the driver
# links them; --config worker.confined=false lets it. Tried from inside, by an OpenCL layer in the place of a driver.
. tests/cli/common
layer=$PWD/$B/tests/fault/tool/cl_layer.so
[ "${B#/}" = "$B" ] || layer=$B/tests/fault/tool/cl_layer.so
[ -f "$layer" ] || { echo "skip: tests/fault/tool/cl_layer.so was not built"; exit 77; }
"$N" devices 2>/dev/null | grep -q '^cl' || { echo "skip: no OpenCL device"; exit 77; }
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT

# worker [OPTION...]: runs one job in a worker whose driver looks around; $tmp/report is what it found
worker() {
    rm -f "$tmp/report" "$tmp/sock"
    : >"$tmp/sock"
    env OPENCL_LAYERS="$layer" NINODES_CL_FAULT="kind=probe at=100 report=$tmp/report" $helpers \
        "$N" worker -v --state "" $TINY --output "$tmp/o" "$@" >"$tmp/sock" 2>"$tmp/worker.err" &
    pid=$!
    await "$tmp/sock" 'ninodes/.*sock'
    expect 0 "$N" jobs add data/tiny/decode.json --wait
    expect 0 "$N" jobs shutdown
    wait $pid || die "the worker ended with $?"
    pid=
    [ "$(grep -c '^probe' "$tmp/report")" -ge 1 ] || die "the driver looked at nothing"
}
found() { grep -q "^probe.* $1" "$tmp/report" || die "not $1: $(cat "$tmp/report")"; }

# with no kernel kept and helpers that compile them
helpers="NINODES_HELPERS=1"
[ -z "$NINODES_TEST_LONG" ] || helpers="NINODES_HELPERS=1 NINODES_CACHE_DIR=$tmp/cache"
worker
grep -q 'confined: .*no network' "$tmp/worker.err" || { echo "skip: $(grep confined "$tmp/worker.err")"; exit 77; }
found inet=13 # EACCES
found unix=0
found uring=1 # EPERM
if grep -q 'confined: no programs' "$tmp/worker.err"; then
    found exec=13
else
    echo "part skipped: this kernel has no Landlock"
fi
if [ -n "$NINODES_TEST_LONG" ]; then
    [ "$(find "$tmp/cache/kernels" -name '*.bin' | wc -l)" -gt 2 ] || die "no kernel was kept"
    for _ in $(seq 600); do # a helper that only keeps binaries outlives its worker
        [ "$(grep -c '^calls' "$tmp/report")" -gt 1 ] && break
        sleep 0.1
    done
    [ "$(grep -c '^calls' "$tmp/report")" -gt 1 ] || die "no helper compiled"
fi

worker --config worker.confined=false
found exec=0
found inet=0
! grep -q confined "$tmp/worker.err" || die "it says that it is confined"
PYTHONPATH=tests python3 tests/figure.py confined "code in a worker that starts programs or reaches the network" "refused" \
    "programs, sockets of the network and io_uring refused; helpers and the driver's linker work"
