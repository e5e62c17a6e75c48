# Faults in whole programs, `ninodes run` and `ninodes worker`: tests/fault/programs.py says which and how each is judged.
# Here those of the system; programs_driver.sh has the driver's, beside it.
[ $# -gt 0 ] || set -- kill calls
. tests/cli/common
[ -x "$B/tests/fault/tool/inject" ] || { echo "skip: tests/fault/tool/inject was not built"; exit 77; }
[ -f data/demo/models/checkpoints/demo_flux.safetensors ] || { echo "skip: the demo's models are not here"; exit 77; }
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
PYTHONPATH=tests python3 tests/fault/programs.py "$B" "$tmp" "$@"
