#!/usr/bin/python3
"""A small suite of what Python programs do, each a fixed amount of work.

usage: python-suite.py REPEATS

Prints one JSON object: for each benchmark the repetitions a second by the
median of REPEATS, and the geometric mean of all. Every benchmark checks its
own result, so that none can be quick by not doing its work.
"""

import json
import math
import pickle
import re
import statistics
import subprocess
import sys
import time


def nbody():
    """Floating point and attributes: a sun and two planets, 4000 steps."""
    bodies = [
        [0.0, 0.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 1.0, 1e-3],
        [0.0, 5.0, -0.45, 0.0, 1e-4],
    ]

    def energy():
        total = 0.0
        for i, a in enumerate(bodies):
            total += 0.5 * a[4] * (a[2] ** 2 + a[3] ** 2)
            for b in bodies[i + 1 :]:
                total -= a[4] * b[4] / math.hypot(a[0] - b[0], a[1] - b[1])
        return total

    before, dt = energy(), 1e-3
    for _ in range(4000):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1 :]:
                x, y = a[0] - b[0], a[1] - b[1]
                pull = dt / (x * x + y * y) ** 1.5
                a[2] -= x * b[4] * pull
                a[3] -= y * b[4] * pull
                b[2] += x * a[4] * pull
                b[3] += y * a[4] * pull
        for a in bodies:
            a[0] += dt * a[2]
            a[1] += dt * a[3]
    return abs(energy() - before) < 1e-4


def permutations():
    """Lists and indices: the most flips of a permutation of 7 (16)."""
    most = 0

    def walk(left, chosen):
        nonlocal most
        if not left:
            p, flips = chosen[:], 0
            while p[0] != 0:
                n = p[0] + 1
                p[:n] = p[n - 1 :: -1] if n == len(p) else p[:n][::-1]
                flips += 1
            most = max(most, flips)
            return
        for i, v in enumerate(left):
            walk(left[:i] + left[i + 1 :], chosen + [v])

    walk(list(range(7)), [])
    return most == 16


def matrix():
    """Nested loops of floats: two 60 x 60 matrices multiplied."""
    n = 60
    a = [[float(i + j) for j in range(n)] for i in range(n)]
    b = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    c = [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]
    return c == a


def integers():
    """Big integers: 2000 decimal places of pi by Machin's formula."""
    unit = 10**2010

    def arctan(x):
        term = unit // x
        total, n, sign, square = term, 3, -1, x * x
        while term:
            term //= square
            total += sign * (term // n)
            n, sign = n + 2, -sign
        return total

    pi = 4 * (4 * arctan(5) - arctan(239))
    return str(pi)[1995:2001] == "759009"


def documents():
    """JSON to text and back: 600 records."""
    records = [{"id": i, "name": "record %d" % i, "values": [i / 7, i * 3, None, True], "tags": {"a": "ä", "b": [i]}} for i in range(600)]
    return json.loads(json.dumps(records)) == records


def objects():
    """Pickle to bytes and back: a deep structure of 4000 parts."""
    thing = None
    for i in range(200):
        thing = (i, thing, {j: str(j) for j in range(20)})
    return pickle.loads(pickle.dumps(thing, 4)) == thing


def patterns():
    """Regular expressions over 150 kB of text."""
    text = "".join("user%d@host%d.example.org 10.0.%d.%d GET /path/%d?x=%d\n" % (i, i % 7, i % 256, i % 251, i, i) for i in range(2500))
    mails = re.findall(r"[a-z0-9]+@[a-z0-9]+(?:\.[a-z]+)+", text)
    return len(mails) == 2500 and re.subn(r"(\d+)\.(\d+)\.(\d+)\.(\d+)", r"\4.\3.\2.\1", text)[1] == 2500


def words():
    """Strings and dictionaries: words counted and sorted."""
    counts = {}
    state = 1
    for _ in range(30000):
        state = (state * 1103515245 + 12345) % 2147483648
        word = "w" + str(state >> 20)
        counts[word] = counts.get(word, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return sum(n for _, n in ordered) == 30000


def generators():
    """Calls, generators and sets: the 8 queens (92 ways)."""

    def place(row, columns, up, down):
        if row == 8:
            yield 1
            return
        for c in range(8):
            if c not in columns and row + c not in up and row - c not in down:
                yield from place(row + 1, columns | {c}, up | {row + c}, down | {row - c})

    return sum(place(0, frozenset(), frozenset(), frozenset())) == 92


def startup():
    """A new interpreter that does nothing."""
    return subprocess.run([sys.executable, "-I", "-c", "pass"], check=False).returncode == 0


def main():
    repeats = int(sys.argv[1])
    scores = {}
    for run in (nbody, permutations, matrix, integers, documents, objects, patterns, words, generators, startup):
        if not run():  # also warms up
            sys.exit("%s gave a wrong result" % run.__name__)
        times = []
        for _ in range(repeats):
            begin = time.perf_counter_ns()
            right = run()
            times.append(time.perf_counter_ns() - begin)
            if not right:
                sys.exit("%s gave a wrong result" % run.__name__)
        scores[run.__name__] = 1e9 / statistics.median(times)
    print(json.dumps({"python": sys.version.split()[0], "repeats": repeats, "per_second": scores, "geometric_mean": statistics.geometric_mean(scores.values())}, indent=1))


main()
