#!/bin/bash
# Where the time went: the slowest kernel of a run, its peers, its source, its call made again; then two runs compared.
. "$(dirname "$0")/../lib.sh"
[ -n "${NINODES_TEST_LONG:-}" ] || { echo "skip: kernels are compiled; the long check runs it"; exit 77; }
need_people
"$B/ninodes" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out" "$root/data/tiny/decode.json"
need_bus
xdotool mousemove 1390 890
wait_state ready 30
keys ctrl+Return; wait_state done 120

# The table's first row is the kernel that took the longest in sum; Enter or the button looks into it.
keys ctrl+2
press tab Kernels
slowest=$(at list GtkColumnListView tree | sed -n 's/.*label “\(.*\)”/\1/p' | head -1)
[ -n "$slowest" ] || die "the table of kernels is empty"
press label "$slowest"
press button 'Look into it'
at label "$slowest" wait; at label '* call*, * of all kernels and transfers' wait || die "what it took is not told"
at '*' 'Launches of the same op' wait || die "its peers are not listed"
at label 'Program: *' wait || die "what it was compiled from is not told"
shot kernel
press tab Source
told() { ATCLICK_SECONDS=0 at 'text*' "$1" get | tr '\n' ' ' | grep -Eq "$2"; }
until_ok 30 told Source "[kK][eE][rR][nN][eE][lL].*$slowest" || die "no source: $(at 'text*' Source get | head -3)"
shot source
press tab Replay
press button Replay
until_ok 60 told Replay '[0-9] (µs|ms|GFLOP/s)' || die "no replay: $(at 'text*' Replay get | head -3)"
shot replay

# Measured again: five more runs are kept; two of them are chosen in the list and compared.
keys F5
at '*' 'Measured in 5 runs *' wait || die "it is not measured again"
rows() { ATCLICK_SECONDS=0 at list 'Kept runs' tree | grep -c 'list item'; }
has_rows() { [ "$(rows)" -ge 2 ]; }
until_ok 20 has_rows || die "$(rows) runs were kept"
newest=$(at list 'Kept runs' tree | sed -n 's/.*list item “\(.*\)”/\1/p' | head -1)
oldest=$(at list 'Kept runs' tree | sed -n 's/.*list item “\(.*\)”/\1/p' | tail -1)
press 'list item' "$newest"
xdotool keydown ctrl; press 'list item' "$oldest"; xdotool keyup ctrl
shot runs
read -r x y <<<"$(at button Open point)" # "Compare" is beside it; another button of this name is in Compose
xdotool mousemove $((x + 90)) "$y" click 1
at label 'Baseline: *' wait || die "the two are not compared"
at label 'a file of the run, without compiling' wait || die "the whole runs are not compared"
at label '*gemm*' wait || die "their kernels are not compared"
shot compared
quit
