#!/bin/bash
# A mask is painted by pointer and by keys, saved as ComfyUI reads it, and only what it covers is made anew by a run.
. "$(dirname "$0")/../lib.sh"
need_people
command -v convert >/dev/null || { echo "skip: convert is not installed"; exit 77; }
mkdir -p "$work/in"
cp "$root/data/demo/input/square.png" "$work/in/"
cat >"$work/inpaint.json" <<'END'
{"1": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "demo_flux.safetensors"}},
 "2": {"class_type": "CLIPTextEncode", "inputs": {"text": "a red circle on a blue background", "clip": ["1", 1]}},
 "3": {"class_type": "LoadImage", "inputs": {"image": "square.png"}},
 "4": {"class_type": "VAEEncode", "inputs": {"pixels": ["3", 0], "vae": ["1", 2]}},
 "5": {"class_type": "SetLatentNoiseMask", "inputs": {"samples": ["4", 0], "mask": ["3", 1]}},
 "6": {"class_type": "KSampler", "inputs": {"seed": 7, "steps": 4, "cfg": 1.0, "sampler_name": "euler", "scheduler": "simple",
   "denoise": 1.0, "model": ["1", 0], "positive": ["2", 0], "negative": ["2", 0], "latent_image": ["5", 0]}},
 "7": {"class_type": "VAEDecode", "inputs": {"samples": ["6", 0], "vae": ["1", 2]}},
 "8": {"class_type": "ImageCompositeMasked", "inputs": {"destination": ["3", 0], "source": ["7", 0], "x": 0, "y": 0,
   "resize_source": false, "mask": ["3", 1]}},
 "9": {"class_type": "SaveImage", "inputs": {"images": ["8", 0], "filename_prefix": "inpainted"}}}
END
start --models "$root/data/demo/models" --input "$work/in" --output "$work/out" "$work/inpaint.json"
need_bus
wait_state ready 60

at '*' 'Load Image, node 3*' wait || die "the node is not there"
at '*button' 'Paint the mask' click || die "the node offers no mask"
at '*' 'Mask, 0.0 % covered; brush of * pixels at 64, 64' wait || die "the mask does not begin empty"
read -r x y <<<"$(at '*' 'Mask, *' point)"
at 'spin button' Size set=20
# A stroke with the pointer, and one step of undo for it.
xdotool mousemove $((x - 60)) "$y" mousedown 1; sleep 0.1
for dx in -30 0 30 60; do xdotool mousemove $((x + dx)) "$y"; sleep 0.05; done
xdotool mouseup 1
at '*' 'Mask, [1-9]*' wait 2>/dev/null || at '*' 'Mask, *; brush of 20 pixels at *' wait || die "the pointer paints nothing"
shot mask_pointer
xdotool key ctrl+z
at '*' 'Mask, 0.0 % covered*' wait || die "a stroke is not one step of undo"
xdotool key ctrl+shift+z
ATCLICK_SECONDS=1 at '*' 'Mask, 0.0 % covered*' wait 2>/dev/null && die "it is not done again"
# By keys: smaller, up, and a line down the middle.
xdotool key bracketleft
at '*' 'Mask, *; brush of 17 pixels*' wait || die "a key does not make the brush smaller"
xdotool mousemove "$x" "$y"; sleep 0.1
for _ in 1 2 3 4 5; do xdotool key Up; done
xdotool keydown space key Down key Down key Down key Down keyup space
shot mask_keys
xdotool key e
at '*' 'Mask, *; eraser of 17 pixels*' wait || die "a key does not choose the eraser"
# It is not lost by a key; then saved beside the picture, which stays as it is.
xdotool key Escape
at button 'Discard it' wait || die "a painted mask is thrown away unasked"
xdotool key ctrl+s
saved=$work/in/clipspace/square-masked.png
until_ok 20 test -s "$saved" || die "the mask was not saved"
cmp -s "$work/in/square.png" "$root/data/demo/input/square.png" || die "the picture was changed"
at '*' 'Load Image, node 3*' wait
python3 - "$work/in/square.png" "$saved" <<'END' || die "the saved file is not the picture with its mask"
import subprocess, sys
raw = lambda f, k: subprocess.run(["convert", f, "-depth", "8", k + ":-"], stdout=subprocess.PIPE, check=True).stdout
rgb, rgba = raw(sys.argv[1], "rgb"), raw(sys.argv[2], "rgba")
n = 128 * 128
assert len(rgb) == 3 * n and len(rgba) == 4 * n
assert all(rgba[4 * i + k] == rgb[3 * i + k] for i in range(n) for k in range(3)), "a colour was lost"
alpha = rgba[3::4]
at = lambda x, y: alpha[y * 128 + x]
assert at(64, 64) == 0, "the middle is not covered"
assert at(2, 2) == at(125, 125) == 255, "a corner is covered"
share = sum(255 - a for a in alpha) / 255 / n
assert 0.02 < share < 0.3, share
END

[ -n "${NINODES_TEST_LONG:-}" ] || { app_do quit; at button 'Quit anyway' click; until_ok 15 gone; exit 0; } # the long check has the rest

# Only what is covered is made anew: elsewhere the picture is the one that was given, to a level of 255.
win_do run; wait_state done 120
made=$work/out/inpainted_00001_.png
until_ok 20 test -s "$made" || die "the run made no picture"
python3 - "$work/in/square.png" "$saved" "$made" <<'END' || die "the run did not keep to the mask"
import subprocess, sys
raw = lambda f, k: subprocess.run(["convert", f, "-depth", "8", k + ":-"], stdout=subprocess.PIPE, check=True).stdout
was, mask, now = raw(sys.argv[1], "rgb"), raw(sys.argv[2], "rgba")[3::4], raw(sys.argv[3], "rgb")
far = [max(abs(was[3 * i + k] - now[3 * i + k]) for k in range(3)) for i in range(128 * 128)]
outside = max(f for f, a in zip(far, mask) if a == 255)
inside = max(f for f, a in zip(far, mask) if a == 0)
print("outside", outside, "inside", inside)
assert outside <= 1, outside
assert inside > 20, inside
END
shot inpainted
app_do quit
at button 'Quit anyway' click
until_ok 15 gone || die "the app did not quit"
