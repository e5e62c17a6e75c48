#!/bin/bash
# The settings of ninodes.conf in the preferences: what is changed there is a line of the user's file, with its source beside
# it; what the environment sets cannot be changed, a wrong value is said and not written.
. "$(dirname "$0")/lib.sh"
command -v xdotool >/dev/null || { echo "skip: xdotool is not installed"; exit 77; }
own=$XDG_CONFIG_HOME/ninodes/ninodes.conf
mkdir -p "$XDG_CONFIG_HOME/ninodes"
printf '# mine\n[memory]\nchunk_size = 2\n' >"$own"
export NINODES_MEMORY_FRACTION=0.5
start
need_bus
app_do preferences
where=$(at label Engine point) || die "no page for the engine"
read -r x y <<<"$where" # without a window manager it stands in the corner
xdotool mousemove "$x" "$y" click 1
at label "*ninodes.conf, line 3" wait || die "it does not say where chunk_size is from"
at label 'set by NINODES_MEMORY_FRACTION*' wait || die "it does not say that the environment counts"
shot engine
at 'text box' 'memory.memory_threshold' 'text=0.7' || die "no editor for memory_threshold"
until_ok 10 grep -q '^memory_threshold = 0.7$' "$own" || die "nothing was written: $(cat "$own")"
grep -q '^# mine$' "$own" && grep -q '^chunk_size = 2$' "$own" || die "other lines are gone: $(cat "$own")"
at 'text box' 'memory.memory_threshold' 'text=7'
at label '*is a number from 0.05 to 1*' wait || die "a wrong value is not said"
! grep -q 'memory_threshold = 7' "$own" || die "a wrong value was written"
quit
