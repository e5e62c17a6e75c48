# The shared queue with a simulated pool of workers that die, stand still and end: 1 000 of them in the long form.
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: python3 is not installed"; exit 77; }
NINODES_REDIS_PASSWORD=
. tests/cluster/redis
${CC:-gcc} -E -P -Icli -Icore/include cli/queue/scripts.c >"$tmp/scripts" 2>"$tmp/err" || { echo "skip: no compiler: $(tail -1 "$tmp/err")"; exit 77; }
expect 0 python3 tests/cluster/queue_sim.py "$tmp/redis.sock" "$tmp/scripts" 60 600
cat "$tmp/out"
mv "$tmp/out" "$tmp/first"
expect 0 python3 tests/cluster/queue_sim.py "$tmp/redis.sock" "$tmp/scripts" 60 600
cmp "$tmp/first" "$tmp/out" || die "the same seed gave another run"
[ -n "${NINODES_TEST_LONG:-}" ] || exit 0
expect 0 python3 tests/cluster/queue_sim.py "$tmp/redis.sock" "$tmp/scripts" 1000 20000
cat "$tmp/out"
exit 0
