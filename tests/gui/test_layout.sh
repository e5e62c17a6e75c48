#!/bin/bash
# Labels have room in every drawer and view, at 1280 x 800 and above, in three themes and two languages.
here=$(dirname "$0")
root=$(cd "$here/../.." && pwd)
B=${B:-build}
case $B in /*) ;; *) B=$root/$B ;; esac
set -e
B=$B bash "$here/program.sh" layout "$root/data/workflows/text_to_image.json" @
B=$B bash "$here/program.sh" layout "$root/data/workflows/text_to_image.json" @ "$B/locale" de
