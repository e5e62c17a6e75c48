#!/bin/bash
# What keeps a workflow from running is found before it runs: listed, marked on its node, and gone when it is solved.
. "$(dirname "$0")/lib.sh"
[ -x "$B/tests/gui/program/atclick" ] || { echo "skip: tests/gui/program/atclick was not built"; exit 77; }
cp -r "$root/data/tiny/models" "$work/models"
vae=$(cd "$work/models/vae" && ls ./*.safetensors | head -1)
mv "$work/models/vae/$vae" "$work/kept"
start --models "$work/models" --input "$root/data/tiny/input" --output "$work/out" "$root/data/tiny/decode.json"
need_bus

# A model that is not there.
wait_state invalid 30
enabled run && die "a workflow whose model is missing can be run"
win_do panel problems
at '*' 'Error, node 2 Load VAE · vae_name: *is not in*' wait || die "a missing model is not listed"
at '*' '*, node 2, cannot run*' wait || die "the node with the missing model is not marked"
win_do plan
at '*' 'First solve what is listed below' wait || die "a plan is made of a workflow that cannot run"
shot missing
mv "$work/kept" "$work/models/vae/$vae"
win_do reload
wait_state ready 10
enabled run || die "the model is there, but the workflow cannot be run"
at '*' '*, node 2' wait || die "the node is still marked"
at '*' 'No problems found' wait || die "the problem is still listed"

# A plan is told, but not one of a workflow that was edited while it was made.
win_do plan
ATCLICK_SECONDS=30 at label profile wait || die "no plan is told"
left() { at label "$1" box | cut -d' ' -f1; } # what it tells of in one column, the figures in another
[ "$(left profile)" = "$(left fits)" ] && [ "$(left fits)" = "$(left bounds)" ] || die "the plan's names are in no column"
[ "$(left 'yes (budget *')" = "$(left 'at least *')" ] && [ "$(left 'yes (budget *')" -gt "$(left assumed)" ] ||
    die "the plan's figures are in no column"
shot plan
planner() { pgrep -P $app_pid -f 'ninodes plan'; }
win_do plan; win_do set "4.filename_prefix=later"
until_ok 30 eval '! planner' || die "the planning does not end"
ATCLICK_SECONDS=5 at label profile gone || die "the plan is told of what was there before"

# A value out of range, then inside a subgraph: the instance is marked.
win_do run; wait_state done 120
printf '{"1":{"class_type":"EmptyLatentImage","inputs":{"width":7,"height":64,"batch_size":1}},
 "2":{"class_type":"SaveLatent","inputs":{"samples":["1",0],"filename_prefix":"x"}}}' >"$work/range.json"
win_do open-path "$work/range.json"
wait_state invalid 10
at '*' 'Error, node 1 * · width: *' wait || die "a value out of range is not listed"
at '*' '*, node 1, cannot run*' wait || die "the node with the value is not marked"
win_do canvas-select-all; win_do canvas-subgraph
at '*' 'New Subgraph, node *, cannot run*' wait || die "the subgraph around the node is not marked"
shot range

# Very many of a kind: the first ten have a row, the rest one together; all of their nodes are marked.
sep='{'
{
    for i in $(seq 30); do
        printf '%s"%s":{"class_type":"EmptyLatentImage","inputs":{"width":7,"height":64,"batch_size":1}}' "$sep" "$i"
        printf ',"%s":{"class_type":"SaveLatent","inputs":{"samples":["%s",0],"filename_prefix":"x"}}' "$((i + 30))" "$i"
        sep=,
    done
    echo '}'
} >"$work/many.json"
win_do open-path "$work/many.json"
wait_state invalid 10
at '*' 'and 20 more errors of this kind (range)' wait || die "thirty problems of a kind are not counted together"
at '*' 'Error, node 10 * · width: *' wait || die "the tenth problem is not listed"
ATCLICK_SECONDS=1 at '*' 'Error, node 11 * · width: *' wait 2>/dev/null && die "the eleventh problem of a kind is listed"
at '*' '*, node 30, cannot run*' wait || die "the last node with a problem is not marked"
shot many
app_do quit
at button 'Quit anyway' click
until_ok 15 gone || die "the app did not quit"
