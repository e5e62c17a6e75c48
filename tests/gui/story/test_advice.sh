#!/bin/bash
# Advice is applied: measured in turn with the present setting, told with its spread, and kept.
. "$(dirname "$0")/../lib.sh"
[ -n "${NINODES_TEST_LONG:-}" ] || { echo "skip: eighteen runs; the long check has them"; exit 77; }
need_people
start --models "$root/data/demo/models" --input "$root/data/demo/input" --output "$work/out" "$root/data/workflows/tiled_decode.json"
need_bus
xdotool mousemove 1390 890
wait_state ready 30
keys ctrl+Return; wait_state done 300
keys F5; ATCLICK_SECONDS=200 at "*" "Measured in 5 runs *" wait || die "it is not measured again" # what compiles gives other advice
keys ctrl+2
win_do view advice
ATCLICK_SECONDS=5 at button Apply wait || { shot none; echo "part skipped: nothing in this run costs enough on this machine"; quit; exit 0; }
press button Apply
at label 'Trying * in turn with the present setting: run *' wait || die "nothing is measured"
shot trying
can_keep() { ATCLICK_SECONDS=0 at button Keep get | grep -q sensitive=1; }
until_ok 600 can_keep || die "it is not decided"
at label '* a result before, * with it (medians of * runs each)*' wait || die "before and after are not told"
shot measured
press button Keep
kept() { grep -q '"decision": "kept"' "$HOME/.local/state/ninodes/advice.jsonl"; }
until_ok 10 kept || die "it was not kept: $(cat "$HOME/.local/state/ninodes/advice.jsonl")"
app_do quit
at button 'Quit anyway' click 2>/dev/null || true # where the workflow has the setting
until_ok 15 gone || die "the app did not quit"
