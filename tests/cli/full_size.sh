# Models of the families of 2025 and 2026 in their real sizes, without their data: what inspect says of
# them, what plan says of workflows with them, and what the official workflows lack where nothing is.
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
A=${NINODES_ASSETS:-../shared/assets}
data=tests/data
[ -f "$A/models/tokenizers/qwen25/vocab.json" ] && data=$A # the whole vocabulary
python3 tests/data/shapes/full_size.py "$tmp/models" "$data" || die "full_size.py"
[ "$(du -sk "$tmp/models" | cut -f1)" -lt 20000 ] || die "the files have data"

# ---- inspect
is() { # FILE TEXT...: inspect says all of them
    f=$1
    shift
    expect 0 "$N" inspect "$tmp/models/$f.safetensors"
    for text; do printed "$text"; done
}
is diffusion_models/qwen_image_2512_bf16 'tensors 38.1 GiB in 1933' 'Qwen-Image: 60 blocks, width 3072' 'bf16 *1933'
is diffusion_models/qwen_image_fp8_e4m3fn 'Qwen-Image: 60 blocks' 'quantisation  fp8 e4m3fn'
is diffusion_models/z_image_turbo_bf16 'tensors 11.5 GiB in 453' 'Z-Image: 30 layers, width 3840'
is diffusion_models/flux-2-klein-4b 'tensors 7.2 GiB in 149' 'FLUX.2 klein: 5 double and 20 single blocks, width 3072'
is diffusion_models/flux/flux-2-klein-base-9b-fp8 'in 201' 'FLUX.2 klein: 8 double and 24 single blocks, width 4096'
is diffusion_models/flux2_dev_fp8mixed 'in 299' 'FLUX.2 dev: 8 double and 48 single blocks, width 6144'
is text_encoders/qwen_2.5_vl_7b_fp8_scaled 'Qwen2.5-VL, 28 layers, width 3584, sees pictures'
is text_encoders/qwen_3_4b 'Qwen3, 36 layers, width 2560'
is text_encoders/qwen_3_8b_fp8mixed 'Qwen3, 36 layers, width 4096'
is text_encoders/mistral_3_small_flux2_bf16 'Mistral Small 3, 40 layers, width 5120'
is controlnet/Qwen-Image-InstantX-ControlNet-Union 'ControlNet of Qwen-Image, 5 blocks'
is diffusion_models/lotus-depth-d-v1-1 'UNet of Lotus, width 320'
is text_encoders/sd2_clip_h 'CLIP-H, 24 layers, width 1024'
is model_patches/qwen_image_canny_diffsynth_controlnet 'in 362' 'ControlNet of Qwen-Image, 60 blocks'
is model_patches/Z-Image-Turbo-Fun-Controlnet-Union 'Fun ControlNet of Z-Image, 6 layers'
is model_patches/Z-Image-Turbo-Fun-Controlnet-Union-2.1 'Fun ControlNet of Z-Image, 15 layers, .*takes a mask'
is vae/qwen_image_vae 'Wan 2.1 video autoencoder, 16 channels'
is vae/flux2-vae 'flux2: AutoencoderKL, 128 channels, 16x'
is loras/Qwen-Image-Lightning-4steps-V1.0 'LoRA, .* 840 layers'
echo "  inspect: 19 files"

