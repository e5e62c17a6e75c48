# run --grid: a run for each value or pair, with what does not change computed once, and a sheet.
. tests/cli/common
[ -d data/demo/models ] || { echo "skip: no demo model"; exit 77; }
env --default-signal=INT true 2>/dev/null || { echo "skip: env cannot reset signals"; exit 77; }
W=data/workflows/text_to_image.json
R="$N run $W --models data/demo/models --device ref --telemetry=off --set EmptySD3LatentImage.width=64 --set
   EmptySD3LatentImage.height=64 --set KSampler.steps=1"
# the width and height of a PNG
size() { od -A n -t u1 -j 16 -N 8 "$1" | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }'; }

expect 0 $R --output "$tmp/a" --grid KSampler.seed=1..3 --grid 'Prompt.text="a red circle, large",a star'
[ "$(wc -l <"$tmp/out")" = 7 ] || die "not six cells and the sheet"
for i in 1 2 3 4 5 6; do
    [ "$(sed -n ${i}p "$tmp/out")" = "$tmp/a/text_to_image_0000${i}_.png" ] || die "cell $i is not in its place"
done
[ "$(sed -n 7p "$tmp/out")" = "$tmp/a/grid_00001_.png" ] || die "the sheet is not last"
said '1/6 KSampler.seed=1 Prompt.text=a red circle, large: .* 0 nodes reused'
said '2/6 KSampler.seed=2 .* 4 nodes reused' # loader, texts and latent
said '4/6 KSampler.seed=1 Prompt.text=a star: .* 3 nodes reused'
said ' total '
set -- $(size "$tmp/a/grid_00001_.png") # boxes of 64, wider columns for short labels none; two lines of text on top
[ "$2" = $((8 + 2 * 20 + 4 + 2 * 72)) ] || die "the sheet is $1 x $2"
[ "$1" -gt $((8 + 3 * 72 + 60)) ] || die "no room for the labels of the rows: $1 x $2"
cmp -s "$tmp/a/text_to_image_00001_.png" "$tmp/a/text_to_image_00002_.png" && die "two seeds gave one picture"

# each file tells its own values, and gives the same picture as a run of its own
expect 0 "$N" convert "$tmp/a/text_to_image_00005_.png"
printed '"seed": *2'
printed '"text": *"a star"'
expect 0 $R --output "$tmp/one" --no-metadata --set KSampler.seed=2 --set 'Prompt.text=a star'
expect 0 $R --output "$tmp/b" --no-metadata --grid KSampler.seed=1,2 --grid 'Prompt.text=a star'
cmp "$tmp/one/text_to_image_00001_.png" "$tmp/b/text_to_image_00002_.png" || die "another picture than of a run alone"

expect 0 $R --output "$tmp/j" --grid KSampler.cfg=1..2:0.5 --json
json_lines "$tmp/out" ok
[ "$(grep -c '"type":"cell"' "$tmp/out")" = 3 ] || die "not three cells"
printed '"type":"cell","index":1,"total":3,"column":1,"row":0,"values":\[{"input":"KSampler.cfg","value":"1.5"}\]'
printed '"type":"cell_done","index":2.*"status":"ok".*"outputs":\["[^"]*_00003_.png"\]'
printed '"type":"sheet","path":"[^"]*/grid_00001_.png","columns":3,"rows":1'
printed '"grid":{"axes":\[{"input":"KSampler.cfg","values":\["1.0","1.5","2.0"\]}\],"cells":\[{"index":0,.*"sheet":"'

expect 0 $R --output "$tmp/d" --grid KSampler.seed=1..3 --grid KSampler.steps=1,2 --dry-run
printed 'grid *3 x 2 = 6 runs'
printed '^time  *[0-9-].* for all'
[ ! -e "$tmp/d" ] || [ -z "$(ls "$tmp/d")" ] || die "a dry run wrote something"
expect 0 $R --grid KSampler.seed=1..3 --dry-run --json
json_lines "$tmp/out" ok
printed '"grid":{"axes":.*"runs":3,"seconds":'
expect 0 $R --output "$tmp/q" --grid KSampler.seed=1,2 -q
[ "$(cat "$tmp/out")" = "$(printf '%s\n' "$tmp"/q/text_to_image_0000[12]_.png "$tmp/q/grid_00001_.png")" ] ||
    die "-q: not the paths alone"
silent err

# what is refused, before anything runs, in one line
refused() {
    text=$1
    shift
    expect 2 $R --output "$tmp/none" "$@"
    said "$text"
    [ "$(grep -cv 'hint' "$tmp/err")" -le 2 ] || die "more than a line and a hint"
}
refused 'two axes at most' --grid KSampler.seed=1 --grid KSampler.cfg=1 --grid KSampler.steps=1
refused 'same input' --grid KSampler.seed=1 --grid KSampler.seed=2
refused 'NODE.INPUT=VALUE' --grid seed
refused 'a value is empty' --grid KSampler.seed=1,,2
refused 'step above 0' --grid KSampler.seed=1..2:0
refused 'closing quote' --grid 'Prompt.text="a'
refused 'no such input' --grid KSampler.seeed=1,2
refused 'no node has this id' --grid 99.seed=1
refused 'KSampler.steps\|steps' --grid KSampler.steps=1,many
refused 'trace is of one run' --grid KSampler.seed=1 --trace "$tmp/t.json"
refused 'advise is on one run' --grid KSampler.seed=1 --advise
expect 2 $R --grid KSampler.seed=1,,2 --json
json_lines "$tmp/out" error
expect 2 $R --grid KSampler.seed=1 --grid KSampler.seed=2 --json
json_lines "$tmp/out" error
expect 4 $R --output "$tmp/none" --grid CheckpointLoaderSimple.ckpt_name=demo_flux.safetensors,none.safetensors
said 'none.safetensors'
[ ! -e "$tmp/none" ] || die "something ran"

# a cell that fails stays empty; the others run
expect 6 "$N" run data/tiny/decode.json $TINY --output "$tmp/f" --telemetry=off --mem-limit 256K --grid \
    4.filename_prefix=a,b
said '1/2 4.filename_prefix=a: '
said '2/2 4.filename_prefix=b: '
said 'no cell has a picture'

# Ctrl-C ends all; what is finished stays, on a sheet too
mkdir "$tmp/s"
env --default-signal=INT $R --output "$tmp/s" --grid KSampler.steps=1,9999,1 >"$tmp/out" 2>"$tmp/err" &
pid=$!
await "$tmp/err" '1/3 KSampler.steps=1: '
kill -INT $pid
wait $pid
[ $? = 130 ] || die "exit status after Ctrl-C"
[ "$(cat "$tmp/out")" = "$tmp/s/text_to_image_00001_.png
$tmp/s/grid_00001_.png" ] || die "not one cell and the sheet"
[ "$(ls "$tmp/s" | wc -l)" = 2 ] || die "left: $(ls "$tmp/s")"
exit 0
