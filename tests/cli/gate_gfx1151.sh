#!/bin/bash
# Every kernel of the GPU schedules compiles for gfx1151 without spills and within its registers: those of the
# gate's table, and every program that the plans of real workflows ask for. Of these each has calls by which a device
# checks its code object, and the files of objects are read by the library that they are for, and executed by the
# interpreter of gfx1151's instructions: in the long form all that plans ask for.
export B=${B:-build}
list=$B/gate-programs.txt
if [ ! -x "$B/tests/unit/run/real_programs" ]; then
    echo "part skipped: programs of plans: $B/tests/unit/run/real_programs is not built"
    exec python3 tests/gate/gfx1151.py
fi
"$B/tests/unit/run/real_programs" --print "$list" >/dev/null || exit 1
if [ -x "$B/tests/unit/cl/code" ]; then
    tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
    mkdir "$tmp/one" && "$B/tests/unit/run/real_programs" --print "$tmp/generic" generic-gpu >/dev/null || exit 1
    "$B/tests/unit/cl/code" --objects "$tmp" "$list" "$tmp/generic" || exit 1
    if [ -n "$NINODES_TEST_LONG" ]; then # the calls that are to tell right objects from wrong ones
        for s in wmma:gfx1151 generic:gfx1200; do
            awk -F'\t' -v t="${s#*:}" '$1 == t { print $7 }' "$tmp/index" | tr '|' '\n' | grep . | sort -u |
                "$B/tests/unit/cl/code" --calls "${s%:*}" || exit 1
        done
    fi
    # One program for each kind of GPU: `make code-objects` compiles all of them.
    awk -F'\t' '!seen[$1]++' "$tmp/index" >"$tmp/one/index" && cp "$tmp"/*.cl "$tmp/one" || exit 1
    python3 tests/gate/code_objects.py "$tmp/one" "$tmp/code"
    case $? in
    0)
        "$B/tests/unit/cl/code" --count "$tmp" || exit 1
        if [ -n "$NINODES_TEST_LONG" ]; then
            python3 tests/gate/code_objects.py "$tmp" "$tmp/code" gfx1151 && cp "$list" "$tmp/first" &&
                cp "$list.kernels" "$tmp/first.kernels" || exit 1
        else
            head -n 1 "$list" >"$tmp/first" && grep ' basic$' "$list.kernels" >"$tmp/first.kernels" || exit 1
        fi
        python3 tests/gate/isa.py --code "$tmp" "$tmp/first" >"$tmp/isa"
        case $? in
        0)
            grep 'sha256\| right; ' "$tmp/isa"
            # A file of which the instructions that wait for loads are gone is refused.
            mkdir -p "$tmp/bad" && NINODES_ISA_FAULT=waits python3 tests/gate/code_objects.py "$tmp/one" \
                "$tmp/bad/code" gfx1151 >/dev/null || exit 1
            head -n 1 "$list" >"$tmp/first" && grep ' basic$' "$list.kernels" >"$tmp/first.kernels"
            if python3 tests/gate/isa.py --code "$tmp/bad" "$tmp/first" >"$tmp/isa" 2>"$tmp/said" ||
                ! grep -q 'refused by its own calls' "$tmp/said"; then
                echo "a file without its waits was not refused" && cat "$tmp/said" && exit 1
            fi
            ;;
        77) echo "part skipped: $(grep skip "$tmp/isa")" ;;
        *) cat "$tmp/isa" && exit 1 ;;
        esac
        ;;
    77) echo "part skipped: code objects: no compiler for them" ;;
    *) exit 1 ;;
    esac
else
    echo "part skipped: code objects: $B/tests/unit/cl/code is not built"
fi
python3 tests/gate/gfx1151.py --programs "$list"
