#!/bin/bash
# Colours, distances, corners and sizes of letters are in one table; nothing in gui/ has them as literals. What does is found: the
# linter is tried with a planted file of each kind.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
python3 "$here/tokens.py" "$root/gui"
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
mkdir "$T/base"
cp "$root/gui/base/tokens.c" "$root/gui/base/tokens.h" "$T/base"
n=0
caught() { # NAME TEXT
    rm -f "$T"/planted.*
    printf '%s\n' "$2" >"$T/planted.$1"
    if python3 "$here/tokens.py" "$T" >/dev/null; then echo "not found: $2"; exit 1; fi
    n=$((n + 1))
}
caught c 'gdk_rgba_parse(&c, "#33558f");'
caught c 'const GdkRGBA white = { 1, 1, 1, 1 };'
caught c 'f(&(GdkRGBA){ 0.5f, 0, 0, 1 });'
caught c 'const GdkRGBA a = b, black = { 0, 0, 0, 1 };'
caught c 'cairo_set_source_rgb(cr, 1, 0, 0);'
caught c 'gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);'
caught c 'gtk_widget_set_margin_start(w, 6);'
caught c 'gtk_grid_set_row_spacing(GTK_GRID(grid), 3);'
caught c 'pango_font_description_from_string("Sans 8");'
caught c 'css("a { color: rgba(0, 0, 0, .5); }");'
caught c 'css("a { padding: 7px; }");'
caught css '.a { color: white; }'
caught css '.a { background: alpha(#e5a50a, 0.2); }'
caught css '.a { padding: 4px 6px; }'
caught css '.a { border-radius: 6px; }'
caught css '.a { font-size: smaller; }'
caught css '.a { padding: $space-huge; }'
caught ui '<property name="spacing">6</property>'
echo "$n kinds of literals are found"
