package engine

import (
	"fmt"
	"maps"
	"strconv"
)

// NoLimit is the level of CPULimit that takes the study's own limit away.
const NoLimit = "none"

// CPULimits are the levels of CPULimit that a study may name.
var CPULimits = []string{DefaultLevel, NoLimit, "0.1", "0.2", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "4", "6", "8", "16", "32", "64"}

// Limited takes what is no adapter's out of levels: Tuned, and CPULimit, which goes
// into the limits that every adapter has: those of the study, but for what this
// environment has instead. Neither argument is changed.
func Limited(levels map[string]string, study Limits) (map[string]string, Limits, error) {
	rest := maps.Clone(levels)
	delete(rest, CPULimit)
	delete(rest, Tuned)
	level := levels[CPULimit]
	switch level {
	case "", DefaultLevel:
	case NoLimit:
		study.CPUs = 0
	default:
		n, ok := CPUs(level)
		if !ok {
			return nil, Limits{}, fmt.Errorf("the level %q of %s is no number of CPUs; write one such as 0.5, or %s", level, CPULimit, NoLimit)
		}
		study.CPUs = n
	}
	return rest, study, nil
}

// CPUs reads a level of CPULimit that is a number of CPUs. Linux gives a group
// at least 1 ms of each 100 ms, so that less than 0.01 can't be had.
func CPUs(level string) (float64, bool) {
	n, err := strconv.ParseFloat(level, 64)
	return n, err == nil && n >= 0.01 && n <= 4096 && strconv.FormatFloat(n, 'f', -1, 64) == level
}
