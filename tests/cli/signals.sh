# Ctrl-C, SIGTERM, SIGUSR1 and a terminal.
. tests/cli/common
[ -d data/tiny/models ] || { echo "skip: no demo model"; exit 77; }
env --default-signal=INT true 2>/dev/null || { echo "skip: env cannot reset signals"; exit 77; }
long_workflow

# start: a run in the background, with SIGINT not ignored (as sh does for its own); $pid
start() {
    rm -rf "$tmp/o" "$tmp/err" && mkdir "$tmp/o"
    env --default-signal=INT "$N" run "$tmp/long.json" $TINY --output "$tmp/o" "$@" >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    await "$tmp/err" '3/4'
}
ended() {
    wait $pid
    got=$?
    [ $got = "$1" ] || die "exit status $got instead of $1"
    [ -z "$(ls -A "$tmp/o")" ] || die "left: $(ls -A "$tmp/o")"
}

start
for _ in $(seq 600); do # until the first tile has begun
    kill -USR1 $pid
    sleep 0.1
    ! grep -q '3 VAEDecodeTiled  tile' "$tmp/err" || break
done
said '3 VAEDecodeTiled  tile [0-9]*/[0-9]*'
kill -INT $pid
await "$tmp/err" 'stopping after this kernel'
ended 130
silent out
[ -z "$(ls "$tmp/run/ninodes")" ] || die "the socket was left"

start --trace "$tmp/t.json"
kill -TERM $pid
ended 143
expect 0 "$N" trace check "$tmp/t.json" # cut short, but whole

start
kill -INT $pid
kill -INT $pid
ended 130
rm -f "$tmp/run/ninodes"/*

# SIGTSTP: the job stands between two kernels, then the process stops; SIGCONT goes on
rm -f "$tmp/err"
start --trace "$tmp/p.ninotrace"
kill -TSTP $pid
await "$tmp/err" 'paused; fg or SIGCONT goes on'
for _ in $(seq 600); do
    case "$(sed 's/.*) //; s/ .*//' /proc/$pid/stat)" in T) break ;; esac
    sleep 0.1
done
kill -0 $pid || die "ended instead of stopping"
case "$(sed 's/.*) //; s/ .*//' /proc/$pid/stat)" in T) ;; *) die "does not stop" ;; esac
kill -CONT $pid
await "$tmp/err" 'going on'
kill -INT $pid
ended 130
expect 0 "$N" monitor "$tmp/p.ninotrace" --json
printed '"type":"stage".*"paused"'

# a parent that ignores SIGINT or SIGHUP (nohup, background jobs of sh) is obeyed, also while a driver builds programs: its
# compiler puts handlers in their place that remove what it is just writing
rm "$tmp/err"
(trap '' INT HUP; XDG_CACHE_HOME=$tmp/cold exec "$N" run "$tmp/long.json" $TINY --output "$tmp/o" >"$tmp/out" 2>"$tmp/err") &
pid=$!
await "$tmp/err" '3/4'
for _ in $(seq 600); do # until the first tile has begun
    kill -USR1 $pid || die "ended by itself"
    sleep 0.1
    ! grep -q '3 VAEDecodeTiled  tile' "$tmp/err" || break
done
said '3 VAEDecodeTiled  tile [0-9]*/[0-9]*'
ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$pid/status)
[ $((0x$ignored & 3)) = 3 ] || die "the driver does not ignore what is to be ignored: $ignored"
kill -INT $pid
kill -HUP $pid
sleep 0.3
kill -0 $pid || die "ended by a signal that was ignored"
kill -TERM $pid
ended 143

# on a terminal: one line, redrawn, of a run that lasts long enough to need one; on a dumb one: lines (a container may have no
# terminals to give)
on_terminal() { # TERM, SIDE of the picture
    TERM=$1 script -qec "$N run $tmp/long.json $TINY --output $tmp/tty --set 1.width=$2 --set 1.height=$2" /dev/null \
        >"$tmp/out" 2>&1 </dev/null || die "on TERM=$1: $?"
}
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    for side in 512 1024 2048 4096; do
        on_terminal xterm $side
        ! grep -q "$(printf '\r\[')" "$tmp/out" || break
    done
    grep -q "$(printf '\r\[')" "$tmp/out" || die "no progress line on a terminal"
    ! grep -aq 'notify;ninodes' "$tmp/out" || die "told of a short run"
    export NINODES_NOTIFY_AFTER=0.001 # by bell and notification, with a name that steers no terminal
    on_terminal xterm 512
    grep -aq "$(printf '\007\033]777;notify;ninodes;.*: done after 0:[0-9][0-9]\007')" "$tmp/out" || die "the end of a long run is not told"
    on_terminal dumb 512
    unset NINODES_NOTIFY_AFTER
    ! grep -q "$(printf '\033')" "$tmp/out" || die "escape sequences on a dumb terminal"
fi
exit 0
