#!/usr/bin/python3
"""Write the job file of the suite of stress-ng.

usage: stress-job.py FILE PERCENT WORKERS

Each method has a size at which one operation is short, and a number of
operations for 100 percent, about a second of a processor of 2021.
"""

import sys

METHODS = [
    ("cpu", 1500, []),
    ("bsearch", 1000, ["bsearch-size 16384"]),
    ("crypt", 2000, []),
    ("fp", 200, []),
    ("hash", 75000, []),
    ("heapsort", 160, ["heapsort-size 16384"]),
    ("hsearch", 6500, []),
    ("jpeg", 600, []),
    ("matrix", 2500, []),
    ("qsort", 280, ["qsort-size 16384"]),
    ("skiplist", 6500, []),
    ("str", 380000, []),
    ("tree", 240, ["tree-size 4096"]),
    ("vecmath", 3300, []),
    ("wcs", 200000, []),
    ("zlib", 700, ["zlib-level 1"]),
]


def main():
    file, percent, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    lines = ["run sequential"]
    for name, operations, settings in METHODS:
        lines.append("%s %d" % (name, workers))
        lines.append("%s-ops %d" % (name, max(1, operations * percent // 100)))
        lines.extend(settings)
    with open(file, "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n")


main()
