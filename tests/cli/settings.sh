# ninodes.conf: the working folder's counts more than the user's, that more than the system's; the
# environment more than all, options most. Mistakes are named with their line.
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
# mistakes
echo 'devise = cl' >ninodes.conf
expect 0 "$N" nodes KSampler
said 'ninodes.conf:1: there is no setting "devise"'
printf 'device = cl\ntrace = /tmp/t.json\n' >ninodes.conf
expect 0 "$N" nodes KSampler
said 'ninodes.conf:2: only your own ninodes.conf may set "trace"'
echo 'device' >ninodes.conf
expect 0 "$N" nodes KSampler
said 'ninodes.conf:1: no "=" in "device"'
echo 'kernel_dir = /tmp' >ninodes.conf
expect 0 "$N" nodes KSampler
said 'there is no setting "kernel_dir"'
exit 0
