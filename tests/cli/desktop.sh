#!/bin/bash
# The desktop files are valid. Skips what has no checker on this machine.
set -eu
cd "$(dirname "$0")/../.."
d=data/desktop
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export XDG_RUNTIME_DIR=$T
if command -v desktop-file-validate >/dev/null; then desktop-file-validate $d/*.desktop; else echo "  part skipped: desktop-file-validate is not installed"; fi
if command -v appstreamcli >/dev/null; then
    appstreamcli validate --no-net $d/*.metainfo.xml >/dev/null || { appstreamcli validate --no-net $d/*.metainfo.xml; exit 1; }
else
    echo "  part skipped: appstreamcli is not installed"
fi
for f in $d/*.xml $d/*.svg; do python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$f"; done
if command -v update-mime-database >/dev/null; then
    mkdir -p "$T/mime/packages"
    cp $d/org.ninodes.Studio.mime.xml "$T/mime/packages/"
    update-mime-database "$T/mime" 2>"$T/log" || { cat "$T/log"; exit 1; }
    grep -q 'x-ninodes-workflow' "$T/mime/globs2"
fi
# Started by the bus: names agree, and actions are those of the app, without a parameter.
grep -q '^Name=org.ninodes.Studio$' $d/org.ninodes.Studio.service
for action in $(sed -n 's/^Actions=//p' $d/org.ninodes.Studio.desktop | tr ';' ' '); do
    grep -q "{ .name = \"$action\", .activate = [a-z_]* }" gui/main.c || { echo "the app has no action $action without a parameter"; exit 1; }
done
# The manual page of the app has its options, no more and no fewer.
sed -n 's/^        { "\([a-z]*\)", 0, 0, .*/\1/p' gui/main.c | sort >"$T/options"
sed -n 's/^\\fB\\-\\-\([a-z]*\)\\fR.*/\1/p' $d/ninodes-studio.1 | sort | diff "$T/options" - || { echo "ninodes-studio.1 has other options"; exit 1; }
# Units of systemd, as an install has them.
for u in data/systemd/*.service; do
    sed 's|@BINDIR@|/bin|; s|^ExecStart=/bin/ninodes|ExecStart=/bin/true|' "$u" >"$T/${u##*/}"
    sub=$(sed -n 's|^ExecStart=@BINDIR@/ninodes \([a-z]*\) .*|\1|p' "$u")
    grep -q "{ \"$sub\", \"\", 0, 0," cli/commands.c || { echo "$u: no command $sub"; exit 1; }
    if command -v systemd-analyze >/dev/null; then systemd-analyze --user --man=no verify "$T/${u##*/}"; fi
done
command -v systemd-analyze >/dev/null || echo "  part skipped: systemd-analyze is not installed"
# What the desktop file starts and shows is what is built.
grep -q '^Exec=ninodes-studio ' $d/org.ninodes.Studio.desktop
grep -q 'org.ninodes.Studio"' gui/main.c
