#!/bin/bash
# The app is killed at calls that write settings, unsaved work and recent files: each of these is as before or as after, the
# next start works, and what was unsaved is there once it was kept.
. "$(dirname "$0")/../gui/lib.sh"
inject=$B/tests/fault/tool/inject
[ -x "$inject" ] || { echo "skip: tests/fault/tool/inject was not built"; exit 77; }
cp "$root/data/tiny/decode.json" "$work/flow.json"
home=$(realpath "$work")/home

# begin COMMAND...: the app with all that it keeps below $home
begin() {
    env XDG_CONFIG_HOME="$home/config" XDG_STATE_HOME="$home/state" XDG_DATA_HOME="$home/data" XDG_CACHE_HOME="$home/cache" \
        "$@" "$B/ninodes-studio" --models "$root/data/tiny/models" "$work/flow.json" >>"$SHOTS/app.log" 2>&1 &
    app_pid=$!
}
answers() { actions /window/1 Describe state; }
kept() { ls "$home"/state/ninodes/studio/autosave/*/*.ini; }
answers_or_gone() { answers || gone; }
# Another panel, another value; until the app has kept both or has been killed.
use() {
    until_ok 60 answers_or_gone || die "the app does not answer"
    app_do theme dark 2>/dev/null || true # settings
    win_do panel log 2>/dev/null || true
    win_do set 4.filename_prefix=other 2>/dev/null || true
    until_ok 60 kept_or_gone || die "the change is not kept"
}
kept_or_gone() { gone || kept; }
# Files of settings and of unsaved work are whole.
look() {
    python3 - "$home" <<'END' || die "call $1"
import configparser, glob, json, sys
for f in glob.glob(sys.argv[1] + "/state/ninodes/studio/autosave/*/*.json"):
    json.load(open(f, encoding="utf-8"))
for f in glob.glob(sys.argv[1] + "/c*/ninodes/*.ini") + glob.glob(sys.argv[1] + "/state/**/*.ini", recursive=True):
    configparser.ConfigParser(interpolation=None, strict=False).read_string(open(f, encoding="utf-8").read())
END
}
end() {
    kill -KILL $(pgrep -P $app_pid) $app_pid 2>/dev/null || true
    until_ok 15 gone || die "the app goes on"
    wait $app_pid 2>/dev/null || true
}

begin "$inject" "$home" kill 0 "$work/report"
use
pkill -TERM -P $app_pid -x ninodes-studio || true
until_ok 30 gone || die "the app did not end"
wait $app_pid || [ $? != 77 ] || { echo "skip: tracing is not allowed here"; exit 77; }
calls=$(sed -n 's/calls=\([0-9]*\).*/\1/p' "$work/report")
[ "$calls" -gt 5 ] || die "the app writes nothing: $calls calls"
step=$(((calls + 2) / 3))
[ -z "${NINODES_TEST_LONG:-}" ] || step=1
kills=0
for n in $(seq 1 $step "$calls"); do
    rm -rf "$home"
    begin "$inject" "$home" kill "$n" "$work/report"
    use
    end
    look "$n"
    begin env
    until_ok 60 answers || die "killed at call $n of $calls: the next start does not answer"
    end
    look "$n"
    kills=$((kills + 1))
done

# unsaved work of an earlier session of which a part cannot be read now: all of it is there for the next start
rm -rf "$home"
earlier=$home/state/ninodes/studio/autosave/earlier
mkdir -p "$earlier/unreadable.json"
cp "$work/flow.json" "$earlier/good.json"
printf '[workflow]\ntitle=good\n' >"$earlier/good.ini"
taken() { [ "$(ls -d "$home"/state/ninodes/studio/autosave/*/*.ini | wc -l)" -ge "$1" ]; }
begin env
until_ok 60 taken 2 || die "unsaved work was not recovered"
sleep 0.5
end
[ -e "$earlier/good.json" ] && [ -d "$earlier/unreadable.json" ] || die "unsaved work was removed before all of it was kept"
rmdir "$earlier/unreadable.json"
begin env
is_taken() { [ ! -e "$earlier" ]; }
until_ok 60 is_taken || die "unsaved work that was kept again is still there"
end
PYTHONPATH=$root/tests python3 "$root/tests/figure.py" studio "the app killed at a call that writes" "none torn" \
    "$kills of $calls calls, every next start well"
