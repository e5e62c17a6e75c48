# What is built is built so that an overflow stays one: programs at addresses drawn by chance, no memory that can be written and
# run, tables of functions read-only from the start, marks on the stack, checked lengths, libraries from beside the program.
. tests/cli/common
command -v readelf >/dev/null || { echo "skip: no readelf"; exit 77; }
case $(basename "$B") in build) ;; *) echo "skip: a build with flags of its own"; exit 77 ;; esac
grep -q -e -fstack-protector-strong "$B/flags" || { echo "skip: built with HARDEN="; exit 77; }

n=0
for f in ninodes libninodes.so ninodes-studio; do
    [ -e "$B/$f" ] || continue
    readelf -hldW --dyn-syms "$B/$f" >"$tmp/elf"
    has() { grep -qE "$1" "$tmp/elf" || die "$f: $2"; }
    has 'Type: +DYN' "at a fixed address"
    has '(BIND_NOW|FLAGS_1.*NOW)' "functions are found while it runs, so their table can be written"
    has 'GNU_RELRO' "tables of the loader can be written"
    has 'GNU_STACK.* RW ' "the stack can be run"
    ! grep -q TEXTREL "$tmp/elf" || die "$f: its code is written at start"
    ! grep -qE 'LOAD.* RWE' "$tmp/elf" || die "$f: memory that can be written and run"
    has '__stack_chk_fail' "no marks on the stack"
    [ $f = ninodes-studio ] || has '__(snprintf|memcpy|vsnprintf|fprintf|printf)_chk' "lengths are not checked" # GLib does it there
    path=$(sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p' "$tmp/elf")
    case :$path in :|:'$ORIGIN'*) ;; *) die "$f: looks for libraries in $path" ;; esac
    case $path in *:/*) die "$f: looks for libraries in $path" ;; esac
    n=$((n + 1))
done
PYTHONPATH=tests python3 tests/figure.py hardened "hardening of what is built" "all, in every file" \
    "PIE, RELRO, BIND_NOW, NX, stack marks, FORTIFY: $n files"
