#!/bin/bash
# One build is installed under two prefixes, and in a folder for packages; each works where it stands, its data included, and
# goes again without a trace.
set -u
cd "$(dirname "$0")/../.."
. tests/cli/common
B=${B:-build}
inode() { stat -c '%i %Y' "$B/libninodes.so" "$B/ninodes" "$B"/ninodes-studio 2>/dev/null; }
names() { (cd "$1" && find . | sort); }
expect 0 make -s all B="$B"
built=$(inode)
mkdir -p "$tmp/one/share/doc" "$tmp/one/empty" # what was there before
echo mine >"$tmp/one/share/doc/mine"
names "$tmp/one" >"$tmp/before"

expect 0 make -s install B="$B" PREFIX="$tmp/one"
expect 0 make -s install B="$B" PREFIX="$tmp/two/deep"
expect 0 make -s install B="$B" PREFIX=/opt/ninodes DESTDIR="$tmp/stage"
expect 0 make -s install B="$B" PREFIX="$tmp/one" # once more over it
[ "$(inode)" = "$built" ] || die "another prefix built the programs anew"
if grep -rl -e "$tmp/one" "$tmp/two" "$tmp/stage" >"$tmp/out"; then die "one install names another"; fi

# The program with its own library, models and workflows.
s=$tmp/stage/opt/ninodes/share/ninodes
expect 0 "$tmp/stage/opt/ninodes/bin/ninodes" run "$s/workflows/text_to_image.json" --models "$s/demo/models" --output "$tmp/out.d" --quiet
[ "$(ls "$tmp"/out.d/*.png | wc -l)" = 1 ] || die "no picture"
[ -s "$s/schema/lines.schema.json" ] || die "the schema of --json is missing"

# Whoever compiles with it, by pkg-config alone; and the profile that counts is the one of this install.
cat >"$tmp/user.c" <<'END'
#include <ninodes/ninodes.h>
#include <stdio.h>
int main(void) { return printf("%s\n", nino_version()) < 0; }
END
if command -v pkg-config >/dev/null; then
    for p in "$tmp/one" "$tmp/two/deep"; do
        export PKG_CONFIG_PATH=$p/lib/pkgconfig
        [ "$(pkg-config --variable=prefix ninodes)" = "$p" ] || die "ninodes.pc is for $(pkg-config --variable=prefix ninodes)"
        # shellcheck disable=SC2046
        expect 0 ${CC:-cc} "$tmp/user.c" -o "$tmp/user" $(pkg-config --cflags --libs ninodes)
        expect 0 env LD_LIBRARY_PATH="$p/lib" "$tmp/user"
        printed "^$(pkg-config --modversion ninodes)\$"
    done
    export PKG_CONFIG_PATH=$tmp/stage/opt/ninodes/lib/pkgconfig
    [ "$(pkg-config --variable=libdir ninodes)" = /opt/ninodes/lib ] || die "the pkg-config file of a package names its DESTDIR"
else
    echo "  part skipped: pkg-config is not installed"
fi
expect 0 "$tmp/one/bin/ninodes" plan data/tiny/decode.json $TINY --profile gfx1151
echo '{"name": 1}' >"$tmp/one/share/ninodes/devices/gfx1151.json"
"$tmp/one/bin/ninodes" plan data/tiny/decode.json $TINY --profile gfx1151 >"$tmp/out" 2>"$tmp/err" && die "the installed profile is not read"
said 'one/.*share/ninodes/devices/gfx1151.json'
expect 0 "$tmp/two/deep/bin/ninodes" plan data/tiny/decode.json $TINY --profile gfx1151
# Moved elsewhere, it still finds its own.
mv "$tmp/one" "$tmp/moved"
"$tmp/moved/bin/ninodes" plan data/tiny/decode.json $TINY --profile gfx1151 >"$tmp/out" 2>"$tmp/err" && die "a moved install has lost its data"
said 'moved/.*share/ninodes/devices/gfx1151.json'
mv "$tmp/moved" "$tmp/one"

# All of it goes, and nothing else.
expect 0 make -s uninstall B="$B" PREFIX="$tmp/one"
names "$tmp/one" | diff "$tmp/before" - >"$tmp/out" || die "uninstall left or took something"
[ "$(cat "$tmp/one/share/doc/mine")" = mine ] || die "a file of the user was changed"
expect 0 make -s uninstall B="$B" PREFIX=/opt/ninodes DESTDIR="$tmp/stage"
[ -z "$(find "$tmp/stage" -type f -o -type l)" ] || die "left: $(find "$tmp/stage" -type f)"
[ ! -e "$tmp/stage/opt" ] || die "left: $(find "$tmp/stage")"
[ -x "$tmp/two/deep/bin/ninodes" ] || die "the other install has gone, too"
expect 2 make -s uninstall B="$B" PREFIX="$tmp/one"
said 'nothing is installed there'
