# ninodes serve: clients of ComfyUI queue, watch, stop and look at results; tokens, names and a worker that dies.
. tests/cli/common
command -v python3 >/dev/null || { echo "skip: python3 is not installed"; exit 77; }
mkdir "$tmp/in" "$tmp/o"
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
start() { # a server in the background; $port when it answers
    : >"$tmp/url"
    "$N" serve --listen 127.0.0.1:0 --models data/demo/models --input "$tmp/in" --output "$tmp/o" --state "$tmp/state" \
        --images data/workflows/text_to_image.json --preview-every 1 --preview-percent 100 "$@" >"$tmp/url" 2>"$tmp/err" &
    pid=$!
    await "$tmp/url" '^http://127'
    port=$(sed 's/.*:\([0-9]*\)\/$/\1/' "$tmp/url")
}
stop() {
    kill -TERM $pid
    wait $pid
    got=$?
    pid=
    [ $got = 143 ] || die "serve ended with $got"
}

expect 2 "$N" serve --listen 0.0.0.0:0
said 'token'
expect 2 "$N" serve --listen nowhere:x
expect 2 "$N" serve --token short
for site in '*' example.org https://example.org/page; do expect 2 "$N" serve --listen 127.0.0.1:0 --allow-origin "$site"; done
said 'no site'
start
expect 0 python3 tests/serve/protocol.py "$port" "$tmp/o" "$tmp/in"
expect 0 python3 tests/serve/programs.py "$port" "$tmp/o"
expect 0 python3 tests/serve/rules.py "$port" "$tmp/state"
stop
workers() { for c in /proc/[0-9]*/cmdline; do tr '\0' ' ' <"$c" && echo; done 2>/dev/null | grep "[n]inodes worker .*$tmp/state"; }
! workers || die "a worker stayed"

start --token secret-token --host art.example.org --allow-origin https://pages.example.org
expect 0 python3 tests/serve/rules.py "$port" "$tmp/state" secret-token
for p in nginx caddy; do # behind the examples of data/doc/serve.md
    at=$(PATH=$PATH:/usr/sbin command -v $p) && command -v openssl >/dev/null || { echo "part skipped: $p or openssl is not installed"; continue; }
    mkdir "$tmp/$p"
    expect 0 python3 tests/serve/proxy.py $p "$at" "$port" secret-token "$tmp/$p"
done
stop
exit 0
