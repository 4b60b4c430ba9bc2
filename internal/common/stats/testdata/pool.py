#!/usr/bin/env python3
"""Makes pool.json: random-effects summaries that the Go tests compare with.

Needs numpy, scipy and statsmodels (pip install statsmodels). Run it in this
directory; the seed is fixed, so that the file only changes with the script.
Paule and Mandel's variance and Hartung and Knapp's interval are statsmodels'; its
interval is taken as it is where it is no narrower than by the weights alone.
The prediction interval, the interval of the spread, I² and Welch's test are
computed here by their formulas.
"""
import json

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.meta_analysis import combine_effects

rng = np.random.default_rng(20260301)


def q_of(y, v, tau2):
    w = 1 / (v + tau2)
    return float(np.sum(w * (y - np.sum(w * y) / w.sum()) ** 2))


def root(y, v, wanted):
    if q_of(y, v, 0) <= wanted:
        return 0.0
    return optimize.brentq(lambda t: q_of(y, v, t) - wanted, 0, 1e4, xtol=1e-15, rtol=1e-14)


def welch(y, v, nu):
    k, w = len(y), 1 / v
    left = np.sum((1 - w / w.sum()) ** 2 / nu)
    f = q_of(y, v, 0) / (k - 1) / (1 + 2 * (k - 2) / (k * k - 1) * left)
    return float(stats.f.sf(f, k - 1, (k * k - 1) / (3 * left)))


cases = []
for k, tau in [(5, 0.0), (5, 0.2), (8, 0.05), (12, 0.3), (20, 0.1), (100, 0.02)]:
    v = rng.uniform(0.001, 0.004, k)
    y = 0.1 + rng.normal(0, tau, k) + rng.normal(0, np.sqrt(v))
    nu = rng.integers(5, 30, k)
    pm = combine_effects(y, v, method_re="iterated", use_t=True, atol=1e-10, maxiter=500)
    tau2 = root(y, v, k - 1)
    assert abs(tau2 - pm.tau2) < 1e-9, (tau2, pm.tau2)
    w = 1 / (v + tau2)
    center = float(np.sum(w * y) / w.sum())
    scale = max(1, q_of(y, v, tau2) / (k - 1))
    se = float(np.sqrt(scale / w.sum()))
    h = stats.t.ppf(0.975, k - 1) * se
    if q_of(y, v, tau2) / (k - 1) >= 1 - 1e-9:
        lo, hi = pm.conf_int(alpha=0.05, use_t=True)[3]
        assert abs(lo - (center - h)) < 1e-8 and abs(hi - (center + h)) < 1e-8
    p = stats.t.ppf(0.975, k - 2) * np.sqrt(tau2 + se**2)
    one = 1 / v
    typical = (k - 1) * one.sum() / (one.sum() ** 2 - (one**2).sum())
    cases.append({
        "y": y.tolist(), "v": v.tolist(), "nu": nu.tolist(), "center": center, "interval": [center - h, center + h],
        "predicted": [center - p, center + p], "tau": float(np.sqrt(tau2)), "i2": float(tau2 / (tau2 + typical)) if tau2 else 0.0,
        "tauInterval": [float(np.sqrt(root(y, v, stats.chi2.ppf(q, k - 1)))) for q in (0.975, 0.025)],
        "q": q_of(y, v, 0), "chi": float(stats.chi2.sf(q_of(y, v, 0), k - 1)), "welch": welch(y, v, nu),
    })
with open("pool.json", "w") as f:
    json.dump(cases, f, indent=1)
    f.write("\n")
