# The latent of a Wan video (a real one where there is one, else moving waves) through a preview of it
# and all five ways to save a clip; other programs read what was written.
. tests/cli/common
command -v ffprobe >/dev/null || { echo "skip: no ffprobe"; exit 77; }
A=${NINODES_ASSETS:-../shared/assets}/wan_latents
if [ ! -f "$A/test_latents_wan.latent" ]; then
    command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
    A=$tmp/in
    mkdir "$A"
    python3 - "$A/test_latents_wan.latent" <<'EOF'
import array, json, math, struct, sys

shape = 1, 16, 16, 40, 64  # batch, channels, frames, rows, columns
values = array.array("f", (math.sin(0.9 * c + 0.4 * t + 0.2 * y + 0.1 * x * (c % 3))
                           for c in range(16) for t in range(16) for y in range(40) for x in range(64)))
head = json.dumps({"latent_tensor": {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * len(values)]}}).encode()
head += b" " * (-len(head) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(head)) + head + values.tobytes())
EOF
fi

cat >"$tmp/clip.json" <<'EOF'
{"1": {"class_type": "LoadLatent", "inputs": {"latent": "test_latents_wan.latent"}},
 "2": {"class_type": "LatentPreview", "inputs": {"samples": ["1", 0], "format": "auto", "scale": 8}},
 "3": {"class_type": "CreateVideo", "inputs": {"images": ["2", 0], "fps": 4}},
 "4": {"class_type": "SaveVideo", "inputs": {"video": ["3", 0], "filename_prefix": "a", "format": "auto", "codec": "auto"}},
 "5": {"class_type": "SaveWEBM", "inputs": {"images": ["2", 0], "filename_prefix": "b", "codec": "vp9", "fps": 4, "crf": 32}},
 "6": {"class_type": "SaveAnimatedWEBP", "inputs": {"images": ["2", 0], "filename_prefix": "c", "fps": 4, "lossless": false, "quality": 80, "method": "fastest"}},
 "7": {"class_type": "SaveAnimatedPNG", "inputs": {"images": ["2", 0], "filename_prefix": "d", "fps": 4, "compress_level": 4}},
 "8": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "e"}}}
EOF
expect 0 "$N" run "$tmp/clip.json" --input "$A" --output "$tmp/o" --device ref --json
json_lines "$tmp/out" ok
# one preview frame a latent frame: 16 of 40x64 cells, 8 pixels each
probe() {
    got=$(ffprobe -v error -count_frames -select_streams v:0 \
        -show_entries stream=width,height,r_frame_rate,nb_read_frames -of csv=p=0 "$1")
    [ "$got" = "512,320,4/1,16" ] || die "$1: $got"
}
probe "$tmp/o/a_00001_.mp4"
probe "$tmp/o/b_00001_.webm"
probe "$tmp/o/d_00001_.png"
[ "$(ls "$tmp/o" | grep -c '^e_')" = 16 ] || die "not 16 pictures"
[ "$(ffprobe -v error -show_entries format_tags=prompt -of csv=p=0 "$tmp/o/a_00001_.mp4" | grep -c LatentPreview)" = 1 ] ||
    die "no workflow in the MP4"
if command -v identify >/dev/null; then
    [ "$(identify "$tmp/o/c_00001_.webp" | wc -l)" = 16 ] || die "not 16 frames in the WebP"
fi
# every one opens as the workflow it came from
for f in a_00001_.mp4 b_00001_.webm c_00001_.webp d_00001_.png e_00001_.png; do
    expect 0 "$N" convert "$tmp/o/$f"
    printed '"class_type": "SaveAnimatedPNG"'
done
# what each of them is, and that there is a workflow in it, or none
is() { # FILE CONTAINER CODEC
    expect 0 "$N" inspect "$1"
    printed "^format  *$2\$"
    printed "^video  *$3: 512x320, 16 frames, 4 fps, 4.000 s\$"
    [ -z "$4" ] && printed '^graph  *prompt: 8 nodes, [0-9]* bytes' && printed '^profile .*ninodes [0-9]' ||
        printed '^graph  *none: no workflow in it'
    expect 0 "$N" inspect "$1" --json
    json_lines "$tmp/out" ok
    printed "\"format\":\"$2\".*\"role\":\"video\",\"family\":\"$3\",\"detail\":\"512x320, 16 frames, 4 fps, 4.000 s\""
}
is "$tmp/o/a_00001_.mp4" mp4 '\(h264\|mpeg4\)'
is "$tmp/o/b_00001_.webm" webm vp9
is "$tmp/o/c_00001_.webp" webp webp
is "$tmp/o/d_00001_.png" apng png
expect 0 "$N" inspect "$tmp/o/e_00001_.png"
printed '^image  *png: 512x320$'
expect 0 "$N" run "$tmp/clip.json" --input "$A" --output "$tmp/bare" --device ref -q --no-metadata
is "$tmp/bare/a_00001_.mp4" mp4 '\(h264\|mpeg4\)' none
is "$tmp/bare/b_00001_.webm" webm vp9 none
is "$tmp/bare/c_00001_.webp" webp webp none
is "$tmp/bare/d_00001_.png" apng png none
head -c 3000 "$tmp/o/a_00001_.mp4" >"$tmp/cut.mp4" # a damaged one is an error, in one line
expect 1 "$N" inspect "$tmp/cut.mp4"
said cut.mp4
[ "$(wc -l <"$tmp/err")" = 1 ] || die "more than a line"
# nothing is left of a clip that was not finished
[ -z "$(ls -A "$tmp/o" | grep part)" ] || die "a temporary file is left"

# a whole Wan workflow: pieces and the clip are told, and nothing that the schema does not know
expect 0 "$N" run tests/data/e2e/workflows/wan_tiny_euler.json --models tests/data/models --output "$tmp/wan" --json
json_lines "$tmp/out" ok
printed '"type":"chunk"'
printed '"type":"clip".*"frames":9'
