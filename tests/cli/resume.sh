# A run that is killed or stopped goes on with --resume: same picture, without the steps that were there.
. tests/cli/common
[ -d data/demo/models ] || { echo "skip: no demo model"; exit 77; }
env --default-signal=INT true 2>/dev/null || { echo "skip: env cannot reset signals"; exit 77; }
cat >"$tmp/w.json" <<'EOF'
{"1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "demo_flux.safetensors"}},
 "2": {"class_type": "CLIPTextEncode", "inputs": {"text": "a red circle on a blue background", "clip": ["1", 1]}},
 "3": {"class_type": "EmptySD3LatentImage", "inputs": {"width": 64, "height": 64, "batch_size": 1}},
 "4": {"class_type": "KSampler", "inputs": {"seed": 7, "steps": 12, "cfg": 1.0, "sampler_name": "euler", "scheduler": "simple",
   "denoise": 1, "model": ["1", 0], "positive": ["2", 0], "negative": ["2", 0], "latent_image": ["3", 0]}},
 "5": {"class_type": "VAEDecode", "inputs": {"samples": ["4", 0], "vae": ["1", 2]}},
 "6": {"class_type": "SaveImage", "inputs": {"images": ["5", 0], "filename_prefix": "p"}}}
EOF
R="$N run $tmp/w.json --models data/demo/models --device ref --no-metadata"
steps() { ls "$XDG_STATE_HOME"/ninodes/steps/*.steps 2>/dev/null | wc -l; }
size() { cat "$XDG_STATE_HOME"/ninodes/steps/*.steps 2>/dev/null | wc -c; }
# started DIR ARGS...: in the background, until three steps are kept
started() {
    mkdir "$tmp/$1"
    env --default-signal=INT $R --output "$tmp/$@" >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    for _ in $(seq 600); do
        [ "$(size)" -lt 12000 ] || return 0
        kill -0 $pid 2>/dev/null || die "it ended"
        sleep 0.05
    done
    die "no steps are kept"
}

mkdir "$tmp/whole"
expect 0 $R --output "$tmp/whole"
[ "$(steps)" = 0 ] || die "steps of a finished run were left"

started killed
kill -9 $pid
wait $pid 2>/dev/null
[ "$(steps)" = 1 ] || die "a killed run left no steps"
expect 0 $R --resume -v --output "$tmp/killed"
said 'goes on after step [0-9]* of 12'
cmp "$tmp/whole/p_00001_.png" "$tmp/killed/p_00001_.png" || die "another picture after kill -9"
[ "$(steps)" = 0 ] || die "steps of a finished run were left"

started stopped
kill -INT $pid
wait $pid
[ $? = 130 ] || die "exit status after Ctrl-C"
said '[0-9] steps are kept: --resume goes on from there'
expect 0 $R --resume --json --output "$tmp/stopped"
printed 'goes on after step [0-9]* of 12'
json_lines "$tmp/out" ok
cmp "$tmp/whole/p_00001_.png" "$tmp/stopped/p_00001_.png" || die "another picture after Ctrl-C"

# a worker: what died with it goes on in the next one, at the step where it was
mkdir "$tmp/worked"
worker() {
    : >"$tmp/sock"
    $N worker --state "$tmp/state" --models data/demo/models --device ref --no-metadata --output "$tmp/worked" "$@" \
        >"$tmp/sock" 2>"$tmp/worker.err" &
    pid=$!
    await "$tmp/sock" 'ninodes/.*sock'
}
trap 'kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
worker
expect 0 "$N" jobs add "$tmp/w.json"
for _ in $(seq 600); do
    [ "$(cat "$tmp"/state/steps/*.steps 2>/dev/null | wc -c)" -lt 12000 ] || break
    sleep 0.05
done
kill -9 $pid
wait $pid 2>/dev/null
[ -n "$(ls "$tmp"/state/steps)" ] || die "a killed worker left no steps"
worker --resume -v
expect 0 "$N" jobs wait 1
cmp "$tmp/whole/p_00001_.png" "$tmp/worked/p_00001_.png" || die "another picture from the worker"
grep -q 'goes on after step [0-9]* of 12' "$tmp/worker.err" || die "the worker did not go on"
kill $pid
wait $pid 2>/dev/null
[ -z "$(ls "$tmp"/state/steps)" ] || die "steps of a finished job were left"

# no place for them: a warning, and the run goes on
: >"$tmp/file"
expect 0 env XDG_STATE_HOME="$tmp/file" $R --output "$tmp/whole"
said 'no steps are kept'
