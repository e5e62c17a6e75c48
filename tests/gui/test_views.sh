#!/bin/bash
# The views of tiles, roofline, device, steps, advice and comparison: drawn in light and dark, exported, advice applied.
exec bash "$(dirname "$0")/program.sh" views_of_device @ "$@"
