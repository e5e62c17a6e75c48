# ninodes serve under thousands of requests that mean no good, while a job runs: it stays, keeps to its folders, and holds up nobody.
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: python3 is not installed"; exit 77; }
mkdir "$tmp/in" "$tmp/o"
echo "the secret beside the folders $$" >"$tmp/secret.png"
ls -lR --full-time "$tmp/secret.png" data/demo/models >"$tmp/before"
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
: >"$tmp/url"
"$N" serve --listen 127.0.0.1:0 --token hostile-token --models data/demo/models --input "$tmp/in" --output "$tmp/o" --state "$tmp/state" \
    --images data/workflows/text_to_image.json >"$tmp/url" 2>"$tmp/serve.err" &
pid=$!
await "$tmp/url" '^http://127'
port=$(sed 's/.*:\([0-9]*\)\/$/\1/' "$tmp/url")
expect 0 python3 tests/serve/hostile.py "$port" hostile-token "$([ -n "${NINODES_TEST_LONG-}" ] && echo 10000 || echo 2500)" "$tmp/secret.png" ${NINODES_TEST_LONG:+long}
cat "$tmp/out"
kill -TERM $pid
wait $pid
got=$?
pid=
[ $got = 143 ] || { cat "$tmp/serve.err"; die "serve ended with $got"; }
! grep -q 'ERROR\|runtime error\|has gone' "$tmp/serve.err" || { cat "$tmp/serve.err"; die "it did not go well"; }
ls -lR --full-time "$tmp/secret.png" data/demo/models | cmp -s - "$tmp/before" || die "something beside the folders has changed"
for f in "$tmp"/*; do
    case ${f##*/} in in | o | state | run | state-home | secret.png | before | url | serve.err | out | err) ;; *) die "a file outside: $f" ;; esac
done
exit 0
