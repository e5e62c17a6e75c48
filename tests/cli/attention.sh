# A sampler's switch for flash attention chooses the kernels where a schedule has both forms, and plan and run agree on
# the memory that this takes, to the byte.
. tests/cli/common
"$N" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
export NINODES_SCHEDULE=wmma

workflow() { # FLASH
    cat >"$tmp/$1.json" <<EOF
{"1": {"class_type": "UNETLoader", "inputs": {"unet_name": "flux_tiny.safetensors", "weight_dtype": "default"}},
 "2": {"class_type": "DualCLIPLoader", "inputs": {"clip_name1": "t5xxl_tiny.safetensors",
       "clip_name2": "clip_l_tiny.safetensors", "type": "flux"}},
 "3": {"class_type": "CLIPTextEncode", "inputs": {"clip": ["2", 0], "text": "a cat"}},
 "4": {"class_type": "EmptySD3LatentImage", "inputs": {"width": 256, "height": 256, "batch_size": 1}},
 "5": {"class_type": "RandomNoise", "inputs": {"noise_seed": 7}},
 "6": {"class_type": "BasicGuider", "inputs": {"model": ["1", 0], "conditioning": ["3", 0]}},
 "7": {"class_type": "KSamplerSelect", "inputs": {"sampler_name": "euler"}},
 "8": {"class_type": "BasicScheduler", "inputs": {"model": ["1", 0], "scheduler": "simple", "steps": 1, "denoise": 1}},
 "9": {"class_type": "ROCMSamplerCustomAdvanced", "inputs": {"noise": ["5", 0], "guider": ["6", 0], "sampler": ["7", 0],
       "sigmas": ["8", 0], "latent_image": ["4", 0], "flash_attention": "$1"}},
 "10": {"class_type": "SaveLatent", "inputs": {"samples": ["9", 0], "filename_prefix": "$1"}}}
EOF
}

how="--models tests/data/models -d cl:0 --precision fp16"

run() { # FLASH
    workflow "$1"
    expect 0 "$N" run "$tmp/$1.json" $how -o "$tmp/results" --trace "$tmp/$1.ninotrace"
    expect 0 "$N" trace summary "$tmp/$1.ninotrace" --json
    grep -o '"name":"9 [^}]*' "$tmp/out" | sed 's/.*"memory_peak":\([0-9]*\).*/\1/' >"$tmp/$1.peak"
}

run auto
grep -q softmax_stripe "$tmp/out" && die "auto keeps scores"
printed '"attention_wmma"'
run disable_flash
printed '"softmax_stripe"'
[ "$(cat "$tmp/auto.peak")" -lt "$(cat "$tmp/disable_flash.peak")" ] || die "the scores take no memory"
for i in auto disable_flash; do
    expect 0 "$N" plan "$tmp/$i.json" $how --json
    grep -q "[^0-9]$(cat "$tmp/$i.peak")[^0-9]" "$tmp/out" || die "the plan of $i knows no peak of $(cat "$tmp/$i.peak")"
done
