# What a compiler of kernels lacks, descriptors or room on a disk, is said in a line by the run: the driver does not end the
# process, and no folder of compiled kernels is set aside. With PoCL, whose compiler aborts or exits without either.
. tests/cli/common
W=data/tiny/decode.json
export NINODES_CACHE_DIR=$tmp/cache
"$N" devices 2>/dev/null | grep -q 'pthread-\|cpu-' || { echo "skip: no PoCL"; exit 77; }
run() { "$N" run $W $TINY --telemetry=off --output "$tmp/o" "$@"; }
limited() { (ulimit -n "$1" && shift && run "$@"); }
told() { # TEXT FOLDER: in one line, with nothing lost
    said "ninodes: run: 3 VAEDecode: $1"
    ! grep -q crashed "$tmp/err" || die "taken for a crash"
    ! ls -d "$2"/*.aside-* 2>/dev/null || die "the compiled kernels were set aside"
}

# descriptors: from where a device can be opened to where the driver has enough
for n in 12 14 18; do
    expect 1 limited $n
    told "compiling kernels: Too many open files" "$tmp/cache"
done
expect 1 limited 14 --json
json_lines "$tmp/out" error

# a compiler that fails where it has no room for what it writes meanwhile
mkdir "$tmp/kernels" "$tmp/kernels/kernels"
for f in cl/kernels/*.cl; do
    { echo "#error on purpose"; cat "$f"; } >"$tmp/kernels/kernels/${f##*/}"
done
TMPDIR=/proc/none NINODES_KERNEL_DIR=$tmp/kernels expect 1 run
told "/proc/none: no file can be written there" "$tmp/cache"
NINODES_KERNEL_DIR=$tmp/kernels expect 5 run
said "the kernels do not build"

# a full disk, in a mount namespace of its own; PoCL writes to it even when it has the program
mkdir "$tmp/small"
if unshare -m mount -t tmpfs none "$tmp/small" 2>/dev/null; then
    cat >"$tmp/inside.sh" <<'END'
mount -t tmpfs -o size=1m none "$tmp/small" || exit 1
export NINODES_CACHE_DIR=$tmp/small/cache
expect 1 run
told "$tmp/small/cache/pocl: No space left on device" "$tmp/small/cache"
mount -t tmpfs -o size=64m none "$tmp/small" || exit 1
expect 0 run
cat /dev/zero >"$tmp/small/rest" 2>/dev/null
expect 1 run
told "$tmp/small/cache/pocl: no file can be written there: No space left on device" "$tmp/small/cache"
rm "$tmp/small/rest"
expect 0 run
END
    export tmp N TINY W
    export -f expect said die run told
    unshare -m bash "$tmp/inside.sh" || exit 1
else
    echo "part skipped: a full disk: no mounts here"
fi
exit 0
