#!/bin/bash
# The desktop files are valid. Skips what has no checker on this machine.
set -eu
cd "$(dirname "$0")/../.."
d=data/desktop
if command -v desktop-file-validate >/dev/null; then desktop-file-validate $d/*.desktop; else echo "  part skipped: desktop-file-validate is not installed"; fi
if command -v appstreamcli >/dev/null; then
    appstreamcli validate --no-net $d/*.metainfo.xml >/dev/null || { appstreamcli validate --no-net $d/*.metainfo.xml; exit 1; }
else
    echo "  part skipped: appstreamcli is not installed"
fi
for f in $d/*.xml $d/*.svg; do python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$f"; done
if command -v update-mime-database >/dev/null; then
    T=$(mktemp -d)
    trap 'rm -rf "$T"' EXIT
    mkdir -p "$T/mime/packages"
    cp $d/org.ninodes.Studio.mime.xml "$T/mime/packages/"
    update-mime-database "$T/mime" 2>"$T/log" || { cat "$T/log"; exit 1; }
    grep -q 'x-ninodes-workflow' "$T/mime/globs2"
fi
# What the desktop file starts and shows is what is built.
grep -q '^Exec=ninodes-studio ' $d/org.ninodes.Studio.desktop
grep -q 'org.ninodes.Studio"' gui/main.c
