#!/bin/bash
# The views of tiles, roofline, device, steps, advice and comparison: drawn in light and dark, exported, advice applied; the
# details of what is chosen, rows of the timeline, the plot of a sweep.
set -e
bash "$(dirname "$0")/program.sh" profile @
exec bash "$(dirname "$0")/program.sh" views_of_device @ "$@"
