# A real latent of a Wan video through a preview of it and all five ways to save a clip; other
# programs read what was written.
. tests/cli/common
A=${NINODES_ASSETS:-../shared/assets}/wan_latents
[ -f "$A/test_latents_wan.latent" ] || { echo "skip: no $A"; exit 77; }
command -v ffprobe >/dev/null || { echo "skip: no ffprobe"; exit 77; }

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
# nothing is left of a clip that was not finished
[ -z "$(ls -A "$tmp/o" | grep part)" ] || die "a temporary file is left"

# a whole Wan workflow: pieces and the clip are told, and nothing that the schema does not know
E=$A/../e2e/workflows/wan_tiny_euler.json
if [ -f "$E" ]; then
    expect 0 "$N" run "$E" --models "$A/../models" --output "$tmp/wan" --json
    json_lines "$tmp/out" ok
    printed '"type":"chunk"'
    printed '"type":"clip".*"frames":9'
fi
