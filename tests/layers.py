#!/usr/bin/env python3
"""Proves core/LAYERS: which room may use which.

layers.py includes [ROOT]         every #include "..." of core/, cl/, gui/ and cli/ goes to the same or a lower room
layers.py symbols BUILD [ROOT]    so does every symbol that an object of BUILD takes from another one
layers.py top [ROOT]              the top level of what git tracks is just what it is to be
layers.py sizes [ROOT]            rooms hold at most 40 files, files at most 700 lines, their median at most 300

Exit status 1 and a line for each breach: both files and the rule.
"""
import os
import re
import statistics
import subprocess
import sys

TOP = {"LICENSE", "Makefile", "README.md", "bench", "cl", "cli", "core", "data", "gui", "tests"}
MOST_FILES, MOST_LINES, MOST_MEDIAN = 40, 700, 300


def read_layers(root):
    rooms, excepted = [], set()
    with open(os.path.join(root, "core/LAYERS"), encoding="utf-8") as f:
        for line in f:
            line = line.strip()
            if line.startswith("except "):
                way, symbol, _ = (p.strip() for p in line[7:].split(" : "))
                source, target = (p.strip() for p in way.split("->"))
                excepted.add((source, target, symbol))
            elif line and not line.startswith("#"):
                rooms.append(line.split()[0])
    return {room: i for i, room in enumerate(rooms)}, excepted


def sources(root, suffixes, tops=("core", "cl", "gui", "cli")):
    for top in tops:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if name.endswith(suffixes) and not path.startswith("core/include/"):
                    yield path


def room_of(path, level):
    folder = os.path.dirname(path)
    while folder and folder not in level:
        if folder.startswith(("core/", "gui/")):  # a folder there is a room or nothing
            return None
        folder = os.path.dirname(folder)
    return folder or None


def included(path, name):
    """The file that path means: gui/ and cli/ name their own from their top, core/ and cl/ from the root."""
    top = path.split("/")[0]
    return f"{top}/{name}" if top in ("gui", "cli") else name


def check_includes(root):
    level, _ = read_layers(root)
    bad = []
    for path in sources(root, (".c", ".h")):
        room = room_of(path, level)
        if room is None:
            bad.append(f"{path}: its folder is not in core/LAYERS")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as f:
            for n, line in enumerate(f, 1):
                m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
                if not m:
                    continue
                file = included(path, m[1])
                target = room_of(file, level)
                if target is None:
                    bad.append(f"{path}:{n}: {file} is in no room of core/LAYERS")
                elif level[target] > level[room]:
                    bad.append(f"{path}:{n}: includes {file}: {room} is below {target} in core/LAYERS and must not know it")
    return bad


def check_symbols(build, root):
    level, excepted = read_layers(root)
    home, wanted, bad = {}, [], []
    paths = {os.path.join(build, path[:-2] + ".o"): path for path in sources(root, (".c",))}
    objects = [obj for obj in paths if os.path.exists(obj)]
    for line in subprocess.run(["nm", "-A", *objects], check=True, capture_output=True, text=True).stdout.splitlines():
        obj, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        if kind in "TDBRVWC":
            home[symbol] = paths[obj]
        elif kind == "U":
            wanted.append((paths[obj], symbol))
    if len(home) < 100:
        sys.exit(f"layers.py: {build} holds no objects of core/; build first")
    used = set()
    for path, symbol in wanted:
        if symbol not in home:
            continue
        room, target = room_of(path, level), room_of(home[symbol], level)
        if room is None or target is None:
            bad.append(f"{path if room is None else home[symbol]}: its folder is not in core/LAYERS")
        elif level[target] > level[room]:
            if (room, target, symbol) in excepted:
                used.add((room, target, symbol))
            else:
                bad.append(f"{path}: uses {symbol} of {home[symbol]}: {room} is below {target} in core/LAYERS and must not know it")
    if os.path.exists(os.path.join(build, "cl/provider.o")):
        bad += [f"core/LAYERS: nothing needs the exception {a} -> {b} : {s}" for a, b, s in sorted(excepted - used)]
    return bad


def check_top(root):
    try:
        names = subprocess.check_output(["git", "-C", root, "ls-files"], text=True, stderr=subprocess.DEVNULL).split("\n")
    except (OSError, subprocess.CalledProcessError):
        return []  # not a checkout
    top = {name.strip('"').split("/")[0] for name in names if name}
    return [f"{name}: nothing else belongs to the top level" for name in sorted(top - TOP) if name[0] != "."]


def check_sizes(root):
    bad, rooms, lines = [], {}, {}
    for path in sources(root, (".c", ".h"), ("core", "cl", "gui", "cli", "tests", "bench")):
        rooms.setdefault(os.path.dirname(path), []).append(path)
        with open(os.path.join(root, path), encoding="utf-8") as f:
            lines[path] = sum(1 for _ in f)
    for room, files in sorted(rooms.items()):
        if len(files) > MOST_FILES:
            bad.append(f"{room}: {len(files)} files, at most {MOST_FILES} of one meaning: give it sub-rooms")
    bad += [f"{p}: {n} lines, at most {MOST_LINES}: split it" for p, n in sorted(lines.items()) if n > MOST_LINES]
    median = statistics.median(n for p, n in lines.items() if p.endswith(".c"))
    if median > MOST_MEDIAN:
        bad.append(f"the median of all .c files is {median:.0f} lines, at most {MOST_MEDIAN}")
    return bad


def main(args):
    if args[:1] == ["includes"] and len(args) <= 2:
        bad = check_includes(*(args[1:] or ["."]))
    elif args[:1] == ["symbols"] and 2 <= len(args) <= 3:
        bad = check_symbols(args[1], *(args[2:] or ["."]))
    elif args[:1] == ["top"] and len(args) <= 2:
        bad = check_top(*(args[1:] or ["."]))
    elif args[:1] == ["sizes"] and len(args) <= 2:
        bad = check_sizes(*(args[1:] or ["."]))
    else:
        sys.exit(__doc__)
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
