# Debian packages: built twice, in different folders of a clean Debian 12, equal to the bit and without a complaint of lintian; then
# installed in another one, used as data/deb/tests say, and removed without a trace.
. tests/cli/common
[ -n "${NINODES_TEST_LONG-}" ] || { echo "skip: two builds in a chroot; the long check runs it"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "skip: a chroot needs root"; exit 77; }
for p in mmdebstrap unshare; do command -v $p >/dev/null || { echo "skip: $p is not installed"; exit 77; }; done
unshare --mount --pid --fork true 2>/dev/null || { echo "skip: no chroot of its own is allowed here"; exit 77; }
mirror=${NINODES_TEST_MIRROR:-http://deb.debian.org/debian}
timeout 600 mmdebstrap -q --variant=apt bookworm "$tmp/base.tar" "$mirror" 2>"$tmp/err" ||
    { echo "skip: no Debian from $mirror: $(tail -1 "$tmp/err")"; exit 77; }

new_root() { mkdir "$1" && tar -xf "$tmp/base.tar" -C "$1" --exclude='./dev/*' && cp /etc/resolv.conf "$1/etc"; }
in_root() { # ROOT COMMAND...: with processes and mounts that end with it
    unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        http_proxy="${http_proxy-}" "$@"' "$@"
}
quiet() { in_root "$@" >"$tmp/log" 2>&1 </dev/null || { tail -40 "$tmp/log"; die "$*"; }; }

# ---- built
new_root "$tmp/build"
sources() {
    mkdir -p "$tmp/build$1"
    { git ls-files -z 2>/dev/null || find . -type f -not -path './build*' -not -path './out/*' -not -name config.mk -print0; } |
        xargs -0 cp --parents -t "$tmp/build$1"
}
sources /src
sources /elsewhere/deeper
quiet "$tmp/build" sh -c 'apt-get update -qq && apt-get install -y --no-install-recommends make'
quiet "$tmp/build" sh -c 'cd /src && make -s deb'
quiet "$tmp/build" sh -c 'cd /elsewhere/deeper && umask 077 && TZ=Asia/Tokyo LANG=C make -s deb'
packages=$(cd "$tmp/build/src/build/deb" && ls ./*.deb)
[ "$(echo "$packages" | grep -vc dbgsym)" = 7 ] || die "not the seven packages: $packages"
for p in $packages; do
    cmp "$tmp/build/src/build/deb/$p" "$tmp/build/elsewhere/deeper/build/deb/$p" || die "$p differs between two folders"
done
! grep -rlF -e "$tmp" -e /elsewhere/deeper "$tmp/build/elsewhere/deeper/build/deb/ninodes-"*/debian/ninodes/usr || die "a package names where it was built"
in_root "$tmp/build" sh -c 'cd /src/build/deb && lintian --allow-root --fail-on error,warning *.changes' >"$tmp/out" 2>"$tmp/err" || die "lintian"
echo "  $(echo "$packages" | wc -l) packages, twice the same bits; lintian: $(grep -c '^[EW]:' "$tmp/out") errors and warnings"

# ---- installed, used, removed
root=$tmp/clean
new_root "$root"
mkdir -p "$root/debs" "$root/tests"
find "$tmp/build/src/build/deb" -name '*.deb' -not -name '*dbgsym*' -exec cp {} "$root/debs" \;
cp data/deb/tests/* "$root/tests"
rm -rf "$tmp/build"
ours=$(cd "$root/debs" && for d in *.deb; do echo "${d%%_*}"; done)
needs=$(sed -n 's/^Depends: //p' data/deb/tests/control | tr -d ',' | tr ' ' '\n' | grep -vxF "$ours" | sort -u)
quiet "$root" sh -c "apt-get update -qq && apt-get install -y --no-install-recommends $(echo $needs)"
names() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./tests \) -prune -o -print | sort); }
install() { quiet "$root" sh -c 'apt-get install -y /debs/*.deb'; }
purge() { quiet "$root" sh -c "dpkg --purge $(echo $ours)"; }
install # what the packages need stays, so that the second time only they come and go
purge
names >"$tmp/before"
! grep -i ninodes "$tmp/before" | grep -v '^\./debs' || die "left behind"
install
for t in $(sed -n 's/^Tests: //p' data/deb/tests/control); do
    in_root "$root" sh -c "AUTOPKGTEST_TMP=\$(mktemp -d) timeout 600 /tests/$t" >"$tmp/out" 2>"$tmp/err" </dev/null || die "autopkgtest $t"
done
in_root "$root" sh -c 'dpkg -L ninodes ninodes-studio libninodes2 python3-ninodes' | grep -q 'Studio.service' || die "no activation by the bus"
purge
names | diff "$tmp/before" - >"$tmp/out" || die "left or taken"
in_root "$root" ldconfig -p | grep -q ninodes && die "the linker still knows the library"
exit 0
