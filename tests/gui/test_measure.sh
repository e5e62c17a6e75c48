#!/bin/bash
# Preferences: "Measure this device" measures in a process of its own, says what it does and in the end the figures and the
# date; the app answers meanwhile. Closing the app ends the process.
. "$(dirname "$0")/lib.sh"
"$B/ninodes" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
export NINODES_CACHE_DIR=$work/cache # no figures are kept there
figures() { cat "$work/cache/ceilings/"*.json 2>/dev/null; }
measurer() { pgrep -P "$app_pid" -f 'devices --measure'; }
start
need_bus
app_do preferences
at label 'Not measured yet*' wait || die "figures of nobody"
at '*button' 'Measure this device' click || die "there is no button to measure"
until_ok 10 measurer || die "no process of its own measures"
at label 'measuring: *' wait || die "it does not say what it measures"
actions /window/1 Describe state >/dev/null || die "the app does not answer while the device is measured"
[ -z "$(figures)" ] || die "it was over before the app was asked"
shot measuring
ATCLICK_SECONDS=120 at label "*GFLOP/s in f32, * GB/s, measured on $(date +%F)" wait ||
    die "no figures with a date"
at '*button' 'Measure this device' wait || die "the button does not come back"
figures | grep -Eq '"efficiency_gemm": [0-9.]*[1-9]' || die "nothing was kept"
shot measured

at '*button' 'Measure this device' click
until_ok 10 measurer || die "it cannot be measured again"
child=$(measurer)
quit
until_ok 10 eval '! kill -0 '"$child" || die "the process outlives the app"

# A device that is not there: the reason, and no figures.
mkdir -p "$XDG_CONFIG_HOME/ninodes"
printf '[preferences]\ndevice=cl:99\n' >"$XDG_CONFIG_HOME/ninodes/studio.ini"
start
app_do preferences
at label '*GFLOP/s in f32*' wait || die "what was measured is not shown"
at '*button' 'Measure this device' click
at label '*no such device*' wait || die "why it failed is not said"
quit
