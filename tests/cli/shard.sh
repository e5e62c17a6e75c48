# run --shard and gather: the files of a single run from parts, bit for bit: batches through two samplings, clips, grids,
# parts that have nothing to do; and what is refused.
. tests/cli/common
[ -d data/demo/models ] || { echo "skip: no demo model"; exit 77; }
cat >"$tmp/w.json" <<'EOF'
{"1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "demo_flux.safetensors"}},
 "2": {"class_type": "CLIPTextEncode", "inputs": {"text": "a red circle", "clip": ["1", 1]}},
 "3": {"class_type": "CLIPTextEncode", "inputs": {"text": "", "clip": ["1", 1]}},
 "4": {"class_type": "EmptySD3LatentImage", "inputs": {"width": 32, "height": 16, "batch_size": 2}},
 "5": {"class_type": "KSampler", "inputs": {"seed": 7, "steps": 1, "cfg": 1, "sampler_name": "dpmpp_sde", "scheduler": "simple",
   "denoise": 1, "model": ["1", 0], "positive": ["2", 0], "negative": ["3", 0], "latent_image": ["4", 0]}},
 "6": {"class_type": "LatentUpscale", "inputs": {"samples": ["5", 0], "upscale_method": "nearest-exact", "width": 16,
   "height": 32, "crop": "disabled"}},
 "7": {"class_type": "KSampler", "inputs": {"seed": 9, "steps": 2, "cfg": 1, "sampler_name": "euler_ancestral",
   "scheduler": "simple", "denoise": 0.6, "model": ["1", 0], "positive": ["2", 0], "negative": ["3", 0],
   "latent_image": ["6", 0]}},
 "8": {"class_type": "VAEDecode", "inputs": {"samples": ["7", 0], "vae": ["1", 2]}},
 "9": {"class_type": "SaveLatent", "inputs": {"samples": ["7", 0], "filename_prefix": "l"}},
 "10": {"class_type": "SaveImage", "inputs": {"images": ["8", 0], "filename_prefix": "p"}},
 "11": {"class_type": "SaveAnimatedPNG", "inputs": {"images": ["8", 0], "filename_prefix": "a", "fps": 6, "compress_level": 4}},
 "12": {"class_type": "SaveAnimatedWEBP", "inputs": {"images": ["8", 0], "filename_prefix": "w", "fps": 6, "lossless": true,
   "quality": 80, "method": "default"}},
 "13": {"class_type": "CreateVideo", "inputs": {"images": ["8", 0], "fps": 6}},
 "14": {"class_type": "SaveVideo", "inputs": {"video": ["13", 0], "filename_prefix": "v", "format": "mp4", "codec": "h264"}}}
EOF
OPTS="--models data/demo/models --device ref --no-profile --telemetry=off -q"
one() { d=$1; shift; expect 0 "$N" run "$tmp/w.json" $OPTS --output "$d" "$@"; }
part() { p=$1; d=$2; shift 2; expect 0 "$N" run "$tmp/w.json" $OPTS --output "$tmp/none" --shard "$p" --parts "$d" "$@"; }
join() { p=$1; d=$2; shift 2; expect 0 "$N" gather "$tmp/w.json" ${OPTS%--telemetry*} -q --parts "$p" --output "$d" "$@"; }
same() { diff -r "$1" "$2" >"$tmp/out" || die "the joined parts are not the single run"; }

one "$tmp/one"
part 2/2 "$tmp/parts" # in any order
[ "$(cat "$tmp/out")" = "$tmp/parts/part-2-of-2.safetensors" ] || die "not the path of the part"
expect 4 "$N" gather "$tmp/w.json" --models data/demo/models --device ref --parts "$tmp/parts" --output "$tmp/none"
said 'part-1-of-2.safetensors'
part 1/2 "$tmp/parts"
join "$tmp/parts" "$tmp/two"
same "$tmp/one" "$tmp/two"
[ "$(ls "$tmp/two" | wc -l)" = 6 ] || die "not 6 files"

# of other settings; of nothing; damaged
expect 1 "$N" gather "$tmp/w.json" --models data/demo/models --device ref --parts "$tmp/parts" --output "$tmp/none" --seed 3
said 'part of another workflow'
expect 4 "$N" gather "$tmp/w.json" --models data/demo/models --device ref --parts "$tmp/nowhere" --output "$tmp/none"
said 'there is no part of a run'
mkdir "$tmp/twice"
cp "$tmp/parts/part-1-of-2.safetensors" "$tmp/twice"
cp "$tmp/parts/part-1-of-2.safetensors" "$tmp/twice/part-2-of-2.safetensors"
expect 1 "$N" gather "$tmp/w.json" --models data/demo/models --device ref --parts "$tmp/twice" --output "$tmp/none"
said 'the parts of node [78] do not go together'
[ ! -e "$tmp/none" ] || die "something was written: $(ls "$tmp/none")"

