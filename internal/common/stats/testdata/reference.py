#!/usr/bin/env python3
"""Makes reference.json: values that the Go tests compare with.

Needs numpy, scipy, statsmodels and diptest (pip install scipy statsmodels diptest). Run it in this
directory; the seed is fixed, so that the file only changes with the script.
"""
import itertools
import json
import math

import diptest
import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(20260101)


def lognormal(n):
    return [float(v) for v in np.exp(rng.normal(0.1, 0.3, n))]


def median_interval(x, level=0.95):
    """Hettmansperger and Sheather's, from their formulas, not over wide gaps or ties."""
    x = sorted(x)
    n = len(x)
    cover = lambda d: 1 - 2 * stats.binom.cdf(d - 1, n, 0.5) if 2 * d <= n else 0.0
    if cover(1) < level:
        return None
    d = max(k for k in range(1, n // 2 + 1) if cover(k) >= level)
    i = (cover(d) - level) / (cover(d) - cover(d + 1))
    lam = (n - d) * i / (d + (n - 2 * d) * i)
    if 5 * len(set(x)) <= 4 * n:
        return [x[d - 1], x[n - d]]
    lo, hi, half = x[d - 1], x[n - d], (x[n - d] - x[d - 1]) / 2
    return [(1 - lam) * lo + lam * x[d] if x[d] - lo <= half else lo,
            (1 - lam) * hi + lam * x[n - d - 1] if hi - x[n - d - 1] <= half else hi]


def signed_rank_cdf(n):
    """P(T <= k), by all subsets of the ranks (as counts)."""
    c = [1]
    for r in range(1, n + 1):
        new = [0] * (len(c) + r)
        for s, v in enumerate(c):
            new[s] += v
            new[s + r] += v
        c = new
    return np.cumsum(c, dtype=object), 2 ** n


def hl(d, level=0.95):
    w = sorted((d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d)))
    n = len(d)
    if n <= 50:
        cum, total = signed_rank_cdf(n)
        k = sum(1 for v in cum if v / total <= (1 - level) / 2)
    else:
        mu, sd = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        k = math.floor(mu + 0.5 + stats.norm.ppf((1 - level) / 2) * sd)
    return {"estimate": float(np.median(w)), "interval": [w[k - 1], w[len(w) - k]] if k else None}


def signed_rank_p(d):
    """SciPy where there are no ties; else every assignment of signs."""
    x = [v for v in d if v]
    if not x:
        return 1.0
    if len(set(map(abs, x))) == len(x) and len(x) <= 50:
        return float(stats.wilcoxon(x, method="exact").pvalue)
    if len(x) > 50:
        return float(stats.wilcoxon(x, method="approx", correction=True).pvalue)
    r = stats.rankdata(np.abs(x))
    t = r[np.array(x) > 0].sum()
    sums = np.array([np.dot(s, r) for s in itertools.product((0, 1), repeat=len(x))])
    return float(min(1, 2 * min((sums <= t + 1e-9).mean(), (sums >= t - 1e-9).mean())))


def quantile_interval(x, q, level=0.95):
    x, n, a = sorted(x), len(x), (1 - level) / 2
    l = max([k for k in range(1, n + 1) if stats.binom.cdf(k - 1, n, q) <= a], default=0)
    u = min([k for k in range(1, n + 1) if stats.binom.cdf(k - 1, n, q) >= 1 - a], default=0)
    if not (l and u):
        return None
    # SciPy's is the same where it has both ends.
    ci = stats.quantile_test(x, q=np.quantile(x, q), p=q).confidence_interval(level)
    assert math.isnan(ci.low) or math.isclose(ci.low, x[l - 1]), (ci, x[l - 1])
    assert math.isnan(ci.high) or math.isclose(ci.high, x[u - 1]), (ci, x[u - 1])
    return [x[l - 1], x[u - 1]]


def mann_kendall(x):
    n = len(x)
    s = sum(np.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n))
    tau = float(s / (n * (n - 1) / 2))
    if len(set(x)) == n and n <= 50:
        return [tau, float(stats.kendalltau(range(n), x, method="exact").pvalue)]
    _, t = np.unique(x, return_counts=True)
    var = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5))) / 18
    z = (abs(s) - 1) / math.sqrt(var) if s else 0
    return [tau, float(2 * stats.norm.sf(z)) if s else 1.0]


out = {"samples": [], "paired": [], "quantiles": [], "wilson": [], "family": [], "trend": [], "cliff": [], "dip": [], "clustered": []}

for n in (1, 5, 6, 7, 10, 11, 20, 30, 101):
    x = lognormal(n)
    s = stats.iqr(x)
    q1, q3 = np.quantile(x, [0.25, 0.75])
    if n > 20:
        x[3] = 40.0
        q1, q3 = np.quantile(x, [0.25, 0.75])
    out["samples"].append({
        "x": x, "median": float(np.median(x)), "interval": median_interval(x),
        "iqr": float(stats.iqr(x)), "mad": float(stats.median_abs_deviation(x)),
        "far": int(sum(v < q1 - 3 * (q3 - q1) or v > q3 + 3 * (q3 - q1) for v in x)),
    })

