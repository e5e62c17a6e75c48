#!/bin/bash
# “What can this computer do?”: device, memory, which families fit into it. What they need is what the plans say.
. "$(dirname "$0")/../lib.sh"
need_people
plans=$root/bench/results/plan-gfx1151.md
sed -n 's/^    { "\([^"]*\)", N_(.*), \([0-9.]*\) },$/\1|\2/p' "$root/gui/window/computer_window.c" >"$work/needs"
[ "$(wc -l <"$work/needs")" -ge 10 ] || die "there is no table"
while IFS='|' read -r family gib; do # the largest peak of its plans
    most=$(awk -v f="$family" '/^## /{on = index($0, "## " f ",") == 1 || index($0, "## " f " ") == 1}
        on && /^\| \*\*total/{split($0, c, "|"); if (c[4] + 0 > m) m = c[4] + 0} END {printf "%.2f", m}' "$plans")
    [ "$most" = "$gib" ] || die "$family needs $gib, the plans say $most"
done <"$work/needs"
"$B/ninodes" devices | grep -q '^cl:' || { echo "skip: no OpenCL device"; exit 77; }
start
need_bus
press button 'What can this computer do?'
at window 'What this computer can do' wait || die "no window opens"
at label '*GiB of it are for runs' wait || die "the memory is not told"
at label '✓ fits' wait || die "nothing is said to fit"
memory=$(at label '*GiB of it are for runs' get | grep -o '[0-9.]* GiB of it' | head -1 | cut -d' ' -f1)
fits() { at window 'What this computer can do' tree | grep -c '✓ fits'; }
wanted=$(awk -F'|' -v m="$memory" '$2 <= m {n++} END {print n + 0}' "$work/needs")
[ "$(fits)" = "$wanted" ] || die "$(fits) are said to fit into $memory GiB, it is $wanted"
at '*button' 'Measure this device' wait || die "the device cannot be measured from there"
at window 'What this computer can do' lint || die "a control has no name"
shot computer
quit
