#!/usr/bin/env python3
"""Makes slope.json: Theil-Sen slopes and intervals by SciPy, to compare with.

Needs numpy and scipy. Run it in this directory; the seed is fixed.
"""
import json

import numpy as np
from scipy import stats

rng = np.random.default_rng(20260102)
cases = []
for n, levels in [(7, 0), (21, 0), (21, 5), (60, 0), (60, 12)]:
    x = np.arange(n, dtype=float) if levels == 0 else np.arange(n, dtype=float) % levels
    y = 64 * x + rng.standard_t(3, n) * 20
    if n == 60:
        y = np.round(y / 16) * 16
    slope, _, lo, hi = stats.theilslopes(y, x, 0.95)
    cases.append({"x": x.tolist(), "y": y.tolist(), "slope": slope, "lo": lo, "hi": hi})
with open("slope.json", "w") as f:
    json.dump(cases, f)
    f.write("\n")
