# Compares a library with the ABI that was kept: abi.sh LIBRARY DUMP SONAME [HEADERS].
# Additions are fine, and so is what data/abi/growth lets through.
set -u
if ! command -v abidiff >/dev/null; then
    echo "abidiff is missing (make deps-lint)" >&2
    exit 1
fi
if ! grep -q "soname='$3'" "$2"; then
    echo "$2 is of another soname than $3: 'make abi' keeps the new one" >&2
    exit 1
fi
said=$(abidiff --exported-interfaces-only --headers-dir2 "${4:-core/include/ninodes}" --drop-private-types --no-added-syms \
    --suppressions "$(dirname "$2")/growth" "$2" "$1" 2>&1)
case $? in
0) exit 0 ;;
*)
    printf '%s\n' "$said" >&2
    echo "the ABI has changed: take it back, or raise SOVERSION and 'make abi'" >&2
    exit 1
    ;;
esac