# ---- plan
# plan FLOW: peak and weights in MB of 10^6, which fit 96 GB
plan() {
    expect 0 "$N" plan --profile gfx1151 --json --models "$tmp/models" --models "$data/models" --input "$tmp/models/input" "$1"
    python3 - "$tmp/out" "$2" "$3" <<'PY' || die "plan of $2"
import json, sys
d = json.loads(open(sys.argv[1], encoding="utf-8").read().splitlines()[-1])["data"]
peak, weights, least = d["peak_bytes"], d["weight_bytes"], float(sys.argv[3])
print(f"  {sys.argv[2]}: {peak / 1e9:.1f} GB, of which weights {weights / 1e9:.1f}; {d['flops'] / 1e12:.0f} TFLOP")
assert d["fits"] is True and least * 1e9 <= weights < peak <= 96e9 and d["flops"] > 1e13
PY
}
# flow NET ENCODER TYPE VAE LATENT SIZE STEPS CFG MORE >FILE: text to image; MORE: further nodes
flow() {
    cat <<JSON
{"1": {"class_type": "UNETLoader", "inputs": {"unet_name": "$1.safetensors", "weight_dtype": "default"}},
 "2": {"class_type": "CLIPLoader", "inputs": {"clip_name": "$2.safetensors", "type": "$3", "device": "default"}},
 "3": {"class_type": "VAELoader", "inputs": {"vae_name": "$4.safetensors"}},
 "4": {"class_type": "CLIPTextEncode", "inputs": {"text": "a red fox in the snow", "clip": ["2", 0]}},
 "5": {"class_type": "ConditioningZeroOut", "inputs": {"conditioning": ["4", 0]}}, $9
 "6": {"class_type": "$5", "inputs": {"width": $6, "height": $6, "batch_size": 1}},
 "7": {"class_type": "KSampler", "inputs": {"seed": 1, "steps": $7, "cfg": $8, "sampler_name": "euler", "scheduler": "simple",
  "denoise": 1.0, "model": ["1", 0], "positive": ["${10:-4}", 0], "negative": ["5", 0], "latent_image": ["6", 0]}},
 "8": {"class_type": "VAEDecode", "inputs": {"samples": ["7", 0], "vae": ["3", 0]}},
 "9": {"class_type": "SaveImage", "inputs": {"images": ["8", 0], "filename_prefix": "a"}}}
JSON
}
qwen=qwen_2.5_vl_7b_fp8_scaled
picture='"10": {"class_type": "LoadImage", "inputs": {"image": "p.png"}},'
edit='"11": {"class_type": "TextEncodeQwenImageEditPlus", "inputs": {"clip": ["2", 0], "vae": ["3", 0], "image1": ["10", 0], "prompt": "blue"}},'
ref='"11": {"class_type": "VAEEncode", "inputs": {"pixels": ["10", 0], "vae": ["3", 0]}},
 "12": {"class_type": "ReferenceLatent", "inputs": {"conditioning": ["4", 0], "latent": ["11", 0]}},'
flow qwen_image_2512_bf16 $qwen qwen_image qwen_image_vae EmptySD3LatentImage 1328 20 2.5 >"$tmp/flow.json"
plan "$tmp/flow.json" "Qwen-Image, 1328x1328" 40
flow qwen_image_edit_2511_bf16 $qwen qwen_image qwen_image_vae EmptySD3LatentImage 1024 4 1 "$picture $edit" 11 >"$tmp/flow.json"
plan "$tmp/flow.json" "Qwen-Image-Edit-2511, 1024x1024" 40
flow z_image_turbo_bf16 qwen_3_4b lumina2 ae EmptySD3LatentImage 1024 8 1 >"$tmp/flow.json"
plan "$tmp/flow.json" "Z-Image-Turbo, 1024x1024" 18
control='"11": {"class_type": "ModelPatchLoader", "inputs": {"name": "Z-Image-Turbo-Fun-Controlnet-Union-2.1.safetensors"}},
 "12": {"class_type": "ZImageFunControlnet", "inputs": {"model": ["1", 0], "model_patch": ["11", 0], "vae": ["3", 0], "strength": 1.0,
  "image": ["10", 0], "inpaint_image": ["10", 0], "mask": ["10", 1]}},'
flow z_image_turbo_bf16 qwen_3_4b lumina2 ae EmptySD3LatentImage 1024 8 1 "$picture $control" |
    sed 's/"model": \["1", 0\], "positive"/"model": ["12", 0], "positive"/' >"$tmp/flow.json"
