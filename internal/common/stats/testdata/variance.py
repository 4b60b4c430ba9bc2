#!/usr/bin/env python3
"""Makes variance.json: analyses of variance that the Go tests compare with.

Needs numpy, pandas and statsmodels (pip install statsmodels). Run it in this
directory; the seed is fixed, so that the file only changes with the script.
Main effects are of type II among main effects; interactions of type II among
all terms; the mean square of the noise is that of blocks by cells.
"""
import itertools
import json

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

rng = np.random.default_rng(20260102)


def case(name, sizes, blocks, drop):
    cells = [c for i, c in enumerate(itertools.product(*map(range, sizes))) if i not in drop]
    factors = list(zip(*cells))
    effects = [rng.normal(0, 0.5 / (k + 1), n) for k, n in enumerate(sizes)]
    both = rng.normal(0, 0.1, (sizes[0], sizes[1]))
    values, rows = [], []
    for b in range(blocks):
        shift = rng.normal(0, 0.2)
        line = []
        for c in cells:
            y = 1 + shift + sum(e[l] for e, l in zip(effects, c)) + both[c[0], c[1]] + rng.normal(0, 0.1)
            line.append(float(y))
            rows.append({"y": y, "block": b, "cell": str(c), **{f"f{k}": l for k, l in enumerate(c)}})
        values.append(line)
    data = pd.DataFrame(rows)
    main = [f"C(f{k})" for k in range(len(sizes))]
    pairs = [f"C(f{a}):C(f{b})" for a, b in itertools.combinations(range(len(sizes)), 2)]
    table = lambda terms: anova_lm(smf.ols("y ~ C(block) + " + " + ".join(terms), data).fit(), typ=2)
    noise = anova_lm(smf.ols("y ~ C(block) + C(cell)", data).fit(), typ=2).loc["Residual"]
    mse = noise["sum_sq"] / noise["df"]
    total = ((data.y - data.groupby("block").y.transform("mean")) ** 2).sum()
    terms = []
    for source, names in ((table(main), main), (table(main + pairs), pairs)):
        for n in names:
            ss, df = source.loc[n, "sum_sq"], source.loc[n, "df"]
            terms.append({"SS": ss, "DF": int(df), "Omega": max(0.0, (ss - df * mse) / (total + mse)),
                          "Partial": max(0.0, (ss - df * mse) / (ss + (len(data) - df) * mse))})
    return {"Name": name, "Values": values, "Factors": [[int(l) for l in f] for f in factors], "MSE": mse,
            "DFE": int(noise["df"]), "Total": total, "Terms": terms}


cases = [
    case("balanced", (2, 3, 2), 5, set()),
    case("two factors", (3, 4), 8, set()),
    case("unbalanced", (3, 3, 2), 6, {2, 7, 11}),
]
with open("variance.json", "w") as f:
    json.dump(cases, f, indent=1)
    f.write("\n")
