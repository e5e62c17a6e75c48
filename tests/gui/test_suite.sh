#!/bin/bash
# The app from end to end: opens a workflow of each family, edits, runs, cancels, pauses, loses its worker, opens pictures, undoes,
# compares two results, exports, recovers. Actions go over D-Bus, controls over AT-SPI by role and name.
. "$(dirname "$0")/lib.sh"
A=${NINODES_ASSETS:-$root/../shared/assets}
is() { [ "$(state_of "$1")" = "$2" ]; }
[ -x "$B/tests/gui/program/atclick" ] || { echo "skip: tests/gui/program/atclick was not built"; exit 77; }

mkdir -p "$XDG_CONFIG_HOME/ninodes"
printf '[preferences]\nautosave=1\n' >"$XDG_CONFIG_HOME/ninodes/studio.ini"
cp "$root/data/tiny/decode.json" "$work/a.json"
# What is used after it was freed is not what it was.
MALLOC_PERTURB_=85 start --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out" "$work/a.json"
wait_state ready 30
need_bus

# Every control has a name for a screen reader.
at window '*Ninodes Studio*' lint || die "controls without a name"

# Edit a value through a tab's document, undo, redo.
win_do set "4.filename_prefix=edited"
until_ok 10 enabled undo || die "a change cannot be undone"
wait_state ready 10
win_do undo; until_ok 10 enabled redo || die "nothing to do again after undo"
win_do redo
win_do canvas-select-all; win_do canvas-subgraph
at '*' 'New Subgraph, node *' wait || die "the nodes do not become a subgraph"
win_do undo; at '*' 'VAE Decode, node 3*' wait || die "undo does not bring the nodes back"
win_do save-to "$work/b.json"
grep -q '"edited"' "$work/b.json" || die "the saved file lacks the change"
win_do set "4.filename_prefix=again"; win_do save
at label "Saved $work/b.json" wait || die "it is not told where it was saved"
grep -q '"again"' "$work/b.json" || die "saved under its own name, the file lacks the change"
win_do export-api-to "$work/api.json"
grep -q '"class_type"' "$work/api.json" || die "the export is not in API form"
win_do set "4.filename_prefix=checked"; win_do set "4.nosuch=1" # refused in a bar, nothing breaks
sleep 1 # the check of the edit before must not take the message away
at '*' '*nosuch*' wait || die "no message about an input that does not exist"

# Run twice, with another latent size in between: two results, compared.
win_do run; wait_state done 120
at '*' 'Save Image, node 4, done, shows what it made*' wait || die "the node does not show the picture it made"
win_do set "4.filename_prefix=second"
wait_state ready 10
win_do run; wait_state done 120
[ "$(find "$work/out" -name '*.png' | wc -l)" = 2 ] || die "expected two pictures"
until_ok 10 enabled viewer-compare || die "two results cannot be compared"
win_do viewer-compare
at slider 'Border of the comparison' set=0.25 || die "the border of the comparison cannot be moved"
shot compare
win_do viewer-compare

# Run again takes the inputs of the last run, whatever was edited since, and comes before what waits.
has_files() { [ "$(find "$work/out" -name "$1*.png" | wc -l)" = "$2" ]; }
at '*' 'VAE Decode, node 3, cached*' wait || die "a node whose result was there is not marked as cached"
win_do set "4.filename_prefix=edited-since"
win_do measure-again
until_ok 120 has_files second 2 || die "run again did not repeat the last run"
wait_state done 120
at '*' 'VAE Decode, node 3, done*' wait || die "measured again, but nothing was computed"
has_files edited-since 0 || die "run again took what was edited"
win_do pause; until_ok 20 is pause true || die "the queue does not pause"
win_do run; win_do run-again
win_do pause; until_ok 20 is pause false || die "the queue does not resume"
until_ok 120 has_files edited-since 1 || die "the waiting run did not come"
[ "$(find "$work/out" -name '*.png' -printf '%T@ %f\n' | sort -n | tail -1 | cut -d' ' -f2)" = edited-since_00001_.png ] ||
    die "run again did not come before what waited"
wait_state done 120

# What the live views show can be written out, and the trace opens again.
win_do view timeline
win_do export-trace-to "$work/t.trace.json"
win_do export-view-to "$work/timeline.svg"
until_ok 10 test -s "$work/timeline.svg" || die "the timeline was not exported"
"$B/ninodes" trace check "$work/t.trace.json" >/dev/null || die "the exported trace is not valid"
win_do open-path "$work/t.trace.json"

# Pause holds the queue; what waits can be removed and moved; resume goes on.
win_do pause; until_ok 20 is pause true || die "the queue does not pause"
win_do set "4.filename_prefix=third"; win_do run
win_do set "4.filename_prefix=fourth"; win_do run-front
win_do panel queue
at button 'Remove: *' click || die "nothing to remove in the queue"
shot queue
win_do pause; until_ok 20 is pause false || die "the queue does not resume"
wait_state done 120