for n in (2, 5, 6, 7, 10, 13, 20, 50, 51, 80):
    d = [float(v) for v in rng.normal(0.08, 0.15, n)]
    t = stats.ttest_1samp(d, 0)
    ci = t.confidence_interval(0.95)
    out["paired"].append({"d": d, "hl": hl(d), "signedrank": signed_rank_p(d),
                          "mean": float(np.mean(d)), "t": [float(ci.low), float(ci.high)], "tp": float(t.pvalue)})
for d in ([0.0, 1, 1, -1, 2, 2, 3], [0.0] * 5, [1.0] * 8, [-2.0, -1, -1, 1, 3, 3, 3, 4, 0, 5, 5, -5],
          [float(v) for v in np.round(rng.normal(0.5, 2, 70))]):
    t = stats.ttest_1samp(d, 0)
    ci = t.confidence_interval(0.95)
    fin = lambda v: None if math.isnan(v) else float(v)
    out["paired"].append({"d": d, "hl": hl(d), "signedrank": signed_rank_p(d),
                          "mean": float(np.mean(d)), "t": [fin(ci.low), fin(ci.high)], "tp": fin(t.pvalue)})

for n, q in ((71, .95), (72, .95), (200, .95), (366, .99), (367, .99), (1000, .99), (50, .5)):
    x = lognormal(n)
    out["quantiles"].append({"x": x, "q": q, "value": float(np.quantile(x, q)), "interval": quantile_interval(x, q)})

for k, n in ((0, 10), (10, 10), (3, 20), (1, 1000), (50, 100)):
    ci = stats.binomtest(k, n).proportion_ci(0.95, method="wilson")
    out["wilson"].append({"k": k, "n": n, "interval": [float(ci.low), float(ci.high)]})

for p in ([0.01, 0.04, 0.03, 0.005], [0.5, 0.9, 0.02], [0.001] * 3, [0.2]):
    h = multipletests(p, method="holm")[1]
    out["family"].append({"p": p, "holm": h.tolist()})

for x in ([1.0, 2, 3, 4, 5], [3.0, 1, 2], lognormal(10), lognormal(40), [1.0, 1, 2, 2, 3, 3, 3, 4, 9, 9],
          [5.0] * 6, list(np.arange(12.0) + rng.normal(0, 2, 12)), lognormal(80)):
    x = [float(v) for v in x]
    out["trend"].append({"x": x, "want": mann_kendall(x) if len(set(x)) > 1 else [0, 1]})

for a, b in ((lognormal(7), lognormal(9)), ([1.0, 2, 2], [2.0, 3, 1]), ([5.0, 6], [1.0, 2])):
    out["cliff"].append({"a": a, "b": b,
                         "delta": float(np.mean([np.sign(u - v) for u in a for v in b]))})

for x in [lognormal(n) for n in (4, 5, 10, 30, 100, 500)] + [
        lognormal(40) + [v + 4 for v in lognormal(40)], [1.0, 1, 2, 2, 3], [1.0, 1, 1, 9, 9, 9],
        [float(v) for v in np.round(lognormal(60), 1)], list(map(float, range(20))),
        lognormal(30) + [v * 3 for v in lognormal(9)] + [v * 9 for v in lognormal(20)]]:
    d = diptest.dipstat(np.array(x), allow_zero=False)
    out["dip"].append({"x": x, "dip": float(d)})


def effective_size(blocks, x, level=0.95):
    """Korn and Graubard's: the ratio estimator's variance between clusters."""
    y, m = np.array([sum(v <= x for v in b) for b in blocks]), np.array([len(b) for b in blocks])
    n, g, p = m.sum(), len(blocks), y.sum() / m.sum()
    var = g / (g - 1) * ((y - p * m) ** 2).sum() / n ** 2
    t = lambda df: stats.t.ppf((1 + level) / 2, df)
    size = p * (1 - p) / var * (t(n - 1) / t(g - 1)) ** 2
    return int(round(min(max(size, g), n)))


for groups, sizes, icc in ((6, [3], 0.5), (10, [10], 0.2), (20, [3, 2], 0.8), (4, [8], 0.0), (30, [4], 0.1)):
    blocks = []
    for g in range(groups):
        shared = rng.normal(0, math.sqrt(icc))
        blocks.append([float(shared + v) for v in rng.normal(0, math.sqrt(1 - icc), sizes[g % len(sizes)])])
    x = float(np.median(np.concatenate(blocks)))
    out["clustered"].append({"blocks": blocks, "x": x, "size": effective_size(blocks, x)})

json.dump(out, open("reference.json", "w"), separators=(",", ":"))
