# Where nothing can be written is found before anything is computed, by a run and by --dry-run: a file in the place of a
# folder, a folder in the place of a file, no permission, a read-only and a full file system; nothing is left behind.
. tests/cli/common
W=data/tiny/decode.json
[ -f $W ] || { echo "skip: no $W"; exit 77; }
R="run $W $TINY --device ref --telemetry=off"

# what no run may have got to
idle() {
    ! grep -q 'VAEDecode' "$tmp/err" || die "it computed first"
    ! grep -q '"type":"executing"' "$tmp/out" || die "it computed first"
}
# refused TEXT OPTIONS...: as a run, as JSON, as a dry run
refused() {
    text=$1
    shift
    for more in "" --json --dry-run "--dry-run --json"; do
        expect 1 "$N" $R "$@" $more
        said "$text"
        idle
        case $more in *json) json_lines "$tmp/out" error ;; esac
    done
}

echo text >"$tmp/file"
mkdir "$tmp/folder" "$tmp/o"
refused "4 SaveImage: $tmp/file: .*Not a directory (io)" --output "$tmp/file"
refused "no file can be written there: $tmp/file: Not a directory" --output "$tmp/file/sub/deeper"
refused "$tmp/file/t.json: .*Not a directory" --output "$tmp/o" --trace "$tmp/file/t.json"
refused "$tmp/folder: exists and is not a regular file" --output "$tmp/o" --trace "$tmp/folder"
refused "/dev/null: exists and is not a regular file" --output "$tmp/o" --trace /dev/null
refused "is not the name of a file" --output "$tmp/o" --trace "$tmp/o/"
refused "no file can be written there" --output /proc/nothing/here
refused "no file can be written there" --output "$tmp/o" --trace /proc/nothing/t.ninotrace
expect 1 "$N" bench --quick --device ref -n 1 group_norm --save "$tmp/file/b.json"
said "$tmp/file/b.json: .*Not a directory"
! grep -q measuring "$tmp/err" || die "bench measured first"
[ -z "$(ls -A "$tmp/o")" ] || die "left: $(ls -A "$tmp/o")"

# a plan does not write; folders that are missing are made by the run, not by looking
(cd /proc && expect 0 "$OLDPWD/$N" plan "$OLDPWD/$W" --models "$OLDPWD/data/tiny/models" --input "$OLDPWD/data/tiny/input" --device ref) ||
    exit 1
expect 0 "$N" $R --output "$tmp/new/deep" --trace "$tmp/new2/t.json" --dry-run
[ ! -e "$tmp/new" ] && [ ! -e "$tmp/new2" ] || die "a dry run made folders"
expect 0 "$N" $R --output "$tmp/new/deep" --trace "$tmp/new2/t.json"
[ -f "$tmp/new/deep/demo_00001_.png" ] && [ -f "$tmp/new2/t.json" ] || die "nothing was written"

# a worker's job fails as soon as it is its turn
"$N" worker --state "$tmp/state" --device ref --models data/tiny/models --input data/tiny/input >"$tmp/sock" 2>"$tmp/worker.err" &
pid=$!
trap 'kill -9 $pid 2>/dev/null; rm -rf "$tmp"' EXIT
await "$tmp/sock" 'ninodes/.*sock'
expect 1 "$N" jobs add $W --output "$tmp/file" --wait
said "$tmp/file: .*Not a directory"
expect 0 "$N" jobs shutdown
wait $pid

# no permission; only for who is root already
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$tmp"
    chmod 777 "$tmp/run" "$tmp/o"
    mkdir "$tmp/closed"
    real=$N
    cat >"$tmp/nobody" <<EOF
#!/bin/sh
exec env HOME="$tmp/o" XDG_CACHE_HOME="$tmp/o/cache" XDG_STATE_HOME="$tmp/o/state" XDG_RUNTIME_DIR="$tmp/o" \
    setpriv --reuid 65534 --regid 65534 --clear-groups "$PWD/$real" "\$@"
EOF
    chmod 755 "$tmp/nobody"
    N=$tmp/nobody
    if "$N" --version >/dev/null 2>&1 && setpriv --reuid 65534 --regid 65534 --clear-groups test -r $W; then
        refused "$tmp/closed.*: Permission denied" --output "$tmp/closed"
        refused "$tmp/closed.*: Permission denied" --output "$tmp/closed/sub"
        refused "$tmp/closed/t.json: .*Permission denied" --output "$tmp/o/p" --trace "$tmp/closed/t.json"
    else
        echo "part skipped: no permission: another user cannot run $real"
    fi
    N=$real
else
    echo "part skipped: no permission: needs root and setpriv"
fi

# a full and a read-only file system, in a mount namespace of their own
if unshare -m mount -t tmpfs none "$tmp/folder" 2>/dev/null; then
    cat >"$tmp/mounts.sh" <<'EOF'
mount -t tmpfs -o size=128k none "$tmp/folder" && head -c 100000 /dev/zero >"$tmp/folder/most" || exit 1
mkdir "$tmp/ro" && mount -t tmpfs -o ro none "$tmp/ro" || exit 1
EOF
    cat >"$tmp/inside.sh" <<'EOF'
. "$tmp/mounts.sh"
refused "$tmp/folder: no file can be written there: No space left on device" --output "$tmp/folder"
refused "No space left on device" --output "$tmp/folder/new/folder"
refused "$tmp/folder/t.json.gz: .*No space left on device" --output "$tmp/o" --trace "$tmp/folder/t.json.gz"
refused "Read-only file system" --output "$tmp/ro"
refused "Read-only file system" --output "$tmp/o" --trace "$tmp/ro/x/t.json"
[ "$(ls -A "$tmp/folder")" = most ] || die "left: $(ls -A "$tmp/folder")"
EOF
    export tmp N R TINY W
    export -f expect said die refused idle json_lines
    unshare -m bash "$tmp/inside.sh" || exit 1
else
    echo "part skipped: full and read-only file systems: no mounts here"
fi
exit 0
