# A harness that passes wrong kernels proves nothing: faults planted in the kernels of the wmma schedule, one macro
# each, are noticed. Emulated where the device has no matrix instructions.
. tests/cli/common
unset NINODES_KERNEL_DIR NINODES_DATA_DIR
"$N" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
export NINODES_SCHEDULE=wmma NINODES_KERNEL_DIR=$tmp/cl
case=conv2d_f16_1x9x15x33 # channels, pixels and columns that fill no tile

# fault FILE MACRO VALUE: with another definition of that macro the case must fail
fault() {
    rm -rf "$tmp/cl"
    cp -a cl "$tmp"
    sed -i "s|^\(#define $2\(([^)]*)\)\? \).*|\1$3|" "$tmp/cl/wmma/$1.cl"
    ! cmp -s "cl/wmma/$1.cl" "$tmp/cl/wmma/$1.cl" || die "$1.cl has no macro $2"
    expect 5 "$N" selftest --device cl --op $case
    printed 'element .* expected' # it builds and runs, but the numbers are wrong
}

cp -a cl "$tmp"
expect 0 "$N" selftest --device cl --op $case
printed '^ok .*n31_k3'
fault wmma LOCAL_ROW '(((r) \& 31) * LDK)' # an index in local memory
fault wmma IS_CHANNEL 1                      # a mask
fault wmma WEIGHT_ROW '(r)'                  # the order of rows in local memory
conv=$case case=linear_f16_23x256_n70_bias_wq4_K
fault chunks GROUP '((c) / 32 \& 3)' # a scale of another eighth of a block
case=attention_f16_1x47x128 # queries and keys that fill no tile
rm -rf "$tmp/cl"
cp -a cl "$tmp"
expect 0 "$N" selftest --device cl --op $case
fault flash KEY_ROW '(r)'              # the order of keys, and of channels of values
fault flash CHANNEL_ROW '(r)'          # of channels alone
fault flash IS_KEY 1                   # keys behind the last one count
fault flash LDV '(KEYS - 8)'           # rows of values overlap
"$N" devices | grep -q 'emulated' || exit 0
fault fragment LANE_ROW '((v) + 8 * ((lane) >> 4))' # a lane holds other rows of the result
fault fragment LANE_COLUMN '((lane) >> 1)'           # it is given another column
fault fragment LANE_OTHER '(lane)'                   # it gets its own words back
case=$conv
fault fragment LANE_ROW '((v) + 8 * ((lane) >> 4))'
fault fragment LANE_COLUMN '((lane) >> 1)'
