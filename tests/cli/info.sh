# devices, nodes, inspect, selftest: text and JSON; the node reference in data/ is not stale.
. tests/cli/common

expect 0 "$N" devices
printed '^ref '
expect 0 "$N" devices --json
json_lines "$tmp/out" ok
printed '"selector":"ref"'

expect 0 "$N" nodes
printed '^VAEDecode '
expect 0 "$N" nodes --json
json_lines "$tmp/out" ok
expect 0 "$N" nodes VAEDecodeTiled
printed 'tile_size .*512 px'
expect 0 "$N" nodes VAEDecodeTiled --json
json_lines "$tmp/out" ok
expect 0 "$N" nodes --markdown
cmp -s "$tmp/out" data/nodes.md || die "data/nodes.md is stale: $N nodes --markdown >data/nodes.md"

F=data/tiny/models/vae/vae_tiny.safetensors
if [ -f $F ]; then
    expect 0 "$N" inspect $F
    printed '^format  *safetensors'
    printed '^vae .*channels'
    expect 0 "$N" inspect $F --tensors
    [ "$(wc -l <"$tmp/out")" -gt 50 ] || die "--tensors lists none"
    expect 0 "$N" inspect $F --json
    json_lines "$tmp/out" ok
fi
expect 4 "$N" inspect "$tmp/none"
expect 4 "$N" inspect "$tmp/none" --json
json_lines "$tmp/out" error
head -c 100 /dev/zero >"$tmp/junk.safetensors"
expect 1 "$N" inspect "$tmp/junk.safetensors"

expect 0 "$N" selftest --device ref --quick --op act
printed 'passed, 0 failed'
expect 0 "$N" selftest --device ref --quick --op act --json
json_lines "$tmp/out" ok
expect 5 "$N" selftest --device nosuch
expect 2 "$N" selftest --device ref --quick --op nosuchop
exit 0
