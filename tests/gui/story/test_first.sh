#!/bin/bash
# From the first start, with nothing of the user's anywhere, to the first picture: by pointer, and by keyboard alone. No chooser
# of files opens, and it takes at most four actions.
. "$(dirname "$0")/../lib.sh"
need_people
cd "$work"
picture() { find "$HOME" "$work" -name 'text_to_image*.png' -size +1k | grep -q .; }
no_chooser() { ! ATCLICK_SECONDS=0 at '*' 'Name:' wait 2>/dev/null; }

start
need_bus
press button 'Text to image'
wait_state ready 30
no_chooser || die "a file is asked for"
press button 'Run*' # what would run may be counted by now
wait_state done 120
picture || die "there is no picture"
at '*button' 'Result 1: *' wait || die "the picture is not shown"
[ "$acts" -le 4 ] || die "it took $acts actions"
shot first
quit

[ -n "${NINODES_TEST_LONG:-}" ] || exit 0
# Again as if for the first time: by keyboard alone.
rm -rf "$HOME/.local" "${XDG_CONFIG_HOME:?}/ninodes" "$work"/*
picture && die "a picture was left behind"
start
at button 'Text to image' wait || die "no examples are offered"
acts=0
xdotool mousemove 1399 899 # the keys go to the window under the pointer
keys ctrl+k; text 'text to image'; sleep 0.3; keys Return
wait_state ready 30
keys ctrl+Return
wait_state done 120
picture || die "there is no picture by keyboard"
[ "$acts" -le 4 ] || die "it took $acts actions by keyboard"
quit
