#!/bin/bash
# Files come and go: dropped on the window with the pointer, listed as recent, written with the workflow inside or without it.
. "$(dirname "$0")/lib.sh"
need_people

# One run makes a file of each kind that carries its workflow.
cat >"$work/all.json" <<'END'
{"1": {"class_type": "LoadLatent", "inputs": {"latent": "demo.latent"}},
 "2": {"class_type": "VAELoader", "inputs": {"vae_name": "vae_tiny.safetensors"}},
 "3": {"class_type": "VAEDecode", "inputs": {"samples": ["1", 0], "vae": ["2", 0]}},
 "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "still"}},
 "5": {"class_type": "SaveAnimatedPNG", "inputs": {"images": ["3", 0], "filename_prefix": "moving", "fps": 8.0, "compress_level": 1}},
 "6": {"class_type": "SaveAnimatedWEBP", "inputs": {"images": ["3", 0], "filename_prefix": "web", "fps": 8.0, "lossless": true, "quality": 80, "method": "fastest"}},
 "7": {"class_type": "SaveLatent", "inputs": {"samples": ["1", 0], "filename_prefix": "latent"}},
 "8": {"class_type": "CreateVideo", "inputs": {"images": ["3", 0], "fps": 4}},
 "9": {"class_type": "SaveVideo", "inputs": {"video": ["8", 0], "filename_prefix": "clip", "format": "auto", "codec": "auto"}},
 "10": {"class_type": "SaveWEBM", "inputs": {"images": ["3", 0], "filename_prefix": "vp9", "codec": "vp9", "fps": 4, "crf": 32}}}
END
"$B/ninodes" run "$work/all.json" --models "$root/data/tiny/models" --input "$root/data/tiny/input" -o "$work/made" --quiet ||
    die "the files to drop cannot be made"
if command -v ffmpeg >/dev/null; then # a sound as ComfyUI saves one
    ffmpeg -v error -f lavfi -i sine=duration=1 -metadata prompt="$(tr -d '\n' <"$work/all.json")" "$work/made/sound.flac"
fi
made() { find "$work/made" -name "$1*" | head -1; }

trap '' XFSZ # a limit for files is to end no app below
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out"
need_bus

shows() { at tab "$(basename "$1")*" wait; }
holds_all() { # the graph in front is the one of that run
    win_do export-api-to "$work/front.json"
    until_ok 20 grep -q '"SaveAnimatedWEBP"' "$work/front.json" && grep -q '"prefix": "latent"\|"filename_prefix": *"latent"' "$work/front.json"
    rm -f "$work/front.json"
}
drop 420 420 "$(made still)"
shows "$(made still)" || die "a dropped picture is not opened"
wait_state ready 30; holds_all || die "the picture's workflow is another one"
kinds="moving web latent clip vp9"
[ ! -e "$work/made/sound.flac" ] || kinds+=" sound"
drop 420 420 $(for k in $kinds; do made $k; done) # several at once: a tab each
for k in $kinds; do
    shows "$(made $k)" || die "a dropped file of kind $k is not opened"
    win_do open-path "$(made $k)"; wait_state ready 30 # to the front
    holds_all || die "the workflow of kind $k is another one"
done
shot dropped
printf 'no picture' >"$work/broken.png"
drop 420 420 "$work/broken.png"
at '*' '*broken.png*' wait || die "no message about a dropped file that holds nothing"

# Recent files: the last one first, none twice; one that is gone says so and leaves the list.
listed() { sed -n 's/^recent=//p' "${XDG_STATE_HOME:-$HOME/.local/state}/ninodes/studio/state.ini"; }
in_order() { [[ "$(listed)" == "$1;$2;"* ]]; }
cp "$root/data/tiny/decode.json" "$work/one.json"; cp "$work/all.json" "$work/two.json"
win_do open-path "$work/one.json"; win_do open-path "$work/two.json"
until_ok 20 in_order "$work/two.json" "$work/one.json" || die "recent files: $(listed)"

# A saved latent is shown in rough colours, in the strip and on its node.
wait_state ready 30; win_do run; wait_state done 120
at '*button' 'Result *: latent_00001_.latent' click || die "a saved latent is no result"
at '*' 'latent_00001_.latent, 64 × 64, a latent in rough colours' wait || die "a saved latent is not shown"
at '*' 'Save Latent, node 7, done, shows what it made*' wait || die "the node does not show the latent it made"
shot latent
quit
rm "$work/two.json"
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out"
at button one.json click || die "the start page does not list a recent file"
at tab 'one.json*' wait || die "a recent file does not open"
at '*button' 'Recent files' click
at 'menu item' two.json click || die "the menu does not list a recent file"
at '*' '*two.json*' wait || die "no message about a recent file that is gone"
forgotten() { [[ "$(listed)" == "$work/one.json;"* && "$(listed)" != *two.json* ]]; }
until_ok 20 forgotten || die "a file that is gone is still listed: $(listed)"

# A picture tells how it was made, unless it is saved without that or the preference says so.
tells() { grep -aq 'tEXtprompt' "$1"; }
is_bare() { [ -s "$1" ] && ! grep -aEq 'tEXt|iTXt|zTXt' "$1"; }
pixels() { convert "$1" rgba:- | md5sum; }
first=$work/out/demo_00001_.png second=$work/out/second_00001_.png
wait_state ready 30; win_do run; wait_state done 120
tells "$first" || die "a picture does not tell its workflow"
until_ok 20 enabled viewer-save-to || die "the result cannot be saved"
win_do viewer-save-to "$work/copy.png"; until_ok 20 cmp -s "$first" "$work/copy.png" || die "the copy is another file"
if command -v prlimit >/dev/null; then # no room: what stood there stays
    echo old >"$work/old.png"
    prlimit --pid "$app_pid" --fsize=100:
    win_do viewer-save-to "$work/old.png"
    at '*' '*File too large*' wait || die "it does not say that there was no room"
    [ "$(cat "$work/old.png")" = old ] || die "a copy that failed took the old file with it"
    prlimit --pid "$app_pid" --fsize=unlimited:
fi
win_do viewer-save-bare-to "$work/bare.png"; until_ok 20 is_bare "$work/bare.png" || die "saved without metadata, but it tells"
[ "$(pixels "$first")" = "$(pixels "$work/bare.png")" ] || die "without metadata it is another picture"
tells "$first" || die "the result itself lost its workflow"
win_do viewer-save-as
where=$(at checkbox 'Without the workflow*' point) || die "the dialog does not offer to leave the metadata out"
read -r x y <<<"$where" # without a window manager it stands in the corner
xdotool mousemove "$x" "$y" click 1; sleep 0.5
at 'text box' 'Name:' "text=$work/dialog.png"
shot save-result
at button '_Save*' click
until_ok 20 is_bare "$work/dialog.png" || die "the dialog's choice to leave the metadata out does nothing"
app_do preferences
at switch 'Workflow in pictures' toggle || die "no preference for the workflow in pictures"
shot preferences
win_do set "4.filename_prefix=second"; win_do run
until_ok 120 test -s "$second" || die "the second run wrote nothing"
wait_state done 60
is_bare "$second" || die "the preference is off, but the picture tells"
[ "$(pixels "$first")" = "$(pixels "$second")" ] || die "without metadata another picture is made"
app_do quit
at button 'Quit anyway' click # the workflow was changed
until_ok 15 gone || die "the app did not quit"
