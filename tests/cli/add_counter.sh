# A new counter is a row and a line in its sensor: both are added to a copy of the tree, and what is
# built there has the counter in its JSON lines, traces, metrics and help.
. tests/cli/common
[ "${NINODES_TEST_LONG:-0}" = 1 ] || { echo "skip: NINODES_TEST_LONG=1 builds a copy of the library"; exit 77; }
[ -d data/tiny/models ] || { echo "skip: no demo model"; exit 77; }

tree=$tmp/tree
mkdir "$tree"
cp -r Makefile core cl cli data "$tree"
[ ! -f config.mk ] || cp config.mk "$tree"
row='    X(NPU_BUSY, DEVICE, GAUGE, PERCENT, "npu.busy", "NPU", 0, 100, "Made up by a test.") \\'
sed -i "s|^    /\* new rows above this line \*/|$row\n&|" "$tree/core/include/ninodes/counter.h"
sed -i '/RAM_AVAILABLE\] = /a\    v[NINO_COUNTER_NPU_BUSY] = 42.5;' "$tree/core/event/sensor.c"
[ "$(diff -r core "$tree/core" | grep -c '^>')" = 2 ] || die "more or less than two lines"
expect 0 make -s -C "$tree" -j"$(nproc)" B=build CL=0 GUI=0 CFLAGS=-O1 build/ninodes

N=$tree/build/ninodes
expect 0 "$N" help counters
printed '^npu.busy  *Made up by a test. \[%\]$'
expect 0 "$N" run data/tiny/decode.json $TINY --output "$tmp/o" --json --trace "$tmp/t.ninotrace"
printed '"type":"device".*"npu.busy":42.5'
expect 0 "$N" monitor "$tmp/t.ninotrace" --json
printed '"type":"device".*"npu.busy":42.5'
expect 0 "$N" monitor "$tmp/t.ninotrace" --metrics
printed '^# HELP ninodes_npu_busy_ratio Made up by a test.$'
printed '^ninodes_npu_busy_ratio 0.425$'
expect 0 "$N" trace convert "$tmp/t.ninotrace" "$tmp/t.pftrace"
grep -aq 'npu.busy' "$tmp/t.pftrace" || die "not in the trace for Perfetto"
expect 0 "$N" trace convert "$tmp/t.ninotrace" "$tmp/t.json"
grep -q '"name":"npu.busy".*"value":42.5' "$tmp/t.json" || die "no counter in the Chrome trace"
expect 0 "$N" monitor "$tmp/t.json" --metrics # and read back from there
printed '^ninodes_npu_busy_ratio 0.425$'
# a program that does not know it passes over it
expect 0 "${B:-build}/ninodes" monitor "$tmp/t.ninotrace" --metrics
printed '^ninodes_ram_available_bytes [1-9]'
! grep -q 'npu' "$tmp/out" || die "who told it?"
exit 0
