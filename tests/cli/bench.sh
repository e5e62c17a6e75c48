#!/bin/sh
# ninodes bench and ninodes tune: what they print, keep, compare and forget, in their shortest forms.
. tests/cli/common
export NINODES_CACHE_DIR=$tmp/cache
few="-d ref --quick -n 1 --warmup 1"

expect 0 "$N" bench group_norm -d ref --quick -n 4 --save "$tmp/base.json"
printed "^device: "
printed "yardstick"
printed "group_norm_f32_1x64x65x256"
expect 0 "$N" bench group_norm $few --json
json_lines "$tmp/out" ok
expect 0 "$N" bench group_norm $few --csv
printed "^device,name,n,mean_ms"
[ "$(wc -l <"$tmp/out")" = 2 ] || die "a head and a line"
# against what was kept: far slower, and far faster
sed 's/"ratio": \([0-9.]*\)/"ratio": 1e-6/' "$tmp/base.json" >"$tmp/fast.json"
sed 's/"ratio": \([0-9.]*\)/"ratio": 1e6/' "$tmp/base.json" >"$tmp/slow.json"
expect 7 "$N" bench group_norm -d ref --quick -n 4 --baseline "$tmp/fast.json" --fail-over 5%
said "longer than in the baseline"
printed "change"
expect 0 "$N" bench group_norm $few --baseline "$tmp/slow.json" --fail-over 5%
expect 4 "$N" bench group_norm $few --baseline "$tmp/none.json"
said "bench --save FILE" # before anything is measured
expect 1 "$N" bench group_norm $few --baseline data/tiny/decode.json
expect 2 "$N" bench no_such_case $few
expect 2 "$N" bench group_norm $few --fail-over 5%
expect 2 "$N" bench group_norm $few --baseline "$tmp/base.json" --fail-over much
expect 5 "$N" bench group_norm -d cl:77

# a whole workflow; its pictures are not kept, and what earlier runs of the user have left is
before=$(find output 2>/dev/null | sort)
expect 0 "$N" bench data/tiny/decode.json $TINY -d ref -n 1 --warmup 1
printed "decode"
[ "$(find output 2>/dev/null | sort)" = "$before" ] || die "a folder of results was left"

# against itself: in turn, with models and kernels there, results compared
tiny="data/tiny/decode.json $TINY -d ref"
expect 0 "$N" bench $tiny --against 4.filename_prefix=x
printed "^B against A, in turn: "
printed "(median of 8, MAD "
printed "^results: equal, bit for bit"
expect 0 "$N" bench $tiny --against 4.filename_prefix=x -n 2 --json
grep -q '"verdict":"none"' "$tmp/out" || die "two rounds can show nothing"
json_lines "$tmp/out" ok
expect 2 "$N" bench $tiny --against 4.no_such=1
expect 2 "$N" bench $tiny --against 4.filename_prefix=x --save "$tmp/x.json"
expect 2 "$N" bench group_norm $few --against 4.filename_prefix=x

# suites: of kernels, by their names; of workflows, whatever is left out said with its reason, files in the seeds' folders
expect 0 "$N" bench suite attention $few
printed "attention"
expect 2 "$N" bench suite nonsense --quick -d ref -o "$tmp"
said "there is no such suite"
expect 5 "$N" bench suite --quick -d cl:77 -o "$tmp"
expect 2 "$N" bench suite --quick -d ref -n 3 -o "$tmp"
expect 0 "$N" bench suite load --quick -d ref --model-room 1K -o "$tmp/suite" --report "$tmp/suite.md"
grep -q "^Left out: its model would take" "$tmp/suite.md" || die "there is no room"
[ -f "$tmp/suite/test_data/optimization/"performance_comparison_*.json ] || die "no results"
expect 2 "$N" bench suite --quick -d ref -o "$tmp" --case "no such"
said "is no case of the suite phases in its quick form"
expect 0 "$N" bench suite load --quick -d ref --model-room 1K -o "$tmp/suite" --json --case "stream 128x128"
json_lines "$tmp/out" ok
if [ -n "$NINODES_TEST_LONG" ]; then
    expect 0 "$N" bench suite vae --quick --opt=memory -o "$tmp/long" --save "$tmp/long.json" --json
    json_lines "$tmp/out" ok
    [ -f "$tmp/long/test_data/benchmarks/phase1/"benchmark_results_*.json ] || die "no results of phase 1"
    expect 0 "$N" bench suite vae --quick --opt=memory -o "$tmp/long" --baseline "$tmp/long.json" --fail-over 300%
fi

# tuning: nothing to tune on ref; what was found is kept, carried and forgotten
# (tests/unit/harness/tune.c measures)
expect 3 "$N" tune -d ref --quick
expect 5 "$N" tune -d cl:77
expect 4 "$N" tune -d ref --export "$tmp/t.json"
said "has not been tuned"
cat >"$tmp/t.json" <<'END'
{"tuning": 1, "device": "reference (plain C, one thread)", "driver": "0", "platform": "", "version": "0",
 "tuned_at": 1700000000, "choices": {"gemm_rows": {"value": 48, "gain": [1.5, 2, 2.5]}}}
END
expect 0 "$N" tune -d ref --import "$tmp/t.json"
printed "gemm_rows  *96  *48  2.0 %"
expect 0 "$N" tune -d ref --export "$tmp/t2.json" --json
json_lines "$tmp/out" ok
grep -q '"gemm_rows": {"value": 48' "$tmp/t2.json" || die "what was carried is not the same"
expect 0 "$N" tune -d ref --keep gemm_pieces=8
printed "gemm_rows  *[0-9]*  *48  2.0 %"
printed "gemm_pieces  *[0-9]*  *8  kept by hand"
expect 2 "$N" tune -d ref --keep gemm_pieces=7
said "gemm_pieces: cannot be 7"
expect 2 "$N" tune -d ref --keep pieces=8
expect 2 "$N" tune -d ref --keep gemm_pieces
said "takes NAME=VALUE"
expect 0 "$N" tune -d ref --reset
expect 4 "$N" tune -d ref --export "$tmp/t2.json" --quiet
expect 1 "$N" tune -d ref --import data/tiny/decode.json
