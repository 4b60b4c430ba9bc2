#!/usr/bin/python3
"""Run a program several times at once and wait for all.

usage: copies.py COPIES PROGRAM [ARGUMENT...]

"{}" in an argument is the copy's number, from 1. Prints how long all took
together. The status is 1 where one of them did not end with 0.
"""

import json
import subprocess
import sys
import time


def main():
    copies = int(sys.argv[1])
    begin = time.perf_counter_ns()
    running = [subprocess.Popen([a.replace("{}", str(i + 1)) for a in sys.argv[2:]], stdin=subprocess.DEVNULL) for i in range(copies)]
    failed = sum(p.wait() != 0 for p in running)
    print(json.dumps({"copies": copies, "ns": time.perf_counter_ns() - begin, "failed": failed}))
    sys.exit(1 if failed else 0)


main()
