# Faults of the driver in whole programs: calls that fail, that do not return, that end a worker.
set -- hangs device deaths
. tests/fault/programs.sh
