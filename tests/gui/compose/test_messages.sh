#!/bin/bash
# Messages: of those that stay one is shown, with the way to what is behind it; news lie below and pass.
. "$(dirname "$0")/../lib.sh"
need_people
cp "$root/data/tiny/decode.json" "$work/flow.json"
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out" "$work/flow.json"
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
# news: over the lower edge, nothing moves for them, and they pass
before=$(at tab 'flow.json*' box)
mkdir -p "$work/comfy/models/vae" && : >"$work/comfy/models/vae/one.safetensors"
win_do comfyui-at "$work/comfy"
at label '1 model of * is used from now on' wait || die "news are not told"
[ "$(at tab 'flow.json*' box)" = "$before" ] || die "news move the workflow: $before, now $(at tab 'flow.json*' box)"
shot news
ATCLICK_SECONDS=40 at label '1 model of * is used from now on' gone || die "news do not pass"
quit
