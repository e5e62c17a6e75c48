#!/bin/bash
# Every kernel of the GPU schedules compiles for gfx1151 without spills and within its registers: those of the
# gate's table, and every program that the plans of real workflows ask for.
B=${B:-build}
list=$B/gate-programs.txt
if [ ! -x "$B/tests/unit/run/real_programs" ]; then
    echo "part skipped: programs of plans: $B/tests/unit/run/real_programs is not built"
    exec python3 tests/gate/gfx1151.py
fi
"$B/tests/unit/run/real_programs" --print "$list" >/dev/null || exit 1
exec python3 tests/gate/gfx1151.py --programs "$list"
