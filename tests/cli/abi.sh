# A program built against other headers than the library's own: structs that carry their size may be
# shorter or longer than the library knows, with anything behind them. And `make lint-abi`: growth at
# the end passes, what moves or goes does not. NINODES_TEST_LONG: the grown library is really built.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
CC=${CC:-cc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "FAIL: $*"
    exit 1
}
case $(readelf -d "$B/ninodes" 2>/dev/null) in
*asan* | *ubsan* | *tsan*)
    echo "skip: sanitizers change what is exported"
    exit 77
    ;;
esac

# ---- names
soname=$(readelf -d "$B/libninodes.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
[ "$(readlink "$B/$soname")" = libninodes.so ] || fail "$B/$soname does not lead to the library"
nm -D --defined-only "$B/libninodes.so" | sed -n 's/.* [A-Z] \([a-z_0-9]*\)\(@@.*\)\?$/\1/p' | sort >"$tmp/exported"
cat core/include/ninodes/*.h | tr '\n' ' ' | grep -oE 'NINO_API [^;]*;' |
    sed -nE 's/^NINO_API extern [^;]*(nino_node_defs)\[\];/\1/p; t; s/^NINO_API [^(]*[ *](nino_[a-z_0-9]*)\(.*/\1/p' | sort >"$tmp/declared"
diff "$tmp/declared" "$tmp/exported" || fail "what is exported is not what is declared"
! nm -D --defined-only "$B/libninodes.so" | grep ' T ' | grep -v '@@NINODES_1$' || fail "symbols without version"

# ---- programs of older and newer headers
build_with() { # NAME SED-EXPRESSION FILE: the example against headers that sed has changed
    cp -r core/include "$tmp/$1"
    sed -i "$2" "$tmp/$1/ninodes/$3"
    ! cmp -s "$tmp/$1/ninodes/$3" "core/include/ninodes/$3" || fail "$1: nothing to change in $3"
    $CC -std=c11 -D_GNU_SOURCE -I"$tmp/$1" "$4" -L"$B" -lninodes -Wl,-rpath,"$PWD/$B" -o "$tmp/$1.bin"
}
cat >"$tmp/poison.c" <<'END'
#include <ninodes/ninodes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    nino_error err;
    struct { nino_ctx_params p; unsigned char rest[256]; } c; // what lies behind is not ours
    memset(&c, 0xff, sizeof(c));
    c.p = (nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref" };
    nino_ctx *ctx = nino_ctx_create(&c.p, &err);
    if (!ctx)
        return fprintf(stderr, "%s: %s\n", err.where, err.msg), 1;
    nino_ctx_destroy(&ctx);
    const nino_ctx_params none = { .device = "ref" };
    if (nino_ctx_create(&none, &err) || err.code != NINO_ERR_ARG || !strstr(err.msg, "NINO_CTX_PARAMS_INIT"))
        return fprintf(stderr, "a struct without its size was taken\n"), 1;
    return 0;
}
END
build_with same 's/^/ /' ctx.h "$tmp/poison.c"
"$tmp/same.bin" || fail "a program of the same headers"
build_with older '/^    nino_log_level log_level;$/d' ctx.h "$tmp/poison.c"
"$tmp/older.bin" || fail "a program of older headers"
build_with newer 's/^    nino_log_level log_level;$/&\n    void *more[8];/' ctx.h "$tmp/poison.c"
"$tmp/newer.bin" || fail "a program of newer headers"
build_with embed '/^    bool no_files;$/d' options.h tests/examples/embed.c
"$tmp/embed.bin" | grep -q '^2: .*\.latent$' || fail "the example of older headers"

# ---- the gate
if command -v abidiff >/dev/null; then
    sh tests/abi.sh "$B/libninodes.so" data/abi/libninodes.xml "$soname" || fail "the ABI has changed"
    mkdir "$tmp/abi" "$tmp/tiny"
    cp data/abi/growth "$tmp/abi"
    tiny() { # STRUCT MEMBERS: a library with one struct in its header
        printf '#include <stddef.h>\ntypedef struct %s { size_t size; %s } %s;\nint nino_f(%s *p);\n' \
            "$1" "$2" "$1" "$1" >"$tmp/tiny/tiny.h"
        printf '#include "tiny.h"\nint nino_f(%s *p) { return p->a; }\n' "$1" >"$tmp/tiny/tiny.c"
        $CC -g -shared -fPIC -Wl,-soname,libtiny.so.1 "$tmp/tiny/tiny.c" -o "$tmp/tiny.so"
    }
    keep() { abidw --headers-dir "$tmp/tiny" --no-corpus-path --out-file "$tmp/abi/tiny.xml" "$tmp/tiny.so"; }
    passes() { sh tests/abi.sh "$tmp/tiny.so" "$tmp/abi/tiny.xml" "${1:-libtiny.so.1}" "$tmp/tiny" 2>"$tmp/said"; }
    tiny nino_ctx_params "int a;"
    keep
    passes || fail "the same is not the same: $(cat "$tmp/said")"
    ! passes libtiny.so.2 || fail "another soname passes"
    tiny nino_ctx_params "int a; long b;"
    passes || fail "nino_ctx_params may not grow: $(cat "$tmp/said")"
    tiny nino_ctx_params "long b; int a;"
    ! passes || fail "a member may move"
    tiny nino_device_info "int a;"
    keep
    tiny nino_device_info "int a; long b;"
    ! passes || fail "nino_device_info may grow"
fi

# ---- the library really grown
[ -n "${NINODES_TEST_LONG:-}" ] || exit 0
git ls-files -z | xargs -0 cp --parents -t "$tmp" 2>/dev/null || true
sed -i 's/^    nino_log_level log_level;$/&\n    void *more;/' "$tmp/core/include/ninodes/ctx.h"
make -s -C "$tmp" GUI=0 B=grown grown/libninodes.so || fail "the grown library does not build"
ln -sf libninodes.so "$tmp/grown/$soname"
LD_LIBRARY_PATH=$tmp/grown "$B/tests/examples/embed" | grep -q '^2: .*\.latent$' || fail "the example on a grown library"
