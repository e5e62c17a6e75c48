#!/bin/sh
# Runs test programs and scripts one after the other; prints a line each and the closing counts.
# usage: run.sh BUILD_DIR PROGRAM|SCRIPT...      exit status 1 if any failed
# A test that exits with 77 was skipped; its output says why. One that passes with parts left out says "part skipped"
# for each. NINODES_TEST_LONG=1 asks tests for their long form.
B=$1
shift
export B
# PoCL's worker threads bring their own signal stacks, which AddressSanitizer then fails to unmap.
export ASAN_OPTIONS="use_sigaltstack=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
log=$(mktemp)
export XDG_CONFIG_HOME="$log.config" XDG_CONFIG_DIRS="$log.config" # the user's own settings do not count
trap 'rm -rf "$log" "$log.config"' EXIT
passed=0 failed=0 skipped=0 parts=0
for t in "$@"; do
    start=$(date +%s)
    case $t in
    *.sh) bash "$t" >"$log" 2>&1 ;;
    *) "$t" >"$log" 2>&1 ;;
    esac
    rc=$?
    secs=$(($(date +%s) - start))
    case $rc in
    0) passed=$((passed + 1)) what=ok ;;
    77) skipped=$((skipped + 1)) what=skip ;;
    *) failed=$((failed + 1)) what=FAIL ;;
    esac
    printf '%-4s %s (%s s)\n' "$what" "${t#"$B"/}" "$secs"
    case $what in
    ok) grep 'part skipped' "$log" && parts=$((parts + $(grep -c 'part skipped' "$log"))) ;;
    skip) sed -n '/skip/{p;q;}' "$log" ;;
    FAIL) tail -n 40 "$log" | sed 's/^/     | /' && echo "     | exit status $rc" ;;
    esac
done
echo "$passed passed, $failed failed, $skipped skipped$([ $parts = 0 ] || echo ", $parts parts of passed ones left out")"
[ "$failed" = 0 ]
