# selftest --schedule: the kernels of that schedule are the ones that are checked, whatever the device's own is.
. tests/cli/common
unset NINODES_KERNEL_DIR NINODES_DATA_DIR NINODES_SCHEDULE
"$N" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
case=attention_f16_2x49x48 # heads of 16 channels

cp -a cl "$tmp"
export NINODES_KERNEL_DIR=$tmp/cl
for i in cpu generic wmma; do
    expect 0 "$N" selftest --device cl --schedule $i --op $case
    printed '^ok .*h3_x3'
done
echo '#error broken' >>"$tmp/cl/generic/attn.cl"
expect 0 "$N" selftest --device cl --schedule cpu --op $case
expect 0 "$N" selftest --device cl --schedule wmma --op $case
expect 5 "$N" selftest --device cl --schedule generic --op $case
echo '#error broken' >>"$tmp/cl/wmma/flash.cl"
expect 5 "$N" selftest --device cl --schedule wmma --op $case

expect 2 "$N" selftest --device cl --schedule nothing
said 'there is no schedule "nothing"; there are cpu, generic, wmma'
expect 2 "$N" selftest --device ref --schedule cpu
said 'has no schedules'

# who multiplies linear layers; CLBlast itself takes long to compile, so only --op of something else runs with it
expect 2 "$N" selftest --device cl --gemm cublas
said 'auto|native|clblast'
expect 2 "$N" selftest --device ref --gemm native
said 'has no engines'
expect 0 "$N" selftest --device cl --gemm native --op linear_f32_1x1_n1
NINODES_GEMM=cublas expect 2 "$N" selftest --device cl --op linear_f32_1x1_n1
said 'NINODES_GEMM: gemm is one of auto|native|clblast, not "cublas"'
if [ -n "${NINODES_TEST_LONG:-}" ] && ldconfig -p | grep -q libclblast.so.1; then
    for i in cpu generic wmma; do expect 0 "$N" selftest --device cl --schedule $i --gemm clblast --op linear; done
    expect 0 "$N" bench --device cl gemm -n 1 --warmup 1
    printed '_gemm_clblast '
    expect 0 "$N" demo --gemm clblast --output "$tmp/demo"
fi
