# Without an OpenCL device nothing computes unasked: exit status 5, what was found and what to do, from every command and
# from the worker; a query of the driver that fails refuses the device by name.
. tests/cli/common
W=data/tiny/decode.json
"$N" devices 2>/dev/null | grep -q '^cl:0' || { echo "skip: no OpenCL device"; exit 77; }
run() { "$N" run $W $TINY --telemetry=off --no-metadata "$@"; }

mkdir "$tmp/none"
export OCL_ICD_VENDORS=$tmp/none
for c in "run $W" "plan $W" "run $W --dry-run"; do
    expect 5 "$N" $c $TINY
    silent out
    said "no OpenCL device can be used: no driver is installed, there is no $tmp/none/\*.icd (device)"
    said 'to do: install a driver: .*pocl-opencl-icd'
    said 'to do: .*--device ref'
done
expect 5 "$N" selftest --quick --op act
said 'no OpenCL device can be used'
expect 5 run --json
json_lines "$tmp/out" error
printed '"code":"none".*no OpenCL device can be used.*"hint":".*to do: '
expect 5 timeout 60 "$N" worker --state "$tmp/state"
said 'ninodes: worker: no OpenCL device can be used'
said 'to do: .*--device ref'
expect 0 "$N" devices
printed '^ref '
said 'no OpenCL driver: there is no'
said 'to do: .*--device ref'
expect 0 "$N" devices --json
json_lines "$tmp/out" ok
printed '"explanation":"no OpenCL driver: .*to do: '

# a driver that cannot be loaded is named, with the loader's words
echo libno-such-driver.so >"$tmp/none/bad.icd"
expect 5 run
said "no driver in $tmp/none can be loaded"
said "driver $tmp/none/bad.icd: cannot be loaded: libno-such-driver.so: "

# whoever asks for the reference gets it
expect 0 run --device ref --output "$tmp/ref"
[ -s "$tmp/ref/demo_00001_.png" ] || die "no picture of the reference"
NINODES_DEVICE=ref expect 0 run --output "$tmp/ref"
unset OCL_ICD_VENDORS

# every query of the enumeration fails once: refused by name, or not used at all; never another picture
expect 0 "$N" devices --json
printed '"explanation":null'
expect 0 run --output "$tmp/o"
mv "$tmp/o/demo_00001_.png" "$tmp/right.png"
refused=0
for n in $(seq 60); do
    NINODES_FAIL_CL=$n:-36 run --output "$tmp/o" >"$tmp/out" 2>"$tmp/err" </dev/null
    rc=$?
    if [ $rc = 0 ]; then
        cmp -s "$tmp/o/demo_00001_.png" "$tmp/right.png" || die "call $n fails: another picture"
        rm "$tmp/o/demo_00001_.png"
        continue
    fi
    [ $rc = 5 ] || die "call $n fails: exit status $rc"
    said ' (device)'
    grep -qE 'cannot use it: clGet(Device|Platform)Info\(CL_[A-Z_]*\) fails' "$tmp/err" && refused=$((refused + 1))
done
[ $refused -ge 18 ] || die "only $refused queries refuse the device"
exit 0
