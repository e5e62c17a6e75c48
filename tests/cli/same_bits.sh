# The same workflow gives the same bits, however many threads compute it and whatever looks on; schedules differ by
# rounding alone. In the long form each workflow of the demo under each combination.
. tests/cli/common
export NINODES_TELEMETRY=on
D="--models data/demo/models --input data/demo/input --no-metadata -q"
[ -f data/demo/models/checkpoints/demo_flux.safetensors ] || { echo "skip: the demo's models are not here"; exit 77; }
W=data/workflows

figure() { command -v python3 >/dev/null || return 0; PYTHONPATH=tests python3 tests/figure.py same_bits "$@"; }
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
    first=$tmp/first.$key$(basename "$flow")
    if [ ! -d "$first" ]; then
        mv "$tmp/got" "$first"
    else
        diff -r "$first" "$tmp/got" >"$tmp/out" || die "$flow: $what changes the result"
        runs=$((runs + 1))
    fi
}
runs=0
key= # of what differs by rounding: each has a first run of its own

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

# what makes another result, and says so: tiles that a memory limit asks for. Itself the same bits; off by rounding alone
# (fp32: what --precision auto chooses where memory is short may follow how fast the device was)
if [ -n "$NINODES_TEST_LONG" ] && command -v ffmpeg >/dev/null && command -v python3 >/dev/null; then
    key=tiled.
    for n in 1 3 8; do
        same "$n threads and tiles" "$tmp/image.json" POCL_MAX_PTHREAD_COUNT="$n" --precision fp32 --mem-limit 8MiB
    done
    same "tiles, watched and traced" "$tmp/image.json" --precision fp32 --mem-limit 8MiB --trace "$tmp/trace.ninotrace" --preview latent2rgb
    # shellcheck disable=SC2086
    expect 0 "$N" run "$tmp/image.json" ${D% -q} --output "$tmp/said" --precision fp32 --mem-limit 8MiB
    said 'tiles: [0-9]'
    for f in first.image.json first.tiled.image.json; do
        ffmpeg -v error -i "$tmp/$f/"*.png -f rawvideo -pix_fmt rgb24 "$tmp/$f.rgb" </dev/null || die "no pixels of $f"
    done
    most=$(python3 -c 'import sys; print(max(abs(x - y) for x, y in zip(*(open(f, "rb").read() for f in sys.argv[1:]))))' \
        "$tmp/first.image.json.rgb" "$tmp/first.tiled.image.json.rgb")
    [ "$most" -le 2 ] || die "tiles change the picture by $most of 255"
    figure "tiles that a memory limit asks for" "told, <= 2 of 255" "told, $most of 255"
fi

# other schedules: off by rounding, and each the same bits with any number of threads, watched or not, from an empty cache
command -v python3 >/dev/null || exit 0
nmse=
for s in generic wmma; do
    key=$s.
    same "schedule $s" "$tmp/image.json" NINODES_SCHEDULE=$s
    if [ $s = generic ] || [ -n "$NINODES_TEST_LONG" ]; then
        same "schedule $s with one thread" "$tmp/image.json" NINODES_SCHEDULE=$s POCL_MAX_PTHREAD_COUNT=1
    fi
    if [ -n "$NINODES_TEST_LONG" ]; then
        same "schedule $s, watched and traced" "$tmp/image.json" NINODES_SCHEDULE=$s --trace "$tmp/trace.ninotrace" \
            --preview latent2rgb --preview-every 1
        same "schedule $s from an empty cache" "$tmp/image.json" NINODES_SCHEDULE=$s NINODES_CACHE_DIR="$tmp/cache.$s"
        same "schedule $s with a memory limit" "$tmp/image.json" NINODES_SCHEDULE=$s --mem-limit 24MiB
    fi
    nmse="$nmse${nmse:+, }$s $(python3 - "$tmp/first.image.json" "$tmp/first.$key"image.json <<'EOF'
import json, struct, sys, glob

def latent(folder):
    data = open(glob.glob(folder + "/z_*.latent")[0], "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    begin, end = json.loads(data[8:8 + n])["latent_tensor"]["data_offsets"]
    return struct.unpack("<%df" % ((end - begin) // 4), data[8 + n + begin:8 + n + end])

a, b = latent(sys.argv[1]), latent(sys.argv[2])
nmse = sum((x - y) ** 2 for x, y in zip(a, b)) / sum(x * x for x in a)
print("%.1e" % nmse)
sys.exit(not 0 < nmse < 1e-6)
EOF
)" || die "schedule $s: not the same but for rounding"
done
figure "runs with the bits of the first" all "$runs of $runs, of $(echo $flows | wc -w) workflows and 3 schedules"
figure "schedules against each other" "NMSE < 1e-6" "$nmse"
