# Debug captures from the command line: listed, compared, one node run again; pictures compared.
. tests/cli/common
[ -d data/tiny/models ] || { echo "skip: no demo model"; exit 77; }
here=$PWD
case $N in /*) ;; *) N=$here/$N ;; esac
tiny="--models $here/data/tiny/models --input $here/data/tiny/input"
cat >"$tmp/w.json" <<'END'
{"1": {"class_type": "EmptyLatentImage", "inputs": {"width": 64, "height": 48, "batch_size": 1}},
 "2": {"class_type": "VAELoader", "inputs": {"vae_name": "vae_tiny.safetensors"}},
 "3": {"class_type": "VAEDecode", "inputs": {"samples": ["1", 0], "vae": ["2", 0]}},
 "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "p"}}}
END
for run in a b; do
    mkdir "$tmp/$run"
    cd "$tmp/$run"
    [ $run = a ] || more="--precision fp16"
    ROCM_NINODES_DEBUG=1 expect 0 "$N" run "$tmp/w.json" $tiny --device ref -o "$tmp/$run" $more
done
cd "$tmp"
a=a/test_data/captured
b=b/test_data/captured
expect 0 "$N" capture ls $a
printed '^3 *VAEDecode *ref *auto .*vae_decode_input_'
expect 0 "$N" capture diff $a $a
printed 'tensors are the same$'
expect 1 "$N" capture diff $a $b
printed '^3 VAEDecode output IMAGE .*NMSE .*PSNR .* dB, max '
printed 'the first difference: 3 VAEDecode output IMAGE: differs$'
expect 0 "$N" capture run $a $tiny
printed '^3 VAEDecode output IMAGE .* same$'
expect 1 "$N" capture run $a $tiny --precision fp16
expect 0 "$N" capture run $b $tiny # in the precision that it was captured in
expect 4 "$N" capture diff $a nothing
said 'nothing: there is no such file or folder'
expect 4 "$N" capture ls a/p_00001_.png
said 'no node is captured here'
expect 2 "$N" capture merge $a
said 'capture: ls DIR, diff A B or run DIR'

expect 0 "$N" compare a/p_00001_.png a/p_00001_.png
printed '^the same, pixel for pixel: 64x48, 1 frame$'
expect 0 "$N" compare a/p_00001_.png b/p_00001_.png --psnr 40
expect 2 "$N" compare a/p_00001_.png a/p_00001_.png --psnr much
said 'psnr needs decibels, such as 40, not much'
expect 4 "$N" compare a/p_00001_.png a/none.png
cd "$here"
for args in "capture diff $tmp/$a $tmp/$a" "compare $tmp/a/p_00001_.png $tmp/a/p_00001_.png"; do
    expect 0 "$N" $args --json
    json_lines "$tmp/out" ok
done
exit 0
