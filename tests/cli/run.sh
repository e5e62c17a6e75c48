# Runs of the tiny demo: what goes where, JSON lines, options, and the exit status of each failure.
. tests/cli/common
W=data/tiny/decode.json
[ -f $W ] || { echo "skip: no $W"; exit 77; }

expect 0 "$N" run $W $TINY --output "$tmp/a" --telemetry=off
[ "$(cat "$tmp/out")" = "$tmp/a/demo_00001_.png" ] || die "stdout is not just the path"
[ -s "$tmp/a/demo_00001_.png" ] || die "no picture"
said '\[3/4\] 3 VAEDecode'
said 'memory'
said ' total '
! grep -q "$(printf '\r')" "$tmp/err" || die "carriage returns without a terminal"
[ ! -e "$tmp/run/ninodes" ] || die "a socket in spite of --telemetry=off"
[ "$(sed -n '/^  node/,$p' "$tmp/err" | wc -l)" -le 13 ] || die "the table is too long"

expect 0 "$N" inspect "$tmp/a/demo_00001_.png" # what the run was is beside the workflow
printed 'profile .*ninodes [0-9]'
printed '[0-9.]* s .* kernels  3 VAEDecode'
expect 0 "$N" run $W $TINY --output "$tmp/noprofile" --telemetry=off --no-profile
expect 0 "$N" inspect "$tmp/noprofile/demo_00001_.png"
! grep -q profile "$tmp/out" || die "a profile in spite of --no-profile"
expect 0 "$N" run $W $TINY --output "$tmp/bare" --telemetry=off --no-metadata
! grep -aqE 'prompt|workflow|profile' "$tmp/bare/demo_00001_.png" || die "metadata in spite of --no-metadata"

# a video: how fast its frames came, and how they meet
A=tests/data
expect 0 "$N" run $A/e2e/workflows/wan_tiny_euler.json --models $A/models --device ref --output "$tmp/v" \
    --telemetry=off --set 3.steps=1
said 'video: 9 frames in [0-9.]* s, [0-9.]* frames/s, steps where pieces meet [0-9.]*/255'

# in tiles: the seam meter speaks
sed 's/"VAEDecode"/"VAEDecodeTiled"/; s/"samples":/"tile_size": 256, "overlap": 32, "temporal_size": 64, "temporal_overlap": 8, "samples":/' \
    $W >"$tmp/tiled.json"
expect 0 "$N" run "$tmp/tiled.json" $TINY --output "$tmp/a" --set 4.filename_prefix=tiled
said 'tiles: [0-9]*, the first of [0-9]*x[0-9]* pixels: tiles were asked for'
said 'seams: [0-9]*, neighbours differ by [0-9.]*/255'
expect 0 "$N" run "$tmp/tiled.json" $TINY --output "$tmp/a" --set 4.filename_prefix=tiled --json --advise \
    --trace "$tmp/tiles.json"
printed '"type":"tile".*"why":"tiles were asked for"'
printed '"type":"seams"'
printed '"type":"advice".*"rule":"tiled-but-fits".*"setting":"3.tile_size=[0-9]*"'
json_lines "$tmp/out" ok
expect 0 grep -q '"why":"tiles were asked for"' "$tmp/tiles.json"
expect 0 "$N" trace advice "$tmp/tiles.json"
expect 0 "$N" trace diff "$tmp/tiles.json" "$tmp/tiles.json" --fail-over 1%
printed '3 VAEDecodeTiled .* +0.0 %'
printed 'one run each: no verdict (bench'
printed "B: .*tiles.json, done"
expect 0 "$N" trace diff "$tmp/tiles.json" "$tmp/tiles.json" --json
json_lines "$tmp/out" ok
expect 0 "$N" trace convert "$tmp/tiles.json" "$tmp/tiles2.json.gz"
expect 0 "$N" trace check "$tmp/tiles2.json.gz"
expect 2 "$N" trace diff "$tmp/tiles.json"
expect 2 "$N" trace diff "$tmp/tiles.json" "$tmp/tiles.json" --fail-over much
expect 0 "$N" plan "$tmp/tiled.json" $TINY
printed 'tiles *19 of'
printed '^  tile x 19 '

