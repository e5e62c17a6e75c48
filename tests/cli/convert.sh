# convert, and the other commands, on workflows in every form they come in.
. tests/cli/common
S=data/workflows/seeds

# the editor's form becomes the API form, which stays as it is
expect 0 "$N" convert $S/example_workflow.json
silent err
printed '"class_type": "KSampler"'
printed '"vae": \["1", 2\]'
cp "$tmp/out" "$tmp/api.json"
expect 0 "$N" convert "$tmp/api.json"
cmp -s "$tmp/out" "$tmp/api.json" || die "the API form changed"
expect 0 "$N" convert $S/example_workflow.json --ui
cmp -s "$tmp/out" $S/example_workflow.json || die "the editor's form is not the file's"
expect 0 "$N" convert "$tmp/api.json" -o -
cmp -s "$tmp/out" "$tmp/api.json" && [ ! -e - ] || die "- is not stdout"
expect 3 "$N" convert "$tmp/api.json" --ui
said 'does not hold the form that the editor saves'

# values change in both forms
expect 0 "$N" convert $S/example_workflow.json --set 5.steps=7 --seed 99 --output "$tmp/set.json"
silent out
grep -q '"steps": 7' "$tmp/set.json" || die "--set did nothing"
grep -q '"seed": 99' "$tmp/set.json" || die "--seed did nothing"
expect 0 "$N" convert $S/example_workflow.json --set 5.steps=7 --ui
printed '\[424242, "fixed", 7, 1, "euler"'
[ "$(diff "$tmp/out" $S/example_workflow.json | grep -c '^<')" = 1 ] || die "more than one line differs"
expect 2 "$N" convert $S/example_workflow.json --set 5.nothing=7
said 'no such input'

# where there is no room for the new file, the old one stays and nothing else does
mkdir "$tmp/w"
echo old >"$tmp/w/flow.json"
expect 1 bash -c "trap '' XFSZ; ulimit -f 1; exec '$N' convert $S/example_workflow.json -o '$tmp/w/flow.json'"
said 'w/flow.json: .*File too large'
[ "$(cat "$tmp/w/flow.json")" = old ] && [ "$(ls -A "$tmp/w")" = flow.json ] || die "the old file is gone"
expect 1 "$N" convert $S/example_workflow.json -o "$tmp/w/flow.json/x"
said 'Not a directory'

# links that lead nowhere are named, the rest is there
cat >"$tmp/broken.json" <<'EOF'
{"nodes": [{"id": 3, "type": "SaveLatent", "inputs": [{"name": "samples", "type": "LATENT", "link": 77}]}], "links": []}
EOF
expect 0 "$N" convert "$tmp/broken.json"
said '3.samples: link 77 does not exist'
expect 3 "$N" run "$tmp/broken.json" --dry-run --device ref
said '3 SaveLatent.samples: link 77 does not exist (bad_link)'
# ids that are there twice are numbered anew
echo '{"nodes": [{"id": 3, "type": "SaveLatent"}, {"id": 3, "type": "SaveLatent"}]}' >"$tmp/twice.json"
expect 0 "$N" convert "$tmp/twice.json"
printed '"3": {'
printed '"4": {'

# what is missing is all of it named, before anything runs
expect 4 "$N" run $S/basic_image.json --dry-run --device ref --models "$tmp"
said 'v1-5-pruned-emaonly.ckpt'

# a picture is a workflow
if [ -d data/tiny/models ]; then
    expect 0 "$N" run data/tiny/decode.json $TINY --device ref --output "$tmp/o"
    P=$(tail -1 "$tmp/out")
    expect 0 "$N" convert "$P"
    printed '"vae_tiny.safetensors"'
    expect 0 "$N" inspect "$P"
    printed '^graph  *prompt: 4 nodes'
    expect 0 "$N" plan "$P" $TINY --device ref
    expect 0 "$N" run "$P" $TINY --device ref --output "$tmp/o" --set 4.filename_prefix=again
    printed '/again_00001_.png'
fi
expect 0 "$N" inspect $S/flux_dev_optimized.json
printed '^format  *workflow'
printed 'UI form: 9 nodes to run'
printf '\211PNG\r\n\032\nrest' >"$tmp/cut.png"
expect 3 "$N" convert "$tmp/cut.png"
said 'cut.png'
printf 'GIF89a' >"$tmp/x.gif"
expect 3 "$N" convert "$tmp/x.gif"
expect 4 "$N" convert "$tmp/none.json"
# sounds carry workflows too
if command -v ffmpeg >/dev/null; then
    echo '{"7":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}}}' >"$tmp/tag.json"
    for f in s.flac s.mp3 s.opus; do
        ffmpeg -v error -f lavfi -i sine=duration=1 -metadata prompt="$(cat "$tmp/tag.json")" "$tmp/$f" || continue
        expect 0 "$N" convert "$tmp/$f"
        printed '"7":'
    done
    ffmpeg -v error -f lavfi -i sine=duration=1 "$tmp/bare.flac"
    expect 3 "$N" convert "$tmp/bare.flac"
    said 'no workflow in this sound'
    head -c 300 "$tmp/bare.flac" >"$tmp/short.flac"
    expect 3 "$N" convert "$tmp/short.flac"
    said 'short.flac'
fi
exit 0