plan "$tmp/flow.json" "Z-Image-Turbo with Fun ControlNet 2.1, 1024x1024" 25
flow flux-2-klein-4b qwen_3_4b flux2 flux2-vae EmptyFlux2LatentImage 1024 4 1 >"$tmp/flow.json"
plan "$tmp/flow.json" "FLUX.2 klein 4B, 1024x1024" 12
flow flux/flux-2-klein-base-9b-fp8 qwen_3_8b_fp8mixed flux2 flux2-vae EmptyFlux2LatentImage 1024 20 5 "$picture $ref" 12 >"$tmp/flow.json"
plan "$tmp/flow.json" "FLUX.2 klein 9B of a picture, 1024x1024" 14
flow flux2_dev_fp8mixed mistral_3_small_flux2_bf16 flux2 full_encoder_small_decoder EmptyFlux2LatentImage 1024 20 1 >"$tmp/flow.json"
plan "$tmp/flow.json" "FLUX.2 dev, 1024x1024" 60

json_lines "$tmp/out" ok

# ---- official workflows
W=$A/workflows_2026
[ -f "$W/check.py" ] || { echo "  part skipped: no workflows_2026 among the assets"; exit 0; }
mkdir "$tmp/none"
# lacks FLOW FILE...: a dry run without files lacks just these; nothing else is wrong with it, but that
# blueprints (subgraphs to be put into workflows) show nothing.
lacks() {
    f=$1
    shift
    "$N" run --dry-run --models "$tmp/none" --input "$tmp/none" "$W/$f" >"$tmp/out" 2>"$tmp/err" </dev/null
    grep -v -e '(missing_file)$' -e '(no_output)$' -e 'IMAGE is not connected (missing_input)$' "$tmp/err" && die "$f"
    sed -n "s/.*: '\(.*\)' is not in .*(missing_file)\$/\1/p" "$tmp/err" | sort -u >"$tmp/lacks"
    printf '%s\n' "$@" | sort -u | cmp -s - "$tmp/lacks" || { cat "$tmp/lacks"; die "$f lacks other files"; }
}
# official FLOW FILE...: the same, and with the files there, its plan fits.
official() {
    lacks "$@"
    expect 0 "$N" convert "$W/$f"
    python3 - "$tmp/out" "$tmp/models/input" "$tmp/flow.json" <<'PY' || die "$f"
import json, re, sys
sys.path.insert(0, "tests/data/shapes")
import full_size
api = {i: n for i, n in json.load(open(sys.argv[1], encoding="utf-8")).items() if "class_type" in n}
kinds = {n["class_type"]: i for i, n in api.items()}
for n in list(api.values()):
    for key, v in n["inputs"].items():
        if isinstance(v, str) and re.search(r"\.(png|jpe?g)$", v):
            full_size.png(f"{sys.argv[2]}/{v}", 1024, 1024)
    if n["class_type"] in ("ImageScaleToTotalPixels", "FluxKontextImageScale", "GetImageSize",
                           "QwenImageDiffsynthControlnet"):
        n["inputs"].setdefault("image", ["a picture", 0])
api["a picture"] = {"class_type": "LoadImage", "inputs": {"image": "p.png"}}
if not {"SaveImage", "PreviewImage"} & set(kinds):
    api["shown"] = {"class_type": "SaveImage", "inputs": {"images": [kinds["VAEDecode"], 0], "filename_prefix": "a"}}
json.dump(api, open(sys.argv[3], "w", encoding="utf-8"))
PY
    plan "$tmp/flow.json" "$f" 8
}
s=.safetensors
vae=qwen_image_vae$s
text=$qwen$s
official templates/z_image_turbo.json ae$s qwen_3_4b$s z_image_turbo_bf16$s
official templates/z_image_upscale.json ae$s qwen_3_4b$s z_image_turbo_bf16$s RealESRGAN_x4plus$s
official templates/z_image_controlnet.json ae$s qwen_3_4b$s z_image_turbo_bf16$s Z-Image-Turbo-Fun-Controlnet-Union$s
for f in image_qwen_image_controlnet_patch.json qwen_controlnet_patch.json qwen_controlnet_patch.api.json; do
    official templates/$f $vae $text qwen_image_fp8_e4m3fn$s qwen_image_canny_diffsynth_controlnet$s ComfyUI_00944_.png
