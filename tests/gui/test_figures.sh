#!/bin/bash
# The kernel table shows what the trace and run --json tell of the same run: one that the command line did, opened in the app,
# and one that the app watched.
. "$(dirname "$0")/lib.sh"
tiny=(--models "$root/data/tiny/models" --input "$root/data/tiny/input")
agree() { # NAME [LINES]: the table in front is written out and agrees with NAME.json
    win_do export-view-to "$work/$1.csv"
    python3 "$here/figures.py" "$work/$1.csv" "$work/$1.json" "${@:2}" >"$work/figures" 2>&1
}
must_agree() {
    local end=$((SECONDS + 60))
    until agree "$@"; do [ $SECONDS -lt $end ] || die "$(cat "$work/figures")"; sleep 0.5; done
    cat "$work/figures"
}

"$B/ninodes" run "$root/data/tiny/decode.json" "${tiny[@]}" --output "$work/out" --json --trace "$work/run.json" >"$work/lines" ||
    die "the run failed"
start "${tiny[@]}" --output "$work/out" "$work/run.json"
win_do view kernels
must_agree run "$work/lines"
if has_bus; then
    at '*button' 'By shape' click || die "the table has no shapes"
    must_agree run shapes
    at '*button' 'By work size' click || die "the table has no work sizes"
    must_agree run sizes
    at '*button' 'By work size' click
    # the slowest kernel: its peers, its source, and its call once more
    win_do view kernel
    kernel=$(python3 -c 'import collections, csv, sys
total = collections.Counter() # the table written last has a row a work size
for r in csv.DictReader(open(sys.argv[1])):
    if r["family"] != "transfer":
        total[r["kernel"]] += float(r["total_ns"])
print(total.most_common(1)[0][0])' "$work/run.csv")
    at label "$kernel" wait || die "the page is not about $kernel"
    at label 'Call: conv2d f32:*' wait || die "the call is not told"
    peers() { win_do export-view-to "$work/peers.csv"; grep -q '^gemm_few,.*conv2d' "$work/peers.csv" && grep -q "^$kernel,.*conv2d" "$work/peers.csv"; }
    until_ok 20 peers || die "no peers: $(cat "$work/peers.csv")"
    at tab 'Source' click
    shows() { ATCLICK_SECONDS=3 at 'text*' "$1" get | grep -q "$2"; }
    until_ok 3 shows Source "options: .*-DWT=f16" || die "no source: $(at 'text*' Source get | head -5)"
    at tab 'Replay' click
    begun() { at button 'Replay' click; ATCLICK_SECONDS=1 at label 'Asking*' wait || shows Replay 'median of'; } # a page just shown takes no click
    until_ok 2 begun || die "the call cannot be made again"
    until_ok 6 shows Replay "median of 12 " || die "no replay: $(at 'text*' Replay get | head -5)"
    # what a screen reader gets of the pool: the answer with the size that it is about
    win_do view pool
    at 'spin button' 'Size of a request in MiB' set=8 || die "no size to ask for"
    answer() { at 'spin button' 'Size of a request in MiB' get | grep -q 'description=Would a request of 8 MiB be served? It fits'; }
    until_ok 10 answer || die "the answer is not told: $(at 'spin button' 'Size of a request in MiB' get)"
fi

win_do open-path "$root/data/tiny/decode.json"; wait_state ready 60
has_files() { [ "$(find "$work/out" -name '*.png' | wc -l)" = "$1" ]; }
n=1
for again in run measure-again; do # the second one in a worker that has run before
    win_do $again
    n=$((n + 1))
    until_ok 600 has_files $n || die "the run did not end"
    wait_state done 120
    win_do view kernels
    win_do export-trace-to "$work/$again.json"
    until_ok 20 "$B/ninodes" trace check "$work/$again.json" || die "the trace of the run is not valid"
    must_agree $again
done
# both runs were kept; the last one is compared with the first one
runs=${XDG_STATE_HOME:-$HOME/.local/state}/ninodes/studio/runs
kept() { set -- "$runs"/*.ninotrace; [ $# -ge 2 ]; }
until_ok 10 kept || die "kept runs: $(ls "$runs")"
win_do baseline "$(ls "$runs"/*.ninotrace | head -1)"
compared() { win_do export-view-to "$work/compared.csv"; grep -q '^kernel,3 VAEDecode,gemm,' "$work/compared.csv"; }
until_ok 10 compared || die "no comparison: $(head -3 "$work/compared.csv")"
quit
