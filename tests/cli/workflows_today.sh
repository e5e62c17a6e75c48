# Public workflow files load, and a dry run says what is missing to run them: files, networks, and the
# few classes below. Nothing else is wrong with any of them.
. tests/cli/common
A=${NINODES_ASSETS:-../shared/assets}
[ -d "$A/workflows_2026" ] || { echo "skip: no workflows among the assets"; exit 77; }
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }

python3 - "$N" "$A" <<'EOF' || exit 1
import collections, json, os, subprocess, sys
program, assets = sys.argv[1:]

# Classes of networks that do not run here, and of packs that bring their own.
LEFT = set("""
LTXVConditioning EmptyLTXVLatentVideo LTXVCropGuides LTXVSeparateAVLatent LTXVConcatAVLatent
LTXVLatentUpsampler LTXVEmptyLatentAudio LTXVAudioVAEDecode LatentUpscaleModelLoader
LTXAVTextEncoderLoader LTXVAudioVAELoader LTXVPreprocess LTXVImgToVideoInplace LTXVImgToVideo
LTXVAddGuide ImageOnlyCheckpointLoader
SVD_img2vid_Conditioning TextGenerate QuadrupleCLIPLoader HunyuanVideo15ImageToVideo
EmptyHunyuanVideo15Latent WanCameraEmbedding WanCameraImageToVideo
TextEncodeHunyuanVideo_ImageToVideo HunyuanImageToVideo CreateCFGScheduleFloatList
WanVideoLoraSelect WanVideoTextEncode WanVideoImageToVideoEncode WanVideoBlockSwap WanVideoVAELoader
WanVideoDecode WanVideoSetLoRAs WanVideoSetBlockSwap WanVideoSampler LoadWanVideoT5TextEncoder
WanVideoModelLoader
""".split())
# What a dry run may say besides: the file is all notes, or names what may not be opened.
CODES = {"missing_file", "unsupported_model", "unsupported_class", "unknown_class", "no_output"}
ELSE = {("f3_backslash_api.json", "path")}

files, seen, wrong = 0, collections.Counter(), []
for folder in ("workflows_2026", "workflows_ui"):
    for at, _, names in os.walk(os.path.join(assets, folder)):
        for name in sorted(n for n in names if n.endswith((".json", ".png", ".webp"))):
            if name == "expect.json":
                continue
            r = subprocess.run([program, "run", "--dry-run", "--json", "--device", "ref", "--models",
                                os.path.join(assets, "models"), os.path.join(at, name)],
                               capture_output=True, text=True, timeout=60)
            issues = [json.loads(line) for line in r.stdout.splitlines()]
            issues = [i for i in issues if i.get("type") == "issue" and i["severity"] == "error"]
            files += 1
            if not issues and r.returncode:
                wrong.append(f"{name}: exit status {r.returncode}: {r.stderr[:200]}")
            seen.update({i["class_type"] for i in issues
                         if i["code"] in ("unsupported_class", "unknown_class")})
            wrong += [f"{name}: {i['node']} {i['class_type']}.{i['input']}: {i['message']}"
                      for i in issues if i["code"] not in CODES and (name, i["code"]) not in ELSE]
wrong += [f"{name} ({seen[name]} files) should run here" for name in sorted(set(seen) - LEFT)]
print("\n".join(wrong), file=sys.stderr)
print(f"  {files} files, {len(seen)} classes left")
sys.exit(bool(wrong) or files < 100)
EOF
exit 0
