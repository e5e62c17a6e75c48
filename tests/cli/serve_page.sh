# ninodes serve and a web browser: a frontend from a folder queues a prompt and shows its picture, and so does the own page. With
# NINODES_FRONTEND=DIR the published frontend of that folder is used as a person uses it; data/doc/serve.md says where to get one.
. tests/cli/common
browser=$(command -v chromium || command -v chromium-browser) || { echo "skip: chromium is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "skip: python3 is not installed"; exit 77; }
[ -n "${NINODES_TEST_LONG-}" ] || { echo "skip: a browser's start; the long check runs it"; exit 77; }
mkdir "$tmp/in" "$tmp/o" "$tmp/web"
cp -r tests/serve/frontend/. "$tmp/web"
cp data/workflows/text_to_image.api.json "$tmp/web/prompt.json"
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
start() {
    : >"$tmp/url"
    "$N" serve --listen 127.0.0.1:0 --models data/demo/models --input "$tmp/in" --output "$tmp/o" --state "$tmp/state" --preview-every 1 \
        --preview-percent 100 "$@" >"$tmp/url" 2>"$tmp/serve.err" &
    pid=$!
    await "$tmp/url" '^http://127'
    url=$(cat "$tmp/url")
}
browse() { # PICTURE REGEX
    rm -rf "$tmp/profile" && mkdir "$tmp/profile"
    expect 0 python3 tests/serve/browse.py "$browser" "$url" "$2" "$1" "$tmp/profile"
}
mkdir -p "${B:-build}/shots"
start --frontend "$tmp/web"
browse "${B:-build}/shots/serve_frontend.png" 'picture 128x128, watched'
kill -TERM $pid && wait $pid
pid=
start
browse "${B:-build}/shots/serve_page.png" 'alt="text_to_image_0000.*'
printed 'Nothing runs'
kill -TERM $pid && wait $pid
pid=
[ -n "${NINODES_FRONTEND-}" ] || { echo "part skipped: NINODES_FRONTEND names no folder with a published frontend"; exit 0; }
[ -f "$NINODES_FRONTEND/index.html" ] || die "NINODES_FRONTEND: there is no index.html in $NINODES_FRONTEND"
at=$tmp/published
mkdir "$at" "$at/in" "$at/o" "$at/profile"
cp data/demo/input/square.png "$at/in"
expect 0 python3 tests/serve/frontend.py "$N" "$NINODES_FRONTEND" "$at" "${B:-build}/shots/serve_published.png"
printed '^ok$'
exit 0
