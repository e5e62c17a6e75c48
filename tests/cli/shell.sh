# Friendliness of the shell: doctor and what it finds wrong, the demo, a workflow from stdin, runs at every save, a manual page each.
. tests/cli/common
export HOME=$tmp/home
mkdir "$tmp/home" "$tmp/o"
good="$N doctor --models data/demo/models --output $tmp/o"
"$N" devices | grep -q 'cl:0' || { echo "skip: no OpenCL device"; exit 77; }

# doctor
expect 0 $good
for word in drivers device access models kernels state output sockets; do printed "^ok  *$word " || die "$word"; done
printed 'data/demo/models: 7 files'
printed 'Next: ninodes demo'
expect 0 $good --json
json_lines "$tmp/out" ok
printed '"bad":0'
expect 4 "$N" doctor --models "$tmp/none" --output "$tmp/o"
printed "^note  *models  *$tmp/none: No such file"
printed '^bad  *models  *no model was found'
printed '1 of these must be set right'
mkdir -p "$HOME/ComfyUI/models"
expect 4 "$N" doctor --models "$tmp/none" --output "$tmp/o"
printed 'export NINODES_MODELS=~/ComfyUI/models'
mkdir "$tmp/icd"
OCL_ICD_VENDORS=$tmp/icd expect 5 $good
printed '^bad  *drivers  *no OpenCL driver is registered'
printed 'pocl-opencl-icd'
XDG_RUNTIME_DIR='' expect 0 $good
printed '^note  *sockets'
: >"$tmp/file"
expect 1 $good --output "$tmp/file/below"
printed '^bad  *output'
XDG_STATE_HOME=$tmp/home/state "$N" worker --models data/demo/models >"$tmp/sock" 2>/dev/null &
pid=$!
trap 'kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
await "$tmp/sock" sock
XDG_STATE_HOME=$tmp/home/state expect 0 $good
printed "^ok  *worker  *process $pid takes jobs"
kill $pid
wait $pid

# demo
expect 0 "$N" demo -o "$tmp/o"
said 'another: ninodes demo'
cmp "$(cat "$tmp/out")" "$tmp/o/text_to_image_00001_.png" || die "no picture"
expect 0 "$N" demo image -q -o "$tmp/o" --set 'Prompt.text=a green star' --json
json_lines "$tmp/out" ok
expect 2 "$N" demo sculpture
said 'not one of image, video'
cp "$N" "$tmp/alone" # without what is installed beside it
LD_LIBRARY_PATH=${B:-build} expect 4 "$tmp/alone" demo
said 'not installed'

# a workflow from standard input
"$N" run - $TINY -q -o "$tmp/o" <data/tiny/decode.json >"$tmp/out" 2>"$tmp/err" || die "no run from standard input"
[ -f "$(cat "$tmp/out")" ] || die "no picture of a run from standard input"

# runs at every save
for bad in "--grid KSampler.seed=1,2" --dry-run --json; do
    expect 2 "$N" run "$tmp/w.json" --watch $bad
done
expect 2 "$N" run - --watch
save() { sed "s/\"filename_prefix\": *\"[^\"]*\"/\"filename_prefix\": \"$1\"/" data/tiny/decode.json >"$tmp/w.new" && mv "$tmp/w.new" "$tmp/w.json"; }
save first
"$N" run "$tmp/w.json" --watch $TINY -o "$tmp/o" >"$tmp/paths" 2>"$tmp/err" &
pid=$!
await "$tmp/paths" first_00001
await "$tmp/err" 'waiting until w.json is saved'
: >"$tmp/other.json"
save second
await "$tmp/paths" second_00001
echo '{"1": {"class_type": "NoSuchNode", "inputs": {}}}' >"$tmp/w.json" # told, and waited on
await "$tmp/err" NoSuchNode
save third
await "$tmp/paths" third_00001
[ "$(wc -l <"$tmp/paths")" = 3 ] || die "other runs: $(cat "$tmp/paths")"
kill -TERM $pid
wait $pid
got=$?
[ $got = 143 ] || die "--watch ended with $got"

# a page each
for c in $("$N" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do
    expect 0 "$N" completion man "$c"
    printed "^ninodes.-$c .- "
    if command -v man >/dev/null; then
        man --warnings -l "$tmp/out" >/dev/null 2>"$tmp/err" || true
        silent err
    fi
done
expect 2 "$N" completion man nothing
expect 2 "$N" completion bash run
exit 0
