# What the system around a run may do to it: other languages, clocks that jump, a process that is stopped, small stacks, little
# memory of the process or its group, a disk that is full or read-only. The same bits, or one line that says why not.
. tests/cli/common
[ -f data/demo/models/checkpoints/demo_flux.safetensors ] || { echo "skip: the demo's models are not here"; exit 77; }
W=tests/fault/flows/image.json
run() { "$N" run $W --models data/demo/models --output "$tmp/o" --telemetry=off --no-metadata -q "$@"; }
tried=0
same() { # WHAT COMMAND...: the files of the first run
    what=$1
    shift
    rm -rf "$tmp/o"
    expect 0 "$@"
    if [ -f "$tmp/first.png" ]; then
        cmp -s "$tmp/first.png" "$tmp/o/image_00001_.png" || die "$what: another picture"
    else
        cp "$tmp/o/image_00001_.png" "$tmp/first.png"
    fi
    tried=$((tried + 1))
}
refused() { # WHAT STATUSES COMMAND...: it says why, a documented status, no file
    what=$1 statuses=$2
    shift 2
    rm -rf "$tmp/o"
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    got=$?
    case " $statuses " in *" $got "*) ;; *) die "$what: exit status $got" ;; esac
    if [ $got != 0 ]; then
        # 127: the C library ends a process where a thread's data of a driver's library find no room, and says so
        grep -q "^$([ $got = 127 ] && echo 'cannot allocate memory for thread-local data' || echo 'ninodes: run: ')" "$tmp/err" ||
            die "$what: it does not say why"
        [ -z "$(ls "$tmp/o" 2>/dev/null)" ] || die "$what: files in spite of the error: $(ls "$tmp/o")"
    fi
    tried=$((tried + 1))
}
same "nothing" run

# languages that write 1,5 or have another i; made here where the system has their sources
if command -v localedef >/dev/null && [ -e /usr/share/i18n/locales/tr_TR ]; then
    for l in de_DE tr_TR; do
        localedef -i $l -f UTF-8 "$tmp/$l.UTF-8" >/dev/null 2>&1
        same $l env LOCPATH="$tmp" LC_ALL=$l.UTF-8 "$N" run $W --models data/demo/models --output "$tmp/o" --telemetry=off \
            --no-metadata -q --set 4.cfg=1.0 --trace "$tmp/$l.json"
        ! grep -qE '"(ts|dur)": ?[0-9]+,[0-9]+\.' "$tmp/$l.json" || die "$l: commas in numbers of the trace"
        ! command -v python3 >/dev/null || python3 -m json.tool "$tmp/$l.json" >/dev/null || die "$l: the trace is no JSON"
    done
else
    echo "part skipped: no sources of languages"
fi

# stopped for a while, as a laptop that is closed: nothing is taken for a hang, nothing is lost
"$N" run $W --models data/demo/models --output "$tmp/stopped" --telemetry=off --no-metadata --set 4.steps=20 >"$tmp/out" 2>"$tmp/err" &
pid=$!
await "$tmp/err" KSampler
kill -STOP $pid
sleep "$([ -n "$NINODES_TEST_LONG" ] && echo 60 || echo 1)"
kill -CONT $pid
wait $pid || die "stopped and continued: $?"
[ -s "$tmp/stopped/image_00001_.png" ] || die "stopped and continued: no picture"
tried=$((tried + 1))

# a clock that jumps by a day at every look
if command -v "${CC:-cc}" >/dev/null; then
    cat >"$tmp/clock.c" <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int n;
int clock_gettime(clockid_t id, struct timespec *t)
{
    const int rc = syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_REALTIME)
        t->tv_sec += n++ % 2 ? -86400 : 86400;
    return rc;
}
time_t time(time_t *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t)
        *t = now.tv_sec;
    return now.tv_sec;
}
END
    if ${CC:-cc} -w -shared -fPIC -o "$tmp/clock.so" "$tmp/clock.c" 2>/dev/null; then
        # what another process has just begun to compile is not taken for left over
        begun=${NINODES_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ninodes}/pocl/tempfile_limits$$
        [ ! -d "${begun%/*}" ] || : >"$begun"
        same "a clock that jumps" env LD_PRELOAD="$tmp/clock.so" "$N" run $W --models data/demo/models --output "$tmp/o" \
            --telemetry=off --no-metadata -q
        [ ! -d "${begun%/*}" ] || rm "$begun" || die "a clock that jumps: files of other processes are swept"
    fi
else
    echo "part skipped: no C compiler"
fi

# small stacks for all threads; a driver's compiler needs more, so without one
if [ -n "$NINODES_TEST_LONG" ]; then
    small() { (ulimit -s "$1" && shift && "$N" run data/tiny/decode.json $TINY --device ref --output "$tmp/o" --telemetry=off --no-metadata -q); }
    expect 0 "$N" run data/tiny/decode.json $TINY --device ref --output "$tmp/o" --telemetry=off --no-metadata -q
    expect 0 small 64
    cmp -s "$tmp/o/demo_00001_.png" "$tmp/o/demo_00002_.png" || die "64 KiB of stack: another picture"
    tried=$((tried + 1))
fi

# less and less address space, files that may not grow
limited() { (ulimit "$1" "$2" && run); }
kept=$NINODES_CACHE_DIR
[ -z "$NINODES_TEST_LONG" ] || export NINODES_CACHE_DIR=$tmp/cache # a driver that crashes has its kernels set aside
for mib in $([ -n "$NINODES_TEST_LONG" ] && echo 3000 2000 1000 800 600 400 300 200 100 || echo 150); do
    refused "$mib MiB of addresses" "0 1 5 6 127" limited -v $((mib * 1024))
done
if [ -n "$kept" ]; then export NINODES_CACHE_DIR=$kept; else unset NINODES_CACHE_DIR; fi
refused "files of 1 KiB" "0 1" limited -f 1

# folders where nothing can be written, of the system's own
refused "read-only outputs" "1" "$N" run $W --models data/demo/models --output /proc/self --telemetry=off -q

# a group of processes with little memory: the kernel ends the run or it says why not, and the next one is well
group=/sys/fs/cgroup/memory/ninodes-test-$$
if [ -n "$NINODES_TEST_LONG" ] && mkdir "$group" 2>/dev/null; then
    trap 'rmdir "$group" 2>/dev/null; rm -rf "$tmp"' EXIT
    inside() { sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' sh "$group" "$N" run $W --models data/demo/models \
        --output "$tmp/o" --telemetry=off --no-metadata -q; }
    for mib in 400 200 120 80 50 30; do
        echo ${mib}M >"$group/memory.limit_in_bytes"
        rm -rf "$tmp/o"
        inside >"$tmp/out" 2>"$tmp/err" </dev/null
        got=$?
        case $got in 0 | 1 | 5 | 6 | 137) ;; *) die "a group of $mib MiB: exit status $got" ;; esac
        [ $got != 0 ] || cmp -s "$tmp/first.png" "$tmp/o/image_00001_.png" || die "a group of $mib MiB: another picture"
        tried=$((tried + 1))
    done
    rmdir "$group"
    same "after the group" run
else
    [ -z "$NINODES_TEST_LONG" ] || echo "part skipped: no control group can be made here"
fi
PYTHONPATH=tests python3 tests/figure.py limits "languages, clocks, stops, stacks, limits of memory, files, groups" \
    "the same bits or one line" "$tried cases"
