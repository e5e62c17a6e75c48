# devices, nodes, inspect, selftest: text and JSON; the node reference in data/ is not stale.
. tests/cli/common

expect 0 "$N" devices
printed '^ref '
expect 0 "$N" devices --json
json_lines "$tmp/out" ok
printed '"selector":"ref"'

expect 0 "$N" nodes
printed '^VAEDecode '
expect 0 "$N" nodes --json
json_lines "$tmp/out" ok
expect 0 "$N" nodes VAEDecodeTiled
printed 'tile_size .*512 px'
printed 'temporal_size .*acts for TAEHV models only'
expect 0 "$N" nodes VAEDecodeTiled --json
json_lines "$tmp/out" ok
printed '"name":"temporal_overlap".*"acts_for":"TAEHV models"'
expect 0 "$N" nodes --markdown
cmp -s "$tmp/out" data/nodes.md || die "data/nodes.md is stale: $N nodes --markdown >data/nodes.md"

F=data/tiny/models/vae/vae_tiny.safetensors
if [ -f $F ]; then
    expect 0 "$N" inspect $F
    printed '^format  *safetensors'
    printed '^vae .*channels'
    expect 0 "$N" inspect $F --tensors
    [ "$(wc -l <"$tmp/out")" -gt 50 ] || die "--tensors lists none"
    expect 0 "$N" inspect $F --json
    json_lines "$tmp/out" ok
fi

# control networks: what a file is
S=tests/data/synth
expect 0 "$N" inspect $S/control_sd15.safetensors
printed '^control  *controlnet: ControlNet of SD1.5, 6 stages'
expect 0 "$N" inspect $S/control_sdxl_union.safetensors
printed '^control  *controlnet_union: union ControlNet of SDXL, 6 types'
expect 0 "$N" inspect $S/control_lora_sdxl.safetensors
printed '^control  *control_lora: control-LoRA, 6 stages, rank 3'
expect 0 "$N" inspect $S/control_t2i_light.safetensors
printed '^control  *t2i_adapter: T2I-Adapter of SD1.5, light, colour'
expect 0 "$N" inspect $S/control_flux_union.safetensors --json
json_lines "$tmp/out" ok

# upscale models: what a file is, where files are found, what a workflow takes
M=tests/data/models E=tests/data/e2e_2026
expect 0 "$N" inspect $M/upscale_models/up_old_x4_tiny.pth
printed '^format  *pth'
printed '^upscale  *esrgan: ESRGAN, 1 block of 12 channels, 4x'
expect 0 "$N" inspect $M/upscale_models/up_compact_x2_tiny.safetensors --json
json_lines "$tmp/out" ok
mkdir -p "$tmp/m"
printf 'x:\n  base_path: %s\n  upscale_models: upscale_models\n' "$PWD/$M" >"$tmp/m/extra_model_paths.yaml"
for m in $M "$tmp/m"; do
    expect 0 "$N" plan $E/workflows/up_realesrgan_x2_tiled.json --models "$m" --input $E/input --device ref
    printed '^tiles  *2 of 1024x150 pixels, overlap 64: tiles of at most 512 pixels'
done
expect 0 "$N" run $E/workflows/up_realesrgan_x2_tiled.json --models $M --input $E/input --device ref --dry-run
expect 4 "$N" inspect "$tmp/none"
expect 4 "$N" inspect "$tmp/none" --json
json_lines "$tmp/out" error
head -c 100 /dev/zero >"$tmp/junk.safetensors"
expect 1 "$N" inspect "$tmp/junk.safetensors"

expect 0 "$N" selftest --device ref --quick --op act
printed 'passed, 0 failed'
expect 0 "$N" selftest --device ref --quick --op act --json
json_lines "$tmp/out" ok
expect 5 "$N" selftest --device nosuch
expect 2 "$N" selftest --device ref --quick --op nosuchop
exit 0
