#!/bin/sh
# ninodes kernel: what a trace tells of a kernel, its source, its machine code and the call made again; what is missing is said.
. tests/cli/common
call="linear f32:33x64 weight=f16:32 bias act=gelu"

expect 0 "$N" kernel linear -d ref --call "$call" --replay -n 3 -q
printed "^call: $call"
printed "^median of 3 "
printed "^  linear "
expect 0 "$N" kernel linear -d ref --call "$call" --sweep -n 3 -q
printed "schedule ref has nothing to choose"
expect 0 "$N" kernel linear -d ref --call "$call" --replay -n 3 --json
json_lines "$tmp/out" ok
expect 2 "$N" kernel linear -d ref --call "linear f32:33" --replay
expect 2 "$N" kernel linear
said "which run is it of"
expect 2 "$N" kernel linear --call "$call" --source
said "does not tell the kernel's program"
expect 2 "$N" kernel linear --call "$call" --replay -n 1000
expect 5 "$N" kernel linear -d cl:77 --call "$call" --replay
expect 4 "$N" kernel linear --trace "$tmp/none.json"

# of a trace: on the reference programs are not told, but kernels stand beside their peers
expect 0 "$N" run data/tiny/decode.json $TINY -d ref -q -o "$tmp/out_ref" --trace "$tmp/ref.ninotrace"
expect 0 "$N" kernel conv2d --trace "$tmp/ref.ninotrace"
printed "^program: not told"
printed "^conv2d .*1x512x512x3"
expect 2 "$N" kernel no_such --trace "$tmp/ref.ninotrace"
said "there are .*conv2d"

if ! "$N" devices | grep -q '^cl:'; then
    echo "  part skipped: programs, without an OpenCL device"
    exit 0
fi
expect 0 "$N" run data/tiny/decode.json $TINY -d cl -q -o "$tmp/out_cl" --trace "$tmp/cl.ninotrace"
expect 0 "$N" trace convert "$tmp/cl.ninotrace" "$tmp/cl.json"
for form in ninotrace json; do
    expect 0 "$N" kernel gemm --trace "$tmp/cl.$form" -v
    printed "^program: .* gemm "
    longest=$(sed -n '/^gemm .*<$/{n;s/.* | //p;}' "$tmp/out") # on a busy machine it need not be the largest
    case $longest in "conv2d f32:1x"*" weight=f16:16 "*) ;; *) die "the longest has no call: $longest" ;; esac
    printed "^call: $longest$"
    printed "^driver: on "
    printed "^gemm .*1x64x64x16"
    printed " | conv2d f32:1x64x64x16 weight=f16:16 bias residual "
    expect 0 "$N" kernel gemm --trace "$tmp/cl.$form" --json --source
    json_lines "$tmp/out" ok
done
expect 0 "$N" kernel gemm --trace "$tmp/cl.json" --source
printed "^// options: .*-DWT=f16"
printed "kernel .*gemm"
expect 0 "$N" kernel gemm --trace "$tmp/cl.json" --replay -n 3 -q
printed "^  gemm .* [1-9][0-9]* x " # a slow call is launched in pieces

# machine code, of a program of processors and of ones of GPUs, with the figures that the gate reads from a code object
expect 2 "$N" kernel gemm --program "nothing gemm" --source
expect 3 "$N" kernel gemm --program "cpu gemm -DWT=f16" --code
said "written for processors"
if "$N" kernel scale --program "generic basic -DF16=1" --code >"$tmp/code" 2>"$tmp/err"; then
    grep -q '^; for gfx1151, by ' "$tmp/code" || die "no target is named"
    grep -q '^; vgprs [1-9][0-9]*, sgprs [1-9][0-9]*, spills 0, scratch_bytes 0, local_bytes ' "$tmp/code" || die "no registers: $(head -3 "$tmp/code")"
    grep -q '^scale:' "$tmp/code" || die "no code"
    grep -q '	s_endpgm' "$tmp/code" || die "the code has no end"
    expect 3 "$N" kernel no_such --program "generic basic -DF16=1" --code
    said "no kernel no_such"
    expect 0 "$N" kernel gemm --program "cpu gemm -DWT=f16" --call "linear f32:1024x1024 weight=f16:1024" --code
    printed "^; this run's kernel is for processors; gfx1151 does the call by gemm_wmma_[0-9x]* of wmma wmma -DF16=1"
    printed "^; linear f16:1024x1024 weight=f16:1024$"
    printed "instructions: matrix [1-9]"
    expect 0 "$N" kernel gemm_wmma_128x128 --program "wmma wmma -DF16=1" --code
    printed "instructions: matrix [1-9]"
else
    grep -q 'rocm-device-libs\|clang-19' "$tmp/err" || die "$(cat "$tmp/err")"
    echo "  part skipped: machine code, without clang for gfx1151"
fi