# grids: whole cells where there are enough of them, with the sheet
grid="--grid 5.seed=1,2 --set 4.batch_size=1 --set 7.steps=1"
one "$tmp/one_g" $grid
for i in 1 2; do part $i/2 "$tmp/parts_g" $grid; done
[ "$(cd "$tmp/parts_g" && echo */*)" = "cell-1/part-1-of-1.safetensors cell-2/part-1-of-1.safetensors" ] || die "not a part a cell: $(ls -R "$tmp/parts_g")"
join "$tmp/parts_g" "$tmp/grid" $grid
same "$tmp/one_g" "$tmp/grid"
[ -e "$tmp/grid/grid_00001_.png" ] || die "no sheet"
for bad in 0/2 3/2 1 1/2x a/b 1/9999; do
    expect 2 "$N" run "$tmp/w.json" $OPTS --shard $bad
    said 'part I of N'
done
expect 2 "$N" run "$tmp/w.json" $OPTS --parts "$tmp/x"
said '--parts is for --shard'
expect 2 "$N" run "$tmp/w.json" $OPTS --shard 1/2 --watch
said 'of a whole run'
# several devices in one process
two() { d=$1; dev=$2; shift 2; expect 0 "$N" run "$tmp/w.json" $OPTS --device "$dev" --output "$d" "$@"; }
TMPDIR=$tmp two "$tmp/devices" ref,ref
same "$tmp/one" "$tmp/devices"
[ -z "$(ls -d "$tmp"/ninodes-parts* 2>/dev/null)" ] || die "its parts are left"
expect 5 "$N" run "$tmp/w.json" $OPTS --device ref,cl:99 --output "$tmp/none"
expect 5 "$N" run "$tmp/w.json" $OPTS --device ref,,ref --output "$tmp/none"
said "ref,,ref: a name in the list of devices is empty"
# and one run whose tiles they share: its trace says who did which
tiled() { # FOLDER DEVICE...
    d=$1 dev=$2; shift 2
    expect 0 "$N" run "$tmp/t.json" --models data/demo/models --no-profile -q --device "$dev" --output "$d" --trace "$d.json" "$@"
}
sed 's/"class_type": "VAEDecode", "inputs": {/&"tile_size": 64, "overlap": 16, "temporal_size": 64, "temporal_overlap": 8, /; s/"VAEDecode"/"VAEDecodeTiled"/' "$tmp/w.json" >"$tmp/t.json"
small="--set 4.batch_size=1 --set 6.width=160 --set 6.height=64 --set 7.steps=1 --set 7.sampler_name=euler"
tiled "$tmp/t_one" ref $small
tiled "$tmp/t_two" ref,ref $small
same "$tmp/t_one" "$tmp/t_two"
grep -q '"device":"ref"' "$tmp/t_two.json" || die "the trace does not name the device of a tile"
expect 0 "$N" plan "$tmp/t.json" --models data/demo/models --device ref,ref $small
grep -q '8 VAEDecodeTiled: .* parts on up to 2 devices, .* MiB on each of the others' "$tmp/out" || die "the plan does not say what is shared: $(cat "$tmp/out")"
expect 1 "$N" run "$tmp/w.json" $OPTS --shard 1/2 --set 5.seed=-1
said 'each part would draw another seed'
# what fails on a device is told once
expect 6 "$N" run "$tmp/w.json" $OPTS --device ref,ref --mem-limit 128K --output "$tmp/none"
[ "$(grep -c 'run: ' "$tmp/err")" = 1 ] || die "not told once"

[ -n "${NINODES_TEST_LONG:-}" ] || exit 0
# what only the joined parts can decide, and lists
python3 - "$tmp/w.json" "$tmp/late.json" <<'EOF' || { echo "part skipped: no python3"; exit 0; }
import json, sys
w = json.load(open(sys.argv[1]))
for k in "9", "11", "12", "13", "14":
    del w[k]
def node(k, kind, **inputs):
    w[k] = {"class_type": kind, "inputs": {a.replace("__", "."): v for a, v in inputs.items()}}
def scale(k, by):
    node(k, "ImageScaleBy", image=["8", 0], upscale_method="bicubic", scale_by=by)
