#!/bin/bash
# Messages: of those that stay one is shown, with the way to what is behind it; what is about one workflow is shown with that one;
# news lie below and pass.
. "$(dirname "$0")/../lib.sh"
need_people
cp -r "$root/data/tiny/input" "$work/in"; printf 'no picture' >"$work/in/broken.png"
cp "$root/data/tiny/decode.json" "$work/flow.json"
start --models "$root/data/tiny/models" --input "$work/in" --output "$work/out" "$work/flow.json"
need_bus
wait_state ready 30
win_do open-path "$work/missing.json"
at label '*missing.json*' wait || die "a file that is not there is not told"
win_do set 4.nosuch=1
at label '*nosuch*' wait || die "a refused edit is not told"
at label '*missing.json*' gone || die "two messages are shown at once"
press button '1 more message'
at label '*missing.json*' wait || die "there is no way to the message behind"
at label '*nosuch*' gone || die "both are shown"
press button 'Dismiss message'
at label '*nosuch*' wait || die "what waits behind does not come to the front"
at button '* more message*' gone || die "a message is said to be behind that is not"
press button 'Dismiss message'
at label '*nosuch*' gone || die "it cannot be dismissed"
# about one workflow: not over another, there again with its own, and gone with it
win_do set 4.nosuch=1
at label '*nosuch*' wait || die "a refused edit is not told the second time"
printf '{"1": {"class_type": "LoadImage", "inputs": {"image": "broken.png"}},
 "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "never"}}}' >"$work/fails.json"
win_do open-path "$work/fails.json"
wait_state ready 30
at label '*nosuch*' gone || die "what was refused in one workflow is told over another"
shot other-tab
win_do run
wait_state failed 60
at alert '*broken.png*' wait || die "why the run failed is not told"
win_do previous-tab
at label '*nosuch*' wait || die "what was refused is not told where it was"
at alert '*broken.png*' gone || die "a run that failed is told over another workflow"
win_do next-tab
at alert '*broken.png*' wait || die "why the run failed is not told any more"
win_do close-tab
at label '*nosuch*' wait || die "the other workflow is not in front"
at button '* more message*' gone || die "a message about a workflow that is closed is still there"
press button 'Dismiss message'
# news: over the lower edge, nothing moves for them, and they pass
before=$(at tab 'flow.json*' box)
mkdir -p "$work/comfy/models/vae" && : >"$work/comfy/models/vae/one.safetensors"
win_do comfyui-at "$work/comfy"
at label '1 model of * is used from now on' wait || die "news are not told"
[ "$(at tab 'flow.json*' box)" = "$before" ] || die "news move the workflow: $before, now $(at tab 'flow.json*' box)"
shot news
ATCLICK_SECONDS=40 at label '1 model of * is used from now on' gone || die "news do not pass"
quit