done
official templates/image_qwen_image_instantx_controlnet.json $vae $text qwen_image_fp8_e4m3fn$s \
    Qwen-Image-InstantX-ControlNet-Union$s 'Zoomable image (3).jpg' lotus-depth-d-v1-1$s vae-ft-mse-840000-ema-pruned$s \
    'a text encoder of Stable Diffusion 2 (OpenCLIP ViT-H)'
official templates/qwen_image_2512.json $vae $text qwen_image_2512_fp8_e4m3fn$s
official templates/qwen_image_edit_2511.json $vae $text qwen_image_edit_2511_bf16$s \
    Qwen-Image-Edit-2511-Lightning-4steps-V1.0-bf16$s flux_krea_fasciumsrpo_00049_.png
official templates/image_qwen_image_edit.json $vae $text qwen_image_edit_fp8_e4m3fn$s Qwen-Image_00043_.png
official templates/image_qwen_image_edit_2509.json $vae $text qwen_image_edit_2509_fp8_e4m3fn$s \
    Qwen-Image-Lightning-4steps-V1.0$s '0_2 (12).png'
official templates/flux2_dev.json flux2_dev_fp8mixed$s full_encoder_small_decoder$s mistral_3_small_flux2_bf16$s \
    Flux_2-Turbo-LoRA_comfyui$s
official templates/flux2_klein_4b.api.json flux-2-klein-4b$s flux2-vae$s qwen_3_4b$s
official templates/flux2_t2i_9b.json flux/flux-2-klein-base-9b-fp8$s flux2-vae$s qwen_3_8b_fp8mixed$s
official f1_proxy_qwen_edit_2511.json $vae $text qwen_image_edit_2511_bf16$s
official f4_qwen_image.json $vae $text qwen_image_fp8_e4m3fn$s
official f4_z_image_turbo.json ae$s qwen_3_4b$s z_image_turbo_bf16$s
official f8_null_links_flux2_klein.json flux-2-klein-4b-fp8$s flux2-vae$s qwen_3_4b$s \
    ComfyUI_temp_ksrio_00061_.png ComfyUI_temp_ubmbj_00044_.png
lacks templates/z_image_turbo_api.json ae$s qwen_3_4b$s Z-image/moodyV900001.ewMB$s Z-Image/zit_fdpo_v1$s \
    Z-Image/AvaClaw/MariClaw-Z-Image-Turbo_lora_v1$s
lacks kyuz0/qwen_edit_2511_20.api.json $vae $text qwen_image_edit_2511_bf16$s ai-server.jpg
lacks kyuz0/qwen_edit_2511_4step.api.json $vae $text qwen_image_edit_2511_bf16$s ai-server.jpg \
    Qwen-Image-Edit-2511-Lightning-4steps-V1.0-bf16$s
lacks kyuz0/qwen_image_2512_20.api.json $vae $text qwen_image_2512_bf16$s
lacks kyuz0/qwen_image_2512_4step.api.json $vae $text qwen_image_2512_bf16$s \
    Qwen-Image-Edit-2511-Lightning-4steps-V1.0-bf16$s
official kyuz0/qwen_edit_2511_20.json $vae $text qwen_image_edit_2511_bf16$s ai-server.jpg
official kyuz0/qwen_edit_2511_4step.json $vae $text qwen_image_edit_2511_bf16$s ai-server.jpg \
    Qwen-Image-Edit-2511-Lightning-4steps-V1.0-bf16$s
official kyuz0/qwen_image_2512_20.json $vae $text qwen_image_2512_bf16$s
official kyuz0/qwen_image_2512_4step.json $vae $text qwen_image_2512_bf16$s \
    Qwen-Image-Edit-2511-Lightning-4steps-V1.0-bf16$s
exit 0
