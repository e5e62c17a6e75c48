#!/bin/bash
# The app speaks the language that is asked for; data/po/ninodes.pot has the texts that are in its sources, and every catalogue
# has all of them, as make pot writes them.
. "$(dirname "$0")/lib.sh"
for po in "$root"/data/po/*.po; do
    command -v msgcmp >/dev/null || break
    msgfmt --check --check-format -o /dev/null "$po" || die "$po is not sound"
    stale=$(msgcmp "$po" "$root/data/po/ninodes.pot" 2>&1) || true # says nothing when both have the same texts
    [ -z "$stale" ] || die "$po differs from ninodes.pot, make pot: $stale"
    [ -s "$B/locale/$(basename "$po" .po)/LC_MESSAGES/ninodes.mo" ] || die "$po was not compiled"
done
if command -v xgettext >/dev/null; then
    mkdir "$work/po"
    cp "$root"/data/po/*.po "$work/po"
    make -s -C "$root" pot po_DIR="$work/po"
    diff -q <(grep '^msgid\|^"' "$work/po/ninodes.pot") <(grep '^msgid\|^"' "$root/data/po/ninodes.pot") >/dev/null ||
        die "data/po/ninodes.pot has not all texts, make pot"
    for po in "$root"/data/po/*.po; do
        cmp -s "$po" "$work/po/$(basename "$po")" || die "$po is written in another way by make pot"
    done
fi

help_has() { "$B/ninodes-studio" --help 2>>"$SHOTS/help.log" | grep -q "$1"; }
help_has 'Model folder; repeatable' || die "without a language it is not English"
LANGUAGE=de help_has 'Modellordner; mehrfach' || die "LANGUAGE=de is not German"
LANGUAGE=xx help_has 'Model folder; repeatable' || die "an unknown language is not English"
# The preference counts more than the desktop, even where the locale is plain C.
mkdir -p "$XDG_CONFIG_HOME/ninodes"
printf '[preferences]\nlanguage=de\n' >"$XDG_CONFIG_HOME/ninodes/studio.ini"
LC_ALL=C help_has 'Modellordner; mehrfach' || die "the preference is not followed"
printf '[preferences]\nlanguage=en\n' >"$XDG_CONFIG_HOME/ninodes/studio.ini"
LANGUAGE=de help_has 'Model folder; repeatable' || die "English cannot be chosen"
rm "$XDG_CONFIG_HOME/ninodes/studio.ini"

# The window: templates, the command table, and figures that stay as files have them.
export LANGUAGE=de
start "$root/data/tiny/decode.json" --models "$root/data/tiny/models" --input "$root/data/tiny/input" --output "$work/out"
need_bus
at '*button' 'Ausführen' wait || die "the button of the header bar is not German"
at '*button' 'Warteschlange*' wait || die "the panel is not German"
win_do perspective profile; at tab 'Speicherpool' wait || die "the live view is not German"
shot german
printf '{"1":{"class_type":"EmptyLatentImage","inputs":{"width":7,"height":64,"batch_size":1}},
 "2":{"class_type":"SaveLatent","inputs":{"samples":["1",0],"filename_prefix":"x"}}}' >"$work/range.json"
win_do open-path "$work/range.json"; wait_state invalid 10
win_do panel problems
at '*' 'Fehler, Knoten 1 * · width: 7 liegt nicht in 16..*' wait || die "what is wrong with the workflow is not told in German"
shot german-problem
quit

# Figures have the decimal mark of the desktop. What the workflow has does not change, and is typed with either.
command -v localedef >/dev/null || exit 0
mkdir "$work/locale"
printf 'LC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\nLC_CTYPE\ncopy "POSIX"\nEND LC_CTYPE\n' >"$work/comma.src"
localedef -c -i "$work/comma.src" -f ANSI_X3.4-1968 "$work/locale/comma" >"$work/comma.log" 2>&1 || true # complains of the other categories
[ -e "$work/locale/comma/LC_NUMERIC" ] || die "no locale: $(cat "$work/comma.log")"
ln -s /usr/lib/locale/C.utf8 "$work/locale/"
[ -d "$root/data/demo/models" ] || exit 0
unset LC_ALL
{ export LOCPATH=$work/locale LC_NUMERIC=comma LC_CTYPE=C.UTF-8; } 2>/dev/null # of no concern to the shell
sample_workflow 32 2
start --models "$root/data/demo/models" --device ref --output "$work/out" "$work/sample.json"
wait_state ready 60
win_do run
wait_state done 120
at '*' '*sample*fertig in *,? s, 1 Datei*' wait || die "the time of a run has no decimal comma"
win_do set 4.denoise=0.75
win_do panel form
at 'spin button' Denoise get | grep -q 'text=0\.75' || die "a value is shown in another way than the file has it: $(at 'spin button' Denoise get)"
need_people
press 'spin button' Denoise; keys ctrl+a; text 0,5; keys Return
win_do export-api-to "$work/api.json"; until_ok 10 test -s "$work/api.json" || die "it cannot be exported"
grep -q '"denoise": *0\.5\b' "$work/api.json" || die "what was typed with a comma is another value: $(grep -o '"denoise"[^,]*' "$work/api.json")"
win_do open-path "$root/data/workflows/text_to_image.json"
at label Danach wait || die "the form does not say of the choice below a seed what it is of"
app_do quit
at button '*eenden*' click # the workflow was changed
until_ok 15 gone || die "the app did not quit"
