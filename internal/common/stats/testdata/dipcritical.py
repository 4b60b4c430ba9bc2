#!/usr/bin/env python3
"""Prints the table in dipcritical.go: the 0.99 quantile of sqrt(n) times the
dip of n uniform values, by simulation (pip install diptest numpy).
"""
import diptest
import numpy as np

rng = np.random.default_rng(7)
for n, reps in ((10, 200000), (20, 200000), (50, 100000), (100, 100000), (200, 50000), (500, 20000), (2000, 10000), (10000, 4000)):
    d = [diptest.dipstat(rng.random(n)) for _ in range(reps)]
    print(f"\t{{{n}, {np.quantile(d, 0.99) * np.sqrt(n):.3f}}},")
