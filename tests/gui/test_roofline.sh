#!/bin/bash
# The roofline's axis: chosen, named, followed by kernels, limits and exports.
exec bash "$(dirname "$0")/program.sh" live_roofline @ "$@"
