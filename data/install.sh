#!/bin/sh
# Puts what `make install` has laid out in a folder where it belongs, and takes away exactly that again: a list of the
# files, and of the folders that were not there before, is kept among them.
# usage: install.sh put STAGE DESTDIR LIST    install.sh remove DESTDIR LIST      LIST: its path, without DESTDIR
set -eu
what=$1
shift
remove() { # DESTDIR LIST: folders, which stand deepest first, only when nothing else is in them
    [ -f "$1$2" ] || return 0
    mv "$1$2" "$tmp/list"
    while read -r kind path; do
        case $kind in
        file) rm -f "$1$path" ;;
        folder) rmdir "$1$path" 2>/dev/null || true ;;
        esac
    done <"$tmp/list"
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
case $what in
put)
    stage=$1 dest=$2 list=$3
    remove "$dest" "$list" # files of an older version
    (cd "$stage" && find . -type d | sed 's/^\.//; /^$/d' | sort) >"$tmp/folders"
    (cd "$stage" && find . ! -type d | sed 's/^\.//' | sort) >"$tmp/files"
    while read -r path; do
        [ -d "$dest$path" ] && continue
        install -d "$dest$path"
        echo "folder $path" >>"$tmp/made"
    done <"$tmp/folders"
    while read -r path; do cp -P --remove-destination --preserve=mode,links "$stage$path" "$dest$path"; done <"$tmp/files"
    {
        sed 's/^/file /' "$tmp/files"
        [ ! -f "$tmp/made" ] || sort -r "$tmp/made"
    } >"$dest$list"
    ;;
remove)
    [ -f "$1$2" ] || { echo "nothing is installed there: $1$2 is missing" >&2; exit 1; }
    remove "$1" "$2"
    ;;
esac
