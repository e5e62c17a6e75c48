#!/bin/bash
# The installed app: started from where make install put it, in German, with the worker beside it.
. "$(dirname "$0")/lib.sh"
make -s -C "$root" install B="$B" PREFIX=/usr DESTDIR="$work/stage" >"$SHOTS/install.log" 2>&1 || die "$(cat "$SHOTS/install.log")"
bin=$work/stage/usr/bin
share=$work/stage/usr/share
LANGUAGE=de "$bin/ninodes-studio" --help 2>>"$SHOTS/help.log" | grep -q 'Modellordner; mehrfach' || die "the catalogue is not found"
for f in applications/org.ninodes.Studio.desktop icons/hicolor/scalable/apps/org.ninodes.Studio.svg \
    mime/packages/org.ninodes.Studio.xml locale/de/LC_MESSAGES/ninodes.mo; do
    [ -s "$share/$f" ] || die "$f is not installed"
done
export LANGUAGE=de
B=$bin start "$root/data/tiny/decode.json" --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out"
[ "$(readlink "/proc/$app_pid/exe")" = "$bin/ninodes-studio" ] || die "another app was started"
grep -q "$work/stage/usr/lib/libninodes.so" "/proc/$app_pid/maps" || die "it runs with another library"
win_do run
until_ok 60 sh -c "ls '$work'/out/*.png" || die "the worker made no picture"
wait_state done
quit
