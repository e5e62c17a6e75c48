# ninodes.conf: the working folder's counts more than the user's, that more than the system's; the
# environment more than all, options most. Mistakes are errors with their line.
. tests/cli/common
here=$PWD
case $N in /*) ;; *) N=$here/$N ;; esac
mkdir -p "$tmp/own/ninodes" "$tmp/system/ninodes" "$tmp/work"
export XDG_CONFIG_HOME=$tmp/own XDG_CONFIG_DIRS=$tmp/system
unset NINODES_DEVICE
cd "$tmp/work"
# an unknown device is named by the command: that tells which setting counted
device() { # expected name, arguments
    name=$1
    shift
    expect 5 "$N" selftest "$@"
    said "$name"
}
echo 'device = system-device' >"$tmp/system/ninodes/ninodes.conf"
device system-device
printf '# mine\n\n  Device=own-device  \n' >"$tmp/own/ninodes/ninodes.conf"
device own-device
echo 'device = work-device' >ninodes.conf
device work-device
NINODES_DEVICE=env-device device env-device
NINODES_DEVICE=env-device device option-device --device option-device
# mistakes end a command, with the place and the nearest key; config and doctor still run
wrong() { # what is said
    expect 2 "$N" nodes KSampler
    said "ninodes.conf:$1"
    silent out
}
echo 'devise = cl' >ninodes.conf
wrong '1: there is no setting "devise"; did you mean device?'
printf 'device = cl\ntrace = /tmp/t.json\n' >ninodes.conf
wrong '2: only your own ninodes.conf may set "trace"'
echo 'device' >ninodes.conf
wrong '1: no "=" in "device"'
echo 'kernel_dir = /tmp' >ninodes.conf
wrong '1: there is no setting "kernel_dir"'
printf '[memory]\n\nchunksize = 4\n' >ninodes.conf
wrong '3: there is no setting "memory.chunksize"; did you mean memory.chunk_size?'
printf '[precision]\nchunk_size = 4\n' >ninodes.conf
wrong '2: there is no setting "precision.chunk_size"; did you mean memory.chunk_size?'
printf '[memory]\nchunk_size = 3\n' >ninodes.conf
wrong '2: memory.chunk_size is one of auto|1|2|4|8, not "3"'
printf '[rocm]\nmemory_fraction = 1.5\n' >ninodes.conf
wrong '2: rocm.memory_fraction is a number from 0.05 to 1, not "1.5"'
printf '[rocm]\nmemory_fraction = 0.5\nmemory_fraction = 0.6\n' >ninodes.conf
wrong '3: rocm.memory_fraction is set in line 2 already'
printf '[rokm]\n' >ninodes.conf
wrong '1: there is no section \[rokm\]'
printf 'device = "ref\n' >ninodes.conf
wrong '1: the quotes of device do not end the line'
expect 2 "$N" config
said 'ninodes.conf:1: the quotes of device'
rm ninodes.conf
NINODES_CHUNK_SIZE=7 expect 2 "$N" nodes KSampler
said 'NINODES_CHUNK_SIZE: memory.chunk_size is one of'

# every source, and which counts
printf 'mem_limit = 2GiB # mine\n[memory]\nchunk_size = 4\n[rocm]\nmemory_fraction = "0.5"\n' >ninodes.conf
NINODES_MEMORY_THRESHOLD=0.7 expect 0 "$N" config --explain --config precision.fallback=none
grep -A1 '^memory.chunk_size = 4$' "$tmp/out" | grep -q 'from     ninodes.conf, line 3$' || die 'no line of the file'
grep -A1 '^memory.memory_threshold = 0.7$' "$tmp/out" | grep -q 'the environment, NINODES_MEMORY_THRESHOLD$' || die 'no variable'
grep -A1 '^precision.fallback = none$' "$tmp/out" | grep -q 'the command line, --config$' || die 'no option'
grep -A1 '^precision.mode = auto$' "$tmp/out" | grep -q 'the default$' || die 'no default'
[ "$(grep -c '^    changes  .' "$tmp/out")" = "$(grep -c '^    from ' "$tmp/out")" ] || die 'a key changes nothing'
NINODES_CHUNK_SIZE=8 expect 0 "$N" config get memory.chunk_size
printed '^8$'
NINODES_CHUNK_SIZE=8 expect 0 "$N" config --config memory.chunk_size=2
printed '^chunk_size = 2$'
expect 0 "$N" config --precision fp16 --mem-limit 1GiB
printed '^mode = fp16$'
printed '^mem_limit = 1GiB$'
expect 2 "$N" config --config memory.chunk=2
said 'did you mean memory.chunk_size'
expect 2 "$N" config --config memory
said 'needs KEY=VALUE'

# what is printed is a file that says the same
mv ninodes.conf first.conf
mkdir -p again
(unset NINODES_HELPERS && cd again && cp ../first.conf ninodes.conf && "$N" config >../printed.conf && cp ../printed.conf ninodes.conf &&
    "$N" config >../twice.conf) || die 'config does not read what it printed'
cmp -s printed.conf twice.conf || die 'what config prints is not what it reads'

# folders and previews of runs
mkdir -p there
printf '[run]\noutput = %s\n' "$PWD/there" >"$tmp/own/ninodes/ninodes.conf"
cat >w.json <<'END'
{"1": {"class_type": "EmptyImage", "inputs": {"width": 16, "height": 16, "batch_size": 1, "color": 0}},
 "2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": "x"}}}
END
expect 0 "$N" run w.json --device ref
[ -f there/x_00001_.png ] || die 'run.output has no effect'
NINODES_OUTPUT=$PWD/env expect 0 "$N" run w.json --device ref
[ -f env/x_00001_.png ] || die 'NINODES_OUTPUT has no effect'
expect 0 "$N" run w.json --device ref --output option
[ -f option/x_00001_.png ] || die '--output does not count most'
printf '[run]\noutput = /\n' >ninodes.conf
wrong '2: only your own ninodes.conf may set "run.output"'
printf '[run]\npreview = taesd\n' >ninodes.conf
expect 0 "$N" config --preview auto
printed '^preview = auto$'
rm ninodes.conf

# writing the user's own
own=$tmp/own/ninodes/ninodes.conf
printf '# kept\n\n[precision]\nmode = fp32 # old\n' >"$own"
expect 0 "$N" config set memory.cpu_offload true
expect 0 "$N" config set precision.mode bf16
expect 0 "$N" config set mem_limit 3GiB
printf '# kept\n\nmem_limit = 3GiB\n[precision]\nmode = bf16\n[memory]\ncpu_offload = true\n' | cmp -s - "$own" || die "written: $(cat "$own")"
expect 0 "$N" config unset precision.mode
! grep -q mode "$own" || die 'unset did nothing'
expect 2 "$N" config set precision.mode fp17
expect 2 "$N" config set precision.modes fp16
said 'did you mean precision.mode'
expect 0 "$N" config --json
cd "$here"
json_lines "$tmp/out" ok
printed '"key":"memory.cpu_offload","value":"true","source":"file"'

exit 0
