# Workflows of other programs: what is said of them before they run, and classes that only their own
# ComfyUI knows.
. tests/cli/common
S=data/workflows/seeds

# what can never run here comes first, what is missing last
cat >"$tmp/hidream.json" <<'EOF'
{"1": {"class_type": "CLIPLoader", "inputs": {"clip_name": "sub\\encoder.safetensors", "type": "hidream", "device": "default"}},
 "2": {"class_type": "UNETLoader", "inputs": {"unet_name": "hidream_fp8.safetensors", "weight_dtype": "default"}},
 "3": {"class_type": "CLIPTextEncode", "inputs": {"clip": ["1", 0], "text": "a"}},
 "4": {"class_type": "EmptyLatentImage", "inputs": {"width": 64, "height": 64, "batch_size": 1}},
 "5": {"class_type": "KSampler", "inputs": {"model": ["2", 0], "positive": ["3", 0], "negative": ["3", 0], "latent_image": ["4", 0],
   "seed": -1, "steps": 1, "cfg": 1, "sampler_name": "euler", "scheduler": "normal", "denoise": 1}},
 "6": {"class_type": "SaveLatent", "inputs": {"samples": ["5", 0], "filename_prefix": "x"}},
 "7": {"class_type": "ByteDanceImageNode", "inputs": {"prompt": "a"}}}
EOF
expect 3 "$N" run "$tmp/hidream.json" --dry-run --device ref --models "$tmp"
head -1 "$tmp/err" | grep -q '1 CLIPLoader.type: the workflow is made for HiDream, .*(unsupported_model)' || die "the network first"
sed -n 2p "$tmp/err" | grep -q '7 ByteDanceImageNode: .* calls a paid service .*(paid_service)' || die "then what costs"
said "1 CLIPLoader.clip_name: 'sub/encoder.safetensors' is not in .*(missing_file)"
said 'warning: 5 KSampler.seed: -1: every run draws another seed (random_seed)'
tail -1 "$tmp/err" | grep -q missing_file || die "missing files last"
expect 3 "$N" run "$tmp/hidream.json" --dry-run --device ref --models "$tmp" --json
json_lines "$tmp/out" bad

# a class of somebody's own: by the server's list its values have names
cat >"$tmp/own.json" <<'EOF'
{"nodes": [{"id": 1, "type": "My Own Node", "outputs": [{"type": "LATENT", "links": [1]}], "widgets_values": [5, "randomize", "big", 0.5, "tail"]},
 {"id": 2, "type": "SaveLatent", "inputs": [{"name": "samples", "type": "LATENT", "link": 1}], "widgets_values": ["x"]}],
 "links": [[1, 1, 0, 2, 0, "LATENT"]]}
EOF
cat >"$tmp/info.json" <<'EOF'
{"My Own Node": {"input": {"required": {"seed": ["INT", {"default": 0}], "size": ["COMFY_DYNAMICCOMBO_V3", {"options": [
  {"key": "small", "inputs": {"required": {}}}, {"key": "big", "inputs": {"required": {"by": ["FLOAT"]}}}]}]},
  "optional": {"text": ["STRING"]}}, "output": ["LATENT"]}}
EOF
expect 0 "$N" convert "$tmp/own.json"
! grep -q '"size.by"' "$tmp/out" || die "nobody could know that"
expect 3 "$N" run "$tmp/own.json" --dry-run --device ref
said "no node class 'My Own Node'"
expect 0 "$N" convert "$tmp/own.json" --object-info "$tmp/info.json"
printed '"seed": 5,'
printed '"size": "big"'
printed '"size.by": 0.5'
printed '"text": "tail"'
expect 3 "$N" run "$tmp/own.json" --dry-run --device ref --object-info "$tmp/info.json"
said 'My Own Node is not supported yet (unsupported_class)'
expect 2 "$N" convert "$tmp/own.json" --object-info "$tmp/own.json"
said "own.json: not what a ComfyUI server answers to /object_info"
expect 4 "$N" convert "$tmp/own.json" --object-info "$tmp/none.json"

