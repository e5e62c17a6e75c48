#!/bin/bash
# tests/run.py itself: what passes, fails, is skipped, does not end, and what LeakSanitizer could not look at.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "tests/cli/runner.sh: $*" >&2
    exit 1
}

# each counts its runs in a file of its name
write() { # NAME LINES...
    local name=$1
    shift
    { echo "echo x >> $dir/$name.runs" && printf '%s\n' "$@"; } > "$dir/$name.sh"
}
no_look='echo "==1==LeakSanitizer has encountered a fatal error."; exit 1'
write passes 'exit 0'
write fails 'echo its words; exit 3'
write skips 'echo skipped: no reason; exit 77'
write hangs 'echo asleep; sleep 60'
write second "[ \$(wc -l < $dir/second.runs) = 2 ] && exit 0" "$no_look"
write never "$no_look"
NINODES_FIGURES='' NINODES_TEST_LIMIT=2 NINODES_TEST_LONG='' python3 tests/run.py "$dir" "$dir"/{passes,fails,skips,hangs,second,never}.sh \
    > "$dir/out" 2>&1 && fail "a failed test, and exit status 0"
# Programs that are not there do not keep the others waiting.
NINODES_FIGURES='' NINODES_TEST_JOBS=1 timeout 60 python3 tests/run.py "$dir" "$dir"/{none,none,passes.sh} > "$dir/none.out" 2>&1
[ $? = 1 ] && grep -qx '1 passed, 2 failed, 0 skipped' "$dir/none.out" || fail "programs that are not there: $(cat "$dir/none.out")"
grep -qx '2 passed, 3 failed, 1 skipped' "$dir/out" || fail "counts: $(tail -n 1 "$dir/out")"
for words in 'ok   passes.sh' 'FAIL fails.sh' '     | its words' '     | exit status 3' 'skip skips.sh' 'FAIL hangs.sh' \
    '     | asleep' '     | no end after 2 s' 'ok   second.sh' 'FAIL never.sh'; do
    grep -qF "$words" "$dir/out" || fail "does not say: $words"
done
for of in passes:2 fails:1 skips:1 hangs:1 second:2 never:3; do
    [ "$(wc -l < "$dir/${of%:*}.runs")" = "${of#*:}" ] || fail "${of%:*} ran $(wc -l < "$dir/${of%:*}.runs") times"
done
