package remark

import "slices"

// weighty are remarks that may change a user's mind about a whole run.
var weighty = []string{
	"battery", "busy", "clock-broken", "cpu-limited", "cpu-pressure", "debug-kernel", "few-cpus", "governor", "io-pressure",
	"memory-low", "memory-pressure", "steal", "steal-heavy", "swap", "throttled",
	"lines-missing", "not-interleaved", "order", "own-load", "residue", "simulated", "unequal", "unlike-parts", "unverified",
}

// Weighs says whether a remark may change a user's mind about a whole run: one that
// does is said before the first trial, and on the first screen of a report.
func Weighs(code string) bool { return slices.Contains(weighty, code) }
