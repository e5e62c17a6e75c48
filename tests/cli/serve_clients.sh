# ninodes serve and clients of ComfyUI that others publish: three packages from npm and the program of one, as they are.
. tests/cli/common
[ -n "${NINODES_TEST_LONG-}" ] || { echo "skip: it fetches clients from npm; the long check runs it"; exit 77; }
for p in node npm; do command -v $p >/dev/null || { echo "skip: $p is not installed"; exit 77; }; done
mkdir "$tmp/in" "$tmp/o" "$tmp/npm"
cp tests/serve/clients.mjs "$tmp/npm"
echo '{ "private": true }' >"$tmp/npm/package.json"
(cd "$tmp/npm" && HOME=$tmp timeout 300 npm install --silent --ignore-scripts --no-audit --no-fund \
    @stable-canvas/comfyui-client@1.5.9 @saintno/comfyui-sdk@0.3.1 comfy-ui-client@0.1.2 ws@8.18.3) >"$tmp/out" 2>&1 ||
    { echo "skip: npm cannot fetch the clients: $(tail -1 "$tmp/out")"; exit 77; }
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
start() {
    : >"$tmp/url"
    "$N" serve --listen 127.0.0.1:0 --models data/demo/models --input "$tmp/in" --output "$tmp/o" --state "$tmp/$1" --preview-every 1 \
        --preview-percent 100 "${@:2}" >"$tmp/url" 2>"$tmp/serve.err" &
    pid=$!
    await "$tmp/url" '^http://127'
    url=$(cat "$tmp/url")
}
stop() {
    kill -TERM $pid
    wait $pid
    pid=
}
W=$PWD/data/workflows/text_to_image.api.json
clients() { (cd "$tmp/npm" && timeout 300 node clients.mjs "$url" "$W" "$tmp/o" "$tmp/in" "$@"); }

start open
expect 0 clients
printed '^served$'
# The program of one of them: a run from the shell with its picture fetched.
cfli() { (cd "$tmp/npm" && timeout 300 node_modules/.bin/cfli -f "$W" -H "$url" --json "$@"); }
expect 0 cfli -i 6.inputs.seed=9 -d -o "$tmp/fetched"
printed '"status": "completed"'
for f in "$tmp"/fetched/*.png; do cmp "$f" "$tmp/o/${f##*/}" || die "another picture than the file"; done
stop

start closed --token a-long-secret
expect 0 clients a-long-secret
printed '^served with a token$'
expect 0 cfli --token a-long-secret -i 6.inputs.seed=12 --no-download
printed '"status": "completed"'
stop
exit 0
