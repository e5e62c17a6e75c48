# Kernels that are nowhere are compiled by helper processes, ahead of who needs them; then their binaries are kept, so that
# the next process compiles nothing. A damaged binary is made anew. Counted: programs, binaries, stages.
set -u
cd "$(dirname "$0")/../.."
. tests/cli/common
command -v flock >/dev/null || { echo "skip: flock is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "skip: python3 is not installed"; exit 77; }
export NINODES_CACHE_DIR=$tmp/cache
unset NINODES_HELPERS
"$N" devices | grep -q 'pthread-\|cpu-' || { echo "skip: no PoCL"; exit 77; }
W="data/tiny/decode.json $TINY"
run() { expect 0 "$N" run $W --no-metadata --output "$tmp/$1"; }
binaries() { find "$tmp/cache/kernels" -name '*.bin' -size +1k 2>/dev/null | wc -l; }
settled() { # until the helper has kept all N binaries; it is slow, and may not end before
    for _ in $(seq 240); do
        [ "$(binaries)" -ge "$1" ] && flock "$tmp/cache/kernels" true && return # it has ended: the next may keep
        sleep 1
    done
    die "only $(binaries) of $1 binaries were kept"
}

expect 0 "$N" plan $W --json
n=$(tail -1 "$tmp/out" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["data"]["programs"]))') || die "no list of programs"
[ "$n" -gt 0 ] || die "nothing to compile"
run first
said "preparing kernels 1 of $n"
said "preparing kernels $n of $n"
said "(preparing kernels, $n)"
settled "$n"

run second
! grep -q 'preparing kernels' "$tmp/err" || die "what was kept was compiled again"
one=$(ls "$tmp/first") && cmp "$tmp/first/$one" "$tmp/second/$one" || die "another picture from the binaries"

# a damaged one, and one cut short
set -- $(find "$tmp/cache/kernels" -name '*.bin' -size +1k)
printf 'x' | dd of="$1" bs=1 seek=5000 conv=notrunc 2>/dev/null
run third
said '(preparing kernels, 1)'
cmp "$tmp/first/$one" "$tmp/third/$one" || die "another picture after damage"
settled "$n"
run fourth
! grep -q 'preparing kernels' "$tmp/err" || die "the damaged one was not made anew"
exit 0
