# Shares of peak: a device is measured at its first use and says so with the date, no share passes 100 %, and kernels that
# are faster than the kept ceiling raise it.
. tests/cli/common
"$N" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
export XDG_CACHE_HOME=$tmp/cache-home # nothing is kept there
cat >"$tmp/decode.json" <<'EOF'
{"1": {"class_type": "EmptyLatentImage", "inputs": {"width": 512, "height": 512, "batch_size": 1}},
 "2": {"class_type": "VAELoader", "inputs": {"vae_name": "vae_tiny.safetensors"}},
 "3": {"class_type": "VAEDecode", "inputs": {"samples": ["1", 0], "vae": ["2", 0]}},
 "4": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "x"}}}
EOF
today=$(date +%Y-%m-%d)

run() { # NAME: runs the workflow and reads the shares of its trace
    expect 0 "$N" run "$tmp/decode.json" $TINY -o "$tmp/results" -d cl:0 --trace "$tmp/$1.ninotrace"
    expect 0 "$N" trace summary "$tmp/$1.ninotrace" --json
    tr ',}' '\n\n' <"$tmp/out" | sed -n 's/^"peak_percent"://p' | grep -v null >"$tmp/$1.shares" || true
    printed "\"peak_of\":\"as measured on this device, $today\""
    [ -s "$tmp/$1.shares" ] || die "no share of peak in the trace"
    awk '$1 > 100 { exit 1 }' "$tmp/$1.shares" || die "a share above 100 %"
}

expect 0 "$N" devices
grep -q 'measured on this device' "$tmp/out" && die "it was measured before its first use"
run first
expect 0 "$N" devices
printed "GFLOP/s in f32, .* GB/s, as measured on this device, $today"
expect 0 "$N" trace summary "$tmp/first.ninotrace"
printed "(% peak: as measured on this device, $today)"

# A ceiling that was measured far too low: the run raises it, tells it, and keeps it.
file=$(ls "$tmp/cache-home/ninodes/ceilings/"*.json)
sed -i 's/"flops_f32": [^,]*/"flops_f32": 1e6/' "$file"
run low
grep -q '"flops_f32": 1e6' "$file" && die "the ceiling was not raised"
awk '$1 == 100 { n++ } END { exit n > NR / 2 }' "$tmp/low.shares" || die "the raised ceiling was not told"
exit 0