node("20", "GetImageSize", image=["8", 0])
node("21", "ComfyMathExpression", expression="a > 2", values__a=["20", 2])
scale("22", 1.5)
scale("23", 0.5)
node("24", "ComfySwitchNode", switch=["21", 2], on_true=["22", 0], on_false=["23", 0])
node("25", "SaveImage", images=["24", 0], filename_prefix="switched")
node("30", "RebatchLatents", latents=["7", 0], batch_size=2)
node("31", "VAEDecode", samples=["30", 0], vae=["1", 2])
node("32", "SaveImage", images=["31", 0], filename_prefix="behind")
node("40", "RebatchLatents", latents=["4", 0], batch_size=2)
w["41"] = json.loads(json.dumps(w["7"]))
w["41"]["inputs"]["latent_image"] = ["40", 0]
node("42", "VAEDecode", samples=["41", 0], vae=["1", 2])
node("43", "SaveImage", images=["42", 0], filename_prefix="before")
json.dump(w, open(sys.argv[2], "w"))
EOF
mv "$tmp/late.json" "$tmp/w.json"
one "$tmp/one_l" --set 4.batch_size=3
for i in 1 2; do part $i/2 "$tmp/parts_l" --set 4.batch_size=3; done
join "$tmp/parts_l" "$tmp/late" --set 4.batch_size=3
same "$tmp/one_l" "$tmp/late"
[ "$(ls "$tmp/late" | wc -l)" = 12 ] || die "not 12 files"

# the schedules of GPUs, whose kernels depend on how many rows there are: the whole's decide
if "$N" devices | grep -q '^cl:'; then
    for how in "generic fp32" "generic fp16" "wmma fp16"; do
        export NINODES_SCHEDULE=${how% *}
        gpu="--device cl --precision ${how#* } --set 4.batch_size=3 --set 4.width=64 --set 4.height=64 --set 5.sampler_name=euler"
        one "$tmp/gpu_one" $gpu
        for i in 1 2; do part $i/2 "$tmp/gpu_parts" $gpu; done
        join "$tmp/gpu_parts" "$tmp/gpu_two" $gpu
        same "$tmp/gpu_one" "$tmp/gpu_two"
        rm -r "$tmp"/gpu_*
    done
    unset NINODES_SCHEDULE
fi

export POCL_DEVICES="pthread pthread" # two devices of PoCL
if [ "$("$N" devices | grep -c '^cl:')" = 2 ]; then
    exact="--precision fp32" # else 16-bit storage may be chosen by what another run has just measured
    two "$tmp/cl_one" cl:0 $exact --set 4.batch_size=5
    two "$tmp/cl_two" cl:0,cl:1 $exact --set 4.batch_size=5
    same "$tmp/cl_one" "$tmp/cl_two"
    two "$tmp/cl_one_g" cl:0 $exact --grid 5.seed=1..5 --grid 7.seed=1,2
    two "$tmp/cl_two_g" cl:0,cl:1 $exact --grid 5.seed=1..5 --grid 7.seed=1,2
    same "$tmp/cl_one_g" "$tmp/cl_two_g"
    for how in cpu generic; do # tiles of a picture, pictures of a batch
        export NINODES_SCHEDULE=$how
        tiled "$tmp/cl_t1" cl:0 $exact $small
        tiled "$tmp/cl_t2" cl:0,cl:1 $exact $small
        same "$tmp/cl_t1" "$tmp/cl_t2"
        one "$tmp/cl_b1" --device cl:0 $exact --set 4.batch_size=5
        expect 0 "$N" run "$tmp/w.json" $OPTS --device cl:0,cl:1 $exact --output "$tmp/cl_b2" --trace "$tmp/b.json" --set 4.batch_size=5
        same "$tmp/cl_b1" "$tmp/cl_b2"
        rm -r "$tmp"/cl_[tb]?
    done
    unset NINODES_SCHEDULE
else
    echo "part skipped: no two devices of PoCL"
fi

# and cells that are shared out, where there are more parts
grid="--grid 5.seed=1,2 --set 4.batch_size=3"
one "$tmp/one_h" $grid
for i in 1 2 3; do part $i/3 "$tmp/parts_h" $grid; done
join "$tmp/parts_h" "$tmp/cells" $grid
same "$tmp/one_h" "$tmp/cells"

# a sampler that looks at the whole batch is one part's alone; more parts than items
sampler="--set 7.sampler_name=dpm_adaptive --set 5.sampler_name=euler --set 4.batch_size=2"
one "$tmp/one3" $sampler
for i in 1 2 3; do part $i/3 "$tmp/parts3" $sampler; done
join "$tmp/parts3" "$tmp/three" $sampler
same "$tmp/one3" "$tmp/three"
exit 0
