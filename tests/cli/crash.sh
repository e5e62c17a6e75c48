# A driver that crashes: its compiled kernels are set aside, the run is tried once more, and the next one is well again. With
# a cache of PoCL that is really damaged, and with a driver that aborts while devices are listed.
. tests/cli/common
W=data/tiny/decode.json
export NINODES_CACHE_DIR=$tmp/cache
"$N" devices 2>/dev/null | grep -q 'pthread-\|cpu-' || { echo "skip: no PoCL"; exit 77; }
run() { "$N" run $W $TINY --telemetry=off --no-metadata --output "$tmp/o" "$@"; }
right() { cmp -s "$tmp/o/demo_00001_.png" "$tmp/right.png" || die "$1: another picture"; rm "$tmp/o/demo_00001_.png"; }

expect 0 run
mv "$tmp/o/demo_00001_.png" "$tmp/right.png"
cp -rp "$tmp/cache" "$tmp/whole"
[ -n "$(find "$tmp/whole/pocl" -name '*.so')" ] || { echo "skip: PoCL keeps no libraries here"; exit 77; }

damage() { # HOW FOLDER
    find "$2" -name '*.so' | while read -r f; do
        n=$(stat -c %s "$f")
        case $1 in
        cut) truncate -s 3000 "$f" ;;
        zeroed) head -c "$n" /dev/zero >"$f" ;;
        flipped) { head -c 64 "$f"; tail -c +65 "$f" | tr '\000-\377' '\001-\377\000'; } >"$tmp/f" && cp "$tmp/f" "$f" ;;
        esac
    done
}
for how in cut zeroed flipped; do
    rm -rf "$tmp/cache"
    cp -rp "$tmp/whole" "$tmp/cache"
    damage $how "$tmp/cache"
    expect 0 run
    [ "$(grep -c 'ninodes: run: crashed (' "$tmp/err")" = 1 ] || die "$how: not told in one line"
    said "ninodes: run: crashed (.*; $tmp/cache/pocl is now $tmp/cache/pocl.aside-1; .*trying once more\$"
    [ -d "$tmp/cache/pocl.aside-1" ] || die "$how: the damaged folder was not kept"
    right $how
    expect 0 run -q # for good
    silent err
    right "$how, the next run"
done

# where the user keeps PoCL's cache, and with the workflow from a file that is stdin
cp -rp "$tmp/whole/pocl" "$tmp/mine"
damage zeroed "$tmp/mine"
POCL_CACHE_DIR=$tmp/mine "$N" run - $TINY --telemetry=off --output "$tmp/o" -q <$W >"$tmp/out" 2>"$tmp/err" || die "stdin: $?"
said "$tmp/mine is now $tmp/mine.aside-1"
# a pipe cannot be read twice: no second try, but the next run is well
rm -rf "$tmp/mine"
cp -rp "$tmp/whole/pocl" "$tmp/mine"
damage cut "$tmp/mine"
export POCL_CACHE_DIR=$tmp/mine
cat $W | "$N" run - $TINY --telemetry=off --output "$tmp/o" --json >"$tmp/out" 2>"$tmp/err"
[ "${PIPESTATUS[1]}" = 5 ] || die "a pipe: exit status ${PIPESTATUS[1]}"
json_lines "$tmp/out" error
said "$tmp/mine is now $tmp/mine.aside-2"
! grep -q 'trying once more' "$tmp/err" || die "it read a pipe twice"
rm -rf "$tmp/o"
expect 0 run -q
right "after a pipe"

# a worker dies of the signal, as whoever started it expects; the next one is well
rm -rf "$tmp/mine"
cp -rp "$tmp/whole/pocl" "$tmp/mine"
damage zeroed "$tmp/mine"
"$N" worker --state "$tmp/state" $TINY --output "$tmp/worked" >"$tmp/socket" 2>"$tmp/worker" &
worker=$!
await "$tmp/socket" sock
expect 75 "$N" jobs add $W --wait --worker $worker
wait $worker
[ $? = 134 ] || die "the worker ended with $?"
grep -q "ninodes: worker: crashed (aborted).*; $tmp/mine is now $tmp/mine.aside-3" "$tmp/worker" || die "worker: $(cat "$tmp/worker")"
"$N" worker --resume --idle-end 1 --state "$tmp/state" $TINY --output "$tmp/worked" >/dev/null 2>&1 # what it died of waits, and runs now
[ -s "$tmp/worked/demo_00001_.png" ] || die "the second worker did not do the job"
unset POCL_CACHE_DIR

# a driver that aborts while devices are listed; one that does so once
command -v "${CC:-cc}" >/dev/null || { echo "part skipped: no C compiler"; exit 0; }
mkdir "$tmp/icd"
cat >"$tmp/driver.c" <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
int clIcdGetPlatformIDsKHR(unsigned n, void **list, unsigned *count)
{
    const char *once = getenv("ABORT_ONCE");
    FILE *f = once ? fopen(once, "r") : NULL;
    if (!f && once && (f = fopen(once, "w"), 1))
        abort();
    if (!f)
        abort();
    (void) n, (void) list, *count = 0;
    return -1001;
}
void *clGetExtensionFunctionAddress(const char *name)
{
    return name[5] == 'G' ? (void *) (long) clIcdGetPlatformIDsKHR : NULL;
}
int clGetPlatformInfo(void *p, unsigned what, unsigned long size, void *out, unsigned long *used)
{
    (void) p, (void) what, (void) size, (void) out, (void) used;
    return -30;
}
EOF2
"${CC:-cc}" -w -shared -fPIC -o "$tmp/libaborts.so" "$tmp/driver.c" || die "the driver does not build"
echo "$tmp/libaborts.so" >"$tmp/icd/a.icd"
export OCL_ICD_VENDORS=$tmp/icd
for c in "devices" "run $W $TINY"; do
    expect 5 "$N" $c
    [ "$(grep -c crashed "$tmp/err")" = 2 ] || die "$c: not one line for each try"
    said "ninodes: ${c%% *}: crashed (aborted).*; trying once more\$"
    said "ninodes: ${c%% *}: crashed again (aborted).*--device ref"
    silent out
done
expect 5 "$N" devices --json
json_lines "$tmp/out" error
expect 0 run --device ref
ABORT_ONCE=$tmp/once expect 0 "$N" devices
said 'crashed (aborted).*; trying once more$'
printed '^ref '
exit 0
