#!/bin/bash
# Another driver than PoCL: the quick self-test by the generic schedule on Mesa's rusticl, whose llvmpipe is a processor
# that has 32 KiB of local memory like GPUs. Minutes, so only in the long form.
[ -n "${NINODES_TEST_LONG:-}" ] || { echo "skip: minutes of work; NINODES_TEST_LONG=1 runs it"; exit 77; }
. tests/cli/common
lib=${RUSTICL_LIBRARY:-$(ls /usr/lib/*/libRusticlOpenCL.so.1 2>/dev/null | head -1)}
[ -e "$lib" ] || { echo "skip: no rusticl (mesa-opencl-icd)"; exit 77; }
mkdir "$tmp/icd"
echo "$lib" >"$tmp/icd/rusticl.icd"
export OCL_ICD_VENDORS=$tmp/icd RUSTICL_ENABLE=llvmpipe NINODES_CACHE_DIR=$tmp/cache
unset NINODES_KERNEL_DIR NINODES_DATA_DIR NINODES_SCHEDULE

expect 0 "$N" devices
printed llvmpipe
printed 'less than 224 KiB of local memory' # what the schedule for processors needs
NINODES_SCHEDULE=generic expect 0 "$N" selftest --device cl --quick
printed '^[0-9]* passed, 0 failed'