# Cancel, and the worker killed in the middle: the queue and the results stay, it goes on.
win_do reload
win_do set "4.filename_prefix=fifth"; win_do run
win_do cancel
wait_state "cancelled done" 60
kill -KILL "$(pgrep -P $app_pid -x ninodes)"
until_ok 30 is worker dead || die "nobody noticed that the worker is dead"
at button 'Restart the worker' click || die "no way to restart the worker"
until_ok 60 is worker ready || die "the worker did not come back"
win_do set "4.filename_prefix=sixth"; win_do run; wait_state done 120

# Clips play at their own rate, frame by frame, once or for ever, and beside each other.
cat >"$work/clip.json" <<'END'
{"1": {"class_type": "LoadLatent", "inputs": {"latent": "demo.latent"}},
 "2": {"class_type": "VAELoader", "inputs": {"vae_name": "vae_tiny.safetensors"}},
 "5": {"class_type": "RepeatLatentBatch", "inputs": {"samples": ["1", 0], "amount": 3}},
 "3": {"class_type": "VAEDecode", "inputs": {"samples": ["5", 0], "vae": ["2", 0]}},
 "4": {"class_type": "SaveAnimatedPNG", "inputs": {"images": ["3", 0], "filename_prefix": "clip", "fps": 8.0, "compress_level": 1}},
 "6": {"class_type": "SaveAnimatedPNG", "inputs": {"images": ["3", 0], "filename_prefix": "clip", "fps": 8.0, "compress_level": 1}}}
END
win_do open-path "$work/clip.json"; wait_state ready 20
win_do panel result
win_do run; wait_state done 120
until_ok 20 enabled viewer-play || die "a clip cannot be played"
at '*' 'clip_00002_.png, 512 × 512, 3 frames, 8 a second, 0.4 s' wait || die "the clip's rate is not known"
win_do viewer-loop; until_ok 5 is viewer-loop false || die "the clip cannot be told to end"
win_do viewer-play
until_ok 20 is viewer-play false || die "the clip does not end"
frame() { at slider Frame get | grep -q "$1"; }
until_ok 5 frame 2 || die "the clip does not end at its last frame: $(at slider Frame get)"
win_do viewer-previous-frame; until_ok 5 frame 1 || die "no frame back: $(at slider Frame get)"
win_do viewer-compare
at slider 'Border of the comparison' set=0.5 || die "two clips are not compared"
shot clip
win_do viewer-compare; win_do viewer-loop

# A picture that a run saved holds its workflow; so does a dropped one (the same path).
win_do open-path "$(find "$work/out" -name '*.png' | head -1)"
wait_state "ready done" 20
win_do open-path "$work/missing.json"
at '*' '*missing.json*' wait || die "no message about a missing file"

# The form edits the same document.
win_do panel form
at 'text box' 'File name*' wait || die "the form is empty"
at '*button' 'Choose values' click || die "the form's values cannot be chosen"
at checkbox 'Show File name*' wait || die "no box to choose a value with"
at '*button' 'Choose values' click
shot form

# A workflow of each family opens, whatever of it can run here.
if [ -d "$A/workflows_ui" ]; then
    for f in flux_dev_example sdxl_sdxl_simple_example wan_text_to_video_wan qwen_image_qwen_image_basic_example \
        sd3_sd3.5_simple_example lora_lora_multiple img2img_img2img_workflow z_image_z_image_turbo_example; do
        win_do open-path "$A/workflows_ui/$f.workflow.json"
        at tab '*' wait >/dev/null || true
        wait_state "ready invalid" 30
    done
    for f in "$A"/images_comfy_meta/*; do win_do open-path "$f"; wait_state "ready invalid" 30; done
    shot families
else
    echo "  part skipped: no test data in ../shared/assets"
fi

# Unsaved work is asked about in the window, and survives a crash.
kill -KILL $app_pid; wait $app_pid 2>/dev/null || true
win() { actions /window/1 Describe state; }
until_ok 10 gone
start --models "$root/data/tiny/models" --input "$root/data/tiny/input" "$work/a.json"
wait_state ready 30
win_do set "4.filename_prefix=unsaved"
kept() { ls "${XDG_STATE_HOME:-$HOME/.local/state}"/ninodes/studio/autosave/*/*.json; }
until_ok 15 kept || die "nothing was kept for recovery"
kill -KILL $app_pid; wait $app_pid 2>/dev/null || true
start --models "$root/data/tiny/models" --input "$root/data/tiny/input"
at '*' '*recovered*' wait || die "unsaved work was not recovered"
app_do quit
at '*' '*unsaved changes*' wait || die "nobody asked about unsaved changes"
at button 'Quit anyway' click
until_ok 15 gone || die "the app did not quit"