"$N" run - $TINY --output "$tmp/a" -q <$W || die "stdin: $?"
[ -s "$tmp/a/demo_00002_.png" ] || die "stdin was not run"
expect 0 "$N" run $W $TINY --output "$tmp/b" --json --trace "$tmp/t.json.gz"
json_lines "$tmp/out" ok
for t in queued executing executed progress output memory; do printed "\"type\":\"$t\""; done
printed '"outputs":\["'"$tmp"'/b/demo_00001_.png"\]'
printed '"class_type":"VAEDecode"'
expect 0 "$N" trace check "$tmp/t.json.gz"
printed 'ok, [0-9]* events'
expect 0 "$N" trace check "$tmp/t.json.gz" --json
json_lines "$tmp/out" ok
expect 0 "$N" trace summary "$tmp/t.json.gz"
printed '3 VAEDecode'
printed 'conv'
expect 0 "$N" trace summary "$tmp/t.json.gz" --json
json_lines "$tmp/out" ok
echo '{"traceEvents":[{"ph":"E","pid":1,"tid":1,"ts":1}]}' >"$tmp/bad.json"
expect 1 "$N" trace check "$tmp/bad.json"
said 'E without a B'
expect 4 "$N" trace check "$tmp/none.json"

# --set by id and by class; the values are checked
expect 0 "$N" run $W $TINY --output "$tmp/c" --set 4.filename_prefix=other -q
[ "$(cat "$tmp/out")" = "$tmp/c/other_00001_.png" ] || die "-q: not the path alone"
silent err
[ -s "$tmp/c/other_00001_.png" ] || die "--set by id"
expect 0 "$N" run $W $TINY --output "$tmp/c" -s SaveImage.filename_prefix=third -q
[ -s "$tmp/c/third_00001_.png" ] || die "--set by class"
expect 2 "$N" run $W $TINY --set 99.x=1
said '99'
expect 2 "$N" run $W $TINY --set nonsense
expect 0 "$N" run $W $TINY --output "$tmp/c" --seed 7 --dry-run
said 'no node of this workflow has a seed'

# nothing is written by a dry run
expect 0 "$N" run $W $TINY --output "$tmp/d" --dry-run
printed 'fits *yes'
[ ! -e "$tmp/d" ] || [ -z "$(ls "$tmp/d")" ] || die "a dry run wrote something"
expect 0 "$N" run $W $TINY --output "$tmp/d" --dry-run --json
json_lines "$tmp/out" ok
expect 6 "$N" plan $W $TINY --mem-limit 4MiB
printed 'fits *no (budget 4.0 MiB)'
expect 0 "$N" plan $W $TINY --profile gfx1151 --json
json_lines "$tmp/out" ok
printed '"profile":"gfx1151"'
printed '"basis":{"file":"[^"]*gfx1151[^"]*","date":"20[0-9-]*","measured":false,"assumed_efficiencies":true,"peak_type":"f16"'
printed '"least_seconds":[0-9.e-]*,"limiter":"\(arithmetic\|memory\|launches\)"'
expect 0 "$N" plan $W $TINY --profile gfx1151
printed 'total .* ~[0-9.]* s  \(arithmetic\|memory\|launches\)$'
printed '^profile   gfx1151 (.*gfx1151.*, 20[0-9-]*)$'
printed '^~         assumed: products reach at most 62 %, convolutions 62 %, attention 49 % of the f16 peak$'
printed '^          not measured on hardware$'
printed '^bounds    at least [0-9.]* s, with all of 59.4 TFLOPS (f16) and 212 GB/s, both the profile.s$'
printed '^fits      yes$'
expect 6 "$N" plan $W $TINY --profile gfx1151 --mem-limit 4MiB
printed 'fits *no (budget 4.0 MiB)'
NINODES_MEM_LIMIT=4MiB expect 6 "$N" plan $W $TINY --profile gfx1151
printed 'fits *no (budget 4.0 MiB)'
expect 2 "$N" plan $W $TINY --profile nothing

# failures
expect 4 "$N" run "$tmp/none.json"
said 'none.json'
expect 4 "$N" run "$tmp/none.json" --json
json_lines "$tmp/out" error
echo '{' >"$tmp/broken.json"
expect 3 "$N" run "$tmp/broken.json"
echo '{"1":{"class_type":"VAEDecod","inputs":{}},"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"x"}}}' >"$tmp/unknown.json"
expect 3 "$N" run "$tmp/unknown.json" --json
json_lines "$tmp/out" error
printed '"type":"issue"'
said 'VAEDecode'
expect 4 "$N" run $W --models "$tmp" --input data/tiny/input
said 'vae_tiny.safetensors'
expect 4 "$N" run $W --models data/tiny/models --input "$tmp" --json
json_lines "$tmp/out" error
expect 5 "$N" run $W $TINY --device nosuch
said 'ninodes devices'
expect 5 "$N" run $W $TINY --device nosuch --json
json_lines "$tmp/out" error
expect 6 "$N" run $W $TINY --output "$tmp/e" --mem-limit 256K --json
json_lines "$tmp/out" error
[ -z "$(ls "$tmp/e" 2>/dev/null)" ] || die "a failed run left files"
[ -z "$(ls "$tmp/run/ninodes")" ] || die "sockets were left: $(ls "$tmp/run/ninodes")"
exit 0
