# Bad command lines are refused with one line that names the option; help, manual and completion
# know every option.
. tests/cli/common

expect 2 "$N"
said "usage: ninodes"
silent out
expect 0 "$N" --version
printed '^ninodes [0-9]'
expect 0 "$N" --help
printed 'Exit status'
expect 2 "$N" rnu
said 'unknown command rnu (did you mean run?)'
expect 2 "$N" frobnicate
said 'unknown command frobnicate'
expect 2 "$N" run w.json --moddels x
said 'unknown option --moddels (did you mean --models?)'
[ "$(wc -l <"$tmp/err")" = 1 ] || die "more than one line"
silent out
expect 2 "$N" run w.json --zzz
said 'unknown option --zzz (see ninodes help run)'
expect 2 "$N" run w.json -Z
said 'unknown option -Z'
expect 2 "$N" run w.json --models
said -- '--models needs DIR'
expect 2 "$N" run w.json --json=1
said -- '--json takes no value'
expect 2 "$N" run w.json --precision fp64
said 'auto|fp32|fp16|bf16|mixed, not fp64'
expect 2 "$N" run w.json --telemetry=maybe
expect 2 "$N" run w.json --seed -1
said 'whole number'
expect 2 "$N" run w.json --seed 18446744073709551616
expect 2 "$N" run w.json --mem-limit lots
said 'a size such as'
expect 2 "$N" run w.json --mem-limit 2QiB
expect 2 "$N" run
said 'usage: ninodes run WORKFLOW'
expect 2 "$N" run a.json b.json
said 'b.json is one argument too many'
expect 2 "$N" run a.json --preview=often
said 'preview is one of none|latent2rgb|taesd|auto, not often'
expect 2 "$N" run a.json --preview-every=some
said 'preview-every needs a whole number'
expect 2 "$N" run -- --json --json
said 'one argument too many'
expect 2 "$N" help nothing
expect 0 "$N" help environment
grep -q "^NINODES_DEVICE .*device" "$tmp/out" || die "help environment does not list NINODES_DEVICE"
expect 0 "$N" help counters
printed '^gpu.power .*\[W\]$'
expect 2 "$N" completion tcsh
expect 2 "$N" trace frob x
expect 2 "$N" nodes VAEDecod
said 'did you mean VAEDecode?'
expect 2 "$N" nodes GLIGENLoader
said 'known, but not supported yet'
expect 1 sh -c "'$N' help >/dev/full"
said 'stdout:'

# whoever asked for JSON gets an envelope on stdout, and the line for people on stderr
usage_json() {
    expect 2 "$N" "$@"
    json_lines "$tmp/out" error
    printed '"code":"usage"'
    [ -s "$tmp/err" ] || die "nothing for people: $*"
}
usage_json run --json
usage_json run a.json b.json --json
usage_json run w.json --json --moddels x
printed '"command":"run",.*"message":"unknown option --moddels (did you mean --models?)"'
usage_json run w.json --json --seed -1
usage_json run w.json --json --precision fp64
usage_json run w.json --json --models
usage_json run w.json --json=1 --json
usage_json plan --json
usage_json jobs lst --json
printed '"command":"jobs",.*"message":"lst is not one of'
usage_json jobs cancel one --json
usage_json jobs add --json
usage_json nodes VAEDecod --json
usage_json trace frob x --json
usage_json trace diff x --json
usage_json trace convert x --json
usage_json trace diff x y --fail-over much --json
usage_json bench --fail-over 5% --json
usage_json bench --samples 2000 --json
usage_json tune --nothing --json
usage_json rnu --json
usage_json convert w.json --json
expect 2 "$N" run -- --json x # a file of that name
silent out

for c in run plan inspect devices nodes selftest bench tune monitor serve trace doctor demo completion help; do
    expect 0 "$N" help $c
    printed "usage: ninodes $c"
    cp "$tmp/out" "$tmp/help.$c"
    expect 0 "$N" $c --help
    cmp -s "$tmp/out" "$tmp/help.$c" || die "help $c and $c --help differ"
done

for s in bash zsh fish man; do
    expect 0 "$N" completion $s
    cp "$tmp/out" "$tmp/completion.$s"
done
n=0
for c in run plan inspect devices nodes selftest bench tune monitor serve trace doctor demo; do
    for o in $(grep -o -e '--[a-z][a-z-]*' "$tmp/help.$c" | sort -u); do
        n=$((n + 1))
        grep -q -e "$c" "$tmp/completion.bash" || die "bash does not know $c"
        sed -n "/^    $c)/,/esac;;/p" "$tmp/completion.bash" | grep -q -e " *$o[ \"|)]" || die "bash completion of $c lacks $o"
        sed -n "/^    $c)/,/;;/p" "$tmp/completion.zsh" | grep -q -e "$o\[" || die "zsh completion of $c lacks $o"
        grep -q -e "from $c' -l ${o#--} " "$tmp/completion.fish" || die "fish completion of $c lacks $o"
        sed -n "/^.SS ninodes $c /,/^.SS/p" "$tmp/completion.man" | sed 's/\\-/-/g' | grep -q -e "$o" ||
            die "the manual of $c lacks $o"
    done
done
[ "$n" -gt 40 ] || die "only $n options were looked at"
bash -n "$tmp/completion.bash" || die "bash completion is not bash"
complete_line() {
    bash -c '. "$1"; COMP_WORDS=(ninodes '"$1"'); COMP_CWORD='"$2"'; _ninodes; echo ${COMPREPLY[*]}' x "$tmp/completion.bash"
}
[ "$(complete_line 'pl' 1)" = plan ] || die "bash does not complete the command"
[ "$(complete_line 'run x --mo' 3)" = --models ] || die "bash does not complete the option"
[ "$(complete_line 'run --precision bf' 3)" = bf16 ] || die "bash does not complete the value"
if command -v zsh >/dev/null; then zsh -n "$tmp/completion.zsh" || die "zsh completion is not zsh"; fi
if command -v fish >/dev/null; then fish -n "$tmp/completion.fish" || die "fish completion is not fish"; fi
for code in 0 1 2 3 4 5 6 7 75 130 143; do # help and the manual page have every exit status
    "$N" --help | grep -q "^  $code  *[a-z]" && grep -qx "$code" "$tmp/completion.man" || die "exit status $code"
done
if command -v man >/dev/null; then
    man --warnings -l "$tmp/completion.man" >/dev/null 2>"$tmp/man" || true
    [ ! -s "$tmp/man" ] || die "the manual page: $(cat "$tmp/man")"
fi
exit 0
