# core/LAYERS holds for the built objects, and whoever breaks it is told: an include that goes up, a
# call that goes up, a folder that is no room, an internal header in the app or the CLI.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "FAIL: $*"
    exit 1
}

python3 tests/layers.py includes || fail "includes go up"
python3 tests/layers.py symbols "$B" || fail "calls go up"

# ---- planted includes
plant() { # FILE LINE WHAT-IS-SAID
    rm -rf "$tmp/tree"
    mkdir "$tmp/tree"
    cp -r core cl gui cli "$tmp/tree"
    mkdir -p "$(dirname "$tmp/tree/$1")"
    printf '%s\n' "$2" >>"$tmp/tree/$1"
    python3 tests/layers.py includes "$tmp/tree" >"$tmp/said" && fail "$1: '$2' was let through"
    grep -q "$3" "$tmp/said" || fail "$1: it says: $(cat "$tmp/said")"
}
plant core/op/pool.c '#include "core/node/node_impl.h"' 'core/op/pool.c:[0-9]*: includes core/node/node_impl.h: core/op is below core/node'
plant core/model/vae/vae.h '#include "cl/cl.h"' 'core/model/vae/vae.h:[0-9]*: includes cl/cl.h'
plant core/base/buf.c '#include "gui/base/tick.h"' 'core/base is below gui/base'
plant gui/plot/plot.c '#include "live/views.h"' 'gui/plot/plot.c:[0-9]*: includes gui/live/views.h: gui/plot is below gui/live'
plant core/cellar/wine.c '#include "core/base/buf.h"' 'core/cellar/wine.c: its folder is not in core/LAYERS'
plant core/base/buf.c '#include "core/cellar/wine.h"' 'is in no room'
plant gui/main.c '#include "cellar/wine.h"' 'gui/cellar/wine.h is in no room'

# ---- a planted call: an object of core/base that needs one of core/run
planted=$tmp/objects
mkdir "$planted"
(cd "$B" && find core cl -name '*.o' | while read -r o; do
    mkdir -p "$planted/$(dirname "$o")"
    ln -s "$PWD/$o" "$planted/$o"
done)
rm "$planted/core/base/buf.o"
printf 'void nino_ctx_leave(void *);\nvoid f(void);\nvoid f(void) { nino_ctx_leave(0); }\n' |
    ${CC:-cc} -x c -c - -o "$planted/core/base/buf.o"
python3 tests/layers.py symbols "$planted" >"$tmp/said" && fail "a call that goes up was let through"
grep -q 'core/base/buf.c: uses nino_ctx_leave of core/run/ctx.c' "$tmp/said" || fail "it says: $(cat "$tmp/said")"

# ---- internal headers do not compile where only the public API may be used
for where in gui cli tests/examples; do
    [ "$where" != gui ] || [ -d "$B/gui" ] || continue
    f=$where/planted_include.c
    trap 'rm -rf "$tmp" "$f"' EXIT
    printf '// Planted by tests/cli/layers.sh.\n#include "core/op/op.h"\n' >"$f"
    make -s B="$tmp/build" "$tmp/build/$where/planted_include.o" >"$tmp/said" 2>&1 && fail "$where may include core/op/op.h"
    grep -q 'core/op/op.h: No such file' "$tmp/said" || fail "$where: it says: $(cat "$tmp/said")"
    printf '// Planted by tests/cli/layers.sh.\n#include <ninodes/ninodes.h>\nint nino_planted;\n' >"$f"
    make -s B="$tmp/build" "$tmp/build/$where/planted_include.o" >"$tmp/said" 2>&1 || fail "$where: $(cat "$tmp/said")"
    rm "$f"
done
