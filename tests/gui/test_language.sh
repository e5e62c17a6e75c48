#!/bin/bash
# The app speaks the language that is asked for, and every catalogue fits the texts of data/po/ninodes.pot.
. "$(dirname "$0")/lib.sh"
for po in "$root"/data/po/*.po; do
    command -v msgcmp >/dev/null || break
    msgfmt --check --check-format -o /dev/null "$po" || die "$po is not sound"
    # Says nothing when both have the same texts; ones without a translation are shown in English.
    stale=$(msgcmp --use-untranslated "$po" "$root/data/po/ninodes.pot" 2>&1) || true
    [ -z "$stale" ] || die "$po differs from ninodes.pot, make pot: $stale"
    [ -s "$B/locale/$(basename "$po" .po)/LC_MESSAGES/ninodes.mo" ] || die "$po was not compiled"
done

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
ATCLICK_SECONDS=5 at window '*' wait 2>/dev/null || { echo "skip: no accessibility bus"; quit; exit 77; }
at '*button' 'Ausführen' wait || die "the button of the header bar is not German"
at '*button' 'Warteschlange*' wait || die "the panel is not German"
win_do perspective profile; at tab 'Speicherpool' wait || die "the live view is not German"
shot german
quit