# a worker that has the list runs what needs no such class, with the values named as whoever adds it says
cat >"$tmp/beside.json" <<'EOF'
{"nodes": [{"id": 1, "type": "My Own Node", "widgets_values": [5, "randomize", "big", 0.5, "tail"]},
 {"id": 2, "type": "EmptyLatentImage", "outputs": [{"type": "LATENT", "links": [1]}], "widgets_values": [64, 64, 1]},
 {"id": 3, "type": "SaveLatent", "inputs": [{"name": "samples", "type": "LATENT", "link": 1}], "widgets_values": ["x"]}],
 "links": [[1, 2, 0, 3, 0, "LATENT"]]}
EOF
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
begin() { # ARG...: a worker
    : >"$tmp/sock"
    "$N" worker --state "$tmp/state" --device ref --output "$tmp/o" "$@" >"$tmp/sock" 2>"$tmp/worker.err" &
    pid=$!
    await "$tmp/sock" 'ninodes/.*sock'
}
end() { expect 0 "$N" jobs shutdown -w "$pid"; wait "$pid"; pid=; }
begin
expect 3 "$N" jobs add "$tmp/beside.json" --object-info "$tmp/info.json" -w "$pid"
said 'started with the same --object-info'
end
begin --object-info "$tmp/info.json"
expect 0 "$N" jobs add "$tmp/beside.json" --wait -w "$pid"
printed 'x_00001_.latent'
expect 0 "$N" jobs workflow 1 -w "$pid"
! grep -q '"size.by"' "$tmp/out" || die "it was not added in API form"
expect 0 "$N" jobs add "$tmp/beside.json" --wait --object-info "$tmp/info.json" -w "$pid"
expect 0 "$N" jobs workflow 2 -w "$pid"
printed '"size.by": *0.5'
expect 4 "$N" jobs add "$tmp/beside.json" --object-info "$tmp/none.json" -w "$pid"
end
expect 2 "$N" worker --state "$tmp/state" --object-info "$tmp/own.json"
said "own.json: not what a ComfyUI server answers to /object_info"

# a picture whose text somebody changed in place
if [ -d data/tiny/models ]; then
    expect 0 "$N" run data/tiny/decode.json $TINY --device ref --output "$tmp/o"
    P=$(tail -1 "$tmp/out")
    expect 0 "$N" inspect "$P"
    ! grep -q 'edited' "$tmp/out" || die "nobody has edited it"
    LC_ALL=C sed -i 's/"filename_prefix": "demo"/"filename_prefix": "DEMO"/' "$P"
    expect 0 "$N" inspect "$P"
    printed '^graph  *prompt: 4 nodes, .* bytes, edited after it was saved'
    expect 0 "$N" run "$P" $TINY --device ref --output "$tmp/o"
    printed '/DEMO_00001_.png'
fi

# a seed of -1: two runs differ, and the file says with what
if [ -d data/tiny/models ]; then
    cat >"$tmp/noise.json" <<'EOF'
{"1": {"class_type": "RandomNoise", "inputs": {"noise_seed": -1}},
 "2": {"class_type": "EmptyLatentImage", "inputs": {"width": 64, "height": 64, "batch_size": 1}},
 "3": {"class_type": "AddNoise", "inputs": {}},
 "4": {"class_type": "SaveLatent", "inputs": {"samples": ["2", 0], "filename_prefix": "sub\\x"}}}
EOF
    expect 0 "$N" run "$tmp/noise.json" --device ref --output "$tmp/o"
    P=$(tail -1 "$tmp/out")
    case $P in */sub/x_00001_.latent) ;; *) die "the folder of the prefix: $P" ;; esac
    expect 0 "$N" convert "$P"
    ! grep -q '"noise_seed": -1' "$tmp/out" || die "-1 is no seed that could be run again"
    printed '"noise_seed": [0-9]'
fi
exit 0
