#!/bin/bash
# A workflow names a model that is not here: the row of the problem offers those that are, and then it runs.
. "$(dirname "$0")/../lib.sh"
need_people
cp -r "$root/data/tiny/models" "$work/models"
vae=$(basename "$(ls "$work"/models/vae/*.safetensors | head -1)")
sed 's/"vae_name": *"[^"]*"/"vae_name": "a_model_with_a_very_long_name_that_nobody_here_has_v10_fp16_pruned.safetensors"/' \
    "$root/data/tiny/decode.json" >"$work/flow.json"
grep -q nobody_here "$work/flow.json" || die "the workflow has no such input"
start --models "$work/models" --input "$root/data/tiny/input" --output "$work/out" --device ref "$work/flow.json"
need_bus
wait_state invalid 30
at '*' 'Error, node 2 Load VAE · vae_name: *is not in*' wait || die "the problem is not listed" # it opened by itself
at label "Put a_model_with_a_very_long_name* into this folder:" wait && at label "$work/models/vae" wait || die "it does not say where the model belongs"
shot missing
press '*' 'Choose another file for 2 Load VAE · vae_name'
at '*' 'Find a file' wait || die "no files are offered"
text "${vae%.safetensors}"; keys Return
wait_state ready 10
at '*' 'No problems found' wait || die "the problem is still listed"
press button 'Run*' # what would run may be counted by now
wait_state done 120
[ -n "$(find "$work/out" -name '*.png')" ] || die "there is no picture"
[ "$acts" -le 3 ] || die "it took $acts actions"
shot solved

# What an upscaler needs is not there: the picture goes on without it.
cat >"$work/upscale.json" <<END
{"1": {"class_type": "LoadLatent", "inputs": {"latent": "demo.latent"}},
 "2": {"class_type": "VAELoader", "inputs": {"vae_name": "$vae"}},
 "3": {"class_type": "VAEDecode", "inputs": {"samples": ["1", 0], "vae": ["2", 0]}},
 "4": {"class_type": "ImageScale", "inputs": {"image": ["3", 0], "upscale_method": "none such", "width": 32, "height": 32, "crop": "disabled"}},
 "5": {"class_type": "SaveImage", "inputs": {"images": ["4", 0], "filename_prefix": "bypassed"}}}
END
win_do open-path "$work/upscale.json"
wait_state invalid 10
press button 'Bypass 4 *'
wait_state ready 10
keys ctrl+Return
until_ok 60 test -s "$work/out/bypassed_00001_.png" || die "it does not run without the node"
app_do quit; at button 'Quit anyway' click
until_ok 15 gone || die "the app did not quit"
