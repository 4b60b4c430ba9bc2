#!/usr/bin/env python3
"""Makes ranksum.json: two-sample tests by SciPy, to compare with.

The shift's interval is read off all differences at the depth of the exact
distribution, which is enumerated here. Needs numpy and scipy. Run it in this
directory; the seed is fixed.
"""
import json

import numpy as np
from scipy import stats

rng = np.random.default_rng(20260103)


def counts(m, n):
    """The distribution of U, by counting."""
    c = [[None] * (n + 1) for _ in range(m + 1)]
    for i in range(m + 1):
        for j in range(n + 1):
            p = [0] * (i * j + 1)
            if i == 0 or j == 0:
                p[0] = 1
            else:
                for u, v in enumerate(c[i - 1][j]):
                    p[u + j] += v
                for u, v in enumerate(c[i][j - 1]):
                    p[u] += v
            c[i][j] = p
    return c[m][n]


cases = []
for m, n, ties in [(3, 3, 0), (4, 4, 0), (5, 8, 0), (10, 10, 0), (20, 12, 0), (30, 30, 0), (40, 25, 0), (12, 12, 3), (50, 45, 4)]:
    x, y = rng.standard_t(3, m) * 0.1 + 0.05, rng.standard_t(3, n) * 0.1
    if ties:
        x, y = np.round(x * ties) / ties, np.round(y * ties) / ties
    exact = not ties and max(m, n) <= 30
    d = np.sort(np.subtract.outer(x, y).ravel())
    interval = None
    if exact:
        p = counts(m, n)
        total, low, depth = sum(p), 0, 0
        for k, v in enumerate(p):
            low += v
            if 40 * low > total:
                depth = k
                break
        if depth > 0:
            interval = [d[depth - 1], d[len(d) - depth]]
    w = stats.ttest_ind(x, y, equal_var=False)
    ci = w.confidence_interval(0.95)
    cases.append({
        "x": x.tolist(), "y": y.tolist(), "exact": exact,
        "p": stats.mannwhitneyu(x, y, method="exact" if exact else "asymptotic").pvalue,
        "shift": float(np.median(d)), "interval": interval,
        "welch_p": w.pvalue, "welch": [ci.low, ci.high],
    })
with open("ranksum.json", "w") as f:
    json.dump(cases, f)
    f.write("\n")
