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
