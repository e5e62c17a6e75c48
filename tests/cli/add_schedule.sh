# A schedule is a folder of cl/ and a row of core/op/sched_list.h: a copy of the generic one is found by devices,
# selftest and lint. And one that does not exist is an error that says what there is.
. tests/cli/common
unset NINODES_SCHEDULE NINODES_KERNEL_DIR NINODES_DATA_DIR MAKEFLAGS MFLAGS MAKELEVEL
"$N" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
quick="selftest --device cl --op linear_f32_7x3"

# chosen by its name, or by a profile of the user's
expect 0 "$N" devices
printed '^cl:0 .* cpu  '
NINODES_SCHEDULE=generic expect 0 "$N" devices
printed '^cl:0 .* generic  '
NINODES_SCHEDULE=wmma expect 0 "$N" devices
printed '^cl:0 .* wmma' # -emulated, where there are no matrix instructions
NINODES_SCHEDULE=generic expect 0 "$N" devices --json
printed '"schedule":"generic"'
mkdir -p "$tmp/data/devices"
export NINODES_DATA_DIR=$tmp/data
sed 's/"schedule": "cpu"/"schedule": "generic"/' data/devices/pocl-cpu.json >"$tmp/data/devices/pocl-cpu.json"
expect 0 "$N" devices
printed '^cl:0 .* generic  '

# none of that name: no run on another one in its place
sed 's/"schedule": "cpu"/"schedule": "voodoo"/' data/devices/pocl-cpu.json >"$tmp/data/devices/pocl-cpu.json"
expect 0 "$N" devices
printed 'cannot be used: .*devices/pocl-cpu.json: there is no schedule "voodoo"; there are cpu, generic, wmma'
for device in "" "--device cl"; do
    expect 5 "$N" selftest $device
    said 'devices/pocl-cpu.json: there is no schedule "voodoo"; there are cpu, generic, wmma'
done
rm "$tmp/data/devices/pocl-cpu.json"
sed 's/"schedule": "[a-z]*"/"schedule": "voodoo"/' data/devices/gfx1151.json >"$tmp/data/devices/gfx1151.json"
expect 2 "$N" plan data/tiny/decode.json $TINY --profile gfx1151
said 'devices/gfx1151.json: there is no schedule "voodoo"; there are cpu, generic, wmma'
unset NINODES_DATA_DIR
NINODES_SCHEDULE=voodoo expect 5 "$N" selftest
said 'NINODES_SCHEDULE: there is no schedule "voodoo"; there are cpu, generic'

# a new one, in a copy of what the program is built from, objects included
B=${B:-build}
case $B in /*) echo "skip: the rest needs a build folder inside the project"; exit 77 ;; esac
mkdir -p "$tmp/tree/$B" "$tmp/tree/data"
cp -a Makefile core cl cli "$tmp/tree"
[ ! -f config.mk ] || cp -a config.mk "$tmp/tree"
cp -a data/devices data/labels data/tune "$tmp/tree/data"
cp -a "$B/flags" "$B/core" "$B/cl" "$B/cli" "$B/libninodes.so"* "$B/ninodes" "$tmp/tree/$B"
cd "$tmp/tree" || exit 1
cp -a cl/generic cl/mine
sed -i 's/^SCHEDULE(generic,.*/&\n&/; s/\nSCHEDULE(generic,/\nSCHEDULE(mine,/' core/op/sched_list.h
expect 0 make B="$B" "$B/ninodes"
printed 'CC *cl/mine/host.c'
[ "$(grep -c CC "$tmp/out")" -le 20 ] || die "more is compiled than knows the list"
N=$B/ninodes
NINODES_SCHEDULE=mine expect 0 "$N" devices
printed '^cl:0 .* mine  '
NINODES_SCHEDULE=mine expect 0 "$N" $quick
printed '^ok '
NINODES_SCHEDULE=voodoo expect 5 "$N" selftest
said 'there are cpu, generic, mine, wmma'
# its kernels are its own
sed -i 's/STORE_RESULT(at, n, v)/STORE_RESULT(at, n, v + 1)/' cl/mine/rows.cl
export NINODES_KERNEL_DIR=cl
NINODES_SCHEDULE=generic expect 0 "$N" $quick
NINODES_SCHEDULE=mine expect 5 "$N" $quick
# and lint sees them
echo 'int nothing' >>cl/mine/skinny.cl
if command -v clang-14 clang >/dev/null; then
    expect 2 make lint-kernels schedules=mine:SCHED_GENERIC
    printed '^cl/mine/skinny.cl (mine:SCHED_GENERIC'
fi
exit 0
