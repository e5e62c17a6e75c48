"""What a test has counted, for the table of bench/results/RELIABILITY.md; the same as tests/figure.h for scripts.

figure.py PROGRAM WHAT TARGET FIGURE [yes|no]     from a shell
"""
import os
import sys


def add(program, what, target, figure, is_reached=True):
    print("  %s: %s" % (what, figure), flush=True)
    folder = os.environ.get("NINODES_FIGURES")
    if folder:
        with open(os.path.join(folder, program + ".tsv"), "a", encoding="utf-8") as f:
            f.write("\t".join([what, target, figure, "yes" if is_reached else "no"]) + "\n")


if __name__ == "__main__":
    add(*sys.argv[1:5], is_reached=sys.argv[5:] != ["no"])
