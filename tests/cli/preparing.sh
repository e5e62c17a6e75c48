#!/bin/bash
# Preparing kernels is a line of its own in the table, in JSON, metrics and progress, in no node's time; "run it again" is
# advised only where the next run has more than this one had.
set -u
cd "$(dirname "$0")/../.."
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: python3 is not installed"; exit 77; }
export NINODES_CACHE_DIR=$tmp/cache
"$N" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
again() { grep -q 'Run it again' "$tmp/out"; }

expect 0 "$N" run data/tiny/decode.json $TINY --output "$tmp/o" --trace "$tmp/first.ninotrace"
said '(preparing kernels, [1-9]'
expect 0 "$N" monitor --once "$tmp/first.ninotrace"
printed '(preparing kernels, [1-9]'
again || die "the first run compiled, and the next one need not"
expect 0 "$N" monitor --metrics "$tmp/first.ninotrace"
printed '^ninodes_preparing_seconds_total [0-9]'
expect 0 "$N" monitor --once --json "$tmp/first.ninotrace"
tail -1 "$tmp/out" | python3 -c '
import json, sys
d = json.load(sys.stdin)["data"]
assert d["preparing"]["programs"] > 0, d["preparing"]
nodes = sum(n["ms"] for n in d["nodes"])
assert d["preparing"]["ms"] > 100, d["preparing"]
' || die "JSON has no time of preparing"

# What a driver compiles at a kernel's first launch is in no node's time: each kernel has a stage of its own.
if "$N" devices | grep -q pthread; then
    expect 0 "$N" trace convert "$tmp/first.ninotrace" "$tmp/first.json"
    python3 - "$tmp/first.json" <<'EOF' || die "kernels without a stage of their first launch"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
kernels = {e["name"] for e in events if e.get("cat") == "kernel"}
stages = [e["name"][len("compile at launch: "):] for e in events
          if e.get("name", "").startswith("compile at launch: ") and e["ph"] == "B"]
print(kernels, stages)
assert kernels and kernels == set(stages) and len(stages) >= len(kernels)
EOF
fi

expect 0 "$N" run data/tiny/decode.json $TINY --output "$tmp/o" --trace "$tmp/second.ninotrace"
expect 0 "$N" monitor --once "$tmp/second.ninotrace"
again && die "the second run had all kernels, yet a third one is advised"

# Nobody keeps them: neither our cache nor the driver's.
export NINODES_CACHE_DIR=/dev/null/nowhere POCL_KERNEL_CACHE=0
expect 0 "$N" run data/tiny/decode.json $TINY --output "$tmp/o" --trace "$tmp/third.ninotrace"
expect 0 "$N" monitor --once "$tmp/third.ninotrace"
again && die "kernels that nobody keeps are said to be there the next time"
exit 0
