#!/bin/bash
# Runs every kernel on tiny shapes in oclgrind, a simulator that checks each memory access. It says
# nothing through its exit status: its log must be empty. One type a schedule, as it is slow; all of them with
# NINODES_TEST_LONG=1.
program=${B:-build}/tests/unit/cl/schedules
icd=/usr/lib/oclgrind/liboclgrind-rt-icd.so
[ -e "$icd" ] || { echo "skip: no oclgrind"; exit 77; }
[ -x "$program" ] || { echo "skip: built without OpenCL"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
echo "$icd" >"$dir/oclgrind.icd"
export OCL_ICD_VENDORS=$dir NINODES_CACHE_DIR=$dir/cache OCLGRIND_LOG=$dir/log OCLGRIND_CHECK_API=1
export OCLGRIND_DATA_RACES=1
export NINODES_DEBUG=mem # a buffer for every tensor, so that its ends are watched
export OCLGRIND_LOCAL_MEM_SIZE=1048576 # a CPU has what the CPU schedule asks for
runs="cpu:f32 generic:f16"
[ -n "$NINODES_TEST_LONG" ] && runs="cpu:f32 cpu:f16 cpu:bf16 generic:f32 generic:f16 generic:bf16"
for run in $runs; do
    : >"$dir/log"
    "$program" "${run%:*}" "${run#*:}" && [ ! -s "$dir/log" ] && continue
    echo "$run in oclgrind:"
    head -40 "$dir/log"
    exit 1
done
: >"$dir/log"
if ! "$program" small || [ -s "$dir/log" ]; then
    echo "generic with 32 KiB in oclgrind:"
    head -40 "$dir/log"
    exit 1
fi
# It does notice: a kernel that touches one element too many.
"$program" wrong
grep -q 'Invalid read' "$dir/log" || { echo "oclgrind missed an access beside a buffer"; exit 1; }
