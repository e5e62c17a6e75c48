#!/bin/bash
# Every view of a window in which nothing was done yet says so with a picture, a sentence and a button, which does what it says;
# a search that finds nothing is cleared by its button.
here=$(dirname "$0")
set -e
flow=$(mktemp --suffix=.json)
trap 'rm -f "$flow"' EXIT
cat >"$flow" <<'END'
{"1": {"class_type": "EmptyImage", "inputs": {"width": 64, "height": 64, "batch_size": 1, "color": 255}},
 "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "empty"}}}
END
bash "$here/program.sh" empty "$flow"
