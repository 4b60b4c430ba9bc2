#!/usr/bin/env python3
"""Makes changepoint.json: E-divisive by its definition, to compare with.

For each series the energy statistic (exponent 1) of every break and every end
is computed from the sums over all pairs, as in Matteson & James 2014, eq. 5 to
8, over the mean distance; and for the short ones the permutation test's p by all
permutations. Needs nothing but Python. Run it in this directory; the seed is
fixed.
"""
import itertools
import json
import random

rng = random.Random(20260304)


def mean(v):
    return sum(v) / len(v)


def energy(x, y):
    m, n = len(x), len(y)
    between = mean([abs(a - b) for a in x for b in y])
    inside = [mean([abs(a - b) for a, b in itertools.combinations(v, 2)]) for v in (x, y)]
    return m * n / (m + n) * (2 * between - inside[0] - inside[1])


def best(x, least=2):
    scale = mean([abs(a - b) for a, b in itertools.combinations(x, 2)])
    return max(
        ((energy(x[:k], x[k:e]) / scale, -k) for k in range(least, len(x) - least + 1) for e in range(k + least, len(x) + 1))
    )


def step(n, *at):
    return [rng.gauss(0, 0.03) + sum(h for k, h in at if i >= k) for i in range(n)]


cases = []
for x in [step(4), step(7), step(7, (3, 0.3)), step(8, (4, 0.2)), step(8, (6, 0.06)), step(12), step(20, (12, 0.05)), step(40, (15, 0.1), (28, -0.1)), step(60, (57, 0.2))]:
    q, k = best(x)
    p = None
    if len(x) <= 8:
        hits = total = 0
        for y in itertools.permutations(x):
            total += 1
            hits += best(list(y))[0] >= q * (1 - 1e-9)
        p = hits / total
    cases.append({"x": x, "k": -k, "q": q, "p": p})
with open("changepoint.json", "w") as f:
    json.dump(cases, f)
    f.write("\n")
