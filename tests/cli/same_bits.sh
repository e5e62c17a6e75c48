# The same workflow gives the same bits, however many threads compute it and whatever looks on; schedules differ by
# rounding alone. In the long form each workflow of the demo under each combination.
. tests/cli/common
export NINODES_TELEMETRY=on
D="--models data/demo/models --input data/demo/input --no-metadata -q"
[ -f data/demo/models/checkpoints/demo_flux.safetensors ] || { echo "skip: the demo's models are not here"; exit 77; }
W=data/workflows

# same NAME WORKFLOW [VARIABLE=VALUE...] [OPTION...]: runs it so, and compares with the first run of WORKFLOW
same() {
    what=$1 flow=$2
    shift 2
    set_=
    while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do
        set_="$set_ $1"
        shift
    done
    rm -rf "$tmp/got"
    # shellcheck disable=SC2086
    expect 0 env $set_ "$N" run "$flow" $D --output "$tmp/got" "$@"
    first=$tmp/first.$(basename "$flow")
    if [ ! -d "$first" ]; then
        mv "$tmp/got" "$first"
    else
        diff -r "$first" "$tmp/got" >"$tmp/out" || die "$flow: $what changes the result"
        runs=$((runs + 1))
    fi
}
runs=0

# with the latent, so that not even the last bit is lost in a picture
sed '1s/.*/{"90": {"class_type": "SaveLatent", "inputs": {"samples": ["6", 0], "filename_prefix": "z"}},/' \
    $W/text_to_image.api.json >"$tmp/image.json"
flows="$tmp/image.json"
threads="1 3"
if [ -n "$NINODES_TEST_LONG" ]; then
    threads="1 2 3 4 8 16"
    for f in fp8 gguf lora image_to_image tiled_decode text_to_video; do
        flows="$flows $W/$f.api.json"
    done
fi
for flow in $flows; do
    same "nothing" "$flow"
    for n in $threads; do
        same "$n threads" "$flow" POCL_MAX_PTHREAD_COUNT="$n"
    done
    same "a trace, previews and a viewer's socket" "$flow" --trace "$tmp/trace.ninotrace" --preview latent2rgb --preview-every 1
    same "no socket and one thread" "$flow" POCL_MAX_PTHREAD_COUNT=1 --telemetry off
    # just enough that no tile gets smaller
    same "a memory limit" "$flow" --mem-limit "$([ "$flow" = "$tmp/image.json" ] && echo 20MiB || echo 64MiB)"
    [ -z "$NINODES_TEST_LONG" ] || same "an empty cache of programs" "$flow" NINODES_CACHE_DIR="$tmp/cache" POCL_CACHE_DIR="$tmp/pocl"
done
echo "  $runs runs with the bits of the first"

# other schedules
command -v python3 >/dev/null || exit 0
for s in generic wmma; do
    expect 0 env NINODES_SCHEDULE=$s "$N" run "$tmp/image.json" $D --output "$tmp/$s"
    python3 - "$tmp/first.image.json" "$tmp/$s" <<'EOF' || die "schedule $s: not the same but for rounding"
import json, struct, sys, glob

def latent(folder):
    data = open(glob.glob(folder + "/z_*.latent")[0], "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    begin, end = json.loads(data[8:8 + n])["latent_tensor"]["data_offsets"]
    return struct.unpack("<%df" % ((end - begin) // 4), data[8 + n + begin:8 + n + end])

a, b = latent(sys.argv[1]), latent(sys.argv[2])
nmse = sum((x - y) ** 2 for x, y in zip(a, b)) / sum(x * x for x in a)
print("  %s: nmse %.1e" % (sys.argv[2].rsplit("/", 1)[1], nmse))
sys.exit(not 0 < nmse < 1e-6)
EOF
    grep nmse "$tmp/out" || true
done
